//! Norms of an iterate of a grid by a pass over what every device owns.

use super::grid::GridPart;
use super::messages::Message;
use super::paths::Paths;
use super::share::DeviceShare;
use crate::solver::cuda::arguments::Norms;
use crate::solver::cuda::graph_batch::Iterates;
use crate::solver::cuda::real::DeviceReal;
use crate::solver::{ResidualNorms, SolverError};

type GridShare<R> = DeviceShare<GridPart<R>>;

/// The residual. Where devices have not exchanged what the last cycle made, they do so for the pass alone.
pub(super) fn residual<'a, R: DeviceReal>(
    shares: &'a [GridShare<R>],
    (messages, paths): (&'a [Message], &Paths),
    iterates: Iterates,
) -> Result<ResidualNorms, SolverError> {
    let Iterates { current, before, .. } = iterates;
    let is_frozen = !iterates.are_exchanged();
    if is_frozen {
        let copies = |device: usize| &shares[device].streams.copies;
        let of_message = |message: &'a Message| {
            message.of_array(current, [message.from, message.to].map(copies), None)
        };
        let parcels: Vec<_> = messages.iter().map(of_message).collect();
        let enqueued = paths.enqueue(&parcels);
        let copies = shares.iter().map(|share| &share.streams.copies);
        shares[0].gpu.check(enqueued.and_then(|()| paths.watch(copies)))?;
        wait(shares)?;
    }
    let mut all = Norms::default();
    for share in shares {
        let GridPart { view, observer, .. } = &share.part;
        let u = view.of(share.arrays[current].interior);
        let own = observer.residual(&view.system, &share.streams.border, u, None)?;
        all.squares += own.squares;
        all.largest = all.largest.max(own.largest);
    }
    if is_frozen {
        // The iterate before has what was received with the last exchange.
        for message in messages {
            let DeviceShare { gpu, streams, .. } = &shares[message.to];
            gpu.check(message.keep(&streams.copies, [before, current]))?;
        }
        wait(shares)?;
    }
    Ok(all.residual(shares[0].part.view.system.diagonal))
}

/// The largest update of the last cycle.
pub(super) fn max_change<R: DeviceReal>(
    shares: &[GridShare<R>],
    iterates: Iterates,
) -> Result<f64, SolverError> {
    let Iterates { current, before, .. } = iterates;
    let mut largest = 0.0_f64;
    for share in shares {
        let GridPart { view, observer, .. } = &share.part;
        let at = [before, current].map(|array| view.of(share.arrays[array].interior));
        largest = largest.max(observer.max_change(&view.system, &share.streams.border, at)?);
    }
    Ok(largest)
}

/// ‖u − u*‖₂, where u* is known.
pub(super) fn error<R: DeviceReal>(
    shares: &[GridShare<R>],
    iterates: Iterates,
) -> Result<f64, SolverError> {
    let mut squares = 0.0;
    for share in shares {
        let GridPart { view, observer, .. } = &share.part;
        let u = view.of(share.arrays[iterates.current].interior);
        let exact = view.of_exact(share.exact_at());
        let own = observer.distance(&view.system, &share.streams.border, u, exact)?;
        squares += own * own;
    }
    Ok(squares.sqrt())
}

/// Waits for the copies of all devices.
fn wait<R: DeviceReal>(shares: &[GridShare<R>]) -> Result<(), SolverError> {
    shares.iter().try_for_each(|share| share.gpu.check(share.streams.copies.synchronize()))
}
