//! GIF: plays anywhere, in 256 colours.

use super::palette::{GifPalette, MOST};
use super::{Film, FrameEncoder, flattened};
use crate::picture::Theme;
use gif::{Encoder, EncodingError, Extension, Frame, Repeat};
use image::RgbaImage;
use std::borrow::Cow;
use std::io::{self, Write};

/// The colour that leaves what is there.
const UNCHANGED: u8 = MOST as u8;

/// The unit of a frame's delay.
const HUNDREDTHS: f64 = 100.0;

pub(super) struct Gif<W: Write> {
    encoder: Encoder<W>,
    palette: GifPalette,
    theme: Theme,
    rate: f64,
    made: u64,
    before: Vec<u8>,
}

impl<W: Write> Gif<W> {
    /// `some` are frames whose colours stand for those of all.
    pub fn new(
        out: W,
        some: &[RgbaImage; 3],
        film: &Film<'_>,
        texts: &[(&'static str, String)],
    ) -> io::Result<Self> {
        let side = |side: u32| u16::try_from(side).map_err(io::Error::other);
        let (width, height) = (side(some[0].width())?, side(some[0].height())?);
        let figure = &film.view.figure;
        let pixels: Vec<_> = some.iter().map(|frame| flattened(frame, figure.theme)).collect();
        let palette = GifPalette::of(&pixels.concat(), figure.map);
        let mut encoder =
            Encoder::new(out, width, height, &palette.bytes()).map_err(io::Error::other)?;
        encoder.set_repeat(Repeat::Infinite).map_err(io::Error::other)?;
        // For people: few programs keep a comment, so no run is read from it.
        for (_, text) in texts {
            let comment = Extension::Comment.into();
            encoder.write_raw_extension(comment, &[text.as_bytes()]).map_err(io::Error::other)?;
        }
        let (theme, rate) = (figure.theme, film.frames.rate);
        Ok(Self { encoder, palette, theme, rate, made: 0, before: Vec::new() })
    }
}

impl<W: Write> FrameEncoder for Gif<W> {
    fn add(&mut self, frame: &RgbaImage) -> io::Result<()> {
        let pixels = flattened(frame, self.theme);
        let mut shown: Vec<u8> = Vec::with_capacity(pixels.len());
        for run in pixels.chunk_by(PartialEq::eq) {
            shown.resize(shown.len() + run.len(), self.palette.index(run[0]));
        }
        let changed: Vec<u8> = if self.before.len() == shown.len() {
            let pairs = shown.iter().zip(&self.before);
            pairs.map(|(new, old)| if new == old { UNCHANGED } else { *new }).collect()
        } else {
            shown.clone()
        };
        // Rounded so that the whole film is as long as it should be.
        let at = |made: u64| (made as f64 * HUNDREDTHS / self.rate).round() as u64;
        let delay = at(self.made + 1) - at(self.made);
        let frame = Frame {
            width: frame.width() as u16,
            height: frame.height() as u16,
            delay: u16::try_from(delay).unwrap_or(u16::MAX),
            transparent: Some(UNCHANGED),
            buffer: Cow::Owned(changed),
            ..Frame::default()
        };
        (self.made, self.before) = (self.made + 1, shown);
        self.encoder.write_frame(&frame).map_err(|error| match error {
            EncodingError::Io(error) => error,
            other => io::Error::other(other.to_string()),
        })
    }
}
