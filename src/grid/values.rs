//! Where the values of a field lie.

#[cfg(not(target_arch = "wasm32"))]
use super::mapped::Mapped;
use std::fmt;
use std::io;
use std::ops::{Deref, DerefMut};

/// The values of a field: in memory, or in a file that is mapped into it.
pub(super) enum Values<R> {
    Owned(Vec<R>),
    #[cfg(not(target_arch = "wasm32"))]
    Mapped(Mapped<R>),
}

impl<R> Values<R> {
    /// Waits until those of a file are on the disk.
    ///
    /// # Errors
    /// That of the system.
    pub fn sync(&self) -> io::Result<()> {
        match self {
            Self::Owned(_) => Ok(()),
            #[cfg(not(target_arch = "wasm32"))]
            Self::Mapped(values) => values.sync(),
        }
    }
}

impl<R> Deref for Values<R> {
    type Target = [R];

    fn deref(&self) -> &[R] {
        match self {
            Self::Owned(values) => values,
            #[cfg(not(target_arch = "wasm32"))]
            Self::Mapped(values) => values.as_slice(),
        }
    }
}

impl<R> DerefMut for Values<R> {
    fn deref_mut(&mut self) -> &mut [R] {
        match self {
            Self::Owned(values) => values,
            #[cfg(not(target_arch = "wasm32"))]
            Self::Mapped(values) => values.as_mut_slice(),
        }
    }
}

impl<R: Clone> Clone for Values<R> {
    /// A copy in memory.
    fn clone(&self) -> Self {
        Self::Owned(self.to_vec())
    }
}

impl<R: PartialEq> PartialEq for Values<R> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<R: fmt::Debug> fmt::Debug for Values<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
