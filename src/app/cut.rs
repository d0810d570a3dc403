//! Fields along a line of the grid, which is dragged over the map.

use super::command::Command;
use super::convergence::{LABEL_ROOM, counting_axis, decades, steps};
use super::session::Session;
use super::theme;
use super::toolbar::named;
use crate::grid::{AxisTiling, Shape};
use crate::picture::number;
use crate::run::{Along, CutLine, FieldKind, Report};
use eframe::egui::{self, ComboBox, DragValue, PopupCloseBehavior, RichText, Ui};
use egui_plot::{
    Corner, HoverPosition, Legend, Line, Plot, PlotPoints, VLine, uniform_grid_spacer,
};

/// Tiles of a line whose borders can be told apart in its profile.
const MOST_BORDERS: usize = 128;

/// Room for the values beside a profile, such as `−5×10⁻⁴`.
pub(super) const VALUE_ROOM: f32 = 58.0;

/// What a profile is divided by, so that several fit into one plot.
struct Unit {
    name: &'static str,
    size: f64,
}

/// Draws the fields along the cut, tile borders marked, and gives the point of the grid under the
/// cursor.
pub(super) fn ui(
    ui: &mut Ui,
    session: &Session,
    report: Option<&Report>,
    commands: &mut Vec<Command>,
) -> Option<[usize; 2]> {
    let report = report?;
    let shape = report.plan.problem.shape;
    controls(ui, session, &shape, commands);
    let line = report.seen.along.first()?.line;
    let tiles = match line {
        CutLine::Row(_) => Some(report.plan.tiling.x()),
        CutLine::Column(_) => report.plan.tiling.y(),
    };
    let is_known = |along: &&Along| along.samples.values.iter().any(|value| value.is_finite());
    let known: Vec<_> = report.seen.along.iter().filter(is_known).collect();
    for along in report.seen.along.iter().filter(|along| !is_known(along)) {
        ui.label(RichText::new(unknown(report, along.field)).weak());
    }
    if known.is_empty() {
        return None;
    }
    let at = plot(ui, session, &known, tiles)?;
    Some(match line {
        CutLine::Row(row) => [at, row],
        CutLine::Column(column) => [column, at],
    })
}

fn controls(ui: &mut Ui, session: &Session, shape: &Shape, commands: &mut Vec<Command>) {
    let mut look = session.look.clone();
    ui.horizontal_wrapped(|ui| {
        let cut = &mut look.cut;
        if shape.dim() == 2 {
            let line = session.cut_line();
            let is_row = matches!(line, CutLine::Row(_));
            let about = "Cut along a row of points; drag the line over the map to another.";
            if ui.selectable_label(is_row, "Row").on_hover_text(about).clicked() && !is_row {
                cut.line = Some(CutLine::Row(shape.rows() / 2));
            }
            let about = "Cut along a column of points; drag the line over the map to another.";
            if ui.selectable_label(!is_row, "Column").on_hover_text(about).clicked() && is_row {
                cut.line = Some(CutLine::Column(shape.nx() / 2));
            }
            let (mut at, n, prefix) = match line {
                CutLine::Row(row) => (row, shape.rows(), "j "),
                CutLine::Column(column) => (column, shape.nx(), "i "),
            };
            let drag = ui.add(DragValue::new(&mut at).range(0..=n - 1).prefix(prefix));
            let about = "Which row or column the cut runs along, from 0.";
            if named(drag, "Cut at").on_hover_text(about).changed() {
                cut.line = Some(if is_row { CutLine::Row(at) } else { CutLine::Column(at) });
            }
        }
        let text = match session.cut_fields().len() {
            1 => session.look.field.label().to_owned(),
            count => format!("{count} fields"),
        };
        let combo = ComboBox::from_id_salt("cut fields")
            .width(92.0)
            .selected_text(text)
            .close_behavior(PopupCloseBehavior::CloseOnClickOutside);
        let response = combo.show_ui(ui, |ui| {
            for field in FieldKind::ALL {
                let of_map = field == session.look.field;
                let mut shown = of_map || cut.more.contains(&field);
                let check = egui::Checkbox::new(&mut shown, field.label());
                let check = ui.add_enabled(!of_map, check).on_hover_text(field.about());
                if check.on_disabled_hover_text("The field of the map is always shown.").changed() {
                    cut.more.retain(|other| *other != field);
                    cut.more.extend(shown.then_some(field));
                }
            }
        });
        named(response.response, "Fields along the cut")
            .on_hover_text("Which fields are drawn along the cut, beside that of the map.");
        ui.checkbox(&mut cut.log, "Log").on_hover_text(
            "Draw magnitudes on a logarithmic axis; otherwise several fields are each divided by their largest magnitude.",
        );
    });
    if look != session.look {
        commands.push(Command::Look(look));
    }
}

/// Draws the profiles, and gives the place along the cut under the cursor.
fn plot(
    ui: &mut Ui,
    session: &Session,
    known: &[&Along],
    tiles: Option<&AxisTiling>,
) -> Option<usize> {
    let log = session.look.cut.log;
    let together = known.len() > 1;
    let largest = |along: &Along| {
        along.points().map(|[_, value]| value.abs()).filter(|v| v.is_finite()).fold(0.0, f64::max)
    };
    let unit = |along: &&Along| Unit {
        name: along.field.label(),
        size: if together && !log && largest(along) > 0.0 { largest(along) } else { 1.0 },
    };
    let units: Vec<Unit> = known.iter().map(unit).collect();
    let faint = ui.visuals().widgets.noninteractive.bg_stroke.color;
    let (i, borders) = match known[0].line {
        CutLine::Row(_) => ("i", tiles),
        CutLine::Column(_) => ("j", tiles),
    };
    let place = tiles.cloned();
    let mut plot = Plot::new("profile")
        .height(ui.available_height())
        .width(ui.available_width() - LABEL_ROOM)
        .x_grid_spacer(uniform_grid_spacer(|input| steps(input.base_step_size)))
        .custom_x_axes(vec![counting_axis(i)])
        .y_axis_min_width(VALUE_ROOM)
        .y_axis_formatter(move |mark, _| if log { power(mark.value) } else { number(mark.value) })
        .allow_scroll(false)
        .grid_color(theme::grid(ui));
    if log {
        plot = plot.y_grid_spacer(uniform_grid_spacer(|input| decades(input.base_step_size)));
    }
    if together {
        plot =
            plot.legend(Legend::default().position(Corner::RightTop).follow_insertion_order(true));
    }
    let curves: Vec<_> =
        known.iter().zip(&units).map(|(along, unit)| curve(along, unit, log)).collect();
    let names: Vec<_> = units.iter().map(|unit| unit.name).collect();
    let colours: Vec<_> = (0..known.len()).map(|index| theme::curve(ui, index)).collect();
    let plot = plot
        .label_formatter(move |hover| Some(read_off(hover, i, log, &units, place.as_ref())))
        .show(ui, |plot| {
            // More borders than can be told apart would be a grey wall.
            if let Some(tiles) = borders.filter(|tiles| tiles.count() <= MOST_BORDERS) {
                for border in tiles.borders() {
                    let line = VLine::new("", border as f64 - 0.5).color(faint).width(1.0);
                    plot.vline(line.allow_hover(false));
                }
            }
            for ((points, name), colour) in curves.into_iter().zip(names).zip(colours) {
                plot.line(Line::new(name, points).color(colour).width(1.5));
            }
        });
    let pointer = plot.response.hover_pos()?;
    let at = plot.transform.value_from_position(pointer).x.round();
    let n = tiles.map_or(known[0].samples.values.len(), AxisTiling::n);
    (at >= 0.0 && at < n as f64).then_some(at as usize)
}

/// The points of a profile as they are drawn.
fn curve(along: &Along, unit: &Unit, log: bool) -> PlotPoints<'static> {
    let points = along
        .points()
        .map(|[i, value]| [i, if log { value.abs().log10() } else { value / unit.size }]);
    points.filter(|[_, y]| y.is_finite()).collect()
}

/// A mark of the logarithmic axis; none between the decades.
pub(super) fn power(mark: f64) -> String {
    let exponent = mark.round();
    if (mark - exponent).abs() > 1e-6 {
        return String::new();
    }
    number(10f64.powf(exponent)).replace("1×", "")
}

/// What stands at the cursor: the point, its value, and how far a tile border is.
fn read_off(
    hover: &HoverPosition<'_>,
    axis: &str,
    log: bool,
    units: &[Unit],
    tiles: Option<&AxisTiling>,
) -> String {
    let (name, at) = match hover {
        HoverPosition::NearDataPoint { plot_name, position, .. } => (*plot_name, *position),
        HoverPosition::Elsewhere { position } => ("", *position),
    };
    let unit = units.iter().find(|unit| unit.name == name).map(|unit| unit.size);
    let value = if log { 10f64.powf(at.y) } else { at.y * unit.unwrap_or(1.0) };
    let i = at.x.round().max(0.0) as usize;
    let place = match tiles.filter(|tiles| i < tiles.n()) {
        Some(tiles) => {
            let border = match tiles.distance(i) {
                Some(1) => ", at a border".to_owned(),
                Some(distance) => format!(", {distance} points to a border"),
                None => String::new(),
            };
            format!("\ntile {}{border}", tiles.owner(i))
        }
        None => String::new(),
    };
    let name = if name.is_empty() { String::new() } else { format!("{name}\n") };
    format!("{name}{axis} {i}\n{}{place}", number(value))
}

/// Why there is no profile of a field.
fn unknown(report: &Report, field: FieldKind) -> String {
    let picture = report.seen.picture.as_ref();
    match (field, picture.and_then(|picture| picture.cycles_per_row)) {
        (FieldKind::Staleness, Some(cycles)) => format!(
            "Jacobi's iteration is not at this cycle; the diagram compares every {}.",
            if cycles > 1 { format!("{cycles} cycles") } else { "cycle".to_owned() },
        ),
        _ => format!("The {} is not known at this cycle.", field.name()),
    }
}
