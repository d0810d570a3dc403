//! The memory for keyframes.

use crate::app::state::command::Command;
use crate::app::state::session::Session;
use crate::app::widgets::labels::named;
use crate::app::widgets::rows::{heading, row};
use crate::grid::memory::{self, human};
use crate::run::Report;
use eframe::egui::{DragValue, RichText, Ui};
use std::sync::LazyLock;

/// Bytes of a megabyte.
pub const MEGABYTE: usize = 1_000_000;

/// The largest value, in megabytes: a quarter of the machine's memory. Runs that undo keeps take as much again, and so do
/// the solvers.
pub fn max_megabytes() -> usize {
    static MAX: LazyLock<usize> = LazyLock::new(|| {
        let quarter = memory::total().map_or(MOST, |total| total as usize / 4 / MEGABYTE);
        quarter.min(MOST)
    });
    *MAX
}

/// More than this, in megabytes, makes replays no faster.
const MOST: usize = 16_000;

pub fn ui(ui: &mut Ui, session: &Session, report: Option<&Report>, commands: &mut Vec<Command>) {
    heading(ui, "Time travel");
    let about = "Memory for keyframes of this run and of pinned runs. With more memory, earlier cycles are replayed sooner. The setting is saved.";
    row(ui, "Memory", about, |ui| {
        let mut megabytes = session.memory / MEGABYTE;
        let drag =
            DragValue::new(&mut megabytes).range(0..=max_megabytes()).suffix(" MB").speed(4.0);
        // A half-typed number would drop keyframes that the whole one has room for.
        let drag = drag.update_while_editing(false);
        let response = named(ui.add(drag), "Memory").on_hover_text(about);
        if response.changed() {
            commands.push(Command::Memory(megabytes * MEGABYTE));
        }
        let pinned: usize = session.pins.all().iter().map(|pin| pin.archive.used()).sum();
        let used = report.map_or(0, |report| report.archive.used()) + pinned;
        let text = RichText::new(format!("{} used", human(used as u64))).weak();
        ui.label(text).on_hover_text("Memory that the keyframes take now.");
    });
}
