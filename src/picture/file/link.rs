//! A run, and what is shown of it, as text that a link can carry.
//!
//! The description of the run and that of the view, as a figure carries them, with a zero between them; compressed
//! (RFC 1951), in the digits of URLs (base64url, RFC 4648) without padding.

use super::saved::Opened;
use crate::picture::view::spec::ViewSpec;
use crate::run::{RunSpec, SpecError, toml_message};
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use std::io::{Read, Write};

/// Bytes of descriptions that a link may stand for; a usual one has a thousand.
const LONGEST: u64 = 1 << 20;

/// The digits, of six bits each.
const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Why a link cannot be opened; one sentence.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// The text was cut or changed.
    #[error("the link is cut short or changed: it holds no run")]
    Damaged,
    /// Its run is invalid.
    #[error(transparent)]
    Run(#[from] SpecError),
    /// Its view is invalid.
    #[error("the view of the link is not valid: {}", toml_message(.0))]
    View(#[from] Box<toml::de::Error>),
}

/// A run and what is shown of it as the text of a link.
pub fn link_text(opened: &Opened) -> String {
    let mut text = opened.run.to_toml();
    if let Some(view) = &opened.view {
        text.push('\0');
        // A view is numbers and names: it can always be written.
        text.push_str(&toml::to_string(view).unwrap_or_default());
    }
    let mut packed = DeflateEncoder::new(Vec::new(), Compression::best());
    // Writing to memory does not fail.
    _ = packed.write_all(text.as_bytes());
    in_digits(&packed.finish().unwrap_or_default())
}

/// Reads the text of a link.
///
/// # Errors
/// [`LinkError`] if it was changed, or what it holds is not valid.
pub fn read_link(text: &str) -> Result<Opened, LinkError> {
    let packed = of_digits(text).ok_or(LinkError::Damaged)?;
    let mut text = String::new();
    let mut unpacked = DeflateDecoder::new(&*packed).take(LONGEST + 1);
    unpacked.read_to_string(&mut text).map_err(|_| LinkError::Damaged)?;
    if text.len() as u64 > LONGEST {
        return Err(LinkError::Damaged);
    }
    let (run, view) = match text.split_once('\0') {
        Some((run, view)) => (run, Some(view)),
        None => (&*text, None),
    };
    let run = RunSpec::from_toml(run, "the link")?;
    let view = view.map(ViewSpec::from_toml).transpose().map_err(Box::new)?;
    Ok(Opened { run, view })
}

/// Bytes in digits of six bits, the last one filled with zeros.
fn in_digits(bytes: &[u8]) -> String {
    let mut text = String::with_capacity((bytes.len() * 4).div_ceil(3));
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        let digit = |place: usize| char::from(DIGITS[(bits >> (18 - 6 * place)) as usize & 63]);
        text.extend((0..=chunk.len()).map(digit));
    }
    text
}

/// The bytes of digits; `None` if one is none, or if there are too few.
fn of_digits(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() * 3 / 4);
    for chunk in text.as_bytes().chunks(4) {
        if chunk.len() < 2 {
            return None;
        }
        let mut bits = 0;
        for place in 0..4 {
            let value = match chunk.get(place) {
                Some(digit) => DIGITS.iter().position(|other| other == digit)?,
                None => 0,
            };
            bits = bits << 6 | value as u32;
        }
        bytes.extend(&bits.to_be_bytes()[1..chunk.len()]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::any::view;
    use crate::run::any::run;
    use proptest::prelude::*;

    #[test]
    fn digits_are_those_of_rfc_4648() {
        for (bytes, text) in [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(in_digits(bytes.as_bytes()), text);
        }
        assert_eq!(in_digits(&[0xfb, 0xff]), "-_8");
    }

    #[test]
    fn a_changed_link_is_refused() {
        let text = link_text(&Opened { run: RunSpec::default(), view: None });
        for changed in ["", "A", "!!", &text[..text.len() / 2]] {
            assert!(read_link(changed).is_err(), "{changed}");
        }
        assert!(text.len() < 2000, "{}", text.len());
    }

    proptest! {
        #[test]
        fn a_link_is_read_as_it_was_written(
            run in run(),
            view in proptest::option::of(view()),
        ) {
            let opened = Opened { run, view };
            prop_assert_eq!(read_link(&link_text(&opened)).unwrap(), opened);
        }

        #[test]
        fn bytes_are_read_as_they_were_written(bytes: Vec<u8>) {
            prop_assert_eq!(of_digits(&in_digits(&bytes)), Some(bytes));
        }

        #[test]
        fn any_text_is_read_or_refused(text in "[A-Za-z0-9_-]{0,60}") {
            _ = read_link(&text);
        }
    }
}
