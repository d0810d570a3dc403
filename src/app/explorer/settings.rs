//! What is remembered from one start to the next: a small TOML file in the user's folder of
//! settings.

use crate::app::explorer::Explorer;
use crate::app::explorer::files::Done;
use crate::app::panels::memory::{MEGABYTE, MOST};
use crate::app::panes::{Layout, Pane};
use crate::app::state::scale::Scale;
use crate::app::state::session::Session;
use crate::files::{FileError, read_text, reason, write_atomically};
use crate::picture::ColourMap;
use crate::run::FieldKind;
use eframe::egui;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The version of the file; one with a higher number was written by a newer program.
const VERSION: u32 = 1;

/// Bytes that the file has at the most; it has a thousand or two.
const LONGEST: u64 = 1 << 20;

/// Seconds that a change waits for others to be written with.
const PATIENCE: f64 = 1.0;

/// What is remembered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    version: u32,
    /// Whether the card at first start was seen.
    pub welcomed: bool,
    /// Dark or light; as the system has it where it is left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dark: Option<bool>,
    /// Width and height of the window, in points.
    pub window: [f32; 2],
    /// The scale that is wanted.
    pub scale: f32,
    /// Whether everything is as large as the window has room for.
    pub presenting: bool,
    /// Memory for time travel, in megabytes.
    pub memory: usize,
    /// Panes that are not shown.
    pub hidden: Vec<Pane>,
    /// The colour map of each field, by its name.
    pub colour_maps: BTreeMap<String, ColourMap>,
    /// Where the panes lie.
    pub layout: Layout,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            version: VERSION,
            welcomed: false,
            dark: None,
            window: crate::app::explorer::FIRST_SIZE,
            scale: Scale::default().wanted,
            presenting: false,
            memory: Session::default().memory / MEGABYTE,
            hidden: Pane::hidden_at_first(),
            colour_maps: BTreeMap::new(),
            layout: Layout::usual(),
        }
    }
}

impl Settings {
    /// Reads the file. One that makes no sense is set aside, and the second value says so.
    fn load(path: &Path) -> (Self, Option<String>) {
        if !path.exists() {
            return (Self::default(), None);
        }
        let read = read_text(path, LONGEST).map_err(|error| error.to_string());
        match read.and_then(|text| Self::parse(&text)) {
            Ok(settings) => (settings, None),
            Err(why) => {
                let aside = path.with_extension("toml.aside");
                let where_to = match std::fs::rename(path, &aside) {
                    Ok(()) => format!("it is now {}", aside.display()),
                    Err(error) => format!("it cannot be set aside: {}", reason(&error)),
                };
                let file = path.display();
                let message =
                    format!("The usual settings hold: {file} is of no use ({why}); {where_to}.");
                (Self::default(), Some(message))
            }
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Version {
            version: Option<u32>,
        }
        let told = |error: toml::de::Error| error.message().trim().replace('\n', " ");
        let Version { version } = toml::from_str(text).map_err(told)?;
        if let Some(version) = version.filter(|&version| version > VERSION) {
            return Err(format!("its version is {version}; this program knows up to {VERSION}"));
        }
        let mut settings: Self = toml::from_str(text).map_err(told)?;
        // Numbers that no screen or control has, and arrangements that miss a pane, were not written here.
        let fits = |side: &f32| (100.0..=20_000.0).contains(side);
        if !settings.window.iter().all(fits) {
            settings.window = crate::app::explorer::FIRST_SIZE;
        }
        if !(1.0..=3.0).contains(&settings.scale) {
            settings.scale = Scale::default().wanted;
        }
        if settings.memory > MOST {
            settings.memory = Self::default().memory;
        }
        if !settings.layout.is_whole() {
            settings.layout = Layout::usual();
        }
        Ok(settings)
    }

    fn save(&self, path: &Path) -> Result<(), FileError> {
        let refuse = |cause| FileError::Write { path: path.to_owned(), cause };
        let text = toml::to_string(self).map_err(|error| refuse(std::io::Error::other(error)))?;
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(refuse)?;
        }
        write_atomically(path, |out| out.write_all(text.as_bytes()))
    }
}

/// The settings as they were read, and where they are kept.
#[derive(Debug, Default)]
pub struct Remembered {
    /// Where they are kept; `None` for nowhere.
    path: Option<PathBuf>,
    /// As they are in the file, as far as it is known.
    written: Settings,
    /// As they are now.
    latest: Settings,
    /// When they are to be written, on the clock of the window.
    due: Option<f64>,
    /// Whether they are being written.
    is_writing: bool,
    /// What is to be told of the file.
    message: Option<String>,
}

impl Remembered {
    /// Those of whoever runs the program. Where there is no folder for them, nothing is
    /// remembered.
    pub fn of_user() -> Self {
        use etcetera::BaseStrategy;
        let folders = etcetera::choose_base_strategy().ok();
        let folder = folders.map(|folders| folders.config_dir().join(super::NAME));
        folder.map_or_else(Self::default, |folder| Self::at(folder.join("settings.toml")))
    }

    /// Those in a file.
    pub fn at(path: PathBuf) -> Self {
        let (latest, message) = Settings::load(&path);
        let written = latest.clone();
        Self { path: Some(path), written, latest, message, ..Self::default() }
    }

    /// The size of the window, in points.
    pub fn window(&self) -> [f32; 2] {
        self.latest.window
    }

    /// Whether they are kept anywhere.
    fn is_kept(&self) -> bool {
        self.path.is_some()
    }
}

impl Drop for Remembered {
    /// What was changed last is written when the window is closed. Nobody is there any more to be
    /// told of a failure.
    fn drop(&mut self) {
        if let Some(path) = &self.path
            && self.latest != self.written
        {
            _ = self.latest.save(path);
        }
    }
}

impl Explorer {
    /// Makes the window as it was remembered.
    pub(in crate::app) fn recall(&mut self, context: &egui::Context) {
        let settings = self.remembered.latest.clone();
        if let Some(dark) = settings.dark {
            context.set_theme(if dark { egui::Theme::Dark } else { egui::Theme::Light });
        }
        self.panes.arrange(&settings.layout, &settings.hidden);
        self.draw_at(Scale { wanted: settings.scale, presenting: settings.presenting });
        self.session.memory = settings.memory * MEGABYTE;
        for field in FieldKind::ALL {
            if let Some(&map) = settings.colour_maps.get(field.name()) {
                self.session.look.of_field_mut(field).map = map;
            }
        }
        if let Some(message) = self.remembered.message.take() {
            self.toasts.warning(message);
        }
        self.welcome = self.remembered.is_kept() && !settings.welcomed;
    }

    /// Writes what has changed, a moment after it has.
    pub(in crate::app) fn remember(&mut self, context: &egui::Context) {
        if !self.remembered.is_kept() {
            return;
        }
        let latest = self.settings(context);
        let time = context.input(|input| input.time);
        let remembered = &mut self.remembered;
        remembered.latest = latest;
        if remembered.latest == remembered.written || remembered.is_writing {
            remembered.due = None;
            return;
        }
        let due = *remembered.due.get_or_insert(time + PATIENCE);
        if time < due {
            context.request_repaint_after_secs((due - time) as f32);
            return;
        }
        let Some(path) = remembered.path.clone() else {
            return;
        };
        remembered.due = None;
        remembered.written = remembered.latest.clone();
        let settings = remembered.latest.clone();
        self.remembered.is_writing = self.files.work("tilescope-settings", move || {
            Ok(Done::Remembered(settings.save(&path).map_err(|error| error.to_string())))
        });
    }

    /// Takes in whether the settings were written. Where they cannot be, that is told once.
    pub(in crate::app) fn take_remembered(&mut self, written: Result<(), String>) {
        self.remembered.is_writing = false;
        if let Err(why) = written {
            self.remembered.path = None;
            self.toasts.warning(format!("Settings are not remembered: {why}."));
        }
    }

    /// The settings as they are now.
    fn settings(&self, context: &egui::Context) -> Settings {
        let dark = match context.options(|options| options.theme_preference) {
            egui::ThemePreference::Dark => Some(true),
            egui::ThemePreference::Light => Some(false),
            egui::ThemePreference::System => None,
        };
        // Before the input is looked at: both are behind one lock.
        let zoom = context.zoom_factor();
        let (size, is_usual) = context.input(|input| {
            let viewport = input.viewport();
            let is_full = viewport.maximized == Some(true) || viewport.fullscreen == Some(true);
            (input.content_rect().size() * zoom, !is_full)
        });
        let before = &self.remembered.latest;
        let window = if is_usual { [size.x.round(), size.y.round()] } else { before.window };
        let panes = self.aside.as_ref().unwrap_or(&self.panes);
        let map =
            |field: FieldKind| (field.name().to_owned(), self.session.look.of_field(field).map);
        Settings {
            version: VERSION,
            welcomed: before.welcomed || !self.welcome,
            dark,
            window,
            scale: self.scale.wanted,
            presenting: self.scale.presenting,
            memory: self.session.memory / MEGABYTE,
            hidden: Pane::ALL.into_iter().filter(|&pane| !panes.is_wanted(pane)).collect(),
            colour_maps: FieldKind::ALL.into_iter().map(map).collect(),
            layout: panes.layout().unwrap_or_else(Layout::usual),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/b/settings.toml");
        let settings = Settings {
            welcomed: true,
            dark: Some(false),
            window: [1000.0, 700.0],
            scale: 1.5,
            presenting: true,
            memory: 64,
            hidden: vec![Pane::Cut],
            colour_maps: BTreeMap::from([("residual".to_owned(), ColourMap::Cividis)]),
            ..Settings::default()
        };
        settings.save(&path).unwrap();
        assert_eq!(Settings::load(&path), (settings, None));
    }

    #[test]
    fn what_makes_no_sense_is_set_aside_and_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.toml");
        for (text, why) in [
            ("version = 2\n", "its version is 2"),
            ("window = \"wide\"\n", "invalid type"),
            ("colour = 3\n", "unknown field"),
            ("[[[", ""),
        ] {
            std::fs::write(&path, text).unwrap();
            let (settings, message) = Settings::load(&path);
            assert_eq!(settings, Settings::default());
            let message = message.unwrap();
            assert!(message.contains(why) && message.contains("toml.aside"), "{message}");
            assert!(!path.exists());
            assert_eq!(std::fs::read_to_string(path.with_extension("toml.aside")).unwrap(), text);
        }
        assert_eq!(Settings::load(&path), (Settings::default(), None));
    }

    #[test]
    fn sizes_that_nobody_can_choose_are_left_out() {
        let text = "window = [0.0, 1e30]\nscale = 40.0\nmemory = 99999999999\nwelcomed = true\n";
        let settings = Settings::parse(text).unwrap();
        assert_eq!(settings, Settings { welcomed: true, ..Settings::default() });
    }
}
