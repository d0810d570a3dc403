//! A run that is computed to be archived.

use super::record_run::RecordError;
use crate::pauses::{pause, without_pauses};
use crate::run::archive::RunArchive;
use crate::run::history::{CURVE_POINTS, Record, SharedSeries};
use crate::run::observe::Experiment;
use crate::run::plan::Plan;
use crate::stop_token::StopToken;
use std::sync::Arc;

/// A run that was made apart from any worker.
#[derive(Clone, Debug)]
pub struct ArchivedRun {
    /// What is kept of it.
    pub archive: Arc<RunArchive>,
    /// ‖r₀‖₂.
    pub start_residual: f64,
    /// The norms of its iterates, thinned out for a plot; the newest comes last.
    pub curve: Arc<[Record]>,
}

impl RunArchive {
    /// Makes a run, from its initial guess up to a cycle or to its end, and keeps what can be kept of it in
    /// `budget` bytes.
    ///
    /// # Errors
    /// [`RecordError`].
    pub fn made(
        plan: &Arc<Plan>,
        cycle: u64,
        budget: usize,
        cancel: &StopToken,
    ) -> Result<ArchivedRun, RecordError> {
        without_pauses(Self::made_with_pauses(plan, cycle, budget, cancel))
    }

    /// [`RunArchive::made`] with pauses.
    ///
    /// # Errors
    /// [`RecordError`].
    pub(crate) async fn made_with_pauses(
        plan: &Arc<Plan>,
        cycle: u64,
        budget: usize,
        cancel: &StopToken,
    ) -> Result<ArchivedRun, RecordError> {
        let archive = Self::new(plan, budget);
        let mut experiment = Experiment::new(plan)?;
        experiment.stop_on(cancel);
        if let Some(diagram) = experiment.diagram() {
            archive.set_diagram(diagram);
        }
        while experiment.run().cycle() < cycle && experiment.run().outcome().is_none() {
            let here = experiment.run().cycle();
            if cancel.is_due() {
                return Err(RecordError::Cancelled { cycle: here });
            }
            while !experiment.make_piece() {
                pause().await;
            }
            experiment.advance(cycle - here).map_err(|error| RecordError::after(here, error))?;
            archive.keep(experiment.run())?;
            pause().await;
        }
        experiment.settle()?;
        let run = experiment.run();
        let curve = run.history().curve(&mut SharedSeries::default(), CURVE_POINTS);
        archive.set_curve(&curve);
        Ok(ArchivedRun { archive: Arc::new(archive), start_residual: run.start_residual(), curve })
    }
}
