//! The CUDA back end: so far, which cards there are and why there are none. Kernels follow.

use super::{Kernel, Method, Solver, SolverError};
use crate::grid::Precision;
use crate::problem::Problem;
use std::sync::Arc;

/// Why no NVIDIA card can be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unavailable {
    /// The program was built without the feature `cuda`.
    #[error("this build has no CUDA (feature `cuda`)")]
    NotBuilt,
    /// The driver's library cannot be opened.
    #[error("no NVIDIA driver is installed")]
    NoDriver,
    /// There is a driver, and no card that it can use.
    #[error("the NVIDIA driver finds no card")]
    NoCard,
    /// This version has no kernels yet.
    #[error("its kernels come with a later version")]
    NoKernels,
    /// The driver failed.
    #[error("the NVIDIA driver failed: {0}")]
    Driver(String),
}

/// The names of the cards, in the driver's order; at least one. It opens the driver, which may
/// take a second: not for a thread that draws.
///
/// # Errors
/// [`Unavailable`] says why there is none.
#[cfg(feature = "cuda")]
pub fn cards() -> Result<Vec<String>, Unavailable> {
    use cudarc::driver::{result, sys};
    // SAFETY: it only tries to open the library; asked first, because every other call panics
    // where the library is missing.
    if !unsafe { sys::is_culib_present() } {
        return Err(Unavailable::NoDriver);
    }
    let ask = || -> Result<Vec<String>, result::DriverError> {
        result::init()?;
        let cards = 0..result::device::get_count()?;
        cards.map(|ordinal| result::device::get_name(result::device::get(ordinal)?)).collect()
    };
    let failed = |error: result::DriverError| match error.0 {
        sys::CUresult::CUDA_ERROR_NO_DEVICE => Unavailable::NoCard,
        _ => Unavailable::Driver(error.to_string()),
    };
    let names = ask().map_err(failed)?;
    if names.is_empty() { Err(Unavailable::NoCard) } else { Ok(names) }
}

/// The names of the cards: none, in this build.
///
/// # Errors
/// Always [`Unavailable::NotBuilt`].
#[cfg(not(feature = "cuda"))]
pub fn cards() -> Result<Vec<String>, Unavailable> {
    Err(Unavailable::NotBuilt)
}

/// Sets up a solver on a card at the start u₀.
///
/// # Errors
/// [`SolverError`] if there is no card, or if the run does not fit onto it.
pub fn solver(
    _problem: &Arc<Problem>,
    _method: Method,
    _precision: Precision,
    _kernel: Kernel,
) -> Result<Box<dyn Solver>, SolverError> {
    cards()?;
    Err(Unavailable::NoKernels.into())
}

/// Whether a kernel can take a method in a precision; if not, the sentence says which can.
///
/// # Errors
/// The sentence.
pub fn takes(_kernel: Kernel, _method: &Method, _precision: Precision) -> Result<(), String> {
    Ok(())
}

#[cfg(test)]
mod tests {
    /// The machine of the tests may have a card or none: either way there is an answer, no panic,
    /// and never an empty list.
    #[test]
    fn asking_for_cards_always_gives_an_answer() {
        match super::cards() {
            Ok(names) => assert!(!names.is_empty()),
            Err(why) => assert!(!why.to_string().is_empty()),
        }
    }
}
