//! How the run is compared with pinned runs: on the map, and in the profile.

use crate::app::state::pins::Pin;
use crate::picture::Pairing;
use crate::run::{Plan, Record, Report, cycle_at, reduction, seconds_at};

/// Settings of the comparison of maps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Compare {
    /// How the two maps are shown.
    pub how: How,
    /// The number of the pinned run; `None` for the first one.
    pub with: Option<usize>,
    /// Which of its cycles is compared with a cycle of the run.
    pub at_equal: AtEqual,
}

/// A cycle of the run, with which a pinned run is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ShownCycle {
    pub cycle: u64,
    /// Sweeps up to it.
    pub sweeps: u64,
    /// Solver time up to it.
    pub seconds: f64,
    /// ‖r‖₂ / ‖r₀‖₂, if it is known.
    pub reduction: Option<f64>,
}

impl ShownCycle {
    /// A cycle of a run with this history, or a part of that.
    pub fn of(cycle: u64, sweeps_per_cycle: u64, records: &[Record], start_residual: f64) -> Self {
        let before = records.iter().rev().filter(|record| record.cycle <= cycle);
        let residual = before.filter_map(|record| record.residual).next();
        Self {
            cycle,
            sweeps: cycle * sweeps_per_cycle,
            seconds: seconds_at(records, cycle),
            reduction: residual.map(|it| reduction(it.l2, start_residual)),
        }
    }
}

/// How two maps are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum How {
    /// The run alone.
    #[default]
    Alone,
    /// Side by side.
    SideBySide,
    /// One over the other, divided by a line that is dragged.
    Wipe,
    /// The difference of the two.
    Difference,
}

/// What makes two cycles comparable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AtEqual {
    Cycles,
    #[default]
    Sweeps,
    Time,
    /// ‖r‖₂ / ‖r₀‖₂: the first cycle of the pinned run at which it is as small.
    Residual,
    /// Nothing: the pinned run is shown at its last cycle.
    End,
}

impl Compare {
    /// The pinned run to show, if any.
    pub fn pin<'a>(&self, pins: &'a [Pin], flipped: bool) -> Option<&'a Pin> {
        if self.how == How::Alone && !flipped {
            return None;
        }
        self.chosen(pins)
    }

    /// The chosen pinned run, whether or not it is shown.
    pub fn chosen<'a>(&self, pins: &'a [Pin]) -> Option<&'a Pin> {
        pins.iter().find(|pin| Some(pin.number) == self.with).or(pins.first())
    }
}

impl AtEqual {
    pub const ALL: [Self; 5] = [Self::Cycles, Self::Sweeps, Self::Time, Self::Residual, Self::End];

    pub fn label(self) -> &'static str {
        match self {
            Self::Cycles => "equal cycles",
            Self::Sweeps => "equal sweeps",
            Self::Time => "equal solver time",
            Self::Residual => "equal residual",
            Self::End => "its last cycle",
        }
    }

    /// A description in one sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::Cycles => "The pinned run after the same number of cycles.",
            Self::Sweeps => "The pinned run after the same number of sweeps, to the nearest cycle.",
            Self::Time => "The pinned run after the same solver time.",
            Self::Residual => {
                "The pinned run at its first cycle with as small a relative residual."
            }
            Self::End => "The pinned run at its last cycle, wherever this run is.",
        }
    }

    /// The cycle of a pinned run to compare with a cycle of the run. At most its last cycle.
    pub fn cycle(self, shown: &ShownCycle, pin: &Pin) -> u64 {
        let ShownCycle { cycle, sweeps, seconds, reduction } = *shown;
        let beside = match (self, reduction) {
            (Self::Time, _) => cycle_at(&pin.curve, seconds),
            (Self::Residual, Some(reduction)) => {
                let mut reductions = pin.reductions();
                let reached = reductions.find(|(_, reached)| *reached <= reduction);
                reached.map_or(pin.latest.cycle, |(record, _)| record.cycle)
            }
            (Self::Residual, None) => pin.latest.cycle,
            (Self::Cycles | Self::Sweeps | Self::End, _) => {
                let own = pin.archive.plan().sweeps_per_cycle();
                self.pairing().cycle(cycle, sweeps, own, pin.latest.cycle)
            }
        };
        beside.min(pin.latest.cycle)
    }

    /// The same rule for a run that is repeated. Times differ from run to run, and residuals are
    /// known only afterwards, so that equal sweeps replace both.
    pub fn pairing(self) -> Pairing {
        match self {
            Self::Cycles => Pairing::Cycles,
            Self::Sweeps | Self::Time | Self::Residual => Pairing::Sweeps,
            Self::End => Pairing::Fixed,
        }
    }

    /// The rule that pairs cycle `beside` of a pinned run with a cycle of the run; `End` if no
    /// other does.
    pub fn that_pairs(cycle: u64, sweeps: u64, pin: &Pin, beside: u64) -> Self {
        let shown = ShownCycle { cycle, sweeps, ..ShownCycle::default() };
        let is_there = |rule: &Self| rule.cycle(&shown, pin) == beside;
        [Self::Cycles, Self::Sweeps].into_iter().find(is_there).unwrap_or(Self::End)
    }

    /// Cycles of a pinned run per cycle of the run; the mean where the ratio changes.
    pub fn per_cycle(self, report: &Report, pin: &Pin) -> f64 {
        let ratio = match self {
            Self::Cycles | Self::End => 1.0,
            Self::Sweeps | Self::Residual => {
                let sweeps = |plan: &Plan| plan.sweeps_per_cycle() as f64;
                sweeps(&report.plan) / sweeps(pin.archive.plan())
            }
            Self::Time => {
                let time = |record: &Record| record.seconds / record.cycle as f64;
                time(&report.latest) / time(&pin.latest)
            }
        };
        // A run at cycle 0 has no time yet.
        if ratio.is_finite() && ratio > 0.0 { ratio } else { 1.0 }
    }
}

impl How {
    pub const ALL: [Self; 4] = [Self::Alone, Self::SideBySide, Self::Wipe, Self::Difference];

    pub fn label(self) -> &'static str {
        match self {
            Self::Alone => "this run",
            Self::SideBySide => "side by side",
            Self::Wipe => "wipe",
            Self::Difference => "difference",
        }
    }

    /// A description in one sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::Alone => "This run alone; hold F to flip to the pinned run.",
            Self::SideBySide => {
                "This run on the left, the pinned run on the right, with the same colours."
            }
            Self::Wipe => {
                "This run left of a line that can be dragged, the pinned run right of it."
            }
            Self::Difference => {
                "The field of this run minus that of the pinned run, point by point."
            }
        }
    }
}
