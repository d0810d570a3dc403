//! A sweep under way: probe, predictions, Jacobi's iteration, then cell by cell.

use super::event::TunerEvent;
use super::remaining::RemainingTime;
use crate::clock::Instant;
use crate::run::sweep::{
    BaselineMeasurement, CellMeasurement, Measure, MeasureError, MeasuringOrder, Predictions,
    Probe, ShouldStop, Sweep,
};
use crate::solver::SolverError;
use std::collections::VecDeque;
use std::task::Poll;
use std::time::Duration;

/// A sweep with the stage that it has reached.
pub(super) struct Measuring {
    pub sweep: Sweep,
    stage: TuningStage,
}

enum TuningStage {
    Begin,
    Probe(Probe),
    Predict(Predictions),
    /// With the cells that follow.
    Classic(Box<BaselineMeasurement>, Option<Box<CellQueue>>),
    Cells(Box<CellQueue>),
}

/// The stage of the cells.
struct CellQueue {
    /// Indices of the cells that are still to be measured, in order.
    order: VecDeque<usize>,
    /// Those of slow cells, which are measured after these, if that is wanted.
    slow: Vec<usize>,
    current: Option<(usize, CellMeasurement)>,
    /// Time spent on the current cell. Pauses lie between steps and do not count.
    spent: Duration,
    remaining: RemainingTime,
}

impl Measuring {
    pub fn new(sweep: Sweep) -> Self {
        Self { sweep, stage: TuningStage::Begin }
    }

    /// Whether slow cells are left when all others are measured.
    pub fn has_slow(&self) -> bool {
        matches!(&self.stage, TuningStage::Cells(cells) if !cells.slow.is_empty())
    }

    /// Takes a step, and pushes the events that it causes. Ready when all cells are measured, the
    /// slow ones only if `with_slow`.
    ///
    /// # Errors
    /// [`MeasureError`] if a solver fails, or a plan is no longer possible.
    pub fn step(
        &mut self,
        with_slow: bool,
        should_stop: ShouldStop<'_>,
        events: &mut VecDeque<TunerEvent>,
    ) -> Result<Poll<()>, MeasureError> {
        let Self { sweep, stage } = self;
        let times = sweep.spec().measures(Measure::Time);
        match stage {
            TuningStage::Begin if times => {
                events.push_back(TunerEvent::Stage("probing the machine"));
                *stage = TuningStage::Probe(Probe::new(sweep.outline()));
            }
            TuningStage::Begin => *stage = Self::predict(sweep, events),
            TuningStage::Probe(probe) => {
                if probe.step(sweep)?.is_ready() {
                    *stage = Self::predict(sweep, events);
                }
            }
            TuningStage::Predict(predictions) => {
                let step = predictions.step(sweep, should_stop)?;
                let new = match &step {
                    Poll::Ready(all) => all.clone(),
                    Poll::Pending => predictions.take_new(),
                };
                if !new.is_empty() {
                    events.push_back(TunerEvent::Predicted(new));
                }
                if let Poll::Ready(predictions) = step {
                    let pyramid = sweep.pyramids().first().map(|(_, pyramid)| *pyramid);
                    let order = MeasuringOrder::new(sweep.outline(), &predictions);
                    events.push_back(TunerEvent::Ordered { slow: order.slow.clone(), pyramid });
                    events.push_back(TunerEvent::Stage("measuring classic Jacobi"));
                    let baseline = Box::new(BaselineMeasurement::new(sweep)?);
                    let remaining = RemainingTime::new(sweep.outline(), &predictions, times);
                    let cells = CellQueue {
                        order: order.fast.into(),
                        slow: order.slow,
                        current: None,
                        spent: Duration::ZERO,
                        remaining,
                    };
                    *stage = TuningStage::Classic(baseline, Some(Box::new(cells)));
                }
            }
            TuningStage::Classic(baseline, cells) => {
                if let Poll::Ready(baseline) = baseline.step(sweep)?
                    && let Some(cells) = cells.take()
                {
                    events.push_back(TunerEvent::Classic(baseline));
                    *stage = TuningStage::Cells(cells);
                }
            }
            TuningStage::Cells(cells) => return cells.step(sweep, with_slow, should_stop, events),
        }
        Ok(Poll::Pending)
    }

    /// Continues on what is left after a failure, if that is of a GPU: what was being measured is measured anew. Returns what
    /// happened: one sentence without its full stop.
    ///
    /// # Errors
    /// [`MeasureError`] if nothing is left.
    pub fn go_on_after(&mut self, failure: SolverError) -> Result<String, MeasureError> {
        let Self { sweep, stage } = self;
        let said = sweep.go_on_after(failure)?;
        match stage {
            TuningStage::Begin => {}
            TuningStage::Probe(probe) => *probe = Probe::new(sweep.outline()),
            TuningStage::Predict(predictions) => *predictions = Predictions::new(sweep),
            TuningStage::Classic(baseline, _) => **baseline = BaselineMeasurement::new(sweep)?,
            TuningStage::Cells(cells) => {
                cells.spent = Duration::ZERO;
                if let Some((index, _)) = cells.current.take() {
                    cells.order.push_front(index);
                }
            }
        }
        Ok(said)
    }

    fn predict(sweep: &Sweep, events: &mut VecDeque<TunerEvent>) -> TuningStage {
        events.push_back(TunerEvent::Stage("predicting"));
        TuningStage::Predict(Predictions::new(sweep))
    }
}

impl CellQueue {
    fn step(
        &mut self,
        sweep: &mut Sweep,
        with_slow: bool,
        should_stop: ShouldStop<'_>,
        events: &mut VecDeque<TunerEvent>,
    ) -> Result<Poll<()>, MeasureError> {
        if with_slow {
            self.order.extend(std::mem::take(&mut self.slow));
        }
        let begin = Instant::now();
        let (index, measurement) = match &mut self.current {
            Some(current) => current,
            none => {
                let Some(&index) = self.order.front() else { return Ok(Poll::Ready(())) };
                let cell = sweep.cells()[index].clone();
                let measurement = CellMeasurement::new(sweep, &cell)?;
                // Not before: where a GPU is lost in between, the cell is measured on what is left.
                self.order.pop_front();
                none.insert((index, measurement))
            }
        };
        let step = measurement.step(sweep, should_stop)?;
        self.spent += begin.elapsed();
        if let Poll::Ready(row) = step {
            let spent = std::mem::take(&mut self.spent);
            let remaining = self.remaining.measured(*index, spent.as_secs_f64(), self.order.iter());
            events.push_back(TunerEvent::Measured { index: *index, row: Box::new(row), remaining });
            self.current = None;
        }
        Ok(Poll::Pending)
    }
}
