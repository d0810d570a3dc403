//! Limits of memory, from one with which the program just starts to one that suffices: whatever a command is to do, it
//! ends with an exit code, and where it has no room, one sentence says so.
//!
//! The limit is that of addresses (RLIMIT_AS): an allocation beyond it fails, and a process that does not expect that
//! aborts.

use super::{SMALL, command};
use std::fs;
use std::path::Path;
use std::process::Output;

/// From one limit to the next, in bytes.
const STEP: u64 = 16 << 20;

/// No command here needs more.
const ENOUGH: u64 = 3 << 30;

/// After this many limits one after the other with which a command succeeds, it always does.
const SUCCESSES: u32 = 3;

/// Runs the program with this limit in bytes.
fn limited(folder: &Path, arguments: &str, bytes: u64) -> Output {
    with_limit('v', folder, arguments, bytes)
}

/// Runs the program with this limit in bytes: `v` of addresses, or `d` of memory that is no file.
fn with_limit(kind: char, folder: &Path, arguments: &str, bytes: u64) -> Output {
    let program = env!("CARGO_BIN_EXE_tilescope");
    let script = format!("ulimit -{kind} {}; exec {program} {arguments}", bytes / 1024);
    command("sh", folder).args(["-c", &script]).output().unwrap()
}

/// Whether the program came as far as a sentence of its own, or to its end. With less, the system does not start it.
fn has_started(output: &Output) -> bool {
    output.status.success() || output.stderr.starts_with(b"tilescope: ")
}

/// Runs a command with one limit after the other, in a folder with these files, until it succeeds.
fn never_aborts(arguments: &str, inputs: &[(&str, &[u8])]) {
    let (mut started, mut refused, mut successes) = (false, 0, 0);
    for bytes in (1..ENOUGH / STEP).map(|steps| steps * STEP) {
        let folder = tempfile::tempdir().unwrap();
        for (name, contents) in inputs {
            fs::write(folder.path().join(name), contents).unwrap();
        }
        let output = limited(folder.path(), arguments, bytes);
        started |= has_started(&output);
        if !started {
            continue;
        }
        let said = String::from_utf8_lossy(&output.stderr);
        let case = format!("{arguments} in {} MiB: {:?}: {said}", bytes >> 20, output.status);
        if output.status.success() {
            successes += 1;
            if successes == SUCCESSES {
                assert!(refused > 0, "{arguments}: no limit was too low");
                return;
            }
            continue;
        }
        (refused, successes) = (refused + 1, 0);
        assert_eq!(output.status.code(), Some(1), "{case}");
        let sentence = said.lines().last().unwrap();
        assert!(sentence.starts_with("tilescope: "), "{case}");
        let is_of_memory = ["is free", "no room", "too little memory"]
            .iter()
            .any(|words| sentence.contains(words));
        assert!(is_of_memory, "{case}");
        // The table of a sweep keeps what is measured.
        let names = fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().file_name());
        let left = names.filter(|name| name != "s.csv").count();
        assert_eq!(left, inputs.len(), "{case}: a file is left");
    }
    panic!("{arguments}: {} MiB do not suffice", ENOUGH >> 20);
}

#[test]
fn runs_fit_or_are_refused() {
    for arguments in [
        format!("solve {SMALL} --save-field u.npy --save-curve c.csv"),
        "solve --backend cpu --shape 1500x1500 --tol none --max-cycles 2".to_owned(),
        // Every thread would copy the whole grid.
        "solve --backend cpu --shape 1200x1200 --tile 1200 --k 2 --tol none --max-cycles 2"
            .to_owned(),
        "solve --backend cpu --shape 700x700 --warp 32 --tile 4 --k 2 --tol none --max-cycles 2"
            .to_owned(),
        "solve --backend cpu --shape 128x128x128 --method wavefront --tol none --max-cycles 1"
            .to_owned(),
        "solve --simulate-devices 4 --exchange-every 2 --shape 1200x1200 --tol none --max-cycles 3"
            .to_owned(),
        // Its files take addresses, and are not made where there are too few.
        "solve --backend cpu --shape 160x160x160 --method wavefront --height 1 --memory 5MB --tol none --max-cycles 1 --store a"
            .to_owned(),
        "solve --jump 100 --shape 1000x1000 --k 2 --tol none --max-cycles 2".to_owned(),
    ] {
        never_aborts(&arguments, &[]);
    }
}

/// Two cycles of blocks of rows.
const CYCLES: &str = "--backend cpu --k 2 --tol none --max-cycles 2";

#[test]
fn matrices_fit_or_are_refused() {
    never_aborts(
        &format!(
            "solve --matrix poisson-300x300 --ordering rcm --tile 256 {CYCLES} --save-field u.npy"
        ),
        &[],
    );
    // Blocks of 1,000 rows and more, of which they own 64.
    never_aborts(&format!("solve --matrix poisson-200x200 --tile 64 --overlap 16 {CYCLES}"), &[]);
}

#[test]
fn generated_matrices_fit_or_are_refused() {
    never_aborts(&format!("solve --matrix ice-sheet --tile 256 {CYCLES}"), &[]);
    never_aborts(&format!("render --matrix ice-sheet --kind spy {CYCLES} -o spy.png"), &[]);
}

#[test]
fn matrices_of_files_fit_or_are_refused() {
    let mut market =
        format!("%%MatrixMarket matrix coordinate real general\n{0} {0} {0}\n", 100_000);
    (1..=100_000).for_each(|row| market += &format!("{row} {row} 2\n"));
    never_aborts(
        &format!("solve --matrix m.mtx --ordering grown --tile 256 {CYCLES} --save-matrix n.mtx"),
        &[("m.mtx", market.as_bytes())],
    );
}

#[test]
fn figures_and_films_fit_or_are_refused() {
    let run = "--backend cpu --shape 420x350 --tile 32 --k 4 --tol none --max-cycles 4";
    never_aborts(&format!("render {run} --field error --size 1600x1200 -o a.png"), &[]);
    never_aborts(&format!("render {run} --bare --animate 0..4:2 -o a.apng"), &[]);
    never_aborts(&format!("render {run} --kind curves -o a.pdf"), &[]);
    let references = "--classic --chebyshev --conjugate-gradients --asymptotic-rate";
    never_aborts(&format!("render {run} --kind curves {references} -o a.csv"), &[]);
    never_aborts(&format!("render {run} --kind frequencies -o a.csv"), &[]);
    never_aborts(&format!("render {run} --kind damping-by-mode -o a.csv"), &[]);
}

#[test]
fn inputs_fit_or_are_refused() {
    // In Fortran order, so that it is put in order.
    let header = "{'descr': '<f4', 'fortran_order': True, 'shape': (1000, 900), }";
    let mut array = b"\x93NUMPY\x01\x00".to_vec();
    let header = format!("{header:<117}\n");
    array.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    array.extend(header.as_bytes());
    array.resize(array.len() + 4 * 1000 * 900, 0x3f);
    never_aborts("solve --backend cpu --rhs f.npy --tol none --max-cycles 2", &[("f.npy", &array)]);
}

/// The least limit of memory with which a command succeeds, in steps; with less one sentence says so.
fn least_steps(folder: &Path, arguments: &str) -> u64 {
    let (mut too_few, mut enough) = (0, ENOUGH / STEP);
    while too_few + 1 < enough {
        let steps = too_few.midpoint(enough);
        _ = fs::remove_dir_all(folder.join("store"));
        let output = with_limit('d', folder, arguments, steps * STEP);
        if output.status.success() {
            enough = steps;
            continue;
        }
        too_few = steps;
        let said = String::from_utf8_lossy(&output.stderr);
        let case = format!("{arguments} in {} MiB: {said}", (steps * STEP) >> 20);
        if has_started(&output) {
            assert_eq!(output.status.code(), Some(1), "{case}");
            let sentence = said.lines().last().unwrap();
            assert!(sentence.contains("is free") || sentence.contains("no room"), "{case}");
        }
    }
    enough
}

/// What lies in files is not memory: neither the arrays of a run in a store nor those that it reads, nor what it saves.
#[test]
fn a_run_in_a_store_needs_no_memory_for_its_arrays() {
    let folder = tempfile::tempdir().unwrap();
    let (shape, points) = ("160x160x160", 160_u64.pow(3));
    let random = format!("--problem random --shape {shape} --method classic --backend cpu");
    let saved = format!("solve {random} --tol none --max-cycles 1 --save-field b.npy");
    assert!(limited(folder.path(), &saved, ENOUGH).status.success());
    let window = "--method wavefront --height 2 --memory 6MB --backend cpu";
    let run = format!("solve --rhs b.npy --initial b.npy --shape {shape} {window}");
    let run = format!("{run} --tol none --max-cycles 2 --save-field");
    let in_memory = least_steps(folder.path(), &format!("{run} u.npy"));
    let stored = format!("{run} v.npy --store store");
    let in_store = least_steps(folder.path(), &stored);
    // Two iterates, the right-hand side over the diagonal, and both inputs; a copy of an input while it is read.
    let arrays = 5 * 8 * points;
    assert!(in_memory >= in_store + arrays / STEP, "{in_memory} and {in_store} steps");
    // In a new store, and in one that exists.
    _ = fs::remove_dir_all(folder.path().join("store"));
    for _ in 0..2 {
        let output = with_limit('d', folder.path(), &stored, in_store * STEP);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let [u, v] = ["u.npy", "v.npy"].map(|name| fs::read(folder.path().join(name)).unwrap());
    assert!(u == v, "the same bits");
}

#[test]
fn settings_that_are_counted_together_fit_or_are_refused() {
    never_aborts(
        "sweep --backend cpu --shape 700x700 --k 1,2,3,4 --tile 700 --tol 0.999 --measure cycles --jobs 4 -o s.csv",
        &[],
    );
}
