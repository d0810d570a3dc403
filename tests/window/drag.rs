//! Settings that are dragged: the picture stays until the new run is as far as the one before it.

use crate::controls::small;
use crate::driver::Window;
use crate::panes::view;
use eframe::egui::{Key, Modifiers, Pos2, accesskit::Role};

pub const TESTS: &[(&str, fn())] = &[
    ("a_dragged_setting_is_shown_at_equally_many_sweeps", equally_many_sweeps),
    ("a_converged_run_moves_once_and_returns_if_nothing_was_changed", a_converged_run_moves_once),
    ("a_changed_setting_is_shown_at_an_equally_small_residual", an_equally_small_residual),
    ("the_range_stays_while_a_setting_is_dragged", the_range_stays),
    ("k_and_tile_are_held_while_they_are_dragged", k_and_tile_are_held),
    ("a_method_is_exchanged_at_equally_many_sweeps", a_method_is_exchanged),
    ("the_range_of_the_whole_run_stays_in_a_drag_too", the_range_of_the_whole_run_stays),
    ("the_ranges_of_small_pictures_stay_too", the_ranges_of_small_pictures_stay),
    ("the_drawing_of_the_method_follows_the_overlap", the_drawing_follows_the_overlap),
];

/// Puts the pointer on a slider, and grabs it.
pub fn grab(window: &mut Window, slider: &str, part: f32) {
    let at = place(window, slider, part);
    window.harness.hover_at(at);
    window.harness.drag_at(at);
    window.frame();
}

pub fn place(window: &Window, slider: &str, part: f32) -> Pos2 {
    let rect = window.rect(Role::Slider, slider);
    Pos2::new(rect.left() + part * rect.width(), rect.center().y)
}

/// Moves the pointer, and waits for the picture with that setting. In no frame on the way is the
/// map empty, or at fewer sweeps.
pub fn notch(window: &mut Window, slider: &str, part: f32, sweeps: &str) {
    let before = picture(window);
    let at = place(window, slider, part);
    window.harness.hover_at(at);
    window.until("the new setting", |window| {
        assert!(window.has_picture() && window.says(sweeps), "{:?}", window.texts());
        picture(window) != before
    });
}

/// What identifies the shown iterate: its residual and its edge share. Neither alone does: settings with
/// equally many tiles have equally many points beside tile borders.
fn picture(window: &Window) -> Vec<String> {
    let texts = window.texts();
    let share = texts.iter().filter(|text| text.starts_with("Edge share"));
    let mut row = texts.iter().skip_while(|text| !text.starts_with("‖r‖₂/‖r₀‖₂"));
    row.next();
    // The row of the run: its name, cycles, sweeps, solver time and residual.
    share.chain(row.nth(4)).cloned().collect()
}

/// The labels of the colour bar, which stand for its range.
pub fn range(window: &Window) -> Vec<String> {
    range_of(window, "Heat map", "Heat map of the residual")
}

/// Those of the picture in a pane.
fn range_of(window: &Window, pane: &str, picture: &str) -> Vec<String> {
    let map = window.rect(Role::Image, picture);
    let bar = window.painted().into_iter().filter(|painted| {
        painted.rect.left() > map.right() && map.y_range().contains(painted.rect.center().y)
    });
    let panes = window.rect(Role::Region, pane);
    bar.filter(|painted| panes.contains(painted.rect.center())).map(|it| it.text).collect()
}

fn equally_many_sweeps() {
    let mut window = Window::paused(small());
    window.step(10);
    grab(&mut window, "Overlap", 0.0);
    for part in [0.2, 0.35, 0.5, 0.2] {
        notch(&mut window, "Overlap", part, "· 40 sweeps");
        assert!(window.says("Held at 40 sweeps"), "{:?}", window.texts());
    }
    let end = place(&window, "Overlap", 0.2);
    window.harness.drop_at(end);
    window.frames(3);
    assert!(!window.says("Held at"));
    window.until_text("paused");
    // It goes on from there.
    window.key(Key::ArrowRight);
    window.until_text("cycle 11 · 44 sweeps");
    // Any other change is shown there, too, with k = 8 at 40 or 48 sweeps; at fewer if the machine is
    // too slow for these.
    window.set_slider("k", 8.0);
    window.until("shown", |window| {
        assert!(window.has_picture() && !window.says("cycle 0"), "{:?}", window.texts());
        (1..=6).contains(&window.cycle())
    });
}

fn a_converged_run_moves_once() {
    let mut run = small();
    // So many sweeps that no machine makes them in time.
    run.stop.tolerance = Some(1e-12);
    let mut window = Window::with(run);
    window.click(Role::CheckBox, "Classic");
    window.until_text("✓ converged");
    window.settle();
    let end = window.cycle();
    grab(&mut window, "Overlap", 0.0);
    window.until_text("which other values reach in time");
    let texts = window.texts();
    let held = texts.iter().find(|text| text.starts_with("Held at")).expect("it is said");
    let sweeps = held.split(' ').nth(2).expect("a number").to_owned();
    let number: u64 = sweeps.replace(',', "").parse().expect("a number");
    assert!(number.is_power_of_two() && number < 4 * end, "{held}");
    window.until("moved", |window| !window.says(", live"));
    // Released without a change, it is as before.
    let at = place(&window, "Overlap", 0.0);
    window.harness.drop_at(at);
    window.until_text("live");
    assert_eq!(window.cycle(), end);
    grab(&mut window, "Overlap", 0.0);
    let texts = |window: &Window| window.texts().join("\n");
    for part in [0.2, 0.4] {
        let at = place(&window, "Overlap", part);
        window.harness.hover_at(at);
        window.until("held", |window| {
            assert!(window.has_picture());
            window.says("held") && texts(window).contains("sweeps, which other values reach")
        });
    }
    let at = place(&window, "Overlap", 0.4);
    window.harness.drop_at(at);
    window.until_text("✓ converged");
    assert!(window.cycle() > 0);
    // Undone, the run is back with its cycles, and shown where it was before the drag moved its picture.
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    window.until("undone", |window| window.cycle() == end && window.says("live"));
}

fn an_equally_small_residual() {
    let mut run = small();
    run.method.k = 16.into();
    let mut window = Window::paused(run);
    window.step(10);
    window.button("View");
    window.frames(2);
    window.click(Role::RadioButton, "Equal residual");
    window.key(Key::Escape);
    let last = |window: &Window| {
        let texts = window.texts();
        let at = texts.iter().position(|text| text == "This run" || text == "this run");
        at.map(|at| texts[at..at + 5].to_vec()).unwrap_or_default()
    };
    let before = last(&window);
    window.set_slider("Overlap", 6.0);
    window.until("shown", |window| window.cycle() != 10 && window.says("paused"));
    let after = last(&window);
    assert!(window.cycle() < 10, "overlap needs fewer sweeps: {before:?} {after:?}");
}

fn the_range_stays() {
    let mut window = Window::paused(small());
    window.step(10);
    let before = range(&window);
    assert!(before.len() > 2, "{before:?}");
    grab(&mut window, "Overlap", 0.0);
    for part in [0.2, 0.5] {
        notch(&mut window, "Overlap", part, "40 sweeps");
        assert_eq!(range(&window), before);
    }
    let at = place(&window, "Overlap", 0.5);
    window.harness.drop_at(at);
    window.settle_some();
    assert_eq!(range(&window), before, "until another cycle is shown");
    window.key(Key::ArrowRight);
    window.until("another", |window| window.cycle() == 11 && range(window) != before);
}

/// How far the small run is dragged: every machine makes so few of its sweeps in time, and most k divide them.
pub const IN_TIME: &str = "· 16 sweeps";

fn k_and_tile_are_held() {
    // Shares of the sliders that lie well within a stop: k = 4, then 8, 16, 2; a tile of 12, then 20, 32, 8.
    for (slider, first, parts) in
        [("k", 0.336, [0.445, 0.555, 0.226]), ("Tile", 0.4, [0.5, 0.6, 0.3])]
    {
        let mut window = Window::paused(small());
        window.step(4);
        let before = range(&window);
        assert!(before.len() > 2, "{before:?}");
        grab(&mut window, slider, first);
        for part in parts {
            notch(&mut window, slider, part, IN_TIME);
            window.until_text("Held at 16 sweeps");
            assert_eq!(range(&window), before, "{slider} {part}");
        }
        let end = place(&window, slider, parts[2]);
        window.harness.drop_at(end);
        window.until_text("paused");
        assert!(window.says(IN_TIME) && window.has_picture(), "{:?}", window.texts());
    }
}

fn a_method_is_exchanged() {
    let mut window = Window::paused(small());
    window.step(4);
    let before = range(&window);
    window.key(Key::C);
    window.until("the classic method", |window| {
        assert!(window.has_picture() && window.says(IN_TIME), "{:?}", window.texts());
        window.cycle() == 16
    });
    assert_eq!(range(&window), before);
}

fn the_range_of_the_whole_run_stays() {
    let mut window = Window::paused(small());
    window.step(4);
    window.choose("Range", "whole run");
    window.until_text("range: whole run");
    window.frames(2);
    let before = range(&window);
    assert!(before.len() > 2, "{before:?}");
    grab(&mut window, "Overlap", 0.0);
    for part in [0.2, 0.5] {
        notch(&mut window, "Overlap", part, IN_TIME);
        assert_eq!(range(&window), before);
    }
    let end = place(&window, "Overlap", 0.5);
    window.harness.drop_at(end);
    window.until_text("paused");
}

fn the_ranges_of_small_pictures_stay() {
    for (pane, picture) in
        [("Frequencies", "Frequencies of the residual"), ("Mean tile", "Mean tile of the residual")]
    {
        let mut window = Window::paused(small());
        window.step(4);
        view(&mut window, Role::CheckBox, pane);
        window.until("its colours", |window| {
            window.has(Role::Image, picture) && range_of(window, pane, picture).len() > 1
        });
        let before = range_of(&window, pane, picture);
        grab(&mut window, "Overlap", 0.0);
        for part in [0.2, 0.5] {
            notch(&mut window, "Overlap", part, IN_TIME);
            // In every frame of it, also where its values are still to come.
            assert_eq!(range_of(&window, pane, picture), before, "{pane}");
        }
        let end = place(&window, "Overlap", 0.5);
        window.harness.drop_at(end);
        window.until_text("paused");
        window.key(Key::ArrowRight);
        window.until("its own range", |window| {
            window.cycle() == 5 && range_of(window, pane, picture) != before
        });
    }
}

fn the_drawing_follows_the_overlap() {
    let mut window = Window::paused(small());
    grab(&mut window, "Overlap", 0.0);
    let mut seen = Vec::new();
    for part in [0.0, 0.2, 0.35, 0.9] {
        let at = place(&window, "Overlap", part);
        window.harness.hover_at(at);
        window.frames(2);
        let overlap = window.slider("Overlap") as usize;
        // With k = 4, three points are stale; half of the overlap is dropped.
        let expected = match overlap / 2 {
            0 => "3 points next to each halo go stale, and all of them are owned.".to_owned(),
            1 => "overlap drops 1 of them, and 2 are owned.".to_owned(),
            2 => "overlap drops 2 of them, and 1 is owned.".to_owned(),
            _ => "none of them is owned: exact Jacobi.".to_owned(),
        };
        let texts = window.texts();
        assert!(texts.iter().any(|text| text.ends_with(&expected)), "{overlap}: {texts:?}");
        assert!(texts.contains(&format!("overlap {overlap}")), "{overlap}: {texts:?}");
        seen.push(overlap);
    }
    assert!(seen[0] == 0 && seen.windows(2).all(|pair| pair[0] < pair[1]), "{seen:?}");
    let end = place(&window, "Overlap", 0.9);
    window.harness.drop_at(end);
    window.frames(2);
}
