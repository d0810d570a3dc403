//! A residual that grows: a run that diverges.

use serde::{Deserialize, Serialize};

/// This many consecutive cycles of growth are steady growth …
pub(super) const GROWING_CYCLES: u32 = 50;

/// … once the residual is this many times the smallest that it was.
const GROWTH: f64 = 10.0;

/// The residual, watched for steady growth.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Growth {
    pub last: f64,
    pub smallest: f64,
    /// Consecutive cycles in which it grew.
    pub cycles: u32,
}

impl Growth {
    pub fn watch(&mut self, residual: f64) {
        self.cycles = if residual > self.last { self.cycles + 1 } else { 0 };
        self.last = residual;
        self.smallest = self.smallest.min(residual);
    }

    pub fn is_steady(&self) -> bool {
        self.cycles >= GROWING_CYCLES && self.last > GROWTH * self.smallest
    }
}
