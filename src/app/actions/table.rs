//! Every action, in one table: keys, the palette and the sheet of keys are made from it.

use crate::app::actions::action::Action;
use crate::app::actions::single::*;
use crate::app::actions::{members, steps};
use crate::app::state::address;
use eframe::egui::{Key, KeyboardShortcut};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Every action, and its keys.
pub struct ActionTable {
    /// In the order of the palette and of the sheet.
    pub all: Vec<Action>,
    /// Every key with its action. Those with more modifiers come first: a key alone would take
    /// theirs too.
    pub by_key: Vec<(KeyboardShortcut, Action)>,
    /// The first keys of two.
    pub first_keys: BTreeSet<Key>,
}

impl ActionTable {
    /// The table, with the actions of panes.
    pub fn new(panes: impl Iterator<Item = Action>) -> Self {
        let mut all = vec![RUN, STEP, RESET, SIMULATED_DEVICES, UNDO, REDO];
        all.extend([
            FORWARD_10,
            FORWARD_100,
            BACK,
            BACK_10,
            BACK_100,
            INITIAL_GUESS,
            LIVE,
            PLAY,
            PIN,
            UNPIN_ALL,
            COMPARE,
            FLIP,
        ]);
        all.extend(steps::all());
        all.extend(members::fields());
        all.extend([BORDERS, WHOLE_GRID, NEXT_SLICE, PREVIOUS_SLICE, PROBE]);
        all.extend(members::colouring());
        all.extend(members::cuts());
        all.extend([CLASSIC, CHEBYSHEV, CONJUGATE_GRADIENTS, ASYMPTOTIC_RATE]);
        all.extend(members::curves());
        all.extend(panes);
        all.extend([
            RESET_LAYOUT,
            THEME,
            STUDENT_VIEW,
            PRESENTATION,
            ZOOM_IN,
            ZOOM_OUT,
            RESET_ZOOM,
        ]);
        all.extend([OPEN, SAVE, COPY_COMMAND]);
        all.extend(address::page().map(|_| COPY_LINK));
        all.push(ZERO_GUESS);
        all.push(OPEN_GUESS);
        all.extend(members::problems());
        all.extend(members::experiments());
        all.extend(members::lessons());
        all.extend([TUNING, PALETTE, KEYS, WELCOME, LESSONS]);
        all.extend([NEXT_STEP, PREVIOUS_STEP, LEAVE_LESSON]);
        let each = |action: &Action| {
            let action = *action;
            action.keys.iter().map(move |&key| (key, action))
        };
        let mut by_key: Vec<_> = all.iter().flat_map(each).collect();
        let modifiers = |key: &KeyboardShortcut| {
            let held = key.modifiers;
            [held.alt, held.shift, held.command, held.ctrl].into_iter().filter(|&held| held).count()
        };
        by_key.sort_by_key(|(key, _)| Reverse(modifiers(key)));
        let first_keys = all.iter().filter_map(|action| action.first).collect();
        Self { all, by_key, first_keys }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> ActionTable {
        ActionTable::new(std::iter::empty())
    }

    #[test]
    fn every_action_has_a_name_and_keys_of_its_own() {
        let ActionTable { all, by_key, .. } = table();
        let titles: BTreeSet<_> = all.iter().map(Action::title).collect();
        assert_eq!(titles.len(), all.len());
        for (index, (key, action)) in by_key.iter().enumerate() {
            for (other, another) in &by_key[index + 1..] {
                let is_same = key == other && action.first == another.first;
                assert!(!is_same, "{} and {}", action.title(), another.title());
            }
        }
    }

    #[test]
    fn only_members_of_long_groups_lack_a_key() {
        let ActionTable { all, .. } = table();
        for action in all.iter().filter(|action| action.keys.is_empty()) {
            assert!(action.which >= members::NUMBERS.len(), "{}", action.title());
        }
    }

    #[test]
    fn a_key_that_comes_before_another_does_nothing_by_itself() {
        let ActionTable { by_key, first_keys, .. } = table();
        // A held key is down with any modifiers.
        let flip = FLIP.keys[0].logical_key;
        for (key, action) in by_key.iter().filter(|(_, action)| action.first.is_none()) {
            let begins = key.modifiers.is_none() && first_keys.contains(&key.logical_key);
            let flips = key.logical_key == flip && action.title() != FLIP.title();
            assert!(!begins && !flips, "{}", action.title());
        }
        assert!(!first_keys.contains(&flip));
    }

    #[test]
    fn a_key_with_more_modifiers_comes_first() {
        let ActionTable { by_key, .. } = table();
        let at = |action: &Action| by_key.iter().position(|(_, it)| it.title() == action.title());
        assert!(at(&REDO) < at(&UNDO));
    }
}
