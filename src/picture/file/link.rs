//! A run, and what is shown of it, as text that a link can carry.
//!
//! The description of the run and that of the view, as a figure carries them, with a zero between them; compressed
//! (RFC 1951), in the digits of URLs (base64url, RFC 4648) without padding.

use super::saved::Opened;
use crate::picture::view::spec::ViewSpec;
use crate::run::{RunSpec, SpecError, toml_message};
use base64::prelude::{BASE64_URL_SAFE_NO_PAD, Engine as _};
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use std::io::{Read, Write};

/// Bytes of descriptions that a link may stand for; a usual one has a thousand.
const LONGEST: u64 = 1 << 20;

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
    BASE64_URL_SAFE_NO_PAD.encode(packed.finish().unwrap_or_default())
}

/// Reads the text of a link.
///
/// # Errors
/// [`LinkError`] if it was changed, or what it holds is not valid.
pub fn read_link(text: &str) -> Result<Opened, LinkError> {
    let packed = BASE64_URL_SAFE_NO_PAD.decode(text).map_err(|_| LinkError::Damaged)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::any::view;
    use crate::run::any::run;
    use proptest::prelude::*;

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
        fn any_text_is_read_or_refused(text in "[A-Za-z0-9_-]{0,60}") {
            _ = read_link(&text);
        }
    }
}
