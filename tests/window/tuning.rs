//! The tuning map, by its labels.

use crate::controls::small;
use crate::driver::{USUAL, Window};
use eframe::egui::{Key, Modifiers, Theme, Vec2, accesskit::Role};
use egui_kittest::kittest::Queryable;
use std::fs;

pub const TESTS: &[(&str, fn())] = &[
    ("a_tuning_map_fills_in_and_a_click_opens_its_run", a_map_fills_in),
    ("a_map_of_heights_and_budgets_opens_a_pass", a_map_of_passes),
    ("a_tuning_map_its_charts_and_its_table_are_saved", a_map_is_saved),
    ("a_tuning_map_pauses_continues_and_stops", a_map_pauses),
    ("the_explorers_run_is_paused_while_a_map_is_measured", the_run_waits),
    ("an_invalid_list_is_reported_before_anything_is_measured", invalid_lists_are_reported),
    ("predictions_are_shown_at_once_and_slow_cells_are_optional", predictions_are_shown),
    ("the_papers_tables_are_shown_beside_the_map", the_papers_tables),
    ("a_table_of_the_papers_is_measured_and_kept", a_table_is_measured),
    ("every_tile_has_a_small_map_and_a_click_shows_it_large", every_tile_has_a_map),
    ("changes_made_while_a_map_is_measured_take_effect_after_it", what_is_done_meanwhile),
    ("opening_a_cell_pauses_the_measurement", a_cell_is_opened_meanwhile),
    ("a_tolerance_that_is_not_met_is_shown_in_the_cell", an_unmet_tolerance_is_shown),
];

/// The window at the tuning map, before anything is measured.
pub fn tuning(size: Vec2, theme: Theme) -> Window {
    let mut window = Window::sized(size, theme, Some(small()));
    window.reset();
    open(&mut window);
    window.until_text("Each cell is a setting");
    window
}

/// All tables of the papers stand in it without scrolling.
const TALL: Vec2 = eframe::egui::vec2(1280.0, 1500.0);

/// Goes to the tuning map.
pub fn open(window: &mut Window) {
    window.button("View");
    window.button("Tuning map");
}

/// Types into one of the lists.
pub fn list(window: &mut Window, name: &str, text: &str) {
    let name = format!("{name} list");
    window.harness.get_by_role_and_label(Role::TextInput, &name).set_text_value_accesskit(text);
    window.frames(2);
}

/// A map of cycles alone, which is the same wherever it is made.
pub fn measured(size: Vec2, theme: Theme) -> Window {
    let mut window = tuning(size, theme);
    list(&mut window, "k", "1,2,4,8,16");
    list(&mut window, "Overlap", "0:14:2");
    list(&mut window, "Tile", "12");
    window.click(Role::CheckBox, "time");
    window.click(Role::CheckBox, "Slow cells");
    window.button("▶  Start");
    window.until_text("40 of 40 cells · done");
    window
}

/// A map whose cells that are predicted to be slow show their prediction.
pub fn predicted(theme: Theme) -> Window {
    let mut window = tuning(USUAL, theme);
    list(&mut window, "k", "1,2,4,8,16");
    list(&mut window, "Overlap", "0:14:2");
    list(&mut window, "Tile", "12");
    window.click(Role::CheckBox, "time");
    window.button("▶  Start");
    window.until_text("cells · done");
    window
}

fn predictions_are_shown() {
    let mut window = predicted(Theme::Dark);
    // k = 1 needs many times the cycles of the best, which are predicted all the same.
    for text in ["hatched: predicted", "No other cell is predicted to be faster", "(12)"] {
        assert!(window.says(text), "{text}: {:#?}", window.texts());
    }
    assert!(window.says("Best: k = 16, overlap 10, tile 12"), "{:#?}", window.texts());
    window.click(Role::CheckBox, "Slow cells");
    window.until_text("40 of 40 cells · done");
    assert!(!window.says("hatched: predicted"));
}

fn a_map_is_saved() {
    let mut window = measured(USUAL, Theme::Dark);
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (what, name, begin) in [
        ("Map", "map.svg", "<svg"),
        ("Against overlap", "overlap.svg", "<svg"),
        ("Table", "table.csv", "shape,"),
    ] {
        window.button("Save map …");
        window.frames(2);
        window.click(Role::RadioButton, what);
        let path = folder.path().join(name);
        window.save_as(&path);
        window.until("saved", |_| path.exists());
        let text = fs::read_to_string(&path).expect("it is text");
        assert!(text.starts_with(begin), "{name}: {text}");
        // 40 settings, and a heading.
        assert!(!name.ends_with("csv") || text.lines().count() == 41, "{text}");
    }
    window.button("Save map …");
    window.frames(2);
    window.button("Copy as command line");
    window.until_text("Command line copied");
}

fn a_map_fills_in() {
    let mut window = measured(USUAL, Theme::Dark);
    assert!(window.says("Best: k = 16, overlap 10, tile 12"), "{:#?}", window.texts());
    // The middle of the map is the cell of k = 4 and overlap 8.
    window.click(Role::Image, "Tuning map: Cycles");
    window.until_text("Heat map");
    let k = window.slider("k");
    assert_eq!((k, window.slider("Overlap"), window.slider("Tile")), (4.0, 8.0, 12.0));
    // It is still there.
    open(&mut window);
    window.until_text("40 of 40 cells · done");
}

fn a_map_of_passes() {
    let mut window = Window::sized(USUAL, Theme::Dark, Some(crate::panes::pyramid()));
    window.reset();
    open(&mut window);
    for (name, text, said) in [
        ("Height", "0:4", "Height: 0 is not a height; it must be 1 to 4096"),
        ("Budget", "much", "Budget: it must be a whole number of bytes with a unit"),
    ] {
        list(&mut window, name, text);
        assert!(window.says(said), "{name}: {:#?}", window.texts());
        list(&mut window, name, "1");
    }
    list(&mut window, "Height", "1,2,4");
    list(&mut window, "Budget", "20kB,30kB,50kB");
    window.click(Role::CheckBox, "time");
    window.click(Role::CheckBox, "Slow cells");
    window.button("▶  Start");
    window.until_text("9 of 9 cells · done");
    for text in ["Best: height 4, budget 20kB", "Against budget", "Time against height"] {
        assert!(window.says(text), "{text}: {:#?}", window.texts());
    }
    // The middle of the map.
    window.click(Role::Image, "Tuning map: Cycles");
    window.until_text("Heat map");
    assert_eq!((window.slider("Height"), window.slider("Memory")), (2.0, 30.0));
}

fn a_map_pauses() {
    let mut window = tuning(USUAL, Theme::Dark);
    list(&mut window, "k", "1:64");
    list(&mut window, "Tile", "16");
    window.button("▶  Start");
    window.button("Pause");
    window.until_text("paused");
    window.settle_some();
    let progress =
        |window: &Window| window.texts().into_iter().find(|text| text.contains(" cells · "));
    let before = progress(&window);
    window.settle_some();
    assert_eq!(progress(&window), before);
    window.button("Resume");
    window.until("going on", |window| progress(window) != before);
    window.button("Cancel");
    window.until_text("stopped");
    assert!(window.has(Role::Button, "▶  Start"));
}

fn the_run_waits() {
    let mut run = small();
    run.problem.shape = vec![256, 256];
    let mut window = Window::with(run);
    window.until("running", |window| window.cycle() > 0);
    open(&mut window);
    list(&mut window, "k", "1:64");
    window.button("▶  Start");
    window.until_text("The run is paused so that timings are clean");
    // What was under way is still reported.
    let mut cycle = window.cycle();
    window.until("standing still", |window| {
        window.settle_some();
        let before = std::mem::replace(&mut cycle, window.cycle());
        before == cycle
    });
    window.button("Cancel");
    window.until("going on", |window| window.cycle() > cycle);
}

fn invalid_lists_are_reported() {
    let mut window = tuning(USUAL, Theme::Dark);
    for (name, text, said) in [
        ("k", "8:2", "k: the range 8:2 is reversed; write it as 2:8:1"),
        ("Overlap", "a", "Overlap: it must be whole numbers or ranges"),
        ("Tile", "4x", "Tile: it must be a whole number, or one for each axis"),
    ] {
        list(&mut window, name, text);
        assert!(window.says(said), "{name}: {:#?}", window.texts());
        assert!(!window.is_enabled(Role::Button, "▶  Start"));
        list(&mut window, name, "8");
    }
    // 8 does not go with a tile of 8: the sweep itself refuses.
    window.button("▶  Start");
    window.until_text("the only setting cannot run: overlap 8 is too large for tile 8");
    assert!(window.has(Role::Button, "▶  Start"));
}

fn the_papers_tables() {
    let mut window = measured(Vec2::new(TALL.x, 2.0 * TALL.y), Theme::Light);
    window.button("Papers' tables");
    for text in
        ["Table I · 1D, no overlap", "Table 3, long", "Table III", "published", "8.00 ×", "14,857"]
    {
        assert!(window.says(text), "{text}: {:#?}", window.texts());
    }
    for text in
        ["Machine: published for a TITAN V", "L2 of 4.72 MB holds 19 %", "Kernel: the paper uses"]
    {
        assert!(window.says(text), "{text}: {:#?}", window.texts());
    }
}

fn a_table_is_measured() {
    let mut window = tuning(TALL, Theme::Dark);
    let missing = |window: &Window| window.texts().iter().filter(|text| *text == "–").count();
    assert_eq!(missing(&window), 24);
    window.button("Measure Table I");
    window.until_text("Against overlap");
    // The table is still there, beside the map that fills in.
    window.until("measured in part", |window| missing(window) < 24);
    assert!(!window.is_enabled(Role::Button, "Measure Table II"));
    window.button("Cancel");
    window.until_text("stopped");
    assert!(window.is_enabled(Role::Button, "Measure Table II"));
    // Another map leaves in the tables what was measured for them.
    let kept = missing(&window);
    list(&mut window, "k", "2");
    list(&mut window, "Overlap", "0");
    list(&mut window, "Tile", "12");
    window.click(Role::CheckBox, "time");
    window.button("▶  Start");
    window.until_text("1 of 1 cells · done");
    assert_eq!(missing(&window), kept);
}

/// A map of two tiles.
pub fn tiles(size: Vec2) -> Window {
    let mut window = Window::sized(size, Theme::Dark, Some(small()));
    window.reset();
    open(&mut window);
    list(&mut window, "k", "2,8");
    list(&mut window, "Overlap", "0:4:2");
    list(&mut window, "Tile", "8,16");
    window.click(Role::CheckBox, "time");
    window.click(Role::CheckBox, "Slow cells");
    window.button("▶  Start");
    window.until_text("12 of 12 cells · done");
    window
}

fn every_tile_has_a_map() {
    let mut window = tiles(USUAL);
    for text in ["best of all", "tile 8", "★ tile 16", "Best: k = 8, overlap 4, tile 16"] {
        assert!(window.says(text), "{text}: {:#?}", window.texts());
    }
    window.button("Map of tile 8");
    assert!(window.says("Best: k = 8, overlap 4, tile 8"), "{:#?}", window.texts());
    // By tiles, each k has a small map.
    window.choose("Rows", "tile");
    assert!(window.says("Best: k = 8, overlap 4, tile 16"), "{:#?}", window.texts());
    window.button("Map of k = 2");
    assert!(window.says("Best: k = 2"), "{:#?}", window.texts());
    window.choose("Rows", "k");
    window.button("Map of tile 8");
    assert!(window.says("Best: k = 8, overlap 4, tile 8"), "{:#?}", window.texts());
}

/// The run, its past and whatever else makes cycles rest as long as something is timed.
fn what_is_done_meanwhile() {
    let mut run = small();
    run.problem.shape = vec![256, 256];
    let mut window = Window::paused(run);
    window.step(3);
    open(&mut window);
    list(&mut window, "k", "1:64");
    window.button("▶  Start");
    window.until_text("paused so that timings are clean");
    window.button("◀  Explorer");
    assert!(window.says("waiting"), "{:#?}", window.texts());
    // An earlier cycle, another setting, a step: none of it is made.
    window.key(Key::Home);
    window.key(Key::ArrowRight);
    window.set_slider("k", 8.0);
    window.settle_some();
    assert_eq!(window.cycle(), 3);
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::S);
    window.until_text("Pause it to save something else");
    assert!(!window.has(Role::Button, "Save"));
    open(&mut window);
    window.button("Pause");
    // 12 sweeps were shown; cycles of 8 sweeps that are as near have 8 and 16. On a machine that is busy otherwise the time
    // for catching up may end after the first.
    window.until("the run with the other setting", |window| [1, 2].contains(&window.cycle()));
}

fn a_cell_is_opened_meanwhile() {
    let mut window = tuning(USUAL, Theme::Dark);
    list(&mut window, "k", "4,8");
    list(&mut window, "Overlap", "0:14:2");
    list(&mut window, "Tile", "16");
    window.button("▶  Start");
    window.until_text("remaining");
    window.click(Role::Image, "Tuning map: Projected time");
    window.until_text("Heat map");
    assert!(!window.says("waiting"), "{:#?}", window.texts());
    window.key(Key::Space);
    window.until("running", |window| window.cycle() > 0);
    open(&mut window);
    window.button("Resume");
    window.until_text("remaining");
}

fn an_unmet_tolerance_is_shown() {
    let mut run = small();
    run.stop.max_cycles = 5;
    let mut window = Window::sized(USUAL, Theme::Dark, Some(run));
    window.reset();
    open(&mut window);
    list(&mut window, "k", "2,4");
    list(&mut window, "Overlap", "0,2");
    list(&mut window, "Tile", "12");
    window.click(Role::CheckBox, "time");
    window.button("▶  Start");
    window.until_text("4 of 4 cells · done");
    assert!(window.says(">5") && window.says("No setting met the tolerance."));
}
