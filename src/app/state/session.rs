//! What was chosen: the run, how it goes, and what is looked at.

use crate::app::state::pins::Pins;
use crate::app::state::travel::Travel;
use crate::app::state::view_settings::{Against, Colours, CurveKind, RangeMode, ViewSettings};
use crate::grid::Tiling;
use crate::picture::{FigureKind, ViewSpec, grouped};
use crate::run::{
    Backend, CutLine, FieldKind, ObservationRequest, Phase, Preset, Report, RunSpec, WorkerRequest,
};
use crate::solver::Followed;
use std::sync::Arc;

/// Bytes that iterates may take at first start.
const MEMORY: usize = 512_000_000;

/// All that a person has chosen.
#[derive(Debug)]
pub struct Session {
    /// The run.
    pub spec: Arc<RunSpec>,
    /// Its number; every change of the run gets a new one.
    pub epoch: u64,
    /// Whether it is to go on.
    pub running: bool,
    /// Single cycles asked for since it began.
    pub steps: u64,
    /// Cycles a second at the most.
    pub pace: Option<f64>,
    /// What is looked at, and how.
    pub look: ViewSettings,
    /// The runs that were pinned.
    pub pins: Pins,
    /// Whether one of them is shown in the place of the run, for as long as a key is held.
    pub flipped: bool,
    /// The cycle that is shown, and how cycles are played.
    pub travel: Travel,
    /// Bytes that may be taken to keep iterates, of all runs together.
    pub memory: usize,
}

impl Default for Session {
    fn default() -> Self {
        Self {
            spec: Arc::default(),
            epoch: 1,
            running: true,
            steps: 0,
            pace: None,
            look: ViewSettings::default(),
            pins: Pins::default(),
            flipped: false,
            travel: Travel::default(),
            memory: MEMORY,
        }
    }
}

impl Session {
    /// The run with a ready-made problem in place of its own.
    pub fn with(&self, preset: &Preset) -> RunSpec {
        let (problem, stop) = preset.problem();
        let mut spec = RunSpec { problem, stop, ..(*self.spec).clone() };
        // One tile and overlap for all axes: the problem may have others.
        spec.method.tile.truncate(1);
        spec.method.overlap.truncate(1);
        spec
    }

    /// Shows of a run that has just begun what a figure of it shows, and stops there.
    pub fn show(&mut self, view: &ViewSpec) {
        let ViewSpec { cycle, field, kind, over, cut, figure, .. } = *view;
        (self.running, self.steps) = (false, cycle);
        let look = &mut self.look;
        look.field = field;
        *look.of_field_mut(field) = Colours {
            scale: figure.scale,
            map: figure.map,
            range: match figure.range.filter(|_| kind != FigureKind::Inside) {
                Some(range) => RangeMode::Locked(range),
                None => RangeMode::ThisFrame,
            },
            absolute: figure.absolute,
        };
        if view.shows(FigureKind::Curves) {
            look.against = Against::of(over);
        }
        // A profile has its tile borders in any case.
        if kind != FigureKind::Profile {
            look.borders = figure.borders;
        }
        look.cut.line = cut.or(look.cut.line);
        if view.shows(FigureKind::Probes) {
            look.probes.clone_from(&view.probes);
        }
        if view.shows(FigureKind::Inside) {
            look.inside = view.inside;
        }
        // Whoever draws curves says whether Jacobi's is among them.
        if view.shows(FigureKind::Curves) {
            look.reference = view.classic.is_some();
        }
    }

    /// What is observed of the newest iterate, before panes add what they need. `part` and `most` say
    /// which part of the field the map shows, and in how many samples; `probe` is the point under the
    /// cursor.
    pub fn observation(
        &self,
        part: Option<[std::ops::Range<usize>; 2]>,
        most: [usize; 2],
        probe: Option<[usize; 2]>,
    ) -> ObservationRequest {
        ObservationRequest {
            field: self.look.field,
            part,
            most,
            probe,
            probes: self.look.probes.clone(),
            reference: self.look.reference,
            error: self.look.curve == CurveKind::Error,
            all_norms: self.look.curve != CurveKind::Reduction,
            ..ObservationRequest::default()
        }
    }

    /// What the worker is asked for, with what is observed of the run. Files add what they need.
    pub fn request(&self, view: ObservationRequest) -> WorkerRequest {
        WorkerRequest {
            epoch: self.epoch,
            spec: Arc::clone(&self.spec),
            running: self.running,
            steps: self.steps,
            pace: self.pace,
            view,
            memory: self.memory_of_each(),
            snapshot_requests: Vec::new(),
        }
    }

    /// The line of the cut: of a plane what was chosen, or the middle row; of lines the first.
    pub fn cut_line(&self) -> CutLine {
        match (&self.spec.problem.shape[..], self.look.cut.line) {
            ([_, _, ..], Some(line)) => line,
            ([_, ny, ..], None) => CutLine::Row(ny / 2),
            _ => CutLine::Row(0),
        }
    }

    /// What is followed through a cycle.
    pub fn followed(&self) -> Followed {
        self.look.inside.followed(self.spec.problem.shape.len() == 1)
    }

    /// The fields along the cut, that of the map first.
    pub fn cut_fields(&self) -> Vec<FieldKind> {
        let more = self.look.cut.more.iter().copied().filter(|&field| field != self.look.field);
        std::iter::once(self.look.field).chain(more).collect()
    }

    /// Bytes that each run may keep of its iterates: all have the same, the pinned ones too.
    pub fn memory_of_each(&self) -> usize {
        self.memory / (1 + self.pins.all().len())
    }

    /// Whether the run has come to its end, as far as it is known, or cannot go on.
    pub fn is_finished(&self, report: Option<&Report>) -> bool {
        report.is_some_and(|report| {
            report.epoch == self.epoch
                && matches!(report.phase, Phase::Finished(_) | Phase::Failed { .. })
        })
    }

    /// The tiles that were chosen; `None` while what was chosen makes no sense.
    pub fn tiling(&self) -> Option<Tiling> {
        let method = &self.spec.method;
        let axes = &self.spec.problem.shape;
        let tile: Vec<_> = (0..axes.len()).map(|axis| method.tile_of(axis)).collect();
        let overlap: Vec<_> = (0..axes.len()).map(|axis| method.overlap_of(axis)).collect();
        Tiling::new(axes, &tile, &overlap).ok()
    }
}

impl Session {
    /// Takes another description: of another run, or of the same that is to go on elsewhere.
    pub fn change(&mut self, spec: RunSpec) {
        if self.spec.is_same_run(&spec) {
            self.spec = Arc::new(spec);
        } else {
            self.begin(spec);
        }
    }

    /// Begins another run.
    pub fn begin(&mut self, spec: RunSpec) {
        self.spec = Arc::new(spec);
        self.epoch += 1;
        self.steps = 0;
        self.travel = self.travel.anew();
    }
}

/// How a run whose solver failed can go on, in one sentence.
pub fn elsewhere(report: &Report) -> String {
    let cycle = grouped(report.latest.cycle);
    match report.plan.spec.method.backend {
        Backend::Cpu => "Reset starts the run again.".to_owned(),
        Backend::Cuda => {
            format!("Choose CPU under “Runs on” to continue there from cycle {cycle}.")
        }
    }
}
