//! The few SVG elements that figures are made of.

use std::fmt::Write as _;

use crate::picture::colour::theme::Rgb;
use crate::picture::draw::text::{
    CAPITAL, SUBSCRIPT_DROP, SUBSCRIPT_SIZE, Weight, family, with_subscripts,
};

/// Where a text lies against its point, across.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

/// How a text is written.
#[derive(Clone, Copy)]
pub(crate) struct Style {
    /// Font size in pixels.
    pub size: f64,
    pub weight: Weight,
    pub colour: Rgb,
}

/// How a line is drawn.
#[derive(Clone, Copy)]
pub(crate) struct Stroke {
    /// In pixels.
    pub width: f64,
    pub colour: Rgb,
    pub opacity: f64,
    /// The length of dashes and gaps in pixels.
    pub dash: Option<f64>,
    /// Whether edges snap to whole pixels: for straight lines, not for curves.
    pub crisp: bool,
}

impl Stroke {
    pub const fn solid(width: f64, colour: Rgb) -> Self {
        Self { width, colour, opacity: 1.0, dash: None, crisp: false }
    }
}

/// An SVG document that is being written; lengths in pixels, from the top left.
pub(crate) struct Canvas {
    text: String,
}

/// Writing to a string cannot fail, so its result is ignored.
macro_rules! put {
    ($canvas:expr, $($format:tt)*) => {{
        let _ = write!($canvas.text, $($format)*);
        $canvas.text.push('\n');
    }};
}

impl Canvas {
    /// A picture of one colour, or of none: what lies behind it shows through.
    pub fn new(width: u32, height: u32, background: Option<Rgb>) -> Self {
        let mut canvas = Self { text: String::new() };
        put!(
            canvas,
            r#"<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="{}">"#,
            family(Weight::Regular)
        );
        if let Some(background) = background {
            canvas.rect(0.0, 0.0, width.into(), height.into(), background, 1.0);
        }
        canvas
    }

    /// A filled rectangle.
    pub fn rect(&mut self, x: f64, y: f64, width: f64, height: f64, fill: Rgb, opacity: f64) {
        let (x, y, width, height) = (round(x), round(y), round(width), round(height));
        let fill = hex(fill);
        put!(
            self,
            r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" fill="{fill}"{}/>"#,
            opacity_attribute("fill-opacity", opacity)
        );
    }

    /// A path that is drawn along its line.
    pub fn line(&mut self, path: &str, stroke: Stroke) {
        let Stroke { width, colour, opacity, dash, crisp } = stroke;
        let (width, colour) = (round(width), hex(colour));
        let opacity = opacity_attribute("stroke-opacity", opacity);
        let dash = dash.map(|dash| format!(r#" stroke-dasharray="{}""#, round(dash)));
        let dash = dash.unwrap_or_default();
        let how = if crisp {
            r#" shape-rendering="crispEdges""#
        } else {
            r#" stroke-linejoin="round" stroke-linecap="butt""#
        };
        put!(
            self,
            r#"<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}"{opacity}{dash}{how}/>"#
        );
    }

    /// A path that is filled.
    pub fn area(&mut self, path: &str, fill: Rgb, opacity: f64) {
        let opacity = opacity_attribute("fill-opacity", opacity);
        put!(self, r#"<path d="{path}" fill="{}"{opacity}/>"#, hex(fill));
    }

    /// A text whose capitals are centred on `y`.
    pub fn words(&mut self, x: f64, y: f64, anchor: Anchor, style: Style, text: &str) {
        self.turned_words(x, y, anchor, style, text, "");
    }

    /// A text that reads upwards, centred on `(x, y)`.
    pub fn words_up(&mut self, x: f64, y: f64, style: Style, text: &str) {
        let turn = format!(r#" transform="rotate(-90 {} {})""#, round(x), round(y));
        self.turned_words(x, y, Anchor::Middle, style, text, &turn);
    }

    fn turned_words(
        &mut self,
        x: f64,
        y: f64,
        anchor: Anchor,
        style: Style,
        text: &str,
        turn: &str,
    ) {
        if text.is_empty() {
            return;
        }
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let Style { size, weight, colour } = style;
        // Viewers differ in how they centre a line; a baseline is a baseline everywhere.
        let (x, y) = (round(x), round(y + 0.5 * CAPITAL * size));
        let (size, colour) = (round(size), hex(colour));
        let (family, weight) = match weight {
            Weight::Regular => (String::new(), ""),
            Weight::SemiBold => {
                (format!(r#" font-family="{}""#, family(weight)), r#" font-weight="600""#)
            }
        };
        let drop = round(SUBSCRIPT_DROP * style.size);
        let parts = with_subscripts(text).into_iter().enumerate();
        let parts = parts.map(|(index, part)| match (index, index % 2) {
            (0, _) => escaped(part),
            (_, 1) => format!(
                r#"<tspan dy="{drop}" font-size="{}">{}</tspan>"#,
                round(SUBSCRIPT_SIZE * style.size),
                escaped(part)
            ),
            _ if part.is_empty() => String::new(),
            _ => format!(r#"<tspan dy="-{drop}">{}</tspan>"#, escaped(part)),
        });
        let text: String = parts.collect();
        put!(
            self,
            r#"<text x="{x}" y="{y}" font-size="{size}"{family}{weight} fill="{colour}" text-anchor="{anchor}"{turn}>{text}</text>"#
        );
    }

    /// A PNG picture, stretched to the rectangle with hard cell edges.
    pub fn image(&mut self, x: f64, y: f64, width: f64, height: f64, png: &[u8]) {
        let (x, y, width, height) = (round(x), round(y), round(width), round(height));
        put!(
            self,
            r#"<image x="{x}" y="{y}" width="{width}" height="{height}" preserveAspectRatio="none" style="image-rendering:pixelated" xlink:href="data:image/png;base64,{}"/>"#,
            base64(png)
        );
    }

    /// Another picture as a part of this one.
    pub fn figure(&mut self, x: f64, y: f64, svg: &str) {
        self.text.push_str(&svg.replacen("<svg", &format!("<svg x=\"{x}\" y=\"{y}\""), 1));
    }

    /// The whole document.
    pub fn finish(mut self) -> String {
        self.text.push_str("</svg>\n");
        self.text
    }
}

/// Hundredths of a pixel are enough, and keep files small and the same everywhere.
pub(crate) fn round(length: f64) -> f64 {
    // Adding zero makes a negative zero a plain one.
    (length * 100.0).round() / 100.0 + 0.0
}

fn hex([r, g, b]: Rgb) -> String {
    format!("#{r:02x}{g:02x}{b:02x}")
}

fn opacity_attribute(name: &str, opacity: f64) -> String {
    if opacity < 1.0 { format!(r#" {name}="{}""#, round(opacity)) } else { String::new() }
}

/// Text escaped for XML. Characters that XML has no way to write are left out.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '\n' | '\t' | '\r' => safe.push(' '),
            '\u{fffe}' | '\u{ffff}' => {}
            other if other.is_control() => {}
            other => safe.push(other),
        }
    }
    safe
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place)) as usize & 63];
            text.push(if place <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn any_text_is_xml() {
        assert_eq!(escaped("a<b & \"c\"\u{0}\u{7}\nd>"), "a&lt;b &amp; \"c\" d&gt;");
    }
}
