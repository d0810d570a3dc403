//! The range of a picture's values over a run, and while a setting is dragged.

use crate::app::state::session::Session;
use crate::app::state::view_settings::RangeMode;
use crate::picture::{Plot, Range, ScaleKind};
use crate::run::{FieldKind, ProblemSpec, Report};

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
    pub problem: &'a ProblemSpec,
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
        let ShownRange { range, epoch, problem } = before?;
        let shown = (report.epoch, report.observation.cycle);
        match (session.drag, held) {
            (Some(_), Some(held)) => Some(Self { shown, ..held }),
            (Some(drag), None) => drag.moved_to.is_none().then_some(Self { range, shown }),
            (None, Some(held)) if held.shown == shown => Some(held),
            // The setting was changed, and is shown where the run before it was.
            (None, held) => {
                let is_alike = *problem == report.plan.spec.problem;
                let is_changed = session.catch_up.is_some() && epoch != report.epoch;
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

/// The range of a picture beside the map, which stays where the map's does.
#[derive(Default)]
pub struct KeptRange {
    /// What was shown last. Of its run only the description: the picture may not be shown again for long, and a plan holds
    /// a matrix or a right-hand side.
    before: Option<(Values, u64, ProblemSpec, Range)>,
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
        let before = before.map(|(_, epoch, problem, range)| ShownRange {
            range: *range,
            epoch: *epoch,
            problem,
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
            Some((_, epoch, problem, _)) if epoch == report.epoch => problem,
            _ => report.plan.spec.problem.clone(),
        };
        self.before = Some((values, report.epoch, problem, range));
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
