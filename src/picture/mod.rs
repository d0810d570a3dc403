//! Floor 4: from values to colours, and from colours to figures.
//!
//! A [`Scale`] says where a value lies between two ends, a [`ColourMap`] which colour lies there,
//! [`colours`] does both for a whole field. The same function fills the window's texture, the
//! figures that are saved ([`HeatMapFigure`], [`CurvesFigure`]), and the pictures that the tests
//! compare. A figure is described once, as SVG; [`render`] makes pixels of it with the fonts that
//! come with the program, so it looks the same everywhere.

#[cfg(test)]
pub(crate) mod any;
mod arrangement;
mod colour_map;
#[cfg(test)]
pub(crate) mod colour_vision;
mod curves_figure;
mod distance_figure;
mod figure_command;
mod figure_kind;
mod figure_spec;
mod file;
mod film;
mod frames;
mod heat_map;
mod heat_map_figure;
mod histogram;
mod inside_figure;
mod inside_view;
mod layout;
mod legend;
mod over_cycles_figure;
mod render;
mod run_figure;
mod runs_figure;
mod saved;
mod scale;
mod stretch;
mod svg;
mod sweep_figure;
mod sweep_map;
mod table;
mod text;
mod theme;
mod ticks;
mod titles;
mod view_check;
mod view_spec;

pub use colour_map::{COLOURS, ColourMap, Table, UnknownColourMap};
pub use curves_figure::{Band, Curve, CurvesFigure, Marks};
pub use figure_command::figure_command;
pub use figure_kind::FigureKind;
pub use figure_spec::{DPI, FONT_SIZES, FigureSpec, SCREEN_DPI, natural_map, natural_scale};
pub use file::{PngError, encode_png, read_png_text, save_png};
pub use film::{Film, FilmError, FilmFile, save_film};
pub use frames::{Frames, MOST_FRAMES, Pairing, RATE, RATES, Spacing};
pub use heat_map::{NO_VALUE, Samples, SamplesError, colours, shown_values};
pub use heat_map_figure::{Axis, HeatMapFigure, Outline, Panel};
pub use histogram::histogram;
pub use inside_figure::OWNED;
pub use inside_view::{InsideKind, InsideView};
pub use layout::{Page, SMALLEST_SIDE};
pub use over_cycles_figure::point_label;
pub use render::{LARGEST_SIDE, PictureError, render, render_within, thinned_within};
pub use run_figure::{Over, common_range, figure};
pub use saved::{
    Drawing, FigureFile, OpenError, Opened, SaveError, open, read_figure, save_figure,
};
pub use scale::{End, Range, SYMMETRIC_THRESHOLD, Scale, ScaleKind};
pub use sweep_figure::sweep_svg;
pub use sweep_map::{Layer, MAP_COLOURS, MapCell, MapValue, Segment, SweepMap};
pub use table::{is_table, save_table};
pub use theme::{MOST_BESIDE, Theme};
pub use ticks::{Tick, linear_ticks, number, ticks};
pub use titles::{
    counted, digits, grouped, method_title, problem_title, rounded, seconds, told_apart,
    value_label,
};
pub use view_check::ViewError;
pub use view_spec::{Compared, Place, ViewSpec};
