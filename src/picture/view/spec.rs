//! What a figure shows, and how it looks: with a run all that is needed to make it again.

use crate::grid::Shape;
use crate::picture::figures::run_figure::Over;
use crate::picture::view::figure_spec::FigureSpec;
use crate::picture::view::frames::{Frames, Pairing};
use crate::picture::view::inside::InsideView;
use crate::picture::view::kind::FigureKind;
use crate::run::{CutLine, FieldKind, Inquiry, Part, RunSpec, Snapshot, SnapshotRequest};
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
    /// The last cycle of the run that curves show, faintly after the one that is looked at; `None`
    /// for none after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
    /// How many sweeps of Jacobi's iteration curves show beside the run; `None` for none at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classic: Option<u64>,
    /// The points whose values are shown over the cycles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<[usize; 2]>,
    /// Which cycles of other runs stand beside the frames of an animation.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub pairing: Pairing,
    /// The colours of the runs beside the first, by number; nothing for 0, 1, 2 ….
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub colours: Vec<usize>,
    /// What is shown of the inside of a cycle.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub inside: InsideView,
    /// How it looks.
    #[serde(default)]
    pub figure: FigureSpec,
    /// The frames of an animation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<Frames>,
    /// What an arrangement shows, and where; nothing for the usual one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<Place>,
    /// The runs beside the first.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_many")]
    pub compared: Vec<Compared>,
}

/// Older figures have one run beside the first at the most, and no list.
fn one_or_many<'de, D: serde::Deserializer<'de>>(given: D) -> Result<Vec<Compared>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Given {
        One(Box<Compared>),
        Many(Vec<Compared>),
    }
    Ok(match Given::deserialize(given)? {
        Given::One(one) => vec![*one],
        Given::Many(many) => many,
    })
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

/// Another run in the same figure.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Compared {
    /// Cycles made of it.
    pub cycle: u64,
    /// The last cycle that its curve shows, as of the first run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
    /// The run.
    pub run: RunSpec,
}

/// As many samples as there are points.
const ALL: [usize; 2] = [usize::MAX; 2];

fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl ViewSpec {
    /// What is wanted of a run on this grid to draw it; see [`record_run`](crate::run::record_run).
    pub fn snapshot_request(&self, id: u64, shape: &Shape) -> SnapshotRequest {
        let (part, most) = match self.kind {
            FigureKind::Profile => (Part::Along(self.cut.unwrap_or(CutLine::middle(shape))), ALL),
            FigureKind::MeanTile => (Part::MeanTile, ALL),
            FigureKind::BareMap => (Part::All, ALL),
            // Nothing of the field itself is drawn.
            kind if kind.is_over_cycles() => (Part::Iterate, [1, 1]),
            FigureKind::Distance | FigureKind::Inside => (Part::Iterate, [1, 1]),
            _ => (Part::All, self.figure.size.map(|side| side as usize)),
        };
        // Norms come with every run; any field will do beside them.
        let field = if self.kind.shows_field() { self.field } else { FieldKind::Residual };
        let more = self.more(shape).map(|(_, part)| part).collect();
        let is_line = shape.dim() == 1;
        let inside = || (self.inside.followed(is_line), self.inside.subiteration);
        let is_there = |[i, row]: &[usize; 2]| *i < shape.nx() && *row < shape.rows();
        let probes = self.probes.iter().copied().filter(is_there);
        let inquiry = Inquiry {
            distances: self.shows(FigureKind::Distance),
            inside: self.shows(FigureKind::Inside).then(inside),
            edge_share: self.shows(FigureKind::EdgeShare),
            probes: probes.filter(|_| self.shows(FigureKind::Probes)).collect(),
        };
        let (until, classic) = (self.until, self.classic);
        SnapshotRequest { id, field, part, more, most, inquiry, until, classic, solution: false }
    }

    /// The same of a run beside the first, whose curve goes so far.
    pub fn snapshot_request_beside(
        &self,
        id: u64,
        shape: &Shape,
        until: Option<u64>,
    ) -> SnapshotRequest {
        SnapshotRequest {
            until,
            classic: None,
            inquiry: Inquiry::default(),
            ..self.snapshot_request(id, shape)
        }
    }

    /// Whether curves go on after the cycle that is looked at, where the run does; and in an
    /// arrangement the diagram of a line.
    pub fn goes_on(&self, shape: &Shape) -> bool {
        let is_over_cycles = |kind: &FigureKind| kind.is_over_cycles() && self.shows(*kind);
        let is_several = self.kind == FigureKind::Arrangement;
        FigureKind::ALL.iter().any(is_over_cycles) || (is_several && shape.dim() == 1)
    }

    /// Whether it shows how far runs are in the end, whichever of their cycles is looked at.
    pub fn shows_ends(&self) -> bool {
        self.shows(FigureKind::Curves) || self.shows(FigureKind::Runs)
    }

    /// What an arrangement shows, and where.
    pub(crate) fn placed(&self) -> &[Place] {
        if self.places.is_empty() { &USUAL } else { &self.places }
    }

    /// What an arrangement shows beside maps and curves, in the order in which it is captured.
    pub(crate) fn more(&self, shape: &Shape) -> impl Iterator<Item = (FigureKind, Part)> {
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

    /// The same of what was captured for it: its cycle, how far its curves go, and the runs beside
    /// the first.
    #[must_use]
    pub fn of(self, snapshots: &[&Snapshot]) -> Self {
        let Some((first, others)) = snapshots.split_first() else { return self };
        let goes_on = self.goes_on(&first.plan.problem.shape);
        let until = |snapshot: &Snapshot| {
            let last = snapshot.history.latest().cycle;
            (goes_on && last > snapshot.cycle).then_some(last)
        };
        // The newest residual comes with the next sweep.
        let mut told = first.reference.iter().rev().filter(|record| record.residual.is_some());
        let classic = told.next().map(|record| record.cycle);
        let compared = |snapshot: &&Snapshot| Compared {
            cycle: snapshot.cycle,
            until: until(snapshot),
            run: snapshot.plan.spec.clone(),
        };
        Self {
            cycle: first.cycle,
            until: until(first),
            classic: classic.filter(|_| self.shows(FigureKind::Curves)),
            compared: others.iter().map(compared).collect(),
            ..self
        }
    }

    /// The number of the `index`th run beside the first, from which its colour follows.
    pub fn colour(&self, index: usize) -> usize {
        self.colours.get(index).copied().unwrap_or(index)
    }
}
