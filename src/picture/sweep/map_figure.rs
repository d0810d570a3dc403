//! The figure of a map of k × overlap, of tile × overlap, or of height × budget.

use crate::picture::axis::ticks::{Tick, bar_ticks};
use crate::picture::colour::map::COLOURS;
use crate::picture::draw::canvas::{Anchor, Canvas, Stroke, Style, round};
use crate::picture::draw::layout::{Area, Head, Layout, room_for};
use crate::picture::draw::text::{Weight, width};
use crate::picture::plot::heat_map::{BAR_APART, draw_pixels};
use crate::picture::sweep::map::{MAP_COLOURS, SweepMap, ink_on};
use crate::picture::view::figure_spec::FigureSpec;

/// A map with what stands around it.
pub struct MapFigure<'a> {
    pub title: String,
    pub subtitle: String,
    pub value_label: &'a str,
    pub map: SweepMap<'a>,
}

impl MapFigure<'_> {
    /// The map as SVG.
    pub fn svg(&self, spec: &FigureSpec) -> String {
        let layout = Layout::new(&spec.page());
        let mut canvas = layout.canvas();
        let head = Head::new(&layout, &self.title, &self.subtitle);
        let scale = &self.map.scale;
        let unit = layout.unit;
        let (w, h) = (f64::from(layout.width), f64::from(layout.height));
        let margin = layout.margin();
        let top = head.height.max(margin + 0.5 * unit);
        let room_down =
            (h - top - margin - layout.x_axis_height(self.map.across.name)).floor().max(8.0);
        let y_ticks = listed(&self.map.down.labels, room_for(room_down, 1.6 * unit, 40));
        let most = room_for(room_down, 2.6 * unit, 12);
        let bar_ticks = bar_ticks(scale, most, BAR_APART * unit / room_down);
        let mark = layout.mark() + layout.gap() + layout.hairline();
        let [rows, columns] = [self.map.down.name, self.map.across.name];
        let left = layout.upright_label_width(rows) + layout.widest(&y_ticks) + mark;
        let (bar_width, bar_gap) = ((1.1 * unit).round(), (1.3 * unit).round());
        let bar_labels = mark + layout.widest(&bar_ticks) + layout.gap();
        let right = bar_gap + bar_width + bar_labels + layout.upright_label_width(self.value_label);
        let room_across = (w - 2.0 * margin - left - right).floor().max(8.0);
        let area =
            Area { x: (margin + left).round(), y: top, width: room_across, height: room_down };
        let bar = Area { x: area.right() + bar_gap, width: bar_width, ..area };

        head.draw(&mut canvas, &layout, 0.0, &[area.x, margin]);
        self.draw_cells(&mut canvas, &layout, area);
        let colours = MAP_COLOURS.table().iter().rev().flatten().copied().collect();
        draw_pixels(&mut canvas, bar, 1, COLOURS, colours);
        layout.frame(&mut canvas, bar);
        let size = layout.tick_label().size;
        let columns_of = &self.map.across.labels;
        let longest = columns_of.last().map_or("", String::as_str);
        let each = width(longest, Weight::Regular, size) + 1.2 * unit;
        let x_ticks = listed(columns_of, room_for(area.width, each, 40));
        layout.x_axis(&mut canvas, area, &x_ticks, columns);
        let k_x = area.x - mark - layout.widest(&y_ticks) - layout.gap() - 0.5 * unit;
        layout.y_axis(&mut canvas, area, &y_ticks, true, (rows, k_x));
        let value_x = bar.right() + bar_labels + 0.5 * unit;
        layout.right_axis(&mut canvas, area, bar, &bar_ticks, (self.value_label, value_x));
        canvas.finish()
    }

    fn draw_cells(&self, canvas: &mut Canvas, layout: &Layout, area: Area) {
        canvas.rect(area.x, area.y, area.width, area.height, layout.palette.missing, 1.0);
        for (down, row) in self.map.cells.iter().enumerate() {
            for (across, shown) in row.iter().enumerate() {
                let cell = self.cell(area, across, down);
                let colour = shown.shown().map(|value| self.map.colour(value));
                let ink = colour.map_or(layout.palette.axis, ink_on);
                if shown.cannot_run.is_some() {
                    cross(canvas, layout, cell);
                } else if let Some(colour) = colour {
                    canvas.rect(cell.x, cell.y, cell.width, cell.height, colour, 1.0);
                    if !shown.is_measured() {
                        hatch(canvas, layout, cell, ink);
                    }
                }
                if shown.is_equal {
                    let side = (0.35 * layout.unit).max(2.0).min(0.5 * cell.width);
                    let inset = 0.5 * side;
                    canvas.rect(cell.right() - side - inset, cell.y + inset, side, side, ink, 1.0);
                }
                if let Some(text) = shown.text() {
                    let style = layout.tick_label();
                    let room = cell.width - 0.6 * layout.unit;
                    if width(&text, style.weight, style.size) <= room
                        && cell.height >= 1.3 * style.size
                    {
                        let at = (cell.x + 0.5 * cell.width, cell.y + 0.5 * cell.height);
                        let style = Style { colour: ink, ..style };
                        canvas.words(at.0, at.1, Anchor::Middle, style, &text);
                    }
                }
            }
        }
        self.draw_contour(canvas, layout, area);
        layout.frame(canvas, area);
        if let Some([across, down]) = self.map.best {
            // Two colours, so that one of them is seen whatever is around it.
            let cell = self.cell(area, across, down);
            let line = 2.0 * layout.hairline();
            for (inset, colour) in [(0.0, [0; 3]), (line, [0xff; 3])] {
                let frame = Area {
                    x: cell.x + inset + 0.5 * line,
                    y: cell.y + inset + 0.5 * line,
                    width: (cell.width - 2.0 * inset - line).max(1.0),
                    height: (cell.height - 2.0 * inset - line).max(1.0),
                };
                let path = format!(
                    "M{} {}h{}v{}h-{}z",
                    round(frame.x),
                    round(frame.y),
                    round(frame.width),
                    round(frame.height),
                    round(frame.width)
                );
                canvas.line(&path, Stroke::solid(line, colour));
            }
        }
    }

    /// The line between what is faster than Jacobi's iteration and what is not, in two colours, so
    /// that one of them is seen whatever is around it.
    fn draw_contour(&self, canvas: &mut Canvas, layout: &Layout, area: Area) {
        let segments = self.map.contour();
        let mut path = String::new();
        for [from, to] in &segments {
            let at = |[across, down]: [usize; 2]| {
                let cell = self.cell(area, across, down);
                format!("{} {}", round(cell.x), round(cell.y))
            };
            path.push_str(&format!("M{}L{}", at(*from), at(*to)));
        }
        if !segments.is_empty() {
            let line = 2.0 * layout.hairline();
            canvas.line(&path, Stroke::solid(2.0 * line, [0; 3]));
            canvas.line(&path, Stroke::solid(line, [0xff; 3]));
        }
    }

    /// Where a cell lies, in whole pixels.
    fn cell(&self, area: Area, across: usize, down: usize) -> Area {
        let edge = |length: f64, count: usize, place: usize| {
            (length * place as f64 / count.max(1) as f64).round()
        };
        let (x, y) = (
            |place| area.x + edge(area.width, self.map.across.labels.len(), place),
            |place| area.y + edge(area.height, self.map.cells.len(), place),
        );
        let (left, upper) = (x(across), y(down));
        Area { x: left, y: upper, width: x(across + 1) - left, height: y(down + 1) - upper }
    }
}

/// The diagonals of a cell.
fn cross(canvas: &mut Canvas, layout: &Layout, cell: Area) {
    let (left, right) = (round(cell.x), round(cell.right()));
    let (upper, lower) = (round(cell.y), round(cell.bottom()));
    let path = format!("M{left} {upper}L{right} {lower}M{right} {upper}L{left} {lower}");
    canvas.line(&path, Stroke::solid(layout.hairline(), layout.palette.axis));
}

/// How much of the colour below the lines of a hatched cell covers.
const HATCH_OPACITY: f64 = 0.3;

/// Slanted lines through a cell, which stay within it.
fn hatch(canvas: &mut Canvas, layout: &Layout, cell: Area, colour: [u8; 3]) {
    let apart = (0.6 * layout.unit).max(4.0);
    let mut path = String::new();
    let mut start = apart / 2.0;
    while start < cell.width + cell.height {
        // From the upper or right edge down to the left or lower one.
        let (x1, y1) =
            if start <= cell.width { (start, 0.0) } else { (cell.width, start - cell.width) };
        let (x2, y2) =
            if start <= cell.height { (0.0, start) } else { (start - cell.height, cell.height) };
        path.push_str(&format!(
            "M{} {}L{} {}",
            round(cell.x + x1),
            round(cell.y + y1),
            round(cell.x + x2),
            round(cell.y + y2)
        ));
        start += apart;
    }
    let stroke = Stroke { opacity: HATCH_OPACITY, ..Stroke::solid(layout.hairline(), colour) };
    canvas.line(&path, stroke);
}

/// Marks in the middle of the cells of a list, as many as find room, evenly.
fn listed(values: &[String], most: usize) -> Vec<Tick> {
    let step = values.len().div_ceil(most.max(1)).max(1);
    let tick = |(place, value): (usize, &String)| Tick {
        position: (place as f64 + 0.5) / values.len() as f64,
        label: value.clone(),
    };
    values.iter().enumerate().step_by(step).map(tick).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::any::sweep;
    use crate::picture::render;
    use crate::picture::sweep::data::SweepData;
    use crate::picture::sweep::figure::{SweepView, sweep_svg};
    use crate::picture::sweep::kind::SweepFigure;
    use crate::picture::sweep::map::{Layer, MapValue};
    use crate::run::SweepRow;

    #[test]
    fn figures_are_drawn_at_any_size_and_at_any_time() {
        let mut sweep = sweep(&[2, 4]);
        let cells = sweep.cells().to_vec();
        let rows = sweep.measure(&cells, 2, &|| false).unwrap();
        assert_eq!(rows.len(), 12);
        let predictions = sweep.predict(&|| false).unwrap().unwrap();
        let mut predicted = vec![None; cells.len()];
        for prediction in predictions {
            predicted[prediction.index] = Some(prediction);
        }
        let classic = sweep.classic(&|| false).unwrap();
        let outline = sweep.outline();
        let draw = |rows: &[SweepRow], figure: SweepFigure, size: [u32; 2]| {
            let rows = outline.rows_by_cell(rows);
            let data = SweepData { outline, rows: &rows, predictions: &predicted, classic };
            let view = SweepView { figure, value: MapValue::Cycles, layer: Layer::default() };
            sweep_svg(data, view, &FigureSpec { size, ..FigureSpec::default() })
        };
        for size in [[300, 240], [1200, 900], [64, 64]] {
            for some in [&rows[..], &rows[..1], &[]] {
                for figure in SweepFigure::ALL {
                    let svg = draw(some, figure, size);
                    assert_eq!(render(&svg).unwrap().dimensions(), size.into());
                }
            }
        }
        let svg = draw(&rows, SweepFigure::Map, [1200, 900]);
        assert!(svg.contains("Cycles to 10⁻⁴"), "{svg}");
        // A cell shows the best of its tiles, and so does that of the fewest cycles.
        let count = rows.iter().filter_map(|row| Some(row.cycles?.count)).min().unwrap();
        assert!(svg.contains(&format!(">{count}</text>")), "its value stands in the cell: {svg}");
        // What is predicted is hatched; without measurements every cell that can run is.
        let lines = |svg: &str| svg.matches("stroke-opacity=\"0.3\"").count();
        assert_eq!((lines(&svg), lines(&draw(&[], SweepFigure::Map, [1200, 900]))), (0, 4));
        let svg = draw(&rows, SweepFigure::Overlap, [1200, 900]);
        for text in ["Against overlap", "k = 4", "predicted"] {
            assert!(svg.contains(text), "{text}: {svg}");
        }
    }
}
