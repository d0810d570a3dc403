//! A grid problem as a matrix has the grid's iterates to rounding.

use std::sync::Arc;
use tilescope::grid::{Precision, Shape};
use tilescope::problem::{Boundary, Problem, Source, Stencil};
use tilescope::solver::{Method, NormRequest, on_cpu};

#[test]
fn a_stencil_as_a_matrix_has_the_iterates_of_the_grid() {
    let shapes = [Shape::grid_1d(30, 4), Shape::grid_2d(17, 12), Shape::grid_3d(7, 5, 6)];
    for shape in shapes.map(|shape| shape.expect("a small shape")) {
        let problem = Arc::new(Problem {
            shape,
            operator: Stencil::convection_diffusion(&shape, [3.0, -2.0, 1.0]).into(),
            rhs: Source::Random { seed: 5 },
            initial_guess: Source::Random { seed: 6 },
            boundary: Boundary { left: 1.0, right: -2.0, ..Boundary::default() },
        });
        let matrix = Arc::new(problem.as_matrix().expect("a stencil"));
        assert!(matrix.as_matrix().is_none());
        let made = |problem| {
            let mut solver =
                on_cpu(problem, Method::Classic, Precision::F64, 1).expect("little memory");
            for _ in 0..50 {
                solver.cycles(1, NormRequest::NONE).expect("the CPU does not fail");
            }
            let residual = solver.norms(NormRequest::RESIDUAL_L2).expect("the same");
            (solver.solution().expect("the same").to_interior(), residual.residual)
        };
        let ((grid, residual), (rows, of_rows)) = (made(&problem), made(&matrix));
        for (one, other) in grid.iter().zip(&rows) {
            assert!((one - other).abs() < 1e-12, "{one}, {other}");
        }
        let [one, other] = [residual, of_rows].map(|norms| norms.expect("requested").l2);
        assert!((one / other - 1.0).abs() < 1e-9, "{one}, {other}");
    }
}
