//! Coefficients per point: the interface on the map, and the editors of conductivity, boundary and stencil.

use crate::controls::small;
use crate::driver::Window;
use eframe::egui::{accesskit::Role, vec2};
use tilescope::problem::{Boundary, Stencil};
use tilescope::run::{ProblemKind, RunSpec};

pub const TESTS: &[(&str, fn())] = &[
    ("the_interface_is_dragged_over_the_map", the_interface_is_dragged),
    ("the_interface_of_a_1d_grid_is_a_point_of_its_diagram", the_interface_of_a_1d_grid),
    ("materials_are_typed", materials_are_typed),
    ("an_array_that_is_dropped_becomes_the_conductivity", an_array_becomes_the_conductivity),
    ("boundary_values_are_edited", boundary_values_are_edited),
    ("a_stencil_is_edited", a_stencil_is_edited),
];

const LINE: &str = "Interface of the materials";

fn materials() -> RunSpec {
    let mut run = small();
    run.problem.kind = ProblemKind::Diffusion;
    run
}

/// Grabs a part of the line in its middle, and moves it.
fn drag(window: &mut Window, part: &str, by: eframe::egui::Vec2) {
    let from = window.rect(Role::Splitter, part).center();
    window.harness.hover_at(from);
    window.harness.drag_at(from);
    window.frame();
    for step in 1..=4 {
        window.harness.hover_at(from + by * (step as f32 / 4.0));
        window.frames(2);
    }
    window.harness.drop_at(from + by);
    window.frames(2);
}

/// Opens a part of the settings.
fn open(window: &mut Window, part: &str) {
    window.click(Role::DisclosureTriangle, part);
    window.frames(20);
}

fn the_interface_is_dragged() {
    let mut window = Window::paused(materials());
    window.step(3);
    window.until("the line", |window| window.has(Role::Splitter, LINE));
    drag(&mut window, LINE, vec2(40.0, 0.0));
    // The run begins anew, and is shown where the one before it was.
    window.until_text("cycle 3 · 12 sweeps");
    let [[x0, y0], [x1, y1]] = window.run_under_way().problem.interface.expect("it was dragged");
    assert!(x0 > 0.36 && x1 > 0.66 && y0 < 0.05 && y1 > 0.95, "{x0} {y0} {x1} {y1}");
    assert!((x1 - x0 - 0.3).abs() < 0.05, "it keeps its direction: {x0} {x1}");
    // An end turns it.
    drag(&mut window, &format!("{LINE}: start"), vec2(-60.0, 0.0));
    let [[turned, _], [stays, _]] = window.run_under_way().problem.interface.expect("it");
    assert!(turned < x0 - 0.05 && (stays - x1).abs() < 1e-9, "{turned} {stays}");
    let mut poisson = Window::paused(small());
    poisson.frames(3);
    assert!(!poisson.has(Role::Splitter, LINE), "there is one material");
}

fn the_interface_of_a_1d_grid() {
    let mut run = materials();
    run.problem.shape = vec![200];
    run.method.tile = vec![16];
    let mut window = Window::paused(run);
    window.step(3);
    window.until("the line", |window| window.has(Role::Splitter, LINE));
    drag(&mut window, LINE, vec2(50.0, 0.0));
    let [[x0, y0], [x1, y1]] = window.run_under_way().problem.interface.expect("it was dragged");
    assert!(x0 == x1 && x0 > 0.5 && [y0, y1] == [0.0, 1.0], "{x0} {y0} {x1} {y1}");
}

fn materials_are_typed() {
    let mut window = Window::paused(materials());
    window.type_into("Conductivity beyond the interface", "20");
    window.type_into("Interface x", "0.25");
    let problem = window.run_under_way().problem;
    assert_eq!((problem.jump, problem.interface), (Some(20.0), Some([[0.25, 0.0], [0.65, 1.0]])));
    window.type_into("Conductivity beyond the interface", "-3");
    window.until_text("jump is -3; it must be 1e-12 to 1e12");
}

fn an_array_becomes_the_conductivity() {
    use npyz::WriterBuilder;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("k.npy");
    let file = std::fs::File::create(&path).expect("a file");
    let options = npyz::WriteOptions::new().default_dtype().shape(&[20, 24]);
    let mut npy = options.writer(file).begin_nd().expect("a file");
    npy.extend((0..480).map(|at| 1.0 + f64::from(at % 7))).expect("a file");
    npy.finish().expect("a file");
    let mut window = Window::paused(materials());
    window.drop_file(&path);
    window.until_text("k.npy");
    window.until("a picture", |window| window.has_picture());
    let problem = window.run_under_way().problem;
    assert_eq!((problem.kind, problem.shape), (ProblemKind::Diffusion, vec![24, 20]));
    assert_eq!(problem.conductivity.as_deref(), Some(path.as_path()));
    assert!(!window.has(Role::Splitter, LINE));
}

fn boundary_values_are_edited() {
    let mut window = Window::paused(small());
    open(&mut window, "Boundary");
    window.type_into("Boundary top", "2.5");
    let top = Boundary { top: 2.5, ..Boundary::default() };
    assert_eq!(window.run_under_way().problem.boundary, Some(top));
    // The problem's own values are no choice.
    window.type_into("Boundary top", "0");
    assert_eq!(window.run_under_way().problem.boundary, None);
}

fn a_stencil_is_edited() {
    let mut window = Window::paused(small());
    open(&mut window, "Stencil");
    window.click(Role::CheckBox, "Own stencil");
    let own = window.run_under_way().problem.stencil.expect("it was chosen");
    assert_eq!((own.d, own.a), (4.0 * 65.0 * 65.0, -65.0 * 65.0));
    window.type_into("Stencil a", "-5000");
    let edited = window.run_under_way().problem.stencil.expect("it was edited");
    assert_eq!(edited, Stencil { a: -5000.0, ..own });
    window.type_into("Stencil d", "0");
    window.until_text("stencil.d is 0; the diagonal must not be zero");
    window.type_into("Stencil d", "20000");
    window.click(Role::CheckBox, "Own stencil");
    assert_eq!(window.run_under_way().problem.stencil, None);
}
