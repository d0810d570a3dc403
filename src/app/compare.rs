//! How the map of the run is compared with that of a pinned one.

use super::pins::Pin;
use super::session::Session;
use crate::picture::grouped;
use crate::run::{Difference, Past, Plan, Report, Seen, Sight, View, cycle_at, seconds_at};
use std::sync::Arc;

/// What was chosen for comparing maps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Compare {
    /// How both are shown.
    pub how: How,
    /// The number of the pinned run; `None` for the first that there is.
    pub with: Option<usize>,
    /// Which of its cycles stands beside one of the run.
    pub at_equal: AtEqual,
}

/// How two maps are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum How {
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
pub(super) enum AtEqual {
    Cycles,
    #[default]
    Sweeps,
    Time,
    /// Nothing: the pinned run is at its end.
    End,
}

/// What is seen of a pinned run, or of how the run differs from it.
#[derive(Clone, Debug)]
pub(super) struct Compared {
    /// What was asked for.
    pub asked: Asked,
    /// What is seen.
    pub seen: Seen,
}

/// A cycle of a pinned run that stands beside one of the run.
#[derive(Clone, Debug)]
pub(super) struct Asked {
    /// What the pinned run is called.
    pub name: String,
    past: Arc<Past>,
    /// Its cycle.
    cycle: u64,
    /// The cycle of the run.
    beside: u64,
    /// Whether the difference of the two is asked for.
    pub is_difference: bool,
}

impl Asked {
    /// What is to be seen of a pinned run when the run is at a cycle; `None` if nothing is.
    pub fn of(session: &Session, report: &Report, beside: u64) -> Option<Self> {
        let (compare, flipped) = (&session.look.compare, session.flipped);
        let pin = compare.pin(session.pins.all(), flipped)?;
        let [own, other] = [&report.past, &pin.past].map(|past| past.plan().problem.shape);
        let is_difference = compare.how == How::Difference && !flipped;
        // A line is seen whole, in its diagram; differences are of points that are the same.
        let can_be = own.dim() == 2 && other.dim() == 2 && (!is_difference || own == other);
        let sweeps = beside * report.plan.sweeps_per_cycle();
        let seconds = seconds_at(&report.curve, beside);
        can_be.then(|| Self {
            name: pin.name.clone(),
            past: Arc::clone(&pin.past),
            cycle: compare.at_equal.cycle(beside, sweeps, seconds, pin),
            beside,
            is_difference,
        })
    }

    /// What the replay is to show, when the map shows `view` of the run.
    pub fn sight(&self, report: &Report, view: &View) -> Sight {
        let is_alike = report.plan.problem.shape == self.plan().problem.shape;
        let view = View {
            field: view.field,
            part: view.part.clone().filter(|_| is_alike),
            most: view.most,
            probe: view.probe.filter(|_| is_alike),
            ..View::default()
        };
        let other = Arc::clone(&self.past);
        if self.is_difference {
            let minus = Some(Difference { past: other, cycle: self.cycle });
            Sight { past: Arc::clone(&report.past), cycle: self.beside, view, minus }
        } else {
            Sight { past: other, cycle: self.cycle, view, minus: None }
        }
    }

    /// The plan of the pinned run.
    pub fn plan(&self) -> &Arc<Plan> {
        self.past.plan()
    }
}

impl Compared {
    /// What is seen, in words.
    pub fn caption(&self) -> String {
        let Asked { name, cycle, beside, is_difference, .. } = &self.asked;
        if *is_difference {
            format!("this run, cycle {}, less {name}, cycle {}", grouped(*beside), grouped(*cycle))
        } else {
            format!("{name}, cycle {}", grouped(self.seen.cycle))
        }
    }
}

impl Compare {
    /// The pinned run that is to be seen, if any is, out of those that there are.
    fn pin<'a>(&self, pins: &'a [Pin], flipped: bool) -> Option<&'a Pin> {
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
            Self::End => "its end",
        }
    }

    /// What it is, in one sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::Cycles => "The pinned run after as many cycles.",
            Self::Sweeps => "The pinned run after as many sweeps, to the nearest cycle.",
            Self::Time => "The pinned run after as many seconds of the solver.",
            Self::End => "The pinned run after the last of its cycles, wherever this run is.",
        }
    }

    /// The cycle of a pinned run that stands beside one of the run, which took so many cycles, sweeps
    /// and seconds of the solver; its last, where the run has gone further.
    pub fn cycle(self, cycle: u64, sweeps: u64, seconds: f64, pin: &Pin) -> u64 {
        let beside = match self {
            Self::Cycles => cycle,
            Self::Sweeps => {
                let own = pin.past.plan().sweeps_per_cycle();
                (sweeps + own / 2) / own
            }
            Self::Time => cycle_at(&pin.curve, seconds),
            Self::End => u64::MAX,
        };
        beside.min(pin.latest.cycle)
    }

    /// What puts the end of a pinned run beside a cycle of the run, whenever that is made.
    pub fn that_ends(cycle: u64, sweeps: u64, pin: &Pin) -> Self {
        let is_there = |rule: &Self| rule.cycle(cycle, sweeps, 0.0, pin) == pin.latest.cycle;
        [Self::Cycles, Self::Sweeps].into_iter().find(is_there).unwrap_or(Self::End)
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
            Self::Alone => "The run alone; hold F to flip to the pinned run.",
            Self::SideBySide => {
                "The run at the left, the pinned one at the right, in the same colours."
            }
            Self::Wipe => "The run left of a line that can be dragged, the pinned one right of it.",
            Self::Difference => {
                "The field of this run less that of the pinned one, point by point."
            }
        }
    }
}
