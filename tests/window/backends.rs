//! The choice of the device in the window. These tests need no GPU.

use crate::controls::small;
use crate::driver::Window;
use eframe::egui::{Key, Modifiers, accesskit::Role};
use tilescope::run::{Backend, MethodName, RunSpec};
use tilescope::solver::{Kernel, cuda};

pub const TESTS: &[(&str, fn())] = &[
    ("without_a_GPU_the_menu_says_why", without_a_gpu_the_menu_says_why),
    ("a_run_continues_with_other_threads", a_run_continues_with_other_threads),
    ("a_run_that_no_GPU_accepts_runs_on_the_cpu", a_run_that_no_gpu_accepts_runs_on_the_cpu),
    ("devices_are_simulated_changed_and_left", devices_are_simulated_changed_and_left),
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

/// Simulated devices are chosen where the solver runs, stand beside the method, and are named on the map.
fn devices_are_simulated_changed_and_left() {
    let mut window = Window::paused(small());
    window.step(3);
    assert!(!window.has(Role::SpinButton, "Devices"));
    window.choose("Runs on", "Simulated devices");
    window.until_text("device 3");
    // With an exchange after every cycle they are one device; the run stays at its sweeps.
    window.until("at the same cycle", |window| window.cycle() == 3);
    assert_eq!(window.slider("Exchange every"), 1.0);
    window.set_slider("Exchange every", 8.0);
    let method = window.run_under_way().method;
    assert_eq!((method.simulate_devices, method.exchange_every), (Some(4), Some(8)));
    assert!(window.says("Not Jacobi at any overlap"));
    // Larger tiles leave fewer rows to share, without a message in between. One says that the run above was saved.
    window.until("saved", |window| window.says("Saved ") && window.messages() == 1);
    window.button("Dismiss");
    window.until("dismissed", |window| window.messages() == 0);
    window.set_slider("Tile", 32.0);
    window.until("two", |window| {
        assert_eq!(window.messages(), 0, "{:?}", window.texts());
        window.says("device 1") && !window.says("device 2")
    });
    window.button("One");
    window.until("left", |window| !window.says("device 1"));
    let method = window.run_under_way().method;
    assert_eq!((method.simulate_devices, method.exchange_every), (None, None));
    // By key, and by the choice of a back end.
    window.harness.key_press_modifiers(Modifiers::SHIFT, Key::D);
    window.until_text("device 1");
    window.choose("Runs on", "CPU");
    window.until("left", |window| !window.says("device 1"));
    // A line has tiles to share, too.
    window.key(Key::E);
    window.key(Key::Num3);
    window.choose("Runs on", "Simulated devices");
    window.until("shared", |window| window.has(Role::SpinButton, "Devices"));
    assert_eq!(window.slider("Exchange every"), 1.0);
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
