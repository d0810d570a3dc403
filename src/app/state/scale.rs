//! The zoom of the window, and the presentation mode.

use eframe::egui;

/// The smallest window in which nothing is cut off.
pub const SMALLEST_SIZE: [f32; 2] = [960.0, 600.0];

/// Steps of the zoom.
const STEPS: [f32; 8] = [1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0];

/// The smallest size at which nothing of a presentation is cut off, in points.
const PRESENTED_SIZE: [f32; 2] = [840.0, 525.0];

/// The largest zoom of a presentation: on larger screens the map grows, and not the controls.
const MOST_PRESENTED: f32 = 1.9;

/// The zoom is rounded down to a multiple of this, which avoids flicker while a window is resized.
const GRAIN: f32 = 0.05;

/// The chosen zoom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The zoom factor, 1 to 3.
    pub wanted: f32,
    /// Whether the presentation mode is on: as large as the window allows.
    pub presenting: bool,
}

impl Default for Scale {
    fn default() -> Self {
        Self { wanted: STEPS[0], presenting: false }
    }
}

impl Scale {
    /// The next larger zoom; `None` if there is none, or if something would be cut off.
    pub fn larger(self, context: &egui::Context) -> Option<Self> {
        let next = STEPS.into_iter().find(|&step| step > self.wanted)?;
        (self.wanted < room(context, SMALLEST_SIZE))
            .then_some(Self { wanted: next, presenting: false })
    }

    /// The next smaller zoom; `None` if there is none.
    pub fn smaller(self) -> Option<Self> {
        let next = STEPS.into_iter().rev().find(|&step| step < self.wanted)?;
        Some(Self { wanted: next, presenting: false })
    }

    /// Applies the zoom from the next frame on, as far as nothing is cut off. `is_dense`: a dialog
    /// or map needs the whole window.
    pub fn apply(self, context: &egui::Context, is_dense: bool) {
        let presented = self.presenting && !is_dense;
        let room = room(context, if presented { PRESENTED_SIZE } else { SMALLEST_SIZE });
        let factor = match self.presenting {
            true => room.min(MOST_PRESENTED),
            false => self.wanted.min(room),
        };
        if factor.is_finite() && factor != context.zoom_factor() {
            context.set_zoom_factor(factor);
        }
    }
}

/// The largest zoom at which the window still has this size in points.
fn room(context: &egui::Context, [width, height]: [f32; 2]) -> f32 {
    let native = context.content_rect().size() * context.zoom_factor();
    let room = (native.x / width).min(native.y / height);
    ((room / GRAIN + 1e-3).floor() * GRAIN).clamp(STEPS[0], STEPS[STEPS.len() - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The zoom of a window of that size.
    fn zoom(scale: Scale, is_dense: bool, size: egui::Vec2) -> f32 {
        let context = egui::Context::default();
        for _ in 0..4 {
            let seen = size / context.zoom_factor();
            let input = egui::RawInput {
                screen_rect: Some(egui::Rect::from_min_size(egui::Pos2::ZERO, seen)),
                ..Default::default()
            };
            let apply = |ui: &mut egui::Ui| scale.apply(ui.ctx(), is_dense);
            context.run_ui(input, apply).textures_delta.clear();
        }
        context.zoom_factor()
    }

    #[test]
    fn a_presentation_is_as_large_as_the_window_allows() {
        let presented = Scale { presenting: true, ..Scale::default() };
        for (size, expected, dense) in
            [([960.0, 600.0], 1.1, 1.0), ([1280.0, 800.0], 1.5, 1.3), ([1920.0, 1080.0], 1.9, 1.8)]
        {
            for (is_dense, expected) in [(false, expected), (true, dense)] {
                let zoom = zoom(presented, is_dense, size.into());
                assert!((zoom - expected).abs() < 1e-3, "{size:?}: {zoom}");
            }
        }
    }

    #[test]
    fn the_zoom_is_limited_by_the_window() {
        let largest = Scale { wanted: 3.0, presenting: false };
        assert_eq!(zoom(largest, false, [800.0, 500.0].into()), 1.0);
        assert_eq!(zoom(largest, false, [2880.0, 1800.0].into()), 3.0);
        assert_eq!(zoom(Scale { wanted: 1.5, ..largest }, false, [2880.0, 1800.0].into()), 1.5);
        let scales = std::iter::successors(Some(largest), |scale| scale.smaller());
        assert_eq!(scales.last(), Some(Scale::default()));
    }
}
