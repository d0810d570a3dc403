//! The way into the window, and what happens where there is none.

use super::console::tell;
use super::first_look;
use crate::picture::Opened;
use anyhow::bail;
use std::process::ExitCode;

/// Opens the window, with a run or with the default experiment. Where that is not possible, it
/// says why in one sentence, and draws the default experiment to files instead; a run that was
/// asked for is not replaced by another.
///
/// # Errors
/// If there is no window for the run that was asked for, or the files cannot be written.
pub(super) fn window(start: Option<Opened>) -> anyhow::Result<ExitCode> {
    let asked = start.is_some();
    let why = match open(start) {
        Ok(()) => return Ok(ExitCode::SUCCESS),
        Err(why) => why,
    };
    if asked {
        bail!("{why}; `tilescope render --run FILE -o figure.png` draws it without one");
    }
    tell(&format!("{why}; drawing the default experiment to {}/ instead", first_look::FOLDER));
    first_look::draw()
}

/// Opens the window and stays until it is closed, or says why it cannot be opened.
#[cfg(feature = "gui")]
fn open(start: Option<Opened>) -> Result<(), String> {
    if !has_display() {
        return Err("there is no display (DISPLAY and WAYLAND_DISPLAY are not set)".to_owned());
    }
    if let Some(missing) = missing_library() {
        return Err(format!("{missing} is not installed, and a window on X11 needs it"));
    }
    crate::app::run(start).map_err(|error| format!("the window cannot be opened ({error})"))
}

#[cfg(not(feature = "gui"))]
fn open(_: Option<Opened>) -> Result<(), String> {
    Err("this build has no window (feature `gui`)".to_owned())
}

/// The library that a window on X11 cannot do without, if it is missing; asked first, because the
/// window's own code panics over it.
#[cfg(feature = "gui")]
fn missing_library() -> Option<&'static str> {
    const KEYBOARD: (&str, &str) =
        ("libxkbcommon-x11.so.0", "libxkbcommon-x11 (Debian: libxkbcommon-x11-0)");
    let wayland = ["WAYLAND_DISPLAY", "WAYLAND_SOCKET"];
    let on_x11 = cfg!(target_os = "linux") && wayland.iter().all(|name| !is_set(name));
    // SAFETY: the library is opened for a moment and nothing of it is called; opening it runs no
    // code of ours, and the window opens it again.
    (on_x11 && unsafe { libloading::Library::new(KEYBOARD.0) }.is_err()).then_some(KEYBOARD.1)
}

/// Whether there is something to open a window on: on systems with X11 or Wayland the environment
/// says so; others have a display as a rule.
#[cfg(feature = "gui")]
fn has_display() -> bool {
    let unix =
        cfg!(all(unix, not(any(target_os = "macos", target_os = "ios", target_os = "android"))));
    let names = ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"];
    !unix || names.iter().any(|name| is_set(name))
}

/// Whether a variable of the environment says something.
#[cfg(feature = "gui")]
fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}
