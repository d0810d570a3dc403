//! One operation after the other fails, from the first to the last of a command.

use super::{SMALL, assert_old_file_is_whole, command};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use tempfile::TempDir;

/// Numbers of Linux for the errors of a disk.
pub const INPUT_OUTPUT: &str = "5";
pub const DISK_FULL: &str = "28";
const READ_ONLY: &str = "30";

/// The faults of a file that is written beside its place: it cannot even be begun.
const CREATIONS: [(&str, &str); 3] =
    [("create", DISK_FULL), ("create", INPUT_OUTPUT), ("create", READ_ONLY)];

/// The faults that end a command. A write that is cut short does not: it is continued.
const FAULTS: [(&str, &str); 6] = [
    ("write", DISK_FULL),
    ("write", INPUT_OUTPUT),
    ("fsync", DISK_FULL),
    ("fsync", INPUT_OUTPUT),
    ("rename", INPUT_OUTPUT),
    ("rename", READ_ONLY),
];

/// In place of ffmpeg, which a machine may lack: what it is given is its video.
const FFMPEG: &str = "\
#!/bin/sh
unset LD_PRELOAD
if [ \"$1\" = -version ]; then exit 0; fi
for video; do :; done
exec cat > \"$video\"
";

/// The library that makes operations fail, compiled once; [`FFMPEG`] is beside it.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<(TempDir, PathBuf)> = OnceLock::new();
    let compile = || {
        let folder = tempfile::tempdir().unwrap();
        let ffmpeg = folder.path().join("ffmpeg");
        fs::write(&ffmpeg, FFMPEG).unwrap();
        fs::set_permissions(&ffmpeg, fs::Permissions::from_mode(0o755)).unwrap();
        let library = folder.path().join("libpreload.so");
        let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/faults/preload.rs");
        let output = Command::new(compiler)
            .args(["--edition", "2024", "--crate-type", "cdylib", "-C", "panic=abort", "-o"])
            .args([&library, &source])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        (folder, library)
    };
    &LIBRARY.get_or_init(compile).1
}

/// Runs the program with a fault, such as `write,3,28`; the second value says whether it occurred.
fn faulty(folder: &Path, arguments: &str, fault: &str) -> (Output, bool) {
    let mut programs = library().parent().unwrap().as_os_str().to_owned();
    if let Some(others) = std::env::var_os("PATH") {
        programs.push(":");
        programs.push(others);
    }
    let mut command = command(env!("CARGO_BIN_EXE_tilescope"), folder);
    command.args(arguments.split_whitespace()).env("PATH", programs);
    with_fault(&mut command, fault)
}

/// Runs a command with a fault; the second value says whether it occurred.
pub fn with_fault(command: &mut Command, fault: &str) -> (Output, bool) {
    let marks = tempfile::tempdir().unwrap();
    let mark = marks.path().join("mark");
    let command = command.env("LD_PRELOAD", library()).env("FAULT", fault).env("FAULT_MARK", &mark);
    (command.output().unwrap(), mark.exists())
}

/// Runs the program with the first, second, … operation failing until none does, and calls `check` after each.
/// Returns how many failed.
pub fn each_fault(operation: &str, error: &str, mut run: impl FnMut(&str) -> bool) -> u64 {
    let mut number = 1;
    while run(&format!("{operation},{number},{error}")) {
        number += 1;
    }
    number - 1
}

/// Whether a file has times in it, which differ from run to run.
fn holds_times(name: &str) -> bool {
    name.ends_with(".csv") || name.ends_with(".md")
}

fn lines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

/// Makes each operation of a command that writes one file fail.
fn fails_whole(arguments: &str, name: &str) {
    let arguments = format!("{arguments} {name}");
    each_operation_fails_whole(&arguments, name, |folder, fault| faulty(folder, &arguments, fault));
}

/// Makes each operation fail of what writes one file into a folder, whatever that is: `run` does it with a fault.
pub fn each_operation_fails_whole(
    what: &str,
    name: &str,
    run: impl Fn(&Path, &str) -> (Output, bool),
) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let (output, _) = run(folder.path(), "none,0,0");
    assert!(output.status.success(), "{what}: {output:?}");
    let whole = fs::read(&path).unwrap();
    for (operation, error) in FAULTS.into_iter().chain(CREATIONS) {
        let faults = each_fault(operation, error, |fault| {
            fs::write(&path, "old").unwrap();
            let (output, has_failed) = run(folder.path(), fault);
            if has_failed {
                let case = format!("{what}, {fault}");
                assert_old_file_is_whole(folder.path(), name, &output, &case);
            }
            has_failed
        });
        assert!(faults > 0, "{what}: no {operation} was made to fail");
    }
    each_fault("write", "short", |fault| {
        fs::write(&path, "old").unwrap();
        let (output, has_failed) = run(folder.path(), fault);
        assert!(output.status.success(), "{what}, {fault}: {output:?}");
        let made = fs::read(&path).unwrap();
        match holds_times(name) {
            true => assert_eq!(lines(&made), lines(&whole), "{what}, {fault}"),
            false => assert_eq!(made, whole, "{what}, {fault}"),
        }
        has_failed
    });
}

#[test]
fn arrays_curves_and_matrices_are_whole_or_not_there() {
    fails_whole(&format!("solve {SMALL} --save-field"), "u.npy");
    fails_whole(&format!("solve {SMALL} --save-curve"), "c.csv");
    fails_whole(
        "solve --matrix poisson-12x12 --tile 16 --k 2 --tol none --max-cycles 5 --save-matrix",
        "m.mtx",
    );
}

#[test]
fn figures_are_whole_or_not_there() {
    fails_whole(&format!("render {SMALL} --size 200x150 -o"), "a.png");
    fails_whole(&format!("render {SMALL} --kind curves -o"), "a.svg");
    fails_whole(&format!("render {SMALL} --kind curves -o"), "a.pdf");
    fails_whole(&format!("render {SMALL} --kind curves -o"), "a.csv");
    fails_whole(&format!("render {SMALL} --bare -o"), "b.png");
    for kind in ["mean-tile", "profile", "distance", "heat-map", "runs"] {
        fails_whole(&format!("render {SMALL} --kind {kind} -o"), "m.csv");
    }
}

/// One figure or table of every kind that has come since, and a film of one.
#[test]
fn figures_of_every_kind_are_whole_or_not_there() {
    let of_3d =
        "--backend cpu --shape 9x9x9 --tile 4 --k 2 --tol none --max-cycles 2 --size 200x150";
    let of_matrix = "--backend cpu --matrix heat-1d --tile 16 --k 2 --tol none --max-cycles 2";
    let references = "--classic --chebyshev --conjugate-gradients --asymptotic-rate";
    for (arguments, name) in [
        (format!("{SMALL} --kind frequencies"), "a.csv"),
        (format!("{SMALL} --kind damping-by-mode"), "a.csv"),
        (format!("{SMALL} --kind memory-traffic"), "a.csv"),
        (format!("{SMALL} --kind speedup"), "a.csv"),
        (format!("{SMALL} --kind inside"), "a.pdf"),
        (format!("{SMALL} --kind curves {references}"), "a.csv"),
        (format!("{SMALL} --kind curves {references}"), "a.svg"),
        (format!("{of_3d} --kind volume"), "a.png"),
        (format!("{of_3d} --kind slices"), "a.pdf"),
        (format!("{of_matrix} --kind spy"), "a.svg"),
        (format!("{SMALL} --kind frequencies --animate 0..4:2"), "a.apng"),
    ] {
        fails_whole(&format!("render {arguments} -o"), name);
    }
}

/// A run whose store cannot be written goes on from its last whole pass, to the same bits.
#[test]
fn a_store_that_cannot_be_written_loses_at_most_a_pass() {
    let run = "solve --shape 20x18 --method wavefront --height 2 --memory 20kB --tol none --max-cycles 3 --backend cpu --save-field u.npy";
    let folder = tempfile::tempdir().unwrap();
    let (output, _) = faulty(folder.path(), run, "none,0,0");
    assert!(output.status.success(), "{output:?}");
    let whole = fs::read(folder.path().join("u.npy")).unwrap();
    let run = format!("{run} --store store");
    for (operation, error) in FAULTS.into_iter().chain(CREATIONS) {
        let faults = each_fault(operation, error, |fault| {
            let folder = tempfile::tempdir().unwrap();
            let (output, has_failed) = faulty(folder.path(), &run, fault);
            let said = String::from_utf8_lossy(&output.stderr);
            if has_failed {
                assert_eq!(output.status.code(), Some(1), "{fault}: {said}");
                let sentence = said.lines().last().unwrap();
                assert!(sentence.starts_with("tilescope: "), "{fault}: {said}");
                assert!(sentence.contains("cannot write "), "{fault}: {said}");
                assert!(!sentence.contains("os error"), "{fault}: {said}");
                let (output, _) = faulty(folder.path(), &run, "none,0,0");
                assert!(output.status.success(), "{fault}: {output:?}");
            }
            assert_eq!(fs::read(folder.path().join("u.npy")).unwrap(), whole, "{fault}");
            has_failed
        });
        assert!(faults >= 4, "{operation}: {faults}");
    }
}

/// The table of the sweep is another file, which may have a row or all of them.
#[test]
fn figures_of_sweeps_are_whole_or_not_there() {
    let sweep = "sweep --shape 24x20 --k 1,2 --tile 8 --measure cycles -o s.csv --plot p.svg";
    let folder = tempfile::tempdir().unwrap();
    let (table, figure) = (folder.path().join("s.csv"), folder.path().join("p.svg"));
    let mut failed = Vec::new();
    for (operation, error) in FAULTS {
        each_fault(operation, error, |fault| {
            _ = fs::remove_file(&table);
            fs::write(&figure, "old").unwrap();
            let (output, has_failed) = faulty(folder.path(), sweep, fault);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.success(), !has_failed, "{fault}: {said}");
            assert_eq!(fs::read(&figure).unwrap() == b"old", has_failed, "{fault}: {said}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "{fault}: {said}");
            if said.contains("tilescope: cannot write p.svg: ") {
                failed.push(operation);
            }
            has_failed
        });
    }
    for operation in ["write", "fsync", "rename"] {
        assert!(failed.contains(&operation), "no {operation} of the figure was made to fail");
    }
}

/// The template of a lesson replaces no file.
#[test]
fn a_new_lesson_is_whole_or_not_there() {
    for (operation, error) in FAULTS.into_iter().chain(CREATIONS) {
        let faults = each_fault(operation, error, |fault| {
            let folder = tempfile::tempdir().unwrap();
            let (output, has_failed) = faulty(folder.path(), "lesson --new a.md", fault);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.success(), !has_failed, "{fault}: {said}");
            assert_eq!(said.contains("cannot write a.md: "), has_failed, "{fault}: {said}");
            let files = fs::read_dir(folder.path()).unwrap().count();
            assert_eq!(files, usize::from(!has_failed), "{fault}: {said}");
            has_failed
        });
        assert!(faults > 0, "no {operation} was made to fail");
    }
}

#[test]
fn animations_are_whole_or_not_there() {
    for name in ["a.apng", "a.gif", "a.mp4"] {
        fails_whole("render --shape 40x36 --tile 8 --bare --animate 0..20:10 -o", name);
    }
}

#[test]
fn records_of_benchmarks_are_whole_or_not_there() {
    fails_whole(
        "bench kernels --backend cpu --kernel classic --shape 8x8 --repeats 1 -o",
        "record.md",
    );
    fails_whole(
        "bench streaming --backend cpu --shape 12x12 --memory 4kB --height 1 --repeats 1 -o",
        "record.md",
    );
}

/// They measure for seconds: of each operation one error, at every place.
#[test]
fn records_of_longer_benchmarks_are_whole_or_not_there() {
    for bench in [
        "paper --backend cpu --only table-3 --shrink 64 --quick --repeats 1",
        "matrices --backend cpu --matrix poisson-4x4 --tile 4 --k 2 --repeats 1",
    ] {
        let arguments = format!("bench {bench} -o record.md");
        let folder = tempfile::tempdir().unwrap();
        for (operation, error) in [
            ("create", DISK_FULL),
            ("write", DISK_FULL),
            ("fsync", INPUT_OUTPUT),
            ("rename", READ_ONLY),
        ] {
            let faults = each_fault(operation, error, |fault| {
                fs::write(folder.path().join("record.md"), "old").unwrap();
                let (output, has_failed) = faulty(folder.path(), &arguments, fault);
                if has_failed {
                    let case = format!("{arguments}, {fault}");
                    assert_old_file_is_whole(folder.path(), "record.md", &output, &case);
                }
                has_failed
            });
            assert!(faults > 0, "{arguments}: no {operation} was made to fail");
        }
    }
}

/// Neither the table of a sweep nor its figure can be begun.
#[test]
fn a_sweep_whose_files_cannot_be_created_says_so() {
    let sweep = "sweep --shape 24x20 --k 1,2 --tile 8 --measure cycles -o s.csv --plot p.svg";
    for (operation, error) in CREATIONS {
        let mut said_of = Vec::new();
        each_fault(operation, error, |fault| {
            let folder = tempfile::tempdir().unwrap();
            let (output, has_failed) = faulty(folder.path(), sweep, fault);
            let said = String::from_utf8_lossy(&output.stderr);
            if has_failed {
                assert_eq!(output.status.code(), Some(1), "{fault}: {said}");
                let files = fs::read_dir(folder.path()).unwrap().count();
                // Of both, a file is created and removed before the sweep; the table is there once it could be.
                assert_eq!(files, usize::from(said_of.len() > 2), "{fault}: {said}");
                let named = ["s.csv", "p.svg"];
                let is_of = |name: &&str| said.contains(&format!("cannot write {name}: "));
                said_of.extend(named.into_iter().filter(is_of));
            }
            has_failed
        });
        assert_eq!(said_of, ["s.csv", "p.svg", "s.csv", "p.svg"], "{operation}, {error}");
    }
}

/// Without a display the default experiment begins with its folder.
#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = tempfile::tempdir().unwrap();
    for error in [DISK_FULL, INPUT_OUTPUT, READ_ONLY] {
        let (output, has_failed) = faulty(folder.path(), "", &format!("mkdir,1,{error}"));
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(has_failed && output.status.code() == Some(1), "{error}: {said}");
        assert!(said.contains("cannot write tilescope-out: "), "{error}: {said}");
        assert!(!said.contains("os error"), "{error}: {said}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "{error}: {said}");
    }
}

/// Of several files each is the old one or the new one.
#[test]
fn several_files_are_each_whole() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = format!("solve {SMALL} --save-field u.npy --save-curve c.csv");
    let names = ["u.npy", "c.csv"];
    let read = || names.map(|name| fs::read(folder.path().join(name)).unwrap());
    let (output, _) = faulty(folder.path(), &arguments, "none,0,0");
    assert!(output.status.success(), "{output:?}");
    let whole = read();
    for (operation, error) in FAULTS {
        let faults = each_fault(operation, error, |fault| {
            for name in names {
                fs::write(folder.path().join(name), "old").unwrap();
            }
            let (output, has_failed) = faulty(folder.path(), &arguments, fault);
            let [field, curve] = read();
            assert!(field == b"old" || field == whole[0], "{fault}");
            assert!(curve == b"old" || lines(&curve) == lines(&whole[1]), "{fault}");
            assert_eq!(output.status.success(), !has_failed, "{fault}: {output:?}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), names.len(), "{fault}");
            has_failed
        });
        assert!(faults >= 2, "{operation}: {faults}");
    }
}

/// A sweep's table grows row by row, so that an interrupted sweep can be resumed.
#[test]
fn a_table_keeps_whole_rows_and_is_completed_later() {
    let sweep = "sweep --shape 24x20 --k 1,2,3 --tile 8 --measure cycles -o s.csv";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.csv");
    let (output, _) = faulty(folder.path(), sweep, "none,0,0");
    assert!(output.status.success(), "{output:?}");
    let whole = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    for (operation, error) in FAULTS.into_iter().filter(|(operation, _)| *operation != "rename") {
        let faults = each_fault(operation, error, |fault| {
            fs::remove_file(&path).unwrap();
            let (output, has_failed) = faulty(folder.path(), sweep, fault);
            let said = String::from_utf8_lossy(&output.stderr);
            let kept = fs::read_to_string(&path).unwrap();
            assert_eq!(kept, lines[..kept.lines().count()].concat(), "{fault}: {said}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{fault}");
            if has_failed {
                assert_eq!(output.status.code(), Some(1), "{fault}: {said}");
                assert!(said.starts_with("tilescope: cannot write s.csv: "), "{fault}: {said}");
                let (output, _) = faulty(folder.path(), &format!("{sweep} --resume"), "none,0,0");
                assert!(output.status.success(), "{fault}: {output:?}");
                assert_eq!(fs::read_to_string(&path).unwrap(), whole, "{fault}");
            }
            has_failed
        });
        assert!(faults >= 3, "{operation}: {faults}");
    }
    let short = each_fault("write", "short", |fault| {
        fs::remove_file(&path).unwrap();
        let (output, has_failed) = faulty(folder.path(), sweep, fault);
        assert!(output.status.success(), "{fault}: {output:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), whole, "{fault}");
        has_failed
    });
    assert!(short >= 3, "{short}");
}

/// A table that another program saved, or that was cut off, is mended before it is continued; where that fails it
/// stays as it was.
#[test]
fn a_table_that_cannot_be_mended_stays_as_it_was() {
    let sweep = "sweep --shape 24x20 --k 1,2,3 --tile 8 --measure cycles -o s.csv";
    let resume = format!("{sweep} --resume");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.csv");
    let (output, _) = faulty(folder.path(), sweep, "none,0,0");
    assert!(output.status.success(), "{output:?}");
    let whole = fs::read_to_string(&path).unwrap();
    let cut = whole[..whole.len() - 5].to_owned();
    for (damaged, operations) in
        [(whole.replace('\n', "\r\n"), &["write", "fsync", "rename"][..]), (cut, &["truncate"][..])]
    {
        for operation in operations {
            // What is mended is complete or short of a row; the first operation is the mending.
            let fault = format!("{operation},1,{INPUT_OUTPUT}");
            fs::write(&path, &damaged).unwrap();
            let (output, has_failed) = faulty(folder.path(), &resume, &fault);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(has_failed && output.status.code() == Some(1), "{fault}: {said}");
            assert!(said.contains("tilescope: cannot write s.csv: "), "{fault}: {said}");
            assert_eq!(fs::read_to_string(&path).unwrap(), damaged, "{fault}");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "{fault}");
            let (output, _) = faulty(folder.path(), &resume, "none,0,0");
            assert!(output.status.success(), "{fault}: {output:?}");
            assert_eq!(fs::read_to_string(&path).unwrap(), whole, "{fault}");
        }
    }
}

/// Without a display the default experiment is drawn into a folder; the files that are complete remain. Each of the five
/// fails once: a whole experiment is made for each.
#[test]
fn the_default_experiment_leaves_whole_files_alone() {
    for (operation, file, error) in [
        ("write", 1, DISK_FULL),
        ("fsync", 2, INPUT_OUTPUT),
        ("rename", 3, INPUT_OUTPUT),
        ("fsync", 4, DISK_FULL),
        ("rename", 5, READ_ONLY),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let fault = format!("{operation},{file},{error}");
        let (output, has_failed) = faulty(folder.path(), "", &fault);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(has_failed && output.status.code() == Some(1), "{fault}: {said}");
        assert!(said.contains("cannot write tilescope-out/"), "{fault}: {said}");
        let mut complete = 0;
        for file in fs::read_dir(folder.path().join("tilescope-out")).unwrap() {
            let file = file.unwrap();
            let name = file.file_name().into_string().unwrap();
            assert!(!name.starts_with('.'), "{fault}: {name} is unfinished");
            let end: &[u8] = match name.ends_with("png") {
                true => b"IEND\xaeB`\x82",
                false => b"\n",
            };
            let bytes = fs::read(file.path()).unwrap();
            assert!(bytes.ends_with(end), "{fault}: {name}");
            complete += 1;
        }
        assert_eq!(complete, file - 1, "{fault}: {said}");
    }
}
