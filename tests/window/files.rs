//! Files dropped on the window, and files saved through its dialog.

use crate::controls::small;
use crate::driver::Window;
use eframe::egui::{Key, Modifiers, Theme, accesskit::Role, vec2};
use egui_kittest::kittest::{NodeT, Queryable};
use flate2::{Compression, write::GzEncoder};
use image::{GrayImage, Luma};
use npyz::WriterBuilder;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use tempfile::tempdir;
use tilescope::grid::GridPoint;
use tilescope::picture::{
    self, ColourMap, Drawing, FigureKind, FigureSpec, InsideView, Pairing, PlacedFigure, Range,
    ScaleKind, ViewSpec,
};
use tilescope::problem::Stencil;
use tilescope::run::{
    CURVE_HEADER, CutLine, FieldKind, InitialGuess, MethodSpec, Monitor, Planner, ProblemKind,
    ProblemSpec, RecordedCycles, RunSpec, Snapshot, Stage, save_run,
};
use tilescope::solver::StopToken;

pub const TESTS: &[(&str, fn())] = &[
    ("a_dropped_run_is_run", a_dropped_run_is_run),
    ("a_run_is_opened_by_its_name", a_run_is_opened_by_its_name),
    ("a_dropped_figure_restores_its_run", a_dropped_figure_restores_its_run),
    ("a_dropped_picture_is_a_right_hand_side", a_dropped_picture_is_a_right_hand_side),
    ("a_dropped_array_is_a_right_hand_side", a_dropped_array_is_a_right_hand_side),
    ("a_dropped_matrix_is_solved", a_dropped_matrix_is_solved),
    ("an_array_becomes_the_initial_guess", an_array_becomes_the_initial_guess),
    ("a_refused_run_keeps_the_current_one", a_refused_run_keeps_the_current_one),
    ("a_run_that_does_not_fit_keeps_the_current_one", a_run_that_does_not_fit),
    ("an_unknown_file_is_reported_once", an_unknown_file_is_reported_once),
    ("everything_can_be_saved_and_read_back", everything_can_be_saved_and_read_back),
    ("what_cannot_be_saved_is_reported", what_cannot_be_saved_is_reported),
    ("a_file_that_waits_in_vain_is_reported", a_file_that_waits_in_vain_is_reported),
    ("the_dialog_shows_what_the_file_will_look_like", the_dialog_shows_what_will_be_saved),
    ("an_animation_is_made_and_can_be_stopped", an_animation_is_made_and_can_be_stopped),
    (
        "an_animation_beyond_the_limit_is_refused_in_the_dialog",
        an_animation_beyond_the_limit_is_refused_in_the_dialog,
    ),
    ("a_figure_is_copied_without_a_file", a_figure_is_copied_without_a_file),
    ("a_figure_restores_its_range", a_figure_restores_its_range),
    ("a_figure_shows_the_earlier_cycle_that_is_shown", a_figure_shows_an_earlier_cycle),
    ("a_figure_of_two_runs_restores_both", a_figure_of_two_runs_restores_both),
    ("a_figure_of_many_runs_restores_all", a_figure_of_many_runs_restores_all),
    (
        "an_animation_of_two_runs_pairs_them_as_the_map_does",
        an_animation_of_two_runs_pairs_them_as_the_map_does,
    ),
    ("what_a_figure_shows_is_shown_again", what_a_figure_shows_is_shown_again),
];

/// A run that differs from the small one in every visible setting.
fn other() -> RunSpec {
    let mut run = small();
    run.method.k = 8.into();
    run.method.overlap = vec![6];
    run.problem.shape = vec![48, 40];
    run
}

fn a_dropped_run_is_run() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("other.toml");
    save_run(&path, &other()).unwrap();
    let mut window = Window::paused(small());
    window.drop_file(&path);
    window.until("opened", |window| window.slider("k") == 8.0);
    assert_eq!(window.slider("Overlap"), 6.0);
    assert_eq!(window.run_under_way(), other());
}

fn a_run_is_opened_by_its_name() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("other.toml");
    save_run(&path, &other()).unwrap();
    let mut window = Window::paused(small());
    window.open(&folder.path().join("missing.toml"));
    // The dialog stays open with its sentence and the focus.
    window.until_text("no such file or folder");
    assert_eq!(window.messages(), 0);
    let file = window.harness.get_by_role_and_label(Role::TextInput, "File");
    assert!(file.accesskit_node().is_focused());
    window.key(Key::R);
    assert!(window.has(Role::TextInput, "File"), "keys are typed");
    window.open(&path);
    window.until("opened", |window| window.slider("k") == 8.0);
    assert!(!window.has(Role::TextInput, "File"));
    assert_eq!(window.run_under_way(), other());
    // It is among the recent files.
    window.reset();
    window.set_slider("k", 2.0);
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::O);
    window.frames(2);
    window.button("other.toml");
    window.until("opened", |window| window.slider("k") == 8.0);
}

fn a_dropped_figure_restores_its_run() {
    let folder = tempdir().unwrap();
    for name in ["figure.png", "figure.svg", "figure.pdf"] {
        let path = folder.path().join(name);
        let mut window = Window::paused(other());
        window.step(2);
        window.choose("Field", "Update");
        window.until("shown", |window| window.says("|Δu|"));
        window.save_and_wait("Heat map", &path);
        let (run, view) = picture::read_figure(&path).unwrap();
        let view = view.expect("the view");
        assert_eq!((run, view.cycle, view.field), (other(), 2, FieldKind::Change));
        let mut window = Window::paused(small());
        window.drop_file(&path);
        window.until("opened", |window| window.slider("k") == 8.0 && window.says("|Δu|"));
        assert_eq!(window.run_under_way(), other());
    }
}

fn a_dropped_picture_is_a_right_hand_side() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("mine.png");
    GrayImage::from_fn(40, 30, |x, y| Luma([(x * y % 251) as u8])).save(&path).unwrap();
    let mut window = Window::paused(small());
    window.drop_file(&path);
    window.until_text("mine.png");
    let run = window.run_under_way();
    assert_eq!((run.problem.kind, run.problem.shape), (ProblemKind::Picture, vec![40, 30]));
    window.until("shown", |window| window.has_picture());
}

/// An array of 24 × 20 points.
fn save_array(path: &Path) {
    let mut file = fs::File::create(path).unwrap();
    let mut out = npyz::WriteOptions::<f64>::new()
        .default_dtype()
        .shape(&[20, 24])
        .writer(&mut file)
        .begin_nd()
        .unwrap();
    out.extend((0..480).map(f64::from)).unwrap();
    out.finish().unwrap();
}

fn a_dropped_array_is_a_right_hand_side() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("mine.npy");
    save_array(&path);
    let mut window = Window::paused(small());
    window.drop_file(&path);
    window.until_text("mine.npy");
    let run = window.run_under_way();
    assert_eq!((run.problem.kind, run.problem.shape), (ProblemKind::Picture, vec![24, 20]));
}

/// As text and compressed, on a run whose method has what a matrix does not take; a damaged one is said to be one.
fn a_dropped_matrix_is_solved() {
    let folder = tempdir().unwrap();
    let mut text = "%%MatrixMarket matrix coordinate real symmetric\n40 40 79\n".to_owned();
    for row in 1..=40 {
        text += &format!("{row} {row} 2.5\n");
        if row > 1 {
            text += &format!("{row} {} -1\n", row - 1);
        }
    }
    let plain = folder.path().join("chain.mtx");
    fs::write(&plain, &text).unwrap();
    let packed = folder.path().join("chain.mtx.gz");
    let mut gz = GzEncoder::new(fs::File::create(&packed).unwrap(), Compression::fast());
    gz.write_all(text.as_bytes()).unwrap();
    gz.finish().unwrap();
    let mut run = small();
    (run.method.tile, run.method.overlap) = (vec![8, 16], vec![0, 2]);
    (run.method.omega, run.method.wave) = (0.9, Some(2));
    for path in [&plain, &packed] {
        let mut window = Window::paused(run.clone());
        window.drop_file(path);
        window.until_text("Sparse matrix");
        window.key(Key::Space);
        window.until_text("✓ converged");
        let run = window.run_under_way();
        assert_eq!((run.problem.kind, run.problem.shape), (ProblemKind::Matrix, vec![40]));
        assert_eq!(run.problem.matrix.unwrap().source, *path);
        assert_eq!((run.method.tile, run.method.omega), (vec![8], 1.0));
    }
    let bytes = fs::read(&packed).unwrap();
    let damaged = [
        ("short.mtx", "%%MatrixMarket matrix coordinate real".as_bytes(), "short.mtx, line 1"),
        ("none.mtx", b"40 40 79\n", "none.mtx"),
        ("cut.mtx.gz", &bytes[..20], "cut.mtx.gz"),
    ];
    for (name, bytes, said) in damaged {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        let mut window = Window::paused(small());
        window.drop_file(&path);
        window.until_text(said);
        window.settle_some();
        assert_eq!(window.messages(), 1, "{name}");
        assert_eq!(window.run_under_way(), small());
    }
}

/// By its name in the dialog, dropped on the dialog, and dropped on a run of its shape.
fn an_array_becomes_the_initial_guess() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("mine.npy");
    save_array(&path);
    let mut run = small();
    let guess = Some(InitialGuess::File(path.clone()));
    run.method.tile = vec![8];
    // Of another shape it is refused, and the dialog stays.
    let paused = |run: &RunSpec| {
        // As high as the panel is.
        let mut window = Window::sized(vec2(1280.0, 1300.0), Theme::Dark, Some(run.clone()));
        window.reset();
        window
    };
    let mut window = paused(&run);
    let open = |window: &mut Window| window.choose("Initial guess", "File …");
    let name = path.to_str().unwrap();
    let type_name = |window: &mut Window| {
        let field = window.harness.get_by_role_and_label(Role::TextInput, "File");
        field.set_text_value_accesskit(name);
        window.frames(2);
        window.button("Open");
    };
    open(&mut window);
    type_name(&mut window);
    window.until_text("shape [20, 24]");
    window.button("Cancel");
    run.problem.shape = vec![24, 20];
    let with_guess = |run: &RunSpec| {
        let mut run = run.clone();
        run.problem.initial = guess.clone();
        run
    };
    let ways: [&dyn Fn(&mut Window); 3] = [
        &|window| {
            open(window);
            type_name(window);
        },
        &|window| {
            open(window);
            window.drop_file(&path);
        },
        &|window| {
            window.drop_file(&path);
            window.until_text("The array has the shape of the grid");
            window.button("Use as initial guess");
        },
    ];
    for way in ways {
        let mut window = paused(&run);
        way(&mut window);
        window.until_text("mine.npy");
        assert_eq!(window.run_under_way(), with_guess(&run));
        window.choose("Initial guess", "Value");
        window.type_into("Initial guess", "2.5");
        let value = Some(InitialGuess::Value(2.5));
        assert_eq!(window.run_under_way().problem.initial, value);
        window.choose("Initial guess", "Own");
        assert_eq!(window.run_under_way().problem.initial, None);
    }
}

fn a_refused_run_keeps_the_current_one() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("odd.toml");
    let mut odd = other();
    odd.method.overlap = vec![3];
    save_run(&path, &odd).unwrap();
    let mut window = Window::paused(small());
    window.step(3);
    window.drop_file(&path);
    window.until_text("overlap 3 is odd");
    window.settle_some();
    assert_eq!(window.messages(), 1);
    assert_eq!((window.cycle(), window.slider("k")), (3, 4.0));
    // The run continues unchanged.
    window.step(1);
    assert_eq!(window.cycle(), 4);
    assert_eq!(window.run_under_way(), small());
    assert_eq!(window.cycle(), 4);
}

/// More memory than any machine has, which no control offers.
fn a_run_that_does_not_fit() {
    let mut window = Window::paused(small());
    window.step(3);
    for axis in ["Points along x", "Points along y"] {
        window.type_into(axis, "1000000000000");
        window.until("a message", |window| window.says("needs") && window.messages() == 1);
        window.until("as before", |window| window.says("64"));
        window.button("Dismiss");
    }
    window.settle_some();
    assert_eq!(window.messages(), 0, "{:?}", window.texts());
    assert_eq!(window.cycle(), 3);
    window.step(1);
    assert_eq!(window.run_under_way(), small());
}

fn an_unknown_file_is_reported_once() {
    let folder = tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let files = [
        folder.path().join("missing.toml"),
        write("foreign.toml", b"[package]\nname = \"x\"\n"),
        write("newer.toml", b"version = 99\n"),
        write("cut.png", &b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"[..]),
        write("empty.npy", b""),
        write("letter.pdf", b"%PDF-1.7"),
        folder.path().to_owned(),
    ];
    for path in files {
        let mut window = Window::paused(small());
        window.step(1);
        window.drop_file(&path);
        window.until("a message", |window| window.messages() > 0);
        window.settle_some();
        assert_eq!(window.messages(), 1, "{}: {:?}", path.display(), window.texts());
        let file = path.file_name().unwrap().to_str().unwrap();
        assert!(window.says(file), "{file}: {:?}", window.texts());
        assert_eq!(window.cycle(), 1);
        window.step(1);
    }
}

fn everything_can_be_saved_and_read_back() {
    let folder = tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut window = Window::paused(other());
    window.step(5);
    window.save_and_wait("Heat map", &path("map.png"));
    window.save_and_wait("Convergence", &path("curves.svg"));
    window.save_and_wait("Raw map (1 px per point)", &path("bare.png"));
    window.save_and_wait("Run description", &path("run.toml"));
    window.save_and_wait("Convergence", &path("curve.csv"));
    window.save_and_wait("Iterate as an array", &path("u.npy"));
    window.save_and_wait("Profile", &path("profile.png"));
    window.save_and_wait("Profile", &path("profile.csv"));
    window.save_and_wait("Heat map", &path("map.csv"));
    window.save_and_wait("Mean tile", &path("tile.csv"));
    for name in ["distance.csv", "distance.svg"] {
        window.save_and_wait("By distance", &path(name));
    }
    for name in ["share.csv", "share.svg"] {
        window.save_and_wait("Edge share", &path(name));
    }
    for name in ["inside.csv", "inside.svg"] {
        window.save_and_wait("Inside a cycle", &path(name));
    }
    window.save_and_wait("Field as an array", &path("r.npy"));
    window.until("a message", |window| window.says("r.npy"));
    assert_eq!(image::image_dimensions(path("map.png")).unwrap(), (1200, 900));
    assert_eq!(image::image_dimensions(path("bare.png")).unwrap(), (48, 40));
    for name in ["map.png", "curves.svg", "bare.png", "profile.png"] {
        let (run, view) = picture::read_figure(&path(name)).unwrap();
        assert_eq!((run, view.unwrap().cycle), (other(), 5), "{name}");
    }
    assert_eq!(RunSpec::load(&path("run.toml")).unwrap(), other());
    let mut table = csv::Reader::from_path(path("curve.csv")).unwrap();
    assert_eq!(table.headers().unwrap(), [&["run"], CURVE_HEADER.as_slice()].concat());
    let runs: Vec<_> = table.records().map(|row| row.unwrap()[0].to_owned()).collect();
    let of = |name| runs.iter().filter(|run| *run == name).count();
    assert_eq!(of("this run"), 6, "the start and five cycles");
    assert!(of("classic Jacobi") > 1 && of("classic Jacobi") + 6 == runs.len(), "{runs:?}");
    let mut table = csv::Reader::from_path(path("profile.csv")).unwrap();
    assert_eq!(table.headers().unwrap(), vec!["i", "residual"]);
    assert_eq!(table.records().count(), 48, "the points of a row");
    let mut table = csv::Reader::from_path(path("map.csv")).unwrap();
    assert_eq!(table.headers().unwrap(), vec!["i", "j", "residual"]);
    let cells: Vec<(usize, usize, f32)> = table.deserialize().map(Result::unwrap).collect();
    let array = npyz::NpyFile::new(fs::File::open(path("r.npy")).unwrap()).unwrap();
    assert_eq!(array.shape(), [40, 48]);
    // In the precision of the run, of which the map has samples.
    let r: Vec<f64> = array.into_vec().unwrap();
    assert_eq!(cells.len(), r.len());
    for (index, ((i, j, sample), value)) in cells.iter().zip(&r).enumerate() {
        assert_eq!((*i, *j), (index % 48, index / 48));
        assert!((f64::from(*sample) / value - 1.0).abs() < 1e-6, "{sample} {value}");
    }
    assert!(r.iter().any(|value| f64::from(*value as f32) != *value));
    let mut table = csv::Reader::from_path(path("tile.csv")).unwrap();
    assert_eq!(table.headers().unwrap(), vec!["across", "down", "mean_abs_residual"]);
    assert_eq!(table.records().count(), 16 * 16, "the points of a tile");
    let rows = |name: &str| csv::Reader::from_path(path(name)).unwrap().into_records().count();
    assert_eq!(rows("distance.csv"), 5, "as far as a point of an inner tile is from its border");
    assert_eq!(rows("share.csv"), 6, "the start and five cycles");
    assert_eq!(rows("inside.csv"), 18 * 18, "a tile with its halo");
    for name in ["distance.svg", "share.svg", "inside.svg"] {
        assert!(is_made_again(&path(name)), "{name}");
    }
    let array = npyz::NpyFile::new(fs::File::open(path("u.npy")).unwrap()).unwrap();
    assert_eq!(array.shape(), [40, 48]);
    let u: Vec<f64> = array.into_vec().unwrap();
    assert_eq!(u, iterate_after(&other(), 5), "the iterate, to the last bit");
    assert_eq!(window.cycle(), 5, "saving makes no cycles");
}

fn iterate_after(run: &RunSpec, cycles: u64) -> Vec<f64> {
    let plan = tilescope::run::Planner::default().plan(run).unwrap();
    let mut run = tilescope::run::Run::new(&plan.into()).unwrap();
    (0..cycles).for_each(|_| _ = run.advance(1).unwrap());
    run.solver().solution().unwrap().to_interior()
}

fn what_cannot_be_saved_is_reported() {
    let folder = tempdir().unwrap();
    let mut window = Window::paused(small());
    window.step(1);
    fs::write(folder.path().join("file"), "").unwrap();
    window.save("Run description", &folder.path().join("file/run.toml"));
    window.until_text("its folder cannot be created");
    window.save("Heat map", &folder.path().join("figure.gif"));
    window.until_text("none of .png, .svg and .pdf");
    window.step(1);
    window.save_and_wait("Run description", &folder.path().join("run.toml"));
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 2, "nothing half-written: {left:?}");
    // A folder that is missing is made.
    window.save_and_wait("Run description", &folder.path().join("new/folder/run.toml"));
    assert!(Path::new(&folder.path().join("run.toml")).exists());
}

fn a_file_that_waits_in_vain_is_reported() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("error.png");
    // 2 cos(π/3) = 1: the second of five modes is singular, so there is no exact solution.
    let stencil = Some(Stencil { d: 1.0, a: -1.0, c: -1.0, ..Stencil::default() });
    let problem = ProblemSpec { shape: vec![5], stencil, ..ProblemSpec::default() };
    let mut run = RunSpec { problem, ..RunSpec::default() };
    run.method.tile = vec![5];
    let mut window = Window::paused(run);
    window.choose("Field", "Error");
    window.until_text("singular");
    window.save("Heat map", &path);
    window.until_text("error.png was not saved");
    assert!(!path.exists());
    // Files without the error can still be saved.
    window.save_and_wait("Run description", &folder.path().join("run.toml"));
}

fn the_dialog_shows_what_will_be_saved() {
    let mut window = Window::paused(small());
    window.step(2);
    window.button("Save …");
    window.until("drawn", |window| !window.says("Drawing …"));
    assert!(window.is_enabled(Role::Button, "Copy image"));
    window.click(Role::RadioButton, "Convergence");
    window.settle();
    window.click(Role::RadioButton, "Run description");
    window.until_text("Text, no picture");
}

fn an_animation_is_made_and_can_be_stopped() {
    let folder = tempdir().unwrap();
    let mut window = Window::paused(small());
    let make = |window: &mut Window, last: &str, step: &str, path: &Path| {
        window.button("Save …");
        window.click(Role::CheckBox, "over cycles");
        window.type_into("Last cycle", last);
        window.type_into("Step", step);
        window.save_as(path);
    };
    let path = folder.path().join("film.apng");
    window.button("Save …");
    window.click(Role::CheckBox, "over cycles");
    window.type_into("Last cycle", "3000");
    window.type_into("Step", "1000");
    // One frame is known, and encoded; more of them make a larger file.
    let about = |window: &Window, frames: &str| {
        let texts = window.texts();
        let text = texts.iter().find(|text| text.starts_with(frames) && text.contains("about"));
        text.map(|text| text.rsplit("about ").next().unwrap_or_default().to_owned())
    };
    window.until("estimated", |window| about(window, "4 frames,").is_some());
    let size = about(&window, "4 frames,");
    window.type_into("Step", "100");
    window.until("estimated", |window| about(window, "31 frames,").is_some());
    assert_ne!(about(&window, "31 frames,"), size);
    window.button("Cancel");
    make(&mut window, "3000", "1000", &path);
    window.until("saved", |_| path.exists());
    let (run, view) = picture::read_figure(&path).unwrap();
    let frames = view.unwrap().frames.unwrap();
    assert_eq!((run, frames.cycles()), (small(), vec![0, 1000, 2000, 3000]));
    window.until("closed", |window| !window.has(Role::Button, "Cancel"));
    assert_eq!(window.cycle(), 0, "the run itself stays where it is");

    let path = folder.path().join("endless.gif");
    make(&mut window, "900000000", "1000000", &path);
    window.until("under way", |window| window.has(Role::Button, "Stop"));
    window.button("Stop");
    window.until_text("The animation was stopped");
    assert!(window.has(Role::Button, "Cancel"), "the dialog waits for another try");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

fn an_animation_beyond_the_limit_is_refused_in_the_dialog() {
    let folder = tempdir().unwrap();
    let mut window = Window::paused(small());
    window.button("Save …");
    window.click(Role::CheckBox, "over cycles");
    window.until_text(".gif does not carry its run; an .apng does.");
    for (name, number) in
        [("Last cycle", "1999"), ("Step", "1"), ("Width", "16384"), ("Height", "16384")]
    {
        window.type_into(name, number);
    }
    window.until_text("The animation is 2,000 frames of 16384 × 16384 pixels; it may have at most");
    let path = folder.path().join("large.apng");
    window.save_as(&path);
    window.settle();
    assert!(window.has(Role::Button, "Cancel") && !window.has(Role::Button, "Stop"));
    assert!(!path.exists());
}

fn a_figure_is_copied_without_a_file() {
    let mut window = Window::paused(small());
    window.step(1);
    window.button("Save …");
    window.until("drawn", |window| window.is_enabled(Role::Button, "Copy image"));
    window.button("Copy image");
    window.until_text("Image copied");
    window.button("Copy as command line");
    window.until_text("Command line copied");
    window.button("Copy run");
    window.until_text("Run copied");
}

fn a_figure_restores_its_range() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a.png");
    let range = Range::new(1e-3, 10.0);
    let figure = FigureSpec { range: Some(range), ..FigureSpec::default() };
    let view = ViewSpec { cycle: 2, figure, ..ViewSpec::default() };
    let svg = r#"<svg xmlns="http://www.w3.org/2000/svg" width="9" height="7"></svg>"#;
    picture::save_figure(&path, &Drawing::Figure(svg.into()), &other(), Some(&view)).unwrap();
    let mut window = Window::paused(small());
    window.drop_file(&path);
    window.until("opened", |window| window.slider("k") == 8.0 && window.has_picture());
    let copy = folder.path().join("b.png");
    window.save_and_wait("Heat map", &copy);
    let (_, copied) = picture::read_figure(&copy).unwrap();
    assert_eq!(copied.unwrap().figure.range, Some(range));
}

/// Figures and tables show the cycle of the panes; and the run in a figure reproduces the file.
fn a_figure_shows_an_earlier_cycle() {
    let folder = tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut window = Window::paused(other());
    // Edge share, field by distance, and inside a cycle.
    for key in [Key::Num6, Key::Num8] {
        window.harness.key_press_modifiers(Modifiers::COMMAND, key);
        window.frames(2);
    }
    window.step(12);
    window.key(Key::ArrowLeft);
    window.key(Key::ArrowLeft);
    window.until_text("10 of 12");
    for (what, name) in [
        ("Heat map", "map.svg"),
        ("Profile", "profile.svg"),
        ("Mean tile", "tile.svg"),
        ("By distance", "distance.svg"),
        ("Inside a cycle", "inside.svg"),
        ("Raw map (1 px per point)", "bare.png"),
        // With the curves and the edge share of all cycles, and the shown cycle in them.
        ("Whole layout", "panes.svg"),
    ] {
        window.save_and_wait(what, &path(name));
        let (run, view) = picture::read_figure(&path(name)).unwrap();
        assert_eq!((&run, view.as_ref().unwrap().cycle), (&other(), 10), "{name}");
        assert!(is_made_again(&path(name)), "{name}");
    }
    window.save_and_wait("Iterate as an array", &path("u.npy"));
    let array = npyz::NpyFile::new(fs::File::open(path("u.npy")).unwrap()).unwrap();
    assert_eq!(array.into_vec::<f64>().unwrap(), iterate_after(&other(), 10));
    // The curves show all cycles, as in their pane.
    window.save_and_wait("Convergence", &path("curves.svg"));
    let (_, view) = picture::read_figure(&path("curves.svg")).unwrap();
    assert_eq!(view.unwrap().cycle, 12);
    assert!(window.says("10 of 12"), "the view is unchanged");
}

/// Whether the run in a figure reproduces the file.
fn is_made_again(path: &Path) -> bool {
    let (run, view) = picture::read_figure(path).unwrap();
    let view = view.unwrap();
    let record_run = |run: &RunSpec, cycle, until: Option<Option<u64>>| {
        let plan = Planner::default().plan(run).unwrap();
        let shape = &plan.problem.shape;
        let snapshot_request = match until {
            None => view.snapshot_request(0, shape),
            Some(until) => view.snapshot_request_beside(0, shape, until),
        };
        let (cancel, mut ignore) = (StopToken::default(), |_: Stage<'_>| {});
        let mut watch = Monitor { cancel: &cancel, on_progress: &mut ignore };
        let snapshots = tilescope::run::record_run(
            &plan,
            &snapshot_request,
            RecordedCycles::Each(&[cycle]),
            &mut watch,
        );
        let [snapshot] = <[Snapshot; 1]>::try_from(snapshots.unwrap().snapshots).unwrap();
        Snapshot { plan: plan.into(), ..snapshot }
    };
    let others =
        view.compared.iter().map(|other| record_run(&other.run, other.cycle, Some(other.until)));
    let snapshots: Vec<_> =
        std::iter::once(record_run(&run, view.cycle, None)).chain(others).collect();
    let snapshots: Vec<_> = snapshots.iter().collect();
    let copy = path.with_file_name(format!("again-{}", path.file_name().unwrap().display()));
    picture::save_figure(&copy, &picture::figure(&snapshots, &view), &run, Some(&view)).unwrap();
    fs::read(path).unwrap() == fs::read(&copy).unwrap()
}

/// Two maps side by side at equal sweeps, both at earlier cycles.
fn two_runs(path: &Path) -> RunSpec {
    let mut window = Window::paused(small());
    window.step(20);
    window.key(Key::P);
    window.until_text("Pinned as A");
    window.type_into("k", "8");
    window.reset();
    window.step(8);
    window.key(Key::ArrowLeft);
    window.until_text("7 of 8");
    window.save_and_wait("Two maps side by side", path);
    RunSpec { method: MethodSpec { k: 8.into(), ..small().method }, ..small() }
}

fn a_figure_of_two_runs_restores_both() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("both.svg");
    let run = two_runs(&path);
    let (first, view) = picture::read_figure(&path).unwrap();
    let [second] = <[_; 1]>::try_from(view.as_ref().unwrap().compared.clone()).unwrap();
    assert_eq!((first, view.unwrap().cycle), (run.clone(), 7));
    assert_eq!((second.run, second.cycle), (small(), 14));
    assert!(is_made_again(&path));

    let mut window = Window::paused(other());
    window.drop_file(&path);
    window.until_captioned("this run", 7);
    window.until_captioned("A", 14);
    assert_eq!(window.cycle(), 7);
    let copy = folder.path().join("copy.svg");
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::S);
    window.frames(2);
    window.save_as(&copy);
    window.until("saved", |_| copy.exists());
    assert_eq!(fs::read(&path).unwrap(), fs::read(&copy).unwrap());
    // A pinned run is not pinned again.
    window.drop_file(&path);
    window.until("begun anew", |window| window.cycle() < 7);
    window.until_captioned("A", 14);
    assert!(!window.has(Role::TextInput, "Name of B"));
}

/// The curves of all pinned runs in their colours, after the first was unpinned.
fn a_figure_of_many_runs_restores_all() {
    let folder = tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut window = Window::paused(small());
    for (k, name) in [("4", "A"), ("8", "B"), ("2", "C"), ("6", "")] {
        window.type_into("k", k);
        window.reset();
        window.step(9);
        if !name.is_empty() {
            window.button("Pin");
            window.until_text(&format!("Pinned as {name}"));
        }
    }
    window.button("Unpin A");
    window.save_and_wait("Convergence", &path("curves.svg"));
    window.save_and_wait("Profile", &path("profile.svg"));
    for name in ["curves.svg", "profile.svg"] {
        let (run, view) = picture::read_figure(&path(name)).unwrap();
        let view = view.unwrap();
        let counts: Vec<_> = view.compared.iter().map(|other| other.run.method.k).collect();
        assert_eq!((run.method.k, counts), (6.into(), vec![8.into(), 2.into()]), "{name}");
        assert_eq!(view.colours, [1, 2], "{name}");
        assert!(is_made_again(&path(name)), "{name}");
    }
    let mut window = Window::paused(other());
    window.drop_file(&path("profile.svg"));
    window.until_text("B · k = 8 · cycle 7");
    window.until_text("C · k = 2 · cycle 9");
    window.until_text("cycle 9, live");
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::S);
    window.frames(2);
    window.save_as(&path("copy.svg"));
    window.until("saved", |_| path("copy.svg").exists());
    assert_eq!(fs::read(path("profile.svg")).unwrap(), fs::read(path("copy.svg")).unwrap());
}

/// Runs are paired in an animation as on the map, if that can be reproduced.
fn an_animation_of_two_runs_pairs_them_as_the_map_does() {
    let folder = tempdir().unwrap();
    let mut window = Window::paused(small());
    window.step(9);
    window.key(Key::P);
    window.until_text("Pinned as A");
    window.type_into("k", "8");
    window.reset();
    window.step(4);
    window.choose("Compare", "side by side");
    for (at_equal, pairing, last) in [
        ("equal sweeps", Pairing::Sweeps, 8),
        ("equal cycles", Pairing::Cycles, 4),
        ("its last cycle", Pairing::Fixed, 9),
        ("equal solver time", Pairing::Sweeps, 8),
    ] {
        window.choose("At equal", at_equal);
        let path = folder.path().join(format!("{}.apng", at_equal.replace(' ', "-")));
        window.harness.key_press_modifiers(Modifiers::COMMAND, Key::S);
        window.frames(2);
        window.click(Role::RadioButton, "Two maps side by side");
        window.click(Role::CheckBox, "over cycles");
        let says = window.says("An animation compares runs at equal sweeps");
        assert_eq!(says, at_equal == "equal solver time");
        window.type_into("Last cycle", "4");
        window.type_into("Step", "2");
        window.save_as(&path);
        window.until("saved", |_| path.exists());
        let (_, view) = picture::read_figure(&path).unwrap();
        let view = view.unwrap();
        assert_eq!((view.pairing, view.compared[0].cycle), (pairing, last), "{at_equal}");
        window.until("closed", |window| !window.has(Role::Button, "Cancel"));
    }
}

/// A figure of any kind is opened, and the dialog saves the same figure by default.
fn what_a_figure_shows_is_shown_again() {
    let folder = tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let figure = FigureSpec {
        scale: ScaleKind::Linear,
        map: ColourMap::Cividis,
        size: [567, 345],
        dpi: 300.0,
        font: Some(7.5),
        theme: picture::Theme::Transparent,
        borders: true,
        annotations: false,
        ..FigureSpec::default()
    };
    let cut = CutLine::Column(9);
    let inside = InsideView { tile: [1, 2], subiteration: 5, ..InsideView::default() };
    for kind in [
        FigureKind::HEAT_MAP,
        FigureKind::PROFILE,
        FigureKind::MEAN_TILE,
        FigureKind::DISTANCE,
        FigureKind::EDGE_SHARE,
        FigureKind::PROBES,
        FigureKind::INSIDE,
        FigureKind::ARRANGEMENT,
    ] {
        let view = ViewSpec {
            cycle: 5,
            field: FieldKind::Change,
            kind,
            figure,
            places: match kind == FigureKind::ARRANGEMENT {
                true => vec![
                    PlacedFigure { kind: FigureKind::MEAN_TILE, area: [0.0, 0.0, 0.5, 1.0] },
                    PlacedFigure { kind: FigureKind::PROFILE, area: [0.5, 0.25, 0.5, 0.5] },
                    PlacedFigure { kind: FigureKind::PROBES, area: [0.5, 0.75, 0.25, 0.25] },
                    PlacedFigure { kind: FigureKind::INSIDE, area: [0.75, 0.75, 0.25, 0.25] },
                ],
                false => Vec::new(),
            },
            ..ViewSpec::default()
        };
        let mut view = ViewSpec { cut: view.shows(FigureKind::PROFILE).then_some(cut), ..view };
        if view.shows(FigureKind::PROBES) {
            view.probes = [[7, 9], [40, 3]].map(GridPoint::Flat).into();
        }
        if view.shows(FigureKind::INSIDE) {
            view.inside = inside;
        }
        let svg = r#"<svg xmlns="http://www.w3.org/2000/svg" width="9" height="7"></svg>"#;
        let drawing = Drawing::Figure(svg.into());
        picture::save_figure(&path("a.svg"), &drawing, &other(), Some(&view)).unwrap();
        let mut window = Window::paused(small());
        window.drop_file(&path("a.svg"));
        window.until_text("cycle 5, live");
        assert_eq!(window.run_under_way(), other());
        let copy = path(&format!("{}.svg", kind.name()));
        window.harness.key_press_modifiers(Modifiers::COMMAND, Key::S);
        window.frames(2);
        window.save_as(&copy);
        window.until("saved", |_| copy.exists());
        assert_eq!(picture::read_figure(&copy).unwrap(), (other(), Some(view)));
        assert!(is_made_again(&copy), "{}", kind.name());
    }
}
