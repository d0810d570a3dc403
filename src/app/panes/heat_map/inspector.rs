//! The line under the map: the point under the cursor, and the edge share.

use crate::app::panes::heat_map::sides::Side;
use crate::app::widgets::colour_bar;
use crate::app::widgets::labels::mathematics;
use crate::grid::{INDEX_NAMES, Slice};
use crate::picture::{grouped, number};
use crate::run::{FieldKind, Picture};
use crate::solver::EdgeShare;
use eframe::egui::{self, Rect, TextStyle, Ui};

/// Height of the text under the map.
pub const ROOM: f32 = 46.0;

/// The lines under the map: the point under the cursor, and the edge share of a residual.
pub fn ui(ui: &mut Ui, area: Rect, hover: Option<[usize; 2]>, sides: &[Side<'_>]) {
    let Some((side, other)) = sides.split_first() else {
        return;
    };
    let rect = Rect::from_min_max(
        egui::pos2(area.left(), area.bottom() + 6.0),
        egui::pos2(area.right() + colour_bar::ROOM, area.bottom() + ROOM),
    );
    let mut ui = ui.new_child(egui::UiBuilder::new().max_rect(rect));
    ui.spacing_mut().item_spacing.y = 2.0;
    let text = hover.map_or_else(
        || "Point at the map to read a value; scroll to zoom, drag to pan, double click for the whole grid.".to_owned(),
        |point| describe(point, side, other.first()),
    );
    let font = TextStyle::Body.resolve(ui.style());
    let text = mathematics(&text, font, ui.visuals().text_color());
    ui.add(egui::Label::new(text).truncate());
    let has_tiles = !side.plan.spec.method.name.is_streaming();
    if side.observation.field != FieldKind::Residual || !has_tiles {
        return;
    }
    ui.add(
        egui::Label::new(egui::RichText::new(edge_share(&side.observation.edge)).weak()).truncate(),
    )
    .on_hover_text(
        "The share of ‖r‖² within 2 points of a tile border, and the share of points there.",
    );
}

/// Describes a point: position, value, and where the method has tiles, its tile and the distance from its border.
pub fn describe(point: [usize; 2], side: &Side<'_>, other: Option<&Side<'_>>) -> String {
    let [i, row] = point;
    let (shown, picture) = (side.shown(), side.picture);
    let tiling = shown.tiling();
    let value = value(point, side);
    let other = other.map_or_else(String::new, |other| {
        let point = [i, other.row_beside(row, side)];
        format!("   {}: {}", other.name, self::value(point, other))
    });
    let symbol = side.observation.field.symbol();
    let symbol = if side.is_difference { format!("Δ({symbol})") } else { symbol.to_owned() };
    let tile_x = tiling.x().owner(i);
    let (place, tile, distance) = match (picture.cycles_per_row, tiling.y()) {
        (Some(cycles), _) => (
            format!("i {i}, cycle {}", grouped(row as u64 * cycles)),
            format!("{tile_x}"),
            tiling.x().distance(i),
        ),
        (None, Some(y)) => (
            place_name(point, picture),
            format!("({tile_x}, {})", y.owner(row)),
            tiling.distance(&[i, row]),
        ),
        (None, None) => (format!("i {i}"), format!("{tile_x}"), tiling.x().distance(i)),
    };
    let edge = match distance {
        Some(1) => "at a tile border".to_owned(),
        Some(distance) => format!("{distance} points from the nearest tile border"),
        None => "one tile, no tile border".to_owned(),
    };
    let in_tile = match side.plan.spec.method.name.is_streaming() {
        true => String::new(),
        false => format!("   tile {tile}   {edge}"),
    };
    let device =
        side.device_of([i, row]).map_or_else(String::new, |device| format!("   device {device}"));
    format!("{place}   {symbol} = {value}{other}{in_tile}{device}")
}

/// The indices of a point of a 2D grid, or of a slice or a projection of a 3D one.
fn place_name([column, row]: [usize; 2], picture: &Picture) -> String {
    let slice = picture.samples.slice;
    let [across, down] = Slice::index_names(slice);
    let index = slice.map_or(String::new(), |slice| match picture.is_projection {
        true => format!(", largest of all {}", INDEX_NAMES[slice.axis]),
        false => format!(", {} {}", INDEX_NAMES[slice.axis], slice.index),
    });
    format!("{across} {column}, {down} {row}{index}")
}

/// The value at a point, if known.
fn value(point: [usize; 2], side: &Side<'_>) -> String {
    let [i, row] = point;
    let samples = &side.picture.samples;
    let exact = samples.at(i, row).filter(|_| samples.block == [1, 1]);
    let probed = side.observation.probe.filter(|(at, _)| *at == point).map(|(_, value)| value);
    // A diagram and a projection have only their samples.
    let has_points = side.picture.cycles_per_row.is_none() && !side.picture.is_projection;
    let value = if has_points { exact.or(probed) } else { samples.at(i, row) };
    match value {
        Some(value) if value.is_nan() => "unknown".to_owned(),
        // Samples are single precision.
        Some(value) if value.is_infinite() => {
            format!("{} (beyond {})", number(value.into()), number(f32::MAX.into()))
        }
        Some(value) => number(value.into()),
        None => "…".to_owned(),
    }
}

fn edge_share(share: &EdgeShare) -> String {
    if !share.residual.is_finite() {
        return "Edge share: unknown, since the residual is not finite".to_owned();
    }
    format!(
        "Edge share: {:.0} % of ‖r‖² on {:.0} % of the points",
        share.residual * 100.0,
        share.points * 100.0
    )
}
