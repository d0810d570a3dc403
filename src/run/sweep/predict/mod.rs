//! Predictions of a setting's cost: the time of a cycle by a cost model, the number of cycles from the
//! modes of Jacobi's iteration.

mod cost_model;
mod cost_prediction;
mod cycle_predictor;
mod effective_sweeps;

pub(super) use cost_model::{CostModel, concurrent_tiles, work};
pub use cost_model::{Pyramid, pyramid_seconds};
pub use cost_prediction::{CostPrediction, by_predicted_cost};
pub use cycle_predictor::CyclePrediction;
pub(super) use cycle_predictor::{CyclePredictor, Predicting};
