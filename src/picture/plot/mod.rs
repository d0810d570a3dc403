//! Plots: curves and maps with axes, titles and legends.

pub(crate) mod bars;
pub(crate) mod description;
pub(crate) mod heat_map;
mod legend;
mod polyline;
mod svg;
