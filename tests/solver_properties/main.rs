//! The CPU solvers against the rules: on random problems, tilings and methods they give exactly the
//! bits of a reference that was written straight from the rules, whatever the vector length and
//! the number of threads; and what they report of an iterate is true.

mod cases;
mod devices;
mod error_left;
mod fields;
mod inside;
mod limits;
mod methods;
mod naive;
mod norms;
mod per_point;
mod spectral;
mod statistics;
mod streaming;
mod tiles;

use cases::Case;
use naive::Num;
use tilescope::grid::{Field, Real};
use tilescope::solver::Method;
use tilescope::solver::cpu::{CpuSolver, Level};

impl Case {
    pub fn solver<R: Real>(&self, method: Method, level: Level, threads: usize) -> CpuSolver<R> {
        CpuSolver::new(&self.problem, method, level, threads).expect("little memory")
    }

    /// At the best level, on the calling thread.
    pub fn plain<R: Real>(&self, method: Method) -> CpuSolver<R> {
        self.solver(method, Level::best(), 1)
    }
}

/// The interior of a field as bits, so that equality is equality.
fn bits<R: Num>(field: &Field<R>) -> Vec<u64> {
    field.to_interior().into_iter().map(Num::bits).collect()
}

/// Values as bits.
fn bits_of<R: Num>(values: &[R]) -> Vec<u64> {
    values.iter().map(|value| value.bits()).collect()
}
