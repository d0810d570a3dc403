//! The legend of a plot: above it, so that it covers no curve.

use crate::app::widgets::plot::{DASH, DOT, colour};
use crate::picture::Series;
use eframe::egui::{
    Id, RichText, Sense, Shape, Stroke, TextStyle, TextWrapMode, Ui, WidgetInfo, WidgetText,
    accesskit::Role, pos2, vec2,
};
use std::collections::BTreeSet;

/// Length of the line before a name, and the gap between them, in points.
const LINE: f32 = 18.0;
const GAP: f32 = 4.0;

/// Gap between one name and the next, in points.
const BETWEEN: f32 = 12.0;

/// The opacity of the name of a hidden curve.
const HIDDEN: f32 = 0.4;

/// The names of the curves of a plot that the user has hidden.
pub fn hidden(ui: &Ui, plot: &str) -> BTreeSet<String> {
    ui.data(|data| data.get_temp(id(plot))).unwrap_or_default()
}

/// Writes the name of each curve after a line drawn as the curve is. A click hides the curve, or shows it
/// again.
pub fn ui(ui: &mut Ui, plot: &str, curves: &[Series], hidden: &mut BTreeSet<String>) {
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(BETWEEN, 2.0);
        ui.spacing_mut().interact_size.y = 0.0;
        for series in curves {
            entry(ui, series, hidden);
        }
    });
    ui.data_mut(|data| data.insert_temp(id(plot), hidden.clone()));
}

fn entry(ui: &mut Ui, series: &Series, hidden: &mut BTreeSet<String>) {
    let name = &series.name;
    let is_hidden = hidden.contains(name);
    let text = WidgetText::from(RichText::new(name).small());
    let room = ui.max_rect().width() - LINE - GAP;
    let galley = text.into_galley(ui, Some(TextWrapMode::Truncate), room, TextStyle::Small);
    let size = vec2(LINE + GAP + galley.size().x, galley.size().y);
    let (rect, response) = ui.allocate_exact_size(size, Sense::click());
    let opacity = if is_hidden { HIDDEN } else { 1.0 };
    let stroke = Stroke::new(2.0, colour(series.colour).gamma_multiply(opacity));
    let y = rect.center().y;
    let ends = [pos2(rect.left(), y), pos2(rect.left() + LINE, y)];
    match series.dashed {
        _ if series.has_dots => {
            _ = ui.painter().circle_filled(
                rect.left_center() + vec2(LINE / 2.0, 0.0),
                DOT,
                stroke.color,
            )
        }
        true => _ = ui.painter().add(Shape::dashed_line(&ends, stroke, DASH, DASH)),
        false => _ = ui.painter().line_segment(ends, stroke),
    }
    let ink = ui.visuals().text_color().gamma_multiply(opacity);
    ui.painter().galley_with_override_text_color(
        rect.left_top() + vec2(LINE + GAP, 0.0),
        galley,
        ink,
    );
    let label = format!("{name}, curve");
    response.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, !is_hidden, &label));
    let about = format!("{name}. Click to {} this curve.", if is_hidden { "show" } else { "hide" });
    if response.on_hover_text(about).clicked() && !hidden.remove(name) {
        hidden.insert(name.clone());
    }
}

fn id(plot: &str) -> Id {
    Id::unique(("hidden curves", plot))
}
