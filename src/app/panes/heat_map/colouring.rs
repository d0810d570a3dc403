//! From values to a texture, and the range of its colours.

use crate::app::panes::heat_map::sides::Side;
use crate::app::state::kept_range::{HeldRange, ShownRange, shown_sweeps};
use crate::app::state::session::Session;
use crate::app::state::view_settings::{Colours, RangeMode, ViewSettings};
use crate::app::widgets::colour_bar::BINS;
use crate::picture::{self, ColourMap, End, Range, Scale, ScaleKind, shown_values};
use crate::run::{FieldKind, Picture, ProblemSpec, Report};
use eframe::egui::{ColorImage, TextureHandle, TextureOptions, Ui};
use std::borrow::Cow;

/// The colours of the map: its textures, and the range of the whole run.
#[derive(Default)]
pub struct Colouring {
    shown: Option<MapTextures>,
    /// Whether the texture is up to date.
    is_fresh: bool,
    /// The range that stays while a setting changes.
    held: Option<HeldRange>,
    /// The range of all shown frames of a run, and of the largest values of other cycles if known;
    /// with the epoch, field and colours that it belongs to.
    whole_run: Option<(u64, FieldKind, Colours, Range)>,
    /// The range of the last picture of the run itself: while the pinned run is shown in its place it stays, so that
    /// equal values keep their colours.
    own: Option<(FieldKind, Colours, Range)>,
}

/// The textures, and how they were coloured.
pub struct MapTextures {
    pub handle: TextureHandle,
    /// The compared picture, in the same colours.
    pub other: Option<TextureHandle>,
    /// Whether it is the difference of two fields.
    is_difference: bool,
    /// The problem of the run.
    problem: ProblemSpec,
    epoch: u64,
    /// Sweeps of the run until then.
    sweeps: u64,
    /// Whether the pinned run is shown in place of the run.
    flipped: bool,
    /// The shown field.
    pub field: FieldKind,
    pub colours: Colours,
    pub scale: Scale,
    /// Whether values lie beyond the lower and the upper end of the colours.
    pub clips: [bool; 2],
    /// Whether any value is infinite.
    pub has_infinite: bool,
    /// Counts of values per colour.
    pub histogram: Vec<u32>,
}

impl Colouring {
    /// The textures, once there are any.
    pub fn shown(&self) -> Option<&MapTextures> {
        self.shown.as_ref()
    }

    /// Takes a new picture.
    pub fn take(&mut self, report: &Report, view: &ViewSettings) {
        self.is_fresh = false;
        let Some(picture) = &report.observation.picture else {
            return;
        };
        let colours = *view.of_field(report.observation.field);
        let largest = match report.observation.field {
            FieldKind::Residual => report.largest.residual,
            FieldKind::Change => report.largest.change,
            _ => None,
        };
        let range = automatic(picture, &colours);
        // A space–time diagram has all cycles, and leaves out the largest values.
        let largest = largest.filter(|_| picture.cycles_per_row.is_none());
        let range = largest.map_or(range, |largest| up_to(range, largest, &colours));
        let known = self.whole_run.filter(|(epoch, field, known, _)| {
            *epoch == report.epoch
                && *field == report.observation.field
                && (known.scale, known.absolute) == (colours.scale, colours.absolute)
        });
        let range = known.map_or(range, |(.., known)| known.union(range));
        self.whole_run = Some((report.epoch, report.observation.field, colours, range));
    }

    /// Updates the textures if the pictures or their colours changed. Compared pictures have the
    /// same colours.
    pub fn refresh(&mut self, ui: &Ui, session: &Session, report: &Report, sides: &[Side<'_>]) {
        let Some((side, other)) = sides.split_first() else {
            return;
        };
        let (field, other) = (side.observation.field, other.first());
        let (is_difference, flipped) = (side.is_difference, session.flipped);
        let colours = match is_difference {
            true => DIFFERENCE,
            false => *session.view.of_field(field),
        };
        let known = self.shown.as_ref().filter(|shown| {
            (shown.colours, shown.field, shown.other.is_some()) == (colours, field, other.is_some())
                && (shown.is_difference, shown.flipped) == (is_difference, flipped)
        });
        if self.is_fresh && known.is_some() {
            return;
        }
        let ranges = sides.iter().map(|side| automatic(side.picture, &colours));
        let shown = ranges.reduce(Range::union);
        let before = known.map(|shown| ShownRange {
            range: shown.scale.range(),
            epoch: shown.epoch,
            sweeps: shown.sweeps,
            problem: &shown.problem,
        });
        let held = HeldRange::of(self.held, session, report, before);
        let own = self.own.filter(|(of, known, _)| flipped && (*of, *known) == (field, colours));
        let kept = held.map(|held| held.range).or(own.map(|(.., range)| range));
        let range = match (colours.range, kept, self.whole_run, shown) {
            (RangeMode::Locked(range), ..) => range,
            (RangeMode::Follow | RangeMode::WholeRun, Some(kept), ..) => kept,
            (RangeMode::WholeRun, _, Some((.., whole)), shown) => {
                shown.filter(|_| other.is_some()).map_or(whole, |shown| whole.union(shown))
            }
            (.., Some(shown)) => shown,
            _ => return,
        };
        self.held = held.or_else(|| HeldRange::moved(session, report, range));
        if !flipped {
            self.own = Some((field, colours, range));
        }
        let range = if is_difference { symmetric(range) } else { range };
        let scale = Scale::new(colours.scale, range);
        let (handles, others) = match self.shown.take() {
            Some(MapTextures { handle, other, .. }) => (Some(handle), other),
            None => (None, None),
        };
        let values = values(side.picture, &colours);
        let [cols, rows] = side.picture.samples.size;
        let Ok(samples) = picture::Samples::new(cols, rows, &values) else {
            return;
        };
        let clips = [samples.clip(&scale, End::Low), samples.clip(&scale, End::High)];
        let has_infinite = samples.has_infinite();
        let histogram = picture::histogram(&samples, &scale, BINS);
        let Some(handle) = texture(ui, "heat map", handles, side.picture, &colours, &scale) else {
            return;
        };
        let other = other.and_then(|side| {
            texture(ui, "compared heat map", others, side.picture, &colours, &scale)
        });
        self.shown = Some(MapTextures {
            problem: report.plan.spec.problem.clone(),
            epoch: report.epoch,
            sweeps: shown_sweeps(report),
            handle,
            other,
            is_difference,
            flipped,
            field,
            colours,
            scale,
            clips,
            has_infinite,
            histogram,
        });
        self.is_fresh = true;
    }
}

/// How the difference of two fields is coloured: by sign and magnitude, zero in the middle.
const DIFFERENCE: Colours = Colours {
    scale: ScaleKind::Symmetric,
    map: ColourMap::RedBlue,
    range: RangeMode::ThisFrame,
    absolute: false,
};

/// The range extended to be symmetric about zero.
fn symmetric(range: Range) -> Range {
    let end = range.lo().abs().max(range.hi().abs());
    Range::new(-end, end)
}

/// The texture of a picture, reusing an old one.
fn texture(
    ui: &Ui,
    name: &str,
    handle: Option<TextureHandle>,
    picture: &Picture,
    colours: &Colours,
    scale: &Scale,
) -> Option<TextureHandle> {
    let values = values(picture, colours);
    let [cols, rows] = picture.samples.size;
    let samples = picture::Samples::new(cols, rows, &values).ok()?;
    let mut pixels = Vec::new();
    picture::colours(&samples, scale, colours.map, &mut pixels);
    let image = ColorImage::from_rgba_unmultiplied([cols, rows], &pixels);
    Some(match handle {
        Some(mut handle) => {
            handle.set(image, TextureOptions::NEAREST);
            handle
        }
        None => ui.ctx().load_texture(name, image, TextureOptions::NEAREST),
    })
}

/// The values to colour.
fn values<'a>(picture: &'a Picture, colours: &Colours) -> Cow<'a, [f32]> {
    shown_values(&picture.samples.values, colours.scale, colours.absolute)
}

/// The range of a frame. In a space–time diagram the largest values are left out: those of the
/// initial guess would leave all other cycles dark.
fn automatic(picture: &Picture, colours: &Colours) -> Range {
    let values = values(picture, colours);
    let largest = match picture.cycles_per_row {
        Some(_) => largest_of_most(&values),
        None => f32::INFINITY,
    };
    Range::of(colours.scale, values.iter().copied().filter(|value| value.abs() <= largest))
}

/// The range, extended to a largest magnitude, unless signed values are shown: its sign is unknown.
fn up_to(range: Range, largest: f64, colours: &Colours) -> Range {
    let has_sign = colours.scale == ScaleKind::Linear && !colours.absolute;
    if has_sign || !largest.is_finite() {
        return range;
    }
    // Rounded as samples are.
    Range::new(range.lo(), range.hi().max((largest as f32).into()))
}

/// The 99th percentile of the magnitudes, estimated from a subset.
fn largest_of_most(values: &[f32]) -> f32 {
    const EVERY: usize = 7;
    let some = values.iter().step_by(EVERY).filter(|value| value.is_finite());
    let mut some: Vec<f32> = some.map(|value| value.abs()).collect();
    let index = some.len() - some.len() / 100;
    if index >= some.len() {
        return f32::INFINITY;
    }
    *some.select_nth_unstable_by(index, f32::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_whole_run_includes_its_largest_value_unless_its_sign_is_unknown() {
        let colours = |scale, absolute| Colours {
            scale,
            absolute,
            map: ColourMap::Inferno,
            range: RangeMode::WholeRun,
        };
        let reached = |scale, absolute, range: (f64, f64), largest| {
            up_to(range.into(), largest, &colours(scale, absolute))
        };
        let log = (0.25, 2.0);
        assert_eq!(reached(ScaleKind::Log, false, log, 8.0), (0.25, 8.0).into());
        assert_eq!(reached(ScaleKind::Linear, true, log, 8.0), (0.25, 8.0).into());
        assert_eq!(reached(ScaleKind::Linear, false, log, 8.0), log.into());
        let both_ways = Scale::new(
            ScaleKind::Symmetric,
            reached(ScaleKind::Symmetric, false, (-2.0, 2.0), 8.0),
        );
        assert_eq!(both_ways.range(), (-8.0, 8.0).into());
        // Except for rounding, the shown range includes the largest value.
        assert_eq!(reached(ScaleKind::Log, false, log, 2.0 - 1e-12), log.into());
        assert_eq!(reached(ScaleKind::Log, false, log, f64::INFINITY), log.into());
    }
}
