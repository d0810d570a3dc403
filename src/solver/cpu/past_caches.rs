//! Results that nothing reads soon, written past the caches: memory is not read before it is overwritten, and what is computed
//! with stays in the caches.

use crate::grid::Real;

/// Copies so many rows of `size[0]` values; from a row to the next there is a stride. Other threads may read them once this one
/// has passed a [`fence`].
///
/// # Panics
/// If there are fewer values.
#[inline(always)]
pub(super) fn copy<R: Real>(from: &[R], to: &mut [R], stride: usize, size: [usize; 2]) {
    let [width, height] = size;
    for row in 0..height {
        let start = row * stride;
        copy_row(&from[start..start + width], &mut to[start..start + width]);
    }
}

/// Lets what was copied be there before anything that is written later.
pub(super) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 CPU has it.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn copy_row<R: Real>(from: &[R], to: &mut [R]) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    const VECTOR: usize = size_of::<__m128i>();
    // A vector is written to a multiple of its size.
    let first = to.as_ptr().align_offset(VECTOR).min(to.len());
    let (from_start, from) = from.split_at(first);
    let (to_start, to) = to.split_at_mut(first);
    to_start.copy_from_slice(from_start);
    let count = VECTOR / size_of::<R>();
    let (mut from, mut to) = (from.chunks_exact(count), to.chunks_exact_mut(count));
    for (from, to) in from.by_ref().zip(to.by_ref()) {
        // SAFETY: both are as long as a vector, and what is written begins at a multiple of its size. Numbers have no
        // bytes that are not set.
        unsafe {
            _mm_stream_si128(to.as_mut_ptr().cast(), _mm_loadu_si128(from.as_ptr().cast()));
        }
    }
    to.into_remainder().copy_from_slice(from.remainder());
}

#[cfg(not(target_arch = "x86_64"))]
fn copy_row<R: Real>(from: &[R], to: &mut [R]) {
    to.copy_from_slice(from);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn rows_are_copied_and_nothing_beside_them(
            [before, width, gap, height] in [0..9_usize, 0..40_usize, 0..9_usize, 1..5_usize],
        ) {
            let stride = width + gap;
            let from: Vec<f32> = (0..before + height * stride).map(|i| i as f32).collect();
            let mut to = vec![-1.0_f32; from.len()];
            super::copy(&from[before..], &mut to[before..], stride, [width, height]);
            super::fence();
            for (i, value) in to.iter().enumerate() {
                let is_copied = i >= before && (i - before) % stride.max(1) < width;
                prop_assert_eq!(*value, if is_copied { from[i] } else { -1.0 });
            }
        }
    }
}
