//! Commands.

use crate::app::state::drag::HoldAt;
use crate::app::state::lesson::LessonOrder;
use crate::app::state::pane_id::PaneId;
use crate::app::state::pins::Column;
use crate::app::state::save::SaveRequest;
use crate::app::state::scale::Scale;
use crate::app::state::session::Session;
use crate::app::state::travel::Travel;
use crate::app::state::view_settings::ViewSettings;
use crate::grid::GridPoint;
use crate::picture::ViewSpec;
use crate::run::{
    CutLine, MethodSpec, Milestone, RunSpec, Snapshot, SnapshotRequest, SweepRow, SweepSpec,
};
use std::path::PathBuf;
use std::sync::Arc;

/// A change that a panel, a key or a dropped file requests.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "a frame has a few of them at most")]
pub enum Command {
    /// Start another run from cycle 0, or continue the same run on another device.
    Change(RunSpec),
    /// A drag of a setting begins; it ends when the pointer is released. With the slowest values that it may reach.
    BeginDrag(Vec<MethodSpec>),
    /// What a run and the changed run have in common when their pictures are exchanged.
    HoldAt(HoldAt),
    /// Undo the last change. A run that was replaced returns with its cycles.
    Undo,
    /// Redo it.
    Redo,
    /// Run, or pause.
    Run(bool),
    /// Make this many cycles, then pause.
    Step(u64),
    /// Return to cycle 0.
    Reset,
    /// Limit the cycles per second.
    Pace(Option<f64>),
    /// Change the view settings.
    SetView(ViewSettings),
    /// Show another cycle, or replay.
    Travel(Travel),
    /// Show a cycle in this frame: while the pointer is on it.
    Preview(u64),
    /// Show the pinned run in place of the run, or not.
    Flip(bool),
    /// Pin the run.
    Pin,
    /// Pin the run, and compare its maps with those of the next one.
    Compare,
    /// Choose the pinned run whose times are the baseline of speedups.
    Baseline(usize),
    /// Unpin a run.
    Unpin(usize),
    /// Unpin every run.
    UnpinAll,
    /// Rename a pinned run.
    Rename(usize, String),
    /// Sort the pinned runs.
    SortPins(Option<(Column, bool)>),
    /// Set the bytes for keyframes.
    Memory(usize),
    /// Show the whole grid.
    ZoomOut,
    /// Set the line of the profile.
    SetProfileLine(CutLine),
    /// Add or remove a probe.
    ToggleProbe(GridPoint),
    /// Show a pane, or hide it.
    ShowPane(PaneId, bool),
    /// Show the tuning map or the panes.
    ShowTuning(bool),
    /// Control the measurement of a tuning map.
    Tune(TuningOrder),
    /// Open a setting of the tuning map.
    OpenSetting(Box<OpenSetting>),
    /// Make a run in the background, and compare the run with it.
    CompareWith(Arc<RunSpec>),
    /// Save a file of the tuning map.
    SaveSweep(PathBuf, SaveSweep),
    /// Restore the default layout.
    ResetLayout,
    /// Open or close the save dialog.
    ShowSave(bool),
    /// Open or close the open dialog.
    ShowOpen(bool),
    /// Show the dialog that opens an array as the initial guess.
    ShowOpenInitialGuess,
    /// Take a file as the initial guess of the run.
    OpenInitialGuess(PathBuf),
    /// Open or close the command palette.
    ShowPalette(bool),
    /// Open or close the keyboard shortcuts.
    ShowKeys(bool),
    /// Open or close the welcome dialog.
    ShowWelcome(bool),
    /// Run an example experiment, by index.
    RunExperiment(usize),
    /// What a reader does with lessons.
    Lesson(LessonOrder),
    /// Save a file.
    Save(Box<SaveRequest>),
    /// Request a snapshot for the preview of a file.
    RequestPreview(SnapshotRequest),
    /// Copy an image to the clipboard.
    CopyImage(Arc<[Snapshot]>, Box<ViewSpec>),
    /// Stop the animation.
    StopFilm,
    /// Copy a link that opens the run and what is shown of it.
    CopyLink,
    /// Open a run, a figure, an image or an array.
    Open(PathBuf),
    /// Choose a file with the system's dialog.
    Browse(BrowseFor),
    /// Copy text to the clipboard, and say so.
    Copy { text: String, what: &'static str },
    /// Toggle the theme.
    ToggleTheme,
    /// Set the zoom.
    Scale(Scale),
    /// Toggle the presentation mode.
    TogglePresentation,
    /// Toggle the student view.
    ToggleStudentView,
}

impl Command {
    /// Whether it replaces the run, whose cycles only undo brings back then.
    pub fn replaces_run(&self, session: &Session) -> bool {
        match self {
            Self::RunExperiment(_) | Self::Reset => true,
            Self::Change(spec) => !session.spec.is_same_run(spec),
            _ => false,
        }
    }
}

/// A setting of the tuning map, to be opened where it is worth seeing.
#[derive(Clone, Debug)]
pub struct OpenSetting {
    pub run: RunSpec,
    /// Where it is shown, and that in words.
    pub at: Milestone,
    pub about: String,
    /// The run of the best setting, to compare with, unless it is this one.
    pub best: Option<Arc<RunSpec>>,
}

/// What a file is chosen for.
#[derive(Clone, Debug)]
pub enum BrowseFor {
    /// To open one, beginning in this folder.
    Open(PathBuf),
    /// To save one, with this path as a suggestion.
    Save(PathBuf),
}

/// A file of the tuning map.
#[derive(Clone, Debug)]
pub enum SaveSweep {
    /// A figure that carries a run.
    Figure {
        svg: String,
        run: Box<RunSpec>,
    },
    Table(Vec<SweepRow>),
}

/// A change of the measurement of a tuning map.
#[derive(Clone, Debug)]
pub enum TuningOrder {
    /// Start a map, unless one is being measured.
    Begin(Box<SweepSpec>),
    /// Pause, or resume.
    Pause(bool),
    /// Stop; measured cells stay.
    Stop,
}
