//! A run as the command line that makes it.

use super::matrix::MatrixSpec;
use super::spec::{Backend, MethodName, MethodSpec, RunSpec, StopSpec};
use crate::grid::Precision;
use crate::number::joined;
use crate::problem::matrix::Ordering;
use crate::problem::{Boundary, HotBox};
use crate::solver::{ExchangePath, Kernel, ShareBy, Slabs};
use std::fmt::Write as _;

/// The command line that makes this run, for a POSIX shell: the most common settings are
/// always named, the others where they differ from the defaults and change something.
pub fn command_line(spec: &RunSpec) -> String {
    let is_tiled = !spec.method.name.is_jacobi();
    let mut line =
        CommandLine(line_of("tilescope solve", spec, &Lists::of(&spec.method, is_tiled)));
    if let Some(store) = &spec.store {
        line.option("store", &store.to_string_lossy());
    }
    line.0
}

/// The beginning of the command line that draws this run: figures show tiles of any method.
pub fn drawing_command_line(spec: &RunSpec) -> String {
    line_of("tilescope render", spec, &Lists::of(&spec.method, true))
}

/// The values of options that are lists in a sweep.
#[derive(Default)]
pub(in crate::run) struct Lists {
    pub k: String,
    /// `None` where the method says nothing of its passes.
    pub height: Option<String>,
    pub memory: Option<String>,
    /// `None` where tiles have no effect.
    pub overlap: Option<String>,
    pub tile: Option<String>,
    /// `None` for what the program chooses.
    pub kernel: Option<String>,
}

impl Lists {
    /// Those of one method.
    fn of(method: &MethodSpec, has_tiles: bool) -> Self {
        let axes = |values: &[usize]| has_tiles.then(|| joined(values, "x"));
        Self {
            k: method.k.to_string(),
            height: method.height.map(|height| height.to_string()),
            memory: method.memory.map(|memory| memory.to_string()),
            overlap: axes(&method.overlap),
            tile: axes(&method.tile),
            kernel: (method.kernel != Kernel::default()).then(|| method.kernel.name().to_owned()),
        }
    }
}

/// The command line of a subcommand that makes a run, with the lists in place of its method's values.
pub(in crate::run) fn line_of(program: &str, spec: &RunSpec, lists: &Lists) -> String {
    let mut line = CommandLine(program.to_owned());
    let RunSpec { problem, method, stop, .. } = spec;
    line.option("problem", problem.kind.name());
    line.option("shape", &joined(&problem.shape, "x"));
    if problem.batch != 1 {
        line.option("batch", &problem.batch.to_string());
    }
    if let Some(rhs) = &problem.rhs {
        line.option("rhs", &rhs.to_string_lossy());
    }
    if let Some(matrix) = &problem.matrix {
        line.option("matrix", &matrix.source.to_string_lossy());
        if matrix.ordering != Ordering::default() {
            line.option("ordering", matrix.ordering.name());
        }
        if let Some(nodes) = &matrix.nodes {
            line.option("nodes", &joined(nodes, "x"));
        }
        if let Some(coordinates) = &matrix.coordinates {
            line.option("coordinates", &coordinates.to_string_lossy());
        }
    }
    let of_matrix = problem.matrix.as_ref().and_then(|matrix| matrix.initial.as_ref());
    if let Some(initial) = problem.initial.as_ref().or(of_matrix) {
        line.option("initial", &initial.to_string());
    }
    // Options that would change nothing are refused.
    let is_shuffled = |matrix: &MatrixSpec| matrix.ordering == Ordering::Random;
    let has_seed = problem.initial.is_none() && problem.matrix.as_ref().is_none_or(is_shuffled);
    if let Some(seed) = problem.seed.filter(|_| has_seed) {
        line.option("seed", &seed.to_string());
    }
    if let Some(velocity) = problem.velocity_components() {
        let numbers: Vec<_> = velocity.iter().map(|number| format!("{number:?}")).collect();
        line.option("velocity", &numbers.join(","));
    }
    if let Some(conductivity) = &problem.conductivity {
        line.option("conductivity", &conductivity.to_string_lossy());
    }
    if let Some(jump) = problem.jump {
        line.option("jump", &format!("{jump:?}"));
    }
    if let Some(points) = problem.interface {
        let points = points.map(|[x, y]| format!("{x:?},{y:?}"));
        line.option("interface", &points.join(":"));
    }
    if let Some(hot) = problem.hot_box {
        let (own, sides) = (HotBox::default().sides(), hot.sides());
        // A plate has no other sides than its grid.
        let names = HotBox::NAMES.iter().take(problem.shape.len()).flatten();
        let sides = names.zip(sides.iter().flatten());
        let sides = sides.zip(own.iter().flatten()).filter(|((_, side), own)| side != own);
        let given = sides.map(|((name, side), _)| (*name, *side));
        line.option("hot-box", &pairs(&given.chain([("value", hot.value)]).collect::<Vec<_>>()));
    }
    if let Some(b) = problem.boundary {
        let sides = Boundary::NAMES.into_iter().flatten().zip(b.sides().into_iter().flatten());
        let mut given: Vec<_> = sides.filter(|(_, value)| *value != 0.0).collect();
        if given.is_empty() {
            given.push(("left", 0.0));
        }
        line.option("boundary", &pairs(&given));
    }
    if let Some(s) = problem.stencil {
        let entries = [("d", s.d), ("a", s.a), ("c", s.c), ("e", s.e), ("f", s.f)];
        let along_z = [("p", s.p), ("q", s.q)].into_iter().filter(|(_, value)| *value != 0.0);
        let entries: Vec<_> = entries.into_iter().chain(along_z).collect();
        line.option("stencil", &pairs(&entries));
    }
    if method.name != MethodName::default() {
        line.option("method", method.name.name());
    }
    if !method.name.is_jacobi() {
        line.option("k", &lists.k);
    }
    for (name, values) in [("height", &lists.height), ("memory", &lists.memory)] {
        if let Some(values) = values {
            line.option(name, values);
        }
    }
    if method.slabs != Slabs::Auto {
        line.option("slabs", method.slabs.name());
    }
    for (name, values) in [("overlap", &lists.overlap), ("tile", &lists.tile)] {
        if let Some(values) = values {
            line.option(name, values);
        }
    }
    if method.omega != 1.0 {
        line.option("omega", &format!("{:?}", method.omega));
    }
    for (name, count) in [("wave", method.wave), ("warp", method.warp)] {
        if let Some(count) = count {
            line.option(name, &count.to_string());
        }
    }
    if method.precision != Precision::default() {
        line.option("precision", method.precision.name());
    }
    if method.backend != Backend::default() {
        line.option("backend", method.backend.name());
    }
    if let Some(kernel) = &lists.kernel {
        line.option("kernel", kernel);
    }
    if let Some(threads) = method.block_size {
        line.option("block-size", &threads.to_string());
    }
    let may_use_gpu = method.backend != Backend::Cpu && !method.is_for_cpu();
    if method.devices != MethodSpec::default().devices && may_use_gpu {
        let devices: Vec<_> = method.devices.iter().map(u32::to_string).collect();
        line.option("devices", &devices.join(","));
    }
    if method.exchange != ExchangePath::default() {
        line.option("exchange", method.exchange.name());
    }
    if method.share_by != ShareBy::default() && method.has_several_gpus() {
        line.option("share-by", method.share_by.name());
    }
    if let Some(count) = method.simulate_devices {
        line.option("simulate-devices", &count.to_string());
    }
    // One device exchanges nothing.
    let exchanges = method.simulate_devices != Some(1);
    if let Some(cycles) = method.exchange_every.filter(|_| exchanges) {
        line.option("exchange-every", &cycles.to_string());
    }
    if let Some([latency, bandwidth]) = method.link.filter(|_| exchanges) {
        line.option("link", &format!("{latency:?},{bandwidth:?}"));
    }
    if method.threads != 0 && method.backend != Backend::Cuda {
        line.option("threads", &method.threads.to_string());
    }
    if stop.rule != problem.kind.default_stop().rule && stop.tolerance.is_some() {
        line.option("stop", stop.rule.name());
    }
    match stop.tolerance {
        Some(tolerance) => line.option("tol", &format!("{tolerance:?}")),
        None => line.option("tol", "none"),
    }
    // Without a tolerance, the run stops after this number of cycles.
    if stop.tolerance.is_none() || stop.max_cycles != StopSpec::default().max_cycles {
        line.option("max-cycles", &stop.max_cycles.to_string());
    }
    line.0
}

struct CommandLine(String);

impl CommandLine {
    fn option(&mut self, name: &str, value: &str) {
        option(&mut self.0, name, value);
    }
}

/// Adds an option to a command line.
pub(crate) fn option(line: &mut String, name: &str, value: &str) {
    // With a space, a value that begins with a minus would be taken for an option.
    let between = if value.starts_with('-') { '=' } else { ' ' };
    let _ = write!(line, " --{name}{between}{}", quoted(value));
}

fn pairs(values: &[(&str, f64)]) -> String {
    values.iter().map(|(name, value)| format!("{name}={value:?}")).collect::<Vec<_>>().join(",")
}

/// A word that a POSIX shell reads as it is.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,=+:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::ProblemKind;

    #[test]
    fn the_default_run_is_short() {
        let expected = "tilescope solve --problem poisson --shape 256x256 --k 16 --overlap 0 \
                        --tile 32 --tol 0.0001";
        assert_eq!(command_line(&RunSpec::default()), expected);
    }

    #[test]
    fn what_differs_is_named_and_quoted() {
        let mut spec = RunSpec::default();
        spec.problem.kind = ProblemKind::Picture;
        spec.problem.rhs = Some("it's a file.png".into());
        spec.problem.velocity = Some([-3.0, 1e-9, 0.0]);
        spec.problem.boundary = Some(Boundary { top: 0.5, ..Boundary::default() });
        spec.stop.tolerance = None;
        let line = command_line(&spec);
        for part in [
            r" --rhs 'it'\''s a file.png' ",
            " --velocity=-3.0,1e-9 ",
            " --boundary top=0.5 ",
            " --tol none --max-cycles 10000000",
        ] {
            assert!(line.contains(part), "{line}");
        }
    }
}
