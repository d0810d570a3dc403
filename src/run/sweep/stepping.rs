//! Work in short steps, so that its driver can pause or stop between any two.

use std::task::Poll;

/// Asked between two steps: whether to stop. The answer may take as long as a pause lasts.
pub type ShouldStop<'a> = &'a (dyn Fn() -> bool + Sync);

/// Takes steps until one is ready. `None` if `should_stop` returns true first.
///
/// # Errors
/// The first error of a step.
pub(super) fn finish<T, E>(
    should_stop: ShouldStop<'_>,
    mut step: impl FnMut() -> Result<Poll<T>, E>,
) -> Result<Option<T>, E> {
    while !should_stop() {
        if let Poll::Ready(result) = step()? {
            return Ok(Some(result));
        }
    }
    Ok(None)
}
