//! Takes reports of the worker, and results of file jobs.

use crate::app::explorer::Explorer;
use crate::app::explorer::files::{FilmEnd, JobResult, OtherRuns, Read, SavedFilm};
use crate::app::panes::list;
use crate::app::state::command::{BrowseFor, Command};
use crate::app::state::compare::{AtEqual, Compare, How};
use crate::app::state::pins;
use crate::app::state::session::elsewhere;
use crate::app::widgets::labels::capitalized;
use crate::grid::Precision;
use crate::picture::{Opened, counted};
use crate::run::{
    ArchivedRun, Backend, ExactState, InitialGuess, Outcome, Phase, ProblemKind, ProblemSpec,
    Report, RunSpec,
};
use crate::solver::{Kernel, SolverError};
use eframe::egui;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most errors of a lesson that are shown at once; `tilescope lesson --check` prints all of them.
const MOST_ERRORS: usize = 3;

impl Explorer {
    /// Drops files that can no longer be saved; a sentence for each.
    pub(super) fn drop_lost_files(&mut self) -> Vec<String> {
        let epoch = self.session.epoch;
        let report = self.report.as_deref().filter(|report| report.epoch == epoch);
        self.files.drop_lost(|of, field| {
            if of != epoch {
                return Some("the run was changed before the file was ready".to_owned());
            }
            report?.cannot_show(field).map(str::to_owned)
        })
    }

    pub(super) fn take_report(&mut self, report: Box<Report>) {
        self.stream_what_has_no_room(&report);
        self.toasts.set_run(Some(report.epoch));
        self.report_outcome(&report);
        self.toasts.set_run(None);
        if let Some(snapshot) = &report.snapshot {
            let previews = self.save.as_mut().is_some_and(|dialog| dialog.take(snapshot));
            if !previews {
                self.files.save(snapshot);
            }
        }
        self.session.rejection = None;
        self.session.auto_is = report.plan.backend();
        self.session.without_gpu = report.plan.without_gpu.as_ref().map(|why| match why {
            SolverError::Unavailable(why) => why.to_string(),
            why => why.to_string(),
        });
        self.map.take(&report, &self.session.view);
        let mut report = report;
        self.back.keep(&mut report, self.report.take());
        self.report = Some(report);
    }

    /// Where back end `auto` has no room for a run on the GPU, the run whose planes visit it takes its place: once, so that
    /// the change can be undone.
    fn stream_what_has_no_room(&mut self, report: &Report) {
        let Some(streamed) = &report.plan.streamed else { return };
        let is_current = report.epoch == self.session.epoch && self.session.drag.is_none();
        let is_known = self.streamed.as_ref() == Some(&report.plan.spec);
        if !is_current || is_known || *self.session.spec != report.plan.spec {
            return;
        }
        self.streamed = Some(report.plan.spec.clone());
        self.commands.push(Command::Change(streamed.spec.clone()));
        let mut on_cpu = report.plan.spec.clone();
        on_cpu.method.backend = Backend::Cpu;
        let text = format!("{}.", capitalized(&streamed.why.to_string()));
        self.toasts.info_with(text, Some(("Use the CPU", Command::Change(on_cpu))));
    }

    /// Shows once what a report contains: warnings, and how the run ended.
    fn report_outcome(&mut self, report: &Report) {
        let before = self.report.as_ref().filter(|before| before.epoch == report.epoch);
        if before.is_none()
            && let Some(warning) = report.plan.warning()
        {
            self.toasts.warning(warning);
        }
        if let (Some(speedup), Some(gpu)) = (report.slow_f64, &report.device)
            && !std::mem::replace(&mut self.has_said_slow_f64, true)
        {
            let mut run = report.plan.spec.clone();
            run.method.precision = Precision::F32;
            let text = format!("{gpu} computes f32 {speedup} times as fast as f64.");
            self.toasts.info_with(text, Some(("Use f32", Command::Change(run))));
        }
        let was_going = before.is_none_or(|before| !matches!(before.phase, Phase::Finished(_)));
        if let Phase::Finished(outcome) = &report.phase
            && was_going
        {
            match outcome {
                // The toolbar shows it.
                Outcome::Converged => {}
                Outcome::RoundingLimit => self.toasts.info(rounding_limit(report)),
                Outcome::OutOfCycles => {
                    let cycles = report.latest.cycle;
                    self.toasts
                        .info(format!("Stopped at the limit of {}.", counted(cycles, "cycle")));
                }
                Outcome::Diverged(why) => self.toasts.error(format!("Stopped: {why}.")),
            }
        }
        if let Some(loss) = &report.gpu_loss
            && before.is_none_or(|before| before.gpu_loss != report.gpu_loss)
        {
            self.toasts.warning(format!("{loss}."));
        }
        if let Phase::Failed { why } = &report.phase
            && before.is_none_or(|before| before.phase != report.phase)
        {
            let stopped = format!("Stopped: {why}. {}", elsewhere(report));
            let plan = &report.plan;
            let remedy = (plan.backend() == Backend::Cuda).then(|| with_cpu(&plan.spec));
            self.toasts.error_with(stopped, remedy);
        }
        if let ExactState::Failed(why) = &report.exact
            && before.is_none_or(|before| before.exact != report.exact)
        {
            self.toasts.error(format!("The error cannot be shown: {why}."));
        }
    }

    pub(super) fn take_result(
        &mut self,
        result: Result<JobResult, String>,
        context: &egui::Context,
    ) {
        match result {
            Ok(JobResult::Image(image)) => {
                context.copy_image(image);
                self.toasts.success("Image copied");
            }
            Ok(JobResult::Film(end)) => {
                self.files.end_film();
                match end {
                    Ok(SavedFilm { path, gpu_loss }) => {
                        self.save = None;
                        if let Some(loss) = gpu_loss {
                            self.toasts.warning(format!("{loss}."));
                        }
                        self.toasts.success(format!("Saved {}", path.display()));
                        self.recent.add(path);
                    }
                    Err(FilmEnd::Stopped) => {
                        self.toasts.info("The animation was stopped. Nothing was saved.");
                    }
                    Err(FilmEnd::Failed(why)) => self.toasts.error(why),
                }
            }
            Ok(JobResult::Saved(path)) => {
                self.toasts.success(format!("Saved {}", path.display()));
                self.recent.add(path);
            }
            Ok(JobResult::Read(path, Ok(read))) => {
                self.open = None;
                self.recent.add(path.clone());
                self.undo.record(&self.session, self.report.as_deref());
                match read {
                    Read::Run(opened) => self.show_opened(*opened),
                    Read::Problem(problem) => {
                        let mut spec = RunSpec::clone(&self.session.spec);
                        let with_guess = with_initial_guess(&spec, &problem, path);
                        let stop = problem.kind.default_stop();
                        let of_rows = self.session.spec.problem.kind == ProblemKind::Diffusion;
                        let problem = if of_rows { with_conductivity(*problem) } else { *problem };
                        spec.set_problem(problem, stop);
                        self.session.begin(spec);
                        if let Some(with_guess) = with_guess {
                            let remedy = ("Use as initial guess", Command::Change(with_guess));
                            self.toasts.of_run(self.session.epoch, |toasts| {
                                let text = "The array has the shape of the grid.";
                                toasts.info_with(text, Some(remedy));
                            });
                        }
                    }
                    Read::Lesson(read) => {
                        for error in read.errors.iter().take(MOST_ERRORS) {
                            self.toasts.error(error.to_string());
                        }
                        self.begin_lesson(Arc::new(read.lesson));
                    }
                }
            }
            Ok(JobResult::Read(path, Err(why))) => {
                let is_shown = self.open.as_mut().is_some_and(|dialog| dialog.fail(&path, &why));
                if !is_shown {
                    self.toasts.error(why);
                }
            }
            Ok(JobResult::Chosen(what, path)) => {
                self.is_browsing = false;
                match (what, path, &mut self.open, &mut self.save) {
                    (BrowseFor::Open(_), Some(path), Some(dialog), _) => {
                        dialog.choose(&path, &mut self.commands);
                    }
                    (BrowseFor::Save(_), Some(path), _, Some(dialog)) => dialog.set_path(&path),
                    _ => {}
                }
            }
            Ok(JobResult::OtherRuns(others)) => self.pin_others(&others),
            Ok(JobResult::MadeRun(epoch, made, how)) => {
                if epoch == self.session.epoch {
                    self.compare_with(&made, how);
                }
            }
            Ok(JobResult::Left) => {}
            Ok(JobResult::SettingsSaved(written)) => self.take_settings_saved(written),
            Err(why) => self.toasts.error(why),
        }
    }

    /// Shows an opened run, or what an opened figure shows.
    pub(super) fn show_opened(&mut self, opened: Opened) {
        self.session.begin(opened.run);
        self.template = opened.view;
        let Some(view) = &self.template else {
            return;
        };
        self.session.show(view);
        self.map.zoom_out();
        self.is_tuning = false;
        self.panes.show(list::of_figure(view.kind), true);
        self.files.make_others(self.session.epoch, view, self.session.memory_of_each());
    }

    /// Pins a run, and compares the run with it at equal sweeps.
    fn compare_with(&mut self, made: &ArchivedRun, how: How) {
        let number = self.session.pins.all().len();
        match self.session.pins.pin_made(made, number).map(|pin| pin.number) {
            Some(number) => {
                self.session.view.compare =
                    Compare { how, with: Some(number), at_equal: AtEqual::Sweeps };
                self.panes.show_pinned();
            }
            None => self.toasts.error(pins::too_many()),
        }
    }

    /// Pins the other runs of an opened figure, and compares the run with them as the figure does,
    /// unless the run changed meanwhile.
    fn pin_others(&mut self, others: &OtherRuns) {
        let mut numbers = Vec::new();
        for (number, made) in &others.made {
            match self.session.pins.pin_made(made, *number) {
                Some(pin) => numbers.push(pin.number),
                None => {
                    self.toasts.error(pins::too_many());
                    return;
                }
            }
        }
        let pins = self.session.pins.all();
        let first = pins.iter().find(|pin| Some(&pin.number) == numbers.first());
        if let Some(pin) = first.filter(|_| others.epoch == self.session.epoch) {
            let sweeps = others.cycle.saturating_mul(self.session.spec.sweeps_per_cycle());
            self.session.view.compare = Compare {
                how: if others.is_beside { How::SideBySide } else { How::Alone },
                with: Some(pin.number),
                at_equal: AtEqual::that_pairs(others.cycle, sweeps, pin, others.beside),
            };
        }
    }
}

/// The message of a run that stopped at the rounding limit.
fn rounding_limit(report: &Report) -> String {
    let cycles = report.latest.cycle;
    let mut text = format!("Rounding limit reached: cycles after {cycles} make no progress.");
    if report.plan.stop.tolerance.is_some() {
        text += " The run did not converge.";
    }
    text
}

/// For a run that only a GPU can make: the command that runs it on the CPU.
pub(super) fn on_cpu(run: &RunSpec) -> Option<(&'static str, Command)> {
    run.method.needs_gpu().then(|| with_cpu(run))
}

/// The command that continues a run on the CPU.
fn with_cpu(run: &RunSpec) -> (&'static str, Command) {
    let mut run = run.clone();
    run.method.backend = Backend::Cpu;
    if !run.kernels().contains(&run.method.kernel) {
        run.method.kernel = Kernel::AUTO;
    }
    ("Run on the CPU", Command::Change(run))
}

/// The run with an opened array as its initial guess, where that has the shape of its grid.
fn with_initial_guess(run: &RunSpec, opened: &ProblemSpec, path: PathBuf) -> Option<RunSpec> {
    let fits = (&opened.shape, opened.batch) == (&run.problem.shape, run.problem.batch);
    if !fits || !is_array(&path) {
        return None;
    }
    let mut run = run.clone();
    run.problem.set_initial_guess(Some(InitialGuess::File(path)));
    Some(run)
}

fn is_array(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("npy"))
}

/// The problem of an .npy array, with the array as conductivity in place of the right-hand side. Any other problem
/// stays as it is.
fn with_conductivity(problem: ProblemSpec) -> ProblemSpec {
    let is_of_array = problem.rhs.as_deref().is_some_and(is_array);
    if problem.kind != ProblemKind::Picture || !is_of_array {
        return problem;
    }
    let conductivity = problem.rhs;
    ProblemSpec { kind: ProblemKind::Diffusion, conductivity, rhs: None, ..problem }
}
