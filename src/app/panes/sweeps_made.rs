//! The planes of the grid in the colours of the sweeps that they have in the pass under way, in a strip and over the map: it
//! moves while a pass is made, and a pass can be stepped through while the run is paused.

use crate::app::panes::pane_type::PaneContext;
use crate::app::state::session::Session;
use crate::app::widgets::labels::named;
use crate::grid::Slice;
use crate::number::{grouped, seconds};
use crate::picture::{ColourMap, PassPicture};
use crate::run::{Phase, Report};
use crate::solver::PassMoment;
use eframe::egui::emath::RectTransform;
use eframe::egui::{
    Color32, Id, Label, Rect, Response, RichText, Sense, Slider, TextStyle, TextWrapMode, Ui, Vec2,
    WidgetInfo, WidgetText, accesskit::Role, vec2,
};
use std::time::Duration;

/// Height of the strip, and the size of the colours in its legend, in points.
const HEIGHT: f32 = 18.0;
const LEGEND: Vec2 = vec2(90.0, 10.0);

/// The shortest slider with which moments can be told apart, in points.
const SHORTEST_SLIDER: f32 = 60.0;

/// The most columns of the strip.
const COLUMNS: usize = 512;

/// A pass that takes less, in seconds, is over before it can be followed.
const SHORTEST: f64 = 0.1;

/// Time between two pictures of a pass under way.
const EVERY: Duration = Duration::from_millis(33);

/// How much of the map the colours of sweeps hide.
const OVER_MAP: f32 = 0.5;

/// Draws the strip of a pass, the moment that it shows, and what its colours mean.
pub(super) fn ui(ui: &mut Ui, pass: &PassPicture, context: &PaneContext<'_>) {
    let moment = match context.report.filter(|report| is_moving(report, context.session)) {
        Some(report) => {
            let (moment, text) = under_way(ui, pass, report);
            ui.add(Label::new(text).truncate());
            // A pause begins at the beginning of a pass.
            ui.data_mut(|data| data.insert_temp(Id::unique(CHOSEN), 0_usize));
            moment
        }
        None => chosen(ui, pass),
    };
    let n = pass.streaming.height();
    let colour = |sweeps| colour(sweeps, n);
    let sweeps = pass.sweeps_across(moment, pass.planes().min(COLUMNS));
    let size = vec2(ui.available_width(), HEIGHT);
    let about = "The planes from the first to the last, in the colours of the sweeps that they have in this pass, as over the map: those in fast memory by what it has of them, the others by what lies in slow memory.";
    let strip = columns(ui, size, &sweeps, colour);
    strip.widget_info(|| WidgetInfo::labeled(Role::Image, true, "Planes by sweeps"));
    strip.on_hover_text(about);
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.label(RichText::new("Planes with 0").small());
        let all: Vec<_> = (0..COLUMNS).map(|column| column * (n + 1) / COLUMNS).collect();
        columns(ui, LEGEND, &all, colour);
        let end = format!("{} sweeps of this pass", grouped(n as u64));
        ui.label(RichText::new(end).small());
    });
}

/// Colours the planes of the map as the strip does, while the pass is neither at its beginning nor over; returns whether it
/// does. A slice across the last axis is a single plane, and has no colour.
pub(super) fn over_map(
    ui: &Ui,
    area: Rect,
    map: &RectTransform,
    session: &Session,
    report: &Report,
) -> bool {
    let (shape, pass) = (&report.plan.problem.shape, PassPicture::of(&report.plan));
    let slice = Slice::shown(session.view.slice, shape);
    let has_planes = shape.dim() > 1 && slice.is_none_or(|slice| slice.axis < 2);
    let Some(pass) = pass.filter(|_| has_planes) else { return false };
    let moment = match is_moving(report, session) {
        true => under_way(ui, &pass, report).0,
        false => pass.moment(chosen_number(ui, &pass)),
    };
    if [pass.moment(0), pass.moment(pass.moments())].contains(&moment) {
        return false;
    }
    let columns = shape.axes()[slice.map_or(0, |slice| slice.axes()[0])] as f32;
    let planes = pass.sweeps_across(moment, pass.planes());
    let painter = ui.painter().with_clip_rect(area);
    let mut first = 0;
    for equal in planes.chunk_by(|one, other| one == other) {
        let last = first + equal.len();
        let rows =
            map.transform_rect(Rect::from_x_y_ranges(0.0..=columns, first as f32..=last as f32));
        let colour = colour(equal[0], pass.streaming.height());
        painter.rect_filled(rows, 0.0, colour.gamma_multiply(OVER_MAP));
        first = last;
    }
    true
}

/// The colour of planes that have made some of the sweeps of a pass.
fn colour(sweeps: usize, of: usize) -> Color32 {
    let table = ColourMap::Viridis.table();
    let [red, green, blue, _] = table[sweeps * (table.len() - 1) / of];
    Color32::from_rgb(red, green, blue)
}

/// Whether the run makes cycles.
fn is_moving(report: &Report, session: &Session) -> bool {
    session.running
        && report.epoch == session.epoch
        && matches!(report.phase, Phase::Running | Phase::CatchingUp)
}

/// The moment of the pass under way, and in words. Where it cannot be followed, all planes have its sweeps.
fn under_way(ui: &Ui, pass: &PassPicture, report: &Report) -> (PassMoment, String) {
    let over = pass.moment(pass.moments());
    let taken = report.passes.last().map(|last| last.seconds);
    match (&report.pass_progress, taken) {
        (None, _) => {
            (over, "A pass cannot be followed here: pause to step through one.".to_owned())
        }
        (_, Some(taken)) if taken < SHORTEST => {
            let text = format!("A pass takes {}: pause to step through one.", seconds(taken));
            (over, text)
        }
        (Some(progress), _) => {
            ui.ctx().request_repaint_after(EVERY);
            let moment = progress.moment();
            (moment, format!("{}.", pass.moment_title(moment)))
        }
    }
}

/// Where the chosen moment of a pass is remembered.
const CHOSEN: &str = "moment of a pass";

/// The number of the chosen moment of a pass.
fn chosen_number(ui: &Ui, pass: &PassPicture) -> usize {
    let number = ui.data(|data| data.get_temp(Id::unique(CHOSEN)));
    number.unwrap_or(0).min(pass.moments())
}

/// The moment that is chosen of a pass.
fn chosen(ui: &mut Ui, pass: &PassPicture) -> PassMoment {
    let (all, mut number) = (pass.moments(), chosen_number(ui, pass));
    let title = |number| format!("{}.", pass.moment_title(pass.moment(number)));
    ui.horizontal(|ui| {
        // The text after the slider has room for its longest, so that the slider keeps its length while it is dragged.
        let longest = WidgetText::from(title(all.saturating_sub(1)));
        let mode = Some(TextWrapMode::Extend);
        let text = longest.into_galley(ui, mode, f32::INFINITY, TextStyle::Body).size().x;
        let room = ui.available_width() - text - 2.0 * ui.spacing().item_spacing.x;
        ui.spacing_mut().slider_width = room.max(SHORTEST_SLIDER);
        let slider = ui.add(Slider::new(&mut number, 0..=all).show_value(false));
        let about = "A moment of a pass: sweep by sweep of each slab of a pyramid, or chunk of the wavefront.";
        named(slider, "Moment of a pass").on_hover_text(about);
        ui.add(Label::new(title(number)).truncate());
    });
    ui.data_mut(|data| data.insert_temp(Id::unique(CHOSEN), number));
    pass.moment(number)
}

/// A row of columns, each in the colour of a number of sweeps.
fn columns(
    ui: &mut Ui,
    size: Vec2,
    sweeps: &[usize],
    colour: impl Fn(usize) -> Color32,
) -> Response {
    let (rect, response) = ui.allocate_exact_size(size, Sense::hover());
    let at = |column: usize| rect.left() + rect.width() * column as f32 / sweeps.len() as f32;
    let mut first = 0;
    for equal in sweeps.chunk_by(|one, other| one == other) {
        // Up to the end, over which the next ones lie: so there are no seams.
        let rest = Rect::from_x_y_ranges(at(first)..=rect.right(), rect.y_range());
        ui.painter().rect_filled(rest, 0.0, colour(equal[0]));
        first += equal.len();
    }
    response
}
