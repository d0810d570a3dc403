//! Convergence curves of the run, of pinned runs and of classic Jacobi.

use crate::app::actions;
use crate::app::panes::pane_type::{PaneContext, PaneType, Slot};
use crate::app::state::command::Command;
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::state::view_settings::{Against, ViewSettings};
use crate::app::widgets::labels::{capitalized, explained, labelled, named};
use crate::app::widgets::{plot, theme};
use crate::picture::{
    CLASSIC_NAME, FigureKind, Norm, Over, Plot, PlotAxis, Series, THIS_RUN, acceleration_series,
    convergence_plot, grouped, norm_points, rate_series, rounded, seconds as time,
    sweeps_per_axis_cycle,
};
use crate::run::{AccelerationCurve, CycleRate, ObservationRequest, Phase, Record, Report};
use crate::solver::Acceleration;
use eframe::egui::containers::menu::{MenuButton, MenuConfig};
use eframe::egui::{
    self, Align, ComboBox, FontSelection, Layout, PopupCloseBehavior, RichText, TextWrapMode, Ui,
    WidgetText,
};

/// Height of the table under the curves.
const TABLE_ROOM: f32 = 96.0;

/// Height of each row more.
const ROW: f32 = 24.0;

/// The smallest useful height of the plot with its legend and axes, in points.
const MIN_PLOT: f32 = 150.0;

/// In a pane narrower than this, in points, the table has a small font.
const NARROW: f32 = 320.0;

/// In a pane at least as wide as this, in points, the columns of the table are spread.
const WIDE: f32 = 480.0;

/// In a pane narrower than this, in points, the table leaves out the cycles, which the top bar says, too.
const TOO_NARROW_FOR_CYCLES: f32 = 260.0;

/// The norms of the run over its cycles.
pub struct ConvergencePane;

/// Its name in files.
pub const ID: PaneId = PaneId("convergence");

impl PaneType for ConvergencePane {
    fn id(&self) -> PaneId {
        ID
    }

    fn title(&self) -> &'static str {
        "Convergence"
    }

    fn about(&self) -> &'static str {
        "The norms of the run over its cycles, with those of classic Jacobi."
    }

    fn slot(&self) -> Slot {
        Slot::TopRight
    }

    fn is_shown_at_first(&self) -> bool {
        true
    }

    fn shows(&self, kind: FigureKind) -> bool {
        kind == FigureKind::CURVES
    }

    fn figure(&self, _: &Session) -> Option<FigureKind> {
        Some(FigureKind::CURVES)
    }

    fn request(&self, session: &Session, request: &mut ObservationRequest) {
        request.rate = session.view.asymptotic_rate;
    }

    fn draw(&self, ui: &mut Ui, context: &mut PaneContext<'_>) {
        let PaneContext { session, report, presenting, commands, .. } = context;
        self::ui(ui, session, *report, *presenting, commands);
    }
}

fn ui(
    ui: &mut Ui,
    session: &Session,
    report: Option<&Report>,
    presenting: bool,
    commands: &mut Vec<Command>,
) {
    if !(presenting || session.is_student_view) {
        controls(ui, session, report, commands);
    }
    let Some(report) = report else {
        return;
    };
    // In a low pane, the curves are shown without the table.
    let room = TABLE_ROOM + ROW * known(session, report).count() as f32;
    let has_table = !presenting && ui.available_height() >= room + MIN_PLOT;
    let height = ui.available_height() - if has_table { room } else { 0.0 };
    convergence(ui, session, report, height, commands);
    if has_table {
        table(ui, session, report);
    }
}

fn controls(ui: &mut Ui, session: &Session, report: Option<&Report>, commands: &mut Vec<Command>) {
    let mut view = session.view.clone();
    ui.horizontal_wrapped(|ui| {
        let combo = ComboBox::from_id_salt("curve").width(96.0).selected_text(view.norm.label());
        let response = combo.show_ui(ui, |ui| {
            for norm in Norm::ALL {
                let about = match norm {
                    Norm::Residual => norm.about().to_owned(),
                    _ => format!(
                        "{} On a GPU it is computed only while this curve is shown.",
                        norm.about()
                    ),
                };
                explained(ui.selectable_value(&mut view.norm, norm, norm.label()), about);
            }
        });
        let about = actions::menu_tooltip("Norm", "Which norm the curve shows.");
        named(response.response, "Norm").on_hover_text(about);
        let combo =
            ComboBox::from_id_salt("against").width(90.0).selected_text(view.against.label());
        let response = combo.show_ui(ui, |ui| {
            for against in Against::ALL {
                let entry = ui.selectable_value(&mut view.against, against, against.label());
                explained(entry, against.about());
            }
            ui.separator();
            let about = "Draw this axis logarithmically, which gives the first cycles as much room as the last.";
            explained(ui.checkbox(&mut view.log_x, "Logarithmic"), about);
        });
        let about = actions::menu_tooltip("Curves over", "The x axis of the curves.");
        named(response.response, "Curves over").on_hover_text(about);
        ui.checkbox(&mut view.reference, "Classic")
            .on_hover_text(actions::CLASSIC.tooltip(ui.ctx()));
        more_references(ui, &mut view);
        if ui.button("Pin").on_hover_text(actions::PIN.tooltip(ui.ctx())).clicked() {
            commands.push(Command::Pin);
        }
    });
    if view != session.view {
        commands.push(Command::SetView(view));
    }
    if let Some(report) = report {
        for why in missing_references(session, report) {
            ui.label(RichText::new(why).weak());
        }
        if let (true, Some(Err(why))) = (session.view.asymptotic_rate, report.plan.rate()) {
            ui.label(RichText::new(why.to_string()).weak());
        }
    }
}

/// The menu of the reference curves beside that of classic Jacobi.
fn more_references(ui: &mut Ui, view: &mut ViewSettings) {
    let chosen = &mut view.accelerations;
    // Several may be chosen.
    let stays = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
    let (response, _) = MenuButton::new("+").config(stays).ui(ui, |ui| {
        for acceleration in Acceleration::ALL {
            let mut is_chosen = chosen.contains(&acceleration);
            let response = ui.checkbox(&mut is_chosen, capitalized(acceleration.label()));
            if response.changed() {
                match is_chosen {
                    true => _ = chosen.insert(acceleration),
                    false => _ = chosen.remove(&acceleration),
                }
            }
            let action = match acceleration {
                Acceleration::Chebyshev => actions::CHEBYSHEV,
                Acceleration::ConjugateGradients => actions::CONJUGATE_GRADIENTS,
            };
            explained(response, format!("{} {}", acceleration.about(), key_of(action, ui)));
        }
        ui.separator();
        let response = ui.checkbox(&mut view.asymptotic_rate, "Asymptotic rate");
        explained(response, actions::ASYMPTOTIC_RATE.tooltip(ui.ctx()));
    });
    let about = "More reference curves: the same system solved by faster methods, whose sweeps cost about as much.";
    named(response, "More references").on_hover_text(about);
}

/// The key of an action, for a tooltip that says more than the action's own.
fn key_of(action: actions::Action, ui: &Ui) -> String {
    format!("({})", action.key(ui.ctx()))
}

/// Why chosen reference curves are not shown; a sentence each.
fn missing_references<'a>(session: &'a Session, report: &'a Report) -> Vec<&'a str> {
    if session.view.accelerations.is_empty() {
        return Vec::new();
    }
    match (session.view.against, session.view.norm) {
        (Against::Time, _) => {
            vec!["Chebyshev and conjugate gradients are not timed: choose cycles or sweeps."]
        }
        (_, Norm::Update | Norm::Error) => {
            vec!["Of Chebyshev and conjugate gradients, only the residual is known."]
        }
        _ => accelerated(session, report).filter_map(|curve| curve.why_not.as_deref()).collect(),
    }
}

/// The accelerations of Jacobi's iteration that were chosen, as far as they are made.
fn accelerated<'a>(
    session: &'a Session,
    report: &'a Report,
) -> impl Iterator<Item = &'a AccelerationCurve> {
    let chosen = &session.view.accelerations;
    report.accelerated.iter().filter(|curve| chosen.contains(&curve.acceleration))
}

/// Those that can be made.
fn known<'a>(
    session: &'a Session,
    report: &'a Report,
) -> impl Iterator<Item = &'a AccelerationCurve> {
    accelerated(session, report).filter(|curve| curve.is_known())
}

/// The curves of the run, of the pinned runs, of Jacobi's iteration and of its accelerations.
fn describe(ui: &Ui, session: &Session, report: &Report) -> Plot {
    let (over, norm) = (session.view.against.over(), session.view.norm);
    let theme = theme::of_figures(ui);
    let cycle = report.plan.sweeps_per_cycle();
    let norm_of = |start: f64| move |record: &Record| norm.of(record, start);
    let mut names = session.pins.names(&report.plan.spec);
    let own = names.pop().unwrap_or_default();
    let pins = session.pins.all().iter().zip(names);
    let pinned = pins.filter(|(pin, _)| pin.archive != report.archive);
    let pinned = pinned.map(|(pin, name)| {
        let plan = pin.archive.plan();
        let axis = sweeps_per_axis_cycle(plan, cycle);
        let value = norm_of(pin.start_residual);
        let points = norm_points(&*pin.curve, plan.sweeps_per_cycle(), over, axis, value);
        Series::line(name, points, theme.beside(pin.number))
    });
    let pinned: Vec<_> = pinned.collect();
    let beside: Vec<_> = known(session, report)
        .map(|curve| AccelerationCurve {
            records: until(&curve.records, most_sweeps(report)).into(),
            ..curve.clone()
        })
        .collect();
    let rate = rate_of(session, report);
    let has_reference = session.view.reference || !beside.is_empty() || rate.is_some();
    let name = match (pinned.is_empty(), has_reference) {
        (true, false) => String::new(),
        (true, true) => THIS_RUN.to_owned(),
        (false, _) => own,
    };
    let value = norm_of(report.start_residual);
    let points = norm_points(&*report.curve, cycle, over, cycle, value);
    let shown = report.curve.iter().filter(|record| record.cycle <= report.observation.cycle);
    let so_far = shown.filter(|record| value(record).is_some()).count();
    let run = Series { so_far, ..Series::line(name, points, theme.curve(0)) };
    let classic = session.view.reference.then(|| {
        let points = norm_points(classic(report), 1, over, cycle, value);
        Series { dashed: true, ..Series::line(CLASSIC_NAME, points, theme.reference()) }
    });
    let accelerated = acceleration_series(&beside, over, cycle, theme, value);
    let rate = rate.and_then(|rate| {
        rate_series(rate, &report.curve, value, theme, |record| over.along(record, cycle, cycle))
    });
    let references = classic.into_iter().chain(accelerated).chain(rate);
    let series = [run].into_iter().chain(pinned).chain(references).collect();
    let mut plot = convergence_plot(series, norm.label(), over, tolerance(session, report));
    if over != Over::Seconds {
        let time = |record: &Record| (over.along(record, cycle, cycle), record.seconds);
        plot.x.times = report.curve.iter().map(time).collect();
    }
    if session.view.log_x { plot.with_log_x() } else { plot }
}

/// The asymptotic rate of the run, where it is shown and known.
fn rate_of<'a>(session: &Session, report: &'a Report) -> Option<&'a CycleRate> {
    report.plan.rate().filter(|_| session.view.asymptotic_rate)?.as_ref().ok()
}

/// Classic Jacobi's curve as far as it is shown: it may be far ahead of a run that is held, whose curve would be a dot
/// beside it.
fn classic(report: &Report) -> &[Record] {
    until(&report.reference, most_sweeps(report))
}

/// As many sweeps of references are shown.
fn most_sweeps(report: &Report) -> u64 {
    match report.phase {
        Phase::Held | Phase::CatchingUp => {
            report.observation.cycle.saturating_mul(report.plan.sweeps_per_cycle())
        }
        _ => u64::MAX,
    }
}

/// The records of the first `cycles` cycles.
fn until(records: &[Record], cycles: u64) -> &[Record] {
    &records[..records.partition_point(|record| record.cycle <= cycles)]
}

fn convergence(
    ui: &mut Ui,
    session: &Session,
    report: &Report,
    height: f32,
    commands: &mut Vec<Command>,
) {
    let plot = describe(ui, session, report);
    let (against, cycle) = (session.view.against, report.plan.sweeps_per_cycle());
    let norms = &report.observation.norms;
    let is_earlier = session.travel.earlier(report.latest.cycle).is_some()
        || report.observation.cycle < report.latest.cycle;
    let cursor = is_earlier.then(|| against.over().along(norms, cycle, cycle));
    let frame = plot::Frame { id: "convergence", height, cursor, has_legend: true };
    let times = &plot.x;
    let painted = plot::ui(ui, &frame, &plot, move |at| Some(read_off(&at, times, against)));
    let pointed = painted.pointer.and_then(|along| pointed_at(along, session, report));
    if let Some(cycle) = pointed {
        if painted.response.clicked() {
            let travel = session.travel;
            commands.push(Command::Travel(travel.to(cycle, report.latest.cycle)));
        } else if !painted.response.dragged() {
            commands.push(Command::Preview(cycle));
        }
    }
}

/// The cycle at a position along the x axis; `None` beyond the curve.
fn pointed_at(x: f64, session: &Session, report: &Report) -> Option<u64> {
    let latest = &report.latest;
    let over = session.view.against.over();
    let sweeps = report.plan.sweeps_per_cycle();
    let end = over.along(latest, sweeps, sweeps);
    let part = (0.0..=end).contains(&x).then_some(x / end.max(f64::MIN_POSITIVE))?;
    Some(match session.view.against {
        Against::Time => crate::run::cycle_at(&report.curve, x),
        Against::Cycles | Against::Sweeps => (part * latest.cycle as f64).round() as u64,
    })
}

/// The tolerance, if it applies to the shown norm.
fn tolerance(session: &Session, report: &Report) -> Option<f64> {
    session.view.norm.tolerance(&report.plan.stop, report.plan.sweeps_per_cycle())
}

/// What is under the pointer: how far it is along the axis, with the solver time there, and the norm of each
/// curve.
fn read_off(at: &plot::Pointed<'_>, axis: &PlotAxis, against: Against) -> String {
    let mut lines = vec![match against {
        Against::Time => time(at.x.max(0.0)),
        _ => {
            let along = grouped(at.x.max(0.0).round() as u64);
            let time = axis.time_at(at.x).map_or(String::new(), |it| format!(", {}", time(it)));
            format!("{along} {}{time}", against.label())
        }
    }];
    lines.extend(at.values().map(|(name, value)| labelled(name, &rounded(value))));
    lines.join("\n")
}

/// The run and its reference in numbers.
fn table(ui: &mut Ui, session: &Session, report: &Report) {
    ui.add_space(4.0);
    let narrow = ui.available_width() < NARROW;
    if narrow {
        ui.style_mut().override_text_style = Some(egui::TextStyle::Small);
    }
    let gap = if narrow { 5.0 } else { 10.0 };
    // Columns from the end that have room.
    let columns = if ui.available_width() < TOO_NARROW_FOR_CYCLES { 3 } else { 4 };
    // Where there is room, columns share it; the last one would take all of it.
    let share = ui.available_width() / (1 + columns) as f32 - gap;
    let wide = if ui.available_width() < WIDE { ui.spacing().interact_size.x } else { share };
    let grid = egui::Grid::new("numbers").num_columns(1 + columns).spacing([gap, 4.0]);
    grid.min_col_width(wide).show(ui, |ui| {
        let time = if narrow { "time" } else { "solver time" };
        ui.label("");
        for heading in &["cycles", "sweeps", time, "‖r‖₂/‖r₀‖₂"][4 - columns..] {
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if *heading == time {
                    // As wide as most times, so that nothing moves with a new digit.
                    let galley = WidgetText::from("88.8 ms").into_galley(
                        ui,
                        Some(TextWrapMode::Extend),
                        f32::INFINITY,
                        FontSelection::Default,
                    );
                    ui.set_min_width(galley.size().x);
                }
                let label = ui.label(RichText::new(*heading).weak());
                if *heading == time {
                    label.on_hover_text("Solver time, measured while the window and other runs share the machine. The tuning map measures alone.");
                }
            });
        }
        ui.end_row();
        let sweeps = report.plan.sweeps_per_cycle();
        // The newest residual is computed with the next cycle: until then the previous one is
        // shown.
        let reduction = |records: &[Record]| {
            let known = records.iter().rev().find_map(|record| record.residual);
            known.map(|residual| crate::run::reduction(residual.l2, report.start_residual))
        };
        numbers(
            ui,
            THIS_RUN,
            theme::curve(ui, 0),
            columns,
            Some(&report.observation.norms),
            sweeps,
            norm_of_shown(report).or_else(|| reduction(&report.curve)),
        );
        if session.view.reference {
            let colour = theme::curve(ui, 1);
            // At an earlier cycle, after as many sweeps.
            let shown = match session.travel.earlier(report.latest.cycle) {
                Some(cycle) => cycle.saturating_mul(sweeps),
                None => u64::MAX,
            };
            let classic = until(classic(report), shown);
            numbers(ui, "classic", colour, columns, classic.last(), 1, reduction(classic));
        }
        for curve in known(session, report) {
            let most = match session.travel.earlier(report.latest.cycle) {
                Some(cycle) => cycle.saturating_mul(sweeps),
                None => most_sweeps(report),
            };
            let (records, name) = (until(&curve.records, most), curve.acceleration.short_label());
            let [red, green, blue] =
                theme::of_figures(ui).acceleration(curve.acceleration as usize);
            let colour = egui::Color32::from_rgb(red, green, blue);
            numbers(ui, name, colour, columns, records.last(), 1, reduction(records));
        }
    });
}

/// ‖r‖₂ / ‖r₀‖₂ of the shown cycle, if known.
fn norm_of_shown(report: &Report) -> Option<f64> {
    let residual = report.observation.norms.residual?;
    Some(crate::run::reduction(residual.l2, report.start_residual))
}

fn numbers(
    ui: &mut Ui,
    name: &str,
    colour: egui::Color32,
    columns: usize,
    record: Option<&Record>,
    sweeps: u64,
    reduction: Option<f64>,
) {
    ui.label(RichText::new(name).color(colour).strong());
    let reduction = reduction.map_or_else(|| "–".to_owned(), rounded);
    let (cycle, seconds) = record.map_or((0, 0.0), |record| (record.cycle, record.seconds));
    // The sweeps of accelerations are not timed.
    let seconds = if seconds.is_nan() { "–".to_owned() } else { time(seconds) };
    let texts = [grouped(cycle), grouped(cycle * sweeps), seconds, reduction];
    for text in &texts[texts.len() - columns..] {
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| ui.label(text));
    }
    ui.end_row();
}
