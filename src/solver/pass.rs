//! What a pass over the grid copies and computes, step by step: a step is a slab of a pyramid, or a chunk of the
//! wavefront. A GPU makes its passes by it, and pictures of passes are drawn by it.
//!
//! Planes are numbered from 0, the boundary plane before the first, to `count` + 1, the one after the last. Each of
//! three lanes makes its part of the steps in their order: one copies planes up, one sweeps, one copies planes down.
//! The sweeps of a step wait for its copies up, and its copies down for its sweeps. Copies up overwrite planes that
//! steps before left behind: [`Step::after`] says which must be done.

use super::pass_progress::PassMoment;
#[cfg(feature = "cuda")]
use super::streaming::Traffic;
use super::streaming::{Planes, Scheme, Streaming};
use crate::grid::Shape;
use std::ops::Range;

/// Steps that may lie between one and that of its `after`: fewer than this.
#[cfg(any(test, feature = "cuda"))]
pub(super) const FARTHEST: usize = 8;

/// A pass of n sweeps over one grid, or one system of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    count: usize,
    n: usize,
    kind: Kind,
    /// Of the planes without the boundary, counted from 0, the first that its slabs own, and the one after the last.
    owned: [usize; 2],
    /// Sweeps of the wavefront that other devices make before these: its planes come from them, so many later.
    before: usize,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Slabs of so many planes, so many at a time.
    Slabs { planes: usize, at_once: usize },
    /// Chunks of so many planes. Behind those that it makes, a sweep reads one plane and so many more.
    Chunks { chunk: usize, behind: usize },
}

/// Planes of several sweeps that are made together, in tiles that compute some of them twice.
#[cfg(any(test, feature = "cuda"))]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SweptTogether {
    /// The planes that are swept: one before and one after them is read, and stays as it is.
    pub swept: Range<usize>,
    /// Those of them that are as after sweeps of the whole grid, and are written.
    pub written: Range<usize>,
}

/// One slab or chunk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// In which working arrays it is.
    pub window: usize,
    /// The plane that lies at their start. From there on they are rings.
    pub origin: usize,
    /// Planes of the iterate and of the right-hand side that are copied up.
    pub up: Range<usize>,
    /// Planes of the next iterate that are copied down.
    pub down: Range<usize>,
    /// The step whose sweeps and copies down must be done before its copies up; with those before it, as lanes make
    /// their steps in order.
    pub after: Option<usize>,
}

impl Pass {
    /// A pass on a GPU.
    pub fn on_gpu(streaming: &Streaming, shape: &Shape) -> Self {
        let kind = match streaming.scheme() {
            Scheme::Pyramid => {
                let at_once = streaming.slabs_on_gpu();
                Kind::Slabs { planes: streaming.planes() / at_once, at_once }
            }
            Scheme::Wavefront { .. } => {
                let (chunk, behind) = streaming.chunk_on_gpu(shape);
                Kind::Chunks { chunk, behind }
            }
        };
        Self::whole(Planes::of(shape).count, streaming.height(), kind)
    }

    /// The same on a CPU: a slab at a time, and chunks of their own size.
    pub fn on_cpu(streaming: &Streaming, shape: &Shape) -> Self {
        let kind = match streaming.scheme() {
            Scheme::Pyramid => Kind::Slabs { planes: streaming.planes(), at_once: 1 },
            Scheme::Wavefront { chunk } => Kind::Chunks { chunk, behind: 0 },
        };
        Self::whole(Planes::of(shape).count, streaming.height(), kind)
    }

    fn whole(count: usize, n: usize, kind: Kind) -> Self {
        Self { count, n, kind, owned: [0, count], before: 0 }
    }

    /// The part of a pass in slabs whose slabs own these planes, counted from 0 without the boundary: that of a device. It
    /// reads planes of others as the pass began with them.
    #[cfg(any(test, feature = "cuda"))]
    pub(super) fn of_planes(self, planes: Range<usize>) -> Self {
        Self { owned: [planes.start, planes.end], ..self }
    }

    /// The part of a wavefront that makes these of its sweeps, counted from 0: that of a device. In every step it is given
    /// the planes that the part before it has made, and those of the boundary.
    #[cfg(any(test, feature = "cuda"))]
    pub(super) fn of_sweeps(self, sweeps: Range<usize>) -> Self {
        Self { before: sweeps.start, n: sweeps.len(), ..self }
    }

    /// Whether its planes come from a device that has swept them before.
    #[cfg(feature = "cuda")]
    pub(super) fn follows(&self) -> bool {
        self.before > 0
    }

    /// N: planes of the grid.
    pub fn planes(&self) -> usize {
        self.count
    }

    /// Sweeps of the pass.
    pub fn height(&self) -> usize {
        self.n
    }

    /// Sets of working arrays: an iterate, the next one and the right-hand side.
    pub fn windows(&self) -> usize {
        self.windows_of_budget().min(self.steps())
    }

    /// Slabs that share the budget, or the one window.
    pub fn windows_of_budget(&self) -> usize {
        match self.kind {
            Kind::Slabs { at_once, .. } => at_once,
            Kind::Chunks { .. } => 1,
        }
    }

    /// Planes that each of them holds at least on a GPU.
    pub fn window_planes(&self) -> usize {
        match self.kind {
            Kind::Slabs { planes, .. } => planes.min(self.count + 2),
            // One chunk comes, one is swept and one leaves; a sweep reads a plane on either side.
            Kind::Chunks { chunk, behind } => self.n + 3 * chunk + 2 + behind,
        }
    }

    /// The most planes that are swept at a time.
    pub fn most_swept(&self) -> usize {
        match self.kind {
            Kind::Slabs { .. } => self.window_planes(),
            Kind::Chunks { chunk, .. } => chunk,
        }
    }

    /// How many steps there are.
    pub fn steps(&self) -> usize {
        match self.kind {
            Kind::Slabs { planes, .. } => {
                (self.owned[1] - self.owned[0]).div_ceil(planes - 2 * self.n)
            }
            // Once all planes are there, the window drains.
            Kind::Chunks { chunk, .. } => (self.count + 1 + self.before + self.n).div_ceil(chunk),
        }
    }

    /// What its first steps move and compute, of planes with so many points and with so many sweeps together: `updates` says
    /// how many updates sweeps of planes make.
    #[cfg(feature = "cuda")]
    pub(super) fn traffic_of(
        &self,
        steps: usize,
        points: usize,
        together: usize,
        updates: impl Fn(usize, &SweptTogether) -> u64,
    ) -> Traffic {
        let inside = |planes: Range<usize>| {
            planes.end.min(self.count + 1).saturating_sub(planes.start.max(1)) * points
        };
        let mut traffic = Traffic::default();
        for number in 0..steps {
            let step = self.step(number);
            traffic.up += 2 * inside(step.up) as u64;
            traffic.down += inside(step.down) as u64;
            let made = self.sweeps_by(together);
            let made = made.filter_map(|it| Some((it.len(), self.swept_together(number, &it)?)));
            traffic.updates += made.map(|(sweeps, planes)| updates(sweeps, &planes)).sum::<u64>();
        }
        traffic
    }

    /// A step by its number.
    pub fn step(&self, number: usize) -> Step {
        let Self { count, n, kind, owned: [first, last], before } = *self;
        match kind {
            Kind::Slabs { planes, at_once } => {
                let owned = planes - 2 * n;
                let start = 1 + first + number * owned;
                let end = (start + owned).min(last + 1);
                let up = start.saturating_sub(n)..(end + n).min(count + 2);
                Step {
                    window: number % at_once,
                    origin: up.start,
                    up,
                    down: start..end,
                    after: number.checked_sub(at_once),
                }
            }
            Kind::Chunks { chunk, behind } => {
                let come = |chunks: usize| (chunks * chunk).saturating_sub(before).min(count + 2);
                let up = come(number)..come(number + 1);
                // The last plane whose place is overwritten. It is read until level n was made behind what reads it.
                let overwritten = up.end.checked_sub(self.window_planes() + 1);
                let made = |plane: usize| (plane + before + n + 1 + behind) / chunk;
                let after = overwritten.filter(|_| !up.is_empty()).map(made);
                Step { window: 0, origin: 0, up, down: self.level(number, n), after }
            }
        }
    }

    /// The sweeps of a whole pass that planes have at a moment, as runs of planes from the first to the last: those in fast
    /// memory by what it has of them, the others by what is written back.
    pub fn sweeps_at(&self, moment: PassMoment) -> Vec<(Range<usize>, usize)> {
        let Self { count, n, .. } = *self;
        if moment.step >= self.steps() {
            return vec![(1..count + 1, n)];
        }
        let PassMoment { step, sweep } = moment;
        let mut runs = Vec::with_capacity(2 * n + 2);
        let mut end = 1;
        let mut add = |to: usize, sweeps: usize| {
            // A level that has drained ends behind the last plane.
            let to = to.min(count + 1);
            if to > end {
                runs.push((end..to, sweeps));
                end = to;
            }
        };
        match self.kind {
            Kind::Slabs { .. } => {
                let up = self.step(step).up;
                let made = |m: usize| match m {
                    0 => up.start.max(1)..up.end.min(count + 1),
                    m => self.level(step, m),
                };
                add(made(0).start, n);
                for m in 1..=sweep {
                    add(made(m).start, m - 1);
                }
                for m in (0..=sweep).rev() {
                    add(made(m).end, m);
                }
            }
            Kind::Chunks { .. } => {
                for m in (1..=n).rev() {
                    let made = if m <= sweep { Some(step) } else { step.checked_sub(1) };
                    add(made.map_or(1, |step| self.level(step, m).end), m);
                }
            }
        }
        add(count + 1, 0);
        runs
    }

    /// The planes that sweep `m` = 1 … n of a step makes.
    pub fn level(&self, number: usize, m: usize) -> Range<usize> {
        let count = self.count;
        match self.kind {
            Kind::Slabs { .. } => {
                let Step { up, .. } = self.step(number);
                // An end that is the grid's boundary stays where it is.
                let first = if up.start == 0 { 1 } else { up.start + m };
                let end = if up.end == count + 2 { count + 1 } else { up.end - m };
                first..end
            }
            Kind::Chunks { chunk, .. } => {
                let (start, m) = (number * chunk, self.before + m);
                let first = start.saturating_sub(m).max(1);
                first..(start + chunk).saturating_sub(m).min(count + 1).max(first)
            }
        }
    }

    /// The sweeps of a step, so many of them together: those that are left over come first, one by one.
    #[cfg(any(test, feature = "cuda"))]
    pub(super) fn sweeps_by(&self, together: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let (n, single) = (self.n, self.n % together);
        let groups = (single + 1..=n).step_by(together).map(move |m| m..m + together);
        (1..=single).map(|m| m..m + 1).chain(groups)
    }

    /// What sweeps of a step make together; `None` if that is no plane. A frozen end spoils a plane in the second sweep, and
    /// one more in each that follows. The grid's boundary spoils none: next to it, planes are written again that the step
    /// before has made, and those that the next would make.
    #[cfg(any(test, feature = "cuda"))]
    pub(super) fn swept_together(
        &self,
        number: usize,
        sweeps: &Range<usize>,
    ) -> Option<SweptTogether> {
        let planes = self.level(number, sweeps.end - 1);
        if planes.is_empty() {
            return None;
        }
        let spoilt = sweeps.len() - 1;
        if planes.start > 1 && planes.start + spoilt > self.count + 1 {
            // The step before has made them.
            return None;
        }
        let first = if planes.start > spoilt { planes.start } else { 1 };
        let end = if planes.end + spoilt <= self.count + 1 { planes.end } else { self.count + 1 };
        let swept = first.saturating_sub(spoilt).max(1)..(end + spoilt).min(self.count + 1);
        Some(SweptTogether { swept, written: first..end })
    }
}

#[cfg(test)]
mod tests {
    use super::super::streaming::TOGETHER;
    use super::*;
    use crate::grid::{ByteCount, Precision};
    use crate::random::random;
    use crate::solver::{Height, MethodName, Slabs};

    /// Sweep by sweep, against planes whose sweeps are counted.
    #[test]
    fn planes_have_the_sweeps_that_were_made() {
        for (count, n, kind) in [
            (20, 3, Kind::Slabs { planes: 9, at_once: 1 }),
            (7, 2, Kind::Slabs { planes: 30, at_once: 1 }),
            (40, 5, Kind::Slabs { planes: 11, at_once: 1 }),
            (20, 3, Kind::Chunks { chunk: 4, behind: 0 }),
            (9, 12, Kind::Chunks { chunk: 5, behind: 4 }),
            (5, 2, Kind::Chunks { chunk: 1, behind: 0 }),
        ] {
            let pass = Pass::whole(count, n, kind);
            let is_slab = matches!(kind, Kind::Slabs { .. });
            // What is in slow memory, or the wavefront's window, of all planes.
            let mut sweeps = vec![0; count + 2];
            for step in 0..pass.steps() {
                let mut in_fast = sweeps.clone();
                let Step { up, down, .. } = pass.step(step);
                if is_slab {
                    in_fast[up].fill(0);
                }
                for sweep in 0..=n {
                    if sweep > 0 {
                        for plane in pass.level(step, sweep) {
                            assert_eq!(in_fast[plane], sweep - 1);
                            in_fast[plane] = sweep;
                        }
                    }
                    let runs = pass.sweeps_at(PassMoment { step, sweep });
                    let found = runs.iter().flat_map(|(run, sweeps)| vec![*sweeps; run.len()]);
                    assert!(found.eq(in_fast[1..=count].iter().copied()), "{pass:?} {runs:?}");
                }
                if is_slab {
                    sweeps[down].fill(n);
                } else {
                    sweeps = in_fast;
                }
            }
            let over = PassMoment { step: pass.steps(), sweep: 0 };
            assert_eq!(pass.sweeps_at(over), [(1..count + 1, n)]);
        }
    }

    /// The parts of a step: each lane makes its own in order.
    const UP: usize = 0;
    const SWEEPS: usize = 1;
    const DOWN: usize = 2;

    /// Grids of points along a line in working arrays, whose lanes are advanced in any order that their
    /// dependencies allow.
    struct Lanes<'a> {
        pass: &'a Pass,
        /// Two iterates and the right-hand side of each window, as rings.
        windows: Vec<[Vec<f64>; 3]>,
        /// Steps that each lane has made, and sweeps of the step that the second has made, so many at a time.
        done: [usize; 3],
        swept: usize,
        together: usize,
        from: &'a [f64],
        g: &'a [f64],
        to: Vec<f64>,
        /// What comes from another device is here, as it was made.
        before: Option<&'a [f64]>,
    }

    impl Lanes<'_> {
        fn may_go_on(&self, lane: usize) -> bool {
            let number = self.done[lane];
            number < self.pass.steps()
                && match lane {
                    UP => self.pass.step(number).after.is_none_or(|after| {
                        after < number && self.done[SWEEPS] > after && self.done[DOWN] > after
                    }),
                    lane => self.done[lane - 1] > number,
                }
        }

        fn go_on(&mut self, lane: usize) {
            let (pass, number) = (self.pass, self.done[lane]);
            let Step { window, origin, up, down, after } = pass.step(number);
            assert!(after.is_none_or(|after| number - after < FARTHEST));
            let [first, second, g] = &mut self.windows[window];
            let ring = g.len();
            let at = |plane: usize| (plane - origin) % ring;
            let boundary = [0, pass.count + 1];
            match lane {
                UP => {
                    for plane in up {
                        let is_boundary = boundary.contains(&plane);
                        let from = self.before.filter(|_| !is_boundary).unwrap_or(self.from);
                        first[at(plane)] = from[plane];
                        g[at(plane)] = self.g[plane];
                    }
                }
                SWEEPS => {
                    if self.swept == 0 {
                        for plane in boundary.into_iter().filter(|plane| up.contains(plane)) {
                            second[at(plane)] = first[at(plane)];
                        }
                    }
                    let sweeps = pass.sweeps_by(self.together).find(|it| it.start > self.swept);
                    let sweeps = sweeps.expect("sweeps to make");
                    let (from, to) =
                        if sweeps.start % 2 == 1 { (&*first, second) } else { (&*second, first) };
                    self.swept = sweeps.end - 1;
                    assert!(pass.level(number, self.swept).len() <= pass.most_swept());
                    if let Some(SweptTogether { swept, written }) =
                        pass.swept_together(number, &sweeps)
                    {
                        let read = swept.start - 1..swept.end + 1;
                        let mut values: Vec<_> =
                            read.clone().map(|plane| from[at(plane)]).collect();
                        for _ in sweeps {
                            let before = values.clone();
                            for plane in swept.clone() {
                                let i = plane - read.start;
                                values[i] = updated(before[i - 1], before[i + 1], g[at(plane)]);
                            }
                        }
                        for plane in written {
                            to[at(plane)] = values[plane - read.start];
                        }
                    }
                    if self.swept < pass.n {
                        return;
                    }
                    self.swept = 0;
                }
                _ => {
                    let last = if pass.n % 2 == 1 { second } else { first };
                    for plane in down {
                        self.to[plane] = last[at(plane)];
                    }
                }
            }
            self.done[lane] += 1;
        }
    }

    fn updated(before: f64, next: f64, g: f64) -> f64 {
        before.mul_add(0.3, next.mul_add(0.6, g))
    }

    /// Makes a pass on poisoned arrays, its lanes in an order that the seed chooses, and compares it with sweeps.
    fn check(pass: &Pass, together: usize, seed: u64) {
        check_parts(pass, std::slice::from_ref(pass), together, seed);
    }

    /// The same of a pass in parts, each of which a device makes.
    fn check_parts(pass: &Pass, parts: &[Pass], together: usize, seed: u64) {
        let count = pass.count;
        let values = |seed| (0..count + 2).map(|at| random(seed, at as u64)).collect::<Vec<_>>();
        let (from, g) = (values(seed), values(!seed));
        let mut expected = from.clone();
        for _ in 0..pass.n {
            let before = expected.clone();
            for plane in 1..=count {
                expected[plane] = updated(before[plane - 1], before[plane + 1], g[plane]);
            }
        }
        let mut made = vec![f64::NAN; count + 2];
        for part in parts {
            let before = (part.before > 0).then(|| made.clone());
            made = made_by(part, (&from, &g, before.as_deref()), made, (together, seed));
        }
        let bits = |values: &[f64]| values.iter().map(|it| it.to_bits()).collect::<Vec<_>>();
        assert!(bits(&made[1..=count]) == bits(&expected[1..=count]), "{parts:?} seed {seed}");
    }

    /// The next iterate, with the planes of a pass made.
    fn made_by(
        pass: &Pass,
        (from, g, before): (&[f64], &[f64], Option<&[f64]>),
        to: Vec<f64>,
        (together, seed): (usize, u64),
    ) -> Vec<f64> {
        let array = || vec![f64::NAN; pass.window_planes()];
        let windows = (0..pass.windows()).map(|_| [array(), array(), array()]).collect();
        let mut lanes =
            Lanes { pass, windows, done: [0; 3], swept: 0, together, from, g, to, before };
        for turn in 0.. {
            let able: Vec<_> = (0..3).filter(|lane| lanes.may_go_on(*lane)).collect();
            if able.is_empty() {
                break;
            }
            // Some orders let a lane run ahead as far as it can, in either direction.
            let lane = match seed % 4 {
                0 => able[0],
                1 => able[able.len() - 1],
                _ => able[(random(seed, turn).abs() * 1e6) as usize % able.len()],
            };
            lanes.go_on(lane);
        }
        assert_eq!(lanes.done, [pass.steps(); 3], "{pass:?} stands still");
        lanes.to
    }

    /// Wherever planes are cut into parts: slabs of each begin at its first.
    #[test]
    fn the_slabs_of_several_devices_make_jacobis_sweeps() {
        for count in [2, 7, 60, 131] {
            for (planes, at_once, n) in [(3, 1, 1), (20, 1, 3), (40, 1, 15), (9, 2, 4), (300, 1, 8)]
            {
                let pass = Pass::whole(count, n, Kind::Slabs { planes, at_once });
                for seed in 0..20 {
                    let cut = |at: u64| {
                        let part = random(seed, at).abs().fract();
                        ((part * count as f64) as usize).clamp(1, count - 1)
                    };
                    let mut cuts = vec![0, cut(1), cut(2), count];
                    cuts.sort_unstable();
                    cuts.dedup();
                    let parts = cuts.windows(2).map(|ends| pass.of_planes(ends[0]..ends[1]));
                    check_parts(&pass, &parts.collect::<Vec<_>>(), 1, seed);
                }
            }
        }
    }

    /// Each gets the planes of the one before, and in no step more than that has made until then.
    #[test]
    fn the_sweeps_of_several_devices_make_a_wavefront() {
        for count in [1, 2, 6, 23, 60, 131] {
            for (chunk, n) in [(1, 2), (1, 45), (3, 7), (8, 13), (16, 31), (40, 85), (5, 200)] {
                for together in [1, TOGETHER] {
                    let pass = Pass::whole(count, n, Kind::Chunks { chunk, behind: together - 1 });
                    for seed in 0..6 {
                        let cut = |at: u64| {
                            let part = random(seed, at).abs().fract();
                            ((part * n as f64) as usize).clamp(1, n - 1)
                        };
                        let mut cuts = vec![0, cut(1), cut(2), n];
                        cuts.sort_unstable();
                        cuts.dedup();
                        let parts = cuts.windows(2).map(|ends| pass.of_sweeps(ends[0]..ends[1]));
                        let parts: Vec<_> = parts.collect();
                        for pair in parts.windows(2) {
                            for number in 0..pair[1].steps() {
                                let Step { up, .. } = pair[1].step(number);
                                let inside = up.start.max(1)..up.end.min(count + 1);
                                let sent = pair[0].step(number).down;
                                assert!(sent == inside || sent.is_empty() && inside.is_empty());
                            }
                        }
                        check_parts(&pass, &parts, together, seed + count as u64);
                    }
                }
            }
        }
    }

    #[test]
    fn sweeps_that_are_made_together_are_jacobis_too() {
        for count in [1, 2, 3, 6, 9, 23, 60, 131] {
            for chunk in [1, 2, 3, 5, 8, 16, 40] {
                for n in [1, 4, 5, 6, 9, 10, 13, 31, 45, 85] {
                    let behind = TOGETHER - 1;
                    let pass = Pass::whole(count, n, Kind::Chunks { chunk, behind });
                    for seed in 0..6 {
                        check(&pass, TOGETHER, seed + count as u64);
                    }
                }
            }
        }
    }

    #[test]
    fn any_order_of_the_lanes_makes_jacobis_sweeps() {
        let mut made = 0;
        for count in [1, 2, 3, 7, 23, 60, 131] {
            let shape = Shape::grid_1d(count, 1).unwrap();
            for planes in [3, 4, 6, 7, 11, 12, 20, 33, 64, 90, 300] {
                for n in [1, 2, 3, 4, 7, 9, 15, 31, 45, 85] {
                    for (method, slabs) in [
                        (MethodName::Pyramid, Slabs::One),
                        (MethodName::Pyramid, Slabs::Two),
                        (MethodName::Pyramid, Slabs::Auto),
                        (MethodName::Wavefront, Slabs::Auto),
                    ] {
                        let memory = ByteCount::new(24 * planes);
                        let (height, f64) = (Height::Sweeps(n), Precision::F64);
                        let Ok(streaming) =
                            Streaming::on_gpu(method, height, slabs, memory, &shape, f64)
                        else {
                            continue;
                        };
                        let pass = Pass::on_gpu(&streaming, &shape);
                        let held = pass.windows() * pass.window_planes();
                        assert!(held <= planes as usize, "{pass:?} in {planes}");
                        for seed in 0..6 {
                            check(&pass, 1, seed + count as u64);
                            made += 1;
                        }
                    }
                }
            }
        }
        assert!(made > 5000, "{made}");
    }
}
