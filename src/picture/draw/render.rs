//! From SVG to pixels, the same on every machine.

use std::sync::{Arc, LazyLock};

use image::{RgbaImage, imageops};
use resvg::{tiny_skia, usvg};

use crate::picture::draw::text::FONTS;

/// The longest side of a picture, in pixels.
pub const LARGEST_SIDE: u32 = 16_384;

/// Why a figure could not be turned into pixels.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PictureError {
    /// The text is not SVG.
    #[error("the figure cannot be drawn, as its SVG is not valid; please report this")]
    Svg,
    /// The picture has no pixels, or too many.
    #[error(
        "an image of {width} × {height} pixels is not possible; each side must be 1 to {LARGEST_SIDE}"
    )]
    Size {
        /// Pixels across.
        width: u32,
        /// Pixels down.
        height: u32,
    },
    /// A picture has what no figure has.
    #[error("the figure cannot be saved as PDF; please report this, and save it as .svg")]
    Pdf,
}

static OPTIONS: LazyLock<usvg::Options<'static>> = LazyLock::new(|| {
    let mut fonts = usvg::fontdb::Database::new();
    for font in FONTS {
        fonts.load_font_data(font.to_vec());
    }
    fonts.set_sans_serif_family("Inter");
    usvg::Options {
        font_family: "Inter".to_owned(),
        fontdb: Arc::new(fonts),
        image_href_resolver: usvg::ImageHrefResolver {
            // A figure holds all it shows; nothing is fetched from the disk.
            resolve_string: Box::new(|_, _| None),
            ..Default::default()
        },
        ..Default::default()
    }
});

/// Draws an SVG document at its own size, with the fonts that come with the program and no
/// others.
///
/// # Errors
/// [`PictureError`] if it is not SVG, or a side is 0 or longer than [`LARGEST_SIDE`].
pub fn render(svg: &str) -> Result<RgbaImage, PictureError> {
    scaled(svg, |_| 1.0)
}

/// The same, scaled down to at most `most` pixels across and down.
///
/// # Errors
/// As [`render`].
pub fn render_within(svg: &str, most: [u32; 2]) -> Result<RgbaImage, PictureError> {
    scaled(svg, |size| scale_within([size.width(), size.height()], most))
}

/// A map of any size, made smaller in the same way.
pub fn thinned_within(map: RgbaImage, most: [u32; 2]) -> RgbaImage {
    let size = [map.width(), map.height()];
    let scale = scale_within(size.map(|side| side as f32), most);
    if scale >= 1.0 {
        return map;
    }
    let [width, height] = size.map(|side| scaled_side(side, scale));
    imageops::thumbnail(&map, width, height)
}

/// The factor that scales a picture to at most `most` pixels across and down.
fn scale_within([width, height]: [f32; 2], most: [u32; 2]) -> f32 {
    let [across, down] = most.map(|side| side.max(1) as f32);
    (across / width).min(down / height).min(1.0)
}

fn scaled_side(side: u32, scale: f32) -> u32 {
    if scale < 1.0 { (side as f32 * scale).round().max(1.0) as u32 } else { side }
}

/// Reads an SVG document, with the fonts that come with the program.
///
/// # Errors
/// [`PictureError::Svg`].
pub(crate) fn parse(svg: &str) -> Result<usvg::Tree, PictureError> {
    usvg::Tree::from_str(svg, &OPTIONS).map_err(|_| PictureError::Svg)
}

fn scaled(svg: &str, scale: impl Fn(usvg::Size) -> f32) -> Result<RgbaImage, PictureError> {
    let tree = parse(svg)?;
    let scale = scale(tree.size());
    let size = tree.size().to_int_size();
    let (width, height) = (scaled_side(size.width(), scale), scaled_side(size.height(), scale));
    let refused = || PictureError::Size { width, height };
    if width > LARGEST_SIDE || height > LARGEST_SIDE {
        return Err(refused());
    }
    let mut pixels = tiny_skia::Pixmap::new(width, height).ok_or_else(refused)?;
    let transform = tiny_skia::Transform::from_scale(scale, scale);
    resvg::render(&tree, transform, &mut pixels.as_mut());
    RgbaImage::from_raw(width, height, pixels.take_demultiplied()).ok_or_else(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A window's GPU takes no texture wider than some 16,384 pixels.
    #[test]
    fn a_map_of_any_size_is_thinned_to_what_is_shown() {
        let thinned = thinned_within(RgbaImage::new(20_000, 3), [400, 300]);
        assert_eq!(thinned.dimensions(), (400, 1));
        assert_eq!(thinned_within(RgbaImage::new(7, 9), [10, 10]).dimensions(), (7, 9));
    }

    #[test]
    fn an_invalid_picture_is_refused_in_a_sentence() {
        assert!(matches!(render("k = 32"), Err(PictureError::Svg)));
        let svg = |side: u32| {
            format!(r#"<svg xmlns="http://www.w3.org/2000/svg" width="{side}" height="9"/>"#)
        };
        assert!(render(&svg(0)).is_err());
        let refusal = render(&svg(20_000)).unwrap_err().to_string();
        assert!(refusal.contains("20000 × 9 pixels"), "{refusal}");
        assert_eq!(render(&svg(7)).unwrap().dimensions(), (7, 9));
        assert_eq!(render_within(&svg(18), [100, 100]).unwrap().dimensions(), (18, 9));
        assert_eq!(render_within(&svg(18), [6, 100]).unwrap().dimensions(), (6, 3));
    }
}
