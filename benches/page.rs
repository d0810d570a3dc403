//! What the page in a browser is compared with (`benches/results/page.md`): the runs of `tests/page/speed` on one thread, at
//! the level of AVX2.

use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};
use tilescope::run::{Plan, Planner, RunSpec};
use tilescope::solver::cpu::{self, Level};
use tilescope::solver::{Kernel, NormRequest};

/// Cycles are made for this long.
const LONG: Duration = Duration::from_secs(2);

#[cfg(target_arch = "x86_64")]
const LEVEL: Level = Level::Avx2;
#[cfg(not(target_arch = "x86_64"))]
const LEVEL: Level = Level::Plain;

/// Seconds that this thread had a processor, where the system says so: other programs may take a part of the machine.
fn busy() -> Option<f64> {
    let counters = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let nanoseconds: f64 = counters.split(' ').next()?.parse().ok()?;
    Some(nanoseconds / 1e9)
}

/// Cycles a second of processor time, with their norms.
fn speed(plan: &Plan) -> f64 {
    let (problem, method) = (&plan.problem, plan.method.clone());
    let mut solver = cpu::at_level(problem, method, plan.precision, 1, Kernel::AUTO, LEVEL)
        .expect("enough memory");
    let (begin, begin_busy, mut cycles) = (Instant::now(), busy(), 0);
    while begin.elapsed() < LONG {
        black_box(solver.cycles(1, NormRequest::ALL)).expect("a CPU");
        cycles += 1;
    }
    let elapsed = begin.elapsed().as_secs_f64();
    let taken = begin_busy.zip(busy()).map_or(elapsed, |(begin, end)| end - begin);
    f64::from(cycles) / taken
}

fn main() {
    // `cargo test --benches` only checks that it is compiled.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/page/speed");
    let entries = fs::read_dir(folder).expect("the folder of the runs");
    let mut files: Vec<_> = entries.map(|entry| entry.expect("a file").path()).collect();
    files.sort();
    for file in files {
        let spec = RunSpec::load(&file).expect("a run");
        let plan = Planner::default().plan(&spec).expect("a run that can be made");
        let speed = speed(&plan);
        let name = file.file_stem().unwrap_or_default().display();
        println!("{name}: {speed:.0} cycles/s at {LEVEL:?}");
    }
}
