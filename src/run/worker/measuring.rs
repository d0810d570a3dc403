//! What is measured of a run's cycle beside the run: its damping by mode, and its asymptotic rate.

use super::job::Job;
use crate::run::host::{Aside, aside_with_pauses};
use crate::run::plan::Plan;
use crate::stop_token::StopToken;
use std::sync::Arc;

/// Measures what is wanted of the cycle of one run at a time.
#[derive(Default)]
pub(super) struct Measuring {
    task: Option<MeasuringTask>,
}

struct MeasuringTask {
    plan: Arc<Plan>,
    cancel: StopToken,
    search: Aside,
}

impl Measuring {
    /// Starts what is wanted of the job's cycle and not known, once the run has been reported, and notes its end. A
    /// measurement of another cycle is cancelled.
    pub fn serve(&mut self, job: &mut Job) {
        let is_over =
            |task: &MeasuringTask| task.search.is_finished() || !task.plan.has_cycle_of(&job.plan);
        if self.task.take_if(|task| is_over(task)).is_some() {
            job.has_news = true;
        }
        if self.task.is_some() || !job.is_reported || job.is_catching_up() {
            return;
        }
        let (plan, request) = (&job.plan, &job.request.observation);
        if request.damping && plan.damping().is_none() {
            self.task = MeasuringTask::start(plan, Plan::measure_damping_with_pauses);
        } else if request.rate && plan.rate().is_none() {
            self.task = MeasuringTask::start(plan, Plan::find_rate_with_pauses);
        }
    }

    /// Whether it is under way.
    pub fn is_measuring(&self) -> bool {
        self.task.is_some()
    }
}

impl MeasuringTask {
    /// Without a thread it stays unknown for now.
    fn start(
        plan: &Arc<Plan>,
        measure: impl AsyncFnOnce(&Plan, &StopToken) + Send + 'static,
    ) -> Option<Self> {
        let (plan, cancel) = (Arc::clone(plan), StopToken::default());
        let work = {
            let (plan, cancel) = (Arc::clone(&plan), cancel.clone());
            async move || measure(&plan, &cancel).await
        };
        let search = aside_with_pauses("tilescope-modes", work).ok()?;
        Some(Self { plan, cancel, search })
    }
}

impl Drop for MeasuringTask {
    fn drop(&mut self) {
        self.cancel.now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{Planner, RunSpec};

    #[test]
    fn what_is_cancelled_is_not_known_and_can_be_measured_later() {
        let mut spec = RunSpec::default();
        spec.problem.shape = vec![40, 30];
        let plan = Planner::default().plan(&spec).unwrap();
        for (is_cancelled, is_known) in [(true, false), (false, true)] {
            let cancel = StopToken::default();
            if is_cancelled {
                cancel.now();
            }
            plan.measure_damping(&cancel);
            plan.find_rate(&cancel);
            assert_eq!([plan.damping().is_some(), plan.rate().is_some()], [is_known; 2]);
        }
    }
}
