//! Restores the remembered settings, and writes changes of them.

use crate::app::explorer::Explorer;
use crate::app::explorer::files::JobResult;
use crate::app::explorer::settings::{Settings, VERSION};
use crate::app::panels::memory::MEGABYTE;
use crate::app::state::recent::RecentFiles;
use crate::app::state::scale::Scale;
use crate::run::FieldKind;
use eframe::egui;
use std::path::Path;

/// Seconds between a change and its writing, so that several changes are written once.
const DELAY: f64 = 1.0;

/// Cycles per second of the first run, slow enough to be watched.
const FIRST_PACE: f64 = 30.0;

impl Explorer {
    /// Restores the settings.
    pub(super) fn restore_settings(&mut self, context: &egui::Context) {
        let settings = self.settings_file.latest.clone();
        if let Some(dark) = settings.dark {
            context.set_theme(if dark { egui::Theme::Dark } else { egui::Theme::Light });
        }
        self.panes.arrange(&settings.layout, settings.hidden());
        self.show_student_view(settings.student_view);
        self.draw_at(Scale { wanted: settings.scale, presenting: settings.presenting });
        self.session.memory = settings.memory * MEGABYTE;
        for field in FieldKind::ALL {
            if let Some(&map) = settings.colour_maps.get(field.name()) {
                self.session.view.of_field_mut(field).map = map;
            }
        }
        (self.lessons_done, self.lessons_begun) = (settings.lessons_done, settings.lessons_begun);
        self.recent = RecentFiles::new(settings.recent, settings.folder);
        self.last_saved = settings.figure;
        if let Some(message) = self.settings_file.message.take() {
            self.toasts.warning(message);
        }
        self.welcome = self.settings_file.is_kept() && !settings.welcomed;
        self.waits_for_welcome = self.welcome;
        if self.welcome {
            // The first run waits until the dialog is closed, and is slow enough to be watched.
            (self.session.running, self.session.pace) = (false, Some(FIRST_PACE));
            self.session.view.probes = self.session.first_probes();
        }
    }

    /// Closes the welcome dialog for something else than the run that waits for it, which is not slowed down.
    pub(super) fn end_welcome(&mut self) {
        self.welcome = false;
        if std::mem::take(&mut self.waits_for_welcome) {
            (self.session.running, self.session.pace) = (true, None);
        }
    }

    /// Writes changed settings, after a short delay.
    pub(super) fn save_settings(&mut self, context: &egui::Context) {
        if !self.settings_file.is_kept() {
            return;
        }
        let latest = self.settings(context);
        let time = context.input(|input| input.time);
        let settings_file = &mut self.settings_file;
        settings_file.latest = latest;
        if settings_file.latest == settings_file.written || settings_file.is_writing {
            settings_file.due = None;
            return;
        }
        let due = *settings_file.due.get_or_insert(time + DELAY);
        if time < due {
            context.request_repaint_after_secs((due - time) as f32);
            return;
        }
        let Some(path) = settings_file.path.clone() else {
            return;
        };
        settings_file.due = None;
        settings_file.written = settings_file.latest.clone();
        let settings = settings_file.latest.clone();
        self.settings_file.is_writing = self.files.spawn("tilescope-settings", async move || {
            Ok(JobResult::SettingsSaved(settings.save(&path).map_err(|error| error.to_string())))
        });
    }

    /// Takes the result of writing the settings. A failure is reported once.
    pub(super) fn take_settings_saved(&mut self, written: Result<(), String>) {
        self.settings_file.is_writing = false;
        if let Err(why) = written {
            self.settings_file.path = None;
            self.toasts.warning(format!("Settings cannot be saved: {why}."));
        }
    }

    /// The settings as they are now.
    fn settings(&self, context: &egui::Context) -> Settings {
        let dark = match context.options(|options| options.theme_preference) {
            egui::ThemePreference::Dark => Some(true),
            egui::ThemePreference::Light => Some(false),
            egui::ThemePreference::System => None,
        };
        // Read before the input: both are behind one lock.
        let zoom = context.zoom_factor();
        let (size, is_usual) = context.input(|input| {
            let viewport = input.viewport();
            let is_full = viewport.maximized == Some(true) || viewport.fullscreen == Some(true);
            (input.content_rect().size() * zoom, !is_full)
        });
        let before = &self.settings_file.latest;
        let window = if is_usual { [size.x.round(), size.y.round()] } else { before.window };
        // Those of the reader, while there is a lesson.
        let (panes, view) = match &self.before_lesson {
            Some(before) => (before.own_panes(), &before.view),
            None => {
                let own = self.all_panes.as_ref().or(self.panes_before.as_ref());
                (own.unwrap_or(&self.panes), &self.session.view)
            }
        };
        let map = |field: FieldKind| (field.name().to_owned(), view.of_field(field).map);
        Settings {
            version: VERSION,
            welcomed: before.welcomed || !self.welcome,
            lessons_done: self.lessons_done.clone(),
            lessons_begun: self.lessons_begun.clone(),
            dark,
            window,
            scale: self.scale.wanted,
            presenting: self.scale.presenting,
            student_view: self.session.is_student_view,
            memory: self.session.memory / MEGABYTE,
            hidden: panes.hidden().iter().map(|pane| pane.0.to_owned()).collect(),
            colour_maps: FieldKind::ALL.into_iter().map(map).collect(),
            recent: self.recent.all().to_vec(),
            folder: self.recent.folder().map(Path::to_owned),
            figure: self.last_saved.clone(),
            layout: panes.layout().unwrap_or_default(),
        }
    }
}
