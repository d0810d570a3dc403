//! A run at one of its cycles, as figures and files need it.

use super::findings::{Findings, Inquiry};
use super::run_series::RunSeries;
use crate::grid::{Field, Shape};
use crate::run::history::{History, Record};
use crate::run::observe::{
    CutLine, Experiment, FieldKind, MapRequest, Observation, ObservationRequest, Picture,
    ProfileRequest,
};
use crate::run::plan::Plan;
use crate::solver::{MeanTile, SolverError};
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
    /// The most samples across and down that are taken of a grid.
    pub(super) fn size(&self, shape: &Shape) -> [usize; 2] {
        match self.part {
            Part::Along(line) => [line.within(shape).points(shape).len(), 1],
            _ => MapRequest::whole(self.most).window(shape).size(),
        }
    }

    /// What it needs of an iterate.
    pub(super) fn observation(&self) -> ObservationRequest {
        let parts = || std::iter::once(&self.part).chain(&self.more);
        let line = parts().find_map(|part| match part {
            Part::Along(line) => Some(*line),
            _ => None,
        });
        let is_map = |part: &&Part| matches!(part, Part::All | Part::Iterate);
        let map = |part: &Part| MapRequest {
            is_of_iterate: *part == Part::Iterate,
            ..MapRequest::whole(self.most)
        };
        ObservationRequest {
            field: self.field,
            map: parts().find(is_map).map(map),
            profile: line.map(|line| ProfileRequest {
                line,
                fields: vec![self.field],
                most: self.most[line.axis()],
            }),
            statistics: self.inquiry.distances || parts().any(|part| *part == Part::MeanTile),
            inside: self.inquiry.inside,
            solution: self.solution,
            ..ObservationRequest::default()
        }
    }

    /// The picture of a part that was observed.
    fn picture(part: Part, observation: &Observation) -> Picture {
        let samples = match part {
            Part::All | Part::Iterate => return observation.picture.clone().unwrap_or_default(),
            Part::Along(_) => observation.profiles.first().map(|profile| profile.samples.clone()),
            Part::MeanTile => observation.mean_tile().cloned().map(MeanTile::samples),
        };
        Picture { samples: samples.unwrap_or_default(), cycles_per_row: None }
    }
}

impl Snapshot {
    /// A snapshot of an experiment as it is now.
    ///
    /// # Errors
    /// [`SolverError`] if its solver fails.
    pub fn of(experiment: &Experiment, request: &SnapshotRequest) -> Result<Self, SolverError> {
        Ok(Self::with(experiment, request, &experiment.observe(&request.observation())?))
    }

    /// The same with what was observed before.
    pub(super) fn with(
        experiment: &Experiment,
        request: &SnapshotRequest,
        observation: &Observation,
    ) -> Self {
        let run = experiment.run();
        let known = |record: &&Record| request.classic.is_none_or(|last| record.cycle <= last);
        let bare = Self {
            id: request.id,
            plan: Arc::clone(run.plan()),
            cycle: run.cycle(),
            picture: Arc::default(),
            more: Arc::default(),
            field: request.field,
            findings: Arc::default(),
            over_cycles: Arc::default(),
            history: Arc::new(run.history().clone()),
            reference: experiment.classic().map_or_else(Arc::default, |classic| {
                classic.history().records().filter(known).copied().collect()
            }),
            start_residual: run.start_residual(),
            solution: None,
        };
        bare.observed(request, observation)
    }

    /// The parts that were requested, of an observation.
    pub(super) fn observed(&self, request: &SnapshotRequest, observation: &Observation) -> Self {
        let picture = |part: &Part| Arc::new(SnapshotRequest::picture(*part, observation));
        Self {
            cycle: observation.cycle,
            field: observation.field,
            picture: picture(&request.part),
            more: request.more.iter().map(picture).collect(),
            findings: Arc::new(Findings {
                distances: match request.inquiry.distances {
                    true => observation.distances().to_vec(),
                    false => Vec::new(),
                },
                inside: observation.inside.clone(),
            }),
            solution: observation.solution.clone(),
            ..self.clone()
        }
    }
}
