//! What is shown of a run, and how.

use crate::app::state::compare::Compare;
use crate::picture::{ColourMap, InsideView, Over, Range, ScaleKind};
use crate::run::{CutLine, FieldKind};

/// Points that are followed at the most: as many as there are colours for.
pub const MOST_PROBES: usize = 8;

/// What is looked at, and how.
#[derive(Clone, Debug, PartialEq)]
pub struct ViewSettings {
    /// Which field.
    pub field: FieldKind,
    /// How each field is coloured, in the order of [`FieldKind::ALL`].
    pub colours: [Colours; FieldKind::ALL.len()],
    /// Whether tile borders are drawn over the map.
    pub borders: bool,
    /// Whether Jacobi's iteration is made beside the run, as a reference.
    pub reference: bool,
    /// How the map is compared with that of a pinned run.
    pub compare: Compare,
    /// What the curve shows, and against what.
    pub curve: CurveKind,
    pub against: Against,
    /// What is drawn along the cut.
    pub cut: CutLook,
    /// What is shown of the inside of a cycle.
    pub inside: InsideView,
    /// Points that are followed over the cycles, at most [`MOST_PROBES`].
    pub probes: Vec<[usize; 2]>,
}

/// What is drawn along the cut, and where that runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CutLook {
    /// The line; `None` for the middle row.
    pub line: Option<CutLine>,
    /// Fields beside that of the map.
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
    /// The scale and the map of magnitudes, where only the size of the values counts.
    pub fn of_magnitudes(&self) -> (ScaleKind, ColourMap) {
        let scale = match self.scale {
            ScaleKind::Linear => ScaleKind::Linear,
            ScaleKind::Log | ScaleKind::Symmetric => ScaleKind::Log,
        };
        (scale, if self.map.is_diverging() { ColourMap::Inferno } else { self.map })
    }

    /// Takes another scale, and what goes with it.
    pub fn set_scale(&mut self, scale: ScaleKind) {
        self.scale = scale;
        // A diverging map is for signs, the others for magnitudes and levels.
        let diverging = scale == ScaleKind::Symmetric;
        if diverging != self.map.is_diverging() {
            self.map = if diverging { ColourMap::RedBlue } else { ColourMap::Inferno };
        }
        self.range = RangeMode::ThisFrame;
    }
}

/// Which values the colours span.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RangeMode {
    /// Those of the frame that is shown.
    ThisFrame,
    /// Those of all frames that were shown of this run, and the largest of the others where they are known.
    WholeRun,
    /// Those that were chosen, for this run and the next.
    Locked(Range),
}

/// What the convergence curve shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CurveKind {
    Reduction,
    ResidualMax,
    Change,
    Error,
}

/// What it is shown against.
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
                range: RangeMode::ThisFrame,
                absolute: false,
            },
            _ => Colours {
                scale: ScaleKind::Log,
                map: ColourMap::Inferno,
                range: RangeMode::ThisFrame,
                absolute: false,
            },
        };
        Self {
            field: FieldKind::Residual,
            colours: FieldKind::ALL.map(colours),
            borders: true,
            reference: true,
            compare: Compare::default(),
            curve: CurveKind::Reduction,
            against: Against::Sweeps,
            cut: CutLook { log: true, ..CutLook::default() },
            inside: InsideView::default(),
            probes: Vec::new(),
        }
    }
}

impl ViewSettings {
    /// Follows a point over the cycles, or no longer. Where there are too many, the first goes.
    pub fn toggle_probe(&mut self, point: [usize; 2]) {
        let before = self.probes.len();
        self.probes.retain(|other| *other != point);
        if self.probes.len() == before {
            self.probes.push(point);
            if self.probes.len() > MOST_PROBES {
                self.probes.remove(0);
            }
        }
    }

    /// How the field that is looked at is coloured.
    pub fn of_field(&self, field: FieldKind) -> &Colours {
        &self.colours[index(field)]
    }

    /// How the field that is looked at is coloured, to be changed.
    pub fn of_field_mut(&mut self, field: FieldKind) -> &mut Colours {
        &mut self.colours[index(field)]
    }
}

fn index(field: FieldKind) -> usize {
    FieldKind::ALL.iter().position(|&other| other == field).unwrap_or(0)
}

impl CurveKind {
    /// What it is, in one sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::Reduction => "The residual relative to that of the initial guess.",
            Self::ResidualMax => {
                "The largest residual of any point. On a GPU it is computed only while this curve is shown."
            }
            Self::Change => {
                "The largest update of any point in the last cycle. On a GPU it is computed only while this curve is shown."
            }
            Self::Error => {
                "The error: the distance from the exact solution of the discrete system. On a GPU it is computed only while this curve is shown."
            }
        }
    }

    pub const ALL: [Self; 4] = [Self::Reduction, Self::ResidualMax, Self::Change, Self::Error];

    pub fn label(self) -> &'static str {
        match self {
            Self::Reduction => "‖r‖₂ / ‖r₀‖₂",
            Self::ResidualMax => "‖r‖∞",
            Self::Change => "‖Δu‖∞",
            Self::Error => "‖u − u*‖₂",
        }
    }
}

impl Against {
    /// What it is, in one sentence.
    pub fn about(self) -> &'static str {
        match self {
            Self::Cycles => "Cycles of the run; for classic Jacobi, the same number of sweeps.",
            Self::Sweeps => "Sweeps: the work in units of a Jacobi iteration.",
            Self::Time => "Solver time in seconds; observing the iterate is not counted.",
        }
    }

    pub const ALL: [Self; 3] = [Self::Cycles, Self::Sweeps, Self::Time];

    /// What the curves of a figure are drawn over.
    pub fn of(over: Over) -> Self {
        match over {
            Over::Cycles => Self::Cycles,
            Over::Sweeps => Self::Sweeps,
            Over::Seconds => Self::Time,
        }
    }

    /// The same in a figure.
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

/// The ranges that follow the field, with their names and what they are in one sentence.
pub const AUTOMATIC: [(RangeMode, &str, &str); 2] = [
    (RangeMode::ThisFrame, "this frame", "The colours span the values of the shown frame."),
    (
        RangeMode::WholeRun,
        "whole run",
        "The colours span all shown frames of this run. For residual and update they also span the largest values of all other cycles: on the CPU always, on a GPU while the curve shows them.",
    ),
];
