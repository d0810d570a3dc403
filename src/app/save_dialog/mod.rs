//! The dialog that saves: what, where, and what it looks like, with a preview.

mod preview;
mod sources;
mod what;

use super::command::Command;
use super::pins::Pin;
use super::session::{RangeMode, Session};
use super::theme::row;
use super::toolbar::{named, typed};
use crate::grid::Shape;
use crate::picture::{
    FONT_SIZES, FigureKind, FigureSpec, FilmFile, Frames, LARGEST_SIDE, Over, Place, RATE, RATES,
    Range, SCREEN_DPI, SMALLEST_SIDE, Spacing, Theme, ViewSpec, figure_command,
};
use crate::run::{Capture, Captured, CutLine, FieldKind, Part, Report};
use eframe::egui::{self, ComboBox, Key, ProgressBar, RichText, TextEdit, Ui, vec2};
use preview::{Preview, Shown};
pub(super) use sources::Sources;
use std::path::{Path, PathBuf};
use std::sync::Arc;
pub(super) use what::What;

/// A file to be saved.
#[derive(Clone, Debug)]
pub(super) struct SaveRequest {
    pub what: What,
    pub path: PathBuf,
    /// What is drawn, or looked at.
    pub view: ViewSpec,
    /// What it is drawn from.
    pub sources: Sources,
}

impl SaveRequest {
    /// What has to be captured of a run on this grid. Nothing is looked at that goes into no file.
    pub fn capture(&self, id: u64, shape: &Shape) -> Capture {
        let wanted = self.view.capture(id, shape);
        let bare = Capture { field: FieldKind::default(), most: [1, 1], ..wanted.clone() };
        match self.what {
            What::Run | What::CurveTable => bare,
            What::Iterate => Capture { solution: true, ..bare },
            What::Field => Capture { part: Part::Iterate, ..wanted },
            _ => wanted,
        }
    }

    /// Why it cannot be done, if that is known beforehand.
    pub fn refusal(&self) -> Option<String> {
        let sides = ["width", "height"].into_iter().zip(self.view.figure.size);
        let mut sides = sides.filter(|_| self.what.has_letters());
        let wrong = sides.find(|(_, side)| !(SMALLEST_SIDE..=LARGEST_SIDE).contains(side));
        if let Some((name, side)) = wrong {
            return Some(format!(
                "{name} is {side}; it must be {SMALLEST_SIDE} to {LARGEST_SIDE} pixels"
            ));
        }
        let frames = self.view.frames.as_ref()?;
        if let Err(refused) = frames.check() {
            return Some(refused.to_string());
        }
        let theme = self.view.figure.theme;
        let file = FilmFile::of(&self.path).and_then(|file| file.check_theme(theme));
        file.err().map(|refused| refused.to_string())
    }
}

/// How far an animation is that is being made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Making {
    /// Cycles that are made, or frames that are drawn, 0 to 1.
    pub share: f32,
    /// Whether frames are drawn by now.
    pub is_drawing: bool,
}

/// The units of a figure's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Pixels,
    Centimetres,
}

/// Pixels an inch to choose from, for paper.
const RESOLUTIONS: [f64; 4] = [150.0, 300.0, 600.0, 1200.0];

const CENTIMETRES_PER_INCH: f64 = 2.54;

/// The font size that one begins with who wants to choose it, in points.
const FONT: f64 = 11.0;

/// The dialog, in points: it fits into the smallest window.
const CONTROLS: f32 = 400.0;
const ABOUT: f32 = 36.0;
const CHOICE: f32 = 20.0;
const ROWS: f32 = 466.0;
const PREVIEW: egui::Vec2 = vec2(440.0, 400.0);

/// The dialog while it is open.
pub(super) struct SaveDialog {
    what: What,
    folder: PathBuf,
    name: String,
    unit: Unit,
    /// Its size, its letters and its theme; the colours are those of the window.
    figure: FigureSpec,
    cut: CutLine,
    /// The panes that can be drawn, and where they lie.
    places: Vec<Place>,
    /// The number of the pinned run that is shown beside the run, where two can be.
    with: Option<usize>,
    is_film: bool,
    frames: Frames,
    /// The cycle that is shown; `None` while it changes, and that of the file is not known.
    cycle: Option<u64>,
    preview: Preview,
}

impl SaveDialog {
    /// The dialog as it opens: made for a figure like that which was opened last, if one was.
    pub fn new(
        context: &egui::Context,
        session: &Session,
        report: Option<&Report>,
        places: Vec<Place>,
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
        let what = like.map_or(What::Map, |view| What::of(view.kind));
        let is_of_two = like.is_some_and(|view| view.compared.is_some());
        let pinned = session.look.compare.chosen(session.pins.all()).filter(|_| is_of_two);
        let usual = Frames {
            first: 0,
            last: latest.max(1),
            spacing: Spacing::Every((latest / 50).max(1)),
            rate: RATE,
        };
        let frames = like.and_then(|view| view.frames);
        let mut dialog = Self {
            what,
            folder: std::env::current_dir().unwrap_or_default(),
            name: String::new(),
            unit: if figure.dpi == SCREEN_DPI { Unit::Pixels } else { Unit::Centimetres },
            figure,
            cut: session.cut_line(),
            places: like
                .map(|view| &view.places)
                .filter(|own| !own.is_empty())
                .cloned()
                .unwrap_or(places),
            with: pinned.map(|pin| pin.number),
            is_film: frames.is_some(),
            frames: frames.unwrap_or(usual),
            cycle: stands.then(|| travel.cycle(latest)),
            preview: Preview::new(context),
        };
        dialog.suggest(session.look.field);
        dialog
    }

    /// Takes what was captured for the preview; `false` if it was for a file.
    pub fn take(&mut self, captured: &Arc<Captured>) -> bool {
        self.preview.take(captured)
    }

    /// The worker was asked for this, for the preview.
    pub fn ask(&mut self, capture: Capture, now: f64) {
        self.preview.ask(capture, now);
    }

    /// What the worker was asked for, for the preview.
    pub fn asked(&self) -> Option<&Capture> {
        self.preview.asked()
    }

    /// Suggests a name for what is to be saved.
    fn suggest(&mut self, field: FieldKind) {
        let at = match self.cycle {
            _ if self.is_film() => format!("-film-{}", self.frames.last),
            Some(cycle) => format!("-cycle-{cycle}"),
            None => String::new(),
        };
        let stem = match self.what {
            What::Map | What::BareMap | What::MapTable | What::Field => {
                format!("{}{at}", field.name())
            }
            What::SideBySide => format!("{}-side-by-side{at}", field.name()),
            What::MeanTile | What::MeanTileTable => format!("mean-tile{at}"),
            What::Arrangement => format!("{}-panes{at}", field.name()),
            What::Profile | What::ProfileTable => format!("{}-profile{at}", field.name()),
            What::Curves | What::CurveTable => "convergence".to_owned(),
            What::Run => "run".to_owned(),
            What::Iterate => format!("u{at}"),
        };
        let extension = if self.is_film() { "gif" } else { self.what.extension() };
        self.name = format!("{stem}.{extension}");
    }

    fn is_film(&self) -> bool {
        self.is_film && self.what.is_picture()
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
                    ui.add_enabled_ui(making.is_none(), |ui| self.controls(ui, session));
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
                    let view = self.what.kind().map(|_| self.view(session, shown));
                    let sources = view.as_ref().map(|view| self.sources(session, report, view));
                    if let (Some(view), Some(report)) = (&view, report) {
                        let capture = view.capture(0, &report.plan.problem.shape);
                        let now = ui.input(|input| input.time);
                        if let Some(capture) = self.preview.wants(capture, report.latest.cycle, now)
                        {
                            commands.push(Command::LookForFile(capture));
                        }
                    }
                    ui.set_width(PREVIEW.x);
                    self.preview.ui(ui, view.as_ref().zip(sources.as_ref()), PREVIEW);
                    ui.add_space(4.0);
                    if self.what.kind().is_some() {
                        self.copies(ui, session, commands);
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

    fn controls(&mut self, ui: &mut Ui, session: &Session) {
        ui.set_min_height(ROWS);
        let field = session.look.field;
        let chosen = session.look.compare.chosen(session.pins.all());
        ui.columns_const(|[left, right]| {
            for (column, choices) in [(left, &What::PICTURES[..]), (right, &What::DATA)] {
                column.spacing_mut().interact_size.y = CHOICE;
                for &what in choices {
                    let can_be = what != What::SideBySide || chosen.is_some();
                    let can_be = can_be && (what != What::Arrangement || !self.places.is_empty());
                    let button = egui::RadioButton::new(self.what == what, what.label());
                    let button = column.add_enabled(can_be, button).on_hover_text(what.about());
                    let button = button.on_disabled_hover_text(what.missing());
                    if button.clicked() {
                        self.what = what;
                        self.suggest(field);
                    }
                }
            }
        });
        ui.add_space(2.0);
        ui.vertical(|ui| {
            // One line or two, nothing below it moves.
            ui.set_min_height(ABOUT);
            ui.label(RichText::new(self.what.about()).weak());
        });
        let about = "The name of the file; with folders, or in the one below.";
        row(ui, "File", about, |ui| {
            let edit = TextEdit::singleline(&mut self.name).id(file_id()).desired_width(300.0);
            named(ui.add(edit), "File").on_hover_text(about);
        });
        row(ui, "Folder", "Where it goes unless the name says otherwise.", |ui| {
            ui.add(egui::Label::new(self.folder.display().to_string()).truncate());
        });
        if self.what.is_picture() {
            self.format(ui);
        }
        if self.what.has_letters() {
            self.paper(ui);
        }
        if self.what.is_picture() {
            self.film(ui, field);
        }
    }

    /// Kinds of files, as they stand in the name.
    fn format(&mut self, ui: &mut Ui) {
        let stills: &[(&str, &str)] =
            &[("png", "Pixels; carries the run."), ("svg", "Lines and text; carries the run.")];
        let films: &[(&str, &str)] = &[
            ("gif", "256 colours; plays anywhere."),
            ("apng", "Every pixel as it is; carries the run."),
            ("mp4", "A video, if ffmpeg is installed."),
        ];
        let kinds = if self.is_film() { films } else { stills };
        row(ui, "Kind of file", "It stands at the end of the name.", |ui| {
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
    fn cut(&mut self, ui: &mut Ui, report: Option<&Report>) {
        let Some(shape) = report.map(|report| report.plan.problem.shape) else { return };
        let (is_row, mut place) = match self.cut.within(&shape) {
            CutLine::Row(place) => (true, place),
            CutLine::Column(place) => (false, place),
        };
        row(ui, "Along", "The line through the field.", |ui| {
            let is_plane = shape.dim() == 2;
            let mut along = is_row;
            ui.selectable_value(&mut along, true, "Row").on_hover_text("Along x.");
            if is_plane {
                ui.selectable_value(&mut along, false, "Column").on_hover_text("Along y.");
            }
            let most = if along { shape.rows() } else { shape.nx() } - 1;
            place = place.min(most);
            let number = egui::DragValue::new(&mut place).range(0..=most);
            named(ui.add(number), "Place of the cut").on_hover_text("Counted from 0.");
            self.cut = if along { CutLine::Row(place) } else { CutLine::Column(place) };
        });
    }

    /// Which line and which runs are drawn. It stands where there is room for it whatever else is
    /// chosen, so that nothing moves.
    fn subject(&mut self, ui: &mut Ui, session: &Session, report: Option<&Report>) {
        if self.drawn().shows(FigureKind::Profile) {
            self.cut(ui, report);
        }
        if self.is_of_two() && !session.pins.all().is_empty() {
            self.second(ui, session);
        }
    }

    /// Whether it can show two runs.
    fn is_of_two(&self) -> bool {
        self.what.is_picture() && self.what.kind().is_some_and(FigureKind::compares)
    }

    /// The pinned run beside the run, where two can be shown; side by side, one in any case.
    fn pinned<'a>(&self, session: &'a Session) -> Option<&'a Pin> {
        let pins = session.pins.all();
        let chosen = pins.iter().find(|pin| Some(pin.number) == self.with);
        let is_needed = self.drawn().shows(FigureKind::SideBySide);
        let needed = || session.look.compare.chosen(pins).filter(|_| is_needed);
        chosen.filter(|_| self.is_of_two()).or_else(needed)
    }

    /// Which pinned run is shown beside the run.
    fn second(&mut self, ui: &mut Ui, session: &Session) {
        let about = "The second run: at equal cycles, sweeps or solver time, as over the map.";
        row(ui, "Beside it", about, |ui| {
            let pinned = self.pinned(session);
            let name = pinned.map_or("no other run", |pin| &pin.name);
            let mut with = pinned.map(|pin| pin.number);
            let combo = ComboBox::from_id_salt("second").width(200.0).truncate();
            let response = combo.selected_text(name).show_ui(ui, |ui| {
                if self.what != What::SideBySide {
                    ui.selectable_value(&mut with, None, "no other run")
                        .on_hover_text("This run alone.");
                }
                for pin in session.pins.all() {
                    ui.selectable_value(&mut with, Some(pin.number), &pin.name)
                        .on_hover_text("Show this pinned run, too.");
                }
            });
            named(response.response, "Beside it").on_hover_text(about);
            self.with = with;
        });
    }

    /// How large a figure is, and its letters and colours.
    fn paper(&mut self, ui: &mut Ui) {
        row(ui, "Size", "The size of the figure.", |ui| {
            let names = [("Width", "Across."), ("Height", "From top to bottom.")];
            let per_pixel = CENTIMETRES_PER_INCH / self.figure.dpi;
            for (side, (name, about)) in self.figure.size.iter_mut().zip(names) {
                let response = match self.unit {
                    Unit::Pixels => ui.add(typed(ui, side, SMALLEST_SIDE..=LARGEST_SIDE)),
                    Unit::Centimetres => {
                        let mut length = f64::from(*side) * per_pixel;
                        let ends =
                            [SMALLEST_SIDE, LARGEST_SIDE].map(|end| f64::from(end) * per_pixel);
                        let number = typed(ui, &mut length, ends[0]..=ends[1]);
                        let response = ui.add(number.speed(0.1).fixed_decimals(1));
                        if response.changed() {
                            *side =
                                (length / per_pixel).round().clamp(0.0, f64::from(u32::MAX)) as u32;
                        }
                        response
                    }
                };
                named(response, name).on_hover_text(about);
            }
            let before = self.unit;
            ui.selectable_value(&mut self.unit, Unit::Pixels, "px")
                .on_hover_text("Pixels, for a screen.");
            ui.selectable_value(&mut self.unit, Unit::Centimetres, "cm")
                .on_hover_text("Centimetres, for paper.");
            if self.unit != before {
                self.set_dpi(if self.unit == Unit::Pixels { SCREEN_DPI } else { RESOLUTIONS[1] });
            }
            if self.unit == Unit::Centimetres {
                let mut dpi = self.figure.dpi;
                let combo = ComboBox::from_id_salt("dpi").width(76.0);
                let response = combo.selected_text(format!("{dpi} dpi")).show_ui(ui, |ui| {
                    for one in RESOLUTIONS {
                        ui.selectable_value(&mut dpi, one, format!("{one} dpi"))
                            .on_hover_text("Pixels an inch.");
                    }
                });
                named(response.response, "Resolution").on_hover_text("Pixels an inch.");
                if dpi != self.figure.dpi {
                    self.set_dpi(dpi);
                }
            }
        });
        row(ui, "Theme", "What the figure is to stand on.", |ui| {
            let combo = ComboBox::from_id_salt("figure theme").width(200.0);
            let response = combo.selected_text(self.figure.theme.label()).show_ui(ui, |ui| {
                for theme in Theme::ALL {
                    ui.selectable_value(&mut self.figure.theme, theme, theme.label())
                        .on_hover_text(theme.about());
                }
            });
            named(response.response, "Theme").on_hover_text(self.figure.theme.about());
        });
        row(ui, "Letters", "How large they are, and whether there is a title.", |ui| {
            let mut suits = self.figure.font.is_none();
            if ui
                .checkbox(&mut suits, "as suits")
                .on_hover_text("As large as suits the size.")
                .changed()
            {
                self.figure.font = (!suits).then_some(FONT);
            }
            let mut font = self.figure.font.unwrap_or(FONT);
            let number = typed(ui, &mut font, FONT_SIZES).suffix(" pt").speed(0.1).max_decimals(1);
            let response = ui.add_enabled(self.figure.font.is_some(), number);
            if named(response, "Font size").on_hover_text("In points, 1/72 inch.").changed() {
                self.figure.font = Some(font);
            }
            ui.checkbox(&mut self.figure.annotations, "Title").on_hover_text(
                "The title and the line of settings; leave them out if there is a caption.",
            );
        });
    }

    /// Another resolution, at the same size on paper.
    fn set_dpi(&mut self, dpi: f64) {
        let most = f64::from(LARGEST_SIDE);
        let scaled = |side: u32| (f64::from(side) * dpi / self.figure.dpi).round().min(most) as u32;
        self.figure.size = self.figure.size.map(scaled);
        self.figure.dpi = dpi;
    }

    /// The cycles of an animation.
    fn film(&mut self, ui: &mut Ui, field: FieldKind) {
        row(ui, "Animation", "A frame for each of many cycles, all over the same range.", |ui| {
            let film = ui.checkbox(&mut self.is_film, "over cycles");
            if film.on_hover_text("The run is made once more, from its start.").changed() {
                self.suggest(field);
            }
            if !self.is_film() {
                return;
            }
            let Frames { first, last, rate, .. } = &mut self.frames;
            for (cycle, name, about) in [
                (first, "First cycle", "The cycle of the first frame."),
                (last, "Last cycle", "The cycle of the last frame."),
            ] {
                named(ui.add(typed(ui, cycle, 0..=u64::MAX)), name).on_hover_text(about);
            }
            let number = typed(ui, rate, RATES).suffix(" fps").speed(0.1).max_decimals(1);
            named(ui.add(number), "Frame rate").on_hover_text("Frames a second.");
        });
        if !self.is_film() {
            return;
        }
        row(ui, "Frames", "Which cycles between them are frames.", |ui| {
            let even = matches!(self.frames.spacing, Spacing::Every(_));
            let count = self.frames.cycles().len() as u64;
            let steps = Spacing::Every((self.frames.last / count.max(1)).max(1));
            let mut choose = |ui: &mut Ui, is_chosen, other, name: &str, about: &str| {
                if ui.selectable_label(is_chosen, name).on_hover_text(about).clicked() && !is_chosen
                {
                    self.frames.spacing = other;
                }
            };
            choose(ui, even, steps, "even", "Every so manieth cycle.");
            let logarithmic = Spacing::Logarithmic(count);
            choose(
                ui,
                !even,
                logarithmic,
                "logarithmic",
                "More of the early cycles, where more happens.",
            );
            let (value, name, about) = match &mut self.frames.spacing {
                Spacing::Every(step) => (step, "Step", "Cycles from one frame to the next."),
                Spacing::Logarithmic(count) => (count, "Number of frames", "So many frames."),
            };
            named(ui.add(typed(ui, value, 1..=1_000_000)), name).on_hover_text(about);
            ui.label(RichText::new(format!("{count} frames")).weak());
        });
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
            if ui.button("Cancel").on_hover_text("Save nothing.").clicked() {
                commands.push(Command::ShowSave(false));
            }
            if ui.button("Copy run").on_hover_text("Copy the run description (TOML).").clicked() {
                let text = session.spec.to_toml();
                commands.push(Command::Copy { text, what: "Run" });
            }
        });
    }

    /// The same without a file, of what the preview shows.
    fn copies(&self, ui: &mut Ui, session: &Session, commands: &mut Vec<Command>) {
        let shown = self.preview.shown();
        ui.horizontal(|ui| {
            let copy = ui.add_enabled(shown.is_some(), egui::Button::new("Copy image"));
            if copy.on_hover_text("Put the picture on the clipboard.").clicked()
                && let Some(Shown { shots, view }) = shown.cloned()
            {
                commands.push(Command::CopyImage(shots, view.into()));
            }
            let copy = ui.add_enabled(shown.is_some(), egui::Button::new("Copy as command line"));
            let about = match shown.is_some_and(|shown| shown.view.compared.is_some()) {
                true => {
                    "Copy the command line that makes this figure again; it takes the second run from the file, once that is saved."
                }
                false => "Copy the command line that makes this figure again.",
            };
            if copy.on_hover_text(about).clicked()
                && let Some(shown) = shown
            {
                let text = figure_command(&session.spec, &shown.view, &self.path());
                commands.push(Command::Copy { text, what: "Command line" });
            }
        });
    }

    fn view(&self, session: &Session, shown: Option<Range>) -> ViewSpec {
        let field = session.look.field;
        let colours = session.look.of_field(field);
        // A figure of one frame fits itself; any other range is the window's.
        let range = shown.filter(|_| colours.range != RangeMode::ThisFrame);
        let drawn = self.drawn();
        let over = session.look.against.over();
        ViewSpec {
            field,
            over: if drawn.shows(FigureKind::Curves) { over } else { Over::default() },
            cut: drawn.shows(FigureKind::Profile).then_some(self.cut),
            frames: self.is_film().then_some(self.frames),
            figure: FigureSpec {
                scale: colours.scale,
                absolute: colours.absolute,
                map: colours.map,
                range,
                borders: session.look.borders || drawn.kind == FigureKind::Profile,
                ..self.figure
            },
            ..drawn
        }
    }

    /// What is drawn, and where; not yet of what.
    fn drawn(&self) -> ViewSpec {
        let kind = self.what.kind().unwrap_or_default();
        let places = self.places.clone();
        let places = if kind == FigureKind::Arrangement { places } else { Vec::new() };
        ViewSpec { kind, places, ..ViewSpec::default() }
    }

    fn sources(&self, session: &Session, report: Option<&Report>, view: &ViewSpec) -> Sources {
        Sources::of(session, report, view, self.pinned(session))
    }

    /// A name with a whole path in it stands for itself.
    fn path(&self) -> PathBuf {
        self.folder.join(self.name.trim())
    }

    fn request(
        &self,
        session: &Session,
        report: Option<&Report>,
        shown: Option<Range>,
    ) -> SaveRequest {
        let view = self.view(session, shown);
        let sources = self.sources(session, report, &view);
        SaveRequest { what: self.what, path: self.path(), view, sources }
    }
}

/// The field of the name.
fn file_id() -> egui::Id {
    egui::Id::unique("the name of the file to be saved")
}

/// How far an animation is.
fn progress(ui: &mut Ui, making: Making, commands: &mut Vec<Command>) {
    let what = if making.is_drawing { "drawing frames" } else { "making cycles" };
    ui.horizontal(|ui| {
        let bar = ProgressBar::new(making.share).text(what).desired_width(300.0);
        ui.add(bar).on_hover_text("The animation is made on a thread of its own.");
        if ui.button("Stop").on_hover_text("Make no animation; nothing is saved.").clicked() {
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

    /// What the dialog can say of a plane: no kind by two names, and nothing that its kind does not
    /// show. The cycle and the second run come with what is drawn.
    fn said(view: &ViewSpec, session: &Session) -> ViewSpec {
        let mut said = ViewSpec { cycle: 0, compared: None, ..view.clone() };
        if view.kind == FigureKind::SpaceTime {
            said.kind = FigureKind::HeatMap;
        }
        if view.kind != FigureKind::Arrangement {
            said.places.clear();
        }
        if !view.shows(FigureKind::Curves) {
            said.over = Over::default();
        }
        said.cut = view.shows(FigureKind::Profile).then(|| session.cut_line());
        said.figure.borders |= view.kind == FigureKind::Profile;
        said
    }

    proptest! {
        #[test]
        fn after_a_figure_was_opened_the_dialog_makes_another_like_it(view in view()) {
            let mut session = Session::default();
            session.show(&view);
            let context = egui::Context::default();
            let dialog = SaveDialog::new(&context, &session, None, Vec::new(), Some(&view));
            let again = dialog.view(&session, view.figure.range);
            prop_assert_eq!(again, said(&view, &session));
            if let Some(cut) = view.cut {
                prop_assert_eq!(session.cut_line(), cut);
            }
        }
    }
}
