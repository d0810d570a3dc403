//! Sparse matrices: their rows, their files, orderings of their rows, and their properties.

mod analysis;
mod csr;
mod generated;
mod market;
mod order;
mod spectral_radius;

pub(super) use analysis::is_symmetric;
pub use analysis::{Analysis, BlockEntries};
pub use csr::{Csr, Dominance, Entry, MatrixError};
pub use generated::Generated;
pub use market::{MarketError, is_market, read_matrix, read_rows, read_vector, save_matrix};
pub use order::{Graph, Ordering, shuffled, tiles};
pub use spectral_radius::SpectralRadius;

pub(super) use csr::is_dominant;
