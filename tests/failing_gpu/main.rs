//! Guards the messages about a GPU that cannot be used or that fails, and that the run continues elsewhere.
//! A stand-in for the driver fails on request.
#![cfg(target_os = "linux")]

use assert_cmd::cargo::cargo_bin;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tilescope::run::{
    Backend, MapRequest, ObservationRequest, Outcome, Phase, RunSpec, Worker, WorkerRequest,
};

/// Names the failure; the processes in which the stand-in is the driver have it.
const FAILURE: &str = "TILESCOPE_TEST_GPU";

/// The folder of the stand-in, which is compiled once.
fn driver() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("failing_gpu");
        std::fs::create_dir_all(&folder).unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/failing_gpu/driver.rs");
        let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| OsString::from("rustc"));
        let compiled = Command::new(compiler)
            .args(["--edition", "2024", "--deny", "warnings", "-o"])
            .args([&folder.join("libcuda.so"), &source])
            .output()
            .expect("the compiler is there");
        let said = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success(), "{said}");
        folder
    })
}

/// A program for which the stand-in is the driver.
fn with_gpu(program: impl AsRef<Path>, failure: &str, arguments: &[&str]) -> Output {
    let mut command = Command::new(program.as_ref());
    command.args(arguments).env("LD_LIBRARY_PATH", driver()).env(FAILURE, failure);
    command.output().expect("it starts")
}

fn tilescope(failure: &str, arguments: &str) -> Output {
    let arguments: Vec<_> = arguments.split_whitespace().collect();
    with_gpu(cargo_bin("tilescope"), failure, &arguments)
}

const SOLVE: &str = "solve --shape 320x256 --tile 16 --k 4 --max-cycles 500 --backend cuda";

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

#[test]
fn a_gpu_that_is_not_there_is_refused_in_a_sentence() {
    for (devices, sentence) in [
        (
            "1",
            "backend cuda cannot be used: devices names GPU 1, but this machine has only GPU 0; backend cpu can",
        ),
        (
            "0,1",
            "devices is [0, 1]; it must be one GPU, such as [0]: a run on several is not possible yet",
        ),
    ] {
        let output = tilescope("full", &format!("{SOLVE} --devices {devices}"));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains(sentence), "{devices}: {said}");
        assert_eq!(said.lines().count(), 1, "{devices}: {said}");
    }
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

/// In a process of its own for each failure.
#[test]
fn a_run_continues_on_the_cpu() {
    if std::env::var_os(FAILURE).is_some() {
        return continues_on_the_cpu();
    }
    let this = std::env::current_exe().unwrap();
    for failure in ["no-GPU", "old-GPU", "old-driver", "old-compiler", "full", "slow", "lost"] {
        let output = with_gpu(&this, failure, &["--exact", "a_run_continues_on_the_cpu"]);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{failure}: {said}");
    }
}

fn continues_on_the_cpu() {
    let mut spec = RunSpec::default();
    (spec.problem.shape, spec.method.tile, spec.method.k) = (vec![320, 256], vec![16], 4.into());
    (spec.stop.tolerance, spec.stop.max_cycles) = (None, 500);
    spec.method.backend = Backend::Cuda;
    let worker = Worker::start(|| {}).unwrap();
    let begin = Instant::now();
    let request = |spec: &RunSpec| {
        worker.request(WorkerRequest {
            epoch: 1,
            spec: Arc::new(spec.clone()),
            running: true,
            steps: 0,
            pace: None,
            observation: ObservationRequest {
                map: Some(MapRequest::whole([64; 2])),
                ..ObservationRequest::default()
            },
            memory: 64_000_000,
            ..WorkerRequest::default()
        });
    };
    request(&spec);
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
    request(&spec);
    loop {
        let report = worker.wait(Duration::from_secs(60)).expect("it goes on").unwrap();
        if report.phase == Phase::Finished(Outcome::OutOfCycles) {
            assert_eq!((report.latest.cycle, report.device), (500, None));
            break;
        }
        assert!(begin.elapsed() < Duration::from_secs(120), "{:?}", report.phase);
    }
}
