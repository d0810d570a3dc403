//! Chebyshev's acceleration (Golub and Varga, *Chebyshev semi-iterative methods*, Numer. Math. 3 (1961)):
//! u_{n+1} = ω_{n+1} (J u_n − u_{n−1}) + u_{n−1}, where J u is a sweep of Jacobi's iteration.

use crate::problem::scaled_matrix::ScaledMatrix;
use rayon::prelude::*;

/// An iteration from the correction 0.
pub(super) struct Chebyshev {
    /// A bound of the spectral radius, below 1.
    rho: f64,
    omega: f64,
    rhs: Vec<f64>,
    correction: Vec<f64>,
    previous: Vec<f64>,
    residual: Vec<f64>,
    sweeps: u64,
}

impl Chebyshev {
    /// Arrays of the grid that it holds.
    pub const ARRAYS: usize = 4;

    /// An iteration towards the solution of the scaled system with this right-hand side, the residual of the
    /// initial guess.
    pub fn new(rhs: Vec<f64>, rho: f64) -> Self {
        let [correction, previous] = [0, 1].map(|_| vec![0.0; rhs.len()]);
        let residual = rhs.clone();
        Self { rho, omega: 1.0, rhs, correction, previous, residual, sweeps: 0 }
    }

    /// Makes the next correction, J y_n = y_n + r_n, and finds its residual.
    pub fn sweep(&mut self, matrix: &ScaledMatrix) {
        let square = self.rho * self.rho;
        self.omega = match self.sweeps {
            0 => 1.0,
            1 => 1.0 / (1.0 - 0.5 * square),
            _ => 1.0 / (1.0 - 0.25 * square * self.omega),
        };
        let Self { omega, correction, residual, previous, rhs, .. } = self;
        let omega = *omega;
        update(previous, |i, previous| omega * (correction[i] + residual[i] - previous) + previous);
        std::mem::swap(correction, previous);
        matrix.multiply(correction, residual);
        update(residual, |i, product| rhs[i] - product);
        self.sweeps += 1;
    }

    pub fn residual(&self) -> &[f64] {
        &self.residual
    }

    pub fn correction(&self) -> &[f64] {
        &self.correction
    }
}

/// to[i] = value(i, to[i]), on the threads of rayon.
fn update(to: &mut [f64], value: impl Fn(usize, f64) -> f64 + Sync) {
    to.par_iter_mut().enumerate().for_each(|(i, to)| *to = value(i, *to));
}
