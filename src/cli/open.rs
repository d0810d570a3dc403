//! `tilescope open`: a saved run in the window.

use super::args::RunArgs;
use super::window::{Start, window};
use crate::picture::{self, Opened};
use crate::run::Planner;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  tilescope open run.toml
  tilescope open residual.png
      a figure carries its run: the window repeats it up to the cycle of the figure and shows it
      with the same field, colours and scale
  tilescope open run.toml --overlap 4
      the run with another overlap
  tilescope open --matrix m.mtx.gz --ordering rcm --tile 256 --k 8
      a sparse matrix, with the options of `solve`";

/// The options of `tilescope open`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Open {
    /// A run file (.toml), or a figure that carries its run (.png, .svg, .pdf), which options override; without one they
    /// describe the run
    #[arg(
        value_name = "FILE",
        required_unless_present_any = ["CommonArgs", "method", "k", "overlap", "tile"],
        conflicts_with_all = ["run", "preset"]
    )]
    file: Option<PathBuf>,
    #[command(flatten)]
    run: RunArgs,
}

impl Open {
    /// Validates the file, then opens the window.
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let opened = match &self.file {
            Some(file) => {
                let Opened { run, view } = picture::open(file)?;
                let changed = self.run.starting_from(file).spec()?;
                // What a figure shows of another run may not be there.
                let view = view.filter(|_| changed == run);
                Opened { run: changed, view }
            }
            None => Opened { run: self.run.spec()?, view: None },
        };
        // Checked here for a message on the terminal even without a display.
        if let Err(refused) = Planner::without_waiting().plan(&opened.run) {
            let why = match &self.file {
                Some(file) => format!("{} cannot be run: {refused}", file.display()),
                None => return Err(refused.into()),
            };
            return Err(anyhow::Error::from(refused).context(why));
        }
        window(Some(Start::Run(Box::new(opened))))
    }
}
