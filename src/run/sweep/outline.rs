//! The settings of a sweep and the machine that it is measured on: all that a map of it is drawn from,
//! apart from the measurements.

use super::row::SweepRow;
use super::spec::{Setting, SweepSpec};
use crate::run::spec::{Backend, RunSpec};
use crate::solver::Kernel;
use std::collections::HashMap;

/// A setting of a sweep, and whether it can run.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepCell {
    /// The setting.
    pub setting: Setting,
    /// Why it cannot run, if it cannot: part of a sentence.
    pub cannot_run: Option<String>,
}

/// A sweep without its measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepOutline {
    /// The normalized description.
    pub spec: SweepSpec,
    /// Where all its settings are measured; never [`Backend::Auto`].
    pub backend: Backend,
    /// The GPUs that settings are measured on, without those that were lost meanwhile; none on a CPU.
    pub devices: Vec<u32>,
    /// One cell for each setting, in the order of [`SweepSpec::settings`].
    pub cells: Vec<SweepCell>,
    /// The machine that it is measured on.
    pub machine: String,
    /// Size of the GPU's L2 cache in bytes; `None` on a CPU and where the driver does not report it.
    pub l2_bytes: Option<u64>,
}

/// Why a row of a table does not belong to a sweep.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RowMismatch {
    /// The sweep has no such setting.
    #[error("its row of “{command}” is not a setting of this sweep")]
    Setting {
        /// The command line of the row.
        command: String,
    },
    /// Two rows are of one setting.
    #[error("it has two rows of “{command}”; remove one of them")]
    Duplicate {
        /// The command line of both.
        command: String,
    },
    /// A column does not go with the others of its row.
    #[error("its row of “{command}” has {column} = {value}, but its other columns give {expected}")]
    Edited {
        /// The command line of the row.
        command: String,
        /// The column.
        column: &'static str,
        /// Its value in the table.
        value: String,
        /// The value that goes with the other columns.
        expected: String,
    },
    /// Other quantities were measured.
    #[error("it measured {table}, and this sweep measures {sweep}")]
    Measured {
        /// What the table holds.
        table: String,
        /// What the sweep measures.
        sweep: String,
    },
    /// Times of two machines cannot be in one table.
    #[error("it was measured on {table}, and this machine is {sweep}")]
    Machine {
        /// The machine of the row.
        table: String,
        /// This machine.
        sweep: String,
    },
}

impl SweepOutline {
    /// The run of a setting, where it is measured.
    pub(super) fn run_of(&self, setting: &Setting) -> RunSpec {
        let mut run = self.spec.run_of(setting);
        run.method.backend = self.backend;
        run
    }

    /// The row of a setting before anything is measured.
    pub fn empty_row(&self, setting: &Setting) -> SweepRow {
        let mut run = self.spec.run_of(setting);
        // Where the iterate depends on their number, some of those that are left have the shares of two.
        let is_free = run.method.exchange_every.is_none_or(|every| every <= 1);
        if is_free && !self.devices.is_empty() {
            run.method.devices.clone_from(&self.devices);
        }
        SweepRow::new(&run, &self.spec.measure, setting, self.backend, &self.machine)
    }

    /// The cell of a row; `None` if the row is not one of this sweep's.
    pub fn cell_of(&self, row: &SweepRow) -> Option<&SweepCell> {
        let index = *self.cells_by_command().get(&key(&row.command))?;
        self.cells.get(index)
    }

    /// The row of each cell; rows of other sweeps are dropped.
    pub fn rows_by_cell(&self, rows: &[SweepRow]) -> Vec<Option<SweepRow>> {
        let cells = self.cells_by_command();
        let mut known = vec![None; self.cells.len()];
        for row in rows {
            if let Some(index) = cells.get(&key(&row.command)) {
                known[*index] = Some(row.clone());
            }
        }
        known
    }

    /// The index of each row's cell.
    ///
    /// # Errors
    /// [`RowMismatch`] for the first row that does not belong to this sweep on this machine.
    pub(super) fn cells_of(&self, rows: &[SweepRow]) -> Result<Vec<usize>, RowMismatch> {
        let cells = self.cells_by_command();
        let index = |row: &SweepRow| {
            let index = cells
                .get(&key(&row.command))
                .copied()
                .ok_or_else(|| RowMismatch::Setting { command: row.command.clone() })?;
            let here = self.empty_row(&self.cells[index].setting);
            if row.measured != here.measured {
                let (table, sweep) = (row.measured.clone(), here.measured);
                return Err(RowMismatch::Measured { table, sweep });
            }
            if row.machine != here.machine {
                let (table, sweep) = (row.machine.clone(), here.machine);
                return Err(RowMismatch::Machine { table, sweep });
            }
            Ok(index)
        };
        let mut is_known = vec![false; self.cells.len()];
        let checked = |row: &SweepRow| {
            let index = index(row)?;
            check_columns(row, &self.empty_row(&self.cells[index].setting))?;
            if std::mem::replace(&mut is_known[index], true) {
                return Err(RowMismatch::Duplicate { command: row.command.clone() });
            }
            Ok(index)
        };
        rows.iter().map(checked).collect()
    }

    fn cells_by_command(&self) -> HashMap<String, usize> {
        let commands = self.cells.iter().map(|cell| key(&self.empty_row(&cell.setting).command));
        commands.zip(0..).collect()
    }
}

/// What rows of one setting have in common. The command lines of tables from before there was `auto` leave the
/// CPU out, and those of settings that were measured after a GPU was lost its number; the column of the machine says where a
/// row was measured.
fn key(command: &str) -> String {
    let command = command.replace(" --backend cpu", "");
    let Some((before, devices)) = command.split_once(DEVICES) else { return command };
    let after = devices.split_once(' ').map(|(_, after)| format!(" {after}"));
    before.to_owned() + &after.unwrap_or_default()
}

/// The option that names GPUs, in a command line.
const DEVICES: &str = " --devices ";

/// Compares the columns of a row that follow from others: those of its setting, and the sweeps. `here` is
/// the row of the setting before anything is measured.
fn check_columns(row: &SweepRow, here: &SweepRow) -> Result<(), RowMismatch> {
    let sweeps = |row: &SweepRow| {
        let cycles = row.cycles.filter(|cycles| !cycles.capped)?;
        row.cycle()?.sweeps().map(|sweeps| cycles.count.saturating_mul(sweeps as u64))
    };
    fn shown<T: ToString>(value: Option<T>) -> String {
        value.map_or_else(|| "empty".to_owned(), |it| it.to_string())
    }
    // Which kernel runs is found on the GPU, where the choice is automatic.
    let is_found = [Kernel::AUTO, Kernel::FASTEST].iter().any(|it| it.name() == here.kernel);
    let kernel = if is_found { row } else { here }.kernel.clone();
    for (column, value, expected) in [
        ("shape", row.shape.clone(), here.shape.clone()),
        ("k", shown(row.k), shown(here.k)),
        ("overlap", shown(row.overlap), shown(here.overlap)),
        ("tile", shown(row.tile), shown(here.tile)),
        ("height", shown(row.height), shown(here.height)),
        ("memory", shown(row.memory), shown(here.memory)),
        ("kernel", row.kernel.clone(), kernel),
        ("threads", row.threads.to_string(), here.threads.to_string()),
        ("sweeps", shown(row.sweeps), shown(sweeps(row))),
    ] {
        if value != expected {
            let command = row.command.clone();
            return Err(RowMismatch::Edited { command, column, value, expected });
        }
    }
    check_seconds(row)
}

/// A program that has saved the table may have rounded its numbers by this fraction.
const ROUNDED: f64 = 1e-3;

/// Compares the seconds of a row with the product of its cycles and its seconds per cycle.
fn check_seconds(row: &SweepRow) -> Result<(), RowMismatch> {
    let cycles = row.cycles.filter(|cycles| !cycles.capped).map(|cycles| cycles.count as f64);
    let expected = cycles.zip(row.seconds_per_cycle).map(|(cycles, seconds)| cycles * seconds);
    let is_equal = match (row.seconds, expected) {
        (Some(seconds), Some(expected)) => (seconds - expected).abs() <= ROUNDED * expected,
        (None, None) => true,
        _ => false,
    };
    if is_equal {
        return Ok(());
    }
    let shown = |seconds: Option<f64>| {
        seconds.map_or_else(|| "empty".to_owned(), |seconds| format!("{seconds:?}"))
    };
    Err(RowMismatch::Edited {
        command: row.command.clone(),
        column: "seconds",
        value: shown(row.seconds),
        expected: shown(expected),
    })
}

#[cfg(test)]
mod tests {
    use super::super::{CycleLists, Cycles, Measure, PerAxis, Sweep, SweepSpec, TileLists};
    use super::*;
    use crate::run::RunSpec;
    use crate::solver::Kernel;

    #[test]
    fn rows_that_are_there_twice_or_were_edited_are_refused() {
        let mut run = RunSpec::default();
        run.problem.shape = vec![24, 20];
        let spec = SweepSpec {
            run,
            cycle: CycleLists::Tiles(TileLists {
                k: [2, 4].map(Into::into).to_vec(),
                overlap: vec![PerAxis::all(0)],
                tile: vec![PerAxis::all(8)],
            }),
            kernel: vec![Kernel::AUTO],
            threads: vec![0],
            measure: vec![Measure::Cycles],
        };
        let outline = Sweep::new(spec).unwrap().outline().clone();
        let rows: Vec<_> =
            outline.cells.iter().map(|cell| outline.empty_row(&cell.setting)).collect();
        assert_eq!(outline.cells_of(&rows), Ok(vec![0, 1]));
        let said = |rows: &[SweepRow]| outline.cells_of(rows).unwrap_err().to_string();
        let twice = [rows[1].clone(), rows[0].clone(), rows[1].clone()];
        assert!(
            said(&twice).starts_with("it has two rows of “tilescope solve"),
            "{}",
            said(&twice)
        );
        let cycles = Some(Cycles { count: 7, capped: false });
        let mut counted = SweepRow { cycles, sweeps: Some(28), ..rows[1].clone() };
        assert_eq!(outline.cells_of(&[counted.clone()]), Ok(vec![1]));
        counted.sweeps = Some(29);
        let edited = said(&[counted]);
        assert!(edited.ends_with("has sweeps = 29, but its other columns give 28"), "{edited}");
        let timed = |seconds| SweepRow {
            cycles,
            sweeps: Some(28),
            seconds_per_cycle: Some(0.5),
            seconds,
            ..rows[1].clone()
        };
        // Also as another program has rounded it.
        for seconds in [3.5, 3.5001] {
            assert_eq!(outline.cells_of(&[timed(Some(seconds))]), Ok(vec![1]));
        }
        let edited = said(&[timed(Some(0.0))]);
        assert!(edited.ends_with("has seconds = 0.0, but its other columns give 3.5"), "{edited}");
        let edited = said(&[timed(None)]);
        assert!(
            edited.ends_with("has seconds = empty, but its other columns give 3.5"),
            "{edited}"
        );
        let edited = said(&[SweepRow { k: Some(3.into()), ..rows[0].clone() }]);
        assert!(edited.ends_with("has k = 3, but its other columns give 2"), "{edited}");
    }
}
