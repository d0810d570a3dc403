use super::*;
use proptest::num::{f32, f64};
use proptest::prelude::*;

/// The fused multiply-add of two lanes, and whether it is in doubt.
fn of_doubles([a, b, c]: [f64; 3]) -> (f64, bool) {
    let [a, b, c] = [a, b, c].map(Doubles::splat);
    let (result, mut values) = (a.fma(b, c), [0.0; 2]);
    result.store(&mut values, 0);
    assert_eq!(values[0].to_bits(), values[1].to_bits());
    (values[0], result.doubts().are_any())
}

fn of_singles([a, b, c]: [f32; 3]) -> (f32, bool) {
    let [a, b, c] = [a, b, c].map(Singles::splat);
    let (result, mut values) = (a.fma(b, c), [0.0; 4]);
    result.store(&mut values, 0);
    assert!(values.iter().all(|value| value.to_bits() == values[0].to_bits()));
    (values[0], result.doubts().are_any())
}

/// Numbers of few bits that are far apart: their products and sums lie next to, and exactly between, two values.
fn sparse(digits: i32, exponents: std::ops::Range<i32>) -> impl Strategy<Value = f64> {
    let bit =
        (-1..=1_i32, 1..digits).prop_map(|(sign, place)| f64::from(sign) * 0.5_f64.powi(place));
    (any::<bool>(), exponents, bit.clone(), bit).prop_map(|(is_negative, exponent, one, other)| {
        let value = (1.0 + one + other) * 2.0_f64.powi(exponent);
        if is_negative { -value } else { value }
    })
}

/// Values of about one size, as those of a run.
fn ordinary() -> impl Strategy<Value = f64> {
    (f64::POSITIVE | f64::NEGATIVE | f64::NORMAL, -60..60_i32).prop_map(|(value, exponent)| {
        let digits = value.to_bits() & !(0x7ff << 52);
        f64::from_bits(digits | (1023 << 52)) * 2.0_f64.powi(exponent)
    })
}

/// Sums of products with addends of every size: next to nothing of it, of its last digit, of itself, far above.
fn any_double() -> impl Strategy<Value = [f64; 3]> {
    let one = prop_oneof![
        4 => ordinary(),
        4 => sparse(53, -60..60),
        1 => f64::ANY | f64::SUBNORMAL | f64::ZERO,
        1 => sparse(53, -1074..1023),
        1 => Just(0.0), 1 => Just(-0.0),
    ];
    let addend = prop_oneof![
        3 => one.clone().prop_map(Err),
        // What takes most of the product away.
        1 => (-4..=4_i64).prop_map(Ok),
    ];
    (one.clone(), one, addend).prop_map(|(a, b, c)| {
        let c = c.map_or_else(
            |value| value,
            |ulps| f64::from_bits((-(a * b)).to_bits().wrapping_add_signed(ulps)),
        );
        [a, b, c]
    })
}

fn any_single() -> impl Strategy<Value = [f32; 3]> {
    #[allow(clippy::cast_possible_truncation)]
    let one = prop_oneof![
        4 => f32::ANY,
        4 => sparse(24, -30..30).prop_map(|value| value as f32),
        1 => f32::SUBNORMAL | f32::ZERO,
        1 => sparse(24, -149..127).prop_map(|value| value as f32),
    ];
    let addend = prop_oneof![3 => one.clone().prop_map(Err), 1 => (-4..=4_i32).prop_map(Ok)];
    (one.clone(), one, addend).prop_map(|(a, b, c)| {
        let c = c.map_or_else(
            |value| value,
            |ulps| f32::from_bits((-(a * b)).to_bits().wrapping_add_signed(ulps)),
        );
        [a, b, c]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200_000))]

    #[test]
    fn doubles_are_fused_as_in_hardware_or_in_doubt([a, b, c] in any_double()) {
        let (value, is_in_doubt) = of_doubles([a, b, c]);
        let expected = a.mul_add(b, c);
        prop_assert!(is_in_doubt || value.to_bits() == expected.to_bits(), "{value:e} for {expected:e}");
    }

    #[test]
    fn singles_are_fused_as_in_hardware([a, b, c] in any_single()) {
        let (value, is_in_doubt) = of_singles([a, b, c]);
        let expected = a.mul_add(b, c);
        prop_assert_eq!(is_in_doubt, !expected.is_finite());
        prop_assert!(is_in_doubt || value.to_bits() == expected.to_bits(), "{:e} for {:e}", value, expected);
    }
}

/// Numbers near the lower end of the exponents, and others.
fn near_the_end() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => sparse(53, -1074..-700),
        2 => (ordinary(), -1074..-700_i32).prop_map(|(value, exponent)| value * 2.0_f64.powi(exponent)),
        2 => ordinary(),
        1 => sparse(53, -60..60),
        1 => Just(0.0), 1 => Just(-0.0),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200_000))]

    /// Only the last result tells whether digits were lost.
    #[test]
    fn chains_are_fused_as_in_hardware_or_in_doubt(
        weights in prop::array::uniform3(prop_oneof![ordinary(), sparse(53, -8..8)]),
        values in prop::array::uniform4(near_the_end()),
    ) {
        let [a, b, c] = weights;
        let [x, y, z, g] = values;
        let expected = a.mul_add(x, b.mul_add(y, c.mul_add(z, g)));
        let [a, b, c] = weights.map(Doubles::splat);
        let [x, y, z, g] = values.map(Doubles::splat);
        let (found, mut value) = (a.fma(x, b.fma(y, c.fma(z, g))), [0.0; 2]);
        found.store(&mut value, 0);
        let is_in_doubt = found.doubts().are_any();
        prop_assert!(is_in_doubt || value[0].to_bits() == expected.to_bits(), "{:e} for {expected:e}", value[0]);
    }

    #[test]
    fn squares_are_added_as_in_hardware_or_in_doubt(
        value in prop_oneof![near_the_end(), sparse(53, -600..600), any_single().prop_map(|[a, ..]| f64::from(a))],
        sum in prop_oneof![near_the_end(), sparse(53, -1074..1023)],
    ) {
        let (found, doubts) = Doubles::splat(value).add_square(Doubles::splat(sum.abs()));
        let mut squares = [0.0; 2];
        found.store(&mut squares, 0);
        prop_assert!(doubts.are_any() || squares[0].to_bits() == value.mul_add(value, sum.abs()).to_bits());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    /// Otherwise all rows would be swept twice.
    #[test]
    fn values_of_a_run_are_not_in_doubt(a in ordinary(), b in ordinary(), c in ordinary()) {
        for values in [[a, b, c], [a, 0.0, c], [a, b, 0.0]] {
            prop_assert!(!of_doubles(values).1);
        }
    }
}
