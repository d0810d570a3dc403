//! The controls above the map: its field and its colours.

use crate::app::actions;
use crate::app::state::command::Command;
use crate::app::state::compare::{AtEqual, Compare, How};
use crate::app::state::session::Session;
use crate::app::state::view_settings::{AUTOMATIC, Colours, RangeMode};
use crate::app::widgets::labels::{explained, named};
use crate::picture::{ColourMap, Range, ScaleKind};
use crate::run::FieldKind;
use eframe::egui::{self, Align, ComboBox, Layout, Rect, Ui, UiBuilder};

/// Where the window reads whether the button that flips is held.
pub const FLIP_ID: &str = "flip";

/// From the button in a corner of the map to its edges, in points.
const MARGIN: f32 = 6.0;

/// Draws the controls. `shown` is the current range of the map.
pub fn ui(ui: &mut Ui, session: &Session, shown: Option<Range>, commands: &mut Vec<Command>) {
    let mut view = session.view.clone();
    ui.horizontal_wrapped(|ui| {
        let combo = ComboBox::from_id_salt("field").width(92.0).selected_text(view.field.label());
        let response = combo.show_ui(ui, |ui| {
            for field in FieldKind::ALL {
                explained(ui.selectable_value(&mut view.field, field, field.label()), field.about());
            }
        });
        named(response.response, "Field").on_hover_text(view.field.about());
        let colours = view.of_field_mut(session.view.field);
        let combo = ComboBox::from_id_salt("scale").width(84.0).selected_text(colours.scale.label());
        let response = combo.show_ui(ui, |ui| {
            for scale in ScaleKind::ALL {
                let chosen = ui.selectable_label(colours.scale == scale, scale.label());
                if explained(chosen, scale.about()).clicked() {
                    colours.set_scale(scale);
                }
            }
        });
        let about = "How values are mapped to colours: linear, by the logarithm of their magnitude, or by sign and magnitude.";
        named(response.response, "Scale").on_hover_text(actions::menu_tooltip("Scale", about));
        let combo = ComboBox::from_id_salt("map").width(92.0).selected_text(colours.map.label());
        let response = combo.show_ui(ui, |ui| {
            for map in ColourMap::ALL {
                explained(ui.selectable_value(&mut colours.map, map, map.label()), map.about());
            }
        });
        let about = actions::menu_tooltip("Colour map", "The colours of the map.");
        named(response.response, "Colour map").on_hover_text(about);
        range(ui, colours, shown);
        if colours.scale == ScaleKind::Linear {
            ui.checkbox(&mut colours.absolute, "Magnitude").on_hover_text("Show magnitudes, or values with their sign.");
        }
        ui.checkbox(&mut view.borders, "Borders").on_hover_text(actions::BORDERS.tooltip(ui.ctx()));
        let button = named(ui.button("Compare"), "Compare");
        if button.on_hover_text(actions::COMPARE.tooltip(ui.ctx())).clicked() {
            commands.push(Command::Compare);
        }
        compare(ui, session, &mut view.compare);
    });
    if view != session.view {
        commands.push(Command::SetView(view));
    }
}

/// Draws the button that leads back to the whole grid in a corner of the map: above it, with the controls, it might begin a row
/// of its own and move the map just when that is dragged.
pub fn whole_grid(ui: &mut Ui, map: Rect, commands: &mut Vec<Command>) {
    let corner = UiBuilder::new().max_rect(map.shrink(MARGIN));
    let mut ui = ui.new_child(corner.layout(Layout::bottom_up(Align::Max)));
    let button = ui.button("Whole grid").on_hover_text(actions::WHOLE_GRID.tooltip(ui.ctx()));
    if button.clicked() {
        commands.push(Command::ZoomOut);
    }
}

/// The comparison with a pinned run, once there is one.
fn compare(ui: &mut Ui, session: &Session, compare: &mut Compare) {
    let pins = session.pins.all();
    let Some(chosen) = compare.chosen(pins) else {
        return;
    };
    let is_line = session.spec.problem.shape.len() == 1;
    let combo = ComboBox::from_id_salt("compare").width(92.0).selected_text(compare.how.label());
    let response = combo.show_ui(ui, |ui| {
        for how in How::ALL {
            let is_chosen = compare.how == how;
            let entry = egui::Button::selectable(is_chosen, how.label());
            let entry = ui.add_enabled(!(is_line && how == How::Difference), entry);
            let why_not = "Space–time diagrams have no difference; compare them side by side.";
            let about = if entry.enabled() { how.about() } else { why_not };
            if explained(entry, about).clicked() {
                compare.how = how;
            }
        }
    });
    named(response.response, "Compare")
        .on_hover_text("How the map is compared with that of a pinned run. Hold F to flip to it.");
    let combo = ComboBox::from_id_salt("with").width(44.0).truncate().selected_text(&chosen.name);
    let response = combo.show_ui(ui, |ui| {
        for pin in pins {
            let entry = ui.selectable_value(&mut compare.with, Some(pin.number), &pin.name);
            explained(entry, "Compare with this pinned run.");
        }
    });
    named(response.response, "With").on_hover_text("The pinned run to compare with.");
    let combo =
        ComboBox::from_id_salt("equal").width(112.0).selected_text(compare.at_equal.label());
    let response = combo.show_ui(ui, |ui| {
        for equal in AtEqual::ALL {
            let entry = ui.selectable_value(&mut compare.at_equal, equal, equal.label());
            explained(entry, equal.about());
        }
    });
    named(response.response, "At equal").on_hover_text(
        "Which cycle of pinned runs is compared with the shown one, on the map and in the profile.",
    );
    let flip = named(ui.button("Flip"), "Flip").on_hover_text(actions::FLIP.tooltip(ui.ctx()));
    let is_held = flip.is_pointer_button_down_on();
    ui.data_mut(|data| data.insert_temp(egui::Id::unique(FLIP_ID), is_held));
}

fn range(ui: &mut Ui, colours: &mut Colours, shown: Option<Range>) {
    let text = match colours.range {
        RangeMode::Follow => "range: follow",
        RangeMode::ThisFrame => "range: this frame",
        RangeMode::WholeRun => "range: whole run",
        RangeMode::Locked(_) => "range: locked",
    };
    let combo = ComboBox::from_id_salt("range").width(132.0).selected_text(text);
    let response = combo.show_ui(ui, |ui| {
        for (range, name, about) in AUTOMATIC {
            explained(ui.selectable_value(&mut colours.range, range, name), about);
        }
        let about = "Keep the current range, for this run and the next.";
        let locked = matches!(colours.range, RangeMode::Locked(_));
        if explained(ui.selectable_label(locked, "locked"), about).clicked()
            && let Some(range) = shown
        {
            colours.range = RangeMode::Locked(range);
        }
    });
    let about = actions::menu_tooltip("Range", "The range of values that the colours span.");
    named(response.response, "Range").on_hover_text(about);
}
