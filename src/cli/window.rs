//! Opens the window, or draws the default experiment to files where there is no display.

use super::console::print_note;
use super::default_experiment;
use crate::lesson::Lesson;
use crate::picture::Opened;
use anyhow::bail;
use std::process::ExitCode;
use std::sync::Arc;

/// What the window starts with.
#[cfg_attr(not(feature = "gui"), expect(dead_code, reason = "there is no window to start"))]
pub(super) enum Start {
    /// A run, or what a figure shows of one.
    Run(Box<Opened>),
    /// A lesson, at its first step.
    Lesson(Arc<Lesson>),
}

/// Opens the window, with `start` or with the default experiment.
///
/// Without a display it prints the reason and draws the default experiment to files; an explicit
/// run or lesson is not replaced by the default one.
///
/// # Errors
/// If `start` is given and the window cannot be opened, or if the files cannot be written.
pub(super) fn window(start: Option<Start>) -> anyhow::Result<ExitCode> {
    let instead = match &start {
        None => None,
        Some(Start::Run(_)) => {
            Some("`tilescope render --run FILE -o figure.png` draws it without a window")
        }
        Some(Start::Lesson(_)) => {
            Some("`tilescope lesson --check FILE` measures its claims without a window")
        }
    };
    let why = match open(start) {
        Ok(()) => return Ok(ExitCode::SUCCESS),
        Err(why) => why,
    };
    if let Some(instead) = instead {
        bail!("{why}; {instead}");
    }
    print_note(&format!(
        "{why}; drawing the default experiment to {}/ instead",
        default_experiment::FOLDER
    ));
    default_experiment::draw()
}

/// Runs the window until it is closed; the error says why it cannot be opened.
#[cfg(feature = "gui")]
fn open(start: Option<Start>) -> Result<(), String> {
    if !has_display() {
        return Err("no display (DISPLAY and WAYLAND_DISPLAY are not set)".to_owned());
    }
    if let Some(missing) = missing_library() {
        return Err(format!("{missing} is not installed; a window on X11 needs it"));
    }
    let (run, lesson) = match start {
        None => (None, None),
        Some(Start::Run(run)) => (Some(*run), None),
        Some(Start::Lesson(lesson)) => (None, Some(lesson)),
    };
    crate::app::run(run, lesson)
        .map_err(|error| format!("the window cannot be opened: {}", reason(&error.to_string())))
}

/// What a message of the windowing library says, without the names of its types and the place in its source, which
/// is a path of the machine that built the program.
#[cfg(feature = "gui")]
fn reason(message: &str) -> String {
    const SOURCE: &str = ".rs:";
    let words = match message.rfind(SOURCE) {
        Some(at) => message[at + SOURCE.len()..].trim_start_matches(|c: char| c.is_ascii_digit()),
        None => message.split_once("rror: ").map_or(message, |(_, words)| words),
    };
    let words = words.trim_start_matches([':', ' ']);
    // What X11 and Wayland report where nothing answers under the name of the display.
    let is_unreachable = ["X server", "WaylandError", "wayland compositor"];
    let display = ["WAYLAND_DISPLAY", "DISPLAY"]
        .into_iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    match display.filter(|_| is_unreachable.iter().any(|known| words.contains(known))) {
        Some(display) => format!("there is no connection to the display {display}"),
        None => words.to_owned(),
    }
}

#[cfg(not(feature = "gui"))]
fn open(_: Option<Start>) -> Result<(), String> {
    Err("this build has no window (feature `gui`)".to_owned())
}

/// A library that a window on X11 needs, if it is missing. Checked first, because the windowing
/// library panics without it.
#[cfg(feature = "gui")]
fn missing_library() -> Option<&'static str> {
    const KEYBOARD: (&str, &str) =
        ("libxkbcommon-x11.so.0", "libxkbcommon-x11 (Debian: libxkbcommon-x11-0)");
    let wayland = ["WAYLAND_DISPLAY", "WAYLAND_SOCKET"];
    let on_x11 = cfg!(target_os = "linux") && wayland.iter().all(|name| !is_set(name));
    // SAFETY: the library is opened and closed without calling into it; the window opens it again
    // in the same way.
    (on_x11 && unsafe { libloading::Library::new(KEYBOARD.0) }.is_err()).then_some(KEYBOARD.1)
}

/// Whether a display is available: with X11 or Wayland the environment names one; other systems are
/// assumed to have one.
#[cfg(feature = "gui")]
fn has_display() -> bool {
    let unix =
        cfg!(all(unix, not(any(target_os = "macos", target_os = "ios", target_os = "android"))));
    let names = ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"];
    !unix || names.iter().any(|name| is_set(name))
}

/// Whether an environment variable is set and not empty.
#[cfg(feature = "gui")]
fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

#[cfg(all(test, feature = "gui"))]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_the_windowing_library_has_no_types_and_no_paths() {
        for (message, said) in [
            (
                "winit EventLoopError: os error at /root/a/winit-0.30/mod.rs:788: no such seat",
                "no such seat",
            ),
            ("winit EventLoopError: EventLoop can't be recreated", "EventLoop can't be recreated"),
            ("glutin error: no driver", "no driver"),
            ("no driver", "no driver"),
        ] {
            assert_eq!(reason(message), said);
        }
    }
}
