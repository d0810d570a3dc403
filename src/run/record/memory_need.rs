//! What a run needs in memory, summed before its first array is allocated.

use super::snapshot::SnapshotRequest;
use crate::grid::Precision;
use crate::grid::memory::{available, human, mappable};
use crate::problem;
use crate::run::modes::{CycleRate, ModeDamping};
use crate::run::observe::{FieldKind, Frequencies};
use crate::run::plan::Plan;
use crate::run::runner::confirm::true_residual_bytes;
use crate::solver::{
    Acceleration, Kernel, Method, Place, SOLVER_ARRAYS, system_bytes, working_bytes,
};

/// Arrays of another solver of the same system, which shares g.
const BESIDE: usize = 2;

/// Classic Jacobi beside a run.
const JACOBI: &str = "Jacobi's iteration";

/// The rows of a matrix.
const ROWS: &str = "the rows of the matrix";

/// b − A u of an iterate.
const RESIDUAL: &str = "its residual";

/// Bytes that a run needs on this machine, part by part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryNeed {
    parts: Vec<(&'static str, u64)>,
    /// Bytes of files that are mapped: they take addresses, and no memory.
    mapped: u64,
}

/// A run that does not fit into the memory that is free.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this run needs {} of {what} ({parts}); {} is free: {advice}", human(*.needed), human(*.available))]
pub struct MemoryShort {
    /// Bytes needed.
    pub needed: u64,
    /// Bytes free.
    pub available: u64,
    /// Memory or addresses.
    what: &'static str,
    /// What they are needed for.
    parts: String,
    /// What helps.
    advice: &'static str,
}

impl MemoryNeed {
    /// The part of a figure: it goes by its size in pixels.
    pub const FIGURE: &'static str = "the figure";

    /// Of a run, its end included, of which `fields` are observed.
    pub fn of(plan: &Plan, fields: &[FieldKind]) -> Self {
        let shape = &plan.problem.shape;
        let arrays = |count, precision| shape.array_bytes(count, precision);
        let mut need = Self::default();
        let is_matrix = plan.problem.operator.matrix().is_some();
        if is_matrix {
            need.add(ROWS, system_bytes(&plan.problem, plan.precision));
        }
        // A matrix on a GPU is cut into the same blocks there, and observed on this machine, as is a grid that devices share;
        // planes that visit a GPU live here.
        let is_on_cpu = matches!(plan.place, Place::Cpu { .. });
        let streams = plan.method.streaming().is_some();
        let is_shared = plan.method.devices().is_some();
        if is_on_cpu || is_matrix || streams || is_shared {
            let chosen = match plan.place {
                Place::Cpu { threads, kernel } => (kernel, threads),
                Place::Cuda { .. } => (Kernel::AUTO, 0),
            };
            let of_rows = plan.problem.operator.row_arrays(shape);
            need.add("the solver", arrays(SOLVER_ARRAYS + of_rows, plan.precision));
            let bytes = working_bytes(&plan.problem, &plan.method, plan.precision, chosen);
            if is_on_cpu || is_matrix {
                need.add(working_name(&plan.method, is_matrix), bytes);
            }
            if fields.contains(&FieldKind::Staleness) {
                need.add(JACOBI, arrays(BESIDE, plan.precision));
            }
        }
        if fields.contains(&FieldKind::Error) {
            need.add(
                "the exact solution",
                arrays(problem::exact_arrays(&plan.problem), Precision::F64),
            );
        }
        if shape.dim() == 3 {
            need.add(RESIDUAL, arrays(1, Precision::F64));
        }
        need
    }

    /// Of a run whose arrays lie in a store: what it works in beside them, on the CPU, and the planes whose residual is found
    /// at a time. A window onto a GPU is in the GPU's memory, and files that are mapped are none: neither the arrays nor a
    /// right-hand side or an initial guess that the run reads.
    pub fn in_store(plan: &Plan) -> Self {
        let mut need = Self {
            mapped: plan.problem.shape.array_bytes(SOLVER_ARRAYS, plan.precision),
            ..Self::default()
        };
        if let Place::Cpu { threads, kernel } = plan.place {
            let chosen = (kernel, threads);
            let bytes = working_bytes(&plan.problem, &plan.method, plan.precision, chosen);
            need.add(working_name(&plan.method, false), bytes);
        }
        need.add(RESIDUAL, true_residual_bytes(&plan.problem.shape, plan.precision));
        need
    }

    /// Of a run that is made for a snapshot, with all that is made beside it.
    pub fn of_snapshot(plan: &Plan, request: &SnapshotRequest) -> Self {
        let (problem, method) = (&plan.problem, &plan.method);
        let mut fields = vec![request.field()];
        if request.needs_exact() {
            fields.push(FieldKind::Error);
        }
        let mut need = Self::of(plan, &fields);
        let arrays = |count, precision| problem.shape.array_bytes(count, precision);
        if request.classic.is_some() && request.field() != FieldKind::Staleness {
            need.add(JACOBI, arrays(BESIDE, plan.precision));
        }
        for acceleration in Acceleration::ALL {
            if request.accelerated[acceleration as usize].is_some() {
                need.add(acceleration.label(), arrays(acceleration.arrays(), Precision::F64));
            }
        }
        let observation = &request.observation;
        if observation.frequencies.is_some() {
            need.add("its frequencies", Frequencies::bytes(problem));
        }
        if observation.damping {
            need.add("damping by mode", ModeDamping::bytes(problem, method));
        }
        if observation.rate {
            need.add("the asymptotic rate", CycleRate::bytes(problem, method));
        }
        need
    }

    /// Adds what something else needs, if it is anything.
    pub fn add(&mut self, what: &'static str, bytes: u64) {
        if bytes > 0 {
            self.parts.push((what, bytes));
        }
    }

    /// The bytes of all parts.
    pub fn bytes(&self) -> u64 {
        self.parts.iter().fold(0, |sum, (_, bytes)| sum.saturating_add(*bytes))
    }

    /// Checks it against the memory that is free now.
    ///
    /// # Errors
    /// [`MemoryShort`] with every part.
    pub fn check(&self, precision: Precision) -> Result<(), MemoryShort> {
        self.check_addresses(mappable())?;
        self.check_against(available(), precision)
    }

    /// Checks it and the files that it maps against so many addresses.
    fn check_addresses(&self, available: u64) -> Result<(), MemoryShort> {
        let needed = self.bytes().saturating_add(self.mapped);
        if self.mapped == 0 || needed <= available {
            return Ok(());
        }
        let mut all = self.clone();
        all.add("its files", self.mapped);
        let advice = "raise their limit (ulimit -v)";
        Err(MemoryShort { needed, available, what: "addresses", parts: all.named(), advice })
    }

    /// The parts, as a sentence lists them.
    fn named(&self) -> String {
        let parts = self.parts.iter().map(|(what, bytes)| format!("{what} {}", human(*bytes)));
        parts.collect::<Vec<_>>().join(", ")
    }

    /// Checks it against this much memory.
    fn check_against(&self, available: u64, precision: Precision) -> Result<(), MemoryShort> {
        let needed = self.bytes();
        if needed <= available {
            return Ok(());
        }
        let largest = self.parts.iter().max_by_key(|(_, bytes)| bytes).map(|(what, _)| *what);
        let is_matrix = self.parts.iter().any(|(what, _)| *what == ROWS);
        let advice = match (precision, cfg!(target_arch = "wasm32")) {
            _ if largest == Some(Self::FIGURE) => "use a smaller size of the figure",
            (Precision::F32, false) if is_matrix => "use a smaller matrix",
            (Precision::F64, false) if is_matrix => "use a smaller matrix, or precision f32",
            (Precision::F32, false) => "use a smaller shape",
            (Precision::F64, false) => "use a smaller shape, or precision f32",
            // A page has a limit of its own.
            (Precision::F32, true) => "use a smaller shape, or the program for the desktop",
            (Precision::F64, true) => {
                "use a smaller shape, precision f32, or the program for the desktop"
            }
        };
        Err(MemoryShort { needed, available, what: "memory", parts: self.named(), advice })
    }
}

/// What a method works in beside its arrays.
fn working_name(method: &Method, is_matrix: bool) -> &'static str {
    if method.streaming().is_some() {
        "the slab or window"
    } else if method.devices().is_some() {
        "the devices"
    } else if is_matrix {
        "its blocks"
    } else if *method == Method::Classic {
        "the planes at work"
    } else {
        "the tiles at work"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{
        Backend, FrequencyRequest, MatrixSpec, MethodName, Planner, ProblemKind, RunSpec,
    };

    const FREQUENCIES: FrequencyRequest = FrequencyRequest { most: [9; 2], slice: None };

    #[test]
    fn all_parts_are_summed_before_anything_is_allocated() {
        let mut spec = RunSpec::default();
        spec.problem.shape = vec![998, 498];
        spec.method.backend = Backend::Cpu;
        spec.method.set_name(MethodName::Classic);
        let plan = Planner::default().plan(&spec).unwrap();
        let need = |field| MemoryNeed::of(&plan, &[field]);
        let array = 1000 * 500 * 8;
        assert_eq!(need(FieldKind::Residual).bytes(), 3 * array);
        assert_eq!(need(FieldKind::Staleness).bytes(), 5 * array);
        assert!(need(FieldKind::Error).bytes() >= 5 * array);
        let both = MemoryNeed::of(&plan, &[FieldKind::Staleness, FieldKind::Error]);
        assert_eq!(both.bytes(), need(FieldKind::Error).bytes() + 2 * array);
        let mut error = need(FieldKind::Error);
        error.add(MemoryNeed::FIGURE, 7);
        let all = error.bytes();
        assert_eq!(error.check_against(all, Precision::F64), Ok(()));
        let said = error.check_against(all - 1, Precision::F64).unwrap_err().to_string();
        for part in ["(the solver 12.0 MB, the exact solution ", ", the figure 7 B)", "f32"] {
            assert!(said.contains(part), "{said}");
        }
    }

    /// What helps goes by what needs most.
    #[test]
    fn a_figure_that_needs_most_is_to_be_smaller() {
        let mut spec = RunSpec::default();
        spec.problem.shape = vec![100, 100];
        spec.method.backend = Backend::Cpu;
        let plan = Planner::default().plan(&spec).unwrap();
        let mut need = MemoryNeed::of(&plan, &[FieldKind::Residual]);
        let said =
            |need: &MemoryNeed| need.check_against(0, Precision::F64).unwrap_err().to_string();
        assert!(said(&need).ends_with("use a smaller shape, or precision f32"));
        need.add(MemoryNeed::FIGURE, 1 << 30);
        assert!(said(&need).ends_with(": use a smaller size of the figure"));
    }

    /// Arrays that lie in files are no memory.
    #[test]
    fn in_a_store_only_the_window_counts() {
        let mut spec = RunSpec::default();
        spec.problem.shape = vec![998, 498];
        spec.method.backend = Backend::Cpu;
        spec.method.set_name(MethodName::Wavefront);
        spec.method.memory = Some(crate::grid::ByteCount::new(2_000_000));
        let plan = Planner::default().plan(&spec).unwrap();
        let need = MemoryNeed::in_store(&plan).bytes();
        let residual = 1000 * 500 * (8 + 8);
        assert!((1_000_000..=2_000_000).contains(&(need - residual)), "{need}");
        let whole = MemoryNeed::of(&plan, &[FieldKind::Residual]).bytes();
        assert_eq!(whole, need - residual + 3 * 1000 * 500 * 8);
        // They take addresses.
        let need = MemoryNeed::in_store(&plan);
        let all = need.bytes() + 3 * 1000 * 500 * 8;
        assert_eq!(need.check_addresses(all), Ok(()));
        let said = need.check_addresses(all - 1).unwrap_err().to_string();
        assert!(said.contains(" of addresses (the slab or window ") && said.contains("ulimit -v"));
        // Of a large grid only few planes.
        spec.problem.shape = vec![498, 498, 5000];
        spec.method.memory = Some(crate::grid::ByteCount::new(50_000_000));
        spec.store = Some("store".into());
        let plan = Planner::default().plan(&spec).unwrap();
        assert!(MemoryNeed::in_store(&plan).bytes() < 75_000_000);
        assert!(!plan.has_room_beside(1));
    }

    #[test]
    fn the_entries_of_a_matrix_count() {
        let mut spec = RunSpec::default();
        spec.problem.kind = ProblemKind::Matrix;
        spec.problem.shape = vec![100];
        spec.problem.matrix = Some(MatrixSpec::new("heat-1d"));
        spec.method.backend = Backend::Cpu;
        let mut need = |name| {
            spec.method.set_name(name);
            let plan = Planner::default().plan(&spec).unwrap();
            MemoryNeed::of(&plan, &[FieldKind::Residual]).bytes()
        };
        let entries = 198 * (4 + 8);
        let rows = entries + 100 * (8 + 8) + 3 * 102 * 8;
        assert_eq!(need(MethodName::Classic), rows);
        assert!(need(MethodName::Hierarchical) > rows + 2 * entries);
    }

    /// What is made when the run has ended is in the sum at its start.
    #[test]
    fn what_is_made_beside_a_run_counts() {
        let mut spec = RunSpec::default();
        spec.problem.shape = vec![998, 498];
        spec.method.backend = Backend::Cpu;
        let plan = Planner::default().plan(&spec).unwrap();
        let array = 1000 * 500 * 8;
        let bytes = |request: &SnapshotRequest| MemoryNeed::of_snapshot(&plan, request).bytes();
        let alone = bytes(&SnapshotRequest::default());
        assert_eq!(alone, MemoryNeed::of(&plan, &[FieldKind::Residual]).bytes());
        let more = |change: &dyn Fn(&mut SnapshotRequest)| {
            let mut request = SnapshotRequest::default();
            change(&mut request);
            bytes(&request) - alone
        };
        assert_eq!(more(&|it| it.classic = Some(3)), 2 * array);
        assert_eq!(more(&|it| it.accelerated = [Some(3), None]), 7 * array);
        assert_eq!(more(&|it| it.accelerated = [Some(3); 2]), 14 * array);
        assert_eq!(more(&|it| it.observation.frequencies = Some(FREQUENCIES)), 3 * array);
        let cycle = more(&|it| it.observation.rate = true);
        assert!((5 * array..7 * array).contains(&cycle), "{cycle}");
        // A sweep beside it.
        assert_eq!(more(&|it| it.observation.damping = true), cycle + 3 * array);
        // The staleness has Jacobi's iteration, and the error the exact solution.
        let staleness = more(&|it| it.observation.field = FieldKind::Staleness);
        let with_error = more(&|it| {
            it.observation.field = FieldKind::Staleness;
            (it.classic, it.error) = (Some(3), true);
        });
        assert_eq!(staleness, 2 * array);
        assert!(with_error > staleness + 2 * array, "{with_error}");
        let mut request = SnapshotRequest::default();
        request.observation.damping = true;
        let short = MemoryNeed::of_snapshot(&plan, &request).check_against(0, Precision::F64);
        let said = short.unwrap_err().to_string();
        assert!(said.contains(", damping by mode "), "{said}");
    }

    /// Simulated devices have arrays of their own.
    #[test]
    fn what_devices_hold_counts() {
        let mut spec = RunSpec::default();
        spec.problem.shape = vec![998, 498];
        spec.method.backend = Backend::Cpu;
        let mut need = |devices| {
            spec.method.simulate_devices = devices;
            let plan = Planner::default().plan(&spec).unwrap();
            MemoryNeed::of(&plan, &[FieldKind::Residual])
        };
        let (alone, two) = (need(None), need(Some(2)));
        assert!(two.bytes() > alone.bytes() + 3 * 998 * 498 * 8);
        let said = two.check_against(0, Precision::F64).unwrap_err().to_string();
        assert!(said.contains(", the devices "), "{said}");
    }

    /// GPUs that share a grid are set up from arrays of this machine, on which it is observed.
    #[test]
    fn what_this_machine_holds_of_a_grid_on_gpus_counts() {
        let mut spec = RunSpec::default();
        spec.problem.shape = vec![998, 498];
        spec.method.backend = Backend::Cuda;
        let mut bytes = |devices| {
            spec.method.devices = devices;
            let plan = Planner::default().plan(&spec).unwrap();
            MemoryNeed::of(&plan, &[FieldKind::Residual]).bytes()
        };
        assert_eq!(bytes(vec![0]), 0);
        assert_eq!(bytes(vec![0, 1]), 3 * 1000 * 500 * 8);
    }

    #[test]
    fn what_tiles_are_computed_in_counts() {
        let mut spec = RunSpec::default();
        spec.problem.shape = vec![998, 498];
        spec.method.backend = Backend::Cpu;
        spec.method.tile = vec![998];
        let plan = Planner::default().plan(&spec).unwrap();
        let need = MemoryNeed::of(&plan, &[FieldKind::Residual]);
        assert!(need.bytes() > 5 * 1000 * 500 * 8);
        let said = need.check_against(0, Precision::F64).unwrap_err().to_string();
        assert!(said.contains(", the tiles at work "), "{said}");
    }
}
