//! Options for lists of settings, shared by `sweep`, `tune` and `bench kernels`.

use super::values::{self, PerAxisList, SubiterationsList};
use crate::run::PerAxis;
use crate::solver::{Kernel, Subiterations};
use clap::Args;

/// Lists of settings. Each subcommand has its own defaults.
#[derive(Args, Clone, Debug, Default)]
pub struct ListArgs {
    /// Subiterations per cycle: comma-separated values, ranges (from:to:step), and inf
    #[arg(long, value_name = "LIST", help_heading = "Settings", value_parser = values::subiterations_list, allow_hyphen_values = true)]
    k: Option<SubiterationsList>,
    /// Overlap of neighbouring tiles in points, even; 4x2 is 4 along x and 2 along y
    #[arg(long, value_name = "LIST", help_heading = "Settings", value_parser = values::per_axis_list, allow_hyphen_values = true)]
    overlap: Option<PerAxisList>,
    /// Tile size in points per axis; 32x16 is 32 along x and 16 along y
    #[arg(long, value_name = "LIST", help_heading = "Settings", value_parser = values::per_axis_list, allow_hyphen_values = true)]
    tile: Option<PerAxisList>,
    /// GPU kernels, comma-separated
    #[arg(long, value_name = "NAMES", help_heading = "Settings", value_delimiter = ',')]
    kernel: Vec<Kernel>,
}

impl ListArgs {
    /// The values of k; `default` if there are none.
    pub fn k(&self, default: &[Subiterations]) -> Vec<Subiterations> {
        self.k.clone().map_or_else(|| default.to_vec(), |SubiterationsList(values)| values)
    }

    /// The overlaps; `default` if there are none.
    pub fn overlap(&self, default: &[PerAxis]) -> Vec<PerAxis> {
        self.overlap.clone().map_or_else(|| default.to_vec(), |PerAxisList(values)| values)
    }

    /// The tile sizes; `default` if there are none.
    pub fn tile(&self, default: &[PerAxis]) -> Vec<PerAxis> {
        self.tile.clone().map_or_else(|| default.to_vec(), |PerAxisList(values)| values)
    }

    /// The first of the options of tiles that is given: subiterations, overlaps and tile sizes.
    pub fn given(&self) -> Option<&'static str> {
        let given = [
            ("--k", self.k.is_some()),
            ("--overlap", self.overlap.is_some()),
            ("--tile", self.tile.is_some()),
        ];
        given.into_iter().find_map(|(option, is_given)| is_given.then_some(option))
    }

    /// The kernels; `default` if there are none.
    pub fn kernel(&self, default: &[Kernel]) -> Vec<Kernel> {
        if self.kernel.is_empty() { default.to_vec() } else { self.kernel.clone() }
    }
}
