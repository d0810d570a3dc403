//! Profiles: fields along a line of the grid.

use crate::app::panes::heat_map::Marks;
use crate::app::panes::pane_type::{PaneContext, PaneType, Slot};
use crate::app::state::command::Command;
use crate::app::state::compared::{Compared, ComparisonTarget};
use crate::app::state::kept_range::KeptRange;
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::widgets::labels::{explained, labelled, named};
use crate::app::widgets::{cut_line, plot, theme};
use crate::grid::{Geometry, Need, Shape, Slice};
use crate::picture::{
    FigureKind, Plot, ScaleKind, Series, VerticalLines, grouped, number, profile_plot, value_label,
};
use crate::run::{
    CutLine, FieldKind, FieldProfile, ObservationRequest, Plan, ProfileRequest, Report,
};
use eframe::egui::{self, ComboBox, PopupCloseBehavior, RichText, Ui};
use std::f64::consts::SQRT_2;

/// Samples of a profile: as many as any screen has pixels across.
const MAX_SAMPLES: usize = 2048;

/// A field along the cut, of the run or of a pinned one.
struct ProfileCurve<'a> {
    name: String,
    colour: [u8; 3],
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
        let (line, fields) = (session.profile_line(), session.profile_fields());
        let slice = session.view.slice;
        request.profile = Some(ProfileRequest { line, slice, fields, most: MAX_SAMPLES });
    }

    fn mark(&self, session: &Session, marks: &mut Marks) {
        let has_lines = session.spec.problem.shape.len() > 1;
        marks.cut = has_lines.then(|| session.profile_line());
    }

    fn need(&self) -> Need {
        Need::Grid
    }

    fn draw(&self, ui: &mut Ui, context: &mut PaneContext<'_>) {
        let PaneContext { session, report, compared, map, pictures, commands, .. } = context;
        let range = &mut pictures.of(ID).range;
        map.point_at(self::ui(ui, range, session, *report, compared, commands));
    }
}

/// Draws the profiles with tile borders, and returns the point of the grid under the cursor. Pinned
/// runs are drawn if there is one field.
fn ui(
    ui: &mut Ui,
    range: &mut KeptRange,
    session: &Session,
    report: Option<&Report>,
    compared: &[Compared],
    commands: &mut Vec<Command>,
) -> Option<[usize; 2]> {
    let report = report?;
    controls(ui, session, &report.plan, commands);
    let is_known =
        |along: &&FieldProfile| along.samples.values.iter().any(|value| value.is_finite());
    let known: Vec<_> = report.observation.profiles.iter().filter(is_known).collect();
    for along in report.observation.profiles.iter().filter(|along| !is_known(along)) {
        ui.label(RichText::new(unknown(report, along.field)).weak());
    }
    if known.is_empty() {
        return None;
    }
    let mut values = known.iter().flat_map(|along| &along.samples.values);
    if compared.is_empty() && values.all(|&value| value == 0.0) {
        ui.label(RichText::new("0 everywhere along the line.").weak());
        return None;
    }
    let log = session.view.profile.log;
    let profiles = match known[..] {
        [along] => of_runs(ui, session, report, along, compared),
        _ => of_fields(ui, &known, log),
    };
    let mut plot = description(ui, &profiles, log, &report.plan);
    range.hold(&mut plot, session, report, session.view.field);
    paint(ui, &plot, &profiles, &report.plan)
}

fn controls(ui: &mut Ui, session: &Session, plan: &Plan, commands: &mut Vec<Command>) {
    let slice = Slice::shown(session.view.slice, &plan.problem.shape);
    let shown = plan.shown(slice);
    let shape = shown.shape();
    let mut view = session.view.clone();
    let before = session.profile_line().within(shape);
    let mut line = before;
    ui.horizontal_wrapped(|ui| {
        let cut = &mut view.profile;
        let is_plane = shape.dim() == 2;
        if is_plane {
            cut_line::kinds(ui, &mut line, &shown);
        }
        let text = match session.profile_fields().len() {
            1 => session.view.field.label().to_owned(),
            count => format!("{count} fields"),
        };
        let combo = ComboBox::from_id_salt("cut fields")
            .width(92.0)
            .selected_text(text)
            .close_behavior(PopupCloseBehavior::CloseOnClickOutside);
        let response = combo.show_ui(ui, |ui| {
            for field in FieldKind::ALL {
                let of_map = field == session.view.field;
                let mut shown = of_map || cut.more.contains(&field);
                let check = egui::Checkbox::new(&mut shown, field.label());
                let about = if of_map { "The field of the map is always shown." } else { field.about() };
                if explained(ui.add_enabled(!of_map, check), about).changed() {
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
            cut_line::numbers(ui, &mut line, shape, slice);
        }
        if let Some(slice) = slice {
            let about = "The slice in which the line lies: that of the map.";
            ui.label(format!("at {}", slice.label())).on_hover_text(about);
        }
    });
    commands.extend((line != before).then_some(Command::SetProfileLine(line)));
    if view != session.view {
        commands.push(Command::SetView(view));
    }
}

/// One field of the run and of pinned ones.
fn of_runs<'a>(
    ui: &Ui,
    session: &Session,
    report: &Report,
    along: &'a FieldProfile,
    compared: &'a [Compared],
) -> Vec<ProfileCurve<'a>> {
    let mut names = session.pins.names(&report.plan.spec);
    let own = names.pop().unwrap_or_default();
    let name = |name: String, cycle| format!("{name} · cycle {}", grouped(cycle));
    let pinned = session.pins.all().iter().zip(names).filter_map(|(pin, pinned)| {
        let mut seen = compared.iter().filter(|seen| seen.request.number == pin.number);
        let Compared { observation: seen, .. } =
            seen.find(|seen| seen.request.place == ComparisonTarget::Profile)?;
        let of = |profile: &FieldProfile| (profile.line, profile.slice, profile.field);
        let along = seen.profiles.first().filter(|other| of(other) == of(along))?;
        let colour = theme::of_figures(ui).beside(pin.number);
        Some(ProfileCurve { name: name(pinned, seen.cycle), colour, along, unit: 1.0 })
    });
    let mut profiles: Vec<_> = pinned.collect();
    let own = match profiles.is_empty() {
        true => along.field.label().to_owned(),
        false => name(own, report.observation.cycle),
    };
    profiles.push(ProfileCurve {
        name: own,
        colour: theme::of_figures(ui).curve(0),
        along,
        unit: 1.0,
    });
    profiles
}

/// Several fields of the run.
fn of_fields<'a>(ui: &Ui, known: &[&'a FieldProfile], log: bool) -> Vec<ProfileCurve<'a>> {
    let largest = |along: &FieldProfile| {
        let sizes = along.samples.values.iter().map(|value| f64::from(value.abs()));
        sizes.filter(|size| size.is_finite()).fold(0.0, f64::max)
    };
    let profile = |(index, &along): (usize, &&'a FieldProfile)| ProfileCurve {
        name: along.field.label().to_owned(),
        colour: theme::of_figures(ui).curve(index),
        along,
        unit: if !log && largest(along) > 0.0 { largest(along) } else { 1.0 },
    };
    known.iter().enumerate().map(profile).collect()
}

/// The plot of profiles, of which there is one at least.
fn description(ui: &Ui, profiles: &[ProfileCurve<'_>], log: bool, plan: &Plan) -> Plot {
    let first = profiles[0].along;
    let (line, slice) = (first.line, first.slice);
    let shown = plan.shown(slice);
    let shape = shown.shape();
    let scale = if log { ScaleKind::Log } else { ScaleKind::Linear };
    let is_one = profiles.len() == 1;
    let series = profiles.iter().map(|profile| {
        let name = if is_one { "" } else { &profile.name };
        Series::line(name, points(profile, shape, log), profile.colour)
    });
    let is_one_field = profiles.iter().all(|profile| profile.along.field == first.field);
    let value = match (is_one_field, log) {
        (true, _) => value_label(first.field, scale, false),
        (false, true) => "magnitude".to_owned(),
        (false, false) => "relative to the largest magnitude".to_owned(),
    };
    let places = line.borders(shape, shown.tiling());
    let devices = [0, 1].map(|axis| plan.device_borders_along(axis, slice));
    let devices = line.device_borders(shape, &devices);
    let theme = theme::of_figures(ui);
    let marks = vec![
        VerticalLines { places, colour: theme.borders() },
        VerticalLines { places: devices, colour: theme.reference() },
    ];
    profile_plot(series.collect(), marks, &line.axis_label(slice), &value, scale)
}

/// Paints the profiles, and returns the point of the line under the cursor.
fn paint(
    ui: &mut Ui,
    plot: &Plot,
    profiles: &[ProfileCurve<'_>],
    plan: &Plan,
) -> Option<[usize; 2]> {
    let FieldProfile { line, slice, .. } = *profiles.first()?.along;
    let shown = plan.shown(slice);
    let units: Vec<_> =
        profiles.iter().map(|profile| (profile.name.clone(), profile.unit)).collect();
    let frame = plot::Frame {
        id: "profile",
        height: ui.available_height(),
        cursor: None,
        has_legend: true,
    };
    let painted = plot::ui(ui, &frame, plot, |at| {
        let unit =
            |name: &str| units.iter().find(|(other, _)| other == name).map_or(1.0, |it| it.1);
        let values = at.values().map(|(name, value)| labelled(name, &number(value * unit(name))));
        let lines: Vec<_> =
            place_label(at.x, line, &shown, slice).into_iter().chain(values).collect();
        Some(lines.join("\n"))
    });
    point_at(line, shown.shape(), painted.pointer?)
}

/// The point of a line nearest to a position along it; `None` beyond its ends.
fn point_at(line: CutLine, shape: &Shape, place: f64) -> Option<[usize; 2]> {
    let distance = |point: &[usize; 2]| (line.place(*point) - place).abs();
    let nearest = line.points(shape).min_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    // Consecutive points are at most a diagonal apart.
    (distance(&nearest) <= SQRT_2 / 2.0).then_some(nearest)
}

/// The points of a profile as they are drawn.
fn points(profile: &ProfileCurve<'_>, shape: &Shape, log: bool) -> Vec<(f64, f64)> {
    let points = profile.along.points(shape).into_iter();
    let shown = |value: f64| if log { value.abs() } else { value / profile.unit };
    points.map(|[at, value]| (at, shown(value))).collect()
}

/// The point of the line under the pointer, its tile, and how far a tile border is.
fn place_label(
    place: f64,
    line: CutLine,
    shown: &Geometry,
    slice: Option<Slice>,
) -> Option<String> {
    let [i, j] = point_at(line, shown.shape(), place)?;
    let border = match shown.distance(&[i, j]) {
        Some(1) => ", at a tile border".to_owned(),
        Some(distance) => format!(", {distance} points from a tile border"),
        None => String::new(),
    };
    let [across, down] = shown.tiling().owner([i, j]);
    let names = Slice::index_names(slice);
    let (place, tile) = match shown.dim() {
        1 => (format!("i {i}"), across.to_string()),
        _ => (format!("{} {i}, {} {j}", names[0], names[1]), format!("({across}, {down})")),
    };
    Some(format!("{place}\ntile {tile}{border}"))
}

/// Why there is no profile of a field.
fn unknown(report: &Report, field: FieldKind) -> String {
    let picture = report.observation.picture.as_ref();
    match (field, picture.and_then(|picture| picture.cycles_per_row)) {
        (FieldKind::Staleness, Some(cycles)) => format!(
            "Exact Jacobi is not known at this cycle; the diagram compares every {}.",
            if cycles > 1 { format!("{cycles} cycles") } else { "cycle".to_owned() },
        ),
        _ => format!("The {} is unknown at this cycle.", field.name()),
    }
}
