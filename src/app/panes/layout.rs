//! Where panes lie, as it is written down: splits across and down, and panes over one another.

use super::Pane;
use eframe::egui;
use egui_tiles::{Container, Linear, LinearDir, Tabs, TileId, Tiles, Tree};
use serde::{Deserialize, Serialize};

/// Panes that fill a rectangle.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::app) enum Layout {
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
pub(in crate::app) struct Part {
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
