//! Sweeps of a page that the browser compiles itself, with fused multiply-adds of the processor.
//!
//! WebAssembly has a multiply-add that is fused where the processor can, and not by promise, and not in every browser: a
//! module with that instruction in it does not start where it is unknown. So the page writes a small module, its
//! [`program`], for each form of the update that it needs, and tries whether that fuses.

use super::Sweeps;
use super::program::{Form, MEMORY, SWEEP, VECTOR, WEIGHTS, program};
use crate::grid::Real;
use crate::problem::{System, Weights};
use crate::solver::cpu::norms::Lanes;
use crate::solver::cpu::update::{Block, Rows, STRIPE, measure_swept};
use js_sys::WebAssembly::{Instance, Module, Table};
use js_sys::{Function, Object, Reflect, Uint8Array};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;
use wasm_bindgen::{JsCast, JsValue};

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
    static COMPILED: RefCell<BTreeMap<Form, Option<Sweep>>> = const { RefCell::new(BTreeMap::new()) };
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
        Some(Self { sweep: compiled(form)?, form, constants })
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
fn compiled(form: Form) -> Option<Sweep> {
    let known = COMPILED.with_borrow(|compiled| compiled.get(&form).copied());
    known.unwrap_or_else(|| {
        let compiled = fuses(form.is_double).then(|| compile(form)).and_then(Result::ok);
        COMPILED.with_borrow_mut(|all| all.insert(form, compiled));
        compiled
    })
}

/// Whether multiply-adds are fused.
fn fuses(is_double: bool) -> bool {
    if is_double { tried::<f64>(30) } else { tried::<f32>(12) }
}

/// Tries (1 + ε)² − (1 + 2 ε) with ε = 2⁻ᵈⁱᵍⁱᵗˢ: what is left is ε², which a rounded product has lost.
fn tried<R: Real>(digits: i32) -> bool {
    const WIDTH: usize = VECTOR / size_of::<f32>();
    let small = 0.5_f64.powi(digits);
    let weights = Weights::Isotropic(R::from_f64(1.0 + small));
    let form = Form::new(&weights, 1, false, R::PRECISION);
    let Ok(sweep) = compile(form) else { return false };
    let Weights::Isotropic(weight) = weights else { return false };
    let compiled = Compiled { sweep, form, constants: [weight; WEIGHTS + 1] };
    // Every second value is 0, and so a neighbour.
    let values: [R; WIDTH + 2] =
        std::array::from_fn(|i| if i % 4 == 0 { weight } else { R::default() });
    let g = [R::from_f64(-1.0 - 2.0 * small); WIDTH];
    let mut out = [R::default(); WIDTH];
    let block = Block {
        values: &values,
        first: 1,
        stride: WIDTH,
        along_z: [1; 2],
        g: &g,
        g_stride: WIDTH,
        rows: Rows::NONE,
        width: WIDTH,
        height: 1,
    };
    compiled.sweep(&block, &mut out);
    // Points 0 and 2 have one neighbour that is not 0.
    [0, 2].into_iter().all(|point| out[point].to_f64() == small * small)
}

/// Lets the browser compile the program of a form, and puts it into the table of the page's functions.
fn compile(form: Form) -> Result<Sweep, JsValue> {
    let module = Module::new(&Uint8Array::from(&program(form)[..]).into())?;
    let (imports, memory) = (Object::new(), Object::new());
    Reflect::set(&memory, &MEMORY[1].into(), &wasm_bindgen::memory())?;
    Reflect::set(&imports, &MEMORY[0].into(), &memory)?;
    let instance = Instance::new(&module, &imports)?;
    let function: Function = Reflect::get(&instance.exports(), &SWEEP.into())?.dyn_into()?;
    let table: Table = wasm_bindgen::function_table().dyn_into()?;
    let place = table.grow(1)?;
    table.set(place, &function)?;
    // SAFETY: a pointer to a function is its place in this table, and the function's parameters are as many numbers of 32
    // bits.
    Ok(unsafe { std::mem::transmute::<usize, Sweep>(place as usize) })
}
