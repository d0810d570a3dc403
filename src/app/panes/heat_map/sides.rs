//! The pictures that the map shows: of the run, and of a pinned run.

use crate::app::state::compare::How;
use crate::app::state::compared::{Compared, ComparisonTarget};
use crate::grid::Geometry;
use crate::run::{FieldKind, Observation, Picture, Plan, Report};
use eframe::egui::{self, Pos2, Rect};

/// One of the shown pictures.
pub struct Side<'a> {
    pub observation: &'a Observation,
    pub picture: &'a Picture,
    pub plan: &'a Plan,
    /// The newest cycle of its run.
    pub latest: u64,
    /// Its rows per row of the run's picture; may differ from 1 in space–time diagrams, whose rows
    /// are cycles.
    pub rows: f32,
    /// The name of its run.
    pub name: &'a str,
    pub is_difference: bool,
}

impl Side<'_> {
    /// The caption of a field that is zero everywhere; `None` if it is not.
    pub fn zero_everywhere(&self) -> Option<&'static str> {
        let is_zero = self.picture.samples.values.iter().all(|&value| value == 0.0);
        let is_exact = match &self.plan.spec.method {
            method if method.has_frozen_devices() => false,
            method if method.name.is_jacobi() => true,
            method if !method.schedule().is_jacobi() => false,
            method => method.k.finite().is_some_and(|k| self.plan.tiling.is_exact(k)),
        };
        let is_staleness = self.observation.field == FieldKind::Staleness && !self.is_difference;
        is_zero.then_some(match is_staleness && is_exact && self.observation.cycle > 0 {
            true => "0 everywhere: exact Jacobi",
            false => "0 everywhere",
        })
    }

    /// Which of several devices owns a point of the picture; `None` on one, and of a slice within a plane of devices.
    pub fn device_of(&self, point: [usize; 2]) -> Option<usize> {
        let owner = |axis: usize| {
            let borders = self.device_borders(axis);
            let place = point[axis];
            (!borders.is_empty()).then(|| borders.partition_point(|border| *border <= place))
        };
        owner(0).or_else(|| owner(1))
    }

    /// Where devices meet along an axis of the picture: 0 across, 1 down, where a diagram has cycles.
    pub fn device_borders(&self, axis: usize) -> Vec<usize> {
        match self.picture.cycles_per_row {
            Some(_) if axis == 1 => Vec::new(),
            _ => self.plan.device_borders_along(axis, self.picture.samples.slice),
        }
    }

    /// The grid that the picture shows, with its tiles: in 3D a slice.
    pub fn shown(&self) -> Geometry {
        self.plan.shown(self.picture.samples.slice)
    }
}

/// The pictures to show: of the run, and of the run that it is compared with.
pub fn sides<'a>(
    report: &'a Report,
    compared: Option<&'a Compared>,
    how: How,
    flipped: bool,
) -> Vec<Side<'a>> {
    let own = report.observation.picture.as_ref().map(|picture| Side {
        observation: &report.observation,
        picture,
        plan: &report.plan,
        latest: report.latest.cycle,
        rows: 1.0,
        name: "this run",
        is_difference: false,
    });
    let other = compared.and_then(|compared| {
        Some(Side {
            observation: &compared.observation,
            picture: compared.observation.picture.as_ref()?,
            plan: compared.request.plan(),
            latest: compared.request.latest,
            rows: rows_beside(report, compared),
            name: &compared.request.name,
            is_difference: compared.request.place == ComparisonTarget::Difference,
        })
    });
    let other = other.filter(|other| other.observation.field == report.observation.field);
    match (own, other) {
        (_, Some(other)) if how == How::Difference && other.is_difference => vec![other],
        (Some(own), Some(other)) if flipped && !other.is_difference => vec![other, own],
        (Some(own), other) => {
            let both = matches!(how, How::SideBySide | How::Wipe);
            let other = other.filter(|other| both && !other.is_difference);
            std::iter::once(own).chain(other).collect()
        }
        // While the picture of the run is not ready, none replaces it.
        (None, _) => Vec::new(),
    }
}

/// Rows of the compared picture per row of the run's.
fn rows_beside(report: &Report, compared: &Compared) -> f32 {
    let cycles =
        |seen: &Observation| seen.picture.as_ref().and_then(|picture| picture.cycles_per_row);
    match (cycles(&report.observation), cycles(&compared.observation)) {
        (Some(own), Some(other)) => (compared.request.per_cycle * own as f64 / other as f64) as f32,
        _ => 1.0,
    }
}

impl Side<'_> {
    /// The part of it that corresponds to a part of the run's picture.
    pub fn part(&self, part: Rect) -> Rect {
        let at = |at: Pos2| egui::pos2(at.x, at.y * self.rows);
        Rect::from_min_max(at(part.min), at(part.max))
    }

    /// Its row that corresponds to a row of another's picture.
    pub fn row_beside(&self, row: usize, other: &Self) -> usize {
        ((row as f32 + 0.5) * self.rows / other.rows) as usize
    }
}
