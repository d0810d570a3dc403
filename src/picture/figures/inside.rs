//! The figure of the inside of a cycle: a tile with its frozen ring, or all tiles of a line.

use crate::picture::axis::scale::{Range, Scale, ScaleKind};
use crate::picture::colour::map::ColourMap;
use crate::picture::colour::paint::Samples;
use crate::picture::colour::theme::Rgb;
use crate::picture::figures::names::grouped;
use crate::picture::figures::run_figure::Titles;
use crate::picture::plot::heat_map::{Axis, HeatMapFigure, Outline, Panel};
use crate::picture::view::inside::{InsideKind, InsideView};
use crate::picture::view::kind::FigureKind;
use crate::picture::view::spec::ViewSpec;
use crate::run::Snapshot;
use crate::solver::Inside;

/// The outline of a tile without its ring.
const TILE: Rgb = [0xff; 3];

/// The outline of what a tile owns.
pub const OWNED: Rgb = [90, 220, 255];

/// Draws one subiteration of a tile or, of a line, all of them, one below the other.
pub(crate) fn inside(snapshots: &[&Snapshot], view: &ViewSpec) -> String {
    let Some(snapshot) = snapshots.first() else { return String::new() };
    let titles = Titles::of(&snapshots[..1], view);
    let spec = &view.figure;
    let is_line = snapshot.plan.problem.shape.dim() == 1;
    let (value_label, kind, map) = match view.inside.kind {
        InsideKind::Lag => ("|u − u_J|", ScaleKind::Log, ColourMap::Inferno),
        InsideKind::Iterate => ("u", ScaleKind::Linear, ColourMap::Viridis),
    };
    let own = spec.range.filter(|_| view.kind == FigureKind::Inside);
    let range = own.or(view.inside.range).or(range(snapshots, view));
    let scale = Scale::new(kind, range.unwrap_or(Range::of(kind, [])));
    let Some(inside) = &snapshot.findings.inside else { return String::new() };
    let [across, down] = inside.size;
    // The ring lies around the points that are computed.
    let end = |axis: usize| inside.computed[axis].end as f64 + 1.0;
    let start = |axis: usize| inside.computed[axis].start as f64 - 1.0;
    let y_axis = match is_line {
        true => Axis { label: "subiteration", start: 0.0, end: down as f64 },
        false => Axis { label: "j", start: start(1), end: end(1) },
    };
    let title = match spec.annotations {
        true => about_outlines(inside).to_owned(),
        false => what(inside, is_line),
    };
    let outlines = outlines(inside, is_line, &y_axis);
    let borders = match inside.tile {
        // What each tile of a line owns.
        None => snapshot.plan.tiling.x().borders().map(|border| border as f64).collect(),
        Some(_) => Vec::new(),
    };
    let panel = Panel {
        title: &title,
        samples: Samples::new(across, down, values(inside, &view.inside)).unwrap_or(Samples::EMPTY),
        end: y_axis.end,
        tile_borders_x: &borders,
        tile_borders_y: &[],
        outlines: &outlines,
    };
    HeatMapFigure {
        title: &titles.title,
        subtitle: &titles.subtitle,
        panels: &[panel],
        x_axis: Axis { label: "i", start: start(0), end: end(0) },
        y_axis,
        equal_aspect: !is_line,
        scale,
        map,
        value_label,
        page: spec.page(),
    }
    .svg()
}

/// The range of what is shown in all subiterations: colours stay while a cycle is stepped through.
pub(crate) fn range(snapshots: &[&Snapshot], view: &ViewSpec) -> Option<Range> {
    let extents = snapshots.iter().filter_map(|snapshot| {
        let inside = snapshot.findings.inside.as_ref()?;
        Some(match view.inside.kind {
            InsideKind::Lag => Range::of(ScaleKind::Log, inside.staleness_extent),
            InsideKind::Iterate => Range::of(ScaleKind::Linear, inside.iterate_extent),
        })
    });
    extents.reduce(Range::union)
}

/// Which tile, and how far it is, as a title names it.
pub(crate) fn what(inside: &Inside, is_line: bool) -> String {
    let tile = match inside.tile {
        Some([x, _]) if is_line => format!("Tile {x}"),
        Some([x, y]) => format!("Tile ({x}, {y})"),
        None => "All tiles".to_owned(),
    };
    format!("{tile}, {} of {} subiterations", inside.subiteration, inside.k)
}

/// How many of the points that are owned lag, as the line of settings says it.
pub(crate) fn lagging(inside: &Inside, is_line: bool) -> String {
    let Some((lagging, owned)) = inside.lagging(is_line) else { return String::new() };
    let owns = if inside.tile.is_some() { "it owns" } else { "they own" };
    match lagging {
        0 => format!(" · all points {owns} are exactly Jacobi's"),
        _ => format!(" · {} of the {} points {owns} lag", grouped(lagging), grouped(owned)),
    }
}

fn about_outlines(inside: &Inside) -> &'static str {
    match inside.tile {
        None => "",
        Some(_) if inside.owned == inside.computed => "white: tile, all owned",
        Some(_) => "white: tile · blue: owned",
    }
}

fn values<'a>(inside: &'a Inside, view: &InsideView) -> &'a [f32] {
    match view.kind {
        InsideKind::Lag => &inside.staleness,
        InsideKind::Iterate => &inside.iterate,
    }
}

/// The tile without its ring, and what it owns; of a line, the subiteration, too.
fn outlines(inside: &Inside, is_line: bool, y_axis: &Axis<'_>) -> Vec<Outline> {
    let ends = |range: &std::ops::Range<usize>| [range.start as f64, range.end as f64];
    let outline = |part: &[std::ops::Range<usize>; 2], colour| Outline {
        x: ends(&part[0]),
        y: if is_line { [y_axis.start, y_axis.end] } else { ends(&part[1]) },
        colour,
    };
    let mut outlines = Vec::new();
    if inside.tile.is_some() {
        outlines.push(outline(&inside.computed, TILE));
    }
    if inside.owned != inside.computed {
        outlines.push(outline(&inside.owned, OWNED));
    }
    if is_line {
        let row = inside.subiteration as f64;
        let all = [inside.computed[0].start as f64 - 1.0, inside.computed[0].end as f64 + 1.0];
        outlines.push(Outline { x: all, y: [row, row + 1.0], colour: TILE });
    }
    outlines
}
