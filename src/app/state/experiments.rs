//! Example experiments for the first start.

use crate::app::state::view_settings::{Against, ViewSettings};
use crate::run::{FieldKind, RunSpec};

/// An experiment, and what it shows.
pub struct ExampleExperiment {
    pub title: &'static str,
    pub about: &'static str,
    k: usize,
    overlap: usize,
    field: FieldKind,
    against: Against,
    /// Limit of cycles per second; `None` for maximum speed.
    pub pace: Option<f64>,
}

/// The experiments, on the default problem with tiles of 32² points. The numbers in the sentences
/// are results of `tilescope solve --preset poisson-2d` with the same settings.
pub const EXPERIMENTS: [ExampleExperiment; 5] = [
    ExampleExperiment {
        title: "Edges light up at k = 64",
        about: "The halo around a tile stays frozen for 64 sweeps: the residual concentrates in bright lines between tiles, 98 % of ‖r‖² on 21 % of the points.",
        k: 64,
        overlap: 0,
        field: FieldKind::Residual,
        against: Against::Sweeps,
        pace: Some(10.0),
    },
    ExampleExperiment {
        title: "Overlap 4 fades them out",
        about: "k = 16: neighbouring tiles share four points. The lines fade, and the edge share of ‖r‖² falls from 78 % to 33 %. The curve stays close to classic Jacobi.",
        k: 16,
        overlap: 4,
        field: FieldKind::Residual,
        against: Against::Sweeps,
        pace: Some(30.0),
    },
    ExampleExperiment {
        title: "o = 2 (k − 1) is exact Jacobi",
        about: "k = 8, overlap 14: staleness never reaches an owned point. The staleness map is zero everywhere, and the curves coincide.",
        k: 8,
        overlap: 14,
        field: FieldKind::Staleness,
        against: Against::Sweeps,
        pace: Some(30.0),
    },
    ExampleExperiment {
        title: "k too large",
        about: "k = 256: most sweeps solve a tile for an outdated halo. The run needs 11 times the sweeps of classic Jacobi.",
        k: 256,
        overlap: 0,
        field: FieldKind::Residual,
        against: Against::Sweeps,
        pace: None,
    },
    ExampleExperiment {
        title: "Overlap that no longer pays off",
        about: "k = 16, overlap 24: 3 % fewer sweeps than with overlap 4, but 13 point updates are computed for each one kept. Over solver time, the curve falls far behind classic Jacobi.",
        k: 16,
        overlap: 24,
        field: FieldKind::Residual,
        against: Against::Time,
        pace: None,
    },
];

impl ExampleExperiment {
    /// The run.
    pub fn run(&self) -> RunSpec {
        let mut run = RunSpec::default();
        run.method.k = self.k.into();
        run.method.overlap = vec![self.overlap];
        run
    }

    /// What is shown, and how.
    pub fn view(&self) -> ViewSettings {
        ViewSettings { field: self.field, against: self.against, ..ViewSettings::default() }
    }
}
