//! A folder that one process works in at a time.

use super::{FileError, create_folder, exists, lock, open_to_append};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

/// The file in the folder that is locked. It stays there after use: another process may be about to lock it. Only
/// [`Locked::undo`] removes it, from a folder in which nothing was begun.
const NAME: &str = "lock";

/// A folder that this process has locked, until it is dropped. It keeps out processes that ask for the lock, too, and no
/// others.
#[derive(Debug)]
pub struct Locked {
    path: PathBuf,
    file: File,
    /// What was not there before: the file that is locked, and folders, the innermost first.
    made: Made,
}

#[derive(Debug)]
struct Made {
    file: bool,
    folders: Vec<PathBuf>,
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
        let missing = path.ancestors().take_while(|path| !exists(path));
        let folders = missing.map(Path::to_owned).collect();
        create_folder(path)?;
        let name = path.join(NAME);
        let made = Made { file: !exists(&name), folders };
        let file = open_to_append(&name).map_err(|cause| FileError::Write { path: name, cause })?;
        lock(&file).map_err(|by| LockedError::InUse { path: path.to_owned(), by })?;
        Ok(Self { path: path.to_owned(), file, made })
    }

    /// Releases the lock, and leaves the disk as it was: what [`Locked::new`] made is removed, but for folders in which
    /// there is something else by now.
    pub fn undo(self) {
        if self.made.file {
            _ = fs::remove_file(self.path.join(NAME));
        }
        // One that is not empty stays, and so do those around it.
        self.made.folders.iter().all(|folder| fs::remove_dir(folder).is_ok());
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
    fn what_was_made_for_a_lock_can_be_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/store");
        Locked::new(&path).unwrap().undo();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("mine"), "").unwrap();
        Locked::new(&path).unwrap().undo();
        assert_eq!(fs::read_dir(&path).unwrap().count(), 1);
        // A lock that was there before stays: another process may know it.
        drop(Locked::new(&path).unwrap());
        Locked::new(&path).unwrap().undo();
        assert_eq!(fs::read_dir(&path).unwrap().count(), 2);
    }

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
