//! `tilescope bench`: how fast cycles are made here, as records that can be made again.

mod frames;
mod ladder;
mod machine;
mod measure;
mod paper;
mod record;
mod table;

use super::console::{print, tell};
use crate::files;
use crate::run::Backend;
use crate::solver::{SolverError, cuda};
use clap::{Args, Subcommand};
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// The options of `tilescope bench`.
#[derive(Args, Debug)]
pub struct Bench {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand, Debug)]
enum What {
    /// Time every kernel of the GPU side by side, and the CPU's methods beside them
    Ladder(ladder::Ladder),
    /// Repeat the experiments of the papers, and print the published figures beside the measured ones
    Paper(paper::Paper),
}

impl Bench {
    /// Measures what was asked for, prints the tables, saves them.
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        match &self.what {
            What::Ladder(ladder) => ladder.run(),
            What::Paper(paper) => paper.run(),
        }
    }
}

/// Where a record goes, and in which form.
#[derive(Args, Debug)]
struct Output {
    /// Print one JSON object in place of the tables
    #[arg(long, conflicts_with = "csv", help_heading = "Output")]
    json: bool,
    /// Print the rows as CSV in place of the tables
    #[arg(long, help_heading = "Output")]
    csv: bool,
    /// Save the tables as Markdown
    #[arg(short, long, value_name = "RECORD.md", help_heading = "Output")]
    output: Option<PathBuf>,
}

/// What was measured, in the forms that it can be told in.
trait Told {
    fn text(&self) -> String;
    fn markdown(&self) -> String;
    fn csv(&self) -> anyhow::Result<String>;
    fn json(&self) -> anyhow::Result<String>;
}

impl Output {
    /// Refuses a file that could not be written, before anything is timed.
    fn check(&self) -> anyhow::Result<()> {
        if let Some(path) = &self.output {
            files::check_place(path)?;
        }
        Ok(())
    }

    /// Saves the record, if that was asked for, and prints it.
    fn tell(&self, record: &impl Told) -> anyhow::Result<()> {
        if let Some(path) = &self.output {
            let text = record.markdown();
            files::write_atomically(path, |file| file.write_all(text.as_bytes()))?;
        }
        print(&match self {
            Self { json: true, .. } => record.json()?,
            Self { csv: true, .. } => record.csv()?,
            _ => record.text(),
        })
    }
}

/// Where it runs: where it was asked to; otherwise on the GPU and on the CPU, or, without a GPU,
/// on the CPU alone, which is said.
///
/// # Errors
/// [`SolverError`] if a GPU was asked for and there is none.
fn backends(asked: &[Backend]) -> Result<Vec<Backend>, SolverError> {
    if !asked.is_empty() && !asked.contains(&Backend::Cuda) {
        return Ok(vec![Backend::Cpu]);
    }
    match cuda::gpus() {
        // The GPU first: its classic is what all others are compared with.
        Ok(_) if asked == [Backend::Cuda] => Ok(vec![Backend::Cuda]),
        Ok(_) => Ok(vec![Backend::Cuda, Backend::Cpu]),
        Err(why) if asked.is_empty() => {
            tell(&format!("{why}; the CPU is timed"));
            Ok(vec![Backend::Cpu])
        }
        Err(why) => Err(why.into()),
    }
}
