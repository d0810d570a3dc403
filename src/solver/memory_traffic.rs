//! What a method moves between the kinds of memory, and what it computes: counted from the layout of its tiles and of its
//! kernel, without a clock.
//!
//! Main or global memory: each value that a sweep over the grid, or a cycle of a tile with its halo, reads or writes counts
//! once, as if nothing stayed in the caches from one to the next. Where a grid fits into the caches, less is moved.
//!
//! On the chip: a value counts each time that an update reads or writes it, and when it comes and goes. An update reads
//! its neighbours and its right-hand side, b / d; damped, also its own value; with coefficients per point, their weights.
//! Cycles are those without norms.

use super::{Method, Traffic};
use crate::grid::{AxisTiling, Precision, Shape, Tiling};
use crate::problem::{Operator, Problem};

/// A kind of memory, or the registers of a processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// The memory of the machine.
    Main,
    /// The memory of a GPU.
    Global,
    /// The caches of a CPU or of a GPU.
    Caches,
    /// The shared memory of a GPU's blocks of threads.
    Shared,
    /// Registers in which a kernel keeps values from sweep to sweep.
    Registers,
}

impl Memory {
    /// Every kind, from the slowest to the fastest.
    pub const ALL: [Self; 5] =
        [Self::Main, Self::Global, Self::Caches, Self::Shared, Self::Registers];

    /// The name in plots and tables.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Main => "main memory",
            Self::Global => "global memory",
            Self::Caches => "caches",
            Self::Shared => "shared memory",
            Self::Registers => "registers",
        }
    }
}

/// What is read and written of one kind of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// In bytes; while it is counted, in values.
    pub read: u64,
    /// Likewise.
    pub written: u64,
}

impl Moved {
    /// Both.
    pub fn total(self) -> u64 {
        self.read.saturating_add(self.written)
    }

    fn times(self, factor: u64) -> Self {
        let Self { read, written } = self;
        Self { read: read.saturating_mul(factor), written: written.saturating_mul(factor) }
    }
}

/// Point updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Updates {
    /// Those that are computed.
    pub computed: u64,
    /// Those that as many sweeps of Jacobi's iteration need.
    pub needed: u64,
}

/// What some cycles of a method move and compute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryTraffic {
    /// Bytes of each kind of memory that is used and counted, from the slowest.
    pub moved: Vec<(Memory, Moved)>,
    /// Point updates; `None` where no point is updated one by one.
    pub updates: Option<Updates>,
    /// What is not counted, if anything; one sentence.
    pub not_counted: Option<&'static str>,
}

impl MemoryTraffic {
    /// The traffic of one cycle: on a CPU, or on a GPU with what `on_gpu` says of the tiles that its kernel keeps on the chip.
    /// A method that streams counts its traffic itself (`streamed`), from its first cycle on.
    pub(super) fn of_cycle(
        problem: &Problem,
        method: &Method,
        precision: Precision,
        on_gpu: Option<impl Fn(&TileWork) -> Option<OnChip>>,
        streamed: Option<Traffic>,
    ) -> Result<Self, &'static str> {
        if problem.operator.matrix().is_some() {
            return Err("Memory traffic is counted for grids, not for sparse matrices.");
        }
        let shape = &problem.shape;
        let far = if on_gpu.is_none() { Memory::Main } else { Memory::Global };
        let in_values = match method.plain() {
            Method::Classic => {
                let work = TileWork::of(problem, method, &Tiling::whole(shape), 1);
                let swept = Moved { read: work.operands * work.points, written: work.points };
                let moved = vec![(far, work.global(work.weights)), (Memory::Caches, swept)];
                Self { moved, updates: Some(work.updates()), not_counted: None }
            }
            Method::Hierarchical { k, tiling } => {
                let work = TileWork::of(problem, method, tiling, *k);
                let Some(on_gpu) = on_gpu else {
                    // The diagonals come along.
                    let rows = problem.operator.row_arrays(shape) as u64;
                    let caches = (Memory::Caches, work.in_caches(rows));
                    let moved = vec![(far, work.global(rows)), caches];
                    let updates = Some(work.updates());
                    return Ok(Self { moved, updates, not_counted: None }.in_bytes(precision));
                };
                let on_chip = on_gpu(&work);
                let mut moved = vec![(far, work.global(work.weights))];
                moved.extend(on_chip.iter().map(|it| (Memory::Shared, it.shared)));
                let registers = on_chip.and_then(|it| it.registers);
                moved.extend(registers.map(|registers| (Memory::Registers, registers)));
                let not_counted = on_chip
                    .is_none()
                    .then_some("What this kernel moves in shared memory is not counted.");
                Self { moved, updates: Some(work.updates()), not_counted }
            }
            Method::Spectral(spectral) => {
                let work = TileWork::of(problem, method, spectral.tiling(), 1);
                let why = "In the sine basis no point is updated sweep by sweep: only what tiles read and write is counted.";
                let moved = vec![(far, work.global(work.weights))];
                Self { moved, updates: None, not_counted: Some(why) }
            }
            Method::Streaming(_) => {
                let counted =
                    streamed.ok_or("A method that streams is counted from its first cycle on.")?;
                let Traffic { up, down, updates, needed } = counted;
                let work = TileWork::of(problem, method, &Tiling::whole(shape), 1);
                let swept = Moved { read: work.operands * updates + down, written: updates + up };
                Self {
                    moved: vec![(far, Moved { read: up, written: down }), (Memory::Caches, swept)],
                    updates: Some(Updates { computed: updates, needed }),
                    not_counted: None,
                }
            }
            // What is plain is none of these.
            Method::Damped { .. } | Method::Scheduled { .. } | Method::OnDevices { .. } => {
                return Err("This method is not counted.");
            }
        };
        Ok(in_values.in_bytes(precision))
    }

    /// That of a method that streams whose sweeps are made several at a time in fast memory.
    pub(super) fn of_fused_sweeps(mut self) -> Self {
        self.moved.retain(|(memory, _)| *memory != Memory::Caches);
        let why = "What sweeps move that are made several at a time is not counted.";
        Self { not_counted: Some(why), ..self }
    }

    /// The traffic of several cycles.
    #[must_use]
    pub fn times(&self, cycles: u64) -> Self {
        let updates = self.updates.map(|Updates { computed, needed }| Updates {
            computed: computed.saturating_mul(cycles),
            needed: needed.saturating_mul(cycles),
        });
        let moved = self.moved.iter().map(|(memory, moved)| (*memory, moved.times(cycles)));
        Self { moved: moved.collect(), updates, not_counted: self.not_counted }
    }

    /// What moves in a kind of memory; `None` where it is not used, or not counted.
    pub fn of(&self, memory: Memory) -> Option<Moved> {
        self.moved.iter().find(|(its, _)| *its == memory).map(|(_, moved)| *moved)
    }

    /// What moves in main or global memory: the first that is counted.
    pub fn slowest(&self) -> Moved {
        self.moved.first().map_or_else(Moved::default, |(_, moved)| *moved)
    }

    fn in_bytes(self, precision: Precision) -> Self {
        let bytes = precision.bytes() as u64;
        let moved = self.moved.into_iter().map(|(memory, moved)| (memory, moved.times(bytes)));
        Self { moved: moved.collect(), ..self }
    }
}

/// What the tiles of a cycle do, in values.
#[derive(Clone, Copy, Debug)]
pub(super) struct TileWork {
    /// Axes of the grid.
    pub dim: usize,
    /// Points of a tile along each axis; 1 along those that the grid does not have.
    pub tile: [u64; 3],
    /// Tiles, those of all systems of a batch.
    pub tiles: u64,
    /// Points of the grid, each owned by one tile.
    pub points: u64,
    /// Sweeps of a cycle.
    pub k: u64,
    /// Values that an update reads.
    pub operands: u64,
    /// How many of these are weights of its own row.
    pub weights: u64,
}

impl TileWork {
    fn of(problem: &Problem, method: &Method, tiling: &Tiling, k: usize) -> Self {
        let shape: &Shape = &problem.shape;
        let (dim, axes) = (shape.dim(), tiling.axes());
        let weights = match problem.operator {
            Operator::PerPoint(_) => 2 * dim as u64,
            Operator::Stencil(_) | Operator::Csr(_) => 0,
        };
        let own = u64::from(method.omega() != 1.0);
        Self {
            dim,
            tile: [0, 1, 2].map(|axis| axes.get(axis).map_or(1, |it| it.tile() as u64)),
            tiles: axes.iter().map(AxisTiling::count).product::<usize>() as u64
                * if dim == 1 { shape.batch() as u64 } else { 1 },
            points: shape.points() as u64,
            k: k as u64,
            operands: 2 * dim as u64 + 1 + own + weights,
            weights,
        }
    }

    /// Points that a tile computes.
    pub fn computed(&self) -> u64 {
        self.tile.iter().product()
    }

    /// Values of the halo of a tile. Its corners are in no stencil.
    pub fn halo(&self) -> u64 {
        let [x, y, z] = self.tile;
        let faces = [y * z, x * z, x * y];
        2 * faces[..self.dim].iter().sum::<u64>()
    }

    /// Every tile reads its iterate with its halo, its right-hand side and these arrays of rows; every point is written
    /// once.
    fn global(&self, rows: u64) -> Moved {
        let of_tile = (2 + rows) * self.computed() + self.halo();
        Moved { read: self.tiles * of_tile, written: self.points }
    }

    /// On a CPU a tile is copied, its halo into both of its two arrays, and what it owns is copied back.
    fn in_caches(&self, rows: u64) -> Moved {
        let (computed, updates) = (self.computed(), self.tiles * self.computed() * self.k);
        let copied = (2 + rows) * computed + 2 * self.halo();
        Moved {
            read: self.operands * updates + self.points,
            written: self.tiles * copied + updates,
        }
    }

    fn updates(&self) -> Updates {
        let Self { tiles, points, k, .. } = *self;
        Updates { computed: tiles * self.computed() * k, needed: points * k }
    }
}

/// What the tiles of a cycle move on the chip of a GPU, in values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "no kernel is counted"))]
pub(super) struct OnChip {
    /// In shared memory.
    pub shared: Moved,
    /// In registers, where the kernel keeps values there from sweep to sweep.
    pub registers: Option<Moved>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::{Boundary, Source, Stencil};
    use crate::solver::{Kernel, traffic_of_cycle};
    use proptest::prelude::*;

    fn problem(shape: Shape) -> Problem {
        Problem {
            shape,
            operator: Stencil::poisson(&shape).into(),
            rhs: Source::Constant(1.0),
            initial_guess: Source::Constant(0.0),
            boundary: Boundary::default(),
        }
    }

    fn of(shape: Shape, method: &Method, kernel: Option<Kernel>) -> MemoryTraffic {
        traffic_of_cycle(&problem(shape), method, Precision::F64, kernel, None).unwrap()
    }

    /// A grid of 8 × 8 points in four tiles of 4 × 4, three sweeps a cycle, in f64.
    fn four_tiles() -> (Shape, Method) {
        let tiling = Tiling::new(&[8, 8], &[4, 4], &[0, 0]).unwrap();
        (Shape::grid_2d(8, 8).unwrap(), Method::Hierarchical { k: 3, tiling })
    }

    fn moved(read: u64, written: u64) -> Option<Moved> {
        Some(Moved { read: 8 * read, written: 8 * written })
    }

    #[test]
    fn tiles_on_a_cpu_are_copied_and_swept() {
        let (shape, method) = four_tiles();
        let traffic = of(shape, &method, None);
        // 16 points and 16 of the halo, 16 of the right-hand side; 64 points are owned.
        assert_eq!(traffic.of(Memory::Main), moved(4 * (16 + 16 + 16), 64));
        // 4 tiles × 16 points × 3 sweeps, of 5 values each; halos are copied twice.
        let (updates, copied) = (4 * 16 * 3, 4 * (16 + 2 * 16 + 16));
        assert_eq!(traffic.of(Memory::Caches), moved(5 * updates + 64, copied + updates));
        assert_eq!(traffic.updates, Some(Updates { computed: updates, needed: updates }));
    }

    #[test]
    fn overlap_computes_points_twice() {
        let tiling = Tiling::new(&[8, 8], &[5, 5], &[2, 2]).unwrap();
        let method = Method::Hierarchical { k: 3, tiling };
        let traffic = of(Shape::grid_2d(8, 8).unwrap(), &method, None);
        assert_eq!(traffic.updates, Some(Updates { computed: 4 * 25 * 3, needed: 64 * 3 }));
    }

    #[cfg(feature = "cuda")]
    #[test]
    fn the_papers_kernel_reads_four_neighbours_from_shared_memory() {
        let (shape, method) = four_tiles();
        let traffic = of(shape, &method, Some(Kernel::SHARED));
        assert_eq!(traffic.of(Memory::Global), moved(4 * (16 + 16 + 16), 64));
        // A thread for each point: the right-hand side is the fifth value, in a register.
        let updates = 4 * 16 * 3;
        assert_eq!(traffic.of(Memory::Shared), moved(4 * updates, 4 * (16 + 2 * 16) + updates));
        assert_eq!(traffic.of(Memory::Registers), moved(updates + 64, 4 * 16 * 2 + updates));
    }

    #[cfg(feature = "cuda")]
    #[test]
    fn a_warp_reads_only_its_halo_from_shared_memory() {
        let tiling = Tiling::new(&[32, 32], &[32, 32], &[0, 0]).unwrap();
        let method = Method::Hierarchical { k: 10, tiling };
        let traffic = of(Shape::grid_2d(32, 32).unwrap(), &method, Some(Kernel::REGISTER));
        // Both fields come over the stage, the iterate goes over it; the halo of 4 × 32 values is read in every sweep.
        let read = 2 * 1024 + 10 * 128 + 1024;
        assert_eq!(traffic.of(Memory::Shared), moved(read, 3 * 1024 + 128));
        let read = 10 * (5 * 1024 - 128) + 1024;
        assert_eq!(traffic.of(Memory::Registers), moved(read, 2 * 1024 + 10 * 1024));
    }

    #[cfg(feature = "cuda")]
    #[test]
    fn a_1d_tile_stays_in_lanes() {
        let tiling = Tiling::new(&[64], &[32], &[0]).unwrap();
        let method = Method::Hierarchical { k: 7, tiling };
        let traffic = of(Shape::grid_1d(64, 3).unwrap(), &method, Some(Kernel::REGISTER));
        // Two tiles in each of three systems.
        assert_eq!(traffic.of(Memory::Global), moved(6 * (32 + 2 + 32), 192));
        assert_eq!(traffic.of(Memory::Shared), moved(6 * 2 * 32 + 192, 6 * 3 * 32));
        assert_eq!(traffic.of(Memory::Registers), moved(6 * (7 * 3 + 1) * 32, 6 * 9 * 32));
    }

    proptest! {
        /// A sweep over the grid reads both fields and the boundary values beside it, and writes one.
        #[test]
        fn a_classic_sweep_moves_what_the_grid_has(nx in 1_usize..200, ny in 1_usize..200, k in 1_u64..50) {
            let (points, boundary) = ((nx * ny) as u64, 2 * (nx + ny) as u64);
            let sweep = of(Shape::grid_2d(nx, ny).unwrap(), &Method::Classic, None);
            prop_assert_eq!(sweep.of(Memory::Main), moved(2 * points + boundary, points));
            prop_assert_eq!(sweep.of(Memory::Caches), moved(5 * points, points));
            let sweeps = sweep.times(k);
            prop_assert_eq!(sweeps.slowest().total(), k * sweep.slowest().total());
            prop_assert_eq!(sweeps.updates, Some(Updates { computed: k * points, needed: k * points }));
        }
    }
}
