//! Animations: the figure of a view at many cycles, one after the other.
//!
//! The run is made forward, once, and observed on the way ([`record_run`](crate::run::record_run())); then
//! all frames are drawn over the range of all of them, so that no colour changes its meaning.

mod apng;
mod ffmpeg;
mod gif;
mod mp4;
mod palette;
mod size;
mod without_run;

pub use size::FilmSize;
pub use without_run::why_without_run;

use crate::files::{FileError, write_atomically, write_atomically_with_pauses};
use crate::grid::memory;
use crate::pauses::{pause, without_pauses};
use crate::picture::colour::theme::Theme;
use crate::picture::draw::drawing::Drawing;
use crate::picture::draw::render::PictureError;
use crate::picture::figures::{common_range, figure, inside};
use crate::picture::file::saved::texts;
use crate::picture::view::figure_spec::FigureSpec;
use crate::picture::view::frames::Frames;
use crate::picture::view::inside::InsideView;
use crate::picture::view::spec::ViewSpec;
use crate::run::{RunSpec, Snapshot};
use crate::stop_token::StopToken;
use image::RgbaImage;
use rayon::prelude::*;
use std::io;
use std::path::{Path, PathBuf};

/// The kinds of files that animations are saved as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilmFile {
    /// Every pixel as it is, and the run with it.
    Apng,
    /// 256 colours; plays anywhere.
    Gif,
    /// A video, made by ffmpeg.
    Mp4,
}

/// Why an animation could not be saved; one sentence.
#[derive(Debug, thiserror::Error)]
pub enum FilmError {
    /// Another kind of file.
    #[error(
        "{} is none of .apng, .png, .gif and .mp4; an animation is saved as one of these",
        .path.display()
    )]
    Kind {
        /// The requested file.
        path: PathBuf,
    },
    /// A theme that this kind of file cannot have.
    #[error("an animation without a background is saved as .apng; choose that, or another theme")]
    Transparent,
    /// Videos are made by ffmpeg.
    #[error(".mp4 files need ffmpeg, which {why}; .apng and .gif do not")]
    NoFfmpeg {
        /// Why it cannot be used, as the end of a sentence.
        why: &'static str,
    },
    /// ffmpeg failed.
    #[error("ffmpeg could not create {}: {message}", .path.display())]
    Ffmpeg {
        /// The requested file.
        path: PathBuf,
        /// The last line that it printed.
        message: String,
    },
    /// A frame could not be drawn.
    #[error(transparent)]
    Picture(#[from] PictureError),
    /// The file could not be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// It was cancelled.
    #[error("the animation was cancelled; nothing was saved")]
    Cancelled,
}

impl FilmFile {
    /// Whether the file carries the run that it shows, so that it can be opened.
    pub fn carries_run(self) -> bool {
        self == Self::Apng
    }

    /// What an MP4 is, and what it takes, in one sentence.
    pub fn about_mp4() -> &'static str {
        match cfg!(target_arch = "wasm32") {
            true => "A video; the program for the desktop makes it, a page in a browser cannot.",
            false => "A video, if ffmpeg is installed.",
        }
    }

    /// The kind that the extension of a name stands for.
    ///
    /// # Errors
    /// [`FilmError::Kind`] for any other extension, or none.
    pub fn of(path: &Path) -> Result<Self, FilmError> {
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("apng" | "png") => Ok(Self::Apng),
            Some("gif") => Ok(Self::Gif),
            Some("mp4") => Ok(Self::Mp4),
            _ => Err(FilmError::Kind { path: path.to_owned() }),
        }
    }

    /// Whether such a file can have this theme.
    ///
    /// # Errors
    /// [`FilmError::Transparent`].
    pub fn check_theme(self, theme: Theme) -> Result<(), FilmError> {
        if theme.is_transparent() && self != Self::Apng {
            return Err(FilmError::Transparent);
        }
        Ok(())
    }

    /// Whether such a file can be made here, with this theme: checked before there is a run. It may start
    /// a program, and wait for that.
    ///
    /// # Errors
    /// [`FilmError::Transparent`] or [`FilmError::NoFfmpeg`].
    pub fn check(self, theme: Theme) -> Result<(), FilmError> {
        self.check_theme(theme)?;
        match self {
            Self::Mp4 => ffmpeg::check(),
            Self::Apng | Self::Gif => Ok(()),
        }
    }
}

/// An animation that is ready to be drawn.
#[derive(Clone, Copy, Debug)]
pub struct Film<'a> {
    /// The observations of each run: a snapshot for each frame, of as many frames each.
    pub runs: &'a [Vec<Snapshot>],
    /// What is drawn of them.
    pub view: &'a ViewSpec,
    /// Frames per second.
    pub frames: Frames,
}

impl Film<'_> {
    fn len(&self) -> usize {
        self.runs.iter().map(Vec::len).min().unwrap_or(0)
    }

    /// The view with the range that all frames need.
    fn fixed(&self) -> ViewSpec {
        let snapshots: Vec<_> = self.runs.iter().flatten().collect();
        let range = self.view.figure.range.or_else(|| common_range(&snapshots, self.view));
        let figure = FigureSpec { range, ..self.view.figure };
        let inside = InsideView { range: inside::range(&snapshots, self.view), ..self.view.inside };
        ViewSpec { figure, inside, frames: Some(self.frames), ..self.view.clone() }
    }

    fn figure(&self, view: &ViewSpec, index: usize) -> Drawing {
        let snapshots: Vec<_> = self.runs.iter().filter_map(|run| run.get(index)).collect();
        figure(&snapshots, view)
    }

    async fn draw(&self, view: &ViewSpec, index: usize) -> Result<RgbaImage, PictureError> {
        let figure = self.figure(view, index);
        pause().await;
        figure.pixels()
    }
}

/// Encodes the frames of an animation, one after the other.
trait FrameEncoder {
    fn add(&mut self, frame: &RgbaImage) -> io::Result<()>;
}

/// Draws the frames and saves them by the extension of the name. An APNG carries `run` and `view`. Sets
/// of frames are drawn side by side; `on_progress` is called with how many are done.
///
/// # Errors
/// [`FilmError`]; nothing half-written is left.
pub fn save_film(
    path: &Path,
    film: &Film<'_>,
    run: &RunSpec,
    cancel: &StopToken,
    on_progress: &mut dyn FnMut(usize),
) -> Result<(), FilmError> {
    without_pauses(save_film_with_pauses(path, film, run, cancel, on_progress))
}

/// [`save_film`] with pauses.
///
/// # Errors
/// [`FilmError`]; nothing half-written is left.
pub(crate) async fn save_film_with_pauses(
    path: &Path,
    film: &Film<'_>,
    run: &RunSpec,
    cancel: &StopToken,
    on_progress: &mut dyn FnMut(usize),
) -> Result<(), FilmError> {
    let file = FilmFile::of(path)?;
    file.check(film.view.figure.theme)?;
    let view = film.fixed();
    let Some(last) = film.len().checked_sub(1) else { return Err(FilmError::Cancelled) };
    let first = film.draw(&view, 0).await?;
    let at_once = at_once(first.as_raw().len());
    let texts = texts(path, run, Some(film.view));
    // An error of a frame is not an error of the file.
    let mut stopped = None;
    let mut encode = async |encoder: &mut dyn FrameEncoder| {
        let encoded = encode_frames(film, &view, at_once, encoder, cancel, on_progress).await;
        encoded.map_err(|error| match error {
            EncodingStop::Io(error) => error,
            EncodingStop::Film(error) => {
                stopped = Some(error);
                io::ErrorKind::Interrupted.into()
            }
        })
    };
    let written = match file {
        FilmFile::Apng => {
            let write = async |out: &mut _| {
                let mut encoder = apng::Apng::new(out, &first, film, &texts)?;
                encode(&mut encoder).await?;
                encoder.finish()
            };
            write_atomically_with_pauses(path, write).await
        }
        FilmFile::Gif => {
            let some = [first, film.draw(&view, last / 2).await?, film.draw(&view, last).await?];
            pause().await;
            let write = async |out: &mut _| {
                let mut encoder = gif::Gif::new(out, &some, film, &texts)?;
                encode(&mut encoder).await
            };
            write_atomically_with_pauses(path, write).await
        }
        FilmFile::Mp4 => {
            let mut encoder = mp4::Mp4::start(path, &first, film, run)?;
            let made = match encode(&mut encoder).await {
                Ok(()) => encoder.finish(path),
                Err(error) => Err(encoder.abort(path, error)),
            };
            match (made, stopped.take()) {
                (Ok((video, _known)), None) => {
                    write_atomically(path, |out| io::copy(&mut video.as_file(), out).map(drop))
                }
                // Ctrl-C in a terminal ends ffmpeg, too.
                (Err(_), None) if cancel.is_due() => {
                    return Err(FilmError::Cancelled);
                }
                (Err(error), None) | (_, Some(error)) => return Err(error),
            }
        }
    };
    match stopped {
        Some(error) => Err(error),
        None => Ok(written?),
    }
}

/// Why frames stop coming.
enum EncodingStop {
    Io(io::Error),
    Film(FilmError),
}

/// How many frames of `bytes` bytes are drawn at a time: one per thread, as far as an eighth of the memory
/// that is free holds them, since each takes several times as much while it is drawn: its map as a picture and as text.
fn at_once(bytes: usize) -> usize {
    let room = memory::available() / 8 / bytes.max(1) as u64;
    usize::try_from(room).unwrap_or(usize::MAX).clamp(1, rayon::current_num_threads().max(1))
}

/// Draws the frames, `at_once` at a time, and hands them on in order.
async fn encode_frames(
    film: &Film<'_>,
    view: &ViewSpec,
    at_once: usize,
    encoder: &mut dyn FrameEncoder,
    cancel: &StopToken,
    on_progress: &mut dyn FnMut(usize),
) -> Result<(), EncodingStop> {
    let indices: Vec<usize> = (0..film.len()).collect();
    for some in indices.chunks(at_once) {
        if cancel.is_due() {
            return Err(EncodingStop::Film(FilmError::Cancelled));
        }
        let figures: Vec<_> = some.par_iter().map(|&at| film.figure(view, at)).collect();
        pause().await;
        let drawn: Result<Vec<_>, _> = figures.into_par_iter().map(Drawing::pixels).collect();
        let drawn = drawn.map_err(|error| EncodingStop::Film(error.into()))?;
        for (index, frame) in some.iter().zip(&drawn) {
            pause().await;
            encoder.add(frame).map_err(EncodingStop::Io)?;
            on_progress(index + 1);
        }
        pause().await;
    }
    Ok(())
}

/// Seconds that a frame is shown, as a fraction of whole numbers.
fn frame_delay(rate: f64) -> (u16, u16) {
    // Rates are 0.1 to 60, so that both fit.
    (100, (100.0 * rate).round().clamp(1.0, f64::from(u16::MAX)) as u16)
}

/// The picture on the theme's background: what a file without transparency shows.
fn flattened(frame: &RgbaImage, theme: Theme) -> Vec<[u8; 3]> {
    let background = theme.palette().background;
    let on = |[r, g, b, a]: [u8; 4]| {
        let mix = |value: u8, behind: u8| {
            let (value, behind, a) = (u32::from(value), u32::from(behind), u32::from(a));
            ((value * a + behind * (255 - a) + 127) / 255) as u8
        };
        [mix(r, background[0]), mix(g, background[1]), mix(b, background[2])]
    };
    frame.pixels().map(|pixel| on(pixel.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::file::saved::open;
    use crate::picture::view::frames::Spacing;
    use crate::picture::view::kind::FigureKind;
    use crate::run::{Monitor, Planner, RecordedCycles, Stage, record_run};
    use proptest::prelude::*;
    use proptest::sample::select;
    use std::fs::File;
    use std::io::BufReader;

    /// What is seen of a small run at the cycles of a film.
    fn seen(run: &RunSpec, view: &ViewSpec, frames: &Frames) -> Vec<Snapshot> {
        let plan = Planner::default().plan(run).unwrap();
        let (cancel, mut on_progress) = (StopToken::default(), |_: Stage<'_>| {});
        let mut watch = Monitor { cancel: &cancel, on_progress: &mut on_progress };
        let snapshot_request = view.snapshot_request(0, &plan.problem.shape);
        record_run(&plan, &snapshot_request, RecordedCycles::Each(&frames.cycles()), &mut watch)
            .unwrap()
            .snapshots
    }

    fn small(shape: &[usize]) -> RunSpec {
        let mut run = RunSpec::default();
        (run.problem.shape, run.method.tile, run.method.k) = (shape.to_vec(), vec![8], 4.into());
        run
    }

    /// The frames of an APNG as they are shown: each over the one before, unless pixels may vanish.
    fn played(path: &Path) -> Vec<Vec<u8>> {
        let mut reader =
            png::Decoder::new(BufReader::new(File::open(path).unwrap())).read_info().unwrap();
        let count = reader.info().animation_control().unwrap().num_frames;
        let mut shown: Vec<Vec<u8>> = Vec::new();
        for _ in 0..count {
            let mut frame = vec![0; reader.output_buffer_size().unwrap()];
            reader.next_frame(&mut frame).unwrap();
            let control = reader.info().frame_control().unwrap();
            if control.blend_op == png::BlendOp::Over
                && let Some(before) = shown.last()
            {
                let pixels = frame.as_chunks_mut::<4>().0.iter_mut();
                for (pixel, before) in pixels.zip(before.as_chunks::<4>().0) {
                    if pixel[3] == 0 {
                        *pixel = *before;
                    }
                }
            }
            shown.push(frame);
        }
        shown
    }

    /// Of a run whose frames differ about as much from one to the next.
    #[test]
    fn the_size_of_two_frames_tells_that_of_all() {
        let folder = tempfile::tempdir().unwrap();
        let frames = Frames { first: 10, last: 40, spacing: Spacing::Every(2), rate: 9.0 };
        let figure = FigureSpec { size: [300, 240], ..FigureSpec::default() };
        let view = ViewSpec { figure, frames: Some(frames), ..ViewSpec::default() };
        let run = small(&[48, 40]);
        let runs = [seen(&run, &view, &frames)];
        let film = Film { runs: &runs, view: &view, frames };
        for name in ["a.apng", "a.gif"] {
            let path = folder.path().join(name);
            let size = FilmSize::of(&path, &film, &run).unwrap();
            assert!(!path.exists());
            save_film(&path, &film, &run, &StopToken::default(), &mut |_| {}).unwrap();
            let found = path.metadata().unwrap().len() as f64;
            let ratio = size.bytes(film.len()) as f64 / found;
            assert!((0.7..1.4).contains(&ratio), "{name}: {ratio} × {found}");
            // Frames that are not known are taken to be like the first.
            let one = [runs[0][..1].to_vec()];
            let size = FilmSize::of(&path, &Film { runs: &one, ..film }, &run).unwrap();
            assert_eq!(size.bytes(3), 3 * size.bytes(1));
        }
        let refused = FilmSize::of(Path::new("a.webm"), &film, &run).unwrap_err();
        assert!(refused.to_string().contains("none of .apng"), "{refused}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn an_apng_shows_every_frame_to_the_pixel_and_gives_its_run_and_view_back(
            kind in select(&[
                FigureKind::HEAT_MAP,
                FigureKind::CURVES,
                FigureKind::PROFILE,
                FigureKind::MEAN_TILE,
                FigureKind::BARE_MAP,
            ][..]),
            is_line in any::<bool>(),
            theme in select(&Theme::ALL[..]),
            size in [80..240_u32, 80..200_u32],
            (first, count, step) in (0..4_u64, 1..5_u64, 1..4_u64),
            rate in 1..60_u8,
        ) {
            let run = if is_line { small(&[24]) } else { small(&[18, 13]) };
            let (last, spacing) = (first + step * (count - 1), Spacing::Every(step));
            let frames = Frames { first, last, spacing, rate: f64::from(rate) };
            let figure = FigureSpec { size, theme, ..FigureSpec::default() };
            let view =
                ViewSpec { cycle: last, kind, figure, frames: Some(frames), ..ViewSpec::default() };
            let runs = [seen(&run, &view, &frames)];
            let film = Film { runs: &runs, view: &view, frames };
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.apng");
            save_film(&path, &film, &run, &StopToken::default(), &mut |_| {}).unwrap();
            let opened = open(&path).unwrap();
            prop_assert_eq!((&opened.run, opened.view.as_ref()), (&run, Some(&view)));
            let fixed = film.fixed();
            let drawn: Vec<_> =
                (0..film.len()).map(|index| without_pauses(film.draw(&fixed, index)).unwrap().into_raw()).collect();
            prop_assert_eq!(drawn.len() as u64, count);
            prop_assert!(played(&path) == drawn, "a pixel differs");
        }
    }

    /// Where a figure puts its map.
    fn map_of(svg: &str) -> &str {
        let image = &svg[svg.find("<image").unwrap()..];
        &image[..image.find(" href").or(image.find(" xlink:href")).unwrap()]
    }

    #[test]
    fn nothing_but_its_numbers_moves_from_frame_to_frame() {
        let frames = Frames { first: 0, last: 1000, spacing: Spacing::Logarithmic(12), rate: 9.0 };
        for size in [[160, 120], [240, 200], [400, 300], [900, 400]] {
            let sized = FigureSpec { size, ..FigureSpec::default() };
            let view = ViewSpec { figure: sized, frames: Some(frames), ..ViewSpec::default() };
            let runs = [seen(&small(&[40, 40]), &view, &frames)];
            let film = Film { runs: &runs, view: &view, frames };
            let fixed = film.fixed();
            let drawn = runs[0].iter().map(|snapshot| match figure(&[snapshot], &fixed) {
                Drawing::Figure(svg) => svg,
                Drawing::Map(_) => String::new(),
            });
            let drawn: Vec<_> = drawn.collect();
            assert!(drawn.windows(2).all(|pair| map_of(&pair[0]) == map_of(&pair[1])), "{size:?}");
            assert!(drawn[0] != drawn[1]);
        }
    }
}
