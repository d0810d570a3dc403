//! The one function that observes an iterate: the newest of a run or one that was recomputed, for the
//! window or for a file.

use super::cut::{CutLine, FieldProfile};
use super::experiment::Experiment;
use super::field::{FieldKind, Picture};
use super::frequencies::Frequencies;
use super::request::{ObservationRequest, ProfileRequest, SlicesRequest};
use super::row_map::RowMap;
use super::volume::VolumeSamples;
use crate::grid::{Field, GridPoint, Slice};
use crate::run::history::Record;
use crate::solver::{
    AtDistance, EdgeShare, Inside, MeanTile, Samples, SolverError, Statistics, Traffic, Window,
};
use std::sync::Arc;

/// What was observed of one iterate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observation {
    /// Cycles that made the iterate.
    pub cycle: u64,
    /// Its norms, as far as they are known.
    pub norms: Record,
    /// The field that was requested.
    pub field: FieldKind,
    /// Its map. `None` while it is not ready, or not requested.
    pub picture: Option<Arc<Picture>>,
    /// The field on three slices of a 3D grid, the xy-plane first and the yz-plane last. `None` while it is
    /// not ready, or not requested.
    pub slices: Option<Arc<[Samples; 3]>>,
    /// The field of a 3D grid in the whole. `None` while it is not ready, or not requested.
    pub volume: Option<Arc<VolumeSamples>>,
    /// Fields along the line that was requested.
    pub profiles: Vec<FieldProfile>,
    /// The value at the point of the map that was requested, with the point.
    pub probe: Option<([usize; 2], f32)>,
    /// The values at the points that are followed, with the points. NaN: not known.
    pub probes: Vec<(GridPoint, f32)>,
    /// The field mode by mode. `None` while it is not ready, or not requested, and where it has no frequencies.
    pub frequencies: Option<Arc<Frequencies>>,
    /// The field by the rows of a matrix. `None` while it is not ready, or not requested, and of a grid.
    pub rows: Option<Arc<RowMap>>,
    /// The share of the residual near tile borders; zero where it was not requested.
    pub edge: EdgeShare,
    /// The field about tile borders. `None` while it is not ready, or not requested.
    pub statistics: Option<Arc<FieldStatistics>>,
    /// Whether the inside of a cycle was requested.
    pub is_followed: bool,
    /// The inside of the next cycle; `None` also where that would take too long.
    pub inside: Option<Inside>,
    /// The field whose values at all points were requested, with its kind. `None` while it is not ready.
    pub whole: Option<(FieldKind, Arc<Field<f64>>)>,
    /// What a cycle of a method that streams moved and computed; `None` before the first one.
    pub traffic: Option<Traffic>,
}

/// How large a field is about tile borders, and of which iterate: where this takes long, not every
/// observation has its own.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldStatistics {
    /// The field.
    pub field: FieldKind,
    /// Cycles that made the iterate.
    pub cycle: u64,
    /// The statistics.
    pub statistics: Statistics,
}

impl Observation {
    /// The magnitude of the field by distance from the nearest tile border, the nearest first; empty
    /// where there is one tile only, or where it was not requested.
    pub fn distances(&self) -> &[AtDistance] {
        self.statistics.as_ref().map_or(&[], |of| &of.statistics.distances)
    }

    /// The magnitude of the field, folded onto one tile; `None` where tiles are too large for that,
    /// or where it was not requested.
    pub fn mean_tile(&self) -> Option<&MeanTile> {
        self.statistics.as_ref().and_then(|of| of.statistics.mean_tile.as_ref())
    }
}

impl Experiment {
    /// Observes the present iterate. A field that cannot be shown yet ([`Experiment::can_show`]) is
    /// left out; so is the space–time diagram of a 1D run that makes none.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub fn observe(&self, request: &ObservationRequest) -> Result<Observation, SolverError> {
        let run = self.run();
        let shape = run.plan().problem.shape;
        let (field, cycle) = (request.field, run.cycle());
        let is_ready = self.can_show(field);
        let slice = Slice::shown(request.map.as_ref().and_then(|map| map.slice), &shape);
        let there = request.probes.iter().filter_map(|point| Some((*point, point.place(&shape)?)));
        let (probes, places): (Vec<_>, Vec<_>) = there.unzip();
        let values = match is_ready {
            true => self.values(field, &places)?,
            false => vec![f32::NAN; probes.len()],
        };
        let value = |point: [usize; 2]| -> Result<_, SolverError> {
            let Some([i, row]) = GridPoint::shown(point, slice).place(&shape) else {
                return Ok(None);
            };
            let samples = self.samples(field, &Window::point(i, row))?;
            Ok(Some((point, samples.values[0])))
        };
        let (picture, edge, statistics) = self.field_and_edges(request, is_ready)?;
        let profile = request.profile.as_ref();
        // A device's frozen view of the others is not part of the iterate.
        let inside = |(followed, subiterations)| match run.has_frozen_halos() {
            true => Ok(None),
            false => run.next_cycle().inside(followed, subiterations),
        };
        let whole = match request.whole {
            Some(kind) => self.whole(kind)?.map(|values| (kind, Arc::new(values))),
            None => None,
        };
        Ok(Observation {
            cycle,
            norms: run.record(),
            field,
            picture: picture.map(Arc::new),
            slices: match request.slices.filter(|_| is_ready) {
                Some(slices) => self.slices(field, slices)?.map(Arc::new),
                None => None,
            },
            volume: match request.volume.filter(|_| is_ready) {
                Some(most) => self.volume(field, most)?.map(Arc::new),
                None => None,
            },
            profiles: profile.map_or(Ok(Vec::new()), |profile| self.profiles(profile))?,
            probe: request.probe.filter(|_| is_ready).map(value).transpose()?.flatten(),
            probes: probes.into_iter().zip(values).collect(),
            frequencies: match request.frequencies.filter(|_| is_ready) {
                Some(request) => self.frequencies(field, request)?.map(Arc::new),
                None => None,
            },
            rows: match request.rows.filter(|_| is_ready) {
                Some(most) => self.row_map(field, most)?.map(Arc::new),
                None => None,
            },
            edge,
            statistics: statistics
                .map(|statistics| Arc::new(FieldStatistics { field, cycle, statistics })),
            is_followed: request.inside.is_some(),
            inside: request.inside.map(inside).transpose()?.flatten(),
            whole,
            traffic: run.solver().traffic(),
        })
    }

    /// A field of the present iterate on three slices; `None` in 1D and 2D.
    fn slices(
        &self,
        field: FieldKind,
        SlicesRequest { through, most }: SlicesRequest,
    ) -> Result<Option<[Samples; 3]>, SolverError> {
        let shape = &self.run().plan().problem.shape;
        let Some(point) = Slice::common_point(Some(through), None, shape) else {
            return Ok(None);
        };
        let on = |slice| {
            let shown = Window::shown(shape, Some(slice));
            self.samples(field, &Window { most: [most.max(1); 2], ..shown })
        };
        let [xy, xz, yz] = Slice::through(point);
        Ok(Some([on(xy)?, on(xz)?, on(yz)?]))
    }

    /// A field of the present iterate by the rows of a matrix; `None` of a grid.
    fn row_map(&self, field: FieldKind, most: [usize; 2]) -> Result<Option<RowMap>, SolverError> {
        let plan = self.run().plan();
        if plan.problem.operator.matrix().is_none() {
            return Ok(None);
        }
        let all = Window { most: [usize::MAX, 1], ..Window::shown(&plan.problem.shape, None) };
        let samples = self.samples(field, &all)?;
        Ok(Some(RowMap::new(plan, &samples.values, most)))
    }

    /// Fields of the present iterate along a line.
    fn profiles(&self, request: &ProfileRequest) -> Result<Vec<FieldProfile>, SolverError> {
        let shape = &self.run().plan().problem.shape;
        let slice = Slice::shown(request.slice, shape);
        let line = request.line.within(&shape.shown(slice));
        let profile = |&field: &FieldKind| {
            let samples = self.samples_along(line, slice, field, request.most.max(1))?;
            Ok(FieldProfile { line, slice, field, samples })
        };
        request.fields.iter().map(profile).collect()
    }

    /// A field along a line of the grid or of a slice through it, in at most `most` samples.
    fn samples_along(
        &self,
        line: CutLine,
        slice: Option<Slice>,
        field: FieldKind,
        most: usize,
    ) -> Result<Samples, SolverError> {
        let shape = &self.run().plan().problem.shape;
        let all = Window::shown(shape, slice);
        let window = match line {
            CutLine::Row(row) => Window { rows: row..row + 1, most: [most, 1], ..all },
            CutLine::Column(column) => {
                Window { columns: column..column + 1, most: [1, most], ..all }
            }
            CutLine::Segment(_) => {
                let place = |at| GridPoint::shown(at, slice).place(shape);
                let points: Vec<_> = line.points(&shape.shown(slice)).filter_map(place).collect();
                return Ok(Samples::along(&self.values(field, &points)?, most));
            }
        };
        self.samples(field, &window)
    }
}
