//! Options that describe a run, and their conversion to a [`RunSpec`] in one step.

use super::choices;
use super::console::{UsageError, print_note};
use super::values::{self, Axes, ThreadsList, Tolerance};
use crate::grid::{ByteCount, Precision};
use crate::picture::{self, FigureFile, FilmFile};
use crate::problem::matrix::Ordering;
use crate::problem::{Boundary, HotBox, Stencil, input};
use crate::run::{
    BLOCK, Backend, InitialGuess, MatrixSpec, MethodName, MethodSpec, Preset, ProblemKind,
    ProblemSpec, RunSpec, StopRule, StopSpec,
};
use crate::solver::{ExchangePath, Height, Kernel, ShareBy, Slabs, Subiterations, cuda};
use clap::Args;
use std::path::{Path, PathBuf};

/// Options shared by a single run and a sweep: the system, the device, and when to stop.
#[derive(Args, Clone, Debug, Default)]
pub struct CommonArgs {
    /// Start from a run file (.toml) or from a figure that carries its run (.png, .svg, .pdf); other
    /// options override it
    #[arg(long, value_name = "FILE", help_heading = "Start from", conflicts_with = "preset")]
    run: Option<PathBuf>,
    /// Start from a preset; other options override it
    #[arg(
        long,
        value_name = "NAME",
        help_heading = "Start from",
        value_parser = choices::preset_names()
    )]
    preset: Option<String>,

    /// Problem to solve
    #[arg(long, help_heading = "Problem")]
    problem: Option<ProblemKind>,
    /// Interior grid points per axis, x first: 1024 in 1D, 256x192 in 2D, 64x64x64 in 3D
    #[arg(
        long,
        value_name = "NX[xNY[xNZ]]",
        help_heading = "Problem",
        value_parser = values::axes,
        allow_hyphen_values = true
    )]
    shape: Option<Axes>,
    /// Independent 1D systems solved together
    #[arg(
        long,
        alias = "copies",
        value_name = "N",
        help_heading = "Problem",
        value_parser = values::whole::<usize>,
        allow_negative_numbers = true
    )]
    batch: Option<usize>,
    /// Right-hand side from an image (PNG, JPEG) or a NumPy array (.npy); implies --problem picture,
    /// and sets the shape unless --shape is given
    #[arg(long, value_name = "FILE", help_heading = "Problem")]
    rhs: Option<PathBuf>,
    /// Sparse matrix: a Matrix Market file (.mtx, .mtx.gz), or heat-1d, ice-sheet, trefethen-2000, graph, or
    /// a grid problem such as poisson-256x256; implies --problem matrix. --tile is the number of rows of a
    /// block, --overlap its levels, --k the inner sweeps; --rhs and --initial may be .mtx or .npy
    #[arg(long, value_name = "FILE|NAME", help_heading = "Problem")]
    matrix: Option<PathBuf>,
    /// Order of the unknowns of a matrix
    #[arg(long, help_heading = "Problem")]
    ordering: Option<Ordering>,
    /// Grid of the nodes of a matrix, x first, which --ordering tiles needs, and on which maps place the rows
    #[arg(
        long,
        value_name = "NXxNY",
        help_heading = "Problem",
        value_parser = values::nodes
    )]
    nodes: Option<[usize; 2]>,
    /// x and y of each row of a matrix, by which maps place the rows: an array [rows, 2], .npy or .mtx
    #[arg(long, value_name = "FILE", help_heading = "Problem")]
    coordinates: Option<PathBuf>,
    /// Initial guess instead of the problem's own: the same value everywhere, or an .npy array in the shape of the
    /// grid; of a matrix also an .mtx file [default of a matrix: 0]
    #[arg(
        long,
        value_name = "FILE.npy|VALUE",
        help_heading = "Problem",
        value_parser = values::initial,
        allow_hyphen_values = true
    )]
    initial: Option<InitialGuess>,
    /// Hot box of --problem heat-plate, whose sides are parts of the length of the plate: left, right, top, bottom,
    /// front and back, 0 to 1, and its value; omitted ones are the article's, 0.4 to 0.6 and 100 [default: the
    /// middle quarter, of value 1]
    #[arg(
        long,
        value_name = "left=0.4,right=0.6,value=100",
        help_heading = "Problem",
        value_parser = values::hot_box
    )]
    hot_box: Option<HotBox>,
    /// Velocity in --problem convection-diffusion, per axis as a Péclet number (side 1, diffusivity 1)
    #[arg(
        long,
        value_name = "X,Y[,Z]",
        help_heading = "Problem",
        value_parser = values::velocity,
        allow_hyphen_values = true
    )]
    velocity: Option<[f64; 3]>,
    /// Conductivity of every point from a NumPy array (.npy); implies --problem diffusion, and sets the shape
    /// unless --shape is given
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "Problem",
        conflicts_with_all = ["jump", "interface"]
    )]
    conductivity: Option<PathBuf>,
    /// Conductivity beyond the interface, 1 before it; implies --problem diffusion [default: 1000]
    #[arg(
        long,
        value_name = "RATIO",
        help_heading = "Problem",
        value_parser = values::number,
        allow_negative_numbers = true
    )]
    jump: Option<f64>,
    /// Interface of two materials: the line through two points of the unit square, y down the page; a 1D grid lies
    /// along y = 0.5. Implies --problem diffusion [default: 0.35,0:0.65,1]
    #[arg(
        long,
        value_name = "X,Y:X,Y",
        help_heading = "Problem",
        value_parser = values::interface,
        allow_hyphen_values = true
    )]
    interface: Option<[[f64; 2]; 2]>,
    /// Random seed in --problem random
    #[arg(
        long,
        value_name = "N",
        help_heading = "Problem",
        value_parser = values::whole::<u64>,
        allow_negative_numbers = true
    )]
    seed: Option<u64>,
    /// Boundary values (Dirichlet) instead of the problem's own, of left, right, top, bottom, front and
    /// back; omitted sides are 0
    #[arg(
        long,
        value_name = "left=1,top=0.5",
        help_heading = "Problem",
        value_parser = values::boundary
    )]
    boundary: Option<Boundary>,
    /// Stencil instead of the problem's own: the diagonal d and the off-diagonal entries of the
    /// previous and the next point along x (a, c), y (e, f) and z (p, q)
    #[arg(
        long,
        value_name = "d=4,a=-1,c=-1,e=-1,f=-1",
        help_heading = "Problem",
        value_parser = values::stencil
    )]
    stencil: Option<Stencil>,

    /// Damping of every sweep: u + ω (u_jacobi − u), above 0 and below 2 [default: 1]. It gains
    /// little: in 1D with 1024 points 0.999 takes 115,854 sweeps, 1 takes 128,760 and 0.6667 takes 173,608
    #[arg(
        long,
        value_name = "OMEGA",
        help_heading = "Method",
        value_parser = values::number,
        allow_negative_numbers = true
    )]
    omega: Option<f64>,
    /// Tiles of a wave of method hierarchical, which start from what the waves before them wrote in the same cycle;
    /// 1 is Gauss–Seidel's iteration of the tiles. On the CPU [default: all tiles]
    #[arg(
        long,
        value_name = "TILES",
        help_heading = "Method",
        value_parser = values::whole::<usize>,
        allow_negative_numbers = true
    )]
    wave: Option<usize>,
    /// Points of a tile that a subiteration updates at once, in place: the points after them read the new values, as
    /// where the threads of a GPU's warp (32) write what others still read. On the CPU [default: all points]
    #[arg(
        long,
        value_name = "POINTS",
        help_heading = "Method",
        value_parser = values::whole::<usize>,
        allow_negative_numbers = true
    )]
    warp: Option<usize>,
    /// Floating-point precision
    #[arg(long, help_heading = "Method")]
    precision: Option<Precision>,
    /// Back end [default: auto]
    #[arg(long, help_heading = "Method")]
    backend: Option<Backend>,
    /// CPU threads; 0 for one per core; `sweep` and `tune` take a list, such as 1,2,4. Results do not depend on it
    #[arg(
        long,
        value_name = "N",
        help_heading = "Method",
        value_parser = values::threads_list,
        allow_hyphen_values = true
    )]
    threads: Option<ThreadsList>,
    /// GPUs of --backend cuda and auto, by their numbers in `tilescope devices`: one, several with commas, which share
    /// a 2D or 3D grid (its rows of tiles, the slabs of --method pyramid or the sweeps of --method wavefront), lines of
    /// --batch or a matrix, or `all`. Results do not depend on it with --exchange-every 1
    #[arg(
        long,
        value_name = "N,…",
        help_heading = "Method",
        value_parser = values::gpus,
        allow_hyphen_values = true
    )]
    devices: Option<values::Gpus>,
    /// Path by which GPUs that share a grid or a matrix exchange values. Results do not depend on it [default: auto]
    #[arg(long, value_name = "PATH", help_heading = "Method")]
    exchange: Option<ExchangePath>,
    /// By what several GPUs share out a grid. Results do not depend on it [default: points]
    #[arg(long, value_name = "MEASURE", help_heading = "Method")]
    share_by: Option<ShareBy>,
    /// Devices that share a grid or a matrix, simulated on one CPU or GPU: rows of tiles (with --method classic bands
    /// of 16 rows, in 3D planes), lines of a batch, blocks of a matrix, slabs of --method pyramid, sweeps of --method
    /// wavefront; on a CPU also tiles of a line. Results do not depend on it with --exchange-every 1 [default: a single device]
    #[arg(
        long,
        value_name = "N",
        help_heading = "Method",
        value_parser = values::whole::<usize>,
        allow_negative_numbers = true
    )]
    simulate_devices: Option<usize>,
    /// Cycles from one exchange between several devices to the next, during which what a device reads from the others
    /// is frozen [default: 1]
    #[arg(
        long,
        value_name = "CYCLES",
        help_heading = "Method",
        value_parser = values::whole::<u64>,
        allow_negative_numbers = true
    )]
    exchange_every: Option<u64>,
    /// Link between simulated devices, by which the time of an exchange is predicted: latency in µs, and 10⁹ bytes per
    /// second and direction [default: 1.8,398, as measured between GPUs of one host by NVLink]
    #[arg(
        long,
        value_name = "LATENCY,BANDWIDTH",
        help_heading = "Method",
        value_parser = values::link,
        allow_hyphen_values = true
    )]
    link: Option<[f64; 2]>,

    /// Stop when the quantity of --stop is at most this; `none` stops at --max-cycles alone [default: 1e-4]
    #[arg(
        long,
        value_name = "TOL",
        help_heading = "When to stop",
        value_parser = values::tolerance,
        allow_negative_numbers = true
    )]
    tol: Option<Tolerance>,
    /// Quantity that is compared with the tolerance [default: residual; update for heat plates]
    #[arg(long, value_name = "RULE", help_heading = "When to stop")]
    stop: Option<StopRule>,
    /// Largest number of cycles
    #[arg(
        long,
        value_name = "N",
        help_heading = "When to stop",
        value_parser = values::whole::<u64>,
        allow_negative_numbers = true
    )]
    max_cycles: Option<u64>,
}

/// Options that describe a run. Omitted options are those of the default experiment: Poisson on
/// 256 × 256 points, k = 16, overlap 0, tile 32.
#[derive(Args, Clone, Debug, Default)]
pub struct RunArgs {
    #[command(flatten)]
    common: CommonArgs,

    /// Iterative method
    #[arg(long, help_heading = "Method")]
    method: Option<MethodName>,
    /// Subiterations per cycle, 1 to 1000000, or inf for exact local solves
    #[arg(long, value_name = "K", help_heading = "Method", allow_hyphen_values = true)]
    k: Option<Subiterations>,
    /// Sweeps of a cycle with --method pyramid or wavefront, 1 to 4096 [default: auto, by the model]
    #[arg(long, value_name = "N|auto", help_heading = "Method", allow_negative_numbers = true)]
    height: Option<Height>,
    /// Fast memory of --method pyramid or wavefront, for two iterates and the right-hand side of a slab or
    /// a window [default: 32MB, a cache; 1GB with --backend cuda; where `solve` finds a GPU, most of what is free
    /// there]
    #[arg(long, value_name = "64MB", help_heading = "Method", allow_hyphen_values = true)]
    memory: Option<ByteCount>,
    /// Slabs of --method pyramid that are on a GPU at a time [default: auto]
    #[arg(long, value_name = "SLABS", help_heading = "Method")]
    slabs: Option<Slabs>,
    /// Overlap of neighbouring tiles in points, even: 4, or 4x2 for 4 along x and 2 along y
    #[arg(
        long,
        value_name = "OX[xOY[xOZ]]",
        help_heading = "Method",
        value_parser = values::axes,
        allow_hyphen_values = true
    )]
    overlap: Option<Axes>,
    /// Tile size in points per axis: 32, or 32x16
    #[arg(
        long,
        value_name = "TX[xTY[xTZ]]",
        help_heading = "Method",
        value_parser = values::axes,
        allow_hyphen_values = true
    )]
    tile: Option<Axes>,
    /// How a cycle is computed [default: auto]. Results do not depend on it, except with spectral, which
    /// rounds differently
    #[arg(long, help_heading = "Method")]
    kernel: Option<Kernel>,
    /// Threads of a block of the GPU's kernel classic: 32, 64, 128, 256 or 512 [default: the fastest]. Results do not
    /// depend on it
    #[arg(
        long,
        value_name = "THREADS",
        help_heading = "Method",
        value_parser = values::whole::<usize>,
        allow_negative_numbers = true
    )]
    block_size: Option<usize>,
}

impl CommonArgs {
    /// The run that `--run` or `--preset` names (otherwise the default experiment), with its method, if one is given, and its
    /// system, device and stopping rule overridden by these options. The setting is left as it is.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn spec(&self, method: Option<MethodName>) -> anyhow::Result<RunSpec> {
        let spec = self.described(method)?;
        self.check_options(&spec)?;
        self.note_without_gpu(&spec);
        Ok(spec)
    }

    /// Says that there is no GPU where the first or all were chosen; of others, the plan of the run does.
    fn note_without_gpu(&self, spec: &RunSpec) {
        let is_first = self.devices.is_some() && spec.method.devices == [0];
        if is_first
            && spec.method.backend == Backend::Auto
            && let Err(why) = cuda::gpus()
        {
            print_note(&format!("the run uses the CPU: {why}"));
        }
    }

    /// The same with options that may be without effect.
    fn described(&self, name: Option<MethodName>) -> anyhow::Result<RunSpec> {
        let base = self.base()?;
        let problem = self.problem(&base)?;
        let stop = self.stop(&base, &problem);
        let mut method = base.method;
        if let Some(name) = name.filter(|name| *name != method.name) {
            method.set_name(name);
        }
        method.omega = self.omega.unwrap_or(method.omega);
        method.wave = self.wave.or(method.wave);
        method.warp = self.warp.or(method.warp);
        method.precision = self.precision.unwrap_or(method.precision);
        method.backend = self.backend.unwrap_or(method.backend);
        if let Some(ThreadsList(threads)) = &self.threads {
            method.threads = threads[0];
        }
        method.devices = self.devices.clone().map_or(method.devices, |values::Gpus(gpus)| gpus);
        method.exchange = self.exchange.unwrap_or(method.exchange);
        method.share_by = self.share_by.unwrap_or(method.share_by);
        method.simulate_devices = self.simulate_devices.or(method.simulate_devices);
        method.exchange_every = self.exchange_every.or(method.exchange_every);
        method.link = self.link.or(method.link);
        let mut spec = RunSpec { problem, stop, method, store: base.store, version: base.version };
        // Also where tiles are a list: Jacobi's iteration beside them is planned with those of the run.
        spec.method.tile = self.tile(&spec);
        Ok(spec)
    }

    /// Refuses options that change nothing of the run that they describe. What a run file or a preset has
    /// beside them may be without effect.
    fn check_options(&self, spec: &RunSpec) -> Result<(), UsageError> {
        let ordering = spec.problem.matrix.as_ref().map(|matrix| matrix.ordering);
        for (option, is_given, is_used, instead) in [
            (
                "--threads",
                self.threads.is_some(),
                spec.method.backend != Backend::Cuda,
                "with backend cuda; it is for backend cpu",
            ),
            (
                "--devices",
                self.devices.is_some(),
                spec.method.backend != Backend::Cpu,
                "with backend cpu; it is for backend cuda",
            ),
            (
                "--devices",
                self.devices.is_some(),
                !spec.method.is_for_cpu(),
                "on a run that is for the CPU; it chooses a GPU",
            ),
            (
                "--share-by",
                self.share_by.is_some(),
                spec.method.has_several_gpus(),
                "without several GPUs; use it with --devices, such as 0,1",
            ),
            (
                "--exchange-every",
                self.exchange_every.is_some(),
                spec.method.simulate_devices != Some(1),
                "on one device, which exchanges nothing",
            ),
            (
                "--link",
                self.link.is_some(),
                spec.method.simulate_devices != Some(1),
                "on one device, which exchanges nothing",
            ),
            (
                "--stop",
                self.stop.is_some(),
                spec.stop.tolerance.is_some(),
                "without a tolerance; use it with --tol",
            ),
            (
                "--seed",
                self.seed.is_some(),
                ordering.is_none_or(|ordering| ordering == Ordering::Random),
                "on this ordering; use it with --ordering random",
            ),
            (
                "--seed",
                self.seed.is_some(),
                spec.problem.initial.is_none(),
                "beside --initial, which is the initial guess",
            ),
        ] {
            if is_given && !is_used {
                return Err(UsageError(format!("{option} has no effect {instead}")));
            }
        }
        self.check_hot_box(spec.problem.shape.len())
    }

    /// Refuses sides of a hot box that a grid of `dim` axes does not have.
    fn check_hot_box(&self, dim: usize) -> Result<(), UsageError> {
        let Some(hot) = &self.hot_box else { return Ok(()) };
        let (sides, usual) = (hot.sides(), HotBox::ARTICLE.sides());
        let names = HotBox::NAMES.iter().flatten();
        let given = sides.iter().flatten().zip(usual.iter().flatten()).zip(names);
        match given.skip(2 * dim).find(|((side, usual), _)| side != usual) {
            Some(((side, _), name)) => Err(UsageError(format!(
                "{name} of --hot-box is {side}; a {dim}D grid does not have this side"
            ))),
            None => Ok(()),
        }
    }

    /// Refuses `--tol none` where cycles are counted to a tolerance.
    pub fn check_has_tolerance(&self) -> Result<(), UsageError> {
        match self.tol {
            Some(Tolerance(None)) => {
                let why = "--tol is none; cycles are counted to a tolerance here, so it must be a number, such as 1e-4";
                Err(UsageError(why.to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// The numbers of threads: those of the option, or that of the run.
    pub fn threads(&self, run: &RunSpec) -> Vec<usize> {
        let given = self.threads.as_ref().map(|ThreadsList(threads)| threads.clone());
        given.unwrap_or_else(|| vec![run.method.threads])
    }

    /// Refuses a list of threads where there is one run.
    fn check_one_number_of_threads(&self) -> Result<(), UsageError> {
        match &self.threads {
            Some(ThreadsList(threads)) if threads.len() > 1 => {
                let why = "--threads must be one number here; sweep and tune take a list";
                Err(UsageError(why.to_owned()))
            }
            _ => Ok(()),
        }
    }

    /// The files that a run is made of, with the options that name them.
    pub fn inputs<'a>(&'a self, spec: &'a RunSpec) -> Vec<(&'static str, &'a Path)> {
        let run = self.run.as_deref().map(|path| ("--run", path));
        run.into_iter().chain(files_of(spec)).collect()
    }

    /// The tiles of a list without any: those of the run, and blocks of a matrix that was named here.
    pub fn tile(&self, run: &RunSpec) -> Vec<usize> {
        let block = run.problem.matrix.is_some() && self.run.is_none();
        if block { vec![BLOCK] } else { run.method.tile.clone() }
    }

    fn base(&self) -> anyhow::Result<RunSpec> {
        if let Some(path) = &self.run {
            return Ok(picture::open(path)?.run);
        }
        let preset = self.preset.as_deref().and_then(Preset::named);
        Ok(preset.map(Preset::run).unwrap_or_default())
    }

    /// Whether one of the options, of those that decide which kernels there are, is given.
    fn may_change_kernels(&self) -> bool {
        self.backend.is_some()
            || self.kind().is_some()
            || self.omega.is_some()
            || self.wave.is_some()
            || self.warp.is_some()
    }

    /// The kernel of the run that the options are added to, for what became of it with a method that was chosen, if one
    /// was: `auto` where it does not go with what the options change. One that does not go with the run's own method is
    /// left, and refused when the run is planned.
    pub(super) fn inherited_kernel(
        &self,
        inherited: Kernel,
        method: Option<MethodName>,
        spec: &RunSpec,
    ) -> Kernel {
        let is_own = method.is_none() && !self.may_change_kernels();
        if is_own || spec.kernels().contains(&inherited) { inherited } else { Kernel::AUTO }
    }

    /// The kind of problem, if the options name or imply one.
    fn kind(&self) -> Option<ProblemKind> {
        let matrix = self.matrix.as_ref().map(|_| ProblemKind::Matrix);
        let has_conductivity =
            self.conductivity.is_some() || self.jump.is_some() || self.interface.is_some();
        let diffusion = has_conductivity.then_some(ProblemKind::Diffusion);
        let picture = self.rhs.as_ref().map(|_| ProblemKind::Picture);
        self.problem.or(matrix).or(diffusion).or(picture)
    }

    fn problem(&self, base: &RunSpec) -> anyhow::Result<ProblemSpec> {
        let mut problem = base.problem.clone();
        if let Some(kind) = self.kind().filter(|kind| *kind != problem.kind) {
            // Parameters of the other problem do not apply to this one.
            let ProblemSpec { shape, batch, .. } = problem;
            problem = ProblemSpec { kind, shape, batch, ..ProblemSpec::default() };
        }
        self.matrix(&mut problem)?;
        if let Some(rhs) = &self.rhs {
            problem.rhs = Some(rhs.clone());
        }
        let of_points = match problem.kind {
            ProblemKind::Picture => self.rhs.as_ref(),
            ProblemKind::Diffusion => self.conductivity.as_ref(),
            _ => None,
        };
        if let Some(file) = of_points.filter(|_| self.shape.is_none()) {
            let natural = input::natural_shape(file)?;
            problem.shape = natural.axes().to_vec();
            problem.batch = natural.batch();
        }
        // A file and a jump replace each other.
        if self.conductivity.is_some() {
            problem.conductivity.clone_from(&self.conductivity);
            (problem.jump, problem.interface) = (None, None);
        } else if self.jump.is_some() || self.interface.is_some() {
            problem.conductivity = None;
            problem.jump = self.jump.or(problem.jump);
            problem.interface = self.interface.or(problem.interface);
        }
        if let Some(Axes(shape)) = &self.shape {
            problem.shape.clone_from(shape);
        }
        problem.batch = self.batch.unwrap_or(problem.batch);
        problem.velocity = self.velocity.or(problem.velocity);
        problem.seed = self.seed.or(problem.seed);
        problem.hot_box = self.hot_box.or(problem.hot_box);
        problem.boundary = self.boundary.or(problem.boundary);
        problem.stencil = self.stencil.or(problem.stencil);
        Ok(problem)
    }

    /// The matrix that the options name, and its rows as the shape.
    fn matrix(&self, problem: &mut ProblemSpec) -> anyhow::Result<()> {
        if let Some(source) = &self.matrix {
            let matrix = MatrixSpec::new(source);
            if self.shape.is_none() {
                problem.shape = vec![matrix.rows()?];
                problem.batch = 1;
            }
            problem.matrix = Some(matrix);
        }
        let of_matrix =
            self.ordering.is_some() || self.nodes.is_some() || self.coordinates.is_some();
        match &mut problem.matrix {
            Some(matrix) => {
                matrix.ordering = self.ordering.unwrap_or(matrix.ordering);
                matrix.nodes = self.nodes.or(matrix.nodes);
                matrix.coordinates = self.coordinates.clone().or(matrix.coordinates.take());
                matrix.initial = self.initial.clone().or(matrix.initial.take());
            }
            None if of_matrix => {
                let why = "--ordering, --nodes and --coordinates need --matrix";
                return Err(UsageError(why.to_owned()).into());
            }
            None => problem.initial = self.initial.clone().or(problem.initial.take()),
        }
        Ok(())
    }

    fn stop(&self, base: &RunSpec, problem: &ProblemSpec) -> StopSpec {
        let same_problem = problem.kind == base.problem.kind;
        let mut stop = if same_problem { base.stop } else { problem.kind.default_stop() };
        stop.rule = self.stop.unwrap_or(stop.rule);
        if let Some(Tolerance(tolerance)) = self.tol {
            stop.tolerance = tolerance;
        }
        stop.max_cycles = self.max_cycles.unwrap_or(stop.max_cycles);
        stop
    }
}

impl RunArgs {
    /// The same with `--run` and this file.
    pub(super) fn starting_from(&self, file: &Path) -> Self {
        let common = CommonArgs { run: Some(file.to_owned()), ..self.common.clone() };
        Self { common, ..self.clone() }
    }

    /// The run that `--run` or `--preset` names (otherwise the default experiment), overridden by
    /// these options.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn spec(&self) -> anyhow::Result<RunSpec> {
        self.common.check_one_number_of_threads()?;
        let mut spec = self.common.described(None)?;
        let axes = |given: &Option<Axes>, base| given.clone().map_or(base, |Axes(axes)| axes);
        let base = spec.method.clone();
        let tile = self.common.tile(&spec);
        let name = self.method.unwrap_or(base.name);
        // What a run has only for its own method does not go with another; without one the planner refuses it.
        let streams = name.is_streaming();
        let [is_streamed, is_tiled, is_classic, is_shared] =
            [streams, name == MethodName::Hierarchical, name == MethodName::Classic, !streams]
                .map(|fits| fits || name == base.name);
        let method = MethodSpec {
            name,
            height: self.height.or(base.height.filter(|_| is_streamed)),
            memory: self.memory.or(base.memory.filter(|_| is_streamed)),
            slabs: match (self.slabs, name) {
                (Some(slabs), _) => slabs,
                (None, name) if name == MethodName::Pyramid || name == base.name => base.slabs,
                (None, _) => Slabs::Auto,
            },
            wave: self.common.wave.or(base.wave.filter(|_| is_tiled)),
            warp: self.common.warp.or(base.warp.filter(|_| is_tiled)),
            simulate_devices: self.common.simulate_devices.or(base.simulate_devices),
            exchange: self.common.exchange.unwrap_or(if is_shared {
                base.exchange
            } else {
                ExchangePath::Auto
            }),
            share_by: self.common.share_by.unwrap_or(if is_shared {
                base.share_by
            } else {
                ShareBy::Points
            }),
            exchange_every: self
                .common
                .exchange_every
                .or(base.exchange_every.filter(|_| is_shared)),
            link: self.common.link.or(base.link),
            k: self.k.unwrap_or(base.k),
            tile: axes(&self.tile, tile),
            overlap: axes(&self.overlap, base.overlap),
            kernel: Kernel::AUTO,
            block_size: self.block_size.or(base.block_size.filter(|_| is_classic)),
            ..base
        };
        if streams && self.k.is_some() {
            let name = name.name();
            let why = format!("--k has no effect on method {name}, whose cycle is --height sweeps");
            return Err(UsageError(why).into());
        }
        if method.name == MethodName::Classic && self.k.is_some() {
            let why = "--k has no effect on method classic, whose cycle is one sweep; use it with --method hierarchical";
            return Err(UsageError(why.to_owned()).into());
        }
        // A store that does not go with what these options change is dropped.
        spec.store = spec.store.filter(|_| streams);
        let inherited = base.kernel;
        spec.method = method;
        let inherited = self.common.inherited_kernel(inherited, self.method, &spec);
        spec.method.kernel = self.kernel.unwrap_or(inherited);
        self.common.check_options(&spec)?;
        self.common.note_without_gpu(&spec);
        Ok(spec)
    }

    /// Refuses tiles that were chosen here for a method that has none. Figures show tiles of any method.
    ///
    /// # Errors
    /// [`UsageError`] names the option and the method.
    pub fn check_tiles(&self, spec: &RunSpec) -> Result<(), UsageError> {
        let name = spec.method.name;
        for (option, is_given) in
            [("--tile", self.tile.is_some()), ("--overlap", self.overlap.is_some())]
        {
            if is_given && name.is_jacobi() {
                let why = "has no tiles; use it with --method hierarchical";
                return Err(UsageError(format!(
                    "{option} has no effect on method {}, which {why}",
                    name.name()
                )));
            }
        }
        Ok(())
    }

    /// What is said of a run file without a tolerance, unless an option chose that: it may have been forgotten beside
    /// another setting of when to stop.
    pub fn lacks_tolerance(&self, spec: &RunSpec) -> Option<String> {
        let file = self.common.run.as_deref().filter(|path| !is_figure(path))?;
        let is_chosen = self.common.tol.is_some() || spec.stop.tolerance.is_some();
        (!is_chosen).then(|| {
            let most = spec.stop.max_cycles;
            format!(
                "{} has no tolerance: its run stops at max_cycles = {most} alone",
                file.display()
            )
        })
    }

    /// The limit of cycles and what sets it: an option, or a run file. A figure may show a cycle beyond the
    /// limit of its run, and is drawn again there.
    pub fn max_cycles(&self, spec: &RunSpec) -> Option<(u64, String)> {
        let most = spec.stop.max_cycles;
        if self.common.max_cycles.is_some() {
            return Some((most, format!("--max-cycles {most}")));
        }
        let file = self.common.run.as_deref().filter(|path| !is_figure(path))?;
        Some((most, format!("max_cycles = {most} of {}", file.display())))
    }

    /// The files that the run is made of, with the options that name them.
    pub fn inputs<'a>(&'a self, spec: &'a RunSpec) -> Vec<(&'static str, &'a Path)> {
        self.common.inputs(spec)
    }
}

/// Whether a file that a run is taken from is a figure.
fn is_figure(path: &Path) -> bool {
    FigureFile::of(path).is_ok() || FilmFile::of(path).is_ok()
}

/// The files that a run reads, with the options that name them.
pub(super) fn files_of(spec: &RunSpec) -> Vec<(&'static str, &Path)> {
    let matrix = spec.problem.matrix.as_ref();
    let of_matrix = matrix.and_then(|matrix| matrix.initial.as_ref());
    let initial = spec.problem.initial.as_ref().or(of_matrix);
    let files = [
        ("--rhs", spec.problem.rhs.as_deref()),
        ("--conductivity", spec.problem.conductivity.as_deref()),
        ("--matrix", matrix.filter(|matrix| matrix.is_file()).map(|it| it.source.as_path())),
        ("--coordinates", matrix.and_then(|matrix| matrix.coordinates.as_deref())),
        ("--initial", initial.and_then(InitialGuess::file)),
    ];
    files.into_iter().filter_map(|(option, path)| Some((option, path?))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::words::words;
    use super::*;
    use crate::run::any::run;
    use crate::run::command_line;
    use clap::Parser;
    use proptest::prelude::*;

    #[derive(Parser)]
    struct Parsed {
        #[command(flatten)]
        run: RunArgs,
    }

    fn parsed(line: &str) -> RunSpec {
        let words = words(line);
        assert_eq!(words[..2], ["tilescope", "solve"]);
        Parsed::try_parse_from(&words[1..]).unwrap().run.spec().unwrap()
    }

    proptest! {
        #[test]
        fn a_run_survives_its_file(spec in run()) {
            let read = RunSpec::from_toml(&spec.to_toml(), "it").unwrap();
            prop_assert_eq!(read, spec);
        }

        #[test]
        fn a_run_survives_its_command_line(spec in run()) {
            prop_assert_eq!(parsed(&command_line(&spec)), without_tiles(&spec));
        }
    }

    /// A run, without tiles where they have no effect.
    fn without_tiles(spec: &RunSpec) -> RunSpec {
        let mut spec = spec.clone();
        if spec.method.name.is_jacobi() {
            let usual = MethodSpec::default();
            let block = spec.problem.matrix.is_some();
            spec.method.tile = if block { vec![BLOCK] } else { usual.tile };
            spec.method.overlap = usual.overlap;
        }
        spec
    }

    #[test]
    fn every_preset_survives_its_file_and_its_command_line() {
        for preset in crate::run::PRESETS {
            let spec = preset.run();
            assert_eq!(RunSpec::from_toml(&spec.to_toml(), preset.name).unwrap(), spec);
            assert_eq!(parsed(&command_line(&spec)), without_tiles(&spec));
            let named = parsed(&format!("tilescope solve --preset {}", preset.name));
            assert_eq!(named, spec);
        }
    }

    #[test]
    fn the_tolerance_is_explicit_or_that_of_the_problem() {
        let stop = |options: &str| parsed(&format!("tilescope solve {options}")).stop;
        assert_eq!(stop("--k 4"), StopSpec::default());
        assert_eq!(stop("--problem heat-plate").rule, StopRule::Change);
        let limited = stop("--max-cycles 40");
        assert_eq!((limited.tolerance, limited.max_cycles), (Some(1e-4), 40));
        let exactly = stop("--max-cycles 40 --tol none");
        assert_eq!((exactly.tolerance, exactly.max_cycles), (None, 40));
        let both = stop("--max-cycles 40 --tol 0.5");
        assert_eq!((both.tolerance, both.max_cycles), (Some(0.5), 40));
        let article = stop("--preset heat-plate-2048");
        assert_eq!((article.tolerance, article.max_cycles), (Some(1e-4), 15_000));
        assert_eq!(stop("--preset heat-plate-2048 --problem poisson"), StopSpec::default());
    }
}
