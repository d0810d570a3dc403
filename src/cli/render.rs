//! `tilescope render`: a figure of a run, or of two.

use super::args::RunArgs;
use super::console::{INTERRUPTED, UsageError, tell};
use super::interrupt::Interrupt;
use super::progress::Progress;
use super::solve::stopped;
use super::values::{self, Size};
use crate::files;
use crate::picture::{
    self, ColourMap, FigureFile, FigureKind, FigureSpec, Film, FilmError, FilmFile, Frames,
    LARGEST_SIDE, Opened, Over, Place, RATE, Range, SCREEN_DPI, SMALLEST_SIDE, ScaleKind, Spacing,
    Theme, ViewError, ViewSpec, common_range, figure, natural_map, natural_scale, save_figure,
    save_film,
};
use crate::run::{
    Captured, CutLine, FieldKind, Outcome, Plan, Planner, RunSpec, ShootError, Stage, Watch, When,
    shoot,
};
use crate::solver::LONGEST_FOLDED;
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  tilescope render --at-cycle 40 -o residual.png
      the residual of the default experiment after 40 cycles: tile edges shine
  tilescope render --overlap 4 --at-cycle 40 --field staleness --scale symmetric -o lag.svg
      how far each point lags behind Jacobi's iteration, as a vector figure
  tilescope render --at-cycle 40 --compare overlap-4.toml --size 16x9cm -o both.png
      two runs side by side, in the same colours
  tilescope render --preset paper-1d --max-cycles 500 --field change -o space-time.png
      of a line, a space-time diagram: x across, cycles downwards
  tilescope render --kind profile --cut j=100 --at-cycle 40 --theme transparent -o profile.svg
      the residual along a row, with the tile borders, to be put on a page of any colour
  tilescope render --overlap 8 --at-cycle 40 --kind mean-tile --borders -o tile.png
      the residual folded onto one tile, and what of it inner tiles own
  tilescope render --at-cycle 40 --kind arrangement --theme screen -o overview.png
      the map, the curves and a profile in one figure; --place says what else, and where
  tilescope render --shape 1024x1024 --at-cycle 10 --kind bare-map -o map.png
      the bare map, one pixel a point
  tilescope render --kind curves --theme screen -o curves.png
      how the residual falls, cycle by cycle
  tilescope render --animate 0..400:8 --borders -o film.gif
      the residual after 0, 8, 16 … 400 cycles, one after the other
  tilescope render --animate 0..4000:log --compare overlap-4.toml --theme screen -o both.mp4
      two runs side by side, at cycles that are evenly spread by their logarithm

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
    /// What to draw [default: heat-map; side-by-side with --compare]
    #[arg(long, help_heading = "Figure")]
    kind: Option<FigureKind>,
    /// A second run for the same figure: a run file (.toml), or a figure that carries its run; of a
    /// figure of two runs, the second
    #[arg(long, value_name = "FILE", help_heading = "Figure")]
    compare: Option<PathBuf>,
    /// Draw the second run after so many cycles [default: as many as the first]
    #[arg(
        long,
        value_name = "N",
        help_heading = "Figure",
        value_parser = values::whole::<u64>,
        allow_negative_numbers = true,
        requires = "compare",
        requires = "at_cycle"
    )]
    compare_at: Option<u64>,
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
    /// The lowest and the highest value shown [default: those of the field]
    #[arg(
        long,
        value_name = "LO,HI",
        help_heading = "Figure",
        value_parser = values::range,
        allow_hyphen_values = true
    )]
    range: Option<Range>,
    /// The colours [default: inferno; red-blue for a symmetric scale]
    #[arg(long, help_heading = "Figure")]
    map: Option<ColourMap>,
    /// The row or the column that a profile follows [default: the middle row]
    #[arg(long, value_name = "j=N | i=N", help_heading = "Figure", value_parser = values::cut)]
    cut: Option<CutLine>,
    /// A part of an arrangement and where it lies, as shares of the whole, such as
    /// heat-map=0,0,0.6,1; once for each part [default: map, curves and profile]
    #[arg(
        long = "place",
        value_name = "KIND=LEFT,TOP,WIDTH,HEIGHT",
        help_heading = "Figure",
        value_parser = values::place
    )]
    places: Vec<Place>,
    /// What curves are drawn over [default: cycles]
    #[arg(long, help_heading = "Figure")]
    over: Option<Over>,
    /// Pixels, or centimetres, across and down [default: 1200x900; 1600x900 side by side]
    #[arg(long, value_name = "WxH | WxHcm", help_heading = "Figure", value_parser = values::size)]
    size: Option<Size>,
    /// Pixels an inch [default: 300 for a size in centimetres, 96 for one in pixels]
    #[arg(long, value_name = "N", help_heading = "Figure", value_parser = values::number)]
    dpi: Option<f64>,
    /// The size of letters, in points [default: what suits the size of the figure]
    #[arg(long, value_name = "PT", help_heading = "Figure", value_parser = values::number)]
    font_size: Option<f64>,
    /// Draw the borders of the tiles over the map; a profile has them in any case
    #[arg(long, help_heading = "Figure")]
    borders: bool,
    /// Leave out the title and the line of settings, for a figure with a caption of its own
    #[arg(long, help_heading = "Figure")]
    no_annotations: bool,
    /// The same as --kind bare-map
    #[arg(long, help_heading = "Figure", conflicts_with = "kind")]
    bare: bool,
    /// What it is to stand on; print is light, and screen is dark
    #[arg(long, default_value = "light", help_heading = "Figure")]
    theme: Theme,
    /// Draw an animation: the cycles from..to:step, or from..to:log for as many as suit, evenly
    /// spread by their logarithm (from..to:log40 for 40). All frames have the same range
    #[arg(
        long,
        value_name = "A..B:STEP",
        help_heading = "Animation",
        value_parser = values::cycles,
        conflicts_with = "at_cycle"
    )]
    animate: Option<(u64, u64, Spacing)>,
    /// Frames a second [default: 12]
    #[arg(
        long,
        value_name = "N",
        help_heading = "Animation",
        value_parser = values::number,
        requires = "animate"
    )]
    fps: Option<f64>,
    /// The file: .png or .svg; an animation is an .apng (or .png), a .gif or, if ffmpeg is
    /// installed, an .mp4
    #[arg(short, long, value_name = "FIGURE", help_heading = "Figure")]
    output: PathBuf,
}

/// Pixels an inch of a figure for paper.
const PRINT_DPI: f64 = 300.0;

/// Pixels across and down that suit two maps side by side.
const FOR_TWO: [u32; 2] = [1600, 900];

const CENTIMETRES_PER_INCH: f64 = 2.54;

impl Render {
    /// Makes the runs, draws them, saves the figure.
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let view = self.view()?;
        self.check_file(&view)?;
        files::check_place(&self.output)?;
        let spec = self.run.spec()?;
        let other = self.compare.as_deref().map(picture::open).transpose()?;
        let mut planner = Planner::default();
        let plans = [Some(&spec), other.as_ref().map(Opened::second)];
        let plans: Vec<_> =
            plans.into_iter().flatten().map(|run| planner.plan(run)).collect::<Result<_, _>>()?;
        let grid = |index: usize| plans.get(index).map(|plan| &plan.problem.shape);
        if let Some(shape) = grid(0) {
            view.check(shape, grid(1)).map_err(|refused| UsageError(refused.to_string()))?;
        }
        for warning in plans.iter().filter_map(Plan::warning) {
            tell(&warning);
        }
        let interrupt = Interrupt::listen()?;
        let mut runs = Vec::new();
        for (plan, cycle) in plans.iter().zip([self.at_cycle, self.compare_at.or(self.at_cycle)]) {
            match self.shoot(plan, &view, cycle, interrupt) {
                Ok(shots) => runs.push(shots),
                Err(error) => match error.downcast_ref() {
                    Some(ShootError::Cancelled { cycle }) => {
                        tell(&stopped(*cycle));
                        return Ok(ExitCode::from(INTERRUPTED));
                    }
                    _ => return Err(error),
                },
            }
        }
        match interrupt.hold(|| self.save(&spec, &runs, view, interrupt)) {
            Err(error) if matches!(error.downcast_ref(), Some(FilmError::Cancelled)) => {
                tell("interrupted; nothing was saved");
                Ok(ExitCode::from(INTERRUPTED))
            }
            saved => saved.map(|()| ExitCode::SUCCESS),
        }
    }

    /// Whether such a file can be made of what is wanted, before there is anything to write.
    fn check_file(&self, view: &ViewSpec) -> anyhow::Result<()> {
        let path = self.output.display();
        let refused = match (FigureFile::of(&self.output), FilmFile::of(&self.output)) {
            (_, Ok(film)) if self.animate.is_some() => match film.check(view.figure.theme) {
                // The option makes sense; it is the machine that does not have it.
                Err(error @ FilmError::NoFfmpeg) => return Err(error.into()),
                Err(error) => error.to_string(),
                Ok(()) => return Ok(()),
            },
            (_, Err(error)) if self.animate.is_some() => error.to_string(),
            (Ok(_), _) => return Ok(()),
            (Err(_), Ok(_)) => {
                format!("{path} is an animation; say of which cycles, such as --animate 0..400:8")
            }
            (Err(error), _) => error.to_string(),
        };
        Err(UsageError(refused).into())
    }

    /// The frames of an animation, if one is wanted.
    fn frames(&self) -> Option<Frames> {
        let (first, last, spacing) = self.animate?;
        Some(Frames { first, last, spacing, rate: self.fps.unwrap_or(RATE) })
    }

    /// What is to be drawn; the cycle, and that of the other run, are found out on the way.
    fn view(&self) -> Result<ViewSpec, UsageError> {
        let usual =
            if self.compare.is_some() { FigureKind::SideBySide } else { FigureKind::HeatMap };
        let kind = if self.bare { FigureKind::BareMap } else { self.kind.unwrap_or(usual) };
        if kind == FigureKind::BareMap && self.size.is_some() {
            let why = "--bare draws a pixel for each point; --size is of the other kinds";
            return Err(UsageError(why.to_owned()));
        }
        Ok(ViewSpec {
            field: self.field,
            kind,
            over: self.over.unwrap_or_default(),
            cut: self.cut,
            places: self.places.clone(),
            frames: self.frames(),
            figure: self.figure(kind)?,
            ..ViewSpec::default()
        })
    }

    fn figure(&self, kind: FigureKind) -> Result<FigureSpec, UsageError> {
        let diverging = self.map.is_some_and(ColourMap::is_diverging);
        let scale = self.scale.unwrap_or(match diverging {
            true => ScaleKind::Symmetric,
            false => natural_scale(self.field),
        });
        let mut usual = FigureSpec::default();
        if kind == FigureKind::SideBySide {
            usual.size = FOR_TWO;
        }
        let (size, dpi) = match self.size {
            None => (usual.size, self.dpi.unwrap_or(SCREEN_DPI)),
            Some(Size::Pixels(size)) => (size, self.dpi.unwrap_or(SCREEN_DPI)),
            Some(Size::Centimetres(size)) => {
                let dpi = self.dpi.unwrap_or(PRINT_DPI);
                let pixels = size.map(|side| (side / CENTIMETRES_PER_INCH * dpi).round());
                let allowed = f64::from(SMALLEST_SIDE)..=f64::from(LARGEST_SIDE);
                if !pixels.iter().all(|side| allowed.contains(side)) {
                    return Err(UsageError(format!(
                        "a figure of {} × {} cm at {dpi} pixels an inch has {} × {} pixels; each side takes {SMALLEST_SIDE} to {LARGEST_SIDE}",
                        size[0], size[1], pixels[0], pixels[1]
                    )));
                }
                (pixels.map(|side| side as u32), dpi)
            }
        };
        Ok(FigureSpec {
            scale,
            absolute: self.absolute,
            map: self.map.unwrap_or(natural_map(scale)),
            range: self.range,
            size,
            dpi,
            font: self.font_size,
            theme: self.theme,
            borders: self.borders || kind == FigureKind::Profile,
            annotations: !self.no_annotations,
        })
    }

    /// Goes to the cycle that is wanted and looks. A cycle that is named is drawn wherever the run
    /// would have stopped; what the figure carries is the run as it was asked for.
    fn shoot(
        &self,
        plan: &Plan,
        view: &ViewSpec,
        cycle: Option<u64>,
        interrupt: Interrupt,
    ) -> anyhow::Result<Vec<Captured>> {
        let capture = view.capture(0, &plan.problem.shape);
        let frames = view.frames.map(|frames| frames.cycles());
        let cycles = frames.unwrap_or_else(|| cycle.into_iter().collect());
        let when = if cycles.is_empty() { When::End } else { When::Cycles(&cycles) };
        let mut progress = Progress::start();
        let mut told = |stage: Stage<'_>| match stage {
            Stage::Run(run) => progress.show_run(run),
            Stage::Jacobi(made) => {
                progress.show(|| format!("Jacobi's iteration: {:.0} %", 100.0 * made));
            }
        };
        let mut watch = Watch { cancel: interrupt.flag(), told: &mut told };
        let seen = match shoot(plan, &capture, when, &mut watch) {
            Ok(seen) => seen,
            // The exit code depends on what the solver says.
            Err(ShootError::Solver(error)) => return Err(error.into()),
            Err(error) => return Err(error.into()),
        };
        drop(progress);
        if let Some(Outcome::Diverged(divergence)) = seen.outcome {
            tell(&divergence.to_string());
        }
        // What is drawn is how far it goes; what it was to go to, its description says.
        let asked = |shot| Captured { plan: plan.clone().into(), ..shot };
        Ok(seen.shots.into_iter().map(asked).collect())
    }

    fn save(
        &self,
        run: &RunSpec,
        runs: &[Vec<Captured>],
        view: ViewSpec,
        interrupt: Interrupt,
    ) -> anyhow::Result<()> {
        let shots: Vec<&Captured> = runs.iter().filter_map(|shots| shots.last()).collect();
        let Some(first) = shots.first() else { return Ok(()) };
        let (field, cycle) = (view.field, first.cycle);
        if view.kind.shows_field() && common_range(&shots, &view).is_none() {
            let sides = first.plan.tiling.axes().iter().map(|axis| axis.tile());
            if view.kind == FigureKind::MeanTile && sides.max() > Some(LONGEST_FOLDED) {
                return Err(ViewError::NotFolded.into());
            }
            return Err(ViewError::Unknown { field, cycle }.into());
        }
        let view = view.of(&shots);
        let Some(frames) = view.frames else {
            return Ok(save_figure(&self.output, &figure(&shots, &view), run, Some(&view))?);
        };
        let film = Film { runs, view: &view, frames };
        let mut progress = Progress::start();
        let all = runs[0].len();
        let mut told = |made| progress.show(|| format!("frame {made} of {all}"));
        Ok(save_film(&self.output, &film, run, interrupt.flag(), &mut told)?)
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::words;
    use super::*;
    use crate::picture::any::view;
    use crate::picture::figure_command;
    use crate::run::any::run;
    use clap::Parser;
    use proptest::prelude::*;
    use std::path::Path;

    #[derive(Parser)]
    struct Parsed {
        #[command(flatten)]
        render: Render,
    }

    /// A view as options can say it.
    fn said(mut view: ViewSpec) -> ViewSpec {
        if view.kind == FigureKind::BareMap {
            view.figure.size = FigureSpec::default().size;
        }
        view.figure.borders |= view.kind == FigureKind::Profile;
        view.cycle = if view.frames.is_some() { 0 } else { view.cycle };
        view
    }

    proptest! {
        #[test]
        fn a_figure_survives_its_command_line(run in run(), view in view()) {
            let view = said(view);
            let line = figure_command(&run, &view, Path::new("it's a figure.png"));
            let words = words(&line);
            prop_assert_eq!(&words[..2], ["tilescope", "render"]);
            let parsed = Parsed::try_parse_from(&words[1..]).unwrap().render;
            prop_assert_eq!(parsed.run.spec().unwrap(), run);
            let cycle = parsed.at_cycle.unwrap_or(0);
            if let Some(compared) = &view.compared {
                prop_assert_eq!(parsed.compare.as_deref(), Some(&*parsed.output));
                let is_still = view.frames.is_none();
                let beside = parsed.compare_at.or(parsed.at_cycle).filter(|_| is_still);
                prop_assert_eq!(beside, is_still.then_some(compared.cycle));
            }
            let expected = ViewSpec { compared: None, ..view };
            prop_assert_eq!(ViewSpec { cycle, ..parsed.view().unwrap() }, expected);
            prop_assert_eq!(parsed.output, Path::new("it's a figure.png"));
        }
    }
}
