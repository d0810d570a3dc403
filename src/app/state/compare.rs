//! How the run is compared with pinned ones: on the map, and along the cut.

use crate::app::state::pins::Pin;
use crate::picture::Pairing;
use crate::run::{Plan, Record, Report, cycle_at};

/// What was chosen for comparing maps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Compare {
    /// How both are shown.
    pub how: How,
    /// The number of the pinned run; `None` for the first that there is.
    pub with: Option<usize>,
    /// Which of its cycles stands beside one of the run.
    pub at_equal: AtEqual,
}

/// How two maps are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum How {
    /// The run alone.
    #[default]
    Alone,
    /// One beside the other.
    SideBySide,
    /// One over the other, up to a line that is dragged.
    Wipe,
    /// The one less the other.
    Difference,
}

/// What two cycles have in common.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AtEqual {
    Cycles,
    #[default]
    Sweeps,
    Time,
    /// Nothing: the pinned run is at its end.
    End,
}

impl Compare {
    /// The pinned run that is to be seen, if any is, out of those that there are.
    pub fn pin<'a>(&self, pins: &'a [Pin], flipped: bool) -> Option<&'a Pin> {
        if self.how == How::Alone && !flipped {
            return None;
        }
        self.chosen(pins)
    }

    /// The pinned run that was chosen, whether it is to be seen or not.
    pub fn chosen<'a>(&self, pins: &'a [Pin]) -> Option<&'a Pin> {
        pins.iter().find(|pin| Some(pin.number) == self.with).or(pins.first())
    }
}

impl AtEqual {
    pub const ALL: [Self; 4] = [Self::Cycles, Self::Sweeps, Self::Time, Self::End];

    pub fn label(self) -> &'static str {
        match self {
            Self::Cycles => "equal cycles",
            Self::Sweeps => "equal sweeps",
            Self::Time => "equal solver time",
            Self::End => "its last cycle",
        }
    }

    /// What it is, in one sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::Cycles => "The pinned run after equally many cycles.",
            Self::Sweeps => "The pinned run after equally many sweeps, to the nearest cycle.",
            Self::Time => "The pinned run after equal solver time.",
            Self::End => "The pinned run at its last cycle, wherever this run is.",
        }
    }

    /// The cycle of a pinned run that stands beside one of the run, which took so many cycles, sweeps
    /// and seconds of the solver; its last, where the run has gone further.
    pub fn cycle(self, cycle: u64, sweeps: u64, seconds: f64, pin: &Pin) -> u64 {
        let beside = match self {
            Self::Time => cycle_at(&pin.curve, seconds),
            Self::Cycles | Self::Sweeps | Self::End => {
                let own = pin.archive.plan().sweeps_per_cycle();
                self.pairing().cycle(cycle, sweeps, own, pin.latest.cycle)
            }
        };
        beside.min(pin.latest.cycle)
    }

    /// The same of a run that is made once more, where no time can be told of: there equal sweeps
    /// take its place.
    pub fn pairing(self) -> Pairing {
        match self {
            Self::Cycles => Pairing::Cycles,
            Self::Sweeps | Self::Time => Pairing::Sweeps,
            Self::End => Pairing::Fixed,
        }
    }

    /// What puts this cycle of a pinned run beside one of the run, whenever that is made; its end, if
    /// nothing does.
    pub fn that_pairs(cycle: u64, sweeps: u64, pin: &Pin, beside: u64) -> Self {
        let is_there = |rule: &Self| rule.cycle(cycle, sweeps, 0.0, pin) == beside;
        [Self::Cycles, Self::Sweeps].into_iter().find(is_there).unwrap_or(Self::End)
    }

    /// How many cycles of a pinned run stand beside one of the run; where that is not the same all
    /// along, in the mean.
    pub fn per_cycle(self, report: &Report, pin: &Pin) -> f64 {
        let ratio = match self {
            Self::Cycles | Self::End => 1.0,
            Self::Sweeps => {
                let sweeps = |plan: &Plan| plan.sweeps_per_cycle() as f64;
                sweeps(&report.plan) / sweeps(pin.archive.plan())
            }
            Self::Time => {
                let time = |record: &Record| record.seconds / record.cycle as f64;
                time(&report.latest) / time(&pin.latest)
            }
        };
        // Nothing is known of the time of runs at their start.
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

    /// What it is, in one sentence.
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
