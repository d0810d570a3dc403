//! The dialog at first start: example experiments.

use crate::app::state::command::Command;
use crate::app::state::experiments::EXPERIMENTS;
use crate::app::state::lesson::LessonOrder;
use crate::app::widgets::labels::named;
use crate::app::widgets::theme;
use eframe::egui::{self, Button, RichText};

/// Width of the dialog, in points.
const WIDTH: f32 = 560.0;

pub fn ui(context: &egui::Context, commands: &mut Vec<Command>) {
    let frame = egui::Frame::popup(&context.global_style()).inner_margin(20.0);
    let modal = egui::Modal::new(egui::Id::unique("welcome")).frame(frame);
    let response = modal.show(context, |ui| {
        ui.set_width(WIDTH);
        ui.label(RichText::new("Tilescope").heading().size(20.0));
        ui.label("See hierarchical Jacobi converge, tile by tile. Five experiments to start with:");
        ui.add_space(theme::GAP);
        for (which, experiment) in EXPERIMENTS.iter().enumerate() {
            let text = RichText::new(experiment.title).strong();
            let button = Button::new(text).min_size(egui::vec2(WIDTH, 28.0));
            if ui.add(button).on_hover_text("Run this experiment.").clicked() {
                commands.push(Command::RunExperiment(which));
            }
            ui.add(egui::Label::new(RichText::new(experiment.about).weak()).wrap());
            ui.add_space(4.0);
        }
        ui.add_space(4.0);
        ui.horizontal(|ui| {
            let about = "Start with the default experiment; the ? menu shows these examples again.";
            let close = named(ui.button("Start exploring"), "Start exploring");
            if close.on_hover_text(about).clicked() {
                commands.push(Command::ShowWelcome(false));
            }
            let about = "Learn the method in lessons of a few minutes each.";
            if ui.button("Lessons").on_hover_text(about).clicked() {
                commands.push(Command::ShowWelcome(false));
                commands.push(Command::Lesson(LessonOrder::ShowList(true)));
            }
            ui.label(
                RichText::new("Ctrl+P searches all commands; ? shows the keyboard shortcuts.")
                    .weak(),
            );
        });
    });
    if response.should_close() {
        commands.push(Command::ShowWelcome(false));
    }
}
