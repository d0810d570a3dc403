//! The panes on the screen: they are dragged by their titles to other places, laid over one another as
//! tabs, hidden and shown again.

use crate::app::panes::heat_map::Marks;
use crate::app::panes::layout::Layout;
use crate::app::panes::pane_type::{PaneContext, PaneType};
use crate::app::panes::{convergence, heat_map, list, pinned};
use crate::app::state::command::Command;
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::widgets::labels::named;
use crate::picture::{FigureKind, PlacedFigure};
use crate::run::ObservationRequest;
use eframe::egui::{
    self, Color32, Rect, Response, RichText, Sense, Stroke, Ui, Visuals, WidgetInfo, WidgetText,
    accesskit::Role,
};
use egui_tiles::{Behavior, SimplificationOptions, Tabs, TileId, Tiles, Tree, UiResponse};
use std::collections::BTreeSet;

/// Margin around the contents of a pane, in points.
const MARGIN: i8 = 8;

/// Smallest side of a pane, in points.
const MIN_SIDE: f32 = 160.0;

/// The panes and their layout.
pub struct Panes {
    tree: Tree<PaneId>,
    hidden: BTreeSet<PaneId>,
}

impl Default for Panes {
    fn default() -> Self {
        Self { tree: Layout::default().tree(), hidden: list::hidden_at_first().collect() }
    }
}

impl Panes {
    /// The panes of the student view: the map and its curve.
    pub fn of_student() -> Self {
        let shown = [heat_map::pane::ID, convergence::ID];
        let all = list::ALL.iter().map(|pane| pane.id());
        Self { hidden: all.filter(|pane| !shown.contains(pane)).collect(), ..Self::default() }
    }

    /// The panes of the presentation mode: the same, with more room for the map.
    pub fn presented() -> Self {
        Self { tree: Layout::presented().tree(), ..Self::of_student() }
    }

    /// The panes of a step of a lesson: the map and those that show these figures; without any, the map and
    /// its curve.
    pub fn of_lesson(figures: &[FigureKind], presenting: bool) -> Self {
        let mut panes = if presenting { Self::presented() } else { Self::of_student() };
        if !figures.is_empty() {
            panes.show(convergence::ID, false);
        }
        for &figure in figures {
            panes.show(list::of_figure(figure), true);
        }
        panes
    }

    /// Whether a pane is not hidden.
    pub fn is_shown(&self, pane: PaneId) -> bool {
        !self.hidden.contains(&pane)
    }

    /// The hidden panes.
    pub fn hidden(&self) -> &BTreeSet<PaneId> {
        &self.hidden
    }

    /// Whether a pane was on the screen in the last frame.
    pub fn is_visible(&self, pane: PaneId) -> bool {
        self.tree.tiles.find_pane(&pane).is_some_and(|tile| self.tree.tiles.rect(tile).is_some())
    }

    /// The panes that are on the screen.
    fn seen(&self) -> impl Iterator<Item = &'static dyn PaneType> {
        list::ALL.iter().copied().filter(|pane| self.is_visible(pane.id()))
    }

    /// What is marked on the map for the panes on the screen.
    pub fn marks(&self, session: &Session) -> Marks {
        let mut marks = Marks::default();
        self.seen().for_each(|pane| pane.mark(session, &mut marks));
        marks
    }

    /// Adds what the panes on the screen need to what is observed of an iterate.
    pub fn request(&self, session: &Session, request: &mut ObservationRequest) {
        self.seen().for_each(|pane| pane.request(session, request));
    }

    /// The panes that are on the screen and can be drawn as figures, as shares of the area that they
    /// fill.
    pub fn places(&self, session: &Session) -> Vec<PlacedFigure> {
        let seen = list::ALL.iter().filter_map(|pane| {
            let kind = pane.figure(session)?;
            let tile = self.tree.tiles.find_pane(&pane.id())?;
            Some((kind, self.tree.tiles.rect(tile)?))
        });
        let seen: Vec<_> = seen.collect();
        let whole = seen.iter().fold(Rect::NOTHING, |whole, (_, rect)| whole.union(*rect));
        let place = |(kind, rect): (FigureKind, Rect)| {
            let start = (rect.min - whole.min) / whole.size();
            let size = rect.size() / whole.size();
            PlacedFigure { kind, area: [start.x, start.y, size.x, size.y] }
        };
        seen.into_iter().map(place).collect()
    }

    /// Shows a pane in front of its tabs, or hides it.
    pub fn show(&mut self, pane: PaneId, shown: bool) {
        if shown {
            self.hidden.remove(&pane);
            let tile = self.tree.tiles.find_pane(&pane);
            self.tree.make_active(|id, _| Some(id) == tile);
        } else {
            self.hidden.insert(pane);
        }
    }

    /// Brings the pinned runs to the front of their tabs, unless they are hidden.
    pub fn show_pinned(&mut self) {
        if self.is_shown(pinned::ID) {
            self.show(pinned::ID, true);
        }
    }

    /// Lays the panes out, and hides some of them.
    pub fn arrange(&mut self, layout: &Layout, hidden: impl IntoIterator<Item = PaneId>) {
        self.tree = layout.tree();
        self.hidden = hidden.into_iter().collect();
    }

    /// The current layout.
    pub fn layout(&self) -> Option<Layout> {
        Layout::of(&self.tree)
    }

    /// Draws the panes.
    pub fn ui(&mut self, ui: &mut Ui, mut context: PaneContext<'_>) {
        let area = ui.available_rect_before_wrap();
        for pane in list::ALL {
            if let Some(tile) = self.tree.tiles.find_pane(&pane.id()) {
                let is_empty = pane.why_empty(context.session).is_some();
                self.tree.set_visible(tile, self.is_shown(pane.id()) && !is_empty);
            }
        }
        self.tree.ui(&mut context, ui);
        if !self.is_visible(heat_map::pane::ID) {
            context.map.leave();
        }
        if self.seen().next().is_none() {
            let text = "All panes are hidden. The View menu shows them again.";
            ui.put(area, egui::Label::new(RichText::new(text).weak()));
        }
    }
}

impl Behavior<PaneId> for PaneContext<'_> {
    fn pane_ui(&mut self, ui: &mut Ui, _: TileId, pane: &mut PaneId) -> UiResponse {
        let Some(pane) = list::of_id(*pane) else {
            return UiResponse::None;
        };
        // A screen reader finds the pane by its title, and so do tests.
        let region = ui.interact(ui.max_rect(), ui.scope_id().with("pane"), Sense::hover());
        region.widget_info(|| WidgetInfo::labeled(Role::Region, true, pane.title()));
        egui::Frame::new().inner_margin(MARGIN).show(ui, |ui| {
            // Before the first report nothing is known of the grid, and nothing is drawn that needs it.
            let plan = self.report.map(|report| &report.plan);
            match plan.map_or(Ok(()), |plan| pane.need().check(plan.geometry().as_ref())) {
                Ok(()) => pane.draw(ui, self),
                Err(why) => _ = ui.label(RichText::new(why).weak()),
            }
        });
        UiResponse::None
    }

    fn tab_title_for_pane(&mut self, pane: &PaneId) -> WidgetText {
        list::of_id(*pane).map_or("", |pane| pane.title()).into()
    }

    fn on_tab_button(
        &mut self,
        tiles: &mut Tiles<PaneId>,
        tile: TileId,
        tab: Response,
    ) -> Response {
        let pane = tiles.get_pane(&tile).and_then(|pane| list::of_id(*pane));
        let about = pane.map_or("Panes in tabs.", |pane| pane.about());
        tab.on_hover_text(format!("{about} Drag the title to move the pane."))
    }

    fn top_bar_right_ui(
        &mut self,
        tiles: &Tiles<PaneId>,
        ui: &mut Ui,
        _: TileId,
        tabs: &Tabs,
        _: &mut f32,
    ) {
        let active = tabs.active.and_then(|tile| tiles.get_pane(&tile));
        let Some(pane) = active.and_then(|pane| list::of_id(*pane)) else {
            return;
        };
        let hide =
            named(ui.add(egui::Button::new("×").frame(false)), &format!("Hide {}", pane.title()));
        if hide.on_hover_text("Hide this pane. The View menu shows it again.").clicked() {
            self.commands.push(Command::ShowPane(pane.id(), false));
        }
    }

    fn simplification_options(&self) -> SimplificationOptions {
        // A pane is dragged by its title.
        SimplificationOptions { all_panes_must_have_tabs: true, ..Default::default() }
    }

    fn min_size(&self) -> f32 {
        MIN_SIDE
    }

    fn is_tab_bar_visible(&self, _: TileId, _: &Tabs) -> bool {
        !self.presenting
    }

    fn tab_bar_color(&self, visuals: &Visuals) -> Color32 {
        visuals.faint_bg_color
    }

    fn tab_outline_stroke(
        &self,
        _: &Visuals,
        _: &Tiles<PaneId>,
        _: TileId,
        _: &egui_tiles::TabState,
    ) -> Stroke {
        Stroke::NONE
    }

    fn resize_stroke(&self, style: &egui::Style, state: egui_tiles::ResizeState) -> Stroke {
        match state {
            egui_tiles::ResizeState::Idle => style.visuals.widgets.noninteractive.bg_stroke,
            egui_tiles::ResizeState::Hovering => style.visuals.widgets.hovered.fg_stroke,
            egui_tiles::ResizeState::Dragging => style.visuals.widgets.active.fg_stroke,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pane_that_was_hidden_is_shown_again_in_front() {
        let mut panes = Panes::default();
        for pane in list::ALL {
            let id = pane.id();
            assert_eq!(panes.is_shown(id), pane.is_shown_at_first());
            panes.show(id, false);
            assert!(!panes.is_shown(id));
            panes.show(id, true);
            assert!(panes.is_shown(id));
        }
    }
}
