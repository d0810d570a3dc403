//! A whole 3D field in few enough samples to be drawn from any side, or seen along an axis.

use super::experiment::Experiment;
use super::field::FieldKind;
use crate::grid::Slice;
use crate::solver::{Samples, SolverError, Window, larger};
use std::ops::Range;

/// The most samples of a volume along an axis.
pub const MOST_VOLUME_SAMPLES: usize = 128;

/// The most samples of planes that are held at a time, before planes are pooled.
const MOST_HELD: usize = 1 << 22;

/// A 3D field. Where it is thinned out, a sample stands for a block of points and is the value of largest
/// magnitude among them, so that a plane one point thick never vanishes.
#[derive(Clone, Debug, PartialEq)]
pub struct VolumeSamples {
    /// Points of the grid along x, y and z.
    pub points: [usize; 3],
    /// Points along each side of the block that a sample stands for; the last ones may stand for fewer.
    pub block: [usize; 3],
    /// Samples along x, y and z.
    pub size: [usize; 3],
    /// The samples, x fastest. NaN: not known.
    pub values: Vec<f32>,
}

impl VolumeSamples {
    /// Samples along x, y and z of a grid of these points, at most `most` along each axis, and the points
    /// along each side of them.
    pub fn size(points: [usize; 3], most: [usize; 3]) -> ([usize; 3], [usize; 3]) {
        let block = [0, 1, 2].map(|axis| points[axis].div_ceil(most[axis].max(1)).max(1));
        ([0, 1, 2].map(|axis| points[axis].div_ceil(block[axis])), block)
    }

    /// Pools planes of samples, which come in the order of z and are pooled within themselves.
    fn pool(points: [usize; 3], most: [usize; 3], planes: impl Iterator<Item = Samples>) -> Self {
        let (size, block) = Self::size(points, most);
        let plane = size[0] * size[1];
        let mut values: Vec<f32> = Vec::with_capacity(plane * size[2]);
        let mut z = 0;
        for samples in planes {
            for of_plane in samples.values.chunks(plane.max(1)) {
                if z % block[2] == 0 {
                    values.extend(of_plane);
                } else {
                    let start = values.len() - plane;
                    for (most, value) in values[start..].iter_mut().zip(of_plane) {
                        *most = larger((*most).into(), (*value).into()) as f32;
                    }
                }
                z += 1;
            }
        }
        Self { points, block, size, values }
    }
}

impl Experiment {
    /// A field of the present iterate in at most `most` samples along each axis; `None` in 1D and 2D.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub(super) fn volume(
        &self,
        field: FieldKind,
        most: usize,
    ) -> Result<Option<VolumeSamples>, SolverError> {
        let shape = &self.run().plan().problem.shape;
        if shape.dim() != 3 {
            return Ok(None);
        }
        let whole = [0..shape.nx(), 0..shape.ny(), 0..shape.nz()];
        Ok(Some(self.pooled(field, &whole, [most; 3])?))
    }

    /// The values of largest magnitude along the axis across a slice, in a window of that slice.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub(super) fn projection(
        &self,
        field: FieldKind,
        slice: Slice,
        window: &Window,
    ) -> Result<Samples, SolverError> {
        let shape = &self.run().plan().problem.shape;
        let mut part = [0..shape.nx(), 0..shape.ny(), 0..shape.nz()];
        let mut most = [1; 3];
        let [across, down] = slice.axes();
        (part[across], part[down]) = (window.columns.clone(), window.rows.clone());
        [most[across], most[down]] = window.most;
        // A single sample thick, in the order of the slice's columns and rows.
        Ok(Samples::of(window, self.pooled(field, &part, most)?.values))
    }

    /// A part of a field of a 3D grid in at most `most` samples along each axis.
    fn pooled(
        &self,
        field: FieldKind,
        part: &[Range<usize>; 3],
        most: [usize; 3],
    ) -> Result<VolumeSamples, SolverError> {
        let points = part.each_ref().map(ExactSizeIterator::len);
        let ny = self.run().plan().problem.shape.ny();
        let windows = windows(ny, part, VolumeSamples::size(points, most));
        // Pooled as they come: all planes of a map in its full size may take gigabytes.
        let mut failed = None;
        let planes = windows.map_while(|window| match self.samples(field, &window) {
            Ok(samples) => Some(samples),
            Err(error) => {
                failed = Some(error);
                None
            }
        });
        let pooled = VolumeSamples::pool(points, most, planes);
        failed.map_or(Ok(pooled), Err)
    }
}

/// The windows of a part of a grid with `ny` rows a plane, in the order of z, whose samples are those of the part's planes.
/// Whole planes that blocks of rows divide are sampled many at a time.
fn windows(
    ny: usize,
    [x, y, z]: &[Range<usize>; 3],
    ([across, down, _], block): ([usize; 3], [usize; 3]),
) -> impl Iterator<Item = Window> {
    let together = match y.len() == ny && ny.is_multiple_of(block[1]) {
        true => (MOST_HELD / (across * down)).clamp(1, z.len().max(1)),
        false => 1,
    };
    z.clone().step_by(together).map(move |first| {
        let last = (first + together).min(z.end) - 1;
        let most = [across, down * (last - first + 1)];
        let rows = ny * first + y.start..ny * last + y.end;
        Window { columns: x.clone(), rows, slice: None, most }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::observe::{MapRequest, ObservationRequest, SlicesRequest};
    use crate::run::plan::Planner;
    use crate::run::spec::RunSpec;
    use proptest::prelude::*;
    use std::sync::Arc;

    /// A plane of planes as a solver samples it, but of values that are known.
    fn pooled(points: [usize; 3], most: usize, value: impl Fn([usize; 3]) -> f32) -> VolumeSamples {
        let ([nx, ny, nz], most) = (points, [most; 3]);
        let (size, block) = VolumeSamples::size(points, most);
        let plane = |z: usize| {
            let mut values = vec![0.0_f64; size[0] * size[1]];
            for (x, y) in (0..ny).flat_map(|y| (0..nx).map(move |x| (x, y))) {
                let most = &mut values[y / block[1] * size[0] + x / block[0]];
                *most = larger(*most, value([x, y, z]).into());
            }
            Samples {
                values: values.iter().map(|value| *value as f32).collect(),
                ..Samples::default()
            }
        };
        VolumeSamples::pool(points, most, (0..nz).map(plane))
    }

    #[test]
    fn a_plane_one_point_thick_does_not_vanish() {
        for axis in 0..3 {
            for at in [0, 77, 199] {
                let value = |point: [usize; 3]| if point[axis] == at { -9.0 } else { 1e-6 };
                let pooled = pooled([200; 3], MOST_VOLUME_SAMPLES, value);
                assert_eq!((pooled.size, pooled.block), ([100; 3], [2; 3]));
                let bright = pooled.values.iter().filter(|value| **value == -9.0).count();
                assert_eq!(bright, 100 * 100, "axis {axis} at {at}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        /// Each sample of a run is the largest of the points that it stands for, found one by one.
        #[test]
        fn samples_are_the_largest_of_their_points(
            points in [4..20_usize, 4..20_usize, 4..20_usize],
            most in 1..24_usize,
        ) {
            let mut spec = RunSpec::default();
            spec.problem.shape = points.to_vec();
            (spec.method.tile, spec.method.k) = (vec![4], 3.into());
            let plan = Arc::new(Planner::default().plan(&spec).unwrap());
            let mut experiment = Experiment::new(&plan).unwrap();
            experiment.advance(2).unwrap();
            let request = ObservationRequest { volume: Some(most), ..ObservationRequest::default() };
            let volume = experiment.observe(&request).unwrap().volume.unwrap();
            let (size, block) = VolumeSamples::size(points, [most; 3]);
            prop_assert!(size.iter().all(|size| *size <= most));
            prop_assert_eq!((volume.size, volume.block), (size, block));
            let mut expected = vec![0.0; size.iter().product()];
            for z in 0..points[2] {
                let slices = Some(SlicesRequest { through: [0, 0, z], most: usize::MAX });
                let request = ObservationRequest { slices, ..ObservationRequest::default() };
                let [plane, ..] = &*experiment.observe(&request).unwrap().slices.unwrap();
                for (y, x) in (0..points[1]).flat_map(|y| (0..points[0]).map(move |x| (y, x))) {
                    let at = (z / block[2] * size[1] + y / block[1]) * size[0] + x / block[0];
                    expected[at] = larger(expected[at], plane.values[y * points[0] + x].into());
                }
            }
            prop_assert!(volume.values.iter().zip(&expected).all(|(a, b)| f64::from(*a) == *b));
        }

        /// A map of the values of largest magnitude along an axis, of all or a part of the grid, has the largest of all slices.
        #[test]
        fn a_projection_is_the_largest_of_all_slices(
            points in [4..20_usize, 4..20_usize, 4..20_usize],
            axis in 0..3_usize,
            (start, len, most) in ([0..3_usize, 0..3_usize], [1..20_usize, 1..20_usize], [1..24_usize, 1..24_usize]),
        ) {
            let mut spec = RunSpec::default();
            spec.problem.shape = points.to_vec();
            (spec.method.tile, spec.method.k) = (vec![4], 3.into());
            let plan = Arc::new(Planner::default().plan(&spec).unwrap());
            let mut experiment = Experiment::new(&plan).unwrap();
            experiment.advance(2).unwrap();
            let map = |index, is_projection| {
                let part = Some([0, 1].map(|along| start[along]..start[along] + len[along]));
                let slice = Some(Slice { axis, index });
                let map = Some(MapRequest { part, slice, is_projection, most, is_of_iterate: false });
                let request = ObservationRequest { map, ..ObservationRequest::default() };
                experiment.observe(&request).unwrap().picture.unwrap()
            };
            let projection = map(0, true);
            prop_assert!(projection.is_projection);
            let mut expected: Vec<f64> = vec![0.0; projection.samples.values.len()];
            for index in 0..points[axis] {
                let slice = map(index, false);
                prop_assert_eq!(slice.samples.size, projection.samples.size);
                for (most, value) in expected.iter_mut().zip(&slice.samples.values) {
                    *most = larger(*most, (*value).into());
                }
            }
            let found = projection.samples.values.iter().map(|value| f64::from(*value));
            prop_assert!(found.eq(expected));
        }
    }
}
