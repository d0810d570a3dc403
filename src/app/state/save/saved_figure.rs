//! The style of the figure that was saved last, which the next one begins with.

use crate::app::state::save::request::SaveRequest;
use crate::app::state::save::what::What;
use crate::picture::{DPI, FONT_SIZES, FigureKind, FigureSpec, LARGEST_SIDE, SMALLEST_SIDE, Theme};
use serde::{Deserialize, Serialize};

/// Extensions of figures that are not animations.
const ENDINGS: [&str; 4] = ["png", "svg", "pdf", "csv"];

/// The kind, the theme and the size of a figure, as they are remembered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SavedFigure {
    /// The name of its kind.
    kind: String,
    /// The extension of its file.
    pub ending: String,
    size: [u32; 2],
    dpi: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    font: Option<f64>,
    theme: Theme,
    annotations: bool,
}

impl SavedFigure {
    /// Of a file that is saved; `None` if it is not a figure.
    pub fn of(request: &SaveRequest) -> Option<Self> {
        let kind = request.what.figure()?;
        let FigureSpec { size, dpi, font, theme, annotations, .. } = request.view.figure;
        let ending = request.path.extension().and_then(|ending| ending.to_str());
        let ending =
            ENDINGS.iter().find(|one| ending.is_some_and(|it| it.eq_ignore_ascii_case(one)));
        Some(Self {
            kind: kind.name().to_owned(),
            ending: ending.copied().unwrap_or(ENDINGS[0]).to_owned(),
            size,
            dpi,
            font,
            theme,
            annotations,
        })
    }

    /// What the next figure is.
    pub fn what(&self) -> What {
        let kind = FigureKind::ALL.iter().copied().find(|kind| kind.name() == self.kind);
        What::of(kind.unwrap_or_default())
    }

    /// The style of the next figure.
    pub fn style(&self, usual: FigureSpec) -> FigureSpec {
        let Self { size, dpi, font, theme, annotations, .. } = *self;
        FigureSpec { size, dpi, font, theme, annotations, ..usual }
    }

    /// Whether all values can be chosen in the dialog.
    pub fn is_valid(&self) -> bool {
        self.size.iter().all(|side| (SMALLEST_SIDE..=LARGEST_SIDE).contains(side))
            && DPI.contains(&self.dpi)
            && self.font.is_none_or(|font| FONT_SIZES.contains(&font))
    }
}
