//! How much memory the past of the runs may take, and what it takes.

use super::command::Command;
use super::session::Session;
use super::theme::{heading, row};
use super::toolbar::{named, typed};
use crate::grid::memory::human;
use crate::run::Report;
use eframe::egui::{RichText, Ui};

/// Bytes of the unit that is typed.
pub(super) const MEGABYTE: usize = 1_000_000;

/// The most that can be chosen by dragging, in that unit.
const MOST: usize = 16_000;

pub(super) fn ui(
    ui: &mut Ui,
    session: &Session,
    report: Option<&Report>,
    commands: &mut Vec<Command>,
) {
    heading(ui, "Time travel");
    let about = "Memory for iterates that are kept of the run and of the pinned ones, so that any cycle is soon made again; with less of it, later. A change holds at once, and is remembered.";
    row(ui, "Memory", about, |ui| {
        let mut megabytes = session.memory / MEGABYTE;
        let drag = typed(ui, &mut megabytes, 0..=MOST).suffix(" MB").speed(4.0);
        let response = named(ui.add(drag), "Memory").on_hover_text(about);
        if response.changed() {
            commands.push(Command::Memory(megabytes.saturating_mul(MEGABYTE)));
        }
        let pinned: usize = session.pins.all().iter().map(|pin| pin.past.used()).sum();
        let used = report.map_or(0, |report| report.past.used()) + pinned;
        let text = RichText::new(format!("{} used", human(used as u64))).weak();
        ui.label(text).on_hover_text("What the iterates that are kept take now.");
    });
}
