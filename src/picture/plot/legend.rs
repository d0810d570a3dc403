//! The legend of a plot.

use crate::picture::draw::canvas::{Anchor, Canvas, Stroke, round};
use crate::picture::draw::layout::{Area, Layout};
use crate::picture::draw::text::{Weight, fit, width};
use crate::picture::plot::description::{Plot, Series};
use crate::picture::plot::svg::draw_dot;

/// The entries of a legend, and how wide each is.
pub(crate) struct Legend {
    pub entries: Vec<(Series, String, f64)>,
    /// The sample of the line and the room after it.
    sample: f64,
    line_height: f64,
    padding: f64,
}

impl Legend {
    /// Of all series that have a name.
    pub fn new(plot: &Plot, layout: &Layout) -> Self {
        let Layout { unit, .. } = *layout;
        let size = layout.tick_label().size;
        let sample = 2.2 * unit;
        let room = 0.6 * f64::from(layout.width) - sample;
        let mut entries = Vec::new();
        for series in plot.legend(layout.palette.ink) {
            let label = fit(&series.name, Weight::Regular, size, room);
            let entry_width = sample + width(&label, Weight::Regular, size);
            entries.push((series, label, entry_width));
        }
        Self { entries, sample, line_height: 1.35 * unit, padding: 0.6 * unit }
    }

    /// Its width and height as one column.
    pub fn size(&self) -> (f64, f64) {
        let widest = self.entries.iter().map(|entry| entry.2).fold(0.0, f64::max);
        let lines = self.entries.len() as f64 * self.line_height;
        (widest + 2.0 * self.padding, lines + self.padding)
    }

    /// The entries in rows that are no wider than `room`.
    fn rows(&self, room: f64) -> Vec<Vec<&(Series, String, f64)>> {
        let mut rows: Vec<Vec<_>> = Vec::new();
        let mut left = 0.0;
        for entry in &self.entries {
            let needed = entry.2 + 2.0 * self.padding;
            match rows.last_mut() {
                Some(row) if needed <= left => row.push(entry),
                _ => {
                    rows.push(vec![entry]);
                    left = room;
                }
            }
            left -= needed;
        }
        rows
    }

    pub fn height_above(&self, room: f64) -> f64 {
        (self.rows(room).len() as f64 * self.line_height + 0.5 * self.padding).round()
    }

    pub fn draw_inside(&self, canvas: &mut Canvas, layout: &Layout, area: Area) {
        if let Some(background) = layout.background() {
            canvas.rect(area.x, area.y, area.width, area.height, background, 0.85);
        }
        for (index, entry) in self.entries.iter().enumerate() {
            let line = index as f64 + 0.5;
            let y = area.y + 0.5 * self.padding + line * self.line_height;
            self.draw_entry(canvas, layout, area.x + self.padding, y, entry);
        }
    }

    pub fn draw_above(&self, canvas: &mut Canvas, layout: &Layout, plot: Area, top: f64) {
        for (index, row) in self.rows(plot.width).into_iter().enumerate() {
            let y = top + (index as f64 + 0.25) * self.line_height;
            let mut x = plot.x;
            for entry in row {
                self.draw_entry(canvas, layout, x, y, entry);
                x += entry.2 + 2.0 * self.padding;
            }
        }
    }

    fn draw_entry(
        &self,
        canvas: &mut Canvas,
        layout: &Layout,
        x: f64,
        y: f64,
        (series, label, _): &(Series, String, f64),
    ) {
        let sample = self.sample - 0.5 * layout.unit;
        match series.has_dots {
            true => draw_dot(canvas, (x + 0.5 * sample, y), 0.25 * layout.unit, series.colour),
            false => canvas.line(
                &format!("M{} {}h{}", round(x), round(y), round(sample)),
                series_stroke(layout, series),
            ),
        }
        canvas.words(x + self.sample, y, Anchor::Start, layout.tick_label(), label);
    }
}

/// How a series is drawn, in the plot and in the legend.
pub(crate) fn series_stroke(layout: &Layout, series: &Series) -> Stroke {
    let width = (layout.unit / 7.0).max(1.5);
    let dash = series.dashed.then_some(3.0 * width);
    Stroke { dash, ..Stroke::solid(width, series.colour) }
}
