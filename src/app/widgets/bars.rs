//! Bars as the window paints them: the same description as in figures.

use crate::picture::BarChart;
use eframe::egui::{Color32, Label, Rect, RichText, Role, ScrollArea, Sense, Ui, WidgetInfo, vec2};

/// The thickness of a bar, in points.
const BAR: f32 = 12.0;

/// Paints the groups one below the other, and the notes.
pub fn ui(ui: &mut Ui, id: &str, chart: &BarChart) {
    ScrollArea::vertical().id_salt(id).auto_shrink(false).show(ui, |ui| {
        stacked(ui, chart);
    });
}

/// The same where they lie, as high as they are.
pub fn stacked(ui: &mut Ui, chart: &BarChart) {
    ui.scope(|ui| {
        ui.spacing_mut().item_spacing.y = 3.0;
        if !chart.legend.is_empty() {
            ui.horizontal_wrapped(|ui| {
                for (text, [red, green, blue]) in &chart.legend {
                    ui.label(RichText::new("■").color(Color32::from_rgb(*red, *green, *blue)));
                    ui.label(RichText::new(*text).small());
                }
            });
        }
        for group in &chart.groups {
            ui.label(RichText::new(&group.name).strong());
            for bar in &group.bars {
                ui.add(Label::new(RichText::new(&bar.label).small()).wrap());
                let size = vec2(ui.available_width(), BAR);
                let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
                let about = format!("{}, {}", group.name, bar.label);
                response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &about));
                for (ends, part) in group.parts(bar) {
                    let [from, to] = ends.map(|share| rect.left() + share as f32 * rect.width());
                    let [red, green, blue] = part.colour;
                    let colour = Color32::from_rgb(red, green, blue);
                    let colour = colour.gamma_multiply(part.opacity as f32);
                    let rect = Rect::from_x_y_ranges(from..=to, rect.y_range());
                    ui.painter().rect_filled(rect, 0.0, colour);
                }
            }
            ui.add_space(4.0);
        }
        if !chart.notes.is_empty() {
            ui.add(Label::new(RichText::new(&chart.notes).small().weak()).wrap());
        }
    });
}
