//! The program: parse, do it, exit code.

use clap::Parser;
use std::process::ExitCode;
use tilescope::cli::{self, Cli};

fn main() -> ExitCode {
    match Cli::try_parse() {
        Ok(asked) => cli::dispatch(asked).unwrap_or_else(|error| cli::fail(&error)),
        Err(refused) => cli::refuse(&refused),
    }
}
