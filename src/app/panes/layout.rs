//! Where panes lie, as it is written down: splits across and down, and panes over one another.

use crate::app::panes::Pane;
use eframe::egui;
use egui_tiles::{Container, Linear, LinearDir, Tabs, Tile, TileId, Tiles, Tree};
use serde::{Deserialize, Serialize};

/// Panes that fill a rectangle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// A pane.
    Pane(Pane),
    /// Side by side.
    Across(Vec<Part>),
    /// One below the other.
    Down(Vec<Part>),
    /// Over one another; the first number says which is in front.
    Tabs(usize, Vec<Layout>),
}

/// A part of a split.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// How much of the whole it takes, in comparison with the others.
    pub share: f32,
    pub holds: Layout,
}

fn part(share: f32, holds: Layout) -> Part {
    Part { share, holds }
}

impl Layout {
    /// The arrangement at first start: the heat map is the largest.
    pub fn usual() -> Self {
        let curves = Self::Down(vec![
            part(0.58, Self::Pane(Pane::Convergence)),
            part(
                0.42,
                Self::Tabs(
                    0,
                    vec![Self::Pane(Pane::Cut), Self::Pane(Pane::Inside), Self::Pane(Pane::Pinned)],
                ),
            ),
        ]);
        let edges = Self::Across(vec![
            part(0.45, Self::Pane(Pane::MeanTile)),
            part(
                0.55,
                Self::Tabs(
                    0,
                    vec![
                        Self::Pane(Pane::Distance),
                        Self::Pane(Pane::EdgeShare),
                        Self::Pane(Pane::Probes),
                    ],
                ),
            ),
        ]);
        let map = Self::Down(vec![part(0.62, Self::Pane(Pane::HeatMap)), part(0.38, edges)]);
        Self::Across(vec![part(0.64, map), part(0.36, curves)])
    }

    /// The panes as they are laid out on the screen.
    pub fn tree(&self) -> Tree<Pane> {
        let mut tiles = Tiles::default();
        let root = self.insert(&mut tiles);
        Tree::new(egui::Id::unique("panes"), root, tiles)
    }

    /// Where panes lie on the screen; `None` if there are none.
    pub fn of(tree: &Tree<Pane>) -> Option<Self> {
        Self::read(&tree.tiles, tree.root()?)
    }

    fn read(tiles: &Tiles<Pane>, tile: TileId) -> Option<Self> {
        match tiles.get(tile)? {
            Tile::Pane(pane) => Some(Self::Pane(*pane)),
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
                let mut held: Vec<_> =
                    children.iter().filter_map(|&child| Self::read(tiles, child)).collect();
                // A pane alone has its title all the same.
                if held.len() == 1 {
                    held.pop()
                } else {
                    Some(Self::Tabs(front.unwrap_or(0), held))
                }
            }
        }
    }

    /// Whether every pane is there once, and takes some part of the whole.
    pub fn is_whole(&self) -> bool {
        let mut panes = Vec::new();
        let fits = self.collect(&mut panes);
        let mut all = Pane::ALL;
        panes.sort_unstable();
        all.sort_unstable();
        fits && panes == all
    }

    /// Collects all panes, and tells whether all shares can be.
    fn collect(&self, panes: &mut Vec<Pane>) -> bool {
        match self {
            Self::Pane(pane) => {
                panes.push(*pane);
                true
            }
            Self::Across(parts) | Self::Down(parts) => parts.iter().all(|part| {
                part.share.is_finite() && part.share > 0.0 && part.holds.collect(panes)
            }),
            Self::Tabs(_, held) => held.iter().all(|held| held.collect(panes)),
        }
    }

    fn insert(&self, tiles: &mut Tiles<Pane>) -> TileId {
        match self {
            Self::Pane(pane) => tiles.insert_pane(*pane),
            Self::Across(parts) => split(LinearDir::Horizontal, parts, tiles),
            Self::Down(parts) => split(LinearDir::Vertical, parts, tiles),
            Self::Tabs(front, panes) => {
                let children: Vec<_> = panes.iter().map(|pane| pane.insert(tiles)).collect();
                let active = children.get(*front).copied();
                tiles.insert_container(Container::Tabs(Tabs { children, active }))
            }
        }
    }
}

fn split(dir: LinearDir, parts: &[Part], tiles: &mut Tiles<Pane>) -> TileId {
    let children: Vec<_> = parts.iter().map(|part| part.holds.insert(tiles)).collect();
    let mut linear = Linear::new(dir, children.clone());
    for (child, part) in children.into_iter().zip(parts) {
        linear.shares.set_share(child, part.share);
    }
    tiles.insert_container(Container::Linear(linear))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrangement_is_read_from_the_screen_as_it_was_made() {
        let usual = Layout::usual();
        assert!(usual.is_whole());
        assert_eq!(Layout::of(&usual.tree()), Some(usual));
    }

    #[test]
    fn an_arrangement_that_misses_a_pane_or_has_one_twice_is_not_whole() {
        let pane = |pane| Layout::Pane(pane);
        let all = || Pane::ALL.map(pane).to_vec();
        assert!(Layout::Tabs(1, all()).is_whole());
        assert!(!Layout::Tabs(0, all()[1..].to_vec()).is_whole());
        assert!(!Layout::Tabs(0, [all(), all()].concat()).is_whole());
        for share in [0.0, -1.0, f32::NAN, f32::INFINITY] {
            assert!(!Layout::Down(vec![part(share, Layout::Tabs(0, all()))]).is_whole());
        }
    }
}
