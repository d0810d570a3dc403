//! The memory of a page in a browser, which grows to a limit of its own: a page that wants more than the browser gives it
//! ends.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Bytes that a page may take. It can address four gigabytes, of which browsers give less to a small device.
const LIMIT: u64 = 2 << 30;

/// Bytes that the window and the history of a run take beside what is summed before it is allocated.
const BESIDE: u64 = 64 << 20;

/// Bytes that are allocated.
static USED: AtomicUsize = AtomicUsize::new(0);

#[global_allocator]
static COUNTING: Counting = Counting;

/// The standard allocator, counting: memory that was freed stays with the page, so its size does not say what is free.
struct Counting;

// SAFETY: every call is passed on unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        USED.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: as this function is.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as this function is.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        USED.fetch_add(size, Ordering::Relaxed);
        USED.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as this function is.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Bytes that arrays may take; what the window needs beside them is left out.
pub fn available() -> u64 {
    LIMIT.saturating_sub(USED.load(Ordering::Relaxed) as u64 + BESIDE)
}

/// Bytes that the page may take.
pub fn total() -> Option<u64> {
    Some(LIMIT)
}

/// Bytes of files that may be mapped: there are none here, and no limit.
pub fn mappable() -> u64 {
    u64::MAX
}
