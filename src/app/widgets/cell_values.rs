//! Values written into the cells of a picture, if those are large enough.

use crate::picture::{COLOURS, ColourMap, INFINITE, Scale, rounded};
use eframe::egui::{Align2, Color32, Rect, TextStyle, Ui, Vec2, emath::RectTransform, pos2};
use std::ops::Range;

/// The smallest cell, in points, that has room for a value such as `−1.25×10⁻¹²`.
const SMALLEST: Vec2 = Vec2::new(60.0, 17.0);

/// From this relative luminance on black reads better than white (WCAG 2, contrast ratio).
const LIGHT: f32 = 0.179;

/// How the cells under the values are coloured.
#[derive(Clone, Copy)]
pub struct Inks<'a> {
    pub scale: &'a Scale,
    pub map: ColourMap,
    /// Whether a value's colour is that of its magnitude.
    pub absolute: bool,
}

/// Writes the values of the cells in `grid` that lie in `area`, if there is room. `value` returns
/// that of a column and a row; unknown values are left out.
pub fn ui(
    ui: &Ui,
    area: Rect,
    to_screen: &RectTransform,
    grid: [Range<usize>; 2],
    inks: Inks<'_>,
    value: impl Fn(usize, usize) -> Option<f32>,
) {
    let cell = to_screen.scale();
    if cell.x < SMALLEST.x || cell.y < SMALLEST.y {
        return;
    }
    let seen = to_screen.inverse().transform_rect(area);
    let within = |range: &Range<usize>, from: f32, to: f32| {
        range.start.max(from.max(0.0) as usize)..range.end.min(to.max(0.0).ceil() as usize)
    };
    let columns = within(&grid[0], seen.left(), seen.right());
    let rows = within(&grid[1], seen.top(), seen.bottom());
    let painter = ui.painter().with_clip_rect(area);
    let font = TextStyle::Small.resolve(ui.style());
    for row in rows {
        for i in columns.clone() {
            if let Some(value) = value(i, row).filter(|value| !value.is_nan()) {
                let at = to_screen.transform_pos(pos2(i as f32 + 0.5, row as f32 + 0.5));
                let ink = ink(value, inks);
                let text = rounded(value.into());
                painter.text(at, Align2::CENTER_CENTER, text, font.clone(), ink);
            }
        }
    }
}

/// Black or white, whichever has more contrast with the colour of a value.
fn ink(value: f32, inks: Inks<'_>) -> Color32 {
    let value = f64::from(if inks.absolute { value.abs() } else { value });
    let step = (inks.scale.position(value) * (COLOURS - 1) as f64).round() as usize;
    let [red, green, blue, _] = match value.is_infinite() {
        true => INFINITE,
        false => inks.map.table()[step.min(COLOURS - 1)],
    };
    let linear = |channel: u8| (f32::from(channel) / 255.0).powf(2.2);
    let luminance = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
    if luminance > LIGHT { Color32::BLACK } else { Color32::WHITE }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::{Range, ScaleKind};

    #[test]
    fn values_can_be_read_on_their_colour() {
        for map in ColourMap::ALL {
            let scale = Scale::new(ScaleKind::Linear, Range::new(0.0, 255.0));
            for (step, [red, green, blue, _]) in map.table().iter().enumerate() {
                let inks = Inks { scale: &scale, map, absolute: false };
                let is_black = ink(step as f32, inks) == Color32::BLACK;
                let linear = |channel: &u8| (f32::from(*channel) / 255.0).powf(2.2);
                let light = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
                let ratio = if is_black { (light + 0.05) / 0.05 } else { 1.05 / (light + 0.05) };
                assert!(ratio >= 4.5, "{map:?} {step}: {ratio}");
            }
        }
    }
}
