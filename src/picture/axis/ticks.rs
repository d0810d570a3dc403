//! The round values that mark an axis.

use crate::number::{exponent_of, fixed, number, power_of_ten, scientific, two_digits};
use crate::picture::axis::scale::{SYMMETRIC_THRESHOLD, Scale, ScaleKind};

/// A mark on an axis or a colour bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Where it is, between the low end, 0, and the high end, 1.
    pub position: f64,
    /// What is written beside it.
    pub label: String,
}

/// How the marks of an axis are written: all of them in one way.
#[derive(Clone, Copy, PartialEq)]
enum Notation {
    /// As numbers are anywhere.
    Plain,
    /// As powers of ten but for 1 to 99, where one mark would be very small or very large.
    Powers,
}

impl Notation {
    fn of(values: &[f64]) -> Self {
        let is_plain = |value: &f64| *value == 0.0 || (0.009_99..99_999.5).contains(&value.abs());
        if values.iter().all(is_plain) { Self::Plain } else { Self::Powers }
    }

    fn label(self, value: f64) -> String {
        if self == Self::Plain || value == 0.0 || (0.999..99.5).contains(&value.abs()) {
            number(value)
        } else {
            scientific(value, 1, true)
        }
    }
}

/// At most `most` marks at round values, in rising order, evenly legible: 1–2–5 steps on a linear
/// scale, powers of ten on a log scale (with 2 and 5 between them where there is room and few
/// decades), zero and powers of ten on a symmetric one.
pub fn ticks(scale: &Scale, most: usize) -> Vec<Tick> {
    marks(scale, most).0
}

fn marks(scale: &Scale, most: usize) -> (Vec<Tick>, Notation) {
    let most = most.max(2);
    let range = scale.range();
    let (lo, hi) = (range.lo(), range.hi());
    let values = match scale.kind() {
        ScaleKind::Linear => return (linear_ticks(lo, hi, most), Notation::Plain),
        ScaleKind::Log => log_values(lo, hi, most),
        ScaleKind::Symmetric => symmetric_values(scale, hi, most),
    };
    let tick = |value: f64, label: String| Tick { position: scale.position(value), label };
    if values.len() < 2 {
        // Less than a decade, without two round values in it.
        let marks = linear_values(lo, hi, most).map(|(value, label)| tick(value, label));
        return (marks.collect(), Notation::Plain);
    }
    let notation = Notation::of(&values);
    (values.into_iter().map(|value| tick(value, notation.label(value))).collect(), notation)
}

/// The marks of a colour bar: those of its scale, and its ends, rounded to two digits, where no other mark
/// is nearer than `apart`, a part of the bar's length.
pub fn bar_ticks(scale: &Scale, most: usize, apart: f64) -> Vec<Tick> {
    let (mut marks, notation) = marks(scale, most);
    if apart > 0.4 {
        // There is room for the ends alone.
        marks.clear();
    }
    let range = scale.range();
    for (position, value) in [(0.0, range.lo()), (1.0, range.hi())] {
        if marks.iter().all(|mark| (mark.position - position).abs() >= apart) {
            let label = match notation {
                Notation::Powers if !(0.999..99.5).contains(&value.abs()) => notation.label(value),
                _ => two_digits(value),
            };
            marks.push(Tick { position, label });
        }
    }
    marks.sort_by(|a, b| a.position.total_cmp(&b.position));
    marks
}

/// At most `most` marks at multiples of 1, 2 or 5 times a power of ten from `lo` to `hi`.
pub fn linear_ticks(lo: f64, hi: f64, most: usize) -> Vec<Tick> {
    linear_values(lo, hi, most.max(2))
        .map(|(value, label)| Tick { position: ((value - lo) / (hi - lo)).clamp(0.0, 1.0), label })
        .collect()
}

fn linear_values(lo: f64, hi: f64, most: usize) -> impl Iterator<Item = (f64, String)> {
    let mut exponent = exponent_of((hi - lo) / most as f64);
    let mut factors = [1.0, 2.0, 5.0].into_iter().cycle();
    let mut step;
    let (first, last) = loop {
        let factor = factors.next().unwrap_or(1.0);
        step = factor * power_of_ten(exponent);
        // A hair of slack, so that an end that is a multiple keeps its mark.
        let (first, last) = ((lo / step - 1e-9).ceil(), (hi / step + 1e-9).floor());
        if last - first < most as f64 || !(step.is_finite() && step > 0.0) {
            break (first, last);
        }
        exponent += i32::from(factor == 5.0);
    };
    let step_exponent = exponent;
    let count = if first <= last { (last - first) as usize + 1 } else { 0 };
    let largest = lo.abs().max(hi.abs());
    (0..count.min(most)).map(move |index| {
        let multiple = first + index as f64;
        let value = multiple * step;
        let label = if multiple == 0.0 {
            "0".to_owned()
        } else if !(1e-3..1e6).contains(&largest) {
            let digits = exponent_of(value).saturating_sub(step_exponent).clamp(0, 15);
            scientific(value, digits as usize, false)
        } else {
            fixed(value, step_exponent.saturating_neg().clamp(0, 15) as usize)
        };
        (value, label)
    })
}

/// Round values of a log axis, thinned to `most`.
fn log_values(lo: f64, hi: f64, most: usize) -> Vec<f64> {
    let (first, last) = (exponent_of(lo), exponent_of(hi));
    let inside = |value: &f64| *value >= lo * (1.0 - 1e-9) && *value <= hi * (1.0 + 1e-9);
    if hi / lo < 100.0 {
        for factors in [&[1.0, 2.0, 5.0][..], &[1.0, 3.0][..]] {
            let values: Vec<f64> = (first..=last)
                .flat_map(|exponent| factors.iter().map(move |f| f * power_of_ten(exponent)))
                .filter(inside)
                .collect();
            if (2..=most).contains(&values.len()) {
                return values;
            }
        }
    }
    for every in 1.. {
        let values: Vec<f64> = (first..=last)
            .filter(|exponent| exponent.rem_euclid(every) == 0)
            .map(power_of_ten)
            .filter(inside)
            .collect();
        if values.len() <= most {
            return values;
        }
    }
    Vec::new()
}

/// Zero and, on both sides, powers of ten beyond the even part of the scale, thinned until no two
/// are nearer than the `most`th part of the bar.
fn symmetric_values(scale: &Scale, hi: f64, most: usize) -> Vec<f64> {
    let largest = exponent_of(hi * (1.0 + 1e-9));
    let smallest = exponent_of(hi * SYMMETRIC_THRESHOLD) + 1;
    let room = 1.0 / most as f64;
    for every in 1..=(largest - smallest + 1).max(1) {
        let positive: Vec<f64> = (smallest..=largest)
            .filter(|exponent| (largest - exponent) % every == 0)
            .map(power_of_ten)
            .collect();
        let places: Vec<f64> = std::iter::once(0.5)
            .chain(positive.iter().map(|value| scale.position(*value)))
            .collect();
        let roomy = places.windows(2).all(|pair| pair[1] - pair[0] >= room);
        if roomy && 2 * positive.len() < most {
            let negative = positive.iter().rev().map(|value| -value);
            return negative.chain([0.0]).chain(positive.iter().copied()).collect();
        }
    }
    let edge = power_of_ten(largest);
    vec![-edge, 0.0, edge]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::axis::scale::Range;

    fn labels(kind: ScaleKind, lo: f64, hi: f64, most: usize) -> String {
        let marks = ticks(&Scale::new(kind, Range::new(lo, hi)), most);
        marks.into_iter().map(|tick| tick.label).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn marks_are_the_ones_a_person_would_choose() {
        assert_eq!(labels(ScaleKind::Linear, 0.0, 256.0, 6), "0 50 100 150 200 250");
        assert_eq!(labels(ScaleKind::Linear, -0.15, 0.2, 5), "−0.1 0 0.1 0.2");
        assert_eq!(labels(ScaleKind::Linear, 0.0, 3e-7, 4), "0 1×10⁻⁷ 2×10⁻⁷ 3×10⁻⁷");
        assert_eq!(labels(ScaleKind::Log, 1e-4, 1.0, 8), "10⁻⁴ 10⁻³ 10⁻² 10⁻¹ 1");
        assert_eq!(labels(ScaleKind::Log, 1e-9, 1e3, 5), "10⁻⁹ 10⁻⁶ 10⁻³ 1 10³");
        assert_eq!(labels(ScaleKind::Log, 1e3, 3e4, 8), "1,000 2,000 5,000 10,000 20,000");
        assert_eq!(labels(ScaleKind::Log, 1.2, 1.9, 5), "1.2 1.4 1.6 1.8");
        assert_eq!(labels(ScaleKind::Log, 1e5, 1e6, 5), "10⁵ 2×10⁵ 5×10⁵ 10⁶");
        assert_eq!(labels(ScaleKind::Symmetric, -1.0, 1.0, 5), "−1 0 1");
        assert_eq!(labels(ScaleKind::Symmetric, -3.0, 3.0, 9).split(' ').count() % 2, 1);
    }

    /// Marks and ends of a bar are written in one way: never 0.18 beside 10⁻¹.
    #[test]
    fn an_axis_has_one_notation() {
        let of = |lo, hi| {
            let scale = Scale::new(ScaleKind::Log, Range::new(lo, hi));
            let marks = bar_ticks(&scale, 7, 0.02);
            marks.into_iter().map(|tick| tick.label).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(of(1.2e-4, 0.18), "1.2×10⁻⁴ 10⁻³ 10⁻² 10⁻¹ 1.8×10⁻¹");
        assert_eq!(of(0.12, 7700.0), "0.12 1 10 100 1,000 7,700");
        assert_eq!(of(252.0, 4271.0), "250 500 1,000 2,000 4,300");
        assert_eq!(of(3e-6, 7.5), "3×10⁻⁶ 10⁻⁵ 10⁻⁴ 10⁻³ 10⁻² 10⁻¹ 1 7.5");
        assert_eq!(of(3.4e-5, 34.27), "3.4×10⁻⁵ 10⁻⁴ 10⁻³ 10⁻² 10⁻¹ 1 10 34");
    }

    #[test]
    fn marks_lie_inside_rise_and_are_few() {
        let ends = [0.0, 1.0, -1.0, 1e-12, 3.3e-5, 0.97, 1.003, 7e4, 6.02e23, -8e-3, 1e300];
        for kind in ScaleKind::ALL {
            for (lo, hi) in ends.iter().flat_map(|lo| ends.map(|hi| (*lo, hi))) {
                for most in [0, 2, 3, 7, 20] {
                    let scale = Scale::new(kind, Range::new(lo, hi));
                    let marks = ticks(&scale, most);
                    assert!(marks.len() <= most.max(3), "{scale:?} {most} {marks:?}");
                    assert!(marks.iter().all(|tick| (0.0..=1.0).contains(&tick.position)));
                    let rising = marks.windows(2).all(|w| w[0].position < w[1].position);
                    assert!(rising, "{scale:?} {marks:?}");
                    let differ = marks.windows(2).all(|w| w[0].label != w[1].label);
                    assert!(differ, "{scale:?} {marks:?}");
                }
            }
        }
    }
}
