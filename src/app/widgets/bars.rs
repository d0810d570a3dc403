//! Bars as the window paints them: the same description as in figures.

use crate::picture::{BarChart, SECOND_PART};
use eframe::egui::{Color32, Label, Rect, RichText, Role, ScrollArea, Sense, Ui, WidgetInfo, vec2};

/// The thickness of a bar, in points.
const BAR: f32 = 12.0;

/// Paints the groups one below the other, and the notes.
pub fn ui(ui: &mut Ui, id: &str, chart: &BarChart) {
    ScrollArea::vertical().id_salt(id).auto_shrink(false).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 3.0;
        for group in &chart.groups {
            ui.label(RichText::new(&group.name).strong());
            for bar in &group.bars {
                ui.add(Label::new(RichText::new(&bar.label).small()).wrap());
                let size = vec2(ui.available_width(), BAR);
                let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
                let about = format!("{}, {}", group.name, bar.label);
                response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &about));
                let [first, end] = group.ends(bar).map(|share| share as f32 * rect.width());
                let part = |from: f32, to: f32| {
                    Rect::from_x_y_ranges(rect.left() + from..=rect.left() + to, rect.y_range())
                };
                let [red, green, blue] = bar.colour;
                let colour = Color32::from_rgb(red, green, blue);
                ui.painter().rect_filled(part(0.0, first), 0.0, colour);
                let second = colour.gamma_multiply(SECOND_PART as f32);
                ui.painter().rect_filled(part(first, end), 0.0, second);
            }
            ui.add_space(4.0);
        }
        ui.add(Label::new(RichText::new(&chart.notes).small().weak()).wrap());
    });
}
