//! A page in a browser has no files to map.

use crate::files::ReadFile;
use npyz::DType;
use std::io;

/// There is none.
#[derive(Debug, PartialEq)]
pub enum MappedArray {}

impl MappedArray {
    /// Maps nothing.
    ///
    /// # Errors
    /// Always.
    pub(in crate::problem::input) fn new(
        _: &ReadFile,
        _: usize,
        _: usize,
        _: &DType,
    ) -> io::Result<Option<Self>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// The value of a point of the grid.
    pub fn at(&self, _: usize) -> f64 {
        match *self {}
    }

    /// The first value that is not finite, with its place.
    pub(in crate::problem::input) fn first_not_finite(&self) -> Option<(usize, f64)> {
        match *self {}
    }
}
