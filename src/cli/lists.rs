//! Options for lists of settings, shared by `sweep`, `tune` and `bench kernels`.

use super::args::CommonArgs;
use super::console::UsageError;
use super::values::{self, BudgetList, HeightList, PerAxisList, SubiterationsList};
use crate::grid::ByteCount;
use crate::run::{CycleLists, MethodName, PassLists, PerAxis, RunSpec, TileLists};
use crate::solver::{Kernel, Slabs, Subiterations};
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

/// Lists of settings of a method with tiles, or of one that streams, for `sweep` and `tune`.
#[derive(Args, Clone, Debug)]
pub struct CycleListArgs {
    #[command(flatten)]
    tiles: ListArgs,
    /// Method whose settings are measured: hierarchical, pyramid or wavefront
    #[arg(long, value_name = "NAME", help_heading = "Settings")]
    method: Option<MethodName>,
    /// Sweeps of a pass of --method pyramid or wavefront
    #[arg(long, value_name = "LIST", help_heading = "Settings", value_parser = values::height_list, allow_hyphen_values = true)]
    height: Option<HeightList>,
    /// Fast memory of --method pyramid or wavefront, comma-separated: 1MB,4MB
    #[arg(long, value_name = "LIST", help_heading = "Settings", value_parser = values::budget_list, allow_hyphen_values = true)]
    memory: Option<BudgetList>,
    /// Slabs of --method pyramid that are on a GPU at a time [default: auto]
    #[arg(long, value_name = "SLABS", help_heading = "Settings")]
    slabs: Option<Slabs>,
}

impl CycleListArgs {
    /// The run whose settings are measured.
    ///
    /// # Errors
    /// [`UsageError`] if its method takes no lists, or other ones; also if a file cannot be read.
    pub fn run(&self, common: &CommonArgs) -> anyhow::Result<RunSpec> {
        if self.method == Some(MethodName::Classic) {
            let why = "--method classic has no settings to measure; it must be hierarchical, pyramid or wavefront";
            return Err(UsageError(why.to_owned()).into());
        }
        let mut run = common.spec(self.method)?;
        run.method.slabs = self.slabs.unwrap_or(run.method.slabs);
        run.method.kernel = match run.method.name {
            MethodName::Classic => Kernel::AUTO,
            _ => common.inherited_kernel(run.method.kernel, self.method, &run),
        };
        let of_passes = [
            ("--height", self.height.is_some()),
            ("--memory", self.memory.is_some()),
            ("--slabs", self.slabs.is_some()),
        ];
        let of_passes = of_passes.into_iter().find_map(|(option, given)| given.then_some(option));
        // Tiles are measured where a run of classic Jacobi is given, too.
        let (name, given, others) = match run.method.name {
            name if name.is_streaming() => {
                (name, self.tiles.given(), "whose lists are --height and --memory")
            }
            _ => (MethodName::Hierarchical, of_passes, "whose lists are --k, --overlap and --tile"),
        };
        match given {
            Some(option) => Err(UsageError(format!(
                "{option} has no effect on method {}, {others}",
                name.name()
            ))
            .into()),
            None => Ok(run),
        }
    }

    /// The lists for a run: of tiles those that are left out are these, and of passes they are made of the list of heights, if
    /// there is one, and that of budgets or the run's own.
    pub fn cycle(
        &self,
        run: &RunSpec,
        tiles: TileLists,
        passes: impl FnOnce(Option<Vec<usize>>, Vec<ByteCount>) -> PassLists,
    ) -> CycleLists {
        if run.method.name.is_streaming() {
            let height = self.height.clone().map(|HeightList(list)| list);
            let memory = self.memory.clone().map(|BudgetList(list)| list);
            let memory = memory.unwrap_or_else(|| vec![run.method.memory()]);
            return CycleLists::Passes(passes(height, memory));
        }
        CycleLists::Tiles(TileLists {
            k: self.tiles.k(&tiles.k),
            overlap: self.tiles.overlap(&tiles.overlap),
            tile: self.tiles.tile(&tiles.tile),
        })
    }

    /// The kernels; `default` if there are none.
    pub fn kernel(&self, default: &[Kernel]) -> Vec<Kernel> {
        self.tiles.kernel(default)
    }
}
