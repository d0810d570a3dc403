//! The inside of a cycle: one tile with its halo, or all tiles of a 1D grid.

use crate::grid::{Need, Shape, Slice, Tiling};
use crate::number::grouped;
use crate::picture::axis::scale::{Range, Scale, ScaleKind};
use crate::picture::colour::map::ColourMap;
use crate::picture::colour::paint::Samples;
use crate::picture::colour::theme::Rgb;
use crate::picture::draw::drawing::Drawing;
use crate::picture::figures::mean_tile::check_tiles;
use crate::picture::figures::titles::Titles;
use crate::picture::plot::heat_map::{CornerLine, HeatMapFigure, MapAxis, Outline, Panel};
use crate::picture::view::error::ViewError;
use crate::picture::view::inside::{InsideKind, InsideView};
use crate::picture::view::kind::{FigureKind, FigureType, Uses};
use crate::picture::view::spec::ViewSpec;
use crate::run::{self, CsvTable, FieldKind, Plan, Snapshot, SnapshotRequest};
use crate::solver::Inside;

/// The outline of a tile without its halo.
const TILE: Rgb = [0xff; 3];

/// The stale front, on any of the colours of the values.
pub const STALE_FRONT: Rgb = [150, 255, 60];

/// The outline of the points that a tile owns.
pub const OWNED: Rgb = [90, 220, 255];

/// A subiteration of one tile with its halo; in 1D all of them, one below the other.
struct InsideCycle;

impl FigureKind {
    /// A subiteration of one tile.
    pub const INSIDE: Self = Self::new(&InsideCycle);
}

impl FigureType for InsideCycle {
    fn name(&self) -> &'static str {
        "inside"
    }

    fn label(&self) -> &'static str {
        "Inside a cycle"
    }

    fn about(&self) -> &'static str {
        "A subiteration of one tile with its frozen halo; in 1D all subiterations, in 3D a slice of the tile."
    }

    fn about_table(&self) -> Option<&'static str> {
        Some("A table has both fields, point by point.")
    }

    fn file_stem(&self, _: FieldKind) -> String {
        "inside".to_owned()
    }

    fn need(&self) -> Need {
        Need::Grid
    }

    fn check_plan(&self, plan: &Plan) -> Result<(), ViewError> {
        check_tiles(FigureKind::INSIDE, plan)
    }

    fn uses(&self) -> Uses {
        Uses { inside: true, range: true, slice: true, ..Uses::default() }
    }

    fn request(&self, view: &ViewSpec, shape: &Shape, request: &mut SnapshotRequest) {
        let followed = view.inside.followed(shape.dim() == 1, view.slice);
        request.observation.inside = Some((followed, view.inside.subiteration));
    }

    fn check_observed(&self, first: &Snapshot) -> Result<(), ViewError> {
        match first.observation.inside {
            None => Err(ViewError::NotFollowed),
            Some(_) => Ok(()),
        }
    }

    fn range(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Option<Range> {
        range(snapshots, view)
    }

    fn title(&self, first: &Snapshot, _: &ViewSpec) -> String {
        match &first.observation.inside {
            Some(inside) => tile_name(inside, first.plan.problem.shape.dim() == 1),
            None => "Inside a cycle".to_owned(),
        }
    }

    fn subtitle(&self, first: &Snapshot) -> Option<String> {
        let inside = first.observation.inside.as_ref()?;
        Some(stale_points(inside, first.plan.problem.shape.dim() == 1))
    }

    fn draw(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing {
        let nothing = || Drawing::Figure(String::new());
        let Some(snapshot) = snapshots.first() else { return nothing() };
        let titles = Titles::of(&snapshots[..1], view);
        let spec = &view.figure;
        let is_1d = snapshot.plan.problem.shape.dim() == 1;
        let (value_label, kind, map) = match view.inside.kind {
            InsideKind::Staleness => ("|u − u_J|", ScaleKind::Log, ColourMap::Inferno),
            InsideKind::Iterate => ("u", ScaleKind::Linear, ColourMap::Viridis),
        };
        let own = spec.range.filter(|_| view.kind == FigureKind::INSIDE);
        let range = own.or(view.inside.range).or(range(snapshots, view));
        let scale = Scale::new(kind, range.unwrap_or(Range::of(kind, [])));
        let Some(inside) = &snapshot.observation.inside else { return nothing() };
        let [across, down] = inside.size;
        // The halo lies around the points that are computed.
        let end = |axis: usize| inside.computed[axis].end as f64 + 1.0;
        let start = |axis: usize| inside.computed[axis].start as f64 - 1.0;
        let [label_across, label_down] = Slice::index_names(inside.slice);
        let y_axis = match is_1d {
            true => MapAxis { label: "subiteration", start: 0.0, end: down as f64 },
            false => MapAxis { label: label_down, start: start(1), end: end(1) },
        };
        let title = match spec.annotations {
            true => about_outlines(inside).to_owned(),
            false => tile_name(inside, is_1d),
        };
        let outlines = outlines(inside, is_1d, &y_axis);
        let front = stale_front(inside, &snapshot.plan.tiling).into_iter();
        let lines: Vec<_> =
            front.map(|corners| CornerLine { corners, colour: STALE_FRONT }).collect();
        let borders = match inside.tile {
            // What each tile owns.
            None => snapshot.plan.tiling.x().borders().map(|border| border as f64).collect(),
            Some(_) => Vec::new(),
        };
        let panel = Panel {
            title: &title,
            samples: Samples::new(across, down, values(inside, &view.inside))
                .unwrap_or(Samples::EMPTY),
            end: y_axis.end,
            tile_borders_x: &borders,
            tile_borders_y: &[],
            device_borders_y: &[],
            cell_borders: &[],
            outlines: &outlines,
            lines: &lines,
        };
        let figure = HeatMapFigure {
            title: &titles.title,
            subtitle: &titles.subtitle,
            panels: &[panel],
            x_axis: MapAxis { label: label_across, start: start(0), end: end(0) },
            y_axis,
            equal_aspect: !is_1d,
            scale,
            map,
            value_label,
            page: spec.page(),
        };
        Drawing::Figure(figure.svg())
    }

    fn tables<'a>(
        &self,
        snapshots: &[&'a Snapshot],
        view: &ViewSpec,
    ) -> Vec<(String, CsvTable<'a>)> {
        let table = |(name, snapshot): (String, &&'a Snapshot)| {
            let is_1d = snapshot.plan.problem.shape.dim() == 1;
            Some((name, run::inside_table(snapshot.observation.inside.as_ref()?, is_1d)))
        };
        Titles::of(snapshots, view).each.into_iter().zip(snapshots).filter_map(table).collect()
    }
}

/// The range of all subiterations, so that colours stay while a cycle is stepped through.
pub(crate) fn range(snapshots: &[&Snapshot], view: &ViewSpec) -> Option<Range> {
    let extents = snapshots.iter().filter_map(|snapshot| {
        let inside = snapshot.observation.inside.as_ref()?;
        Some(match view.inside.kind {
            InsideKind::Staleness => Range::of(ScaleKind::Log, inside.staleness_extent),
            InsideKind::Iterate => Range::of(ScaleKind::Linear, inside.iterate_extent),
        })
    });
    extents.reduce(Range::union)
}

/// Which tile, and how far it is, as a title names it.
fn tile_name(inside: &Inside, is_1d: bool) -> String {
    let tile = match inside.tile {
        Some([x, _]) if is_1d => format!("Tile {x}"),
        Some([x, y]) => format!("Tile ({x}, {y})"),
        None => "All tiles".to_owned(),
    };
    let place = inside.slice.map_or(String::new(), |slice| format!(" at {}", slice.label()));
    format!("{tile}{place}, {} of {} subiterations", inside.subiteration, inside.k)
}

/// How many of the owned points differ from exact Jacobi, for the line of settings.
fn stale_points(inside: &Inside, is_1d: bool) -> String {
    let Some((stale, owned)) = inside.stale_points(is_1d) else { return String::new() };
    match stale {
        0 => " · owned points equal exact Jacobi".to_owned(),
        _ => format!(
            " · {} of {} owned points differ from exact Jacobi",
            grouped(stale),
            grouped(owned)
        ),
    }
}

fn about_outlines(inside: &Inside) -> &'static str {
    match inside.tile {
        None => "green: stale front",
        Some(_) if inside.owned == inside.computed => "white: tile, all owned · green: stale front",
        Some(_) => "white: tile · blue: owned · green: stale front",
    }
}

/// The stale front as lines through corners of cells, in points of the grid; in 1D downwards in subiterations. In 2D and
/// on a slice it runs around the points that it has not reached in the subiteration, in 1D through all subiterations.
/// None where no point is left.
pub fn stale_front(inside: &Inside, tiling: &Tiling) -> Vec<Vec<[f64; 2]>> {
    let x = tiling.x();
    if let (Some([across, down]), [_, _, ..]) = (inside.tile, tiling.axes()) {
        let untouched =
            |axis: usize, tile| tiling.axes()[axis].untouched(tile, inside.subiteration);
        let axes = inside.slice.map_or([0, 1], Slice::axes);
        let (columns, rows) = (untouched(axes[0], across), untouched(axes[1], down));
        // It comes through the slice from the sides of the tile that are before and after it.
        let is_left = inside.slice.is_none_or(|Slice { axis, index }| {
            untouched(axis, tiling.axes()[axis].owner(index)).contains(&index)
        });
        if columns.is_empty() || rows.is_empty() || !is_left {
            return Vec::new();
        }
        let [left, right, top, bottom] =
            [columns.start, columns.end, rows.start, rows.end].map(|at| at as f64);
        let corners = [[left, top], [right, top], [right, bottom], [left, bottom], [left, top]];
        return vec![corners.to_vec()];
    }
    let tiles = inside.tile.map_or(0..x.count(), |[across, _]| across..across + 1);
    let mut lines = Vec::new();
    for tile in tiles {
        let most = if inside.tile.is_some() { x.computed(tile) } else { x.owned(tile) };
        // A step down each side with every row, as long as the sides are apart.
        let mut sides = [Vec::new(), Vec::new()];
        for sweeps in 0..inside.size[1] {
            let untouched = x.untouched(tile, sweeps);
            let (start, end) = (untouched.start.max(most.start), untouched.end.min(most.end));
            if start >= end {
                break;
            }
            for (side, at) in sides.iter_mut().zip([start, end]) {
                let (at, row) = (at as f64, sweeps as f64);
                side.extend([[at, row], [at, row + 1.0]]);
            }
        }
        lines.extend(sides.into_iter().filter(|side| !side.is_empty()));
    }
    lines
}

fn values<'a>(inside: &'a Inside, view: &InsideView) -> &'a [f32] {
    match view.kind {
        InsideKind::Staleness => &inside.staleness,
        InsideKind::Iterate => &inside.iterate,
    }
}

/// The tile without its halo and the points that it owns; in 1D the subiteration, too.
fn outlines(inside: &Inside, is_1d: bool, y_axis: &MapAxis<'_>) -> Vec<Outline> {
    let ends = |range: &std::ops::Range<usize>| [range.start as f64, range.end as f64];
    let outline = |part: &[std::ops::Range<usize>; 2], colour| Outline {
        x: ends(&part[0]),
        y: if is_1d { [y_axis.start, y_axis.end] } else { ends(&part[1]) },
        colour,
    };
    let mut outlines = Vec::new();
    if inside.tile.is_some() {
        outlines.push(outline(&inside.computed, TILE));
    }
    if inside.owned != inside.computed {
        outlines.push(outline(&inside.owned, OWNED));
    }
    if is_1d {
        let row = inside.subiteration as f64;
        let all = [inside.computed[0].start as f64 - 1.0, inside.computed[0].end as f64 + 1.0];
        outlines.push(Outline { x: all, y: [row, row + 1.0], colour: TILE });
    }
    outlines
}
