//! All that can be asked for by name, in one table: keys, the keys that tooltips tell, the palette
//! and the sheet of keys are made from it.

mod alone;
mod members;
mod steps;

use crate::app::explorer::Explorer;
use crate::app::state::command::Command;
use crate::app::state::view_settings::ViewSettings;
use crate::app::widgets::labels::named;
pub use alone::*;
use eframe::egui::{self, Button, Key, KeyboardShortcut, Modifiers, Ui};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Something that can be asked for.
#[derive(Clone, Copy)]
pub struct Action {
    /// What it belongs to.
    pub group: &'static str,
    /// What it is called within that.
    pub name: &'static str,
    /// What it does, in one sentence.
    pub about: &'static str,
    /// Any of these asks for it.
    pub keys: &'static [KeyboardShortcut],
    /// The key that is pressed before any of those, where one is not enough.
    pub first: Option<Key>,
    /// Which of several that differ in a number alone.
    which: usize,
    /// What it asks for now; `None` while that is not possible.
    command: fn(&Explorer, usize) -> Option<Command>,
}

impl Action {
    /// What it asks for now; `None` while that is not possible.
    pub fn command(&self, explorer: &Explorer) -> Option<Command> {
        (self.command)(explorer, self.which)
    }

    /// Its name with that of its group.
    pub fn title(&self) -> String {
        format!("{}: {}", self.group, self.name)
    }

    /// The ways to press its keys: `Ctrl+Z`, `M then 2`.
    pub fn strokes(&self, context: &egui::Context) -> Vec<String> {
        let stroke = |key| {
            let last = context.format_shortcut(key);
            self.first.map_or_else(|| last.clone(), |first| format!("{} then {last}", first.name()))
        };
        self.keys.iter().map(stroke).collect()
    }

    /// The first way to press its keys.
    pub fn key(&self, context: &egui::Context) -> String {
        self.strokes(context).into_iter().next().unwrap_or_default()
    }

    /// What it does and by which key, for a tooltip.
    pub fn tooltip(&self, context: &egui::Context) -> String {
        format!("{} ({})", self.about, self.key(context))
    }
}

const fn plain(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::NONE, key)
}

const fn shift(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::SHIFT, key)
}

const fn command(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND, key)
}

const fn command_shift(key: Key) -> KeyboardShortcut {
    KeyboardShortcut::new(Modifiers::COMMAND.plus(Modifiers::SHIFT), key)
}

/// An action to be filled in.
const BLANK: Action = Action {
    group: "",
    name: "",
    about: "",
    keys: &[],
    first: None,
    which: 0,
    command: |_, _| None,
};

/// Every action, in the order of the palette and of the sheet.
pub static ALL: LazyLock<Vec<Action>> = LazyLock::new(|| {
    let mut all = vec![RUN, STEP, RESET, UNDO, REDO];
    all.extend([FORTH_10, FORTH_100, BACK, BACK_10, BACK_100, START, LIVE, PLAY, PIN, FLIP]);
    all.extend(steps::all());
    all.extend(members::fields());
    all.extend([BORDERS, WHOLE_GRID, PROBE]);
    all.extend(members::colouring());
    all.extend(members::cuts());
    all.push(CLASSIC);
    all.extend(members::curves());
    all.extend(members::panes());
    all.extend([ARRANGE, THEME, PRESENT, LARGER, SMALLER, USUAL_SIZE]);
    all.extend([OPEN, SAVE, COPY_COMMAND]);
    all.extend(members::problems());
    all.extend(members::experiments());
    all.extend([TUNING, PALETTE, KEYS, WELCOME]);
    all
});

/// Every key with its action. Those with more modifiers come first: a key alone would take
/// theirs too.
pub static BY_KEY: LazyLock<Vec<(KeyboardShortcut, Action)>> = LazyLock::new(|| {
    let each = |action: &Action| {
        let action = *action;
        action.keys.iter().map(move |&key| (key, action))
    };
    let mut keys: Vec<_> = ALL.iter().flat_map(each).collect();
    let modifiers = |key: &KeyboardShortcut| {
        let held = key.modifiers;
        [held.alt, held.shift, held.command, held.ctrl].into_iter().filter(|&held| held).count()
    };
    keys.sort_by_key(|(key, _)| std::cmp::Reverse(modifiers(key)));
    keys
});

/// The keys that are pressed before another.
pub static FIRST_KEYS: LazyLock<BTreeSet<Key>> =
    LazyLock::new(|| ALL.iter().filter_map(|action| action.first).collect());

/// What a menu of a group's actions is for, and by which keys they are asked for, for a tooltip.
pub fn menu_tooltip(group: &str, about: &str) -> String {
    let first = ALL.iter().find(|action| action.group == group).and_then(|action| action.first);
    let first = first.map_or_else(String::new, |key| format!("{} then ", key.name()));
    format!("{about} ({first}1, 2 …)")
}

/// The command that changes what is looked at.
fn looked(explorer: &Explorer, change: impl FnOnce(&mut ViewSettings)) -> Option<Command> {
    let mut look = explorer.session.look.clone();
    change(&mut look);
    (look != explorer.session.look).then_some(Command::Look(look))
}

/// An entry of a menu, which asks for something and closes it.
pub fn entry(ui: &mut Ui, action: &Action, command: Command, commands: &mut Vec<Command>) {
    let button = Button::new(action.name).shortcut_text(action.key(ui.ctx()));
    let button = named(ui.add(button), action.name);
    if button.on_hover_text(action.tooltip(ui.ctx())).clicked() {
        commands.push(command);
        ui.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_action_has_a_name_and_a_key_of_its_own() {
        let titles: BTreeSet<_> = ALL.iter().map(Action::title).collect();
        assert_eq!(titles.len(), ALL.len());
        for action in ALL.iter() {
            assert!(!action.keys.is_empty(), "{}", action.title());
        }
        for (index, (key, action)) in BY_KEY.iter().enumerate() {
            for (other, another) in &BY_KEY[index + 1..] {
                let is_same = key == other && action.first == another.first;
                assert!(!is_same, "{} and {}", action.title(), another.title());
            }
        }
    }

    #[test]
    fn a_key_that_comes_before_another_asks_for_nothing_by_itself() {
        // A key that is held is down whatever is held with it.
        let flip = FLIP.keys[0].logical_key;
        for (key, action) in BY_KEY.iter().filter(|(_, action)| action.first.is_none()) {
            let begins = key.modifiers.is_none() && FIRST_KEYS.contains(&key.logical_key);
            let flips = key.logical_key == flip && action.title() != FLIP.title();
            assert!(!begins && !flips, "{}", action.title());
        }
        assert!(!FIRST_KEYS.contains(&flip));
    }

    #[test]
    fn a_key_with_more_modifiers_is_asked_for_first() {
        let at = |action: &Action| BY_KEY.iter().position(|(_, it)| it.title() == action.title());
        assert!(at(&REDO) < at(&UNDO));
    }
}
