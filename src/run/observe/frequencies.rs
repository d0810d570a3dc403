//! What a field consists of, mode by mode.

use super::experiment::Experiment;
use super::field::FieldKind;
use crate::grid::{Field, Precision, Shape, Slice, memory};
use crate::pauses::without_pauses;
use crate::problem::{Problem, residual_with_pauses, sine_amplitudes};
use crate::solver::{Samples, SolverError, Window, larger};
use crate::stop_token::StopToken;
use std::sync::Arc;

/// The most points of a grid whose frequencies are found: on larger ones it takes more than a second.
pub const MOST_FREQUENCIES: usize = 1 << 22;

/// Arrays of the grid that it takes, in double precision: the amplitudes, and these turned.
const ARRAYS: usize = 2;

/// What the half waves of a mode along x, y and z are called.
pub const MODE_NAMES: [&str; 3] = ["p", "q", "r"];

/// Which frequencies of a field are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrequencyRequest {
    /// At most this many samples across and down.
    pub most: [usize; 2],
    /// Of a 3D grid, the slice of all modes: with one more half wave along its axis than its index; without one, those
    /// with a single half wave along z.
    pub slice: Option<Slice>,
}

impl FrequencyRequest {
    /// The slice of the modes of a grid; `None` in 1D and 2D.
    fn slice_of(self, shape: &Shape) -> Option<Slice> {
        Slice::shown(Some(self.slice.unwrap_or(Slice { axis: 2, index: 0 })), shape)
    }
}
/// With the copy of the field that it begins with.
const ALL_ARRAYS: usize = ARRAYS + 1;

/// The amplitudes of the modes that add up to a field, without their signs: the field is their sum, each times a
/// product of sines with p half waves along x, q along y and r along z. Of a 1D batch they are those of its first
/// system, of a 3D grid those of a slice.
#[derive(Clone, Debug, PartialEq)]
pub struct Frequencies {
    /// The field.
    pub field: FieldKind,
    /// Cycles that made the iterate: where this takes long, not every observation has its own.
    pub cycle: u64,
    /// The amplitudes, in the unit of the field: column p − 1 and row q − 1; of a slice those of its two axes.
    pub amplitudes: Samples,
}

/// The work that finds the frequencies of an iterate, on any thread.
pub(in crate::run) struct FrequencyTask {
    problem: Arc<Problem>,
    field: FieldKind,
    cycle: u64,
    request: FrequencyRequest,
    /// A copy of the field; of the residual it is the iterate, since b − A u takes longer than a copy of u.
    values: Field<f64>,
}

impl FrequencyTask {
    /// Finds them, with pauses; `None` where memory does not suffice.
    pub async fn find(self) -> Option<Frequencies> {
        let Self { problem, field, cycle, request, values } = self;
        let values = match field {
            FieldKind::Residual => {
                let mut residual = vec![0.0; values.shape().points()];
                let cancel = StopToken::default();
                residual_with_pauses(&problem, &values, &mut residual, &cancel).await.ok()?;
                residual
            }
            _ => values.to_interior(),
        };
        Frequencies::of(field, cycle, &problem.shape, values, request).await
    }
}

impl Frequencies {
    /// Bytes that finding them takes; none where there are none.
    pub fn bytes(problem: &Problem) -> u64 {
        match has_frequencies(problem) {
            true => problem.shape.array_bytes(ALL_ARRAYS, Precision::F64),
            false => 0,
        }
    }

    /// Those of a field at all points of a grid (C order); `None` where memory does not suffice.
    async fn of(
        field: FieldKind,
        cycle: u64,
        grid: &Shape,
        mut values: Vec<f64>,
        request: FrequencyRequest,
    ) -> Option<Self> {
        memory::check(grid, ARRAYS, Precision::F64).ok()?;
        let is_batch = grid.dim() == 1;
        let shape = if is_batch { Shape::grid_1d(grid.nx(), 1).ok()? } else { *grid };
        values.truncate(shape.points());
        sine_amplitudes(&shape, &mut values, &StopToken::default()).await.ok()?;
        let slice = request.slice_of(&shape);
        let size = match slice {
            Some(slice) => {
                values = plane(&values, &shape, slice);
                slice.axes().map(|axis| shape.axes()[axis])
            }
            None => [shape.nx(), shape.rows()],
        };
        let window = Window { most: request.most, ..Window::whole(size[0], size[1]) };
        let amplitudes = Samples { slice, ..Samples::of(&window, pooled(&values, &window)) };
        Some(Self { field, cycle, amplitudes })
    }

    /// What the axes of the amplitudes are called: half waves along which axis are across, and down.
    pub fn axes(&self) -> [usize; 2] {
        self.amplitudes.slice.map_or([0, 1], Slice::axes)
    }

    /// The half waves of all modes of a slice along the axis that it is across: `r = 1`.
    pub fn slice_name(&self) -> Option<String> {
        let slice = self.amplitudes.slice?;
        Some(format!("{} = {}", MODE_NAMES[slice.axis], slice.index + 1))
    }
}

impl Experiment {
    /// Whether its fields have frequencies: on a grid of at most [`MOST_FREQUENCIES`] points.
    pub(in crate::run) fn has_frequencies(&self) -> bool {
        has_frequencies(&self.run().plan().problem)
    }

    /// The work that finds the frequencies of a field of the present iterate, of which it has a copy; `None` where
    /// there are none, the field is not known, or memory does not suffice.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub(in crate::run) fn frequency_task(
        &self,
        field: FieldKind,
        request: FrequencyRequest,
    ) -> Result<Option<FrequencyTask>, SolverError> {
        if !self.has_frequencies() {
            return Ok(None);
        }
        let (problem, cycle) = (Arc::clone(&self.run().plan().problem), self.run().cycle());
        let copy = match field {
            FieldKind::Residual => self.run().solver().solution().map(Some),
            _ => self.whole(field),
        };
        let values = match copy {
            Ok(Some(values)) => values,
            Ok(None) | Err(SolverError::Memory(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(Some(FrequencyTask { problem, field, cycle, request, values }))
    }

    /// The frequencies of a field of the present iterate; `None` where they cannot be found.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub(super) fn frequencies(
        &self,
        field: FieldKind,
        request: FrequencyRequest,
    ) -> Result<Option<Frequencies>, SolverError> {
        let task = self.frequency_task(field, request)?;
        Ok(task.and_then(|task| without_pauses(task.find())))
    }
}

fn has_frequencies(problem: &Problem) -> bool {
    let Problem { shape, operator, .. } = problem;
    operator.matrix().is_none() && shape.points() <= MOST_FREQUENCIES
}

/// The values of a slice of a 3D grid, row by row.
fn plane(values: &[f64], shape: &Shape, slice: Slice) -> Vec<f64> {
    let axes = shape.axes();
    let strides = [1, axes[0], axes[0] * axes[1]];
    let [across, down] = slice.axes();
    let first = slice.index * strides[slice.axis];
    let row = |at: usize| {
        (0..axes[across]).map(move |i| first + at * strides[down] + i * strides[across])
    };
    (0..axes[down]).flat_map(row).map(|at| values[at]).collect()
}

/// The magnitudes of the values of a grid, row by row, thinned out to a window of it: the largest of each block.
fn pooled(values: &[f64], window: &Window) -> Vec<f32> {
    let (nx, [across, down]) = (window.columns.len(), window.block());
    let samples = values.chunks(nx * down).flat_map(|rows| {
        (0..nx).step_by(across).map(move |first| {
            let blocks = rows.chunks(nx).flat_map(move |row| &row[first..(first + across).min(nx)]);
            blocks.fold(0.0, |most, value| larger(most, value.abs())) as f32
        })
    });
    samples.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::sine_mode;
    use crate::run::observe::ObservationRequest;
    use crate::run::plan::Planner;
    use crate::run::spec::RunSpec;

    /// Of waves with p half waves along x and q along y, 2 and −5 high.
    fn two_modes(shape: &Shape) -> Vec<f64> {
        let mode = |p, q| [sine_mode(shape.nx(), p), sine_mode(shape.rows(), q)];
        let ([x, y], [fine_x, fine_y]) = (mode(3, 2), mode(17, 11));
        let value = |i: usize, j: usize| 2.0 * x[i] * y[j] - 5.0 * fine_x[i] * fine_y[j];
        let points = (0..shape.rows()).flat_map(|j| (0..shape.nx()).map(move |i| (i, j)));
        points.map(|(i, j)| value(i, j)).collect()
    }

    #[test]
    fn a_mode_is_one_bright_point() {
        let shape = Shape::grid_2d(20, 12).unwrap();
        let values = two_modes(&shape);
        let found = without_pauses(Frequencies::of(
            FieldKind::Residual,
            7,
            &shape,
            values,
            at_most([64; 2]),
        ))
        .unwrap();
        assert_eq!((found.cycle, found.amplitudes.size), (7, [20, 12]));
        for (at, amplitude) in found.amplitudes.values.iter().enumerate() {
            let expected = match [at % 20 + 1, at / 20 + 1] {
                [3, 2] => 2.0,
                [17, 11] => 5.0,
                _ => 0.0,
            };
            assert!((amplitude - expected).abs() < 1e-6, "{at}: {amplitude}");
        }
    }

    #[test]
    fn a_bright_point_does_not_vanish_where_it_is_thinned_out() {
        let shape = Shape::grid_2d(20, 12).unwrap();
        let values = two_modes(&shape);
        let found = without_pauses(Frequencies::of(
            FieldKind::Residual,
            0,
            &shape,
            values,
            at_most([7, 5]),
        ))
        .unwrap();
        assert_eq!((found.amplitudes.size, found.amplitudes.block), ([7, 4], [3, 3]));
        for (p, q, expected) in [(3, 2, 2.0), (17, 11, 5.0), (9, 2, 0.0)] {
            let amplitude = found.amplitudes.at(p - 1, q - 1).unwrap();
            assert!((amplitude - expected).abs() < 1e-6, "{p}, {q}: {amplitude}");
        }
    }

    /// Of 3 sin(2 x) sin(5 y) sin(7 z), in the slices that have it and in others.
    #[test]
    fn a_mode_of_a_3d_grid_is_in_three_slices() {
        let shape = Shape::grid_3d(8, 10, 12).unwrap();
        let [x, y, z] = [(8, 2), (10, 5), (12, 7)].map(|(n, p)| sine_mode(n, p));
        let points = (0..960).map(|at| [at % 8, at / 8 % 10, at / 80]);
        let values: Vec<_> = points.map(|[i, j, k]| 3.0 * x[i] * y[j] * z[k]).collect();
        let of = |slice| {
            let request = FrequencyRequest { most: [64; 2], slice };
            without_pauses(Frequencies::of(FieldKind::Error, 0, &shape, values.clone(), request))
                .unwrap()
        };
        for (axis, index, size, [i, j]) in
            [(2, 6, [8, 10], [1, 4]), (1, 4, [8, 12], [1, 6]), (0, 1, [10, 12], [4, 6])]
        {
            let found = of(Some(Slice { axis, index }));
            let amplitudes = &found.amplitudes;
            assert_eq!((amplitudes.size, found.axes()), (size, Slice { axis, index }.axes()));
            assert!((amplitudes.at(i, j).unwrap() - 3.0).abs() < 1e-6);
            let all: f32 = amplitudes.values.iter().sum();
            assert!((all - 3.0).abs() < 1e-5, "{all}");
            assert_eq!(found.slice_name().unwrap(), ["p = 2", "q = 5", "r = 7"][axis]);
        }
        let smooth = of(None);
        assert_eq!(smooth.slice_name().unwrap(), "r = 1");
        assert!(smooth.amplitudes.values.iter().all(|it| *it < 1e-6));
    }

    fn at_most(most: [usize; 2]) -> FrequencyRequest {
        FrequencyRequest { most, slice: None }
    }

    #[test]
    fn they_are_observed_where_there_is_a_grid() {
        for (shape, size) in
            [(&[24][..], Some([24, 1])), (&[24, 18], Some([24, 18])), (&[8; 3], Some([8, 8]))]
        {
            let mut spec = RunSpec::default();
            spec.problem.shape = shape.to_vec();
            (spec.method.tile, spec.method.k) = (vec![4], 3.into());
            let plan = Arc::new(Planner::default().plan(&spec).unwrap());
            let mut experiment = Experiment::new(&plan).unwrap();
            experiment.advance(1).unwrap();
            let request = ObservationRequest {
                frequencies: Some(at_most([64; 2])),
                ..ObservationRequest::default()
            };
            let found = experiment.observe(&request).unwrap().frequencies;
            assert_eq!(found.as_ref().map(|found| found.amplitudes.size), size, "{shape:?}");
            assert!(found.is_none_or(|found| found.amplitudes.values.iter().any(|it| *it > 0.0)));
        }
    }
}
