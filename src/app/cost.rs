//! What the chosen tiles cost, and what they give.

use super::session::Session;
use super::theme::{heading, row};
use crate::grid::memory::human;
use crate::run::MethodName;
use eframe::egui::{RichText, Ui};

pub(super) fn ui(ui: &mut Ui, session: &Session) {
    heading(ui, "What it costs");
    let method = &session.spec.method;
    let Some(tiling) = session.tiling() else {
        ui.label("These tiles cannot be.");
        return;
    };
    if method.name == MethodName::Classic {
        ui.label("Every sweep goes through memory: nothing is tiled, nothing is stale.");
        return;
    }
    let counts: Vec<_> = tiling.axes().iter().map(|axis| axis.count().to_string()).collect();
    row(ui, "Tiles", "Tiles in all: the thread blocks of a GPU.", |ui| {
        let text = match counts.len() {
            1 => counts[0].clone(),
            _ => format!("{}  ({})", tiling.count(), counts.join(" × ")),
        };
        ui.label(text);
    });
    let about = "Fast memory of one tile, as in the paper: two copies of it with its ring, and its right-hand side.";
    row(ui, "Fast memory", about, |ui| {
        ui.label(human(tiling.bytes_per_tile(method.precision.bytes()) as u64));
    });
    let about = "Point updates computed for each one that is kept: what overlap costs.";
    row(ui, "Work", about, |ui| ui.label(format!("{:.2}×", tiling.redundancy())));
    let needed = 2 * (method.k - 1);
    if tiling.is_exact(method.k) {
        let reason = if tiling.count() == 1 {
            "One tile holds the whole grid: its ring is the boundary, which never goes stale."
                .to_owned()
        } else {
            format!(
                "Staleness travels one point a sweep. With o ≥ 2 (k − 1) = {needed} it never reaches a point that its tile owns: the result is Jacobi's, bit for bit."
            )
        };
        let text = RichText::new("✓ identical to Jacobi's iteration").strong();
        ui.label(text).on_hover_text(reason);
    } else {
        let text = RichText::new(format!("Jacobi's exactly from overlap {needed} on")).weak();
        ui.label(text).on_hover_text(
            "Staleness travels one point a sweep, from the frozen ring inwards. It reaches points that a tile owns unless o ≥ 2 (k − 1).",
        );
    }
}
