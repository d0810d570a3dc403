//! How large an animation's file will be, from frames that are actually encoded.

use super::{Film, FilmError, FilmFile, FrameEncoder, apng, gif, mp4};
use crate::files::FileError;
use crate::pauses::{pause, without_pauses};
use crate::picture::file::saved::texts;
use crate::run::RunSpec;
use image::RgbaImage;
use std::io::{self, Write};
use std::path::Path;

/// What frames of an animation take in its file, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilmSize {
    /// The first frame, with all that the file has once.
    first: u64,
    /// Each of the others.
    next: u64,
}

impl FilmSize {
    /// Encodes the frame in the middle of an animation, and the one after it, as they would be saved at `path`; where
    /// there is one frame, each is taken to be as large. Nothing is saved; a video is made in the folder of
    /// temporary files.
    ///
    /// # Errors
    /// [`FilmError`] if such a file cannot be made, or there is no frame.
    pub fn of(path: &Path, film: &Film<'_>, run: &RunSpec) -> Result<Self, FilmError> {
        without_pauses(Self::of_with_pauses(path, film, run))
    }

    /// [`FilmSize::of`] with pauses.
    ///
    /// # Errors
    /// [`FilmError`] if such a file cannot be made, or there is no frame.
    pub(crate) async fn of_with_pauses(
        path: &Path,
        film: &Film<'_>,
        run: &RunSpec,
    ) -> Result<Self, FilmError> {
        let file = FilmFile::of(path)?;
        let view = film.fixed();
        let middle = film.len().saturating_sub(1) / 2;
        let last = (middle + 1).min(film.len().saturating_sub(1));
        let mut frames = vec![film.draw(&view, middle).await?];
        let first = encoded(path, file, film, run, &frames).await?;
        if last == middle {
            return Ok(Self { first, next: first });
        }
        frames.push(film.draw(&view, last).await?);
        let both = encoded(path, file, film, run, &frames).await?;
        Ok(Self { first, next: both.saturating_sub(first) })
    }

    /// The bytes of a file of this many frames.
    pub fn bytes(self, frames: usize) -> u64 {
        self.first.saturating_add(self.next.saturating_mul(frames.saturating_sub(1) as u64))
    }
}

/// The bytes of a file of these frames.
async fn encoded(
    path: &Path,
    file: FilmFile,
    film: &Film<'_>,
    run: &RunSpec,
    frames: &[RgbaImage],
) -> Result<u64, FilmError> {
    let [first, ..] = frames else { return Err(FilmError::Cancelled) };
    let refuse = |cause| FileError::Write { path: path.to_owned(), cause };
    let add = async |encoder: &mut dyn FrameEncoder| {
        for frame in frames {
            pause().await;
            encoder.add(frame).map_err(refuse)?;
        }
        Ok::<_, FileError>(())
    };
    pause().await;
    let texts = texts(path, run, Some(film.view));
    let mut out = Counter::default();
    match file {
        FilmFile::Apng => {
            add(&mut apng::Apng::new(&mut out, first, film, &texts).map_err(refuse)?).await?;
        }
        FilmFile::Gif => {
            let some = [first, first, &frames[frames.len() - 1]].map(RgbaImage::clone);
            add(&mut gif::Gif::new(&mut out, &some, film, &texts).map_err(refuse)?).await?;
        }
        FilmFile::Mp4 => {
            let mut encoder = mp4::Mp4::start(path, first, film, run)?;
            if let Err(error) = frames.iter().try_for_each(|frame| encoder.add(frame)) {
                return Err(encoder.abort(path, error));
            }
            let (video, _known) = encoder.finish(path)?;
            out.0 = video.as_file().metadata().map_err(refuse)?.len();
        }
    }
    Ok(out.0)
}

/// Counts what is written to it.
#[derive(Default)]
struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
