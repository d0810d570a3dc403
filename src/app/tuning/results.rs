//! The results of a map so far.

use crate::picture::SweepData;
use crate::run::{
    Backend, ClassicBaseline, CostPrediction, Pyramid, RunSpec, SweepEnd, SweepOutline, SweepRow,
    TunerEvent,
};
use std::sync::Arc;

/// The results of a map so far.
pub(super) struct MapResults {
    pub outline: Arc<SweepOutline>,
    /// One entry for each cell of the outline.
    pub predictions: Vec<Option<CostPrediction>>,
    pub rows: Vec<Option<SweepRow>>,
    pub classic: Option<ClassicBaseline>,
    pub pyramid: Option<Pyramid>,
    /// Cells that are predicted to be slow, which are measured last, if at all.
    pub slow: Vec<usize>,
    /// Whether they are measured.
    pub with_slow: bool,
    /// What is done before the first cell is measured.
    pub stage: &'static str,
    /// Estimated seconds for the remaining cells, once one is measured.
    pub remaining: Option<f64>,
    pub end: Option<SweepEnd>,
}

impl MapResults {
    pub fn new(outline: Arc<SweepOutline>, with_slow: bool) -> Self {
        let cells = outline.cells.len();
        Self {
            outline,
            predictions: vec![None; cells],
            rows: vec![None; cells],
            classic: None,
            pyramid: None,
            slow: Vec::new(),
            with_slow,
            stage: "",
            remaining: None,
            end: None,
        }
    }

    /// Takes an event; returns the message of a failure, also of one that measuring continues after.
    pub fn receive(&mut self, event: TunerEvent) -> Option<String> {
        match event {
            TunerEvent::Stage(stage) => self.stage = stage,
            TunerEvent::Predicted(predictions) => {
                for prediction in predictions {
                    self.predictions[prediction.index] = Some(prediction);
                }
            }
            TunerEvent::Ordered { slow, pyramid } => (self.slow, self.pyramid) = (slow, pyramid),
            TunerEvent::Continued => self.end = None,
            TunerEvent::Classic(classic) => self.classic = Some(classic),
            TunerEvent::Measured { index, row, remaining } => {
                self.rows[index] = Some(*row);
                self.remaining = Some(remaining);
            }
            TunerEvent::LostGpu(said) => return Some(said),
            TunerEvent::Ended(end) => {
                let why = match &end {
                    SweepEnd::Failed(why) => Some(why.clone()),
                    _ => None,
                };
                self.end = Some(end);
                return why;
            }
            TunerEvent::Rejected(_) | TunerEvent::Begun(_) => {}
        }
        None
    }

    /// What is known, for maps and charts.
    pub fn data(&self) -> SweepData<'_> {
        let Self { outline, predictions, rows, classic, .. } = self;
        SweepData { outline, rows, predictions, classic: *classic }
    }

    /// The run of the best setting; before one is measured, that from which the sweep starts.
    pub fn best_run(&self) -> RunSpec {
        let best = SweepRow::best(self.rows.iter().flatten());
        let cell = best.and_then(|best| self.outline.cell_of(best));
        let spec = &self.outline.spec;
        cell.map_or_else(|| spec.run.clone(), |cell| spec.run_of(&cell.setting))
    }

    /// Number of measured cells.
    pub fn measured(&self) -> usize {
        self.rows.iter().flatten().count()
    }

    /// Number of slow cells that are not measured, unless that is wanted.
    pub fn left_out(&self) -> usize {
        let unmeasured = self.slow.iter().filter(|index| self.rows[**index].is_none());
        if self.with_slow { 0 } else { unmeasured.count() }
    }

    /// How far the best measured cell can be relied on, while others are left: how many of those may be faster.
    pub fn outlook(&self) -> Option<String> {
        let best = SweepRow::best(self.rows.iter().flatten())?.cost()?;
        let left = self.predictions.iter().flatten();
        let left = left.filter(|prediction| self.rows[prediction.index].is_none());
        let (mut all, mut faster) = (0, 0);
        for prediction in left {
            all += 1;
            faster += usize::from(prediction.cost.is_none_or(|cost| cost <= best));
        }
        match (all, faster) {
            (0, _) => None,
            (_, 0) => Some("No other cell is predicted to be faster.".to_owned()),
            (_, 1) => Some("1 other cell may be faster by prediction.".to_owned()),
            _ => Some(format!("{faster} other cells may be faster by prediction.")),
        }
    }

    /// The median prediction errors, where something was predicted and measured.
    pub fn prediction_errors(&self) -> Option<String> {
        let error = |of: fn(&SweepRow) -> Option<f64>| {
            SweepRow::median_error(self.rows.iter().flatten(), of)
        };
        let errors = [
            error(|row| row.prediction_error)
                .map(|error| format!("time per cycle {:.1} %", 100.0 * error)),
            error(|row| row.cycles_prediction_error)
                .map(|error| format!("cycles {:.2} %", 100.0 * error)),
        ];
        let errors: Vec<_> = errors.into_iter().flatten().collect();
        (!errors.is_empty()).then(|| format!("Prediction error: {}", errors.join(", ")))
    }
}

/// The problem, the precision and the back end of a run.
pub(super) fn system(run: &RunSpec, backend: Backend) -> String {
    let shape: Vec<_> = run.problem.shape.iter().map(ToString::to_string).collect();
    let on = format!("{} on {}", run.method.precision.name(), backend_name(backend));
    format!("{}, {} · {on}", run.problem.title(), shape.join(" × "))
}

/// The name of a back end.
fn backend_name(backend: Backend) -> &'static str {
    match backend {
        Backend::Auto | Backend::Cpu => "CPU",
        Backend::Cuda => "CUDA",
    }
}
