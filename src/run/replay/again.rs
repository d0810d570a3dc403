//! What files need of earlier cycles: made again on the thread of whoever asks.

use super::remade::Remade;
use crate::problem::{self, ExactError};
use crate::run::experiment::FieldKind;
use crate::run::past::Past;
use crate::run::seen::View;
use crate::run::shoot::{ShootError, Stage, Watch, When, shoot};
use crate::run::worker::{Capture, Captured, Part};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

impl Captured {
    /// What a file needs of a cycle that a run has made: from the iterate before it that was kept or,
    /// for the diagram of a line, from the start. Of its curve there is what the run's plot shows.
    ///
    /// # Errors
    /// [`ShootError`].
    pub fn again(
        past: &Arc<Past>,
        cycle: u64,
        capture: &Capture,
        cancel: &AtomicBool,
    ) -> Result<Self, ShootError> {
        let plan = past.plan();
        if plan.problem.shape.dim() == 1 && capture.part == Part::All {
            let mut watch = Watch { cancel, told: &mut |_: Stage<'_>| {} };
            let shots = shoot(plan, capture, When::Cycles(&[cycle]), &mut watch)?.shots;
            let shot = shots.into_iter().next().ok_or(ShootError::Cancelled { cycle })?;
            return Ok(Self { plan: Arc::clone(plan), ..shot });
        }
        if capture.field == FieldKind::Error && past.exact().is_none() {
            match problem::exact(&plan.problem, cancel) {
                Ok(exact) => past.set_exact(&Arc::new(exact)),
                Err(ExactError::Cancelled) => return Err(ShootError::Cancelled { cycle }),
                Err(error) => return Err(ShootError::Exact(error)),
            }
        }
        let mut remade = Remade::new(past)?;
        let view = View { field: capture.field, ..View::default() };
        let goes_on = &mut |_: &Remade, _| !cancel.load(Ordering::Relaxed);
        if !remade.go_to(cycle, &view, goes_on)? {
            return Err(ShootError::Cancelled { cycle });
        }
        let curve = past.curve();
        let (before, after) = curve.split_at(curve.partition_point(|record| record.cycle < cycle));
        let here = [remade.norms()?];
        Ok(Self {
            history: Arc::new(before.iter().chain(&here).chain(after).copied().collect()),
            ..Self::of(remade.experiment(), capture)?
        })
    }
}
