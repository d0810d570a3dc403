//! The spectral radius of Jacobi's iteration.

use std::fmt;

/// The spectral radius ρ(I − D⁻¹A), or an estimate of it: Jacobi's iteration converges where it is below 1
/// (Islam & Wang, long version, Eq. 3).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpectralRadius {
    /// ρ.
    pub value: f64,
    /// For an estimate, how much it still changed over the last half of the steps; 0 for a formula.
    pub error: f64,
}

impl SpectralRadius {
    /// Sweeps of Jacobi's iteration for each decimal digit, once the slowest mode alone is left: ln 10 / −ln ρ;
    /// `None` where it does not converge.
    pub fn sweeps_per_digit(&self) -> Option<f64> {
        let sweeps = -(10.0_f64.ln()) / self.value.ln();
        (self.value < 1.0).then_some(sweeps)
    }
}

/// With as many decimals as its distance from 1 takes, three at least: 0.850, 0.9999953.
impl fmt::Display for SpectralRadius {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let distance = (1.0 - self.value).abs().max(1e-14);
        let decimals = (1.0 - distance.log10().floor()).max(3.0) as usize;
        write!(f, "{:.decimals$}", self.value)
    }
}
