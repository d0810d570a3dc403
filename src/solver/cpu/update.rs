//! The update of one point, in each of its forms, and of a row of points.

use super::norms::{LANES, Lanes};
use crate::grid::Real;
use crate::problem::Weights;

/// How a point's new value follows from its neighbours. One type a form, so that the form is
/// known where the loops are compiled.
pub(super) trait Update<R>: Copy + Sync {
    fn update(self, west: R, east: R, south: R, north: R, g: R) -> R;
}

#[derive(Clone, Copy)]
pub(super) struct LineIsotropic<R>(R);
#[derive(Clone, Copy)]
pub(super) struct LineGeneral<R>([R; 2]);
#[derive(Clone, Copy)]
pub(super) struct PlaneIsotropic<R>(R);
#[derive(Clone, Copy)]
pub(super) struct PlanePerAxis<R>([R; 2]);
#[derive(Clone, Copy)]
pub(super) struct PlaneGeneral<R>([R; 4]);

impl<R: Real + Sync> Update<R> for LineIsotropic<R> {
    #[inline(always)]
    fn update(self, west: R, east: R, _: R, _: R, g: R) -> R {
        self.0.fma(west + east, g)
    }
}

impl<R: Real + Sync> Update<R> for LineGeneral<R> {
    #[inline(always)]
    fn update(self, west: R, east: R, _: R, _: R, g: R) -> R {
        self.0[0].fma(west, self.0[1].fma(east, g))
    }
}

impl<R: Real + Sync> Update<R> for PlaneIsotropic<R> {
    #[inline(always)]
    fn update(self, west: R, east: R, south: R, north: R, g: R) -> R {
        self.0.fma((west + east) + (south + north), g)
    }
}

impl<R: Real + Sync> Update<R> for PlanePerAxis<R> {
    #[inline(always)]
    fn update(self, west: R, east: R, south: R, north: R, g: R) -> R {
        self.0[0].fma(west + east, self.0[1].fma(south + north, g))
    }
}

impl<R: Real + Sync> Update<R> for PlaneGeneral<R> {
    #[inline(always)]
    fn update(self, west: R, east: R, south: R, north: R, g: R) -> R {
        let [w, e, s, n] = self.0;
        w.fma(west, e.fma(east, s.fma(south, n.fma(north, g))))
    }
}

/// Work that is compiled once a form of the update.
pub(super) trait WithUpdate<R> {
    type Output;
    fn with<U: Update<R>>(self, update: U) -> Self::Output;
}

/// Hands `work` the update that these weights stand for on a grid of `dim` axes.
#[inline(always)]
pub(super) fn with_update<R: Real, W: WithUpdate<R>>(
    weights: &Weights<R>,
    dim: usize,
    work: W,
) -> W::Output {
    match (*weights, dim) {
        (Weights::Isotropic(w), 1) => work.with(LineIsotropic(w)),
        (Weights::General { west, east, .. }, 1) => work.with(LineGeneral([west, east])),
        (Weights::Isotropic(w), _) => work.with(PlaneIsotropic(w)),
        (Weights::PerAxis { x, y }, _) => work.with(PlanePerAxis([x, y])),
        (Weights::General { west, east, south, north }, _) => {
            work.with(PlaneGeneral([west, east, south, north]))
        }
    }
}

/// Three rows of an iterate around the points that are updated, and the right-hand side.
#[derive(Clone, Copy)]
pub(super) struct Rows<'a, R> {
    /// The row itself with one value more at either end: two more than there are points.
    pub centre: &'a [R],
    /// The row before; as many values as points. A line, which has none, gives any.
    pub south: &'a [R],
    /// The row after; as many values as points. A line, which has none, gives any.
    pub north: &'a [R],
    /// b / d; as many values as points.
    pub g: &'a [R],
}

impl<'a, R> Rows<'a, R> {
    /// The rows around the points whose own row, from the west neighbour of its first point to
    /// the east neighbour of its last, begins at `start` in `values`. `stride` leads from a row
    /// to the next; it is 0 for lines, which are their own neighbours along y.
    #[inline(always)]
    pub fn new(values: &'a [R], start: usize, stride: usize, g: &'a [R]) -> Self {
        let n = g.len();
        Self {
            centre: &values[start..start + n + 2],
            south: &values[start + 1 - stride..start + 1 - stride + n],
            north: &values[start + 1 + stride..start + 1 + stride + n],
            g,
        }
    }

    /// Some of the points alone.
    #[inline(always)]
    pub fn part(self, points: std::ops::Range<usize>) -> Self {
        Self {
            centre: &self.centre[points.start..points.end + 2],
            south: &self.south[points.clone()],
            north: &self.north[points.clone()],
            g: &self.g[points],
        }
    }
}

/// Updates a row of points into `out`.
#[inline(always)]
pub(super) fn update_row<R: Real, U: Update<R>>(update: U, rows: Rows<'_, R>, out: &mut [R]) {
    let n = out.len();
    let (west, east) = (&rows.centre[..n], &rows.centre[2..n + 2]);
    let (south, north, g) = (&rows.south[..n], &rows.north[..n], &rows.g[..n]);
    for i in 0..n {
        out[i] = update.update(west[i], east[i], south[i], north[i], g[i]);
    }
}

/// Updates a row of points into `out`, and adds their changes to `changes`.
#[inline(always)]
pub(super) fn update_row_and_measure<R: Real, U: Update<R>>(
    update: U,
    rows: Rows<'_, R>,
    out: &mut [R],
    changes: &mut Lanes,
) {
    let n = out.len();
    let (west, own, east) = (&rows.centre[..n], &rows.centre[1..=n], &rows.centre[2..n + 2]);
    let (south, north, g) = (&rows.south[..n], &rows.north[..n], &rows.g[..n]);
    let whole = n - n % LANES;
    for start in (0..whole).step_by(LANES) {
        for lane in 0..LANES {
            let i = start + lane;
            out[i] = update.update(west[i], east[i], south[i], north[i], g[i]);
            changes.add(lane, (out[i] - own[i]).to_f64());
        }
    }
    for i in whole..n {
        out[i] = update.update(west[i], east[i], south[i], north[i], g[i]);
        changes.add(i - whole, (out[i] - own[i]).to_f64());
    }
}
