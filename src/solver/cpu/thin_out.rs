//! From the points of a field to its samples.

use crate::solver::Window;
use crate::solver::sample::{of_rank, rank};

/// Takes a row of a window into the samples of a part: the row that lies so many below the first, of
/// whose samples it may be the last. Each is the largest value ([`larger`](crate::solver::larger)) of its
/// block.
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

/// The samples of blocks of a width that is known where this is compiled, and the last, which may be
/// narrower.
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

/// A value as a sample of its point alone. Zero has one sign only.
#[inline(always)]
pub(super) fn as_shown(value: f64) -> f32 {
    (value + 0.0) as f32
}
