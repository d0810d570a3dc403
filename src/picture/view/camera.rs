//! The camera: from where a volume is seen.

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
