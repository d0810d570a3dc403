//! The list of panes.

use crate::app::actions::{self, Action, ActionContext};
use crate::app::panes::convergence::ConvergencePane;
use crate::app::panes::damping_by_mode::DampingByModePane;
use crate::app::panes::distance::DistancePane;
use crate::app::panes::edge_share::EdgeSharePane;
use crate::app::panes::frequencies::FrequenciesPane;
use crate::app::panes::heat_map::pane::HeatMapPane;
use crate::app::panes::height::HeightPane;
use crate::app::panes::inside::InsidePane;
use crate::app::panes::lanes::LanesPane;
use crate::app::panes::mean_tile::MeanTilePane;
use crate::app::panes::memory_traffic::MemoryTrafficPane;
use crate::app::panes::pane_type::PaneType;
use crate::app::panes::pinned::PinnedPane;
use crate::app::panes::planes::PlanesPane;
use crate::app::panes::probes::ProbesPane;
use crate::app::panes::profile::ProfilePane;
use crate::app::panes::row_map::RowMapPane;
use crate::app::panes::slices::SlicesPane;
use crate::app::panes::speedup::SpeedupPane;
use crate::app::panes::spy::SpyPane;
use crate::app::panes::times::TimesPane;
use crate::app::panes::volume::VolumePane;
use crate::app::state::command::Command;
use crate::app::state::pane_id::PaneId;
use crate::picture::FigureKind;

/// Every pane, in the order of menus.
pub static ALL: &[&dyn PaneType] = &[
    &HeatMapPane,
    &ConvergencePane,
    &ProfilePane,
    &MeanTilePane,
    &DistancePane,
    &EdgeSharePane,
    &ProbesPane,
    &InsidePane,
    &SlicesPane,
    &VolumePane,
    &SpyPane,
    &RowMapPane,
    &PinnedPane,
    &SpeedupPane,
    &MemoryTrafficPane,
    &TimesPane,
    &FrequenciesPane,
    &DampingByModePane,
    &PlanesPane,
    &HeightPane,
    &LanesPane,
];

/// The pane of this name.
pub fn of_id(id: PaneId) -> Option<&'static dyn PaneType> {
    ALL.iter().copied().find(|pane| pane.id() == id)
}

/// The pane of this name in a file, today's or an older one.
pub fn of_name(name: &str) -> Option<PaneId> {
    let is_called = |pane: &&&dyn PaneType| pane.id().0 == name || pane.old_names().contains(&name);
    ALL.iter().find(is_called).map(|pane| pane.id())
}

/// The pane that shows what figures of this kind show; the heat map shows what no other does.
pub fn of_figure(kind: FigureKind) -> PaneId {
    ALL.iter().find(|pane| pane.shows(kind)).map_or(HeatMapPane.id(), |pane| pane.id())
}

/// The panes that are hidden at first start.
pub fn hidden_at_first() -> impl Iterator<Item = PaneId> {
    ALL.iter().filter(|pane| !pane.is_shown_at_first()).map(|pane| pane.id())
}

/// An action for each pane, which shows or hides it. What runs like this one do not have is not shown.
pub fn actions() -> impl Iterator<Item = Action> {
    let members = ALL.iter().map(|pane| (pane.title(), pane.about()));
    let command = |context: &ActionContext<'_>, which: usize| {
        let pane = ALL.get(which)?;
        let is_hidden = context.hidden.contains(&pane.id());
        let can_change = !is_hidden || pane.is_offered(context.session);
        can_change.then(|| Command::ShowPane(pane.id(), is_hidden))
    };
    actions::panes(members, command, |context, which| ALL.get(which)?.why_empty(context.session))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_pane_has_a_name_and_a_title_of_its_own() {
        let names: Vec<_> =
            ALL.iter().flat_map(|pane| [&[pane.id().0], pane.old_names()].concat()).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        let titles: BTreeSet<_> = ALL.iter().map(|pane| pane.title()).collect();
        assert_eq!(titles.len(), ALL.len());
        for pane in ALL {
            assert!(pane.about().ends_with('.'), "{}", pane.about());
            assert_eq!(of_name(pane.id().0), Some(pane.id()));
        }
    }

    #[test]
    fn every_kind_of_figure_has_its_pane() {
        for &kind in FigureKind::ALL {
            let panes = ALL.iter().filter(|pane| pane.shows(kind)).count();
            assert_eq!(panes, 1, "{kind:?}");
        }
    }
}
