//! Settings of what is shown of a run, and how.

use crate::app::state::compare::Compare;
use crate::grid::{GridPoint, Slice};
use crate::picture::{Camera, ColourMap, InsideView, Norm, Over, Range, ScaleKind, SlowLink};
use crate::run::{CutLine, FieldKind};
use crate::solver::Acceleration;
use std::collections::BTreeSet;

/// The largest number of probes: there are colours for no more.
pub const MAX_PROBES: usize = 8;

/// What is shown, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewSettings {
    /// The field.
    pub field: FieldKind,
    /// How each field is coloured, in the order of [`FieldKind::ALL`].
    pub colours: [Colours; FieldKind::ALL.len()],
    /// The slice through a 3D grid; `None` for the middle of the last axis.
    pub slice: Option<Slice>,
    /// Whether the map shows, in place of the slice, the value of largest magnitude along the axis across it.
    pub projection: bool,
    /// The common point of three slices; `None` for the middle, in that slice.
    pub through: Option<[usize; 3]>,
    /// From where the volume is seen.
    pub camera: Camera,
    /// The link to fast memory that models of a pyramid assume.
    pub slow_link: SlowLink,
    /// Whether tile borders are drawn over the map.
    pub borders: bool,
    /// Whether classic Jacobi runs in the background, as a reference.
    pub reference: bool,
    /// Which of its accelerations run in the background, too.
    pub accelerations: BTreeSet<Acceleration>,
    /// Whether the asymptotic rate of the run is drawn beside its curve.
    pub asymptotic_rate: bool,
    /// How the map is compared with that of a pinned run.
    pub compare: Compare,
    /// The norm of the curve, and its x axis.
    pub norm: Norm,
    pub against: Against,
    /// Whether that axis is logarithmic.
    pub log_x: bool,
    /// Settings of the profile.
    pub profile: ProfileSettings,
    /// Settings of the view inside a cycle.
    pub inside: InsideView,
    /// Probes, at most [`MAX_PROBES`].
    pub probes: Vec<GridPoint>,
}

/// The line and the fields of the profile.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProfileSettings {
    /// The line; `None` for the middle row.
    pub line: Option<CutLine>,
    /// Fields in addition to that of the map.
    pub more: Vec<FieldKind>,
    /// Whether magnitudes are drawn on a logarithmic axis.
    pub log: bool,
}

/// How a field is coloured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Colours {
    pub scale: ScaleKind,
    pub map: ColourMap,
    pub range: RangeMode,
    /// On a linear scale: magnitudes, or values with their sign.
    pub absolute: bool,
}

impl Colours {
    /// The scale and the colour map for magnitudes.
    pub fn of_magnitudes(&self) -> (ScaleKind, ColourMap) {
        let scale = match self.scale {
            ScaleKind::Linear => ScaleKind::Linear,
            ScaleKind::Log | ScaleKind::Symmetric => ScaleKind::Log,
        };
        (scale, if self.map.is_diverging() { ColourMap::Inferno } else { self.map })
    }

    /// Sets the scale, with a suitable colour map and range.
    pub fn set_scale(&mut self, scale: ScaleKind) {
        self.scale = scale;
        // Diverging colour maps are for signed values, the others for magnitudes and levels.
        let diverging = scale == ScaleKind::Symmetric;
        if diverging != self.map.is_diverging() {
            self.map = if diverging { ColourMap::RedBlue } else { ColourMap::Inferno };
        }
        self.range = RangeMode::Follow;
    }
}

/// The range of values that the colours span.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RangeMode {
    /// The values of the shown frame. While a setting changes, the range stays, so that two runs
    /// are compared by equal colours.
    Follow,
    /// The values of the shown frame, always.
    ThisFrame,
    /// The values of all shown frames of this run, and the largest of all other cycles, if known.
    WholeRun,
    /// A chosen range, for this run and the next.
    Locked(Range),
}

/// The x axis of the convergence curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    Cycles,
    Sweeps,
    Time,
}

impl Default for ViewSettings {
    fn default() -> Self {
        let colours = |field| match field {
            FieldKind::Solution => Colours {
                scale: ScaleKind::Linear,
                map: ColourMap::Viridis,
                range: RangeMode::Follow,
                absolute: false,
            },
            _ => Colours {
                scale: ScaleKind::Log,
                map: ColourMap::Inferno,
                range: RangeMode::Follow,
                absolute: false,
            },
        };
        Self {
            field: FieldKind::Residual,
            colours: FieldKind::ALL.map(colours),
            slice: None,
            projection: false,
            through: None,
            camera: Camera::default(),
            slow_link: SlowLink::default(),
            borders: true,
            reference: true,
            accelerations: BTreeSet::new(),
            asymptotic_rate: false,
            compare: Compare::default(),
            norm: Norm::default(),
            against: Against::Sweeps,
            log_x: false,
            profile: ProfileSettings { log: true, ..ProfileSettings::default() },
            inside: InsideView::default(),
            probes: Vec::new(),
        }
    }
}

impl ViewSettings {
    /// Adds a probe, or removes it. Beyond the limit the oldest is removed.
    pub fn toggle_probe(&mut self, point: GridPoint) {
        let before = self.probes.len();
        self.probes.retain(|other| *other != point);
        if self.probes.len() == before {
            self.probes.push(point);
            if self.probes.len() > MAX_PROBES {
                self.probes.remove(0);
            }
        }
    }

    /// How a field is coloured.
    pub fn of_field(&self, field: FieldKind) -> &Colours {
        &self.colours[index(field)]
    }

    /// How a field is coloured, mutably.
    pub fn of_field_mut(&mut self, field: FieldKind) -> &mut Colours {
        &mut self.colours[index(field)]
    }
}

fn index(field: FieldKind) -> usize {
    FieldKind::ALL.iter().position(|&other| other == field).unwrap_or(0)
}

impl Against {
    /// A description in one sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::Cycles => "Cycles of the run; for classic Jacobi, the same number of sweeps.",
            Self::Sweeps => "Sweeps: the work in units of one Jacobi sweep.",
            Self::Time => "Solver time in seconds; observing the iterate is not counted.",
        }
    }

    pub const ALL: [Self; 3] = [Self::Cycles, Self::Sweeps, Self::Time];

    /// From the x axis of a figure.
    pub fn of(over: Over) -> Self {
        match over {
            Over::Cycles => Self::Cycles,
            Over::Sweeps => Self::Sweeps,
            Over::Seconds => Self::Time,
        }
    }

    /// The same for a figure.
    pub fn over(self) -> Over {
        match self {
            Self::Cycles => Over::Cycles,
            Self::Sweeps => Over::Sweeps,
            Self::Time => Over::Seconds,
        }
    }

    pub fn label(self) -> &'static str {
        match self {
            Self::Cycles => "cycles",
            Self::Sweeps => "sweeps",
            Self::Time => "solver time",
        }
    }
}

/// The automatic ranges, with their names and a sentence each.
pub const AUTOMATIC: [(RangeMode, &str, &str); 3] = [
    (
        RangeMode::Follow,
        "follow",
        "The colours span the values of the shown frame. While a setting changes, the range stays, so that both runs have equal colours.",
    ),
    (
        RangeMode::ThisFrame,
        "this frame",
        "The colours span the values of the shown frame, even while a setting is dragged.",
    ),
    (
        RangeMode::WholeRun,
        "whole run",
        "The colours span all shown frames of this run. For residual and update they also span the largest values of all other cycles: on the CPU always, on a GPU while the curve shows them.",
    ),
];
