//! What a figure is drawn from: what the worker captured of the newest cycle, an earlier one in its
//! place where the window looks back, and a pinned run beside it.

use crate::app::compare::AtEqual;
use crate::app::pins::Pin;
use crate::app::session::Session;
use crate::picture::{FigureKind, ViewSpec};
use crate::run::{Capture, Captured, Past, Report};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Which cycles of which runs a figure shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::app) struct Sources {
    /// The earlier cycle that is shown in the place of the newest.
    back: Option<(Arc<Past>, u64)>,
    /// The pinned run beside the run, and which of its cycles.
    pub second: Option<(Pin, AtEqual)>,
}

impl Sources {
    /// What `view` shows while the window shows this, beside a pinned run if one is given. Curves
    /// and the diagram of a line show all cycles there are, whichever the window looks at.
    pub fn of(
        session: &Session,
        report: Option<&Report>,
        view: &ViewSpec,
        second: Option<&Pin>,
    ) -> Self {
        let report = report.filter(|report| report.epoch == session.epoch);
        let shows_all = view.kind == FigureKind::Curves;
        let back = report.filter(|report| !shows_all && !is_diagram(report, view));
        let back = back.and_then(|report| {
            let cycle = session.travel.earlier(report.latest.cycle)?;
            Some((Arc::clone(&report.past), cycle))
        });
        let at_equal = if shows_all { AtEqual::End } else { session.look.compare.at_equal };
        Self { back, second: second.map(|pin| (pin.clone(), at_equal)) }
    }

    /// Takes what the figure shows: of the run, and of the pinned one after it.
    ///
    /// # Errors
    /// A sentence that says why it cannot be drawn, or made again.
    pub fn shots(
        &self,
        newest: &Captured,
        capture: &Capture,
        view: &ViewSpec,
        cancel: &AtomicBool,
    ) -> Result<Vec<Captured>, String> {
        let shape = &newest.plan.problem.shape;
        let second = self.second.as_ref();
        view.check(shape, second.map(|(pin, _)| &pin.past.plan().problem.shape))
            .map_err(|refused| refused.to_string())?;
        let again = |past: &Arc<Past>, cycle| {
            Captured::again(past, cycle, capture, cancel).map_err(|error| error.to_string())
        };
        let own = match &self.back {
            None => newest.clone(),
            Some((past, cycle)) => Captured {
                plan: Arc::clone(&newest.plan),
                history: Arc::clone(&newest.history),
                reference: newest.reference.clone(),
                ..again(past, *cycle)?
            },
        };
        let other = second.map(|(pin, at_equal)| {
            let sweeps = own.cycle * own.plan.sweeps_per_cycle();
            let seconds = own.history.of(own.cycle).seconds;
            again(&pin.past, at_equal.cycle(own.cycle, sweeps, seconds, pin))
        });
        Ok(std::iter::once(own).chain(other.transpose()?).collect())
    }
}

fn is_diagram(report: &Report, view: &ViewSpec) -> bool {
    use FigureKind::{Arrangement, MeanTile, Profile};
    let is_map = !matches!(view.kind, Profile | MeanTile | Arrangement);
    report.plan.problem.shape.dim() == 1 && is_map
}
