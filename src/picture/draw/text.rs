//! The fonts that come with the program, and how much room a text takes in them.

use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};

/// Inter, by Rasmus Andersson (SIL Open Font License), at the two weights that figures use.
pub(crate) const FONTS: [&[u8]; 2] = [
    include_bytes!("../../../assets/fonts/Inter-Regular.otf"),
    include_bytes!("../../../assets/fonts/Inter-SemiBold.otf"),
];

/// The height of a capital as a share of the font size (from the fonts' OS/2 table).
pub(crate) const CAPITAL: f64 = 0.727;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    Regular,
    SemiBold,
}

/// The families to look for, the bundled one first. Its semi-bold calls itself a family of its
/// own; viewers that have Inter from elsewhere find the weight in the family.
pub(crate) const fn family(weight: Weight) -> &'static str {
    match weight {
        Weight::Regular => "Inter, Helvetica, Arial, sans-serif",
        Weight::SemiBold => "Inter Semi Bold, Inter, Helvetica, Arial, sans-serif",
    }
}

/// The iterate of Jacobi's method in texts; its index is drawn as a subscript.
const WITH_SUBSCRIPT: &str = "u_J";

/// The size of a subscript, as a share of the font size, and how far it lies below the line.
pub const SUBSCRIPT_SIZE: f64 = 0.7;
pub(crate) const SUBSCRIPT_DROP: f64 = 0.18;

/// A text in parts, of which every second is a subscript: `|u − u_J|` is `|u − u`, `J` and `|`. An underscore
/// in a file's name is one.
pub fn with_subscripts(text: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(WITH_SUBSCRIPT) {
        let (before, after) = (&rest[..at + 1], &rest[at + 2..]);
        let end = after.find(|letter: char| !letter.is_alphanumeric()).unwrap_or(after.len());
        parts.extend([before, &after[..end]]);
        rest = &after[end..];
    }
    parts.push(rest);
    parts
}

/// The width of `text` in pixels at a font size in pixels, but for kerning.
pub(crate) fn width(text: &str, weight: Weight, size: f64) -> f64 {
    // Wider than any letter but W, so that a character without a glyph doesn't end up short.
    const UNKNOWN: f64 = 0.8;
    let Ok(font) = FontRef::new(FONTS[weight as usize]) else {
        return text.chars().count() as f64 * UNKNOWN * size;
    };
    let glyphs = font.charmap();
    // Measured at a size of one thousand: metrics are in single precision.
    let metrics = font.glyph_metrics(Size::new(1000.0), LocationRef::default());
    let advance = |character: char| {
        let advance = glyphs.map(character).and_then(|glyph| metrics.advance_width(glyph));
        advance.map_or(UNKNOWN, |advance| f64::from(advance) / 1000.0)
    };
    text.chars().map(advance).sum::<f64>() * size
}

/// `text`, or as much of it as fits into `room` pixels with an ellipsis at its end.
pub(crate) fn fit(text: &str, weight: Weight, size: f64, room: f64) -> String {
    if width(text, weight, size) <= room {
        return text.to_owned();
    }
    let mut kept = text.to_owned();
    while kept.pop().is_some() {
        let shortened = format!("{}…", kept.trim_end());
        if width(&shortened, weight, size) <= room {
            return shortened;
        }
    }
    String::new()
}

/// `text` in at most `most` lines of `room` pixels, broken at spaces; what doesn't fit into the
/// last line is cut off there.
pub(crate) fn wrap(text: &str, weight: Weight, size: f64, room: f64, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        if let Some(line) = lines.last_mut() {
            let longer = format!("{line} {word}");
            if width(&longer, weight, size) <= room {
                *line = longer;
                continue;
            }
        }
        lines.push(word.to_owned());
    }
    if lines.len() > most {
        let rest = lines.split_off(most.saturating_sub(1)).join(" ");
        lines.push(rest);
    }
    lines.iter().map(|line| fit(line, weight, size, room)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_index_of_an_iterate_is_a_subscript() {
        assert_eq!(with_subscripts("|u − u_J|"), ["|u − u", "J", "|"]);
        assert_eq!(with_subscripts("u − u_Jacobi"), ["u − u", "Jacobi", ""]);
        assert_eq!(with_subscripts("my_file.npy"), ["my_file.npy"]);
    }

    #[test]
    fn longer_texts_are_wider_and_bold_ones_too() {
        let size = |text| width(text, Weight::Regular, 10.0);
        assert_eq!(size(""), 0.0);
        assert!(size("iii") < size("mmm"));
        assert!((width("abc", Weight::Regular, 20.0) - 2.0 * size("abc")).abs() < 1e-9);
        assert!(width("abc", Weight::SemiBold, 10.0) > size("abc"));
    }

    #[test]
    fn what_does_not_fit_is_cut_with_an_ellipsis() {
        let text = "Poisson 2D, k = 32, overlap = 4, tile = 32, cycle 184";
        for room in [0.0, 5.0, 60.0, 100.0, 1000.0] {
            assert!(width(&fit(text, Weight::Regular, 10.0, room), Weight::Regular, 10.0) <= room);
            let lines = wrap(text, Weight::Regular, 10.0, room, 2);
            assert!(lines.len() <= 2);
            assert!(lines.iter().all(|line| width(line, Weight::Regular, 10.0) <= room));
        }
        assert_eq!(fit(text, Weight::Regular, 10.0, 1000.0), text);
        assert!(fit(text, Weight::Regular, 10.0, 60.0).ends_with('…'));
        assert_eq!(wrap(text, Weight::Regular, 10.0, 1000.0, 2), [text]);
        assert_eq!(wrap(text, Weight::Regular, 10.0, 160.0, 2).join(" "), text);
        assert_eq!(wrap("", Weight::Regular, 10.0, 100.0, 2), Vec::<String>::new());
    }
}
