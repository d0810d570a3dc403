//! From values to colours, fast enough for every frame of the window.

use crate::picture::colour::map::{COLOURS, ColourMap};
use std::borrow::Cow;

use crate::picture::axis::scale::{
    End, SYMMETRIC_LINEAR_SHARE, SYMMETRIC_THRESHOLD, Scale, ScaleKind,
};

/// Values on a rectangle, row by row; row 0 is drawn on top. NaN means that there is no value.
#[derive(Clone, Copy, Debug)]
pub struct Samples<'a> {
    cols: usize,
    rows: usize,
    values: &'a [f32],
}

/// A rectangle and a number of values that don't fit each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{cols} × {rows} samples were expected, but {given} values given")]
pub struct SamplesError {
    /// Columns expected.
    pub cols: usize,
    /// Rows expected.
    pub rows: usize,
    /// Values given.
    pub given: usize,
}

impl<'a> Samples<'a> {
    /// No samples at all.
    pub const EMPTY: Self = Self { cols: 0, rows: 0, values: &[] };

    /// `rows` rows of `cols` values, one after the other in `values`. Both may be zero.
    ///
    /// # Errors
    /// [`SamplesError`] unless there are exactly `cols · rows` values.
    pub fn new(cols: usize, rows: usize, values: &'a [f32]) -> Result<Self, SamplesError> {
        if cols.checked_mul(rows) == Some(values.len()) {
            Ok(Self { cols, rows, values })
        } else {
            Err(SamplesError { cols, rows, given: values.len() })
        }
    }

    /// Values in a row.
    pub const fn cols(&self) -> usize {
        self.cols
    }

    /// Rows.
    pub const fn rows(&self) -> usize {
        self.rows
    }

    /// The values, row by row.
    pub const fn values(&self) -> &'a [f32] {
        self.values
    }

    /// Whether any finite value lies beyond this end of the scale.
    pub fn clip(&self, scale: &Scale, end: End) -> bool {
        let mut finite = self.values.iter().filter(|value| value.is_finite());
        finite.any(|value| scale.clips(f64::from(*value)) == Some(end))
    }

    /// Whether any value is infinite: it has a colour of its own.
    pub fn has_infinite(&self) -> bool {
        self.values.iter().any(|value| value.is_infinite())
    }

    /// The same picture with at most `cols` × `rows` samples: each new one is that of its part
    /// with the largest absolute value, sign kept, so that a line one point wide never vanishes.
    /// Parts share the samples on their common border when the sizes don't divide. Returns the new
    /// columns, rows and values.
    pub fn pooled(&self, cols: usize, rows: usize) -> (usize, usize, Vec<f32>) {
        let (cols, rows) = (self.cols.min(cols), self.rows.min(rows));
        let part = |index: usize, parts: usize, whole: usize| {
            index * whole / parts..((index + 1) * whole).div_ceil(parts)
        };
        let larger = |a: f32, b: f32| if a.abs() >= b.abs() || b.is_nan() { a } else { b };
        let mut values = Vec::with_capacity(cols * rows);
        let mut tall = vec![f32::NAN; self.cols];
        for row in 0..rows {
            // First down, whole rows at a time, then across.
            tall.fill(f32::NAN);
            for source in part(row, rows, self.rows) {
                let source = &self.values[source * self.cols..][..self.cols];
                for (kept, value) in tall.iter_mut().zip(source) {
                    *kept = larger(*kept, *value);
                }
            }
            values.extend((0..cols).map(|col| {
                tall[part(col, cols, self.cols)].iter().copied().fold(f32::NAN, larger)
            }));
        }
        (cols, rows, values)
    }
}

/// The colour of a sample without a value: none, whatever lies behind shows through.
pub const NO_VALUE: [u8; 4] = [0; 4];

/// The colour of an infinite sample, which no colour map has: the sign `∞` of colour bars has it, too.
pub const INFINITE: [u8; 4] = [0, 230, 255, 255];

/// How many values are placed before their colours are read from the table; fits the first-level cache.
const BATCH: usize = 1024;

/// The values that are coloured: on a linear scale magnitudes, where those were chosen.
pub fn shown_values(values: &[f32], scale: ScaleKind, absolute: bool) -> Cow<'_, [f32]> {
    if scale == ScaleKind::Linear && absolute {
        values.iter().map(|value| value.abs()).collect()
    } else {
        values.into()
    }
}

/// Writes the colours of all samples into `out`, which is resized to `rows · cols · 4` bytes: red,
/// green, blue and opacity (not premultiplied), sample by sample in the same order.
///
/// The place of a value is computed in single precision (but for linear scales, whose ends may
/// be close), so a colour may be the neighbour in the table of the one at [`Scale::position`].
/// Absolute values below `f32::MIN_POSITIVE` count as zero.
pub fn colours(samples: &Samples<'_>, scale: &Scale, map: ColourMap, out: &mut Vec<u8>) {
    out.resize(samples.values.len() * 4, 0);
    let (table, mut rest) = (table(map), &mut **out);
    by_place(samples.values, scale, |values, places| {
        let (pixels, others) = std::mem::take(&mut rest).split_at_mut(4 * values.len());
        rest = others;
        paint(values, places, &table, pixels);
    });
}

/// Passes `each` the values, some at a time, and their places on a scale: 0 at its low end and 1 at its high end. Places and
/// what is done with them take turns, so that the arithmetic is free to use vectors.
pub(super) fn by_place(values: &[f32], scale: &Scale, each: impl FnMut(&[f32], &[f32])) {
    match scale.kind() {
        ScaleKind::Linear => {
            let (lo, hi) = (scale.range().lo(), scale.range().hi());
            let factor = 1.0 / (hi - lo);
            in_batches(values, |value| ((f64::from(value) - lo) * factor) as f32, each);
        }
        ScaleKind::Log => {
            let (lo, hi) = (scale.range().lo().log2(), scale.range().hi().log2());
            let (factor, offset) = line(lo, hi);
            in_batches(values, |value| log2(value) * factor + offset, each);
        }
        ScaleKind::Symmetric => {
            let threshold = scale.range().hi() * SYMMETRIC_THRESHOLD;
            let (factor, offset) = line(threshold.log2(), scale.range().hi().log2());
            let beyond = 0.5 * (1.0 - SYMMETRIC_LINEAR_SHARE as f32);
            let within = 0.5 * SYMMETRIC_LINEAR_SHARE as f32;
            let (factor, offset) = (factor * beyond, offset * beyond + within);
            // Finite, so that zero stays zero however small the largest value is.
            let slope = ((f64::from(within) / threshold) as f32).min(f32::MAX);
            let place = |value: f32| {
                let near = value.abs() * slope;
                let far = (log2(value) * factor + offset).max(0.0);
                0.5 + (if near < within { near } else { far }).copysign(value)
            };
            in_batches(values, place, each);
        }
    }
}

/// The factor and the offset that take `lo` to 0 and `hi` to 1.
fn line(lo: f64, hi: f64) -> (f32, f32) {
    let factor = 1.0 / (hi - lo);
    (factor as f32, (-lo * factor) as f32)
}

/// Passes `each` a batch of values at a time, and the places that `place` computes for them, clamped to 0–1.
fn in_batches(values: &[f32], place: impl Fn(f32) -> f32, mut each: impl FnMut(&[f32], &[f32])) {
    let mut places = [0.0; BATCH];
    for values in values.chunks(BATCH) {
        for (to, value) in places.iter_mut().zip(values) {
            *to = place(*value).clamp(0.0, 1.0);
        }
        each(values, &places[..values.len()]);
    }
}

/// Where a table of colours has that of NaN, and that of an infinite value.
const MISSING: u32 = COLOURS as u32;
const INFINITY: u32 = MISSING + 1;

/// The colours of a map, and of values that are not finite; 512 entries, so that nine bits are always inside.
fn table(map: ColourMap) -> [[u8; 4]; 2 * COLOURS] {
    let mut table = [NO_VALUE; 2 * COLOURS];
    table[..COLOURS].copy_from_slice(map.table());
    table[INFINITY as usize] = INFINITE;
    table
}

/// Looks up the colours of at most [`BATCH`] values at their places.
fn paint(values: &[f32], places: &[f32], table: &[[u8; 4]; 2 * COLOURS], out: &mut [u8]) {
    // Adding 2²³ leaves the nearest whole number in the lowest bits of a single.
    const ROUND: f32 = 8_388_608.0;
    let mut steps = [0_u32; BATCH];
    for (step, (value, place)) in steps.iter_mut().zip(values.iter().zip(places)) {
        let bits = (place * (COLOURS - 1) as f32 + ROUND).to_bits() & 0xff;
        let special = if value.is_nan() { MISSING } else { INFINITY };
        *step = if value.is_finite() { bits } else { special };
    }
    for (pixel, step) in out.as_chunks_mut::<4>().0.iter_mut().zip(&steps) {
        *pixel = table[(*step & 0x1ff) as usize];
    }
}

/// What [`log2`] adds between the ends of an octave: interpolates
/// (log2(1 + m) − m) / (m·(1 − m)) at the five Chebyshev points of 0–1, lowest power first.
const POLYNOMIAL: [f32; 5] = [0.44265407, -0.2765695, 0.18410083, -0.09720183, 0.02569126];

/// The logarithm to base 2 of `|value|`, to 2·10⁻⁵; the lowest
/// f32 for what is (nearly) zero, the highest for what is infinite. No calls: it runs once per
/// pixel.
fn log2(value: f32) -> f32 {
    let bits = value.to_bits() & 0x7fff_ffff;
    let exponent = (bits >> 23) as i32 as f32 - 127.0;
    let m = f32::from_bits((bits & 0x007f_ffff) | 0x3f80_0000) - 1.0;
    // log2(1 + m) = m + m·(1 − m)·p(m): exact at both ends of an octave, so that nothing jumps.
    let p = POLYNOMIAL.iter().rev().fold(0.0, |sum, c| sum * m + c);
    let exact_at_ends = m + m * (1.0 - m) * p;
    // Zero would pass for 2⁻¹²⁷, and infinity for 2¹²⁸; ranges may well go beyond.
    match bits {
        0..0x0080_0000 => f32::MIN,
        0x7f80_0000.. => f32::MAX,
        _ => exponent + exact_at_ends,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::axis::scale::Range;

    /// Values of all sizes and both signs, without a generator of random numbers.
    fn values(count: u32) -> Vec<f32> {
        let scramble = |index: u32| index.wrapping_mul(2_654_435_761).rotate_left(13) ^ 0x5bd1_e995;
        (0..count)
            .map(|index| {
                let bits = scramble(index);
                let size = ((bits >> 8) as f32 / (1 << 24) as f32 * 24.0 - 16.0).exp();
                if bits & 1 == 0 { size } else { -size }
            })
            .collect()
    }

    fn painted(values: &[f32], scale: &Scale, map: ColourMap) -> Vec<u8> {
        let mut out = Vec::new();
        colours(&Samples::new(values.len(), 1, values).unwrap(), scale, map, &mut out);
        out
    }

    #[test]
    fn fast_and_slow_paths_agree_to_a_step() {
        // In the grey map the red channel is the step.
        let steps = ColourMap::Grey.table();
        let values = values(50_000);
        let ranges = [(-3000.0, 3000.0), (1e-6, 1.0), (0.5, 0.52), (1.0, 1e30), (1e-30, 1e-20)];
        for kind in ScaleKind::ALL {
            for (lo, hi) in ranges {
                let scale = Scale::new(kind, Range::new(lo, hi));
                let pixels = painted(&values, &scale, ColourMap::Grey);
                for (value, pixel) in values.iter().zip(pixels.chunks_exact(4)) {
                    let step = (scale.position(f64::from(*value)) * 255.0).round() as usize;
                    let near = step.saturating_sub(1)..=(step + 1).min(255);
                    assert!(near.clone().any(|s| steps[s] == pixel), "{scale:?} {value} {pixel:?}");
                }
            }
        }
    }

    #[test]
    fn ends_zero_and_what_is_no_number() {
        let map = ColourMap::Inferno;
        let first = map.table()[0];
        let odd = [0.0, -0.0, f32::INFINITY, f32::NAN, -f32::NAN, f32::NEG_INFINITY, 1e-45];
        let log = Scale::new(ScaleKind::Log, Range::new(1e-6, 1.0));
        let expected = [first, first, INFINITE, NO_VALUE, NO_VALUE, INFINITE, first].concat();
        assert_eq!(painted(&odd, &log, map), expected);
        let middle = map.table()[128];
        for hi in [1.0, 1e-38, 1e300] {
            let symmetric = Scale::new(ScaleKind::Symmetric, Range::new(-hi, hi));
            let expected = [middle, middle, INFINITE, NO_VALUE, NO_VALUE, INFINITE].concat();
            assert_eq!(painted(&odd[..6], &symmetric, map), expected, "{hi}");
        }
        let linear = Scale::new(ScaleKind::Linear, Range::new(0.0, 1.0));
        let expected = [first, first, INFINITE, NO_VALUE, NO_VALUE, INFINITE, first].concat();
        assert_eq!(painted(&odd, &linear, map), expected);
    }

    #[test]
    fn samples_must_fill_their_rectangle() {
        assert!(Samples::new(2, 3, &[0.0; 6]).is_ok());
        assert!(Samples::new(0, 3, &[]).is_ok());
        assert!(Samples::new(usize::MAX, 2, &[0.0; 6]).is_err());
        let refused = Samples::new(2, 3, &[0.0; 5]).unwrap_err();
        assert_eq!(refused.to_string(), "2 × 3 samples were expected, but 5 values given");
    }

    #[test]
    fn pooling_keeps_the_largest_and_its_sign() {
        let mut values = vec![0.1_f32; 100 * 60];
        values[37 * 100 + 61] = -5.0;
        values[0] = f32::NAN;
        let (cols, rows, pooled) = Samples::new(100, 60, &values).unwrap().pooled(33, 7);
        assert_eq!((cols, rows, pooled.len()), (33, 7, 33 * 7));
        assert!(pooled.contains(&-5.0));
        assert!(pooled.iter().all(|value| [0.1, -5.0].contains(value)));
        let (cols, rows, same) = Samples::new(100, 60, &values).unwrap().pooled(500, 60);
        assert_eq!((cols, rows), (100, 60));
        assert!(same[0].is_nan() && same[1..] == values[1..]);
        assert_eq!(Samples::new(0, 3, &[]).unwrap().pooled(5, 5).2, Vec::<f32>::new());
    }
}
