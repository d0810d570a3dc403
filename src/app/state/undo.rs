//! Undo and redo of settings. A run that was replaced returns with its cycles.

use crate::app::state::session::{LeftRun, Session};
use crate::app::state::view_settings::ViewSettings;
use crate::run::Report;
use eframe::egui;

/// Steps that can be undone; older ones are dropped.
const MAX_STEPS: usize = 200;

/// Runs that the worker keeps so that undo and redo return to them at once; others are recomputed.
const MAX_KEPT: usize = 6;

/// The settings: the run and its view.
#[derive(Clone, Debug)]
pub struct UndoSettings {
    pub run: LeftRun,
    pub view: ViewSettings,
}

impl UndoSettings {
    fn of(session: &Session, report: Option<&Report>) -> Self {
        Self { run: session.left_run(report), view: session.view.clone() }
    }

    /// Whether these are the settings of the session.
    fn are_of(&self, session: &Session) -> bool {
        (self.run.epoch, &self.run.spec, &self.view)
            == (session.epoch, &session.spec, &session.view)
    }
}

/// Settings that can be undone to, and redone to.
#[derive(Debug, Default)]
pub struct Undo {
    past: Vec<UndoSettings>,
    future: Vec<UndoSettings>,
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
    pub fn record(&mut self, session: &Session, report: Option<&Report>) {
        if self.is_held && self.is_recorded {
            return;
        }
        self.is_recorded = self.is_held;
        if self.past.len() >= MAX_STEPS {
            self.past.remove(0);
        }
        self.past.push(UndoSettings::of(session, report));
        self.future.clear();
    }

    /// Whether there is a step to undo.
    pub fn can_undo(&self, session: &Session) -> bool {
        self.past.iter().any(|settings| !settings.are_of(session))
    }

    /// Whether there is a step to redo.
    pub fn can_redo(&self) -> bool {
        !self.future.is_empty()
    }

    /// The settings before the last step.
    pub fn undo(&mut self, session: &Session, report: Option<&Report>) -> Option<UndoSettings> {
        loop {
            let before = self.past.pop()?;
            // A refused setting changed nothing, and is not a step.
            if !before.are_of(session) {
                self.future.push(UndoSettings::of(session, report));
                return Some(before);
            }
        }
    }

    /// The settings that were undone last.
    pub fn redo(&mut self, session: &Session, report: Option<&Report>) -> Option<UndoSettings> {
        let next = self.future.pop()?;
        self.past.push(UndoSettings::of(session, report));
        Some(next)
    }

    /// The epochs of the runs to which the next steps lead, the nearest first.
    pub fn epochs(&self, session: &Session) -> Vec<u64> {
        let mut epochs = Vec::new();
        for settings in self.past.iter().rev().chain(self.future.iter().rev()) {
            let epoch = settings.run.epoch;
            if epoch != session.epoch && !epochs.contains(&epoch) && epochs.len() < MAX_KEPT {
                epochs.push(epoch);
            }
        }
        epochs
    }

    /// A run continues under another epoch, because the request of that epoch was refused.
    pub fn rename_epoch(&mut self, before: u64, now: u64) {
        for settings in self.past.iter_mut().chain(&mut self.future) {
            if settings.run.epoch == before {
                settings.run.epoch = now;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{FieldKind, RunSpec};
    use std::sync::Arc;

    fn change(session: &mut Session, undo: &mut Undo, k: usize) {
        undo.record(session, None);
        let mut spec = RunSpec::clone(&session.spec);
        spec.method.k = k.into();
        session.begin(spec);
    }

    fn restore(session: &mut Session, settings: Option<UndoSettings>) -> bool {
        let Some(UndoSettings { run, view }) = settings else {
            return false;
        };
        session.return_to(run);
        session.view = view;
        true
    }

    #[test]
    fn steps_are_undone_and_redone() {
        let (mut session, mut undo) = (Session::default(), Undo::default());
        for k in [2, 4, 8] {
            change(&mut session, &mut undo, k);
        }
        undo.record(&session, None);
        session.view.field = FieldKind::Error;
        for (k, field) in [(8, FieldKind::Residual), (4, FieldKind::Residual)] {
            let before = undo.undo(&session, None);
            assert!(restore(&mut session, before));
            assert_eq!((session.spec.method.k, session.view.field), (k.into(), field));
        }
        let next = undo.redo(&session, None);
        assert!(restore(&mut session, next));
        assert_eq!(session.spec.method.k, 8);
        // Another step clears what can be redone.
        change(&mut session, &mut undo, 64);
        assert!(!undo.can_redo());
        for k in [8, 4, 2] {
            let before = undo.undo(&session, None);
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
        let before = session.epoch;
        change(&mut session, &mut undo, 0);
        // The worker refuses 0; the controls return to the valid setting.
        Arc::make_mut(&mut session.spec).method.k = 99.into();
        undo.rename_epoch(before, session.epoch);
        assert!(undo.can_undo(&session));
        let before = undo.undo(&session, None);
        assert!(restore(&mut session, before));
        assert_eq!(session.spec.method.k, first);
        assert!(!undo.can_undo(&session));
        assert!(undo.undo(&session, None).is_none());
    }

    #[test]
    fn the_nearest_runs_are_kept_and_return_where_they_were() {
        let (mut session, mut undo) = (Session::default(), Undo::default());
        (session.steps, session.running) = (7, false);
        for k in [2, 4, 8] {
            change(&mut session, &mut undo, k);
            undo.record(&session, None);
            session.view.borders = !session.view.borders;
        }
        assert_eq!((session.epoch, undo.epochs(&session)), (4, vec![3, 2, 1]));
        for _ in 0..6 {
            let before = undo.undo(&session, None);
            assert!(restore(&mut session, before));
        }
        assert_eq!((session.epoch, session.steps, session.running), (1, 7, false));
        assert_eq!(undo.epochs(&session), [2, 3, 4]);
        // A number is not used twice.
        change(&mut session, &mut undo, 16);
        assert_eq!(session.epoch, 5);
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
