//! Actions that are written out one by one.

use crate::app::actions::action::{
    Action, ActionContext, BLANK, changed_view, command, command_shift, plain, shift,
};
use crate::app::state::command::Command;
use crate::app::state::devices;
use crate::app::state::lesson::LessonOrder;
use crate::app::state::scale::Scale;
use crate::grid::Slice;
use crate::run::{InitialGuess, ProblemKind, RunSpec};
use crate::solver::Acceleration;
use eframe::egui::Key;

pub const RUN: Action = Action {
    group: "Run",
    name: "Run / pause",
    about: "Start the run, or pause it.",
    keys: &[plain(Key::Space)],
    command: |it, _| it.can_continue().then_some(Command::Run(!it.session.running)),
    ..BLANK
};

pub const SIMULATED_DEVICES: Action = Action {
    group: "Run",
    name: "Simulated devices",
    about: "Share the grid or the matrix among four simulated devices, or return to one.",
    keys: &[shift(Key::D)],
    command: |it, _| {
        let mut spec = RunSpec::clone(&it.session.spec);
        match spec.method.simulate_devices {
            Some(_) => devices::leave(&mut spec.method),
            None if spec.why_no_devices().is_some() => return None,
            None => devices::begin(&mut spec),
        }
        Some(Command::Change(spec))
    },
    ..BLANK
};

pub const STEP: Action = Action {
    group: "Run",
    name: "Step",
    about: "Run one cycle, then pause.",
    keys: &[plain(Key::ArrowRight)],
    command: |it, _| it.forward(1),
    ..BLANK
};

pub const FORWARD_10: Action = Action {
    group: "Time",
    name: "Forward 10 cycles",
    about: "Show the tenth cycle after this one; at the newest cycle, run ten more.",
    keys: &[shift(Key::ArrowRight)],
    which: 10,
    command: |it, cycles| it.forward(cycles as u64),
    ..BLANK
};

pub const FORWARD_100: Action = Action {
    name: "Forward 100 cycles",
    about: "Show the hundredth cycle after this one; at the newest cycle, run a hundred more.",
    keys: &[command(Key::ArrowRight)],
    which: 100,
    ..FORWARD_10
};

pub const BACK: Action = Action {
    group: "Time",
    name: "Back 1 cycle",
    about: "Show the cycle before this one.",
    keys: &[plain(Key::ArrowLeft)],
    which: 1,
    command: |it, cycles| it.back(cycles as u64),
    ..BLANK
};

pub const BACK_10: Action = Action {
    name: "Back 10 cycles",
    about: "Show the tenth cycle before this one.",
    keys: &[shift(Key::ArrowLeft)],
    which: 10,
    ..BACK
};

pub const BACK_100: Action = Action {
    name: "Back 100 cycles",
    about: "Show the hundredth cycle before this one.",
    keys: &[command(Key::ArrowLeft)],
    which: 100,
    ..BACK
};

pub const INITIAL_GUESS: Action = Action {
    group: "Time",
    name: "Initial guess",
    about: "Show the initial guess.",
    keys: &[plain(Key::Home)],
    command: |it, _| Some(Command::Travel(it.session.travel.to(0, it.latest()))),
    ..BLANK
};

pub const LIVE: Action = Action {
    group: "Time",
    name: "Live",
    about: "Show the newest cycle, and follow the run.",
    keys: &[plain(Key::End)],
    command: |it, _| {
        let (travel, latest) = (it.session.travel, it.latest());
        travel.at.map(|_| Command::Travel(travel.to(latest, latest)))
    },
    ..BLANK
};

pub const PLAY: Action = Action {
    group: "Time",
    name: "Replay / stop",
    about: "Replay the cycles made so far, or stop.",
    keys: &[shift(Key::Space)],
    command: |it, _| {
        let (travel, latest) = (it.session.travel, it.latest());
        (latest > 0).then(|| Command::Travel(travel.play(!travel.playing, latest)))
    },
    ..BLANK
};

pub const PIN: Action = Action {
    group: "Compare",
    name: "Pin run",
    about: "Keep the run as it is now, to compare others with it.",
    keys: &[plain(Key::P)],
    command: |_, _| Some(Command::Pin),
    ..BLANK
};

pub const UNPIN_ALL: Action = Action {
    group: "Compare",
    name: "Unpin all runs",
    about: "Forget the pinned runs and their cycles.",
    keys: &[command_shift(Key::U)],
    command: |it, _| (!it.session.pins.all().is_empty()).then_some(Command::UnpinAll),
    ..BLANK
};

pub const COMPARE: Action = Action {
    group: "Compare",
    name: "Compare",
    about: "Pin the run, and compare the map of the next one with it: by a wipe, side by side, by flipping, or as a difference.",
    keys: &[shift(Key::P)],
    command: |_, _| Some(Command::Compare),
    ..BLANK
};

/// Held rather than pressed, without a command: the window checks whether the key is down.
pub const FLIP: Action = Action {
    group: "Compare",
    name: "Flip (hold)",
    about: "Show the pinned run instead of this one while the key is held down.",
    keys: &[plain(Key::F)],
    command: |_, _| None,
    ..BLANK
};

pub const RESET: Action = Action {
    group: "Run",
    name: "Reset",
    about: "Return to cycle 0, and pause; undo brings the cycles back.",
    keys: &[plain(Key::R)],
    command: |_, _| Some(Command::Reset),
    ..BLANK
};

pub const UNDO: Action = Action {
    group: "Edit",
    name: "Undo",
    about: "Undo the last change; a run that was replaced returns with its cycles.",
    keys: &[command(Key::Z)],
    command: |it, _| it.undo.can_undo(it.session).then_some(Command::Undo),
    ..BLANK
};

pub const REDO: Action = Action {
    group: "Edit",
    name: "Redo",
    about: "Redo the change that was undone.",
    keys: &[command_shift(Key::Z), command(Key::Y)],
    command: |it, _| it.undo.can_redo().then_some(Command::Redo),
    ..BLANK
};

pub const OPEN: Action = Action {
    group: "File",
    name: "Open …",
    about: "Open a run, a figure, or an image or an array as the right-hand side.",
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
    about: if cfg!(target_arch = "wasm32") {
        "Copy the command line that repeats this run. A browser has none: enter it in a terminal where Tilescope is installed."
    } else {
        "Copy the command line that repeats this run."
    },
    keys: &[command_shift(Key::C)],
    command: |it, _| {
        let text = crate::run::command_line(&it.session.spec);
        Some(Command::Copy { text, what: "Command line" })
    },
    ..BLANK
};

/// Only where the window is in a page.
pub const COPY_LINK: Action = Action {
    group: "File",
    name: "Copy link",
    about: "Copy a link that opens this run and what is shown of it.",
    keys: &[command_shift(Key::L)],
    command: |_, _| Some(Command::CopyLink),
    ..BLANK
};

pub const ZERO_GUESS: Action = Action {
    group: "Problem",
    name: "Toggle initial guess of zero",
    about: "Start from 0 everywhere, or from the problem's own initial guess; the Problem panel then shows the value.",
    keys: &[shift(Key::Z)],
    command: |it, _| {
        let mut spec = RunSpec::clone(&it.session.spec);
        let problem = &mut spec.problem;
        if problem.kind == ProblemKind::Matrix {
            return None;
        }
        let is_own = problem.initial.is_none();
        problem.initial = is_own.then_some(InitialGuess::Value(0.0));
        // A run has one initial guess.
        problem.hot_box = None;
        Some(Command::Change(spec))
    },
    ..BLANK
};

pub const OPEN_GUESS: Action = Action {
    group: "Problem",
    name: "Open initial guess …",
    about: "Open an array in the shape of the grid as the initial guess.",
    keys: &[command_shift(Key::O)],
    command: |_, _| Some(Command::ShowOpenInitialGuess),
    ..BLANK
};

pub const BORDERS: Action = Action {
    group: "Heat map",
    name: "Tile borders",
    about: "Show or hide tile borders on the map.",
    keys: &[plain(Key::B)],
    command: |it, _| changed_view(it, |view| view.borders = !view.borders),
    ..BLANK
};

pub const WHOLE_GRID: Action = Action {
    group: "Heat map",
    name: "Whole grid",
    about: "Show the whole grid; a double click on the map does the same.",
    keys: &[plain(Key::W)],
    command: |_, _| Some(Command::ZoomOut),
    ..BLANK
};

pub const NEXT_SLICE: Action = Action {
    group: "Heat map",
    name: "Next slice",
    about: "Show the next slice of a 3D grid along its axis.",
    keys: &[plain(Key::I)],
    command: |it, _| other_slice(it, |index| index.checked_add(1)),
    ..BLANK
};

pub const PREVIOUS_SLICE: Action = Action {
    name: "Previous slice",
    about: "Show the slice of a 3D grid before this one.",
    keys: &[shift(Key::I)],
    command: |it, _| other_slice(it, |index| index.checked_sub(1)),
    ..NEXT_SLICE
};

/// The command that shows another slice, if the grid has it.
fn other_slice(
    it: &ActionContext<'_>,
    index: impl FnOnce(usize) -> Option<usize>,
) -> Option<Command> {
    let shape = &it.report.as_ref()?.plan.problem.shape;
    let slice = Slice::shown(it.session.view.slice, shape)?;
    let slice = Slice { index: index(slice.index)?, ..slice };
    slice.check(shape).ok()?;
    changed_view(it, |view| (view.slice, view.projection) = (Some(slice), false))
}

pub const PROBE: Action = Action {
    group: "Heat map",
    name: "Probe",
    about: "Add a probe at the point under the cursor, or remove it.",
    keys: &[plain(Key::D)],
    command: |it, _| it.pointed_at.map(Command::ToggleProbe),
    ..BLANK
};

pub const CLASSIC: Action = Action {
    group: "Curves",
    name: "Classic Jacobi as reference",
    about: "Run classic Jacobi on the same problem in the background, as a reference.",
    keys: &[plain(Key::J)],
    command: |it, _| changed_view(it, |view| view.reference = !view.reference),
    ..BLANK
};

pub const CHEBYSHEV: Action = Action {
    name: "Chebyshev as reference",
    about: "Run Chebyshev-accelerated Jacobi on the same system in the background, as a reference.",
    keys: &[shift(Key::J)],
    command: |it, _| toggled(it, Acceleration::Chebyshev),
    ..CLASSIC
};

pub const CONJUGATE_GRADIENTS: Action = Action {
    name: "Conjugate gradients as reference",
    about: "Run conjugate gradients on the same system in the background, as a reference.",
    keys: &[command(Key::J)],
    command: |it, _| toggled(it, Acceleration::ConjugateGradients),
    ..CLASSIC
};

/// Shows a reference curve beside that of classic Jacobi, or hides it.
fn toggled(it: &ActionContext<'_>, acceleration: Acceleration) -> Option<Command> {
    changed_view(it, |view| {
        if !view.accelerations.remove(&acceleration) {
            view.accelerations.insert(acceleration);
        }
    })
}

pub const ASYMPTOTIC_RATE: Action = Action {
    name: "Asymptotic rate",
    about: "Draw the slope that the curve approaches, through its last point, and show how many sweeps a digit takes. It is known from theory where a cycle equals sweeps of Jacobi's iteration, and measured otherwise.",
    keys: &[command_shift(Key::J)],
    command: |it, _| changed_view(it, |view| view.asymptotic_rate = !view.asymptotic_rate),
    ..CLASSIC
};

pub const THEME: Action = Action {
    group: "View",
    name: "Toggle theme",
    about: "Switch between the dark and the light theme.",
    keys: &[command(Key::T)],
    command: |_, _| Some(Command::ToggleTheme),
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

pub const PRESENTATION: Action = Action {
    group: "View",
    name: "Presentation mode",
    about: "Show the map and its curves as large as the window allows, for an audience; or leave this mode.",
    keys: &[plain(Key::F9)],
    command: |_, _| Some(Command::TogglePresentation),
    ..BLANK
};

pub const STUDENT_VIEW: Action = Action {
    group: "View",
    name: "Student view",
    about: "Show only the map, its curve and the sliders of the method, and the rest under “More”; or show everything again.",
    keys: &[plain(Key::F8)],
    command: |it, _| (!it.scale.presenting).then_some(Command::ToggleStudentView),
    ..BLANK
};

pub const ZOOM_IN: Action = Action {
    group: "View",
    name: "Zoom in",
    about: "Make everything larger, as far as the window allows.",
    keys: &[command(Key::Plus), command(Key::Equals)],
    command: |it, _| it.scale.larger(it.window).map(Command::Scale),
    ..BLANK
};

pub const ZOOM_OUT: Action = Action {
    group: "View",
    name: "Zoom out",
    about: "Make everything smaller.",
    keys: &[command(Key::Minus)],
    command: |it, _| it.scale.smaller().map(Command::Scale),
    ..BLANK
};

pub const RESET_ZOOM: Action = Action {
    group: "View",
    name: "Reset zoom",
    about: "Restore the default size.",
    keys: &[command(Key::Num0)],
    command: |_, _| Some(Command::Scale(Scale::default())),
    ..BLANK
};

pub const RESET_LAYOUT: Action = Action {
    group: "View",
    name: "Reset layout",
    about: "Restore the default layout of the panes.",
    keys: &[command_shift(Key::A)],
    command: |_, _| Some(Command::ResetLayout),
    ..BLANK
};

pub const PALETTE: Action = Action {
    group: "Help",
    name: "Command palette",
    about: "Search all commands by name.",
    keys: &[command(Key::P), command_shift(Key::P)],
    command: |_, _| Some(Command::ShowPalette(true)),
    ..BLANK
};

pub const WELCOME: Action = Action {
    group: "Help",
    name: "Example experiments",
    about: "Show five example experiments.",
    keys: &[plain(Key::F2)],
    command: |_, _| Some(Command::ShowWelcome(true)),
    ..BLANK
};

pub const LESSONS: Action = Action {
    group: "Help",
    name: "Lessons",
    about: "Show the lessons: why hierarchical Jacobi iteration works, a few minutes each.",
    keys: &[plain(Key::F4)],
    command: |_, _| Some(Command::Lesson(LessonOrder::ShowList(true))),
    ..BLANK
};

pub const NEXT_STEP: Action = Action {
    group: "Help",
    name: "Lesson: next step",
    about: "Show the next step of the lesson; after the last one, leave it.",
    keys: &[plain(Key::PageDown)],
    command: |it, _| {
        let lesson = it.session.lesson.as_ref()?;
        Some(Command::Lesson(match lesson.is_last() {
            true => LessonOrder::Leave,
            false => LessonOrder::Step(lesson.step + 1),
        }))
    },
    ..BLANK
};

pub const PREVIOUS_STEP: Action = Action {
    name: "Lesson: previous step",
    about: "Show the step before this one.",
    keys: &[plain(Key::PageUp)],
    command: |it, _| {
        let before = it.session.lesson.as_ref()?.step.checked_sub(1)?;
        Some(Command::Lesson(LessonOrder::Step(before)))
    },
    ..NEXT_STEP
};

pub const LEAVE_LESSON: Action = Action {
    name: "Lesson: leave",
    about: "Return to the run, the panes and the colours before the lesson.",
    keys: &[shift(Key::F4)],
    command: |it, _| {
        it.session.lesson.as_ref()?;
        Some(Command::Lesson(LessonOrder::Leave))
    },
    ..NEXT_STEP
};

pub const KEYS: Action = Action {
    group: "Help",
    name: "Keyboard and mouse",
    about: "Show keyboard shortcuts and mouse gestures.",
    keys: &[plain(Key::Questionmark), plain(Key::F1)],
    command: |_, _| Some(Command::ShowKeys(true)),
    ..BLANK
};
