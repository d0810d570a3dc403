//! The values of options that are more than a number or a name.
//!
//! What is read here has the right form; whether it makes sense is found out where all of a run is
//! checked ([`Planner`](crate::run::Planner)).

use crate::picture::{LARGEST_SIDE, SMALLEST_SIDE};
use crate::problem::{Boundary, Stencil};

/// A number for each axis, x first; one may stand for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Axes(pub Vec<usize>);

pub(super) fn axes(text: &str) -> Result<Axes, String> {
    let numbers: Result<Vec<usize>, _> = text.split(['x', 'X', '×']).map(str::parse).collect();
    match numbers {
        Ok(numbers) if numbers.len() <= 3 => Ok(Axes(numbers)),
        _ => Err("it must be a whole number, or one for each axis such as 256x192".to_owned()),
    }
}

pub(super) fn whole<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "it must be a whole number, such as 16".to_owned())
}

/// The most values of a list.
const LONGEST_LIST: usize = 4096;

/// Values of a sweep: `4,8,16`, `0:30:2` (from, to and with, step), `1:8`, or several of these with
/// commas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct List(pub Vec<usize>);

pub(super) fn list(text: &str) -> Result<List, String> {
    let whole = |text: &str| {
        text.trim().parse::<usize>().map_err(|_| {
            "it must be whole numbers or ranges with commas, such as 4,8,16 or 0:30:2".to_owned()
        })
    };
    let mut values = Vec::new();
    for part in text.split(',') {
        let ends: Vec<_> = part.split(':').map(whole).collect::<Result<_, _>>()?;
        let (from, to, step) = match ends[..] {
            [value] => (value, value, 1),
            [from, to] => (from, to, 1),
            [from, to, step] => (from, to, step),
            _ => return Err(format!("“{part}” is no range; one is from:to:step, such as 0:30:2")),
        };
        if step == 0 {
            return Err(format!("the range {part} has step 0; it must be at least 1"));
        }
        if from > to {
            return Err(format!("the range {part} is reversed; write it as {to}:{from}:{step}"));
        }
        if (to - from) / step >= LONGEST_LIST - values.len() {
            return Err(format!("it has more than {LONGEST_LIST} values"));
        }
        values.extend((from..=to).step_by(step));
    }
    Ok(List(values))
}

pub(super) fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "it must be a number, such as 1e-4".to_owned())
}

pub(super) fn velocity(text: &str) -> Result<[f64; 2], String> {
    let refuse = || "it must be two numbers with a comma, such as 60,25".to_owned();
    let (x, y) = text.split_once(',').ok_or_else(refuse)?;
    let number = |text: &str| text.trim().parse().map_err(|_| refuse());
    Ok([number(x)?, number(y)?])
}

pub(super) fn boundary(text: &str) -> Result<Boundary, String> {
    let mut boundary = Boundary::default();
    for (name, value) in pairs(text)? {
        match name {
            "left" => boundary.left = value,
            "right" => boundary.right = value,
            "top" => boundary.top = value,
            "bottom" => boundary.bottom = value,
            _ => return Err(format!("{name} is no side; left, right, top and bottom are")),
        }
    }
    Ok(boundary)
}

pub(super) fn stencil(text: &str) -> Result<Stencil, String> {
    let mut entries = [None; 5];
    for (name, value) in pairs(text)? {
        let entry = ["d", "a", "c", "e", "f"].iter().position(|entry| *entry == name);
        match entry {
            Some(entry) => entries[entry] = Some(value),
            None => return Err(format!("{name} is no entry; d, a, c, e and f are")),
        }
    }
    match entries {
        [Some(d), Some(a), Some(c), e, f] => {
            Ok(Stencil { d, a, c, e: e.unwrap_or(0.0), f: f.unwrap_or(0.0) })
        }
        _ => Err("d, a and c must be given, such as d=4,a=-1,c=-1,e=-1,f=-1".to_owned()),
    }
}

/// `name=value` pairs with commas between them.
fn pairs(text: &str) -> Result<Vec<(&str, f64)>, String> {
    let pair = |part: &'_ str| -> Option<(usize, f64)> {
        let at = part.find('=')?;
        Some((at, part[at + 1..].trim().parse().ok()?))
    };
    let mut pairs: Vec<(&str, f64)> = Vec::new();
    for part in text.split(',') {
        let Some((at, value)) = pair(part) else {
            return Err(format!("“{part}” is not of the form name=number"));
        };
        let name = part[..at].trim();
        if pairs.iter().any(|(known, _)| *known == name) {
            return Err(format!("{name} is given twice"));
        }
        pairs.push((name, value));
    }
    Ok(pairs)
}

pub(super) fn size(text: &str) -> Result<[u32; 2], String> {
    let allowed = SMALLEST_SIDE..=LARGEST_SIDE;
    let sides = text.split_once(['x', 'X', '×']);
    let side = |text: &str| text.parse().ok().filter(|side| allowed.contains(side));
    match sides.and_then(|(width, height)| side(width).zip(side(height))) {
        Some((width, height)) => Ok([width, height]),
        None => Err(format!(
            "it must be two whole numbers of {SMALLEST_SIDE} to {LARGEST_SIDE} pixels, such as 1200x900"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_are_read_and_others_refused() {
        assert_eq!(axes("1024"), Ok(Axes(vec![1024])));
        assert_eq!(axes("256x192"), Ok(Axes(vec![256, 192])));
        for wrong in ["", "x", "4x", "-4", "4.5", "4,2", "1x2x3x4", "99999999999999999999"] {
            assert!(axes(wrong).is_err(), "{wrong}");
        }
        assert_eq!(list("4, 8,16"), Ok(List(vec![4, 8, 16])));
        assert_eq!(list("0:7:3,9:10"), Ok(List(vec![0, 3, 6, 9, 10])));
        for wrong in ["", ",", "4,", "a", "-2", "30:0:2", "0:30:0", "1:2:3:4", ":", "0:99999"] {
            assert!(list(wrong).is_err(), "{wrong}");
        }
        assert!(list("30:0:2").unwrap_err().ends_with("write it as 0:30:2"));
        assert_eq!(velocity("-3,1e2"), Ok([-3.0, 100.0]));
        assert!(velocity("3").is_err() && velocity("3,4,5").is_err());
        let expected = Boundary { left: 1.0, top: -0.5, ..Boundary::default() };
        assert_eq!(boundary("left=1, top=-0.5"), Ok(expected));
        for wrong in ["", "left", "left=a", "front=1", "left=1,left=2"] {
            assert!(boundary(wrong).is_err(), "{wrong}");
        }
        let expected = Stencil { d: 2.0, a: -1.0, c: -1.0, e: 0.0, f: 0.0 };
        assert_eq!(stencil("d=2,a=-1,c=-1"), Ok(expected));
        assert!(stencil("d=2,a=-1").is_err() && stencil("d=2,a=-1,c=-1,g=1").is_err());
        assert_eq!(size("640x480"), Ok([640, 480]));
        for wrong in ["640", "0x480", "640x99999", "axb"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }
}
