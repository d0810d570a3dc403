//! `tilescope bench streaming`: pyramids and the wavefront within budgets of fast memory, beside sweeps of the whole
//! grid in it.

use super::super::console::{FAILED, UsageError, json, print_note};
use super::super::progress::Progress;
use super::super::values::{self, Axes};
use super::machine::Machine;
use super::measure::{self, Timing};
use super::output::{Formats, Output};
use super::table::{Table, csv, known, percent};
use crate::cli::gpu_notes::print_gpu_notes;
use crate::grid::{ByteCount, Precision};
use crate::picture::digits;
use crate::run::{Backend, MethodName, MethodSpec, Plan, Planner, ProblemSpec, RunSpec, StopSpec};
use crate::solver::cuda::{self, LinkSpeed};
use crate::solver::{
    self, Height, Kernel, Method, NormRequest, Place, PyramidModel, Scheme, Slabs, Solver,
    SolverError, Streaming, Traffic,
};
use clap::Args;
use serde::Serialize;
use std::fmt::Write;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  tilescope bench streaming --backend cuda --memory 2GB,4300MB -o streaming.md
      a grid of 25.8 GB through windows and slabs of a GPU's memory
  tilescope bench streaming --shape 256x256x256 --memory 32MB --height 4,8,16 --backend cpu
      the same on the CPU, within a cache

The rate of sweeps is compared with that of Jacobi's iteration on the whole grid in the memory of the GPU, or on the CPU.
Times are by the solver's own clock (on a GPU by its events), medians of several passes after one to warm up. The models
are given the measured time of an update and, on a GPU, that of moving a value.";

/// The options of `tilescope bench streaming`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub(super) struct StreamingBench {
    /// Interior grid points per axis, x first
    #[arg(
        long,
        value_name = "N | NXxNY | NXxNYxNZ",
        default_value = "1024x1024x1024",
        help_heading = "Problem",
        value_parser = values::axes
    )]
    shape: Axes,
    /// Floating-point precision
    #[arg(long, default_value = "f64", help_heading = "Method")]
    precision: Precision,
    /// Methods, comma-separated: wavefront, pyramid
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "wavefront,pyramid",
        hide_possible_values = true,
        help_heading = "Method"
    )]
    method: Vec<MethodName>,
    /// Budgets of fast memory, comma-separated
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "2GB,4300MB",
        help_heading = "Method"
    )]
    memory: Vec<ByteCount>,
    /// Heights of pyramids, comma-separated; the wavefront takes what its window has room for
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "auto",
        help_heading = "Method"
    )]
    height: Vec<Height>,
    /// Slabs of pyramids that are on a GPU at a time, comma-separated
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "auto",
        help_heading = "Method"
    )]
    slabs: Vec<Slabs>,
    /// Kernels of the wavefront on a GPU, comma-separated: auto, classic, fused
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "auto",
        hide_possible_values = true,
        help_heading = "Method"
    )]
    kernel: Vec<Kernel>,
    /// Back end, the same for all settings; auto is the GPU if it has room for any of them
    #[arg(long, default_value = "auto", help_heading = "Measurement")]
    backend: Backend,
    /// Passes per median
    #[arg(
        long,
        value_name = "N",
        default_value = "3",
        help_heading = "Measurement",
        value_parser = values::count::<1, 1000>,
        allow_negative_numbers = true
    )]
    repeats: u32,

    #[command(flatten)]
    output: Output,
}

impl StreamingBench {
    /// Times every setting, prints the table and saves it.
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        self.output.check(&[])?;
        self.check_methods()?;
        let mut planner = Planner::default();
        let plans = self.plans(&mut planner)?;
        let first = &plans[0];
        let opened = measure::open(first)?;
        let link = match &first.place {
            Place::Cuda { devices, .. } => devices.first().map(cuda::link_speed).transpose()?,
            Place::Cpu { .. } => None,
        };
        let mut progress = Progress::start();
        progress.show(|| "the whole grid in memory".to_owned());
        let classic = MethodSpec { name: MethodName::Classic, ..MethodSpec::default() };
        let in_memory = planner.plan(&self.spec(classic, first.backend()))?;
        let sweep = fitting(self.in_memory(&in_memory))?;
        let lines = self.lines(&plans, link, sweep, &mut progress)?;
        drop(progress);
        if lines.is_empty() {
            // Notes have said why.
            return Ok(ExitCode::from(FAILED));
        }
        self.output.publish(&Record {
            title: first.problem.shape.to_string(),
            precision: self.precision.name(),
            repeats: self.repeats,
            link: link.map(|LinkSpeed { up, down, both }| [up, down, both]),
            sweep_seconds: sweep,
            machine: Machine::here(opened),
            lines,
        })?;
        Ok(ExitCode::SUCCESS)
    }

    /// Refuses methods that do not stream.
    fn check_methods(&self) -> Result<(), UsageError> {
        match self.method.iter().find(|name| !name.is_streaming()) {
            Some(name) => Err(UsageError(format!(
                "--method is {}; it must be pyramid, wavefront or both",
                name.name()
            ))),
            None => Ok(()),
        }
    }

    /// The settings that can run, at least one and all on the same back end. Those that do not go together are left out
    /// with a note.
    ///
    /// # Errors
    /// Why the last setting cannot run, if none can.
    fn plans(&self, planner: &mut Planner) -> anyhow::Result<Vec<Plan>> {
        let methods = self.methods();
        let mut backend = self.backend;
        if backend == Backend::Auto {
            let plans = methods
                .iter()
                .filter_map(|method| planner.plan(&self.spec(method.clone(), Backend::Auto)).ok());
            let plans: Vec<_> = plans.collect();
            let on_gpu = plans.iter().find(|plan| plan.backend() == Backend::Cuda);
            if let Some(plan) = on_gpu.or(plans.first()) {
                print_gpu_notes(plan);
                backend = plan.backend();
            }
        }
        let (mut plans, mut refused) = (Vec::new(), Vec::new());
        for method in methods {
            match planner.plan(&self.spec(method, backend)) {
                Ok(plan) => plans.push(plan),
                Err(error) => refused.push(error),
            }
        }
        let last = if plans.is_empty() { refused.pop() } else { None };
        refused.iter().for_each(|error| print_note(&error.to_string()));
        last.map_or(Ok(plans), |error| Err(error.into()))
    }

    /// Times passes of every plan. A window that does not fit, or that the kernel does not accept, is left out with a note.
    fn lines(
        &self,
        plans: &[Plan],
        link: Option<LinkSpeed>,
        sweep: Option<Timing>,
        progress: &mut Progress,
    ) -> Result<Vec<Line>, SolverError> {
        let mut lines = Vec::new();
        let (mut solver, mut kernel) = (None, Kernel::AUTO);
        for (number, plan) in plans.iter().enumerate() {
            let Method::Streaming(streaming) = plan.method else { continue };
            if plan.place.kernel() != kernel {
                (solver, kernel) = (None, plan.place.kernel());
            }
            let name = streaming.method().name();
            progress.show(|| format!("{} of {}: {name}", number + 1, plans.len()));
            let Some(mut own) = fitting(prepared(solver.take(), plan, streaming))? else {
                continue;
            };
            let pass = self.pass(&mut *own)?;
            let traffic = own.traffic();
            let runs = own.device().map(|device| device.kernel.name());
            solver = Some(own);
            let Some(traffic) = traffic else { continue };
            let points = plan.problem.shape.points();
            let on_gpu = matches!(plan.place, Place::Cuda { .. });
            let value = link.map(|link| ValueSeconds::of(link, self.precision));
            let update = sweep.map(|sweep| sweep.median / points as f64);
            let models = value
                .zip(update)
                .and_then(|(value, update)| Models::of(&streaming, on_gpu, value, update, points));
            let line = Line::of(plan, &streaming, on_gpu, pass, traffic, sweep);
            lines.push(Line { kernel: runs, models, ..line });
        }
        Ok(lines)
    }

    /// The settings in the order of the table.
    fn methods(&self) -> Vec<MethodSpec> {
        let mut methods = Vec::new();
        for &memory in &self.memory {
            for &name in &self.method {
                let is_pyramid = name == MethodName::Pyramid;
                let memory = Some(memory);
                let of = |height, slabs| MethodSpec {
                    name,
                    memory,
                    height: Some(height),
                    slabs,
                    ..MethodSpec::default()
                };
                if !is_pyramid {
                    methods.extend(
                        self.kernel
                            .iter()
                            .map(|&kernel| MethodSpec { kernel, ..of(Height::Auto, Slabs::Auto) }),
                    );
                    continue;
                }
                for &slabs in &self.slabs {
                    methods.extend(self.height.iter().map(|height| of(*height, slabs)));
                }
            }
        }
        methods
    }

    fn spec(&self, method: MethodSpec, backend: Backend) -> RunSpec {
        let Axes(shape) = &self.shape;
        let precision = self.precision;
        RunSpec {
            problem: ProblemSpec { shape: shape.clone(), ..ProblemSpec::default() },
            method: MethodSpec { precision, backend, ..method },
            stop: StopSpec { tolerance: None, ..StopSpec::default() },
            ..RunSpec::default()
        }
    }

    /// Seconds of a sweep of the whole grid.
    fn in_memory(&self, plan: &Plan) -> Result<Timing, SolverError> {
        let mut solver =
            solver::set_up(&plan.problem, plan.method.clone(), plan.precision, &plan.place)?;
        let sweep_us = measure::time(self.repeats, || solver.cycles(u64::MAX, NormRequest::NONE))?;
        Ok(sweep_us.times(1e-6))
    }

    /// Seconds of a pass.
    fn pass(&self, solver: &mut dyn Solver) -> Result<Timing, SolverError> {
        let mut samples = Vec::new();
        for number in 0..=self.repeats {
            let batch = solver.cycles(1, NormRequest::NONE)?;
            if number > 0 {
                samples.push(batch.seconds / batch.cycles as f64);
            }
        }
        Ok(Timing::of(samples))
    }
}

/// A solver of a plan: one that is there, whose arrays on this machine stay where that is possible, or a new one.
fn prepared(
    solver: Option<Box<dyn Solver>>,
    plan: &Plan,
    streaming: Streaming,
) -> Result<Box<dyn Solver>, SolverError> {
    if let Some(mut solver) = solver
        && solver.set_streaming(streaming)?
    {
        return Ok(solver);
    }
    solver::set_up(&plan.problem, plan.method.clone(), plan.precision, &plan.place)
}

/// What was made, or `None` with a note where it does not fit into memory, or the kernel does not accept it.
///
/// # Errors
/// Any other error.
fn fitting<T>(made: Result<T, SolverError>) -> Result<Option<T>, SolverError> {
    match made {
        Ok(made) => Ok(Some(made)),
        Err(
            error @ (SolverError::DeviceMemory { .. }
            | SolverError::Memory(_)
            | SolverError::Kernel { .. }),
        ) => {
            print_note(&error.to_string());
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Seconds to move a value.
#[derive(Clone, Copy)]
struct ValueSeconds {
    /// Where the link is used one way at a time, the mean of both.
    alone: f64,
    /// Where both are used at once.
    both: f64,
}

impl ValueSeconds {
    fn of(link: LinkSpeed, precision: Precision) -> Self {
        let bytes = precision.bytes() as f64;
        Self { alone: bytes * 0.5 * (1.0 / link.up + 1.0 / link.down), both: bytes / link.both }
    }
}

/// Seconds of a pass as models of a pyramid predict them.
#[derive(Clone, Copy, Debug, Serialize)]
struct Models {
    /// The paper's.
    paper: f64,
    /// The corrected one, of one slab or of two in flight.
    corrected: f64,
}

impl Models {
    /// `None` of a wavefront.
    fn of(
        streaming: &Streaming,
        on_gpu: bool,
        value: ValueSeconds,
        update: f64,
        points: usize,
    ) -> Option<Self> {
        let at_once = slabs(streaming, on_gpu)?;
        let (planes, n) = (streaming.planes() / at_once, streaming.height());
        let pass = |model: PyramidModel, value| {
            model.seconds(planes, n, value, update) * (points * n) as f64
        };
        Some(Self {
            paper: pass(PyramidModel::Paper, value.alone),
            corrected: match at_once {
                1 => pass(PyramidModel::Corrected, value.alone),
                _ => pass(PyramidModel::TwoInFlight, value.both),
            },
        })
    }
}

/// Slabs of a pyramid at a time; `None` of a wavefront.
fn slabs(streaming: &Streaming, on_gpu: bool) -> Option<usize> {
    let is_pyramid = streaming.scheme() == Scheme::Pyramid;
    is_pyramid.then(|| if on_gpu { streaming.slabs_on_gpu() } else { 1 })
}

/// One setting, measured.
#[derive(Debug, Serialize)]
struct Line {
    method: &'static str,
    backend: &'static str,
    /// The kernel that ran; `None` on the CPU.
    kernel: Option<&'static str>,
    memory_bytes: u64,
    /// Of three arrays of the grid.
    of_grid: f64,
    height: usize,
    /// Planes that the budget has room for.
    planes: usize,
    slabs: Option<usize>,
    pass_seconds: Timing,
    sweeps_per_second: f64,
    /// The rate of sweeps over that of the whole grid in memory.
    of_in_memory: Option<f64>,
    values_per_update: f64,
    redundancy: f64,
    models: Option<Models>,
}

impl Line {
    fn of(
        plan: &Plan,
        streaming: &Streaming,
        on_gpu: bool,
        pass: Timing,
        traffic: Traffic,
        sweep: Option<Timing>,
    ) -> Self {
        let shape = &plan.problem.shape;
        let memory_bytes = plan.spec.method.memory().bytes();
        let n = streaming.height();
        let sweeps_per_second = n as f64 / pass.median;
        Self {
            method: streaming.method().name(),
            backend: plan.backend().name(),
            memory_bytes,
            of_grid: memory_bytes as f64 / (3 * shape.stored() * plan.precision.bytes()) as f64,
            height: n,
            planes: streaming.planes(),
            slabs: slabs(streaming, on_gpu),
            pass_seconds: pass,
            sweeps_per_second,
            of_in_memory: sweep.map(|sweep| sweeps_per_second * sweep.median),
            values_per_update: traffic.values_per_update(),
            redundancy: traffic.redundancy(),
            kernel: None,
            models: None,
        }
    }
}

/// The lines, and where they were measured.
#[derive(Debug, Serialize)]
struct Record {
    title: String,
    precision: &'static str,
    /// Passes per median.
    repeats: u32,
    /// Bytes per second up, down, and each way at once.
    link: Option<[f64; 3]>,
    /// Of the whole grid in memory.
    sweep_seconds: Option<Timing>,
    machine: Machine,
    lines: Vec<Line>,
}

impl Record {
    fn heading(&self) -> String {
        format!("Planes through fast memory: {} points · {}", self.title, self.precision)
    }

    /// The link and the sweep in memory.
    fn probes(&self) -> String {
        let mut parts = Vec::new();
        if let Some(sweep) = &self.sweep_seconds {
            parts.push(format!(
                "in memory {} sweeps/s ({} ms a sweep, ± {})",
                digits(1.0 / sweep.median),
                digits(1e3 * sweep.median),
                percent(sweep.spread())
            ));
        }
        if let Some([up, down, both]) = self.link.map(|link| link.map(|speed| digits(speed * 1e-9)))
        {
            parts.push(format!("link {up} GB/s up, {down} down, {both} each way at once"));
        }
        parts.join(" · ")
    }

    fn table(&self) -> Table {
        let heads = [
            "method",
            "on",
            "kernel",
            "memory GB",
            "of grid",
            "planes",
            "slabs",
            "n",
            "pass s",
            "±",
            "sweeps/s",
            "% of in memory",
            "values/update",
            "redundant work",
            "model s",
            "paper's s",
            "prediction error",
        ];
        let mut lines = vec![heads.map(str::to_owned).to_vec()];
        for line in &self.lines {
            let error = |models: Models| models.corrected / line.pass_seconds.median - 1.0;
            lines.push(vec![
                line.method.to_owned(),
                line.backend.to_owned(),
                known(line.kernel, str::to_owned),
                digits(line.memory_bytes as f64 * 1e-9),
                format!("1/{:.1}", 1.0 / line.of_grid),
                line.planes.to_string(),
                known(line.slabs, |slabs| slabs.to_string()),
                line.height.to_string(),
                digits(line.pass_seconds.median),
                percent(line.pass_seconds.spread()),
                digits(line.sweeps_per_second),
                known(line.of_in_memory, percent),
                format!("{:.3}", line.values_per_update),
                format!("{:.2}", line.redundancy),
                known(line.models, |models| digits(models.corrected)),
                known(line.models, |models| digits(models.paper)),
                known(line.models, |models| format!("{:+.1} %", 100.0 * error(models))),
            ]);
        }
        Table::of(lines)
    }
}

impl Formats for Record {
    fn json(&self) -> anyhow::Result<String> {
        json(self)
    }

    fn csv(&self) -> anyhow::Result<String> {
        #[derive(Serialize)]
        struct Cells {
            method: &'static str,
            backend: &'static str,
            kernel: Option<&'static str>,
            memory_bytes: u64,
            planes: usize,
            slabs: Option<usize>,
            height: usize,
            pass_seconds: f64,
            sweeps_per_second: f64,
            of_in_memory: Option<f64>,
            values_per_update: f64,
            redundancy: f64,
            model_seconds: Option<f64>,
            paper_seconds: Option<f64>,
        }
        csv(self.lines.iter().map(|line| Cells {
            method: line.method,
            backend: line.backend,
            kernel: line.kernel,
            memory_bytes: line.memory_bytes,
            planes: line.planes,
            slabs: line.slabs,
            height: line.height,
            pass_seconds: line.pass_seconds.median,
            sweeps_per_second: line.sweeps_per_second,
            of_in_memory: line.of_in_memory,
            values_per_update: line.values_per_update,
            redundancy: line.redundancy,
            model_seconds: line.models.map(|models| models.corrected),
            paper_seconds: line.models.map(|models| models.paper),
        }))
    }

    fn text(&self) -> String {
        let (heading, machine) = (self.heading(), self.machine.line());
        format!("{heading}\n{machine}\n{}\n\n{}", self.probes(), self.table().text())
    }

    fn markdown(&self) -> String {
        let mut text = format!("# {}\n\n{}\n\n", self.heading(), self.machine.line());
        _ = write!(text, "`{}`\n\n{}\n\n", self.machine.command, self.probes());
        _ = write!(
            text,
            "{}\nPasses of n sweeps, medians of {}; ± is half the range. Values are those moved up and down per update that is needed, and redundant work is updates made over those, as counted. Models of a pyramid are given the measured times of an update in memory and of moving a value; the prediction error is that of the corrected model (of one slab, or of two in flight) over the measured pass.\n",
            self.table().markdown(),
            self.repeats
        );
        text
    }
}
