//! What the window must know about a pane.

use crate::app::panes::heat_map::{HeatMap, Marks};
use crate::app::state::command::Command;
use crate::app::state::compared::Compared;
use crate::app::state::kept_range::KeptRange;
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::widgets::cells::Cells;
use crate::grid::Need;
use crate::picture::FigureKind;
use crate::run::{ObservationRequest, Report};
use eframe::egui::Ui;
use std::collections::BTreeMap;

/// Where a pane lies in the default layout. Panes of one slot lie there as tabs, in the order of
/// the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    Map,
    BelowMapLeft,
    BelowMapRight,
    TopRight,
    BottomRight,
}

/// A kind of pane. A new one is a file with a type that implements this, and one line in
/// `list::ALL`: menus, keys, layouts and the palette follow.
pub trait PaneType: Sync {
    /// Its name in the file of settings.
    fn id(&self) -> PaneId;

    /// Names that older files have for it.
    fn old_names(&self) -> &'static [&'static str] {
        &[]
    }

    /// Its title.
    fn title(&self) -> &'static str;

    /// What it shows, in one sentence.
    fn about(&self) -> &'static str;

    /// Its place in the default layout.
    fn slot(&self) -> Slot;

    /// Whether it is shown at first start. What only the others need is computed when they are shown.
    fn is_shown_at_first(&self) -> bool {
        false
    }

    /// Whether it shows what figures of this kind show.
    fn shows(&self, kind: FigureKind) -> bool;

    /// The figure that shows what it shows now; `None` while there is none.
    fn figure(&self, session: &Session) -> Option<FigureKind>;

    /// Adds what it needs to what is observed of an iterate. Called while it is on the screen.
    fn request(&self, _: &Session, _: &mut ObservationRequest) {}

    /// Marks on the heat map what it refers to. Called while it is on the screen.
    fn mark(&self, _: &Session, _: &mut Marks) {}

    /// What it needs to know of where points lie. Where that is not met, the pane says why.
    fn need(&self) -> Need {
        Need::Nothing
    }

    /// Why it has nothing to show, in one sentence; it takes no room then.
    fn why_empty(&self, _: &Session) -> Option<&'static str> {
        None
    }

    /// Whether runs like this one have it; menus offer no others.
    fn is_offered(&self, session: &Session) -> bool {
        self.need() == Need::Nothing || self.why_empty(session).is_none()
    }

    /// Draws it; changes are returned as commands.
    fn draw(&self, ui: &mut Ui, context: &mut PaneContext<'_>);
}

/// What panes draw from, and where they request changes.
pub struct PaneContext<'a> {
    pub session: &'a Session,
    pub report: Option<&'a Report>,
    /// Whether panes are shown to an audience: without titles, menus and tables.
    pub presenting: bool,
    /// Observations of pinned runs.
    pub compared: &'a [Compared],
    pub map: &'a mut HeatMap,
    pub pictures: &'a mut Pictures,
    /// What is marked on the map.
    pub marks: Marks,
    pub commands: &'a mut Vec<Command>,
}

/// The small picture of a pane, or its plot.
#[derive(Default)]
pub struct PanePicture {
    pub cells: Cells,
    /// The range of its colours, or of its y axis.
    pub range: KeptRange,
}

/// The small pictures of panes, one per pane.
#[derive(Default)]
pub struct Pictures(BTreeMap<PaneId, PanePicture>);

impl Pictures {
    /// The picture of a pane.
    pub fn of(&mut self, pane: PaneId) -> &mut PanePicture {
        self.0.entry(pane).or_default()
    }
}
