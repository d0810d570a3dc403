//! Sweeps of blocks, each compiled for one form of the update and one level of vector instructions.
//!
//! What divides a grid into blocks does not depend on the form, and is compiled without it.

#[cfg(target_arch = "wasm32")]
mod page;
#[cfg(target_arch = "wasm32")]
mod program;

use super::level::Level;
use super::norms::Lanes;
use super::update::{
    Block, Damped, ExactProducts, General, Isotropic, MeasuredSweep, PerAxis, PerPoint, STRIPE,
    Sweep, Update,
};
use crate::grid::Real;
use crate::problem::{System, Weights};
use std::ops::Range;

/// What sweeps blocks of one system.
pub(super) trait Sweeps<R>: Sync {
    /// Updates a block into `out`, which begins at its first point.
    fn sweep(&self, block: &Block<'_, R>, out: &mut [R]);

    /// The same, and adds what it changes to `changes`, in the columns `owned`; where points have rows of their own,
    /// times their diagonals.
    fn sweep_and_measure(
        &self,
        block: &Block<'_, R>,
        out: &mut [R],
        owned: Range<usize>,
        changes: &mut Lanes<STRIPE>,
    );
}

/// A form of the update, with the instructions of a level.
struct AtLevel<U> {
    update: U,
    level: Level,
}

impl<R: Real, U: Update<R>> Sweeps<R> for AtLevel<U> {
    fn sweep(&self, block: &Block<'_, R>, out: &mut [R]) {
        self.level.run(Sweep { update: self.update, block, out });
    }

    fn sweep_and_measure(
        &self,
        block: &Block<'_, R>,
        out: &mut [R],
        owned: Range<usize>,
        changes: &mut Lanes<STRIPE>,
    ) {
        let sweep = Sweep { update: self.update, block, out };
        self.level.run(MeasuredSweep { sweep, owned, changes });
    }
}

/// Whether fused multiply-adds are always computed in software.
const IS_SOFTWARE_ALWAYS: bool = cfg!(target_arch = "wasm32");

/// Passes `work` the sweeps of a system, of whose update the fraction `omega` is applied.
pub(super) fn with_sweeps<R: Real, T>(
    system: &System<R>,
    omega: R,
    level: Level,
    work: impl FnOnce(&dyn Sweeps<R>) -> T,
) -> T {
    #[cfg(target_arch = "wasm32")]
    if let Some(compiled) = page::Compiled::new(system, omega) {
        return with_form(system, omega, level, |others| work(&compiled.beside(others)));
    }
    with_form(system, omega, level, work)
}

/// The same, of the form of the update that has its weights.
fn with_form<R: Real, T>(
    system: &System<R>,
    omega: R,
    level: Level,
    work: impl FnOnce(&dyn Sweeps<R>) -> T,
) -> T {
    let dim = system.shape().dim();
    if IS_SOFTWARE_ALWAYS
        && system.has_exact_products
        && let Weights::Isotropic(w) = system.weights
    {
        return match dim {
            1 => with_omega(ExactProducts::<R, 1>(w), omega, level, work),
            2 => with_omega(ExactProducts::<R, 2>(w), omega, level, work),
            _ => with_omega(ExactProducts::<R, 3>(w), omega, level, work),
        };
    }
    match (system.weights, dim) {
        (Weights::Isotropic(w), 1) => with_omega(Isotropic::<R, 1>(w), omega, level, work),
        (Weights::Isotropic(w), 2) => with_omega(Isotropic::<R, 2>(w), omega, level, work),
        (Weights::Isotropic(w), _) => with_omega(Isotropic::<R, 3>(w), omega, level, work),
        // In 1D there is no such form: weights that are equal along the only axis are isotropic.
        (Weights::PerAxis(w), 1 | 2) => with_omega(PerAxis::<R, 2>(w), omega, level, work),
        (Weights::PerAxis(w), _) => with_omega(PerAxis::<R, 3>(w), omega, level, work),
        (Weights::General(w), 1) => with_omega(General::<R, 1>(w), omega, level, work),
        (Weights::General(w), 2) => with_omega(General::<R, 2>(w), omega, level, work),
        (Weights::General(w), _) => with_omega(General::<R, 3>(w), omega, level, work),
        (Weights::PerPoint, 1) => with_omega(PerPoint::<1>, omega, level, work),
        // There are none in 3D.
        (Weights::PerPoint, _) => with_omega(PerPoint::<2>, omega, level, work),
    }
}

/// Undamped sweeps are compiled apart, so that damping costs them nothing.
fn with_omega<R: Real, U: Update<R>, T>(
    update: U,
    omega: R,
    level: Level,
    work: impl FnOnce(&dyn Sweeps<R>) -> T,
) -> T {
    if omega == R::from_f64(1.0) {
        work(&AtLevel { update, level })
    } else {
        work(&AtLevel { update: Damped { omega, whole: update }, level })
    }
}
