//! Guards the messages about a GPU that cannot be used or that fails, and that the run continues elsewhere.
//! A stand-in for the driver fails on request.
#![cfg(target_os = "linux")]

mod exchange;
mod ranks;

use assert_cmd::cargo::cargo_bin;
use eframe::App;
use eframe::egui::accesskit::{Role, Toggled};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};
use tilescope::app::{Explorer, SettingsFile};
use tilescope::picture::Opened;
use tilescope::run::{
    Backend, CycleLists, MapRequest, Measure, ObservationRequest, Outcome, PerAxis, Phase, Planner,
    Report, Run, RunSpec, SweepEnd, SweepSpec, TileLists, Tuner, TunerEvent, Worker, WorkerRequest,
};
use tilescope::solver::{Kernel, MethodName, SolverError};

/// Names the failure; the processes in which the stand-in is the driver have it.
const FAILURE: &str = "TILESCOPE_TEST_GPU";

/// The folder of the stand-ins for the driver and for NCCL, which are compiled once.
fn driver() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("failing_gpu");
        std::fs::create_dir_all(&folder).unwrap();
        compile("driver.rs", &folder.join("libcuda.so"));
        compile("nccl.rs", &folder.join("libnccl.so.2"));
        folder
    })
}

/// The number of GPUs, and which of them fails.
const COUNT: &str = "TILESCOPE_TEST_GPUS";
const FAILING: &str = "TILESCOPE_TEST_FAILING";

fn compile(source: &str, library: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/failing_gpu").join(source);
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
    let compiled = Command::new(compiler)
        .args(["--edition", "2024", "--deny", "warnings", "-o"])
        .args([library, &source])
        .output()
        .expect("the compiler is there");
    let said = String::from_utf8_lossy(&compiled.stderr);
    assert!(compiled.status.success(), "{said}");
}

/// A program for which the stand-in is the driver, whose GPUs these variables describe.
fn with_gpus(program: impl AsRef<Path>, gpus: &[(&str, &str)], arguments: &str) -> Output {
    let mut command = Command::new(program.as_ref());
    command.args(arguments.split_whitespace()).env("LD_LIBRARY_PATH", driver());
    command.envs(gpus.iter().copied()).output().expect("it starts")
}

fn tilescope(failure: &str, arguments: &str) -> Output {
    with_gpus(cargo_bin("tilescope"), &[(FAILURE, failure)], arguments)
}

const SOLVE: &str =
    "solve --shape 320x256 --tile 16 --k 4 --tol none --max-cycles 500 --backend cuda";

/// What makes any run on a GPU as long.
const LONG: &str = "--tol none --max-cycles 500 --backend cuda";

#[test]
fn each_failure_is_reported_in_one_sentence() {
    for (failure, sentence) in [
        ("no-GPU", "backend cuda cannot be used: the NVIDIA driver finds no GPU; backend cpu can"),
        (
            "old-GPU",
            "backend cuda cannot be used: Test GPU is too old: it has compute capability 6.1, and 7.0 is needed; backend cpu can",
        ),
        (
            "old-driver",
            "backend cuda cannot be used: the NVIDIA driver is too old; 550 or newer is needed; backend cpu can",
        ),
        (
            "old-compiler",
            "backend cuda cannot be used: the NVIDIA driver is too old; 550 or newer is needed; backend cpu can",
        ),
        ("full", "Test GPU has 1.00 MB of memory free, and this run needs"),
        ("slow", "Test GPU failed: the launch timed out and was terminated"),
        ("lost", "Test GPU failed: uncorrectable ECC error encountered"),
    ] {
        let output = tilescope(failure, SOLVE);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{failure}: {said}");
        assert!(said.starts_with("tilescope: ") && said.contains(sentence), "{failure}: {said}");
        assert_eq!(said.lines().count(), 1, "{failure}: {said}");
        assert!(output.stdout.is_empty(), "{failure}");
    }
}

/// Planes visit a GPU that has room for a window, and lets this machine's memory be pinned.
#[test]
fn planes_that_cannot_visit_a_gpu_are_reported_in_one_sentence() {
    let small = "--shape 320x256 --method pyramid --height 3 --memory 100kB";
    for (failure, run, sentence) in [
        ("full", small, "Test GPU has 1.00 MB of memory free, and this run needs 6.29 MB"),
        ("lost", small, "Test GPU failed: uncorrectable ECC error encountered"),
        (
            "unpinned",
            "--shape 260x260x70 --method wavefront --memory 40MB",
            "the driver cannot pin 41.1 MB of memory for Test GPU: out of memory; use a smaller shape or backend cpu",
        ),
    ] {
        let solve = format!("solve {run} --tol none --max-cycles 500 --backend cuda");
        let output = tilescope(failure, &solve);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{failure}: {said}");
        assert!(said.starts_with("tilescope: ") && said.contains(sentence), "{failure}: {said}");
        assert_eq!(said.lines().count(), 1, "{failure}: {said}");
    }
    // Files that are mapped are not pinned.
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store");
    let large = "--shape 260x260x70 --method wavefront --height 18 --memory 40MB";
    let solve = format!(
        "solve {large} --tol none --max-cycles 2 --backend cuda --store {}",
        store.display()
    );
    let output = tilescope("unpinned", &solve);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && said.is_empty(), "{said}");
    assert!(store.join("iterate-even").exists());
    // Without a choice of the back end it runs on the CPU.
    let output = tilescope("full", &format!("solve {small} --tol none --max-cycles 2 --json"));
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["backend"], "cpu");
}

/// Without a choice of the back end a GPU that cannot be used is no error.
#[test]
fn auto_is_the_cpu_where_no_gpu_takes_the_run() {
    let auto = SOLVE.replace(" --backend cuda", " --json");
    let full = "the run uses the CPU: Test GPU has 1.00 MB of memory free";
    for (failure, note) in [
        ("no-GPU", None),
        ("old-GPU", None),
        ("old-driver", None),
        ("old-compiler", None),
        ("full", Some(full)),
    ] {
        let output = tilescope(failure, &auto);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{failure}: {said}");
        let is_expected = note.map_or(said.is_empty(), |note| said.contains(note));
        assert!(is_expected, "{failure}: {said}");
        let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(summary["backend"], "cpu", "{failure}");
        assert_eq!(summary["cycles"], 500, "{failure}");
    }
    // Tiles and blocks that no kernel accepts run on the CPU.
    for (system, note) in [
        ("--shape 40x40x40 --tile 36", "does not accept tile 36x36x36"),
        ("--matrix poisson-200x200 --tile 40000", "does not accept blocks of 40000 rows"),
        ("--shape 600x600 --tile 512", "does not accept tile 512x512"),
    ] {
        let output = tilescope(
            "slow-f64",
            &format!("solve {system} --k 2 --tol none --max-cycles 3 --json"),
        );
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && said.contains(note), "{system}: {said}");
        assert_eq!(said.is_empty(), note.is_empty(), "{system}: {said}");
        let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(summary["backend"], "cpu", "{system}");
    }
}

/// What does not fit into its memory, or streams through a budget that nobody chose, visits the GPU plane by plane.
#[test]
fn auto_lets_planes_visit_the_gpu() {
    let classic = "--shape 2000x1500 --method classic --tol none --max-cycles 200";
    let streams = "--shape 64x64 --method pyramid --tol none --max-cycles 1";
    for (failure, run, expected, note) in [
        (
            "small",
            classic,
            ("cuda", "wavefront"),
            "method classic needs 72.2 MB and Test GPU has 40.0 MB of memory free, so method wavefront makes the same sweeps, 100 in a cycle, with a budget of 31250kB",
        ),
        ("slow-f64", classic, ("cuda", "classic"), ""),
        ("full", classic, ("cpu", "classic"), "the run uses the CPU: Test GPU has 1.00 MB"),
        ("no-GPU", classic, ("cpu", "classic"), ""),
        (
            "slow-f64",
            streams,
            ("cuda", "pyramid"),
            "the planes visit Test GPU, with cycles of 49 sweeps and a budget of 8GB",
        ),
        ("no-GPU", streams, ("cpu", "pyramid"), ""),
    ] {
        let output = tilescope(failure, &format!("solve {run} --json"));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && said.contains(note), "{failure}: {said}");
        let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(summary["backend"], expected.0, "{failure}");
        assert_eq!(summary["method"], expected.1, "{failure}");
    }
    // The options that it leads to make the same run.
    let (options, cycles) = ("--method wavefront --height 100 --memory 31250kB", 2);
    let named = classic.replace("--method classic", options).replace("200", &cycles.to_string());
    let solve = |run: &str| tilescope("small", &format!("solve {run} --backend cuda --json"));
    let summary: serde_json::Value = serde_json::from_slice(&solve(&named).stdout).unwrap();
    assert_eq!(summary["streaming"]["height"], 100);
    // The back end that was chosen is not another.
    let said = String::from_utf8(solve(classic).stderr).unwrap();
    assert!(said.contains("Test GPU has 40.0 MB of memory free, and this run needs"), "{said}");
}

/// It is said once, and only of f64.
#[test]
fn a_gpu_that_is_slow_in_f64_is_named() {
    let note = "this GPU computes f32 32 times as fast as f64; --precision f32 uses that";
    let solve = "solve --shape 64x64 --tile 16 --k 2 --tol none --max-cycles 2";
    for (failure, options, times) in [
        ("slow-f64", "", 1),
        ("slow-f64", "--backend cuda", 1),
        ("slow-f64", "--precision f32", 0),
        ("slow-f64", "--backend cpu", 0),
        ("lost", "", 0),
    ] {
        let output = tilescope(failure, &format!("{solve} {options}"));
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(said.matches(note).count(), times, "{failure} {options}: {said}");
    }
}

/// In the window, f32 is a click away.
#[test]
fn the_window_offers_f32_on_such_a_gpu() {
    for_each(&["slow-f64"], "the_window_offers_f32_on_such_a_gpu", window_offers_f32);
}

fn window_offers_f32() {
    let mut run = auto_run();
    run.method.backend = Backend::Cuda;
    let mut harness = window(run);
    until_button(&mut harness, "Use f32", true);
    let said = "Test GPU computes f32 32 times as fast as f64.";
    assert!(harness.query_by_label_contains(said).is_some());
    harness.get_by_role_and_label(Role::Button, "Use f32").click();
    until_button(&mut harness, "Use f32", false);
    harness.run_steps(4);
    let mut f32s = harness.query_all_by_label("f32").map(|node| node.accesskit_node().toggled());
    assert!(f32s.any(|toggled| toggled == Some(Toggled::True)));
}

/// What has no room on the GPU visits it plane by plane, in the window as on the command line; the CPU is a click away.
#[test]
fn the_window_lets_planes_visit_the_gpu() {
    for_each(&["small"], "the_window_lets_planes_visit_the_gpu", window_streams);
}

fn window_streams() {
    let mut run = RunSpec::default();
    run.problem.shape = vec![2000, 1500];
    run.method.set_name(MethodName::Classic);
    run.stop.tolerance = None;
    let mut harness = window(run);
    until_button(&mut harness, "Use the CPU", true);
    let said = "Method classic needs 72.2 MB and Test GPU has 40.0 MB of memory free, so method wavefront makes the same sweeps";
    assert!(harness.query_by_label_contains(said).is_some());
    harness.run_steps(4);
    let streams =
        |harness: &Harness<'_>| harness.query_by_role_and_label(Role::Slider, "Height").is_some();
    assert!(streams(&harness));
    harness.get_by_role_and_label(Role::Button, "Use the CPU").click();
    until_button(&mut harness, "Use the CPU", false);
    harness.run_steps(4);
    assert!(!streams(&harness));
}

/// A window that shows a run.
fn window(run: RunSpec) -> Harness<'static> {
    let slot = Rc::new(RefCell::new(None));
    let filled = Rc::clone(&slot);
    let mut frame = eframe::Frame::_new_kittest();
    Harness::builder()
        .with_size([1280.0, 800.0])
        .with_context_setup(move |context| {
            let start = Some(Opened { run, view: None });
            let explorer = Explorer::with_settings(context, start, SettingsFile::default());
            *filled.borrow_mut() = Some(explorer.unwrap());
        })
        .build_ui(move |ui| {
            let mut slot = slot.borrow_mut();
            let explorer: &mut Explorer = slot.as_mut().unwrap();
            let context = ui.ctx().clone();
            explorer.logic(&context, &mut frame);
            explorer.ui(ui, &mut frame);
        })
}

/// Waits until a button is there, or is not.
fn until_button(harness: &mut Harness<'_>, name: &str, is_there: bool) {
    let begin = Instant::now();
    while harness.query_by_role_and_label(Role::Button, name).is_some() != is_there {
        assert!(begin.elapsed() < Duration::from_secs(60), "{name}");
        thread::sleep(Duration::from_millis(5));
        harness.step();
    }
}

/// Only a GPU has the kernel: without a back end that names one.
#[test]
fn a_kernel_of_gpus_takes_the_gpu() {
    let solve = "solve --shape 64x64 --tile 16 --k 2 --tol none --max-cycles 2 --kernel shared";
    let output = tilescope("no-GPU", solve);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("kernel is shared; it needs a GPU (backend cuda)"), "{said}");
    let output = tilescope("full", &solve.replace("64x64", "320x256"));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("tilescope: Test GPU has 1.00 MB of memory free"), "{said}");
}

#[test]
fn a_gpu_that_is_not_there_is_refused_in_a_sentence() {
    for (devices, sentence) in [
        (
            "1",
            "backend cuda cannot be used: devices names GPU 1, but this machine has only GPU 0; backend cpu can",
        ),
        (
            "0,1",
            "backend cuda cannot be used: devices names GPU 1, but this machine has only GPU 0; backend cpu can",
        ),
        ("0,0", "devices is 0,0; it must name each GPU once"),
    ] {
        let output = tilescope("full", &format!("{SOLVE} --devices {devices}"));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains(sentence), "{devices}: {said}");
        assert_eq!(said.lines().count(), 1, "{devices}: {said}");
    }
}

/// On two GPUs that do not reach each other, and on one that simulates several.
#[test]
fn several_gpus_are_refused_and_fail_in_a_sentence() {
    let tilescope = |failure: &str, line: &str| {
        with_gpus(cargo_bin("tilescope"), &[(FAILURE, failure), (COUNT, "2")], line)
    };
    for options in [
        "--devices 0,1",
        "--devices 1,0 --exchange host",
        "--devices 0,1 --exchange nccl",
        "--devices all --exchange-every 3",
        "--devices 1 --simulate-devices 4 --exchange peer",
        "--simulate-devices 3 --exchange-every 2 --exchange host",
    ] {
        for problem in [
            "--shape 320x256 --tile 16 --k 4",
            "--shape 300 --batch 7 --tile 16 --k 4",
            "--shape 300 --batch 7 --method classic",
            // What others read lies side by side, and apart.
            "--matrix poisson-40x30 --tile 100 --k 4",
            "--matrix trefethen-500 --tile 32 --k 4 --overlap 2",
            "--matrix trefethen-2000 --method classic",
        ] {
            if problem.contains("batch") && options.contains("every") {
                continue;
            }
            let line = format!("solve {problem} --precision f32 {LONG} {options}");
            let output = tilescope("slow-f64", &format!("{line} --json"));
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(0), "{line}: {said}");
            let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
            let is_real = !options.contains("simulate");
            let name = if is_real { "2 × Test GPU" } else { "Test GPU" };
            assert_eq!(summary["device"], name, "{line}");
        }
    }
    for (failure, options, sentence) in [
        ("slow-f64", "--devices 0,1 --exchange peer", "cannot reach the memory of GPU"),
        ("slow-f64", "--devices 0,1,2", "devices names GPU 2, but this machine has GPUs 0 to 1"),
        (
            "full",
            "--devices 1 --simulate-devices 4",
            "Test GPU has 1.00 MB of memory free, and this run needs",
        ),
        ("lost", "--devices 0,1", "Test GPU (GPU 0) failed: uncorrectable ECC error encountered"),
    ] {
        let output = tilescope(failure, &format!("{SOLVE} --precision f32 {options}"));
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{options}: {said}");
        assert!(said.starts_with("tilescope: ") && said.contains(sentence), "{options}: {said}");
        assert_eq!(said.lines().count(), 1, "{options}: {said}");
    }
}

/// Planes of a pyramid that visit GPUs: 43 slabs of 6 rows.
const SLABS: &str = "solve --shape 320x256 --method pyramid --height 3 --memory 100kB --tol none --max-cycles 60 --backend cuda --json";

/// Slabs are shared out over GPUs, or over devices that one simulates; each has a window of its own.
#[test]
fn slabs_of_a_pyramid_visit_several_gpus() {
    for (options, device, parts) in [
        ("--devices 0,1", "2 × Test GPU", [21, 22]),
        ("--devices 1 --simulate-devices 2", "Test GPU", [21, 22]),
    ] {
        let gpus = [(FAILURE, "slow-f64"), (COUNT, "2")];
        let output = with_gpus(cargo_bin("tilescope"), &gpus, &format!("{SLABS} {options}"));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{options}: {said}");
        let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(summary["device"], device, "{options}");
        assert_eq!(summary["devices"]["parts"], serde_json::json!(parts), "{options}");
    }
    // A window of one device has room, those of two have not.
    let gpus = [(FAILURE, "slow-f64"), ("TILESCOPE_TEST_ROOM", "8000000")];
    for (count, code) in [("1", 0), ("2", 1)] {
        let line = format!("{SLABS} --simulate-devices {count}");
        let output = with_gpus(cargo_bin("tilescope"), &gpus, &line);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{count}: {said}");
    }
}

/// GPU 1 of two or three is lost after the set-up of a run.
const LOST_LATER: [(&str, &str); 2] = [(FAILURE, "lost"), (FAILING, "1")];

/// One of several GPUs is lost in the middle of a run, which goes on on the others.
#[test]
fn a_run_continues_on_the_gpus_that_are_left() {
    let failed = "Test GPU (GPU 1) failed: uncorrectable ECC error encountered";
    for (count, options, left, device) in [
        ("2", "--devices 0,1", "GPU 0", "Test GPU"),
        ("2", "--devices 1,0 --exchange-every 3", "GPU 0", "Test GPU"),
        ("3", "--devices all", "GPUs 0 and 2", "2 × Test GPU"),
        ("3", "--devices all --exchange-every 2", "GPUs 0 and 2", "2 × Test GPU"),
        ("3", "--devices all --method classic --precision f32", "GPUs 0 and 2", "2 × Test GPU"),
    ] {
        let gpus = [&LOST_LATER[..], &[(COUNT, count)]].concat();
        let line = format!("{SOLVE} {options} --json");
        let line =
            if options.contains("classic") { line.replace("--tile 16 --k 4 ", "") } else { line };
        let output = with_gpus(cargo_bin("tilescope"), &gpus, &line);
        let said = String::from_utf8(output.stderr).unwrap();
        let sentence = format!("{failed}; the run continues on {left} from its initial guess");
        assert!(output.status.success(), "{options}: {said}");
        assert!(said.contains(&sentence) && said.lines().count() == 1, "{options}: {said}");
        let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(summary["device"], device, "{options}");
    }
    // Slabs that visit several GPUs.
    let gpus = [&LOST_LATER[..], &[(COUNT, "2")]].concat();
    let output = with_gpus(cargo_bin("tilescope"), &gpus, &format!("{SLABS} --devices 0,1"));
    let said = String::from_utf8(output.stderr).unwrap();
    let sentence = format!("{failed}; the run continues on GPU 0 from its initial guess");
    assert!(output.status.success() && said.contains(&sentence), "{said}");
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(summary["device"], "Test GPU");
    // Both are lost, and a single one has no other.
    let both = [(FAILURE, "lost"), (COUNT, "2")];
    for (gpus, options, sentence) in [
        (&both[..], "--devices 0,1", "Test GPU (GPU 0) failed: uncorrectable ECC error"),
        (&LOST_LATER[..1], "--devices 0", "Test GPU failed: uncorrectable ECC error"),
    ] {
        let output = with_gpus(cargo_bin("tilescope"), gpus, &format!("{SOLVE} {options}"));
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{options}: {said}");
        assert!(said.contains(sentence) && said.lines().count() == 1, "{options}: {said}");
    }
}

/// Of a figure and a film the run goes on likewise, wherever it was: in its cycles, or while it is observed.
#[test]
fn a_figure_is_drawn_on_the_gpus_that_are_left() {
    let failed = "Test GPU (GPU 1) failed: uncorrectable ECC error encountered";
    let run = "--shape 320x256 --tile 16 --k 4 --tol none --max-cycles 500 --backend cuda";
    for (count, devices, left) in [("2", "0,1", "GPU 0"), ("3", "all", "GPUs 0 and 2")] {
        for (options, file) in [
            ("--field error", "a.png"),
            ("--field staleness", "a.png"),
            ("--kind curves --classic", "a.csv"),
            ("--animate 0..40:10 --size 300x300", "a.apng"),
        ] {
            let is_told = |waits: &u32| {
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join(file);
                let line =
                    format!("render {run} --devices {devices} {options} -o {}", path.display());
                let waits = waits.to_string();
                let output = with_gpus(cargo_bin("tilescope"), &losing(count, &waits), &line);
                let said = String::from_utf8(output.stderr).unwrap();
                let case = format!("{options} after {waits}: {said}");
                assert!(output.status.success() && path.exists(), "{case}");
                let times = said.matches("failed: ").count();
                let sentence = format!("{failed}; the run continues on {left} from ");
                assert_eq!(times, said.matches(&sentence).count(), "{case}");
                assert!(times <= 1, "{case}");
                times == 1
            };
            // After few cycles nothing changes, since kernels do nothing.
            assert!(is_told(&4), "{options}");
            assert!((5..14).any(|waits| is_told(&waits)), "{options}");
        }
    }
    // A single one has no other.
    let folder = tempfile::tempdir().unwrap();
    let line = format!("render {run} -o {}", folder.path().join("a.png").display());
    let output = with_gpus(cargo_bin("tilescope"), &losing("1", "1"), &line);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.ends_with("Test GPU failed: uncorrectable ECC error encountered\n"), "{said}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Times of 8 settings.
const TIMES: &str =
    "sweep --shape 320x256 --k 2,4 --overlap 0,2 --tile 16,32 --tol none --measure time";

/// The rows of a table: the machine of each, and whether it has a time.
fn rows(path: &Path) -> Vec<(String, bool)> {
    let mut table = csv::Reader::from_path(path).unwrap();
    let names = table.headers().unwrap().clone();
    if names.is_empty() {
        return Vec::new();
    }
    let place = |name: &str| names.iter().position(|other| other == name).unwrap();
    let (machine, time) = (place("machine"), place("seconds_per_cycle"));
    let row = |row: csv::StringRecord| (row[machine].to_owned(), !row[time].is_empty());
    table.records().map(|record| row(record.unwrap())).collect()
}

/// GPUs of which one is lost when it was waited for so often.
fn losing<'a>(count: &'a str, waits: &'a str) -> [(&'a str, &'a str); 4] {
    let failing = if count == "1" { "0" } else { "1" };
    [(FAILURE, "lost"), (FAILING, failing), (COUNT, count), ("TILESCOPE_TEST_WAITS", waits)]
}

/// Measures times until a GPU is lost and on what is left; returns how many rows have the machine as it was, and as it is.
fn measured(count: &str, waits: &str, options: &str, left: &str, names: [&str; 2]) -> [usize; 2] {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.csv");
    let line = format!("{TIMES} --precision f32 {options} -o {}", path.display());
    let output = with_gpus(cargo_bin("tilescope"), &losing(count, waits), &line);
    let said = String::from_utf8(output.stderr).unwrap();
    let case = format!("{options} after {waits}: {said}");
    assert!(output.status.success(), "{case}");
    let rows = rows(&path);
    assert_eq!(rows.len(), 8, "{case}");
    assert!(rows.iter().all(|(_, has_time)| *has_time), "{case}");
    let [before, after] = names;
    let lost = rows.iter().position(|(machine, _)| !machine.starts_with(before)).unwrap_or(8);
    let is_left = |machine: &str| machine.starts_with(after) && !machine.starts_with(before);
    assert!(rows[lost..].iter().all(|(machine, _)| is_left(machine)), "{case}: {rows:?}");
    let sentence = format!(
        "uncorrectable ECC error encountered; measuring continues on {left}, and what was being measured is measured anew"
    );
    let is_told = said.matches(&sentence).count() == 1;
    assert!(is_told || lost == 8, "{case}");
    [lost, 8 - lost]
}

/// A GPU is lost before the first row of a table, and between two of them: that setting is measured anew on the others, and
/// rows name the machine that is left.
#[test]
fn a_sweep_continues_on_what_is_left() {
    let two = "Test GPU + Test GPU, ";
    for (count, options, left, names) in [
        ("2", "--backend cuda --devices 0,1", "GPU 0", [two, "Test GPU, "]),
        ("2", "--backend cuda --devices 1,0 --exchange-every 2", "GPU 0", [two, "Test GPU, "]),
        ("3", "--devices all", "GPUs 0 and 2", ["Test GPU + Test GPU + Test GPU, ", two]),
        ("1", "", "the CPU", ["Test GPU, ", ""]),
    ] {
        assert_eq!(measured(count, "4", options, left, names), [0, 8]);
        // Two of these are enough to find a moment between two rows.
        if matches!(count, "1" | "3") {
            let rows_before =
                |waits: u64| measured(count, &waits.to_string(), options, left, names)[0];
            assert!(is_lost_between_rows(rows_before), "{options}");
        }
    }
}

/// Whether a GPU was lost after the first of 8 rows and before the last, given how many rows there are where it is lost after
/// so many waits. How often it is waited for depends on the time, and a search may have to look at a place again.
fn is_lost_between_rows(mut rows_before: impl FnMut(u64) -> usize) -> bool {
    // More waits than a whole table has.
    let (mut low, mut high) = (0, 6000);
    (0..20).any(|_| {
        let waits = (low + high) / 2;
        let rows = rows_before(waits);
        match rows {
            0 => low = waits.min(high - 200),
            8 => high = waits.max(low + 200),
            _ => {}
        }
        (1..8).contains(&rows)
    })
}

/// The window's tuning map as well, whatever it was measuring: all of its cells are measured.
#[test]
fn a_tuning_map_continues_on_what_is_left() {
    if std::env::var_os(FAILURE).is_some() {
        return map_continues();
    }
    let this = std::env::current_exe().unwrap();
    let name = "--exact a_tuning_map_continues_on_what_is_left";
    // Before the first cell, and, on most machines, at one of them.
    for waits in ["4", "40", "200", "400"] {
        let gpus = [&losing("2", waits)[..], &[("NCCL_NVLS_ENABLE", "0")]].concat();
        let output = with_gpus(&this, &gpus, name);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{waits}: {said}");
    }
}

fn map_continues() {
    let mut run = auto_run();
    (run.method.backend, run.method.devices) = (Backend::Cuda, vec![0, 1]);
    let list = |points: [usize; 2]| points.map(PerAxis::all).to_vec();
    let spec = SweepSpec {
        run,
        cycle: CycleLists::Tiles(TileLists {
            k: vec![2.into(), 4.into()],
            overlap: list([0, 2]),
            tile: list([16, 32]),
        }),
        kernel: vec![Kernel::AUTO],
        threads: vec![0],
        measure: vec![Measure::Time],
    };
    let tuner = Tuner::start(|| {}).unwrap();
    tuner.measure_slow(true);
    assert!(tuner.begin(spec));
    let (begin, mut losses, mut measured) = (Instant::now(), Vec::new(), BTreeSet::new());
    loop {
        assert!(begin.elapsed() < Duration::from_secs(60), "{losses:?}, {measured:?}");
        match tuner.event() {
            Some(TunerEvent::LostGpu(said)) => losses.push(said),
            Some(TunerEvent::Measured { index, row, .. }) => {
                assert!(row.seconds_per_cycle.is_some());
                assert!(measured.insert(index), "{index} twice");
            }
            Some(TunerEvent::Ended(end)) => {
                assert_eq!(end, SweepEnd::Complete);
                break;
            }
            Some(TunerEvent::Rejected(why)) => panic!("{why}"),
            Some(_) => {}
            None => thread::sleep(Duration::from_millis(5)),
        }
    }
    assert_eq!(measured.len(), 8);
    let sentence = "Test GPU (GPU 1) failed: uncorrectable ECC error encountered; measuring continues on GPU 0, and what was being measured is measured anew";
    let waits: u32 = std::env::var("TILESCOPE_TEST_WAITS").unwrap().parse().unwrap();
    // A fast machine may have measured all of them before.
    let is_early = waits <= 40;
    assert!(losses == [sentence] || losses.is_empty() && !is_early, "{losses:?}");
}

/// Where nothing is left, the table has whole rows alone.
#[test]
fn a_sweep_without_another_gpu_ends_in_a_sentence() {
    let rows_before = |waits: u64| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.csv");
        let line = format!("{TIMES} --precision f32 --backend cuda -o {}", path.display());
        let waits = waits.to_string();
        let output = with_gpus(cargo_bin("tilescope"), &losing("1", &waits), &line);
        let said = String::from_utf8(output.stderr).unwrap();
        let rows = rows(&path);
        assert!(rows.iter().all(|(_, has_time)| *has_time), "{said}: {rows:?}");
        if !output.status.success() {
            assert_eq!(output.status.code(), Some(1), "{said}");
            let sentence = "tilescope: Test GPU failed: uncorrectable ECC error encountered\n";
            assert_eq!(said, sentence);
        }
        rows.len()
    };
    assert!(is_lost_between_rows(rows_before));
}

/// The kernel in its rows is the one that ran, and not the choice.
#[test]
fn a_table_of_a_gpu_can_be_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.csv");
    let sweep = |options: &str| {
        let line = format!("{TIMES} --precision f32 {options} -o {}", path.display());
        let output = tilescope("slow-f64", &line);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success() && said.is_empty(), "{said}");
        rows(&path).len()
    };
    assert_eq!(sweep(""), 8);
    let table = std::fs::read_to_string(&path).unwrap();
    let half: Vec<_> = table.lines().take(5).collect();
    std::fs::write(&path, half.join("\n") + "\n").unwrap();
    assert_eq!(sweep("--resume"), 8);
}

#[test]
fn a_search_continues_on_what_is_left() {
    let line =
        "tune --shape 320x256 --k 2,4 --overlap 0,2 --tile 16,32 --tol 0.5 --precision f32 --json";
    for (waits, count, options, left) in [
        ("4", "2", "--backend cuda --devices 0,1", "GPU 0"),
        ("100", "2", "--backend cuda --devices 0,1", "GPU 0"),
        ("100", "1", "", "the CPU"),
    ] {
        let gpus = losing(count, waits);
        let output = with_gpus(cargo_bin("tilescope"), &gpus, &format!("{line} {options}"));
        let said = String::from_utf8(output.stderr).unwrap();
        let case = format!("{options} after {waits}: {said}");
        let sentence = format!("; measuring continues on {left}, and what was being measured");
        assert_eq!(said.matches(&sentence).count(), 1, "{case}");
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect(&case);
        let measured = found["measured"].as_array().unwrap();
        let is_whole = |row: &serde_json::Value| row["seconds_per_cycle"].is_number();
        assert!(!measured.is_empty() && measured.iter().all(is_whole), "{case}");
    }
}

/// What is left has no room: the run ends with both in one sentence.
#[test]
fn a_run_that_the_gpus_left_cannot_take_says_why() {
    // Each has room for its half.
    let gpus = [&LOST_LATER[..], &[(COUNT, "2"), ("TILESCOPE_TEST_ROOM", "20000000")]].concat();
    let line = "solve --shape 1000x1000 --tile 16 --k 4 --tol none --max-cycles 500 --backend cuda --devices 0,1";
    let output = with_gpus(cargo_bin("tilescope"), &gpus, line);
    let said = String::from_utf8(output.stderr).unwrap();
    let sentence = "Test GPU (GPU 1) failed: uncorrectable ECC error encountered; the run cannot continue on GPU 0: Test GPU has 20.0 MB of memory free, and this run needs 24.";
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(sentence) && said.lines().count() == 1, "{said}");
}

/// Of GPUs with the same name, a sentence says which is too small.
#[test]
fn a_gpu_that_is_too_small_for_its_share_is_named() {
    let gpus = [(FAILURE, "full"), (FAILING, "1"), (COUNT, "2")];
    let line = format!("{SOLVE} --devices 0,1").replace("320x256", "1024x512");
    let output = with_gpus(cargo_bin("tilescope"), &gpus, &line);
    let said = String::from_utf8(output.stderr).unwrap();
    let sentence = "Test GPU (GPU 1) has 1.00 MB of memory free, and this run needs 6.";
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(sentence) && said.lines().count() == 1, "{said}");
}

/// A GPU that takes three times as long has a third of the rows of tiles, and no file has its speed.
#[test]
fn unequal_gpus_share_the_grid_by_their_speeds() {
    for (count, slow, options, parts) in [
        ("2", "1", "--devices 0,1", &[8, 8][..]),
        ("2", "1", "--devices 0,1 --share-by speed", &[12, 4]),
        ("2", "0", "--devices 0,1 --share-by speed --kernel shared", &[4, 12]),
        ("2", "0", "--devices 1,0 --share-by speed", &[12, 4]),
        // Of 5, 5 and 6 rows at first.
        ("3", "2", "--devices all --share-by speed", &[7, 6, 3]),
    ] {
        let gpus = [(FAILURE, "slow-f64"), (COUNT, count), ("TILESCOPE_TEST_SLOW", slow)];
        let line = format!("{SOLVE} --precision f32 {options} --json");
        let output = with_gpus(cargo_bin("tilescope"), &gpus, &line);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{options}: {said}");
        let summary: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(summary["devices"]["parts"], serde_json::json!(parts), "{options}");
    }
}

/// The window's worker goes on by itself, and reports say so.
#[test]
fn the_worker_continues_on_the_gpus_that_are_left() {
    if std::env::var_os(FAILURE).is_some() {
        return continues_on_the_gpus_left();
    }
    let gpus = [&LOST_LATER[..], &[(COUNT, "2"), ("NCCL_NVLS_ENABLE", "0")]].concat();
    let this = std::env::current_exe().unwrap();
    let name = "--exact the_worker_continues_on_the_gpus_that_are_left";
    let output = with_gpus(this, &gpus, name);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

fn continues_on_the_gpus_left() {
    let mut spec = auto_run();
    (spec.method.backend, spec.method.devices) = (Backend::Cuda, vec![0, 1]);
    let worker = Worker::start(|| {}).unwrap();
    worker.request(request(&spec, true));
    let report = report_when(&worker, |report| report.gpu_loss.is_some());
    let loss = report.gpu_loss.unwrap();
    let failed = "Test GPU (GPU 1) failed: uncorrectable ECC error encountered";
    assert!(loss.starts_with(failed) && loss.contains("continues on GPU 0 from"), "{loss}");
    let report = report_when(&worker, |report| matches!(report.phase, Phase::Finished(_)));
    assert_eq!(report.device.as_deref(), Some("Test GPU"));
    // What was chosen stays.
    assert_eq!(report.plan.spec.method.devices, [0, 1]);
    assert_eq!(report.gpu_loss, Some(loss));
}

#[test]
fn the_list_of_devices_says_why_there_is_no_gpu() {
    for (failure, sentence) in [
        ("no-GPU", "cuda  none: the NVIDIA driver finds no GPU\n"),
        (
            "old-GPU",
            "cuda  0 cannot be used: Test GPU is too old: it has compute capability 6.1, and 7.0 is needed\n",
        ),
        ("old-driver", "cuda  none: the NVIDIA driver is too old; 550 or newer is needed\n"),
        ("full", "cuda  0 Test GPU · "),
    ] {
        let output = tilescope(failure, "devices");
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success(), "{failure}: {said}");
        assert!(said.contains(sentence), "{failure}: {said}");
    }
}

/// Runs a test of this program for each failure, in a process of its own whose driver is the stand-in; in
/// that process, `test` itself.
fn for_each(failures: &[&str], name: &str, test: fn()) {
    if std::env::var_os(FAILURE).is_some() {
        return test();
    }
    let this = std::env::current_exe().unwrap();
    for failure in failures {
        let output = with_gpus(&this, &[(FAILURE, failure)], &format!("--exact {name}"));
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{failure}: {said}");
    }
}

#[test]
fn a_run_continues_on_the_cpu() {
    let failures = ["no-GPU", "old-GPU", "old-driver", "old-compiler", "full", "slow", "lost"];
    for_each(&failures, "a_run_continues_on_the_cpu", continues_on_the_cpu);
}

#[test]
fn auto_stays_on_the_cpu_where_there_is_no_gpu() {
    let failures = ["no-GPU", "old-GPU", "old-driver", "old-compiler", "full"];
    for_each(&failures, "auto_stays_on_the_cpu_where_there_is_no_gpu", stays_on_the_cpu);
}

#[test]
fn auto_moves_to_the_gpu_and_back_when_it_fails() {
    let failures = ["slow", "lost"];
    for_each(&failures, "auto_moves_to_the_gpu_and_back_when_it_fails", moves_and_fails);
}

#[test]
fn a_failed_gpu_is_used_again_where_the_driver_allows_it() {
    let name = "a_failed_gpu_is_used_again_where_the_driver_allows_it";
    for_each(&["once", "lost"], name, used_again);
}

/// A run of 500 cycles with the default back end.
fn auto_run() -> RunSpec {
    let mut spec = RunSpec::default();
    (spec.problem.shape, spec.method.tile, spec.method.k) = (vec![320, 256], vec![16], 4.into());
    (spec.stop.tolerance, spec.stop.max_cycles) = (None, 500);
    assert_eq!(spec.method.backend, Backend::Auto);
    spec
}

/// The first report of a worker that is as it should be. None of them is an error.
fn report_when(worker: &Worker, is_it: impl Fn(&Report) -> bool) -> Box<Report> {
    let begin = Instant::now();
    loop {
        let report = worker.wait(Duration::from_secs(60)).expect("a report").expect("no error");
        if is_it(&report) {
            return report;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", report.phase);
    }
}

fn request(spec: &RunSpec, running: bool) -> WorkerRequest {
    WorkerRequest {
        epoch: 1,
        spec: Arc::new(spec.clone()),
        running,
        observation: ObservationRequest {
            map: Some(MapRequest::whole([64; 2])),
            ..ObservationRequest::default()
        },
        memory: 64_000_000,
        ..WorkerRequest::default()
    }
}

fn stays_on_the_cpu() {
    let spec = auto_run();
    let worker = Worker::start(|| {}).unwrap();
    worker.request(request(&spec, false));
    // What came of the GPU is known some time, and is said.
    let report = report_when(&worker, |report| report.plan.without_gpu.is_some());
    assert_eq!((report.plan.backend(), report.latest.cycle), (Backend::Cpu, 0));
    worker.request(request(&spec, true));
    let report = report_when(&worker, |report| matches!(report.phase, Phase::Finished(_)));
    assert_eq!((report.latest.cycle, &report.device), (500, &None));
    assert_eq!(report.plan.spec.method.backend, Backend::Auto);
}

fn moves_and_fails() {
    let mut spec = auto_run();
    let worker = Worker::start(|| {}).unwrap();
    worker.request(request(&spec, false));
    // It may have moved by the first report that is seen, since newer ones replace older ones; then no other
    // follows.
    let first = report_when(&worker, |_| true);
    let before = first.latest;
    let report = match first.device {
        Some(_) => first,
        None => report_when(&worker, |report| report.device.is_some()),
    };
    assert_eq!((report.plan.backend(), report.epoch), (Backend::Cuda, 1));
    assert_eq!(report.latest, before);
    worker.request(request(&spec, true));
    let failed = |report: &Report| matches!(&report.phase, Phase::Failed { why } if why.contains("Test GPU"));
    report_when(&worker, failed);
    spec.method.backend = Backend::Cpu;
    worker.request(request(&spec, true));
    let report = report_when(&worker, |report| matches!(report.phase, Phase::Finished(_)));
    assert_eq!((report.latest.cycle, report.device), (500, None));
}

fn continues_on_the_cpu() {
    let mut spec = auto_run();
    spec.method.backend = Backend::Cuda;
    let worker = Worker::start(|| {}).unwrap();
    let begin = Instant::now();
    worker.request(request(&spec, true));
    // Refused before it began, or failed on the way.
    let why = loop {
        match worker.wait(Duration::from_secs(60)).expect("the worker says something") {
            Err(refusal) => break refusal.why,
            Ok(report) => {
                if let Phase::Failed { why } = &report.phase {
                    break why.clone();
                }
            }
        }
        assert!(begin.elapsed() < Duration::from_secs(60));
    };
    assert!(why.contains("Test GPU") || why.contains("NVIDIA driver"), "{why}");

    spec.method.backend = Backend::Cpu;
    worker.request(request(&spec, true));
    loop {
        let report = worker.wait(Duration::from_secs(60)).expect("it goes on").unwrap();
        if report.phase == Phase::Finished(Outcome::OutOfCycles) {
            assert_eq!((report.latest.cycle, report.device), (500, None));
            break;
        }
        assert!(begin.elapsed() < Duration::from_secs(120), "{:?}", report.phase);
    }
}

fn used_again() {
    let comes_back = std::env::var(FAILURE).unwrap() == "once";
    let mut spec = auto_run();
    spec.method.backend = Backend::Cuda;
    let plan = Arc::new(Planner::default().plan(&spec).unwrap());
    let advanced = || Run::new(&plan)?.advance(u64::MAX).map(drop);
    let error = (0..100).find_map(|_| advanced().err()).expect("a failure");
    assert!(matches!(error, SolverError::Device { .. }), "{error}");
    // As often as it is tried.
    for _ in 0..2 {
        match advanced() {
            Ok(_) => assert!(comes_back),
            Err(error) => {
                let said = error.to_string();
                assert!(!comes_back, "{said}");
                assert!(said.contains("Test GPU failed") && said.contains("restart"), "{said}");
            }
        }
    }
}
