//! What a figure shows, as numbers.

use crate::files::FileError;
use crate::picture::view::spec::ViewSpec;
use crate::run::{CsvTable, Snapshot};
use std::path::Path;

/// Saves what a figure shows as CSV. Rows of several runs, and of Jacobi's iteration beside them, lie
/// one after the other; a first column names their run. A kind without a table
/// ([`FigureKind::has_table`](crate::picture::FigureKind::has_table)) writes nothing.
///
/// # Errors
/// [`FileError`] naming the file; nothing half-written is left.
pub fn save_table(path: &Path, snapshots: &[&Snapshot], view: &ViewSpec) -> Result<(), FileError> {
    let mut tables = view.kind.tables(snapshots, view);
    match tables.len() {
        0 => Ok(()),
        1 => tables.remove(0).1.save(path),
        _ => CsvTable::of_runs(tables).save(path),
    }
}
