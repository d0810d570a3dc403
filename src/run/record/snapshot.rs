//! A run at one of its cycles, as figures and files need it.

use super::findings::{Findings, Inquiry};
use super::run_series::RunSeries;
use crate::grid::{Field, Shape};
use crate::run::history::{History, Record};
use crate::run::observe::{CutLine, Experiment, FieldKind, Picture};
use crate::run::plan::Plan;
use crate::solver::{MeanTile, Samples, SolverError, Window};
use std::sync::Arc;

/// A request for what a file needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SnapshotRequest {
    /// Its number.
    pub id: u64,
    /// The field to sample.
    pub field: FieldKind,
    /// What of it is sampled.
    pub part: Part,
    /// What else of it is, for an arrangement of figures.
    pub more: Vec<Part>,
    /// Samples across and down at the most.
    pub most: [usize; 2],
    /// What is to be found out beside them. A worker tells it of the iterate alone: numbers over the
    /// cycles are made again by whoever needs them.
    pub inquiry: Inquiry,
    /// Whether the iterate itself is wanted too.
    pub solution: bool,
    /// How far a run is made that is made for this, for its curve, after the cycle that is looked at.
    pub until: Option<u64>,
    /// How many sweeps of Jacobi's iteration are made beside such a run, for their curve; `u64::MAX`
    /// for as many as the run makes.
    pub classic: Option<u64>,
}

/// What a file needs.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The number of the request.
    pub id: u64,
    /// The run.
    pub plan: Arc<Plan>,
    /// Cycles made.
    pub cycle: u64,
    /// The field.
    pub picture: Arc<Picture>,
    /// What else of it was asked for, in the same order.
    pub more: Arc<[Arc<Picture>]>,
    /// Which field it is.
    pub field: FieldKind,
    /// What was found out beside it.
    pub findings: Arc<Findings>,
    /// Numbers over the cycles.
    pub over_cycles: Arc<RunSeries>,
    /// All norms so far.
    pub history: Arc<History>,
    /// Those of Jacobi's iteration on the same system, if it is made beside the run.
    pub reference: Arc<[Record]>,
    /// ‖r₀‖₂.
    pub start_residual: f64,
    /// The iterate, if it was asked for.
    pub solution: Option<Arc<Field<f64>>>,
}

/// What a file needs of one iterate.
#[derive(Clone)]
pub(in crate::run) struct Look {
    pub picture: Arc<Picture>,
    pub more: Arc<[Arc<Picture>]>,
    pub findings: Arc<Findings>,
    pub solution: Option<Arc<Field<f64>>>,
}

/// What of a field is sampled for a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// All of it: of a plane its map, of a line its space–time diagram.
    #[default]
    All,
    /// All of the present iterate's, of a plane and of lines.
    Iterate,
    /// A line through it.
    Along(CutLine),
    /// Its magnitude, folded onto one tile; see [`MeanTile`](crate::solver::MeanTile).
    MeanTile,
}

impl SnapshotRequest {
    /// Samples across and down, at the most, that are taken of a grid.
    pub(in crate::run) fn size(&self, shape: &Shape) -> [usize; 2] {
        match self.part {
            Part::Along(line) => [line.within(shape).points(shape).len(), 1],
            _ => self.whole(shape).size(),
        }
    }

    /// All of a grid.
    fn whole(&self, shape: &Shape) -> Window {
        Window { most: self.most, ..Window::whole(shape.nx(), shape.rows()) }
    }

    /// Looks at an experiment as it is now.
    ///
    /// # Errors
    /// [`SolverError`] if its solver fails.
    pub(in crate::run) fn look(&self, experiment: &Experiment) -> Result<Look, SolverError> {
        let picture = |part: &Part| self.picture_of(*part, experiment).map(Arc::new);
        let solution = self.solution.then(|| experiment.run().solver().solution());
        Ok(Look {
            picture: picture(&self.part)?,
            more: self.more.iter().map(picture).collect::<Result<_, _>>()?,
            findings: Arc::new(self.inquiry.of(experiment, self.field)?),
            solution: solution.transpose()?.map(Arc::new),
        })
    }

    fn picture_of(&self, part: Part, experiment: &Experiment) -> Result<Picture, SolverError> {
        let shape = &experiment.run().plan().problem.shape;
        let samples = match part {
            Part::All => return experiment.picture(self.field, &self.whole(shape)),
            Part::Iterate => experiment.samples(self.field, &self.whole(shape))?,
            Part::Along(line) => {
                line.within(shape).samples(experiment, self.field, self.most[line.axis()])?
            }
            Part::MeanTile => experiment
                .statistics(self.field)?
                .and_then(|statistics| statistics.mean_tile)
                .map_or_else(Samples::default, MeanTile::samples),
        };
        Ok(Picture { samples, cycles_per_row: None })
    }
}

impl Snapshot {
    /// Takes what was asked for from an experiment as it is now.
    ///
    /// # Errors
    /// [`SolverError`] if its solver fails.
    pub fn of(
        experiment: &Experiment,
        snapshot_request: &SnapshotRequest,
    ) -> Result<Self, SolverError> {
        Ok(Self::with(experiment, snapshot_request, snapshot_request.look(experiment)?))
    }

    /// The same with what was seen before.
    pub(in crate::run) fn with(
        experiment: &Experiment,
        snapshot_request: &SnapshotRequest,
        look: Look,
    ) -> Self {
        let Look { picture, more, findings, solution } = look;
        let run = experiment.run();
        let known =
            |record: &&Record| snapshot_request.classic.is_none_or(|last| record.cycle <= last);
        Self {
            id: snapshot_request.id,
            plan: Arc::clone(run.plan()),
            cycle: run.cycle(),
            picture,
            more,
            field: snapshot_request.field,
            findings,
            over_cycles: Arc::default(),
            history: Arc::new(run.history().clone()),
            reference: experiment.classic().map_or_else(Arc::default, |classic| {
                classic.history().records().filter(known).copied().collect()
            }),
            start_residual: run.start_residual(),
            solution,
        }
    }
}
