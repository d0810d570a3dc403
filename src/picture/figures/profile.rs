//! A field along a line of the grid.

use crate::grid::{Need, Shape, Slice};
use crate::picture::axis::scale::{Range, ScaleKind};
use crate::picture::colour::paint::shown_values;
use crate::picture::draw::drawing::Drawing;
use crate::picture::figures::maps::known_range;
use crate::picture::figures::names::value_label;
use crate::picture::figures::run_colour::run_colour;
use crate::picture::figures::titles::Titles;
use crate::picture::plot::description::{Plot, PlotAxis, Series, VerticalLines};
use crate::picture::view::kind::{FigureKind, FigureType, Uses};
use crate::picture::view::spec::ViewSpec;
use crate::run::{self, CsvTable, CutLine, FieldKind, ProfileRequest, Snapshot, SnapshotRequest};

/// The field of each run along a cut, with the tile borders.
struct Profile;

impl FigureKind {
    /// A field along a line.
    pub const PROFILE: Self = Self::new(&Profile);
}

impl FigureType for Profile {
    fn name(&self) -> &'static str {
        "profile"
    }

    fn label(&self) -> &'static str {
        "Profile"
    }

    fn about(&self) -> &'static str {
        "The field along a line, with the tile borders, for one run or several."
    }

    fn about_table(&self) -> Option<&'static str> {
        Some("A table has the value at each point of the line.")
    }

    fn need(&self) -> Need {
        Need::Grid
    }

    fn file_stem(&self, field: FieldKind) -> String {
        format!("{}-profile", field.name())
    }

    fn uses(&self) -> Uses {
        Uses { cut: true, colours: false, projection: false, ..Uses::MAP }
    }

    fn beside(&self) -> [usize; 2] {
        [0, crate::picture::MOST_BESIDE]
    }

    fn compares_points(&self) -> bool {
        true
    }

    fn always_has_borders(&self) -> bool {
        true
    }

    fn request(&self, view: &ViewSpec, shape: &Shape, request: &mut SnapshotRequest) {
        let (line, slice) = (cut_of(view, shape), view.slice);
        let (fields, most) = (vec![request.field()], usize::MAX);
        request.observation.profile = Some(ProfileRequest { line, slice, fields, most });
    }

    fn range(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Option<Range> {
        let range = |snapshot: &&Snapshot| known_range(&snapshot.profile().values, view);
        let fitted = snapshots.iter().filter_map(range).reduce(Range::union)?;
        if view.figure.scale != ScaleKind::Log {
            return Some(fitted);
        }
        // A curve shows its lowest values, too, as far as the six decades of a map go.
        let values = snapshots.iter().flat_map(|snapshot| &snapshot.profile().values);
        let least = values.map(|value| value.abs()).filter(|value| *value > 0.0);
        let least = f64::from(least.fold(f32::INFINITY, f32::min));
        Some(fitted.union(Range::new(least.max(1e-6 * fitted.hi()), fitted.hi())))
    }

    fn title(&self, first: &Snapshot, view: &ViewSpec) -> String {
        let (label, shape) = (first.field().label(), &first.plan.problem.shape);
        if shape.dim() == 1 {
            return label.to_owned();
        }
        let slice = Slice::shown(view.slice, shape);
        let place = slice.map_or(String::new(), |slice| format!(" at {}", slice.label()));
        format!("{label} along {}{place}", spaced(cut_of(view, shape), slice))
    }

    fn draw(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing {
        let Some(first) = snapshots.first() else { return Drawing::Figure(String::new()) };
        let spec = &view.figure;
        let shape = &first.plan.problem.shape;
        let (cut, slice) = (cut_of(view, shape), Slice::shown(view.slice, shape));
        let shape = &shape.shown(slice);
        let Titles { title, subtitle, each } = Titles::of(snapshots, view);
        let series = |(index, (snapshot, name)): (usize, (&&Snapshot, String))| {
            let samples = snapshot.profile();
            let places = cut.points(shape).step_by(cut.block(samples));
            let places = places.map(|point| cut.place(point));
            let points = profile_points(places, &samples.values, spec.scale, spec.absolute);
            Series::line(name, points, run_colour(view, index))
        };
        let series = snapshots.iter().zip(each).enumerate().map(series).collect();
        // Runs with other tiles have borders of their own.
        let same = snapshots.iter().all(|snapshot| snapshot.plan.tiling == first.plan.tiling);
        let tilings = if same { &snapshots[..1] } else { snapshots };
        let marks = tilings.iter().enumerate().map(|(index, snapshot)| VerticalLines {
            places: cut.borders(shape, snapshot.plan.shown(slice).tiling()),
            colour: if same { spec.theme.borders() } else { run_colour(view, index) },
        });
        let of_devices = [0, 1].map(|axis| first.plan.device_borders_along(axis, slice));
        let of_devices = VerticalLines {
            places: cut.device_borders(shape, &of_devices),
            colour: spec.theme.reference(),
        };
        let marks = marks.filter(|_| spec.borders).chain([of_devices]).collect();
        let value = value_label(first.field(), spec.scale, spec.absolute);
        let range = spec.range.or_else(|| view.kind.range(snapshots, view));
        let mut plot = profile_plot(series, marks, &cut.axis_label(slice), &value, spec.scale);
        plot.y.range = range;
        Drawing::Figure(plot.svg(&title, &subtitle, &spec.page()))
    }

    fn tables<'a>(
        &self,
        snapshots: &[&'a Snapshot],
        view: &ViewSpec,
    ) -> Vec<(String, CsvTable<'a>)> {
        let table = |snapshot: &&'a Snapshot| {
            let shape = &snapshot.plan.problem.shape;
            let (cut, slice) = (cut_of(view, shape), Slice::shown(view.slice, shape));
            run::profile_table(shape, slice, cut, snapshot.field(), snapshot.profile())
        };
        let names = Titles::of(snapshots, view).each;
        names.into_iter().zip(snapshots.iter().map(table)).collect()
    }
}

/// The line of a view: the middle row, unless another was chosen.
fn cut_of(view: &ViewSpec, shape: &Shape) -> CutLine {
    view.cut.unwrap_or(CutLine::middle(&shape.shown(view.slice)))
}

/// Values at places along a line, as they are drawn on a scale of this kind.
pub fn profile_points(
    places: impl Iterator<Item = f64>,
    values: &[f32],
    scale: ScaleKind,
    absolute: bool,
) -> Vec<(f64, f64)> {
    let values = shown_values(values, scale, absolute);
    let is_magnitude = scale == ScaleKind::Log;
    let shown = |value: f32| f64::from(if is_magnitude { value.abs() } else { value });
    places.zip(&*values).map(|(place, value)| (place, shown(*value))).collect()
}

/// The plot of fields along a line, with tile borders.
pub fn profile_plot(
    series: Vec<Series>,
    marks: Vec<VerticalLines>,
    along: &str,
    value: &str,
    scale: ScaleKind,
) -> Plot {
    // The whole line, also where a value is infinite, or zero on a logarithmic axis.
    let points = series.iter().flat_map(|series| &series.points);
    let ends = points.map(|&(place, _)| (place, place));
    let ends = ends.reduce(|(low, high), (place, _)| (place.min(low), place.max(high)));
    let range = ends.map(|(low, high)| Range::new(low, high));
    let x = PlotAxis { range, ..PlotAxis::new(along, ScaleKind::Linear) };
    Plot { series, marks, ..Plot::new(x, PlotAxis::new(value, scale)) }
}

/// A cut as a title names it.
fn spaced(cut: CutLine, slice: Option<Slice>) -> String {
    match cut {
        CutLine::Segment([[i, row], [to, to_row]]) => format!("({i}, {row}) – ({to}, {to_row})"),
        _ => cut.text(slice).replace('=', " = "),
    }
}
