//! The memory of a machine, as its system reports it.

use super::human;

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
    let limited = limits().iter().map(|limit| limit.left()).min().unwrap_or(u64::MAX);
    available_to_all().min(limited.saturating_sub(BESIDE))
}

/// The same of the arrays of several processes together: each of them has limits of its own.
pub fn available_to_all() -> u64 {
    let Ok(mut system) = sysinfo::System::new() else {
        return u64::MAX;
    };
    system.refresh_memory();
    let container = system.cgroup_limits().map_or(u64::MAX, |limits| limits.free_memory);
    system.available_memory().min(container).saturating_sub(BESIDE)
}

/// Bytes of files that may be mapped beside what a program needs; no limit where there is none of addresses.
pub fn mappable() -> u64 {
    let addresses = limits().into_iter().filter(|limit| limit.counts_files);
    addresses.map(Limit::left).min().unwrap_or(u64::MAX).saturating_sub(BESIDE)
}

/// A limit of what this process may take.
#[derive(Clone, Copy, Debug)]
struct Limit {
    /// Whether it is one of addresses (RLIMIT_AS, `ulimit -v`), those of mapped files included, and not one of memory that is
    /// no file (RLIMIT_DATA, `ulimit -d`).
    counts_files: bool,
    /// The most bytes.
    most: u64,
    /// Bytes that it has taken.
    taken: u64,
    /// Threads that it has.
    threads: u64,
}

impl Limit {
    /// Bytes that it may still take when all its threads have their stacks.
    fn left(self) -> u64 {
        let cores = std::thread::available_parallelism().map_or(1, usize::from) as u64;
        let to_come = (2 * cores + OTHER_THREADS).saturating_sub(self.threads);
        let taken = self.taken.saturating_add(to_come * ADDRESSES_OF_THREAD);
        self.most.saturating_sub(taken)
    }
}

/// The limits of this process; those that there are not, or that the system does not list, are left out. Linux lists them
/// (`/proc/self`).
fn limits() -> Vec<Limit> {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap_or_default();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let after = |text: &str, name: &str| -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse().ok()
    };
    let kinds = [("Max address space", "VmSize:", true), ("Max data size", "VmData:", false)];
    let limit = |(limit, taken, counts_files)| {
        Some(Limit {
            counts_files,
            most: after(&limits, limit)?,
            taken: after(&status, taken).map_or(0, |kilobytes| kilobytes.saturating_mul(1024)),
            threads: after(&status, "Threads:").unwrap_or(1),
        })
    };
    kinds.into_iter().filter_map(limit).collect()
}

/// A limit of what this process may take leaves no room for the program, whatever it is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the limit of {} is {}, which leaves no room for any run (ulimit -{})", self.what(), human(*.limit), self.option())]
pub struct LimitTooLow {
    /// The limit in bytes.
    pub limit: u64,
    /// Whether it is one of addresses, and not of memory.
    pub is_of_addresses: bool,
}

impl LimitTooLow {
    fn what(self) -> &'static str {
        if self.is_of_addresses { "addresses" } else { "memory" }
    }

    fn option(self) -> char {
        if self.is_of_addresses { 'v' } else { 'd' }
    }
}

/// Prepares the memory of a program; called before there are threads.
///
/// # Errors
/// [`LimitTooLow`] where what it may take is limited and the program itself has no room.
pub fn prepare() -> Result<(), LimitTooLow> {
    heap::return_large_arrays();
    let limits = limits();
    if !limits.is_empty() {
        heap::share();
    }
    match limits.into_iter().find(|limit| limit.left() <= BESIDE) {
        None => Ok(()),
        Some(Limit { most, counts_files, .. }) => {
            Err(LimitTooLow { limit: most, is_of_addresses: counts_files })
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_to_come_are_part_of_the_addresses() {
        let cores = std::thread::available_parallelism().map_or(1, usize::from) as u64;
        let all = 2 * cores + OTHER_THREADS;
        let left =
            |taken, threads| Limit { counts_files: true, most: 10 << 30, taken, threads }.left();
        assert_eq!(left(1 << 30, all), 9 << 30);
        assert_eq!(left(1 << 30, all + 5), 9 << 30);
        assert_eq!(left(1 << 30, all - 2), (9 << 30) - 2 * ADDRESSES_OF_THREAD);
        assert_eq!(left(11 << 30, all), 0);
    }
}
