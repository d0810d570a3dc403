//! The picture that would be saved, drawn beside the window while the dialog is open.

use crate::app::state::save::Sources;
use crate::pauses::pause;
use crate::picture::{ViewSpec, figure};
use crate::run::host::aside_with_pauses;
use crate::run::{Snapshot, SnapshotRequest};
use crate::stop_token::StopToken;
use crossbeam_channel::{Receiver, Sender, bounded};
use eframe::egui::{
    self, Align2, Color32, ColorImage, Context, Rect, Sense, TextureHandle, TextureOptions, Ui,
    Vec2,
};
use std::sync::Arc;

/// Seconds after which the preview of a running run is updated.
const AGAIN: f64 = 0.4;

/// A picture to be drawn.
#[derive(Clone)]
struct PreviewJob {
    snapshot: Arc<Snapshot>,
    snapshot_request: SnapshotRequest,
    sources: Sources,
    view: ViewSpec,
    most: [u32; 2],
}

/// A picture that was drawn, and what of.
struct Drawn {
    picture: ColorImage,
    shown: PreviewedFigure,
}

/// What a picture shows, for copies in full size.
#[derive(Clone)]
pub struct PreviewedFigure {
    pub snapshots: Arc<[Snapshot]>,
    pub view: ViewSpec,
}

/// The preview, which is drawn beside the window.
pub struct Preview {
    context: Context,
    done: Sender<Result<Drawn, String>>,
    drawn: Receiver<Result<Drawn, String>>,
    /// Set to stop what is recomputed for it.
    closing: StopToken,
    /// The last request to the worker, and when it was sent.
    asked: Option<(SnapshotRequest, f64)>,
    snapshot: Option<Arc<Snapshot>>,
    /// What is drawn, or was drawn last.
    drawing: Option<PreviewJob>,
    is_drawing: bool,
    texture: Option<TextureHandle>,
    shown: Option<PreviewedFigure>,
    /// Why there is no picture.
    refused: Option<String>,
}

impl Drop for Preview {
    fn drop(&mut self) {
        self.closing.now();
    }
}

impl PreviewJob {
    /// Whether it is of the same cycles as another.
    fn is_of(&self, other: &Self) -> bool {
        self.snapshot.id == other.snapshot.id
            && self.sources == other.sources
            && self.snapshot_request == other.snapshot_request
    }

    /// Draws it. `before` was drawn last: what was recomputed for that is not recomputed.
    async fn draw(
        &self,
        before: Option<&(PreviewJob, Arc<[Snapshot]>)>,
        cancel: &StopToken,
    ) -> Result<Drawn, String> {
        let snapshots = match before.filter(|(job, _)| self.is_of(job)) {
            Some((_, snapshots)) => Arc::clone(snapshots),
            None => self
                .sources
                .snapshots(&self.snapshot, &self.snapshot_request, &self.view, cancel)
                .await?
                .into(),
        };
        let seen: Vec<_> = snapshots.iter().collect();
        let view = self.view.clone().of(&seen);
        let drawing = figure(&seen, &view);
        pause().await;
        let picture = drawing.pixels_within(self.most).map_err(|error| error.to_string())?;
        let size = [picture.width() as usize, picture.height() as usize];
        let picture = ColorImage::from_rgba_unmultiplied(size, picture.as_raw());
        Ok(Drawn { picture, shown: PreviewedFigure { snapshots, view } })
    }
}

impl Preview {
    pub fn new(context: &Context) -> Self {
        let (done, drawn) = bounded(1);
        Self {
            context: context.clone(),
            done,
            drawn,
            closing: StopToken::default(),
            asked: None,
            snapshot: None,
            drawing: None,
            is_drawing: false,
            texture: None,
            shown: None,
            refused: None,
        }
    }

    /// Draws a picture beside the window; there is at most one at a time.
    fn start(&mut self, job: PreviewJob) {
        // What was recomputed for the last one, if it could be drawn.
        let recomputed = self.shown.as_ref().map(|shown| Arc::clone(&shown.snapshots));
        let before = self.drawing.replace(job.clone()).zip(recomputed);
        let (done, context) = (self.done.clone(), self.context.clone());
        let cancel = self.closing.clone();
        let started = aside_with_pauses("tilescope-preview", async move || {
            // The receiver is gone once the dialog is closed.
            if done.send(job.draw(before.as_ref(), &cancel).await).is_ok() {
                context.request_repaint();
            }
        });
        self.is_drawing = started.is_ok();
        if let Err(error) = started {
            self.refused = Some(format!("no thread could be started: {error}"));
        }
    }

    /// The request for a view, if it differs from the last one, or the run has continued since.
    pub fn wants(
        &mut self,
        snapshot_request: SnapshotRequest,
        cycle: u64,
        now: f64,
    ) -> Option<SnapshotRequest> {
        let is_other = self.asked.as_ref().is_none_or(|(asked, _)| {
            SnapshotRequest { id: asked.id, ..snapshot_request.clone() } != *asked
        });
        let is_old = self.snapshot.as_ref().is_some_and(|snapshot| snapshot.cycle() != cycle);
        let is_due = self.asked.as_ref().is_none_or(|(_, when)| now - when >= AGAIN);
        (is_other || (is_old && is_due)).then_some(snapshot_request)
    }

    /// Notes that this request was sent to the worker.
    pub fn ask(&mut self, snapshot_request: SnapshotRequest, now: f64) {
        self.asked = Some((snapshot_request, now));
    }

    /// The last request to the worker.
    pub fn asked(&self) -> Option<&SnapshotRequest> {
        self.asked.as_ref().map(|(snapshot_request, _)| snapshot_request)
    }

    /// Takes what was captured, if it was for this.
    pub fn take(&mut self, snapshot: &Arc<Snapshot>) -> bool {
        let is_ours = self.asked.as_ref().is_some_and(|(asked, _)| asked.id == snapshot.id);
        if is_ours {
            self.snapshot = Some(Arc::clone(snapshot));
        }
        is_ours
    }

    /// What was captured last.
    pub fn newest(&self) -> Option<&Arc<Snapshot>> {
        self.snapshot.as_ref()
    }

    /// What is shown.
    pub fn shown(&self) -> Option<&PreviewedFigure> {
        self.shown.as_ref()
    }

    /// Draws the picture into `room`, and begins the next.
    pub fn ui(&mut self, ui: &mut Ui, what: Option<(&ViewSpec, &Sources)>, room: Vec2) {
        if let Ok(done) = self.drawn.try_recv() {
            self.is_drawing = false;
            match done {
                Ok(Drawn { picture, shown }) => {
                    (self.refused, self.shown) = (None, Some(shown));
                    let options = TextureOptions::LINEAR;
                    match &mut self.texture {
                        Some(texture) => texture.set(picture, options),
                        None => {
                            self.texture = Some(ui.ctx().load_texture("preview", picture, options))
                        }
                    }
                }
                Err(why) => (self.refused, self.shown) = (Some(why), None),
            }
        }
        let scale = ui.ctx().pixels_per_point();
        let most = [room.x, room.y].map(|side| (side * scale).max(1.0) as u32);
        if let (Some(snapshot), Some((view, sources)), false) =
            (&self.snapshot, what, self.is_drawing)
            && sources.are_of(snapshot)
        {
            let shape = snapshot.plan.problem.shape;
            let (snapshot, sources) = (Arc::clone(snapshot), sources.clone());
            let snapshot_request = view.snapshot_request(0, &shape);
            let next = PreviewJob { snapshot, snapshot_request, sources, view: view.clone(), most };
            let is_same =
                |job: &PreviewJob| next.is_of(job) && (&next.view, most) == (&job.view, job.most);
            if !self.drawing.as_ref().is_some_and(is_same) {
                self.start(next);
            }
        }
        let (rect, response) = ui.allocate_exact_size(room, Sense::hover());
        let ui_text = |text: &str| {
            let font = egui::TextStyle::Body.resolve(ui.style());
            let colour = ui.visuals().weak_text_color();
            ui.painter().text(rect.center(), Align2::CENTER_CENTER, text, font, colour);
        };
        match (&self.texture, &self.refused, what) {
            (_, _, None) => ui_text("Text, no picture"),
            (_, Some(why), _) => ui_text(why),
            (None, ..) => ui_text("Drawing …"),
            (Some(texture), None, Some(_)) => {
                // In pixels of the screen, or larger where there are few.
                let size = texture.size_vec2() / scale;
                let fit = (room.x / size.x).min(room.y / size.y);
                let shown = Rect::from_center_size(rect.center(), size * fit);
                checkerboard(ui, shown);
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
fn checkerboard(ui: &Ui, area: Rect) {
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
