//! Fields along a line of the grid.

use super::field::FieldKind;
use crate::grid::{Shape, Slice, Tiling};
use crate::solver::Samples;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A line of points of the grid; in 3D of a slice, whose columns and rows it counts.
///
/// Its methods take the grid that is shown, with its tiles: of a 3D grid the slice ([`Shape::shown`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutLine {
    /// All points of a row; in 1D, one system of the batch.
    Row(usize),
    /// All points of a column.
    Column(usize),
    /// The points of a 2D grid (column, row) nearest to a straight line from one of them to another; see
    /// [`points`](Self::points).
    Segment([[usize; 2]; 2]),
}

/// A field along a line: one sample for each point, or the one of largest magnitude for some.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldProfile {
    /// The line.
    pub line: CutLine,
    /// In 3D, the slice in which it lies.
    pub slice: Option<Slice>,
    /// The field.
    pub field: FieldKind,
    /// Its samples. NaN: not known at this cycle.
    pub samples: Samples,
}

/// The points from one to another, both included, as [`CutLine::points`] says.
fn walk([from, to]: [[usize; 2]; 2]) -> impl ExactSizeIterator<Item = [usize; 2]> {
    let steps = from[0].abs_diff(to[0]).max(from[1].abs_diff(to[1]));
    let at = move |step: usize, axis: usize| {
        let (from, to) = (from[axis], to[axis]);
        // A tie rounds upwards, so on the way down it stays behind.
        let half = steps - usize::from(to < from);
        // In 64 bits, also where a page has indices of 32.
        let twice = 2 * step as u64 * from.abs_diff(to) as u64;
        let moved = ((twice + half as u64) / (2 * steps as u64).max(1)) as usize;
        if to < from { from - moved } else { from + moved }
    };
    (0..steps + 1).map(move |step| [at(step, 0), at(step, 1)])
}

impl CutLine {
    /// The same line where the grid has it, or else its last one; for a segment, ends that the grid has.
    #[must_use]
    pub fn within(self, shape: &Shape) -> Self {
        let last = [shape.nx() - 1, shape.rows() - 1];
        match self {
            Self::Row(row) => Self::Row(row.min(last[1])),
            Self::Column(column) => Self::Column(column.min(last[0])),
            Self::Segment(ends) => {
                Self::Segment(ends.map(|[i, row]| [i.min(last[0]), row.min(last[1])]))
            }
        }
    }

    /// In 2D the middle row, in 1D the first system of the batch.
    pub fn middle(shape: &Shape) -> Self {
        Self::Row(if shape.dim() == 1 { 0 } else { shape.rows() / 2 })
    }

    /// From the first point of a 2D grid to the last.
    pub fn diagonal(shape: &Shape) -> Self {
        Self::Segment([[0, 0], [shape.nx() - 1, shape.rows() - 1]])
    }

    /// The line from one point to another: a row or a column, where it is all of one.
    pub fn between(ends: [[usize; 2]; 2], shape: &Shape) -> Self {
        let [[i, row], _] = ends;
        let whole = [Self::Row(row), Self::Column(i)].into_iter().find(|it| it.ends(shape) == ends);
        whole.unwrap_or(Self::Segment(ends))
    }

    /// Its first and its last point that the grid has.
    pub fn ends(self, shape: &Shape) -> [[usize; 2]; 2] {
        match self.within(shape) {
            Self::Row(row) => [[0, row], [shape.nx() - 1, row]],
            Self::Column(column) => [[column, 0], [column, shape.rows() - 1]],
            Self::Segment(ends) => ends,
        }
    }

    /// All its points, in order (Bresenham's line): one for each step along its longer axis, and along
    /// the other axis the nearest to the straight line. Where two are as near, it is the one of the
    /// larger index, whichever end comes first: the way back has the same points.
    pub fn points(self, shape: &Shape) -> impl ExactSizeIterator<Item = [usize; 2]> + use<> {
        walk(self.ends(shape))
    }

    /// Where one of its points lies along it: the index along a row or a column; along a segment the
    /// distance from its start, in steps of the grid.
    pub fn place(self, [i, row]: [usize; 2]) -> f64 {
        match self {
            Self::Row(_) => i as f64,
            Self::Column(_) => row as f64,
            Self::Segment([[from, from_row], _]) => {
                (i.abs_diff(from) as f64).hypot(row.abs_diff(from_row) as f64)
            }
        }
    }

    /// The label of an axis for [`place`](Self::place).
    pub fn axis_label(self, slice: Option<Slice>) -> String {
        let [across, down] = Slice::index_names(slice);
        match self {
            Self::Row(_) => across.to_owned(),
            Self::Column(_) => down.to_owned(),
            Self::Segment([[i, row], _]) => format!("distance from ({i}, {row}) in grid steps"),
        }
    }

    /// Where it passes from one tile to another: halfway between two of its points that have other
    /// owners.
    pub fn borders(self, shape: &Shape, tiling: &Tiling) -> Vec<f64> {
        self.crossings(shape, |point| tiling.owner(point))
    }

    /// Where it passes from one device to another, which meet at these columns and at these rows.
    pub fn device_borders(self, shape: &Shape, borders: &[Vec<usize>; 2]) -> Vec<f64> {
        self.crossings(shape, |point| {
            [0, 1].map(|axis| borders[axis].partition_point(|border| *border <= point[axis]))
        })
    }

    /// Halfway between two of its points that have other owners.
    fn crossings<T: PartialEq>(self, shape: &Shape, owner: impl Fn([usize; 2]) -> T) -> Vec<f64> {
        let pairs = self.points(shape).zip(self.points(shape).skip(1));
        let crossed = pairs.filter(|&(one, next)| owner(one) != owner(next));
        crossed.map(|(one, next)| (self.place(one) + self.place(next)) / 2.0).collect()
    }

    /// The axis of its samples: 1 for those of a column, which lie one below another.
    pub(in crate::run) fn axis(self) -> usize {
        usize::from(matches!(self, Self::Column(_)))
    }

    /// Points that one of its samples stands for.
    pub fn block(self, samples: &Samples) -> usize {
        samples.block[self.axis()]
    }

    /// Whether the grid has it.
    ///
    /// # Errors
    /// A sentence that says which lines the grid has.
    pub fn check(self, shape: &Shape, slice: Option<Slice>) -> Result<(), String> {
        let [i, j] = Slice::index_names(slice);
        match self {
            Self::Column(_) if shape.dim() == 1 => {
                Err("a 1D grid has no columns to cut along".into())
            }
            Self::Segment(_) if shape.dim() == 1 => {
                Err("on a 1D grid it must be a row, such as j=0".into())
            }
            Self::Row(row) if row >= shape.rows() => {
                Err(format!("rows are {j}=0 to {j}={}", shape.rows() - 1))
            }
            Self::Column(column) if column >= shape.nx() => {
                Err(format!("columns are {i}=0 to {i}={}", shape.nx() - 1))
            }
            Self::Segment(_) if self.within(shape) != self => {
                let CutLine::Segment([_, [i, row]]) = Self::diagonal(shape) else { return Ok(()) };
                Err(format!("its ends are points 0,0 to {i},{row}"))
            }
            _ => Ok(()),
        }
    }

    /// Its text on the command line, with the indices of a slice by their names.
    pub fn text(self, slice: Option<Slice>) -> String {
        let [i, j] = Slice::index_names(slice);
        match self {
            Self::Row(row) => format!("{j}={row}"),
            Self::Column(column) => format!("{i}={column}"),
            Self::Segment([[i, row], [to, to_row]]) => format!("{i},{row}:{to},{to_row}"),
        }
    }
}

impl fmt::Display for CutLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(None))
    }
}

impl FieldProfile {
    /// Where each sample lies along the line, the middle of the points that it stands for, and its
    /// value. `shape` is that of what is shown of the grid.
    pub fn points(&self, shape: &Shape) -> Vec<[f64; 2]> {
        let places: Vec<_> = self.line.points(shape).map(|point| self.line.place(point)).collect();
        let blocks = places.chunks(self.line.block(&self.samples));
        let middle = |block: &[f64]| (block[0] + block[block.len() - 1]) / 2.0;
        blocks
            .zip(&self.samples.values)
            .map(|(block, &value)| [middle(block), value.into()])
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ends() -> impl Strategy<Value = [[usize; 2]; 2]> {
        let point = || [0..60_usize, 0..60_usize];
        [point(), point()]
    }

    proptest! {
        #[test]
        fn a_segment_has_a_point_for_each_step_of_its_longer_axis(ends in ends()) {
            let points: Vec<_> = walk(ends).collect();
            prop_assert_eq!([points[0], points[points.len() - 1]], ends);
            let [along, across] = [0, 1].map(|axis| ends[0][axis].abs_diff(ends[1][axis]));
            let steps = along.max(across);
            prop_assert_eq!(points.len(), steps + 1);
            for pair in points.windows(2) {
                let moved = [0, 1].map(|axis| pair[0][axis].abs_diff(pair[1][axis]));
                prop_assert_eq!(moved[0].max(moved[1]), 1);
            }
            // None is farther from the straight line than half a step.
            for (step, point) in points.iter().enumerate() {
                for axis in 0..2 {
                    let there = ends[0][axis] * (steps - step) + ends[1][axis] * step;
                    prop_assert!(2 * there.abs_diff(point[axis] * steps) <= steps);
                }
            }
            let back: Vec<_> = walk([ends[1], ends[0]]).collect();
            prop_assert!(back.iter().rev().eq(&points));
        }

        #[test]
        fn borders_lie_where_the_owner_changes(
            ends in ends(),
            tile in 3..30_usize,
            overlap in 0..8_usize,
        ) {
            let shape = Shape::grid_2d(60, 60).unwrap();
            let overlap = 2 * overlap.min((tile - 2) / 2);
            let tiling = Tiling::new(&[60, 60], &[tile; 2], &[overlap; 2]).unwrap();
            let segment = CutLine::Segment(ends);
            let borders = segment.borders(&shape, &tiling);
            let places: Vec<_> = segment.points(&shape).map(|point| segment.place(point)).collect();
            prop_assert!(places.windows(2).all(|pair| pair[0] < pair[1]));
            for (pair, points) in places.windows(2).zip(walk(ends).zip(walk(ends).skip(1))) {
                let is_crossed = borders.iter().any(|&it| pair[0] < it && it < pair[1]);
                let owner = |[i, j]: [usize; 2]| [tiling.x().owner(i), tiling.axes()[1].owner(j)];
                prop_assert_eq!(is_crossed, owner(points.0) != owner(points.1));
            }
            // Of a row and a column they are those of the axis, each before the point of its number.
            for (line, axis) in [(CutLine::Row(ends[0][1]), 0), (CutLine::Column(ends[0][0]), 1)] {
                let expected = tiling.axes()[axis].borders().map(|border| border as f64 - 0.5);
                prop_assert!(line.borders(&shape, &tiling).into_iter().eq(expected));
            }
        }
    }

    #[test]
    fn a_tie_goes_to_the_larger_index() {
        let points: Vec<_> = walk([[0, 0], [4, 2]]).collect();
        assert_eq!(points, [[0, 0], [1, 1], [2, 1], [3, 2], [4, 2]]);
    }

    #[test]
    fn a_row_and_a_column_are_all_their_points_and_no_segment_is_longer_than_the_grid() {
        let shape = Shape::grid_2d(4, 3).unwrap();
        let points = |line: CutLine| line.points(&shape).collect::<Vec<_>>();
        assert_eq!(points(CutLine::Row(1)), [[0, 1], [1, 1], [2, 1], [3, 1]]);
        assert_eq!(points(CutLine::Column(9)), [[3, 0], [3, 1], [3, 2]]);
        assert_eq!(points(CutLine::Segment([[2, 2]; 2])), [[2, 2]]);
        let beyond = CutLine::Segment([[usize::MAX, 0], [0, usize::MAX]]);
        assert_eq!(points(beyond), [[3, 0], [2, 1], [1, 1], [0, 2]]);
        assert!(beyond.check(&shape, None).unwrap_err().contains("0,0 to 3,2"));
        assert_eq!(CutLine::diagonal(&shape).check(&shape, None), Ok(()));
        let slice = Some(Slice { axis: 1, index: 0 });
        assert_eq!(CutLine::Row(3).check(&shape, slice), Err("rows are k=0 to k=2".to_owned()));
        assert_eq!(CutLine::Row(3).text(slice), "k=3");
        let line = Shape::grid_1d(4, 2).unwrap();
        assert!(CutLine::diagonal(&line).check(&line, None).unwrap_err().contains("must be a row"));
        for whole in [CutLine::Row(2), CutLine::Column(1), CutLine::diagonal(&shape)] {
            assert_eq!(CutLine::between(whole.ends(&shape), &shape), whole);
        }
    }

    /// Lines in saved figures can be read again.
    #[test]
    fn a_cut_is_written_by_what_it_is() {
        #[derive(Serialize, Deserialize)]
        struct View {
            cut: CutLine,
        }
        for (cut, text) in [
            (CutLine::Row(7), "[cut]\nrow = 7\n"),
            (CutLine::Column(0), "[cut]\ncolumn = 0\n"),
            (CutLine::Segment([[0, 1], [31, 2]]), "[cut]\nsegment = [[0, 1], [31, 2]]\n"),
        ] {
            assert_eq!(toml::to_string(&View { cut }).unwrap(), text);
            assert_eq!(toml::from_str::<View>(text).unwrap().cut, cut);
        }
    }
}
