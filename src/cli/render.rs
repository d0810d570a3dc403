//! `tilescope render`: a figure of a run.

use super::args::RunArgs;
use super::console::{INTERRUPTED, UsageError, tell};
use super::interrupt::Interrupt;
use super::progress::Progress;
use super::solve::stopped;
use super::values;
use crate::files;
use crate::picture::{
    ColourMap, Drawing, FigureFile, FigureSpec, Over, RunCurve, ScaleKind, Theme, ViewSpec, bare,
    curves_svg, heat_map_svg, method_title, natural_map, natural_scale, save_figure,
};
use crate::problem::{self, ExactError};
use crate::run::{Capture, Captured, Experiment, FieldKind, Outcome, Plan, Planner, RunSpec, Stop};
use anyhow::bail;
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

const EXAMPLES: &str = "\
Examples:
  tilescope render --at-cycle 40 -o residual.png
      the residual of the default experiment after 40 cycles: tile edges shine
  tilescope render --overlap 4 --at-cycle 40 --field staleness --scale symmetric -o lag.svg
      how far each point lags behind Jacobi's iteration, as a vector figure
  tilescope render --preset paper-1d --max-cycles 500 --field change -o space-time.png
      of a line, a space-time diagram: x across, cycles downwards
  tilescope render --shape 1024x1024 --at-cycle 10 --bare -o map.png
      the bare map, one pixel a point
  tilescope render --kind curves --theme dark -o curves.png
      how the residual falls, cycle by cycle

The file carries the run: `tilescope open residual.png` shows it again, and --run residual.png
starts from it.";

/// The options of `tilescope render`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Render {
    #[command(flatten)]
    run: RunArgs,
    /// Draw the iterate after so many cycles [default: the last of the run]
    #[arg(
        long,
        value_name = "N",
        help_heading = "Figure",
        value_parser = values::whole::<u64>,
        allow_negative_numbers = true
    )]
    at_cycle: Option<u64>,
    /// What to draw
    #[arg(long, default_value = "heat-map", help_heading = "Figure")]
    kind: Kind,
    /// The field
    #[arg(long, default_value = "residual", help_heading = "Figure")]
    field: FieldKind,
    /// How values are spread over the colours [default: log; linear for the solution, symmetric
    /// for a diverging map]
    #[arg(long, help_heading = "Figure")]
    scale: Option<ScaleKind>,
    /// On a linear scale: magnitudes in place of values with their sign
    #[arg(long, help_heading = "Figure")]
    absolute: bool,
    /// The colours [default: inferno; red-blue for a symmetric scale]
    #[arg(long, help_heading = "Figure")]
    map: Option<ColourMap>,
    /// Pixels across and down [default: 1200x900]
    #[arg(long, value_name = "WxH", help_heading = "Figure", value_parser = values::size)]
    size: Option<[u32; 2]>,
    /// Draw the borders of the tiles over the map
    #[arg(long, help_heading = "Figure")]
    borders: bool,
    /// Draw the bare map, one pixel a point, without axes and text
    #[arg(long, help_heading = "Figure", conflicts_with = "size")]
    bare: bool,
    /// For paper, or for a dark slide
    #[arg(long, default_value = "light", help_heading = "Figure")]
    theme: Theme,
    /// The file: .png or .svg
    #[arg(short, long, value_name = "FIGURE", help_heading = "Figure")]
    output: PathBuf,
}

/// As many samples as there are points: the bare map is not thinned out.
const ALL: [usize; 2] = [usize::MAX; 2];

/// The kinds of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// Of a plane the map of a field, of a line its space–time diagram
    HeatMap,
    /// How the residual falls
    Curves,
}

impl Render {
    /// Makes the run, draws it, saves the figure.
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        if self.bare && self.kind == Kind::Curves {
            return Err(UsageError("--bare draws a map; curves have none".to_owned()).into());
        }
        if let Err(refused) = FigureFile::of(&self.output) {
            return Err(UsageError(refused.to_string()).into());
        }
        files::check_place(&self.output)?;
        let spec = self.run.spec()?;
        let plan = Planner::default().plan(&spec)?;
        if let Some(warning) = plan.warning() {
            tell(&warning);
        }
        let interrupt = Interrupt::listen()?;
        let figure = self.figure();
        let Some(captured) = self.capture(plan, &figure, interrupt)? else {
            return Ok(ExitCode::from(INTERRUPTED));
        };
        interrupt.hold(|| self.save(&spec, &captured, figure))?;
        Ok(ExitCode::SUCCESS)
    }

    fn figure(&self) -> FigureSpec {
        let diverging = self.map.is_some_and(ColourMap::is_diverging);
        let scale = self.scale.unwrap_or(match diverging {
            true => ScaleKind::Symmetric,
            false => natural_scale(self.field),
        });
        let usual = FigureSpec::default();
        FigureSpec {
            scale,
            absolute: self.absolute,
            map: self.map.unwrap_or(natural_map(scale)),
            size: self.size.unwrap_or(usual.size),
            theme: self.theme,
            borders: self.borders,
            ..usual
        }
    }

    /// Goes to the cycle that is wanted and looks; nothing if somebody stopped it before.
    fn capture(
        &self,
        plan: Plan,
        figure: &FigureSpec,
        interrupt: Interrupt,
    ) -> anyhow::Result<Option<Captured>> {
        // A cycle that is named is drawn wherever the run would have stopped; what the figure
        // carries is the run as it was asked for.
        let stop = self.at_cycle.map_or(plan.stop, |cycle| Stop {
            tolerance: None,
            max_cycles: cycle,
            ..plan.stop
        });
        let mut experiment = Experiment::new(&Arc::new(Plan { stop, ..plan }))?;
        if self.kind == Kind::HeatMap
            && self.field == FieldKind::Error
            && !set_exact(&mut experiment, interrupt)?
        {
            tell(&stopped(0));
            return Ok(None);
        }
        if !make_cycles(&mut experiment, interrupt)? || !self.prepare(&mut experiment, interrupt)? {
            tell(&stopped(experiment.run().cycle()));
            return Ok(None);
        }
        experiment.settle()?;
        let cycle = experiment.run().cycle();
        if let Some(Outcome::Diverged(divergence)) = experiment.run().outcome() {
            if self.at_cycle.is_some_and(|wanted| wanted != cycle) {
                bail!("{divergence}");
            }
            tell(&divergence.to_string());
        }
        let most = if self.bare { ALL } else { figure.size.map(|side| side as usize) };
        let capture = Capture { id: 0, field: self.field, most, solution: false };
        let captured = Captured::of(&experiment, &capture)?;
        let unknown = captured.picture.samples.values.iter().all(|value| value.is_nan());
        if self.kind == Kind::HeatMap && unknown {
            bail!(
                "nothing is known of the {} of this run at cycle {cycle}; choose another --field",
                self.field.name()
            );
        }
        Ok(Some(captured))
    }

    /// Does what the field needs beside the run; `false` if somebody stopped it before.
    fn prepare(&self, experiment: &mut Experiment, interrupt: Interrupt) -> anyhow::Result<bool> {
        if self.kind == Kind::Curves {
            return Ok(true);
        }
        let mut progress = Progress::start();
        while !experiment.is_ready(self.field) {
            if interrupt.came() {
                return Ok(false);
            }
            experiment.prepare(self.field)?;
            progress.show(|| format!("Jacobi's iteration: {:.0} %", 100.0 * experiment.prepared()));
        }
        Ok(true)
    }

    fn save(&self, run: &RunSpec, captured: &Captured, figure: FigureSpec) -> anyhow::Result<()> {
        let view = ViewSpec { cycle: captured.cycle, field: self.field, figure };
        let drawing = match self.kind {
            Kind::HeatMap if self.bare => Drawing::Map(bare(captured, &figure)),
            Kind::HeatMap => Drawing::Figure(heat_map_svg(captured, &figure)),
            Kind::Curves => Drawing::Figure(curves(captured, run, &figure)),
        };
        Ok(save_figure(&self.output, &drawing, run, Some(&view))?)
    }
}

fn curves(captured: &Captured, run: &RunSpec, figure: &FigureSpec) -> String {
    let records: Vec<_> = captured.history.records().copied().collect();
    let curve = RunCurve {
        label: "",
        records: &records,
        sweeps_per_cycle: captured.plan.sweeps_per_cycle(),
        start_residual: captured.start_residual,
        reference: false,
    };
    let plan = Plan { stop: run.stop, ..(*captured.plan).clone() };
    curves_svg(&plan, &method_title(run), &[curve], Over::Cycles, figure)
}

/// Makes cycles to the end of the run; `false` if somebody stopped it before.
pub(super) fn make_cycles(
    experiment: &mut Experiment,
    interrupt: Interrupt,
) -> anyhow::Result<bool> {
    let mut progress = Progress::start();
    while experiment.run().outcome().is_none() {
        if interrupt.came() {
            return Ok(false);
        }
        experiment.advance(u64::MAX)?;
        progress.show_run(experiment.run());
    }
    Ok(true)
}

/// Computes the exact solution; `false` if somebody stopped it before.
fn set_exact(experiment: &mut Experiment, interrupt: Interrupt) -> anyhow::Result<bool> {
    let problem = Arc::clone(&experiment.run().plan().problem);
    match problem::exact(&problem, interrupt.flag()) {
        Ok(exact) => experiment.set_exact(&Arc::new(exact))?,
        Err(ExactError::Cancelled) => return Ok(false),
        Err(error) => return Err(error.into()),
    }
    Ok(true)
}
