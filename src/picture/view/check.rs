//! Whether a view can be drawn of a run.

use crate::grid::{Geometry, Shape, Slice};
use crate::number::{counted, grouped};
use crate::picture::view::camera::{Camera, ZOOMS};
use crate::picture::view::error::ViewError;
use crate::picture::view::spec::{PlacedFigure, ViewSpec};
use crate::run::{FieldKind, Plan, Snapshot};
use crate::solver::Subiterations;

impl ViewSpec {
    /// Whether it can be drawn of runs on these grids.
    ///
    /// # Errors
    /// [`ViewError`] naming what does not go together.
    pub fn check(&self, shape: &Shape, compared: &[Shape]) -> Result<(), ViewError> {
        let kind = self.kind;
        let [least, most] = kind.beside();
        if compared.len() < least {
            return Err(ViewError::NoSecond { kind });
        }
        if compared.len() > most {
            return Err(match kind.compares() {
                true => ViewError::TooMany { kind, given: compared.len() },
                false => ViewError::OneRun { kind },
            });
        }
        if self.compares_points()
            && let Some(other) = compared.iter().find(|other| *other != shape)
        {
            return Err(ViewError::OtherGrid { shape: *shape, other: *other });
        }
        if let Some(slice) = self.slice {
            slice.check(shape)?;
        }
        if self.projection && shape.dim() != 3 {
            return Err(ViewError::Projection { dim: shape.dim() });
        }
        if let Some(through) = self.through.filter(|_| self.uses().through) {
            check_point(through, shape)?;
        }
        if self.uses().camera {
            check_camera(&self.camera)?;
        }
        kind.check(self, shape)?;
        for PlacedFigure { kind, area } in self.placed() {
            if !kind.can_be_placed() {
                return Err(ViewError::NotPlaced { kind: *kind });
            }
            let place = Self { kind: *kind, places: Vec::new(), ..self.clone() };
            let most = kind.most_beside().min(compared.len());
            place.check(shape, &compared[..most])?;
            check_area(*area)?;
        }
        if let Some(cut) = self.cut {
            let slice = Slice::shown(self.slice, shape);
            let refused = |allowed| ViewError::Cut { cut: cut.text(slice), allowed };
            cut.check(&shape.shown(slice), slice).map_err(refused)?;
        }
        self.check_film(shape)?;
        self.figure.check()
    }

    /// Whether an animation can have these frames, and is made in reasonable time. A figure is none.
    ///
    /// # Errors
    /// [`ViewError::Value`] naming what is out of its range.
    pub fn check_film(&self, shape: &Shape) -> Result<(), ViewError> {
        let Some(frames) = &self.frames else { return Ok(()) };
        frames.check()?;
        let [width, height] = match self.kind.has_page() {
            true => self.figure.size.map(u64::from),
            false => [shape.nx(), shape.points() / shape.nx()].map(|side| side as u64),
        };
        let count = frames.cycles().len() as u64;
        let pixels = width.saturating_mul(height).saturating_mul(count);
        if pixels <= MOST_FILM_PIXELS {
            return Ok(());
        }
        let value = format!("{} of {width} × {height} pixels", counted(count, "frame"));
        let most = grouped(MOST_FILM_PIXELS / 1_000_000_000);
        let allowed = format!(
            "it may have at most {most} billion pixels in all; use fewer frames, or a smaller size"
        );
        Err(ViewError::Value { field: "the animation", value, allowed })
    }

    /// Whether everything in it can be drawn of points that lie so; `None` where they have no positions.
    ///
    /// # Errors
    /// [`ViewError::Geometry`] naming what cannot be drawn, and why.
    pub fn check_geometry(&self, geometry: Option<&Geometry>) -> Result<(), ViewError> {
        self.kinds().try_for_each(|kind| {
            let refused = |reason| ViewError::Geometry { kind, reason };
            kind.need().check(geometry).map_err(refused)
        })
    }

    /// Whether everything in it can be drawn of a run, as far as its plan says.
    ///
    /// # Errors
    /// [`ViewError`] naming what cannot be drawn, and why.
    pub fn check_plan(&self, plan: &Plan) -> Result<(), ViewError> {
        self.kinds().try_for_each(|kind| kind.check_plan(plan))
    }

    /// Whether what it shows was found in the runs.
    ///
    /// # Errors
    /// [`ViewError`] saying why it was not.
    pub fn check_observed(&self, snapshots: &[&Snapshot]) -> Result<(), ViewError> {
        let is_exact = |snapshot: &&Snapshot| snapshot.plan.method.k() == Subiterations::Infinite;
        if self.field == FieldKind::Staleness && snapshots.iter().any(is_exact) {
            let allowed = "with k inf a cycle has no number of sweeps to compare".to_owned();
            return Err(ViewError::Value {
                field: "field",
                value: "staleness".to_owned(),
                allowed,
            });
        }
        let Some(first) = snapshots.first() else { return Ok(()) };
        self.kind.check_plan(&first.plan).and_then(|()| self.kind.check_observed(first))
    }
}

/// The most pixels of all frames of an animation: the most frames in a size beyond that of a cinema.
const MOST_FILM_PIXELS: u64 = 20_000_000_000;

/// By how much shares may add up to more than the whole: less than a pixel of any figure.
const ROUNDING: f32 = 1e-5;

/// Whether a grid has this point. One that is not 3D is refused as a whole.
fn check_point(point: [usize; 3], shape: &Shape) -> Result<(), ViewError> {
    if shape.axes().len() != point.len() || point.iter().zip(shape.axes()).all(|(i, n)| i < n) {
        return Ok(());
    }
    let text = |of: [usize; 3]| of.map(|index| index.to_string()).join(",");
    let last = [shape.nx(), shape.ny(), shape.nz()].map(|points| points - 1);
    let allowed = format!("points are 0,0,0 to {}", text(last));
    Err(ViewError::Value { field: "through", value: text(point), allowed })
}

/// Whether a volume can be seen from there.
///
/// # Errors
/// [`ViewError::Value`] naming what is out of its range.
fn check_camera(camera: &Camera) -> Result<(), ViewError> {
    let ranges = [
        ("the azimuth", camera.azimuth, -360.0, 360.0),
        ("the elevation", camera.elevation, -90.0, 90.0),
        ("the zoom", camera.zoom, *ZOOMS.start(), *ZOOMS.end()),
    ];
    for (field, value, least, most) in ranges {
        if !(least..=most).contains(&value) {
            let allowed = format!("it must be {least} to {most}");
            return Err(ViewError::Value { field, value: value.to_string(), allowed });
        }
    }
    Ok(())
}

/// Whether an area lies within the whole.
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
    use crate::grid::{GridPoint, Tiling};
    use crate::picture::FigureKind;
    use crate::picture::colour::theme::MOST_BESIDE;
    use crate::picture::view::frames::{Frames, RATE, Spacing};
    use crate::run::CutLine;

    fn frames(first: u64, last: u64, spacing: Spacing) -> Frames {
        Frames { first, last, spacing, rate: RATE }
    }

    fn refusal(view: &ViewSpec, shape: &Shape, others: &[Shape]) -> String {
        view.check(shape, others).unwrap_err().to_string()
    }

    #[test]
    fn a_kind_that_needs_another_grid_is_refused() {
        let geometry = |shape: Shape| {
            let tiling = Tiling::new(shape.axes(), &[4; 2], &[0; 2]).unwrap();
            Geometry::new(shape, tiling)
        };
        let grid_1d = geometry(Shape::grid_1d(9, 1).unwrap());
        let grid_2d = geometry(Shape::grid_2d(9, 8).unwrap());
        let check =
            |kind, geometry| ViewSpec { kind, ..ViewSpec::default() }.check_geometry(geometry);
        assert_eq!(check(FigureKind::SPACE_TIME, Some(&grid_1d)), Ok(()));
        let refused = check(FigureKind::SPACE_TIME, Some(&grid_2d)).unwrap_err().to_string();
        assert!(refused.contains("space-time cannot be drawn") && refused.contains("1D"));
        assert_eq!(check(FigureKind::CURVES, None), Ok(()));
        assert!(check(FigureKind::HEAT_MAP, None).is_err());
        assert!(check(FigureKind::ARRANGEMENT, None).is_err());
    }

    #[test]
    fn a_view_that_cannot_be_drawn_is_refused_in_a_sentence() {
        let (grid_2d, grid_1d) = (Shape::grid_2d(9, 8).unwrap(), Shape::grid_1d(9, 1).unwrap());
        let kind = |kind| ViewSpec { kind, ..ViewSpec::default() };
        assert!(refusal(&kind(FigureKind::SIDE_BY_SIDE), &grid_1d, &[]).contains("second run"));
        assert!(refusal(&kind(FigureKind::HEAT_MAP), &grid_1d, &[grid_1d]).contains("one run"));
        assert!(
            refusal(&kind(FigureKind::PROFILE), &grid_1d, &[grid_2d]).contains("on the same grid")
        );
        assert_eq!(kind(FigureKind::CURVES).check(&grid_1d, &[grid_2d]), Ok(()));
        let many = refusal(&kind(FigureKind::CURVES), &grid_1d, &[grid_1d; MOST_BESIDE + 1]);
        assert!(many.contains("curves shows 7 runs at most"), "{many}");
        assert!(
            refusal(&kind(FigureKind::SIDE_BY_SIDE), &grid_1d, &[grid_1d; 2]).contains("2 runs")
        );
        let probe =
            |probes: &[GridPoint]| ViewSpec { probes: probes.to_vec(), ..kind(FigureKind::PROBES) };
        let (flat, cube) = (GridPoint::Flat, Shape::grid_3d(9, 8, 7).unwrap());
        assert!(refusal(&probe(&[]), &grid_2d, &[]).contains("--probe"));
        assert!(
            refusal(&probe(&[flat([9, 0])]), &grid_2d, &[])
                .contains("the probe is 9,0; points are 0,0 to 8,7")
        );
        assert_eq!(probe(&[flat([8, 7])]).check(&grid_2d, &[]), Ok(()));
        let volume = [[8, 7, 6], [8, 7, 7]].map(|at| probe(&[GridPoint::Volume(at)]));
        assert_eq!(volume[0].check(&cube, &[]), Ok(()));
        assert!(
            refusal(&volume[1], &cube, &[])
                .contains("the probe is 8,7,7; points are 0,0,0 to 8,7,6")
        );
        let slice = Some(Slice { axis: 1, index: 0 });
        let cut = ViewSpec { slice, cut: Some(CutLine::Row(7)), ..kind(FigureKind::PROFILE) };
        assert_eq!(refusal(&cut, &cube, &[]), "cut is k=7; rows are k=0 to k=6");
        let with = |frames| ViewSpec { frames: Some(frames), ..ViewSpec::default() };
        let reversed = with(frames(4, 1, Spacing::Every(1)));
        assert!(refusal(&reversed, &grid_2d, &[]).contains("write it as 1..4"));
        let endless = with(frames(0, u64::MAX, Spacing::Every(1)));
        assert!(refusal(&endless, &grid_2d, &[]).contains("1 to 2000"));
        let stopped = with(Frames { rate: f64::NAN, ..frames(0, 4, Spacing::Every(1)) });
        assert!(refusal(&stopped, &grid_2d, &[]).contains("frame rate is NaN"));
    }

    #[test]
    fn a_camera_beyond_its_ranges_is_refused_by_name() {
        assert_eq!(check_camera(&Camera::default()), Ok(()));
        for (camera, part) in [
            (Camera { azimuth: f64::NAN, ..Camera::default() }, "the azimuth is NaN"),
            (
                Camera { elevation: 91.0, ..Camera::default() },
                "the elevation is 91; it must be -90 to 90",
            ),
            (Camera { zoom: 0.0, ..Camera::default() }, "the zoom is 0"),
        ] {
            let refused = check_camera(&camera).unwrap_err().to_string();
            assert!(refused.contains(part), "{refused}");
        }
        let turned = Camera::default().turned([7.0, 9.0]).zoomed(1e9);
        assert_eq!(check_camera(&turned), Ok(()));
    }
}
