//! A seeded random driver of every control and key: nothing panics, and memory stays bounded.
//!
//! `TILESCOPE_MONKEY_ACTIONS` sets the number of actions, or `TILESCOPE_MONKEY_SECONDS` the time, and
//! `TILESCOPE_MONKEY_SEED` repeats a sequence, as far as the timing of the worker allows. Nothing is
//! rendered, and nothing leaves its temporary folder: no clipboard, no browser, no other files.
//!
//! What the process holds depends on the runs that the monkey has made. Whether it loses memory is measured at rest: now and
//! then it returns to one small run in the default layout, of which nothing is pinned and to which alone undo returns.

use crate::controls::small;
use crate::panes::small_matrix;
use eframe::App;
use eframe::egui::{
    self, CentralPanel, Context, Event, HoveredFile, Key, Modifiers, MouseWheelSource,
    MouseWheelUnit, PointerButton, Pos2, RawInput, Rect, TouchPhase, Vec2, ViewportId,
    accessibility::is_input, accesskit::Role, pos2, vec2,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tilescope::app::{Explorer, SettingsFile};
use tilescope::picture::Opened;
use tilescope::run::save_run;

/// The seed of the suite, fixed so that only changes of the code make a difference.
const SEED: u64 = 1_795_269_239;

pub const TESTS: &[(&str, fn())] = &[("a_monkey_finds_nothing", a_monkey_finds_nothing)];

/// Number of actions in the test suite.
const ACTIONS: u64 = 5_000;

/// Number of times that memory is measured at rest in the test suite, and in a run of some time: then the median of each
/// sixth is printed, since one rest may come while a large array is in use.
const RESTS: usize = 6;
const RESTS_OVER_TIME: usize = 8 * RESTS;

/// Allowed growth in bytes from the first rest to any later one, beside a tenth: what another thread may still hold on a
/// machine that is busy otherwise, letters in new sizes, and pieces that the allocator keeps. A leak grows without bound.
const GROWTH: u64 = 384 << 20;

/// A rest is measured when memory has not shrunk for so many times in a row, a good part of a second apart, and no other
/// thread has been at work; on a machine that is busy otherwise, a thread may take a while to give back what it holds.
const CALM: u32 = 4;

/// The most times that it is looked at: some minutes, for a computation that cannot be stopped.
const LOOKS: u32 = 600;

/// Processor time of another thread between two looks, in hundredths of a second, from which on it counts as at work.
const AT_WORK: u64 = 3;

/// Runs to begin one after the other until nothing is left of those before: more than undo keeps.
const RUNS_TO_FORGET: usize = 12;

/// The most bytes that the process may take: a run that needs more would have to be chosen on purpose.
const MOST: u64 = 6 << 30;

/// After this many actions the small run is restored, and memory is measured.
const ROUND: u64 = 500;

/// Actions that are printed on a failure.
const LISTED: usize = 12;

/// Entries for runs so large that they would take all of the time.
const TOO_LARGE: [&str; 3] = ["4096²", "2048²", "1024²"];

/// The control that allows keyframes to take gigabytes, which could not be distinguished from a leak. It is not used by
/// pointer, and left at once when the keyboard leads to it.
const MEMORY: &str = "Memory";

/// Reproducible random numbers (Vigna's SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    fn part(&mut self) -> f32 {
        self.below(10_001) as f32 / 10_000.0
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        (!from.is_empty()).then(|| &from[self.below(from.len())])
    }

    fn point(&mut self, within: Rect) -> Pos2 {
        within.min + within.size() * vec2(self.part(), self.part())
    }
}

/// A control as assistive technology sees it.
struct Control {
    name: String,
    rect: Rect,
}

struct Monkey {
    random: Random,
    context: Context,
    explorer: Explorer,
    frame: eframe::Frame,
    time: f64,
    /// The window in points before any zoom, and pixels per point.
    size: Vec2,
    scale: f32,
    controls: Vec<Control>,
    /// Whether the keyboard is in the control [`MEMORY`].
    is_in_memory: bool,
    files: Vec<PathBuf>,
    frames: u64,
    slowest: Duration,
    done: VecDeque<String>,
    /// The names of the controls that were used.
    used: BTreeSet<String>,
}

impl Monkey {
    /// `settings` is the file for saved settings.
    fn new(seed: u64, files: Vec<PathBuf>, settings: PathBuf) -> Self {
        let context = Context::default();
        context.enable_accesskit();
        let mut run = small();
        run.method.threads = 1;
        let start = Some(Opened { run, view: None });
        let explorer = Explorer::with_settings(&context, start, SettingsFile::at(settings));
        Self {
            random: Random(seed),
            explorer: explorer.expect("there are threads to be had"),
            context,
            frame: eframe::Frame::_new_kittest(),
            time: 0.0,
            size: vec2(1280.0, 800.0),
            scale: 1.0,
            controls: Vec::new(),
            is_in_memory: false,
            files,
            frames: 0,
            slowest: Duration::ZERO,
            done: VecDeque::new(),
            used: BTreeSet::new(),
        }
    }

    /// Draws a frame and records its time, which is printed at the end; `benches/frames.rs`
    /// measures it.
    fn frame(&mut self, change: impl FnOnce(&mut RawInput)) {
        let seen = self.size / self.context.zoom_factor();
        let mut input = RawInput {
            screen_rect: Some(Rect::from_min_size(Pos2::ZERO, seen)),
            time: Some(self.time),
            ..RawInput::default()
        };
        let viewport = input.viewports.entry(ViewportId::ROOT).or_default();
        viewport.native_pixels_per_point = Some(self.scale);
        change(&mut input);
        // Time advances as on a screen, and sometimes by the delay of a tooltip.
        self.time += if self.random.one_in(20) { 0.7 } else { 1.0 / 60.0 };
        let Self { explorer, frame, .. } = self;
        let mut took = Duration::ZERO;
        let mut output = self.context.run_ui(input, |ui| {
            let begin = Instant::now();
            let context = ui.ctx().clone();
            explorer.logic(&context, frame);
            CentralPanel::no_frame().show(ui, |ui| explorer.ui(ui, frame));
            took += begin.elapsed();
        });
        output.textures_delta.clear();
        self.frames += 1;
        self.slowest = self.slowest.max(took);
        if let Some(update) = output.platform_output.accesskit_update {
            let focused = update.nodes.iter().find(|(id, _)| *id == update.focus);
            self.is_in_memory = focused.is_some_and(|(_, node)| node.label() == Some(MEMORY));
            let controls = update.nodes.iter().filter_map(|(_, node)| {
                let bounds = node.bounds().filter(|_| is_control(node.role()))?;
                let corner = |x: f64, y: f64| pos2(x as f32, y as f32);
                Some(Control {
                    name: node.label().unwrap_or_default().to_owned(),
                    rect: Rect::from_min_max(
                        corner(bounds.x0, bounds.y0),
                        corner(bounds.x1, bounds.y1),
                    ),
                })
            });
            self.controls = controls.collect();
        }
    }

    fn events(&mut self, events: Vec<Event>) {
        self.frame(|input| input.events = events);
    }

    /// One action of any kind.
    fn act(&mut self) {
        let memory = memory().unwrap_or(0);
        assert!(memory <= MOST, "the process takes {memory} bytes");
        if self.is_in_memory {
            self.escape();
        }
        match self.random.below(100) {
            0..40 => self.click(),
            40..55 => self.drag(),
            55..75 => self.press(),
            75..85 => self.type_text(),
            85..91 => self.scroll(),
            91..94 => self.resize(),
            94..97 => self.drop_file(),
            _ => self.leave(),
        }
    }

    fn note(&mut self, what: String) {
        if self.done.len() >= LISTED {
            self.done.pop_front();
        }
        self.done.push_back(what);
    }

    /// A position to press, mostly in a control.
    fn place(&mut self) -> (Pos2, String) {
        let whole = Rect::from_min_size(Pos2::ZERO, self.size / self.context.zoom_factor());
        if !self.random.one_in(8) {
            let index = self.random.below(self.controls.len().max(1));
            if let Some(Control { name, rect }) = self.controls.get(index)
                && !TOO_LARGE.iter().any(|large| name.contains(large))
                && name != MEMORY
            {
                let name = name.clone();
                self.used.insert(name.clone());
                return (self.random.point(*rect), name);
            }
        }
        (self.random.point(whole), "the window".to_owned())
    }

    fn modifiers(&mut self) -> Modifiers {
        let all = [
            Modifiers::NONE,
            Modifiers::NONE,
            Modifiers::SHIFT,
            Modifiers::COMMAND,
            Modifiers::COMMAND | Modifiers::SHIFT,
            Modifiers::ALT,
        ];
        all[self.random.below(all.len())]
    }

    fn click(&mut self) {
        let (pos, name) = self.place();
        let button = match self.random.below(12) {
            0 => PointerButton::Secondary,
            1 => PointerButton::Middle,
            _ => PointerButton::Primary,
        };
        let modifiers = if self.random.one_in(6) { self.modifiers() } else { Modifiers::NONE };
        self.note(format!("click {name} at {pos}, {button:?}, {modifiers:?}"));
        let press = |pressed| Event::PointerButton { pos, button, pressed, modifiers };
        self.events(vec![Event::PointerMoved(pos)]);
        for _ in 0..if self.random.one_in(8) { 2 } else { 1 } {
            self.events(vec![press(true), press(false)]);
        }
    }

    /// Clicks on the control of this name; whether there is one.
    fn click_on(&mut self, name: &str) -> bool {
        let control = self.controls.iter().find(|control| control.name == name);
        let Some(pos) = control.map(|control| control.rect.center()) else { return false };
        let (button, modifiers) = (PointerButton::Primary, Modifiers::NONE);
        let press = |pressed| Event::PointerButton { pos, button, pressed, modifiers };
        self.events(vec![Event::PointerMoved(pos)]);
        self.events(vec![press(true), press(false)]);
        true
    }

    fn drag(&mut self) {
        let (from, name) = self.place();
        let whole = Rect::from_min_size(Pos2::ZERO, self.size / self.context.zoom_factor());
        let to = match self.random.below(3) {
            0 => self.place().0,
            1 => from + vec2(self.random.part() - 0.5, self.random.part() - 0.5) * 120.0,
            _ => self.random.point(whole),
        };
        self.note(format!("drag {name} from {from} to {to}"));
        let press = |pos, pressed| Event::PointerButton {
            pos,
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        };
        self.events(vec![Event::PointerMoved(from), press(from, true)]);
        let steps = 1 + self.random.below(4);
        for step in 1..=steps {
            self.events(vec![Event::PointerMoved(from.lerp(to, step as f32 / steps as f32))]);
        }
        self.events(vec![press(to, false)]);
    }

    fn press(&mut self) {
        let Some(&key) = self.random.pick(Key::ALL) else {
            return;
        };
        let modifiers = self.modifiers();
        self.note(format!("press {key:?} with {modifiers:?}"));
        let event =
            |pressed| Event::Key { key, physical_key: None, pressed, repeat: false, modifiers };
        let mut events = vec![event(true)];
        match key {
            // As the system does for these keys.
            Key::C if modifiers.command => events.push(Event::Copy),
            Key::X if modifiers.command => events.push(Event::Cut),
            Key::V if modifiers.command => events.push(Event::Paste("12".to_owned())),
            _ => {}
        }
        events.push(event(false));
        self.events(events);
    }

    /// Types text, and sometimes confirms it. Numbers are small, or too large for any machine; file
    /// names stay in the folder.
    fn type_text(&mut self) {
        let texts = [
            "0",
            "1",
            "2",
            "3",
            "7",
            "16",
            "64",
            "100",
            "-1",
            "-0",
            "0.5",
            "1e-3",
            "1e400",
            "nan",
            "inf",
            "99999999999999",
            "1000000000000",
            "",
            " ",
            "..",
            "a",
            "map",
            "save",
            "reset",
            "run.toml",
            "figure.png",
            "figure.svg",
            "figure.gif",
            "u.npy",
            "‖r‖₂",
            "ß\u{301}🙂",
            "\u{202e}abc",
            "x\ty",
        ];
        let text = (*self.random.pick(&texts).expect("there are texts")).to_owned();
        self.note(format!("type {text:?}"));
        self.events(vec![Event::Text(text)]);
        if self.random.one_in(2) {
            let key = Key::Enter;
            let event = |pressed| Event::Key {
                key,
                physical_key: None,
                pressed,
                repeat: false,
                modifiers: Modifiers::NONE,
            };
            self.events(vec![event(true), event(false)]);
        }
    }

    fn scroll(&mut self) {
        let (pos, name) = self.place();
        let delta = vec2(self.random.part() - 0.5, self.random.part() - 0.5) * 800.0;
        let modifiers = self.modifiers();
        self.note(format!("scroll {name} by {delta} with {modifiers:?}"));
        let pinch = self.random.one_in(4).then(|| Event::Zoom(0.5 + 1.5 * self.random.part()));
        let wheel = Event::MouseWheel {
            unit: MouseWheelUnit::Point,
            delta,
            phase: TouchPhase::Move,
            source: MouseWheelSource::Unknown,
            modifiers,
        };
        self.events(vec![Event::PointerMoved(pos), pinch.unwrap_or(wheel)]);
    }

    fn resize(&mut self) {
        let sizes = [[1280, 800], [960, 600], [1920, 1080], [2560, 1440], [640, 400], [160, 90]];
        let size = sizes[self.random.below(sizes.len())];
        self.size = vec2(size[0] as f32, size[1] as f32);
        self.scale = [1.0, 1.0, 1.5, 2.0, 3.0][self.random.below(5)];
        self.note(format!("resize to {} at {}", self.size, self.scale));
        self.frame(|_| {});
    }

    fn drop_file(&mut self) {
        let Some(path) = self.random.pick(&self.files).cloned() else {
            return;
        };
        self.note(format!("drop {}", path.display()));
        let hovered = HoveredFile { path: Some(path.clone()), mime: String::new() };
        self.frame(|input| input.hovered_files = vec![hovered]);
        if !self.random.one_in(4) {
            self.frame(|input| input.dropped_files = vec![Arc::new(Dropped(path))]);
        }
        // Files are read in the background.
        std::thread::sleep(Duration::from_millis(1));
    }

    fn leave(&mut self) {
        self.note("leave the window for a while".to_owned());
        self.events(vec![Event::PointerGone, Event::WindowFocused(false)]);
        std::thread::sleep(Duration::from_millis(2));
        self.events(vec![Event::WindowFocused(true)]);
    }

    /// Restores the small run, so that one large run does not take all of the time.
    fn begin_again(&mut self, run: &Path) {
        for _ in 0..4 {
            self.escape();
        }
        self.open(run);
    }

    fn escape(&mut self) {
        let event = Event::Key {
            key: Key::Escape,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers: Modifiers::NONE,
        };
        self.events(vec![event]);
    }

    /// Drops a run file on the window, and waits for it.
    fn open(&mut self, run: &Path) {
        let run = run.to_owned();
        self.frame(|input| input.dropped_files = vec![Arc::new(Dropped(run))]);
        self.wait(Duration::from_millis(40));
    }

    /// Shows frames for so long.
    fn wait(&mut self, duration: Duration) {
        let begin = Instant::now();
        while begin.elapsed() < duration {
            std::thread::sleep(Duration::from_millis(10));
            self.frame(|_| {});
        }
    }

    /// Cancels what is under way where there is a button for it; whether there is. In a panel that was scrolled it lies out of
    /// sight.
    fn cancel(&mut self) -> bool {
        self.events(vec![Event::PointerMoved(pos2(120.0, 400.0))]);
        self.events(vec![Event::MouseWheel {
            unit: MouseWheelUnit::Point,
            delta: vec2(0.0, 20_000.0),
            phase: TouchPhase::Move,
            source: MouseWheelSource::Unknown,
            modifiers: Modifiers::NONE,
        }]);
        // The panel moves for a while.
        for _ in 0..60 {
            self.frame(|_| {});
        }
        self.click_on("Cancel")
    }

    /// The memory of the process with the small run alone.
    fn rest(&mut self, run: &Path, other: &Path, matrix: &Path) -> Option<u64> {
        self.size = vec2(1280.0, 800.0);
        self.scale = 1.0;
        self.begin_again(run);
        // The texture of letters is begun anew when its largest side changes.
        for side in [1024, 2048] {
            self.frame(|input| input.max_texture_side = Some(side));
        }
        let key = |key, modifiers| Event::Key {
            key,
            physical_key: None,
            pressed: true,
            repeat: false,
            modifiers,
        };
        let command = |monkey: &mut Self, name: &str| {
            // A dialog may still be there that closes first.
            for _ in 0..4 {
                monkey.events(vec![key(Key::P, Modifiers::COMMAND)]);
                monkey.frame(|_| {});
                if monkey.controls.iter().any(|control| control.name == "Action") {
                    break;
                }
                monkey.escape();
            }
            monkey.events(vec![Event::Text(name.to_owned())]);
            monkey.frame(|_| {});
            monkey.events(vec![key(Key::Enter, Modifiers::NONE)]);
            monkey.frame(|_| {});
        };
        for name in ["unpin all", "reset layout", "reset zoom"] {
            command(self, name);
        }
        // A map that is paused, perhaps in a view that is closed.
        if !self.cancel() {
            command(self, "tuning map");
            self.cancel();
        }
        // The newest matrix is kept for the runs to come: a small one.
        self.begin_again(matrix);
        self.wait(Duration::from_secs(1));
        for _ in 0..RUNS_TO_FORGET {
            self.begin_again(other);
            self.begin_again(run);
        }
        // What was under way in other threads ends.
        let begin = Instant::now();
        let (mut smallest, mut before) = (None, BTreeMap::new());
        let (mut calm, mut at_work) = (0, Vec::new());
        for _ in 0..LOOKS {
            self.wait(Duration::from_millis(400));
            trim();
            let now = memory()?;
            let has_shrunk = smallest.is_none_or(|smallest| now + (1 << 20) < smallest);
            let times = times_of_other_threads();
            at_work = at_work_since(&before, &times);
            before = times;
            calm = if has_shrunk || !at_work.is_empty() { 0 } else { calm + 1 };
            smallest = Some(smallest.map_or(now, |smallest: u64| smallest.min(now)));
            if calm == CALM {
                break;
            }
        }
        let megabytes = smallest.unwrap_or(0) >> 20;
        let others =
            if at_work.is_empty() { String::new() } else { format!(", {at_work:?} at work") };
        println!("monkey: {megabytes} MB at rest after {:.1?}{others}", begin.elapsed());
        smallest
    }
}

/// Whether it is a control.
fn is_control(role: Role) -> bool {
    is_input(role) || matches!(role, Role::Image | Role::Label)
}

#[derive(Debug)]
struct Dropped(PathBuf);

impl egui::DroppedFile for Dropped {
    fn path(&self) -> &Path {
        &self.0
    }

    fn bytes(&self) -> Result<Vec<u8>, String> {
        fs::read(&self.0).map_err(|error| error.to_string())
    }
}

/// Returns what was freed to the system: the allocator keeps it otherwise, in pieces.
fn trim() {
    #[cfg(target_env = "gnu")]
    {
        unsafe extern "C" {
            fn malloc_trim(keep: usize) -> i32;
        }
        // SAFETY: it may be called at any time, from any thread.
        unsafe { malloc_trim(0) };
    }
}

/// Memory of the process in bytes, without pages of files such as the program's own; `None` where the system does not report
/// it.
fn memory() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("RssAnon:"))?;
    let kibibytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kibibytes << 10)
}

/// Processor time of each thread but this one, in hundredths of a second, with its name; empty where the system does not
/// report it.
fn times_of_other_threads() -> BTreeMap<PathBuf, (String, u64)> {
    let own = fs::read_link("/proc/thread-self").ok();
    let own = own.as_deref().and_then(Path::file_name);
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let others = threads.filter(|thread| Some(&*thread.file_name()) != own);
    let time = |thread: fs::DirEntry| {
        let stat = fs::read_to_string(thread.path().join("stat")).ok()?;
        let (name, rest) = stat.split_once('(')?.1.rsplit_once(')')?;
        // After eleven fields: the time in the program and in the kernel.
        let times = rest.split_whitespace().skip(11).take(2);
        let time = times.map(|ticks| ticks.parse::<u64>().unwrap_or(0)).sum();
        Some((thread.path(), (name.to_owned(), time)))
    };
    others.filter_map(time).collect()
}

/// The names of the threads that have worked between two looks.
fn at_work_since(
    before: &BTreeMap<PathBuf, (String, u64)>,
    now: &BTreeMap<PathBuf, (String, u64)>,
) -> Vec<String> {
    let worked = now.iter().filter(|(thread, (_, time))| {
        let earlier = before.get(*thread).map_or(0, |(_, earlier)| *earlier);
        time.saturating_sub(earlier) >= AT_WORK
    });
    worked.map(|(_, (name, _))| name.clone()).collect()
}

/// Files to drop: good ones of each kind, and bad ones.
fn files(folder: &Path) -> Vec<PathBuf> {
    let path = |name: &str| folder.join(name);
    let write = |name: &str, bytes: &[u8]| {
        fs::write(path(name), bytes).expect("the folder can be written to");
        path(name)
    };
    let mut other = small();
    other.problem.shape = vec![40, 24];
    other.method.overlap = vec![2];
    save_run(&path("other.toml"), &other).expect("the folder can be written to");
    let mut odd = small();
    odd.method.overlap = vec![3];
    save_run(&path("odd.toml"), &odd).expect("the folder can be written to");
    image::GrayImage::from_fn(40, 30, |x, y| image::Luma([(x * y % 251) as u8]))
        .save(path("mine.png"))
        .expect("the folder can be written to");
    let mut array = b"\x93NUMPY\x01\x00v\x00".to_vec();
    array.extend(
        format!("{:117}\n", "{'descr': '<f8', 'fortran_order': False, 'shape': (4, 4), }").bytes(),
    );
    array.extend((0..16).flat_map(|value| f64::from(value).to_le_bytes()));
    vec![
        path("other.toml"),
        path("odd.toml"),
        path("mine.png"),
        write("mine.npy", &array),
        write("cut.npy", &array[..150]),
        write("foreign.toml", b"[package]\nname = \"x\"\n"),
        write("newer.toml", b"version = 99\n"),
        write("cut.png", &b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR"[..]),
        write("text.svg", b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>"),
        write("empty", b""),
        path("missing.toml"),
        folder.to_owned(),
    ]
}

/// Restores the working folder when dropped.
struct Inside(PathBuf);

impl Inside {
    fn folder(folder: &Path) -> Self {
        let before = std::env::current_dir().expect("there is a folder to work in");
        std::env::set_current_dir(folder).expect("it was made before");
        Self(before)
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        _ = std::env::set_current_dir(&self.0);
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn a_monkey_finds_nothing() {
    let time = number("TILESCOPE_MONKEY_SECONDS").map(Duration::from_secs);
    let most = if time.is_some() { u64::MAX } else { ACTIONS };
    let most = number("TILESCOPE_MONKEY_ACTIONS").unwrap_or(most);
    let seed = number("TILESCOPE_MONKEY_SEED").unwrap_or(SEED);
    println!("monkey: TILESCOPE_MONKEY_SEED={seed} TILESCOPE_MONKEY_ACTIONS={most}");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let run = folder.path().join("run-to-begin-with.toml");
    let mut first = small();
    first.method.threads = 1;
    save_run(&run, &first).expect("the folder can be written to");
    let matrix = folder.path().join("matrix.toml");
    save_run(&matrix, &small_matrix()).expect("the folder can be written to");
    let files = files(folder.path());
    // The dialogs suggest the working folder.
    let _inside = Inside::folder(folder.path());

    // A panic on another thread would be printed and ignored.
    let panics = Arc::new(Mutex::new(Vec::new()));
    let (original, noted) = (Arc::new(panic::take_hook()), Arc::clone(&panics));
    let hook = Arc::clone(&original);
    panic::set_hook(Box::new(move |info| {
        noted.lock().unwrap_or_else(PoisonError::into_inner).push(info.to_string());
        hook(info);
    }));

    let mut monkey = Monkey::new(seed, files, folder.path().join("settings.toml"));
    let (mut sizes, mut rests) = (Vec::new(), Vec::new());
    let most_rests = if time.is_some() { RESTS_OVER_TIME } else { RESTS };
    let begin = Instant::now();
    let mut actions = 0;
    let went = panic::catch_unwind(panic::AssertUnwindSafe(|| {
        while actions < most && time.is_none_or(|time| begin.elapsed() < time) {
            if actions.is_multiple_of(ROUND) {
                monkey.begin_again(&run);
                sizes.extend(memory());
            }
            monkey.act();
            actions += 1;
            let part = match time {
                Some(time) => begin.elapsed().as_secs_f64() / time.as_secs_f64(),
                None => actions as f64 / most as f64,
            };
            if part * most_rests as f64 >= (rests.len() + 1) as f64 {
                rests.push(monkey.rest(&run, &folder.path().join("other.toml"), &matrix));
            }
        }
    }));
    panic::set_hook(Box::new(move |info| original(info)));
    let Monkey { frames, slowest, done, used, .. } = monkey;
    println!(
        "monkey: {actions} actions on {} controls, {frames} frames in {:.1?}, the slowest took {slowest:.1?}",
        used.len(),
        begin.elapsed(),
    );
    // The most of each sixth of the time.
    let megabytes = sizes.chunks(sizes.len().div_ceil(6).max(1));
    let megabytes: Vec<_> = megabytes.filter_map(|sizes| sizes.iter().max()).collect();
    let megabytes: Vec<_> = megabytes.into_iter().map(|bytes| bytes >> 20).collect();
    println!("monkey: memory up to {megabytes:?} MB");
    let rests: Vec<u64> = rests.into_iter().flatten().collect();
    let medians = rests.chunks(rests.len().div_ceil(RESTS).max(1)).map(|sixth| {
        let mut sixth = sixth.to_vec();
        sixth.sort_unstable();
        sixth[sixth.len() / 2] >> 20
    });
    println!("monkey: memory at rest {:?} MB", medians.collect::<Vec<_>>());
    let last = format!("seed {seed}; the last actions: {done:#?}");
    let panics = panics.lock().unwrap_or_else(PoisonError::into_inner);
    assert!(went.is_ok() && panics.is_empty(), "panicked: {panics:#?}; {last}");
    if let [first, later @ ..] = rests.as_slice() {
        let after = later.iter().max().unwrap_or(first);
        assert!(
            *after <= first + first / 10 + GROWTH,
            "memory grows: {first} to {after} bytes; seed {seed}"
        );
    }
}
