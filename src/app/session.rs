//! What was chosen: the run, how it goes, and what is looked at.

use super::compare::Compare;
use super::panes::{Pane, Panes};
use super::pins::Pins;
use super::travel::Travel;
use crate::grid::Tiling;
use crate::picture::{ColourMap, FigureKind, InsideView, Over, Range, ScaleKind, ViewSpec};
use crate::run::{
    CutLine, FieldKind, ObservationRequest, Phase, Preset, ProfileRequest, Report, RunSpec,
    WorkerRequest,
};
use crate::solver::Followed;
use std::sync::Arc;

/// Samples of a profile: as many as any screen has pixels across.
const ALONG: usize = 2048;

/// Points that are followed at the most: as many as there are colours for.
pub(super) const MOST_PROBES: usize = 8;
/// Bytes that iterates may take at first start.
const MEMORY: usize = 512_000_000;

/// All that a person has chosen.
#[derive(Debug)]
pub(super) struct Session {
    /// The run.
    pub spec: Arc<RunSpec>,
    /// Its number; every change of the run gets a new one.
    pub epoch: u64,
    /// Whether it is to go on.
    pub running: bool,
    /// Single cycles asked for since it began.
    pub steps: u64,
    /// Cycles a second at the most.
    pub pace: Option<f64>,
    /// What is looked at, and how.
    pub look: Look,
    /// The runs that were pinned.
    pub pins: Pins,
    /// Whether one of them is shown in the place of the run, for as long as a key is held.
    pub flipped: bool,
    /// The cycle that is shown, and how cycles are played.
    pub travel: Travel,
    /// Bytes that may be taken to keep iterates, of all runs together.
    pub memory: usize,
}

/// What is looked at, and how.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Look {
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
pub(super) struct CutLook {
    /// The line; `None` for the middle row.
    pub line: Option<CutLine>,
    /// Fields beside that of the map.
    pub more: Vec<FieldKind>,
    /// Whether magnitudes are drawn on a logarithmic axis.
    pub log: bool,
}

/// How a field is coloured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Colours {
    pub scale: ScaleKind,
    pub map: ColourMap,
    pub range: RangeMode,
    /// On a linear scale: magnitudes, or values with their sign.
    pub absolute: bool,
}

impl Colours {
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
pub(super) enum RangeMode {
    /// Those of the frame that is shown.
    ThisFrame,
    /// Those of all frames that were shown of this run, and the largest of the others where they are known.
    WholeRun,
    /// Those that were chosen, for this run and the next.
    Locked(Range),
}

/// What the convergence curve shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CurveKind {
    Reduction,
    ResidualMax,
    Change,
    Error,
}

/// What it is shown against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Against {
    Cycles,
    Sweeps,
    Time,
}

impl Default for Session {
    fn default() -> Self {
        Self {
            spec: Arc::default(),
            epoch: 1,
            running: true,
            steps: 0,
            pace: None,
            look: Look::default(),
            pins: Pins::default(),
            flipped: false,
            travel: Travel::default(),
            memory: MEMORY,
        }
    }
}

impl Default for Look {
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

impl Look {
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
            Self::Reduction => "The residual over that of the start.",
            Self::ResidualMax => {
                "The largest residual of any point. On a GPU it is told of the cycles that are made while this is shown."
            }
            Self::Change => {
                "The largest change that the last cycle made to any point. On a GPU it is told of the cycles that are made while this is shown."
            }
            Self::Error => {
                "The distance from the exact solution of the discrete system. On a GPU it is told of the cycles that are made while this is shown."
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
            Self::Cycles => "Cycles of the run; of classic Jacobi as many sweeps as they make.",
            Self::Sweeps => "Sweeps: how much of Jacobi's work was done.",
            Self::Time => "Seconds that the solver took, looking not counted.",
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

impl Session {
    /// The run with a ready-made problem in place of its own.
    pub fn with(&self, preset: &Preset) -> RunSpec {
        let (problem, stop) = preset.problem();
        let mut spec = RunSpec { problem, stop, ..(*self.spec).clone() };
        // One tile and overlap for all axes: the problem may have others.
        spec.method.tile.truncate(1);
        spec.method.overlap.truncate(1);
        spec
    }

    /// Shows of a run that has just begun what a figure of it shows, and stops there.
    pub fn show(&mut self, view: &ViewSpec) {
        let ViewSpec { cycle, field, kind, over, cut, figure, .. } = *view;
        (self.running, self.steps) = (false, cycle);
        let look = &mut self.look;
        look.field = field;
        *look.of_field_mut(field) = Colours {
            scale: figure.scale,
            map: figure.map,
            range: match figure.range.filter(|_| kind != FigureKind::Inside) {
                Some(range) => RangeMode::Locked(range),
                None => RangeMode::ThisFrame,
            },
            absolute: figure.absolute,
        };
        if view.shows(FigureKind::Curves) {
            look.against = Against::of(over);
        }
        // A profile has its tile borders in any case.
        if kind != FigureKind::Profile {
            look.borders = figure.borders;
        }
        look.cut.line = cut.or(look.cut.line);
        if view.shows(FigureKind::Probes) {
            look.probes.clone_from(&view.probes);
        }
        if view.shows(FigureKind::Inside) {
            look.inside = view.inside;
        }
        // Whoever draws curves says whether Jacobi's is among them.
        if view.shows(FigureKind::Curves) {
            look.reference = view.classic.is_some();
        }
    }

    /// The wish that stands for all this. `part` and `most` say which part of the field the map
    /// shows, and in how many samples; `probe` is the point under the cursor. What no pane shows is
    /// not wished for; what files need is known elsewhere.
    pub fn request(
        &self,
        part: Option<[std::ops::Range<usize>; 2]>,
        most: [usize; 2],
        probe: Option<[usize; 2]>,
        panes: &Panes,
    ) -> WorkerRequest {
        let fields = self.cut_fields();
        let cut = ProfileRequest { line: self.cut_line(), fields: fields.clone(), most: ALONG };
        let inside = (self.followed(), self.look.inside.subiteration);
        let has_cut = panes.is_seen(Pane::Cut);
        WorkerRequest {
            epoch: self.epoch,
            spec: Arc::clone(&self.spec),
            running: self.running,
            steps: self.steps,
            pace: self.pace,
            view: ObservationRequest {
                field: self.look.field,
                part,
                most,
                probe,
                probes: self.look.probes.clone(),
                reference: self.look.reference,
                error: self.look.curve == CurveKind::Error
                    || (has_cut && fields.contains(&FieldKind::Error)),
                all_norms: self.look.curve != CurveKind::Reduction,
                cut: has_cut.then_some(cut),
                statistics: panes.is_seen(Pane::MeanTile) || panes.is_seen(Pane::Distance),
                inside: panes.is_seen(Pane::Inside).then_some(inside),
            },
            memory: self.memory_of_each(),
            snapshot_requests: Vec::new(),
        }
    }

    /// The line of the cut: of a plane what was chosen, or the middle row; of lines the first.
    pub fn cut_line(&self) -> CutLine {
        match (&self.spec.problem.shape[..], self.look.cut.line) {
            ([_, _, ..], Some(line)) => line,
            ([_, ny, ..], None) => CutLine::Row(ny / 2),
            _ => CutLine::Row(0),
        }
    }

    /// What is followed through a cycle.
    pub fn followed(&self) -> Followed {
        self.look.inside.followed(self.spec.problem.shape.len() == 1)
    }

    /// The fields along the cut, that of the map first.
    pub fn cut_fields(&self) -> Vec<FieldKind> {
        let more = self.look.cut.more.iter().copied().filter(|&field| field != self.look.field);
        std::iter::once(self.look.field).chain(more).collect()
    }

    /// Bytes that each run may keep of its iterates: all have the same, the pinned ones too.
    pub fn memory_of_each(&self) -> usize {
        self.memory / (1 + self.pins.all().len())
    }

    /// Whether the run has come to its end, as far as it is known, or cannot go on.
    pub fn is_finished(&self, report: Option<&Report>) -> bool {
        report.is_some_and(|report| {
            report.epoch == self.epoch
                && matches!(report.phase, Phase::Finished(_) | Phase::Failed { .. })
        })
    }

    /// The tiles that were chosen; `None` while what was chosen makes no sense.
    pub fn tiling(&self) -> Option<Tiling> {
        let method = &self.spec.method;
        let axes = &self.spec.problem.shape;
        let tile: Vec<_> = (0..axes.len()).map(|axis| method.tile_of(axis)).collect();
        let overlap: Vec<_> = (0..axes.len()).map(|axis| method.overlap_of(axis)).collect();
        Tiling::new(axes, &tile, &overlap).ok()
    }
}
