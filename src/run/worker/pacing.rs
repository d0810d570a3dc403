//! How often the iterate is observed while cycles are made.

use crate::clock::Instant;

use std::time::Duration;

/// What observations may take, as fractions of the time.
pub(super) struct Shares {
    /// One of the map.
    map: f64,
    /// One with statistics of the field, too.
    statistics: f64,
    /// The shortest time from one observation to the next.
    every: Duration,
}

/// On the CPU an observation takes as long as one or two sweeps, during which no cycle is made. Reports come
/// a little faster than a screen shows them. In a page the frame of a report takes ten times as long as the observation, and
/// of the same thread: with a small share of the time pictures would be missing, and little would be gained.
const ON_CPU: Shares = Shares {
    map: if cfg!(target_arch = "wasm32") { 0.06 } else { 0.018 },
    statistics: 0.009,
    every: Duration::from_millis(12),
};

/// With frequencies there are more observations, for each transform begins at one, and thirty a second look live. The
/// transforms themselves take more of the time than this.
const ON_CPU_WITH_FREQUENCIES: Shares = Shares { map: ON_CPU.map.max(0.03), ..ON_CPU };

/// A GPU makes cycles meanwhile: of its own time it gives little to an observation of the map, but all of it
/// to one with statistics. As no report can come before a batch is made, they come twice as fast as a screen
/// shows them: one that comes just after a screen's frame waits for the next.
const ON_GPU: Shares = Shares { map: 0.25, statistics: 0.01, every: Duration::from_millis(8) };

/// When the next observation is due, and with what, by the time that the last ones took.
#[derive(Debug, Default)]
pub(super) struct Pacing {
    last: Option<Instant>,
    last_statistics: Option<Instant>,
    map_took: Duration,
    statistics_took: Duration,
}

impl Pacing {
    /// Whether the next observation is due.
    pub fn is_due(&self, busy: bool, shares: &Shares) -> bool {
        let rest = if busy { self.map_took.div_f64(shares.map) } else { Duration::ZERO };
        has_passed(self.last, rest.max(shares.every))
    }

    /// Whether one with statistics is due.
    pub fn is_statistics_due(&self, busy: bool, shares: &Shares) -> bool {
        !busy || has_passed(self.last_statistics, self.statistics_took.div_f64(shares.statistics))
    }

    /// Notes an observation that began at `begin` and is done.
    pub fn record(&mut self, begin: Instant, with_statistics: bool) {
        let (now, took) = (Instant::now(), begin.elapsed());
        self.last = Some(now);
        if with_statistics {
            (self.last_statistics, self.statistics_took) = (Some(now), took);
        } else {
            self.map_took = took;
        }
    }
}

impl Shares {
    /// Those of a run.
    pub fn of(on_gpu: bool, with_frequencies: bool) -> &'static Self {
        match (on_gpu, with_frequencies) {
            (true, _) => &ON_GPU,
            (false, true) => &ON_CPU_WITH_FREQUENCIES,
            (false, false) => &ON_CPU,
        }
    }
}

fn has_passed(since: Option<Instant>, span: Duration) -> bool {
    since.is_none_or(|since| since.elapsed() >= span)
}
