//! The text of a step: words, emphasis, and values of the run that is shown.

use super::measure::{Evidence, Measure, Needs};

/// A piece of a paragraph.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Words as they are.
    Plain(String),
    /// *Emphasis.*
    Emphasis(String),
    /// **Strong text.**
    Strong(String),
    /// `Code`.
    Code(String),
    /// A value of the run that is shown.
    Value(&'static Measure),
}

/// A paragraph.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Paragraph(pub Vec<Piece>);

/// What stands for a value that is not known.
pub const UNKNOWN: &str = "–";

impl Piece {
    /// Its text, with the value of the run that is shown.
    pub fn text(&self, evidence: Option<&Evidence<'_>>) -> String {
        match self {
            Self::Plain(text) | Self::Emphasis(text) | Self::Strong(text) | Self::Code(text) => {
                text.clone()
            }
            Self::Value(measure) => evidence
                .and_then(|evidence| measure.value(evidence))
                .map_or_else(|| UNKNOWN.to_owned(), |value| measure.text(value)),
        }
    }
}

impl Paragraph {
    /// Its text alone.
    pub fn text(&self, evidence: Option<&Evidence<'_>>) -> String {
        self.0.iter().map(|piece| piece.text(evidence)).collect()
    }

    /// What its values need.
    pub fn needs(&self) -> Needs {
        let of = |piece: &Piece| match piece {
            Piece::Value(measure) => measure.needs,
            _ => Needs::default(),
        };
        self.0.iter().map(of).fold(Needs::default(), Needs::or)
    }

    /// Takes a word from its beginning, if it begins with that.
    pub(super) fn strip_prefix(&mut self, prefix: &str) -> bool {
        let Some(Piece::Plain(text)) = self.0.first_mut() else { return false };
        let Some(rest) = text.strip_prefix(prefix) else { return false };
        *text = rest.trim_start().to_owned();
        true
    }

    /// Takes a word from its end, if it ends with that.
    pub(super) fn strip_suffix(&mut self, suffix: &str) -> bool {
        let Some(Piece::Plain(text)) = self.0.last_mut() else { return false };
        let Some(rest) = text.trim_end().strip_suffix(suffix) else { return false };
        *text = rest.trim_end().to_owned();
        true
    }
}
