//! The style of a figure.

use crate::picture::axis::scale::{Range, ScaleKind};
use crate::picture::colour::map::ColourMap;
use crate::picture::colour::theme::Theme;
use crate::picture::draw::layout::Page;
use crate::picture::draw::png::SCREEN_DPI;
use crate::picture::view::error::ViewError;
use crate::run::FieldKind;
use serde::{Deserialize, Serialize};

/// The style of a figure: everything about it that is not the run, the cycle or the field.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FigureSpec {
    /// How values are spread over the colours.
    pub scale: ScaleKind,
    /// On a linear scale: magnitudes in place of values with their sign.
    pub absolute: bool,
    /// The colours.
    pub map: ColourMap,
    /// The lowest and the highest value shown; `None` to fit the field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<Range>,
    /// Pixels across and down.
    pub size: [u32; 2],
    /// Pixels per inch: how large the figure and its text are on paper.
    #[serde(skip_serializing_if = "is_screen")]
    pub dpi: f64,
    /// The font size of labels in points (1/72 inch); `None` for one that suits the size of the figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub font: Option<f64>,
    /// The background that it is made for.
    pub theme: Theme,
    /// Whether tile borders are drawn over the map.
    pub borders: bool,
    /// Whether the title and the line of settings are drawn.
    #[serde(skip_serializing_if = "is_true")]
    pub annotations: bool,
}

/// Resolutions that a figure may have, in pixels per inch.
pub const DPI: std::ops::RangeInclusive<f64> = 30.0..=2400.0;

/// The font sizes that a figure may have, in points.
pub const FONT_SIZES: std::ops::RangeInclusive<f64> = 3.0..=144.0;

fn is_screen(dpi: &f64) -> bool {
    *dpi == SCREEN_DPI
}

fn is_true(value: &bool) -> bool {
    *value
}

impl Default for FigureSpec {
    fn default() -> Self {
        Self {
            scale: ScaleKind::Log,
            absolute: false,
            map: ColourMap::Inferno,
            range: None,
            size: [1200, 900],
            dpi: SCREEN_DPI,
            font: None,
            theme: Theme::Light,
            borders: false,
            annotations: true,
        }
    }
}

impl FigureSpec {
    /// The usual look for a field: a logarithmic scale for what goes to zero, and a linear one for the
    /// solution.
    pub fn suiting(field: FieldKind) -> Self {
        Self { scale: natural_scale(field), ..Self::default() }
    }

    /// The page that it is drawn on.
    pub(crate) fn page(&self) -> Page {
        let [width, height] = self.size;
        let font = self.font.map(|points| points * self.dpi / 72.0);
        Page { width, height, theme: self.theme, font }
    }

    pub(crate) fn check(&self) -> Result<(), ViewError> {
        let within = |field, value: f64, range: std::ops::RangeInclusive<f64>, what: &str| {
            if range.contains(&value) {
                return Ok(());
            }
            let allowed = format!("it must be {} to {} {what}", range.start(), range.end());
            Err(ViewError::Value { field, value: value.to_string(), allowed })
        };
        within("dpi", self.dpi, DPI, "pixels per inch")?;
        self.font.map_or(Ok(()), |font| within("the font size", font, FONT_SIZES, "points"))
    }
}

/// The scale that suits a field.
pub fn natural_scale(field: FieldKind) -> ScaleKind {
    match field {
        FieldKind::Solution => ScaleKind::Linear,
        _ => ScaleKind::Log,
    }
}

/// The map that suits a scale: a diverging one for a symmetric scale.
pub fn natural_map(scale: ScaleKind) -> ColourMap {
    match scale {
        ScaleKind::Symmetric => ColourMap::RedBlue,
        _ => ColourMap::Inferno,
    }
}
