//! What figures are drawn as.

use image::RgbaImage;

/// Something drawn, ready to be saved.
#[derive(Clone, Debug)]
pub enum Drawing {
    /// A figure, as SVG.
    Figure(String),
    /// A raw map.
    Map(RgbaImage),
}
