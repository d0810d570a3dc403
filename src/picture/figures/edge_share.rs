//! How much of the residual lies near tile borders, over the cycles.

use crate::grid::{Shape, Tiling};
use crate::picture::axis::scale::{Range, ScaleKind};
use crate::picture::colour::theme::Theme;
use crate::picture::draw::drawing::Drawing;
use crate::picture::figures::mean_tile::check_tiles;
use crate::picture::figures::titles::{Titles, figure_of_plot};
use crate::picture::plot::description::{Level, Plot, PlotAxis, Series};
use crate::picture::view::error::ViewError;
use crate::picture::view::kind::{FigureKind, FigureType, Uses};
use crate::picture::view::spec::ViewSpec;
use crate::run::{self, CsvTable, CycleValue, FieldKind, Plan, Snapshot, SnapshotRequest};
use crate::solver::EDGE_WIDTH;

const PERCENT: f64 = 100.0;

/// The share of ‖r‖² near tile borders, beside the share of the points that lie there.
struct EdgeShare;

impl FigureKind {
    /// How much of the residual lies near tile borders.
    pub const EDGE_SHARE: Self = Self::new(&EdgeShare);
}

impl FigureType for EdgeShare {
    fn name(&self) -> &'static str {
        "edge-share"
    }

    fn label(&self) -> &'static str {
        "Edge share"
    }

    fn about(&self) -> &'static str {
        "How much of ‖r‖² lies near tile borders, over the cycles."
    }

    fn about_table(&self) -> Option<&'static str> {
        Some("A table has every cycle (from 512 cycles on, every second, fourth, …).")
    }

    fn file_stem(&self, _: FieldKind) -> String {
        "edge-share".to_owned()
    }

    fn check_plan(&self, plan: &Plan) -> Result<(), ViewError> {
        check_tiles(FigureKind::EDGE_SHARE, plan)
    }

    fn uses(&self) -> Uses {
        Uses::default()
    }

    fn is_over_cycles(&self) -> bool {
        true
    }

    fn request(&self, _: &ViewSpec, _: &Shape, request: &mut SnapshotRequest) {
        request.series.edge_share = true;
    }

    fn title(&self, _: &Snapshot, _: &ViewSpec) -> String {
        "Residual near tile borders".to_owned()
    }

    fn draw(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing {
        figure_of_plot(snapshots, view, |first| {
            let (numbers, tiling) = (&first.series, &first.plan.tiling);
            let (cycle, theme) = (first.cycle(), view.figure.theme);
            Some(edge_share_plot(&numbers.edges, numbers.near_borders, tiling, cycle, theme))
        })
    }

    fn tables<'a>(
        &self,
        snapshots: &[&'a Snapshot],
        view: &ViewSpec,
    ) -> Vec<(String, CsvTable<'a>)> {
        let table = |snapshot: &&'a Snapshot| run::edge_share_table(&snapshot.series.edges);
        let names = Titles::of(snapshots, view).each;
        names.into_iter().zip(snapshots.iter().map(table)).collect()
    }
}

/// The plot of the edge share in per cent, faint after the selected `cycle`. `near_borders` is the part
/// of the points that lie near tile borders, 0 to 1.
pub fn edge_share_plot(
    edges: &[CycleValue],
    near_borders: f64,
    tiling: &Tiling,
    cycle: u64,
    theme: Theme,
) -> Plot {
    let (places, title) = match tiling.x().are_blocks() {
        true => ("of the rows", "% on rows with static entries".to_owned()),
        false => ("of the points", format!("% within {EDGE_WIDTH} points of a tile border")),
    };
    let points = edges.iter().map(|at| (at.cycle as f64, PERCENT * at.value)).collect();
    let so_far = edges.partition_point(|at| at.cycle <= cycle);
    let level = Level { value: PERCENT * near_borders, name: places.to_owned() };
    let x = PlotAxis::new("cycles", ScaleKind::Linear);
    let y = PlotAxis::new(title, ScaleKind::Linear);
    Plot {
        series: vec![Series { so_far, ..Series::line("of ‖r‖²", points, theme.curve(0)) }],
        levels: vec![level],
        ..Plot::new(x, PlotAxis { range: Some(Range::new(0.0, PERCENT)), ..y })
    }
}
