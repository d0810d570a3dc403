//! Which part of the grid fills the map.

use eframe::egui::{self, Pos2, Rect, Ui, Vec2, emath::RectTransform};
use std::ops::Range;

/// Points of the grid across, at the deepest zoom.
const MIN_VISIBLE: f32 = 4.0;

/// The visible part of the grid.
#[derive(Default)]
pub struct Zoom {
    /// The visible part, in points of the grid; `None` for the whole grid.
    zoom: Option<Rect>,
    /// The size of the grid.
    grid: Vec2,
    /// The visible columns and rows; `None` for all.
    part: Option<[Range<usize>; 2]>,
}

impl Zoom {
    /// Whether only a part of the grid is visible.
    pub fn is_part(&self) -> bool {
        self.zoom.is_some()
    }

    /// The visible columns and rows; `None` for all.
    pub fn part(&self) -> Option<[Range<usize>; 2]> {
        self.part.clone()
    }

    /// Shows the whole grid.
    pub fn reset(&mut self) {
        self.zoom = None;
    }

    /// Zooms and pans, and returns the visible part of the grid.
    pub fn navigate(
        &mut self,
        ui: &Ui,
        response: &egui::Response,
        area: Rect,
        grid: Vec2,
        stretched: bool,
    ) -> Rect {
        let whole = fitted(area, grid, stretched);
        // A diagram, which is stretched, grows with the cycles.
        let is_other = self.grid.x != grid.x || (self.grid.y != grid.y && !stretched);
        if response.double_clicked() || is_other {
            self.zoom = None;
        }
        self.grid = grid;
        let mut seen = self.zoom.unwrap_or(whole);
        if !stretched {
            // The window may have been resized since: cells stay square.
            let height = seen.width() * area.height() / area.width();
            seen = Rect::from_center_size(seen.center(), egui::vec2(seen.width(), height));
        }
        let to_grid = RectTransform::from_to(area, seen);
        if let Some(pointer) = response.hover_pos() {
            let (scroll, pinch) =
                ui.input(|input| (input.smooth_scroll_delta.y, input.zoom_delta()));
            let factor = pinch * (scroll / 200.0).exp();
            if factor != 1.0 {
                let at = to_grid.transform_pos(pointer);
                let width =
                    (seen.width() / factor).clamp(MIN_VISIBLE.min(whole.width()), whole.width());
                let by = width / seen.width();
                seen = Rect::from_min_max(at + (seen.min - at) * by, at + (seen.max - at) * by);
            }
        }
        if response.dragged() {
            seen = seen.translate(-response.drag_delta() * to_grid.scale());
        }
        // The middle of the view stays over the grid.
        let middle = seen.center().clamp(Pos2::ZERO, grid.to_pos2());
        seen = Rect::from_center_size(middle, seen.size());
        let is_whole = seen.width() >= whole.width() * 0.999 && !response.dragged();
        self.zoom = (!is_whole && seen != whole).then_some(seen);
        self.part = self.zoom.filter(|_| !stretched).map(|seen| {
            let range = |from: f32, to: f32, n: f32| {
                from.floor().clamp(0.0, n - 1.0) as usize..to.ceil().clamp(1.0, n) as usize
            };
            [range(seen.min.x, seen.max.x, grid.x), range(seen.min.y, seen.max.y, grid.y)]
        });
        self.zoom.unwrap_or(whole)
    }
}

/// The part of the plane that fills the area with the whole grid in its middle; stretched, or with
/// square cells.
pub fn fitted(area: Rect, grid: Vec2, stretched: bool) -> Rect {
    if stretched {
        return Rect::from_min_size(Pos2::ZERO, grid);
    }
    let scale = (area.width() / grid.x).min(area.height() / grid.y);
    Rect::from_center_size((grid / 2.0).to_pos2(), area.size() / scale)
}
