//! What the tiles of a field have in common: how large it is at which distance from their borders,
//! and the mean tile. One pass over the field finds both, on every back end to the last bit.
//!
//! Magnitudes are those of samples, rounded to `f32`. A bin of the histograms is what the first 11
//! bits after the sign say: an eighth of an octave, so that a quartile is told to within 6.25 %. The
//! sums of the mean tile are made in `f64` in a fixed order: of a row, [`TOGETHER`] tiles at a time
//! from left to right, then those sums from left to right, and the rows from the top down.

use super::{Quantity, Samples, Solver, SolverError, Window};
use crate::grid::{AxisTiling, Shape, Tiling};
use std::ops::RangeInclusive;

/// Bins of a histogram of magnitudes.
pub(super) const BINS: usize = 1 << 11;

/// Bits of an `f32` below those that say the bin.
const BELOW: u32 = 20;

/// The first bin of what is infinite or not a number.
const NOT_FINITE: usize = (f32::INFINITY.to_bits() >> BELOW) as usize;

/// Distances that are told apart at the most; of larger tiles, a few are taken together.
const MOST_CLASSES: usize = 64;

/// The class of a point on an axis without borders: every other is nearer.
pub(super) const NO_BORDER: u16 = u16::MAX;

/// The longest side of a tile of which the mean is made.
pub const LONGEST_FOLDED: usize = 512;

/// Tiles of a row whose values are added up by themselves.
pub(super) const TOGETHER: usize = 32;

/// Rows that are looked at together, where a field is read as samples.
const BAND: usize = 128;

/// How the magnitudes of a field lie about the borders of its tiles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// By distance from the nearest border, the nearest first; empty where there is one tile only.
    pub distances: Vec<AtDistance>,
    /// `None` for tiles with a side longer than [`LONGEST_FOLDED`].
    pub mean_tile: Option<MeanTile>,
}

/// The magnitudes of a field at a distance from the nearest tile border.
#[derive(Clone, Debug, PartialEq)]
pub struct AtDistance {
    /// The distances, as [`Tiling::distance`] counts them: a single one, unless tiles are large.
    pub distances: RangeInclusive<usize>,
    /// How many points lie there.
    pub points: u64,
    /// The lower quartile, the median and the upper quartile of |field|: of N magnitudes in rising
    /// order, those at ⌈N/4⌉, ⌈N/2⌉ and ⌈3N/4⌉, each as the middle of its bin (within 6.25 %).
    /// What is not finite counts as infinite.
    pub quartiles: [f32; 3],
}

/// The magnitude of a field, folded onto one tile: at each place of the tile the mean over all
/// tiles that own their point there. Places count from the first point that a tile computes, so
/// that a last tile, which is moved back, takes part with the points that it owns. What an inner
/// tile computes and does not own is told by the tiles at the ends of the grid alone, and where no
/// tile owns a point, nothing is known.
#[derive(Clone, Debug, PartialEq)]
pub struct MeanTile {
    /// Points across and down; one down for lines.
    pub size: [usize; 2],
    /// The means, row by row. NaN: not known.
    pub means: Vec<f32>,
    /// Of each column and each row of the tile, how many tiles of their axis own it.
    owners: [Vec<u64>; 2],
}

impl MeanTile {
    /// The means as samples of a tile.
    pub fn samples(self) -> Samples {
        let Self { size, means, .. } = self;
        Samples { columns: 0..size[0], rows: 0..size[1], block: [1, 1], size, values: means }
    }

    /// The mean at a place of the tile.
    ///
    /// # Panics
    /// If the place lies outside of the tile.
    pub fn at(&self, i: usize, j: usize) -> f32 {
        self.means[j * self.size[0] + i]
    }

    /// Over how many tiles the mean at a place is taken (of lines: tiles of all copies).
    ///
    /// # Panics
    /// If the place lies outside of the tile.
    pub fn tiles(&self, i: usize, j: usize) -> u64 {
        self.owners[0][i] * self.owners[1][j]
    }
}

/// How the points of a grid are sorted: what all back ends go by.
pub(super) struct Sorting {
    /// The tiles of both axes; the copies of a line are rows of tiles of one point.
    pub axes: [AxisTiling; 2],
    /// Of each column and each row, the class of its distance from a border.
    pub classes: [Vec<u16>; 2],
    /// How many classes there are; 0 where there are no borders.
    pub count: usize,
    /// Distances that make a class.
    width: usize,
    /// Whether the mean tile is made.
    pub folds: bool,
}

impl Sorting {
    /// How a grid of this shape is sorted by its tiles.
    pub fn new(shape: &Shape, tiling: &Tiling) -> Self {
        let x = tiling.x().clone();
        let longest = |axis: &AxisTiling| (axis.count() > 1).then(|| farthest(axis));
        let far = longest(&x).into_iter().chain(tiling.y().and_then(longest)).min().unwrap_or(0);
        let width = far.div_ceil(MOST_CLASSES).max(1);
        let columns = classes(&x, width);
        let (y, rows) = match tiling.y() {
            Some(y) => (y.clone(), classes(y, width)),
            None => (AxisTiling::single_points(shape.rows()), vec![NO_BORDER; shape.rows()]),
        };
        let folds = x.tile().max(y.tile()) <= LONGEST_FOLDED;
        let count = far.div_ceil(width);
        Self { axes: [x, y], classes: [columns, rows], count, width, folds }
    }

    /// Points across and down of the mean tile.
    pub fn tile(&self) -> [usize; 2] {
        self.axes.each_ref().map(AxisTiling::tile)
    }

    /// Takes together what was counted (of each class, the points in each bin) and summed up (at
    /// each place of the tile, the magnitudes there).
    pub fn finish(&self, counts: &[u64], sums: &[f64]) -> Statistics {
        let class = |(class, bins): (usize, &[u64])| AtDistance {
            distances: class * self.width + 1..=(class + 1) * self.width,
            points: bins.iter().sum(),
            quartiles: quartiles(bins),
        };
        let distances = counts.chunks(BINS).enumerate().map(class).collect();
        Statistics { distances, mean_tile: self.folds.then(|| self.mean_tile(sums)) }
    }

    fn mean_tile(&self, sums: &[f64]) -> MeanTile {
        let owners = self.axes.each_ref().map(owners);
        let count = |at: usize| owners[0][at % owners[0].len()] * owners[1][at / owners[0].len()];
        let mean = |(at, sum): (usize, &f64)| (sum / count(at) as f64) as f32;
        MeanTile { size: self.tile(), means: sums.iter().enumerate().map(mean).collect(), owners }
    }
}

/// The farthest that a point of an axis with borders lies from one.
fn farthest(axis: &AxisTiling) -> usize {
    let far = |tile: usize| {
        let owned = axis.owned(tile).len();
        let is_at_end = tile == 0 || tile + 1 == axis.count();
        if is_at_end { owned } else { owned.div_ceil(2) }
    };
    (0..axis.count()).map(far).max().unwrap_or(0)
}

/// The class of each point of an axis, `width` distances making one.
fn classes(axis: &AxisTiling, width: usize) -> Vec<u16> {
    if axis.count() == 1 {
        return vec![NO_BORDER; axis.n()];
    }
    let of_tile = |tile: usize| {
        let owned = axis.owned(tile);
        let (first, last) = (tile == 0, tile + 1 == axis.count());
        owned.clone().map(move |i| {
            let left = if first { usize::MAX } else { i - owned.start };
            let right = if last { usize::MAX } else { owned.end - 1 - i };
            u16::try_from(left.min(right) / width).unwrap_or(NO_BORDER)
        })
    };
    (0..axis.count()).flat_map(of_tile).collect()
}

/// How many tiles own each of their points.
fn owners(axis: &AxisTiling) -> Vec<u64> {
    let mut owners = vec![0; axis.tile()];
    for tile in 0..axis.count() {
        let (start, owned) = (axis.computed(tile).start, axis.owned(tile));
        owners[owned.start - start..owned.end - start].iter_mut().for_each(|count| *count += 1);
    }
    owners
}

/// The bin of a magnitude.
fn bin(value: f32) -> usize {
    (value.abs().to_bits() >> BELOW) as usize
}

/// What stands for the magnitudes of a bin: its middle.
fn middle(bin: usize) -> f32 {
    match bin {
        0 => 0.0,
        NOT_FINITE.. => f32::INFINITY,
        _ => f32::from_bits((bin as u32) << BELOW | 1 << (BELOW - 1)),
    }
}

/// The quartiles of what was counted; NaN of nothing.
fn quartiles(bins: &[u64]) -> [f32; 3] {
    let all: u64 = bins.iter().sum();
    [1, 2, 3].map(|quarter| {
        let rank = (all * quarter).div_ceil(4);
        let mut passed = 0;
        let found = bins.iter().position(|count| {
            passed += count;
            passed >= rank && passed > 0
        });
        found.map_or(f32::NAN, middle)
    })
}

/// Sorts a field that is read as samples: for every back end that has no faster way.
pub(super) fn of_samples<S: Solver + ?Sized>(
    solver: &S,
    shape: &Shape,
    quantity: Quantity<'_>,
    tiling: &Tiling,
) -> Result<Statistics, SolverError> {
    let sorting = Sorting::new(shape, tiling);
    let mut tally = Tally::new(&sorting);
    for start in (0..shape.rows()).step_by(BAND) {
        let rows = start..(start + BAND).min(shape.rows());
        let most = [shape.nx(), rows.len()];
        let window = Window { columns: 0..shape.nx(), rows: rows.clone(), most };
        let samples = solver.sample(quantity, &window)?;
        for (row, values) in rows.zip(samples.values.chunks(shape.nx())) {
            tally.add(row, values);
        }
    }
    Ok(sorting.finish(&tally.counts, &tally.sums))
}

/// Counts and sums, while rows are added from the top down.
struct Tally<'a> {
    sorting: &'a Sorting,
    /// Where the histogram of each column's class begins.
    columns: Vec<usize>,
    counts: Vec<u64>,
    sums: Vec<f64>,
    /// The sums of some tiles of a row.
    together: Vec<f64>,
}

impl<'a> Tally<'a> {
    fn new(sorting: &'a Sorting) -> Self {
        let [width, height] = if sorting.folds { sorting.tile() } else { [0, 0] };
        Self {
            sorting,
            columns: sorting.classes[0].iter().map(|&class| usize::from(class) * BINS).collect(),
            counts: vec![0; sorting.count * BINS],
            sums: vec![0.0; width * height],
            together: vec![0.0; width],
        }
    }

    fn add(&mut self, row: usize, values: &[f32]) {
        if self.sorting.count > 0 {
            // The nearer border counts: of two classes the lower, whose histogram begins first.
            let class = usize::from(self.sorting.classes[1][row]) * BINS;
            for (value, column) in values.iter().zip(&self.columns) {
                self.counts[class.min(*column) + bin(*value)] += 1;
            }
        }
        if self.sorting.folds {
            self.fold(row, values);
        }
    }

    fn fold(&mut self, row: usize, values: &[f32]) {
        let [x, y] = &self.sorting.axes;
        let down = row - y.computed(y.owner(row)).start;
        let sums = &mut self.sums[down * x.tile()..][..x.tile()];
        for first in (0..x.count()).step_by(TOGETHER) {
            self.together.fill(0.0);
            for tile in first..(first + TOGETHER).min(x.count()) {
                let (start, owned) = (x.computed(tile).start, x.owned(tile));
                let together = &mut self.together[owned.start - start..owned.end - start];
                for (sum, value) in together.iter_mut().zip(&values[owned]) {
                    *sum += f64::from(value.abs());
                }
            }
            for (sum, together) in sums.iter_mut().zip(&self.together) {
                *sum += together;
            }
        }
    }
}
