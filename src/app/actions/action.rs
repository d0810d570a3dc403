//! Actions, and the state that they depend on.

use crate::app::state::command::Command;
use crate::app::state::pane_id::PaneId;
use crate::app::state::scale::Scale;
use crate::app::state::session::Session;
use crate::app::state::undo::Undo;
use crate::app::state::view_settings::ViewSettings;
use crate::grid::GridPoint;
use crate::run::Report;
use eframe::egui::{self, Key, KeyboardShortcut, Modifiers};
use std::collections::BTreeSet;

/// Something that can be done by name or key.
#[derive(Clone, Copy)]
pub struct Action {
    /// The group that it belongs to.
    pub group: &'static str,
    /// Its name within the group.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// Alternative keys; may be empty.
    pub keys: &'static [KeyboardShortcut],
    /// The key to press before any of these.
    pub first: Option<Key>,
    /// The index among actions that differ in it alone.
    pub which: usize,
    /// The command for the current state; `None` while the action is not available.
    pub command: fn(&ActionContext<'_>, usize) -> Option<Command>,
    /// Why it is not available, in one sentence, where more can be said than that.
    pub why_not: fn(&ActionContext<'_>, usize) -> Option<&'static str>,
}

impl Action {
    /// The command for the current state; `None` while the action is not available.
    pub fn command(&self, context: &ActionContext<'_>) -> Option<Command> {
        (self.command)(context, self.which)
    }

    /// Why the action is not available, in one sentence.
    pub fn why_not(&self, context: &ActionContext<'_>) -> &'static str {
        (self.why_not)(context, self.which).unwrap_or("Not available now.")
    }

    /// The names of its group and of itself.
    pub fn title(&self) -> String {
        format!("{}: {}", self.group, self.name)
    }

    /// The ways to press its keys: `Ctrl+Z`, `M then 2`.
    pub fn strokes(&self, context: &egui::Context) -> Vec<String> {
        let stroke = |key| {
            let last = with_sign(context.format_shortcut(key), key.logical_key);
            self.first.map_or_else(|| last.clone(), |first| format!("{} then {last}", first.name()))
        };
        self.keys.iter().map(stroke).collect()
    }

    /// The first way to press its keys.
    pub fn key(&self, context: &egui::Context) -> String {
        self.strokes(context).into_iter().next().unwrap_or_default()
    }

    /// Its description and its key, for a tooltip.
    pub fn tooltip(&self, context: &egui::Context) -> String {
        match self.key(context) {
            key if key.is_empty() => self.about.to_owned(),
            key => format!("{} ({key})", self.about),
        }
    }
}

/// The state that actions depend on.
pub struct ActionContext<'a> {
    pub session: &'a Session,
    pub report: Option<&'a Report>,
    pub undo: &'a Undo,
    /// Panes that are hidden.
    pub hidden: &'a BTreeSet<PaneId>,
    /// The point of the grid under the cursor.
    pub pointed_at: Option<GridPoint>,
    /// Whether the tuning map is shown.
    pub is_tuning: bool,
    pub scale: Scale,
    pub window: &'a egui::Context,
}

impl ActionContext<'_> {
    /// The newest cycle of the run.
    pub fn latest(&self) -> u64 {
        self.report.map_or(0, |report| report.latest.cycle)
    }

    /// Shows a later cycle; at the newest one, makes more.
    pub fn forward(&self, cycles: u64) -> Option<Command> {
        let (travel, latest) = (self.session.travel, self.latest());
        match travel.earlier(latest) {
            None => self.can_continue().then_some(Command::Step(cycles)),
            Some(here) => Some(Command::Travel(travel.to(here.saturating_add(cycles), latest))),
        }
    }

    /// Shows an earlier cycle.
    pub fn back(&self, cycles: u64) -> Option<Command> {
        let (travel, latest) = (self.session.travel, self.latest());
        let here = travel.cycle(latest);
        (here > 0).then(|| Command::Travel(travel.to(here.saturating_sub(cycles), latest)))
    }

    /// Whether the run can continue. One that has ended can neither run nor pause.
    pub fn can_continue(&self) -> bool {
        !self.session.is_finished(self.report)
    }
}

/// A key as it is written on keyboards: `→` for the right arrow, `?` for the question mark.
fn with_sign(stroke: String, key: Key) -> String {
    let sign = match key {
        Key::ArrowLeft => "←",
        Key::ArrowRight => "→",
        Key::ArrowUp => "↑",
        Key::ArrowDown => "↓",
        Key::Questionmark => "?",
        Key::Plus => "+",
        Key::Minus => "−",
        Key::Equals => "=",
        _ => return stroke,
    };
    let names = [key.name(), key.symbol_or_name()];
    let before = names.iter().find_map(|name| stroke.strip_suffix(name));
    before.map(|before| format!("{before}{sign}")).unwrap_or(stroke)
}

pub const fn plain(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::NONE, key)
}

pub const fn shift(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::SHIFT, key)
}

pub const fn command(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND, key)
}

pub const fn command_shift(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), key)
}

/// Default values of an action.
pub const BLANK: Action = Action {
    group: "",
    name: "",
    about: "",
    keys: &[],
    first: None,
    which: 0,
    command: |_, _| None,
    why_not: |_, _| None,
};

/// The command that changes the view; `None` if it stays the same.
pub fn changed_view(
    context: &ActionContext<'_>,
    change: impl FnOnce(&mut ViewSettings),
) -> Option<Command> {
    let mut view = context.session.view.clone();
    change(&mut view);
    (view != context.session.view).then_some(Command::SetView(view))
}
