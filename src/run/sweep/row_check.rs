//! What is wrong with a row of a sweep's table that somebody has edited.

use super::per_axis::PerAxis;
use super::row::{Cycles, RowOutcome};
use crate::grid::ByteCount;
use crate::solver::Subiterations;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use serde::de::value::Error;

/// Checks the fields of a row, each by the column that it is in.
///
/// # Errors
/// What is wrong, as part of a sentence: the column, its value and what is allowed.
pub(super) fn check_fields(
    row: &csv::ByteRecord,
    header: &csv::StringRecord,
) -> Result<(), String> {
    if row.len() != header.len() {
        let (fields, columns) = (row.len(), header.len());
        return Err(format!("it has {fields} fields, and the first line has {columns}"));
    }
    for (column, field) in header.iter().zip(row) {
        let value = String::from_utf8_lossy(field);
        let refused = match str::from_utf8(field) {
            Ok(value) => check(column, value),
            Err(_) => Err("it must be text (UTF-8)".to_owned()),
        };
        refused.map_err(|allowed| format!("{column} is “{value}”; {allowed}"))?;
    }
    let of =
        |name: &str| header.iter().position(|column| column == name).and_then(|at| row.get(at));
    match (of("outcome"), of("seconds")) {
        (Some(outcome), Some(seconds)) if outcome != b"measured" && !seconds.is_empty() => {
            let [outcome, seconds] = [outcome, seconds].map(String::from_utf8_lossy);
            Err(format!("outcome is “{outcome}”; with seconds of “{seconds}” it must be measured"))
        }
        _ => Ok(()),
    }
}

/// Checks a value of a column.
fn check(column: &str, value: &str) -> Result<(), String> {
    let is_empty = value.is_empty();
    let number = value.parse::<f64>().ok();
    let is_allowed = |is_allowed: bool, allowed: &str| match is_allowed {
        true => Ok(()),
        false => Err(allowed.to_owned()),
    };
    match column {
        "k" => value.parse::<Subiterations>().map(drop).map_err(|why| why.to_string()),
        "overlap" | "tile" => value.parse::<PerAxis>().map(drop).map_err(|why| why.to_string()),
        "memory" => value.parse::<ByteCount>().map(drop).map_err(|why| why.to_string()),
        "height" | "threads" => {
            is_allowed(value.parse::<usize>().is_ok(), "it must be a whole number")
        }
        "cycles" => is_allowed(
            is_empty || Cycles::deserialize(deserializer(value)).is_ok(),
            "it must be a whole number, one after a “>” sign, or empty",
        ),
        "sweeps" | "repeats" => is_allowed(
            is_empty || value.parse::<u64>().is_ok(),
            "it must be a whole number, or empty",
        ),
        "seconds_per_cycle" => is_allowed(
            is_empty || number.is_some_and(|number| number.is_finite() && number > 0.0),
            "it must be a positive number, or empty",
        ),
        // A run whose initial guess is within the tolerance takes no time.
        "seconds" | "seconds_per_cycle_error" => is_allowed(
            is_empty || number.is_some_and(|number| number.is_finite() && number >= 0.0),
            "it must be a number that is not negative, or empty",
        ),
        "predicted_seconds_per_cycle"
        | "prediction_error"
        | "predicted_cycles"
        | "predicted_cycles_bar"
        | "cycles_prediction_error"
        | "predicted_seconds"
        | "seconds_prediction_error"
        | "edge_share"
        | "error_left" => is_allowed(is_empty || number.is_some(), "it must be a number, or empty"),
        "outcome" => is_allowed(RowOutcome::deserialize(deserializer(value)).is_ok(), OUTCOMES),
        _ => Ok(()),
    }
}

/// What the column of the outcome may hold.
const OUTCOMES: &str = "it must be measured, capped, rounding-limit, diverged or cannot-run";

fn deserializer(value: &str) -> serde::de::value::StrDeserializer<'_, Error> {
    value.into_deserializer()
}

#[cfg(test)]
mod tests {
    use super::super::row::SweepRow;
    use super::*;

    #[test]
    fn a_value_that_a_column_cannot_have_is_named_with_what_it_can() {
        for (column, allowed, refused) in [
            ("k", &["1", "inf"][..], &["", "0x4", "-1", "many"][..]),
            ("tile", &["8", "8x4"], &["", "8x"]),
            ("height", &["1", "16"], &["", "auto", "-1"]),
            ("memory", &["4MB", "1048576B"], &["", "much", "1.5MB"]),
            ("cycles", &["", "7", ">1000"], &["abc", "-1", "7.5", "<3"]),
            ("sweeps", &["", "0", "28"], &["1e3", "-1"]),
            ("seconds", &["", "0.0", "1e-9"], &["-1", "NaN", "inf", "1e400", "fast"]),
            ("seconds_per_cycle", &["", "1e-9"], &["0", "-1", "NaN", "inf"]),
            ("edge_share", &["", "0.5"], &["half"]),
            (
                "outcome",
                &["measured", "capped", "rounding-limit", "diverged", "cannot-run"],
                &["", "misured", "Measured"],
            ),
            ("machine", &["", "any text"], &[]),
        ] {
            for value in allowed {
                assert_eq!(check(column, value), Ok(()), "{column} = {value}");
            }
            for value in refused {
                let said = check(column, value).expect_err(value);
                assert!(said.starts_with("it must be "), "{column} = {value}: {said}");
            }
        }
    }

    #[test]
    fn what_did_not_reach_the_tolerance_took_no_time_to_it() {
        let header = csv::StringRecord::from(vec!["seconds", "outcome"]);
        let check = |row: [&str; 2]| check_fields(&csv::ByteRecord::from(row.to_vec()), &header);
        assert_eq!(check(["0.5", "measured"]), Ok(()));
        assert_eq!(check(["", "diverged"]), Ok(()));
        assert!(check(["0.5", "diverged"]).unwrap_err().starts_with("outcome is “diverged”"));
    }

    #[test]
    fn a_row_of_another_length_is_not_of_the_table() {
        let header = csv::StringRecord::from(SweepRow::NAMES.to_vec());
        let row = csv::ByteRecord::from(vec![""; SweepRow::NAMES.len() + 1]);
        let said = check_fields(&row, &header).unwrap_err();
        assert_eq!(said, "it has 28 fields, and the first line has 27");
    }
}
