//! What the tiles of a field have in common: how large it is at each distance from their borders,
//! and the mean tile. One pass over the field finds both, on every back end to the last bit.
//!
//! Magnitudes are those of samples, rounded to `f32`. A bin of the histograms is what the first 11
//! bits after the sign say: an eighth of an octave, so that a quartile is known to within 6.25 %. The
//! sums of the mean tile are made in `f64` in a fixed order: of a row, [`TOGETHER`] tiles at a time
//! from left to right, then those sums from left to right, and the rows from the top down.
//!
//! Tiles at the boundary of the grid are left out ([`AxisTiling::is_inner`]): there the field is governed
//! by the boundary values, which would hide how it depends on the distance from a tile border.

use super::Samples;
#[cfg(feature = "cuda")]
use super::{Observe, Quantity, SolverError, Window};
use crate::grid::{AxisTiling, Shape, Tiling};
use std::ops::{Range, RangeInclusive};

/// Bins of a histogram of magnitudes.
pub(super) const BINS: usize = 1 << 11;

/// Bits of an `f32` below those that say the bin.
const BELOW: u32 = 20;

/// The first bin of what is infinite or not a number.
const NOT_FINITE: usize = (f32::INFINITY.to_bits() >> BELOW) as usize;

/// The most classes of distances; in larger tiles a class holds several distances.
const MOST_CLASSES: usize = 64;

/// The class of points that are left out. It is the lowest, so that it outweighs the class that a point
/// has along the other axis; distances follow it.
const LEFT_OUT: u16 = 0;

/// The class of a point on an axis without borders: every other is nearer.
const NO_BORDER: u16 = u16::MAX;

/// The longest side of a tile of which the mean is made.
pub const LONGEST_FOLDED: usize = 512;

/// Tiles of a row whose values are added up by themselves.
pub(super) const TOGETHER: usize = 32;

/// Rows that are sampled together, where a field is read as samples.
#[cfg(feature = "cuda")]
const BAND: usize = 128;

/// The magnitudes of a field by distance from tile borders, and in the mean tile.
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

impl AtDistance {
    /// The middle of its distances.
    pub fn middle(&self) -> f64 {
        (self.distances.start() + self.distances.end()) as f64 / 2.0
    }
}

/// The magnitude of a field, folded onto one tile: at each place of the tile the mean over all
/// inner tiles that own their point there. Places count from the first point that a tile computes.
/// Where no tile owns a point, the mean is NaN.
#[derive(Clone, Debug, PartialEq)]
pub struct MeanTile {
    /// Points across and down; one down in 1D.
    pub size: [usize; 2],
    /// The means, row by row. NaN: not known.
    pub means: Vec<f32>,
    /// For each column and each row of the tile, how many inner tiles of their axis own it.
    owners: [Vec<u64>; 2],
}

impl MeanTile {
    /// The means as samples of a tile.
    pub fn samples(self) -> Samples {
        let Self { size, means, .. } = self;
        let (columns, rows) = (0..size[0], 0..size[1]);
        Samples { columns, rows, slice: None, block: [1, 1], size, values: means }
    }

    /// The mean at a place of the tile.
    ///
    /// # Panics
    /// If the place lies outside of the tile.
    pub fn at(&self, i: usize, j: usize) -> f32 {
        self.means[j * self.size[0] + i]
    }

    /// Over how many tiles the mean at a place is taken (in 1D: tiles of all systems).
    ///
    /// # Panics
    /// If the place lies outside of the tile.
    pub fn tiles(&self, i: usize, j: usize) -> u64 {
        self.owners[0][i] * self.owners[1][j]
    }
}

/// How the points of a grid are sorted, the same on all back ends.
pub(super) struct Sorting {
    /// The tiles of both axes; in 1D, the systems of a batch are rows of tiles of one point.
    pub axes: [AxisTiling; 2],
    /// For each column and each row, the class of its distance from a border. The class of a point is the
    /// lower one.
    pub classes: [Vec<u16>; 2],
    /// How many classes there are, with [`LEFT_OUT`]; 0 where there are no borders.
    pub count: usize,
    /// Distances that make a class.
    width: usize,
    /// xy-planes that are folded onto one another; in 1D and 2D the only one.
    pub planes: Range<usize>,
    /// Whether the mean tile is made.
    pub folds: bool,
    /// For each tile of a row, which of its points are folded, and the columns that these are: those that it
    /// owns, of an inner tile.
    owned: Vec<[Range<usize>; 2]>,
}

impl Sorting {
    /// How a grid of this shape is sorted by its tiles.
    pub fn new(shape: &Shape, tiling: &Tiling) -> Self {
        let x = tiling.x().clone();
        let longest = |axis: &AxisTiling| (axis.count() > 1).then(|| farthest(axis));
        let far = tiling.axes().iter().filter_map(longest).min().unwrap_or(0);
        let width = far.div_ceil(MOST_CLASSES).max(1);
        let columns = classes(&x, width);
        let (y, rows) = match tiling.y() {
            Some(y) => (y.clone(), row_classes(tiling, width)),
            None => (AxisTiling::single_points(shape.rows()), vec![NO_BORDER; shape.rows()]),
        };
        let folds = x.tile().max(y.tile()) <= LONGEST_FOLDED;
        let count = if far > 0 { 1 + far.div_ceil(width) } else { 0 };
        let owned = (0..x.count()).map(|tile| match x.is_inner(tile) {
            true => {
                let (start, owned) = (x.computed(tile).start, x.owned(tile));
                [owned.start - start..owned.end - start, owned]
            }
            false => [0..0, 0..0],
        });
        let owned = owned.collect();
        let planes = tiling.axes().get(2).map_or(0..shape.nz(), AxisTiling::inner);
        Self { axes: [x, y], classes: [columns, rows], count, width, planes, folds, owned }
    }

    /// How the rows of a matrix are sorted that is cut into blocks: by the steps to the border of their block; those
    /// that no step leads out of are left out ([`steps_to_border`](crate::problem::matrix::steps_to_border)).
    pub fn of_rows(shape: &Shape, tiling: &Tiling, steps: &[u32]) -> Self {
        let far = steps.iter().max().map_or(0, |far| *far as usize);
        let width = far.div_ceil(MOST_CLASSES).max(1);
        let class = |steps: &u32| match (*steps as usize).checked_sub(1) {
            Some(inside) => (inside / width) as u16 + LEFT_OUT + 1,
            None => LEFT_OUT,
        };
        let classes = [steps.iter().map(class).collect(), vec![NO_BORDER]];
        let count = if far > 0 { 1 + far.div_ceil(width) } else { 0 };
        Self { classes, count, width, ..Self::new(shape, tiling) }
    }

    /// Points across and down of the mean tile.
    pub fn tile(&self) -> [usize; 2] {
        self.axes.each_ref().map(AxisTiling::tile)
    }

    /// Sums that [`Sorting::fold`] makes of a row: those of some tiles at each column of the tile.
    pub fn sums_of_row(&self) -> usize {
        if self.folds { self.owned.len().div_ceil(TOGETHER) * self.tile()[0] } else { 0 }
    }

    /// Folds a row onto a row of the mean tile, [`TOGETHER`] tiles at a time, and adds those sums at the
    /// end of `sums`.
    #[inline(always)]
    pub fn fold(&self, values: &[f32], sums: &mut Vec<f64>) {
        if !self.folds {
            return;
        }
        let width = self.axes[0].tile();
        for tiles in self.owned.chunks(TOGETHER) {
            let first = sums.len();
            sums.resize(first + width, 0.0);
            let sums = &mut sums[first..];
            for [owned, columns] in tiles {
                let values = &values[columns.clone()];
                for (sum, value) in sums[owned.clone()].iter_mut().zip(values) {
                    *sum += f64::from(value.abs());
                }
            }
        }
    }

    /// The sums of the mean tile, of no rows yet.
    pub fn no_sums(&self) -> Vec<f64> {
        let [width, height] = if self.folds { self.tile() } else { [0, 0] };
        vec![0.0; width * height]
    }

    /// Adds what was folded of a row to the sums of the mean tile: rows from the top down.
    pub fn add(&self, row: usize, folded: &[f64], sums: &mut [f64]) {
        let [x, y] = &self.axes;
        // In 3D the mean is taken over z, too.
        let (plane, row) = (row / y.n(), row % y.n());
        let tile = y.owner(row);
        if !(self.planes.contains(&plane) && y.is_inner(tile)) {
            return;
        }
        let down = row - y.computed(tile).start;
        for together in folded.chunks(x.tile()) {
            for (sum, together) in sums[down * x.tile()..].iter_mut().zip(together) {
                *sum += together;
            }
        }
    }

    /// Combines what was counted (of each class, the points in each bin) and summed up (at
    /// each place of the tile, the magnitudes there).
    pub fn finish(&self, counts: &[u64], sums: &[f64]) -> Statistics {
        let class = |(class, bins): (usize, &[u64])| AtDistance {
            distances: class * self.width + 1..=(class + 1) * self.width,
            points: bins.iter().sum(),
            quartiles: quartiles(bins),
        };
        let distances = counts.chunks(BINS).skip(usize::from(LEFT_OUT) + 1);
        let distances = distances.enumerate().map(class).collect();
        Statistics { distances, mean_tile: self.folds.then(|| self.mean_tile(sums)) }
    }

    fn mean_tile(&self, sums: &[f64]) -> MeanTile {
        let mut owners = self.axes.each_ref().map(owners);
        owners[1].iter_mut().for_each(|count| *count *= self.planes.len() as u64);
        let count = |at: usize| owners[0][at % owners[0].len()] * owners[1][at / owners[0].len()];
        let mean = |(at, sum): (usize, &f64)| (sum / count(at) as f64) as f32;
        MeanTile { size: self.tile(), means: sums.iter().enumerate().map(mean).collect(), owners }
    }
}

/// The farthest that a point of an axis with borders lies from one, of those that are not left out.
fn farthest(axis: &AxisTiling) -> usize {
    let far = |tile: usize| {
        let owned = axis.owned(tile).len();
        let is_at_end = tile == 0 || tile + 1 == axis.count();
        if is_at_end { owned } else { owned.div_ceil(2) }
    };
    let inner = (0..axis.count()).filter(|tile| axis.is_inner(*tile));
    inner.map(far).max().unwrap_or(0)
}

/// The class of each point of an axis, `width` distances making one.
fn classes(axis: &AxisTiling, width: usize) -> Vec<u16> {
    if axis.count() == 1 {
        return vec![NO_BORDER; axis.n()];
    }
    let of_tile = |tile: usize| {
        let (owned, is_inner) = (axis.owned(tile), axis.is_inner(tile));
        let (first, last) = (tile == 0, tile + 1 == axis.count());
        owned.clone().map(move |i| {
            if !is_inner {
                return LEFT_OUT;
            }
            let left = if first { usize::MAX } else { i - owned.start };
            let right = if last { usize::MAX } else { owned.end - 1 - i };
            let class = left.min(right) / width + usize::from(LEFT_OUT) + 1;
            u16::try_from(class).unwrap_or(NO_BORDER)
        })
    };
    (0..axis.count()).flat_map(of_tile).collect()
}

/// The class of each row of a 2D or 3D grid: of its distances along y and z the nearer.
fn row_classes(tiling: &Tiling, width: usize) -> Vec<u16> {
    let along_y = tiling.y().map_or_else(Vec::new, |y| classes(y, width));
    let Some(z) = tiling.axes().get(2) else {
        return along_y;
    };
    let nearer = |z: u16| along_y.iter().map(move |y| z.min(*y));
    classes(z, width).into_iter().flat_map(nearer).collect()
}

/// How many inner tiles own each of their points.
fn owners(axis: &AxisTiling) -> Vec<u64> {
    let mut owners = vec![0; axis.tile()];
    for tile in (0..axis.count()).filter(|tile| axis.is_inner(*tile)) {
        let (start, owned) = (axis.computed(tile).start, axis.owned(tile));
        owners[owned.start - start..owned.end - start].iter_mut().for_each(|count| *count += 1);
    }
    owners
}

/// The bin of a magnitude.
#[inline(always)]
fn bin(value: f32) -> u32 {
    value.abs().to_bits() >> BELOW
}

/// What stands for the magnitudes of a bin: its middle.
fn middle(bin: usize) -> f32 {
    match bin {
        0 => 0.0,
        NOT_FINITE.. => f32::INFINITY,
        _ => f32::from_bits((bin as u32) << BELOW | 1 << (BELOW - 1)),
    }
}

/// The quartiles of what was counted; NaN if nothing was.
fn quartiles(bins: &[u64]) -> [f32; 3] {
    let all: u64 = bins.iter().sum();
    let mut found = [f32::NAN; 3];
    let mut left = (1..=3).map(|quarter| (all * quarter).div_ceil(4)).zip(&mut found).peekable();
    let mut passed = 0;
    for (bin, count) in bins.iter().enumerate().filter(|(_, count)| **count > 0) {
        passed += count;
        while let Some((_, quartile)) = left.next_if(|(rank, _)| *rank <= passed) {
            *quartile = middle(bin);
        }
    }
    found
}

/// Sorts a field that is read as samples: slower, without a limit on points or tiles.
#[cfg(feature = "cuda")]
pub(super) fn of_samples<S: Observe + ?Sized>(
    solver: &S,
    shape: &Shape,
    quantity: Quantity<'_>,
    tiling: &Tiling,
) -> Result<Statistics, SolverError> {
    let sorting = Sorting::new(shape, tiling);
    let (mut tally, mut sums) = (Tally::new(&sorting), sorting.no_sums());
    let mut folded = Vec::new();
    for start in (0..shape.rows()).step_by(BAND) {
        let rows = start..(start + BAND).min(shape.rows());
        let most = [shape.nx(), rows.len()];
        let window = Window { columns: 0..shape.nx(), rows: rows.clone(), slice: None, most };
        let values = solver.sample(quantity, &window)?.values;
        tally.count(start, &values);
        for (row, values) in rows.zip(values.chunks(shape.nx())) {
            folded.clear();
            sorting.fold(values, &mut folded);
            sorting.add(row, &folded, &mut sums);
        }
    }
    Ok(sorting.finish(&Tally::together(vec![tally]), &sums))
}

/// How many points of each class are in each bin, while rows are added in whichever order.
pub(super) struct Tally<'a> {
    sorting: &'a Sorting,
    /// For each class, the points in each bin.
    counts: Vec<u64>,
    /// For some rows, where each of their points is counted.
    places: Vec<u32>,
}

impl<'a> Tally<'a> {
    pub fn new(sorting: &'a Sorting) -> Self {
        Self { sorting, counts: vec![0; sorting.count * BINS], places: Vec::new() }
    }

    /// Combines the counts of several.
    pub fn together(tallies: Vec<Self>) -> Vec<u64> {
        let mut counts = tallies.into_iter().map(|tally| tally.counts);
        let mut all = counts.next().unwrap_or_default();
        for counts in counts {
            all.iter_mut().zip(counts).for_each(|(all, count)| *all += count);
        }
        all
    }

    /// Adds some rows, from the row `first` on, that lie one below another.
    #[inline(always)]
    pub fn count(&mut self, first: usize, values: &[f32]) {
        if self.sorting.count == 0 {
            return;
        }
        let [columns, rows] = &self.sorting.classes;
        let nx = columns.len();
        self.places.resize(values.len(), 0);
        let lines = self.places.chunks_exact_mut(nx).zip(values.chunks_exact(nx));
        for ((places, values), row) in lines.zip(&rows[first..]) {
            for ((place, value), column) in places.iter_mut().zip(values).zip(columns) {
                // The nearer border counts: of two classes the lower.
                *place = u32::from((*row).min(*column)) * BINS as u32 + bin(*value);
            }
        }
        for some in self.places.chunks(4 * nx) {
            match some.len() / nx {
                4 => count_rows::<4>(&mut self.counts, some, nx),
                _ => some.chunks(nx).for_each(|row| count_rows::<1>(&mut self.counts, row, nx)),
            }
        }
    }
}

/// Counts the points of rows of `nx`, by their places. Down, and not along the rows: neighbours in a row
/// often fall into one bin, and the second would wait until the first is counted.
#[inline(never)]
fn count_rows<const ROWS: usize>(counts: &mut [u64], places: &[u32], nx: usize) {
    let rows: [_; ROWS] = std::array::from_fn(|row| &places[row * nx..][..nx]);
    for column in 0..nx {
        for row in rows {
            counts[row[column] as usize] += 1;
        }
    }
}
