//! Inside one cycle: the subiterations of a tile, or of all tiles of a 1D grid, computed again beside
//! Jacobi's sweeps.
//!
//! A tile with its frozen halo is a small grid with the halo for boundary values, on which Jacobi's iteration
//! is the cycle's subiterations, to the last bit. Jacobi's own iterate on the tile comes from a part of the
//! grid that reaches as many points farther as sweeps are made: what its edge gets wrong travels one point
//! per sweep, and does not reach the tile.

use super::{Method, NormRequest, Solver, SolverError, on_cpu};
use crate::grid::{Field, GridPoint, Precision, Region, Slice, Tiling};
use crate::problem::Problem;
use crate::solver::Schedule;
use std::ops::Range;
use std::sync::Arc;

/// The most point updates that are made: they take some ten milliseconds.
const MOST_UPDATES: usize = 1 << 24;

/// Copying a point takes as long as some updates of it.
const UPDATES_OF_COPY: usize = 4;

/// The longest side of a tile or of a 1D grid, and the most subiterations of a 1D grid that are shown.
const LONGEST: usize = 2000;

/// What is followed through a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Followed {
    /// A tile, from the left and from the top; the last one, if there are fewer. In 3D it is a tile that this slice
    /// cuts, or the middle one, and shown on it.
    Tile([usize; 2], Option<Slice>),
    /// All tiles of a 1D grid.
    Line,
}

/// The cycle that comes next from a solver's iterate.
#[derive(Clone, Copy)]
pub struct NextCycle<'a> {
    /// Whose iterate it starts from.
    pub solver: &'a dyn Solver,
    /// The system.
    pub problem: &'a Problem,
    /// Its tiles.
    pub tiling: &'a Tiling,
    /// Its subiterations.
    pub k: usize,
    /// The ω of its sweeps; 1 without damping.
    pub omega: f64,
    /// The order of its tiles and points.
    pub schedule: Schedule,
    /// The precision of the solver.
    pub precision: Precision,
}

/// One tile with its halo inside a cycle, or all tiles of a 1D grid with its boundary values: in 2D one
/// subiteration, in 3D a slice of it, in 1D (the first system of a batch) all of them, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Inside {
    /// Which tile, from the left and from the top; `None` for all tiles of a 1D grid.
    pub tile: Option<[usize; 2]>,
    /// In 3D, the slice that is shown of it. Tiles, columns and rows are counted in it.
    pub slice: Option<Slice>,
    /// Columns and rows that it computes.
    pub computed: [Range<usize>; 2],
    /// Columns and rows that it owns.
    pub owned: [Range<usize>; 2],
    /// Subiterations of the cycle.
    pub k: usize,
    /// Subiterations that were made, 0 to k; in 1D those of the last row.
    pub subiteration: usize,
    /// Values across and down: the tile and its halo, or, in 1D, subiterations 0 to k.
    pub size: [usize; 2],
    /// The tile's own iterate, row by row. NaN: the corners of the halo, which no point reads.
    pub iterate: Vec<f32>,
    /// Its staleness: that minus Jacobi's iterate after as many sweeps from the same iterate. On the halo,
    /// the staleness of the halo. NaN where it would take too long.
    pub staleness: Vec<f32>,
    /// The iterate of a tile with all its digits: in 2D before and after the subiteration, one after the
    /// other (the first of them alone before any was made), in 1D of all subiterations; of all tiles, at each
    /// point that of its owner.
    pub states: Vec<f64>,
    /// In 3D, the iterate on the slices before and after this one, before the subiteration; empty before any was made.
    pub beside_slice: [Vec<f64>; 2],
    /// Of all tiles of a 1D grid, what each reads beside the points that it owns; of one tile nothing.
    pub beside: Vec<BesideOwned>,
    /// The least and the largest value of the iterate in all subiterations.
    pub iterate_extent: [f32; 2],
    /// The least and the largest magnitude of the staleness in all subiterations, zeros left out.
    pub staleness_extent: [f32; 2],
}

/// The values that a tile of a 1D grid has just beside the points that it owns. Others own these, and have other
/// values there.
#[derive(Clone, Debug, PartialEq)]
pub struct BesideOwned {
    /// The points that it owns.
    pub owned: Range<usize>,
    /// After every subiteration, 0 to k: to the left and to the right of them.
    pub values: Vec<[f64; 2]>,
}

/// The update of one point by one subiteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointUpdate {
    /// The point.
    pub point: GridPoint,
    /// The values that it reads: along each axis, x first, of the previous and of the next point. 0 along an
    /// axis that the grid does not have.
    pub neighbours: [[f64; 2]; 3],
    /// Its value before.
    pub before: f64,
    /// Its value after.
    pub after: f64,
}

impl NextCycle<'_> {
    /// Computes the subiterations of a tile, or of all tiles of a 1D grid, and returns one of them (the last,
    /// if there are fewer); `None` if that would take too long or too much memory, for all tiles of a 2D or 3D grid, and
    /// where tiles or points read what others wrote in the same cycle: then a tile is no small grid of its own.
    ///
    /// # Errors
    /// [`SolverError`] if the iterate cannot be read, or its copies do not fit.
    pub fn inside(
        &self,
        followed: Followed,
        subiteration: usize,
    ) -> Result<Option<Inside>, SolverError> {
        if self.problem.operator.matrix().is_some() || !self.schedule.is_jacobi() {
            return Ok(None);
        }
        match followed {
            Followed::Tile(tile, slice) => self.tile(tile, slice, subiteration),
            Followed::Line => self.line(subiteration),
        }
    }

    fn tile(
        &self,
        tile: [usize; 2],
        slice: Option<Slice>,
        subiteration: usize,
    ) -> Result<Option<Inside>, SolverError> {
        let axes = self.tiling.axes();
        let slice = Slice::shown(slice, &self.problem.shape);
        let shown = slice.map_or([0, 1], Slice::axes);
        let position = |axis: usize| match slice {
            Some(slice) if slice.axis == axis => axes[axis].owner(slice.index),
            _ => tile[usize::from(axis == shown[1])].min(axes[axis].count() - 1),
        };
        let number =
            (0..axes.len()).rev().fold(0, |at, axis| at * axes[axis].count() + position(axis));
        let (computed, owned) = (self.tiling.computed(number), self.tiling.owned(number));
        let is_line = axes.len() == 1;
        let subiteration = subiteration.min(self.k);
        let takes_too_long = |part| self.updates(part) > MOST_UPDATES;
        let is_long = computed.iter().any(|side| side.len() > LONGEST);
        if is_long || is_line && self.k > LONGEST || takes_too_long(&computed) {
            return Ok(None);
        }
        let around = self.around(&computed);
        let mut own = SubgridSolver::new(self, &computed)?;
        let mut classic =
            if takes_too_long(&around) { None } else { Some(SubgridSolver::new(self, &around)?) };
        let mut part = computed.clone();
        if let Some(slice) = slice {
            part[slice.axis] = slice.index..slice.index + 1;
        }
        let (mut iterate, mut staleness, mut states) = (Vec::new(), Vec::new(), Vec::new());
        let mut beside_slice = [Vec::new(), Vec::new()];
        let (mut iterate_extent, mut staleness_extent) = (NOTHING, NOTHING);
        for sweep in 0..=self.k {
            let field = own.values(&part)?;
            let values = shown_of(&field, slice, 1);
            if slice.is_some() && sweep + 1 == subiteration {
                beside_slice = [0, 2].map(|plane| shown_of(&field, slice, plane));
            }
            let differences: Vec<f32> = match &classic {
                Some(classic) => {
                    let classic = shown_of(&classic.values(&part)?, slice, 1);
                    values.iter().zip(classic).map(|(u, other)| (u - other) as f32).collect()
                }
                None => vec![f32::NAN; values.len()],
            };
            if is_line || sweep == subiteration || sweep + 1 == subiteration {
                states.extend_from_slice(&values);
            }
            let values: Vec<f32> = values.into_iter().map(|u| u as f32).collect();
            widen(&mut iterate_extent, values.iter().copied());
            widen(&mut staleness_extent, sizes(&differences));
            if is_line || sweep == subiteration {
                iterate.extend(values);
                staleness.extend(differences);
            }
            if sweep < self.k {
                own.sweep()?;
                classic.as_mut().map(SubgridSolver::sweep).transpose()?;
            }
        }
        let [computed, owned] = [computed, owned].map(|part| shown.map(|axis| part[axis].clone()));
        let width = computed[0].len() + 2;
        Ok(Some(Inside {
            tile: Some([position(shown[0]), if is_line { 0 } else { position(shown[1]) }]),
            slice,
            owned,
            computed,
            k: self.k,
            subiteration,
            size: [width, iterate.len() / width],
            iterate,
            staleness,
            states,
            beside_slice,
            beside: Vec::new(),
            iterate_extent,
            staleness_extent,
        }))
    }

    /// All tiles of a 1D grid, one after the other: of each the points that it owns.
    fn line(&self, subiteration: usize) -> Result<Option<Inside>, SolverError> {
        let x = self.tiling.x();
        let n = x.n();
        let updates = |tile| {
            let computed = [x.computed(tile), 0..1, 0..1];
            self.updates(&computed) + self.updates(&self.around(&computed))
        };
        let is_plane = self.tiling.y().is_some();
        if is_plane || n > LONGEST || (0..x.count()).map(updates).sum::<usize>() > MOST_UPDATES {
            return Ok(None);
        }
        let size = [n + 2, self.k + 1];
        let unknown = vec![f32::NAN; size[0] * size[1]];
        let mut whole = Inside {
            tile: None,
            slice: None,
            computed: [0..n, 0..1],
            owned: [0..n, 0..1],
            k: self.k,
            subiteration: subiteration.min(self.k),
            size,
            iterate: unknown.clone(),
            staleness: unknown,
            states: vec![f64::NAN; size[0] * size[1]],
            beside_slice: [Vec::new(), Vec::new()],
            beside: Vec::new(),
            iterate_extent: NOTHING,
            staleness_extent: NOTHING,
        };
        for tile in 0..x.count() {
            let Some(part) = self.tile([tile, 0], None, subiteration)? else {
                return Ok(None);
            };
            whole.take(&part);
        }
        widen(&mut whole.iterate_extent, whole.iterate.iter().copied());
        widen(&mut whole.staleness_extent, sizes(&whole.staleness));
        Ok(Some(whole))
    }

    /// Point updates that a cycle makes on a part of the grid, or what takes as long.
    fn updates(&self, part: &Region) -> usize {
        let points: usize = part.iter().map(ExactSizeIterator::len).product();
        points.saturating_mul(self.k.max(UPDATES_OF_COPY))
    }

    /// A part of the grid and as many points farther on every side as a cycle makes sweeps, as far
    /// as there are.
    fn around(&self, part: &Region) -> Region {
        let mut around = part.clone();
        for (range, axis) in around.iter_mut().zip(self.tiling.axes()) {
            *range = range.start.saturating_sub(self.k)..(range.end + self.k).min(axis.n());
        }
        around
    }
}

impl Inside {
    /// How many of the owned points differ from Jacobi's iterate after these subiterations, and how
    /// many are owned; `None` where counting them would take too long.
    pub fn stale_points(&self, is_line: bool) -> Option<(u64, u64)> {
        if self.staleness.iter().all(|value| value.is_nan()) {
            return None;
        }
        let [columns, rows] = &self.owned;
        let [left, top] = [0, 1].map(|axis| self.computed[axis].start);
        // In 1D the rows are subiterations, without a halo above them.
        let values = rows.clone().flat_map(|row| {
            let down = if is_line { self.subiteration } else { row - top + 1 };
            let first = down * self.size[0] + columns.start - left + 1;
            &self.staleness[first..first + columns.len()]
        });
        let stale = values.filter(|value| **value != 0.0).count();
        Some((stale as u64, (columns.len() * rows.len()) as u64))
    }

    /// The update that gave a cell its value; `None` in the halo, and before the first subiteration.
    pub fn update_at(&self, [x, y]: [usize; 2], is_line: bool) -> Option<PointUpdate> {
        let [width, height] = self.size;
        let is_inner = |at: usize, size: usize| at > 0 && at + 1 < size;
        if !is_inner(x, width) || y >= height || !(is_line || is_inner(y, height)) {
            return None;
        }
        // In 1D a state is a row of the picture, in 2D all of it.
        let (state, cell, made) =
            if is_line { (width, x, y) } else { (width * height, y * width + x, 1) };
        let before = self.states.get(made.checked_sub(1)? * state..)?.get(..state)?;
        let after = self.states.get(made * state..)?.get(..state)?;
        let along = |distance: usize| [before[cell - distance], before[cell + distance]];
        let [left, top] = [0, 1].map(|axis| self.computed[axis].start);
        let i = left + x - 1;
        let mut along_x = along(1);
        if let Some(tile) = self.beside.iter().find(|tile| tile.owned.contains(&i)) {
            // Its tile has values of its own where another owns the point.
            let beside = tile.values.get(made - 1)?;
            for (side, end) in [tile.owned.start, tile.owned.end - 1].into_iter().enumerate() {
                if i == end {
                    along_x[side] = beside[side];
                }
            }
        }
        let [across, down] = self.slice.map_or([0, 1], Slice::axes);
        let mut neighbours = [[0.0; 2]; 3];
        neighbours[across] = along_x;
        if !is_line {
            neighbours[down] = along(width);
        }
        if let Some(slice) = self.slice {
            neighbours[slice.axis] = self.beside_slice.each_ref().map(|values| values[cell]);
        }
        Some(PointUpdate {
            point: GridPoint::shown([i, if is_line { 0 } else { top + y - 1 }], self.slice),
            neighbours,
            before: before[cell],
            after: after[cell],
        })
    }

    /// Copies the owned points of a tile into the whole 1D grid, and the boundary values beside its ends.
    fn take(&mut self, part: &Self) {
        let ([width, rows], owned) = (self.size, &part.owned[0]);
        let from = if owned.start == 0 { 0 } else { owned.start + 1 };
        let to = if owned.end + 2 == width { width } else { owned.end + 1 };
        let before = part.computed[0].start;
        let mut values = Vec::new();
        for row in 0..rows {
            let there = row * width;
            let here = row * part.size[0] + from - before..row * part.size[0] + to - before;
            self.iterate[there + from..there + to].copy_from_slice(&part.iterate[here.clone()]);
            self.staleness[there + from..there + to].copy_from_slice(&part.staleness[here.clone()]);
            self.states[there + from..there + to].copy_from_slice(&part.states[here]);
            // The halo lies before the first point that is computed.
            let ends = [owned.start, owned.end + 1].map(|at| row * part.size[0] + at - before);
            values.push(ends.map(|at| part.states[at]));
        }
        self.beside.push(BesideOwned { owned: owned.clone(), values });
    }
}

/// The extent of no value at all.
const NOTHING: [f32; 2] = [f32::INFINITY, f32::NEG_INFINITY];

/// Takes values into the extent of others. NaN counts for nothing.
fn widen(extent: &mut [f32; 2], values: impl Iterator<Item = f32>) {
    *extent = values.fold(*extent, |[least, most], value| [least.min(value), most.max(value)]);
}

/// Magnitudes, zeros left out.
fn sizes(values: &[f32]) -> impl Iterator<Item = f32> {
    values.iter().map(|value| value.abs()).filter(|size| *size != 0.0)
}

/// Jacobi's iteration on a part of the grid, what lies around it standing still.
struct SubgridSolver {
    part: Region,
    solver: Box<dyn Solver>,
}

impl SubgridSolver {
    fn new(cycle: &NextCycle<'_>, part: &Region) -> Result<Self, SolverError> {
        let start = cycle.solver.solution_part(part)?;
        let problem = cycle.problem.part(part);
        let method = Method::Classic.damped(cycle.omega);
        let mut solver = on_cpu(&Arc::new(problem), method, cycle.precision, 1)?;
        solver.start_from(&start)?;
        Ok(Self { part: part.clone(), solver })
    }

    fn sweep(&mut self) -> Result<(), SolverError> {
        self.solver.cycles(1, NormRequest::NONE).map(drop)
    }

    /// The values of a part of this part and of what lies around that.
    fn values(&self, inner: &Region) -> Result<Field<f64>, SolverError> {
        let inner = std::array::from_fn(|axis| {
            let start = self.part[axis].start;
            inner[axis].start - start..inner[axis].end - start
        });
        self.solver.solution_part(&inner)
    }
}

/// What is shown of a part of the grid with what lies around it, row by row. In 3D the part is a slice, plane 1 of
/// the three that lie across it. NaN: the corners, which no point reads.
fn shown_of(part: &Field<f64>, slice: Option<Slice>, plane: usize) -> Vec<f64> {
    let (shape, stored) = (part.shape(), part.as_slice());
    let (width, mut values) = match slice {
        None => {
            let width = shape.nx() + 2;
            let rows = stored.chunks(shape.stride()).map(|row| &row[..width]);
            (width, rows.flatten().copied().collect::<Vec<_>>())
        }
        Some(slice) => {
            let strides = [1, shape.stride(), shape.plane_stride()];
            let first = shape.first_row_of_plane() + plane * strides[slice.axis];
            let [across, down] = slice.axes();
            let [width, height] = [across, down].map(|axis| shape.axes()[axis] + 2);
            let rows = (0..height).map(|row| first + row * strides[down]);
            let row =
                |start| (0..width).map(move |column| stored[start + column * strides[across]]);
            (width, rows.flat_map(row).collect())
        }
    };
    if shape.boundary_rows() > 0 {
        let (right, last) = (width - 1, values.len() - 1);
        for corner in [0, right, last - right, last] {
            values[corner] = f64::NAN;
        }
    }
    values
}
