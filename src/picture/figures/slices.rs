//! A field on three slices of a 3D grid, one across each axis, through one point.

use crate::grid::{Need, Shape, Slice};
use crate::picture::axis::scale::{Range, Scale};
use crate::picture::axis::ticks::bar_ticks;
use crate::picture::colour::paint::{Samples, shown_values};
use crate::picture::draw::canvas::{Canvas, Stroke, round};
use crate::picture::draw::drawing::Drawing;
use crate::picture::draw::layout::{Area, Head, Layout, over, room_for, snapped};
use crate::picture::figures::maps::{borders, device_borders, range_of, scale};
use crate::picture::figures::names::value_label;
use crate::picture::figures::titles::Titles;
use crate::picture::plot::heat_map::{
    BAR_APART, HeatMapFigure, MapAxis, Panel, axis_ticks, bar_with_ends, end_height, whole_steps,
};
use crate::picture::view::kind::{FigureKind, FigureType, Uses};
use crate::picture::view::spec::ViewSpec;
use crate::run::{FieldKind, SlicesRequest, Snapshot, SnapshotRequest};
use crate::solver;

/// Three slices beside each other.
struct Slices;

impl FigureKind {
    /// Three slices through one point of a 3D grid.
    pub const SLICES: Self = Self::new(&Slices);
}

impl FigureType for Slices {
    fn name(&self) -> &'static str {
        "slices"
    }

    fn label(&self) -> &'static str {
        "Three slices"
    }

    fn about(&self) -> &'static str {
        "The field on three slices of a 3D grid, one across each axis, through one point."
    }

    fn file_stem(&self, field: FieldKind) -> String {
        format!("{}-slices", field.name())
    }

    fn need(&self) -> Need {
        Need::Grid3d
    }

    fn uses(&self) -> Uses {
        Uses { through: true, projection: false, ..Uses::MAP }
    }

    fn size(&self) -> [u32; 2] {
        [1600, 700]
    }

    fn request(&self, view: &ViewSpec, shape: &Shape, request: &mut SnapshotRequest) {
        let most = view.figure.size[0] as usize;
        let point = Slice::common_point(view.through, view.slice, shape);
        request.observation.slices = point.map(|through| SlicesRequest { through, most });
    }

    fn range(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Option<Range> {
        let slices = snapshots.iter().filter_map(|snapshot| snapshot.observation.slices.as_deref());
        let spec = &view.figure;
        let ranges = slices.flatten().filter_map(|slice| {
            range_of(&shown_values(&slice.values, spec.scale, spec.absolute), spec)
        });
        ranges.reduce(Range::union)
    }

    fn title(&self, first: &Snapshot, _: &ViewSpec) -> String {
        let label = first.field().label();
        let indices = first.observation.slices.as_deref().into_iter().flatten().rev();
        let indices = indices.filter_map(|samples| samples.slice).map(|slice| slice.label());
        format!("{label} at {}", indices.collect::<Vec<_>>().join(", "))
    }

    fn draw(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing {
        let slices = snapshots.first().and_then(|first| {
            first.observation.slices.as_deref().map(|slices| draw(first, slices, view))
        });
        Drawing::Figure(slices.unwrap_or_default())
    }
}

/// Where everything goes.
struct Places {
    maps: Vec<Area>,
    bar: Area,
    /// Where the labels of the y axes and of the bar stand.
    y_labels: Vec<f64>,
    value_label: f64,
    /// How far everything moves down, so that the figure is centred.
    down: f64,
}

fn draw(first: &Snapshot, slices: &[solver::Samples; 3], view: &ViewSpec) -> String {
    let spec = &view.figure;
    let snapshots = [first];
    let titles = Titles::of(&snapshots, view);
    let values =
        slices.each_ref().map(|slice| shown_values(&slice.values, spec.scale, spec.absolute));
    let borders = slices.each_ref().map(|slice| {
        let shown = first.plan.shown(slice.slice);
        [0, 1].map(|axis| if spec.borders { borders(shown.tiling(), axis) } else { Vec::new() })
    });
    let devices = slices.each_ref().map(|slice| device_borders(&first.plan, slice.slice));
    let names =
        slices.each_ref().map(|slice| slice.slice.map_or(String::new(), |slice| slice.label()));
    let axis = |slice: &solver::Samples, which: usize| {
        let label = Slice::index_names(slice.slice)[which];
        let end = [slice.columns.end, slice.rows.end][which] as f64;
        MapAxis { label, start: 0.0, end }
    };
    let panels: Vec<_> = slices
        .iter()
        .zip(&values)
        .zip(borders.iter().zip(&devices).zip(&names))
        .map(|((slice, values), (([across, down], devices), title))| Panel {
            title,
            samples: Samples::new(slice.size[0], slice.size[1], values).unwrap_or(Samples::EMPTY),
            end: slice.rows.end as f64,
            tile_borders_x: across,
            tile_borders_y: down,
            device_borders_y: devices,
            cell_borders: &[],
            outlines: &[],
            lines: &[],
        })
        .collect();
    let value_label = value_label(first.field(), spec.scale, spec.absolute);
    let figures = slices.each_ref().map(|slice| HeatMapFigure {
        title: &titles.title,
        subtitle: &titles.subtitle,
        panels: &panels,
        x_axis: axis(slice, 0),
        y_axis: axis(slice, 1),
        equal_aspect: true,
        scale: scale(&snapshots, view),
        map: spec.map,
        value_label: &value_label,
        page: spec.page(),
    });
    let layout = Layout::new(&spec.page());
    let mut canvas = layout.canvas();
    let head = Head::new(&layout, &titles.title, &titles.subtitle);
    let places = place(&layout, head.height, &figures);
    let left = places.maps[0].x;
    let flush_with = [left, places.y_labels[0] - 0.5 * layout.unit];
    head.draw(&mut canvas, &layout, places.down, &flush_with);
    let point = [2, 1, 0].map(|which: usize| slices[which].slice.map_or(0, |slice| slice.index));
    for (((figure, slice), panel), (area, y_label)) in
        figures.iter().zip(slices).zip(&panels).zip(places.maps.iter().zip(&places.y_labels))
    {
        figure.draw_title(&mut canvas, &layout, panel, *area);
        figure.draw_map(&mut canvas, &layout, panel, *area);
        let axes = slice.slice.map_or([0, 1], Slice::axes);
        crosshair(&mut canvas, &layout, *area, figure, axes.map(|axis| point[axis]));
        let most = whole_steps(&figure.x_axis, room_for(area.width, 4.0 * layout.unit, 9));
        let ticks = axis_ticks(&figure.x_axis, most);
        layout.x_axis(&mut canvas, *area, &ticks, figure.x_axis.label);
        let ticks = y_ticks(&layout, figure, area.height);
        layout.y_axis(&mut canvas, *area, &ticks, true, (figure.y_axis.label, *y_label));
    }
    let [figure, ..] = &figures;
    figure.draw_bar(&mut canvas, &layout, places.bar);
    let ticks = value_ticks(&layout, &figure.scale, places.bar.height);
    let beside = bar_with_ends(places.bar);
    layout.right_axis(&mut canvas, beside, places.bar, &ticks, (&value_label, places.value_label));
    canvas.finish()
}

fn y_ticks(
    layout: &Layout,
    figure: &HeatMapFigure<'_>,
    height: f64,
) -> Vec<crate::picture::axis::ticks::Tick> {
    let most = room_for(height, 3.4 * layout.unit, 9);
    axis_ticks(&figure.y_axis, whole_steps(&figure.y_axis, most))
}

fn value_ticks(
    layout: &Layout,
    scale: &Scale,
    height: f64,
) -> Vec<crate::picture::axis::ticks::Tick> {
    let most = room_for(height, 2.6 * layout.unit, 12);
    bar_ticks(scale, most, BAR_APART * layout.unit / height)
}

/// Puts the slices beside each other, with points of one size in all of them.
fn place(layout: &Layout, top: f64, figures: &[HeatMapFigure<'_>; 3]) -> Places {
    let Layout { unit, .. } = *layout;
    let margin = layout.margin();
    let title = (1.65 * unit).round();
    let mark = layout.mark() + layout.gap() + layout.hairline();
    let bottom = margin + layout.x_axis_height("i");
    let room_down = (f64::from(layout.height) - top - bottom - title).floor().max(8.0);
    let lefts = figures.each_ref().map(|figure| {
        let label = layout.upright_label_width(figure.y_axis.label);
        label + layout.widest(&y_ticks(layout, figure, room_down)) + mark
    });
    let (bar_width, bar_gap) = ((1.1 * unit).round(), (1.3 * unit).round());
    let [first, ..] = figures;
    let widest = layout.widest(&value_ticks(layout, &first.scale, room_down));
    let value_label = layout.upright_label_width(first.value_label);
    let right = bar_gap + bar_width + mark + widest + layout.gap() + value_label;
    let between = unit.round();
    let taken = lefts.iter().sum::<f64>() + 2.0 * between + right + 2.0 * margin;
    let room_across = (f64::from(layout.width) - taken).floor().max(8.0);
    let across: f64 = figures.iter().map(|figure| figure.x_axis.end).sum();
    let down = figures.iter().map(|figure| figure.y_axis.end).fold(1.0, f64::max);
    let point = (room_across / across).min(room_down / down);
    let point = if point.floor() > 0.85 * point { point.floor() } else { point };
    let used = lefts.iter().sum::<f64>() + 2.0 * between + right + point * across;
    let moved = (0.5 * (room_down - point * down)).round().max(0.0);
    let y = top + title + moved;
    let mut x = (0.5 * (f64::from(layout.width) - used)).round().max(margin);
    let (mut maps, mut y_labels) = (Vec::new(), Vec::new());
    for (figure, left) in figures.iter().zip(lefts) {
        y_labels.push(x + 0.5 * unit);
        let width = (point * figure.x_axis.end).round().max(1.0);
        let height = (point * figure.y_axis.end).round().max(1.0);
        let area = Area { x: (x + left).round(), y, width, height };
        x = area.right() + between;
        maps.push(area);
    }
    let end = end_height(bar_width);
    let height = ((point * down).round() - 2.0 * end).max(1.0);
    let bar = Area { x: x - between + bar_gap, y: y + end, width: bar_width, height };
    let value_label = bar.right() + mark + widest + layout.gap() + 0.5 * unit;
    Places { maps, bar, y_labels, value_label, down: moved }
}

/// Lines that show where the other slices lie: each lies on a wider dark one.
fn crosshair(
    canvas: &mut Canvas,
    layout: &Layout,
    area: Area,
    figure: &HeatMapFigure<'_>,
    [column, row]: [usize; 2],
) {
    let line = (layout.unit / 12.0).round().max(1.0);
    let share = |index: usize, axis: &MapAxis<'_>| (index as f64 + 0.5) / axis.end;
    let x = snapped(area.x + share(column, &figure.x_axis) * area.width, line);
    let y = snapped(area.y + share(row, &figure.y_axis) * area.height, line);
    let (width, height) = (round(area.width), round(area.height));
    let path = format!("M{x} {}v{height}M{} {y}h{width}", round(area.y), round(area.x));
    let under = Stroke { opacity: 0.6, ..Stroke::solid(line + 2.0, over(false)) };
    for stroke in [under, Stroke::solid(line, over(true))] {
        canvas.line(&path, Stroke { crisp: true, ..stroke });
    }
}
