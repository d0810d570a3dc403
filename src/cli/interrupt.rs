//! Ctrl-C and requests to terminate: work stops within a second, wherever it is; a file is written completely or not at
//! all.

use super::console::{FAILED, print_note};
use crate::files;
use crate::solver::StopToken;
use anyhow::anyhow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;

/// Due from the first Ctrl-C on.
static STOP: LazyLock<StopToken> = LazyLock::new(StopToken::default);

/// Exit code of interrupted work: 128 plus the number of the signal that came first, as in shells.
static CODE: AtomicU8 = AtomicU8::new(CTRL_C);

/// That of SIGINT.
const CTRL_C: u8 = 130;

/// Whether the work has noticed it, and is about to end.
static SEEN: AtomicBool = AtomicBool::new(false);

/// Whether what is under way is completed after the first Ctrl-C.
static COMPLETES: AtomicBool = AtomicBool::new(false);

/// Whether the sentence about the end was printed.
static REPORTED: AtomicBool = AtomicBool::new(false);

/// What is being saved, once the work is done.
static SAVING: Mutex<Option<Saving>> = Mutex::new(None);

/// Locked where the process must not end: a row is being written to a table.
static WRITING: Mutex<()> = Mutex::new(());

/// The message when the process ends in the middle of work that does not check for it.
static ENDED: Mutex<String> = Mutex::new(String::new());

/// The work may take this long to notice the first Ctrl-C. Then the process ends without it: nothing is
/// lost, since files are written elsewhere and renamed. The rest of a second is for its end: gigabytes are given
/// back to the system.
const PATIENCE: Duration = Duration::from_millis(250);

/// Files that are saved when the work is done.
struct Saving {
    files: Vec<PathBuf>,
    /// The exit code once all of them are complete; `None` for that of interrupted work.
    code: Option<u8>,
    /// What would complete all.
    hint: &'static str,
}

impl Saving {
    /// What is said when the process ends meanwhile, and its exit code.
    fn end(&self, complete: &[PathBuf]) -> (String, u8) {
        let list = |paths: &[&PathBuf]| {
            paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
        };
        let (made, left): (Vec<_>, Vec<_>) =
            self.files.iter().partition(|path| complete.contains(path));
        let made = match made.len() {
            0 => None,
            1 => Some(format!("{} is complete", list(&made))),
            _ => Some(format!("{} are complete", list(&made))),
        };
        match (left.is_empty(), made) {
            (true, made) => (made.unwrap_or_default(), self.code.unwrap_or_else(code)),
            (false, made) => {
                let made = made.map_or_else(String::new, |made| format!("{made}; "));
                let left = list(&left);
                let said = format!("interrupted while saving: {made}left out: {left}{}", self.hint);
                (said, code())
            }
        }
    }
}

/// Access to the request to end; exists once the handler is installed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interrupt(());

impl Interrupt {
    /// Installs the handler for Ctrl-C and for requests to terminate (SIGTERM, SIGHUP). The first one
    /// requests the work to end, and ends the process if the work does not see it in time; a second one ends it at
    /// once. `ended` is the sentence that is printed where the process ends so.
    ///
    /// # Errors
    /// If the system does not allow a handler.
    pub fn install(ended: impl Into<String>) -> anyhow::Result<Self> {
        Self(()).ends_with(ended);
        handle_signals()
            .map_err(|error| anyhow!("cannot install a handler for Ctrl-C: {error}"))?;
        Ok(Self(()))
    }

    /// Changes the sentence that is printed where the process ends in the middle of work.
    pub fn ends_with(self, ended: impl Into<String>) {
        *ENDED.lock().unwrap_or_else(PoisonError::into_inner) = ended.into();
    }

    /// From now on these files are saved, and nothing else is left to do. `code` is the exit code once all of them are
    /// complete, `None` for that of interrupted work; `hint` is the end of the sentence where the process ends before.
    pub fn saves(self, files: Vec<PathBuf>, code: Option<u8>, hint: &'static str) {
        let saving = (!files.is_empty()).then_some(Saving { files, code, hint });
        *SAVING.lock().unwrap_or_else(PoisonError::into_inner) = saving;
    }

    /// Reports the end of interrupted work, once: the process may end at the same time because the work took long to
    /// notice.
    pub fn report(self, ended: &str) -> ExitCode {
        report(ended);
        self.exit_code()
    }

    /// The exit code of interrupted work.
    pub fn exit_code(self) -> ExitCode {
        ExitCode::from(code())
    }

    /// Whether an interrupt was requested; the caller then ends its work.
    pub fn is_requested(self) -> bool {
        let is_requested = STOP.is_due();
        if is_requested {
            SEEN.store(true, Ordering::SeqCst);
        }
        is_requested
    }

    /// What is due from the first interrupt on, for work that is given it.
    pub fn stop(self) -> &'static StopToken {
        &STOP
    }

    /// The request as a function, for work that polls one and keeps what it has.
    pub fn should_stop(self) -> &'static (dyn Fn() -> bool + Sync) {
        &|| Self(()).is_requested()
    }

    /// Runs `work` to its end after a first Ctrl-C; a second one ends the process.
    pub fn complete<T>(self, work: impl FnOnce() -> T) -> T {
        COMPLETES.store(true, Ordering::SeqCst);
        let done = work();
        COMPLETES.store(false, Ordering::SeqCst);
        done
    }

    /// Ends the process from any thread, whatever is under way, with this sentence unless another was printed; leaves no
    /// unfinished file.
    pub fn fail(self, sentence: &str) -> ! {
        let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        files::end_writing();
        report(sentence);
        leave(FAILED)
    }

    /// Runs a short `write` that must not be cut off.
    pub fn protect<T>(self, write: impl FnOnce() -> T) -> T {
        let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
        write()
    }
}

/// Calls [`on_signal`] on a thread of its own for every signal that ends the work. A terminal that is closed does not end
/// what was started with `nohup`.
#[cfg(unix)]
fn handle_signals() -> std::io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let hang_up = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    let signals = hang_up.into_iter().chain([SIGTERM, SIGINT]);
    let mut signals = signal_hook::iterator::Signals::new(signals)?;
    let thread = std::thread::Builder::new().name("tilescope-signals".to_owned());
    // Their numbers are small.
    thread.spawn(move || signals.forever().for_each(|signal| on_signal(128 + signal as u8)))?;
    Ok(())
}

/// Whether a signal is ignored.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let mut action = std::mem::MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: without a new action, the present one is written to `action`, of which all bytes are valid.
    unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// Calls [`on_signal`] on a thread of its own for every request of the system to end the work.
#[cfg(not(unix))]
fn handle_signals() -> Result<(), ctrlc::Error> {
    ctrlc::set_handler(|| on_signal(CTRL_C))
}

/// Asks the work to end at the first signal, and ends the process at the second.
fn on_signal(code: u8) {
    if STOP.is_due() {
        end();
    }
    CODE.store(code, Ordering::SeqCst);
    STOP.now();
    // Without this thread the work has to see the request.
    let watch = std::thread::Builder::new().name("tilescope-interrupt".to_owned());
    _ = watch.spawn(end_or_say_so);
}

/// The exit code of interrupted work.
fn code() -> u8 {
    CODE.load(Ordering::SeqCst)
}

/// Ends the process if the work does not see the request in time, or reports that it takes longer.
fn end_or_say_so() {
    std::thread::sleep(PATIENCE);
    let completes = COMPLETES.load(Ordering::SeqCst);
    if !completes && !SEEN.load(Ordering::SeqCst) {
        end();
    }
    let saves = SAVING.lock().unwrap_or_else(PoisonError::into_inner).is_some();
    print_note(match completes && saves {
        true => "completing the files …; Ctrl-C again stops now",
        false => "stopping …; Ctrl-C again stops now",
    });
}

/// Prints the sentence about the end, if none was printed.
fn report(ended: &str) {
    if !REPORTED.swap(true, Ordering::SeqCst) {
        print_note(ended);
    }
}

/// Ends the process, and leaves no unfinished file.
fn end() -> ! {
    let _writing = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let complete = files::end_writing();
    let saving = SAVING.lock().unwrap_or_else(PoisonError::into_inner);
    let (ended, code) = match &*saving {
        Some(saving) => saving.end(&complete),
        None => {
            let ended = ENDED.lock().unwrap_or_else(PoisonError::into_inner).clone();
            (ended, code())
        }
    };
    report(&ended);
    leave(code)
}

/// Ends the process at once: what a library does at the exit, such as the driver of a GPU, may wait for work that never
/// ends.
#[cfg(unix)]
fn leave(code: u8) -> ! {
    // SAFETY: all that is to be kept was written, and nothing runs after this.
    unsafe { libc::_exit(code.into()) }
}

/// Ends the process.
#[cfg(not(unix))]
fn leave(code: u8) -> ! {
    std::process::exit(code.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_complete_is_named_and_only_what_is_left_out_is_a_failure() {
        let files = ["c.csv", "u.npy"].map(PathBuf::from).to_vec();
        let saving = Saving { files: files.clone(), code: Some(1), hint: " (again)" };
        let said = |complete: &[PathBuf]| saving.end(complete);
        assert_eq!(
            said(&[]),
            ("interrupted while saving: left out: c.csv, u.npy (again)".to_owned(), 130)
        );
        let part = "interrupted while saving: c.csv is complete; left out: u.npy (again)";
        assert_eq!(said(&files[..1]), (part.to_owned(), 130));
        assert_eq!(said(&files), ("c.csv, u.npy are complete".to_owned(), 1));
        let one = Saving { files: files[1..].to_vec(), code: Some(0), hint: "" };
        assert_eq!(one.end(&files), ("u.npy is complete".to_owned(), 0));
    }
}
