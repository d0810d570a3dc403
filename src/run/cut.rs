//! Fields along a line of the grid.

use super::experiment::{Experiment, FieldKind};
use crate::grid::Shape;
use crate::solver::{Samples, SolverError, Window};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A line of points of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CutLine {
    /// All points of a row; of lines, a copy.
    Row(usize),
    /// All points of a column.
    Column(usize),
}

/// A line, and what is looked at along it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The line; the last there is, if the grid has not so many.
    pub line: CutLine,
    /// The fields.
    pub fields: Vec<FieldKind>,
    /// Samples along it at the most.
    pub most: usize,
}

/// A field along a line: one sample for each point, or the one of largest magnitude for some.
#[derive(Clone, Debug, PartialEq)]
pub struct Along {
    /// The line.
    pub line: CutLine,
    /// The field.
    pub field: FieldKind,
    /// Its samples. NaN: not known at this cycle.
    pub samples: Samples,
}

impl CutLine {
    /// The same line where the grid has it, or else its last one.
    #[must_use]
    pub fn within(self, shape: &Shape) -> Self {
        match self {
            Self::Row(row) => Self::Row(row.min(shape.rows() - 1)),
            Self::Column(column) => Self::Column(column.min(shape.nx() - 1)),
        }
    }

    /// The middle row of a plane, and the first copy of lines.
    pub fn middle(shape: &Shape) -> Self {
        Self::Row(if shape.dim() == 1 { 0 } else { shape.rows() / 2 })
    }

    /// The axis that it runs along: 0 along x, 1 along y.
    pub fn axis(self) -> usize {
        match self {
            Self::Row(_) => 0,
            Self::Column(_) => 1,
        }
    }

    /// Whether the grid has it.
    ///
    /// # Errors
    /// A sentence that says which lines the grid has.
    pub fn check(self, shape: &Shape) -> Result<(), String> {
        match self {
            Self::Column(_) if shape.dim() == 1 => Err("a line has no columns to cut along".into()),
            Self::Row(row) if row >= shape.rows() => {
                Err(format!("rows are j=0 to j={}", shape.rows() - 1))
            }
            Self::Column(column) if column >= shape.nx() => {
                Err(format!("columns are i=0 to i={}", shape.nx() - 1))
            }
            _ => Ok(()),
        }
    }

    /// Its points, in at most so many samples.
    pub(super) fn window(self, shape: &Shape, most: usize) -> Window {
        match self {
            Self::Row(row) => {
                Window { columns: 0..shape.nx(), rows: row..row + 1, most: [most, 1] }
            }
            Self::Column(column) => {
                Window { columns: column..column + 1, rows: 0..shape.rows(), most: [1, most] }
            }
        }
    }
}

impl fmt::Display for CutLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Row(row) => write!(f, "j={row}"),
            Self::Column(column) => write!(f, "i={column}"),
        }
    }
}

impl Cut {
    /// Takes the fields of an experiment's present iterate along the line.
    ///
    /// # Errors
    /// [`SolverError`] if the solver fails.
    pub(super) fn of(&self, experiment: &Experiment) -> Result<Vec<Along>, SolverError> {
        let shape = experiment.run().plan().problem.shape;
        let line = self.line.within(&shape);
        let window = line.window(&shape, self.most.max(1));
        let along = |&field: &FieldKind| {
            Ok(Along { line, field, samples: experiment.samples(field, &window)? })
        };
        self.fields.iter().map(along).collect()
    }
}

impl Along {
    /// Where each sample lies along the line, the middle of the points that it stands for, and its
    /// value.
    pub fn points(&self) -> impl Iterator<Item = [f64; 2]> + '_ {
        let (axis, n) = match self.line {
            CutLine::Row(_) => (0, self.samples.columns.end),
            CutLine::Column(_) => (1, self.samples.rows.end),
        };
        let block = self.samples.block[axis];
        self.samples.values.iter().enumerate().map(move |(index, &value)| {
            let (first, last) = (index * block, ((index + 1) * block).min(n) - 1);
            [(first + last) as f64 / 2.0, f64::from(value)]
        })
    }
}
