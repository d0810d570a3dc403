//! The card at first start: experiments worth seeing, a click each.

use super::command::Command;
use super::session::{Against, Look};
use super::theme;
use super::toolbar::named;
use crate::run::{FieldKind, RunSpec};
use eframe::egui::{self, Button, RichText};

/// Width of the card in points.
const WIDTH: f32 = 560.0;

/// An experiment, and what is to be seen in it.
pub(super) struct Experiment {
    pub title: &'static str,
    pub about: &'static str,
    k: usize,
    overlap: usize,
    field: FieldKind,
    against: Against,
    /// Cycles a second: slow enough to be watched, or as fast as it goes.
    pub pace: Option<f64>,
}

/// The experiments, on the default problem with tiles of 32² points. The numbers in the sentences
/// are those of the finished runs: `tilescope solve --preset poisson-2d` with the same settings.
pub(super) const EXPERIMENTS: [Experiment; 5] = [
    Experiment {
        title: "Edges light up at k = 64",
        about: "The ring around a tile stays frozen for 64 sweeps: the residual gathers in bright lines between tiles, 98 % of ‖r‖² on 21 % of the points.",
        k: 64,
        overlap: 0,
        field: FieldKind::Residual,
        against: Against::Sweeps,
        pace: Some(10.0),
    },
    Experiment {
        title: "Overlap 4 puts them out",
        about: "k = 16: with four points shared by neighbouring tiles the lines fade, and the edges' part of ‖r‖² falls from 78 % to 33 %. The curve stays close to classic Jacobi's.",
        k: 16,
        overlap: 4,
        field: FieldKind::Residual,
        against: Against::Sweeps,
        pace: Some(30.0),
    },
    Experiment {
        title: "o = 2 (k − 1) is Jacobi exactly",
        about: "k = 8, overlap 14: staleness never reaches a point that its tile owns. The map of the staleness is zero everywhere, and both curves are one.",
        k: 8,
        overlap: 14,
        field: FieldKind::Staleness,
        against: Against::Sweeps,
        pace: Some(30.0),
    },
    Experiment {
        title: "k too large",
        about: "k = 256: most sweeps polish a tile for a ring that is long out of date. The curve needs 11 times the sweeps of classic Jacobi's.",
        k: 256,
        overlap: 0,
        field: FieldKind::Residual,
        against: Against::Sweeps,
        pace: None,
    },
    Experiment {
        title: "Overlap that no longer pays",
        about: "k = 16, overlap 24: it saves 3 % of the sweeps that overlap 4 takes, but computes 13 points for each that it keeps. Over solver time the curve falls far behind classic Jacobi's.",
        k: 16,
        overlap: 24,
        field: FieldKind::Residual,
        against: Against::Time,
        pace: None,
    },
];

impl Experiment {
    /// The run.
    pub fn run(&self) -> RunSpec {
        let mut run = RunSpec::default();
        run.method.k = self.k;
        run.method.overlap = vec![self.overlap];
        run
    }

    /// What is looked at, and how.
    pub fn look(&self) -> Look {
        Look { field: self.field, against: self.against, ..Look::default() }
    }
}

pub(super) fn ui(context: &egui::Context, commands: &mut Vec<Command>) {
    let frame = egui::Frame::popup(&context.global_style()).inner_margin(20.0);
    let modal = egui::Modal::new(egui::Id::unique("welcome")).frame(frame);
    let response = modal.show(context, |ui| {
        ui.set_width(WIDTH);
        ui.label(RichText::new("Tilescope").heading().size(20.0));
        ui.label("See hierarchical Jacobi converge, tile by tile. Five experiments worth seeing:");
        ui.add_space(theme::GAP);
        for (which, experiment) in EXPERIMENTS.iter().enumerate() {
            let text = RichText::new(experiment.title).strong();
            let button = Button::new(text).min_size(egui::vec2(WIDTH, 28.0));
            if ui.add(button).on_hover_text("Make this run and look at it.").clicked() {
                commands.push(Command::Try(which));
            }
            ui.add(egui::Label::new(RichText::new(experiment.about).weak()).wrap());
            ui.add_space(4.0);
        }
        ui.add_space(4.0);
        ui.horizontal(|ui| {
            let about = "Begin with the default experiment; the ? menu shows this card again.";
            let close = named(ui.button("Explore by myself"), "Explore by myself");
            if close.on_hover_text(about).clicked() {
                commands.push(Command::ShowWelcome(false));
            }
            ui.label(RichText::new("Ctrl+P finds everything, ? tells the keys.").weak());
        });
    });
    if response.should_close() {
        commands.push(Command::ShowWelcome(false));
    }
}
