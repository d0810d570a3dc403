//! The CPU solvers against the rules: on random problems, tilings and methods they give exactly the
//! bits of a reference that was written straight from the rules, whatever the vector length and
//! the number of threads; and what they report of an iterate is true.

mod cases;
mod devices;
mod error_left;
mod fields;
mod fused;
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
use std::sync::Arc;
use tilescope::grid::{Field, Real};
use tilescope::problem::Problem;
use tilescope::solver::cpu::{self, Level};
use tilescope::solver::{CycleNorms, Kernel, Method, NormRequest, Solver};

impl Case {
    pub fn solver<R: Real>(&self, method: Method, level: Level, threads: usize) -> Box<dyn Solver> {
        on_cpu::<R>(&self.problem, method, level, threads)
    }

    /// At the best level, on the calling thread.
    pub fn plain<R: Real>(&self, method: Method) -> Box<dyn Solver> {
        self.solver::<R>(method, Level::best(), 1)
    }
}

/// A solver behind the interface that the program uses, so that it is not compiled again for the tests.
fn on_cpu<R: Real>(
    problem: &Arc<Problem>,
    method: Method,
    level: Level,
    threads: usize,
) -> Box<dyn Solver> {
    cpu::at_level(problem, method, R::PRECISION, threads, Kernel::AUTO, level)
        .expect("little memory")
}

/// One cycle at a time.
trait Cycles {
    /// Makes a cycle, with all norms.
    fn cycle(&mut self) -> CycleNorms;
    fn cycle_without_norms(&mut self);
    fn iterate(&self) -> Field<f64>;
}

impl Cycles for Box<dyn Solver> {
    fn cycle(&mut self) -> CycleNorms {
        self.cycles(1, NormRequest::ALL).expect("a CPU").norms[0]
    }

    fn cycle_without_norms(&mut self) {
        self.cycles(1, NormRequest::NONE).expect("a CPU");
    }

    fn iterate(&self) -> Field<f64> {
        self.solution().expect("a CPU")
    }
}

/// The interior of a field as bits, so that equality is equality.
fn bits(field: &Field<f64>) -> Vec<u64> {
    bits_of(&field.to_interior())
}

/// Values as bits. Every value of single precision is one of double precision.
fn bits_of<R: Num>(values: &[R]) -> Vec<u64> {
    values.iter().map(|value| value.to_f64().to_bits()).collect()
}
