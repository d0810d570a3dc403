//! The statistics of a field and parts of the iterate, against points taken one by one.

use crate::Cycles;
use crate::cases::{Case, any_case};
use crate::naive::{AxisTiles, Num};
use proptest::prelude::*;
use std::collections::BTreeMap;
use tilescope::grid::{Field, Region, Shape};
use tilescope::solver::{LONGEST_FOLDED, MeanTile, Quantity, Window};

/// What stands for a magnitude in a histogram: the middle of its eighth of an octave.
fn binned(value: f32) -> f32 {
    match value.abs().to_bits() & 0xfff0_0000 {
        0 => 0.0,
        bits => f32::from_bits(bits | 0x0008_0000),
    }
}

/// Of every point its place in the tile that owns it, and how far a border is; `None` of a point whose tile
/// lies at the boundary along an axis of three tiles or more.
fn points(case: &Case) -> Vec<Option<([usize; 2], Option<usize>)>> {
    let shape = &case.problem.shape;
    let x = AxisTiles::new(shape.nx(), case.tile[0], case.overlap[0]);
    // The systems of a batch are cut along x alone.
    let y = match shape.dim() {
        1 => AxisTiles::new(shape.rows(), 1, 0),
        _ => AxisTiles::new(shape.ny(), case.tile[1], case.overlap[1]),
    };
    let z = AxisTiles::new(shape.nz(), case.tile[2], case.overlap[2]);
    let rows = y.owned.last().expect("a tile").end;
    let find = |axis: &AxisTiles, i: usize, is_cut: bool| {
        let tile = axis.owned.iter().position(|owned| owned.contains(&i)).expect("an owner");
        let borders = axis.owned[1..].iter().map(|owned| owned.start).filter(|_| is_cut);
        let far = borders.map(|border| if i < border { border - i } else { i - border + 1 });
        let count = axis.owned.len();
        let has_inner = is_cut && count > 2 && axis.computed[0].len() > 1;
        let is_inner = !has_inner || (tile > 0 && tile + 1 < count);
        (i - axis.computed[tile].start, far.min(), is_inner)
    };
    let all = (0..shape.rows()).flat_map(|row| (0..shape.nx()).map(move |i| (i, row)));
    all.map(|(i, row)| {
        let across = find(&x, i, true);
        let down = find(&y, row % rows, shape.dim() > 1);
        // The mean tile is folded along z.
        let deep = find(&z, row / rows, shape.dim() > 2);
        let distances = [across, down, deep].into_iter().filter_map(|(_, distance, _)| distance);
        (across.2 && down.2 && deep.2).then(|| ([across.0, down.0], distances.min()))
    })
    .collect()
}

fn statistics_are_true<R: Num>(case: &Case) -> Result<(), TestCaseError> {
    let mut solver = case.plain::<R>(case.hierarchical());
    for _ in 0..case.cycles {
        solver.cycle();
    }
    let shape = case.problem.shape;
    let whole = Window::whole(shape.nx(), shape.rows());
    for quantity in [Quantity::Residual, Quantity::Change] {
        let values = solver.sample(quantity, &whole).expect("the CPU does not fail").values;
        let found = solver.statistics(quantity, &case.tiling()).expect("the CPU does not fail");
        let mut by_distance: BTreeMap<usize, Vec<f32>> = BTreeMap::new();
        let mut folded: BTreeMap<[usize; 2], Vec<f64>> = BTreeMap::new();
        for (value, point) in values.iter().zip(points(case)) {
            let Some((place, distance)) = point else { continue };
            if let Some(distance) = distance {
                by_distance.entry(distance).or_default().push(value.abs());
            }
            folded.entry(place).or_default().push(f64::from(value.abs()));
        }
        // Together they are all points of inner tiles, each once.
        let counted: u64 = found.distances.iter().map(|class| class.points).sum();
        prop_assert_eq!(counted as usize, by_distance.values().map(Vec::len).sum::<usize>());
        for class in &found.distances {
            let mut magnitudes: Vec<f32> = class
                .distances
                .clone()
                .filter_map(|d| by_distance.get(&d))
                .flatten()
                .copied()
                .collect();
            magnitudes.sort_by(f32::total_cmp);
            prop_assert_eq!(class.points as usize, magnitudes.len());
            for (quarter, quartile) in (1..).zip(class.quartiles) {
                let rank = (magnitudes.len() * quarter).div_ceil(4);
                match magnitudes.get(rank.saturating_sub(1)) {
                    Some(&magnitude) => prop_assert_eq!(quartile, binned(magnitude)),
                    None => prop_assert!(quartile.is_nan()),
                }
            }
        }
        let mean: MeanTile = found.mean_tile.expect("small tiles");
        prop_assert!(mean.size.iter().all(|&side| side <= LONGEST_FOLDED));
        for j in 0..mean.size[1] {
            for i in 0..mean.size[0] {
                let there = folded.get(&[i, j]).map_or(&[][..], Vec::as_slice);
                prop_assert_eq!(mean.tiles(i, j) as usize, there.len());
                let sum: f64 = there.iter().sum();
                let expected = (sum / there.len() as f64) as f32;
                let near = (mean.at(i, j) - expected).abs() <= f32::EPSILON * expected;
                prop_assert!(near || (there.is_empty() && mean.at(i, j).is_nan()));
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn statistics_are_those_of_the_points(case in any_case()) {
        statistics_are_true::<f64>(&case)?;
        statistics_are_true::<f32>(&case)?;
    }

    /// A part of the iterate has around it what the whole has there.
    #[test]
    fn a_part_of_the_iterate_is_as_the_whole(case in any_case(), start in any::<[u16; 3]>()) {
        let mut solver = case.plain::<f32>(case.hierarchical());
        solver.cycle();
        let shape = case.problem.shape;
        let whole = solver.solution().expect("the CPU does not fail");
        let points = [shape.nx(), shape.rows_per_plane(), shape.nz()];
        let region: Region = std::array::from_fn(|axis| {
            let first = usize::from(start[axis]) % points[axis];
            first..points[axis].min(first + [17, 9, 4][axis])
        });
        let part = solver.solution_part(&region).expect("it does not fail");
        let [columns, rows, planes] = region.clone();
        prop_assert_eq!(part.shape().nx(), columns.len());
        prop_assert_eq!(part.shape().rows(), rows.len() * planes.len());
        let near = |shape: &Shape| [1, shape.stride(), shape.plane_stride()];
        for (at, (k, j)) in planes.flat_map(|k| rows.clone().map(move |j| (k, j))).enumerate() {
            for (i, column) in columns.clone().enumerate() {
                let here = part.shape().row_start(at) + 1 + i;
                let there = shape.row_start(j + k * shape.ny()) + 1 + column;
                let pairs = near(part.shape()).into_iter().zip(near(&shape)).take(shape.dim());
                for (by, by_whole) in pairs.chain([(0, 0)]) {
                    let [one, other] = [&part, &whole].map(Field::as_slice);
                    prop_assert_eq!(one[here - by].to_bits(), other[there - by_whole].to_bits());
                    prop_assert_eq!(one[here + by].to_bits(), other[there + by_whole].to_bits());
                }
            }
        }
    }
}

/// Far more distances than there are bins, and a tile too long to be folded.
#[test]
fn large_tiles_have_classes_of_several_distances() {
    use crate::on_cpu;
    use std::sync::Arc;
    use tilescope::grid::Tiling;
    use tilescope::problem::{Boundary, Problem, Source, Stencil};
    use tilescope::solver::Method;
    use tilescope::solver::cpu::Level;

    let shape = Shape::grid_1d(3000, 16).expect("a small shape");
    let problem = Arc::new(Problem {
        shape,
        operator: Stencil::poisson(&shape).into(),
        rhs: Source::Constant(0.0),
        initial_guess: Source::Random { seed: 5 },
        boundary: Boundary::default(),
    });
    let solver = on_cpu::<f64>(&problem, Method::Classic, Level::best(), 1);
    let tiling = Tiling::new(&[3000], &[1000], &[0]).expect("a tiling");
    let found = solver.statistics(Quantity::Solution, &tiling).expect("the CPU does not fail");
    assert_eq!(found.mean_tile, None);
    // The inner one of three tiles alone: 500 distances in classes of 8.
    assert_eq!(found.distances.len(), 63);
    assert_eq!(found.distances[0].distances, 1..=8);
    assert_eq!(found.distances.iter().map(|class| class.points).sum::<u64>(), 16_000);
    // Uniform magnitudes: the quartiles of a few hundred lie near a quarter, a half, three quarters.
    for (quartile, expected) in found.distances[0].quartiles.into_iter().zip([0.25, 0.5, 0.75]) {
        assert!((quartile - expected).abs() < 0.15, "{quartile} for {expected}");
    }
    let one = Tiling::new(&[3000], &[3000], &[0]).expect("a tiling");
    let found = solver.statistics(Quantity::Solution, &one).expect("the CPU does not fail");
    assert!(found.distances.is_empty(), "one tile has no borders");
}
