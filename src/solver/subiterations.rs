//! The number k of subiterations of a cycle: a whole number, or infinity.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::str::FromStr;

/// Subiterations that are followed of infinitely many.
const FOLLOWED: usize = 256;

/// The number k of subiterations of a cycle.
///
/// Its text, on the command line and in files, is a whole number or `inf`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subiterations {
    /// This many sweeps inside every tile.
    Finite(usize),
    /// The limit of many sweeps: every tile is solved exactly for its frozen halo.
    Infinite,
}

impl Subiterations {
    /// k as a number, if it is one.
    pub fn finite(self) -> Option<usize> {
        match self {
            Self::Finite(k) => Some(k),
            Self::Infinite => None,
        }
    }

    /// k as a real number: infinity where it is that.
    pub fn to_f64(self) -> f64 {
        self.finite().map_or(f64::INFINITY, |k| k as f64)
    }

    /// The sweeps that a cycle counts as: k, and one for k = ∞, where a cycle has no number of sweeps.
    pub fn counted_sweeps(self) -> u64 {
        self.finite().map_or(1, |k| k as u64)
    }

    /// Subiterations that can be followed one by one: all, or the first of infinitely many.
    pub fn followed(self) -> usize {
        self.finite().unwrap_or(FOLLOWED)
    }

    /// The text in the window and in titles: the number, or ∞.
    pub fn label(self) -> String {
        self.finite().map_or_else(|| "∞".to_owned(), |k| k.to_string())
    }
}

impl From<usize> for Subiterations {
    fn from(k: usize) -> Self {
        Self::Finite(k)
    }
}

impl PartialEq<usize> for Subiterations {
    fn eq(&self, other: &usize) -> bool {
        self.finite() == Some(*other)
    }
}

impl fmt::Display for Subiterations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Finite(k) => k.fmt(f),
            Self::Infinite => f.pad("inf"),
        }
    }
}

/// The largest number of subiterations of a run; every tile can be solved exactly in its place.
pub const MOST_SUBITERATIONS: usize = 1_000_000;

/// Why a text is not a number of subiterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it must be a whole number, 1 to {MOST_SUBITERATIONS}, or inf")]
pub struct SubiterationsError;

impl FromStr for Subiterations {
    type Err = SubiterationsError;
    fn from_str(text: &str) -> Result<Self, SubiterationsError> {
        match text.trim() {
            "inf" | "∞" => Ok(Self::Infinite),
            number => number.parse().map(Self::Finite).map_err(|_| SubiterationsError),
        }
    }
}

impl Serialize for Subiterations {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Finite(k) => serializer.serialize_u64(*k as u64),
            Self::Infinite => serializer.collect_str(self),
        }
    }
}

impl<'de> Deserialize<'de> for Subiterations {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl de::Visitor<'_> for Visitor {
            type Value = Subiterations;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a whole number of subiterations, or \"inf\"")
            }
            fn visit_u64<E: de::Error>(self, k: u64) -> Result<Self::Value, E> {
                let refused = || E::invalid_value(de::Unexpected::Unsigned(k), &self);
                usize::try_from(k).map(Subiterations::Finite).map_err(|_| refused())
            }
            fn visit_i64<E: de::Error>(self, k: i64) -> Result<Self::Value, E> {
                let refused = || E::invalid_value(de::Unexpected::Signed(k), &self);
                usize::try_from(k).map(Subiterations::Finite).map_err(|_| refused())
            }
            // TOML has a number for infinity, and CSV readers guess one.
            fn visit_f64<E: de::Error>(self, k: f64) -> Result<Self::Value, E> {
                if k == f64::INFINITY {
                    return Ok(Subiterations::Infinite);
                }
                Err(E::invalid_type(de::Unexpected::Float(k), &self))
            }
            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                let refused = |_| E::invalid_value(de::Unexpected::Str(text), &self);
                text.parse().map_err(refused)
            }
        }
        deserializer.deserialize_any(Visitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_files_hold_every_k() {
        for k in [Subiterations::Finite(1), 1_000_000.into(), Subiterations::Infinite] {
            assert_eq!(k.to_string().parse(), Ok(k));
            let json = serde_json::to_string(&k).unwrap();
            assert_eq!(serde_json::from_str::<Subiterations>(&json).unwrap(), k);
        }
        let toml: std::collections::BTreeMap<String, Subiterations> =
            toml::from_str("a = inf\nb = \"inf\"\nc = 16\n").unwrap();
        assert_eq!(toml["a"], Subiterations::Infinite);
        assert_eq!(toml["b"], Subiterations::Infinite);
        assert_eq!(toml["c"], 16);
        for wrong in ["-1", "1.5", "-inf", "nan", "many", ""] {
            assert_eq!(wrong.parse::<Subiterations>(), Err(SubiterationsError), "{wrong}");
        }
        assert!(Subiterations::Infinite > Subiterations::Finite(usize::MAX));
    }
}
