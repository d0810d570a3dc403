//! A file that is mapped into memory: the system reads pages of it as they are needed.

use crate::files::ReadFile;
use memmap2::Mmap;
use npyz::{DType, Endianness, TypeChar};
use std::io;

/// The values of a grid in an array in C order that was checked when it was mapped.
///
/// Nothing may change the file meanwhile: the values would change under way, and a file that becomes shorter ends the
/// process (SIGBUS, of which the program says what it means).
#[derive(Debug)]
pub struct MappedArray {
    map: Mmap,
    /// Where its first value begins, in bytes.
    first: usize,
    /// How many values it has.
    count: usize,
    /// Bytes of a value.
    size: usize,
    to_f64: ToF64,
}

/// How a number is read from its bytes.
type ToF64 = fn(&[u8]) -> f64;

impl MappedArray {
    /// Maps `count` values of this kind, of which the first begins at that byte. `None` if they are no numbers.
    ///
    /// # Errors
    /// If the file is too short for them, or the system does not map it.
    pub(in crate::problem::input) fn new(
        file: &ReadFile,
        first: usize,
        count: usize,
        kind: &DType,
    ) -> io::Result<Option<Self>> {
        let Some((to_f64, size)) = number(kind).zip(kind.num_bytes()) else { return Ok(None) };
        // SAFETY: it is only read. That nothing changes the file meanwhile is up to its owner, as the type and the help of
        // the option say.
        let map = unsafe { Mmap::map(file) }?;
        let end = count.checked_mul(size).and_then(|bytes| bytes.checked_add(first));
        if end.is_none_or(|end| end > map.len()) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Some(Self { map, first, count, size, to_f64 }))
    }

    /// The value of a point of the grid, in C order. An array of one line serves every system of a batch.
    ///
    /// # Panics
    /// If the array is empty.
    pub fn at(&self, point: usize) -> f64 {
        let point = if point < self.count { point } else { point % self.count };
        (self.to_f64)(&self.map[self.first + point * self.size..][..self.size])
    }

    /// The first value that is not finite, with its place.
    pub(in crate::problem::input) fn first_not_finite(&self) -> Option<(usize, f64)> {
        let mut values = (0..self.count).map(|point| (point, self.at(point)));
        values.find(|(_, value)| !value.is_finite())
    }
}

impl PartialEq for MappedArray {
    fn eq(&self, other: &Self) -> bool {
        let is_equal = |point| self.at(point).to_bits() == other.at(point).to_bits();
        self.count == other.count && (0..self.count).all(is_equal)
    }
}

/// How a number of this kind is read; `None` if it is none that a grid can have.
fn number(kind: &DType) -> Option<ToF64> {
    let DType::Plain(kind) = kind else { return None };
    macro_rules! read_as {
        ($number:ty) => {
            if kind.endianness() == Endianness::Big {
                |bytes| <$number>::from_be_bytes(bytes.try_into().unwrap_or_default()) as f64
            } else {
                |bytes| <$number>::from_le_bytes(bytes.try_into().unwrap_or_default()) as f64
            }
        };
    }
    #[allow(clippy::unnecessary_cast)]
    let to_f64: ToF64 = match (kind.type_char(), kind.size_field()) {
        (TypeChar::Float, 8) => read_as!(f64),
        (TypeChar::Float, 4) => read_as!(f32),
        (TypeChar::Uint, 1) => read_as!(u8),
        (TypeChar::Uint, 2) => read_as!(u16),
        (TypeChar::Uint, 4) => read_as!(u32),
        (TypeChar::Uint, 8) => read_as!(u64),
        (TypeChar::Int, 1) => read_as!(i8),
        (TypeChar::Int, 2) => read_as!(i16),
        (TypeChar::Int, 4) => read_as!(i32),
        (TypeChar::Int, 8) => read_as!(i64),
        _ => return None,
    };
    Some(to_f64)
}
