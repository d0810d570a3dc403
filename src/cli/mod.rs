//! The entry from a terminal: what is asked for, one file a subcommand.
//!
//! Options become a [`RunSpec`](crate::run::RunSpec) in one step (`args`); everything after that
//! is the same as for a file or for the window. A new subcommand is a file, a row in `Command`,
//! and a row in [`dispatch`].

mod args;
mod bench;
mod console;
mod devices;
mod first_look;
mod interrupt;
mod lists;
mod open;
mod progress;
mod render;
mod solve;
mod sweep;
mod tune;
mod values;
mod window;
#[cfg(test)]
mod words;

pub use console::{fail, refuse};

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// See hierarchical Jacobi converge, tile by tile.
///
/// Without a subcommand the window opens. Where there is no display, the default experiment is
/// rendered to tilescope-out/ instead.
#[derive(Parser, Debug)]
#[command(name = "tilescope", version, after_help = EXAMPLES)]
pub struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Solve a system, and say how it went
    Solve(solve::Solve),
    /// Draw a figure of a run: a map of a field, or the convergence
    Render(Box<render::Render>),
    /// Measure many settings of k, overlap, tile and kernel, into a table that grows row by row
    Sweep(sweep::Sweep),
    /// Find the best setting for a problem, and the command line that runs it
    Tune(tune::Tune),
    /// Open a run file, or a figure that carries its run, in the window
    Open(open::Open),
    /// List what solvers can run on, and say why there is no GPU
    Devices(devices::Devices),
    /// Time the kernels side by side, or repeat the papers' experiments
    Bench(bench::Bench),
}

const EXAMPLES: &str = "\
Examples:
  tilescope                                             the window
  tilescope solve --shape 1024x1024 --k 32 --overlap 4  the paper's problem, to 1e-4
  tilescope render --at-cycle 40 -o residual.png        where the residual sits after 40 cycles
  tilescope sweep --k 4,8,16 --overlap 0:30:2 -o s.csv  what every setting costs
  tilescope tune --shape 512x512                        which setting is the fastest
  tilescope open residual.png                           that run again, in the window
  tilescope devices                                     what it can run on
  tilescope bench ladder --to-tolerance                 how fast each kernel is on it

Exit codes: 0 done, 1 failed or did not converge though a tolerance was asked, 2 wrong usage.";

/// Does what was asked for.
///
/// # Errors
/// Whatever kept it from being done; [`fail`] says it and knows the exit code.
pub fn dispatch(cli: Cli) -> anyhow::Result<ExitCode> {
    match cli.command {
        None => window::window(None),
        Some(Command::Solve(solve)) => solve.run(),
        Some(Command::Render(render)) => render.run(),
        Some(Command::Sweep(sweep)) => sweep.run(),
        Some(Command::Tune(tune)) => tune.run(),
        Some(Command::Open(open)) => open.run(),
        Some(Command::Devices(devices)) => devices.run(),
        Some(Command::Bench(bench)) => bench.run(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_options_do_not_contradict_each_other() {
        Cli::command().debug_assert();
    }
}
