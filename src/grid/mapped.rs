//! The values of a field in a file that is mapped into memory: the system reads pages of it as they are needed, and writes
//! them back.

use super::Real;
use crate::files::Locked;
use memmap2::MmapMut;
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::sync::Arc;

/// The values of a mapped file.
pub(super) struct Mapped<R> {
    map: MmapMut,
    /// Nobody else changes the file before this is dropped.
    _locked: Arc<Locked>,
    values: PhantomData<R>,
}

impl<R: Real> Mapped<R> {
    /// Maps so many values of a file in a folder that is locked.
    ///
    /// # Errors
    /// If the file has another length, or the system does not map it.
    pub fn new(file: &File, count: usize, locked: &Arc<Locked>) -> io::Result<Self> {
        if file.metadata()?.len() != (count * size_of::<R>()) as u64 {
            return Err(io::Error::other("it has another length than the array"));
        }
        // SAFETY: this program changes the file only while it holds the lock of its folder, which is kept as long as the
        // mapping. Locks bind nobody else: a program that writes or shortens the file meanwhile changes values under way or
        // ends this process by a signal (SIGBUS). The help of the option and `Store` say so.
        let map = unsafe { MmapMut::map_mut(file) }?;
        Ok(Self { map, _locked: Arc::clone(locked), values: PhantomData })
    }
}

impl<R> Mapped<R> {
    pub fn as_slice(&self) -> &[R] {
        // SAFETY: a mapping starts on a page and has whole values, of a type of numbers: any bits are one.
        unsafe {
            std::slice::from_raw_parts(self.map.as_ptr().cast(), self.map.len() / size_of::<R>())
        }
    }

    pub fn as_mut_slice(&mut self) -> &mut [R] {
        let count = self.map.len() / size_of::<R>();
        // SAFETY: as above, and the mapping is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.map.as_mut_ptr().cast(), count) }
    }

    /// Waits until the file has the values on the disk.
    ///
    /// # Errors
    /// That of the system.
    pub fn sync(&self) -> io::Result<()> {
        self.map.flush()
    }
}
