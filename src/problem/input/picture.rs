//! Pictures: PNG and JPEG.

use super::InputError;
use crate::files;
use crate::grid::{Precision, Shape, memory};
use image::imageops::{self, FilterType};
use image::{ImageBuffer, ImageError, ImageFormat, ImageReader, Limits, Luma};
use std::io::{self, BufRead, Read, Seek};
use std::path::Path;
use std::sync::Arc;

/// Why a picture cannot be read, in plain words.
pub(super) fn reason(error: &ImageError) -> String {
    match error {
        ImageError::IoError(cause) => files::reason(cause),
        ImageError::Limits(_) => "it is too large".to_owned(),
        ImageError::Unsupported(_) => "its kind of pixels is not supported".to_owned(),
        _ => "it is damaged or incomplete".to_owned(),
    }
}

/// The right-hand side where a picture is white. −∇²u = 10 on the unit square with zero
/// boundary has a solution of 0.74 at most, so that u is of order 1 (Timoshenko and Woinowsky-Krieger,
/// *Theory of Plates and Shells*: 0.0737 for a load of 1).
pub const PICTURE_PEAK: f64 = 10.0;

/// The longest side of the grid that a picture suggests.
const NATURAL_SIDE: u32 = 512;

/// The longest side of a picture, and the bytes that decoding it may take.
const SIDE_LIMIT: u32 = 16_384;
const BYTES_LIMIT: u64 = 1 << 30;

pub(super) fn load(
    path: &Path,
    mut file: impl BufRead + Seek,
    format: ImageFormat,
    shape: &Shape,
) -> Result<Arc<[f64]>, InputError> {
    // As the picture is stretched, as numbers, and as they are kept.
    memory::check(shape, 4, Precision::F64)
        .map_err(|source| InputError::Memory { path: path.to_owned(), source })?;
    let too_long = |_| InputError::TooLong { shape: shape.to_string() };
    let width = u32::try_from(shape.nx()).map_err(too_long)?;
    let height = u32::try_from(shape.ny()).map_err(too_long)?;
    let unreadable = |source| InputError::Picture { path: path.to_owned(), source };
    let size: [u32; 2] = reader(&mut file, format).into_dimensions().map_err(unreadable)?.into();
    // The decoder refuses others.
    if size.iter().all(|side| *side <= SIDE_LIMIT) {
        memory::check_bytes("its picture", decoding_bytes(size, height))
            .map_err(|source| InputError::NoRoom { path: path.to_owned(), source })?;
    }
    file.rewind().map_err(|error| unreadable(error.into()))?;
    if format == ImageFormat::Jpeg {
        check_end(&mut file).map_err(|error| unreadable(error.into()))?;
    }
    let picture = reader(file, format).decode().map_err(unreadable)?.into_luma_alpha16();
    let unit = f32::from(u16::MAX);
    let bright = ImageBuffer::from_fn(picture.width(), picture.height(), |x, y| {
        let [luminance, alpha] = picture.get_pixel(x, y).0;
        Luma([(f32::from(luminance) / unit) * (f32::from(alpha) / unit)])
    });
    drop(picture);
    let stretched = imageops::resize(&bright, width, height, FilterType::Triangle);
    let values: Vec<f64> =
        stretched.into_raw().into_iter().map(|bright| PICTURE_PEAK * f64::from(bright)).collect();
    Ok(if shape.batch() == 1 { values.into() } else { values.repeat(shape.batch()).into() })
}

/// Bytes that decoding a picture and stretching it to this height take: a pixel of four values of 16 bits, in brightness
/// and opacity, and in brightness alone; then every column at its new height, in four values of 32 bits (the crate `image`
/// stretches along y first).
fn decoding_bytes([width, height]: [u32; 2], stretched: u32) -> u64 {
    const OF_PIXEL: u64 = 8 + 4 + 4;
    const OF_STRETCHED: u64 = 16;
    let rows = u64::from(height) * OF_PIXEL + u64::from(stretched) * OF_STRETCHED;
    u64::from(width).saturating_mul(rows)
}

pub(super) fn natural_shape(
    path: &Path,
    file: impl BufRead + Seek,
    format: ImageFormat,
) -> Result<Shape, InputError> {
    let (width, height) = reader(file, format)
        .into_dimensions()
        .map_err(|source| InputError::Picture { path: path.to_owned(), source })?;
    let scale = (f64::from(NATURAL_SIDE) / f64::from(width.max(height))).min(1.0);
    let scaled = |side: u32| ((f64::from(side) * scale).round() as usize).max(1);
    Shape::grid_2d(scaled(width), scaled(height))
        .map_err(|source| InputError::Shape { path: path.to_owned(), source })
}

/// Refuses a JPEG file without an end, whose missing part the decoder would fill with grey: the
/// marker of the end, which no coded picture contains, must come after that of a picture's start.
fn check_end(file: &mut (impl BufRead + Seek)) -> io::Result<()> {
    let mut bytes = Vec::new();
    file.take(BYTES_LIMIT).read_to_end(&mut bytes)?;
    file.rewind()?;
    let last = |marker: [u8; 2]| bytes.windows(2).rposition(|bytes| bytes == marker);
    if last([0xff, 0xd9]) > last([0xff, 0xda]) {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it ends before its last row"))
}

fn reader<'a, R: BufRead + Seek + 'a>(file: R, format: ImageFormat) -> ImageReader<R> {
    let mut limits = Limits::default();
    limits.max_image_width = Some(SIDE_LIMIT);
    limits.max_image_height = Some(SIDE_LIMIT);
    limits.max_alloc = Some(BYTES_LIMIT);
    let mut reader = ImageReader::with_format(file, format);
    reader.limits(limits);
    reader
}
