//! What a plot shows: axes, series, bands, marks and levels, without a word of how it is painted.
//!
//! Figures paint it as SVG ([`Plot::svg`]), the window with its own toolkit. Both take their ranges
//! from [`Plot::scales`] and their ticks from [`PlotAxis::ticks`], so that they agree.

use crate::picture::axis::scale::{Range, Scale, ScaleKind};
use crate::picture::axis::ticks::{Tick, ticks};

/// The opacity of the part of a curve that is still to come.
pub const FAINT: f64 = 0.25;

/// The opacity of a band.
pub const BAND_OPACITY: f64 = 0.2;

/// A plot of series over a common axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// Across.
    pub x: PlotAxis,
    /// Upwards.
    pub y: PlotAxis,
    /// Drawn in this order, later ones above earlier ones.
    pub series: Vec<Series>,
    /// Drawn below all series.
    pub bands: Vec<Band>,
    /// Thin vertical lines, such as tile borders; none of a group are drawn where they are too dense.
    pub marks: Vec<VerticalLines>,
    /// Horizontal lines, such as the tolerance.
    pub levels: Vec<Level>,
}

/// An axis of a [`Plot`].
#[derive(Clone, Debug, PartialEq)]
pub struct PlotAxis {
    /// What is written along it; may be empty.
    pub title: String,
    /// How values are spread along it.
    pub scale: ScaleKind,
    /// Its lowest and highest value; `None` to fit the series.
    pub range: Option<Range>,
    /// Which values are marked, and how they are written.
    pub ticks: TickStyle,
    /// Solver time in seconds at places along the axis, from left to right: the window writes it beside
    /// the ticks. Times differ from run to run, so that figures do not have it.
    pub times: Vec<(f64, f64)>,
}

/// Which values of an axis are marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TickStyle {
    /// Round values.
    #[default]
    Round,
    /// Powers of two; the axis has their exponents (log₂).
    PowersOfTwo,
    /// A name for each interval from one whole number to the next, from 0 on.
    Names(&'static [&'static str]),
}

/// A curve of a [`Plot`].
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend; one without a name is not listed, and those of one name share an entry.
    pub name: String,
    /// Its points, from left to right. It is broken where a value is not finite, or not positive
    /// on a logarithmic axis.
    pub points: Vec<(f64, f64)>,
    /// How many of the points belong to the selected cycle and those before it; later ones are faint.
    pub so_far: usize,
    /// Red, green, blue; see [`Theme::curve`](crate::picture::Theme::curve).
    pub colour: [u8; 3],
    /// Whether it is dashed, as a reference beside runs.
    pub dashed: bool,
    /// Whether its points are drawn as dots.
    pub has_dots: bool,
    /// Error bars: the abscissa, the lower and the upper end.
    pub errors: Vec<(f64, f64, f64)>,
}

/// Thin vertical lines.
#[derive(Clone, Debug, PartialEq)]
pub struct VerticalLines {
    /// Where, in units of the x axis.
    pub places: Vec<f64>,
    /// Red, green, blue.
    pub colour: [u8; 3],
}

/// What lies between two curves.
#[derive(Clone, Debug, PartialEq)]
pub struct Band {
    /// Its lower end, from left to right.
    pub low: Vec<(f64, f64)>,
    /// Its upper end, at the same abscissas.
    pub high: Vec<(f64, f64)>,
    /// Red, green, blue; it is drawn faintly.
    pub colour: [u8; 3],
}

/// A horizontal line.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Where, in units of the y axis.
    pub value: f64,
    /// What is written on it; may be empty.
    pub name: String,
}

impl Plot {
    /// The entries of the legend, as series without points: one for every name, drawn as its curves are, and in
    /// `ink` where their colours differ. One with dots is of a series that has no line.
    pub fn legend(&self, ink: [u8; 3]) -> Vec<Series> {
        let mut entries: Vec<Series> = Vec::new();
        for series in self.series.iter().filter(|series| !series.name.is_empty()) {
            match entries.iter_mut().find(|entry| entry.name == series.name) {
                Some(entry) if entry.colour != series.colour => entry.colour = ink,
                Some(_) => {}
                None => entries.push(Series {
                    dashed: series.dashed,
                    has_dots: series.has_dots && !series.has_lines(),
                    ..Series::line(series.name.as_str(), Vec::new(), series.colour)
                }),
            }
        }
        entries
    }
}

impl Series {
    /// The value of the point nearest to a place along the x axis; `None` beyond its ends.
    pub fn value_near(&self, place: f64) -> Option<f64> {
        let (first, last) = (self.points.first()?.0, self.points.last()?.0);
        if !(first..=last).contains(&place) {
            return None;
        }
        let next = self.points.partition_point(|(at, _)| *at < place);
        let candidates = [next.checked_sub(1), Some(next)].into_iter().flatten();
        let near = candidates.filter_map(|index| self.points.get(index));
        let nearest = near.min_by(|a, b| (a.0 - place).abs().total_cmp(&(b.0 - place).abs()));
        nearest.map(|(_, value)| *value)
    }

    /// Whether a line leads from one of its points to the next.
    fn has_lines(&self) -> bool {
        self.points.windows(2).any(|pair| pair.iter().all(|(_, y)| y.is_finite()))
    }

    /// A solid line through these points.
    pub fn line(name: impl Into<String>, points: Vec<(f64, f64)>, colour: [u8; 3]) -> Self {
        let so_far = points.len();
        let (name, dashed, has_dots) = (name.into(), false, false);
        Self { name, points, so_far, colour, dashed, has_dots, errors: Vec::new() }
    }
}

impl PlotAxis {
    /// An axis with round ticks that fits the series.
    pub fn new(title: impl Into<String>, scale: ScaleKind) -> Self {
        let (range, ticks, times) = (None, TickStyle::Round, Vec::new());
        Self { title: title.into(), scale, range, ticks, times }
    }

    /// At most `most` marks of a scale of this axis, in rising order.
    pub fn ticks(&self, scale: &Scale, most: usize) -> Vec<Tick> {
        match self.ticks {
            TickStyle::Round => ticks(scale, most),
            TickStyle::PowersOfTwo => powers_of_two(scale, most),
            TickStyle::Names(names) => named(scale, names),
        }
    }

    /// The solver time at a place, if it is known.
    pub fn time_at(&self, place: f64) -> Option<f64> {
        let next = self.times.partition_point(|(at, _)| *at < place);
        let &(right, later) = self.times.get(next)?;
        if right == place {
            return Some(later);
        }
        let &(left, earlier) = self.times.get(next.checked_sub(1)?)?;
        Some(earlier + (later - earlier) * (place - left) / (right - left))
    }
}

/// The names of intervals whose middle lies within a scale.
fn named(scale: &Scale, names: &[&str]) -> Vec<Tick> {
    let middles = names.iter().enumerate().map(|(number, name)| (number as f64 + 0.5, name));
    let within = middles.filter(|(at, _)| (scale.range().lo()..=scale.range().hi()).contains(at));
    within
        .map(|(at, name)| Tick { position: scale.position(at), label: (*name).to_owned() })
        .collect()
}

/// Whole exponents of two within a scale, evenly thinned to `most`.
fn powers_of_two(scale: &Scale, most: usize) -> Vec<Tick> {
    /// The largest power that a whole number of 64 bits holds.
    const LARGEST: f64 = 63.0;
    let (lo, hi) = (scale.range().lo().max(0.0).ceil(), scale.range().hi().min(LARGEST).floor());
    if lo > hi {
        return Vec::new();
    }
    let count = (hi - lo) as usize + 1;
    let step = count.div_ceil(most.max(1));
    let tick = |index: usize| {
        let exponent = lo + index as f64;
        let label = (1_u64 << exponent as u64).to_string();
        Tick { position: scale.position(exponent), label }
    };
    (0..count).step_by(step).map(tick).collect()
}

impl Plot {
    /// Axes without anything on them.
    pub fn new(x: PlotAxis, y: PlotAxis) -> Self {
        let (series, bands, marks, levels) = Default::default();
        Self { x, y, series, bands, marks, levels }
    }

    /// The same with a logarithmic x axis, on which the initial guess, at 0, has no place.
    pub fn with_log_x(mut self) -> Self {
        self.x.scale = ScaleKind::Log;
        for series in &mut self.series {
            let points = series.points.len();
            series.points.retain(|(along, _)| *along > 0.0);
            series.so_far = series.so_far.saturating_sub(points - series.points.len());
        }
        self
    }

    /// Whether a point has a place on the axes.
    pub fn has_place(&self, (x, y): (f64, f64)) -> bool {
        x.is_finite() && y.is_finite() && (self.y.scale != ScaleKind::Log || y > 0.0)
    }

    /// The scales across and upwards, which hold all that is shown, with a small margin above and below.
    pub fn scales(&self) -> [Scale; 2] {
        let (lo, hi) = ends(self.points().map(|(x, _)| x));
        let x_range = self.x.range.unwrap_or(Range::new(lo, hi));
        let scale = Scale::new(self.y.scale, self.y_range());
        [Scale::new(self.x.scale, x_range), Scale::new(self.y.scale, with_margin(&scale))]
    }

    /// The range of the y axis without its margin: the one that was set, or that of all that is shown.
    pub fn y_range(&self) -> Range {
        let levels = self.levels.iter().map(|level| level.value);
        let levels = levels.filter(|value| self.has_place((0.0, *value)));
        let (lo, hi) = ends(self.points().map(|(_, y)| y).chain(levels));
        let fitted = if lo.is_finite() { Range::new(lo, hi) } else { Range::new(1e-4, 1.0) };
        self.y.range.unwrap_or(fitted)
    }

    /// The points and the ends of error bars that have a place on the axes.
    fn points(&self) -> impl Iterator<Item = (f64, f64)> {
        let points = self.series.iter().flat_map(|series| {
            let ends = series.errors.iter();
            let ends = ends.flat_map(|&(x, low, high)| [(x, low), (x, high)]);
            series.points.iter().copied().chain(ends)
        });
        points.filter(|point| self.has_place(*point))
    }
}

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), value| (value.min(lo), value.max(hi)))
}

/// The range of a scale, with a small margin.
fn with_margin(scale: &Scale) -> Range {
    let (lo, hi) = (scale.range().lo(), scale.range().hi());
    match scale.kind() {
        ScaleKind::Log => {
            let air = (hi / lo).powf(0.04).max(1.1);
            Range::new(lo / air, hi * air)
        }
        ScaleKind::Linear => {
            let air = 0.04 * (hi - lo);
            Range::new(lo - air, hi + air)
        }
        ScaleKind::Symmetric => Range::new(1.5 * lo, 1.5 * hi),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_is_read_at_its_nearest_point() {
        let series = Series::line("", vec![(0.0, 1.0), (4.0, 0.5), (8.0, 0.25)], [0; 3]);
        let read = |place| series.value_near(place);
        assert_eq!([0.0, 1.9, 2.1, 8.0].map(read), [1.0, 1.0, 0.5, 0.25].map(Some));
        assert_eq!([-0.1, 8.1].map(read), [None; 2]);
        assert_eq!(Series::line("", Vec::new(), [0; 3]).value_near(0.0), None);
    }

    #[test]
    fn the_time_at_a_place_is_interpolated() {
        let times = vec![(0.0, 0.0), (10.0, 1.0), (20.0, 3.0)];
        let axis = PlotAxis { times, ..PlotAxis::new("sweeps", ScaleKind::Linear) };
        assert_eq!(
            [0.0, 5.0, 15.0, 20.0].map(|at| axis.time_at(at)),
            [0.0, 0.5, 2.0, 3.0].map(Some)
        );
        assert_eq!([-1.0, 21.0].map(|at| axis.time_at(at)), [None; 2]);
    }
}
