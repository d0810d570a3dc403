//! A 3D field seen from outside: the largest value along each line of sight.
//!
//! Lines of sight are parallel, so that lengths and tile borders are alike wherever they lie. Each is followed layer by layer
//! of the samples across its main axis: without a choice that depends on values, which would be guessed wrongly half the time.

use crate::grid::Tiling;
use crate::picture::axis::scale::Scale;
use crate::picture::colour::map::ColourMap;
use crate::picture::colour::paint::{Samples, colours, shown_values};
use crate::picture::view::camera::Camera;
use crate::run::VolumeSamples;
use rayon::prelude::*;
use std::array::from_fn;

/// Where points of a volume lie in a picture.
#[derive(Clone, Copy, Debug)]
pub struct Projection {
    /// The far corner of the box, in grid points.
    extent: [f64; 3],
    /// The directions to the right, up, and to the eye.
    right: [f64; 3],
    up: [f64; 3],
    eye: [f64; 3],
    /// Pixels to a grid point.
    scale: f64,
    /// The middle of the picture.
    middle: [f64; 2],
}

/// A line in a picture, from one place to another.
pub type PictureLine = [[f64; 2]; 2];

/// The lines on the outside of a volume.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct VolumeLines {
    /// Its edges, except for those behind it.
    pub edges: Vec<PictureLine>,
    /// Tile borders on its three front faces.
    pub borders: Vec<PictureLine>,
    /// Where devices that share the grid meet, on the same faces.
    pub devices: Vec<PictureLine>,
    /// Where the name of each axis stands, in the middle, beside an edge along it.
    pub names: [[f64; 2]; 3],
}

/// Tile borders nearer than this many pixels would hide the volume.
const NEAREST_BORDERS: f64 = 5.0;

impl Projection {
    /// How a camera shows a volume in a picture of this size.
    pub fn new(samples: &VolumeSamples, camera: Camera, size: [f64; 2]) -> Self {
        let extent = samples.points.map(|points| points as f64);
        let (sin_a, cos_a) = camera.azimuth.to_radians().sin_cos();
        let (sin_e, cos_e) = camera.elevation.to_radians().sin_cos();
        let diagonal = extent.iter().map(|side| side * side).sum::<f64>().sqrt();
        Self {
            extent,
            right: [-sin_a, cos_a, 0.0],
            up: [-sin_e * cos_a, -sin_e * sin_a, cos_e],
            eye: [cos_e * cos_a, cos_e * sin_a, sin_e],
            scale: camera.zoom * size[0].min(size[1]) / diagonal,
            middle: size.map(|side| 0.5 * side),
        }
    }

    /// Where a point of the volume lies in the picture, in pixels to the right and down.
    pub fn place(&self, point: [f64; 3]) -> [f64; 2] {
        let along = |axis: &[f64; 3]| -> f64 {
            (0..3).map(|k| (point[k] - 0.5 * self.extent[k]) * axis[k]).sum()
        };
        let [x, y] = self.middle;
        [x + self.scale * along(&self.right), y - self.scale * along(&self.up)]
    }

    /// The point of the volume behind a place in the picture, on the plane through its middle.
    fn origin(&self, [x, y]: [f64; 2]) -> [f64; 3] {
        let across = (x - self.middle[0]) / self.scale;
        let up = (self.middle[1] - y) / self.scale;
        [0, 1, 2].map(|k| 0.5 * self.extent[k] + across * self.right[k] + up * self.up[k])
    }

    /// The lines on the outside, with the borders of these tiles, those between devices, which lie before these
    /// planes, and the names of axes that far from their edges, in pixels.
    pub fn lines(
        &self,
        tiling: Option<&Tiling>,
        devices: &[usize],
        apart_from_edge: f64,
    ) -> VolumeLines {
        let line = |axis: usize, at: [f64; 3]| {
            let (mut start, mut end) = (at, at);
            (start[axis], end[axis]) = (0.0, self.extent[axis]);
            [self.place(start), self.place(end)]
        };
        let front = [0, 1, 2].map(|k| if self.eye[k] > 0.0 { self.extent[k] } else { 0.0 });
        let mut lines = VolumeLines::default();
        for axis in 0..3 {
            let [a, b] = [(axis + 1) % 3, (axis + 2) % 3];
            let mut farthest = f64::NEG_INFINITY;
            for (at_a, at_b) in [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)] {
                let mut at = [0.0; 3];
                (at[a], at[b]) = (at_a * self.extent[a], at_b * self.extent[b]);
                if at[a] != front[a] && at[b] != front[b] {
                    continue;
                }
                let edge = line(axis, at);
                lines.edges.push(edge);
                let middle = [0, 1].map(|k| 0.5 * (edge[0][k] + edge[1][k]));
                let [x, y] = [0, 1].map(|k| middle[k] - self.middle[k]);
                // Names stand outside, and below rather than above.
                let from_middle = x.hypot(y);
                if from_middle + 0.3 * y > farthest {
                    farthest = from_middle + 0.3 * y;
                    let away = 1.0 + apart_from_edge / from_middle.max(1.0);
                    lines.names[axis] = [self.middle[0] + x * away, self.middle[1] + y * away];
                }
            }
        }
        let across_at = |across: usize, along: usize, at: f64| {
            let mut place = front;
            place[across] = at;
            line(along, place)
        };
        let tiles = tiling.map_or(&[][..], |tiling| tiling.axes());
        for (across, tiles) in tiles.iter().enumerate() {
            // Borders across this axis run on the faces across the other two.
            for along in [1, 2].map(|by| (across + by) % 3) {
                let border = |at: f64| across_at(across, along, at);
                let [one, next] = [0.0, tiles.tile() as f64].map(border);
                if apart(one, next) < NEAREST_BORDERS {
                    continue;
                }
                lines.borders.extend(tiles.borders().map(|at| border(at as f64)));
            }
        }
        let around = |at: &usize| [0, 1].map(|along| across_at(2, along, *at as f64));
        lines.devices = devices.iter().flat_map(around).collect();
        lines
    }
}

/// The distance of two parallel lines.
fn apart([start, end]: PictureLine, [other, _]: PictureLine) -> f64 {
    let [x, y] = [0, 1].map(|k| end[k] - start[k]);
    let [dx, dy] = [0, 1].map(|k| other[k] - start[k]);
    let length = x.hypot(y);
    if length > 0.0 { (x * dy - y * dx).abs() / length } else { 0.0 }
}

/// A volume that is ready to be drawn.
pub struct Volume {
    /// Samples along each axis.
    size: [usize; 3],
    /// The far corner of the box, in samples, and the points along each side of a sample.
    extent: [f32; 3],
    block: [f32; 3],
    /// The ranks of the samples, x fastest.
    ranks: Vec<u32>,
}

/// Lines of sight that are followed together, in vectors of a CPU: their steps depend on no values, so that all do the same.
const LINES: usize = 8;

/// A number for each of these lines.
type Packet<T> = [T; LINES];

/// Nothing: where a line of sight meets no sample.
const NOTHING: u32 = 0;

/// A number by which values are ordered by magnitude, and of opposite ones the positive is larger.
fn rank(value: f32) -> u32 {
    // Zero has one sign only: the other one is `NOTHING`.
    (value + 0.0).to_bits().rotate_left(1) ^ 1
}

fn of_rank(rank: u32) -> f32 {
    f32::from_bits((rank ^ 1).rotate_right(1))
}

impl Volume {
    /// Ranks the samples.
    pub fn new(samples: &VolumeSamples) -> Self {
        let ranks = samples.values.iter().map(|value| rank(*value)).collect();
        let block = samples.block.map(|points| points as f32);
        let extent = [0, 1, 2].map(|k| samples.points[k] as f32 / block[k]);
        Self { size: samples.size, extent, block, ranks }
    }

    /// The value of largest magnitude along each line of sight, row by row; `None` beside the volume.
    pub fn largest(
        &self,
        projection: &Projection,
        [width, height]: [usize; 2],
    ) -> Vec<Option<f32>> {
        let mut values = vec![None; width * height];
        let scaled = |of: [f64; 3]| [0, 1, 2].map(|k| of[k] as f32 / self.block[k]);
        let direction = scaled(projection.eye.map(|of| -of));
        let main = (1..3)
            .fold(0, |main, k| if direction[k].abs() > direction[main].abs() { k } else { main });
        values.par_chunks_mut(width.max(1)).enumerate().for_each(|(row, values)| {
            for (packet, values) in values.chunks_mut(LINES).enumerate() {
                let place = |line| [(packet * LINES + line) as f64 + 0.5, row as f64 + 0.5];
                let origins = from_fn(|line| scaled(projection.origin(place(line))));
                let ranks = self.largest_along(&origins, direction, main);
                for (value, rank) in values.iter_mut().zip(ranks) {
                    *value = (rank != NOTHING).then(|| of_rank(rank));
                }
            }
        });
        values
    }

    /// The picture as RGBA, transparent beside the volume.
    pub fn pixels(
        &self,
        projection: &Projection,
        size: [usize; 2],
        scale: &Scale,
        map: ColourMap,
        absolute: bool,
    ) -> Vec<u8> {
        let largest = self.largest(projection, size);
        let values: Vec<f32> = largest.iter().map(|value| value.unwrap_or(f32::NAN)).collect();
        let values = shown_values(&values, scale.kind(), absolute);
        let mut pixels = Vec::new();
        if let Ok(samples) = Samples::new(size[0], size[1], &values) {
            colours(&samples, scale, map, &mut pixels);
        }
        for (pixel, value) in pixels.chunks_exact_mut(4).zip(&largest) {
            if value.is_none() {
                pixel.fill(0);
            }
        }
        pixels
    }

    /// The largest ranks along parallel lines whose main axis is that of the largest part of their direction. From one layer of
    /// samples across that axis to the next a line crosses at most one side of a sample along each of the other two, so that it
    /// meets at most three samples of a layer.
    fn largest_along(
        &self,
        origins: &Packet<[f32; 3]>,
        direction: [f32; 3],
        main: usize,
    ) -> Packet<u32> {
        let spans = origins.map(|origin| within(origin, direction, [0.0; 3], self.extent));
        let mut best = [NOTHING; LINES];
        if spans.iter().all(Option::is_none) {
            return best;
        }
        // A line that passes the volume by is followed with the others, for nothing.
        let end = spans.map(|span| span.unwrap_or_default()[1]);
        let axes = [main, (main + 1) % 3, (main + 2) % 3];
        let [nx, ny, _] = self.size;
        let strides = axes.map(|axis| [1, nx as i32, (nx * ny) as i32][axis]);
        let last = axes.map(|axis| (self.size[axis] - 1) as f32);
        let per = axes.map(|axis| match direction[axis] {
            part if part.abs() < PARALLEL => 0.0,
            part => 1.0 / part,
        });
        let direction = axes.map(|axis| direction[axis]);
        let origin = axes.map(|axis| origins.map(|origin| origin[axis]));
        let (by, far) = if direction[0] > 0.0 { (1.0, 1.0) } else { (-1.0, 0.0) };
        let at = |of: usize, line: usize, t: f32| {
            whole((origin[of][line] + t * direction[of]).max(0.0).min(last[of]))
        };
        let begin = |of| from_fn(|line| at(of, line, spans[line].unwrap_or_default()[0]));
        let [mut layer, mut a, mut b]: [Packet<f32>; 3] = [0, 1, 2].map(begin);
        let last_layer: Packet<f32> = from_fn(|line| at(0, line, end[line]));
        let layers = layer.iter().zip(&last_layer).map(|(first, last)| (last - first) * by);
        let steps = layers.fold(0.0, f32::max) as usize;
        for _ in 0..=steps {
            let mut met = [[0; LINES]; 3];
            for line in 0..LINES {
                let leaves = ((layer[line] + far - origin[0][line]) * per[0]).min(end[line]);
                let next = [at(1, line, leaves), at(2, line, leaves)];
                // Where it crosses a side along both axes, the one that comes first decides what lies between.
                let of_a = (a[line].max(next[0]) - origin[1][line]) * per[1];
                let of_b = (b[line].max(next[1]) - origin[2][line]) * per[2];
                let is_a = of_a < of_b;
                let index = |a: f32, b: f32| {
                    integer(layer[line]) * strides[0]
                        + integer(a) * strides[1]
                        + integer(b) * strides[2]
                };
                met[0][line] = index(a[line], b[line]);
                met[1][line] = if is_a { index(next[0], b[line]) } else { index(a[line], next[1]) };
                met[2][line] = index(next[0], next[1]);
                [a[line], b[line]] = next;
                // One that has left the volume meets its last samples again.
                layer[line] += if layer[line] == last_layer[line] { 0.0 } else { by };
            }
            for met in met {
                for line in 0..LINES {
                    let rank = self.ranks.get(met[line] as usize).copied();
                    best[line] = best[line].max(rank.unwrap_or(NOTHING));
                }
            }
        }
        from_fn(|line| if spans[line].is_some() { best[line] } else { NOTHING })
    }
}

/// From this number on an `f32` has no fraction, and the next one is larger by 1.
const WITHOUT_FRACTION: f32 = 8_388_608.0;

/// A number from 0 to 2²², rounded down, without the function of the library: compilers make vectors of this.
fn whole(number: f32) -> f32 {
    let near = number + WITHOUT_FRACTION - WITHOUT_FRACTION;
    near - if near > number { 1.0 } else { 0.0 }
}

/// A whole number from 0 to 2²², likewise.
fn integer(whole: f32) -> i32 {
    (whole + WITHOUT_FRACTION).to_bits() as i32 - WITHOUT_FRACTION.to_bits() as i32
}

/// From where to where a line is within a box; `None` where it passes it by.
fn within(
    origin: [f32; 3],
    direction: [f32; 3],
    low: [f32; 3],
    high: [f32; 3],
) -> Option<[f32; 2]> {
    let (mut begin, mut end) = (f32::NEG_INFINITY, f32::INFINITY);
    for k in 0..3 {
        if direction[k].abs() < PARALLEL {
            if origin[k] < low[k] || origin[k] > high[k] {
                return None;
            }
            continue;
        }
        let [one, other] = [low[k], high[k]].map(|plane| (plane - origin[k]) / direction[k]);
        begin = begin.max(one.min(other));
        end = end.min(one.max(other));
    }
    (begin < end).then_some([begin, end])
}

/// A direction whose part along an axis is less than this never crosses a sample along it: a volume is 128
/// samples long.
const PARALLEL: f32 = 1e-6;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A volume of numbers that look random.
    fn random(size: [usize; 3], block: [usize; 3], seed: u64) -> VolumeSamples {
        let mut state = seed | 1;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            ((state >> 40) as f32 / 16_777_216.0 - 0.5) * 2.0
        };
        let values = (0..size.iter().product()).map(|_| next()).collect();
        let points = [0, 1, 2].map(|k| size[k] * block[k] - block[k] / 2);
        VolumeSamples { points, block, size, values }
    }

    /// The larger of two by magnitude, without ranks.
    fn naive_larger(a: Option<f32>, b: f32) -> Option<f32> {
        a.filter(|a| a.abs() > b.abs() || (a.abs() == b.abs() && *a > b)).or(Some(b))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        /// Each pixel is the largest of all samples whose cube its line of sight passes. Rounding decides
        /// only of cubes that are touched at an edge.
        #[test]
        fn pixels_are_the_largest_of_all_samples_on_their_line(
            size in [1..20_usize, 1..20_usize, 1..20_usize],
            block in [1..4_usize, 1..4_usize, 1..4_usize],
            seed in any::<u64>(),
            azimuth in prop_oneof![Just(0.0), Just(90.0), -180.0..180.0_f64],
            elevation in prop_oneof![Just(0.0), Just(90.0), Just(-90.0), -90.0..90.0_f64],
            zoom in 0.5..3.0_f64,
        ) {
            let samples = random(size, block, seed);
            let camera = Camera { azimuth, elevation, zoom };
            let picture = [13, 11];
            let projection = Projection::new(&samples, camera, [13.0, 11.0]);
            let found = Volume::new(&samples).largest(&projection, picture);
            for (index, found) in found.into_iter().enumerate() {
                let place = [(index % 13) as f64 + 0.5, (index / 13) as f64 + 0.5];
                let origin = [0, 1, 2].map(|k| projection.origin(place)[k] as f32 / block[k] as f32);
                let direction = [0, 1, 2].map(|k| -projection.eye[k] as f32 / block[k] as f32);
                let end = [0, 1, 2].map(|k| samples.points[k] as f32 / block[k] as f32);
                let naive = |margin: f32| {
                    let mut most = None;
                    for (at, value) in samples.values.iter().enumerate() {
                        let cube = [at % size[0], at / size[0] % size[1], at / size[0] / size[1]];
                        let low = cube.map(|at| at as f32 - margin);
                        let high = [0, 1, 2].map(|k| end[k].min(cube[k] as f32 + 1.0) + margin);
                        if within(origin, direction, low, high).is_some() {
                            most = naive_larger(most, *value);
                        }
                    }
                    most
                };
                let (surely, perhaps) = (naive(-1e-3), naive(1e-3));
                let magnitude = |of: Option<f32>| of.map_or(-1.0, f32::abs);
                prop_assert!(magnitude(found) >= magnitude(surely), "{found:?} {surely:?}");
                prop_assert!(magnitude(found) <= magnitude(perhaps), "{found:?} {perhaps:?}");
                if surely == perhaps {
                    prop_assert_eq!(found, surely);
                }
            }
        }
    }

    #[test]
    fn the_box_is_in_sight_from_everywhere_and_its_picture_is_where_its_lines_are() {
        let samples = random([30, 12, 7], [1; 3], 5);
        for azimuth in [-170.0, -90.0, 0.0, 35.0, 90.0, 130.0] {
            for elevation in [-90.0, -30.0, 0.0, 25.0, 90.0] {
                let camera = Camera { azimuth, elevation, zoom: 1.0 };
                let projection = Projection::new(&samples, camera, [60.0, 50.0]);
                let lines = projection.lines(None, &[], 9.0);
                assert!(lines.edges.len() >= 9, "{}", lines.edges.len());
                let places: Vec<_> = lines.edges.iter().flatten().copied().collect();
                let end = |axis: usize, sign: f64| {
                    places.iter().map(|place| sign * place[axis]).fold(f64::MIN, f64::max) * sign
                };
                let [left, right, top, bottom] =
                    [end(0, -1.0), end(0, 1.0), end(1, -1.0), end(1, 1.0)];
                assert!(
                    left >= -1e-9 && right <= 60.0 + 1e-9 && top >= -1e-9 && bottom <= 50.0 + 1e-9
                );
                let seen = Volume::new(&samples).largest(&projection, [60, 50]);
                for (index, value) in seen.iter().enumerate() {
                    let (x, y) = ((index % 60) as f64 + 0.5, (index / 60) as f64 + 0.5);
                    let is_beside = x < left || x > right || y < top || y > bottom;
                    assert!(!(is_beside && value.is_some()), "{camera:?} {x} {y}");
                }
                assert!(seen[25 * 60 + 30].is_some(), "the middle is in the box");
            }
        }
    }

    #[test]
    fn a_bright_plane_is_seen_from_everywhere_and_keeps_its_sign() {
        let mut samples = random([40; 3], [1; 3], 3);
        samples.values.iter_mut().for_each(|value| *value *= 1e-3);
        samples.values.iter_mut().skip(17).step_by(40).for_each(|value| *value = -2.0);
        let volume = Volume::new(&samples);
        for azimuth in [10.0, 89.0, 200.0] {
            let camera = Camera { azimuth, ..Camera::default() };
            let projection = Projection::new(&samples, camera, [50.0; 2]);
            let seen = volume.largest(&projection, [50; 2]);
            let bright = seen.iter().filter(|value| **value == Some(-2.0)).count();
            assert!(bright > 30, "{azimuth}: {bright}");
        }
    }

    /// `cargo test --lib pictures_a_second -- --ignored --nocapture`
    #[test]
    #[ignore = "a measurement"]
    fn pictures_a_second() {
        for (name, samples) in [("random", random([128; 3], [1; 3], 9)), ("walls", walls())] {
            let volume = Volume::new(&samples);
            for side in [200_u32, 480] {
                let begin = crate::clock::Instant::now();
                let count = 12;
                for picture in 0..count {
                    let camera = Camera { azimuth: 30.0 * f64::from(picture), ..Camera::default() };
                    let projection = Projection::new(&samples, camera, [f64::from(side); 2]);
                    let size = [side as usize; 2];
                    assert_eq!(volume.largest(&projection, size).len(), size[0] * size[1]);
                }
                let rate = f64::from(count) / begin.elapsed().as_secs_f64();
                println!("{name}: {rate:.0} pictures per second of {side} × {side} pixels");
            }
        }
    }

    /// What falls off from tile borders, 16 apart.
    fn walls() -> VolumeSamples {
        let mut samples = random([128; 3], [1; 3], 1);
        for (at, value) in samples.values.iter_mut().enumerate() {
            let edge = |of: usize| (of % 16).min(15 - of % 16) as i32;
            let [x, y, z] = [at % 128, at / 128 % 128, at / 128 / 128].map(edge);
            *value *= 0.5_f32.powi(x.min(y).min(z));
        }
        samples
    }
}
