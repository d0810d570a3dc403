//! What a panel may ask for.

use crate::app::state::pane_id::PaneId;
use crate::app::state::pins::Column;
use crate::app::state::save::SaveRequest;
use crate::app::state::scale::Scale;
use crate::app::state::travel::Travel;
use crate::app::state::view_settings::ViewSettings;
use crate::picture::ViewSpec;
use crate::run::{CutLine, RunSpec, Snapshot, SnapshotRequest, SweepSpec};
use std::path::PathBuf;
use std::sync::Arc;

/// What a panel, a key or a dropped file asks for.
#[derive(Clone, Debug)]
pub enum Command {
    /// Another run, from cycle 0; or the same elsewhere, from where it is.
    Change(RunSpec),
    /// Take the last change of a setting back.
    Undo,
    /// Make it again.
    Redo,
    /// Go on, or wait.
    Run(bool),
    /// So many cycles more.
    Step(u64),
    /// Back to cycle 0.
    Reset,
    /// Cycles a second at the most.
    Pace(Option<f64>),
    /// Look at something else, or otherwise.
    Look(ViewSettings),
    /// Show another cycle, or play cycles.
    Travel(Travel),
    /// Show a cycle for as long as it is pointed at: in this frame.
    Preview(u64),
    /// Show the pinned run in the place of the run, or no longer.
    Flip(bool),
    /// Pin the run, to compare it with others.
    Pin,
    /// Let a pinned run go.
    Unpin(usize),
    /// Call a pinned run otherwise.
    Rename(usize, String),
    /// Sort the pinned runs.
    SortPins(Option<(Column, bool)>),
    /// Bytes that may be taken to keep iterates.
    Memory(usize),
    /// Show all of the grid.
    ZoomOut,
    /// Show the fields along this line.
    CutAlong(CutLine),
    /// Follow a point of the map over the cycles, or no longer.
    ToggleProbe([usize; 2]),
    /// Show a pane, or hide it.
    ShowPane(PaneId, bool),
    /// Show the tuning map in place of the panes, or the panes again.
    ShowTuning(bool),
    /// Measure a tuning map, wait, go on, or stop.
    Tune(TuningOrder),
    /// Put every pane back where it was at first.
    ArrangePanes,
    /// Open the dialog that saves files, or close it.
    ShowSave(bool),
    /// Open the dialog that opens files, or close it.
    ShowOpen(bool),
    /// Open the palette of all actions, or close it.
    ShowPalette(bool),
    /// Open the sheet of keys, or close it.
    ShowKeys(bool),
    /// Show the GPU with experiments worth seeing, or close it.
    ShowWelcome(bool),
    /// Make one of them, by its place among them.
    Try(usize),
    /// Save a file.
    Save(Box<SaveRequest>),
    /// Look at the run for the preview of a file.
    LookForFile(SnapshotRequest),
    /// Put a picture on the clipboard.
    CopyImage(Arc<[Snapshot]>, Box<ViewSpec>),
    /// Make the animation no further.
    StopFilm,
    /// Open a run file, a figure, a picture or an array.
    Open(PathBuf),
    /// Put text on the clipboard, and say so.
    Copy { text: String, what: &'static str },
    /// A light window instead of a dark one, or the other way round.
    SwitchTheme,
    /// Draw everything larger or smaller.
    Scale(Scale),
    /// The map and its curves as large as the window has room for, or all as before.
    Present,
}

/// What is wanted of the measurement.
#[derive(Clone, Debug)]
pub enum TuningOrder {
    /// Begin a map, unless one is under way.
    Begin(Box<SweepSpec>),
    /// Wait, or go on.
    Pause(bool),
    /// Stop for good; what was measured stays.
    Stop,
}
