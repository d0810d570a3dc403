//! A number for each axis of a grid.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use std::fmt;
use std::str::FromStr;

/// One number for all axes of a grid, or one for each of two or three: `32`, `32x16`, `32x16x8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PerAxis {
    /// x, y, z; 0 where there is no number.
    values: [usize; 3],
    count: usize,
}

/// A text that is neither a number nor one for each axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it must be a whole number, or one for each axis such as 32x16")]
pub struct PerAxisError;

impl PerAxis {
    /// The same number for all axes.
    pub fn all(value: usize) -> Self {
        Self { values: [value, 0, 0], count: 1 }
    }

    /// The number of an axis: 0 for x, 1 for y, 2 for z.
    pub fn of(self, axis: usize) -> usize {
        self.numbers().get(axis).copied().unwrap_or(self.values[0])
    }

    /// The largest number.
    pub fn largest(self) -> usize {
        self.numbers().iter().copied().max().unwrap_or(0)
    }

    /// The list in a run's description, where a single number stands for all axes.
    pub fn list(self) -> Vec<usize> {
        self.numbers().to_vec()
    }

    /// From the list in a run's description; numbers after the third are dropped.
    pub fn from_list(list: &[usize]) -> Self {
        let mut values = [0; 3];
        for (value, number) in values.iter_mut().zip(list) {
            *value = *number;
        }
        Self { values, count: list.len().clamp(1, 3) }
    }

    fn numbers(&self) -> &[usize] {
        &self.values[..self.count]
    }
}

impl fmt::Display for PerAxis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<_> = self.numbers().iter().map(ToString::to_string).collect();
        f.write_str(&numbers.join("x"))
    }
}

impl FromStr for PerAxis {
    type Err = PerAxisError;

    fn from_str(text: &str) -> Result<Self, PerAxisError> {
        let numbers: Result<Vec<usize>, _> =
            text.split(['x', 'X', '×']).map(|part| part.trim().parse()).collect();
        match numbers {
            Ok(numbers) if numbers.len() <= 3 => Ok(Self::from_list(&numbers)),
            _ => Err(PerAxisError),
        }
    }
}

/// A single number is serialized as a number, so that other programs can compute with it.
impl Serialize for PerAxis {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self.numbers() {
            [number] => out.serialize_u64(*number as u64),
            _ => out.collect_str(self),
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
        fn what_is_written_is_read(list in prop::collection::vec(0..9999_usize, 1..4)) {
            let numbers = PerAxis::from_list(&list);
            prop_assert_eq!(numbers.to_string().parse(), Ok(numbers));
            prop_assert_eq!(&numbers.list(), &list);
            prop_assert_eq!(Some(numbers.largest()), list.into_iter().max());
        }
    }

    #[test]
    fn other_texts_are_errors() {
        for wrong in ["", "x", "4x", "-1", "1x2x3x4", "a"] {
            assert_eq!(wrong.parse::<PerAxis>(), Err(PerAxisError), "{wrong}");
        }
        assert_eq!("32 × 16".parse(), Ok(PerAxis::from_list(&[32, 16])));
        assert_eq!([0, 1].map(|axis| PerAxis::all(8).of(axis)), [8, 8]);
    }
}
