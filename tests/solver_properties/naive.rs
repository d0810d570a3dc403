//! The iteration written a second time, straight from the rules: no vectors, no threads, no caches,
//! and nothing shared with the solver but the description of the problem.

use std::ops::{Add, Range, Sub};
use std::sync::Arc;
use tilescope::grid::{Real, Shape};
use tilescope::problem::{Operator, Problem, Stencil};

/// `f32` and `f64`, with the standard library's own operations.
pub trait Num: Real + Add<Output = Self> + Sub<Output = Self> {
    const EPSILON: f64;
    fn fused(self, factor: Self, addend: Self) -> Self;
}

impl Num for f32 {
    const EPSILON: f64 = f32::EPSILON as f64;
    fn fused(self, factor: Self, addend: Self) -> Self {
        self.mul_add(factor, addend)
    }
}

impl Num for f64 {
    const EPSILON: f64 = f64::EPSILON;
    fn fused(self, factor: Self, addend: Self) -> Self {
        self.mul_add(factor, addend)
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
    /// The iterate's interior, in the order of memory.
    pub u: Vec<R>,
    g: Vec<R>,
    /// The matrix row of every point.
    rows: Arc<[Stencil]>,
    /// How much of every update is made.
    pub omega: f64,
    /// Tiles of a wave, and points of a tile that are updated at once, in place.
    pub wave: usize,
    pub warp: usize,
}

/// A point of the grid or of its boundary. In 1D the second number is the system of the batch.
type Point = [isize; 3];

impl<R: Num> Naive<R> {
    pub fn new(problem: &Problem) -> Self {
        let shape = &problem.shape;
        let points = (0..shape.rows()).flat_map(|row| (0..shape.nx()).map(move |i| (i, row)));
        let rows: Arc<[Stencil]> = points.map(|(i, row)| row_of(problem, i, row)).collect();
        let each = |value: &dyn Fn(usize, usize) -> f64| {
            let points = (0..shape.rows()).flat_map(|row| (0..shape.nx()).map(move |i| (i, row)));
            points.map(|(i, row)| R::from_f64(value(i, row))).collect()
        };
        Self {
            problem: problem.clone(),
            omega: 1.0,
            wave: usize::MAX,
            warp: usize::MAX,
            u: each(&|i, row| problem.initial_guess.at(shape.nx(), i, row)),
            g: each(&|i, row| problem.rhs.at(shape.nx(), i, row) / rows[row * shape.nx() + i].d),
            rows,
        }
    }

    fn row(&self, point: [usize; 3]) -> &Stencil {
        &self.rows[self.index(point)]
    }

    fn shape(&self) -> &Shape {
        &self.problem.shape
    }

    /// The points of each axis; in 1D the second is the batch.
    fn size(&self) -> [usize; 3] {
        let shape = self.shape();
        [shape.nx(), if shape.dim() == 1 { shape.batch() } else { shape.ny() }, shape.nz()]
    }

    fn index(&self, [x, y, z]: [usize; 3]) -> usize {
        let [nx, ny, _] = self.size();
        (z * ny + y) * nx + x
    }

    fn points(&self) -> impl Iterator<Item = [usize; 3]> + use<R> {
        let [nx, ny, nz] = self.size();
        (0..nx * ny * nz).map(move |at| [at % nx, at / nx % ny, at / nx / ny])
    }

    /// The iterate at a point of the grid or of its boundary.
    fn value(&self, point: Point) -> R {
        let b = &self.problem.boundary;
        let sides = [[b.left, b.right], [b.top, b.bottom], [b.front, b.back]];
        for (axis, n) in self.size().into_iter().enumerate() {
            if point[axis] < 0 {
                return R::from_f64(sides[axis][0]);
            } else if point[axis] >= n as isize {
                return R::from_f64(sides[axis][1]);
            }
        }
        self.u[self.index(point.map(|i| i as usize))]
    }

    /// The update of a point: Jacobi's, or the part ω of it.
    fn update(&self, point: [usize; 3], at: impl Fn(Point) -> R) -> R {
        let (jacobi, old) = (self.jacobi(point, &at), at(point.map(|i| i as isize)));
        match self.omega {
            1.0 => jacobi,
            omega => R::from_f64(omega).fused(jacobi - old, old),
        }
    }

    /// Jacobi's update of a point whose neighbours are `at`: the table of the order of operations.
    fn jacobi(&self, point: [usize; 3], at: impl Fn(Point) -> R) -> R {
        let s = self.row(point);
        // Rows of their own take the order of any weights, whatever theirs are.
        let is_any = self.problem.operator.stencil().is_none();
        let weight = |entry: f64| R::from_f64(-entry / s.d);
        let [x, y, z] = point.map(|i| i as isize);
        let g = self.g[self.index(point)];
        let (x_prev, x_next) = (at([x - 1, y, z]), at([x + 1, y, z]));
        if self.shape().dim() == 1 {
            return if s.a == s.c && !is_any {
                weight(s.a).fused(x_prev + x_next, g)
            } else {
                weight(s.a).fused(x_prev, weight(s.c).fused(x_next, g))
            };
        }
        let (y_prev, y_next) = (at([x, y - 1, z]), at([x, y + 1, z]));
        if self.shape().dim() == 2 {
            return if s.a == s.c && s.a == s.e && s.a == s.f && !is_any {
                weight(s.a).fused((x_prev + x_next) + (y_prev + y_next), g)
            } else if s.a == s.c && s.e == s.f && !is_any {
                weight(s.a).fused(x_prev + x_next, weight(s.e).fused(y_prev + y_next, g))
            } else {
                let along_y = weight(s.e).fused(y_prev, weight(s.f).fused(y_next, g));
                weight(s.a).fused(x_prev, weight(s.c).fused(x_next, along_y))
            };
        }
        let (z_prev, z_next) = (at([x, y, z - 1]), at([x, y, z + 1]));
        if [s.c, s.e, s.f, s.p, s.q].iter().all(|entry| *entry == s.a) {
            weight(s.a).fused(((x_prev + x_next) + (y_prev + y_next)) + (z_prev + z_next), g)
        } else if s.a == s.c && s.e == s.f && s.p == s.q {
            let inner = weight(s.p).fused(z_prev + z_next, g);
            weight(s.a).fused(x_prev + x_next, weight(s.e).fused(y_prev + y_next, inner))
        } else {
            let along_z = weight(s.p).fused(z_prev, weight(s.q).fused(z_next, g));
            let along_y = weight(s.e).fused(y_prev, weight(s.f).fused(y_next, along_z));
            weight(s.a).fused(x_prev, weight(s.c).fused(x_next, along_y))
        }
    }

    /// One sweep over the whole grid.
    pub fn sweep(&mut self) {
        self.u = self.swept();
    }

    fn swept(&self) -> Vec<R> {
        self.points().map(|point| self.update(point, |at| self.value(at))).collect()
    }

    /// One hierarchical cycle: `k` sweeps inside every tile, its halo frozen; wave by wave, warp by warp.
    pub fn cycle(&mut self, k: usize, tile: [usize; 3], overlap: [usize; 3]) {
        let [nx, ny, nz] = self.size();
        let axis = |axis: usize, n| AxisTiles::new(n, tile[axis], overlap[axis]);
        let x = axis(0, nx);
        // Every system of a batch is a row of its own.
        let y = if self.shape().dim() == 1 { AxisTiles::new(ny, 1, 0) } else { axis(1, ny) };
        let z = if self.shape().dim() < 3 { AxisTiles::new(nz, 1, 0) } else { axis(2, nz) };
        let each = |[x, y, z]: &[Range<usize>; 3]| {
            let (x, y) = (x.clone(), y.clone());
            let rows = z.clone().flat_map(move |k| y.clone().map(move |j| (j, k)));
            rows.flat_map(move |(j, k)| x.clone().map(move |i| [i, j, k])).collect::<Vec<_>>()
        };
        let boxes = |of: fn(&AxisTiles) -> &[Range<usize>]| {
            let mut boxes = Vec::new();
            for planes in of(&z) {
                for rows in of(&y) {
                    boxes.extend(of(&x).iter().map(|x| [x.clone(), rows.clone(), planes.clone()]));
                }
            }
            boxes
        };
        let tiles: Vec<_> = boxes(|axis| &axis.computed[..])
            .into_iter()
            .zip(boxes(|axis| &axis.owned[..]))
            .collect();
        // Waves count the tiles of each system.
        let of_system = if self.shape().dim() == 1 { x.computed.len() } else { tiles.len() };
        let wave_of = |tile: usize| tile % of_system / self.wave;
        for wave in 0..=wave_of(of_system - 1) {
            let state = self.clone();
            let members = tiles.iter().enumerate().filter(|(tile, _)| wave_of(*tile) == wave);
            for (_, (computed, owned)) in members {
                let mut local = state.clone();
                let points = each(computed);
                for _ in 0..k {
                    for warp in points.chunks(self.warp) {
                        let update =
                            |point: &[usize; 3]| local.update(*point, |at| local.value(at));
                        let new: Vec<_> = warp.iter().map(update).collect();
                        for (point, new) in warp.iter().zip(new) {
                            let index = self.index(*point);
                            local.u[index] = new;
                        }
                    }
                }
                for point in each(owned) {
                    let index = self.index(point);
                    self.u[index] = local.u[index];
                }
            }
        }
    }

    /// d · (u₁ − u₀) of the next sweep: the residual as a solver computes it, point by point.
    pub fn scaled_change(&self) -> Vec<f64> {
        let changes = self.swept().into_iter().zip(&self.u).map(|(new, old)| new - *old);
        // A diagonal of its own is kept in the precision of the iterate.
        let is_own = self.problem.operator.stencil().is_none();
        let kept = |d: f64| if is_own { R::from_f64(d).to_f64() } else { d };
        changes.zip(&*self.rows).map(|(change, row)| change.to_f64() * kept(row.d)).collect()
    }

    /// b − A u as the mathematics has it, in `f64`, point by point.
    pub fn residual(&self) -> Vec<f64> {
        let Problem { shape, rhs, .. } = &self.problem;
        let at = |point| self.value(point).to_f64();
        let point = |point: [usize; 3]| {
            let s = self.row(point);
            let [x, y, z] = point.map(|i| i as isize);
            let mut product =
                s.d * at([x, y, z]) + s.a * at([x - 1, y, z]) + s.c * at([x + 1, y, z]);
            if shape.dim() > 1 {
                product += s.e * at([x, y - 1, z]) + s.f * at([x, y + 1, z]);
            }
            if shape.dim() > 2 {
                product += s.p * at([x, y, z - 1]) + s.q * at([x, y, z + 1]);
            }
            rhs.at(shape.nx(), point[0], self.index(point) / shape.nx()) - product
        };
        self.points().map(point).collect()
    }

    /// How far rounding alone may move one value of the residual.
    pub fn residual_rounding(&self) -> f64 {
        let Problem { shape, boundary: b, .. } = &self.problem;
        let largest_row =
            |one: Stencil, row: &Stencil| if row.d.abs() > one.d.abs() { *row } else { one };
        let stencil = self.rows.iter().fold(self.rows[0], largest_row);
        let sides = [b.left, b.right, b.top, b.bottom, b.front, b.back];
        let values = self.u.iter().chain(&self.g).map(|value| value.to_f64());
        let largest = values.chain(sides).fold(0.0, |a: f64, b| a.max(b.abs()));
        let weights = 1.0 + stencil.dominance() * (1.0 + shape.dim() as f64);
        4.0 * R::EPSILON * stencil.d.abs() * largest * weights
    }
}

/// The matrix row of a point. That of a conductivity, from the definition: fluxes through the harmonic means of
/// neighbouring conductivities, and through its own where there is no neighbour.
fn row_of(problem: &Problem, i: usize, row: usize) -> Stencil {
    let shape = &problem.shape;
    let matrix = match &problem.operator {
        Operator::Stencil(stencil) => return *stencil,
        Operator::PerPoint(matrix) => matrix,
        Operator::Csr(_) => panic!("a problem on a grid"),
    };
    let own = matrix.conductivity(i, row);
    let flux = |n: usize, there: bool, at: &dyn Fn() -> f64| {
        let other = if there { at() } else { own };
        let mean = if own == other { own } else { 2.0 * (own * other) / (own + other) };
        -(((n + 1) * (n + 1)) as f64) * mean
    };
    let (nx, ny) = (shape.nx(), shape.rows());
    let a = flux(nx, i > 0, &|| matrix.conductivity(i - 1, row));
    let c = flux(nx, i + 1 < nx, &|| matrix.conductivity(i + 1, row));
    if shape.dim() == 1 {
        return Stencil { d: -(a + c), a, c, ..Stencil::default() };
    }
    let e = flux(ny, row > 0, &|| matrix.conductivity(i, row - 1));
    let f = flux(ny, row + 1 < ny, &|| matrix.conductivity(i, row + 1));
    Stencil { d: -((a + c) + (e + f)), a, c, e, f, ..Stencil::default() }
}
