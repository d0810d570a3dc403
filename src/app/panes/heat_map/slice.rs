//! The slice through a 3D grid that the map shows.

use crate::app::actions;
use crate::app::state::command::Command;
use crate::app::state::session::Session;
use crate::app::widgets::labels::{explained, named};
use crate::grid::{AXIS_NAMES, Slice};
use eframe::egui::{ComboBox, Slider, Ui};

/// Draws the controls of the slice, axis and index; nothing in 1D and 2D.
pub fn ui(ui: &mut Ui, session: &Session, commands: &mut Vec<Command>) {
    let [nx, ny, nz] = session.spec.problem.shape[..] else {
        return;
    };
    let points = [nx, ny, nz];
    let middle = |axis: usize| Slice { axis, index: points[axis] / 2 };
    let mut slice = session.view.slice.unwrap_or(middle(2));
    ui.horizontal(|ui| {
        ui.label("Slice");
        let combo = ComboBox::from_id_salt("slice").width(32.0);
        let response = combo.selected_text(AXIS_NAMES[slice.axis]).show_ui(ui, |ui| {
            for (axis, name) in AXIS_NAMES.into_iter().enumerate() {
                let is_chosen = slice.axis == axis;
                let about = "The middle of this axis.";
                if explained(ui.selectable_label(is_chosen, name), about).clicked() {
                    slice = middle(axis);
                }
            }
        });
        named(response.response, "Slice axis").on_hover_text("The axis across the slice.");
        let last = points[slice.axis].saturating_sub(1);
        let slider = named(ui.add(Slider::new(&mut slice.index, 0..=last)), "Slice index");
        slider.on_hover_text(actions::NEXT_SLICE.tooltip(ui.ctx()));
    });
    if session.view.slice.unwrap_or(middle(2)) != slice {
        let mut view = session.view.clone();
        view.slice = Some(slice);
        commands.push(Command::SetView(view));
    }
}
