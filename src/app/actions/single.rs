//! Actions that are written out, each by itself.

use crate::app::actions::action::{
    Action, BLANK, changed_view, command, command_shift, plain, shift,
};
use crate::app::state::command::Command;
use crate::app::state::scale::Scale;
use eframe::egui::Key;

pub const RUN: Action = Action {
    group: "Run",
    name: "Go on or wait",
    about: "Go on making cycles, or wait.",
    keys: &[plain(Key::Space)],
    command: |it, _| it.can_go().then_some(Command::Run(!it.session.running)),
    ..BLANK
};

pub const STEP: Action = Action {
    group: "Run",
    name: "Step",
    about: "Make one cycle, and wait.",
    keys: &[plain(Key::ArrowRight)],
    command: |it, _| it.forth(1),
    ..BLANK
};

pub const FORTH_10: Action = Action {
    group: "Time",
    name: "Ten cycles on",
    about: "Ten cycles on from the one that is shown; from the newest, they are made.",
    keys: &[shift(Key::ArrowRight)],
    which: 10,
    command: |it, cycles| it.forth(cycles as u64),
    ..BLANK
};

pub const FORTH_100: Action = Action {
    name: "A hundred cycles on",
    about: "A hundred cycles on from the one that is shown; from the newest, they are made.",
    keys: &[command(Key::ArrowRight)],
    which: 100,
    ..FORTH_10
};

pub const BACK: Action = Action {
    group: "Time",
    name: "A cycle back",
    about: "See the cycle before the one that is shown.",
    keys: &[plain(Key::ArrowLeft)],
    which: 1,
    command: |it, cycles| it.back(cycles as u64),
    ..BLANK
};

pub const BACK_10: Action = Action {
    name: "Ten cycles back",
    about: "See what was ten cycles before the one that is shown.",
    keys: &[shift(Key::ArrowLeft)],
    which: 10,
    ..BACK
};

pub const BACK_100: Action = Action {
    name: "A hundred cycles back",
    about: "See what was a hundred cycles before the one that is shown.",
    keys: &[command(Key::ArrowLeft)],
    which: 100,
    ..BACK
};

pub const START: Action = Action {
    group: "Time",
    name: "Start",
    about: "See the start again.",
    keys: &[plain(Key::Home)],
    command: |it, _| Some(Command::Travel(it.session.travel.to(0, it.latest()))),
    ..BLANK
};

pub const LIVE: Action = Action {
    group: "Time",
    name: "Live",
    about: "Back to the newest cycle, and along with the run.",
    keys: &[plain(Key::End)],
    command: |it, _| {
        let (travel, latest) = (it.session.travel, it.latest());
        travel.at.map(|_| Command::Travel(travel.to(latest, latest)))
    },
    ..BLANK
};

pub const PLAY: Action = Action {
    group: "Time",
    name: "Play or stop",
    about: "Play the cycles that were made, or stop.",
    keys: &[shift(Key::Space)],
    command: |it, _| {
        let (travel, latest) = (it.session.travel, it.latest());
        (latest > 0).then(|| Command::Travel(travel.play(!travel.playing, latest)))
    },
    ..BLANK
};

pub const PIN: Action = Action {
    group: "Compare",
    name: "Pin the run",
    about: "Keep the run as it is now, to compare it with others.",
    keys: &[plain(Key::P)],
    command: |_, _| Some(Command::Pin),
    ..BLANK
};

/// It is held, and asks for nothing: the window looks whether it is down.
pub const FLIP: Action = Action {
    group: "Compare",
    name: "Flip, while it is held",
    about: "The pinned run is shown in the place of this one for as long as the key is held.",
    keys: &[plain(Key::F)],
    command: |_, _| None,
    ..BLANK
};

pub const RESET: Action = Action {
    group: "Run",
    name: "Reset",
    about: "Back to cycle 0, and wait.",
    keys: &[plain(Key::R)],
    command: |_, _| Some(Command::Reset),
    ..BLANK
};

pub const UNDO: Action = Action {
    group: "Edit",
    name: "Undo",
    about: "Take back the last change of a setting.",
    keys: &[command(Key::Z)],
    command: |it, _| it.undo.can_go_back(it.session).then_some(Command::Undo),
    ..BLANK
};

pub const REDO: Action = Action {
    group: "Edit",
    name: "Redo",
    about: "Make the change again that was taken back.",
    keys: &[command_shift(Key::Z), command(Key::Y)],
    command: |it, _| it.undo.can_go_forth().then_some(Command::Redo),
    ..BLANK
};

pub const OPEN: Action = Action {
    group: "File",
    name: "Open …",
    about: "Open a run, a figure, or a picture or an array as the right-hand side.",
    keys: &[command(Key::O)],
    command: |_, _| Some(Command::ShowOpen(true)),
    ..BLANK
};

pub const SAVE: Action = Action {
    group: "File",
    name: "Save …",
    about: "Save a figure, the run, its curve or the field.",
    keys: &[command(Key::S)],
    command: |_, _| Some(Command::ShowSave(true)),
    ..BLANK
};

pub const COPY_COMMAND: Action = Action {
    group: "File",
    name: "Copy as command",
    about: "Copy the command line that makes this run again.",
    keys: &[command_shift(Key::C)],
    command: |it, _| {
        let text = crate::run::command_line(&it.session.spec);
        Some(Command::Copy { text, what: "Command line" })
    },
    ..BLANK
};

pub const BORDERS: Action = Action {
    group: "Map",
    name: "Tile borders",
    about: "Draw the borders between tiles over the map, or leave them out.",
    keys: &[plain(Key::B)],
    command: |it, _| changed_view(it, |look| look.borders = !look.borders),
    ..BLANK
};

pub const WHOLE_GRID: Action = Action {
    group: "Map",
    name: "Whole grid",
    about: "Show all of the grid again; a double click on the map does, too.",
    keys: &[plain(Key::W)],
    command: |_, _| Some(Command::ZoomOut),
    ..BLANK
};

pub const PROBE: Action = Action {
    group: "Map",
    name: "Probe",
    about: "Follow the point under the cursor over the cycles, or leave it.",
    keys: &[plain(Key::D)],
    command: |it, _| it.pointed_at.map(Command::ToggleProbe),
    ..BLANK
};

pub const CLASSIC: Action = Action {
    group: "Curves",
    name: "Classic Jacobi beside the run",
    about: "Make Jacobi's iteration on the same problem in the background, as a reference.",
    keys: &[plain(Key::J)],
    command: |it, _| changed_view(it, |look| look.reference = !look.reference),
    ..BLANK
};

pub const THEME: Action = Action {
    group: "View",
    name: "Dark or light",
    about: "Switch between a dark and a light window.",
    keys: &[command(Key::T)],
    command: |_, _| Some(Command::SwitchTheme),
    ..BLANK
};

pub const TUNING: Action = Action {
    group: "View",
    name: "Tuning map",
    about: "Find the best k, overlap and tile: measure many settings, and see them as a map.",
    keys: &[plain(Key::F3)],
    command: |it, _| Some(Command::ShowTuning(!it.is_tuning)),
    ..BLANK
};

pub const PRESENT: Action = Action {
    group: "View",
    name: "Presentation size",
    about: "Draw the map and its curves as large as the window has room for, to be read from afar; or all as before.",
    keys: &[plain(Key::F9)],
    command: |_, _| Some(Command::Present),
    ..BLANK
};

pub const LARGER: Action = Action {
    group: "View",
    name: "Larger",
    about: "Draw everything larger, as far as the window has room for it.",
    keys: &[command(Key::Plus), command(Key::Equals)],
    command: |it, _| it.scale.larger(it.window).map(Command::Scale),
    ..BLANK
};

pub const SMALLER: Action = Action {
    group: "View",
    name: "Smaller",
    about: "Draw everything smaller again.",
    keys: &[command(Key::Minus)],
    command: |it, _| it.scale.smaller().map(Command::Scale),
    ..BLANK
};

pub const USUAL_SIZE: Action = Action {
    group: "View",
    name: "Usual size",
    about: "Draw everything as large as at first.",
    keys: &[command(Key::Num0)],
    command: |_, _| Some(Command::Scale(Scale::default())),
    ..BLANK
};

pub const ARRANGE: Action = Action {
    group: "View",
    name: "Usual arrangement",
    about: "Put every pane back where it was at first.",
    keys: &[command_shift(Key::A)],
    command: |_, _| Some(Command::ArrangePanes),
    ..BLANK
};

pub const PALETTE: Action = Action {
    group: "Help",
    name: "All actions",
    about: "Find anything that can be done by typing a part of its name.",
    keys: &[command(Key::P), command_shift(Key::P)],
    command: |_, _| Some(Command::ShowPalette(true)),
    ..BLANK
};

pub const WELCOME: Action = Action {
    group: "Help",
    name: "Experiments worth seeing",
    about: "Show the card of the first start.",
    keys: &[plain(Key::F2)],
    command: |_, _| Some(Command::ShowWelcome(true)),
    ..BLANK
};

pub const KEYS: Action = Action {
    group: "Help",
    name: "Keys",
    about: "Show which key does what.",
    keys: &[plain(Key::Questionmark), plain(Key::F1)],
    command: |_, _| Some(Command::ShowKeys(true)),
    ..BLANK
};
