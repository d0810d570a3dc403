//! PNG files, with texts that say how they were made.

use std::io::{self, BufReader, Write};
use std::path::{Path, PathBuf};

use image::RgbaImage;

use crate::files::{self, FileError, ReadFile, write_atomically};

/// The longest text that is read from a picture, in bytes.
const LONGEST_TEXT: usize = 1 << 20;

/// Why no text could be read from a PNG file; one sentence that names it.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// Opening or reading failed.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file is something else.
    #[error("{} is not a PNG image", .path.display())]
    NotPng {
        /// The requested file.
        path: PathBuf,
    },
    /// The file begins as a picture, but is damaged or incomplete.
    #[error("{} is a damaged or incomplete PNG image", .path.display())]
    Damaged {
        /// The requested file.
        path: PathBuf,
    },
}

/// Writes a picture as PNG, whole or not at all. `texts` are pairs of a keyword (1–79 Latin-1
/// characters) and any text; they go into the file as `iTXt`, before the pixels. `dpi` says how large
/// the picture is on paper; for a screen the file does not record it.
///
/// # Errors
/// [`FileError::Write`] if the picture is empty, a keyword is not allowed, or the system refuses.
pub fn save_png(
    path: &Path,
    image: &RgbaImage,
    dpi: f64,
    texts: &[(&str, &str)],
) -> Result<(), FileError> {
    write_atomically(path, |out| encode_png(out, image, dpi, texts))
}

/// Writes a picture as PNG to anything; see [`save_png`].
///
/// # Errors
/// What `out` reports, or an error of kind `Other` or `InvalidInput` for an empty picture or a
/// keyword that is not allowed.
pub fn encode_png(
    out: impl Write,
    image: &RgbaImage,
    dpi: f64,
    texts: &[(&str, &str)],
) -> io::Result<()> {
    let mut writer = encoder(out, image.dimensions(), dpi, texts)?.write_header()?;
    writer.write_image_data(image.as_raw())?;
    writer.finish()?;
    Ok(())
}

/// What writes a PNG file, before its header is written.
pub(crate) fn encoder<W: Write>(
    out: W,
    (width, height): (u32, u32),
    dpi: f64,
    texts: &[(&str, &str)],
) -> io::Result<png::Encoder<'static, W>> {
    let mut encoder = png::Encoder::new(out, width, height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
    if dpi != SCREEN_DPI {
        let per_metre = (dpi / METRES_PER_INCH).round() as u32;
        let unit = png::Unit::Meter;
        encoder.set_pixel_dims(Some(png::PixelDimensions {
            xppu: per_metre,
            yppu: per_metre,
            unit,
        }));
    }
    for (keyword, text) in texts {
        encoder.add_itxt_chunk((*keyword).to_owned(), (*text).to_owned())?;
    }
    Ok(encoder)
}

/// Pixels per inch of a screen, by which SVG and CSS measure.
pub const SCREEN_DPI: f64 = 96.0;

/// The length of an inch.
const METRES_PER_INCH: f64 = 0.0254;

/// The text that a PNG file carries under `keyword`, if it does.
///
/// Pixels are decoded only if the text is not found before them, and then not kept.
///
/// # Errors
/// [`PngError`] if the file cannot be read, is no PNG, or is damaged before the text is found.
pub fn read_png_text(path: &Path, keyword: &str) -> Result<Option<String>, PngError> {
    let read = |cause| PngError::File(FileError::read(path, cause));
    let mut file = BufReader::new(files::open(path).map_err(read)?);
    if !is_png(&mut file).map_err(read)? {
        return Err(PngError::NotPng { path: path.to_owned() });
    }
    let refused = |error| match error {
        png::DecodingError::IoError(cause) if cause.kind() != io::ErrorKind::UnexpectedEof => {
            read(cause)
        }
        _ => PngError::Damaged { path: path.to_owned() },
    };
    let mut reader = png::Decoder::new(file).read_info().map_err(refused)?;
    if let Some(text) = text_of(reader.info(), keyword).map_err(refused)? {
        return Ok(Some(text));
    }
    reader.finish().map_err(refused)?;
    text_of(reader.info(), keyword).map_err(refused)
}

/// Checks the signature, and goes back to the start.
fn is_png(file: &mut BufReader<ReadFile>) -> io::Result<bool> {
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
    use std::fs;

    fn picture() -> RgbaImage {
        RgbaImage::from_fn(40, 30, |x, y| Rgba([x as u8, y as u8, 7, 255]))
    }

    #[test]
    fn texts_come_back_as_they_went() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        let run = "k = 32\noverlap = 4 # \u{2016}r\u{2016} \u{2264} 10\u{207b}\u{2074}, \u{1f600}";
        save_png(&path, &picture(), SCREEN_DPI, &[("tilescope", run), ("Title", "")]).unwrap();
        assert_eq!(read_png_text(&path, "tilescope").unwrap().as_deref(), Some(run));
        assert_eq!(read_png_text(&path, "Title").unwrap().as_deref(), Some(""));
        assert_eq!(read_png_text(&path, "Author").unwrap(), None);
        assert_eq!(image::open(&path).unwrap().into_rgba8(), picture());
    }

    #[test]
    fn foreign_and_damaged_files_are_refused_in_different_sentences() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        let say = |keyword| read_png_text(&path, keyword).unwrap_err().to_string();
        assert!(say("x").contains("no such file"));
        for foreign in [&b""[..], b"\x89PN", b"k = 32\n", b"\xff\xd8\xff\xe0 a JPEG"] {
            fs::write(&path, foreign).unwrap();
            assert!(say("x").ends_with("a.png is not a PNG image"), "{}", say("x"));
        }
        save_png(&path, &picture(), SCREEN_DPI, &[("tilescope", "k = 1")]).unwrap();
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
    fn an_invalid_picture_or_keyword_writes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.png");
        save_png(&path, &RgbaImage::new(0, 0), SCREEN_DPI, &[]).unwrap_err();
        save_png(&path, &picture(), SCREEN_DPI, &[("", "no keyword")]).unwrap_err();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
