//! The colour bar: colours, ticks, and marks where values lie beyond its ends.

use crate::app::widgets::labels::mathematics;
use crate::picture::{ColourMap, End, INFINITE, Range, Scale, bar_ticks};
use eframe::egui::{self, Align2, Color32, CursorIcon, Rect, Sense, Stroke, TextStyle, Ui};

/// Room for the bar beside a picture, its ticks included.
pub const ROOM: f32 = 84.0;

/// Room for the histogram between picture and bar.
pub const HISTOGRAM_ROOM: f32 = 26.0;

/// Bins of the histogram.
pub const BINS: usize = 96;

/// How near an end of the bar the pointer must be to drag it, in points.
const REACH: f32 = 7.0;

/// Height of a label beside the bar, and the largest number of labels.
const TICK_ROOM: f32 = 20.0;
const MAX_TICKS: usize = 7;

/// Width of the bar itself.
const WIDTH: f32 = 16.0;

/// What a colour bar shows.
pub struct Bar<'a> {
    pub map: ColourMap,
    pub scale: &'a Scale,
    /// Whether values lie beyond the lower and the upper end of the colours.
    pub clips: [bool; 2],
    /// Whether there are infinite values, which have a colour of their own.
    pub has_infinite: bool,
    /// The title.
    pub title: &'a str,
    /// Counts of values per colour, from the lower end to the upper; may be empty.
    pub histogram: &'a [u32],
}

/// Where the bar lies, to the right of a picture.
fn place(area: Rect, shows: &Bar<'_>) -> Rect {
    let room = if shows.histogram.is_empty() { 0.0 } else { HISTOGRAM_ROOM };
    Rect::from_min_size(
        area.right_top() + egui::vec2(14.0 + room, 26.0),
        egui::vec2(WIDTH, (area.height() - 36.0).max(1.0)),
    )
}

/// Lets the ends of the bar be dragged, and returns the new range.
pub fn ends(ui: &Ui, area: Rect, shows: &Bar<'_>) -> Option<Range> {
    let bar = place(area, shows);
    let ends = [
        (End::High, bar.top(), "Upper end of the colours"),
        (End::Low, bar.bottom(), "Lower end of the colours"),
    ];
    let mut dragged = None;
    for (end, y, name) in ends {
        let side = egui::vec2(WIDTH + 2.0 * REACH, 2.0 * REACH);
        let handle = Rect::from_center_size(egui::pos2(bar.center().x, y), side);
        let response = ui.interact(handle, ui.scope_id().with(name), Sense::drag());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Splitter, true, name));
        let response = response.on_hover_cursor(CursorIcon::ResizeVertical);
        if response.hovered() || response.dragged() {
            let stroke = Stroke::new(3.0, ui.visuals().text_color());
            ui.painter().hline(bar.x_range().expand(3.0), y, stroke);
        }
        if response.dragged() && response.drag_delta().y != 0.0 {
            let by = -response.drag_delta().y / bar.height();
            dragged = Some(shows.scale.with_end_moved(end, f64::from(by)));
        }
        response.on_hover_text(
            "Drag to change the range of the colours, which locks it. The bars count the cells of each colour.",
        );
    }
    dragged
}

/// Draws the colour bar to the right of `area`.
pub fn ui(ui: &Ui, area: Rect, shows: &Bar<'_>) {
    let bar = place(area, shows);
    let painter = ui.painter();
    let table = shows.map.table();
    let mut mesh = egui::Mesh::default();
    for (index, [red, green, blue, _]) in table.iter().enumerate() {
        let at = |index: usize| bar.bottom() - bar.height() * index as f32 / table.len() as f32;
        let y = at(index + 1)..=at(index);
        mesh.add_colored_rect(
            Rect::from_x_y_ranges(bar.x_range(), *y.start()..=*y.end()),
            Color32::from_rgb(*red, *green, *blue),
        );
    }
    painter.add(mesh);
    histogram(ui, bar, shows.histogram);
    let line = Stroke::new(1.0, ui.visuals().weak_text_color());
    painter.rect_stroke(bar, 0.0, line, egui::StrokeKind::Outside);
    let font = TextStyle::Small.resolve(ui.style());
    let colour = ui.visuals().text_color();
    let label = |y: f32, text: String| {
        painter.hline(bar.right()..=bar.right() + 4.0, y, line);
        let at = egui::pos2(bar.right() + 6.0, y);
        painter.text(at, Align2::LEFT_CENTER, text, font.clone(), colour);
    };
    let apart = f64::from(1.3 * font.size / bar.height());
    let mut below: Option<f32> = None;
    for tick in bar_ticks(shows.scale, most_ticks(bar.height()), apart) {
        let y = bar.bottom() - bar.height() * tick.position as f32;
        // A very low bar has room for one label.
        if below.is_none_or(|below| below - y >= font.size) {
            below = Some(y);
            label(y, tick.label);
        }
    }
    let marks = [shows.clips[0], shows.clips[1] || shows.has_infinite];
    for (end, _) in marks.iter().enumerate().filter(|(_, mark)| **mark) {
        let (y, way) = if end == 0 { (bar.bottom() + 2.0, 1.0) } else { (bar.top() - 2.0, -1.0) };
        let tip = egui::pos2(bar.center().x, y + 7.0 * way);
        let base = |x| egui::pos2(x, y);
        let is_infinite = end == 1 && shows.has_infinite;
        let [red, green, blue, _] = INFINITE;
        let fill = if is_infinite { Color32::from_rgb(red, green, blue) } else { colour };
        painter.add(egui::Shape::convex_polygon(
            vec![base(bar.left()), tip, base(bar.right())],
            fill,
            Stroke::NONE,
        ));
        if is_infinite {
            let at = egui::pos2(bar.right() + 6.0, y - 8.0);
            painter.text(at, Align2::LEFT_CENTER, "∞", font.clone(), colour);
        }
    }
    let at = area.right_top() + egui::vec2(12.0, 2.0);
    let title = painter.layout_job(mathematics(shows.title, font, colour));
    painter.galley(at, title, colour);
}

/// Draws the histogram to the left of the bar. Lengths are square roots of counts, so that small
/// counts remain visible.
fn histogram(ui: &Ui, bar: Rect, counts: &[u32]) {
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let colour = ui.visuals().text_color().gamma_multiply(0.55);
    let height = bar.height() / counts.len().max(1) as f32;
    for (bin, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let length = (count as f32 / most as f32).sqrt() * (HISTOGRAM_ROOM - 4.0);
        let top = bar.bottom() - height * (bin + 1) as f32;
        let min = egui::pos2(bar.left() - 2.0 - length, top);
        let rect = Rect::from_min_size(min, egui::vec2(length, height));
        ui.painter().rect_filled(rect, 0.0, colour);
    }
}

/// The number of labels for a bar of this height.
fn most_ticks(height: f32) -> usize {
    ((height / TICK_ROOM) as usize).clamp(2, MAX_TICKS)
}
