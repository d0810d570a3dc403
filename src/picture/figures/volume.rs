//! A 3D field from outside: the largest value along each line of sight.

use crate::grid::{INDEX_NAMES, Need, Shape};
use crate::picture::axis::scale::Range;
use crate::picture::axis::ticks::bar_ticks;
use crate::picture::colour::paint::shown_values;
use crate::picture::draw::canvas::{Anchor, Canvas, Stroke};
use crate::picture::draw::drawing::Drawing;
use crate::picture::draw::layout::{Area, Head, Layout, over, room_for};
use crate::picture::figures::maps::{range_of, scale};
use crate::picture::figures::names::value_label;
use crate::picture::figures::titles::Titles;
use crate::picture::plot::heat_map::{
    BAR_APART, HeatMapFigure, MapAxis, Panel, bar_with_ends, draw_pixels, end_height,
};
use crate::picture::view::kind::{FigureKind, FigureType, Uses};
use crate::picture::view::spec::ViewSpec;
use crate::picture::volume::{PictureLine, Projection, Volume};
use crate::run::{FieldKind, MOST_VOLUME_SAMPLES, Snapshot, SnapshotRequest, VolumeSamples};

/// The whole field of a 3D grid.
struct VolumeFigure;

impl FigureKind {
    /// The volume of a 3D grid.
    pub const VOLUME: Self = Self::new(&VolumeFigure);
}

impl FigureType for VolumeFigure {
    fn name(&self) -> &'static str {
        "volume"
    }

    fn label(&self) -> &'static str {
        "Volume"
    }

    fn about(&self) -> &'static str {
        "The field of a 3D grid from outside: the largest magnitude along each line of sight."
    }

    fn file_stem(&self, field: FieldKind) -> String {
        format!("{}-volume", field.name())
    }

    fn need(&self) -> Need {
        Need::Grid3d
    }

    fn uses(&self) -> Uses {
        Uses { camera: true, slice: false, projection: false, ..Uses::MAP }
    }

    fn request(&self, _: &ViewSpec, _: &Shape, request: &mut SnapshotRequest) {
        request.observation.volume = Some(MOST_VOLUME_SAMPLES);
    }

    fn range(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Option<Range> {
        let spec = &view.figure;
        let volumes = snapshots.iter().filter_map(|of| of.observation.volume.as_deref());
        let ranges = volumes.filter_map(|volume| {
            range_of(&shown_values(&volume.values, spec.scale, spec.absolute), spec)
        });
        ranges.reduce(Range::union)
    }

    fn title(&self, first: &Snapshot, _: &ViewSpec) -> String {
        first.field().label().to_owned()
    }

    fn draw(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing {
        let drawn = snapshots.first().and_then(|first| {
            first.observation.volume.as_deref().map(|volume| draw(first, volume, view))
        });
        Drawing::Figure(drawn.unwrap_or_default())
    }
}

fn draw(first: &Snapshot, samples: &VolumeSamples, view: &ViewSpec) -> String {
    let spec = &view.figure;
    let titles = Titles::of(&[first], view);
    let layout = Layout::new(&spec.page());
    let Layout { unit, .. } = layout;
    let mut canvas = layout.canvas();
    let head = Head::new(&layout, &titles.title, &titles.subtitle);
    let margin = layout.margin();
    head.draw(&mut canvas, &layout, 0.0, &[margin]);

    let scale = scale(&[first], view);
    let value_label = value_label(first.field(), spec.scale, spec.absolute);
    // The bar is drawn as beside a map; its marks tell which values lie beyond its ends.
    let shown = shown_values(&samples.values, spec.scale, spec.absolute);
    let panel = Panel {
        title: "",
        samples: crate::picture::colour::paint::Samples::new(shown.len(), 1, &shown)
            .unwrap_or(crate::picture::colour::paint::Samples::EMPTY),
        end: 1.0,
        tile_borders_x: &[],
        tile_borders_y: &[],
        device_borders_y: &[],
        cell_borders: &[],
        outlines: &[],
        lines: &[],
    };
    let axis = MapAxis { label: "", start: 0.0, end: 1.0 };
    let bar_figure = HeatMapFigure {
        title: "",
        subtitle: "",
        panels: &[panel],
        x_axis: axis,
        y_axis: axis,
        equal_aspect: true,
        scale,
        map: spec.map,
        value_label: &value_label,
        page: spec.page(),
    };
    let (width, height) = (f64::from(layout.width), f64::from(layout.height));
    let top = head.height.max(margin);
    let end = end_height((1.1 * unit).round());
    let bar_height = (height - top - 2.0 * margin - 2.0 * end).max(1.0);
    let ticks =
        bar_ticks(&scale, room_for(bar_height, 2.6 * unit, 12), BAR_APART * unit / bar_height);
    let labels = layout.mark() + layout.gap() + layout.hairline() + layout.widest(&ticks);
    let right = labels + layout.gap() + layout.upright_label_width(&value_label);
    let bar_width = (1.1 * unit).round();
    let x = width - margin - right - bar_width;
    let bar = Area { x, y: top + end, width: bar_width, height: bar_height };
    bar_figure.draw_bar(&mut canvas, &layout, bar);
    let label = (&*value_label, x + bar_width + labels + layout.gap() + 0.5 * unit);
    layout.right_axis(&mut canvas, bar_with_ends(bar), bar, &ticks, label);

    let area = Area {
        x: margin,
        y: top,
        width: (x - 2.0 * margin).floor().max(8.0),
        height: (height - top - margin).floor().max(8.0),
    };
    let size = [area.width as usize, area.height as usize];
    let projection = Projection::new(samples, view.camera, [area.width, area.height]);
    let volume = Volume::new(samples);
    let pixels = volume.pixels(&projection, size, &scale, spec.map, spec.absolute);
    draw_pixels(&mut canvas, area, size[0], size[1], pixels);
    let tiling = spec.borders.then_some(&first.plan.tiling);
    let lines = projection.lines(tiling, &first.plan.device_borders(), unit);
    let dark_map = !spec.map.is_diverging();
    let thin = layout.hairline();
    draw_lines(
        &mut canvas,
        area,
        &lines.borders,
        Stroke { opacity: 0.35, ..Stroke::solid(thin, over(dark_map)) },
    );
    let dash = Some((unit / 2.0).round().max(2.0));
    let of_devices = Stroke { dash, ..Stroke::solid(2.0 * thin, over(dark_map)) };
    draw_lines(&mut canvas, area, &lines.devices, of_devices);
    draw_lines(&mut canvas, area, &lines.edges, Stroke::solid(thin, layout.palette.axis));
    for (name, [x, y]) in INDEX_NAMES.into_iter().zip(lines.names) {
        if area.contains(area.x + x, area.y + y) {
            canvas.words(area.x + x, area.y + y, Anchor::Middle, layout.label(), name);
        }
    }
    canvas.finish()
}

/// Draws lines, without those that a zoomed picture does not have in whole.
fn draw_lines(canvas: &mut Canvas, area: Area, lines: &[PictureLine], stroke: Stroke) {
    let mut path = String::new();
    for line in lines {
        if let Some([[x, y], [to_x, to_y]]) = part_within(*line, [area.width, area.height]) {
            let (x, y, to_x, to_y) = (area.x + x, area.y + y, area.x + to_x, area.y + to_y);
            path.push_str(&format!("M{x:.2} {y:.2}L{to_x:.2} {to_y:.2}"));
        }
    }
    if !path.is_empty() {
        canvas.line(&path, stroke);
    }
}

/// The part of a line within a picture of this size; `None` where there is none.
fn part_within([start, end]: PictureLine, size: [f64; 2]) -> Option<PictureLine> {
    let (mut from, mut to) = (0.0_f64, 1.0_f64);
    for k in 0..2 {
        let along = end[k] - start[k];
        if along.abs() < 1e-9 {
            if start[k] < 0.0 || start[k] > size[k] {
                return None;
            }
            continue;
        }
        let [one, other] = [0.0, size[k]].map(|side| (side - start[k]) / along);
        (from, to) = (from.max(one.min(other)), to.min(one.max(other)));
    }
    let at = |share: f64| [0, 1].map(|k| start[k] + share * (end[k] - start[k]));
    (from < to).then(|| [at(from), at(to)])
}
