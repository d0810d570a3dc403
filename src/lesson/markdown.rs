//! The Markdown of a lesson, as blocks with the places where they begin.

use super::error::Fault;
use super::measure::Measure;
use super::text::{Paragraph, Piece};
use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd, TextMergeWithOffset};
use std::ops::Range;

/// A block of Markdown.
#[derive(Debug)]
pub(super) enum Block {
    /// Between lines of `+++`: the text, and where it begins.
    FrontMatter(String, usize),
    /// A heading: its level, its text, and where it begins.
    Heading(u8, Paragraph, usize),
    Paragraph(Paragraph, usize),
    /// An entry of a list.
    Item(Paragraph, usize),
    /// A fenced block: what it is, its text, and where that begins.
    Code(String, String, usize),
    /// A quotation.
    Quote(Vec<Block>, usize),
}

/// Something that a lesson cannot have, and where.
pub(super) type Found = (usize, Fault);

/// Reads Markdown. The second value is what a lesson cannot have; it is left out.
pub(super) fn blocks(text: &str) -> (Vec<Block>, Vec<Found>) {
    let options = Options::ENABLE_PLUSES_DELIMITED_METADATA_BLOCKS;
    let events = TextMergeWithOffset::new(Parser::new_ext(text, options).into_offset_iter());
    let mut reader = Reader { events, faults: Vec::new() };
    let blocks = reader.blocks(false);
    (blocks, reader.faults)
}

struct Reader<I> {
    events: I,
    faults: Vec<Found>,
}

impl<'a, I: Iterator<Item = (Event<'a>, Range<usize>)>> Reader<I> {
    /// The blocks up to the end of the one that they are in.
    fn blocks(&mut self, is_quote: bool) -> Vec<Block> {
        let mut blocks = Vec::new();
        while let Some((event, range)) = self.events.next() {
            let at = range.start;
            match event {
                Event::End(_) => break,
                Event::Start(Tag::MetadataBlock(_)) => {
                    let (text, at) = self.verbatim(at);
                    blocks.push(Block::FrontMatter(text, at));
                }
                Event::Start(Tag::Heading { level, .. }) => {
                    blocks.push(Block::Heading(level as u8, self.paragraph(), at));
                }
                Event::Start(Tag::Paragraph) => {
                    blocks.push(Block::Paragraph(self.paragraph(), at));
                }
                Event::Start(Tag::CodeBlock(kind)) => {
                    let (text, start) = self.verbatim(at);
                    match kind {
                        CodeBlockKind::Fenced(what) => {
                            blocks.push(Block::Code(what.trim().to_owned(), text, start));
                        }
                        CodeBlockKind::Indented => {
                            self.faults.push((at, Fault::Markdown("an indented block")));
                        }
                    }
                }
                Event::Start(Tag::BlockQuote(_)) if is_quote => {
                    self.paragraph();
                    self.faults.push((at, Fault::Markdown("a quotation in a quotation")));
                }
                Event::Start(Tag::BlockQuote(_)) => {
                    blocks.push(Block::Quote(self.blocks(true), at));
                }
                Event::Start(Tag::List(_)) => blocks.extend(self.blocks(is_quote)),
                Event::Start(Tag::Item) => blocks.push(Block::Item(self.paragraph(), at)),
                Event::Start(Tag::HtmlBlock) => {
                    self.verbatim(at);
                    self.faults.push((at, Fault::Markdown("HTML")));
                }
                Event::Rule => self.faults.push((at, Fault::Markdown("a line"))),
                _ => self.faults.push((at, Fault::Markdown("this"))),
            }
        }
        blocks
    }

    /// The text up to the end of a block, and where it begins.
    fn verbatim(&mut self, at: usize) -> (String, usize) {
        let (mut text, mut start) = (String::new(), None);
        for (event, range) in self.events.by_ref() {
            match event {
                Event::End(_) => break,
                Event::Text(part) | Event::Html(part) => {
                    start.get_or_insert(range.start);
                    text.push_str(&part);
                }
                _ => {}
            }
        }
        (text, start.unwrap_or(at))
    }

    /// The text up to the end of a paragraph, a heading or an entry of a list.
    fn paragraph(&mut self) -> Paragraph {
        let mut pieces = Vec::new();
        let mut depth = 0_usize;
        let (mut is_strong, mut is_emphasis) = (false, false);
        while let Some((event, range)) = self.events.next() {
            match event {
                Event::Start(tag) => {
                    depth += 1;
                    match tag {
                        Tag::Strong => is_strong = true,
                        Tag::Emphasis => is_emphasis = true,
                        // That of a list whose entries are apart.
                        Tag::Paragraph => {}
                        Tag::Link { .. } => {
                            self.faults.push((range.start, Fault::Markdown("a link")));
                        }
                        Tag::Image { .. } => {
                            self.faults.push((range.start, Fault::Markdown("an image")));
                        }
                        _ => self.faults.push((range.start, Fault::Markdown("a list in a list"))),
                    }
                }
                Event::End(_) if depth == 0 => break,
                Event::End(tag) => {
                    depth -= 1;
                    match tag {
                        TagEnd::Strong => is_strong = false,
                        TagEnd::Emphasis => is_emphasis = false,
                        _ => {}
                    }
                }
                Event::Text(text) => {
                    let piece = match (is_strong, is_emphasis) {
                        (true, _) => Piece::Strong,
                        (_, true) => Piece::Emphasis,
                        _ => Piece::Plain,
                    };
                    self.with_values(&text, range.start, piece, &mut pieces);
                }
                Event::Code(code) => pieces.push(Piece::Code(code.into_string())),
                Event::SoftBreak | Event::HardBreak => pieces.push(Piece::Plain(" ".to_owned())),
                Event::InlineHtml(_) => {
                    self.faults.push((range.start, Fault::Markdown("HTML")));
                }
                _ => {}
            }
        }
        Paragraph(merged(pieces))
    }

    /// A text with the values in it: `{{edge_share}}`.
    fn with_values(
        &mut self,
        text: &str,
        at: usize,
        piece: fn(String) -> Piece,
        pieces: &mut Vec<Piece>,
    ) {
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{{") {
            let Some((name, after)) = after.split_once("}}") else { break };
            if !before.is_empty() {
                pieces.push(piece(before.to_owned()));
            }
            match Measure::named(name.trim()) {
                Ok(measure) => pieces.push(Piece::Value(measure)),
                Err(fault) => self.faults.push((at, fault)),
            }
            rest = after;
        }
        if !rest.is_empty() {
            pieces.push(piece(rest.to_owned()));
        }
    }
}

/// The same with plain pieces that follow one another made one.
fn merged(pieces: Vec<Piece>) -> Vec<Piece> {
    let mut merged: Vec<Piece> = Vec::new();
    for piece in pieces {
        match (merged.last_mut(), piece) {
            (Some(Piece::Plain(text)), Piece::Plain(more)) => text.push_str(&more),
            (_, piece) => merged.push(piece),
        }
    }
    merged
}
