//! Several devices that share a grid, and what their exchanges cost.
//!
//! Each device keeps the planes that its tiles own and read. After every `exchange_every` cycles it receives those
//! that others own; in between they are frozen for it, as the halo of a tile is for its subiterations. Exchanged
//! after every cycle, the iterates are those of one device, to the last bit.

use super::Method;
use crate::grid::{AxisTiling, Precision, Shape, Shares, SharesError, Tiling};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

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
    /// From GPU to GPU where they reach each other's memory, else through main memory.
    #[default]
    Auto,
    /// From GPU to GPU: by NVLink, or over the bus.
    Peer,
    /// Through main memory.
    Host,
}

impl ExchangePath {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Peer, Self::Host];

    /// The name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Peer => "peer",
            Self::Host => "host",
        }
    }

    /// What it is, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Auto => "From GPU to GPU where they reach each other, else through main memory.",
            Self::Peer => "From GPU to GPU, by NVLink or over the bus.",
            Self::Host => "Through main memory.",
        }
    }
}

/// The devices that share a 2D or 3D grid.
#[derive(Clone, Debug, PartialEq)]
pub struct Devices {
    shares: Shares,
    exchange_every: NonZeroU64,
    link: Link,
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
    /// Shares out the tiles of a method over `count` devices; of Jacobi's sweeps, bands of 16 rows in 2D and
    /// planes in 3D.
    ///
    /// # Errors
    /// [`SharesError`] if there are fewer rows of tiles than devices.
    pub fn new(
        method: &Method,
        shape: &Shape,
        count: usize,
        exchange_every: NonZeroU64,
        link: Link,
    ) -> Result<Self, SharesError> {
        let axis = axis_of(method.tiling(), shape);
        Ok(Self { shares: Shares::new(&axis, count)?, exchange_every, link })
    }

    /// The most devices that can share a grid with these tiles, or, without any, Jacobi's sweeps on it.
    pub fn most(tiling: Option<&Tiling>, shape: &Shape) -> usize {
        axis_of(tiling, shape).count()
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

    /// Whether devices compute some cycles with values of others that are older than the cycle before.
    pub fn have_frozen_halos(&self) -> bool {
        self.count() > 1 && self.exchange_every() > 1
    }

    /// Whether an exchange follows this cycle; the initial guess is known everywhere.
    pub fn exchange_after(&self, cycle: u64) -> bool {
        cycle.is_multiple_of(self.exchange_every())
    }

    /// What an exchange on a grid moves, in this precision.
    pub fn exchange(&self, shape: &Shape, precision: Precision) -> Exchange {
        let plane = shape.points() / shape.planes() * precision.bytes();
        let bytes = |planes: usize| (planes * plane) as u64;
        let seconds = self.shares.of_devices().iter().map(|share| {
            let messages = share.received.iter().map(|it| bytes(it.planes.len()));
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
        let of_row = cycle / self.shares.axis().count() as f64;
        let inner = self.shares.of_devices().iter().enumerate().map(|(device, share)| {
            (share.tiles.len() - self.shares.border_tiles(device)) as f64 * of_row
        });
        (inner.fold(f64::INFINITY, f64::min) / exchange.seconds).min(1.0)
    }
}

/// What is shared out: the rows of tiles; without tiles bands of 16 rows in 2D, and planes in 3D.
fn axis_of(tiling: Option<&Tiling>, shape: &Shape) -> AxisTiling {
    let of_tiles = tiling.and_then(|tiling| tiling.axes().last().cloned());
    of_tiles.unwrap_or_else(|| {
        AxisTiling::bands(shape.planes(), if shape.dim() == 2 { BAND } else { 1 })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(shared(&flat, 6).unwrap_err().rows, 5);
        assert_eq!(Devices::most(None, &flat), 5);
        let deep = Shape::grid_3d(9, 70, 4).unwrap();
        assert_eq!(shared(&deep, 4).unwrap().count(), 4);
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
