//! The probe: short timings to which the constants of the cost model are fitted.

use crate::run::plan::Plan;
use crate::run::sweep::measure::{PROBE_BUDGET, Timed, Timing};
use crate::run::sweep::outline::SweepOutline;
use crate::run::sweep::per_axis::PerAxis;
use crate::run::sweep::predict::{concurrent_tiles, work};
use crate::run::sweep::spec::{Setting, SweepSpec};
use crate::run::sweep::sweep::{MeasureError, Sweep, of_this_setting};
use crate::solver::Kernel;
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Poll;

/// Times at most six settings of each tile size and kernel, with few and many sweeps, small and large
/// overlaps, and fits the constants of the cost model to them.
pub(in crate::run) struct Probe {
    groups: VecDeque<(PerAxis, Kernel)>,
    /// Settings of the first group that are still to be timed.
    settings: VecDeque<Setting>,
    timing: Option<(Arc<Plan>, Timing)>,
    timed: Vec<(Arc<Plan>, Timed)>,
}

impl Probe {
    pub fn new(outline: &SweepOutline) -> Self {
        let SweepSpec { tile, kernel, threads, .. } = &outline.spec;
        // One set of constants would have to serve all numbers of threads.
        let tile = if threads.len() > 1 { &[][..] } else { tile };
        let groups = tile.iter().flat_map(|tile| kernel.iter().map(|kernel| (*tile, *kernel)));
        let groups: VecDeque<_> = groups.collect();
        let settings = groups.front().map_or_else(VecDeque::new, |(tile, kernel)| {
            settings_to_probe(outline, *tile, *kernel).into()
        });
        Self { groups, settings, timing: None, timed: Vec::new() }
    }

    /// # Errors
    /// [`MeasureError`] if a solver fails, or a plan is no longer possible.
    pub fn step(&mut self, sweep: &mut Sweep) -> Result<Poll<()>, MeasureError> {
        let Some(&(tile, kernel)) = self.groups.front() else { return Ok(Poll::Ready(())) };
        if let Some((plan, timing)) = &mut self.timing {
            match sweep.step_timing(plan, timing) {
                Ok(Poll::Pending) => return Ok(Poll::Pending),
                Ok(Poll::Ready(timed)) => self.timed.push((Arc::clone(plan), timed)),
                Err(error) => drop(of_this_setting(error)?),
            }
            self.timing = None;
        } else if let Some(setting) = self.settings.pop_front() {
            let plan = Arc::new(sweep.plan(&setting)?);
            match sweep.timing(&plan, PROBE_BUDGET) {
                Ok(timing) => self.timing = Some((plan, timing)),
                Err(error) => drop(of_this_setting(error)?),
            }
        } else {
            self.fit(sweep, tile, kernel);
            self.groups.pop_front();
            if let Some(&(tile, kernel)) = self.groups.front() {
                self.settings = settings_to_probe(sweep.outline(), tile, kernel).into();
            }
        }
        Ok(Poll::Pending)
    }

    fn fit(&mut self, sweep: &mut Sweep, tile: PerAxis, kernel: Kernel) {
        let timed = std::mem::take(&mut self.timed);
        let (spectral, sweeps): (Vec<_>, Vec<_>) =
            timed.into_iter().partition(|(plan, _)| plan.method.is_spectral());
        for timed in [sweeps, spectral] {
            let Some((plan, first)) = timed.first() else { continue };
            let concurrent = concurrent_tiles(plan, first.footprint);
            let probe = |(plan, timed): &(Arc<Plan>, Timed)| {
                (work(plan, concurrent), timed.time.median / timed.slowdown)
            };
            let probes: Vec<_> = timed.iter().map(probe).collect();
            sweep.model.fit(tile, kernel, plan.method.is_spectral(), concurrent, &probes);
        }
    }
}

/// The settings of a tile size and a kernel that are timed. Those whose subiterations are sweeps and those
/// that make them in the sine basis have constants of their own.
fn settings_to_probe(outline: &SweepOutline, tile: PerAxis, kernel: Kernel) -> Vec<Setting> {
    let can_run = outline.cells.iter().filter(|cell| cell.cannot_run.is_none());
    let here = can_run.map(|cell| cell.setting);
    let here = here.filter(|s| (s.tile, s.kernel) == (tile, kernel));
    let (spectral, sweeps): (Vec<_>, Vec<_>) =
        here.partition(|setting| outline.spec.run_of(setting).method.prefers_spectral());
    [extremes(&sweeps), extremes(&spectral)].concat()
}

/// The settings between which the others lie, and two among them. Overlaps so large that a cycle takes many
/// times as long as any worth choosing are left out.
fn extremes(here: &[Setting]) -> Vec<Setting> {
    let (Some(first), Some(last)) = (here.first(), here.last()) else { return Vec::new() };
    // The largest overlap within that number of quarters of the tile.
    let overlap = |quarters: usize| {
        let is_in = |overlap: &PerAxis| 4 * overlap.largest() <= quarters * first.tile.largest();
        here.iter().map(|s| s.overlap).filter(is_in).max().unwrap_or(first.overlap)
    };
    let mut middle: Vec<_> = here.iter().map(|s| s.k).collect();
    middle.dedup();
    let middle = middle[middle.len() / 2];
    let settings = [
        (first.k, first.overlap),
        (first.k, overlap(2)),
        (first.k, overlap(3)),
        (middle, overlap(1)),
        (last.k, first.overlap),
        (last.k, overlap(2)),
    ];
    let mut settings: Vec<_> =
        settings.map(|(k, overlap)| Setting { k, overlap, ..*first }).to_vec();
    settings.sort_unstable_by_key(|setting| (setting.k, setting.overlap));
    settings.dedup();
    settings
}
