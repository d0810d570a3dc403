//! A product of matrices as a program for the browser's own compiler.
//!
//! A band of rows and a panel of columns are summed at a time, in vectors that fit the processor's registers.

use crate::grid::Precision;
use crate::solver::cpu::browser::{self, VECTOR, at};
use wasm_encoder::{BlockType, InstructionSink};

/// Vectors side by side in a panel, and its bytes.
const VECTORS: usize = 2;
pub(super) const PANEL: usize = VECTORS * VECTOR;

/// Rows of a band; where fewer are left, they come one by one.
const ROWS: usize = 4;

/// The function's parameters, in order: addresses, distances from row to row and the width of B in bytes, and numbers of
/// rows.
#[derive(Clone, Copy)]
enum Parameter {
    A,
    AStride,
    B,
    BStride,
    To,
    Stride,
    Rows,
    /// Columns of A, rows of B.
    Inner,
    Columns,
}

/// How many parameters there are.
const PARAMETERS: usize = 9;

/// The variables after them: rows that are left of a panel, those of B that are left, the places in B and in the result, the
/// band's rows of A, then vectors: the values of B, a value of A, and the sums.
const LEFT: u32 = PARAMETERS as u32;
const INNER: u32 = LEFT + 1;
const B: u32 = LEFT + 2;
const TO: u32 = LEFT + 3;
const NEXT: u32 = LEFT + 4;
const A: u32 = LEFT + 5;
const VALUES: u32 = A + ROWS as u32;
const FACTOR: u32 = VALUES + VECTORS as u32;
const SUMS: u32 = FACTOR + 1;

/// The program.
pub(super) fn program(precision: Precision) -> Vec<u8> {
    let sums = (ROWS * VECTORS) as u32;
    browser::program(PARAMETERS, VALUES - LEFT, SUMS - VALUES + sums, |code| {
        Product { precision, code }.write();
    })
}

/// Writes the product.
struct Product<'a> {
    precision: Precision,
    code: InstructionSink<'a>,
}

impl Product<'_> {
    fn write(mut self) {
        // From panel to panel.
        self.code.loop_(BlockType::Empty);
        self.copy(Parameter::Rows, LEFT).copy(Parameter::A, NEXT).copy(Parameter::To, TO);
        for rows in [ROWS, 1] {
            self.code.block(BlockType::Empty).loop_(BlockType::Empty);
            self.code.local_get(LEFT).i32_const(rows as i32).i32_lt_u().br_if(1);
            self.band(rows);
            self.code.local_get(LEFT).i32_const(rows as i32).i32_sub().local_set(LEFT);
            self.code.br(0).end().end();
        }
        for pointer in [Parameter::B, Parameter::To] {
            self.get(pointer).code.i32_const(PANEL as i32).i32_add().local_set(pointer as u32);
        }
        self.get(Parameter::Columns).code.i32_const(PANEL as i32).i32_sub();
        self.code.local_tee(Parameter::Columns as u32).br_if(0).end().end();
    }

    /// Computes rows of the result in a panel.
    fn band(&mut self, rows: usize) {
        for row in 0..rows as u32 {
            self.code.local_get(NEXT).local_tee(A + row);
            self.get(Parameter::AStride).code.i32_add().local_set(NEXT);
        }
        for sum in 0..(rows * VECTORS) as u32 {
            self.code.v128_const(0).local_set(SUMS + sum);
        }
        self.copy(Parameter::B, B).copy(Parameter::Inner, INNER);
        self.code.loop_(BlockType::Empty);
        for vector in 0..VECTORS {
            let from = at(vector * VECTOR);
            self.code.local_get(B).v128_load(from).local_set(VALUES + vector as u32);
        }
        for row in 0..rows as u32 {
            self.code.local_get(A + row);
            browser::load_splat(&mut self.code, self.precision, at(0));
            self.code.local_set(FACTOR);
            for vector in 0..VECTORS as u32 {
                let sum = SUMS + row * VECTORS as u32 + vector;
                self.code.local_get(FACTOR).local_get(VALUES + vector).local_get(sum);
                browser::multiply_add(&mut self.code, self.precision);
                self.code.local_set(sum);
            }
            self.code.local_get(A + row).i32_const(self.precision.bytes() as i32).i32_add();
            self.code.local_set(A + row);
        }
        self.code.local_get(B);
        self.get(Parameter::BStride).code.i32_add().local_set(B);
        self.code.local_get(INNER).i32_const(1).i32_sub().local_tee(INNER).br_if(0).end();
        for row in 0..rows {
            for vector in 0..VECTORS {
                let sum = SUMS + (row * VECTORS + vector) as u32;
                self.code.local_get(TO).local_get(sum).v128_store(at(vector * VECTOR));
            }
            self.code.local_get(TO);
            self.get(Parameter::Stride).code.i32_add().local_set(TO);
        }
    }

    fn get(&mut self, parameter: Parameter) -> &mut Self {
        self.code.local_get(parameter as u32);
        self
    }

    fn copy(&mut self, parameter: Parameter, variable: u32) -> &mut Self {
        self.get(parameter).code.local_set(variable);
        self
    }
}
