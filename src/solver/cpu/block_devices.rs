//! Devices that share the blocks of a sparse matrix, simulated on the threads of one CPU. Each keeps the rows of its
//! blocks, those that their overlap computes, and the values that its static entries read of others.
//!
//! The devices take turns. What they own is gathered after every cycle, for all that observes the iterate.

use super::blocks::{Blocks, Tasks};
use super::device_rows::{DeviceRows, KeptRows, RowMessage, SharedRows};
use super::exchange_turns::ExchangeTurns;
use super::matrix::{self, MatrixPass, MatrixSystem};
use super::norms::PartialNorms;
use crate::grid::Real;
use crate::grid::memory::NoRoom;
use crate::problem::Csr;
use crate::problem::matrix::computed_rows;
use crate::solver::{Devices, Layout, Method, SolverError};
use std::mem;

/// The devices, with their arrays.
pub(super) struct BlocksOnDevices<R> {
    devices: Vec<Device<R>>,
    messages: Vec<RowMessage>,
    pub turns: ExchangeTurns,
    sweeps: usize,
    /// The tasks of all blocks, in which their norms are added; `None` for Jacobi's sweeps.
    tasks: Option<Tasks>,
}

/// What one device has.
struct Device<R> {
    /// The numbers of the rows that it keeps.
    system: MatrixSystem<R>,
    /// Its blocks; `None` for Jacobi's sweeps.
    blocks: Option<Blocks<R>>,
    kept: KeptRows,
    /// The values of the rows that it keeps.
    values: Vec<R>,
    /// The next values of those that it owns.
    next: Vec<R>,
}

impl<R: Real> BlocksOnDevices<R> {
    /// Cuts a matrix for devices that make the cycles of a method on its blocks. They have no iterate yet
    /// ([`BlocksOnDevices::start_from`]).
    ///
    /// # Errors
    /// [`SolverError`] as [`Blocks::new`].
    pub fn new(
        (matrix, system): (&Csr, &MatrixSystem<R>),
        sweeps: &Method,
        devices: &Devices,
        layout: Layout,
    ) -> Result<Self, SolverError> {
        let shares = devices.shares();
        let rows = SharedRows::new(matrix, shares, computed_rows(matrix, shares.axis())?);
        let k = sweeps.k().followed();
        let layout = match sweeps {
            Method::Classic => None,
            _ => Some((k, layout)),
        };
        let messages = rows.messages();
        let made = rows.into_devices(system).map(|rows| Device::new(rows, layout));
        let blocks = shares.axis();
        let owned = (0..blocks.count()).map(|block| blocks.owned(block));
        Ok(Self {
            devices: made.collect::<Result<_, _>>()?,
            messages,
            turns: ExchangeTurns::new(devices),
            sweeps: k,
            tasks: layout.map(|_| Tasks::new(owned)),
        })
    }

    /// Rows that the blocks of all devices compute; `None` of Jacobi's sweeps.
    pub fn computed_rows(&self) -> Option<usize> {
        self.devices.iter().map(|device| Some(device.blocks.as_ref()?.computed_rows())).sum()
    }

    /// Sweeps of a cycle.
    pub fn sweeps(&self) -> usize {
        self.sweeps
    }

    /// Gives every device the values of its rows.
    pub fn start_from(&mut self, values: &[R]) {
        self.turns.restart();
        for device in &mut self.devices {
            device.values.clear();
            device.values.extend(device.kept.rows.iter().map(|row| values[*row as usize]));
        }
    }

    /// Makes one cycle of every device, and an exchange if it is due; writes what they own to the next iterate. Returns
    /// the norms of a cycle that began with an exchange.
    pub fn cycle(&mut self, pass: MatrixPass<'_, R>) -> PartialNorms {
        let mut norms = Vec::new();
        for device in &mut self.devices {
            let Device { system, blocks, kept, values, next } = device;
            let KeptRows { owned, first, .. } = &*kept;
            let of_device = MatrixPass {
                system,
                from: values,
                to: next,
                first: *first,
                // A row that it owns lies as far from the first of these as from the first that it keeps.
                exact: pass.exact.map(|exact| &exact[owned.start - *first..]),
                measure: pass.measure && blocks.is_some(),
                ..pass
            };
            match blocks {
                Some(blocks) => norms.extend(blocks.cycle(of_device)),
                None => _ = matrix::classic(of_device),
            }
            values[*first..*first + next.len()].copy_from_slice(next);
            pass.to[owned.clone()].copy_from_slice(next);
        }
        if self.turns.is_due() {
            self.exchange();
        }
        match &self.tasks {
            Some(tasks) => tasks.sum(&norms),
            // One device adds those of a band of rows, wherever devices meet.
            None if pass.measure => matrix::measure(pass),
            None => PartialNorms::default(),
        }
    }

    /// Every device receives what its rows read and others own.
    fn exchange(&mut self) {
        for RowMessage { from, to, sent, received } in &self.messages {
            let mut values = mem::take(&mut self.devices[*to].values);
            let mut at = *received;
            for run in sent {
                values[at..at + run.len()]
                    .copy_from_slice(&self.devices[*from].values[run.clone()]);
                at += run.len();
            }
            self.devices[*to].values = values;
        }
    }
}

impl<R: Real> Device<R> {
    /// With sweeps and a layout it has blocks.
    fn new(rows: DeviceRows<R>, layout: Option<(usize, Layout)>) -> Result<Self, NoRoom> {
        let DeviceRows { kept, system, blocks } = rows;
        let blocks = layout
            .map(|(sweeps, layout)| Blocks::of_rows(&system, blocks.into_iter(), sweeps, layout));
        Ok(Self {
            blocks: blocks.transpose()?,
            next: vec![R::default(); kept.owned.len()],
            values: Vec::new(),
            system,
            kept,
        })
    }
}
