//! The papers' plots beside the map, and their choice.

use crate::app::tuning::results::MapResults;
use crate::app::widgets::labels::labelled;
use crate::app::widgets::{plot, theme};
use crate::picture::{Chart, Layer, SweepFigure, TickStyle, charts, rounded};
use crate::run::CycleLists;
use eframe::egui::Ui;

/// The view beside the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    /// Plots.
    Charts(SweepFigure),
    /// The papers' tables.
    Papers,
}

impl Beside {
    const ALL: [Self; 4] = [
        Self::Charts(SweepFigure::Overlap),
        Self::Charts(SweepFigure::K),
        Self::Charts(SweepFigure::KTime),
        Self::Papers,
    ];

    fn label(self, lists: &CycleLists) -> String {
        match self {
            Self::Charts(figure) => figure.label(lists),
            Self::Papers => "Papers' tables".to_owned(),
        }
    }

    fn about(self) -> &'static str {
        match self {
            Self::Charts(figure) => figure.about(),
            Self::Papers => "Islam & Wang's Tables I to III, with the results of this machine.",
        }
    }
}

/// The choice of the view beside the map.
pub(super) fn choose(ui: &mut Ui, beside: &mut Beside, lists: &CycleLists) {
    ui.horizontal_wrapped(|ui| {
        for other in Beside::ALL {
            ui.selectable_value(beside, other, other.label(lists)).on_hover_text(other.about());
        }
    });
}

/// Draws the plots one below the other.
pub(super) fn ui(ui: &mut Ui, results: &MapResults, layer: Layer, figure: SweepFigure) {
    let height = (ui.available_height() - 56.0) / 2.0;
    let [down, across] = results.outline.spec.cycle.axes();
    for Chart { title, about, plot } in charts(figure, results.data(), layer, theme::of_figures(ui))
    {
        ui.label(&title).on_hover_text(about);
        let is_of_rows = plot.x.ticks == TickStyle::PowersOfTwo;
        let (down, across, unit) =
            (down.before, across.before, across.unit.trim_start_matches(','));
        let frame = plot::Frame { id: &title, height, cursor: None, has_legend: true };
        plot::ui(ui, &frame, &plot, move |at| {
            let mut lines = vec![match is_of_rows {
                true => format!("{down}{:.0}", at.x.exp2()),
                false if unit.is_empty() => format!("{across}{:.0}", at.x),
                false => format!("{across}{}{unit}", rounded(at.x)),
            }];
            lines.extend(at.values().map(|(name, value)| labelled(name, &rounded(value))));
            Some(lines.join("\n"))
        });
    }
}
