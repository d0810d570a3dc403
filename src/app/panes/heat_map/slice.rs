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
    let before = (session.view.slice.unwrap_or(middle(2)), session.view.projection);
    let (mut slice, mut projection) = before;
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
        let slider = Slider::new(&mut slice.index, 0..=last);
        let slider = named(ui.add_enabled(!projection, slider), "Slice index");
        slider
            .on_hover_text(actions::NEXT_SLICE.tooltip(ui.ctx()))
            .on_disabled_hover_text("The projection shows all slices.");
        let about = "In place of one slice, the value of largest magnitude along the axis (a maximum intensity projection): what is bright at tile borders never vanishes between slices.";
        ui.checkbox(&mut projection, "Projection").on_hover_text(about);
    });
    if before != (slice, projection) {
        let mut view = session.view.clone();
        (view.slice, view.projection) = (Some(slice), projection);
        commands.push(Command::SetView(view));
    }
}
