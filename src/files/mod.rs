//! Writing files completely or not at all, reading them, and error messages for them: on a disk, or in a page of a browser.

#[cfg(not(target_arch = "wasm32"))]
mod disk;
mod error;
mod lock;
#[cfg(not(target_arch = "wasm32"))]
mod locked;
#[cfg(target_arch = "wasm32")]
mod page;
mod unfinished;

#[cfg(not(target_arch = "wasm32"))]
pub(crate) use disk::write_atomically_with_pauses;
#[cfg(not(target_arch = "wasm32"))]
pub use disk::*;
pub use error::{FileError, reason};
pub use lock::lock;
#[cfg(not(target_arch = "wasm32"))]
pub use locked::{Locked, LockedError};
#[cfg(target_arch = "wasm32")]
pub(crate) use page::write_atomically_with_pauses;
#[cfg(target_arch = "wasm32")]
pub use page::*;
pub use unfinished::{Unfinished, complete, end_writing};

use std::io::{self, Read};
use std::path::Path;

/// Reads a UTF-8 text file of at most `most` bytes. Folders, pipes and devices are refused.
///
/// # Errors
/// [`FileError::Read`] if it cannot be read, is too long or is not text.
pub fn read_text(path: &Path, most: u64) -> Result<String, FileError> {
    String::from_utf8(read_bytes(path, most)?)
        .map_err(|_| FileError::read(path, io::Error::other("it is not a text file (UTF-8)")))
}

/// Reads a file of at most `most` bytes. Folders, pipes and devices are refused.
///
/// # Errors
/// [`FileError::Read`] if it cannot be read or is too long.
pub fn read_bytes(path: &Path, most: u64) -> Result<Vec<u8>, FileError> {
    let refuse = |cause| FileError::read(path, cause);
    let mut bytes = Vec::new();
    open(path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes)).map_err(refuse)?;
    if bytes.len() as u64 > most {
        return Err(refuse(io::Error::other(format!("it is longer than {most} bytes"))));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn files_that_are_not_text_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        let say = || read_text(&path, 10).unwrap_err().to_string();
        assert!(say().contains("no such file"), "{}", say());
        fs::write(&path, b"01234567890").unwrap();
        assert!(say().contains("longer than 10 bytes"), "{}", say());
        fs::write(&path, b"\xff\xfe").unwrap();
        assert!(say().contains("not a text file"), "{}", say());
        fs::write(&path, "‖r‖").unwrap();
        assert_eq!(read_text(&path, 10).unwrap(), "‖r‖");
        assert!(read_text(folder.path(), 10).unwrap_err().to_string().ends_with("a folder"));
    }
}
