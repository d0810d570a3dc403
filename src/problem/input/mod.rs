//! A right-hand side from a file: a NumPy array or an image.
//!
//! The type of a file is found from its first bytes, not from its name.

mod array;
mod mapped;
mod picture;
#[cfg(test)]
mod tests;

pub use mapped::MappedArray;
pub use picture::PICTURE_PEAK;

use crate::files::{self, ReadFile, reason};
use crate::grid::memory::{NoRoom, OutOfMemory};
use crate::grid::{Shape, ShapeError};
use image::ImageFormat;
use std::io::{self, BufReader, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a file is not a right-hand side.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// It is missing, not a file, or access to it is denied.
    #[error("{} cannot be read: {}", .path.display(), reason(.source))]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Another kind of file, or an empty one.
    #[error(
        "{} is neither a NumPy array (.npy) nor an image (PNG or JPEG)",
        .path.display()
    )]
    Unknown {
        /// The file.
        path: PathBuf,
    },
    /// A file of another kind where only an array will do.
    #[error("{} is not a NumPy array (.npy)", .path.display())]
    NotArray {
        /// The file.
        path: PathBuf,
    },
    /// The start of an array that makes no sense.
    #[error("{} is not a NumPy array that can be read: {reason}", .path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// An array of strings, records or complex numbers.
    #[error(
        "{} holds values of type {kind}; allowed are floating-point numbers of 32 or 64 bits and \
         integers of 8 to 64 bits",
        .path.display()
    )]
    Kind {
        /// The file.
        path: PathBuf,
        /// The type as the file names it.
        kind: String,
    },
    /// An array made for another grid.
    #[error("{} holds an array of shape {found}; shape {shape} needs {needed}", .path.display())]
    WrongShape {
        /// The file.
        path: PathBuf,
        /// The shape of the array.
        found: String,
        /// The shape of the grid, as messages write it.
        shape: String,
        /// The shapes that are allowed.
        needed: String,
    },
    /// An array that no grid has the shape of.
    #[error(
        "{} holds an array of shape {found}; a grid has [nx], [ny, nx] or [nz, ny, nx] points, \
         each at least 1",
        .path.display()
    )]
    NoShape {
        /// The file.
        path: PathBuf,
        /// The shape of the array.
        found: String,
    },
    /// An array that ends too soon.
    #[error("{} ends before its last value; it should hold {values}", .path.display())]
    Truncated {
        /// The file.
        path: PathBuf,
        /// How many values it should hold.
        values: usize,
    },
    /// A value of an array is NaN or infinite.
    #[error(
        "{} has {value} at {}row {row}, column {column} (counted from 0); values must be finite \
         numbers",
        .path.display(), plane_name(.plane)
    )]
    NotFinite {
        /// The file.
        path: PathBuf,
        /// The first such value in C order.
        value: f64,
        /// In 3D, its plane.
        plane: Option<usize>,
        /// Its row; in 1D, its system of the batch.
        row: usize,
        /// Its column.
        column: usize,
    },
    /// A broken picture, or one too large to decode.
    #[error("{} is an image that cannot be read: {}", .path.display(), picture::reason(.source))]
    Picture {
        /// The file.
        path: PathBuf,
        /// The error of the decoder.
        source: image::ImageError,
    },
    /// A grid that no picture can be stretched to.
    #[error("shape {shape} is too large for an image; an axis may have at most 4294967295 points")]
    TooLong {
        /// The shape, as messages write it.
        shape: String,
    },
    /// A picture for a 3D grid.
    #[error(
        "{} is an image, which shape {shape} cannot have; it needs an .npy array, [nz, ny, nx]",
        .path.display()
    )]
    FlatPicture {
        /// The file.
        path: PathBuf,
        /// The shape, as messages write it.
        shape: String,
    },
    /// The values do not fit into memory.
    #[error("{} cannot be loaded: {source}", .path.display())]
    Memory {
        /// The file.
        path: PathBuf,
        /// How much is needed.
        source: OutOfMemory,
    },
    /// Its picture does not fit into memory.
    #[error("{} cannot be loaded: {source}", .path.display())]
    NoRoom {
        /// The file.
        path: PathBuf,
        /// How much is needed.
        source: NoRoom,
    },
    /// The file suggests a shape that this machine cannot number.
    #[error("{} suggests an invalid grid: {source}", .path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: ShapeError,
    },
}

fn plane_name(plane: &Option<usize>) -> String {
    plane.map_or_else(String::new, |plane| format!("plane {plane}, "))
}

/// Reads the right-hand side of a grid, in C order: `[nz, ny, nx]` in 3D, `[ny, nx]` in 2D, `[batch, nx]`
/// in 1D.
///
/// * An array must have just that shape; one of `[nx]` serves every system of a batch. It may be in C
///   or Fortran order, of floating-point numbers or integers of either byte order.
/// * A picture is stretched to the grid: its luminance, from 0 to 1, times [`PICTURE_PEAK`], row 0
///   of the picture being row 0 of the grid; what is transparent is dark. A 1D grid gets the
///   average of its rows, the same in every system of the batch. A 3D grid cannot have one.
///
/// # Errors
/// [`InputError`] naming the file and what is wrong with it.
pub fn load(path: &Path, shape: &Shape) -> Result<Arc<[f64]>, InputError> {
    let (kind, file) = open(path)?;
    match kind {
        FileKind::Array => array::load(path, file, shape),
        FileKind::Picture(_) if shape.dim() == 3 => {
            Err(InputError::FlatPicture { path: path.to_owned(), shape: shape.to_string() })
        }
        FileKind::Picture(format) => picture::load(path, file, format, shape),
    }
}

/// Reads the values of a grid from a NumPy array, as [`load`] does.
///
/// # Errors
/// [`InputError`] naming the file and what is wrong with it; a picture is not an array.
pub fn load_array(path: &Path, shape: &Shape) -> Result<Arc<[f64]>, InputError> {
    match open(path)? {
        (FileKind::Array, file) => array::load(path, file, shape),
        (FileKind::Picture(_), _) => Err(InputError::NotArray { path: path.to_owned() }),
    }
}

/// The values of a grid in a NumPy array, as [`load_array`] reads them, where they stay in the file. `None` of an array in
/// Fortran order and of a picture, which are loaded, and where files are not mapped.
///
/// # Errors
/// [`InputError`] naming the file and what is wrong with it.
pub fn map_array(path: &Path, shape: &Shape) -> Result<Option<MappedArray>, InputError> {
    if cfg!(target_arch = "wasm32") {
        return Ok(None);
    }
    match open(path)? {
        (FileKind::Array, file) => array::map(path, file, shape),
        (FileKind::Picture(_), _) => Ok(None),
    }
}

/// The shape that a file suggests where none was given: that of an array (`[nx]` in 1D, `[ny, nx]`
/// in 2D, `[nz, ny, nx]` in 3D), or that of a picture scaled down so that no side is over 512.
///
/// # Errors
/// [`InputError`] naming the file and what is wrong with it.
pub fn natural_shape(path: &Path) -> Result<Shape, InputError> {
    let (kind, file) = open(path)?;
    match kind {
        FileKind::Array => array::natural_shape(path, file),
        FileKind::Picture(format) => picture::natural_shape(path, file, format),
    }
}

/// What a file turned out to be.
enum FileKind {
    Array,
    Picture(ImageFormat),
}

/// Opens a file and reads its first bytes.
fn open(path: &Path) -> Result<(FileKind, BufReader<ReadFile>), InputError> {
    let read = |source| InputError::Read { path: path.to_owned(), source };
    let mut file = BufReader::new(files::open(path).map_err(read)?);
    let mut start = Vec::new();
    file.by_ref().take(16).read_to_end(&mut start).map_err(read)?;
    file.rewind().map_err(read)?;
    if start.starts_with(array::MAGIC) {
        return Ok((FileKind::Array, file));
    }
    match image::guess_format(&start) {
        Ok(format @ (ImageFormat::Png | ImageFormat::Jpeg)) => {
            Ok((FileKind::Picture(format), file))
        }
        _ => Err(InputError::Unknown { path: path.to_owned() }),
    }
}
