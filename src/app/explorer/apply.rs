//! Executes commands.

use crate::app::dialogs::open::{OpenDialog, OpenFor};
use crate::app::dialogs::palette::Palette;
use crate::app::dialogs::save::SaveDialog;
use crate::app::explorer::Explorer;
use crate::app::panes::{Panes, convergence, heat_map, probes, profile};
use crate::app::state::command::{Command, OpenSetting, TuningOrder};
use crate::app::state::compare::{Compare, How};
use crate::app::state::devices;
use crate::app::state::experiments::{EXPERIMENTS, ExampleExperiment};
use crate::app::state::pins;
use crate::app::state::save::SavedFigure;
use crate::app::state::scale::Scale;
use crate::app::state::undo::UndoSettings;
use crate::files;
use crate::run::{RunSpec, SnapshotRequest};
use eframe::egui;
use std::sync::Arc;

impl Explorer {
    /// Executes a command.
    pub fn apply(&mut self, command: Command, context: &egui::Context) {
        match command {
            Command::Change(mut spec) => {
                devices::fit(&mut spec, &self.session.spec);
                self.undo.record(&self.session, self.report.as_deref());
                let report = self.report.as_deref();
                if context.input(|input| input.pointer.any_down()) {
                    self.session.begin_drag(report, &[]);
                }
                let before = self.session.epoch;
                self.session.change(spec, report);
                if self.session.epoch != before {
                    self.keep_place_of_step();
                }
            }
            Command::BeginDrag(values) => {
                self.session.begin_drag(self.report.as_deref(), &values);
            }
            Command::HoldAt(hold_at) => self.session.hold_at = hold_at,
            Command::Undo => {
                let before = self.undo.undo(&self.session, self.report.as_deref());
                self.restore(before);
            }
            Command::Redo => {
                let next = self.undo.redo(&self.session, self.report.as_deref());
                self.restore(next);
            }
            Command::Run(running) => self.session.running = running,
            Command::Step(cycles) => {
                self.session.running = false;
                self.session.steps += cycles;
                self.session.travel.at = None;
            }
            Command::Reset => {
                self.undo.record(&self.session, self.report.as_deref());
                let spec = RunSpec::clone(&self.session.spec);
                self.session.begin(spec);
                self.session.running = false;
            }
            Command::Pace(pace) => self.session.pace = pace,
            Command::SetView(view) => {
                self.undo.record(&self.session, self.report.as_deref());
                self.session.view = view;
            }
            Command::Travel(travel) => self.session.travel = travel,
            Command::Preview(cycle) => self.session.travel.preview = Some(cycle),
            Command::Pin => _ = self.pin(),
            Command::Compare => {
                if let Some(number) = self.pin() {
                    self.undo.record(&self.session, self.report.as_deref());
                    let compare = &mut self.session.view.compare;
                    *compare = Compare { how: How::Wipe, with: Some(number), ..*compare };
                }
            }
            Command::Baseline(number) => self.session.pins.baseline = number,
            Command::Flip(flipped) => self.session.flipped = flipped,
            Command::Unpin(number) => self.session.pins.remove(number),
            Command::UnpinAll => self.session.pins.remove_all(),
            Command::Rename(number, name) => self.session.pins.rename(number, &name),
            Command::SortPins(sorted) => self.session.pins.sorted = sorted,
            Command::Memory(bytes) => self.session.memory = bytes,
            Command::ZoomOut => self.map.zoom_out(),
            Command::SetProfileLine(line) => {
                self.undo.record(&self.session, self.report.as_deref());
                self.session.view.profile.line = Some(line);
                if !self.panes.is_visible(profile::ID) {
                    self.panes.show(profile::ID, true);
                }
            }
            Command::ToggleProbe(point) => {
                self.session.view.toggle_probe(point);
                let is_first = self.session.view.probes == [point];
                if is_first && !self.panes.is_visible(probes::ID) {
                    self.panes.show(probes::ID, true);
                }
            }
            Command::ShowPane(pane, shown) => self.panes.show(pane, shown),
            Command::ShowTuning(shown) => self.is_tuning = shown,
            Command::Tune(TuningOrder::Begin(_)) if self.files.making().is_some() => {
                self.toasts.error(
                    "An animation is being created. Wait for it or stop it before measuring.",
                );
            }
            Command::Tune(order) => self.tuning.execute(order),
            Command::ResetLayout if self.before_lesson.is_some() => self.arrange_lesson(),
            Command::ResetLayout if self.scale.presenting => self.panes = Panes::presented(),
            Command::ResetLayout if self.session.is_student_view => {
                self.panes = Panes::of_student();
            }
            Command::ResetLayout => self.panes = Panes::default(),
            Command::ShowSave(true) if self.tuning.is_timing() => {
                self.toasts
                    .info("The tuning map is being measured. Pause it to save something else.");
            }
            Command::ShowSave(true)
                if self.is_tuning && self.tuning.show_save(self.recent.first_folder()) => {}
            Command::ShowSave(true) => {
                let (report, template) = (self.report.as_deref(), self.template.as_ref());
                let places = self.panes.places(&self.session);
                let mut dialog = SaveDialog::new(context, &self.session, report, places, template);
                if let Some(last) = self.last_saved.as_ref().filter(|_| template.is_none()) {
                    dialog.restore(last, self.session.view.field);
                }
                dialog.folder = self.recent.first_folder();
                dialog.can_browse = files::HAS_FOLDERS && self.has_system_dialog;
                self.save = Some(dialog);
            }
            Command::ShowSave(false) => {
                self.save = None;
                self.tuning.hide_save();
            }
            Command::SaveSweep(path, request) => {
                self.files.save_sweep(path, request);
                self.tuning.hide_save();
            }
            Command::OpenSetting(setting) => self.open_setting(*setting),
            Command::CompareWith(run) => {
                let (epoch, memory) = (self.session.epoch, self.session.memory_of_each());
                self.files.make_run(epoch, &run, u64::MAX, How::SideBySide, memory);
                self.toasts.of_run(epoch, |toasts| toasts.info("Running the best setting …"));
            }
            Command::ShowOpen(open) => {
                let folder = self.recent.first_folder();
                self.open = open.then(|| OpenDialog::new(OpenFor::Anything, folder));
            }
            Command::ShowOpenInitialGuess => {
                let folder = self.recent.first_folder();
                self.open = Some(OpenDialog::new(OpenFor::InitialGuess, folder));
            }
            Command::ShowPalette(open) => self.palette = open.then(Palette::default),
            Command::ShowKeys(open) => self.keys = open,
            Command::ShowWelcome(open) => {
                self.welcome = open;
                if !open && std::mem::take(&mut self.waits_for_welcome) {
                    self.session.running = true;
                }
            }
            Command::Lesson(order) => self.execute_lesson(order),
            Command::RunExperiment(which) => self.run_experiment(&EXPERIMENTS[which]),
            Command::Scale(scale) => self.draw_at(scale),
            Command::ToggleStudentView => self.show_student_view(!self.session.is_student_view),
            Command::TogglePresentation => {
                self.draw_at(Scale { presenting: !self.scale.presenting, ..self.scale });
            }
            Command::Save(request) => {
                match request.refusal(self.session.spec.problem.grid().as_ref()) {
                    Some(why) => self.toasts.error(why),
                    // The one before would go on with nothing to stop it.
                    None if request.view.frames.is_some() && self.files.making().is_some() => {
                        self.toasts.error("An animation is being made already; stop it first.");
                    }
                    None if request.view.frames.is_some() => {
                        self.last_saved = SavedFigure::of(&request).or(self.last_saved.take());
                        self.template = None;
                        self.files.film(*request, Arc::clone(&self.session.spec));
                    }
                    None => {
                        if request.what.figure().is_some() {
                            self.template = None;
                        }
                        self.last_saved = SavedFigure::of(&request).or(self.last_saved.take());
                        if let Some(report) = &self.report {
                            let shape = report.plan.problem.shape;
                            self.files.snapshot_request(*request, self.session.epoch, &shape);
                        }
                        self.save = None;
                    }
                }
            }
            Command::RequestPreview(snapshot_request) => {
                if let Some(dialog) = &mut self.save {
                    let snapshot_request =
                        SnapshotRequest { id: self.files.next(), ..snapshot_request };
                    dialog.ask(snapshot_request, context.input(|input| input.time));
                }
            }
            Command::CopyImage(snapshots, view) => self.files.copy_image(snapshots, *view),
            Command::CopyLink => self.copy_link(context),
            Command::StopFilm => self.files.stop_film(),
            Command::Open(path) => self.files.open(path),
            Command::OpenInitialGuess(path) => {
                self.files.open_initial_guess(path, RunSpec::clone(&self.session.spec));
            }
            Command::Browse(_) if self.is_browsing => {}
            Command::Browse(what) => {
                self.is_browsing = true;
                self.files.browse(what);
            }
            Command::Copy { text, what } => {
                context.copy_text(text);
                self.toasts.success(format!("{what} copied"));
            }
            Command::ToggleTheme => context.set_theme(match context.theme() {
                egui::Theme::Dark => egui::Theme::Light,
                egui::Theme::Light => egui::Theme::Dark,
            }),
        }
    }

    /// Pins the run, and returns its number; `None` if it cannot be pinned.
    fn pin(&mut self) -> Option<usize> {
        let report = self.report.as_deref();
        let report = report.filter(|report| report.epoch == self.session.epoch)?;
        let is_first = self.session.pins.all().is_empty();
        let number = match self.session.pins.pin(report) {
            Some(pin) => {
                self.toasts.success(format!("Pinned as {}", pin.name));
                Some(pin.number)
            }
            None => {
                self.toasts.error(pins::too_many());
                None
            }
        };
        if is_first {
            self.panes.show_pinned();
        }
        number
    }

    /// Sets the zoom. A presentation starts with the map and its curves; leaving it restores the
    /// panes.
    pub fn draw_at(&mut self, scale: Scale) {
        let is_changed = scale.presenting != self.scale.presenting;
        if is_changed && self.before_lesson.is_some() {
            self.scale = scale;
            self.arrange_lesson();
            return;
        }
        if is_changed {
            let others = self.panes_before.take().unwrap_or_else(Panes::presented);
            let before = std::mem::replace(&mut self.panes, others);
            self.panes_before = scale.presenting.then_some(before);
        }
        self.scale = scale;
    }

    /// Shows the student view, or everything again, with the panes that were shown before.
    pub fn show_student_view(&mut self, shown: bool) {
        let is_lesson = self.before_lesson.is_some();
        if self.scale.presenting || is_lesson || shown == self.session.is_student_view {
            return;
        }
        self.session.is_student_view = shown;
        let others = self.all_panes.take().unwrap_or_else(Panes::of_student);
        let before = std::mem::replace(&mut self.panes, others);
        self.all_panes = shown.then_some(before);
    }

    /// Runs an example experiment.
    fn run_experiment(&mut self, experiment: &ExampleExperiment) {
        self.undo.record(&self.session, self.report.as_deref());
        (self.welcome, self.waits_for_welcome) = (false, false);
        self.session.begin(experiment.run());
        self.session.view = experiment.view();
        (self.session.running, self.session.pace) = (true, experiment.pace);
        self.map.zoom_out();
        for pane in [heat_map::pane::ID, convergence::ID] {
            self.panes.show(pane, true);
        }
        // The sentence is about these settings.
        self.toasts.of_run(self.session.epoch, |toasts| toasts.info(experiment.about));
    }

    /// Opens a setting of the tuning map, where it is worth seeing.
    fn open_setting(&mut self, setting: OpenSetting) {
        let OpenSetting { run, at, about, best } = setting;
        self.undo.record(&self.session, self.report.as_deref());
        self.session.begin(run);
        (self.session.running, self.session.catch_up) = (false, Some(at));
        self.map.zoom_out();
        self.is_tuning = false;
        let remedy = best.map(|best| ("Compare with the best", Command::CompareWith(best)));
        self.toasts.of_run(self.session.epoch, |toasts| toasts.info_with(about, remedy));
    }

    /// Restores earlier settings, and returns to their run.
    fn restore(&mut self, choice: Option<UndoSettings>) {
        let Some(UndoSettings { run, view }) = choice else {
            return;
        };
        self.session.view = view;
        if run.epoch != self.session.epoch {
            self.session.return_to(run);
        } else if run.spec != self.session.spec {
            self.session.change(RunSpec::clone(&run.spec), self.report.as_deref());
        }
    }
}
