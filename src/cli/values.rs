//! Parsers for option values that are more than a number or a name.
//!
//! They check the form only; [`Planner`](crate::run::Planner) checks whether a run makes sense.

use crate::grid::{ByteCount, GridPoint, INDEX_NAMES, Slice};
use crate::picture::{FigureKind, LARGEST_SIDE, PlacedFigure, Range, SMALLEST_SIDE, Spacing};
use crate::problem::{Boundary, HotBox, Stencil};
use crate::run::{
    CutLine, InitialGuess, MOST_THREADS, PerAxis, all_gpus, parse_budgets, parse_heights,
    parse_numbers, parse_per_axis, parse_subiterations,
};
use crate::solver::Subiterations;
use std::fmt::Display;
use std::num::{IntErrorKind, ParseIntError};
use std::str::FromStr;

/// A number per axis, x first; a single one holds for all axes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Axes(pub Vec<usize>);

pub(super) fn axes(text: &str) -> Result<Axes, String> {
    let numbers: Result<Vec<usize>, _> = text.split(['x', 'X', '×']).map(str::parse).collect();
    match numbers {
        Ok(numbers) if numbers.len() <= 3 => Ok(Axes(numbers)),
        Err(why) if *why.kind() == IntErrorKind::PosOverflow => {
            Err(format!("each number must be at most {}", usize::MAX))
        }
        _ => Err("it must be a whole number, or one for each axis such as 256x192".to_owned()),
    }
}

/// The grid of the nodes of a matrix.
pub(super) fn nodes(text: &str) -> Result<[usize; 2], String> {
    let nodes = axes(text).ok().and_then(|Axes(nodes)| <[usize; 2]>::try_from(nodes).ok());
    nodes.ok_or_else(|| "it must be two whole numbers, such as 301x561".to_owned())
}

/// A type of whole numbers.
pub(super) trait Whole: FromStr<Err = ParseIntError> + Display {
    /// The largest of them.
    const MOST: Self;
}

impl Whole for u32 {
    const MOST: Self = Self::MAX;
}

impl Whole for u64 {
    const MOST: Self = Self::MAX;
}

impl Whole for usize {
    const MOST: Self = Self::MAX;
}

pub(super) fn whole<T: Whole>(text: &str) -> Result<T, String> {
    text.parse().map_err(|why: ParseIntError| match why.kind() {
        IntErrorKind::PosOverflow => format!("it must be at most {}", T::MOST),
        _ => "it must be a whole number, such as 16".to_owned(),
    })
}

/// Number of runs at once, each on a thread of its own.
pub(super) fn jobs(text: &str) -> Result<usize, String> {
    let jobs = whole(text)?;
    if jobs > MOST_THREADS { Err(format!("it must be at most {MOST_THREADS}")) } else { Ok(jobs) }
}

/// Subiterations of a sweep over settings: `4,8,16`, ranges `0:30:2` (from, to inclusive, step) and `1:8`,
/// `inf`, and comma-separated combinations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SubiterationsList(pub Vec<Subiterations>);

pub(super) fn subiterations_list(text: &str) -> Result<SubiterationsList, String> {
    parse_subiterations(text).map(SubiterationsList)
}

/// A list of heights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HeightList(pub Vec<usize>);

pub(super) fn height_list(text: &str) -> Result<HeightList, String> {
    parse_heights(text).map(HeightList)
}

/// A list of budgets of fast memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BudgetList(pub Vec<ByteCount>);

pub(super) fn budget_list(text: &str) -> Result<BudgetList, String> {
    parse_budgets(text).map(BudgetList)
}

/// A list of numbers of threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ThreadsList(pub Vec<usize>);

pub(super) fn threads_list(text: &str) -> Result<ThreadsList, String> {
    parse_numbers(text).map(ThreadsList)
}

/// A list of numbers per axis; `4x2` is 4 along x and 2 along y.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PerAxisList(pub Vec<PerAxis>);

pub(super) fn per_axis_list(text: &str) -> Result<PerAxisList, String> {
    parse_per_axis(text).map(PerAxisList)
}

pub(super) fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "it must be a number, such as 1e-4".to_owned())
}

/// A tolerance, or none: the run stops at the limit of cycles alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Tolerance(pub Option<f64>);

pub(super) fn tolerance(text: &str) -> Result<Tolerance, String> {
    match text {
        "none" => Ok(Tolerance(None)),
        _ => match text.parse() {
            Ok(number) => Ok(Tolerance(Some(number))),
            Err(_) => Err("it must be a number, such as 1e-4, or none".to_owned()),
        },
    }
}

/// The GPUs of `--devices`, by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Gpus(pub Vec<u32>);

pub(super) fn gpus(text: &str) -> Result<Gpus, String> {
    match text {
        "all" => Ok(Gpus(all_gpus())),
        _ => match text.split(',').map(str::parse).collect() {
            Ok(numbers) => Ok(Gpus(numbers)),
            Err::<_, ParseIntError>(_) => {
                Err("it must be numbers of GPUs with commas, such as 0 or 0,1, or all".to_owned())
            }
        },
    }
}

/// An initial guess: a value, or a file.
pub(super) fn initial(text: &str) -> Result<InitialGuess, String> {
    match text.parse() {
        Ok(guess) if !text.trim().is_empty() => Ok(guess),
        _ => Err("it must be a number, or the name of an .npy array".to_owned()),
    }
}

/// A whole number within a range.
pub(super) fn count<const LEAST: u32, const MOST: u32>(text: &str) -> Result<u32, String> {
    let count = whole(text).ok().filter(|count| (LEAST..=MOST).contains(count));
    count.ok_or_else(|| format!("it must be a whole number, {LEAST} to {MOST}"))
}

/// The latency and the bandwidth of a link.
pub(super) fn link(text: &str) -> Result<[f64; 2], String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|text| text.trim().parse()).collect();
    let numbers = numbers.ok().and_then(|numbers| <[f64; 2]>::try_from(numbers).ok());
    numbers.ok_or_else(|| {
        "it must be microseconds and 10^9 bytes per second with a comma, such as 1.8,398".to_owned()
    })
}

pub(super) fn velocity(text: &str) -> Result<[f64; 3], String> {
    let numbers: Result<Vec<f64>, _> = text.split(',').map(|text| text.trim().parse()).collect();
    match numbers.as_deref() {
        Ok(&[x, y]) => Ok([x, y, 0.0]),
        Ok(&[x, y, z]) => Ok([x, y, z]),
        _ => Err("it must be two numbers with a comma, such as 60,25, or three in 3D".to_owned()),
    }
}

/// Two points of the interface of two materials: `0.35,0:0.65,1`.
pub(super) fn interface(text: &str) -> Result<[[f64; 2]; 2], String> {
    let point = |text: &str| {
        let (x, y) = text.split_once(',')?;
        Some([x.trim().parse().ok()?, y.trim().parse().ok()?])
    };
    let points = text.split_once(':').and_then(|(from, to)| Some([point(from)?, point(to)?]));
    points.ok_or_else(|| "it must be two points, such as 0.35,0:0.65,1".to_owned())
}

pub(super) fn boundary(text: &str) -> Result<Boundary, String> {
    let mut boundary = Boundary::default();
    for (name, value) in pairs(text)? {
        match name {
            "left" => boundary.left = value,
            "right" => boundary.right = value,
            "top" => boundary.top = value,
            "bottom" => boundary.bottom = value,
            "front" => boundary.front = value,
            "back" => boundary.back = value,
            _ => {
                return Err(format!(
                    "{name} is not a side; left, right, top, bottom, front and back are"
                ));
            }
        }
    }
    Ok(boundary)
}

pub(super) fn hot_box(text: &str) -> Result<HotBox, String> {
    let mut hot = HotBox::default();
    for (name, value) in pairs(text)? {
        match name {
            "left" => hot.left = value,
            "right" => hot.right = value,
            "top" => hot.top = value,
            "bottom" => hot.bottom = value,
            "front" => hot.front = value,
            "back" => hot.back = value,
            "value" => hot.value = value,
            _ => {
                return Err(format!(
                    "{name} is not a side; left, right, top, bottom, front and back are, beside value"
                ));
            }
        }
    }
    Ok(hot)
}

pub(super) fn stencil(text: &str) -> Result<Stencil, String> {
    const NAMES: [&str; 7] = ["d", "a", "c", "e", "f", "p", "q"];
    let mut entries = [None; 7];
    for (name, value) in pairs(text)? {
        let entry = NAMES.iter().position(|entry| *entry == name);
        match entry {
            Some(entry) => entries[entry] = Some(value),
            None => return Err(format!("{name} is not an entry; d, a, c, e, f, p and q are")),
        }
    }
    match entries {
        [Some(d), Some(a), Some(c), others @ ..] => {
            let [e, f, p, q] = others.map(Option::unwrap_or_default);
            Ok(Stencil { d, a, c, e, f, p, q })
        }
        _ => Err("d, a and c are required, such as d=4,a=-1,c=-1,e=-1,f=-1".to_owned()),
    }
}

/// Comma-separated `name=value` pairs.
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

/// Size of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Size {
    /// Width and height.
    Pixels([u32; 2]),
    /// Width and height; the resolution determines the pixels.
    Centimetres([f64; 2]),
}

pub(super) fn size(text: &str) -> Result<Size, String> {
    let allowed = SMALLEST_SIDE..=LARGEST_SIDE;
    let (sides, is_paper) = text.strip_suffix("cm").map_or((text, false), |sides| (sides, true));
    let sides = sides.split_once(['x', 'X', '×']);
    if is_paper {
        let side = |text: &str| text.trim().parse().ok().filter(|side| *side > 0.0);
        let sides = sides.and_then(|(width, height)| side(width).zip(side(height)));
        let (width, height) = sides.ok_or_else(|| {
            "it must be two positive numbers of centimetres, such as 16x12cm".to_owned()
        })?;
        return Ok(Size::Centimetres([width, height]));
    }
    let side = |text: &str| text.parse().ok().filter(|side| allowed.contains(side));
    match sides.and_then(|(width, height)| side(width).zip(side(height))) {
        Some((width, height)) => Ok(Size::Pixels([width, height])),
        None => Err(format!(
            "it must be two whole numbers of {SMALLEST_SIDE} to {LARGEST_SIDE} pixels, such as 1200x900, or centimetres, such as 16x12cm"
        )),
    }
}

/// The range of values of a figure: `1e-6,1`.
pub(super) fn range(text: &str) -> Result<Range, String> {
    let number = |text: &str| text.trim().parse().ok().filter(|value: &f64| value.is_finite());
    let ends = text.split_once(',').and_then(|(lo, hi)| number(lo).zip(number(hi)));
    let (lo, hi) = ends.ok_or("it must be two numbers with a comma, such as 1e-6,1")?;
    if lo >= hi {
        return Err(format!("the range {text} is empty or reversed; the lower limit comes first"));
    }
    Ok(Range::new(lo, hi))
}

/// The line of a profile, as it was written: `j=128` for a row, `i=40` for a column, `0,0:255,255` from one
/// grid point (i, j) to another. A slice has other names of its indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cut {
    At { axis: usize, index: usize },
    Segment([[usize; 2]; 2]),
}

impl Cut {
    /// The line of a grid, or of a slice through it.
    pub fn line(self, slice: Option<Slice>) -> Result<CutLine, String> {
        let (axis, index) = match self {
            Self::At { axis, index } => (axis, index),
            Self::Segment(ends) => return Ok(CutLine::Segment(ends)),
        };
        let (name, [across, down]) = (INDEX_NAMES[axis], Slice::index_names(slice));
        match name {
            _ if name == across => Ok(CutLine::Column(index)),
            _ if name == down => Ok(CutLine::Row(index)),
            _ => Err(format!(
                "--cut is {name}={index}; it must be a row, {down}=N, a column, {across}=N, or two points"
            )),
        }
    }
}

pub(super) fn cut(text: &str) -> Result<Cut, String> {
    let refuse = || {
        "it must be a row, such as j=128, a column, such as i=40, or two points, such as 0,0:255,255"
            .to_owned()
    };
    if let Some((from, to)) = text.split_once(':') {
        let point = |text: &str| {
            let (i, j) = text.split_once(',')?;
            Some([i.trim().parse().ok()?, j.trim().parse().ok()?])
        };
        let ends = point(from).zip(point(to)).ok_or_else(refuse)?;
        return Ok(Cut::Segment(ends.into()));
    }
    let (axis, place) = text.split_once('=').ok_or_else(refuse)?;
    let index = place.trim().parse().map_err(|_| refuse())?;
    let axis = INDEX_NAMES.iter().position(|name| *name == axis.trim()).ok_or_else(refuse)?;
    Ok(Cut::At { axis, index })
}

/// A grid point: `40,32` in 2D, `40` in 1D.
pub(super) fn point(text: &str) -> Result<[usize; 2], String> {
    let (i, row) = text.split_once(',').unwrap_or((text, "0"));
    match (i.trim().parse(), row.trim().parse()) {
        (Ok(i), Ok(row)) => Ok([i, row]),
        _ => Err("it must be two whole numbers with a comma, such as 40,32, or one in 1D".into()),
    }
}

/// A point whose values are drawn, and how many indices of it were written.
pub(super) type Probe = (GridPoint, usize);

pub(super) fn probe(text: &str) -> Result<Probe, String> {
    match text.split(',').count() {
        3 => Ok((GridPoint::Volume(point_3d(text)?), 3)),
        count => point(text).map(|point| (GridPoint::Flat(point), count)).map_err(|_| {
            "it must be a whole number for each axis, with commas, such as 40,32".to_owned()
        }),
    }
}

/// A point of a 3D grid.
pub(super) fn point_3d(text: &str) -> Result<[usize; 3], String> {
    let indices: Result<Vec<usize>, _> =
        text.split(',').map(|index| index.trim().parse()).collect();
    indices
        .ok()
        .and_then(|indices| indices.try_into().ok())
        .ok_or_else(|| "it must be three whole numbers with commas, such as 40,32,16".into())
}

/// The tile of `--kind inside`: `2,3` in 2D, `2` in 1D; `all` for all tiles in 1D.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follow {
    Tile([usize; 2]),
    All,
}

pub(super) fn follow(text: &str) -> Result<Follow, String> {
    if text == "all" { Ok(Follow::All) } else { point(text).map(Follow::Tile) }
}

/// A figure in a layout of several: `heat-map=0,0,0.6,1`.
pub(super) fn place(text: &str) -> Result<PlacedFigure, String> {
    let refuse =
        || "it must be a kind and its left, top, width and height, such as heat-map=0,0,0.6,1";
    let (kind, area) = text.split_once('=').ok_or_else(refuse)?;
    let kind = FigureKind::named(kind.trim()).ok_or_else(refuse)?;
    let shares: Result<Vec<f32>, _> = area.split(',').map(|share| share.trim().parse()).collect();
    let area = shares.ok().and_then(|shares| shares.try_into().ok()).ok_or_else(refuse)?;
    Ok(PlacedFigure { kind, area })
}

/// Frames of a logarithmic animation without a number.
const LOGARITHMIC_FRAMES: u64 = 60;

/// The cycles of an animation: `0..400:8`, `0..400` (every cycle), `0..4000:log` and
/// `0..4000:log40` (40 frames at logarithmically spaced cycles).
pub(super) fn cycles(text: &str) -> Result<(u64, u64, Spacing), String> {
    let refuse = || {
        "it must be cycles from..to:step, such as 0..400:8, or from..to:log for logarithmic steps"
            .to_owned()
    };
    let whole = |text: &str| text.trim().parse::<u64>().map_err(|_| refuse());
    let (ends, step) = text.split_once(':').map_or((text, None), |(ends, step)| (ends, Some(step)));
    let (first, last) = ends.split_once("..").ok_or_else(refuse)?;
    let (first, last) = (whole(first)?, whole(last)?);
    let spacing = match step {
        None => Spacing::Every(1),
        Some(step) => match step.trim().strip_prefix("log") {
            Some("") => Spacing::Logarithmic(LOGARITHMIC_FRAMES),
            Some(count) => Spacing::Logarithmic(whole(count)?),
            None => Spacing::Every(whole(step)?),
        },
    };
    Ok((first, last, spacing))
}

/// Gives a text to every parser of this file, for a fuzzer. Returns what those that refuse it say.
#[doc(hidden)]
pub fn refusals(text: &str) -> Vec<String> {
    let refusals = [
        axes(text).err(),
        nodes(text).err(),
        whole::<usize>(text).err(),
        jobs(text).err(),
        subiterations_list(text).err(),
        per_axis_list(text).err(),
        number(text).err(),
        initial(text).err(),
        count::<1, 1000>(text).err(),
        tolerance(text).err(),
        link(text).err(),
        velocity(text).err(),
        interface(text).err(),
        boundary(text).err(),
        hot_box(text).err(),
        stencil(text).err(),
        size(text).err(),
        range(text).err(),
        cut(text).err(),
        probe(text).err(),
        point_3d(text).err(),
        follow(text).err(),
        place(text).err(),
        cycles(text).err(),
    ];
    refusals.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_parsed_and_wrong_forms_refused() {
        assert_eq!(axes("1024"), Ok(Axes(vec![1024])));
        assert_eq!(axes("256x192"), Ok(Axes(vec![256, 192])));
        for wrong in ["", "x", "4x", "-4", "4.5", "4,2", "1x2x3x4", "99999999999999999999"] {
            assert!(axes(wrong).is_err(), "{wrong}");
        }
        let large = "99999999999999999999";
        assert_eq!(axes(large), Err(format!("each number must be at most {}", usize::MAX)));
        assert_eq!(whole::<u64>(large), Err(format!("it must be at most {}", u64::MAX)));
        assert_eq!(whole::<u32>("-1"), Err("it must be a whole number, such as 16".to_owned()));
        assert_eq!(gpus("0,2"), Ok(Gpus(vec![0, 2])));
        assert!(gpus("abc").unwrap_err().ends_with("such as 0 or 0,1, or all"));
        assert_eq!(link("1.8, 398"), Ok([1.8, 398.0]));
        assert!(link("1.8").is_err() && link("1,2,3").is_err());
        assert_eq!(initial("-0.5"), Ok(InitialGuess::Value(-0.5)));
        assert!(initial("").is_err() && initial(" ").is_err() && initial("u.npy").is_ok());
        assert_eq!(count::<1, 64>("64"), Ok(64));
        for wrong in ["0", "65", "-1", "1.5", ""] {
            assert_eq!(
                count::<1, 64>(wrong),
                Err("it must be a whole number, 1 to 64".to_owned()),
                "{wrong}"
            );
        }
        assert_eq!(velocity("-3,1e2"), Ok([-3.0, 100.0, 0.0]));
        assert_eq!(velocity("1, 2,-3"), Ok([1.0, 2.0, -3.0]));
        assert!(velocity("3").is_err() && velocity("3,4,5,6").is_err());
        assert_eq!(interface("0.5,0:-0.5,1e0"), Ok([[0.5, 0.0], [-0.5, 1.0]]));
        assert!(interface("0.5,0").is_err() && interface("0.5:0.5").is_err());
        let expected = Boundary { left: 1.0, top: -0.5, ..Boundary::default() };
        assert_eq!(boundary("left=1, top=-0.5"), Ok(expected));
        for wrong in ["", "left", "left=a", "inner=1", "left=1,left=2"] {
            assert!(boundary(wrong).is_err(), "{wrong}");
        }
        let expected = Stencil { d: 2.0, a: -1.0, c: -1.0, ..Stencil::default() };
        assert_eq!(stencil("d=2,a=-1,c=-1"), Ok(expected));
        assert!(stencil("d=2,a=-1").is_err() && stencil("d=2,a=-1,c=-1,g=1").is_err());
        assert_eq!(size("640x480"), Ok(Size::Pixels([640, 480])));
        assert_eq!(size("16x8.5cm"), Ok(Size::Centimetres([16.0, 8.5])));
        for wrong in ["640", "0x480", "640x99999", "axb", "16cm", "0x4cm", "-1x4cm", "nanx4cm"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
        assert_eq!(range("-1, 1e-3"), Ok(Range::new(-1.0, 1e-3)));
        for wrong in ["", "1", "1,1", "2,1", "a,b", "0,inf", "nan,1"] {
            assert!(range(wrong).is_err(), "{wrong}");
        }
        let line = |text: &str, slice: Option<&str>| {
            cut(text)?.line(slice.map(|slice| slice.parse().unwrap()))
        };
        assert_eq!(line("j=12", None), Ok(CutLine::Row(12)));
        assert_eq!(line("i = 3", Some("z=0")), Ok(CutLine::Column(3)));
        assert_eq!(line("k=3", Some("y=1")), Ok(CutLine::Row(3)));
        assert_eq!(line("j=3", Some("x=1")), Ok(CutLine::Column(3)));
        assert_eq!(line("0,7: 31,2", Some("x=1")), Ok(CutLine::Segment([[0, 7], [31, 2]])));
        assert!(line("k=3", None).unwrap_err().contains("a row, j=N"));
        assert!(
            line("j=3", Some("y=1")).unwrap_err().contains("--cut is j=3; it must be a row, k=N")
        );
        for wrong in
            ["", "12", "l=3", "j=-1", "j=a", "0,0", "0:9", "0,0:9", "0,0:9,-1", "0,0:9,9,9"]
        {
            assert!(cut(wrong).is_err(), "{wrong}");
        }
        let area = [0.0, 0.25, 0.5, 1.0];
        let expected = PlacedFigure { kind: FigureKind::MEAN_TILE, area };
        assert_eq!(place("mean-tile=0,.25, 0.5,1"), Ok(expected));
        for wrong in ["", "mean-tile", "mean-tile=0,0,1", "tile=0,0,1,1", "curves=0,0,1,a"] {
            assert!(place(wrong).is_err(), "{wrong}");
        }
        assert_eq!((point("40, 32"), point("7")), (Ok([40, 32]), Ok([7, 0])));
        assert_eq!(probe("7"), Ok((GridPoint::Flat([7, 0]), 1)));
        assert_eq!(probe("40,32, 16"), Ok((GridPoint::Volume([40, 32, 16]), 3)));
        assert!(probe("1,2,3,4").is_err() && probe("1,2,-3").is_err());
        assert_eq!((follow("all"), follow("2,3")), (Ok(Follow::All), Ok(Follow::Tile([2, 3]))));
        for wrong in ["", "a", "1,", "-1,2", "1,2,3"] {
            assert!(point(wrong).is_err() && follow(wrong).is_err(), "{wrong}");
        }
        assert_eq!(cycles("0..400:8"), Ok((0, 400, Spacing::Every(8))));
        assert_eq!(cycles("5..9"), Ok((5, 9, Spacing::Every(1))));
        assert_eq!(cycles("0..4000:log"), Ok((0, 4000, Spacing::Logarithmic(60))));
        assert_eq!(cycles("1..4000:log9"), Ok((1, 4000, Spacing::Logarithmic(9))));
        for wrong in ["", "400", "0..", "..4", "-1..4", "0..4:", "0..4:lag", "0..4:log-1", "0...4"]
        {
            assert!(cycles(wrong).is_err(), "{wrong}");
        }
    }
}
