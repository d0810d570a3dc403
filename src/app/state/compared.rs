//! Observations of pinned runs: on the map, and along the cut.

use crate::app::state::compare::How;
use crate::app::state::pins::Pin;
use crate::app::state::session::Session;
use crate::picture::grouped;
use crate::run::{
    Difference, Observation, ObservationRequest, Plan, ReplayTarget, Report, RunArchive, seconds_at,
};
use std::sync::Arc;

/// The largest grid, in points, on which every pinned run is seen along the cut: each takes a solver
/// of its own. On larger ones it is the one that the map is compared with.
const LARGEST_ALONG: usize = 1 << 20;

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
            format!("this run, cycle {}, minus {name}, cycle {}", grouped(*beside), grouped(*cycle))
        } else {
            format!("{name}, cycle {}", grouped(self.observation.cycle))
        }
    }
}
