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
    let of_array = (shape.stored() as u64).saturating_mul(precision.bytes() as u64);
    let needed = of_array.saturating_mul(arrays as u64).saturating_add(beside);
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

/// Bytes that a program takes beside what is summed before it is allocated: its heap, buffers of files, fonts, the
/// history of a run (19 MB at most, twice that while it grows).
const BESIDE: u64 = 64 << 20;

/// Addresses that a thread takes: the stack that Rust gives it (2 MiB), its guard page, and what is local to it.
const ADDRESSES_OF_THREAD: u64 = (2 << 20) + (64 << 10);

/// Threads beside those of solvers and of what is computed in parallel, which have one for each core: for Ctrl-C, the
/// worker, the tuner, the GPU and the window.
const OTHER_THREADS: u64 = 8;

/// Bytes that arrays may take without swapping, as the system (or its container) reports; no limit where it reports
/// nothing. What a program needs beside them is left out.
pub fn available() -> u64 {
    let Ok(mut system) = sysinfo::System::new() else {
        return u64::MAX;
    };
    system.refresh_memory();
    let container = system.cgroup_limits().map_or(u64::MAX, |limits| limits.free_memory);
    let addresses = addresses().map_or(u64::MAX, Addresses::left);
    system.available_memory().min(container).min(addresses).saturating_sub(BESIDE)
}

/// The addresses of this process.
#[derive(Clone, Copy, Debug)]
struct Addresses {
    /// The most bytes that it may map (RLIMIT_AS).
    limit: u64,
    /// Bytes that it has mapped.
    mapped: u64,
    /// Threads that it has.
    threads: u64,
}

impl Addresses {
    /// Bytes that it may still map when all its threads have their stacks.
    fn left(self) -> u64 {
        let cores = std::thread::available_parallelism().map_or(1, usize::from) as u64;
        let to_come = (2 * cores + OTHER_THREADS).saturating_sub(self.threads);
        let taken = self.mapped.saturating_add(to_come * ADDRESSES_OF_THREAD);
        self.limit.saturating_sub(taken)
    }
}

/// The addresses of this process; `None` where they are not limited, or the system does not list them. Linux does
/// (`/proc/self`).
fn addresses() -> Option<Addresses> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let limit = limits.lines().find_map(|line| line.strip_prefix("Max address space"))?;
    let limit = limit.split_whitespace().next()?.parse().ok()?;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let number = |name: &str| -> Option<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    let mapped = number("VmSize:").map_or(0, |kilobytes| kilobytes.saturating_mul(1024));
    Some(Addresses { limit, mapped, threads: number("Threads:").unwrap_or(1) })
}

/// The limit of addresses leaves no room for the program, whatever it is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the limit of addresses is {}, which leaves no room for any run (ulimit -v)", human(*.limit))]
pub struct TooFewAddresses {
    /// The limit in bytes.
    pub limit: u64,
}

/// Prepares the memory of a program; called before there are threads.
///
/// # Errors
/// [`TooFewAddresses`] where the addresses are limited and the program itself has no room.
pub fn prepare() -> Result<(), TooFewAddresses> {
    heap::return_large_arrays();
    let Some(addresses) = addresses() else { return Ok(()) };
    heap::share();
    if addresses.left() > BESIDE { Ok(()) } else { Err(TooFewAddresses { limit: addresses.limit }) }
}

/// Settings of the heap of the C library of GNU (`mallopt`, malloc.h).
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod heap {
    use std::ffi::c_int;

    unsafe extern "C" {
        fn mallopt(parameter: c_int, value: c_int) -> c_int;
    }

    fn set(parameter: c_int, value: c_int) {
        // SAFETY: it takes two numbers and keeps them; a parameter that it does not know it ignores.
        unsafe { mallopt(parameter, value) };
    }

    /// Makes arrays of a mebibyte and more go back to the system once they are freed. It would otherwise raise that size
    /// with every larger array that is freed, and keep the pieces: hours of changing runs took gigabytes.
    pub fn return_large_arrays() {
        const MMAP_THRESHOLD: c_int = -3;
        set(MMAP_THRESHOLD, 1 << 20);
    }

    /// Makes all threads allocate from one heap. It would otherwise reserve 64 MB of addresses for each thread, which
    /// arrays then lack.
    pub fn share() {
        const ARENA_MAX: c_int = -8;
        set(ARENA_MAX, 1);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
mod heap {
    pub fn return_large_arrays() {}

    pub fn share() {}
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_to_come_are_part_of_the_addresses() {
        let cores = std::thread::available_parallelism().map_or(1, usize::from) as u64;
        let all = 2 * cores + OTHER_THREADS;
        let left = |mapped, threads| Addresses { limit: 10 << 30, mapped, threads }.left();
        assert_eq!(left(1 << 30, all), 9 << 30);
        assert_eq!(left(1 << 30, all + 5), 9 << 30);
        assert_eq!(left(1 << 30, all - 2), (9 << 30) - 2 * ADDRESSES_OF_THREAD);
        assert_eq!(left(11 << 30, all), 0);
    }

    #[test]
    fn what_has_no_room_is_named() {
        let said = check_bytes("the graph of the matrix", u64::MAX).unwrap_err().to_string();
        assert!(said.starts_with("the graph of the matrix needs 18.4 EB of memory; "), "{said}");
        assert_eq!(check_bytes("nothing", 0), Ok(()));
    }
}
