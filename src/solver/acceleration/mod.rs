//! Accelerations of Jacobi's iteration: how far it is from the best that can be made of the same products with the
//! matrix (Hageman and Young, *Applied Iterative Methods*, chapters 4 to 7). They are references beside runs: plain
//! code in double precision on the CPU, whose sweeps are counted and whose time is not.

mod chebyshev;
mod conjugate;
mod error;
#[cfg(test)]
mod tests;

pub use error::AccelerationError;

use crate::grid::{Field, Precision, memory};
use crate::problem::scaled_matrix::ScaledMatrix;
use crate::problem::{Problem, SpectralRadius, residual_values};
use crate::solver::ResidualNorms;
use chebyshev::Chebyshev;
use conjugate::Conjugate;

/// What Jacobi's iteration is accelerated by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Acceleration {
    /// Chebyshev's polynomials on [−ρ, ρ].
    Chebyshev,
    /// Conjugate gradients, preconditioned by the diagonal.
    ConjugateGradients,
}

impl Acceleration {
    /// All of them, in the order of menus.
    pub const ALL: [Self; 2] = [Self::Chebyshev, Self::ConjugateGradients];

    /// The name in menus and legends.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Chebyshev => "Chebyshev",
            Self::ConjugateGradients => "conjugate gradients",
        }
    }

    /// The same where there is little room.
    pub const fn short_label(self) -> &'static str {
        match self {
            Self::Chebyshev => "Chebyshev",
            Self::ConjugateGradients => "CG",
        }
    }

    /// What it is, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Chebyshev => {
                "Jacobi's iteration accelerated by Chebyshev's polynomials over [−ρ, ρ]; one product with the matrix is a sweep."
            }
            Self::ConjugateGradients => {
                "Conjugate gradients, preconditioned by the diagonal; one product with the matrix is a sweep."
            }
        }
    }

    /// Whether it needs the spectral radius of Jacobi's iteration.
    pub const fn needs_radius(self) -> bool {
        matches!(self, Self::Chebyshev)
    }

    /// Arrays of the grid, in f64, that it works in.
    pub const fn arrays(self) -> usize {
        ScaledMatrix::ARRAYS
            + match self {
                Self::Chebyshev => Chebyshev::ARRAYS,
                Self::ConjugateGradients => Conjugate::ARRAYS,
            }
    }
}

/// Jacobi's iteration, accelerated. It works on the correction y of the initial guess, A y = r₀, with the matrix scaled
/// to D^−½ A D^−½, which keeps it symmetric.
pub struct AcceleratedJacobi {
    matrix: ScaledMatrix,
    iteration: Iteration,
    sweeps: u64,
}

enum Iteration {
    Chebyshev(Chebyshev),
    Conjugate(Conjugate),
}

impl AcceleratedJacobi {
    /// The iteration at the initial guess of a problem. `radius` is that of Jacobi's iteration without damping, if it
    /// is known.
    ///
    /// # Errors
    /// [`AccelerationError`] where the matrix is not symmetric, where Jacobi's iteration is not known to converge and
    /// that is needed, and where there is no room.
    pub fn new(
        acceleration: Acceleration,
        problem: &Problem,
        radius: Option<SpectralRadius>,
    ) -> Result<Self, AccelerationError> {
        // The scaled matrix of a stencil is two numbers; room for those of other matrices is asked for in any case.
        memory::check(&problem.shape, acceleration.arrays(), Precision::F64)?;
        let rho = match acceleration.needs_radius() {
            true => bound(radius)?,
            false => 0.0,
        };
        let matrix = ScaledMatrix::new(problem)?;
        let mut residual = residual_values(problem, &problem.initial_iterate());
        matrix.scale_residual(&mut residual);
        let iteration = match acceleration {
            Acceleration::Chebyshev => Iteration::Chebyshev(Chebyshev::new(residual, rho)),
            Acceleration::ConjugateGradients => {
                Iteration::Conjugate(Conjugate::new(&residual, matrix.width()))
            }
        };
        Ok(Self { matrix, iteration, sweeps: 0 })
    }

    /// Makes a sweep: one product with the matrix.
    ///
    /// # Errors
    /// [`AccelerationError::NotDefinite`] where conjugate gradients find that the matrix is not positive definite.
    pub fn sweep(&mut self) -> Result<(), AccelerationError> {
        match &mut self.iteration {
            Iteration::Chebyshev(chebyshev) => chebyshev.sweep(&self.matrix),
            Iteration::Conjugate(conjugate) => conjugate.sweep(&self.matrix)?,
        }
        self.sweeps += 1;
        Ok(())
    }

    /// Sweeps made.
    pub fn sweeps(&self) -> u64 {
        self.sweeps
    }

    /// The norms of the residual.
    pub fn residual(&self) -> ResidualNorms {
        let residual = match &self.iteration {
            Iteration::Chebyshev(chebyshev) => chebyshev.residual(),
            Iteration::Conjugate(conjugate) => conjugate.residual(),
        };
        let [l2, max] = self.matrix.residual_norms(residual);
        ResidualNorms { l2, max: Some(max) }
    }

    /// The iterate of a problem, that of [`AcceleratedJacobi::new`].
    pub fn solution(&self, problem: &Problem) -> Field<f64> {
        let mut correction = match &self.iteration {
            Iteration::Chebyshev(chebyshev) => chebyshev.correction(),
            Iteration::Conjugate(conjugate) => conjugate.correction(),
        }
        .to_vec();
        self.matrix.scale_solution(&mut correction);
        let mut solution = problem.initial_iterate::<f64>();
        for (row, correction) in correction.chunks(problem.shape.nx()).enumerate() {
            for (value, correction) in solution.interior_mut(row).iter_mut().zip(correction) {
                *value += correction;
            }
        }
        solution
    }
}

/// What the spectral radius is at most, where that is below 1.
fn bound(radius: Option<SpectralRadius>) -> Result<f64, AccelerationError> {
    let radius = radius.ok_or(AccelerationError::RadiusUnknown)?;
    // An estimate comes from below.
    let rho = radius.value + radius.error;
    if rho < 1.0 { Ok(rho) } else { Err(AccelerationError::NotConvergent) }
}
