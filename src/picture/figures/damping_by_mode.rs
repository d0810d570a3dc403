//! By which factor a sweep and a cycle multiply modes, by theory and as measured.

use crate::grid::{Need, Shape};
use crate::number::counted;
use crate::picture::axis::scale::{Range, ScaleKind};
use crate::picture::colour::theme::Theme;
use crate::picture::draw::drawing::Drawing;
use crate::picture::figures::titles::{Titles, figure_of_plot};
use crate::picture::plot::description::{Plot, PlotAxis, Series};
use crate::picture::view::error::ViewError;
use crate::picture::view::kind::{FigureKind, FigureType, Uses};
use crate::picture::view::spec::ViewSpec;
use crate::run::{
    self, CsvTable, FieldKind, ModeDamping, ModeFactors, Plan, Snapshot, SnapshotRequest,
};

/// The factors of the modes of a grid over their half waves.
struct DampingByMode;

impl FigureKind {
    /// By which factor a sweep and a cycle multiply modes.
    pub const DAMPING_BY_MODE: Self = Self::new(&DampingByMode);
}

impl FigureType for DampingByMode {
    fn name(&self) -> &'static str {
        "damping-by-mode"
    }

    fn label(&self) -> &'static str {
        "Damping by mode"
    }

    fn about(&self) -> &'static str {
        "By which factor a sweep and a cycle multiply modes of the error, by theory and as measured: modes with as many half waves along every axis."
    }

    fn about_table(&self) -> Option<&'static str> {
        Some("A table has the factors of each mode that was measured, with their signs.")
    }

    fn file_stem(&self, _: FieldKind) -> String {
        "damping-by-mode".to_owned()
    }

    fn need(&self) -> Need {
        Need::Grid
    }

    fn uses(&self) -> Uses {
        Uses::default()
    }

    fn is_over_cycles(&self) -> bool {
        true
    }

    fn request(&self, _: &ViewSpec, _: &Shape, request: &mut SnapshotRequest) {
        request.observation.damping = true;
    }

    fn is_of_any_cycle(&self) -> bool {
        true
    }

    fn check_plan(&self, plan: &Plan) -> Result<(), ViewError> {
        Ok(ModeDamping::check(&plan.problem, &plan.method)?)
    }

    fn check_observed(&self, first: &Snapshot) -> Result<(), ViewError> {
        match first.plan.damping() {
            Some(Err(why)) => Err(why.clone().into()),
            _ => Ok(()),
        }
    }

    fn title(&self, _: &Snapshot, _: &ViewSpec) -> String {
        "Damping by mode".to_owned()
    }

    fn draw(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing {
        figure_of_plot(snapshots, view, |first| {
            let damping = first.plan.damping()?.as_ref().ok()?;
            Some(damping_plot(damping, first.plan.problem.shape.dim(), view.figure.theme))
        })
    }

    fn tables<'a>(
        &self,
        snapshots: &[&'a Snapshot],
        view: &ViewSpec,
    ) -> Vec<(String, CsvTable<'a>)> {
        let table = |(name, snapshot): (String, &&'a Snapshot)| {
            let damping = snapshot.plan.damping()?.as_ref().ok()?;
            Some((name, run::damping_table(damping)))
        };
        let names = Titles::of(snapshots, view).each;
        names.into_iter().zip(snapshots).filter_map(table).collect()
    }
}

/// The plot of the factors of modes on a grid of `dim` axes, without their signs.
pub fn damping_plot(damping: &ModeDamping, dim: usize, theme: Theme) -> Plot {
    let points = |factor: fn(&ModeFactors) -> Option<f64>| -> Vec<(f64, f64)> {
        let point = |mode: &ModeFactors| Some((mode.half_waves as f64, factor(mode)?.abs()));
        damping.modes.iter().filter_map(point).collect()
    };
    let theory = |name: String, points, colour| Series {
        dashed: true,
        ..Series::line(format!("{name}, theory"), points, colour)
    };
    let measured = |name: &str, points, colour| Series {
        has_dots: true,
        ..Series::line(format!("{name}, measured"), points, colour)
    };
    let [of_sweep, of_cycle] = [theme.curve(1), theme.curve(0)];
    let mut series = vec![
        measured("a sweep", points(|mode| Some(mode.measured_sweep)), of_sweep),
        theory("a sweep".to_owned(), points(|mode| Some(mode.sweep)), theme.reference()),
    ];
    // A cycle of one sweep is a sweep.
    if damping.sweeps != Some(1) {
        let name = match damping.cycles {
            1 => "a cycle".to_owned(),
            cycles => counted(cycles, "cycle"),
        };
        series.push(measured(&name, points(|mode| Some(mode.measured_cycle)), of_cycle));
    }
    if let Some(sweeps) = damping.sweeps.filter(|sweeps| *sweeps > 1) {
        let name = counted(sweeps, "sweep");
        series.push(theory(name, points(|mode| mode.sweeps), theme.borders()));
    }
    let largest = series.iter().flat_map(|series| &series.points).map(|point| point.1);
    let range = Range::new(0.0, largest.fold(1.0, f64::max));
    let x = PlotAxis::new(half_waves_label(dim), ScaleKind::Linear);
    let y = PlotAxis::new("factor, without its sign", ScaleKind::Linear);
    Plot { series, ..Plot::new(x, PlotAxis { range: Some(range), ..y }) }
}

/// What is written along the half waves of modes that have as many along every axis.
fn half_waves_label(dim: usize) -> &'static str {
    match dim {
        1 => "p: half waves along x",
        2 => "p = q: half waves along x and along y",
        _ => "half waves along each axis",
    }
}
