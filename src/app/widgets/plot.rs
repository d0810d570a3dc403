//! Plots as the window paints them: the same description as in figures, with pan and zoom.
//!
//! Ranges, ticks, numbers, colours and names come from the description
//! ([`Plot`](crate::picture::Plot)); what is added here is what a pointer can do.

use crate::app::widgets::labels::mathematics;
use crate::app::widgets::{legend, theme};
use crate::picture::{
    BAND_OPACITY, FAINT, Plot, PlotAxis, Range, Scale, ScaleKind, Series, seconds,
};
use eframe::egui::{Align, Align2, Color32, Pos2, Rangef, Response, RichText, TextStyle, Ui, Vec2};
use egui_plot::{
    AxisHints, FilledArea, GridInput, GridMark, HLine, HoverPosition, Line, LineStyle, PlotPoint,
    PlotTransform, Points, Text, VLine, VPlacement,
};
use std::cell::RefCell;
use std::rc::Rc;

/// Room beside a plot for the half of the last label that stands out.
pub const LABEL_ROOM: f32 = 10.0;

/// Room for the values beside a plot, such as `−5×10⁻⁴`, so that plots do not jump as values change.
const VALUE_ROOM: f32 = 58.0;

/// The least steps of a grid, in points; egui_plot measures by them.
const GRID_STEP: f64 = 8.0;

/// Room for a label of the y axis, and for a character of one of the x axis, in points.
const LABEL_HEIGHT: f64 = 31.0;
const CHARACTER: f64 = 7.0;

/// Room between labels of the x axis.
const BETWEEN: f64 = 22.0;

/// The most ticks of the two axes, as in figures.
const MAX_TICKS: [usize; 2] = [11, 13];

/// Solver times stand above a plot up to this share of its width.
const LAST_TIME: f64 = 0.95;

/// The most solver times above a plot.
const MOST_TIMES: usize = 5;

/// Widths of curves and of their parts, in points.
const CURVE: f32 = 1.8;
pub(super) const DOT: f32 = 2.6;
const HEAD: f32 = 4.5;

/// The length of dashes of curves and of levels.
pub(super) const DASH: f32 = 5.5;
const LEVEL_DASH: f32 = 4.0;

/// Marks nearer than this many points would hide the curves.
const NEAREST_MARKS: f64 = 4.0;

/// Room for the name of a level, in parts of the plot's width and height.
const NAME: [f64; 2] = [0.2, 0.07];

/// Logarithms beyond this have no number.
const LARGEST_EXPONENT: f64 = 150.0;

/// How a plot is put into a pane.
pub struct Frame<'a> {
    /// The id, which distinguishes plots.
    pub id: &'a str,
    /// In points.
    pub height: f32,
    /// Where the selected cycle lies along the x axis, if it is marked.
    pub cursor: Option<f64>,
    /// Whether names are written.
    pub has_legend: bool,
}

/// What is under the pointer.
pub struct Pointed<'a> {
    /// The value on the x axis.
    pub x: f64,
    plot: &'a Plot,
}

impl<'a> Pointed<'a> {
    /// The names of the curves, and their values at the place of the pointer. Of several curves, those
    /// without a name, or with the name of others, belong to another.
    pub fn values(&self) -> impl Iterator<Item = (&'a str, f64)> {
        let (x, series) = (self.x, &self.plot.series);
        let is_own = |name: &str| {
            !name.is_empty() && series.iter().filter(|other| other.name == name).count() == 1
        };
        let named = series.iter().filter(move |it| is_own(&it.name) || series.len() == 1);
        let values =
            named.filter_map(move |series| Some((series.name.as_str(), series.value_near(x)?)));
        values.filter(|(_, value)| value.is_finite())
    }
}

/// A plot that was painted.
pub struct Painted {
    pub response: Response,
    /// Where the pointer is along the x axis.
    pub pointer: Option<f64>,
    axes: [Warp; 2],
    transform: PlotTransform,
}

impl Painted {
    /// Where a point of the plot lies on the screen.
    pub fn position(&self, at: (f64, f64)) -> Pos2 {
        self.transform.position_from_point(&self.place(at).into())
    }

    /// The places of a point along the axes of the toolkit.
    pub(super) fn place(&self, (x, y): (f64, f64)) -> [f64; 2] {
        let [across, up] = self.axes;
        [across.place(x), up.place(y)]
    }

    /// The point at such places.
    pub(super) fn value(&self, [x, y]: [f64; 2]) -> (f64, f64) {
        let [across, up] = self.axes;
        (across.value(x), up.value(y))
    }

    /// How much a place changes along each of those axes with a point of the screen, to the right and down.
    pub(super) fn per_point(&self) -> [f64; 2] {
        self.transform.dvalue_dpos()
    }
}

/// From values to places along an axis of the toolkit, and back.
#[derive(Clone, Copy)]
struct Warp(Scale);

impl Warp {
    fn place(self, value: f64) -> f64 {
        match self.0.kind() {
            ScaleKind::Linear => value,
            ScaleKind::Log => value.log10(),
            ScaleKind::Symmetric => self.0.position(value),
        }
    }

    fn value(self, place: f64) -> f64 {
        match self.0.kind() {
            ScaleKind::Linear => place,
            ScaleKind::Log => 10f64.powf(place.clamp(-LARGEST_EXPONENT, LARGEST_EXPONENT)),
            ScaleKind::Symmetric => self.0.value(place),
        }
    }

    fn ends(self) -> [f64; 2] {
        [self.0.range().lo(), self.0.range().hi()].map(|end| self.place(end))
    }

    /// The ticks of the part of the axis that is seen, by their places; `room` is its length in points.
    fn ticks(self, axis: &PlotAxis, (low, high): (f64, f64), room: f64, across: bool) -> Ticks {
        let scale = match self.0.kind() {
            // All of it is one scale, wherever one has zoomed to.
            ScaleKind::Symmetric => self.0,
            kind => Scale::new(kind, Range::new(self.value(low), self.value(high))),
        };
        let each = match across {
            true => {
                let widest = axis.ticks(&scale, 9);
                let widest = widest.iter().map(|tick| tick.label.chars().count()).max();
                widest.unwrap_or(0).max(2) as f64 * CHARACTER + BETWEEN
            }
            false => LABEL_HEIGHT,
        };
        let most = ((room / each) as usize).clamp(2, MAX_TICKS[usize::from(!across)]);
        let ticks = axis.ticks(&scale, most).into_iter();
        ticks.map(|tick| (self.place(scale.value(tick.position)), tick.label)).collect()
    }
}

type Ticks = Vec<(f64, String)>;

/// The ticks of an axis: found by its grid, and written beside it.
#[derive(Clone, Default)]
struct Labels(Rc<RefCell<Ticks>>);

impl Labels {
    fn grid(
        &self,
        warp: Warp,
        axis: PlotAxis,
        across: bool,
    ) -> impl Fn(GridInput) -> Vec<GridMark> {
        let labels = self.clone();
        move |input| {
            let (low, high) = input.bounds;
            let room = (high - low) / input.base_step_size * GRID_STEP;
            if !(room.is_finite() && room > 0.0) {
                return Vec::new();
            }
            let mut ticks = warp.ticks(&axis, input.bounds, room, across);
            if across {
                // A label that would stand out of the pane is left out; its grid line stays.
                for (at, label) in &mut ticks {
                    let half = label.chars().count() as f64 * CHARACTER / 2.0;
                    if (*at - low) / (high - low) * room + half > room + f64::from(LABEL_ROOM) {
                        label.clear();
                    }
                }
            }
            // Each is as important as the others.
            let marks =
                ticks.iter().map(|(value, _)| GridMark { value: *value, step_size: high - low });
            let marks = marks.collect();
            labels.0.replace(ticks);
            marks
        }
    }

    fn text(&self, at: f64) -> String {
        let ticks = self.0.borrow();
        let tick = ticks.iter().find(|(value, _)| *value == at);
        tick.map(|(_, label)| label.clone()).unwrap_or_default()
    }

    /// The solver times at the ticks, above the plot.
    fn times(&self, axis: &PlotAxis) -> AxisHints<'static> {
        let (labels, axis) = (self.clone(), axis.clone());
        AxisHints::new_x().placement(VPlacement::Top).formatter(move |mark, bounds| {
            // A time at the right end would be cut off by the edge of the pane.
            let share = (mark.value - bounds.start()) / (bounds.end() - bounds.start());
            if share > LAST_TIME {
                return String::new();
            }
            let ticks = labels.0.borrow();
            let index = ticks.iter().position(|(at, label)| *at == mark.value && !label.is_empty());
            // Times are longer than the labels of most ticks.
            let each = ticks.len().div_ceil(MOST_TIMES).max(1);
            let is_shown = index.is_some_and(|index| index > 0 && index % each == 0);
            axis.time_at(mark.value).filter(|_| is_shown).map(seconds).unwrap_or_default()
        })
    }

    fn hints(&self, ui: &Ui, hints: AxisHints<'static>, title: &str) -> AxisHints<'static> {
        let labels = self.clone();
        let font = TextStyle::Small.resolve(ui.style());
        hints
            .label(mathematics(title, font, ui.visuals().text_color()))
            .label_spacing(Rangef::new(0.0, 1.0))
            .formatter(move |mark, _| labels.text(mark.value))
    }
}

/// Paints a plot. `read_off` describes what is under the pointer from the values of the curves there.
pub fn ui<'a>(
    ui: &mut Ui,
    frame: &Frame<'_>,
    plot: &'a Plot,
    read_off: impl Fn(Pointed<'_>) -> Option<String> + 'a,
) -> Painted {
    let [x, y] = plot.scales().map(Warp);
    let ink = ui.visuals().text_color();
    let entries = plot.legend([ink.r(), ink.g(), ink.b()]);
    let mut hidden = legend::hidden(ui, frame.id);
    let top = ui.cursor().top();
    if frame.has_legend && !entries.is_empty() {
        legend::ui(ui, frame.id, &entries, &mut hidden);
    }
    let height = frame.height - (ui.cursor().top() - top);
    let labels = [Labels::default(), Labels::default()];
    let (x_ends, y_ends) = (x.ends(), y.ends());
    let has_times = plot.x.scale == ScaleKind::Linear && !plot.x.times.is_empty();
    let title = match has_times {
        true => format!("{}; above, solver time", plot.x.title),
        false => plot.x.title.clone(),
    };
    let hints_x = labels[0].hints(ui, AxisHints::new_x(), &title);
    let times = has_times.then(|| labels[0].times(&plot.x));
    let hints_y = labels[1].hints(ui, AxisHints::new_y(), &plot.y.title).min_thickness(VALUE_ROOM);
    let mut painted = egui_plot::Plot::new(frame.id)
        .height(height)
        .width(ui.available_width() - LABEL_ROOM)
        .set_margin_fraction(Vec2::ZERO)
        .grid_spacing(Rangef::new(GRID_STEP as f32, 300.0))
        .x_grid_spacer(labels[0].grid(x, plot.x.clone(), true))
        .y_grid_spacer(labels[1].grid(y, plot.y.clone(), false))
        .custom_x_axes([hints_x].into_iter().chain(times).collect())
        .custom_y_axes(vec![hints_y])
        .label_formatter(move |hover| {
            let (HoverPosition::NearDataPoint { position, .. }
            | HoverPosition::Elsewhere { position }) = hover;
            read_off(Pointed { x: x.value(position.x), plot })
        })
        .allow_scroll(false)
        .grid_color(theme::grid(ui));
    for (x, y) in x_ends.into_iter().zip(y_ends) {
        painted = painted.include_x(x).include_y(y);
    }
    let weak = ui.visuals().weak_text_color();
    let strong = ui.visuals().text_color();
    let cursor = frame.cursor.map(|at| x.place(at)).filter(|place| place.is_finite());
    let width = f64::from(ui.available_width().max(1.0));
    let painted = painted.show(ui, move |paint| {
        let items = Items { plot, x, y };
        items.bands(paint);
        items.marks(paint, x_ends, width);
        items.levels(paint, weak);
        for series in plot.series.iter().filter(|series| !hidden.contains(&series.name)) {
            items.series(paint, series);
        }
        if let Some(at) = cursor {
            let line = VLine::new("", at).color(strong.gamma_multiply(0.6)).width(1.0);
            paint.vline(line.allow_hover(false));
        }
    });
    let pointer = painted.response.hover_pos();
    let pointer = pointer.map(|at| x.value(painted.transform.value_from_position(at).x));
    Painted { response: painted.response, pointer, axes: [x, y], transform: painted.transform }
}

/// What is painted of a plot.
struct Items<'a> {
    plot: &'a Plot,
    x: Warp,
    y: Warp,
}

type Paint<'a> = egui_plot::PlotUi<'a>;

impl Items<'_> {
    fn place(&self, (x, y): (f64, f64)) -> [f64; 2] {
        [self.x.place(x), self.y.place(y)]
    }

    /// The stretches of points without a gap.
    fn stretches(&self, points: &[(f64, f64)]) -> Vec<Vec<[f64; 2]>> {
        let stretches = points.split(|point| !self.plot.has_place(*point));
        let stretches = stretches.filter(|stretch| !stretch.is_empty());
        stretches.map(|stretch| stretch.iter().map(|at| self.place(*at)).collect()).collect()
    }

    fn bands(&self, paint: &mut Paint<'_>) {
        for band in &self.plot.bands {
            let both = band.low.iter().zip(&band.high);
            let both = both
                .filter(|(low, high)| self.plot.has_place(**low) && self.plot.has_place(**high));
            let mut sides = [Vec::new(), Vec::new(), Vec::new()];
            for (low, high) in both {
                let ([x, low], [_, high]) = (self.place(*low), self.place(*high));
                for (side, value) in sides.iter_mut().zip([x, low, high]) {
                    side.push(value);
                }
            }
            let [x, low, high] = &sides;
            let area = FilledArea::new("", x, low, high);
            let fill = colour(band.colour).gamma_multiply(BAND_OPACITY as f32);
            paint.add(area.fill_color(fill).allow_hover(false));
        }
    }

    fn marks(&self, paint: &mut Paint<'_>, [start, end]: [f64; 2], width: f64) {
        for marks in &self.plot.marks {
            let places = marks.places.iter().map(|at| self.x.place(*at));
            let places: Vec<_> = places.filter(|at| (start..=end).contains(at)).collect();
            let apart = NEAREST_MARKS / width * (end - start);
            if places.windows(2).any(|pair| (pair[1] - pair[0]).abs() < apart) {
                continue;
            }
            let faint = colour(marks.colour).gamma_multiply(0.5);
            for at in places {
                paint.vline(VLine::new("", at).color(faint).width(1.0).allow_hover(false));
            }
        }
    }

    fn levels(&self, paint: &mut Paint<'_>, weak: Color32) {
        let (low, high) = (paint.plot_bounds().min(), paint.plot_bounds().max());
        let [left, right] = match [low[0], high[0]] {
            ends if ends.iter().all(|end| end.is_finite()) => ends,
            _ => self.x.ends(),
        };
        let [name_width, name_height] = [NAME[0] * (right - left), NAME[1] * (high[1] - low[1])];
        for level in &self.plot.levels {
            if !self.plot.has_place((0.0, level.value)) {
                continue;
            }
            let y = self.y.place(level.value);
            let style = LineStyle::Dashed { length: LEVEL_DASH };
            paint.hline(HLine::new("", y).color(weak).style(style).allow_hover(false));
            // At the end of the line, and on the side of it, where no curve runs through the name.
            let places = [
                (left, left + name_width, y, y + name_height, Align2::LEFT_BOTTOM),
                (right - name_width, right, y, y + name_height, Align2::RIGHT_BOTTOM),
                (left, left + name_width, y - name_height, y, Align2::LEFT_TOP),
                (right - name_width, right, y - name_height, y, Align2::RIGHT_TOP),
            ];
            let free = places
                .iter()
                .find(|(from, to, bottom, top, _)| !self.crosses([*from, *to], [*bottom, *top]));
            let (from, to, .., anchor) = *free.unwrap_or(&places[0]);
            let at = if anchor.x() == Align::Min { from } else { to };
            let text = RichText::new(format!(" {} ", level.name)).small();
            let text = Text::new("", PlotPoint::new(at, y), text).color(weak);
            paint.text(text.anchor(anchor).allow_hover(false));
        }
    }

    /// Whether a curve has a point, or passes, in a rectangle of places.
    fn crosses(&self, [left, right]: [f64; 2], [bottom, top]: [f64; 2]) -> bool {
        let points = |series: &Series| self.stretches(&series.points);
        self.plot.series.iter().flat_map(points).any(|mut stretch| {
            // A curve of a single point is a line from that to itself.
            stretch.extend(stretch.last().copied());
            !within(&stretch, [left, bottom], [right, top]).is_empty()
        })
    }

    /// A curve: faint where its points are still to come, with a dot at the last one so far.
    fn series(&self, paint: &mut Paint<'_>, series: &Series) {
        let ink = colour(series.colour);
        let name = series.name.as_str();
        for &(x, low, high) in &series.errors {
            if self.plot.has_place((x, low)) && self.plot.has_place((x, high)) {
                let ends = vec![self.place((x, low)), self.place((x, high))];
                paint.line(Line::new("", ends).color(ink).width(1.0).allow_hover(false));
            }
        }
        let so_far = series.so_far.min(series.points.len());
        let is_whole = so_far == series.points.len();
        if !is_whole {
            let faint = ink.gamma_multiply(FAINT as f32);
            for stretch in self.stretches(&series.points[so_far.saturating_sub(1)..]) {
                for part in shown(stretch, series, paint) {
                    paint.line(line("", part, series, faint));
                }
            }
        }
        let stretches = self.stretches(&series.points[..so_far]);
        let head = stretches.last().and_then(|stretch| stretch.last()).copied();
        for stretch in stretches {
            match stretch[..] {
                [point] => paint.points(dots(name, vec![point], CURVE, ink)),
                _ => {
                    for part in shown(stretch, series, paint) {
                        paint.line(line(name, part, series, ink));
                    }
                }
            }
        }
        if let Some(head) = head.filter(|_| !is_whole) {
            paint.points(dots("", vec![head], HEAD, ink).allow_hover(false));
        }
        if series.has_dots {
            let points = self.stretches(&series.points).concat();
            paint.points(dots(name, points, DOT, ink));
        }
    }
}

/// The parts of a curve to paint. Of a dashed one that is what is seen: the toolkit makes dashes along the whole
/// curve, millions of them beyond the edges where one has zoomed in.
fn shown(stretch: Vec<[f64; 2]>, series: &Series, paint: &Paint<'_>) -> Vec<Vec<[f64; 2]>> {
    let bounds = paint.plot_bounds();
    let [low, high] = [bounds.min(), bounds.max()];
    if !series.dashed || low.iter().chain(&high).any(|end| !end.is_finite()) {
        return vec![stretch];
    }
    within(&stretch, low, high)
}

/// The parts of a polygonal line in a rectangle (Liang and Barsky, *A new concept and method for line clipping*, ACM
/// Trans. Graphics 3 (1984)).
fn within(line: &[[f64; 2]], low: [f64; 2], high: [f64; 2]) -> Vec<Vec<[f64; 2]>> {
    let mut parts: Vec<Vec<[f64; 2]>> = Vec::new();
    for pair in line.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let (mut first, mut last) = (0.0_f64, 1.0_f64);
        for axis in [0, 1] {
            let length = to[axis] - from[axis];
            let [at_low, at_high] = [low, high].map(|end| end[axis] - from[axis]);
            if length == 0.0 {
                if at_low > 0.0 || at_high < 0.0 {
                    last = -1.0;
                }
                continue;
            }
            let [enters, leaves] = match length > 0.0 {
                true => [at_low / length, at_high / length],
                false => [at_high / length, at_low / length],
            };
            (first, last) = (first.max(enters), last.min(leaves));
        }
        if first > last {
            continue;
        }
        let at = |share: f64| [0, 1].map(|axis| from[axis] + share * (to[axis] - from[axis]));
        let (start, end) =
            (if first == 0.0 { from } else { at(first) }, if last == 1.0 { to } else { at(last) });
        match parts.last_mut() {
            Some(part) if part.last() == Some(&start) => part.push(end),
            _ => parts.push(vec![start, end]),
        }
    }
    parts
}

fn line<'a>(name: &str, points: Vec<[f64; 2]>, series: &Series, ink: Color32) -> Line<'a> {
    let line = Line::new(name, points).color(ink).width(CURVE);
    match series.dashed {
        true => line.style(LineStyle::Dashed { length: DASH }),
        false => line,
    }
}

fn dots<'a>(name: &str, points: Vec<[f64; 2]>, radius: f32, ink: Color32) -> Points<'a> {
    Points::new(name, points).radius(radius).color(ink)
}

/// The colour of a description.
pub fn colour([red, green, blue]: [u8; 3]) -> Color32 {
    Color32::from_rgb(red, green, blue)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(scale: ScaleKind) -> PlotAxis {
        PlotAxis::new("", scale)
    }

    fn labels(scale: ScaleKind, ends: (f64, f64), room: f64) -> Vec<String> {
        let warp = Warp(Scale::new(scale, Range::new(ends.0, ends.1)));
        let [low, high] = warp.ends();
        let ticks = warp.ticks(&axis(scale), (low, high), room, false);
        ticks.into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_those_of_figures() {
        assert_eq!(
            labels(ScaleKind::Log, (1e-4, 1.0), 400.0),
            ["10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", "1"]
        );
        assert_eq!(labels(ScaleKind::Linear, (0.0, 256.0), 190.0)[..2], ["0", "50"]);
        assert!(labels(ScaleKind::Symmetric, (-1.0, 1.0), 300.0).contains(&"0".to_owned()));
    }

    #[test]
    fn a_line_is_cut_at_the_edges() {
        let line = [[-10.0, 0.5], [0.5, 0.5], [0.5, 1e9], [0.75, 1e9], [0.75, 0.25], [2.0, 0.25]];
        let parts = within(&line, [0.0, 0.0], [1.0, 1.0]);
        let expected = [
            vec![[0.0, 0.5], [0.5, 0.5], [0.5, 1.0]],
            vec![[0.75, 1.0], [0.75, 0.25], [1.0, 0.25]],
        ];
        assert_eq!(parts.len(), 2, "{parts:?}");
        for (part, expected) in parts.iter().flatten().zip(expected.iter().flatten()) {
            assert!((0..2).all(|axis| (part[axis] - expected[axis]).abs() < 1e-6), "{parts:?}");
        }
        assert!(within(&line, [5.0, 5.0], [6.0, 6.0]).is_empty());
        assert!(within(&line[..1], [0.0, 0.0], [1.0, 1.0]).is_empty());
        // A point as a line to itself, inside and outside.
        assert_eq!(within(&[[0.5, 1.0]; 2], [0.0, 0.0], [1.0, 1.0]), [[[0.5, 1.0]; 2]]);
        assert!(within(&[[0.5, 1.5]; 2], [0.0, 0.0], [1.0, 1.0]).is_empty());
    }

    #[test]
    fn a_place_has_its_value_wherever_one_zooms_to() {
        for kind in ScaleKind::ALL {
            let warp = Warp(Scale::new(kind, Range::new(1e-3, 5.0)));
            for value in [1e-3, 0.2, 5.0] {
                let back = warp.value(warp.place(value));
                assert!((back / value - 1.0).abs() < 1e-6, "{kind:?}: {value}, {back}");
            }
            for bounds in [(-1e9, 1e9), (0.0, 1e-300), (-1e-12, 1e-12), (f64::MIN, f64::MAX)] {
                let ticks = warp.ticks(&axis(kind), bounds, 300.0, true);
                assert!(ticks.len() <= MAX_TICKS[0].max(3), "{kind:?} {bounds:?}");
            }
        }
    }
}
