//! The effects of the controls, found by their labels.

use crate::driver::{USUAL, Window};
use crate::panes::view;
use eframe::egui::accesskit::Role;
use eframe::egui::{Event, Key, Modifiers, Theme, accessibility::is_input, vec2};
use egui_kittest::kittest::{NodeT, Queryable};
use std::collections::{BTreeMap, BTreeSet};
use tilescope::run::{InitialGuess, MethodName, PRESETS, Planner, Preset, ProblemKind, RunSpec};
use tilescope::solver::Subiterations;

pub const TESTS: &[(&str, fn())] = &[
    ("every_control_has_a_name", every_control_has_a_name),
    ("every_control_has_a_tooltip", every_control_has_a_tooltip),
    ("no_text_is_cut_off_or_covers_another", no_text_is_cut_off_or_covers_another),
    ("keys_do_what_buttons_do", keys_do_what_buttons_do),
    ("typing_in_a_field_triggers_no_shortcut", typing_in_a_field_triggers_no_shortcut),
    ("a_step_is_one_cycle", a_step_is_one_cycle),
    ("dragging_overlap_restarts_and_the_last_setting_wins", dragging_overlap_restarts),
    ("k_is_a_power_of_two_by_dragging_and_any_number_by_typing", k_by_dragging_and_typing),
    ("an_invalid_value_is_reported_and_changes_nothing", an_invalid_value_is_reported),
    ("a_refusal_leaves_with_its_setting", a_refusal_leaves_with_its_setting),
    ("where_a_speed_is_chosen_one_rate_is_shown", one_rate_is_shown),
    ("the_reference_goes_on_while_the_run_is_paused", the_reference_goes_on),
    ("where_an_overlap_is_exact_staleness_is_0_everywhere", staleness_of_exact_jacobi),
    ("a_smaller_tile_reduces_the_overlap", a_smaller_tile_reduces_the_overlap),
    ("x_and_y_can_be_set_separately", x_and_y_can_be_set_separately),
    ("classic_has_no_k_nor_tiles", classic_has_no_k_nor_tiles),
    ("waves_and_warps_are_options_of_the_method", waves_and_warps_are_options),
    ("damping_and_order_are_rows_of_the_method", damping_and_order_are_rows_of_the_method),
    ("omega_above_one_is_warned_of_as_such", omega_above_one_is_warned_of_as_such),
    ("the_spectral_radius_is_a_row", the_spectral_radius_is_a_row),
    ("every_preset_gives_a_picture", every_preset_gives_a_picture),
    ("every_field_and_scale_gives_a_picture", every_field_and_scale_gives_a_picture),
    (
        "what_is_not_kept_of_a_long_1d_grid_is_reported",
        what_is_not_kept_of_a_long_1d_grid_is_reported,
    ),
    ("a_finished_run_says_so", a_finished_run_says_so),
    ("a_plot_is_enlarged_without_end", a_plot_is_enlarged_without_end),
    ("more_reference_curves_are_chosen_in_a_menu", more_reference_curves_are_chosen_in_a_menu),
    ("the_theme_can_be_changed", the_theme_can_be_changed),
];

/// A run that starts at once.
pub fn small() -> RunSpec {
    let mut run = RunSpec::default();
    run.problem.shape = vec![64, 64];
    run.method.tile = vec![16];
    run.method.k = 4.into();
    run
}

/// A 1D problem.
pub fn line() -> RunSpec {
    Preset::named("random-1d").expect("a preset").run()
}

/// A window with a pinned run that the map is compared with.
fn pinned() -> Window {
    let mut window = Window::paused(small());
    window.step(2);
    window.button("Pin");
    window.key(eframe::egui::Key::R);
    window.choose("Compare", "wipe");
    window.until_captioned("A", 0);
    window.until("without messages", |window| window.messages() == 0);
    window
}

/// Tiles in waves, points in warps, and an initial guess.
fn in_waves() -> RunSpec {
    let mut run = small();
    (run.method.wave, run.method.warp) = (Some(4), Some(32));
    run.problem.initial = Some(InitialGuess::Value(0.5));
    run
}

/// A heat plate, whose hot box can be dragged.
fn plate() -> RunSpec {
    let mut run = small();
    run.problem.kind = ProblemKind::HeatPlate;
    run
}

/// Windows that together show every control.
fn all_faces() -> Vec<(&'static str, Window)> {
    let mut apart = small();
    apart.method.tile = vec![16, 8];
    let mut wind = small();
    wind.problem.kind = ProblemKind::ConvectionDiffusion;
    let mut materials = small();
    materials.problem.kind = ProblemKind::Diffusion;
    let mut classic = small();
    classic.method.name = MethodName::Classic;
    let mut faces = vec![
        ("the default", Window::paused(small())),
        ("a line", Window::paused(line())),
        ("Separate x and y", Window::paused(apart)),
        ("wind", Window::paused(wind)),
        ("materials", Window::paused(materials)),
        ("classic", Window::paused(classic)),
        ("a pinned run", pinned()),
        ("waves and warps", Window::paused(in_waves())),
        ("a heat plate", Window::paused(plate())),
    ];
    let mut edges = Window::paused(small());
    for pane in ["Mean tile", "By distance", "Inside a cycle"] {
        view(&mut edges, Role::CheckBox, pane);
    }
    faces.push(("panes about edges", edges));
    let mut saving = Window::paused(small());
    saving.button("Save …");
    faces.push(("the save dialog", saving));
    let mut opening = Window::paused(small());
    opening.button("Open …");
    faces.push(("the open dialog", opening));
    let mut menu = Window::paused(small());
    menu.button("View");
    faces.push(("the View menu", menu));
    let mut help = Window::paused(small());
    help.button("Help");
    faces.push(("the Help menu", help));
    let mut presentation = Window::paused(small());
    presentation.key(Key::F9);
    presentation.frames(4);
    faces.push(("a presentation", presentation));
    let mut keys = Window::paused(small());
    keys.key(Key::Questionmark);
    keys.frames(2);
    faces.push(("the sheet of keys", keys));
    let mut palette = Window::paused(small());
    palette.harness.key_press_modifiers(Modifiers::COMMAND, Key::P);
    palette.frames(2);
    faces.push(("the palette", palette));
    for combo in [
        "Problem",
        "Common sizes",
        "Field",
        "Scale",
        "Colour map",
        "Range",
        "Norm",
        "Curves over",
        "Fields of the profile",
        "Speed",
    ] {
        let mut window = Window::paused(small());
        window.harness.get_by_role_and_label(Role::ComboBox, combo).click();
        window.frames(4);
        faces.push((combo, window));
    }
    faces
}

fn every_control_has_a_name() {
    for (face, window) in all_faces() {
        assert_eq!(window.harness.unnamed_widgets(), Vec::<String>::new(), "{face}");
    }
    // A slider whose number is being typed.
    let mut window = Window::paused(small());
    window.harness.get_by_role_and_label(Role::SpinButton, "k").click();
    window.frames(2);
    assert_eq!(window.harness.unnamed_widgets(), Vec::<String>::new(), "typing");
}

/// A control of a library: the edge of a panel.
const NOT_OURS: &str = "Resize panel";

fn every_control_has_a_tooltip() {
    let (mut tried, mut without) = (BTreeSet::new(), Vec::new());
    for (face, mut window) in all_faces().into_iter().take(10) {
        let nodes = window.harness.root().children_recursive();
        let mut counts = BTreeMap::new();
        let controls: Vec<_> = nodes
            .filter(|node| is_input(node.accesskit_node().role()))
            .filter_map(|node| {
                let control = node.accesskit_node();
                let (role, name) = (control.role(), control.label().unwrap_or_default());
                let count = counts.entry(format!("{role:?} {name}")).or_insert(0_usize);
                *count += 1;
                let control = (role, name, *count - 1, node.rect().center());
                (!node.accesskit_node().is_disabled()).then_some(control)
            })
            .collect();
        for (role, name, index, at) in controls {
            if name == NOT_OURS || !tried.insert(name.clone()) {
                continue;
            }
            window.harness.remove_cursor();
            window.frame();
            // Others may have been scrolled to, and have moved it.
            let at = window.scroll_to_one(role, &name, index).unwrap_or(at);
            // After a click, they wait for the pointer to move.
            window.harness.hover_at(at + vec2(1.0, 0.0));
            window.harness.hover_at(at);
            // Tooltips appear half a second after the pointer stopped.
            window.harness.run_steps(45);
            if !window.has_tooltip() {
                without.push(format!("{face}: {role:?} {name} at {at:?}"));
            }
        }
    }
    assert!(tried.len() > 50, "{tried:?}");
    assert_eq!(without, Vec::<String>::new());
}

/// At the default and at the smallest size of the window, after many cycles.
fn no_text_is_cut_off_or_covers_another() {
    let mut wrong = Vec::new();
    for size in [USUAL, vec2(960.0, 600.0)] {
        for mut run in [small(), line()] {
            run.stop.tolerance = Some(1e-14);
            let mut window = Window::sized(size, Theme::Dark, Some(run));
            window.until("far", |window| window.cycle() > 5_000 && window.has_picture());
            let painted = window.painted();
            for text in &painted {
                let seen = text.clip.expand(1.0);
                if text.rect.left() < seen.left() || text.rect.right() > seen.right() {
                    wrong.push(format!("{size}: cut off: {:?} at {}", text.text, text.rect));
                }
            }
            for (index, one) in painted.iter().enumerate() {
                for other in &painted[index + 1..] {
                    // Rectangles of text: an overlap of one point is not visible.
                    if one.rect.shrink(1.0).intersects(other.rect.shrink(1.0)) {
                        wrong.push(format!("{size}: {:?} covers {:?}", other.text, one.text));
                    }
                }
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

fn keys_do_what_buttons_do() {
    let mut window = Window::new();
    window.until("going", |window| window.cycle() > 0 && window.has(Role::Button, "Pause"));
    window.key(Key::Space);
    window.until_text("paused");
    assert!(window.has(Role::Button, "Run"));
    let cycle = window.cycle();
    window.settle_some();
    assert_eq!(window.cycle(), cycle, "a paused run stands");
    window.key(Key::Space);
    window.until("going on", |window| window.cycle() > cycle);
    window.key(Key::R);
    window.until("back", |window| window.cycle() == 0 && window.says("paused"));
    assert!(window.is_on("Borders"));
    window.key(Key::B);
    window.frame();
    assert!(!window.is_on("Borders"));
    window.key(Key::B);
    window.frame();
    assert!(window.is_on("Borders"));
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::S);
    window.frames(2);
    assert!(window.has(Role::TextInput, "File"), "the dialog is open");
    window.key(Key::Escape);
    window.frames(2);
    assert!(!window.has(Role::TextInput, "File"), "the dialog is closed");
}

fn typing_in_a_field_triggers_no_shortcut() {
    let mut window = Window::paused(small());
    window.harness.get_by_role_and_label(Role::SpinButton, "k").click();
    window.frames(2);
    window.key(Key::ArrowRight);
    window.key(Key::Space);
    window.key(Key::B);
    window.settle_some();
    assert_eq!(window.cycle(), 0);
    assert!(window.is_on("Borders"));
    assert!(window.says("paused"));
}

fn a_step_is_one_cycle() {
    let mut window = Window::paused(RunSpec::default());
    for cycle in 1..=3 {
        window.key(Key::ArrowRight);
        window.until_text(&format!("cycle {cycle} · {} sweeps", 16 * cycle));
        window.settle_some();
        assert_eq!(window.cycle(), cycle);
    }
    window.button("Step");
    window.until_text("cycle 4 · 64 sweeps");
    // In a running run, a step makes one cycle and pauses.
    window.key(Key::Space);
    window.until("going", |window| window.cycle() > 4);
    window.key(Key::ArrowRight);
    window.until_text("paused");
    let cycle = window.cycle();
    window.settle_some();
    assert_eq!(window.cycle(), cycle);
}

fn dragging_overlap_restarts() {
    let mut window = Window::new();
    window.until("going", |window| window.cycle() > 2);
    let values = window.drag_slider("Overlap", &[0.0, 0.1, 0.3, 0.5, 0.9, 0.7, 0.4, 0.55]);
    assert!(values.windows(2).any(|pair| pair[0] != pair[1]), "{values:?}");
    assert!(values.iter().all(|value| value % 2.0 == 0.0), "{values:?}");
    let last = *values.last().expect("there are values");
    assert_eq!(window.slider("Overlap"), last);
    let run = window.run_under_way();
    assert_eq!(run.method.overlap, [last as usize]);
    assert!(window.has(Role::Button, "Pause"), "it continues with the new setting");
}

fn k_by_dragging_and_typing() {
    let mut window = Window::paused(small());
    let to: Vec<f32> = (0..=20).map(|part| part as f32 / 20.0).collect();
    let values = window.drag_slider("k", &to);
    assert!(values.iter().all(|&value| (value as usize).is_power_of_two()), "{values:?}");
    assert_eq!((values[0], values[20]), (1.0, 256.0));
    assert_eq!(window.run_under_way().method.k, Subiterations::Infinite);
    assert!(window.says("exact local solve"));
    window.type_into("k", "13");
    assert_eq!(window.slider("k"), 13.0);
    assert_eq!(window.run_under_way().method.k, 13);
    window.type_into("k", "300");
    assert_eq!(window.run_under_way().method.k, 300);
    window.type_into("k", "inf");
    assert_eq!(window.run_under_way().method.k, Subiterations::Infinite);
    window.type_into("k", "1000000");
    assert_eq!(window.run_under_way().method.k, 1_000_000);
}

fn an_invalid_value_is_reported() {
    let mut window = Window::paused(small());
    window.step(3);
    let refused = [
        ("k", "0", "k is 0; it must be 1 to 1000000, or inf"),
        ("k", "9999999", "k is 9999999; it must be 1 to 1000000, or inf"),
        ("Overlap", "3", "overlap 3 is odd"),
        ("Overlap", "400", "overlap 400 is too large"),
        ("Tile", "0", "tile is 0"),
        ("Threads", "5000", "threads is 5000; it must be at most 1024"),
        ("Points along x", "0", "shape is 0"),
        ("Tolerance", "-1", "it must be a positive number"),
    ];
    for (control, typed, message) in refused {
        window.type_into(control, typed);
        window.until("a message", |window| window.says(message) && window.messages() == 1);
        window.button("Dismiss");
        assert_eq!(window.cycle(), 3, "{control} {typed}");
        assert_eq!(window.slider("k"), 4.0, "{control} {typed}");
    }
    window.step(1);
    assert_eq!(window.run_under_way(), small());
}

fn a_refusal_leaves_with_its_setting() {
    let mut window = Window::paused(small());
    window.type_into("Overlap", "3");
    window.until_text("overlap 3 is odd");
    // At once: messages that run out stay for seconds.
    window.set_slider("Overlap", 4.0);
    window.frames(2);
    assert_eq!(window.messages(), 0, "{:?}", window.texts());
    assert_eq!(window.slider("Overlap"), 4.0);
}

/// The one that is reached, and not that of the solver beside it. Nothing moves as it changes.
fn one_rate_is_shown() {
    let mut window = Window::paused(small());
    let place = window.rect(Role::ComboBox, "Speed");
    window.choose("Speed", "1,000 cycles/s");
    window.choose("Speed", "30 cycles/s");
    window.key(Key::Space);
    window.until("going", |window| {
        window.says(" of 30/s") && window.texts().iter().any(|text| text == "running")
    });
    assert!(!window.says("cycles/s"), "{:?}", window.texts());
    assert_eq!(window.rect(Role::ComboBox, "Speed"), place);
}

/// The cycles of classic Jacobi, as the table says them.
fn classic_cycles(window: &Window) -> Option<u64> {
    let texts = window.texts();
    let name = texts.iter().position(|text| text == "classic")?;
    texts.get(name + 1)?.replace(',', "").parse().ok()
}

fn the_reference_goes_on() {
    // Paused after each of its steps.
    let mut window = Window::paused(small());
    window.step(40);
    window.until("as far as the run", |window| {
        window.says("paused") && classic_cycles(window).is_some_and(|cycles| cycles >= 160)
    });
    assert_eq!(window.cycle(), 40);
}

fn staleness_of_exact_jacobi() {
    for (k, overlap) in [(1, 0), (4, 6)] {
        let mut run = small();
        (run.method.k, run.method.overlap) = (k.into(), vec![overlap]);
        let mut window = Window::paused(run);
        window.choose("Field", "Staleness");
        window.step(2);
        window.until_text("0 everywhere: exact Jacobi");
    }
    let mut run = small();
    run.method.overlap = vec![4];
    let mut window = Window::paused(run);
    window.choose("Field", "Staleness");
    window.step(2);
    window.until("stale", |window| window.has_picture() && !window.says("0 everywhere"));
}

fn a_smaller_tile_reduces_the_overlap() {
    let mut window = Window::paused(RunSpec::default());
    window.set_slider("Overlap", 30.0);
    assert_eq!(window.slider("Overlap"), 30.0);
    for (tile, overlap) in [(17, 14), (4, 2), (3, 0), (1, 0)] {
        window.type_into("Tile", &tile.to_string());
        assert_eq!(window.slider("Overlap"), f64::from(overlap), "tile {tile}");
        let method = window.run_under_way().method;
        assert_eq!((method.tile[0], method.overlap[0]), (tile, overlap as usize));
    }
    assert!(!window.says("Invalid tile"));
    // Keys move a focused slider from stop to stop.
    window.harness.get_by_role_and_label(Role::Slider, "Tile").focus();
    window.frames(2);
    for tile in [4.0, 8.0, 12.0] {
        window.key(Key::ArrowRight);
        window.frame();
        assert_eq!(window.slider("Tile"), tile);
    }
}

fn x_and_y_can_be_set_separately() {
    let mut window = Window::paused(small());
    assert!(!window.has(Role::Slider, "Overlap y"));
    window.click(Role::CheckBox, "Separate x and y");
    window.set_slider("Overlap y", 4.0);
    window.set_slider("Tile x", 32.0);
    window.set_slider("Overlap x", 2.0);
    let method = window.run_under_way().method;
    assert_eq!((method.tile, method.overlap), (vec![32, 16], vec![2, 4]));
    window.click(Role::CheckBox, "Separate x and y");
    assert!(window.has(Role::Slider, "Overlap") && !window.has(Role::Slider, "Overlap y"));
    let method = window.run_under_way().method;
    assert_eq!((method.tile, method.overlap), (vec![32], vec![2]));
}

fn classic_has_no_k_nor_tiles() {
    let mut window = Window::paused(small());
    assert!(window.is_enabled(Role::Slider, "k"));
    window.choose("Iteration", "Classic");
    for slider in ["k", "Overlap", "Tile"] {
        assert!(!window.is_enabled(Role::Slider, slider), "{slider}");
    }
    window.step(2);
    window.until_text("cycle 2 · 2 sweeps");
    window.choose("Iteration", "Hierarchical");
    assert!(window.is_enabled(Role::Slider, "k"));
    assert_eq!(window.slider("k"), 4.0);
}

fn waves_and_warps_are_options() {
    let mut window = Window::paused(small());
    window.until_text("Exact Jacobi for overlap ≥ 6");
    for (key, name, wanted, number) in [
        (Key::W, "Tiles per wave", "In waves", 16.0),
        (Key::R, "Points per warp", "In warps", 32.0),
    ] {
        window.harness.key_press_modifiers(Modifiers::SHIFT, key);
        window.frames(3);
        let node = window.harness.get_by_role_and_label(Role::SpinButton, name);
        assert_eq!(node.accesskit_node().numeric_value(), Some(number));
        window.until_text("Not Jacobi at any overlap");
        window.step(2);
        let before = window.cycle();
        // The row is where it was; it can be left and chosen there, too.
        window.click(Role::CheckBox, wanted);
        window.until_text("Exact Jacobi for overlap ≥ 6");
        assert!(!window.has(Role::SpinButton, name) && before == 2, "{before}");
        window.reset();
    }
}

fn damping_and_order_are_rows_of_the_method() {
    let mut window = Window::paused(small());
    assert!(!window.has(Role::SpinButton, "ω"));
    window.click(Role::DisclosureTriangle, "Damping and order");
    window.frames(20);
    window.type_into("ω", "0.5");
    assert_eq!(window.run_under_way().method.omega, 0.5);
    window.button("1");
    window.frames(3);
    assert_eq!(window.run_under_way().method.omega, 1.0);
    window.click(Role::CheckBox, "In waves");
    window.type_into("Tiles per wave", "3");
    assert_eq!(window.run_under_way().method.wave, Some(3));
    window.click(Role::CheckBox, "In waves");
    window.choose("Iteration", "Classic");
    assert!(window.is_enabled(Role::SpinButton, "ω"), "a classic sweep can be damped");
    assert!(!window.is_enabled(Role::CheckBox, "In waves"), "and has no tiles");
    window.harness.key_press_modifiers(Modifiers::SHIFT, Key::C);
    window.frames(3);
    assert_eq!(window.run_under_way().method.omega, 2.0 / 3.0);
    window.harness.key_press_modifiers(Modifiers::SHIFT, Key::C);
    window.frames(3);
    assert_eq!(window.run_under_way().method.omega, 1.0);
}

/// With a dominant matrix it is ω that is to blame.
fn omega_above_one_is_warned_of_as_such() {
    let mut run = small();
    run.method.omega = 1.5;
    // As high as the panel is.
    let mut window = Window::sized(vec2(1280.0, 1300.0), Theme::Dark, Some(run));
    window.reset();
    window.until_text("⚠ ω is too large");
    assert!(!window.says("not diagonally dominant"));
}

/// Found on a thread of its own, where there is no formula for it.
fn the_spectral_radius_is_a_row() {
    for kind in [ProblemKind::Poisson, ProblemKind::Diffusion] {
        let mut run = small();
        run.problem.kind = kind;
        let plan = Planner::default().plan(&run).expect("it can run");
        let radius = plan.spectral_radius().expect("of so small a grid");
        // As high as the panel is.
        let mut window = Window::sized(vec2(1280.0, 1300.0), Theme::Dark, Some(run));
        window.reset();
        window.until_text(&format!("{radius}, 1.000"));
    }
}

fn every_preset_gives_a_picture() {
    let mut window = Window::new();
    // The last is a matrix, whose blocks have more rows than a tile of a volume.
    for preset in PRESETS.iter().chain(Preset::named("poisson-3d")) {
        window.choose("Problem", preset.label);
        let run = window.run_under_way();
        let (problem, stop) = preset.problem();
        assert_eq!((run.problem, run.stop), (problem, stop), "{}", preset.name);
        window.until(preset.label, |window| window.has_picture() && window.cycle() > 0);
    }
}

fn every_field_and_scale_gives_a_picture() {
    for run in [small(), line()] {
        let mut window = Window::paused(run);
        window.step(3);
        for field in ["Error", "Update", "Staleness", "Solution", "Residual"] {
            window.choose("Field", field);
            window.until(field, |window| window.has_picture());
            for scale in ["Linear", "Symmetric", "Log"] {
                window.choose("Scale", scale);
                window.frames(2);
                assert!(window.has_picture(), "{field}, {scale}");
            }
        }
        assert_eq!(window.cycle(), 3, "looking makes no cycles");
    }
}

/// Iterates of such a long 1D grid are not kept, and two fields cannot be drawn without them.
fn what_is_not_kept_of_a_long_1d_grid_is_reported() {
    let mut run = line();
    run.problem.shape = vec![20_000];
    let mut window = Window::paused(run);
    for field in ["Error", "Staleness"] {
        window.choose("Field", field);
        window.until_text("is kept only for 1D grids of at most 16,384 points");
    }
    window.choose("Field", "Residual");
    window.until("shown", |window| !window.says("is kept for"));
}

fn a_finished_run_says_so() {
    let mut run = small();
    run.stop.tolerance = Some(1e-2);
    let mut window = Window::with(run);
    window.until_text("✓ converged");
    // The residual is 1 % of the first; half of the error is still there.
    window.until_text("error 51 %");
    assert!(!window.is_enabled(Role::Button, "Step"));
    let cycle = window.cycle();
    window.key(Key::ArrowRight);
    window.key(Key::Space);
    window.settle_some();
    assert_eq!(window.cycle(), cycle);
    // A change of the run restarts it, whatever was pressed meanwhile.
    window.set_slider("Overlap", 4.0);
    window.until("converged again", |window| {
        window.says("✓ converged")
            && window.is_enabled(Role::Button, "Reset")
            && window.cycle() < cycle
    });
}

/// Dashes of a curve that goes far beyond the plot would be millions.
fn a_plot_is_enlarged_without_end() {
    let mut window = Window::paused(small());
    window.step(10);
    window.until("classic", |window| window.texts().iter().any(|text| text == "classic"));
    window.settle();
    let before = window.harness.output().shapes.len();
    let plot = window.rect(Role::Region, "Convergence").center();
    window.harness.hover_at(plot);
    for _ in 0..60 {
        window.harness.input_mut().events.push(Event::Zoom(2.0));
        window.frame();
        let shapes = window.harness.output().shapes.len();
        assert!(shapes < 4 * before, "{before} shapes, then {shapes}");
    }
}

/// Legends have their names in small letters, the menu with a capital.
fn more_reference_curves_are_chosen_in_a_menu() {
    let mut window = Window::paused(small());
    window.step(10);
    window.button("More references");
    window.click(Role::CheckBox, "Conjugate gradients");
    window.click(Role::CheckBox, "Asymptotic rate");
    window.key(Key::Escape);
    window.until("the curve", |window| {
        window.texts().iter().any(|text| text == "conjugate gradients")
    });
    window.until_text("asymptotic rate (measured)");
    window.choose("Curves over", "solver time");
    window.until_text("are not timed: choose cycles or sweeps");
    window.choose("Curves over", "sweeps");
    window.choose("Norm", "‖u − u*‖₂");
    window.until_text("only the residual is known");
}

fn the_theme_can_be_changed() {
    let mut window = Window::paused(small());
    window.button("Light theme");
    assert_eq!(window.harness.ctx.theme(), Theme::Light);
    window.button("Dark theme");
    assert_eq!(window.harness.ctx.theme(), Theme::Dark);
}
