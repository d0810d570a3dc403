//! Programs that the page writes and the browser compiles, with fused multiply-adds of the processor.
//!
//! WebAssembly has a multiply-add that is fused where the processor can, and not by promise, and not in every browser: a
//! module with that instruction in it does not start where it is unknown. So the page writes small modules of one function
//! each, and tries whether multiply-adds are fused there.

use crate::grid::{Precision, Real};
use js_sys::WebAssembly::{Instance, Module, Table};
use js_sys::{Function, Object, Reflect, Uint8Array};
use std::sync::LazyLock;
use wasm_bindgen::{JsCast, JsValue};
use wasm_encoder::{
    CodeSection, EntityType, ExportKind, ExportSection, FunctionSection, ImportSection,
    InstructionSink, MemArg, MemArgTarget, MemoryType, TypeSection, ValType,
};

/// Bytes of a vector.
pub(super) const VECTOR: usize = 16;

/// The module that a program imports the page's memory from, and the name of that.
const MEMORY: [&str; 2] = ["page", "memory"];

/// The name of the function that it exports.
const ENTRY: &str = "run";

/// A program of one function: its parameters are `parameters` numbers of 32 bits, the variables after them as many numbers
/// and vectors as `numbers` and `vectors`, and `write` writes its instructions.
pub(super) fn program(
    parameters: usize,
    numbers: u32,
    vectors: u32,
    write: impl FnOnce(InstructionSink<'_>),
) -> Vec<u8> {
    let mut types = TypeSection::new();
    types.ty().function(vec![ValType::I32; parameters], []);
    let mut imports = ImportSection::new();
    let memory = MemoryType {
        minimum: 0,
        maximum: None,
        memory64: false,
        shared: false,
        page_size_log2: None,
    };
    imports.import(MEMORY[0], MEMORY[1], EntityType::Memory(memory));
    let mut functions = FunctionSection::new();
    functions.function(0);
    let mut exports = ExportSection::new();
    exports.export(ENTRY, ExportKind::Func, 0);
    let variables = [(numbers, ValType::I32), (vectors, ValType::V128)];
    let mut function = wasm_encoder::Function::new(variables);
    write(function.instructions());
    let mut code = CodeSection::new();
    code.function(&function);
    let mut module = wasm_encoder::Module::new();
    module.section(&types).section(&imports).section(&functions).section(&exports).section(&code);
    module.finish()
}

/// So many bytes after an address.
pub(super) fn at(offset: usize) -> MemArg {
    MemArg { offset: offset as u64, align: 2, target: MemArgTarget::Memory(0), ordering: None }
}

/// Loads a value into every place of a vector.
pub(super) fn load_splat(code: &mut InstructionSink<'_>, precision: Precision, from: MemArg) {
    match precision {
        Precision::F64 => code.v128_load64_splat(from),
        Precision::F32 => code.v128_load32_splat(from),
    };
}

/// The multiply-add of three vectors: factor, factor, addend.
pub(super) fn multiply_add(code: &mut InstructionSink<'_>, precision: Precision) {
    match precision {
        Precision::F64 => code.f64x2_relaxed_madd(),
        Precision::F32 => code.f32x4_relaxed_madd(),
    };
}

/// Lets the browser compile a program, and puts its function into the table of the page's functions. Returns its place there,
/// which is what a pointer to a function is; `None` where the browser compiles no such program, or fuses no multiply-adds.
pub(super) fn compile<R: Real>(program: &[u8]) -> Option<usize> {
    static FUSES_SINGLES: LazyLock<bool> = LazyLock::new(|| tried::<f32>(12));
    static FUSES_DOUBLES: LazyLock<bool> = LazyLock::new(|| tried::<f64>(30));
    let fuses = match R::PRECISION {
        Precision::F32 => &FUSES_SINGLES,
        Precision::F64 => &FUSES_DOUBLES,
    };
    fuses.then(|| place(program)).and_then(Result::ok)
}

/// Tries (1 + ε)² − (1 + 2 ε) with ε = 2⁻ᵈⁱᵍⁱᵗˢ: what is left is ε², which a rounded product has lost.
fn tried<R: Real>(digits: i32) -> bool {
    type Try = unsafe extern "C" fn(*const u8, *mut u8);
    let program = program(2, 0, 0, |mut code| {
        code.local_get(1);
        code.local_get(0).v128_load(at(0)).local_get(0).v128_load(at(0));
        code.local_get(0).v128_load(at(VECTOR));
        multiply_add(&mut code, R::PRECISION);
        code.v128_store(at(0)).end();
    });
    let Ok(place) = place(&program) else { return false };
    // SAFETY: the function at this place has two numbers of 32 bits as its parameters.
    let multiply_add = unsafe { std::mem::transmute::<usize, Try>(place) };
    let small = 0.5_f64.powi(digits);
    let factors = [R::from_f64(1.0 + small); VECTOR / size_of::<f32>()];
    let addends = [R::from_f64(-1.0 - 2.0 * small); VECTOR / size_of::<f32>()];
    let count = VECTOR / size_of::<R>();
    let values = [&factors[..count], &addends[..count]].concat();
    let mut out = vec![R::default(); count];
    // SAFETY: it reads two vectors and writes one.
    unsafe { multiply_add(values.as_ptr().cast(), out.as_mut_ptr().cast()) };
    out.iter().all(|value| value.to_f64() == small * small)
}

/// Compiles a program; the place of its function in the table.
fn place(program: &[u8]) -> Result<usize, JsValue> {
    let module = Module::new(&Uint8Array::from(program).into())?;
    let (imports, memory) = (Object::new(), Object::new());
    Reflect::set(&memory, &MEMORY[1].into(), &wasm_bindgen::memory())?;
    Reflect::set(&imports, &MEMORY[0].into(), &memory)?;
    let instance = Instance::new(&module, &imports)?;
    let function: Function = Reflect::get(&instance.exports(), &ENTRY.into())?.dyn_into()?;
    let table: Table = wasm_bindgen::function_table().dyn_into()?;
    let place = table.grow(1)?;
    table.set(place, &function)?;
    Ok(place as usize)
}
