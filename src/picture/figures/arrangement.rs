//! Several figures in one: each is drawn separately, in its place.

use crate::grid::Shape;
use crate::picture::axis::scale::Range;
use crate::picture::draw::drawing::Drawing;
use crate::picture::draw::layout::{Head, Layout, Page};
use crate::picture::figures::maps::field_range;
use crate::picture::figures::titles::{Titles, field_title};
use crate::picture::view::error::ViewError;
use crate::picture::view::figure_spec::FigureSpec;
use crate::picture::view::kind::{FigureKind, FigureType};
use crate::picture::view::spec::{PlacedFigure, ViewSpec};
use crate::run::{FieldKind, MapRequest, Snapshot, SnapshotRequest};
use std::sync::Arc;

/// Several figures below one title.
struct Arrangement;

/// The usual arrangement: the map, the curves, and a profile below them.
const USUAL: [PlacedFigure; 3] = [
    PlacedFigure { kind: FigureKind::HEAT_MAP, area: [0.0, 0.0, 0.6, 1.0] },
    PlacedFigure { kind: FigureKind::CURVES, area: [0.6, 0.0, 0.4, 0.55] },
    PlacedFigure { kind: FigureKind::PROFILE, area: [0.6, 0.55, 0.4, 0.45] },
];

/// Points per inch.
const POINTS: f64 = 72.0;

impl FigureKind {
    /// Several figures in one.
    pub const ARRANGEMENT: Self = Self::new(&Arrangement);
}

impl FigureType for Arrangement {
    fn name(&self) -> &'static str {
        "arrangement"
    }

    fn label(&self) -> &'static str {
        "Whole layout"
    }

    fn about(&self) -> &'static str {
        "Several figures in one, each in its place: in the window, all panes that are shown."
    }

    fn file_stem(&self, field: FieldKind) -> String {
        format!("{}-panes", field.name())
    }

    fn beside(&self) -> [usize; 2] {
        [0, crate::picture::MOST_BESIDE]
    }

    fn can_be_placed(&self) -> bool {
        false
    }

    fn missing(&self, view: &ViewSpec, _: usize) -> Option<&'static str> {
        view.places.is_empty().then_some("Show a pane first that can be drawn.")
    }

    fn places<'a>(&self, view: &'a ViewSpec) -> &'a [PlacedFigure] {
        if view.places.is_empty() { &USUAL } else { &view.places }
    }

    fn request(&self, view: &ViewSpec, _: &Shape, request: &mut SnapshotRequest) {
        let most = view.figure.size.map(|side| side as usize);
        request.observation.map = Some(MapRequest::whole(most));
    }

    fn check(&self, view: &ViewSpec, shape: &Shape) -> Result<(), ViewError> {
        // The space–time diagram shows all cycles.
        match view.frames.is_some() && shape.dim() == 1 {
            true => Err(ViewError::NoFilm),
            false => Ok(()),
        }
    }

    fn range(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Option<Range> {
        field_range(snapshots, view)
    }

    fn title(&self, first: &Snapshot, _: &ViewSpec) -> String {
        field_title(first)
    }

    /// The text has the size for a figure of the mean size.
    fn draw(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing {
        if snapshots.is_empty() {
            return Drawing::Figure(String::new());
        }
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
        for &PlacedFigure { kind, area } in places.iter().filter(|place| place.kind.can_be_placed())
        {
            let [left, upper, across, down] = area.map(f64::from);
            let start = [(left * width).round(), (top + upper * height).round()];
            let end = [((left + across) * width).round(), (top + (upper + down) * height).round()];
            let size = [0, 1].map(|axis| (end[axis] - start[axis]).max(1.0) as u32);
            let font = Some(unit * POINTS / spec.dpi);
            let figure_spec = FigureSpec { size, font, annotations: false, ..*spec };
            let one = ViewSpec { kind, figure: figure_spec, places: Vec::new(), ..view.clone() };
            let shown = snapshots.iter().map(|snapshot| part_of(snapshot, kind));
            let shown: Vec<_> = shown.take(1 + kind.most_beside()).collect();
            let shown: Vec<_> = shown.iter().collect();
            if let Drawing::Figure(svg) = kind.draw(&shown, &one) {
                canvas.figure(start[0], start[1], &svg);
            }
        }
        Drawing::Figure(canvas.finish())
    }
}

/// What one of the parts shows: a space–time diagram all cycles of the run, every other figure no map.
fn part_of(snapshot: &Snapshot, kind: FigureKind) -> Snapshot {
    let mut observation = Arc::clone(&snapshot.observation);
    if !kind.is_map() {
        Arc::make_mut(&mut observation).picture = None;
    } else if snapshot.map().cycles_per_row.is_some() {
        Arc::make_mut(&mut observation).cycle = snapshot.history.latest().cycle;
    }
    Snapshot { observation, ..snapshot.clone() }
}
