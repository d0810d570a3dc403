//! What figures show of an iterate that is no picture of a field.

use crate::solver::{AtDistance, Followed, Inside};

/// What is to be found out for a figure, beside pictures. Nothing is that is not wanted here.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inquiry {
    /// Whether it is wanted how large the field is by distance from the nearest tile border.
    pub distances: bool,
    /// What is to be followed through the next cycle, and how many subiterations far.
    pub inside: Option<(Followed, usize)>,
    /// Whether it is wanted, over the cycles, how much of the residual lies at tile borders.
    pub edge_share: bool,
    /// Points at which the field is wanted over the cycles.
    pub probes: Vec<[usize; 2]>,
}

/// What was found out of one iterate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Findings {
    /// The field by distance from the nearest tile border, the nearest first; empty where there is
    /// one tile only.
    pub distances: Vec<AtDistance>,
    /// What was followed; `None` also where that would take too long.
    pub inside: Option<Inside>,
}

impl Inquiry {
    /// Whether something of single iterates is wanted.
    pub(in crate::run) fn is_of_iterates(&self) -> bool {
        self.distances || self.inside.is_some()
    }

    /// Whether numbers over the cycles are wanted.
    pub(in crate::run) fn is_over_cycles(&self) -> bool {
        self.edge_share || !self.probes.is_empty()
    }
}
