//! The field by the rows of a matrix: a map where rows have places, a folded strip where they have none.

use crate::app::panes::pane_type::{PaneContext, PanePicture, PaneType, Slot};
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::widgets::cells::{self, CellsView, Values};
use crate::app::widgets::device_border;
use crate::app::widgets::labels::small_mathematics;
use crate::grid::Need;
use crate::picture::{
    FigureKind, Range, SMALLEST_BLOCK, Scale, block_borders, grouped, number, shown_values,
    value_label,
};
use crate::run::{NO_ROW, ObservationRequest, Plan, ProblemKind, Report, RowLayout, RowMap};
use eframe::egui::{Color32, Label, Rect, Stroke, Ui, UiBuilder, pos2, vec2};

/// The most cells across and down that are requested.
const MOST: usize = 640;

/// Height of the text under the picture.
const LINES_ROOM: f32 = 36.0;

/// The field by the rows of a matrix.
pub struct RowMapPane;

/// Its name in files.
pub const ID: PaneId = PaneId("row-map");

impl PaneType for RowMapPane {
    fn id(&self) -> PaneId {
        ID
    }

    fn title(&self) -> &'static str {
        "Rows"
    }

    fn about(&self) -> &'static str {
        "The field by the rows of a matrix: a map where their places are known, otherwise a folded strip; lines are block borders."
    }

    fn slot(&self) -> Slot {
        Slot::BelowMapLeft
    }

    fn is_shown_at_first(&self) -> bool {
        true
    }

    fn shows(&self, kind: FigureKind) -> bool {
        kind == FigureKind::ROW_MAP
    }

    fn figure(&self, session: &Session) -> Option<FigureKind> {
        self.why_empty(session).is_none().then_some(FigureKind::ROW_MAP)
    }

    fn request(&self, session: &Session, request: &mut ObservationRequest) {
        if self.why_empty(session).is_none() {
            request.rows = Some([MOST; 2]);
        }
    }

    fn need(&self) -> Need {
        Need::Matrix
    }

    fn why_empty(&self, session: &Session) -> Option<&'static str> {
        let is_matrix = session.spec.problem.kind == ProblemKind::Matrix;
        (!is_matrix).then_some("Only a sparse matrix has rows to show.")
    }

    fn draw(&self, ui: &mut Ui, context: &mut PaneContext<'_>) {
        let Some(report) = context.report else { return };
        let Some(map) = &report.observation.rows else {
            ui.label("The field is not known yet.");
            return;
        };
        self::ui(ui, context.pictures.of(ID), context.session, report, map);
    }
}

fn ui(
    ui: &mut Ui,
    PanePicture { cells, range }: &mut PanePicture,
    session: &Session,
    report: &Report,
    map: &RowMap,
) {
    let room = ui.available_rect_before_wrap();
    let picture = Rect::from_min_max(room.min, room.max - vec2(0.0, LINES_ROOM));
    let field = report.observation.field;
    let view = session.view.of_field(field);
    let values = shown_values(&map.values, view.scale, view.absolute);
    let fitted = Range::of(view.scale, values.iter().copied());
    let range = range.range(session, report, field, view.scale, fitted);
    let shown = cells.ui(
        ui,
        picture,
        &Values {
            about: &format!("The {} by row", field.name()),
            title: &value_label(field, view.scale, view.absolute),
            size: map.size,
            values: &values,
            scale: Scale::new(view.scale, range),
            map: view.map,
            stretched: false,
        },
    );
    let cells_of_block = map.values.len() as f32 / report.plan.tiling.x().count() as f32;
    let side = cells_of_block.sqrt() * shown.to_screen.scale().x.abs();
    if session.view.borders && side >= SMALLEST_BLOCK as f32 {
        draw_borders(ui, &shown, &block_borders(map, &report.plan));
    }
    if report.plan.device_of_row(0).is_some() {
        let painter = ui.painter().with_clip_rect(picture);
        for border in map.borders(|row| report.plan.device_of_row(row).unwrap_or(0)) {
            let ends = border.map(|[x, y]| shown.to_screen.transform_pos(pos2(x, y)));
            device_border::paint(&painter, ends);
        }
    }
    let text = match shown.hover.map(|[across, down]| down * map.size[0] + across) {
        Some(at) if map.rows[at] != NO_ROW => row_text(&report.plan, map, at),
        Some(_) => "No row lies here.".to_owned(),
        None => {
            let about = match map.layout {
                RowLayout::Folded(columns) => {
                    format!("rows in the order of the blocks, {} per line", grouped(columns as u64))
                }
                RowLayout::Grid(_) => "rows at their nodes".to_owned(),
                RowLayout::Points(_) => "rows by their coordinates".to_owned(),
            };
            format!("Cycle {}: {about}.", grouped(report.observation.cycle))
        }
    };
    let lines = Rect::from_min_max(pos2(room.left(), picture.bottom() + 4.0), room.max);
    let mut ui = ui.new_child(UiBuilder::new().max_rect(lines));
    ui.add(Label::new(small_mathematics(&ui, &text)).wrap());
}

fn draw_borders(ui: &Ui, shown: &CellsView, borders: &[[[f32; 2]; 2]]) {
    let stroke = Stroke::new(1.0, Color32::from_white_alpha(110));
    for border in borders {
        let corners = border.map(|[x, y]| pos2(x, y)).to_vec();
        cells::line(ui, shown, corners, stroke);
    }
}

/// The row of a cell, its block and its value.
fn row_text(plan: &Plan, map: &RowMap, at: usize) -> String {
    let row = map.rows[at] as usize;
    let own = plan.order.as_deref().map_or(row, |order| order[row] as usize);
    let block = plan.tiling.x().owner(row);
    let device = plan.device_of_row(row);
    let device = device.map_or_else(String::new, |device| format!(", device {device}"));
    let value = match map.values[at] {
        value if value.is_nan() => "unknown".to_owned(),
        value => number(value.into()),
    };
    format!(
        "Row {} of the matrix, in block {}{device}: {value}",
        grouped(own as u64),
        grouped(block as u64)
    )
}
