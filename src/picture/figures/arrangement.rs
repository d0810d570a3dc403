//! Several figures of a run, or of two, in one: each is drawn by itself, into its place.

use crate::picture::draw::layout::{Head, Layout, Page};
use crate::picture::figures::run_figure::{Titles, figure};
use crate::picture::file::saved::Drawing;
use crate::picture::view::figure_spec::FigureSpec;
use crate::picture::view::kind::FigureKind;
use crate::picture::view::spec::{Place, ViewSpec};
use crate::run::Snapshot;
use std::sync::Arc;

/// Points an inch.
const POINTS: f64 = 72.0;

/// Draws what an arrangement shows, below one title. The letters are as large as suit a figure of
/// the mean size.
pub(crate) fn arrangement(snapshots: &[&Snapshot], view: &ViewSpec) -> String {
    let Some(first) = snapshots.first() else { return String::new() };
    let spec = &view.figure;
    let page = spec.page();
    let places = view.placed();
    let share = |side: u32| (f64::from(side) / (places.len() as f64).sqrt()) as u32;
    let part = Page { width: share(page.width), height: share(page.height), ..page };
    let unit = Layout::new(&part).unit;
    let layout = Layout::new(&Page { font: Some(unit), ..page });
    let mut canvas = layout.canvas();
    let titles = Titles::of(&snapshots[..1], view);
    let head = Head::new(&layout, &titles.title, &titles.subtitle);
    head.draw(&mut canvas, &layout, 0.0, &[]);
    let top = if titles.title.is_empty() { 0.0 } else { head.height };
    let (width, height) = (f64::from(layout.width), f64::from(layout.height) - top);
    let parts: Vec<_> = view.more(&first.plan.problem.shape).map(|(kind, _)| kind).collect();
    for &Place { kind, area } in places.iter().filter(|place| place.kind.can_be_placed()) {
        let [left, upper, across, down] = area.map(f64::from);
        let start = [(left * width).round(), (top + upper * height).round()];
        let end = [((left + across) * width).round(), (top + (upper + down) * height).round()];
        let size = [0, 1].map(|axis| (end[axis] - start[axis]).max(1.0) as u32);
        let font = Some(unit * POINTS / spec.dpi);
        let figure_spec = FigureSpec { size, font, annotations: false, ..*spec };
        let one = ViewSpec { kind, figure: figure_spec, places: Vec::new(), ..view.clone() };
        let shown: Vec<_> =
            snapshots.iter().map(|snapshot| shot_of(snapshot, kind, &parts)).collect();
        let shown: Vec<_> = shown.iter().take(1 + kind.most_beside()).collect();
        if let Drawing::Figure(svg) = figure(&shown, &one) {
            canvas.figure(start[0], start[1], &svg);
        }
    }
    canvas.finish()
}

/// What was captured for one of the parts. The diagram of a line shows all its cycles.
fn shot_of(snapshot: &Snapshot, kind: FigureKind, parts: &[FigureKind]) -> Snapshot {
    let index = parts.iter().position(|part| *part == kind);
    let picture = index.and_then(|index| snapshot.more.get(index)).unwrap_or(&snapshot.picture);
    let is_diagram = picture.cycles_per_row.is_some();
    let cycle = if is_diagram { snapshot.history.latest().cycle } else { snapshot.cycle };
    Snapshot { picture: Arc::clone(picture), cycle, ..snapshot.clone() }
}
