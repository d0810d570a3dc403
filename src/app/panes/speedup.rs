//! The speedup of the run over references and pinned runs, tolerance by tolerance.

use crate::app::panes::pane_type::{PaneContext, PaneType, Slot};
use crate::app::state::pane_id::PaneId;
use crate::app::state::session::Session;
use crate::app::widgets::labels::labelled;
use crate::app::widgets::{plot, theme};
use crate::picture::{CLASSIC_NAME, FigureKind, SpeedupOver, Theme, costs, rounded, speedup_plot};
use crate::run::{Record, Report, speedup_curve};
use eframe::egui::Ui;

/// The speedup over the tolerance.
pub struct SpeedupPane;

impl PaneType for SpeedupPane {
    fn id(&self) -> PaneId {
        PaneId("speedup")
    }

    fn title(&self) -> &'static str {
        "Speedup"
    }

    fn about(&self) -> &'static str {
        "How many times as fast the run is as classic Jacobi and pinned runs, over the tolerance: by solver time if curves are over time, else by sweeps."
    }

    fn slot(&self) -> Slot {
        Slot::BottomRight
    }

    fn shows(&self, kind: FigureKind) -> bool {
        kind == FigureKind::SPEEDUP
    }

    fn figure(&self, _: &Session) -> Option<FigureKind> {
        Some(FigureKind::SPEEDUP)
    }

    fn draw(&self, ui: &mut Ui, context: &mut PaneContext<'_>) {
        if let Some(report) = context.report {
            self::ui(ui, context.session, report);
        }
    }
}

fn ui(ui: &mut Ui, session: &Session, report: &Report) {
    let speedups = speedups(session, report, theme::of_figures(ui));
    if speedups.iter().all(|over| over.curve.is_empty()) {
        ui.label(
            "Nothing to compare with yet: turn on classic Jacobi, or pin a run of this problem.",
        );
        return;
    }
    let plot = speedup_plot(&speedups, session.view.against.over());
    let frame = plot::Frame {
        id: "speedup",
        height: ui.available_height(),
        cursor: None,
        has_legend: true,
    };
    plot::ui(ui, &frame, &plot, |at| {
        let mut lines = vec![labelled("tolerance", &rounded(at.x))];
        let times = |value: f64| format!("{value:.2}×");
        lines.extend(at.values().map(|(name, value)| labelled(name, &times(value))));
        Some(lines.join("\n"))
    });
}

/// The speedups over the pinned runs of the same problem, over classic Jacobi and over its accelerations.
fn speedups(session: &Session, report: &Report, theme: Theme) -> Vec<SpeedupOver> {
    let over = session.view.against.over();
    let own = costs(&*report.curve, report.plan.sweeps_per_cycle(), report.start_residual, over);
    let problem = &report.plan.spec.problem;
    let names = session.pins.names(&report.plan.spec);
    let pinned = session.pins.all().iter().zip(names).filter(|(pin, _)| {
        pin.archive != report.archive && pin.archive.plan().spec.problem == *problem
    });
    let pinned = pinned.map(|(pin, name)| {
        let sweeps = pin.archive.plan().sweeps_per_cycle();
        let costs = costs(&*pin.curve, sweeps, pin.start_residual, over);
        let (colour, curve) = (theme.beside(pin.number), speedup_curve(&own, &costs));
        SpeedupOver { name, colour, is_reference: false, curve }
    });
    let reference = |name: &str, colour, records: &[Record]| SpeedupOver {
        name: name.to_owned(),
        colour,
        is_reference: true,
        curve: speedup_curve(&own, &costs(records, 1, report.start_residual, over)),
    };
    let classic = session.view.reference.then_some(&report.reference);
    let classic = classic.map(|records| reference(CLASSIC_NAME, theme.reference(), records));
    let chosen = &session.view.accelerations;
    let accelerated = report.accelerated.iter().filter(|it| chosen.contains(&it.acceleration));
    let accelerated = accelerated.map(|curve| {
        let colour = theme.acceleration(curve.acceleration as usize);
        reference(curve.acceleration.label(), colour, &curve.records)
    });
    pinned.chain(classic).chain(accelerated).collect()
}
