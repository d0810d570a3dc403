//! The memory that a run would take, checked before anything is allocated.

#[cfg(target_arch = "wasm32")]
mod page;
#[cfg(not(target_arch = "wasm32"))]
mod system;

#[cfg(target_arch = "wasm32")]
pub use page::{available, mappable, total};
#[cfg(not(target_arch = "wasm32"))]
pub use system::{LimitTooLow, available, available_to_all, mappable, prepare, total};

use super::{Precision, Shape};

/// A run needs more memory than this machine can give.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("shape {shape} needs {} for {arrays} arrays of {}; {} is free", human(*.needed), .precision.name(), human(*.available))]
pub struct OutOfMemory {
    /// The shape, as messages write it.
    pub shape: String,
    /// How many arrays of the grid are needed.
    pub arrays: usize,
    /// The precision of their values.
    pub precision: Precision,
    /// Bytes needed.
    pub needed: u64,
    /// Bytes free.
    pub available: u64,
}

/// Refuses a shape whose arrays would not fit into the memory that is free now.
///
/// # Errors
/// [`OutOfMemory`] with the size that would be needed.
pub fn check(shape: &Shape, arrays: usize, precision: Precision) -> Result<(), OutOfMemory> {
    check_with(shape, arrays, precision, 0)
}

/// The same with this many bytes beside the arrays.
///
/// # Errors
/// [`OutOfMemory`] with the size that would be needed.
pub fn check_with(
    shape: &Shape,
    arrays: usize,
    precision: Precision,
    beside: u64,
) -> Result<(), OutOfMemory> {
    let needed = shape.array_bytes(arrays, precision).saturating_add(beside);
    let available = available();
    if needed <= available {
        return Ok(());
    }
    Err(OutOfMemory { shape: shape.to_string(), arrays, precision, needed, available })
}

/// Something that is not arrays of a grid needs more memory than this machine can give.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} needs {} of memory; {} is free", human(*.needed), human(*.available))]
pub struct NoRoom {
    /// What needs it, as a sentence begins.
    pub what: &'static str,
    /// Bytes needed.
    pub needed: u64,
    /// Bytes free.
    pub available: u64,
}

/// Refuses what would not fit into the memory that is free now.
///
/// # Errors
/// [`NoRoom`] with the size that would be needed.
pub fn check_bytes(what: &'static str, needed: u64) -> Result<(), NoRoom> {
    let available = available();
    if needed <= available { Ok(()) } else { Err(NoRoom { what, needed, available }) }
}

/// A number of bytes as text, with a unit in powers of 1000: `26.7 kB`.
pub fn human(bytes: u64) -> String {
    rounded(bytes, 3)
}

/// An estimated number of bytes, with two digits: `27 kB`.
pub fn about(bytes: u64) -> String {
    rounded(bytes, 2)
}

/// A number of bytes with at least that many digits.
#[allow(clippy::cast_precision_loss)]
fn rounded(bytes: u64, digits: i32) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1000.0;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    // The most decimals with which the rounded value has no more digits.
    let decimals = (0..digits)
        .rev()
        .find(|&decimals| value < 10_f64.powi(digits - decimals) - 0.5 * 10_f64.powi(-decimals));
    let decimals = decimals.unwrap_or(0) as usize;
    format!("{value:.decimals$} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_room_is_named() {
        let said = check_bytes("the graph of the matrix", u64::MAX).unwrap_err().to_string();
        assert!(said.starts_with("the graph of the matrix needs 18.4 EB of memory; "), "{said}");
        assert_eq!(check_bytes("nothing", 0), Ok(()));
    }
}
