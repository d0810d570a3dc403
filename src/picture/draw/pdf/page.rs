//! The content of the page: paths, pictures and text, each where the SVG document has it.

use super::fonts::{self, Fonts};
use super::images;
use crate::picture::draw::render::PictureError;
use pdf_writer::types::{LineCapStyle, LineJoinStyle};
use pdf_writer::{Content, Name, Str};
use resvg::tiny_skia::{Path, PathSegment, Transform};
use resvg::usvg;
use resvg::usvg::fontdb::Database;
use resvg::usvg::layout::PositionedGlyph;
use std::collections::BTreeSet;

/// Ems by which two positions of a letter may differ and still count as one: a thousandth, the unit of widths.
const SAME_POSITION: f32 = 1e-3;

/// The name of an opacity in the content of the page.
pub(super) fn opacity_name(percent: u8) -> Vec<u8> {
    format!("O{percent}").into_bytes()
}

/// Writes the content of the page, and collects what it needs.
pub(super) struct Painter<'a> {
    pub content: Content,
    pub fonts: Fonts<'a>,
    /// PNG pictures.
    pub images: Vec<&'a [u8]>,
    /// Opacities below 100 %, in percent: figures round them to hundredths.
    pub opacities: BTreeSet<u8>,
}

impl<'a> Painter<'a> {
    pub fn new(database: &'a Database) -> Self {
        Self {
            content: Content::new(),
            fonts: Fonts::new(database),
            images: Vec::new(),
            opacities: BTreeSet::new(),
        }
    }

    /// Draws a group in its own coordinates, inside its clip.
    ///
    /// # Errors
    /// [`PictureError::Pdf`] for what no figure has.
    pub fn group(&mut self, group: &'a usvg::Group) -> Result<(), PictureError> {
        self.content.save_state();
        self.transform(group.transform());
        if let Some(clip) = group.clip_path() {
            for node in clip.root().children() {
                let usvg::Node::Path(path) = node else { return Err(PictureError::Pdf) };
                let path = path.data().clone().transform(clip.transform());
                self.outline(&path.ok_or(PictureError::Pdf)?);
            }
            self.content.clip_nonzero().end_path();
        }
        for node in group.children() {
            match node {
                usvg::Node::Group(group) => self.group(group)?,
                usvg::Node::Path(path) => self.path(path)?,
                usvg::Node::Image(image) => self.image(image)?,
                usvg::Node::Text(text) => self.text(text)?,
            }
        }
        self.content.restore_state();
        Ok(())
    }

    fn path(&mut self, path: &usvg::Path) -> Result<(), PictureError> {
        if !path.is_visible() {
            return Ok(());
        }
        self.content.save_state();
        if let Some(fill) = path.fill() {
            self.fill(fill)?;
            self.outline(path.data());
            match fill.rule() {
                usvg::FillRule::NonZero => self.content.fill_nonzero(),
                usvg::FillRule::EvenOdd => self.content.fill_even_odd(),
            };
        }
        if let Some(stroke) = path.stroke() {
            self.stroke(stroke)?;
            self.outline(path.data());
            self.content.stroke();
        }
        self.content.restore_state();
        Ok(())
    }

    fn image(&mut self, image: &'a usvg::Image) -> Result<(), PictureError> {
        let usvg::ImageKind::PNG(png) = image.kind() else { return Err(PictureError::Pdf) };
        let size = image.size();
        self.content.save_state();
        // A picture fills the unit square, its first row at the top, where y grows upwards.
        self.content.transform([size.width(), 0.0, 0.0, -size.height(), 0.0, size.height()]);
        self.content.x_object(Name(&images::name(self.images.len())));
        self.content.restore_state();
        self.images.push(png);
        Ok(())
    }

    fn text(&mut self, text: &usvg::Text) -> Result<(), PictureError> {
        for span in text.layouted().iter().filter(|span| span.visible) {
            let Some(fill) = &span.fill else { continue };
            self.content.save_state();
            self.fill(fill)?;
            self.content.begin_text();
            for line in span.positioned_glyphs.chunk_by(is_on_one_line) {
                self.letters(line)?;
            }
            self.content.end_text().restore_state();
        }
        Ok(())
    }

    /// Writes letters of one font on one line, so that programs find words in them.
    fn letters(&mut self, line: &[PositionedGlyph]) -> Result<(), PictureError> {
        let Some(first) = line.first() else { return Ok(()) };
        let (index, font) = self.fonts.numbered(first.font).ok_or(PictureError::Pdf)?;
        let em = font.units_per_em;
        let start = first.outline_transform().pre_scale(em, em);
        let from_start = start.invert().ok_or(PictureError::Pdf)?;
        self.content.set_font(Name(&fonts::name(index)), 1.0);
        self.content.set_text_matrix(matrix(start));
        let mut shown = self.content.show_positioned();
        let mut items = shown.items();
        // Where the next letter lies by the widths of those before it, in ems.
        let mut pen = 0.0;
        for glyph in line {
            let at = from_start.pre_concat(glyph.outline_transform()).tx;
            if (pen - at).abs() >= SAME_POSITION {
                items.adjust(1000.0 * (pen - at));
                pen = at;
            }
            let (code, width) = font.code(glyph).ok_or(PictureError::Pdf)?;
            items.show(Str(&code.to_be_bytes()));
            pen += width;
        }
        Ok(())
    }

    fn transform(&mut self, transform: Transform) {
        if !transform.is_identity() {
            self.content.transform(matrix(transform));
        }
    }

    /// The outline of what is painted next.
    fn outline(&mut self, path: &Path) {
        let mut last = (0.0, 0.0);
        for segment in path.segments() {
            match segment {
                PathSegment::MoveTo(to) => {
                    self.content.move_to(to.x, to.y);
                    last = (to.x, to.y);
                }
                PathSegment::LineTo(to) => {
                    self.content.line_to(to.x, to.y);
                    last = (to.x, to.y);
                }
                PathSegment::QuadTo(control, to) => {
                    // The same curve as a cubic one.
                    let third = |end: f32, control: f32| end + 2.0 / 3.0 * (control - end);
                    self.content.cubic_to(
                        third(last.0, control.x),
                        third(last.1, control.y),
                        third(to.x, control.x),
                        third(to.y, control.y),
                        to.x,
                        to.y,
                    );
                    last = (to.x, to.y);
                }
                PathSegment::CubicTo(a, b, to) => {
                    self.content.cubic_to(a.x, a.y, b.x, b.y, to.x, to.y);
                    last = (to.x, to.y);
                }
                PathSegment::Close => {
                    self.content.close_path();
                }
            }
        }
    }

    fn fill(&mut self, fill: &usvg::Fill) -> Result<(), PictureError> {
        let [r, g, b] = colour(fill.paint())?;
        self.opacity(fill.opacity());
        self.content.set_fill_rgb(r, g, b);
        Ok(())
    }

    fn stroke(&mut self, stroke: &usvg::Stroke) -> Result<(), PictureError> {
        let [r, g, b] = colour(stroke.paint())?;
        self.opacity(stroke.opacity());
        self.content.set_stroke_rgb(r, g, b);
        self.content.set_line_width(stroke.width().get());
        self.content.set_line_cap(match stroke.linecap() {
            usvg::LineCap::Butt => LineCapStyle::ButtCap,
            usvg::LineCap::Round => LineCapStyle::RoundCap,
            usvg::LineCap::Square => LineCapStyle::ProjectingSquareCap,
        });
        self.content.set_line_join(match stroke.linejoin() {
            usvg::LineJoin::Round => LineJoinStyle::RoundJoin,
            usvg::LineJoin::Bevel => LineJoinStyle::BevelJoin,
            usvg::LineJoin::Miter | usvg::LineJoin::MiterClip => LineJoinStyle::MiterJoin,
        });
        self.content.set_miter_limit(stroke.miterlimit().get());
        if let Some(dashes) = stroke.dasharray() {
            self.content.set_dash_pattern(dashes.iter().copied(), stroke.dashoffset());
        }
        Ok(())
    }

    fn opacity(&mut self, opacity: usvg::Opacity) {
        let percent = (100.0 * opacity.get()).round() as u8;
        // What is filled before it is stroked may have left another.
        if percent < 100 || !self.opacities.is_empty() {
            self.opacities.insert(percent);
            self.content.set_parameters(Name(&opacity_name(percent)));
        }
    }
}

fn matrix(transform: Transform) -> [f32; 6] {
    let Transform { sx, kx, ky, sy, tx, ty } = transform;
    [sx, ky, kx, sy, tx, ty]
}

/// Red, green and blue, 0 to 1.
fn colour(paint: &usvg::Paint) -> Result<[f32; 3], PictureError> {
    let usvg::Paint::Color(colour) = paint else { return Err(PictureError::Pdf) };
    Ok([colour.red, colour.green, colour.blue].map(|part| f32::from(part) / 255.0))
}

/// Whether a letter stands on the same line as the one before it, in the same font and size.
fn is_on_one_line(a: &PositionedGlyph, b: &PositionedGlyph) -> bool {
    let (from, to) = (a.outline_transform(), b.outline_transform());
    let parts = |t: Transform| [t.sx, t.kx, t.ky, t.sy];
    let offset = from.invert().map(|inverse| inverse.pre_concat(to));
    a.font == b.font
        && parts(from) == parts(to)
        // In units of the font: there are a thousand and more to an em.
        && offset.is_some_and(|offset| offset.ty.abs() < 1.0)
}
