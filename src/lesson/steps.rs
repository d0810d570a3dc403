//! A lesson: steps of text, each with a run to look at.

use super::condition::Condition;
use super::measure::Needs;
use super::setting::{Setting, Target};
use super::text::Paragraph;

/// A lesson.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lesson {
    /// Its name: that of its file, without number and extension.
    pub name: String,
    /// Its title.
    pub title: String,
    /// How long it takes.
    pub minutes: Option<u32>,
    /// The names of lessons that come before it.
    pub after: Vec<String>,
    /// Its steps; one at least.
    pub steps: Vec<Step>,
}

/// A step of a lesson.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// Its title.
    pub title: String,
    /// Its line in the file.
    pub line: usize,
    /// What it says.
    pub text: Vec<Paragraph>,
    /// What it shows; without it, what the step before it showed stays as the reader left it.
    pub setting: Option<Setting>,
    /// What it asks before it shows.
    pub prediction: Option<Prediction>,
    /// What the reader is to reach.
    pub goal: Option<Goal>,
    /// What it claims, which tests check.
    pub claims: Vec<Claim>,
}

/// A question with choices, which the run then answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// The question.
    pub question: Paragraph,
    /// The choices; two at least.
    pub choices: Vec<Paragraph>,
    /// The index of the right one.
    pub right: usize,
    /// What is said after the choice.
    pub answer: Vec<Paragraph>,
}

/// What the reader is to reach by changing settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Goal {
    /// Its line in the file.
    pub line: usize,
    /// When it is reached.
    pub condition: Condition,
    /// A setting that reaches it.
    pub way: Target,
}

/// A claim about a measured value.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Its line in the file.
    pub line: usize,
    /// What it changes of the step's setting, as it was written; may be empty.
    pub changes: String,
    /// The run, and where it is measured.
    pub target: Target,
    /// What is claimed.
    pub condition: Condition,
}

impl Lesson {
    /// What is shown at a step, and the step that says so: its own setting, or that of the nearest step
    /// before it.
    pub fn setting(&self, step: usize) -> Option<(usize, &Setting)> {
        let steps = self.steps.iter().enumerate().take(step + 1);
        steps.rev().find_map(|(index, step)| Some((index, step.setting.as_ref()?)))
    }
}

impl Step {
    /// What the values in its text, and its goal, need.
    pub fn needs(&self) -> Needs {
        let answer = self.prediction.iter().flat_map(|prediction| &prediction.answer);
        let texts = self.text.iter().chain(answer).map(Paragraph::needs);
        let goal = self.goal.iter().map(|goal| goal.condition.measure.needs);
        texts.chain(goal).fold(Needs::default(), Needs::or)
    }
}
