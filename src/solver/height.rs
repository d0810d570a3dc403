//! The height of a pyramid or a wavefront: sweeps of a pass.

use super::streaming::MOST_HEIGHT;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::str::FromStr;

/// Sweeps of a pass. Its text, on the command line and in files, is a whole number or `auto`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Height {
    /// What the model of the method finds best.
    #[default]
    Auto,
    /// This many.
    Sweeps(usize),
}

/// Why a text is not a height.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it must be auto or a whole number, 1 to {MOST_HEIGHT}")]
pub struct HeightError;

impl fmt::Display for Height {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.pad("auto"),
            Self::Sweeps(height) => height.fmt(f),
        }
    }
}

impl FromStr for Height {
    type Err = HeightError;
    fn from_str(text: &str) -> Result<Self, HeightError> {
        match text.trim() {
            "auto" => Ok(Self::Auto),
            number => number.parse().map(Self::Sweeps).map_err(|_| HeightError),
        }
    }
}

impl Serialize for Height {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::Sweeps(height) => serializer.serialize_u64(*height as u64),
        }
    }
}

impl<'de> Deserialize<'de> for Height {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "it must be a whole number of sweeps, or \"auto\"")]
        enum Written {
            Number(usize),
            Text(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Number(height) => Ok(Self::Sweeps(height)),
            Written::Text(text) => text.parse().map_err(de::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_files_hold_every_height() {
        for height in [Height::Auto, Height::Sweeps(0), Height::Sweeps(12)] {
            assert_eq!(height.to_string().parse(), Ok(height));
            let json = serde_json::to_string(&height).unwrap();
            assert_eq!(serde_json::from_str::<Height>(&json).unwrap(), height);
        }
        for wrong in ["-1", "1.5", "many", ""] {
            assert_eq!(wrong.parse::<Height>(), Err(HeightError), "{wrong}");
        }
        assert!(serde_json::from_str::<Height>("-1").is_err());
    }
}
