//! Histograms of values on a scale.

use crate::picture::axis::scale::Scale;
use crate::picture::colour::paint::{Samples, by_place};
use std::borrow::Cow;

/// The most samples that are counted; of more, evenly spread ones are.
const MOST_COUNTED: usize = 1 << 16;

/// Counts samples by their position on a scale, from the low end to the high end; those beyond an
/// end count there, what is not finite nowhere. If there are many samples, only some are counted, evenly spread.
pub fn histogram(samples: &Samples<'_>, scale: &Scale, bins: usize) -> Vec<u32> {
    let mut counts = vec![0; bins];
    // An odd step, so that it passes through all columns.
    let step = samples.values().len().div_ceil(MOST_COUNTED).max(1) | 1;
    let counted = match step {
        1 => Cow::Borrowed(samples.values()),
        _ => samples.values().iter().step_by(step).copied().collect(),
    };
    by_place(&counted, scale, |values, places| {
        for (value, place) in values.iter().zip(places) {
            if value.is_finite() && bins > 0 {
                counts[((place * bins as f32) as usize).min(bins - 1)] += 1;
            }
        }
    });
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::axis::scale::{Range, ScaleKind};

    #[test]
    fn every_value_counts_where_its_colour_is() {
        let scale = Scale::new(ScaleKind::Linear, Range::new(0.0, 4.0));
        let values = [0.0, 0.5, 1.5, 3.5, 4.0, 9.0, -7.0, f32::NAN, f32::INFINITY];
        let samples = Samples::new(3, 3, &values).unwrap();
        assert_eq!(histogram(&samples, &scale, 4), [3, 1, 0, 3]);
        assert_eq!(histogram(&Samples::EMPTY, &scale, 4), [0; 4]);
    }

    #[test]
    fn of_many_values_some_are_counted() {
        let values: Vec<f32> = (0..1_000_000).map(|i| (i % 1000) as f32).collect();
        let scale = Scale::new(ScaleKind::Linear, Range::new(0.0, 1000.0));
        let counts = histogram(&Samples::new(1000, 1000, &values).unwrap(), &scale, 10);
        let all: u32 = counts.iter().sum();
        assert!(all as usize <= MOST_COUNTED);
        assert!(counts.iter().all(|&count| count.abs_diff(all / 10) < all / 100), "{counts:?}");
    }
}
