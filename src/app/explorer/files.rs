//! Files, read and written on threads of their own: the window never waits for a disk.

use crate::app::dialogs::save::Making;
use crate::app::explorer::browse::browse;
use crate::app::state::command::{BrowseFor, SaveSweep};
use crate::app::state::compare::How;
use crate::app::state::pins::Pin;
use crate::app::state::save::{SaveRequest, What};
use crate::files::{self, FileError};
use crate::grid::Shape;
use crate::lesson::{Lesson, ReadLesson};
use crate::pauses::pause;
use crate::picture::{
    self, Compared, Drawing, FigureKind, Film, FilmError, FilmFile, OpenError, Opened, ViewSpec,
    figure, save_figure_with_pauses, save_film_with_pauses, save_table,
};
use crate::problem::input;
use crate::problem::matrix::is_market;
use crate::run::host::{Aside, aside_with_pauses};
use crate::run::{
    self, ArchivedRun, FieldKind, InitialGuess, MatrixSpec, Monitor, Plan, Planner, ProblemKind,
    ProblemSpec, RecordError, RecordedCycles, RunArchive, RunSpec, Snapshot, SnapshotRequest,
    Stage, SweepTable, record_run_with_pauses,
};
use crate::stop_token::StopToken;
use crossbeam_channel::{Receiver, Sender, bounded, never};
use eframe::egui::{self, ColorImage};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The result of a job.
pub enum JobResult {
    Saved(PathBuf),
    /// A file that was read, or why it cannot be opened.
    Read(PathBuf, Result<Read, String>),
    /// A file that was chosen in the system's dialog, if one was.
    Chosen(BrowseFor, Option<PathBuf>),
    /// The other runs of an opened figure.
    OtherRuns(OtherRuns),
    /// A run to compare with that of this epoch, and how.
    MadeRun(u64, Box<ArchivedRun>, How),
    /// An image for the clipboard.
    Image(ColorImage),
    /// An animation, or why there is none.
    Film(Result<SavedFilm, FilmEnd>),
    /// The settings were written, or why not.
    SettingsSaved(Result<(), String>),
    /// Nothing: the run that others were made for was left.
    Left,
}

/// What a file holds.
pub enum Read {
    Run(Box<Opened>),
    Problem(Box<ProblemSpec>),
    Lesson(Box<ReadLesson>),
}

/// The other runs of an opened figure, as far as the figure shows them.
pub struct OtherRuns {
    /// Each with the number that determines its colour.
    pub made: Vec<(usize, ArchivedRun)>,
    /// The epoch and the cycle of the first run, and the cycle of the second.
    pub epoch: u64,
    pub cycle: u64,
    pub beside: u64,
    /// Whether the figure shows both maps.
    pub is_beside: bool,
}

/// An animation that was made.
pub struct SavedFilm {
    pub path: PathBuf,
    /// What was last said of a GPU that was lost, without which the runs were made; one sentence without its full stop.
    pub gpu_loss: Option<String>,
}

/// Why there is no animation.
pub enum FilmEnd {
    Stopped,
    Failed(String),
}

/// An animation that is being made.
#[derive(Default)]
struct FilmProgress {
    cancel: StopToken,
    /// Progress of the cycles or of the frames, in thousandths.
    share: AtomicU32,
    is_drawing: AtomicBool,
}

/// A file that waits for a snapshot of the run.
struct Waiting {
    /// The epoch of the run.
    epoch: u64,
    snapshot_request: SnapshotRequest,
    request: SaveRequest,
}

/// Capacity of the channel of results; the window empties it every frame.
const WAITING: usize = 16;

/// The jobs that read and write files.
pub struct Files {
    context: egui::Context,
    answer: Sender<Result<JobResult, String>>,
    answers: Receiver<Result<JobResult, String>>,
    waiting: Vec<Waiting>,
    last: u64,
    /// Set when the window is closed, to cancel jobs.
    closing: StopToken,
    /// The epoch of the run that others are made for, and what cancels them.
    made_for: (u64, StopToken),
    progress: Option<Arc<FilmProgress>>,
    jobs: Vec<Aside>,
}

impl Drop for Files {
    /// Files that are being written are finished; computations are cancelled and leave no partial
    /// file.
    fn drop(&mut self) {
        self.stop_film();
        self.closing.now();
        self.made_for.1.now();
        // Results are discarded from here on, so that no job waits to send one.
        self.answers = never();
        for job in self.jobs.drain(..) {
            _ = job.join();
        }
    }
}

impl Files {
    pub fn new(context: &egui::Context) -> Self {
        let (answer, answers) = bounded(WAITING);
        Self {
            context: context.clone(),
            answer,
            answers,
            waiting: Vec::new(),
            last: 0,
            closing: StopToken::default(),
            made_for: Default::default(),
            progress: None,
            jobs: Vec::new(),
        }
    }

    /// The next result, if any.
    pub fn result(&self) -> Option<Result<JobResult, String>> {
        self.answers.try_recv().ok()
    }

    /// Requests the snapshot that a file needs, of the run of this epoch on this grid.
    pub fn snapshot_request(&mut self, request: SaveRequest, epoch: u64, shape: &Shape) {
        let id = self.next();
        let snapshot_request = request.snapshot_request(id, shape);
        self.waiting.push(Waiting { epoch, snapshot_request, request });
    }

    /// The snapshots to request from the worker, the oldest first.
    pub fn snapshot_requests(&self) -> impl Iterator<Item = &SnapshotRequest> {
        self.waiting.iter().map(|waiting| &waiting.snapshot_request)
    }

    /// Drops the files for which `why` gives a reason, by epoch and field. Returns a sentence for
    /// each.
    pub fn drop_lost(&mut self, why: impl Fn(u64, FieldKind) -> Option<String>) -> Vec<String> {
        let mut messages = Vec::new();
        self.waiting.retain(|Waiting { epoch, snapshot_request, request }| {
            let Some(why) = why(*epoch, snapshot_request.field()) else {
                return true;
            };
            messages.push(format!("{} was not saved: {why}.", request.path.display()));
            false
        });
        messages
    }

    /// The id of the next snapshot.
    pub fn next(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Saves the file of a snapshot.
    pub fn save(&mut self, snapshot: &Arc<Snapshot>) {
        let waiting =
            self.waiting.iter().position(|waiting| waiting.snapshot_request.id == snapshot.id);
        let Some(Waiting { request, .. }) = waiting.map(|index| self.waiting.remove(index)) else {
            return;
        };
        let (snapshot, cancel) = (Arc::clone(snapshot), self.closing.clone());
        self.spawn("tilescope-save", async move || {
            make_folder(&request.path)?;
            write(&request, &snapshot, &cancel).await?;
            Ok(JobResult::Saved(request.path))
        });
    }

    /// Draws an image for the clipboard.
    pub fn copy_image(&mut self, snapshots: Arc<[Snapshot]>, view: ViewSpec) {
        self.spawn("tilescope-copy", async move || {
            let snapshots: Vec<_> = snapshots.iter().collect();
            let drawing = figure(&snapshots, &view);
            pause().await;
            let picture = drawing.pixels().map_err(|error| error.to_string())?;
            let size = [picture.width() as usize, picture.height() as usize];
            Ok(JobResult::Image(ColorImage::from_rgba_unmultiplied(size, picture.as_raw())))
        });
    }

    /// Makes an animation: repeats the run from cycle 0.
    pub fn film(&mut self, request: SaveRequest, run: Arc<RunSpec>) {
        let progress = Arc::new(FilmProgress::default());
        let (context, under_way) = (self.context.clone(), Arc::clone(&progress));
        let is_begun = self.spawn("tilescope-film", async move || {
            let made = film(&request, &run, &under_way, &context).await;
            Ok(JobResult::Film(made.map(|gpu_loss| SavedFilm { path: request.path, gpu_loss })))
        });
        self.progress = is_begun.then_some(progress);
    }

    /// The progress of the animation, if one is being made.
    pub fn making(&self) -> Option<Making> {
        self.progress.as_ref().map(|progress| Making {
            share: progress.share.load(Ordering::Relaxed) as f32 / THOUSAND as f32,
            is_drawing: progress.is_drawing.load(Ordering::Relaxed),
        })
    }

    /// Stops the animation.
    pub fn stop_film(&self) {
        if let Some(progress) = &self.progress {
            progress.cancel.now();
        }
    }

    /// Forgets the animation, once it has ended.
    pub fn end_film(&mut self) {
        self.progress = None;
    }

    /// Opens a file of any supported kind.
    pub fn open(&mut self, path: PathBuf) {
        self.spawn("tilescope-open", async move || {
            let read = open(&path);
            Ok(JobResult::Read(path, read))
        });
    }

    /// Takes a file as the initial guess of a run.
    pub fn open_initial_guess(&mut self, path: PathBuf, mut run: RunSpec) {
        self.spawn("tilescope-open", async move || {
            run.problem.set_initial_guess(Some(InitialGuess::File(path.clone())));
            // Checked before it replaces the current run.
            let plan = Planner::default().plan(&run).map_err(|error| error.to_string());
            let read = plan.map(|_| Read::Run(Box::new(Opened { run, view: None })));
            Ok(JobResult::Read(path, read))
        });
    }

    /// Lets a file be chosen with the system's dialog. Its thread is not waited for when the window is
    /// closed: the dialog may stay open.
    pub fn browse(&self, what: BrowseFor) {
        let (answer, context) = (self.answer.clone(), self.context.clone());
        let shown = browse(what, move |what, path| {
            _ = answer.send(Ok(JobResult::Chosen(what, path)));
            context.request_repaint();
        });
        if let Err(error) = shown {
            let why = format!("the file dialog cannot be shown: {error}");
            _ = self.answer.try_send(Err(why));
        }
    }

    /// Ends the making of other runs for a run that has been left: they may take hours and gigabytes.
    pub fn retain_run(&mut self, epoch: u64) {
        if self.made_for.0 != epoch {
            self.made_for.1.now();
            self.made_for = (epoch, StopToken::default());
        }
    }

    /// Makes the other runs of a figure that was opened in `epoch`, if it has any.
    pub fn make_others(&mut self, epoch: u64, view: &ViewSpec, memory: usize) {
        let Some(beside) = view.compared.first().map(|first| first.cycle) else {
            return;
        };
        let (cycle, is_beside) = (view.cycle, view.shows(FigureKind::SIDE_BY_SIDE));
        self.retain_run(epoch);
        let (view, cancel) = (view.clone(), self.made_for.1.clone());
        self.spawn("tilescope-others", async move || {
            let made = make_compared(&view, memory, &cancel).await;
            if cancel.is_due() {
                return Ok(JobResult::Left);
            }
            Ok(JobResult::OtherRuns(OtherRuns { made: made?, epoch, cycle, beside, is_beside }))
        });
    }

    /// Makes a run up to a cycle or to its end, to compare the run of `epoch` with it.
    pub fn make_run(&mut self, epoch: u64, run: &RunSpec, until: u64, how: How, memory: usize) {
        self.retain_run(epoch);
        let (run, cancel) = (run.clone(), self.made_for.1.clone());
        self.spawn("tilescope-compared", async move || {
            let plan = Planner::default().plan(&run).map_err(|error| error.to_string())?;
            let made = RunArchive::made_with_pauses(&plan.into(), until, memory, &cancel).await;
            if cancel.is_due() {
                return Ok(JobResult::Left);
            }
            let made = made.map_err(|error| error.to_string())?;
            Ok(JobResult::MadeRun(epoch, Box::new(made), how))
        });
    }

    /// Saves a file of the tuning map.
    pub fn save_sweep(&mut self, path: PathBuf, request: SaveSweep) {
        self.spawn("tilescope-save", async move || {
            let message = |error: &dyn std::fmt::Display| error.to_string();
            make_folder(&path)?;
            match request {
                SaveSweep::Figure { svg, run } => {
                    let drawing = Drawing::Figure(svg);
                    let saved = save_figure_with_pauses(&path, &drawing, &run, None).await;
                    saved.map_err(|e| message(&e))?;
                }
                SaveSweep::Table(rows) => {
                    SweepTable::save(&path, &rows).map_err(|e| message(&e))?;
                }
            }
            Ok(JobResult::Saved(path))
        });
    }

    /// Runs a job on a thread of its own. Returns whether it was started.
    pub fn spawn(
        &mut self,
        name: &str,
        job: impl AsyncFnOnce() -> Result<JobResult, String> + Send + 'static,
    ) -> bool {
        let (answer, context) = (self.answer.clone(), self.context.clone());
        let spawned = aside_with_pauses(name, async move || {
            // The receiver is gone once the window is closed.
            _ = answer.send(job().await);
            context.request_repaint();
        });
        self.jobs.retain(|job| !job.is_finished());
        match spawned {
            Ok(job) => {
                self.jobs.push(job);
                true
            }
            Err(error) => {
                let why = format!("no thread for the file could be started: {error}");
                _ = self.answer.try_send(Err(why));
                false
            }
        }
    }
}

const THOUSAND: u32 = 1000;

/// Repeats the runs, records the frames' cycles, and draws them. Returns what was last said of a GPU that was lost.
async fn film(
    request: &SaveRequest,
    run: &RunSpec,
    progress: &FilmProgress,
    context: &egui::Context,
) -> Result<Option<String>, FilmEnd> {
    let failed = |error: &dyn std::fmt::Display| FilmEnd::Failed(error.to_string());
    let Some(frames) = request.view.frames else { return Ok(None) };
    make_folder(&request.path).map_err(FilmEnd::Failed)?;
    let file = FilmFile::of(&request.path).map_err(|error| failed(&error))?;
    file.check(request.view.figure.theme).map_err(|error| failed(&error))?;
    let pins = &request.sources.others;
    let specs = pins.iter().map(|pin| &pin.archive.plan().spec);
    let mut planner = Planner::default();
    let plans: Result<Vec<_>, _> =
        [run].into_iter().chain(specs).map(|run| planner.plan(run)).collect();
    let plans = plans.map_err(|error| failed(&error))?;
    let own = plans.first().map_or(1, Plan::sweeps_per_cycle);
    let cycles = frames.cycles();
    // The cycles of each run.
    let beside = |(plan, pin): (&Plan, &Pin)| -> Vec<u64> {
        let sweeps = plan.sweeps_per_cycle();
        let pairing = request.view.pairing;
        let beside =
            |&cycle| pairing.cycle(cycle, cycle.saturating_mul(own), sweeps, pin.latest.cycle);
        cycles.iter().map(beside).collect()
    };
    let others: Vec<_> = plans.iter().skip(1).zip(pins).map(beside).collect();
    let wanted = || std::iter::once(&cycles).chain(&others);
    let goal = wanted().filter_map(|cycles| cycles.last()).sum::<u64>();
    let made = |part: u64, all: u64| {
        let share = part.min(all) as f64 / all.max(1) as f64 * f64::from(THOUSAND);
        progress.share.store(share as u32, Ordering::Relaxed);
        context.request_repaint();
    };
    let (mut seen, mut gpu_loss) = (Vec::new(), None);
    let mut before = 0_u64;
    for (plan, cycles) in plans.iter().zip(wanted()) {
        let mut on_progress = |stage: Stage<'_>| match stage {
            Stage::Run(run) => made(before.saturating_add(run.cycle()), goal),
            Stage::Jacobi(_) => {}
            Stage::GpuLoss(said) => gpu_loss = Some(said.to_owned()),
        };
        let mut watch = Monitor { cancel: &progress.cancel, on_progress: &mut on_progress };
        let shape = &plan.problem.shape;
        let snapshot_request = match seen.is_empty() {
            true => {
                let classic = request.sources.classic(&request.view);
                let accelerated = request.sources.accelerated(&request.view);
                let snapshot_request = request.view.snapshot_request(0, shape);
                SnapshotRequest { classic, accelerated, ..snapshot_request }
            }
            false => request.view.snapshot_request_beside(0, shape, None),
        };
        let at = RecordedCycles::Each(cycles);
        match record_run_with_pauses(plan, &snapshot_request, at, &mut watch).await {
            Ok(snapshots) => {
                before = before.saturating_add(cycles.last().copied().unwrap_or(0));
                seen.push(snapshots.snapshots);
            }
            Err(RecordError::Cancelled { .. }) => return Err(FilmEnd::Stopped),
            Err(error) => return Err(failed(&error)),
        }
    }
    progress.is_drawing.store(true, Ordering::Relaxed);
    let count = cycles.len() as u64;
    made(0, count);
    let last: Vec<_> = seen.iter().filter_map(|snapshots| snapshots.last()).collect();
    let view = request.view.clone().of(&last);
    let film = Film { runs: &seen, view: &view, frames };
    let mut on_progress = |frames: usize| made(frames as u64, count);
    let cancel = &progress.cancel;
    match save_film_with_pauses(&request.path, &film, run, cancel, &mut on_progress).await {
        Ok(()) => Ok(gpu_loss),
        Err(FilmError::Cancelled) => Err(FilmEnd::Stopped),
        Err(error) => Err(failed(&error)),
    }
}

/// Makes the runs that a figure compares its own with, and returns them with their colours.
async fn make_compared(
    view: &ViewSpec,
    memory: usize,
    cancel: &StopToken,
) -> Result<Vec<(usize, ArchivedRun)>, String> {
    let mut runs = Vec::new();
    for (index, Compared { cycle, until, run }) in view.compared.iter().enumerate() {
        let plan = Planner::default().plan(run).map_err(|error| error.to_string())?;
        let until = until.unwrap_or(*cycle);
        let made = RunArchive::made_with_pauses(&plan.into(), until, memory, cancel).await;
        runs.push((view.colour(index), made.map_err(|error| error.to_string())?));
    }
    Ok(runs)
}

/// Makes the folder of a file, if there is none.
fn make_folder(path: &Path) -> Result<(), String> {
    let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) else {
        return Ok(());
    };
    files::create_folder(folder).map_err(|error| {
        let (FileError::Write { cause, .. } | FileError::Read { cause, .. }) = error;
        let why = files::reason(&cause);
        format!("{} cannot be written: its folder cannot be created: {why}", path.display())
    })
}

/// Writes the requested file.
async fn write(request: &SaveRequest, newest: &Snapshot, cancel: &StopToken) -> Result<(), String> {
    let (path, view) = (&request.path, &request.view);
    let snapshot_request = request.snapshot_request(0, &newest.plan.problem.shape);
    let snapshots = request.sources.snapshots(newest, &snapshot_request, view, cancel).await?;
    let snapshots: Vec<_> = snapshots.iter().collect();
    let Some(snapshot) = snapshots.first() else { return Ok(()) };
    let run = &snapshot.plan.spec;
    let message = |error: &dyn std::fmt::Display| error.to_string();
    match request.what {
        What::Figure(_) => {
            let view = view.clone().of(&snapshots);
            if request.is_table() {
                return save_table(path, &snapshots, &view).map_err(|e| message(&e));
            }
            let drawing = figure(&snapshots, &view);
            pause().await;
            let saved = save_figure_with_pauses(path, &drawing, run, Some(&view)).await;
            saved.map_err(|e| message(&e))
        }
        What::Run => run::save_run(path, run).map_err(|e| message(&e)),
        What::Field | What::Iterate => {
            let Some((_, values)) = &snapshot.observation.whole else {
                return Err("the field was not captured".into());
            };
            let precision = snapshot.plan.precision;
            let saved = match request.what {
                What::Field => run::save_shown(path, values, view.slice, precision),
                _ => run::save_field(path, values, precision),
            };
            saved.map_err(|error| message(&error))
        }
    }
}

/// Reads a run file, a figure that contains its run, a lesson, a matrix, or a right-hand side.
fn open(path: &Path) -> Result<Read, String> {
    let extension = path.extension().and_then(|extension| extension.to_str());
    let is = |what: &str| extension.is_some_and(|extension| extension.eq_ignore_ascii_case(what));
    if is("toml") || is("png") || is("apng") || is("svg") || is("pdf") {
        match picture::open(path) {
            Ok(opened) => {
                // Checked before it replaces the current run.
                Planner::default().plan(&opened.run).map_err(|error| error.to_string())?;
                return Ok(Read::Run(opened.into()));
            }
            // Any other image is a right-hand side.
            Err(OpenError::NoRun { .. }) if is("png") => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    if is("md") {
        let read = Lesson::load(path).map_err(|error| error.to_string())?;
        return Ok(Read::Lesson(Box::new(read)));
    }
    // By its name, too, so that a damaged one is called a matrix.
    if is("mtx") || is("gz") || is_market(path) {
        let matrix = MatrixSpec::new(path);
        let rows = matrix.rows().map_err(|error| error.to_string())?;
        return Ok(Read::Problem(Box::new(ProblemSpec {
            kind: ProblemKind::Matrix,
            shape: vec![rows],
            matrix: Some(matrix),
            ..ProblemSpec::default()
        })));
    }
    let shape = input::natural_shape(path).map_err(|error| error.to_string())?;
    Ok(Read::Problem(Box::new(ProblemSpec {
        kind: ProblemKind::Picture,
        shape: shape.axes().to_vec(),
        batch: shape.batch(),
        rhs: Some(path.to_owned()),
        ..ProblemSpec::default()
    })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn a_run_that_is_made_for_another_ends_when_that_is_left() {
        let mut files = Files::new(&egui::Context::default());
        let mut endless = RunSpec::default();
        endless.problem.shape = vec![1 << 14];
        (endless.stop.tolerance, endless.stop.max_cycles) = (None, u64::MAX);
        files.retain_run(1);
        files.make_run(1, &endless, u64::MAX, How::Wipe, 1 << 20);
        files.retain_run(1);
        assert!(!files.made_for.1.is_due());
        files.retain_run(2);
        let begin = Instant::now();
        let result = loop {
            if let Some(result) = files.result() {
                break result;
            }
            assert!(begin.elapsed() < Duration::from_secs(100), "it goes on");
            std::thread::sleep(Duration::from_millis(1));
        };
        assert!(matches!(result, Ok(JobResult::Left)));
    }
}
