//! Whether a view can be drawn of a run.

use crate::grid::Shape;
use crate::picture::view::kind::FigureKind;
use crate::picture::view::spec::{Place, ViewSpec};
use crate::run::{CutLine, FieldKind, Snapshot};
use crate::solver::LONGEST_FOLDED;

/// Why a view cannot be drawn of a run; one sentence.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ViewError {
    /// A kind that is of lines alone.
    #[error("{} is drawn of lines; this run is on a plane of {shape} points", .kind.name())]
    OfLines {
        /// The kind that was asked for.
        kind: FigureKind,
        /// The plane.
        shape: Shape,
    },
    /// A kind that needs two runs.
    #[error("{} needs a second run to compare with", .kind.name())]
    NoSecond {
        /// The kind that was asked for.
        kind: FigureKind,
    },
    /// A kind that shows one run.
    #[error(
        "{} shows one run; two are shown by side-by-side, and more by curves, profile and runs",
        .kind.name()
    )]
    OneRun {
        /// The kind that was asked for.
        kind: FigureKind,
    },
    /// More runs than a kind shows.
    #[error("{} shows {} runs at the most, this one and {given} others were given", .kind.name(), .kind.most_beside() + 1)]
    TooMany {
        /// The kind that was asked for.
        kind: FigureKind,
        /// How many others there are.
        given: usize,
    },
    /// Nothing to be followed over the cycles.
    #[error("{} shows a field at single points, and there is none; name one, such as --probe 40,32", .kind.name())]
    NoProbe {
        /// The kind that was asked for.
        kind: FigureKind,
    },
    /// A tile that is too large to be followed.
    #[error("what is to be followed has too many points and subiterations")]
    NotFollowed,
    /// No border to be near to.
    #[error("this run has one tile, and no border to be distant from")]
    NoBorder,
    /// Two runs that do not fit into one figure.
    #[error(
        "the run to compare with has {other} points, this one {shape}; runs in one figure are on the same grid"
    )]
    OtherGrid {
        /// The points of this run.
        shape: Shape,
        /// Those of the other.
        other: Shape,
    },
    /// A cut outside of the grid.
    #[error("cut is {cut}; {allowed}")]
    Cut {
        /// The cut.
        cut: CutLine,
        /// What it may be.
        allowed: String,
    },
    /// A field that cannot be told.
    #[error("nothing is known of the {} of this run at cycle {cycle}; choose another field", .field.name())]
    Unknown {
        /// The field.
        field: FieldKind,
        /// The cycle.
        cycle: u64,
    },
    /// Tiles that are too large to be folded.
    #[error(
        "the tiles of this run are too large for their mean to be made; a side has at most {LONGEST_FOLDED} points"
    )]
    NotFolded,
    /// A part that an arrangement cannot have.
    #[error("{} cannot be part of an arrangement", .kind.name())]
    NotPlaced {
        /// The kind that was asked for.
        kind: FigureKind,
    },
    /// A line of which single cycles are wanted with its diagram, which shows all of them.
    #[error("the arrangement of a line shows all its cycles; choose another kind for an animation")]
    NoFilm,
    /// A number out of its range.
    #[error("{field} is {value}; {allowed}")]
    Value {
        /// Which field.
        field: &'static str,
        /// Its value.
        value: String,
        /// What it may be.
        allowed: String,
    },
}

impl ViewSpec {
    /// Whether it can be drawn of runs on these grids.
    ///
    /// # Errors
    /// [`ViewError`] naming what does not go together.
    pub fn check(&self, shape: &Shape, compared: &[Shape]) -> Result<(), ViewError> {
        let kind = self.kind;
        if kind == FigureKind::SpaceTime && shape.dim() != 1 {
            return Err(ViewError::OfLines { kind, shape: *shape });
        }
        if compared.is_empty() && kind == FigureKind::SideBySide {
            return Err(ViewError::NoSecond { kind });
        }
        if compared.len() > kind.most_beside() {
            return Err(match kind.compares() {
                true => ViewError::TooMany { kind, given: compared.len() },
                false => ViewError::OneRun { kind },
            });
        }
        if self.shows_points()
            && let Some(other) = compared.iter().find(|other| *other != shape)
        {
            return Err(ViewError::OtherGrid { shape: *shape, other: *other });
        }
        if self.shows(FigureKind::Probes) {
            self.check_probes(shape)?;
        }
        if kind == FigureKind::Arrangement {
            if self.frames.is_some() && shape.dim() == 1 {
                return Err(ViewError::NoFilm);
            }
            for Place { kind, area } in self.placed() {
                let place = Self { kind: *kind, places: Vec::new(), ..self.clone() };
                if !kind.can_be_placed() {
                    return Err(ViewError::NotPlaced { kind: *kind });
                }
                let most = kind.most_beside().min(compared.len());
                place.check(shape, &compared[..most])?;
                check_area(*area)?;
            }
        }
        if let Some(cut) = self.cut {
            cut.check(shape).map_err(|allowed| ViewError::Cut { cut, allowed })?;
        }
        if let Some(frames) = &self.frames {
            frames.check()?;
        }
        self.figure.check()
    }

    /// Whether runs are shown point by point, which has to be on the same grid.
    pub fn shows_points(&self) -> bool {
        self.shows(FigureKind::SideBySide) || self.shows(FigureKind::Profile)
    }

    fn check_probes(&self, shape: &Shape) -> Result<(), ViewError> {
        let Some(most) = shape.nx().checked_sub(1).zip(shape.rows().checked_sub(1)) else {
            return Ok(());
        };
        if self.probes.is_empty() {
            return Err(ViewError::NoProbe { kind: FigureKind::Probes });
        }
        let outside = self.probes.iter().find(|[i, row]| *i > most.0 || *row > most.1);
        outside.map_or(Ok(()), |[i, row]| {
            let value = format!("{i},{row}");
            let allowed = format!("points are 0,0 to {},{}", most.0, most.1);
            Err(ViewError::Value { field: "the probe", value, allowed })
        })
    }

    /// Whether there was something to be found out where that was wanted.
    ///
    /// # Errors
    /// [`ViewError`] saying why there was not.
    pub fn check_found(&self, snapshots: &[&Snapshot]) -> Result<(), ViewError> {
        let Some(first) = snapshots.first() else { return Ok(()) };
        match self.kind {
            FigureKind::Inside if first.findings.inside.is_none() => Err(ViewError::NotFollowed),
            FigureKind::Distance if first.findings.distances.is_empty() => Err(ViewError::NoBorder),
            FigureKind::MeanTile if first.picture.samples.values.is_empty() => {
                Err(ViewError::NotFolded)
            }
            _ => Ok(()),
        }
    }
}

/// By how much shares may add up to more than the whole: less than a pixel of any figure.
const ROUNDING: f32 = 1e-5;

/// Whether there is such a part of a whole.
fn check_area(area: [f32; 4]) -> Result<(), ViewError> {
    let [left, top, width, height] = area;
    let is_within =
        |start: f32, length: f32| start >= 0.0 && length > 0.0 && start + length <= 1.0 + ROUNDING;
    if is_within(left, width) && is_within(top, height) {
        return Ok(());
    }
    let value = area.map(|share| share.to_string()).join(",");
    let allowed = "left, top, width and height must be shares of the whole, 0 to 1".to_owned();
    Err(ViewError::Value { field: "the place", value, allowed })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::colour::theme::MOST_BESIDE;
    use crate::picture::view::frames::{Frames, RATE, Spacing};

    fn frames(first: u64, last: u64, spacing: Spacing) -> Frames {
        Frames { first, last, spacing, rate: RATE }
    }

    fn said(view: &ViewSpec, shape: &Shape, others: &[Shape]) -> String {
        view.check(shape, others).unwrap_err().to_string()
    }

    #[test]
    fn what_does_not_go_together_is_told_in_a_sentence() {
        let (plane, line) = (Shape::grid_2d(9, 8).unwrap(), Shape::grid_1d(9, 1).unwrap());
        let kind = |kind| ViewSpec { kind, ..ViewSpec::default() };
        assert!(said(&kind(FigureKind::SpaceTime), &plane, &[]).contains("plane of 9 × 8 points"));
        assert_eq!(kind(FigureKind::SpaceTime).check(&line, &[]), Ok(()));
        assert!(said(&kind(FigureKind::SideBySide), &line, &[]).contains("second run"));
        assert!(said(&kind(FigureKind::HeatMap), &line, &[line]).contains("one run"));
        assert!(said(&kind(FigureKind::Profile), &line, &[plane]).contains("on the same grid"));
        assert_eq!(kind(FigureKind::Curves).check(&line, &[plane]), Ok(()));
        let many = said(&kind(FigureKind::Curves), &line, &[line; MOST_BESIDE + 1]);
        assert!(many.contains("curves shows 7 runs at the most"), "{many}");
        assert!(said(&kind(FigureKind::SideBySide), &line, &[line; 2]).contains("2 runs"));
        let probe = |probes: &[[usize; 2]]| ViewSpec {
            probes: probes.to_vec(),
            ..kind(FigureKind::Probes)
        };
        assert!(said(&probe(&[]), &plane, &[]).contains("--probe"));
        assert!(said(&probe(&[[9, 0]]), &plane, &[]).contains("the probe is 9,0; points are"));
        assert_eq!(probe(&[[8, 7]]).check(&plane, &[]), Ok(()));
        let with = |frames| ViewSpec { frames: Some(frames), ..ViewSpec::default() };
        let reversed = with(frames(4, 1, Spacing::Every(1)));
        assert!(said(&reversed, &plane, &[]).contains("write it as 1..4"));
        let endless = with(frames(0, u64::MAX, Spacing::Every(1)));
        assert!(said(&endless, &plane, &[]).contains("1 to 2000"));
        let standing = with(Frames { rate: f64::NAN, ..frames(0, 4, Spacing::Every(1)) });
        assert!(said(&standing, &plane, &[]).contains("frame rate is NaN"));
    }
}
