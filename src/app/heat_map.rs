//! The map: the field as a picture, with its colour bar, tile borders, and the point under the
//! cursor.

use super::command::Command;
use super::session::{Colours, Look, RangeMode, Session};
use super::toolbar::{grouped, named};
use crate::picture::{self, ColourMap, End, Range, Scale, ScaleKind, number, ticks};
use crate::run::{ExactState, FieldKind, Picture, Report};
use crate::solver::EdgeShare;
use eframe::egui::{
    self, Align2, Color32, ColorImage, ComboBox, Pos2, Rect, Sense, Stroke, TextStyle,
    TextureHandle, TextureOptions, Ui, Vec2, emath::RectTransform,
};

/// Room for the colour bar beside the map, its ticks included.
const BAR_ROOM: f32 = 84.0;

/// Room for the numbers of cycles beside a space–time diagram.
const CYCLES_ROOM: f32 = 52.0;

/// Width of the colour bar.
const BAR_WIDTH: f32 = 16.0;

/// Room for the line under the map.
const INSPECTOR_ROOM: f32 = 46.0;

/// Tile borders are drawn once tiles are this large on the screen, in points: closer together
/// they would hide the map.
const CLOSEST_BORDERS: f32 = 5.0;

/// Points of the grid across, at the deepest zoom.
const DEEPEST: f32 = 4.0;

/// The map's own state: what it shows of the grid, and its texture.
#[derive(Default)]
pub(super) struct HeatMap {
    /// The part of the grid that fills the map, in points of the grid; `None` for all of it.
    zoom: Option<Rect>,
    part: Option<[std::ops::Range<usize>; 2]>,
    most: [usize; 2],
    hover: Option<[usize; 2]>,
    /// Ranges of all frames of this run, with what they are ranges of.
    whole_run: Option<(u64, FieldKind, Colours, Range)>,
    texture: Option<Texture>,
}

/// The picture on the graphics card, and what it was made from.
struct Texture {
    handle: TextureHandle,
    colours: Colours,
    scale: Scale,
    /// Whether values lie beyond the low and the high end of the colours.
    clips: [bool; 2],
    fresh: bool,
}

impl HeatMap {
    /// The part of the grid that is seen; `None` for all of it.
    pub fn part(&self) -> Option<[std::ops::Range<usize>; 2]> {
        self.part.clone()
    }

    /// Samples across and down that the screen can show.
    pub fn most(&self) -> [usize; 2] {
        self.most
    }

    /// The point under the cursor.
    pub fn probe(&self) -> Option<[usize; 2]> {
        self.hover
    }

    /// Takes a new picture in.
    pub fn take(&mut self, report: &Report, look: &Look) {
        if let Some(texture) = &mut self.texture {
            texture.fresh = false;
        }
        let Some(picture) = &report.picture else {
            return;
        };
        let colours = *look.of_field(report.field);
        let range = automatic(picture, &colours);
        let known = self.whole_run.filter(|(epoch, field, known, _)| {
            *epoch == report.epoch
                && *field == report.field
                && (known.scale, known.absolute) == (colours.scale, colours.absolute)
        });
        let range = known.map_or(range, |(.., known)| known.union(range));
        self.whole_run = Some((report.epoch, report.field, colours, range));
    }

    /// Draws the map with its controls, and asks for what they change.
    pub fn ui(
        &mut self,
        ui: &mut Ui,
        session: &Session,
        report: Option<&Report>,
        commands: &mut Vec<Command>,
    ) {
        self.controls(ui, session, commands);
        let room = ui.available_rect_before_wrap();
        let line = report.is_some_and(|report| report.plan.problem.shape.dim() == 1);
        let left = egui::vec2(if line { CYCLES_ROOM } else { 0.0 }, 0.0);
        let end = room.max - egui::vec2(BAR_ROOM, INSPECTOR_ROOM);
        let area = Rect::from_min_max(room.min + left, end);
        let response = ui.allocate_rect(area, Sense::click_and_drag());
        self.most = most_samples(area, ui.ctx().pixels_per_point());
        let about = format!("Heat map of the {}", session.look.field.name());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, &about));
        ui.painter().rect_filled(area, 0.0, ui.visuals().extreme_bg_color);
        let Some(report) = report else {
            return;
        };
        let Some(picture) = &report.picture else {
            self.hover = None;
            waiting(ui, area, report);
            return;
        };
        self.refresh(ui, session, report, picture);
        let grid = grid_of(report, picture);
        let seen = self.navigate(ui, &response, area, grid, picture.cycles_per_row.is_some());
        let to_screen = RectTransform::from_to(seen, area);
        self.paint(ui, area, &to_screen, picture);
        if let Some(cycles) = picture.cycles_per_row {
            cycle_axis(ui, area, seen, cycles);
        }
        if session.look.borders {
            borders(ui, area, &to_screen, report, picture);
        }
        self.point_at(ui, &response, &to_screen, grid);
        self.colour_bar(ui, area, report.field);
        self.inspector(ui, area, report, picture);
    }

    fn controls(&self, ui: &mut Ui, session: &Session, commands: &mut Vec<Command>) {
        let mut look = session.look.clone();
        ui.horizontal_wrapped(|ui| {
            let combo = ComboBox::from_id_salt("field").width(92.0).selected_text(look.field.label());
            let response = combo.show_ui(ui, |ui| {
                for field in FieldKind::ALL {
                    ui.selectable_value(&mut look.field, field, field.label()).on_hover_text(field.about());
                }
            });
            named(response.response, "Field").on_hover_text(look.field.about());
            let colours = look.of_field_mut(session.look.field);
            let combo = ComboBox::from_id_salt("scale").width(84.0).selected_text(colours.scale.label());
            let response = combo.show_ui(ui, |ui| {
                for scale in ScaleKind::ALL {
                    if ui.selectable_value(&mut colours.scale, scale, scale.label()).clicked() {
                        // A diverging map is for signs, the others for magnitudes and levels.
                        let diverging = scale == ScaleKind::Symmetric;
                        if diverging != colours.map.is_diverging() {
                            colours.map = if diverging { ColourMap::RedBlue } else { ColourMap::Inferno };
                        }
                        colours.range = RangeMode::ThisFrame;
                    }
                }
            });
            named(response.response, "Scale").on_hover_text(
                "How values become colours: evenly, by their magnitude's logarithm, or by both sign and magnitude.",
            );
            let combo = ComboBox::from_id_salt("map").width(92.0).selected_text(colours.map.label());
            let response = combo.show_ui(ui, |ui| {
                for map in ColourMap::ALL {
                    ui.selectable_value(&mut colours.map, map, map.label());
                }
            });
            named(response.response, "Colour map").on_hover_text("The colours of the map.");
            self.range(ui, colours);
            if colours.scale == ScaleKind::Linear {
                ui.checkbox(&mut colours.absolute, "Magnitude").on_hover_text("Show magnitudes, or values with their sign.");
            }
            ui.checkbox(&mut look.borders, "Borders").on_hover_text("Draw the borders between tiles over the map. (B)");
            if self.zoom.is_some() && ui.button("Whole grid").on_hover_text("Show all of the grid again; a double click on the map does, too.").clicked() {
                commands.push(Command::ZoomOut);
            }
        });
        if look != session.look {
            commands.push(Command::Look(look));
        }
    }

    fn range(&self, ui: &mut Ui, colours: &mut Colours) {
        let text = match colours.range {
            RangeMode::ThisFrame => "range: this frame",
            RangeMode::WholeRun => "range: whole run",
            RangeMode::Locked(_) => "range: locked",
        };
        let shown = self.texture.as_ref().map(|texture| texture.scale.range());
        let combo = ComboBox::from_id_salt("range").width(132.0).selected_text(text);
        let response = combo.show_ui(ui, |ui| {
            let about = "Colours span the values of the frame that is shown.";
            ui.selectable_value(&mut colours.range, RangeMode::ThisFrame, "this frame")
                .on_hover_text(about);
            let about = "Colours span the values of all frames of this run that were shown.";
            ui.selectable_value(&mut colours.range, RangeMode::WholeRun, "whole run")
                .on_hover_text(about);
            let about = "Colours stay as they are now, for this run and the next: for comparing.";
            let locked = matches!(colours.range, RangeMode::Locked(_));
            if ui.selectable_label(locked, "locked").on_hover_text(about).clicked()
                && let Some(range) = shown
            {
                colours.range = RangeMode::Locked(range);
            }
        });
        named(response.response, "Range").on_hover_text("Which values the colours span.");
    }

    /// Shows all of the grid again.
    pub fn zoom_out(&mut self) {
        self.zoom = None;
    }

    /// Makes the texture anew if the picture or its colours are others than it was made from.
    fn refresh(&mut self, ui: &Ui, session: &Session, report: &Report, picture: &Picture) {
        let colours = *session.look.of_field(report.field);
        let fresh =
            self.texture.as_ref().is_some_and(|known| known.fresh && known.colours == colours);
        if fresh {
            return;
        }
        let range = match (colours.range, self.whole_run) {
            (RangeMode::Locked(range), _) | (RangeMode::WholeRun, Some((.., range))) => range,
            _ => automatic(picture, &colours),
        };
        let scale = Scale::new(colours.scale, range);
        let values = shown_values(picture, &colours);
        let [cols, rows] = picture.samples.size;
        let Ok(samples) = picture::Samples::new(cols, rows, &values) else {
            return;
        };
        let mut pixels = Vec::new();
        picture::colours(&samples, &scale, colours.map, &mut pixels);
        let image = ColorImage::from_rgba_unmultiplied([cols, rows], &pixels);
        let clips = [samples.clip(&scale, End::Low), samples.clip(&scale, End::High)];
        let handle = match self.texture.take() {
            Some(Texture { mut handle, .. }) => {
                handle.set(image, TextureOptions::NEAREST);
                handle
            }
            None => ui.ctx().load_texture("heat map", image, TextureOptions::NEAREST),
        };
        self.texture = Some(Texture { handle, colours, scale, clips, fresh: true });
    }

    /// Zooms and pans, and gives the part of the grid that fills the map.
    fn navigate(
        &mut self,
        ui: &Ui,
        response: &egui::Response,
        area: Rect,
        grid: Vec2,
        stretched: bool,
    ) -> Rect {
        let whole = fitted(area, grid, stretched);
        if response.double_clicked() {
            self.zoom = None;
        }
        let mut seen = self.zoom.unwrap_or(whole);
        if !stretched {
            // The window may have changed its shape since: cells stay square.
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
                let width = (seen.width() / factor).clamp(DEEPEST, whole.width());
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

    fn paint(&self, ui: &Ui, area: Rect, to_screen: &RectTransform, picture: &Picture) {
        let Some(texture) = &self.texture else {
            return;
        };
        let samples = &picture.samples;
        // The last samples may stand for fewer points than the others: what they would cover
        // beyond the grid is cut off.
        let covered = |start: usize, axis: usize| {
            (start as f32, (start + samples.size[axis] * samples.block[axis]) as f32)
        };
        let (left, right) = covered(samples.columns.start, 0);
        let (top, bottom) = covered(samples.rows.start, 1);
        let image = Rect::from_min_max(egui::pos2(left, top), egui::pos2(right, bottom));
        let grid = Rect::from_min_max(
            egui::pos2(left, top),
            egui::pos2(samples.columns.end as f32, samples.rows.end as f32),
        );
        let painter = ui.painter().with_clip_rect(area.intersect(to_screen.transform_rect(grid)));
        // Values that are not known are transparent: what is behind them shows.
        painter.rect_filled(area, 0.0, ui.visuals().faint_bg_color);
        let uv = Rect::from_min_max(Pos2::ZERO, egui::pos2(1.0, 1.0));
        painter.image(texture.handle.id(), to_screen.transform_rect(image), uv, Color32::WHITE);
    }

    fn point_at(
        &mut self,
        ui: &Ui,
        response: &egui::Response,
        to_screen: &RectTransform,
        grid: Vec2,
    ) {
        let hover = response.hover_pos().map(|pointer| to_screen.inverse().transform_pos(pointer));
        self.hover = hover
            .filter(|at| at.x >= 0.0 && at.y >= 0.0 && at.x < grid.x && at.y < grid.y)
            .map(|at| [at.x as usize, at.y as usize]);
        let cell = to_screen.scale().x;
        if let Some([i, row]) = self.hover
            && cell >= 3.0
        {
            let min = egui::pos2(i as f32, row as f32);
            let rect = to_screen.transform_rect(Rect::from_min_size(min, Vec2::splat(1.0)));
            ui.painter().rect_stroke(
                rect,
                0.0,
                Stroke::new(1.5, Color32::WHITE),
                egui::StrokeKind::Outside,
            );
        }
    }

    fn colour_bar(&self, ui: &Ui, area: Rect, field: FieldKind) {
        let Some(texture) = &self.texture else {
            return;
        };
        let bar = Rect::from_min_size(
            area.right_top() + egui::vec2(14.0, 26.0),
            egui::vec2(BAR_WIDTH, area.height() - 36.0),
        );
        let painter = ui.painter();
        let table = texture.colours.map.table();
        let mut mesh = egui::Mesh::default();
        for (index, [red, green, blue, _]) in table.iter().enumerate() {
            let at = |index: usize| bar.bottom() - bar.height() * index as f32 / table.len() as f32;
            let y = at(index + 1)..=at(index);
            mesh.add_colored_rect(
                Rect::from_x_y_ranges(bar.x_range(), *y.start()..=*y.end()),
                Color32::from_rgb(*red, *green, *blue),
            );
        }
        painter.add(mesh);
        let line = Stroke::new(1.0, ui.visuals().weak_text_color());
        painter.rect_stroke(bar, 0.0, line, egui::StrokeKind::Outside);
        let font = TextStyle::Small.resolve(ui.style());
        let colour = ui.visuals().text_color();
        for tick in ticks(&texture.scale, 7) {
            let y = bar.bottom() - bar.height() * tick.position as f32;
            painter.hline(bar.right()..=bar.right() + 4.0, y, line);
            painter.text(
                egui::pos2(bar.right() + 6.0, y),
                Align2::LEFT_CENTER,
                tick.label,
                font.clone(),
                colour,
            );
        }
        for (end, clips) in [(0, texture.clips[0]), (1, texture.clips[1])] {
            if clips {
                let (y, way) =
                    if end == 0 { (bar.bottom() + 2.0, 1.0) } else { (bar.top() - 2.0, -1.0) };
                let tip = egui::pos2(bar.center().x, y + 7.0 * way);
                let base = |x| egui::pos2(x, y);
                painter.add(egui::Shape::convex_polygon(
                    vec![base(bar.left()), tip, base(bar.right())],
                    colour,
                    Stroke::NONE,
                ));
            }
        }
        let signed = !is_magnitude(&texture.colours);
        let symbol =
            if signed { field.symbol().to_owned() } else { format!("|{}|", field.symbol()) };
        painter.text(
            area.right_top() + egui::vec2(12.0, 2.0),
            Align2::LEFT_TOP,
            symbol,
            font,
            colour,
        );
    }

    /// The line under the map: the point under the cursor, and the edge share.
    fn inspector(&self, ui: &mut Ui, area: Rect, report: &Report, picture: &Picture) {
        let rect = Rect::from_min_max(
            egui::pos2(area.left(), area.bottom() + 6.0),
            egui::pos2(area.right() + BAR_ROOM, area.bottom() + INSPECTOR_ROOM),
        );
        let mut ui = ui.new_child(egui::UiBuilder::new().max_rect(rect));
        ui.spacing_mut().item_spacing.y = 2.0;
        let text = self.hover.map_or_else(
            || "Point at the map to read a value; scroll to zoom, drag to move, double click for all of it.".to_owned(),
            |point| describe(point, report, picture),
        );
        ui.add(egui::Label::new(text).truncate());
        ui.add(egui::Label::new(egui::RichText::new(edge_share(&report.edge)).weak()).truncate()).on_hover_text(
            "Where the residual sits: the part of ‖r‖² within 2 points of a border between tiles, beside the part of the points that lie there.",
        );
    }
}

/// Says what a map that cannot be shown waits for.
fn waiting(ui: &Ui, area: Rect, report: &Report) {
    let text = match (&report.exact, report.preparing) {
        (ExactState::Computing, _) => "computing the exact solution …".to_owned(),
        (_, Some(part)) => {
            format!("making Jacobi's sweeps to compare with … {:.0} %", part * 100.0)
        }
        _ => String::new(),
    };
    let font = TextStyle::Body.resolve(ui.style());
    ui.painter().text(area.center(), Align2::CENTER_CENTER, text, font, ui.visuals().text_color());
}

/// Samples across and down that an area of the screen can show; at least one each.
fn most_samples(area: Rect, pixels_per_point: f32) -> [usize; 2] {
    [area.width(), area.height()].map(|side| (side * pixels_per_point).max(1.0) as usize)
}

/// The size of the grid that a picture shows, in points: columns, and rows or rows of cycles.
fn grid_of(report: &Report, picture: &Picture) -> Vec2 {
    let shape = report.plan.problem.shape;
    let rows = match picture.cycles_per_row {
        Some(_) => picture.samples.rows.len(),
        None => shape.rows(),
    };
    egui::vec2(shape.nx() as f32, rows as f32)
}

/// The part of the plane that fills the area and has all of the grid in its middle; stretched to
/// fit, or with square cells.
fn fitted(area: Rect, grid: Vec2, stretched: bool) -> Rect {
    if stretched {
        return Rect::from_min_size(Pos2::ZERO, grid);
    }
    let scale = (area.width() / grid.x).min(area.height() / grid.y);
    Rect::from_center_size((grid / 2.0).to_pos2(), area.size() / scale)
}

fn is_magnitude(colours: &Colours) -> bool {
    match colours.scale {
        ScaleKind::Log => true,
        ScaleKind::Linear => colours.absolute,
        ScaleKind::Symmetric => false,
    }
}

/// The values that are coloured.
fn shown_values<'a>(picture: &'a Picture, colours: &Colours) -> std::borrow::Cow<'a, [f32]> {
    let values = &picture.samples.values;
    if colours.scale == ScaleKind::Linear && colours.absolute {
        values.iter().map(|value| value.abs()).collect()
    } else {
        values.into()
    }
}

/// The range of a frame. Of a space–time diagram the largest values are left out: the start's
/// would leave all other cycles in the dark.
fn automatic(picture: &Picture, colours: &Colours) -> Range {
    let values = shown_values(picture, colours);
    let largest = match picture.cycles_per_row {
        Some(_) => largest_of_most(&values),
        None => f32::INFINITY,
    };
    Range::of(colours.scale, values.iter().copied().filter(|value| value.abs() <= largest))
}

/// The magnitude that all but one in a hundred values stay below, from a part of them.
fn largest_of_most(values: &[f32]) -> f32 {
    const EVERY: usize = 7;
    let some = values.iter().step_by(EVERY).filter(|value| value.is_finite());
    let mut some: Vec<f32> = some.map(|value| value.abs()).collect();
    let index = some.len() - some.len() / 100;
    if index >= some.len() {
        return f32::INFINITY;
    }
    *some.select_nth_unstable_by(index, f32::total_cmp).1
}

/// Cycles beside a space–time diagram.
fn cycle_axis(ui: &Ui, area: Rect, seen: Rect, cycles_per_row: u64) {
    let cycles = cycles_per_row as f64;
    let (lo, hi) = (f64::from(seen.top()) * cycles, f64::from(seen.bottom()) * cycles);
    let font = TextStyle::Small.resolve(ui.style());
    let colour = ui.visuals().text_color();
    for tick in picture::linear_ticks(lo, hi, 8) {
        let y = area.top() + area.height() * tick.position as f32;
        ui.painter().hline(area.left() - 4.0..=area.left(), y, Stroke::new(1.0, colour));
        // The labels at both ends keep within the map's height.
        let y = y.clamp(area.top() + 6.0, area.bottom() - 6.0);
        let at = egui::pos2(area.left() - 6.0, y);
        ui.painter().text(at, Align2::RIGHT_CENTER, tick.label, font.clone(), colour);
    }
}

fn borders(ui: &Ui, area: Rect, to_screen: &RectTransform, report: &Report, picture: &Picture) {
    let tiling = &report.plan.tiling;
    let scale = to_screen.scale();
    let painter = ui.painter().with_clip_rect(area);
    let stroke = Stroke::new(1.0, Color32::from_white_alpha(70));
    let from = to_screen.from();
    let close = |tile: usize, overlap: usize, scale: f32| {
        ((tile - overlap) as f32) * scale < CLOSEST_BORDERS
    };
    let x = tiling.x();
    let mut grid = grid_of(report, picture);
    if let Some(cycles) = picture.cycles_per_row {
        // Cycles to come have no tiles yet.
        grid.y = grid.y.min((report.latest.cycle / cycles + 1) as f32);
    }
    let extent = to_screen.transform_rect(Rect::from_min_size(Pos2::ZERO, grid));
    if !close(x.tile(), x.overlap(), scale.x) {
        for &border in x.borders().iter().filter(|&&border| from.x_range().contains(border as f32))
        {
            let at = to_screen.transform_pos(egui::pos2(border as f32, 0.0)).x;
            painter.vline(at, extent.y_range(), stroke);
        }
    }
    if let Some(y) = tiling.y()
        && !close(y.tile(), y.overlap(), scale.y)
    {
        for &border in y.borders().iter().filter(|&&border| from.y_range().contains(border as f32))
        {
            let at = to_screen.transform_pos(egui::pos2(0.0, border as f32)).y;
            painter.hline(extent.x_range(), at, stroke);
        }
    }
}

/// A point in words: where it is, its value, its tile, and how far that tile's border is.
fn describe(point: [usize; 2], report: &Report, picture: &Picture) -> String {
    let [i, row] = point;
    let tiling = &report.plan.tiling;
    let samples = &picture.samples;
    let exact = samples.at(i, row).filter(|_| samples.block == [1, 1]);
    let probed = report.probe.filter(|(at, _)| *at == point).map(|(_, value)| value);
    let value = match picture.cycles_per_row {
        // A diagram knows no more than its samples.
        Some(_) => samples.at(i, row),
        None => exact.or(probed),
    };
    let value = match value {
        Some(value) if value.is_nan() => "not known".to_owned(),
        Some(value) => number(value.into()),
        None => "…".to_owned(),
    };
    let symbol = report.field.symbol();
    let tile_x = tiling.x().owner(i);
    let (place, tile, distance) = match (picture.cycles_per_row, tiling.y()) {
        (Some(cycles), _) => (
            format!("i {i}, cycle {}", grouped(row as u64 * cycles)),
            format!("{tile_x}"),
            tiling.x().distance(i),
        ),
        (None, Some(y)) => (
            format!("i {i}, j {row}"),
            format!("({tile_x}, {})", y.owner(row)),
            tiling.distance(i, row),
        ),
        (None, None) => (format!("i {i}"), format!("{tile_x}"), tiling.x().distance(i)),
    };
    let edge = match distance {
        Some(1) => "at a tile border".to_owned(),
        Some(distance) => format!("{distance} points to the nearest tile border"),
        None => "one tile, no borders".to_owned(),
    };
    format!("{place}   {symbol} = {value}   tile {tile}   {edge}")
}

fn edge_share(share: &EdgeShare) -> String {
    format!(
        "Edge share: {:.0} % of ‖r‖² on {:.0} % of the points",
        share.residual * 100.0,
        share.points * 100.0
    )
}
