//! `tilescope lesson`: opens a lesson in the window, checks its claims, or begins a new one.

use super::console::{FAILED, UsageError, print, print_note};
use super::interrupt::Interrupt;
use super::outputs::{self, Output};
use super::progress::Progress;
use super::window::{Start, window};
use crate::files;
use crate::lesson::{Lesson, ReadLesson, TEMPLATE, lesson_named, lessons};
use crate::picture::counted;
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  tilescope lesson --list                  the lessons that come with the program
  tilescope lesson overlap                 open one of them in the window
  tilescope lesson --new mine.md           write a template for a lesson
  tilescope lesson --check mine.md         make its runs and compare its claims with the measured values
  tilescope lesson mine.md                 open it in the window

assets/lessons/README.md describes the format.

Exit codes: 0 success; 1 failure, or a claim does not hold; 2 wrong usage; 130 interrupted by Ctrl-C.";

/// The options of `tilescope lesson`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct LessonArgs {
    /// A lesson (.md), or the name of one that comes with the program
    #[arg(value_name = "FILE|NAME", required_unless_present_any = ["list", "new"])]
    lesson: Option<PathBuf>,
    /// Make the runs of the lesson and print each claim with the measured value
    #[arg(long)]
    check: bool,
    /// Write a template for a lesson to this file, which must not exist yet
    #[arg(long, value_name = "FILE", conflicts_with_all = ["lesson", "check", "list"])]
    new: Option<PathBuf>,
    /// List the lessons that come with the program
    #[arg(long, conflicts_with_all = ["lesson", "check"])]
    list: bool,
}

impl LessonArgs {
    /// Does what was requested.
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        if let Some(path) = &self.new {
            return begin(path);
        }
        let Some(path) = &self.lesson else {
            debug_assert!(self.list, "without a lesson, --list or --new is required");
            return list();
        };
        let read = read(path)?;
        for error in &read.errors {
            print_note(&error.to_string());
        }
        if self.check {
            return check(&read);
        }
        window(Some(Start::Lesson(Arc::new(read.lesson))))
    }
}

/// The lesson in a file, or of a name.
fn read(path: &Path) -> anyhow::Result<ReadLesson> {
    if path.exists() {
        return Ok(Lesson::load(path)?);
    }
    match path.to_str().and_then(lesson_named) {
        Some(lesson) => Ok(ReadLesson { lesson: Lesson::clone(&lesson), errors: Vec::new() }),
        None if path.extension().is_none() => {
            let known = "`tilescope lesson --list` lists those that come with the program";
            Err(UsageError(format!("no lesson is named {}; {known}", path.display())).into())
        }
        None => Ok(Lesson::load(path)?),
    }
}

fn list() -> anyhow::Result<ExitCode> {
    let mut text = String::new();
    for lesson in lessons() {
        let minutes = lesson.minutes.map_or_else(String::new, |minutes| format!("{minutes} min"));
        text += &format!("{:20}{minutes:7}{}\n", lesson.name, lesson.title);
    }
    print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the template.
fn begin(path: &Path) -> anyhow::Result<ExitCode> {
    outputs::check(&[Output { option: "--new", path, endings: &["md"] }], &[])?;
    if path.exists() {
        let why = format!("{} already exists; choose another name", path.display());
        return Err(UsageError(why).into());
    }
    files::write_atomically(path, |out| out.write_all(TEMPLATE.as_bytes()))?;
    let file = path.display();
    print(&format!("Wrote {file}. `tilescope lesson {file}` opens it.\n"))?;
    Ok(ExitCode::SUCCESS)
}

/// Measures every claim, and prints the outcome.
fn check(read: &ReadLesson) -> anyhow::Result<ExitCode> {
    const ENDED: &str = "interrupted before all claims were checked";
    let interrupt = Interrupt::install(ENDED)?;
    let mut progress = Progress::start();
    let checked = read.lesson.check(interrupt.stop(), &mut |made, all| {
        progress.show(|| format!("run {made} of {all}"));
    });
    drop(progress);
    if interrupt.is_requested() {
        print_note(ENDED);
        return Ok(interrupt.exit_code());
    }
    let mut text = String::new();
    for claim in &checked {
        let verdict = if claim.holds { "holds" } else { "FAILS" };
        let setting = match claim.setting.as_str() {
            "" => String::new(),
            setting => format!("{setting}: "),
        };
        text += &format!(
            "line {:<4}{verdict}  {setting}{}  measured {}\n",
            claim.line, claim.claim, claim.measured
        );
    }
    let failed = checked.iter().filter(|claim| !claim.holds).count();
    let claims = counted(checked.len() as u64, "claim");
    text += &match (failed, checked.len()) {
        (0, 1) => format!("{claims} holds.\n"),
        (0, _) => format!("{claims} hold.\n"),
        (1, _) => format!("1 of {claims} does not hold.\n"),
        (failed, _) => format!("{failed} of {claims} do not hold.\n"),
    };
    print(&text)?;
    let is_sound = failed == 0 && read.errors.is_empty();
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::from(FAILED) })
}
