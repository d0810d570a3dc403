//! Marks over the map: tile borders, the point under the cursor, the cycles of a diagram.

use crate::app::widgets::labels::mathematics;
use crate::app::widgets::{device_border, theme};
use crate::grid::{AxisTiling, Tiling};
use crate::picture::linear_ticks;
use crate::run::Picture;
use eframe::egui::{
    self, Align2, Color32, Pos2, Rangef, Rect, Stroke, TextStyle, Ui, Vec2, emath::RectTransform,
    pos2, vec2,
};
use std::f32::consts::FRAC_PI_2;

/// Tile borders are drawn in full strength if tiles are at least this large on the screen, in points;
/// closer together they are fainter, as they would hide the map.
const CLEAR_TILE: f32 = 24.0;

/// The least strength of tile borders, and their least distance on the screen, in points.
const FAINTEST: f32 = 0.3;
const NEAREST_BORDERS: f32 = 3.0;

/// A point is outlined if it is at least this large on the screen, in points.
const SMALLEST_OUTLINED: f32 = 3.0;

/// Radius of the mark of a probe, in points.
const PROBE_RADIUS: f32 = 5.0;

/// Room around a caption and within it, its lines at most, and the least room that a caption needs, in
/// points.
const CAPTION_MARGIN: f32 = 6.0;
const CAPTION_PADDING: Vec2 = vec2(6.0, 3.0);
const CAPTION_LINES: usize = 3;
const NARROWEST_CAPTION: f32 = 48.0;

/// Width of the cycle numbers beside a space–time diagram, and height of the numbers of points below it.
pub const CYCLES_ROOM: f32 = 52.0;
pub const POINTS_ROOM: f32 = 30.0;

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
    tiling: &Tiling,
    [across, down]: [usize; 2],
) {
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
    let mut widest: f32 = 0.0;
    for tick in linear_ticks(lo, hi, 8) {
        let y = area.top() + area.height() * tick.position as f32;
        ui.painter().hline(area.left() - 4.0..=area.left(), y, Stroke::new(1.0, colour));
        // The labels at both ends stay within the height of the map, which may be lower than a
        // label.
        let y = y.min(area.bottom() - 6.0).max(area.top() + 6.0);
        let at = egui::pos2(area.left() - 6.0, y);
        let label = ui.painter().text(at, Align2::RIGHT_CENTER, tick.label, font.clone(), colour);
        widest = widest.max(area.left() - label.left());
    }
    let title = ui.painter().layout_no_wrap("cycle".to_owned(), font, colour);
    // Long labels move the title to the left.
    let room = CYCLES_ROOM.max(widest + title.size().y);
    let at = egui::pos2(area.left() - room, area.center().y + title.size().x / 2.0);
    let text = egui::epaint::TextShape::new(at, title, colour).with_angle(-FRAC_PI_2);
    ui.painter().add(text);
}

/// Points below a space–time diagram.
pub fn point_axis(ui: &Ui, area: Rect, seen: Rect) {
    let font = TextStyle::Small.resolve(ui.style());
    let colour = ui.visuals().text_color();
    for tick in linear_ticks(f64::from(seen.left()), f64::from(seen.right()), 8) {
        let x = area.left() + area.width() * tick.position as f32;
        ui.painter().vline(x, area.bottom()..=area.bottom() + 4.0, Stroke::new(1.0, colour));
        let at = egui::pos2(x.min(area.right() - 8.0).max(area.left() + 4.0), area.bottom() + 5.0);
        ui.painter().text(at, Align2::CENTER_TOP, tick.label, font.clone(), colour);
    }
    let at = egui::pos2(area.center().x, area.bottom() + POINTS_ROOM);
    ui.painter().text(at, Align2::CENTER_BOTTOM, "i", font, colour);
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
    let from = to_screen.from();
    // A light line beside a dark one is seen on any colour.
    let strokes = |axis: &AxisTiling, scale: f32| {
        let size = axis.tile().saturating_sub(axis.overlap()) as f32 * scale;
        let strength = (size / CLEAR_TILE).clamp(FAINTEST, 1.0);
        let colours = [Color32::from_black_alpha(110), Color32::from_white_alpha(100)];
        colours.map(|colour| Stroke::new(1.0, colour.gamma_multiply(strength)))
    };
    let x = tiling.x();
    if let Some(cycles) = picture.cycles_per_row {
        // Future cycles have no tiles yet.
        grid.y = grid.y.min((latest / cycles + 1) as f32);
    }
    let extent = to_screen.transform_rect(Rect::from_min_size(Pos2::ZERO, grid));
    let [dark, light] = strokes(x, scale.x);
    for at in places(x, from.x_range(), |border| to_screen.transform_pos(pos2(border, 0.0)).x) {
        painter.vline(at + 1.0, extent.y_range(), dark);
        painter.vline(at, extent.y_range(), light);
    }
    let Some(y) = tiling.y() else { return };
    let [dark, light] = strokes(y, scale.y);
    for at in places(y, from.y_range(), |border| to_screen.transform_pos(pos2(0.0, border)).y) {
        painter.hline(extent.x_range(), at + 1.0, dark);
        painter.hline(extent.x_range(), at, light);
    }
}

/// Draws where devices that share the grid meet along an axis, and names the devices at the left or at the top. `grid` is
/// the size of the picture in points.
pub fn devices(
    ui: &Ui,
    area: Rect,
    to_screen: &RectTransform,
    grid: Vec2,
    (axis, borders): (usize, &[usize]),
) {
    if borders.is_empty() {
        return;
    }
    let painter = ui.painter().with_clip_rect(area);
    let place = |along: f32, across: f32| match axis {
        0 => to_screen.transform_pos(pos2(along, across)),
        _ => to_screen.transform_pos(pos2(across, along)),
    };
    let ends = [0.0, if axis == 0 { grid.y } else { grid.x }];
    for &border in borders {
        device_border::paint(&painter, ends.map(|end| place(border as f32, end)));
    }
    let font = TextStyle::Small.resolve(ui.style());
    let starts = std::iter::once(0.0).chain(borders.iter().map(|border| *border as f32));
    let mut end = f32::NEG_INFINITY;
    for (device, start) in starts.enumerate() {
        let galley =
            painter.layout_no_wrap(format!("device {device}"), font.clone(), Color32::WHITE);
        let room = galley.size() + 2.0 * CAPTION_PADDING;
        // Where the picture begins on the screen, or the area, if the picture begins before it.
        let at = place(start, 0.0);
        let at = if axis == 0 {
            at.max(pos2(at.x, area.top()))
        } else {
            at.max(pos2(area.left(), at.y))
        };
        // Some devices have less room than their name.
        if at[axis] < end {
            continue;
        }
        end = at[axis] + room[axis];
        let at = at + vec2(0.0, 2.0) + CAPTION_PADDING;
        let rect = Rect::from_min_size(at, galley.size()).expand2(vec2(3.0, 1.0));
        painter.rect_filled(rect, 2.0, Color32::from_black_alpha(150));
        painter.galley(at, galley, Color32::WHITE);
    }
}

/// Where the tile borders of an axis that are seen lie on the screen. Of those nearer than
/// [`NEAREST_BORDERS`], some are left out.
fn places(
    axis: &AxisTiling,
    seen: Rangef,
    place: impl Fn(f32) -> f32,
) -> impl Iterator<Item = f32> {
    let mut last = f32::NEG_INFINITY;
    let borders = axis.borders().map(|border| border as f32);
    let borders: Vec<_> = borders.filter(|border| seen.contains(*border)).map(place).collect();
    borders.into_iter().filter(move |at| {
        let is_apart = *at - last >= NEAREST_BORDERS;
        last = if is_apart { *at } else { last };
        is_apart
    })
}

/// Labels a part of the map in one of its corners. A long text has several lines; what has no room in
/// them ends with an ellipsis.
pub fn caption(ui: &Ui, area: Rect, text: &str, corner: Align2) {
    let room = area.width() - 2.0 * (CAPTION_MARGIN + CAPTION_PADDING.x);
    if room < NARROWEST_CAPTION {
        return;
    }
    let font = TextStyle::Small.resolve(ui.style());
    let colour = ui.visuals().strong_text_color();
    let mut job = mathematics(text, font, colour);
    job.wrap.max_width = room;
    job.wrap.max_rows = CAPTION_LINES;
    let galley = ui.painter().layout_job(job);
    let size = galley.size() + 2.0 * CAPTION_PADDING;
    let rect = corner.align_size_within_rect(size, area.shrink(CAPTION_MARGIN));
    let painter = ui.painter().with_clip_rect(area);
    let fill = ui.visuals().window_fill.gamma_multiply(0.88);
    painter.rect_filled(rect, 4.0, fill);
    painter.galley(rect.min + CAPTION_PADDING, galley, colour);
}
