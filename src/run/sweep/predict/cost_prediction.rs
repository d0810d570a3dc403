//! The predicted cost of a setting.

use super::cycle_predictor::CyclePrediction;
use crate::run::sweep::cycle::CycleSetting;
use std::cmp::Ordering;

/// The predicted cost of a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostPrediction {
    /// Index of the setting's cell in [`SweepOutline::cells`](crate::run::SweepOutline::cells).
    pub index: usize,
    /// Cycles to the tolerance, where they can be predicted.
    pub cycles: Option<CyclePrediction>,
    /// Seconds per cycle at the machine's speed during the probe, where times are measured.
    pub seconds_per_cycle: Option<f64>,
    /// Predicted [`SweepRow::cost`](crate::run::SweepRow::cost); `None` where it cannot be predicted.
    pub cost: Option<f64>,
}

impl CostPrediction {
    /// The cost of a setting with such a cycle, from the predictions of its parts; `counts` says
    /// whether the sweep counts cycles.
    pub(in crate::run::sweep) fn new(
        index: usize,
        cycle: CycleSetting,
        cycles: Option<CyclePrediction>,
        seconds_per_cycle: Option<f64>,
        counts: bool,
    ) -> Self {
        let cost = match (cycles.filter(|_| counts), seconds_per_cycle) {
            (Some(cycles), Some(seconds)) => Some(cycles.cycles * seconds),
            (None, Some(seconds)) if !counts => cycle.per_sweep(seconds),
            (Some(cycles), None) => Some(cycles.cycles),
            _ => None,
        };
        Self { index, cycles, seconds_per_cycle, cost }
    }
}

/// Orders by predicted cost. Settings without one come last, in the order of their predicted seconds per
/// cycle.
pub fn by_predicted_cost(one: &CostPrediction, other: &CostPrediction) -> Ordering {
    let known = |value: Option<f64>| value.unwrap_or(f64::INFINITY);
    let cost = known(one.cost).total_cmp(&known(other.cost));
    let seconds = known(one.seconds_per_cycle).total_cmp(&known(other.seconds_per_cycle));
    cost.then(seconds).then(one.index.cmp(&other.index))
}
