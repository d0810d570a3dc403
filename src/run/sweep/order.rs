//! The order in which settings are measured: coarse to fine, the lowest predicted cost first.

use super::outline::SweepOutline;
use super::predict::{CostPrediction, by_predicted_cost};
use super::spec::Setting;

/// Strides of the passes: the first takes every fourth k and overlap, the last takes all.
const STRIDES: [usize; 3] = [4, 2, 1];

/// Settings with a predicted cost of at most this times the lowest belong to the first pass, too.
const PROMISING: f64 = 1.1;

/// The order in which a map fills in, as indices of [`SweepOutline::cells`]: first the cells that cannot
/// run, which take no time; then passes from coarse to fine, in each pass the lowest predicted cost first.
pub fn coarse_to_fine(outline: &SweepOutline, predictions: &[CostPrediction]) -> Vec<usize> {
    let SweepOutline { spec, cells, .. } = outline;
    let mut sorted = predictions.to_vec();
    sorted.sort_by(by_predicted_cost);
    let best = sorted.first().and_then(|best| best.cost);
    let pass = |prediction: &CostPrediction| {
        let Setting { k, overlap, .. } = &cells[prediction.index].setting;
        let is_promising =
            best.zip(prediction.cost).is_some_and(|(best, cost)| cost <= PROMISING * best);
        let (row, column) = (
            spec.k.iter().position(|other| other == k).unwrap_or(0),
            spec.overlap.iter().position(|other| other == overlap).unwrap_or(0),
        );
        let is_on = |stride: &usize| row.is_multiple_of(*stride) && column.is_multiple_of(*stride);
        if is_promising { 0 } else { STRIDES.iter().position(is_on).unwrap_or(STRIDES.len()) }
    };
    // The sort is stable: within a pass the order by cost remains.
    sorted.sort_by_key(pass);
    let cannot_run = cells
        .iter()
        .enumerate()
        .filter(|(_, cell)| cell.cannot_run.is_some())
        .map(|(index, _)| index);
    cannot_run.chain(sorted.iter().map(|prediction| prediction.index)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Measure, PerAxis, SweepCell, SweepSpec};
    use super::*;
    use crate::run::RunSpec;
    use crate::solver::Kernel;
    use proptest::prelude::*;

    proptest! {
        /// Every cell occurs once, and of those that can run the lowest predicted cost is first.
        #[test]
        fn every_cell_is_measured_once_and_the_cheapest_first(
            costs in prop::collection::vec(proptest::option::of(0.1..10.0_f64), 48),
            odd in prop::collection::vec(any::<bool>(), 48),
        ) {
            let spec = SweepSpec {
                run: RunSpec::default(),
                k: (1..=6).map(Into::into).collect(),
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
                .filter(|index| !odd[*index])
                .map(|index| CostPrediction { index, cycles: None, seconds_per_cycle: None, cost: costs[index] })
                .collect();
            let outline = SweepOutline { spec, cells, machine: String::new(), l2_bytes: None };
            let order = coarse_to_fine(&outline, &predictions);
            let mut sorted = order.clone();
            sorted.sort_unstable();
            prop_assert_eq!(sorted, (0..48).collect::<Vec<_>>());
            let runs = order.iter().filter(|index| !odd[**index]);
            let first = runs.clone().next().and_then(|index| costs[*index]);
            let least = predictions.iter().filter_map(|p| p.cost).fold(f64::INFINITY, f64::min);
            prop_assert!(first.is_none_or(|first| first == least || least == f64::INFINITY));
        }
    }
}
