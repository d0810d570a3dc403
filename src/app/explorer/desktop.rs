//! The application in a window of the desktop.

use crate::app::explorer::Explorer;
use crate::app::explorer::settings::{self, SettingsFile};
use crate::app::state::scale;
use crate::lesson::Lesson;
use crate::picture::Opened;
use eframe::egui;
use std::sync::Arc;

/// Opens the window, with a run or a lesson, and runs the application until it is closed.
///
/// # Errors
/// If no window can be opened, for example without a display.
pub fn run(start: Option<Opened>, lesson: Option<Arc<Lesson>>) -> eframe::Result {
    let settings_file = SettingsFile::of_user();
    let viewport = egui::ViewportBuilder::default()
        .with_title("Tilescope")
        .with_app_id(settings::NAME)
        .with_icon(icon())
        .with_inner_size(settings_file.window())
        .with_min_inner_size(scale::SMALLEST_SIZE);
    let options = eframe::NativeOptions { viewport, ..Default::default() };
    eframe::run_native(
        settings::NAME,
        options,
        Box::new(move |context| {
            let mut explorer = Explorer::with_settings(&context.egui_ctx, start, settings_file)?;
            if let Some(lesson) = lesson {
                explorer.begin_lesson(lesson);
            }
            Ok(Box::new(explorer))
        }),
    )
}

/// The window's icon: a tile with its bright edges.
fn icon() -> egui::IconData {
    eframe::icon_data::from_png_bytes(include_bytes!("../../../assets/icon.png"))
        .unwrap_or_default()
}
