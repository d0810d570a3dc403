//! What a cycle makes of an error.

use super::error::ModeError;
use crate::grid::{Field, Precision, Shape};
use crate::problem::{Boundary, Problem, Source};
use crate::solver::{
    self, Kernel, Method, NormRequest, Place, SOLVER_ARRAYS, Solver, system_bytes, working_bytes,
};
use std::sync::Arc;

/// The cycle of a method on a system whose solution is 0, so that an iterate is its own error. Of devices that exchange
/// after several cycles it is all of these: between two exchanges an iterate alone does not say what follows.
///
/// It is made on the CPU and in double precision, whatever the run is made in: a cycle makes the same of an error
/// everywhere, and the smallest factors need the digits.
pub(super) struct ErrorCycle {
    solver: Box<dyn Solver>,
    cycles: u64,
}

impl ErrorCycle {
    /// Arrays of the grid beside a cycle: an error before it, and that after it.
    const ERRORS: usize = 2;

    /// Bytes that the cycles of some methods on the matrix of `problem` take, and the errors that they are given.
    pub fn bytes(problem: &Problem, methods: &[&Method]) -> u64 {
        let (shape, precision) = (&problem.shape, Precision::F64);
        let arrays = SOLVER_ARRAYS + problem.operator.row_arrays(shape);
        let of_solver = shape.array_bytes(arrays, precision);
        let of_solver = of_solver.saturating_add(system_bytes(problem, precision));
        let errors = shape.array_bytes(Self::ERRORS, precision);
        methods.iter().fold(errors, |bytes, method| {
            let working = working_bytes(problem, method, precision, (Kernel::AUTO, 0));
            bytes.saturating_add(of_solver).saturating_add(working)
        })
    }

    /// The cycle of `method` on the matrix of `problem`.
    ///
    /// # Errors
    /// [`ModeError::Solver`] if its arrays do not fit.
    pub fn new(problem: &Problem, method: Method) -> Result<Self, ModeError> {
        let zero = Source::Constant(0.0);
        let problem = Arc::new(Problem {
            shape: problem.shape,
            operator: problem.operator.clone(),
            rhs: zero.clone(),
            initial_guess: zero,
            boundary: Boundary::default(),
        });
        let place = Place::Cpu { threads: 0, kernel: Kernel::AUTO };
        let cycles = method.cycles_between_exchanges();
        let solver = solver::set_up(&problem, method, Precision::F64, &place)?;
        Ok(Self { solver, cycles })
    }

    /// The error after the cycles from one exchange to the next, given that before them; without devices after one.
    ///
    /// # Errors
    /// [`ModeError::Solver`] if the solver fails.
    pub fn apply(&mut self, error: &Field<f64>) -> Result<Field<f64>, ModeError> {
        self.solver.start_from(error)?;
        // A batch has a time, and may end before the exchange.
        let mut left = self.cycles;
        while left > 0 {
            left -= self.solver.cycles(left, NormRequest::NONE)?.cycles;
        }
        Ok(self.solver.solution()?)
    }
}

/// Point updates of [`ErrorCycle::apply`] with a method on a grid.
pub(super) fn updates_of(problem: &Problem, method: &Method) -> f64 {
    let redundancy = method.tiling().map_or(1.0, |tiling| tiling.redundancy());
    let sweeps = match method.plain() {
        // In the sine basis of a tile the cost does not depend on k.
        Method::Spectral(spectral) => {
            let sides = spectral.tiling().axes().iter();
            sides.map(|axis| axis.tile() as f64).fold(1.0, f64::max)
        }
        _ => method.sweeps_per_cycle() as f64,
    };
    problem.shape.points() as f64 * redundancy * sweeps * method.cycles_between_exchanges() as f64
}

/// The field with these values at interior points: those along each axis multiplied, x first.
pub(super) fn product(shape: Shape, axes: &[Vec<f64>]) -> Field<f64> {
    let slower = axes.get(1..).unwrap_or_default();
    let mut field = Field::filled(shape, 0.0);
    for row in 0..shape.rows() {
        let mut rest = row;
        // In 1D all systems of a batch are alike.
        let factor: f64 = slower
            .iter()
            .map(|values| {
                let value = values[rest % values.len()];
                rest /= values.len();
                value
            })
            .product();
        for (to, value) in field.interior_mut(row).iter_mut().zip(&axes[0]) {
            *to = factor * value;
        }
    }
    field
}

/// Σ a b over all interior points, in their order.
pub(super) fn inner_product(a: &Field<f64>, b: &Field<f64>) -> f64 {
    let rows = 0..a.shape().rows();
    let of_row = |row| a.interior(row).iter().zip(b.interior(row)).map(|(a, b)| a * b).sum::<f64>();
    rows.map(of_row).sum()
}
