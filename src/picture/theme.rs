//! The colours of everything in a figure that isn't data.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Whether a figure is for paper and bright rooms, or for a dark slide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
#[value(rename_all = "kebab-case")]
pub enum Theme {
    /// Dark on white.
    #[default]
    Light,
    /// Light on near-black.
    Dark,
}

/// Red, green and blue (sRGB).
pub(super) type Rgb = [u8; 3];

/// What is drawn in which colour.
pub(super) struct Palette {
    pub background: Rgb,
    /// Titles, labels, tick labels.
    pub ink: Rgb,
    /// The subtitle.
    pub soft: Rgb,
    /// Frames and tick marks.
    pub axis: Rgb,
    /// Lines behind curves.
    pub grid: Rgb,
    /// Where there is no value.
    pub missing: Rgb,
}

impl Theme {
    /// Both themes.
    pub const ALL: [Self; 2] = [Self::Light, Self::Dark];

    /// The colour of the `index`th curve; eight that are told apart with any colour vision, then
    /// the same again.
    pub const fn curve(self, index: usize) -> [u8; 3] {
        // After Okabe and Ito (2008), darkened on white and brightened on black.
        const LIGHT: [Rgb; 8] = [
            [0x00, 0x72, 0xb2],
            [0xd5, 0x5e, 0x00],
            [0x00, 0x9e, 0x73],
            [0xb0, 0x5a, 0x90],
            [0xc9, 0x8a, 0x00],
            [0x3d, 0xa0, 0xdd],
            [0x8c, 0x2d, 0x2d],
            [0x6b, 0x6f, 0x78],
        ];
        const DARK: [Rgb; 8] = [
            [0x5a, 0xb4, 0xf0],
            [0xff, 0x8a, 0x4c],
            [0x3f, 0xd0, 0xa0],
            [0xe0, 0x9a, 0xc8],
            [0xf0, 0xc0, 0x40],
            [0xa8, 0xdc, 0xff],
            [0xff, 0x7a, 0x7a],
            [0xaa, 0xaf, 0xba],
        ];
        match self {
            Self::Light => LIGHT[index % LIGHT.len()],
            Self::Dark => DARK[index % DARK.len()],
        }
    }

    pub(super) const fn palette(self) -> Palette {
        match self {
            Self::Light => Palette {
                background: [0xff, 0xff, 0xff],
                ink: [0x1a, 0x1c, 0x20],
                soft: [0x5c, 0x63, 0x70],
                axis: [0x4a, 0x4f, 0x58],
                grid: [0xe3, 0xe5, 0xea],
                missing: [0xd3, 0xd6, 0xdc],
            },
            Self::Dark => Palette {
                background: [0x15, 0x17, 0x1c],
                ink: [0xec, 0xee, 0xf2],
                soft: [0x9f, 0xa8, 0xb6],
                axis: [0x8b, 0x93, 0xa1],
                grid: [0x2c, 0x30, 0x39],
                missing: [0x3c, 0x41, 0x4b],
            },
        }
    }
}
