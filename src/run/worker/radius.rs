//! The spectral radius of a run's matrix, found alongside the runs where that takes time.

use super::job::Job;
use crate::run::host::{Aside, aside_with_pauses};
use std::sync::Arc;

/// Finds one spectral radius at a time, on a thread of its own, and none while a setting is dragged.
#[derive(Default)]
pub(super) struct Radius {
    search: Option<Aside>,
}

impl Radius {
    /// Starts the search for the spectral radius of the job's matrix, once the run has been reported, and notes its end.
    pub fn serve(&mut self, job: &mut Job) {
        if self.is_computing() {
            return;
        }
        if self.search.take().is_some() {
            job.has_news = true;
        }
        if job.is_reported && !job.request.held && !job.plan.knows_radius() {
            let plan = Arc::clone(&job.plan);
            let work = async move || _ = plan.spectral_radius_with_pauses().await;
            // Without a thread it stays unknown for now.
            self.search = aside_with_pauses("tilescope-radius", work).ok();
        }
    }

    /// Whether it is under way.
    pub fn is_computing(&self) -> bool {
        self.search.as_ref().is_some_and(|search| !search.is_finished())
    }
}
