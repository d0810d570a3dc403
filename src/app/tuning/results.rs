//! The results of a map so far.

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
    /// What is done before the first cell is measured.
    pub stage: &'static str,
    /// Estimated seconds for the remaining cells, once one is measured.
    pub remaining: Option<f64>,
    pub end: Option<SweepEnd>,
}

impl MapResults {
    pub fn new(outline: Arc<SweepOutline>) -> Self {
        let cells = outline.cells.len();
        Self {
            outline,
            predictions: vec![None; cells],
            rows: vec![None; cells],
            classic: None,
            pyramid: None,
            stage: "",
            remaining: None,
            end: None,
        }
    }

    /// Takes an event; gives the message of a failure.
    pub fn receive(&mut self, event: TunerEvent) -> Option<String> {
        match event {
            TunerEvent::Stage(stage) => self.stage = stage,
            TunerEvent::Predicted(predictions, pyramid) => {
                for prediction in predictions {
                    self.predictions[prediction.index] = Some(prediction);
                }
                self.pyramid = pyramid;
            }
            TunerEvent::Classic(classic) => self.classic = Some(classic),
            TunerEvent::Measured { index, row, remaining } => {
                self.rows[index] = Some(*row);
                self.remaining = Some(remaining);
            }
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

    /// Number of measured cells.
    pub fn measured(&self) -> usize {
        self.rows.iter().flatten().count()
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
pub(super) fn system(run: &RunSpec) -> String {
    let shape: Vec<_> = run.problem.shape.iter().map(ToString::to_string).collect();
    let on = format!("{} on {}", run.method.precision.name(), backend_name(run.method.backend));
    format!("{}, {} · {on}", run.problem.kind.label(), shape.join(" × "))
}

/// The name of a back end.
fn backend_name(backend: Backend) -> &'static str {
    match backend {
        Backend::Cpu => "CPU",
        Backend::Cuda => "CUDA",
    }
}
