//! The figure of a sweep: a map of k × overlap.

use super::colour_map::{COLOURS, ColourMap};
use super::heat_map_figure::draw_pixels;
use super::layout::{Area, Head, Layout, room_for};
use super::scale::{Range, Scale, ScaleKind};
use super::svg::{Canvas, Stroke, round};
use super::text::{Weight, width};
use super::ticks::{Tick, number, ticks};
use super::titles::rounded;
use super::view_spec::FigureSpec;
use crate::run::{Measure, Row, RowOutcome, Sweep};

/// What is known of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Known {
    /// Nothing yet, or that it does not converge.
    Nothing,
    /// That no tile and no kernel can run it.
    CannotRun,
    /// What the best tile and kernel cost.
    Cost(f64),
}

/// The map of a sweep as SVG: overlap across, k down, colours by what the best setting has least
/// of, see [`Row::cost`]. Where there are several tiles or kernels, a cell shows the best of them.
/// The best cell of all is framed; cells that cannot run are hatched.
pub fn sweep_svg(sweep: &Sweep, rows: &[Row], spec: &FigureSpec) -> String {
    let chosen = sweep.spec();
    let (times, counts) = (chosen.measures(Measure::Time), chosen.measures(Measure::Cycles));
    let (title, value_label) = match (times, counts) {
        (true, false) => ("Seconds a sweep".to_owned(), "seconds a sweep"),
        (times, _) => {
            let tolerance = chosen.run.stop.tolerance.map(number).unwrap_or_default();
            let (what, label) = if times { ("Time", "seconds") } else { ("Cycles", "cycles") };
            (format!("{what} to {tolerance}"), label)
        }
    };
    let shape: Vec<_> = chosen.run.problem.shape.iter().map(ToString::to_string).collect();
    let title = format!("{title} — {}, {}", chosen.run.problem.kind.label(), shape.join(" × "));
    let known = |k: &usize, overlap: &usize| {
        let here = || rows.iter().filter(|row| row.k == *k && row.overlap == *overlap);
        match Row::best(here()).and_then(Row::cost) {
            Some(cost) => Known::Cost(cost),
            None if here().next().is_some()
                && here().all(|row| row.outcome == RowOutcome::CannotRun) =>
            {
                Known::CannotRun
            }
            None => Known::Nothing,
        }
    };
    let cells = chosen.k.iter().map(|k| chosen.overlap.iter().map(|o| known(k, o)).collect());
    let best = Row::best(rows).and_then(|row| {
        let down = chosen.k.iter().position(|k| *k == row.k)?;
        Some((chosen.overlap.iter().position(|overlap| *overlap == row.overlap)?, down))
    });
    let map = Map {
        title,
        subtitle: subtitle(sweep, rows),
        value_label,
        overlaps: &chosen.overlap,
        ks: &chosen.k,
        cells: cells.collect(),
        best,
    };
    map.svg(spec)
}

fn subtitle(sweep: &Sweep, rows: &[Row]) -> String {
    let chosen = sweep.spec();
    let tiles: Vec<_> = chosen.tile.iter().map(ToString::to_string).collect();
    let mut text = if tiles.len() == 1 { "tile ".to_owned() } else { "best of tiles ".to_owned() };
    text.push_str(&tiles.join(", "));
    let kernels: Vec<_> = chosen.kernel.iter().map(|kernel| kernel.name()).collect();
    if kernels != ["auto"] {
        text.push_str(&format!(", kernel {}", kernels.join(", ")));
    }
    text.push_str(&format!(" · {}", chosen.run.method.precision.name()));
    if let Some(best) = Row::best(rows) {
        text.push_str(&format!(
            " · best: k = {}, overlap {}, tile {}",
            best.k, best.overlap, best.tile
        ));
        if let Some(seconds) = best.seconds {
            text.push_str(&format!(", {} s", rounded(seconds)));
        }
    }
    format!("{text} · {}", sweep.machine())
}

/// A map of cells under two lists.
struct Map<'a> {
    title: String,
    subtitle: String,
    value_label: &'a str,
    overlaps: &'a [usize],
    ks: &'a [usize],
    /// Row by row, a k each.
    cells: Vec<Vec<Known>>,
    /// Across and down.
    best: Option<(usize, usize)>,
}

/// Dark is little, and so good.
const COLOUR_MAP: ColourMap = ColourMap::Viridis;

impl Map<'_> {
    fn svg(&self, spec: &FigureSpec) -> String {
        let layout = Layout::new(&spec.page());
        let mut canvas = layout.canvas();
        let head = Head::new(&layout, &self.title, &self.subtitle);
        let scale = self.scale();
        let unit = layout.unit;
        let (w, h) = (f64::from(layout.width), f64::from(layout.height));
        let margin = layout.margin();
        let top = head.height.max(margin + 0.5 * unit);
        let room_down = (h - top - margin - layout.x_axis_height("overlap")).floor().max(8.0);
        let y_ticks = listed(self.ks, room_for(room_down, 1.6 * unit, 40));
        let bar_ticks = ticks(&scale, room_for(room_down, 2.6 * unit, 12));
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
        self.draw_cells(&mut canvas, &layout, area, &scale);
        let colours = COLOUR_MAP.table().iter().rev().flatten().copied().collect();
        draw_pixels(&mut canvas, bar, 1, COLOURS, colours);
        layout.frame(&mut canvas, bar);
        let size = layout.tick_label().size;
        let longest = self.overlaps.last().map_or(String::new(), ToString::to_string);
        let each = width(&longest, Weight::Regular, size) + 1.2 * unit;
        let x_ticks = listed(self.overlaps, room_for(area.width, each, 40));
        layout.x_axis(&mut canvas, area, &x_ticks, "overlap");
        let k_x = area.x - mark - layout.widest(&y_ticks) - layout.gap() - 0.5 * unit;
        layout.y_axis(&mut canvas, area, &y_ticks, true, ("k", k_x));
        let value_x = bar.right() + bar_labels + 0.5 * unit;
        layout.right_axis(&mut canvas, area, bar, &bar_ticks, (self.value_label, value_x));
        canvas.finish()
    }

    /// From the least to the most; times differ by factors.
    fn scale(&self) -> Scale {
        let costs = self.cells.iter().flatten().filter_map(|known| match known {
            Known::Cost(cost) => Some(*cost),
            _ => None,
        });
        let (lo, hi) = costs
            .fold((f64::INFINITY, 0.0), |(lo, hi), cost| (f64::min(lo, cost), f64::max(hi, cost)));
        Scale::new(ScaleKind::Log, Range::new(lo, hi))
    }

    fn draw_cells(&self, canvas: &mut Canvas, layout: &Layout, area: Area, scale: &Scale) {
        canvas.rect(area.x, area.y, area.width, area.height, layout.palette.missing, 1.0);
        for (down, row) in self.cells.iter().enumerate() {
            for (across, known) in row.iter().enumerate() {
                let cell = self.cell(area, across, down);
                match known {
                    Known::Nothing => {}
                    Known::CannotRun => hatch(canvas, layout, cell),
                    Known::Cost(cost) => {
                        let step = scale.position(*cost) * (COLOURS - 1) as f64;
                        let [r, g, b, _] = COLOUR_MAP.table()[(step as usize).min(COLOURS - 1)];
                        canvas.rect(cell.x, cell.y, cell.width, cell.height, [r, g, b], 1.0);
                    }
                }
            }
        }
        layout.frame(canvas, area);
        if let Some((across, down)) = self.best {
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

    /// Where a cell lies, in whole pixels.
    fn cell(&self, area: Area, across: usize, down: usize) -> Area {
        let edge = |length: f64, count: usize, place: usize| {
            (length * place as f64 / count.max(1) as f64).round()
        };
        let (x, y) = (
            |place| area.x + edge(area.width, self.overlaps.len(), place),
            |place| area.y + edge(area.height, self.ks.len(), place),
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
fn listed(values: &[usize], most: usize) -> Vec<Tick> {
    let step = values.len().div_ceil(most.max(1)).max(1);
    let tick = |(place, value): (usize, &usize)| Tick {
        position: (place as f64 + 0.5) / values.len() as f64,
        label: value.to_string(),
    };
    values.iter().enumerate().step_by(step).map(tick).collect()
}

#[cfg(test)]
mod tests {
    use super::super::render;
    use super::*;
    use crate::run::{RunSpec, SweepSpec};
    use crate::solver::Kernel;
    use std::sync::atomic::AtomicBool;

    fn sweep() -> Sweep {
        let mut run = RunSpec::default();
        run.problem.shape = vec![24, 20];
        let spec = SweepSpec {
            run,
            k: vec![2, 4],
            overlap: vec![0, 2, 8],
            tile: vec![4, 8],
            kernel: vec![Kernel::Auto],
            measure: vec![Measure::Cycles],
        };
        Sweep::new(spec).unwrap()
    }

    #[test]
    fn a_map_is_drawn_at_any_size_and_at_any_time() {
        let mut sweep = sweep();
        let cells = sweep.cells().to_vec();
        let rows = sweep.measure(&cells, 2, &AtomicBool::new(false)).unwrap();
        assert_eq!(rows.len(), 12);
        for size in [[300, 240], [1200, 900], [64, 64]] {
            for some in [&rows[..], &rows[..1], &[]] {
                let spec = FigureSpec { size, ..FigureSpec::default() };
                let svg = sweep_svg(&sweep, some, &spec);
                assert_eq!(render(&svg).unwrap().dimensions(), size.into());
            }
        }
        let svg = sweep_svg(&sweep, &rows, &FigureSpec::default());
        assert!(svg.contains("Cycles to 1×10⁻⁴"), "{svg}");
        // Overlap 8 goes with neither tile: one hatched cell a k, and two frames around the best.
        assert!(svg.matches('L').count() > 100);
    }
}
