//! `tilescope open`: a run that somebody saved, in the window.

use super::window::window;
use crate::picture;
use crate::run::Planner;
use anyhow::bail;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  tilescope open run.toml
  tilescope open residual.png
      a figure that tilescope saved carries its run; it is made up to the cycle that the figure
      shows, and looked at in the same way";

/// The options of `tilescope open`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Open {
    /// A run file (.toml), or a figure that carries its run (.png, .svg)
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

impl Open {
    /// Checks the file, then opens the window.
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let opened = picture::open(&self.file)?;
        // Found out here, so that a terminal hears of it even where there is no window.
        if let Err(refused) = Planner::default().plan(&opened.run) {
            bail!("{} cannot be run: {refused}", self.file.display());
        }
        window(Some(opened))
    }
}
