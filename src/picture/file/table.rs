//! What a figure shows, as numbers.

use crate::files::FileError;
use crate::picture::figures::run_figure::Titles;
use crate::picture::figures::runs::{Row, rows};
use crate::picture::view::kind::FigureKind;
use crate::picture::view::spec::ViewSpec;
use crate::run::{self, CsvTable, CutLine, Snapshot, cell};
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
pub fn save_table(path: &Path, snapshots: &[&Snapshot], view: &ViewSpec) -> Result<(), FileError> {
    let mut tables: Vec<_> =
        snapshots.iter().filter_map(|snapshot| table(snapshot, view)).collect();
    let names = match view.kind {
        FigureKind::Runs => return runs_table(&rows(snapshots, view)).save(path),
        FigureKind::Curves => {
            tables.extend(snapshots.first().and_then(|first| reference_table(first)));
            Titles::of_curves(snapshots, view).each
        }
        _ => Titles::of(snapshots, view).each,
    };
    match tables.len() {
        0 => Ok(()),
        1 => tables.remove(0).save(path),
        _ => CsvTable::of_runs(names.into_iter().zip(tables)).save(path),
    }
}

/// Jacobi's iteration beside a run, if it was made.
fn reference_table(snapshot: &Snapshot) -> Option<CsvTable<'_>> {
    let records = &*snapshot.reference;
    (!records.is_empty()).then(|| run::curve_table(records, 1, snapshot.start_residual))
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
fn table<'a>(snapshot: &'a Snapshot, view: &ViewSpec) -> Option<CsvTable<'a>> {
    let shape = &snapshot.plan.problem.shape;
    Some(match view.kind {
        FigureKind::Curves => {
            let sweeps = snapshot.plan.sweeps_per_cycle();
            run::curve_table(snapshot.history.records(), sweeps, snapshot.start_residual)
        }
        FigureKind::Profile => {
            let cut = view.cut.unwrap_or(CutLine::middle(shape));
            run::profile_table(shape, cut, snapshot.field, &snapshot.picture.samples)
        }
        FigureKind::MeanTile => {
            let value = format!("mean_abs_{}", snapshot.field.name());
            run::map_table(["across", "down", &value], &snapshot.picture)
        }
        FigureKind::Distance => run::distances_table(&snapshot.findings.distances),
        FigureKind::EdgeShare => run::edge_share_table(&snapshot.over_cycles.edges),
        FigureKind::Probes => run::probes_table(&snapshot.over_cycles.probes),
        FigureKind::Inside => {
            run::inside_table(snapshot.findings.inside.as_ref()?, shape.dim() == 1)
        }
        FigureKind::Runs
        | FigureKind::HeatMap
        | FigureKind::SpaceTime
        | FigureKind::SideBySide
        | FigureKind::Arrangement
        | FigureKind::BareMap => {
            let y = if snapshot.picture.cycles_per_row.is_some() { "cycle" } else { "j" };
            run::map_table(["i", y, snapshot.field.name()], &snapshot.picture)
        }
    })
}
