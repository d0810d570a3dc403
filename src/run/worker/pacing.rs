//! How often the iterate is looked at while cycles are being made.

use crate::clock::Instant;

use std::time::Duration;

/// What looks may take, as parts of the time.
struct Shares {
    /// A look at the map.
    map: f64,
    /// One that sorts the field by its tiles, too.
    sorting: f64,
    /// Looks come no faster than this.
    every: Duration,
}

/// On the CPU a look takes as long as one or two sweeps, during which no cycle is made. Reports come a little
/// faster than a screen shows them.
const ON_CPU: Shares = Shares { map: 0.018, sorting: 0.009, every: Duration::from_millis(12) };

/// A GPU makes cycles meanwhile: of its own time it gives a look at the map little, but all of it to one that
/// sorts. As no report can come before a batch is made, they come twice as fast as a screen shows them: one
/// that comes just after a screen's frame waits for the next.
const ON_GPU: Shares = Shares { map: 0.25, sorting: 0.01, every: Duration::from_millis(8) };

/// When the next look is due, and what it is at, by what the last ones took.
#[derive(Debug, Default)]
pub(super) struct Pacing {
    last: Option<Instant>,
    last_sorting: Option<Instant>,
    map_took: Duration,
    sorting_took: Duration,
}

impl Pacing {
    /// Whether it is time for the next look.
    pub fn is_due(&self, busy: bool, on_gpu: bool) -> bool {
        let shares = Shares::of(on_gpu);
        let rest = if busy { self.map_took.div_f64(shares.map) } else { Duration::ZERO };
        has_passed(self.last, rest.max(shares.every))
    }

    /// Whether it is time for a look that sorts.
    pub fn is_sorting_due(&self, busy: bool, on_gpu: bool) -> bool {
        !busy
            || has_passed(self.last_sorting, self.sorting_took.div_f64(Shares::of(on_gpu).sorting))
    }

    /// Takes in a look that began then and is done.
    pub fn note(&mut self, begin: Instant, sorts: bool) {
        let (now, took) = (Instant::now(), begin.elapsed());
        self.last = Some(now);
        if sorts {
            (self.last_sorting, self.sorting_took) = (Some(now), took);
        } else {
            self.map_took = took;
        }
    }
}

impl Shares {
    fn of(on_gpu: bool) -> &'static Self {
        if on_gpu { &ON_GPU } else { &ON_CPU }
    }
}

fn has_passed(since: Option<Instant>, span: Duration) -> bool {
    since.is_none_or(|since| since.elapsed() >= span)
}
