//! The field on three slices of a 3D grid, one across each axis, through one point.

use crate::app::panes::pane_type::{PaneContext, PaneType, Slot};
use crate::app::state::command::Command;
use crate::app::state::kept_range::KeptRange;
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::state::view_settings::RangeMode;
use crate::app::widgets::colour_bar::{self, Bar};
use crate::app::widgets::device_border;
use crate::grid::{INDEX_NAMES, Need, Shape, Slice};
use crate::picture::{
    self, ColourMap, End, FigureKind, Range, Scale, number, shown_values, value_label,
};
use crate::run::{ObservationRequest, Plan, Report, SlicesRequest};
use crate::solver::Samples;
use eframe::egui::{
    self, Align2, Color32, ColorImage, Id, Label, Pos2, Rect, RichText, Sense, Stroke, StrokeKind,
    TextStyle, TextureHandle, TextureOptions, Ui, UiBuilder, Vec2, pos2, vec2,
};
use std::sync::{Arc, Mutex, PoisonError};

/// Height of the name above each slice, of the text under them, and the room between two.
const TITLE_ROOM: f32 = 20.0;
const LINE_ROOM: f32 = 22.0;
const BETWEEN: f32 = 10.0;

/// The most samples of a slice along an axis: no screen shows more of three beside each other.
const MOST: usize = 1024;

/// Tile borders nearer than this many points would hide the field.
const NEAREST_BORDERS: f32 = 4.0;

/// The field on three slices.
pub struct SlicesPane;

/// Its name in files.
pub const ID: PaneId = PaneId("slices");

impl PaneType for SlicesPane {
    fn id(&self) -> PaneId {
        ID
    }

    fn title(&self) -> &'static str {
        "Slices"
    }

    fn about(&self) -> &'static str {
        "The field on three slices of a 3D grid, one across each axis; a click in one moves the other two."
    }

    fn slot(&self) -> Slot {
        Slot::Map
    }

    fn is_shown_at_first(&self) -> bool {
        true
    }

    fn shows(&self, kind: FigureKind) -> bool {
        kind == FigureKind::SLICES
    }

    fn figure(&self, session: &Session) -> Option<FigureKind> {
        self.why_empty(session).is_none().then_some(FigureKind::SLICES)
    }

    fn request(&self, session: &Session, request: &mut ObservationRequest) {
        let [nx, ny, nz] = session.spec.problem.shape[..] else { return };
        let Ok(shape) = Shape::grid_3d(nx, ny, nz) else { return };
        let point = Slice::common_point(session.view.through, session.view.slice, &shape);
        request.slices = point.map(|through| SlicesRequest { through, most: MOST });
    }

    fn need(&self) -> Need {
        Need::Grid3d
    }

    fn why_empty(&self, session: &Session) -> Option<&'static str> {
        let is_3d = session.spec.problem.shape.len() == 3;
        (!is_3d).then_some("Only a 3D grid has three axes to show.")
    }

    fn draw(&self, ui: &mut Ui, context: &mut PaneContext<'_>) {
        let Some(report) = context.report else { return };
        let Some(slices) = &report.observation.slices else {
            ui.label(RichText::new("The field is not known yet.").weak());
            return;
        };
        // The pictures are the pane's own, wherever it lies: with an id of its place, each place would keep some.
        let id = Id::unique(("picture", ID.0));
        let pictures = ui
            .data_mut(|data| Arc::clone(data.get_temp_mut_or_default::<Arc<Mutex<Textures>>>(id)));
        let mut pictures = pictures.lock().unwrap_or_else(PoisonError::into_inner);
        let moved = pictures.ui(ui, context.session, report, slices);
        if let Some(point) = moved {
            let mut view = context.session.view.clone();
            view.through = Some(point);
            context.commands.push(Command::SetView(view));
        }
    }
}

/// The textures of the slices, and what they show.
#[derive(Default)]
struct Textures {
    handles: Vec<TextureHandle>,
    range: KeptRange,
    of: Option<(Arc<[Samples; 3]>, Scale, ColourMap, bool)>,
}

impl Textures {
    /// Draws the slices beside each other, and returns the common point if it is moved.
    fn ui(
        &mut self,
        ui: &mut Ui,
        session: &Session,
        report: &Report,
        slices: &Arc<[Samples; 3]>,
    ) -> Option<[usize; 3]> {
        let (plan, field) = (&report.plan, report.observation.field);
        let point =
            Slice::common_point(session.view.through, session.view.slice, &plan.problem.shape)?;
        let colours = *session.view.of_field(field);
        let values =
            slices.each_ref().map(|of| shown_values(&of.values, colours.scale, colours.absolute));
        let fitted = Range::of(colours.scale, values.iter().flat_map(|of| of.iter().copied()));
        let range = match colours.range {
            RangeMode::Locked(range) => range,
            _ => self.range.range(session, report, field, colours.scale, fitted),
        };
        let scale = Scale::new(colours.scale, range);
        let parts = [0, 1, 2].map(|which| {
            let [cols, rows] = slices[which].size;
            picture::Samples::new(cols, rows, &values[which]).unwrap_or(picture::Samples::EMPTY)
        });
        self.refresh(ui, slices, &parts, &scale, colours.map, colours.absolute);

        let room = ui.available_rect_before_wrap();
        let area = Rect::from_min_max(room.min, room.max - vec2(colour_bar::ROOM, LINE_ROOM));
        let points = slices.each_ref().map(|of| vec2(of.columns.end as f32, of.rows.end as f32));
        let (each, places) = arrangement(area, points);
        let (mut moved, mut hover) = (None, None);
        for (which, (of, points)) in slices.iter().zip(points).enumerate() {
            let slice = of.slice?;
            let rect = Rect::from_min_size(places[which], each * points);
            let name = format!("Slice {slice} of the {}", field.name());
            let response = ui.interact(rect, ui.scope_id().with(which), Sense::click_and_drag());
            response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, &name));
            self.draw(ui, rect, which, of, plan, session.view.borders);
            let axes = slice.axes();
            crosshair(ui, rect, axes.map(|axis| (point[axis] as f32 + 0.5) * each));
            let index = |at: Pos2| {
                let at = (at - rect.min) / each;
                let within = |at: f32, end: f32| at.clamp(0.0, end - 1.0) as usize;
                [within(at.x, points.x), within(at.y, points.y)]
            };
            let is_pressed = response.is_pointer_button_down_on() || response.clicked();
            if let Some(at) = response.interact_pointer_pos().filter(|_| is_pressed) {
                let mut there = point;
                let [column, row] = index(at);
                (there[axes[0]], there[axes[1]]) = (column, row);
                moved = (there != point).then_some(there).or(moved);
            }
            if let Some(at) = response.hover_pos() {
                let at = index(at);
                hover = of.at(at[0], at[1]).map(|value| (slice.point(at), value));
            }
        }
        let bar = Bar {
            map: colours.map,
            scale: &scale,
            clips: [End::Low, End::High].map(|end| parts.iter().any(|of| of.clip(&scale, end))),
            has_infinite: parts.iter().any(picture::Samples::has_infinite),
            title: &value_label(field, colours.scale, colours.absolute),
            histogram: &[],
        };
        colour_bar::ui(ui, area, &bar);
        let text = match hover {
            Some((at, value)) => {
                let place = [0, 1, 2].map(|axis| format!("{} {}", INDEX_NAMES[axis], at[axis]));
                format!("{}: {}", place.join(", "), number(value.into()))
            }
            None => "Click or drag in a slice to move the other two.".to_owned(),
        };
        let line = Rect::from_min_max(pos2(room.left(), area.bottom() + 4.0), room.max);
        ui.new_child(UiBuilder::new().max_rect(line))
            .add(Label::new(RichText::new(text).small()).truncate());
        moved
    }

    /// Draws a slice with its name, its tile borders, and the borders between devices.
    fn draw(&self, ui: &Ui, rect: Rect, which: usize, of: &Samples, plan: &Plan, borders: bool) {
        let painter = ui.painter();
        if let Some(texture) = self.handles.get(which) {
            let uv = Rect::from_min_max(Pos2::ZERO, pos2(1.0, 1.0));
            painter.image(texture.id(), rect, uv, Color32::WHITE);
        }
        painter.rect_stroke(rect, 0.0, ui.visuals().window_stroke, StrokeKind::Outside);
        let name = of.slice.map_or(String::new(), |slice| slice.label());
        let font = TextStyle::Small.resolve(ui.style());
        let at = rect.left_top() - vec2(0.0, 4.0);
        painter.text(at, Align2::LEFT_BOTTOM, name, font, ui.visuals().text_color());
        let each = rect.width() / of.columns.end as f32;
        for border in plan.device_borders_along(1, of.slice) {
            let y = rect.top() + border as f32 * each;
            device_border::paint(painter, [pos2(rect.left(), y), pos2(rect.right(), y)]);
        }
        if !borders {
            return;
        }
        let shown = plan.shown(of.slice);
        let stroke = Stroke::new(1.0, Color32::from_white_alpha(90));
        for (axis, tiles) in shown.tiling().axes().iter().enumerate() {
            if tiles.tile() as f32 * each < NEAREST_BORDERS {
                continue;
            }
            for border in tiles.borders() {
                let at = border as f32 * each;
                match axis {
                    0 => painter.vline(rect.left() + at, rect.y_range(), stroke),
                    _ => painter.hline(rect.x_range(), rect.top() + at, stroke),
                };
            }
        }
    }

    /// Updates the textures if values or colours changed.
    fn refresh(
        &mut self,
        ui: &Ui,
        slices: &Arc<[Samples; 3]>,
        parts: &[picture::Samples<'_>; 3],
        scale: &Scale,
        map: ColourMap,
        absolute: bool,
    ) {
        let is_same = |of: &(Arc<[Samples; 3]>, Scale, ColourMap, bool)| {
            Arc::ptr_eq(&of.0, slices) && (of.1, of.2, of.3) == (*scale, map, absolute)
        };
        if self.of.as_ref().is_some_and(is_same) {
            return;
        }
        self.handles = parts
            .iter()
            .map(|of| {
                let mut pixels = Vec::new();
                picture::colours(of, scale, map, &mut pixels);
                let size = [of.cols(), of.rows()];
                let image = ColorImage::from_rgba_unmultiplied(size, &pixels);
                ui.ctx().load_texture(ID.0, image, TextureOptions::NEAREST)
            })
            .collect();
        self.of = Some((Arc::clone(slices), *scale, map, absolute));
    }
}

/// The size of a grid point and the corner of each slice, given the points across and down: beside each other, or
/// two by two with the axes that two slices share along each other, whichever is larger.
fn arrangement(area: Rect, points: [Vec2; 3]) -> (f32, [Pos2; 3]) {
    let [z, y, x] = points;
    let beside = [z.x + y.x + x.x, z.y.max(y.y).max(x.y)];
    let square = [z.x.max(y.x) + x.x, z.y + y.y.max(x.y)];
    let fits = |[across, down]: [f32; 2], columns: f32, rows: f32| {
        let width = area.width() - (columns - 1.0) * BETWEEN;
        let height = area.height() - rows * TITLE_ROOM;
        (width / across).min(height / down).max(0.01)
    };
    let (in_row, in_square) = (fits(beside, 3.0, 1.0), fits(square, 2.0, 2.0));
    let is_row = in_row >= in_square;
    let (each, [across, down], columns, rows) = match is_row {
        true => (in_row, beside, 3.0, 1.0),
        false => (in_square, square, 2.0, 2.0),
    };
    let used = vec2(each * across + (columns - 1.0) * BETWEEN, each * down + rows * TITLE_ROOM);
    let first = area.min + 0.5 * (area.size() - used).max(Vec2::ZERO) + vec2(0.0, TITLE_ROOM);
    let right_of = |of: Vec2| vec2(each * of.x + BETWEEN, 0.0);
    let places = match is_row {
        true => [first, first + right_of(z), first + right_of(z) + right_of(y)],
        false => {
            let below = first + vec2(0.0, each * z.y + TITLE_ROOM);
            [first, below, below + right_of(if z.x > y.x { z } else { y })]
        }
    };
    (each, places)
}

/// Lines that show where the other slices lie.
fn crosshair(ui: &Ui, rect: Rect, [x, y]: [f32; 2]) {
    let under = Stroke::new(3.0, Color32::from_black_alpha(150));
    for stroke in [under, Stroke::new(1.0, Color32::WHITE)] {
        ui.painter().vline(rect.left() + x, rect.y_range(), stroke);
        ui.painter().hline(rect.x_range(), rect.top() + y, stroke);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_fill_the_room_and_cover_nothing() {
        let [nx, ny, nz] = [64.0, 48.0, 32.0];
        let points = [vec2(nx, ny), vec2(nx, nz), vec2(ny, nz)];
        for size in [vec2(520.0, 600.0), vec2(900.0, 200.0), vec2(300.0, 900.0)] {
            let area = Rect::from_min_size(pos2(10.0, 20.0), size);
            let (each, places) = arrangement(area, points);
            let rects = [0, 1, 2].map(|of| Rect::from_min_size(places[of], each * points[of]));
            for (index, rect) in rects.iter().enumerate() {
                let with_title = rect
                    .expand2(vec2(0.0, 0.5 * TITLE_ROOM))
                    .translate(vec2(0.0, -0.5 * TITLE_ROOM));
                assert!(area.expand(0.1).contains_rect(with_title), "{size}: {rect}");
                assert!(
                    rects[..index].iter().all(|other| !other.intersects(with_title.shrink(0.1)))
                );
            }
            let row = (size.x - 2.0 * BETWEEN) / (2.0 * nx + ny);
            assert!(each >= row.min((size.y - TITLE_ROOM) / ny), "{size}: {each}");
        }
    }
}
