//! Floor 2: iterations that solve a system, one folder a back end and one file a method.
//!
//! A solver knows neither of threads that wait for it nor of colours: it makes cycles, says how
//! large its norms are, and gives samples of its fields, thinned out to what can be shown.

pub mod cpu;
pub mod cuda;
mod error;
#[cfg(test)]
pub(crate) mod fake;
mod inside;
mod kernel;
mod sample;
mod statistics;

pub use error::SolverError;
pub use inside::{Followed, Inside, NextCycle};
pub use kernel::{Footprint, Kernel};
pub use sample::{EDGE_WIDTH, EdgeShare, Look, Looked, Quantity, Samples, Window, larger};
pub use statistics::{AtDistance, LONGEST_FOLDED, MeanTile, Statistics};

use crate::grid::{Field, Precision, Shape, Tiling, memory::OutOfMemory};
use crate::problem::Problem;
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// How one cycle turns an iterate into the next.
#[derive(Clone, Debug, PartialEq)]
pub enum Method {
    /// Jacobi's iteration: a cycle is one sweep over the whole grid.
    Classic,
    /// Islam & Wang's hierarchical iteration: a cycle is `k` sweeps (subiterations) inside every
    /// tile, with the ring around the tile frozen.
    Hierarchical {
        /// Subiterations of a cycle, at least 1.
        k: usize,
        /// How the grid is cut.
        tiling: Tiling,
    },
}

impl Method {
    /// Sweeps that one cycle makes.
    pub fn sweeps_per_cycle(&self) -> usize {
        match self {
            Self::Classic => 1,
            Self::Hierarchical { k, .. } => *k,
        }
    }
}

/// Two norms of a residual r = b − A u, over all interior points of all copies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ResidualNorms {
    /// ‖r‖₂, not divided by the number of points.
    pub l2: f64,
    /// ‖r‖∞, where it was asked for ([`Solver::set_all_norms`]).
    pub max: Option<f64>,
}

/// What one cycle found out on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CycleNorms {
    /// The residual of the iterate that the cycle **started from**: in the first subiteration an
    /// owned point is updated from fresh neighbours, so d·(u₁ − u₀) is its residual.
    pub residual_before: ResidualNorms,
    /// ‖Δu‖∞ between the start and the end of the cycle, where it was asked for
    /// ([`Solver::set_all_norms`]).
    pub max_change: Option<f64>,
    /// ‖u − u*‖₂ at the end of the cycle, when the exact solution is known and it was asked for.
    pub error: Option<f64>,
}

/// Some cycles that were made together, and what they found out.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The norms of each cycle, in order; never empty.
    pub norms: Vec<CycleNorms>,
    /// Seconds that the solver took, by its own clock: on a GPU, by the GPU's events.
    pub seconds: f64,
}

/// Some cycles that were made together, and of which nothing was found out but how long they took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CyclesWithoutNorms {
    /// How many, at least 1.
    pub cycles: u64,
    /// Seconds, as those of a [`Batch`].
    pub seconds: f64,
}

/// An iteration under way on one system.
///
/// After a cycle that failed nothing is known of its iterate any more.
pub trait Solver: Send {
    /// Makes at least one cycle and at most `most` (which is at least 1): as many as are worth
    /// making before anybody looks again. On a CPU that is one, on a GPU as many as take a few
    /// milliseconds.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn cycles(&mut self, most: u64) -> Result<Batch, SolverError>;

    /// Begins the cycles that [`Solver::cycles`] gives next, at most `most` (which is at least 1), and
    /// does not wait for them: the present iterate stays until then, and can be looked at while they
    /// are made. Where that cannot be done, nothing is begun.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn begin(&mut self, _most: u64) -> Result<(), SolverError> {
        Ok(())
    }

    /// The same without finding out anything on the way: the same iterates, a little sooner.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn cycles_without_norms(&mut self, most: u64) -> Result<CyclesWithoutNorms, SolverError>;

    /// Goes back to the start u₀.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn restart(&mut self) -> Result<(), SolverError>;

    /// Goes on from another iterate of the same problem, with its ring, such as one that was made
    /// elsewhere. What the last cycle changed is not known then, and is zero.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn start_from(&mut self, iterate: &Field<f64>) -> Result<(), SolverError>;

    /// Both norms of the residual of the present iterate, by a pass over the grid of its own. It agrees with
    /// [`CycleNorms::residual_before`] of the next cycle up to the order of summation.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn residual(&self) -> Result<ResidualNorms, SolverError>;

    /// Whether cycles tell all their norms, and not ‖r‖₂ alone. That one comes with a cycle for next to
    /// nothing; on a GPU the others cost a pass over the grid, and are told only if they are asked
    /// for. A CPU tells them always.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU has no room for them, or fails.
    fn set_all_norms(&mut self, _wanted: bool) -> Result<(), SolverError> {
        Ok(())
    }

    /// ‖Δu‖∞ of the last cycle, by a pass over the grid of its own; `None` where it comes with every
    /// cycle.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn max_change(&self) -> Result<Option<f64>, SolverError> {
        Ok(None)
    }

    /// Gives the exact solution of the discrete system, so that errors can be told.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU has no room for it, or fails.
    fn set_exact(&mut self, exact: Arc<Field<f64>>) -> Result<(), SolverError>;

    /// ‖u − u*‖₂ of the present iterate, when the exact solution is known.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn error(&self) -> Result<Option<f64>, SolverError>;

    /// A part of a field, thinned out to what can be shown. Values that are not known (the error
    /// before the exact solution is there) are NaN.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn sample(&self, quantity: Quantity<'_>, window: &Window) -> Result<Samples, SolverError>;

    /// The values of a field at single points (column, row) of the interior. What is not known is NaN.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn values(
        &self,
        quantity: Quantity<'_>,
        points: &[[usize; 2]],
    ) -> Result<Vec<f32>, SolverError> {
        let value = |&[i, row]: &[usize; 2]| self.sample(quantity, &Window::point(i, row));
        points.iter().map(|point| Ok(value(point)?.values[0])).collect()
    }

    /// How much of ‖r‖² lies near the tile borders of `tiling`.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn edge_share(&self, tiling: &Tiling) -> Result<EdgeShare, SolverError>;

    /// How large a field is about the borders of `tiling`: by distance, and in the mean tile. The
    /// same on every back end to the last bit.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn statistics(
        &self,
        quantity: Quantity<'_>,
        tiling: &Tiling,
    ) -> Result<Statistics, SolverError> {
        statistics::of_samples(self, self.shape(), quantity, tiling)
    }

    /// Samples of a field, the edge share, and how large the field is about tile borders: in one pass
    /// where a solver can.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn look(&self, look: Look<'_>) -> Result<Looked, SolverError> {
        let Look { quantity, window, tiling, statistics } = look;
        Ok(Looked {
            samples: window.map(|window| self.sample(quantity, window)).transpose()?,
            edge: self.edge_share(tiling)?,
            statistics: statistics.then(|| self.statistics(quantity, tiling)).transpose()?,
        })
    }

    /// A copy of the present iterate, with its ring.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn solution(&self) -> Result<Field<f64>, SolverError>;

    /// A copy of a part of the present iterate: its ring is what lies around it, points or ring.
    /// The columns and rows are interior, and some.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn solution_part(
        &self,
        columns: Range<usize>,
        rows: Range<usize>,
    ) -> Result<Field<f64>, SolverError>;

    /// A copy of one interior row of the present iterate, without its ring: `nx` values.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn solution_row(&self, row: usize) -> Result<Vec<f64>, SolverError>;

    /// Another method on the same system and the same back end, from the start; what can be shared
    /// is shared. On the CPU there are no kernels to choose from.
    ///
    /// # Errors
    /// [`SolverError`] if its arrays would not fit, or the kernel cannot take the method.
    fn with_method(&self, method: Method, kernel: Kernel) -> Result<Box<dyn Solver>, SolverError>;

    /// The interior points of the problem.
    fn shape(&self) -> &Shape;

    /// The kernel that runs, never [`Kernel::Auto`]; `None` on the CPU.
    fn kernel(&self) -> Option<Kernel>;

    /// The name of the GPU; `None` on the CPU.
    fn device(&self) -> Option<&str>;

    /// What the kernel takes of the GPU; `None` on the CPU.
    fn footprint(&self) -> Option<Footprint>;

    /// Itself, for [`Quantity::Difference`] between two solvers of one back end.
    fn as_any(&self) -> &dyn Any;
}

/// Where a solver runs, and what can be chosen there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// On the cores of this machine.
    Cpu {
        /// 0 for one a core.
        threads: usize,
    },
    /// On an NVIDIA GPU.
    Cuda {
        /// How.
        kernel: Kernel,
    },
}

impl Place {
    /// The same place, the kernel being whichever is the fastest: the one that was chosen may not
    /// go with another method.
    #[must_use]
    pub fn automatic(self) -> Self {
        match self {
            Self::Cpu { .. } => self,
            Self::Cuda { .. } => Self::Cuda { kernel: Kernel::Auto },
        }
    }

    /// Whether a solver in one place can share what it has with one in the other
    /// ([`Solver::with_method`]).
    pub fn shares_with(self, other: Self) -> bool {
        match (self, other) {
            (Self::Cpu { threads: one }, Self::Cpu { threads: other }) => one == other,
            (Self::Cuda { .. }, Self::Cuda { .. }) => true,
            _ => false,
        }
    }

    /// The kernel that was chosen; where there are none to choose from, [`Kernel::Auto`].
    pub fn kernel(self) -> Kernel {
        match self {
            Self::Cpu { .. } => Kernel::Auto,
            Self::Cuda { kernel } => kernel,
        }
    }
}

/// Sets up a solver at the start u₀, wherever it is to run.
///
/// # Errors
/// [`SolverError`] if its arrays would not fit, found out before anything is allocated, or if the
/// place cannot be had.
pub fn set_up(
    problem: &Arc<Problem>,
    method: Method,
    precision: Precision,
    place: Place,
) -> Result<Box<dyn Solver>, SolverError> {
    match place {
        Place::Cpu { threads } => Ok(on_cpu(problem, method, precision, threads)?),
        Place::Cuda { kernel } => cuda::solver(problem, method, precision, kernel),
    }
}

/// Sets up a solver on the CPU.
///
/// `threads` of 0 means one for each core.
///
/// # Errors
/// [`OutOfMemory`] if its arrays would not fit, found out before anything is allocated.
pub fn on_cpu(
    problem: &Arc<Problem>,
    method: Method,
    precision: Precision,
    threads: usize,
) -> Result<Box<dyn Solver>, OutOfMemory> {
    let level = cpu::Level::best();
    Ok(match precision {
        Precision::F32 => Box::new(cpu::CpuSolver::<f32>::new(problem, method, level, threads)?),
        Precision::F64 => Box::new(cpu::CpuSolver::<f64>::new(problem, method, level, threads)?),
    })
}
