//! Floor 4: from values to colours, and from colours to figures.
//!
//! A [`Scale`] gives the position of a value between two ends, a [`ColourMap`] the colour there,
//! [`colours`] does both for a whole field. The same function fills the window's texture, the
//! figures that are saved ([`HeatMapFigure`], [`Plot`]), and the pictures that the tests
//! compare. A figure is described once, as SVG; [`render`] makes pixels of it with the fonts that
//! come with the program, so pictures are the same everywhere.

#[cfg(test)]
pub(crate) mod any;
mod axis;
mod colour;
mod draw;
mod figures;
mod file;
mod film;
mod plot;
mod sweep;
mod view;
mod volume;

pub use crate::number::{
    counted, digits, grouped, number, parse_number, percent, ratio, rounded, seconds, two_digits,
};
pub use axis::scale::{End, Range, SYMMETRIC_THRESHOLD, Scale, ScaleKind};
pub use axis::ticks::{Tick, bar_ticks, linear_ticks, ticks};
pub use colour::histogram::histogram;
pub use colour::map::{COLOURS, ColourMap, Table, UnknownColourMap};
pub use colour::paint::{INFINITE, NO_VALUE, Samples, SamplesError, colours, shown_values};
pub use colour::theme::{MOST_BESIDE, Theme};
pub use draw::drawing::Drawing;
pub use draw::layout::{Page, SMALLEST_SIDE};
pub use draw::png::{PngError, SCREEN_DPI, encode_png, read_png_text, save_png};
pub use draw::render::{LARGEST_SIDE, PictureError, render};
pub use draw::text::{SUBSCRIPT_SIZE, with_subscripts};
pub use figures::curves::{
    CLASSIC_NAME, THIS_RUN, acceleration_series, convergence_plot, norm_points, rate_series,
    sweeps_per_axis_cycle,
};
pub use figures::damping_by_mode::damping_plot;
pub use figures::distance::{distance_plot, distance_unit};
pub use figures::edge_share::edge_share_plot;
pub use figures::frequencies::{amplitude_label, frequencies_plot};
pub use figures::height::HeightPicture;
pub use figures::inside::{OWNED, STALE_FRONT, stale_front};
pub use figures::lanes::{lanes_plot, lanes_title};
pub use figures::mean_tile::{inner_points, mean_tile_plot};
pub use figures::memory_traffic::{ComparedTraffic, compared_traffic, cycle_name};
pub use figures::names::{distinguish, method_title, problem_title, value_label};
pub use figures::planes::PassPicture;
pub use figures::probes::{point_label, probe_series, probes_plot};
pub use figures::profile::{profile_plot, profile_points};
pub use figures::row_map::block_borders;
pub use figures::speedup::{SpeedupOver, costs, speedup_plot};
pub use figures::spy::{SMALLEST_BLOCK, SpyCells, entry_colours};
pub use figures::times::{amdahl_chart, times_chart};
pub use figures::{common_range, figure};
pub use file::link::{LinkError, link_text, read_link};
#[cfg(feature = "gui")]
pub(crate) use file::saved::save_figure_with_pauses;
pub use file::saved::{FigureFile, OpenError, Opened, SaveError, open, read_figure, save_figure};
pub use file::table::save_table;
#[cfg(feature = "gui")]
pub(crate) use film::save_film_with_pauses;
pub use film::{Film, FilmError, FilmFile, FilmSize, save_film, why_without_run};
pub use plot::bars::{Bar, BarChart, BarGroup, BarPart, SECOND_PART};
pub use plot::description::{
    BAND_OPACITY, Band, FAINT, Level, Plot, PlotAxis, Series, TickStyle, VerticalLines,
};
pub use plot::heat_map::{HeatMapFigure, MapAxis, Outline, Panel};
pub use sweep::charts::{Chart, charts, is_of_paper};
pub use sweep::data::SweepData;
pub use sweep::figure::{SweepView, sweep_svg};
pub use sweep::kind::SweepFigure;
pub use sweep::map::{Layer, MAP_COLOURS, MapCell, MapRows, MapValue, Segment, SweepMap, ink_on};
pub use view::camera::{Camera, ZOOMS};
pub use view::command::figure_command;
pub use view::error::ViewError;
pub use view::figure_spec::{DPI, FONT_SIZES, FigureSpec, natural_map, natural_scale};
pub use view::frames::{Frames, MOST_FRAMES, Pairing, RATE, RATES, Spacing};
pub use view::inside::{InsideKind, InsideView};
pub use view::kind::{FigureKind, FigureType, Uses, is_table};
pub use view::norm::Norm;
pub use view::over::Over;
pub use view::slow_link::{NamedLink, RATIOS, SlowLink, SlowLinkError};
pub use view::spec::{Compared, PlacedFigure, ViewSpec};
pub use volume::{PictureLine, Projection, Volume, VolumeLines};
