//! `tilescope sweep` and `tilescope tune`, with the real binary: the table, its resumption, and error
//! messages of one sentence.

use assert_cmd::Command;
use serde_json::Value;
use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;
use tempfile::TempDir;

/// A short sweep: two tiles, two k, four overlaps, of which 4 and 6 fit one tile only.
const SMALL: &str =
    "sweep --shape 24x20 --k 2,4 --overlap 0:6:2 --tile 4,8 --measure cycles -o s.csv";

fn folder() -> TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn tilescope(folder: &TempDir, arguments: &str) -> Command {
    let mut command = Command::cargo_bin("tilescope").expect("the binary is built");
    command.current_dir(folder).args(arguments.split_whitespace());
    command
}

fn done(folder: &TempDir, arguments: &str) -> String {
    let output = tilescope(folder, arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{arguments}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn refused(folder: &TempDir, arguments: &str, code: i32, parts: &[&str]) {
    let output = tilescope(folder, arguments).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments}: {said}");
    assert_eq!(said.lines().count(), 1, "{arguments}: {said}");
    for part in parts {
        assert!(said.contains(part), "{arguments}: “{part}” is not in “{said}”");
    }
    assert!(output.stdout.is_empty(), "{arguments}");
}

fn table(folder: &TempDir) -> PathBuf {
    folder.path().join("s.csv")
}

fn text(folder: &TempDir) -> String {
    fs::read_to_string(table(folder)).unwrap()
}

fn rows(folder: &TempDir) -> Vec<csv::StringRecord> {
    csv::Reader::from_path(table(folder)).unwrap().records().map(Result::unwrap).collect()
}

/// The cell of a row under a name.
fn cell<'a>(folder: &TempDir, row: &'a csv::StringRecord, name: &str) -> &'a str {
    let mut reader = csv::Reader::from_path(table(folder)).unwrap();
    let place = reader.headers().unwrap().iter().position(|known| known == name);
    &row[place.unwrap_or_else(|| panic!("a column {name}"))]
}

#[test]
fn a_sweep_has_a_row_for_each_setting_whose_command_can_be_run() {
    let folder = folder();
    let said = done(&folder, &format!("{SMALL} --plot s.png --jobs 2"));
    assert!(said.contains("16 settings") && said.contains("best  k = 4"), "{said}");
    assert!(
        text(&folder).starts_with("shape,k,overlap,tile,kernel,threads,cycles,sweeps,seconds,")
    );
    let rows = rows(&folder);
    let commands: HashSet<_> = rows.iter().map(|row| cell(&folder, row, "command")).collect();
    assert_eq!((rows.len(), commands.len()), (16, 16));
    for row in &rows {
        let value = |name| cell(&folder, row, name);
        assert_eq!((value("shape"), value("kernel")), ("24x20", "tiled"));
        if value("overlap").parse::<usize>().unwrap() > value("tile").parse::<usize>().unwrap() - 2
        {
            assert_eq!((value("outcome"), value("cycles")), ("cannot-run", ""));
            assert!(value("reason").contains("is too large for tile 4"), "{}", value("reason"));
            continue;
        }
        // Run again, it takes as many cycles.
        let command = value("command").strip_prefix("tilescope ").unwrap();
        let solved: Value =
            serde_json::from_str(&done(&folder, &format!("{command} --json"))).unwrap();
        assert_eq!(value("cycles"), solved["cycles"].to_string());
        assert_eq!(value("sweeps"), solved["sweeps"].to_string());
        assert!(value("machine").contains("core"), "{}", value("machine"));
    }
    assert!(fs::read(folder.path().join("s.png")).unwrap().starts_with(b"\x89PNG"));
}

/// The layouts of a matrix on one thread and two: the cycles depend on neither.
#[test]
fn threads_and_layouts_of_a_matrix_are_lists() {
    let folder = folder();
    let matrix = "--matrix poisson-20x12 --ordering tiles --tile 16 --backend cpu";
    done(&folder, &format!("sweep {matrix} --k 1,4 --kernel rows,hoisted --threads 2,1 -o s.csv"));
    let rows = rows(&folder);
    let settings: Vec<_> = rows
        .iter()
        .map(|row| ["kernel", "threads", "k"].map(|name| cell(&folder, row, name).to_owned()))
        .collect();
    let expected = ["hoisted", "rows"].into_iter().flat_map(|kernel| {
        ["1", "2"]
            .into_iter()
            .flat_map(move |threads| ["1", "4"].map(|k| [kernel, threads, k].map(str::to_owned)))
    });
    assert_eq!(settings, expected.collect::<Vec<_>>());
    for row in &rows {
        let value = |name| cell(&folder, row, name);
        let first = rows.iter().find(|other| cell(&folder, other, "k") == value("k")).unwrap();
        assert_eq!(value("cycles"), cell(&folder, first, "cycles"));
        assert!(value("predicted_seconds_per_cycle").is_empty(), "none for several threads");
    }
}

/// A list of heights and one of budgets are a table with columns of their own, a map and charts, and can be resumed; a table of
/// tiles is another one.
#[test]
fn heights_and_budgets_of_a_method_that_streams_are_lists() {
    let folder = folder();
    let sweep = "sweep --shape 24x40 --backend cpu --method pyramid --height 1,2,5 --memory 3kB,20kB --measure cycles \
                 --tol 1e-2 -o s.csv";
    let said = done(&folder, &format!("{sweep} --plot s.svg"));
    assert!(said.contains("6 settings") && said.contains("best  height 5, budget 20kB"), "{said}");
    let whole = text(&folder);
    assert!(
        whole.starts_with("shape,height,memory,kernel,threads,cycles,sweeps,seconds,"),
        "{whole}"
    );
    let rows = rows(&folder);
    let of = |row: usize, name: &str| cell(&folder, &rows[row], name).to_owned();
    assert_eq!([of(4, "height"), of(4, "memory"), of(4, "kernel")], ["5", "3kB", "pyramid"]);
    assert_eq!(of(4, "outcome"), "cannot-run");
    assert!(of(4, "reason").contains("would keep none of them"), "{}", of(4, "reason"));
    assert_eq!(of(1, "sweeps"), of(1, "cycles"), "a pass of one sweep");
    let command = of(5, "command").strip_prefix("tilescope ").unwrap().to_owned();
    let solved: Value = serde_json::from_str(&done(&folder, &format!("{command} --json"))).unwrap();
    assert_eq!(
        [of(5, "cycles"), of(5, "sweeps")],
        ["cycles", "sweeps"].map(|it| solved[it].to_string())
    );
    let svg = fs::read_to_string(folder.path().join("s.svg")).unwrap();
    for word in ["height", "budget", "20kB", "method pyramid"] {
        assert!(svg.contains(word), "no “{word}”");
    }

    let rest = whole.find("\n24x40,5,").unwrap();
    fs::write(table(&folder), &whole[..rest + 20]).unwrap();
    let resumed = done(&folder, &format!("{sweep} --resume --plot s.svg --plot-kind overlap"));
    assert!(resumed.contains("6 settings"), "{resumed}");
    assert_eq!(text(&folder), whole);
    assert!(fs::read_to_string(folder.path().join("s.svg")).unwrap().contains("budget, MB"));
    let tiles = "sweep --shape 24x40 --k 2 --tile 8 --measure cycles -o s.csv --resume";
    refused(&folder, tiles, 1, &["is not a setting of this sweep"]);
    assert_eq!(text(&folder), whole);
}

/// Up to the budget that is given.
#[test]
fn tune_finds_a_height_and_a_budget() {
    let folder = folder();
    let tune = "tune --shape 48x96 --backend cpu --method wavefront --memory 40kB --tol 1e-2";
    let found: Value = serde_json::from_str(&done(&folder, &format!("{tune} --json"))).unwrap();
    let measured = found["measured"].as_array().unwrap();
    assert!(found["settings"].as_u64().unwrap() > measured.len() as u64, "{found}");
    assert!(measured.iter().all(|row| row["predicted_seconds"].is_f64()), "{found}");
    let best = &found["best"];
    assert!(best["height"].is_u64() && best["k"].is_null(), "{best}");
    let said = done(&folder, &format!("{tune} --height 1,2,4"));
    assert!(said.contains("best  height ") && said.contains(", budget "), "{said}");
    assert!(said.contains(" --method wavefront --height "), "{said}");
}

/// Each chart as a file, with the curve or the level that it is about.
#[test]
fn every_kind_of_plot_is_a_file_that_carries_its_run() {
    let folder = folder();
    for (kind, words) in [
        ("map", &["overlap"][..]),
        ("overlap", &["classic", "k = 2", "k = 4", "overlap"]),
        ("k-time", &["classic", "overlap 0", "best overlap"]),
        ("k", &["classic", "Speedup"]),
    ] {
        let sweep = "sweep --shape 24x20 --k 2,4 --overlap 0:4:2 --tile 8 -o s.csv";
        done(&folder, &format!("{sweep} --plot {kind}.svg --plot-kind {kind}"));
        let path = folder.path().join(format!("{kind}.svg"));
        let svg = fs::read_to_string(&path).unwrap();
        for word in words {
            assert!(svg.contains(word), "{kind}: no “{word}”");
        }
        let (run, _) = tilescope::picture::read_figure(&path).unwrap();
        assert_eq!(run.problem.shape, [24, 20], "{kind}");
        fs::remove_file(table(&folder)).unwrap();
    }
}

#[test]
fn times_have_an_error_and_can_be_measured_with_or_without_cycles() {
    let folder = folder();
    let said = done(&folder, "sweep --shape 64 --k 2 --tile 8 --overlap 2,4 -o s.csv --json");
    let said: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(said["rows"].as_array().unwrap().len(), 2);
    let best = &said["best"];
    let number = |name: &str| best[name].as_f64().unwrap();
    let seconds = number("cycles") * number("seconds_per_cycle");
    assert!((number("seconds") - seconds).abs() <= 1e-9 * seconds);
    assert!(number("seconds_per_cycle_error") >= 0.0 && number("repeats") >= 7.0);
    // What the cost model predicts is beside what was measured.
    let off = number("predicted_seconds_per_cycle") / number("seconds_per_cycle") - 1.0;
    assert!((number("prediction_error") - off).abs() < 1e-9);
    fs::remove_file(table(&folder)).unwrap();
    done(&folder, "sweep --shape 64 --k 2 --tile 8 --overlap 2 --measure time -o s.csv");
    let rows = rows(&folder);
    assert_eq!(cell(&folder, &rows[0], "cycles"), "");
    assert!(cell(&folder, &rows[0], "seconds_per_cycle").parse::<f64>().unwrap() > 0.0);
}

/// Tiles and overlaps may differ from axis to axis; what runs again takes as many cycles.
#[test]
fn tiles_and_overlaps_can_be_given_for_each_axis() {
    let folder = folder();
    let sweep = "sweep --shape 24x20 --k 2 --tile 8x4,8 --overlap 2,4x2 --measure cycles -o s.csv";
    done(&folder, sweep);
    let rows = rows(&folder);
    let names =
        |row| (cell(&folder, row, "tile").to_owned(), cell(&folder, row, "overlap").to_owned());
    let found: Vec<_> = rows.iter().map(names).collect();
    let wanted = [("8", "2"), ("8", "4x2"), ("8x4", "2"), ("8x4", "4x2")];
    assert_eq!(found, wanted.map(|(tile, overlap)| (tile.to_owned(), overlap.to_owned())));
    let command = cell(&folder, &rows[3], "command");
    assert!(command.contains("--overlap 4x2 --tile 8x4"), "{command}");
    let command = command.strip_prefix("tilescope ").unwrap();
    let solved: Value = serde_json::from_str(&done(&folder, &format!("{command} --json"))).unwrap();
    assert_eq!(cell(&folder, &rows[3], "cycles"), solved["cycles"].to_string());
    let whole = text(&folder);
    done(&folder, &format!("{sweep} --resume"));
    assert_eq!(text(&folder), whole);
}

/// Predicted cycles and their error are in the table beside the counted cycles.
#[test]
fn predicted_cycles_are_beside_counted_ones() {
    let folder = folder();
    let sweep = "sweep --shape 64x64 --k 2,8 --tile 8 --overlap 0,2 --measure cycles -o s.csv";
    let said = done(&folder, sweep);
    assert!(said.contains("prediction error of the cycles: "), "{said}");
    for row in rows(&folder) {
        let number = |name: &str| cell(&folder, &row, name).parse::<f64>().unwrap();
        let off = number("predicted_cycles") / number("cycles") - 1.0;
        assert!((number("cycles_prediction_error") - off).abs() < 1e-9, "{row:?}");
        assert!(off.abs() <= number("predicted_cycles_bar"), "{row:?}");
    }
}

/// Wherever a sweep was interrupted, resuming completes the same table: nothing twice, nothing lost.
#[test]
fn a_sweep_is_resumed_from_wherever_it_was_interrupted() {
    let folder = folder();
    done(&folder, SMALL);
    let whole = text(&folder);
    for cut in [0, 3, whole.find('\n').unwrap(), whole.len() / 3, whole.len() / 2, whole.len() - 1]
    {
        let cut = (cut..).find(|cut| whole.is_char_boundary(*cut)).unwrap();
        fs::write(table(&folder), &whole[..cut]).unwrap();
        done(&folder, &format!("{SMALL} --resume"));
        assert_eq!(text(&folder), whole, "cut at {cut}");
    }
    // More lists, and where there was no file.
    let more = SMALL.replace("--k 2,4", "--k 2,4,8");
    done(&folder, &format!("{more} --resume"));
    assert!(text(&folder).starts_with(&whole));
    assert_eq!(rows(&folder).len(), 24);
    fs::remove_file(table(&folder)).unwrap();
    done(&folder, &format!("{SMALL} --resume"));
    assert_eq!(text(&folder), whole);
}

#[test]
fn the_table_of_another_sweep_is_an_error_and_left_unchanged() {
    let folder = folder();
    done(&folder, SMALL);
    let whole = text(&folder);
    refused(&folder, SMALL, 1, &["s.csv already exists", "--resume"]);
    let other = |from, to| format!("{} --resume", SMALL.replace(from, to));
    refused(&folder, &other("24x20", "24x24"), 1, &["s.csv cannot be resumed", "--shape 24x20"]);
    refused(&folder, &other("--k 2,4", "--k 4"), 1, &["is not a setting of this sweep"]);
    refused(&folder, &other(" -o", " --tol 1e-3 -o"), 1, &["cannot be resumed"]);
    refused(&folder, &other("cycles", "cycles,time"), 1, &["measured cycles", "time+cycles"]);
    assert_eq!(text(&folder), whole);
    let machine = cell(&folder, &rows(&folder)[0], "machine").to_owned();
    let moved = whole.replace(&machine, "another machine, 3 cores");
    fs::write(table(&folder), &moved).unwrap();
    refused(&folder, &format!("{SMALL} --resume"), 1, &["another machine, 3 cores", &machine]);
    assert_eq!(text(&folder), moved);
    fs::write(table(&folder), "cycle,sweeps\n0,0\n").unwrap();
    refused(&folder, &format!("{SMALL} --resume"), 1, &["not the table of a sweep"]);
}

#[test]
fn an_invalid_sweep_is_an_error_in_one_sentence() {
    let folder = folder();
    let with = |options: &str| format!("sweep --shape 24x20 -o s.csv {options}");
    for (options, parts) in [
        ("--k 8:4", &["range 8:4 is reversed", "4:8"][..]),
        ("--overlap 0:30:0", &["step 0"]),
        ("--k ,", &["whole numbers or ranges"]),
        ("--tile q", &["whole numbers or ranges"]),
        ("--tile 4x", &["one for each axis such as 32x16"]),
        ("--overlap 3", &["overlap 3 is odd"]),
        ("--k 0,4", &["k is 0"]),
        ("--tile 4 --overlap 8,10", &["none of the 2 settings can run", "overlap 8 is too large"]),
        ("--tile 4 --overlap 8", &["the only setting cannot run: --overlap 8 is too large"]),
        ("--tile 4x4x4", &["one for each of the 2 axes"]),
        ("--tile 4x4x4x4", &["one for each axis"]),
        ("--k 1:4000 --overlap 0:4000", &["16004000 settings", "1000000"]),
        ("--kernel shared", &["kernel is shared", "backend cuda"]),
        ("--method pyramid --height 0:4", &["0 is not a height", "1 to 4096"]),
        ("--method pyramid --height 4:2", &["range 4:2 is reversed"]),
        ("--method pyramid --memory 1MB,much", &["a whole number of bytes with a unit"]),
        ("--method pyramid --memory 1kB", &["the only setting cannot run", "three planes"]),
        ("--method pyramid --memory 4kB --height 9,12", &["none of the 2 settings can run"]),
        ("--method pyramid --memory -1MB", &["'-1MB'", "--memory"]),
        ("--method wavefront --slabs two", &["--slabs is two", "pyramid"]),
        ("--method pyramid --k 4", &["--k has no effect on method pyramid"]),
        ("--tol -1", &["--tol is -1"]),
        ("--k -3:4", &["'-3:4'", "--k"]),
        ("--plot s.jpg", &["none of .png, .svg and .pdf"]),
        ("--measure speed", &["speed"]),
    ] {
        refused(&folder, &with(options), 2, parts);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "{options}");
    }
    refused(&folder, "sweep -o no/such/folder.csv", 1, &["no such file or folder"]);
}

/// Of 64 settings no more than 15 % are measured, and the best of them runs as it was printed.
/// Jacobi's iteration, with which settings are compared, has fewer bands of rows than tiles have rows.
#[test]
fn settings_on_several_devices_are_compared_with_jacobis_iteration() {
    let folder = folder();
    let grid = "--shape 16x16 --tile 8 --k 2 --measure cycles -o";
    done(&folder, &format!("sweep {grid} one.csv"));
    done(&folder, &format!("sweep {grid} two.csv --simulate-devices 2"));
    let [one, two] = ["one.csv", "two.csv"].map(|name| {
        let mut table = csv::Reader::from_path(folder.path().join(name)).unwrap();
        let at = table.headers().unwrap().iter().position(|name| name == "cycles").unwrap();
        table.records().next().unwrap().unwrap()[at].to_owned()
    });
    assert_eq!(one, two);
}

#[test]
fn tune_measures_a_few_settings_and_prints_a_command_that_runs() {
    let folder = folder();
    let tune = "tune --shape 96x64 --k 1,2,4,8 --overlap 0:6:2 --tile 8,12,16,20 --tol 1e-2";
    let found: Value = serde_json::from_str(&done(&folder, &format!("{tune} --json"))).unwrap();
    let measured = found["measured"].as_array().unwrap();
    assert_eq!(found["settings"], 64);
    assert!((1..=9).contains(&measured.len()), "{}", measured.len());
    let seconds = |row: &Value| row["seconds"].as_f64().unwrap();
    assert!(measured.iter().all(|row| seconds(row) >= seconds(&found["best"])));
    // Counted on a smaller grid and extrapolated, cycles are near those of the whole one.
    for row in measured {
        let ratio = row["predicted_cycles"].as_f64().unwrap() / row["cycles"].as_f64().unwrap();
        assert!((0.5..2.0).contains(&ratio), "{row}");
    }
    let command = found["best"]["command"].as_str().unwrap();
    let command = command.strip_prefix("tilescope ").unwrap();
    let solved: Value = serde_json::from_str(&done(&folder, &format!("{command} --json"))).unwrap();
    assert_eq!(solved["cycles"], found["best"]["cycles"]);
    let said = done(&folder, tune);
    assert!(said.contains("of 64 settings measured") && said.contains("best  k = "), "{said}");
    assert!(said.contains("      tilescope solve --problem poisson --shape 96x64 --k "), "{said}");

    refused(&folder, "tune --tile 4 --overlap 8", 2, &["none of the 6 settings can run"]);
    let said = "memory is 1B; method pyramid needs room for at least three planes";
    refused(&folder, "tune --method pyramid --memory 1B", 2, &[said]);
    refused(&folder, "tune --k 8:2", 2, &["range 8:2 is reversed"]);
    let never = "tune --shape 96x64 --k 4,8 --tile 16 --tol 1e-2 --max-cycles 2";
    let output = tilescope(&folder, never).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("tilescope: no setting reached the tolerance; "), "{said}");
    assert!(said.contains("--max-cycles") && said.lines().count() == 1, "{said}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn a_tolerance_that_is_never_met_is_capped() {
    let folder = folder();
    let said = tilescope(&folder, "sweep --shape 24x20 --max-cycles 5 --measure cycles -o s.csv");
    let output = { said }.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.starts_with("tilescope: no setting reached the tolerance; 1 stopped at"),
        "{said}"
    );
    assert!(said.contains("--max-cycles"), "{said}");
    let rows = rows(&folder);
    let value = |name| cell(&folder, &rows[0], name);
    assert_eq!((value("cycles"), value("sweeps"), value("outcome")), (">5", "", "capped"));
}

#[test]
fn why_no_setting_reached_the_tolerance_is_said_with_what_helps() {
    let folder = folder();
    let wild = "--problem convection-diffusion --velocity=900,-20 --shape 32x32";
    let single = "--shape 24x20 --precision f32 --tol 1e-9";
    for (options, outcome, parts) in [
        (wild, "diverged", ["1 diverged", "a lower --omega may help"]),
        (
            single,
            "rounding-limit",
            ["at the rounding limit", "raise --tol, or use --precision f64"],
        ),
    ] {
        let sweep = format!("sweep {options} --k 4 --measure cycles -o s.csv");
        let output = tilescope(&folder, &sweep).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(parts.iter().all(|part| said.contains(part)), "{said}");
        let first = rows(&folder).remove(0);
        assert_eq!(
            (cell(&folder, &first, "outcome"), cell(&folder, &first, "cycles")),
            (outcome, "")
        );
        // Resumed, it reports the same.
        let output = tilescope(&folder, &format!("{sweep} --resume")).output().unwrap();
        assert_eq!(
            (output.status.code(), String::from_utf8(output.stderr).unwrap()),
            (Some(1), said)
        );
        fs::remove_file(table(&folder)).unwrap();
    }
}

/// A pipe without a reader would lose the rows.
#[cfg(unix)]
#[test]
fn a_table_is_not_written_to_a_named_pipe() {
    let folder = folder();
    assert!(std::process::Command::new("mkfifo").arg(table(&folder)).status().unwrap().success());
    refused(&folder, SMALL, 1, &["s.csv is a pipe, which keeps no rows; name a file"]);
    // The standard output is one here, too.
    let printed = done(&folder, &SMALL.replace("-o s.csv", "-o /dev/stdout"));
    assert!(printed.starts_with("shape,k,overlap,"), "{printed}");
}

/// Cycles are counted to a tolerance: without one there is nothing to count.
#[test]
fn cycles_without_a_tolerance_are_refused() {
    let folder = folder();
    let parts = ["--tol is none; cycles are counted to a tolerance", "a number, such as 1e-4"];
    refused(&folder, &format!("{SMALL} --tol none"), 2, &parts);
    refused(&folder, "tune --shape 24x20 --tol none", 2, &parts);
    let timed = "sweep --shape 24x20 --k 2 --tile 8 --measure time --tol none -o t.csv";
    done(&folder, timed);
}

/// A table that a spreadsheet saved is continued; one that was edited is not.
#[test]
fn a_table_with_other_line_ends_is_resumed_and_an_edited_one_refused() {
    let folder = folder();
    done(&folder, SMALL);
    let whole = text(&folder);
    let rows: Vec<&str> = whole.split_inclusive('\n').collect();
    fs::write(table(&folder), rows[..9].concat().replace('\n', "\r\n")).unwrap();
    done(&folder, &format!("{SMALL} --resume"));
    assert_eq!(text(&folder), whole);
    for (edited, parts) in [
        (format!("{whole}{}", rows[3]), ["it has two rows of", "remove one of them"]),
        (whole.replacen("24x20,2,", "24x20,3,", 1), ["has k = 3", "its other columns give 2"]),
        (
            whole.replacen("24x20,2,", "24x20,many,", 1),
            ["line 2", "k is “many”; it must be a whole number"],
        ),
        (
            whole.replacen(rows[1], &rows[1].replacen(",measured,", ",misured,", 1), 1),
            ["line 2", "outcome is “misured”; it must be measured, capped,"],
        ),
        (
            whole.replacen(rows[2], &format!("{},note\n", rows[2].trim_end()), 1),
            ["line 3", "it has 28 fields, and the first line has 27"],
        ),
    ] {
        fs::write(table(&folder), &edited).unwrap();
        refused(&folder, &format!("{SMALL} --resume"), 1, &parts);
        assert_eq!(text(&folder), edited);
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_leaves_a_table_that_can_be_resumed() {
    let folder = folder();
    let long = "sweep --shape 200 --k 1:40 --tile 32 --measure cycles -o s.csv";
    let program = Command::cargo_bin("tilescope").unwrap().get_program().to_owned();
    let mut child = std::process::Command::new(program)
        .current_dir(&folder)
        .args(long.split_whitespace())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let lines = || fs::read_to_string(table(&folder)).map_or(0, |text| text.lines().count());
    while lines() < 2 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let id = child.id().to_string();
    // Two processes would write every row twice.
    let second = tilescope(&folder, &format!("{long} --resume")).output().unwrap();
    if child.try_wait().unwrap().is_none() {
        let said = String::from_utf8(second.stderr).unwrap();
        assert!(said.contains("s.csv is being written by "), "{said}");
    }
    std::process::Command::new("kill").args(["-INT", &id]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let made = rows(&folder).len();
    if made < 40 {
        assert_eq!(output.status.code(), Some(130));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(&format!("interrupted after {made} of 40 settings")), "{said}");
    }
    let before = text(&folder);
    done(&folder, &format!("{long} --resume"));
    assert!(text(&folder).starts_with(&before));
    assert_eq!(rows(&folder).len(), 40);
}
