//! Figures as PDF: one page of lines, text and pictures, made of the same SVG document as pixels are.
//!
//! A figure has rectangular clips, solid colours with an opacity, dashes, PNG pictures, and text in the two fonts
//! that come with the program. This is what is translated (ISO 32000-1); text stays text.

mod fonts;
mod images;
mod page;

use crate::picture::draw::render::{PictureError, parse};
use flate2::Compression;
use flate2::write::ZlibEncoder;
use page::Painter;
use pdf_writer::{Filter, Finish, Name, Pdf, Rect, Ref, TextStr};
use std::io::Write;

/// Points per inch; a point is the unit of lengths in a PDF.
const POINTS_PER_INCH: f64 = 72.0;

/// Draws an SVG document on a page of its own size at `dpi` pixels per inch. `packet` is the document's XMP packet;
/// it is not compressed, so that it can be found without a reader of PDF.
///
/// # Errors
/// [`PictureError`] if it is not SVG, or has what no figure has.
pub(crate) fn pdf(svg: &str, dpi: f64, packet: &str) -> Result<Vec<u8>, PictureError> {
    let tree = parse(svg)?;
    let scale = (POINTS_PER_INCH / dpi) as f32;
    let (width, height) = (tree.size().width() * scale, tree.size().height() * scale);
    let mut painter = Painter::new(tree.fontdb());
    // SVG measures from the top, PDF from the bottom.
    painter.content.transform([scale, 0.0, 0.0, -scale, 0.0, height]);
    painter.group(tree.root())?;
    let Painter { content: drawn, fonts, images, opacities } = painter;

    let mut next = Ref::new(1);
    let [catalog, pages, page, content, metadata, information] =
        std::array::from_fn(|_| next.bump());
    let fonts: Vec<_> = fonts.all().into_iter().map(|font| (font, next.bump())).collect();
    let images: Vec<_> = images.into_iter().map(|image| (image, next.bump())).collect();
    let opacities: Vec<_> = opacities.into_iter().map(|percent| (percent, next.bump())).collect();
    let mut pdf = Pdf::new();
    pdf.catalog(catalog).pages(pages).metadata(metadata);
    pdf.metadata(metadata, packet.as_bytes());
    pdf.document_info(information).creator(TextStr("Tilescope"));
    pdf.pages(pages).kids([page]).count(1);
    let mut only = pdf.page(page);
    only.parent(pages).contents(content).media_box(Rect::new(0.0, 0.0, width, height));
    let mut resources = only.resources();
    let mut names = resources.fonts();
    for (index, (_, id)) in fonts.iter().enumerate() {
        names.pair(Name(&fonts::name(index)), *id);
    }
    names.finish();
    let mut names = resources.x_objects();
    for (index, (_, id)) in images.iter().enumerate() {
        names.pair(Name(&images::name(index)), *id);
    }
    names.finish();
    let mut names = resources.ext_g_states();
    for &(percent, id) in &opacities {
        names.pair(Name(&page::opacity_name(percent)), id);
    }
    names.finish();
    resources.finish();
    only.finish();
    pdf.stream(content, &compressed(&drawn.finish())).filter(Filter::FlateDecode);
    for (percent, id) in opacities {
        let alpha = f32::from(percent) / 100.0;
        pdf.ext_graphics(id).stroking_alpha(alpha).non_stroking_alpha(alpha);
    }
    for (image, id) in images {
        images::write(&mut pdf, id, next.bump(), image)?;
    }
    for (font, id) in fonts {
        font.write(&mut pdf, id, &mut next).ok_or(PictureError::Pdf)?;
    }
    Ok(pdf.finish())
}

/// Bytes in zlib's format.
fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    // Writing to memory cannot fail.
    _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::read::ZlibDecoder;
    use std::io::Read;

    fn svg(body: &str) -> String {
        format!(r#"<svg xmlns="http://www.w3.org/2000/svg" width="96" height="48">{body}</svg>"#)
    }

    /// All compressed streams that are text, one after the other.
    fn streams(pdf: &[u8]) -> String {
        let find = |from: usize, mark: &[u8]| {
            pdf[from..].windows(mark.len()).position(|at| at == mark).map(|at| from + at)
        };
        let (mut text, mut at) = (String::new(), 0);
        while let Some(begin) = find(at, b"\nstream\n") {
            let end = find(begin, b"\nendstream").unwrap();
            let mut stream = String::new();
            if ZlibDecoder::new(&pdf[begin + 8..end]).read_to_string(&mut stream).is_ok() {
                text.push_str(&stream);
            }
            at = end;
        }
        text
    }

    fn plain(pdf: &[u8]) -> String {
        String::from_utf8_lossy(pdf).into_owned()
    }

    #[test]
    fn text_stays_text_in_its_font() {
        let text = r#"<text x="9" y="20" font-family="Inter" font-size="9">‖r‖ AVA</text>"#;
        let drawn = pdf(&svg(text), 96.0, "").unwrap();
        let streams = streams(&drawn);
        // Each letter once, in the order of their first use: ‖ r space A V.
        for (code, letter) in [(1, '‖'), (2, 'r'), (3, ' '), (4, 'A'), (5, 'V')] {
            let pair = format!("<{code:04X}> <{:04X}>", u32::from(letter));
            assert!(streams.contains(&pair), "{pair} is not in {streams}");
        }
        assert_eq!(streams.matches(" TJ").count(), 1, "{streams}");
        let plain = plain(&drawn);
        assert!(plain.contains("+Inter-Regular") && plain.contains("/CIDFontType0C"), "{plain}");
        // The fonts have 100 kB each.
        assert!(drawn.len() < 10_000, "{}", drawn.len());
    }

    #[test]
    fn lines_have_their_width_dash_opacity_and_place() {
        let line = r##"<path d="M0 0L9 9" fill="none" stroke="#ff0000" stroke-width="3" stroke-dasharray="2" stroke-opacity="0.5"/>"##;
        let nested = format!(r#"<svg x="30" y="8" width="40" height="20">{line}</svg>"#);
        let drawn = pdf(&svg(&nested), 192.0, "packet").unwrap();
        let (streams, plain) = (streams(&drawn), plain(&drawn));
        for operator in ["1 0 0 RG", "3 w", "[2 2] 0 d", "/O50 gs", "1 0 0 1 30 8 cm", "W\nn"] {
            assert!(streams.contains(operator), "{operator} is not in {streams}");
        }
        for entry in ["/CA 0.5", "/MediaBox [0 0 36 18]", "stream\npacket\nendstream"] {
            assert!(plain.contains(entry), "{entry} is not in {plain}");
        }
    }

    #[test]
    fn what_no_figure_has_is_refused() {
        assert_eq!(pdf("k = 32", 96.0, ""), Err(PictureError::Svg));
        let gradient = r##"<defs><linearGradient id="g"><stop stop-color="red"/><stop offset="1" stop-color="blue"/></linearGradient></defs><rect width="9" height="9" fill="url(#g)"/>"##;
        assert_eq!(pdf(&svg(gradient), 96.0, ""), Err(PictureError::Pdf));
    }
}
