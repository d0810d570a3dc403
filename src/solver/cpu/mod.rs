//! The CPU back end.

mod begun;
mod block_devices;
mod blocks;
#[cfg(target_arch = "wasm32")]
mod browser;
mod classic;
mod device_rows;
mod devices;
mod edges;
mod exchange_turns;
mod field_pass;
mod fused;
mod hierarchical;
mod inside;
mod level;
mod matrix;
mod norms;
mod observe;
mod past_caches;
mod patch;
mod prefetch;
mod spectral;
mod stream;
mod sweeps;
mod team;
mod thin_out;
mod tiles;
mod update;
mod waves;
mod working;

pub use inside::{BesideOwned, Followed, Inside, NextCycle, PointUpdate};
pub use level::Level;
pub use working::{system_bytes, working_bytes};

use super::{
    Advance, Batch, CycleNorms, Describe, DeviceInfo, FieldObservation, FieldRequest, Kernel,
    Method, NormRequest, Norms, Observe, PassTimes, Quantity, SetUpTimes, Solver, SolverError,
    StopToken, Traffic,
};
use crate::clock::Instant;
use crate::files::reason;
use crate::grid::memory;
use crate::grid::{Field, Precision, Real, Region, Shape, Tiling};
use crate::problem::{Operator, Problem, System};
#[cfg(not(target_arch = "wasm32"))]
use crate::solver::ArrayFiles;
use crate::solver::{Layout, PassProgress};
use begun::Begun;
use block_devices::BlocksOnDevices;
use blocks::Blocks;
#[cfg(feature = "cuda")]
pub(super) use device_rows::{DeviceRows, KeptRows, RowMessage, SharedRows};
use devices::OnDevices;
use exchange_turns::ExchangeTurns;
use fused::Fused;
use hierarchical::Hierarchical;
use matrix::MatrixPass;
#[cfg(not(feature = "cuda"))]
use matrix::MatrixSystem;
#[cfg(feature = "cuda")]
pub(super) use matrix::MatrixSystem;
pub(super) use norms::PartialNorms;
use observe::Rows;
use patch::Local;
use spectral::Tables;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use stream::Stream;
use team::Team;
use thin_out::as_shown;
use waves::Waves;

/// Arrays of the grid that a solver allocates: g and two iterates. The exact solution, which it
/// may be given, makes four.
pub const ARRAYS: usize = 3;

/// Cycles are made in batches of this duration: long beside waking the threads, short enough to answer a
/// new request at once.
const BATCH: Duration = Duration::from_millis(2);

/// Sweeps that are made together, in batches that a single one ends: it takes as long as two or three of them.
const BATCH_TOGETHER: Duration = Duration::from_millis(200);

/// A batch goes on for this long at most until devices exchange what they made: only from there other solvers can
/// continue.
const BATCH_TO_EXCHANGE: Duration = Duration::from_millis(8);

/// A solver in the memory of this machine, with 1 to any number of threads.
///
/// Its results are the same to the last bit for any number of threads and at any [`Level`].
pub(super) struct CpuSolver<R> {
    problem: Arc<Problem>,
    system: Divided<R>,
    /// The kernel that was chosen: of other methods that are made beside this one, too.
    kernel: Kernel,
    /// The iterate.
    current: Field<R>,
    /// The iterate one cycle earlier; at cycle 0, the initial guess.
    previous: Field<R>,
    exact: Option<Arc<Field<f64>>>,
    method: Cycle<R>,
    /// The fraction ω of each update that is applied; 1 without damping.
    omega: f64,
    level: Level,
    team: Team,
    set_up: SetUpTimes,
    /// Whether the iterate before was lost, because the cycle after it was left unfinished.
    lacks_previous: bool,
    /// What is made of the next cycle, in place of the iterate before.
    begun: Begun,
}

/// Sets up a solver on the CPU.
///
/// `threads` of 0 means one for each core.
///
/// # Errors
/// [`SolverError::Memory`] if its arrays would not fit, which is checked before anything is allocated.
pub fn on_cpu(
    problem: &Arc<Problem>,
    method: Method,
    precision: Precision,
    threads: usize,
) -> Result<Box<dyn Solver>, SolverError> {
    solver(problem, method, precision, threads, Kernel::AUTO)
}

/// The same with one of the kernels that a CPU has.
pub(super) fn solver(
    problem: &Arc<Problem>,
    method: Method,
    precision: Precision,
    threads: usize,
    kernel: Kernel,
) -> Result<Box<dyn Solver>, SolverError> {
    at_level(problem, method, precision, threads, kernel, Level::best())
}

/// Sets up a solver on the CPU with the instructions of a level, and one of the kernels that a CPU has for the method:
/// neither changes a bit of a result. `threads` of 0 means one for each core, and a level that this CPU does not have its
/// best.
///
/// # Errors
/// [`SolverError::Memory`] if its arrays would not fit, which is checked before anything is allocated.
pub fn at_level(
    problem: &Arc<Problem>,
    method: Method,
    precision: Precision,
    threads: usize,
    kernel: Kernel,
    level: Level,
) -> Result<Box<dyn Solver>, SolverError> {
    Ok(match precision {
        Precision::F32 => {
            Box::new(CpuSolver::<f32>::with_kernel(problem, method, kernel, level, threads)?)
        }
        Precision::F64 => {
            Box::new(CpuSolver::<f64>::with_kernel(problem, method, kernel, level, threads)?)
        }
    })
}

/// The same with arrays that lie in files.
#[cfg(not(target_arch = "wasm32"))]
pub(super) fn in_files(
    files: &ArrayFiles,
    problem: &Arc<Problem>,
    method: &Method,
    precision: Precision,
    threads: usize,
) -> Result<Box<dyn Solver>, SolverError> {
    let level = Level::best();
    Ok(match precision {
        Precision::F32 => {
            Box::new(CpuSolver::<f32>::in_files(files, problem, method, level, threads)?)
        }
        Precision::F64 => {
            Box::new(CpuSolver::<f64>::in_files(files, problem, method, level, threads)?)
        }
    })
}

/// How the work of a cycle is divided: in parts of about one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sharing {
    /// How many parts there are.
    pub parts: usize,
    /// How many of them are worked on at a time.
    pub at_once: usize,
    /// Threads that there are for them.
    pub threads: usize,
}

impl Sharing {
    /// Of a cycle of `k` sweeps on some tiles; `threads` of 0 means one for each core.
    pub fn of(shape: &Shape, k: usize, tiling: &Tiling, threads: usize) -> Self {
        let parts = Hierarchical::new(shape, tiling).parts();
        let threads = team::threads(threads);
        let is_shared = team::is_shared(parts, shape.points() * k);
        Self { parts, at_once: if is_shared { threads } else { 1 }, threads }
    }

    /// Time of a cycle relative to a perfect balance. A thread that is done takes the next part, so that
    /// at the end the others wait for one part at most, and for half of one on average.
    ///
    /// Source: Graham, "Bounds for certain multiprocessing anomalies", 1966: the most is (1 − 1/threads)
    /// of a part.
    pub fn waiting(&self) -> f64 {
        let [parts, at_once, threads] =
            [self.parts, self.at_once, self.threads].map(|count| count as f64);
        let in_parts = (parts / at_once + 0.5 * (1.0 - 1.0 / at_once)).max(1.0);
        in_parts * threads / parts
    }
}

/// The system, its rows divided by their diagonals; shared by solvers of one problem.
#[derive(Clone, Debug)]
enum Divided<R> {
    Grid(Arc<System<R>>),
    Matrix(Arc<MatrixSystem<R>>),
}

impl<R: Real> Divided<R> {
    fn new(problem: &Problem) -> Self {
        match &problem.operator {
            Operator::Stencil(stencil) => Self::Grid(Arc::new(System::new(problem, stencil))),
            Operator::PerPoint(rows) => Self::Grid(Arc::new(System::per_point(problem, rows))),
            Operator::Csr(matrix) => Self::Matrix(Arc::new(MatrixSystem::new(problem, matrix))),
        }
    }

    /// What the changes of a first sweep, as they are measured, are multiplied by to make residuals. Where rows
    /// have diagonals of their own, they are residuals already.
    fn residual_factor(&self) -> f64 {
        match self {
            Self::Grid(system) => system.diagonal,
            Self::Matrix(_) => 1.0,
        }
    }
}

/// A method, prepared for a grid or a matrix.
enum Cycle<R> {
    Classic,
    /// The same, several at a time where there are enough to make.
    Fused(Fused<R>),
    Hierarchical {
        tiles: Hierarchical,
        k: usize,
    },
    Spectral {
        tiles: Hierarchical,
        tables: Box<Tables<R>>,
    },
    Blocks(Blocks<R>),
    Waves(Waves),
    OnDevices(OnDevices<R>),
    BlocksOnDevices(BlocksOnDevices<R>),
    Streaming(Box<Stream<R>>),
}

impl<R: Real> Cycle<R> {
    fn new(
        problem: &Problem,
        system: &Divided<R>,
        method: &Method,
        chosen: (Kernel, usize),
    ) -> Result<Self, SolverError> {
        let (shape, (kernel, threads)) = (&problem.shape, chosen);
        let layout = Layout::named(kernel);
        Ok(match (method, &problem.operator, system) {
            (Method::Damped { sweeps, .. }, ..) => Self::new(problem, system, sweeps, chosen)?,
            (Method::Scheduled { schedule, sweeps }, _, Divided::Grid(_)) => match sweeps.plain() {
                Method::Hierarchical { k, tiling } => {
                    Self::Waves(Waves::new(tiling, *k, *schedule))
                }
                other => Self::new(problem, system, other, chosen)?,
            },
            // The shares of kernel `fused`, which exchanges after every sweep here: these are the sweeps of one device.
            (Method::OnDevices { devices, sweeps }, Operator::Stencil(_), _)
                if matches!(sweeps.plain(), Method::Classic)
                    && devices.shares().axis().overlap() > 0 =>
            {
                Self::new(problem, system, sweeps.plain(), chosen)?
            }
            (Method::OnDevices { devices, sweeps }, operator, Divided::Grid(grid)) => {
                match (sweeps.streaming(), operator) {
                    (None, _) => Self::OnDevices(OnDevices::new(grid, sweeps.plain(), devices)),
                    (Some(streaming), Operator::Stencil(_)) => {
                        Self::Streaming(Box::new(Stream::on_devices(shape, *streaming, devices)))
                    }
                    (Some(_), _) => Self::new(problem, system, sweeps, chosen)?,
                }
            }
            (
                Method::OnDevices { devices, sweeps },
                Operator::Csr(matrix),
                Divided::Matrix(system),
            ) => Self::BlocksOnDevices(BlocksOnDevices::new(
                (matrix, system),
                sweeps.plain(),
                devices,
                layout,
            )?),
            // Blocks of a matrix have no order.
            (Method::Scheduled { sweeps, .. } | Method::OnDevices { sweeps, .. }, ..) => {
                Self::new(problem, system, sweeps, chosen)?
            }
            (Method::Classic, Operator::Stencil(_), _)
                if kernel == Kernel::FUSED && shape.dim() == 3 =>
            {
                Self::Fused(Fused::new(shape, threads))
            }
            (Method::Classic, ..) => Self::Classic,
            (
                Method::Hierarchical { k, tiling },
                Operator::Csr(matrix),
                Divided::Matrix(system),
            ) => Self::Blocks(Blocks::new(matrix, system, *k, tiling.x(), layout)?),
            (Method::Hierarchical { k, tiling }, ..) => {
                Self::Hierarchical { tiles: Hierarchical::new(shape, tiling), k: *k }
            }
            // Rows of their own do not stream: the same sweeps on one tile that is the whole grid.
            (Method::Streaming(streaming), Operator::PerPoint(_), _) => Self::Hierarchical {
                tiles: Hierarchical::new(shape, &Tiling::whole(shape)),
                k: streaming.height(),
            },
            (Method::Streaming(streaming), ..) => {
                Self::Streaming(Box::new(Stream::new(shape, *streaming)))
            }
            (Method::Spectral(spectral), ..) => Self::Spectral {
                tiles: Hierarchical::new(shape, spectral.tiling()),
                tables: Box::new(Tables::new(spectral)),
            },
        })
    }

    /// The sweeps that take as long as a cycle, about.
    fn sweeps(&self) -> usize {
        match self {
            Self::Classic | Self::Fused(_) => 1,
            Self::Hierarchical { k, .. } => *k,
            Self::Spectral { tables, .. } => tables.sweeps(),
            Self::Blocks(blocks) => blocks.sweeps(),
            Self::Waves(waves) => waves.k(),
            Self::OnDevices(devices) => devices.sweeps(),
            Self::BlocksOnDevices(devices) => devices.sweeps(),
            Self::Streaming(stream) => stream.height(),
        }
    }

    /// After which cycles devices exchange; `None` of one that has none.
    fn exchange_turns(&self) -> Option<&ExchangeTurns> {
        match self {
            Self::OnDevices(devices) => Some(&devices.turns),
            Self::BlocksOnDevices(devices) => Some(&devices.turns),
            _ => None,
        }
    }
}

/// What a method needs to turn an iterate (`from`) into the next (`to`).
struct Pass<'a, R> {
    system: &'a System<R>,
    /// 1 without damping.
    omega: R,
    from: &'a [R],
    to: &'a mut [R],
    exact: Option<&'a [f64]>,
    /// Whether the norms of the cycle are wanted; if not, those that are returned are meaningless.
    measure: bool,
    level: Level,
    team: &'a Team,
}

impl<R: Real> CpuSolver<R> {
    /// Sets up a solver at the initial guess u₀. `threads` of 0 means one for each core; a level that this
    /// CPU does not have means its best.
    ///
    /// # Errors
    /// [`SolverError::Memory`] if its arrays would not fit, checked before anything is allocated.
    #[cfg(any(feature = "cuda", test))]
    pub fn new(
        problem: &Arc<Problem>,
        method: Method,
        level: Level,
        threads: usize,
    ) -> Result<Self, SolverError> {
        Self::with_kernel(problem, method, Kernel::AUTO, level, threads)
    }

    /// The same with one of the kernels that a CPU has for the method.
    ///
    /// # Errors
    /// [`SolverError::Memory`] if its arrays would not fit, which is checked before anything is allocated.
    pub fn with_kernel(
        problem: &Arc<Problem>,
        method: Method,
        kernel: Kernel,
        level: Level,
        threads: usize,
    ) -> Result<Self, SolverError> {
        // Its threads first: they take memory, too.
        let team = Team::new(threads);
        let beside = working_bytes(problem, &method, R::PRECISION, (kernel, threads))
            .saturating_add(system_bytes(problem, R::PRECISION));
        let arrays = ARRAYS + problem.operator.row_arrays(&problem.shape);
        memory::check_with(&problem.shape, arrays, R::PRECISION, beside)?;
        let begin = Instant::now();
        let system = team.together(problem.shape.points(), || Divided::new(problem));
        let divided = begin.elapsed().as_secs_f64();
        let level = level.min(Level::best());
        let mut solver = Self::at_start(Arc::clone(problem), system, &method, kernel, level, team)?;
        solver.set_up.reorganise += divided;
        Ok(solver)
    }

    /// Sets up a solver whose arrays lie in files, at the iterate that is there, or if they are new, at the initial guess
    /// u₀: then all of them are on the disk.
    ///
    /// # Errors
    /// [`SolverError`] if the files cannot be used, or what it works in beside them does not fit into memory.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn in_files(
        files: &ArrayFiles,
        problem: &Arc<Problem>,
        method: &Method,
        level: Level,
        threads: usize,
    ) -> Result<Self, SolverError> {
        let Operator::Stencil(stencil) = &problem.operator else {
            return Err(SolverError::Operator("rows that differ, with arrays in files"));
        };
        let team = Team::new(threads);
        let beside = working_bytes(problem, method, R::PRECISION, (Kernel::AUTO, threads));
        memory::check_bytes("the slab or window", beside)?;
        let [mut current, mut previous, mut g] = files.fields(&problem.shape)?;
        if files.are_new {
            team.together(problem.shape.points(), || {
                problem.fill_initial(&mut current);
                previous.copy_from(&current);
                System::fill(&mut g, problem, stencil);
            });
            for array in [&current, &previous, &g] {
                array.sync().map_err(|cause| files.error(&cause))?;
            }
        }
        let system = Divided::Grid(Arc::new(System::with(g, stencil)));
        let (kernel, level) = (Kernel::AUTO, level.min(Level::best()));
        let arrays = [current, previous];
        Self::with_arrays(Arc::clone(problem), system, arrays, method, kernel, level, team)
    }

    fn at_start(
        problem: Arc<Problem>,
        system: Divided<R>,
        method: &Method,
        kernel: Kernel,
        level: Level,
        team: Team,
    ) -> Result<Self, SolverError> {
        let arrays = team.together(problem.shape.points(), || {
            let current = problem.initial_iterate();
            let mut previous = Field::filled(problem.shape, R::default());
            previous.copy_from(&current);
            [current, previous]
        });
        Self::with_arrays(problem, system, arrays, method, kernel, level, team)
    }

    /// A solver at the first of two iterates.
    fn with_arrays(
        problem: Arc<Problem>,
        system: Divided<R>,
        [current, previous]: [Field<R>; 2],
        method: &Method,
        kernel: Kernel,
        level: Level,
        team: Team,
    ) -> Result<Self, SolverError> {
        let omega = method.omega();
        let begin = Instant::now();
        let method = Cycle::new(&problem, &system, method, (kernel, team.threads()))?;
        let set_up = SetUpTimes { reorganise: begin.elapsed().as_secs_f64(), upload: 0.0 };
        let exact = None;
        let mut solver = Self {
            problem,
            system,
            kernel,
            current,
            previous,
            exact,
            method,
            omega,
            level,
            team,
            set_up,
            lacks_previous: false,
            begun: Begun::default(),
        };
        solver.hand_out();
        Ok(solver)
    }

    /// Gives the devices, if there are several, their parts of the iterate.
    fn hand_out(&mut self) {
        match &mut self.method {
            Cycle::OnDevices(devices) => devices.start_from(self.current.as_slice()),
            Cycle::BlocksOnDevices(devices) => devices.start_from(self.current.interior(0)),
            _ => {}
        }
    }

    /// Makes one cycle, or a part of it: the iterate is then that before it.
    fn advance(&mut self, measure: bool) -> PartialNorms {
        let norms = self.go_on(measure);
        self.begun = Begun::default();
        self.end_cycle();
        norms
    }

    /// Makes what is left of a cycle, or a piece of that. Returns the norms of a whole one.
    fn go_on(&mut self, measure: bool) -> PartialNorms {
        let (level, team, begun) = (self.level, &self.team, &mut self.begun);
        if begun.is_measured != measure {
            *begun = Begun::new(measure, begun.until);
        }
        match &self.system {
            Divided::Grid(system) => {
                let pass = Pass {
                    system,
                    omega: R::from_f64(self.omega),
                    from: self.current.as_slice(),
                    to: self.previous.as_mut_slice(),
                    exact: self.exact.as_deref().map(Field::as_slice),
                    measure,
                    level,
                    team,
                };
                match &mut self.method {
                    Cycle::Streaming(stream) => {
                        stream.pass(system, pass.from, pass.to, level, team);
                        PartialNorms::default()
                    }
                    Cycle::Waves(waves) => {
                        waves.cycle((pass.system, pass.omega), (pass.from, pass.to), level, team);
                        PartialNorms::default()
                    }
                    Cycle::Hierarchical { tiles, k } => {
                        tiles.go_on(Local::Sweeps(*k), pass, begun);
                        begun.norms.iter().copied().sum()
                    }
                    Cycle::Spectral { tiles, tables } => {
                        tiles.go_on(Local::Spectral(tables), pass, begun);
                        begun.norms.iter().copied().sum()
                    }
                    Cycle::OnDevices(devices) => devices.cycle(pass).into_iter().sum(),
                    _ => classic::cycle(pass).into_iter().sum(),
                }
            }
            Divided::Matrix(system) => {
                let pass = MatrixPass {
                    system,
                    from: self.current.interior(0),
                    to: self.previous.interior_mut(0),
                    first: 0,
                    exact: self.exact.as_deref().map(|exact| exact.interior(0)),
                    measure,
                    level,
                    team,
                };
                match &mut self.method {
                    Cycle::Blocks(blocks) => {
                        blocks.go_on(pass, begun);
                        if begun.is_whole { blocks.sum(&begun.norms) } else { Default::default() }
                    }
                    Cycle::BlocksOnDevices(devices) => devices.cycle(pass),
                    _ => matrix::classic(pass),
                }
            }
        }
    }

    /// Makes one cycle with these norms at least. Where none come with a cycle, they are measured by passes of their
    /// own: a method that streams would sum them in an order that depends on the budget, and the first sweep in
    /// waves or warps, or of devices with frozen halos, is no update of one iterate.
    fn cycle_with(&mut self, norms: NormRequest) -> CycleNorms {
        if !self.has_free_norms() {
            let before = self.measured(NormRequest::RESIDUAL);
            self.advance(false);
            let after = self.measured(norms.without(NormRequest::RESIDUAL));
            return CycleNorms {
                residual_before: before.residual.unwrap_or_default(),
                max_change: after.max_change,
                error: after.error,
            };
        }
        // A damped sweep changes ω times as much.
        let factor = self.system.residual_factor() / self.omega;
        self.advance(true).finish(factor, self.exact.is_some())
    }

    /// Whether norms come with a cycle.
    fn has_free_norms(&self) -> bool {
        match &self.method {
            Cycle::Streaming(_) | Cycle::Waves(_) => false,
            other => other.exchange_turns().is_none_or(|turns| !turns.have_frozen_halos()),
        }
    }

    /// Whether another solver could continue from the iterate.
    fn have_exchanged(&self) -> bool {
        self.method.exchange_turns().is_none_or(ExchangeTurns::have_exchanged)
    }

    /// Makes several sweeps together, or a part of them: the iterate is then that before them. The iterate before is not the
    /// one before the last sweep then, so that another cycle must follow.
    fn advance_together(&mut self, measure: bool) -> Option<[PartialNorms; fused::SWEEPS]> {
        let (Divided::Grid(system), Cycle::Fused(fused)) = (&self.system, &mut self.method) else {
            return None;
        };
        let norms = fused.cycles(Pass {
            system,
            omega: R::from_f64(self.omega),
            from: self.current.as_slice(),
            to: self.previous.as_mut_slice(),
            exact: None,
            measure,
            level: self.level,
            team: &self.team,
        });
        self.end_cycle();
        Some(norms)
    }

    /// Goes on to the iterate that was made, unless it was left unfinished.
    fn end_cycle(&mut self) {
        self.lacks_previous = self.team.is_stopped();
        if self.lacks_previous {
            self.previous.as_mut_slice().copy_from_slice(self.current.as_slice());
            self.hand_out();
        } else {
            std::mem::swap(&mut self.current, &mut self.previous);
        }
    }

    /// Makes at least one cycle and at most `most`, for about [`BATCH`], unless one is left unfinished.
    fn batch(&mut self, most: u64, norms: NormRequest) -> Batch {
        let (begin, before) = (Instant::now(), self.begun.spent);
        let updates = self.problem.shape.points() * self.method.sweeps();
        // The error of a single sweep is found with it.
        let are_together =
            matches!(self.method, Cycle::Fused(_)) && !(norms.error && self.exact.is_some());
        let (mut cycles, mut found) = (0, Vec::new());
        let mut needs_another = false;
        self.team.clone().together(updates, || {
            while cycles < most.max(1) {
                let longest = match self.have_exchanged() {
                    _ if are_together => BATCH_TOGETHER,
                    true => BATCH,
                    false => BATCH_TO_EXCHANGE,
                };
                let is_over = cycles > 0 && before + begin.elapsed() >= longest;
                if is_over && !needs_another {
                    break;
                }
                needs_another = are_together && !is_over && most - cycles > fused::SWEEPS as u64;
                if needs_another && let Some(all) = self.advance_together(!norms.is_empty()) {
                    if self.lacks_previous {
                        break;
                    }
                    cycles += fused::SWEEPS as u64;
                    if !norms.is_empty() {
                        let factor = self.system.residual_factor() / self.omega;
                        found.extend(all.map(|norms| norms.finish(factor, false)));
                    }
                    continue;
                }
                if !norms.is_empty() {
                    let of_cycle = self.cycle_with(norms);
                    found.extend((!self.lacks_previous).then_some(of_cycle));
                } else {
                    self.advance(false);
                }
                if self.lacks_previous {
                    break;
                }
                cycles += 1;
            }
        });
        Batch { cycles, norms: found, seconds: (before + begin.elapsed()).as_secs_f64() }
    }

    /// The numbers of its matrix; `None` on a grid.
    #[cfg(feature = "cuda")]
    pub(super) fn matrix(&self) -> Option<&Arc<MatrixSystem<R>>> {
        match &self.system {
            Divided::Grid(_) => None,
            Divided::Matrix(system) => Some(system),
        }
    }

    /// The numbers of its grid; `None` for a matrix.
    #[cfg(feature = "cuda")]
    pub(super) fn grid(&self) -> Option<&Arc<System<R>>> {
        match &self.system {
            Divided::Grid(system) => Some(system),
            Divided::Matrix(_) => None,
        }
    }

    /// The arrays of the iterate and of the one before, with the boundary values. They stay where they are as long as the
    /// solver lives.
    #[cfg(feature = "cuda")]
    pub(super) fn arrays_mut(&mut self) -> (&mut [R], &mut [R]) {
        (self.current.as_mut_slice(), self.previous.as_mut_slice())
    }

    /// Whether its iterates lie in files.
    #[cfg(feature = "cuda")]
    pub(super) fn is_in_files(&self) -> bool {
        self.current.is_mapped()
    }

    /// The exact solution, if it is known.
    #[cfg(feature = "cuda")]
    pub(super) fn exact(&self) -> Option<&Arc<Field<f64>>> {
        self.exact.as_ref()
    }

    /// Makes the one before the iterate: a cycle was made elsewhere.
    #[cfg(feature = "cuda")]
    pub(super) fn swap(&mut self) {
        std::mem::swap(&mut self.current, &mut self.previous);
    }

    /// The values of the rows of its matrix: of the iterate, and of the one before.
    #[cfg(feature = "cuda")]
    pub(super) fn values_mut(&mut self) -> (&mut [R], &mut [R]) {
        (self.current.interior_mut(0), self.previous.interior_mut(0))
    }

    /// Another method on the same system, at the initial guess.
    pub(super) fn beside(&self, method: &Method) -> Result<Self, SolverError> {
        let chosen = (self.kernel, self.team.threads());
        let beside = working_bytes(&self.problem, method, R::PRECISION, chosen);
        memory::check_with(&self.problem.shape, ARRAYS - 1, R::PRECISION, beside)?;
        let (problem, system) = (Arc::clone(&self.problem), self.system.clone());
        let team = self.team.clone();
        let mut solver = Self::at_start(problem, system, method, self.kernel, self.level, team)?;
        solver.exact.clone_from(&self.exact);
        Ok(solver)
    }

    /// The iterate, with its boundary values.
    #[cfg(any(feature = "cuda", test))]
    pub fn iterate(&self) -> &Field<R> {
        &self.current
    }
}

impl<R: Real> Advance for CpuSolver<R> {
    fn cycles(&mut self, most: u64, norms: NormRequest) -> Result<Batch, SolverError> {
        let batch = self.batch(most, norms);
        if batch.cycles == 0 { Err(SolverError::Stopped) } else { Ok(batch) }
    }

    fn make_piece(&mut self, norms: NormRequest, longest: Duration) -> bool {
        let has_pieces = matches!(
            self.method,
            Cycle::Hierarchical { .. } | Cycle::Spectral { .. } | Cycle::Blocks(_)
        );
        if has_pieces && !self.begun.is_whole {
            let begin = Instant::now();
            self.begun.until = Some(begin + longest);
            self.go_on(!norms.is_empty());
            self.begun.until = None;
            self.begun.spent += begin.elapsed();
        }
        !has_pieces || self.begun.is_whole
    }

    fn stop_on(&mut self, stop: &StopToken) {
        self.team.stop_on(stop);
    }

    fn restart(&mut self) -> Result<(), SolverError> {
        self.begun = Begun::default();
        // In place, as everything: a GPU may have pinned the arrays.
        self.current.as_mut_slice().copy_from_slice(self.problem.initial_iterate().as_slice());
        self.previous.as_mut_slice().copy_from_slice(self.current.as_slice());
        self.lacks_previous = false;
        self.hand_out();
        Ok(())
    }

    fn start_from(&mut self, iterate: &Field<f64>) -> Result<(), SolverError> {
        self.begun = Begun::default();
        for (to, from) in self.current.as_mut_slice().iter_mut().zip(iterate.as_slice()) {
            *to = R::from_f64(*from);
        }
        self.previous.as_mut_slice().copy_from_slice(self.current.as_slice());
        self.lacks_previous = false;
        self.hand_out();
        Ok(())
    }

    fn sync(&self) -> Result<(), SolverError> {
        self.current.sync().map_err(|cause| SolverError::NotOnDisk(reason(&cause)))
    }

    fn set_exact(&mut self, exact: Arc<Field<f64>>) -> Result<(), SolverError> {
        // Its norms would lack the error of what is made already.
        self.begun = Begun::default();
        self.exact = Some(exact);
        Ok(())
    }
}

impl<R: Real> Observe for CpuSolver<R> {
    fn norms(&self, request: NormRequest) -> Result<Norms, SolverError> {
        Ok(self.measured(request))
    }

    fn observe(&self, request: FieldRequest<'_>) -> Result<FieldObservation, SolverError> {
        self.pass(request)
    }

    fn values(
        &self,
        quantity: Quantity<'_>,
        points: &[[usize; 2]],
    ) -> Result<Vec<f32>, SolverError> {
        self.with_values(quantity, |values| {
            let mut rows = Rows::default();
            let mut at = |&[i, row]: &[usize; 2]| {
                rows.read(self, values, row..row + 1, i..i + 1);
                as_shown(rows.values[0])
            };
            points.iter().map(&mut at).collect()
        })
    }

    fn solution(&self) -> Result<Field<f64>, SolverError> {
        Ok(self.current.to_f64())
    }

    fn previous(&self) -> Result<Field<f64>, SolverError> {
        Ok(self.previous.to_f64())
    }

    fn solution_part(&self, part: &Region) -> Result<Field<f64>, SolverError> {
        Ok(self.current.part(part).into_f64())
    }

    fn solution_planes(&self, planes: Range<usize>) -> Option<Field<f64>> {
        Some(self.current.planes(planes).into_f64())
    }

    fn solution_row(&self, row: usize) -> Result<Vec<f64>, SolverError> {
        Ok(self.current.interior(row).iter().map(|value| value.to_f64()).collect())
    }
}

impl<R: Real> Describe for CpuSolver<R> {
    fn shape(&self) -> &Shape {
        &self.problem.shape
    }

    fn free_norms(&self) -> NormRequest {
        if self.has_free_norms() { NormRequest::ALL } else { NormRequest::NONE }
    }

    fn set_up_times(&self) -> SetUpTimes {
        self.set_up
    }

    fn computed_rows(&self) -> Option<usize> {
        match &self.method {
            Cycle::Blocks(blocks) => Some(blocks.computed_rows()),
            Cycle::BlocksOnDevices(devices) => devices.computed_rows(),
            _ => None,
        }
    }

    fn traffic(&self) -> Option<Traffic> {
        match &self.method {
            Cycle::Streaming(stream) => stream.traffic(),
            _ => None,
        }
    }

    fn pass_progress(&self) -> Option<Arc<PassProgress>> {
        match &self.method {
            Cycle::Streaming(stream) => Some(Arc::clone(stream.progress())),
            _ => None,
        }
    }

    fn pass_times(&self) -> Option<Arc<PassTimes>> {
        match &self.method {
            Cycle::Streaming(stream) => stream.times(),
            _ => None,
        }
    }

    fn device(&self) -> Option<&DeviceInfo> {
        None
    }
}

impl<R: Real> Solver for CpuSolver<R> {
    fn with_method(&self, method: Method, _: Kernel) -> Result<Box<dyn Solver>, SolverError> {
        Ok(Box::new(self.beside(&method)?))
    }
}
