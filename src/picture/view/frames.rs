//! Animations: which cycles are frames, and which cycles of other runs go with them.

use crate::picture::view::error::ViewError;
use serde::{Deserialize, Serialize};

/// The frames of an animation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frames {
    /// The cycle of the first frame.
    pub first: u64,
    /// No frame shows a cycle after this one.
    pub last: u64,
    /// The cycles between them.
    pub spacing: Spacing,
    /// Frames per second.
    pub rate: f64,
}

/// Which cycles are frames of an animation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// Every n-th.
    Every(u64),
    /// This many frames, evenly spread by the logarithm of their cycle.
    Logarithmic(u64),
}

/// Which cycle of another run goes with one of the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pairing {
    /// After as many cycles.
    #[default]
    Cycles,
    /// After as many sweeps, to the nearest cycle.
    Sweeps,
    /// The same one for every frame.
    Fixed,
}

/// The most frames of an animation.
pub const MOST_FRAMES: u64 = 2000;

/// Frame rates that an animation may have, in frames per second. Viewers show no more than a screen does.
pub const RATES: std::ops::RangeInclusive<f64> = 0.1..=60.0;

/// Frames per second, unless another rate was chosen.
pub const RATE: f64 = 12.0;

impl Frames {
    /// The cycles of the frames, in rising order; none twice, and none at all in a reversed range.
    pub fn cycles(&self) -> Vec<u64> {
        let Self { first, last, spacing, .. } = *self;
        if first > last {
            return Vec::new();
        }
        let mut cycles: Vec<u64> = match spacing {
            Spacing::Every(step) => {
                let step = usize::try_from(step).unwrap_or(usize::MAX).max(1);
                (first..=last).step_by(step).take(MOST_FRAMES as usize).collect()
            }
            Spacing::Logarithmic(count) => {
                // A logarithm begins at 1; cycle 0 is a frame of its own before it.
                let (lo, hi) = (first.max(1) as f64, last.max(1) as f64);
                let steps = count.min(MOST_FRAMES).saturating_sub(1).max(1);
                let at = |step: u64| (lo * (hi / lo).powf(step as f64 / steps as f64)).round();
                let spread = (0..=steps).map(|step| (at(step) as u64).clamp(first, last));
                (first == 0).then_some(0).into_iter().chain(spread).collect()
            }
        };
        cycles.dedup();
        cycles
    }

    /// Whether an animation can have these frames.
    ///
    /// # Errors
    /// [`ViewError::Value`] naming what is out of its range.
    pub fn check(&self) -> Result<(), ViewError> {
        let value =
            |field, value: String, allowed: String| ViewError::Value { field, value, allowed };
        let Self { first, last, spacing, rate } = *self;
        if first > last {
            let allowed = format!("it is reversed; write it as {last}..{first}");
            return Err(value("the range of cycles", format!("{first}..{last}"), allowed));
        }
        let count = match spacing {
            Spacing::Every(0) => {
                return Err(value(
                    "the step of the animation",
                    "0".into(),
                    "it must be at least 1".into(),
                ));
            }
            Spacing::Every(step) => ((last - first) / step).saturating_add(1),
            Spacing::Logarithmic(count) => count,
        };
        if !(1..=MOST_FRAMES).contains(&count) {
            let larger = if count > 0 && matches!(spacing, Spacing::Every(_)) {
                "; use a larger step"
            } else {
                ""
            };
            let allowed = format!("it must be 1 to {MOST_FRAMES}{larger}");
            return Err(value("the number of frames", count.to_string(), allowed));
        }
        if !RATES.contains(&rate) {
            let allowed =
                format!("it must be {} to {} frames per second", RATES.start(), RATES.end());
            return Err(value("the frame rate", rate.to_string(), allowed));
        }
        Ok(())
    }
}

impl Pairing {
    /// All of them, in the order of menus.
    pub const ALL: [Self; 3] = [Self::Cycles, Self::Sweeps, Self::Fixed];

    /// What it is, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Cycles => "After as many cycles.",
            Self::Sweeps => "After as many sweeps, to the nearest cycle.",
            Self::Fixed => "The same cycle for every frame.",
        }
    }

    /// The name on the command line and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Sweeps => "sweeps",
            Self::Fixed => "fixed",
        }
    }

    /// The cycle of a run with `own` sweeps per cycle beside one that has made this many cycles and
    /// sweeps; `fixed` where it is the same beside all.
    pub fn cycle(self, cycle: u64, sweeps: u64, own: u64, fixed: u64) -> u64 {
        match self {
            Self::Cycles => cycle,
            Self::Sweeps => sweeps.saturating_add(own / 2) / own.max(1),
            Self::Fixed => fixed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_step_is_advised_only_where_it_helps() {
        let why = |spacing| {
            let frames = Frames { first: 0, last: 4 * MOST_FRAMES, spacing, rate: RATE };
            frames.check().unwrap_err().to_string()
        };
        assert!(why(Spacing::Every(1)).ends_with("use a larger step"));
        assert!(why(Spacing::Logarithmic(0)).ends_with(&format!("it must be 1 to {MOST_FRAMES}")));
    }

    fn frames(first: u64, last: u64, spacing: Spacing) -> Frames {
        Frames { first, last, spacing, rate: RATE }
    }

    #[test]
    fn frames_rise_and_none_comes_twice() {
        assert_eq!(frames(0, 20, Spacing::Every(8)).cycles(), [0, 8, 16]);
        assert_eq!(frames(7, 7, Spacing::Every(1)).cycles(), [7]);
        assert!(frames(7, 6, Spacing::Logarithmic(5)).cycles().is_empty());
        let decades = frames(1, 1000, Spacing::Logarithmic(4)).cycles();
        assert_eq!(decades, [1, 10, 100, 1000]);
        for (first, last) in [(0, 1), (0, 400), (5, 6), (3, 100_000), (0, u64::MAX)] {
            for spacing in [Spacing::Logarithmic(60), Spacing::Logarithmic(1)] {
                let cycles = frames(first, last, spacing).cycles();
                assert!(cycles.windows(2).all(|pair| pair[0] < pair[1]), "{cycles:?}");
                assert_eq!((cycles[0], *cycles.last().unwrap()), (first, last));
            }
        }
    }
}
