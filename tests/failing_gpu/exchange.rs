//! Guards which path GPUs of one process exchange values by, and what is said where it is not to be had. The stand-ins for GPUs
//! do not reach each other; their kernels do nothing, so that every iterate is the initial guess.

use super::{COUNT, FAILING, FAILURE, LONG, with_gpus};
use assert_cmd::cargo::cargo_bin;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Output;

/// What NCCL's stand-in does, and the file that is to be NCCL.
const NCCL: &str = "TILESCOPE_TEST_NCCL";
const FILE: &str = "TILESCOPE_NCCL";

/// Where NCCL's stand-in leaves a file for each GPU that belongs to a group.
const FOLDER: &str = "TILESCOPE_TEST_FOLDER";

fn solve(folder: &Path, gpus: &[(&str, &str)], line: &str) -> Output {
    let here = [(FOLDER, folder.to_str().expect("a path of letters"))];
    with_gpus(cargo_bin("tilescope"), &[gpus, &here].concat(), &format!("solve {line}"))
}

/// Asserts that no GPU belongs to a group any more.
fn none_is_open(folder: &Path) {
    let open = folder
        .read_dir()
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().starts_with("open"));
    assert_eq!(open.count(), 0, "groups are closed");
}

/// A matrix whose devices send values that lie apart, planes, and lines, of which only norms are exchanged.
const PROBLEMS: [&str; 6] = [
    "--problem random --shape 150x140 --tile 16 --k 4 --overlap 2",
    "--problem random --shape 150x140 --tile 16 --k 4 --overlap 2 --exchange-every 3",
    "--problem random --shape 40x30x50 --method classic",
    "--shape 300 --batch 7 --tile 16 --k 4",
    "--matrix trefethen-500 --tile 32 --k 4 --overlap 2",
    "--matrix trefethen-500 --tile 32 --k 4 --overlap 2 --exchange-every 2",
];

#[test]
fn values_take_the_path_that_is_to_be_had() {
    let missing = (FILE, "/nowhere.so");
    for problem in PROBLEMS {
        let mut fields = Vec::new();
        for (count, exchange, change, path) in [
            ("2", "host", None, "host"),
            ("2", "auto", None, "nccl"),
            ("3", "nccl", None, "nccl"),
            ("4", "auto", None, "nccl"),
            ("3", "auto", Some(missing), "host"),
            ("2", "auto", Some((NCCL, "0")), "host"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("u.npy");
            let line = format!(
                "{problem} {LONG} --devices all --exchange {exchange} --json --save-curve {} --save-field {}",
                folder.path().join("c.csv").display(),
                file.display()
            );
            let gpus = [(FAILURE, "slow-f64"), (COUNT, count)];
            let gpus: Vec<_> = gpus.into_iter().chain(change).collect();
            let output = solve(folder.path(), &gpus, &line);
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(0), "{line}: {said}");
            let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(summary["devices"]["paths"], json!([path]), "{line}");
            fields.push(std::fs::read(file).unwrap());
            none_is_open(folder.path());
        }
        assert!(fields.iter().all(|field| *field == fields[0]), "{problem}");
    }
}

#[test]
fn a_path_that_is_not_to_be_had_or_fails_is_said_in_a_sentence() {
    let failed = "NCCL failed: it found an error of its own";
    for (options, change, sentence) in [
        (
            "--devices all --exchange nccl",
            (FILE, "/nowhere.so"),
            "TILESCOPE_NCCL is /nowhere.so, which cannot be opened as NCCL",
        ),
        (
            "--devices all --exchange nccl",
            (NCCL, "0"),
            "NCCL failed: a call of the system failed, such as one of the network",
        ),
        // The first exchange connects; others are those of cycles and of their norms.
        ("--devices all --exchange nccl", (NCCL, "2"), failed),
        ("--devices all", (NCCL, "5"), failed),
        ("--devices all --exchange-every 3", (NCCL, "2"), failed),
        (
            "--devices all --exchange peer",
            (NCCL, "0"),
            "cannot reach the memory of GPU 0; exchange nccl and exchange host do without",
        ),
        (
            "--simulate-devices 2 --exchange nccl",
            (NCCL, "1"),
            "exchange is nccl; one GPU simulates these devices, and NCCL moves values between several",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let line = format!("{} {LONG} {options} --precision f32", PROBLEMS[0]);
        let gpus = [(FAILURE, "slow-f64"), (COUNT, "2"), change];
        let output = solve(folder.path(), &gpus, &line);
        let said = String::from_utf8(output.stderr).unwrap();
        // What cannot be anywhere is wrong usage.
        let code = if options.contains("simulate") { 2 } else { 1 };
        assert_eq!(output.status.code(), Some(code), "{options}: {said}");
        assert!(said.starts_with("tilescope: ") && said.contains(sentence), "{options}: {said}");
        assert_eq!(said.lines().count(), 1, "{options}: {said}");
        none_is_open(folder.path());
    }
}

/// The others of a group would wait for the lost one for ever.
#[test]
fn a_run_through_nccl_continues_on_the_gpus_that_are_left() {
    for (count, options, left, paths) in [
        ("2", "", "GPU 0", Value::Null),
        ("3", "", "GPUs 0 and 2", json!(["nccl"])),
        // One of the two that are left has the shares of two devices.
        ("3", "--exchange-every 2", "GPUs 0 and 2", json!(["nccl"])),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let gpus = [(FAILURE, "lost"), (FAILING, "1"), (COUNT, count)];
        let line = format!("{} {LONG} {options} --devices all --exchange nccl --json", PROBLEMS[0]);
        let output = solve(folder.path(), &gpus, &line);
        let said = String::from_utf8(output.stderr).unwrap();
        let sentence = format!(
            "Test GPU (GPU 1) failed: uncorrectable ECC error encountered; the run continues on {left} from its initial guess"
        );
        assert!(output.status.success(), "{options}: {said}");
        assert!(said.contains(&sentence) && said.lines().count() == 1, "{options}: {said}");
        let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(summary["devices"]["paths"], paths, "{count} {options}");
        none_is_open(folder.path());
    }
}

#[test]
fn links_through_nccl_are_named() {
    for (change, by) in [((NCCL, "1000000"), "NCCL"), ((NCCL, "0"), "main memory")] {
        let gpus = [(FAILURE, "slow-f64"), (COUNT, "2"), change];
        let output = with_gpus(cargo_bin("tilescope"), &gpus, "devices --links");
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success() && said.contains(&format!("link  1 to 0 · {by} · ")),
            "{said}"
        );
    }
}
