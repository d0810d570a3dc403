//! The mean tile: the magnitude of the field folded onto one tile.

use crate::app::panes::pane_type::{PaneContext, PanePicture, PaneType, Slot};
use crate::app::state::kept_range::KeptRange;
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::widgets::cells::Values;
use crate::app::widgets::labels::small_mathematics;
use crate::app::widgets::{cells, plot, theme};
use crate::grid::{AxisTiling, Need};
use crate::picture::{FigureKind, Range, Scale, grouped, inner_points, mean_tile_plot, number};
use crate::run::{FieldStatistics, ObservationRequest, Report};
use crate::solver::{LONGEST_FOLDED, MeanTile};
use eframe::egui::{Color32, Label, Rect, RichText, Stroke, Ui, UiBuilder, pos2, vec2};

/// Height of the text under the picture.
const LINES_ROOM: f32 = 40.0;

/// The magnitude of the field folded onto one tile.
pub struct MeanTilePane;

/// Its name in files.
pub const ID: PaneId = PaneId("mean-tile");

impl PaneType for MeanTilePane {
    fn id(&self) -> PaneId {
        ID
    }

    fn title(&self) -> &'static str {
        "Mean tile"
    }

    fn about(&self) -> &'static str {
        "The field's magnitude folded onto one tile: the mean over all inner tiles."
    }

    fn slot(&self) -> Slot {
        Slot::BelowMapLeft
    }

    fn shows(&self, kind: FigureKind) -> bool {
        kind == FigureKind::MEAN_TILE
    }

    fn figure(&self, _: &Session) -> Option<FigureKind> {
        Some(FigureKind::MEAN_TILE)
    }

    fn request(&self, _: &Session, request: &mut ObservationRequest) {
        request.statistics = true;
    }

    fn need(&self) -> Need {
        Need::Grid
    }

    fn draw(&self, ui: &mut Ui, context: &mut PaneContext<'_>) {
        let picture = context.pictures.of(ID);
        self::ui(ui, picture, context.session, context.report);
    }
}

/// Draws the mean tile.
fn ui(ui: &mut Ui, shown: &mut PanePicture, session: &Session, report: Option<&Report>) {
    let Some(report) = report else {
        return;
    };
    let Some(sorted) = &report.observation.statistics else {
        return;
    };
    let Some(mean) = &sorted.statistics.mean_tile else {
        let text =
            format!("Tiles with more than {LONGEST_FOLDED} points along an axis are not folded.");
        ui.label(RichText::new(text).weak());
        return;
    };
    if mean.means.iter().all(|mean| *mean == 0.0 || mean.is_nan()) {
        ui.label(RichText::new("0 everywhere.").weak());
        return;
    }
    let tiling = &report.plan.tiling;
    match tiling.y() {
        Some(y) => plane(ui, shown, session, report, sorted, mean, [tiling.x(), y]),
        None => line(ui, &mut shown.range, session, report, sorted, mean, tiling.x()),
    }
}

/// The points that an inner tile owns: all but half of the overlap on each side.
fn inner(axis: &AxisTiling) -> [f32; 2] {
    let half = if axis.count() > 1 { axis.overlap() / 2 } else { 0 };
    [half as f32, (axis.tile() - half) as f32]
}

fn plane(
    ui: &mut Ui,
    PanePicture { cells, range }: &mut PanePicture,
    session: &Session,
    report: &Report,
    sorted: &FieldStatistics,
    mean: &MeanTile,
    axes: [&AxisTiling; 2],
) {
    let room = ui.available_rect_before_wrap();
    let picture = Rect::from_min_max(room.min, room.max - vec2(0.0, LINES_ROOM));
    let (scale, map) = session.view.of_field(sorted.field).of_magnitudes();
    let fitted = Range::of(scale, mean.means.iter().copied());
    let scale = Scale::new(scale, range.range(session, report, sorted.field, scale, fitted));
    let symbol = sorted.field.symbol();
    let shown = cells.ui(
        ui,
        picture,
        &Values {
            about: &format!("Mean tile of the {}", sorted.field.name()),
            title: &format!("mean |{symbol}|"),
            size: mean.size,
            values: &mean.means,
            scale,
            map,
            stretched: false,
        },
    );
    let [x, y] = axes.map(inner);
    let owned = Rect::from_min_max(pos2(x[0], y[0]), pos2(x[1], y[1]));
    cells::frame(ui, &shown, owned, Stroke::new(1.5, Color32::from_white_alpha(140)));
    let text = match shown.hover {
        Some([i, j]) => {
            let (value, tiles) = (value(mean, [i, j]), tiles(mean.tiles(i, j)));
            format!("{i} across, {j} down: {value}, over {tiles}")
        }
        None => {
            let cycle = grouped(sorted.cycle);
            format!(
                "Cycle {cycle}: mean over the inner tiles that own a point. The frame shows what they own."
            )
        }
    };
    let lines = Rect::from_min_max(pos2(room.left(), picture.bottom() + 4.0), room.max);
    let mut ui = ui.new_child(UiBuilder::new().max_rect(lines));
    ui.add(Label::new(small_mathematics(&ui, &text)).wrap()).on_hover_text(
        "At each position in a tile, the mean magnitude over all inner tiles that own the point there. Positions count from the first point that a tile computes. Tiles at the boundary are left out: boundary values govern the field there.",
    );
}

fn value(mean: &MeanTile, [i, j]: [usize; 2]) -> String {
    match mean.at(i, j) {
        value if value.is_nan() => "unknown".to_owned(),
        value => number(value.into()),
    }
}

fn tiles(count: u64) -> String {
    match count {
        0 => "no tile owns it".to_owned(),
        1 => "1 tile".to_owned(),
        _ => format!("{} tiles", grouped(count)),
    }
}

/// In 1D: a curve.
fn line(
    ui: &mut Ui,
    range: &mut KeptRange,
    session: &Session,
    report: &Report,
    sorted: &FieldStatistics,
    mean: &MeanTile,
    axis: &AxisTiling,
) {
    let counts: Vec<_> = (0..mean.size[0]).map(|i| mean.tiles(i, 0)).collect();
    let cycle = grouped(sorted.cycle);
    let about = format!(
        "|{}| at each position in a tile, cycle {cycle}: mean over its owners",
        sorted.field.symbol()
    );
    ui.add(Label::new(small_mathematics(ui, &about)).truncate())
        .on_hover_text("Inner tiles own the points between the vertical lines.");
    let scale = session.view.of_field(sorted.field).scale;
    let theme = theme::of_figures(ui);
    let mut plot = mean_tile_plot(&mean.means, &inner_points(axis), sorted.field, scale, theme);
    range.hold(&mut plot, session, report, sorted.field);
    let frame = plot::Frame {
        id: "mean tile",
        height: ui.available_height(),
        cursor: None,
        has_legend: true,
    };
    plot::ui(ui, &frame, &plot, |at| {
        let i = at.x.round().max(0.0) as usize;
        let over = tiles(*counts.get(i)?);
        Some(format!("position {i}\n{}\nover {over}", value(mean, [i, 0])))
    });
}
