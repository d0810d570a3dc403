//! The application: settings, the state of the run, and what is on the screen.

mod action_table;
mod apply;
mod browse;
#[cfg(not(target_arch = "wasm32"))]
pub mod desktop;
mod files;
mod frame;
mod lessons;
mod link;
#[cfg(target_arch = "wasm32")]
mod page;
mod reports;
mod save_settings;
mod settings;

use crate::app::dialogs::open::OpenDialog;
use crate::app::dialogs::palette::Palette;
use crate::app::dialogs::save::SaveDialog;
use crate::app::dialogs::{drop_hint, first_key, keys, lessons as lesson_list, toasts, welcome};
use crate::app::explorer::action_table::ACTIONS;
use crate::app::panels::backend::Backends;
use crate::app::panels::toolbar::{self, RunStatus};
use crate::app::panels::{lesson as lesson_panel, memory, method, performance, problem, timeline};
use crate::app::panes::heat_map::HeatMap;
use crate::app::panes::{PaneContext, Panes, Pictures};
use crate::app::state::command::Command;
use crate::app::state::reached_rate::ReachedRate;
use crate::app::state::recent::RecentFiles;
use crate::app::state::save::SavedFigure;
use crate::app::state::scale::Scale;
use crate::app::state::session::Session;
use crate::app::state::time_travel::TimeTravel;
use crate::app::state::undo::Undo;
use crate::app::tuning::Tuning;
use crate::app::widgets::theme;
use crate::picture::{Opened, ViewSpec};
use crate::run::{Report, RunSpec, Worker, WorkerRequest};
use eframe::egui;
use lessons::BeforeLesson;
pub use settings::SettingsFile;
use std::collections::{BTreeMap, BTreeSet};

/// The application: settings, the state of the run, and what is on the screen.
pub struct Explorer {
    session: Session,
    worker: Worker,
    /// The newest report; its observation is of the shown cycle.
    report: Option<Box<Report>>,
    back: TimeTravel,
    reached: ReachedRate,
    map: HeatMap,
    pictures: Pictures,
    panes: Panes,
    /// The panes before the presentation mode, while that is on.
    panes_before: Option<Panes>,
    /// The panes before the student view, while that is on.
    all_panes: Option<Panes>,
    tuning: Tuning,
    /// Whether the tuning map is shown in place of the panes.
    is_tuning: bool,
    save: Option<SaveDialog>,
    /// The view of the last opened figure: the next saved figure starts from it.
    template: Option<ViewSpec>,
    open: Option<OpenDialog>,
    recent: RecentFiles,
    /// Whether the system has a file dialog, and whether it is open.
    has_system_dialog: bool,
    is_browsing: bool,
    /// The style of the figure that was saved last.
    last_saved: Option<SavedFigure>,
    palette: Option<Palette>,
    /// The first of two keys, once it was pressed.
    first_key: Option<egui::Key>,
    /// Whether the keyboard shortcuts are shown.
    keys: bool,
    /// Whether the welcome dialog is open.
    welcome: bool,
    /// Whether the first run starts when that dialog is closed.
    waits_for_welcome: bool,
    /// Whether the list of lessons is open.
    is_lesson_list: bool,
    /// What the reader had before the lesson, while there is one.
    before_lesson: Option<BeforeLesson>,
    /// The names of lessons that were read to their end.
    lessons_done: BTreeSet<String>,
    /// The steps at which other lessons were left.
    lessons_begun: BTreeMap<String, usize>,
    undo: Undo,
    scale: Scale,
    /// Dropped before `remembered`, so that the last change of settings is written last.
    files: files::Files,
    settings_file: SettingsFile,
    backends: Backends,
    /// Whether the notice that the GPU is slow in f64 was shown.
    has_said_slow_f64: bool,
    /// The run that had no room on the GPU last, in whose place another was made there.
    streamed: Option<RunSpec>,
    toasts: toasts::Toasts,
    /// The last request to the worker.
    last_request: Option<WorkerRequest>,
    /// The commands of the last frame.
    commands: Vec<Command>,
}

impl Explorer {
    /// The application with the default run, or with what was opened. Settings are not saved.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn new(context: &egui::Context, start: Option<Opened>) -> std::io::Result<Self> {
        Self::with_settings(context, start, SettingsFile::default())
    }

    /// The same with saved settings.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn with_settings(
        context: &egui::Context,
        start: Option<Opened>,
        settings_file: SettingsFile,
    ) -> std::io::Result<Self> {
        theme::set_up(context);
        let repaint = context.clone();
        let worker = Worker::start(move || repaint.request_repaint())?;
        let mut explorer = Self {
            session: Session::default(),
            worker,
            report: None,
            back: TimeTravel::new(context)?,
            reached: ReachedRate::default(),
            map: HeatMap::default(),
            pictures: Pictures::default(),
            panes: Panes::default(),
            panes_before: None,
            all_panes: None,
            tuning: Tuning::new(context)?,
            is_tuning: false,
            save: None,
            template: None,
            open: None,
            recent: RecentFiles::default(),
            has_system_dialog: browse::has_system_dialog(),
            is_browsing: false,
            last_saved: None,
            palette: None,
            first_key: None,
            keys: false,
            welcome: false,
            waits_for_welcome: false,
            is_lesson_list: false,
            before_lesson: None,
            lessons_done: BTreeSet::new(),
            lessons_begun: BTreeMap::new(),
            undo: Undo::default(),
            scale: Scale::default(),
            settings_file,
            files: files::Files::new(context),
            backends: Backends::look_for(),
            has_said_slow_f64: false,
            streamed: None,
            toasts: toasts::Toasts::default(),
            last_request: None,
            commands: Vec::new(),
        };
        explorer.restore_settings(context);
        if let Some(opened) = start {
            // A start with a file needs no examples.
            explorer.end_welcome();
            explorer.show_opened(opened);
        }
        Ok(explorer)
    }
}

impl eframe::App for Explorer {
    fn logic(&mut self, context: &egui::Context, _: &mut eframe::Frame) {
        self.update(context);
    }

    fn ui(&mut self, ui: &mut egui::Ui, _: &mut eframe::Frame) {
        let Self {
            session,
            worker,
            report,
            back,
            reached,
            map,
            pictures,
            panes,
            tuning,
            save,
            open,
            commands,
            ..
        } = self;
        let (backends, is_tuning) = (&self.backends, self.is_tuning);
        // A presentation shows only the sliders of the method.
        let presenting = self.scale.presenting && !is_tuning;
        let report = report.as_deref();
        egui::Panel::top("toolbar").show(ui, |ui| {
            let run = RunStatus {
                report,
                reached: reached.known(),
                waits: tuning.is_timing(),
                reading: worker.reading(),
            };
            toolbar::ui(ui, session, run, panes, presenting, commands);
            if presenting && !method::is_short(session) {
                ui.horizontal_wrapped(|ui| method::strip(ui, session, commands));
            }
        });
        let timeline = |ui: &mut egui::Ui, commands: &mut Vec<Command>| {
            egui::Panel::bottom("timeline").show(ui, |ui| {
                timeline::ui(ui, session, report, presenting, back.under_way(), commands);
            });
        };
        // A presentation has the sliders beside the timeline, which take the whole width.
        if presenting {
            timeline(ui, commands);
        }
        if session.lesson.is_some() && !is_tuning {
            let panel = egui::Panel::left("lesson").resizable(false);
            panel.exact_size(lesson_panel::WIDTH).show(ui, |ui| {
                lesson_panel::ui(ui, session, report, presenting, commands);
            });
        } else if !presenting {
            let panel = egui::Panel::left("settings").resizable(false);
            panel.exact_size(theme::SETTINGS_WIDTH).show(ui, |ui| {
                egui::ScrollArea::vertical().show(ui, |ui| {
                    if is_tuning {
                        tuning.panel(ui, session, commands);
                        return;
                    }
                    method::ui(ui, session, report, commands);
                    let rest = |ui: &mut egui::Ui, commands: &mut Vec<Command>| {
                        method::device(ui, session, backends, commands);
                        performance::ui(ui, session, report);
                        problem::ui(ui, session, report, commands);
                        memory::ui(ui, session, report, commands);
                    };
                    if session.is_student_view {
                        let more = egui::CollapsingHeader::new("More");
                        let more = more.show(ui, |ui| rest(ui, commands)).header_response;
                        more.on_hover_text("Precision, device, performance, problem and memory.");
                    } else {
                        rest(ui, commands);
                    }
                });
            });
        }
        if !presenting {
            timeline(ui, commands);
        }
        let frame = egui::Frame::new().fill(ui.visuals().panel_fill);
        let centre = egui::CentralPanel::no_frame().frame(frame).show(ui, |ui| {
            if is_tuning {
                map.leave();
                tuning.ui(ui, session, commands);
                return;
            }
            let marks = panes.marks(session);
            let context = PaneContext {
                session,
                report,
                presenting,
                compared: back.compared(),
                map: &mut *map,
                pictures,
                marks,
                commands: &mut *commands,
            };
            panes.ui(ui, context);
        });
        let shown = map.area().unwrap_or(centre.response.rect);
        if let Some(dialog) = save {
            let shown = map.range(session.view.field);
            dialog.ui(ui.ctx(), session, report, shown, self.files.making(), commands);
        }
        if let Some(dialog) = open {
            dialog.ui(ui.ctx(), self.recent.all(), self.has_system_dialog, commands);
        }
        if let Some(mut palette) = self.palette.take() {
            let commands = palette.ui(&ACTIONS.all, &self.action_context(ui.ctx()));
            self.commands.extend(commands);
            self.palette = Some(palette);
        }
        if self.keys {
            keys::ui(ui.ctx(), &ACTIONS.all, &mut self.commands);
        }
        if self.welcome {
            welcome::ui(ui.ctx(), &mut self.commands);
        }
        if self.is_lesson_list {
            let (done, begun) = (&self.lessons_done, &self.lessons_begun);
            lesson_list::ui(ui.ctx(), done, begun, &mut self.commands);
        }
        // Over the welcome they would cover its buttons; they wait until it is closed.
        if !self.welcome {
            self.commands.extend(self.toasts.show(ui.ctx(), shown));
        }
        if let Some(first) = self.first_key {
            first_key::hint(ui.ctx(), &ACTIONS.all, first);
        }
        drop_hint::ui(ui.ctx());
        // A preview is requested in each frame.
        self.session.travel.preview = None;
        self.apply_commands(ui.ctx());
    }
}
