//! The files that this process has begun and not finished.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The unfinished files of this process.
static UNFINISHED_FILES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// An unfinished file that [`remove_unfinished`] removes, until this is dropped.
#[derive(Debug)]
pub struct Unfinished(PathBuf);

impl Unfinished {
    /// Makes a file known.
    pub fn new(path: &Path) -> Self {
        UNFINISHED_FILES.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_owned());
        Self(path.to_owned())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let mut known = UNFINISHED_FILES.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|path| *path != self.0);
    }
}

/// Removes the files that this process has begun and not finished, for a process that ends now. What
/// cannot be removed is left to the next save in that folder.
pub fn remove_unfinished() {
    let known = UNFINISHED_FILES.lock().unwrap_or_else(PoisonError::into_inner);
    for path in &*known {
        _ = fs::remove_file(path);
    }
}
