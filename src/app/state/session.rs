//! The session: all settings of the run and of its view.

use crate::app::state::drag::{Drag, HoldAt, moved_cycle, reached_in_time, redundant_work};
use crate::app::state::lesson::LessonProgress;
use crate::app::state::pins::Pins;
use crate::app::state::travel::Travel;
use crate::app::state::view_settings::{Against, Colours, RangeMode, ViewSettings};
use crate::grid::{Geometry, GridPoint, Slice, Tiling};
use crate::picture::{FigureKind, Norm, ScaleKind, ViewSpec, grouped};
use crate::run::{
    Backend, CutLine, FieldKind, MapRequest, MethodSpec, Milestone, ObservationRequest, Phase,
    Preset, Report, RunSpec, WorkerRequest,
};
use crate::solver::{Acceleration, Followed};
use std::sync::Arc;

/// Default bytes for keyframes.
const MEMORY: usize = 512_000_000;

/// All that was chosen.
#[derive(Debug)]
pub struct Session {
    /// The run.
    pub spec: Arc<RunSpec>,
    /// The number of the run; every change of the run takes the next.
    pub epoch: u64,
    /// The largest number that a run had: undo returns to earlier ones.
    last_epoch: u64,
    /// Where the run is shown in place of the run before it, if it was changed.
    pub catch_up: Option<Milestone>,
    /// What both have in common there.
    pub hold_at: HoldAt,
    /// The setting that is being dragged.
    pub drag: Option<Drag>,
    /// Whether it is running, not paused.
    pub running: bool,
    /// Cycles requested one by one since cycle 0.
    pub steps: u64,
    /// How many of those were made before, where a run is recomputed because the worker did not keep it.
    steps_before: u64,
    /// The requested cycles per second, of the run and of a replay; `None` for as many as
    /// possible.
    pub pace: Option<f64>,
    /// Whether only the controls of a first lesson are shown: k, overlap, tile, run, map and curve. The
    /// others are under “More”.
    pub is_student_view: bool,
    /// The lesson that the reader is in.
    pub lesson: Option<LessonProgress>,
    /// Why a run was rejected while there is none to show.
    pub rejection: Option<String>,
    /// Where `auto` led the run that was reported last; the CPU before that.
    pub auto_is: Backend,
    /// Why that is not a GPU, if one was tried.
    pub without_gpu: Option<String>,
    /// What is shown, and how.
    pub view: ViewSettings,
    /// The runs that were pinned.
    pub pins: Pins,
    /// Whether one of them is shown in place of the run, while a key is held.
    pub flipped: bool,
    /// The shown cycle, and the replay.
    pub travel: Travel,
    /// Bytes for keyframes, of all runs together.
    pub memory: usize,
}

/// A run that was replaced, and where it was.
#[derive(Clone, Debug)]
pub struct LeftRun {
    pub spec: Arc<RunSpec>,
    pub epoch: u64,
    /// How far it was, if that is known.
    reached: Option<Milestone>,
    running: bool,
    steps: u64,
    pace: Option<f64>,
    travel: Travel,
}

impl Default for Session {
    fn default() -> Self {
        Self {
            spec: Arc::default(),
            epoch: 1,
            last_epoch: 1,
            catch_up: None,
            hold_at: HoldAt::default(),
            drag: None,
            running: true,
            steps: 0,
            steps_before: 0,
            pace: None,
            is_student_view: false,
            lesson: None,
            rejection: None,
            auto_is: Backend::Cpu,
            without_gpu: None,
            view: ViewSettings::default(),
            pins: Pins::default(),
            flipped: false,
            travel: Travel::default(),
            memory: MEMORY,
        }
    }
}

impl Session {
    /// The run with the problem of a preset.
    pub fn with(&self, preset: &Preset) -> RunSpec {
        let (problem, stop) = preset.problem();
        let mut spec = RunSpec::clone(&self.spec);
        spec.set_problem(problem, stop);
        // As the preset has them: one for all axes.
        spec.method.tile.truncate(1);
        spec.method.overlap.truncate(1);
        spec
    }

    /// Shows what a figure of the run shows, and pauses there.
    pub fn show(&mut self, view: &ViewSpec) {
        let ViewSpec { cycle, field, kind, over, norm, slice, cut, figure, .. } = *view;
        let uses = view.uses();
        (self.running, self.steps) = (false, cycle);
        let settings = &mut self.view;
        settings.field = field;
        *settings.of_field_mut(field) = Colours {
            scale: figure.scale,
            map: figure.map,
            range: match figure.range.filter(|_| uses.field) {
                Some(range) => RangeMode::Locked(range),
                None => RangeMode::Follow,
            },
            absolute: figure.absolute,
        };
        if uses.over {
            (settings.against, settings.log_x) = (Against::of(over), view.log_x);
        }
        if uses.norm {
            settings.norm = norm;
        }
        // Some figures have tile borders whatever was chosen.
        if !kind.always_has_borders() {
            settings.borders = figure.borders;
        }
        settings.slice = slice.or(settings.slice);
        if uses.projection {
            settings.projection = view.projection;
        }
        if uses.through {
            settings.through = view.through;
        }
        if uses.camera {
            settings.camera = view.camera;
        }
        if uses.slow_link {
            settings.slow_link = view.slow_link;
        }
        settings.profile.line = cut.or(settings.profile.line);
        if kind == FigureKind::PROFILE {
            settings.profile.log = figure.scale == ScaleKind::Log;
        }
        if uses.probes {
            settings.probes.clone_from(&view.probes);
        }
        if uses.inside {
            settings.inside = view.inside;
        }
        if uses.reference {
            settings.reference = view.classic.is_some();
            settings.accelerations = view.accelerations().collect();
        }
        if uses.rate {
            settings.asymptotic_rate = view.asymptotic_rate;
        }
    }

    /// The observation of the newest iterate, before panes add their needs. `part` is the visible
    /// part of the field, `most` the largest number of samples per axis, `probe` the point under
    /// the cursor.
    pub fn observation(
        &self,
        part: Option<[std::ops::Range<usize>; 2]>,
        most: [usize; 2],
        probe: Option<[usize; 2]>,
    ) -> ObservationRequest {
        ObservationRequest {
            field: self.view.field,
            map: Some(MapRequest {
                part,
                slice: self.view.slice,
                is_projection: self.view.projection,
                most,
                is_of_iterate: false,
            }),
            probe,
            probes: self.probes(),
            edge_share: true,
            ..ObservationRequest::default()
        }
    }

    /// The request to the worker. Files add snapshot requests, and undo adds the runs to keep.
    pub fn request(&self, observation: ObservationRequest) -> WorkerRequest {
        let needs = self.lesson.as_ref().map(LessonProgress::needs).unwrap_or_default();
        WorkerRequest {
            epoch: self.epoch,
            kept: Vec::new(),
            spec: Arc::clone(&self.spec),
            catch_up: self.catch_up,
            held: self.drag.is_some(),
            running: self.running,
            steps: self.steps,
            steps_before: self.steps_before,
            pace: self.pace,
            observation,
            reference: self.view.reference || needs.reference,
            accelerations: match needs.accelerations {
                true => Acceleration::ALL.into(),
                false => self.view.accelerations.clone(),
            },
            error: self.view.norm == Norm::Error || needs.error,
            all_norms: self.view.norm != Norm::Residual,
            memory: self.memory_of_each(),
            snapshot_requests: Vec::new(),
        }
    }

    /// The line of the profile: in 2D and on a slice the chosen one, or the row through the middles of the tiles in
    /// the middle, which crosses borders and runs along none; in 1D the first system of a batch.
    pub fn profile_line(&self) -> CutLine {
        match (&self.spec.problem.shape[..], self.view.profile.line) {
            ([_, _, ..], Some(line)) => line,
            ([_, ny, ..], None) => {
                CutLine::Row(self.shown().map_or(ny / 2, |(of, _)| of.tiling().middle(1)))
            }
            _ => CutLine::Row(0),
        }
    }

    /// Points to observe at first: beside a tile border, and in the middle of its tile, both on the line of
    /// the profile.
    pub fn first_probes(&self) -> Vec<GridPoint> {
        let Some((shown, slice)) = self.shown() else { return Vec::new() };
        let tiling = shown.tiling();
        let (x, row) = (tiling.x(), tiling.middle(1));
        let at_border = x.owned(x.owner(x.n() / 2)).start;
        [at_border, tiling.middle(0)].map(|i| GridPoint::shown([i, row], slice)).into()
    }

    /// The probes that the grid has: others stay for a run on theirs.
    pub fn probes(&self) -> Vec<GridPoint> {
        let shape = self.spec.problem.grid();
        let is_there = |point: &GridPoint| shape.is_some_and(|shape| point.place(&shape).is_some());
        self.view.probes.iter().copied().filter(is_there).collect()
    }

    /// What is shown of the chosen grid, and the slice that it is in 3D; `None` while the tiles are invalid.
    fn shown(&self) -> Option<(Geometry, Option<Slice>)> {
        let shape = self.spec.problem.grid()?;
        let slice = Slice::shown(self.view.slice, &shape);
        Some((Geometry::new(shape, self.tiling()?).shown(slice), slice))
    }

    /// What the view inside a cycle shows.
    pub fn followed(&self) -> Followed {
        self.view.inside.followed(self.spec.problem.shape.len() == 1, self.view.slice)
    }

    /// The fields of the profile, that of the map first.
    pub fn profile_fields(&self) -> Vec<FieldKind> {
        let more = self.view.profile.more.iter().copied().filter(|&field| field != self.view.field);
        std::iter::once(self.view.field).chain(more).collect()
    }

    /// Where the run is made: what was chosen, or where `auto` leads as far as that is known.
    pub fn backend(&self) -> Backend {
        match self.spec.method.backend {
            Backend::Auto if self.spec.method.needs_gpu() => Backend::Cuda,
            Backend::Auto => self.auto_is,
            chosen => chosen,
        }
    }

    /// Bytes for keyframes per run; pinned runs have the same share.
    pub fn memory_of_each(&self) -> usize {
        self.memory / (1 + self.pins.all().len())
    }

    /// Whether the run has ended, or failed.
    pub fn is_finished(&self, report: Option<&Report>) -> bool {
        report.is_some_and(|report| {
            report.epoch == self.epoch
                && matches!(report.phase, Phase::Finished(_) | Phase::Failed { .. })
        })
    }

    /// The chosen tiling; `None` while it is invalid.
    pub fn tiling(&self) -> Option<Tiling> {
        self.spec.tiling()
    }
}

impl Session {
    /// Changes the run, or continues the same run on another device. The picture of `report` stays
    /// until the new run is where the two are compared.
    pub fn change(&mut self, spec: RunSpec, report: Option<&Report>) {
        if self.spec.is_same_run(&spec) {
            self.spec = Arc::new(spec);
            return;
        }
        let of_now = report.filter(|report| report.epoch == self.epoch);
        let of_drag = self.drag.and_then(|drag| drag.goal);
        let work = redundant_work(&spec.problem, &spec.method);
        let slowest = self.drag.map_or(work, |drag| drag.slowest.max(work));
        // A run that is not shown yet is replaced by one with the same goal.
        let goal = of_drag.or_else(|| match of_now {
            Some(report) => Some(self.hold_at.milestone(report, &spec, slowest)),
            None => self.catch_up,
        });
        if let Some(drag) = &mut self.drag {
            drag.goal = goal;
        }
        self.begin(spec);
        self.catch_up = goal;
    }

    /// Begins to drag a setting: the run stays where it is shown. If that is too far for other
    /// values of the setting, of which `values` are the slowest, the picture moves once.
    pub fn begin_drag(&mut self, report: Option<&Report>, values: &[MethodSpec]) {
        let of_now = report.filter(|report| report.epoch == self.epoch);
        let (None, Some(report)) = (self.drag, of_now) else {
            return;
        };
        let (cycle, latest) = (report.observation.cycle, report.latest.cycle);
        let (shown, each) =
            (cycle * report.plan.sweeps_per_cycle(), report.plan.sweeps_per_cycle());
        let RunSpec { problem, method, .. } = &*self.spec;
        let work = [method].into_iter().chain(values).map(|it| redundant_work(problem, it));
        let slowest = work.fold(1.0, f64::max);
        let sweeps = reached_in_time(shown, report, problem, slowest);
        let before = self.travel;
        self.drag = Some(Drag {
            goal: None,
            slowest,
            moved_to: (sweeps < shown).then_some(sweeps),
            from: self.epoch,
            before,
        });
        if sweeps < shown {
            self.travel = before.to(moved_cycle(sweeps, each), latest);
        }
    }

    /// Ends the drag: the run continues from where its setting was compared.
    pub fn end_drag(&mut self) {
        if let Some(Drag { goal: None, before, .. }) = self.drag.take() {
            self.travel = before;
        }
    }

    /// Starts another run. Its arrays are in memory here, also where `solve` has a store for them.
    pub fn begin(&mut self, spec: RunSpec) {
        self.spec = Arc::new(RunSpec { store: None, ..spec });
        self.last_epoch += 1;
        self.epoch = self.last_epoch;
        self.catch_up = None;
        (self.steps, self.steps_before) = (0, 0);
        self.travel = self.travel.for_new_run();
    }

    /// The run as it is now, to return to.
    pub fn left_run(&self, report: Option<&Report>) -> LeftRun {
        let report = report.filter(|report| report.epoch == self.epoch);
        let sweeps = report.map(|report| report.latest.cycle * report.plan.sweeps_per_cycle());
        LeftRun {
            spec: Arc::clone(&self.spec),
            epoch: self.epoch,
            reached: sweeps.map(Milestone::Sweeps).or(self.catch_up),
            running: self.running,
            steps: self.steps,
            pace: self.pace,
            // A drag that began has moved the picture already.
            travel: self.drag.map_or(self.travel, |drag| drag.before),
        }
    }

    /// Returns to a run that was left, at its cycle. One that the worker did not keep is recomputed
    /// up to there.
    pub fn return_to(&mut self, left: LeftRun) {
        let LeftRun { spec, epoch, reached, running, steps, pace, travel } = left;
        (self.spec, self.epoch, self.catch_up) = (spec, epoch, reached);
        (self.running, self.pace, self.travel) = (running, pace, travel);
        (self.steps, self.steps_before) = (steps, steps);
        self.drag = None;
    }
}

/// How a run whose solver failed can be continued, in one sentence.
pub fn elsewhere(report: &Report) -> String {
    let cycle = grouped(report.latest.cycle);
    match report.plan.backend() {
        Backend::Auto | Backend::Cpu => "Reset starts the run again.".to_owned(),
        Backend::Cuda => {
            format!("Choose CPU under “Runs on” to continue there from cycle {cycle}.")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_profile_and_probes_are_in_the_middles_of_tiles() {
        for (tile, overlap) in [(32, 0), (32, 4), (32, 24), (17, 2), (64, 0)] {
            let mut spec = RunSpec::default();
            (spec.method.tile, spec.method.overlap) = (vec![tile], vec![overlap]);
            let session = Session { spec: Arc::new(spec), ..Session::default() };
            let tiling = session.tiling().unwrap();
            let y = tiling.y().unwrap();
            let CutLine::Row(row) = session.profile_line() else { panic!("it is a row") };
            let half = y.owned(y.owner(row)).len() / 2;
            assert!(y.distance(row) >= Some(half), "tile {tile}, overlap {overlap}: row {row}");
            let [at_border, inside] = <[_; 2]>::try_from(session.first_probes()).unwrap();
            let [at_border, inside] = [at_border, inside].map(|point| point.within(None).unwrap());
            assert_eq!([at_border[1], inside[1]], [row; 2]);
            assert_eq!(tiling.x().distance(at_border[0]), Some(1));
            assert!(tiling.x().distance(inside[0]) >= Some(half), "{inside:?}");
        }
    }
}
