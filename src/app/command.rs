//! What a panel may ask for, and how it is done.

use super::Explorer;
use super::open_dialog::OpenDialog;
use super::palette::Palette;
use super::panes::{Pane, Panes};
use super::pins::{self, Column};
use super::save_dialog::{SaveDialog, SaveRequest};
use super::scale::Scale;
use super::session::Look;
use super::travel::Travel;
use super::tuning;
use super::undo::Choice;
use super::welcome::{EXPERIMENTS, Experiment};
use crate::picture::ViewSpec;
use crate::run::{CutLine, RunSpec, Snapshot, SnapshotRequest};
use eframe::egui;
use std::path::PathBuf;
use std::sync::Arc;

/// What a panel, a key or a dropped file asks for.
#[derive(Clone, Debug)]
pub(super) enum Command {
    /// Another run, from cycle 0; or the same elsewhere, from where it is.
    Change(RunSpec),
    /// Take the last change of a setting back.
    Undo,
    /// Make it again.
    Redo,
    /// Go on, or wait.
    Run(bool),
    /// So many cycles more.
    Step(u64),
    /// Back to cycle 0.
    Reset,
    /// Cycles a second at the most.
    Pace(Option<f64>),
    /// Look at something else, or otherwise.
    Look(Look),
    /// Show another cycle, or play cycles.
    Travel(Travel),
    /// Show a cycle for as long as it is pointed at: in this frame.
    Preview(u64),
    /// Show the pinned run in the place of the run, or no longer.
    Flip(bool),
    /// Pin the run, to compare it with others.
    Pin,
    /// Let a pinned run go.
    Unpin(usize),
    /// Call a pinned run otherwise.
    Rename(usize, String),
    /// Sort the pinned runs.
    SortPins(Option<(Column, bool)>),
    /// Bytes that may be taken to keep iterates.
    Memory(usize),
    /// Show all of the grid.
    ZoomOut,
    /// Show the fields along this line.
    CutAlong(CutLine),
    /// Follow a point of the map over the cycles, or no longer.
    ToggleProbe([usize; 2]),
    /// Show a pane, or hide it.
    ShowPane(Pane, bool),
    /// Show the tuning map in place of the panes, or the panes again.
    ShowTuning(bool),
    /// Measure a tuning map, wait, go on, or stop.
    Tune(tuning::Order),
    /// Put every pane back where it was at first.
    ArrangePanes,
    /// Open the dialog that saves files, or close it.
    ShowSave(bool),
    /// Open the dialog that opens files, or close it.
    ShowOpen(bool),
    /// Open the palette of all actions, or close it.
    ShowPalette(bool),
    /// Open the sheet of keys, or close it.
    ShowKeys(bool),
    /// Show the GPU with experiments worth seeing, or close it.
    ShowWelcome(bool),
    /// Make one of them, by its place among them.
    Try(usize),
    /// Save a file.
    Save(Box<SaveRequest>),
    /// Look at the run for the preview of a file.
    LookForFile(SnapshotRequest),
    /// Put a picture on the clipboard.
    CopyImage(Arc<[Snapshot]>, Box<ViewSpec>),
    /// Make the animation no further.
    StopFilm,
    /// Open a run file, a figure, a picture or an array.
    Open(PathBuf),
    /// Put text on the clipboard, and say so.
    Copy { text: String, what: &'static str },
    /// A light window instead of a dark one, or the other way round.
    SwitchTheme,
    /// Draw everything larger or smaller.
    Scale(Scale),
    /// The map and its curves as large as the window has room for, or all as before.
    Present,
}

impl Explorer {
    /// Does what was asked for.
    pub(super) fn carry_out(&mut self, command: Command, context: &egui::Context) {
        match command {
            Command::Change(spec) => {
                self.undo.note(&self.session);
                self.session.change(spec);
            }
            Command::Undo => {
                let before = self.undo.back(&self.session);
                self.choose(before);
            }
            Command::Redo => {
                let next = self.undo.forth(&self.session);
                self.choose(next);
            }
            Command::Run(running) => self.session.running = running,
            Command::Step(cycles) => {
                self.session.running = false;
                self.session.steps += cycles;
                self.session.travel.at = None;
            }
            Command::Reset => {
                let spec = RunSpec::clone(&self.session.spec);
                self.session.begin(spec);
                self.session.running = false;
            }
            Command::Pace(pace) => self.session.pace = pace,
            Command::Look(look) => {
                self.undo.note(&self.session);
                self.session.look = look;
            }
            Command::Travel(travel) => self.session.travel = travel,
            Command::Preview(cycle) => self.session.travel.preview = Some(cycle),
            Command::Pin => {
                let report = self.report.as_deref();
                if let Some(report) = report.filter(|report| report.epoch == self.session.epoch) {
                    let is_first = self.session.pins.all().is_empty();
                    match self.session.pins.pin(report) {
                        Some(pin) => self.toasts.success(format!("Pinned as {}", pin.name)),
                        None => self.toasts.error(pins::too_many()),
                    }
                    if is_first {
                        self.panes.show_pinned();
                    }
                }
            }
            Command::Flip(flipped) => self.session.flipped = flipped,
            Command::Unpin(number) => self.session.pins.remove(number),
            Command::Rename(number, name) => self.session.pins.rename(number, &name),
            Command::SortPins(sorted) => self.session.pins.sorted = sorted,
            Command::Memory(bytes) => self.session.memory = bytes,
            Command::ZoomOut => self.map.zoom_out(),
            Command::CutAlong(line) => {
                self.undo.note(&self.session);
                self.session.look.cut.line = Some(line);
                if !self.panes.is_seen(Pane::Cut) {
                    self.panes.show(Pane::Cut, true);
                }
            }
            Command::ToggleProbe(point) => {
                self.session.look.toggle_probe(point);
                let is_first = self.session.look.probes == [point];
                if is_first && !self.panes.is_seen(Pane::Probes) {
                    self.panes.show(Pane::Probes, true);
                }
            }
            Command::ShowPane(pane, shown) => self.panes.show(pane, shown),
            Command::ShowTuning(shown) => self.is_tuning = shown,
            Command::Tune(tuning::Order::Begin(_)) if self.files.making().is_some() => {
                self.toasts
                    .error("An animation is being made; measure when it is done, or stop it.");
            }
            Command::Tune(order) => self.tuning.obey(order),
            Command::ArrangePanes if self.scale.presenting => self.panes = Panes::presented(),
            Command::ArrangePanes => self.panes = Panes::default(),
            Command::ShowSave(true) if self.tuning.is_timing() => {
                self.toasts
                    .info("The tuning map is being measured; pause it to save something else.");
            }
            Command::ShowSave(true) => {
                let (report, like) = (self.report.as_deref(), self.like.as_ref());
                let places = self.panes.places(&self.session);
                self.save = Some(SaveDialog::new(context, &self.session, report, places, like));
            }
            Command::ShowSave(false) => self.save = None,
            Command::ShowOpen(open) => self.open = open.then(OpenDialog::new),
            Command::ShowPalette(open) => self.palette = open.then(Palette::default),
            Command::ShowKeys(open) => self.keys = open,
            Command::ShowWelcome(open) => self.welcome = open,
            Command::Try(which) => self.try_out(&EXPERIMENTS[which]),
            Command::Scale(scale) => self.draw_at(scale),
            Command::Present => {
                self.draw_at(Scale { presenting: !self.scale.presenting, ..self.scale });
            }
            Command::Save(request) => match request.refusal() {
                Some(why) => self.toasts.error(why),
                None if request.view.frames.is_some() => {
                    self.like = None;
                    self.files.film(*request, Arc::clone(&self.session.spec));
                }
                None => {
                    if request.what.is_picture() {
                        self.like = None;
                    }
                    if let Some(report) = &self.report {
                        let shape = report.plan.problem.shape;
                        self.files.snapshot_request(*request, self.session.epoch, &shape);
                    }
                    self.save = None;
                }
            },
            Command::LookForFile(snapshot_request) => {
                if let Some(dialog) = &mut self.save {
                    let snapshot_request =
                        SnapshotRequest { id: self.files.next(), ..snapshot_request };
                    dialog.ask(snapshot_request, context.input(|input| input.time));
                }
            }
            Command::CopyImage(snapshots, view) => self.files.copy_image(snapshots, *view),
            Command::StopFilm => self.files.stop_film(),
            Command::Open(path) => self.files.open(path),
            Command::Copy { text, what } => {
                context.copy_text(text);
                self.toasts.success(format!("{what} copied"));
            }
            Command::SwitchTheme => context.set_theme(match context.theme() {
                egui::Theme::Dark => egui::Theme::Light,
                egui::Theme::Light => egui::Theme::Dark,
            }),
        }
    }

    /// Draws everything at another scale. A presentation begins with the map and its curves alone;
    /// after it the panes lie again as before.
    pub(super) fn draw_at(&mut self, scale: Scale) {
        if scale.presenting != self.scale.presenting {
            let others = self.aside.take().unwrap_or_else(Panes::presented);
            let before = std::mem::replace(&mut self.panes, others);
            self.aside = scale.presenting.then_some(before);
        }
        self.scale = scale;
    }

    /// Makes an experiment, and shows what is to be seen in it.
    fn try_out(&mut self, experiment: &Experiment) {
        self.undo.note(&self.session);
        self.welcome = false;
        self.session.begin(experiment.run());
        self.session.look = experiment.look();
        (self.session.running, self.session.pace) = (true, experiment.pace);
        self.map.zoom_out();
        for pane in [Pane::HeatMap, Pane::Convergence] {
            self.panes.show(pane, true);
        }
        self.toasts.info(experiment.about);
    }

    /// Takes over what was chosen before.
    fn choose(&mut self, choice: Option<Choice>) {
        let Some(Choice { spec, look }) = choice else {
            return;
        };
        self.session.look = look;
        if *spec != *self.session.spec {
            self.session.change(RunSpec::clone(&spec));
        }
    }
}

impl super::session::Session {
    /// Takes another description: of another run, or of the same that is to go on elsewhere.
    fn change(&mut self, spec: RunSpec) {
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
