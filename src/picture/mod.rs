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
mod figure_command;
mod file;
mod film;
mod heat_map;
mod heat_map_figure;
mod histogram;
mod layout;
mod render;
mod run_figure;
mod saved;
mod scale;
mod svg;
mod sweep_figure;
mod sweep_map;
mod text;
mod theme;
mod ticks;
mod titles;
mod view_spec;

pub use colour_map::{COLOURS, ColourMap, Table, UnknownColourMap};
pub use curves_figure::{Curve, CurvesFigure, Marks};
pub use figure_command::figure_command;
pub use file::{PngError, encode_png, read_png_text, save_png};
pub use film::{Film, FilmError, FilmFile, save_film};
pub use heat_map::{NO_VALUE, Samples, SamplesError, colours, shown_values};
pub use heat_map_figure::{Axis, HeatMapFigure, Panel};
pub use histogram::histogram;
pub use layout::{Page, SMALLEST_SIDE};
pub use render::{LARGEST_SIDE, PictureError, render, render_within, thinned_within};
pub use run_figure::{Over, common_range, figure};
pub use saved::{
    Drawing, FigureFile, OpenError, Opened, SaveError, open, read_figure, save_figure,
};
pub use scale::{End, Range, SYMMETRIC_THRESHOLD, Scale, ScaleKind};
pub use sweep_figure::sweep_svg;
pub use sweep_map::{Layer, MAP_COLOURS, MapCell, MapValue, Segment, SweepMap};
pub use theme::Theme;
pub use ticks::{Tick, linear_ticks, number, ticks};
pub use titles::{
    counted, digits, grouped, method_title, problem_title, rounded, seconds, told_apart,
    value_label,
};
pub use view_spec::{
    Compared, DPI, FONT_SIZES, FigureKind, FigureSpec, Frames, MOST_FRAMES, Place, RATE, RATES,
    SCREEN_DPI, Spacing, ViewError, ViewSpec, natural_map, natural_scale,
};
