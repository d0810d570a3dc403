//! The iteration once more, written straight from the rules: no vectors, no threads, no caches,
//! and nothing shared with the solver but the description of the problem.

use std::ops::{Add, Range, Sub};
use tilescope::grid::{Real, Shape};
use tilescope::problem::Problem;

/// `f32` and `f64`, with the standard library's own operations.
pub trait Num: Real + Add<Output = Self> + Sub<Output = Self> {
    const EPSILON: f64;
    fn fused(self, factor: Self, addend: Self) -> Self;
    fn bits(self) -> u64;
}

impl Num for f32 {
    const EPSILON: f64 = f32::EPSILON as f64;
    fn fused(self, factor: Self, addend: Self) -> Self {
        self.mul_add(factor, addend)
    }
    fn bits(self) -> u64 {
        self.to_bits().into()
    }
}

impl Num for f64 {
    const EPSILON: f64 = f64::EPSILON;
    fn fused(self, factor: Self, addend: Self) -> Self {
        self.mul_add(factor, addend)
    }
    fn bits(self) -> u64 {
        self.to_bits()
    }
}

/// The tiles of one axis, from the formulas.
#[derive(Debug)]
pub struct AxisTiles {
    pub computed: Vec<Range<usize>>,
    pub owned: Vec<Range<usize>>,
}

impl AxisTiles {
    pub fn new(n: usize, tile: usize, overlap: usize) -> Self {
        if n <= tile {
            return Self {
                computed: std::iter::once(0..n).collect(),
                owned: std::iter::once(0..n).collect(),
            };
        }
        let step = tile - overlap;
        let count = (n - overlap).div_ceil(step);
        let start = |j: usize| (j * step).min(n - tile);
        let border = |j: usize| match j {
            0 => 0,
            j if j == count => n,
            j => start(j) + (start(j - 1) + tile - start(j)) / 2,
        };
        Self {
            computed: (0..count).map(|j| start(j)..start(j) + tile).collect(),
            owned: (0..count).map(|j| border(j)..border(j + 1)).collect(),
        }
    }

    /// Whether `i` is one of the `width` points on either side of a border.
    pub fn near(&self, i: usize, width: usize) -> bool {
        self.owned[1..].iter().any(|owned| (i + width >= owned.start) && i < owned.start + width)
    }
}

/// A system and its iterate.
#[derive(Clone)]
pub struct Naive<R> {
    problem: Problem,
    /// The iterate's interior, row by row.
    pub u: Vec<R>,
    g: Vec<R>,
}

impl<R: Num> Naive<R> {
    pub fn new(problem: &Problem) -> Self {
        let shape = &problem.shape;
        let each = |value: &dyn Fn(usize, usize) -> f64| {
            let points = (0..shape.rows()).flat_map(|row| (0..shape.nx()).map(move |i| (i, row)));
            points.map(|(i, row)| R::from_f64(value(i, row))).collect()
        };
        Self {
            problem: problem.clone(),
            u: each(&|i, row| problem.initial_guess.at(shape.nx(), i, row)),
            g: each(&|i, row| problem.rhs.at(shape.nx(), i, row) / problem.stencil.d),
        }
    }

    fn shape(&self) -> &Shape {
        &self.problem.shape
    }

    /// The iterate at a point of the grid or of its ring.
    fn value(&self, i: isize, row: isize) -> R {
        let boundary = &self.problem.boundary;
        let (nx, rows) = (self.shape().nx() as isize, self.shape().rows() as isize);
        if i < 0 {
            R::from_f64(boundary.left)
        } else if i >= nx {
            R::from_f64(boundary.right)
        } else if row < 0 {
            R::from_f64(boundary.top)
        } else if row >= rows {
            R::from_f64(boundary.bottom)
        } else {
            self.u[(row * nx + i) as usize]
        }
    }

    /// The update of a point whose neighbours are `at`: the table of the order of operations.
    fn update(&self, i: usize, row: usize, at: impl Fn(isize, isize) -> R) -> R {
        let s = &self.problem.stencil;
        let weight = |entry: f64| R::from_f64(-entry / s.d);
        let (x, y) = (i as isize, row as isize);
        let g = self.g[row * self.shape().nx() + i];
        let (west, east) = (at(x - 1, y), at(x + 1, y));
        if self.shape().dim() == 1 {
            return if s.a == s.c {
                weight(s.a).fused(west + east, g)
            } else {
                weight(s.a).fused(west, weight(s.c).fused(east, g))
            };
        }
        let (south, north) = (at(x, y - 1), at(x, y + 1));
        if s.a == s.c && s.a == s.e && s.a == s.f {
            weight(s.a).fused((west + east) + (south + north), g)
        } else if s.a == s.c && s.e == s.f {
            weight(s.a).fused(west + east, weight(s.e).fused(south + north, g))
        } else {
            let vertical = weight(s.e).fused(south, weight(s.f).fused(north, g));
            weight(s.a).fused(west, weight(s.c).fused(east, vertical))
        }
    }

    /// One sweep over the whole grid.
    pub fn sweep(&mut self) {
        self.u = self.swept();
    }

    fn swept(&self) -> Vec<R> {
        let nx = self.shape().nx();
        let update = |at: usize| self.update(at % nx, at / nx, |i, row| self.value(i, row));
        (0..self.u.len()).map(update).collect()
    }

    /// One hierarchical cycle: `k` sweeps inside every tile, its ring frozen.
    pub fn cycle(&mut self, k: usize, tile: [usize; 2], overlap: [usize; 2]) {
        let shape = *self.shape();
        let x = AxisTiles::new(shape.nx(), tile[0], overlap[0]);
        // Every copy of a line is a row of its own.
        let y = if shape.dim() == 1 {
            AxisTiles::new(shape.rows(), 1, 0)
        } else {
            AxisTiles::new(shape.ny(), tile[1], overlap[1])
        };
        let mut next = self.u.clone();
        for (rows, owned_rows) in y.computed.iter().zip(&y.owned) {
            for (columns, owned_columns) in x.computed.iter().zip(&x.owned) {
                let mut local = self.clone();
                for _ in 0..k {
                    let before = local.clone();
                    for row in rows.clone() {
                        for i in columns.clone() {
                            let new = before.update(i, row, |i, row| before.value(i, row));
                            local.u[row * shape.nx() + i] = new;
                        }
                    }
                }
                for row in owned_rows.clone() {
                    for i in owned_columns.clone() {
                        next[row * shape.nx() + i] = local.u[row * shape.nx() + i];
                    }
                }
            }
        }
        self.u = next;
    }

    /// d · (u₁ − u₀) of the next sweep: the residual as a solver sees it, point by point.
    pub fn scaled_change(&self) -> Vec<f64> {
        let changes = self.swept().into_iter().zip(&self.u).map(|(new, old)| new - *old);
        changes.map(|change| change.to_f64() * self.problem.stencil.d).collect()
    }

    /// b − A u as the mathematics has it, in `f64`, point by point.
    pub fn residual(&self) -> Vec<f64> {
        let Problem { shape, stencil: s, rhs, .. } = &self.problem;
        let at = |i, row| self.value(i, row).to_f64();
        let point = |index: usize| {
            let (i, row) = (index % shape.nx(), index / shape.nx());
            let (x, y) = (i as isize, row as isize);
            let mut product = s.d * at(x, y) + s.a * at(x - 1, y) + s.c * at(x + 1, y);
            if shape.dim() == 2 {
                product += s.e * at(x, y - 1) + s.f * at(x, y + 1);
            }
            rhs.at(shape.nx(), i, row) - product
        };
        (0..self.u.len()).map(point).collect()
    }

    /// How far rounding alone may move one value of the residual.
    pub fn residual_rounding(&self) -> f64 {
        let Problem { shape, stencil, boundary, .. } = &self.problem;
        let ring = [boundary.left, boundary.right, boundary.top, boundary.bottom];
        let values = self.u.iter().chain(&self.g).map(|value| value.to_f64());
        let largest = values.chain(ring).fold(0.0, |a: f64, b| a.max(b.abs()));
        let weights = 1.0 + stencil.dominance() * (1.0 + shape.dim() as f64);
        4.0 * R::EPSILON * stencil.d.abs() * largest * weights
    }
}
