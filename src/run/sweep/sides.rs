//! A number of points along the axes of a grid.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::fmt;
use std::str::FromStr;

/// A number that stands for every axis, or one for each: `32`, or `32x16`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PerAxis {
    x: usize,
    y: Option<usize>,
}

/// A text that is no number, nor one for each of two axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it must be a whole number, or one for each axis such as 32x16")]
pub struct PerAxisError;

impl PerAxis {
    /// The same along every axis.
    pub fn all(points: usize) -> Self {
        Self { x: points, y: None }
    }

    /// The number along an axis, 0 for x.
    pub fn of(self, axis: usize) -> usize {
        if axis == 0 { self.x } else { self.y.unwrap_or(self.x) }
    }

    /// The larger of both.
    pub fn largest(self) -> usize {
        self.x.max(self.of(1))
    }

    /// As in a run's description, where a single number stands for every axis.
    pub fn list(self) -> Vec<usize> {
        [Some(self.x), self.y].into_iter().flatten().collect()
    }

    /// From a run's description.
    pub fn from_list(list: &[usize]) -> Self {
        Self { x: list.first().copied().unwrap_or(0), y: list.get(1).copied() }
    }
}

impl fmt::Display for PerAxis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.y {
            Some(y) => write!(f, "{}x{y}", self.x),
            None => write!(f, "{}", self.x),
        }
    }
}

impl FromStr for PerAxis {
    type Err = PerAxisError;

    fn from_str(text: &str) -> Result<Self, PerAxisError> {
        let numbers: Result<Vec<usize>, _> =
            text.split(['x', 'X', '×']).map(|part| part.trim().parse()).collect();
        match numbers.as_deref() {
            Ok([x]) => Ok(Self { x: *x, y: None }),
            Ok([x, y]) => Ok(Self { x: *x, y: Some(*y) }),
            _ => Err(PerAxisError),
        }
    }
}

/// A number where one stands for all, for whoever reckons with it.
impl Serialize for PerAxis {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self.y {
            Some(_) => out.collect_str(self),
            None => out.serialize_u64(self.x as u64),
        }
    }
}

impl<'de> Deserialize<'de> for PerAxis {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sides_are_read_as_they_are_written(x in 0..9999_usize, y in proptest::option::of(0..9999_usize)) {
            let sides = PerAxis { x, y };
            prop_assert_eq!(sides.to_string().parse(), Ok(sides));
            prop_assert_eq!(PerAxis::from_list(&sides.list()), sides);
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for wrong in ["", "x", "4x", "-1", "1x2x3", "a"] {
            assert_eq!(wrong.parse::<PerAxis>(), Err(PerAxisError), "{wrong}");
        }
        assert_eq!("32 × 16".parse(), Ok(PerAxis { x: 32, y: Some(16) }));
    }
}
