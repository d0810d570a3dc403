//! The size of a figure, its text and its theme.

use crate::app::dialogs::save::SaveDialog;
use crate::app::widgets::labels::{explained, named, typed};
use crate::app::widgets::rows::row;
use crate::picture::{FONT_SIZES, LARGEST_SIDE, SCREEN_DPI, SMALLEST_SIDE, Theme};
use eframe::egui::{ComboBox, Ui};

/// The units of a figure's size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Pixels,
    Centimetres,
}

/// Resolutions to choose from for paper, in pixels per inch.
const RESOLUTIONS: [f64; 4] = [150.0, 300.0, 600.0, 1200.0];

const CENTIMETRES_PER_INCH: f64 = 2.54;

/// The font size that is suggested, in points.
const FONT: f64 = 11.0;

impl SaveDialog {
    /// The size of a figure, its text and its theme.
    pub fn paper(&mut self, ui: &mut Ui) {
        row(ui, "Size", "The size of the figure.", |ui| {
            let names =
                [("Width", "The width of the figure."), ("Height", "The height of the figure.")];
            let per_pixel = CENTIMETRES_PER_INCH / self.figure.dpi;
            for (side, (name, about)) in self.figure.size.iter_mut().zip(names) {
                let response = match self.unit {
                    Unit::Pixels => ui.add(typed(ui, side, SMALLEST_SIDE..=LARGEST_SIDE)),
                    Unit::Centimetres => {
                        let mut length = f64::from(*side) * per_pixel;
                        let ends =
                            [SMALLEST_SIDE, LARGEST_SIDE].map(|end| f64::from(end) * per_pixel);
                        let number = typed(ui, &mut length, ends[0]..=ends[1]);
                        let response = ui.add(number.speed(0.1).fixed_decimals(1));
                        if response.changed() {
                            *side =
                                (length / per_pixel).round().clamp(0.0, f64::from(u32::MAX)) as u32;
                        }
                        response
                    }
                };
                named(response, name).on_hover_text(about);
            }
            let before = self.unit;
            ui.selectable_value(&mut self.unit, Unit::Pixels, "px")
                .on_hover_text("Pixels, for a screen.");
            ui.selectable_value(&mut self.unit, Unit::Centimetres, "cm")
                .on_hover_text("Centimetres, for paper.");
            if self.unit != before {
                self.set_dpi(if self.unit == Unit::Pixels { SCREEN_DPI } else { RESOLUTIONS[1] });
            }
            if self.unit == Unit::Centimetres {
                let mut dpi = self.figure.dpi;
                let combo = ComboBox::from_id_salt("dpi").width(76.0);
                let response = combo.selected_text(format!("{dpi} dpi")).show_ui(ui, |ui| {
                    for one in RESOLUTIONS {
                        let entry = ui.selectable_value(&mut dpi, one, format!("{one} dpi"));
                        explained(entry, "Pixels per inch.");
                    }
                });
                named(response.response, "Resolution").on_hover_text("Pixels per inch.");
                if dpi != self.figure.dpi {
                    self.set_dpi(dpi);
                }
            }
        });
        row(ui, "Theme", "The background that the figure is made for.", |ui| {
            let combo = ComboBox::from_id_salt("figure theme").width(200.0);
            let response = combo.selected_text(self.figure.theme.label()).show_ui(ui, |ui| {
                for theme in Theme::ALL {
                    let entry = ui.selectable_value(&mut self.figure.theme, theme, theme.label());
                    explained(entry, theme.about());
                }
            });
            named(response.response, "Theme").on_hover_text(self.figure.theme.about());
        });
        row(ui, "Text", "Font size, and whether there is a title.", |ui| {
            let mut suits = self.figure.font.is_none();
            if ui
                .checkbox(&mut suits, "Font size: auto")
                .on_hover_text("Choose a font size that suits the size of the figure.")
                .changed()
            {
                self.figure.font = (!suits).then_some(FONT);
            }
            let mut font = self.figure.font.unwrap_or(FONT);
            let number = typed(ui, &mut font, FONT_SIZES).suffix(" pt").speed(0.1).max_decimals(1);
            let response = ui.add_enabled(self.figure.font.is_some(), number);
            if named(response, "Font size").on_hover_text("In points (1/72 inch).").changed() {
                self.figure.font = Some(font);
            }
            ui.checkbox(&mut self.figure.annotations, "Title").on_hover_text(
                "Draw the title and the line of settings; leave them out for a figure with a caption.",
            );
        });
    }

    /// Another resolution, at the same size on paper.
    fn set_dpi(&mut self, dpi: f64) {
        let most = f64::from(LARGEST_SIDE);
        let scaled = |side: u32| (f64::from(side) * dpi / self.figure.dpi).round().min(most) as u32;
        self.figure.size = self.figure.size.map(scaled);
        self.figure.dpi = dpi;
    }
}
