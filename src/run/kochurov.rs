//! The published times of a paper on grids larger than the memory of a GPU: Kochurov, Vorotnikova and Golovashkin, *GPU
//! Implementation of Jacobi Method for Data Arrays that Exceed GPU-dedicated Memory Size*, table 1.

use serde::Serialize;

/// A row of table 1: a cube, in f32.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PublishedCube {
    /// N: points along each side.
    pub side: usize,
    /// Iterations, each of them a sweep.
    pub sweeps: u64,
    /// Seconds on a CPU with 12 threads.
    pub cpu_seconds: f64,
    /// Seconds with the pyramid method on its GPU.
    pub pyramid_seconds: f64,
}

const fn cube(side: usize, sweeps: u64, cpu_seconds: f64, pyramid_seconds: f64) -> PublishedCube {
    PublishedCube { side, sweeps, cpu_seconds, pyramid_seconds }
}

/// Table 1.
pub const TABLE_1: [PublishedCube; 3] = [
    cube(800, 8300, 9687.0, 1353.0),
    cube(900, 11200, 20003.0, 2671.0),
    cube(1000, 12300, 33543.0, 4218.0),
];

/// Bytes of the memory of its GPU.
pub const MEMORY: u64 = 2_500_000_000;

impl PublishedCube {
    /// R: planes that the memory of the paper's GPU has room for, in three arrays.
    pub fn planes(&self) -> usize {
        MEMORY as usize / (12 * self.side.pow(2))
    }

    /// Seconds per point and sweep of a time that this row has.
    pub fn per_update(&self, seconds: f64) -> f64 {
        seconds / (self.side.pow(3) as f64 * self.sweeps as f64)
    }
}

/// What explains the table, in words.
pub const EXPLAINED: &str = "What explains table 1: its pyramid takes 0.318, 0.327 and 0.343 ns per point and sweep, its CPU 2.28 to 2.73. Its own model with τ_c = 0.50 ns to move a value and τ_a = 0.2355 ns to update a point gives 0.317, 0.329 and 0.342 at n = 35, 30 and 26, with the R = 325, 257 and 208 planes that its memory of 2.5 GB has room for.";

/// How runs of this program differ from the published ones.
pub const DIFFERS: &str = "Kochurov et al., table 1: the paper names neither f, u₀, ε, n nor R. These are Poisson's equation in f32 with the published number of iterations, a budget of 2.5 GB for the published sides (for a part of each side the same part of its planes), and heights by the model. Times are those of some passes, times the passes of the run: all take the same.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_and_sweep_take_what_is_said() {
        let ns = |seconds: fn(&PublishedCube) -> f64| {
            TABLE_1.map(|row| format!("{:.3}", 1e9 * row.per_update(seconds(&row))))
        };
        assert_eq!(ns(|row| row.pyramid_seconds), ["0.318", "0.327", "0.343"]);
        assert_eq!(ns(|row| row.cpu_seconds), ["2.280", "2.450", "2.727"]);
        assert_eq!(TABLE_1.map(|row| row.planes()), [325, 257, 208]);
    }
}
