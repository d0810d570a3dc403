//! Figures of a sweep: the map of k × overlap, of tile × overlap, or of height × budget, and the papers' charts.

use crate::number::{number, rounded};
use crate::picture::draw::layout::{Head, Layout, Page};
use crate::picture::sweep::charts::charts;
use crate::picture::sweep::data::SweepData;
use crate::picture::sweep::kind::SweepFigure;
use crate::picture::sweep::map::{Layer, MapRows, MapValue, SweepMap};
use crate::picture::sweep::map_figure::MapFigure;
use crate::picture::view::figure_spec::FigureSpec;
use crate::run::{StopRule, SweepRow};

/// What is drawn of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SweepView {
    /// The figure.
    pub figure: SweepFigure,
    /// The value that the map colours.
    pub value: MapValue,
    /// The rows of the map, and the k or the tile and the kernel that are shown.
    pub layer: Layer,
}

/// A figure of a sweep as SVG. On the map, overlap is across and k, or the tile, down (of passes, the budget and the height),
/// colours say what the best
/// setting has least of ([`SweepRow::cost`]). Where there are several tiles or kernels, a cell shows the
/// best of them. The best cell of all is outlined, cells within noise of it have a dot, predicted cells
/// are hatched and those that cannot run are crossed, and a line separates those that are faster than
/// Jacobi's iteration.
pub fn sweep_svg(data: SweepData<'_>, view: SweepView, spec: &FigureSpec) -> String {
    let subtitle = subtitle(data, view.layer);
    match view.figure {
        SweepFigure::Map => {
            let map = SweepMap::new(data, view.layer, view.value);
            let title = title(data, &what(data, view.value));
            MapFigure { title, subtitle, value_label: view.value.unit(), map }.svg(spec)
        }
        SweepFigure::Overlap | SweepFigure::K | SweepFigure::KTime => {
            let [down, across] = data.outline.spec.cycle.axes();
            let against = if view.figure == SweepFigure::Overlap { across } else { down };
            chart_svg(data, view, &format!("Against {}", against.name), &subtitle, spec)
        }
    }
}

/// The plots of a chart, one below the other.
fn chart_svg(
    data: SweepData<'_>,
    view: SweepView,
    what: &str,
    subtitle: &str,
    spec: &FigureSpec,
) -> String {
    let charts = charts(view.figure, data, view.layer, spec.theme);
    let page = spec.page();
    let part = Page { height: page.height / charts.len().max(1) as u32, ..page };
    let layout = Layout::new(&Page { font: Some(Layout::new(&part).unit), ..page });
    let mut canvas = layout.canvas();
    let head = Head::new(&layout, &title(data, what), subtitle);
    head.draw(&mut canvas, &layout, 0.0, &[]);
    let top = head.height;
    let height = (f64::from(page.height) - top) / charts.len().max(1) as f64;
    let font = Some(layout.unit);
    for (index, chart) in charts.iter().enumerate() {
        let page = Page { height: height.max(1.0) as u32, font, ..page };
        let svg = chart.plot.svg("", "", &page);
        canvas.figure(0.0, (top + index as f64 * height).round(), &svg);
    }
    canvas.finish()
}

/// The value of a map, in words.
fn what(data: SweepData<'_>, value: MapValue) -> String {
    let stop = &data.outline.spec.run.stop;
    let tolerance = stop.tolerance.map(number).unwrap_or_default();
    let tolerance = match stop.rule {
        StopRule::Residual => tolerance,
        StopRule::Change => format!("‖Δu‖∞ = {tolerance}"),
        StopRule::ChangePerSweep => format!("‖Δu‖∞ = {tolerance} per sweep"),
    };
    match value {
        MapValue::Time | MapValue::Cycles | MapValue::Sweeps => {
            format!("{} to {tolerance}", value.label())
        }
        value => value.label().to_owned(),
    }
}

fn title(data: SweepData<'_>, what: &str) -> String {
    let problem = &data.outline.spec.run.problem;
    let shape: Vec<_> = problem.shape.iter().map(ToString::to_string).collect();
    format!("{what} — {}, {}", problem.title(), shape.join(" × "))
}

fn subtitle(data: SweepData<'_>, layer: Layer) -> String {
    let chosen = &data.outline.spec;
    let (held, listed, one, several) = match (chosen.cycle.tiles(), layer.rows) {
        (Some(lists), MapRows::K) => {
            (layer.tile.map(|tile| tile.to_string()), lists.tile_axis().labels, "tile", "tiles")
        }
        (Some(_), MapRows::Tile) => {
            let [ks, _] = chosen.cycle.axes();
            (layer.k.map(|k| k.label()), ks.labels, "k =", "k =")
        }
        (None, _) => (Some(chosen.run.method.name.name().to_owned()), Vec::new(), "method", ""),
    };
    let mut text = match (held, &listed[..]) {
        (Some(held), _) => format!("{one} {held}"),
        (None, [held]) => format!("{one} {held}"),
        (None, all) => format!("best of {several} {}", all.join(", ")),
    };
    let kernels: Vec<_> = match layer.kernel {
        Some(kernel) => vec![kernel.name()],
        None => chosen.kernel.iter().map(|kernel| kernel.name()).collect(),
    };
    if kernels != ["auto"] {
        text.push_str(&format!(", kernel {}", kernels.join(", ")));
    }
    text.push_str(&format!(" · {}", chosen.run.method.precision.name()));
    let is_shown = |row: &&SweepRow| row.cycle().is_some_and(|cycle| layer.shows(cycle));
    if let Some(best) = SweepRow::best(data.rows.iter().flatten().filter(is_shown)) {
        text.push_str(&format!(" · best: {}", best.setting()));
        if let Some(seconds) = best.seconds {
            text.push_str(&format!(", projected {} s", rounded(seconds)));
        }
        if let Some(ratio) = data.classic.and_then(|classic| Some(classic.cost()? / best.cost()?)) {
            text.push_str(&format!(", {ratio:.2} × classic"));
        }
    }
    format!("{text} · {}", data.outline.machine)
}
