//! The published speedups of a paper on sparse matrices: Flagg, Monk, Zhu and Segee, *Optimizing Data Locality for
//! Iterative Matrix Solvers on CUDA*, tables 2 and 3. Its figures 6 to 13 have no numbers in the text.

/// What a number of GPUs gained on the large system over the CPU.
#[derive(Clone, Copy, Debug)]
pub struct GpuSpeedups {
    /// GPUs.
    pub gpus: usize,
    /// With entries as they are stored.
    pub normal: Speedups,
    /// With reorganised rows.
    pub reorganised: Speedups,
}

/// A speedup over the CPU.
#[derive(Clone, Copy, Debug)]
pub struct Speedups {
    /// Of the whole program (table 2).
    pub total: f64,
    /// Of its processing alone (table 3).
    pub processing: f64,
}

const fn speedups(total: f64, processing: f64) -> Speedups {
    Speedups { total, processing }
}

/// Tables 2 and 3.
pub const TABLES: [GpuSpeedups; 3] = [
    GpuSpeedups { gpus: 1, normal: speedups(1.55, 3.30), reorganised: speedups(1.78, 6.72) },
    GpuSpeedups { gpus: 2, normal: speedups(1.60, 3.86), reorganised: speedups(1.73, 5.77) },
    GpuSpeedups { gpus: 3, normal: speedups(1.56, 3.82), reorganised: speedups(1.65, 4.78) },
];

/// The share of processing in the CPU's time that explains both tables: two versions on one GPU that differ in
/// processing alone give P = (1/total₁ − 1/total₂) / (1/processing₁ − 1/processing₂).
pub fn processing_share() -> f64 {
    let GpuSpeedups { normal, reorganised, .. } = TABLES[0];
    (1.0 / normal.total - 1.0 / reorganised.total)
        / (1.0 / normal.processing - 1.0 / reorganised.processing)
}

impl Speedups {
    /// What the program takes beside the CPU's own set-up and shutdown and its own processing, as a share of the CPU's
    /// time: what the GPUs add.
    pub fn added(self) -> f64 {
        let share = processing_share();
        1.0 / self.total - (1.0 - share) - share / self.processing
    }
}

/// What explains the tables, in words.
pub const EXPLAINED: &str = "What explains tables 2 and 3: with the CPU's time 1 and its processing share P, two versions with the same rest give P = (1/1.55 − 1/1.78) / (1/3.30 − 1/6.72) = 0.54. So 46 % was never parallel, nothing could pass 2.2×, and each GPU adds about 0.01 of set-up. The text says that processing took less time with more GPUs for both versions; table 3 says otherwise for the reorganised one (6.72, 5.77, 4.78).";

/// How runs of this program differ from the published ones.
pub const DIFFERS: &str = "Matrices: the paper's are its own (a line of 100 nodes; an ice-sheet model of 168,861 nodes), and it gives neither inner iterations, block size and tolerance nor b and x₀; these are heat-1d in blocks of 25 rows and ice-sheet in blocks of 256 rows in its natural order, 8 inner sweeps, b = 1, x₀ = 0, to 1e-6, read from Matrix Market files. Normal: kernel rows. Its CPU is an Intel Core i7 990X, its GPUs a GTX 680 and two GTX 580; its figures have no numbers in the text. Several GPUs share the blocks of rows; after each cycle they exchange the values that blocks of others read. × compares with the CPU on all threads, normal.";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_number_explains_both_tables() {
        let share = processing_share();
        assert_eq!(format!("{share:.2}"), "0.54");
        // Nothing could pass one over the rest.
        assert!(1.0 / (1.0 - share) < 2.2);
        let added: Vec<_> =
            TABLES.iter().flat_map(|row| [row.normal.added(), row.reorganised.added()]).collect();
        for pair in added.chunks(2) {
            // Both versions need the same beside processing.
            assert!((pair[0] - pair[1]).abs() < 0.01, "{added:?}");
        }
        let each = (added[4] - added[0]) / 2.0;
        assert!((0.005..0.015).contains(&each), "{added:?}");
    }
}
