//! What a solver does, by role: it makes cycles, it is observed, it describes itself.

use super::{
    CycleNorms, DeviceInfo, Devices, EdgeShare, ExchangePath, FieldObservation, FieldRequest,
    Kernel, Method, NormRequest, Norms, PassProgress, PassTimes, Quantity, Samples, SolverError,
    Statistics, StopToken, Streaming, Traffic, Window,
};
use crate::grid::{Field, Region, Shape, Tiling};
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

/// Cycles that were made together.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// How many, at least 1.
    pub cycles: u64,
    /// The norms of each cycle, in order; empty where none were requested.
    pub norms: Vec<CycleNorms>,
    /// Seconds that the solver took, by its own clock: on a GPU, by the GPU's events.
    pub seconds: f64,
}

/// Seconds that setting up a solver of a matrix took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SetUpTimes {
    /// To divide the rows by their diagonals and to put their entries into the lists of the kernel.
    pub reorganise: f64,
    /// To copy them to a GPU.
    pub upload: f64,
}

/// An iteration under way on one system.
///
/// After a cycle that failed, its iterate is undefined, but after one that was [stopped](SolverError::Stopped).
pub trait Solver: Advance + Observe + Describe + Any + Send {
    /// Another method on the same system and the same back end, at the initial guess; what can be
    /// shared is shared. `kernel` has no meaning on the CPU.
    ///
    /// # Errors
    /// [`SolverError`] if its arrays would not fit, or the kernel does not accept the method.
    fn with_method(&self, method: Method, kernel: Kernel) -> Result<Box<dyn Solver>, SolverError>;

    /// Goes on from the present iterate with another pass of planes through fast memory; returns whether it can. Its
    /// arrays may be a large part of a machine's memory, so that there is no room for those of another solver.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU has no room for its window.
    fn set_streaming(&mut self, _streaming: Streaming) -> Result<bool, SolverError> {
        Ok(false)
    }
}

/// The role of making cycles.
///
/// # Errors
/// All methods return a [`SolverError`] if the GPU fails.
pub trait Advance {
    /// Makes at least one cycle and at most `most` (which is at least 1), as many as take a few
    /// milliseconds, and finds the norms that are requested. Norms that are not in
    /// [`Describe::free_norms`] cost a pass over the grid for each cycle.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU has no room for the norms, or fails.
    fn cycles(&mut self, most: u64, norms: NormRequest) -> Result<Batch, SolverError>;

    /// Starts the cycles that the next [`Advance::cycles`] returns, at most `most` (which is at least 1),
    /// and does not wait for them: until then the present iterate stays, and can be observed while they
    /// are made. A solver that cannot do so starts nothing.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn begin(&mut self, _most: u64, _norms: NormRequest) -> Result<(), SolverError> {
        Ok(())
    }

    /// Makes a piece of the cycle that the next [`Advance::cycles`] begins with, of about this time, for a thread that has other
    /// work in between; returns whether nothing is left of it that takes long. Until those cycles are made, the present iterate
    /// stays, and that before it is lost. `norms` are those of the cycles. A solver that makes no pieces makes nothing.
    fn make_piece(&mut self, _norms: NormRequest, _longest: Duration) -> bool {
        true
    }

    /// Leaves cycles unfinished while this is due, also those of solvers that are made of this one later:
    /// [`Advance::cycles`] then fails with [`SolverError::Stopped`], and the iterate is that of the last whole cycle. A
    /// solver that cannot stop in the middle of a cycle makes it to its end.
    fn stop_on(&mut self, _stop: &StopToken) {}

    /// Goes back to the initial guess u₀.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn restart(&mut self) -> Result<(), SolverError>;

    /// Continues from another iterate of the same problem, with its boundary values, such as one that was
    /// made by another solver. The update of the last cycle is zero then. Devices that share a grid start with
    /// an exchange, so the cycles are those of a run only from an iterate after which it had one.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn start_from(&mut self, iterate: &Field<f64>) -> Result<(), SolverError>;

    /// Waits until the present iterate is on the disk, where it lies in a file.
    ///
    /// # Errors
    /// [`SolverError`] if the system reports an error.
    fn sync(&self) -> Result<(), SolverError> {
        Ok(())
    }

    /// Takes the exact solution of the discrete system, so that errors can be found.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU has no room for it, or fails.
    fn set_exact(&mut self, exact: Arc<Field<f64>>) -> Result<(), SolverError>;
}

/// The role of being observed: nothing here changes the iterate.
///
/// # Errors
/// All methods return a [`SolverError`] if the GPU fails.
pub trait Observe {
    /// Norms of the present iterate, each by a pass over the grid. The residual's agree with
    /// [`CycleNorms::residual_before`] of the next cycle up to the order of summation.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn norms(&self, request: NormRequest) -> Result<Norms, SolverError>;

    /// Samples of a field, the edge share and statistics, as far as they are requested: in one pass over
    /// the grid where the solver can.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn observe(&self, request: FieldRequest<'_>) -> Result<FieldObservation, SolverError>;

    /// The values of a field at single points [column, row] of the interior. Unknown values are NaN.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn values(
        &self,
        quantity: Quantity<'_>,
        points: &[[usize; 2]],
    ) -> Result<Vec<f32>, SolverError>;

    /// A copy of the present iterate, with its boundary values.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn solution(&self) -> Result<Field<f64>, SolverError>;

    /// A copy of the iterate before the last cycle, with its boundary values; the present one where no cycle was
    /// made of it.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn previous(&self) -> Result<Field<f64>, SolverError>;

    /// A copy of a part of the present iterate, surrounded by what lies around it: points or boundary.
    /// Its ranges are interior and not empty; in 1D the second is of the systems of a batch.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn solution_part(&self, part: &Region) -> Result<Field<f64>, SolverError>;

    /// A copy of some planes of the present iterate of a 3D grid, and the one on either side; `None` where it takes as long
    /// as [`Observe::solution`].
    fn solution_planes(&self, _planes: Range<usize>) -> Option<Field<f64>> {
        None
    }

    /// A copy of one interior row of the present iterate, without its boundary values: `nx` values.
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn solution_row(&self, row: usize) -> Result<Vec<f64>, SolverError>;

    /// A part of a field, thinned out to what can be shown ([`Observe::observe`] of samples alone).
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn sample(&self, quantity: Quantity<'_>, window: &Window) -> Result<Samples, SolverError> {
        let request = FieldRequest { window: Some(window), ..FieldRequest::nothing(quantity) };
        Ok(self.observe(request)?.samples.unwrap_or_default())
    }

    /// How much of ‖r‖² lies near the tile borders of `tiling` ([`Observe::observe`] of it alone).
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn edge_share(&self, tiling: &Tiling) -> Result<EdgeShare, SolverError> {
        let nothing = FieldRequest::nothing(Quantity::Residual);
        let request = FieldRequest { edge_share: Some(tiling), ..nothing };
        Ok(self.observe(request)?.edge_share.unwrap_or_default())
    }

    /// The magnitudes of a field by distance from the tile borders of `tiling`, and in the mean tile: the
    /// same on every back end to the last bit ([`Observe::observe`] of them alone).
    ///
    /// # Errors
    /// [`SolverError`] if the GPU fails.
    fn statistics(
        &self,
        quantity: Quantity<'_>,
        tiling: &Tiling,
    ) -> Result<Statistics, SolverError> {
        let request = FieldRequest { statistics: Some(tiling), ..FieldRequest::nothing(quantity) };
        Ok(self.observe(request)?.statistics.unwrap_or_default())
    }
}

/// The role of describing itself.
pub trait Describe {
    /// The interior points of the problem.
    fn shape(&self) -> &Shape;

    /// The norms that come with a cycle at no cost. The others cost a pass over the grid per cycle.
    fn free_norms(&self) -> NormRequest;

    /// The GPU that it runs on; `None` on the CPU.
    fn device(&self) -> Option<&DeviceInfo>;

    /// The devices that share its grid, where they were shared out by what was measured when it was set up; `None` where
    /// they are those of its method.
    fn measured_devices(&self) -> Option<&Devices> {
        None
    }

    /// What values go through from one GPU to another, each path once; none on a single GPU, and on the CPU.
    fn exchange_paths(&self) -> &[ExchangePath] {
        &[]
    }

    /// Seconds that setting it up took, as far as it was made anew; zero where they are not measured apart.
    fn set_up_times(&self) -> SetUpTimes {
        SetUpTimes::default()
    }

    /// Rows that all blocks of a matrix compute in a sweep, those of their overlap included; `None` on a grid, and where there
    /// are no blocks.
    fn computed_rows(&self) -> Option<usize> {
        None
    }

    /// Seconds that copying its iterate from a GPU took the last time; zero where it is at hand.
    fn download_seconds(&self) -> f64 {
        0.0
    }

    /// What the last cycle moved to and from fast memory and computed; `None` for a method that does not
    /// stream, and before the first cycle.
    fn traffic(&self) -> Option<Traffic> {
        None
    }

    /// When the parts of the last pass were made, with a method that streams; `None` where they are not timed, and before
    /// the first pass.
    fn pass_times(&self) -> Option<Arc<PassTimes>> {
        None
    }

    /// How far the pass under way has come, to be read while it is made; `None` where that is not known.
    fn pass_progress(&self) -> Option<Arc<PassProgress>> {
        None
    }
}
