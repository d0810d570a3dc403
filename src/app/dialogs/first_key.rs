//! Shows the second keys after the first of two was pressed.

use crate::app::actions::Action;
use eframe::egui::{self, Align2, Area, Frame, Grid, Id, Key, Order, RichText};

/// Distance from the bottom of the window, in points: the timeline stays visible.
const ABOVE: f32 = 56.0;

pub fn hint(context: &egui::Context, actions: &[Action], first: Key) {
    let area = Area::new(Id::unique("first key")).order(Order::Foreground).interactable(false);
    area.anchor(Align2::CENTER_BOTTOM, [0.0, -ABOVE]).show(context, |ui| {
        Frame::popup(ui.style()).inner_margin(12.0).show(ui, |ui| {
            let meant = || actions.iter().filter(|action| action.first == Some(first));
            let group = meant().next().map_or("", |action| action.group);
            ui.label(RichText::new(format!("{group}: {} then …", first.name())).strong());
            Grid::new("second keys").num_columns(2).spacing([12.0, 2.0]).show(ui, |ui| {
                for action in meant() {
                    for key in action.keys {
                        ui.label(RichText::new(ui.ctx().format_shortcut(key)).monospace());
                    }
                    ui.label(action.name);
                    ui.end_row();
                }
            });
        });
    });
}
