//! What a sweep varies of a cycle: subiterations, overlap and tile of a method with tiles, height and budget of one that
//! streams. Each is a file with its lists and its setting; all else asks these two enums.

mod parse;
mod passes;
mod tiles;

pub use parse::{parse_budgets, parse_heights, parse_numbers, parse_per_axis, parse_subiterations};
pub use passes::{PassLists, PassSetting};
pub use tiles::{TileLists, TileSetting};

use super::per_axis::PerAxis;
use crate::grid::ByteCount;
use crate::run::command::Lists;
use crate::run::spec::{MethodName, MethodSpec};
use std::fmt;

/// The lists of a sweep that say what a cycle is.
#[derive(Clone, Debug, PartialEq)]
pub enum CycleLists {
    /// Of tiles.
    Tiles(TileLists),
    /// Of passes through fast memory.
    Passes(PassLists),
}

/// What a cycle of a setting is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CycleSetting {
    /// Subiterations in every tile.
    Tiles(TileSetting),
    /// A pass through fast memory.
    Pass(PassSetting),
}

/// A list of a sweep as maps and charts name it.
#[derive(Clone, Debug, PartialEq)]
pub struct ListAxis {
    /// The name of what it lists.
    pub name: &'static str,
    /// What comes before a value in a sentence: `k = `.
    pub before: &'static str,
    /// Its values as text.
    pub labels: Vec<String>,
    /// Its values as numbers; `None` for infinity.
    pub numbers: Vec<Option<f64>>,
    /// The unit of these numbers, after the name along an axis: `, MB`.
    pub unit: &'static str,
}

/// What a cycle works in at a time. One that fits another cache has constants of its own in the cost model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::run::sweep) enum WorkingSet {
    /// A tile.
    Tile(PerAxis),
    /// A budget of fast memory.
    Budget(ByteCount),
}

impl ListAxis {
    /// A value in words: `k = 8`.
    pub fn value(&self, place: usize) -> String {
        let label = self.labels.get(place).map_or("", String::as_str);
        format!("{}{label}", self.before)
    }
}

impl CycleLists {
    /// The lists of tiles, if it has such.
    pub fn tiles(&self) -> Option<&TileLists> {
        match self {
            Self::Tiles(lists) => Some(lists),
            Self::Passes(_) => None,
        }
    }

    /// Sorts the lists and drops duplicates.
    pub(super) fn normalize(&mut self) {
        match self {
            Self::Tiles(lists) => lists.normalize(),
            Self::Passes(lists) => lists.normalize(),
        }
    }

    /// The lists that a map shows: that of its rows, from top to bottom, and that of its columns, which changes fastest.
    pub fn axes(&self) -> [ListAxis; 2] {
        match self {
            Self::Tiles(lists) => lists.axes(),
            Self::Passes(lists) => lists.axes(),
        }
    }

    /// The number of values of each list, with its name in messages: of those that change slowly, then of [`CycleLists::axes`].
    pub(super) fn lengths(&self) -> Vec<(&'static str, usize)> {
        match self {
            Self::Tiles(TileLists { k, overlap, tile }) => {
                vec![("tile", tile.len()), ("k", k.len()), ("overlap", overlap.len())]
            }
            Self::Passes(PassLists { height, memory }) => {
                vec![("height", height.len()), ("memory", memory.len())]
            }
        }
    }

    /// All settings, in groups with the same tile; the columns of a map change fastest, then its rows.
    pub(super) fn groups(&self) -> Vec<Vec<CycleSetting>> {
        match self {
            Self::Tiles(lists) => lists.groups(),
            Self::Passes(lists) => vec![lists.settings()],
        }
    }

    /// The lists as options of a command line.
    pub(super) fn options(&self) -> Lists {
        match self {
            Self::Tiles(lists) => lists.options(),
            Self::Passes(lists) => lists.options(),
        }
    }
}

impl CycleSetting {
    /// The tiles, if it has such.
    pub fn tiles(self) -> Option<TileSetting> {
        match self {
            Self::Tiles(setting) => Some(setting),
            Self::Pass(_) => None,
        }
    }

    /// The pass, if its cycle is one.
    pub fn pass(self) -> Option<PassSetting> {
        match self {
            Self::Tiles(_) => None,
            Self::Pass(setting) => Some(setting),
        }
    }

    /// Makes it that of a method. Tiles need method `hierarchical`; a pass is one of the method that streams.
    pub(super) fn set(self, method: &mut MethodSpec) {
        match self {
            Self::Tiles(setting) => {
                method.set_name(MethodName::Hierarchical);
                setting.set(method);
            }
            Self::Pass(setting) => setting.set(method),
        }
    }

    /// Sweeps of a cycle; `None` for k = ∞.
    pub fn sweeps(self) -> Option<usize> {
        match self {
            Self::Tiles(setting) => setting.k.finite(),
            Self::Pass(setting) => Some(setting.height),
        }
    }

    /// A time per cycle as a time per sweep; `None` for k = ∞.
    pub fn per_sweep(self, seconds_per_cycle: f64) -> Option<f64> {
        self.sweeps().map(|sweeps| seconds_per_cycle / sweeps as f64)
    }

    /// Whether its cycles are sweeps of Jacobi's iteration on a grid of this shape, as far as the tiles decide it.
    pub fn is_exact(self, shape: &[usize]) -> bool {
        match self {
            Self::Tiles(setting) => setting.is_exact(shape),
            Self::Pass(_) => true,
        }
    }

    pub(super) fn working_set(self) -> WorkingSet {
        match self {
            Self::Tiles(setting) => WorkingSet::Tile(setting.tile),
            Self::Pass(setting) => WorkingSet::Budget(setting.memory),
        }
    }

    /// Of settings with one working set, in order, those between which the others lie, and some among them: they are timed to fit
    /// the constants of the cost model.
    pub(super) fn to_probe(here: &[Self]) -> Vec<Self> {
        let tiles: Vec<_> = here.iter().filter_map(|setting| setting.tiles()).collect();
        let passes: Vec<_> = here.iter().filter_map(|setting| setting.pass()).collect();
        let tiles = TileSetting::to_probe(&tiles).into_iter().map(Self::Tiles);
        tiles.chain(PassSetting::to_probe(&passes).into_iter().map(Self::Pass)).collect()
    }
}

impl fmt::Display for CycleSetting {
    /// In words: `k = 8, overlap 2, tile 32`, or `height 8, budget 4MB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tiles(TileSetting { tile, k, overlap }) => {
                write!(f, "k = {}, overlap {overlap}, tile {tile}", k.label())
            }
            Self::Pass(PassSetting { height, memory }) => {
                write!(f, "height {height}, budget {memory}")
            }
        }
    }
}

/// Sorts a list and drops duplicates.
fn sort<T: Ord>(list: &mut Vec<T>) {
    list.sort_unstable();
    list.dedup();
}
