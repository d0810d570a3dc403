//! Controls and small pictures, which know nothing of a run.

pub mod bars;
pub mod cell_values;
pub mod cells;
pub mod colour_bar;
pub mod cut_line;
pub mod device_border;
pub mod handle;
pub mod icon;
pub mod labels;
pub mod legend;
pub mod plot;
pub mod processing_speedup;
pub mod rows;
pub mod theme;
pub mod zoom;
