//! The range of a picture's values over a run, and while a setting is dragged.

use crate::app::state::session::Session;
use crate::app::state::view_settings::RangeMode;
use crate::picture::{Plot, Range, ScaleKind};
use crate::run::{FieldKind, Milestone, ProblemSpec, Report};

/// A range that stays while a setting changes, so that both runs have equal colours.
#[derive(Clone, Copy)]
pub struct HeldRange {
    pub range: Range,
    /// The epoch and the cycle of the picture that has it. The one after the change is the last.
    shown: (u64, u64),
}

/// The picture that is shown so far.
pub struct ShownRange<'a> {
    pub range: Range,
    pub epoch: u64,
    /// Sweeps until what it shows.
    pub sweeps: u64,
    pub problem: &'a ProblemSpec,
}

/// Sweeps until what a report shows.
pub fn shown_sweeps(report: &Report) -> u64 {
    report.observation.cycle * report.plan.sweeps_per_cycle()
}

impl HeldRange {
    /// The range that is held for the picture of a report, if one is. `held` was until now, `before` is the picture that
    /// is shown so far, if it has the same field and colours.
    pub fn of(
        held: Option<Self>,
        session: &Session,
        report: &Report,
        before: Option<ShownRange<'_>>,
    ) -> Option<Self> {
        let ShownRange { range, epoch, sweeps, problem } = before?;
        let shown = (report.epoch, report.observation.cycle);
        match (session.drag, held) {
            (Some(_), Some(held)) => Some(Self { shown, ..held }),
            (Some(drag), None) => drag.moved_to.is_none().then_some(Self { range, shown }),
            (None, Some(held)) if held.shown == shown => Some(held),
            // The setting was changed, and is shown where the run before it was.
            (None, held) => {
                let is_alike = *problem == report.plan.spec.problem;
                let is_there = match session.catch_up {
                    Some(Milestone::Sweeps(goal)) => goal == sweeps,
                    Some(Milestone::Reduction(_)) => true,
                    None => false,
                };
                let is_changed = is_there && epoch != report.epoch;
                let range = held.map_or(range, |held| held.range);
                (is_changed && is_alike).then_some(Self { range, shown })
            }
        }
    }

    /// The range of a picture that has moved to where the values of a setting are compared.
    pub fn moved(session: &Session, report: &Report, range: Range) -> Option<Self> {
        let drag = session.drag?;
        let shown = (report.epoch, report.observation.cycle);
        (drag.moved_to.is_some() && drag.has_moved(report)).then_some(Self { range, shown })
    }
}

/// What a picture shows: ranges of other values have nothing in common with its own.
type Values = (FieldKind, ScaleKind, bool);

/// What was shown last. Of its run only the description: the picture may not be shown again for long, and a plan holds a
/// matrix or a right-hand side.
struct Before {
    epoch: u64,
    sweeps: u64,
    problem: ProblemSpec,
    range: Range,
}

/// The range of a picture beside the map, which stays where the map's does.
#[derive(Default)]
pub struct KeptRange {
    before: Option<(Values, Before)>,
    held: Option<HeldRange>,
    /// The range of all shown frames of a run.
    whole_run: Option<(Values, u64, Range)>,
}

impl KeptRange {
    /// The range of a picture of a field whose own values have the range `fitted`.
    pub fn range(
        &mut self,
        session: &Session,
        report: &Report,
        field: FieldKind,
        kind: ScaleKind,
        fitted: Range,
    ) -> Range {
        let colours = session.view.of_field(field);
        let values = (field, kind, colours.absolute);
        let before = self.before.as_ref().filter(|(of, ..)| *of == values);
        let before = before.map(|(_, before)| ShownRange {
            range: before.range,
            epoch: before.epoch,
            sweeps: before.sweeps,
            problem: &before.problem,
        });
        let held = HeldRange::of(self.held, session, report, before);
        let known = self.whole_run.filter(|(of, epoch, _)| (*of, *epoch) == (values, report.epoch));
        let whole = known.map_or(fitted, |(.., known)| known.union(fitted));
        self.whole_run = Some((values, report.epoch, whole));
        let range = match (colours.range, held) {
            (RangeMode::ThisFrame, _) => fitted,
            (_, Some(held)) => held.range,
            (RangeMode::WholeRun, None) => whole,
            (RangeMode::Follow | RangeMode::Locked(_), None) => fitted,
        };
        self.held = held.or_else(|| HeldRange::moved(session, report, range));
        let problem = match self.before.take() {
            Some((_, before)) if before.epoch == report.epoch => before.problem,
            _ => report.plan.spec.problem.clone(),
        };
        let (epoch, sweeps) = (report.epoch, shown_sweeps(report));
        self.before = Some((values, Before { epoch, sweeps, problem, range }));
        range
    }

    /// Holds the y axis of a plot of a field, as far as its curves are within.
    pub fn hold(&mut self, plot: &mut Plot, session: &Session, report: &Report, field: FieldKind) {
        let fitted = plot.y_range();
        let range = self.range(session, report, field, plot.y.scale, fitted);
        plot.y.range = Some(range.union(fitted));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::state::drag::{Drag, tests::report};
    use crate::app::state::travel::Travel;

    #[test]
    fn a_range_stays_while_a_setting_is_dragged_and_until_another_cycle_is_shown() {
        let (mut report, mut session) = (report(None), Session::default());
        let mut kept = KeptRange::default();
        let mut high = |session: &Session, report: &Report, high: f64| {
            let fitted = Range::new(0.0, high);
            kept.range(session, report, FieldKind::Residual, ScaleKind::Linear, fitted).hi()
        };
        assert_eq!(high(&session, &report, 8.0), 8.0);
        assert_eq!(high(&session, &report, 4.0), 4.0, "it follows");
        let before = Travel::default();
        session.drag = Some(Drag { goal: None, moved_to: None, slowest: 1.0, from: 1, before });
        report.epoch = 2;
        assert_eq!(high(&session, &report, 1.0), 4.0);
        session.drag = None;
        assert_eq!(high(&session, &report, 1.0), 4.0, "until another cycle is shown");
        report.observation.cycle += 1;
        assert_eq!(high(&session, &report, 1.0), 1.0);
        // The range of the whole run holds all that was shown of it.
        session.view.of_field_mut(FieldKind::Residual).range = RangeMode::WholeRun;
        assert_eq!(high(&session, &report, 3.0), 3.0);
        assert_eq!(high(&session, &report, 2.0), 3.0);
        // Of values that are drawn in another way nothing is known.
        let fitted = Range::new(1.0, 2.0);
        let log = kept.range(&session, &report, FieldKind::Residual, ScaleKind::Log, fitted);
        assert_eq!(log.hi(), 2.0);
    }

    /// A run that cannot show as many sweeps in time shows fewer, whose values have nothing to do with the range before.
    #[test]
    fn a_run_that_is_shown_elsewhere_has_a_range_of_its_own() {
        for (goal, expected) in [(100, 8.0), (2, 1.0)] {
            let (mut report, mut session) = (report(None), Session::default());
            let mut kept = KeptRange::default();
            let mut high = |session: &Session, report: &Report, high: f64| {
                let fitted = Range::new(0.0, high);
                kept.range(session, report, FieldKind::Residual, ScaleKind::Linear, fitted).hi()
            };
            let each = report.plan.sweeps_per_cycle();
            report.observation.cycle = 100;
            assert_eq!(high(&session, &report, 8.0), 8.0);
            session.catch_up = Some(Milestone::Sweeps(goal * each));
            (report.epoch, report.observation.cycle) = (2, goal);
            assert_eq!(high(&session, &report, 1.0), expected);
        }
    }

    #[test]
    fn a_picture_that_moves_takes_its_range_along() {
        let (mut report, mut session) = (report(None), Session::default());
        let mut kept = KeptRange::default();
        let mut high = |session: &Session, report: &Report, high: f64| {
            let fitted = Range::new(0.0, high);
            kept.range(session, report, FieldKind::Residual, ScaleKind::Linear, fitted).hi()
        };
        report.observation.cycle = 100;
        assert_eq!(high(&session, &report, 1.0), 1.0);
        let (from, before) = (report.epoch, Travel::default());
        session.drag = Some(Drag { goal: None, moved_to: Some(8), slowest: 1.0, from, before });
        assert_eq!(high(&session, &report, 1.0), 1.0, "it has not moved yet");
        report.observation.cycle = 101;
        assert_eq!(high(&session, &report, 1.0), 1.0, "it has made one more cycle");
        report.observation.cycle = 1;
        assert_eq!(high(&session, &report, 16.0), 16.0);
        report.epoch = 2;
        assert_eq!(high(&session, &report, 2.0), 16.0);
    }
}
