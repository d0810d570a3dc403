//! The picture that would be saved, drawn on a thread of its own while the dialog is open.

use crate::picture::{Drawing, PictureError, ViewSpec, figure, render_within};
use crate::run::{Capture, Captured};
use crossbeam_channel::{Receiver, Sender, bounded};
use eframe::egui::{
    self, Align2, Color32, ColorImage, Context, Rect, Sense, TextureHandle, TextureOptions, Ui,
    Vec2,
};
use std::sync::Arc;

/// While a run goes on, it is looked at again after so many seconds.
const AGAIN: f64 = 0.4;

/// A picture to be drawn.
struct Job {
    captured: Arc<Captured>,
    view: ViewSpec,
    most: [u32; 2],
}

/// The preview, and the thread that draws it, which ends when this is dropped.
pub(super) struct Preview {
    jobs: Sender<Job>,
    drawn: Receiver<Result<ColorImage, PictureError>>,
    /// What was asked of the worker last, and when.
    asked: Option<(Capture, f64)>,
    captured: Option<Arc<Captured>>,
    /// What the thread draws, or drew last.
    drawing: Option<(u64, ViewSpec, [u32; 2])>,
    is_drawing: bool,
    texture: Option<TextureHandle>,
    /// Why there is no picture.
    refused: Option<String>,
}

impl Preview {
    pub fn new(context: &Context) -> Self {
        let (jobs, waiting) = bounded::<Job>(1);
        let (done, drawn) = bounded(1);
        let context = context.clone();
        let spawned =
            std::thread::Builder::new().name("tilescope-preview".into()).spawn(move || {
                for job in waiting {
                    let most = job.most;
                    let picture = match figure(&[&job.captured], &job.view) {
                        Drawing::Figure(svg) => render_within(&svg, most),
                        Drawing::Map(map) => Ok(map),
                    };
                    let picture = picture.map(|picture| {
                        let size = [picture.width() as usize, picture.height() as usize];
                        ColorImage::from_rgba_unmultiplied(size, picture.as_raw())
                    });
                    if done.send(picture).is_err() {
                        return;
                    }
                    context.request_repaint();
                }
            });
        let refused = spawned.err().map(|error| format!("the system gives no thread: {error}"));
        Self {
            jobs,
            drawn,
            asked: None,
            captured: None,
            drawing: None,
            is_drawing: false,
            texture: None,
            refused,
        }
    }

    /// What is to be captured for a view, if it is not what was asked for last, or the run went on.
    pub fn wants(&mut self, capture: Capture, cycle: u64, now: f64) -> Option<Capture> {
        let is_other = self
            .asked
            .as_ref()
            .is_none_or(|(asked, _)| Capture { id: asked.id, ..capture.clone() } != *asked);
        let is_old = self.captured.as_ref().is_some_and(|captured| captured.cycle != cycle);
        let is_due = self.asked.as_ref().is_none_or(|(_, when)| now - when >= AGAIN);
        (is_other || (is_old && is_due)).then_some(capture)
    }

    /// The worker was asked for this.
    pub fn ask(&mut self, capture: Capture, now: f64) {
        self.asked = Some((capture, now));
    }

    /// Takes what was captured, if it was for this.
    pub fn take(&mut self, captured: &Arc<Captured>) -> bool {
        let is_ours = self.asked.as_ref().is_some_and(|(asked, _)| asked.id == captured.id);
        if is_ours {
            self.captured = Some(Arc::clone(captured));
        }
        is_ours
    }

    /// What is shown, for whoever wants it in full.
    pub fn captured(&self) -> Option<&Arc<Captured>> {
        self.captured.as_ref()
    }

    /// Draws the picture into `room`, and lets the thread draw the next.
    pub fn ui(&mut self, ui: &mut Ui, view: Option<&ViewSpec>, room: Vec2) {
        if let Ok(done) = self.drawn.try_recv() {
            self.is_drawing = false;
            match done {
                Ok(image) => {
                    self.refused = None;
                    let options = TextureOptions::LINEAR;
                    match &mut self.texture {
                        Some(texture) => texture.set(image, options),
                        None => {
                            self.texture = Some(ui.ctx().load_texture("preview", image, options))
                        }
                    }
                }
                Err(why) => self.refused = Some(why.to_string()),
            }
        }
        let scale = ui.ctx().pixels_per_point();
        let most = [room.x, room.y].map(|side| (side * scale).max(1.0) as u32);
        if let (Some(captured), Some(view), false) = (&self.captured, view, self.is_drawing) {
            let view = ViewSpec { cycle: captured.cycle, ..view.clone() };
            let next = (captured.id, view, most);
            if self.drawing.as_ref() != Some(&next) {
                let (captured, view) = (Arc::clone(captured), next.1.clone());
                // It waits for the next job: the last one is done.
                self.is_drawing = self.jobs.try_send(Job { captured, view, most }).is_ok();
                self.drawing = Some(next);
            }
        }
        let (rect, response) = ui.allocate_exact_size(room, Sense::hover());
        let ui_text = |text: &str| {
            let font = egui::TextStyle::Body.resolve(ui.style());
            let colour = ui.visuals().weak_text_color();
            ui.painter().text(rect.center(), Align2::CENTER_CENTER, text, font, colour);
        };
        match (&self.texture, &self.refused, view) {
            (_, _, None) => ui_text("Text, no picture"),
            (_, Some(why), _) => ui_text(why),
            (None, ..) => ui_text("Drawing …"),
            (Some(texture), None, Some(_)) => {
                // In pixels of the screen, or larger where there are few.
                let size = texture.size_vec2() / scale;
                let fit = (room.x / size.x).min(room.y / size.y);
                let shown = Rect::from_center_size(rect.center(), size * fit);
                chequers(ui, shown);
                let whole = Rect::from_min_max(egui::pos2(0.0, 0.0), egui::pos2(1.0, 1.0));
                ui.painter().image(texture.id(), shown, whole, Color32::WHITE);
                let stroke = ui.visuals().widgets.noninteractive.bg_stroke;
                let outside = egui::StrokeKind::Outside;
                ui.painter().rect_stroke(shown, 0.0, stroke, outside);
            }
        }
        _ = response.on_hover_text("What the file will look like.");
    }
}

/// What is seen through a figure without a background.
fn chequers(ui: &Ui, area: Rect) {
    const SIDE: f32 = 8.0;
    let (even, odd) = (Color32::from_gray(150), Color32::from_gray(128));
    let painter = ui.painter().with_clip_rect(area);
    painter.rect_filled(area, 0.0, even);
    let count = |length: f32| (length / SIDE).ceil() as usize;
    for row in 0..count(area.height()) {
        for column in (row % 2..count(area.width())).step_by(2) {
            let at = area.min + egui::vec2(column as f32 * SIDE, row as f32 * SIDE);
            painter.rect_filled(Rect::from_min_size(at, Vec2::splat(SIDE)), 0.0, odd);
        }
    }
}
