//! Animated PNG: every pixel as it is, and the run beside them.

use super::{Film, FrameEncoder, frame_delay};
use crate::picture::draw::png::encoder;
use image::RgbaImage;
use std::io::{self, Write};

pub(super) struct Apng<W: Write> {
    writer: png::Writer<W>,
    /// The frame before, where a frame may hold only what changed: not if pixels may vanish.
    before: Option<Vec<u8>>,
    is_opaque: bool,
}

impl<W: Write> Apng<W> {
    pub fn new(
        out: W,
        first: &RgbaImage,
        film: &Film<'_>,
        texts: &[(&'static str, String)],
    ) -> io::Result<Self> {
        let texts: Vec<_> = texts.iter().map(|(key, text)| (*key, text.as_str())).collect();
        let figure = &film.view.figure;
        let mut encoder = encoder(out, first.dimensions(), figure.dpi, &texts)?;
        encoder.set_animated(u32::try_from(film.len()).map_err(io::Error::other)?, 0)?;
        let (numerator, denominator) = frame_delay(film.frames.rate);
        encoder.set_frame_delay(numerator, denominator)?;
        // A bare map has no colour where a later frame has no value any more.
        let is_opaque =
            film.view.kind.has_page() && first.pixels().all(|pixel| pixel.0[3] == u8::MAX);
        if is_opaque {
            encoder.set_blend_op(png::BlendOp::Over)?;
        }
        Ok(Self { writer: encoder.write_header()?, before: None, is_opaque })
    }

    pub fn finish(self) -> io::Result<()> {
        Ok(self.writer.finish()?)
    }
}

impl<W: Write> FrameEncoder for Apng<W> {
    fn add(&mut self, frame: &RgbaImage) -> io::Result<()> {
        match &self.before {
            None => self.writer.write_image_data(frame.as_raw())?,
            Some(before) => {
                // Nothing at all is short, and leaves what is there.
                let pixels =
                    frame.as_raw().as_chunks::<4>().0.iter().zip(before.as_chunks::<4>().0);
                let changed = pixels.flat_map(|(new, old)| if new == old { [0; 4] } else { *new });
                self.writer.write_image_data(&changed.collect::<Vec<_>>())?;
            }
        }
        self.before = self.is_opaque.then(|| frame.as_raw().clone());
        Ok(())
    }
}
