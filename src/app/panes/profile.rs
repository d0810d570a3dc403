//! Profiles: fields along a line of the grid.

use crate::app::panes::heat_map::Marks;
use crate::app::panes::pane_type::{PaneContext, PaneType, Slot};
use crate::app::state::command::Command;
use crate::app::state::compared::{Compared, Place};
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::widgets::labels::named;
use crate::app::widgets::plot::{LABEL_ROOM, VALUE_ROOM, counting_axis, decades, power, steps};
use crate::app::widgets::{cut_line, legend, theme};
use crate::grid::{Need, Shape};
use crate::picture::{FigureKind, grouped, number};
use crate::run::{
    CutLine, FieldKind, FieldProfile, ObservationRequest, Plan, ProfileRequest, Report,
};
use eframe::egui::{self, Color32, ComboBox, PopupCloseBehavior, RichText, Ui};
use egui_plot::{HoverPosition, Line, Plot, PlotPoints, VLine, uniform_grid_spacer};
use std::f64::consts::SQRT_2;

/// Samples of a profile: as many as any screen has pixels across.
const MOST_SAMPLES: usize = 2048;

/// The largest number of tiles along a line whose borders are drawn.
const MOST_BORDERS: usize = 128;

/// A profile of the run or of a pinned run.
struct Profile<'a> {
    name: String,
    colour: Color32,
    along: &'a FieldProfile,
    /// The divisor, so that several fields fit into one plot.
    unit: f64,
}

/// Fields along a line of the grid.
pub struct ProfilePane;

/// Its name in files.
pub const ID: PaneId = PaneId("profile");

impl PaneType for ProfilePane {
    fn id(&self) -> PaneId {
        ID
    }

    fn old_names(&self) -> &'static [&'static str] {
        &["cut"]
    }

    fn title(&self) -> &'static str {
        "Profile"
    }

    fn about(&self) -> &'static str {
        "Fields along a line over the map, with tile borders."
    }

    fn slot(&self) -> Slot {
        Slot::BottomRight
    }

    fn is_shown_at_first(&self) -> bool {
        true
    }

    fn shows(&self, kind: FigureKind) -> bool {
        kind == FigureKind::PROFILE
    }

    fn figure(&self, _: &Session) -> Option<FigureKind> {
        Some(FigureKind::PROFILE)
    }

    fn request(&self, session: &Session, request: &mut ObservationRequest) {
        let fields = session.cut_fields();
        request.error |= fields.contains(&FieldKind::Error);
        request.cut = Some(ProfileRequest { line: session.cut_line(), fields, most: MOST_SAMPLES });
    }

    fn mark(&self, session: &Session, marks: &mut Marks) {
        let is_2d = session.spec.problem.shape.len() > 1;
        marks.cut = is_2d.then(|| session.cut_line());
    }

    fn need(&self) -> Need {
        Need::Grid
    }

    fn draw(&self, ui: &mut Ui, context: &mut PaneContext<'_>) {
        let PaneContext { session, report, compared, map, commands, .. } = context;
        map.point_at(self::ui(ui, session, *report, compared, commands));
    }
}

/// Draws the profiles with tile borders, and returns the point of the grid under the cursor. Pinned
/// runs are drawn if there is one field.
fn ui(
    ui: &mut Ui,
    session: &Session,
    report: Option<&Report>,
    compared: &[Compared],
    commands: &mut Vec<Command>,
) -> Option<[usize; 2]> {
    let report = report?;
    let shape = report.plan.problem.shape;
    controls(ui, session, &shape, commands);
    let is_known =
        |along: &&FieldProfile| along.samples.values.iter().any(|value| value.is_finite());
    let known: Vec<_> = report.observation.along.iter().filter(is_known).collect();
    for along in report.observation.along.iter().filter(|along| !is_known(along)) {
        ui.label(RichText::new(unknown(report, along.field)).weak());
    }
    if known.is_empty() {
        return None;
    }
    let log = session.look.cut.log;
    let profiles = match known[..] {
        [along] => of_runs(ui, session, report, along, compared),
        _ => of_fields(ui, &known, log),
    };
    plot(ui, &profiles, log, &report.plan)
}

fn controls(ui: &mut Ui, session: &Session, shape: &Shape, commands: &mut Vec<Command>) {
    let mut look = session.look.clone();
    let before = session.cut_line().within(shape);
    let mut line = before;
    ui.horizontal_wrapped(|ui| {
        let cut = &mut look.cut;
        let is_plane = shape.dim() == 2;
        if is_plane {
            cut_line::kinds(ui, &mut line, shape);
        }
        let text = match session.cut_fields().len() {
            1 => session.look.field.label().to_owned(),
            count => format!("{count} fields"),
        };
        let combo = ComboBox::from_id_salt("cut fields")
            .width(92.0)
            .selected_text(text)
            .close_behavior(PopupCloseBehavior::CloseOnClickOutside);
        let response = combo.show_ui(ui, |ui| {
            for field in FieldKind::ALL {
                let of_map = field == session.look.field;
                let mut shown = of_map || cut.more.contains(&field);
                let check = egui::Checkbox::new(&mut shown, field.label());
                let check = ui.add_enabled(!of_map, check).on_hover_text(field.about());
                if check.on_disabled_hover_text("The field of the map is always shown.").changed() {
                    cut.more.retain(|other| *other != field);
                    cut.more.extend(shown.then_some(field));
                }
            }
        });
        named(response.response, "Fields of the profile")
            .on_hover_text("Fields to draw in addition to that of the map. If the map's field is the only one, pinned runs are drawn too (beyond 1024² points, only the run that the map is compared with).");
        ui.checkbox(&mut cut.log, "Log").on_hover_text(
            "Draw magnitudes on a logarithmic axis. On a linear axis, several fields are each divided by their largest magnitude.",
        );
        if is_plane {
            cut_line::numbers(ui, &mut line, shape);
        }
    });
    commands.extend((line != before).then_some(Command::CutAlong(line)));
    if look != session.look {
        commands.push(Command::Look(look));
    }
}

/// One field of the run and of pinned ones.
fn of_runs<'a>(
    ui: &Ui,
    session: &Session,
    report: &Report,
    along: &'a FieldProfile,
    compared: &'a [Compared],
) -> Vec<Profile<'a>> {
    let mut names = session.pins.names(&report.plan.spec);
    let own = names.pop().unwrap_or_default();
    let name = |name: String, cycle| format!("{name} · cycle {}", grouped(cycle));
    let pinned = session.pins.all().iter().zip(names).filter_map(|(pin, pinned)| {
        let mut seen = compared.iter().filter(|seen| seen.asked.number == pin.number);
        let Compared { observation: seen, .. } =
            seen.find(|seen| seen.asked.place == Place::Cut)?;
        let along = seen
            .along
            .first()
            .filter(|other| (other.line, other.field) == (along.line, along.field))?;
        let colour = theme::pin(ui, pin.number);
        Some(Profile { name: name(pinned, seen.cycle), colour, along, unit: 1.0 })
    });
    let mut profiles: Vec<_> = pinned.collect();
    let own = match profiles.is_empty() {
        true => along.field.label().to_owned(),
        false => name(own, report.observation.cycle),
    };
    profiles.push(Profile { name: own, colour: theme::curve(ui, 0), along, unit: 1.0 });
    profiles
}

/// Several fields of the run.
fn of_fields<'a>(ui: &Ui, known: &[&'a FieldProfile], log: bool) -> Vec<Profile<'a>> {
    let largest = |along: &FieldProfile| {
        let sizes = along.samples.values.iter().map(|value| f64::from(value.abs()));
        sizes.filter(|size| size.is_finite()).fold(0.0, f64::max)
    };
    let profile = |(index, &along): (usize, &&'a FieldProfile)| Profile {
        name: along.field.label().to_owned(),
        colour: theme::curve(ui, index),
        along,
        unit: if !log && largest(along) > 0.0 { largest(along) } else { 1.0 },
    };
    known.iter().enumerate().map(profile).collect()
}

/// Draws the profiles, and returns the point of the line under the cursor.
fn plot(ui: &mut Ui, profiles: &[Profile<'_>], log: bool, plan: &Plan) -> Option<[usize; 2]> {
    let line = profiles.first()?.along.line;
    let shape = &plan.problem.shape;
    let borders = line.borders(shape, &plan.tiling);
    let is_told = borders.len() < MOST_BORDERS;
    if profiles.len() > 1 {
        let names = profiles.iter().map(|profile| (profile.name.clone(), profile.colour));
        legend::ui(ui, &names.collect::<Vec<_>>());
    }
    let faint = ui.visuals().widgets.noninteractive.bg_stroke.color;
    let mut plot = Plot::new("profile")
        .height(ui.available_height())
        .width(ui.available_width() - LABEL_ROOM)
        .x_grid_spacer(uniform_grid_spacer(|input| steps(input.base_step_size)))
        .custom_x_axes(vec![counting_axis(line.axis_label())])
        .y_axis_min_width(VALUE_ROOM)
        .y_axis_formatter(move |mark, _| if log { power(mark.value) } else { number(mark.value) })
        .allow_scroll(false)
        .grid_color(theme::grid(ui));
    if log {
        plot = plot.y_grid_spacer(uniform_grid_spacer(|input| decades(input.base_step_size)));
    }
    let curves: Vec<_> = profiles.iter().map(|profile| curve(profile, shape, log)).collect();
    let units: Vec<_> =
        profiles.iter().map(|profile| (profile.name.clone(), profile.unit)).collect();
    let plot = plot.label_formatter(|hover| Some(read_off(hover, line, log, &units, plan))).show(
        ui,
        |plot| {
            // More borders than can be distinguished would be a grey area.
            for border in borders.into_iter().take_while(|_| is_told) {
                plot.vline(VLine::new("", border).color(faint).width(1.0).allow_hover(false));
            }
            for (points, profile) in curves.into_iter().zip(profiles) {
                plot.line(Line::new(&profile.name, points).color(profile.colour).width(1.5));
            }
        },
    );
    let pointer = plot.response.hover_pos()?;
    point_at(line, shape, plot.transform.value_from_position(pointer).x)
}

/// The point of a line nearest to a position along it; `None` beyond its ends.
fn point_at(line: CutLine, shape: &Shape, place: f64) -> Option<[usize; 2]> {
    let distance = |point: &[usize; 2]| (line.place(*point) - place).abs();
    let nearest = line.points(shape).min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    // Consecutive points are at most a diagonal apart.
    (distance(&nearest) <= SQRT_2 / 2.0).then_some(nearest)
}

/// The points of a profile as they are drawn.
fn curve(profile: &Profile<'_>, shape: &Shape, log: bool) -> PlotPoints<'static> {
    let points = profile.along.points(shape).into_iter();
    let drawn = points
        .map(|[at, value]| [at, if log { value.abs().log10() } else { value / profile.unit }]);
    drawn.filter(|[_, y]| y.is_finite()).collect()
}

/// The text at the cursor: the point, its value, and its distance from a tile border.
fn read_off(
    hover: &HoverPosition<'_>,
    line: CutLine,
    log: bool,
    units: &[(String, f64)],
    plan: &Plan,
) -> String {
    let (name, at) = match hover {
        HoverPosition::NearDataPoint { plot_name, position, .. } => (*plot_name, *position),
        HoverPosition::Elsewhere { position } => ("", *position),
    };
    let unit = units.iter().find(|(other, _)| other == name).map(|(_, unit)| *unit);
    let value = if log { 10f64.powf(at.y) } else { at.y * unit.unwrap_or(1.0) };
    let name = if name.is_empty() { String::new() } else { format!("{name}\n") };
    let shape = &plan.problem.shape;
    let Some([i, j]) = point_at(line, shape, at.x) else {
        return format!("{name}{}", number(value));
    };
    let border = match plan.tiling.distance(&[i, j]) {
        Some(1) => ", at a tile border".to_owned(),
        Some(distance) => format!(", {distance} points from a tile border"),
        None => String::new(),
    };
    let [across, down] = plan.tiling.owner([i, j]);
    let (place, tile) = match shape.dim() {
        1 => (format!("i {i}"), across.to_string()),
        _ => (format!("i {i}, j {j}"), format!("({across}, {down})")),
    };
    format!("{name}{place}\n{}\ntile {tile}{border}", number(value))
}

/// Why there is no profile of a field.
fn unknown(report: &Report, field: FieldKind) -> String {
    let picture = report.observation.picture.as_ref();
    match (field, picture.and_then(|picture| picture.cycles_per_row)) {
        (FieldKind::Staleness, Some(cycles)) => format!(
            "Exact Jacobi is not at this cycle; the diagram compares every {}.",
            if cycles > 1 { format!("{cycles} cycles") } else { "cycle".to_owned() },
        ),
        _ => format!("The {} is unknown at this cycle.", field.name()),
    }
}
