//! What the fuzzers do with some bytes: each reader must give a result or an error that is one sentence,
//! and what it accepts must survive being written again. `tests/corpora.rs` does the same with every file
//! of the corpora.

use std::convert::Infallible;
use std::fmt::{Debug, Display};
use std::io::Write;
use std::path::Path;
use std::str::FromStr;
use std::sync::{Arc, OnceLock};
use tempfile::TempDir;
use tilescope::app::SettingsFile;
use tilescope::cli::refusals;
use tilescope::grid::{ByteCount, Slice};
use tilescope::lesson::Lesson;
use tilescope::picture::{ColourMap, link_text, read_link};
use tilescope::problem::{input, matrix};
use tilescope::run::{
    Backend, InitialGuess, PerAxis, Plan, Planner, Run, RunSpec, Store, StoredRunError, SweepTable,
};
use tilescope::solver::{Height, MethodName, Subiterations};

/// A target: its name, which is that of its folder in the corpus, and what it does.
pub type Target = (&'static str, fn(&[u8]));

/// All of them.
pub const TARGETS: [Target; 10] = [
    ("run-file", run_file),
    ("figure", figure),
    ("input", input),
    ("table", table),
    ("values", values),
    ("matrix", matrix),
    ("settings", settings),
    ("lesson", lesson),
    ("link", link),
    ("store", store),
];

/// Points of the largest grid that is planned: a plan takes no memory of the grid's size, but its
/// right-hand side may.
const MOST_POINTS: usize = 1 << 16;

/// A run file, with the plan that it describes.
pub fn run_file(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match RunSpec::from_toml(text, "the text") {
        Ok(spec) => {
            assert_eq!(RunSpec::from_toml(&spec.to_toml(), "the text").as_ref().ok(), Some(&spec));
            let points = spec
                .problem
                .shape
                .iter()
                .try_fold(spec.problem.batch, |points, n| points.checked_mul(*n));
            if points.is_some_and(|points| points <= MOST_POINTS) && spec.problem.rhs.is_none() {
                Planner::default().plan(&spec).map_or_else(|error| sentence(&error), drop);
            }
        }
        Err(error) => sentence(&error),
    }
}

/// A figure that may carry a run: as PNG, as SVG and as PDF.
pub fn figure(bytes: &[u8]) {
    for ending in ["png", "svg", "pdf"] {
        with_file(bytes, ending, |path| {
            if let Err(error) = tilescope::picture::open(path) {
                sentence(&error);
            }
        });
    }
}

/// A right-hand side: an array, in memory and in its file, or a picture.
pub fn input(bytes: &[u8]) {
    with_file(bytes, "npy", |path| match input::natural_shape(path) {
        Ok(shape) if shape.points() <= MOST_POINTS => {
            let mapped = input::map_array(path, &shape);
            match input::load(path, &shape) {
                Ok(values) => {
                    assert!(values.iter().all(|value| value.is_finite()));
                    if let Some(mapped) = mapped.expect("it is read either way") {
                        assert!(values.iter().enumerate().all(|(at, it)| mapped.at(at) == *it));
                    }
                }
                Err(error) => {
                    sentence(&error);
                    assert!(!matches!(mapped, Ok(Some(_))), "it is refused either way");
                }
            }
        }
        Ok(_) => {}
        Err(error) => sentence(&error),
    });
}

/// The table of a sweep: one that is refused stays as it is.
pub fn table(bytes: &[u8]) {
    with_file(bytes, "csv", |path| match SweepTable::resume(path, |_| Ok(())) {
        Ok((table, rows)) => {
            drop(table);
            let again = SweepTable::resume(path, |_| Ok(())).map(|(_, rows)| rows);
            assert_eq!(format!("{:?}", again.ok()), format!("{:?}", Some(rows)));
        }
        Err(error) => {
            sentence(&error);
            assert_eq!(std::fs::read(path).ok().as_deref(), Some(bytes));
        }
    });
}

/// A sparse matrix, plain or compressed, and a vector.
pub fn matrix(bytes: &[u8]) {
    with_file(bytes, "mtx", |path| {
        match matrix::read_rows(path) {
            Ok(rows) if rows > MOST_POINTS => return,
            Ok(_) => {}
            Err(error) => sentence(&error),
        }
        match matrix::read_matrix(path, &mut |_| {}) {
            Ok(read) => {
                matrix::save_matrix(path, &read).expect("a temporary file that can be replaced");
                let again = matrix::read_matrix(path, &mut |_| {});
                assert_eq!(again.expect("what was written can be read"), read);
            }
            Err(error) => sentence(&error),
        }
    });
    with_file(bytes, "mtx", |path| {
        if let Err(error) = matrix::read_vector(path, 4) {
            sentence(&error);
        }
    });
}

/// The settings of the window, with the layout of its panes: an invalid file is renamed, and defaults are
/// used.
pub fn settings(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("settings.toml");
    std::fs::write(&path, bytes).expect("a temporary file that can be written");
    let settings = SettingsFile::at(path.clone());
    assert!(settings.window().iter().all(|side| (100.0..=20_000.0).contains(side)));
    drop(settings);
    let kept = std::fs::read(&path).or_else(|_| std::fs::read(path.with_extension("toml.aside")));
    assert_eq!(kept.ok().as_deref(), Some(bytes));
}

/// A lesson. One that names a matrix is not read: matrices have a target of their own, and generated ones
/// may be large.
pub fn lesson(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if text.contains("matrix") {
        return;
    }
    match Lesson::parse(text, Path::new("lesson.md")) {
        Ok(read) => {
            read.errors.iter().for_each(|error| sentence(error));
            assert!(!read.lesson.steps.is_empty());
        }
        Err(error) => sentence(&error),
    }
}

/// The text of a link, which carries a run and a view.
pub fn link(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match read_link(text) {
        Ok(opened) => {
            // As text: NaN is a value that differs from itself.
            let again = read_link(&link_text(&opened)).ok();
            assert_eq!(format!("{again:?}"), format!("{:?}", Some(opened)));
        }
        Err(error) => sentence(&error),
    }
}

/// The folder of a run that streams: its checkpoint, and below a line of dashes the norms of its passes. The arrays are those
/// of a run of two passes, which is `tilescope solve --shape 6x5 --method wavefront --height 1 --backend cpu --tol none`.
pub fn store(bytes: &[u8]) {
    let (plan, made) = stored_run();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path();
    for name in ["iterate-even", "iterate-odd", "right-hand-side"] {
        // Not a copy by the system: the fuzzer's timer would interrupt that.
        let array = std::fs::read(made.path().join(name)).expect("an array");
        std::fs::write(path.join(name), array).expect("room");
    }
    let at = bytes.windows(DASHES.len()).position(|window| window == DASHES);
    let checkpoint = &bytes[..at.unwrap_or(bytes.len())];
    std::fs::write(path.join("checkpoint.toml"), checkpoint).expect("room");
    if let Some(at) = at {
        std::fs::write(path.join("norms.csv"), &bytes[at + DASHES.len()..]).expect("room");
    }
    let opened = Store::open(path, plan).map_err(StoredRunError::from);
    match opened.and_then(|store| Run::in_store(plan, store)) {
        Ok(mut run) => {
            assert!(run.cycle() <= plan.stop.max_cycles);
            assert!(run.history().records().map(|it| it.cycle).is_sorted());
            // A checkpoint may say that it has diverged.
            _ = run.advance(1);
        }
        Err(error) => {
            sentence(&error);
            let kept = std::fs::read(path.join("checkpoint.toml")).ok();
            assert_eq!(kept.as_deref(), Some(checkpoint), "{error}");
        }
    }
}

const DASHES: &[u8] = b"---\n";

/// The run of [`store`], and its folder.
fn stored_run() -> &'static (Arc<Plan>, TempDir) {
    static MADE: OnceLock<(Arc<Plan>, TempDir)> = OnceLock::new();
    MADE.get_or_init(|| {
        let mut spec = RunSpec::default();
        spec.problem.shape = vec![6, 5];
        spec.method.set_name(MethodName::Wavefront);
        (spec.method.height, spec.method.backend) = (Some(Height::Sweeps(1)), Backend::Cpu);
        (spec.method.threads, spec.stop.tolerance, spec.stop.max_cycles) = (1, None, 100);
        let plan = Arc::new(Planner::default().plan(&spec).expect("a plan"));
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = Store::open(folder.path(), &plan).expect("a new store");
        let mut run = Run::in_store(&plan, store).expect("little memory");
        for _ in 0..2 {
            run.advance(1).expect("a CPU");
        }
        drop(run);
        (plan, folder)
    })
}

/// Values of options: every parser of the command line, and of the types that options and run files share. What
/// is accepted and written again is the same value.
pub fn values(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for said in refusals(text) {
        assert!(!said.is_empty() && !said.contains("invalid digit"), "{said}");
    }
    value::<Subiterations>(text);
    value::<Height>(text);
    value::<ByteCount>(text);
    value::<Slice>(text);
    value::<PerAxis>(text);
    value::<ColourMap>(text);
    let Ok(guess) = text.parse::<InitialGuess>();
    // As text: NaN is a value that differs from itself.
    let again = guess.to_string().parse::<InitialGuess>();
    assert_eq!(format!("{again:?}"), format!("{:?}", Ok::<_, Infallible>(guess)));
}

/// Parses a value and, if it is one, parses it again as it is written.
fn value<T: FromStr<Err: Display> + Display + Debug + PartialEq>(text: &str) {
    match text.parse::<T>() {
        Ok(value) => assert_eq!(value.to_string().parse::<T>().ok(), Some(value)),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

/// Checks the message of an error. What it quotes may be anything, so it is one line on a terminal only
/// after the program has escaped it.
fn sentence(error: &dyn std::error::Error) {
    let said = error.to_string();
    assert!(!said.is_empty() && !said.contains("(os error"), "{said}");
}

fn with_file(bytes: &[u8], ending: &str, read: impl FnOnce(&Path)) {
    let made = tempfile::Builder::new().suffix(&format!(".{ending}")).tempfile();
    let mut file = made.expect("a temporary file");
    file.write_all(bytes).expect("a temporary file that can be written");
    read(file.path());
}
