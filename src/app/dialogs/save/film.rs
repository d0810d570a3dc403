//! The cycles of an animation.

use crate::app::dialogs::save::SaveDialog;
use crate::app::widgets::labels::{named, typed};
use crate::app::widgets::rows::row;
use crate::picture::{Frames, RATES, Spacing};
use crate::run::FieldKind;
use eframe::egui::{RichText, Ui};

impl SaveDialog {
    /// The cycles of an animation.
    pub fn film(&mut self, ui: &mut Ui, field: FieldKind) {
        row(
            ui,
            "Animation",
            "A frame for each of many cycles, all in the same range of values.",
            |ui| {
                let film = ui.checkbox(&mut self.is_film, "over cycles");
                if film.on_hover_text("The run is repeated from cycle 0.").changed() {
                    self.suggest(field);
                }
                if !self.is_film() {
                    return;
                }
                let Frames { first, last, rate, .. } = &mut self.frames;
                for (cycle, name, about) in [
                    (first, "First cycle", "The cycle of the first frame."),
                    (last, "Last cycle", "The cycle of the last frame."),
                ] {
                    named(ui.add(typed(ui, cycle, 0..=u64::MAX)), name).on_hover_text(about);
                }
                let number = typed(ui, rate, RATES).suffix(" fps").speed(0.1).max_decimals(1);
                named(ui.add(number), "Frame rate").on_hover_text("Frames per second.");
            },
        );
        if !self.is_film() {
            return;
        }
        row(ui, "Frames", "Which cycles become frames.", |ui| {
            let even = matches!(self.frames.spacing, Spacing::Every(_));
            let count = self.frames.cycles().len() as u64;
            let steps = Spacing::Every((self.frames.last / count.max(1)).max(1));
            let mut choose = |ui: &mut Ui, is_chosen, other, name: &str, about: &str| {
                if ui.selectable_label(is_chosen, name).on_hover_text(about).clicked() && !is_chosen
                {
                    self.frames.spacing = other;
                }
            };
            choose(ui, even, steps, "even", "Every n-th cycle.");
            let logarithmic = Spacing::Logarithmic(count);
            choose(
                ui,
                !even,
                logarithmic,
                "logarithmic",
                "More frames early on, where the run changes fastest.",
            );
            let (value, name, about) = match &mut self.frames.spacing {
                Spacing::Every(step) => (step, "Step", "Cycles from one frame to the next."),
                Spacing::Logarithmic(count) => (count, "Number of frames", "The number of frames."),
            };
            named(ui.add(typed(ui, value, 1..=1_000_000)), name).on_hover_text(about);
        });
    }

    /// How many frames the animation has, and how large its file will be.
    pub fn film_size(&self, ui: &mut Ui) {
        let about = "Estimated from two frames, encoded as they would be saved.";
        row(ui, "Animation", about, |ui| {
            let size = self.size.text(self.frames.cycles().len());
            ui.label(RichText::new(size).weak())
                .on_hover_text(self.size.refusal().unwrap_or(about));
        });
    }
}
