//! What all benchmarks have in common: where a record goes, and which back ends are measured.

use super::super::console::{UsageError, print, print_note};
use super::super::outputs;
use super::super::values;
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

/// The back ends that kernels are compared on.
#[derive(Args, Debug)]
pub(super) struct BackendArgs {
    /// Back ends, comma-separated [default: cuda,cpu with a GPU, otherwise cpu]
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Measurement")]
    pub backend: Vec<Backend>,
    /// CPU threads; 0 for one per core
    #[arg(
        long,
        value_name = "N",
        default_value = "0",
        hide_default_value = true,
        help_heading = "Measurement",
        value_parser = values::whole::<usize>,
        allow_negative_numbers = true
    )]
    pub threads: usize,
}

impl BackendArgs {
    /// The back ends to measure.
    ///
    /// # Errors
    /// [`UsageError`] for threads of the CPU where only GPUs are measured, [`SolverError`] for a GPU that is not there.
    pub fn backends(&self) -> anyhow::Result<Vec<Backend>> {
        let requested = &self.backend;
        let is_gpu_only = !requested.is_empty() && requested.iter().all(|it| *it == Backend::Cuda);
        if self.threads != 0 && is_gpu_only {
            let why = "--threads has no effect with backend cuda; it is for backend cpu";
            return Err(UsageError(why.to_owned()).into());
        }
        Ok(backends(requested)?)
    }
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
