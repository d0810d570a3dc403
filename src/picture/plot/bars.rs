//! Bars drawn to scale, in groups: what each is called stands above it, with its number.

use crate::picture::draw::canvas::{Anchor, Style, round};
use crate::picture::draw::layout::{Head, Layout, Page};
use crate::picture::draw::text::{Weight, fit, width as text_width, wrap};

/// The opacity of the second part of a bar.
pub const SECOND_PART: f64 = 0.45;

/// The height of the legend, in units of the layout.
const LEGEND: f64 = 1.8;

/// The most lines of the notes.
const MOST_NOTES: usize = 4;

/// Bars in groups, without a word of how they are painted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarChart {
    /// What the colours of parts stand for; empty where labels say it.
    pub legend: Vec<(&'static str, [u8; 3])>,
    /// From top to bottom.
    pub groups: Vec<BarGroup>,
    /// Sentences below the bars.
    pub notes: String,
}

/// Bars of one quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct BarGroup {
    /// What they show.
    pub name: String,
    /// The value of a bar as long as the chart is wide. Groups of one unit have the same.
    pub longest: f64,
    /// From top to bottom.
    pub bars: Vec<Bar>,
}

/// One bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// What it belongs to, and its numbers.
    pub label: String,
    /// Its parts, from the left.
    pub parts: Vec<BarPart>,
}

/// A part of a bar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BarPart {
    /// Its length.
    pub value: f64,
    /// Red, green, blue.
    pub colour: [u8; 3],
    /// 0 to 1.
    pub opacity: f64,
}

impl Bar {
    /// A bar of two parts in one colour, the second of which is fainter.
    pub fn of_two(label: String, colour: [u8; 3], [first, second]: [f64; 2]) -> Self {
        let part = |value, opacity| BarPart { value, colour, opacity };
        Self { label, parts: vec![part(first, 1.0), part(second, SECOND_PART)] }
    }

    /// The values of all its parts together.
    pub fn total(&self) -> f64 {
        self.parts.iter().map(|part| part.value).sum()
    }
}

impl BarGroup {
    /// Where each part of a bar begins and ends, as shares of the width of the chart.
    pub fn parts<'a>(&self, bar: &'a Bar) -> impl Iterator<Item = ([f64; 2], &'a BarPart)> {
        let longest = self.longest;
        let share = move |value: f64| if longest > 0.0 { value / longest } else { 0.0 };
        bar.parts.iter().scan(0.0, move |start, part| {
            let ends = [share(*start), share(*start + part.value)];
            *start += part.value;
            Some((ends, part))
        })
    }
}

impl BarChart {
    /// The chart as an SVG document with title and settings, both of which may be empty.
    pub fn svg(&self, title: &str, subtitle: &str, page: &Page) -> String {
        let layout = Layout::new(page);
        let unit = layout.unit;
        let mut canvas = layout.canvas();
        let head = Head::new(&layout, title, subtitle);
        let (left, width) = (layout.margin(), f64::from(layout.width) - 2.0 * layout.margin());
        head.draw(&mut canvas, &layout, 0.0, &[left]);
        let label = layout.tick_label();
        let name = Style { weight: Weight::SemiBold, ..layout.label() };
        let notes = wrap(&self.notes, label.weight, label.size, width, MOST_NOTES);
        let line = 1.3 * label.size;
        let bottom = f64::from(layout.height) - layout.margin() - line * notes.len() as f64;
        let bars = self.groups.iter().map(|group| group.bars.len()).sum::<usize>() as f64;
        let words = 1.5 * unit * self.groups.len() as f64 + 1.25 * unit * bars;
        // What words leave is shared by the bars, and by as much room below each group.
        let legend = if self.legend.is_empty() { 0.0 } else { LEGEND * unit };
        let room = (bottom - head.height - legend - words)
            / (bars + 0.6 * self.groups.len() as f64).max(1.0);
        let thickness = room.clamp(2.0, 2.0 * unit).floor();
        let mut y = head.height;
        if !self.legend.is_empty() {
            let (square, mut x) = (0.7 * unit, left);
            for (text, colour) in &self.legend {
                canvas.rect(x, y + 0.15 * unit, square, square, *colour, 1.0);
                canvas.words(x + 1.1 * unit, y + 0.5 * unit, Anchor::Start, label, text);
                x += 2.4 * unit + text_width(text, label.weight, label.size);
            }
            y += LEGEND * unit;
        }
        for group in &self.groups {
            canvas.words(left, y + 0.6 * unit, Anchor::Start, name, &group.name);
            y += 1.5 * unit;
            for bar in &group.bars {
                let text = fit(&bar.label, label.weight, label.size, width);
                canvas.words(left, y + 0.5 * unit, Anchor::Start, label, &text);
                y += 1.25 * unit;
                for (ends, part) in group.parts(bar) {
                    let [start, end] = ends.map(|share| share * width);
                    canvas.rect(left + start, y, end - start, thickness, part.colour, part.opacity);
                }
                y += thickness;
            }
            y += 0.6 * thickness;
        }
        let soft = Style { colour: layout.palette.soft, ..label };
        for (index, text) in notes.iter().enumerate() {
            let y = round(bottom + line * (index as f64 + 0.6));
            canvas.words(left, y, Anchor::Start, soft, text);
        }
        canvas.finish()
    }
}
