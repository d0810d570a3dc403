//! From the options that describe a run to its description, in one step.

use super::values::{self, Axes};
use crate::grid::Precision;
use crate::picture;
use crate::problem::{Boundary, Stencil, input};
use crate::run::{
    Backend, MethodName, MethodSpec, PRESETS, Preset, ProblemKind, ProblemSpec, RunSpec, StopRule,
    StopSpec,
};
use crate::solver::Kernel;
use clap::Args;
use clap::builder::PossibleValuesParser;
use std::path::PathBuf;

/// The options that a run and a sweep over many settings have in common: the system, where it is
/// solved, and when to stop.
#[derive(Args, Clone, Debug, Default)]
pub struct CommonArgs {
    /// Start from a run file (.toml) or a figure that carries its run (.png, .svg); the other
    /// options change it
    #[arg(long, value_name = "FILE", help_heading = "Start from", conflicts_with = "preset")]
    run: Option<PathBuf>,
    /// Start from a ready-made run; the other options change it
    #[arg(
        long,
        value_name = "NAME",
        help_heading = "Start from",
        value_parser = PossibleValuesParser::new(PRESETS.map(|preset| preset.name))
    )]
    preset: Option<String>,

    /// The system to solve
    #[arg(long, help_heading = "Problem")]
    problem: Option<ProblemKind>,
    /// Interior points: 1024 for a line, 256x192 for a plane of 256 across and 192 down
    #[arg(
        long,
        value_name = "N | NXxNY",
        help_heading = "Problem",
        value_parser = values::axes,
        allow_negative_numbers = true
    )]
    shape: Option<Axes>,
    /// Independent copies of a line
    #[arg(
        long,
        value_name = "N",
        help_heading = "Problem",
        value_parser = values::whole::<usize>,
        allow_negative_numbers = true
    )]
    copies: Option<usize>,
    /// Right-hand side from a picture (PNG, JPEG) or a NumPy array (.npy); means --problem picture,
    /// and gives the shape unless there is --shape
    #[arg(long, value_name = "FILE", help_heading = "Problem")]
    rhs: Option<PathBuf>,
    /// Velocity of the wind in --problem convection-diffusion, over diffusivity and side
    #[arg(
        long,
        value_name = "X,Y",
        help_heading = "Problem",
        value_parser = values::velocity,
        allow_hyphen_values = true
    )]
    velocity: Option<[f64; 2]>,
    /// Seed of --problem random
    #[arg(
        long,
        value_name = "N",
        help_heading = "Problem",
        value_parser = values::whole::<u64>,
        allow_negative_numbers = true
    )]
    seed: Option<u64>,
    /// Dirichlet values in place of the problem's own; sides left out hold 0
    #[arg(
        long,
        value_name = "left=1,top=0.5",
        help_heading = "Problem",
        value_parser = values::boundary
    )]
    boundary: Option<Boundary>,
    /// Matrix row in place of the problem's own: the diagonal d and the entries of the points
    /// before and after along x (a, c) and y (e, f)
    #[arg(
        long,
        value_name = "d=4,a=-1,c=-1,e=-1,f=-1",
        help_heading = "Problem",
        value_parser = values::stencil
    )]
    stencil: Option<Stencil>,

    /// Precision of the arithmetic
    #[arg(long, help_heading = "Method")]
    precision: Option<Precision>,
    /// Where it runs
    #[arg(long, help_heading = "Method")]
    backend: Option<Backend>,
    /// Threads on the CPU; 0 for one a core. No result depends on it
    #[arg(
        long,
        value_name = "N",
        help_heading = "Method",
        value_parser = values::whole::<usize>,
        allow_negative_numbers = true
    )]
    threads: Option<usize>,

    /// Stop when what --stop compares is at most this [default: 1e-4, or none where --max-cycles
    /// is given]
    #[arg(
        long,
        value_name = "TOL",
        help_heading = "When to stop",
        value_parser = values::number,
        allow_negative_numbers = true
    )]
    tol: Option<f64>,
    /// What the tolerance is compared with [default: residual; change for heat plates]
    #[arg(long, value_name = "RULE", help_heading = "When to stop")]
    stop: Option<StopRule>,
    /// Stop after so many cycles in any case; without --tol, after just so many
    #[arg(
        long,
        value_name = "N",
        help_heading = "When to stop",
        value_parser = values::whole::<u64>,
        allow_negative_numbers = true
    )]
    max_cycles: Option<u64>,
}

/// The options that describe a run. What is not given is as in the default experiment: Poisson on
/// 256 × 256 points, k = 16, overlap 0, tile 32.
#[derive(Args, Clone, Debug, Default)]
pub struct RunArgs {
    #[command(flatten)]
    common: CommonArgs,

    /// How to solve it
    #[arg(long, help_heading = "Method")]
    method: Option<MethodName>,
    /// Subiterations of a cycle
    #[arg(
        long,
        value_name = "K",
        help_heading = "Method",
        value_parser = values::whole::<usize>,
        allow_negative_numbers = true
    )]
    k: Option<usize>,
    /// Points that neighbouring tiles share, even: 4, or 4x2 for other numbers along x and y
    #[arg(
        long,
        value_name = "O | OXxOY",
        help_heading = "Method",
        value_parser = values::axes,
        allow_negative_numbers = true
    )]
    overlap: Option<Axes>,
    /// Points of a tile along each axis: 32, or 32x16
    #[arg(
        long,
        value_name = "T | TXxTY",
        help_heading = "Method",
        value_parser = values::axes,
        allow_negative_numbers = true
    )]
    tile: Option<Axes>,
    /// How it runs on a GPU [default: auto]. No result depends on it
    #[arg(long, help_heading = "Method")]
    kernel: Option<Kernel>,
}

impl CommonArgs {
    /// The description that these options, and the file that they start from, make together; the
    /// setting is that of the file, or of the default experiment.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn spec(&self) -> anyhow::Result<RunSpec> {
        let base = self.base()?;
        let problem = self.problem(&base)?;
        let stop = self.stop(&base, &problem);
        let mut method = base.method;
        method.precision = self.precision.unwrap_or(method.precision);
        method.backend = self.backend.unwrap_or(method.backend);
        method.threads = self.threads.unwrap_or(method.threads);
        Ok(RunSpec { problem, stop, method, version: base.version })
    }

    fn base(&self) -> anyhow::Result<RunSpec> {
        if let Some(path) = &self.run {
            return Ok(picture::open(path)?.run);
        }
        let preset = self.preset.as_deref().and_then(Preset::named);
        Ok(preset.map(Preset::run).unwrap_or_default())
    }

    /// The kind of problem that is asked for, if one is.
    fn kind(&self) -> Option<ProblemKind> {
        self.problem.or(self.rhs.as_ref().map(|_| ProblemKind::Picture))
    }

    fn problem(&self, base: &RunSpec) -> anyhow::Result<ProblemSpec> {
        let mut problem = base.problem.clone();
        if let Some(kind) = self.kind().filter(|kind| *kind != problem.kind) {
            // What belongs to another problem stays behind.
            let ProblemSpec { shape, copies, .. } = problem;
            problem = ProblemSpec { kind, shape, copies, ..ProblemSpec::default() };
        }
        if let Some(rhs) = &self.rhs {
            problem.rhs = Some(rhs.clone());
            if self.shape.is_none() {
                let natural = input::natural_shape(rhs)?;
                problem.shape = natural.axes().to_vec();
                problem.copies = natural.copies();
            }
        }
        if let Some(Axes(shape)) = &self.shape {
            problem.shape.clone_from(shape);
        }
        problem.copies = self.copies.unwrap_or(problem.copies);
        problem.velocity = self.velocity.or(problem.velocity);
        problem.seed = self.seed.or(problem.seed);
        problem.boundary = self.boundary.or(problem.boundary);
        problem.stencil = self.stencil.or(problem.stencil);
        Ok(problem)
    }

    fn stop(&self, base: &RunSpec, problem: &ProblemSpec) -> StopSpec {
        let same_problem = problem.kind == base.problem.kind;
        let mut stop = if same_problem { base.stop } else { problem.kind.default_stop() };
        stop.rule = self.stop.unwrap_or(stop.rule);
        match (self.tol, self.max_cycles) {
            (Some(tolerance), _) => stop.tolerance = Some(tolerance),
            // A number of cycles alone means just so many.
            (None, Some(_)) => stop.tolerance = None,
            (None, None) => {}
        }
        stop.max_cycles = self.max_cycles.unwrap_or(stop.max_cycles);
        stop
    }
}

impl RunArgs {
    /// The description that these options, and the file that they start from, make together.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn spec(&self) -> anyhow::Result<RunSpec> {
        let mut spec = self.common.spec()?;
        let axes = |given: &Option<Axes>, base| given.clone().map_or(base, |Axes(axes)| axes);
        let base = spec.method;
        let mut method = MethodSpec {
            name: self.method.unwrap_or(base.name),
            k: self.k.unwrap_or(base.k),
            tile: axes(&self.tile, base.tile),
            overlap: axes(&self.overlap, base.overlap),
            kernel: Kernel::Auto,
            ..base
        };
        // The kernel of another method or back end stays behind.
        let inherited = Some(base.kernel).filter(|kernel| method.kernels().contains(kernel));
        method.kernel = self.kernel.or(inherited).unwrap_or_default();
        spec.method = method;
        Ok(spec)
    }

    /// Whether somebody asked for a tolerance, here or in the file that the run starts from: not
    /// meeting it is a failure then.
    pub fn asks_tolerance(&self) -> bool {
        self.common.tol.is_some() || self.common.run.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::words;
    use super::*;
    use crate::run::any::run;
    use crate::run::command_line;
    use clap::Parser;
    use proptest::prelude::*;

    #[derive(Parser)]
    struct Parsed {
        #[command(flatten)]
        run: RunArgs,
    }

    fn parsed(line: &str) -> RunSpec {
        let words = words(line);
        assert_eq!(words[..2], ["tilescope", "solve"]);
        Parsed::try_parse_from(&words[1..]).unwrap().run.spec().unwrap()
    }

    proptest! {
        #[test]
        fn a_description_survives_its_file(spec in run()) {
            let read = RunSpec::from_toml(&spec.to_toml(), "it").unwrap();
            prop_assert_eq!(read, spec);
        }

        #[test]
        fn a_description_survives_its_command_line(spec in run()) {
            prop_assert_eq!(parsed(&command_line(&spec)), spec);
        }
    }

    #[test]
    fn every_preset_survives_both() {
        for preset in PRESETS {
            let spec = preset.run();
            assert_eq!(RunSpec::from_toml(&spec.to_toml(), preset.name).unwrap(), spec);
            assert_eq!(parsed(&command_line(&spec)), spec);
            let named = parsed(&format!("tilescope solve --preset {}", preset.name));
            assert_eq!(named, spec);
        }
    }

    #[test]
    fn the_tolerance_is_what_was_asked_or_what_suits() {
        let stop = |options: &str| parsed(&format!("tilescope solve {options}")).stop;
        assert_eq!(stop("--k 4"), StopSpec::default());
        assert_eq!(stop("--problem heat-plate").rule, StopRule::Change);
        let just = stop("--max-cycles 40");
        assert_eq!((just.tolerance, just.max_cycles), (None, 40));
        let both = stop("--max-cycles 40 --tol 0.5");
        assert_eq!((both.tolerance, both.max_cycles), (Some(0.5), 40));
        let article = stop("--preset heat-plate-2048");
        assert_eq!((article.tolerance, article.max_cycles), (Some(1e-4), 15_000));
        assert_eq!(stop("--preset heat-plate-2048 --problem poisson"), StopSpec::default());
    }
}
