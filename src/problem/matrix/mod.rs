//! Sparse matrices: their rows, their files, orderings of their rows, and their properties.

mod analysis;
mod block_rows;
mod csr;
mod generated;
mod market;
mod order;
mod places;
mod reorganised;
mod spectral_radius;
mod steps;

pub(super) use analysis::is_symmetric;
pub use analysis::{Analysis, BlockEntries};
pub use block_rows::OverlapError;
pub(crate) use block_rows::{BlockRows, Readers, computed_rows};
pub use csr::{Csr, Dominance, Entry, MatrixError};
pub use generated::Generated;
pub use market::{
    Checksum, MarketError, checksum, is_market, read_array, read_matrix, read_rows, read_vector,
    save_matrix,
};
pub use order::{Graph, Ordering, shuffled, tiles};
pub use places::{Places, PlacesError};
pub use reorganised::{ROWS_OF_WARP, ReorganisedRow, rows_of_warp};
pub use spectral_radius::SpectralRadius;
pub use steps::steps_to_border;

pub(super) use csr::is_dominant;
