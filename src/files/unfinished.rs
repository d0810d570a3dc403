//! The files that this process has begun and not finished, and those that it has completed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The files of this process.
static FILES: Mutex<Files> = Mutex::new(Files { unfinished: Vec::new(), complete: Vec::new() });

struct Files {
    unfinished: Vec<PathBuf>,
    /// By the names that were asked for, each once.
    complete: Vec<PathBuf>,
}

fn files() -> MutexGuard<'static, Files> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An unfinished file that [`end_writing`] removes, until this is dropped.
#[derive(Debug)]
pub struct Unfinished(PathBuf);

impl Unfinished {
    /// Makes a file known.
    pub fn new(path: &Path) -> Self {
        files().unfinished.push(path.to_owned());
        Self(path.to_owned())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        files().unfinished.retain(|path| *path != self.0);
    }
}

/// Does the last step of writing the file of that name, which takes no time: with it the file is complete. It is not done
/// once [`end_writing`] has begun.
///
/// # Errors
/// Those of the step.
pub fn complete(name: &Path, step: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let mut files = files();
    step()?;
    if !files.complete.iter().any(|known| known == name) {
        files.complete.push(name.to_owned());
    }
    Ok(())
}

/// Removes the files that this process has begun and not finished, for a process that ends now: no file is completed
/// after this. Returns the names of those that it has completed. What cannot be removed is left to the next save in that
/// folder.
pub fn end_writing() -> Vec<PathBuf> {
    let files = files();
    for path in &files.unfinished {
        _ = fs::remove_file(path);
    }
    let complete = files.complete.clone();
    // Whoever is about to complete a file waits for the end of the process.
    std::mem::forget(files);
    complete
}
