//! Undo and redo of settings.

use crate::app::state::session::Session;
use crate::app::state::view_settings::ViewSettings;
use crate::run::RunSpec;
use eframe::egui;
use std::sync::Arc;

/// Steps that can be undone; older ones are dropped.
const MOST: usize = 200;

/// The settings: the run and its view.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    pub spec: Arc<RunSpec>,
    pub look: ViewSettings,
}

impl Choice {
    fn of(session: &Session) -> Self {
        Self { spec: Arc::clone(&session.spec), look: session.look.clone() }
    }
}

/// Settings that can be undone to, and redone to.
#[derive(Debug, Default)]
pub struct Undo {
    archive: Vec<Choice>,
    future: Vec<Choice>,
    /// Whether the pointer is held down, or was until this frame.
    is_held: bool,
    /// Whether a step was recorded since the press: a whole drag is one step.
    is_noted: bool,
}

impl Undo {
    /// Follows the pointer, at the start of each frame.
    pub fn follow(&mut self, context: &egui::Context) {
        let (pressed, held) = context.input(|input| {
            let pointer = &input.pointer;
            (pointer.any_pressed(), pointer.any_down() || pointer.any_released())
        });
        self.is_held = held;
        self.is_noted &= held && !pressed;
    }

    /// Records the settings before a change.
    pub fn note(&mut self, session: &Session) {
        if self.is_held && self.is_noted {
            return;
        }
        self.is_noted = self.is_held;
        if self.archive.len() >= MOST {
            self.archive.remove(0);
        }
        self.archive.push(Choice::of(session));
        self.future.clear();
    }

    /// Whether there is a step to undo.
    pub fn can_go_back(&self, session: &Session) -> bool {
        let now = Choice::of(session);
        self.archive.iter().any(|choice| *choice != now)
    }

    /// Whether there is a step to redo.
    pub fn can_go_forth(&self) -> bool {
        !self.future.is_empty()
    }

    /// The settings before the last step.
    pub fn back(&mut self, session: &Session) -> Option<Choice> {
        let now = Choice::of(session);
        loop {
            let before = self.archive.pop()?;
            // A refused setting changed nothing, and is no step.
            if before != now {
                self.future.push(now);
                return Some(before);
            }
        }
    }

    /// The settings that were undone last.
    pub fn forth(&mut self, session: &Session) -> Option<Choice> {
        let next = self.future.pop()?;
        self.archive.push(Choice::of(session));
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::FieldKind;

    fn choose(session: &mut Session, undo: &mut Undo, k: usize) {
        undo.note(session);
        Arc::make_mut(&mut session.spec).method.k = k;
    }

    fn take(session: &mut Session, choice: Option<Choice>) -> bool {
        let Some(Choice { spec, look }) = choice else {
            return false;
        };
        (session.spec, session.look) = (spec, look);
        true
    }

    #[test]
    fn steps_are_taken_back_and_made_again() {
        let (mut session, mut undo) = (Session::default(), Undo::default());
        for k in [2, 4, 8] {
            choose(&mut session, &mut undo, k);
        }
        undo.note(&session);
        session.look.field = FieldKind::Error;
        for (k, field) in [(8, FieldKind::Residual), (4, FieldKind::Residual)] {
            let before = undo.back(&session);
            assert!(take(&mut session, before));
            assert_eq!((session.spec.method.k, session.look.field), (k, field));
        }
        let next = undo.forth(&session);
        assert!(take(&mut session, next));
        assert_eq!(session.spec.method.k, 8);
        // Another step clears what can be redone.
        choose(&mut session, &mut undo, 64);
        assert!(!undo.can_go_forth());
        for k in [8, 4, 2] {
            let before = undo.back(&session);
            assert!(take(&mut session, before));
            assert_eq!(session.spec.method.k, k);
        }
    }

    #[test]
    fn a_drag_is_one_step_and_what_was_refused_is_none() {
        let (mut session, mut undo) = (Session::default(), Undo::default());
        let first = session.spec.method.k;
        undo.is_held = true;
        for k in 1..100 {
            choose(&mut session, &mut undo, k);
        }
        (undo.is_held, undo.is_noted) = (false, false);
        choose(&mut session, &mut undo, 0);
        // The worker refuses 0; the controls return to the valid setting.
        Arc::make_mut(&mut session.spec).method.k = 99;
        assert!(undo.can_go_back(&session));
        let before = undo.back(&session);
        assert!(take(&mut session, before));
        assert_eq!(session.spec.method.k, first);
        assert!(!undo.can_go_back(&session));
        assert!(undo.back(&session).is_none());
    }

    #[test]
    fn the_oldest_steps_are_forgotten() {
        let (mut session, mut undo) = (Session::default(), Undo::default());
        for k in 0..2 * MOST {
            choose(&mut session, &mut undo, k + 1);
        }
        assert_eq!(undo.archive.len(), MOST);
    }
}
