//! The link to fast memory that models of a pyramid assume.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

/// The ratios ρ that can be chosen.
pub const RATIOS: RangeInclusive<f64> = 1e-4..=1e5;

/// The link to fast memory that models of a pyramid assume. Its text, on the command line and in files, is a name or a
/// ratio ρ.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum SlowLink {
    /// As it was measured.
    #[default]
    ThisMachine,
    /// One of these.
    Named(NamedLink),
    /// ρ: the seconds to move a value over those to update a point.
    Ratio(f64),
}

/// A link that data sheets know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedLink {
    /// PCIe 3.0 with 16 lanes.
    Pcie3,
    /// PCIe 4.0 with 16 lanes.
    Pcie4,
    /// PCIe 5.0 with 16 lanes.
    Pcie5,
    /// NVLink 4.
    NvLink,
    /// A solid-state drive.
    Ssd,
}

impl NamedLink {
    /// All of them, as they stand in menus.
    pub const ALL: [Self; 5] = [Self::Pcie3, Self::Pcie4, Self::Pcie5, Self::NvLink, Self::Ssd];

    /// The name in menus.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Pcie3 => "PCIe 3",
            Self::Pcie4 => "PCIe 4",
            Self::Pcie5 => "PCIe 5",
            Self::NvLink => "NVLink",
            Self::Ssd => "SSD",
        }
    }

    /// The name in files and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pcie3 => "pcie-3",
            Self::Pcie4 => "pcie-4",
            Self::Pcie5 => "pcie-5",
            Self::NvLink => "nvlink",
            Self::Ssd => "ssd",
        }
    }

    /// What it is, in one sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Pcie3 => "PCIe 3.0 with 16 lanes: nominally 15.75 GB/s in each direction.",
            Self::Pcie4 => "PCIe 4.0 with 16 lanes: nominally 31.5 GB/s in each direction.",
            Self::Pcie5 => "PCIe 5.0 with 16 lanes: nominally 63 GB/s in each direction.",
            Self::NvLink => "NVLink 4 of an H100: nominally 450 GB/s in each direction.",
            Self::Ssd => "A fast solid-state drive on four lanes of PCIe 4.0: about 7 GB/s.",
        }
    }

    /// Bytes per second in one direction. Sources: per lane, 8, 16 and 32 GT/s at 128b/130b (PCI-SIG); 900 GB/s both ways
    /// (data sheet of the H100); what drives of that kind are sold as reading and writing.
    pub const fn bandwidth(self) -> f64 {
        match self {
            Self::Pcie3 => 15.75e9,
            Self::Pcie4 => 31.5e9,
            Self::Pcie5 => 63e9,
            Self::NvLink => 450e9,
            Self::Ssd => 7e9,
        }
    }
}

/// Why a text is no link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "it must be this-machine, pcie-3, pcie-4, pcie-5, nvlink, ssd, or a ratio from 0.0001 to 100000"
)]
pub struct SlowLinkError;

/// The name of what was measured.
const THIS_MACHINE: &str = "this-machine";

impl fmt::Display for SlowLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ThisMachine => f.pad(THIS_MACHINE),
            Self::Named(link) => f.pad(link.name()),
            Self::Ratio(ratio) => ratio.fmt(f),
        }
    }
}

impl FromStr for SlowLink {
    type Err = SlowLinkError;
    fn from_str(text: &str) -> Result<Self, SlowLinkError> {
        let text = text.trim();
        if text == THIS_MACHINE {
            return Ok(Self::ThisMachine);
        }
        if let Some(link) = NamedLink::ALL.into_iter().find(|link| link.name() == text) {
            return Ok(Self::Named(link));
        }
        let ratio = text.parse().map_err(|_| SlowLinkError)?;
        RATIOS.contains(&ratio).then_some(Self::Ratio(ratio)).ok_or(SlowLinkError)
    }
}

impl Serialize for SlowLink {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for SlowLink {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_files_hold_every_link() {
        let named = NamedLink::ALL.map(SlowLink::Named);
        let others = [SlowLink::ThisMachine, SlowLink::Ratio(0.5), SlowLink::Ratio(24.0)];
        for link in named.into_iter().chain(others) {
            assert_eq!(link.to_string().parse(), Ok(link));
            let json = serde_json::to_string(&link).unwrap();
            assert_eq!(serde_json::from_str::<SlowLink>(&json).unwrap(), link);
        }
        for wrong in ["", "pcie", "0", "-1", "NaN", "inf", "1e9"] {
            assert_eq!(wrong.parse::<SlowLink>(), Err(SlowLinkError), "{wrong}");
        }
    }
}
