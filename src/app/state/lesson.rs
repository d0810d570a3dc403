//! The lesson that the reader is in, and how far.

use crate::lesson::{Evidence, Goal, Lesson, Needs, Step};
use crate::run::{Phase, Report};
use std::sync::Arc;

/// A lesson that the reader is in.
#[derive(Clone, Debug)]
pub struct LessonProgress {
    pub lesson: Arc<Lesson>,
    /// The index of the step.
    pub step: usize,
    /// For each step, the choice that was made.
    choices: Vec<Option<usize>>,
    /// For each step, whether its goal was reached.
    reached: Vec<bool>,
    /// The step whose setting is shown.
    pub shown: Option<usize>,
}

/// What a reader does with lessons.
#[derive(Clone, Debug)]
pub enum LessonOrder {
    /// Open or close the list of lessons.
    ShowList(bool),
    /// Begin a lesson, or resume it.
    Begin(Arc<Lesson>),
    /// Go to a step, by its index.
    Step(usize),
    /// Choose an answer, by its index.
    Choose(usize),
    /// Show a setting that reaches the goal.
    ShowWay,
    /// Return to the run, the panes and the colours before the lesson.
    Leave,
}

impl LessonProgress {
    /// A lesson at one of its steps.
    pub fn new(lesson: Arc<Lesson>, step: usize) -> Self {
        let count = lesson.steps.len();
        Self {
            step: step.min(count.saturating_sub(1)),
            choices: vec![None; count],
            reached: vec![false; count],
            shown: None,
            lesson,
        }
    }

    /// The step.
    pub fn current(&self) -> Option<&Step> {
        self.lesson.steps.get(self.step)
    }

    /// Whether it is the last one.
    pub fn is_last(&self) -> bool {
        self.step + 1 >= self.lesson.steps.len()
    }

    /// The choice that was made at a step.
    pub fn choice(&self, step: usize) -> Option<usize> {
        self.choices.get(step).copied().flatten()
    }

    /// Makes a choice at the present step. The first one counts.
    pub fn choose(&mut self, choice: usize) {
        if let Some(chosen) = self.choices.get_mut(self.step) {
            chosen.get_or_insert(choice);
        }
    }

    /// Whether the goal of the present step was reached.
    pub fn is_reached(&self) -> bool {
        self.reached.get(self.step).is_some_and(|reached| *reached)
    }

    /// Notes whether the goal of the present step is reached by the run of a report.
    pub fn follow(&mut self, report: &Report) {
        let goal = self.current().and_then(|step| step.goal.as_ref());
        let is_met = goal.is_some_and(|goal| {
            has_come_as_far(goal, report) && goal.condition.is_met(&Evidence::of_report(report))
        });
        if let Some(reached) = self.reached.get_mut(self.step) {
            *reached |= is_met;
        }
    }

    /// What the values of the present step need.
    pub fn needs(&self) -> Needs {
        self.current().map(Step::needs).unwrap_or_default()
    }
}

/// Whether a run is where its goal is meant to be reached: values on the way there say nothing.
fn has_come_as_far(goal: &Goal, report: &Report) -> bool {
    let way = &goal.way;
    let each = way.run.sweeps_per_cycle();
    let shown = report.observation.cycle * report.plan.sweeps_per_cycle();
    match way.at.cycle(each) {
        Some(cycle) => shown + report.plan.sweeps_per_cycle() / 2 >= cycle * each,
        None => matches!(report.phase, Phase::Finished(_)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::lessons;

    #[test]
    fn the_first_choice_counts_and_steps_stay_within_the_lesson() {
        let mut progress = LessonProgress::new(Arc::clone(&lessons()[0]), 99);
        assert!(progress.is_last());
        progress.choose(1);
        progress.choose(0);
        assert_eq!(progress.choice(progress.step), Some(1));
        assert_eq!(progress.choice(99), None);
    }
}
