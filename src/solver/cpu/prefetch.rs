//! Values that are needed soon, fetched into the first-level cache while something else is computed.

/// Prefetches these values.
#[inline(always)]
pub(super) fn prefetch<R>(values: &[R]) {
    #[cfg(target_arch = "x86_64")]
    for line in values.chunks(super::patch::CACHE_LINE / size_of::<R>()) {
        // SAFETY: a prefetch reads nothing, whatever the address; every x86-64 CPU has it.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = values;
}
