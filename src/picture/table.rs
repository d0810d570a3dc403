//! What a figure shows, as numbers.

use super::figure_kind::FigureKind;
use super::view_spec::ViewSpec;
use crate::files::FileError;
use crate::run::{self, Captured, CutLine};
use std::path::Path;

/// Whether a name asks for a table.
pub fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"))
}

impl FigureKind {
    /// Whether what it shows can be saved as a table, too.
    pub const fn has_table(self) -> bool {
        !matches!(self, Self::SideBySide | Self::Arrangement | Self::BareMap)
    }
}

/// Saves what a figure shows of its run as CSV; of several runs, of the first. Kinds that have no
/// table ([`FigureKind::has_table`]) are saved as their map.
///
/// # Errors
/// [`FileError`] naming the file; nothing half-written is left.
pub fn save_table(path: &Path, shot: &Captured, view: &ViewSpec) -> Result<(), FileError> {
    let shape = &shot.plan.problem.shape;
    match view.kind {
        FigureKind::Curves => {
            let sweeps = shot.plan.sweeps_per_cycle();
            run::save_curve(path, &shot.history, sweeps, shot.start_residual)
        }
        FigureKind::Profile => {
            let cut = view.cut.unwrap_or(CutLine::middle(shape));
            run::save_profile(path, shape, cut, shot.field, &shot.picture.samples)
        }
        FigureKind::MeanTile => {
            let value = format!("mean_abs_{}", shot.field.name());
            run::save_map(path, ["across", "down", &value], &shot.picture)
        }
        FigureKind::Distance => run::save_distances(path, &shot.findings.distances),
        FigureKind::EdgeShare => run::save_edge_share(path, &shot.over_cycles.edges),
        FigureKind::Probes => run::save_probes(path, &shot.over_cycles.probes),
        FigureKind::Inside => match &shot.findings.inside {
            Some(inside) => run::save_inside(path, inside, shape.dim() == 1),
            None => Ok(()),
        },
        FigureKind::HeatMap
        | FigureKind::SpaceTime
        | FigureKind::SideBySide
        | FigureKind::Arrangement
        | FigureKind::BareMap => {
            let y = if shot.picture.cycles_per_row.is_some() { "cycle" } else { "j" };
            run::save_map(path, ["i", y, shot.field.name()], &shot.picture)
        }
    }
}
