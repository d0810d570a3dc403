//! What a run takes, stage by stage, as in the paper on sparse matrices (Flagg, Monk, Zhu and Segee, section 5).

use crate::run::runner::Run;

/// Seconds of the stages of a run. Set-up is all before the cycles, shutdown what comes after; both are measured apart
/// of a matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunTimes {
    /// To read the matrix, or to generate it.
    pub read: f64,
    /// To put its rows in order.
    pub order: f64,
    /// To put the entries of its blocks into the lists of the kernel.
    pub reorganise: f64,
    /// To copy them to a GPU.
    pub upload: f64,
    /// Of the cycles, by the solver's own clock.
    pub processing: f64,
    /// To copy the unknowns from a GPU, the last time that they were observed.
    pub download: f64,
}

impl RunTimes {
    /// Of a run so far.
    pub fn of(run: &Run) -> Self {
        let (plan, solver) = (run.plan().times, run.solver().set_up_times());
        Self {
            read: plan.read,
            order: plan.order,
            reorganise: solver.reorganise,
            upload: solver.upload,
            processing: run.seconds(),
            download: run.solver().download_seconds(),
        }
    }

    /// All stages in their order, by name.
    pub fn stages(&self) -> [(&'static str, f64); 6] {
        [
            ("read", self.read),
            ("order", self.order),
            ("reorganise", self.reorganise),
            ("upload", self.upload),
            ("processing", self.processing),
            ("download", self.download),
        ]
    }

    /// All before the cycles.
    pub fn set_up(&self) -> f64 {
        self.read + self.order + self.reorganise + self.upload
    }
}
