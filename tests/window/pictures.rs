//! Pictures of the window.

use crate::controls::small;
use crate::drag;
use crate::driver::{Painted, USUAL, Window};
use crate::lessons;
use crate::panes::{pyramid, view};
use eframe::egui::{
    Event, HoveredFile, Key, Modifiers, Rangef, Rect, Theme, Vec2, accesskit::Role, vec2,
};
use egui_kittest::{SnapshotOptions, try_image_snapshot_options, wgpu::WgpuTestRenderer};
use std::panic;
use std::sync::{Mutex, PoisonError};
use tilescope::picture::{Drawing, FigureKind, FigureSpec, PlacedFigure, ViewSpec, save_figure};
use tilescope::run::{Preset, RunSpec};

pub const TESTS: &[(&str, fn())] = &[
    ("default_dark", default_dark),
    ("default_light", default_light),
    ("overlap_4", overlap_4),
    ("staleness", staleness),
    ("error", error),
    ("space_time", space_time),
    ("save_dialog", save_dialog),
    ("save_dialog_light", save_dialog_light),
    ("save_dialog_panes", save_dialog_panes),
    ("open_dialog", open_dialog),
    ("broken_file", broken_file),
    ("diverged", diverged),
    ("full_hd", full_hd),
    ("edges", edges),
    ("edges_light", edges_light),
    ("oblique_cut", oblique_cut),
    ("oblique_cut_light", oblique_cut_light),
    ("inside_a_cycle", inside_a_cycle),
    ("inside_a_line", inside_a_line),
    ("diverged_light", diverged_light),
    ("lesson_dark", lesson_dark),
    ("lesson_light", lesson_light),
    ("lessons", the_list_of_lessons),
    ("welcome_dark", welcome_dark),
    ("welcome_light", welcome_light),
    ("presentation_dark", presentation_dark),
    ("presentation_light", presentation_light),
    ("drop_hint", drop_hint),
    ("scale_2", scale_2),
    ("first_key", first_key),
    ("inside_all_tiles", inside_all_tiles),
    ("planes", planes),
    ("palette", palette),
    ("keys", keys),
    ("probes", probes),
    ("probes_light", probes_light),
    ("tuning_map_dark", tuning_map_dark),
    ("tuning_map_light", tuning_map_light),
    ("tuning_predicted_light", tuning_predicted_light),
    ("tuning_papers", tuning_papers),
    ("tuning_tiles", tuning_tiles),
    ("smallest", smallest),
    ("time_travel", time_travel),
    ("time_travel_line", time_travel_line),
    ("pinned_runs", pinned_runs),
    ("pinned_runs_light", pinned_runs_light),
    ("wipe_dark", wipe_dark),
    ("refused_dark", refused_dark),
    ("refused_light", refused_light),
    ("side_by_side", side_by_side),
    ("difference", difference),
    ("side_by_side_line", side_by_side_line),
    ("held_dark", held_dark),
    ("held_light", held_light),
    ("student_light", student_light),
];

/// The width of the panel of a lesson, in points.
const LESSON_PANEL: f32 = 316.0;

/// Held while a test renders, or its renderer ends: software renderers are less reliable in parallel.
pub static RENDERER: Mutex<()> = Mutex::new(());

/// Whether pictures can be rendered here.
pub fn is_renderer_there() -> bool {
    // It panics without an adapter, which is an answer and needs no message.
    let original = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let made = panic::catch_unwind(|| drop(WgpuTestRenderer::new()));
    panic::set_hook(original);
    made.is_ok()
}

/// Renderers differ at the edges of letters and lines, by at most this many pixels. A moved control
/// differs by thousands.
const FAILED_PIXELS: usize = 400;

/// Compares the whole window, for what its layout is about.
fn compare(window: &mut Window, name: &str) {
    window.settle();
    let whole = window.harness.ctx.content_rect();
    compare_as_it_is(window, name, whole);
}

/// Compares panes, named by their titles, and what lies between them.
fn compare_panes(window: &mut Window, name: &str, titles: &[&str]) {
    window.settle();
    let rects = titles.iter().map(|title| window.rect(Role::Region, title));
    let part = rects.reduce(Rect::union).expect("a pane");
    compare_as_it_is(window, name, part);
}

/// Compares the dialog, menu or hint in front of everything else.
fn compare_front(window: &mut Window, name: &str) {
    window.settle();
    let part = window.front();
    compare_as_it_is(window, name, part);
}

/// Compares the timeline, from the slider that it is moved by to the end of the window.
fn compare_timeline(window: &mut Window, name: &str) {
    window.settle();
    let mut part = window.harness.ctx.content_rect();
    part.min.y = window.rect(Role::Slider, "Cycle shown").top() - 60.0;
    compare_as_it_is(window, name, part);
}

/// Compares a part of the window, in points, without waiting until nothing changes any more.
fn compare_as_it_is(window: &mut Window, name: &str, part: Rect) {
    mask(window);
    let whole = {
        let _alone = RENDERER.lock().unwrap_or_else(PoisonError::into_inner);
        window.harness.render().unwrap_or_else(|error| panic!("{error}"))
    };
    let scale = window.harness.ctx.pixels_per_point();
    let pixels = (part.intersect(window.harness.ctx.content_rect()) * scale).round();
    let (min, size) = (pixels.min, pixels.size());
    let part =
        image::imageops::crop_imm(&whole, min.x as u32, min.y as u32, size.x as u32, size.y as u32);
    let options = SnapshotOptions::new().max_failed_pixels(FAILED_PIXELS);
    if let Err(error) = try_image_snapshot_options(&part.to_image(), name, &options) {
        panic!("{error}");
    }
}

/// Height of the rows of the table below its heading, in points.
const TABLE: f32 = 60.0;

/// Width of the names of pinned runs, in points.
const PINNED_NAMES: f32 = 74.0;

/// Covers what differs from run to run: solver times, and the folder of the tests.
fn mask(window: &mut Window) {
    let painted = window.painted();
    let named = |name: &str| painted.iter().find(|painted| painted.text == name);
    if let Some(Painted { rect: heading, .. }) = named("solver time") {
        let below = painted.iter().map(|painted| painted.rect).filter(|rect| {
            let below = rect.top() - heading.bottom();
            (0.0..TABLE).contains(&below) && rect.x_range().intersects(heading.x_range())
        });
        let times = below.fold(Rect::NOTHING, |all, rect| all.union(rect));
        if times.is_positive() {
            let column = Rect::from_x_y_ranges(heading.x_range(), times.y_range());
            window.harness.mask(column.expand(3.0));
        }
    }
    // Solver times above the plot, whose widths depend on the times.
    let is_time = |text: &str| {
        let parts = text.split_once(' ');
        parts.is_some_and(|(number, unit)| {
            number.starts_with(|first: char| first.is_ascii_digit())
                && ["µs", "ms", "s"].contains(&unit)
        })
    };
    if let Some(Painted { rect: title, .. }) =
        painted.iter().find(|painted| painted.text.ends_with("; above, solver time"))
    {
        let times = painted
            .iter()
            .filter(|painted| is_time(&painted.text) && painted.rect.bottom() < title.top() - 40.0);
        let top = times.map(|time| time.rect.top()).fold(f32::INFINITY, f32::min);
        if top.is_finite() {
            let row = Rangef::new(top - 1.0, top + title.height() + 6.0);
            let pane = window.rect(Role::Region, "Convergence");
            let plot = Rangef::new(pane.left() + 50.0, pane.right());
            window.harness.mask(Rect::from_x_y_ranges(plot, row));
        }
    }
    // Its name in a narrow pane, which a check box has, too; its place depends on the times.
    for time in painted.iter().filter(|painted| painted.text == "time") {
        let middle = time.rect.center().y;
        let row = painted.iter().filter(|other| other.rect.y_range().contains(middle));
        let sweeps = row.clone().find(|other| other.text == "sweeps").map(|it| it.rect.right());
        let after = row.map(|other| other.rect.left()).filter(|left| *left > time.rect.right());
        let next = after.fold(time.clip.right(), f32::min);
        if let Some(sweeps) = sweeps {
            let column = Rangef::new(sweeps + 2.0, next - 2.0);
            let below = Rangef::new(time.rect.top() - 2.0, time.clip.bottom());
            window.harness.mask(Rect::from_x_y_ranges(column, below));
        }
    }
    // All columns of pinned runs except their names: their widths depend on the times.
    if let Some(Painted { rect, clip, .. }) = named("speedup") {
        let columns = Rangef::new(clip.left() + PINNED_NAMES, clip.right());
        let rows = Rangef::new(rect.top() - 4.0, clip.bottom());
        window.harness.mask(Rect::from_x_y_ranges(columns, rows));
    }
    for name in ["Time per cycle", "Updates"] {
        if let Some(Painted { rect, .. }) = named(name) {
            let value = Rangef::new(rect.left() + 104.0, rect.left() + 264.0);
            window.harness.mask(Rect::from_x_y_ranges(value, rect.y_range().expand(4.0)));
        }
    }
    if let Some(Painted { rect, .. }) = named("Memory") {
        let used = Rangef::new(rect.left() + 160.0, rect.left() + 262.0);
        window.harness.mask(Rect::from_x_y_ranges(used, rect.y_range().expand(4.0)));
    }
    if let Some(Painted { rect: name, .. }) = named("Folder") {
        let folder = Rangef::new(name.left() + 90.0, name.left() + 440.0);
        window.harness.mask(Rect::from_x_y_ranges(folder, name.y_range().expand(4.0)));
    }
}

/// The window with a run after some cycles, without classic Jacobi, which would continue in the
/// background.
fn after(cycles: u64, size: Vec2, theme: Theme, run: RunSpec) -> Window {
    let mut window = Window::sized(size, theme, Some(run));
    window.reset();
    window.click(Role::CheckBox, "Classic");
    window.step(cycles);
    window.settle();
    window
}

fn default_dark() {
    compare(&mut after(3, USUAL, Theme::Dark, RunSpec::default()), "default_dark");
}

fn default_light() {
    compare(&mut after(3, USUAL, Theme::Light, RunSpec::default()), "default_light");
}

fn overlap_4() {
    let mut run = RunSpec::default();
    run.method.overlap = vec![4];
    compare_panes(&mut after(3, USUAL, Theme::Dark, run), "overlap_4", &["Heat map"]);
}

fn staleness() {
    let mut window = after(3, USUAL, Theme::Dark, RunSpec::default());
    window.choose("Field", "Staleness");
    window.until("compared", |window| window.has_picture());
    compare_panes(&mut window, "staleness", &["Heat map"]);
}

fn error() {
    let mut window = after(3, USUAL, Theme::Light, RunSpec::default());
    window.choose("Field", "Error");
    window.until("exact", |window| !window.says("computing the exact") && window.has_picture());
    compare_panes(&mut window, "error", &["Heat map"]);
}

fn space_time() {
    let run = Preset::named("paper-1d").expect("a preset").run();
    compare_panes(&mut after(120, USUAL, Theme::Dark, run), "space_time", &["Heat map"]);
}

fn saving(theme: Theme) -> Window {
    let mut window = after(3, USUAL, theme, RunSpec::default());
    window.button("Save …");
    window.until("drawn", |window| !window.says("Drawing …"));
    window
}

fn save_dialog() {
    compare_front(&mut saving(Theme::Dark), "save_dialog");
}

fn save_dialog_light() {
    compare_front(&mut saving(Theme::Light), "save_dialog_light");
}

/// A figure of the layout was opened, and the save dialog is open.
fn save_dialog_panes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("panes.svg");
    let figure = FigureSpec { size: [1280, 720], borders: true, ..FigureSpec::default() };
    let kind = FigureKind::ARRANGEMENT;
    let place = |kind, area| PlacedFigure { kind, area };
    let places = vec![
        place(FigureKind::HEAT_MAP, [0.0, 0.0, 0.6, 1.0]),
        place(FigureKind::MEAN_TILE, [0.6, 0.0, 0.4, 0.5]),
        place(FigureKind::PROFILE, [0.6, 0.5, 0.4, 0.5]),
    ];
    let view = ViewSpec { cycle: 3, kind, figure, places, ..ViewSpec::default() };
    let drawing = Drawing::Figure("<svg></svg>".into());
    save_figure(&path, &drawing, &RunSpec::default(), Some(&view)).expect("it can be written");
    let mut window = after(1, USUAL, Theme::Light, RunSpec::default());
    window.drop_file(&path);
    window.until_text("cycle 3, live");
    window.button("Save …");
    window.until("drawn", |window| !window.says("Drawing …"));
    compare_front(&mut window, "save_dialog_panes");
}

fn open_dialog() {
    let mut window = after(3, USUAL, Theme::Light, RunSpec::default());
    window.button("Open …");
    compare_front(&mut window, "open_dialog");
}

fn broken_file() {
    let mut window = after(3, USUAL, Theme::Dark, RunSpec::default());
    window.drop_file("no/such/run.toml".as_ref());
    window.until_text("cannot read");
    compare_front(&mut window, "broken_file");
}

/// A run that diverged.
fn stopped(theme: Theme) -> Window {
    let mut run = Preset::named("convection-diffusion").expect("a preset").run();
    run.problem.shape = vec![64, 64];
    run.problem.velocity = Some([190.0, 190.0, 0.0]);
    let mut window = Window::sized(USUAL, theme, Some(run));
    window.click(Role::CheckBox, "Classic");
    window.until_text("⚠ diverged");
    window
}

fn diverged() {
    compare_panes(&mut stopped(Theme::Dark), "diverged", &["Heat map"]);
}

fn diverged_light() {
    compare_panes(&mut stopped(Theme::Light), "diverged_light", &["Convergence"]);
}

/// The first start, with the welcome dialog over a paused run.
fn welcome(theme: Theme) -> Window {
    let mut window = after(3, USUAL, theme, RunSpec::default());
    window.key(Key::F2);
    window
}

fn welcome_dark() {
    compare_front(&mut welcome(Theme::Dark), "welcome_dark");
}

fn welcome_light() {
    compare_front(&mut welcome(Theme::Light), "welcome_light");
}

/// An answered step of a lesson.
fn lesson(theme: Theme) -> Window {
    let mut window = Window::sized(USUAL, theme, None);
    lessons::begin(&mut window, "Why overlap works");
    window.key(Key::PageDown);
    window.until("at its cycle", |window| window.cycle() == 40);
    window.button("They fade");
    window.until_text("27 %");
    window
}

/// Compares the panel of a lesson. The range of the map beside it depends on the cycles that were seen on the way.
fn compare_lesson(window: &mut Window, name: &str) {
    window.settle();
    let mut part = window.harness.ctx.content_rect();
    part.max.x = part.min.x + LESSON_PANEL;
    compare_as_it_is(window, name, part);
}

fn lesson_dark() {
    compare_lesson(&mut lesson(Theme::Dark), "lesson_dark");
}

fn lesson_light() {
    compare_lesson(&mut lesson(Theme::Light), "lesson_light");
}

fn the_list_of_lessons() {
    // The map behind it would show through at its edges.
    let mut window = Window::paused(RunSpec::default());
    window.key(Key::F4);
    compare_front(&mut window, "lessons");
}

fn presentation(size: Vec2, theme: Theme) -> Window {
    let mut run = RunSpec::default();
    run.method.overlap = vec![4];
    let mut window = after(12, size, theme, run);
    window.key(Key::F9);
    window.frames(4);
    window
}

fn presentation_dark() {
    compare(&mut presentation(vec2(1920.0, 1080.0), Theme::Dark), "presentation_dark");
}

fn presentation_light() {
    compare(&mut presentation(USUAL, Theme::Light), "presentation_light");
}

fn drop_hint() {
    let mut window = after(3, USUAL, Theme::Light, RunSpec::default());
    let held = HoveredFile { path: Some("run.toml".into()), mime: String::new() };
    window.harness.input_mut().hovered_files.push(held);
    // While a file is held over it, the window is drawn continuously.
    window.frames(2);
    let part = window.rect(Role::Region, "Heat map");
    compare_as_it_is(&mut window, "drop_hint", part);
}

/// Zoom 2 on a screen with just enough room.
fn scale_2() {
    let mut window = after(3, vec2(1920.0, 1200.0), Theme::Dark, RunSpec::default());
    for _ in 0..5 {
        window.harness.key_press_modifiers(Modifiers::COMMAND, Key::Plus);
        window.frames(2);
    }
    window.settle();
    // The half where the toolbar and the rows of the panels have the least room.
    let mut part = window.harness.ctx.content_rect();
    part.max.y = part.center().y;
    compare_as_it_is(&mut window, "scale_2", part);
}

fn first_key() {
    let mut window = after(3, USUAL, Theme::Light, RunSpec::default());
    window.key(Key::M);
    compare_front(&mut window, "first_key");
}

fn tuning_map_dark() {
    compare(&mut crate::tuning::measured(USUAL, Theme::Dark), "tuning_map_dark");
}

fn tuning_map_light() {
    compare(&mut crate::tuning::measured(USUAL, Theme::Light), "tuning_map_light");
}

fn tuning_predicted_light() {
    compare(&mut crate::tuning::predicted(Theme::Light), "tuning_predicted_light");
}

fn tuning_papers() {
    let mut window = crate::tuning::tuning(USUAL, Theme::Light);
    window.settle();
    compare(&mut window, "tuning_papers");
}

fn tuning_tiles() {
    compare(&mut crate::tuning::tiles(vec2(960.0, 600.0)), "tuning_tiles");
}

fn full_hd() {
    // Before the first cycle: this is about the layout, and a map of one colour is a small file.
    compare(&mut after(0, vec2(1920.0, 1080.0), Theme::Light, RunSpec::default()), "full_hd");
}

/// With the panes about edges.
fn with_edges(theme: Theme) -> Window {
    let mut run = RunSpec::default();
    run.method.overlap = vec![4];
    let mut window = after(6, USUAL, theme, run);
    for pane in ["Mean tile", "By distance"] {
        view(&mut window, Role::CheckBox, pane);
        window.frames(3);
    }
    window.until_text("points from the nearest tile border");
    window
}

fn edges() {
    let mut window = with_edges(Theme::Dark);
    window.button("Column");
    compare_panes(&mut window, "edges", &["Mean tile", "By distance"]);
}

fn edges_light() {
    let mut window = with_edges(Theme::Light);
    view(&mut window, Role::CheckBox, "Edge share");
    window.click(Role::CheckBox, "Log");
    compare_panes(&mut window, "edges_light", &["Edge share"]);
}

fn oblique_cut() {
    let mut window = after(2, USUAL, Theme::Dark, RunSpec::default());
    window.key(Key::L);
    window.key(Key::Num3);
    window.frames(2);
    compare_panes(&mut window, "oblique_cut", &["Heat map", "Profile"]);
}

/// Two runs side by side.
fn oblique_cut_light() {
    let mut window = compared("side by side", Theme::Light);
    window.key(Key::L);
    window.key(Key::Num3);
    window.until("shown", |window| window.has(Role::SpinButton, "Cut to i"));
    for (name, value) in [("Cut from i", "70"), ("Cut from j", "40"), ("Cut to i", "190")] {
        window.type_into(name, value);
    }
    compare_panes(&mut window, "oblique_cut_light", &["Heat map"]);
}

fn inside_a_cycle() {
    let mut window = after(2, USUAL, Theme::Dark, RunSpec::default());
    view(&mut window, Role::CheckBox, "Inside a cycle");
    window.set_slider("Subiteration", 9.0);
    window.until_text("9 of 16 subiterations");
    compare_panes(&mut window, "inside_a_cycle", &["Inside a cycle"]);
}

fn planes() {
    let mut window = after(1, USUAL, Theme::Light, pyramid());
    view(&mut window, Role::CheckBox, "Planes");
    window.until_text("Pyramid: 3 slabs of 31 planes, 3 sweeps high.");
    compare_panes(&mut window, "planes", &["Planes"]);
}

fn inside_a_line() {
    let run = Preset::named("paper-1d").expect("a preset").run();
    let mut window = after(20, USUAL, Theme::Light, run);
    view(&mut window, Role::CheckBox, "Inside a cycle");
    window.until_text("4 of 16 subiterations");
    compare_panes(&mut window, "inside_a_line", &["Inside a cycle"]);
}

fn inside_all_tiles() {
    let run = Preset::named("random-1d").expect("a preset").run();
    let mut window = after(20, USUAL, Theme::Dark, run);
    view(&mut window, Role::CheckBox, "Inside a cycle");
    window.click(Role::CheckBox, "All tiles");
    window.until_text("All tiles, 4 of ");
    compare_panes(&mut window, "inside_all_tiles", &["Inside a cycle"]);
}

fn palette() {
    let mut window = after(3, USUAL, Theme::Dark, RunSpec::default());
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::P);
    window.frames(2);
    window.harness.event(Event::Text("map".to_owned()));
    compare_front(&mut window, "palette");
}

fn keys() {
    let mut window = after(3, USUAL, Theme::Light, RunSpec::default());
    window.key(Key::Questionmark);
    compare_front(&mut window, "keys");
}

fn probed(theme: Theme) -> Window {
    let mut window = after(1, USUAL, theme, RunSpec::default());
    let map = window.rect(Role::Image, "Heat map of the residual");
    for part in [0.125, 0.3] {
        window.harness.hover_at(map.center() - vec2(part * map.width(), part * map.width()));
        window.frames(2);
        window.key(Key::D);
    }
    window.harness.remove_cursor();
    // One by one.
    for _ in 0..12 {
        window.step(1);
    }
    window
}

fn probes() {
    compare_panes(&mut probed(Theme::Dark), "probes", &["Probes"]);
}

fn probes_light() {
    compare_panes(&mut probed(Theme::Light), "probes_light", &["Heat map"]);
}

fn smallest() {
    let mut run = RunSpec::default();
    run.method.overlap = vec![4];
    let mut window = after(6, vec2(960.0, 600.0), Theme::Light, run);
    for pane in ["Mean tile", "By distance", "Inside a cycle"] {
        view(&mut window, Role::CheckBox, pane);
        window.frames(3);
    }
    window.until_text("of 16 subiterations");
    compare(&mut window, "smallest");
}

fn time_travel() {
    let mut window = after(40, USUAL, Theme::Dark, RunSpec::default());
    window.set_slider("First replayed cycle", 10.0);
    window.set_slider("Cycle shown", 24.0);
    window.until_text("24 of 40");
    compare_timeline(&mut window, "time_travel");
}

fn time_travel_line() {
    let run = Preset::named("paper-1d").expect("a preset").run();
    let mut window = after(120, USUAL, Theme::Light, run);
    window.set_slider("Cycle shown", 60.0);
    window.until_text("60 of 120");
    compare_panes(&mut window, "time_travel_line", &["Heat map"]);
}

fn pinned(theme: Theme) -> Window {
    let mut window = after(30, USUAL, theme, RunSpec::default());
    window.key(Key::P);
    for overlap in ["4", "8"] {
        window.type_into("Overlap", overlap);
        window.reset();
        window.step(30);
        window.key(Key::P);
    }
    window.type_into("k", "32");
    window.reset();
    window.step(15);
    window.until("without messages", |window| window.messages() == 0);
    window
}

fn pinned_runs() {
    compare_panes(&mut pinned(Theme::Dark), "pinned_runs", &["Convergence", "Pinned runs"]);
}

fn pinned_runs_light() {
    compare_panes(&mut pinned(Theme::Light), "pinned_runs_light", &["Pinned runs"]);
}

/// A run with overlap beside a pinned one without.
fn compared(how: &str, theme: Theme) -> Window {
    let mut window = after(30, USUAL, theme, RunSpec::default());
    window.key(Key::P);
    window.type_into("Overlap", "4");
    window.reset();
    window.step(30);
    window.choose("Compare", how);
    window.until("without messages", |window| window.messages() == 0);
    // Of a difference, one caption names both runs.
    window.until("captioned", |window| {
        window.is_captioned("A", 30) || window.says("A (overlap 0, cycle 30)")
    });
    window
}

fn wipe_dark() {
    compare_panes(&mut compared("wipe", Theme::Dark), "wipe_dark", &["Heat map"]);
}

/// A run that cannot begin says why on the empty map.
fn refused(theme: Theme) -> Window {
    let mut run = RunSpec::default();
    run.method.tile = vec![32];
    run.method.overlap = vec![3];
    let mut window = Window::sized(USUAL, theme, Some(run));
    window.until_text("overlap 3 is odd");
    window
}

fn refused_dark() {
    compare_panes(&mut refused(Theme::Dark), "refused_dark", &["Heat map"]);
}

fn refused_light() {
    compare_panes(&mut refused(Theme::Light), "refused_light", &["Heat map"]);
}

fn side_by_side() {
    compare_panes(&mut compared("side by side", Theme::Dark), "side_by_side", &["Heat map"]);
}

fn difference() {
    compare_panes(&mut compared("difference", Theme::Light), "difference", &["Heat map"]);
}

fn side_by_side_line() {
    let mut window =
        after(40, USUAL, Theme::Light, Preset::named("random-1d").expect("a preset").run());
    window.key(Key::P);
    window.type_into("k", "32");
    window.reset();
    window.step(30);
    window.choose("Compare", "side by side");
    window.until("without messages", |window| window.messages() == 0);
    window.until("a caption", |window| !window.captions("A").is_empty());
    compare_panes(&mut window, "side_by_side_line", &["Heat map"]);
}

/// The overlap while it is dragged: the new picture is in place of the old one, at as many sweeps.
fn held(theme: Theme) -> Window {
    let mut window = after(4, USUAL, theme, small());
    drag::grab(&mut window, "Overlap", 0.0);
    drag::notch(&mut window, "Overlap", 0.35, drag::IN_TIME);
    window.until_text("Held at 16 sweeps");
    window
}

fn held_dark() {
    compare_panes(&mut held(Theme::Dark), "held_dark", &["Heat map"]);
}

fn held_light() {
    compare_panes(&mut held(Theme::Light), "held_light", &["Heat map"]);
}

fn student_light() {
    let mut window = after(3, USUAL, Theme::Light, RunSpec::default());
    window.key(Key::F8);
    window.frames(4);
    compare(&mut window, "student_light");
}
