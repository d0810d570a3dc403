//! What is measured of a run's cycle beside the run: its damping by mode, and its asymptotic rate.

use super::job::Job;
use crate::run::host::{Aside, Turn, aside_in_turns};
use crate::run::plan::Plan;
use crate::stop_token::StopToken;
use std::sync::Arc;

/// Measures what is wanted of the cycle of one run at a time.
#[derive(Default)]
pub(super) struct Measuring {
    task: Option<MeasuringTask>,
}

/// A measurement in turns.
type Turns = Box<dyn FnMut() -> Turn + Send>;

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
        let work: fn(&Arc<Plan>, &StopToken) -> Turns = match &job.request.observation {
            request if request.damping && job.plan.damping().is_none() => {
                |plan, cancel| Box::new(plan.damping_turns(cancel))
            }
            request if request.rate && job.plan.rate().is_none() => {
                |plan, cancel| Box::new(Plan::rate_turns(Arc::clone(plan), cancel))
            }
            _ => return,
        };
        if self.task.is_none() && job.is_reported && !job.is_catching_up() {
            self.task = MeasuringTask::start(&job.plan, work);
        }
    }

    /// Whether it is under way.
    pub fn is_measuring(&self) -> bool {
        self.task.is_some()
    }
}

impl MeasuringTask {
    /// Without a thread it stays unknown for now.
    fn start(plan: &Arc<Plan>, work: fn(&Arc<Plan>, &StopToken) -> Turns) -> Option<Self> {
        let (plan, cancel) = (Arc::clone(plan), StopToken::default());
        let search = aside_in_turns("tilescope-modes", work(&plan, &cancel)).ok()?;
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
