//! The dialog that saves: what, where, and in which style, with a preview.

mod beside;
mod film;
mod paper;
mod preview;
mod size;

use crate::app::state::command::{BrowseFor, Command};
use crate::app::state::compare::AtEqual;
use crate::app::state::save::{SaveRequest, SavedFigure, Sources, What};
use crate::app::state::session::Session;
use crate::app::state::view_settings::RangeMode;
use crate::app::widgets::cut_line;
use crate::app::widgets::labels::{named, sentence};
use crate::app::widgets::rows::{folder_row, row};
use crate::grid::Slice;
use crate::picture::{
    Camera, FigureFile, FigureKind, FigureSpec, FilmFile, Frames, InsideView, Norm, Over, Pairing,
    PlacedFigure, RATE, Range, SCREEN_DPI, ScaleKind, SlowLink, Spacing, Theme, ViewSpec,
    figure_command, is_table, why_without_run,
};
use crate::run::{CutLine, FieldKind, Report, Snapshot, SnapshotRequest};
use beside::With;
use eframe::egui::{self, Key, ProgressBar, RichText, TextEdit, Ui, vec2};
use paper::Unit;
use preview::{Preview, PreviewedFigure};
use size::SizeEstimate;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The progress of an animation that is being made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Making {
    /// Cycles that are made, or frames that are drawn, 0 to 1.
    pub share: f32,
    /// Whether frames are being drawn.
    pub is_drawing: bool,
}

/// The dialog, in points: it fits into the smallest window.
const CONTROLS: f32 = 400.0;
const ABOUT: f32 = 36.0;
const CHOICE: f32 = 20.0;
const ROWS: f32 = 466.0;
const PREVIEW: egui::Vec2 = vec2(440.0, 400.0);

/// The dialog while it is open.
pub struct SaveDialog {
    what: What,
    /// The folder of a name without one.
    pub folder: PathBuf,
    name: String,
    unit: Unit,
    /// Its size, its text and its theme; the colours are those of the window.
    figure: FigureSpec,
    cut: CutLine,
    /// The panes that can be drawn, and where they lie.
    places: Vec<PlacedFigure>,
    /// The pinned runs that are shown beside the run, where there can be any.
    with: With,
    is_film: bool,
    frames: Frames,
    /// The cycle that is shown; `None` while it changes, and that of the file is not known.
    cycle: Option<u64>,
    preview: Preview,
    size: SizeEstimate,
    /// Whether the system has a file dialog.
    pub can_browse: bool,
}

impl SaveDialog {
    /// The dialog as it opens: made for a figure like that which was opened last, if one was.
    pub fn new(
        context: &egui::Context,
        session: &Session,
        report: Option<&Report>,
        places: Vec<PlacedFigure>,
        like: Option<&ViewSpec>,
    ) -> Self {
        let latest = report.map_or(0, |report| report.latest.cycle);
        let travel = session.travel;
        let stands = !session.running || session.is_finished(report) || travel.at.is_some();
        let stands = stands && !travel.playing;
        let is_dark = context.theme() == egui::Theme::Dark;
        let theme = if is_dark { Theme::Dark } else { Theme::Light };
        let usual = FigureSpec { theme, ..FigureSpec::default() };
        let figure = like.map_or(usual, |view| view.figure);
        let what = like.map_or(What::of(FigureKind::default()), |view| What::of(view.kind));
        let chosen = session.view.compare.chosen(session.pins.all());
        let with = match (like.map(|view| view.compared.len()), chosen) {
            (Some(0), _) => With::None,
            (Some(1), Some(pin)) => With::One(pin.number),
            _ => With::All,
        };
        let usual = Frames {
            first: 0,
            last: latest.max(1),
            spacing: Spacing::Every((latest / 50).max(1)),
            rate: RATE,
        };
        let frames = like.and_then(|view| view.frames);
        let mut dialog = Self {
            what,
            folder: PathBuf::new(),
            name: String::new(),
            unit: if figure.dpi == SCREEN_DPI { Unit::Pixels } else { Unit::Centimetres },
            figure,
            cut: session.profile_line(),
            places: like
                .map(|view| &view.places)
                .filter(|own| !own.is_empty())
                .cloned()
                .unwrap_or(places),
            with,
            is_film: frames.is_some(),
            frames: frames.unwrap_or(usual),
            cycle: stands.then(|| travel.cycle(latest)),
            preview: Preview::new(context),
            size: SizeEstimate::new(context),
            can_browse: false,
        };
        dialog.suggest(session.view.field);
        dialog
    }

    /// Begins with the kind, the theme and the size of the figure that was saved last.
    pub fn restore(&mut self, last: &SavedFigure, field: FieldKind) {
        self.what = last.what();
        self.figure = last.style(self.figure);
        let is_screen = self.figure.dpi == SCREEN_DPI;
        self.unit = if is_screen { Unit::Pixels } else { Unit::Centimetres };
        self.suggest(field);
        self.name = Path::new(&self.name).with_extension(&last.ending).display().to_string();
    }

    /// Takes a path that was chosen in the system's dialog.
    pub fn set_path(&mut self, path: &Path) {
        self.name = path.display().to_string();
    }

    /// Takes what was captured for the preview; `false` if it was for a file.
    pub fn take(&mut self, snapshot: &Arc<Snapshot>) -> bool {
        self.preview.take(snapshot)
    }

    /// Notes that this request was sent to the worker, for the preview.
    pub fn ask(&mut self, snapshot_request: SnapshotRequest, now: f64) {
        self.preview.ask(snapshot_request, now);
    }

    /// The last request to the worker, for the preview.
    pub fn asked(&self) -> Option<&SnapshotRequest> {
        self.preview.asked()
    }

    /// Suggests a name for what is to be saved.
    fn suggest(&mut self, field: FieldKind) {
        let is_film = self.is_film && self.what.figure().is_some();
        let at = match self.cycle {
            _ if is_film => format!("-film-{}", self.frames.last),
            Some(cycle) if self.what.has_cycle() => format!("-cycle-{cycle}"),
            _ => String::new(),
        };
        let stem = format!("{}{at}", self.what.file_stem(field));
        let extension = if is_film { "gif" } else { self.what.extension() };
        self.name = format!("{stem}.{extension}");
    }

    fn is_film(&self) -> bool {
        self.is_film && self.what.figure().is_some() && !self.is_table()
    }

    fn is_table(&self) -> bool {
        self.what.has_table() && is_table(Path::new(&self.name))
    }

    /// The dialog. `making` is the animation that is under way, if one is.
    pub fn ui(
        &mut self,
        context: &egui::Context,
        session: &Session,
        report: Option<&Report>,
        shown: Option<Range>,
        making: Option<Making>,
        commands: &mut Vec<Command>,
    ) {
        let frame = egui::Frame::popup(&context.global_style()).inner_margin(16.0);
        let modal = egui::Modal::new(egui::Id::unique("save")).frame(frame);
        // Enter ends what is being typed elsewhere; it saves from the name alone, and from nowhere.
        let focused = context.memory(|memory| memory.focused());
        let may_enter = focused.is_none_or(|focused| focused == file_id());
        let response = modal.show(context, |ui| {
            ui.horizontal_top(|ui| {
                ui.vertical(|ui| {
                    ui.set_width(CONTROLS);
                    ui.heading("Save");
                    ui.add_space(4.0);
                    ui.add_enabled_ui(making.is_none(), |ui| self.controls(ui, session, report));
                    ui.add_space(8.0);
                    match making {
                        None => {
                            let request = self.request(session, report, shown);
                            self.buttons(ui, session, request, may_enter, commands);
                        }
                        Some(making) => progress(ui, making, commands),
                    }
                });
                ui.add_space(8.0);
                ui.vertical(|ui| {
                    let view = self.what.kind().map(|_| self.view(session, report, shown));
                    let sources = view.as_ref().map(|view| self.sources(session, report, view));
                    if let (Some(view), Some(report)) = (&view, report) {
                        let snapshot_request = view.snapshot_request(0, &report.plan.problem.shape);
                        let now = ui.input(|input| input.time);
                        if let Some(snapshot_request) =
                            self.preview.wants(snapshot_request, report.latest.cycle, now)
                        {
                            commands.push(Command::RequestPreview(snapshot_request));
                        }
                    }
                    ui.set_width(PREVIEW.x);
                    self.preview.ui(ui, view.as_ref().zip(sources.as_ref()), PREVIEW);
                    if let (Some(view), Some(sources), Some(newest), true) =
                        (&view, &sources, self.preview.newest(), self.is_film())
                    {
                        self.size.update(self.path(), view, sources, newest);
                    }
                    ui.add_space(4.0);
                    if self.what.kind().is_some() {
                        self.copy_buttons(ui, session, commands);
                        ui.add_space(4.0);
                    }
                    ui.add_enabled_ui(making.is_none(), |ui| self.subject(ui, session, report));
                });
            });
        });
        if response.should_close() {
            commands.push(match making {
                None => Command::ShowSave(false),
                Some(_) => Command::StopFilm,
            });
        }
    }

    fn controls(&mut self, ui: &mut Ui, session: &Session, report: Option<&Report>) {
        ui.set_min_height(ROWS);
        let field = session.view.field;
        let chosen = session.view.compare.chosen(session.pins.all());
        let others = usize::from(chosen.is_some());
        let view = ViewSpec {
            probes: session.probes(),
            places: self.places.clone(),
            ..ViewSpec::default()
        };
        let unmet = |kind: FigureKind| {
            let plan = &report?.plan;
            let geometry = plan.geometry();
            let unmet = kind.need().check(geometry.as_ref()).err().map(str::to_owned);
            unmet.or_else(|| Some(sentence(&kind.check_plan(plan).err()?)))
        };
        let all = What::all();
        let (first, second) = all.split_at(all.len().div_ceil(2));
        ui.columns_const(|[left, right]| {
            for (column, choices) in [(left, first), (right, second)] {
                column.spacing_mut().interact_size.y = CHOICE;
                for &what in choices {
                    let missing = what.figure().and_then(|kind| {
                        let missing = || kind.missing(&view, others).map(str::to_owned);
                        unmet(kind).or_else(missing)
                    });
                    let button = egui::RadioButton::new(self.what == what, what.label());
                    let button = column.add_enabled(missing.is_none(), button);
                    let button = button.on_hover_text(what.about());
                    let button = button.on_disabled_hover_text(missing.unwrap_or_default());
                    if button.clicked() {
                        self.what = what;
                        self.suggest(field);
                    }
                }
            }
        });
        ui.add_space(2.0);
        ui.vertical(|ui| {
            // Whether it has one line or two, nothing below it moves.
            ui.set_min_height(ABOUT);
            ui.label(RichText::new(self.what.about()).weak());
        });
        let about = "The name of the file, in the folder below unless the name contains a folder.";
        row(ui, "File", about, |ui| {
            let edit = TextEdit::singleline(&mut self.name).id(file_id()).desired_width(300.0);
            named(ui.add(edit), "File").on_hover_text(about);
        });
        folder_row(ui, &self.folder);
        if self.what.figure().is_some() {
            self.format(ui);
        }
        if self.what.has_page() && !self.is_table() {
            self.paper(ui);
        }
        if self.what.figure().is_some() && !self.is_table() {
            self.film(ui, field);
        }
    }

    /// Kinds of files, by the extension of the name.
    fn format(&mut self, ui: &mut Ui) {
        let stills: &[(&str, &str)] = &[
            ("png", "Pixels; carries the run."),
            ("svg", "Lines and text; carries the run."),
            ("pdf", "A page of lines and text; carries the run."),
            ("csv", "The numbers that are drawn, as a table."),
        ];
        let stills = if self.what.has_table() { stills } else { &stills[..3] };
        let films: &[(&str, &str)] = &[
            ("gif", "256 colours; plays anywhere."),
            ("apng", "Every pixel as it is; carries the run."),
            ("mp4", FilmFile::about_mp4()),
        ];
        let kinds = if self.is_film() { films } else { stills };
        row(ui, "Kind of file", "The extension of the file name.", |ui| {
            for (extension, about) in kinds {
                let path = Path::new(&self.name);
                let is_chosen = path.extension().is_some_and(|e| e.eq_ignore_ascii_case(extension));
                let button = ui.selectable_label(is_chosen, extension.to_uppercase());
                if button.on_hover_text(*about).clicked() {
                    self.name = path.with_extension(extension).display().to_string();
                }
            }
        });
    }

    /// The line that a profile follows.
    fn cut(&mut self, ui: &mut Ui, session: &Session, report: Option<&Report>) {
        let Some(plan) = report.map(|report| &report.plan) else { return };
        let slice = Slice::shown(session.view.slice, &plan.problem.shape);
        let shown = plan.shown(slice);
        self.cut = self.cut.within(shown.shape());
        row(ui, "Along", "The line through the field.", |ui| {
            ui.horizontal_wrapped(|ui| {
                cut_line::kinds(ui, &mut self.cut, &shown);
                cut_line::numbers(ui, &mut self.cut, shown.shape(), slice);
            });
        });
    }

    /// How large an animation is, and which line and which runs are drawn. It has room of its own whatever else is chosen, so
    /// that nothing moves.
    fn subject(&mut self, ui: &mut Ui, session: &Session, report: Option<&Report>) {
        if self.is_film() {
            let view = self.view(session, report, None);
            match report.and_then(|report| view.check_film(&report.plan.problem.shape).err()) {
                Some(refused) => _ = ui.label(RichText::new(sentence(&refused)).weak()),
                None => self.film_size(ui),
            }
        }
        if let Some(why) = self.why_without_run(session, report) {
            ui.label(RichText::new(why).weak());
        }
        if self.drawn().uses().cut {
            self.cut(ui, session, report);
        }
        if self.compares() && !session.pins.all().is_empty() {
            self.beside(ui, session);
            let has_others = !self.others(session, report).is_empty();
            let at_equal = session.view.compare.at_equal;
            let is_unrepeatable = matches!(at_equal, AtEqual::Time | AtEqual::Residual);
            if self.is_film() && has_others && is_unrepeatable {
                let text = "An animation compares runs at equal sweeps: times differ from run to run, and residuals are known only afterwards.";
                ui.label(RichText::new(text).weak());
            }
        }
    }

    /// Why the file will not carry the run, if it will not, in one sentence.
    fn why_without_run(&self, session: &Session, report: Option<&Report>) -> Option<String> {
        let path = self.path();
        let is_drawn = self.is_film() || FigureFile::of(&path).is_ok();
        self.what.figure().filter(|_| is_drawn)?;
        let others = self.others(session, report);
        let others = others.iter().map(|pin| &pin.archive.plan().spec);
        let why = why_without_run(&path, std::iter::once(&*session.spec).chain(others))?;
        Some(format!("{} {why}.", path.file_name()?.display()))
    }

    fn buttons(
        &self,
        ui: &mut Ui,
        session: &Session,
        request: SaveRequest,
        may_enter: bool,
        commands: &mut Vec<Command>,
    ) {
        ui.horizontal(|ui| {
            let named = !self.name.trim().is_empty();
            let save = ui.add_enabled(named, egui::Button::new("Save"));
            let enter = named && may_enter && ui.input(|input| input.key_pressed(Key::Enter));
            if save.on_hover_text("Write the file.").clicked() || enter {
                commands.push(Command::Save(request.into()));
            }
            if self.can_browse {
                let browse = ui.button("Browse …");
                if browse
                    .on_hover_text("Choose the name and the folder with the system's dialog.")
                    .clicked()
                {
                    commands.push(Command::Browse(BrowseFor::Save(self.path())));
                }
            }
            if ui.button("Cancel").on_hover_text("Close without saving.").clicked() {
                commands.push(Command::ShowSave(false));
            }
            if ui.button("Copy run").on_hover_text("Copy the run description (TOML).").clicked() {
                let text = session.spec.to_toml();
                commands.push(Command::Copy { text, what: "Run" });
            }
        });
    }

    /// The same without a file, of what the preview shows.
    fn copy_buttons(&self, ui: &mut Ui, session: &Session, commands: &mut Vec<Command>) {
        let shown = self.preview.shown();
        ui.horizontal(|ui| {
            let copy = ui.add_enabled(shown.is_some(), egui::Button::new("Copy image"));
            if copy.on_hover_text("Copy the image to the clipboard.").clicked()
                && let Some(PreviewedFigure { snapshots, view }) = shown.cloned()
            {
                commands.push(Command::CopyImage(snapshots, view.into()));
            }
            let copy = ui.add_enabled(shown.is_some(), egui::Button::new("Copy as command line"));
            let about = match shown.is_some_and(|shown| !shown.view.compared.is_empty()) {
                true => {
                    "Copy the command line that reproduces this figure; it reads the other runs from the file, which must be saved first."
                }
                false => "Copy the command line that reproduces this figure.",
            };
            if copy.on_hover_text(about).clicked()
                && let Some(shown) = shown
            {
                let text = figure_command(&session.spec, &shown.view, &self.path());
                commands.push(Command::Copy { text, what: "Command line" });
            }
        });
    }

    /// The figure that would be saved, without its cycle and the other runs, which come with what is drawn.
    pub fn view(
        &self,
        session: &Session,
        report: Option<&Report>,
        shown: Option<Range>,
    ) -> ViewSpec {
        let field = session.view.field;
        let colours = session.view.of_field(field);
        let drawn = self.drawn();
        // The range of a single frame is found by the figure itself; any other is that of the window.
        let uses = drawn.uses();
        let range = shown.filter(|_| {
            uses.field && !matches!(colours.range, RangeMode::ThisFrame | RangeMode::Follow)
        });
        let over = session.view.against.over();
        let numbers = self.others(session, report).into_iter().map(|pin| pin.number);
        let numbers: Vec<_> = numbers.collect();
        let is_plain = numbers.iter().copied().eq(0..numbers.len());
        let is_line = session.spec.problem.shape.len() == 1;
        let InsideView { all_of_line, .. } = session.view.inside;
        let inside = InsideView { all_of_line: all_of_line && is_line, ..session.view.inside };
        // A profile has a scale of its own; all other kinds have that of the map.
        let (scale, absolute) = match (drawn.kind == FigureKind::PROFILE, session.view.profile.log)
        {
            (true, true) => (ScaleKind::Log, false),
            (true, false) => (ScaleKind::Linear, false),
            (false, _) => (colours.scale, colours.absolute),
        };
        ViewSpec {
            field,
            over: if uses.over { over } else { Over::default() },
            log_x: uses.over && session.view.log_x,
            asymptotic_rate: uses.rate && session.view.asymptotic_rate,
            norm: if uses.norm { session.view.norm } else { Norm::default() },
            // Of the run that is saved, whose first report may be still to come.
            slice: session
                .spec
                .problem
                .grid()
                .and_then(|shape| Slice::shown(session.view.slice, &shape)),
            projection: uses.projection
                && session.view.projection
                && session.spec.problem.shape.len() == 3,
            camera: if uses.camera { session.view.camera } else { Camera::default() },
            slow_link: if uses.slow_link { session.view.slow_link } else { SlowLink::default() },
            through: session.view.through.filter(|_| uses.through),
            cut: uses.cut.then_some(self.cut),
            probes: if uses.probes { session.probes() } else { Vec::new() },
            inside: if uses.inside { inside } else { InsideView::default() },
            pairing: match self.is_film() && !numbers.is_empty() {
                true => session.view.compare.at_equal.pairing(),
                false => Pairing::default(),
            },
            colours: if is_plain { Vec::new() } else { numbers },
            frames: self.is_film().then_some(self.frames),
            figure: FigureSpec {
                scale,
                absolute,
                map: colours.map,
                range,
                borders: session.view.borders || drawn.kind.always_has_borders(),
                ..self.figure
            },
            ..drawn
        }
    }

    /// What is drawn, and where, without the run and its settings.
    fn drawn(&self) -> ViewSpec {
        let kind = self.what.kind().unwrap_or_default();
        let places = self.places.clone();
        let places = if kind == FigureKind::ARRANGEMENT { places } else { Vec::new() };
        ViewSpec { kind, places, ..ViewSpec::default() }
    }

    fn sources(&self, session: &Session, report: Option<&Report>, view: &ViewSpec) -> Sources {
        let others = self.others(session, report).into_iter().cloned().collect();
        Sources::of(session, report, view, others)
    }

    /// An absolute path replaces the folder.
    fn path(&self) -> PathBuf {
        self.folder.join(self.name.trim())
    }

    fn request(
        &self,
        session: &Session,
        report: Option<&Report>,
        shown: Option<Range>,
    ) -> SaveRequest {
        let view = self.view(session, report, shown);
        let sources = self.sources(session, report, &view);
        SaveRequest { what: self.what, path: self.path(), view, sources }
    }
}

/// The field of the name.
fn file_id() -> egui::Id {
    egui::Id::unique("the name of the file to be saved")
}

/// The progress of an animation.
fn progress(ui: &mut Ui, making: Making, commands: &mut Vec<Command>) {
    let what = if making.is_drawing { "drawing frames" } else { "computing cycles" };
    ui.horizontal(|ui| {
        let bar = ProgressBar::new(making.share).text(what).desired_width(300.0);
        ui.add(bar).on_hover_text("The animation is created in the background.");
        if ui.button("Stop").on_hover_text("Stop the animation; nothing is saved.").clicked() {
            commands.push(Command::StopFilm);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::any::view;
    use proptest::prelude::*;

    #[test]
    fn a_name_tells_the_cycle_if_it_is_known() {
        let context = egui::Context::default();
        let mut session = Session::default();
        for (running, playing, at, name) in [
            (false, false, None, "residual-cycle-0.png"),
            (true, false, None, "residual.png"),
            (true, false, Some(7), "residual-cycle-0.png"),
            (true, true, Some(7), "residual.png"),
        ] {
            session.running = running;
            (session.travel.playing, session.travel.at) = (playing, at);
            assert_eq!(SaveDialog::new(&context, &session, None, Vec::new(), None).name, name);
        }
    }

    /// A view as far as the dialog can express it in 2D: no kind by two names, and nothing that its kind does
    /// not show. The cycle and the second run come with what is drawn.
    fn expressible(view: &ViewSpec, session: &Session) -> ViewSpec {
        let mut view_again = ViewSpec {
            cycle: 0,
            until: None,
            classic: None,
            chebyshev: None,
            conjugate_gradients: None,
            slice: None,
            projection: false,
            through: view.through.filter(|_| view.uses().through),
            camera: if view.uses().camera { view.camera } else { Camera::default() },
            slow_link: if view.uses().slow_link { view.slow_link } else { SlowLink::default() },
            pairing: Pairing::default(),
            colours: Vec::new(),
            compared: Vec::new(),
            ..view.clone()
        };
        let uses = view.uses();
        if !view.kind.is_in_menus() {
            view_again.kind = FigureKind::HEAT_MAP;
        }
        if view.kind != FigureKind::ARRANGEMENT {
            view_again.places.clear();
        }
        if !uses.over {
            (view_again.over, view_again.log_x) = (Over::default(), false);
        }
        view_again.asymptotic_rate &= uses.rate;
        if !uses.norm {
            view_again.norm = Norm::default();
        }
        view_again.probes = if uses.probes { session.probes() } else { Vec::new() };
        view_again.inside.all_of_line = false;
        if !uses.inside {
            view_again.inside = InsideView::default();
        }
        if !uses.field {
            view_again.figure.range = None;
        }
        view_again.cut = uses.cut.then(|| session.profile_line());
        if view.kind == FigureKind::PROFILE {
            view_again.figure.absolute = false;
            if view.figure.scale != ScaleKind::Log {
                view_again.figure.scale = ScaleKind::Linear;
            }
        }
        view_again.figure.borders |= view.kind.always_has_borders();
        view_again
    }

    proptest! {
        #[test]
        fn after_a_figure_was_opened_the_dialog_makes_another_like_it(view in view()) {
            let mut session = Session::default();
            session.show(&view);
            let context = egui::Context::default();
            let dialog = SaveDialog::new(&context, &session, None, Vec::new(), Some(&view));
            let again = dialog.view(&session, None, view.figure.range);
            prop_assert_eq!(again, expressible(&view, &session));
            if let Some(cut) = view.cut {
                prop_assert_eq!(session.profile_line(), cut);
            }
        }
    }
}
