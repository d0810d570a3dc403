//! The lists of settings that are gone through: what `sweep`, `tune` and `bench ladder` have in
//! common.

use super::values::{self, List, PerAxisList};
use crate::run::PerAxis;
use crate::solver::Kernel;
use clap::Args;

/// The options. What a list holds where it is not given is up to the subcommand.
#[derive(Args, Clone, Debug, Default)]
pub struct ListArgs {
    /// Subiterations of a cycle: values and ranges (from:to:step) with commas
    #[arg(long, value_name = "LIST", help_heading = "Settings", value_parser = values::list)]
    k: Option<List>,
    /// Points that neighbouring tiles share, even: a list, in which 4x2 is 4 along x and 2 along y
    #[arg(long, value_name = "LIST", help_heading = "Settings", value_parser = values::per_axis_list)]
    overlap: Option<PerAxisList>,
    /// Points of a tile along each axis: a list, in which 32x16 is 32 along x and 16 along y
    #[arg(long, value_name = "LIST", help_heading = "Settings", value_parser = values::per_axis_list)]
    tile: Option<PerAxisList>,
    /// Kernels of a GPU, with commas between them
    #[arg(long, value_name = "NAMES", help_heading = "Settings", value_delimiter = ',')]
    kernel: Vec<Kernel>,
}

impl ListArgs {
    /// The values of k, or those.
    pub fn k(&self, or: &[usize]) -> Vec<usize> {
        self.k.clone().map_or_else(|| or.to_vec(), |List(values)| values)
    }

    /// The overlaps, or those.
    pub fn overlap(&self, or: &[PerAxis]) -> Vec<PerAxis> {
        self.overlap.clone().map_or_else(|| or.to_vec(), |PerAxisList(values)| values)
    }

    /// The tiles, or those.
    pub fn tile(&self, or: &[PerAxis]) -> Vec<PerAxis> {
        self.tile.clone().map_or_else(|| or.to_vec(), |PerAxisList(values)| values)
    }

    /// The kernels, or those.
    pub fn kernel(&self, or: &[Kernel]) -> Vec<Kernel> {
        if self.kernel.is_empty() { or.to_vec() } else { self.kernel.clone() }
    }
}
