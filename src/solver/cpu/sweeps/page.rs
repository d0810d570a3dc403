//! Sweeps of a page that the browser compiles itself: a [`program`] for each form of the update that it needs.

use super::Sweeps;
use super::program::{Form, WEIGHTS, program};
use crate::grid::Real;
use crate::problem::{System, Weights};
use crate::solver::cpu::browser::{VECTOR, compile};
use crate::solver::cpu::norms::Lanes;
use crate::solver::cpu::update::{Block, STRIPE, measure_swept};
use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;

/// A compiled sweep; `program::Parameter` says what it takes.
type Sweep = unsafe extern "C" fn(
    *const u8,
    usize,
    usize,
    usize,
    *const u8,
    usize,
    *const u8,
    usize,
    usize,
    usize,
    *mut u8,
    *const u8,
);

thread_local! {
    /// What was compiled; `None` where it cannot be, or does not fuse.
    static COMPILED: RefCell<HashMap<Form, Option<Sweep>>> = RefCell::default();
}

/// The compiled sweep of a system.
pub(super) struct Compiled<R> {
    sweep: Sweep,
    form: Form,
    /// The weights, and ω.
    constants: [R; WEIGHTS + 1],
}

/// Compiled sweeps, and others for what they do not do.
struct Beside<'a, R> {
    compiled: &'a Compiled<R>,
    others: &'a dyn Sweeps<R>,
}

impl<R: Real> Compiled<R> {
    /// That of a system, of whose update the fraction `omega` is applied; `None` where the browser fuses nothing.
    pub fn new(system: &System<R>, omega: R) -> Option<Self> {
        let is_damped = omega != R::from_f64(1.0);
        let form = Form::new(&system.weights, system.shape().dim(), is_damped, R::PRECISION);
        let mut constants = [R::default(); WEIGHTS + 1];
        match system.weights {
            Weights::Isotropic(weight) => constants[0] = weight,
            Weights::PerAxis(weights) => constants[..3].copy_from_slice(&weights),
            Weights::General(weights) => constants[..6].copy_from_slice(weights.as_flattened()),
            Weights::PerPoint => {}
        }
        constants[WEIGHTS] = omega;
        Some(Self { sweep: compiled::<R>(form)?, form, constants })
    }

    /// Sweeps of which these make all that they can.
    pub fn beside<'a>(&'a self, others: &'a dyn Sweeps<R>) -> impl Sweeps<R> + 'a {
        Beside { compiled: self, others }
    }

    /// Updates a block of rows that are at least as wide as a vector.
    fn sweep(&self, block: &Block<'_, R>, out: &mut [R]) {
        let Block { values, first, stride, along_z, g, g_stride, rows, width, height } = *block;
        let (dim, size) = (self.form.dim, self.form.size());
        // Of weights: as many as come before the diagonals.
        let arrays = self.form.diagonal().unwrap_or(0);
        let reach = if dim > 1 { stride.max(1) } else { 1 };
        let last = (height - 1) * stride + width;
        let last_of_g = (height - 1) * g_stride + width;
        assert!(width * size >= VECTOR && first >= reach && first + last + reach <= values.len());
        assert!(dim < 3 || along_z.into_iter().all(|first| first + last <= values.len()));
        // From a point on, which may be backwards.
        let [before, after] = along_z.map(|other| other.wrapping_sub(first).wrapping_mul(size));
        assert!(last_of_g <= g.len() && last <= out.len());
        assert!(arrays == 0 || (arrays - 1) * rows.distance + last_of_g <= rows.values.len());
        // SAFETY: it reads the points of the block and what lies before and after them along each axis, g, and the
        // weights of these points, and writes as many values: all of them are there, as was just asserted, and `out` is
        // no part of what is read.
        unsafe {
            (self.sweep)(
                values[first - 1..].as_ptr().cast(),
                stride * size,
                before,
                after,
                g.as_ptr().cast(),
                g_stride * size,
                rows.values.as_ptr().cast(),
                rows.distance * size,
                width * size,
                height,
                out.as_mut_ptr().cast(),
                self.constants.as_ptr().cast(),
            );
        }
    }
}

impl<R: Real> Beside<'_, R> {
    /// Whether the compiled sweep takes a block.
    fn can_sweep(&self, block: &Block<'_, R>) -> bool {
        block.height > 0 && block.width * self.compiled.form.size() >= VECTOR
    }
}

impl<R: Real> Sweeps<R> for Beside<'_, R> {
    fn sweep(&self, block: &Block<'_, R>, out: &mut [R]) {
        match self.can_sweep(block) {
            true => self.compiled.sweep(block, out),
            false => self.others.sweep(block, out),
        }
    }

    fn sweep_and_measure(
        &self,
        block: &Block<'_, R>,
        out: &mut [R],
        owned: Range<usize>,
        changes: &mut Lanes<STRIPE>,
    ) {
        if !self.can_sweep(block) {
            return self.others.sweep_and_measure(block, out, owned, changes);
        }
        self.compiled.sweep(block, out);
        measure_swept(block, out, self.compiled.form.diagonal(), owned, changes);
    }
}

/// The sweep of a form, compiled once.
fn compiled<R: Real>(form: Form) -> Option<Sweep> {
    let known = COMPILED.with_borrow(|compiled| compiled.get(&form).copied());
    known.unwrap_or_else(|| {
        let place = compile::<R>(&program(form));
        // SAFETY: a function's place in the page's table is a pointer to it, and its parameters are as many numbers of 32
        // bits.
        let sweep = place.map(|place| unsafe { std::mem::transmute::<usize, Sweep>(place) });
        COMPILED.with_borrow_mut(|all| all.insert(form, sweep));
        sweep
    })
}
