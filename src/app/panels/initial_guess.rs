//! The initial guess: the problem's own, a value, or a file.

use crate::app::state::command::Command;
use crate::app::widgets::labels::{explained, named};
use crate::app::widgets::rows::row;
use crate::run::{InitialGuess, ProblemSpec};
use eframe::egui::{ComboBox, DragValue, Ui};

const ABOUT: &str = "The initial guess: the problem's own, the same value everywhere, or an array in the shape of the grid (.npy; for a matrix also .mtx).";

pub(super) fn ui(ui: &mut Ui, problem: &mut ProblemSpec, commands: &mut Vec<Command>) {
    let chosen = problem.initial_guess().cloned();
    let name = match &chosen {
        None => "Own".to_owned(),
        Some(InitialGuess::Value(_)) => "Value".to_owned(),
        Some(InitialGuess::File(path)) => {
            path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
        }
    };
    row(ui, "Initial guess", ABOUT, |ui| {
        let combo = ComboBox::from_id_salt("initial guess").selected_text(name).truncate();
        let response = combo.show_ui(ui, |ui| {
            let own = ui.selectable_label(chosen.is_none(), "Own");
            if explained(own, "The problem's own initial guess.").clicked() {
                problem.set_initial_guess(None);
            }
            let is_value = matches!(chosen, Some(InitialGuess::Value(_)));
            let value = ui.selectable_label(is_value, "Value");
            if explained(value, "The same value everywhere.").clicked() && !is_value {
                problem.set_initial_guess(Some(InitialGuess::Value(0.0)));
            }
            let is_file = matches!(chosen, Some(InitialGuess::File(_)));
            let file = ui.selectable_label(is_file, "File …");
            if explained(file, "Open an array in the shape of the grid.").clicked() {
                commands.push(Command::ShowOpenInitialGuess);
            }
        });
        let about = match &chosen {
            Some(InitialGuess::File(path)) => path.display().to_string(),
            _ => ABOUT.to_owned(),
        };
        named(response.response, "Initial guess").on_hover_text(about);
        if let Some(InitialGuess::Value(mut value)) = chosen {
            let number = DragValue::new(&mut value).speed(0.1).update_while_editing(false);
            if named(ui.add(number), "Initial guess").on_hover_text(ABOUT).changed() {
                problem.set_initial_guess(Some(InitialGuess::Value(value)));
            }
        }
    });
}
