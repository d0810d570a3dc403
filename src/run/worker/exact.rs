//! The exact solution, computed beside the runs.

use super::job::Job;
use super::messages::ExactState;
use crate::grid::Field;
use crate::problem::{self, ExactError, Problem};
use crossbeam_channel::{Receiver, bounded};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The exact solution of one problem at a time, computed on a thread of its own.
#[derive(Default)]
pub(super) struct Exact {
    task: Option<ExactTask>,
}

struct ExactTask {
    problem: Arc<Problem>,
    cancel: Arc<AtomicBool>,
    answer: Receiver<Result<Field<f64>, ExactError>>,
    result: Option<Result<Arc<Field<f64>>, String>>,
}

impl Exact {
    /// Starts, follows and hands over the exact solution of the job's problem, if it is wanted.
    pub fn serve(&mut self, job: &mut Job) {
        let problem = &job.plan.problem;
        let same = |task: &ExactTask| Arc::ptr_eq(&task.problem, problem);
        if self.task.as_ref().is_some_and(|task| !same(task)) {
            self.task = None;
        }
        if self.task.is_none() && job.wants_exact() {
            self.task = Some(ExactTask::start(problem));
            job.has_news = true;
        }
        let Some(task) = &mut self.task else {
            return;
        };
        if task.result.is_none()
            && let Ok(answer) = task.answer.try_recv()
        {
            let result = answer.map(Arc::new).map_err(|error| error.to_string());
            if let Ok(exact) = &result {
                job.set_exact(exact);
            }
            task.result = Some(result);
            job.has_news = true;
        }
    }

    /// The exact solution of a problem, if it is there.
    pub fn of(&self, problem: &Arc<Problem>) -> Option<&Arc<Field<f64>>> {
        let task = self.task.as_ref().filter(|task| Arc::ptr_eq(&task.problem, problem))?;
        task.result.as_ref()?.as_ref().ok()
    }

    /// Whether it is under way.
    pub fn is_computing(&self) -> bool {
        self.task.as_ref().is_some_and(|task| task.result.is_none())
    }

    /// How far it is.
    pub fn state(&self) -> ExactState {
        match self.task.as_ref().map(|task| &task.result) {
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
        let cancel = Arc::new(AtomicBool::new(false));
        let work = {
            let (problem, cancel) = (Arc::clone(problem), Arc::clone(&cancel));
            // A cancelled task has no receiver.
            move || _ = send.send(problem::exact(&problem, &cancel))
        };
        let spawned = std::thread::Builder::new().name("tilescope-exact".into()).spawn(work);
        let result = spawned.err().map(|error| {
            Err(format!(
                "the exact solution cannot be computed: no thread could be started ({error})"
            ))
        });
        Self { problem: Arc::clone(problem), cancel, answer, result }
    }
}

impl Drop for ExactTask {
    fn drop(&mut self) {
        self.cancel.store(true, Ordering::Relaxed);
    }
}
