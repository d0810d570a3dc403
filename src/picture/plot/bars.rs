//! Bars drawn to scale, in groups: what each is called stands above it, with its number.

use crate::picture::colour::theme::Rgb;
use crate::picture::draw::canvas::{Anchor, Style, round};
use crate::picture::draw::layout::{Head, Layout, Page};
use crate::picture::draw::text::{Weight, fit, wrap};

/// The opacity of the second part of a bar.
pub const SECOND_PART: f64 = 0.45;

/// The most lines of the notes.
const MOST_NOTES: usize = 4;

/// Bars in groups, without a word of how they are painted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarChart {
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
    /// Red, green, blue.
    pub colour: [u8; 3],
    /// Its two parts, the first one from the left; the second is fainter.
    pub parts: [f64; 2],
}

impl BarGroup {
    /// Where the parts of a bar end, as shares of the width of the chart.
    pub fn ends(&self, bar: &Bar) -> [f64; 2] {
        let share = |value: f64| if self.longest > 0.0 { value / self.longest } else { 0.0 };
        [share(bar.parts[0]), share(bar.parts[0] + bar.parts[1])]
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
        let room =
            (bottom - head.height - words) / (bars + 0.6 * self.groups.len() as f64).max(1.0);
        let thickness = room.clamp(2.0, 2.0 * unit).floor();
        let mut y = head.height;
        for group in &self.groups {
            canvas.words(left, y + 0.6 * unit, Anchor::Start, name, &group.name);
            y += 1.5 * unit;
            for bar in &group.bars {
                let text = fit(&bar.label, label.weight, label.size, width);
                canvas.words(left, y + 0.5 * unit, Anchor::Start, label, &text);
                y += 1.25 * unit;
                let [first, end] = group.ends(bar).map(|share| share * width);
                let colour: Rgb = bar.colour;
                canvas.rect(left, y, first, thickness, colour, 1.0);
                canvas.rect(left + first, y, end - first, thickness, colour, SECOND_PART);
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
