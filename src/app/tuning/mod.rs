//! The tuning map: settings of k, overlap, tile and kernel, measured one after the other on a thread
//! of their own.

mod charts;
mod layers;
mod map;
mod papers;
mod ranges;
mod tip;

use crate::app::state::command::{Command, TuningOrder};
use crate::app::state::session::Session;
use crate::app::widgets::labels::named;
use crate::app::widgets::theme;
use crate::picture::{Layer, MapValue, SweepMap, counted};
use crate::run::{
    Backend, ClassicBaseline, CostPrediction, Pyramid, RunSpec, SweepEnd, SweepOutline, SweepRow,
    Tuner, TunerEvent,
};
use charts::Chart;
use eframe::egui::{self, ComboBox, Label, RichText, Ui};
use ranges::Ranges;
use std::sync::Arc;

/// The charts take this part of the width.
const CHARTS: f32 = 0.42;

/// A map as far as it is known.
struct Seen {
    outline: Arc<SweepOutline>,
    /// By the places of its cells.
    predictions: Vec<Option<CostPrediction>>,
    rows: Vec<Option<SweepRow>>,
    classic: Option<ClassicBaseline>,
    pyramid: Option<Pyramid>,
    /// What the thread is at before the first cell.
    at: &'static str,
    /// Seconds that are left, once that can be told.
    left: Option<f64>,
    end: Option<SweepEnd>,
}

/// The view, and the thread that measures.
pub struct Tuning {
    tuner: Tuner,
    ranges: Ranges,
    seen: Option<Seen>,
    is_paused: bool,
    /// Whether a map was ordered that the thread has not answered yet.
    is_ordered: bool,
    value: MapValue,
    layer: Layer,
    chart: Chart,
    /// The cell under the cursor, across and down.
    hover: Option<[usize; 2]>,
    /// What was measured of the papers' tables, by whichever map.
    here: papers::Here,
}

impl Tuning {
    /// The view before anything was measured.
    ///
    /// # Errors
    /// If a thread cannot be started.
    pub fn new(context: &egui::Context) -> std::io::Result<Self> {
        let repaint = context.clone();
        Ok(Self {
            tuner: Tuner::start(move || repaint.request_repaint())?,
            ranges: Ranges::default(),
            seen: None,
            is_paused: false,
            is_ordered: false,
            value: MapValue::Time,
            layer: Layer::default(),
            chart: Chart::Overlap,
            hover: None,
            here: papers::Here::default(),
        })
    }

    /// Whether something is being timed: nothing else may make cycles then.
    pub fn is_timing(&self) -> bool {
        self.is_measuring() && !self.is_paused
    }

    /// Whether a map is being measured, or waits to be measured on.
    fn is_measuring(&self) -> bool {
        self.is_ordered || self.seen.as_ref().is_some_and(|seen| seen.end.is_none())
    }

    /// Carries an order out.
    pub fn obey(&mut self, order: TuningOrder) {
        match order {
            TuningOrder::Begin(spec) => {
                if !self.is_measuring() && self.tuner.begin(*spec) {
                    (self.is_ordered, self.is_paused) = (true, false);
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

    /// Takes in what the thread found out; gives the sentences that a person must be told.
    pub fn hear(&mut self) -> Vec<String> {
        let mut told = Vec::new();
        while let Some(news) = self.tuner.news() {
            match news {
                TunerEvent::Refused(why) => {
                    self.is_ordered = false;
                    told.push(why);
                }
                TunerEvent::Begun(outline) => {
                    self.is_ordered = false;
                    self.value = MapValue::natural(&outline.spec);
                    self.layer = Layer::default();
                    self.seen = Some(Seen::new(outline));
                }
                news => {
                    if let Some(seen) = &mut self.seen {
                        told.extend(seen.hear(news));
                        self.here.take(seen);
                    }
                }
            }
        }
        told
    }

    /// Draws the panel of what is to be measured.
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
    }

    /// Start, pause, go on, stop; and how far it is.
    fn progress(&self, ui: &mut Ui, commands: &mut Vec<Command>) {
        if self.is_measuring() {
            ui.horizontal(|ui| {
                let (text, about) = if self.is_paused {
                    ("Resume", "Go on measuring where it stopped.")
                } else {
                    ("Pause", "Wait before the next cycle; nothing is lost.")
                };
                let pause = ui.add(egui::Button::new(text).min_size(egui::vec2(74.0, 0.0)));
                if pause.on_hover_text(about).clicked() {
                    commands.push(Command::Tune(TuningOrder::Pause(!self.is_paused)));
                }
                let cancel =
                    ui.button("Cancel").on_hover_text("Stop at once; what was measured stays.");
                if cancel.clicked() {
                    commands.push(Command::Tune(TuningOrder::Stop));
                }
            });
        }
        if let Some(seen) = &self.seen {
            let (done, all) = (seen.measured(), seen.rows.len());
            ui.add(egui::ProgressBar::new(done as f32 / all.max(1) as f32).desired_height(6.0));
            let text = match (&seen.end, self.is_paused) {
                (Some(SweepEnd::Done), _) => format!("{done} of {all} cells · done"),
                (Some(SweepEnd::Stopped), _) => format!("{done} of {all} cells · stopped"),
                (Some(SweepEnd::Failed(why)), _) => {
                    format!("{done} of {all} cells · failed: {why}")
                }
                (None, true) => format!("{done} of {all} cells · paused"),
                (None, false) => match seen.left {
                    Some(left) => format!("{done} of {all} cells · about {} left", span(left)),
                    None => format!("{} …", seen.at),
                },
            };
            ui.label(text).on_hover_text(
                "Cells measured: coarse to fine, those that should cost least first.",
            );
        }
        if let Some(text) = self.seen.as_ref().and_then(Seen::predicted_cycles) {
            ui.label(RichText::new(text).weak()).on_hover_text(
                "How far what was predicted is from what was measured, in the middle of the cells \
                 (the median); a cell tells its own.",
            );
        }
        if let Some(Pyramid { height, .. }) = self.seen.as_ref().and_then(|seen| seen.pyramid) {
            let (sweeps, overlap) = (counted(height as u64, "sweep"), 2 * height);
            let text = format!("Kochurov's best pyramid: {sweeps}, overlap {overlap}");
            ui.label(RichText::new(text).weak()).on_hover_text(
                "Of settings that are exactly Jacobi's sweeps, the one that should take least by \
                 Kochurov's run time, with the constants of this machine.",
            );
        }
        if self.is_timing() {
            ui.label(
                RichText::new("The explorer's run waits meanwhile: timing bears no company.")
                    .weak(),
            );
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
        let Self { seen, value, layer, chart, hover, here, .. } = self;
        let Some(seen) = seen.as_ref() else {
            empty(&mut left);
            papers::ui(&mut right, here, is_measuring, session, commands);
            return;
        };
        left.horizontal(|ui| {
            shown(ui, value);
            let system = RichText::new(system(&seen.outline.spec.run)).weak();
            ui.add(Label::new(system).truncate()).on_hover_text("What this map is of.");
        });
        let shared = layers::ui(&mut left, seen, *value, layer);
        let mut sweep_map = SweepMap::new(&seen.outline, &seen.rows, seen.classic, *layer, *value);
        sweep_map.scale = shared.unwrap_or(sweep_map.scale);
        *hover = map::ui(&mut left, seen, &sweep_map, *value, commands);
        charts::choose(&mut right, chart);
        match chart {
            Chart::Papers => papers::ui(&mut right, here, is_measuring, session, commands),
            chart => charts::ui(&mut right, seen, *layer, *chart),
        }
    }
}

impl Seen {
    fn new(outline: Arc<SweepOutline>) -> Self {
        let cells = outline.cells.len();
        Self {
            outline,
            predictions: vec![None; cells],
            rows: vec![None; cells],
            classic: None,
            pyramid: None,
            at: "",
            left: None,
            end: None,
        }
    }

    fn hear(&mut self, news: TunerEvent) -> Option<String> {
        match news {
            TunerEvent::At(what) => self.at = what,
            TunerEvent::Predicted(predictions, pyramid) => {
                for prediction in predictions {
                    self.predictions[prediction.place] = Some(prediction);
                }
                self.pyramid = pyramid;
            }
            TunerEvent::Classic(classic) => self.classic = Some(classic),
            TunerEvent::Measured { place, row, left } => {
                self.rows[place] = Some(*row);
                self.left = Some(left);
            }
            TunerEvent::Ended(end) => {
                let why = match &end {
                    SweepEnd::Failed(why) => Some(why.clone()),
                    _ => None,
                };
                self.end = Some(end);
                return why;
            }
            TunerEvent::Refused(_) | TunerEvent::Begun(_) => {}
        }
        None
    }

    fn measured(&self) -> usize {
        self.rows.iter().flatten().count()
    }

    /// How far the predictions are off, where something was predicted and measured.
    fn predicted_cycles(&self) -> Option<String> {
        let error = |of: fn(&SweepRow) -> Option<f64>| {
            SweepRow::median_error(self.rows.iter().flatten(), of)
        };
        let told = [
            error(|row| row.prediction_error)
                .map(|error| format!("a cycle {:.1} %", 100.0 * error)),
            error(|row| row.cycles_prediction_error)
                .map(|error| format!("cycles {:.2} %", 100.0 * error)),
        ];
        let told: Vec<_> = told.into_iter().flatten().collect();
        (!told.is_empty()).then(|| format!("Predictions off by: {}", told.join(", ")))
    }
}

/// What stands where no map is yet.
fn empty(ui: &mut Ui) {
    ui.add_space(theme::GAP);
    ui.label(RichText::new("The tuning map").heading());
    ui.label(
        "Every cell is a setting: overlap across, k down. Choose the lists at the left and press \
         Start; the map fills in from coarse to fine, the settings that should be fastest first. \
         A click on a cell opens its run in the explorer.",
    );
}

/// The menu of what is shown.
fn shown(ui: &mut Ui, value: &mut MapValue) {
    let combo = ComboBox::from_id_salt("value").width(150.0).selected_text(value.label());
    let response = combo.show_ui(ui, |ui| {
        for other in MapValue::ALL {
            ui.selectable_value(value, other, other.label()).on_hover_text(other.about());
        }
    });
    named(response.response, "Shown").on_hover_text(value.about());
}

/// A span of time as a person reads it.
fn span(seconds: f64) -> String {
    if seconds < 90.0 {
        format!("{:.0} s", seconds.ceil())
    } else if seconds < 5400.0 {
        format!("{:.0} min", seconds / 60.0)
    } else {
        format!("{:.1} h", seconds / 3600.0)
    }
}

/// What is measured, and where: the problem, the precision and the back end of a run.
fn system(run: &RunSpec) -> String {
    let shape: Vec<_> = run.problem.shape.iter().map(ToString::to_string).collect();
    let on = format!("{} on {}", run.method.precision.name(), place(run.method.backend));
    format!("{}, {} · {on}", run.problem.kind.label(), shape.join(" × "))
}

/// Where a sweep is measured, in a word.
fn place(backend: Backend) -> &'static str {
    match backend {
        Backend::Cpu => "CPU",
        Backend::Cuda => "CUDA",
    }
}
