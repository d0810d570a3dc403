//! The exact solution, computed alongside the runs.

use super::job::Job;
use super::messages::ExactState;
use crate::grid::Field;
use crate::problem::{self, ExactError, Problem};
use crate::run::host::aside_with_pauses;
use crate::stop_token::StopToken;
use crossbeam_channel::{Receiver, bounded};
use std::sync::Arc;

/// The exact solution of one problem at a time, computed on a thread of its own.
#[derive(Default)]
pub(super) struct Exact {
    task: Option<ExactTask>,
}

struct ExactTask {
    problem: Arc<Problem>,
    cancel: StopToken,
    answer: Receiver<Result<Field<f64>, ExactError>>,
    result: Option<Result<Arc<Field<f64>>, String>>,
    /// Whether a solver measures errors with it; otherwise it is for the end of a run alone.
    is_for_solver: bool,
}

impl Exact {
    /// Starts, follows and hands over the exact solution of the job's problem, if it is wanted, or is computed in
    /// little time and says how much of the error is left at the end.
    pub fn serve(&mut self, job: &mut Job) {
        let problem = &job.plan.problem;
        let same = |task: &ExactTask| Arc::ptr_eq(&task.problem, problem);
        if self.task.as_ref().is_some_and(|task| !same(task)) {
            self.task = None;
        }
        if self.task.is_none() && (job.wants_exact() || job.wants_error_left()) {
            self.task = Some(ExactTask::start(problem));
            job.has_news = true;
        }
        let Some(task) = &mut self.task else {
            return;
        };
        if task.result.is_none()
            && let Ok(answer) = task.answer.try_recv()
        {
            task.result = Some(answer.map(Arc::new).map_err(|error| error.to_string()));
            job.has_news = true;
        }
        task.is_for_solver |= job.wants_exact();
        let Some(Ok(exact)) = &task.result else { return };
        if job.wants_exact() && job.failed.is_none() && !job.experiment.run().knows_exact() {
            job.set_exact(exact);
            job.has_news = true;
        }
        job.find_error_left(exact);
    }

    /// The exact solution of a problem, if it is there and errors are measured with it.
    pub fn of(&self, problem: &Arc<Problem>) -> Option<&Arc<Field<f64>>> {
        let is_it = |task: &&ExactTask| task.is_for_solver && Arc::ptr_eq(&task.problem, problem);
        let task = self.task.as_ref().filter(is_it)?;
        task.result.as_ref()?.as_ref().ok()
    }

    /// Whether it is under way.
    pub fn is_computing(&self) -> bool {
        self.task.as_ref().is_some_and(|task| task.result.is_none())
    }

    /// How far it is.
    pub fn state(&self) -> ExactState {
        let task = self.task.as_ref().filter(|task| task.is_for_solver);
        match task.map(|task| &task.result) {
            None => ExactState::NotWanted,
            Some(None) => ExactState::Computing,
            Some(Some(Ok(_))) => ExactState::Ready,
            Some(Some(Err(why))) => ExactState::Failed(why.clone()),
        }
    }
}

impl ExactTask {
    fn start(problem: &Arc<Problem>) -> Self {
        let (send, answer) = bounded(1);
        let cancel = StopToken::default();
        let work = {
            let (problem, cancel) = (Arc::clone(problem), cancel.clone());
            // A cancelled task has no receiver.
            async move || _ = send.send(problem::exact_with_pauses(&problem, &cancel).await)
        };
        let spawned = aside_with_pauses("tilescope-exact", work);
        let result = spawned.err().map(|error| {
            Err(format!(
                "the exact solution cannot be computed: no thread could be started ({error})"
            ))
        });
        Self { problem: Arc::clone(problem), cancel, answer, result, is_for_solver: false }
    }
}

impl Drop for ExactTask {
    fn drop(&mut self) {
        self.cancel.now();
    }
}
