//! The command line that makes a figure.

use crate::picture::axis::scale::ScaleKind;
use crate::picture::draw::png::SCREEN_DPI;
use crate::picture::view::camera::Camera;
use crate::picture::view::figure_spec::FigureSpec;
use crate::picture::view::frames::{Pairing, RATE, Spacing};
use crate::picture::view::inside::InsideView;
use crate::picture::view::kind::{FigureKind, is_table};
use crate::picture::view::norm::Norm;
use crate::picture::view::over::Over;
use crate::picture::view::slow_link::SlowLink;
use crate::picture::view::spec::{PlacedFigure, ViewSpec};
use crate::run::{RunSpec, drawing_command_line, option};
use std::path::Path;

/// The command line that makes a figure of this run again, for a POSIX shell. Runs beside the first are
/// read from the figure itself, which has to be saved first.
pub fn figure_command(run: &RunSpec, view: &ViewSpec, path: &Path) -> String {
    let mut line = drawing_command_line(run);
    let mut put = |name: &str, value: &str| option(&mut line, name, value);
    // Options that would change nothing of what is drawn are refused.
    let uses = view.uses();
    let is_table = is_table(path) && view.frames.is_none();
    let has_page = view.kind.has_page() && !is_table;
    // An animation without transparency has the background of its theme.
    let has_theme = has_page || view.frames.is_some();
    let ViewSpec { cycle, field, kind, over, norm, cut, frames, figure, places, .. } = view;
    put("kind", kind.name());
    if uses.field {
        put("field", field.name());
    }
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
    if !view.compared.is_empty() {
        put("compare", &path.to_string_lossy());
    }
    if view.pairing != Pairing::default() {
        put("pair", view.pairing.name());
    }
    if let Some(until) = view.until.filter(|_| view.goes_on(run.problem.shape.len())) {
        put("until", &until.to_string());
    }
    if let Some(classic) = view.classic.filter(|_| uses.reference) {
        put("classic", &classic.to_string());
    }
    for (name, sweeps) in
        [("chebyshev", view.chebyshev), ("conjugate-gradients", view.conjugate_gradients)]
    {
        let is_drawn = uses.reference && (is_table || view.draws_accelerations());
        if let Some(sweeps) = sweeps.filter(|_| is_drawn) {
            put(name, &sweeps.to_string());
        }
    }
    for point in view.probes.iter().filter(|_| uses.probes) {
        put("probe", &point.to_string());
    }
    let usual = InsideView::default();
    let inside = if uses.inside { view.inside } else { usual };
    let [across, down] = inside.tile;
    if inside.all_of_line {
        put("follow", "all");
    } else if inside.tile != usual.tile {
        put("follow", &format!("{across},{down}"));
    }
    if inside.subiteration != usual.subiteration {
        put("subiteration", &inside.subiteration.to_string());
    }
    if inside.kind != usual.kind {
        put("inside-shows", inside.kind.name());
    }
    if *over != Over::default() && uses.over {
        put("over", over.name());
    }
    if *norm != Norm::default() && uses.norm {
        put("norm", norm.name());
    }
    if let Some(slice) = view.slice.filter(|_| uses.slice) {
        put("slice", &slice.to_string());
    }
    if let Some([i, j, k]) = view.through.filter(|_| uses.through) {
        put("through", &format!("{i},{j},{k}"));
    }
    let usual = Camera::default();
    let camera = if uses.camera { view.camera } else { usual };
    for (name, value, usual) in [
        ("azimuth", camera.azimuth, usual.azimuth),
        ("elevation", camera.elevation, usual.elevation),
        ("zoom", camera.zoom, usual.zoom),
    ] {
        if value != usual {
            put(name, &format!("{value:?}"));
        }
    }
    if view.slow_link != SlowLink::default() && uses.slow_link {
        put("slow-link", &view.slow_link.to_string());
    }
    if let Some(cut) = cut.filter(|_| uses.cut) {
        put("cut", &cut.text(view.slice));
    }
    for PlacedFigure { kind, area } in places.iter().filter(|_| *kind == FigureKind::ARRANGEMENT) {
        let area = area.map(|share| format!("{share:?}")).join(",");
        put("place", &format!("{}={area}", kind.name()));
    }
    let usual = FigureSpec::default();
    if uses.field && !is_table {
        put("scale", figure.scale.name());
    }
    if uses.colours && !is_table {
        put("map", figure.map.name());
    }
    if let Some(range) = figure.range.filter(|_| uses.range && !is_table) {
        put("range", &format!("{:?},{:?}", range.lo(), range.hi()));
    }
    // A table has as many samples as the figure.
    if kind.has_page() {
        put("size", &format!("{}x{}", figure.size[0], figure.size[1]));
    }
    if figure.dpi != SCREEN_DPI && has_page {
        put("dpi", &format!("{:?}", figure.dpi));
    }
    if let Some(font) = figure.font.filter(|_| has_page) {
        put("font-size", &format!("{font:?}"));
    }
    if figure.theme != usual.theme && has_theme {
        put("theme", figure.theme.name());
    }
    put("output", &path.to_string_lossy());
    let is_absolute = figure.absolute && figure.scale == ScaleKind::Linear;
    let is_absolute = is_absolute && uses.absolute && !is_table;
    for (flag, is_set) in [
        (" --projection", view.projection && uses.projection),
        (" --log-x", view.log_x && uses.over),
        (" --asymptotic-rate", view.asymptotic_rate && uses.rate),
        (" --absolute", is_absolute),
        (" --borders", figure.borders && uses.borders && has_page),
        (" --no-annotations", !figure.annotations && has_page),
    ] {
        line.push_str(if is_set { flag } else { "" });
    }
    line
}
