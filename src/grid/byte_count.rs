//! A number of bytes as a setting.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::str::FromStr;

/// A number of bytes as a setting. Its text is a whole number with a unit in powers of 1000 or of 1024,
/// such as `64MB`, `8 GiB` or `5000B`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ByteCount(u64);

/// Units, the largest first. Those of 1024 are read, and never written.
const UNITS: [(&str, u64); 9] = [
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("B", 1),
];

/// Units that are written: all of 1000, and the last.
const WRITTEN: usize = 4;

/// Why a text is not a number of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it must be a whole number of bytes with a unit, such as 64MB or 8GB")]
pub struct ByteCountError;

impl ByteCount {
    /// This many bytes.
    pub const fn new(bytes: u64) -> Self {
        Self(bytes)
    }

    /// How many.
    pub const fn bytes(self) -> u64 {
        self.0
    }

    /// At least as many, by less than a tenth more, that have a short text: `74kB` for 73,872 bytes.
    #[must_use]
    pub fn rounded_up(self) -> Self {
        let units = UNITS[..WRITTEN].iter().map(|(_, unit)| *unit);
        let unit = units.into_iter().find(|unit| self.0 >= 10 * unit).unwrap_or(1);
        Self(self.0.div_ceil(unit).saturating_mul(unit))
    }
}

impl fmt::Display for ByteCount {
    /// Exactly, with the largest unit of 1000 that divides it: `64MB`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let divides = |(_, unit): &&(&str, u64)| self.0 > 0 && self.0.is_multiple_of(*unit);
        let (name, unit) = UNITS[..WRITTEN].iter().find(divides).unwrap_or(&("B", 1));
        write!(f, "{}{name}", self.0 / unit)
    }
}

impl FromStr for ByteCount {
    type Err = ByteCountError;
    fn from_str(text: &str) -> Result<Self, ByteCountError> {
        let text = text.trim();
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, name) = (&text[..end], text[end..].trim_start());
        let unit = match name {
            "" => Some(1),
            _ => UNITS.iter().find(|unit| unit.0.eq_ignore_ascii_case(name)).map(|unit| unit.1),
        };
        let bytes = number.parse::<u64>().ok().zip(unit);
        let bytes = bytes.and_then(|(number, unit)| number.checked_mul(unit));
        bytes.map(Self).ok_or(ByteCountError)
    }
}

impl Serialize for ByteCount {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ByteCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn texts_have_units() {
        for (text, bytes, written) in [
            ("64MB", 64_000_000, "64MB"),
            ("8 gb", 8_000_000_000, "8GB"),
            ("1 MiB", 1 << 20, "1048576B"),
            ("1500", 1500, "1500B"),
            ("1500kB", 1_500_000, "1500kB"),
            ("0", 0, "0B"),
        ] {
            let count: ByteCount = text.parse().unwrap();
            assert_eq!((count.bytes(), count.to_string().as_str()), (bytes, written), "{text}");
        }
        for (bytes, rounded) in [(73_872, "74kB"), (9_999, "9999B"), (12_000_001, "13MB")] {
            assert_eq!(ByteCount::new(bytes).rounded_up().to_string(), rounded);
        }
        for wrong in ["", "MB", "-1MB", "1.5GB", "8XB", "99999999999TB"] {
            assert_eq!(wrong.parse::<ByteCount>(), Err(ByteCountError), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn a_number_of_bytes_survives_its_text(bytes in any::<u64>()) {
            let count = ByteCount::new(bytes);
            prop_assert_eq!(count.to_string().parse(), Ok(count));
            let rounded = count.rounded_up().bytes();
            prop_assert!(rounded >= bytes && (rounded - bytes) as f64 <= 0.1 * bytes as f64);
        }
    }
}
