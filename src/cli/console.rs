//! What is said on the terminal, and the exit code that goes with it.

use crate::files;
use crate::run::PlanError;
use crate::solver::SolverError;
use anyhow::anyhow;
use clap::error::ErrorKind;
use std::io::{self, Write};
use std::process::ExitCode;

/// Something failed, or did not converge.
pub(super) const FAILED: u8 = 1;

/// What was asked for makes no sense.
const USAGE: u8 = 2;

/// Somebody pressed Ctrl-C: 128 and the number of the signal, as shells have it.
pub(super) const INTERRUPTED: u8 = 130;

/// An option that makes no sense beside the others.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct UsageError(pub String);

/// Says on stderr why something could not be done, and gives the exit code.
pub fn fail(error: &anyhow::Error) -> ExitCode {
    // Who reads no further needs no sentence.
    if error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe) {
        return ExitCode::from(FAILED);
    }
    // Every error here says in its own sentence what caused it.
    tell(&error.to_string());
    ExitCode::from(match error.downcast_ref::<PlanError>() {
        // The option makes sense; it is the file or the machine that does not fit it.
        Some(PlanError::Input(_) | PlanError::Memory(_)) => FAILED,
        Some(_) => USAGE,
        None if error.is::<UsageError>() => USAGE,
        None => match error.downcast_ref::<SolverError>() {
            Some(SolverError::Kernel { .. }) => USAGE,
            _ => FAILED,
        },
    })
}

/// Says why a command line was not understood, in one sentence; help and version, which come the
/// same way, go to stdout as they are.
pub fn refuse(error: &clap::Error) -> ExitCode {
    let text = error.render();
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let done = print(&text.to_string());
        return done.map_or_else(|error| fail(&error), |()| ExitCode::SUCCESS);
    }
    let text = text.to_string();
    // What follows the sentence is a hint on usage.
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let sentence: Vec<_> =
        lines.take_while(|l| !l.starts_with("Usage:") && !l.starts_with("For more")).collect();
    let sentence = sentence.join(" ");
    let sentence = sentence.replace(" tip: ", "; ");
    tell(sentence.strip_prefix("error: ").unwrap_or(&sentence));
    ExitCode::from(USAGE)
}

/// A sentence on stderr, on one line. If nobody can read it, there is nobody to tell.
pub(super) fn tell(sentence: &str) {
    let sentence = sentence.split_whitespace().collect::<Vec<_>>().join(" ");
    let _ = writeln!(io::stderr(), "tilescope: {sentence}");
}

/// Text on stdout.
///
/// # Errors
/// If stdout takes nothing, such as a pipe that nobody reads any more.
pub(super) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => error.into(),
        _ => anyhow!("cannot write to the standard output: {}", files::reason(&error)),
    })
}
