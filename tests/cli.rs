//! The command line as people and scripts use it: the real binary, its files, its exit codes, and one
//! sentence for every error.

use assert_cmd::Command;
use predicates::prelude::*;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;
use tilescope::picture::{
    FigureKind, Frames, Spacing, ViewSpec, figure_command, open, read_figure,
};
use tilescope::run::{
    Backend, CutLine, FieldKind, InitialGuess, MethodName, Planner, ProblemKind, Run, RunSpec,
    StopRule, save_run,
};

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

/// The program, run in a folder without a display.
fn tilescope(folder: &TempDir, arguments: &str) -> Command {
    let mut command = Command::cargo_bin("tilescope").expect("the binary is built");
    command.current_dir(folder).args(arguments.split_whitespace());
    for display in ["DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET"] {
        command.env_remove(display);
    }
    command
}

/// A small problem that is solved quickly.
const SMALL: &str = "--shape 24x20 --tile 8 --k 4";

/// The same as a run description.
fn small() -> RunSpec {
    let mut run = RunSpec::default();
    run.problem.shape = vec![24, 20];
    run.method.tile = vec![8];
    run.method.k = 4.into();
    run
}

fn json(folder: &TempDir, arguments: &str) -> Value {
    let output = tilescope(folder, &format!("solve --json {arguments}")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

fn files(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Asserts that a command fails with this exit code and one sentence that contains these parts, without
/// output, panic or new files.
#[track_caller]
fn refused(folder: &TempDir, arguments: &str, code: i32, parts: &[&str]) {
    let before = files(folder);
    let output = tilescope(folder, arguments).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments}: {said}");
    assert_eq!(said.lines().count(), 1, "{arguments}: {said}");
    assert!(said.starts_with("tilescope: "), "{arguments}: {said}");
    assert!(!said.contains("panicked"), "{arguments}: {said}");
    for part in parts {
        assert!(said.contains(part), "{arguments}: “{part}” is not in “{said}”");
    }
    assert!(output.stdout.is_empty(), "{arguments}: {:?}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(files(folder), before, "{arguments}");
}

fn write_npy(path: &Path, shape: &[u64], values: &[f64]) {
    use npyz::WriterBuilder;
    let file = fs::File::create(path).unwrap();
    let mut npy =
        npyz::WriteOptions::new().default_dtype().shape(shape).writer(file).begin_nd().unwrap();
    npy.extend(values.iter().copied()).unwrap();
    npy.finish().unwrap();
}

fn read_npy(path: &Path) -> (Vec<u64>, String, Vec<u8>) {
    let bytes = fs::read(path).unwrap();
    let npy = npyz::NpyFile::new(&bytes[..]).unwrap();
    let (shape, kind) = (npy.shape().to_vec(), npy.dtype().descr());
    let size = if kind.contains("f4") { 4 } else { 8 };
    let length = shape.iter().product::<u64>() as usize * size;
    (shape, kind, bytes[bytes.len() - length..].to_vec())
}

// Results.

#[test]
fn json_has_exactly_the_documented_keys_and_the_checked_number_of_cycles() {
    let folder = folder();
    let said = json(&folder, "--shape 1024 --k 16 --overlap 30");
    let Value::Object(said) = said else { panic!("{said}") };
    let mut keys: Vec<_> = said.keys().map(String::as_str).collect();
    keys.sort_unstable();
    let mut expected = [
        "problem",
        "shape",
        "method",
        "k",
        "overlap",
        "tile",
        "precision",
        "backend",
        "kernel",
        "device",
        "cycles",
        "sweeps",
        "converged",
        "stopped",
        "residual0",
        "residual",
        "reduction",
        "max_change",
        "error_left",
        "seconds",
        "edge_share",
        "dominance",
        "spectral_radius",
        "sweeps_per_digit",
    ];
    expected.sort_unstable();
    assert_eq!(keys, expected);
    // Checked independently of this project: 8,048 cycles, a cycle or two are rounding.
    let cycles = said["cycles"].as_u64().unwrap();
    assert!(cycles.abs_diff(8048) <= 2, "{cycles}");
    assert_eq!(said["sweeps"].as_u64(), Some(16 * cycles));
    assert_eq!(said["shape"], serde_json::json!([1024]));
    assert_eq!(said["tile"], serde_json::json!([32]));
    assert_eq!(said["overlap"], serde_json::json!([30]));
    assert_eq!(said["converged"], Value::Bool(true));
    assert_eq!((&said["problem"], &said["method"]), (&"poisson".into(), &"hierarchical".into()));
    assert_eq!((&said["precision"], &said["backend"]), (&"f64".into(), &"cpu".into()));
    assert_eq!((&said["kernel"], &said["device"]), (&Value::Null, &Value::Null));
    let [residual0, residual, reduction] =
        ["residual0", "residual", "reduction"].map(|key| said[key].as_f64().unwrap());
    assert!((reduction - residual / residual0).abs() < 1e-15 && reduction <= 1e-4);
    assert!((0.0..=1.0).contains(&said["edge_share"].as_f64().unwrap()));
    // At the papers' stop.
    let left = said["error_left"].as_f64().unwrap();
    assert!((0.47..0.49).contains(&left), "{left}");
    assert!(said["seconds"].as_f64().unwrap() > 0.0);
}

#[test]
fn devices_are_listed_whether_there_is_a_gpu_or_not() {
    let folder = folder();
    let stdout = |arguments: &str| {
        let output = tilescope(&folder, arguments).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let said = stdout("devices");
    assert!(said.starts_with("cpu ") && said.contains("\ncuda "), "{said}");
    let listed: Value = serde_json::from_str(&stdout("devices --json")).unwrap();
    assert!(listed["cpu"]["cores"].as_u64().unwrap() > 0);
    let gpus = listed["cuda"]["gpus"].as_array().unwrap();
    assert_eq!(gpus.is_empty(), listed["cuda"]["unavailable"].is_string());
    assert!(listed["cpu"]["free_bytes"].as_u64() > Some(0) && said.contains(" free\n"), "{said}");
    for gpu in gpus {
        assert!(said.contains(gpu["name"].as_str().unwrap()), "{said}");
        assert!(gpu["shared_bytes_per_block"].as_u64() > Some(0), "{gpu}");
    }
    if let Some(why) = listed["cuda"]["unavailable"].as_str() {
        let arguments = format!("solve {SMALL} --backend cuda --kernel register");
        refused(&folder, &arguments, 1, &[why, "backend cpu"]);
    }
}

/// A benchmark must not be silently wrong: each row names its setting, times are positive, and the
/// cycles to the tolerance are those of `solve`.
#[test]
fn the_kernel_comparison_times_each_setting_and_writes_a_record() {
    let folder = folder();
    let arguments = "bench kernels --backend cpu --shape 40x30 --tile 8 --k 2,4 --overlap 0 --repeats 3 \
                     --to-tolerance --tol 1e-2 --json -o record.md";
    let output = tilescope(&folder, arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = said["rows"].as_array().unwrap();
    let settings: Vec<_> = rows
        .iter()
        .map(|row| (row["name"].as_str().unwrap(), row["k"].as_u64().unwrap()))
        .collect();
    let expected = [("classic", 1), ("tiled", 2), ("tiled", 4), ("spectral", 2), ("spectral", 4)];
    assert_eq!(settings, expected);
    for row in rows {
        for part in ["median", "least", "largest"] {
            assert!(row["cycle_us"][part].as_f64().unwrap() > 0.0);
            assert!(row["with_norms_us"][part].as_f64().unwrap() > 0.0);
        }
        assert!(row["ratio_to_classic"].as_f64().unwrap() > 0.0);
        assert!(row["footprint"].is_null() && row["transfers"].is_null());
        assert!(row["of_peak"].is_null() && row["of_bandwidth"].is_null());
        assert_eq!(row["backend"], "cpu");
    }
    let solved = json(&folder, "--shape 40x30 --tile 8 --k 4 --tol 1e-2");
    assert_eq!(rows[2]["cycles"], solved["cycles"]);
    let time =
        rows[2]["cycles"].as_f64().unwrap() * rows[2]["cycle_us"]["median"].as_f64().unwrap();
    let reported = rows[2]["seconds_to_tolerance"].as_f64().unwrap();
    assert!((time * 1e-6 - reported).abs() < 1e-9);

    let record = fs::read_to_string(folder.path().join("record.md")).unwrap();
    for part in
        ["# Poisson 2D, 40 × 30 · f64", "`tilescope bench kernels", "cycles to", "| tiled", "± is"]
    {
        assert!(record.contains(part), "{part}: {record}");
    }
}

/// A run that ends while it is measured has no speed, and that is reported.
#[test]
fn the_speed_under_observation_is_measured_where_the_run_lasts() {
    let folder = folder();
    let frames = |arguments: &str| {
        let arguments = format!(
            "bench kernels --backend cpu --kernel auto --k 2 --overlap 0 --repeats 1 --frames \
             --seconds 1 --json {arguments}"
        );
        let output = tilescope(&folder, &arguments).output().unwrap();
        let notes = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{notes}");
        let said: Value = serde_json::from_slice(&output.stdout).unwrap();
        (said["rows"][0]["frames"].clone(), notes)
    };
    let (measured, notes) = frames("--shape 400x400 --tile 20");
    assert!(measured["observed"].as_f64().unwrap() > 0.0, "{measured}");
    assert_eq!(notes, "");
    let (measured, notes) = frames("--shape 4x4 --tile 4");
    assert!(measured.is_null(), "{measured}");
    assert!(notes.contains("the run ended before"), "{notes}");
}

#[test]
fn the_kernel_comparison_as_csv_has_one_line_per_setting_and_plain_numbers() {
    let folder = folder();
    let arguments = "bench kernels --backend cpu --shape 16x16 --tile 8 --k 2 --overlap 0,4 \
                     --repeats 1 --csv";
    let output = tilescope(&folder, arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<_> = said.lines().collect();
    assert!(lines[0].starts_with("kernel,backend,tile,k,overlap,cycle_us,"), "{said}");
    assert_eq!(lines.len(), 6, "{said}");
    assert!(lines[3].starts_with("tiled,cpu,8,2,4,"), "{said}");
    let column = |name| lines[0].split(',').position(|head| head == name).unwrap();
    let number = |name| lines[3].split(',').nth(column(name)).unwrap().parse::<f64>().unwrap();
    assert!(number("computed_updates_per_second") > number("owned_updates_per_second"));
    refused(&folder, "bench kernels --csv --json", 2, &["--csv", "--json"]);
}

/// The kernels for a matrix at k = 1 and at k, whose cycles are those of `solve`.
#[test]
fn the_kernels_for_matrices_are_compared_with_jacobis_iteration() {
    let folder = folder();
    let bench = "bench matrices --matrix trefethen-2000 --ordering natural --tile 128 --k 4 \
                 --backend cpu --threads 1 --repeats 1 --csv -o record.md";
    let output = tilescope(&folder, bench).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Vec<_>> = said.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(lines.len(), 1 + 6, "{said}");
    let column = |name| lines[0].iter().position(|head| *head == name).unwrap();
    for (line, (kernel, k, cycles)) in lines[1..].iter().zip([
        ("rows", "1", "76"),
        ("reorganised", "1", "76"),
        ("hoisted", "1", "76"),
        ("rows", "4", "19"),
        ("reorganised", "4", "19"),
        ("hoisted", "4", "19"),
    ]) {
        let cell = |name| line[column(name)];
        assert_eq!([cell("kernel"), cell("k"), cell("cycles_to_tolerance")], [kernel, k, cycles]);
        assert!(cell("processing_seconds").parse::<f64>().unwrap() > 0.0);
        assert_eq!(cell("sweep_bytes").is_empty(), k != "1", "{said}");
    }
    let record = fs::read_to_string(folder.path().join("record.md")).unwrap();
    assert!(record.contains("`tilescope bench matrices") && record.contains("× Jacobi"));
    refused(
        &folder,
        "bench matrices --matrix heat-1d --backend cpu",
        2,
        &["ordering is tiles", "nodes"],
    );
}

/// Each setting has a row; one that has no room is left out with a note.
#[test]
fn pyramids_and_the_wavefront_are_compared_with_sweeps_in_memory() {
    let folder = folder();
    let bench = "bench streaming --backend cpu --shape 40x30 --memory 9kB --height 2,9 --repeats 1 \
                 --csv -o record.md";
    let output = tilescope(&folder, bench).output().unwrap();
    let noted = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && noted.contains("height is 9"), "{noted}");
    let said = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Vec<_>> = said.lines().map(|line| line.split(',').collect()).collect();
    let column = |name| lines[0].iter().position(|head| *head == name).unwrap();
    let methods: Vec<_> = lines[1..].iter().map(|line| line[column("method")]).collect();
    assert_eq!(methods, ["wavefront", "pyramid"], "{said}");
    for line in &lines[1..] {
        let number = |name| line[column(name)].parse::<f64>().unwrap();
        assert!(number("pass_seconds") > 0.0 && number("of_in_memory") > 0.0, "{said}");
        assert_eq!(line[column("backend")], "cpu");
    }
    // A pyramid computes some planes twice, the wavefront none.
    let work = |row: usize| lines[row][column("redundancy")].parse::<f64>().unwrap();
    assert!(work(1) == 1.0 && work(2) > 1.0, "{said}");
    let record = fs::read_to_string(folder.path().join("record.md")).unwrap();
    assert!(record.contains("`tilescope bench streaming") && record.contains("prediction error"));
}

/// Each experiment of the papers has a row with the published figure; those of the heat plate are
/// compared with a run on one thread. Each is a whole run with the cycles of `solve`.
#[test]
fn experiments_of_the_papers_are_repeated_beside_the_published_figures() {
    let folder = folder();
    let paper = |options: &str| {
        let arguments = format!("bench paper --shrink 32 --repeats 1 {options}");
        let mut command = tilescope(&folder, &arguments);
        let output = command.env("CUDA_VISIBLE_DEVICES", "").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (said, notes) = paper("--json -o paper.md");
    assert!(notes.contains("measuring the CPU only") && notes.lines().count() == 1, "{notes}");
    let said: Value = serde_json::from_str(&said).unwrap();
    let rows = said["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 33);
    let (quoted, run): (Vec<_>, Vec<_>) =
        rows.iter().partition(|row| row["source"] == "Islam & Wang (long), 3.4");
    assert!(quoted.len() == 4 && quoted.iter().all(|row| row["measured_ms"].is_null()));
    assert!(rows.iter().all(|row| {
        let is_plate = row["preset"] == "heat-plate-2048";
        row["published_us_per_cycle"].is_null() == is_plate
    }));
    for row in run {
        assert!(row["published_ms"].is_f64() != row["published_speedup"].is_f64(), "{row}");
        assert!(row["measured_ms"].as_f64().unwrap() > 0.0);
        assert!(row["measured_speedup"].as_f64().unwrap() > 0.0);
    }
    let solved = json(&folder, "--shape 32x32 --tile 32 --k 4 --overlap 0");
    let row = rows.iter().find(|row| row["source"] == "Islam & Wang, table III").unwrap();
    assert_eq!((&row["cycles"], &row["published_speedup"]), (&solved["cycles"], &2.18.into()));
    let record = fs::read_to_string(folder.path().join("paper.md")).unwrap();
    for part in [
        "7901",
        "not comparable",
        "7248",
        "within 1.3 %",
        "0.57 k",
        "TITAN V",
        "`tilescope bench paper",
        "one thread",
    ] {
        let plain = record.replace(',', "");
        assert!(plain.contains(part), "{part}: {record}");
    }

    let (said, _) = paper("--quick --only heat-plate --csv");
    let rows: Vec<_> = said.lines().collect();
    assert_eq!(rows.len(), 4, "{said}");
    assert!(rows[1].starts_with("\"article, serial\",heat-plate-2048,one thread,classic,cpu,"));
    // Cubes that do not fit the budget, in the shape of the paper's table.
    let (said, _) = paper("--only pyramids --json");
    let said: Value = serde_json::from_str(&said).unwrap();
    let cubes = said["cubes"].as_array().unwrap();
    assert_eq!(cubes.iter().map(|cube| &cube["side"]).collect::<Vec<_>>(), [25, 29, 32]);
    for cube in cubes {
        for name in ["cpu", "pyramid", "wavefront"] {
            assert!(cube[format!("{name}_seconds")].as_f64().unwrap() > 0.0, "{cube}");
        }
        let arrays = 3 * 4 * cube["side"].as_u64().unwrap().pow(3);
        assert!(cube["memory"].as_u64().unwrap() < arrays, "{cube}");
    }
    assert_eq!(
        (&cubes[1]["sweeps"], &cubes[1]["published_cpu_seconds"]),
        (&11200.into(), &20003.0.into())
    );
    assert!(said["notes"][0].as_str().unwrap().contains("1/32 of the published ones"));
    // The reference of the speedups is included.
    let (said, _) = paper("--quick --only table-3 --csv");
    assert_eq!(said.lines().count(), 1 + 1 + 6, "{said}");
    refused(&folder, "bench paper --only table-9", 2, &["'table-9'"]);
    refused(&folder, "bench paper --shrink 0", 2, &["--shrink"]);
}

#[test]
fn the_kernel_comparison_without_a_gpu_measures_the_cpu_unless_a_gpu_is_requested() {
    let folder = folder();
    let no_gpu = |arguments: &str| {
        let mut command = tilescope(&folder, arguments);
        command.env("CUDA_VISIBLE_DEVICES", "");
        command
    };
    let short = "bench kernels --shape 16x16 --tile 8 --k 2 --overlap 0 --repeats 1";
    no_gpu(short)
        .assert()
        .success()
        .stderr(
            predicate::str::contains("measuring the CPU only")
                .and(predicate::str::contains("\n").count(1)),
        )
        .stdout(
            predicate::str::contains("tiled").and(predicate::str::contains("Fastest per sweep")),
        );
    no_gpu(&format!("{short} --backend cuda"))
        .assert()
        .code(1)
        .stdout("")
        .stderr(predicate::str::contains("backend cuda cannot be used"));
}

#[test]
fn classic_runs_and_different_values_per_axis_are_reported_as_given() {
    let folder = folder();
    let said = json(&folder, "--shape 24x20 --method classic --tol none --max-cycles 7");
    assert_eq!((&said["k"], &said["cycles"], &said["sweeps"]), (&1.into(), &7.into(), &7.into()));
    assert_eq!(said["converged"], Value::Bool(false));
    let said = json(
        &folder,
        "--shape 40x24 --tile 8x12 --overlap 2x4 --precision f32 --tol none --max-cycles 0 --threads 1",
    );
    assert_eq!(said["shape"], serde_json::json!([40, 24]));
    assert_eq!(said["tile"], serde_json::json!([8, 12]));
    assert_eq!(said["overlap"], serde_json::json!([2, 4]));
    assert_eq!((&said["precision"], &said["cycles"]), (&"f32".into(), &0.into()));
    assert_eq!(said["max_change"], Value::Null);
}

#[test]
fn the_summary_reports_the_outcome_and_a_pipe_shows_no_progress() {
    let folder = folder();
    tilescope(&folder, "solve --shape 64 --k 4 --tile 16")
        .assert()
        .success()
        .stderr("")
        .stdout(predicate::str::contains("Poisson 1D, n = 64\nk = 4, overlap 0, tile 16 · f64"))
        .stdout(predicate::str::contains("converged after"));
    // Long enough for a progress line on a terminal.
    tilescope(&folder, "solve --preset paper-1d --tol 1e-3").assert().success().stderr("");
}

#[test]
fn a_saved_field_is_the_solution_of_the_library() {
    let folder = folder();
    let cases = [
        ("--shape 24x20 --tile 8 --k 4 --tol none --max-cycles 9", vec![20, 24], "'<f8'"),
        ("--shape 50 --batch 3 --tile 8 --k 4 --tol none --max-cycles 9", vec![3, 50], "'<f8'"),
        (
            "--shape 24x20 --tile 8 --k 4 --precision f32 --tol none --max-cycles 9",
            vec![20, 24],
            "'<f4'",
        ),
        ("--shape 7x6x5 --tile 8 --k 4 --tol none --max-cycles 9", vec![5, 6, 7], "'<f8'"),
    ];
    for (arguments, shape, kind) in cases {
        let path = folder.path().join("u.npy");
        tilescope(&folder, &format!("solve {arguments} --save-field u.npy")).assert().success();
        let (saved_shape, saved_kind, bytes) = read_npy(&path);
        assert_eq!((saved_shape, saved_kind.as_str()), (shape, kind), "{arguments}");

        let mut spec = RunSpec::default();
        let numbers = arguments.split_whitespace().nth(1).unwrap().split('x');
        spec.problem.shape = numbers.map(|n| n.parse().unwrap()).collect();
        spec.problem.batch = if arguments.contains("batch") { 3 } else { 1 };
        spec.method.tile = vec![8];
        spec.method.k = 4.into();
        if kind == "'<f4'" {
            spec.method.precision = tilescope::grid::Precision::F32;
        }
        let plan = Arc::new(Planner::default().plan(&spec).unwrap());
        let mut run = Run::new(&plan).unwrap();
        (0..9).for_each(|_| run.step(1).unwrap());
        let solution = run.solver().solution().unwrap().to_interior();
        let expected: Vec<u8> = match kind {
            "'<f4'" => solution.iter().flat_map(|&v| (v as f32).to_le_bytes()).collect(),
            _ => solution.iter().flat_map(|v| v.to_le_bytes()).collect(),
        };
        assert!(bytes == expected, "{arguments}");
    }
}

#[test]
fn a_saved_curve_has_one_row_per_cycle() {
    let folder = folder();
    tilescope(&folder, &format!("solve {SMALL} --tol none --max-cycles 12 --save-curve c.csv"))
        .assert()
        .success();
    let text = fs::read_to_string(folder.path().join("c.csv")).unwrap();
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let header = "cycle,sweeps,seconds,residual_l2,residual_max,reduction,max_change,error_l2";
    assert_eq!(rows[0].join(","), header);
    assert_eq!(rows.len(), 14);
    assert_eq!((rows[1][0], rows[1][5], rows[1][6]), ("0", "1.0", ""));
    for (cycle, row) in rows[1..].iter().enumerate() {
        assert_eq!((row[0], row[1]), (&*cycle.to_string(), &*(4 * cycle).to_string()));
        let residual: f64 = row[3].parse().unwrap();
        assert!(residual > 0.0 && row[7].is_empty());
    }
}

#[test]
fn a_long_curve_says_which_cycles_it_has() {
    let folder = folder();
    let run = "solve --shape 8x8 --k 1 --omega 1e-6 --tol none --backend cpu --save-curve c.csv";
    tilescope(&folder, &format!("{run} --max-cycles 300000"))
        .assert()
        .success()
        .stderr("tilescope: of so many cycles c.csv has the norms of one in 2\n");
    let curve = fs::read_to_string(folder.path().join("c.csv")).unwrap();
    assert_eq!(curve.lines().nth(2).unwrap().split(',').next(), Some("2"));
    tilescope(&folder, &format!("{run} --max-cycles 3000")).assert().success().stderr("");
}

/// Σ (b − A u)² of Poisson's equation with b = 1, by the five-point formula.
fn poisson_residual(nx: usize, ny: usize, u: &[f64]) -> f64 {
    let at = |i: isize, j: isize| {
        let inside = (0..nx as isize).contains(&i) && (0..ny as isize).contains(&j);
        if inside { u[j as usize * nx + i as usize] } else { 0.0 }
    };
    let [cx, cy] = [nx, ny].map(|n| ((n + 1) * (n + 1)) as f64);
    let points = (0..ny as isize).flat_map(|j| (0..nx as isize).map(move |i| (i, j)));
    let squares = points.map(|(i, j)| {
        let across = cx * (2.0 * at(i, j) - at(i - 1, j) - at(i + 1, j));
        let down = cy * (2.0 * at(i, j) - at(i, j - 1) - at(i, j + 1));
        (1.0 - across - down).powi(2)
    });
    squares.sum::<f64>().sqrt()
}

#[test]
fn the_rounding_limit_is_not_called_converged() {
    let folder = folder();
    let command = "solve --shape 64x64 --precision f32 --tol 1e-9 --json --save-field u.npy --save-curve c.csv";
    let output = tilescope(&folder, command).output().unwrap();
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let why = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{why}");
    assert!(why.starts_with("tilescope: the rounding limit is reached: cycles after "), "{why}");
    assert!(why.contains("raise --tol, or use --precision f64") && why.lines().count() == 1);
    assert_eq!((&said["converged"], &said["stopped"]), (&false.into(), &"rounding-limit".into()));
    let (_, _, bytes) = read_npy(&folder.path().join("u.npy"));
    let u: Vec<f64> =
        bytes.chunks(4).map(|four| f32::from_le_bytes(four.try_into().unwrap()).into()).collect();
    let residual = said["residual"].as_f64().unwrap();
    assert!((residual / poisson_residual(64, 64, &u) - 1.0).abs() < 1e-9, "{residual}");
    // The curve ends at the true residual, too.
    let curve = fs::read_to_string(folder.path().join("c.csv")).unwrap();
    let last: Vec<&str> = curve.lines().last().unwrap().split(',').collect();
    assert_eq!(last[0], said["cycles"].to_string());
    assert!((last[3].parse::<f64>().unwrap() / residual - 1.0).abs() < 1e-12, "{last:?}");
    // Rounding falsifies the residual that comes with its last cycles: none of those is shown.
    let shown = curve.lines().skip(1).filter_map(|line| line.split(',').nth(3)?.parse().ok());
    let shown: Vec<f64> = shown.collect();
    assert!(shown.len() > 500, "{} residuals", shown.len());
    assert!(shown.iter().all(|shown| *shown >= residual), "{residual}: {shown:?}");
    let start = said["residual0"].as_f64().unwrap();
    assert!((start / poisson_residual(64, 64, &[1.0; 64 * 64]) - 1.0).abs() < 1e-6, "{start}");
    assert!(residual > 1e-9 * start);

    // The last digits may circle, too.
    let circles = "solve --shape 48x48 --precision f32 --k inf --tol 1e-9 --backend cpu";
    tilescope(&folder, circles)
        .assert()
        .code(1)
        .stdout(predicate::str::contains("rounding limit reached after"))
        .stderr(predicate::str::contains("change only the last digits, at ‖r‖₂ / ‖r₀‖₂ = "));
    let wild = "solve --problem convection-diffusion --shape 32x32 --velocity 90,90";
    tilescope(&folder, wild)
        .assert()
        .code(1)
        .stdout(predicate::str::contains("rounding limit reached after"))
        .stderr(predicate::str::contains("the rounding limit is reached: cycles after"));
    // Without a tolerance nothing was missed.
    tilescope(&folder, "solve --shape 16x16 --tile 8 --tol none --max-cycles 100000")
        .assert()
        .success()
        .stdout(predicate::str::contains("rounding limit reached after"));
}

#[test]
fn a_tolerance_that_is_not_reached_is_a_failure() {
    let folder = folder();
    tilescope(&folder, &format!("solve {SMALL} --tol none --max-cycles 3")).assert().success();
    tilescope(&folder, &format!("solve {SMALL} --max-cycles 3"))
        .assert()
        .code(1)
        .stderr(predicate::str::contains("did not reach the tolerance 0.0001 within 3 cycles"));
    let mut limited = small();
    limited.stop.max_cycles = 3;
    save_run(&folder.path().join("limited.toml"), &limited).unwrap();
    for command in ["solve --run limited.toml", "solve --run limited.toml --k 2"] {
        tilescope(&folder, command)
            .assert()
            .code(1)
            .stderr(predicate::str::contains("did not reach the tolerance 0.0001 within 3 cycles"));
    }
    // A figure of such a run is drawn, and says so.
    tilescope(&folder, &format!("render {SMALL} --max-cycles 3 -o a.png"))
        .assert()
        .success()
        .stderr(predicate::str::contains("did not reach the tolerance 0.0001 within 3 cycles"));
    // In a file the tolerance may have been forgotten.
    limited.stop.tolerance = None;
    save_run(&folder.path().join("none.toml"), &limited).unwrap();
    let note = "tilescope: none.toml has no tolerance: its run stops at max_cycles = 3 alone\n";
    for command in ["solve --run none.toml", "render --run none.toml -o b.png"] {
        tilescope(&folder, command).assert().success().stderr(note);
    }
    tilescope(&folder, "solve --run none.toml --tol none").assert().success().stderr("");
    tilescope(&folder, &format!("solve {SMALL} --max-cycles 3 --tol 1e-9"))
        .assert()
        .code(1)
        .stdout(predicate::str::contains("stopped after 3 cycles"))
        .stderr(predicate::str::contains(
            "tilescope: the residual did not reach the tolerance 1e-9 within 3 cycles",
        ));
    let said = json(&folder, &format!("{SMALL} --problem heat-plate"));
    assert!(said["converged"].as_bool().unwrap() && said["max_change"].as_f64().unwrap() <= 1e-4);
    let said = json(&folder, &format!("{SMALL} --problem heat-plate --stop residual --tol 0.01"));
    assert!(said["reduction"].as_f64().unwrap() <= 0.01);
}

/// Every problem of a 3D grid; the solution of one is the right-hand side of another.
#[test]
fn volumes_are_solved() {
    let folder = folder();
    let small = "--tile 4x6x3 --overlap 2x2x0 --k 3 --backend cpu";
    for problem in [
        "poisson",
        "heat-plate",
        "hot-side",
        "point-sources",
        "random",
        "convection-diffusion --velocity 3,-2,1",
        "poisson --stencil d=8,a=-1,c=-1.5,e=-1,f=-1,p=-2,q=-0.5",
        "poisson --save-field u.npy",
    ] {
        let said = json(&folder, &format!("{small} --shape 12x10x8 --problem {problem}"));
        assert_eq!(said["converged"], Value::Bool(true), "{problem}: {said}");
    }
    let said = json(&folder, &format!("{small} --rhs u.npy"));
    assert_eq!(said["converged"], Value::Bool(true), "{said}");
    assert_eq!(said["shape"], serde_json::json!([12, 10, 8]));
}

#[test]
fn a_run_that_diverges_says_why_and_still_saves_its_curve() {
    let folder = folder();
    let wild = "--problem convection-diffusion --velocity=900,-20 --shape 32x32";
    let output = tilescope(&folder, &format!("solve --json {wild} --save-curve c.csv")).output();
    let output = output.unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(said["converged"], Value::Bool(false));
    let stderr = String::from_utf8(output.stderr).unwrap();
    let lines: Vec<_> = stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{stderr}");
    assert!(lines[0].contains("not diagonally dominant"), "{stderr}");
    // Imaginary along x and real along y: √(29,620² + 2,076²) cos(π / 33) / 4,356.
    assert!(lines[0].contains("ρ = 6.786 ≥ 1: Jacobi's iteration diverges"), "{stderr}");
    assert!((said["spectral_radius"].as_f64().unwrap() - 6.786).abs() < 1e-3);
    assert_eq!(said["sweeps_per_digit"], Value::Null);
    assert!(lines[1].contains("lower the velocity"), "{stderr}");
    assert!(folder.path().join("c.csv").exists());
}

/// What helps goes by the problem, and is said once.
#[test]
fn a_stencil_that_diverges_has_its_own_remedy() {
    let folder = folder();
    let run = "--shape 24x20 --stencil d=2,a=-1,c=-1,e=-1,f=-1 --backend cpu";
    for command in ["solve", "render -o a.png"] {
        let output = tilescope(&folder, &format!("{command} {run}")).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{said}");
        let lines: Vec<_> = said.lines().collect();
        assert_eq!(lines.len(), 2, "{said}");
        assert!(lines[0].starts_with("tilescope: the matrix is not diagonally dominant"), "{said}");
        for line in lines {
            assert!(line.ends_with("raise the diagonal, or lower the other entries"), "{said}");
        }
    }
}

/// A norm that overflows before the first cycle is no divergence of the iterate.
#[test]
fn a_first_residual_that_overflows_is_named() {
    let folder = folder();
    write_npy(&folder.path().join("b.npy"), &[20, 24], &[1e300; 480]);
    for problem in ["--initial 1e308", "--rhs b.npy"] {
        tilescope(&folder, &format!("solve {SMALL} {problem}"))
            .assert()
            .code(1)
            .stdout(predicate::str::contains("ended after 0 cycles"))
            .stderr(predicate::str::contains(
                "‖r₀‖₂, the norm of the first residual, is too large",
            ));
    }
}

#[test]
fn damping_is_for_sweeps() {
    let folder = folder();
    let refuse = |options: &str, parts: &[&str]| {
        refused(&folder, &format!("solve {SMALL} {options}"), 2, parts);
    };
    refuse("--omega 2", &["omega is 2; it must be above 0 and below 2"]);
    refuse("--omega=-0.5", &["omega is -0.5"]);
    refuse("--omega much", &["'much'", "--omega", "it must be a number"]);
    refuse("--omega 0.9 --kernel spectral", &["with omega 0.9 it may be auto, fastest, shared"]);
    let on_cpu = "--omega 0.9 --backend cpu --kernel shared";
    refuse(on_cpu, &["kernel is shared; with omega 0.9 it may be auto, fastest"]);
    let endless = "solve --shape 24x20 --tile 8 --k inf --omega 0.9";
    refused(&folder, endless, 2, &["k is inf; with omega 0.9 it must be at most 4096"]);
    let matrix = "solve --matrix poisson-9x8 --tile 8 --omega 0.9";
    refused(&folder, matrix, 2, &["omega is 0.9; for a matrix it must be 1"]);
    tilescope(&folder, &format!("solve {SMALL} --omega 0.9"))
        .assert()
        .success()
        .stdout(predicate::str::contains(", ω = 0.9"));
    // The same run in a file, and with ω = 1 the same bits as without.
    let saved = |options: &str, name: &str| {
        let line = format!("solve {options} --max-cycles 5 --tol none --save-field {name}");
        tilescope(&folder, &line).assert().success();
        fs::read(folder.path().join(name)).unwrap()
    };
    let mut damped = small();
    damped.method.omega = 0.9;
    save_run(&folder.path().join("damped.toml"), &damped).unwrap();
    let by_option = saved(&format!("{SMALL} --omega 0.9"), "a.npy");
    assert_eq!(saved("--run damped.toml", "b.npy"), by_option);
    assert_ne!(saved(SMALL, "c.npy"), by_option);
    assert_eq!(saved("--run damped.toml --omega 1", "d.npy"), saved(SMALL, "c.npy"));
    // Even with a dominant matrix, an omega above 1 makes the most jagged wave grow.
    tilescope(&folder, &format!("solve {SMALL} --omega 1.5 --max-cycles 1 --tol none"))
        .assert()
        .stderr(predicate::str::contains(
            "omega 1.5, damped Jacobi's iteration diverges (ρ = 1.986)",
        ))
        .stdout(predicate::str::contains("ρ(I − ω D⁻¹A)"))
        .stdout(predicate::str::contains("damped Jacobi's iteration does not converge"));
}

/// The spectral radius of coefficients per point: where the conductivity is the same everywhere, that of Poisson's
/// problem, which a formula has.
#[test]
fn the_spectral_radius_is_told_beside_the_dominance() {
    use std::f64::consts::PI;
    let folder = folder();
    let radius = |options: &str| {
        let said = json(&folder, options);
        assert_eq!(said["dominance"], 1.0, "{said}");
        said["spectral_radius"].as_f64()
    };
    let near = |found: Option<f64>, exact: f64| {
        let found = found.expect("it is known");
        assert!((found - exact).abs() < 1e-9, "{found}, {exact}");
    };
    let line = (PI / 65.0).cos();
    near(radius("--problem diffusion --jump 1 --shape 64 --tile 8"), line);
    near(radius("--problem diffusion --jump 1 --shape 64 --tile 8 --omega 0.5"), 0.5 + 0.5 * line);
    let [x, y] = [25.0_f64, 21.0].map(|n| (n * n, (PI / n).cos()));
    let plane = (x.0 * x.1 + y.0 * y.1) / (x.0 + y.0);
    near(radius("--problem diffusion --jump 1 --shape 24x20 --tile 8"), plane);
    // Other materials have another.
    let jump = radius("--problem diffusion --jump 50 --shape 24x20 --tile 8").unwrap();
    assert!(jump < 1.0 && (jump - plane).abs() > 1e-5, "{jump}");
    let said = |options: &str| {
        let output = tilescope(&folder, &format!("solve {options}")).output().unwrap();
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap())
    };
    let short = "--tol none --max-cycles 1";
    let [text, _] = said(&format!("--problem diffusion --shape 300x300 {short}"));
    assert!(text.contains("not known for so large a grid, Σ|w| = 1.000"), "{text}");
    // A matrix, and one that is dominant, but singular: both ends of its line are free.
    let matrix = json(&folder, "--matrix heat-1d --tile 25");
    assert_eq!(matrix["spectral_radius"], matrix["matrix"]["spectral_radius"]);
    // By a power iteration.
    let found = matrix["spectral_radius"].as_f64().unwrap();
    assert!((found - (PI / 101.0).cos()).abs() < 1e-5, "{found}");
    let [text, errors] = said(&format!("--matrix heat-1d --tile 25 {short}"));
    assert!(text.contains("Σ|w| = 1.000") && errors.is_empty(), "{text}{errors}");
    let mut free = "%%MatrixMarket matrix coordinate real symmetric\n20 20 39\n".to_owned();
    for row in 1..=20 {
        free += &format!("{row} {row} {}\n", if row == 1 || row == 20 { 1 } else { 2 });
        if row < 20 {
            free += &format!("{} {row} -1\n", row + 1);
        }
    }
    fs::write(folder.path().join("free.mtx"), free).unwrap();
    let [_, errors] = said(&format!("--matrix free.mtx --tile 5 {short}"));
    assert!(errors.contains("ρ is 1, although the matrix is diagonally dominant"), "{errors}");
}

/// Coefficients per point: the conductivity as options, from a file, in a run file and in a figure.
#[test]
fn a_conductivity_jumps_or_comes_from_a_file() {
    let folder = folder();
    let saved = |options: &str, name: &str| {
        let line =
            format!("solve {options} --tile 8 --k 4 --max-cycles 9 --tol none --save-field {name}");
        tilescope(&folder, &line).assert().success();
        fs::read(folder.path().join(name)).unwrap()
    };
    let jump = "--shape 24x20 --jump 50 --interface 0.5,0:0.5,1";
    let mut run = small();
    run.problem.kind = ProblemKind::Diffusion;
    run.problem.jump = Some(50.0);
    run.problem.interface = Some([[0.5, 0.0], [0.5, 1.0]]);
    save_run(&folder.path().join("jump.toml"), &run).unwrap();
    let by_option = saved(jump, "a.npy");
    assert_eq!(saved("--run jump.toml", "b.npy"), by_option);
    assert_ne!(saved("--shape 24x20 --problem diffusion", "c.npy"), by_option);
    // The same materials from a file, which has the shape, too.
    let values: Vec<_> = (0..480).map(|at| if at % 24 < 12 { 1.0 } else { 50.0 }).collect();
    write_npy(&folder.path().join("k.npy"), &[20, 24], &values);
    assert_eq!(saved("--conductivity k.npy", "d.npy"), by_option);
    // The coefficients of neighbours in different materials are their harmonic mean: another ratio, and without
    // overlap other iterates than one material has.
    assert_ne!(saved("--shape 24x20 --jump 1", "e.npy"), by_option);
    let said = json(&folder, &format!("{jump} --tile 8 --k 4 --overlap 4"));
    assert_eq!(said["converged"], true, "{said}");
    tilescope(&folder, &format!("render {jump} --tile 8 --at-cycle 5 -o map.png"))
        .assert()
        .success();
    let (run, _) = read_figure(&folder.path().join("map.png")).unwrap();
    assert_eq!((run.problem.kind, run.problem.jump), (ProblemKind::Diffusion, Some(50.0)));
    let sweep = "sweep --conductivity k.npy --tile 8 --k 2,4 --overlap 0,2 -o table.csv";
    tilescope(&folder, sweep).assert().success();
    assert_eq!(fs::read_to_string(folder.path().join("table.csv")).unwrap().lines().count(), 5);
}

#[test]
fn a_conductivity_is_refused_where_it_does_nothing() {
    let folder = folder();
    write_npy(&folder.path().join("k.npy"), &[4, 5], &[1.0; 20]);
    let mut bad = [1.0; 20];
    bad[7] = 0.0;
    write_npy(&folder.path().join("zero.npy"), &[4, 5], &bad);
    for (options, parts) in [
        ("--problem poisson --jump 10", &["jump is given with problem poisson", "diffusion"][..]),
        ("--problem random --interface 0,0:1,1", &["interface is given with problem random"]),
        ("--matrix poisson-9x8 --tile 8 --jump 2", &["jump is given with problem matrix"]),
        ("--jump 0", &["jump is 0; it must be 1e-12 to 1e12"]),
        ("--jump nan", &["jump is NaN"]),
        ("--interface 0.5,0:0.5,0", &["interface is", "two different points"]),
        ("--interface 0.5", &["--interface", "two points, such as 0.35,0:0.65,1"]),
        ("--conductivity k.npy --jump 2", &["--jump"]),
        ("--conductivity zero.npy", &["conductivity is 0 at point (2, 1); it must be 1e-12"]),
        ("--jump 2 --shape 8x8x8", &["shape is 8 × 8 × 8", "one or two axes"]),
        ("--jump 2 --stencil d=4,a=-1,c=-1", &["stencil is given with problem diffusion"]),
        ("--jump 2 --method pyramid", &["method is pyramid", "classic or hierarchical"]),
        (
            "--jump 2 --kernel spectral",
            &["kernel is spectral; with problem diffusion it may be auto"],
        ),
        (
            "--jump 2 --kernel register --backend cuda",
            &["kernel is register", "auto, fastest, shared"],
        ),
        ("--jump 2 --k inf", &["k is inf; with problem diffusion it must be at most 4096"]),
    ] {
        refused(&folder, &format!("solve {options}"), 2, parts);
    }
    let another = "solve --conductivity k.npy --shape 6x4";
    refused(
        &folder,
        another,
        1,
        &["k.npy holds an array of shape [4, 5]; shape 6 × 4 needs [4, 6]"],
    );
    refused(&folder, "solve --conductivity none.npy", 1, &["none.npy cannot be read"]);
    let error = "render --jump 2 --shape 16x16 --tile 8 --at-cycle 3 --field error -o e.png";
    tilescope(&folder, error).assert().success();
    let line =
        "render --jump 2 --shape 64 --tile 8 --at-cycle 3 --field error --kind profile -o e.svg";
    tilescope(&folder, line).assert().success();
}

/// Devices that share a grid: the results of one, unless they exchange more rarely.
#[test]
fn simulated_devices_have_the_results_of_one() {
    let folder = folder();
    let refuse = |options: &str, part: &str| {
        refused(&folder, &format!("solve {options}"), 2, &[part]);
    };
    let small = "--shape 40x64 --tile 8 --k 4";
    let rows = "--simulate-devices is 9; it must be 1 to 8, the rows of tiles that devices share";
    refuse(&format!("{small} --simulate-devices 9"), rows);
    refuse(&format!("{small} --simulate-devices 0"), "--simulate-devices is 0; it must be 1 to 8");
    let never = "--simulate-devices 2 --exchange-every 0";
    refuse(&format!("{small} {never}"), "--exchange-every is 0; it must be at least 1");
    let alone = "--exchange-every is 8; it applies only to several devices";
    refuse(&format!("{small} --exchange-every 8"), alone);
    let link = "--simulate-devices 2 --link 1,0";
    refuse(&format!("{small} {link}"), "link is 1,0; it must be a latency");
    let waves = format!("{small} --simulate-devices 2 --wave 2");
    refuse(&waves, "tiles in waves and points in warps are on one device");
    let window = "--shape 40x64 --method wavefront --height 3 --memory 1MB --simulate-devices 4";
    refuse(window, "simulate-devices is 4; it must be 1 to 3, the sweeps of a pass");
    let over_gpus = "are shared out over devices that a CPU simulates";
    for (settings, what) in [("--shape 64 --tile 8", "the points of a single line")] {
        for place in ["--devices 0,1", "--simulate-devices 2 --backend cuda"] {
            refuse(&format!("{settings} {place}"), &format!("{what} {over_gpus}"));
        }
    }
    for (settings, why) in [
        (
            "--shape 64 --batch 4",
            "the lines of a batch are independent, so nothing is exchanged after a cycle",
        ),
        ("--shape 40x64 --method pyramid --memory 9kB", "read the computer's memory, so nothing"),
    ] {
        let rarely = format!("{settings} --simulate-devices 2 --exchange-every 4");
        refuse(&rarely, "--exchange-every is 4");
        refuse(&rarely, why);
    }
    for (settings, parts) in [
        ("--matrix poisson-9x8 --tile 8", "9, the blocks"),
        ("--shape 64 --tile 8", "8, the tiles"),
        ("--shape 64 --method classic", "64, the points"),
        ("--shape 64 --batch 3", "3, the lines"),
        ("--shape 40x64 --method classic", "4, the bands of 16 rows"),
        ("--shape 40x64 --method pyramid --height 2 --memory 14784", "7, the slabs of a pass"),
    ] {
        refuse(&format!("{settings} --simulate-devices 99"), &format!("it must be 1 to {parts}"));
    }
    let path = format!("{small} --simulate-devices 2 --backend cpu --exchange peer");
    refuse(&path, "exchange is peer; it applies only to GPUs");
    refuse(&format!("{small} --exchange host"), "exchange is host; it applies only to several");
    let both = format!("{small} --simulate-devices 2 --devices 0,1");
    refuse(&both, "--simulate-devices is 2; one GPU simulates them; devices must name one");
    let many: Vec<_> = (0..9).map(|gpu| gpu.to_string()).collect();
    let many = format!("--devices {}", many.join(","));
    for (settings, most) in [
        (small, "8 GPUs, as many as there are rows of tiles"),
        ("--shape 64 --batch 3", "3 GPUs, as many as there are lines"),
        ("--matrix poisson-9x8 --tile 18", "4 GPUs, as many as there are blocks"),
    ] {
        let most = format!("it must be at most {most} that devices share");
        refuse(&format!("{settings} {many}"), &most);
    }

    let saved = |options: &str, name: &str| {
        let line = format!("solve {options} --max-cycles 9 --tol none --save-field {name}");
        tilescope(&folder, &line).assert().success();
        fs::read(folder.path().join(name)).unwrap()
    };
    let one = saved(small, "one.npy");
    assert_eq!(saved(&format!("{small} --simulate-devices 4"), "four.npy"), one);
    let rarely = format!("{small} --simulate-devices 4 --exchange-every 8");
    assert_ne!(saved(&rarely, "rarely.npy"), one);
    // In the sine basis, too.
    let endless = small.replace("--k 4", "--k inf --overlap 2");
    let one = saved(&endless, "endless.npy");
    assert_eq!(saved(&format!("{endless} --simulate-devices 3"), "shared.npy"), one);
    // Sweeps that are made several at a time, in tiles along z.
    let together = "--shape 40x40x24 --method classic --kernel fused";
    let one = saved(together, "together.npy");
    assert_eq!(saved(&format!("{together} --simulate-devices 2"), "halves.npy"), one);
    let rarely = format!("{together} --simulate-devices 2 --exchange-every 8");
    refuse(&rarely, "an exchange every few cycles; use kernel auto");
    let exchanges = format!("{together} --simulate-devices 2 --max-cycles 9 --tol none");
    assert_eq!(json(&folder, &exchanges)["devices"]["exchange_every"], 5);
    let thin = format!("{together} --simulate-devices 9");
    refuse(&thin, "--simulate-devices is 9; it must be 1 to 8, the rows of tiles");
    let cycles = |options: &str| json(&folder, &format!("{small} {options}"))["cycles"].as_u64();
    let needed = cycles("");
    assert_eq!(cycles("--simulate-devices 4"), needed);
    assert!(cycles("--simulate-devices 4 --exchange-every 8") > needed);
}

/// What else devices share: a matrix, lines, slabs. What they exchange is said, and that they exchange nothing.
#[test]
fn simulated_devices_share_matrices_lines_and_slabs() {
    let folder = folder();
    let saved = |options: &str, name: &str| {
        let line = format!("solve {options} --max-cycles 9 --tol none --save-field {name}");
        tilescope(&folder, &line).assert().success();
        fs::read(folder.path().join(name)).unwrap()
    };
    let exchanged = |options: &str| {
        let said = json(&folder, &format!("{options} --max-cycles 9 --tol none"));
        let of = |name: &str| said["devices"][name].clone();
        (of("messages"), of("bytes"), of("nothing_exchanged"))
    };
    for (options, messages, bytes) in [
        // Each of 72 rows reads its neighbours in the grid, 9 rows away at most.
        ("--matrix poisson-9x8 --tile 9 --k 3", 4, 4 * 9 * 8),
        ("--matrix poisson-40x30 --method classic", 4, 4 * 40 * 8),
        // o/2 + 1 points each way.
        ("--shape 100 --tile 10 --k 4 --overlap 2", 4, 4 * 2 * 8),
        ("--shape 100 --tile 10 --k inf", 4, 4 * 8),
        ("--shape 100 --method classic", 4, 4 * 8),
    ] {
        let one = saved(options, "one.npy");
        let three = format!("{options} --simulate-devices 3");
        assert_eq!(saved(&three, "three.npy"), one, "{options}");
        assert_ne!(saved(&format!("{three} --exchange-every 4"), "rarely.npy"), one, "{options}");
        assert_eq!(exchanged(&three), (messages.into(), bytes.into(), Value::Null), "{options}");
    }
    for (options, why) in [
        ("--shape 30 --batch 6 --tile 8", "the lines of a batch are independent"),
        ("--shape 30 --batch 6 --method classic", "the lines of a batch are independent"),
        (
            "--shape 40x64 --method pyramid --height 2 --memory 14784",
            "the slabs of a pass read the computer's memory",
        ),
        (
            "--shape 40x64 --method wavefront --height 7 --memory 20kB",
            "devices hand planes on to each other within a pass",
        ),
    ] {
        let one = saved(options, "one.npy");
        let three = format!("{options} --simulate-devices 3");
        assert_eq!(saved(&three, "three.npy"), one, "{options}");
        assert_eq!(exchanged(&three), (0.into(), 0.into(), why.into()));
        let text = format!("solve {three} --max-cycles 2 --tol none");
        let text = tilescope(&folder, &text).assert().success().get_output().stdout.clone();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains(&format!("nothing after a cycle, since {why}")), "{text}");
    }
    assert_eq!(json(&folder, "--shape 40 --max-cycles 2 --tol none")["devices"], Value::Null);
}

/// What later tiles and points see of earlier ones, by options, in a file, in sweeps and in titles.
#[test]
fn waves_and_warps_are_for_tiles_on_the_cpu() {
    let folder = folder();
    let refuse = |options: &str, parts: &[&str]| {
        refused(&folder, &format!("solve {SMALL} {options}"), 2, parts);
    };
    refuse(
        "--wave 2 --backend cuda",
        &["wave is 2; backend cuda computes tiles and points in any"],
    );
    refuse("--wave 0", &["wave is 0; it must be at least 1"]);
    refuse("--warp 32 --kernel spectral", &["with waves or warps it may be auto, fastest"]);
    let classic = "solve --shape 24x20 --method classic --warp 8";
    let said = ["warp is 8 with method classic; it applies only to method hierarchical"];
    refused(&folder, classic, 2, &said);
    let endless = "solve --shape 24x20 --tile 8 --k inf --wave 3";
    refused(&folder, endless, 2, &["k is inf; with wave 3 it must be at most 4096"]);
    let matrix = "solve --matrix poisson-9x8 --tile 8 --wave 3";
    refused(&folder, matrix, 2, &["wave is 3; blocks of a matrix are computed at once"]);
    let order = "--wave 2 --warp 5";
    tilescope(&folder, &format!("solve {SMALL} {order}"))
        .assert()
        .success()
        .stdout(predicate::str::contains(", waves of 2 tiles, in place, 5 at a time"));
    let saved = |options: &str, name: &str| {
        let line = format!("solve {options} --max-cycles 5 --tol none --save-field {name}");
        tilescope(&folder, &line).assert().success();
        fs::read(folder.path().join(name)).unwrap()
    };
    let mut in_waves = small();
    (in_waves.method.wave, in_waves.method.warp) = (Some(2), Some(5));
    save_run(&folder.path().join("waves.toml"), &in_waves).unwrap();
    let by_option = saved(&format!("{SMALL} {order}"), "a.npy");
    assert_eq!(saved("--run waves.toml", "b.npy"), by_option);
    assert_ne!(saved(SMALL, "c.npy"), by_option);
    assert_eq!(saved("--run waves.toml --wave 99 --warp 64", "d.npy"), saved(SMALL, "c.npy"));
    // Another method has no tiles; a figure and a sweep have the order.
    saved("--run waves.toml --method classic", "e.npy");
    let figure = format!("render {SMALL} {order} --at-cycle 3 --size 400x300 -o a.svg");
    tilescope(&folder, &figure).assert().success();
    let (run, _) = read_figure(&folder.path().join("a.svg")).unwrap();
    assert_eq!(run, in_waves);
    let svg = fs::read_to_string(folder.path().join("a.svg")).unwrap();
    assert!(svg.contains("waves of 2 tiles"), "the caption");
    let cycles = |order: &str, name: &str| {
        let line = format!(
            "sweep --shape 24x20 --tile 8 --k 4 --overlap 0 --measure cycles {order} -o {name}"
        );
        tilescope(&folder, &line).assert().success();
        let table = fs::read_to_string(folder.path().join(name)).unwrap();
        let lines: Vec<Vec<_>> = table.lines().map(|line| line.split(',').collect()).collect();
        let column = lines[0].iter().position(|head| *head == "cycles").unwrap();
        lines[1][column].parse::<u64>().unwrap()
    };
    let solved = json(&folder, &format!("{SMALL} --wave 1"))["cycles"].as_u64().unwrap();
    assert_eq!(cycles("--wave 1", "a.csv"), solved);
    assert!(solved < cycles("", "b.csv"), "Gauss–Seidel of the tiles needs fewer");
    let tune = "tune --shape 24x20 --tile 8 --k 4 --overlap 0 --wave 1 --json";
    let found = tilescope(&folder, tune).output().unwrap();
    assert!(String::from_utf8_lossy(&found.stdout).contains("--wave 1"));
}

#[test]
fn the_setting_of_a_matrix_is_searched_without_predictions() {
    let folder = folder();
    let tune = "tune --matrix heat-1d --k 1,2,4,8,16 --tile 25 --overlap 0 --tol 1e-2 --backend cpu --threads 1 --json";
    let found = tilescope(&folder, tune).output().unwrap();
    let found: Value = serde_json::from_slice(&found.stdout).unwrap();
    let measured: Vec<u64> = found["measured"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["k"].as_u64().unwrap())
        .collect();
    assert_eq!(measured[0], 4, "the middle of the list");
    let best = found["best"]["k"].as_u64().unwrap();
    for k in [1, 2, 4, 8, 16] {
        let is_beside = k == best || k == 2 * best || 2 * k == best;
        assert!(!is_beside || measured.contains(&k), "k = {k} beside {best}: {measured:?}");
    }
}

/// A kernel that an option makes impossible is left out; one that never went with the rest of its file is an error in it.
#[test]
fn a_kernel_of_a_run_file_goes_with_the_file_or_is_refused() {
    let folder = folder();
    let write = |method: &str| {
        fs::write(folder.path().join("run.toml"), format!("version = 1\n[method]\n{method}"))
            .unwrap();
    };
    write("kernel = \"register\"\nbackend = \"cpu\"");
    for command in ["solve", "render --at-cycle 1 -o a.png", "sweep -o a.csv"] {
        let parts = ["kernel is register", "backend cpu it must be auto, fastest, spectral"];
        refused(&folder, &format!("{command} --run run.toml"), 2, &parts);
    }
    write("kernel = \"register\"");
    json(&folder, "--run run.toml --backend cpu --max-cycles 1 --tol none");
}

#[test]
fn a_block_size_is_for_kernel_classic() {
    let folder = folder();
    let refuse = |options: &str, parts: &[&str]| {
        refused(&folder, &format!("solve --shape 24x20 {options}"), 2, parts);
    };
    let classic = "--method classic --block-size";
    refuse(&format!("{classic} 48"), &["--block-size is 48; it must be 32, 64, 128, 256 or 512"]);
    refuse("--block-size 64", &["--block-size is 64 with method hierarchical; it applies only to"]);
    refuse(&format!("{classic} 64 --backend cpu"), &["backend cpu has no blocks of threads"]);
    let matrix = "solve --matrix poisson-9x8 --method classic --block-size 64";
    refused(&folder, matrix, 2, &["--block-size is 64; for a matrix"]);
    let without_gpu = format!("solve --shape 24x20 {classic} 128");
    tilescope(&folder, &without_gpu).env("CUDA_VISIBLE_DEVICES", "").assert().code(2).stderr(
        predicate::str::contains("--block-size is 128; it needs a GPU (backend cuda), and"),
    );
}

/// `--initial` is a value or an array of the grid, and a hot box is that of a plate.
#[test]
fn an_initial_guess_is_a_value_or_an_array() {
    let folder = folder();
    let saved = |options: &str, name: &str| {
        let line = format!("solve {options} --max-cycles 3 --tol none --save-field {name}");
        tilescope(&folder, &line).assert().success();
        fs::read(folder.path().join(name)).unwrap()
    };
    let own = saved(SMALL, "own.npy");
    assert_eq!(saved(&format!("{SMALL} --initial 1"), "one.npy"), own, "Poisson starts from 1");
    assert_ne!(saved(&format!("{SMALL} --initial=-0.5"), "other.npy"), own);
    // Where a run ended another goes on, whether by an option or in a file beside the array.
    let six = saved(&format!("{SMALL} --initial own.npy"), "six.npy");
    let whole = format!("solve {SMALL} --max-cycles 6 --tol none --save-field whole.npy");
    tilescope(&folder, &whole).assert().success();
    assert_eq!(fs::read(folder.path().join("whole.npy")).unwrap(), six);
    let mut continued = small();
    continued.problem.initial = Some(InitialGuess::File(folder.path().join("own.npy")));
    save_run(&folder.path().join("continued.toml"), &continued).unwrap();
    assert_eq!(saved("--run continued.toml", "again.npy"), six);
    let text = fs::read_to_string(folder.path().join("continued.toml")).unwrap();
    assert!(text.starts_with("version = 6\n") && text.contains("initial = \"own.npy\""), "{text}");
    let cannot_be_read = [
        ("--shape 24x20 --initial none.npy", "none.npy cannot be read"),
        ("--shape 25x20 --initial own.npy", "own.npy holds an array of shape"),
    ];
    for (options, part) in cannot_be_read {
        refused(&folder, &format!("solve --tile 8 {options}"), 1, &[part]);
    }
    for (options, parts) in [
        ("--initial nan", &["initial is NaN; it must be a finite number"][..]),
        ("--problem heat-plate --hot-box value=2 --initial 0", &["a run has one initial guess"]),
        ("--hot-box value=2", &["it applies only to problem heat-plate"]),
        ("--problem heat-plate --hot-box left=2", &["left of --hot-box is 2; it must be 0 to 1"]),
        ("--problem heat-plate --hot-box middle=1", &["middle is not a side"]),
    ] {
        refused(&folder, &format!("solve --tile 8 --shape 24x20 {options}"), 2, parts);
    }
    let matrix = "--matrix poisson-9x8 --tile 8 --initial";
    let own = saved("--matrix poisson-9x8 --tile 8", "m.npy");
    assert_eq!(saved(&format!("{matrix} 1"), "one.npy"), own);
    assert_ne!(saved(&format!("{matrix} 3"), "three.npy"), own);
    // The article's start: 100 on |i − N/2| ≤ N/10 of N points, which include the boundary.
    let line = "solve --problem heat-plate --shape 18x18 --tile 8 --hot-box value=100 --max-cycles 0 \
                --tol none --save-field plate.npy";
    tilescope(&folder, line).assert().success();
    let plate = fs::read(folder.path().join("plate.npy")).unwrap();
    let values: Vec<f64> = plate[plate.len() - 18 * 18 * 8..]
        .chunks_exact(8)
        .map(|value| f64::from_le_bytes(value.try_into().unwrap()))
        .collect();
    for (at, value) in values.into_iter().enumerate() {
        let is_hot = |i: usize| (i + 1).abs_diff(10) <= 2;
        let expected = if is_hot(at % 18) && is_hot(at / 18) { 100.0 } else { 0.0 };
        assert_eq!(value, expected, "point {at}");
    }
}

#[test]
fn a_figure_carries_its_run_and_opens() {
    let folder = folder();
    let arguments =
        format!("render {SMALL} --overlap 2 --at-cycle 5 --size 400x300 --scale symmetric");
    for name in ["a.png", "a.svg", "a.pdf"] {
        tilescope(&folder, &format!("{arguments} -o {name}")).assert().success().stderr("");
        let path = folder.path().join(name);
        let (run, view) = read_figure(&path).unwrap();
        let mut expected = small();
        expected.method.overlap = vec![2];
        assert_eq!(run, expected);
        let ViewSpec { cycle, field, figure, .. } = view.unwrap();
        assert_eq!((cycle, field, figure.size), (5, FieldKind::Residual, [400, 300]));
        // Its run can be started from, and overridden by options.
        let said = json(&folder, &format!("--run {name} --k 2 --max-cycles 10000 --tol 0.5"));
        assert_eq!((&said["k"], &said["overlap"]), (&2.into(), &serde_json::json!([2, 2])));
        // Without a display `open` names the alternative.
        refused(&folder, &format!("open {name}"), 1, &["tilescope render --run FILE"]);
    }
    let picture = image::open(folder.path().join("a.png")).unwrap();
    assert_eq!((picture.width(), picture.height()), (400, 300));
}

#[test]
fn every_field_is_drawn_in_1d_and_2d() {
    let folder = folder();
    for shape in ["--shape 24x20", "--shape 40", "--shape 40 --batch 2"] {
        for field in FieldKind::ALL {
            let arguments = format!(
                "render {shape} --tile 8 --k 4 --at-cycle 6 --field {} --bare -o a.png",
                field.name()
            );
            tilescope(&folder, &arguments).assert().success().stderr("");
            let map = image::open(folder.path().join("a.png")).unwrap();
            let expected = if shape.contains('x') { (24, 20) } else { (40, 7) };
            assert_eq!((map.width(), map.height()), expected, "{arguments}");
        }
    }
    tilescope(&folder, &format!("render {SMALL} --kind curves --size 400x300 -o c.svg"))
        .assert()
        .success();
    let svg = fs::read_to_string(folder.path().join("c.svg")).unwrap();
    assert!(svg.contains("Convergence") && svg.contains("tolerance"));
}

#[test]
fn two_runs_are_drawn_in_one_figure() {
    let folder = folder();
    let mut other = small();
    other.method.overlap = vec![2];
    save_run(&folder.path().join("other.toml"), &other).unwrap();
    let drawn = |arguments: &str, name: &str| {
        let arguments = format!("render {SMALL} --compare other.toml {arguments} -o {name}");
        tilescope(&folder, &arguments).assert().success().stderr("");
        let (run, view) = read_figure(&folder.path().join(name)).unwrap();
        let view = view.unwrap();
        assert_eq!((&run, &view.compared[0].run), (&small(), &other));
        view
    };
    let view = drawn("--at-cycle 5", "a.svg");
    assert_eq!((view.kind, view.cycle), (FigureKind::SIDE_BY_SIDE, 5));
    assert_eq!(view.compared[0].cycle, 5);
    let svg = fs::read_to_string(folder.path().join("a.svg")).unwrap();
    assert!(svg.contains(">overlap 0 · ") && svg.contains(">overlap 2 · "));
    assert!(svg.contains("k = 4, tile 8 · f64"), "what they have in common");
    // To the end of each run, which is not the same cycle.
    let view = drawn("--kind curves", "b.svg");
    assert!(view.compared[0].cycle < view.cycle);
    drawn("--kind profile --at-cycle 5 --theme transparent", "c.png");
    let page = image::open(folder.path().join("c.png")).unwrap().into_rgba8();
    assert_eq!(page.get_pixel(0, 0).0[3], 0, "what lies behind it shows through");
    let view = drawn("--kind profile --cut 0,0:23,19 --at-cycle 5", "e.svg");
    assert_eq!(view.cut, Some(CutLine::Segment([[0, 0], [23, 19]])));
    let svg = fs::read_to_string(folder.path().join("e.svg")).unwrap();
    assert!(svg.contains("along (0, 0) – (23, 19)") && svg.contains("distance from (0, 0)"));
    // A figure can be compared with, too.
    tilescope(&folder, "render --shape 24x20 --tile 8 --k 2 --compare c.png -o d.png")
        .assert()
        .success();
}

/// Every kind with its options, and the same picture again from what its file carries.
#[test]
fn a_figure_of_any_kind_is_reproduced_from_its_own_file() {
    let folder = folder();
    let mut other = small();
    other.method.overlap = vec![2];
    save_run(&folder.path().join("o2.toml"), &other).unwrap();
    (other.method.k, other.problem.shape) = (8.into(), vec![40, 20]);
    save_run(&folder.path().join("k8.toml"), &other).unwrap();
    let places = "--place inside=0,0,.5,.5 --place probes=.5,0,.5,.5 --place edge-share=0,.5,.5,.5 \
                  --place distance=.5,.5,.3,.5 --place curves=.8,.5,.2,.5";
    let followed = "--follow 1,1 --subiteration 2 --probe 3,4 --probe 8,8";
    for options in [
        "--kind heat-map --borders",
        "--kind side-by-side --compare o2.toml --pair sweeps",
        "--kind curves --compare o2.toml --compare k8.toml --classic --over sweeps --until 30",
        "--kind curves --compare k8.toml --compare-at 7 --classic 400",
        "--kind curves --compare o2.toml --chebyshev --conjugate-gradients 30 --over sweeps",
        "--kind speedup --compare o2.toml --classic --conjugate-gradients --over sweeps",
        "--kind profile --compare o2.toml --cut i=8",
        "--kind memory-traffic",
        "--method pyramid --height 3 --memory 8kB --kind planes",
        "--method wavefront --height 3 --memory 8kB --kind planes",
        "--kind mean-tile",
        "--kind distance --field update",
        "--kind edge-share --until 30",
        "--kind frequencies --map viridis",
        "--kind damping-by-mode",
        "--kind curves --asymptotic-rate --classic --over sweeps",
        "--kind probes --probe 3,4 --probe 8,8 --field staleness",
        "--kind inside --follow 1,1 --subiteration 2 --inside-shows iterate",
        "--kind arrangement",
        &format!("--kind arrangement {places} {followed} --until 30 --classic"),
        "--kind bare-map",
    ] {
        let size = if options.contains("bare") { "" } else { "--size 400x300" };
        let run = if options.contains("--memory") { "--shape 24x18" } else { SMALL };
        let drawn = format!("render {run} --at-cycle 20 {size} {options} -o a.svg");
        tilescope(&folder, &drawn).assert().success().stderr("");
        let first = fs::read(folder.path().join("a.svg")).unwrap();
        let (run, view) = read_figure(&folder.path().join("a.svg")).unwrap();
        let again = figure_command(&run, &view.unwrap(), Path::new("a.svg"));
        let again = again.strip_prefix("tilescope ").unwrap();
        // The other runs are in the figure itself.
        let replaced = "tilescope: a.svg, the file of --compare, was replaced\n";
        let said = if again.contains("--compare") { replaced } else { "" };
        tilescope(&folder, again).assert().success().stderr(said);
        assert!(fs::read(folder.path().join("a.svg")).unwrap() == first, "{options}: {again}");
    }
}

/// Passes are timed while they are made: what models predict is drawn beside them, and never in their place.
#[test]
fn figures_of_passes_have_what_was_measured() {
    let folder = folder();
    let render = "render --shape 24x18 --method pyramid --height 3 --memory 8064 --at-cycle";
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
    let measured = |options: &str| {
        tilescope(&folder, &format!("{render} {options} --kind height -o a.csv"))
            .assert()
            .success();
        let table = read("a.csv");
        let cells = table.lines().skip(1).map(|line| line.rsplit(',').next().unwrap().to_owned());
        cells.map(|cell| cell.parse::<f64>().ok()).collect::<Vec<_>>()
    };
    assert_eq!(measured("0"), [None; 5]);
    for link in ["this-machine", "pcie-3", "ssd", "12.5"] {
        let column = measured(&format!("4 --slow-link {link}"));
        assert!(column[2].is_some_and(|nanoseconds| nanoseconds > 0.0), "{column:?}");
        assert_eq!(column.iter().flatten().count(), 1, "one height was made: {column:?}");
        assert!(read("a.csv").starts_with("height,paper_ns,"), "the unit of the models, too");
    }
    tilescope(&folder, &format!("{render} 4 --kind lanes -o a.csv")).assert().success();
    let steps = read("a.csv").lines().count() - 1;
    assert_eq!(steps, 3, "18 planes in slabs that own 6");
    for image in ["--kind lanes -o a.png", "--kind height --slow-link nvlink -o a.png"] {
        tilescope(&folder, &format!("{render} 4 {image}")).assert().success();
    }
    refused(&folder, &format!("{render} 0 --kind lanes -o b.png"), 1, &["make a cycle first"]);
    refused(&folder, &format!("{render} 4 --kind planes --slow-link ssd -o b.png"), 2, &["height"]);
    let wrong = format!("{render} 4 --kind height --slow-link modem -o b.png");
    refused(&folder, &wrong, 2, &["this-machine, pcie-3"]);
}

#[test]
fn figures_of_1d_runs_are_drawn() {
    let folder = folder();
    let line = "render --shape 40 --tile 8 --k 4 --at-cycle 6 --size 300x240";
    for options in [
        "--kind inside --follow 2",
        "--kind inside --follow all --subiteration 3",
        "--kind probes --probe 7 --field error",
        "--kind edge-share",
        "--kind distance",
        "--kind frequencies --field error",
        "--kind damping-by-mode",
    ] {
        tilescope(&folder, &format!("{line} {options} -o a.png")).assert().success().stderr("");
    }
    // In an arrangement most parts show one cycle, the space-time diagram all of them.
    let places =
        "--place space-time=0,0,.5,1 --place profile=.5,0,.5,.5 --place curves=.5,.5,.5,.5";
    let drawn = format!("{line} --kind arrangement {places} --until 30 -o a.svg");
    tilescope(&folder, &drawn).assert().success().stderr("");
    let (_, view) = read_figure(&folder.path().join("a.svg")).unwrap();
    assert_eq!((view.as_ref().unwrap().cycle, view.unwrap().until), (6, Some(30)));
}

/// A line lies in a slice, a tile is cut by it, and points have three indices.
#[test]
fn profiles_points_and_tiles_of_3d_runs_are_drawn() {
    let folder = folder();
    let volume = "render --shape 12x10x8 --tile 4 --overlap 2 --k 3 --at-cycle 4";
    for (options, header, rows, title) in [
        ("--kind profile --slice y=3 --cut k=2", "i residual", 12, "along k = 2 at y = 3"),
        ("--kind profile --cut 0,0:11,9", "distance i j residual", 12, "(11, 9) at z = 4"),
        (
            "--kind probes --probe 3,4,5 --probe 0,9,7",
            "cycle residual(3,4,5) residual(0,9,7)",
            5,
            "(3, 4, 5)",
        ),
        ("--kind inside --slice x=6 --follow 1,2", "j k u staleness", 36, "Tile (1, 2) at x = 6"),
    ] {
        for file in ["t.csv", "t.svg"] {
            let drawn = format!("{volume} {options} -o {file}");
            tilescope(&folder, &drawn).assert().success().stderr("");
        }
        let mut table = csv::Reader::from_path(folder.path().join("t.csv")).unwrap();
        let found: Vec<_> = table.headers().unwrap().iter().map(str::to_owned).collect();
        assert_eq!((found.join(" "), table.records().count()), (header.to_owned(), rows));
        let svg = fs::read_to_string(folder.path().join("t.svg")).unwrap();
        assert!(svg.contains(title), "{options}: {svg}");
        let (run, view) = read_figure(&folder.path().join("t.svg")).unwrap();
        let again = figure_command(&run, &view.unwrap(), Path::new("t.svg"));
        let again = again.strip_prefix("tilescope ").unwrap();
        tilescope(&folder, again).assert().success().stderr("");
        assert!(fs::read_to_string(folder.path().join("t.svg")).unwrap() == svg, "{again}");
    }
    for (options, parts) in [
        (
            "--kind probes --probe 1,2",
            &["--probe is 1,2; a 3D grid needs three numbers: I,J,K"][..],
        ),
        ("--kind probes --probe 3,4,8", &["the probe is 3,4,8; points are 0,0,0 to 11,9,7"]),
        ("--kind probes --probe 1,2,3,4", &["'1,2,3,4'", "a whole number for each axis"]),
        ("--kind profile --slice y=3 --cut j=2", &["--cut is j=2", "a row, k=N, a column, i=N"]),
        ("--kind profile --slice x=3 --cut k=8", &["cut is k=8; rows are k=0 to k=7"]),
        ("--kind inside --slice x=6 --follow 0,9", &["--follow is 0,9; the last tile is"]),
    ] {
        refused(&folder, &format!("{volume} {options} -o a.png"), 2, parts);
    }
}

#[test]
fn figures_are_saved_as_tables_too() {
    let folder = folder();
    let table = |options: &str| {
        let drawn = format!("render {SMALL} --at-cycle 6 {options} -o t.csv");
        tilescope(&folder, &drawn).assert().success().stderr("");
        let mut table = csv::Reader::from_path(folder.path().join("t.csv")).unwrap();
        let header: Vec<_> = table.headers().unwrap().iter().map(str::to_owned).collect();
        (header.join(" "), table.records().map(Result::unwrap).count())
    };
    assert_eq!(table("--kind heat-map"), ("i j residual".to_owned(), 24 * 20));
    // An older name of the field works, too.
    assert_eq!(table("--kind profile --field change"), ("i update".to_owned(), 24));
    assert_eq!(table("--kind curves").1, 7);
    let (header, rows) = table("--kind curves --classic 9");
    assert!(header.starts_with("run cycle sweeps ") && rows == 7 + 10, "{header}, {rows}");
    let text = fs::read_to_string(folder.path().join("t.csv")).unwrap();
    assert!(text.contains("\nthis run,6,24,") && text.contains("\nclassic Jacobi,9,9,"), "{text}");
    // Products with the matrix are counted, and not timed.
    let (_, rows) = table("--kind curves --chebyshev --conjugate-gradients 9");
    assert_eq!(rows, 7 + 25 + 10);
    let text = fs::read_to_string(folder.path().join("t.csv")).unwrap();
    assert!(text.contains("\nChebyshev,24,24,,") && text.contains("\nconjugate gradients,9,9,,"));
    let quartiles = "from to points lower_quartile median upper_quartile";
    assert_eq!(table("--kind distance"), (quartiles.to_owned(), 3));
    assert_eq!(table("--kind edge-share"), ("cycle edge_share".to_owned(), 7));
    let [waves, all] =
        ["p q amplitude_residual", "half_waves sweep measured_sweep sweeps measured_cycle"];
    assert_eq!(table("--kind frequencies"), (waves.to_owned(), 24 * 20));
    assert_eq!(table("--kind damping-by-mode"), (all.to_owned(), 20));
    let points = "cycle residual(3,4) residual(8,8)".to_owned();
    assert_eq!(table("--kind probes --probe 3,4 --probe 8,8"), (points, 7));
    assert_eq!(table("--kind inside --follow 1,1"), ("i j u staleness".to_owned(), 10 * 10));
    let speedup = "--kind speedup --over sweeps";
    let header = "tolerance speedup".to_owned();
    assert_eq!(table(&format!("{speedup} --classic")), (header.clone(), 240));
    // Alone it is over classic Jacobi.
    assert_eq!(table(speedup), (header, 240));
    assert_eq!(
        table(&format!("{speedup} --classic --chebyshev")),
        ("run tolerance speedup".to_owned(), 2 * 240)
    );
    // Main memory, caches and updates, of the sweeps and of the cycle.
    let traffic = "run quantity first second".to_owned();
    assert_eq!(table("--kind memory-traffic"), (traffic, 2 * 3));
    // With several runs each row names its run.
    let mut other = small();
    other.method.overlap = vec![2];
    save_run(&folder.path().join("o2.toml"), &other).unwrap();
    let beside = "--compare o2.toml --compare o2.toml";
    let (header, rows) = table(&format!("--kind curves {beside}"));
    assert!(header.starts_with("run cycle sweeps ") && rows == 3 * 7, "{header}, {rows}");
    let text = fs::read_to_string(folder.path().join("t.csv")).unwrap();
    assert_eq!(text.matches("\noverlap 2,").count(), 2 * 7, "{text}");
    let (header, rows) = table(&format!("--kind runs {beside}"));
    assert_eq!((header.as_str(), rows), ("run cycles sweeps seconds speedup reduction", 3));
    let text = fs::read_to_string(folder.path().join("t.csv")).unwrap();
    assert!(
        text.lines().nth(1).unwrap().contains(",1.0,"),
        "the first is as fast as itself: {text}"
    );
    // These runs differ only in their cycles.
    save_run(&folder.path().join("same.toml"), &small()).unwrap();
    assert_eq!(table("--kind runs --compare same.toml --compare-at 9").1, 2);
    let text = fs::read_to_string(folder.path().join("t.csv")).unwrap();
    assert!(text.contains("\nfirst run,6,") && text.contains("\nsecond run,9,"), "{text}");
    let drawn = format!("render {SMALL} --at-cycle 6 --kind runs {beside} -o t.svg");
    tilescope(&folder, &drawn).assert().success().stderr("");
    let svg = fs::read_to_string(folder.path().join("t.svg")).unwrap();
    assert!(svg.contains("speedup") && svg.matches(">overlap 2<").count() == 2, "{svg}");
    refused(&folder, "render --kind arrangement -o a.csv", 2, &["arrangement has no table"]);
    let volume =
        "render --shape 12x12x12 --tile 6 --overlap 0 --at-cycle 2 --kind arrangement -o v.svg";
    tilescope(&folder, volume).assert().success();
    let svg = fs::read_to_string(folder.path().join("v.svg")).unwrap();
    assert!(!svg.contains("tile border"), "a profile of the slice, as of a plane: {svg}");
    refused(&folder, "render --kind bare-map -o a.csv", 2, &["bare-map has no table"]);
}

#[test]
fn an_animation_pairs_runs_by_the_chosen_rule() {
    let folder = folder();
    let mut other = small();
    other.method.k = 8.into();
    save_run(&folder.path().join("k8.toml"), &other).unwrap();
    let film = |options: &str| {
        let drawn = format!(
            "render {SMALL} --animate 0..8:4 --compare k8.toml --size 300x240 {options} -o a.apng"
        );
        tilescope(&folder, &drawn).assert().success().stderr("");
        let (run, view) = read_figure(&folder.path().join("a.apng")).unwrap();
        (run, view.unwrap(), fs::read(folder.path().join("a.apng")).unwrap())
    };
    for (options, last) in
        [("", 8), ("--pair sweeps", 4), ("--pair fixed --compare-at 3", 3), ("--kind curves", 8)]
    {
        let (run, view, first) = film(options);
        assert_eq!(view.compared[0].cycle, last, "{options}");
        let again = figure_command(&run, &view, Path::new("a.apng"));
        tilescope(&folder, again.strip_prefix("tilescope ").unwrap()).assert().success();
        assert!(fs::read(folder.path().join("a.apng")).unwrap() == first, "{options}: {again}");
    }
    let nothing = "render --animate 0..8 --compare k8.toml --pair fixed -o a.gif";
    refused(&folder, &format!("{nothing} {SMALL}"), 2, &["--pair fixed", "--compare-at"]);
}

#[test]
fn runs_that_cannot_be_compared_are_refused_in_one_sentence() {
    let folder = folder();
    save_run(&folder.path().join("other.toml"), &RunSpec::default()).unwrap();
    let refused = |arguments: &str, code, parts: &[&str]| {
        refused(&folder, &format!("render {SMALL} --at-cycle 1 {arguments} -o a.png"), code, parts);
    };
    let both = ["the run to compare with has 256 × 256 points, this one 24 × 20"];
    refused("--compare other.toml", 2, &both);
    refused("--compare other.toml --kind heat-map", 2, &["heat-map shows one run"]);
    refused("--compare other.toml --kind distance", 2, &["distance shows one run"]);
    let two = "--compare other.toml --compare other.toml --kind side-by-side";
    refused(two, 2, &["side-by-side shows 2 runs at most"]);
    refused("--kind probes", 2, &["probes", "--probe"]);
    refused("--kind probes --probe 24,0", 2, &["the probe is 24,0", "0,0 to 23,19"]);
    refused("--kind inside --follow everything", 2, &["'everything'", "--follow"]);
    refused("--kind inside --follow 9,9", 2, &["--follow is 9,9; the last tile is 2,2"]);
    refused("--kind inside --subiteration 99", 2, &["--subiteration is 99", "has 4"]);
    refused("--compare nowhere.toml", 1, &["nowhere.toml", "no such file"]);
    fs::write(folder.path().join("broken.toml"), "version = 1\n[method]\nk = \"many\"").unwrap();
    refused("--compare broken.toml", 2, &["broken.toml is not a run description"]);
}

#[test]
fn quantities_that_cannot_be_computed_are_refused_in_one_sentence() {
    let folder = folder();
    let drawn = "render --shape 24x20 --k 4 --at-cycle 1";
    refused(&folder, &format!("{drawn} --tile 24x20 --kind distance -o a.png"), 1, &["one tile"]);
    let large = "render --shape 3000x9 --tile 2500x9 --k 4 --at-cycle 1 --kind inside -o a.png";
    refused(&folder, large, 1, &["too many points"]);
}

#[test]
fn an_animation_carries_its_run_and_plays() {
    let folder = folder();
    let animate = format!("render {SMALL} --animate 0..9:3 --fps 8 --size 300x240");
    tilescope(&folder, &format!("{animate} -o a.apng")).assert().success().stderr("");
    let (run, view) = read_figure(&folder.path().join("a.apng")).unwrap();
    let view = view.unwrap();
    let frames = Frames { first: 0, last: 9, spacing: Spacing::Every(3), rate: 8.0 };
    assert_eq!((run, view.cycle, view.frames), (small(), 9, Some(frames)));
    assert_eq!(open(&folder.path().join("a.apng")).unwrap().run, small());
    let file = std::io::BufReader::new(fs::File::open(folder.path().join("a.apng")).unwrap());
    let png = png::Decoder::new(file).read_info().unwrap();
    assert_eq!(png.info().animation_control().unwrap().num_frames, 4);
    // All frames share one range, which differs from that of the first alone.
    tilescope(&folder, &format!("render {SMALL} --at-cycle 0 --size 300x240 -o b.png"))
        .assert()
        .success();
    fs::rename(folder.path().join("a.apng"), folder.path().join("a.png")).unwrap();
    let [first, still] =
        ["a.png", "b.png"].map(|name| image::open(folder.path().join(name)).unwrap().into_rgba8());
    assert_eq!(first.dimensions(), still.dimensions());
    assert_ne!(first, still);

    for kind in FigureKind::ALL.iter().map(|kind| kind.name()) {
        // These need a second run, a 1D grid, a 3D grid and a matrix.
        if ["side-by-side", "space-time", "slices", "volume", "spy", "row-map"].contains(&kind) {
            continue;
        }
        // No cycle changes these, or they need slabs.
        if ["damping-by-mode", "memory-traffic", "planes", "height", "lanes", "times"]
            .contains(&kind)
        {
            continue;
        }
        let size = match kind {
            "bare-map" => "",
            "probes" => "--size 300x240 --probe 3,4",
            _ => "--size 300x240",
        };
        let options = format!("--animate 0..9:3 --kind {kind} {size} --theme screen");
        tilescope(&folder, &format!("render {SMALL} {options} -o a.gif"))
            .assert()
            .success()
            .stderr("tilescope: a.gif does not carry its run; an .apng does\n");
        let file = fs::File::open(folder.path().join("a.gif")).unwrap();
        let mut gif = gif::DecodeOptions::new().read_info(file).unwrap();
        let mut delays = Vec::new();
        while let Some(frame) = gif.read_next_frame().unwrap() {
            delays.push(frame.delay);
        }
        assert_eq!(delays, [8, 9, 8, 8], "{kind}: four frames, a third of a second");
    }
    // A space-time diagram fills from the top; all frames have the same size.
    refused(
        &folder,
        "render --tile 600 --shape 700x9 --at-cycle 1 --kind mean-tile -o b.png",
        1,
        &["tiles of this run are too large", "at most 512 points"],
    );
    tilescope(&folder, "render --shape 40 --tile 8 --at-cycle 3 --kind mean-tile -o b.svg")
        .assert()
        .success();
    tilescope(&folder, "render --shape 40 --tile 8 --animate 1..64:log --bare -o line.gif")
        .assert()
        .success();
}

#[test]
fn a_shape_that_no_machine_can_address_does_not_fit() {
    let parts = ["shape 9000000000 × 9000000000", "address"];
    refused(&folder(), "solve --shape 9000000000x9000000000", 1, &parts);
}

#[test]
fn what_has_no_frequencies_is_refused_in_a_sentence() {
    let folder = folder();
    for (options, parts) in [
        ("--matrix poisson-16x16 --tile 8 --k 2", &["frequencies cannot be drawn", "no grid"]),
        ("--shape 4096x2048", &["the grid is", "at most 4,194,304 points"]),
    ] {
        let drawn = format!("render {options} --at-cycle 1 --kind frequencies -o a.png");
        refused(&folder, &drawn, 2, parts);
    }
    for options in ["--problem convection-diffusion --shape 64x64", "--matrix poisson-16x16"] {
        let drawn = format!("render {options} --tile 8 --k 4 --at-cycle 1 --kind damping-by-mode");
        let reason = "constant weights, symmetric along each axis";
        refused(&folder, &format!("{drawn} -o a.png"), 2, &[reason]);
    }
    // In 3D modes have as many half waves along all axes.
    let cube = "--shape 8x8x8 --tile 4 --k 3 --at-cycle 1 --kind damping-by-mode";
    tilescope(&folder, &format!("render {cube} -o a.png")).assert().success().stderr("");
}

#[test]
fn what_is_drawn_of_a_3d_grid_is_refused_for_others_and_can_be_drawn_again() {
    let folder = folder();
    let grid = "--shape 12x10x8 --tile 4 --k 4 --max-cycles 3 --tol none";
    let options = "--kind slices --through 3,9,1 --borders --size 500x300";
    tilescope(&folder, &format!("render {grid} {options} -o a.png")).assert().success().stderr("");
    let (run, view) = read_figure(&folder.path().join("a.png")).unwrap();
    let view = view.unwrap();
    assert_eq!((view.kind, view.through), (FigureKind::SLICES, Some([3, 9, 1])));
    let again = figure_command(&run, &view, Path::new("b.png"));
    tilescope(&folder, again.strip_prefix("tilescope ").unwrap()).assert().success();
    let [first, second] =
        ["a.png", "b.png"].map(|name| image::open(folder.path().join(name)).unwrap().into_rgba8());
    assert_eq!(first, second);
    let options = "--kind volume --azimuth -120 --elevation 40 --size 400x300";
    tilescope(&folder, &format!("render {grid} {options} -o v.png")).assert().success().stderr("");
    let view = read_figure(&folder.path().join("v.png")).unwrap().1.unwrap();
    assert_eq!((view.camera.azimuth, view.camera.elevation, view.camera.zoom), (-120.0, 40.0, 1.0));
    let steep = format!("render {grid} --kind volume --elevation 91 -o c.png");
    refused(&folder, &steep, 2, &["the elevation is 91; it must be -90 to 90"]);
    let flat = format!("render {SMALL} --kind volume -o c.png");
    refused(&folder, &flat, 2, &["volume cannot be drawn for this run", "only a 3D grid"]);
    let flat = format!("render {SMALL} --kind slices -o c.png");
    refused(&folder, &flat, 2, &["slices cannot be drawn for this run", "only a 3D grid"]);
    let outside = format!("render {grid} --kind slices --through 3,10,1 -o c.png");
    refused(&folder, &outside, 2, &["through is 3,10,1; points are 0,0,0 to 11,9,7"]);
    let unused = format!("render {grid} --through 3,9,1 -o c.png");
    refused(&folder, &unused, 2, &["--through has no effect on heat-map"]);
}

/// The search path with a program called ffmpeg that does this.
#[cfg(unix)]
fn ffmpeg(folder: &TempDir, script: &str) -> std::ffi::OsString {
    use std::os::unix::fs::PermissionsExt;
    let place = folder.path().join("bin");
    fs::create_dir_all(&place).unwrap();
    fs::write(place.join("ffmpeg"), format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(place.join("ffmpeg"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths([place].into_iter().chain(std::env::split_paths(&path))).unwrap()
}

#[cfg(unix)]
#[test]
fn a_video_is_made_by_ffmpeg_whole_or_not_at_all() {
    let folder = folder();
    let animate = format!("render {SMALL} --animate 0..4 --size 101x99 -o a.mp4");
    // This one copies its input to the file named last.
    let path = ffmpeg(&folder, r#"[ "$1" = -version ] && exit; for out; do :; done; cat > "$out""#);
    tilescope(&folder, &animate)
        .env("PATH", path)
        .assert()
        .success()
        .stderr("tilescope: a.mp4 does not carry its run; an .apng does\n");
    assert_eq!(fs::metadata(folder.path().join("a.mp4")).unwrap().len(), 5 * 101 * 99 * 3);
    fs::remove_file(folder.path().join("a.mp4")).unwrap();

    let path = ffmpeg(&folder, r#"[ "$1" = -version ] && exit; echo "no encoder" >&2; exit 1"#);
    let said = "tilescope: ffmpeg could not create a.mp4: no encoder\n";
    tilescope(&folder, &animate).env("PATH", path).assert().code(1).stderr(said);
    let path = ffmpeg(&folder, r#"[ "$1" = -version ] && exit; exit 1"#);
    let said = "tilescope: ffmpeg could not create a.mp4: it ended without a message\n";
    tilescope(&folder, &animate).env("PATH", path).assert().code(1).stderr(said);
    for (script, why) in [("exit 1", "does not work"), ("exec sleep 1000", "does not answer")] {
        let said =
            format!("tilescope: .mp4 files need ffmpeg, which {why}; .apng and .gif do not\n");
        let path = ffmpeg(&folder, script);
        tilescope(&folder, &animate).env("PATH", path).assert().code(1).stderr(said);
    }
    let none = ".mp4 files need ffmpeg, which is not installed; .apng and .gif do not";
    let none = format!("tilescope: {none}\n");
    tilescope(&folder, &animate).env("PATH", "").assert().code(1).stderr(none);
    assert_eq!(files(&folder), ["bin"]);
}

#[test]
fn a_run_for_which_gpus_were_chosen_says_that_it_uses_the_cpu() {
    let folder = folder();
    for (devices, is_said) in [
        ("--devices 0,1 --exchange nccl", true),
        ("--devices all", true),
        ("--devices 0", true),
        ("", false),
    ] {
        let run = format!("solve {SMALL} --tol none --max-cycles 1 {devices}");
        let output = tilescope(&folder, &run).env("CUDA_VISIBLE_DEVICES", "").output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{said}");
        let is_note = said.starts_with("tilescope: the run uses the CPU: ");
        assert_eq!((is_note, said.lines().count()), (is_said, usize::from(is_said)), "{said}");
    }
}

#[test]
fn invalid_animations_are_refused() {
    let folder = folder();
    for (arguments, parts) in [
        ("--animate 400..0:8 -o a.gif", &["400..0", "reversed", "0..400"][..]),
        ("--animate 0..400:0 -o a.gif", &["step", "at least 1"]),
        ("--animate 0..99999 -o a.gif", &["number of frames is 100000", "1 to 2000"]),
        ("--animate often -o a.gif", &["'often'", "--animate", "0..400:8"]),
        (
            "--animate 0..1999 --size 16384x16384 -o a.gif",
            &["the animation is 2,000 frames of 16384 × 16384 pixels", "at most 20 billion"],
        ),
        ("--animate 0..9 --fps 0 -o a.gif", &["frame rate is 0", "0.1 to 60"]),
        ("--animate 0..9 -o a.svg", &["a.svg is none of .apng, .png, .gif and .mp4"]),
        ("--animate 0..9 -o a", &["none of .apng"]),
        ("--animate 0..9 --theme transparent -o a.gif", &["without a background", ".apng"]),
        ("--animate 0..9 --at-cycle 4 -o a.gif", &["--animate", "--at-cycle"]),
        ("--fps 9 -o a.png", &["--animate"]),
        (
            "--animate 0..100 --max-cycles 40 -o a.gif",
            &["--animate goes to 100", "--max-cycles 40"],
        ),
        ("-o a.gif", &["a.gif is an animation", "--animate 0..400:8"]),
    ] {
        refused(&folder, &format!("render {SMALL} {arguments}"), 2, parts);
    }
    let nowhere = "--animate 0..9 -o no/such/a.gif";
    refused(&folder, &format!("render {SMALL} {nowhere}"), 1, &["no/such/a.gif", "no such file"]);
}

#[test]
fn a_figure_for_print_has_the_requested_size() {
    let folder = folder();
    let drawn = format!("render {SMALL} --at-cycle 2 --size 8x6cm --font-size 8 --no-annotations");
    tilescope(&folder, &format!("{drawn} -o a.png")).assert().success().stderr("");
    tilescope(&folder, &format!("{drawn} -o a.svg")).assert().success().stderr("");
    let picture = image::open(folder.path().join("a.png")).unwrap();
    assert_eq!((picture.width(), picture.height()), (945, 709), "300 pixels per inch");
    let file = std::io::BufReader::new(fs::File::open(folder.path().join("a.png")).unwrap());
    let png = png::Decoder::new(file).read_info().unwrap();
    assert_eq!(png.info().pixel_dims.unwrap().xppu, 11_811, "pixels a metre");
    let svg = fs::read_to_string(folder.path().join("a.svg")).unwrap();
    assert!(svg.contains("width=\"3.1500in\"") && !svg.contains("Residual after"), "{svg:.300}");
    let (_, view) = read_figure(&folder.path().join("a.svg")).unwrap();
    let figure = view.unwrap().figure;
    assert_eq!((figure.dpi, figure.font, figure.annotations), (300.0, Some(8.0), false));
}

#[test]
fn a_cycle_after_the_end_of_the_run_can_be_drawn() {
    let folder = folder();
    tilescope(&folder, &format!("render {SMALL} --tol 0.5 --at-cycle 30 --bare -o a.png"))
        .assert()
        .success();
    let (run, view) = read_figure(&folder.path().join("a.png")).unwrap();
    assert_eq!((run.stop.tolerance, view.unwrap().cycle), (Some(0.5), 30));
    // But for cycles beyond the rounding limit, which would change nothing.
    let rest = "render --shape 16x16 --tile 8 --kind curves --until 900000000 -o r.csv --at-cycle";
    let said = tilescope(&folder, &format!("{rest} 800000000")).output().unwrap();
    let why = String::from_utf8(said.stderr).unwrap();
    assert!(said.status.success() && why.starts_with("tilescope: the run ends after "), "{why}");
    assert!(
        why.ends_with("at the rounding limit; its last cycle is drawn in place of 800,000,000\n")
    );
    refused(
        &folder,
        "render --shape 16x16 --kind curves --at-cycle 2 --until 100 --max-cycles 5 -o u.csv",
        2,
        &["--until is 100, but the run ends at --max-cycles 5"],
    );
    // A run file ends its run at its limit; a figure may show a later cycle, and is drawn again there.
    let limited = format!("render {SMALL} --max-cycles 4 --at-cycle 3 --bare -o limited.png");
    tilescope(&folder, &limited).assert().success();
    tilescope(&folder, "render --run limited.png --at-cycle 5 --bare -o b.png").assert().success();
    let mut run = small();
    run.stop.max_cycles = 4;
    save_run(&folder.path().join("limited.toml"), &run).unwrap();
    let later = "render --run limited.toml --bare -o c.png --at-cycle";
    tilescope(&folder, &format!("{later} 4")).assert().success();
    refused(
        &folder,
        &format!("{later} 5"),
        2,
        &["--at-cycle is 5", "max_cycles = 4 of limited.toml"],
    );
}

#[test]
fn a_right_hand_side_sets_the_shape_and_moves_with_its_run() {
    let folder = folder();
    write_npy(&folder.path().join("b.npy"), &[12, 16], &[1.0; 192]);
    let said = json(&folder, "--rhs b.npy --tile 8");
    assert_eq!(
        (&said["problem"], &said["shape"]),
        (&"picture".into(), &serde_json::json!([16, 12]))
    );
    tilescope(&folder, "render --rhs b.npy --tile 8 --at-cycle 2 --bare -o a.png")
        .assert()
        .success();
    let moved = folder.path().join("moved");
    fs::create_dir(&moved).unwrap();
    for name in ["a.png", "b.npy"] {
        fs::rename(folder.path().join(name), moved.join(name)).unwrap();
    }
    let said = json(&folder, "--run moved/a.png --tol none --max-cycles 1");
    assert_eq!(said["shape"], serde_json::json!([16, 12]));
}

#[test]
fn without_a_display_the_default_experiment_is_drawn() {
    let folder = folder();
    tilescope(&folder, "")
        .assert()
        .success()
        .stderr(predicate::str::starts_with("tilescope: "))
        .stderr(predicate::str::contains("drawing the default experiment to tilescope-out/"))
        .stdout(predicate::str::contains("heat-map.png"));
    let out = folder.path().join("tilescope-out");
    for name in ["heat-map.png", "heat-map-overlap-4.png", "curves.png", "curve.csv", "run.toml"] {
        assert!(fs::metadata(out.join(name)).unwrap().len() > 0, "{name}");
    }
    for name in ["heat-map.png", "curves.png", "run.toml"] {
        assert_eq!(open(&out.join(name)).unwrap().run, RunSpec::default(), "{name}");
    }
    assert!(fs::read_to_string(out.join("curve.csv")).unwrap().lines().count() > 100);
    fs::remove_dir_all(&out).unwrap();
    fs::write(&out, "").unwrap();
    let said = "cannot write tilescope-out: there is a file of this name";
    tilescope(&folder, "").assert().code(1).stderr(predicate::str::contains(said));
}

#[test]
fn help_is_complete() {
    let folder = folder();
    for (arguments, parts) in [
        ("--help", &["solve", "render", "open", "Examples:", "Exit codes"][..]),
        ("solve --help", &["--save-field", "--stencil", "paper-1d-batch", "Examples:"]),
        ("render --help", &["--at-cycle", "--bare", "staleness", "red-blue", "Examples:"]),
        ("open --help", &["FILE", "Examples:"]),
        ("--version", &["tilescope 0."]),
    ] {
        let assert = tilescope(&folder, arguments).assert().success().stderr("");
        for part in parts {
            let said = String::from_utf8_lossy(&assert.get_output().stdout).into_owned();
            assert!(said.contains(part), "{arguments}: {part}");
        }
    }
}

/// Names of earlier versions are in scripts and in saved command lines. They still work; help does not
/// show them.
#[test]
fn earlier_names_of_subcommands_and_options_still_work() {
    let folder = folder();
    for (arguments, help, earlier) in [
        (
            "bench ladder --backend cpu --shape 16 --tile 8 --k 2 --overlap 0 --repeats 1",
            "bench --help",
            "ladder",
        ),
        (
            "bench kernels --backend cpu --shape 16 --copies 2 --tile 8 --k 2 --overlap 0 --repeats 1",
            "bench kernels --help",
            "--copies",
        ),
        (
            "solve --shape 16 --copies 2 --tile 8 --k 2 --tol none --max-cycles 2",
            "solve --help",
            "--copies",
        ),
        (
            "solve --preset paper-1d-copies --shape 16 --tile 8 --k 2 --tol none --max-cycles 2",
            "solve --help",
            "1d-copies",
        ),
        (
            "solve --shape 16 --tile 8 --k 2 --stop change --tol 0.5 --max-cycles 2000",
            "solve --help",
            "- change:",
        ),
    ] {
        tilescope(&folder, arguments).assert().success();
        let hidden = predicate::str::contains(earlier).not();
        tilescope(&folder, help).assert().success().stdout(hidden);
    }
}

// Errors.

#[test]
fn invalid_values_are_refused_with_the_allowed_ones() {
    let folder = folder();
    let cases: &[(&str, &[&str])] = &[
        ("--overlap 3", &["overlap 3 is odd", "even"]),
        ("--overlap 32", &["overlap 32 is too large for tile 32", "0 to 30"]),
        ("--tile 0", &["tile is 0", "at least 1"]),
        ("--tile 32x16x8", &["tile", "one for each of the 2 axes"]),
        ("--k 0", &["k is 0", "1 to 1000000, or inf"]),
        ("--k 99999999999999999999", &["--k", "1 to 1000000, or inf"]),
        ("--max-cycles 99999999999999999999", &["--max-cycles", "at most 18446744073709551615"]),
        ("--shape 99999999999999999999", &["--shape", "at most 18446744073709551615"]),
        ("--k 2000000", &["k is 2000000", "1 to 1000000, or inf"]),
        ("--k -3", &["'-3'", "--k", "whole number"]),
        ("--k many", &["'many'", "--k", "whole number"]),
        ("--shape 0", &["shape is 0", "at least 1"]),
        ("--shape 0x5", &["shape is 0", "at least 1"]),
        ("--shape 5x", &["'5x'", "--shape", "256x192"]),
        ("--shape -4x4", &["'-4x4'", "--shape", "256x192"]),
        ("--interface 0,0:0,0", &["interface is 0,0 and 0,0", "two different points"]),
        ("--link 1,1", &["link is 1,1", "simulated devices"]),
        ("--shape 40 --tile 8x8", &["tile is", "it must have one number"]),
        ("--shape 5x5x5x5", &["one for each axis"]),
        ("--shape 5x5 --boundary front=1", &["front of --boundary is 1", "2D grid"]),
        ("--copies 0 --shape 9", &["batch is 0", "at least 1"]),
        ("--batch 2", &["batch is 2", "only a 1D grid"]),
        ("--tol -1", &["--tol is -1", "positive"]),
        ("--tol 0", &["--tol is 0", "positive"]),
        ("--tol NaN", &["--tol is NaN", "positive"]),
        ("--tol small", &["'small'", "--tol", "number"]),
        ("--threads 5000", &["threads is 5000", "at most 1024"]),
        ("--stencil d=0,a=-1,c=-1", &["d of --stencil is 0", "not be zero"]),
        ("--stencil d=4,a=nan,c=-1", &["a of --stencil is NaN", "finite"]),
        ("--stencil d=4", &["--stencil", "d, a and c are required"]),
        ("--shape 9 --stencil d=4,a=-1,c=-1,e=-1", &["e of --stencil is -1", "1D grid"]),
        ("--boundary left=inf", &["left of --boundary is inf", "finite"]),
        ("--boundary up=1", &["up is not a side", "left, right, top, bottom, front and back"]),
        ("--shape 9 --boundary top=1", &["top of --boundary is 1", "1D grid"]),
        ("--problem convection-diffusion --velocity 1,2,3", &["velocity is 1,2,3", "2D"]),
        ("--velocity 1,2", &["velocity is given with problem poisson", "convection-diffusion"]),
        ("--velocity 1", &["--velocity", "two numbers"]),
        ("--seed 3", &["seed is given with problem poisson", "random"]),
        ("--problem picture", &["rhs is missing", "needs an image or an .npy array"]),
        ("--problem chess", &["'chess'", "--problem", "poisson", "heat-plate"]),
        ("--preset chess", &["'chess'", "--preset", "paper-2d"]),
        ("--method magic", &["'magic'", "--method", "classic, hierarchical"]),
        ("--precision f16", &["'f16'", "--precision", "f32, f64"]),
        ("--backend abacus", &["'abacus'", "--backend", "cpu, cuda"]),
        ("--kernel shared", &["kernel is shared", "backend cpu", "backend cuda"]),
        (
            "--backend cuda --kernel classic",
            &[
                "kernel is classic",
                "method hierarchical",
                "auto, fastest, spectral, register, shared",
            ],
        ),
        (
            "--backend cuda --method classic --kernel register",
            &["kernel is register", "method classic", "auto, fused, classic"],
        ),
        ("--backend cuda --devices 0,0", &["devices is 0,0", "it must name each GPU once"]),
        ("--share-by speed", &["--share-by has no effect without several GPUs", "--devices"]),
        (
            "--devices 0,1 --exchange-every 2 --share-by speed",
            &["--share-by is speed", "the iterate depends on the shares", "points"],
        ),
        (
            "--devices 0,1 --share-by speed --matrix heat-1d-500 --tile 32",
            &["--share-by is speed", "blocks of a matrix are shared out by their entries"],
        ),
        (
            "--devices 0,1 --share-by speed --shape 64 --batch 8",
            &["--share-by is speed", "lines of a batch are shared out evenly"],
        ),
        ("--devices 0,1 --share-by hope", &["'hope'", "--share-by", "points, speed"]),
        ("--devices two", &["'two'", "--devices", "such as 0 or 0,1, or all"]),
        ("--method classic --k 8", &["--k has no effect on method classic", "hierarchical"]),
        ("--methd classic", &["--methd", "--method"]),
        ("--k", &["--k"]),
        ("--k 1 --k 2", &["--k", "multiple times"]),
        ("--simulate-devices 2 --link -1,3", &["link is -1,3", "at least 0"]),
        ("--simulate-devices 2 --link 1", &["--link", "with a comma"]),
        ("--simulate-devices 1 --link 1,2", &["--link has no effect on one device"]),
        ("--simulate-devices 1 --exchange-every 4", &["--exchange-every has no effect on one"]),
        (
            "--simulate-devices 2 --method classic --block-size 64",
            &["--block-size is 64", "with simulated devices it must be left out"],
        ),
        ("--problem heat-plate --hot-box front=0.2", &["front of --hot-box is 0.2", "a 2D grid"]),
        (
            "--problem heat-plate --shape 99 --hot-box top=0.2",
            &["top of --hot-box is 0.2", "a 1D grid"],
        ),
        ("--jump 1e300", &["jump is 1e300", "1e-12 to 1e12"]),
        ("--tol -1e300", &["--tol is -1e300", "positive"]),
        ("--initial=", &["--initial", "a number, or the name of an .npy array"]),
        ("--devices -1", &["--devices", "numbers of GPUs"]),
    ];
    for (arguments, parts) in cases {
        refused(&folder, &format!("solve {arguments}"), 2, parts);
        refused(&folder, &format!("render -o a.png {arguments}"), 2, parts);
    }
    refused(&folder, "solv", 2, &["'solv'", "'solve'"]);
    refused(&folder, "render", 2, &["--output"]);
    let endings = ["-o is a.jpg;", ".png, .svg or .pdf", ".csv", "--animate in .apng"];
    refused(&folder, "render -o a.jpg", 2, &endings);
    let nameless = ["-o is .png, an ending without a name", "such as figure.png"];
    refused(&folder, "render -o .png", 2, &nameless);
    refused(&folder, "sweep --plot .svg -o s.csv", 2, &["--plot is .svg, an ending without"]);
    refused(&folder, "sweep -o .csv", 2, &["-o is .csv, an ending without a name"]);
    refused(&folder, "render --size 9x9 -o a.png", 2, &["'9x9'", "64 to 16384"]);
    refused(&folder, "render --bare --size 99x99 -o a.png", 2, &["--bare", "--size"]);
    refused(&folder, "render --bare --kind curves -o a.png", 2, &["--bare"]);
    let mut limited = small();
    limited.stop.max_cycles = 40;
    save_run(&folder.path().join("40.toml"), &limited).unwrap();
    for (arguments, parts) in [
        ("--kind movie", &["'movie'", "--kind", "side-by-side, space-time"][..]),
        ("--kind space-time", &["space-time cannot be drawn", "1D"]),
        ("--kind side-by-side", &["side-by-side needs a second run"]),
        ("--probe 3,4", &["--probe has no effect on heat-map", "--kind probes"]),
        ("--kind curves --cut j=3", &["--cut has no effect on curves", "--kind profile"]),
        ("--over sweeps", &["--over has no effect on heat-map", "--kind curves"]),
        ("--inside-shows lag", &["--inside-shows has no effect on heat-map", "--kind inside"]),
        ("--kind inside --follow 9,9", &["--follow is 9,9", "the last tile is 7,7"]),
        ("--kind inside --subiteration 99", &["--subiteration is 99", "has 16"]),
        ("--at-cycle 50 --max-cycles 40", &["--at-cycle is 50", "--max-cycles 40"]),
        ("--at-cycle 50 --run 40.toml", &["--at-cycle is 50", "max_cycles = 40 of 40.toml"]),
        ("--kind profile --cut j=256", &["cut is j=256", "j=0 to j=255"]),
        ("--kind profile --cut i=-1", &["--cut", "j=128"]),
        ("--kind profile --shape 90 --cut i=3", &["cut is i=3", "no columns"]),
        ("--kind profile --cut 0,0:256,3", &["cut is 0,0:256,3", "0,0 to 255,255"]),
        ("--kind profile --cut 0,0:3", &["--cut", "0,0:255,255"]),
        ("--kind profile --shape 90 --cut 0,0:9,0", &["cut is 0,0:9,0", "must be a row"]),
        ("--size 9x9cm --dpi 9000", &["9 × 9 cm at 9000 pixels per inch", "64 to 16384"]),
        ("--dpi 7", &["dpi is 7", "30 to 2400"]),
        ("--font-size 0", &["font size is 0", "3 to 144 points"]),
        ("--range 1,0", &["--range", "reversed"]),
        ("--theme neon", &["'neon'", "--theme", "transparent"]),
        ("--compare", &["--compare"]),
        ("--kind curves --chebyshev -1", &["'-1'", "--chebyshev", "whole number"]),
        ("--kind curves --chebyshev --over seconds", &["--chebyshev has no effect", "not timed"]),
        (
            "--kind curves --conjugate-gradients 9 --norm update",
            &["--conjugate-gradients has no effect on this norm"],
        ),
        ("--kind probes --probe -1,2", &["'-1,2'", "--probe", "40,32"]),
        ("--kind slices --shape 9x9x9 --through -1,0,0", &["'-1,0,0'", "--through"]),
        ("--kind inside --follow -1,0", &["'-1,0'", "--follow"]),
        ("--dpi -1", &["dpi is -1", "30 to 2400"]),
        ("--font-size -1", &["font size is -1", "3 to 144"]),
        ("--kind damping-by-mode --until 9 --at-cycle 1", &["--until has no effect"]),
        // Before the run is made, which would never end.
        (
            "--kind damping-by-mode --jump 5 --tol none --max-cycles 1000000000000",
            &["damping by mode is known where"],
        ),
        (
            "--kind memory-traffic --matrix heat-1d --tol none --max-cycles 1000000000000",
            &["memory-traffic cannot be drawn", "sparse matrices"],
        ),
    ] {
        refused(&folder, &format!("render {arguments} -o a.png"), 2, parts);
    }
    for kind in ["damping-by-mode", "memory-traffic"] {
        let film = format!("render --kind {kind} --animate 0..4 -o a.gif");
        refused(&folder, &film, 2, &["--animate has no effect", kind]);
    }
    refused(&folder, "render --animate -1..4 -o a.gif", 2, &["'-1..4'", "--animate"]);
    refused(&folder, "render --animate 0..4 --fps -1 -o a.gif", 2, &["frame rate is -1"]);
    // Lists are those of the method.
    let mut pyramid = small();
    pyramid.method.set_name(MethodName::Pyramid);
    fs::write(folder.path().join("pyramid.toml"), pyramid.to_toml()).unwrap();
    for (command, parts) in [
        (
            "sweep --run pyramid.toml --k 4 -o s.csv",
            ["--k has no effect on method pyramid", "--height"],
        ),
        (
            "tune --run pyramid.toml --tile 8",
            ["--tile has no effect on method pyramid", "--memory"],
        ),
        ("tune --height 4", ["--height has no effect on method hierarchical", "--overlap"]),
        ("sweep --method classic -o s.csv", ["--method classic", "pyramid or wavefront"]),
    ] {
        refused(&folder, command, 2, &parts);
    }
    refused(&folder, "sweep --jobs -1 -o s.csv", 2, &["'-1'", "--jobs", "whole number"]);
    refused(&folder, "bench", 2, &["kernels, matrices, paper or streaming"]);
    refused(&folder, "bench paper --shrink 0", 2, &["--shrink", "a whole number, 1 to 64"]);
    let bench = "bench matrices --backend cpu --matrix poisson-12x12 --tile 16";
    refused(&folder, &format!("{bench} --k 0 --repeats 1000"), 2, &["k is 0"]);
    refused(&folder, "open", 2, &["<FILE>"]);
    fs::write(folder.path().join("run.toml"), small().to_toml()).unwrap();
    refused(&folder, "open run.toml --run run.toml", 2, &["FILE", "cannot be used with", "--run"]);
    refused(&folder, "open run.toml --overlap 3", 2, &["run.toml cannot", "overlap 3 is odd"]);
    refused(&folder, "open --shape 9x9 --overlap 3", 2, &["overlap 3 is odd"]);
    let bench = "bench streaming --backend cpu --shape 40x30";
    refused(&folder, &format!("{bench} --method classic"), 2, &["--method is classic", "pyramid"]);
    let small = format!("{bench} --method pyramid --memory 2kB");
    refused(&folder, &small, 2, &["memory is 2kB", "at least"]);
    refused(&folder, &format!("{bench} --repeats 0"), 2, &["--repeats", "1 to 1000"]);
    refused(&folder, "sweep --jobs 5000 -o s.csv", 2, &["'5000'", "--jobs", "at most 1024"]);
    let bench = "bench kernels --backend cpu";
    refused(&folder, &format!("{bench} --kernel shared"), 2, &["kernel is shared", "backend cpu"]);
    refused(&folder, &format!("{bench} --overlap 0,3"), 2, &["overlap 3 is odd"]);
    refused(&folder, &format!("{bench} --k 0"), 2, &["k is 0"]);
    refused(&folder, &format!("{bench} --tol 1e-3"), 2, &["--to-tolerance"]);
    refused(&folder, &format!("{bench} --repeats 0"), 2, &["--repeats", "1 to 1000"]);
    refused(&folder, &format!("{bench} -o no/such/r.md"), 1, &["no/such"]);
}

/// What a run file has for another method is the same mistake as the option.
#[test]
fn values_for_another_method_are_refused_in_a_run_file_too() {
    let folder = folder();
    let run = |change: &dyn Fn(&mut RunSpec)| {
        let mut run = small();
        change(&mut run);
        fs::write(folder.path().join("run.toml"), run.to_toml()).unwrap();
    };
    let both = |option: &str, part: &str| {
        refused(&folder, &format!("solve {SMALL} {option}"), 2, &[part]);
        refused(&folder, "solve --run run.toml", 2, &[part]);
        refused(&folder, "open run.toml", 2, &[part]);
    };
    run(&|run| run.method.height = "4".parse().ok());
    both("--height 4", "height is 4 with method hierarchical");
    run(&|run| run.method.memory = "64MB".parse().ok());
    both("--memory 64MB", "memory is 64MB with method hierarchical");
    run(&|run| run.method.block_size = Some(64));
    // A message names the option, or the key of the file.
    refused(&folder, "solve --block-size 64", 2, &["--block-size is 64 with method hierarchical"]);
    refused(&folder, "solve --run run.toml", 2, &["block_size is 64 with method hierarchical"]);
    refused(
        &folder,
        "sweep --exchange-every 2 -o s.csv",
        2,
        &["--exchange-every is 2; it applies"],
    );
    run(&|run| run.problem.initial = Some(InitialGuess::File("".into())));
    refused(&folder, "solve --run run.toml", 2, &["initial is empty", ".npy"]);
}

/// Only where an option is given: what comes from a run file or a preset may be without effect.
#[test]
fn options_without_effect_are_refused() {
    let folder = folder();
    let mut run = small();
    save_run(&folder.path().join("run.toml"), &run).unwrap();
    run.method.backend = Backend::Cuda;
    save_run(&folder.path().join("cuda.toml"), &run).unwrap();
    for (arguments, option, place) in [
        ("render --kind curves --field error -o a.png", "--field", "curves"),
        ("render --kind curves --scale log -o a.png", "--scale", "curves"),
        ("render --kind edge-share --absolute -o a.png", "--absolute", "edge-share"),
        ("render --kind curves --range 0,1 -o a.png", "--range", "curves"),
        ("render --kind inside --map viridis -o a.png", "--map", "inside"),
        ("render --kind curves --slice z=3 -o a.png", "--slice", "curves"),
        ("render --at-cycle 3 --until 9 -o a.png", "--until", "heat-map"),
        ("render --absolute -o a.png", "--absolute", "scale log"),
        ("render --kind frequencies --borders -o a.png", "--borders", "frequencies"),
        ("render --kind damping-by-mode --field error -o a.png", "--field", "damping-by-mode"),
        ("render --kind speedup --asymptotic-rate -o a.png", "--asymptotic-rate", "speedup"),
        ("render --kind profile --map viridis -o a.png", "--map", "profile"),
        ("render --kind probes --probe 1,1 --slice z=3 -o a.png", "--slice", "probes"),
        ("render --kind distance --map viridis -o a.png", "--map", "distance"),
        ("render --kind distance --scale linear --absolute -o a.png", "--absolute", "distance"),
        ("render --kind mean-tile --scale linear --absolute -o a.png", "--absolute", "mean-tile"),
        ("render --kind mean-tile --shape 9x9x9 --slice z=3 -o a.png", "--slice", "mean-tile"),
        ("render --kind probes --probe 1,1 --map viridis -o a.png", "--map", "probes"),
        ("render --kind probes --probe 1,1 --range 0,1 -o a.png", "--range", "probes"),
        ("render --kind volume --shape 9x9x9 --slice z=3 -o a.png", "--slice", "volume"),
        ("render --kind curves --borders -o a.png", "--borders", "curves"),
        ("render --kind edge-share --borders -o a.png", "--borders", "edge-share"),
        ("render --kind distance --borders -o a.png", "--borders", "distance"),
        ("render --bare --borders -o a.png", "--borders", "bare-map"),
        ("render --bare --no-annotations -o a.png", "--no-annotations", "bare-map"),
        ("render --bare --font-size 9 -o a.png", "--font-size", "bare-map"),
        ("render --bare --dpi 90 -o a.png", "--dpi", "bare-map"),
        ("render --bare --theme dark -o a.png", "--theme", "bare-map"),
        ("render --borders -o a.csv", "--borders", "a table"),
        ("render --theme dark -o a.csv", "--theme", "a table"),
        ("render --map viridis -o a.csv", "--map", "a table"),
        (
            "render --compare run.toml --pair sweeps --compare-at 3 -o a.png",
            "--compare-at",
            "--pair",
        ),
        (
            "render --compare run.toml --compare-at 3 --animate 0..9 -o a.gif",
            "--compare-at",
            "fixed",
        ),
        ("solve --backend cuda --threads 2", "--threads", "backend cuda"),
        ("solve --run cuda.toml --threads 2", "--threads", "backend cuda"),
        ("solve --backend cpu --devices 0", "--devices", "backend cpu"),
        ("solve --wave 2 --devices 0", "--devices", "for the CPU"),
        ("solve --tol none --max-cycles 2 --stop update", "--stop", "--tol"),
        ("solve --nodes 3x3", "--nodes", "--matrix"),
        ("solve --coordinates xy.npy", "--coordinates", "--matrix"),
        ("solve --matrix heat-1d --seed 3", "--seed", "--ordering random"),
        ("solve --problem random --initial 2 --seed 3", "--seed", "--initial"),
        ("solve --method classic --tile 8", "--tile", "method classic"),
        ("solve --method classic --overlap 2", "--overlap", "method classic"),
        ("solve --method wavefront --tile 8", "--tile", "method wavefront"),
        ("render --fps 3 -o a.png", "--fps", "--animate"),
        ("render --at-cycle 2 --fps 3 -o a.png", "--fps", "--animate"),
        ("render --scale log --range 0,1 -o a.png", "--range is 0,1", "above 0"),
        ("render --range=-2,-1 -o a.png", "--range is -2,-1", "above 0"),
        ("render --kind probes --probe 5 -o a.png", "--probe is 5", "a 2D grid"),
        ("render --kind probes --probe 1,2,3 -o a.png", "--probe is 1,2,3", "two numbers: I,J"),
        ("sweep --backend cuda --jobs 2 -o s.csv", "--jobs", "backend cuda"),
        ("sweep --measure time --jobs 2 -o s.csv", "--jobs", "--measure cycles"),
        ("bench kernels --backend cuda --threads 2", "--threads", "backend cuda"),
        ("bench kernels --kernel classic --k 4", "--k", "kernel classic"),
        ("bench kernels --kernel classic --tile 8", "--tile", "kernel classic"),
        ("bench matrices --backend cuda --threads 2", "--threads", "backend cuda"),
        ("bench matrices --backend cpu --large graph", "--large", "backend cpu"),
    ] {
        refused(&folder, arguments, 2, &[option, place]);
    }
    // A run may have what it leaves no use for, and tiles are drawn of any method.
    let mut run = small();
    (run.method.backend, run.method.devices) = (Backend::Cpu, vec![1]);
    (run.stop.rule, run.stop.tolerance) = (StopRule::Change, None);
    run.stop.max_cycles = 3;
    save_run(&folder.path().join("spare.toml"), &run).unwrap();
    tilescope(&folder, "solve --run spare.toml").assert().success();
    tilescope(&folder, "solve --run spare.toml --method classic").assert().success();
    let classic =
        "render --shape 24x20 --method classic --tile 8 --overlap 2 --borders --at-cycle 3";
    tilescope(&folder, &format!("{classic} -o a.png")).assert().success().stderr("");
}

/// What a file or its name holds reaches the terminal as text, on stdout as on stderr.
#[cfg(target_os = "linux")]
#[test]
fn what_a_file_says_cannot_act_on_the_terminal() {
    let folder = folder();
    let matrix = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2.0\n2 2 2.0\n";
    fs::write(folder.path().join("m\u{1b}[31m.mtx"), matrix).unwrap();
    let lesson = "+++\ntitle = \"Red\"\n+++\n\n## A step\n\nText.\n\n```tilescope\nshape = [8, 8]\ntile = 4\n\
                  k = 2\ncycles = 1\n```\n\n```expect\nedge\u{1b}[31m_share = 0.1..0.2\ncycles = 1\n```\n";
    fs::write(folder.path().join("red.md"), lesson).unwrap();
    for arguments in ["solve --matrix m\u{1b}[31m.mtx --tile 2 --k 1", "lesson --check red.md"] {
        let output = tilescope(&folder, arguments).output().unwrap();
        let [said, notes] = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
        assert!(!said.is_empty() && !said.contains('\u{1b}'), "{said}");
        assert!(!notes.contains('\u{1b}') && notes.lines().count() <= 1, "{notes}");
        assert!((said + &notes).contains("\\u{1b}[31m"), "{arguments}");
    }
}

/// A run description is text; a file whose name is not has none, and its figure says so.
#[cfg(target_os = "linux")]
#[test]
fn a_figure_of_a_file_without_a_name_in_text_says_that_it_carries_no_run() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = folder();
    let name = OsStr::from_bytes(b"b\xffad.mtx");
    let matrix = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2.0\n2 2 2.0\n";
    fs::write(folder.path().join(name), matrix).unwrap();
    let line = "render --tile 2 --at-cycle 1 --size 200x200 -o bad.svg --matrix";
    let said = tilescope(&folder, line).arg(name).assert().success().get_output().stderr.clone();
    let said = String::from_utf8(said).unwrap();
    assert!(said.contains("bad.svg carries no run: the name of b"), "{said}");
    let said = predicate::str::contains("bad.svg carries no run");
    tilescope(&folder, "solve --run bad.svg").assert().code(1).stderr(said);
}

#[test]
fn a_word_that_acts_on_the_terminal_is_quoted_as_it_was_written() {
    let folder = folder();
    for (words, quoted) in [
        (&["\u{1b}[31msolve"][..], "'\\u{1b}[31msolve'"),
        (&["solve", "--shape", "\u{1b}[31m4x4"], "'\\u{1b}[31m4x4'"),
    ] {
        let output = tilescope(&folder, "").args(words).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{said}");
        assert!(said.contains(quoted), "{said}");
    }
}

/// A folder in which no file can be created is found before the run, which would not end.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_takes_no_file_is_refused_before_the_run() {
    let folder = folder();
    let endless = "--tol none --max-cycles 1000000000000";
    for line in [
        format!("solve {endless} --save-field /proc/u.npy"),
        format!("render {endless} -o /proc/a.png"),
    ] {
        refused(&folder, &line, 1, &["cannot write /proc/"]);
    }
}

/// A line end in the name of a matrix is not one of the summary, and JSON stays JSON.
#[cfg(unix)]
#[test]
fn the_name_of_a_matrix_stays_on_its_line() {
    let folder = folder();
    let matrix = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2.0\n2 2 2.0\n";
    let name = "a\n\u{200d}b.mtx";
    fs::write(folder.path().join(name), matrix).unwrap();
    let solve = |options: &str| {
        let line = format!("solve --tile 2 {options} --matrix");
        let output = tilescope(&folder, &line).arg(name).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let summary = solve("");
    assert!(summary.lines().next().unwrap().contains("a\\n\\u{200d}b"), "{summary}");
    let object: Value = serde_json::from_str(&solve("--json")).unwrap();
    assert_eq!(object["matrix"]["name"], name);
}

#[test]
fn a_shape_that_cannot_fit_is_refused_with_its_size() {
    let folder = folder();
    for (shape, code, parts) in [
        ("1000000000x1000000000", 1, ["3.2×10¹⁹ bytes", "for 4 arrays of f64", "address"]),
        ("1000000000000000000", 1, ["3.2×10¹⁹ bytes", "for 4 arrays of f64", "address"]),
        ("100000000x100000000", 1, ["needs", "160 PB", "free"]),
    ] {
        refused(&folder, &format!("solve --shape {shape}"), code, &parts);
        refused(&folder, &format!("solve --shape {shape} --tile 1"), code, &parts);
        refused(&folder, &format!("render --shape {shape} -o a.png"), code, &parts);
    }
}

#[test]
fn arrays_that_do_not_fit_are_refused() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    write_npy(&path("nan.npy"), &[2, 3], &[1.0, 2.0, 3.0, 4.0, f64::NAN, 6.0]);
    write_npy(&path("other.npy"), &[2, 3], &[1.0; 6]);
    write_npy(&path("four.npy"), &[2, 3, 2, 1], &[1.0; 12]);
    let header = "{'descr': '<M8[s]', 'fortran_order': False, 'shape': (2,), }";
    let header = format!("{header:<117}\n");
    let dates = [&b"\x93NUMPY\x01\x00\x76\x00"[..], header.as_bytes(), &[0; 16]].concat();
    fs::write(path("dates.npy"), dates).unwrap();
    let whole = fs::read(path("other.npy")).unwrap();
    fs::write(path("short.npy"), &whole[..whole.len() - 9]).unwrap();
    fs::write(path("header.npy"), &whole[..20]).unwrap();
    fs::write(path("text.npy"), "1 2 3").unwrap();
    fs::write(path("empty.npy"), "").unwrap();
    image::RgbaImage::new(30, 20).save(path("whole.png")).unwrap();
    let picture = fs::read(path("whole.png")).unwrap();
    fs::write(path("cut.png"), &picture[..picture.len() - 20]).unwrap();
    for (arguments, parts) in [
        ("--rhs nan.npy", &["nan.npy", "NaN at row 1, column 1", "finite"][..]),
        ("--rhs other.npy --shape 4x4", &["other.npy", "shape", "4 × 4"]),
        ("--rhs four.npy", &["four.npy", "[2, 3, 2, 1]", "[nz, ny, nx]"]),
        ("--rhs dates.npy", &["dates.npy", "M8[s]", "floating-point numbers"]),
        ("--rhs short.npy", &["short.npy", "ends before its last value"]),
        ("--rhs header.npy", &["header.npy", "header"]),
        ("--rhs text.npy", &["text.npy", "neither a NumPy array"]),
        ("--rhs empty.npy", &["empty.npy", "neither a NumPy array"]),
        ("--rhs none.npy", &["none.npy", "cannot be read"]),
        ("--rhs .", &["cannot be read"]),
        ("--rhs cut.png", &["cut.png", "cannot be read"]),
    ] {
        refused(&folder, &format!("solve {arguments}"), 1, parts);
        refused(&folder, &format!("render {arguments} -o a.png"), 1, parts);
    }
}

#[test]
fn files_without_a_run_are_refused() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let whole = RunSpec::default().to_toml();
    let write = |name: &str, text: &str| fs::write(path(name), text).unwrap();
    write("unknown.toml", &format!("{whole}\n[speed]\nfast = true\n"));
    write("key.toml", &whole.replace("overlap", "overlapp"));
    write("newer.toml", "version = 11\nwhatever = \"this is\"\n");
    write("type.toml", &whole.replace("k = 16", "k = \"many\""));
    write("negative.toml", &whole.replace("k = 16", "k = -1"));
    write("cut.toml", &whole[..whole.find("k = 16").unwrap() + 3]);
    write("empty.toml", "");
    write("odd.toml", &whole.replace("overlap = [0]", "overlap = [3]"));
    fs::write(path("binary.toml"), [0xff, 0xfe, 0]).unwrap();
    // Text from a file does not reach the terminal as it is.
    write("escape.toml", &whole.replace("k = 16", "\"\\u001b[31mred\" = 16"));
    write("film.gif", "GIF89a");
    tilescope(&folder, &format!("render {SMALL} --at-cycle 1 --bare -o whole.png"))
        .assert()
        .success();
    let picture = fs::read(path("whole.png")).unwrap();
    fs::write(path("cut.png"), &picture[..60]).unwrap();
    let mut damaged = picture.clone();
    let keyword = picture.windows(9).position(|window| window == b"tilescope").unwrap();
    damaged[keyword + 20] ^= 0x55;
    fs::write(path("damaged.png"), &damaged).unwrap();
    fs::write(path("damaged.apng"), &damaged).unwrap();
    for name in ["damaged.svg", "damaged.pdf"] {
        tilescope(&folder, &format!("render {SMALL} --at-cycle 1 -o {name}")).assert().success();
        let mut bytes = fs::read(path(name)).unwrap();
        for tag in [&b"<t:tilescope>"[..], b"</t:tilescope>"] {
            let at = bytes.windows(tag.len()).position(|window| window == tag).unwrap();
            bytes[at + tag.len() - 2] = b'x';
        }
        fs::write(path(name), bytes).unwrap();
    }
    image::RgbaImage::new(3, 2).save(path("foreign.png")).unwrap();
    write("foreign.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"/>");
    write("cut.svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    write("foreign.pdf", "%PDF-1.7\n%%EOF\n");
    write("text.pdf", "text");
    for (name, parts) in [
        ("newer.toml", &["newer.toml", "version 11", "up to 10"][..]),
        ("damaged.png", &["the run that damaged.png carries is damaged"]),
        ("damaged.apng", &["the run that damaged.apng carries is damaged"]),
        ("damaged.svg", &["the run that damaged.svg carries is damaged"]),
        ("damaged.pdf", &["the run that damaged.pdf carries is damaged"]),
        ("film.gif", &["film.gif cannot be opened as a run", ".apng"]),
        ("cut.toml", &["cut.toml", "line"]),
        ("empty.toml", &["empty.toml", "version"]),
        ("binary.toml", &["binary.toml", "not a text file"]),
        ("none.toml", &["none.toml", "no such file"]),
        (".", &["it is a folder"]),
        ("cut.png", &["cut.png", "damaged or incomplete"]),
        ("foreign.png", &["foreign.png", "carries no run"]),
        ("foreign.svg", &["foreign.svg", "carries no run"]),
        ("cut.svg", &["cut.svg", "not an SVG figure"]),
        ("foreign.pdf", &["foreign.pdf", "carries no run"]),
        ("text.pdf", &["text.pdf", "not a PDF figure"]),
    ] {
        refused(&folder, &format!("open {name}"), 1, parts);
        refused(&folder, &format!("solve --run {name}"), 1, parts);
    }
    // The same mistake has the same code, wherever it is made: a key or a value that is refused is not damage.
    for (name, parts) in [
        ("unknown.toml", &["unknown.toml", "speed"][..]),
        ("key.toml", &["key.toml", "overlapp", "overlap"]),
        ("type.toml", &["type.toml", "k = \"many\"", "line", "it must be a whole number"]),
        ("negative.toml", &["negative.toml", "k = -1", "line", "it must be a whole number"]),
        ("escape.toml", &["escape.toml", "\\u{1b}[31mred"]),
    ] {
        refused(&folder, &format!("open {name}"), 2, parts);
        refused(&folder, &format!("solve --run {name}"), 2, parts);
        refused(&folder, &format!("render --run {name} -o a.png"), 2, parts);
    }
    refused(&folder, "open odd.toml", 2, &["odd.toml cannot be run", "overlap 3 is odd"]);
    refused(&folder, "solve --run odd.toml", 2, &["overlap 3 is odd"]);
}

#[test]
fn paths_that_cannot_be_written_are_refused_before_the_run() {
    let folder = folder();
    fs::write(folder.path().join("file"), "").unwrap();
    // The run would not end if it began.
    let endless = "--tol none --max-cycles 1000000000000";
    for (place, why) in [
        ("nowhere/a", "no such file or folder"),
        ("file/a", "not a folder"),
        ("nowhere/deep/er/a", "no such file or folder"),
    ] {
        for command in ["render -o .png", "solve --save-field .npy", "solve --save-curve .csv"] {
            let command = format!("{} {endless}", command.replace(" .", &format!(" {place}.")));
            refused(&folder, &command, 1, &[place, why]);
        }
    }
    refused(&folder, &format!("solve {endless} --save-field ."), 1, &["it is a folder"]);
}

#[test]
fn no_output_replaces_an_input_or_another_output() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    // The run would not end if it began.
    let endless = "--tol none --max-cycles 1000000000000";
    save_run(&path("run.toml"), &small()).unwrap();
    write_npy(&path("b.npy"), &[4, 4], &[1.0; 16]);
    image::GrayImage::new(4, 4).save(path("photo.png")).unwrap();
    let mut beside = small();
    (beside.problem.kind, beside.problem.shape) = (ProblemKind::Picture, vec![4, 4]);
    (beside.problem.rhs, beside.method.tile) = (Some(path("photo.png")), vec![4]);
    save_run(&path("beside.toml"), &beside).unwrap();
    for (command, parts) in [
        ("solve --rhs b.npy --save-field b.npy", ["--save-field b.npy", "--rhs"]),
        ("solve --rhs b.npy --save-field ./b.npy", ["--save-field ./b.npy", "--rhs"]),
        ("solve --rhs photo.png --save-curve photo.png", ["--save-curve is photo.png", ".csv"]),
        ("solve --run run.toml --save-field run.toml", ["--save-field is run.toml", ".npy"]),
        ("solve --save-field s.npy --save-curve s.npy", ["--save-curve is s.npy", ".csv"]),
        ("solve --save-field s --save-curve s.csv", ["--save-field is s;", ".npy"]),
        ("render --rhs photo.png -o photo.png", ["-o photo.png", "--rhs"]),
        ("sweep -o same.svg --plot same.svg", ["-o is same.svg", ".csv"]),
        ("sweep --rhs photo.png -o s.csv --plot photo.png", ["--plot photo.png", "--rhs"]),
        ("render --compare beside.toml -o photo.png", ["-o photo.png", "a run of --compare"]),
        ("bench kernels -o photo.png", ["-o is photo.png", ".md"]),
        ("bench matrices -o photo.png", ["-o is photo.png", ".md"]),
        ("bench paper -o photo.png", ["-o is photo.png", ".md"]),
    ] {
        let before = fs::read(path("photo.png")).unwrap();
        let endless = match command.split(' ').next() {
            Some("bench") => "",
            Some("sweep") => "--tol 1e-300",
            _ => endless,
        };
        refused(&folder, &format!("{command} {endless}"), 2, &parts);
        assert_eq!(fs::read(path("photo.png")).unwrap(), before);
    }
    #[cfg(unix)]
    for link in ["soft.npy", "hard.npy"] {
        match link {
            "soft.npy" => std::os::unix::fs::symlink(path("b.npy"), path(link)).unwrap(),
            _ => fs::hard_link(path("b.npy"), path(link)).unwrap(),
        }
        let command = format!("solve --rhs b.npy --save-field {link} {endless}");
        refused(&folder, &command, 2, &[link, "is also the file of --rhs"]);
    }
    let matrix = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2.0\n2 2 2.0\n";
    fs::write(path("m.mtx"), matrix).unwrap();
    #[cfg(unix)]
    for (link, file, command, option) in [
        ("r.png", "run.toml", "render --run run.toml -o r.png", "--run"),
        ("c.png", "beside.toml", "render --compare beside.toml -o c.png", "--compare"),
        ("m.md", "m.mtx", "bench matrices --backend cpu --matrix m.mtx -o m.md", "--matrix"),
    ] {
        std::os::unix::fs::symlink(path(file), path(link)).unwrap();
        let named = format!("is also the file of {option}");
        refused(&folder, command, 2, &[link, &named]);
    }
    // A link to a file that is to be made, and a figure that would become one of another format.
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("t.csv", path("t.svg")).unwrap();
        let sweep = "sweep --tol 1e-300 -o t.csv --plot t.svg";
        refused(&folder, sweep, 2, &["--plot t.svg is also the file of -o"]);
        tilescope(&folder, &format!("render {SMALL} --at-cycle 1 -o drawn.png")).assert().success();
        std::os::unix::fs::symlink("drawn.png", path("drawn.svg")).unwrap();
        let again = "render --run drawn.png -o drawn.svg";
        refused(&folder, again, 2, &["drawn.svg is also the file of --run", "another format"]);
        std::os::unix::fs::symlink("nowhere/s.npy", path("lost.npy")).unwrap();
        let lost = format!("solve {endless} --save-field lost.npy");
        refused(&folder, &lost, 1, &["lost.npy", "no such file or folder"]);
        // What leads nowhere yet is made there.
        std::os::unix::fs::symlink("made.npy", path("leads.npy")).unwrap();
        let solve = format!("solve {SMALL} --max-cycles 1 --tol none --save-field leads.npy");
        tilescope(&folder, &solve).assert().success();
        assert!(path("leads.npy").is_symlink() && path("made.npy").is_file());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_reported_in_one_sentence() {
    let folder = folder();
    let run = format!("solve {SMALL} --tol none --max-cycles 1");
    for option in ["--save-field", "--save-curve"] {
        // The numbers are not lost with the file.
        tilescope(&folder, &format!("{run} {option} /dev/full"))
            .assert()
            .code(1)
            .stdout(predicate::str::contains("‖r‖₂ / ‖r₀‖₂"))
            .stderr("tilescope: cannot write /dev/full: the disk is full\n");
    }
    let bench = "bench kernels --backend cpu --shape 24x20 --tile 8 --k 2 --overlap 0 --repeats 1";
    tilescope(&folder, &format!("{bench} -o /dev/full"))
        .assert()
        .code(1)
        .stdout(predicate::str::contains("Poisson 2D, 24 × 20"))
        .stderr("tilescope: cannot write /dev/full: the disk is full\n");
    let sweep = "sweep --shape 24x20 --k 2 --tile 8 --overlap 0 --measure cycles --backend cpu";
    tilescope(&folder, &format!("{sweep} -o /dev/full"))
        .assert()
        .code(1)
        .stdout(predicate::str::contains("best  k = 2"))
        .stderr("tilescope: cannot write /dev/full: the disk is full\n");
    // A figure has an ending.
    std::os::unix::fs::symlink("/dev/full", folder.path().join("full.png")).unwrap();
    let sweep = "sweep --shape 24x20 --tile 8 --k 4 --measure cycles";
    for (options, part) in [("-o a.csv", "best  k = 4"), ("-o b.csv --json", "\"rows\"")] {
        tilescope(&folder, &format!("{sweep} {options} --plot full.png"))
            .assert()
            .code(1)
            .stdout(predicate::str::contains(part))
            .stderr("tilescope: cannot write full.png: the disk is full\n");
    }
    // The same for a summary that is redirected to a file.
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_tilescope"));
    let output = child.args(run.split_whitespace()).stdout(full).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(said, "tilescope: cannot write to the standard output: the disk is full\n");
}

#[cfg(unix)]
mod signals {
    use super::*;
    use std::io::Read;
    use std::process::{Child, Stdio};
    use std::time::Duration;

    /// Waits until SIGINT is, or is not, in a signal mask that Linux lists for a process; on other
    /// systems waits for three seconds.
    fn wait_until(child: &Child, listed: &str, is_there: bool) {
        loop {
            let Ok(status) = fs::read_to_string(format!("/proc/{}/status", child.id())) else {
                std::thread::sleep(Duration::from_secs(3));
                return;
            };
            // A program that has ended changes no mask; what it should have done is asserted later.
            if status.lines().any(|line| line.starts_with("State:") && line.contains('Z')) {
                return;
            }
            let mask = status.lines().find_map(|line| line.strip_prefix(listed));
            let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
            // A shell that is to become the program catches SIGINT, too.
            let is_shell = status.lines().any(|line| line == "Name:\tsh");
            if !is_shell && mask.is_none_or(|mask| (mask & (1 << (2 - 1)) != 0) == is_there) {
                return;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Starts the program and waits until its handler for SIGINT is installed, which is that of the last signal.
    pub(super) fn start(folder: &TempDir, arguments: &str) -> Child {
        let child = std::process::Command::new(env!("CARGO_BIN_EXE_tilescope"))
            .args(arguments.split_whitespace())
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        wait_until(&child, "SigCgt:", true);
        child
    }

    /// Interrupts the program and waits until the signal is delivered.
    pub(super) fn interrupt(child: &Child) {
        let number = child.id().to_string();
        let sent = std::process::Command::new("kill").args(["-INT", &number]).status();
        assert!(sent.unwrap().success());
        wait_until(child, "ShdPnd:", false);
    }

    #[test]
    fn ctrl_c_stops_a_run_and_leaves_no_file() {
        for arguments in [
            "solve --tol none --max-cycles 1000000000000 --save-field u.npy --save-curve c.csv --json",
            "render --tol none --max-cycles 1000000000000 --field staleness -o a.png",
            "render --animate 0..1000000000000:1000000000 -o a.gif",
        ] {
            let folder = folder();
            let mut child = start(&folder, arguments);
            interrupt(&child);
            let code = child.wait().unwrap().code();
            let (mut out, mut said) = (String::new(), String::new());
            child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            assert_eq!((code, out.as_str()), (Some(130), ""), "{said}");
            assert!(said.starts_with("tilescope: interrupted"), "{said}");
            assert!(said.contains("; nothing was saved"), "{said}");
            assert_eq!(arguments.starts_with("solve"), said.contains("--save-on-interrupt"));
            assert!(files(&folder).is_empty());
        }
    }

    #[test]
    fn the_exit_code_names_the_signal() {
        // Where the tests themselves were started with `nohup`, so is what they start.
        let own = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = own.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        let hang_up = ignored.is_none_or(|mask| mask & 1 == 0).then_some(("-HUP", 129));
        if hang_up.is_none() {
            println!("SIGHUP: not run, it is ignored here");
        }
        for (signal, code) in [("-INT", 130), ("-TERM", 143)].into_iter().chain(hang_up) {
            for arguments in [
                "solve --tol none --max-cycles 1000000000000 --save-on-interrupt --save-field u.npy",
                "sweep --shape 1000x1000 --k 2 --tol 1e-12 --backend cpu -o s.csv",
                "lesson --check overlap",
            ] {
                let folder = folder();
                let mut child = start(&folder, arguments);
                let id = child.id().to_string();
                let sent = std::process::Command::new("kill").args([signal, &id]).status();
                assert!(sent.unwrap().success());
                assert_eq!(child.wait().unwrap().code(), Some(code), "{signal} {arguments}");
            }
        }
    }

    /// As with `nohup`.
    #[test]
    fn a_closed_terminal_is_ignored_where_that_was_arranged() {
        let folder = folder();
        let program = env!("CARGO_BIN_EXE_tilescope");
        // Large enough not to reach the rounding limit, where it would end by itself, before the signals.
        let solve = "solve --backend cpu --tol none --max-cycles 1000000000000 --shape 1000x1000";
        let mut child = std::process::Command::new("sh")
            .args(["-c", &format!("trap '' HUP; exec '{program}' {solve}")])
            .current_dir(&folder)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        wait_until(&child, "SigCgt:", true);
        for signal in ["-HUP", "-TERM"] {
            let id = child.id().to_string();
            let sent = std::process::Command::new("kill").args([signal, &id]).status();
            assert!(sent.unwrap().success());
        }
        assert_eq!(child.wait().unwrap().code(), Some(143));
    }

    /// What takes long before its first result, and what keeps nothing of a part.
    #[test]
    fn every_command_says_that_it_was_interrupted() {
        for arguments in [
            "solve --matrix poisson-1500x1500 --ordering rcm --tile 256 --backend cpu",
            "solve --problem diffusion --shape 250x250 --backend cpu --tol 1e-12",
            "render --kind damping-by-mode --shape 500x500 --at-cycle 0 --backend cpu -o a.png",
            "render --kind curves --asymptotic-rate --shape 900x900 --at-cycle 0 --backend cpu -o a.png",
            "render --kind curves --chebyshev --tol none --max-cycles 1000000000 --backend cpu -o a.png",
            "sweep --shape 1000x1000 --k 2 --tol 1e-12 --backend cpu -o s.csv",
            "tune --shape 1000x1000 --tol 1e-12 --backend cpu",
            "bench kernels --backend cpu --shape 2000x2000 --repeats 1000 -o r.md",
            "bench matrices --backend cpu --repeats 1000 -o r.md",
            "bench paper --backend cpu -o r.md",
            "lesson --check overlap",
        ] {
            let folder = folder();
            let mut child = start(&folder, arguments);
            interrupt(&child);
            let code = child.wait().unwrap().code();
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            assert_eq!(code, Some(130), "{arguments}: {said}");
            assert!(said.contains("tilescope: interrupted"), "{arguments}: {said}");
            // A table keeps what is measured.
            let left: Vec<_> = files(&folder).into_iter().filter(|name| name != "s.csv").collect();
            assert!(left.is_empty(), "{arguments}: {left:?}");
        }
    }

    #[test]
    fn what_there_is_is_saved_after_ctrl_c_on_request() {
        let folder = folder();
        // A GPU would be opened before there is anything to save.
        let endless =
            "solve --backend cpu --tol none --max-cycles 1000000000000 --json --save-on-interrupt";
        let mut child = start(&folder, &format!("{endless} --save-field u.npy --save-curve c.csv"));
        interrupt(&child);
        assert_eq!(child.wait().unwrap().code(), Some(130));
        let said: Value = serde_json::from_reader(child.stdout.take().unwrap()).unwrap();
        assert_eq!(said["stopped"], "interrupted");
        assert_eq!(read_npy(&folder.path().join("u.npy")).0, [256, 256]);
        let curve = fs::read_to_string(folder.path().join("c.csv")).unwrap();
        let last = curve.lines().last().unwrap();
        assert!(last.starts_with(&format!("{},", said["cycles"])), "{last}");
        refused(&folder, endless, 2, &["--save-field or --save-curve"]);
    }

    #[test]
    fn ctrl_c_during_a_save_leaves_the_complete_file() {
        // A named pipe without a reader delays the save.
        let folder = folder();
        let fifo = folder.path().join("u.npy");
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let run = "solve --shape 200x150 --tol none --max-cycles 1 --save-field u.npy --json";
        let mut child = start(&folder, &format!("{run} --save-on-interrupt"));
        let mut file = fs::File::open(&fifo).unwrap();
        let mut start = [0; 100];
        file.read_exact(&mut start).unwrap();
        // The first lets the save come to its end; a second would end the process.
        interrupt(&child);
        // The handler runs on a thread of its own.
        std::thread::sleep(Duration::from_millis(100));
        let mut rest = Vec::new();
        file.read_to_end(&mut rest).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0));
        let bytes = [&start[..], &rest].concat();
        let npy = npyz::NpyFile::new(&bytes[..]).unwrap();
        assert_eq!(npy.shape(), [150, 200]);
        assert_eq!(npy.into_vec::<f64>().unwrap().len(), 200 * 150);
    }
}

/// A cycle of minutes, a figure of a large grid: work that cannot look for Ctrl-C ends all the same.
#[cfg(unix)]
#[test]
fn ctrl_c_ends_work_of_any_length_and_a_second_one_a_save() {
    use signals::{interrupt, start};
    for command in [
        "solve --shape 3000x3000 --tile 3000 --k 4096 --save-field u.npy",
        "render --shape 3000x3000 --tile 3000 --k 4096 --at-cycle 2 -o a.png",
    ] {
        let folder = folder();
        let mut child = start(&folder, command);
        interrupt(&child);
        assert_eq!(child.wait().unwrap().code(), Some(130), "{command}");
        let mut said = String::new();
        std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
        assert!(said.contains("nothing was saved"), "{command}: {said}");
        if command.starts_with("solve") {
            let how_far = ["interrupted after 0 cycles", "interrupted before the first cycle"];
            assert!(how_far.iter().any(|part| said.contains(part)), "{said}");
            assert!(said.contains("--save-on-interrupt"), "{said}");
        }
        assert!(files(&folder).is_empty(), "{command}");
    }
    // What the last whole cycle made is saved at once, although the one under way takes minutes.
    let own = folder();
    let long = "solve --backend cpu --shape 3000x3000 --tile 3000 --k 4096 --save-on-interrupt";
    let mut child = start(&own, &format!("{long} --save-field u.npy"));
    std::thread::sleep(std::time::Duration::from_secs(3));
    interrupt(&child);
    let begin = std::time::Instant::now();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(begin.elapsed() < std::time::Duration::from_secs(20), "{:?}", begin.elapsed());
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
    assert!(
        said.contains("interrupted after 0 cycles, at ‖r‖₂ / ‖r₀‖₂ = 1; its results"),
        "{said}"
    );
    assert_eq!(read_npy(&own.path().join("u.npy")).0, [3000, 3000]);
    // A named pipe without a reader delays the save.
    let folder = folder();
    let fifo = folder.path().join("u.npy");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let run = "solve --shape 200x150 --tol none --max-cycles 1 --save-curve c.csv --save-field";
    let mut child = start(&folder, &format!("{run} u.npy"));
    let mut file = fs::File::open(&fifo).unwrap();
    std::io::Read::read_exact(&mut file, &mut [0; 100]).unwrap();
    interrupt(&child);
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
    let left_out = "interrupted while saving: c.csv is complete; left out: u.npy (--save";
    assert!(said.contains(left_out), "{said}");
}

/// All that a run needs is summed before it begins.
#[cfg(target_os = "linux")]
#[test]
fn a_run_whose_parts_do_not_fit_together_is_refused_before_it_begins() {
    let folder = folder();
    let program = env!("CARGO_BIN_EXE_tilescope");
    for (arguments, part) in [
        ("render --field error --shape 6000x6000 -o a.png", "the exact solution"),
        ("solve --shape 8000x8000 --tol none --max-cycles 1", "the solver"),
        (
            "solve --shape 3000x3000 --tol none --max-cycles 1 --save-matrix m.mtx",
            "the matrix to save",
        ),
        ("render --shape 64x64 --size 16000x16000 -o a.png", "the figure"),
    ] {
        let script = format!("ulimit -v 1500000; exec {program} {arguments}");
        let limited =
            std::process::Command::new("sh").args(["-c", &script]).current_dir(&folder).output();
        let limited = limited.unwrap();
        let said = String::from_utf8(limited.stderr).unwrap();
        assert_eq!(limited.status.code(), Some(1), "{arguments}: {said}");
        assert!(said.starts_with("tilescope: ") && said.lines().count() == 1, "{said}");
        assert!(said.contains("needs") && said.contains("is free"), "{arguments}: {said}");
        let is_of_solver = part == "the solver";
        assert!(said.contains(part) || is_of_solver, "{arguments}: {said}");
        assert!(files(&folder).is_empty());
    }
}

/// The second run of a figure is refused before the first, which here would take days.
#[cfg(target_os = "linux")]
#[test]
fn all_runs_of_a_figure_must_fit_before_the_first_is_made() {
    let folder = folder();
    let mut large = RunSpec::default();
    large.problem.shape = vec![8000, 8000];
    fs::write(folder.path().join("large.toml"), large.to_toml()).unwrap();
    let script = format!(
        "ulimit -v 1500000; ulimit -t 60; exec {} render --kind curves --shape 64x64 --tol none --max-cycles 1000000000 --compare large.toml -o a.png",
        env!("CARGO_BIN_EXE_tilescope"),
    );
    let limited =
        std::process::Command::new("sh").args(["-c", &script]).current_dir(&folder).output();
    let limited = limited.unwrap();
    let said = String::from_utf8(limited.stderr).unwrap();
    assert_eq!(limited.status.code(), Some(1), "{said}");
    assert!(said.contains("needs") && said.contains("is free"), "{said}");
    assert_eq!(files(&folder), ["large.toml"]);
}

/// The limit of address space leaves half an array beside the three of the solver: a solution is saved row by row.
#[cfg(target_os = "linux")]
#[test]
fn a_solution_is_saved_without_another_array() {
    let folder = folder();
    let solve = |side: u64, bytes: u64, more: &str| {
        let script = format!(
            "ulimit -v {}; exec {} solve --shape {side}x{side} --precision f32 --backend cpu --threads 1 --tol none --max-cycles 1 {more}",
            bytes / 1024,
            env!("CARGO_BIN_EXE_tilescope"),
        );
        let mut limited = std::process::Command::new("sh");
        // Else the allocator reserves address space of its own for every thread.
        limited.args(["-c", &script]).env("MALLOC_ARENA_MAX", "1").current_dir(&folder);
        limited.output().unwrap()
    };
    // What the program takes without arrays differs from machine to machine.
    let mut limits = (2..64).map(|steps| steps * (16 << 20));
    let base = limits.find(|&bytes| solve(8, bytes, "").status.success()).unwrap();
    let (side, array) = (4000, 4 * 4002 * 4002);
    let output = solve(side, base + 3 * array + array / 2, "--save-field u.npy");
    assert!(output.status.success(), "{output:?}");
    assert!(fs::metadata(folder.path().join("u.npy")).unwrap().len() > 4 * side * side);
    // It is a limit: where the solver has no room, the run is refused.
    assert_eq!(solve(side, base + 2 * array, "").status.code(), Some(1));
}

#[test]
fn a_closed_pipe_is_not_a_panic() {
    let folder = folder();
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_tilescope"))
        .args(["solve", "--tol", "none", "--max-cycles", "100"])
        .current_dir(&folder)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    // Not all of the summary was taken.
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn a_run_file_is_the_run() {
    let folder = folder();
    let mut spec = RunSpec::default();
    spec.problem.kind = ProblemKind::Random;
    spec.problem.seed = Some(7);
    spec.problem.shape = vec![30, 20];
    spec.method.tile = vec![10];
    spec.stop.tolerance = None;
    spec.stop.max_cycles = 5;
    let path: PathBuf = folder.path().join("run.toml");
    save_run(&path, &spec).unwrap();
    let said = json(&folder, "--run run.toml");
    assert_eq!((&said["problem"], &said["cycles"]), (&"random".into(), &5.into()));
    assert_eq!(said["converged"], Value::Bool(false));
    // Options on the command line take precedence.
    let said =
        json(&folder, "--run run.toml --problem poisson --shape 16 --tol none --max-cycles 2");
    assert_eq!((&said["problem"], &said["cycles"]), (&"poisson".into(), &2.into()));
}

/// Pyramids and the wavefront save what Jacobi's iteration saves, and count what they move.
#[test]
fn methods_that_stream_save_the_bits_of_classic_and_count_their_traffic() {
    let folder = folder();
    for (shape, points, budget) in [
        ("500 --batch 3", 1500, 2400),
        ("70x90", 6300, 72 * 24 * 20),
        ("20x18x30", 10_800, (16 + 20 * 32) * 24 * 20),
    ] {
        let problem = format!("--problem random --shape {shape} --tol none");
        json(&folder, &format!("{problem} --method classic --max-cycles 21 --save-field c.npy"));
        for method in ["pyramid", "wavefront"] {
            let said = json(
                &folder,
                &format!(
                    "{problem} --method {method} --height 7 --memory {budget}B --max-cycles 3 \
                     --threads 2 --save-field s.npy --save-curve s.csv"
                ),
            );
            assert_eq!(
                read_npy(&folder.path().join("s.npy")),
                read_npy(&folder.path().join("c.npy"))
            );
            assert_eq!((&said["method"], &said["sweeps"]), (&method.into(), &21.into()));
            let of = |key: &str| said["streaming"][key].as_u64().unwrap();
            assert_eq!((of("height"), of("memory_bytes")), (7, budget));
            assert!(of("working_bytes") <= budget);
            assert_eq!(of("values_down"), points);
            assert_eq!(of("updates") - of("duplicate_updates"), 7 * points);
            let is_once = (of("values_up"), of("duplicate_updates")) == (2 * points, 0);
            assert_eq!(is_once, method == "wavefront", "{said}");
            let curve = fs::read_to_string(folder.path().join("s.csv")).unwrap();
            assert!(curve.lines().nth(3).unwrap().starts_with("2,14,"), "{curve}");
        }
    }
    let output = tilescope(&folder, "solve --shape 40x50 --method pyramid --memory 20kB --tol 0.5");
    let said = String::from_utf8({ output }.output().unwrap().stdout).unwrap();
    for part in ["pyramid, height auto, 20kB", "moved per cycle", "redundant work"] {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn a_run_that_streams_survives_its_file_and_its_figure() {
    let folder = folder();
    let run = "--shape 30x40 --method wavefront --height 5 --memory 9kB --tol none --max-cycles 8";
    let output = tilescope(&folder, &format!("render {run} --at-cycle 4 -o a.png")).output();
    assert!(output.unwrap().status.success());
    let said = json(&folder, "--run a.png");
    assert_eq!((&said["method"], &said["cycles"]), (&"wavefront".into(), &8.into()));
    assert_eq!(said["streaming"]["height"], 5);
    // Another method has no use for its height.
    let said = json(&folder, "--run a.png --method classic");
    assert_eq!((&said["method"], &said["streaming"]), (&"classic".into(), &Value::Null));
}

#[test]
fn heights_and_budgets_that_cannot_be_are_refused_in_one_sentence() {
    let folder = folder();
    for (arguments, parts) in [
        ("--method pyramid --shape 98x300 --memory 7199B", &["7199B", "three", "7200B"][..]),
        ("--method wavefront --shape 98x300 --memory 7200B", &["7200B", "six", "15kB"]),
        ("--method pyramid --shape 98x300 --memory 24kB --height 5", &["10 planes", "at most 4"]),
        (
            "--method wavefront --shape 98x300 --memory 24kB --height 6",
            &["height is 6", "at most 5"],
        ),
        ("--method pyramid --height 0", &["height is 0", "auto or 1 to 4096"]),
        ("--method pyramid --height 5000", &["height is 5000"]),
        ("--height 5", &["height is 5 with method hierarchical", "pyramid and wavefront"]),
        ("--method classic --memory 1GB", &["memory is 1GB with method classic"]),
        ("--method pyramid --slabs two --backend cpu", &["slabs is two", "auto or one"]),
        ("--method wavefront --slabs one", &["slabs is one with method wavefront", "pyramid"]),
        (
            "--method pyramid --shape 98x300 --memory 24kB --slabs two --height 3",
            &["10 planes", "at most 2"],
        ),
        ("--method pyramid --kernel spectral", &["kernel is spectral"]),
        ("--method pyramid --k 5", &["--k has no effect on method pyramid", "--height"]),
        ("--method wavefront --matrix ice-sheet", &["method is wavefront", "no planes"]),
        ("--method pyramid --memory much", &["--memory", "64MB"]),
        ("--method pyramid --height high", &["--height", "auto"]),
    ] {
        refused(&folder, &format!("solve {arguments}"), 2, parts);
    }
}

#[test]
fn a_matrix_by_name_takes_the_checked_cycles() {
    let folder = folder();
    let line = "--matrix heat-1d --tile 25 --k 8 --tol 1e-6 --save-field x.npy --save-curve c.csv";
    let summary = json(&folder, line);
    assert_eq!(summary["cycles"], 4462);
    assert_eq!(summary["problem"], "matrix");
    let matrix = &summary["matrix"];
    assert_eq!(matrix["rows"], 100);
    assert_eq!([&matrix["static_entries"], &matrix["dynamic_entries"]], [6, 192]);
    let (shape, kind, x) = read_npy(&folder.path().join("x.npy"));
    assert_eq!((shape, kind), (vec![100], "'<f8'".to_owned()));
    for kernel in ["rows", "reorganised", "hoisted"] {
        let again = format!("{line} --kernel {kernel} --threads 2");
        assert_eq!(json(&folder, &again)["cycles"], 4462);
        assert_eq!(read_npy(&folder.path().join("x.npy")).2, x);
    }
    // Unknowns are saved in the matrix's own order, whatever order they are computed in.
    let of_order = "--matrix heat-1d --ordering random --seed 3 --tile 25 --k 8 --tol 1e-10 --save-field y.npy";
    assert_eq!(json(&folder, of_order)["matrix"]["ordering"], "random");
    let values = |bytes: &[u8]| -> Vec<f64> {
        bytes.chunks_exact(8).map(|value| f64::from_le_bytes(value.try_into().unwrap())).collect()
    };
    let y = values(&read_npy(&folder.path().join("y.npy")).2);
    for (i, (x, y)) in values(&x).iter().zip(&y).enumerate() {
        // −x'' = 1 with x = 0 at 0 and 101.
        let exact = 0.5 * (i + 1) as f64 * (100 - i) as f64;
        assert!((x / exact - 1.0).abs() < 1e-3 && (y / exact - 1.0).abs() < 1e-6, "{i}: {x}, {y}");
    }
}

#[test]
fn the_stages_of_a_matrix_are_timed_apart() {
    let folder = folder();
    let saved = "--matrix poisson-20x12 --ordering tiles --tile 16 --k 4 --save-field x.npy";
    let summary = json(&folder, saved);
    let seconds = |name: &str| summary["matrix"][format!("{name}_seconds")].as_f64().unwrap();
    for stage in ["read", "order", "reorganise", "processing", "download", "write"] {
        assert!(seconds(stage) > 0.0, "{stage}: {summary}");
    }
    assert_eq!(seconds("upload"), 0.0, "a CPU has none");
    let parts: f64 = ["read", "order", "reorganise"].map(seconds).iter().sum();
    assert!(parts <= seconds("setup"), "{summary}");
    let shutdown = seconds("download") + seconds("write");
    assert!((seconds("shutdown") / shutdown - 1.0).abs() < 1e-12, "{summary}");
    refused(&folder, "solve --threads 1,2", 2, &["--threads must be one number", "sweep"]);
}

#[test]
fn the_rows_of_a_matrix_are_drawn_as_a_map_or_a_folded_strip() {
    let folder = folder();
    let drawn = |options: &str| {
        let line = format!("render {options} --k 2 --at-cycle 3 --kind row-map --size 400x300");
        tilescope(&folder, &format!("{line} -o rows.png")).assert().success();
        tilescope(&folder, &format!("{line} -o rows.csv")).assert().success();
        fs::read_to_string(folder.path().join("rows.csv")).unwrap()
    };
    let map = drawn("--matrix poisson-20x12 --ordering tiles --tile 16");
    assert!(map.starts_with("across,down,row,residual\n0,0,0,"), "{map}");
    assert_eq!(map.lines().count(), 1 + 240);
    // Every field, also of more rows than a space–time diagram keeps.
    let matrix = "--matrix poisson-140x140 --ordering tiles --tile 196";
    for field in ["residual", "error", "update", "staleness", "solution"] {
        let csv = drawn(&format!("{matrix} --field {field}"));
        let value = |line: &str| line.rsplit_once(',').unwrap().1.parse::<f64>().unwrap().abs();
        let largest = csv.lines().skip(1).map(value).fold(0.0, f64::max);
        assert!(largest > 0.0 && largest.is_finite(), "{field}: {largest}");
    }
    refused(
        &folder,
        "solve --matrix ice-shet",
        2,
        &["matrix is ice-shet; there is no such file; known by name are heat-1d, ice-sheet"],
    );
    // Of a file, by the coordinates of its nodes.
    tilescope(&folder, "solve --matrix poisson-20x12 --tile 16 --save-matrix m.mtx")
        .assert()
        .success();
    let nodes = drawn("--matrix m.mtx --nodes 20x12 --ordering tiles --tile 16");
    // The right-hand side of a file is another.
    let places = |csv: &str| -> Vec<_> {
        csv.lines().map(|line| line.rsplit_once(',').unwrap().0.to_owned()).collect()
    };
    assert_eq!(places(&nodes), places(&map), "the same nodes");
    let strip = drawn("--matrix m.mtx --tile 16 --field solution");
    assert!(strip.starts_with("across,down,row,solution\n"), "{strip}");
    let mut places = "%%MatrixMarket matrix array real general\n240 2\n".to_owned();
    for axis in [|row: usize| row % 20, |row: usize| row / 20] {
        places.extend((0..240).map(|row| format!("{}\n", axis(row))));
    }
    fs::write(folder.path().join("xy.mtx"), places).unwrap();
    let points = drawn("--matrix m.mtx --coordinates xy.mtx --tile 16");
    assert!(points.lines().count() > 60, "{points}");
    refused(
        &folder,
        "render --shape 16x16 --tile 8 --at-cycle 1 --kind row-map -o no.png",
        2,
        &["cannot be drawn", "only a sparse matrix"],
    );
    fs::write(folder.path().join("xy.mtx"), "%%MatrixMarket matrix array real general\n3 2\n")
        .unwrap();
    refused(
        &folder,
        "solve --matrix m.mtx --coordinates xy.mtx --tile 16",
        1,
        &["xy.mtx, line 2", "240 rows and 2 columns"],
    );
}

#[test]
fn a_matrix_survives_its_file_and_its_run_file() {
    let folder = folder();
    let grid = "--shape 12x9 --tile 4 --k 3";
    tilescope(&folder, &format!("solve {grid} --save-matrix m.mtx")).assert().success();
    let of_file = json(
        &folder,
        "--matrix m.mtx --tile 20 --k 1 --tol none --max-cycles 7 --save-field x.npy",
    );
    assert_eq!((&of_file["shape"][0], &of_file["matrix"]["name"]), (&108.into(), &"m.mtx".into()));
    let by_name = "--matrix poisson-12x9 --ordering rcm --tile 20 --k 4 --overlap 2";
    let expected = json(&folder, by_name)["cycles"].clone();
    let run = "[problem]\nkind = \"matrix\"\nshape = [108]\n[problem.matrix]\nsource = \"poisson-12x9\"\n\
               ordering = \"rcm\"\n[method]\ntile = [20]\nk = 4\noverlap = [2]\n";
    fs::write(folder.path().join("run.toml"), format!("version = 4\n{run}")).unwrap();
    assert_eq!(json(&folder, "--run run.toml")["cycles"], expected);
    // The shape follows from the matrix, also from that of a file beside the run's.
    let run = run.replace("shape = [108]\n", "");
    fs::write(folder.path().join("run.toml"), format!("version = 4\n{run}")).unwrap();
    let summary = json(&folder, "--run run.toml");
    assert_eq!([&summary["cycles"], &summary["shape"][0]], [&expected, &108.into()]);
    fs::create_dir(folder.path().join("runs")).unwrap();
    fs::rename(folder.path().join("m.mtx"), folder.path().join("runs/n.mtx")).unwrap();
    let of_file = run.replace("poisson-12x9", "n.mtx");
    fs::write(folder.path().join("runs/run.toml"), format!("version = 4\n{of_file}")).unwrap();
    assert_eq!(json(&folder, "--run runs/run.toml")["shape"][0], 108);
    let other = of_file.replace("[problem.matrix]", "shape = [107]\n[problem.matrix]");
    fs::write(folder.path().join("runs/run.toml"), format!("version = 4\n{other}")).unwrap();
    refused(&folder, "solve --run runs/run.toml", 2, &["shape is [107]; the matrix has 108 rows"]);
    let lost = of_file.replace("n.mtx", "lost.mtx");
    fs::write(folder.path().join("runs/run.toml"), format!("version = 4\n{lost}")).unwrap();
    refused(&folder, "solve --run runs/run.toml", 1, &["lost.mtx", "cannot be read"]);
}

/// Its figure carries a matrix by name, or the path and the checksum of its file; a film is made of it.
#[test]
fn figures_and_films_carry_their_matrix() {
    let folder = folder();
    tilescope(&folder, "solve --shape 12x9 --tile 4 --k 3 --save-matrix m.mtx").assert().success();
    let draw = "--tile 18 --k 2 --size 300x240";
    for (name, matrix) in [("name.png", "poisson-12x9"), ("file.svg", "m.mtx")] {
        let line = format!("render --matrix {matrix} {draw} --at-cycle 3 -o {name}");
        tilescope(&folder, &line).assert().success();
        let summary = json(&folder, &format!("--run {name}"));
        assert_eq!([&summary["shape"][0], &summary["cycles"]], [&108.into(), &summary["cycles"]]);
        assert_eq!(summary["matrix"]["name"], matrix);
    }
    for film in ["a.gif", "a.apng"] {
        let line = format!("render --matrix m.mtx {draw} --animate 0..4:2 -o {film}");
        tilescope(&folder, &line).assert().success();
        assert!(folder.path().join(film).is_file());
    }
    let text = fs::read_to_string(folder.path().join("m.mtx")).unwrap();
    fs::write(folder.path().join("m.mtx"), text.replace(" 4", " 5")).unwrap();
    let said = ["m.mtx with checksum", "the run was made with another file"];
    refused(&folder, "solve --run file.svg", 2, &said);
    fs::remove_file(folder.path().join("m.mtx")).unwrap();
    refused(&folder, "solve --run file.svg", 1, &["m.mtx", "cannot be read"]);
    json(&folder, "--run name.png");
}

#[test]
fn matrices_that_cannot_be_solved_are_refused_in_one_sentence() {
    let folder = folder();
    let header = "%%MatrixMarket matrix coordinate real general\n";
    fs::write(folder.path().join("zero.mtx"), format!("{header}2 2 2\n1 1 1\n2 1 1\n")).unwrap();
    fs::write(folder.path().join("text.mtx"), format!("{header}2 2 2\n1 1 1\n2 2 one\n")).unwrap();
    fs::write(folder.path().join("good.mtx"), format!("{header}2 2 2\n1 1 1\n2 2 1\n")).unwrap();
    fs::write(
        folder.path().join("b.mtx"),
        "%%MatrixMarket matrix array real general\n3 1\n1\n1\n1\n",
    )
    .unwrap();
    for (line, parts) in [
        ("--matrix zero.mtx", &["zero.mtx", "row 2 has no diagonal"][..]),
        ("--matrix text.mtx", &["text.mtx, line 4", "one is not a number"]),
        ("--matrix lost.mtx", &["lost.mtx", "cannot be read"]),
        ("--matrix good.mtx --rhs b.mtx", &["b.mtx", "2 rows and 1 column"]),
    ] {
        refused(&folder, &format!("solve {line}"), 1, parts);
    }
    for (line, parts) in [
        ("--matrix good.mtx --ordering tiles", &["ordering is tiles", "nodes"][..]),
        ("--matrix good.mtx --ordering tiles --nodes 3x3", &["nodes is 3x3", "2 rows"]),
        ("--matrix ice-sheet --ordering tiles --tile 250", &["tile is 250", "256"]),
        ("--matrix heat-1d --backend cpu --kernel resident", &["kernel is resident", "hoisted"]),
        ("--matrix heat-1d --kernel shared", &["kernel is shared", "hoisted"]),
        ("--matrix heat-1d --shape 7", &["shape is [7]", "100 rows"]),
        ("--matrix heat-1d --overlap 3", &["overlap 3 is odd"]),
        // Every block would compute all rows.
        (
            "--matrix ice-sheet --backend cpu --overlap 99999999999998",
            &["overlap 99999999999998 is not allowed", "168,861"],
        ),
        (
            "--matrix ice-sheet --simulate-devices 2 --overlap 2000",
            &["overlap 2000 is not allowed", "168,861"],
        ),
        ("--kernel hoisted", &["kernel is hoisted", "auto"]),
        ("--ordering rcm", &["--matrix"]),
    ] {
        refused(&folder, &format!("solve {line}"), 2, parts);
    }
}

#[test]
fn lessons_are_listed_begun_and_checked() {
    let folder = folder();
    let list = tilescope(&folder, "lesson --list").assert().success();
    let list = String::from_utf8(list.get_output().stdout.clone()).unwrap();
    assert!(list.lines().count() >= 10 && list.contains("overlap"), "{list}");

    tilescope(&folder, "lesson --new mine.md").assert().success();
    refused(&folder, "lesson --new mine.md", 2, &["mine.md already exists"]);
    refused(&folder, "lesson --new mine.txt", 2, &["--new is mine.txt; its name must end in .md"]);
    let checked = tilescope(&folder, "lesson --check mine.md").assert().success();
    let checked = String::from_utf8(checked.get_output().stdout.clone()).unwrap();
    assert!(checked.lines().rev().skip(1).all(|line| line.contains("  holds  ")), "{checked}");
    assert!(checked.ends_with("claims hold.\n"), "{checked}");
    // Nothing is said of runs that do not exist.
    let mine = folder.path().join("mine.md");
    let template = fs::read_to_string(&mine).unwrap();
    let edited = template.replacen("problem = \"poisson-2d\"", "problem = \"nosuch\"", 1);
    fs::write(&mine, &edited).unwrap();
    let output = tilescope(&folder, "lesson --check mine.md").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), said.lines().count()), (Some(1), 1), "{said}");
    assert_eq!(said.matches("heat-plate,").count(), 1, "{said}");
    fs::write(&mine, &template).unwrap();
    let first = template.find("```expect\n").map_or(0, |at| template[..at].lines().count() + 2);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(!printed.contains(&format!("line {first:<4}")), "{printed}");

    // A claim that does not hold.
    let text = template;
    let false_claim = text.replace("edge_share = 0.6..0.8", "edge_share < 0.01");
    assert_ne!(text, false_claim);
    fs::write(folder.path().join("false.md"), false_claim).unwrap();
    tilescope(&folder, "lesson --check false.md")
        .assert()
        .code(1)
        .stdout(predicate::str::contains("FAILS").and(predicate::str::contains("measured")));

    refused(&folder, "lesson --check overlapp", 2, &["no lesson is named overlapp", "--list"]);
    refused(&folder, "lesson --check missing.md", 1, &["missing.md"]);
    tilescope(&folder, "lesson").assert().code(2);
}
