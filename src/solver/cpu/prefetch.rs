//! Values that are needed soon, fetched into a cache while something else is computed.

use super::patch::CACHE_LINE;

/// A cache of a core.
#[derive(Clone, Copy)]
pub(super) enum Cache {
    First,
    /// It leaves the first one to what is computed with now.
    Second,
}

/// Prefetches these values.
#[inline(always)]
pub(super) fn prefetch<R>(cache: Cache, values: &[R]) {
    #[cfg(target_arch = "x86_64")]
    for line in values.chunks(CACHE_LINE / size_of::<R>()) {
        // SAFETY: a prefetch reads nothing, whatever the address; every x86-64 CPU has it.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
            match cache {
                Cache::First => _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()),
                Cache::Second => _mm_prefetch::<_MM_HINT_T1>(line.as_ptr().cast()),
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (cache, values);
}
