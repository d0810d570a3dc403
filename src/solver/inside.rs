//! Inside one cycle: the subiterations of one tile, made once more beside Jacobi's sweeps.
//!
//! A tile with its ring frozen is a small grid of its own with its ring for boundary values, on which
//! Jacobi's iteration is the cycle's subiterations, to the last bit. Jacobi's own iterate on the tile
//! comes from a part of the grid that reaches as many points farther as sweeps are made: what
//! its edge gets wrong travels one point a sweep, and does not arrive.

use super::{Method, Solver, SolverError, on_cpu};
use crate::grid::{Field, Precision, Tiling};
use crate::problem::{Boundary, Problem, Source};
use std::ops::Range;
use std::sync::Arc;

/// Point updates that are made at the most: some ten milliseconds' worth.
const MOST_UPDATES: usize = 1 << 24;

/// The longest side of a tile, and the most subiterations of a line: more is no picture.
const LONGEST: usize = 2000;

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
    /// The precision of the solver.
    pub precision: Precision,
}

/// One tile with its ring, inside a cycle. Of a plane one subiteration is told, of a line (its
/// first copy) all of them, row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Inside {
    /// Which tile, from the left and from the top.
    pub tile: [usize; 2],
    /// Columns and rows that it computes.
    pub computed: [Range<usize>; 2],
    /// Columns and rows that it owns.
    pub owned: [Range<usize>; 2],
    /// Subiterations of the cycle.
    pub k: usize,
    /// Subiterations that were made, 0 to k; of a line, those of the last row are all.
    pub subiteration: usize,
    /// Values across and down: the tile and its ring, or, of a line, its subiterations 0 to k.
    pub size: [usize; 2],
    /// The tile's own iterate, row by row. NaN: the corners of the ring, which no point reads.
    pub iterate: Vec<f32>,
    /// That minus Jacobi's iterate after as many sweeps from the same start: how far the frozen ring
    /// has made itself felt. On the ring, how far that lags itself. NaN where it would take too long.
    pub staleness: Vec<f32>,
}

impl NextCycle<'_> {
    /// Makes some subiterations of one tile (the last one, if there are fewer tiles or
    /// subiterations); `None` if that would take too long, or be too
    /// large, to be looked at.
    ///
    /// # Errors
    /// [`SolverError`] if the iterate cannot be had, or its copies do not fit.
    pub fn inside(
        &self,
        tile: [usize; 2],
        subiteration: usize,
    ) -> Result<Option<Inside>, SolverError> {
        let x = self.tiling.x();
        let across = tile[0].min(x.count() - 1);
        let (down, computed, owned) = match self.tiling.y() {
            Some(y) => {
                let down = tile[1].min(y.count() - 1);
                (down, y.computed(down), y.owned(down))
            }
            None => (0, 0..1, 0..1),
        };
        let computed = [x.computed(across), computed];
        let is_line = self.tiling.y().is_none();
        let sweeps = if is_line { self.k } else { subiteration.min(self.k) };
        let points = |part: &[Range<usize>; 2]| part[0].len() * part[1].len();
        let takes_too_long = |part| points(part).saturating_mul(sweeps.max(1)) > MOST_UPDATES;
        let sides = [computed[0].len(), computed[1].len(), if is_line { self.k } else { 0 }];
        if sides.into_iter().any(|side| side > LONGEST) || takes_too_long(&computed) {
            return Ok(None);
        }
        let around = self.around(&computed, sweeps);
        let mut own = Part::new(self, &computed)?;
        let mut classic =
            if takes_too_long(&around) { None } else { Some(Part::new(self, &around)?) };
        let (mut iterate, mut staleness) = (Vec::new(), Vec::new());
        for sweep in 0..=sweeps {
            if is_line || sweep == sweeps {
                let values = own.values(&computed)?;
                match &classic {
                    Some(classic) => {
                        let classic = classic.values(&computed)?;
                        let lags = values.iter().zip(classic).map(|(u, other)| (u - other) as f32);
                        staleness.extend(lags);
                    }
                    None => staleness.extend(values.iter().map(|_| f32::NAN)),
                }
                iterate.extend(values.iter().map(|&u| u as f32));
            }
            if sweep < sweeps {
                own.sweep()?;
                classic.as_mut().map(Part::sweep).transpose()?;
            }
        }
        let width = computed[0].len() + 2;
        Ok(Some(Inside {
            tile: [across, down],
            owned: [x.owned(across), owned],
            computed,
            k: self.k,
            subiteration: subiteration.min(self.k),
            size: [width, iterate.len() / width],
            iterate,
            staleness,
        }))
    }

    /// A part of the grid and so many points farther on every side, as far as there are.
    fn around(&self, part: &[Range<usize>; 2], reach: usize) -> [Range<usize>; 2] {
        let farther = |range: &Range<usize>, n: usize| {
            range.start.saturating_sub(reach)..(range.end + reach).min(n)
        };
        let rows = match self.tiling.y() {
            Some(y) => farther(&part[1], y.n()),
            None => part[1].clone(),
        };
        [farther(&part[0], self.tiling.x().n()), rows]
    }
}

/// Jacobi's iteration on a part of the grid, what lies around it standing still.
struct Part {
    part: [Range<usize>; 2],
    solver: Box<dyn Solver>,
}

impl Part {
    fn new(cycle: &NextCycle<'_>, part: &[Range<usize>; 2]) -> Result<Self, SolverError> {
        let [columns, rows] = part.clone();
        let start = cycle.solver.solution_part(columns.clone(), rows.clone())?;
        let Problem { shape, stencil, rhs, .. } = cycle.problem;
        let value = |row| columns.clone().map(move |i| rhs.at(shape.nx(), i, row));
        let problem = Problem {
            shape: *start.shape(),
            stencil: *stencil,
            rhs: Source::Array(rows.flat_map(value).collect()),
            start: Source::Constant(0.0),
            boundary: Boundary::default(),
        };
        let mut solver = on_cpu(&Arc::new(problem), Method::Classic, cycle.precision, 1)?;
        solver.start_from(&start)?;
        Ok(Self { part: part.clone(), solver })
    }

    fn sweep(&mut self) -> Result<(), SolverError> {
        self.solver.cycles_unmeasured(1).map(drop)
    }

    /// The values of a part of this part and of what lies around that, row by row.
    fn values(&self, inner: &[Range<usize>; 2]) -> Result<Vec<f64>, SolverError> {
        let [columns, rows] = [0, 1].map(|axis| {
            let start = self.part[axis].start;
            inner[axis].start - start..inner[axis].end - start
        });
        let mut part: Field<f64> = self.solver.solution_part(columns, rows)?;
        let (shape, last) = (*part.shape(), part.as_slice().len() - 1);
        if shape.ring_rows() > 0 {
            let right = shape.stride() - 1;
            for corner in [0, right, last - right, last] {
                part.as_mut_slice()[corner] = f64::NAN;
            }
        }
        Ok(part.as_slice().to_vec())
    }
}
