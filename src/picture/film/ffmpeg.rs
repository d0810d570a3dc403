//! ffmpeg as a process: whether it can be used, and the end of one that stands still.

use super::FilmError;
use crate::clock::Instant;
use std::io;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

/// The program, as it is found in the search path.
pub(super) const PROGRAM: &str = "ffmpeg";

/// The longest time until it says its version.
const FIRST_ANSWER: Duration = Duration::from_secs(10);

/// Time between two looks at a process.
const POLL: Duration = Duration::from_millis(10);

/// Whether ffmpeg can be used. Waits for its first answer.
///
/// # Errors
/// [`FilmError::NoFfmpeg`].
pub(super) fn check() -> Result<(), FilmError> {
    let started = Command::new(PROGRAM)
        .arg("-version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let why = match started.map(|mut ffmpeg| wait(&mut ffmpeg, FIRST_ANSWER, || ())) {
        Ok(Ok(Some(status))) if status.success() => return Ok(()),
        Ok(Ok(None)) => "does not answer",
        Ok(_) => "does not work",
        Err(_) if cfg!(target_arch = "wasm32") => "a page in a browser cannot start",
        Err(error) if error.kind() == io::ErrorKind::NotFound => "is not installed",
        Err(_) => "cannot be started",
    };
    Err(FilmError::NoFfmpeg { why })
}

/// Waits until a process ends. One whose `progress` has not changed for as long as `limit` is killed: `None`.
///
/// # Errors
/// If the system cannot tell whether it has ended.
pub(super) fn wait<T: PartialEq>(
    process: &mut Child,
    limit: Duration,
    progress: impl Fn() -> T,
) -> io::Result<Option<ExitStatus>> {
    let (mut last, mut since) = (progress(), Instant::now());
    loop {
        if let Some(status) = process.try_wait()? {
            return Ok(Some(status));
        }
        let now = progress();
        if now != last {
            (last, since) = (now, Instant::now());
        } else if since.elapsed() >= limit {
            kill(process);
            return Ok(None);
        }
        thread::sleep(POLL);
    }
}

/// Ends a process; one that has already ended needs nothing.
pub(super) fn kill(process: &mut Child) {
    _ = process.kill();
    _ = process.wait();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_process_that_stands_still_is_ended_and_one_that_makes_progress_is_not() {
        let start = |seconds: &str| Command::new("sleep").arg(seconds).spawn().unwrap();
        let limit = Duration::from_millis(100);
        assert_eq!(wait(&mut start("1000"), limit, || ()).unwrap(), None);
        let looks = Cell::new(0);
        let progress = || looks.replace(looks.get() + 1);
        let status = wait(&mut start("0.5"), limit, progress).unwrap();
        assert!(status.unwrap().success());
    }
}
