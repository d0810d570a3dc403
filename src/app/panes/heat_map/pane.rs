//! The heat map as a pane.

use crate::app::panes::pane_type::{PaneContext, PaneType, Slot};
use crate::app::state::compare::How;
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::grid::Need;
use crate::picture::FigureKind;
use eframe::egui::Ui;

/// The field as colours.
pub struct HeatMapPane;

/// Its name in files.
pub const ID: PaneId = PaneId("heat-map");

impl PaneType for HeatMapPane {
    fn id(&self) -> PaneId {
        ID
    }

    fn title(&self) -> &'static str {
        "Heat map"
    }

    fn about(&self) -> &'static str {
        "The field as colours, with tile borders and the value under the cursor."
    }

    fn slot(&self) -> Slot {
        Slot::Map
    }

    fn is_shown_at_first(&self) -> bool {
        true
    }

    fn shows(&self, kind: FigureKind) -> bool {
        kind.is_map() || kind == FigureKind::ARRANGEMENT
    }

    fn figure(&self, session: &Session) -> Option<FigureKind> {
        let is_beside =
            session.view.compare.how == How::SideBySide && !session.pins.all().is_empty();
        Some(if is_beside { FigureKind::SIDE_BY_SIDE } else { FigureKind::HEAT_MAP })
    }

    fn need(&self) -> Need {
        Need::Grid
    }

    fn draw(&self, ui: &mut Ui, context: &mut PaneContext<'_>) {
        let PaneContext { session, report, presenting, compared, map, marks, commands, .. } =
            context;
        map.ui(ui, session, *report, *presenting, compared, *marks, commands);
    }
}
