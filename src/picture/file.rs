//! Files that are there whole or not at all, and pictures that say how they were made.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use image::RgbaImage;

/// A text in a picture longer than this is not ours.
const LONGEST_TEXT: usize = 1 << 20;

/// Why a file could not be written or read; one sentence that names it.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// Writing failed; the file, if there was one before, is as it was.
    #[error("cannot write {}: {}", .path.display(), reason(.cause))]
    Write {
        /// The file that was asked for.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// Opening or reading failed.
    #[error("cannot read {}: {}", .path.display(), reason(.cause))]
    Read {
        /// The file that was asked for.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// The file is something else.
    #[error("{} is not a PNG picture", .path.display())]
    NotPng {
        /// The file that was asked for.
        path: PathBuf,
    },
    /// The file starts as a picture, but doesn't go on as one.
    #[error("{} is a damaged or incomplete PNG picture", .path.display())]
    Damaged {
        /// The file that was asked for.
        path: PathBuf,
    },
}

/// The usual reasons in words that say what to do; others as the system puts them.
fn reason(cause: &io::Error) -> String {
    let known = match cause.kind() {
        io::ErrorKind::NotFound => "there is no such file or folder",
        io::ErrorKind::NotADirectory => "a part of the path is not a folder",
        io::ErrorKind::PermissionDenied => "permission was denied",
        io::ErrorKind::ReadOnlyFilesystem => "the disk is read-only",
        io::ErrorKind::StorageFull => "the disk is full",
        io::ErrorKind::QuotaExceeded => "the disk quota is used up",
        io::ErrorKind::IsADirectory => "it is a folder",
        io::ErrorKind::InvalidFilename => "the file name is not allowed",
        _ => return cause.to_string(),
    };
    known.to_owned()
}

/// Writes a file through `write`, so that either all of it appears under its name or nothing
/// does: it grows beside its place under another name, and is renamed at the end.
///
/// A link is followed, and its target replaced. A pipe or a device is written to directly, as it
/// is no file that could be replaced. New files get the permissions that the system gives new
/// files; replaced ones keep theirs.
///
/// # Errors
/// [`FileError::Write`] for anything that the system, or `write`, reports.
pub fn write_atomically(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), FileError> {
    try_write(path, write).map_err(|cause| FileError::Write { path: path.to_owned(), cause })
}

fn try_write(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> io::Result<()> {
    let existing = fs::metadata(path).ok();
    match &existing {
        Some(metadata) if metadata.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        Some(metadata) if !metadata.is_file() => {
            let mut out = BufWriter::new(File::options().write(true).open(path)?);
            write(&mut out)?;
            return out.flush();
        }
        // Renaming over a file asks nobody whether it may be written; its owner is asked here.
        Some(_) => drop(File::options().write(true).open(path)?),
        None => {}
    }
    let target = if existing.is_some() { fs::canonicalize(path)? } else { path.to_owned() };
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tilescope-");
    if let Some(permissions) = permissions(existing.as_ref()) {
        builder.permissions(permissions);
    }
    let (file, unfinished) = builder.tempfile_in(folder)?.into_parts();
    let mut out = BufWriter::new(file);
    write(&mut out)?;
    out.flush()?;
    // Closed before it is renamed: not every system renames open files.
    drop(out);
    unfinished.persist(&target).map_err(|refused| refused.error)
}

/// The permissions of the file that is replaced, or else those of any new file, from which the
/// system takes the umask; a temporary file would be its owner's alone.
#[cfg(unix)]
fn permissions(existing: Option<&fs::Metadata>) -> Option<fs::Permissions> {
    use std::os::unix::fs::PermissionsExt;
    let new = || fs::Permissions::from_mode(0o666);
    Some(existing.map_or_else(new, fs::Metadata::permissions))
}

#[cfg(not(unix))]
fn permissions(_: Option<&fs::Metadata>) -> Option<fs::Permissions> {
    None
}

/// Writes a picture as PNG, whole or not at all. `texts` are pairs of a keyword (1–79 Latin-1
/// characters) and any text; they go into the file as `iTXt`, before the pixels.
///
/// # Errors
/// [`FileError::Write`] if the picture is empty, a keyword is not allowed, or the system refuses.
pub fn save_png(path: &Path, image: &RgbaImage, texts: &[(&str, &str)]) -> Result<(), FileError> {
    write_atomically(path, |out| encode_png(out, image, texts))
}

/// Writes a picture as PNG to anything; see [`save_png`].
///
/// # Errors
/// What `out` reports, or an error of kind `Other` or `InvalidInput` for an empty picture or a
/// keyword that is not allowed.
pub fn encode_png(out: impl Write, image: &RgbaImage, texts: &[(&str, &str)]) -> io::Result<()> {
    let mut encoder = png::Encoder::new(out, image.width(), image.height());
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    for (keyword, text) in texts {
        encoder.add_itxt_chunk((*keyword).to_owned(), (*text).to_owned())?;
    }
    let mut writer = encoder.write_header()?;
    writer.write_image_data(image.as_raw())?;
    writer.finish()?;
    Ok(())
}

/// The text that a PNG file carries under `keyword`, if it does.
///
/// Pixels are decoded only if the text is not found before them, and then not kept.
///
/// # Errors
/// [`FileError`] if the file cannot be read, is no PNG, or is damaged before the text is found.
pub fn read_png_text(path: &Path, keyword: &str) -> Result<Option<String>, FileError> {
    let read = |cause| FileError::Read { path: path.to_owned(), cause };
    // Asked first: a folder opens, and a pipe would block.
    let metadata = fs::metadata(path).map_err(read)?;
    if metadata.is_dir() {
        return Err(read(io::ErrorKind::IsADirectory.into()));
    }
    if !metadata.is_file() {
        return Err(FileError::NotPng { path: path.to_owned() });
    }
    let mut file = BufReader::new(File::open(path).map_err(read)?);
    if !is_png(&mut file).map_err(read)? {
        return Err(FileError::NotPng { path: path.to_owned() });
    }
    let refused = |error| match error {
        png::DecodingError::IoError(cause) if cause.kind() != io::ErrorKind::UnexpectedEof => {
            FileError::Read { path: path.to_owned(), cause }
        }
        _ => FileError::Damaged { path: path.to_owned() },
    };
    let mut reader = png::Decoder::new(file).read_info().map_err(refused)?;
    if let Some(text) = text_of(reader.info(), keyword).map_err(refused)? {
        return Ok(Some(text));
    }
    reader.finish().map_err(refused)?;
    text_of(reader.info(), keyword).map_err(refused)
}

/// Looks at the signature, and goes back to the start.
fn is_png(file: &mut BufReader<File>) -> io::Result<bool> {
    use std::io::{Read, Seek};
    const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";
    let mut start = Vec::with_capacity(SIGNATURE.len());
    file.by_ref().take(SIGNATURE.len() as u64).read_to_end(&mut start)?;
    file.rewind()?;
    Ok(start == SIGNATURE)
}

/// Other programs that pass a picture on may turn one kind of text chunk into another.
fn text_of(info: &png::Info<'_>, keyword: &str) -> Result<Option<String>, png::DecodingError> {
    if let Some(chunk) = info.utf8_text.iter().find(|chunk| chunk.keyword == keyword) {
        let mut chunk = chunk.clone();
        chunk.decompress_text_with_limit(LONGEST_TEXT)?;
        return chunk.get_text().map(Some);
    }
    if let Some(chunk) = info.compressed_latin1_text.iter().find(|chunk| chunk.keyword == keyword) {
        let mut chunk = chunk.clone();
        chunk.decompress_text_with_limit(LONGEST_TEXT)?;
        return chunk.get_text().map(Some);
    }
    let plain = info.uncompressed_latin1_text.iter().find(|chunk| chunk.keyword == keyword);
    Ok(plain.map(|chunk| chunk.text.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use image::Rgba;

    fn picture() -> RgbaImage {
        RgbaImage::from_fn(40, 30, |x, y| Rgba([x as u8, y as u8, 7, 255]))
    }

    fn files(folder: &Path) -> usize {
        fs::read_dir(folder).unwrap().count()
    }

    #[test]
    fn texts_come_back_as_they_went() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        let run = "k = 32\noverlap = 4 # \u{2016}r\u{2016} \u{2264} 10\u{207b}\u{2074}, \u{1f600}";
        save_png(&path, &picture(), &[("tilescope", run), ("Title", "")]).unwrap();
        assert_eq!(read_png_text(&path, "tilescope").unwrap().as_deref(), Some(run));
        assert_eq!(read_png_text(&path, "Title").unwrap().as_deref(), Some(""));
        assert_eq!(read_png_text(&path, "Author").unwrap(), None);
        assert_eq!(image::open(&path).unwrap().into_rgba8(), picture());
    }

    #[test]
    fn foreign_and_damaged_files_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        let say = |keyword| read_png_text(&path, keyword).unwrap_err().to_string();
        assert!(say("x").contains("no such file"));
        for foreign in [&b""[..], b"\x89PN", b"k = 32\n", b"\xff\xd8\xff\xe0 a JPEG"] {
            fs::write(&path, foreign).unwrap();
            assert!(say("x").ends_with("a.png is not a PNG picture"), "{}", say("x"));
        }
        save_png(&path, &picture(), &[("tilescope", "k = 1")]).unwrap();
        let whole = fs::read(&path).unwrap();
        for length in 8..whole.len() - 12 {
            fs::write(&path, &whole[..length]).unwrap();
            assert!(say("other").contains("damaged or incomplete"), "{length}: {}", say("other"));
        }
        for byte in 8..whole.len() {
            let mut flipped = whole.clone();
            flipped[byte] ^= 0x55;
            fs::write(&path, &flipped).unwrap();
            // Any answer will do, as long as it is one.
            let _ = read_png_text(&path, "tilescope");
        }
        assert!(read_png_text(folder.path(), "x").unwrap_err().to_string().contains("a folder"));
    }

    #[test]
    fn a_failure_leaves_nothing_behind_and_nothing_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let fail = |out: &mut BufWriter<File>| {
            out.write_all(&[b'x'; 100_000])?;
            Err(io::ErrorKind::StorageFull.into())
        };
        let said = write_atomically(&path, fail).unwrap_err().to_string();
        assert!(said.ends_with("a.csv: the disk is full"), "{said}");
        assert_eq!(files(folder.path()), 0);
        write_atomically(&path, |out| out.write_all(b"old")).unwrap();
        write_atomically(&path, fail).unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(files(folder.path()), 1);
        write_atomically(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        save_png(&path, &RgbaImage::new(0, 0), &[]).unwrap_err();
        save_png(&path, &picture(), &[("", "no keyword")]).unwrap_err();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(files(folder.path()), 1);
        let lost = folder.path().join("no/such/folder.png");
        let said = save_png(&lost, &picture(), &[]).unwrap_err().to_string();
        assert!(said.contains("no such file or folder"), "{said}");
        let said = save_png(folder.path(), &picture(), &[]).unwrap_err().to_string();
        assert!(said.ends_with("it is a folder"), "{said}");
    }

    #[cfg(unix)]
    #[test]
    fn links_devices_and_permissions_are_respected() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a"), folder.path().join("b"));
        // What the system gives a new file here.
        fs::write(&path, "").unwrap();
        let usual = fs::metadata(&path).unwrap().mode();
        fs::remove_file(&path).unwrap();
        write_atomically(&path, |out| out.write_all(b"1")).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode(), usual);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        symlink(&path, &link).unwrap();
        write_atomically(&link, |out| out.write_all(b"2")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"2");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        write_atomically(Path::new("/dev/null"), |out| out.write_all(b"3")).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
}
