//! Messages over the bottom of the map, which disappear after a while.

use crate::app::state::command::Command;
use crate::app::widgets::labels::named;
use crate::app::widgets::theme;
use eframe::egui::{self, Align2, Color32, Frame, Id, Label, Order, Rect, Ui, Visuals, accesskit};

/// Seconds that any message stays, and those per character to read.
const SHORTEST: f64 = 4.0;
const PER_CHARACTER: f64 = 0.06;

/// Width of a line of a message, in points.
const WIDTH: f32 = 420.0;

/// Width that a message takes beside its text: icon, button and frame.
const DECORATION: f32 = 70.0;

/// Width of the button that offers a remedy.
const REMEDY: f32 = 160.0;

/// Size of the icon, in points.
const ICON: f32 = 14.0;

/// Distance from the edges of the map.
const INSET: f32 = 8.0;

/// Messages shown at once; the oldest are dropped.
const MAX_SHOWN: usize = 4;

/// The messages that are shown.
#[derive(Default)]
pub struct Toasts {
    toasts: Vec<Toast>,
    /// The run that messages are about, by its epoch, while its report is read.
    run: Option<u64>,
}

struct Toast {
    kind: Severity,
    text: String,
    /// The epoch of the run that it is about, if any.
    run: Option<u64>,
    /// The label and the command of the remedy, if any.
    remedy: Option<(&'static str, Command)>,
    /// Seconds that it is shown.
    stays: f64,
    /// When it disappears, in the window's time; `None` before it was drawn.
    until: Option<f64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Severity {
    Success,
    Info,
    Warning,
    Error,
}

impl Toasts {
    /// Reports a success.
    pub fn success(&mut self, text: impl Into<String>) {
        self.add(Severity::Success, text.into(), None);
    }

    /// Reports some information.
    pub fn info(&mut self, text: impl Into<String>) {
        self.add(Severity::Info, text.into(), None);
    }

    /// Reports a warning.
    pub fn warning(&mut self, text: impl Into<String>) {
        self.add(Severity::Warning, text.into(), None);
    }

    /// Reports an error.
    pub fn error(&mut self, text: impl Into<String>) {
        self.add(Severity::Error, text.into(), None);
    }

    /// Reports some information, with a button for what may follow.
    pub fn info_with(&mut self, text: impl Into<String>, next: Option<(&'static str, Command)>) {
        self.add(Severity::Info, text.into(), next);
    }

    /// Reports an error, with a button for a remedy.
    pub fn error_with(&mut self, text: impl Into<String>, remedy: Option<(&'static str, Command)>) {
        self.add(Severity::Error, text.into(), remedy);
    }

    /// The following messages concern the run with this epoch.
    pub fn set_run(&mut self, run: Option<u64>) {
        self.run = run;
    }

    /// Reports what concerns the run with this epoch only: it is dropped when another run replaces that one.
    pub fn of_run(&mut self, epoch: u64, report: impl FnOnce(&mut Self)) {
        let before = self.run.replace(epoch);
        report(self);
        self.run = before;
    }

    /// Drops the messages that concern other runs than the one with this epoch.
    pub fn retain_run(&mut self, epoch: u64) {
        self.toasts.retain(|toast| toast.run.is_none_or(|run| run == epoch));
    }

    fn add(&mut self, kind: Severity, text: String, remedy: Option<(&'static str, Command)>) {
        // A repeated message is shown once, for longer.
        self.toasts.retain(|toast| toast.text != text);
        if self.toasts.len() >= MAX_SHOWN {
            self.toasts.remove(0);
        }
        let stays = SHORTEST + PER_CHARACTER * text.chars().count() as f64;
        let run = self.run;
        self.toasts.push(Toast { kind, text, run, remedy, stays, until: None });
    }

    /// Draws the messages over `map`, and returns the commands of pressed buttons.
    pub fn show(&mut self, context: &egui::Context, map: Rect) -> Option<Command> {
        if self.toasts.is_empty() {
            return None;
        }
        let mut asked = None;
        let area = egui::Area::new(Id::unique("messages"))
            .order(Order::Foreground)
            .pivot(Align2::LEFT_BOTTOM)
            .fixed_pos(map.left_bottom() + egui::vec2(INSET, -INSET))
            .show(context, |ui| {
                let width = WIDTH.min(map.width() - DECORATION - 2.0 * INSET);
                self.toasts.retain(|toast| !toast.ui(ui, width, &mut asked));
            });
        let now = context.input(|input| input.time);
        // While the pointer is on the messages, their time is extended.
        let is_read = area.response.contains_pointer();
        for toast in &mut self.toasts {
            if is_read || toast.until.is_none() {
                toast.until = Some(now + toast.stays);
            }
        }
        self.toasts.retain(|toast| toast.until.is_none_or(|until| now < until));
        if let Some(next) = self.toasts.iter().filter_map(|toast| toast.until).reduce(f64::min) {
            context.request_repaint_after_secs((next - now) as f32);
        }
        asked
    }
}

impl Toast {
    /// Draws the message with lines of that width, and returns whether it was dismissed, or its
    /// button pressed.
    fn ui(&self, ui: &mut Ui, width: f32, asked: &mut Option<Command>) -> bool {
        let frame = Frame::popup(ui.style()).inner_margin(egui::Margin::symmetric(12, 8));
        let width = if self.remedy.is_some() { width - REMEDY } else { width };
        let dismissed = frame.show(ui, |ui| {
            ui.horizontal(|ui| {
                let (sign, colour) = self.kind.mark(ui.visuals());
                let room = egui::Vec2::splat(ICON);
                let (place, _) = ui.allocate_exact_size(room, egui::Sense::hover());
                let font = egui::FontId::proportional(ICON);
                ui.painter().text(place.center(), Align2::CENTER_CENTER, sign, font, colour);
                let font = egui::TextStyle::Body.resolve(ui.style());
                let text = ui.fonts_mut(|fonts| {
                    fonts.layout(self.text.clone(), font, ui.visuals().text_color(), width)
                });
                let said = ui.add(Label::new(text).selectable(true));
                _ = ui.ctx().accesskit_node_builder(said.id, |node| {
                    // Screen readers announce it without moving the focus.
                    node.set_live(accesskit::Live::Polite);
                });
                if let Some((name, command)) = &self.remedy
                    && ui.button(*name).clicked()
                {
                    *asked = Some(command.clone());
                }
                let button = egui::Button::new("×").frame(false);
                named(ui.add(button), "Dismiss").on_hover_text("Dismiss").clicked()
            })
            .inner
        });
        ui.add_space(theme::GAP - ui.spacing().item_spacing.y);
        dismissed.inner || self.remedy.is_some() && asked.is_some()
    }
}

impl Severity {
    /// The icon and the colour. The icon alone suffices for those who do not see colours.
    fn mark(self, visuals: &Visuals) -> (&'static str, Color32) {
        match self {
            Self::Success => ("✓", Color32::from_rgb(62, 160, 96)),
            Self::Info => ("i", visuals.hyperlink_color),
            Self::Warning => ("!", visuals.warn_fg_color),
            Self::Error => ("⚠", visuals.error_fg_color),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_messages_are_shown_once_and_the_oldest_are_dropped() {
        let mut toasts = Toasts::default();
        for number in 0..2 * MAX_SHOWN {
            toasts.info(format!("message {number}"));
            toasts.error("the same");
        }
        assert_eq!(toasts.toasts.len(), MAX_SHOWN);
        assert_eq!(toasts.toasts.iter().filter(|toast| toast.text == "the same").count(), 1);
    }

    #[test]
    fn messages_about_a_run_leave_with_it() {
        let mut toasts = Toasts::default();
        toasts.of_run(3, |toasts| toasts.error("k is 0"));
        toasts.success("Saved a.png");
        let texts = |toasts: &Toasts| {
            toasts.toasts.iter().map(|toast| toast.text.clone()).collect::<Vec<_>>()
        };
        toasts.retain_run(3);
        assert_eq!(texts(&toasts), ["k is 0", "Saved a.png"]);
        toasts.retain_run(4);
        assert_eq!(texts(&toasts), ["Saved a.png"]);
    }

    #[test]
    fn messages_disappear_the_long_ones_later() {
        let (mut toasts, context) = (Toasts::default(), egui::Context::default());
        toasts.info("short");
        toasts.error("a sentence that takes its time to be read ".repeat(4));
        let mut shown = Vec::new();
        for frame in 0..30 {
            let input = egui::RawInput { time: Some(f64::from(frame)), ..Default::default() };
            let show = |ui: &mut egui::Ui| _ = toasts.show(ui.ctx(), ui.max_rect());
            context.run_ui(input, show).textures_delta.clear();
            shown.push(toasts.toasts.len());
        }
        assert_eq!(shown.first(), Some(&2));
        assert!(shown.contains(&1), "{shown:?}");
        assert_eq!(shown.last(), Some(&0));
    }
}
