//! What a sweep is, apart from measuring it.

use super::row::SweepRow;
use super::spec::{Setting, SweepSpec};
use std::collections::HashMap;

/// A setting of a sweep, and whether it can run.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepCell {
    /// The setting.
    pub setting: Setting,
    /// Why it cannot run, if it cannot.
    pub cannot_run: Option<String>,
}

/// The settings of a sweep, and the machine that it is measured on: what its maps are drawn from.
#[derive(Clone, Debug, PartialEq)]
pub struct SweepOutline {
    /// What it goes through, tidied up.
    pub spec: SweepSpec,
    /// Its settings, in order.
    pub cells: Vec<SweepCell>,
    /// The machine that it measures on.
    pub machine: String,
    /// Bytes of the GPU's L2 cache, where it measures on one that tells.
    pub l2_bytes: Option<u64>,
}

impl SweepOutline {
    /// The row of a setting before anything is known of it.
    pub fn blank(&self, setting: &Setting) -> SweepRow {
        SweepRow::new(&self.spec, setting, &self.machine)
    }

    /// The cell of a row, if it is one of this sweep's.
    pub fn cell_of(&self, row: &SweepRow) -> Option<&SweepCell> {
        self.cells.iter().find(|cell| {
            let Setting { tile, k, overlap, .. } = cell.setting;
            (tile, k, overlap) == (row.tile, row.k, row.overlap)
                && self.blank(&cell.setting).command == row.command
        })
    }

    /// Rows by the places of their cells.
    pub fn by_place(&self, rows: &[SweepRow]) -> Vec<Option<SweepRow>> {
        let commands = self.cells.iter().map(|cell| self.blank(&cell.setting).command);
        let places: HashMap<_, _> = commands.zip(0..).collect();
        let mut known = vec![None; self.cells.len()];
        for row in rows {
            if let Some(place) = places.get(&row.command) {
                known[*place] = Some(row.clone());
            }
        }
        known
    }
}
