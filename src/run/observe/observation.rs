//! What is looked at of an iterate, and what is to be seen of it: alike of the newest of a run and
//! of one that was made again.

use super::cut::{FieldProfile, ProfileRequest};
use super::experiment::Experiment;
use super::field::{FieldKind, Picture};
use crate::grid::Shape;
use crate::run::history::Record;
use crate::solver::{EdgeShare, Followed, Inside, SolverError, Statistics, Window};
use std::sync::Arc;

/// What is looked at. Nothing is found out that is not wanted here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ObservationRequest {
    /// Which field.
    pub field: FieldKind,
    /// The part that is seen: columns and rows; `None` for all of it.
    pub part: Option<[std::ops::Range<usize>; 2]>,
    /// Samples across and down that can be shown.
    pub most: [usize; 2],
    /// A point (column, row) whose value is wanted exactly.
    pub probe: Option<[usize; 2]>,
    /// Whether Jacobi's iteration is to be made beside the run, as a reference.
    pub reference: bool,
    /// Points whose values are followed over the cycles.
    pub probes: Vec<[usize; 2]>,
    /// Whether the norm of the error is wanted, whichever field is looked at.
    pub error: bool,
    /// Whether all norms of every cycle are wanted, and not ‖r‖₂ alone.
    pub all_norms: bool,
    /// Fields along a line of the grid.
    pub cut: Option<ProfileRequest>,
    /// Whether it is wanted how large the field is about tile borders.
    pub statistics: bool,
    /// A tile, or all tiles of a line, to be followed through the next cycle, and how many
    /// subiterations far.
    pub inside: Option<(Followed, usize)>,
}

/// How large a field is about tile borders, and of which iterate that was found out: where this takes long,
/// not of every one that is looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldStatistics {
    /// The field.
    pub field: FieldKind,
    /// Cycles that made the iterate.
    pub cycle: u64,
    /// What was found out.
    pub statistics: Statistics,
}

/// What is to be seen of one iterate of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observation {
    /// Cycles that made the iterate.
    pub cycle: u64,
    /// Its norms, as far as they are known.
    pub norms: Record,
    /// The field that is looked at.
    pub field: FieldKind,
    /// What it looks like. `None` while it is not ready.
    pub picture: Option<Picture>,
    /// Fields along the line that is looked at.
    pub along: Vec<FieldProfile>,
    /// The value of the probe, with the point that it belongs to.
    pub probe: Option<([usize; 2], f32)>,
    /// The values of the points that are followed, with the points. NaN: not known.
    pub probes: Vec<([usize; 2], f32)>,
    /// How much of the residual lies at tile borders.
    pub edge: EdgeShare,
    /// How large the field is about tile borders. `None` while it is not ready, or not wanted.
    pub statistics: Option<Arc<FieldStatistics>>,
    /// Whether something was to be followed.
    pub is_followed: bool,
    /// What is followed; `None` also where that would take too long.
    pub inside: Option<Inside>,
}

impl Observation {
    /// Looks at the present iterate of an experiment. A field that cannot be shown yet
    /// ([`Experiment::can_show`]) is left out; so is the diagram of a line where none is made.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub fn of(experiment: &Experiment, view: &ObservationRequest) -> Result<Self, SolverError> {
        let run = experiment.run();
        let shape = run.plan().problem.shape;
        let ready = experiment.can_show(view.field);
        let is_there = |[i, row]: &[usize; 2]| *i < shape.nx() && *row < shape.rows();
        let probes: Vec<_> = view.probes.iter().copied().filter(is_there).collect();
        let values = match ready {
            true => experiment.values(view.field, &probes)?,
            false => vec![f32::NAN; probes.len()],
        };
        let probe = view.probe.filter(|point| ready && is_there(point));
        let value = |[i, row]: [usize; 2]| {
            let samples = experiment.samples(view.field, &Window::point(i, row))?;
            Ok::<_, SolverError>(([i, row], samples.values[0]))
        };
        let (picture, edge, statistics) = match ready {
            true => experiment.look(view.field, &view.window(&shape), view.statistics)?,
            false => (None, run.solver().edge_share(&run.plan().tiling)?, None),
        };
        Ok(Self {
            cycle: run.cycle(),
            norms: run.record(),
            field: view.field,
            picture,
            along: view.cut.as_ref().map_or(Ok(Vec::new()), |cut| cut.of(experiment))?,
            probe: probe.map(value).transpose()?,
            probes: probes.into_iter().zip(values).collect(),
            edge,
            statistics: statistics.map(|statistics| {
                Arc::new(FieldStatistics { field: view.field, cycle: run.cycle(), statistics })
            }),
            is_followed: view.inside.is_some(),
            inside: match view.inside {
                Some((followed, subiteration)) => {
                    run.next_cycle().inside(followed, subiteration)?
                }
                None => None,
            },
        })
    }
}

impl ObservationRequest {
    /// Whether the staleness is wanted, in the map or along the cut.
    pub(in crate::run) fn wants_staleness(&self) -> bool {
        let along = self.cut.as_ref().map_or(&[][..], |cut| &cut.fields);
        along.contains(&FieldKind::Staleness) || self.field == FieldKind::Staleness
    }

    /// The part of a grid that is seen, and in how many samples.
    pub fn window(&self, shape: &Shape) -> Window {
        let whole = Window { most: self.most, ..Window::whole(shape.nx(), shape.rows()) };
        // At least a point of the grid, whatever was asked for.
        let within = |part: &std::ops::Range<usize>, points: usize| {
            let start = part.start.min(points - 1);
            start..part.end.clamp(start + 1, points)
        };
        match &self.part {
            Some([columns, rows]) => Window {
                columns: within(columns, shape.nx()),
                rows: within(rows, shape.rows()),
                ..whole
            },
            None => whole,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window that is smaller than what stands around the map once asked for such a part.
    #[test]
    fn a_part_that_makes_no_sense_is_at_least_a_point_of_the_grid() {
        let shape = Shape::grid_2d(64, 40).unwrap();
        for part in [[(32, 8), (39, 3)], [(90, 200), (0, 0)], [(usize::MAX, 1), (40, 41)]] {
            let part = part.map(|(start, end)| start..end);
            let view = ObservationRequest { part: Some(part), ..ObservationRequest::default() };
            let Window { columns, rows, .. } = view.window(&shape);
            assert!(columns.start < columns.end && columns.end <= 64, "{columns:?}");
            assert!(rows.start < rows.end && rows.end <= 40, "{rows:?}");
        }
    }
}
