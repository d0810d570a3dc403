//! Disks that fail, and memory that does not suffice: whatever a command was to do, an old file stays whole, nothing
//! unfinished is left, the exit code is 1, and one sentence says why.

#![cfg(target_os = "linux")]

mod full_disk;
mod injected;
mod little_memory;
#[cfg(feature = "gui")]
mod settings;
mod window;

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// A small problem that is solved quickly.
const SMALL: &str = "--shape 40x36 --tile 8 --k 4 --tol none --max-cycles 20";

/// A command in a folder, without a display.
fn command(program: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    for display in ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"] {
        command.env_remove(display);
    }
    command.current_dir(folder);
    command
}

/// Fails unless a command that could not write `name` has left the old file alone in its folder, and said
/// why.
fn assert_old_file_is_whole(folder: &Path, name: &str, output: &Output, case: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{case}: {said}");
    assert_eq!(fs::read(folder.join(name)).unwrap(), b"old", "{case}: {said}");
    assert_eq!(fs::read_dir(folder).unwrap().count(), 1, "{case}: {said}");
    let sentence = said.lines().last().unwrap();
    assert!(sentence.starts_with(&format!("tilescope: cannot write {name}: ")), "{case}: {said}");
    assert!(!sentence.contains("os error"), "{case}: {said}");
}
