//! `tilescope open`: a saved run in the window.

use super::window::{Start, window};
use crate::picture;
use crate::run::Planner;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  tilescope open run.toml
  tilescope open residual.png
      a figure carries its run: the window repeats it up to the cycle of the figure and shows it
      with the same field, colours and scale";

/// The options of `tilescope open`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Open {
    /// A run file (.toml), or a figure that carries its run (.png, .svg, .pdf)
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl Open {
    /// Validates the file, then opens the window.
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let opened = picture::open(&self.file)?;
        // Checked here for a message on the terminal even without a display.
        if let Err(refused) = Planner::without_waiting().plan(&opened.run) {
            let why = format!("{} cannot be run: {refused}", self.file.display());
            return Err(anyhow::Error::from(refused).context(why));
        }
        window(Some(Start::Run(Box::new(opened))))
    }
}
