//! PNG pictures inside a page.

use super::compressed;
use crate::picture::draw::render::PictureError;
use image::ImageFormat;
use pdf_writer::{Filter, Finish, Pdf, Ref};

/// The name of a picture in the content of the page.
pub(super) fn name(index: usize) -> Vec<u8> {
    format!("I{index}").into_bytes()
}

/// Writes a PNG picture as the object `id`; what of it is transparent goes into the object `mask`.
///
/// # Errors
/// [`PictureError::Pdf`] if it is not PNG.
pub(super) fn write(pdf: &mut Pdf, id: Ref, mask: Ref, png: &[u8]) -> Result<(), PictureError> {
    let image = image::load_from_memory_with_format(png, ImageFormat::Png)
        .map_err(|_| PictureError::Pdf)?
        .into_rgba8();
    // A side has at most 16,384 pixels.
    let (width, height) = (image.width() as i32, image.height() as i32);
    let colours: Vec<u8> =
        image.pixels().flat_map(|pixel| [pixel[0], pixel[1], pixel[2]]).collect();
    let alphas: Vec<u8> = image.pixels().map(|pixel| pixel[3]).collect();
    let is_opaque = alphas.iter().all(|&alpha| alpha == u8::MAX);
    let colours = compressed(&colours);
    let mut object = pdf.image_xobject(id, &colours);
    object.filter(Filter::FlateDecode);
    object.width(width).height(height).bits_per_component(8);
    object.color_space().device_rgb();
    if !is_opaque {
        object.s_mask(mask);
    }
    object.finish();
    if !is_opaque {
        let alphas = compressed(&alphas);
        let mut object = pdf.image_xobject(mask, &alphas);
        object.filter(Filter::FlateDecode);
        object.width(width).height(height).bits_per_component(8);
        object.color_space().device_gray();
    }
    Ok(())
}
