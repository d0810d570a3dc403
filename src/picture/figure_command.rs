//! A figure as the command line that makes it.

use super::run_figure::Over;
use super::view_spec::{FigureKind, FigureSpec, Place, RATE, SCREEN_DPI, Spacing, ViewSpec};
use crate::run::{RunSpec, command_line, option};
use clap::ValueEnum;
use std::path::Path;

/// The command line that makes a figure of this run again, for a POSIX shell. A second run beside
/// the first is taken from the figure itself, so that has to be saved before.
pub fn figure_command(run: &RunSpec, view: &ViewSpec, path: &Path) -> String {
    let mut line = command_line(run).replacen("tilescope solve", "tilescope render", 1);
    let mut put = |name: &str, value: &str| option(&mut line, name, value);
    let ViewSpec { cycle, field, kind, over, cut, frames, figure, places, compared } = view;
    put("kind", kind.name());
    put("field", field.name());
    match frames {
        None => put("at-cycle", &cycle.to_string()),
        Some(frames) => {
            let step = match frames.spacing {
                Spacing::Every(step) => step.to_string(),
                Spacing::Logarithmic(count) => format!("log{count}"),
            };
            put("animate", &format!("{}..{}:{step}", frames.first, frames.last));
            if frames.rate != RATE {
                put("fps", &format!("{:?}", frames.rate));
            }
        }
    }
    if let Some(compared) = compared {
        put("compare", &path.to_string_lossy());
        if frames.is_none() && compared.cycle != *cycle {
            put("compare-at", &compared.cycle.to_string());
        }
    }
    if *over != Over::default() {
        let value = over.to_possible_value();
        put("over", value.as_ref().map_or("cycles", |value| value.get_name()));
    }
    if let Some(cut) = cut {
        put("cut", &cut.to_string());
    }
    for Place { kind, area } in places {
        let area = area.map(|share| format!("{share:?}")).join(",");
        put("place", &format!("{}={area}", kind.name()));
    }
    let usual = FigureSpec::default();
    put("scale", figure.scale.name());
    put("map", figure.map.name());
    if let Some(range) = figure.range {
        put("range", &format!("{:?},{:?}", range.lo(), range.hi()));
    }
    if *kind != FigureKind::BareMap {
        put("size", &format!("{}x{}", figure.size[0], figure.size[1]));
    }
    if figure.dpi != SCREEN_DPI {
        put("dpi", &format!("{:?}", figure.dpi));
    }
    if let Some(font) = figure.font {
        put("font-size", &format!("{font:?}"));
    }
    if figure.theme != usual.theme {
        put("theme", figure.theme.name());
    }
    put("output", &path.to_string_lossy());
    for (flag, is_set) in [
        (" --absolute", figure.absolute),
        (" --borders", figure.borders),
        (" --no-annotations", !figure.annotations),
    ] {
        line.push_str(if is_set { flag } else { "" });
    }
    line
}
