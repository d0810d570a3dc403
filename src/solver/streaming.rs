//! Grids that visit fast memory part by part: the pyramids of Kochurov, Vorotnikova and Golovashkin
//! (2015), and a wavefront that moves every plane once. Their iterates are Jacobi's to the last bit; only
//! the traffic and the duplicate work differ.
//!
//! The tiled axis is the slowest one, so that planes lie one after the other: a *plane* is an xy-plane in
//! 3D, a row in 2D and a point in 1D, where every system of a batch is streamed by itself.

use super::height::Height;
use super::method_name::MethodName;
use super::pyramid_model::PyramidModel;
use crate::grid::{ByteCount, Precision, Shape};
use serde::{Deserialize, Serialize};

/// The most sweeps of a pass: a cycle is what a run can be stopped after.
pub const MOST_HEIGHT: usize = 4096;

/// Arrays that visit fast memory: two iterates and the right-hand side.
const ARRAYS: usize = 3;

/// The fewest planes of a slab: one that it owns, and one on either side.
const LEAST_OF_SLAB: usize = 3;

/// The fewest planes of a window: n + 3c + 2, so that chunks can come, be computed and leave at once.
const LEAST_OF_WINDOW: usize = 6;

/// Sweeps that kernel `fused` makes together: an odd number, so that on a GPU the iterate goes to the array that as many single
/// sweeps leave it in.
pub(super) const TOGETHER: usize = 5;

/// The fewest planes of a chunk in which sweeps are made together: estimated, as tiles of fewer compute more planes twice than it
/// saves.
pub(super) const LEAST_TOGETHER: usize = 16;

/// Seconds to move a value over seconds to update a point, which `auto` heights assume on a CPU. A
/// constant, so that a description makes the same cycles on every machine. It is an assumption and was
/// not measured.
const CPU_RATIO: f64 = 0.5;

/// The same on a GPU: an H200 behind PCIe 5 takes 0.145 ns to move an f64 and 6.2 ps to update a point; in f32
/// both halve.
const GPU_RATIO: f64 = 24.0;

/// Points of a chunk of the wavefront on a CPU: more than threads share at least. Not tuned by measurement.
const POINTS_OF_CHUNK: usize = 1 << 18;

/// The same on a GPU, at most: 64 planes of 1024², where sweeps that are made together were faster than with 32 on an H200.
const POINTS_OF_GPU_CHUNK: usize = 1 << 26;

/// Planes that a block of the GPU's 3D kernel marches through: larger chunks are multiples of it.
const MARCHED: usize = 8;

/// The fraction of the window that a chunk may take is one over this: the rest is height.
const CHUNKS_IN_WINDOW: usize = 8;

/// The same of chunks in which sweeps are made together, as long as they leave a height of [`HIDING`].
const CHUNKS_TOGETHER: usize = 5;

/// Sweeps that take about as long as the copies of a pass: on an H200 behind PCIe 5 some 50 single ones, and 90 that are made
/// together.
const HIDING: usize = 64;

/// How the planes of a grid pass through fast memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Slabs that overlap by 2n planes, one after the other, and shrink with every sweep.
    Pyramid,
    /// A window that flows over the grid in chunks of planes; level m is made one plane behind level
    /// m − 1.
    Wavefront {
        /// Planes of a chunk.
        chunk: usize,
    },
}

/// Slabs of a pyramid that are in fast memory at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Slabs {
    /// What the models find faster on a GPU; one on a CPU.
    #[default]
    Auto,
    /// One after the other, as in the paper: copies and sweeps take turns.
    One,
    /// Two of half the planes on a GPU, so that one is copied while the other is swept.
    Two,
}

impl Slabs {
    /// All of them, as they stand in menus.
    pub const ALL: [Self; 3] = [Self::Auto, Self::One, Self::Two];

    /// The name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::One => "one",
            Self::Two => "two",
        }
    }

    /// What it means, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Auto => "What the models find faster on a GPU; one on a CPU.",
            Self::One => "One after the other, as in the paper: copies and sweeps take turns.",
            Self::Two => {
                "Two of half the planes on a GPU, so that one is copied while the other is swept."
            }
        }
    }
}

/// A checked pass: n sweeps over the grid within a budget of fast memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Streaming {
    scheme: Scheme,
    height: usize,
    planes: usize,
    slabs: Slabs,
}

/// Why a height and a budget do not go together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamingError {
    /// A height that is not a number of sweeps of a cycle.
    #[error("height is {height}; it must be auto or 1 to {MOST_HEIGHT}")]
    Range {
        /// The height.
        height: usize,
    },
    /// A budget with room for too few planes.
    #[error("memory is {memory}; method {} needs room for at least {} planes of this grid, {needed}", .method.name(), in_words(*.least))]
    TooSmall {
        /// Which method.
        method: MethodName,
        /// The budget.
        memory: ByteCount,
        /// The fewest planes: three of a slab, six of a window.
        least: usize,
        /// Bytes that they take, rounded up.
        needed: ByteCount,
    },
    /// A height that leaves no plane to own.
    #[error("height is {height}; {memory} has room for {planes} planes, and at this height a pass of method {} would keep none of them; it may be at most {most}", .method.name())]
    NoOwnedPlane {
        /// Which method.
        method: MethodName,
        /// The height.
        height: usize,
        /// The budget.
        memory: ByteCount,
        /// Planes that it holds.
        planes: usize,
        /// The largest height.
        most: usize,
    },
}

/// The fewest planes, in a sentence.
fn in_words(least: usize) -> &'static str {
    if least == LEAST_OF_SLAB { "three" } else { "six" }
}

/// What one pass moved and computed, counted while it was made. Boundary planes are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Values copied to fast memory: of the iterate and of the right-hand side.
    pub up: u64,
    /// Values copied back.
    pub down: u64,
    /// Point updates that were made.
    pub updates: u64,
    /// Point updates that n sweeps of Jacobi's iteration need.
    pub needed: u64,
}

impl Traffic {
    /// Values moved, both ways, per update that is needed.
    pub fn values_per_update(&self) -> f64 {
        (self.up + self.down) as f64 / self.needed as f64
    }

    /// Updates made over updates needed; 1 where nothing is computed twice.
    pub fn redundancy(&self) -> f64 {
        self.updates as f64 / self.needed as f64
    }

    /// Updates that were made more than once.
    pub fn duplicates(&self) -> u64 {
        self.updates - self.needed
    }
}

impl Streaming {
    /// Checks a height and a budget of `memory` for three arrays against a grid. Height `auto` is the
    /// best of the [corrected model](PyramidModel::Corrected) on a CPU for a pyramid, and what the window has
    /// room for, but no more than the grid has planes, for a wavefront.
    ///
    /// # Errors
    /// [`StreamingError`] if the height is out of its range, or the budget too small for it.
    pub fn new(
        method: MethodName,
        height: Height,
        memory: ByteCount,
        shape: &Shape,
        precision: Precision,
    ) -> Result<Self, StreamingError> {
        Self::checked(method, height, Slabs::One, false, (memory, shape, precision))
    }

    /// The same with so many slabs of a pyramid at a time on a GPU, and height `auto` as the models find it best
    /// there, but no more than the grid has planes.
    ///
    /// # Errors
    /// As [`Streaming::new`].
    pub fn on_gpu(
        method: MethodName,
        height: Height,
        slabs: Slabs,
        memory: ByteCount,
        shape: &Shape,
        precision: Precision,
    ) -> Result<Self, StreamingError> {
        Self::checked(method, height, slabs, true, (memory, shape, precision))
    }

    fn checked(
        method: MethodName,
        height: Height,
        slabs: Slabs,
        on_gpu: bool,
        (memory, shape, precision): (ByteCount, &Shape, Precision),
    ) -> Result<Self, StreamingError> {
        if let Height::Sweeps(height) = height
            && !(1..=MOST_HEIGHT).contains(&height)
        {
            return Err(StreamingError::Range { height });
        }
        let (axis, ratio) = (Planes::of(shape), Self::ratio(on_gpu));
        let plane_bytes = (ARRAYS * precision.bytes()) as u64 * axis.stored as u64;
        let planes = usize::try_from(memory.bytes() / plane_bytes).unwrap_or(usize::MAX);
        let is_pyramid = method == MethodName::Pyramid;
        let at_once = if is_pyramid && slabs == Slabs::Two { 2 } else { 1 };
        let least = if is_pyramid { LEAST_OF_SLAB * at_once } else { LEAST_OF_WINDOW };
        if planes < least {
            let needed = ByteCount::new(plane_bytes * least as u64).rounded_up();
            return Err(StreamingError::TooSmall { method, memory, least, needed });
        }
        let most = most_height(is_pyramid, planes / at_once);
        let height = match height {
            Height::Sweeps(height) if height > most => {
                return Err(StreamingError::NoOwnedPlane { method, height, memory, planes, most });
            }
            Height::Sweeps(height) => height,
            Height::Auto if is_pyramid => {
                let best = |at_once: usize| model(at_once).best_height(planes / at_once, ratio);
                // Few planes have room for one slab only; the cost of two is infinite then.
                let candidates: &[usize] = match slabs {
                    Slabs::Auto if planes >= 2 * LEAST_OF_SLAB => &[1, 2],
                    Slabs::Two => &[2],
                    _ => &[1],
                };
                let cost = |at_once: &usize| seconds(*at_once, planes, best(*at_once), ratio);
                let cheapest = candidates.iter().min_by(|a, b| cost(a).total_cmp(&cost(b)));
                let height = cheapest.map_or(1, |at_once| best(*at_once)).min(MOST_HEIGHT);
                // A window of a GPU may hold the whole grid; the model knows nothing of its size.
                if on_gpu { height.min(axis.count) } else { height }
            }
            // Chunks large enough for a GPU, wherever it runs: a description makes the same cycles everywhere.
            Height::Auto => {
                let chunk = preferred_chunk(planes, shape);
                let beside = 2 + 3 * chunk + read_behind(chunk, shape);
                (planes - beside).min(axis.count).min(MOST_HEIGHT)
            }
        };
        let preferred = POINTS_OF_CHUNK.div_ceil(axis.points).min(axis.count);
        let scheme = match is_pyramid {
            true => Scheme::Pyramid,
            false => Scheme::Wavefront { chunk: preferred.min((planes - 2 - height) / 3).max(1) },
        };
        Ok(Self { scheme, height, planes, slabs })
    }

    /// ρ: the seconds to move a value over those to update a point that `auto` assumes on a GPU or a CPU.
    pub const fn ratio(on_gpu: bool) -> f64 {
        if on_gpu { GPU_RATIO } else { CPU_RATIO }
    }

    /// How planes pass through fast memory.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// Whether devices share the sweeps of a pass over a grid of this shape: a window passes through all of its planes. Of a
    /// batch they share the lines.
    pub fn shares_sweeps(&self, shape: &Shape) -> bool {
        matches!(self.scheme, Scheme::Wavefront { .. }) && shape.batch() == 1
    }

    /// n: sweeps of a pass, which is a cycle.
    pub fn height(&self) -> usize {
        self.height
    }

    /// R: planes that the budget has room for, with three values per point.
    pub fn planes(&self) -> usize {
        self.planes
    }

    /// Planes that a slab of a pyramid owns, with one of them at a time.
    pub fn planes_of_slab(&self) -> usize {
        self.planes - 2 * self.height
    }

    /// The largest height for which there is room.
    pub fn most_height(&self) -> usize {
        let at_once = if self.slabs == Slabs::Two { 2 } else { 1 };
        match self.scheme {
            Scheme::Pyramid => most_height(true, self.planes / at_once),
            Scheme::Wavefront { .. } => most_height(false, self.planes),
        }
        .min(MOST_HEIGHT)
    }

    /// The budget that has room for so many planes of a grid.
    pub fn memory_of(planes: usize, shape: &Shape, precision: Precision) -> ByteCount {
        let plane = (ARRAYS * precision.bytes()) as u64 * Planes::of(shape).stored as u64;
        ByteCount::new(plane.saturating_mul(planes as u64))
    }

    /// Slabs of a pyramid that are on a GPU at a time.
    pub fn slabs_on_gpu(&self) -> usize {
        let cost = |at_once| seconds(at_once, self.planes, self.height, GPU_RATIO);
        match self.slabs {
            Slabs::Two => 2,
            // Infinite where half the planes have no room for the height.
            Slabs::Auto if cost(2) < cost(1) => 2,
            Slabs::Auto | Slabs::One => 1,
        }
    }

    /// Planes of a chunk of the wavefront on a GPU, and how many more than one a sweep there may read behind those that it
    /// makes.
    pub(in crate::solver) fn chunk_on_gpu(&self, shape: &Shape) -> (usize, usize) {
        let room = self.planes - 2 - self.height;
        let chunk_beside =
            |behind: usize| whole_marches(room.saturating_sub(behind) / 3, Planes::of(shape));
        let chunk = chunk_beside(TOGETHER - 1);
        match read_behind(chunk, shape) {
            0 => (chunk_beside(0), 0),
            behind => (chunk, behind),
        }
    }

    /// Updates that a pass makes, and values that it moves both ways: those of the corrected model of pyramids
    /// ([`PyramidModel::redundancy`], [`PyramidModel::values_per_update`]) with the ends of the grid, at which no slab shrinks.
    pub fn work(&self, shape: &Shape, on_gpu: bool) -> [f64; 2] {
        let (axis, n) = (Planes::of(shape), self.height as f64);
        let cuts = match self.scheme {
            Scheme::Pyramid => {
                let at_once = if on_gpu { self.slabs_on_gpu() } else { 1 };
                axis.count.div_ceil(self.planes / at_once - 2 * self.height) - 1
            }
            Scheme::Wavefront { .. } => 0,
        };
        let (planes, cuts) = (axis.count as f64, cuts as f64);
        let points = (axis.points * axis.lines) as f64;
        [points * n * (planes + cuts * (n - 1.0)), points * (3.0 * planes + 4.0 * n * cuts)]
    }

    /// The name of the method.
    pub fn method(&self) -> MethodName {
        match self.scheme {
            Scheme::Pyramid => MethodName::Pyramid,
            Scheme::Wavefront { .. } => MethodName::Wavefront,
        }
    }

    /// Planes of each working array on a grid: never more than the budget has room for, and no more than
    /// the grid needs.
    pub fn working_planes(&self, shape: &Shape) -> usize {
        let whole = Planes::of(shape).count + 2;
        match self.scheme {
            Scheme::Pyramid => self.planes.min(whole),
            // A level reads a plane on either side, and the two ends of the ring lie there twice.
            Scheme::Wavefront { chunk } => self.height + chunk + 3,
        }
    }

    /// Bytes of the working arrays.
    pub fn working_bytes(&self, shape: &Shape, precision: Precision) -> u64 {
        let plane = (ARRAYS * precision.bytes()) as u64 * Planes::of(shape).stored as u64;
        plane * self.working_planes(shape) as u64
    }
}

/// The largest height that leaves a slab of so many planes one that it owns, or such a window its chunk.
fn most_height(is_pyramid: bool, planes: usize) -> usize {
    if is_pyramid { (planes - 1) / 2 } else { planes + 1 - LEAST_OF_WINDOW }
}

/// The model of so many slabs at a time.
fn model(at_once: usize) -> PyramidModel {
    if at_once == 1 { PyramidModel::Corrected } else { PyramidModel::TwoInFlight }
}

/// What it says of slabs that share so many planes, in units of an update.
fn seconds(at_once: usize, planes: usize, height: usize, ratio: f64) -> f64 {
    model(at_once).seconds(planes / at_once, height, ratio, 1.0)
}

/// Planes of a GPU's chunk that a window of so many planes has for height `auto`.
fn preferred_chunk(planes: usize, shape: &Shape) -> usize {
    let axis = Planes::of(shape);
    let beside = 2 + (TOGETHER - 1) + HIDING;
    let together =
        whole_marches((planes / CHUNKS_TOGETHER).min(planes.saturating_sub(beside) / 3), axis);
    match read_behind(together, shape) {
        0 => whole_marches(planes / CHUNKS_IN_WINDOW, axis),
        _ => together,
    }
}

/// How many more planes than one sweeps read behind the chunk, where they may be made [`TOGETHER`].
fn read_behind(chunk: usize, shape: &Shape) -> usize {
    if shape.dim() == 3 && chunk >= LEAST_TOGETHER { TOGETHER - 1 } else { 0 }
}

/// Planes of a GPU's chunk where there is room for `most`.
fn whole_marches(most: usize, axis: Planes) -> usize {
    let chunk = most.min((POINTS_OF_GPU_CHUNK / axis.points).max(1)).min(axis.count).max(1);
    if chunk > MARCHED { chunk / MARCHED * MARCHED } else { chunk }
}

/// The planes of a grid, along its slowest axis.
#[derive(Clone, Copy, Debug)]
pub(in crate::solver) struct Planes {
    /// How many there are, without the boundary.
    pub count: usize,
    /// Stored values from a plane to the next.
    pub stored: usize,
    /// Interior points of one.
    pub points: usize,
    /// Systems that are streamed one after the other: the batch in 1D.
    pub lines: usize,
}

impl Planes {
    pub fn of(shape: &Shape) -> Self {
        let (count, stored) = match shape.dim() {
            1 => (shape.nx(), 1),
            2 => (shape.ny(), shape.stride()),
            _ => (shape.nz(), shape.plane_stride()),
        };
        let lines = shape.batch();
        Self { count, stored, points: shape.points() / (count * lines), lines }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(method: MethodName, height: Height, memory: u64) -> Result<Streaming, StreamingError> {
        let shape = Shape::grid_2d(98, 300).unwrap();
        Streaming::new(method, height, ByteCount::new(memory), &shape, Precision::F64)
    }

    /// Rows of 100 values, three arrays of 8 bytes.
    const PLANE: u64 = 2400;

    #[test]
    fn a_budget_is_counted_in_planes() {
        let slab = plan(MethodName::Pyramid, Height::Sweeps(12), 64 * PLANE + 2399).unwrap();
        assert_eq!((slab.planes(), slab.height()), (64, 12));
        let shape = Shape::grid_2d(98, 300).unwrap();
        assert_eq!(slab.working_bytes(&shape, Precision::F64), 64 * PLANE);
        assert_eq!(slab.working_bytes(&shape, Precision::F32), 32 * PLANE);
        let large = plan(MethodName::Pyramid, Height::Sweeps(12), 10_000 * PLANE).unwrap();
        assert_eq!(large.working_bytes(&shape, Precision::F64), 302 * PLANE, "the grid");
        for height in [Height::Auto, Height::Sweeps(1), Height::Sweeps(59)] {
            let window = plan(MethodName::Wavefront, height, 64 * PLANE).unwrap();
            assert!(window.working_bytes(&shape, Precision::F64) <= 64 * PLANE, "{window:?}");
        }
    }

    #[test]
    fn a_height_leaves_an_owned_plane() {
        for (method, planes, most) in [
            (MethodName::Pyramid, 64, 31),
            (MethodName::Pyramid, 3, 1),
            (MethodName::Wavefront, 64, 59),
        ] {
            assert!(plan(method, Height::Sweeps(most), planes * PLANE).is_ok());
            let error = plan(method, Height::Sweeps(most + 1), planes * PLANE).unwrap_err();
            assert!(matches!(error, StreamingError::NoOwnedPlane { most: m, .. } if m == most));
        }
        for height in [0, MOST_HEIGHT + 1] {
            let error = plan(MethodName::Pyramid, Height::Sweeps(height), 1 << 40).unwrap_err();
            assert_eq!(error, StreamingError::Range { height });
        }
    }

    #[test]
    fn a_budget_has_room_for_a_few_planes() {
        for (method, least) in [(MethodName::Pyramid, 3), (MethodName::Wavefront, 6)] {
            assert_eq!(plan(method, Height::Auto, least * PLANE).unwrap().height(), 1);
            let said = plan(method, Height::Auto, least * PLANE - 1).unwrap_err().to_string();
            assert!(
                said.contains(&format!(
                    "needs room for at least {} planes",
                    in_words(least as usize)
                )),
                "{said}"
            );
        }
    }

    #[test]
    fn slabs_in_flight_share_the_budget() {
        let shape = Shape::grid_2d(98, 300).unwrap();
        let plan = |height, slabs, planes: u64| {
            let (method, memory) = (MethodName::Pyramid, ByteCount::new(planes * PLANE));
            Streaming::on_gpu(method, height, slabs, memory, &shape, Precision::F64)
        };
        let most = plan(Height::Sweeps(15), Slabs::Two, 64).unwrap();
        assert_eq!((most.slabs_on_gpu(), most.planes()), (2, 64));
        let error = plan(Height::Sweeps(16), Slabs::Two, 64).unwrap_err();
        assert!(matches!(error, StreamingError::NoOwnedPlane { most: 15, .. }), "{error}");
        let error = plan(Height::Auto, Slabs::Two, 5).unwrap_err();
        assert!(matches!(error, StreamingError::TooSmall { least: 6, .. }), "{error}");
        for planes in [3, 6, 64, 158, 476] {
            let best = |slabs| {
                let plan = plan(Height::Auto, slabs, planes).ok()?;
                let at_once = plan.slabs_on_gpu();
                Some(seconds(at_once, plan.planes(), plan.height(), GPU_RATIO))
            };
            let auto = best(Slabs::Auto).unwrap();
            let others = [Slabs::One, Slabs::Two].into_iter().filter_map(best);
            assert_eq!(auto, others.fold(f64::INFINITY, f64::min), "{planes}");
        }
        // Source: the notes on an H200: one slab won with room for 158 planes of 1024², two with 476.
        let chosen = |planes| plan(Height::Auto, Slabs::Auto, planes).unwrap().slabs_on_gpu();
        assert_eq!([158, 476].map(chosen), [1, 2]);
        let whole = plan(Height::Auto, Slabs::One, 100_000).unwrap();
        assert_eq!(whole.height(), 300, "no more than there are planes");
    }

    #[test]
    fn chunks_on_a_gpu_leave_the_height_its_planes() {
        let shape = Shape::grid_3d(1024, 1024, 1024).unwrap();
        let plane = 24 * shape.plane_stride() as u64;
        let auto = |planes: u64| {
            let memory = ByteCount::new(planes * plane);
            let (method, precision) = (MethodName::Wavefront, Precision::F64);
            let plan =
                Streaming::on_gpu(method, Height::Auto, Slabs::Auto, memory, &shape, precision);
            let plan = plan.unwrap();
            (plan.height(), plan.chunk_on_gpu(&shape))
        };
        assert_eq!(auto(79), (53, (8, 0)));
        assert_eq!([117, 118].map(auto), [(91, (8, 0)), (64, (16, 4))]);
        assert_eq!(auto(158), (80, (24, 4)));
        assert_eq!(auto(1000), (802, (64, 4)));
        assert_eq!(auto(6), (1, (1, 0)));
    }

    /// On a grid of many slabs, work is that of inner slabs up to the two ends of the grid.
    #[test]
    fn the_work_of_a_pass_is_that_of_the_corrected_model() {
        let shape = Shape::grid_2d(98, 48_000).unwrap();
        let of = |method, height, planes| {
            let height = Height::Sweeps(height);
            let memory = Streaming::memory_of(planes, &shape, Precision::F64);
            let pass = Streaming::new(method, height, memory, &shape, Precision::F64).unwrap();
            let [updates, values] = pass.work(&shape, false);
            let needed = shape.points() as f64 * pass.height() as f64;
            [updates / needed, values / needed]
        };
        let [redundancy, values] = of(MethodName::Pyramid, 8, 64);
        assert!((redundancy / PyramidModel::redundancy(64, 8) - 1.0).abs() < 1e-3);
        assert!((values / PyramidModel::values_per_update(64, 8) - 1.0).abs() < 1e-3);
        assert_eq!(of(MethodName::Wavefront, 8, 64), [1.0, 3.0 / 8.0]);
        assert_eq!(of(MethodName::Pyramid, 8, 50_000), [1.0, 3.0 / 8.0], "one slab");
    }

    #[test]
    fn auto_is_what_the_model_and_the_window_allow() {
        let best = PyramidModel::Corrected.best_height(64, CPU_RATIO);
        assert_eq!(plan(MethodName::Pyramid, Height::Auto, 64 * PLANE).unwrap().height(), best);
        let window = plan(MethodName::Wavefront, Height::Auto, 64 * PLANE).unwrap();
        assert_eq!(window.scheme(), Scheme::Wavefront { chunk: 8 });
        assert_eq!(window.height(), 64 - 3 * 8 - 2);
        let whole = plan(MethodName::Wavefront, Height::Auto, 100_000 * PLANE).unwrap();
        assert_eq!(whole.height(), 300, "no more than there are planes");
    }
}
