//! Undo and redo of settings.

use crate::app::state::session::Session;
use crate::app::state::view_settings::ViewSettings;
use crate::run::RunSpec;
use eframe::egui;
use std::sync::Arc;

/// Steps that can be undone; older ones are dropped.
const MAX_STEPS: usize = 200;

/// The settings: the run and its view.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    pub spec: Arc<RunSpec>,
    pub view: ViewSettings,
}

impl Settings {
    fn of(session: &Session) -> Self {
        Self { spec: Arc::clone(&session.spec), view: session.view.clone() }
    }
}

/// Settings that can be undone to, and redone to.
#[derive(Debug, Default)]
pub struct Undo {
    past: Vec<Settings>,
    future: Vec<Settings>,
    /// Whether the pointer is held down, or was until this frame.
    is_held: bool,
    /// Whether a step was recorded since the press: a whole drag is one step.
    is_recorded: bool,
}

impl Undo {
    /// Follows the pointer, at the start of each frame.
    pub fn follow(&mut self, context: &egui::Context) {
        let (pressed, held) = context.input(|input| {
            let pointer = &input.pointer;
            (pointer.any_pressed(), pointer.any_down() || pointer.any_released())
        });
        self.is_held = held;
        self.is_recorded &= held && !pressed;
    }

    /// Records the settings before a change.
    pub fn record(&mut self, session: &Session) {
        if self.is_held && self.is_recorded {
            return;
        }
        self.is_recorded = self.is_held;
        if self.past.len() >= MAX_STEPS {
            self.past.remove(0);
        }
        self.past.push(Settings::of(session));
        self.future.clear();
    }

    /// Whether there is a step to undo.
    pub fn can_undo(&self, session: &Session) -> bool {
        let now = Settings::of(session);
        self.past.iter().any(|settings| *settings != now)
    }

    /// Whether there is a step to redo.
    pub fn can_redo(&self) -> bool {
        !self.future.is_empty()
    }

    /// The settings before the last step.
    pub fn undo(&mut self, session: &Session) -> Option<Settings> {
        let now = Settings::of(session);
        loop {
            let before = self.past.pop()?;
            // A refused setting changed nothing, and is no step.
            if before != now {
                self.future.push(now);
                return Some(before);
            }
        }
    }

    /// The settings that were undone last.
    pub fn redo(&mut self, session: &Session) -> Option<Settings> {
        let next = self.future.pop()?;
        self.past.push(Settings::of(session));
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::FieldKind;

    fn change(session: &mut Session, undo: &mut Undo, k: usize) {
        undo.record(session);
        Arc::make_mut(&mut session.spec).method.k = k.into();
    }

    fn restore(session: &mut Session, settings: Option<Settings>) -> bool {
        let Some(Settings { spec, view }) = settings else {
            return false;
        };
        (session.spec, session.view) = (spec, view);
        true
    }

    #[test]
    fn steps_are_undone_and_redone() {
        let (mut session, mut undo) = (Session::default(), Undo::default());
        for k in [2, 4, 8] {
            change(&mut session, &mut undo, k);
        }
        undo.record(&session);
        session.view.field = FieldKind::Error;
        for (k, field) in [(8, FieldKind::Residual), (4, FieldKind::Residual)] {
            let before = undo.undo(&session);
            assert!(restore(&mut session, before));
            assert_eq!((session.spec.method.k, session.view.field), (k.into(), field));
        }
        let next = undo.redo(&session);
        assert!(restore(&mut session, next));
        assert_eq!(session.spec.method.k, 8);
        // Another step clears what can be redone.
        change(&mut session, &mut undo, 64);
        assert!(!undo.can_redo());
        for k in [8, 4, 2] {
            let before = undo.undo(&session);
            assert!(restore(&mut session, before));
            assert_eq!(session.spec.method.k, k);
        }
    }

    #[test]
    fn a_drag_is_one_step_and_a_refused_setting_is_none() {
        let (mut session, mut undo) = (Session::default(), Undo::default());
        let first = session.spec.method.k;
        undo.is_held = true;
        for k in 1..100 {
            change(&mut session, &mut undo, k);
        }
        (undo.is_held, undo.is_recorded) = (false, false);
        change(&mut session, &mut undo, 0);
        // The worker refuses 0; the controls return to the valid setting.
        Arc::make_mut(&mut session.spec).method.k = 99.into();
        assert!(undo.can_undo(&session));
        let before = undo.undo(&session);
        assert!(restore(&mut session, before));
        assert_eq!(session.spec.method.k, first);
        assert!(!undo.can_undo(&session));
        assert!(undo.undo(&session).is_none());
    }

    #[test]
    fn the_oldest_steps_are_dropped() {
        let (mut session, mut undo) = (Session::default(), Undo::default());
        for k in 0..2 * MAX_STEPS {
            change(&mut session, &mut undo, k + 1);
        }
        assert_eq!(undo.past.len(), MAX_STEPS);
    }
}
