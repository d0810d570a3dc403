//! How the run is compared with pinned ones: on the map, and along the cut.

use crate::app::state::pins::Pin;
use crate::app::state::session::Session;
use crate::picture::{Pairing, grouped};
use crate::run::{
    Difference, Observation, ObservationRequest, Plan, Record, ReplayTarget, Report, RunArchive,
    cycle_at, seconds_at,
};
use std::sync::Arc;

/// The largest grid, in points, on which every pinned run is seen along the cut: each takes a solver
/// of its own. On larger ones it is the one that the map is compared with.
const LARGEST_ALONG: usize = 1 << 20;

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

/// Where a pinned run is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the map, beside the run or in its place.
    Map,
    /// On the map, as what is taken away from the run.
    Difference,
    /// Along the cut.
    Cut,
}

/// What is seen of a pinned run, or of how the run differs from it.
#[derive(Clone, Debug)]
pub struct Compared {
    /// What was asked for.
    pub asked: Asked,
    /// What is seen.
    pub observation: Observation,
}

/// A cycle of a pinned run that stands beside one of the run.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The number of the pinned run.
    pub number: usize,
    /// What it is called.
    pub name: String,
    /// Where it is shown.
    pub place: Place,
    archive: Arc<RunArchive>,
    /// Its cycle.
    cycle: u64,
    /// The cycle of the run.
    beside: u64,
    /// The newest cycle of the pinned run.
    pub latest: u64,
    /// How many of its cycles stand beside one of the run.
    pub per_cycle: f64,
}

impl Asked {
    /// What is to be seen of pinned runs when the run is at cycle `beside`, and `view` of it is
    /// shown.
    pub fn all(
        session: &Session,
        report: &Report,
        view: &ObservationRequest,
        beside: u64,
    ) -> Vec<Self> {
        let compare = &session.look.compare;
        let own = report.plan.problem.shape;
        let sweeps = beside * report.plan.sweeps_per_cycle();
        let seconds = seconds_at(&report.curve, beside);
        let asked = |pin: &Pin, place| Self {
            number: pin.number,
            name: pin.name.clone(),
            place,
            archive: Arc::clone(&pin.archive),
            cycle: compare.at_equal.cycle(beside, sweeps, seconds, pin),
            beside,
            latest: pin.latest.cycle,
            per_cycle: compare.at_equal.per_cycle(report, pin),
        };
        let place = match compare.how {
            How::Difference if !session.flipped => Place::Difference,
            _ => Place::Map,
        };
        // Differences are of points that are the same, and not of diagrams.
        let can_be = |pin: &&Pin| {
            let other = pin.archive.plan().problem.shape;
            own.dim() == other.dim() && (place == Place::Map || (own.dim() == 2 && own == other))
        };
        let pins = session.pins.all();
        let on_map = compare.pin(pins, session.flipped).filter(can_be);
        // With several fields in one plot there is no room for several runs.
        let has_cut = view.cut.as_ref().is_some_and(|cut| cut.fields.len() == 1);
        let along = pins.iter().filter(|pin| {
            has_cut
                && pin.archive != report.archive
                && pin.archive.plan().problem.shape == own
                && (own.points() <= LARGEST_ALONG || on_map == Some(*pin))
        });
        let on_map = on_map.map(|pin| asked(pin, place));
        on_map.into_iter().chain(along.map(|pin| asked(pin, Place::Cut))).collect()
    }

    /// What the replay is to show, when `view` of the run is shown.
    pub fn target(&self, report: &Report, view: &ObservationRequest) -> ReplayTarget {
        let is_alike = report.plan.problem.shape == self.plan().problem.shape;
        let view = match self.place {
            Place::Cut => ObservationRequest {
                field: view.field,
                cut: view.cut.clone(),
                ..ObservationRequest::default()
            },
            Place::Map | Place::Difference => ObservationRequest {
                field: view.field,
                part: view.part.clone().filter(|_| is_alike),
                most: view.most,
                probe: view.probe.filter(|_| is_alike),
                ..ObservationRequest::default()
            },
        };
        let other = Arc::clone(&self.archive);
        if self.place == Place::Difference {
            let minus = Some(Difference { archive: other, cycle: self.cycle });
            ReplayTarget { archive: Arc::clone(&report.archive), cycle: self.beside, view, minus }
        } else {
            ReplayTarget { archive: other, cycle: self.cycle, view, minus: None }
        }
    }

    /// Whether another asks for the same run in the same place, of whichever cycle.
    pub fn is_like(&self, other: &Self) -> bool {
        (self.number, self.place) == (other.number, other.place)
    }

    /// The plan of the pinned run.
    pub fn plan(&self) -> &Arc<Plan> {
        self.archive.plan()
    }
}

impl Compared {
    /// What is seen, in words.
    pub fn caption(&self) -> String {
        let Asked { name, cycle, beside, place, .. } = &self.asked;
        if *place == Place::Difference {
            format!("this run, cycle {}, less {name}, cycle {}", grouped(*beside), grouped(*cycle))
        } else {
            format!("{name}, cycle {}", grouped(self.observation.cycle))
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
    fn per_cycle(self, report: &Report, pin: &Pin) -> f64 {
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
