//! Measurements that block their thread until they are complete or stopped: for the command line and for
//! programs.

use super::baseline::ClassicBaseline;
use super::measure::count_side_by_side;
use super::outline::SweepCell;
use super::predict::CostPrediction;
use super::row::SweepRow;
use super::spec::Measure;
use super::stepping::{ShouldStop, finish};
use super::steps::{BaselineMeasurement, CellMeasurement, Predictions, Probe};
use super::sweep::{MeasureError, Sweep, of_this_setting};
use std::sync::Arc;
use std::task::Poll;

impl Sweep {
    /// Measures the constants of the cost model with a few settings of each tile size and kernel. `false`
    /// if it was stopped before.
    ///
    /// # Errors
    /// [`MeasureError`] if a solver fails, or a plan is no longer possible.
    pub fn probe(&mut self, should_stop: ShouldStop<'_>) -> Result<bool, MeasureError> {
        let begin = |sweep: &mut Self| Ok(Probe::new(sweep.outline()));
        Ok(self.complete(should_stop, begin, Probe::step)?.is_some())
    }

    /// Predicts the cost of all settings that can run: seconds per cycle by the cost model, after
    /// [`Sweep::probe`], and cycles from the modes of the iteration. `None` if it was stopped before.
    ///
    /// # Errors
    /// As [`Sweep::probe`].
    pub fn predict(
        &mut self,
        should_stop: ShouldStop<'_>,
    ) -> Result<Option<Vec<CostPrediction>>, MeasureError> {
        let begin = |sweep: &mut Self| Ok(Predictions::new(sweep));
        self.complete(should_stop, begin, |predictions, sweep| predictions.step(sweep, should_stop))
    }

    /// Measures Jacobi's iteration on the same system. `None` if it was stopped before.
    ///
    /// # Errors
    /// As [`Sweep::probe`].
    pub fn classic(
        &mut self,
        should_stop: ShouldStop<'_>,
    ) -> Result<Option<ClassicBaseline>, MeasureError> {
        self.complete(should_stop, BaselineMeasurement::new, BaselineMeasurement::step)
    }

    /// Measures some cells: counts the cycles of `jobs` cells at a time, and when all are counted, times one
    /// cell after the other. Returns fewer rows than cells if it was stopped before.
    ///
    /// # Errors
    /// As [`Sweep::probe`].
    pub fn measure(
        &mut self,
        cells: &[SweepCell],
        jobs: usize,
        should_stop: ShouldStop<'_>,
    ) -> Result<Vec<SweepRow>, MeasureError> {
        if self.spec().measures(Measure::Cycles)
            && jobs > 1
            && !self.count(cells, jobs, should_stop)?
        {
            return Ok(Vec::new());
        }
        let mut rows = Vec::with_capacity(cells.len());
        for cell in cells {
            let begin = |sweep: &mut Self| CellMeasurement::new(sweep, cell);
            let step = |cell: &mut CellMeasurement, sweep: &mut Self| cell.step(sweep, should_stop);
            match self.complete(should_stop, begin, step)? {
                Some(row) => rows.push(row),
                None => break,
            }
        }
        Ok(rows)
    }

    /// Takes the steps of a measurement; where a GPU is lost, that begins again on what is left. `None` if it was stopped
    /// before.
    fn complete<M, T>(
        &mut self,
        should_stop: ShouldStop<'_>,
        begin: impl Fn(&mut Self) -> Result<M, MeasureError>,
        step: impl Fn(&mut M, &mut Self) -> Result<Poll<T>, MeasureError>,
    ) -> Result<Option<T>, MeasureError> {
        loop {
            let made = begin(self)
                .and_then(|mut measurement| finish(should_stop, || step(&mut measurement, self)));
            match made {
                Err(MeasureError::Solver(failure)) => _ = self.go_on_after(failure)?,
                made => return made,
            }
        }
    }

    /// Counts the cycles of cells that are not known, `jobs` at a time. `false` if it was stopped before.
    fn count(
        &mut self,
        cells: &[SweepCell],
        jobs: usize,
        should_stop: ShouldStop<'_>,
    ) -> Result<bool, MeasureError> {
        let mut unknown = Vec::new();
        for cell in cells.iter().filter(|cell| cell.cannot_run.is_none()) {
            let plan = Arc::new(self.plan(&cell.setting)?);
            if self.cache.get(&plan.spec).is_none() {
                unknown.push(plan);
            }
        }
        for plans in unknown.chunks(jobs) {
            let counts = count_side_by_side(&plans.iter().collect::<Vec<_>>(), should_stop);
            for (plan, count) in plans.iter().zip(counts) {
                match count {
                    Ok(Some(count)) => self.cache.insert(&plan.spec, count),
                    Ok(None) => return Ok(false),
                    // The measurement of the cell meets the same error and puts it into its row.
                    Err(error) => drop(of_this_setting(error)?),
                }
            }
        }
        Ok(true)
    }
}
