//! A folder that one process works in at a time.

use super::{FileError, create_folder, lock, open_to_append};
use std::fs::File;
use std::path::{Path, PathBuf};

/// The file in the folder that is locked. It stays there: a process that waits for it might otherwise lock another.
const NAME: &str = "lock";

/// A folder that this process has locked, until it is dropped. It keeps out processes that ask for the lock, too, and no
/// others.
#[derive(Debug)]
pub struct Locked {
    path: PathBuf,
    file: File,
}

/// Why a folder could not be locked.
#[derive(Debug, thiserror::Error)]
pub enum LockedError {
    /// It cannot be made or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// Another process works in it.
    #[error("{} is in use by {by}; wait for it, or name another folder", .path.display())]
    InUse {
        /// The folder.
        path: PathBuf,
        /// Which process, such as `process 4711`.
        by: String,
    },
}

impl Locked {
    /// Locks a folder, which is made if it is not there.
    ///
    /// # Errors
    /// [`LockedError`] if it is not a folder or cannot be written, or another process has locked it.
    pub fn new(path: &Path) -> Result<Self, LockedError> {
        create_folder(path)?;
        let name = path.join(NAME);
        let file = open_to_append(&name).map_err(|cause| FileError::Write { path: name, cause })?;
        lock(&file).map_err(|by| LockedError::InUse { path: path.to_owned(), by })?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Locked {
    /// A process that is being started may still share the file, and with it the lock.
    fn drop(&mut self) {
        // A file system without locks has none to release.
        _ = self.file.unlock();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_locked_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/store");
        let locked = Locked::new(&path).unwrap();
        let said = Locked::new(&path).unwrap_err().to_string();
        assert!(said.contains("store is in use by process "), "{said}");
        drop(locked);
        Locked::new(&path).unwrap();
        let said = Locked::new(&path.join("lock")).unwrap_err().to_string();
        assert!(said.starts_with("cannot write "), "{said}");
    }
}
