//! The settings that are saved: a small TOML file in the user's configuration folder.

use crate::app::panels::memory::{MEGABYTE, max_megabytes};
use crate::app::panes::{Layout, list};
use crate::app::state::pane_id::PaneId;
use crate::app::state::save::SavedFigure;
use crate::app::state::scale::Scale;
use crate::app::state::session::Session;
use crate::files::{self, FileError, create_folder, read_text, rename, write_atomically};
use crate::picture::ColourMap;
use crate::run::{FieldKind, toml_message};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

/// The name of the application, also for the window manager.
pub const NAME: &str = "tilescope";

/// The size of the window at first start, in points.
const FIRST_SIZE: [f32; 2] = [1280.0, 800.0];

/// The version of the file; one with a higher number was written by a newer program.
pub const VERSION: u32 = 1;

/// Largest size of the file, in bytes; it usually has about two thousand.
const LONGEST: u64 = 1 << 20;

/// The saved settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Settings {
    pub version: u32,
    /// Whether the welcome dialog was seen.
    pub welcomed: bool,
    /// The names of lessons that were read to their end.
    pub lessons_done: BTreeSet<String>,
    /// The steps, from 0, at which other lessons were left.
    pub lessons_begun: BTreeMap<String, usize>,
    /// Whether the theme is dark; that of the system if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dark: Option<bool>,
    /// Width and height of the window, in points.
    pub window: [f32; 2],
    /// The zoom factor.
    pub scale: f32,
    /// Whether the presentation mode is on.
    pub presenting: bool,
    /// Whether the student view is on.
    pub student_view: bool,
    /// Memory for time travel, in megabytes.
    pub memory: usize,
    /// The names of panes that are not shown.
    pub hidden: BTreeSet<String>,
    /// The colour map of each field, by its name.
    pub colour_maps: BTreeMap<String, ColourMap>,
    /// The files that were opened or saved last, the newest first.
    pub recent: Vec<PathBuf>,
    /// The folder of the file that was opened or saved last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// The style of the figure that was saved last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub figure: Option<SavedFigure>,
    /// The current layout.
    pub layout: Layout,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            version: VERSION,
            welcomed: false,
            lessons_done: BTreeSet::new(),
            lessons_begun: BTreeMap::new(),
            dark: None,
            window: FIRST_SIZE,
            scale: Scale::default().wanted,
            presenting: false,
            student_view: false,
            memory: Session::default().memory / MEGABYTE,
            hidden: list::hidden_at_first().map(|pane| pane.0.to_owned()).collect(),
            colour_maps: BTreeMap::new(),
            recent: Vec::new(),
            folder: None,
            figure: None,
            layout: Layout::default(),
        }
    }
}

impl Settings {
    /// Reads the file. An invalid one is renamed, and the second value is a message about that.
    fn load(path: &Path) -> (Self, Option<String>) {
        if !files::exists(path) {
            return (Self::default(), None);
        }
        let read = read_text(path, LONGEST).map_err(|error| error.to_string());
        match read.and_then(|text| Self::parse(&text)) {
            Ok(settings) => (settings, None),
            Err(why) => {
                let panes_before = path.with_extension("toml.aside");
                let where_to = match rename(path, &panes_before) {
                    Ok(()) => format!("it was moved to {}", panes_before.display()),
                    Err(error) => format!("{error}, so settings are not saved"),
                };
                let file = path.display();
                let message = format!(
                    "Default settings are used: {file} cannot be read ({why}); {where_to}."
                );
                (Self::default(), Some(message))
            }
        }
    }

    /// The panes that are hidden.
    pub fn hidden(&self) -> impl Iterator<Item = PaneId> {
        self.hidden.iter().filter_map(|name| list::of_name(name))
    }

    fn parse(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct Version {
            version: Option<u32>,
        }
        let message = |error: toml::de::Error| toml_message(&error).trim().replace('\n', " ");
        let Version { version } = toml::from_str(text).map_err(message)?;
        if let Some(version) = version.filter(|&version| version > VERSION) {
            return Err(format!("its version is {version}; this program knows up to {VERSION}"));
        }
        let mut settings: Self = toml::from_str(text).map_err(message)?;
        // Values that no screen or control has are replaced by defaults, or by the largest.
        let fits = |side: &f32| (100.0..=20_000.0).contains(side);
        if !settings.window.iter().all(fits) {
            settings.window = FIRST_SIZE;
        }
        if !(1.0..=3.0).contains(&settings.scale) {
            settings.scale = Scale::default().wanted;
        }
        settings.memory = settings.memory.min(max_megabytes());
        settings.figure.take_if(|figure| !figure.is_valid());
        // The field was called so before.
        if let Some(map) = settings.colour_maps.remove("change") {
            settings.colour_maps.entry(FieldKind::Change.name().to_owned()).or_insert(map);
        }
        // Panes that this program does not know are dropped; those that the file lacks are hidden.
        let appended = settings.layout.complete();
        let hidden = settings.hidden.iter().filter_map(|name| list::of_name(name));
        let hidden: BTreeSet<_> = hidden.chain(appended).collect();
        settings.hidden = hidden.into_iter().map(|pane| pane.0.to_owned()).collect();
        Ok(settings)
    }

    pub fn save(&self, path: &Path) -> Result<(), FileError> {
        let refuse = |cause| FileError::Write { path: path.to_owned(), cause };
        let text = toml::to_string(self).map_err(|error| refuse(std::io::Error::other(error)))?;
        if let Some(folder) = path.parent() {
            create_folder(folder)?;
        }
        write_atomically(path, |out| out.write_all(text.as_bytes()))
    }
}

/// The settings, and where they are saved.
#[derive(Debug, Default)]
pub struct SettingsFile {
    /// The file; `None` if settings are not saved.
    pub(super) path: Option<PathBuf>,
    /// As last read from or written to the file.
    pub(super) written: Settings,
    /// The current settings.
    pub(super) latest: Settings,
    /// When to write them, in the window's time.
    pub(super) due: Option<f64>,
    /// Whether they are being written.
    pub(super) is_writing: bool,
    /// A message about the file.
    pub(super) message: Option<String>,
}

impl SettingsFile {
    /// The settings of the current user. Without a configuration folder, nothing is saved.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn of_user() -> Self {
        use etcetera::BaseStrategy;
        let folders = etcetera::choose_base_strategy().ok();
        let folder = folders.map(|folders| folders.config_dir().join(NAME));
        folder.map_or_else(Self::default, |folder| Self::at(folder.join("settings.toml")))
    }

    /// The settings that the browser keeps for the page.
    #[cfg(target_arch = "wasm32")]
    pub fn of_user() -> Self {
        Self::at(Path::new(files::KEPT).join(NAME).join("settings.toml"))
    }

    /// The settings in a file.
    pub fn at(path: PathBuf) -> Self {
        let (latest, message) = Settings::load(&path);
        let written = latest.clone();
        // An invalid file that could not be renamed stays as it is.
        let is_lost = message.is_some() && files::exists(&path);
        Self { path: (!is_lost).then_some(path), written, latest, message, ..Self::default() }
    }

    /// The size of the window, in points.
    pub fn window(&self) -> [f32; 2] {
        self.latest.window
    }

    /// Whether they are saved.
    pub(super) fn is_kept(&self) -> bool {
        self.path.is_some()
    }
}

impl Drop for SettingsFile {
    /// Writes the last changes when the window is closed. A failure can no longer be shown.
    fn drop(&mut self) {
        if let Some(path) = &self.path
            && self.latest != self.written
        {
            _ = self.latest.save(path);
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
            lessons_done: BTreeSet::from(["overlap".to_owned()]),
            lessons_begun: BTreeMap::from([("matrix".to_owned(), 2)]),
            dark: Some(false),
            window: [1000.0, 700.0],
            scale: 1.5,
            presenting: true,
            student_view: true,
            memory: 64,
            hidden: BTreeSet::from(["profile".to_owned()]),
            colour_maps: BTreeMap::from([("residual".to_owned(), ColourMap::Cividis)]),
            recent: vec!["/figures/a.svg".into()],
            folder: Some("/figures".into()),
            ..Settings::default()
        };
        settings.save(&path).unwrap();
        assert_eq!(Settings::load(&path), (settings, None));
    }

    #[test]
    fn an_invalid_file_is_renamed_and_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.toml");
        for (text, why) in [
            ("version = 2\n", "its version is 2"),
            ("window = \"wide\"\n", "it must be a list of 2 values"),
            ("colour = 3\n", "there is no key colour"),
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
    fn an_invalid_file_that_cannot_be_renamed_is_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.toml");
        std::fs::write(&path, "version = 2\n").unwrap();
        std::fs::create_dir(path.with_extension("toml.aside")).unwrap();
        let mut settings = SettingsFile::at(path.clone());
        assert!(settings.message.take().unwrap().ends_with("so settings are not saved."));
        settings.latest.dark = Some(true);
        drop(settings);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "version = 2\n");
    }

    #[test]
    fn sizes_that_cannot_be_chosen_are_replaced() {
        let text = "window = [0.0, 1e30]\nscale = 40.0\nmemory = 99999999999\nwelcomed = true\n";
        let settings = Settings::parse(text).unwrap();
        let memory = max_megabytes();
        assert_eq!(settings, Settings { welcomed: true, memory, ..Settings::default() });
    }

    #[test]
    fn the_colour_map_of_a_field_with_an_older_name_is_kept() {
        let settings = Settings::parse("[colour-maps]\nchange = \"cividis\"\n").unwrap();
        let kept = BTreeMap::from([("update".to_owned(), ColourMap::Cividis)]);
        assert_eq!(settings.colour_maps, kept);
    }

    #[test]
    fn a_layout_of_another_version_keeps_what_is_known_and_hides_what_is_new() {
        let text = "hidden = [\"cut\", \"later\"]\n[[layout.across]]\nshare = 1.0\nholds = { pane = \"heat-map\" }\n[[layout.across]]\nshare = 2.0\nholds = { tabs = [1, [{ pane = \"later\" }, { pane = \"cut\" }]] }\n";
        let settings = Settings::parse(text).unwrap();
        let hidden: BTreeSet<_> = settings.hidden().collect();
        assert!(hidden.contains(&PaneId("profile")) && !hidden.contains(&PaneId("heat-map")));
        assert_eq!(hidden.len(), list::ALL.len() - 1);
        let Layout::Across(parts) = settings.layout else { panic!("the layout is lost") };
        let Layout::Across(kept) = &parts[0].holds else { panic!("what was saved is lost") };
        assert_eq!(kept[0].holds, Layout::Pane("heat-map".to_owned()));
        assert_eq!(kept[1].holds, Layout::Pane("profile".to_owned()));
    }
}
