//! Floor 4: from values to colours, and from colours to figures.
//!
//! A [`Scale`] says where a value lies between two ends, a [`ColourMap`] which colour lies there,
//! [`colours`] does both for a whole field. The same function fills the window's texture, the
//! figures that are saved ([`HeatMapFigure`], [`CurvesFigure`]), and the pictures that the tests
//! compare. A figure is described once, as SVG; [`render`] makes pixels of it with the fonts that
//! come with the program, so it looks the same everywhere.

mod colour_map;
mod curves_figure;
mod file;
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
mod text;
mod theme;
mod ticks;

pub use colour_map::{COLOURS, ColourMap, Table, UnknownColourMap};
pub use curves_figure::{Curve, CurvesFigure};
pub use file::{PngError, encode_png, read_png_text, save_png};
pub use heat_map::{NO_VALUE, Samples, SamplesError, colours, shown_values};
pub use heat_map_figure::{Axis, HeatMapFigure};
pub use histogram::histogram;
pub use layout::SMALLEST_SIDE;
pub use render::{LARGEST_SIDE, PictureError, render};
pub use run_figure::{
    FigureSpec, Over, RunCurve, ViewSpec, bare, counted, curves_svg, grouped, heat_map_svg,
    method_title, natural_map, natural_scale, problem_title, rounded, value_label,
};
pub use saved::{
    Drawing, FigureFile, OpenError, Opened, SaveError, open, read_figure, save_figure,
};
pub use scale::{End, Range, SYMMETRIC_THRESHOLD, Scale, ScaleKind};
pub use sweep_figure::sweep_svg;
pub use theme::Theme;
pub use ticks::{Tick, linear_ticks, number, ticks};
