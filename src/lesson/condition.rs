//! Conditions on measured values: `edge_share = 0.3..0.4`, `edge_share < 40 %`, `cycles = 12`.

use super::error::Fault;
use super::measure::{Evidence, Measure};
use std::fmt;
use std::ops::RangeInclusive;

/// A condition on a measured value.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The value.
    pub measure: &'static Measure,
    allowed: Allowed,
    /// As it was written.
    text: String,
}

#[derive(Clone, Debug, PartialEq)]
enum Allowed {
    /// The ends included.
    Within(RangeInclusive<f64>),
    Below(f64),
    Above(f64),
}

impl Condition {
    /// Reads a condition.
    ///
    /// # Errors
    /// [`Fault`] if it has another form, or names no measured value.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        let text = text.trim();
        let refused = || Fault::Condition(text.to_owned());
        let at = text.find(['=', '<', '>']).ok_or_else(refused)?;
        let (name, rest) = text.split_at(at);
        let measure = Measure::named(name.trim())?;
        let value = |text| number(text).ok_or_else(refused);
        let right = &rest[1..];
        let allowed = match (&rest[..1], right.split_once("..")) {
            ("<", None) => Allowed::Below(value(right)?),
            (">", None) => Allowed::Above(value(right)?),
            ("=", Some((from, to))) => {
                let (from, to) = (value(from)?, value(to)?);
                if from > to {
                    return Err(refused());
                }
                Allowed::Within(from..=to)
            }
            ("=", None) => {
                let value = value(right)?;
                Allowed::Within(value..=value)
            }
            _ => return Err(refused()),
        };
        Ok(Self { measure, allowed, text: text.to_owned() })
    }

    /// Whether a value fulfils it.
    pub fn holds(&self, value: f64) -> bool {
        match &self.allowed {
            Allowed::Within(range) => range.contains(&value),
            Allowed::Below(limit) => value < *limit,
            Allowed::Above(limit) => value > *limit,
        }
    }

    /// The condition as a reader sees it: `share of ‖r‖² near tile borders above 90 %`.
    pub fn in_words(&self) -> String {
        let (measure, text) = (self.measure, |value: f64| self.measure.text(value));
        let allowed = match &self.allowed {
            Allowed::Below(limit) => format!("below {}", text(*limit)),
            Allowed::Above(limit) => format!("above {}", text(*limit)),
            Allowed::Within(range) if range.start() == range.end() => {
                format!("= {}", text(*range.start()))
            }
            Allowed::Within(range) => {
                format!("from {} to {}", text(*range.start()), text(*range.end()))
            }
        };
        format!("{} {allowed}", measure.label)
    }

    /// Whether it is fulfilled; not while the value is not known.
    pub fn is_met(&self, evidence: &Evidence<'_>) -> bool {
        self.measure.value(evidence).is_some_and(|value| self.holds(value))
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A number, or a percentage.
fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    let (text, unit) = match text.strip_suffix('%') {
        Some(text) => (text.trim_end(), 0.01),
        None => (text, 1.0),
    };
    let value: f64 = text.parse().ok()?;
    (!value.is_nan()).then_some(value * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_hold_within_their_limits() {
        let holds = |text: &str, value| Condition::parse(text).unwrap().holds(value);
        assert!(holds("edge_share = 0.3..0.4", 0.4) && !holds("edge_share = 0.3..0.4", 0.41));
        assert!(holds("edge_share < 40 %", 0.39) && !holds("edge_share < 40%", 0.4));
        assert!(holds("cycles = 12", 12.0) && !holds("cycles = 12", 13.0));
        assert!(holds("reduction > 1e3", 2e3) && !holds("reduction > 1e3", 1e3));
    }

    #[test]
    fn a_condition_is_read_in_words() {
        for (text, expected) in [
            ("edge_share > 90 %", "share of ‖r‖² near tile borders above 90 %"),
            ("sweep_traffic < 0.05", "values moved per point and sweep below 0.05"),
            ("staleness = 0", "largest staleness = 0"),
            ("work_ratio = 1..2.5", "work, relative to Jacobi's iteration from 1× to 2.5×"),
        ] {
            assert_eq!(Condition::parse(text).unwrap().in_words(), expected);
        }
    }

    #[test]
    fn other_texts_are_refused() {
        for wrong in ["", "edge_share", "edge_share ~ 3", "k = a", "k = 4..2", "k < 1..2", "k = "] {
            assert!(matches!(Condition::parse(wrong), Err(Fault::Condition(_))), "{wrong}");
        }
        assert!(matches!(Condition::parse("speed > 3"), Err(Fault::Measure { .. })));
    }
}
