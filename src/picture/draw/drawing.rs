//! What figures are drawn as.

use super::render::{PictureError, render, render_within, thinned_within};
use image::RgbaImage;

/// Something drawn, ready to be saved.
#[derive(Clone, Debug)]
pub enum Drawing {
    /// A figure, as SVG.
    Figure(String),
    /// A raw map.
    Map(RgbaImage),
}

impl Drawing {
    /// Its pixels.
    ///
    /// # Errors
    /// As [`render`].
    pub fn pixels(self) -> Result<RgbaImage, PictureError> {
        match self {
            Self::Figure(svg) => render(&svg),
            Self::Map(map) => Ok(map),
        }
    }

    /// The same, scaled down to at most `most` pixels across and down.
    ///
    /// # Errors
    /// As [`render`].
    pub fn pixels_within(self, most: [u32; 2]) -> Result<RgbaImage, PictureError> {
        match self {
            Self::Figure(svg) => render_within(&svg, most),
            Self::Map(map) => Ok(thinned_within(map, most)),
        }
    }
}
