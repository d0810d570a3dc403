//! What a figure shows, as numbers.

use crate::files::FileError;
use crate::picture::figures::run_figure::Titles;
use crate::picture::figures::runs::{Row, rows};
use crate::picture::view::kind::FigureKind;
use crate::picture::view::spec::ViewSpec;
use crate::run::{self, Captured, CsvTable, CutLine, cell};
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

/// Saves what a figure shows of its runs as CSV. Rows of several runs, and of Jacobi's iteration beside
/// them, lie one after the other, and say in a first column whose they are. Kinds that have no table
/// ([`FigureKind::has_table`]) are saved as their map.
///
/// # Errors
/// [`FileError`] naming the file; nothing half-written is left.
pub fn save_table(path: &Path, shots: &[&Captured], view: &ViewSpec) -> Result<(), FileError> {
    let mut tables: Vec<_> = shots.iter().filter_map(|shot| table(shot, view)).collect();
    let names = match view.kind {
        FigureKind::Runs => return runs_table(&rows(shots, view)).save(path),
        FigureKind::Curves => {
            tables.extend(shots.first().and_then(|first| reference_table(first)));
            Titles::of_curves(shots, view).each
        }
        _ => Titles::of(shots, view).each,
    };
    match tables.len() {
        0 => Ok(()),
        1 => tables.remove(0).save(path),
        _ => CsvTable::of_runs(names.into_iter().zip(tables)).save(path),
    }
}

/// Jacobi's iteration beside a run, if it was made.
fn reference_table(shot: &Captured) -> Option<CsvTable<'_>> {
    let records = &*shot.reference;
    (!records.is_empty()).then(|| run::curve_table(records, 1, shot.start_residual))
}

/// The runs of a figure, a row each.
fn runs_table(rows: &[Row]) -> CsvTable<'_> {
    let row = |row: &Row| {
        [
            row.name.clone(),
            row.cycles.to_string(),
            row.sweeps.to_string(),
            format!("{:.6}", row.seconds),
            cell(row.speedup),
            cell(row.reduction),
        ]
    };
    let header = ["run", "cycles", "sweeps", "seconds", "speedup", "reduction"];
    CsvTable::new(header, rows.iter().map(row))
}

/// What a figure shows of one run; `None` where it could not be found out.
fn table<'a>(shot: &'a Captured, view: &ViewSpec) -> Option<CsvTable<'a>> {
    let shape = &shot.plan.problem.shape;
    Some(match view.kind {
        FigureKind::Curves => {
            let sweeps = shot.plan.sweeps_per_cycle();
            run::curve_table(shot.history.records(), sweeps, shot.start_residual)
        }
        FigureKind::Profile => {
            let cut = view.cut.unwrap_or(CutLine::middle(shape));
            run::profile_table(shape, cut, shot.field, &shot.picture.samples)
        }
        FigureKind::MeanTile => {
            let value = format!("mean_abs_{}", shot.field.name());
            run::map_table(["across", "down", &value], &shot.picture)
        }
        FigureKind::Distance => run::distances_table(&shot.findings.distances),
        FigureKind::EdgeShare => run::edge_share_table(&shot.over_cycles.edges),
        FigureKind::Probes => run::probes_table(&shot.over_cycles.probes),
        FigureKind::Inside => run::inside_table(shot.findings.inside.as_ref()?, shape.dim() == 1),
        FigureKind::Runs
        | FigureKind::HeatMap
        | FigureKind::SpaceTime
        | FigureKind::SideBySide
        | FigureKind::Arrangement
        | FigureKind::BareMap => {
            let y = if shot.picture.cycles_per_row.is_some() { "cycle" } else { "j" };
            run::map_table(["i", y, shot.field.name()], &shot.picture)
        }
    })
}
