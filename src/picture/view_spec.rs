//! What a figure shows, and how it looks: with a run all that is needed to make it again.

use super::colour_map::ColourMap;
use super::layout::Page;
use super::run_figure::Over;
use super::scale::{Range, ScaleKind};
use super::theme::Theme;
use crate::grid::Shape;
use crate::run::{Capture, Captured, CutLine, FieldKind, Part, RunSpec};
use crate::solver::LONGEST_FOLDED;
use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// What was looked at, and how: with a [`RunSpec`] all that a figure needs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ViewSpec {
    /// Cycles made; of an animation, those of its last frame.
    pub cycle: u64,
    /// The field.
    pub field: FieldKind,
    /// What is drawn of it.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub kind: FigureKind,
    /// What curves are drawn over.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub over: Over,
    /// The line that a profile follows; `None` for the middle row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<CutLine>,
    /// How it looks.
    #[serde(default)]
    pub figure: FigureSpec,
    /// The frames of an animation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<Frames>,
    /// What an arrangement shows, and where; nothing for the usual one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Place>,
    /// The run beside the first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compared: Option<Compared>,
}

/// A figure in an arrangement of several.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// What is drawn there.
    pub kind: FigureKind,
    /// Its left and upper end, its width and its height, as shares of the whole.
    pub area: [f32; 4],
}

/// The arrangement that there is at first start: the map, the curves, and a profile below them.
const USUAL: [Place; 3] = [
    Place { kind: FigureKind::HeatMap, area: [0.0, 0.0, 0.6, 1.0] },
    Place { kind: FigureKind::Curves, area: [0.6, 0.0, 0.4, 0.55] },
    Place { kind: FigureKind::Profile, area: [0.6, 0.55, 0.4, 0.45] },
];

/// A second run in the same figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compared {
    /// Cycles made of it.
    pub cycle: u64,
    /// The run.
    pub run: RunSpec,
}

/// What a figure draws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum FigureKind {
    /// Of a plane the map of a field, of a line its space–time diagram
    #[default]
    HeatMap,
    /// The maps of two runs, in the same colours (with --compare)
    SideBySide,
    /// A field of a line over its cycles
    SpaceTime,
    /// How the residual falls; of two runs with --compare
    Curves,
    /// A field along a line, with the tile borders; of two runs with --compare
    Profile,
    /// The magnitude of a field, folded onto one tile and averaged over all of them
    MeanTile,
    /// Several of these in one figure, each in its place; see --place
    Arrangement,
    /// The map alone, one pixel a point
    BareMap,
}

/// The frames of an animation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Frames {
    /// The cycle of the first frame.
    pub first: u64,
    /// No frame shows a cycle after this one.
    pub last: u64,
    /// The cycles between them.
    pub spacing: Spacing,
    /// Frames a second.
    pub rate: f64,
}

/// Which cycles are frames of an animation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Spacing {
    /// Every so manieth.
    Every(u64),
    /// So many frames, evenly spread by the logarithm of their cycle.
    Logarithmic(u64),
}

/// How a figure looks: everything about it that is not the run, the cycle or the field.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FigureSpec {
    /// How values are spread over the colours.
    pub scale: ScaleKind,
    /// On a linear scale: magnitudes in place of values with their sign.
    pub absolute: bool,
    /// The colours.
    pub map: ColourMap,
    /// The lowest and the highest value shown; `None` to fit the field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    /// Pixels across and down.
    pub size: [u32; 2],
    /// Pixels an inch: how large it is on paper, and how large its letters are.
    #[serde(skip_serializing_if = "is_screen")]
    pub dpi: f64,
    /// The font size of labels in points (1/72 inch); `None` for one that suits the size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub font: Option<f64>,
    /// For a bright or a dark room.
    pub theme: Theme,
    /// Whether tile borders are drawn over the map.
    pub borders: bool,
    /// Whether the title and the line of settings are drawn.
    #[serde(skip_serializing_if = "is_true")]
    pub annotations: bool,
}

/// As many samples as there are points.
const ALL: [usize; 2] = [usize::MAX; 2];

/// Pixels an inch of a screen, by which SVG and CSS measure.
pub const SCREEN_DPI: f64 = 96.0;

/// The pixels an inch that a figure may have.
pub const DPI: std::ops::RangeInclusive<f64> = 30.0..=2400.0;

/// The font sizes that a figure may have, in points.
pub const FONT_SIZES: std::ops::RangeInclusive<f64> = 3.0..=144.0;

/// The most frames of an animation.
pub const MOST_FRAMES: u64 = 2000;

/// The frames a second that an animation may have. Viewers show no more than a screen does.
pub const RATES: std::ops::RangeInclusive<f64> = 0.1..=60.0;

/// Frames a second, unless something else was chosen.
pub const RATE: f64 = 12.0;

fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn is_screen(dpi: &f64) -> bool {
    *dpi == SCREEN_DPI
}

fn is_true(value: &bool) -> bool {
    *value
}

/// Why a view cannot be drawn of a run; one sentence.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ViewError {
    /// A kind that is of lines alone.
    #[error("{} is drawn of lines; this run is on a plane of {shape} points", .kind.name())]
    OfLines {
        /// The kind that was asked for.
        kind: FigureKind,
        /// The plane.
        shape: Shape,
    },
    /// A kind that needs two runs.
    #[error("{} needs a second run to compare with", .kind.name())]
    NoSecond {
        /// The kind that was asked for.
        kind: FigureKind,
    },
    /// A kind that shows one run.
    #[error("{} shows one run; two are shown by side-by-side, curves and profile", .kind.name())]
    OneRun {
        /// The kind that was asked for.
        kind: FigureKind,
    },
    /// Two runs that do not fit into one figure.
    #[error(
        "the run to compare with has {other} points, this one {shape}; runs in one figure are on the same grid"
    )]
    OtherGrid {
        /// The points of this run.
        shape: Shape,
        /// Those of the other.
        other: Shape,
    },
    /// A cut outside of the grid.
    #[error("cut is {cut}; {allowed}")]
    Cut {
        /// The cut.
        cut: CutLine,
        /// What it may be.
        allowed: String,
    },
    /// A field that cannot be told.
    #[error("nothing is known of the {} of this run at cycle {cycle}; choose another field", .field.name())]
    Unknown {
        /// The field.
        field: FieldKind,
        /// The cycle.
        cycle: u64,
    },
    /// Tiles that are too large to be folded.
    #[error(
        "the tiles of this run are too large for their mean to be made; a side has at most {LONGEST_FOLDED} points"
    )]
    NotFolded,
    /// A part that an arrangement cannot have.
    #[error("{} cannot be part of an arrangement", .kind.name())]
    NotPlaced {
        /// The kind that was asked for.
        kind: FigureKind,
    },
    /// A line of which single cycles are wanted with its diagram, which shows all of them.
    #[error("the arrangement of a line shows all its cycles; choose another kind for an animation")]
    NoFilm,
    /// A number out of its range.
    #[error("{field} is {value}; {allowed}")]
    Value {
        /// Which field.
        field: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        allowed: String,
    },
}

impl FigureKind {
    /// Every kind, in the order of the menu.
    pub const ALL: [Self; 8] = [
        Self::HeatMap,
        Self::SideBySide,
        Self::SpaceTime,
        Self::Curves,
        Self::Profile,
        Self::MeanTile,
        Self::Arrangement,
        Self::BareMap,
    ];

    /// The name on the command line and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::HeatMap => "heat-map",
            Self::SideBySide => "side-by-side",
            Self::SpaceTime => "space-time",
            Self::Curves => "curves",
            Self::Profile => "profile",
            Self::MeanTile => "mean-tile",
            Self::Arrangement => "arrangement",
            Self::BareMap => "bare-map",
        }
    }

    /// The name in a menu.
    pub const fn label(self) -> &'static str {
        match self {
            Self::HeatMap => "Heat map",
            Self::SideBySide => "Side by side",
            Self::SpaceTime => "Space–time",
            Self::Curves => "Convergence",
            Self::Profile => "Profile",
            Self::MeanTile => "Mean tile",
            Self::Arrangement => "Arrangement",
            Self::BareMap => "Bare map",
        }
    }

    /// What it shows, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::HeatMap => "The field with title, axes and colour bar.",
            Self::SideBySide => "The field of two runs, in the same colours over the same range.",
            Self::SpaceTime => "The field of a line, cycle by cycle: x across, cycles downwards.",
            Self::Curves => "How the residual falls.",
            Self::Profile => "The field along a line through it, with the tile borders.",
            Self::MeanTile => "The magnitude of the field, folded onto one tile.",
            Self::Arrangement => {
                "Map, curves and profile in one figure, as they lie in the window."
            }
            Self::BareMap => "The colours alone, one pixel for each point of the grid.",
        }
    }

    /// Whether it shows a field, rather than norms.
    pub const fn shows_field(self) -> bool {
        !matches!(self, Self::Curves)
    }

    /// Whether it can show two runs.
    pub const fn compares(self) -> bool {
        matches!(self, Self::SideBySide | Self::Curves | Self::Profile | Self::Arrangement)
    }

    /// Whether it can be part of an arrangement.
    pub const fn can_be_placed(self) -> bool {
        !matches!(self, Self::Arrangement | Self::BareMap)
    }

    /// Whether it has a size of its own choice, a title and letters.
    pub const fn is_figure(self) -> bool {
        !matches!(self, Self::BareMap)
    }
}

impl ViewSpec {
    /// What is wanted of a run on this grid to draw it; see [`shoot`](crate::run::shoot()).
    pub fn capture(&self, id: u64, shape: &Shape) -> Capture {
        let (part, most) = match self.kind {
            FigureKind::Profile => (Part::Along(self.cut.unwrap_or(CutLine::middle(shape))), ALL),
            FigureKind::MeanTile => (Part::MeanTile, ALL),
            FigureKind::BareMap => (Part::All, ALL),
            _ => (Part::All, self.figure.size.map(|side| side as usize)),
        };
        // Norms come with every run; any field will do beside them.
        let field = if self.kind.shows_field() { self.field } else { FieldKind::Residual };
        let more = self.more(shape).map(|(_, part)| part).collect();
        Capture { id, field, part, more, most, solution: false }
    }

    /// What an arrangement shows, and where.
    pub(super) fn placed(&self) -> &[Place] {
        if self.places.is_empty() { &USUAL } else { &self.places }
    }

    /// What an arrangement shows beside maps and curves, in the order in which it is captured.
    pub(super) fn more(&self, shape: &Shape) -> impl Iterator<Item = (FigureKind, Part)> {
        let along = Part::Along(self.cut.unwrap_or(CutLine::middle(shape)));
        let parts = [(FigureKind::Profile, along), (FigureKind::MeanTile, Part::MeanTile)];
        let is_several = self.kind == FigureKind::Arrangement;
        parts.into_iter().filter(move |(kind, _)| is_several && self.shows(*kind))
    }

    /// Whether something of this kind is drawn, by itself or in an arrangement.
    pub fn shows(&self, kind: FigureKind) -> bool {
        let is_placed = || self.placed().iter().any(|place| place.kind == kind);
        self.kind == kind || (self.kind == FigureKind::Arrangement && is_placed())
    }

    /// The same of what was captured for it: its cycle, and the second run beside the first.
    #[must_use]
    pub fn of(self, shots: &[&Captured]) -> Self {
        let cycle = shots.first().map_or(self.cycle, |shot| shot.cycle);
        let compared =
            shots.get(1).map(|other| Compared { cycle: other.cycle, run: other.plan.spec.clone() });
        Self { cycle, compared, ..self }
    }

    /// Whether it can be drawn of runs on these grids.
    ///
    /// # Errors
    /// [`ViewError`] naming what does not go together.
    pub fn check(&self, shape: &Shape, compared: Option<&Shape>) -> Result<(), ViewError> {
        let kind = self.kind;
        if kind == FigureKind::SpaceTime && shape.dim() != 1 {
            return Err(ViewError::OfLines { kind, shape: *shape });
        }
        match compared {
            None if kind == FigureKind::SideBySide => return Err(ViewError::NoSecond { kind }),
            Some(_) if !kind.compares() => return Err(ViewError::OneRun { kind }),
            Some(other) if other != shape => {
                return Err(ViewError::OtherGrid { shape: *shape, other: *other });
            }
            _ => {}
        }
        if kind == FigureKind::Arrangement {
            if self.frames.is_some() && shape.dim() == 1 {
                return Err(ViewError::NoFilm);
            }
            for Place { kind, area } in self.placed() {
                let place = Self { kind: *kind, places: Vec::new(), ..self.clone() };
                if !kind.can_be_placed() {
                    return Err(ViewError::NotPlaced { kind: *kind });
                }
                let compared = compared.filter(|_| kind.compares());
                place.check(shape, compared)?;
                check_area(*area)?;
            }
        }
        if let Some(cut) = self.cut {
            cut.check(shape).map_err(|allowed| ViewError::Cut { cut, allowed })?;
        }
        if let Some(frames) = &self.frames {
            frames.check()?;
        }
        self.figure.check()
    }
}

/// By how much shares may add up to more than the whole: less than a pixel of any figure.
const ROUNDING: f32 = 1e-5;

/// Whether there is such a part of a whole.
fn check_area(area: [f32; 4]) -> Result<(), ViewError> {
    let [left, top, width, height] = area;
    let is_within =
        |start: f32, length: f32| start >= 0.0 && length > 0.0 && start + length <= 1.0 + ROUNDING;
    if is_within(left, width) && is_within(top, height) {
        return Ok(());
    }
    let value = area.map(|share| share.to_string()).join(",");
    let allowed = "left, top, width and height must be shares of the whole, 0 to 1".to_owned();
    Err(ViewError::Value { field: "the place", value, allowed })
}

impl Frames {
    /// The cycles of the frames, in rising order; none twice, and none at all in a reversed range.
    pub fn cycles(&self) -> Vec<u64> {
        let Self { first, last, spacing, .. } = *self;
        if first > last {
            return Vec::new();
        }
        let mut cycles: Vec<u64> = match spacing {
            Spacing::Every(step) => {
                let step = usize::try_from(step).unwrap_or(usize::MAX).max(1);
                (first..=last).step_by(step).take(MOST_FRAMES as usize).collect()
            }
            Spacing::Logarithmic(count) => {
                // A logarithm begins at 1; the start of a run is a frame of its own before it.
                let (lo, hi) = (first.max(1) as f64, last.max(1) as f64);
                let steps = count.min(MOST_FRAMES).saturating_sub(1).max(1);
                let at = |step: u64| (lo * (hi / lo).powf(step as f64 / steps as f64)).round();
                let spread = (0..=steps).map(|step| (at(step) as u64).clamp(first, last));
                (first == 0).then_some(0).into_iter().chain(spread).collect()
            }
        };
        cycles.dedup();
        cycles
    }

    /// Whether there is such an animation.
    ///
    /// # Errors
    /// [`ViewError::Value`] naming what is out of its range.
    pub fn check(&self) -> Result<(), ViewError> {
        let value =
            |field, value: String, allowed: String| ViewError::Value { field, value, allowed };
        let Self { first, last, spacing, rate } = *self;
        if first > last {
            let allowed = format!("it is reversed; write it as {last}..{first}");
            return Err(value("the range of cycles", format!("{first}..{last}"), allowed));
        }
        let count = match spacing {
            Spacing::Every(0) => {
                return Err(value(
                    "the step of the animation",
                    "0".into(),
                    "it must be at least 1".into(),
                ));
            }
            Spacing::Every(step) => ((last - first) / step).saturating_add(1),
            Spacing::Logarithmic(count) => count,
        };
        if !(1..=MOST_FRAMES).contains(&count) {
            let allowed = format!("it must be 1 to {MOST_FRAMES}; take a larger step");
            return Err(value("the number of frames", count.to_string(), allowed));
        }
        if !RATES.contains(&rate) {
            let allowed =
                format!("it must be {} to {} frames a second", RATES.start(), RATES.end());
            return Err(value("the frame rate", rate.to_string(), allowed));
        }
        Ok(())
    }
}

impl Default for FigureSpec {
    fn default() -> Self {
        Self {
            scale: ScaleKind::Log,
            absolute: false,
            map: ColourMap::Inferno,
            range: None,
            size: [1200, 900],
            dpi: SCREEN_DPI,
            font: None,
            theme: Theme::Light,
            borders: false,
            annotations: true,
        }
    }
}

impl FigureSpec {
    /// What suits a field: a logarithm for what goes to zero, and values as they are for the
    /// solution.
    pub fn suiting(field: FieldKind) -> Self {
        Self { scale: natural_scale(field), ..Self::default() }
    }

    /// What it is drawn on.
    pub(super) fn page(&self) -> Page {
        let [width, height] = self.size;
        let font = self.font.map(|points| points * self.dpi / 72.0);
        Page { width, height, theme: self.theme, font }
    }

    fn check(&self) -> Result<(), ViewError> {
        let within = |field, value: f64, range: std::ops::RangeInclusive<f64>, what: &str| {
            if range.contains(&value) {
                return Ok(());
            }
            let allowed = format!("it must be {} to {} {what}", range.start(), range.end());
            Err(ViewError::Value { field, value: value.to_string(), allowed })
        };
        within("dpi", self.dpi, DPI, "pixels an inch")?;
        self.font.map_or(Ok(()), |font| within("the font size", font, FONT_SIZES, "points"))
    }
}

/// The scale that suits a field.
pub fn natural_scale(field: FieldKind) -> ScaleKind {
    match field {
        FieldKind::Solution => ScaleKind::Linear,
        _ => ScaleKind::Log,
    }
}

/// The map that suits a scale: a symmetric one wants zero in the middle.
pub fn natural_map(scale: ScaleKind) -> ColourMap {
    match scale {
        ScaleKind::Symmetric => ColourMap::RedBlue,
        _ => ColourMap::Inferno,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(first: u64, last: u64, spacing: Spacing) -> Frames {
        Frames { first, last, spacing, rate: RATE }
    }

    #[test]
    fn frames_rise_and_none_comes_twice() {
        assert_eq!(frames(0, 20, Spacing::Every(8)).cycles(), [0, 8, 16]);
        assert_eq!(frames(7, 7, Spacing::Every(1)).cycles(), [7]);
        assert!(frames(7, 6, Spacing::Logarithmic(5)).cycles().is_empty());
        let decades = frames(1, 1000, Spacing::Logarithmic(4)).cycles();
        assert_eq!(decades, [1, 10, 100, 1000]);
        for (first, last) in [(0, 1), (0, 400), (5, 6), (3, 100_000), (0, u64::MAX)] {
            for spacing in [Spacing::Logarithmic(60), Spacing::Logarithmic(1)] {
                let cycles = frames(first, last, spacing).cycles();
                assert!(cycles.windows(2).all(|pair| pair[0] < pair[1]), "{cycles:?}");
                assert_eq!((cycles[0], *cycles.last().unwrap()), (first, last));
            }
        }
    }

    #[test]
    fn what_does_not_go_together_is_told_in_a_sentence() {
        let (plane, line) = (Shape::plane(9, 8).unwrap(), Shape::line(9, 1).unwrap());
        let kind = |kind| ViewSpec { kind, ..ViewSpec::default() };
        let said =
            |view: &ViewSpec, shape, other| view.check(shape, other).unwrap_err().to_string();
        assert!(said(&kind(FigureKind::SpaceTime), &plane, None).contains("plane of 9 × 8 points"));
        assert_eq!(kind(FigureKind::SpaceTime).check(&line, None), Ok(()));
        assert!(said(&kind(FigureKind::SideBySide), &line, None).contains("second run"));
        assert!(said(&kind(FigureKind::HeatMap), &line, Some(&line)).contains("one run"));
        assert!(said(&kind(FigureKind::Curves), &line, Some(&plane)).contains("on the same grid"));
        let with = |frames| ViewSpec { frames: Some(frames), ..ViewSpec::default() };
        let reversed = with(frames(4, 1, Spacing::Every(1)));
        assert!(said(&reversed, &plane, None).contains("write it as 1..4"));
        let endless = with(frames(0, u64::MAX, Spacing::Every(1)));
        assert!(said(&endless, &plane, None).contains("1 to 2000"));
        let standing = with(Frames { rate: f64::NAN, ..frames(0, 4, Spacing::Every(1)) });
        assert!(said(&standing, &plane, None).contains("frame rate is NaN"));
    }
}
