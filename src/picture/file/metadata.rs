//! The run and the view that a figure carries, as XML: in the `<metadata>` of an SVG, in the XMP packet of a PDF.
//!
//! An XMP packet (ISO 16684-1) is found by its marks, without reading the file that it is in.

use resvg::usvg::roxmltree::{self, Document};

/// The keyword of the run's description; the same names its element in XML and its text in a PNG.
pub(super) const RUN: &str = "tilescope";

/// The keyword of the view.
pub(super) const VIEW: &str = "tilescope-view";

/// The XML namespace of both.
pub(super) const NAMESPACE: &str = "urn:tilescope";

/// How an XMP packet begins and ends.
const PACKET_BEGIN: &[u8] = b"<?xpacket begin=";
const PACKET_END: &[u8] = b"<?xpacket end=";

/// The run and the view that were found.
pub(super) type Texts = (Option<String>, Option<String>);

/// Puts texts into an SVG document, right after its first tag. Without texts it stays as it is.
pub(super) fn in_svg(svg: &str, texts: &[(&str, String)]) -> String {
    if texts.is_empty() {
        return svg.to_owned();
    }
    let Some(after) =
        svg.find("<svg").and_then(|tag| svg[tag..].find('>').map(|end| tag + end + 1))
    else {
        return svg.to_owned();
    };
    let (head, body) = svg.split_at(after);
    let texts = elements(texts);
    format!("{head}\n<metadata xmlns:t=\"{NAMESPACE}\">{texts}\n</metadata>{body}")
}

/// The texts as an XMP packet; without texts it does not name their namespace.
pub(super) fn packet(texts: &[(&str, String)]) -> String {
    let namespace = match texts {
        [] => String::new(),
        _ => format!(r#" xmlns:t="{NAMESPACE}""#),
    };
    // The value of `begin` is the byte order mark, the id is that of the standard; `r` is for "read only".
    format!(
        r#"<?xpacket begin="{}" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about=""{namespace}>{}
</rdf:Description>
</rdf:RDF>
</x:xmpmeta>
<?xpacket end="r"?>"#,
        '\u{feff}',
        elements(texts)
    )
}

/// The texts of an SVG document.
///
/// # Errors
/// What is wrong with it.
pub(super) fn of_svg(svg: &str) -> Result<Texts, String> {
    let damaged = |error: roxmltree::Error| format!("line {} is not valid XML", error.pos().row);
    let document = Document::parse(svg).map_err(damaged)?;
    if document.root_element().tag_name().name() != "svg" {
        return Err("its first element is not <svg>".to_owned());
    }
    Ok(texts(&document))
}

/// The texts of the first XMP packet that has some.
pub(super) fn of_packets(bytes: &[u8]) -> Texts {
    let find = |bytes: &[u8], mark: &[u8]| bytes.windows(mark.len()).position(|at| at == mark);
    let mut rest = bytes;
    while let Some(begin) = find(rest, PACKET_BEGIN) {
        rest = &rest[begin..];
        let Some(end) = find(rest, PACKET_END) else { break };
        let (packet, after) = rest.split_at(end);
        let document = str::from_utf8(packet).ok().and_then(|xml| Document::parse(xml).ok());
        match document.map(|document| texts(&document)) {
            Some((Some(run), view)) => return (Some(run), view),
            _ => rest = after,
        }
    }
    (None, None)
}

fn texts(document: &Document<'_>) -> Texts {
    let text = |key: &str| {
        let mut nodes = document.descendants();
        let node = nodes.find(|node| node.has_tag_name((NAMESPACE, key)))?;
        Some(node.text().unwrap_or_default().to_owned())
    };
    (text(RUN), text(VIEW))
}

fn elements(texts: &[(&str, String)]) -> String {
    texts.iter().map(|(key, text)| format!("\n<t:{key}>{}</t:{key}>", escaped(text))).collect()
}

/// Line by line as it is: TOML has no other control characters.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_found_among_other_bytes_and_after_other_packets() {
        let run = "shape = [3]\n# <&> ‖r‖\n".to_owned();
        let own = packet(&[(RUN, run.clone()), (VIEW, String::new())]);
        let foreign = own.replace(NAMESPACE, "urn:other");
        let damaged = &own[..own.len() - 40];
        let bytes = format!("%PDF-1.7\n{foreign}\n{damaged}\n<?xpacket end=\n{own}\nendstream");
        let mut bytes = bytes.into_bytes();
        assert_eq!(of_packets(&bytes), (Some(run), Some(String::new())));
        bytes.truncate(bytes.len() - 60);
        bytes.extend([0xff, 0xfe]);
        assert_eq!(of_packets(&bytes), (None, None));
    }
}
