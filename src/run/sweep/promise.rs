//! Which settings are worth measuring first: predicted seconds to the tolerance.
//!
//! Seconds of a cycle come from the cost model. Cycles are counted on a smaller grid, of at least
//! [`TILES`] tiles a side, and extrapolated: the slowest mode of a side of n points decays at a rate
//! of 1 / (n + 1)² a sweep, and so it does with frozen rings, which slow down all long waves alike.
//! A grid of a quarter of the side takes 1/16 of the cycles, each 1/16 of the work.

use super::count::Ending;
use super::spec::Setting;
use super::sweeping::{MeasureError, Sweep, count_together};
use crate::run::plan::Planner;
use crate::run::spec::{ProblemKind, RunSpec};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Tiles along the sides of the smaller grid: fewer have no tile that is surrounded by others.
const TILES: usize = 3;

/// The smaller grid has sides of at least this part of the grid's.
const PART: usize = 4;

/// What a setting should cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The place of its cell in [`Sweep::cells`].
    pub place: usize,
    /// Cycles to the tolerance; infinite where the smaller grid did not get there.
    pub cycles: f64,
    /// Seconds to the tolerance.
    pub seconds: f64,
}

impl Sweep {
    /// What the settings that can run should cost, cheapest first; `None` if somebody stopped it
    /// before. It takes a few hundredths of the time that counting all cycles would. The cost model
    /// must have been probed, see [`Sweep::probe`].
    ///
    /// # Errors
    /// What a solver says that fails, or a plan that nothing fits.
    pub fn promising(
        &mut self,
        jobs: usize,
        stop: &AtomicBool,
    ) -> Result<Option<Vec<Prediction>>, MeasureError> {
        let mut counting = Vec::new();
        let mut planner = Planner::default();
        for (place, cell) in self.cells().iter().enumerate() {
            // Whatever the kernel, the cycles are those of the first.
            if cell.cannot_run.is_none() && cell.setting.kernel == self.spec().kernel[0] {
                let (smaller, growth) = smaller(&self.spec().run_of(&cell.setting));
                counting.push((place, Arc::new(planner.plan(&smaller)?), growth));
            }
        }
        let mut counted = Vec::with_capacity(counting.len());
        for part in counting.chunks(jobs.max(1)) {
            let plans: Vec<_> = part.iter().map(|(_, plan, _)| plan).collect();
            for ((place, _, growth), count) in part.iter().zip(count_together(&plans, stop)) {
                let Some(count) = count? else { return Ok(None) };
                let is_known = count.ending == Ending::Converged;
                let cycles = if is_known { count.cycles as f64 * growth } else { f64::INFINITY };
                counted.push((self.cells()[*place].setting, cycles));
            }
        }
        let mut predictions = Vec::new();
        for place in 0..self.cells().len() {
            let setting = self.cells()[place].setting;
            let same =
                |other: &&(Setting, f64)| Setting { kernel: setting.kernel, ..other.0 } == setting;
            let Some(&(_, cycles)) = counted.iter().find(same) else { continue };
            let Some(a_cycle) = self.predicted(&setting)? else { continue };
            predictions.push(Prediction { place, cycles, seconds: cycles * a_cycle });
        }
        predictions.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
        Ok(Some(predictions))
    }
}

/// The same run on a smaller grid, and how many times as many cycles it takes on the whole one.
fn smaller(run: &RunSpec) -> (RunSpec, f64) {
    let mut smaller = run.clone();
    let shortest = run.problem.shape.iter().copied().min().unwrap_or(1).max(1);
    let tile = run.method.tile.iter().copied().max().unwrap_or(1);
    let side = shortest.div_ceil(PART).max(TILES * tile);
    if side >= shortest {
        return (smaller, 1.0);
    }
    for n in &mut smaller.problem.shape {
        *n = (*n * side).div_ceil(shortest);
    }
    // How long the long waves last does not depend on the right-hand side.
    if run.problem.kind == ProblemKind::Picture {
        (smaller.problem.kind, smaller.problem.rhs) = (ProblemKind::Poisson, None);
    }
    // One line converges as many do.
    smaller.problem.copies = 1;
    let growth = (shortest + 1) as f64 / (side + 1) as f64;
    (smaller, growth * growth)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smaller_grid_has_tiles_enough_and_the_same_aspect() {
        let mut run = RunSpec::default();
        run.problem.shape = vec![1024, 512];
        let (small, growth) = smaller(&run);
        assert_eq!(small.problem.shape, [256, 128]);
        assert!((growth - (513.0 / 129.0_f64).powi(2)).abs() < 1e-12);
        run.method.tile = vec![64];
        assert_eq!(smaller(&run).0.problem.shape, [384, 192]);
        run.problem.shape = vec![100, 100];
        assert_eq!(smaller(&run), (run, 1.0));
    }
}
