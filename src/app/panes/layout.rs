//! The saved layout of panes: horizontal and vertical splits, and tabs.

use crate::app::panes::list;
use crate::app::panes::pane_type::Slot;
use crate::app::state::pane_id::PaneId;
use eframe::egui;
use egui_tiles::{Container, Linear, LinearDir, Tabs, Tile, TileId, Tiles, Tree};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The share of the whole that panes take which a saved layout lacks.
const APPENDED: f32 = 0.25;

/// Panes that fill a rectangle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// A pane, by its name.
    Pane(String),
    /// Side by side.
    Across(Vec<Part>),
    /// One below the other.
    Down(Vec<Part>),
    /// Tabs; the number is the index of the front one.
    Tabs(usize, Vec<Layout>),
}

/// A part of a split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// How much of the whole it takes, relative to the other parts.
    pub share: f32,
    pub holds: Layout,
}

fn part(share: f32, holds: Layout) -> Part {
    Part { share, holds }
}

impl Default for Layout {
    /// The layout at first start: the heat map is the largest.
    fn default() -> Self {
        Self::with_left(0.64)
    }
}

impl Layout {
    /// The layout of the presentation mode, which has more room for the heat map.
    pub fn presented() -> Self {
        Self::with_left(0.68)
    }

    /// The default layout, in which the left panes take this share of the width.
    fn with_left(left_share: f32) -> Self {
        let below = Self::Across(vec![
            part(0.45, Self::of_slot(Slot::BelowMapLeft)),
            part(0.55, Self::of_slot(Slot::BelowMapRight)),
        ]);
        let left = Self::Down(vec![part(0.62, Self::of_slot(Slot::Map)), part(0.38, below)]);
        let right = Self::Down(vec![
            part(0.58, Self::of_slot(Slot::TopRight)),
            part(0.42, Self::of_slot(Slot::BottomRight)),
        ]);
        Self::Across(vec![part(left_share, left), part(1.0 - left_share, right)])
    }

    fn of_slot(slot: Slot) -> Self {
        let panes = list::ALL.iter().filter(|pane| pane.slot() == slot);
        Self::tabs(0, panes.map(|pane| Self::pane(pane.id())).collect())
    }

    fn pane(id: PaneId) -> Self {
        Self::Pane(id.0.to_owned())
    }

    /// Panes over one another; a single pane is not a tab.
    fn tabs(front: usize, mut held: Vec<Self>) -> Self {
        if held.len() == 1 { held.remove(0) } else { Self::Tabs(front, held) }
    }

    /// Makes a layout that was read one of all panes, each once: drops panes that this program does
    /// not know, and appends those that are missing. Returns the appended ones, which are to be hidden.
    pub fn complete(&mut self) -> Vec<PaneId> {
        let mut seen = BTreeSet::new();
        let kept = std::mem::take(self).known(&mut seen);
        let all = list::ALL.iter().map(|pane| pane.id());
        let missing: Vec<_> = all.filter(|pane| !seen.contains(pane)).collect();
        let appended = Self::tabs(0, missing.iter().map(|&pane| Self::pane(pane)).collect());
        *self = match kept {
            // Without a known pane, the default layout is used.
            None => return Vec::new(),
            Some(kept) if missing.is_empty() => kept,
            Some(kept) => Self::Across(vec![part(1.0 - APPENDED, kept), part(APPENDED, appended)]),
        };
        missing
    }

    /// The layout without unknown and repeated panes; `None` if nothing is left.
    fn known(self, seen: &mut BTreeSet<PaneId>) -> Option<Self> {
        let parts = |parts: Vec<Part>, seen: &mut BTreeSet<PaneId>| {
            let known = parts.into_iter().filter_map(|Part { share, holds }| {
                let share = if share.is_finite() && share > 0.0 { share } else { 1.0 };
                Some(part(share, holds.known(seen)?))
            });
            let known: Vec<_> = known.collect();
            (!known.is_empty()).then_some(known)
        };
        match self {
            Self::Pane(name) => {
                let id = list::of_name(&name)?;
                seen.insert(id).then(|| Self::pane(id))
            }
            Self::Across(held) => parts(held, seen).map(Self::Across),
            Self::Down(held) => parts(held, seen).map(Self::Down),
            Self::Tabs(front, held) => {
                let mut new_front = 0;
                let mut known = Vec::new();
                for (index, held) in held.into_iter().enumerate() {
                    if let Some(held) = held.known(seen) {
                        if index == front {
                            new_front = known.len();
                        }
                        known.push(held);
                    }
                }
                (!known.is_empty()).then(|| Self::tabs(new_front, known))
            }
        }
    }

    /// The panes as they are laid out on the screen.
    pub fn tree(&self) -> Tree<PaneId> {
        let mut tiles = Tiles::default();
        match self.insert(&mut tiles) {
            Some(root) => Tree::new(egui::Id::unique("panes"), root, tiles),
            None => Tree::empty(egui::Id::unique("panes")),
        }
    }

    /// Where panes lie on the screen; `None` if there are none.
    pub fn of(tree: &Tree<PaneId>) -> Option<Self> {
        Self::read(&tree.tiles, tree.root()?)
    }

    fn read(tiles: &Tiles<PaneId>, tile: TileId) -> Option<Self> {
        match tiles.get(tile)? {
            Tile::Pane(pane) => Some(Self::pane(*pane)),
            Tile::Container(Container::Linear(linear)) => {
                let held = linear.children.iter().filter_map(|&child| {
                    Some(part(linear.shares[child], Self::read(tiles, child)?))
                });
                let parts = held.collect();
                Some(match linear.dir {
                    LinearDir::Horizontal => Self::Across(parts),
                    LinearDir::Vertical => Self::Down(parts),
                })
            }
            Tile::Container(container) => {
                let children = container.children_vec();
                let active = match container {
                    Container::Tabs(tabs) => tabs.active,
                    _ => None,
                };
                let front = children.iter().position(|&child| Some(child) == active);
                let held = children.iter().filter_map(|&child| Self::read(tiles, child)).collect();
                // A single pane has its title, too.
                Some(Self::tabs(front.unwrap_or(0), held))
            }
        }
    }

    fn insert(&self, tiles: &mut Tiles<PaneId>) -> Option<TileId> {
        match self {
            Self::Pane(name) => list::of_name(name).map(|pane| tiles.insert_pane(pane)),
            Self::Across(parts) => Some(split(LinearDir::Horizontal, parts, tiles)),
            Self::Down(parts) => Some(split(LinearDir::Vertical, parts, tiles)),
            Self::Tabs(front, panes) => {
                let children: Vec<_> = panes.iter().filter_map(|pane| pane.insert(tiles)).collect();
                let active = children.get(*front).copied();
                Some(tiles.insert_container(Container::Tabs(Tabs { children, active })))
            }
        }
    }
}

fn split(dir: LinearDir, parts: &[Part], tiles: &mut Tiles<PaneId>) -> TileId {
    let children = parts.iter().filter_map(|part| Some((part.holds.insert(tiles)?, part.share)));
    let children: Vec<_> = children.collect();
    let mut linear = Linear::new(dir, children.iter().map(|(child, _)| *child).collect());
    for (child, share) in children {
        linear.shares.set_share(child, share);
    }
    tiles.insert_container(Container::Linear(linear))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pane(name: &str) -> Layout {
        Layout::Pane(name.to_owned())
    }

    /// Every pane.
    fn all() -> Vec<Layout> {
        list::ALL.iter().map(|pane| Layout::pane(pane.id())).collect()
    }

    /// The layout after it was completed, and what was appended.
    fn completed(mut layout: Layout) -> (Layout, Vec<PaneId>) {
        let appended = layout.complete();
        (layout, appended)
    }

    #[test]
    fn the_default_layout_has_every_pane_once_and_is_read_from_the_screen_as_it_was_made() {
        let default = Layout::default();
        assert_eq!(completed(default.clone()), (default.clone(), Vec::new()));
        assert_eq!(Layout::of(&default.tree()), Some(default));
    }

    #[test]
    fn a_layout_that_lacks_a_pane_gets_it_appended_and_keeps_everything_else() {
        let saved = Layout::Down(vec![
            part(0.7, Layout::Tabs(1, all()[2..].to_vec())),
            part(0.3, all()[0].clone()),
        ]);
        let (layout, appended) = completed(saved.clone());
        assert_eq!(appended, [list::ALL[1].id()]);
        let expected =
            Layout::Across(vec![part(1.0 - APPENDED, saved), part(APPENDED, all()[1].clone())]);
        assert_eq!(layout, expected);
        assert_eq!(completed(layout.clone()), (layout, Vec::new()));
    }

    #[test]
    fn unknown_panes_are_dropped_and_the_others_kept() {
        let with = Layout::Across(vec![
            part(0.5, pane("from the future")),
            part(0.5, Layout::Tabs(2, [vec![pane("another")], all(), all()].concat())),
        ]);
        let expected = Layout::Across(vec![part(0.5, Layout::Tabs(1, all()))]);
        assert_eq!(completed(with), (expected, Vec::new()));
        assert_eq!(completed(pane("from the future")), (Layout::default(), Vec::new()));
    }

    #[test]
    fn invalid_shares_are_replaced() {
        for share in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            let (layout, _) = completed(Layout::Down(vec![part(share, Layout::Tabs(0, all()))]));
            assert_eq!(layout, Layout::Down(vec![part(1.0, Layout::Tabs(0, all()))]));
        }
    }

    #[test]
    fn a_pane_of_an_older_file_has_its_name_of_today() {
        let mut panes = all();
        panes[2] = pane("cut");
        assert_eq!(completed(Layout::Tabs(0, panes)).0, Layout::Tabs(0, all()));
    }
}
