//! Norms of an iterate of a grid by a pass over what every process owns: each finds those of its planes, and gets those of all.

use super::cycles::{exchange, keep};
use super::part::Present;
use crate::solver::cuda::arguments::Norms;
use crate::solver::cuda::devices::grid::GridPart;
use crate::solver::cuda::graph_batch::Iterates;
use crate::solver::cuda::real::DeviceReal;
use crate::solver::{self, NormRequest, ResidualNorms, SolverError};
use cudarc::driver::DriverError;

impl<R: DeviceReal> Present<'_, GridPart<R>> {
    /// The norms that are requested of the present iterate.
    pub(in crate::solver::cuda::devices) fn norms(
        &self,
        request: NormRequest,
    ) -> Result<solver::Norms, SolverError> {
        let residual = request.residual_l2 || request.residual_max;
        Ok(solver::Norms {
            residual: residual.then(|| self.residual()).transpose()?,
            max_change: request.max_change.then(|| self.max_change()).transpose()?,
            error: (request.error && self.has_exact).then(|| self.error()).transpose()?,
        })
    }

    /// The residual. Where processes have not exchanged what the last cycle made, they do so for the pass alone.
    fn residual(&self) -> Result<ResidualNorms, SolverError> {
        let Self { share, group, messages, .. } = *self;
        let Iterates { current, before, .. } = self.iterates;
        let is_frozen = !self.iterates.are_exchanged();
        let copies = &share.streams.copies;
        if is_frozen {
            let exchanged = exchange(share, group, messages, current);
            self.check(exchanged.and_then(|()| copies.synchronize()))?;
        }
        let GridPart { view, observer, .. } = &share.part;
        let u = view.of(share.arrays[current].interior);
        let own = observer.residual(&view.system, &share.streams.border, u, None)?;
        let found = self.check(group.gather_reals(copies, &[own.squares, own.largest]))?;
        if is_frozen {
            // The iterate before has what was received with the last exchange.
            let kept = keep(share, messages, [before, current]);
            self.check(kept.and_then(|()| copies.synchronize()))?;
        }
        let mut all = Norms::default();
        for of_rank in found.chunks_exact(2) {
            all.squares += of_rank[0];
            all.largest = all.largest.max(of_rank[1]);
        }
        Ok(all.residual(view.system.diagonal))
    }

    /// The largest update of the last cycle.
    fn max_change(&self) -> Result<f64, SolverError> {
        let share = self.share;
        let Iterates { current, before, .. } = self.iterates;
        let GridPart { view, observer, .. } = &share.part;
        let at = [before, current].map(|array| view.of(share.arrays[array].interior));
        let stream = &share.streams.border;
        let own = observer.max_change(&view.system, stream, at)?;
        let all = self.check(self.group.gather_reals(&share.streams.copies, &[own]))?;
        Ok(all.into_iter().fold(0.0, f64::max))
    }

    /// ‖u − u*‖₂, where u* is known.
    fn error(&self) -> Result<f64, SolverError> {
        let share = self.share;
        let GridPart { view, observer, .. } = &share.part;
        let u = view.of(share.arrays[self.iterates.current].interior);
        let (stream, exact) = (&share.streams.border, view.of_exact(share.exact_at()));
        let own = observer.distance(&view.system, stream, u, exact)?;
        let all = self.check(self.group.gather_reals(&share.streams.copies, &[own * own]))?;
        Ok(all.into_iter().sum::<f64>().sqrt())
    }

    /// The result of calls of NCCL and the driver.
    fn check<T>(&self, result: Result<T, DriverError>) -> Result<T, SolverError> {
        self.share.gpu.check(result).map_err(|error| self.group.error(error))
    }
}
