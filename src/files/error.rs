//! Error messages for files.

use std::io;
use std::path::{Path, PathBuf};

/// Why a file could not be written or read; one sentence that names it.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// Writing failed; an existing file is unchanged.
    #[error("cannot write {}: {}", .path.display(), reason(.cause))]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
    /// Opening or reading failed.
    #[error("cannot read {}: {}", .path.display(), reason(.cause))]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        cause: io::Error,
    },
}

impl FileError {
    /// An error of reading `path`.
    pub fn read(path: &Path, cause: io::Error) -> Self {
        Self::Read { path: path.to_owned(), cause }
    }
}

/// The cause of an error in plain words; rare causes in the words of the system.
pub fn reason(cause: &io::Error) -> String {
    let known = match cause.kind() {
        io::ErrorKind::NotFound => "there is no such file or folder",
        io::ErrorKind::NotADirectory => "a part of the path is not a folder",
        io::ErrorKind::PermissionDenied => "permission was denied",
        io::ErrorKind::ReadOnlyFilesystem => "the disk is read-only",
        io::ErrorKind::StorageFull => "the disk is full",
        io::ErrorKind::QuotaExceeded => "the disk quota is used up",
        io::ErrorKind::IsADirectory => "it is a folder",
        io::ErrorKind::InvalidFilename => "the file name is not allowed",
        io::ErrorKind::FileTooLarge => "the file would be larger than is allowed here",
        io::ErrorKind::UnexpectedEof => "it ends too early",
        io::ErrorKind::AlreadyExists => "there is a file of this name",
        io::ErrorKind::BrokenPipe => "the program that reads it has ended",
        io::ErrorKind::OutOfMemory => "there is too little memory for it",
        _ => {
            let text = cause.to_string();
            // The number of the error means nothing to users.
            let Some((words, code)) = text.rsplit_once(" (os error ") else { return text };
            // A library may have made a text of the system's error.
            let code = code.trim_end_matches(')').parse().ok();
            return match code.filter(|_| cause.raw_os_error().is_none()) {
                Some(code) => reason(&io::Error::from_raw_os_error(code)),
                None => words.to_owned(),
            };
        }
    };
    known.to_owned()
}
