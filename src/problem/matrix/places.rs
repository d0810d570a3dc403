//! Where the rows of a matrix lie: the places of its nodes.

use super::market::{MarketError, is_market, read_array};
use crate::grid::Shape;
use crate::problem::input::{self, InputError};
use std::path::Path;
use std::sync::Arc;

/// Where the rows of a matrix lie, in its own order.
#[derive(Clone, Debug, PartialEq)]
pub enum Places {
    /// On a grid of nodes, x fastest.
    Grid([usize; 2]),
    /// Anywhere in a plane: x and y of each row.
    Points(Arc<[[f64; 2]]>),
}

/// Why there are no coordinates.
#[derive(Debug, thiserror::Error)]
pub enum PlacesError {
    /// A Matrix Market file that cannot be read.
    #[error(transparent)]
    Market(#[from] MarketError),
    /// An array that cannot be read.
    #[error(transparent)]
    Array(#[from] InputError),
}

impl Places {
    /// Reads x and y of each of `rows` rows: a Matrix Market array of two columns, or a NumPy array `[rows, 2]`.
    ///
    /// # Errors
    /// [`PlacesError`] with the file and what is wrong with it.
    pub fn read(path: &Path, rows: usize) -> Result<Self, PlacesError> {
        if is_market(path) {
            let values = read_array(path, [rows, 2])?;
            let (x, y) = values.split_at(rows);
            return Ok(Self::Points(x.iter().zip(y).map(|(x, y)| [*x, *y]).collect()));
        }
        let shape =
            Shape::grid_2d(2, rows).map_err(|_| InputError::Unknown { path: path.to_owned() });
        let values = input::load_array(path, &shape?)?;
        Ok(Self::Points(values.chunks_exact(2).map(|at| [at[0], at[1]]).collect()))
    }
}
