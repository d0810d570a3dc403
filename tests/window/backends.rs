//! The choice of the device in the window. These tests need no GPU.

use crate::controls::small;
use crate::driver::Window;
use eframe::egui::accesskit::Role;
use tilescope::run::{Backend, MethodName, RunSpec};
use tilescope::solver::{Kernel, cuda};

pub const TESTS: &[(&str, fn())] = &[
    ("without_a_GPU_the_menu_says_why", without_a_gpu_the_menu_says_why),
    ("a_run_continues_with_other_threads", a_run_continues_with_other_threads),
    ("a_run_that_no_GPU_accepts_runs_on_the_cpu", a_run_that_no_gpu_accepts_runs_on_the_cpu),
    ("a_run_for_a_GPU_says_why_it_cannot_run_and_runs_on_the_cpu", a_run_for_a_gpu),
];

fn without_a_gpu_the_menu_says_why() {
    let mut window = Window::paused(small());
    let is_there = cuda::gpus().is_ok();
    // The driver answers in the background, which may take a while.
    window.until("answered", |window| !window.entry("Runs on", "CUDA").1.contains("asking"));
    let (is_enabled, name) = window.entry("Runs on", "CUDA");
    assert_eq!(is_enabled, is_there, "{name}");
    if let Err(why) = cuda::gpus() {
        assert_eq!(name, format!("CUDA: {why}"));
        window.choose("Runs on", &name);
        assert_eq!(window.run_under_way().method.backend, Backend::Auto);
    }
    // A choice continues the run.
    window.step(2);
    for (entry, backend) in [("CPU", Backend::Cpu), ("Auto", Backend::Auto)] {
        window.choose("Runs on", entry);
        window.settle_some();
        assert_eq!((window.run_under_way().method.backend, window.cycle()), (backend, 2));
    }
}

fn a_run_continues_with_other_threads() {
    let mut window = Window::paused(small());
    window.step(5);
    window.type_into("Threads", "2");
    window.settle_some();
    assert_eq!(window.cycle(), 5);
    let run = window.run_under_way();
    assert_eq!(run.method.threads, 2);
    window.step(1);
    assert_eq!(window.cycle(), 6);
    // Another run is shown after as many sweeps.
    window.set_slider("Overlap", 4.0);
    window.settle_some();
    assert_eq!(window.cycle(), 6);
}

/// Without a GPU, or if its kernel does not accept the tile, the message offers a remedy.
fn a_run_that_no_gpu_accepts_runs_on_the_cpu() {
    let mut run = small();
    run.stop.tolerance = None;
    (run.method.backend, run.method.kernel) = (Backend::Cuda, Kernel::REGISTER);
    (run.problem.shape, run.method.tile) = (vec![600, 600], vec![512]);
    let mut window = Window::with(run);
    window.until("refused", |window| window.messages() == 1);
    window.button("Run on the CPU");
    window.until("going", |window| window.cycle() > 0 && window.has_picture());
    assert_eq!(window.messages(), 0);
    let run: RunSpec = window.run_under_way();
    assert_eq!((run.method.backend, run.method.kernel), (Backend::Cpu, Kernel::AUTO));
}

/// A GPU run, opened on a machine that may have no GPU.
fn a_run_for_a_gpu() {
    let mut run = small();
    run.stop.tolerance = None;
    (run.method.backend, run.method.kernel) = (Backend::Cuda, Kernel::REGISTER);
    let mut window = Window::with(run);
    if cuda::gpus().is_err() {
        window.until("refused", |window| window.messages() == 1);
        assert!(window.says("backend cpu can"), "{:?}", window.texts());
    }
    assert!(!window.has(Role::SpinButton, "Threads"));
    assert!(window.entry("Kernel", "Shared").0);
    assert!(!window.entry("Kernel", "Classic").0, "it knows no tiles");
    window.choose("Iteration", "Classic");
    assert!(window.entry("Kernel", "Classic").0);
    assert!(!window.entry("Kernel", "Shared").0, "it needs tiles");
    window.choose("Runs on", "CPU");
    window.until("going", |window| window.cycle() > 0 && window.has_picture());
    let run: RunSpec = window.run_under_way();
    assert_eq!(run.method.name, MethodName::Classic);
    assert_eq!((run.method.backend, run.method.kernel), (Backend::Cpu, Kernel::AUTO));
}
