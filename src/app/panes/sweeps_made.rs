//! The planes of the grid in the colours of the sweeps that they have in the pass under way: it moves while a pass is
//! made, and a pass can be stepped through while the run is paused.

use crate::app::panes::pane_type::PaneContext;
use crate::app::widgets::labels::named;
use crate::number::{grouped, seconds};
use crate::picture::{ColourMap, PassPicture};
use crate::run::{Phase, Report};
use crate::solver::PassMoment;
use eframe::egui::{
    Color32, Id, Label, Rect, Response, RichText, Sense, Slider, Ui, Vec2, WidgetInfo,
    accesskit::Role, vec2,
};
use std::time::Duration;

/// Height of the strip, and the size of the colours in its legend, in points.
const HEIGHT: f32 = 18.0;
const LEGEND: Vec2 = vec2(90.0, 10.0);

/// The most columns of the strip.
const COLUMNS: usize = 512;

/// A pass that takes less, in seconds, is over before it can be followed.
const SHORTEST: f64 = 0.1;

/// Time between two pictures of a pass under way.
const EVERY: Duration = Duration::from_millis(33);

/// Draws the strip of a pass, the moment that it shows, and what its colours mean.
pub(super) fn ui(ui: &mut Ui, pass: &PassPicture, context: &PaneContext<'_>) {
    let moment = match context.report.filter(|report| is_moving(report, context)) {
        Some(report) => under_way(ui, pass, report),
        None => chosen(ui, pass),
    };
    let n = pass.streaming.height();
    let colour = |sweeps: usize| {
        let table = ColourMap::Viridis.table();
        let [red, green, blue, _] = table[sweeps * (table.len() - 1) / n];
        Color32::from_rgb(red, green, blue)
    };
    let sweeps = pass.sweeps_across(moment, pass.planes().min(COLUMNS));
    let size = vec2(ui.available_width(), HEIGHT);
    let about = "The planes from the first to the last, in the colours of the sweeps that they have in this pass: those in fast memory by what it has of them, the others by what lies in slow memory.";
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

/// Whether the run makes cycles.
fn is_moving(report: &Report, context: &PaneContext<'_>) -> bool {
    context.session.running
        && report.epoch == context.session.epoch
        && matches!(report.phase, Phase::Running | Phase::CatchingUp)
}

/// The moment of the pass under way, in words. Where it cannot be followed, all planes have its sweeps.
fn under_way(ui: &mut Ui, pass: &PassPicture, report: &Report) -> PassMoment {
    let over = pass.moment(pass.moments());
    let taken = report.passes.last().map(|last| last.seconds);
    let (moment, text) = match (&report.pass_progress, taken) {
        (None, _) => (over, "Passes on this device are not followed.".to_owned()),
        (_, Some(taken)) if taken < SHORTEST => {
            let text = format!("A pass takes {}: pause to step through one.", seconds(taken));
            (over, text)
        }
        (Some(progress), _) => {
            ui.ctx().request_repaint_after(EVERY);
            let moment = progress.moment();
            (moment, format!("{}.", pass.moment_title(moment)))
        }
    };
    ui.add(Label::new(text).truncate());
    moment
}

/// The moment that is chosen of a pass.
fn chosen(ui: &mut Ui, pass: &PassPicture) -> PassMoment {
    let id = Id::unique("moment of a pass");
    let all = pass.moments();
    let mut number = ui.data(|data| data.get_temp(id)).unwrap_or(0).min(all);
    ui.horizontal(|ui| {
        let slider = ui.add(Slider::new(&mut number, 0..=all).show_value(false));
        let about = "A moment of a pass: sweep by sweep of each slab of a pyramid, or chunk of the wavefront.";
        named(slider, "Moment of a pass").on_hover_text(about);
        let title = format!("{}.", pass.moment_title(pass.moment(number)));
        ui.add(Label::new(title).truncate());
    });
    ui.data_mut(|data| data.insert_temp(id, number));
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
