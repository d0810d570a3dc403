//! Settings of tiles: subiterations, overlap and tile.

use super::{CycleSetting, ListAxis, sort};
use crate::number::joined;
use crate::run::command::Lists;
use crate::run::spec::MethodSpec;
use crate::run::sweep::per_axis::PerAxis;
use crate::solver::Subiterations;

/// Lists of what makes a cycle of tiles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TileLists {
    /// Subiterations of a cycle.
    pub k: Vec<Subiterations>,
    /// Overlaps.
    pub overlap: Vec<PerAxis>,
    /// Tiles.
    pub tile: Vec<PerAxis>,
}

/// What makes a cycle of tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TileSetting {
    /// Points of a tile.
    pub tile: PerAxis,
    /// Subiterations of a cycle.
    pub k: Subiterations,
    /// Points that neighbouring tiles share.
    pub overlap: PerAxis,
}

impl TileLists {
    pub(super) fn normalize(&mut self) {
        sort(&mut self.k);
        sort(&mut self.overlap);
        sort(&mut self.tile);
    }

    pub(super) fn axes(&self) -> [ListAxis; 2] {
        let k = ListAxis {
            name: "k",
            before: "k = ",
            labels: self.k.iter().map(|k| k.label()).collect(),
            numbers: self.k.iter().map(|k| k.finite().map(|k| k as f64)).collect(),
            unit: "",
        };
        let overlap = ListAxis {
            name: "overlap",
            before: "overlap ",
            labels: self.overlap.iter().map(ToString::to_string).collect(),
            numbers: self.overlap.iter().map(|sides| Some(sides.largest() as f64)).collect(),
            unit: "",
        };
        [k, overlap]
    }

    /// The tiles, in the place of k as the rows of a map.
    pub fn tile_axis(&self) -> ListAxis {
        ListAxis {
            name: "tile",
            before: "tile ",
            labels: self.tile.iter().map(ToString::to_string).collect(),
            numbers: self.tile.iter().map(|sides| Some(sides.largest() as f64)).collect(),
            unit: "",
        }
    }

    pub(super) fn groups(&self) -> Vec<Vec<CycleSetting>> {
        let Self { k, overlap, tile } = self;
        let of_tile = |tile: &PerAxis| {
            let of_k = |k: &Subiterations| {
                let (tile, k) = (*tile, *k);
                let with = move |&overlap: &PerAxis| TileSetting { tile, k, overlap };
                overlap.iter().map(with).map(CycleSetting::Tiles)
            };
            k.iter().flat_map(of_k).collect()
        };
        tile.iter().map(of_tile).collect()
    }

    pub(super) fn options(&self) -> Lists {
        Lists {
            k: joined(&self.k, ","),
            overlap: Some(joined(&self.overlap, ",")),
            tile: Some(joined(&self.tile, ",")),
            ..Lists::default()
        }
    }
}

impl TileSetting {
    pub(super) fn set(self, method: &mut MethodSpec) {
        method.k = self.k;
        method.tile = self.tile.list();
        method.overlap = self.overlap.list();
    }

    pub(super) fn is_exact(self, shape: &[usize]) -> bool {
        shape.iter().enumerate().all(|(axis, points)| {
            let is_exact = |k: usize| self.overlap.of(axis) + 2 >= 2 * k;
            *points <= self.tile.of(axis) || self.k.finite().is_some_and(is_exact)
        })
    }

    /// At most six, with few and many sweeps, small and large overlaps. Overlaps so large that a cycle takes many times as long
    /// as any worth choosing are left out.
    pub(super) fn to_probe(here: &[Self]) -> Vec<Self> {
        let (Some(first), Some(last)) = (here.first(), here.last()) else { return Vec::new() };
        // The largest overlap within that number of quarters of the tile.
        let overlap = |quarters: usize| {
            let is_in =
                |overlap: &PerAxis| 4 * overlap.largest() <= quarters * first.tile.largest();
            here.iter().map(|s| s.overlap).filter(is_in).max().unwrap_or(first.overlap)
        };
        let mut middle: Vec<_> = here.iter().map(|s| s.k).collect();
        middle.dedup();
        let middle = middle[middle.len() / 2];
        let settings = [
            (first.k, first.overlap),
            (first.k, overlap(2)),
            (first.k, overlap(3)),
            (middle, overlap(1)),
            (last.k, first.overlap),
            (last.k, overlap(2)),
        ];
        let mut settings = settings.map(|(k, overlap)| Self { k, overlap, ..*first }).to_vec();
        sort(&mut settings);
        settings
    }
}
