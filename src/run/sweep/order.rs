//! The order in which settings are measured: the lowest predicted cost first.

use super::outline::SweepOutline;
use super::predict::{CostPrediction, by_predicted_cost};

/// Settings whose predicted cost is more than this times the lowest are slow.
pub const SLOW: f64 = 5.0;

/// The order in which settings are measured, as indices of [`SweepOutline::cells`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeasuringOrder {
    /// Settings that cannot run, which take no time, then those that are not slow: the lowest predicted cost
    /// first, those without one last.
    pub fast: Vec<usize>,
    /// Settings predicted to cost more than [`SLOW`] times the best, the lowest cost first.
    pub slow: Vec<usize>,
}

impl MeasuringOrder {
    /// The order by predicted cost.
    pub fn new(outline: &SweepOutline, predictions: &[CostPrediction]) -> Self {
        let mut sorted: Vec<_> = predictions.iter().collect();
        sorted.sort_by(|one, other| by_predicted_cost(one, other));
        let least = sorted.first().and_then(|best| best.cost);
        let is_slow = |prediction: &&CostPrediction| {
            least.zip(prediction.cost).is_some_and(|(least, cost)| cost > SLOW * least)
        };
        let (slow, fast): (Vec<&CostPrediction>, Vec<_>) = sorted.into_iter().partition(is_slow);
        let cells = outline.cells.iter().enumerate();
        let cannot_run =
            cells.filter(|(_, cell)| cell.cannot_run.is_some()).map(|(index, _)| index);
        let fast = fast.iter().map(|prediction| prediction.index);
        Self {
            fast: cannot_run.chain(fast).collect(),
            slow: slow.iter().map(|prediction| prediction.index).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CycleLists, Measure, PerAxis, SweepCell, SweepSpec, TileLists};
    use super::*;
    use crate::run::RunSpec;
    use crate::solver::Kernel;
    use proptest::prelude::*;

    proptest! {
        /// Every cell occurs once, costs rise, and none of the slow ones is within the limit.
        #[test]
        fn every_cell_is_measured_once_and_the_cheapest_first(
            costs in prop::collection::vec(proptest::option::of(0.1..10.0_f64), 48),
            odd in prop::collection::vec(any::<bool>(), 48),
        ) {
            let spec = SweepSpec {
                run: RunSpec::default(),
                cycle: CycleLists::Tiles(TileLists {
                    k: (1..=6).map(Into::into).collect(),
                    overlap: (0..8).map(|o| PerAxis::all(2 * o)).collect(),
                    tile: vec![PerAxis::all(32)],
                }),
                kernel: vec![Kernel::AUTO],
                threads: vec![0],
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
            let outline = SweepOutline {
                spec,
                backend: crate::run::Backend::Cpu,
                devices: Vec::new(),
                cells,
                machine: String::new(),
                l2_bytes: None,
            };
            let MeasuringOrder { fast, slow } = MeasuringOrder::new(&outline, &predictions);
            let mut all = [&fast[..], &slow].concat();
            all.sort_unstable();
            prop_assert_eq!(all, (0..48).collect::<Vec<_>>());
            let least = predictions.iter().filter_map(|p| p.cost).fold(f64::INFINITY, f64::min);
            let cost = |index: &usize| costs[*index].unwrap_or(f64::INFINITY);
            let runs: Vec<_> = fast.iter().filter(|index| !odd[**index]).map(cost).collect();
            prop_assert!(runs.is_sorted() && runs.first().is_none_or(|first| *first == least));
            prop_assert!(runs.iter().all(|cost| *cost <= SLOW * least || cost.is_infinite()));
            let slow: Vec<_> = slow.iter().map(cost).collect();
            prop_assert!(slow.is_sorted() && slow.iter().all(|cost| *cost > SLOW * least));
        }
    }
}
