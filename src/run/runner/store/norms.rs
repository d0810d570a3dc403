//! The norms of the passes that a run in a store has made, a line each, so that its curve begins where the run did.

use crate::files::{FileError, read_text, write_atomically};
use crate::number::cell;
use crate::run::history::Record;
use crate::solver::ResidualNorms;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// The file.
pub(super) const NORMS: &str = "norms.csv";

const HEADER: &str = "cycle,seconds,residual_l2,residual_max,max_change";

/// A file longer than this is of no run: a line has a hundred bytes, and a pass takes milliseconds at least.
const LONGEST: u64 = 1 << 36;

/// Adds the norms of a pass.
pub(super) fn append(folder: &Path, record: &Record) -> Result<(), FileError> {
    let path = folder.join(NORMS);
    let text = line(record);
    let added = File::options().create(true).append(true).open(&path);
    let added = added.and_then(|mut file| file.write_all(text.as_bytes()));
    added.map_err(|cause| FileError::Write { path, cause })
}

/// The norms of the first passes of a run, and writes them in place of what a process left that ended; `None` where some
/// are missing, and then the file has none.
pub(super) fn take_over(folder: &Path, passes: u64) -> Result<Option<Vec<Record>>, FileError> {
    let path = folder.join(NORMS);
    let text = read_text(&path, LONGEST).unwrap_or_default();
    // The line of the last pass may be there twice, or that of one more.
    let mut records: Vec<Record> = Vec::new();
    for record in text.lines().skip(1).map_while(record) {
        let next = records.len() as u64 + 1;
        if record.cycle == next && next <= passes {
            records.push(record);
        }
    }
    let is_whole = records.len() as u64 == passes;
    let known = is_whole.then_some(records);
    write_atomically(&path, |out| {
        writeln!(out, "{HEADER}")?;
        known.iter().flatten().try_for_each(|record| out.write_all(line(record).as_bytes()))
    })?;
    Ok(known)
}

fn line(record: &Record) -> String {
    let Record { cycle, seconds, residual, max_change, .. } = record;
    let l2 = cell(residual.map(|norms| norms.l2));
    let max = cell(residual.and_then(|norms| norms.max));
    format!("{cycle},{seconds:?},{l2},{max},{}\n", cell(*max_change))
}

/// The norms of a line; `None` of one that is not whole.
fn record(line: &str) -> Option<Record> {
    let cells: Vec<_> = line.split(',').collect();
    let [cycle, seconds, l2, max, max_change] = cells[..] else { return None };
    let known = |cell: &str| match cell {
        "" => Some(None),
        cell => cell.parse().ok().map(Some),
    };
    let (l2, max): (Option<f64>, _) = (known(l2)?, known(max)?);
    let residual = l2.map(|l2| ResidualNorms { l2, max });
    let unknown = Record::unknown(cycle.parse().ok()?, seconds.parse().ok()?);
    Some(Record { residual, max_change: known(max_change)?, ..unknown })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn norms_are_read_as_they_were_written_and_a_gap_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let of = |cycle: u64| {
            let l2 = 1.0 / (3.0 + cycle as f64);
            let residual =
                Some(ResidualNorms { l2, max: cycle.is_multiple_of(2).then_some(0.1 * l2) });
            let max_change = cycle.is_multiple_of(3).then_some(f64::MIN_POSITIVE);
            Record { residual, max_change, ..Record::unknown(cycle, 1e-3 * cycle as f64) }
        };
        assert_eq!(take_over(folder.path(), 0).unwrap(), Some(Vec::new()));
        // The sixth pass was made again.
        for cycle in [1, 2, 3, 4, 5, 6, 6, 7] {
            append(folder.path(), &of(cycle)).unwrap();
        }
        let path = folder.path().join(NORMS);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{text}8,0.0")).unwrap();
        let known = |passes| take_over(folder.path(), passes).unwrap();
        assert_eq!(known(7), Some((1..8).map(of).collect()));
        assert_eq!(known(6), Some((1..7).map(of).collect()));
        // What is missing stays missing.
        assert_eq!(known(7), None);
        append(folder.path(), &of(8)).unwrap();
        assert_eq!(known(8), None);
    }
}
