//! Lists of settings as they are typed: `4,8,16`, `0:30:2`, `32x16,64`, `1MB,4MB`.

use crate::grid::ByteCount;
use crate::run::sweep::per_axis::PerAxis;
use crate::solver::{MOST_HEIGHT, Subiterations};
use std::num::IntErrorKind;

/// The most values in a list.
const LONGEST: usize = 4096;

/// Parses whole numbers and ranges (from:to:step, the end included), separated by commas.
///
/// # Errors
/// What the list must be, as a sentence without its subject.
pub fn parse_numbers(text: &str) -> Result<Vec<usize>, String> {
    let whole = |text: &str| {
        text.trim().parse::<usize>().map_err(|why| match why.kind() {
            IntErrorKind::PosOverflow => format!("each number must be at most {}", usize::MAX),
            _ => "it must be whole numbers or ranges with commas, such as 4,8,16 or 0:30:2"
                .to_owned(),
        })
    };
    let mut values = Vec::new();
    for part in text.split(',') {
        let ends: Vec<_> = part.split(':').map(whole).collect::<Result<_, _>>()?;
        let (from, to, step) = match ends[..] {
            [value] => (value, value, 1),
            [from, to] => (from, to, 1),
            [from, to, step] => (from, to, step),
            _ => {
                return Err(format!("“{part}” is not a range; write from:to:step, such as 0:30:2"));
            }
        };
        if step == 0 {
            return Err(format!("the range {part} has step 0; it must be at least 1"));
        }
        if from > to {
            return Err(format!("the range {part} is reversed; write it as {to}:{from}:{step}"));
        }
        if (to - from) / step >= LONGEST - values.len() {
            return Err(format!("it has more than {LONGEST} values"));
        }
        values.extend((from..=to).step_by(step));
    }
    Ok(values)
}

/// The same for subiterations, of which `inf` is one: `4,8:32:8,inf`.
///
/// # Errors
/// As [`parse_numbers`].
pub fn parse_subiterations(text: &str) -> Result<Vec<Subiterations>, String> {
    let mut values = Vec::new();
    for part in text.split(',') {
        match part.parse() {
            Ok(Subiterations::Infinite) => values.push(Subiterations::Infinite),
            _ => values.extend(parse_numbers(part)?.into_iter().map(Subiterations::Finite)),
        }
        if values.len() > LONGEST {
            return Err(format!("it has more than {LONGEST} values"));
        }
    }
    Ok(values)
}

/// The same for numbers per axis: `4x2` is 4 along x and 2 along y.
///
/// # Errors
/// As [`parse_numbers`].
pub fn parse_per_axis(text: &str) -> Result<Vec<PerAxis>, String> {
    let mut values = Vec::new();
    for part in text.split(',') {
        if part.contains(['x', 'X', '×']) {
            values.push(part.parse::<PerAxis>().map_err(|error| error.to_string())?);
        } else {
            values.extend(parse_numbers(part)?.into_iter().map(PerAxis::all));
        }
        if values.len() > LONGEST {
            return Err(format!("it has more than {LONGEST} values"));
        }
    }
    Ok(values)
}

/// The same for heights, sweeps of a pass: `1,2,4,8`.
///
/// # Errors
/// As [`parse_numbers`].
pub fn parse_heights(text: &str) -> Result<Vec<usize>, String> {
    let heights = parse_numbers(text)?;
    match heights.iter().find(|height| !(1..=MOST_HEIGHT).contains(*height)) {
        Some(height) => Err(format!("{height} is not a height; it must be 1 to {MOST_HEIGHT}")),
        None => Ok(heights),
    }
}

/// Parses numbers of bytes, separated by commas: `1MB,4MB`.
///
/// # Errors
/// As [`parse_numbers`].
pub fn parse_budgets(text: &str) -> Result<Vec<ByteCount>, String> {
    let values = text.split(',').map(|part| part.parse::<ByteCount>());
    let values: Vec<_> = values.collect::<Result<_, _>>().map_err(|why| why.to_string())?;
    if values.len() > LONGEST {
        return Err(format!("it has more than {LONGEST} values"));
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_ranges_are_parsed_and_other_texts_are_errors() {
        assert_eq!(parse_numbers("4, 8,16"), Ok(vec![4, 8, 16]));
        assert_eq!(parse_numbers("0:7:3,9:10"), Ok(vec![0, 3, 6, 9, 10]));
        for wrong in ["", ",", "4,", "a", "-2", "30:0:2", "0:30:0", "1:2:3:4", ":", "0:99999"] {
            assert!(parse_numbers(wrong).is_err(), "{wrong}");
        }
        assert!(parse_numbers("30:0:2").unwrap_err().ends_with("write it as 0:30:2"));
        let said = parse_numbers("4,99999999999999999999").unwrap_err();
        assert!(said.starts_with("each number must be at most 18"), "{said}");
        assert_eq!(parse_heights("1,4096"), Ok(vec![1, 4096]));
        for wrong in ["0:4", "4097", "auto"] {
            assert!(parse_heights(wrong).is_err(), "{wrong}");
        }
        let budgets = parse_budgets("1MB, 500 kB").unwrap();
        assert_eq!(budgets, [1_000_000, 500_000].map(ByteCount::new));
        for wrong in ["", "1MB,", "1.5MB", "4XB"] {
            assert!(parse_budgets(wrong).is_err(), "{wrong}");
        }
        let named = |text: &str| {
            parse_per_axis(text)
                .map(|values| values.iter().map(PerAxis::to_string).collect::<Vec<_>>())
        };
        assert_eq!(named("0:4:2,8x2"), Ok(["0", "2", "4", "8x2"].map(str::to_owned).to_vec()));
        for wrong in ["", "4x", "x", "1x2x3x4", "4,", "8:4"] {
            assert!(parse_per_axis(wrong).is_err(), "{wrong}");
        }
    }
}
