//! From where a volume is seen.

use crate::picture::view::error::ViewError;
use serde::{Deserialize, Serialize};

/// The zooms of a camera; at 1 the whole box is in sight from everywhere.
pub const ZOOMS: std::ops::RangeInclusive<f64> = 0.2..=20.0;

/// From where a volume is seen.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Camera {
    /// The direction of the eye around the z axis in degrees: at 0 it is that of x, at 90 that of y.
    pub azimuth: f64,
    /// Degrees above the xy-plane, −90 to 90.
    pub elevation: f64,
    /// How large the box is drawn; at 1 all of it is in sight from everywhere.
    pub zoom: f64,
}

impl Default for Camera {
    fn default() -> Self {
        Self { azimuth: 35.0, elevation: 25.0, zoom: 1.0 }
    }
}

impl Camera {
    /// Whether there is such a view.
    ///
    /// # Errors
    /// [`ViewError::Value`] naming what is out of its range.
    pub(crate) fn check(&self) -> Result<(), ViewError> {
        let ranges = [
            ("the azimuth", self.azimuth, -360.0, 360.0),
            ("the elevation", self.elevation, -90.0, 90.0),
            ("the zoom", self.zoom, *ZOOMS.start(), *ZOOMS.end()),
        ];
        for (field, value, least, most) in ranges {
            if !(least..=most).contains(&value) {
                let allowed = format!("it must be {least} to {most}");
                return Err(ViewError::Value { field, value: value.to_string(), allowed });
            }
        }
        Ok(())
    }

    /// The same after a drag over that share of the picture, across and down.
    #[must_use]
    pub fn turned(self, [across, down]: [f64; 2]) -> Self {
        let azimuth = (self.azimuth - 180.0 * across) % 360.0;
        Self { azimuth, elevation: (self.elevation + 180.0 * down).clamp(-90.0, 90.0), ..self }
    }

    /// The same, that many times as large.
    #[must_use]
    pub fn zoomed(self, by: f64) -> Self {
        Self { zoom: (self.zoom * by).clamp(*ZOOMS.start(), *ZOOMS.end()), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_camera_beyond_its_ranges_is_refused_by_name() {
        assert_eq!(Camera::default().check(), Ok(()));
        for (camera, part) in [
            (Camera { azimuth: f64::NAN, ..Camera::default() }, "the azimuth is NaN"),
            (
                Camera { elevation: 91.0, ..Camera::default() },
                "the elevation is 91; it must be -90 to 90",
            ),
            (Camera { zoom: 0.0, ..Camera::default() }, "the zoom is 0"),
        ] {
            let refused = camera.check().unwrap_err().to_string();
            assert!(refused.contains(part), "{refused}");
        }
        let turned = Camera::default().turned([7.0, 9.0]).zoomed(1e9);
        assert_eq!(turned.check(), Ok(()));
    }
}
