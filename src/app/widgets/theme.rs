//! Appearance of the window: fonts, sizes, colours.

use eframe::egui::{self, Color32, FontData, FontDefinitions, FontFamily, FontId, TextStyle};
use std::sync::Arc;

/// Width of the panel of settings, in points.
pub const SETTINGS_WIDTH: f32 = 276.0;

/// The least width of a menu, in points.
pub const MENU_WIDTH: f32 = 180.0;

/// Room between groups of controls.
pub const GAP: f32 = 10.0;

/// Sets up fonts and spacing.
pub fn set_up(context: &egui::Context) {
    let mut fonts = FontDefinitions::default();
    let inter = include_bytes!("../../../assets/fonts/Inter-Regular.otf");
    let semi_bold = include_bytes!("../../../assets/fonts/Inter-SemiBold.otf");
    fonts.font_data.insert("inter".into(), Arc::new(FontData::from_static(inter)));
    fonts.font_data.insert("semi-bold".into(), Arc::new(FontData::from_static(semi_bold)));
    // The fonts of egui are the fallback for characters that Inter lacks.
    let fallbacks = fonts.families.get(&FontFamily::Proportional).cloned().unwrap_or_default();
    let family = |first: &str| [vec![first.to_owned()], fallbacks.clone()].concat();
    fonts.families.insert(FontFamily::Proportional, family("inter"));
    fonts.families.insert(heading_family(), family("semi-bold"));
    context.set_fonts(fonts);
    // The window has zoom keys of its own, which respect its size.
    context.options_mut(|options| options.zoom_with_keyboard = false);
    context.all_styles_mut(|style| {
        // Contrast for text that is read from the back of a lecture hall.
        let ink =
            if style.visuals.dark_mode { Color32::from_gray(222) } else { Color32::from_gray(26) };
        style.visuals.widgets.noninteractive.fg_stroke.color = ink;
        style.visuals.widgets.inactive.fg_stroke.color = ink;
        style.visuals.weak_text_alpha = 0.72;
        style.text_styles.insert(TextStyle::Heading, FontId::new(14.0, heading_family()));
        style.text_styles.insert(TextStyle::Body, FontId::proportional(13.0));
        style.text_styles.insert(TextStyle::Button, FontId::proportional(13.0));
        style.text_styles.insert(TextStyle::Small, FontId::proportional(11.0));
        style.spacing.item_spacing = egui::vec2(8.0, 6.0);
        style.spacing.button_padding = egui::vec2(8.0, 4.0);
        style.spacing.interact_size.y = 24.0;
        style.spacing.slider_width = 104.0;
        style.spacing.tooltip_width = 340.0;
        // All entries of a list are seen at once.
        style.spacing.combo_height = 500.0;
        // Menus have room for all problems.
        style.spacing.default_area_size.y = 520.0;
    });
}

fn heading_family() -> FontFamily {
    FontFamily::Name("semi-bold".into())
}

/// The theme of figures that goes with the window's.
pub fn of_figures(ui: &egui::Ui) -> crate::picture::Theme {
    if ui.visuals().dark_mode { crate::picture::Theme::Dark } else { crate::picture::Theme::Light }
}

/// The colour of the `index`th curve.
pub fn curve(ui: &egui::Ui, index: usize) -> Color32 {
    let [red, green, blue] = of_figures(ui).curve(index);
    Color32::from_rgb(red, green, blue)
}

/// The colour of marks on a map: the line of the profile, owned points. No colour map contains it,
/// and with a dark outline it is visible on all of them.
pub const MARK: Color32 = {
    let [red, green, blue] = crate::picture::OWNED;
    Color32::from_rgb(red, green, blue)
};
pub const MARK_OUTLINE: Color32 = Color32::from_black_alpha(150);

/// The colour of a pinned run, different from those of the run and of its reference.
pub fn pin(ui: &egui::Ui, number: usize) -> Color32 {
    let [red, green, blue] = of_figures(ui).beside(number);
    Color32::from_rgb(red, green, blue)
}

/// The colour of a plot's grid, weaker than any curve.
pub fn grid(ui: &egui::Ui) -> Color32 {
    ui.visuals().text_color().gamma_multiply(0.35)
}
