//! Scales: from a value to its position on an axis or a colour bar.

use serde::{Deserialize, Serialize};

/// How values are spread over the colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScaleKind {
    /// Evenly, signs kept.
    Linear,
    /// By the logarithm of the absolute value; zero is at the low end.
    #[default]
    Log,
    /// Around zero: by the logarithm of the absolute value on either side, and evenly within a
    /// ten-thousandth of the largest value, where a logarithm would run off.
    Symmetric,
}

impl ScaleKind {
    /// Every kind, in the order of the menu.
    pub const ALL: [Self; 3] = [Self::Linear, Self::Log, Self::Symmetric];

    /// The name on the command line and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Log => "log",
            Self::Symmetric => "symmetric",
        }
    }

    /// What it does, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Linear => "Values are spread evenly over the colours.",
            Self::Log => "Magnitudes are spread by their logarithm: at most six decades.",
            Self::Symmetric => "By sign and magnitude, logarithmic away from zero.",
        }
    }

    /// The name in a menu.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Linear => "Linear",
            Self::Log => "Log",
            Self::Symmetric => "Symmetric",
        }
    }
}

/// Where a symmetric scale goes from even to logarithmic, as a share of its largest value.
pub const SYMMETRIC_THRESHOLD: f64 = 1e-4;

/// The even part of a symmetric scale takes the room of one decade beside the four others.
pub(crate) const SYMMETRIC_LINEAR_SHARE: f64 = 0.2;

/// The automatic log range shows at most this many times less than the largest value.
const LOG_FLOOR: f64 = 1e-6;

/// The automatic log range leaves out this share of the values, from below: where a field crosses
/// zero, a line one point wide falls to the rounding error.
const LOG_LEFT_OUT: f64 = 0.01;

/// A log range is at least this wide, so that a nearly constant field isn't all noise.
const LOG_NARROWEST: f64 = 1.01;

/// Beyond this, and below its inverse, the ratio of two values could overflow.
const LARGEST: f64 = 1e150;

/// The lowest and the highest value shown: both finite, the first below the second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "(f64, f64)", into = "(f64, f64)")]
pub struct Range {
    lo: f64,
    hi: f64,
}

impl Range {
    /// The range from `lo` to `hi`, repaired where that is none: ends in the wrong order are
    /// swapped, ends that (nearly) coincide are moved apart by a tenth of their value (to 0 and 1
    /// when both are 0), and anything that is not finite gives 0 to 1.
    pub fn new(lo: f64, hi: f64) -> Self {
        if !(lo.is_finite() && hi.is_finite()) {
            return Self { lo: 0.0, hi: 1.0 };
        }
        let tame = |value: f64| {
            if value.abs() < 1.0 / LARGEST { 0.0 } else { value.clamp(-LARGEST, LARGEST) }
        };
        let (lo, hi) = (tame(lo.min(hi)), tame(lo.max(hi)));
        let size = lo.abs().max(hi.abs());
        if size == 0.0 {
            Self { lo: 0.0, hi: 1.0 }
        } else if hi - lo < 1e-12 * size {
            // Ends that were moved stay where they can be, so that a range that is read again is the same.
            Self { lo: tame(lo - 0.1 * size), hi: tame(hi + 0.1 * size) }
        } else {
            Self { lo, hi }
        }
    }

    /// The range that shows `values` well on a scale of this kind; what is not finite is left
    /// out.
    ///
    /// Linear: from the lowest to the highest. Log: up to the largest absolute value, from the
    /// first percentile of the absolute values that are not zero (found to an eighth of an
    /// octave), but at most six decades. Symmetric: the largest absolute value, both ways.
    pub fn of(kind: ScaleKind, values: impl IntoIterator<Item = f32>) -> Self {
        let finite = values.into_iter().filter(|value| value.is_finite());
        match kind {
            ScaleKind::Linear => {
                let (lo, hi) = finite
                    .fold((f32::INFINITY, f32::NEG_INFINITY), |(lo, hi), v| (lo.min(v), hi.max(v)));
                Self::new(lo.into(), hi.into())
            }
            ScaleKind::Symmetric => {
                let size = f64::from(finite.fold(0.0_f32, |size, v| size.max(v.abs())));
                if size == 0.0 { Self::new(-1.0, 1.0) } else { Self::new(-size, size) }
            }
            ScaleKind::Log => Self::of_logarithms(finite),
        }
    }

    /// Counts values by exponent and upper mantissa: one pass, no copy, no sorting.
    fn of_logarithms(finite: impl Iterator<Item = f32>) -> Self {
        const BUCKET_SHIFT: u32 = 20;
        const BUCKETS: usize = 1 << (31 - BUCKET_SHIFT);
        let mut counts = vec![0_u64; BUCKETS];
        let mut hi = 0.0_f32;
        for value in finite {
            let size = value.abs();
            hi = hi.max(size);
            counts[(size.to_bits() >> BUCKET_SHIFT) as usize] += u64::from(size != 0.0);
        }
        if hi == 0.0 {
            return Self { lo: LOG_FLOOR, hi: 1.0 };
        }
        let total: u64 = counts.iter().sum();
        let left_out = (total as f64 * LOG_LEFT_OUT) as u64;
        let mut seen = 0;
        let bucket = counts.iter().position(|count| {
            seen += count;
            seen > left_out
        });
        let lo = f32::from_bits((bucket.unwrap_or(0) as u32) << BUCKET_SHIFT);
        let hi = f64::from(hi);
        // Half the highest, so that a constant field has a range, and is bright in it.
        Self::new(f64::from(lo).max(hi * LOG_FLOOR).min(hi / 2.0), hi)
    }

    /// The lowest value shown.
    pub const fn lo(self) -> f64 {
        self.lo
    }

    /// The highest value shown.
    pub const fn hi(self) -> f64 {
        self.hi
    }

    /// The smallest range that holds both: what a whole run needs, frame by frame.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self { lo: self.lo.min(other.lo), hi: self.hi.max(other.hi) }
    }
}

impl From<(f64, f64)> for Range {
    fn from((lo, hi): (f64, f64)) -> Self {
        Self::new(lo, hi)
    }
}

impl From<Range> for (f64, f64) {
    fn from(range: Range) -> Self {
        (range.lo, range.hi)
    }
}

/// An end of the colour bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The lowest value.
    Low,
    /// The highest value.
    High,
}

/// A kind and a range that fit each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    kind: ScaleKind,
    range: Range,
}

impl Scale {
    /// The scale of this kind over `range`, which is repaired to suit the kind: a log range is
    /// positive (six decades below its upper end when its lower end is not), a symmetric one
    /// reaches equally far on both sides of zero.
    pub fn new(kind: ScaleKind, range: Range) -> Self {
        let range = match kind {
            ScaleKind::Linear => range,
            ScaleKind::Log => {
                let hi = if range.hi > 0.0 { range.hi } else { range.lo.abs().max(1.0 / LARGEST) };
                let lo = if range.lo > 0.0 { range.lo } else { hi * LOG_FLOOR };
                Range { lo: lo.min(hi / LOG_NARROWEST), hi }
            }
            ScaleKind::Symmetric => {
                let size = range.lo.abs().max(range.hi.abs());
                Range { lo: -size, hi: size }
            }
        };
        Self { kind, range }
    }

    /// How values are spread.
    pub const fn kind(&self) -> ScaleKind {
        self.kind
    }

    /// The lowest and the highest value shown, as repaired.
    pub const fn range(&self) -> Range {
        self.range
    }

    /// Where a value lies between the low end, 0, and the high end, 1. Values beyond an end lie at
    /// that end; NaN stays NaN.
    pub fn position(&self, value: f64) -> f64 {
        let Range { lo, hi } = self.range;
        let place = match self.kind {
            ScaleKind::Linear => (value - lo) / (hi - lo),
            ScaleKind::Log => (value.abs() / lo).ln() / (hi / lo).ln(),
            ScaleKind::Symmetric => {
                let size = value.abs() / (hi * SYMMETRIC_THRESHOLD);
                let place = if size <= 1.0 {
                    SYMMETRIC_LINEAR_SHARE * size
                } else {
                    SYMMETRIC_LINEAR_SHARE
                        + (1.0 - SYMMETRIC_LINEAR_SHARE) * size.ln()
                            / (1.0 / SYMMETRIC_THRESHOLD).ln()
                };
                0.5 + 0.5 * place.copysign(value)
            }
        };
        place.clamp(0.0, 1.0)
    }

    /// The value at a position between 0 and 1: the inverse of [`position`](Self::position), up
    /// to the sign that a log scale doesn't show.
    pub fn value(&self, position: f64) -> f64 {
        let position = position.clamp(0.0, 1.0);
        let Range { lo, hi } = self.range;
        match self.kind {
            ScaleKind::Linear => lo + position * (hi - lo),
            ScaleKind::Log => lo * (hi / lo).powf(position),
            ScaleKind::Symmetric => {
                let place = 2.0 * position - 1.0;
                let size = if place.abs() <= SYMMETRIC_LINEAR_SHARE {
                    place.abs() / SYMMETRIC_LINEAR_SHARE
                } else {
                    let beyond =
                        (place.abs() - SYMMETRIC_LINEAR_SHARE) / (1.0 - SYMMETRIC_LINEAR_SHARE);
                    (1.0 / SYMMETRIC_THRESHOLD).powf(beyond)
                };
                (size * SYMMETRIC_THRESHOLD * hi).copysign(place)
            }
        }
    }

    /// The range with one end moved up (`by` > 0) or down by a part of the scale's length, as it is
    /// spread; for a symmetric one both ends move. At most nine tenths of the way to the other end.
    pub fn with_end_moved(&self, end: End, by: f64) -> Range {
        let Range { lo, hi } = self.range;
        let by = match end {
            End::Low => by.min(0.9),
            End::High => by.max(-0.9),
        };
        match (self.kind, end) {
            (ScaleKind::Linear, End::Low) => Range::new(lo + by * (hi - lo), hi),
            (ScaleKind::Linear, End::High) => Range::new(lo, hi + by * (hi - lo)),
            (ScaleKind::Log, End::Low) => Range::new(lo * (hi / lo).powf(by), hi),
            (ScaleKind::Log, End::High) => Range::new(lo, hi * (hi / lo).powf(by)),
            (ScaleKind::Symmetric, _) => {
                let outwards = if end == End::High { by } else { -by };
                let size = hi * (1.0 / SYMMETRIC_THRESHOLD).powf(outwards);
                Range::new(-size, size)
            }
        }
    }

    /// The end beyond which a value lies, if it does. Zero lies below every log range.
    pub fn clips(&self, value: f64) -> Option<End> {
        let value = if self.kind == ScaleKind::Log { value.abs() } else { value };
        if value < self.range.lo {
            Some(End::Low)
        } else if value > self.range.hi {
            Some(End::High)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scales() -> Vec<Scale> {
        let ranges = [(0.0, 1.0), (-3.0, 5.0), (1e-9, 2e4), (-7.0, -2.0), (1e140, 1e150)];
        let pairs = ScaleKind::ALL.into_iter().flat_map(|kind| ranges.map(|range| (kind, range)));
        pairs.map(|(kind, (lo, hi))| Scale::new(kind, Range::new(lo, hi))).collect()
    }

    #[test]
    fn an_end_that_is_moved_lies_where_it_was_moved_to() {
        for scale in scales().into_iter().filter(|scale| scale.kind() != ScaleKind::Symmetric) {
            let down = scale.with_end_moved(End::High, -0.25);
            assert_eq!(down.lo(), scale.range().lo());
            assert!((scale.position(down.hi()) - 0.75).abs() < 1e-9, "{scale:?}");
            let up = scale.with_end_moved(End::Low, 0.25);
            assert_eq!(up.hi(), scale.range().hi());
            assert!((scale.position(up.lo()) - 0.25).abs() < 1e-9, "{scale:?}");
            let far = scale.with_end_moved(End::High, -7.0);
            assert!(far.lo() < far.hi(), "{scale:?}");
        }
        let symmetric = Scale::new(ScaleKind::Symmetric, Range::new(-1.0, 1.0));
        for (end, by) in [(End::High, 0.1), (End::Low, -0.1)] {
            let wider = symmetric.with_end_moved(end, by);
            assert!(wider.hi() > 1.0 && wider.lo() == -wider.hi());
        }
    }

    #[test]
    fn ends_are_ends_and_nan_stays_nan() {
        for scale in scales() {
            let Range { lo, hi } = scale.range();
            assert!(lo < hi, "{scale:?}");
            assert_eq!(scale.position(lo), 0.0, "{scale:?}");
            assert!((scale.position(hi) - 1.0).abs() < 1e-12, "{scale:?}");
            assert_eq!(scale.position(f64::INFINITY), 1.0, "{scale:?}");
            assert!(scale.position(f64::NAN).is_nan());
            assert_eq!(scale.clips(f64::NAN), None);
            assert_eq!(scale.clips(hi), None);
            assert_eq!(scale.clips(hi * 1.01 + 1e-9), Some(End::High).filter(|_| hi > 0.0));
        }
    }

    #[test]
    fn position_rises_and_value_inverts_it() {
        for scale in scales() {
            let mut before = -1.0;
            for step in 0..=1000 {
                let place = f64::from(step) / 1000.0;
                let back = scale.position(scale.value(place));
                assert!((back - place).abs() < 1e-6, "{scale:?} {place} {back}");
                assert!(back >= before, "{scale:?}");
                before = back;
            }
        }
    }

    #[test]
    fn log_shows_absolute_values_and_zero_at_the_low_end() {
        let scale = Scale::new(ScaleKind::Log, Range::new(1e-4, 1.0));
        assert!((scale.position(-0.01) - 0.5).abs() < 1e-12);
        assert_eq!(scale.position(0.0), 0.0);
        assert_eq!(scale.clips(0.0), Some(End::Low));
        assert_eq!(scale.clips(-2.0), Some(End::High));
    }

    #[test]
    fn symmetric_has_zero_in_the_middle() {
        let scale = Scale::new(ScaleKind::Symmetric, Range::new(-2.0, 5.0));
        assert_eq!(scale.position(0.0), 0.5);
        assert_eq!(scale.range(), Range::new(-5.0, 5.0));
        assert!((scale.position(0.3) + scale.position(-0.3) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn degenerate_data_still_gives_a_range() {
        let data: [&[f32]; 7] = [
            &[],
            &[0.0, -0.0],
            &[3.0; 4],
            &[-3.0; 4],
            &[f32::NAN, f32::INFINITY],
            &[f32::MIN, f32::MAX],
            &[1e-45, 2e-45],
        ];
        for kind in ScaleKind::ALL {
            for values in data {
                let range = Range::of(kind, values.iter().copied());
                assert!(range.lo() < range.hi() && range.hi().is_finite(), "{kind:?} {values:?}");
                let scale = Scale::new(kind, range);
                assert!((0.0..=1.0).contains(&scale.position(1.0)), "{kind:?} {values:?}");
            }
        }
    }

    #[test]
    fn a_thin_ring_near_zero_does_not_take_the_log_range() {
        let mut values = vec![1.0_f32; 10_000];
        values[..50].fill(1e-5);
        values[50..5000].fill(-0.1);
        let range = Range::of(ScaleKind::Log, values);
        assert!(range.lo() > 0.05 && range.lo() <= 0.1, "{range:?}");
        assert_eq!(range.hi(), 1.0);
    }

    #[test]
    fn a_range_of_a_range_is_the_same() {
        for (lo, hi) in [(-1e300, -2e300), (1e299, 1e299), (1e-150, 1e-150), (3.0, 3.0), (0.0, 0.0)]
        {
            let range = Range::new(lo, hi);
            assert_eq!(Range::new(range.lo(), range.hi()), range);
        }
    }

    #[test]
    fn union_holds_both_and_files_keep_ranges() {
        let both = Range::new(0.0, 1.0).union(Range::new(-2.0, 0.5));
        assert_eq!((both.lo(), both.hi()), (-2.0, 1.0));
        let text = serde_json::to_string(&both).unwrap();
        assert_eq!(serde_json::from_str::<Range>(&text).unwrap(), both);
        assert_eq!(serde_json::from_str::<Range>("[2.0, 1.0]").unwrap(), Range::new(1.0, 2.0));
    }
}
