//! Time travel: earlier cycles by keys, on the track, in a replay and from the curve.

use crate::controls::{line, small};
use crate::driver::Window;
use eframe::egui::{Key, Modifiers, Pos2, accesskit::Role, vec2};

pub const TESTS: &[(&str, fn())] = &[
    ("keys_go_back_and_forth_in_time", keys_go_back_and_forth),
    ("an_earlier_cycle_looks_as_it_did", an_earlier_cycle_looks_as_it_did),
    ("the_track_is_dragged_to_earlier_cycles", the_track_is_dragged),
    ("a_part_is_played_once_or_in_a_loop", a_part_is_played),
    ("pointing_at_the_curve_shows_its_cycle", pointing_at_the_curve),
    ("a_drag_in_the_curves_pans_and_moves_no_cycle", a_drag_pans),
    ("a_line_shows_the_profile_of_an_earlier_cycle", a_line_shows_an_earlier_profile),
    ("another_run_is_shown_as_it_goes", another_run_is_shown_as_it_goes),
    ("with_no_memory_earlier_cycles_are_seen_all_the_same", without_memory),
];

/// A run paused after twelve cycles.
fn twelve() -> Window {
    let mut window = Window::paused(small());
    window.step(12);
    window
}

fn with(window: &mut Window, modifiers: Modifiers, key: Key) {
    window.harness.key_press_modifiers(modifiers, key);
    window.frame();
}

/// The texts about the residual at tile borders, and the numbers of the shown cycle.
fn edge_share(window: &Window) -> String {
    let texts = window.texts();
    texts.into_iter().find(|text| text.starts_with("Edge share")).expect("the edge share is shown")
}

fn keys_go_back_and_forth() {
    let mut window = twelve();
    window.until_text("cycle 12, live");
    window.key(Key::ArrowLeft);
    window.until_text("11 of 12");
    with(&mut window, Modifiers::SHIFT, Key::ArrowLeft);
    window.until_text("1 of 12");
    window.key(Key::ArrowRight);
    window.until_text("2 of 12");
    with(&mut window, Modifiers::COMMAND, Key::ArrowLeft);
    window.until_text("0 of 12");
    with(&mut window, Modifiers::SHIFT, Key::ArrowRight);
    window.until_text("10 of 12");
    assert_eq!(window.cycle(), 10, "the toolbar has the cycle that is shown");
    with(&mut window, Modifiers::COMMAND, Key::ArrowRight);
    window.until_text("cycle 12, live");
    window.key(Key::Home);
    window.until_text("0 of 12");
    window.key(Key::End);
    window.until_text("cycle 12, live");
    // At the newest cycle, the run makes more cycles.
    window.key(Key::ArrowRight);
    window.until_text("cycle 13, live");
    with(&mut window, Modifiers::SHIFT, Key::ArrowRight);
    window.until_text("cycle 23, live");
    window.key(Key::ArrowLeft);
    window.until_text("22 of 23");
    window.button("Live");
    window.until_text("cycle 23, live");
    assert!(!window.is_enabled(Role::Button, "Live"));
}

fn an_earlier_cycle_looks_as_it_did() {
    let mut window = Window::paused(small());
    let mut shares = vec![edge_share(&window)];
    for cycle in 1..=8 {
        window.step(1);
        window.until_text(&format!("cycle {cycle}, live"));
        shares.push(edge_share(&window));
    }
    assert!(shares.windows(2).any(|pair| pair[0] != pair[1]), "{shares:?}");
    for cycle in [5_usize, 2, 7, 0, 3] {
        window.set_slider("Cycle shown", cycle as f64);
        window.until_text(&format!("{cycle} of 8"));
        window.until("there", |window| edge_share(window) == shares[cycle]);
        assert_eq!(window.slider("Cycle shown"), cycle as f64);
    }
}

fn the_track_is_dragged() {
    let mut window = twelve();
    let values = window.drag_slider("Cycle shown", &[0.9, 0.7, 0.4, 0.25, 0.5]);
    assert!(values[0] > values[1] && values[1] > values[2] && values[3] < values[4], "{values:?}");
    let last = *values.last().expect("there are values");
    window.until_text(&format!("{last} of 12"));
    window.drag_slider("Cycle shown", &[0.5, 1.0]);
    window.until_text("cycle 12, live");
}

fn a_part_is_played() {
    let mut window = twelve();
    window.set_slider("First replayed cycle", 3.0);
    window.set_slider("Last replayed cycle", 6.0);
    window.choose("Speed", "100 cycles/s");
    window.button("Play");
    window.until("at the end", |window| window.says("6 of 12") && window.has(Role::Button, "Play"));
    window.click(Role::CheckBox, "Loop");
    with(&mut window, Modifiers::SHIFT, Key::Space);
    let mut seen = [false; 13];
    window.until("round again", |window| {
        let cycle = window.slider("Cycle shown") as usize;
        let again = seen[6] && cycle == 3;
        seen[cycle] = true;
        again
    });
    window.button("Stop");
    assert!(window.has(Role::Button, "Play"));
    assert!(!seen[2] && !seen[7] && seen[3] && seen[6], "{seen:?}");
    // All cycles again: the ends return.
    window.set_slider("First replayed cycle", 0.0);
    window.set_slider("Last replayed cycle", 12.0);
    assert_eq!(window.slider("Last replayed cycle"), 12.0);
}

/// A point of the convergence plot, at a share of its width.
fn in_plot(window: &Window, part: f32) -> Pos2 {
    let (left, right) = (window.rect(Role::ComboBox, "Norm").left() + 40.0, 1260.0);
    let top = window.rect(Role::ComboBox, "Norm").bottom();
    Pos2::new(left + part * (right - left), top + 160.0)
}

fn pointing_at_the_curve() {
    let mut window = twelve();
    // The plot is as wide as the run, however far the reference is.
    window.click(Role::CheckBox, "Classic");
    window.settle_some();
    let at = in_plot(&window, 0.5);
    window.harness.hover_at(at);
    window.until_text(" of 12");
    let pointed = window.slider("Cycle shown");
    assert!((2.0..=10.0).contains(&pointed), "{pointed}");
    window.harness.remove_cursor();
    window.until_text("cycle 12, live");
    window.click_on(at);
    window.harness.remove_cursor();
    window.until_text(" of 12");
    window.settle_some();
    assert_eq!(window.slider("Cycle shown"), pointed, "it stays there");
}

fn a_drag_pans() {
    let mut window = twelve();
    window.click(Role::CheckBox, "Classic");
    window.settle_some();
    // Where the sweeps begin.
    let start = |window: &Window| {
        let pane = window.rect(Role::Region, "Convergence");
        let painted = window.painted().into_iter();
        let mut ticks = painted.filter(|it| it.text == "0" && pane.contains(it.rect.center()));
        ticks.next().expect("the axis begins at 0").rect.center().x
    };
    let before = start(&window);
    let from = in_plot(&window, 0.3);
    window.harness.hover_at(from);
    window.until_text(" of 12");
    window.harness.drag_at(from);
    window.frame();
    for step in 1..=6_u8 {
        window.harness.hover_at(from + vec2(12.0 * f32::from(step), 0.0));
        window.frames(3);
        assert_eq!(window.slider("Cycle shown"), 12.0, "after {step} steps");
    }
    window.harness.drop_at(from + vec2(72.0, 0.0));
    window.harness.remove_cursor();
    window.until_text("cycle 12, live");
    assert!(start(&window) > before + 40.0, "{} after {before}", start(&window));
}

fn a_line_shows_an_earlier_profile() {
    let mut window = Window::paused(line());
    window.step(6);
    window.until_text("cycle 6, live");
    window.set_slider("Cycle shown", 2.0);
    window.until_text("2 of 6");
    window.settle_some();
    assert!(window.has_picture(), "the diagram stays");
    assert!(!window.says("unknown"));
    window.key(Key::ArrowRight);
    window.until_text("3 of 6");
}

fn another_run_is_shown_as_it_goes() {
    let mut window = twelve();
    window.key(Key::Home);
    window.until_text("0 of 12");
    window.key(Key::R);
    window.until_text("cycle 0, live");
    window.step(2);
    window.until_text("cycle 2, live");
}

fn without_memory() {
    let mut window = twelve();
    window.until("kept", |window| !window.says(" 0 B used"));
    window.type_into("Memory", "0");
    window.until_text("0 B used");
    window.key(Key::Home);
    window.until_text("0 of 12");
    with(&mut window, Modifiers::SHIFT, Key::ArrowRight);
    window.until_text("10 of 12");
}
