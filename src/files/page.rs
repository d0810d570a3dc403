//! Files of a page in a browser, which has no disk: what is opened was given to the page before, what is written is
//! downloaded, and what is in the folder [`KEPT`] is an entry of the browser's local storage.

use super::error::FileError;
use crate::pauses::without_pauses;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, Cursor};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use wasm_bindgen::prelude::*;
use web_sys::{Blob, HtmlAnchorElement, Storage, Url, window};

/// Whether files have folders that can be chosen.
pub const HAS_FOLDERS: bool = false;

/// The folder of files that stay when the page is left.
pub const KEPT: &str = "/kept";

/// How long a download may take to begin; then its bytes are freed.
const DOWNLOAD: Duration = Duration::from_secs(60);

/// A file that is read.
pub type ReadFile = Cursor<Arc<[u8]>>;

/// The files that were given to the page, by their names.
static GIVEN: Mutex<BTreeMap<PathBuf, Arc<[u8]>>> = Mutex::new(BTreeMap::new());

/// Gives a file to the page, in place of one of the same name.
pub fn give(path: &Path, bytes: Vec<u8>) {
    GIVEN.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned(), bytes.into());
}

/// Writes a file through `write`, completely or not at all: as a download of this name, or into the local storage.
///
/// # Errors
/// [`FileError::Write`] for any error of the browser or of `write`.
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<Vec<u8>>) -> io::Result<()>,
) -> Result<(), FileError> {
    without_pauses(write_atomically_with_pauses(path, async |out| write(out)))
}

/// [`write_atomically`] with pauses.
///
/// # Errors
/// [`FileError::Write`].
pub(crate) async fn write_atomically_with_pauses(
    path: &Path,
    write: impl AsyncFnOnce(&mut BufWriter<Vec<u8>>) -> io::Result<()>,
) -> Result<(), FileError> {
    let mut out = BufWriter::new(Vec::new());
    let written = write(&mut out).await.and_then(|()| {
        let bytes = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        match key(path) {
            Some(key) => {
                let text = String::from_utf8(bytes).map_err(io::Error::other)?;
                storage()?.set_item(&key, &text).map_err(|_| is_full())
            }
            None => download(path, &bytes).map_err(|_| refused()),
        }
    });
    written.map_err(|cause| FileError::Write { path: path.to_owned(), cause })
}

/// Folders need not be created.
///
/// # Errors
/// None.
pub fn create_folder(_: &Path) -> Result<(), FileError> {
    Ok(())
}

/// Renames a file that is kept; another of the new name is replaced.
///
/// # Errors
/// [`FileError::Write`] if the browser refuses, or the file is not kept.
pub fn rename(path: &Path, to: &Path) -> Result<(), FileError> {
    let rename = || {
        let (from, to) = key(path).zip(key(to)).ok_or(io::ErrorKind::NotFound)?;
        let storage = storage()?;
        let text = storage.get_item(&from).ok().flatten().ok_or(io::ErrorKind::NotFound)?;
        storage.set_item(&to, &text).map_err(|_| is_full())?;
        storage.remove_item(&from).map_err(|_| refused())
    };
    rename().map_err(|cause| FileError::Write { path: path.to_owned(), cause })
}

/// Whether there is a file.
pub fn exists(path: &Path) -> bool {
    open(path).is_ok()
}

/// Whether a path names a pipe: a page has none.
pub fn is_named_pipe(_: &Path) -> bool {
    false
}

/// Opens a file for reading.
///
/// # Errors
/// If there is none of this name.
pub fn open(path: &Path) -> io::Result<ReadFile> {
    let bytes = match key(path) {
        Some(key) => storage()?.get_item(&key).ok().flatten().map(|text| text.into_bytes().into()),
        None => GIVEN.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned(),
    };
    bytes.map(Cursor::new).ok_or_else(|| io::ErrorKind::NotFound.into())
}

/// Only the command line appends to files.
///
/// # Errors
/// Always.
pub fn open_to_append(_: &Path) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The key of a file in the local storage, where it is in the folder of those.
fn key(path: &Path) -> Option<String> {
    let name = path.strip_prefix(KEPT).ok()?;
    Some(name.display().to_string())
}

/// The local storage, which a browser may refuse to a page.
fn storage() -> io::Result<Storage> {
    let storage = window().and_then(|window| window.local_storage().ok().flatten());
    storage.ok_or_else(|| io::Error::other("the browser keeps nothing for this page"))
}

fn is_full() -> io::Error {
    io::Error::other("the browser keeps no more for this page")
}

fn refused() -> io::Error {
    io::Error::other("the browser refused it")
}

/// Downloads bytes as a file of this name.
fn download(path: &Path, bytes: &[u8]) -> Result<(), JsValue> {
    let window = window().ok_or(JsValue::UNDEFINED)?;
    let document = window.document().ok_or(JsValue::UNDEFINED)?;
    let blob = Blob::new_with_u8_array_sequence(&js_sys::Array::of1(
        &js_sys::Uint8Array::from(bytes).into(),
    ))?;
    let url = Url::create_object_url_with_blob(&blob)?;
    let link: HtmlAnchorElement = document.create_element("a")?.unchecked_into();
    link.set_href(&url);
    link.set_download(&path.file_name().unwrap_or(path.as_os_str()).to_string_lossy());
    link.click();
    let free = Closure::once_into_js(move || Url::revoke_object_url(&url));
    let delay = i32::try_from(DOWNLOAD.as_millis()).unwrap_or(i32::MAX);
    window.set_timeout_with_callback_and_timeout_and_arguments_0(free.unchecked_ref(), delay)?;
    Ok(())
}
