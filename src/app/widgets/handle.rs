//! A dot that is dragged: the end of a line on a map, or a number that a plot shows.

use crate::app::widgets::labels::named;
use crate::app::widgets::plot::Painted;
use crate::app::widgets::theme;
use eframe::egui::{self, Color32, CursorIcon, Pos2, Rect, Response, Sense, Stroke, Ui, Vec2};

/// Its radius, and how near the pointer must be to drag it, in points.
const RADIUS: f32 = 4.5;
const REACH: f32 = 8.0;

/// What a handle is called, what dragging it changes, in a sentence, and the pointer over it.
#[derive(Clone, Copy)]
pub struct Handle {
    pub name: &'static str,
    pub about: &'static str,
    pub cursor: CursorIcon,
}

/// Where a handle is dragged to.
pub struct Dragged {
    /// Whether the drag has just begun.
    pub begins: bool,
    /// Where it was when the drag began.
    pub from: (f64, f64),
    /// In units of the axes. Beyond the ends of an axis they are as long as within.
    pub to: (f64, f64),
}

/// What stays while a handle is dragged, however the axes change.
#[derive(Clone, Copy)]
struct Press {
    /// Where it was, in places of the toolkit's axes.
    from: [f64; 2],
    /// Their length of a point of the screen.
    per_point: [f64; 2],
}

impl Handle {
    /// Draws it on a plot; nothing where that was moved away from it.
    pub fn ui(&self, ui: &Ui, plot: &Painted, at: (f64, f64)) -> Option<Dragged> {
        let centre = plot.position(at);
        let id = ui.scope_id().with(self.name);
        let press: Option<Press> = ui.data(|data| data.get_temp(id));
        // One that is dragged stays a handle.
        if press.is_none() && !plot.response.rect.expand(RADIUS).contains(centre) {
            return None;
        }
        let reach = Rect::from_center_size(centre, Vec2::splat(2.0 * REACH));
        let response = ui.interact(reach, id, Sense::drag());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Splitter, true, self.name));
        let response = named(response, self.name).on_hover_cursor(self.cursor);
        let response = response.on_hover_text(self.about);
        paint(ui, plot.response.rect, centre, is_held(&response));
        if !response.dragged() {
            ui.data_mut(|data| data.remove::<Press>(id));
            return None;
        }
        let begins = response.drag_started();
        let press = press.filter(|_| !begins).unwrap_or_else(|| {
            let press = Press { from: plot.place(at), per_point: plot.per_point() };
            ui.data_mut(|data| data.insert_temp(id, press));
            press
        });
        let pressed = ui.input(|input| input.pointer.press_origin())?;
        let by = response.interact_pointer_pos()? - pressed;
        let to = [0, 1].map(|axis| press.from[axis] + f64::from(by[axis]) * press.per_point[axis]);
        Some(Dragged { begins, from: plot.value(press.from), to: plot.value(to) })
    }
}

/// Whether the pointer is on it.
pub fn is_held(response: &Response) -> bool {
    response.hovered() || response.dragged()
}

/// Paints a handle on a picture.
pub fn paint(ui: &Ui, area: Rect, at: Pos2, is_held: bool) {
    let painter = ui.painter().with_clip_rect(area.expand(RADIUS));
    let fill = if is_held { theme::MARK } else { Color32::WHITE };
    // Dark next to light is visible on every colour.
    painter.circle(at, RADIUS + 1.0, theme::MARK_OUTLINE, Stroke::NONE);
    painter.circle(at, RADIUS - 1.0, fill, Stroke::new(2.0, theme::MARK));
}
