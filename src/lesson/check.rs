//! Performs the runs of a lesson, and compares what they show with what the lesson claims.

use super::condition::Condition;
use super::measure::{Evidence, Needs};
use super::setting::Target;
use super::steps::{Lesson, Step};
use crate::run::{
    FieldKind, MapRequest, Monitor, ObservationRequest, Planner, Record, RecordedCycles, Snapshot,
    SnapshotRequest, Stage, record_run,
};
use crate::solver::Acceleration;
use crate::stop_token::StopToken;

/// The outcome of a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// Its line in the file.
    pub line: usize,
    /// The title of its step.
    pub step: String,
    /// The setting, in words.
    pub setting: String,
    /// What was claimed.
    pub claim: String,
    /// The measured value as text, or why there is none.
    pub measured: String,
    /// Whether the claim holds.
    pub holds: bool,
}

/// What is to be measured.
struct Question<'a> {
    line: usize,
    step: &'a Step,
    setting: String,
    target: &'a Target,
    condition: &'a Condition,
    /// Whether the condition is to be fulfilled.
    expected: bool,
}

impl Lesson {
    /// Performs the runs of all claims and goals, each run once, and returns their outcomes. `on_progress` is
    /// called with the number of runs made, and of all.
    ///
    /// A goal is two claims: its setting reaches it, and the step does not begin with it.
    pub fn check(
        &self,
        cancel: &StopToken,
        on_progress: &mut dyn FnMut(usize, usize),
    ) -> Vec<Checked> {
        let mut questions = Vec::new();
        let begin = Target::default();
        for (index, step) in self.steps.iter().enumerate() {
            for claim in &step.claims {
                questions.push(Question {
                    line: claim.line,
                    step,
                    setting: claim.changes.clone(),
                    target: &claim.target,
                    condition: &claim.condition,
                    expected: true,
                });
            }
            if let Some(goal) = &step.goal {
                let begin = self.setting(index).map_or(&begin, |(_, setting)| &setting.target);
                let way = [("reached by try", &goal.way, true), ("at the start", begin, false)];
                questions.extend(way.map(|(setting, target, expected)| Question {
                    line: goal.line,
                    step,
                    setting: setting.to_owned(),
                    target,
                    condition: &goal.condition,
                    expected,
                }));
            }
        }
        let mut runs: Vec<(&Target, Needs)> = Vec::new();
        for question in &questions {
            let needs = question.condition.measure.needs;
            match runs.iter_mut().find(|(target, _)| *target == question.target) {
                Some((_, all)) => *all = all.or(needs),
                None => runs.push((question.target, needs)),
            }
        }
        let mut planner = Planner::default();
        let mut made = Vec::new();
        for (index, (target, needs)) in runs.iter().enumerate() {
            on_progress(index, runs.len());
            made.push((*target, Made::new(target, *needs, &mut planner, cancel)));
        }
        on_progress(runs.len(), runs.len());
        questions.into_iter().map(|question| question.answer(&made)).collect()
    }
}

impl Question<'_> {
    fn answer(self, made: &[(&Target, Result<Made, String>)]) -> Checked {
        let Self { line, step, setting, target, condition, expected } = self;
        let result = made.iter().find(|(run, _)| *run == target).map(|(_, result)| result);
        let value = match result {
            Some(Ok(made)) => {
                let value = condition.measure.value(&made.evidence());
                value.ok_or_else(|| "not known of this run".to_owned())
            }
            Some(Err(why)) => Err(why.clone()),
            None => Err("not run".to_owned()),
        };
        Checked {
            line,
            step: step.title.clone(),
            setting,
            claim: if expected { condition.to_string() } else { format!("not {condition}") },
            holds: value.as_ref().is_ok_and(|value| condition.holds(*value) == expected),
            measured: match value {
                Ok(value) => format!("{value:.6}"),
                Err(why) => why,
            },
        }
    }
}

/// A run that was made and observed.
struct Made {
    snapshot: Snapshot,
    /// The norms of the initial guess, if they are needed.
    start: Option<Record>,
}

impl Made {
    /// Makes a run, and observes it.
    ///
    /// # Errors
    /// A sentence that says why it cannot be made.
    fn new(
        target: &Target,
        needs: Needs,
        planner: &mut Planner,
        cancel: &StopToken,
    ) -> Result<Self, String> {
        let plan = target.plan(planner).map_err(|fault| fault.to_string())?;
        let shape = plan.problem.shape;
        let map = needs.staleness.then(|| MapRequest {
            is_of_iterate: true,
            ..MapRequest::whole([shape.nx(), shape.rows()])
        });
        let field = if needs.staleness { FieldKind::Staleness } else { FieldKind::Residual };
        let observation =
            ObservationRequest { field, map, edge_share: true, ..ObservationRequest::default() };
        let request = SnapshotRequest {
            observation,
            classic: needs.reference.then_some(u64::MAX),
            accelerated: [needs.accelerations.then_some(u64::MAX); Acceleration::ALL.len()],
            error: needs.error,
            ..SnapshotRequest::default()
        };
        let record = |at: RecordedCycles<'_>| {
            let mut on_progress = |_: Stage<'_>| {};
            let mut monitor = Monitor { cancel, on_progress: &mut on_progress };
            let recording = record_run(&plan, &request, at, &mut monitor);
            let snapshots = recording.map_err(|error| error.to_string())?.snapshots;
            snapshots.into_iter().next().ok_or_else(|| "the run was not observed".to_owned())
        };
        let cycle = target.at.cycle(plan.sweeps_per_cycle()).map(|cycle| [cycle]);
        let snapshot = record(
            cycle.as_ref().map_or(RecordedCycles::Last, |cycle| RecordedCycles::Each(cycle)),
        )?;
        // A run that continues at once does not measure the error of its initial guess.
        let start = match needs.error {
            true => Some(record(RecordedCycles::Each(&[0]))?.history.of(0)),
            false => None,
        };
        Ok(Self { snapshot, start })
    }

    fn evidence(&self) -> Evidence<'_> {
        let evidence = Evidence::of_snapshot(&self.snapshot);
        Evidence { start: self.start.unwrap_or(evidence.start), ..evidence }
    }
}
