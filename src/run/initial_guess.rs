//! An initial guess in place of the problem's own.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// An initial guess, as it was chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, expecting = "it must be a number, or the path of an .npy array")]
pub enum InitialGuess {
    /// The same value everywhere.
    Value(f64),
    /// All values, from an .npy array in the shape of the grid; of a matrix also from a Matrix Market file.
    File(PathBuf),
}

impl InitialGuess {
    /// Its file, if it has one.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::Value(_) => None,
            Self::File(path) => Some(path),
        }
    }

    pub(super) fn file_mut(&mut self) -> Option<&mut PathBuf> {
        match self {
            Self::Value(_) => None,
            Self::File(path) => Some(path),
        }
    }
}

/// A number is a value; anything else is a path.
impl FromStr for InitialGuess {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Ok(text.trim().parse().map_or_else(|_| Self::File(text.into()), Self::Value))
    }
}

impl fmt::Display for InitialGuess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(constant) => write!(f, "{constant:?}"),
            // Or it would be read as a value.
            Self::File(path) if path.to_string_lossy().trim().parse::<f64>().is_ok() => {
                write!(f, "./{}", path.display())
            }
            Self::File(path) => write!(f, "{}", path.display()),
        }
    }
}
