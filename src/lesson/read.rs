//! Reads a lesson from its text or its file.

use super::condition::Condition;
use super::error::{Fault, LessonError};
use super::markdown::{Block, blocks};
use super::setting::{Setting, Target};
use super::steps::{Claim, Goal, Lesson, Prediction, Step};
use super::text::Paragraph;
use crate::files::{FileError, read_text};
use crate::run::Planner;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use toml::{Spanned, Value};

/// A file longer than this is not a lesson.
const LONGEST: u64 = 1 << 18;

/// A lesson, and what is wrong with its text: that is left out of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadLesson {
    /// The lesson.
    pub lesson: Lesson,
    /// In the order of lines.
    pub errors: Vec<LessonError>,
}

/// Why there is no lesson in a file.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// It has no step.
    #[error(
        "{file} is not a lesson: it has no step; a step begins with its title, such as ## The bright lines"
    )]
    NoStep {
        /// The file.
        file: String,
    },
}

/// The front matter.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct FrontMatter {
    title: String,
    minutes: Option<u32>,
    after: Vec<String>,
}

impl Lesson {
    /// Reads a lesson from a file. Files that it names by a relative path are searched beside it.
    ///
    /// # Errors
    /// [`LoadError`] if the file cannot be read, or has no step. What else is wrong with it is returned
    /// with the lesson.
    pub fn load(path: &Path) -> Result<ReadLesson, LoadError> {
        Self::parse(&read_text(path, LONGEST)?, path)
    }

    /// Reads a lesson from its text. `path` gives its name, and names it in errors.
    ///
    /// # Errors
    /// [`LoadError::NoStep`].
    pub fn parse(text: &str, path: &Path) -> Result<ReadLesson, LoadError> {
        let file = path.display().to_string();
        let (blocks, found) = blocks(text);
        let lesson = Lesson { name: name_of(path), ..Lesson::default() };
        let planner = Planner::default();
        let mut reader =
            Reader { text, path, lesson, faults: found, planner, is_setting_known: true };
        blocks.into_iter().for_each(|block| reader.take(block));
        reader.finish();
        let Reader { lesson, mut faults, .. } = reader;
        if lesson.steps.is_empty() {
            return Err(LoadError::NoStep { file });
        }
        faults.sort_by_key(|(at, _)| *at);
        let errors = faults.into_iter().map(|(at, fault)| LessonError {
            file: file.clone(),
            line: line(text, at),
            fault,
        });
        Ok(ReadLesson { lesson, errors: errors.collect() })
    }
}

/// The name of a lesson: that of its file, without number and extension.
fn name_of(path: &Path) -> String {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let stem = stem.unwrap_or_default();
    stem.trim_start_matches(|c: char| c.is_ascii_digit()).trim_start_matches('-').to_owned()
}

/// The line of a place in a text, from 1.
fn line(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or(text).matches('\n').count() + 1
}

struct Reader<'a> {
    text: &'a str,
    path: &'a Path,
    lesson: Lesson,
    /// What is wrong, and where.
    faults: Vec<(usize, Fault)>,
    planner: Planner,
    /// Whether the setting in force is what the text says. With an error in it, what is claimed of it cannot be
    /// measured.
    is_setting_known: bool,
}

impl Reader<'_> {
    fn fault(&mut self, at: usize, fault: Fault) {
        self.faults.push((at, fault));
    }

    fn take(&mut self, block: Block) {
        let (at, outside) = match &block {
            Block::FrontMatter(text, at) => return self.front_matter(text, *at),
            Block::Heading(2, title, at) => {
                self.lesson.steps.push(Step {
                    title: title.text(None),
                    line: line(self.text, *at),
                    ..Step::default()
                });
                return;
            }
            Block::Heading(_, _, at) => {
                let why = "a heading is the title of a step: ## and its text";
                return self.fault(*at, Fault::Structure(why));
            }
            Block::Paragraph(_, at)
            | Block::Item(_, at)
            | Block::Code(_, _, at)
            | Block::Quote(_, at) => (*at, self.lesson.steps.is_empty()),
        };
        if outside {
            let why = "this belongs to no step; a step begins with its title, such as ## The bright lines";
            return self.fault(at, Fault::Structure(why));
        }
        match block {
            Block::Paragraph(text, _) => self.step().text.push(text),
            Block::Item(mut text, _) => {
                text.0.insert(0, super::text::Piece::Plain("• ".to_owned()));
                self.step().text.push(text);
            }
            Block::Code(what, text, at) => match what.as_str() {
                "tilescope" => self.setting(&text, at),
                "expect" => self.claims(&text, at),
                "try" => self.goal(&text, at),
                _ => {
                    let why = "a fenced block of a lesson is one of tilescope, expect and try";
                    self.fault(at, Fault::Structure(why));
                }
            },
            Block::Quote(blocks, at) => self.prediction(blocks, at),
            Block::FrontMatter(..) | Block::Heading(..) => {}
        }
    }

    /// The present step.
    fn step(&mut self) -> &mut Step {
        if self.lesson.steps.is_empty() {
            self.lesson.steps.push(Step::default());
        }
        let last = self.lesson.steps.len() - 1;
        &mut self.lesson.steps[last]
    }

    fn front_matter(&mut self, text: &str, at: usize) {
        match toml::from_str::<FrontMatter>(text) {
            Ok(FrontMatter { title, minutes, after }) => {
                (self.lesson.title, self.lesson.minutes, self.lesson.after) =
                    (title, minutes, after);
            }
            Err(error) => {
                let within = error.span().map_or(0, |span| span.start);
                let why = crate::run::toml_message(&error);
                self.fault(at + within, Fault::Toml(why));
            }
        }
    }

    /// What the present step shows, as far as it can.
    fn setting(&mut self, text: &str, at: usize) {
        let before = self.faults.len();
        self.read_setting(text, at);
        self.is_setting_known = self.faults.len() == before;
    }

    fn read_setting(&mut self, text: &str, at: usize) {
        let keys = match toml::from_str::<BTreeMap<Spanned<String>, Spanned<Value>>>(text) {
            Ok(keys) => keys,
            Err(error) => {
                let within = error.span().map_or(0, |span| span.start);
                let why = crate::run::toml_message(&error);
                return self.fault(at + within, Fault::Toml(why));
            }
        };
        let mut keys: Vec<_> = keys.iter().collect();
        // The problem first, which has a grid of its own, and last what changes what the others say.
        let rank = |key: &str| match key {
            "problem" | "matrix" => 0,
            "before" | "then" => 2,
            _ => 1,
        };
        keys.sort_by_key(|(key, _)| (rank(key.get_ref()), key.span().start));
        let mut setting = Setting::default();
        for (key, value) in keys {
            let mut changed = setting.clone();
            match changed.set(key.get_ref(), value.get_ref()) {
                Ok(()) => setting = changed,
                Err(fault) => self.fault(at + key.span().start, fault),
            }
        }
        let Setting { target, before, then, .. } = &mut setting;
        for run in [Some(&mut target.run), before.as_mut(), then.as_mut().map(|then| &mut then.run)]
            .into_iter()
            .flatten()
        {
            *run = std::mem::take(run).found_beside(self.path);
        }
        let before = setting.before.clone().map(|run| Target { run, ..Target::default() });
        let others = before.iter().chain(&setting.then);
        let plans: Vec<_> = std::iter::once(&setting.target)
            .chain(others)
            .filter_map(|target| target.plan(&mut self.planner).err())
            .collect();
        let is_possible = plans.is_empty();
        plans.into_iter().for_each(|fault| self.fault(at, fault));
        let step = self.step();
        if step.setting.is_some() {
            let why = "this step has a tilescope block already; another step can have another";
            self.fault(at, Fault::Structure(why));
        } else if is_possible {
            step.setting = Some(setting);
        }
    }

    /// The setting in force at the present step.
    fn target(&self) -> Target {
        let last = self.lesson.steps.len().saturating_sub(1);
        self.lesson.setting(last).map(|(_, setting)| setting.target.clone()).unwrap_or_default()
    }

    /// A line of claims or of a goal: changes, and conditions with their places. `None` where something is wrong
    /// with it, or with the setting that it is about.
    fn conditions<'t>(
        &mut self,
        text: &'t str,
        at: usize,
    ) -> Option<(&'t str, Target, Vec<Condition>)> {
        let (changes, conditions) = text.rsplit_once(':').unwrap_or(("", text));
        let parsed =
            |text: &str| text.split(',').map(Condition::parse).collect::<Result<Vec<_>, _>>();
        if !self.is_setting_known {
            parsed(conditions).err().into_iter().for_each(|fault| self.fault(at, fault));
            return None;
        }
        let changed = self.target().changed(changes.trim()).and_then(|target| {
            target.plan(&mut self.planner)?;
            Ok(target)
        });
        let target = match changed {
            Ok(target) => target,
            Err(fault) => {
                self.fault(at, fault);
                return None;
            }
        };
        match parsed(conditions) {
            Ok(parsed) => Some((changes.trim(), target, parsed)),
            Err(fault) => {
                self.fault(at, fault);
                None
            }
        }
    }

    fn claims(&mut self, text: &str, at: usize) {
        for (at, entry) in lines(text, at) {
            let Some((changes, target, conditions)) = self.conditions(entry, at) else { continue };
            let line = line(self.text, at);
            let changes = changes.to_owned();
            let claims = conditions.into_iter().map(|condition| Claim {
                line,
                changes: changes.clone(),
                target: target.clone(),
                condition,
            });
            self.step().claims.extend(claims);
        }
    }

    fn goal(&mut self, text: &str, at: usize) {
        let why = "a try block has one line, a setting and the condition that it reaches, such as overlap = 4: edge_share < 0.4";
        let mut entries = lines(text, at);
        let (Some((at, entry)), None) = (entries.next(), entries.next()) else {
            return self.fault(at, Fault::Structure(why));
        };
        let Some((changes, way, conditions)) = self.conditions(entry, at) else { return };
        match <[Condition; 1]>::try_from(conditions) {
            Ok([condition]) if !changes.is_empty() => {
                let line = line(self.text, at);
                self.step().goal = Some(Goal { line, condition, way });
            }
            _ => self.fault(at, Fault::Structure(why)),
        }
    }

    fn prediction(&mut self, blocks: Vec<Block>, at: usize) {
        let (mut question, mut choices, mut answer, mut right) = (None, vec![], vec![], vec![]);
        for block in blocks {
            match block {
                Block::Paragraph(mut text, _) if question.is_none() => {
                    if !text.strip_prefix("predict:") {
                        let why = "a quotation is a question with choices; it begins with predict:";
                        return self.fault(at, Fault::Structure(why));
                    }
                    question = Some(text);
                }
                Block::Paragraph(text, _) => answer.push(text),
                Block::Item(mut text, _) => {
                    if text.strip_suffix("(right)") {
                        right.push(choices.len());
                    }
                    choices.push(text);
                }
                Block::Code(_, _, at) | Block::Heading(_, _, at) | Block::Quote(_, at) => {
                    let why = "a question has a text, choices and an answer";
                    self.fault(at, Fault::Structure(why));
                }
                Block::FrontMatter(..) => {}
            }
        }
        let [right] = right[..] else {
            let why = "exactly one choice of a question ends with (right)";
            return self.fault(at, Fault::Structure(why));
        };
        if choices.len() < 2 {
            let why = "a question has two choices at least";
            return self.fault(at, Fault::Structure(why));
        }
        let question: Paragraph = question.unwrap_or_default();
        self.step().prediction = Some(Prediction { question, choices, right, answer });
    }

    /// What only the whole text can show to be wrong.
    fn finish(&mut self) {
        if self.lesson.title.is_empty() {
            let why = "the lesson has no title; its file begins with +++, title = \"…\" and +++";
            self.fault(0, Fault::Structure(why));
            self.lesson.title.clone_from(&self.lesson.name);
        }
        for index in 0..self.lesson.steps.len() {
            let step = &self.lesson.steps[index];
            let is_answer = step.setting.as_ref().is_some_and(|setting| setting.then.is_some());
            if is_answer && step.prediction.is_none() {
                let at = self.text.match_indices('\n').nth(step.line.saturating_sub(2));
                let at = at.map_or(0, |(at, _)| at + 1);
                let why = "then goes with a question, which this step does not have";
                self.fault(at, Fault::Structure(why));
            }
        }
    }
}

/// The lines of a block that say something, with their places.
fn lines(text: &str, at: usize) -> impl Iterator<Item = (usize, &str)> {
    let mut start = at;
    text.split_inclusive('\n').filter_map(move |line| {
        let place = start;
        start += line.len();
        let content = line.split('#').next().unwrap_or_default().trim();
        (!content.is_empty()).then_some((place, content))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::TEMPLATE;

    /// The errors of a lesson whose only step has this text.
    fn errors(step: &str) -> Vec<String> {
        let text = format!("+++\ntitle = \"It\"\n+++\n## A step\n{step}\n");
        let read = Lesson::parse(&text, Path::new("it.md")).unwrap();
        assert_eq!(read.lesson.steps.len(), 1, "the rest of the lesson works");
        read.errors.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_error_names_file_line_and_what_is_allowed() {
        for (step, expected) in [
            (
                "Text.\n\n```tilescope\nk = 4\noverlapp = 2\n```",
                "it.md, line 9: there is no key overlapp; choose from problem",
            ),
            ("```tilescope\nk = \"many\"\n```", "it.md, line 6: k = \"many\" is not possible: "),
            ("```tilescope\nk = \n```", "it.md, line 6: this is not TOML: "),
            (
                "```tilescope\noverlap = 3\n```",
                "it.md, line 6: this run is not possible: overlap 3 is odd",
            ),
            (
                "```tilescope\nshow = { panes = [\"pie\"] }\n```",
                "it.md, line 6: panes = pie is not possible: each must be one of heat-map",
            ),
            (
                "```tilescope\nshow = { field = \"speed\" }\n```",
                "it.md, line 6: field = \"speed\" is not possible: there is no value speed; choose from residual",
            ),
            (
                "```tilescope\nhighlight = \"tail\"\n```",
                "it.md, line 6: highlight = \"tail\" is not possible: there is no value tail; choose from k, overlap, tile, height",
            ),
            (
                "It is {{speed}}.",
                "it.md, line 5: there is no measured value speed; choose from k, tile",
            ),
            (
                "```expect\nedge_share is small\n```",
                "it.md, line 6: “edge_share is small” is not a condition",
            ),
            (
                "```expect\n\nlap = 4: edge_share < 1\n```",
                "it.md, line 7: there is no key lap; choose from problem",
            ),
            ("```try\nedge_share < 0.4\n```", "it.md, line 6: a try block has one line"),
            (
                "> predict: What?\n> - One\n> - Two",
                "it.md, line 5: exactly one choice of a question ends with (right)",
            ),
            (
                "> What?\n> - One (right)\n> - Two",
                "it.md, line 5: a quotation is a question with choices",
            ),
            (
                "```rust\nfn main() {}\n```",
                "it.md, line 6: a fenced block of a lesson is one of tilescope, expect and try",
            ),
            ("![A picture](a.png)", "it.md, line 5: an image cannot be shown in a lesson"),
            ("### Smaller", "it.md, line 5: a heading is the title of a step"),
            ("```tilescope\nthen = { k = 4 }\n```", "it.md, line 4: then goes with a question"),
        ] {
            let errors = errors(step);
            assert_eq!(errors.len(), 1, "{step}: {errors:?}");
            assert!(errors[0].starts_with(expected), "{}\n{expected}", errors[0]);
        }
    }

    #[test]
    fn what_is_wrong_is_left_out_alone() {
        let text = TEMPLATE.replacen("overlap = 0", "overlapp = 0", 1);
        let read = Lesson::parse(&text, Path::new("it.md")).unwrap();
        let mut whole = Lesson::parse(TEMPLATE, Path::new("it.md")).unwrap();
        // What is claimed of the setting goes with it.
        whole.lesson.steps[0].claims.clear();
        assert_eq!(read.errors.len(), 1);
        assert_eq!(read.lesson, whole.lesson);
    }

    #[test]
    fn what_is_claimed_of_a_setting_with_an_error_is_left_out() {
        let claims = "```expect\ncycles < 9\n```\n```try\nk = 4: cycles < 9\n```\n## Next\n```expect\nk = 4\n```";
        for setting in ["problem = \"nosuch\"", "k = 0", "k 16"] {
            let step = format!("## First\n```tilescope\n{setting}\n```\n{claims}");
            let after = "## Then\n```tilescope\nk = 4\n```\n```expect\ncycles < 9, k = 4\n```";
            let text = format!("+++\ntitle = \"It\"\n+++\n{step}\n{after}\n");
            let read = Lesson::parse(&text, Path::new("it.md")).unwrap();
            assert_eq!(read.errors.len(), 1, "{:?}", read.errors);
            let steps = &read.lesson.steps;
            assert_eq!(steps.iter().map(|it| it.claims.len()).collect::<Vec<_>>(), [0, 0, 2]);
            assert!(steps.iter().all(|step| step.goal.is_none()));
        }
    }

    #[test]
    fn a_text_without_steps_is_no_lesson() {
        for text in ["", "Text.", "+++\ntitle = \"It\"\n+++\n", "# Title\n\nText."] {
            let error = Lesson::parse(text, Path::new("it.md")).unwrap_err().to_string();
            assert!(error.starts_with("it.md is not a lesson: it has no step"), "{error}");
        }
    }

    /// Texts that were cut off, nested or made of anything else are read without a panic.
    #[test]
    fn no_text_makes_the_reader_panic() {
        for end in 0..TEMPLATE.len() {
            if let Some(text) = TEMPLATE.get(..end) {
                _ = Lesson::parse(text, Path::new("it.md"));
            }
        }
        for part in
            ["> ", "- ", "**", "{{", "}}", "```tilescope\n", "## \n", "+++\n", "[a](", "<b>"]
        {
            let text = format!("## A step\n\n{}", part.repeat(5000));
            _ = Lesson::parse(&text, Path::new("it.md"));
        }
    }
}
