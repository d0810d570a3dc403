//! The panes between the panels: what each shows, and where it lies. A person drags them by their
//! titles to other places, lays them over one another as tabs, hides them and shows them again.

mod convergence;
mod distance;
mod edge_share;
pub mod heat_map;
mod inside;
mod layout;
mod mean_tile;
mod pinned;
mod probes;
mod profile;

use crate::app::actions;
use crate::app::actions::entry;
use crate::app::panes::heat_map::{HeatMap, Marks};
use crate::app::state::command::Command;
use crate::app::state::compare::{Compared, How};
use crate::app::state::session::Session;
use crate::app::widgets::cells::Cells;
use crate::app::widgets::labels::named;
use crate::app::widgets::theme;
use crate::picture::{FigureKind, Place};
use crate::run::Report;
use crate::solver::Followed;
use eframe::egui::{
    self, Color32, Key, KeyboardShortcut, Modifiers, Rect, Response, Stroke, Ui, Visuals,
    WidgetText,
};
use egui_tiles::{Behavior, SimplificationOptions, Tabs, TileId, Tiles, Tree, UiResponse};
pub use layout::Layout;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Room around what a pane shows, in points.
const MARGIN: i8 = 8;

/// No pane is dragged smaller than this, in points.
const LEAST_SIDE: f32 = 160.0;

/// What a pane shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pane {
    HeatMap,
    Convergence,
    Cut,
    MeanTile,
    Distance,
    EdgeShare,
    Probes,
    Inside,
    Pinned,
}

impl Pane {
    /// Every pane, in the order of menus.
    pub const ALL: [Self; 9] = [
        Self::HeatMap,
        Self::Convergence,
        Self::Cut,
        Self::MeanTile,
        Self::Distance,
        Self::EdgeShare,
        Self::Probes,
        Self::Inside,
        Self::Pinned,
    ];

    /// The panes at first start; what is found out for the others is found out when they are shown.
    const FIRST: [Self; 4] = [Self::HeatMap, Self::Convergence, Self::Cut, Self::Pinned];

    /// The panes that are not shown at first start.
    pub fn hidden_at_first() -> Vec<Self> {
        Self::ALL.into_iter().filter(|pane| !Self::FIRST.contains(pane)).collect()
    }

    /// The pane that shows what figures of this kind show.
    pub fn of(kind: FigureKind) -> Self {
        match kind {
            FigureKind::Curves => Self::Convergence,
            FigureKind::Profile => Self::Cut,
            FigureKind::MeanTile => Self::MeanTile,
            FigureKind::Distance => Self::Distance,
            FigureKind::EdgeShare => Self::EdgeShare,
            FigureKind::Probes => Self::Probes,
            FigureKind::Inside => Self::Inside,
            FigureKind::Runs => Self::Pinned,
            FigureKind::HeatMap
            | FigureKind::SideBySide
            | FigureKind::SpaceTime
            | FigureKind::Arrangement
            | FigureKind::BareMap => Self::HeatMap,
        }
    }

    /// Its title.
    pub fn label(self) -> &'static str {
        match self {
            Self::HeatMap => "Heat map",
            Self::Convergence => "Convergence",
            Self::Cut => "Along the cut",
            Self::MeanTile => "Mean tile",
            Self::Distance => "By distance",
            Self::EdgeShare => "Edge share",
            Self::Probes => "Probes",
            Self::Inside => "Inside a cycle",
            Self::Pinned => "Pinned runs",
        }
    }

    /// What it shows, in one sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::HeatMap => {
                "The field as colours, with tile borders and the value under the cursor."
            }
            Self::Convergence => "The norms of the run over its cycles, beside classic Jacobi's.",
            Self::Cut => "Fields along a line over the map, with tile borders.",
            Self::MeanTile => {
                "The field's magnitude folded onto one tile: the mean over all tiles."
            }
            Self::Distance => {
                "The field's magnitude against the distance from the nearest tile border: median and quartiles."
            }
            Self::EdgeShare => "How much of ‖r‖² lies near tile borders, over the cycles.",
            Self::Probes => {
                "The field at single points over the cycles; D over the map, or a right click, drops one."
            }
            Self::Inside => {
                "The subiterations of one tile, one by one: how the frozen ring makes points lag. A click on the map chooses the tile."
            }
            Self::Pinned => "The runs that were pinned, side by side in numbers.",
        }
    }

    /// The key that shows and hides it.
    pub fn keys(self) -> &'static [KeyboardShortcut] {
        const fn key(key: Key) -> KeyboardShortcut {
            KeyboardShortcut::new(Modifiers::COMMAND, key)
        }
        match self {
            Self::HeatMap => const { &[key(Key::Num1)] },
            Self::Convergence => const { &[key(Key::Num2)] },
            Self::Cut => const { &[key(Key::Num3)] },
            Self::MeanTile => const { &[key(Key::Num4)] },
            Self::Distance => const { &[key(Key::Num5)] },
            Self::EdgeShare => const { &[key(Key::Num6)] },
            Self::Probes => const { &[key(Key::Num7)] },
            Self::Inside => const { &[key(Key::Num8)] },
            Self::Pinned => const { &[key(Key::Num9)] },
        }
    }

    /// Whether it has anything to show; otherwise it takes no room.
    fn suits(self, session: &Session) -> bool {
        self != Self::Pinned || !session.pins.all().is_empty()
    }
}

/// The panes as they lie.
pub struct Panes {
    tree: Tree<Pane>,
    hidden: BTreeSet<Pane>,
}

/// What panes draw, and whom they ask for what is to change.
pub struct PaneContext<'a> {
    pub session: &'a Session,
    pub report: Option<&'a Report>,
    /// What is seen of pinned runs.
    pub compared: &'a [Compared],
    pub map: &'a mut HeatMap,
    pub pictures: &'a mut Pictures,
    /// What is marked on the map.
    pub marks: Marks,
    pub commands: &'a mut Vec<Command>,
}

/// The small pictures beside the map.
#[derive(Default)]
pub struct Pictures {
    mean_tile: Cells,
    inside: Cells,
}

impl Default for Panes {
    fn default() -> Self {
        let hidden = Pane::hidden_at_first().into_iter().collect();
        Self { tree: Layout::usual().tree(), hidden }
    }
}

impl Panes {
    /// The panes at the start of a presentation.
    pub fn presented() -> Self {
        let shown = [Pane::HeatMap, Pane::Convergence];
        let hidden = Pane::ALL.into_iter().filter(|pane| !shown.contains(pane)).collect();
        Self { hidden, ..Self::default() }
    }

    /// Whether a pane is among those that a person wants to see.
    pub fn is_wanted(&self, pane: Pane) -> bool {
        !self.hidden.contains(&pane)
    }

    /// Whether a pane was on the screen in the last frame.
    pub fn is_seen(&self, pane: Pane) -> bool {
        self.tree.tiles.find_pane(&pane).is_some_and(|tile| self.tree.tiles.rect(tile).is_some())
    }

    /// What is marked on the map for the panes that are seen.
    pub fn marks(&self, session: &Session) -> Marks {
        let is_plane = session.spec.problem.shape.len() > 1;
        let followed = match session.followed() {
            Followed::Tile(tile) => Some(tile),
            Followed::Line => None,
        };
        Marks {
            cut: (is_plane && self.is_seen(Pane::Cut)).then(|| session.cut_line()),
            tile: followed.filter(|_| self.is_seen(Pane::Inside)),
        }
    }

    /// The panes that are seen and can be drawn as figures, as shares of the area that they fill.
    pub fn places(&self, session: &Session) -> Vec<Place> {
        let is_beside =
            session.look.compare.how == How::SideBySide && !session.pins.all().is_empty();
        let seen = Pane::ALL.into_iter().filter_map(|pane| {
            let kind = match pane {
                Pane::HeatMap if is_beside => FigureKind::SideBySide,
                Pane::HeatMap => FigureKind::HeatMap,
                Pane::Convergence => FigureKind::Curves,
                Pane::Cut => FigureKind::Profile,
                Pane::MeanTile => FigureKind::MeanTile,
                Pane::Distance => FigureKind::Distance,
                Pane::EdgeShare => FigureKind::EdgeShare,
                Pane::Probes if session.look.probes.is_empty() => return None,
                Pane::Probes => FigureKind::Probes,
                Pane::Inside => FigureKind::Inside,
                Pane::Pinned if session.pins.all().is_empty() => return None,
                Pane::Pinned => FigureKind::Runs,
            };
            let tile = self.tree.tiles.find_pane(&pane)?;
            Some((kind, self.tree.tiles.rect(tile)?))
        });
        let seen: Vec<_> = seen.collect();
        let whole = seen.iter().fold(Rect::NOTHING, |whole, (_, rect)| whole.union(*rect));
        let place = |(kind, rect): (FigureKind, Rect)| {
            let start = (rect.min - whole.min) / whole.size();
            let size = rect.size() / whole.size();
            Place { kind, area: [start.x, start.y, size.x, size.y] }
        };
        seen.into_iter().map(place).collect()
    }

    /// Shows a pane, before those that it shares its place with, or hides it.
    pub fn show(&mut self, pane: Pane, shown: bool) {
        if shown {
            self.hidden.remove(&pane);
            let tile = self.tree.tiles.find_pane(&pane);
            self.tree.make_active(|id, _| Some(id) == tile);
        } else {
            self.hidden.insert(pane);
        }
    }

    /// Puts the pinned runs before the panes that they share their place with, unless they are
    /// hidden.
    pub fn show_pinned(&mut self) {
        if self.is_wanted(Pane::Pinned) {
            self.show(Pane::Pinned, true);
        }
    }

    /// Lays the panes out, and hides those.
    pub fn arrange(&mut self, layout: &Layout, hidden: &[Pane]) {
        self.tree = layout.tree();
        self.hidden = hidden.iter().copied().collect();
    }

    /// Where the panes lie.
    pub fn layout(&self) -> Option<Layout> {
        Layout::of(&self.tree)
    }

    /// Draws the panes.
    pub fn ui(&mut self, ui: &mut Ui, mut desk: PaneContext<'_>) {
        let area = ui.available_rect_before_wrap();
        for pane in Pane::ALL {
            if let Some(tile) = self.tree.tiles.find_pane(&pane) {
                self.tree.set_visible(tile, self.is_wanted(pane) && pane.suits(desk.session));
            }
        }
        self.tree.ui(&mut desk, ui);
        if !self.is_seen(Pane::HeatMap) {
            desk.map.leave();
        }
        if !Pane::ALL.iter().any(|&pane| self.is_seen(pane)) {
            let text = "All panes are hidden; the View menu shows them again.";
            ui.put(area, egui::Label::new(egui::RichText::new(text).weak()));
        }
    }
}

impl Behavior<Pane> for PaneContext<'_> {
    fn pane_ui(&mut self, ui: &mut Ui, _: TileId, pane: &mut Pane) -> UiResponse {
        egui::Frame::new().inner_margin(MARGIN).show(ui, |ui| {
            let Self { session, report, compared, map, pictures, marks, commands } = self;
            match pane {
                Pane::HeatMap => map.ui(ui, session, *report, compared, *marks, commands),
                Pane::Convergence => convergence::ui(ui, session, *report, commands),
                Pane::Cut => map.point_at(profile::ui(ui, session, *report, compared, commands)),
                Pane::MeanTile => mean_tile::ui(ui, &mut pictures.mean_tile, session, *report),
                Pane::Distance => distance::ui(ui, *report),
                Pane::EdgeShare => edge_share::ui(ui, *report),
                Pane::Probes => probes::ui(ui, session, *report, commands),
                Pane::Inside => {
                    let cells = &mut pictures.inside;
                    map.point_at(inside::ui(ui, cells, session, *report, commands));
                }
                Pane::Pinned => pinned::ui(ui, session, commands),
            }
        });
        UiResponse::None
    }

    fn tab_title_for_pane(&mut self, pane: &Pane) -> WidgetText {
        pane.label().into()
    }

    fn on_tab_button(&mut self, tiles: &mut Tiles<Pane>, tile: TileId, tab: Response) -> Response {
        let about = tiles.get_pane(&tile).map_or("Panes that share a place.", |pane| pane.about());
        tab.on_hover_text(format!("{about} Drag the title to move the pane."))
    }

    fn top_bar_right_ui(
        &mut self,
        tiles: &Tiles<Pane>,
        ui: &mut Ui,
        _: TileId,
        tabs: &Tabs,
        _: &mut f32,
    ) {
        let Some(&pane) = tabs.active.and_then(|tile| tiles.get_pane(&tile)) else {
            return;
        };
        let hide =
            named(ui.add(egui::Button::new("×").frame(false)), &format!("Hide {}", pane.label()));
        if hide.on_hover_text("Hide this pane; the View menu shows it again.").clicked() {
            self.commands.push(Command::ShowPane(pane, false));
        }
    }

    fn simplification_options(&self) -> SimplificationOptions {
        // Its title is what a pane is dragged by.
        SimplificationOptions { all_panes_must_have_tabs: true, ..Default::default() }
    }

    fn min_size(&self) -> f32 {
        LEAST_SIDE
    }

    fn tab_bar_color(&self, visuals: &Visuals) -> Color32 {
        visuals.faint_bg_color
    }

    fn tab_outline_stroke(
        &self,
        _: &Visuals,
        _: &Tiles<Pane>,
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

/// The menu that shows and hides panes.
pub fn menu(ui: &mut Ui, panes: &Panes, commands: &mut Vec<Command>) {
    let stays = egui::containers::menu::MenuConfig::new()
        .close_behavior(egui::PopupCloseBehavior::CloseOnClickOutside);
    let menu = egui::containers::menu::MenuButton::new("View").config(stays);
    let (button, _) = menu.ui(ui, |ui| {
        ui.set_min_width(theme::MENU_WIDTH);
        for pane in Pane::ALL {
            let mut shown = panes.is_wanted(pane);
            if ui.checkbox(&mut shown, pane.label()).on_hover_text(pane.about()).changed() {
                commands.push(Command::ShowPane(pane, shown));
            }
        }
        ui.separator();
        entry(ui, &actions::TUNING, Command::ShowTuning(true), commands);
        entry(ui, &actions::ARRANGE, Command::ArrangePanes, commands);
        entry(ui, &actions::THEME, Command::SwitchTheme, commands);
        entry(ui, &actions::PRESENT, Command::Present, commands);
    });
    button.on_hover_text("Which panes are shown, and how the window looks.");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pane_that_was_hidden_comes_back_before_the_others() {
        let mut panes = Panes::default();
        for pane in Pane::ALL {
            assert_eq!(panes.is_wanted(pane), Pane::FIRST.contains(&pane));
            panes.show(pane, false);
            assert!(!panes.is_wanted(pane));
            panes.show(pane, true);
            assert!(panes.is_wanted(pane));
        }
    }
}
