//! Figures of curves: the convergence of runs, and their fields along a line.

use crate::picture::axis::scale::{Range, Scale, ScaleKind};
use crate::picture::axis::ticks::{Tick, ticks};
use crate::picture::colour::theme::Palette;
use crate::picture::draw::canvas::{Anchor, Canvas, Stroke, round};
use crate::picture::draw::layout::{Area, Head, Layout, Page, room_for, snapped};
use crate::picture::draw::text::{fit, width};
use crate::picture::figures::run_figure::Titles;
use crate::picture::plot::legend::{Legend, curve_stroke};
use crate::picture::plot::polyline::{Stretch, path, place, thinned, touches};
use crate::picture::view::figure_spec::FigureSpec;

/// A curve of a [`CurvesFigure`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curve<'a> {
    /// Its name in the legend; a curve without one isn't listed.
    pub label: &'a str,
    /// Its points, from left to right. It is broken where a value is not finite, or not positive
    /// on a logarithmic axis.
    pub points: &'a [(f64, f64)],
    /// How many of the points there are so far; those to come are drawn faintly.
    pub so_far: usize,
    /// Red, green, blue; see [`Theme::curve`](crate::picture::Theme::curve).
    pub colour: [u8; 3],
    /// Whether it is dashed, as a reference beside runs.
    pub dashed: bool,
}

/// Thin lines that run down the plot of a [`CurvesFigure`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Marks<'a> {
    /// Where, in units of the x axis.
    pub places: &'a [f64],
    /// Red, green, blue.
    pub colour: [u8; 3],
}

/// What lies between two curves of a [`CurvesFigure`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Band<'a> {
    /// Its lower end, from left to right.
    pub low: &'a [(f64, f64)],
    /// Its upper end, at the same abscissas.
    pub high: &'a [(f64, f64)],
    /// Red, green, blue; it is drawn faintly.
    pub colour: [u8; 3],
}

/// Curves with axes, legend, title and settings.
#[derive(Clone, Copy, Debug)]
pub struct CurvesFigure<'a> {
    /// The first line; may be empty.
    pub title: &'a str,
    /// The line of settings below it; takes two lines when it is long; may be empty.
    pub subtitle: &'a str,
    /// What is written below the plot; may be empty.
    pub x_label: &'a str,
    /// What is written left of the plot; may be empty.
    pub y_label: &'a str,
    /// Drawn in this order, later ones above earlier ones.
    pub curves: &'a [Curve<'a>],
    /// Drawn below all curves. What of a band lies at no place of the y axis is not drawn.
    pub bands: &'a [Band<'a>],
    /// How the y axis goes.
    pub y_scale: ScaleKind,
    /// The lowest and the highest value shown; `None` to fit the curves.
    pub y_range: Option<Range>,
    /// A horizontal line, such as the tolerance, and its name.
    pub level: Option<(f64, &'a str)>,
    /// Where thin lines run down the plot, such as tile borders, and their colours. None are drawn
    /// where they are too near each other.
    pub marks: &'a [Marks<'a>],
    /// What it is drawn on.
    pub page: Page,
}

/// Marks nearer than this many pixels would hide the curves.
const NEAREST_MARKS: f64 = 4.0;

/// Where everything goes.
struct Plan {
    plot: Area,
    x_ticks: Vec<Tick>,
    y_ticks: Vec<Tick>,
    y_label_x: f64,
}

impl<'a> CurvesFigure<'a> {
    /// Axes without curves, for a view of a run.
    pub(crate) fn plain(titles: &'a Titles, spec: &FigureSpec) -> Self {
        Self {
            title: &titles.title,
            subtitle: &titles.subtitle,
            x_label: "",
            y_label: "",
            curves: &[],
            bands: &[],
            y_scale: spec.scale,
            y_range: None,
            level: None,
            marks: &[],
            page: spec.page(),
        }
    }
}

impl CurvesFigure<'_> {
    /// The figure as an SVG document. Text stays text; points nearer than a pixel are thinned to
    /// the lowest and highest of each pixel column.
    pub fn svg(&self) -> String {
        let layout = Layout::new(&self.page);
        let mut canvas = layout.canvas();
        let head = Head::new(&layout, self.title, self.subtitle);
        let (x_scale, y_scale) = self.scales();
        let legend = Legend::new(self.curves, &layout);

        // The legend goes where no curve is; if curves are everywhere, above them.
        let mut plan = self.plan(&layout, head.height, &x_scale, &y_scale);
        let mut stretches = self.stretches(plan.plot, &x_scale, &y_scale);
        let inside = self.free_corner(&layout, &plan, &legend, &stretches, &y_scale);
        if inside.is_none() && !legend.entries.is_empty() {
            let top = head.height + legend.height_above(plan.plot.width);
            plan = self.plan(&layout, top, &x_scale, &y_scale);
            stretches = self.stretches(plan.plot, &x_scale, &y_scale);
        }

        head.draw(&mut canvas, &layout, 0.0, &[plan.plot.x]);
        draw_grid(&mut canvas, &layout, &plan);
        self.draw_bands(&mut canvas, plan.plot, &x_scale, &y_scale);
        self.draw_marks(&mut canvas, &layout, plan.plot, &x_scale);
        self.draw_level(&mut canvas, &layout, plan.plot, &y_scale, &stretches);
        for (curve, stretches) in self.curves.iter().zip(&stretches) {
            let is_whole = curve.so_far >= curve.points.len();
            let faint = Stroke { opacity: TO_COME, ..curve_stroke(&layout, curve) };
            let stroke = if is_whole { curve_stroke(&layout, curve) } else { faint };
            draw_curve(&mut canvas, curve, stretches, stroke);
            if !is_whole {
                let so_far = Curve { points: &curve.points[..curve.so_far], ..*curve };
                let stretches = self.stretches_of(&so_far, plan.plot, &x_scale, &y_scale);
                draw_curve(&mut canvas, curve, &stretches, curve_stroke(&layout, curve));
                if let Some(head) = stretches.last().and_then(|stretch| stretch.last()) {
                    draw_dot(&mut canvas, *head, 0.35 * layout.unit, curve.colour);
                }
            }
        }
        layout.frame(&mut canvas, plan.plot);
        layout.x_axis(&mut canvas, plan.plot, &plan.x_ticks, self.x_label);
        let y_label = (self.y_label, plan.y_label_x);
        layout.y_axis(&mut canvas, plan.plot, &plan.y_ticks, false, y_label);
        match inside {
            Some(corner) => legend.draw_inside(&mut canvas, &layout, corner),
            None => legend.draw_above(&mut canvas, &layout, plan.plot, head.height),
        }
        canvas.finish()
    }

    fn shown(&self, (x, y): (f64, f64)) -> bool {
        x.is_finite() && y.is_finite() && (self.y_scale != ScaleKind::Log || y > 0.0)
    }

    /// Scales that hold all that is shown, with a little air above and below.
    fn scales(&self) -> (Scale, Scale) {
        let points = || {
            let points = self.curves.iter().flat_map(|curve| curve.points.iter().copied());
            points.filter(|point| self.shown(*point))
        };
        let ends = |values: &mut dyn Iterator<Item = f64>| {
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), value| {
                (value.min(lo), value.max(hi))
            })
        };
        let (lo, hi) = ends(&mut points().map(|(x, _)| x));
        let x_scale = Scale::new(ScaleKind::Linear, Range::new(lo, hi));
        let level = self.level.map(|(level, _)| level).filter(|level| self.shown((0.0, *level)));
        let (lo, hi) = ends(&mut points().map(|(_, y)| y).chain(level));
        let fitted = if lo.is_finite() { Range::new(lo, hi) } else { Range::new(1e-4, 1.0) };
        let scale = Scale::new(self.y_scale, self.y_range.unwrap_or(fitted));
        let (lo, hi) = (scale.range().lo(), scale.range().hi());
        let range = match self.y_scale {
            ScaleKind::Log => {
                let air = (hi / lo).powf(0.04).max(1.1);
                Range::new(lo / air, hi * air)
            }
            ScaleKind::Linear => {
                let air = 0.04 * (hi - lo);
                Range::new(lo - air, hi + air)
            }
            ScaleKind::Symmetric => Range::new(1.5 * lo, 1.5 * hi),
        };
        (x_scale, Scale::new(self.y_scale, range))
    }

    fn plan(&self, layout: &Layout, top: f64, x_scale: &Scale, y_scale: &Scale) -> Plan {
        let Layout { unit, .. } = *layout;
        let (w, h) = (f64::from(layout.width), f64::from(layout.height));
        let margin = layout.margin();
        let top = top.max(margin + 0.5 * unit);
        let bottom = margin + layout.x_axis_height(self.x_label);
        let height = (h - top - bottom).floor().max(8.0);
        let y_ticks = ticks(y_scale, room_for(height, 2.4 * unit, 13));
        let mark = layout.mark() + layout.gap() + layout.hairline();
        let labels = layout.widest(&y_ticks);
        let x = (margin + layout.upright_label_width(self.y_label) + labels + mark).round();
        // The last label below the plot reaches half its width beyond it.
        let size = layout.tick_label().size;
        let widest = layout.widest(&ticks(x_scale, 9));
        let right = margin.max(0.5 * widest + 2.0);
        let plot = Area { x, y: top, width: (w - x - right).floor().max(8.0), height };
        let x_ticks = ticks(x_scale, room_for(plot.width, widest.max(2.0 * size) + 1.8 * unit, 11));
        let y_label_x = x - mark - labels - layout.gap() - 0.5 * unit;
        Plan { plot, x_ticks, y_ticks, y_label_x }
    }

    /// Every curve in pixels.
    fn stretches(&self, plot: Area, x_scale: &Scale, y_scale: &Scale) -> Vec<Vec<Stretch>> {
        let of = |curve| self.stretches_of(curve, plot, x_scale, y_scale);
        self.curves.iter().map(of).collect()
    }

    fn stretches_of(
        &self,
        curve: &Curve<'_>,
        plot: Area,
        x_scale: &Scale,
        y_scale: &Scale,
    ) -> Vec<Stretch> {
        let place = |point| place(point, plot, x_scale, y_scale);
        let stretches = curve.points.split(|point| !self.shown(*point));
        let stretches = stretches.filter(|stretch| !stretch.is_empty());
        stretches.map(|stretch| thinned(stretch.iter().map(|point| place(*point)))).collect()
    }

    /// The corner of the plot in which the legend hides nothing.
    fn free_corner(
        &self,
        layout: &Layout,
        plan: &Plan,
        legend: &Legend<'_>,
        stretches: &[Vec<Stretch>],
        y_scale: &Scale,
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
        let level = self.level.map(|(level, name)| {
            let y = plot.bottom() - y_scale.position(level) * plot.height;
            // The name stands on the line.
            (y - if name.is_empty() { 0.0 } else { 1.4 * layout.unit }, y)
        });
        let free = |area: &Area| {
            let clear_of_level = level.is_none_or(|(from, to)| to < area.y || from > area.bottom());
            clear_of_level
                && stretches.iter().flatten().all(|stretch| !touches(stretch, *area, inset))
        };
        corners.into_iter().map(|(x, y)| Area { x, y, width, height }).find(free)
    }

    fn draw_bands(&self, canvas: &mut Canvas, plot: Area, x_scale: &Scale, y_scale: &Scale) {
        for band in self.bands {
            let both = band.low.iter().zip(band.high);
            let both: Vec<_> = both.map(|(low, high)| (*low, *high)).collect();
            let is_shown = |(low, high): &(_, _)| self.shown(*low) && self.shown(*high);
            for stretch in both.split(|pair| !is_shown(pair)).filter(|part| part.len() > 1) {
                let place = |point| place(point, plot, x_scale, y_scale);
                let there = stretch.iter().map(|(low, _)| place(*low));
                let back = stretch.iter().rev().map(|(_, high)| place(*high));
                let outline = format!("{}z", path(there.chain(back)));
                canvas.area(&outline, band.colour, BAND);
            }
        }
    }

    fn draw_marks(&self, canvas: &mut Canvas, layout: &Layout, plot: Area, x_scale: &Scale) {
        let line = layout.hairline();
        let (lo, hi) = (x_scale.range().lo(), x_scale.range().hi());
        let place = |mark: &f64| snapped(plot.x + x_scale.position(*mark) * plot.width, line);
        for marks in self.marks {
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
        y_scale: &Scale,
        stretches: &[Vec<Stretch>],
    ) {
        let Some((level, name)) = self.level else { return };
        if !self.shown((0.0, level)) {
            return;
        }
        let line = layout.hairline();
        let y = snapped(plot.bottom() - y_scale.position(level) * plot.height, line);
        let dash = Some(4.0 * line);
        let stroke = Stroke { dash, crisp: true, ..Stroke::solid(line, layout.palette.soft) };
        canvas.line(&format!("M{} {y}h{}", round(plot.x), round(plot.width)), stroke);
        let mut style = layout.tick_label();
        style.colour = layout.palette.soft;
        let name = fit(name, style.weight, style.size, plot.width - layout.unit);
        let (name_width, inset) = (width(&name, style.weight, style.size), 0.5 * layout.unit);
        // On the line, at the end where no curve runs through the name: mostly the left one.
        let height = 1.2 * layout.unit;
        let left = Area { x: plot.x + inset, y: y - height, width: name_width, height };
        let right = Area { x: plot.right() - inset - name_width, ..left };
        let free =
            |area: &Area| !stretches.iter().flatten().any(|stretch| touches(stretch, *area, line));
        let place = if !free(&left) && free(&right) { right } else { left };
        canvas.words(place.x, y - 0.7 * layout.unit, Anchor::Start, style, &name);
    }
}

fn draw_grid(canvas: &mut Canvas, layout: &Layout, plan: &Plan) {
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

/// How faint a part of a curve is that is still to come.
const TO_COME: f64 = 0.25;

/// How faint a band is.
const BAND: f64 = 0.2;

fn draw_dot(canvas: &mut Canvas, (x, y): (f64, f64), radius: f64, colour: [u8; 3]) {
    let r = round(radius);
    let (left, y) = (round(x - radius), round(y));
    let dot = format!("M{left} {y}a{r} {r} 0 1 1 {0} 0a{r} {r} 0 1 1 -{0} 0z", round(2.0 * r));
    canvas.area(&dot, colour, 1.0);
}

fn draw_curve(canvas: &mut Canvas, curve: &Curve<'_>, stretches: &[Stretch], stroke: Stroke) {
    let mut line = String::new();
    for stretch in stretches {
        match stretch[..] {
            // A point between two gaps is no line; it is shown as a dot.
            [point] => draw_dot(canvas, point, stroke.width, curve.colour),
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
    use crate::picture::{Theme, render};

    fn figure<'a>(curves: &'a [Curve<'a>], y_scale: ScaleKind) -> CurvesFigure<'a> {
        CurvesFigure {
            title: "Convergence",
            subtitle: "a < b & c",
            x_label: "cycles",
            y_label: "‖r‖ / ‖r₀‖",
            curves,
            bands: &[],
            y_scale,
            y_range: None,
            level: Some((1e-4, "tolerance")),
            marks: &[Marks { places: &[1.0, f64::NAN, 2.5], colour: [9; 3] }],
            page: Page { width: 400, height: 300, theme: Theme::Light, font: None },
        }
    }

    fn curve<'a>(label: &'a str, points: &'a [(f64, f64)]) -> Curve<'a> {
        let so_far = points.len();
        Curve { label, points, so_far, colour: Theme::Light.curve(0), dashed: false }
    }

    #[test]
    fn any_points_are_drawn() {
        let odd = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -1.0, 1e-320, 1.0, 1e308];
        let all: Vec<(f64, f64)> = odd.iter().flat_map(|x| odd.map(|y| (*x, y))).collect();
        for points in [&[][..], &all[..], &[(0.0, 1.0)][..], &[(3.0, 1e308), (1.0, -1e308)][..]] {
            for y_scale in ScaleKind::ALL {
                for level in [None, Some((1e-4, "tolerance")), Some((f64::NAN, ""))] {
                    let half = Curve { so_far: points.len() / 2, ..curve("", points) };
                    let curves = [curve("a", points), half];
                    let figure = CurvesFigure { level, ..figure(&curves, y_scale) };
                    let svg = figure.svg();
                    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
                    assert!(render(&svg).is_ok());
                }
            }
        }
        for (width, height) in [(64, 64), (300, 240), (8000, 300), (240, 3000)] {
            let points = [(0.0, 1.0), (100.0, 1e-6)];
            let many = [curve("a name that is rather long for a legend", &points); 12];
            let page = Page { width, height, theme: Theme::Dark, font: Some(15.0) };
            let svg = CurvesFigure { page, ..figure(&many, ScaleKind::Log) }.svg();
            assert_eq!(render(&svg).unwrap().dimensions(), (width, height));
        }
    }

    #[test]
    fn gaps_break_the_line() {
        let points = [(0.0, 1.0), (1.0, 0.5), (2.0, 0.0), (3.0, 0.2), (4.0, 0.1)];
        let stretches = |y_scale| {
            let curves = [curve("", &points)];
            let figure = figure(&curves, y_scale);
            let (x, y) = figure.scales();
            let plot = Area { x: 0.0, y: 0.0, width: 100.0, height: 100.0 };
            figure.stretches(plot, &x, &y)[0].len()
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
            let curves = [curve("a", points)];
            // Only a legend inside has a backdrop one can see through.
            figure(&curves, ScaleKind::Log).svg().contains("fill-opacity")
        };
        assert!(inside(&falling) && !inside(&zigzag));
    }
}
