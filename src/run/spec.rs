//! The one description of a run. The window edits it, a TOML file holds it, the command line parses to it,
//! and a saved figure carries it.

use super::initial_guess::InitialGuess;
use super::matrix::MatrixSpec;
use super::toml_message::toml_message;
use crate::files::{FileError, read_text};
use crate::grid::{ByteCount, Precision, Shape, Tiling};
use crate::problem::{Boundary, HotBox, Jump, Stencil};
pub use crate::solver::MethodName;
use crate::solver::cuda;
use crate::solver::{
    ExchangePath, Height, Kernel, Link, Schedule, ShareBy, Slabs, Streaming, StreamingError,
    Subiterations,
};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// The newest version of the description, and of those that this program reads. It writes the
/// oldest that holds what was chosen, so that older programs read what they understand.
pub const VERSION: u32 = 10;

/// The version that had one back end, and no kernels to choose from.
const CPU_ALONE: u32 = 1;

/// The version that had kernels, but ran on the first GPU and on 1D and 2D grids only, and had
/// another name for the batch.
const FIRST_GPU: u32 = 2;

/// The version that had 3D grids and other GPUs, but no matrices, and only sweeps.
const GRIDS: u32 = 3;

/// The version that had matrices and subiterations in the sine basis, but no damping and no methods that
/// stream.
const MATRICES: u32 = 4;

/// The version that had damping and methods that stream, but no coefficients per point, no initial guesses or hot boxes
/// to choose, no waves and warps, and no threads per block.
const STREAMS: u32 = 5;

/// The version that had these, but no devices that share a grid.
const PER_POINT: u32 = 6;

/// The version that had those, but neither coordinates of the rows of a matrix nor the checksum of its file.
const DEVICES: u32 = 7;

/// The version that had these, but no store.
const PLACES: u32 = 8;

/// The version that had a store, but no shares by speed.
const STORES: u32 = 9;

/// Everything that makes a run: the problem, the method, and when to stop.
///
/// It may be invalid: only a [`Planner`](super::Planner), which makes a [`Plan`](super::Plan) of it, checks
/// it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunSpec {
    /// The version of this description: [`VERSION`], whichever it was read from.
    pub version: u32,
    /// The folder in which the arrays of a method that streams lie, where they are too large for memory; `solve` alone uses
    /// it. No result depends on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<PathBuf>,
    /// The system to solve.
    #[serde(default)]
    pub problem: ProblemSpec,
    /// How to solve it.
    #[serde(default)]
    pub method: MethodSpec,
    /// When to stop.
    #[serde(default)]
    pub stop: StopSpec,
}

/// The built-in problems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemKind {
    /// The papers' model problem: −∇²u = 1, from u₀ = 1, zero boundary values
    #[default]
    Poisson,
    /// Laplace: a hot square (in 3D a cube) in the middle of a cold plate cools down
    HeatPlate,
    /// Laplace: a plate (in 3D a cube) with one hot side warms up
    HotSide,
    /// A few point sources and sinks, from zero
    PointSources,
    /// A random initial guess that decays to zero: every wavelength at once
    Random,
    /// Convection and diffusion: weights that are not symmetric
    ConvectionDiffusion,
    /// Diffusion in two materials, or in any from an .npy array: −div(k grad u) = 1 (1D and 2D)
    Diffusion,
    /// Your own right-hand side, from a PNG or JPEG image (not in 3D) or an .npy array
    Picture,
    /// A sparse matrix, from a Matrix Market file or by name
    Matrix,
}

/// The system to solve, as it was chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProblemSpec {
    /// Which problem.
    pub kind: ProblemKind,
    /// Interior points of each axis, x first: one, two or three numbers. A file may leave out that of a matrix, which is
    /// the number of its rows.
    pub shape: Vec<usize>,
    /// Independent systems of a 1D grid, solved together; 1 in 2D and 3D.
    #[serde(alias = "copies", skip_serializing_if = "is_single")]
    pub batch: usize,
    /// The file of the right-hand side, for [`ProblemKind::Picture`] and [`ProblemKind::Matrix`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rhs: Option<PathBuf>,
    /// Seed of the random initial guess, or of a random order of a matrix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Velocity times the side over the diffusivity: a Péclet number per axis, x first. A file may leave out
    /// that along z.
    #[serde(skip_serializing_if = "Option::is_none", with = "velocity")]
    pub velocity: Option<[f64; 3]>,
    /// The file of the conductivity, in place of a jump, for [`ProblemKind::Diffusion`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conductivity: Option<PathBuf>,
    /// The conductivity beyond the interface, which is 1 before it: [`Jump::ratio`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jump: Option<f64>,
    /// Two points of the interface: [`Jump::interface`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interface: Option<[[f64; 2]; 2]>,
    /// The hot part of the initial guess, for [`ProblemKind::HeatPlate`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hot_box: Option<HotBox>,
    /// An initial guess in place of the problem's own; that of a matrix is in its description.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial: Option<InitialGuess>,
    /// Dirichlet values in place of the problem's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boundary: Option<Boundary>,
    /// A matrix row in place of the problem's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stencil: Option<Stencil>,
    /// The matrix, for [`ProblemKind::Matrix`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub matrix: Option<MatrixSpec>,
}

impl ProblemSpec {
    /// The files that it names.
    fn files(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let of_matrix = self.matrix.as_mut().into_iter().flat_map(MatrixSpec::files);
        let conductivity = self.conductivity.as_mut();
        let initial = self.initial.as_mut().and_then(InitialGuess::file_mut);
        self.rhs.as_mut().into_iter().chain(conductivity).chain(initial).chain(of_matrix)
    }

    /// Takes the number of rows of the matrix as the shape, where that was left out and the matrix can be read; where it
    /// cannot, its planner says why.
    fn take_shape_of_matrix(&mut self) {
        let rows = self.matrix.as_ref().filter(|_| self.shape.is_empty()).map(MatrixSpec::rows);
        if let Some(Ok(rows)) = rows {
            self.shape = vec![rows];
        }
    }

    /// The name in titles: that of its kind, without an initial guess that another has replaced; where it speaks of a plate,
    /// in 1D of a rod and in 3D of a block.
    pub fn title(&self) -> &'static str {
        match (self.kind, self.initial.is_some(), self.shape.len()) {
            (ProblemKind::Random, true, _) => "Zero right-hand side",
            (ProblemKind::HeatPlate, true, 1) => "Heat rod",
            (ProblemKind::HeatPlate, true, 3) => "Heat block",
            (ProblemKind::HeatPlate, true, _) => "Heat plate",
            (ProblemKind::HeatPlate, false, 1) => "Heat rod, hot centre",
            (ProblemKind::HeatPlate, false, 3) => "Heat block, hot core",
            (ProblemKind::HotSide, _, 1) => "Heat rod, hot end",
            (ProblemKind::HotSide, _, 3) => "Heat block, hot side",
            (kind, ..) => kind.label(),
        }
    }

    /// The initial guess that was chosen; `None` for the problem's own.
    pub fn initial_guess(&self) -> Option<&InitialGuess> {
        match &self.matrix {
            Some(matrix) => matrix.initial.as_ref(),
            None => self.initial.as_ref(),
        }
    }

    /// Chooses an initial guess, in place of a hot box if there is one; `None` is the problem's own.
    pub fn set_initial_guess(&mut self, guess: Option<InitialGuess>) {
        if guess.is_some() {
            self.hot_box = None;
        }
        match &mut self.matrix {
            Some(matrix) => matrix.initial = guess,
            None => self.initial = guess,
        }
    }

    /// The boundary values: those that were chosen, or the problem's own.
    pub fn boundary(&self) -> Boundary {
        let left = if self.kind == ProblemKind::HotSide { 1.0 } else { 0.0 };
        self.boundary.unwrap_or(Boundary { left, ..Boundary::default() })
    }

    /// The conductivity of [`ProblemKind::Diffusion`] where it comes from no file.
    pub fn jump(&self) -> Jump {
        Jump {
            ratio: self.jump.unwrap_or(Jump::DEFAULT.ratio),
            interface: self.interface.unwrap_or(Jump::DEFAULT.interface),
        }
    }

    /// The components of the velocity as they are written: those along x and y, and that along z unless it
    /// is 0.
    pub(crate) fn velocity_components(&self) -> Option<&[f64]> {
        self.velocity.as_ref().map(velocity::components)
    }
}

/// The velocity in a file: two or three numbers.
mod velocity {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn components(velocity: &[f64; 3]) -> &[f64] {
        if velocity[2] == 0.0 { &velocity[..2] } else { velocity }
    }

    pub(super) fn serialize<S: Serializer>(
        velocity: &Option<[f64; 3]>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        velocity.as_ref().map(components).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<[f64; 3]>, D::Error> {
        match Option::<Vec<f64>>::deserialize(deserializer)?.as_deref() {
            None => Ok(None),
            Some(&[x, y]) => Ok(Some([x, y, 0.0])),
            Some(&[x, y, z]) => Ok(Some([x, y, z])),
            Some(other) => Err(D::Error::invalid_length(other.len(), &"two or three numbers")),
        }
    }
}

/// Where the solver runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backend {
    /// A GPU where there is one that takes the run, otherwise the CPU
    #[default]
    Auto,
    /// The cores of this machine
    Cpu,
    /// An NVIDIA GPU
    Cuda,
}

/// How to solve, as it was chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MethodSpec {
    /// Which method.
    pub name: MethodName,
    /// Subiterations of a cycle.
    pub k: Subiterations,
    /// Points of a tile along each axis; one number stands for all axes.
    pub tile: Vec<usize>,
    /// Points that neighbouring tiles share, even; one number stands for all axes.
    pub overlap: Vec<usize>,
    /// ω of damped Jacobi: the fraction of every update that is applied, above 0 and below 2. 1 is Jacobi's iteration.
    #[serde(skip_serializing_if = "is_one")]
    pub omega: f64,
    /// Tiles of a wave, each of which starts from what the waves before it wrote in the same cycle; all tiles where
    /// it is left out ([`Schedule::wave`]).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wave: Option<usize>,
    /// Points of a tile that a subiteration updates at once, in place; all of them where it is left out
    /// ([`Schedule::warp`]).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warp: Option<usize>,
    /// The precision of the arithmetic.
    pub precision: Precision,
    /// Where it runs. A file leaves `auto` out, so that older programs, which do not know it, take the CPU.
    #[serde(skip_serializing_if = "is_auto_backend")]
    pub backend: Backend,
    /// Threads on the CPU; 0 for one per core. No result depends on it.
    pub threads: usize,
    /// The GPUs that it runs on with back ends `cuda` and `auto`, by their ordinals; `all` in a file stands for those
    /// of the machine. Several share the tiles of a 2D or 3D grid, the lines of a batch or the blocks of a matrix;
    /// exchanged after every cycle, no result depends on it.
    #[serde(skip_serializing_if = "is_first_gpu", deserialize_with = "gpus")]
    pub devices: Vec<u32>,
    /// How values get from one of several GPUs to another. No result depends on it.
    #[serde(skip_serializing_if = "is_auto_path")]
    pub exchange: ExchangePath,
    /// By what several GPUs share out a grid. No result depends on it, and no file has what is measured for it.
    #[serde(skip_serializing_if = "is_by_points")]
    pub share_by: ShareBy,
    /// Devices that share a grid or a matrix, simulated on one device ([`crate::solver::Devices`]); a single one
    /// where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simulate_devices: Option<usize>,
    /// Cycles from one exchange between those devices to the next; 1 where it is left out, with which results do not
    /// depend on the devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exchange_every: Option<u64>,
    /// The link between those devices, in microseconds and 10⁹ bytes per second; [`Link::NVLINK`] where it is left out.
    /// What is predicted of their exchanges depends on it, and nothing else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<[f64; 2]>,
    /// How cycles are made. All but `spectral` give the same results.
    #[serde(skip_serializing_if = "is_auto")]
    pub kernel: Kernel,
    /// Threads of a block of the GPU's kernel `classic`, one of [`BLOCK_SIZES`]; the fastest where it is left out. No
    /// result depends on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_size: Option<usize>,
    /// Sweeps of a pass, for the methods that stream ([`MethodName::is_streaming`]); `auto` where it is left
    /// out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub height: Option<Height>,
    /// The budget of fast memory of those methods. Where it is left out, [`MEMORY`], or [`MEMORY_ON_GPU`] with a back end
    /// or slabs that only a GPU has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<ByteCount>,
    /// Slabs of a pyramid that are in fast memory at a time.
    #[serde(skip_serializing_if = "is_auto_slabs")]
    pub slabs: Slabs,
}

/// What is compared with the tolerance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopRule {
    /// The residual over that of the initial guess, ‖r‖₂ / ‖r₀‖₂
    #[default]
    Residual,
    /// The largest update of a cycle, ‖Δu‖∞
    // Files have its older name, which older programs read, too.
    #[serde(rename = "change", alias = "update")]
    Change,
    /// The largest update of a cycle divided by its sweeps, ‖Δu‖∞ / k. Where a cycle has many sweeps, its update is large
    /// although a sweep changes little; this compares with the updates of classic Jacobi.
    #[serde(rename = "update-per-sweep")]
    ChangePerSweep,
}

/// When to stop, as it was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct StopSpec {
    /// What is compared.
    pub rule: StopRule,
    /// Stop when it is at most this; never, where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Stop after this number of cycles in any case.
    pub max_cycles: u64,
}

/// The most subiterations of a cycle that is made by sweeps: a cycle is what a run can be stopped after.
pub const MOST_SWEEPS: usize = 4096;

/// Threads of a block of kernel `classic` to choose from: those of the papers (Islam & Wang, long version, 3.4).
pub const BLOCK_SIZES: [usize; 5] = [32, 64, 128, 256, 512];

/// The budget of methods that stream unless another is chosen: about a last-level cache.
pub const MEMORY: ByteCount = ByteCount::new(32_000_000);

/// The same on a GPU: a window that every supported GPU has room for, and large enough for chunks and heights that keep it
/// busy.
pub const MEMORY_ON_GPU: ByteCount = ByteCount::new(1_000_000_000);

/// The largest k that kernel `auto` makes by sweeps.
const MOST_SWEEPS_OF_AUTO: usize = 1024;

/// The tolerance of the papers' experiments (Islam & Wang, section III-A).
pub const TOLERANCE: f64 = 1e-4;

impl Default for RunSpec {
    /// Poisson 2D, 256², tile 32, k = 16, no overlap: tile borders are at their clearest.
    fn default() -> Self {
        Self {
            version: VERSION,
            store: None,
            problem: ProblemSpec::default(),
            method: MethodSpec::default(),
            stop: StopSpec::default(),
        }
    }
}

impl Default for ProblemSpec {
    fn default() -> Self {
        Self {
            kind: ProblemKind::Poisson,
            shape: vec![256, 256],
            batch: 1,
            rhs: None,
            seed: None,
            velocity: None,
            conductivity: None,
            jump: None,
            interface: None,
            hot_box: None,
            initial: None,
            boundary: None,
            stencil: None,
            matrix: None,
        }
    }
}

impl Default for MethodSpec {
    fn default() -> Self {
        Self {
            name: MethodName::Hierarchical,
            k: Subiterations::Finite(16),
            tile: vec![32],
            overlap: vec![0],
            omega: 1.0,
            wave: None,
            warp: None,
            precision: Precision::F64,
            backend: Backend::Auto,
            threads: 0,
            devices: vec![0],
            exchange: ExchangePath::Auto,
            share_by: ShareBy::Points,
            simulate_devices: None,
            exchange_every: None,
            link: None,
            kernel: Kernel::AUTO,
            block_size: None,
            height: None,
            memory: None,
            slabs: Slabs::Auto,
        }
    }
}

impl Default for StopSpec {
    fn default() -> Self {
        Self { rule: StopRule::Residual, tolerance: Some(TOLERANCE), max_cycles: 10_000_000 }
    }
}

impl ProblemKind {
    /// All of them, as they stand in menus.
    pub const ALL: [Self; 9] = [
        Self::Poisson,
        Self::HeatPlate,
        Self::HotSide,
        Self::PointSources,
        Self::Random,
        Self::ConvectionDiffusion,
        Self::Diffusion,
        Self::Picture,
        Self::Matrix,
    ];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Poisson => "poisson",
            Self::HeatPlate => "heat-plate",
            Self::HotSide => "hot-side",
            Self::PointSources => "point-sources",
            Self::Random => "random",
            Self::ConvectionDiffusion => "convection-diffusion",
            Self::Diffusion => "diffusion",
            Self::Picture => "picture",
            Self::Matrix => "matrix",
        }
    }

    /// The name in menus and titles.
    pub fn label(self) -> &'static str {
        match self {
            Self::Poisson => "Poisson",
            Self::HeatPlate => "Heat plate, hot centre",
            Self::HotSide => "Heat plate, hot side",
            Self::PointSources => "Point sources",
            Self::Random => "Random initial guess",
            Self::ConvectionDiffusion => "Convection–diffusion",
            Self::Diffusion => "Diffusion in two materials",
            Self::Picture => "Right-hand side from a file",
            Self::Matrix => "Sparse matrix",
        }
    }

    /// What it is for, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Poisson => {
                "The papers' model problem (b = 1, u₀ = 1, zero boundary values): the clearest view of tile borders."
            }
            Self::HeatPlate => {
                "Laplace: heat spreads from a hot centre and drains through the cold boundary; stops on the largest update."
            }
            Self::HotSide => {
                "Laplace: heat spreads from one hot side; distant tiles change only through their halos."
            }
            Self::PointSources => {
                "A few sources and sinks: see how far a point's influence travels in one cycle."
            }
            Self::Random => {
                "A random initial guess that decays to zero: short waves vanish in a few sweeps, long ones remain."
            }
            Self::ConvectionDiffusion => {
                "Convection and diffusion: weights that are not symmetric; the matrix may lose diagonal dominance."
            }
            Self::Diffusion => {
                "−div(k grad u) = 1 with coefficients per point: a conductivity that jumps 1 : 1000 across an interface."
            }
            Self::Picture => {
                "Your own right-hand side: bright pixels of a PNG or JPEG, or the values of an .npy array."
            }
            Self::Matrix => {
                "A sparse matrix, cut into blocks of rows: a Matrix Market file, or one that comes with the program."
            }
        }
    }

    /// When such a problem stops unless something else is chosen.
    pub fn default_stop(self) -> StopSpec {
        match self {
            Self::HeatPlate | Self::HotSide => {
                StopSpec { rule: StopRule::Change, ..StopSpec::default() }
            }
            _ => StopSpec::default(),
        }
    }
}

impl StopRule {
    /// All of them, as they stand in menus.
    pub const ALL: [Self; 3] = [Self::Residual, Self::Change, Self::ChangePerSweep];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Residual => "residual",
            Self::Change => "update",
            Self::ChangePerSweep => "update-per-sweep",
        }
    }

    /// What it means, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Residual => "The residual relative to that of the initial guess, ‖r‖₂ / ‖r₀‖₂.",
            Self::Change => "The largest update of a cycle, ‖Δu‖∞.",
            Self::ChangePerSweep => {
                "The largest update of a cycle divided by its sweeps, ‖Δu‖∞ / k, which classic Jacobi and long cycles meet alike."
            }
        }
    }
}

impl Backend {
    /// All of them, as they stand in menus.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Cpu, Self::Cuda];

    /// The name in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Cpu => "cpu",
            Self::Cuda => "cuda",
        }
    }

    /// What it means, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Auto => "An NVIDIA GPU where there is one that takes the run, otherwise the CPU.",
            Self::Cpu => "The cores of this machine.",
            Self::Cuda => "An NVIDIA GPU.",
        }
    }
}

impl MethodSpec {
    /// Tiles per wave where waves begin: a quarter of the tiles of the default run.
    pub const WAVE: usize = 16;

    /// Points per warp where updates in place begin: the threads of a GPU's warp.
    pub const WARP: usize = 32;

    /// Drops what has no use for a matrix, and devices: it may have fewer blocks.
    fn suit_matrix(&mut self) {
        if self.name.is_streaming() {
            self.set_name(MethodName::default());
        }
        self.omega = 1.0;
        (self.wave, self.warp, self.block_size) = (None, None, None);
        (self.simulate_devices, self.exchange_every, self.link) = (None, None, None);
        (self.exchange, self.share_by) = (ExchangePath::Auto, ShareBy::Points);
        self.devices.truncate(1);
    }

    /// Takes another method; what that has no use for is dropped.
    pub fn set_name(&mut self, name: MethodName) {
        self.name = name;
        if name.is_streaming() {
            self.omega = 1.0;
            // Nothing is exchanged after a pass.
            (self.exchange, self.exchange_every) = (ExchangePath::Auto, None);
            self.share_by = ShareBy::Points;
        } else {
            (self.height, self.memory) = (None, None);
        }
        if name != MethodName::Pyramid {
            self.slabs = Slabs::Auto;
        }
        if name != MethodName::Hierarchical {
            (self.wave, self.warp) = (None, None);
        }
        if name != MethodName::Classic {
            self.block_size = None;
        }
    }

    /// The order of tiles and points.
    pub fn schedule(&self) -> Schedule {
        let counted = |points: Option<usize>| points.and_then(NonZeroUsize::new);
        Schedule { wave: counted(self.wave), warp: counted(self.warp) }
    }

    /// The link between simulated devices.
    pub fn link(&self) -> Link {
        let chosen = self.link.map(|[latency, bandwidth]| Link { latency, bandwidth });
        chosen.unwrap_or(Link::NVLINK)
    }

    /// Devices that share the grid: simulated ones, or several GPUs; `None` for a single device.
    pub fn device_count(&self) -> Option<usize> {
        let gpus =
            (self.backend != Backend::Cpu && self.devices.len() > 1).then_some(&self.devices);
        self.simulate_devices.or(gpus.map(Vec::len))
    }

    /// Whether several GPUs are named that may run it.
    pub fn has_several_gpus(&self) -> bool {
        self.backend != Backend::Cpu && self.devices.len() > 1 && !self.is_for_cpu()
    }

    /// Whether several devices share the grid, and compute some cycles with values of others that are older than the
    /// cycle before.
    pub fn has_frozen_devices(&self) -> bool {
        self.device_count().is_some_and(|count| count > 1)
            && self.exchange_every.is_some_and(|cycles| cycles > 1)
    }

    /// Whether its sweeps differ from those of Jacobi's iteration: damped, or with tiles or points in an order.
    fn has_other_sweeps(&self) -> bool {
        self.omega != 1.0 || !self.schedule().is_jacobi()
    }

    /// Whether no GPU runs it.
    pub fn is_for_cpu(&self) -> bool {
        !self.schedule().is_jacobi()
    }

    /// The budget of fast memory. It does not depend on where [`Backend::Auto`] leads, so that a description makes the same
    /// cycles on every machine.
    pub fn memory(&self) -> ByteCount {
        self.memory.unwrap_or(if self.streams_on_gpu() { MEMORY_ON_GPU } else { MEMORY })
    }

    /// Whether its back end or its slabs are those of a GPU.
    fn streams_on_gpu(&self) -> bool {
        self.backend == Backend::Cuda || self.slabs == Slabs::Two
    }

    /// Whether it streams through the default budget of a CPU: its cache.
    pub(super) fn streams_through_cache(&self) -> bool {
        self.name.is_streaming() && self.memory.is_none() && !self.streams_on_gpu()
    }

    /// The pass of a method that streams on a grid.
    ///
    /// # Errors
    /// [`StreamingError`] if height and budget do not go together.
    pub fn streaming(&self, shape: &Shape) -> Result<Streaming, StreamingError> {
        let Self { name, slabs, precision, .. } = *self;
        let (height, memory) = (self.height.unwrap_or_default(), self.memory());
        if self.streams_on_gpu() {
            Streaming::on_gpu(name, height, slabs, memory, shape, precision)
        } else {
            Streaming::new(name, height, memory, shape, precision)
        }
    }

    /// The tile's points along an axis.
    pub fn tile_of(&self, axis: usize) -> usize {
        of_axis(&self.tile, axis)
    }

    /// The overlap along an axis.
    pub fn overlap_of(&self, axis: usize) -> usize {
        of_axis(&self.overlap, axis)
    }

    /// Whether the subiterations are made in the sine basis, as far as the kernel and k decide.
    pub fn prefers_spectral(&self) -> bool {
        match self.kernel {
            _ if self.name.is_jacobi() || self.has_other_sweeps() => false,
            Kernel::SPECTRAL => true,
            Kernel::AUTO => self.k > Subiterations::Finite(MOST_SWEEPS_OF_AUTO),
            // From there on the products cost less than the sweeps, on a CPU and on a GPU.
            Kernel::FASTEST => {
                let side = self.tile.iter().max().copied().unwrap_or(0);
                self.k > Subiterations::Finite(3 * side / 4)
            }
            _ => false,
        }
    }

    /// The kernels that go with the method and the back end: with `auto` those of a GPU, which include those
    /// of a CPU.
    pub fn kernels(&self) -> Vec<Kernel> {
        let mut kernels = match self.backend {
            _ if !self.schedule().is_jacobi() => vec![Kernel::AUTO, Kernel::FASTEST],
            Backend::Cpu => Kernel::on_cpu(self.name),
            Backend::Auto | Backend::Cuda => Kernel::of(self.name),
        };
        kernels.retain(|kernel| self.omega == 1.0 || kernel.takes_damping());
        kernels
    }

    /// Whether only a GPU can run it: that was chosen, or a kernel or a block size that a CPU does not have.
    pub fn needs_gpu(&self) -> bool {
        let is_of = |kernels: Vec<Kernel>| kernels.contains(&self.kernel);
        match self.backend {
            Backend::Cpu => false,
            Backend::Cuda => true,
            Backend::Auto if self.block_size.is_some() => true,
            Backend::Auto => {
                is_of(Kernel::of(self.name)) && !is_of(Kernel::on_cpu(self.name))
                    || is_of(Kernel::of_matrix()) && !is_of(Kernel::of_matrix_on_cpu())
            }
        }
    }
}

fn is_auto_backend(backend: &Backend) -> bool {
    *backend == Backend::Auto
}

fn is_auto_slabs(slabs: &Slabs) -> bool {
    *slabs == Slabs::Auto
}

fn is_one(omega: &f64) -> bool {
    *omega == 1.0
}

fn is_single(batch: &usize) -> bool {
    *batch == 1
}

fn is_auto(kernel: &Kernel) -> bool {
    *kernel == Kernel::AUTO
}

fn is_auto_path(exchange: &ExchangePath) -> bool {
    *exchange == ExchangePath::Auto
}

/// A list of GPUs, or `all` of this machine; without one, GPU 0, as in a run that names no GPUs.
fn gpus<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u32>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "a list of GPUs, such as [0, 1], or \"all\"")]
    enum Listed {
        Numbers(Vec<u32>),
        Name(AllGpus),
    }
    #[derive(Deserialize)]
    enum AllGpus {
        #[serde(rename = "all")]
        All,
    }
    Ok(match Listed::deserialize(deserializer)? {
        Listed::Numbers(devices) => devices,
        Listed::Name(AllGpus::All) => all_gpus(),
    })
}

/// The GPUs of this machine, by their ordinals; the first where there is none.
pub fn all_gpus() -> Vec<u32> {
    let count = cuda::gpus().map_or(1, |names| names.len());
    (0..u32::try_from(count).unwrap_or(1)).collect()
}

fn is_by_points(share_by: &ShareBy) -> bool {
    *share_by == ShareBy::Points
}

fn is_first_gpu(devices: &[u32]) -> bool {
    devices == [0]
}

/// The value of an axis in a list whose single entry stands for every axis; 0 in an empty one.
fn of_axis(values: &[usize], axis: usize) -> usize {
    values.get(axis).or(values.first()).copied().unwrap_or(0)
}

/// Why a description could not be read.
#[derive(Debug, thiserror::Error)]
pub enum SpecError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// The text is not TOML with a version.
    #[error("{what} is not a run description: {place}{}", toml_message(.source))]
    Toml {
        /// The file, or what else it came from.
        what: String,
        /// The line that is wrong, with its number; empty if it is none in particular.
        place: String,
        /// What is wrong with it.
        source: Box<toml::de::Error>,
    },
    /// A key that is not known, or a value that its key cannot have.
    #[error("{what} is not a run description: {place}{}", toml_message(.source))]
    Value {
        /// The file, or what else it came from.
        what: String,
        /// The line that is wrong, with its number; empty if it is none in particular.
        place: String,
        /// What is wrong with it.
        source: Box<toml::de::Error>,
    },
    /// A newer program wrote it.
    #[error(
        "{what} has version {version}, but this program reads versions up to {VERSION}; a newer tilescope wrote it"
    )]
    Newer {
        /// The file, or what else it came from.
        what: String,
        /// Its version.
        version: u32,
    },
}

/// A file longer than this is not a description of a run.
const LONGEST: u64 = 1 << 20;

/// The version alone, read first: a newer description may have anything else in it.
#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

impl RunSpec {
    /// The tiles; `None` while they are not valid.
    pub fn tiling(&self) -> Option<Tiling> {
        self.method.tiling_of(&self.problem)
    }
}

impl MethodSpec {
    /// The tiles that it cuts a problem into; `None` while they are not valid.
    pub fn tiling_of(&self, problem: &ProblemSpec) -> Option<Tiling> {
        let axes = &problem.shape;
        let tile: Vec<_> = (0..axes.len()).map(|axis| self.tile_of(axis)).collect();
        let overlap: Vec<_> = (0..axes.len()).map(|axis| self.overlap_of(axis)).collect();
        match (problem.kind, &axes[..]) {
            (ProblemKind::Matrix, [rows]) => Tiling::blocks(*rows, tile[0], overlap[0]).ok(),
            _ => Tiling::new(axes, &tile, &overlap).ok(),
        }
    }
}

impl RunSpec {
    /// Takes another problem and its stopping rule; what of the method has no use there is dropped.
    pub fn set_problem(&mut self, problem: ProblemSpec, stop: StopSpec) {
        if problem.shape.len() != self.problem.shape.len() {
            // One tile and overlap for all axes.
            self.method.tile.truncate(1);
            self.method.overlap.truncate(1);
        }
        (self.problem, self.stop) = (problem, stop);
        if self.problem.kind == ProblemKind::Matrix {
            self.method.suit_matrix();
        }
        if !self.kernels().contains(&self.method.kernel) {
            self.method.kernel = Kernel::AUTO;
        }
    }

    /// The kernels that go with the problem, the method and the back end.
    pub fn kernels(&self) -> Vec<Kernel> {
        self.kernels_with(&self.method)
    }

    /// The kernels that the problem may be solved by with another method.
    pub fn kernels_with(&self, method: &MethodSpec) -> Vec<Kernel> {
        match (self.problem.kind, method.backend) {
            (ProblemKind::Diffusion, _) => {
                method.kernels().into_iter().filter(|kernel| kernel.takes_rows()).collect()
            }
            (ProblemKind::Matrix, Backend::Cpu) => Kernel::of_matrix_on_cpu(),
            (ProblemKind::Matrix, Backend::Auto | Backend::Cuda) => Kernel::of_matrix(),
            _ => method.kernels(),
        }
    }

    /// Sweeps in a cycle; 1 where the description has none, since it cannot be run.
    pub fn sweeps_per_cycle(&self) -> u64 {
        match self.method.name {
            MethodName::Classic => 1,
            MethodName::Hierarchical => self.method.k.counted_sweeps(),
            MethodName::Pyramid | MethodName::Wavefront => {
                let streaming =
                    self.problem.grid().and_then(|shape| self.method.streaming(&shape).ok());
                streaming.map_or(1, |streaming| streaming.height() as u64)
            }
        }
    }

    /// Whether the other makes the same iterates: it differs at most in where and how it runs.
    pub fn is_same_run(&self, other: &Self) -> bool {
        let MethodSpec { backend, threads, exchange, share_by, kernel, block_size, .. } =
            other.method;
        if self.method.prefers_spectral() != other.method.prefers_spectral() {
            return false;
        }
        // What is left to `auto` may be another height and another budget on a GPU.
        if self.sweeps_per_cycle() != other.sweeps_per_cycle() {
            return false;
        }
        let devices = other.method.devices.clone();
        let method = MethodSpec {
            backend,
            threads,
            devices,
            exchange,
            share_by,
            kernel,
            block_size,
            ..self.method.clone()
        };
        // Where halos are frozen, the devices make the iterates.
        let have_same_devices = !self.method.has_frozen_devices()
            || self.method.device_count() == other.method.device_count();
        let store = other.store.clone();
        have_same_devices && Self { method, store, ..self.clone() } == *other
    }

    /// A file that the run reads and whose name is not text (UTF-8), so that no description can have it.
    pub fn unnameable_file(&self) -> Option<PathBuf> {
        let mut problem = self.problem.clone();
        problem.files().find(|path| path.to_str().is_none()).cloned()
    }

    /// The description as a TOML file holds it, empty where a file that it names has no name in text
    /// ([`RunSpec::unnameable_file`]).
    pub fn to_toml(&self) -> String {
        // Only maps with keys that are not strings, and values after tables, cannot be written;
        // this type has neither.
        let MethodSpec { backend, devices, kernel, .. } = &self.method;
        let is_newest = self.problem.shape.len() > 2 || self.problem.batch != 1;
        let is_matrix = self.problem.kind == ProblemKind::Matrix || self.problem.matrix.is_some();
        let is_damped = self.method.omega != 1.0;
        let is_spectral = [Kernel::SPECTRAL, Kernel::FASTEST].contains(kernel)
            || self.method.k > Subiterations::Finite(MOST_SWEEPS);
        let MethodSpec { name, height, memory, .. } = &self.method;
        let has_pass = name.is_streaming() || height.is_some() || memory.is_some();
        let ProblemSpec { hot_box, initial, matrix, .. } = &self.problem;
        let starts_from_value = |matrix: &MatrixSpec| {
            matrix.initial.as_ref().is_some_and(|initial| initial.file().is_none())
        };
        let has_start = hot_box.is_some()
            || initial.is_some()
            || matrix.as_ref().is_some_and(starts_from_value);
        let MethodSpec { wave, warp, block_size, .. } = self.method;
        let is_per_point = self.problem.kind == ProblemKind::Diffusion;
        let is_placed =
            |matrix: &MatrixSpec| matrix.coordinates.is_some() || matrix.checksum.is_some();
        let version = if self.method.share_by != ShareBy::Points {
            VERSION
        } else if self.store.is_some() {
            STORES
        } else if matrix.as_ref().is_some_and(is_placed) {
            PLACES
        } else if self.method.device_count().is_some()
            || self.method.exchange_every.is_some()
            || self.method.link.is_some()
        {
            DEVICES
        } else if is_per_point || has_start || [wave, warp, block_size].iter().any(Option::is_some)
        {
            PER_POINT
        } else if has_pass || is_damped {
            STREAMS
        } else if is_matrix || is_spectral {
            MATRICES
        } else if is_newest || !is_first_gpu(devices) {
            GRIDS
        } else if *backend != Backend::Cuda && is_auto(kernel) {
            CPU_ALONE
        } else {
            FIRST_GPU
        };
        toml::to_string(&Self { version, ..self.clone() }).unwrap_or_default()
    }

    /// Reads a description from TOML text; `what` names its origin in errors.
    ///
    /// # Errors
    /// [`SpecError`] if it is not a description, has a key that is not known, or is newer than this
    /// program.
    pub fn from_toml(text: &str, what: &str) -> Result<Self, SpecError> {
        let place = |source: &toml::de::Error| place(text, source.span());
        let Versioned { version } =
            toml::from_str(text).map_err(|source: toml::de::Error| SpecError::Toml {
                what: what.to_owned(),
                place: place(&source),
                source: Box::new(source),
            })?;
        if version > VERSION {
            return Err(SpecError::Newer { what: what.to_owned(), version });
        }
        let mut spec: Self =
            toml::from_str(text).map_err(|source: toml::de::Error| SpecError::Value {
                what: what.to_owned(),
                place: place(&source),
                source: Box::new(source),
            })?;
        if let Some(matrix) = &spec.problem.matrix
            && !names_shape(text)
        {
            let is_file = matrix.is_file();
            spec.problem.shape.clear();
            // A file may lie beside that of the run.
            if !is_file {
                spec.problem.take_shape_of_matrix();
            }
        }
        Ok(Self { version: VERSION, ..spec })
    }

    /// Reads a description from a TOML file. A file that it names by a relative path is searched beside it.
    ///
    /// # Errors
    /// [`SpecError`], naming the file.
    pub fn load(path: &Path) -> Result<Self, SpecError> {
        let text = read_text(path, LONGEST)?;
        Ok(Self::from_toml(&text, &path.display().to_string())?.found_beside(path))
    }

    /// The files and the folder that it names.
    fn files(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        self.problem.files().chain(&mut self.store)
    }

    /// The same run, to be written into `file`: a right-hand side from below that file's folder is
    /// named from there, so that the two can move together; any other by its whole path.
    #[must_use]
    pub fn beside(&self, file: &Path) -> Self {
        let mut spec = self.clone();
        spec.problem.matrix = spec.problem.matrix.map(MatrixSpec::summed);
        let folder = file.parent().and_then(|folder| std::path::absolute(folder).ok());
        for named in spec.files() {
            if let (Some(folder), Ok(path)) = (&folder, std::path::absolute(&*named)) {
                *named = path.strip_prefix(folder).map(Path::to_owned).unwrap_or(path);
            }
        }
        spec
    }

    /// The same run as it was read from `file`: the inverse of [`RunSpec::beside`].
    #[must_use]
    pub fn found_beside(mut self, file: &Path) -> Self {
        if let Some(folder) = file.parent() {
            for named in self.files() {
                *named = folder.join(&*named);
            }
        }
        self.problem.take_shape_of_matrix();
        self
    }
}

/// Whether a description names the shape of its problem.
fn names_shape(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Described {
        problem: Option<DescribedProblem>,
    }
    #[derive(Deserialize)]
    struct DescribedProblem {
        shape: Option<IgnoredAny>,
    }
    let described: Result<Described, _> = toml::from_str(text);
    described.is_ok_and(|all| all.problem.is_some_and(|problem| problem.shape.is_some()))
}

/// Names the line of a text in which a span begins, and quotes it.
pub(in crate::run) fn place(text: &str, span: Option<std::ops::Range<usize>>) -> String {
    let Some(before) = span.and_then(|span| text.get(..span.start)) else {
        return String::new();
    };
    let number = before.matches('\n').count();
    match text.lines().nth(number).map(str::trim).filter(|line| !line.is_empty()) {
        Some(line) if line.chars().count() <= 80 => format!("line {} ({line}): ", number + 1),
        _ => format!("line {}: ", number + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that knows no GPUs reads what it can run, and reports that a newer program
    /// wrote the rest.
    #[test]
    fn a_file_has_the_oldest_version_that_holds_it() {
        let mut spec = RunSpec::default();
        let text = spec.to_toml();
        assert!(text.starts_with("version = 1\n") && !text.contains("kernel"), "{text}");
        spec.method.backend = Backend::Cuda;
        assert!(spec.to_toml().starts_with("version = 2\n"));
        spec.method.kernel = Kernel::REGISTER;
        let text = spec.to_toml();
        assert!(text.contains("backend = \"cuda\"") && text.contains("kernel = \"register\""));
        assert_eq!(RunSpec::from_toml(&text, "it").unwrap(), spec);
        assert_eq!(RunSpec::from_toml("version = 1", "it").unwrap(), RunSpec::default());
        spec.method.devices = vec![1];
        let text = spec.to_toml();
        assert!(text.starts_with("version = 3\n") && text.contains("devices = [1]"), "{text}");
        assert_eq!(RunSpec::from_toml(&text, "it").unwrap(), spec);
    }

    /// Programs that do not know `auto` read its files and take the CPU; their own files name the CPU.
    #[test]
    fn auto_is_left_out_of_a_file() {
        let mut spec = RunSpec::default();
        assert_eq!(spec.method.backend, Backend::Auto);
        assert!(!spec.to_toml().contains("backend"));
        spec.method.backend = Backend::Cpu;
        let text = spec.to_toml();
        assert!(text.starts_with("version = 1\n") && text.contains("backend = \"cpu\""), "{text}");
        assert_eq!(RunSpec::from_toml(&text, "it").unwrap(), spec);
        let text = "version = 1\n[method]\nbackend = \"auto\"";
        assert_eq!(RunSpec::from_toml(text, "it").unwrap(), RunSpec::default());
    }

    #[test]
    fn a_kernel_of_gpus_needs_one() {
        let needs_gpu =
            |backend, kernel| MethodSpec { backend, kernel, ..MethodSpec::default() }.needs_gpu();
        for kernel in [Kernel::AUTO, Kernel::FASTEST, Kernel::SPECTRAL] {
            assert!(!needs_gpu(Backend::Auto, kernel) && needs_gpu(Backend::Cuda, kernel));
        }
        assert!(needs_gpu(Backend::Auto, Kernel::REGISTER));
        for kernel in Kernel::of_matrix() {
            let is_on_cpu = Kernel::of_matrix_on_cpu().contains(&kernel);
            assert_eq!(needs_gpu(Backend::Auto, kernel), !is_on_cpu, "{kernel:?}");
        }
        assert!(!needs_gpu(Backend::Cpu, Kernel::REGISTER), "which is refused");
    }

    #[test]
    fn infinitely_many_subiterations_are_kept() {
        let mut spec = RunSpec::default();
        for (k, kernel) in [
            (Subiterations::Infinite, Kernel::AUTO),
            (1_000_000.into(), Kernel::FASTEST),
            (16.into(), Kernel::SPECTRAL),
        ] {
            (spec.method.k, spec.method.kernel) = (k, kernel);
            let text = spec.to_toml();
            assert!(text.starts_with("version = 4\n"), "{text}");
            assert_eq!(RunSpec::from_toml(&text, "it").unwrap(), spec);
        }
        let read = RunSpec::from_toml("version = 4\n[method]\nk = inf", "it").unwrap();
        assert_eq!(read.method.k, Subiterations::Infinite);
    }

    #[test]
    fn a_conductivity_has_the_newest_version() {
        let mut spec = RunSpec::default();
        spec.problem.kind = ProblemKind::Diffusion;
        (spec.problem.jump, spec.problem.interface) = (Some(10.0), Some([[0.5, 0.0], [0.25, 1.0]]));
        let text = spec.to_toml();
        assert!(text.starts_with("version = 6\n") && text.contains("jump = 10.0"), "{text}");
        assert_eq!(RunSpec::from_toml(&text, "it").unwrap(), spec);
        spec.method.omega = 0.5;
        spec.problem = ProblemSpec::default();
        assert!(spec.to_toml().starts_with("version = 5\n"));
    }

    /// Subiterations in the sine basis round differently: a run with them is another run.
    #[test]
    fn the_sine_basis_is_chosen_by_kernel_and_k() {
        let chosen = |k: usize, kernel| {
            MethodSpec { k: k.into(), kernel, ..MethodSpec::default() }.prefers_spectral()
        };
        assert!(!chosen(1024, Kernel::AUTO) && chosen(1025, Kernel::AUTO));
        assert!(!chosen(1025, Kernel::REGISTER) && chosen(1, Kernel::SPECTRAL));
        assert!(!chosen(24, Kernel::FASTEST) && chosen(25, Kernel::FASTEST), "tile 32");
        let spec = RunSpec::default();
        let mut other = spec.clone();
        other.method.kernel = Kernel::SPECTRAL;
        assert!(!spec.is_same_run(&other));
    }

    #[test]
    fn a_batch_is_read_by_its_old_name_too() {
        let spec =
            RunSpec::from_toml("version = 1\n[problem]\nshape = [9]\ncopies = 4", "it").unwrap();
        assert_eq!(spec.problem.batch, 4);
        assert!(spec.to_toml().contains("batch = 4"));
    }

    /// Files are written with the older name of the rule, so that older programs read them.
    #[test]
    fn the_rule_of_the_update_is_read_by_both_of_its_names() {
        for name in ["update", "change"] {
            let text = format!("version = 1\n[stop]\nrule = \"{name}\"\nmax_cycles = 9");
            let spec = RunSpec::from_toml(&text, "it").unwrap();
            assert_eq!(spec.stop.rule, StopRule::Change);
            assert!(spec.to_toml().contains("rule = \"change\""));
        }
    }

    #[test]
    fn a_store_has_the_newest_version_and_is_found_beside_the_file() {
        let spec = RunSpec { store: Some(PathBuf::from("store")), ..RunSpec::default() };
        let text = spec.to_toml();
        assert!(text.starts_with("version = 9\nstore = \"store\"\n"), "{text}");
        let read = RunSpec::from_toml(&text, "it").unwrap();
        assert_eq!(read, spec);
        assert!(read.is_same_run(&RunSpec::default()));
        let found = read.found_beside(Path::new("runs/a.toml"));
        assert_eq!(found.store, Some(PathBuf::from("runs/store")));
    }

    /// Where and how a run is made says nothing of its iterates.
    #[test]
    fn shares_by_speed_have_the_newest_version() {
        let mut spec = RunSpec::default();
        spec.method.devices = vec![0, 1];
        let even = spec.clone();
        spec.method.share_by = ShareBy::Speed;
        let text = spec.to_toml();
        assert!(
            text.starts_with("version = 10\n") && text.contains("share_by = \"speed\""),
            "{text}"
        );
        assert_eq!(RunSpec::from_toml(&text, "it").unwrap(), spec);
        assert!(spec.is_same_run(&even) && even.is_same_run(&spec));
        spec.method.set_name(MethodName::Pyramid);
        assert_eq!(spec.method.share_by, ShareBy::Points);
    }

    #[test]
    fn devices_have_the_newest_version() {
        let mut spec = RunSpec::default();
        spec.method.simulate_devices = Some(4);
        (spec.method.exchange_every, spec.method.link) = (Some(8), Some([40.0, 12.5]));
        let text = spec.to_toml();
        assert!(text.starts_with("version = 7\n"), "{text}");
        assert!(text.contains("simulate_devices = 4\nexchange_every = 8\nlink = [40.0, 12.5]"));
        assert_eq!(RunSpec::from_toml(&text, "it").unwrap(), spec);
        assert_eq!(spec.method.link(), Link { latency: 40.0, bandwidth: 12.5 });
        assert_eq!(RunSpec::default().method.link(), Link::NVLINK);
    }

    #[test]
    fn a_run_is_the_same_wherever_and_however_it_runs() {
        let spec = RunSpec::default();
        let mut other = spec.clone();
        (other.method.backend, other.method.kernel) = (Backend::Cuda, Kernel::SHARED);
        other.method.threads = 3;
        assert!(spec.is_same_run(&other) && other.is_same_run(&spec));
        other.method.k = 17.into();
        assert!(!spec.is_same_run(&other));
        let mut other = spec.clone();
        other.stop.max_cycles = 1;
        assert!(!spec.is_same_run(&other));
    }

    #[test]
    fn a_pass_of_another_height_is_another_run() {
        let mut spec = RunSpec::default();
        spec.method.set_name(MethodName::Pyramid);
        let on_gpu = |spec: &RunSpec| {
            let mut spec = spec.clone();
            spec.method.backend = Backend::Cuda;
            spec
        };
        // By the model, and by the budget.
        assert_ne!(spec.sweeps_per_cycle(), on_gpu(&spec).sweeps_per_cycle());
        assert!(!spec.is_same_run(&on_gpu(&spec)));
        spec.method.height = Some(Height::Sweeps(8));
        assert!(spec.is_same_run(&on_gpu(&spec)));
    }

    #[test]
    fn the_default_budget_fits_the_back_end() {
        let mut method = MethodSpec::default();
        method.set_name(MethodName::Wavefront);
        for (backend, memory) in
            [(Backend::Auto, MEMORY), (Backend::Cpu, MEMORY), (Backend::Cuda, MEMORY_ON_GPU)]
        {
            method.backend = backend;
            assert_eq!(method.memory(), memory, "{backend:?}");
            assert_eq!(method.streams_through_cache(), backend != Backend::Cuda);
        }
        (method.backend, method.memory) = (Backend::Auto, Some(MEMORY));
        assert!(!method.streams_through_cache());
    }
}
