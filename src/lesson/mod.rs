//! Floor 5: lessons. A lesson is a Markdown file of steps; each step shows a run, and may ask, set a goal
//! and claim something, which [`Lesson::check`] measures. Nothing here needs a window.
//!
//! `assets/lessons/README.md` describes the format.

mod check;
mod condition;
mod error;
mod library;
mod markdown;
mod measure;
mod read;
mod setting;
mod steps;
mod text;

pub use check::Checked;
pub use condition::Condition;
pub use error::{Fault, LessonError};
pub use library::{TEMPLATE, lesson_named, lessons};
pub use measure::{Evidence, Measure, Needs};
pub use read::{LoadError, ReadLesson};
pub use setting::{At, Control, Setting, Show, ShownRange, Target};
pub use steps::{Claim, Goal, Lesson, Prediction, Step};
pub use text::{Paragraph, Piece, UNKNOWN};
