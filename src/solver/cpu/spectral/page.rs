//! Products of a page that the browser compiles itself.

use super::product::{Matrix, Product};
use super::program::{PANEL, program};
use crate::grid::{Precision, Real};
use crate::solver::cpu::browser::compile;
use std::sync::LazyLock;

/// A compiled product; `program::Parameter` says what it takes.
type Multiply =
    unsafe extern "C" fn(*const u8, usize, *const u8, usize, *mut u8, usize, usize, usize, usize);

/// The compiled product of a precision.
#[derive(Clone, Copy)]
pub(super) struct Compiled(Multiply);

impl Compiled {
    /// That of `R`, compiled once; `None` where the browser fuses nothing.
    pub fn of<R: Real>() -> Option<Self> {
        static OF_SINGLES: LazyLock<Option<Compiled>> = LazyLock::new(Compiled::new::<f32>);
        static OF_DOUBLES: LazyLock<Option<Compiled>> = LazyLock::new(Compiled::new::<f64>);
        match R::PRECISION {
            Precision::F32 => *OF_SINGLES,
            Precision::F64 => *OF_DOUBLES,
        }
    }

    fn new<R: Real>() -> Option<Self> {
        let place = compile::<R>(&program(R::PRECISION))?;
        // SAFETY: a function's place in the page's table is a pointer to it, and its parameters are as many numbers of 32
        // bits.
        Some(Self(unsafe { std::mem::transmute::<usize, Multiply>(place) }))
    }

    /// Computes a product of at least one value, of sums of at least one.
    pub fn multiply<R: Real>(self, product: Product<'_, R>) {
        let Product { a, b, to, stride, rows, inner, columns, .. } = product;
        let size = size_of::<R>();
        let holds = |Matrix { values, stride }: Matrix<'_, R>, rows: usize, columns: usize| {
            (rows - 1) * stride + columns <= values.len()
        };
        assert!(rows > 0 && inner > 0 && columns > 0 && (columns * size).is_multiple_of(PANEL));
        assert!(holds(a, rows, inner) && holds(b, inner, columns));
        assert!(holds(Matrix { values: to, stride }, rows, columns));
        // SAFETY: it reads `rows` rows of `inner` values of A and `inner` rows of `columns` values of B, and writes `rows` rows
        // of `columns` values: all of them are there, as was just asserted, and `to` is no part of what is read.
        unsafe {
            (self.0)(
                a.values.as_ptr().cast(),
                a.stride * size,
                b.values.as_ptr().cast(),
                b.stride * size,
                to.as_mut_ptr().cast(),
                stride * size,
                rows,
                inner,
                columns * size,
            );
        }
    }
}
