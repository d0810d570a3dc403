//! What is measured of a run's cycle beside the run: its damping by mode, and its asymptotic rate.

use super::job::Job;
use crate::run::host::{Aside, aside};
use crate::run::plan::Plan;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Measures one cycle at a time.
#[derive(Default)]
pub(super) struct Measuring {
    task: Option<MeasuringTask>,
}

struct MeasuringTask {
    plan: Arc<Plan>,
    cancel: Arc<AtomicBool>,
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
        let work: fn(&Plan, &AtomicBool) = match &job.request.observation {
            request if request.damping && job.plan.damping().is_none() => Plan::measure_damping,
            request if request.rate && job.plan.rate().is_none() => Plan::find_rate,
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
    fn start(plan: &Arc<Plan>, work: fn(&Plan, &AtomicBool)) -> Option<Self> {
        let (plan, cancel) = (Arc::clone(plan), Arc::new(AtomicBool::new(false)));
        let measure = {
            let (plan, cancel) = (Arc::clone(&plan), Arc::clone(&cancel));
            move || work(&plan, &cancel)
        };
        let search = aside("tilescope-modes", measure).ok()?;
        Some(Self { plan, cancel, search })
    }
}

impl Drop for MeasuringTask {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
}
