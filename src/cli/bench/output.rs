//! What all benchmarks have in common: where a record goes, and which back ends are measured.

use super::super::console::{UsageError, print, print_note};
use super::super::outputs;
use crate::files;
use crate::run::Backend;
use crate::solver::{SolverError, cuda};
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Where a record goes, and in which format.
#[derive(Args, Debug)]
pub(super) struct Output {
    /// Print one JSON object instead of the tables
    #[arg(long, conflicts_with = "csv", help_heading = "Output")]
    json: bool,
    /// Print the rows as CSV instead of the tables
    #[arg(long, help_heading = "Output")]
    csv: bool,
    /// Also save the tables as a Markdown file
    #[arg(short, long, value_name = "RECORD.md", help_heading = "Output")]
    output: Option<PathBuf>,
}

/// A record of measurements in the formats of [`Output`].
pub(super) trait Formats {
    fn text(&self) -> String;
    fn markdown(&self) -> String;
    fn csv(&self) -> anyhow::Result<String>;
    fn json(&self) -> anyhow::Result<String>;
}

impl Output {
    /// Checks before the measurement that the file can be written, and replaces only Markdown and none of the files
    /// that are read.
    pub fn check(&self, inputs: &[(&str, &Path)]) -> anyhow::Result<()> {
        if let Some(path) = &self.output {
            outputs::check(&[outputs::Output { option: "-o", path, endings: &["md"] }], inputs)?;
        }
        Ok(())
    }

    /// Prints the record, and saves it if there is a file for it.
    pub fn publish(&self, record: &impl Formats) -> anyhow::Result<()> {
        // The numbers first: they are not lost where saving fails.
        let printed = print(&match self {
            Self { json: true, .. } => record.json()?,
            Self { csv: true, .. } => record.csv()?,
            _ => record.text(),
        });
        if let Some(path) = &self.output {
            let text = record.markdown();
            files::write_atomically(path, |file| file.write_all(text.as_bytes()))?;
        }
        printed
    }
}

/// Refuses threads of the CPU where only GPUs are measured.
pub(super) fn check_threads(threads: usize, requested: &[Backend]) -> Result<(), UsageError> {
    let is_gpu_only = !requested.is_empty() && requested.iter().all(|it| *it == Backend::Cuda);
    if threads == 0 || !is_gpu_only {
        return Ok(());
    }
    Err(UsageError("--threads has no effect with backend cuda; it is for backend cpu".to_owned()))
}

/// The back ends to measure: `requested`; if that is empty or `auto`, the GPU and the CPU, or the CPU alone
/// with a note where there is no GPU. The GPU comes first.
///
/// # Errors
/// [`SolverError`] if a GPU is requested and there is none.
pub(super) fn backends(requested: &[Backend]) -> Result<Vec<Backend>, SolverError> {
    let requested = if requested.contains(&Backend::Auto) { &[] } else { requested };
    if !requested.is_empty() && !requested.contains(&Backend::Cuda) {
        return Ok(vec![Backend::Cpu]);
    }
    match cuda::gpus() {
        // The GPU first: all others are compared with its classic kernel.
        Ok(_) if requested == [Backend::Cuda] => Ok(vec![Backend::Cuda]),
        Ok(_) => Ok(vec![Backend::Cuda, Backend::Cpu]),
        Err(why) if requested.is_empty() => {
            print_note(&format!("{why}; measuring the CPU only"));
            Ok(vec![Backend::Cpu])
        }
        Err(why) => Err(why.into()),
    }
}
