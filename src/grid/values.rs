//! Where the values of a field lie.

use super::Real;
#[cfg(not(target_arch = "wasm32"))]
use super::mapped::Mapped;
use std::fmt;
use std::io;
use std::ops::{Deref, DerefMut};

/// The values of a field: in memory, or in pages of their own.
pub(super) enum Values<R> {
    Owned(Vec<R>),
    #[cfg(not(target_arch = "wasm32"))]
    Mapped(Mapped<R>),
}

/// Bytes from which on an array has pages of its own: large beside a large page, of 2 MB, which its end wastes a part of.
#[cfg(not(target_arch = "wasm32"))]
const LARGE: usize = 32 << 20;

impl<R: Real> Values<R> {
    /// So many times the same value, in memory.
    pub fn filled(count: usize, value: R) -> Self {
        #[cfg(not(target_arch = "wasm32"))]
        if count.saturating_mul(size_of::<R>()) >= LARGE
            && let Ok(mut values) = Mapped::zeros(count)
        {
            // Zeros are there already, and take no memory before they are written to.
            if value.to_f64().to_bits() != 0 {
                values.as_mut_slice().fill(value);
            }
            return Self::Mapped(values);
        }
        Self::Owned(vec![value; count])
    }
}

impl<R> Values<R> {
    /// Whether they lie in a file.
    #[cfg(feature = "cuda")]
    pub fn are_in_file(&self) -> bool {
        match self {
            Self::Owned(_) => false,
            #[cfg(not(target_arch = "wasm32"))]
            Self::Mapped(values) => values.is_file(),
        }
    }

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

impl<R> Default for Values<R> {
    /// None.
    fn default() -> Self {
        Self::Owned(Vec::new())
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
