//! `tilescope devices`: where a solver can run here, and why not elsewhere.

use super::console::print;
use crate::solver::cuda;
use clap::Args;
use serde::Serialize;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  tilescope devices
      the cores and the NVIDIA cards that solvers can run on
  tilescope devices --json
      the same for a program; `unavailable` says why there is no card

Exit code: 0, whether there is a card or not.";

/// The options of `tilescope devices`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Devices {
    /// Print one JSON object in place of the list
    #[arg(long, help_heading = "Output")]
    json: bool,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Listed {
    cpu: Cpu,
    cuda: Cuda,
}

#[derive(Debug, Serialize)]
struct Cpu {
    cores: usize,
}

#[derive(Debug, Serialize)]
struct Cuda {
    cards: Vec<String>,
    /// Why there is none.
    unavailable: Option<String>,
}

impl Devices {
    /// Says what there is.
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let (cards, unavailable) = match cuda::cards() {
            Ok(cards) => (cards, None),
            Err(why) => (Vec::new(), Some(why.to_string())),
        };
        let listed = Listed { cpu: Cpu { cores }, cuda: Cuda { cards, unavailable } };
        let text =
            if self.json { serde_json::to_string_pretty(&listed)? + "\n" } else { listed.text() };
        print(&text)?;
        Ok(ExitCode::SUCCESS)
    }
}

impl Listed {
    fn text(&self) -> String {
        let cores = self.cpu.cores;
        let mut text = format!("cpu   {cores} {}\n", if cores == 1 { "core" } else { "cores" });
        for card in &self.cuda.cards {
            text.push_str(&format!("cuda  {card}\n"));
        }
        if let Some(why) = &self.cuda.unavailable {
            text.push_str(&format!("cuda  none: {why}\n"));
        }
        text
    }
}
