//! The 256 colours of a GIF: those of the colour map, and those of text and lines.

use crate::picture::ColourMap;
use std::collections::HashMap;

/// Colours beside one that stands for no change.
pub(super) const MOST: usize = 255;

/// The most colours of the map; the others are those that the palette represents worst.
const OF_THE_MAP: usize = 192;

/// The colours, and which of them stands for a colour that was met.
pub(super) struct GifPalette {
    colours: Vec<[u8; 3]>,
    known: HashMap<[u8; 3], u8>,
}

impl GifPalette {
    /// The palette for pictures like these: their very colours if they are few enough, or else as
    /// many of the map's as show, evenly spread, and then one by one the colour that is the
    /// farthest from all that were taken, often-seen ones first.
    pub fn of(pixels: &[[u8; 3]], map: ColourMap) -> Self {
        let mut counts: HashMap<[u8; 3], u32> = HashMap::new();
        // Most pixels are like the one before.
        for run in pixels.chunk_by(PartialEq::eq) {
            *counts.entry(run[0]).or_default() += run.len() as u32;
        }
        let mut seen: Vec<_> = counts.into_iter().collect();
        // In an order that does not depend on the table's.
        seen.sort_unstable_by_key(|(colour, count)| (u32::MAX - count, *colour));
        let mut colours: Vec<[u8; 3]> = Vec::with_capacity(MOST);
        if seen.len() > MOST {
            let table = map.table().iter().map(|[r, g, b, _]| [*r, *g, *b]);
            let shown: Vec<_> = table.filter(|one| seen.iter().any(|(c, _)| c == one)).collect();
            let step = shown.len().div_ceil(OF_THE_MAP).max(1);
            colours.extend(shown.into_iter().step_by(step));
        }
        let far = |colour: &[u8; 3]| {
            let nearest = colours.iter().map(|taken| distance(*taken, *colour)).min();
            nearest.unwrap_or(u32::MAX)
        };
        let mut left: Vec<_> =
            seen.iter().map(|(colour, count)| (*colour, *count, far(colour))).collect();
        while colours.len() < MOST {
            let worth =
                |(_, count, far): &([u8; 3], u32, u32)| f64::from(*far) * f64::from(*count).sqrt();
            let best = left.iter().filter(|(.., far)| *far > 0);
            let Some((colour, ..)) = best.max_by(|a, b| worth(a).total_cmp(&worth(b))) else {
                break;
            };
            let colour = *colour;
            for (other, _, far) in &mut left {
                *far = (*far).min(distance(*other, colour));
            }
            colours.push(colour);
        }
        Self { colours, known: HashMap::new() }
    }

    /// Red, green and blue of each colour, one after the other, up to the power of two that the
    /// format wants; the last stands for no change.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.colours.iter().flatten().copied().collect();
        bytes.resize(3 * (MOST + 1), 0);
        bytes
    }

    /// The colour that is nearest to another.
    pub fn index(&mut self, colour: [u8; 3]) -> u8 {
        *self.known.entry(colour).or_insert_with(|| {
            let by_distance = |taken: &(usize, &[u8; 3])| distance(*taken.1, colour);
            let nearest = self.colours.iter().enumerate().min_by_key(by_distance);
            nearest.map_or(0, |(index, _)| index as u8)
        })
    }
}

/// How different two colours look: the square of their distance, with the weights of redmean
/// (Thiadmer Riemersma, compuphase.com/cmetric.htm).
fn distance(a: [u8; 3], b: [u8; 3]) -> u32 {
    let [r, g, bl] = [0, 1, 2].map(|channel| i32::from(a[channel]) - i32::from(b[channel]));
    let mean = (i32::from(a[0]) + i32::from(b[0])) / 2;
    let squares = (512 + mean) * r * r / 256 + 4 * g * g + (767 - mean) * bl * bl / 256;
    squares.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_colours_are_kept_as_they_are() {
        let colours: Vec<_> = (0..255_u8).map(|step| [step, 255 - step, 7]).collect();
        let mut palette = GifPalette::of(&colours, ColourMap::Grey);
        let bytes = palette.bytes();
        assert_eq!(bytes.len(), 768);
        for colour in colours {
            let index = usize::from(palette.index(colour));
            assert_eq!(bytes[3 * index..][..3], colour);
        }
    }

    #[test]
    fn a_colour_map_and_letters_are_hardly_off() {
        let map = ColourMap::Inferno.table().iter().map(|[r, g, b, _]| [*r, *g, *b]);
        let greys = (0..=255_u8).map(|step| [step; 3]);
        let all: Vec<_> = map.chain(greys).collect();
        let mut palette = GifPalette::of(&all, ColourMap::Inferno);
        let bytes = palette.bytes();
        for colour in all {
            let index = usize::from(palette.index(colour));
            let shown = [0, 1, 2].map(|channel| bytes[3 * index + channel]);
            let off = colour.iter().zip(shown).map(|(a, b)| a.abs_diff(b)).max();
            assert!(index < MOST && off <= Some(6), "{colour:?} is shown as {shown:?}");
        }
    }
}
