//! Pinned runs: pinning, comparing, tables and unpinning.

use crate::controls::{line, small};
use crate::drag::range;
use crate::driver::Window;
use eframe::egui::{Key, accesskit::Role};

pub const TESTS: &[(&str, fn())] = &[
    ("pinned_runs_stay_and_are_named_by_what_differs", pinned_runs_stay),
    ("compare_pins_the_run_and_offers_the_wipe_and_the_flip", compare_pins_and_wipes),
    ("the_table_of_pinned_runs_is_sorted_copied_and_renamed", the_table_is_sorted),
    ("maps_of_two_runs_stand_at_equal_sweeps_cycles_or_time", maps_stand_at_equal),
    ("pinned_runs_are_drawn_along_the_cut_at_equal_sweeps", pinned_runs_are_along_the_cut),
    ("diagrams_of_two_lines_stand_side_by_side", diagrams_stand_side_by_side),
    ("the_difference_of_a_run_from_itself_is_zero", a_difference_from_itself_is_zero),
    ("a_key_flips_to_the_pinned_run_while_it_is_held", a_key_flips),
    ("a_run_that_is_pinned_again_is_pinned_as_it_is_now", a_run_is_pinned_again),
];

/// Changes a setting, and starts that run from cycle 0.
fn change(window: &mut Window, setting: &str, value: &str) {
    window.type_into(setting, value);
    window.reset();
}

/// Two pinned runs and a third running, all after the same number of cycles.
fn three() -> Window {
    let mut window = Window::paused(small());
    window.step(4);
    window.key(Key::P);
    change(&mut window, "k", "8");
    window.step(2);
    window.button("Pin");
    change(&mut window, "Overlap", "4");
    window.step(3);
    window
}

fn pinned_runs_stay() {
    let window = three();
    for text in ["A · k = 4, overlap 0", "B · k = 8, overlap 0", "this run · k = 8, overlap 4"] {
        assert!(window.says(text), "{text}: {:#?}", window.texts());
    }
    // The table has the run itself, too; its name is that of its curve, and the table below.
    assert!(window.has(Role::TextInput, "Name of A") && window.has(Role::TextInput, "Name of B"));
    assert!(!window.has(Role::TextInput, "Name of this run"));
    assert!(window.texts().iter().filter(|text| *text == "this run").count() >= 2);
}

fn compare_pins_and_wipes() {
    let mut window = Window::paused(small());
    window.step(4);
    window.button("Compare");
    window.until("there", |window| window.has(Role::Slider, "Wipe"));
    assert!(window.has(Role::TextInput, "Name of A"));
    window.set_slider("Overlap", 4.0);
    window.until_text("this run · overlap 4 · 16 sweeps · cycle 4");
    window.until_text("A · overlap 0 · 16 sweeps · cycle 4");
    // The table names the run, and the run that speedups are measured by.
    assert!(window.says("Speedup over") && window.says("1.00×"));
    // The button flips as long as it is held.
    let flip = window.rect(Role::Button, "Flip").center();
    window.harness.hover_at(flip);
    window.harness.drag_at(flip);
    window.until("flipped", |window| !window.has(Role::Slider, "Wipe"));
    window.harness.drop_at(flip);
    window.until("back", |window| window.has(Role::Slider, "Wipe"));
    window.choose("At equal", "equal residual");
    window.until("fewer", |window| window.is_captioned("A", 4) || window.is_captioned("A", 3));
}

/// The position of the row of a pinned run.
fn row(window: &Window, name: &str) -> f32 {
    window.rect(Role::TextInput, &format!("Name of {name}")).top()
}

fn the_table_is_sorted() {
    let mut window = three();
    assert!(row(&window, "A") < row(&window, "B"));
    // Nothing in it is cut off at its sides.
    let pane = window.rect(Role::Region, "Pinned runs");
    let inside = window.painted().into_iter().filter(|it| pane.contains(it.rect.center()));
    for text in inside {
        let seen = text.clip.expand(1.0).x_range();
        assert!(seen.contains(text.rect.left()) && seen.contains(text.rect.right()), "{text:?}");
    }
    window.button("Sort by cycles");
    assert!(row(&window, "B") < row(&window, "A"), "two cycles come before four");
    window.button("Sort by cycles");
    assert!(row(&window, "A") < row(&window, "B"), "the other way round");
    window.button("Copy as Markdown");
    window.until_text("Table copied");
    window.rename("Name of A", "narrow");
    window.until_text("narrow · k = 4, overlap 0");
    window.button("Unpin narrow");
    window.frames(2);
    assert!(!window.says("narrow") && window.says("B · "));
    window.button("Unpin B");
    window.frames(2);
    assert!(!window.has(Role::Button, "Copy as CSV"), "without pinned runs there is no table");
    assert!(window.says("this run") && !window.says("this run ·"));
}

fn a_run_is_pinned_again() {
    let mut window = Window::paused(small());
    window.step(1);
    window.key(Key::P);
    window.step(2);
    window.key(Key::P);
    window.frames(2);
    assert!(window.has(Role::TextInput, "Name of A") && !window.has(Role::TextInput, "Name of B"));
    window.reset();
    // Its cycles are no longer shown, but it can be compared with the next run.
    window.step(1);
    window.until("both", |window| window.texts().iter().any(|text| text == "A"));
}

/// A run of four cycles with k = 8, and a pinned one of six with k = 4.
fn two() -> Window {
    let mut window = Window::paused(small());
    window.step(6);
    window.key(Key::P);
    change(&mut window, "k", "8");
    window.step(4);
    window
}

fn maps_stand_at_equal() {
    let mut window = two();
    window.choose("Compare", "side by side");
    window.set_slider("Cycle shown", 2.0);
    window.until_captioned("this run", 2);
    window.until_captioned("A", 4);
    window.choose("At equal", "equal cycles");
    window.until_captioned("A", 2);
    window.choose("At equal", "equal solver time");
    window.until("a caption", |window| !window.captions("A").is_empty());
    window.choose("At equal", "equal sweeps");
    // No further than its last cycle.
    window.button("Live");
    window.until_captioned("A", 6);
    window.until_captioned("this run", 4);
    window.choose("Compare", "wipe");
    window.until("there", |window| window.has(Role::Slider, "Wipe"));
    window.key(Key::Home);
    window.until_captioned("A", 0);
    window.choose("Compare", "this run");
    window.until("alone", |window| window.captions("A").is_empty());
}

fn pinned_runs_are_along_the_cut() {
    let mut window = two();
    let tab = window.painted().into_iter().find(|painted| painted.text == "Profile");
    window.click_on(tab.expect("a tab").rect.center());
    window.until_text("A · k = 4 · cycle 6");
    assert!(window.says("this run · k = 8 · cycle 4"), "{:#?}", window.texts());
    window.set_slider("Cycle shown", 2.0);
    window.until_text("A · k = 4 · cycle 4");
    window.choose("At equal", "equal cycles");
    window.until_text("A · k = 4 · cycle 2");
    // A plot of several fields does not show several runs.
    window.click(Role::ComboBox, "Fields of the profile");
    window.click(Role::CheckBox, "Update");
    window.until("fields alone", |window| !window.says(" · cycle "));
    window.click(Role::CheckBox, "Update");
    window.until_text("A · k = 4 · cycle 2");
}

fn diagrams_stand_side_by_side() {
    let mut run = line();
    run.method.k = 4.into();
    let mut window = Window::paused(run);
    window.step(6);
    window.key(Key::P);
    change(&mut window, "k", "8");
    window.step(2);
    assert!(!window.entry("Compare", "difference").0, "diagrams are not subtracted");
    window.choose("Compare", "side by side");
    window.until_captioned("this run", 2);
    window.until_captioned("A", 4);
    // Both halves mark the same point.
    let map = window.rect(Role::Image, "Heat map of the residual");
    let value = |window: &Window| {
        let texts = window.texts();
        let value = texts.iter().find_map(|text| text.split("   A: ").nth(1).map(str::to_owned));
        value.and_then(|value| value.split("   ").next().map(str::to_owned)).expect("a value of A")
    };
    let at = map.left_top() + eframe::egui::vec2(30.0, 1.0);
    window.harness.hover_at(at);
    window.until_text("cycle 0   r = ");
    let at_left = value(&window);
    // Cycle numbers are between the halves.
    let half = (map.width() + 52.0 + 8.0) / 2.0;
    window.harness.hover_at(at + eframe::egui::vec2(half, 0.0));
    window.until_text("cycle 0   r = ");
    assert_eq!(value(&window), at_left);
    window.choose("Compare", "wipe");
    window.until("there", |window| window.has(Role::Slider, "Wipe"));
    window.choose("Compare", "this run");
    window.harness.key_down(Key::F);
    window.until_captioned("A", 4);
    window.harness.key_up(Key::F);
    window.until("back", |window| window.captions("A").is_empty());
}

fn a_difference_from_itself_is_zero() {
    let mut window = Window::paused(small());
    window.step(5);
    window.key(Key::P);
    window.reset();
    window.step(5);
    window.choose("Compare", "difference");
    window.until_text("this run (k = 4, overlap 0, tile 16 · f64, cycle 5) − A (");
    window.until_text("0 everywhere");
    let map = window.rect(Role::Image, "Heat map of the residual");
    window.harness.hover_at(map.center() + eframe::egui::vec2(0.0, 40.0));
    window.until_text("Δ(r) = 0 ");
    // Another overlap gives another iterate.
    window.harness.remove_cursor();
    change(&mut window, "Overlap", "4");
    window.step(5);
    window.until_text("this run (overlap 4, cycle 5) − A (overlap 0, cycle 5)");
    window.harness.hover_at(map.left_top() + eframe::egui::vec2(120.0, 120.0));
    window.until("another", |window| window.says("Δ(r) = ") && !window.says("Δ(r) = 0 "));
}

fn a_key_flips() {
    let mut window = two();
    assert!(window.captions("A").is_empty());
    let before = range(&window);
    assert!(before.len() > 1, "{before:?}");
    window.harness.key_down(Key::F);
    window.until_captioned("A", 6);
    // Equal values keep their colours.
    assert_eq!(range(&window), before);
    window.harness.key_up(Key::F);
    window.until("back", |window| window.captions("A").is_empty());
}
