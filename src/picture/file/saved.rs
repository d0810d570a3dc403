//! Saved figures, which carry the run that they show, so that they can be drawn again.
//!
//! A PNG carries the run's description and the view as two texts (`iTXt`), an SVG as two
//! elements in its `<metadata>`, a PDF as two elements in its XMP packet; all as TOML.

use std::io::Write;
use std::path::{Path, PathBuf};

use image::RgbaImage;

use crate::files::{FileError, read_bytes, read_text, write_atomically};
use crate::pauses::{pause, without_pauses};
use crate::picture::draw::canvas::Canvas;
use crate::picture::draw::drawing::Drawing;
use crate::picture::draw::pdf::pdf;
use crate::picture::draw::png::SCREEN_DPI;
use crate::picture::draw::png::{PngError, encode_png, read_png_text, save_png};
use crate::picture::draw::render::{PictureError, render};
use crate::picture::file::metadata::{self, NAMESPACE, RUN, Texts, VIEW};
use crate::picture::view::spec::{Compared, ViewSpec};
use crate::run::{RunSpec, SpecError, toml_message};

/// The longest SVG or PDF that is read, in bytes: the largest map in one is a PNG of 16,384² pixels.
const LONGEST: u64 = 1 << 30;

/// How a PDF begins.
const PDF_MARK: &[u8] = b"%PDF-";

/// Why a figure could not be saved; one sentence.
#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    /// Another kind of file.
    #[error("{} is none of .png, .svg and .pdf; a figure is saved as one of these", .path.display())]
    Kind {
        /// The requested file.
        path: PathBuf,
    },
    /// It could not be drawn.
    #[error(transparent)]
    Picture(#[from] PictureError),
    /// It could not be written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Why no run could be read from a figure; one sentence.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// It is not a PNG, or it is damaged.
    #[error(transparent)]
    Png(#[from] PngError),
    /// It cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// It is not an SVG, or it is damaged.
    #[error("{} is not an SVG figure: {reason}", .path.display())]
    Svg {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// It is not a PDF.
    #[error("{} is not a PDF figure", .path.display())]
    Pdf {
        /// The file.
        path: PathBuf,
    },
    /// A picture of another program.
    #[error("{} carries no run; only figures saved by tilescope do", .path.display())]
    NoRun {
        /// The file.
        path: PathBuf,
    },
    /// A figure whose texts do not survive.
    #[error("the run that {} carries is damaged; the image itself may be intact", .path.display())]
    DamagedRun {
        /// The file.
        path: PathBuf,
    },
    /// An animation that carries no run.
    #[error("{} cannot be opened as a run; of animations, only .apng files can", .path.display())]
    Film {
        /// The file.
        path: PathBuf,
    },
    /// The run that it carries is invalid.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The view that it carries is invalid.
    #[error("the view that {} carries cannot be read: {}", .path.display(), toml_message(.source))]
    View {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        source: Box<toml::de::Error>,
    },
}

/// A run that was opened, and the view of it, if the file has one.
#[derive(Clone, Debug, PartialEq)]
pub struct Opened {
    /// The run.
    pub run: RunSpec,
    /// The view.
    pub view: Option<ViewSpec>,
}

impl Opened {
    /// The runs beside the first of a figure of several.
    pub fn beside(&self) -> &[Compared] {
        self.view.as_ref().map_or(&[], |view| &view.compared)
    }
}

/// Opens a run from its description (`.toml`) or from a figure that carries one (`.png`, `.apng`,
/// `.svg`, `.pdf`).
///
/// # Errors
/// [`OpenError`] naming the file and what is wrong with it.
pub fn open(path: &Path) -> Result<Opened, OpenError> {
    if FigureFile::of(path).is_ok() || is_apng(path) {
        let (run, view) = read_figure(path)?;
        Ok(Opened { run, view })
    } else if ["gif", "mp4"]
        .iter()
        .any(|film| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(film)))
    {
        Err(OpenError::Film { path: path.to_owned() })
    } else {
        Ok(Opened { run: RunSpec::load(path)?, view: None })
    }
}

/// Whether a picture seems to carry a run, although none can be read: its checksum may be wrong, or
/// another program has cut it.
fn names_run(path: &Path) -> bool {
    let marks =
        [&b"iTXttilescope\0"[..], b"zTXttilescope\0", b"tEXttilescope\0", NAMESPACE.as_bytes()];
    read_bytes(path, LONGEST).is_ok_and(|bytes| {
        marks.iter().any(|mark| bytes.windows(mark.len()).any(|window| window == *mark))
    })
}

fn is_apng(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("apng"))
}

/// The kinds of files that figures are saved as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FigureFile {
    /// Pixels.
    Png,
    /// Lines and text.
    Svg,
    /// A page of lines and text.
    Pdf,
}

impl FigureFile {
    /// The kind that the extension of a name stands for.
    ///
    /// # Errors
    /// [`SaveError::Kind`] for any other extension, or none.
    pub fn of(path: &Path) -> Result<Self, SaveError> {
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("png") => Ok(Self::Png),
            Some("svg") => Ok(Self::Svg),
            Some("pdf") => Ok(Self::Pdf),
            _ => Err(SaveError::Kind { path: path.to_owned() }),
        }
    }
}

/// Saves a drawing as PNG, SVG or PDF, by the extension of the name, and in it the run that it shows and,
/// if it is given, what of it.
///
/// # Errors
/// [`SaveError`]; nothing half-written is left.
pub fn save_figure(
    path: &Path,
    drawing: &Drawing,
    run: &RunSpec,
    view: Option<&ViewSpec>,
) -> Result<(), SaveError> {
    without_pauses(save_figure_with_pauses(path, drawing, run, view))
}

/// [`save_figure`] with pauses.
///
/// # Errors
/// [`SaveError`]; nothing half-written is left.
pub(crate) async fn save_figure_with_pauses(
    path: &Path,
    drawing: &Drawing,
    run: &RunSpec,
    view: Option<&ViewSpec>,
) -> Result<(), SaveError> {
    let kind = FigureFile::of(path)?;
    let texts = texts(path, run, view);
    let dpi = view.map_or(SCREEN_DPI, |view| view.figure.dpi);
    match kind {
        FigureFile::Png => {
            let texts: Vec<_> = texts.iter().map(|(key, text)| (*key, text.as_str())).collect();
            match drawing {
                Drawing::Figure(svg) => {
                    let pixels = render(svg)?;
                    pause().await;
                    save_png(path, &pixels, dpi, &texts)?;
                }
                Drawing::Map(image) => save_png(path, image, SCREEN_DPI, &texts)?,
            }
        }
        FigureFile::Svg => {
            let svg = match drawing {
                Drawing::Figure(svg) => metadata::in_svg(&on_paper(svg, dpi), &texts),
                Drawing::Map(image) => metadata::in_svg(&embedded(path, image)?, &texts),
            };
            write_atomically(path, |out| out.write_all(svg.as_bytes()))?;
        }
        FigureFile::Pdf => {
            let packet = metadata::packet(&texts);
            let pdf = match drawing {
                Drawing::Figure(svg) => pdf(svg, dpi, &packet)?,
                Drawing::Map(image) => pdf(&embedded(path, image)?, SCREEN_DPI, &packet)?,
            };
            write_atomically(path, |out| out.write_all(&pdf))?;
        }
    }
    Ok(())
}

/// A file that keeps the figure `path` from carrying a run: its name is not text (UTF-8), as a run description is.
pub(crate) fn unnameable_file<'a>(
    path: &Path,
    mut runs: impl Iterator<Item = &'a RunSpec>,
) -> Option<PathBuf> {
    runs.find_map(|run| run.beside(path).unnameable_file())
}

/// What a file carries beside its pixels: the run and what is shown of it, under their keywords. Nothing where a
/// run cannot be written ([`unnameable_file`]).
pub(crate) fn texts(
    path: &Path,
    run: &RunSpec,
    view: Option<&ViewSpec>,
) -> Vec<(&'static str, String)> {
    let run = run.beside(path);
    let view = view.map(|view| {
        let beside = |compared: Compared| Compared { run: compared.run.beside(path), ..compared };
        let compared = view.compared.iter().cloned().map(beside).collect();
        ViewSpec { compared, ..view.clone() }
    });
    let compared = view.iter().flat_map(|view| &view.compared).map(|compared| &compared.run);
    if std::iter::once(&run).chain(compared).any(|run| run.unnameable_file().is_some()) {
        return Vec::new();
    }
    let mut texts = vec![(RUN, run.to_toml())];
    if let Some(view) = view {
        // A view is numbers and names: it can always be written.
        texts.push((VIEW, toml::to_string(&view).unwrap_or_default()));
    }
    texts
}

/// The SVG document with its size on paper, at `dpi` pixels per inch.
fn on_paper(svg: &str, dpi: f64) -> String {
    let Some((head, body)) = svg.split_once('>').filter(|_| dpi != SCREEN_DPI) else {
        return svg.to_owned();
    };
    let long = |attribute: &str| {
        let (before, value) = attribute.split_once("=\"")?;
        let pixels: f64 = value.strip_suffix('"')?.parse().ok()?;
        matches!(before, "width" | "height").then(|| format!("{before}=\"{:.4}in\"", pixels / dpi))
    };
    let attributes = head.split(' ').map(|part| long(part).unwrap_or_else(|| part.to_owned()));
    format!("{}>{body}", attributes.collect::<Vec<_>>().join(" "))
}

/// Reads the run that a figure carries, and what of it the figure shows, if that is in the file.
///
/// # Errors
/// [`OpenError`] naming the file and what is wrong with it.
pub fn read_figure(path: &Path) -> Result<(RunSpec, Option<ViewSpec>), OpenError> {
    let (run, view) = match FigureFile::of(path) {
        Ok(FigureFile::Svg) => read_svg(path)?,
        Ok(FigureFile::Pdf) => read_pdf(path)?,
        _ => (read_png_text(path, RUN)?, read_png_text(path, VIEW)?),
    };
    let run = match run {
        Some(run) => run,
        None if names_run(path) => return Err(OpenError::DamagedRun { path: path.to_owned() }),
        None => return Err(OpenError::NoRun { path: path.to_owned() }),
    };
    let run = RunSpec::from_toml(&run, &format!("the text in {}", path.display()))?;
    let view = view.as_deref().map(ViewSpec::from_toml).transpose();
    let view: Option<ViewSpec> =
        view.map_err(|source| OpenError::View { path: path.to_owned(), source: Box::new(source) })?;
    let beside = |compared: Compared| Compared { run: compared.run.found_beside(path), ..compared };
    let view = view.map(|view| {
        let compared = view.compared.into_iter().map(beside).collect();
        ViewSpec { compared, ..view }
    });
    Ok((run.found_beside(path), view))
}

/// A raw map as an SVG document.
fn embedded(path: &Path, image: &RgbaImage) -> Result<String, FileError> {
    let mut png = Vec::new();
    encode_png(&mut png, image, SCREEN_DPI, &[])
        .map_err(|cause| FileError::Write { path: path.to_owned(), cause })?;
    let (width, height) = image.dimensions();
    let mut canvas = Canvas::new(width, height, None);
    canvas.image(0.0, 0.0, width.into(), height.into(), &png);
    Ok(canvas.finish())
}

/// The texts of an SVG.
fn read_svg(path: &Path) -> Result<Texts, OpenError> {
    let svg = read_text(path, LONGEST)?;
    metadata::of_svg(&svg).map_err(|reason| OpenError::Svg { path: path.to_owned(), reason })
}

/// The texts of a PDF.
fn read_pdf(path: &Path) -> Result<Texts, OpenError> {
    let bytes = read_bytes(path, LONGEST)?;
    if !bytes.starts_with(PDF_MARK) {
        return Err(OpenError::Pdf { path: path.to_owned() });
    }
    Ok(metadata::of_packets(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::any::view;
    use crate::picture::view::figure_spec::FigureSpec;
    use crate::run::any::run;
    use crate::run::{FieldKind, InitialGuess};
    use image::Rgba;
    use proptest::prelude::*;
    use std::fs;

    const SVG: &str = r#"<svg xmlns="http://www.w3.org/2000/svg" width="9" height="7"/>"#;

    fn drawings() -> [Drawing; 2] {
        let map = RgbaImage::from_pixel(5, 3, Rgba([1, 2, 3, 255]));
        let svg = SVG.replace("/>", "><text>a</text></svg>");
        [Drawing::Figure(svg), Drawing::Map(map)]
    }

    #[cfg(unix)]
    #[test]
    fn a_figure_carries_no_run_that_has_no_description() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;
        let folder = tempfile::tempdir().unwrap();
        let mut run = RunSpec::default();
        run.problem.rhs = Some(folder.path().join(OsStr::from_bytes(b"b\xffad.png")));
        for name in ["a.png", "a.svg", "a.pdf"] {
            let path = folder.path().join(name);
            assert_eq!(unnameable_file(&path, [&run].into_iter()), run.beside(&path).problem.rhs);
            for drawing in drawings() {
                save_figure(&path, &drawing, &run, Some(&ViewSpec::default())).unwrap();
                let said = read_figure(&path).unwrap_err().to_string();
                assert!(said.contains("carries no run"), "{said}");
            }
        }
    }

    #[test]
    fn a_saved_figure_gives_its_run_back() {
        let folder = tempfile::tempdir().unwrap();
        let mut run = RunSpec::default();
        run.problem.rhs = Some(folder.path().join("a <&> \"b\"\n‖r‖.png"));
        let figure = FigureSpec::suiting(FieldKind::Error);
        let compared = vec![Compared { cycle: 30, until: None, run: run.clone() }];
        let field = FieldKind::Error;
        let view = ViewSpec { cycle: 40, field, figure, compared, ..Default::default() };
        for name in ["a.png", "a.svg", "a.PNG", "a.pdf"] {
            let path = folder.path().join(name);
            for drawing in drawings() {
                for view in [Some(&view), None] {
                    save_figure(&path, &drawing, &run, view).unwrap();
                    assert_eq!(read_figure(&path).unwrap(), (run.clone(), view.cloned()));
                }
            }
            match FigureFile::of(&path).unwrap() {
                FigureFile::Png => {
                    assert_eq!(image::open(&path).unwrap().into_rgba8().dimensions(), (5, 3));
                }
                FigureFile::Svg => {
                    let svg = fs::read_to_string(&path).unwrap();
                    assert_eq!(render(&svg).unwrap().dimensions(), (5, 3));
                }
                FigureFile::Pdf => {
                    let pdf = fs::read(&path).unwrap();
                    let page = b"/MediaBox [0 0 3.75 2.25]";
                    assert!(pdf.windows(page.len()).any(|at| at == page));
                }
            }
        }
    }

    /// A right-hand side, a conductivity, a matrix and an initial guess lie beside the figure.
    fn placed(mut run: RunSpec, folder: &Path) -> RunSpec {
        run.problem.rhs = run.problem.rhs.map(|_| folder.join("b <&> ‖.npy"));
        run.problem.conductivity = run.problem.conductivity.map(|_| folder.join("k.npy"));
        let place = |initial| match initial {
            InitialGuess::File(_) => InitialGuess::File(folder.join("x0.npy")),
            value => value,
        };
        run.problem.initial = run.problem.initial.map(place);
        if let Some(matrix) = &mut run.problem.matrix {
            matrix.initial = matrix.initial.take().map(place);
            matrix.coordinates = matrix.coordinates.take().map(|_| folder.join("xy.npy"));
            if matrix.is_file() {
                matrix.source = folder.join("a.mtx");
            }
        }
        run
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_figure_gives_its_run_and_its_view_back(run in run(), view in view()) {
            let folder = tempfile::tempdir().unwrap();
            let run = placed(run, folder.path());
            let placed = |one: Compared| Compared { run: placed(one.run, folder.path()), ..one };
            let compared = view.compared.iter().cloned().map(placed).collect();
            let view = ViewSpec { compared, ..view };
            for name in ["a.png", "a.svg", "a.pdf"] {
                let path = folder.path().join(name);
                save_figure(&path, &drawings()[0], &run, Some(&view)).unwrap();
                let opened = open(&path).unwrap();
                prop_assert_eq!(&opened.run, &run);
                prop_assert_eq!(opened.view.as_ref(), Some(&view));
            }
        }
    }

    #[test]
    fn an_older_figure_is_read_and_a_plain_one_is_written_for_older_programs() {
        let plain = ViewSpec { cycle: 40, ..ViewSpec::default() };
        let text = toml::to_string(&plain).unwrap();
        for key in ["kind", "over", "cut", "frames", "compared", "dpi", "font", "annotations"] {
            assert!(!text.contains(key), "{text}");
        }
        assert_eq!(ViewSpec::from_toml(&text).unwrap(), plain);
        // One run beside the first was not a list.
        let run = RunSpec::default();
        let beside = vec![Compared { cycle: 30, until: None, run }];
        let two = ViewSpec { compared: beside, ..plain };
        let text = toml::to_string(&two).unwrap().replace("[[compared]]", "[compared]");
        assert_eq!(ViewSpec::from_toml(&text).unwrap(), two);
    }

    #[test]
    fn foreign_figures_are_refused_in_a_sentence() {
        let folder = tempfile::tempdir().unwrap();
        let say = |name: &str, content: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, content).unwrap();
            read_figure(&path).unwrap_err().to_string()
        };
        let foreign = say("a.svg", SVG.as_bytes());
        assert!(foreign.ends_with("carries no run; only figures saved by tilescope do"));
        assert!(say("a.svg", b"<svg").contains("is not an SVG figure"));
        assert!(say("a.svg", b"<html/>").contains("its first element is not <svg>"));
        assert!(say("a.png", b"").contains("is not a PNG image"));
        assert!(say("a.pdf", b"<svg/>").contains("is not a PDF figure"));
        assert!(say("a.pdf", b"%PDF-1.7\n%%EOF").contains("carries no run"));
        let packet = metadata::packet(&[(RUN, String::new())]);
        let cut = format!("%PDF-1.7\n{}", packet.split("</rdf:").next().unwrap());
        assert!(say("a.pdf", cut.as_bytes()).contains("is damaged"));
        let path = folder.path().join("b.png");
        save_png(&path, &RgbaImage::new(1, 1), SCREEN_DPI, &[]).unwrap();
        assert!(read_figure(&path).unwrap_err().to_string().contains("carries no run"));
        save_png(&path, &RgbaImage::new(1, 1), SCREEN_DPI, &[(RUN, "version = 11")]).unwrap();
        assert!(read_figure(&path).unwrap_err().to_string().contains("has version 11"));
        let run = RunSpec::default().to_toml();
        save_png(&path, &RgbaImage::new(1, 1), SCREEN_DPI, &[(RUN, &run), (VIEW, "cycle = -1")])
            .unwrap();
        assert!(read_figure(&path).unwrap_err().to_string().contains("the view that"));
    }

    #[test]
    fn only_three_kinds_of_files_are_written() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.jpg", "a", ".png"] {
            let path = folder.path().join(name);
            let refused = save_figure(&path, &drawings()[0], &RunSpec::default(), None);
            assert!(refused.unwrap_err().to_string().contains("is none of .png, .svg and .pdf"));
            assert!(!path.exists());
        }
    }
}
