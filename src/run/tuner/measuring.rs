//! A sweep under way: probe, predictions, Jacobi's iteration, then cell by cell.

use super::event::TunerEvent;
use super::remaining::RemainingTime;
use crate::clock::Instant;
use crate::run::sweep::{
    BaselineMeasurement, CellMeasurement, CostPrediction, Measure, MeasureError, Predictions,
    Probe, ShouldStop, Sweep, coarse_to_fine,
};
use std::collections::VecDeque;
use std::task::Poll;
use std::time::Duration;

/// A sweep with the stage that it has reached.
pub(super) struct Measuring {
    pub sweep: Sweep,
    stage: Stage,
}

enum Stage {
    Begin,
    Probe(Probe),
    Predict(Predictions),
    Classic(Box<BaselineMeasurement>, Vec<CostPrediction>),
    Cells(Box<Cells>),
}

/// The stage of the cells.
struct Cells {
    /// Indices of the cells that are still to be measured, in order.
    order: VecDeque<usize>,
    current: Option<(usize, CellMeasurement)>,
    /// Time spent on the current cell. Pauses lie between steps and do not count.
    spent: Duration,
    remaining: RemainingTime,
}

impl Measuring {
    pub fn new(sweep: Sweep) -> Self {
        Self { sweep, stage: Stage::Begin }
    }

    /// Takes a step, and pushes the events that it causes. Ready when all cells are measured.
    ///
    /// # Errors
    /// [`MeasureError`] if a solver fails, or a plan is no longer possible.
    pub fn step(
        &mut self,
        should_stop: ShouldStop<'_>,
        events: &mut VecDeque<TunerEvent>,
    ) -> Result<Poll<()>, MeasureError> {
        let Self { sweep, stage } = self;
        let times = sweep.spec().measures(Measure::Time);
        match stage {
            Stage::Begin if times => {
                events.push_back(TunerEvent::Stage("probing the machine"));
                *stage = Stage::Probe(Probe::new(sweep.outline()));
            }
            Stage::Begin => *stage = Self::predict(sweep, events),
            Stage::Probe(probe) => {
                if probe.step(sweep)?.is_ready() {
                    *stage = Self::predict(sweep, events);
                }
            }
            Stage::Predict(predictions) => {
                if let Poll::Ready(predictions) = predictions.step(sweep, should_stop)? {
                    let (tile, kernel) = (sweep.spec().tile[0], sweep.spec().kernel[0]);
                    let pyramid = sweep.pyramid(tile, kernel);
                    events.push_back(TunerEvent::Predicted(predictions.clone(), pyramid));
                    events.push_back(TunerEvent::Stage("measuring classic Jacobi"));
                    let baseline = Box::new(BaselineMeasurement::new(sweep)?);
                    *stage = Stage::Classic(baseline, predictions);
                }
            }
            Stage::Classic(baseline, predictions) => {
                if let Poll::Ready(baseline) = baseline.step(sweep)? {
                    events.push_back(TunerEvent::Classic(baseline));
                    let cells = Cells {
                        order: coarse_to_fine(sweep.outline(), predictions).into(),
                        current: None,
                        spent: Duration::ZERO,
                        remaining: RemainingTime::new(sweep.outline(), predictions, times),
                    };
                    *stage = Stage::Cells(Box::new(cells));
                }
            }
            Stage::Cells(cells) => return cells.step(sweep, should_stop, events),
        }
        Ok(Poll::Pending)
    }

    fn predict(sweep: &Sweep, events: &mut VecDeque<TunerEvent>) -> Stage {
        events.push_back(TunerEvent::Stage("predicting"));
        Stage::Predict(Predictions::new(sweep))
    }
}

impl Cells {
    fn step(
        &mut self,
        sweep: &mut Sweep,
        should_stop: ShouldStop<'_>,
        events: &mut VecDeque<TunerEvent>,
    ) -> Result<Poll<()>, MeasureError> {
        let begin = Instant::now();
        let (index, measurement) = match &mut self.current {
            Some(current) => current,
            none => {
                let Some(index) = self.order.pop_front() else { return Ok(Poll::Ready(())) };
                let cell = sweep.cells()[index].clone();
                none.insert((index, CellMeasurement::new(sweep, &cell)?))
            }
        };
        let step = measurement.step(sweep, should_stop)?;
        self.spent += begin.elapsed();
        if let Poll::Ready(row) = step {
            let spent = std::mem::take(&mut self.spent);
            let remaining = self.remaining.measured(*index, spent.as_secs_f64());
            events.push_back(TunerEvent::Measured { index: *index, row: Box::new(row), remaining });
            self.current = None;
        }
        Ok(Poll::Pending)
    }
}
