//! The CPU against itself: what tiles gain over plain sweeps, how near a tile's sweeps come to
//! what the core can do, and what the norms cost.
//!
//! Criterion's groups give the figures one by one. The table printed after them gives the three
//! ratios that matter, each from two things measured in turns, so that whatever else the machine
//! does meets both alike.

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tilescope::grid::{Shape, Tiling};
use tilescope::problem::{Boundary, Problem, Source, Stencil};
use tilescope::solver::Method;
use tilescope::solver::cpu::{CpuSolver, Level};

const TILE: usize = 32;
const K: usize = 16;
const OVERLAP: usize = 4;

/// A large grid, whose arrays (134 MB each) no cache holds.
const LARGE: usize = 4096;
/// A grid whose arrays (8 MB each) a third-level cache may hold.
const MIDDLE: usize = 1024;

/// Subiterations of a single tile: so many that loading and storing it take no time.
const K_OF_ONE_TILE: usize = 2000;

/// Floating-point instructions of a point's update, isotropic weights in 2D: three additions and
/// a fused multiply-add.
const INSTRUCTIONS: usize = 4;

/// The model problem on a square.
fn solver(n: usize, method: Method, threads: usize) -> CpuSolver<f64> {
    let shape = Shape::grid_2d(n, n).expect("a shape that can be numbered");
    let problem = Problem {
        shape,
        stencil: Stencil::poisson(&shape),
        rhs: Source::Constant(1.0),
        initial_guess: Source::Constant(1.0),
        boundary: Boundary::default(),
    };
    CpuSolver::new(&Arc::new(problem), method, Level::best(), threads).expect("enough memory")
}

fn hierarchical(n: usize, k: usize, overlap: usize) -> Method {
    let tiling = Tiling::new(&[n, n], &[TILE, TILE], &[overlap, overlap]).expect("a valid tiling");
    Method::Hierarchical { k, tiling }
}

/// Turns of [`fmas`] that are made between two looks at the clock.
const TURNS: usize = 200_000;

/// Vectors that [`fmas`] works on: more than the 2 a cycle × 4 cycles that are under way at once,
/// few enough that all stay in the registers (16 of AVX2, 32 of AVX-512) beside two factors.
const CHAINS: usize = 12;

/// Multiply-adds of independent values and nothing else, no loads and no stores: the peak, in
/// values, not vectors. On the machine of the first figures it is 8 a cycle at either level, its
/// AVX-512 units being 256 bits wide.
#[inline(always)]
fn fmas<const VALUES: usize>(factor: f64, addend: f64) -> f64 {
    let mut values = [1.0_f64; VALUES];
    for _ in 0..TURNS {
        for value in &mut values {
            *value = value.mul_add(factor, addend);
        }
    }
    values.iter().sum()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn fmas_avx2(factor: f64, addend: f64) -> f64 {
    fmas::<{ 4 * CHAINS }>(factor, addend)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,avx512f,avx512dq,avx512bw,avx512vl")]
fn fmas_avx512(factor: f64, addend: f64) -> f64 {
    fmas::<{ 8 * CHAINS }>(factor, addend)
}

/// Makes multiply-adds at the level that solvers run at, and says how many.
fn peak() -> usize {
    let (factor, addend) = (black_box(0.5), black_box(0.25));
    let (sum, values) = match Level::best() {
        Level::Plain => (fmas::<CHAINS>(factor, addend), CHAINS),
        // SAFETY: the level comes out of `Level::best`, which asks the CPU for these features.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => (unsafe { fmas_avx2(factor, addend) }, 4 * CHAINS),
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => (unsafe { fmas_avx512(factor, addend) }, 8 * CHAINS),
    };
    black_box(sum);
    values * TURNS
}

/// A solver under measurement, and the point updates that a cycle of it is good for.
struct Entry {
    name: &'static str,
    solver: CpuSolver<f64>,
    useful: usize,
}

impl Entry {
    fn new(name: &'static str, n: usize, method: Method, threads: usize) -> Self {
        let useful = n * n * method.sweeps_per_cycle();
        Self { name, solver: solver(n, method, threads), useful }
    }
}

/// Useful point updates a second on a large grid, all cores that a laptop has at least.
fn tiles_against_sweeps() -> [Entry; 2] {
    [
        Entry::new("classic", LARGE, Method::Classic, 2),
        Entry::new("hierarchical", LARGE, hierarchical(LARGE, K, OVERLAP), 2),
    ]
}

fn one_tile() -> Entry {
    Entry::new("sweeps", TILE, hierarchical(TILE, K_OF_ONE_TILE, 0), 1)
}

fn with_norms(n: usize) -> Entry {
    Entry::new("hierarchical", n, hierarchical(n, K, OVERLAP), 2)
}

fn groups(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("useful point updates, 4096², 2 threads");
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    for Entry { name, mut solver, useful } in tiles_against_sweeps() {
        group.throughput(Throughput::Elements(useful as u64));
        group.bench_function(name, |bencher| bencher.iter(|| solver.cycle()));
    }
    group.finish();

    let mut group = criterion.benchmark_group("inside one tile, 32², 1 thread");
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    let Entry { name, mut solver, useful } = one_tile();
    group.throughput(Throughput::Elements((useful * INSTRUCTIONS) as u64));
    group.bench_function(name, |bencher| bencher.iter(|| solver.cycle_without_norms()));
    group.throughput(Throughput::Elements(peak() as u64));
    group.bench_function("peak", |bencher| bencher.iter(peak));
    group.finish();

    let mut group = criterion.benchmark_group("norms, 2 threads");
    group.sampling_mode(SamplingMode::Flat).sample_size(10);
    group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3));
    for n in [MIDDLE, LARGE] {
        let Entry { mut solver, useful, .. } = with_norms(n);
        group.throughput(Throughput::Elements(useful as u64));
        group
            .bench_function(BenchmarkId::new("with", n), |bencher| bencher.iter(|| solver.cycle()));
        group.bench_function(BenchmarkId::new("without", n), |bencher| {
            bencher.iter(|| solver.cycle_without_norms());
        });
    }
    group.finish();
}

/// Median seconds of a call of `a` and of `b`, called in turns.
fn in_turns<S>(
    state: &mut S,
    rounds: usize,
    mut a: impl FnMut(&mut S),
    mut b: impl FnMut(&mut S),
) -> [f64; 2] {
    let mut times = [Vec::new(), Vec::new()];
    a(state);
    b(state);
    for _ in 0..rounds {
        let start = Instant::now();
        a(state);
        let between = Instant::now();
        b(state);
        times[0].push((between - start).as_secs_f64());
        times[1].push(between.elapsed().as_secs_f64());
    }
    times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    })
}

/// Prints the ratios that matter.
fn ratios() {
    println!("\nmeasured in turns, medians:");
    let mut entries = tiles_against_sweeps();
    let [classic, tiled] = in_turns(
        &mut entries,
        25,
        |[classic, _]| {
            black_box(classic.solver.cycle());
        },
        |[_, tiled]| {
            black_box(tiled.solver.cycle());
        },
    );
    let rates = [entries[0].useful as f64 / classic, entries[1].useful as f64 / tiled];
    println!(
        "  tiles / sweeps, {LARGE}², useful points a second  {:.2e} / {:.2e} = {:.2} (wanted: 3 or more)",
        rates[1],
        rates[0],
        rates[1] / rates[0]
    );

    let mut tile = one_tile();
    let [swept, made] = in_turns(
        &mut tile,
        200,
        |tile| tile.solver.cycle_without_norms(),
        |_| {
            peak();
        },
    );
    let rates = [(tile.useful * INSTRUCTIONS) as f64 / swept, peak() as f64 / made];
    println!(
        "  inside a tile / peak, {:?}, instructions a second  {:.2e} / {:.2e} = {:.0} % (wanted: 40 or more)",
        Level::best(),
        rates[0],
        rates[1],
        100.0 * rates[0] / rates[1]
    );

    for (n, rounds) in [(MIDDLE, 200), (LARGE, 40)] {
        let mut entry = with_norms(n);
        let [with, without] = in_turns(
            &mut entry,
            rounds,
            |entry| {
                black_box(entry.solver.cycle());
            },
            |entry| entry.solver.cycle_without_norms(),
        );
        println!(
            "  norms of a cycle, {n}²  {:.2} ms over {:.2} ms = {:.1} % (wanted: under 5)",
            1e3 * (with - without),
            1e3 * without,
            100.0 * (with / without - 1.0)
        );
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    groups(&mut criterion);
    criterion.final_summary();
    // `cargo test --benches` only asks whether it runs.
    if std::env::args().any(|argument| argument == "--bench") {
        ratios();
    }
}
