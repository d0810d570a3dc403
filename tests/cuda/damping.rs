//! Damped sweeps on a GPU against the CPU, to the last bit.

use crate::cases::{case, per_point_case};
use crate::iterates::{block_sizes, check, compare, compare_with, large, settings, share};
use crate::volumes::volume;
use proptest::prelude::*;
use std::cell::Cell;
use tilescope::grid::Precision;
use tilescope::solver::{Kernel, Method};

pub const TESTS: &[(&str, fn())] = &[
    ("damped_sweeps_have_the_bits_of_the_cpu", damped_sweeps_have_the_bits_of_the_cpu),
    ("kernel_register_has_no_damping", kernel_register_has_no_damping),
];

/// ω: any, and those that are chosen most.
fn omega() -> impl Strategy<Value = f64> {
    prop_oneof![3 => 0.01..1.99_f64, 1 => Just(2.0 / 3.0), 1 => Just(0.8), 1 => Just(0.999)]
}

fn damped_sweeps_have_the_bits_of_the_cpu() {
    let cases = prop_oneof![3 => case(), 2 => per_point_case(), 2 => large(), 3 => volume()];
    let kernel = prop::sample::select(vec![Kernel::AUTO, Kernel::SHARED, Kernel::CLASSIC]);
    let precision = prop::sample::select(Precision::ALL.to_vec());
    let block = prop_oneof![block_sizes().prop_map(Some), Just(None)];
    let compared = Cell::new(0);
    let settings = settings() / 2;
    check(
        settings,
        (cases, kernel, precision, omega(), block),
        |(case, kernel, precision, omega, block)| {
            let is_taken = if kernel == Kernel::CLASSIC {
                compare_with(&case, &Method::Classic.damped(omega), precision, kernel, block)
            } else {
                compare(&case, &case.hierarchical().damped(omega), precision, kernel)
            };
            compared.set(compared.get() + u32::from(is_taken));
        },
    );
    // The largest tiles are too large for shared memory.
    assert!(compared.get() > settings * 3 / 4, "only {} were compared", compared.get());
}

fn kernel_register_has_no_damping() {
    check(share(20), (case(), omega()), |(case, omega)| {
        let method = case.hierarchical().damped(omega);
        assert!(!compare(&case, &method, Precision::F64, Kernel::REGISTER), "it damps");
    });
}
