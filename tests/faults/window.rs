//! The files that the window saves, on a disk that fails: by the functions that its jobs call, one for each kind of
//! file. The test starts itself again with each operation failing in turn.

use super::injected::{each_operation_fails_whole, with_fault};
use std::error::Error;
use std::path::Path;
use std::process::Command;
use std::{env, fs, process};
use tilescope::picture::{
    FigureKind, FigureSpec, Film, Frames, RATE, Spacing, ViewSpec, figure, save_figure, save_film,
    save_table,
};
use tilescope::run::{
    Backend, FieldKind, Monitor, ObservationRequest, Planner, RecordedCycles, RunSpec, Snapshot,
    SnapshotRequest, SweepTable, record_run, save_field, save_run, save_shown,
};
use tilescope::solver::StopToken;

/// In the environment of the process that saves: its file, and the table of a sweep whose rows it saves.
const FILE: &str = "TILESCOPE_TEST_FILE";
const TABLE: &str = "TILESCOPE_TEST_TABLE";

/// One file of each kind.
const FILES: [&str; 7] =
    ["figure.png", "curves.csv", "shown.npy", "iterate.npy", "run.toml", "film.apng", "tuning.csv"];

/// The cycles that are shown; those of the frames of a film.
const CYCLES: [u64; 3] = [0, 10, 20];

fn small() -> RunSpec {
    let mut spec = RunSpec::default();
    spec.problem.shape = vec![40, 36];
    spec.method.backend = Backend::Cpu;
    (spec.method.tile, spec.method.k) = (vec![8], 4.into());
    spec
}

fn snapshots(run: &RunSpec, view: &ViewSpec) -> Result<Vec<Snapshot>, Box<dyn Error>> {
    let plan = Planner::default().plan(run)?;
    let wanted = view.snapshot_request(0, &plan.problem.shape);
    let whole = Some(FieldKind::Solution);
    let observation = ObservationRequest { whole, ..wanted.observation.clone() };
    let request = SnapshotRequest { observation, ..wanted };
    let cancel = StopToken::default();
    let mut monitor = Monitor { cancel: &cancel, on_progress: &mut |_| {} };
    Ok(record_run(&plan, &request, RecordedCycles::Each(&CYCLES), &mut monitor)?.snapshots)
}

/// Saves a file; no descriptor is left open, whatever happens.
fn save(name: &str) -> Result<(), Box<dyn Error>> {
    let (path, run) = (Path::new(name), small());
    let kind = if name == "curves.csv" { FigureKind::CURVES } else { FigureKind::default() };
    let size = FigureSpec { size: [200, 150], ..FigureSpec::default() };
    let view = ViewSpec { kind, figure: size, ..ViewSpec::default() };
    let snapshots = snapshots(&run, &view)?;
    let last = snapshots.last().ok_or("there is no snapshot")?;
    let (_, values) = last.observation.whole.as_ref().ok_or("the field was not captured")?;
    let precision = last.plan.precision;
    let view = ViewSpec { cycle: last.cycle(), ..view };
    let (_, rows) = SweepTable::resume(Path::new(&env::var(TABLE)?), |_| Ok(()))?;
    let before = descriptors();
    let saved: Result<(), Box<dyn Error>> = match name {
        "figure.png" => {
            save_figure(path, &figure(&[last], &view), &run, Some(&view)).map_err(Into::into)
        }
        "curves.csv" => save_table(path, &[last], &view).map_err(Into::into),
        "shown.npy" => save_shown(path, values, view.slice, precision).map_err(Into::into),
        "iterate.npy" => save_field(path, values, precision).map_err(Into::into),
        "run.toml" => save_run(path, &run).map_err(Into::into),
        "film.apng" => {
            let [first, .., last] = CYCLES;
            let frames = Frames { first, last, spacing: Spacing::Every(10), rate: RATE };
            let view = ViewSpec { frames: Some(frames), ..view };
            let film = Film { runs: &[snapshots], view: &view, frames };
            save_film(path, &film, &run, &StopToken::default(), &mut |_| {}).map_err(Into::into)
        }
        _ => SweepTable::save(path, &rows).map_err(Into::into),
    };
    assert_eq!(descriptors(), before, "a file is left open");
    saved
}

/// How many files this process has open.
fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd").unwrap().count()
}

#[test]
fn what_the_window_saves_is_whole_or_not_there() {
    if let Some(name) = env::var_os(FILE) {
        if let Err(error) = save(name.to_str().unwrap()) {
            eprintln!("tilescope: {error}");
            process::exit(1);
        }
        return;
    }
    let known = tempfile::tempdir().unwrap();
    let table = known.path().join("sweep.csv");
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/table/sweep.csv"), &table)
        .unwrap();
    let test = "window::what_the_window_saves_is_whole_or_not_there";
    for name in FILES {
        each_operation_fails_whole(name, name, |folder, fault| {
            let mut saving = Command::new(env::current_exe().unwrap());
            saving.args(["--exact", test, "--nocapture"]).current_dir(folder);
            with_fault(saving.env(FILE, name).env(TABLE, &table), fault)
        });
    }
}
