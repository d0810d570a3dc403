//! The colour maps: tables of 256 colours, from the lowest value to the highest.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

/// How many colours a map has.
pub const COLOURS: usize = 256;

/// The colours of a map, lowest value first, as red, green, blue, opacity (sRGB, 0–255, opaque).
pub type Table = [[u8; 4]; COLOURS];

/// A colour map. All but [`Turbo`](Self::Turbo) are perceptually uniform or nearly so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ColourMap {
    /// Black through red and orange to pale yellow.
    #[default]
    Inferno,
    /// Violet through green to yellow.
    Viridis,
    /// Black through magenta to pale pink.
    Magma,
    /// Blue to yellow, alike for people with and without red–green blindness.
    Cividis,
    /// A rainbow: more distinct hues, at the cost of false edges.
    Turbo,
    /// Black to white.
    Grey,
    /// Diverging: blue is negative, white is zero, red is positive.
    RedBlue,
    /// Diverging: purple is negative, white is zero, green is positive.
    PurpleGreen,
}

/// An unknown name of a colour map.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no colour map \u{201c}{name}\u{201d}; choose one of {}", names())]
pub struct UnknownColourMap {
    /// The name as it was given.
    pub name: String,
}

fn names() -> String {
    ColourMap::ALL.map(ColourMap::name).join(", ")
}

impl ColourMap {
    /// Every map, in the order of the menu.
    pub const ALL: [Self; 8] = [
        Self::Inferno,
        Self::Viridis,
        Self::Magma,
        Self::Cividis,
        Self::Turbo,
        Self::Grey,
        Self::RedBlue,
        Self::PurpleGreen,
    ];

    /// The name on the command line and in files: `red-blue`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Inferno => "inferno",
            Self::Viridis => "viridis",
            Self::Magma => "magma",
            Self::Cividis => "cividis",
            Self::Turbo => "turbo",
            Self::Grey => "grey",
            Self::RedBlue => "red-blue",
            Self::PurpleGreen => "purple-green",
        }
    }

    /// What it is for, in one sentence.
    pub const fn about(self) -> &'static str {
        if self.is_diverging() {
            "Two colours that meet at zero in the middle: for values with a sign."
        } else {
            "From low to high: for magnitudes and levels."
        }
    }

    /// The name in a menu: `Red–blue`.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Inferno => "Inferno",
            Self::Viridis => "Viridis",
            Self::Magma => "Magma",
            Self::Cividis => "Cividis",
            Self::Turbo => "Turbo",
            Self::Grey => "Grey",
            Self::RedBlue => "Red–blue",
            Self::PurpleGreen => "Purple–green",
        }
    }

    /// Whether the middle of the map stands for zero, so that it needs a symmetric scale.
    pub const fn is_diverging(self) -> bool {
        matches!(self, Self::RedBlue | Self::PurpleGreen)
    }

    /// The colours. Made once, then shared.
    pub fn table(self) -> &'static Table {
        static TABLES: [OnceLock<Table>; ColourMap::ALL.len()] =
            [const { OnceLock::new() }; ColourMap::ALL.len()];
        TABLES[self as usize].get_or_init(|| self.make_table())
    }

    fn make_table(self) -> Table {
        // Colorous orders both diverging maps and the greys by their names, first colour first;
        // here the low end is black, blue or purple.
        let (gradient, reversed) = match self {
            Self::Inferno => (colorous::INFERNO, false),
            Self::Viridis => (colorous::VIRIDIS, false),
            Self::Magma => (colorous::MAGMA, false),
            Self::Cividis => (colorous::CIVIDIS, false),
            Self::Turbo => (colorous::TURBO, false),
            Self::Grey => (colorous::GREYS, true),
            Self::RedBlue => (colorous::RED_BLUE, true),
            Self::PurpleGreen => (colorous::PURPLE_GREEN, false),
        };
        std::array::from_fn(|step| {
            let step = if reversed { COLOURS - 1 - step } else { step };
            let colour = gradient.eval_rational(step, COLOURS);
            [colour.r, colour.g, colour.b, u8::MAX]
        })
    }
}

impl fmt::Display for ColourMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ColourMap {
    type Err = UnknownColourMap;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|map| map.name() == name)
            .ok_or_else(|| UnknownColourMap { name: name.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::picture::colour::vision::Vision;

    #[test]
    fn one_name_everywhere() {
        for map in ColourMap::ALL {
            assert_eq!(map.name().parse(), Ok(map));
            assert_eq!(serde_json::to_string(&map).unwrap(), format!("\"{}\"", map.name()));
        }
        let refused = "rainbow".parse::<ColourMap>().unwrap_err().to_string();
        assert!(refused.contains("rainbow") && refused.contains("red-blue"), "{refused}");
    }

    /// Lightness (CIELAB) along a map, from the lowest value to the highest.
    fn lightness(map: ColourMap, vision: Vision) -> Vec<f64> {
        map.table().iter().map(|&[r, g, b, _]| vision.lab([r, g, b])[0]).collect()
    }

    /// How far lightness falls on the way: hardly more than colours of 8 bits are rounded by.
    fn falls(lightness: impl IntoIterator<Item = f64>) -> f64 {
        let mut highest = f64::NEG_INFINITY;
        let fall = |here: f64| {
            highest = highest.max(here);
            highest - here
        };
        lightness.into_iter().map(fall).fold(0.0, f64::max)
    }

    #[test]
    fn a_larger_value_is_lighter_for_any_colour_vision() {
        for map in ColourMap::ALL {
            assert!(map.table().iter().all(|colour| colour[3] == 255));
            // Turbo is not uniform, as its description states.
            if map.is_diverging() || map == ColourMap::Turbo {
                continue;
            }
            for vision in Vision::ALL {
                let lightness = lightness(map, vision);
                let rises = lightness[COLOURS - 1] - lightness[0];
                assert!(rises > 70.0, "{map}, {vision:?}: {rises}");
                let falls = falls(lightness);
                assert!(falls < 1.0, "{map}, {vision:?}: {falls}");
            }
        }
    }

    #[test]
    fn diverging_maps_darken_to_both_sides_which_differ_for_any_colour_vision() {
        for map in ColourMap::ALL.into_iter().filter(|map| map.is_diverging()) {
            for vision in Vision::ALL {
                let lightness = lightness(map, vision);
                let (low, high) = lightness.split_at(COLOURS / 2);
                let falls = [falls(low.iter().copied()), falls(high.iter().rev().copied())];
                assert!(falls.iter().all(|&falls| falls < 1.0), "{map}, {vision:?}: {falls:?}");
                let side = |step: usize| {
                    let [r, g, b, _] = map.table()[step];
                    [r, g, b]
                };
                for step in 0..COLOURS / 4 {
                    let apart = vision.distance(side(step), side(COLOURS - 1 - step));
                    assert!(apart > 20.0, "{map}, {vision:?}, {step}: {apart}");
                }
            }
        }
    }

    #[test]
    fn negative_is_blue_or_purple() {
        let [r, _, b, _] = ColourMap::RedBlue.table()[30];
        assert!(b > r);
        let [r, g, b, _] = ColourMap::PurpleGreen.table()[30];
        assert!(g < r && g < b);
    }
}
