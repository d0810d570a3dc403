//! MP4, made by ffmpeg where it is installed.

use super::{Film, FilmError, FrameEncoder, ffmpeg, flattened};
use crate::files::{FileError, Unfinished};
use crate::picture::Theme;
use crate::run::{RunSpec, command_line};
use crossbeam_channel::{Receiver, SendTimeoutError, Sender, bounded};
use image::RgbaImage;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread;
use std::time::Duration;
use tempfile::NamedTempFile;

/// x264's constant rate factor: 16 shows no trace of compression in a colour map's smooth parts.
const QUALITY: &str = "16";

/// What is said of an ffmpeg that failed and printed nothing.
const SILENT: &str = "it ended without a message";

/// What is said of one that was ended because it took no frame, or wrote nothing, for so long.
const STALLED: &str = "it stood still for a minute and was ended";
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// A video that is being encoded.
pub(super) struct Mp4 {
    ffmpeg: Child,
    /// To the thread that writes into its pipe, which may wait for ever.
    frames: Sender<Vec<[u8; 3]>>,
    video: NamedTempFile,
    /// A process that ends meanwhile removes it.
    known: Unfinished,
    theme: Theme,
}

impl Mp4 {
    pub fn start(
        path: &Path,
        first: &RgbaImage,
        film: &Film<'_>,
        run: &RunSpec,
    ) -> Result<Self, FilmError> {
        let refuse = |cause| FileError::Write { path: path.to_owned(), cause };
        // Its index goes to the front when all frames are known, which no pipe can do.
        let video = tempfile::Builder::new().suffix(".mp4").tempfile().map_err(refuse)?;
        let known = Unfinished::new(video.path());
        let (width, height) = first.dimensions();
        let mut ffmpeg = Command::new(ffmpeg::PROGRAM)
            .args(["-hide_banner", "-loglevel", "error", "-y"])
            .args(["-f", "rawvideo", "-pixel_format", "rgb24"])
            .args(["-video_size", &format!("{width}x{height}")])
            .args(["-framerate", &film.frames.rate.to_string(), "-i", "pipe:0", "-an"])
            // Colours are stored for two by two pixels, so sides are even.
            .args(["-vf", "pad=ceil(iw/2)*2:ceil(ih/2)*2"])
            .args(["-c:v", "libx264", "-crf", QUALITY, "-pix_fmt", "yuv420p"])
            .args(["-movflags", "+faststart"])
            .args(["-metadata", &format!("comment={}", command_line(run))])
            .arg(video.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(refuse)?;
        let (frames, some) = bounded(0);
        if let Some(pipe) = ffmpeg.stdin.take() {
            let writer = thread::Builder::new().name("tilescope-ffmpeg".to_owned());
            writer.spawn(move || write(pipe, &some)).map_err(refuse)?;
        }
        Ok(Self { ffmpeg, frames, video, known, theme: film.view.figure.theme })
    }

    /// Waits for the rest, and returns the whole video, which a process that ends now still removes.
    pub fn finish(self, path: &Path) -> Result<(NamedTempFile, Unfinished), FilmError> {
        let Self { mut ffmpeg, frames, video, known, .. } = self;
        drop(frames);
        let written = || video.as_file().metadata().map_or(0, |file| file.len());
        let message = match ffmpeg::wait(&mut ffmpeg, LONGEST_PAUSE, written) {
            Ok(Some(status)) if status.success() => return Ok((video, known)),
            Ok(Some(_)) => message(&mut ffmpeg),
            Ok(None) => STALLED.to_owned(),
            Err(cause) => return Err(FileError::Write { path: path.to_owned(), cause }.into()),
        };
        Err(FilmError::Ffmpeg { path: path.to_owned(), message })
    }

    /// Ends it after an error, and says why if it is the cause.
    pub fn abort(mut self, path: &Path, error: io::Error) -> FilmError {
        ffmpeg::kill(&mut self.ffmpeg);
        let path = path.to_owned();
        let message = match error.kind() {
            io::ErrorKind::BrokenPipe => message(&mut self.ffmpeg),
            io::ErrorKind::TimedOut => STALLED.to_owned(),
            _ => return FileError::Write { path, cause: error }.into(),
        };
        FilmError::Ffmpeg { path, message }
    }
}

/// Writes frames into the pipe of ffmpeg until there are no more, or it has closed the pipe.
fn write(mut pipe: ChildStdin, frames: &Receiver<Vec<[u8; 3]>>) {
    // Why it closed the pipe is in its message.
    _ = frames.iter().try_for_each(|frame| pipe.write_all(frame.as_flattened()));
}

/// The last line that an ffmpeg which has ended printed.
fn message(ffmpeg: &mut Child) -> String {
    let mut message = String::new();
    if let Some(errors) = &mut ffmpeg.stderr {
        // Output that is not text is left out.
        _ = errors.read_to_string(&mut message);
    }
    let last = message.lines().last().unwrap_or_default().trim();
    if last.is_empty() { SILENT.to_owned() } else { last.to_owned() }
}

impl FrameEncoder for Mp4 {
    fn add(&mut self, frame: &RgbaImage) -> io::Result<()> {
        let frame = flattened(frame, self.theme);
        self.frames.send_timeout(frame, LONGEST_PAUSE).map_err(|refused| match refused {
            SendTimeoutError::Timeout(_) => io::ErrorKind::TimedOut.into(),
            SendTimeoutError::Disconnected(_) => io::ErrorKind::BrokenPipe.into(),
        })
    }
}
