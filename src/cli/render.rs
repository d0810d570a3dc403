//! `tilescope render`: a figure of a run, or of two.

use super::args::{RunArgs, files_of};
use super::console::{FAILED, UsageError, as_note, print_note};
use super::gpu_notes::{print_device, print_gpu_notes};
use super::interrupt::Interrupt;
use super::outputs::{self, Output};
use super::progress::Progress;
use super::solve::{interrupted, out_of_cycles};
use super::values::{self, Follow, Size};
use crate::files;
use crate::grid::{GridPoint, Slice, memory};
use crate::picture::{
    self, Camera, ColourMap, Compared, FigureFile, FigureKind, FigureSpec, Film, FilmError,
    FilmFile, FilmSize, Frames, InsideKind, InsideView, LARGEST_SIDE, Norm, Over, Pairing,
    PlacedFigure, RATE, Range, SCREEN_DPI, SMALLEST_SIDE, ScaleKind, SlowLink, Spacing, Theme,
    ViewError, ViewSpec, common_range, counted, figure, grouped, natural_map, natural_scale,
    save_figure, save_film, save_table,
};
use crate::run::{
    FieldKind, MemoryNeed, Monitor, Outcome, Plan, Planner, RecordError, RecordedCycles, RunSpec,
    Snapshot, SnapshotRequest, Stage, record_run,
};
use clap::Args;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  tilescope render --at-cycle 40 -o residual.png
      the residual of the default run after 40 cycles: tile borders stand out
  tilescope render --overlap 4 --at-cycle 40 --field staleness --scale symmetric -o staleness.svg
      the staleness u − u_Jacobi of each point, as a vector figure
  tilescope render --at-cycle 40 --compare overlap-4.toml --size 16x9cm -o both.png
      two runs side by side, in the same colours
  tilescope render --preset paper-1d --tol none --max-cycles 500 --field update -o space-time.png
      in 1D a space–time diagram: x across, cycles downwards
  tilescope render --kind profile --cut j=100 --at-cycle 40 --theme transparent -o profile.svg
      the residual along a row with the tile borders, on a transparent background
  tilescope render --at-cycle 40 --kind curves --classic --compare overlap-4.toml --compare k-32.toml -o c.png
      the convergence of three runs and of Jacobi's iteration
  tilescope render --at-cycle 40 --kind inside --follow 2,3 --subiteration 8 -o tile.png
      a tile with its frozen halo halfway through the next cycle: its staleness
  tilescope render --at-cycle 400 --kind probes --probe 128,128 --probe 127,128 -o probes.csv
      the residual at two points over the cycles, as numbers
  tilescope render --overlap 8 --at-cycle 40 --kind mean-tile --borders -o tile.png
      the residual folded onto one tile, and the part that inner tiles own
  tilescope render --at-cycle 40 --kind arrangement --theme dark -o overview.png
      the map, the curves and a profile in one figure; --place arranges other parts
  tilescope render --shape 1024x1024 --at-cycle 10 --kind bare-map -o map.png
      the raw map, one pixel per point
  tilescope render --at-cycle 40 --kind frequencies -o frequencies.png
      the sine transform of the residual: how much each mode contributes
  tilescope render --overlap 4 --kind damping-by-mode -o damping.svg
      by which factor a cycle multiplies smooth waves and zigzags, by theory and as measured
  tilescope render --kind curves --theme dark -o curves.png
      the convergence, cycle by cycle
  tilescope render --animate 0..400:8 --borders -o film.gif
      an animation of the residual after 0, 8, 16 … 400 cycles
  tilescope render --animate 0..4000:log --compare overlap-4.toml --theme dark -o both.mp4
      an animation of two runs, at cycles spread evenly by their logarithm

The file carries the run: `tilescope open residual.png` shows it again, and --run residual.png
starts from it.";

/// The options of `tilescope render`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Render {
    #[command(flatten)]
    run: RunArgs,
    /// Draw the iterate after N cycles [default: the last cycle of the run]
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
    /// Another run for the same figure: a run file (.toml), or a figure that carries its run; if
    /// that shows several runs, all but the first are taken. Curves, profiles and tables of runs take
    /// up to six
    #[arg(long, value_name = "FILE", help_heading = "Figure")]
    compare: Vec<PathBuf>,
    /// Draw the other runs after N cycles [default: given by --pair]
    #[arg(
        long,
        value_name = "N",
        help_heading = "Figure",
        value_parser = values::whole::<u64>,
        allow_negative_numbers = true,
        requires = "compare"
    )]
    compare_at: Option<u64>,
    /// Which cycle of the other runs goes with that of the first; fixed is that of --compare-at [default:
    /// cycles]
    #[arg(long, help_heading = "Figure", requires = "compare")]
    pair: Option<Pairing>,
    /// Continue the run to this cycle after the one that is drawn: curves show the rest faintly
    #[arg(
        long,
        value_name = "N",
        help_heading = "Figure",
        value_parser = values::whole::<u64>,
        allow_negative_numbers = true,
        conflicts_with = "animate"
    )]
    until: Option<u64>,
    /// Curves: add N sweeps of Jacobi's iteration [without a number: as many as the run makes; speedup alone: so many
    /// in any case]
    #[arg(
        long,
        value_name = "N",
        help_heading = "Figure",
        value_parser = values::whole::<u64>,
        num_args = 0..=1,
        default_missing_value = ALL_SWEEPS,
        allow_negative_numbers = true
    )]
    classic: Option<u64>,
    /// Curves: add N sweeps of Jacobi's iteration with Chebyshev's acceleration [without a number: as many as
    /// the run makes]; not over seconds. The matrix must be symmetric, and ρ < 1
    #[arg(
        long,
        value_name = "N",
        help_heading = "Figure",
        value_parser = values::whole::<u64>,
        num_args = 0..=1,
        default_missing_value = ALL_SWEEPS,
        allow_negative_numbers = true
    )]
    chebyshev: Option<u64>,
    /// Curves: add N sweeps of conjugate gradients, one product with the matrix each [without a number: as
    /// many as the run makes]; not over seconds. The matrix must be symmetric
    #[arg(
        long,
        value_name = "N",
        help_heading = "Figure",
        value_parser = values::whole::<u64>,
        num_args = 0..=1,
        default_missing_value = ALL_SWEEPS,
        allow_negative_numbers = true
    )]
    conjugate_gradients: Option<u64>,
    /// Curves: add the line of the asymptotic rate of a cycle, and how many sweeps a digit takes; by theory where a
    /// cycle is so many sweeps of Jacobi's iteration, else measured
    #[arg(long, help_heading = "Figure")]
    asymptotic_rate: bool,
    /// A point whose values are drawn over the cycles (--kind probes), once for each; I,J,K in 3D
    #[arg(id = "probe", long = "probe", value_name = "I,J", help_heading = "Figure", value_parser = values::probe, allow_hyphen_values = true)]
    probes: Vec<values::Probe>,
    /// The tile that is followed through a cycle (--kind inside), counted from the left and from the
    /// top, in 3D among those that --slice cuts; all for all tiles in 1D [default: 1,1]
    #[arg(long, value_name = "A,B | all", help_heading = "Figure", value_parser = values::follow, allow_hyphen_values = true)]
    follow: Option<Follow>,
    /// The number of subiterations of the next cycle (--kind inside) [default: 4]
    #[arg(
        long,
        value_name = "N",
        help_heading = "Figure",
        value_parser = values::whole::<usize>,
        allow_negative_numbers = true
    )]
    subiteration: Option<usize>,
    /// What --kind inside draws [default: staleness]
    #[arg(long, help_heading = "Figure")]
    inside_shows: Option<InsideKind>,
    /// The link to fast memory that the models of --kind height assume: this-machine, as measured; pcie-3, pcie-4,
    /// pcie-5, nvlink or ssd; or the ratio of the seconds to move a value to those to update a point [default:
    /// this-machine]
    #[arg(long, value_name = "LINK", help_heading = "Figure", allow_hyphen_values = true)]
    slow_link: Option<SlowLink>,
    /// The field [default: residual]
    #[arg(long, help_heading = "Figure")]
    field: Option<FieldKind>,
    /// How values are spread over the colours [default: log; linear for the solution, symmetric
    /// for a diverging map]
    #[arg(long, help_heading = "Figure")]
    scale: Option<ScaleKind>,
    /// On a linear scale: magnitudes instead of values with a sign
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
    /// The slice through a 3D grid that is shown: by a map, by a profile along a line in it, by --kind inside of a
    /// tile [default: the middle of the last axis]
    #[arg(long, value_name = "x=N | y=N | z=N", help_heading = "Figure")]
    slice: Option<Slice>,
    /// In the map of a 3D grid show, in place of the slice, the value of largest magnitude along the axis across it
    #[arg(long, help_heading = "Figure")]
    projection: bool,
    /// The point of a 3D grid that three slices have in common (--kind slices) [default: the middle, in
    /// the slice of --slice]
    #[arg(long, value_name = "I,J,K", help_heading = "Figure", value_parser = values::point_3d, allow_hyphen_values = true)]
    through: Option<[usize; 3]>,
    /// Azimuth from which --kind volume is seen: degrees around the z axis, from the x axis
    /// [default: 35]
    #[arg(long, value_name = "DEGREES", help_heading = "Figure", value_parser = values::number, allow_negative_numbers = true)]
    azimuth: Option<f64>,
    /// Elevation from which --kind volume is seen: degrees above the xy-plane, -90 to 90 [default: 25]
    #[arg(long, value_name = "DEGREES", help_heading = "Figure", value_parser = values::number, allow_negative_numbers = true)]
    elevation: Option<f64>,
    /// How large the box of --kind volume is drawn; at 1 all of it is visible from every direction
    /// [default: 1]
    #[arg(long, value_name = "N", help_heading = "Figure", value_parser = values::number, allow_negative_numbers = true)]
    zoom: Option<f64>,
    /// The row, the column, or the points from one (i, j) to another that a profile follows; in 3D those of the
    /// slice, k=N along z [default: the middle row]
    #[arg(long, value_name = "j=N | i=N | I,J:I,J", help_heading = "Figure", value_parser = values::cut, allow_hyphen_values = true)]
    cut: Option<values::Cut>,
    /// A part of an arrangement and where it lies, as shares of the whole, such as
    /// heat-map=0,0,0.6,1; once for each part [default: map, curves and profile]
    #[arg(
        long = "place",
        value_name = "KIND=LEFT,TOP,WIDTH,HEIGHT",
        help_heading = "Figure",
        value_parser = values::place
    )]
    places: Vec<PlacedFigure>,
    /// What curves are drawn over [default: cycles]
    #[arg(long, help_heading = "Figure")]
    over: Option<Over>,
    /// Draw that axis logarithmically, which gives the first cycles as much room as the last
    #[arg(long, help_heading = "Figure")]
    log_x: bool,
    /// The norm that curves show [default: residual]
    #[arg(long, help_heading = "Figure")]
    norm: Option<Norm>,
    /// Pixels, or centimetres, across and down [default: 1200x900; 1600x900 side by side]
    #[arg(long, value_name = "WxH | WxHcm", help_heading = "Figure", value_parser = values::size, allow_hyphen_values = true)]
    size: Option<Size>,
    /// Pixels per inch [default: 300 for a size in centimetres, 96 for one in pixels]
    #[arg(long, value_name = "N", help_heading = "Figure", value_parser = values::number, allow_negative_numbers = true)]
    dpi: Option<f64>,
    /// The font size in points [default: suited to the size of the figure]
    #[arg(long, value_name = "PT", help_heading = "Figure", value_parser = values::number, allow_negative_numbers = true)]
    font_size: Option<f64>,
    /// Draw tile borders over the map; a profile always has them
    #[arg(long, help_heading = "Figure")]
    borders: bool,
    /// Leave out the title and the line of settings, for a figure with a caption
    #[arg(long, help_heading = "Figure")]
    no_annotations: bool,
    /// The same as --kind bare-map
    #[arg(long, help_heading = "Figure", conflicts_with = "kind")]
    bare: bool,
    /// The background that the figure is made for [default: light]
    #[arg(long, help_heading = "Figure")]
    theme: Option<Theme>,
    /// Draw an animation: the cycles from..to:step, or from..to:log for 60 of them, spread evenly
    /// by their logarithm (from..to:log40 for 40). All frames have the same range
    #[arg(
        long,
        value_name = "A..B:STEP",
        help_heading = "Animation",
        value_parser = values::cycles,
        allow_hyphen_values = true,
        conflicts_with = "at_cycle"
    )]
    animate: Option<(u64, u64, Spacing)>,
    /// Frames per second [default: 12]
    #[arg(
        long,
        value_name = "N",
        help_heading = "Animation",
        value_parser = values::number,
        allow_negative_numbers = true
    )]
    fps: Option<f64>,
    /// The file: .png, .svg or .pdf, or .csv for the numbers that are drawn; an animation is an .apng (or
    /// .png), a .gif or, if ffmpeg is installed, an .mp4. A .gif and an .mp4 carry no run
    #[arg(short, long, value_name = "FIGURE", help_heading = "Figure")]
    output: PathBuf,
}

/// As many sweeps of Jacobi's iteration as the run makes.
const ALL_SWEEPS: &str = "18446744073709551615";

/// Pixels per inch of a figure for paper.
const PRINT_DPI: f64 = 300.0;

/// Bytes that drawing and encoding a figure takes for each of its pixels: RGBA as it is drawn, as it is
/// saved, and compressed; of an animation once more, for the frame before.
const BYTES_PER_PIXEL: u64 = 12;

/// The same of one picture whose pixels are compressed as they are written: RGBA as it is drawn, and as much for a layer
/// of it.
const BYTES_PER_PIXEL_OF_PNG: u64 = 8;

/// Bytes that a sample of the map in a figure takes: its value, its colour, and both as a compressed picture, as text in
/// the figure, and decoded again to be drawn.
const BYTES_PER_SAMPLE: u64 = 32;

const CENTIMETRES_PER_INCH: f64 = 2.54;

/// Whether the names of two files have the same ending.
fn is_alike(one: &Path, other: &Path) -> bool {
    let [one, other] = [one, other].map(|path| path.extension().unwrap_or_default());
    one.eq_ignore_ascii_case(other)
}

impl Render {
    /// Makes the runs, draws them, saves the figure.
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let mut view = self.view()?;
        self.check_file(&view)?;
        let spec = self.run.spec()?;
        self.check_options(&view, &spec)?;
        let others = self.others(&mut view)?;
        // A figure may be drawn again in the place of one that carries its run, or another.
        let beside = others.iter().flat_map(|other| files_of(&other.run));
        let beside = beside.map(|(_, path)| ("a run of --compare", path));
        let compared = self.compare.iter().map(|path| ("--compare", path.as_path()));
        let files = self.run.inputs(&spec).into_iter().chain(compared).chain(beside);
        let is_figure = |path: &Path| FigureFile::of(path).is_ok() || FilmFile::of(path).is_ok();
        let is_run = |(option, path): &(&str, &Path)| {
            matches!(*option, "--run" | "--compare") && is_figure(path)
        };
        let (drawn_again, inputs): (Vec<_>, Vec<_>) = files.partition(is_run);
        let replaced = drawn_again.into_iter().find(|(_, path)| {
            files::is_replaced(&self.output) && files::is_same(path, &self.output)
        });
        outputs::check(&[Output { option: "-o", path: &self.output, endings: &[] }], &inputs)?;
        if let Some((option, path)) = replaced.filter(|(_, path)| !is_alike(path, &self.output)) {
            let (output, path) = (self.output.display(), path.display());
            let why = format!(
                "-o {output} is also the file of {option}, {path}, and of another format; name another file"
            );
            return Err(UsageError(why).into());
        }
        let interrupt = Interrupt::install("interrupted; nothing was saved")?;
        let mut planner = Planner::default();
        let first = match self.cycles(&view).is_empty() {
            true => planner.plan_to_fit(&spec)?,
            // A cycle that is named is one of the run that is described.
            false => planner.plan(&spec)?,
        };
        // The figure shows a cycle of the run that was made.
        let streamed = first.streamed_in_place();
        let spec = streamed.as_ref().unwrap_or(&spec);
        let plans = others.iter().map(|other| planner.plan(&other.run));
        let plans: Vec<_> = plans.collect::<Result<_, _>>()?;
        let shapes: Vec<_> = plans.iter().map(|plan| plan.problem.shape).collect();
        view.check_geometry(first.geometry().as_ref())
            .and_then(|()| view.check(&first.problem.shape, &shapes))
            .and_then(|()| view.check_plan(&first))
            .map_err(|refused| UsageError(refused.to_string()))?;
        self.check_inside(&first)?;
        if let Some(note) = self.run.lacks_tolerance(spec) {
            print_note(&note);
        }
        print_gpu_notes(&first);
        print_device(&first);
        for warning in std::iter::once(&first).chain(&plans).filter_map(Plan::warning) {
            print_note(&as_note(&warning));
        }
        let pixels = match (view.kind.has_page(), &first.problem.shape) {
            (true, _) => view.figure.size.map(u64::from).iter().product::<u64>(),
            (false, shape) => shape.points() as u64,
        };
        let of_pixel = match (view.frames, FigureFile::of(&self.output)) {
            (Some(_), _) => 2 * BYTES_PER_PIXEL,
            // Only its maps have pixels, which are counted as samples; a table has none at all.
            (None, Ok(FigureFile::Svg) | Err(_)) => 0,
            (None, Ok(FigureFile::Png)) => BYTES_PER_PIXEL_OF_PNG,
            (None, Ok(FigureFile::Pdf)) => BYTES_PER_PIXEL,
        };
        let own = view.snapshot_request(0, &first.problem.shape);
        let mut wanted = vec![(&first, own, self.cycles(&view))];
        for (plan, other) in plans.iter().zip(&others) {
            let snapshot_request =
                view.snapshot_request_beside(0, &plan.problem.shape, other.until);
            wanted.push((plan, snapshot_request, self.cycles_beside(&view, &first, plan, other)));
        }
        // One run after the other, but all of them before the first.
        for (plan, snapshot_request, _) in &wanted {
            let mut need = MemoryNeed::of_snapshot(plan, snapshot_request);
            need.add(MemoryNeed::FIGURE, pixels.saturating_mul(of_pixel));
            let [across, down] = snapshot_request.size(&plan.problem.shape).map(|n| n as u64);
            let samples = across.saturating_mul(down);
            need.add("its map", samples.saturating_mul(BYTES_PER_SAMPLE));
            need.check(plan.precision)?;
        }
        let (mut runs, mut has_diverged) = (Vec::new(), false);
        for (plan, snapshot_request, cycles) in wanted {
            match record_one(plan, &snapshot_request, &cycles, interrupt) {
                Ok((snapshots, is_divergent)) => {
                    runs.push(snapshots);
                    has_diverged |= is_divergent;
                }
                Err(error) => match error.downcast_ref() {
                    Some(RecordError::Cancelled { cycle }) => {
                        return Ok(interrupt.report(&interrupted(*cycle)));
                    }
                    _ => return Err(error),
                },
            }
        }
        interrupt.saves(vec![self.output.clone()], Some(0), "");
        match self.save(spec, &runs, view, interrupt) {
            Err(error) if matches!(error.downcast_ref(), Some(FilmError::Cancelled)) => {
                Ok(interrupt.report("interrupted; nothing was saved"))
            }
            // Why its last cycle has no values was said.
            Err(error)
                if has_diverged
                    && matches!(error.downcast_ref(), Some(ViewError::Unknown { .. })) =>
            {
                Ok(ExitCode::from(FAILED))
            }
            saved => {
                saved?;
                if let Some((option, path)) = replaced {
                    print_note(&format!("{}, the file of {option}, was replaced", path.display()));
                }
                let runs = std::iter::once(spec).chain(others.iter().map(|other| &other.run));
                print_without_run(&self.output, runs);
                Ok(ExitCode::SUCCESS)
            }
        }
    }

    /// The other runs, and in the view their colours.
    fn others(&self, view: &mut ViewSpec) -> anyhow::Result<Vec<Other>> {
        let mut others: Vec<(usize, Other)> = Vec::new();
        for path in &self.compare {
            let opened = picture::open(path)?;
            for (index, Compared { cycle, until, run }) in opened.beside().iter().enumerate() {
                let colour = opened.view.as_ref().map_or(index, |view| view.colour(index));
                let (cycle, until) = (Some(*cycle), *until);
                others.push((colour, Other { run: run.clone(), cycle, until }));
            }
            if opened.beside().is_empty() {
                let is_free = |colour: &usize| others.iter().all(|(other, _)| other != colour);
                let colour = (0..).find(is_free).unwrap_or(0);
                others.push((colour, Other { run: opened.run, cycle: None, until: None }));
            }
        }
        let is_somewhere = |(_, other): &(_, Other)| self.compare_at.or(other.cycle).is_some();
        if self.pair == Some(Pairing::Fixed) && !others.iter().all(is_somewhere) {
            let why = "--pair fixed needs the cycle of the other runs: --compare-at";
            return Err(UsageError(why.to_owned()).into());
        }
        let is_plain = others.iter().enumerate().all(|(index, (colour, _))| index == *colour);
        let (colours, others) = others.into_iter().unzip();
        view.colours = if is_plain { Vec::new() } else { colours };
        Ok(others)
    }

    /// The cycles of the first run that are drawn; none for its end.
    fn cycles(&self, view: &ViewSpec) -> Vec<u64> {
        view.frames.map_or_else(|| self.at_cycle.into_iter().collect(), |frames| frames.cycles())
    }

    /// Those of another run. A cycle that is named, or that of a figure, is drawn wherever the first is.
    fn cycles_beside(&self, view: &ViewSpec, first: &Plan, plan: &Plan, other: &Other) -> Vec<u64> {
        let fixed = self.compare_at.or(other.cycle);
        let pairing = match (view.frames, fixed) {
            (None, Some(_)) => Pairing::Fixed,
            _ => view.pairing,
        };
        let beside = |cycle: u64| {
            let sweeps = cycle.saturating_mul(first.sweeps_per_cycle());
            pairing.cycle(cycle, sweeps, plan.sweeps_per_cycle(), fixed.unwrap_or(cycle))
        };
        match (&self.cycles(view)[..], fixed) {
            ([], Some(cycle)) => vec![cycle],
            (cycles, _) => cycles.iter().copied().map(beside).collect(),
        }
    }

    /// Refuses a tile and a subiteration that the run does not have.
    fn check_inside(&self, plan: &Plan) -> Result<(), UsageError> {
        let dim = plan.problem.shape.dim();
        if matches!(self.follow, Some(Follow::All)) && dim > 1 {
            let why = format!("--follow is all; on a {dim}D grid it must be a tile, such as 1,1");
            return Err(UsageError(why));
        }
        if let Some(Follow::Tile(tile)) = self.follow {
            let shown = plan.shown(self.slice);
            let last = shown.tiling().axes().iter().map(|axis| axis.count() - 1);
            let last: Vec<_> = last.collect();
            if tile.iter().zip(&last).any(|(tile, last)| tile > last) {
                let last: Vec<_> = last.iter().map(usize::to_string).collect();
                let [a, b] = tile;
                let last = last.join(",");
                return Err(UsageError(format!("--follow is {a},{b}; the last tile is {last}")));
            }
        }
        let most = plan.sweeps_per_cycle();
        match self.subiteration.filter(|&it| it as u64 > most) {
            Some(subiteration) => Err(UsageError(format!(
                "--subiteration is {subiteration}; a cycle of this run has {most}"
            ))),
            None => Ok(()),
        }
    }

    /// Refuses options that change nothing of what is drawn, and cycles beyond the end of the run.
    fn check_options(&self, view: &ViewSpec, run: &RunSpec) -> Result<(), UsageError> {
        self.check_kind(view, run.problem.shape.len())?;
        self.check_values(view, run)?;
        self.check_style(view)?;
        self.check_accelerations(view)?;
        self.check_pairing()?;
        let Some((most, limit)) = self.run.max_cycles(run) else { return Ok(()) };
        for (option, goes, last) in [
            ("--animate", "goes to", view.frames.map(|frames| frames.last)),
            ("--at-cycle", "is", self.at_cycle),
            ("--until", "is", self.until),
        ] {
            if let Some(cycle) = last.filter(|cycle| *cycle > most) {
                let why = format!("{option} {goes} {cycle}, but the run ends at {limit}");
                return Err(UsageError(why));
            }
        }
        Ok(())
    }

    /// Refuses values that mean nothing to the run or to what is drawn of it.
    fn check_values(&self, view: &ViewSpec, run: &RunSpec) -> Result<(), UsageError> {
        let refuse = |why: String| Err(UsageError(why));
        if self.fps.is_some() && self.animate.is_none() {
            return refuse("--fps has no effect on a figure; use it with --animate".to_owned());
        }
        let below = self.range.filter(|range| range.lo() <= 0.0);
        if let (Some(range), ScaleKind::Log) = (below, view.figure.scale) {
            let [lo, hi] = [range.lo(), range.hi()];
            return refuse(format!("--range is {lo},{hi}; on scale log it must be above 0"));
        }
        // In 1D, the second number is the system of a batch.
        let (dim, needs) = match run.problem.shape.len() {
            1 => return Ok(()),
            2 => (2, "two numbers: I,J"),
            dim => (dim, "three numbers: I,J,K"),
        };
        match self.probes.iter().find(|(_, count)| *count != dim) {
            Some((GridPoint::Flat([i, _]), 1)) => {
                refuse(format!("--probe is {i}; a {dim}D grid needs {needs}"))
            }
            Some((point, _)) => refuse(format!("--probe is {point}; a {dim}D grid needs {needs}")),
            None => Ok(()),
        }
    }

    /// Refuses accelerations where a drawing has no curve of them.
    fn check_accelerations(&self, view: &ViewSpec) -> Result<(), UsageError> {
        let is_table = picture::is_table(&self.output) && self.animate.is_none();
        if is_table || view.draws_accelerations() {
            return Ok(());
        }
        let place = match view.over {
            Over::Seconds => "over seconds, since it is not timed",
            _ => "on this norm; its residual alone is known",
        };
        for (option, is_given) in [
            ("--chebyshev", self.chebyshev.is_some()),
            ("--conjugate-gradients", self.conjugate_gradients.is_some()),
        ] {
            if is_given {
                return Err(UsageError(format!("{option} has no effect {place}")));
            }
        }
        Ok(())
    }

    /// Refuses options of other kinds of figures.
    fn check_kind(&self, view: &ViewSpec, dim: usize) -> Result<(), UsageError> {
        let (uses, kind) = (view.uses(), view.kind.name());
        for (option, is_given, is_used, instead) in [
            ("--field", self.field.is_some(), uses.field, "heat-map"),
            ("--scale", self.scale.is_some(), uses.field, "heat-map"),
            ("--absolute", self.absolute, uses.absolute, "heat-map"),
            ("--range", self.range.is_some(), uses.range, "heat-map"),
            ("--map", self.map.is_some(), uses.colours, "heat-map"),
            ("--slice", self.slice.is_some(), uses.slice, "heat-map"),
            ("--projection", self.projection, uses.projection, "heat-map"),
            ("--borders", self.borders, uses.borders, "heat-map"),
            ("--until", self.until.is_some(), view.goes_on(dim), "curves"),
            ("--probe", !self.probes.is_empty(), uses.probes, "probes"),
            ("--follow", self.follow.is_some(), uses.inside, "inside"),
            ("--subiteration", self.subiteration.is_some(), uses.inside, "inside"),
            ("--inside-shows", self.inside_shows.is_some(), uses.inside, "inside"),
            ("--norm", self.norm.is_some(), uses.norm, "curves"),
            ("--over", self.over.is_some(), uses.over, "curves"),
            ("--log-x", self.log_x, uses.over, "curves"),
            ("--classic", self.classic.is_some(), uses.reference, "curves"),
            ("--chebyshev", self.chebyshev.is_some(), uses.reference, "curves"),
            ("--conjugate-gradients", self.conjugate_gradients.is_some(), uses.reference, "curves"),
            ("--asymptotic-rate", self.asymptotic_rate, uses.rate, "curves"),
            ("--through", self.through.is_some(), uses.through, "slices"),
            ("--azimuth", self.azimuth.is_some(), uses.camera, "volume"),
            ("--elevation", self.elevation.is_some(), uses.camera, "volume"),
            ("--zoom", self.zoom.is_some(), uses.camera, "volume"),
            ("--slow-link", self.slow_link.is_some(), uses.slow_link, "height"),
            ("--cut", self.cut.is_some(), uses.cut, "profile"),
            (
                "--place",
                !self.places.is_empty(),
                view.kind == FigureKind::ARRANGEMENT,
                "arrangement",
            ),
        ] {
            if is_given && !is_used {
                return Err(UsageError(format!(
                    "{option} has no effect on {kind}; use it with --kind {instead}"
                )));
            }
        }
        if self.animate.is_some() && view.kind.is_of_any_cycle() {
            let why = format!("--animate has no effect on {kind}, which no cycle changes");
            return Err(UsageError(why));
        }
        Ok(())
    }

    /// Refuses options about the looks of a figure where there are none: a table has numbers alone, the raw
    /// map no text.
    fn check_style(&self, view: &ViewSpec) -> Result<(), UsageError> {
        let is_film = self.animate.is_some();
        let is_table = picture::is_table(&self.output) && !is_film;
        let is_bare = !view.kind.has_page();
        for (option, is_given, is_used) in [
            ("--scale", self.scale.is_some(), !is_table),
            ("--absolute", self.absolute, !is_table),
            ("--range", self.range.is_some(), !is_table),
            ("--map", self.map.is_some(), !is_table),
            ("--borders", self.borders, !is_table && !is_bare),
            ("--no-annotations", self.no_annotations, !is_table && !is_bare),
            ("--font-size", self.font_size.is_some(), !is_table && !is_bare),
            // The size of a table may be in centimetres.
            ("--dpi", self.dpi.is_some(), !is_bare && (!is_table || self.size.is_some())),
            // An animation without transparency has the background of its theme.
            ("--theme", self.theme.is_some(), !is_table && (!is_bare || is_film)),
        ] {
            if is_given && !is_used {
                let what = if is_table { "a table" } else { "bare-map" };
                return Err(UsageError(format!("{option} has no effect on {what}")));
            }
        }
        if self.absolute && view.figure.scale != ScaleKind::Linear {
            let scale = view.figure.scale.name();
            let why =
                format!("--absolute has no effect on scale {scale}; use it with --scale linear");
            return Err(UsageError(why));
        }
        Ok(())
    }

    /// Refuses a pairing and a cycle of the other runs of which one changes nothing.
    fn check_pairing(&self) -> Result<(), UsageError> {
        let is_fixed = self.pair == Some(Pairing::Fixed);
        match self.pair.filter(|_| self.compare_at.is_some() && !is_fixed) {
            Some(pair) => {
                let pair = pair.name();
                Err(UsageError(format!(
                    "--compare-at does not go with --pair {pair}; leave one out"
                )))
            }
            None if self.animate.is_some() && self.compare_at.is_some() && !is_fixed => {
                let why = "--compare-at has no effect on an animation; use it with --pair fixed";
                Err(UsageError(why.to_owned()))
            }
            None => Ok(()),
        }
    }

    /// Checks that the kind of file goes with the figure, before anything is computed.
    fn check_file(&self, view: &ViewSpec) -> anyhow::Result<()> {
        let path = self.output.display();
        outputs::check_has_name("-o", &self.output)?;
        if picture::is_table(&self.output) && self.animate.is_none() {
            let kind = view.kind.name();
            return match view.kind.has_table() {
                true => Ok(()),
                false => {
                    Err(UsageError(format!("{kind} has no table, so it cannot be saved as {path}"))
                        .into())
                }
            };
        }
        let refused = match (FigureFile::of(&self.output), FilmFile::of(&self.output)) {
            (_, Ok(film)) if self.animate.is_some() => match film.check(view.figure.theme) {
                // The option makes sense; it is the machine that does not have it.
                Err(error @ FilmError::NoFfmpeg { .. }) => return Err(error.into()),
                Err(error) => error.to_string(),
                Ok(()) => return Ok(()),
            },
            (_, Err(error)) if self.animate.is_some() => error.to_string(),
            (Ok(_), _) => return Ok(()),
            (Err(_), Ok(_)) => {
                format!("{path} is an animation; choose its cycles, such as --animate 0..400:8")
            }
            (Err(_), _) => format!(
                "-o is {path}; its name must end in .png, .svg or .pdf, in .csv for the numbers, or with --animate in .apng, .png, .gif or .mp4"
            ),
        };
        Err(UsageError(refused).into())
    }

    /// The frames of an animation, if one is wanted.
    fn frames(&self) -> Option<Frames> {
        let (first, last, spacing) = self.animate?;
        Some(Frames { first, last, spacing, rate: self.fps.unwrap_or(RATE) })
    }

    /// What is to be drawn; the cycles follow from the runs.
    fn view(&self) -> Result<ViewSpec, UsageError> {
        let usual = match self.compare.len() {
            0 => FigureKind::HEAT_MAP,
            1 => FigureKind::SIDE_BY_SIDE,
            _ => FigureKind::CURVES,
        };
        let kind = if self.bare { FigureKind::BARE_MAP } else { self.kind.unwrap_or(usual) };
        if !kind.has_page() && self.size.is_some() {
            let why = "--bare draws one pixel per point; --size applies to the other kinds";
            return Err(UsageError(why.to_owned()));
        }
        Ok(ViewSpec {
            field: self.field.unwrap_or_default(),
            kind,
            over: self.over.unwrap_or_default(),
            log_x: self.log_x,
            norm: self.norm.unwrap_or_default(),
            slice: self.slice,
            projection: self.projection,
            through: self.through,
            camera: self.camera(),
            slow_link: self.slow_link.unwrap_or_default(),
            cut: self.cut.map(|cut| cut.line(self.slice)).transpose().map_err(UsageError)?,
            until: self.until,
            classic: self.classic.or_else(|| self.usual_baseline(kind)),
            chebyshev: self.chebyshev,
            conjugate_gradients: self.conjugate_gradients,
            asymptotic_rate: self.asymptotic_rate,
            probes: self.probes.iter().map(|(point, _)| *point).collect(),
            pairing: self.pair.unwrap_or_default(),
            inside: self.inside(),
            places: self.places.clone(),
            frames: self.frames(),
            figure: self.figure(kind)?,
            ..ViewSpec::default()
        })
    }

    /// Sweeps of Jacobi's iteration that a speedup is over where nothing else was chosen: as many as the run makes.
    fn usual_baseline(&self, kind: FigureKind) -> Option<u64> {
        let has_other =
            !self.compare.is_empty() || self.chebyshev.or(self.conjugate_gradients).is_some();
        (kind == FigureKind::SPEEDUP && !has_other).then_some(u64::MAX)
    }

    fn camera(&self) -> Camera {
        let usual = Camera::default();
        Camera {
            azimuth: self.azimuth.unwrap_or(usual.azimuth),
            elevation: self.elevation.unwrap_or(usual.elevation),
            zoom: self.zoom.unwrap_or(usual.zoom),
        }
    }

    fn inside(&self) -> InsideView {
        let usual = InsideView::default();
        InsideView {
            tile: match self.follow {
                Some(Follow::Tile(tile)) => tile,
                _ => usual.tile,
            },
            all_of_line: self.follow == Some(Follow::All),
            subiteration: self.subiteration.unwrap_or(usual.subiteration),
            kind: self.inside_shows.unwrap_or(usual.kind),
            ..usual
        }
    }

    fn figure(&self, kind: FigureKind) -> Result<FigureSpec, UsageError> {
        let diverging = self.map.is_some_and(ColourMap::is_diverging);
        let scale = self.scale.unwrap_or(match diverging {
            true => ScaleKind::Symmetric,
            false => natural_scale(self.field.unwrap_or_default()),
        });
        let usual = FigureSpec { size: kind.size(), ..FigureSpec::default() };
        let (size, dpi) = match self.size {
            None => (usual.size, self.dpi.unwrap_or(SCREEN_DPI)),
            Some(Size::Pixels(size)) => (size, self.dpi.unwrap_or(SCREEN_DPI)),
            Some(Size::Centimetres(size)) => {
                let dpi = self.dpi.unwrap_or(PRINT_DPI);
                let pixels = size.map(|side| (side / CENTIMETRES_PER_INCH * dpi).round());
                let allowed = f64::from(SMALLEST_SIDE)..=f64::from(LARGEST_SIDE);
                if !pixels.iter().all(|side| allowed.contains(side)) {
                    return Err(UsageError(format!(
                        "a figure of {} × {} cm at {dpi} pixels per inch has {} × {} pixels; each side must be {SMALLEST_SIDE} to {LARGEST_SIDE}",
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
            theme: self.theme.unwrap_or_default(),
            borders: self.borders || kind.always_has_borders(),
            annotations: !self.no_annotations,
        })
    }

    fn save(
        &self,
        run: &RunSpec,
        runs: &[Vec<Snapshot>],
        view: ViewSpec,
        interrupt: Interrupt,
    ) -> anyhow::Result<()> {
        let snapshots: Vec<&Snapshot> =
            runs.iter().filter_map(|snapshots| snapshots.last()).collect();
        let Some(first) = snapshots.first() else { return Ok(()) };
        let (field, cycle) = (view.field, first.cycle());
        view.check_observed(&snapshots)?;
        for why in first.accelerated.iter().filter_map(|curve| curve.why_not.as_ref()) {
            print_note(why);
        }
        if let Some(Err(why)) = first.plan.rate() {
            print_note(&why.to_string());
        }
        let is_of_field = view.kind.uses().field && !view.kind.is_over_cycles();
        if is_of_field && common_range(&snapshots, &view).is_none() {
            return Err(ViewError::Unknown { field, cycle }.into());
        }
        let view = view.of(&snapshots);
        if picture::is_table(&self.output) && view.frames.is_none() {
            return Ok(save_table(&self.output, &snapshots, &view)?);
        }
        let Some(frames) = view.frames else {
            return Ok(save_figure(&self.output, &figure(&snapshots, &view), run, Some(&view))?);
        };
        let film = Film { runs, view: &view, frames };
        let mut progress = Progress::start();
        let all = runs[0].len();
        if io::stderr().is_terminal() {
            // Two frames are drawn for the estimate, which may take long.
            let (path, frames) = (self.output.display(), counted(all as u64, "frame"));
            print_note(&format!("{path} has {frames}; estimating its size …"));
            let size = FilmSize::of(&self.output, &film, run)?;
            print_note(&format!("{path} will have about {}", memory::about(size.bytes(all))));
        }
        let mut report = |made| progress.show(|| format!("frame {made} of {all}"));
        Ok(save_film(&self.output, &film, run, interrupt.stop(), &mut report)?)
    }
}

/// Says so where a figure or an animation carries no run.
pub(super) fn print_without_run<'a>(path: &Path, runs: impl Iterator<Item = &'a RunSpec>) {
    if let Some(why) = picture::why_without_run(path, runs) {
        print_note(&format!("{} {why}", path.display()));
    }
}

/// A run beside the first.
struct Other {
    run: RunSpec,
    /// The cycle that is drawn, and the last that its curve shows, in the figure that it is from.
    cycle: Option<u64>,
    until: Option<u64>,
}

/// Records a run at these cycles; without any, at its end. A cycle that is named is drawn wherever the run
/// would have stopped, up to the rounding limit; the figure carries the run as it was requested. Returns whether the run
/// diverged, too.
fn record_one(
    plan: &Plan,
    snapshot_request: &SnapshotRequest,
    cycles: &[u64],
    interrupt: Interrupt,
) -> anyhow::Result<(Vec<Snapshot>, bool)> {
    let last = cycles.last().copied();
    let when = last.map_or(RecordedCycles::Last, |_| RecordedCycles::UpToRoundingLimit(cycles));
    let mut progress = Progress::start();
    let mut report = |stage: Stage<'_>| match stage {
        Stage::Run(run) => progress.show_run(run),
        Stage::Jacobi(made) => {
            progress.show(|| format!("Jacobi's iteration: {:.0} %", 100.0 * made));
        }
        Stage::GpuLoss(said) => print_note(said),
    };
    let mut watch = Monitor { cancel: interrupt.stop(), on_progress: &mut report };
    let seen = match record_run(plan, snapshot_request, when, &mut watch) {
        Ok(seen) => seen,
        // The exit code depends on the error of the solver.
        Err(RecordError::Solver(error)) => return Err(error.into()),
        Err(error) => return Err(error.into()),
    };
    drop(progress);
    let reached = seen.snapshots.last().map_or(0, Snapshot::cycle);
    match &seen.outcome {
        Some(Outcome::RoundingLimit) if last.is_some_and(|last| reached < last) => {
            let (reached, last) = (counted(reached, "cycle"), grouped(last.unwrap_or_default()));
            print_note(&format!(
                "the run ends after {reached}, at the rounding limit; its last cycle is drawn in place of {last}"
            ));
        }
        Some(Outcome::Diverged(divergence)) => print_note(&divergence.to_string()),
        Some(Outcome::OutOfCycles) if last.is_none() => {
            if let Some(tolerance) = plan.stop.tolerance {
                print_note(&out_of_cycles(&plan.stop, tolerance, reached));
            }
        }
        Some(Outcome::RoundingLimit) if last.is_none() && plan.stop.tolerance.is_some() => {
            print_note("the run stopped at the rounding limit before it met its tolerance");
        }
        _ => {}
    }
    // The snapshot has how far the run went; its description keeps how far it was meant to go.
    let asked = |snapshot| Snapshot { plan: plan.clone().into(), ..snapshot };
    let is_divergent = matches!(seen.outcome, Some(Outcome::Diverged(_)));
    Ok((seen.snapshots.into_iter().map(asked).collect(), is_divergent))
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

    #[derive(Parser)]
    struct Parsed {
        #[command(flatten)]
        render: Render,
    }

    /// A view as far as options can express it.
    fn expressible(mut view: ViewSpec, run: &RunSpec) -> ViewSpec {
        let usual = FigureSpec::default();
        let figure = &mut view.figure;
        if !view.kind.has_page() {
            (figure.size, figure.dpi, figure.font) = (usual.size, usual.dpi, usual.font);
            (figure.borders, figure.annotations) = (usual.borders, usual.annotations);
            figure.theme = if view.frames.is_some() { figure.theme } else { usual.theme };
        }
        figure.absolute &= figure.scale == ScaleKind::Linear;
        view.figure.borders |= view.kind.always_has_borders();
        if view.frames.is_some() {
            (view.cycle, view.until) = (0, None);
        }
        let uses = view.uses();
        if !uses.inside {
            view.inside = InsideView::default();
        }
        if !uses.field {
            let ViewSpec { field, .. }: ViewSpec = ViewSpec::default();
            (view.field, view.figure.scale) = (field, usual.scale);
        }
        view.slice = view.slice.filter(|_| uses.slice);
        view.projection &= uses.projection;
        view.figure.absolute &= uses.absolute;
        view.figure.range = view.figure.range.filter(|_| uses.range);
        if !uses.colours {
            view.figure.map = natural_map(view.figure.scale);
        }
        if !uses.borders {
            view.figure.borders = usual.borders || view.kind.always_has_borders();
        }
        if !uses.probes {
            view.probes = Vec::new();
        }
        view.until = view.until.filter(|_| view.goes_on(run.problem.shape.len()));
        view.classic = view.classic.filter(|_| uses.reference);
        view.chebyshev = view.chebyshev.filter(|_| uses.reference);
        view.conjugate_gradients = view.conjugate_gradients.filter(|_| uses.reference);
        if !view.draws_accelerations() {
            (view.chebyshev, view.conjugate_gradients) = (None, None);
        }
        let has_other =
            !view.compared.is_empty() || view.chebyshev.or(view.conjugate_gradients).is_some();
        if view.kind == FigureKind::SPEEDUP && !has_other {
            view.classic = view.classic.or(Some(u64::MAX));
        }
        view.asymptotic_rate &= uses.rate;
        view.cut = view.cut.filter(|_| uses.cut);
        view.through = view.through.filter(|_| uses.through);
        if !uses.camera {
            view.camera = Camera::default();
        }
        if !uses.slow_link {
            view.slow_link = SlowLink::default();
        }
        if !uses.over {
            (view.over, view.log_x) = (Over::default(), false);
        }
        if !uses.norm {
            view.norm = Norm::default();
        }
        if view.kind != FigureKind::ARRANGEMENT {
            view.places = Vec::new();
        }
        if view.kind.is_of_any_cycle() {
            view.frames = None;
        }
        if view.inside.all_of_line {
            view.inside.tile = InsideView::default().tile;
        }
        if view.compared.is_empty() {
            view.pairing = Pairing::default();
        }
        // Those of other runs are in the figure.
        view.colours = Vec::new();
        view
    }

    proptest! {
        #[test]
        fn a_figure_survives_its_command_line(run in run(), view in view()) {
            let view = expressible(view, &run);
            let line = figure_command(&run, &view, Path::new("it's a figure.png"));
            let words = words(&line);
            prop_assert_eq!(&words[..2], ["tilescope", "render"]);
            let parsed = Parsed::try_parse_from(&words[1..]).unwrap().render;
            // No option is refused for having no effect.
            let drawn = parsed.view().unwrap();
            prop_assert!(parsed.check_kind(&drawn, run.problem.shape.len()).is_ok(), "{}", line);
            prop_assert!(parsed.check_style(&drawn).is_ok(), "{}", line);
            prop_assert!(parsed.check_accelerations(&drawn).is_ok(), "{}", line);
            prop_assert!(parsed.check_pairing().is_ok(), "{}", line);
            let table = figure_command(&run, &view, Path::new("table.csv"));
            let table = Parsed::try_parse_from(&super::super::words::words(&table)[1..]);
            let table = table.unwrap().render;
            let drawn = table.view().unwrap();
            prop_assert!(table.check_style(&drawn).is_ok(), "{}", line);
            prop_assert_eq!(parsed.run.spec().unwrap(), run);
            let cycle = parsed.at_cycle.unwrap_or(0);
            let is_from_figure = !view.compared.is_empty();
            prop_assert_eq!(parsed.compare.contains(&parsed.output), is_from_figure);
            let expected = ViewSpec { compared: Vec::new(), ..view };
            prop_assert_eq!(ViewSpec { cycle, ..parsed.view().unwrap() }, expected);
            prop_assert_eq!(parsed.output, Path::new("it's a figure.png"));
        }
    }
}
