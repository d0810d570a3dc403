//! Lists what can be dropped, while a file is dragged over the window.

use eframe::egui::{self, Align2, Color32, Id, LayerId, Order, Stroke, StrokeKind, TextStyle};

/// Distance of the frame from the window's edges, and its width, in points.
const INSET: f32 = 24.0;
const WIDTH: f32 = 3.0;

const HINT: &str = "Drop to open: a run (.toml), a figure (.png, .svg, .pdf), a lesson (.md),\na sparse matrix (.mtx, .mtx.gz), or an array (.npy) or an image (.png, .jpg) as the right-hand side;\nan array of the grid's shape also as the initial guess.";

pub fn ui(context: &egui::Context) {
    if context.input(|input| input.raw.hovered_files.is_empty()) {
        return;
    }
    let painter = context.layer_painter(LayerId::new(Order::Tooltip, Id::unique("drop hint")));
    let window = context.content_rect();
    painter.rect_filled(window, 0.0, Color32::from_black_alpha(190));
    let frame = window.shrink(INSET);
    painter.rect_stroke(frame, 8.0, Stroke::new(WIDTH, Color32::WHITE), StrokeKind::Inside);
    let mut font = TextStyle::Body.resolve(&context.global_style());
    font.size *= 1.4;
    painter.text(window.center(), Align2::CENTER_CENTER, HINT, font, Color32::WHITE);
}
