//! The tooltip of a cell: measured beside predicted values.

use crate::app::tuning::results::MapResults;
use crate::number::percent;
use crate::picture::{MapValue, SweepMap, counted, seconds as time};
use crate::run::{CostPrediction, RowOutcome, SweepRow};
use crate::solver::Subiterations;
use eframe::egui::{Grid, RichText, Ui};

/// What k = ∞ is, wherever its speed is shown.
const DIRECT_LIMIT: &str =
    "Every tile is solved exactly; with one tile on the whole grid (T = N), a direct solver.";

/// A row in one line.
pub(super) fn summary(results: &MapResults, row: &SweepRow) -> String {
    let mut text = row.setting();
    if results.outline.spec.kernel.len() > 1 {
        text.push_str(&format!(", {}", row.kernel));
    }
    if let Some(seconds) = row.seconds {
        text.push_str(&format!(": projected {} ± {}", time(seconds), time(row.cost_error())));
    } else if let Some(seconds) = row.seconds_per_sweep() {
        text.push_str(&format!(": {} per sweep", time(seconds)));
    }
    if let Some(cycles) = row.cycles {
        text.push_str(&format!(" · {}", counted(cycles.count, "cycle")));
    }
    if let Some(ratio) = results.classic.and_then(|classic| Some(classic.cost()? / row.cost()?)) {
        let per = if row.seconds.is_some() { "" } else { " per sweep" };
        text.push_str(&format!(" · {ratio:.2}× as fast as classic{per}"));
    }
    if row.k == Some(Subiterations::Infinite) {
        text.push_str(&format!(". {DIRECT_LIMIT}"));
    }
    text
}

/// The cell of the lowest predicted cost in one line, as long as nothing is measured.
pub(super) fn predicted(map: &SweepMap<'_>, at: [usize; 2], prediction: CostPrediction) -> String {
    let mut text = format!("Predicted best: {}", map.cell_name(at));
    let cycles = prediction.cycles.map(|cycles| cycles.cycles).filter(|cycles| cycles.is_finite());
    if let (Some(cycles), Some(seconds)) = (cycles, prediction.seconds_per_cycle) {
        text.push_str(&format!(": {}", time(cycles * seconds)));
    }
    if let Some(cycles) = cycles {
        text.push_str(&format!(" · {}", counted(cycles as u64, "cycle")));
    }
    text
}

/// Draws the tooltip of the cell in a column and a row of the map; `index` is that of its cell in the
/// outline, if it can run.
pub(super) fn ui(
    ui: &mut Ui,
    results: &MapResults,
    map: &SweepMap<'_>,
    [column, row]: [usize; 2],
    index: Option<usize>,
) {
    let cell = &map.cells[row][column];
    if let Some(why) = cell.cannot_run {
        ui.label(RichText::new(map.cell_name([column, row])).strong());
        ui.label(format!("It cannot run: {why}."));
        return;
    }
    let Some(index) = index else { return };
    let cycle = results.outline.cells[index].setting.cycle;
    ui.label(RichText::new(cycle.to_string()).strong());
    if cycle.tiles().is_some_and(|tiles| tiles.k == Subiterations::Infinite) {
        ui.label(DIRECT_LIMIT);
    }
    let prediction = results.predictions[index];
    let row = cell.row;
    if let Some(row) = row {
        match row.outcome {
            RowOutcome::Capped => {
                let cycles = row.cycles.map_or_else(String::new, |cycles| cycles.to_string());
                ui.label(format!("The tolerance was not met ({cycles} cycles)."));
            }
            RowOutcome::RoundingLimit => {
                _ = ui.label("The tolerance was not met: the rounding limit is reached first.");
            }
            RowOutcome::Diverged => _ = ui.label("The iteration diverges."),
            RowOutcome::Measured | RowOutcome::CannotRun => {}
        }
    }
    let dash = || "–".to_owned();
    let signed =
        |error: Option<f64>| error.map_or_else(dash, |error| format!("{:+.1} %", 100.0 * error));
    Grid::new("tuning tip").num_columns(4).spacing([14.0, 2.0]).show(ui, |ui| {
        for text in ["", "measured alone", "predicted", "error"] {
            ui.label(RichText::new(text).weak());
        }
        ui.end_row();
        let predicted = |value| results.data().predicted(index, value).map_or_else(dash, time);
        let bar =
            prediction.and_then(|prediction| prediction.cycles).filter(|c| c.cycles.is_finite());
        let cycles = bar.map_or_else(dash, |cycle_prediction| match cycle_prediction.error {
            0.0 => "known".to_owned(),
            _ => cycle_prediction.to_string(),
        });
        let spread = row.zip(row.and_then(|row| row.seconds_per_cycle_error));
        let spread = spread.map(|(_, error)| format!(" ± {}", time(error))).unwrap_or_default();
        for (name, measured, predicted, error) in [
            (
                "Projected time",
                row.and_then(|row| row.seconds).map_or_else(dash, time),
                predicted(MapValue::Time),
                signed(row.and_then(|row| row.seconds_prediction_error)),
            ),
            (
                "Time per cycle",
                row.and_then(|row| row.seconds_per_cycle)
                    .map_or_else(dash, |seconds| time(seconds) + &spread),
                predicted(MapValue::CycleTime),
                signed(row.and_then(|row| row.prediction_error)),
            ),
            (
                "Cycles",
                row.and_then(|row| row.cycles).map_or_else(dash, |cycles| cycles.to_string()),
                cycles,
                signed(row.and_then(|row| row.cycles_prediction_error)),
            ),
        ] {
            ui.label(name);
            ui.label(measured);
            ui.label(predicted);
            ui.label(error);
            ui.end_row();
        }
    });
    if let Some(row) = row {
        let mut facts = vec![format!("kernel {}", row.kernel)];
        facts.extend(row.sweeps.map(|sweeps| counted(sweeps, "sweep")));
        facts.extend(row.edge_share.map(|share| format!("edge share {:.0} %", 100.0 * share)));
        facts.extend(row.error_left.map(|left| format!("{} of the error left", percent(left))));
        facts.extend(row.repeats.map(|repeats| format!("median of {repeats} repeats")));
        if row.seconds.is_some() {
            facts.push("projected: cycles × time per cycle".to_owned());
        }
        if cell.is_exact {
            facts.push("exact Jacobi".to_owned());
        }
        if cell.is_equal {
            facts.push("equal to the best within noise".to_owned());
        }
        ui.label(RichText::new(facts.join(" · ")).weak());
    }
    let click = if results.end.is_some() {
        "Click to open its run in the explorer."
    } else {
        "Click to open its run in the explorer; the measurement is paused meanwhile."
    };
    ui.label(RichText::new(click).weak());
}
