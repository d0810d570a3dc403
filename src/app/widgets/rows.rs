//! Rows of a settings panel: a name and its control.

use crate::app::widgets::theme::GAP;
use crate::files;
use eframe::egui::{self, TextStyle};
use std::path::Path;

/// Width of the names, in points.
const NAME_WIDTH: f32 = 98.0;

/// The heading of a group of controls.
pub fn heading(ui: &mut egui::Ui, text: &str) {
    ui.add_space(GAP);
    ui.label(egui::RichText::new(text).heading());
}

/// A row of two columns, a name and its control or value. Names have one width, so that controls
/// are aligned; in a horizontal layout each name has its own. A row that is longer than its place is cut there.
pub fn row<T>(
    ui: &mut egui::Ui,
    name: &str,
    about: &str,
    control: impl FnOnce(&mut egui::Ui) -> T,
) -> T {
    let is_across = ui.layout().is_horizontal();
    let contents = |ui: &mut egui::Ui| {
        let colour = ui.visuals().text_color();
        let font = TextStyle::Body.resolve(ui.style());
        let text = ui.painter().layout_no_wrap(name.to_owned(), font, colour);
        let width = if is_across { text.size().x } else { NAME_WIDTH };
        let (rect, response) = ui.allocate_exact_size(
            egui::vec2(width, ui.spacing().interact_size.y),
            egui::Sense::hover(),
        );
        let left = rect.left_center() - egui::vec2(0.0, text.size().y / 2.0);
        ui.painter().galley(left, text, colour);
        response.on_hover_text(about);
        control(ui)
    };
    if is_across {
        let row = ui.horizontal(contents);
        ui.add_space(GAP);
        return row.inner;
    }
    // Not `horizontal`, with which a long row makes all that comes after it as wide.
    let mut place = ui.available_rect_before_wrap();
    place.set_height(ui.spacing().interact_size.y);
    let layout = egui::Layout::left_to_right(egui::Align::Center);
    let mut child = ui.new_child(egui::UiBuilder::new().max_rect(place).layout(layout));
    let value = contents(&mut child);
    let mut taken = child.min_rect();
    taken.max.x = taken.max.x.min(place.max.x);
    ui.advance_cursor_after_rect(taken);
    value
}

/// The row of the folder of a file, where files have folders.
pub fn folder_row(ui: &mut egui::Ui, folder: &Path) {
    if files::HAS_FOLDERS {
        row(ui, "Folder", "The folder of the file, unless the name contains a folder.", |ui| {
            ui.add(egui::Label::new(folder.display().to_string()).truncate());
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_row_makes_what_follows_no_wider() {
        egui::__run_test_ui(|ui| {
            ui.set_max_width(NAME_WIDTH + 60.0);
            let place = ui.available_rect_before_wrap();
            let mut number = u64::MAX;
            let field = row(ui, "Tile", "", |ui| ui.add(egui::DragValue::new(&mut number)));
            assert!(field.rect.right() > place.right(), "{field:?}");
            let next = ui.available_rect_before_wrap();
            assert_eq!(next.x_range(), place.x_range());
            assert!(next.top() >= field.rect.bottom());
        });
    }
}
