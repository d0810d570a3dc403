//! Runs on a GPU from start to end, what they leave behind, and what is refused.

use crate::gpu::several;
use crate::iterates::{is_slowed, share};
use std::sync::Arc;
use std::time::Duration;
use tilescope::grid::{Precision, Shape, Tiling};
use tilescope::problem::{Boundary, Problem, Source, Stencil};
use tilescope::run::{
    Backend, FieldKind, GpuLossError, MapRequest, MethodName, Observation, ObservationRequest,
    Outcome, Phase, Planner, ReplayRequest, ReplayTarget, Report, Rewinder, Run, RunArchive,
    RunSpec, Worker, WorkerRequest, go_on_without_failed_gpus,
};
use tilescope::solver::cuda::Device;
use tilescope::solver::{Kernel, Method, NormRequest, Samples, SolverError};

pub const TESTS: &[(&str, fn())] = &[
    ("a_run_ends_where_it_ends_on_the_cpu", a_run_ends_where_it_ends_on_the_cpu),
    ("an_earlier_cycle_is_made_again_as_it_was", an_earlier_cycle_is_made_again),
    ("auto_begins_on_the_cpu_and_moves_to_the_GPU", auto_begins_on_the_cpu),
    ("a_thousand_changes_leave_nothing_behind", a_thousand_changes_leave_nothing_behind),
    ("what_does_not_fit_is_refused", what_does_not_fit_is_refused),
    (OF_SEVERAL_GPUS, when_one_of_several_gpus_is_lost),
    // The last one: the GPU may be of no use to this process afterwards. `.ci/gpu` keeps it from the sanitizer.
    ("when_the_GPU_is_lost_the_run_continues", when_the_gpu_is_lost_the_run_continues),
];

fn a_run_ends_where_it_ends_on_the_cpu() {
    let points = share(96).max(24) as usize;
    for (name, k, overlap) in [
        (MethodName::Hierarchical, 16, 0),
        (MethodName::Hierarchical, 8, 4),
        (MethodName::Classic, 1, 0),
    ] {
        let run_on = |backend| {
            let mut spec = RunSpec::default();
            spec.problem.shape = vec![points, points - 16];
            spec.method.name = name;
            spec.method.k = k.into();
            spec.method.overlap = vec![overlap];
            spec.method.backend = backend;
            let plan = Planner::default().plan(&spec).expect("a plan");
            let mut run = Run::new(&Arc::new(plan)).expect("a run");
            while run.outcome().is_none() {
                run.advance(u64::MAX).expect("a GPU at work");
            }
            assert_eq!(run.outcome(), Some(&Outcome::Converged));
            (run.cycle(), run.solver().solution().expect("it"))
        };
        let (cycles, there) = run_on(Backend::Cuda);
        let (expected, here) = run_on(Backend::Cpu);
        assert_eq!(cycles, expected);
        assert!(crate::iterates::bits(&there) == crate::iterates::bits(&here));
    }
}

/// A cycle that the replay makes again on the GPU, from what the worker kept of it, is that of the
/// CPU from the initial guess.
fn an_earlier_cycle_is_made_again() {
    let last = u64::from(share(3000)).max(30);
    for (precision, field) in [
        (Precision::F64, FieldKind::Residual),
        (Precision::F32, FieldKind::Change),
        (Precision::F64, FieldKind::Staleness),
    ] {
        let spec_on = |backend| {
            let mut spec = RunSpec::default();
            spec.problem.shape = vec![256, 192];
            (spec.method.precision, spec.method.backend) = (precision, backend);
            (spec.stop.tolerance, spec.stop.max_cycles) = (None, last);
            spec
        };
        let view = ObservationRequest {
            field,
            map: Some(MapRequest::whole([64; 2])),
            ..ObservationRequest::default()
        };
        let worker = Worker::start(|| {}).expect("a thread");
        worker.request(WorkerRequest {
            epoch: 1,
            spec: spec_on(Backend::Cuda).into(),
            running: true,
            steps: 0,
            pace: None,
            observation: ObservationRequest { field: FieldKind::Residual, ..view.clone() },
            memory: 100_000_000,
            ..WorkerRequest::default()
        });
        let archive = loop {
            let answer = worker.wait(Duration::from_secs(60)).expect("a report");
            let report = answer.expect("a GPU");
            if matches!(report.phase, Phase::Finished(_)) {
                break report.archive;
            }
        };
        assert!(archive.used() > 0, "iterates were kept");
        let plan = Planner::default().plan(&spec_on(Backend::Cpu)).expect("a plan");
        let plain = Arc::new(RunArchive::new(&Arc::new(plan), 0));
        let replay = Rewinder::start(|| {}).expect("a thread");
        let memory = 100_000_000;
        for (id, cycle) in [last - 1, 1, last / 4, 0, last].into_iter().enumerate() {
            let id = id as u64;
            let target = |archive: &Arc<RunArchive>| ReplayTarget {
                archive: Arc::clone(archive),
                cycle,
                request: view.clone(),
                minus: None,
            };
            let targets = vec![target(&archive), target(&plain)];
            let runs = vec![Arc::clone(&archive), Arc::clone(&plain)];
            replay.request(ReplayRequest { id, runs, memory, targets });
            let seen = loop {
                let answer = replay.wait(Duration::from_secs(300)).expect("an answer");
                assert_eq!(answer.failed, None);
                if answer.id == id && answer.progress.is_none() {
                    break answer.observations;
                }
            };
            let [there, here] = [0, 1].map(|index| {
                let seen = seen[index].as_ref().expect("it is seen");
                assert_eq!(seen.cycle, cycle);
                seen.picture.as_ref().expect("a map").samples.clone()
            });
            let bits = |samples: &Samples| samples.values.iter().map(|v| v.to_bits()).collect();
            let [there, here]: [Vec<u32>; 2] = [bits(&there), bits(&here)];
            assert!(there == here, "{field:?} of cycle {cycle}");
        }
    }
}

/// A worker begins at once, on the CPU, and goes on on the GPU to the same bits: its last iterate, that of
/// the move and those that are recomputed are the CPU's.
fn auto_begins_on_the_cpu() {
    let last = u64::from(share(2000)).max(30);
    let mut spec = RunSpec::default();
    (spec.problem.shape, spec.method.overlap) = (vec![256, 192], vec![4]);
    (spec.stop.tolerance, spec.stop.max_cycles) = (None, last);
    assert_eq!(spec.method.backend, Backend::Auto);
    let view = ObservationRequest {
        field: FieldKind::Residual,
        map: Some(MapRequest::whole([256; 2])),
        ..ObservationRequest::default()
    };
    let worker = Worker::start(|| {}).expect("a thread");
    let request = |running| WorkerRequest {
        epoch: 1,
        spec: spec.clone().into(),
        running,
        steps: 3,
        observation: view.clone(),
        memory: 100_000_000,
        ..WorkerRequest::default()
    };
    let report_when = |is_it: &dyn Fn(&Report) -> bool| loop {
        let answer = worker.wait(Duration::from_secs(60)).expect("a report");
        let report = answer.expect("no error");
        if is_it(&report) {
            break report;
        }
    };
    worker.request(request(false));
    let first = report_when(&|_| true);
    assert_eq!((first.plan.backend(), &first.device), (Backend::Cpu, &None));
    let moved = report_when(&|report| report.device.is_some() && report.latest.cycle == 3);
    assert_eq!((moved.plan.backend(), moved.epoch), (Backend::Cuda, first.epoch));
    assert_eq!(moved.plan.spec.method.backend, Backend::Auto);
    worker.request(request(true));
    let end = report_when(&|report| matches!(report.phase, Phase::Finished(_)));
    assert!(end.device.is_some() && end.latest.cycle == last);
    assert!(end.curve.windows(2).all(|pair| pair[0].cycle < pair[1].cycle), "the curve goes on");

    // The same on the CPU alone.
    let mut on_cpu = spec.clone();
    on_cpu.method.backend = Backend::Cpu;
    let plan = Arc::new(Planner::default().plan(&on_cpu).expect("a plan"));
    let plain = Arc::new(RunArchive::new(&plan, 0));
    let replay = Rewinder::start(|| {}).expect("a thread");
    let memory = 100_000_000;
    for (id, cycle) in [1, 3, 4, last - last / 3, last].into_iter().enumerate() {
        let id = id as u64;
        let target = |archive: &Arc<RunArchive>| ReplayTarget {
            archive: Arc::clone(archive),
            cycle,
            request: view.clone(),
            minus: None,
        };
        let targets = vec![target(&end.archive), target(&plain)];
        let runs = vec![Arc::clone(&end.archive), Arc::clone(&plain)];
        replay.request(ReplayRequest { id, runs, memory, targets });
        let seen = loop {
            let answer = replay.wait(Duration::from_secs(300)).expect("an answer");
            assert_eq!(answer.failed, None);
            if answer.id == id && answer.progress.is_none() {
                break answer.observations;
            }
        };
        let [there, here] = [0, 1].map(|index| {
            let seen = seen[index].as_ref().expect("it is seen");
            assert_eq!(seen.cycle, cycle);
            picture_bits(seen)
        });
        assert!(there == here, "cycle {cycle}");
        for report in [&moved, &end].into_iter().filter(|report| report.latest.cycle == cycle) {
            assert!(picture_bits(&report.observation) == here, "cycle {cycle}");
        }
    }
}

/// The bits of the observed field.
fn picture_bits(seen: &Observation) -> Vec<u32> {
    let samples = &seen.picture.as_ref().expect("a map").samples;
    samples.values.iter().map(|value| value.to_bits()).collect()
}

fn square(n: usize) -> Arc<Problem> {
    let shape = Shape::grid_2d(n, n).expect("a shape");
    Arc::new(Problem {
        shape,
        operator: Stencil::poisson(&shape).into(),
        rhs: Source::Constant(1.0),
        initial_guess: Source::Constant(1.0),
        boundary: Boundary::default(),
    })
}

fn tiles(n: usize, tile: usize, overlap: usize, k: usize) -> Method {
    let tiling = Tiling::new(&[n, n], &[tile, tile], &[overlap, overlap]).expect("a tiling");
    Method::Hierarchical { k, tiling }
}

fn a_thousand_changes_leave_nothing_behind() {
    let problem = square(200);
    let first = crate::gpu::solver(&problem, tiles(200, 32, 0, 4), Precision::F64, Kernel::AUTO);
    let mut solver = first.expect("a GPU");
    let mut free = Vec::new();
    let changes = share(1000) as usize;
    for change in 0..changes {
        let method = match change % 10 {
            0 => Method::Classic,
            _ => tiles(200, 8 + change % 57, 2 * (change % 4), 1 + change % 30),
        };
        let kernel =
            if change % 3 == 1 && change % 10 != 0 { Kernel::SHARED } else { Kernel::AUTO };
        solver = solver.with_method(method, kernel).expect("room");
        solver.cycles(50, NormRequest::RESIDUAL_L2).expect("a GPU at work");
        solver.cycles(500, NormRequest::RESIDUAL_L2).expect("a GPU at work");
        if change >= changes / 10 {
            free.push(crate::gpu::device().free_memory().expect("a GPU"));
        }
    }
    if is_slowed() {
        // Others may take memory of the GPU meanwhile.
        return;
    }
    let (first, last) = (free[0], free[free.len() - 1]);
    // What a solver takes changes a little with its tiles.
    let little = 64 << 20;
    assert!(last + little >= first, "{first} bytes were free, then {last}");
}

fn what_does_not_fit_is_refused() {
    let n = 130_000;
    match crate::gpu::solver(&square(n), Method::Classic, Precision::F64, Kernel::AUTO) {
        Err(SolverError::DeviceMemory { needed, free, .. }) => assert!(needed > free),
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("a GPU of 400 GB"),
    }
    let problem = square(300);
    let large = tiles(300, 160, 0, 2);
    for kernel in [Kernel::REGISTER, Kernel::SHARED, Kernel::AUTO] {
        match crate::gpu::solver(&problem, large.clone(), Precision::F64, kernel) {
            Err(SolverError::Kernel { setting, .. }) => assert_eq!(setting, "tile 160x160"),
            Err(error) => panic!("{error}"),
            Ok(_) => panic!("no kernel takes a tile of 160"),
        }
    }
}

/// A kernel that fails, and takes its context with it.
const TRAP: &str = "\
.version 7.0
.target sm_70
.address_size 64
.visible .entry fail() { trap; }
";

/// The name of the test that loses one of several GPUs, and the cycles from one exchange to the next in the process that
/// makes it.
pub const OF_SEVERAL_GPUS: &str = "when_the_GPU_is_lost_beside_others_they_continue";
const EXCHANGE_EVERY: &str = "TILESCOPE_TEST_EXCHANGE_EVERY";

/// In processes of their own, to which alone the GPU may be of no use afterwards.
fn when_one_of_several_gpus_is_lost() {
    let count = several().len();
    assert!(count > 1, "it takes two GPUs");
    if let Ok(every) = std::env::var(EXCHANGE_EVERY) {
        return loses_one_of(count, every.parse().expect("a number"));
    }
    for every in ["1", "3"] {
        let program = std::env::current_exe().expect("this program");
        let mut command = std::process::Command::new(program);
        let output = command.args(["--exact", OF_SEVERAL_GPUS]).env(EXCHANGE_EVERY, every).output();
        let output = output.expect("it starts");
        let [said, noted] =
            [output.stdout, output.stderr].map(|text| String::from_utf8(text).expect("text"));
        eprintln!("{noted}");
        assert!(output.status.success() && said.contains("1 passed"), "{every}: {said}");
    }
}

fn loses_one_of(count: usize, every: u64) {
    let mut spec = RunSpec::default();
    (spec.problem.shape, spec.method.overlap) = (vec![192, 256], vec![4]);
    (spec.stop.tolerance, spec.stop.max_cycles) = (None, 2000);
    spec.method.exchange_every = Some(every);
    let mut on_cpu = spec.clone();
    (on_cpu.method.backend, on_cpu.method.simulate_devices) = (Backend::Cpu, Some(count));
    spec.method.backend = Backend::Cuda;
    spec.method.devices = several().iter().map(Device::ordinal).collect();
    let plan = Arc::new(Planner::default().plan(&spec).expect("a plan"));
    let mut run = Run::new(&plan).expect("a run");
    while run.cycle() < 100 {
        run.advance(10).expect("GPUs at work");
    }
    lose_the_gpu(count as u32 - 1);
    let failure = loop {
        match run.advance(10) {
            Ok(outcome) => assert!(outcome.is_none(), "it was lost before the end"),
            Err(failure) => break failure,
        }
    };
    let went_on = go_on_without_failed_gpus(&plan, failure, |plan| {
        run.move_to(&Arc::new(plan))?;
        Ok(run.cycle())
    });
    match went_on {
        Ok(said) => eprintln!("exchange every {every}: {said}"),
        // Which GPUs still work is the driver's decision.
        Err(GpuLossError::Alone(failure)) => {
            eprintln!("exchange every {every}: none is left ({failure})");
            return;
        }
        Err(refused) => panic!("{refused}"),
    }
    let plan = Arc::new(Planner::default().plan(&on_cpu).expect("a plan"));
    let mut other = Run::new(&plan).expect("a run");
    for run in [&mut run, &mut other] {
        while run.advance(u64::MAX).expect("a solver at work").is_none() {}
        assert_eq!(run.cycle(), 2000);
    }
    let [one, another] = [&run, &other].map(|run| run.solver().solution().expect("it"));
    assert!(crate::iterates::bits(&one) == crate::iterates::bits(&another));
}

fn lose_the_gpu(ordinal: u32) {
    use cudarc::driver::{CudaContext, LaunchConfig};
    let context = CudaContext::new(ordinal as usize).expect("the GPU");
    let module = context.load_module(cudarc::nvrtc::Ptx::from_src(TRAP)).expect("a module");
    let function = module.load_function("fail").expect("a kernel");
    let stream = context.default_stream();
    // SAFETY: it takes no arguments, and is meant to fail.
    unsafe { stream.launch_builder(&function).launch(LaunchConfig::for_num_elems(1)) }
        .expect("a launch");
    assert!(stream.synchronize().is_err());
}

fn when_the_gpu_is_lost_the_run_continues() {
    let mut spec = RunSpec::default();
    spec.problem.shape = vec![128, 96];
    spec.method.overlap = vec![4];
    let mut planner = Planner::default();
    let mut plan = |backend| {
        let mut spec = spec.clone();
        spec.method.backend = backend;
        Arc::new(planner.plan(&spec).expect("a plan"))
    };
    let mut run = Run::new(&plan(Backend::Cuda)).expect("a run");
    while run.cycle() < 100 {
        run.advance(u64::MAX).expect("a GPU at work");
    }
    let made = run.cycle();
    lose_the_gpu(0);
    let error = run.advance(u64::MAX).expect_err("a lost GPU");
    assert!(matches!(error, SolverError::Device { .. }), "{error}");
    assert_eq!(run.cycle(), made);
    run.move_to(&plan(Backend::Cpu)).expect("it continues on the CPU");
    while run.outcome().is_none() {
        run.advance(u64::MAX).expect("a CPU");
    }
    let mut other = Run::new(&plan(Backend::Cpu)).expect("a run");
    while other.outcome().is_none() {
        other.advance(u64::MAX).expect("a CPU");
    }
    assert_eq!(run.cycle(), other.cycle());
    let [one, another] = [&run, &other].map(|run| run.solver().solution().expect("it"));
    assert!(crate::iterates::bits(&one) == crate::iterates::bits(&another));
    // Whether the driver gives the GPU back to this process is its own decision.
    match Run::new(&plan(Backend::Cuda)) {
        Ok(mut run) => {
            run.advance(1).expect("a GPU that is back");
            eprintln!("the GPU is back");
        }
        Err(error) => {
            assert!(error.to_string().contains("restart"), "{error}");
            eprintln!("{error}");
        }
    }
}
