//! The panes about tile borders: profile, mean tile, field by distance, edge share, and inside a
//! cycle.

use crate::controls::{line, small};
use crate::driver::Window;
use crate::panes::view;
use eframe::egui::{Event, Key, Modifiers, Pos2, Rect, accesskit::Role, vec2};
use egui_kittest::kittest::{NodeT, Queryable};
use tilescope::problem::{HotBox, hot_axes};
use tilescope::run::{InitialGuess, ProblemKind, RunSpec};

pub const TESTS: &[(&str, fn())] = &[
    ("the_profile_line_is_dragged_over_the_map", the_profile_line_is_dragged_over_the_map),
    (
        "the_ends_of_the_profile_line_are_dragged_and_snapped",
        the_ends_of_the_profile_line_are_dragged,
    ),
    ("the_hot_box_is_dragged_over_the_map", the_hot_box_is_dragged_over_the_map),
    ("a_diagonal_profile_is_chosen_by_keys_and_by_numbers", a_diagonal_profile_is_chosen),
    ("fields_are_added_to_the_profile", fields_are_added_to_the_profile),
    ("panes_about_edges_show_2d_and_1d_grids", panes_about_edges_show),
    ("one_tile_has_no_tile_borders", one_tile_has_no_tile_borders),
    ("the_inspector_follows_the_cursor_beside_the_map", the_inspector_follows_the_cursor),
    ("a_cycle_is_stepped_through_inside_a_tile", a_cycle_is_stepped_through),
    ("subiterations_are_played_and_their_updates_read", subiterations_are_played),
    ("large_cells_show_their_values", large_cells_show_their_values),
    ("the_ends_of_the_colours_are_dragged", the_ends_of_the_colours_are_dragged),
    ("a_probe_follows_a_point_over_the_cycles", a_probe_follows_a_point_over_the_cycles),
];

/// Shows a pane that is hidden at first.
fn show(window: &mut Window, pane: &str) {
    view(window, Role::CheckBox, pane);
    window.frames(3);
}

fn map(window: &Window) -> Rect {
    window.rect(Role::Image, "Heat map of the residual")
}

fn drag(window: &mut Window, from: Pos2, to: Pos2) {
    drag_with(window, from, to, Modifiers::NONE);
}

/// The same while keys are held.
fn drag_with(window: &mut Window, from: Pos2, to: Pos2, held: Modifiers) {
    window.harness.event(Event::ModifiersChanged(held));
    window.harness.hover_at(from);
    window.frames(2);
    window.harness.drag_at(from);
    window.frame();
    for part in [0.3, 0.7, 1.0] {
        window.harness.hover_at(from + part * (to - from));
        window.frames(2);
    }
    window.harness.drop_at(to);
    window.frames(2);
    window.harness.event(Event::ModifiersChanged(Modifiers::NONE));
    window.harness.remove_cursor();
    window.frames(2);
}

fn value(window: &Window, name: &str) -> f64 {
    let node = window.harness.get_by_role_and_label(Role::SpinButton, name);
    node.accesskit_node().numeric_value().expect("a number")
}

/// The row or column of the profile.
fn cut_at(window: &Window) -> f64 {
    value(window, "Cut at")
}

/// The ends of an oblique profile line: columns and rows.
fn ends(window: &Window) -> [f64; 4] {
    ["Cut from i", "Cut from j", "Cut to i", "Cut to j"].map(|name| value(window, name))
}

fn the_profile_line_is_dragged_over_the_map() {
    let mut window = Window::paused(small());
    window.until("cut", |window| window.has(Role::Splitter, "Profile line"));
    let at = |window: &Window| window.rect(Role::Splitter, "Profile line").center();
    assert_eq!(cut_at(&window), 40.0, "through the middles of tiles at first");
    let from = at(&window);
    let to = Pos2::new(from.x, from.y - 60.0);
    drag(&mut window, from, to);
    assert!((at(&window).y - to.y).abs() < 8.0, "{} for {}", at(&window).y, to.y);
    assert!(cut_at(&window) < 40.0);
    window.button("Column");
    window.until("a column", |window| cut_at(window) == 40.0);
    let from = at(&window);
    drag(&mut window, from, Pos2::new(from.x + 50.0, from.y));
    assert!((at(&window).x - from.x - 50.0).abs() < 8.0);
    // The map shows no profile line while the profile is hidden.
    window.button("Hide Profile");
    window.frames(3);
    assert!(!window.has(Role::Splitter, "Profile line"));
}

fn the_hot_box_is_dragged_over_the_map() {
    let mut run = small();
    run.problem.kind = ProblemKind::HeatPlate;
    let mut window = Window::paused(run);
    window.until("a box", |window| window.has(Role::Splitter, "Hot box: centre"));
    let at = |window: &Window, part: &str| {
        window.rect(Role::Splitter, &format!("Hot box: {part}")).center()
    };
    let points = |window: &mut Window| {
        let problem = window.run_under_way().problem;
        let shape = problem.grid().expect("a grid");
        hot_axes(problem.hot_box.as_ref(), &shape)
    };
    assert_eq!(points(&mut window), [24..40, 24..40], "the middle quarter");
    let cell = map(&window).size().min_elem() / 64.0;
    let from = at(&window, "right side");
    drag(&mut window, from, from + vec2(8.0 * cell, 0.0));
    assert_eq!(points(&mut window), [24..48, 24..40]);
    assert!((at(&window, "right side").x - from.x - 8.0 * cell).abs() < 1.0);
    let from = at(&window, "centre");
    drag(&mut window, from, from - vec2(10.0 * cell, 14.0 * cell));
    assert_eq!(points(&mut window), [14..38, 10..26]);
    // A whole drag is one undo step.
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    window.frames(3);
    assert_eq!(points(&mut window), [24..48, 24..40]);
    // The article's start, and no box where another initial guess is chosen.
    window.scroll_to(Role::Button, "Article's");
    window.button("Article's");
    window.frames(3);
    assert_eq!(window.run_under_way().problem.hot_box, Some(HotBox::ARTICLE));
    window.scroll_to(Role::Button, "Quarter");
    window.button("Quarter");
    window.harness.key_press_modifiers(Modifiers::SHIFT, Key::Z);
    window.frames(3);
    assert_eq!(window.run_under_way().problem.initial, Some(InitialGuess::Value(0.0)));
    assert!(!window.has(Role::Splitter, "Hot box: centre"));
    window.choose("Initial guess", "Own");
    window.frames(3);
    assert!(window.has(Role::Splitter, "Hot box: centre"));
}

fn the_ends_of_the_profile_line_are_dragged() {
    let mut window = Window::paused(small());
    window.until("cut", |window| window.has(Role::Splitter, "Profile line: end"));
    let end = |window: &Window| window.rect(Role::Splitter, "Profile line: end").center();
    let cell = map(&window).size().min_elem() / 64.0;
    let from = end(&window);
    drag(&mut window, from, from - vec2(0.0, 20.0 * cell));
    assert_eq!(ends(&window), [0.0, 40.0, 63.0, 20.0]);
    // A whole drag is one undo step, and restores the row.
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    window.until("a row again", |window| window.has(Role::SpinButton, "Cut at"));
    assert_eq!(cut_at(&window), 40.0);
    // With Shift it is at 0°, 45° or 90°.
    let to = from - vec2(30.0 * cell, 27.0 * cell);
    drag_with(&mut window, from, to, Modifiers::SHIFT);
    assert_eq!(ends(&window), [0.0, 40.0, 30.0, 10.0]);
    let from = end(&window);
    drag_with(&mut window, from, from + vec2(0.0, 29.0 * cell), Modifiers::SHIFT);
    assert_eq!(ends(&window), [0.0, 40.0, 30.0, 40.0]);
    // The dragged line keeps its direction, and ends at the boundary.
    let from = window.rect(Role::Splitter, "Profile line").center();
    drag(&mut window, from, from + vec2(10.0 * cell, -4.0 * cell));
    assert_eq!(ends(&window), [10.0, 36.0, 40.0, 36.0]);
    let from = window.rect(Role::Splitter, "Profile line").center();
    drag(&mut window, from, from + vec2(90.0 * cell, 0.0));
    assert_eq!(ends(&window), [33.0, 36.0, 63.0, 36.0]);
}

fn a_diagonal_profile_is_chosen() {
    let mut window = Window::paused(small());
    window.step(1);
    window.button("Hide Profile");
    window.frames(2);
    window.key(Key::L);
    window.key(Key::Num3);
    window.until("shown again", |window| window.has(Role::SpinButton, "Cut to j"));
    assert_eq!(ends(&window), [0.0, 0.0, 63.0, 63.0]);
    window.until_text("distance from (0, 0) in grid steps");
    // The point of the profile under the cursor is on the diagonal.
    let controls = window.rect(Role::SpinButton, "Cut from i");
    window.harness.hover_at(controls.center() + vec2(120.0, 100.0));
    window.until("pointed at", |window| {
        let texts = window.texts();
        let point = texts.iter().find_map(|text| text.strip_prefix("i ")?.split_once(", j "));
        point.is_some_and(|(i, rest)| rest.split_once("   r = ").is_some_and(|(j, _)| i == j))
    });
    window.harness.remove_cursor();
    window.type_into("Cut to j", "7");
    window.until("a line to there", |window| ends(window) == [0.0, 0.0, 63.0, 7.0]);
    window.key(Key::L);
    window.key(Key::Num1);
    window.until("a row", |window| window.has(Role::SpinButton, "Cut at"));
    // A 1D grid has no diagonal.
    let mut window = Window::paused(line());
    window.key(Key::L);
    window.key(Key::Num3);
    window.frames(3);
    assert!(!window.says("distance from"));
}

fn fields_are_added_to_the_profile() {
    for run in [small(), line()] {
        let mut window = Window::paused(run);
        window.step(2);
        window.click(Role::ComboBox, "Fields of the profile");
        window.click(Role::CheckBox, "Update");
        window.until_text("2 fields");
        window.click(Role::CheckBox, "Error");
        window.until_text("3 fields");
    }
}

fn panes_about_edges_show() {
    for run in [small(), line()] {
        let is_line = run.problem.shape.len() == 1;
        let mut window = Window::paused(run);
        window.step(2);
        show(&mut window, "Mean tile");
        window.until_text(if is_line {
            "at each position in a tile"
        } else {
            "inner tiles that own"
        });
        show(&mut window, "By distance");
        window.until_text("points from the nearest tile border");
        show(&mut window, "Edge share");
        window.until_text("within 2 points of a tile border");
        if !is_line {
            let mean = window.rect(Role::Image, "Mean tile of the residual");
            window.harness.hover_at(mean.center());
            window.frames(3);
            assert!(window.says("over 4 tiles"), "{:?}", window.texts());
        }
    }
}

fn one_tile_has_no_tile_borders() {
    let mut run = small();
    run.method.tile = vec![64];
    let mut window = Window::paused(run);
    show(&mut window, "By distance");
    window.until_text("There is one tile, and no tile border.");
    show(&mut window, "Mean tile");
    window.until_text("inner tiles that own");
    show(&mut window, "Inside a cycle");
    window.until_text("all owned points equal exact Jacobi");
}

fn a_cycle_is_stepped_through() {
    let mut window = Window::paused(small());
    window.step(1);
    show(&mut window, "Inside a cycle");
    window.until_text("Tile (1, 1), 4 of 4 subiterations after cycle 1: ");
    window.set_slider("Subiteration", 1.0);
    // After one subiteration the halo still equals that of Jacobi's iteration.
    window.until_text("1 of 4 subiterations after cycle 1: all owned points equal exact Jacobi");
    window.button("Subiteration forward");
    // An inner tile has four stale sides: 4 · 15 points.
    window.until_text("2 of 4 subiterations after cycle 1: 60 of the 256 owned points");
    window.button("Subiteration back");
    window.until_text("1 of 4 subiterations");
    // A click on the map chooses the tile.
    let map = map(&window);
    let at = map.center() + vec2(20.0, 30.0);
    window.click_at(at);
    window.frames(3);
    window.until_text("Tile (2, 2), 1 of 4");
    let mut window = Window::paused(line());
    window.step(1);
    show(&mut window, "Inside a cycle");
    window.until_text("Tile 1, 4 of ");
    window.click(Role::CheckBox, "All tiles");
    window.until_text("All tiles, 4 of ");
    let cells = window.rect(Role::Image, "All tiles inside a cycle");
    window.harness.hover_at(cells.center());
    window.until_text("at a tile border");
}

fn subiterations_are_played() {
    let mut window = Window::paused(small());
    window.step(1);
    show(&mut window, "Inside a cycle");
    window.set_slider("Subiteration", 2.0);
    window.until_text("2 of 4 subiterations after cycle 1: 60 of the 256 owned points");
    window.button("Play subiterations");
    window.until_text("3 of 4 subiterations after cycle 1: 112 of the 256 owned points");
    window.until_text("4 of 4 subiterations after cycle 1");
    // It has come to the end, and starts again with none.
    window.until("stopped", |window| window.has(Role::Button, "Play subiterations"));
    window.button("Play subiterations");
    window.until_text("1 of 4 subiterations after cycle 1");
    window.button("Pause subiterations");
    window.until("stopped", |window| window.has(Role::Button, "Play subiterations"));
    let cells = window.rect(Role::Image, "Tile (1, 1) inside a cycle");
    window.harness.hover_at(cells.center());
    window.until_text(") / 4 = ");
    window.until_text(", before ");
    window.set_slider("Subiteration", 0.0);
    window.harness.hover_at(cells.center());
    window.until_text("No subiteration has been made.");
}

fn large_cells_show_their_values() {
    let mut run = RunSpec::default();
    run.problem.shape = vec![6, 6];
    run.method.tile = vec![3];
    let mut window = Window::paused(run);
    // b = 1 and no residual in the middle: 16 of 36 cells show 1.
    window
        .until("written", |window| window.texts().iter().filter(|text| *text == "1").count() >= 16);
}

fn the_ends_of_the_colours_are_dragged() {
    let mut window = Window::paused(small());
    window.step(2);
    window.until("there", |window| window.has(Role::Splitter, "Upper end of the colours"));
    assert!(window.says("range: follow"));
    let from = window.rect(Role::Splitter, "Upper end of the colours").center();
    drag(&mut window, from, Pos2::new(from.x, from.y + 80.0));
    window.until_text("range: locked");
}

fn a_probe_follows_a_point_over_the_cycles() {
    for run in [small(), line()] {
        let is_line = run.problem.shape.len() == 1;
        let mut window = Window::paused(run);
        window.step(1);
        let at = map(&window).left_top() + vec2(100.0, 2.0);
        let at = if is_line { at } else { map(&window).center() + vec2(0.0, 40.0) };
        window.harness.hover_at(at);
        window.frames(2);
        window.key(Key::D);
        window.until("followed", |window| window.texts().iter().any(|text| text.ends_with(" ×")));
        window.step(2);
        let name = window.texts().into_iter().find(|text| text.ends_with(" ×")).expect("a probe");
        let name = name.trim_end_matches(" ×").to_owned();
        assert!(name.starts_with(if is_line { "i " } else { "(3" }), "{name}");
        window.button(&format!("Remove {name}"));
        window.until_text("Point at the map and press D");
    }
}

fn the_inspector_follows_the_cursor() {
    let mut window = Window::paused(small());
    window.step(1);
    window.until_text("Point at the map");
    // Into the profile, below its controls.
    let controls = window.rect(Role::SpinButton, "Cut at");
    window.harness.hover_at(controls.center() + vec2(120.0, 100.0));
    window.until_text("j 40   r = ");
    window.harness.remove_cursor();
    window.until_text("Point at the map");
    show(&mut window, "Inside a cycle");
    window.until_text("Tile (1, 1)");
    let cells = window.rect(Role::Image, "Tile (1, 1) inside a cycle");
    window.harness.hover_at(cells.center());
    window.until_text("tile (1, 1)   ");
}
