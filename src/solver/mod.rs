//! Floor 2: iterations that solve a system, one folder a back end and one file a method.
//!
//! A solver knows neither of threads that wait for it nor of colours: it makes cycles, says how
//! large its norms are, and gives samples of its fields, thinned out to what can be shown.

pub mod cpu;
pub mod cuda;
mod sample;

pub use sample::{EDGE_WIDTH, EdgeShare, Quantity, Samples, Window, larger};

use crate::grid::{Field, Precision, Tiling, memory::OutOfMemory};
use crate::problem::Problem;
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
    /// ‖r‖∞.
    pub max: f64,
}

/// What one cycle found out on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CycleNorms {
    /// The residual of the iterate that the cycle **started from**: in the first subiteration an
    /// owned point is updated from fresh neighbours, so d·(u₁ − u₀) is its residual.
    pub residual_before: ResidualNorms,
    /// ‖Δu‖∞ between the start and the end of the cycle.
    pub max_change: f64,
    /// ‖u − u*‖₂ at the end of the cycle, when the exact solution is known.
    pub error: Option<f64>,
}

/// An iteration under way on one system.
pub trait Solver: Send {
    /// Makes one cycle.
    fn cycle(&mut self) -> CycleNorms;

    /// Makes one cycle and finds out nothing on its way: the same iterate, a little sooner.
    fn cycle_unmeasured(&mut self);

    /// Goes back to the start u₀.
    fn restart(&mut self);

    /// The residual of the present iterate, by a pass over the grid of its own. It agrees with
    /// [`CycleNorms::residual_before`] of the next cycle up to the order of summation.
    fn residual(&self) -> ResidualNorms;

    /// Gives the exact solution of the discrete system, so that errors can be told.
    fn set_exact(&mut self, exact: Arc<Field<f64>>);

    /// ‖u − u*‖₂ of the present iterate, when the exact solution is known.
    fn error(&self) -> Option<f64>;

    /// A part of a field, thinned out to what can be shown. Values that are not known (the error
    /// before the exact solution is there) are NaN.
    fn sample(&self, quantity: Quantity<'_>, window: &Window) -> Samples;

    /// How much of ‖r‖² lies near the tile borders of `tiling`.
    fn edge_share(&self, tiling: &Tiling) -> EdgeShare;

    /// A copy of the present iterate, with its ring.
    fn solution(&self) -> Field<f64>;

    /// A copy of one interior row of the present iterate, without its ring: `nx` values.
    fn solution_row(&self, row: usize) -> Vec<f64>;

    /// Another method on the same system, from the start; what can be shared is shared.
    ///
    /// # Errors
    /// [`OutOfMemory`] if its arrays would not fit.
    fn with_method(&self, method: Method) -> Result<Box<dyn Solver>, OutOfMemory>;
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
