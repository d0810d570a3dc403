//! The field along the line of a 1D problem.

use super::convergence::LABEL_ROOM;
use super::theme;
use crate::picture::number;
use crate::run::{FieldKind, Report};
use eframe::egui::{RichText, Ui};
use egui_plot::{HoverPosition, Line, Plot, PlotPoints, VLine};

/// Tiles of a line whose borders can be told apart in its profile.
const MOST_BORDERS: usize = 128;

/// Room for the values beside a profile, such as `−5×10⁻⁴`.
const VALUE_ROOM: f32 = 58.0;

/// The newest values along a line, tile borders marked.
pub(super) fn ui(ui: &mut Ui, report: Option<&Report>) {
    let Some(report) = report else {
        return;
    };
    let about = "The field along the line at the newest cycle; tile borders as vertical lines.";
    ui.label(format!("{} along the line", report.seen.field.label())).on_hover_text(about);
    let Some(samples) = &report.seen.profile else {
        return;
    };
    if samples.values.iter().all(|value| value.is_nan()) {
        ui.label(RichText::new(unknown(report)).weak());
        return;
    }
    let block = samples.block[0] as f64;
    let points: PlotPoints<'_> = samples
        .values
        .iter()
        .enumerate()
        .filter(|(_, value)| value.is_finite())
        .map(|(index, &value)| [(index as f64 + 0.5) * block - 0.5, f64::from(value)])
        .collect();
    let ink = theme::curve(ui, 0);
    let faint = ui.visuals().widgets.noninteractive.bg_stroke.color;
    let tiles = report.plan.tiling.x();
    let grid = theme::grid(ui);
    Plot::new("profile")
        .height(ui.available_height())
        .width(ui.available_width() - LABEL_ROOM)
        .x_axis_label("i")
        .y_axis_min_width(VALUE_ROOM)
        .y_axis_formatter(|mark, _| number(mark.value))
        .label_formatter(|hover| {
            let (HoverPosition::NearDataPoint { position: at, .. }
            | HoverPosition::Elsewhere { position: at }) = hover;
            Some(format!("i {:.0}\n{}", at.x, number(at.y)))
        })
        .allow_scroll(false)
        .grid_color(grid)
        .show(ui, |plot| {
            // More borders than can be told apart would be a grey wall.
            if tiles.count() <= MOST_BORDERS {
                for border in tiles.borders() {
                    plot.vline(
                        VLine::new("", border as f64 - 0.5)
                            .color(faint)
                            .width(1.0)
                            .allow_hover(false),
                    );
                }
            }
            plot.line(Line::new("this run", points).color(ink).width(1.5));
        });
}

/// Why there is no profile.
fn unknown(report: &Report) -> String {
    let cycles =
        report.seen.picture.as_ref().and_then(|picture| picture.cycles_per_row).unwrap_or(1);
    match report.seen.field {
        FieldKind::Staleness => format!(
            "Jacobi's iteration is not at the newest cycle; the diagram compares every {}.",
            if cycles > 1 { format!("{cycles} cycles") } else { "cycle".to_owned() },
        ),
        _ => "It is not known at the newest cycle.".to_owned(),
    }
}
