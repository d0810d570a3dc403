//! Plots as SVG: the painter of figures.

use crate::picture::axis::scale::Scale;
use crate::picture::axis::ticks::Tick;
use crate::picture::colour::theme::Palette;
use crate::picture::draw::canvas::{Anchor, Canvas, Stroke, round};
use crate::picture::draw::layout::{Area, Head, Layout, Page, room_for, snapped};
use crate::picture::draw::text::{fit, width};
use crate::picture::plot::description::{BAND_OPACITY, FAINT, Level, Plot, Series};
use crate::picture::plot::legend::{Legend, series_stroke};
use crate::picture::plot::polyline::{Stretch, path, place, thinned, touches};

/// Vertical lines nearer than this many pixels would hide the curves.
const NEAREST_MARKS: f64 = 4.0;

/// Where everything goes.
struct PlotLayout {
    plot: Area,
    x_ticks: Vec<Tick>,
    y_ticks: Vec<Tick>,
    y_title_x: f64,
}

/// A plot on its scales.
struct Painter<'a> {
    plot: &'a Plot,
    x_scale: Scale,
    y_scale: Scale,
}

impl Plot {
    /// The plot as an SVG document with title and settings, both of which may be empty; long settings
    /// take two lines. Text stays text; points nearer than a pixel are thinned to the lowest and highest
    /// of each pixel column.
    pub fn svg(&self, title: &str, subtitle: &str, page: &Page) -> String {
        let [x_scale, y_scale] = self.scales();
        Painter { plot: self, x_scale, y_scale }.svg(title, subtitle, page)
    }
}

impl Painter<'_> {
    fn svg(&self, title: &str, subtitle: &str, page: &Page) -> String {
        let layout = Layout::new(page);
        let mut canvas = layout.canvas();
        let head = Head::new(&layout, title, subtitle);
        let legend = Legend::new(self.plot, &layout);

        // The legend goes where no curve is; if curves are everywhere, above them.
        let mut plan = self.plan(&layout, head.height);
        let mut stretches = self.stretches(plan.plot);
        let inside = self.free_corner(&layout, &plan, &legend, &stretches);
        if inside.is_none() && !legend.entries.is_empty() {
            let top = head.height + legend.height_above(plan.plot.width);
            plan = self.plan(&layout, top);
            stretches = self.stretches(plan.plot);
        }

        head.draw(&mut canvas, &layout, 0.0, &[plan.plot.x]);
        draw_grid(&mut canvas, &layout, &plan);
        self.draw_bands(&mut canvas, plan.plot);
        self.draw_marks(&mut canvas, &layout, plan.plot);
        for level in &self.plot.levels {
            self.draw_level(&mut canvas, &layout, plan.plot, level, &stretches);
        }
        for (series, stretches) in self.plot.series.iter().zip(&stretches) {
            self.draw_series(&mut canvas, &layout, plan.plot, series, stretches);
        }
        layout.frame(&mut canvas, plan.plot);
        layout.x_axis(&mut canvas, plan.plot, &plan.x_ticks, &self.plot.x.title);
        let y_title = (self.plot.y.title.as_str(), plan.y_title_x);
        layout.y_axis(&mut canvas, plan.plot, &plan.y_ticks, false, y_title);
        match inside {
            Some(corner) => legend.draw_inside(&mut canvas, &layout, corner),
            None => legend.draw_above(&mut canvas, &layout, plan.plot, head.height),
        }
        canvas.finish()
    }

    fn place(&self, point: (f64, f64), plot: Area) -> (f64, f64) {
        place(point, plot, &self.x_scale, &self.y_scale)
    }

    /// Draws a curve: faint where its points are still to come, with a dot at the last one so far.
    fn draw_series(
        &self,
        canvas: &mut Canvas,
        layout: &Layout,
        plot: Area,
        series: &Series,
        stretches: &[Stretch],
    ) {
        let stroke = series_stroke(layout, series);
        for &(x, low, high) in &series.errors {
            let ends = [(x, low), (x, high)];
            if ends.iter().all(|end| self.plot.has_place(*end)) {
                let ends = ends.map(|end| self.place(end, plot));
                canvas.line(&path(ends.into_iter()), Stroke { dash: None, ..stroke });
            }
        }
        if series.so_far >= series.points.len() {
            draw_curve(canvas, series, stretches, stroke);
        } else {
            draw_curve(canvas, series, stretches, Stroke { opacity: FAINT, ..stroke });
            let stretches = self.stretches_of(&series.points[..series.so_far], plot);
            draw_curve(canvas, series, &stretches, stroke);
            if let Some(head) = stretches.last().and_then(|stretch| stretch.last()) {
                draw_dot(canvas, *head, 0.35 * layout.unit, series.colour);
            }
        }
        if series.has_dots {
            for point in series.points.iter().filter(|point| self.plot.has_place(**point)) {
                draw_dot(canvas, self.place(*point, plot), 0.25 * layout.unit, series.colour);
            }
        }
    }

    fn plan(&self, layout: &Layout, top: f64) -> PlotLayout {
        let Plot { x: x_axis, y: y_axis, .. } = self.plot;
        let Layout { unit, .. } = *layout;
        let (w, h) = (f64::from(layout.width), f64::from(layout.height));
        let margin = layout.margin();
        let top = top.max(margin + 0.5 * unit);
        let bottom = margin + layout.x_axis_height(&x_axis.title);
        let height = (h - top - bottom).floor().max(8.0);
        let y_ticks = y_axis.ticks(&self.y_scale, room_for(height, 2.4 * unit, 13));
        let mark = layout.mark() + layout.gap() + layout.hairline();
        let labels = layout.widest(&y_ticks);
        let x = (margin + layout.upright_label_width(&y_axis.title) + labels + mark).round();
        // The last label below the plot reaches half its width beyond it.
        let size = layout.tick_label().size;
        let widest = layout.widest(&x_axis.ticks(&self.x_scale, 9));
        let right = margin.max(0.5 * widest + 2.0);
        let plot = Area { x, y: top, width: (w - x - right).floor().max(8.0), height };
        let each = widest.max(2.0 * size) + 1.8 * unit;
        let x_ticks = x_axis.ticks(&self.x_scale, room_for(plot.width, each, 11));
        let y_title_x = x - mark - labels - layout.gap() - 0.5 * unit;
        PlotLayout { plot, x_ticks, y_ticks, y_title_x }
    }

    /// Every curve in pixels.
    fn stretches(&self, plot: Area) -> Vec<Vec<Stretch>> {
        self.plot.series.iter().map(|series| self.stretches_of(&series.points, plot)).collect()
    }

    fn stretches_of(&self, points: &[(f64, f64)], plot: Area) -> Vec<Stretch> {
        let stretches = points.split(|point| !self.plot.has_place(*point));
        let stretches = stretches.filter(|stretch| !stretch.is_empty());
        let placed =
            |stretch: &[(f64, f64)]| thinned(stretch.iter().map(|point| self.place(*point, plot)));
        stretches.map(placed).collect()
    }

    /// The corner of the plot in which the legend hides nothing.
    fn free_corner(
        &self,
        layout: &Layout,
        plan: &PlotLayout,
        legend: &Legend,
        stretches: &[Vec<Stretch>],
    ) -> Option<Area> {
        let plot = plan.plot;
        let (width, height) = legend.size();
        if legend.entries.is_empty() || width > 0.7 * plot.width || height > 0.7 * plot.height {
            return None;
        }
        let inset = (0.6 * layout.unit).round();
        let (left, right) = (plot.x + inset, plot.right() - inset - width);
        let (top, bottom) = (plot.y + inset, plot.bottom() - inset - height);
        let corners = [(right, top), (left, bottom), (right, bottom), (left, top)];
        let levels: Vec<_> = self
            .shown_levels()
            .map(|Level { value, name }| {
                let y = plot.bottom() - self.y_scale.position(*value) * plot.height;
                // The name is drawn on the line.
                (y - if name.is_empty() { 0.0 } else { 1.4 * layout.unit }, y)
            })
            .collect();
        let free = |area: &Area| {
            levels.iter().all(|(from, to)| *to < area.y || *from > area.bottom())
                && stretches.iter().flatten().all(|stretch| !touches(stretch, *area, inset))
        };
        corners.into_iter().map(|(x, y)| Area { x, y, width, height }).find(free)
    }

    fn shown_levels(&self) -> impl Iterator<Item = &Level> {
        self.plot.levels.iter().filter(|level| self.plot.has_place((0.0, level.value)))
    }

    fn draw_bands(&self, canvas: &mut Canvas, plot: Area) {
        for band in &self.plot.bands {
            let both = band.low.iter().zip(&band.high);
            let both: Vec<_> = both.map(|(low, high)| (*low, *high)).collect();
            let has_place =
                |(low, high): &(_, _)| self.plot.has_place(*low) && self.plot.has_place(*high);
            for stretch in both.split(|pair| !has_place(pair)).filter(|part| part.len() > 1) {
                let there = stretch.iter().map(|(low, _)| self.place(*low, plot));
                let back = stretch.iter().rev().map(|(_, high)| self.place(*high, plot));
                let outline = format!("{}z", path(there.chain(back)));
                canvas.area(&outline, band.colour, BAND_OPACITY);
            }
        }
    }

    fn draw_marks(&self, canvas: &mut Canvas, layout: &Layout, plot: Area) {
        let line = layout.hairline();
        let (lo, hi) = (self.x_scale.range().lo(), self.x_scale.range().hi());
        let place = |mark: &f64| snapped(plot.x + self.x_scale.position(*mark) * plot.width, line);
        for marks in &self.plot.marks {
            let inside = marks.places.iter().filter(|mark| (lo..=hi).contains(*mark));
            let places: Vec<f64> = inside.map(place).collect();
            let near = |pair: &[f64]| (pair[1] - pair[0]).abs() < NEAREST_MARKS * line;
            if places.is_empty() || places.windows(2).any(near) {
                continue;
            }
            let down = |x: &f64| format!("M{x} {}v{}", round(plot.y), round(plot.height));
            let path: String = places.iter().map(down).collect();
            let stroke = Stroke { opacity: 0.5, crisp: true, ..Stroke::solid(line, marks.colour) };
            canvas.line(&path, stroke);
        }
    }

    fn draw_level(
        &self,
        canvas: &mut Canvas,
        layout: &Layout,
        plot: Area,
        Level { value, name }: &Level,
        stretches: &[Vec<Stretch>],
    ) {
        if !self.plot.has_place((0.0, *value)) {
            return;
        }
        let line = layout.hairline();
        let y = snapped(plot.bottom() - self.y_scale.position(*value) * plot.height, line);
        let dash = Some(4.0 * line);
        let stroke = Stroke { dash, crisp: true, ..Stroke::solid(line, layout.palette.soft) };
        canvas.line(&format!("M{} {y}h{}", round(plot.x), round(plot.width)), stroke);
        let mut style = layout.tick_label();
        style.colour = layout.palette.soft;
        let name = fit(name, style.weight, style.size, plot.width - layout.unit);
        let (name_width, inset) = (width(&name, style.weight, style.size), 0.5 * layout.unit);
        // Above or below the line, at the end where no curve runs through the name: mostly above the left one.
        let height = 1.2 * layout.unit;
        let left = Area { x: plot.x + inset, y: y - height, width: name_width, height };
        let right = Area { x: plot.right() - inset - name_width, ..left };
        let below = |area: Area| Area { y: y + 0.2 * layout.unit, ..area };
        let free =
            |area: &Area| !stretches.iter().flatten().any(|stretch| touches(stretch, *area, line));
        let places = [left, right, below(left), below(right)];
        let place = places.into_iter().find(free).unwrap_or(left);
        canvas.words(place.x, place.y + 0.5 * layout.unit, Anchor::Start, style, &name);
    }
}

fn draw_grid(canvas: &mut Canvas, layout: &Layout, plan: &PlotLayout) {
    let Area { x, y, width, height } = plan.plot;
    let line = layout.hairline();
    let mut path = String::new();
    for tick in &plan.x_ticks {
        let place = snapped(x + tick.position * width, line);
        path.push_str(&format!("M{place} {}v{}", round(y), round(height)));
    }
    for tick in &plan.y_ticks {
        let place = snapped(y + (1.0 - tick.position) * height, line);
        path.push_str(&format!("M{} {place}h{}", round(x), round(width)));
    }
    if !path.is_empty() {
        let Palette { grid, grid_opacity: opacity, .. } = layout.palette;
        let stroke = Stroke { opacity, crisp: true, ..Stroke::solid(line, grid) };
        canvas.line(&path, stroke);
    }
}

pub(super) fn draw_dot(canvas: &mut Canvas, (x, y): (f64, f64), radius: f64, colour: [u8; 3]) {
    let r = round(radius);
    let (left, y) = (round(x - radius), round(y));
    let dot = format!("M{left} {y}a{r} {r} 0 1 1 {0} 0a{r} {r} 0 1 1 -{0} 0z", round(2.0 * r));
    canvas.area(&dot, colour, 1.0);
}

fn draw_curve(canvas: &mut Canvas, series: &Series, stretches: &[Stretch], stroke: Stroke) {
    let mut line = String::new();
    for stretch in stretches {
        match stretch[..] {
            // A point between two gaps is not a line; it is shown as a dot.
            [point] => draw_dot(canvas, point, stroke.width, series.colour),
            _ => line.push_str(&path(stretch.iter().copied())),
        }
    }
    if !line.is_empty() {
        canvas.line(&line, stroke);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::axis::scale::ScaleKind;
    use crate::picture::plot::description::{PlotAxis, VerticalLines};
    use crate::picture::{Theme, render};

    const PAGE: Page = Page { width: 400, height: 300, theme: Theme::Light, font: None };

    fn plot(series: Vec<Series>, scale: ScaleKind) -> Plot {
        let x = PlotAxis::new("cycles", ScaleKind::Linear);
        Plot {
            series,
            levels: vec![Level { value: 1e-4, name: "tolerance".into() }],
            marks: vec![VerticalLines { places: vec![1.0, f64::NAN, 2.5], colour: [9; 3] }],
            ..Plot::new(x, PlotAxis::new("‖r‖ / ‖r₀‖", scale))
        }
    }

    fn svg(plot: &Plot) -> String {
        plot.svg("Convergence", "a < b & c", &PAGE)
    }

    fn curve(name: &str, points: &[(f64, f64)]) -> Series {
        Series::line(name, points.to_vec(), Theme::Light.curve(0))
    }

    #[test]
    fn any_points_are_drawn() {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 1e-320, 1.0, 1e308];
        let all: Vec<(f64, f64)> = odd.iter().flat_map(|x| odd.map(|y| (*x, y))).collect();
        for points in [&[][..], &all[..], &[(0.0, 1.0)][..], &[(3.0, 1e308), (1.0, -1e308)][..]] {
            for scale in ScaleKind::ALL {
                for level in [None, Some((1e-4, "tolerance")), Some((f64::NAN, ""))] {
                    let errors = points.iter().map(|&(x, y)| (x, 0.5 * y, 2.0 * y)).collect();
                    let half = Series { so_far: points.len() / 2, ..curve("", points) };
                    let dots = Series { has_dots: true, errors, ..curve("b", points) };
                    let levels = level.map(|(value, name)| Level { value, name: name.into() });
                    let levels = levels.into_iter().collect();
                    let series = vec![curve("a", points), half, dots];
                    let svg = svg(&Plot { levels, ..plot(series, scale) });
                    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
                    assert!(render(&svg).is_ok());
                }
            }
        }
        for (width, height) in [(64, 64), (300, 240), (8000, 300), (240, 3000)] {
            let points = [(0.0, 1.0), (100.0, 1e-6)];
            let many = vec![curve("a name that is rather long for a legend", &points); 12];
            let page = Page { width, height, theme: Theme::Dark, font: Some(15.0) };
            let svg = plot(many, ScaleKind::Log).svg("Convergence", "", &page);
            assert_eq!(render(&svg).unwrap().dimensions(), (width, height));
        }
    }

    #[test]
    fn gaps_break_the_line() {
        let points = [(0.0, 1.0), (1.0, 0.5), (2.0, 0.0), (3.0, 0.2), (4.0, 0.1)];
        let stretches = |scale| {
            let plot = plot(vec![curve("", &points)], scale);
            let [x_scale, y_scale] = plot.scales();
            let area = Area { x: 0.0, y: 0.0, width: 100.0, height: 100.0 };
            Painter { plot: &plot, x_scale, y_scale }.stretches(area)[0].len()
        };
        assert_eq!((stretches(ScaleKind::Log), stretches(ScaleKind::Linear)), (2, 1));
    }

    #[test]
    fn the_legend_hides_no_curve() {
        let falling: Vec<(f64, f64)> =
            (0..100).map(|k| (f64::from(k), (-f64::from(k) / 10.0).exp())).collect();
        let zigzag: Vec<(f64, f64)> =
            (0..100).map(|k| (f64::from(k), if k % 2 == 0 { 1e-6 } else { 1.0 })).collect();
        let inside = |points: &[(f64, f64)]| {
            // Only a legend inside has a backdrop one can see through.
            svg(&plot(vec![curve("a", points)], ScaleKind::Log)).contains("fill-opacity")
        };
        assert!(inside(&falling) && !inside(&zigzag));
    }

    #[test]
    fn powers_of_two_are_marked_by_themselves() {
        use crate::picture::plot::description::TickStyle;
        let mut plot = plot(vec![curve("", &[(0.0, 1.0), (5.0, 2.0)])], ScaleKind::Linear);
        plot.x.ticks = TickStyle::PowersOfTwo;
        let [x, _] = plot.scales();
        let labels = |most| -> Vec<_> {
            plot.x.ticks(&x, most).into_iter().map(|tick| tick.label).collect()
        };
        assert_eq!(labels(9), ["1", "2", "4", "8", "16", "32"]);
        assert_eq!(labels(3), ["1", "4", "16"]);
    }
}
