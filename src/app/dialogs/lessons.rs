//! The list of lessons.

use crate::app::state::command::Command;
use crate::app::state::lesson::LessonOrder;
use crate::app::widgets::labels::named;
use crate::lesson::lessons;
use eframe::egui::{self, Button, RichText};
use std::collections::{BTreeMap, BTreeSet};

/// Width of the dialog, height of a row and room between two, in points: all lessons fit into the smallest window.
const WIDTH: f32 = 520.0;
const ROW: f32 = 26.0;
const BETWEEN: f32 = 4.0;

/// Draws the list: `done` has the names of lessons that were read to their end, `begun` the steps at which
/// others were left.
pub fn ui(
    context: &egui::Context,
    done: &BTreeSet<String>,
    begun: &BTreeMap<String, usize>,
    commands: &mut Vec<Command>,
) {
    let frame = egui::Frame::popup(&context.global_style()).inner_margin(20.0);
    let modal = egui::Modal::new(egui::Id::unique("lessons")).frame(frame);
    let response = modal.show(context, |ui| {
        ui.set_width(WIDTH);
        ui.label(RichText::new("Lessons").heading().size(20.0));
        ui.label(
            "A few minutes each, best in this order. Your run waits until you leave a lesson.",
        );
        ui.add_space(6.0);
        ui.spacing_mut().item_spacing.y = BETWEEN;
        for (index, lesson) in lessons().iter().enumerate() {
            let note = match (done.contains(&lesson.name), begun.get(&lesson.name)) {
                (_, Some(step)) => format!("resume at step {}", step + 1),
                (true, None) => "done".to_owned(),
                (false, None) => {
                    lesson.minutes.map_or_else(String::new, |minutes| format!("{minutes} min"))
                }
            };
            let text = RichText::new(format!("{}.  {}", index + 1, lesson.title)).strong();
            let button = Button::new(text).shortcut_text(note).min_size(egui::vec2(WIDTH, ROW));
            let before: Vec<_> = lessons()
                .iter()
                .filter(|other| lesson.after.contains(&other.name))
                .map(|other| other.title.as_str())
                .collect();
            let about = match before.is_empty() {
                true => "Begin this lesson.".to_owned(),
                false => format!("Begin this lesson. It comes after “{}”.", before.join("” and “")),
            };
            if named(ui.add(button), &lesson.title).on_hover_text(about).clicked() {
                commands.push(Command::Lesson(LessonOrder::Begin(lesson.clone())));
            }
        }
        ui.add_space(6.0);
        ui.horizontal(|ui| {
            if ui.button("Close").on_hover_text("Return to the run.").clicked() {
                commands.push(Command::Lesson(LessonOrder::ShowList(false)));
            }
            let own = "A lesson of your own: drop its .md file on the window.";
            ui.label(RichText::new(own).weak());
        });
    });
    if response.should_close() {
        commands.push(Command::Lesson(LessonOrder::ShowList(false)));
    }
}
