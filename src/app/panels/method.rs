//! The sliders: method, k, overlap, tile.

use crate::app::panels::backend::Backends;
use crate::app::panels::{damping_and_order, schematic, several_devices, streaming};
use crate::app::state::command::Command;
use crate::app::state::session::Session;
use crate::app::widgets::labels::{explained, named, typed};
use crate::app::widgets::rows::{heading, row};
use crate::grid::{AXIS_NAMES, Precision};
use crate::lesson::Control;
use crate::problem::matrix::Ordering;
use crate::run::{MOST_SUBITERATIONS, MethodName, MethodSpec, ProblemKind, Report, RunSpec};
use crate::solver::Subiterations;
use eframe::egui::{
    Button, Color32, ComboBox, RichText, Slider, SliderClamping, Stroke, StrokeKind, Ui, vec2,
};
use std::ops::RangeInclusive;

/// The largest finite k on the slider; more can be typed.
const LARGEST_K: usize = 128;

/// Where ∞ lies on the slider, and where it begins.
const INFINITE_K: f64 = 256.0;
const NEARLY_INFINITE_K: f64 = 181.0;

/// Larger numbers in the field of k are infinity.
const MOST_SHOWN: f64 = 1e15;

/// The tiles on the slider; others can be typed.
const TILES: RangeInclusive<usize> = 4..=128;

/// Blocks of a matrix come in steps of this, and these rows are on the slider.
const BLOCK_STEP: usize = 16;
const BLOCKS: RangeInclusive<usize> = 16..=4096;

/// Width of the sliders in a row, in points.
const STRIP_SLIDER: f32 = 64.0;

/// The frame around a highlighted row: its distance and its width, in points.
const HIGHLIGHT: f32 = 4.0;
const HIGHLIGHT_WIDTH: f32 = 2.0;

/// Tiles come in steps of this while the slider is dragged.
const TILE_STEP: usize = 4;

pub fn ui(ui: &mut Ui, session: &Session, report: Option<&Report>, commands: &mut Vec<Command>) {
    let mut spec = RunSpec::clone(&session.spec);
    heading(ui, "Method");
    let is_matrix = spec.problem.kind == ProblemKind::Matrix;
    let method = &mut spec.method;
    iteration(ui, method, is_matrix);
    let mut grabbed = controls(ui, &mut spec, None);
    if several_devices::ui(ui, &mut spec, None) {
        grabbed = Some(Vec::new());
    }
    let (method, axes) = (&mut spec.method, session.spec.problem.shape.len());
    if !method.name.is_streaming() {
        let tiled = method.name == MethodName::Hierarchical;
        ui.add_enabled_ui(tiled, |ui| apart(ui, method, axes));
    }
    damping_and_order::ui(ui, method, is_matrix);
    schematic::ui(ui, session, report);
    commands.extend(grabbed.map(Command::BeginDrag));
    if spec != *session.spec {
        commands.push(Command::Change(spec));
    }
}

/// The precision, and where the solver runs.
pub fn device(ui: &mut Ui, session: &Session, backends: &Backends, commands: &mut Vec<Command>) {
    let mut spec = RunSpec::clone(&session.spec);
    let method = &mut spec.method;
    row(ui, "Precision", "The floating-point type of the arithmetic.", |ui| {
        for precision in Precision::ALL {
            let about = match precision {
                Precision::F32 => "32 bits, about 7 digits.",
                Precision::F64 => "64 bits, about 16 digits.",
            };
            ui.selectable_value(&mut method.precision, precision, precision.name())
                .on_hover_text(about);
        }
    });
    backends.ui(ui, session, method);
    if spec != *session.spec {
        commands.push(Command::Change(spec));
    }
}

/// Whether the sliders have room beside the timeline.
pub fn is_short(session: &Session) -> bool {
    !is_each(&session.spec.method)
}

/// Only the sliders, in a row.
pub fn strip(ui: &mut Ui, session: &Session, commands: &mut Vec<Command>) {
    let mut spec = RunSpec::clone(&session.spec);
    ui.spacing_mut().slider_width = STRIP_SLIDER;
    commands.extend(controls(ui, &mut spec, None).map(Command::BeginDrag));
    if spec != *session.spec {
        commands.push(Command::Change(spec));
    }
}

/// Only the sliders, of which a lesson highlights one.
pub fn lesson_sliders(
    ui: &mut Ui,
    session: &Session,
    highlight: Option<Control>,
    commands: &mut Vec<Command>,
) {
    let mut spec = RunSpec::clone(&session.spec);
    let mut grabbed = controls(ui, &mut spec, highlight);
    if several_devices::ui(ui, &mut spec, highlight) {
        grabbed = Some(Vec::new());
    }
    commands.extend(grabbed.map(Command::BeginDrag));
    if spec != *session.spec {
        commands.push(Command::Change(spec));
    }
}

/// Draws a row, with a frame around it if it is the one of a control that is highlighted.
pub(super) fn highlighted<T>(ui: &mut Ui, is_it: bool, row: impl FnOnce(&mut Ui) -> T) -> T {
    let row = ui.scope(row);
    if is_it {
        let rect = row.response.rect.expand2(vec2(HIGHLIGHT, HIGHLIGHT / 2.0));
        let stroke = Stroke::new(HIGHLIGHT_WIDTH, ui.visuals().selection.bg_fill);
        ui.painter().rect_stroke(rect, HIGHLIGHT, stroke, StrokeKind::Inside);
    }
    row.inner
}

/// The menu of methods.
fn iteration(ui: &mut Ui, method: &mut MethodSpec, is_matrix: bool) {
    let about = "How a cycle computes the next iterate.";
    row(ui, "Iteration", about, |ui| {
        let combo = ComboBox::from_id_salt("iteration").selected_text(method.name.label());
        let response = combo.show_ui(ui, |ui| {
            for name in MethodName::ALL {
                let takes = !(is_matrix && name.is_streaming());
                let entry = Button::selectable(method.name == name, name.label());
                let about = if takes { about_method(name) } else { "A matrix has no planes." };
                let entry = explained(ui.add_enabled(takes, entry), about);
                if entry.clicked() {
                    method.set_name(name);
                }
            }
        });
        named(response.response, "Iteration").on_hover_text(about);
    });
}

fn about_method(name: MethodName) -> &'static str {
    match name {
        MethodName::Classic => "Jacobi's iteration: a cycle is one sweep over the whole grid.",
        MethodName::Hierarchical => "k sweeps inside every tile while its halo stays frozen.",
        MethodName::Pyramid => {
            "Jacobi's iteration for grids larger than fast memory, in overlapping slabs: each shrinks by a plane per sweep, and a cycle is one pass of n sweeps."
        }
        MethodName::Wavefront => {
            "Jacobi's iteration for grids larger than fast memory, in a window that flows over the grid: a cycle is one pass of n sweeps, and no plane is moved twice."
        }
    }
}

/// The values of a slider that was just grabbed, among them the slowest; empty where all take equally long.
type Grabbed = Option<Vec<MethodSpec>>;

/// The sliders of the method.
fn controls(ui: &mut Ui, spec: &mut RunSpec, highlight: Option<Control>) -> Grabbed {
    if spec.method.name.is_streaming() {
        return streaming::sliders(ui, spec, highlight).then(Vec::new);
    }
    let tiled = spec.method.name == MethodName::Hierarchical;
    let axes = spec.problem.shape.len();
    let blocks = spec.problem.matrix.as_ref().map(|matrix| matrix.ordering);
    ui.add_enabled_ui(tiled, |ui| sliders(ui, &mut spec.method, axes, blocks, highlight)).inner
}

/// The sliders of tiles. `blocks` is the order of a matrix, whose tiles are blocks of rows.
fn sliders(
    ui: &mut Ui,
    method: &mut MethodSpec,
    axes: usize,
    blocks: Option<Ordering>,
    highlight: Option<Control>,
) -> Grabbed {
    let mut grabbed = None;
    let about = "Subiterations: sweeps inside every tile before it writes back. More of them save memory traffic, but the halo becomes stale.";
    highlighted(ui, highlight == Some(Control::K), |ui| {
        row(ui, "k", about, |ui| {
            grabbed = subiterations(ui, about, &mut method.k).then(Vec::new);
        });
    });
    if ui.layout().is_horizontal() {
        // There is no room for remarks.
    } else if method.k == Subiterations::Infinite {
        let about = "Every tile is solved exactly for its frozen halo, in its sine basis. Overlapping exact solves are the restricted additive Schwarz method; with one tile on the whole grid, a direct solver.";
        row(ui, "", about, |ui| {
            // With more words the panel would be wider than its place.
            ui.label(RichText::new("exact local solve").weak()).on_hover_text(about);
        });
    } else if method.prefers_spectral() {
        let about = "All subiterations of a tile are computed at once, in its sine basis: the cost does not depend on k, and the result is that of sweeps, up to rounding.";
        row(ui, "", about, |ui| {
            ui.label(RichText::new("in the sine basis").weak()).on_hover_text(about);
        });
    }
    let each = is_each(method);
    let lists = if each { axes } else { 1 };
    for (axis, axis_name) in AXIS_NAMES.iter().enumerate().take(lists) {
        let name = |what: &str| {
            if each { format!("{what} {axis_name}") } else { what.to_owned() }
        };
        let before = (method.overlap_of(axis), method.tile_of(axis));
        let (mut overlap, mut tile) = before;
        let largest = fitting(usize::MAX, tile);
        let about = match blocks {
            None => {
                "Points that neighbouring tiles share, an even number; each tile owns half of them. More overlap keeps stale values away from owned points, at the cost of redundant work."
            }
            Some(_) => {
                "Levels of overlap, an even number: a block also computes the rows within half as many steps of its own rows in the graph of the matrix, and discards them."
            }
        };
        highlighted(ui, highlight == Some(Control::Overlap), |ui| {
            row(ui, &name("Overlap"), about, |ui| {
                let even = |overlap: usize| overlap & !1;
                let range = 0..=largest;
                if stepped(ui, &name("Overlap"), about, &mut overlap, range, largest, even) {
                    let mut widest = method.clone();
                    set(&mut widest.overlap, axis, each, largest);
                    grabbed = Some(vec![widest]);
                }
            });
        });
        let has_remark = axes == 3 && axis + 1 == lists && !method.prefers_spectral();
        if has_remark && blocks.is_none() && !ui.layout().is_horizontal() {
            row(ui, "", DOES_NOT_PAY, |ui| {
                ui.label(RichText::new("does not pay in 3D").weak()).on_hover_text(DOES_NOT_PAY);
            });
        }
        let about = match blocks {
            None => "Points of a tile along an axis.",
            Some(Ordering::Tiles) => {
                "Rows of a block: a square number, for tiles of the grid of nodes."
            }
            Some(_) => "Rows of a block.",
        };
        highlighted(ui, highlight == Some(Control::Tile), |ui| {
            row(ui, &name("Tile"), about, |ui| {
                let multiple = |tile: usize, step: usize| (tile / step * step).max(step);
                let stop = |tile: usize| match blocks {
                    None => multiple(tile, TILE_STEP),
                    Some(Ordering::Tiles) => tile.isqrt().pow(2),
                    Some(_) => multiple(tile, BLOCK_STEP),
                };
                let (range, step) = match blocks {
                    None => (TILES, TILE_STEP),
                    Some(_) => (BLOCKS, BLOCK_STEP),
                };
                if stepped(ui, &name("Tile"), about, &mut tile, range.clone(), usize::MAX, stop) {
                    let tiles = range.step_by(step).map(|tile| {
                        let mut value = method.clone();
                        set(&mut value.tile, axis, each, stop(tile));
                        set(&mut value.overlap, axis, each, fitting(overlap, tile));
                        value
                    });
                    grabbed = Some(tiles.collect());
                }
            });
        });
        if (overlap, tile) != before {
            // The largest overlap follows from the tile, so that the slider is never at an invalid
            // value.
            if tile != before.1 {
                overlap = fitting(overlap, tile);
            }
            set(&mut method.overlap, axis, each, overlap);
            set(&mut method.tile, axis, each, tile);
        }
    }
    grabbed
}

/// Why overlap is not worth its work where tiles of a 3D grid are swept (`benches/results/volumes.md`).
const DOES_NOT_PAY: &str = "With overlap a 3D grid takes fewer cycles, but each takes longer than that saves. Measured at 256³ with tile 16 and k = 8 on an H200: 6,694 cycles in 1.06 s without overlap, 5,313 cycles in 1.44 s with 2 points. In the sine basis (k = ∞) overlap pays in 3D, too.";

/// The overlap, or the largest that a tile has room for.
fn fitting(overlap: usize, tile: usize) -> usize {
    overlap.min(tile.saturating_sub(2)) & !1
}

/// The check box for separate sliders of the axes.
fn apart(ui: &mut Ui, method: &mut MethodSpec, axes: usize) {
    let mut each = is_each(method);
    if axes > 1 {
        let names = if axes == 3 { "x, y and z" } else { "x and y" };
        let about = format!("Choose overlap and tile separately for {names}.");
        let about = about.as_str();
        row(ui, "", about, |ui| {
            let label = format!("Separate {names}");
            if ui.checkbox(&mut each, label).on_hover_text(about).changed() {
                method.tile =
                    if each { vec![method.tile_of(0); axes] } else { vec![method.tile_of(0)] };
                method.overlap = if each {
                    vec![method.overlap_of(0); axes]
                } else {
                    vec![method.overlap_of(0)]
                };
            }
        });
    }
}

/// Whether the axes differ, or may.
fn is_each(method: &MethodSpec) -> bool {
    method.tile.len() > 1 || method.overlap.len() > 1
}

/// k as a number of a slider or a field: infinity as the largest there is.
fn number_of(k: Subiterations) -> f64 {
    k.finite().map_or(f64::MAX, |k| k as f64)
}

/// The inverse.
fn k_of(number: f64) -> Subiterations {
    if number > MOST_SHOWN { Subiterations::Infinite } else { (number.round() as usize).into() }
}

/// A slider of powers of two with ∞ at its end, and a number field for any k. Returns whether a drag of
/// either began.
fn subiterations(ui: &mut Ui, about: &str, k: &mut Subiterations) -> bool {
    let old = *k;
    let by_key = !ui.input(|input| input.pointer.any_down() || input.pointer.any_released());
    let slider = Slider::from_get_set(1.0..=INFINITE_K, |new| {
        if let Some(new) = new {
            let steps_up = by_key && old.finite().is_some_and(|old| new == old as f64 + 1.0);
            let power = 1_usize << (new.round().max(1.0) as usize).ilog2();
            *k = match power {
                _ if new >= NEARLY_INFINITE_K => Subiterations::Infinite,
                power if steps_up && power < LARGEST_K => (2 * power).into(),
                _ if steps_up => Subiterations::Infinite,
                power => power.min(LARGEST_K).into(),
            };
        }
        number_of(*k).min(INFINITE_K)
    });
    let slider = slider.integer().logarithmic(true);
    let slider = slider.clamping(SliderClamping::Never).show_value(false);
    let slider = named(ui.add(slider), "k");
    let slider = if slider.dragged() { slider } else { slider.on_hover_text(about) };
    let mut number = number_of(*k);
    let field = typed(ui, &mut number, 1.0..=MOST_SUBITERATIONS as f64)
        .speed(0.1)
        .max_decimals(0)
        .custom_formatter(|number, _| k_of(number).label())
        .custom_parser(|text| text.parse().ok().map(number_of));
    let field = named(ui.add(field), "k").on_hover_text(about);
    if field.changed() {
        *k = k_of(number.max(0.0));
    }
    slider.drag_started() || field.drag_started()
}

/// A slider with the stops that `stop` returns, and beside it a number field for any value up to
/// `limit`. Returns whether it was just grabbed.
pub(super) fn stepped(
    ui: &mut Ui,
    name: &str,
    about: &str,
    value: &mut usize,
    range: RangeInclusive<usize>,
    limit: usize,
    stop: impl Fn(usize) -> usize,
) -> bool {
    let old = *value;
    // A number with many digits takes its place from the slider, so that the row keeps its width.
    let beyond = width_beyond(ui, *range.end());
    ui.spacing_mut().slider_width -= beyond;
    let by_key = !ui.input(|input| input.pointer.any_down() || input.pointer.any_released());
    let slider = Slider::from_get_set(*range.start() as f64..=*range.end() as f64, |new| {
        if let Some(new) = new {
            let new = new.round() as usize;
            *value = stop(new);
            if by_key && new == old + 1 {
                // A step up by key is the next stop; a step down is the previous one in any case.
                let next = (new..).map(&stop).find(|&stop| stop > old).unwrap_or(old);
                *value = next.min(limit.max(old));
            }
        }
        *value as f64
    });
    let slider = slider.integer().logarithmic(*range.start() > 0);
    // The value of an opened run stays until the slider is moved.
    let slider = slider.clamping(SliderClamping::Never).show_value(false);
    let slider = named(ui.add(slider), name);
    // While it is dragged, a tooltip would cover what moves with it.
    let slider = if slider.dragged() { slider } else { slider.on_hover_text(about) };
    let number = typed(ui, value, (*range.start()).min(1)..=limit).speed(0.1);
    let number = named(ui.add(number), name).on_hover_text(about);
    slider.drag_started() || number.drag_started()
}

/// By how much the field of a number would be too wide: one of few digits has some room beside it.
fn width_beyond(ui: &Ui, number: usize) -> f32 {
    let font = ui.style().drag_value_text_style.resolve(ui.style());
    let text = ui.painter().layout_no_wrap(number.to_string(), font, Color32::WHITE).size().x;
    let spacing = ui.spacing();
    let room = spacing.interact_size.x + spacing.item_spacing.x;
    (text + 2.0 * spacing.button_padding.x - room).max(0.0)
}

fn set(list: &mut Vec<usize>, axis: usize, each: bool, value: usize) {
    let at = if each { axis } else { 0 };
    if list.len() <= at {
        list.resize(at + 1, value);
    }
    list[at] = value;
}
