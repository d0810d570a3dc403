//! The line between two devices that share a grid.

use eframe::egui::{Color32, Painter, Pos2, Shape, Stroke};

/// The length of dashes and of the gaps between them, in points: through the gaps one sees what lies along the line.
const DASH: f32 = 6.0;

/// The widths of a dash and of the darker one under it, in points.
const WIDTH: f32 = 1.5;
const UNDER: f32 = 3.5;

/// Draws a dashed line that is seen on any colours.
pub fn paint(painter: &Painter, ends: [Pos2; 2]) {
    for (width, colour) in [(UNDER, Color32::from_black_alpha(170)), (WIDTH, Color32::WHITE)] {
        painter.extend(Shape::dashed_line(&ends, Stroke::new(width, colour), DASH, DASH));
    }
}
