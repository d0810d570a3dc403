//! After which cycles devices exchange.

use crate::solver::Devices;

/// The cycles of devices that exchange after every so many of them.
pub(super) struct ExchangeTurns {
    every: u64,
    /// Cycles since the last exchange, or since all devices were given the same iterate.
    since: u64,
    have_frozen_halos: bool,
}

impl ExchangeTurns {
    pub fn new(devices: &Devices) -> Self {
        Self {
            every: devices.exchange_every(),
            since: 0,
            have_frozen_halos: devices.have_frozen_halos(),
        }
    }

    /// All devices were given the same iterate.
    pub fn restart(&mut self) {
        self.since = 0;
    }

    /// Counts a cycle; whether an exchange follows.
    pub fn is_due(&mut self) -> bool {
        self.since = (self.since + 1) % self.every;
        self.since == 0
    }

    /// Whether some cycles are made with values that are older than the cycle before.
    pub fn have_frozen_halos(&self) -> bool {
        self.have_frozen_halos
    }

    /// Whether the devices have exchanged what the last cycle made: then the iterate alone determines the next cycles.
    pub fn have_exchanged(&self) -> bool {
        self.since == 0
    }
}
