//! The fonts of a page: only the letters that it shows, each with the text that it stands for.

use super::compressed;
use pdf_writer::types::{CidFontType, FontFlags, SystemInfo, UnicodeCmap};
use pdf_writer::{Filter, Finish, Name, Pdf, Rect, Ref, Str};
use resvg::usvg::fontdb::{Database, ID};
use resvg::usvg::layout::PositionedGlyph;
use skrifa::instance::{LocationRef, Size};
use skrifa::raw::TableProvider;
use skrifa::{FontRef, GlyphId, MetadataProvider, Tag};
use std::collections::BTreeMap;
use subsetter::{GlyphRemapper, subset};

/// How letters are numbered: as the subset of the font numbers them.
const NUMBERING: SystemInfo<'_> =
    SystemInfo { registry: Str(b"Adobe"), ordering: Str(b"Identity"), supplement: 0 };

/// Thousandths of an em are the unit of widths and heights.
const EM: f32 = 1000.0;

/// The width of stems, which a reader needs only to replace a font.
const STEM: f32 = 80.0;

/// The name of a font in the content of the page.
pub(super) fn name(index: usize) -> Vec<u8> {
    format!("F{index}").into_bytes()
}

/// The fonts in the order of their first letters.
pub(super) struct Fonts<'a> {
    database: &'a Database,
    fonts: Vec<Font<'a>>,
}

impl<'a> Fonts<'a> {
    pub fn new(database: &'a Database) -> Self {
        Self { database, fonts: Vec::new() }
    }

    /// A font and its number in the page; `None` if it cannot be read.
    pub fn numbered(&mut self, id: ID) -> Option<(usize, &mut Font<'a>)> {
        let index = match self.fonts.iter().position(|font| font.id == id) {
            Some(index) => index,
            None => {
                self.fonts.push(Font::new(self.database, id)?);
                self.fonts.len() - 1
            }
        };
        self.fonts.get_mut(index).map(|font| (index, font))
    }

    pub fn all(self) -> Vec<Font<'a>> {
        self.fonts
    }
}

/// A font, as far as the page shows it.
pub(super) struct Font<'a> {
    database: &'a Database,
    id: ID,
    pub units_per_em: f32,
    /// From the numbers of glyphs in the font to those in the subset: the codes in the page.
    codes: GlyphRemapper,
    /// The width of each code in ems, and the text that it stands for.
    letters: BTreeMap<u16, (f32, String)>,
}

impl<'a> Font<'a> {
    fn new(database: &'a Database, id: ID) -> Option<Self> {
        let units = |font: &FontRef<'_>| Some(f32::from(font.head().ok()?.units_per_em()));
        let units_per_em = of_face(database, id, units)?;
        Some(Self {
            database,
            id,
            units_per_em,
            codes: GlyphRemapper::new(),
            letters: BTreeMap::new(),
        })
    }

    /// The code of a glyph, and its width in ems; `None` for a glyph that the font does not have.
    pub fn code(&mut self, glyph: &PositionedGlyph) -> Option<(u16, f32)> {
        let number = u16::try_from(glyph.id.0).ok()?;
        let code = self.codes.remap(number);
        if let Some((width, _)) = self.letters.get(&code) {
            return Some((code, *width));
        }
        let advance = |font: &FontRef<'_>| {
            let metrics = font.glyph_metrics(Size::unscaled(), LocationRef::default());
            metrics.advance_width(GlyphId::from(number))
        };
        let width = of_face(self.database, self.id, advance)? / self.units_per_em;
        self.letters.insert(code, (width, glyph.text.clone()));
        Some((code, width))
    }

    /// Writes the font as the object `id` and those after `next`; `None` if it has no outlines of the kind that the
    /// fonts of the program have (CFF).
    pub fn write(&self, pdf: &mut Pdf, id: Ref, next: &mut Ref) -> Option<()> {
        let [descendant, descriptor, text, file] = std::array::from_fn(|_| next.bump());
        let face = self.database.face(self.id)?;
        // A subset is marked by six letters.
        let name = format!("TILESC+{}", face.post_script_name);
        let cff = self.database.with_face_data(self.id, |data, index| {
            let subset = subset(data, index, &self.codes).ok()?;
            let font = FontRef::new(&subset).ok()?;
            font.table_data(Tag::new(b"CFF ")).map(|table| table.as_bytes().to_vec())
        })??;
        pdf.type0_font(id)
            .base_font(Name(format!("{name}-Identity-H").as_bytes()))
            .encoding_predefined(Name(b"Identity-H"))
            .descendant_font(descendant)
            .to_unicode(text);
        let mut font = pdf.cid_font(descendant);
        font.subtype(CidFontType::Type0).base_font(Name(name.as_bytes()));
        font.system_info(NUMBERING).font_descriptor(descriptor).default_width(0.0);
        let mut widths = font.widths();
        for (&code, (width, _)) in &self.letters {
            widths.consecutive(code, [EM * width]);
        }
        widths.finish();
        font.finish();
        of_face(self.database, self.id, |font| {
            let metrics = font.metrics(Size::new(EM), LocationRef::default());
            let bounds = metrics.bounds.unwrap_or_default();
            pdf.font_descriptor(descriptor)
                .name(Name(name.as_bytes()))
                .flags(FontFlags::SYMBOLIC)
                .bbox(Rect::new(bounds.x_min, bounds.y_min, bounds.x_max, bounds.y_max))
                .italic_angle(metrics.italic_angle)
                .ascent(metrics.ascent)
                .descent(metrics.descent)
                .cap_height(metrics.cap_height.unwrap_or(metrics.ascent))
                .stem_v(STEM)
                .font_file3(file);
            Some(())
        })?;
        let mut texts = UnicodeCmap::<u16>::new(Name(b"Text"), NUMBERING);
        for (&code, (_, text)) in self.letters.iter().filter(|(_, (_, text))| !text.is_empty()) {
            texts.pair_with_multiple(code, text.chars());
        }
        pdf.stream(text, &compressed(&texts.finish())).filter(Filter::FlateDecode);
        let cff = compressed(&cff);
        let mut stream = pdf.stream(file, &cff);
        stream.filter(Filter::FlateDecode);
        stream.pair(Name(b"Subtype"), Name(b"CIDFontType0C"));
        Some(())
    }
}

/// What is read of a font; `None` if that cannot be.
fn of_face<T>(
    database: &Database,
    id: ID,
    read: impl FnOnce(&FontRef<'_>) -> Option<T>,
) -> Option<T> {
    database.with_face_data(id, |data, index| read(&FontRef::from_index(data, index).ok()?))?
}
