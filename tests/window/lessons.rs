//! Lessons: a reader goes through one, answers, reaches a goal, and gets the own run back.

use crate::driver::{USUAL, Window};
use eframe::egui::{Key, Modifiers, Theme, accesskit::Role, vec2};
use std::fs;
use tilescope::app::SettingsFile;
use tilescope::lesson::{Lesson, TEMPLATE, lessons};
use tilescope::run::RunSpec;

pub const TESTS: &[(&str, fn())] = &[
    ("a_lesson_is_read_to_its_end_by_buttons", a_lesson_is_read_to_its_end_by_buttons),
    ("leaving_a_lesson_gives_run_panes_and_colours_back", leaving_gives_everything_back),
    ("a_goal_is_reached_by_the_slider_or_shown", a_goal_is_reached_by_the_slider_or_shown),
    ("every_step_fits_beside_the_map", every_step_fits_beside_the_map),
    ("every_step_fits_in_a_presentation", every_step_fits_in_a_presentation),
    ("every_value_of_a_text_becomes_known", every_value_of_a_text_becomes_known),
    ("the_list_fits_into_any_window", the_list_fits_into_any_window),
    ("a_presentation_is_read_from_the_last_row", a_presentation_is_read_from_the_last_row),
    ("a_dropped_lesson_begins_and_names_its_errors", a_dropped_lesson_begins),
    ("a_lesson_is_among_the_recent_files", a_lesson_is_among_the_recent_files),
    ("lessons_that_were_read_are_remembered", lessons_that_were_read_are_remembered),
    ("before_and_after_are_a_wipe", before_and_after_are_a_wipe),
];

/// Opens the list of lessons, and begins one.
pub fn begin(window: &mut Window, title: &str) {
    window.key(Key::F4);
    window.frames(2);
    window.button(title);
    window.frames(2);
}

/// The title of a lesson.
fn title(name: &str) -> &'static str {
    let lesson = lessons().iter().find(|lesson| lesson.name == name).expect("a lesson");
    &lesson.title
}

fn a_lesson_is_read_to_its_end_by_buttons() {
    let mut window = Window::new();
    begin(&mut window, "Why overlap works");
    window.until_text("The bright lines");
    window.until("at its cycle", |window| window.cycle() == 40);
    window.until_text("69 %");
    window.button("Next");
    assert!(window.says("Four shared points"));
    assert_eq!(window.slider("Overlap"), 0.0);
    window.button("They get brighter");
    window.until_text("Not this time.");
    window.until_text("27 %");
    assert_eq!(window.slider("Overlap"), 4.0);
    window.until("at the same sweeps", |window| window.cycle() == 40);
    window.button("Back");
    assert!(window.says("The bright lines"));
    window.key(Key::PageDown);
    // The answer stays.
    assert!(window.says("Not this time.") && window.slider("Overlap") == 4.0);
    window.key(Key::PageDown);
    window.key(Key::PageDown);
    assert!(window.says("4 of 4"));
    window.button("Finish");
    assert!(!window.has(Role::Button, "Leave the lesson"));
}

fn leaving_gives_everything_back() {
    let mut run = RunSpec::default();
    (run.method.k, run.problem.shape) = (8.into(), vec![128, 128]);
    let mut window = Window::paused(run);
    window.step(3);
    window.button("Hide Convergence");
    window.choose("Colour map", "Cividis");
    window.key(Key::P);
    begin(&mut window, title("frozen-halo"));
    window.until_text("One sweep per cycle");
    window.key(Key::PageDown);
    window.key(Key::F9);
    window.frames(4);
    window.key(Key::F9);
    window.frames(4);
    window.button("Leave the lesson");
    window.until("back", |window| window.cycle() == 3 && window.has_picture());
    assert_eq!(window.slider("k"), 8.0);
    assert!(!window.has(Role::Region, "Convergence"));
    assert!(window.has(Role::ComboBox, "Colour map") && window.says("Cividis"));
}

fn a_goal_is_reached_by_the_slider_or_shown() {
    let mut window = Window::new();
    begin(&mut window, title("frozen-halo"));
    window.key(Key::PageDown);
    window.key(Key::PageDown);
    window.until_text("Goal: share of ‖r‖² near tile borders above 90 %");
    assert!(!window.says("Reached."));
    // Before the run has come to the place of the step, too.
    window.set_slider("k", 64.0);
    window.until_text("Reached.");
    // It stays so.
    window.set_slider("k", 2.0);
    window.frames(4);
    assert!(window.says("Reached."));
    window.button("Leave the lesson");
    begin(&mut window, title("memory-is-the-price"));
    for _ in 0..3 {
        window.key(Key::PageDown);
    }
    window.button("Show me");
    window.until_text("Reached.");
    assert_eq!(window.slider("k"), 64.0);
}

/// Goes through all lessons, with every answer, and looks at each step.
fn walk(window: &mut Window, look: impl Fn(&mut Window, &Lesson, usize)) {
    for lesson in lessons() {
        begin(window, &lesson.title);
        for (index, step) in lesson.steps.iter().enumerate() {
            if let Some(prediction) = &step.prediction {
                window.button(&prediction.choices[0].text(None));
            }
            window.frames(2);
            window.until_text(&format!("{} of {}", index + 1, lesson.steps.len()));
            look(window, lesson, index);
            window.key(Key::PageDown);
        }
        window.frames(2);
    }
}

fn every_step_fits_beside_the_map() {
    let mut window = Window::new();
    walk(&mut window, |window, lesson, step| {
        let end = window.rect(Role::Button, "Back").top();
        // The last controls: of tiles, of a method that streams, and of several devices.
        let last = [
            (Role::Slider, "Tile"),
            (Role::CheckBox, "Auto height"),
            (Role::SpinButton, "Devices"),
            (Role::Slider, "Exchange every"),
        ];
        let there = last.into_iter().filter(|(role, name)| window.has(*role, name));
        let last = there.map(|(role, name)| window.rect(role, name).bottom()).reduce(f32::max);
        let last = last.expect("a control");
        assert!(last <= end, "{}, step {}: {last} > {end}", lesson.name, step + 1);
    });
}

fn every_step_fits_in_a_presentation() {
    let mut window = Window::new();
    window.key(Key::F9);
    window.frames(4);
    walk(&mut window, |window, lesson, step| {
        let end = window.rect(Role::Button, "Back").top();
        let panel = window.rect(Role::Button, "Leave the lesson").right();
        let texts = window.painted();
        let inside = texts.iter().filter(|text| text.rect.right() <= panel + 8.0);
        let below = inside.filter(|text| text.rect.top() < end && text.rect.bottom() > end + 2.0);
        let below: Vec<_> = below.map(|text| text.text.as_str()).collect();
        assert!(below.is_empty(), "{}, step {}: {below:?}", lesson.name, step + 1);
    });
}

fn every_value_of_a_text_becomes_known() {
    let mut window = Window::new();
    walk(&mut window, |window, lesson, step| {
        let what = format!("the values of {}, step {}", lesson.name, step + 1);
        window.until(&what, |window| {
            let head = window.rect(Role::Button, "Leave the lesson");
            let texts = window.painted();
            let below = texts.iter().filter(|text| text.rect.top() > head.bottom());
            let mut panel = below.filter(|text| text.rect.right() <= head.right() + 8.0);
            // For what is unknown there is a dash, which no lesson has in its text.
            panel.all(|text| !text.text.contains('–'))
        });
    });
}

fn the_list_fits_into_any_window() {
    for (size, presenting) in [(vec2(960.0, 600.0), false), (USUAL, true)] {
        let mut window = Window::sized(size, Theme::Dark, None);
        if presenting {
            window.key(Key::F9);
        }
        window.key(Key::F4);
        window.frames(6);
        let (close, seen) = (window.rect(Role::Button, "Close"), window.harness.ctx.content_rect());
        assert!(seen.contains_rect(close), "{size}: {close} in {seen}");
    }
}

/// From seven times the height of a picture, capitals of a 54th of it are read (a rule of those who build lecture halls
/// has a fiftieth from eight times). Inter's are 0.727 of the font size, and a line of it 1.21.
fn a_presentation_is_read_from_the_last_row() {
    for size in [USUAL, vec2(1920.0, 1080.0)] {
        let mut window = Window::sized(size, Theme::Dark, None);
        window.key(Key::F9);
        window.frames(4);
        begin(&mut window, title("frozen-halo"));
        window.key(Key::PageDown);
        window.frames(4);
        let choice =
            lessons()[2].steps[1].prediction.as_ref().expect("a question").choices[2].text(None);
        let zoom = window.harness.ctx.zoom_factor();
        let lines = window.painted().into_iter().filter(|text| text.text == choice);
        let line = lines.map(|text| text.rect.height()).reduce(f32::min).expect("the choice");
        let capitals = 0.727 / 1.21 * line * zoom;
        assert!(capitals >= size.y / 54.0, "{size}: {capitals} pixels");
    }
}

fn a_dropped_lesson_begins() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("mine.md");
    let wrong = TEMPLATE.replacen("overlap = 0", "overlapp = 0", 1);
    fs::write(&path, &wrong).expect("it is written");
    let line = 1 + wrong.lines().position(|line| line.starts_with("overlapp")).expect("a line");
    let mut window = Window::new();
    window.drop_file(&path);
    window.until_text(&format!("line {line}: there is no key overlapp"));
    window.until_text("The bright lines");
    window.button("Leave the lesson");
    fs::write(&path, "No step at all.\n").expect("it is written");
    window.drop_file(&path);
    window.until_text("it has no step");
    assert!(!window.has(Role::Button, "Leave the lesson"));
}

fn a_lesson_is_among_the_recent_files() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("mine.md");
    fs::write(&path, TEMPLATE).expect("it is written");
    let is_there = |window: &mut Window| window.has(Role::Button, "Leave the lesson");
    let mut window = Window::new();
    window.drop_file(&path);
    window.until("begun", is_there);
    window.button("Leave the lesson");
    assert!(!is_there(&mut window));
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::O);
    window.frames(2);
    window.button("mine.md");
    window.until("begun again", is_there);
}

fn lessons_that_were_read_are_remembered() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("settings.toml");
    let mut window = Window::with_settings(USUAL, SettingsFile::at(file.clone()));
    window.frames(2);
    window.button("Lessons");
    window.frames(2);
    window.button("Why overlap works");
    for _ in 0..3 {
        window.key(Key::PageDown);
    }
    window.button("Finish");
    begin(&mut window, title("exact-again"));
    window.key(Key::PageDown);
    // The window is closed within the lesson.
    drop(window);
    let text = fs::read_to_string(&file).expect("it is there");
    assert!(text.contains("lessons-done = [\"overlap\"]"), "{text}");
    let mut window = Window::with_settings(USUAL, SettingsFile::at(file));
    window.frames(2);
    assert!(window.has(Role::Region, "Convergence"));
    window.key(Key::F4);
    window.frames(2);
    assert!(window.says("done") && window.says("resume at step 2"));
    window.button(title("exact-again"));
    window.until_text("2 of 4");
}

fn before_and_after_are_a_wipe() {
    let mut window = Window::new();
    begin(&mut window, "Why overlap works");
    window.key(Key::PageDown);
    window.key(Key::PageDown);
    window.until_captioned("A", 40);
    window.key(Key::PageDown);
    window.until("alone", |window| window.captions("A").is_empty());
}
