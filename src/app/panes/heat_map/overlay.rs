//! Marks over the map: tile borders, the point under the cursor, the cycles of a diagram.

use crate::app::widgets::theme;
use crate::grid::{AxisTiling, Tiling};
use crate::picture::linear_ticks;
use crate::run::{Picture, Report};
use eframe::egui::{
    self, Align2, Color32, Pos2, Rect, Stroke, TextStyle, Ui, Vec2, emath::RectTransform,
};

/// Tile borders are drawn if tiles are at least this large on the screen, in points: closer
/// together they would hide the map.
const MIN_TILE: f32 = 5.0;

/// A point is outlined if it is at least this large on the screen, in points.
const SMALLEST_OUTLINED: f32 = 3.0;

/// Radius of the mark of a probe, in points.
const PROBE_RADIUS: f32 = 5.0;

/// Width of the cycle numbers beside a space–time diagram.
pub const CYCLES_ROOM: f32 = 52.0;

/// Outlines the point under the cursor.
pub fn outline(ui: &Ui, to_screen: &RectTransform, [i, row]: [usize; 2]) {
    if to_screen.scale().x < SMALLEST_OUTLINED {
        return;
    }
    let min = egui::pos2(i as f32, row as f32);
    let rect = to_screen.transform_rect(Rect::from_min_size(min, Vec2::splat(1.0)));
    let stroke = Stroke::new(1.5, Color32::WHITE);
    ui.painter().rect_stroke(rect, 0.0, stroke, egui::StrokeKind::Outside);
}

/// Marks a probe; in a diagram, its column.
pub fn probe(
    ui: &Ui,
    area: Rect,
    to_screen: &RectTransform,
    [i, row]: [usize; 2],
    index: usize,
    is_diagram: bool,
) {
    let at = to_screen.transform_pos(egui::pos2(i as f32 + 0.5, row as f32 + 0.5));
    let painter = ui.painter().with_clip_rect(area);
    let rings = [(5.0, Color32::BLACK), (3.5, Color32::WHITE), (2.0, theme::curve(ui, index))];
    for (width, colour) in rings {
        let stroke = Stroke::new(width, colour);
        if is_diagram {
            painter.vline(at.x, area.y_range(), stroke);
        } else {
            painter.circle_stroke(at, PROBE_RADIUS, stroke);
        }
    }
}

/// Frames the points that a tile owns; in a diagram, at all cycles. `grid` is the size of the
/// picture.
pub fn tile(
    ui: &Ui,
    area: Rect,
    to_screen: &RectTransform,
    grid: Vec2,
    report: &Report,
    [across, down]: [usize; 2],
) {
    let tiling = &report.plan.tiling;
    let owned = |axis: &AxisTiling, tile: usize| {
        let owned = axis.owned(tile.min(axis.count() - 1));
        owned.start as f32..=owned.end as f32
    };
    let rows = tiling.y().map_or(0.0..=grid.y, |y| owned(y, down));
    let cells = Rect::from_x_y_ranges(owned(tiling.x(), across), rows);
    let rect = to_screen.transform_rect(cells);
    let painter = ui.painter().with_clip_rect(area);
    for (width, colour) in [(4.0, theme::MARK_OUTLINE), (2.0, Color32::WHITE)] {
        painter.rect_stroke(rect, 0.0, Stroke::new(width, colour), egui::StrokeKind::Middle);
    }
}

/// Cycles beside a space–time diagram.
pub fn cycle_axis(ui: &Ui, area: Rect, seen: Rect, cycles_per_row: u64) {
    let cycles = cycles_per_row as f64;
    let (lo, hi) = (f64::from(seen.top()) * cycles, f64::from(seen.bottom()) * cycles);
    let font = TextStyle::Small.resolve(ui.style());
    let colour = ui.visuals().text_color();
    for tick in linear_ticks(lo, hi, 8) {
        let y = area.top() + area.height() * tick.position as f32;
        ui.painter().hline(area.left() - 4.0..=area.left(), y, Stroke::new(1.0, colour));
        // The labels at both ends stay within the height of the map, which may be lower than a
        // label.
        let y = y.min(area.bottom() - 6.0).max(area.top() + 6.0);
        let at = egui::pos2(area.left() - 6.0, y);
        ui.painter().text(at, Align2::RIGHT_CENTER, tick.label, font.clone(), colour);
    }
}

/// Marks the shown cycle in a space–time diagram.
pub fn shown_cycle(ui: &Ui, area: Rect, to_screen: &RectTransform, row: f32) {
    let y = to_screen.transform_pos(egui::pos2(0.0, row + 0.5)).y;
    if area.y_range().contains(y) {
        let painter = ui.painter();
        painter.hline(area.x_range(), y, Stroke::new(3.0, Color32::from_black_alpha(140)));
        painter.hline(area.x_range(), y, Stroke::new(1.0, Color32::WHITE));
    }
}

/// Draws tile borders. `grid` is the size of the picture in points, `latest` the newest cycle of a
/// diagram.
pub fn borders(
    ui: &Ui,
    area: Rect,
    to_screen: &RectTransform,
    mut grid: Vec2,
    tiling: &Tiling,
    picture: &Picture,
    latest: u64,
) {
    let scale = to_screen.scale();
    let painter = ui.painter().with_clip_rect(area);
    let stroke = Stroke::new(1.0, Color32::from_white_alpha(70));
    let from = to_screen.from();
    let close = |tile: usize, overlap: usize, scale: f32| {
        (tile.saturating_sub(overlap) as f32) * scale < MIN_TILE
    };
    let x = tiling.x();
    if let Some(cycles) = picture.cycles_per_row {
        // Future cycles have no tiles yet.
        grid.y = grid.y.min((latest / cycles + 1) as f32);
    }
    let extent = to_screen.transform_rect(Rect::from_min_size(Pos2::ZERO, grid));
    if !close(x.tile(), x.overlap(), scale.x) {
        for border in x.borders().filter(|&border| from.x_range().contains(border as f32)) {
            let at = to_screen.transform_pos(egui::pos2(border as f32, 0.0)).x;
            painter.vline(at, extent.y_range(), stroke);
        }
    }
    if let Some(y) = tiling.y()
        && !close(y.tile(), y.overlap(), scale.y)
    {
        for border in y.borders().filter(|&border| from.y_range().contains(border as f32)) {
            let at = to_screen.transform_pos(egui::pos2(0.0, border as f32)).y;
            painter.hline(extent.x_range(), at, stroke);
        }
    }
}

/// Labels a part of the map in one of its corners.
pub fn caption(ui: &Ui, area: Rect, text: &str, corner: Align2) {
    let font = TextStyle::Small.resolve(ui.style());
    let colour = ui.visuals().strong_text_color();
    let galley = ui.painter().layout_no_wrap(text.to_owned(), font, colour);
    let size = galley.size() + egui::vec2(12.0, 6.0);
    let rect = corner.align_size_within_rect(size, area.shrink(6.0));
    let painter = ui.painter().with_clip_rect(area);
    let fill = ui.visuals().window_fill.gamma_multiply(0.88);
    painter.rect_filled(rect, 4.0, fill);
    painter.galley(rect.min + egui::vec2(6.0, 3.0), galley, colour);
}
