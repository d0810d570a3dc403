//! Observations of pinned runs: on the map, and in the profile.

use crate::app::state::compare::{How, ShownCycle};
use crate::app::state::pins::Pin;
use crate::app::state::session::Session;
use crate::picture::{THIS_RUN, counted, distinguish, grouped, method_title};
use crate::run::{
    Difference, MapRequest, Observation, ObservationRequest, Plan, ReplayTarget, Report, RunArchive,
};
use crate::solver::Subiterations;
use std::sync::Arc;

/// The largest grid, in points, on which the profile shows every pinned run: each needs a solver of
/// its own. On larger grids it shows the run that the map is compared with.
const MAX_PROFILE_POINTS: usize = 1 << 20;

/// Where a pinned run is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ComparisonTarget {
    /// On the map, beside the run or in place of it.
    Map,
    /// On the map, subtracted from the run.
    Difference,
    /// In the profile.
    Profile,
}

/// An observation of a pinned run, or of the difference from it.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The request.
    pub request: ComparisonRequest,
    /// The answer.
    pub observation: Observation,
}

/// A request for a cycle of a pinned run.
#[derive(Clone, Debug)]
pub struct ComparisonRequest {
    /// The number of the pinned run.
    pub number: usize,
    /// Its name.
    pub name: String,
    /// Where it is shown.
    pub place: ComparisonTarget,
    archive: Arc<RunArchive>,
    /// Its cycle.
    cycle: u64,
    /// The cycle of the run.
    beside: u64,
    /// The newest cycle of the pinned run.
    pub latest: u64,
    /// Its cycles per cycle of the run.
    pub per_cycle: f64,
}

impl ComparisonRequest {
    /// The observations of pinned runs that are needed when the run is shown at cycle `beside` with
    /// `view`.
    pub fn all(
        session: &Session,
        report: &Report,
        view: &ObservationRequest,
        beside: u64,
    ) -> Vec<Self> {
        let compare = &session.view.compare;
        let own = report.plan.problem.shape;
        let each = report.plan.sweeps_per_cycle();
        let shown = ShownCycle::of(beside, each, &report.curve, report.start_residual);
        let request = |pin: &Pin, place| Self {
            number: pin.number,
            name: pin.name.clone(),
            place,
            archive: Arc::clone(&pin.archive),
            cycle: compare.at_equal.cycle(&shown, pin),
            beside,
            latest: pin.latest.cycle,
            per_cycle: compare.at_equal.per_cycle(report, pin),
        };
        let place = match compare.how {
            How::Difference if !session.flipped => ComparisonTarget::Difference,
            _ => ComparisonTarget::Map,
        };
        // A difference needs equal grids, and is not defined for space–time diagrams.
        let can_be = |pin: &&Pin| {
            let other = pin.archive.plan().problem.shape;
            own.dim() == other.dim()
                && (place == ComparisonTarget::Map || (own.dim() > 1 && own == other))
        };
        let pins = session.pins.all();
        let on_map = compare.pin(pins, session.flipped).filter(can_be);
        // A plot of several fields does not show several runs.
        let has_cut = view.profile.as_ref().is_some_and(|profile| profile.fields.len() == 1);
        let along = pins.iter().filter(|pin| {
            has_cut
                && pin.archive != report.archive
                && pin.archive.plan().problem.shape == own
                && (own.points() <= MAX_PROFILE_POINTS || on_map == Some(*pin))
        });
        let on_map = on_map.map(|pin| request(pin, place));
        on_map.into_iter().chain(along.map(|pin| request(pin, ComparisonTarget::Profile))).collect()
    }

    /// The target of the replay when the run is shown with `view`.
    pub fn target(&self, report: &Report, view: &ObservationRequest) -> ReplayTarget {
        let is_alike = report.plan.problem.shape == self.plan().problem.shape;
        let view = match self.place {
            ComparisonTarget::Profile => ObservationRequest {
                field: view.field,
                profile: view.profile.clone(),
                ..ObservationRequest::default()
            },
            ComparisonTarget::Map | ComparisonTarget::Difference => ObservationRequest {
                field: view.field,
                map: view
                    .map
                    .clone()
                    .map(|map| MapRequest { part: map.part.filter(|_| is_alike), ..map }),
                probe: view.probe.filter(|_| is_alike),
                edge_share: true,
                ..ObservationRequest::default()
            },
        };
        let other = Arc::clone(&self.archive);
        if self.place == ComparisonTarget::Difference {
            let minus = Some(Difference { archive: other, cycle: self.cycle });
            ReplayTarget {
                archive: Arc::clone(&report.archive),
                cycle: self.beside,
                request: view,
                minus,
            }
        } else {
            ReplayTarget { archive: other, cycle: self.cycle, request: view, minus: None }
        }
    }

    /// Whether another requests the same run in the same place, at any cycle.
    pub fn is_like(&self, other: &Self) -> bool {
        (self.number, self.place) == (other.number, other.place)
    }

    /// The plan of the pinned run.
    pub fn plan(&self) -> &Arc<Plan> {
        self.archive.plan()
    }
}

/// The captions of the run of a report and of the pinned run beside it: names, the settings in which
/// they differ, sweeps and cycles. What matters least comes last, where a caption may be cut off.
pub fn captions(report: &Report, compared: &Compared) -> [String; 2] {
    let ComparisonRequest { name, cycle, beside, place, .. } = &compared.request;
    let other = compared.request.plan();
    let specs = [&report.plan.spec, &other.spec];
    let (_, settings) = distinguish(&specs);
    let method = |index: usize| match settings.get(index) {
        Some(settings) if !settings.is_empty() => settings.clone(),
        // The same run twice.
        _ => method_title(specs[index]),
    };
    if *place == ComparisonTarget::Difference {
        let of = |index: usize, name: &str, cycle: u64| {
            format!("{name} ({}, cycle {})", method(index), grouped(cycle))
        };
        let difference = format!("{} − {}", of(0, THIS_RUN, *beside), of(1, name, *cycle));
        return [difference.clone(), difference];
    }
    let caption = |index: usize, name: &str, cycle: u64, plan: &Plan| {
        let sweeps = match plan.method.k() {
            Subiterations::Finite(_) => {
                format!(" · {}", counted(cycle * plan.sweeps_per_cycle(), "sweep"))
            }
            Subiterations::Infinite => String::new(),
        };
        format!("{name} · {}{sweeps} · cycle {}", method(index), grouped(cycle))
    };
    [
        caption(0, THIS_RUN, report.observation.cycle, &report.plan),
        caption(1, name, compared.observation.cycle, other),
    ]
}
