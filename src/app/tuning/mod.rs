//! The tuning map: settings of k, overlap and tile, or of height and budget, and of kernels, measured one after the other by
//! the tuner.

mod charts;
mod layers;
mod map;
mod papers;
mod ranges;
mod results;
mod save;
mod tip;

use crate::app::state::command::{Command, TuningOrder};
use crate::app::state::session::Session;
use crate::app::widgets::labels::{explained, named};
use crate::app::widgets::theme;
use crate::picture::{Layer, MapRows, MapValue, SweepFigure, SweepMap, counted};
use crate::run::{Pyramid, SLOW, SweepEnd, Tuner, TunerEvent};
use charts::Beside;
use eframe::egui::{self, ComboBox, Label, RichText, Ui};
use ranges::Ranges;
use results::{MapResults, system};
use std::path::PathBuf;

/// The charts take this part of the width.
const CHARTS: f32 = 0.42;

/// The view, and the tuner.
pub struct Tuning {
    tuner: Tuner,
    ranges: Ranges,
    results: Option<MapResults>,
    is_paused: bool,
    /// Whether cells that are predicted to be slow are measured, too.
    with_slow: bool,
    /// Whether a map was requested that has neither begun nor been rejected.
    is_requested: bool,
    value: MapValue,
    layer: Layer,
    beside: Beside,
    /// The cell under the cursor, across and down.
    hover: Option<[usize; 2]>,
    /// The dialog that saves, while it is open.
    save: Option<save::SaveMapDialog>,
    /// What was measured of the papers' tables, in all maps.
    measured_papers: papers::MeasuredPapers,
}

impl Tuning {
    /// The view before anything is measured.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn new(context: &egui::Context) -> std::io::Result<Self> {
        let repaint = context.clone();
        Ok(Self {
            tuner: Tuner::start(move || repaint.request_repaint())?,
            ranges: Ranges::default(),
            results: None,
            is_paused: false,
            with_slow: false,
            is_requested: false,
            value: MapValue::Time,
            layer: Layer::default(),
            beside: Beside::Charts(SweepFigure::Overlap),
            hover: None,
            save: None,
            measured_papers: papers::MeasuredPapers::default(),
        })
    }

    /// Whether a map is being measured and not paused: no other work may disturb the timings then.
    pub fn is_timing(&self) -> bool {
        self.is_measuring() && !self.is_paused
    }

    /// Whether a map is being measured or paused.
    fn is_measuring(&self) -> bool {
        self.is_requested || self.results.as_ref().is_some_and(|results| results.end.is_none())
    }

    /// Opens the dialog that saves, in a folder, if there is something to save. Returns whether it is open.
    pub fn show_save(&mut self, folder: PathBuf) -> bool {
        self.save = self.results.is_some().then(|| save::SaveMapDialog::new(folder));
        self.save.is_some()
    }

    /// Closes that dialog.
    pub fn hide_save(&mut self) {
        self.save = None;
    }

    /// Whether that dialog is open.
    pub fn is_saving(&self) -> bool {
        self.save.is_some()
    }

    /// Executes a request.
    pub fn execute(&mut self, order: TuningOrder) {
        match order {
            TuningOrder::Begin(spec) => {
                if !self.is_measuring() && self.tuner.begin(*spec) {
                    (self.is_requested, self.is_paused) = (true, false);
                }
            }
            TuningOrder::Pause(paused) => {
                self.tuner.pause(paused);
                self.is_paused = paused;
            }
            TuningOrder::Stop => {
                self.tuner.stop();
                self.is_paused = false;
            }
        }
    }

    /// Receives the tuner's events; returns the error messages to show.
    pub fn receive(&mut self) -> Vec<String> {
        let mut errors = Vec::new();
        while let Some(event) = self.tuner.event() {
            match event {
                TunerEvent::Rejected(why) => {
                    self.is_requested = false;
                    errors.push(why);
                }
                TunerEvent::Begun(outline) => {
                    self.is_requested = false;
                    self.value = MapValue::natural(&outline.spec);
                    self.layer = Layer::natural(&outline.spec);
                    self.results = Some(MapResults::new(outline, self.with_slow));
                }
                event => {
                    if let Some(results) = &mut self.results {
                        errors.extend(results.receive(event));
                        self.measured_papers.update(results);
                    }
                }
            }
        }
        errors
    }

    /// Draws the panel with the settings to measure.
    pub fn panel(&mut self, ui: &mut Ui, session: &Session, commands: &mut Vec<Command>) {
        ui.add_space(theme::GAP);
        ui.horizontal(|ui| {
            ui.label(RichText::new("Tuning map").heading());
            ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                let back = ui.button("◀  Explorer").on_hover_text("Back to the run and its maps.");
                if back.clicked() {
                    commands.push(Command::ShowTuning(false));
                }
            });
        });
        self.ranges.ui(ui, session, self.is_measuring(), commands);
        self.progress(ui, commands);
        self.slow_cells(ui);
    }

    /// Pause, resume, cancel, and the progress.
    fn progress(&self, ui: &mut Ui, commands: &mut Vec<Command>) {
        if self.is_measuring() {
            ui.horizontal(|ui| {
                let (text, about) = if self.is_paused {
                    ("Resume", "Continue measuring.")
                } else {
                    ("Pause", "Pause after the current batch of cycles; nothing is lost.")
                };
                let pause = ui.add(egui::Button::new(text).min_size(egui::vec2(74.0, 0.0)));
                if pause.on_hover_text(about).clicked() {
                    commands.push(Command::Tune(TuningOrder::Pause(!self.is_paused)));
                }
                let cancel =
                    ui.button("Cancel").on_hover_text("Stop now; the measured cells remain.");
                if cancel.clicked() {
                    commands.push(Command::Tune(TuningOrder::Stop));
                }
            });
        }
        if let Some(results) = &self.results {
            let (done, all) = (results.measured(), results.rows.len() - results.left_out());
            ui.add(egui::ProgressBar::new(done as f32 / all.max(1) as f32).desired_height(6.0));
            let text = match (&results.end, self.is_paused) {
                (Some(SweepEnd::Complete | SweepEnd::WithoutSlow), _) => {
                    format!("{done} of {all} cells · done")
                }
                (Some(SweepEnd::Stopped), _) => format!("{done} of {all} cells · stopped"),
                (Some(SweepEnd::Failed(why)), _) => {
                    format!("{done} of {all} cells · failed: {why}")
                }
                (None, true) => format!("{done} of {all} cells · paused"),
                (None, false) => match results.remaining {
                    Some(seconds) => {
                        format!("{done} of {all} cells · about {} remaining", span(seconds))
                    }
                    None => format!("{} …", results.stage),
                },
            };
            ui.label(text).on_hover_text("Measured cells; the lowest predicted cost is first.");
            if let Some(sentence) = results.outlook() {
                ui.label(RichText::new(sentence).weak()).on_hover_text(
                    "Cells that are not measured yet and are not predicted to cost more than the best measured one.",
                );
            }
        }
        if let Some(text) = self.results.as_ref().and_then(MapResults::prediction_errors) {
            ui.label(RichText::new(text).weak()).on_hover_text(
                "Median of the relative prediction errors over the measured cells. The tooltip of a \
                 cell shows its own.",
            );
        }
        if let Some(Pyramid { height, .. }) =
            self.results.as_ref().and_then(|results| results.pyramid)
        {
            let (sweeps, overlap) = (counted(height as u64, "sweep"), 2 * height);
            let text = format!("Kochurov's best pyramid: {sweeps}, overlap {overlap}");
            ui.label(RichText::new(text).weak()).on_hover_text(
                "The exact setting of least run time by Kochurov's formula, with the constants of this \
                 machine.",
            );
        }
        if self.is_timing() {
            ui.label(RichText::new("The run is paused so that timings are clean.").weak());
        }
    }

    /// The choice whether slow cells are measured, too.
    fn slow_cells(&mut self, ui: &mut Ui) {
        let slow = self.results.as_ref().map_or(0, |results| results.slow.len());
        let text = match slow {
            0 => format!("Cells over {SLOW}× slower"),
            _ => format!("Cells over {SLOW}× slower ({slow})"),
        };
        let checkbox = named(ui.checkbox(&mut self.with_slow, text), "Slow cells");
        let about = format!(
            "Measure cells that are predicted to take more than {SLOW} times as long as the best, after all others. Until then they show their prediction."
        );
        if checkbox.on_hover_text(about).changed() {
            self.tuner.measure_slow(self.with_slow);
            if let Some(results) = &mut self.results {
                results.with_slow = self.with_slow;
            }
        }
    }

    /// Draws the map and the charts beside it.
    pub fn ui(&mut self, ui: &mut Ui, session: &Session, commands: &mut Vec<Command>) {
        let whole = ui.available_rect_before_wrap().shrink(8.0);
        let split = whole.right() - CHARTS * whole.width();
        let left = egui::Rect::from_min_max(whole.min, egui::pos2(split - 8.0, whole.bottom()));
        let right = egui::Rect::from_min_max(egui::pos2(split + 8.0, whole.top()), whole.max);
        let mut child = |rect| ui.new_child(egui::UiBuilder::new().max_rect(rect));
        let (mut left, mut right) = (child(left), child(right));
        let is_measuring = self.is_measuring();
        let Self { results, value, layer, beside, hover, save, measured_papers, .. } = self;
        let Some(results) = results.as_ref() else {
            empty(&mut left, session.spec.method.name.is_streaming());
            if papers::ui(&mut right, measured_papers, is_measuring, session, commands) {
                *beside = Beside::Papers;
            }
            return;
        };
        left.horizontal(|ui| {
            value_menu(ui, value);
            let tiles = results.outline.spec.cycle.tiles();
            if tiles.is_some_and(|lists| lists.tile.len() > 1) {
                rows_menu(ui, layer);
            }
            let button = ui.button("Save map …");
            let about =
                "Save the map, its charts or its table, or copy the command line that measures it.";
            if button.on_hover_text(about).clicked() {
                commands.push(Command::ShowSave(true));
            }
            let system =
                RichText::new(system(&results.outline.spec.run, results.outline.backend)).weak();
            ui.add(Label::new(system).truncate())
                .on_hover_text("The problem, the precision and the back end of this map.");
        });
        let shared = layers::ui(&mut left, results, *value, layer);
        let mut sweep_map = SweepMap::new(results.data(), *layer, *value);
        sweep_map.scale = shared.unwrap_or(sweep_map.scale);
        *hover = map::ui(&mut left, results, &sweep_map, *value, commands);
        charts::choose(&mut right, beside, &results.outline.spec.cycle);
        match beside {
            Beside::Papers => {
                _ = papers::ui(&mut right, measured_papers, is_measuring, session, commands);
            }
            Beside::Charts(figure) => charts::ui(&mut right, results, *layer, *figure),
        }
        if let Some(save) = save {
            save.ui(ui.ctx(), results, *value, *layer, commands);
        }
    }
}

/// What is shown before the first map.
fn empty(ui: &mut Ui, streams: bool) {
    ui.add_space(theme::GAP);
    ui.label(RichText::new("The tuning map").heading());
    let [across, down] =
        if streams { ["the budget", "the height"] } else { ["overlap", "k or the tile"] };
    ui.label(format!(
        "Each cell is a setting: {across} from left to right, {down} from top to bottom. Choose the lists on \
         the left and press Start. All cells show their prediction first, hatched; measurements replace \
         it, the lowest predicted cost first. Click a cell to open its run in the explorer.",
    ));
}

/// The menu of the displayed quantity.
fn value_menu(ui: &mut Ui, value: &mut MapValue) {
    let combo = ComboBox::from_id_salt("value").width(150.0).selected_text(value.label());
    let response = combo.show_ui(ui, |ui| {
        for other in MapValue::ALL {
            explained(ui.selectable_value(value, other, other.label()), other.about());
        }
    });
    named(response.response, "Value").on_hover_text(value.about());
}

/// The menu of what the rows are.
fn rows_menu(ui: &mut Ui, layer: &mut Layer) {
    let mut rows = layer.rows;
    let combo = ComboBox::from_id_salt("rows").width(60.0).selected_text(rows.label());
    let response = combo.show_ui(ui, |ui| {
        for other in MapRows::ALL {
            explained(ui.selectable_value(&mut rows, other, other.label()), other.about());
        }
    });
    named(response.response, "Rows").on_hover_text(rows.about());
    if rows != layer.rows {
        *layer = Layer { rows, kernel: layer.kernel, ..Layer::default() };
    }
}

/// A time span in a suitable unit.
fn span(seconds: f64) -> String {
    if seconds < 90.0 {
        format!("{:.0} s", seconds.ceil())
    } else if seconds < 5400.0 {
        format!("{:.0} min", seconds / 60.0)
    } else {
        format!("{:.1} h", seconds / 3600.0)
    }
}
