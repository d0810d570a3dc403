//! The program `tilescope`; all of it is in the library's `cli`.

use std::process::ExitCode;

fn main() -> ExitCode {
    tilescope::cli::main()
}
