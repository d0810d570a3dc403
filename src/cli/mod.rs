//! The command line: options, exit codes, one file per subcommand.
//!
//! Options become a [`RunSpec`](crate::run::RunSpec) in one step (`args`); from there on the command
//! line, a run file and the window are the same. A new subcommand is a file, a variant of `Command`
//! and an arm of `dispatch`.

mod args;
mod bench;
mod choices;
mod console;
mod default_experiment;
mod devices;
mod devices_summary;
mod given_options;
mod gpu_notes;
mod interrupt;
mod lesson;
mod lists;
mod open;
mod outputs;
mod progress;
mod ranks;
mod render;
mod solve;
mod sweep;
mod tune;
mod values;
mod window;
#[cfg(test)]
mod words;

#[doc(hidden)]
pub use values::refusals;

use crate::grid::memory;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use given_options::GivenOptions;
use ranks::{Launch, RankError};
use std::process::ExitCode;

/// Hierarchical Jacobi iteration, made visible cycle by cycle
///
/// Without a subcommand the window opens. Without a display, the default experiment is drawn to
/// files in tilescope-out/ instead.
#[derive(Parser, Debug)]
#[command(name = "tilescope", version, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Solve a system and print a summary
    Solve(solve::Solve),
    /// Draw a figure or an animation of a run
    Render(Box<render::Render>),
    /// Measure a grid of settings (k, overlap, tile, kernel; height, budget) and write a table
    Sweep(sweep::Sweep),
    /// Find the fastest setting for a problem and print its command line
    Tune(tune::Tune),
    /// Open a run file, or a figure that carries its run, in the window
    Open(open::Open),
    /// Open a lesson, list the lessons, or check the claims of one
    Lesson(lesson::LessonArgs),
    /// List the devices that a solver can run on
    Devices(devices::Devices),
    /// Time the kernels, or repeat the experiments of the papers
    Bench(bench::Bench),
}

const EXAMPLES: &str = "\
Examples:
  tilescope                                             open the window
  tilescope solve --shape 1024x1024 --k 32 --overlap 4  solve the paper's problem to 1e-4
  tilescope render --at-cycle 40 -o residual.png        draw the residual after 40 cycles
  tilescope sweep --k 4,8,16 --overlap 0:30:2 -o s.csv  measure 48 settings
  tilescope tune --shape 512x512                        find the fastest setting
  tilescope open residual.png                           open that run in the window
  tilescope lesson --list                               list the lessons about the method
  tilescope devices                                     list the CPU and the GPUs
  tilescope bench kernels --to-tolerance                compare the kernels

Exit codes: 0 success; 1 failure, or the tolerance was not reached; 2 wrong usage; 130 interrupted by
Ctrl-C, 143 by SIGTERM, 129 by SIGHUP.";

/// Parses the command line, runs the subcommand and returns the exit code of the process.
#[must_use]
pub fn main() -> ExitCode {
    if let Err(error) = memory::prepare() {
        return console::report_failure(&error.into());
    }
    limit_nccl();
    ignore_file_size_signal();
    explain_lost_page();
    let parsed = Cli::command().try_get_matches().and_then(|matches| {
        let cli = Cli::from_arg_matches(&matches)?;
        Ok((cli, GivenOptions::of(&matches)))
    });
    match parsed {
        Ok((cli, given)) => {
            dispatch(cli).unwrap_or_else(|error| console::report_failure(&given.name_in(error)))
        }
        Err(error) => console::report_parse_error(&quoting_all(error)),
    }
}

/// NCCL's use of NVLink's multicast, which is off unless the user wants it: some hosts and containers lack what it needs, and
/// messages between two GPUs do not use it.
const MULTICAST: &str = "NCCL_NVLS_ENABLE";

/// At the limit of the size of a file a write is to fail, so that one sentence says so, and the signal is to end nothing.
fn ignore_file_size_signal() {
    #[cfg(unix)]
    // SAFETY: no handler is installed; the signal is ignored.
    unsafe {
        libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
    }
}

/// Where another program shortens a file that is mapped into memory, or its disk fails, the system ends this process: it is
/// to end with a sentence.
#[cfg(target_os = "linux")]
fn explain_lost_page() {
    extern "C" fn end(_: libc::c_int) {
        const SAID: &[u8] = b"tilescope: a file that this run works in or reads (--store, --rhs, --initial) was shortened by \
            another program, or its disk fails; the run cannot go on\n";
        // SAFETY: in the handler of a signal both functions may be called, and the bytes live as long as the program.
        unsafe {
            libc::write(libc::STDERR_FILENO, SAID.as_ptr().cast(), SAID.len());
            libc::_exit(1)
        }
    }
    // SAFETY: the handler calls only what may be called in one.
    unsafe { libc::signal(libc::SIGBUS, end as *const () as libc::sighandler_t) };
}

/// Elsewhere the system's own words have to do.
#[cfg(not(target_os = "linux"))]
fn explain_lost_page() {}

/// Keeps NCCL from what it is not to use; called before there are threads.
fn limit_nccl() {
    if std::env::var_os(MULTICAST).is_none() {
        // SAFETY: this is the only thread.
        unsafe { std::env::set_var(MULTICAST, "0") };
    }
}

/// The same error with all characters of the words that it quotes: the parser leaves out of its messages what a
/// terminal acts upon, and would quote another word than was written.
fn quoting_all(error: clap::Error) -> clap::Error {
    let words = std::env::args_os().map(|word| console::escaped(&word.to_string_lossy()));
    Cli::try_parse_from(words).err().unwrap_or(error)
}

/// Runs the subcommand, or opens the window if there is none.
fn dispatch(cli: Cli) -> anyhow::Result<ExitCode> {
    let launch = Launch::of_environment()?;
    if let (Some(launch), Some(what)) = (&launch, only_in_one_process(cli.command.as_ref())) {
        return Err(RankError::OneProcess { what, count: launch.rank.count }.into());
    }
    match cli.command {
        None => window::window(None),
        Some(Command::Solve(solve)) => solve.run(launch),
        Some(Command::Render(render)) => render.run(),
        Some(Command::Sweep(sweep)) => sweep.run(),
        Some(Command::Tune(tune)) => tune.run(),
        Some(Command::Open(open)) => open.run(),
        Some(Command::Lesson(lesson)) => lesson.run(),
        Some(Command::Devices(devices)) => devices.run(),
        Some(Command::Bench(bench)) => bench.run(),
    }
}

/// What a subcommand is called that runs in one process and takes a while, or opens a window: several of them would do the
/// same, and write the same files.
fn only_in_one_process(command: Option<&Command>) -> Option<&'static str> {
    match command {
        None | Some(Command::Open(_)) => Some("the window"),
        Some(Command::Render(_)) => Some("render"),
        Some(Command::Sweep(_)) => Some("sweep"),
        Some(Command::Tune(_)) => Some("tune"),
        Some(Command::Lesson(_)) => Some("lesson"),
        Some(Command::Bench(_)) => Some("bench"),
        Some(Command::Solve(_) | Command::Devices(_)) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_do_not_contradict_each_other() {
        Cli::command().debug_assert();
    }
}
