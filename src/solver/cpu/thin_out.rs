//! Reduces the points of a field to samples.

use crate::solver::Window;
use crate::solver::sample::{of_rank, rank};

/// Adds one row of a window to the samples of a part. `row` counts from the first row of the part;
/// `is_last` ends its last samples. A sample is the value of largest magnitude of its block
/// ([`larger`](crate::solver::larger)).
#[inline(always)]
pub(super) fn thin_out(
    window: &Window,
    row: usize,
    is_last: bool,
    values: &[f64],
    ranks: &mut Vec<u64>,
    samples: &mut [f32],
) {
    let ([across, _], [width, height]) = (window.size(), window.block());
    let samples = &mut samples[row / height * across..][..across];
    if [width, height] == [1, 1] {
        for (sample, value) in samples.iter_mut().zip(values) {
            *sample = as_shown(*value);
        }
        return;
    }
    if row.is_multiple_of(height) {
        ranks.clear();
        ranks.resize(values.len(), rank(0.0));
    }
    for (largest, value) in ranks.iter_mut().zip(values) {
        *largest = rank(*value).max(*largest);
    }
    if is_last || (row + 1).is_multiple_of(height) {
        match width {
            1 => across_blocks::<1>(ranks, samples),
            2 => across_blocks::<2>(ranks, samples),
            3 => across_blocks::<3>(ranks, samples),
            4 => across_blocks::<4>(ranks, samples),
            _ => {
                for (sample, block) in samples.iter_mut().zip(ranks.chunks(width)) {
                    *sample = largest(block);
                }
            }
        }
    }
}

/// Samples of blocks whose width is known at compile time; the last block may be narrower.
#[inline(always)]
fn across_blocks<const WIDTH: usize>(ranks: &[u64], samples: &mut [f32]) {
    let (blocks, rest) = ranks.as_chunks::<WIDTH>();
    let (samples, last) = samples.split_at_mut(blocks.len());
    for (sample, block) in samples.iter_mut().zip(blocks) {
        *sample = largest(block);
    }
    for sample in last {
        *sample = largest(rest);
    }
}

#[inline(always)]
fn largest(ranks: &[u64]) -> f32 {
    let mut largest = 0;
    for rank in ranks {
        largest = largest.max(*rank);
    }
    of_rank(largest) as f32
}

/// A value as a sample of one point. Negative zero becomes zero.
#[inline(always)]
pub(super) fn as_shown(value: f64) -> f32 {
    (value + 0.0) as f32
}
