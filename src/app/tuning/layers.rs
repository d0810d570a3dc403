//! A small map per tile size, or k, and kernel, all with the same colour scale. A click makes one the large map.

use crate::app::tuning::map::{Cells, fill};
use crate::app::tuning::results::MapResults;
use crate::picture::{Layer, MapRows, MapValue, Range, Scale, SweepMap};
use eframe::egui::{self, Align2, Rect, ScrollArea, Sense, Stroke, StrokeKind, TextStyle, Ui};

/// Size of a small map, and height of its name, in points.
const MAP: [f32; 2] = [76.0, 44.0];
const NAME: f32 = 16.0;

/// Draws the small maps, and returns their common scale; `None` where there is only one map.
pub(super) fn ui(
    ui: &mut Ui,
    results: &MapResults,
    value: MapValue,
    layer: &mut Layer,
) -> Option<Scale> {
    let layers = layers(results, layer.rows);
    if layers.len() == 1 {
        return None;
    }
    let map = |layer: &Layer| SweepMap::new(results.data(), *layer, value);
    let mut maps: Vec<_> = layers.iter().map(map).collect();
    let values =
        maps.iter().flat_map(|map| map.cells.iter().flatten()).filter_map(|cell| cell.shown());
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(value), high.max(value))
    });
    let scale = Scale::new(maps[0].scale.kind(), Range::new(low, high));
    maps.iter_mut().for_each(|map| map.scale = scale);
    let best = maps[0].best.and_then(|[across, down]| maps[0].cells[down][across].row);
    ScrollArea::horizontal().id_salt("layers").show(ui, |ui| {
        ui.horizontal(|ui| {
            for (other, map) in layers.iter().zip(&maps) {
                let holds = map.cells.iter().flatten().any(|cell| {
                    best.is_some_and(|best| cell.row.is_some_and(|row| std::ptr::eq(best, row)))
                });
                let is_chosen = other == layer;
                if small(ui, map, &name(other), holds, is_chosen) {
                    *layer = *other;
                }
            }
        });
    });
    Some(scale)
}

/// All maps with these rows: the best of all, and each tile size, or k, with each kernel where there are several.
fn layers(results: &MapResults, rows: MapRows) -> Vec<Layer> {
    let spec = &results.outline.spec;
    let best = Layer { rows, ..Layer::default() };
    let (tile, k) = spec.cycle.tiles().map_or((&[][..], &[][..]), |it| (&it.tile[..], &it.k[..]));
    let held: Vec<_> = match rows {
        MapRows::K => tile.iter().map(|tile| Layer { tile: Some(*tile), ..best }).collect(),
        MapRows::Tile => k.iter().map(|k| Layer { k: Some(*k), ..best }).collect(),
    };
    let held = if held.len() > 1 { held } else { vec![best] };
    let mut layers = vec![best];
    if held.len() * spec.kernel.len() > 1 {
        for layer in held {
            let kernels = spec.kernel.iter().filter(|_| spec.kernel.len() > 1);
            let kernels: Vec<_> = kernels.copied().map(Some).collect();
            let kernels = if kernels.is_empty() { vec![None] } else { kernels };
            layers.extend(kernels.into_iter().map(|kernel| Layer { kernel, ..layer }));
        }
    }
    layers
}

fn name(layer: &Layer) -> String {
    // Beside a kernel there is no room for the word.
    let tile = layer.tile.map(|tile| match layer.kernel {
        None => format!("tile {tile}"),
        Some(_) => tile.to_string(),
    });
    let held = tile.or_else(|| layer.k.map(|k| format!("k = {}", k.label())));
    match (held, layer.kernel) {
        (None, None) => "best of all".to_owned(),
        (Some(held), None) => held,
        (None, Some(kernel)) => kernel.label().to_owned(),
        (Some(held), Some(kernel)) => format!("{held}, {}", kernel.label()),
    }
}

/// Draws a small map, outlined if it is chosen; returns whether it was clicked.
fn small(ui: &mut Ui, map: &SweepMap<'_>, name: &str, holds_best: bool, is_chosen: bool) -> bool {
    let [width, height] = MAP;
    let (rect, response) = ui.allocate_exact_size(egui::vec2(width, height + NAME), Sense::click());
    let label = format!("Map of {name}");
    response
        .widget_info(|| egui::WidgetInfo::selected(egui::Role::Button, true, is_chosen, &label));
    let area = Rect::from_min_size(rect.min, egui::vec2(width, height)).shrink(2.0);
    fill(ui, &Cells::new(area, map), map);
    let visuals = ui.visuals();
    let (colour, line) = match (is_chosen, response.hovered() || response.has_focus()) {
        (true, _) => (visuals.selection.bg_fill, 2.0),
        (false, true) => (visuals.text_color(), 1.0),
        (false, false) => (visuals.weak_text_color(), 1.0),
    };
    ui.painter().rect_stroke(area, 0.0, Stroke::new(line, colour), StrokeKind::Outside);
    let text = if holds_best { format!("★ {name}") } else { name.to_owned() };
    let (font, ink) = (TextStyle::Small.resolve(ui.style()), visuals.text_color());
    let below = egui::pos2(rect.center().x, area.bottom() + 4.0);
    ui.painter().with_clip_rect(rect).text(below, Align2::CENTER_TOP, text, font, ink);
    let about = if holds_best {
        "Show this map large. It contains the best cell of all."
    } else {
        "Show this map large."
    };
    response.on_hover_text(about).clicked()
}
