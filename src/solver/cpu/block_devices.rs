//! Devices that share the blocks of a sparse matrix, simulated on the threads of one CPU. Each keeps the rows of its
//! blocks, those that their overlap computes, and the values that its static entries read of others.
//!
//! The devices take turns. What they own is gathered after every cycle, for all that observes the iterate.

use super::blocks::{Blocks, Tasks};
use super::exchange_turns::ExchangeTurns;
use super::matrix::{self, MatrixPass, MatrixSystem};
use super::norms::PartialNorms;
use crate::grid::memory::NoRoom;
use crate::grid::{Real, Share};
use crate::problem::Csr;
use crate::problem::matrix::{BlockRows, Readers, computed_rows};
use crate::solver::{Devices, Layout, Method, SolverError};
use std::mem;
use std::ops::Range;

/// The devices, with their arrays.
pub(super) struct BlocksOnDevices<R> {
    devices: Vec<Device<R>>,
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
    /// The rows that it keeps, ascending.
    kept: Vec<u32>,
    /// The rows that it owns, and where they lie among those that it keeps.
    owned: Range<usize>,
    first: usize,
    received: Vec<Message>,
    /// The values of the rows that it keeps.
    values: Vec<R>,
    /// The next values of those that it owns.
    next: Vec<R>,
}

/// Consecutive values that a device receives in every exchange.
struct Message {
    /// Which device owns them.
    from: usize,
    /// Where they lie there.
    sent: Range<usize>,
    /// Where they begin here.
    to: usize,
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
        let mut cut = Cut {
            system,
            rows: computed_rows(matrix, shares.axis())?.into_iter(),
            readers: Readers::new(matrix),
            places: vec![0; matrix.rows()],
        };
        let k = sweeps.k().followed();
        let layout = match sweeps {
            Method::Classic => None,
            _ => Some((k, layout)),
        };
        let made = shares.of_devices().iter().map(|share| cut.device(share, layout));
        let mut made = made.collect::<Result<Vec<_>, _>>()?;
        for (at, share) in shares.of_devices().iter().enumerate() {
            made[at].received = messages(&made, at, share);
        }
        let blocks = shares.axis();
        let owned = (0..blocks.count()).map(|block| blocks.owned(block));
        Ok(Self {
            devices: made,
            turns: ExchangeTurns::new(devices),
            sweeps: k,
            tasks: layout.map(|_| Tasks::new(owned)),
        })
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
            device.values.extend(device.kept.iter().map(|row| values[*row as usize]));
        }
    }

    /// Makes one cycle of every device, and an exchange if it is due; writes what they own to the next iterate. Returns
    /// the norms of a cycle that began with an exchange.
    pub fn cycle(&mut self, pass: MatrixPass<'_, R>) -> PartialNorms {
        let mut norms = Vec::new();
        for device in &mut self.devices {
            let Device { system, blocks, owned, first, values, next, .. } = device;
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
        for at in 0..self.devices.len() {
            let mut values = mem::take(&mut self.devices[at].values);
            for Message { from, sent, to } in &self.devices[at].received {
                let sent = &self.devices[*from].values[sent.clone()];
                values[*to..*to + sent.len()].copy_from_slice(sent);
            }
            self.devices[at].values = values;
        }
    }
}

/// What a device receives in every exchange.
fn messages<R>(devices: &[Device<R>], at: usize, share: &Share) -> Vec<Message> {
    let kept = &devices[at].kept;
    let runs = share.received.iter().flat_map(|it| it.planes.iter().map(|rows| (it.from, rows)));
    let message = |(from, rows): (usize, &Range<usize>)| {
        let Device { owned, first, .. } = &devices[from];
        let sent = rows.start - owned.start + first..rows.end - owned.start + first;
        let to = kept.partition_point(|row| (*row as usize) < rows.start);
        Message { from, sent, to }
    };
    runs.map(message).collect()
}

/// Cuts a matrix, one device after the other.
struct Cut<'a, R, B> {
    system: &'a MatrixSystem<R>,
    /// What the blocks of the next devices own and compute.
    rows: B,
    readers: Readers<'a>,
    /// Room for the place of every row.
    places: Vec<u32>,
}

impl<R: Real, B: Iterator<Item = BlockRows>> Cut<'_, R, B> {
    /// What the next device has. With sweeps and a layout it has blocks.
    fn device(
        &mut self,
        share: &Share,
        layout: Option<(usize, Layout)>,
    ) -> Result<Device<R>, NoRoom> {
        let rows: Vec<_> = self.rows.by_ref().take(share.tiles.len()).collect();
        let mut computed: Vec<u32> = rows.iter().flat_map(|(_, rows)| rows).copied().collect();
        computed.sort_unstable();
        computed.dedup();
        let kept = self.readers.read_by(computed.iter().copied());
        let system = self.system.of_device(&kept, &computed, &mut self.places);
        let first = kept.partition_point(|row| (*row as usize) < share.owned.start);
        let here = |(owned, computed): BlockRows| {
            let shifted = |row: usize| row - share.owned.start + first;
            let computed = computed.iter().map(|row| self.places[*row as usize]).collect();
            (shifted(owned.start)..shifted(owned.end), computed)
        };
        let blocks = layout.map(|(sweeps, layout)| {
            Blocks::of_rows(&system, rows.into_iter().map(here), sweeps, layout)
        });
        Ok(Device {
            blocks: blocks.transpose()?,
            next: vec![R::default(); share.owned.len()],
            owned: share.owned.clone(),
            received: Vec::new(),
            values: Vec::new(),
            system,
            kept,
            first,
        })
    }
}
