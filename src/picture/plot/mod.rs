//! Plots: curves and maps with axes, titles and legends.

pub(crate) mod curves;
pub(crate) mod heat_map;
pub(crate) mod legend;
pub(crate) mod polyline;
