//! The settings of a sweep and the machine that it is measured on: all that a map of it is drawn from,
//! apart from the measurements.

use super::row::SweepRow;
use super::spec::{Setting, SweepSpec};
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
    /// The row of a setting before anything is measured.
    pub fn empty_row(&self, setting: &Setting) -> SweepRow {
        SweepRow::new(&self.spec, setting, &self.machine)
    }

    /// The cell of a row; `None` if the row is not one of this sweep's.
    pub fn cell_of(&self, row: &SweepRow) -> Option<&SweepCell> {
        self.cells.iter().find(|cell| {
            let Setting { tile, k, overlap, .. } = cell.setting;
            (tile, k, overlap) == (row.tile, row.k, row.overlap)
                && self.empty_row(&cell.setting).command == row.command
        })
    }

    /// The row of each cell; rows of other sweeps are dropped.
    pub fn rows_by_cell(&self, rows: &[SweepRow]) -> Vec<Option<SweepRow>> {
        let cells = self.cells_by_command();
        let mut known = vec![None; self.cells.len()];
        for row in rows {
            if let Some(index) = cells.get(&row.command) {
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
                .get(&row.command)
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
        rows.iter().map(index).collect()
    }

    fn cells_by_command(&self) -> HashMap<String, usize> {
        let commands = self.cells.iter().map(|cell| self.empty_row(&cell.setting).command);
        commands.zip(0..).collect()
    }
}
