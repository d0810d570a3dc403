//! The field of a 3D grid from outside: the largest magnitude along each line of sight.

use crate::app::panes::pane_type::{PaneContext, PaneType, Slot};
use crate::app::state::command::Command;
use crate::app::state::kept_range::KeptRange;
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::state::view_settings::RangeMode;
use crate::app::widgets::colour_bar::{self, Bar};
use crate::app::widgets::device_border;
use crate::grid::{INDEX_NAMES, Need};
use crate::picture::{
    Camera, ColourMap, FigureKind, PictureLine, Projection, Range, Scale, Volume, shown_values,
    value_label,
};
use crate::run::{MOST_VOLUME_SAMPLES, ObservationRequest, Report, VolumeSamples};
use eframe::egui::{
    self, Align2, Color32, ColorImage, Id, Label, Painter, Pos2, Rect, RichText, Sense, Stroke,
    TextStyle, TextureHandle, TextureOptions, Ui, UiBuilder, pos2, vec2,
};
use std::sync::{Arc, Mutex, PoisonError};

/// Height of the text under the picture.
const LINE_ROOM: f32 = 22.0;

/// The most pixels of the picture along its longer side, at rest and while it is turned, so that two cores
/// keep up; a larger pane stretches it.
const MOST_PIXELS: f32 = 480.0;
const MOST_PIXELS_TURNING: f32 = 200.0;

/// How much a step of the wheel zooms.
const ZOOM_PER_POINT: f32 = 0.002;

/// The field of a 3D grid from outside.
pub struct VolumePane;

/// Its name in files.
pub const ID: PaneId = PaneId("volume");

impl PaneType for VolumePane {
    fn id(&self) -> PaneId {
        ID
    }

    fn title(&self) -> &'static str {
        "Volume"
    }

    fn about(&self) -> &'static str {
        "The field of a 3D grid from outside: the largest magnitude along each line of sight."
    }

    fn slot(&self) -> Slot {
        Slot::Map
    }

    fn is_shown_at_first(&self) -> bool {
        true
    }

    fn shows(&self, kind: FigureKind) -> bool {
        kind == FigureKind::VOLUME
    }

    fn figure(&self, session: &Session) -> Option<FigureKind> {
        self.why_empty(session).is_none().then_some(FigureKind::VOLUME)
    }

    fn request(&self, session: &Session, request: &mut ObservationRequest) {
        let is_3d = session.spec.problem.shape.len() == 3;
        request.volume = is_3d.then_some(MOST_VOLUME_SAMPLES);
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
        let Some(samples) = &report.observation.volume else {
            ui.label(RichText::new("The field is not known yet.").weak());
            return;
        };
        // The picture is the pane's own, wherever it lies: with an id of its place, each place would keep one.
        let id = Id::unique(("picture", ID.0));
        let picture = ui.data_mut(|data| {
            Arc::clone(data.get_temp_mut_or_default::<Arc<Mutex<VolumePicture>>>(id))
        });
        let mut picture = picture.lock().unwrap_or_else(PoisonError::into_inner);
        let camera = picture.ui(ui, context.session, report, samples);
        if camera != context.session.view.camera {
            let mut view = context.session.view.clone();
            view.camera = camera;
            context.commands.push(Command::SetView(view));
        }
    }
}

/// What a texture shows: from where, in which colours, and in how many pixels.
type ShownVolume = (Camera, Scale, ColourMap, bool, [usize; 2]);

/// The picture of a volume.
#[derive(Default)]
struct VolumePicture {
    /// The samples, and the same sorted to be drawn.
    volume: Option<(Arc<VolumeSamples>, Volume)>,
    texture: Option<TextureHandle>,
    shown: Option<ShownVolume>,
    range: KeptRange,
}

impl VolumePicture {
    /// Draws it, and returns the camera, which the pointer may have moved.
    fn ui(
        &mut self,
        ui: &mut Ui,
        session: &Session,
        report: &Report,
        samples: &Arc<VolumeSamples>,
    ) -> Camera {
        let (plan, field) = (&report.plan, report.observation.field);
        let room = ui.available_rect_before_wrap();
        let area = Rect::from_min_max(room.min, room.max - vec2(colour_bar::ROOM, LINE_ROOM));
        let response = ui.allocate_rect(area, Sense::click_and_drag());
        let name = format!("Volume of the {}", field.name());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, &name));
        let mut camera = session.view.camera;
        let share = response.drag_delta() / area.width().min(area.height()).max(1.0);
        if response.dragged() {
            camera = camera.turned([share.x, share.y].map(f64::from));
        }
        if response.hovered() {
            let scrolled = ui.input(|input| input.smooth_scroll_delta.y);
            if scrolled != 0.0 {
                camera = camera.zoomed(f64::from((scrolled * ZOOM_PER_POINT).exp()));
            }
        }
        if response.double_clicked() {
            camera = Camera::default();
        }

        let colours = *session.view.of_field(field);
        let values = shown_values(&samples.values, colours.scale, colours.absolute);
        let fitted = Range::of(colours.scale, values.iter().copied());
        let range = match colours.range {
            RangeMode::Locked(range) => range,
            _ => self.range.range(session, report, field, colours.scale, fitted),
        };
        let scale = Scale::new(colours.scale, range);
        let pixels = area.size() * ui.pixels_per_point();
        let most = if response.dragged() { MOST_PIXELS_TURNING } else { MOST_PIXELS };
        let stretch = (pixels.x.max(pixels.y) / most).max(1.0);
        let size = [pixels.x, pixels.y].map(|side| (side / stretch).max(1.0) as usize);
        self.refresh(ui, samples, (camera, scale, colours.map, colours.absolute, size));
        let painter = ui.painter().with_clip_rect(area);
        if let Some(texture) = &self.texture {
            let uv = Rect::from_min_max(Pos2::ZERO, pos2(1.0, 1.0));
            painter.image(texture.id(), area, uv, Color32::WHITE);
        }
        let seen = [area.width(), area.height()].map(f64::from);
        let projection = Projection::new(samples, camera, seen);
        let font = TextStyle::Body.resolve(ui.style());
        let tiling = session.view.borders.then_some(&plan.tiling);
        let lines = projection.lines(tiling, &plan.device_borders(), f64::from(font.size));
        draw_lines(&painter, area, &lines.borders, Color32::from_white_alpha(80));
        for line in lines.devices {
            let places = line.map(|[x, y]| area.min + vec2(x as f32, y as f32));
            device_border::paint(&painter, places);
        }
        draw_lines(&painter, area, &lines.edges, ui.visuals().weak_text_color());
        // Names stand outside the box, which in a narrow pane is beside the area.
        let names = painter.with_clip_rect(area.expand(font.size));
        for (name, [x, y]) in INDEX_NAMES.into_iter().zip(lines.names) {
            let at = area.min + vec2(x as f32, y as f32);
            names.text(at, Align2::CENTER_CENTER, name, font.clone(), ui.visuals().text_color());
        }
        let bar = Bar {
            map: colours.map,
            scale: &scale,
            clips: [false; 2],
            has_infinite: values.iter().any(|value| value.is_infinite()),
            title: &value_label(field, colours.scale, colours.absolute),
            histogram: &[],
        };
        colour_bar::ui(ui, area, &bar);
        let text = format!(
            "Azimuth {:.0}°, elevation {:.0}°. Drag to turn, scroll to zoom, double-click to reset.",
            camera.azimuth, camera.elevation
        );
        let line = Rect::from_min_max(pos2(room.left(), area.bottom() + 4.0), room.max);
        ui.new_child(UiBuilder::new().max_rect(line))
            .add(Label::new(RichText::new(text).small()).truncate());
        camera
    }

    /// Updates the texture if something else is shown.
    fn refresh(&mut self, ui: &Ui, samples: &Arc<VolumeSamples>, wanted: ShownVolume) {
        let known = self.volume.as_ref().filter(|(known, _)| Arc::ptr_eq(known, samples));
        if known.is_some() && self.shown == Some(wanted) {
            return;
        }
        if known.is_none() {
            self.volume = Some((Arc::clone(samples), Volume::new(samples)));
        }
        let Some((_, volume)) = &self.volume else { return };
        let (camera, scale, map, absolute, size) = wanted;
        let projection = Projection::new(samples, camera, size.map(|side| side as f64));
        let pixels = volume.pixels(&projection, size, &scale, map, absolute);
        let image = ColorImage::from_rgba_unmultiplied(size, &pixels);
        match &mut self.texture {
            Some(texture) => texture.set(image, TextureOptions::LINEAR),
            None => {
                self.texture = Some(ui.ctx().load_texture(ID.0, image, TextureOptions::LINEAR));
            }
        }
        self.shown = Some(wanted);
    }
}

fn draw_lines(painter: &Painter, area: Rect, lines: &[PictureLine], colour: Color32) {
    for line in lines {
        let places = line.map(|[x, y]| area.min + vec2(x as f32, y as f32));
        painter.line_segment(places, Stroke::new(1.0, colour));
    }
}
