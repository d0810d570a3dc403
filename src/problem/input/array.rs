//! NumPy arrays (numpy.lib.format: versions 1 to 3).

use super::{InputError, MappedArray};
use crate::files::ReadFile;
use crate::grid::{Precision, Shape, memory};
use crate::number::counted;
use npyz::{NpyFile, NpyHeader, NpyReader, Order};
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

/// What every such file begins with.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// Largest header that is read, in bytes. Arrays of numbers need about 128.
const HEADER_LIMIT: u64 = 1024;
/// Digits that a header may hold in all: the number of values can then be counted in 64 bits.
const DIGITS_LIMIT: usize = 18;
/// Opening brackets that a header may have; one of plain numbers has two. The time that its parser takes grows
/// exponentially with them (found by the fuzzer).
const BRACKETS_LIMIT: usize = 6;

pub(super) fn load(
    path: &Path,
    file: impl Read + Seek,
    shape: &Shape,
) -> Result<Arc<[f64]>, InputError> {
    let file = open(path, file)?;
    let (nx, rows) = (shape.nx(), shape.rows());
    let count = count(path, file.header(), shape)?;
    // As they are read or put in order, and as they are kept.
    memory::check(shape, 2, Precision::F64)
        .map_err(|source| InputError::Memory { path: path.to_owned(), source })?;
    let serves_all = count < nx * rows;
    let column_by_column = file.order() == Order::Fortran && !serves_all;
    let stored = read(path, file, count)?;
    let values = match (serves_all, column_by_column) {
        (true, _) => stored.repeat(rows),
        (_, true) => row_by_row(stored, shape),
        _ => stored,
    };
    match values.iter().position(|value| !value.is_finite()) {
        None => Ok(values.into()),
        Some(point) => Err(not_finite(path, shape, point, values[point])),
    }
}

/// The same values where they stay in the file; `None` of an array in Fortran order, whose planes lie scattered over it.
pub(super) fn map(
    path: &Path,
    mut file: BufReader<ReadFile>,
    shape: &Shape,
) -> Result<Option<MappedArray>, InputError> {
    let (header, first) = header(path, &mut file)?;
    let count = count(path, &header, shape)?;
    if header.order() == Order::Fortran && header.shape().len() > 1 {
        return Ok(None);
    }
    let mapped = MappedArray::new(file.get_ref(), first, count, &header.dtype());
    let mapped = mapped.map_err(|source| not_read(path, count, source))?;
    let kind = || InputError::Kind { path: path.to_owned(), kind: header.dtype().descr() };
    let mapped = mapped.ok_or_else(kind)?;
    match mapped.first_not_finite() {
        None => Ok(Some(mapped)),
        Some((point, value)) => Err(not_finite(path, shape, point, value)),
    }
}

/// How many values an array has that is made for a grid: one for each point, or one for each of a line, which then serves
/// every system of a batch.
fn count(path: &Path, header: &NpyHeader, shape: &Shape) -> Result<usize, InputError> {
    let (nx, rows) = (shape.nx(), shape.rows());
    let whole: Vec<u64> = match shape.dim() {
        3 => vec![shape.nz() as u64, shape.ny() as u64, nx as u64],
        _ => vec![rows as u64, nx as u64],
    };
    if *header.shape() == *whole {
        return Ok(nx * rows);
    }
    if shape.dim() == 1 && *header.shape() == [nx as u64] {
        return Ok(nx);
    }
    let needed = match shape.dim() {
        1 => format!("[{nx}] or {whole:?}"),
        2 => format!("{whole:?}, that is [ny, nx]"),
        _ => format!("{whole:?}, that is [nz, ny, nx]"),
    };
    let (path, found) = (path.to_owned(), format!("{:?}", header.shape()));
    Err(InputError::WrongShape { path, found, shape: shape.to_string(), needed })
}

/// The error of a value that is not finite, at a point in C order.
fn not_finite(path: &Path, shape: &Shape, point: usize, value: f64) -> InputError {
    let nx = shape.nx();
    InputError::NotFinite {
        path: path.to_owned(),
        value,
        plane: (shape.dim() == 3).then(|| point / nx / shape.ny()),
        row: point / nx % shape.rows_per_plane(),
        column: point % nx,
    }
}

/// Values that are stored column by column, in C order.
fn row_by_row(stored: Vec<f64>, shape: &Shape) -> Vec<f64> {
    let (nx, rows) = (shape.nx(), shape.rows());
    let (in_plane, planes) = (shape.rows_per_plane(), shape.nz());
    let place =
        |column: usize, row: usize| column * rows + (row % in_plane) * planes + row / in_plane;
    (0..stored.len()).map(|at| stored[place(at % nx, at / nx)]).collect()
}

pub(super) fn natural_shape(path: &Path, file: impl Read + Seek) -> Result<Shape, InputError> {
    let file = open(path, file)?;
    let axes: Option<Vec<usize>> = file.shape().iter().map(|&n| usize::try_from(n).ok()).collect();
    let shape = match axes.as_deref() {
        Some(&[nx]) if nx > 0 => Shape::grid_1d(nx, 1),
        Some(&[ny, nx]) if nx > 0 && ny > 0 => Shape::grid_2d(nx, ny),
        Some(&[nz, ny, nx]) if nx > 0 && ny > 0 && nz > 0 => Shape::grid_3d(nx, ny, nz),
        _ => {
            let found = format!("{:?}", file.shape());
            return Err(InputError::NoShape { path: path.to_owned(), found });
        }
    };
    shape.map_err(|source| InputError::Shape { path: path.to_owned(), source })
}

/// Reads the header and stops at the first value.
fn open<R: Read + Seek>(path: &Path, mut file: R) -> Result<NpyFile<R>, InputError> {
    let (header, _) = header(path, &mut file)?;
    Ok(NpyFile::with_header(header, file))
}

/// The header, and the byte at which the first value begins, where the file then stands. A header that declares more than
/// can be counted, or is itself too long, is refused before it is parsed.
fn header(path: &Path, file: &mut (impl Read + Seek)) -> Result<(NpyHeader, usize), InputError> {
    let read = |source| InputError::Read { path: path.to_owned(), source };
    let refuse = |reason: &str| InputError::Header { path: path.to_owned(), reason: reason.into() };
    let mut start = Vec::new();
    file.by_ref().take(HEADER_LIMIT).read_to_end(&mut start).map_err(read)?;
    let (from, length) = match *start.as_slice() {
        [_, _, _, _, _, _, 1, _, low, high, ..] => {
            (10, usize::from(u16::from_le_bytes([low, high])))
        }
        [_, _, _, _, _, _, _, _, a, b, 0, 0, ..] => (12, usize::from(u16::from_le_bytes([a, b]))),
        _ => return Err(refuse("its header is cut short or too long")),
    };
    let end = from + length;
    let Some(text) = start.get(from..end) else {
        return Err(refuse("its header is cut short or too long"));
    };
    if text.iter().filter(|byte| byte.is_ascii_digit()).count() > DIGITS_LIMIT {
        return Err(refuse("its header declares more values than can be counted"));
    }
    let brackets = text.iter().filter(|byte| b"([{".contains(byte)).count();
    // A minus sign stands for a negative length here, which the parser does not expect.
    let is_plain = brackets <= BRACKETS_LIMIT && !text.contains(&b'-');
    let header = is_plain.then(|| NpyHeader::from_reader(&start[..end])).and_then(Result::ok);
    let header =
        header.ok_or_else(|| refuse("its header is not that of an array of plain numbers"))?;
    let length = file.seek(SeekFrom::End(0)).map_err(read)?;
    let bytes = header.dtype().num_bytes().and_then(|size| header.len().checked_mul(size as u64));
    let last = bytes.and_then(|bytes| bytes.checked_add(end as u64));
    // Of values whose size is not known, their kind is refused.
    if let Some(more) = last.and_then(|last| length.checked_sub(last)).filter(|more| *more > 0) {
        return Err(refuse(&format!("it has {} after its last value", counted(more, "byte"))));
    }
    file.seek(SeekFrom::Start(end as u64)).map_err(read)?;
    Ok((header, end))
}

/// The values of an array in the order that they are stored in, whatever numbers they are.
fn read<R: Read>(path: &Path, file: NpyFile<R>, count: usize) -> Result<Vec<f64>, InputError> {
    macro_rules! read_as {
        ($($number:ty),*) => {{
            $(
                let file = match file.try_data::<$number>() {
                    Ok(values) => return collect(path, values, count, |value| value as f64),
                    Err(file) => file,
                };
            )*
            file
        }};
    }
    // A date is stored as a whole number of seconds or days, which it is not meant as.
    let kind = file.dtype().descr();
    if kind.contains("M8") || kind.contains("m8") {
        return Err(InputError::Kind { path: path.to_owned(), kind });
    }
    #[allow(clippy::unnecessary_cast)]
    let other = read_as!(f64, f32, u8, i8, u16, i16, u32, i32, u64, i64);
    Err(InputError::Kind { path: path.to_owned(), kind: other.dtype().descr() })
}

fn collect<T: npyz::Deserialize, R: Read>(
    path: &Path,
    values: NpyReader<T, R>,
    count: usize,
    to_f64: impl Fn(T) -> f64,
) -> Result<Vec<f64>, InputError> {
    let mut collected = Vec::with_capacity(count);
    for value in values {
        collected.push(to_f64(value.map_err(|source| not_read(path, count, source))?));
    }
    Ok(collected)
}

/// The error of an array of `count` values that cannot be read.
fn not_read(path: &Path, count: usize, source: io::Error) -> InputError {
    let path = path.to_owned();
    match source.kind() {
        io::ErrorKind::UnexpectedEof => InputError::Truncated { path, values: count },
        _ => InputError::Read { path, source },
    }
}
