//! The whole window without a screen: tests operate its controls as a person would, and draw frames
//! until the window shows what they wait for.

use crate::pictures::RENDERER;
use eframe::App;
use eframe::egui::{
    self, Event, Key, Modifiers, Order, PointerButton, Pos2, RawInput, Rect, Shape, Theme, Vec2,
    accesskit::{Role, Toggled},
};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};
use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tilescope::app::{Explorer, SettingsFile};
use tilescope::picture::Opened;
use tilescope::run::RunSpec;

/// A test that waits longer than this has failed, even on a busy machine.
const DEADLINE: Duration = Duration::from_secs(240);

/// The time for the worker between two frames.
const BETWEEN: Duration = Duration::from_millis(3);

/// The window's time between two frames: that of a usual screen.
const FRAME: f32 = 1.0 / 60.0;

/// The window at first start.
pub const USUAL: Vec2 = egui::vec2(1280.0, 800.0);

/// A window that a test drives.
pub struct Window {
    pub harness: Harness<'static>,
    /// In points, before any zoom.
    size: Vec2,
    /// Dropped last.
    alone: Option<MutexGuard<'static, ()>>,
}

/// Its renderer ends while no other renders.
impl Drop for Window {
    fn drop(&mut self) {
        self.alone = Some(RENDERER.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Window {
    /// The window without a file to open.
    pub fn new() -> Self {
        Self::sized(USUAL, Theme::Dark, None)
    }

    /// The window opened with a run.
    pub fn with(run: RunSpec) -> Self {
        Self::sized(USUAL, Theme::Dark, Some(run))
    }

    /// The window with a run paused at cycle 0.
    pub fn paused(run: RunSpec) -> Self {
        let mut window = Self::with(run);
        window.reset();
        window
    }

    /// The window with saved settings.
    pub fn with_settings(size: Vec2, remembered: SettingsFile) -> Self {
        Self::made(size, Theme::Dark, None, remembered)
    }

    pub fn sized(size: Vec2, theme: Theme, run: Option<RunSpec>) -> Self {
        Self::made(size, theme, run, SettingsFile::default())
    }

    fn made(size: Vec2, theme: Theme, run: Option<RunSpec>, remembered: SettingsFile) -> Self {
        let start = run.map(|run| Opened { run, view: None });
        let slot = Rc::new(RefCell::new(None));
        let filled = Rc::clone(&slot);
        let mut frame = eframe::Frame::_new_kittest();
        let harness = Harness::builder()
            .with_size(size)
            .with_theme(theme)
            .with_step_dt(FRAME)
            .with_render_cursor(false)
            .with_context_setup(move |context| {
                let explorer = Explorer::with_settings(context, start, remembered);
                *filled.borrow_mut() = Some(explorer.expect("there are threads to be had"));
            })
            .build_ui(move |ui| {
                let mut slot = slot.borrow_mut();
                let explorer: &mut Explorer = slot.as_mut().expect("it was made before");
                // The harness adds a margin, meant for single widgets; a window has none.
                let whole = ui.ctx().content_rect();
                let mut ui = ui.new_child(egui::UiBuilder::new().max_rect(whole));
                ui.set_clip_rect(whole);
                let context = ui.ctx().clone();
                explorer.logic(&context, &mut frame);
                explorer.ui(&mut ui, &mut frame);
            });
        Self { harness, size, alone: None }
    }

    /// Draws a frame, after some time for the worker.
    pub fn frame(&mut self) {
        std::thread::sleep(BETWEEN);
        // As on a screen: a larger zoom leaves fewer points.
        let seen = self.size / self.harness.ctx.zoom_factor();
        if self.harness.ctx.content_rect().size() != seen {
            self.harness.set_size(seen);
        }
        self.harness.step();
    }

    pub fn frames(&mut self, count: usize) {
        for _ in 0..count {
            self.frame();
        }
    }

    /// Draws frames until the window fulfils a condition.
    #[track_caller]
    pub fn until(&mut self, what: &str, mut there: impl FnMut(&mut Self) -> bool) {
        let begin = Instant::now();
        self.frame();
        while !there(self) {
            assert!(
                begin.elapsed() < DEADLINE,
                "still not {what}; the window says: {:#?}",
                self.texts()
            );
            self.frame();
        }
    }

    #[track_caller]
    pub fn until_text(&mut self, text: &str) {
        self.until(text, |window| window.says(text));
    }

    /// Draws frames until nothing changes: the worker has sent nothing for a while, and the window
    /// requests no repaint.
    pub fn settle(&mut self) {
        let asked = Arc::new(AtomicBool::new(false));
        let ask = Arc::clone(&asked);
        self.harness.ctx.set_request_repaint_callback(move |info| {
            if info.delay < BETWEEN {
                ask.store(true, Ordering::Relaxed);
            }
        });
        let mut quiet = 0;
        self.until("at rest", |_| {
            std::thread::sleep(10 * BETWEEN);
            quiet = if asked.swap(false, Ordering::Relaxed) { 0 } else { quiet + 1 };
            quiet >= 5
        });
    }

    /// All texts of the last frame, with their positions and clip rectangles.
    pub fn painted(&self) -> Vec<Painted> {
        let mut found = Vec::new();
        for shape in &self.harness.output().shapes {
            collect(&shape.shape, shape.clip_rect, &mut found);
        }
        found
    }

    pub fn texts(&self) -> Vec<String> {
        self.painted().into_iter().map(|painted| painted.text).collect()
    }

    /// Whether some text of the window contains `part`.
    pub fn says(&self, part: &str) -> bool {
        self.painted().iter().any(|painted| painted.text.contains(part))
    }

    /// The cycles made, as the toolbar shows them.
    pub fn cycle(&self) -> u64 {
        let texts = self.texts();
        let shown =
            texts.iter().find(|text| text.starts_with("cycle ")).expect("the cycle is shown");
        let number = shown["cycle ".len()..].split(' ').next().unwrap_or_default();
        number.replace(',', "").parse().expect("a number of cycles")
    }

    /// Whether the caption of a compared map names a run, at this cycle.
    pub fn is_captioned(&self, name: &str, cycle: u64) -> bool {
        let end = format!(" · cycle {cycle}");
        self.captions(name).iter().any(|caption| caption.ends_with(&end))
    }

    /// The captions of compared maps that name a run.
    pub fn captions(&self, name: &str) -> Vec<String> {
        let begin = format!("{name} · ");
        let is_caption = |text: &String| {
            text.starts_with(&begin) && text.contains(" sweep") && text.contains(" · cycle ")
        };
        self.texts().into_iter().filter(is_caption).collect()
    }

    #[track_caller]
    pub fn until_captioned(&mut self, name: &str, cycle: u64) {
        self.until("captioned", |window| window.is_captioned(name, cycle));
    }

    /// Whether the heat map shows a picture.
    pub fn has_picture(&self) -> bool {
        self.says("Edge share") || self.says("Point at the map to read a value")
    }

    pub fn key(&mut self, key: Key) {
        self.harness.key_press(key);
        self.frame();
    }

    pub fn reset(&mut self) {
        self.key(Key::R);
        self.until("at cycle 0", |window| window.cycle() == 0 && window.says("paused"));
    }

    /// Makes single cycles by key.
    pub fn step(&mut self, cycles: u64) {
        let goal = self.cycle() + cycles;
        for _ in 0..cycles {
            self.key(Key::ArrowRight);
        }
        self.until("stepped", |window| window.cycle() == goal);
    }

    /// The rectangle of a control.
    #[track_caller]
    pub fn rect(&self, role: Role, name: &str) -> Rect {
        self.harness.get_by_role_and_label(role, name).rect()
    }

    /// The area of the dialog, menu, message or hint that lies in front of everything else.
    #[track_caller]
    pub fn front(&self) -> Rect {
        let front = self.harness.ctx.memory(|memory| {
            let areas = memory.areas();
            let top = |order| areas.top_layer_id(order).filter(|layer| areas.is_visible(layer));
            let layer =
                [Order::Tooltip, Order::Foreground, Order::Middle].into_iter().find_map(top);
            memory.area_rect(layer?.id)
        });
        front.expect("something in front").expand(4.0)
    }

    /// Whether there is such a control.
    pub fn has(&self, role: Role, name: &str) -> bool {
        self.harness.query_all_by_role_and_label(role, name).next().is_some()
    }

    /// Scrolls a control into view, if a panel is longer than the window.
    #[track_caller]
    pub fn scroll_to(&mut self, role: Role, name: &str) {
        // The toolbar and the timeline lie above and below panels.
        let visible = self.harness.ctx.content_rect().shrink2(egui::vec2(0.0, 100.0));
        let node = self.harness.query_all_by_role_and_label(role, name).next();
        if let Some(node) = node.filter(|node| !visible.y_range().contains(node.rect().center().y))
        {
            node.scroll_to_me();
            // Scrolling is animated.
            self.frames(32);
        }
    }

    /// Scrolls a control into view if it is not there, and returns where it lies then: the one with this
    /// index among those of its name. One of a scrolled menu may be gone.
    pub fn scroll_to_one(&mut self, role: Role, name: &str, index: usize) -> Option<Pos2> {
        let node = self.harness.query_all_by_role_and_label(role, name).nth(index)?;
        let at = node.rect().center();
        if self.harness.ctx.content_rect().contains(at) {
            return Some(at);
        }
        node.scroll_to_me();
        self.frames(32);
        let mut all = self.harness.query_all_by_role_and_label(role, name);
        Some(all.nth(index)?.rect().center())
    }

    #[track_caller]
    pub fn click(&mut self, role: Role, name: &str) {
        if role != Role::Button {
            self.scroll_to(role, name);
        }
        self.harness.get_by_role_and_label(role, name).click();
        self.frames(2);
        self.harness.remove_cursor();
        self.frame();
    }

    #[track_caller]
    pub fn button(&mut self, name: &str) {
        self.click(Role::Button, name);
    }

    /// Chooses an entry of a combo box.
    #[track_caller]
    pub fn choose(&mut self, combo: &str, entry: &str) {
        self.scroll_to(Role::ComboBox, combo);
        self.harness.get_by_role_and_label(Role::ComboBox, combo).click();
        // What the worker sends may change the layout under a menu that opens, which is then laid out once more.
        let at = (0..10).find_map(|_| {
            self.frames(2);
            // Another button may have the same name: the entry is on the layer of the menu.
            let entries = self.harness.query_all_by_role_and_label(Role::Button, entry);
            entries.map(|entry| entry.rect().center()).find(|&at| self.is_in_front(at))
        });
        self.click_at(at.unwrap_or_else(|| panic!("no {entry} in {combo}")));
        self.frames(2);
        self.harness.remove_cursor();
        self.frame();
    }

    /// Opens a menu, and returns whether the entry that starts with `begin` is enabled, and its
    /// name.
    #[track_caller]
    pub fn entry(&mut self, combo: &str, begin: &str) -> (bool, String) {
        self.scroll_to(Role::ComboBox, combo);
        self.harness.get_by_role_and_label(Role::ComboBox, combo).click();
        self.frames(4);
        let entries = self.harness.query_all_by_role(Role::Button);
        let found = entries
            .filter(|entry| self.is_in_front(entry.rect().center()))
            .map(|entry| entry.accesskit_node())
            .filter_map(|node| Some((!node.is_disabled(), node.label()?)))
            .find(|(_, name)| name.starts_with(begin));
        self.key(Key::Escape);
        self.frames(2);
        found.unwrap_or_else(|| panic!("no {begin} in {combo}"))
    }

    /// Clicks somewhere, and leaves the cursor there.
    pub fn click_on(&mut self, pos: Pos2) {
        self.click_at(pos);
        self.frames(2);
    }

    pub fn click_at(&self, pos: Pos2) {
        self.harness.hover_at(pos);
        for pressed in [true, false] {
            let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
            self.harness.event(Event::PointerButton { pos, button, pressed, modifiers });
        }
    }

    /// The value of a slider.
    #[track_caller]
    pub fn slider(&self, name: &str) -> f64 {
        let node = self.harness.get_by_role_and_label(Role::Slider, name);
        node.accesskit_node().numeric_value().expect("a slider has a value")
    }

    /// Sets a slider as assistive technology does.
    #[track_caller]
    pub fn set_slider(&mut self, name: &str, value: f64) {
        self.harness.get_by_role_and_label(Role::Slider, name).set_value_accesskit(value);
        self.frames(2);
    }

    /// Drags the handle of a slider to shares of its length, and returns its values.
    #[track_caller]
    pub fn drag_slider(&mut self, name: &str, to: &[f32]) -> Vec<f64> {
        let rect = self.rect(Role::Slider, name);
        let at = |part: f32| Pos2::new(rect.left() + part * rect.width(), rect.center().y);
        self.harness.hover_at(at(to[0]));
        self.harness.drag_at(at(to[0]));
        self.frame();
        let mut values = Vec::new();
        for &part in to {
            self.harness.hover_at(at(part));
            self.frames(2);
            values.push(self.slider(name));
        }
        self.harness.drop_at(at(to[to.len() - 1]));
        self.frame();
        values
    }

    /// Draws frames for a while in which an unwanted event could happen.
    pub fn settle_some(&mut self) {
        self.frames(40);
    }

    /// Types a number into the field of that name.
    #[track_caller]
    pub fn type_into(&mut self, name: &str, number: &str) {
        self.scroll_to(Role::SpinButton, name);
        self.harness.get_by_role_and_label(Role::SpinButton, name).click();
        self.frames(2);
        self.harness.event(Event::Text(number.to_owned()));
        self.frame();
        self.key(Key::Enter);
        self.harness.remove_cursor();
        self.frames(2);
    }

    /// Types a name into the field of that name.
    #[track_caller]
    pub fn rename(&mut self, field: &str, name: &str) {
        self.harness.get_by_role_and_label(Role::TextInput, field).focus();
        self.frames(2);
        self.harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
        self.harness.event(Event::Text(name.to_owned()));
        self.frame();
        self.key(Key::Enter);
        self.frames(2);
    }

    #[track_caller]
    pub fn is_on(&self, name: &str) -> bool {
        let node = self.harness.get_by_role_and_label(Role::CheckBox, name);
        node.accesskit_node().toggled() == Some(Toggled::True)
    }

    #[track_caller]
    pub fn is_enabled(&self, role: Role, name: &str) -> bool {
        !self.harness.get_by_role_and_label(role, name).accesskit_node().is_disabled()
    }

    /// Drops a file on the window.
    pub fn drop_file(&mut self, path: &Path) {
        let file = Dropped(path.to_owned());
        let input: &mut RawInput = self.harness.input_mut();
        input.dropped_files.push(Arc::new(file));
        self.frame();
    }

    /// Opens a file through the dialog.
    #[track_caller]
    pub fn open(&mut self, path: &Path) {
        self.harness.key_press_modifiers(Modifiers::COMMAND, Key::O);
        self.frames(2);
        let name = path.to_str().expect("names in tests are text");
        self.harness.get_by_role_and_label(Role::TextInput, "File").set_text_value_accesskit(name);
        self.frames(2);
        self.button("Open");
    }

    /// Saves something through the dialog.
    #[track_caller]
    pub fn save(&mut self, what: &str, path: &Path) {
        self.harness.key_press_modifiers(Modifiers::COMMAND, Key::S);
        self.frames(2);
        self.click(Role::RadioButton, what);
        self.save_as(path);
    }

    /// Saves with the open dialog.
    #[track_caller]
    pub fn save_as(&mut self, path: &Path) {
        let name = path.to_str().expect("names in tests are text");
        self.harness.get_by_role_and_label(Role::TextInput, "File").set_text_value_accesskit(name);
        self.frames(2);
        self.button("Save");
    }

    /// Saves something through the dialog, and waits for the file.
    #[track_caller]
    pub fn save_and_wait(&mut self, what: &str, path: &Path) {
        self.save(what, path);
        self.until("saved", |_| path.exists());
    }

    /// The run of the worker, which has more settings than the controls show.
    #[track_caller]
    pub fn run_under_way(&mut self) -> RunSpec {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path().join("run.toml");
        self.save_and_wait("Run description", &path);
        RunSpec::load(&path).expect("what was saved can be read")
    }

    /// Whether a place belongs to a menu or a dialog.
    fn is_in_front(&self, at: Pos2) -> bool {
        self.harness.ctx.layer_id_at(at).is_some_and(|layer| layer.order == Order::Foreground)
    }

    /// The number of messages shown.
    pub fn messages(&self) -> usize {
        self.harness.query_all_by_role_and_label(Role::Button, "Dismiss").count()
    }

    /// Whether a tooltip is shown.
    pub fn has_tooltip(&self) -> bool {
        let memory = |memory: &egui::Memory| {
            let layers = memory.areas().visible_layer_ids();
            layers.iter().any(|layer| layer.order == Order::Tooltip)
        };
        self.harness.ctx.memory(memory)
    }
}

/// A text in the window.
#[derive(Clone, Debug)]
pub struct Painted {
    pub text: String,
    pub rect: Rect,
    pub clip: Rect,
}

fn collect(shape: &Shape, clip: Rect, found: &mut Vec<Painted>) {
    match shape {
        Shape::Vec(shapes) => shapes.iter().for_each(|shape| collect(shape, clip, found)),
        Shape::Text(text) => {
            let rect = shape.visual_bounding_rect();
            if rect.intersects(clip) {
                found.push(Painted { text: text.galley.text().to_owned(), rect, clip });
            }
        }
        _ => {}
    }
}

#[derive(Debug)]
struct Dropped(PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        std::fs::read(&self.0).map_err(|error| error.to_string())
    }
}
