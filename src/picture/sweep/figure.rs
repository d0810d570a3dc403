//! The figure of a sweep: a map of k × overlap.

use crate::picture::axis::number::{number, rounded};
use crate::picture::axis::ticks::{Tick, ticks};
use crate::picture::colour::map::COLOURS;
use crate::picture::draw::canvas::{Canvas, Stroke, round};
use crate::picture::draw::layout::{Area, Head, Layout, room_for};
use crate::picture::draw::text::{Weight, width};
use crate::picture::plot::heat_map::draw_pixels;
use crate::picture::sweep::map::{Layer, MAP_COLOURS, MapValue, SweepMap};
use crate::picture::view::figure_spec::FigureSpec;
use crate::run::{ClassicBaseline, SweepOutline, SweepRow};

/// The map of a sweep as SVG: overlap across, k down, colours by what the best setting has least
/// of, see [`SweepRow::cost`]. Where there are several tiles or kernels, a cell shows the best of them.
/// The best cell of all is outlined, cells within noise of it have a dot, invalid cells are hatched, and
/// a line separates those that are faster than Jacobi's iteration.
pub fn sweep_svg(
    outline: &SweepOutline,
    rows: &[SweepRow],
    classic: Option<ClassicBaseline>,
    spec: &FigureSpec,
) -> String {
    let chosen = &outline.spec;
    let value = MapValue::natural(chosen);
    let what = match value {
        MapValue::SweepTime => "Seconds per sweep".to_owned(),
        value => {
            let tolerance = chosen.run.stop.tolerance.map(number).unwrap_or_default();
            let what = if value == MapValue::Time { "Time" } else { "Cycles" };
            format!("{what} to {tolerance}")
        }
    };
    let shape: Vec<_> = chosen.run.problem.shape.iter().map(ToString::to_string).collect();
    let title = format!("{what} — {}, {}", chosen.run.problem.kind.label(), shape.join(" × "));
    let known = outline.rows_by_cell(rows);
    let map = SweepMap::new(outline, &known, classic, Layer::default(), value);
    Figure { title, subtitle: subtitle(outline, rows, classic), value_label: value.unit(), map }
        .svg(spec)
}

fn subtitle(outline: &SweepOutline, rows: &[SweepRow], classic: Option<ClassicBaseline>) -> String {
    let chosen = &outline.spec;
    let tiles: Vec<_> = chosen.tile.iter().map(ToString::to_string).collect();
    let mut text = if tiles.len() == 1 { "tile ".to_owned() } else { "best of tiles ".to_owned() };
    text.push_str(&tiles.join(", "));
    let kernels: Vec<_> = chosen.kernel.iter().map(|kernel| kernel.name()).collect();
    if kernels != ["auto"] {
        text.push_str(&format!(", kernel {}", kernels.join(", ")));
    }
    text.push_str(&format!(" · {}", chosen.run.method.precision.name()));
    if let Some(best) = SweepRow::best(rows) {
        text.push_str(&format!(
            " · best: k = {}, overlap {}, tile {}",
            best.k.label(),
            best.overlap,
            best.tile
        ));
        if let Some(seconds) = best.seconds {
            text.push_str(&format!(", {} s", rounded(seconds)));
        }
        if let Some(ratio) = classic.and_then(|classic| Some(classic.cost()? / best.cost()?)) {
            text.push_str(&format!(", {ratio:.2} × classic"));
        }
    }
    format!("{text} · {}", outline.machine)
}

/// A map with what stands around it.
struct Figure<'a> {
    title: String,
    subtitle: String,
    value_label: &'a str,
    map: SweepMap<'a>,
}

impl Figure<'_> {
    fn svg(&self, spec: &FigureSpec) -> String {
        let layout = Layout::new(&spec.page());
        let mut canvas = layout.canvas();
        let head = Head::new(&layout, &self.title, &self.subtitle);
        let scale = &self.map.scale;
        let unit = layout.unit;
        let (w, h) = (f64::from(layout.width), f64::from(layout.height));
        let margin = layout.margin();
        let top = head.height.max(margin + 0.5 * unit);
        let room_down = (h - top - margin - layout.x_axis_height("overlap")).floor().max(8.0);
        let y_ticks = listed(self.map.ks, room_for(room_down, 1.6 * unit, 40));
        let bar_ticks = ticks(scale, room_for(room_down, 2.6 * unit, 12));
        let mark = layout.mark() + layout.gap() + layout.hairline();
        let left = layout.upright_label_width("k") + layout.widest(&y_ticks) + mark;
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
        let longest = self.map.overlaps.last().map_or(String::new(), ToString::to_string);
        let each = width(&longest, Weight::Regular, size) + 1.2 * unit;
        let x_ticks = listed(self.map.overlaps, room_for(area.width, each, 40));
        layout.x_axis(&mut canvas, area, &x_ticks, "overlap");
        let k_x = area.x - mark - layout.widest(&y_ticks) - layout.gap() - 0.5 * unit;
        layout.y_axis(&mut canvas, area, &y_ticks, true, ("k", k_x));
        let value_x = bar.right() + bar_labels + 0.5 * unit;
        layout.right_axis(&mut canvas, area, bar, &bar_ticks, (self.value_label, value_x));
        canvas.finish()
    }

    fn draw_cells(&self, canvas: &mut Canvas, layout: &Layout, area: Area) {
        canvas.rect(area.x, area.y, area.width, area.height, layout.palette.missing, 1.0);
        for (down, row) in self.map.cells.iter().enumerate() {
            for (across, shown) in row.iter().enumerate() {
                let cell = self.cell(area, across, down);
                if shown.cannot_run.is_some() {
                    hatch(canvas, layout, cell);
                } else if let Some(value) = shown.value {
                    let colour = self.map.colour(value);
                    canvas.rect(cell.x, cell.y, cell.width, cell.height, colour, 1.0);
                }
                if shown.is_equal {
                    let side = (0.35 * layout.unit).max(2.0).min(0.5 * cell.width);
                    let (x, y) =
                        (cell.x + 0.5 * (cell.width - side), cell.y + 0.5 * (cell.height - side));
                    canvas.rect(x, y, side, side, [0xff; 3], 1.0);
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
            |place| area.x + edge(area.width, self.map.overlaps.len(), place),
            |place| area.y + edge(area.height, self.map.ks.len(), place),
        );
        let (left, upper) = (x(across), y(down));
        Area { x: left, y: upper, width: x(across + 1) - left, height: y(down + 1) - upper }
    }
}

/// Slanted lines through a cell, which stay within it.
fn hatch(canvas: &mut Canvas, layout: &Layout, cell: Area) {
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
    canvas.line(&path, Stroke::solid(layout.hairline(), layout.palette.axis));
}

/// Marks in the middle of the cells of a list, as many as find room, evenly.
fn listed<T: ToString>(values: &[T], most: usize) -> Vec<Tick> {
    let step = values.len().div_ceil(most.max(1)).max(1);
    let tick = |(place, value): (usize, &T)| Tick {
        position: (place as f64 + 0.5) / values.len() as f64,
        label: value.to_string(),
    };
    values.iter().enumerate().step_by(step).map(tick).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::any::sweep;
    use crate::picture::render;

    #[test]
    fn a_map_is_drawn_at_any_size_and_at_any_time() {
        let mut sweep = sweep(&[2, 4]);
        let cells = sweep.cells().to_vec();
        let rows = sweep.measure(&cells, 2, &|| false).unwrap();
        assert_eq!(rows.len(), 12);
        for size in [[300, 240], [1200, 900], [64, 64]] {
            for some in [&rows[..], &rows[..1], &[]] {
                let spec = FigureSpec { size, ..FigureSpec::default() };
                let svg = sweep_svg(sweep.outline(), some, None, &spec);
                assert_eq!(render(&svg).unwrap().dimensions(), size.into());
            }
        }
        let classic = sweep.classic(&|| false).unwrap();
        let svg = sweep_svg(sweep.outline(), &rows, classic, &FigureSpec::default());
        assert!(svg.contains("Cycles to 1×10⁻⁴"), "{svg}");
        // Overlap 8 goes with neither tile: one hatched cell a k, and two frames around the best.
        assert!(svg.matches('L').count() > 100);
    }
}
