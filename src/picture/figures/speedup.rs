//! How many times as fast a run is as others, tolerance by tolerance.

use crate::grid::Need;
use crate::number::cell;
use crate::picture::axis::scale::{Range, ScaleKind};
use crate::picture::draw::drawing::Drawing;
use crate::picture::figures::curves::CLASSIC_NAME;
use crate::picture::figures::run_colour::run_colour;
use crate::picture::figures::titles::Titles;
use crate::picture::plot::description::{Level, Plot, PlotAxis, Series};
use crate::picture::view::kind::{FigureKind, FigureType, Uses};
use crate::picture::view::over::Over;
use crate::picture::view::spec::ViewSpec;
use crate::run::{self, CostAt, CsvTable, FieldKind, Record, Snapshot, SpeedupAt, speedup_curve};

/// The speedup of the first run over each of the others, and over Jacobi's iteration.
struct Speedup;

impl FigureKind {
    /// The speedup over the tolerance.
    pub const SPEEDUP: Self = Self::new(&Speedup);
}

impl FigureType for Speedup {
    fn name(&self) -> &'static str {
        "speedup"
    }

    fn label(&self) -> &'static str {
        "Speedup"
    }

    fn about(&self) -> &'static str {
        "How many times as fast the run is as classic Jacobi and other runs, over the tolerance: by solver time, or by sweeps."
    }

    fn about_table(&self) -> Option<&'static str> {
        Some("A table has the speedup at 240 tolerances.")
    }

    fn file_stem(&self, _: FieldKind) -> String {
        "speedup".to_owned()
    }

    fn need(&self) -> Need {
        Need::Nothing
    }

    fn uses(&self) -> Uses {
        Uses { over: true, reference: true, ..Uses::default() }
    }

    fn is_over_cycles(&self) -> bool {
        true
    }

    fn shows_ends(&self) -> bool {
        true
    }

    fn beside(&self) -> [usize; 2] {
        [0, crate::picture::MOST_BESIDE]
    }

    fn title(&self, _: &Snapshot, _: &ViewSpec) -> String {
        "Speedup".to_owned()
    }

    fn draw(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing {
        let Titles { title, subtitle, .. } = Titles::of(snapshots, view);
        let plot = speedup_plot(&speedups(snapshots, view), view.over);
        Drawing::Figure(plot.svg(&title, &subtitle, &view.figure.page()))
    }

    fn tables<'a>(
        &self,
        snapshots: &[&'a Snapshot],
        view: &ViewSpec,
    ) -> Vec<(String, CsvTable<'a>)> {
        let row = |at: SpeedupAt| [cell(Some(at.tolerance)), cell(Some(at.speedup))];
        let table = |name, curve: Vec<SpeedupAt>| {
            (name, CsvTable::new(["tolerance", "speedup"], curve.into_iter().map(row)))
        };
        let speedups = speedups(snapshots, view).into_iter();
        let tables: Vec<_> = speedups.map(|over| table(over.name, over.curve)).collect();
        // A file that was asked for is written, if without rows.
        if tables.is_empty() { vec![table(String::new(), Vec::new())] } else { tables }
    }
}

/// The speedup over another run.
pub struct SpeedupOver {
    /// Its name.
    pub name: String,
    /// Its colour.
    pub colour: [u8; 3],
    /// Whether it is a reference.
    pub is_reference: bool,
    /// The speedup, from the smallest tolerance to 1.
    pub curve: Vec<SpeedupAt>,
}

/// What a run cost along an axis, cycle by cycle: seconds, or else sweeps.
pub fn costs<'a>(
    records: impl IntoIterator<Item = &'a Record>,
    sweeps_per_cycle: u64,
    start_residual: f64,
    over: Over,
) -> Vec<CostAt> {
    let cost = |record: &Record| {
        let reduction = run::reduction(record.residual?.l2, start_residual);
        Some(CostAt { cost: over.along(record, sweeps_per_cycle, 1), reduction })
    };
    records.into_iter().filter_map(cost).collect()
}

/// The plot of speedups.
pub fn speedup_plot(speedups: &[SpeedupOver], over: Over) -> Plot {
    let series = speedups.iter().filter(|over| !over.curve.is_empty()).map(|over| {
        let points = over.curve.iter().map(|at| (at.tolerance, at.speedup)).collect();
        let line = Series::line(format!("over {}", over.name), points, over.colour);
        Series { dashed: over.is_reference, ..line }
    });
    let title = match over {
        Over::Seconds => "speedup by solver time",
        Over::Cycles | Over::Sweeps => "speedup by sweeps",
    };
    let series: Vec<_> = series.collect();
    let x = PlotAxis::new("tolerance of ‖r‖₂ / ‖r₀‖₂", ScaleKind::Log);
    // Without any curve there is nothing to fit.
    let x = PlotAxis { range: series.is_empty().then(|| Range::new(1e-4, 1.0)), ..x };
    let levels = vec![Level { value: 1.0, name: "equally fast".to_owned() }];
    Plot { series, levels, ..Plot::new(x, PlotAxis::new(title, ScaleKind::Log)) }
}

/// The speedups of the first snapshot's run over those that solve the same problem.
fn speedups(snapshots: &[&Snapshot], view: &ViewSpec) -> Vec<SpeedupOver> {
    let Some((first, others)) = snapshots.split_first() else { return Vec::new() };
    let costs_of = |snapshot: &Snapshot| {
        let sweeps = snapshot.plan.sweeps_per_cycle();
        costs(snapshot.history.records(), sweeps, snapshot.start_residual, view.over)
    };
    let own = costs_of(first);
    let names = Titles::of(snapshots, view).each.into_iter().skip(1);
    let compared = others.iter().zip(names).enumerate();
    let compared = compared
        .filter(|(_, (other, _))| other.plan.spec.problem == first.plan.spec.problem)
        .map(|(index, (other, name))| SpeedupOver {
            name,
            colour: run_colour(view, 1 + index),
            is_reference: false,
            curve: speedup_curve(&own, &costs_of(other)),
        });
    let over_reference = |name: &str, colour, records: &[Record]| SpeedupOver {
        name: name.to_owned(),
        colour,
        is_reference: true,
        curve: speedup_curve(&own, &costs(records, 1, first.start_residual, view.over)),
    };
    let theme = view.figure.theme;
    let classic = over_reference(CLASSIC_NAME, theme.reference(), &first.reference);
    let accelerated = first.accelerated.iter().map(|curve| {
        let colour = theme.acceleration(curve.acceleration as usize);
        over_reference(curve.acceleration.label(), colour, &curve.records)
    });
    let all = compared.chain([classic]).chain(accelerated);
    all.filter(|over| !over.curve.is_empty()).collect()
}
