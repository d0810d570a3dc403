//! What is wrong with the text of a lesson, and in which line.

/// A part of a lesson that cannot be used; the rest of the lesson works without it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{file}, line {line}: {fault}")]
pub struct LessonError {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub fault: Fault,
}

/// What is wrong in a line of a lesson, and what is allowed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Fault {
    /// An unknown key.
    #[error("there is no key {key}; choose from {allowed}")]
    Key {
        /// The key.
        key: String,
        /// The known ones.
        allowed: String,
    },
    /// A value that a key cannot have.
    #[error("{key} = {value} is not possible: {why}")]
    Value {
        /// The key.
        key: String,
        /// Its value.
        value: String,
        /// What is allowed.
        why: String,
    },
    /// Text that is not TOML.
    #[error("this is not TOML: {0}")]
    Toml(String),
    /// A run that is not possible.
    #[error("this run is not possible: {0}")]
    Run(String),
    /// An unknown measured value.
    #[error("there is no measured value {name}; choose from {allowed}")]
    Measure {
        /// Its name.
        name: String,
        /// The known names.
        allowed: String,
    },
    /// A condition that cannot be read.
    #[error(
        "“{0}” is not a condition; conditions are written like edge_share = 0.3..0.4, edge_share < 40 % or cycles = 12"
    )]
    Condition(String),
    /// A part of a lesson that is not where it can be, or lacks something.
    #[error("{0}")]
    Structure(&'static str),
    /// A kind of Markdown that a lesson cannot show.
    #[error(
        "{0} cannot be shown in a lesson; it may have paragraphs, lists, *emphasis*, **strong text** and `code`"
    )]
    Markdown(&'static str),
}

impl Fault {
    /// A value that a key cannot have.
    pub(super) fn value(key: &str, value: impl ToString, why: impl Into<String>) -> Self {
        Self::Value { key: key.to_owned(), value: value.to_string(), why: why.into() }
    }
}
