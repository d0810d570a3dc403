//! The threads of a solver.

use crate::solver::StopToken;
use rayon::prelude::*;
use std::sync::Arc;

/// Point updates that are done sooner than other threads wake up to help.
const TOO_FEW: usize = 100_000;

/// Whether a cycle of this number of point updates is worth dividing among threads.
pub(super) fn is_shared(parts: usize, updates: usize) -> bool {
    parts > 1 && updates > TOO_FEW
}

/// The number of threads that `threads` stands for: 0 means one for each core.
pub(super) fn threads(threads: usize) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    if threads == 0 { cores() } else { threads }
}

/// Threads that divide the parts of a cycle among them. Results come in the order of the parts.
#[derive(Clone)]
pub(super) struct Team {
    /// `None`: the calling thread does it all.
    pool: Option<Arc<rayon::ThreadPool>>,
    /// While it is due, a cycle is left unfinished.
    stop: StopToken,
}

impl Team {
    /// `threads` of 0 means one for each core. A system that gives no threads leaves the work to
    /// the calling one.
    pub fn new(threads: usize) -> Self {
        let threads = self::threads(threads);
        let pool = || {
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .thread_name(|i| format!("tilescope-solver-{i}"))
                .build()
        };
        let pool = if threads == 1 { None } else { pool().ok().map(Arc::new) };
        Self { pool, stop: StopToken::default() }
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.pool.as_ref().map_or(1, |pool| pool.current_num_threads())
    }

    /// Leaves cycles unfinished while this is due.
    pub fn stop_on(&mut self, stop: &StopToken) {
        self.stop = stop.clone();
    }

    /// Whether the cycle under way is to be left unfinished.
    #[inline(always)]
    pub fn is_stopped(&self) -> bool {
        self.stop.is_due()
    }

    /// Runs `work`, which divides parts of this number of updates repeatedly, on a thread of the team, so
    /// that no thread outside has to hand them over and wait each time.
    pub fn together<T: Send>(&self, updates: usize, work: impl FnOnce() -> T + Send) -> T {
        match &self.pool {
            Some(pool) if updates > TOO_FEW => pool.install(work),
            _ => work(),
        }
    }

    /// `work` on every part, with a scratch area that a thread keeps from part to part. `updates`
    /// is how many points are updated in all.
    pub fn map<P: Send, S, T: Send>(
        &self,
        parts: Vec<P>,
        updates: usize,
        scratch: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, P) -> T + Sync + Send,
    ) -> Vec<T> {
        match &self.pool {
            Some(pool) if is_shared(parts.len(), updates) => {
                pool.install(|| parts.into_par_iter().map_init(scratch, work).collect())
            }
            _ => {
                let mut scratch = scratch();
                parts.into_iter().map(|part| work(&mut scratch, part)).collect()
            }
        }
    }
}
