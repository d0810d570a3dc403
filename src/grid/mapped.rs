//! The values of a field in pages of their own: those of a file that is mapped into memory, which the system reads as they
//! are needed and writes back, or of memory alone.

use super::Real;
use crate::files::Locked;
use memmap2::MmapMut;
use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::sync::Arc;

/// The values of mapped pages.
pub(super) struct Mapped<R> {
    map: MmapMut,
    /// Of a file: nobody else changes it before this is dropped.
    locked: Option<Arc<Locked>>,
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
        Ok(Self { map, locked: Some(Arc::clone(locked)), values: PhantomData })
    }

    /// So many zeros in memory, in large pages where the system has them: an array is read in fewer steps through the tables
    /// of pages, and points that lie at a cache line in the array do in memory.
    ///
    /// # Errors
    /// If the system does not map it.
    pub fn zeros(count: usize) -> io::Result<Self> {
        let map = MmapMut::map_anon(count * size_of::<R>())?;
        // A system without large pages has small ones.
        #[cfg(target_os = "linux")]
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(Self { map, locked: None, values: PhantomData })
    }
}

impl<R> Mapped<R> {
    pub fn is_file(&self) -> bool {
        self.locked.is_some()
    }

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

    /// Waits until the file, if there is one, has the values on the disk.
    ///
    /// # Errors
    /// That of the system.
    pub fn sync(&self) -> io::Result<()> {
        if self.is_file() { self.map.flush() } else { Ok(()) }
    }
}
