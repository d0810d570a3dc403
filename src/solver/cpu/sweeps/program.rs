//! A sweep as a program for the browser's own compiler (WebAssembly with relaxed vectors), in which a fused multiply-add is one
//! instruction.

use crate::grid::Precision;
use crate::problem::Weights;
use crate::solver::cpu::browser::{self, VECTOR, at};
use wasm_encoder::{BlockType, InstructionSink};

/// The most weights of a form, before ω.
pub(super) const WEIGHTS: usize = 6;

/// Which sums a sweep is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Form {
    pub weights: WeightsOf,
    pub dim: usize,
    pub is_damped: bool,
    pub precision: Precision,
}

/// What has a weight of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum WeightsOf {
    /// All neighbours together.
    Grid,
    /// The neighbours along an axis.
    Axis,
    /// Each neighbour.
    Neighbour,
    /// Each neighbour of each point.
    Point,
}

impl Form {
    /// That of a system with such weights.
    pub fn new<R>(weights: &Weights<R>, dim: usize, is_damped: bool, precision: Precision) -> Self {
        let weights = match weights {
            Weights::Isotropic(_) => WeightsOf::Grid,
            Weights::PerAxis(_) => WeightsOf::Axis,
            Weights::General(_) => WeightsOf::Neighbour,
            Weights::PerPoint => WeightsOf::Point,
        };
        Self { weights, dim, is_damped, precision }
    }

    /// Bytes of a value.
    pub fn size(self) -> usize {
        self.precision.bytes()
    }

    /// Where points have rows of their own, which of the arrays of these has their diagonals: it comes after the weights.
    pub fn diagonal(self) -> Option<usize> {
        (self.weights == WeightsOf::Point).then_some(2 * self.dim)
    }

    /// What is added to g, in order: the number of a weight, and the pairs of neighbours whose sums it is multiplied
    /// with. The order is that of `Update`.
    fn terms(self) -> Vec<(usize, Vec<Vec<Neighbour>>)> {
        let axes = (0..self.dim).rev();
        let pair = |axis| Neighbour::along(axis).to_vec();
        match self.weights {
            WeightsOf::Grid => vec![(0, (0..self.dim).map(pair).collect())],
            WeightsOf::Axis => axes.map(|axis| (axis, vec![pair(axis)])).collect(),
            WeightsOf::Neighbour | WeightsOf::Point => {
                let each = |axis: usize| {
                    let [previous, next] = Neighbour::along(axis);
                    [(2 * axis + 1, vec![vec![next]]), (2 * axis, vec![vec![previous]])]
                };
                axes.flat_map(each).collect()
            }
        }
    }
}

/// A neighbour of a point: along which axis, and on which side.
#[derive(Clone, Copy)]
struct Neighbour {
    axis: usize,
    is_next: bool,
}

impl Neighbour {
    /// The previous and the next one.
    fn along(axis: usize) -> [Self; 2] {
        [false, true].map(|is_next| Self { axis, is_next })
    }
}

/// The function's parameters, in order; addresses and distances in bytes, and `HEIGHT` rows of `WIDTH` bytes.
#[derive(Clone, Copy)]
enum Parameter {
    /// Of the value before the first point.
    Values,
    Stride,
    /// From a point to its neighbours along z; to the previous one it is negative.
    Before,
    After,
    G,
    GStride,
    /// Of the first weight of the first point, where points have weights of their own.
    Rows,
    /// From an array of weights to the next.
    Distance,
    Width,
    Height,
    Out,
    /// Of the weights that are constants, and ω after [`WEIGHTS`] of them.
    Constants,
}

/// How many parameters there are.
const PARAMETERS: usize = 12;

/// The first variable after them, and those that follow.
const COLUMN: u32 = PARAMETERS as u32;
const LAST: u32 = COLUMN + 1;
const SUM: u32 = COLUMN + 2;
const WEIGHT: u32 = COLUMN + 3;
const OMEGA: u32 = WEIGHT + WEIGHTS as u32;

/// The program.
pub(super) fn program(form: Form) -> Vec<u8> {
    browser::program(PARAMETERS, 2, 2 + WEIGHTS as u32, |code| Sweep { form, code }.write())
}

/// Writes the sweep.
struct Sweep<'a> {
    form: Form,
    code: InstructionSink<'a>,
}

impl Sweep<'_> {
    fn write(mut self) {
        self.constants();
        self.get(Parameter::Width);
        self.code.i32_const(VECTOR as i32).i32_sub().local_set(LAST);
        self.code.loop_(BlockType::Empty).i32_const(0).local_set(COLUMN);
        self.code.block(BlockType::Empty).loop_(BlockType::Empty);
        self.vector();
        // The last vector of a row is moved back so that it is full: nothing is lost by updating a point twice.
        self.code.local_get(COLUMN).local_get(LAST).i32_eq().br_if(1);
        self.code.local_get(COLUMN).i32_const(VECTOR as i32).i32_add().local_tee(COLUMN);
        self.code.local_get(LAST).local_get(COLUMN).local_get(LAST).i32_lt_u().select();
        self.code.local_set(COLUMN).br(0).end().end();
        for (pointer, distance) in [
            (Parameter::Values, Parameter::Stride),
            (Parameter::Out, Parameter::Stride),
            (Parameter::G, Parameter::GStride),
            (Parameter::Rows, Parameter::GStride),
        ] {
            self.get(pointer).get(distance);
            self.code.i32_add().local_set(pointer as u32);
        }
        self.get(Parameter::Height);
        self.code.i32_const(1).i32_sub().local_tee(Parameter::Height as u32).br_if(0).end().end();
    }

    fn get(&mut self, parameter: Parameter) -> &mut Self {
        self.code.local_get(parameter as u32);
        self
    }

    /// Keeps the weights that are constants, and ω.
    fn constants(&mut self) {
        let weights = match self.form.weights {
            WeightsOf::Grid => 1,
            WeightsOf::Axis => self.form.dim,
            WeightsOf::Neighbour => 2 * self.form.dim,
            WeightsOf::Point => 0,
        };
        let omega = self.form.is_damped.then_some(WEIGHTS);
        for constant in (0..weights).chain(omega) {
            self.get(Parameter::Constants);
            let from = at(constant * self.form.size());
            browser::load_splat(&mut self.code, self.form.precision, from);
            self.code.local_set(WEIGHT + constant as u32);
        }
    }

    /// Updates the points of a vector.
    fn vector(&mut self) {
        let own = self.form.size();
        self.address(Parameter::Out);
        self.address(Parameter::G).code.v128_load(at(0)).local_set(SUM);
        for (weight, pairs) in self.form.terms() {
            self.weight(weight);
            for (number, pair) in pairs.iter().enumerate() {
                self.neighbour(pair[0]);
                for &other in &pair[1..] {
                    self.neighbour(other).add();
                }
                if number > 0 {
                    self.add();
                }
            }
            self.code.local_get(SUM);
            self.fused().code.local_set(SUM);
        }
        if self.form.is_damped {
            self.code.local_get(OMEGA).local_get(SUM);
            self.address(Parameter::Values).code.v128_load(at(own));
            match self.form.precision {
                Precision::F64 => self.code.f64x2_sub(),
                Precision::F32 => self.code.f32x4_sub(),
            };
            self.address(Parameter::Values).code.v128_load(at(own));
            self.fused().code.local_set(SUM);
        }
        self.code.local_get(SUM).v128_store(at(0));
    }

    /// Where a column begins in what a parameter is the address of.
    fn address(&mut self, parameter: Parameter) -> &mut Self {
        self.get(parameter).code.local_get(COLUMN).i32_add();
        self
    }

    fn weight(&mut self, weight: usize) {
        if self.form.weights == WeightsOf::Point {
            self.address(Parameter::Rows).get(Parameter::Distance);
            self.code.i32_const(weight as i32).i32_mul().i32_add().v128_load(at(0));
        } else {
            self.code.local_get(WEIGHT + weight as u32);
        }
    }

    fn neighbour(&mut self, Neighbour { axis, is_next }: Neighbour) -> &mut Self {
        let size = self.form.size();
        self.address(Parameter::Values);
        if axis == 0 {
            self.code.v128_load(at(if is_next { 2 * size } else { 0 }));
            return self;
        }
        self.get(match (axis, is_next) {
            (1, _) => Parameter::Stride,
            (_, false) => Parameter::Before,
            (_, true) => Parameter::After,
        });
        match axis == 1 && !is_next {
            true => self.code.i32_sub(),
            false => self.code.i32_add(),
        };
        self.code.v128_load(at(size));
        self
    }

    fn add(&mut self) -> &mut Self {
        match self.form.precision {
            Precision::F64 => self.code.f64x2_add(),
            Precision::F32 => self.code.f32x4_add(),
        };
        self
    }

    fn fused(&mut self) -> &mut Self {
        browser::multiply_add(&mut self.code, self.form.precision);
        self
    }
}
