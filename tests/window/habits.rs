//! Undo, command palette, keyboard shortcuts, saved settings and the welcome dialog.

use crate::controls::small;
use crate::driver::{USUAL, Window};
use crate::panes::move_curves_to_the_left;
use crate::tuning;
use eframe::egui::accesskit::Toggled;
use eframe::egui::{Event, HoveredFile, Key, Modifiers, Theme, accesskit::Role, vec2};
use egui_kittest::kittest::{NodeT, Queryable};
use image::{GrayImage, Luma};
use std::fs;
use std::path::Path;
use tilescope::app::SettingsFile;
use tilescope::picture::{Drawing, ViewSpec, save_figure};

pub const TESTS: &[(&str, fn())] = &[
    ("a_drag_is_undone_at_once_and_made_again", a_drag_is_undone_at_once_and_made_again),
    ("all_runs_are_unpinned_at_once", all_runs_are_unpinned_at_once),
    ("changes_of_the_view_are_undone_too", changes_of_the_view_are_undone_too),
    ("a_refused_setting_is_no_step_to_undo", a_refused_setting_is_no_step_to_undo),
    ("an_opened_run_is_undone", an_opened_run_is_undone),
    ("whatever_replaces_a_run_is_undone_with_its_cycles", a_replaced_run_returns),
    ("what_opened_files_and_cells_replaced_returns_too", what_files_and_cells_replaced_returns),
    ("the_palette_says_what_replaces_the_run_and_never_shrinks", the_palette_never_shrinks),
    ("the_palette_runs_the_typed_command", the_palette_runs_the_typed_command),
    ("the_palette_shows_keys_and_what_is_unavailable", the_palette_shows_keys),
    ("the_help_lists_every_key", the_help_lists_every_key),
    ("keys_step_through_the_settings", keys_step_through_the_settings),
    ("a_key_that_comes_before_another_shows_what_may_follow", a_first_key_shows_what_may_follow),
    ("keys_with_ctrl_work_while_a_control_has_the_focus", keys_with_ctrl_work),
    ("what_was_arranged_is_there_at_the_next_start", what_was_arranged_is_there_at_the_next_start),
    ("scale_memory_and_places_are_there_at_the_next_start", scale_memory_and_places_are_there),
    ("what_was_saved_last_and_where_is_there_at_the_next_start", what_was_saved_last_is_there),
    ("a_presentation_is_there_at_the_next_start_and_leads_back", a_presentation_is_there),
    ("the_students_view_is_there_at_the_next_start_and_leads_back", the_students_view_is_there),
    ("broken_settings_are_set_aside_and_reported", broken_settings_are_set_aside_and_reported),
    (
        "settings_that_cannot_be_saved_are_reported_once",
        settings_that_cannot_be_saved_are_reported_once,
    ),
    ("the_GPU_of_the_first_start_sets_experiments_up", the_gpu_of_the_first_start),
    ("a_presentation_is_larger_and_nothing_is_cut_off", a_presentation_is_larger),
    ("nothing_is_cut_off_at_any_scale", nothing_is_cut_off_at_any_scale),
    (
        "what_can_be_dropped_is_listed_while_it_is_held_over_the_window",
        what_can_be_dropped_is_listed,
    ),
];

/// A key with modifiers.
fn press(window: &mut Window, modifiers: Modifiers, key: Key) {
    window.harness.key_press_modifiers(modifiers, key);
    window.frames(2);
}

fn undo(window: &mut Window) {
    press(window, Modifiers::COMMAND, Key::Z);
}

fn redo(window: &mut Window) {
    press(window, Modifiers::COMMAND | Modifiers::SHIFT, Key::Z);
}

/// Opens the palette and types.
fn ask(window: &mut Window, query: &str) {
    press(window, Modifiers::COMMAND, Key::P);
    assert!(window.has(Role::TextInput, "Action"), "the palette is open");
    window.harness.event(Event::Text(query.to_owned()));
    window.frames(2);
}

fn is_open(window: &Window) -> bool {
    window.has(Role::TextInput, "Action")
}

fn a_drag_is_undone_at_once_and_made_again() {
    let mut window = Window::paused(small());
    let values = window.drag_slider("Overlap", &[0.0, 0.2, 0.5, 0.9, 0.6]);
    let last = *values.last().expect("there are values");
    assert!(last > 0.0 && values.iter().any(|&value| value > last), "{values:?}");
    window.set_slider("k", 8.0);
    undo(&mut window);
    assert_eq!((window.slider("k"), window.slider("Overlap")), (4.0, last));
    undo(&mut window);
    assert_eq!(window.slider("Overlap"), 0.0, "the drag is one step");
    assert_eq!(window.run_under_way(), small());
    // The reset at the start is a step, too; nothing is before it.
    for step in [undo, undo, redo, redo] {
        step(&mut window);
        assert_eq!(window.run_under_way().method.k, 4);
    }
    assert_eq!((window.slider("k"), window.slider("Overlap")), (4.0, last));
    press(&mut window, Modifiers::COMMAND, Key::Y);
    assert_eq!((window.slider("k"), window.slider("Overlap")), (8.0, last));
    redo(&mut window);
    assert_eq!(window.run_under_way().method.k, 8, "nothing comes after the last");
}

fn all_runs_are_unpinned_at_once() {
    let mut window = Window::paused(small());
    for k in [8.0, 16.0] {
        window.step(1);
        window.key(Key::P);
        window.set_slider("k", k);
    }
    window.until("pinned", |window| window.has(Role::TextInput, "Name of B"));
    ask(&mut window, "unpin all");
    press(&mut window, Modifiers::NONE, Key::Enter);
    assert!(!is_open(&window) && !window.has(Role::TextInput, "Name of A"));
    assert!(!window.has(Role::TextInput, "Name of B"));
}

fn changes_of_the_view_are_undone_too() {
    let mut window = Window::paused(small());
    window.step(3);
    window.choose("Field", "Update");
    window.until("shown", |window| window.says("|Δu|"));
    window.click(Role::CheckBox, "Borders");
    undo(&mut window);
    assert!(window.is_on("Borders"));
    undo(&mut window);
    window.until("as before", |window| !window.says("|Δu|"));
    assert_eq!(window.cycle(), 3, "the run stands where it was");
}

fn a_refused_setting_is_no_step_to_undo() {
    let mut window = Window::paused(small());
    window.set_slider("k", 8.0);
    window.type_into("k", "0");
    window.until("a message", |window| window.messages() == 1 && window.slider("k") == 8.0);
    undo(&mut window);
    assert_eq!(window.slider("k"), 4.0);
}

fn an_opened_run_is_undone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("other.toml");
    let mut other = small();
    other.method.k = 16.into();
    fs::write(&path, other.to_toml()).expect("it can be written");
    let mut window = Window::paused(small());
    window.drop_file(&path);
    window.until("opened", |window| window.slider("k") == 16.0);
    undo(&mut window);
    assert_eq!(window.run_under_way(), small());
}

fn a_replaced_run_returns() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("other.toml");
    let mut other = small();
    other.method.k = 16.into();
    fs::write(&path, other.to_toml()).expect("it can be written");
    let mut window = Window::paused(small());
    window.step(5);
    let preset = |window: &mut Window| {
        window.key(Key::E);
        window.key(Key::Num2);
        window.frames(2);
        assert_ne!(window.run_under_way().problem, small().problem);
    };
    let experiment = |window: &mut Window| {
        window.key(Key::V);
        window.key(Key::Num1);
        window.until("begun", |window| window.slider("k") == 64.0 && window.cycle() != 5);
    };
    let file = |window: &mut Window| {
        window.drop_file(&path);
        window.until("opened", |window| window.slider("k") == 16.0 && window.cycle() != 5);
    };
    let classic = |window: &mut Window| {
        window.key(Key::C);
        window.until("caught up", |window| window.cycle() == 20);
    };
    let reset = |window: &mut Window| window.reset();
    let ways: [&dyn Fn(&mut Window); 5] = [&preset, &experiment, &file, &classic, &reset];
    for replace in ways {
        replace(&mut window);
        assert_the_run_returns(&mut window);
    }
}

/// Undoes what replaced the small run after five cycles, and begins again.
#[track_caller]
fn assert_the_run_returns(window: &mut Window) {
    undo(window);
    window.until("as before", |window| window.cycle() == 5 && window.says("paused"));
    assert_eq!(window.run_under_way(), small());
    // It goes on from there, and its curve is whole.
    window.step(1);
    window.key(Key::ArrowLeft);
    window.until_text("5 of 6");
    window.key(Key::End);
    window.until("live", |window| window.cycle() == 6);
    window.reset();
    window.step(5);
}

fn what_files_and_cells_replaced_returns() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = |name: &str| folder.path().join(name);
    let mut window = Window::paused(small());
    window.step(5);
    // A right-hand side.
    let image = GrayImage::from_fn(40, 30, |x, y| Luma([(x * y % 251) as u8]));
    image.save(path("mine.png")).expect("it can be written");
    window.drop_file(&path("mine.png"));
    window.until_text("mine.png");
    assert_the_run_returns(&mut window);
    // A figure.
    let mut other = small();
    other.method.k = 16.into();
    let view = ViewSpec { cycle: 3, ..ViewSpec::default() };
    let drawing = Drawing::Figure("<svg></svg>".into());
    save_figure(&path("figure.svg"), &drawing, &other, Some(&view)).expect("it can be written");
    window.drop_file(&path("figure.svg"));
    window.until("opened", |window| window.slider("k") == 16.0 && window.cycle() == 3);
    assert_the_run_returns(&mut window);
    // A cell of the tuning map.
    tuning::open(&mut window);
    for (name, text) in [("k", "2"), ("Overlap", "0"), ("Tile", "12")] {
        tuning::list(&mut window, name, text);
    }
    window.click(Role::CheckBox, "time");
    window.button("▶  Start");
    window.until_text("1 of 1 cells · done");
    window.click(Role::Image, "Tuning map: Cycles");
    window.until_text("Heat map");
    assert_eq!(window.slider("k"), 2.0);
    assert_the_run_returns(&mut window);
}

fn the_palette_never_shrinks() {
    let mut window = Window::paused(small());
    ask(&mut window, "");
    let whole = window.front();
    assert!(whole.height() > 400.0, "{whole:?}");
    window.harness.event(Event::Text("pause".to_owned()));
    window.frames(2);
    assert!(
        window.has(Role::Button, "Run: Run / pause") && !window.has(Role::Button, "Edit: Undo")
    );
    assert_eq!(window.front(), whole);
    (0..5).for_each(|_| window.key(Key::Backspace));
    window.frames(2);
    assert_eq!(window.front(), whole);
    let rows = |window: &Window| {
        let painted = window.painted().into_iter();
        painted.filter(|it| it.text.contains(": ") && it.clip.contains(it.rect.center())).count()
    };
    assert!(rows(&window) > 12, "{}", rows(&window));
    // The last row is scrolled to.
    window.key(Key::ArrowUp);
    window.frames(40);
    let last = window.painted().into_iter().find(|it| it.text == "Help: Example experiments");
    assert!(last.is_some_and(|it| it.clip.contains(it.rect.center())), "{:?}", window.texts());
    window.key(Key::Escape);
    window.frames(2);
    ask(&mut window, "preset");
    assert!(window.says("replaces the run"), "{:?}", window.texts());
}

fn the_palette_runs_the_typed_command() {
    let mut window = Window::paused(small());
    ask(&mut window, "stalen");
    window.key(Key::Enter);
    window.until("shown", |window| !is_open(window) && window.says("Staleness"));
    ask(&mut window, "poisson");
    let rows = |window: &Window| {
        let buttons = window.harness.query_all_by_role(Role::Button);
        let names = buttons.filter_map(|node| node.accesskit_node().label());
        names.filter(|name| name.starts_with("Problem: ")).collect::<Vec<_>>()
    };
    let rows = rows(&window);
    assert!(rows.len() > 2, "{rows:?}");
    // Down twice and up once: the second row.
    for key in [Key::ArrowDown, Key::ArrowDown, Key::ArrowUp, Key::Enter] {
        window.key(key);
    }
    window.frames(2);
    let chosen = rows[1].trim_start_matches("Problem: ");
    assert!(window.says(chosen), "{chosen}: {:?}", window.texts());
    ask(&mut window, "no such thing");
    assert!(window.says("No matching command"));
    window.key(Key::Enter);
    assert!(is_open(&window));
    window.key(Key::Escape);
    window.frames(2);
    assert!(!is_open(&window));
    assert_eq!(window.cycle(), 0, "what was typed was no key");
}

fn the_palette_shows_keys() {
    let mut run = small();
    run.stop.tolerance = Some(0.5);
    let mut window = Window::with(run);
    window.until_text("✓ converged");
    ask(&mut window, "run");
    assert!(window.is_enabled(Role::Button, "Run: Reset"));
    assert!(!window.is_enabled(Role::Button, "Run: Step"), "the run is at its end");
    assert!(window.says("Space"), "{:?}", window.texts());
    window.button("Run: Reset");
    window.until("reset", |window| !is_open(window) && window.cycle() == 0);
}

fn the_help_lists_every_key() {
    let mut window = Window::paused(small());
    window.key(Key::Questionmark);
    window.frames(2);
    for text in ["Ctrl+P", "Ctrl+Shift+Z or Ctrl+Y", "Space", "Run one cycle, then pause."] {
        assert!(window.says(text), "{text}: {:?}", window.texts());
    }
    window.key(Key::B);
    assert!(window.is_on("Borders"), "a dialog keeps the keys");
    window.button("Close");
    assert!(!window.says("Run one cycle, then pause."));
    window.key(Key::F1);
    window.frames(2);
    window.key(Key::Escape);
    window.frames(2);
    assert!(!window.says("Run one cycle, then pause."));
}

fn keys_step_through_the_settings() {
    let mut window = Window::paused(small());
    for (modifiers, key, slider, value) in [
        (Modifiers::NONE, Key::K, "k", 8.0),
        (Modifiers::SHIFT, Key::K, "k", 4.0),
        (Modifiers::NONE, Key::O, "Overlap", 2.0),
        (Modifiers::NONE, Key::T, "Tile", 20.0),
        (Modifiers::SHIFT, Key::O, "Overlap", 0.0),
        (Modifiers::SHIFT, Key::T, "Tile", 16.0),
    ] {
        press(&mut window, modifiers, key);
        assert_eq!(window.slider(slider), value, "{key:?}");
    }
    assert_eq!(window.run_under_way(), small());
    window.key(Key::Num5);
    window.until("shown", |window| window.says("Solution"));
}

fn a_first_key_shows_what_may_follow() {
    let mut window = Window::paused(small());
    window.key(Key::M);
    assert!(window.says("Colour map: M then …"), "{:?}", window.texts());
    window.key(Key::Num2);
    window.frames(2);
    assert!(window.says("Viridis") && !window.says("M then"), "{:?}", window.texts());
    assert!(window.says("|r|"), "the second key alone would choose a field");
    // Any other key keeps its meaning.
    window.key(Key::M);
    window.key(Key::B);
    assert!(!window.is_on("Borders") && !window.says("M then"));
    window.key(Key::M);
    window.key(Key::Escape);
    assert!(!window.says("M then"));
    window.key(Key::X);
    window.click_on(window.rect(Role::Image, "Heat map of the residual").center());
    assert!(!window.says("X then"), "a click begins something else");
    window.key(Key::E);
    window.key(Key::Num2);
    window.frames(2);
    assert_ne!(window.run_under_way().problem, small().problem);
}

fn keys_with_ctrl_work() {
    let mut window = Window::paused(small());
    window.set_slider("k", 8.0);
    window.harness.get_by_role_and_label(Role::Slider, "Tile").focus();
    window.frames(2);
    window.key(Key::B);
    assert!(window.is_on("Borders"), "the slider keeps its keys");
    undo(&mut window);
    assert_eq!(window.slider("k"), 4.0);
}

/// The window with the settings of a file.
fn of(file: &Path) -> Window {
    Window::with_settings(USUAL, SettingsFile::at(file.to_owned()))
}

fn what_was_arranged_is_there_at_the_next_start() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("tilescope/settings.toml");
    let mut window = of(&file);
    window.frames(2);
    window.button("Start exploring");
    window.button("Light theme");
    window.button("Hide Convergence");
    window.choose("Colour map", "Cividis");
    // The file is written after a short delay.
    window.until("written", |_| file.exists());
    window.choose("Colour map", "Viridis");
    // The last changes are written when the window is closed.
    drop(window);
    let mut window = of(&file);
    window.until("there", |window| window.has_picture());
    assert!(!window.says("Five experiments to start with"), "the GPU was seen");
    // The theme of the window is that of the test.
    let text = fs::read_to_string(&file).expect("it is there");
    assert!(text.contains("dark = false"), "{text}");
    assert!(!window.has(Role::ComboBox, "Norm"));
    assert!(window.says("Viridis"), "{:?}", window.texts());
    assert_eq!(window.messages(), 0);
}

fn scale_memory_and_places_are_there() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("settings.toml");
    let mut window = Window::with_settings(vec2(1440.0, 900.0), SettingsFile::at(file.clone()));
    window.frames(2);
    window.button("Start exploring");
    window.type_into("Memory", "64");
    let curves = move_curves_to_the_left(&mut window);
    press(&mut window, Modifiers::COMMAND, Key::Plus);
    window.frames(2);
    drop(window);
    let text = fs::read_to_string(&file).expect("it is there");
    assert!(text.contains("window = [1440.0, 900.0]"), "{text}");
    let mut window = Window::with_settings(vec2(1440.0, 900.0), SettingsFile::at(file));
    window.frames(4);
    assert_eq!(window.harness.ctx.zoom_factor(), 1.1);
    let memory = window.harness.get_by_role_and_label(Role::SpinButton, "Memory");
    assert_eq!(memory.accesskit_node().numeric_value(), Some(64.0));
    press(&mut window, Modifiers::COMMAND, Key::Num0);
    window.frames(4);
    assert_eq!(window.rect(Role::ComboBox, "Norm"), curves);
}

fn what_was_saved_last_is_there() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (file, figures) = (folder.path().join("settings.toml"), folder.path().join("figures"));
    let mut window = of(&file);
    window.frames(2);
    window.button("Start exploring");
    window.until("there", |window| window.has_picture());
    let saved = figures.join("mine.svg");
    window.save_and_wait("Profile", &saved);
    window.until_text(&format!("Saved {}", saved.display()));
    drop(window);
    let mut window = of(&file);
    window.until("there", |window| window.has_picture());
    press(&mut window, Modifiers::COMMAND, Key::S);
    let kind = window.harness.get_by_role_and_label(Role::RadioButton, "Profile");
    assert_eq!(kind.accesskit_node().toggled(), Some(Toggled::True));
    let texts = window.texts();
    assert!(texts.iter().any(|text| text.ends_with(".svg")), "{texts:?}");
    let figures = figures.display().to_string();
    assert!(texts.contains(&figures), "{figures}: {texts:?}");
    // Files are opened from there, too.
    window.key(Key::Escape);
    window.frames(2);
    press(&mut window, Modifiers::COMMAND, Key::O);
    assert!(window.texts().contains(&figures) && window.has(Role::Button, "mine.svg"));
}

fn a_presentation_is_there() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("settings.toml");
    let mut window = of(&file);
    window.frames(2);
    window.button("Start exploring");
    window.button("Hide Profile");
    window.key(Key::F9);
    window.frames(4);
    // Panes shown and hidden in the presentation mode are not saved.
    window.button("View");
    window.frames(2);
    window.click(Role::CheckBox, "Convergence");
    drop(window);
    let mut window = of(&file);
    window.frames(4);
    assert_eq!(window.harness.ctx.zoom_factor(), 1.5);
    assert!(window.has(Role::Region, "Convergence") && !window.says("Performance"));
    window.key(Key::F9);
    window.frames(4);
    assert!(window.says("Performance"));
    assert!(window.has(Role::ComboBox, "Norm") && !window.says("Profile"));
}

fn the_students_view_is_there() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("settings.toml");
    let mut window = of(&file);
    window.frames(2);
    window.button("Start exploring");
    window.button("Hide Profile");
    window.key(Key::F8);
    window.frames(4);
    let is_for_students = |window: &Window| {
        let panes = ["Heat map", "Convergence"];
        assert!(panes.iter().all(|pane| window.has(Role::Region, pane)), "{:#?}", window.texts());
        for slider in ["k", "Overlap", "Tile"] {
            assert!(window.has(Role::Slider, slider), "{slider}");
        }
        window.says("More") && !window.says("Performance") && !window.says("Probes")
    };
    assert!(is_for_students(&window), "{:#?}", window.texts());
    drop(window);
    let mut window = of(&file);
    window.frames(4);
    assert!(is_for_students(&window), "{:#?}", window.texts());
    window.key(Key::F8);
    window.frames(4);
    assert!(window.says("Performance") && window.says("Probes"), "{:#?}", window.texts());
    assert!(!window.says("Profile"));
}

fn broken_settings_are_set_aside_and_reported() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("settings.toml");
    fs::write(&file, "window = \"wide\"\n").expect("it can be written");
    let mut window = of(&file);
    // The dialog finds its place within some frames.
    window.frames(4);
    window.button("Start exploring");
    window.until("a message", |window| window.messages() == 1);
    assert!(window.says("settings.toml cannot be read"), "{:?}", window.texts());
    let aside = fs::read_to_string(folder.path().join("settings.toml.aside"));
    assert_eq!(aside.expect("it is kept"), "window = \"wide\"\n");
    window.until("going", |window| window.cycle() > 0);
}

/// A file in place of the folder: nothing can be written there, even by root.
fn settings_that_cannot_be_saved_are_reported_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::write(folder.path().join("tilescope"), "").expect("it can be written");
    let mut window = of(&folder.path().join("tilescope/settings.toml"));
    window.frames(2);
    window.button("Start exploring");
    window.until_text("Settings cannot be saved");
    window.button("Dismiss");
    window.button("Light theme");
    window.frames(120);
    assert_eq!(window.messages(), 0, "{:?}", window.texts());
}

fn the_gpu_of_the_first_start() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut window = of(&folder.path().join("settings.toml"));
    window.frames(3);
    let experiments = [
        ("Edges light up at k = 64", 64, 0, "Residual"),
        ("Overlap 4 fades them out", 16, 4, "Residual"),
        ("o = 2 (k − 1) is exact Jacobi", 8, 14, "Staleness"),
        ("k too large", 256, 0, "Residual"),
        ("Overlap that no longer pays off", 16, 24, "solver time"),
    ];
    for (title, k, overlap, shown) in experiments {
        if !window.has(Role::Button, title) {
            window.button("Help");
            window.button("Example experiments");
            window.frames(3);
        }
        window.button(title);
        window.until(title, |window| window.cycle() > 0 && window.has_picture());
        assert_eq!(window.slider("k") as usize, k, "{title}");
        assert_eq!(window.slider("Overlap") as usize, overlap, "{title}");
        assert!(window.says(shown), "{title}: {:?}", window.texts());
        assert_eq!(window.messages(), 1, "it says what to see");
        assert!(!window.has(Role::Button, title), "the card is closed");
        window.button("Dismiss");
    }
    undo(&mut window);
    assert_eq!(window.slider("k"), 256.0, "an experiment is undone like any other change");
}

/// Whether no text is cut off, except where a pane does so on purpose.
#[track_caller]
fn assert_nothing_is_cut_off(window: &Window) {
    for painted in window.painted() {
        let seen = painted.clip.expand(1.0);
        let is_whole = painted.rect.left() >= seen.left() && painted.rect.right() <= seen.right();
        assert!(is_whole, "{painted:?}");
    }
}

fn a_presentation_is_larger() {
    // The side of the square map, in pixels of the screen.
    let side = |window: &Window| {
        let map = window.rect(Role::Image, "Heat map of the residual");
        map.width().min(map.height()) * window.harness.ctx.zoom_factor()
    };
    for (size, factor) in [
        ([960.0, 600.0], 1.1),
        ([1280.0, 800.0], 1.5),
        ([1920.0, 1080.0], 1.9),
        ([3840.0, 2160.0], 1.9),
    ] {
        let mut window = Window::sized(size.into(), Theme::Dark, Some(small()));
        window.until("there", |window| window.has_picture());
        let before = side(&window);
        window.key(Key::F9);
        window.frames(4);
        assert!((window.harness.ctx.zoom_factor() - factor).abs() < 1e-3);
        assert!(side(&window) > before, "{size:?}: {} after {before}", side(&window));
        assert_nothing_is_cut_off(&window);
        assert!(!window.says("Performance"), "there is room for the map");
        // The sliders of the presentation can be used.
        window.set_slider("Overlap", 4.0);
        assert_eq!(window.run_under_way().method.overlap, [4]);
        window.key(Key::F9);
        window.frames(4);
        assert_eq!(window.harness.ctx.zoom_factor(), 1.0);
        assert!(window.says("Performance"));
    }
}

fn nothing_is_cut_off_at_any_scale() {
    for (size, most) in [([1280.0, 800.0], 1.3), ([1920.0, 1200.0], 2.0), ([2880.0, 1800.0], 3.0)] {
        let mut window = Window::sized(size.into(), Theme::Light, Some(small()));
        window.reset();
        for _ in 0..8 {
            press(&mut window, Modifiers::COMMAND, Key::Plus);
            assert_nothing_is_cut_off(&window);
        }
        assert!((window.harness.ctx.zoom_factor() - most).abs() < 1e-3);
        for control in ["Run", "Save …", "View", "Help", "Live", "Pin"] {
            let screen = window.harness.ctx.content_rect();
            assert!(screen.contains_rect(window.rect(Role::Button, control)), "{control}");
        }
        press(&mut window, Modifiers::COMMAND, Key::Num0);
        assert_eq!(window.harness.ctx.zoom_factor(), 1.0);
        for (key, factor) in [(Key::Plus, 1.1), (Key::Equals, 1.25), (Key::Minus, 1.1)] {
            press(&mut window, Modifiers::COMMAND, key);
            assert_eq!(window.harness.ctx.zoom_factor(), factor);
        }
    }
}

fn what_can_be_dropped_is_listed() {
    let mut window = Window::paused(small());
    let held = HoveredFile { path: Some("run.toml".into()), mime: String::new() };
    window.harness.input_mut().hovered_files.push(held);
    window.frames(2);
    assert!(window.says("Drop to open"), "{:?}", window.texts());
    window.harness.input_mut().hovered_files.clear();
    window.frames(2);
    assert!(!window.says("Drop to open"));
}
