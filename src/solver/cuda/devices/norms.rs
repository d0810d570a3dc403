//! Norms of an iterate by a pass over what every device owns.

use super::cycles::Message;
use super::share::DeviceShare;
use crate::solver::cuda::arguments::Norms;
use crate::solver::cuda::graph_batch::Iterates;
use crate::solver::cuda::real::DeviceReal;
use crate::solver::{ResidualNorms, SolverError};

/// The residual. Where devices have not exchanged what the last cycle made, they do so for the pass alone.
pub(super) fn residual<R: DeviceReal>(
    shares: &[DeviceShare<R>],
    messages: &[Message],
    iterates: Iterates,
) -> Result<ResidualNorms, SolverError> {
    let Iterates { current, before, .. } = iterates;
    let is_frozen = !iterates.are_exchanged();
    if is_frozen {
        for message in messages {
            let ends = [message.from, message.to].map(|device| &shares[device]);
            ends[0].gpu.check(message.enqueue(ends, current))?;
        }
        wait(shares)?;
    }
    let mut all = Norms::default();
    for share in shares {
        let u = share.view.of(share.arrays[current].interior);
        let stream = &share.streams.border;
        let own = share.observer.residual(&share.view.system, stream, u, None)?;
        all.squares += own.squares;
        all.largest = all.largest.max(own.largest);
    }
    if is_frozen {
        // The iterate before has what was received with the last exchange.
        for message in messages {
            let receiver = &shares[message.to];
            receiver.gpu.check(message.keep(receiver, [before, current]))?;
        }
        wait(shares)?;
    }
    Ok(all.residual(shares[0].view.system.diagonal))
}

/// The largest update of the last cycle.
pub(super) fn max_change<R: DeviceReal>(
    shares: &[DeviceShare<R>],
    iterates: Iterates,
) -> Result<f64, SolverError> {
    let Iterates { current, before, .. } = iterates;
    let mut largest = 0.0_f64;
    for share in shares {
        let at = [before, current].map(|array| share.view.of(share.arrays[array].interior));
        let stream = &share.streams.border;
        largest = largest.max(share.observer.max_change(&share.view.system, stream, at)?);
    }
    Ok(largest)
}

/// ‖u − u*‖₂, where u* is known.
pub(super) fn error<R: DeviceReal>(
    shares: &[DeviceShare<R>],
    iterates: Iterates,
) -> Result<f64, SolverError> {
    let mut squares = 0.0;
    for share in shares {
        let u = share.view.of(share.arrays[iterates.current].interior);
        let (stream, exact) = (&share.streams.border, share.exact_at());
        let own = share.observer.distance(&share.view.system, stream, u, exact)?;
        squares += own * own;
    }
    Ok(squares.sqrt())
}

/// Waits for the copies of all devices.
fn wait<R: DeviceReal>(shares: &[DeviceShare<R>]) -> Result<(), SolverError> {
    shares.iter().try_for_each(|share| share.gpu.check(share.streams.copies.synchronize()))
}
