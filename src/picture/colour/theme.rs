//! The colours of a figure apart from its data.

use serde::{Deserialize, Serialize};

/// The background that a figure is made for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Theme {
    /// Dark on white, for print.
    #[default]
    Light,
    /// Light on near-black, for a dark screen.
    Dark,
    /// Dark, without a background, for a light page of any colour.
    Transparent,
    /// Light, without a background, for a dark slide of any colour.
    TransparentDark,
}

/// The most runs beside the first: as many as there are colours for.
pub const MOST_BESIDE: usize = 6;

/// Red, green and blue (sRGB).
pub(crate) type Rgb = [u8; 3];

/// What is drawn in which colour.
pub(crate) struct Palette {
    pub background: Rgb,
    /// Titles, labels, tick labels.
    pub ink: Rgb,
    /// The subtitle.
    pub soft: Rgb,
    /// Frames and tick marks.
    pub axis: Rgb,
    /// Lines behind curves.
    pub grid: Rgb,
    pub grid_opacity: f64,
    /// Where there is no value.
    pub missing: Rgb,
}

impl Theme {
    /// Every theme, in the order of the menu.
    pub const ALL: [Self; 4] = [Self::Light, Self::Dark, Self::Transparent, Self::TransparentDark];

    /// The name on the command line and in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
            Self::Transparent => "transparent",
            Self::TransparentDark => "transparent-dark",
        }
    }

    /// The name in a menu.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Light => "Light",
            Self::Dark => "Dark",
            Self::Transparent => "Transparent",
            Self::TransparentDark => "Transparent, for dark slides",
        }
    }

    /// What it is for, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Light => "Dark on white, for paper and bright rooms.",
            Self::Dark => "Light on near-black, for a dark room.",
            Self::Transparent => "Dark, without a background: for a light page of any colour.",
            Self::TransparentDark => "Light, without a background: for a dark slide of any colour.",
        }
    }

    /// Whether what lies behind the figure shows through.
    pub const fn is_transparent(self) -> bool {
        matches!(self, Self::Transparent | Self::TransparentDark)
    }

    /// Whether the figure is made for a dark background.
    const fn is_dark(self) -> bool {
        matches!(self, Self::Dark | Self::TransparentDark)
    }

    /// The colour of the `index`th curve; eight that are distinct for any colour vision, then
    /// the same again.
    pub const fn curve(self, index: usize) -> [u8; 3] {
        // The first two are after Okabe and Ito (2008), the last is grey. The others are where they
        // are farthest from them and from one another for all eyes.
        const LIGHT: [Rgb; 8] = [
            [0x00, 0x72, 0xb2],
            [0xd5, 0x5e, 0x00],
            [0x38, 0x2e, 0x2b],
            [0x35, 0x00, 0x94],
            [0xd8, 0x8e, 0x70],
            [0xbe, 0x9d, 0xc9],
            [0x9e, 0x00, 0x00],
            [0x6b, 0x6f, 0x78],
        ];
        const DARK: [Rgb; 8] = [
            [0x5a, 0xb4, 0xf0],
            [0xff, 0x8a, 0x4c],
            [0xab, 0xff, 0xa7],
            [0xf6, 0xff, 0xfb],
            [0xe9, 0xda, 0x06],
            [0x8a, 0x6c, 0x9e],
            [0xbe, 0x87, 0x6d],
            [0xaa, 0xaf, 0xba],
        ];
        if self.is_dark() { DARK[index % DARK.len()] } else { LIGHT[index % LIGHT.len()] }
    }

    /// The colour of a run beside the first: neither the first run's nor the reference's.
    pub const fn beside(self, number: usize) -> [u8; 3] {
        self.curve(2 + number % MOST_BESIDE)
    }

    /// The colour of tile borders among curves: grey.
    pub const fn borders(self) -> [u8; 3] {
        self.curve(7)
    }

    /// The colour of a reference among the curves of runs.
    pub const fn reference(self) -> [u8; 3] {
        self.curve(1)
    }

    /// The colour of the `index`th acceleration of Jacobi's iteration, a reference, too: far from that of classic Jacobi.
    /// Runs beside the first may have it; their curves are not dashed.
    pub const fn acceleration(self, index: usize) -> [u8; 3] {
        self.curve(5 - 2 * (index % 2))
    }

    pub(crate) const fn palette(self) -> Palette {
        const LIGHT: Palette = Palette {
            background: [0xff, 0xff, 0xff],
            ink: [0x1a, 0x1c, 0x20],
            soft: [0x5c, 0x63, 0x70],
            axis: [0x4a, 0x4f, 0x58],
            grid: [0xe3, 0xe5, 0xea],
            grid_opacity: 1.0,
            missing: [0xd3, 0xd6, 0xdc],
        };
        const DARK: Palette = Palette {
            background: [0x15, 0x17, 0x1c],
            ink: [0xec, 0xee, 0xf2],
            soft: [0x9f, 0xa8, 0xb6],
            axis: [0x8b, 0x93, 0xa1],
            grid: [0x2c, 0x30, 0x39],
            grid_opacity: 1.0,
            missing: [0x3c, 0x41, 0x4b],
        };
        // The colour of the page is unknown, so soft text is nearly as strong as ink.
        match self {
            Self::Light => LIGHT,
            Self::Dark => DARK,
            Self::Transparent => {
                Palette { soft: LIGHT.axis, grid: LIGHT.ink, grid_opacity: 0.15, ..LIGHT }
            }
            Self::TransparentDark => {
                let soft = [0xc8, 0xcd, 0xd6];
                Palette { soft, axis: soft, grid: DARK.ink, grid_opacity: 0.2, ..DARK }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::colour::vision::Vision;

    /// Curves are at least this far apart (CIE 1976): ten times what is just seen.
    const APART: f64 = 20.0;

    /// And at least this much lighter or darker than their background.
    const LIGHTER: f64 = 25.0;

    #[test]
    fn curves_are_distinct_for_any_colour_vision() {
        for theme in Theme::ALL {
            let curves: [Rgb; 8] = std::array::from_fn(|index| theme.curve(index));
            for vision in Vision::ALL {
                for (index, &one) in curves.iter().enumerate() {
                    for (other, &another) in curves.iter().enumerate().skip(index + 1) {
                        let apart = vision.distance(one, another);
                        assert!(apart >= APART, "{theme:?}, {vision:?}: {index}, {other}: {apart}");
                    }
                    let lightness = |colour| vision.lab(colour)[0];
                    let lighter = lightness(one) - lightness(theme.palette().background);
                    let index = format!("{theme:?}, {vision:?}: {index}");
                    assert!(lighter.abs() >= LIGHTER, "{index}: {lighter}");
                }
            }
        }
    }
}
