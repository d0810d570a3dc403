//! A 1D run as one picture: x across, cycles downwards.

use super::field::{FieldKind, Picture};
use crate::grid::Field;
use crate::run::runner::Run;
use crate::solver::{Samples, SolverError, Window, larger};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Rows of the diagram. When it is full, every second row goes and the diagram covers twice as
/// many cycles: it changes its scale now and then, and not all the time.
pub(in crate::run) const ROWS: usize = 512;

/// The most samples across: more than any screen shows.
const COLUMNS: usize = 2048;

/// The longest 1D grid whose iterates are kept, for an error or a staleness that is requested later:
/// 64 MiB in all.
pub const LONGEST_KEPT: usize = 16_384;

/// The fields that are sampled as the run goes; the others follow from the iterates.
const SAMPLED: [FieldKind; 3] = [FieldKind::Residual, FieldKind::Change, FieldKind::Solution];

/// The diagram of a run, shared by the thread that makes the run and the one that replays it.
#[derive(Clone)]
pub(in crate::run) struct Diagram(Arc<Mutex<SpaceTime>>);

/// The first system of a batch, cycle by cycle.
pub(in crate::run) struct SpaceTime {
    nx: usize,
    /// A row is kept of every n-th cycle; this is n.
    stride: u64,
    rows: BTreeMap<u64, DiagramRow>,
    /// u* of the first system, once it is known.
    exact: Option<Vec<f64>>,
}

/// What is kept of one cycle.
struct DiagramRow {
    /// Samples of the fields in [`SAMPLED`], in its order.
    samples: [Vec<f32>; SAMPLED.len()],
    /// Samples of the staleness, once it was requested.
    staleness: Option<Vec<f32>>,
    /// The iterate, on 1D grids that are not too long.
    iterate: Option<Vec<f64>>,
}

impl Diagram {
    /// The diagram of a run that is at its initial guess; a 2D run has none.
    ///
    /// # Errors
    /// [`SolverError`] if the run's solver fails.
    pub fn new(run: &Run) -> Result<Option<Self>, SolverError> {
        let diagram = SpaceTime::new(run)?;
        Ok(diagram.map(|diagram| Self(Arc::new(Mutex::new(diagram)))))
    }

    /// The diagram itself. It is locked for a few milliseconds at most.
    pub fn get(&self) -> MutexGuard<'_, SpaceTime> {
        // Each row is complete or missing, even if a holder of the lock panicked.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One field of it as a picture, thinned out to `most` samples across and down.
    pub fn picture(&self, kind: FieldKind, most: [usize; 2]) -> Picture {
        let (samples, cycles_per_row) = self.get().samples(kind, most);
        Picture { samples, cycles_per_row: Some(cycles_per_row), is_projection: false }
    }
}

impl SpaceTime {
    fn new(run: &Run) -> Result<Option<Self>, SolverError> {
        let shape = run.plan().problem.shape;
        if shape.dim() != 1 {
            return Ok(None);
        }
        let mut diagram = Self { nx: shape.nx(), stride: 1, rows: BTreeMap::new(), exact: None };
        diagram.record(run)?;
        Ok(Some(diagram))
    }

    /// Cycles from one on to the next that is to be kept.
    pub fn until_next(&self, cycle: u64) -> u64 {
        self.stride - cycle % self.stride
    }

    /// Keeps the present iterate, if its cycle is one to keep.
    ///
    /// # Errors
    /// [`SolverError`] if the run's solver fails.
    pub fn record(&mut self, run: &Run) -> Result<(), SolverError> {
        if !run.cycle().is_multiple_of(self.stride) || self.rows.contains_key(&run.cycle()) {
            return Ok(());
        }
        let take = |kind: FieldKind| {
            let solver = match kind {
                FieldKind::Residual => run.residual_solver(),
                _ => run.solver(),
            };
            solver.sample(kind.quantity(None), &self.window())
        };
        let [residual, change, solution] = SAMPLED.map(take);
        let samples = [residual?.values, change?.values, solution?.values];
        let iterate = self.keeps_iterates().then(|| run.solver().solution_row(0)).transpose()?;
        self.rows.insert(run.cycle(), DiagramRow { samples, staleness: None, iterate });
        if self.rows.len() > ROWS {
            self.stride *= 2;
            let stride = self.stride;
            self.rows.retain(|cycle, _| cycle.is_multiple_of(stride));
        }
        Ok(())
    }

    /// Whether iterates are kept, of which a staleness or an error follows later.
    pub fn keeps_iterates(&self) -> bool {
        self.nx <= LONGEST_KEPT
    }

    /// The first cycle whose staleness can be computed and has not been.
    pub fn next_without_staleness(&self) -> Option<u64> {
        let unknown = |row: &DiagramRow| row.staleness.is_none() && row.iterate.is_some();
        self.rows.iter().find(|(_, row)| unknown(row)).map(|(&cycle, _)| cycle)
    }

    /// Sets the staleness of `cycle` from Jacobi's iterate after the same number of sweeps.
    ///
    /// # Errors
    /// [`SolverError`] if its solver fails.
    pub fn set_staleness(&mut self, cycle: u64, classic: &Run) -> Result<(), SolverError> {
        let classic = classic.solver().solution_row(0)?;
        let block = self.block();
        if let Some(row) = self.rows.get_mut(&cycle)
            && let Some(iterate) = &row.iterate
        {
            row.staleness = Some(difference(iterate, &classic, block));
        }
        Ok(())
    }

    /// Sets the exact solution.
    pub fn set_exact(&mut self, exact: &Field<f64>) {
        self.exact = Some(exact.interior(0).to_vec());
    }

    /// The diagram of one field: as many rows as there will be before its scale changes, those of
    /// cycles to come not known; thinned out to `most` samples across and down. Returns the cycles
    /// that a row stands for, too.
    fn samples(&self, kind: FieldKind, most: [usize; 2]) -> (Samples, u64) {
        let block = self.block();
        let width = self.nx.div_ceil(block);
        let mut values = vec![f32::NAN; width * ROWS];
        for (cycle, row) in &self.rows {
            let slot = values.chunks_mut(width).nth((cycle / self.stride) as usize);
            if let Some((slot, known)) = slot.zip(self.row(row, kind)) {
                slot.copy_from_slice(&known);
            }
        }
        let samples = Samples {
            columns: 0..self.nx,
            rows: 0..ROWS,
            slice: None,
            block: [block, 1],
            size: [width, ROWS],
            values,
        };
        (thinned(samples, most), self.stride)
    }

    /// Samples of a field of one cycle, if they are known.
    fn row<'a>(&self, row: &'a DiagramRow, kind: FieldKind) -> Option<Cow<'a, [f32]>> {
        match kind {
            FieldKind::Staleness => row.staleness.as_deref().map(Cow::from),
            FieldKind::Error => {
                let (iterate, exact) = row.iterate.as_ref().zip(self.exact.as_ref())?;
                Some(difference(iterate, exact, self.block()).into())
            }
            _ => {
                let index = SAMPLED.iter().position(|&sampled| sampled == kind)?;
                Some(Cow::from(&row.samples[index]))
            }
        }
    }

    fn window(&self) -> Window {
        Window { columns: 0..self.nx, rows: 0..1, slice: None, most: [COLUMNS, 1] }
    }

    /// Points that one sample stands for.
    fn block(&self) -> usize {
        self.window().block()[0]
    }
}

/// The same with a limited number of samples across and down, each the one of largest magnitude that
/// is known of a block.
fn thinned(samples: Samples, most: [usize; 2]) -> Samples {
    let [width, height] = samples.size;
    let [across, down] = [0, 1].map(|axis| samples.size[axis].div_ceil(most[axis].max(1)).max(1));
    if [across, down] == [1, 1] {
        return samples;
    }
    let size = [width.div_ceil(across), height.div_ceil(down)];
    let mut values = vec![f32::NAN; size[0] * size[1]];
    for (row, line) in samples.values.chunks(width).enumerate() {
        let thinned = &mut values[row / down * size[0]..][..size[0]];
        for (largest, block) in thinned.iter_mut().zip(line.chunks(across)) {
            for &value in block {
                if largest.is_nan() || value.abs() > largest.abs() {
                    *largest = value;
                }
            }
        }
    }
    let block = [samples.block[0] * across, samples.block[1] * down];
    Samples { size, block, values, ..samples }
}

/// Samples of `a − b`, each the one of largest magnitude in a block of points.
fn difference(a: &[f64], b: &[f64], block: usize) -> Vec<f32> {
    let difference: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    let largest = |block: &[f64]| block.iter().fold(0.0, |a, &b| larger(a, b)) as f32;
    difference.chunks(block).map(largest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thinned_diagram_keeps_what_is_largest_and_known() {
        let nan = f32::NAN;
        #[rustfmt::skip]
        let values = vec![
            1.0, -5.0, 0.0, 0.0, 2.0,
            3.0,  4.0, nan, 0.5, nan,
            nan,  nan, nan, nan, 7.0,
        ];
        let samples = Samples {
            columns: 0..10,
            rows: 0..3,
            slice: None,
            block: [2, 1],
            size: [5, 3],
            values,
        };
        let thin = thinned(samples.clone(), [3, 2]);
        assert_eq!((thin.size, thin.block), ([3, 2], [4, 2]));
        assert_eq!(thin.values[..3], [-5.0, 0.5, 2.0]);
        assert!(thin.values[3].is_nan() && thin.values[4].is_nan());
        assert_eq!(thin.values[5], 7.0);
        assert_eq!((thin.at(3, 1), thin.at(9, 2)), (Some(-5.0), Some(7.0)));
        assert_eq!(thinned(samples, [5, 3]).size, [5, 3]);
    }
}
