//! `tilescope solve --store`, with the real binary: a run that is killed goes on to the bits of one that was not, and a
//! folder that is not its own is refused in one sentence.

use assert_cmd::cargo::cargo_bin;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn command(folder: &TempDir, arguments: &str) -> Command {
    let mut command = Command::new(cargo_bin("tilescope"));
    command.current_dir(folder).args(arguments.split_whitespace());
    command
}

fn output(folder: &TempDir, arguments: &str) -> Output {
    command(folder, arguments).output().expect("it starts")
}

fn json(folder: &TempDir, arguments: &str) -> (Value, String) {
    let output = output(folder, &format!("solve --json {arguments}"));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{arguments}: {said}");
    (serde_json::from_slice(&output.stdout).expect("one JSON object"), said)
}

#[track_caller]
fn refused(folder: &TempDir, arguments: &str, code: i32, parts: &[&str]) {
    let output = output(folder, arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments}: {said}");
    assert_eq!(said.lines().count(), 1, "{arguments}: {said}");
    for part in parts {
        assert!(said.contains(part), "{arguments}: “{part}” is not in “{said}”");
    }
    assert!(output.stdout.is_empty(), "{arguments}");
}

/// Passes of the checkpoint in a store; `None` until there is one.
fn passes(store: &Path) -> Option<u64> {
    let text = fs::read_to_string(store.join("checkpoint.toml")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("passes = "))?;
    line.parse().ok()
}

/// Starts a run, and waits until its store has so many passes.
fn started(folder: &TempDir, arguments: &str, least: u64) -> Child {
    let mut command = command(folder, arguments);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begin = Instant::now();
    while passes(&folder.path().join("store")).is_none_or(|passes| passes < least) {
        assert!(begin.elapsed() < Duration::from_secs(60), "it makes {least} passes");
        assert!(child.try_wait().unwrap().is_none(), "it does not end before {least} passes");
        sleep(Duration::from_millis(1));
    }
    child
}

fn bytes(folder: &TempDir, file: &str) -> Vec<u8> {
    fs::read(folder.path().join(file)).unwrap()
}

const LONG: &str =
    "--shape 260x240 --height 2 --memory 200kB --tol none --max-cycles 600 --backend cpu";

/// Killed three times, wherever it was then.
#[test]
fn a_killed_run_goes_on_to_the_same_bits() {
    for method in ["--method pyramid", "--method wavefront --precision f32"] {
        let folder = folder();
        let run = format!("{LONG} {method}");
        let (whole, _) = json(&folder, &format!("{run} --save-field whole.npy"));
        let stored = format!("{run} --store store --save-field parts.npy");
        let mut before = 0;
        for least in [1, 40, 90] {
            let mut child = started(&folder, &format!("solve {stored}"), least);
            child.kill().unwrap();
            assert!(!child.wait().unwrap().success(), "it was at work");
            let made = passes(&folder.path().join("store")).unwrap();
            assert!(made >= least && made >= before && made < 600, "{made}");
            before = made;
        }
        let (parts, said) = json(&folder, &stored);
        let passes = if before == 1 { "1 pass".to_owned() } else { format!("{before} passes") };
        assert!(said.contains(&format!("continues from store after {passes}")), "{said}");
        assert_eq!(bytes(&folder, "whole.npy"), bytes(&folder, "parts.npy"), "{method}");
        for field in ["cycles", "sweeps", "residual", "residual0", "stopped"] {
            assert_eq!(whole[field], parts[field], "{method}: {field}");
        }
        // It has ended: nothing is left to make.
        let (again, said) = json(&folder, &stored);
        assert!(said.contains("continues from store after 600 passes"), "{said}");
        assert_eq!(again["residual"], whole["residual"]);
        assert_eq!(bytes(&folder, "whole.npy"), bytes(&folder, "parts.npy"), "{method}");
    }
}

/// Does something to an array of a run that is under way, and returns what the run says as it ends with code 1.
fn ends_after(harm: impl FnOnce(&Path)) -> String {
    let folder = folder();
    let run = format!("solve {LONG} --method pyramid --max-cycles 1000000 --store store");
    let mut command = command(&folder, &run.replace("--max-cycles 600 ", ""));
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let begin = Instant::now();
    while passes(&folder.path().join("store")).is_none_or(|passes| passes < 2) {
        assert!(begin.elapsed() < Duration::from_secs(60), "it makes passes");
        sleep(Duration::from_millis(1));
    }
    harm(&folder.path().join("store/iterate-odd"));
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    said
}

/// A file that is gone is still mapped: without a look at it nothing would tell, until the run is to continue.
#[cfg(unix)]
#[test]
fn a_run_whose_array_is_removed_says_so_and_ends() {
    let said = ends_after(|array| fs::remove_file(array).unwrap());
    assert!(said.contains("iterate-odd"), "{said}");
}

/// Pages of a mapped file that are gone end a process by a signal.
#[cfg(target_os = "linux")]
#[test]
fn a_run_whose_array_is_shortened_says_so_and_ends() {
    let cut =
        |array: &Path| fs::File::options().write(true).open(array).unwrap().set_len(0).unwrap();
    let said = ends_after(cut);
    assert!(said.contains("--store"), "{said}");
    assert!(said.contains("was shortened by another program"), "{said}");
}

/// The curve of a run that was left begins where the run did; with a store of an older program it is said that it does not.
#[test]
fn the_curve_of_a_run_that_goes_on_is_whole() {
    let folder = folder();
    let run = "--shape 60x70 --method pyramid --height 3 --memory 50kB --tol none --backend cpu";
    // Seconds differ.
    let curve = |name: &str| {
        let text = String::from_utf8(bytes(&folder, name)).unwrap();
        let rows = text.lines().map(|row| {
            let cells: Vec<_> = row.split(',').collect();
            [&cells[..2], &cells[3..]].concat().join(",")
        });
        rows.collect::<Vec<_>>()
    };
    let made = |options: &str| json(&folder, &format!("{run} {options}")).1;
    made("--max-cycles 12 --store whole --save-curve whole.csv");
    for (cycles, name) in [(5, "first.csv"), (7, "second.csv"), (12, "parts.csv")] {
        made(&format!("--max-cycles {cycles} --store parts --save-curve {name}"));
    }
    assert_eq!(curve("parts.csv"), curve("whole.csv"));
    assert_eq!(curve("parts.csv").len(), 14, "the header and cycles 0 to 12");
    fs::remove_file(folder.path().join("parts/norms.csv")).unwrap();
    let said = made("--max-cycles 13 --store parts --save-curve later.csv");
    assert!(said.contains("the curve begins after them"), "{said}");
    assert_eq!(curve("later.csv").len(), 4, "cycles 0, 12 and 13");
}

/// With a tolerance it stops at the same cycle, in 1D, 2D and 3D.
#[test]
fn a_run_in_a_store_stops_where_it_does_in_memory() {
    for run in [
        "--shape 60 --batch 3 --method wavefront --height 4 --memory 2kB --tol 1e-3",
        "--shape 40x50 --method pyramid --height 3 --memory 30kB --tol 1e-5",
        "--shape 20x18x22 --method wavefront --height 5 --memory 200kB --tol 1e-6",
        "--problem heat-plate --shape 48x40 --method pyramid --height 2 --memory 30kB --tol 1e-4",
    ] {
        let folder = folder();
        let run = format!("{run} --backend cpu");
        let (whole, _) = json(&folder, &format!("{run} --save-field whole.npy"));
        let (stored, said) = json(&folder, &format!("{run} --store a/b --save-field stored.npy"));
        assert!(!said.contains("Continues"), "{said}");
        assert_eq!(bytes(&folder, "whole.npy"), bytes(&folder, "stored.npy"), "{run}");
        for field in ["cycles", "residual", "max_change", "stopped", "streaming"] {
            assert_eq!(whole[field], stored[field], "{run}: {field}");
        }
    }
}

/// Saves an array of random numbers that a run can read, in f64 or f32, and in the other byte order if that is wanted.
fn save_array(folder: &TempDir, name: &str, shape: &str, precision: &str, is_swapped: bool) {
    let cycles = if is_swapped { 2 } else { 1 };
    let run = format!("--problem random --shape {shape} --method classic --backend cpu");
    let options = format!("--precision {precision} --tol none --max-cycles {cycles}");
    json(folder, &format!("{run} {options} --save-field {name}"));
    if !is_swapped {
        return;
    }
    let mut saved = bytes(folder, name);
    let end = 10 + usize::from(u16::from_le_bytes([saved[8], saved[9]]));
    let kind = saved.iter().position(|byte| *byte == b'<').unwrap();
    saved[kind] = b'>';
    let size = usize::from(saved[kind + 2] - b'0');
    saved[end..].chunks_exact_mut(size).for_each(<[u8]>::reverse);
    fs::write(folder.path().join(name), saved).unwrap();
}

/// Arrays of the run stay in their files: the same bits as in memory, also where the run was left in between.
#[test]
fn arrays_that_stay_in_their_files_make_the_same_run() {
    for (shape, rest, least) in [
        ("90x80", "--method pyramid --height 2 --memory 30kB", [1, 60]),
        ("24x20x26", "--method wavefront --height 3 --memory 120kB --precision f32", [2, 70]),
    ] {
        for (kind, is_swapped) in [("f64", false), ("f32", true)] {
            let folder = folder();
            save_array(&folder, "b.npy", shape, kind, is_swapped);
            save_array(&folder, "u0.npy", shape, "f64", !is_swapped);
            let run = format!(
                "--rhs b.npy --initial u0.npy --shape {shape} {rest} --tol none --max-cycles 300 --backend cpu"
            );
            let (whole, _) = json(&folder, &format!("{run} --save-field whole.npy"));
            let stored = format!("{run} --store store --save-field parts.npy");
            for least in least {
                let mut child = started(&folder, &format!("solve {stored}"), least);
                child.kill().unwrap();
                child.wait().unwrap();
            }
            let (parts, said) = json(&folder, &stored);
            assert!(said.contains("continues from store after"), "{said}");
            assert_eq!(bytes(&folder, "whole.npy"), bytes(&folder, "parts.npy"), "{run}");
            for field in ["cycles", "residual", "residual0", "stopped"] {
                assert_eq!(whole[field], parts[field], "{run}: {field}");
            }
        }
    }
}

/// The values of a file count, and not its name or its date.
#[test]
fn a_store_whose_right_hand_side_has_changed_is_refused() {
    let folder = folder();
    save_array(&folder, "b.npy", "40x50", "f64", false);
    let run = "solve --rhs b.npy --shape 40x50 --method pyramid --height 3 --memory 30kB --tol none --backend cpu --store store";
    let begun = output(&folder, &format!("{run} --max-cycles 2"));
    assert!(begun.status.success());
    let whole = bytes(&folder, "b.npy");
    let mut changed = whole.clone();
    *changed.iter_mut().nth_back(20).unwrap() ^= 1;
    fs::write(folder.path().join("b.npy"), &changed).unwrap();
    let said = "the right-hand side or the initial guess of the run in store has changed since it began; restore the file, or name another folder";
    refused(&folder, &format!("{run} --max-cycles 4"), 1, &[said]);
    // One that was cut off.
    fs::write(folder.path().join("b.npy"), &whole[..whole.len() - 1]).unwrap();
    let said = "b.npy ends before its last value; it should hold 2000";
    refused(&folder, &format!("{run} --max-cycles 4"), 1, &[said]);
    fs::write(folder.path().join("c.npy"), &whole).unwrap();
    fs::remove_file(folder.path().join("b.npy")).unwrap();
    let other = run.replace("b.npy", "c.npy");
    let again = output(&folder, &format!("{other} --max-cycles 4"));
    let said = String::from_utf8(again.stderr).unwrap();
    assert!(said.contains("continues from store after 2 passes"), "{said}");
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_says_how_it_goes_on() {
    let folder = folder();
    let arguments = format!("solve {LONG} --method pyramid --store store");
    let mut command = command(&folder, &arguments);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let begin = Instant::now();
    while passes(&folder.path().join("store")).is_none_or(|passes| passes < 3) {
        assert!(begin.elapsed() < Duration::from_secs(60));
        sleep(Duration::from_millis(1));
    }
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert!(said.contains("the same command goes on from store"), "{said}");
}

#[test]
fn a_store_of_another_run_is_refused_and_kept() {
    let folder = folder();
    let run = "--shape 40x50 --method pyramid --height 3 --memory 30kB --tol none --backend cpu";
    let stored = |options: &str| format!("{run} {options} --store store");
    json(&folder, &stored("--max-cycles 5"));
    let files = ["iterate-even", "iterate-odd", "right-hand-side", "checkpoint.toml"];
    let all = || files.map(|name| bytes(&folder, &format!("store/{name}")));
    let before = all();
    let other = "store belongs to another run, which checkpoint.toml in it describes; continue that one, or name another folder";
    for options in [
        "--max-cycles 5 --problem random",
        "--max-cycles 5 --shape 40x51",
        "--max-cycles 5 --height 2",
        "--max-cycles 5 --precision f32",
        "--max-cycles 5 --method wavefront",
    ] {
        let words: Vec<_> = options.split_whitespace().collect();
        // An option is given once.
        let run: Vec<_> = run.split_whitespace().collect();
        let kept = run.chunks(2).filter(|pair| !words.contains(&pair[0])).flatten();
        let run = kept.copied().collect::<Vec<_>>().join(" ");
        refused(&folder, &format!("solve {run} {options} --store store"), 1, &[other]);
    }
    let few = format!("solve {}", stored("--max-cycles 4"));
    refused(&folder, &few, 1, &["the run in store has made 5 passes; max_cycles must be"]);
    assert_eq!(all(), before, "nothing was lost");
    // More cycles of the same run go on.
    let (more, said) = json(&folder, &stored("--max-cycles 9 --threads 2"));
    assert!(said.contains("continues from store after 5 passes"), "{said}");
    assert_eq!(more["cycles"], 9);
    // An array that is no longer whole.
    let path = folder.path().join("store/iterate-odd");
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 8]).unwrap();
    let expected = format!("has {} bytes, and the array has {}", whole.len() - 8, whole.len());
    refused(&folder, &format!("solve {}", stored("--max-cycles 9")), 1, &[&expected]);
}

#[test]
fn a_store_that_cannot_be_is_refused() {
    let folder = folder();
    let run = "--shape 40x50 --method pyramid --height 3 --memory 30kB --tol none --backend cpu";
    fs::write(folder.path().join("file"), "mine").unwrap();
    let store = |store: &str| format!("solve {run} --max-cycles 1 --store {store}");
    refused(&folder, &store("file"), 1, &["store is file; it must be a folder"]);
    refused(&folder, &store("file/below"), 1, &["cannot write file/below: "]);
    assert_eq!(bytes(&folder, "file"), b"mine");
    let classic = "solve --shape 40x50 --method classic --store store";
    let allowed =
        "store is store with method classic; it applies only to methods pyramid and wavefront";
    refused(&folder, classic, 2, &[allowed]);
    assert!(!folder.path().join("store").exists());
    // More than any disk has.
    let huge = "solve --shape 100000x100000000000 --stencil d=5,a=-1,c=-1,e=-1,f=-1 --method wavefront --height 1 --memory 100MB --store store --backend cpu";
    refused(&folder, huge, 1, &["the arrays of this run take 240 PB in store, and its disk has "]);
    // One process at a time.
    let long = format!("solve {LONG} --method pyramid --store store");
    let mut child = started(&folder, &long, 1);
    refused(&folder, &long, 1, &["store is in use by ", "; wait for it, or name another folder"]);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// A file of a run names the folder beside it.
#[test]
fn a_run_file_may_name_the_store() {
    let folder = folder();
    fs::create_dir(folder.path().join("runs")).unwrap();
    let text = "version = 9\nstore = \"arrays\"\n[problem]\nshape = [40, 50]\n[method]\nname = \"pyramid\"\nheight = 3\nmemory = \"30kB\"\nbackend = \"cpu\"\n[stop]\nmax_cycles = 4\n";
    fs::write(folder.path().join("runs/a.toml"), text).unwrap();
    let output = output(&folder, "solve --run runs/a.toml");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(passes(&folder.path().join("runs/arrays")), Some(4), "{said}");
}
