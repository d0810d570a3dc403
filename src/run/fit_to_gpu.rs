//! What back end `auto` makes of a run that does not fit into the memory of the GPU, or that streams through a budget which
//! nobody chose: its planes visit the GPU, in a window as large as the GPU has room for.

use super::auto_stream::AutoStream;
use super::plan::{Plan, PlanError, Planner, StreamedRun};
use super::spec::{Backend, ProblemKind, RunSpec, StopRule};
use crate::grid::{ByteCount, Shape};
use crate::solver::{Height, Kernel, MethodName, SOLVER_ARRAYS, SolverError, cuda};
use std::sync::Arc;

/// The most sweeps of a cycle that takes the place of as many cycles of method `classic`: enough for the sweeps to take
/// longer than the copies (on an H200 50 to 90), and few, since a tolerance is compared after the last of them.
const MOST_SWEEPS: usize = 128;

/// The part of the free memory that is left to others is one over this.
const MARGIN: u64 = 8;

/// The budget is this, doubled or halved: what is free changes from run to run, and the cycles are not to.
const UNIT: u64 = 1_000_000_000;

/// The budget that a GPU with so many free bytes has room for.
fn budget(free: u64) -> ByteCount {
    let (room, mut budget) = (free - free / MARGIN, UNIT);
    while budget <= room / 2 {
        budget *= 2;
    }
    while budget > room {
        budget /= 2;
    }
    ByteCount::new(budget)
}

impl Planner {
    /// [`Planner::plan`], where [`Backend::Auto`] may change a run so that it takes the GPU: one of method `classic` that does
    /// not fit into its memory is made by method `wavefront`, and one that streams through a budget which nobody chose gets
    /// that of the GPU. Their sweeps have the same bits, but a cycle may be another number of them ([`Plan::auto_stream`]).
    ///
    /// # Errors
    /// [`PlanError`] names the field, its value, and what is allowed.
    pub fn plan_to_fit(&mut self, spec: &RunSpec) -> Result<Plan, PlanError> {
        match self.fitted(spec) {
            Some(plan) => Ok(plan),
            None => self.plan(spec),
        }
    }

    /// A plan, with the run that [`Planner::plan_to_fit`] would make in its place where it has no room on the GPU.
    pub(super) fn with_streamed(&mut self, plan: Plan) -> Plan {
        let is_full = matches!(plan.without_gpu, Some(SolverError::DeviceMemory { .. }));
        let streamed = if is_full { self.streamed(&plan.spec) } else { None };
        Plan { streamed, ..plan }
    }

    fn streamed(&mut self, spec: &RunSpec) -> Option<Arc<StreamedRun>> {
        let plan = self.fitted(spec)?;
        let spec = plan.streamed_in_place()?;
        Some(Arc::new(StreamedRun { spec, why: plan.auto_stream? }))
    }

    /// The plan of a run whose planes visit the GPU in place of the run that is described, where there is reason to, and a
    /// GPU that takes it.
    fn fitted(&mut self, spec: &RunSpec) -> Option<Plan> {
        let shape = spec.problem.grid().filter(|_| may_change(spec))?;
        let device = self.device(*spec.method.devices.first()?);
        self.auto.check(&device)?.ok()?;
        let (fitted, auto_stream) =
            fitted(spec, &shape, &device.name()?, device.free_memory().ok()?)?;
        let plan = self.plan(&fitted).ok()?;
        device.check_kernel(Kernel::AUTO, &plan.method, plan.precision, &shape, false).ok()?;
        let devices = std::slice::from_ref(&device);
        cuda::check_memory(&plan.problem, &plan.method, plan.precision, devices).ok()?;
        Some(Plan { auto_stream: Some(auto_stream), ..plan })
    }
}

impl Plan {
    /// The run that was planned in place of the one that was described so that it takes the GPU ([`Planner::plan_to_fit`]),
    /// as it can be described on any machine; `None` where that is the one that was described.
    pub fn streamed_in_place(&self) -> Option<RunSpec> {
        self.auto_stream.as_ref()?;
        let mut spec = self.spec.clone();
        spec.method.backend = Backend::Auto;
        Some(spec)
    }
}

/// Bytes that method `classic` takes on a GPU: its three arrays are those of a CPU.
fn classic_bytes(spec: &RunSpec, shape: &Shape) -> u64 {
    shape.array_bytes(SOLVER_ARRAYS, spec.method.precision)
}

/// Whether there are GPUs for which the run would be changed.
fn may_change(spec: &RunSpec) -> bool {
    let is_on_one_device = spec.method.device_count().is_none();
    let is_open = spec.method.backend == Backend::Auto && is_on_one_device;
    is_open && (spec.method.streams_through_cache() || is_plain(spec))
}

/// The run to make in place of `spec` on a GPU with so many free bytes; `None` where `spec` is to be made as it is. Both
/// make the same sweeps, and as many at most where `spec` is of method `classic`.
fn fitted(spec: &RunSpec, shape: &Shape, gpu: &str, free: u64) -> Option<(RunSpec, AutoStream)> {
    let is_classic = spec.method.name == MethodName::Classic;
    let needed = is_classic.then(|| classic_bytes(spec, shape));
    if !may_change(spec) || needed.is_some_and(|needed| needed <= free) {
        return None;
    }
    let mut fitted = spec.clone();
    let (method, memory) = (&mut fitted.method, budget(free));
    if is_classic {
        method.set_name(MethodName::Wavefront);
        method.kernel = Kernel::AUTO;
    }
    (method.backend, method.memory) = (Backend::Cuda, Some(memory));
    let mut height = method.streaming(shape).ok()?.height();
    if is_classic {
        height = divisor(spec.stop.max_cycles, height.min(MOST_SWEEPS));
        fitted.stop.max_cycles /= height as u64;
        // The update of a cycle was that of a sweep.
        if fitted.stop.rule == StopRule::Change {
            fitted.stop.rule = StopRule::ChangePerSweep;
        }
    }
    method.height = Some(Height::Sweeps(height));
    let stream = AutoStream { gpu: gpu.to_owned(), free, needed, memory, height };
    Some((fitted, stream))
}

/// Whether the run is Jacobi's iteration, sweep by sweep, whose planes can stream.
fn is_plain(spec: &RunSpec) -> bool {
    let method = &spec.method;
    method.name == MethodName::Classic
        && spec.store.is_none()
        && method.omega == 1.0
        && method.block_size.is_none()
        && [Kernel::AUTO, Kernel::FASTEST, Kernel::CLASSIC].contains(&method.kernel)
        && !matches!(spec.problem.kind, ProblemKind::Matrix | ProblemKind::Diffusion)
        && spec.stop.max_cycles > 0
}

/// The largest divisor of a number that is at most `most`.
fn divisor(number: u64, most: usize) -> usize {
    (1..=most).rev().find(|divisor| number.is_multiple_of(*divisor as u64)).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Precision;
    use crate::solver::{Slabs, Streaming};
    use proptest::prelude::*;

    fn classic() -> RunSpec {
        let mut spec = RunSpec::default();
        spec.method.set_name(MethodName::Classic);
        spec.problem.shape = vec![1024, 1024, 1024];
        spec
    }

    fn fit(spec: &RunSpec, free: u64) -> Option<RunSpec> {
        fitted(spec, &spec.problem.grid().unwrap(), "Test GPU", free).map(|(spec, _)| spec)
    }

    const GB: u64 = 1_000_000_000;

    #[test]
    fn a_run_that_fits_is_made_as_it_is() {
        let spec = classic();
        let needed = classic_bytes(&spec, &spec.problem.grid().unwrap());
        assert!((25 * GB..27 * GB).contains(&needed), "{needed}");
        assert_eq!(fit(&spec, needed), None);
        let made = fit(&spec, needed - 1).unwrap();
        assert_eq!(made.method.name, MethodName::Wavefront);
        assert_eq!(made.method.backend, Backend::Cuda);
        assert_eq!(made.method.memory, Some(ByteCount::new(16 * GB)));
        // 10,000,000 sweeps are 78,125 passes of 128.
        assert_eq!(made.method.height, Some(Height::Sweeps(128)));
        assert_eq!(made.stop.max_cycles, 78_125);
    }

    #[test]
    fn only_plain_sweeps_are_made_otherwise() {
        let refuses = |change: &dyn Fn(&mut RunSpec)| {
            let mut spec = classic();
            change(&mut spec);
            fit(&spec, 8 * GB).is_none()
        };
        assert!(!refuses(&|_| ()));
        assert!(refuses(&|spec| spec.method.backend = Backend::Cpu));
        assert!(refuses(&|spec| spec.method.backend = Backend::Cuda));
        assert!(refuses(&|spec| spec.method.set_name(MethodName::Hierarchical)));
        assert!(refuses(&|spec| spec.method.omega = 0.9));
        assert!(refuses(&|spec| spec.method.block_size = Some(64)));
        assert!(refuses(&|spec| spec.method.simulate_devices = Some(2)));
        assert!(refuses(&|spec| spec.method.devices = vec![0, 1]));
        assert!(refuses(&|spec| spec.problem.kind = ProblemKind::Diffusion));
    }

    #[test]
    fn a_tolerance_of_the_update_of_a_sweep_stays_one() {
        let mut spec = classic();
        spec.stop.rule = StopRule::Change;
        assert_eq!(fit(&spec, 8 * GB).unwrap().stop.rule, StopRule::ChangePerSweep);
        spec.method.set_name(MethodName::Wavefront);
        let made = fit(&spec, 8 * GB).unwrap();
        assert_eq!(made.stop.rule, StopRule::Change, "a cycle was a pass before");
    }

    #[test]
    fn a_budget_that_nobody_chose_is_that_of_the_gpu() {
        let mut spec = classic();
        spec.method.set_name(MethodName::Pyramid);
        let made = fit(&spec, 15 * GB).unwrap();
        let memory = ByteCount::new(8 * GB);
        assert_eq!(made.method.memory, Some(memory));
        let shape = spec.problem.grid().unwrap();
        let best = Streaming::on_gpu(
            MethodName::Pyramid,
            Height::Auto,
            Slabs::Auto,
            memory,
            &shape,
            Precision::F64,
        );
        assert_eq!(made.method.height, Some(Height::Sweeps(best.unwrap().height())));
        assert_eq!(made.stop, spec.stop, "a cycle was a pass before");
        spec.method.height = Some(Height::Sweeps(3));
        assert_eq!(fit(&spec, 15 * GB).unwrap().method.height, spec.method.height);
        spec.method.memory = Some(memory);
        assert_eq!(fit(&spec, 15 * GB), None, "it was chosen");
    }

    #[test]
    fn what_has_no_room_for_a_window_is_made_as_it_is() {
        // Six planes of 1026 × 1032 values, three times.
        assert_eq!(fit(&classic(), 150_000_000), None);
    }

    proptest! {
        /// The run is as long as it was, and its window leaves a part of the free memory.
        #[test]
        fn as_many_sweeps_in_less_memory(free in 1_000_000_u64..300 * GB, cycles in 1_u64..1_000_000) {
            let mut spec = classic();
            spec.stop.max_cycles = cycles;
            let budget = budget(free).bytes();
            prop_assert!(budget <= free - free / MARGIN && budget > free / 4, "{budget} of {free}");
            if let Some(made) = fit(&spec, free) {
                let height = made.sweeps_per_cycle();
                prop_assert_eq!(height * made.stop.max_cycles, cycles);
                prop_assert!(height <= MOST_SWEEPS as u64);
                prop_assert!(made.method.streaming(&made.problem.grid().unwrap()).is_ok());
            }
        }
    }
}
