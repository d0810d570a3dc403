//! A run that several GPUs of this machine share, chosen in the window.

use crate::controls::small;
use crate::driver::Window;
use eframe::egui::Key;
use std::fs;
use tilescope::run::Backend;
use tilescope::solver::cuda;

pub const TESTS: &[(&str, fn())] =
    &[("several_GPUs_take_a_run_over_and_go_on_with_it", several_gpus)];

/// How many GPUs there are.
pub fn count() -> usize {
    cuda::gpus().map_or(0, |names| names.len())
}

fn several_gpus() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut window = Window::paused(small());
    window.step(3);
    window.until("answered", |window| !window.entry("Runs on", "CUDA").1.contains("querying"));
    window.choose("Runs on", &format!("CUDA: all {} GPUs", count()));
    window.until("at the same cycle", |window| window.cycle() == 3);
    window.step(7);
    let method = window.run_under_way().method;
    assert_eq!((method.backend, method.devices.len()), (Backend::Cuda, count()));
    let shared = folder.path().join("shared.npy");
    window.save_and_wait("Field as an array", &shared);

    let mut alone = Window::paused(small());
    alone.choose("Runs on", "CPU");
    alone.step(10);
    let here = folder.path().join("here.npy");
    alone.save_and_wait("Field as an array", &here);
    let [shared, here] = [shared, here].map(|path| fs::read(path).expect("it was saved"));
    assert!(shared == here, "other bits");

    // Settings are dragged while it runs.
    window.key(Key::Space);
    window.drag_slider("Overlap", &[0.0, 0.6, 0.3]);
    window.until("going", |window| window.cycle() > 50);
    window.choose("Runs on", "CPU");
    window.until("on the CPU", |window| window.cycle() > 0 && window.has_picture());
    assert!(!window.says("failed"), "{:?}", window.texts());
}
