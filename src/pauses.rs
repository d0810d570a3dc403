//! Long work with pauses: a page in a browser has a single thread, and draws its frames in them.
//!
//! Such work is an `async` function that waits for [`pause`] between its pieces, and for nothing else. A thread of its own
//! does it [without pauses](without_pauses).

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// Values of a grid that are worked on from one pause to the next: a page takes about a millisecond for them. Where threads
/// share the work it is not cut into pieces.
pub(crate) const PIECE: usize = if cfg!(target_arch = "wasm32") { 1 << 14 } else { usize::MAX };

/// The longest time from one pause to the next, about. In a page a frame must fit beside it into a sixtieth of a second.
pub(crate) const LONGEST_PIECE: Duration = Duration::from_millis(3);

/// Between two pieces of work.
pub(crate) async fn pause() {
    let mut is_over = false;
    let once = poll_fn(|_| match std::mem::replace(&mut is_over, true) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    });
    once.await;
}

/// Does work to its end at once.
pub(crate) fn without_pauses<T>(work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    loop {
        if let Some(done) = next_piece(work.as_mut()) {
            return done;
        }
    }
}

/// Does the next piece of work. What comes of the whole, if it was the last.
pub(crate) fn next_piece<T>(work: Pin<&mut (impl Future<Output = T> + ?Sized)>) -> Option<T> {
    match work.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => Some(done),
        Poll::Pending => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_pauses_between_its_pieces() {
        let counted = async || {
            let mut sum = 0;
            for number in 1..=4 {
                sum += number;
                pause().await;
            }
            sum
        };
        assert_eq!(without_pauses(counted()), 10);
        let mut work = pin!(counted());
        let pieces: Vec<_> = (0..5).map(|_| next_piece(work.as_mut())).collect();
        assert_eq!(pieces, [None, None, None, None, Some(10)]);
    }
}
