//! The panes: hidden, shown, dragged to other places and put back.

use crate::controls::small;
use crate::driver::Window;
use eframe::egui::{Key, Modifiers, Rect, Theme, Vec2, accesskit::Role, vec2};
use tilescope::grid::ByteCount;
use tilescope::picture;
use tilescope::run::{MatrixSpec, MethodName, ProblemKind, RunSpec};
use tilescope::solver::Height;

pub const TESTS: &[(&str, fn())] = &[
    ("panes_are_hidden_and_shown_from_the_view_menu", panes_are_hidden_and_shown),
    ("a_pane_is_dragged_elsewhere_and_put_back", a_pane_is_dragged_elsewhere_and_put_back),
    ("the_curves_are_drawn_over_a_logarithmic_axis", a_logarithmic_axis),
    ("the_speedup_over_the_tolerance_is_a_pane", the_speedup_is_a_pane),
    ("the_memory_traffic_of_a_cycle_is_a_pane", the_memory_traffic_is_a_pane),
    ("planes_that_visit_fast_memory_are_panes", planes_are_panes),
    ("the_apex_and_the_base_of_a_pyramid_are_dragged", apex_and_base_are_dragged),
    ("frequencies_and_the_damping_of_modes_are_panes", frequencies_and_damping),
    ("reference_curves_have_keys", reference_curves_have_keys),
    ("three_slices_move_each_other_and_the_volume_turns", slices_and_volume),
    ("a_slice_has_a_profile_and_probes_and_tiles_of_its_own", profile_of_a_slice),
    ("the_entries_of_a_matrix_are_seen_and_a_row_is_taken_apart", entries_of_a_matrix),
    ("block_borders_of_a_matrix_are_dragged", block_borders_are_dragged),
    ("the_cost_of_overlapping_blocks_is_counted", blocks_of_a_matrix_have_their_own_cost),
];

/// The rectangle of the heat map.
fn map(window: &Window) -> Rect {
    window.rect(Role::Image, "Heat map of the residual")
}

/// Whether the curves are visible.
fn has_curves(window: &Window) -> bool {
    window.has(Role::ComboBox, "Norm")
}

/// Chooses an entry of the View menu, and closes it.
pub fn view(window: &mut Window, role: Role, entry: &str) {
    window.button("View");
    window.click(role, entry);
    // Other controls behind the menu have the same names: close it first.
    if window.has(Role::Button, "Reset layout") {
        window.button("View");
    }
    assert!(!window.has(Role::Button, "Reset layout"), "the menu is closed");
}

fn panes_are_hidden_and_shown() {
    let mut window = Window::paused(small());
    window.until("there", |window| window.has_picture());
    let before = map(&window);
    assert!(has_curves(&window));
    window.button("Hide Convergence");
    window.frames(2);
    assert!(!has_curves(&window));
    for pane in ["Hide Profile", "Hide Probes"] {
        window.button(pane);
        window.frames(2);
    }
    assert!(map(&window).width() > before.width() + 200.0, "the map takes the room");
    view(&mut window, Role::CheckBox, "Heat map");
    assert!(!window.has(Role::Image, "Heat map of the residual"));
    assert!(window.says("All panes are hidden"));
    // The run does not depend on the visible panes.
    window.step(2);
    view(&mut window, Role::CheckBox, "Convergence");
    assert!(has_curves(&window));
    view(&mut window, Role::Button, "Reset layout");
    assert_eq!(map(&window), before);
}

fn the_speedup_is_a_pane() {
    let mut window = Window::paused(small());
    window.step(10);
    view(&mut window, Role::CheckBox, "Speedup");
    window.until_text("over classic Jacobi");
    window.click(Role::CheckBox, "Classic");
    window.until_text("Nothing to compare with yet");
}

fn the_memory_traffic_is_a_pane() {
    let mut window = Window::paused(small());
    window.step(10);
    view(&mut window, Role::CheckBox, "Memory traffic");
    window.until_text("Memory traffic of a cycle of");
    window.until_text("classic Jacobi: ");
    window.until_text("Point updates");
}

/// A pyramid on a small grid, in three slabs.
pub fn pyramid() -> RunSpec {
    let mut run = small();
    run.method.set_name(MethodName::Pyramid);
    (run.method.height, run.method.memory) =
        (Some(Height::Sweeps(3)), Some(ByteCount::new(51_000)));
    run
}

/// The apex of the picture of planes is dragged down, and its base to the left.
fn apex_and_base_are_dragged() {
    let mut window = Window::paused(pyramid());
    window.step(2);
    view(&mut window, Role::CheckBox, "Planes");
    window.until_text("3 sweeps");
    let mut drag = |name: &str, by: Vec2| {
        let at = window.rect(Role::Splitter, name).center();
        window.harness.hover_at(at);
        window.frames(2);
        window.harness.drag_at(at);
        window.frame();
        for part in [0.3, 0.6, 1.0] {
            window.harness.hover_at(at + part * by);
            window.frames(2);
        }
        let shown = window.texts();
        window.harness.drop_at(at + by);
        window.settle();
        shown
    };
    let planes = |texts: &[String]| {
        let title = texts.iter().find(|text| text.contains("sweeps high")).expect("a title");
        title.split_once(" planes").unwrap().0.rsplit(' ').next().unwrap().parse::<usize>().unwrap()
    };
    // Within the plot, a third of its height is a sweep of three.
    let shown = drag("Apex", vec2(0.0, 30.0));
    assert!(shown.iter().any(|text| text.contains("2 sweeps high")), "{shown:?}");
    let before = planes(&shown);
    let shown = drag("Base", vec2(-60.0, 0.0));
    assert!(planes(&shown) < before, "{before}: {shown:?}");
    // However far, the run is one that can be made.
    for (name, by) in
        [("Base", vec2(-900.0, 0.0)), ("Base", vec2(900.0, 0.0)), ("Apex", vec2(0.0, -900.0))]
    {
        drag(name, by);
    }
    assert_eq!(window.messages(), 0, "{:#?}", window.texts());
    let run = window.run_under_way();
    assert!(matches!(run.method.height, Some(Height::Sweeps(n)) if n > 3), "{:?}", run.method);
}

fn planes_are_panes() {
    let mut window = Window::paused(pyramid());
    window.step(2);
    view(&mut window, Role::CheckBox, "Planes");
    window.until_text("Pyramid: ");
    window.until_text("3 sweeps");
    // While it is paused, a pass is stepped through.
    for (moment, said) in [
        (0.0, "Slab 1 of 3, sweep 0 of 3."),
        (6.0, "Slab 2 of 3, sweep 2 of 3."),
        (12.0, "The pass is over."),
    ] {
        window.set_slider("Moment of a pass", moment);
        window.until_text(said);
    }
    view(&mut window, Role::CheckBox, "Cost of the height");
    window.until_text("not shrinking");
    window.until_text("Dots: measured.");
    // A link that is chosen, and a ratio that is dragged: both are predicted, and said to be.
    window.choose("Link as slow as", "PCIe 3");
    window.until_text("a link as slow as PCIe 3");
    let at = window.rect(Role::Splitter, "Ratio").center();
    window.harness.hover_at(at);
    window.frames(2);
    window.harness.drag_at(at);
    window.frame();
    for up in [10.0, 20.0] {
        window.harness.hover_at(at - vec2(0.0, up));
        window.frames(2);
    }
    window.harness.drop_at(at - vec2(0.0, 20.0));
    window.frames(2);
    assert!(!window.says("PCIe 3") || window.says("chosen ρ"), "{:#?}", window.texts());
    assert!(window.says("Lines: predicted for ρ = "), "{:#?}", window.texts());
    window.choose("Link as slow as", "this machine");
    window.until_text("Lines: predicted for the measured ρ = ");
    view(&mut window, Role::CheckBox, "Lanes of a pass");
    window.until_text("of the time of copies is hidden behind sweeps");
    for lane in ["copy up", "sweep", "copy down"] {
        window.until_text(lane);
    }
    // Runs that do not stream have neither.
    let mut window = Window::paused(small());
    window.button("View");
    assert!(window.has(Role::CheckBox, "Memory traffic"));
    assert!(!window.has(Role::CheckBox, "Planes"));
    window.key(Key::Escape);
    window.button("Save …");
    window.frames(2);
    for (figure, is_offered) in
        [("Planes", false), ("Lanes of a pass", false), ("Memory traffic", true)]
    {
        assert_eq!(window.is_enabled(Role::RadioButton, figure), is_offered, "{figure}");
    }
}

fn frequencies_and_damping() {
    let mut window = Window::paused(small());
    window.step(10);
    view(&mut window, Role::CheckBox, "Frequencies");
    window.until_text("Cycle 10: p half waves across");
    view(&mut window, Role::CheckBox, "Damping by mode");
    window.until_text("a cycle, measured");
}

fn reference_curves_have_keys() {
    let mut window = Window::paused(small());
    window.step(10);
    let keys = [
        (Modifiers::SHIFT, "Chebyshev"),
        (Modifiers::COMMAND, "conjugate gradients"),
        (Modifiers::COMMAND | Modifiers::SHIFT, "sweeps a digit"),
    ];
    for (modifiers, name) in keys {
        assert!(!window.says(name), "{name}");
        window.harness.key_press_modifiers(modifiers, Key::J);
        window.until_text(name);
        window.harness.key_press_modifiers(modifiers, Key::J);
        window.until("hidden again", |window| !window.says(name));
    }
}

/// Drags the curves to the left edge of the heat map, and returns their new position.
pub fn move_curves_to_the_left(window: &mut Window) -> Rect {
    let map = map(window);
    let title = window.rect(Role::Button, "Convergence").center();
    window.harness.drag_at(title);
    window.frame();
    for part in [0.7, 0.3, 0.0] {
        let x = map.left() + 4.0 + part * (title.x - map.left());
        window.harness.hover_at([x, map.center().y].into());
        window.frames(2);
    }
    window.harness.drop_at([map.left() + 4.0, map.center().y].into());
    window.frames(3);
    window.rect(Role::ComboBox, "Norm")
}

fn a_pane_is_dragged_elsewhere_and_put_back() {
    let mut window = Window::paused(small());
    window.until("there", |window| window.has_picture());
    let (before, curves) = (map(&window), window.rect(Role::ComboBox, "Norm"));
    assert!(curves.left() > before.right());
    let moved = move_curves_to_the_left(&mut window);
    assert!(moved.right() < map(&window).left());
    view(&mut window, Role::Button, "Reset layout");
    assert_eq!((map(&window), window.rect(Role::ComboBox, "Norm")), (before, curves));
}

fn a_logarithmic_axis() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("curves.svg");
    let mut window = Window::paused(small());
    window.step(12);
    // The solver times stand above a linear axis only.
    window.until_text("sweeps; above, solver time");
    window.click(Role::ComboBox, "Curves over");
    window.click(Role::CheckBox, "Logarithmic");
    window.key(Key::Escape);
    window.until("logarithmic", |window| !window.says("; above, solver time"));
    window.save_and_wait("Convergence", &path);
    let (_, view) = picture::read_figure(&path).expect("it was saved");
    assert!(view.expect("what it shows").log_x);
    // The initial guess has no place on it.
    window.reset();
    assert!(has_curves(&window));
    window.step(1);
}

/// A small matrix in blocks of 16 rows.
pub fn small_matrix() -> RunSpec {
    let mut run = RunSpec::default();
    run.problem.kind = ProblemKind::Matrix;
    run.problem.matrix = Some(MatrixSpec::new("poisson-12x12"));
    run.problem.shape = vec![144];
    run.method.tile = vec![16];
    run.method.k = 4.into();
    run
}

/// What the overlap of blocks adds is counted, not derived from a line of tiles.
fn blocks_of_a_matrix_have_their_own_cost() {
    let mut run = small_matrix();
    for (overlap, times) in [(0, "1.00×"), (2, "2.33×")] {
        run.method.overlap = vec![overlap];
        let mut window = Window::sized(vec2(1280.0, 1300.0), Theme::Dark, Some(run.clone()));
        window.reset();
        window.until_text(times);
        assert!(window.says("Blocks") && !window.says("Shared memory"));
    }
}

fn entries_of_a_matrix() {
    let window = Window::paused(small());
    assert!(!window.has(Role::Button, "Entries"), "a grid has none to show");
    let mut window = Window::paused(small_matrix());
    window.button("Entries");
    window.until_text("static: outside");
    assert!(window.says("144 rows, 672 entries, 9 blocks"), "{:#?}", window.texts());
    // In the middle, two rows of the grid meet: one neighbour is in the block, two are 12 rows away.
    let middle = window.rect(Role::Image, "Entries of the matrix").center();
    window.click_at(middle);
    window.until_text("of block 4, diagonal 676: 2 static, 1 dynamic");
    // Step by step to the end: what is said, and what is drawn.
    assert!(!window.is_enabled(Role::Button, "◀"), "nothing is before the first step");
    for (step, said, drawn) in [
        (1, "The row as it is stored", vec!["I 60", "I 73", "I 84"]),
        (2, "its column lies outside", vec!["S · I 60", "D · I 73", "S · I 84"]),
        (3, "Two lists", vec!["Static", "I 60", "I 84", "Dynamic", "L 9"]),
        (4, "Lists are padded", vec!["entries in 160 places", "static", "dynamic"]),
    ] {
        assert!(window.says(&format!("{step} of 4")), "{:#?}", window.texts());
        assert!(window.says(said), "{:#?}", window.texts());
        for text in drawn {
            assert!(window.says(text), "step {step}, {text}: {:#?}", window.texts());
        }
        if step < 4 {
            window.button("▶");
        }
    }
    assert!(!window.is_enabled(Role::Button, "▶"), "nothing is after the last step");
    window.button("◀");
    assert!(window.says("3 of 4") && window.says("Two lists"), "{:#?}", window.texts());
    // Another row begins at the first step; the picture is that of the row.
    let picture = window.rect(Role::Image, "Entries of the matrix");
    let side = picture.width().min(picture.height());
    window.click_at(picture.center() - eframe::egui::vec2(0.0, side / 2.0 - 0.3));
    window.until_text("Row 0 of block 0, diagonal 676: ");
    assert!(window.says("1 of 4") && window.says("I 1") && window.says("I 12"));
    window.button("Close");
    assert!(window.says("static: outside") && !window.has(Role::Button, "▶"));
    window.click_at(window.rect(Role::Image, "Entries of the matrix").center());
    window.until_text("1 of 4");
    // The field by row: nodes of the grid that the matrix was made of.
    window.until_text("rows at their nodes");
}

/// A block border of the picture of entries is dragged: blocks of 16 rows become twice as large.
fn block_borders_are_dragged() {
    let mut window = Window::paused(small_matrix());
    window.button("Entries");
    window.until_text("static: outside");
    let picture = window.rect(Role::Image, "Entries of the matrix");
    // The matrix is a square in the middle.
    let side = picture.width().min(picture.height());
    let at = |rows: f32| picture.center() + eframe::egui::Vec2::splat((rows / 144.0 - 0.5) * side);
    window.harness.hover_at(at(16.0));
    window.frames(2);
    window.harness.drag_at(at(16.0));
    window.frame();
    for rows in [20.0, 28.0, 32.0] {
        window.harness.hover_at(at(rows));
        window.frames(2);
    }
    window.harness.drop_at(at(32.0));
    window.until_text("144 rows, 672 entries, 5 blocks");
}

/// A small 3D grid.
pub fn grid_3d() -> RunSpec {
    let mut run = RunSpec::default();
    run.problem.shape = vec![32, 24, 16];
    run.method.tile = vec![8];
    run.method.k = 8.into();
    run
}

fn profile_of_a_slice() {
    let mut window = Window::paused(grid_3d());
    window.step(2);
    let at = map(&window).center() + vec2(3.0, 3.0);
    window.harness.hover_at(at);
    window.frames(2);
    window.key(Key::D);
    let probe =
        |window: &Window, k: usize| window.has(Role::Button, &format!("Remove (16, 12, {k})"));
    window.until("a point of the slice", |window| probe(window, 8));
    window.key(Key::I);
    window.harness.hover_at(at);
    window.until("the next slice", |window| window.says("k 9"));
    window.key(Key::D);
    window.until("a point of the next slice", |window| probe(window, 8) && probe(window, 9));
    window.button("Profile");
    window.until("a row of the slice", |window| window.has(Role::SpinButton, "Cut at"));
    view(&mut window, Role::CheckBox, "Inside a cycle");
    let tile = "Tile (1, 1) at z = 9 inside a cycle";
    window.until("a tile of the slice", |window| window.has(Role::Image, tile));
}

fn slices_and_volume() {
    let window = Window::paused(small());
    assert!(!window.has(Role::Button, "Slices") && !window.has(Role::Button, "Volume"));
    let mut window = Window::paused(grid_3d());
    window.step(2);
    window.button("Slices");
    let there = |name: &'static str| move |window: &mut Window| window.has(Role::Image, name);
    window.until("three slices", there("Slice z=8 of the residual"));
    for name in ["Slice y=12 of the residual", "Slice x=16 of the residual"] {
        assert!(window.has(Role::Image, name), "{name}");
    }
    // A slice further and back, as with the slider above the map.
    window.key(Key::I);
    window.until("the next slice", there("Slice z=9 of the residual"));
    window.harness.key_press_modifiers(Modifiers::SHIFT, Key::I);
    window.until("the one before", there("Slice z=8 of the residual"));
    // A click near the corner of the xy-plane moves the other two, and not this one.
    let plane = window.rect(Role::Image, "Slice z=8 of the residual");
    window.click_at(plane.min + plane.size() * eframe::egui::vec2(4.5 / 32.0, 20.5 / 24.0));
    window.until("moved across x", there("Slice x=4 of the residual"));
    assert!(window.has(Role::Image, "Slice y=20 of the residual"));
    assert!(window.has(Role::Image, "Slice z=8 of the residual"));

    window.button("Volume");
    window.until("a volume", there("Volume of the residual"));
    assert!(window.says("Azimuth 35°, elevation 25°"), "{:#?}", window.texts());
    let middle = window.rect(Role::Image, "Volume of the residual").center();
    window.harness.drag_at(middle);
    window.frame();
    for x in [30.0, 60.0, 90.0] {
        window.harness.hover_at(middle + eframe::egui::vec2(x, 0.0));
        window.frames(2);
    }
    window.harness.drop_at(middle + eframe::egui::vec2(90.0, 0.0));
    window.frames(3);
    assert!(!window.says("Azimuth 35°") && window.says("elevation 25°"), "{:#?}", window.texts());
}
