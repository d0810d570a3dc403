//! Sine transforms of the points of a grid: what a field consists of, mode by mode.
//!
//! A mode is a product of sines along the axes that are zero on the boundary, sin(p π i / (n + 1)) with i from 1 to n
//! along an axis of n points, and p from 1 to n its number of half waves. Where the weights are constant and symmetric,
//! modes are the eigenvectors of Jacobi's iteration.

use super::error::ExactError;
use super::rows::{each_row, transpose};
use crate::grid::Shape;
use crate::stop_token::StopToken;
use rustdct::{DctPlanner, Dst1};
use std::f64::consts::PI;
use std::sync::Arc;

/// The sine transform of rows of n values: yₚ = Σ xᵢ sin(p π i / (n + 1)). Made twice, it multiplies by (n + 1) / 2.
pub(super) struct SineTransform(Arc<dyn Dst1<f64>>);

impl SineTransform {
    pub fn new(n: usize) -> Self {
        Self(DctPlanner::new().plan_dst1(n))
    }

    /// What [`SineTransform::row`] works in.
    pub fn scratch(&self) -> Vec<f64> {
        vec![0.0; self.0.get_scratch_len()]
    }

    /// Transforms a row. rustdct 0.7.1 counts on zeros in a scratch that it leaves dirty; what lies there doubles with
    /// every row.
    pub fn row(&self, row: &mut [f64], scratch: &mut [f64]) {
        scratch.fill(0.0);
        self.0.process_dst1_with_scratch(row, scratch);
    }
}

/// Replaces the values at all points (C order) by the amplitudes of the modes, with their signs: the values are the sum
/// of the modes times these. In 1D each row is a system of the batch, and has its own.
///
/// Runs on the threads of rayon in O(n log n), with pauses and one more array of the grid, and checks `cancel` in every row.
///
/// # Errors
/// [`ExactError::Cancelled`].
///
/// # Panics
/// If there are not as many values as points.
pub(crate) async fn sine_amplitudes(
    shape: &Shape,
    values: &mut Vec<f64>,
    cancel: &StopToken,
) -> Result<(), ExactError> {
    assert_eq!(values.len(), shape.points(), "one value for each point");
    let mut turned = match shape.dim() {
        1 => Vec::new(),
        _ => vec![0.0; values.len()],
    };
    for &n in shape.axes() {
        let transform = SineTransform::new(n);
        let factor = 2.0 / (n + 1) as f64;
        let work = |scratch: &mut Vec<f64>, _: usize, row: &mut [f64]| {
            transform.row(row, scratch);
            row.iter_mut().for_each(|value| *value *= factor);
            Ok(())
        };
        each_row(values, n, cancel, || transform.scratch(), work).await?;
        // The next axis becomes the fastest; after the last one the first is that again.
        if shape.dim() > 1 {
            transpose(values, n, &mut turned, cancel).await?;
            std::mem::swap(values, &mut turned);
        }
    }
    Ok(())
}

/// The values of a mode with amplitude 1 along an axis of `n` points, with `p` half waves.
pub fn sine_mode(n: usize, p: usize) -> Vec<f64> {
    let angle = PI * p as f64 / (n + 1) as f64;
    (1..=n).map(|i| (angle * i as f64).sin()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pauses::without_pauses;
    use proptest::prelude::*;

    fn shape(sides: &[usize]) -> Shape {
        match *sides {
            [nx] => Shape::grid_1d(nx, 2),
            [nx, ny] => Shape::grid_2d(nx, ny),
            _ => Shape::grid_3d(sides[0], sides[1], sides[2]),
        }
        .unwrap()
    }

    /// The value of a mode at a point, each with an index per axis, x first.
    fn mode(shape: &Shape, number: &[usize], point: &[usize]) -> f64 {
        let axes = shape.axes().iter().zip(number).zip(point);
        axes.map(|((&n, p), i)| (PI * ((p + 1) * (i + 1)) as f64 / (n + 1) as f64).sin()).product()
    }

    /// The indices of the points of a grid, x fastest.
    fn points(axes: &[usize]) -> Vec<Vec<usize>> {
        axes.iter().rev().fold(vec![Vec::new()], |slower, &n| {
            let with = |rest: &Vec<usize>| {
                let rest = rest.clone();
                (0..n).map(move |i| [vec![i], rest.clone()].concat()).collect::<Vec<_>>()
            };
            slower.iter().flat_map(with).collect()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]

        /// Against the sum over all points, mode by mode; and the modes add up to the values.
        #[test]
        fn amplitudes_are_sums_over_all_points(
            sides in prop::collection::vec(1..9_usize, 1..=3),
            seed in any::<u64>(),
        ) {
            let shape = shape(&sides);
            let source = crate::problem::Source::Random { seed };
            let values: Vec<f64> = (0..shape.rows())
                .flat_map(|row| (0..shape.nx()).map(move |i| (i, row)))
                .map(|(i, row)| source.at(shape.nx(), i, row))
                .collect();
            let mut found = values.clone();
            without_pauses(sine_amplitudes(&shape, &mut found, &StopToken::default())).unwrap();
            let indices = points(shape.axes());
            let scale: f64 = shape.axes().iter().map(|n| 2.0 / (n + 1) as f64).product();
            for (system, found) in found.chunks(indices.len()).enumerate() {
                let values = &values[system * indices.len()..][..indices.len()];
                for (number, found) in indices.iter().zip(found) {
                    let all = indices.iter().zip(values);
                    let sum: f64 = all.map(|(at, value)| value * mode(&shape, number, at)).sum();
                    prop_assert!((found - scale * sum).abs() < 1e-12, "{number:?}");
                }
                for (at, value) in indices.iter().zip(values) {
                    let all = indices.iter().zip(found);
                    let sum: f64 = all.map(|(number, part)| part * mode(&shape, number, at)).sum();
                    prop_assert!((sum - value).abs() < 1e-12, "{at:?}");
                }
            }
        }
    }

    #[test]
    fn a_mode_consists_of_itself() {
        let (shape, [p, q]) = (shape(&[15, 9]), [4, 9]);
        let [across, down] = [sine_mode(15, p), sine_mode(9, q)];
        let mut values: Vec<f64> =
            down.iter().flat_map(|y| across.iter().map(move |x| 3.0 * x * y)).collect();
        without_pauses(sine_amplitudes(&shape, &mut values, &StopToken::default())).unwrap();
        for (at, amplitude) in values.iter().enumerate() {
            let expected = if at == (q - 1) * 15 + p - 1 { 3.0 } else { 0.0 };
            assert!((amplitude - expected).abs() < 1e-13, "{at}: {amplitude}");
        }
    }

    #[test]
    fn it_can_be_cancelled() {
        let cancel = StopToken::default();
        cancel.now();
        let mut values = vec![0.0; 8];
        let cancelled = without_pauses(sine_amplitudes(&shape(&[4]), &mut values, &cancel));
        assert_eq!(cancelled, Err(ExactError::Cancelled));
    }
}
