//! In which order settings are measured: coarse to fine, the most promising first.

use super::cycle_predictor::CyclePrediction;
use super::outline::SweepOutline;
use super::spec::Setting;
use std::cmp::Ordering;

/// A first pass takes every so manieth k and overlap, the next every half as manieth, the last all.
const STRIDES: [usize; 3] = [4, 2, 1];

/// Settings that should cost no more than this times the best belong to the first pass as well.
const PROMISING: f64 = 1.1;

/// What a setting should cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CostPrediction {
    /// The place of its cell in [`Sweep::cells`](super::Sweep::cells).
    pub place: usize,
    /// Cycles to the tolerance, where that can be told.
    pub cycles: Option<CyclePrediction>,
    /// Seconds of a cycle as the machine was at first, where times are measured.
    pub seconds_per_cycle: Option<f64>,
    /// What the best setting has least of, see [`SweepRow::cost`](super::SweepRow::cost); `None` where nothing
    /// tells.
    pub cost: Option<f64>,
}

impl CostPrediction {
    /// Of a setting, from what is known of it.
    pub(super) fn new(
        place: usize,
        k: usize,
        cycles: Option<CyclePrediction>,
        seconds_per_cycle: Option<f64>,
        counts: bool,
    ) -> Self {
        let cost = match (cycles.filter(|_| counts), seconds_per_cycle) {
            (Some(cycles), Some(seconds)) => Some(cycles.cycles * seconds),
            (None, Some(seconds)) if !counts => Some(seconds / k as f64),
            (Some(cycles), None) => Some(cycles.cycles),
            _ => None,
        };
        Self { place, cycles, seconds_per_cycle, cost }
    }
}

/// The cheapest first; what nothing is known of comes last, the fastest cycles of these first.
pub fn by_predicted_cost(one: &CostPrediction, other: &CostPrediction) -> Ordering {
    let known = |value: Option<f64>| value.unwrap_or(f64::INFINITY);
    let cost = known(one.cost).total_cmp(&known(other.cost));
    cost.then(known(one.seconds_per_cycle).total_cmp(&known(other.seconds_per_cycle)))
        .then(one.place.cmp(&other.place))
}

/// The order in which a map fills in: what cannot run, which takes no time; then passes from coarse
/// to fine, and in each the most promising first.
pub fn coarse_to_fine(outline: &SweepOutline, predictions: &[CostPrediction]) -> Vec<usize> {
    let SweepOutline { spec, cells, .. } = outline;
    let mut known: Vec<_> = predictions.to_vec();
    known.sort_by(by_predicted_cost);
    let best = known.first().and_then(|best| best.cost);
    let pass = |prediction: &CostPrediction| {
        let Setting { k, overlap, .. } = &cells[prediction.place].setting;
        let is_promising =
            best.zip(prediction.cost).is_some_and(|(best, cost)| cost <= PROMISING * best);
        let (down, across) = (
            spec.k.iter().position(|other| other == k).unwrap_or(0),
            spec.overlap.iter().position(|other| other == overlap).unwrap_or(0),
        );
        let is_on = |stride: &usize| down.is_multiple_of(*stride) && across.is_multiple_of(*stride);
        if is_promising { 0 } else { STRIDES.iter().position(is_on).unwrap_or(STRIDES.len()) }
    };
    // The sort is stable: within a pass the order is that of promise.
    known.sort_by_key(pass);
    let cannot_run = cells
        .iter()
        .enumerate()
        .filter(|(_, cell)| cell.cannot_run.is_some())
        .map(|(place, _)| place);
    cannot_run.chain(known.iter().map(|prediction| prediction.place)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Measure, PerAxis, SweepCell, SweepSpec};
    use super::*;
    use crate::run::RunSpec;
    use crate::solver::Kernel;
    use proptest::prelude::*;

    proptest! {
        /// Every cell once, the most promising before all others that can run, and the first pass
        /// reaches into every part of the map.
        #[test]
        fn every_cell_has_its_turn(
            costs in prop::collection::vec(proptest::option::of(0.1..10.0_f64), 48),
            odd in prop::collection::vec(any::<bool>(), 48),
        ) {
            let spec = SweepSpec {
                run: RunSpec::default(),
                k: (1..=6).collect(),
                overlap: (0..8).map(|o| PerAxis::all(2 * o)).collect(),
                tile: vec![PerAxis::all(32)],
                kernel: vec![Kernel::AUTO],
                measure: vec![Measure::Time],
            };
            let reason = |odd: bool| odd.then(|| "it cannot".to_owned());
            let settings = spec.settings().unwrap().into_iter().zip(&odd);
            let cells: Vec<_> = settings
                .map(|(setting, odd)| SweepCell { setting, cannot_run: reason(*odd) })
                .collect();
            let predictions: Vec<_> = (0..48)
                .filter(|place| !odd[*place])
                .map(|place| CostPrediction { place, cycles: None, seconds_per_cycle: None, cost: costs[place] })
                .collect();
            let outline = SweepOutline { spec, cells, machine: String::new(), l2_bytes: None };
            let order = coarse_to_fine(&outline, &predictions);
            let mut places = order.clone();
            places.sort_unstable();
            prop_assert_eq!(places, (0..48).collect::<Vec<_>>());
            let runs = order.iter().filter(|place| !odd[**place]);
            let first = runs.clone().next().and_then(|place| costs[*place]);
            let least = predictions.iter().filter_map(|p| p.cost).fold(f64::INFINITY, f64::min);
            prop_assert!(first.is_none_or(|first| first == least || least == f64::INFINITY));
        }
    }
}
