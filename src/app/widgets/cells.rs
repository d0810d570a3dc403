//! A small picture of values beside the map: square cells in their colours, a colour bar, and the
//! values themselves where cells have room for them.

use crate::app::widgets::cell_values::Inks;
use crate::app::widgets::colour_bar::Bar;
use crate::app::widgets::zoom::Zoom;
use crate::app::widgets::{cell_values, colour_bar};
use crate::picture::{self, ColourMap, Scale};
use eframe::egui::{
    self, Color32, ColorImage, Pos2, Rect, Sense, TextureHandle, TextureOptions, Ui, Vec2,
    emath::RectTransform,
};

/// The state of such a picture: its zoom and its texture.
#[derive(Default)]
pub struct Cells {
    zoom: Zoom,
    texture: Option<TextureHandle>,
    /// The values and colours of the texture.
    of: Option<(Vec<f32>, Scale, ColourMap)>,
}

/// What a picture shows.
pub struct Values<'a> {
    /// A description for screen readers.
    pub about: &'a str,
    /// The title of the colour bar.
    pub title: &'a str,
    /// Cells across and down.
    pub size: [usize; 2],
    /// A value for each cell, row by row; NaN where unknown.
    pub values: &'a [f32],
    pub scale: Scale,
    pub map: ColourMap,
    /// Whether the cells are stretched to fill the room.
    pub stretched: bool,
}

/// How a picture lies on the screen.
pub struct CellsView {
    pub area: Rect,
    pub to_screen: RectTransform,
    /// The cell under the cursor.
    pub hover: Option<[usize; 2]>,
}

impl Cells {
    /// Draws a picture with its colour bar into `room`.
    pub fn ui(&mut self, ui: &mut Ui, room: Rect, shows: &Values<'_>) -> CellsView {
        let area = Rect::from_min_max(room.min, room.max - egui::vec2(colour_bar::ROOM, 0.0));
        let response = ui.allocate_rect(area, Sense::click_and_drag());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, shows.about));
        let grid = Vec2::new(shows.size[0] as f32, shows.size[1] as f32);
        let seen = self.zoom.navigate(ui, &response, area, grid, shows.stretched);
        let to_screen = RectTransform::from_to(seen, area);
        let whole = to_screen.transform_rect(Rect::from_min_size(Pos2::ZERO, grid));
        let painter = ui.painter().with_clip_rect(area);
        painter.rect_filled(area, 0.0, ui.visuals().extreme_bg_color);
        painter.rect_filled(whole, 0.0, ui.visuals().faint_bg_color);
        let pointer = response.hover_pos().map(|at| to_screen.inverse().transform_pos(at));
        let inside = |at: &Pos2| at.x >= 0.0 && at.y >= 0.0 && at.x < grid.x && at.y < grid.y;
        let hover = pointer.filter(inside).map(|at| [at.x as usize, at.y as usize]);
        let shown = CellsView { area, to_screen, hover };
        self.refresh(ui, shows);
        if let Some(texture) = &self.texture {
            let scale = &shows.scale;
            let uv = Rect::from_min_max(Pos2::ZERO, egui::pos2(1.0, 1.0));
            painter.image(texture.id(), whole, uv, Color32::WHITE);
            let inks = Inks { scale, map: shows.map, absolute: false };
            let all = [0..shows.size[0], 0..shows.size[1]];
            cell_values::ui(ui, area, &to_screen, all, inks, |i, row| {
                shows.values.get(row * shows.size[0] + i).copied()
            });
            let bar = Bar {
                map: shows.map,
                scale,
                clips: [false; 2],
                has_infinite: shows.values.iter().any(|value| value.is_infinite()),
                title: shows.title,
                histogram: &[],
            };
            colour_bar::ui(ui, area, &bar);
        }
        shown
    }

    /// Updates the texture if values or colours changed.
    fn refresh(&mut self, ui: &Ui, shows: &Values<'_>) {
        let is_same = |(values, scale, map): &(Vec<f32>, Scale, ColourMap)| {
            let known = values.iter().map(|value| value.to_bits());
            (*scale, *map) == (shows.scale, shows.map)
                && known.eq(shows.values.iter().map(|value| value.to_bits()))
        };
        if self.of.as_ref().is_some_and(is_same) {
            return;
        }
        let Ok(samples) = picture::Samples::new(shows.size[0], shows.size[1], shows.values) else {
            return;
        };
        let mut pixels = Vec::new();
        picture::colours(&samples, &shows.scale, shows.map, &mut pixels);
        let image = ColorImage::from_rgba_unmultiplied(shows.size, &pixels);
        match &mut self.texture {
            Some(texture) => texture.set(image, TextureOptions::NEAREST),
            None => {
                let name = shows.about.to_owned();
                self.texture = Some(ui.ctx().load_texture(name, image, TextureOptions::NEAREST));
            }
        }
        self.of = Some((shows.values.to_vec(), shows.scale, shows.map));
    }
}

/// Draws a line through corners of cells.
pub fn line(ui: &Ui, shown: &CellsView, corners: Vec<egui::Pos2>, stroke: egui::Stroke) {
    let points = corners.into_iter().map(|at| shown.to_screen.transform_pos(at)).collect();
    ui.painter().with_clip_rect(shown.area).line(points, stroke);
}

/// Outlines a rectangle of cells.
pub fn frame(ui: &Ui, shown: &CellsView, cells: Rect, stroke: egui::Stroke) {
    let rect = shown.to_screen.transform_rect(cells);
    let painter = ui.painter().with_clip_rect(shown.area);
    painter.rect_stroke(rect, 0.0, stroke, egui::StrokeKind::Middle);
}
