//! What is known of a sweep: all that its map, its charts and its table show.

use crate::picture::sweep::map::MapValue;
use crate::run::{ClassicBaseline, CostPrediction, SweepOutline, SweepRow};

/// What is known of a sweep. Rows and predictions have one entry for each cell of the outline.
#[derive(Clone, Copy, Debug)]
pub struct SweepData<'a> {
    /// Its settings and its machine.
    pub outline: &'a SweepOutline,
    /// What was measured.
    pub rows: &'a [Option<SweepRow>],
    /// What was predicted; empty where nothing was.
    pub predictions: &'a [Option<CostPrediction>],
    /// Jacobi's iteration on the same system.
    pub classic: Option<ClassicBaseline>,
}

impl SweepData<'_> {
    /// The measured row of a cell.
    pub fn row(&self, index: usize) -> Option<&SweepRow> {
        self.rows.get(index).and_then(Option::as_ref)
    }

    /// The predicted value of a cell: at the machine's speed while the cell was measured, or else
    /// during the probe. `None` for a value that is not predicted.
    pub fn predicted(&self, index: usize, value: MapValue) -> Option<f64> {
        let cycle = self.outline.cells.get(index)?.setting.cycle;
        let prediction = self.predictions.get(index).copied().flatten();
        let row = self.row(index);
        let cycles = row.and_then(|row| row.predicted_cycles);
        let cycles = cycles.or_else(|| Some(prediction?.cycles?.cycles));
        let seconds = row.and_then(|row| row.predicted_seconds_per_cycle);
        let seconds = seconds.or_else(|| prediction?.seconds_per_cycle);
        let predicted = match value {
            MapValue::Time => cycles? * seconds?,
            MapValue::Cycles => cycles?,
            MapValue::Sweeps => cycles? * cycle.sweeps()? as f64,
            MapValue::CycleTime => seconds?,
            MapValue::SweepTime => cycle.per_sweep(seconds?)?,
            MapValue::EdgeShare | MapValue::Error => return None,
        };
        Some(predicted).filter(|predicted| predicted.is_finite())
    }
}
