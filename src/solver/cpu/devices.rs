//! Devices that share a grid, simulated on the threads of one CPU: each has arrays of its own for the planes that its
//! tiles compute and the layer around them, on which it makes the cycles of a small grid. Exchanges are copies.
//!
//! The devices take turns. What they own is gathered after every cycle, for all that observes the iterate.

use super::exchange_turns::ExchangeTurns;
use super::hierarchical::Hierarchical;
use super::norms::PartialNorms;
use super::patch::Local;
use super::spectral::Tables;
use super::{Pass, classic};
use crate::grid::{Real, Share};
use crate::problem::System;
use crate::solver::{Devices, Method};
use std::mem;
use std::ops::Range;

/// The devices, with their arrays.
pub(super) struct OnDevices<R> {
    devices: Vec<Device<R>>,
    pub turns: ExchangeTurns,
    subiterations: Subiterations<R>,
    gathered: Option<Gathered>,
}

/// How the devices make the subiterations of their tiles.
enum Subiterations<R> {
    Sweeps(usize),
    /// All at once: tiles are alike, and so are their tables.
    Spectral(Box<Tables<R>>),
}

/// Of what the norms of 1D systems are added, once what the devices own is gathered: one device adds those of short tiles
/// together, wherever devices meet.
enum Gathered {
    Tiles(Hierarchical),
    /// Of Jacobi's sweeps.
    Lines,
}

/// What one device has.
struct Device<R> {
    /// The numbers of its planes.
    system: System<R>,
    /// Its tiles; `None` for Jacobi's sweeps.
    tiles: Option<Hierarchical>,
    /// Where its arrays lie in those of the grid.
    stored: Range<usize>,
    /// What it owns of them.
    owned: Range<usize>,
    received: Vec<Message>,
    /// The iterate.
    current: Vec<R>,
    /// The iterate one cycle earlier, and the next.
    other: Vec<R>,
}

/// Values that a device receives in every exchange.
struct Message {
    /// Which device owns them.
    from: usize,
    /// Where they lie in the arrays of the grid.
    stored: Range<usize>,
}

impl<R: Real> OnDevices<R> {
    /// Cuts a system for devices that make the sweeps of a method. They have no iterate yet ([`OnDevices::start_from`]).
    pub fn new(system: &System<R>, sweeps: &Method, devices: &Devices) -> Self {
        let shape = system.shape();
        let shares = devices.shares().of_devices();
        Self {
            devices: shares.iter().map(|share| Device::new(system, sweeps, share)).collect(),
            turns: ExchangeTurns::new(devices),
            subiterations: match sweeps {
                Method::Spectral(spectral) => {
                    Subiterations::Spectral(Box::new(Tables::new(spectral)))
                }
                other => Subiterations::Sweeps(other.k().followed()),
            },
            gathered: (shape.dim() == 1).then(|| match sweeps.tiling() {
                Some(tiling) => Gathered::Tiles(Hierarchical::new(shape, tiling)),
                None => Gathered::Lines,
            }),
        }
    }

    /// The sweeps that take as long as a cycle, about.
    pub fn sweeps(&self) -> usize {
        self.subiterations.local().sweeps()
    }

    /// Gives every device its planes of an iterate.
    pub fn start_from(&mut self, iterate: &[R]) {
        self.turns.restart();
        for device in &mut self.devices {
            let planes = &iterate[device.stored.clone()];
            for array in [&mut device.current, &mut device.other] {
                array.clear();
                array.extend_from_slice(planes);
            }
        }
    }

    /// Makes one cycle of every device, and an exchange if it is due; writes what they own to the next iterate. Returns
    /// norms in the order of tiles, of a cycle that began with an exchange.
    pub fn cycle(&mut self, pass: Pass<'_, R>) -> Vec<PartialNorms> {
        let mut norms = Vec::new();
        for device in &mut self.devices {
            let Device { system, tiles, stored, owned, current, other, .. } = device;
            let of_device = Pass {
                system,
                from: current,
                to: other,
                exact: pass.exact.map(|exact| &exact[stored.clone()]),
                measure: pass.measure && self.gathered.is_none(),
                ..pass
            };
            norms.extend(match tiles {
                Some(tiles) => tiles.cycle(self.subiterations.local(), of_device),
                None => classic::cycle(of_device),
            });
            mem::swap(current, other);
            pass.to[owned.clone()].copy_from_slice(&current[within(owned, stored)]);
        }
        if self.turns.is_due() {
            self.exchange();
        } else {
            self.devices.iter_mut().for_each(Device::keep_received);
        }
        match &self.gathered {
            Some(Gathered::Tiles(tiles)) if pass.measure => tiles.cycle(Local::Made, pass),
            Some(Gathered::Lines) if pass.measure => classic::measure(pass),
            _ => norms,
        }
    }

    /// Every device receives what others own.
    fn exchange(&mut self) {
        for at in 0..self.devices.len() {
            let mut current = mem::take(&mut self.devices[at].current);
            let to = &self.devices[at];
            for Message { from, stored } in &to.received {
                let from = &self.devices[*from];
                let sent = &from.current[within(stored, &from.stored)];
                current[within(stored, &to.stored)].copy_from_slice(sent);
            }
            self.devices[at].current = current;
        }
    }
}

impl<R: Real> Subiterations<R> {
    fn local(&self) -> Local<'_, R> {
        match self {
            Self::Sweeps(k) => Local::Sweeps(*k),
            Self::Spectral(tables) => Local::Spectral(tables),
        }
    }
}

impl<R: Real> Device<R> {
    fn new(system: &System<R>, sweeps: &Method, share: &Share) -> Self {
        let Share { tiles, computed, owned, received } = share;
        let shape = system.shape();
        let system = system.planes(computed.clone());
        let cut_out = sweeps.tiling().map(|tiling| match shape.batch() {
            1 => tiling.cut_out(tiles.clone()),
            // Lines have all of their tiles.
            _ => tiling.clone(),
        });
        let runs = received.iter().flat_map(|it| it.planes.iter().map(|planes| (it.from, planes)));
        let message = |(from, planes): (usize, &Range<usize>)| Message {
            from,
            stored: shape.stored_alone(planes.clone()),
        };
        Self {
            tiles: cut_out.map(|tiling| Hierarchical::new(system.shape(), &tiling)),
            system,
            stored: shape.stored_planes(computed.clone()),
            owned: shape.stored_alone(owned.clone()),
            received: runs.map(message).collect(),
            current: Vec::new(),
            other: Vec::new(),
        }
    }

    /// Takes over what it received before from the iterate one cycle earlier.
    fn keep_received(&mut self) {
        for Message { stored, .. } in &self.received {
            let at = within(stored, &self.stored);
            self.current[at.clone()].copy_from_slice(&self.other[at]);
        }
    }
}

/// A part of the arrays of a grid, counted from where those of a device begin.
fn within(part: &Range<usize>, stored: &Range<usize>) -> Range<usize> {
    part.start - stored.start..part.end - stored.start
}
