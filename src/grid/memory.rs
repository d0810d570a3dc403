//! The memory that a run would take, checked before anything is allocated.

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
    let needed = shape.stored() as u64 * arrays as u64 * precision.bytes() as u64;
    let needed = needed.saturating_add(beside);
    let available = available();
    if needed <= available {
        return Ok(());
    }
    Err(OutOfMemory { shape: shape.to_string(), arrays, precision, needed, available })
}

/// Bytes that can be allocated without swapping, as the system (or its container) reports; no limit
/// where it reports nothing.
pub fn available() -> u64 {
    let Ok(mut system) = sysinfo::System::new() else {
        return u64::MAX;
    };
    system.refresh_memory();
    let container = system.cgroup_limits().map_or(u64::MAX, |limits| limits.free_memory);
    system.available_memory().min(container).min(addresses_left())
}

/// Bytes that this process may still map under its limit of addresses (RLIMIT_AS); no limit where the
/// system does not list it. Linux does (`/proc/self`).
fn addresses_left() -> u64 {
    let read = |name: &str| std::fs::read_to_string(name).ok();
    let limit = || {
        let limits = read("/proc/self/limits")?;
        let line = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
        line.split_whitespace().next()?.parse::<u64>().ok()
    };
    let used = || {
        let status = read("/proc/self/status")?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmSize:"))?;
        Some(1024 * line.split_whitespace().next()?.parse::<u64>().ok()?)
    };
    limit().map_or(u64::MAX, |limit| limit.saturating_sub(used().unwrap_or(0)))
}

/// Bytes of memory that this machine (or its container) has, where the system reports it.
pub fn total() -> Option<u64> {
    let mut system = sysinfo::System::new().ok()?;
    system.refresh_memory();
    let container = system.cgroup_limits().map_or(u64::MAX, |limits| limits.total_memory);
    Some(system.total_memory().min(container))
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
