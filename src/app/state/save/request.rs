//! A file to be saved.

use crate::app::state::save::sources::Sources;
use crate::app::state::save::what::What;
use crate::grid::Shape;
use crate::picture::{FilmFile, LARGEST_SIDE, SMALLEST_SIDE, ViewSpec, is_table};
use crate::run::{FieldKind, ObservationRequest, SnapshotRequest};
use std::path::PathBuf;

/// A file to be saved.
#[derive(Clone, Debug)]
pub struct SaveRequest {
    pub what: What,
    pub path: PathBuf,
    /// What is drawn, or observed.
    pub view: ViewSpec,
    /// What it is drawn from.
    pub sources: Sources,
}

impl SaveRequest {
    /// What is needed of a run on this grid. Nothing is observed that goes into no file.
    pub fn snapshot_request(&self, id: u64, shape: &Shape) -> SnapshotRequest {
        let wanted = self.view.snapshot_request(id, shape);
        let field = wanted.field();
        let observation = match self.what {
            What::Figure(_) => return wanted,
            What::Field => ObservationRequest { field, whole: Some(field), ..Default::default() },
            What::Iterate => {
                ObservationRequest { whole: Some(FieldKind::Solution), ..Default::default() }
            }
            What::Run => ObservationRequest::default(),
        };
        SnapshotRequest { observation, ..wanted }
    }

    /// Whether it is saved as a table.
    pub fn is_table(&self) -> bool {
        self.what.has_table() && is_table(&self.path)
    }

    /// Why it cannot be saved, if that is known beforehand. `shape` is the grid of the run; the planner refuses one
    /// without.
    pub fn refusal(&self, shape: Option<&Shape>) -> Option<String> {
        let sides = ["width", "height"].into_iter().zip(self.view.figure.size);
        let mut sides = sides.filter(|_| self.what.has_page() && !self.is_table());
        let wrong = sides.find(|(_, side)| !(SMALLEST_SIDE..=LARGEST_SIDE).contains(side));
        if let Some((name, side)) = wrong {
            return Some(format!(
                "{name} is {side}; it must be {SMALLEST_SIDE} to {LARGEST_SIDE} pixels"
            ));
        }
        self.view.frames.as_ref()?;
        if let Some(refused) = shape.and_then(|shape| self.view.check_film(shape).err()) {
            return Some(refused.to_string());
        }
        let theme = self.view.figure.theme;
        let file = FilmFile::of(&self.path).and_then(|file| file.check_theme(theme));
        file.err().map(|refused| refused.to_string())
    }
}
