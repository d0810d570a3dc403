//! What a figure shows, and in which style: with a run all that is needed to make it again.

use crate::grid::{GridPoint, Shape, Slice};
use crate::picture::view::camera::Camera;
use crate::picture::view::figure_spec::FigureSpec;
use crate::picture::view::frames::{Frames, Pairing};
use crate::picture::view::inside::InsideView;
use crate::picture::view::kind::{FigureKind, Uses};
use crate::picture::view::norm::Norm;
use crate::picture::view::over::Over;
use crate::picture::view::slow_link::SlowLink;
use crate::run::{CutLine, FieldKind, RunSpec, SeriesRequest, Snapshot, SnapshotRequest};
use crate::solver::Acceleration;
use serde::{Deserialize, Serialize};

/// What a figure shows, and in which style: with a [`RunSpec`] all that is needed to draw it again.
///
/// `K` is a [`FigureKind`]; in files it is the name of one ([`ViewSpec::from_toml`]).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(serialize = "K: Serialize + Default + PartialEq"))]
pub struct ViewSpec<K = FigureKind> {
    /// Cycles made; for an animation, those of its last frame.
    pub cycle: u64,
    /// The field.
    pub field: FieldKind,
    /// What is drawn of it.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub kind: K,
    /// What convergence curves are drawn over.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub over: Over,
    /// Whether that axis is logarithmic.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub log_x: bool,
    /// The norm that convergence curves show.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub norm: Norm,
    /// The slice through a 3D grid that a map shows, a line and a tile lie in; `None` for the middle of the last axis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slice: Option<Slice>,
    /// Whether a map of a 3D grid shows, in place of the slice, the value of largest magnitude along the axis across it.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub projection: bool,
    /// The point of a 3D grid that three slices have in common; `None` for the middle, in that slice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<[usize; 3]>,
    /// From where a volume is seen.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub camera: Camera,
    /// The link to fast memory that models of a pyramid assume.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub slow_link: SlowLink,
    /// The line that a profile follows; `None` for the middle row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<CutLine>,
    /// The last cycle of the run that curves show, faintly after the selected one; `None` for none
    /// after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<u64>,
    /// How many sweeps of Jacobi's iteration convergence curves show beside the run; `None` for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classic: Option<u64>,
    /// The same of Chebyshev's acceleration of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chebyshev: Option<u64>,
    /// The same of conjugate gradients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conjugate_gradients: Option<u64>,
    /// Whether convergence curves show the asymptotic rate of the run, as a line.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub asymptotic_rate: bool,
    /// The points whose values are shown over the cycles.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub probes: Vec<GridPoint>,
    /// Which cycles of other runs go with the frames of an animation.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub pairing: Pairing,
    /// The colours of the runs beside the first, by number; empty for 0, 1, 2 ….
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub colours: Vec<usize>,
    /// What is shown of the inside of a cycle.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub inside: InsideView,
    /// Its style.
    #[serde(default)]
    pub figure: FigureSpec,
    /// The frames of an animation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frames: Option<Frames>,
    /// What an arrangement shows, and where; empty for the usual one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub places: Vec<PlacedFigure<K>>,
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
pub struct PlacedFigure<K = FigureKind> {
    /// What is drawn there.
    pub kind: K,
    /// Its left and upper end, its width and its height, as shares of the whole.
    pub area: [f32; 4],
}

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

fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl ViewSpec<String> {
    /// The view with kinds in the place of their names, or the first name that is none.
    pub(crate) fn with_kinds(
        self,
        kind_of: impl Fn(&str) -> Option<FigureKind>,
    ) -> Result<ViewSpec, String> {
        let find = |name: String| kind_of(&name).ok_or(name);
        let place = |place: PlacedFigure<String>| {
            Ok(PlacedFigure { kind: find(place.kind)?, area: place.area })
        };
        Ok(ViewSpec {
            kind: if self.kind.is_empty() { FigureKind::default() } else { find(self.kind)? },
            places: self.places.into_iter().map(place).collect::<Result<_, String>>()?,
            cycle: self.cycle,
            field: self.field,
            over: self.over,
            log_x: self.log_x,
            norm: self.norm,
            slice: self.slice,
            projection: self.projection,
            through: self.through,
            camera: self.camera,
            slow_link: self.slow_link,
            cut: self.cut,
            until: self.until,
            classic: self.classic,
            chebyshev: self.chebyshev,
            conjugate_gradients: self.conjugate_gradients,
            asymptotic_rate: self.asymptotic_rate,
            probes: self.probes,
            pairing: self.pairing,
            colours: self.colours,
            inside: self.inside,
            figure: self.figure,
            frames: self.frames,
            compared: self.compared,
        })
    }
}

impl ViewSpec {
    /// What is needed of a run on this grid to draw it; see [`record_run`](crate::run::record_run).
    pub fn snapshot_request(&self, id: u64, shape: &Shape) -> SnapshotRequest {
        let mut request = SnapshotRequest {
            id,
            until: self.until,
            classic: self.classic,
            accelerated: self.accelerated(),
            ..SnapshotRequest::default()
        };
        // Norms come with every run; any field will do beside them.
        request.observation.field =
            if self.uses().field { self.field } else { FieldKind::Residual };
        for kind in self.kinds() {
            kind.request(self, shape, &mut request);
        }
        if let Some(map) = &mut request.observation.map {
            (map.slice, map.is_projection) = (self.slice, self.projection);
        }
        request
    }

    /// How many sweeps of each acceleration of Jacobi's iteration are shown, in the order of [`Acceleration::ALL`].
    fn accelerated(&self) -> [Option<u64>; Acceleration::ALL.len()] {
        [self.chebyshev, self.conjugate_gradients]
    }

    /// The accelerations of Jacobi's iteration that are shown.
    pub fn accelerations(&self) -> impl Iterator<Item = Acceleration> {
        let shown = Acceleration::ALL.into_iter().zip(self.accelerated());
        shown.filter_map(|(acceleration, sweeps)| sweeps.map(|_| acceleration))
    }

    /// The same of a run beside the first, whose curve extends to this cycle.
    pub fn snapshot_request_beside(
        &self,
        id: u64,
        shape: &Shape,
        until: Option<u64>,
    ) -> SnapshotRequest {
        let mut request = self.snapshot_request(id, shape);
        request.observation.inside = None;
        (request.observation.damping, request.observation.rate) = (false, false);
        SnapshotRequest {
            until,
            classic: None,
            accelerated: Default::default(),
            series: SeriesRequest::default(),
            ..request
        }
    }

    /// Whether curves extend beyond the selected cycle, where the run does, on a grid of `dim` axes; and in an
    /// arrangement the space–time diagram of a 1D run.
    pub fn goes_on(&self, dim: usize) -> bool {
        let has_diagram = !self.placed().is_empty() && dim == 1;
        let goes_on = |kind: FigureKind| kind.is_over_cycles() && !kind.is_of_any_cycle();
        has_diagram || self.kinds().any(goes_on)
    }

    /// Whether an accelerated iteration appears in a drawing: its residual is known, its time is not.
    pub fn draws_accelerations(&self) -> bool {
        let uses = self.uses();
        let is_known = !uses.norm || matches!(self.norm, Norm::Residual | Norm::ResidualMax);
        is_known && !(uses.over && self.over == Over::Seconds)
    }

    /// Whether it shows how far runs are when they end, whichever of their cycles is selected.
    pub fn shows_ends(&self) -> bool {
        self.kinds().any(|kind| kind.shows_ends())
    }

    /// Whether runs are compared point by point, which takes the same grid.
    pub fn compares_points(&self) -> bool {
        self.kinds().any(|kind| kind.compares_points())
    }

    /// Which settings change what is drawn, alone or in an arrangement.
    pub fn uses(&self) -> Uses {
        self.kinds().map(|kind| kind.uses()).fold(Uses::default(), Uses::or)
    }

    /// What an arrangement shows, and where; nothing of other kinds.
    pub(crate) fn placed(&self) -> &[PlacedFigure] {
        self.kind.places(self)
    }

    /// What is drawn: its kind, and those of the parts of an arrangement.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = FigureKind> {
        std::iter::once(self.kind).chain(self.placed().iter().map(|place| place.kind))
    }

    /// Whether this kind is drawn, alone or in an arrangement.
    pub fn shows(&self, kind: FigureKind) -> bool {
        self.kinds().any(|shown| shown == kind)
    }

    /// The same with what the snapshots show: their cycle, how far their curves go, and the runs beside
    /// the first.
    #[must_use]
    pub fn of(self, snapshots: &[&Snapshot]) -> Self {
        let Some((first, others)) = snapshots.split_first() else { return self };
        let goes_on = self.goes_on(first.plan.problem.shape.dim());
        let until = |snapshot: &Snapshot| {
            let last = snapshot.history.latest().cycle;
            (goes_on && last > snapshot.cycle()).then_some(last)
        };
        // The newest residual comes with the next sweep.
        let mut known = first.reference.iter().rev().filter(|record| record.residual.is_some());
        let classic = known.next().map(|record| record.cycle);
        let accelerated = |acceleration: Acceleration| {
            let mut curves = first.accelerated.iter();
            let curve = curves.find(|curve| curve.acceleration == acceleration)?;
            let last =
                curve.records.last().filter(|_| curve.is_known() && self.uses().reference)?;
            Some(last.cycle)
        };
        let compared = |snapshot: &&Snapshot| Compared {
            cycle: snapshot.cycle(),
            until: until(snapshot),
            run: snapshot.plan.spec.clone(),
        };
        Self {
            cycle: first.cycle(),
            until: until(first),
            classic: classic.filter(|_| self.uses().reference),
            chebyshev: accelerated(Acceleration::Chebyshev),
            conjugate_gradients: accelerated(Acceleration::ConjugateGradients),
            compared: others.iter().map(compared).collect(),
            ..self
        }
    }

    /// The number of the `index`th run beside the first, from which its colour follows.
    pub fn colour(&self, index: usize) -> usize {
        self.colours.get(index).copied().unwrap_or(index)
    }
}
