//! How much of its error an iterate has left.

use super::ExactMethod;
use crate::grid::Field;
use crate::problem::Problem;

/// The most points of a grid whose exact solution is computed although nobody asked for it.
const CHEAP_POINTS: usize = 1 << 21;

/// Whether the exact solution of a problem is computed in little time and memory: a grid of at most 2²¹ points (128³) on
/// which elimination or sine transforms solve. Whether there is one is not known before that.
pub fn is_exact_cheap(problem: &Problem) -> bool {
    ExactMethod::of(problem).is_ok_and(ExactMethod::is_direct)
        && problem.shape.points() <= CHEAP_POINTS
}

/// ‖u − u*‖₂ / ‖u₀ − u*‖₂ of an iterate, with the exact solution and the initial guess; `None` where the initial
/// guess has no error, or a value is not a finite number.
pub fn error_left(problem: &Problem, iterate: &Field<f64>, exact: &Field<f64>) -> Option<f64> {
    let (left, initial) = (error(iterate, exact), initial_error(problem, exact));
    let ratio = left / initial;
    (initial > 0.0 && ratio.is_finite()).then_some(ratio)
}

/// ‖u₀ − u*‖₂ of the initial guess, with the exact solution.
pub fn initial_error(problem: &Problem, exact: &Field<f64>) -> f64 {
    error(&problem.initial_iterate(), exact)
}

fn error(values: &Field<f64>, exact: &Field<f64>) -> f64 {
    let (values, exact) = (values.to_interior(), exact.to_interior());
    let squares = values.iter().zip(&exact).map(|(value, exact)| (value - exact).powi(2));
    squares.sum::<f64>().sqrt()
}
