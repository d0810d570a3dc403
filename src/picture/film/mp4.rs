//! MP4, made by ffmpeg where it is installed.

use super::{Film, FilmError, FrameEncoder, flattened};
use crate::files::{FileError, Unfinished};
use crate::picture::Theme;
use crate::run::{RunSpec, command_line};
use image::RgbaImage;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use tempfile::NamedTempFile;

/// The program, as it is found in the search path.
const PROGRAM: &str = "ffmpeg";

/// x264's constant rate factor: 16 shows no trace of compression in a colour map's smooth parts.
const QUALITY: &str = "16";

/// What is said of an ffmpeg that failed and printed nothing.
const SILENT: &str = "it ended without a message";

/// Whether ffmpeg is installed.
pub(super) fn is_installed() -> bool {
    let asked = Command::new(PROGRAM)
        .arg("-version")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    asked.is_ok_and(|status| status.success())
}

/// A video that is being encoded.
pub(super) struct Mp4 {
    ffmpeg: Child,
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
        let ffmpeg = Command::new(PROGRAM)
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
            .spawn();
        match ffmpeg {
            Ok(ffmpeg) => Ok(Self { ffmpeg, video, known, theme: film.view.figure.theme }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Err(FilmError::NoFfmpeg),
            Err(cause) => Err(refuse(cause).into()),
        }
    }

    /// Waits for the rest, and returns the whole video, which a process that ends now still removes.
    pub fn finish(mut self, path: &Path) -> Result<(NamedTempFile, Unfinished), FilmError> {
        drop(self.ffmpeg.stdin.take());
        let message = self.message();
        match self.ffmpeg.wait() {
            Ok(status) if status.success() => Ok((self.video, self.known)),
            Ok(_) => {
                let message = if message.is_empty() { SILENT.to_owned() } else { message };
                Err(FilmError::Ffmpeg { path: path.to_owned(), message })
            }
            Err(cause) => Err(FileError::Write { path: path.to_owned(), cause }.into()),
        }
    }

    /// Ends it after an error, and returns its message, if it printed one; if it has ended before, also without.
    pub fn abort(mut self, path: &Path, error: &io::Error) -> Option<FilmError> {
        drop(self.ffmpeg.stdin.take());
        // One that has already ended needs nothing.
        _ = self.ffmpeg.kill();
        _ = self.ffmpeg.wait();
        let mut message = self.message();
        if message.is_empty() && error.kind() == io::ErrorKind::BrokenPipe {
            SILENT.clone_into(&mut message);
        }
        (!message.is_empty()).then(|| FilmError::Ffmpeg { path: path.to_owned(), message })
    }

    /// The last line that it printed.
    fn message(&mut self) -> String {
        let mut message = String::new();
        if let Some(errors) = &mut self.ffmpeg.stderr {
            // Output that is not text is left out.
            _ = errors.read_to_string(&mut message);
        }
        message.lines().last().unwrap_or_default().trim().to_owned()
    }
}

impl FrameEncoder for Mp4 {
    fn add(&mut self, frame: &RgbaImage) -> io::Result<()> {
        let Some(pipe) = &mut self.ffmpeg.stdin else { return Ok(()) };
        pipe.write_all(flattened(frame, self.theme).as_flattened())
    }
}
