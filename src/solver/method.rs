//! Methods: how one cycle turns an iterate into the next.

use super::method_name::MethodName;
use super::{Devices, Schedule, Spectral, Streaming, Subiterations};
use crate::grid::{AxisTiling, Shape, Tiling};

/// How one cycle turns an iterate into the next.
#[derive(Clone, Debug, PartialEq)]
pub enum Method {
    /// Jacobi's iteration: a cycle is one sweep over the whole grid.
    Classic,
    /// Islam & Wang's hierarchical iteration: a cycle is `k` sweeps (subiterations) inside every
    /// tile, with the halo around the tile frozen.
    Hierarchical {
        /// Subiterations of a cycle, at least 1.
        k: usize,
        /// How the grid is cut.
        tiling: Tiling,
    },
    /// The same with the subiterations of a tile made in its sine basis, at a cost that does not
    /// depend on k, which may be infinite. Its iterates are those of the sweeps up to rounding.
    Spectral(Spectral),
    /// Damped (weighted) Jacobi: the sweeps of the classic or of the hierarchical method, each of which
    /// applies the fraction ω of the update, `fma(ω, u_jacobi − u, u)`.
    Damped {
        /// ω: not 1, which is the method without damping.
        omega: f64,
        /// Whose sweeps.
        sweeps: Box<Method>,
    },
    /// The sweeps of the hierarchical method on a grid, with tiles or points that read what others wrote in the same
    /// cycle. On CPUs only.
    Scheduled {
        /// What they read: not the default, which is the method without a schedule.
        schedule: Schedule,
        /// Whose sweeps.
        sweeps: Box<Method>,
    },
    /// The cycles of the classic or of the hierarchical method, also in the sine basis, or the passes of a pyramid, on a
    /// grid that several devices share; those of the first two also on a matrix.
    OnDevices {
        /// Who computes what, and when they exchange it.
        devices: Devices,
        /// Whose cycles.
        sweeps: Box<Method>,
    },
    /// Jacobi's iteration in slabs or in a window within a budget of fast memory: a cycle is one pass of n
    /// sweeps.
    Streaming(Streaming),
}

impl Method {
    /// The same with its sweeps damped by ω; with ω = 1 the method itself.
    #[must_use]
    pub fn damped(self, omega: f64) -> Self {
        if omega == 1.0 { self } else { Self::Damped { omega, sweeps: Box::new(self) } }
    }

    /// The same with tiles and points in this order; with the default the method itself.
    #[must_use]
    pub fn scheduled(self, schedule: Schedule) -> Self {
        if schedule.is_jacobi() {
            self
        } else {
            Self::Scheduled { schedule, sweeps: Box::new(self) }
        }
    }

    /// The same shared out over devices.
    #[must_use]
    pub fn on_devices(self, devices: Devices) -> Self {
        Self::OnDevices { devices, sweeps: Box::new(self) }
    }

    /// The same with other devices in the place of its own, if it has any.
    #[must_use]
    pub fn with_devices(self, devices: Devices) -> Self {
        match self {
            Self::Damped { omega, sweeps } => {
                Self::Damped { omega, sweeps: Box::new(sweeps.with_devices(devices)) }
            }
            Self::OnDevices { sweeps, .. } => Self::OnDevices { devices, sweeps },
            other => other,
        }
    }

    /// The same with its devices in a process each: slabs of a pass over a grid of this shape exchange planes then, which
    /// devices of one process read in its memory. Other methods exchange what they do in one process.
    #[must_use]
    pub fn in_processes(self, shape: &Shape) -> Self {
        // The systems of a batch read nothing of each other.
        let streaming = self.streaming().filter(|_| shape.batch() == 1).copied();
        match (streaming, self.devices().cloned()) {
            (Some(pass), Some(devices)) => self.with_devices(devices.in_processes(pass.height())),
            _ => self,
        }
    }

    /// The devices that share its grid; `None` for a single one.
    pub fn devices(&self) -> Option<&Devices> {
        match self {
            Self::Damped { sweeps, .. } | Self::Scheduled { sweeps, .. } => sweeps.devices(),
            Self::OnDevices { devices, .. } => Some(devices),
            _ => None,
        }
    }

    /// The order of its tiles and points.
    pub fn schedule(&self) -> Schedule {
        match self {
            Self::Damped { sweeps, .. } | Self::OnDevices { sweeps, .. } => sweeps.schedule(),
            Self::Scheduled { schedule, .. } => *schedule,
            _ => Schedule::default(),
        }
    }

    /// The method without damping and schedule, on one device.
    pub fn plain(&self) -> &Self {
        match self {
            Self::Damped { sweeps, .. }
            | Self::Scheduled { sweeps, .. }
            | Self::OnDevices { sweeps, .. } => sweeps.plain(),
            other => other,
        }
    }

    /// Whether its subiterations are made all at once, in the sine basis of a tile.
    pub fn is_spectral(&self) -> bool {
        matches!(self.plain(), Self::Spectral(_))
    }

    /// The ω of its sweeps; 1 without damping.
    pub fn omega(&self) -> f64 {
        match self {
            Self::Damped { omega, .. } => *omega,
            Self::Scheduled { sweeps, .. } | Self::OnDevices { sweeps, .. } => sweeps.omega(),
            _ => 1.0,
        }
    }

    /// Jacobi's iteration with the same damping.
    pub fn classic(&self) -> Self {
        Self::Classic.damped(self.omega())
    }

    /// Cycles after which an iterate alone determines what follows: those from one exchange between devices to the next,
    /// 1 without devices.
    pub fn cycles_between_exchanges(&self) -> u64 {
        let rare = self.devices().filter(|devices| devices.have_frozen_halos());
        rare.map_or(1, Devices::exchange_every)
    }

    /// Its name.
    pub fn name(&self) -> MethodName {
        match self {
            Self::Classic => MethodName::Classic,
            Self::Hierarchical { .. } | Self::Spectral(_) => MethodName::Hierarchical,
            Self::Streaming(streaming) => streaming.method(),
            Self::Damped { sweeps, .. }
            | Self::Scheduled { sweeps, .. }
            | Self::OnDevices { sweeps, .. } => sweeps.name(),
        }
    }

    /// Subiterations inside the tiles of one cycle: one where sweeps are made over the whole grid.
    pub fn k(&self) -> Subiterations {
        match self {
            Self::Classic | Self::Streaming(_) => Subiterations::Finite(1),
            Self::Hierarchical { k, .. } => Subiterations::Finite(*k),
            Self::Spectral(spectral) => spectral.k(),
            Self::Damped { sweeps, .. }
            | Self::Scheduled { sweeps, .. }
            | Self::OnDevices { sweeps, .. } => sweeps.k(),
        }
    }

    /// Its tiles, if it has any.
    pub fn tiling(&self) -> Option<&Tiling> {
        match self {
            Self::Classic | Self::Streaming(_) => None,
            Self::Hierarchical { tiling, .. } => Some(tiling),
            Self::Spectral(spectral) => Some(spectral.tiling()),
            Self::Damped { sweeps, .. }
            | Self::Scheduled { sweeps, .. }
            | Self::OnDevices { sweeps, .. } => sweeps.tiling(),
        }
    }

    /// How its planes pass through fast memory; `None` of a method that does not stream.
    pub fn streaming(&self) -> Option<&Streaming> {
        match self.plain() {
            Self::Streaming(streaming) => Some(streaming),
            _ => None,
        }
    }

    /// Of blocks of a matrix those that it computes: sweeps of Jacobi's iteration have no overlap.
    pub(super) fn blocks(&self, blocks: &AxisTiling) -> AxisTiling {
        match self.plain() {
            Self::Classic => AxisTiling::bands(blocks.n(), blocks.tile()),
            _ => blocks.clone(),
        }
    }

    /// Sweeps that one cycle counts as ([`Subiterations::counted_sweeps`]).
    pub fn sweeps_per_cycle(&self) -> u64 {
        let height = self.streaming().map(|streaming| streaming.height() as u64);
        height.unwrap_or_else(|| self.k().counted_sweeps())
    }
}
