//! The entries of a sparse matrix: dynamic ones inside the blocks of rows, static ones outside. Block borders are dragged,
//! and a row is taken apart.

mod dissection;

use crate::app::panes::pane_type::{PaneContext, PaneType, Slot};
use crate::app::state::command::Command;
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::widgets::zoom::Zoom;
use crate::app::widgets::{device_border, theme};
use crate::grid::{AxisTiling, Need};
use crate::picture::{
    FigureKind, SMALLEST_BLOCK, SpyCells, Theme, counted, entry_colours, grouped, number,
};
use crate::problem::matrix::{BlockEntries, Csr, Ordering};
use crate::run::{ProblemKind, RunSpec};
use dissection::Dissection;
use eframe::egui::{
    self, Color32, ColorImage, CursorIcon, Id, Label, Pos2, Rect, RichText, Sense, Stroke,
    StrokeKind, TextureHandle, TextureOptions, Ui, UiBuilder, Vec2, emath::RectTransform, pos2,
};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Height of the text under the picture.
const LINES_ROOM: f32 = 52.0;

/// How near the pointer grabs a block border, in points.
const GRAB: f32 = 5.0;

/// The step of block sizes while a border is dragged, but in the order of square tiles.
const STEP: usize = 8;

/// The entries of a sparse matrix.
pub struct SpyPane;

/// Its name in files.
pub const ID: PaneId = PaneId("spy");

impl PaneType for SpyPane {
    fn id(&self) -> PaneId {
        ID
    }

    fn title(&self) -> &'static str {
        "Entries"
    }

    fn about(&self) -> &'static str {
        "Where a sparse matrix has entries: dynamic ones inside the blocks of rows, static ones outside."
    }

    fn slot(&self) -> Slot {
        Slot::BottomRight
    }

    fn is_shown_at_first(&self) -> bool {
        true
    }

    fn shows(&self, kind: FigureKind) -> bool {
        kind == FigureKind::SPY
    }

    fn figure(&self, session: &Session) -> Option<FigureKind> {
        self.why_empty(session).is_none().then_some(FigureKind::SPY)
    }

    fn need(&self) -> Need {
        Need::Matrix
    }

    fn why_empty(&self, session: &Session) -> Option<&'static str> {
        let is_matrix = session.spec.problem.kind == ProblemKind::Matrix;
        (!is_matrix).then_some("Only a sparse matrix has entries to show.")
    }

    fn draw(&self, ui: &mut Ui, context: &mut PaneContext<'_>) {
        let Some(plan) = context.report.map(|report| &report.plan) else { return };
        let Some(matrix) = plan.problem.operator.matrix() else { return };
        // The picture is the pane's own, wherever it lies: with an id of its place, each place would keep one.
        let id = Id::unique(("picture", ID.0));
        let picture = ui.data_mut(|data| {
            Arc::clone(data.get_temp_mut_or_default::<Arc<Mutex<SpyPicture>>>(id))
        });
        let mut picture = picture.lock().unwrap_or_else(PoisonError::into_inner);
        let dragged = picture.ui(ui, matrix, plan.tiling.x(), &plan.device_borders());
        let mut spec = RunSpec::clone(&context.session.spec);
        if let Some(BorderDrag { begins, rows }) = dragged {
            if begins {
                context.commands.push(Command::BeginDrag(Vec::new()));
            }
            spec.method.tile = vec![block_size(&spec, rows)];
            if spec != *context.session.spec {
                context.commands.push(Command::Change(spec));
            }
        }
    }
}

/// A block border that is dragged.
struct BorderDrag {
    /// Whether the drag has just begun.
    begins: bool,
    /// The rows that a block then has.
    rows: f32,
}

/// The rows of a block that a drag stops at: square numbers in the order of tiles.
fn block_size(spec: &RunSpec, rows: f32) -> usize {
    let matrix = spec.problem.matrix.as_ref();
    let most = spec.problem.shape.first().copied().unwrap_or(1);
    if matrix.is_some_and(|matrix| matrix.ordering == Ordering::Tiles) {
        let side = rows.max(1.0).sqrt().round() as usize;
        return side.min(most.isqrt()).max(1).pow(2);
    }
    let rows = (rows.max(0.0).round() as usize).min(most);
    (rows / STEP * STEP).max(1)
}

/// What a texture shows of a matrix: its blocks, columns and rows, the most cells, and the theme.
type ShownPart = (AxisTiling, [Range<usize>; 2], [usize; 2], Theme);

/// The picture of a matrix.
#[derive(Default)]
struct SpyPicture {
    zoom: Zoom,
    texture: Option<TextureHandle>,
    cells: SpyCells,
    /// The matrix, which is not kept, and the part of it.
    shown: Option<(Weak<Csr>, ShownPart)>,
    /// The row that is taken apart.
    row: Option<Dissection>,
    /// The block whose end is dragged.
    dragged: Option<usize>,
}

impl SpyPicture {
    /// Draws it, and returns where a block border is dragged to.
    fn ui(
        &mut self,
        ui: &mut Ui,
        matrix: &Arc<Csr>,
        blocks: &AxisTiling,
        devices: &[usize],
    ) -> Option<BorderDrag> {
        let n = matrix.rows();
        self.row.take_if(|of| of.row >= n);
        let room = ui.available_rect_before_wrap();
        // What a click changes below is drawn from the next frame on, which has the room for it.
        let shown = self.row;
        let below = if shown.is_some() { dissection::HEIGHT } else { LINES_ROOM };
        let bottom = (room.bottom() - below).max(room.top());
        let area = Rect::from_min_max(room.min, pos2(room.right(), bottom));
        let response = ui.allocate_rect(area, Sense::click_and_drag());
        let about = "Entries of the matrix";
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, about));
        let seen = self.zoom.navigate(ui, &response, area, Vec2::splat(n as f32), false);
        let to_screen = RectTransform::from_to(seen, area);
        let range = |from: f32, to: f32| {
            (from.floor().max(0.0) as usize).min(n)..(to.ceil().max(0.0) as usize).min(n)
        };
        let parts = [range(seen.left(), seen.right()), range(seen.top(), seen.bottom())];
        let pixels = area.size() * ui.pixels_per_point();
        self.refresh(ui, matrix, blocks, &parts, [pixels.x as usize, pixels.y as usize]);
        let [columns, rows] = &parts;
        let corner = |column: usize, row: usize| pos2(column as f32, row as f32);
        let whole =
            Rect::from_min_max(corner(columns.start, rows.start), corner(columns.end, rows.end));
        let whole = to_screen.transform_rect(whole);
        let painter = ui.painter().with_clip_rect(area);
        painter.rect_filled(whole, 0.0, ui.visuals().extreme_bg_color);
        if let Some(texture) = &self.texture {
            let uv = Rect::from_min_max(Pos2::ZERO, pos2(1.0, 1.0));
            painter.image(texture.id(), whole, uv, Color32::WHITE);
        }
        self.draw_blocks(&painter, ui, blocks, &to_screen, rows);
        for &border in devices {
            // A device owns rows; what they read of others lies beside its columns.
            let y = border as f32;
            let ends = [0.0, n as f32].map(|x| to_screen.transform_pos(pos2(x, y)));
            device_border::paint(&painter, ends);
        }
        if let Some(of) = self.row {
            let y = to_screen.transform_pos(pos2(0.0, of.row as f32 + 0.5)).y;
            painter.hline(whole.x_range(), y, Stroke::new(1.0, ui.visuals().text_color()));
        }
        painter.rect_stroke(whole, 0.0, ui.visuals().window_stroke, StrokeKind::Outside);
        let drag = self.drag_border(ui, area, blocks, &to_screen, rows);
        let at = response.hover_pos().map(|at| to_screen.inverse().transform_pos(at));
        let inside = |at: &Pos2| at.x >= 0.0 && at.y >= 0.0 && at.x < n as f32 && at.y < n as f32;
        let hover = at.filter(inside).map(|at| [at.x as usize, at.y as usize]);
        let lines = Rect::from_min_max(pos2(room.left(), area.bottom() + 4.0), room.max);
        let mut ui = ui.new_child(UiBuilder::new().max_rect(lines));
        match (hover, shown) {
            (_, Some(row)) => self.row = row.ui(&mut ui, matrix, blocks),
            (Some(at), None) => {
                let text = self.cell_text(matrix, blocks, at, &parts);
                ui.add(Label::new(RichText::new(text).small()).wrap());
            }
            (None, None) => legend(&mut ui, matrix, blocks),
        }
        if response.clicked() {
            self.row = hover.map(|[_, row]| Dissection::of(row));
        }
        if self.row != shown {
            ui.ctx().request_repaint();
        }
        drag
    }

    /// Lets the pointer drag the end of a visible block: the block that ends at it keeps its number, and all blocks grow
    /// or shrink alike.
    fn drag_border(
        &mut self,
        ui: &Ui,
        area: Rect,
        blocks: &AxisTiling,
        to_screen: &RectTransform,
        rows: &Range<usize>,
    ) -> Option<BorderDrag> {
        let pointer = ui.input(|input| input.pointer.hover_pos());
        if self.dragged.is_none() {
            let at = pointer.filter(|at| area.contains(*at))?;
            self.dragged = border_at(blocks, to_screen, rows, at);
        }
        let block = self.dragged?;
        let grip =
            Rect::from_center_size(pointer.unwrap_or(area.center()), Vec2::splat(2.0 * GRAB));
        let response = ui.interact(grip, Id::unique(("block border", ID.0)), Sense::drag());
        let response = response.on_hover_cursor(CursorIcon::ResizeNwSe);
        response.widget_info(|| {
            egui::WidgetInfo::labeled(
                egui::Role::Image,
                true,
                "Block border: drag to resize blocks",
            )
        });
        let Some(at) = response.interact_pointer_pos().filter(|_| response.dragged()) else {
            self.dragged = None;
            return None;
        };
        let at = to_screen.inverse().transform_pos(at);
        let rows = at.x.max(at.y) / (block + 1) as f32;
        Some(BorderDrag { begins: response.drag_started(), rows })
    }

    /// Outlines the visible blocks.
    fn draw_blocks(
        &self,
        painter: &egui::Painter,
        ui: &Ui,
        blocks: &AxisTiling,
        to_screen: &RectTransform,
        rows: &Range<usize>,
    ) {
        let scale = to_screen.scale();
        if rows.is_empty() {
            return;
        }
        let stroke = Stroke::new(1.0, ui.visuals().weak_text_color());
        if blocks.tile() as f32 * scale.y >= SMALLEST_BLOCK as f32 {
            for block in blocks.owner(rows.start)..=blocks.owner(rows.end - 1) {
                let owned = blocks.owned(block);
                let (start, end) = (owned.start as f32, owned.end as f32);
                let rect = Rect::from_min_max(pos2(start, start), pos2(end, end));
                let rect = to_screen.transform_rect(rect);
                painter.rect_stroke(rect, 0.0, stroke, StrokeKind::Middle);
            }
        }
    }

    /// Updates the texture if something else is shown.
    fn refresh(
        &mut self,
        ui: &Ui,
        matrix: &Arc<Csr>,
        blocks: &AxisTiling,
        [columns, rows]: &[Range<usize>; 2],
        most: [usize; 2],
    ) {
        let theme = theme::of_figures(ui);
        let parts = [columns.clone(), rows.clone()];
        let (matrix_of, part) = (Arc::downgrade(matrix), (blocks.clone(), parts, most, theme));
        let is_shown =
            |(of, shown): &(Weak<Csr>, ShownPart)| of.ptr_eq(&matrix_of) && *shown == part;
        if self.shown.as_ref().is_some_and(is_shown) {
            return;
        }
        self.cells = SpyCells::new(matrix, blocks, columns.clone(), rows.clone(), most);
        let image = ColorImage::from_rgba_unmultiplied(self.cells.size, &self.cells.pixels(theme));
        match &mut self.texture {
            Some(texture) => texture.set(image, TextureOptions::NEAREST),
            None => {
                self.texture = Some(ui.ctx().load_texture(ID.0, image, TextureOptions::NEAREST));
            }
        }
        self.shown = Some((matrix_of, part));
    }

    /// What lies at a place: an entry, or those that are pooled there.
    fn cell_text(
        &self,
        matrix: &Csr,
        blocks: &AxisTiling,
        [column, row]: [usize; 2],
        [columns, rows]: &[Range<usize>; 2],
    ) -> String {
        let place = format!("Row {}, column {}", grouped(row as u64), grouped(column as u64));
        let [across, down] = self.cells.size;
        if across == columns.len() && down == rows.len() {
            return match matrix.at(row, column) {
                0.0 => format!("{place}: no entry."),
                value => format!("{place}: {} ({}).", number(value), kind(blocks, row, column)),
            };
        }
        let at = |of: usize, part: &Range<usize>, cells: usize| {
            (of.saturating_sub(part.start) * cells).checked_div(part.len()).unwrap_or(0)
        };
        let index = at(row, rows, down) * across + at(column, columns, across);
        let BlockEntries { inside, outside } =
            self.cells.cells.get(index).copied().unwrap_or_default();
        format!(
            "{place}: {} dynamic and {} static here. Scroll to zoom; click to take the row apart.",
            grouped(inside as u64),
            grouped(outside as u64),
        )
    }
}

/// The block whose end is near a place on the screen, but for the last: an edge of its square or of the next.
fn border_at(
    blocks: &AxisTiling,
    to_screen: &RectTransform,
    rows: &Range<usize>,
    at: Pos2,
) -> Option<usize> {
    if rows.is_empty() || blocks.tile() as f32 * to_screen.scale().y < SMALLEST_BLOCK as f32 {
        return None;
    }
    let first = blocks.owner(rows.start).saturating_sub(1);
    (first..=blocks.owner(rows.end - 1)).filter(|block| block + 1 < blocks.count()).find(|block| {
        let (own, next) = (blocks.owned(*block), blocks.owned(block + 1));
        let [start, end, last] = [own.start, own.end, next.end]
            .map(|row| to_screen.transform_pos(pos2(row as f32, row as f32)));
        let is_on = |along: f32, across: f32, [from, line, to]: [f32; 3]| {
            (across - line).abs() <= GRAB && (from..=to).contains(&along)
        };
        is_on(at.x, at.y, [start.x, end.y, last.x]) || is_on(at.y, at.x, [start.y, end.x, last.y])
    })
}

/// What an entry is.
fn kind(blocks: &AxisTiling, row: usize, column: usize) -> &'static str {
    match (row == column, blocks.owner(row) == blocks.owner(column)) {
        (true, _) => "diagonal",
        (_, true) => "dynamic",
        (_, false) => "static",
    }
}

/// The colours, and what they stand for.
fn legend(ui: &mut Ui, matrix: &Csr, blocks: &AxisTiling) {
    let colours = entry_colours(theme::of_figures(ui));
    ui.horizontal_wrapped(|ui| {
        for ([r, g, b], text) in
            colours.into_iter().zip(["dynamic: inside a block", "static: outside"])
        {
            ui.label(RichText::new("■").color(Color32::from_rgb(r, g, b)));
            ui.label(RichText::new(text).small());
        }
        let (rows, entries) = (grouped(matrix.rows() as u64), grouped(matrix.entries() as u64));
        let blocks = counted(blocks.count() as u64, "block");
        ui.label(RichText::new(format!("{rows} rows, {entries} entries, {blocks}")).small().weak());
    });
}
