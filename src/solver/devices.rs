//! Several devices that share a grid, and what their exchanges cost.
//!
//! Each device keeps the planes that its tiles own and read. After every `exchange_every` cycles it receives those
//! that others own; in between they are frozen for it, as the halo of a tile is for its subiterations. Exchanged
//! after every cycle, the iterates are those of one device, to the last bit. Of a sparse matrix it keeps the rows of its
//! blocks, and receives single values: those that its static entries and its overlap name.
//!
//! Lines of a batch are independent, and slabs that visit the fast memories of devices read what lies in the computer's
//! memory: then nothing is exchanged.

use super::fused_tiles::{MULTIPROCESSORS, fused_tiling};
use super::streaming::TOGETHER;
use super::{Method, ShareBy};
use crate::grid::{AxisTiling, Precision, Shape, Share, Shares, SharesError};
use crate::problem::Csr;
use crate::problem::matrix::{OverlapError, Readers, computed_rows};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::Arc;

/// Rows of a 2D grid that Jacobi's sweeps are shared out by: the bands in which a CPU updates rows and adds their
/// norms, so that these have the same bits on any number of devices.
pub(super) const BAND: usize = 16;

/// The link between two devices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Microseconds until a message arrives, however short.
    pub latency: f64,
    /// 10⁹ bytes per second and direction.
    pub bandwidth: f64,
}

impl Link {
    /// NVLink: peer copies between H100s of one host, as they were measured for Tilescope: 1.8 µs for 4 kB, and
    /// 0.5 GB at 398 GB/s.
    pub const NVLINK: Self = Self { latency: 1.8, bandwidth: 398.0 };

    /// Seconds that a message takes.
    fn seconds(&self, bytes: u64) -> f64 {
        1e-6 * self.latency + 1e-9 * bytes as f64 / self.bandwidth
    }
}

/// How values get from one GPU to another. No result depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExchangePath {
    /// From GPU to GPU where they reach each other's memory, else through NCCL where it can be used, else through main
    /// memory.
    #[default]
    Auto,
    /// From GPU to GPU: by NVLink, or over the bus.
    Peer,
    /// Through NCCL, which finds the fastest way itself.
    Nccl,
    /// Through main memory.
    Host,
}

impl ExchangePath {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Auto, Self::Peer, Self::Nccl, Self::Host];

    /// The name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Peer => "peer",
            Self::Nccl => "nccl",
            Self::Host => "host",
        }
    }

    /// What it is, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Auto => {
                "From GPU to GPU where they reach each other, else through NCCL if it is installed, else through main memory."
            }
            Self::Peer => "From GPU to GPU, by NVLink or over the bus.",
            Self::Nccl => "Through NCCL.",
            Self::Host => "Through main memory.",
        }
    }

    /// What values go through, as part of a sentence.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Auto => "the best path",
            Self::Peer => "peer copies",
            Self::Nccl => "NCCL",
            Self::Host => "main memory",
        }
    }
}

/// The devices that share a grid or a matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Devices {
    shares: Arc<Shares>,
    exchange_every: NonZeroU64,
    /// Cycles that each device makes together, before an exchange.
    together: u64,
    link: Link,
    share_by: ShareBy,
}

/// Why a matrix cannot be shared out.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DevicesError {
    /// There are fewer blocks than devices.
    #[error(transparent)]
    Shares(#[from] SharesError),
    /// The overlap of its blocks adds too many rows.
    #[error(transparent)]
    Overlap(#[from] OverlapError),
}

/// What an exchange between devices moves, and how long it takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exchange {
    /// Messages of all devices.
    pub messages: usize,
    /// Bytes of all messages.
    pub bytes: u64,
    /// Predicted seconds: those of the device that receives the longest, its messages one after the other, both
    /// directions of a link at once.
    pub seconds: f64,
}

impl Devices {
    /// Cycles that kernel `fused` makes from one exchange to the next.
    pub const CYCLES_OF_FUSED: u64 = TOGETHER as u64;

    /// Shares out a method on a grid over `count` devices: the lines of a batch, the slabs of a pyramid, the sweeps of a
    /// wavefront (so that the planes of its shares are sweeps), or rows of tiles,
    /// on a line its tiles; of Jacobi's sweeps bands of 16 rows in 2D, planes in 3D, and points of a line.
    ///
    /// # Errors
    /// [`SharesError`] if there are fewer of these than devices.
    pub fn new(
        method: &Method,
        shape: &Shape,
        count: usize,
        exchange_every: NonZeroU64,
        link: Link,
    ) -> Result<Self, SharesError> {
        let SharedParts { axis, what, are_apart } = SharedParts::of(method, shape);
        let made = if are_apart { Shares::independent } else { Shares::new };
        let shares = made(&axis, count).map_err(|error| SharesError { what, ..error })?;
        let shares = Arc::new(shares);
        Ok(Self { shares, exchange_every, together: 1, link, share_by: ShareBy::Points })
    }

    /// Shares out the tiles of kernel `fused` along z, which are as large as suits so many devices.
    ///
    /// # Errors
    /// [`SharesError`] if the grid has too few planes.
    pub fn of_fused(shape: &Shape, count: usize, link: Link) -> Result<Self, SharesError> {
        let tiling = |count| fused_tiling(shape, count, MULTIPROCESSORS);
        let most = || (1..count).rev().find(|count| tiling(*count).is_some()).unwrap_or(1);
        let (what, exchange_every) = ("rows of tiles", NonZeroU64::MIN);
        let refused = || SharesError { devices: count, parts: most(), what };
        let tiles = tiling(count).ok_or_else(refused)?;
        let [.., z] = tiles.axes() else { return Err(refused()) };
        let (shares, together) = (Arc::new(Shares::new(z, count)?), Self::CYCLES_OF_FUSED);
        Ok(Self { shares, exchange_every, together, link, share_by: ShareBy::Points })
    }

    /// Shares out blocks of rows of a matrix, by the entries of the rows that they compute. A device receives the values
    /// that its rows read and others own; sweeps of method classic compute no overlap.
    ///
    /// # Errors
    /// [`DevicesError`] if there are fewer blocks than devices, or if their overlap adds too many rows.
    pub fn of_blocks(
        method: &Method,
        matrix: &Csr,
        blocks: &AxisTiling,
        count: usize,
        exchange_every: NonZeroU64,
        link: Link,
    ) -> Result<Self, DevicesError> {
        let blocks = method.blocks(blocks);
        let entries = |rows: &Vec<u32>| {
            rows.iter().map(|row| matrix.columns(*row as usize).len() as u64).sum::<u64>()
        };
        let rows = computed_rows(matrix, &blocks)?;
        let work: Vec<_> = rows.iter().map(|(_, rows)| entries(rows)).collect();
        let mut readers = Readers::new(matrix);
        let mut rows = rows.into_iter();
        let read = |share: &Share| {
            let of_device = rows.by_ref().take(share.tiles.len());
            in_runs(&readers.read_by(of_device.flat_map(|(_, rows)| rows)))
        };
        let what = SharedParts::of_blocks(&blocks).what;
        let shares = Shares::of_blocks(&blocks, count, &work, read)
            .map_err(|error| SharesError { what, ..error })?;
        let shares = Arc::new(shares);
        Ok(Self { shares, exchange_every, together: 1, link, share_by: ShareBy::Points })
    }

    /// The same, to be shared out by this. GPUs that are to be measured have equal shares until then.
    #[must_use]
    pub fn sharing_by(self, share_by: ShareBy) -> Self {
        Self { share_by, ..self }
    }

    /// The devices of a grid with shares in proportion to their speeds, one for each of them ([`Shares::by_speed`]). Where
    /// nothing is exchanged, shares stay as they are.
    ///
    /// # Panics
    /// If there are not as many speeds as devices.
    #[must_use]
    pub fn of_speeds(self, speeds: &[f64]) -> Self {
        assert_eq!(speeds.len(), self.count(), "the speed of every device");
        if !self.exchange_values() {
            return self;
        }
        match Shares::by_speed(self.shares.axis(), speeds) {
            Ok(shares) => Self { shares: Arc::new(shares), ..self },
            // As many devices share it already.
            Err(_) => self,
        }
    }

    /// The same in a process each, for passes of so many sweeps over a grid: a slab reads as many planes on either side of
    /// its own, and those of others lie in the memory of another process.
    #[must_use]
    pub(super) fn in_processes(self, sweeps: usize) -> Self {
        Self { shares: Arc::new(Shares::clone(&self.shares).receiving_around(sweeps)), ..self }
    }

    /// By what they are shared out.
    pub fn share_by(&self) -> ShareBy {
        self.share_by
    }

    /// The link by which the time of an exchange is predicted.
    pub fn link(&self) -> Link {
        self.link
    }

    /// Who computes, keeps and receives what.
    pub fn shares(&self) -> &Shares {
        &self.shares
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.shares.of_devices().len()
    }

    /// Cycles from one exchange to the next.
    pub fn exchange_every(&self) -> u64 {
        self.exchange_every.get()
    }

    /// Cycles for which an exchange is made: `exchange_every`, or those that a kernel makes together. Fewer where a batch of
    /// cycles ends.
    pub fn cycles_of_an_exchange(&self) -> u64 {
        self.exchange_every() * self.together
    }

    /// Whether they exchange anything.
    pub fn exchange_values(&self) -> bool {
        self.shares.messages() > 0
    }

    /// Whether devices compute some cycles with values of others that are older than the cycle before.
    pub fn have_frozen_halos(&self) -> bool {
        self.exchange_values() && self.exchange_every() > 1
    }

    /// Whether an exchange follows this cycle; the initial guess is known everywhere.
    pub fn exchange_after(&self, cycle: u64) -> bool {
        cycle.is_multiple_of(self.exchange_every())
    }

    /// What an exchange moves, in this precision: on a grid, or of the rows of a matrix as a line.
    pub fn exchange(&self, shape: &Shape, precision: Precision) -> Exchange {
        let plane = shape.points() / shape.planes() * precision.bytes();
        let bytes = |planes: usize| (planes * plane) as u64;
        let seconds = self.shares.of_devices().iter().map(|share| {
            let messages = share.received.iter().map(|it| bytes(it.count()));
            messages.map(|bytes| self.link.seconds(bytes)).sum()
        });
        Exchange {
            messages: self.shares.messages(),
            bytes: bytes(self.shares.planes()),
            seconds: seconds.fold(0.0, f64::max),
        }
    }

    /// The predicted share of the time of an exchange, 0 to 1, during which every device computes tiles whose planes no
    /// other receives, where one device would take `cycle` seconds for a cycle of all tiles.
    pub fn hidden(&self, exchange: &Exchange, cycle: f64) -> f64 {
        if exchange.seconds == 0.0 {
            return 1.0;
        }
        let of_row = cycle * self.together as f64 / self.shares.axis().count() as f64;
        let inner = self.shares.of_devices().iter().enumerate().map(|(device, share)| {
            (share.tiles.len() - self.shares.border_tiles(device)) as f64 * of_row
        });
        (inner.fold(f64::INFINITY, f64::min) / exchange.seconds).min(1.0)
    }
}

/// What of a grid or of a matrix is shared out.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedParts {
    axis: AxisTiling,
    what: &'static str,
    /// Whether none reads what another owns in the same cycle or the one before it.
    are_apart: bool,
}

impl SharedParts {
    /// Of a grid with this method.
    pub fn of(method: &Method, shape: &Shape) -> Self {
        let bands = |points| AxisTiling::bands(shape.planes(), points);
        if shape.dim() == 1 && shape.batch() > 1 {
            return Self { axis: bands(1), what: "lines", are_apart: true };
        }
        if let Method::Streaming(streaming) = method.plain() {
            if streaming.shares_sweeps(shape) {
                let height = streaming.height();
                // A kernel makes several together.
                let together = if height >= 4 * TOGETHER { TOGETHER } else { 1 };
                let axis = AxisTiling::bands(height, together);
                return Self { axis, what: "sweeps of a pass", are_apart: true };
            }
            let axis = bands(streaming.planes_of_slab());
            return Self { axis, what: "slabs of a pass", are_apart: true };
        }
        let of_tiles = method.tiling().and_then(|tiling| tiling.axes().last().cloned());
        let (axis, what) = match (of_tiles, shape.dim()) {
            (Some(axis), 1) => (axis, "tiles"),
            (Some(axis), _) => (axis, "rows of tiles"),
            (None, 1) => (AxisTiling::single_points(shape.planes()), "points"),
            (None, 2) => (bands(BAND), "bands of 16 rows"),
            (None, _) => (bands(1), "planes"),
        };
        Self { axis, what, are_apart: false }
    }

    /// Of a matrix that is cut into blocks.
    pub fn of_blocks(blocks: &AxisTiling) -> Self {
        Self { axis: blocks.clone(), what: "blocks", are_apart: false }
    }

    /// How many there are: the most devices.
    pub fn count(&self) -> usize {
        self.axis.count()
    }

    /// What they are called, such as `rows of tiles`.
    pub fn what(&self) -> &'static str {
        self.what
    }
}

/// Ascending rows in runs.
fn in_runs(rows: &[u32]) -> Vec<Range<usize>> {
    let runs = rows.chunk_by(|a, b| a + 1 == *b);
    runs.map(|run| run[0] as usize..run[0] as usize + run.len()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Tiling;

    fn devices(count: usize, every: u64) -> (Devices, Shape) {
        let shape = Shape::grid_2d(16_384, 16_384).unwrap();
        let tiling = Tiling::new(shape.axes(), &[32; 2], &[4; 2]).unwrap();
        let method = Method::Hierarchical { k: 32, tiling };
        let every = NonZeroU64::new(every).unwrap();
        (Devices::new(&method, &shape, count, every, Link::NVLINK).unwrap(), shape)
    }

    /// 393 kB a neighbour and direction; the measured peer copy of that size takes 3.2 µs.
    #[test]
    fn an_exchange_moves_half_the_overlap_and_a_halo() {
        let (four, shape) = devices(4, 1);
        let exchange = four.exchange(&shape, Precision::F64);
        assert_eq!((exchange.messages, exchange.bytes), (6, 6 * 3 * 16_384 * 8));
        let of_message = exchange.seconds / 2.0;
        assert!((2.5e-6..3.5e-6).contains(&of_message), "{of_message}");
        assert_eq!(four.exchange(&shape, Precision::F32).bytes * 2, exchange.bytes);
        let (one, _) = devices(1, 1);
        let nothing = Exchange { messages: 0, bytes: 0, seconds: 0.0 };
        assert_eq!(one.exchange(&shape, Precision::F64), nothing);
        assert_eq!(one.hidden(&nothing, 1.0), 1.0);
    }

    #[test]
    fn inner_tiles_hide_an_exchange_that_is_shorter() {
        let (four, shape) = devices(4, 1);
        let exchange = four.exchange(&shape, Precision::F64);
        // 4.3 ms a cycle on one H200.
        assert_eq!(four.hidden(&exchange, 4.3e-3), 1.0);
        let part = four.hidden(&exchange, 1e-5);
        assert!(0.1 < part && part < 0.9, "{part}");
        assert_eq!(four.hidden(&exchange, 0.0), 0.0);
    }

    #[test]
    fn sweeps_are_shared_out_by_bands_and_by_planes() {
        let every = NonZeroU64::MIN;
        let shared = |shape: &Shape, count| {
            Devices::new(&Method::Classic, shape, count, every, Link::NVLINK)
        };
        let flat = Shape::grid_2d(9, 70).unwrap();
        let borders: Vec<_> = shared(&flat, 2).unwrap().shares().borders().collect();
        assert_eq!(borders, [32]);
        assert_eq!(shared(&flat, 6).unwrap_err().parts, 5);
        assert_eq!(SharedParts::of(&Method::Classic, &flat).count(), 5);
        let deep = Shape::grid_3d(9, 70, 4).unwrap();
        assert_eq!(shared(&deep, 4).unwrap().count(), 4);
    }

    #[test]
    fn faster_devices_have_larger_shares() {
        let (four, _) = devices(4, 1);
        let tiles = |devices: &Devices| {
            devices.shares().of_devices().iter().map(|it| it.tiles.len()).collect::<Vec<_>>()
        };
        assert_eq!(tiles(&four).iter().sum::<usize>(), 585);
        let uneven = four.sharing_by(ShareBy::Speed).of_speeds(&[1.0, 1.0, 1.0, 2.0]);
        assert_eq!(tiles(&uneven), [117, 117, 117, 234]);
        assert_eq!(uneven.share_by(), ShareBy::Speed);
        // Lines are independent.
        let batch = Shape::grid_1d(9, 8).unwrap();
        let lines = Devices::new(&Method::Classic, &batch, 2, NonZeroU64::MIN, Link::NVLINK);
        let lines = lines.unwrap().of_speeds(&[1.0, 3.0]);
        assert_eq!((tiles(&lines), lines.exchange_values()), (vec![4, 4], false));
    }

    #[test]
    fn sweeps_that_are_made_together_are_exchanged_together() {
        let shape = Shape::grid_3d(96, 96, 96).unwrap();
        let three = Devices::of_fused(&shape, 3, Link::NVLINK).unwrap();
        let exchange = three.exchange(&shape, Precision::F64);
        // Half the overlap of 8 planes, and a halo, to and from each neighbour.
        assert_eq!((exchange.messages, exchange.bytes), (4, 4 * 5 * 96 * 96 * 8));
        assert_eq!((three.exchange_every(), three.cycles_of_an_exchange()), (1, 5));
        assert!(!three.have_frozen_halos());
        assert_eq!(Devices::of_fused(&shape, 99, Link::NVLINK).unwrap_err().parts, 44);
    }

    #[test]
    fn halos_are_frozen_between_exchanges() {
        let (four, _) = devices(4, 8);
        let exchanges: Vec<_> = (0..20).filter(|cycle| four.exchange_after(*cycle)).collect();
        assert_eq!(exchanges, [0, 8, 16]);
        assert!(four.have_frozen_halos() && !devices(4, 1).0.have_frozen_halos());
        assert!(!devices(1, 8).0.have_frozen_halos(), "nothing is received");
    }
}
