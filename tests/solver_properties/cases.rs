//! Random problems and tilings, small enough to be solved point by point and large enough to
//! have whole vectors, last tiles that were moved back, and more than one task.

use proptest::prelude::*;
use std::sync::Arc;
use tilescope::grid::{AxisTiling, Field, Precision, Shape, Tiling};
use tilescope::problem::{Boundary, Conductivity, Diffusion, Jump, Problem, Source, Stencil};
use tilescope::solver::{Method, Subiterations};

/// A problem, how it is cut, and how far it is taken.
#[derive(Clone, Debug)]
pub struct Case {
    pub problem: Arc<Problem>,
    pub tile: [usize; 3],
    pub overlap: [usize; 3],
    pub k: usize,
    pub cycles: usize,
}

/// The tolerance from which on a comparison says nothing: rounding errors of weights that are not dominant grow.
pub const MOST_TOLERANCE: f64 = 1e-2;

impl Case {
    pub fn tiling(&self) -> Tiling {
        Tiling::new(self.problem.shape.axes(), &self.tile, &self.overlap).expect("a valid tiling")
    }

    pub fn hierarchical(&self) -> Method {
        Method::Hierarchical { k: self.k, tiling: self.tiling() }
    }

    /// How much a rounding error may have grown after some cycles.
    pub fn growth(&self, cycles: usize) -> f64 {
        let stencil = self.problem.operator.stencil().expect("a grid");
        stencil.dominance().max(1.0).powf((cycles * self.k) as f64)
    }

    /// How much smaller the least of the scaled values of a tile is than the largest.
    pub fn loss(&self) -> f64 {
        let pairs = self.problem.operator.stencil().expect("a grid").neighbours();
        let axes = self.tiling();
        // A tile of one point scales nothing, whatever the weights.
        let axes = axes.axes().iter().zip(pairs);
        let axes = axes.filter(|(axis, [previous, next])| previous != next && axis.tile() > 1);
        let of = |(axis, [previous, next]): (&AxisTiling, [f64; 2])| {
            (0.5 * (axis.tile() - 1) as f64 * (previous / next).ln().abs()).exp()
        };
        axes.map(of).product()
    }

    /// How far apart two results of the case may be after some cycles, over the largest value, of which `results` (1 or 2) are
    /// made in the sine basis. A cycle changes a point by up to k and up to 2 (T / π)² times what its first sweep does, and so
    /// it does what that sweep rounds, always in the same direction where the iterate is smooth. Scaling unequal weights loses
    /// digits: in double precision 1e-12 leaves room for three of them and a change of 50 times, in single precision 1e-5 for one.
    pub fn sine_rounding(
        &self,
        k: Subiterations,
        precision: Precision,
        results: usize,
        cycles: usize,
    ) -> f64 {
        let side = self.tile.into_iter().max().unwrap_or(1) as f64;
        let of_tile = 2.0 * (side / std::f64::consts::PI).powi(2);
        let change = match k {
            Subiterations::Finite(k) => of_tile.min(k as f64),
            Subiterations::Infinite => of_tile,
        };
        let (loss, results) = (self.loss(), results as f64);
        match precision {
            Precision::F64 => 1e-12 * (results * (change / 50.0).max(1.0) * loss / 1e3).max(1.0),
            Precision::F32 => {
                let rounded = cycles as f64 * change * f64::from(f32::EPSILON);
                rounded.max(1e-5) * results * (loss / 10.0).max(1.0)
            }
        }
    }

    /// Some field of the problem's shape, to stand for an exact solution or another iterate.
    pub fn other(&self) -> Field<f64> {
        let (nx, source) = (self.problem.shape.nx(), Source::Random { seed: 77 });
        Field::from_fn(self.problem.shape, |i, row| source.at(nx, i, row))
    }
}

pub fn any_case() -> impl Strategy<Value = Case> {
    of_shape(shape())
}

/// On a 1D or 2D grid.
pub fn case() -> impl Strategy<Value = Case> {
    of_shape(flat_shape())
}

/// On a 3D grid that is cut into several slabs of rows.
pub fn tall_volume() -> impl Strategy<Value = Case> {
    let nx = prop_oneof![3 => 1..=24_usize, 1 => 120..=150_usize];
    let shape = (nx, 1..=70_usize, 1..=9_usize)
        .prop_map(|(nx, ny, nz)| Shape::grid_3d(nx, ny, nz).expect("a small shape"));
    of_shape(shape)
}

/// On a 1D or 2D grid whose points have rows of their own: a conductivity that jumps, or a random one.
pub fn per_point_case() -> impl Strategy<Value = Case> {
    with_random_rows(case())
}

/// The same cases with such rows in place of theirs.
pub fn with_random_rows(cases: impl Strategy<Value = Case>) -> impl Strategy<Value = Case> {
    let random = (any::<u64>(), 0.0..7.0_f64);
    let point = || [-0.5..1.5_f64, -0.5..1.5_f64];
    let jump = (point(), point(), prop_oneof![Just(1000.0), 1e-3..1e3_f64]);
    (cases, any::<bool>(), random, jump).prop_map(|(case, jumps, (seed, spread), jump)| {
        let shape = case.problem.shape;
        let conductivity = if jumps {
            Conductivity::Jump(Jump { interface: [jump.0, jump.1], ratio: jump.2 })
        } else {
            let random = Source::Random { seed };
            let value = |at| (spread * random.at(1, 0, at)).exp();
            Conductivity::Array((0..shape.points()).map(value).collect())
        };
        let operator = Diffusion::new(&shape, conductivity).expect("1D or 2D").into();
        Case { problem: Arc::new(Problem { operator, ..(*case.problem).clone() }), ..case }
    })
}

fn of_shape(shape: impl Strategy<Value = Shape>) -> impl Strategy<Value = Case> {
    shape.prop_flat_map(|shape| {
        let axis = |widest: usize| {
            let tile = prop_oneof![2 => 1..=widest, 1 => prop::sample::select(vec![8, 16, 32, 64])];
            tile.prop_flat_map(|tile: usize| {
                (Just(tile), (0..=tile.saturating_sub(2) / 2).prop_map(|half| 2 * half))
            })
        };
        // A 3D tile has more points than a 2D one of the same side.
        let [x, y, z] = if shape.dim() == 3 { [20, 8, 8] } else { [45, 20, 1] };
        (problem(shape), axis(x), axis(y), axis(z), 1..=9_usize, 1..=4_usize).prop_map(
            |(problem, x, y, z, k, cycles)| Case {
                problem: Arc::new(problem),
                tile: [x.0, y.0, z.0],
                overlap: [x.1, y.1, z.1],
                k,
                cycles,
            },
        )
    })
}

fn shape() -> impl Strategy<Value = Shape> {
    // Long rows are swept in another way.
    let nx = prop_oneof![4 => 1..=40_usize, 1 => 120..=150_usize];
    let grid_3d = (nx, 1..=11_usize, 1..=11_usize)
        .prop_map(|(nx, ny, nz)| Shape::grid_3d(nx, ny, nz).expect("a small shape"));
    prop_oneof![2 => flat_shape(), 1 => grid_3d]
}

fn flat_shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        (1..=300_usize, 1..=5_usize).prop_map(|(n, batch)| Shape::grid_1d(n, batch)),
        (1..=20_usize, 1..=40_usize).prop_map(|(n, batch)| Shape::grid_1d(n, batch)),
        (1..=90_usize, 1..=24_usize).prop_map(|(nx, ny)| Shape::grid_2d(nx, ny)),
        (1..=24_usize, 1..=90_usize).prop_map(|(nx, ny)| Shape::grid_2d(nx, ny)),
    ]
    .prop_map(|shape| shape.expect("a small shape"))
}

fn problem(shape: Shape) -> impl Strategy<Value = Problem> {
    let boundary =
        prop::array::uniform6(-3.0..3.0_f64).prop_map(|[left, right, top, bottom, front, back]| {
            Boundary { left, right, top, bottom, front, back }
        });
    let boundary = prop_oneof![Just(Boundary::default()), boundary];
    (stencil(shape), source(shape, 500.0), source(shape, 1.0), boundary).prop_map(
        move |(stencil, rhs, initial_guess, boundary)| Problem {
            shape,
            operator: stencil.into(),
            rhs,
            initial_guess,
            boundary,
        },
    )
}

/// Every form of the weights: isotropic, equal along each axis, general.
fn stencil(shape: Shape) -> impl Strategy<Value = Stencil> {
    let dim = shape.dim();
    let general = (prop::array::uniform6(-2.0..2.0_f64), 0.9..2.0_f64, any::<bool>()).prop_map(
        move |([a, c, mut e, mut f, mut p, mut q], excess, plus)| {
            if dim < 2 {
                (e, f) = (0.0, 0.0);
            }
            if dim < 3 {
                (p, q) = (0.0, 0.0);
            }
            let sum = a.abs() + c.abs() + e.abs() + f.abs() + p.abs() + q.abs();
            let d = excess * sum + 0.1;
            Stencil { d: if plus { d } else { -d }, a, c, e, f, p, q }
        },
    );
    let isotropic = move |s: Stencil| {
        let [y, z] = [dim > 1, dim > 2].map(|has_axis| if has_axis { s.a } else { 0.0 });
        Stencil { c: s.a, e: y, f: y, p: z, q: z, ..s }
    };
    prop_oneof![
        Just(Stencil::poisson(&shape)),
        prop::array::uniform3(-9.0..9.0_f64)
            .prop_map(move |v| Stencil::convection_diffusion(&shape, v)),
        general.clone(),
        general.clone().prop_map(|s| Stencil { c: s.a, f: s.e, q: s.p, ..s }),
        general.prop_map(isotropic),
    ]
}

fn source(shape: Shape, scale: f64) -> impl Strategy<Value = Source> {
    let (nx, rows) = (shape.nx(), shape.rows());
    let part = |n: usize| (0..n, 0..=n).prop_map(|(a, b)| a.min(b)..a.max(b));
    let points = (0..nx, prop::option::of(0..rows), -scale..scale);
    let points = prop::collection::vec(points, 0..4);
    prop_oneof![
        Just(Source::Constant(1.0)),
        (-scale..scale).prop_map(Source::Constant),
        points.prop_map(Source::Points),
        (part(nx), part(rows), -scale..scale).prop_map(|(columns, rows, value)| Source::Box {
            columns,
            rows,
            value
        }),
        any::<u64>().prop_map(|seed| Source::Random { seed }),
        any::<u64>().prop_map(move |seed| {
            let random = Source::Random { seed };
            let value = |at: usize| scale * random.at(nx, at % nx, at / nx);
            Source::Array((0..shape.points()).map(value).collect())
        }),
    ]
}
