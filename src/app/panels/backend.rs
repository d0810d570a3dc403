//! The device of the solver, and why others are not available.

use crate::app::state::devices;
use crate::app::state::session::Session;
use crate::app::widgets::labels::{explained, named, typed};
use crate::app::widgets::rows::row;
use crate::grid::Tiling;
use crate::problem::Stencil;
use crate::run::host::aside;
use crate::run::{
    BLOCK_SIZES, Backend, MOST_SWEEPS, MOST_THREADS, MethodName, MethodSpec, ProblemKind, RunSpec,
};
use crate::solver::cuda::{self, Unavailable};
use crate::solver::{Kernel, Method, Spectral};
use eframe::egui::{Button, ComboBox, Ui};
use std::sync::{Arc, OnceLock};

/// Width of the menus, in points.
const WIDTH: f32 = 64.0;

/// The back ends of this machine.
pub struct Backends {
    /// The GPUs, once the driver has answered.
    gpus: Arc<OnceLock<Result<Vec<String>, Unavailable>>>,
}

impl Backends {
    /// Asks the driver for its GPUs on a thread of its own, which may take a second.
    pub fn look_for() -> Self {
        let gpus = Arc::new(OnceLock::new());
        let answer = Arc::clone(&gpus);
        let ask = move || _ = answer.set(cuda::gpus());
        if let Err(error) = aside("tilescope-GPUs", ask) {
            _ = gpus.set(Err(Unavailable::Driver(error.to_string())));
        }
        Self { gpus }
    }

    /// The menu of back ends, and the threads or the kernel of the chosen one.
    pub fn ui(&self, ui: &mut Ui, session: &Session, method: &mut MethodSpec) {
        let about = "Where the solver runs. A change continues the run from its current cycle.";
        let is_auto = method.backend == Backend::Auto;
        // The menu says what runs, and has no room for more.
        row(ui, if is_auto { "Runs on (auto)" } else { "Runs on" }, about, |ui| {
            let several = method.device_count().filter(|_| method.devices.len() > 1);
            let name = match (session.backend(), several) {
                (Backend::Auto | Backend::Cpu, _) => "CPU".to_owned(),
                (Backend::Cuda, None) => "CUDA".to_owned(),
                (Backend::Cuda, Some(_)) => self.several(&method.devices),
            };
            let combo = ComboBox::from_id_salt("backend").width(WIDTH).selected_text(name);
            let response = combo.show_ui(ui, |ui| {
                let is_one = method.simulate_devices.is_none();
                for (backend, text, about) in [
                    (Backend::Auto, "Auto", self.auto(session)),
                    (Backend::Cpu, "CPU", "The CPU cores of this machine.".to_owned()),
                ] {
                    let is_chosen = is_one && method.backend == backend;
                    let entry = ui.add(Button::selectable(is_chosen, text));
                    if explained(entry, about).clicked() {
                        method.backend = backend;
                        devices::leave(method);
                    }
                }
                simulated(ui, session, method);
                let can_share = session.spec.shared_on_cpu_alone().is_none();
                for (text, ordinals) in self.cuda(can_share) {
                    let is_chosen = is_one
                        && method.backend == Backend::Cuda
                        && ordinals.as_ref() == Some(&method.devices);
                    let button = Button::selectable(is_chosen, text);
                    let about = match &ordinals {
                        Some(ordinals) if ordinals.len() > 1 => {
                            "GPUs that share the grid or the matrix."
                        }
                        Some(_) => "An NVIDIA GPU.",
                        None => "Needs an NVIDIA GPU and its driver.",
                    };
                    let response = explained(ui.add_enabled(ordinals.is_some(), button), about);
                    if let Some(ordinals) = ordinals.filter(|_| response.clicked()) {
                        devices::leave(method);
                        (method.backend, method.devices) = (Backend::Cuda, ordinals);
                    }
                }
            });
            named(response.response, "Runs on").on_hover_text(about);
            if method.backend == Backend::Cpu {
                method.block_size = None;
            }
            // A kernel of another method or back end is reset, and one for which there is no menu.
            let is_without_menu = session.backend() != Backend::Cuda
                && (method.name, method.kernel) == (MethodName::Classic, Kernel::FUSED)
                && !can_fuse_on_cpu(session, method);
            if is_without_menu || !session.spec.kernels_with(method).contains(&method.kernel) {
                method.kernel = Kernel::AUTO;
            }
            match session.backend() {
                Backend::Auto | Backend::Cpu => threads(ui, method),
                Backend::Cuda => kernels(ui, session, method),
            }
        });
        if session.backend() != Backend::Cuda && can_fuse_on_cpu(session, method) {
            let about = "How the CPU performs the sweeps. Results do not depend on it.";
            row(ui, "Kernel", about, |ui| {
                kernel_menu(ui, method, about, &[Kernel::AUTO, Kernel::FUSED], |_| Ok(()));
            });
        }
        let is_grid = session.spec.problem.kind != ProblemKind::Matrix;
        let has_blocks = session.backend() == Backend::Cuda && !method.is_for_cpu();
        if is_grid && has_blocks && method.name == MethodName::Classic {
            block_size(ui, method);
        }
    }

    /// What `auto` stands for, and why it is not a GPU, in a sentence or two.
    fn auto(&self, session: &Session) -> String {
        let about = "A GPU where there is one that takes the run, otherwise the CPU.";
        let why = session
            .without_gpu
            .clone()
            .or_else(|| Some(self.gpus.get()?.as_ref().err()?.to_string()));
        match why.filter(|_| session.backend() != Backend::Cuda) {
            Some(why) => format!("{about} Not on a GPU: {why}."),
            None => about.to_owned(),
        }
    }

    /// Several GPUs, such as `4 × H200`; `4 GPUs` where they differ or are not known.
    fn several(&self, ordinals: &[u32]) -> String {
        let count = ordinals.len();
        let names = self.gpus.get().and_then(|gpus| gpus.as_ref().ok());
        let name = |ordinal: &u32| names?.get(*ordinal as usize);
        let first = ordinals.first().and_then(name);
        match first.filter(|first| ordinals.iter().all(|ordinal| name(ordinal) == Some(first))) {
            Some(name) => format!("{count} × {}", model(name)),
            None => format!("{count} GPUs"),
        }
    }

    /// The GPUs with the ordinals that choose them, and all of them if they can share the grid; or one entry without, which
    /// says why there is none.
    fn cuda(&self, can_share: bool) -> Vec<(String, Option<Vec<u32>>)> {
        match self.gpus.get() {
            None => vec![("CUDA: querying the driver …".to_owned(), None)],
            Some(Ok(names)) => {
                let number =
                    |ordinal| if names.len() == 1 { String::new() } else { format!(" {ordinal}") };
                let entry = |(ordinal, name)| {
                    (format!("CUDA{}: {name}", number(ordinal)), Some(vec![ordinal]))
                };
                let all = || {
                    let devices: Vec<_> = (0..).zip(names).map(|(ordinal, _)| ordinal).collect();
                    (format!("CUDA: all {} GPUs", names.len()), Some(devices))
                };
                let several = (can_share && names.len() > 1).then(all);
                (0..).zip(names).map(entry).chain(several).collect()
            }
            Some(Err(why)) => vec![(format!("CUDA: {why}"), None)],
        }
    }
}

/// The model in the name of a GPU: `H100` of `NVIDIA H100 80GB HBM3`.
fn model(name: &str) -> &str {
    let model = name.strip_prefix("NVIDIA ").unwrap_or(name);
    model.split(' ').next().unwrap_or(model)
}

/// The entry that shares the grid out over simulated devices, or why there is none.
fn simulated(ui: &mut Ui, session: &Session, method: &mut MethodSpec) {
    let mut run = RunSpec { method: method.clone(), ..RunSpec::clone(&session.spec) };
    let why = run.why_no_devices();
    let is_chosen = method.simulate_devices.is_some();
    let entry = Button::selectable(is_chosen, "Simulated devices");
    let about = match &why {
        None => "Several devices that share the grid or the matrix, simulated on the CPU or on one GPU. Their number, and how often they exchange, are then chosen beside the method.".to_owned(),
        Some(why) => format!("Not with this run: {why}."),
    };
    let entry = explained(ui.add_enabled(why.is_none(), entry), about);
    if entry.clicked() && !is_chosen {
        devices::begin(&mut run);
        *method = run.method;
    }
}

fn threads(ui: &mut Ui, method: &mut MethodSpec) {
    let about = "Threads of the solver. Results do not depend on their number.";
    let threads = typed(ui, &mut method.threads, 0..=MOST_THREADS).speed(0.05).custom_formatter(
        |threads, _| match threads as usize {
            0 => "all cores".to_owned(),
            1 => "1 thread".to_owned(),
            threads => format!("{threads} threads"),
        },
    );
    named(ui.add(threads), "Threads").on_hover_text(about);
}

/// The menu of threads per block of kernel classic.
fn block_size(ui: &mut Ui, method: &mut MethodSpec) {
    let about = "Threads of a block of kernel classic. Results do not depend on it.";
    let label = |threads: Option<usize>| {
        threads.map_or_else(|| "Fastest".to_owned(), |threads| threads.to_string())
    };
    row(ui, "Block size", about, |ui| {
        let combo = ComboBox::from_id_salt("block size").width(WIDTH);
        let response = combo.selected_text(label(method.block_size)).show_ui(ui, |ui| {
            for threads in std::iter::once(None).chain(BLOCK_SIZES.map(Some)) {
                let entry = ui.selectable_value(&mut method.block_size, threads, label(threads));
                let about = match threads {
                    None => "Several are timed on this GPU.".to_owned(),
                    Some(threads) => format!("{threads} threads: {} warps.", threads / 32),
                };
                explained(entry, about);
            }
        });
        named(response.response, "Block size").on_hover_text(about);
    });
}

/// The menu of kernels. Disabled entries say which kernel accepts the setting.
fn kernels(ui: &mut Ui, session: &Session, method: &mut MethodSpec) {
    let about = "The GPU kernel that performs the cycles. Results do not depend on it, except with Spectral, which rounds differently.";
    let is_matrix = session.spec.problem.kind == ProblemKind::Matrix;
    let of_gpu = if is_matrix { Kernel::of_matrix() } else { Kernel::of_grid() };
    let chosen = method.clone();
    kernel_menu(ui, method, about, &of_gpu, |kernel| takes(kernel, session, &chosen).map(drop));
}

/// Whether several sweeps at a time can be chosen on the CPU.
fn can_fuse_on_cpu(session: &Session, method: &MethodSpec) -> bool {
    let on_cpu = MethodSpec { backend: Backend::Cpu, ..method.clone() };
    session.spec.problem.shape.len() == 3
        && !method.has_frozen_devices()
        && session.spec.kernels_with(&on_cpu).contains(&Kernel::FUSED)
}

/// A menu of kernels; those that `takes` refuses are disabled, and say why.
fn kernel_menu(
    ui: &mut Ui,
    method: &mut MethodSpec,
    about: &str,
    kernels: &[Kernel],
    takes: impl Fn(Kernel) -> Result<(), String>,
) {
    let combo = ComboBox::from_id_salt("kernel").width(WIDTH).selected_text(method.kernel.label());
    let response = combo.show_ui(ui, |ui| {
        for &kernel in kernels {
            let takes = takes(kernel);
            let selected = kernel == method.kernel;
            let button =
                ui.add_enabled(takes.is_ok(), Button::selectable(selected, kernel.label()));
            let about = takes.err().unwrap_or_else(|| kernel.about().to_owned());
            if explained(button, about).clicked() {
                method.kernel = kernel;
            }
        }
    });
    named(response.response, "Kernel").on_hover_text(about);
}

/// The kernel that runs where `kernel` is chosen; if it does not accept the setting, a sentence that says
/// which does.
fn takes(kernel: Kernel, session: &Session, chosen: &MethodSpec) -> Result<Kernel, String> {
    let chosen = &MethodSpec { kernel, ..chosen.clone() };
    if kernel == Kernel::FUSED && chosen.has_frozen_devices() {
        return Err("It does not accept an exchange every few cycles.".to_owned());
    }
    // No GPU makes these: with `auto` they run on the CPU.
    if chosen.is_for_cpu() && kernel == Kernel::AUTO {
        return Ok(kernel);
    }
    let method = match (chosen.name, session.tiling()) {
        (MethodName::Classic, _) => Method::Classic,
        (MethodName::Pyramid | MethodName::Wavefront, _) => {
            let shape = session.spec.problem.grid();
            match shape.map(|shape| chosen.streaming(&shape)) {
                Some(Ok(streaming)) => Method::Streaming(streaming),
                // The run is refused for these, whichever kernel is chosen.
                Some(Err(_)) | None => return Ok(kernel),
            }
        }
        (MethodName::Hierarchical, Some(tiling)) => {
            tiled(chosen, &tiling).map_err(|why| format!("It does not accept {why}."))?
        }
        // The run is refused for its tiles, whichever kernel of the method is chosen.
        (MethodName::Hierarchical, None) if Kernel::of(chosen.name).contains(&kernel) => {
            return Ok(kernel);
        }
        (MethodName::Hierarchical, None) => return Err("It does not run tiles.".to_owned()),
    };
    if session.spec.problem.kind == ProblemKind::Matrix && method == Method::Classic {
        // Its sweeps have a kernel of their own, whichever is chosen for blocks.
        return Ok(kernel);
    }
    // The method determines which kernel is the fastest.
    let is_choice = kernel == Kernel::FASTEST && chosen.name == MethodName::Hierarchical;
    let kernel = if is_choice { Kernel::AUTO } else { kernel };
    let method = method.scheduled(chosen.schedule()).damped(chosen.omega);
    // The run is refused for its shape, whichever kernel is chosen.
    let Some(shape) = session.spec.problem.grid() else { return Ok(kernel) };
    let is_per_point = session.spec.problem.kind == ProblemKind::Diffusion;
    cuda::takes(kernel, &method, chosen.precision, &shape, is_per_point)
        .map_err(|why| format!("It {why}."))
}

/// The method of tiles that a kernel makes. The weights are not known here; a run whose weights do not allow
/// it is refused for them.
fn tiled(chosen: &MethodSpec, tiling: &Tiling) -> Result<Method, String> {
    if chosen.prefers_spectral() {
        let weights = Stencil { d: 1.0, ..Stencil::default() };
        let spectral = Spectral::new(chosen.k, tiling, &weights);
        return spectral.map(Method::Spectral).map_err(|why| why.to_string());
    }
    match chosen.k.finite().filter(|k| *k <= MOST_SWEEPS) {
        Some(k) => Ok(Method::Hierarchical { k, tiling: tiling.clone() }),
        None => Err(format!("more than {MOST_SWEEPS} sweeps per cycle; use Spectral")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use eframe::egui::accesskit::Role;
    use egui_kittest::{Harness, kittest::Queryable};

    /// The device of `auto`, and the control that goes with it.
    #[test]
    fn auto_says_what_runs() {
        for (auto_is, name, control, other) in [
            (Backend::Cpu, "CPU", "Threads", "Kernel"),
            (Backend::Cuda, "CUDA", "Kernel", "Threads"),
        ] {
            let mut session = Session::default();
            session.auto_is = auto_is;
            let backends = Backends { gpus: Arc::default() };
            let harness = Harness::new_ui(move |ui| {
                backends.ui(ui, &session, &mut MethodSpec::default());
            });
            let menu = harness.get_by_role_and_label(Role::ComboBox, "Runs on");
            assert_eq!(menu.value().as_deref(), Some(name));
            assert!(harness.query_by_label(control).is_some(), "{name}");
            assert!(harness.query_by_label(other).is_none(), "{name}");
        }
    }

    #[test]
    fn several_gpus_are_named_by_their_model() {
        let backends = Backends { gpus: Arc::default() };
        assert_eq!(backends.several(&[0, 1]), "2 GPUs", "nobody knows yet");
        let names = ["NVIDIA H100 80GB HBM3", "NVIDIA H100 80GB HBM3", "NVIDIA H200"];
        _ = backends.gpus.set(Ok(names.map(str::to_owned).to_vec()));
        assert_eq!(backends.several(&[0, 1]), "2 × H100");
        assert_eq!(backends.several(&[1, 2]), "2 GPUs");
        assert_eq!(backends.several(&[0, 7]), "2 GPUs");
    }

    #[test]
    fn sweeps_at_a_time_can_be_chosen_on_the_cpu_in_3d() {
        for (shape, has_menu) in [(vec![8, 8, 8], true), (vec![8, 8], false)] {
            let mut session = Session::default();
            session.auto_is = Backend::Cpu;
            Arc::make_mut(&mut session.spec).problem.shape = shape;
            let backends = Backends { gpus: Arc::default() };
            let chosen = (MethodName::Classic, Kernel::FUSED);
            let mut method =
                MethodSpec { name: chosen.0, kernel: chosen.1, ..MethodSpec::default() };
            let mut harness = Harness::new_ui_state(
                move |ui, method: &mut MethodSpec| backends.ui(ui, &session, method),
                method.clone(),
            );
            harness.run();
            let menu = harness.query_by_role_and_label(Role::ComboBox, "Kernel");
            assert_eq!(menu.is_some(), has_menu);
            method.kernel = if has_menu { Kernel::FUSED } else { Kernel::AUTO };
            assert_eq!(*harness.state(), method);
        }
    }

    #[test]
    fn kernel_classic_has_a_block_size() {
        for (name, has_it) in [(MethodName::Classic, true), (MethodName::Hierarchical, false)] {
            let mut session = Session::default();
            session.auto_is = Backend::Cuda;
            let backends = Backends { gpus: Arc::default() };
            let harness = Harness::new_ui(move |ui| {
                let mut method = MethodSpec { name, ..MethodSpec::default() };
                backends.ui(ui, &session, &mut method);
            });
            let menu = harness.query_by_role_and_label(Role::ComboBox, "Block size");
            assert_eq!(menu.is_some(), has_it, "{name:?}");
        }
    }

    #[test]
    fn auto_says_why_it_is_not_a_gpu() {
        let backends = Backends { gpus: Arc::default() };
        let mut session = Session::default();
        assert!(!backends.auto(&session).contains("Not on a GPU"), "nobody knows yet");
        _ = backends.gpus.set(Err(Unavailable::NoGpu));
        let said = backends.auto(&session);
        assert!(said.ends_with("Not on a GPU: the NVIDIA driver finds no GPU."), "{said}");
        session.without_gpu = Some("it is full".to_owned());
        assert!(backends.auto(&session).ends_with("Not on a GPU: it is full."));
        session.auto_is = Backend::Cuda;
        assert!(!backends.auto(&session).contains("Not on a GPU"));
    }

    #[test]
    fn a_kernel_of_another_method_says_why_it_is_unavailable() {
        let session = Session::default();
        let allowed = |name| {
            let chosen = MethodSpec { name, backend: Backend::Cuda, ..MethodSpec::default() };
            let kernels = Kernel::of_grid().into_iter();
            kernels.map(|kernel| takes(kernel, &session, &chosen).is_ok()).collect::<Vec<_>>()
        };
        for (method, expected) in [
            (MethodName::Classic, [Kernel::AUTO, Kernel::CLASSIC].as_slice()),
            (
                MethodName::Hierarchical,
                &[
                    Kernel::AUTO,
                    Kernel::FASTEST,
                    Kernel::SPECTRAL,
                    Kernel::REGISTER,
                    Kernel::SHARED,
                ],
            ),
        ] {
            let goes = Kernel::of_grid().into_iter().zip(allowed(method)).filter(|(_, is)| *is);
            assert_eq!(goes.map(|(kernel, _)| kernel).collect::<Vec<_>>(), expected);
        }
    }
}
