//! The probe: short timings to which the constants of the cost model are fitted.

use crate::run::plan::Plan;
use crate::run::sweep::cycle::{CycleSetting, WorkingSet};
use crate::run::sweep::measure::{PROBE_BUDGET, Timed, Timing};
use crate::run::sweep::outline::{SweepCell, SweepOutline};
use crate::run::sweep::predict::{concurrent_tiles, work};
use crate::run::sweep::spec::Setting;
use crate::run::sweep::sweep::{MeasureError, Sweep, of_this_setting};
use crate::solver::Kernel;
use std::collections::VecDeque;
use std::sync::Arc;
use std::task::Poll;

/// Times a few settings of each working set and kernel ([`CycleSetting::to_probe`]), and fits the constants of the cost model
/// to them.
pub(in crate::run) struct Probe {
    groups: VecDeque<(WorkingSet, Kernel)>,
    /// Settings of the first group that are still to be timed.
    settings: VecDeque<Setting>,
    timing: Option<(Arc<Plan>, Timing)>,
    timed: Vec<(Arc<Plan>, Timed)>,
}

impl Probe {
    pub fn new(outline: &SweepOutline) -> Self {
        let mut groups = VecDeque::new();
        for SweepCell { setting, .. } in &outline.cells {
            let group = (setting.cycle.working_set(), setting.kernel);
            // One set of constants would have to serve all numbers of threads.
            if outline.spec.threads.len() == 1 && !groups.contains(&group) {
                groups.push_back(group);
            }
        }
        let settings = groups.front().map_or_else(VecDeque::new, |(of, kernel)| {
            settings_to_probe(outline, *of, *kernel).into()
        });
        Self { groups, settings, timing: None, timed: Vec::new() }
    }

    /// # Errors
    /// [`MeasureError`] if a solver fails, or a plan is no longer possible.
    pub fn step(&mut self, sweep: &mut Sweep) -> Result<Poll<()>, MeasureError> {
        let Some(&(of, kernel)) = self.groups.front() else { return Ok(Poll::Ready(())) };
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
            self.fit(sweep, of, kernel);
            self.groups.pop_front();
            if let Some(&(of, kernel)) = self.groups.front() {
                self.settings = settings_to_probe(sweep.outline(), of, kernel).into();
            }
        }
        Ok(Poll::Pending)
    }

    fn fit(&mut self, sweep: &mut Sweep, of: WorkingSet, kernel: Kernel) {
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
            sweep.model.fit(of, kernel, plan.method.is_spectral(), concurrent, &probes);
        }
    }
}

/// The settings of a working set and a kernel that are timed. Those whose subiterations are sweeps and those
/// that make them in the sine basis have constants of their own.
fn settings_to_probe(outline: &SweepOutline, of: WorkingSet, kernel: Kernel) -> Vec<Setting> {
    let can_run = outline.cells.iter().filter(|cell| cell.cannot_run.is_none());
    let here = can_run.map(|cell| cell.setting);
    let here = here.filter(|s| (s.cycle.working_set(), s.kernel) == (of, kernel));
    let (spectral, sweeps): (Vec<_>, Vec<_>) =
        here.partition(|setting| outline.spec.run_of(setting).method.prefers_spectral());
    let to_probe = |here: &[Setting]| {
        let Some(first) = here.first() else { return Vec::new() };
        let cycles: Vec<_> = here.iter().map(|setting| setting.cycle).collect();
        let cycles = CycleSetting::to_probe(&cycles).into_iter();
        cycles.map(|cycle| Setting { cycle, ..*first }).collect()
    };
    [to_probe(&sweeps), to_probe(&spectral)].concat()
}
