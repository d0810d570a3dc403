//! Help on keys and mouse gestures: every action by group, and what can be dragged.

use crate::app::actions::{self, Action};
use crate::app::state::command::Command;
use eframe::egui::{self, RichText, Ui};

/// Width of the dialog, and the height that it leaves free, in points.
const WIDTH: f32 = 720.0;
const MARGIN: f32 = 170.0;

/// Distance from the top of the window, in points.
const TOP: f32 = 24.0;

/// Width of the widest column, in points.
const COLUMN_WIDTH: f32 = 330.0;

/// Mouse gestures: what is dragged or clicked, and the effect.
const GESTURES: [(&str, &str); 10] = [
    ("Scroll on the map", "Zooms; far enough in, the cells show their values."),
    ("Drag on the map", "Moves the visible part; a double click shows the whole grid."),
    ("Drag the profile line", "Moves the profile to another row or column."),
    ("Drag an end of the profile line", "Turns it to any angle; with Shift in steps of 45°."),
    (
        "Drag the hot box of a plate",
        "Moves a side or, by its centre, the box; the run begins anew.",
    ),
    ("Drag an end of the colour bar", "Changes the range of the colours and locks it."),
    ("Click on a curve", "Shows that cycle again."),
    ("Drag the timeline", "Shows an earlier cycle; its ends limit the replay."),
    ("Drag the title of a pane", "Moves the pane."),
    ("Drop a file on the window", "Opens a run file, a figure, a lesson or a right-hand side."),
];

pub fn ui(context: &egui::Context, actions: &[Action], commands: &mut Vec<Command>) {
    let frame = egui::Frame::popup(&context.global_style()).inner_margin(16.0);
    let id = egui::Id::unique("keys");
    let area = egui::Modal::default_area(id).anchor(egui::Align2::CENTER_TOP, [0.0, TOP]);
    let response = egui::Modal::new(id).area(area).frame(frame).show(context, |ui| {
        ui.set_width(WIDTH);
        ui.heading("Keyboard and mouse");
        let palette = actions::PALETTE.key(context);
        let hint = format!("{palette} searches all commands by name.");
        ui.label(RichText::new(hint).weak());
        ui.add_space(8.0);
        let height = context.content_rect().height() - MARGIN;
        let scroll = egui::ScrollArea::vertical().max_height(height).min_scrolled_height(height);
        scroll.auto_shrink(false).show(ui, |ui| table(ui, actions));
        ui.add_space(8.0);
        if ui.button("Close").on_hover_text("Return to the run; Escape does the same.").clicked() {
            commands.push(Command::ShowKeys(false));
        }
    });
    if response.should_close() {
        commands.push(Command::ShowKeys(false));
    }
}

fn table(ui: &mut Ui, actions: &[Action]) {
    let grid = egui::Grid::new("keys").num_columns(4).max_col_width(COLUMN_WIDTH);
    grid.spacing([16.0, 4.0]).striped(true).show(ui, |ui| {
        let mut group = "";
        for action in actions {
            let is_first = std::mem::replace(&mut group, action.group) != action.group;
            ui.label(RichText::new(if is_first { group } else { "" }).strong());
            let keys = action.strokes(ui.ctx()).join(" or ");
            ui.label(RichText::new(keys).monospace());
            ui.label(action.name);
            ui.add(egui::Label::new(RichText::new(action.about).weak()).wrap());
            ui.end_row();
        }
        for (index, (gesture, effect)) in GESTURES.into_iter().enumerate() {
            ui.label(RichText::new(if index == 0 { "Mouse" } else { "" }).strong());
            ui.label("");
            ui.label(gesture);
            ui.add(egui::Label::new(RichText::new(effect).weak()).wrap());
            ui.end_row();
        }
    });
}
