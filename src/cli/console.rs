//! Messages on the terminal, and the exit codes that go with them.

use crate::files;
use crate::grid::ShapeError;
use crate::picture::OpenError;
use crate::run::{PlanError, SpecError};
use crate::solver::SolverError;
use anyhow::anyhow;
use clap::error::ErrorKind;
use serde::Serialize;
use std::io::{self, Write};
use std::process::ExitCode;

/// Exit code: something failed, or the tolerance was not reached.
pub(super) const FAILED: u8 = 1;

/// Exit code: the command line makes no sense.
const USAGE: u8 = 2;

/// Options that contradict each other; the process exits with code 2.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct UsageError(pub String);

/// Prints an error on stderr and returns the exit code that belongs to it.
pub(super) fn report_failure(error: &anyhow::Error) -> ExitCode {
    // The reader of a pipe that went away needs no message.
    if error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe) {
        return ExitCode::from(FAILED);
    }
    // Every error is one sentence that names its cause: the chain below it would repeat it.
    print_note(&error.to_string());
    ExitCode::from(if is_usage(error) { USAGE } else { FAILED })
}

/// Whether an error is one of the command line. A value that a run file has in its place is the same mistake;
/// a file that is damaged, or does not fit this machine, is not.
fn is_usage(error: &anyhow::Error) -> bool {
    match error.downcast_ref::<PlanError>() {
        Some(
            PlanError::Input(_)
            | PlanError::Matrix(_)
            | PlanError::Places(_)
            | PlanError::Memory(_)
            | PlanError::Shape(ShapeError::TooLarge { .. })
            | PlanError::NoRoom(_),
        ) => false,
        Some(_) => true,
        None => {
            error.is::<UsageError>()
                || matches!(
                    error.downcast_ref(),
                    Some(SolverError::Kernel { .. } | SolverError::Overlap(_))
                )
                || matches!(error.downcast_ref(), Some(OpenError::Spec(SpecError::Value { .. })))
        }
    }
}

/// Prints why the command line could not be parsed, in one sentence on stderr. `--help` and
/// `--version` arrive here, too; they go to stdout unchanged.
pub(super) fn report_parse_error(error: &clap::Error) -> ExitCode {
    let text = error.render();
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let done = print(&text.to_string());
        return done.map_or_else(|error| report_failure(&error), |()| ExitCode::SUCCESS);
    }
    let text = text.to_string();
    // The lines after the sentence are a usage hint.
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let sentence: Vec<_> =
        lines.take_while(|l| !l.starts_with("Usage:") && !l.starts_with("For more")).collect();
    let sentence = sentence.join(" ");
    let sentence = sentence.replace(" tip: ", "; ");
    print_note(sentence.strip_prefix("error: ").unwrap_or(&sentence));
    ExitCode::from(USAGE)
}

/// Prints a sentence on stderr, on one line. A stderr that cannot be written is ignored.
pub(super) fn print_note(sentence: &str) {
    let _ = writeln!(io::stderr(), "tilescope: {}", one_line(sentence));
}

/// A sentence of the window as a note: it begins with a small letter and has no full stop.
pub(super) fn as_note(sentence: &str) -> String {
    let mut rest = sentence.trim_end_matches('.').chars();
    rest.next().map_or_else(String::new, |first| first.to_lowercase().chain(rest).collect())
}

/// The most characters of a message: what it quotes may come from a file of any length.
const LONGEST: usize = 1000;

/// A sentence on one line of a terminal, cut where it is too long.
fn one_line(sentence: &str) -> String {
    let sentence = escaped(&sentence.split_whitespace().collect::<Vec<_>>().join(" "));
    match sentence.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{} …", &sentence[..end]),
        None => sentence,
    }
}

/// Text without the characters that a terminal acts upon, which a file may hold: control characters but
/// for line ends and tabs, and those that change the direction of text (Unicode, *Bidirectional
/// Algorithm*, UAX #9). They are written as in Rust, `\u{1b}`.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if acts_on_terminal(c) { escaped.extend(c.escape_unicode()) } else { escaped.push(c) }
    }
    escaped
}

/// A name that a file has, on one line of a text: a line end or a tab in it would be taken for one of the text.
pub(super) fn named(text: &str) -> String {
    text.replace('\n', "\\n").replace('\t', "\\t")
}

/// Whether a terminal acts upon a character; none of them has more than four hexadecimal digits.
fn acts_on_terminal(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A value as a JSON document that ends its line. Characters that a terminal acts upon can only be in its
/// strings; they are written as JSON has them, `\u202e`.
///
/// # Errors
/// If the value cannot be written as JSON.
pub(super) fn json(value: &impl Serialize) -> anyhow::Result<String> {
    let mut text = String::new();
    for c in serde_json::to_string_pretty(value)?.chars() {
        if acts_on_terminal(c) {
            text += &format!("\\u{:04x}", u32::from(c));
        } else {
            text.push(c);
        }
    }
    Ok(text + "\n")
}

/// Prints text on stdout.
///
/// # Errors
/// If stdout cannot be written, such as a pipe whose reader has gone.
pub(super) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(escaped(text).as_bytes()).and_then(|()| out.flush()).map_err(|error| match error
        .kind()
    {
        io::ErrorKind::BrokenPipe => error.into(),
        _ => anyhow!("cannot write to the standard output: {}", files::reason(&error)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_says_reaches_the_terminal_as_text() {
        assert_eq!(one_line("key\u{1b}[31m\n is  red\u{202e}"), "key\\u{1b}[31m is red\\u{202e}");
        assert_eq!(escaped("‖r‖₂ ≤ 1\n\tö…"), "‖r‖₂ ≤ 1\n\tö…");
        assert_eq!(as_note("ρ is 1, so. It stays."), "ρ is 1, so. It stays");
        assert_eq!(as_note("The matrix."), "the matrix");
        assert_eq!(named("a\nb\t.mtx"), "a\\nb\\t.mtx");
        let cut = one_line(&"ä".repeat(5000));
        assert_eq!((cut.chars().count(), cut.ends_with(" …")), (LONGEST + 2, true));
    }

    #[test]
    fn json_stays_json_on_a_terminal() {
        let name = "a\u{200d}b\u{202e}\u{7f}\u{9b}\u{1b}\n.mtx";
        let text = json(&[name]).unwrap();
        assert_eq!(escaped(&text), text);
        assert_eq!(serde_json::from_str::<[String; 1]>(&text).unwrap(), [name]);
    }
}
