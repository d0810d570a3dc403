//! What the window reads and writes: files dropped on it, and files saved through its dialog.

use crate::controls::small;
use crate::driver::Window;
use eframe::egui::accesskit::Role;
use egui_kittest::kittest::Queryable;
use image::{GrayImage, Luma};
use npyz::WriterBuilder;
use std::fs;
use std::path::Path;
use tempfile::tempdir;
use tilescope::picture::{self, Drawing, FigureSpec, Range, ViewSpec};
use tilescope::run::{CURVE_HEADER, FieldKind, ProblemKind, RunSpec, save_run};

pub const TESTS: &[(&str, fn())] = &[
    ("a_dropped_run_is_made", a_dropped_run_is_made),
    ("a_run_is_opened_by_its_name", a_run_is_opened_by_its_name),
    ("a_dropped_figure_gives_its_run_back", a_dropped_figure_gives_its_run_back),
    ("a_dropped_picture_is_a_right_hand_side", a_dropped_picture_is_a_right_hand_side),
    ("a_dropped_array_is_a_right_hand_side", a_dropped_array_is_a_right_hand_side),
    ("a_refused_run_leaves_the_one_there_is", a_refused_run_leaves_the_one_there_is),
    ("a_run_that_does_not_fit_leaves_the_one_there_is", a_run_that_does_not_fit),
    ("what_is_no_file_of_ours_is_told_once", what_is_no_file_of_ours_is_told_once),
    ("everything_can_be_saved_and_read_back", everything_can_be_saved_and_read_back),
    ("what_cannot_be_saved_is_told", what_cannot_be_saved_is_told),
    ("the_dialog_shows_what_the_file_will_look_like", the_dialog_shows_what_will_be_saved),
    ("an_animation_is_made_and_can_be_stopped", an_animation_is_made_and_can_be_stopped),
    ("a_figure_is_copied_without_a_file", a_figure_is_copied_without_a_file),
    ("a_figures_range_comes_back_with_it", a_figures_range_comes_back_with_it),
];

/// A run that differs from the small one in every way that the controls show.
fn other() -> RunSpec {
    let mut run = small();
    run.method.k = 8;
    run.method.overlap = vec![6];
    run.problem.shape = vec![48, 40];
    run
}

fn a_dropped_run_is_made() {
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
    window.until("told", |window| window.says("missing.toml") && window.messages() == 1);
    window.open(&path);
    window.until("opened", |window| window.slider("k") == 8.0);
    assert_eq!(window.run_under_way(), other());
}

fn a_dropped_figure_gives_its_run_back() {
    let folder = tempdir().unwrap();
    for name in ["figure.png", "figure.svg"] {
        let path = folder.path().join(name);
        let mut window = Window::paused(other());
        window.step(2);
        window.choose("Field", "Change");
        window.until("shown", |window| window.says("|Δu|"));
        window.save_and_wait("Figure of the map", &path);
        let (run, view) = picture::read_figure(&path).unwrap();
        let view = view.expect("what was looked at");
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

fn a_dropped_array_is_a_right_hand_side() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("mine.npy");
    let mut file = fs::File::create(&path).unwrap();
    let mut out = npyz::WriteOptions::<f64>::new()
        .default_dtype()
        .shape(&[20, 24])
        .writer(&mut file)
        .begin_nd()
        .unwrap();
    out.extend((0..480).map(f64::from)).unwrap();
    out.finish().unwrap();
    let mut window = Window::paused(small());
    window.drop_file(&path);
    window.until_text("mine.npy");
    let run = window.run_under_way();
    assert_eq!((run.problem.kind, run.problem.shape), (ProblemKind::Picture, vec![24, 20]));
}

fn a_refused_run_leaves_the_one_there_is() {
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
    // It goes on as if nothing had happened.
    window.step(1);
    assert_eq!(window.cycle(), 4);
    assert_eq!(window.run_under_way(), small());
    assert_eq!(window.cycle(), 4);
}

/// What no control lets anybody choose, but the machine has not.
fn a_run_that_does_not_fit() {
    let mut window = Window::paused(small());
    window.step(3);
    for axis in ["Points along x", "Points along y"] {
        window.type_into(axis, "1000000000000");
        window.until("told", |window| window.says("needs") && window.messages() == 1);
        window.until("as before", |window| window.says("64"));
        window.button("Dismiss");
    }
    window.settle_some();
    assert_eq!(window.messages(), 0, "{:?}", window.texts());
    assert_eq!(window.cycle(), 3);
    window.step(1);
    assert_eq!(window.run_under_way(), small());
}

fn what_is_no_file_of_ours_is_told_once() {
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
        window.until("told", |window| window.messages() > 0);
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
    window.save_and_wait("Figure of the map", &path("map.png"));
    window.save_and_wait("Figure of the curves", &path("curves.svg"));
    window.save_and_wait("Bare map, one pixel a point", &path("bare.png"));
    window.save_and_wait("Run description", &path("run.toml"));
    window.save_and_wait("Curve as a table", &path("curve.csv"));
    window.save_and_wait("Iterate as an array", &path("u.npy"));
    window.save_and_wait("Figure of a profile", &path("profile.png"));
    window.save_and_wait("Profile as a table", &path("profile.csv"));
    window.until("told", |window| window.says("u.npy"));
    assert_eq!(image::image_dimensions(path("map.png")).unwrap(), (1200, 900));
    assert_eq!(image::image_dimensions(path("bare.png")).unwrap(), (48, 40));
    for name in ["map.png", "curves.svg", "bare.png", "profile.png"] {
        let (run, view) = picture::read_figure(&path(name)).unwrap();
        assert_eq!((run, view.unwrap().cycle), (other(), 5), "{name}");
    }
    assert_eq!(RunSpec::load(&path("run.toml")).unwrap(), other());
    let mut table = csv::Reader::from_path(path("curve.csv")).unwrap();
    assert_eq!(table.headers().unwrap(), CURVE_HEADER.as_slice());
    assert_eq!(table.records().count(), 6, "the start and five cycles");
    let mut table = csv::Reader::from_path(path("profile.csv")).unwrap();
    assert_eq!(table.headers().unwrap(), vec!["i", "residual"]);
    assert_eq!(table.records().count(), 48, "the points of a row");
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

fn what_cannot_be_saved_is_told() {
    let folder = tempdir().unwrap();
    let mut window = Window::paused(small());
    window.step(1);
    window.save("Run description", &folder.path().join("no/such/run.toml"));
    window.until_text("no such file or folder");
    window.save("Figure of the map", &folder.path().join("figure.gif"));
    window.until_text("neither .png nor .svg");
    window.step(1);
    window.save_and_wait("Run description", &folder.path().join("run.toml"));
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing half-written: {left:?}");
    assert!(Path::new(&folder.path().join("run.toml")).exists());
}

fn the_dialog_shows_what_will_be_saved() {
    let mut window = Window::paused(small());
    window.step(2);
    window.button("Save …");
    window.until("drawn", |window| !window.says("Drawing …"));
    assert!(window.is_enabled(Role::Button, "Copy image"));
    window.click(Role::RadioButton, "Figure of the curves");
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
        let name = path.to_str().unwrap();
        let file = window.harness.get_by_role_and_label(Role::TextInput, "File");
        file.set_text_value_accesskit(name);
        window.frames(2);
        window.button("Save");
    };
    let path = folder.path().join("film.apng");
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

fn a_figures_range_comes_back_with_it() {
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
    window.save_and_wait("Figure of the map", &copy);
    let (_, copied) = picture::read_figure(&copy).unwrap();
    assert_eq!(copied.unwrap().figure.range, Some(range));
}
