//! Runs and values as titles and legends name them.

use crate::grid::Shape;
use crate::number::{counted, number};
use crate::picture::axis::scale::ScaleKind;
use crate::problem::matrix::Ordering;
use crate::run::{FieldKind, InitialGuess, MethodName, ProblemKind, RunSpec};
use crate::solver::Kernel;
use std::ops::Range;

/// The problem of a run as a title names it: `Poisson 2D, 256 × 256`.
pub fn problem_title(run: &RunSpec, shape: &Shape) -> String {
    if let Some(matrix) = &run.problem.matrix {
        let ordering = match matrix.ordering {
            Ordering::Natural => String::new(),
            ordering => format!(", {} ordering", ordering.name()),
        };
        return format!("{}{ordering}, {}", matrix.name(), counted(shape.nx() as u64, "row"));
    }
    let name = run.problem.title();
    let dim = if run.problem.kind == ProblemKind::Poisson {
        format!(" {}D", shape.dim())
    } else {
        String::new()
    };
    match (shape.dim(), shape.batch()) {
        (1, 1) => format!("{name}{dim}, n = {}", shape.nx()),
        (1, batch) => format!("{name}{dim}, n = {}, batch of {batch}", shape.nx()),
        _ => format!("{name}{dim}, {shape}"),
    }
}

/// The method of a run as a figure's settings name it: `k = 16, overlap 0, tile 32 · f64`, and the
/// GPU's kernel, where one was chosen.
pub fn method_title(run: &RunSpec) -> String {
    distinguish(&[run]).0
}

/// The settings that several runs have in common, and those that distinguish each: of two that differ
/// in overlap alone `k = 16, tile 32 · f64`, and `overlap 0` and `overlap 4`. Runs that differ in none
/// of these have an empty text.
pub fn distinguish(runs: &[&RunSpec]) -> (String, Vec<String>) {
    let all: Vec<_> = runs.iter().map(|run| settings(run)).collect();
    let Some(first) = all.first() else { return Default::default() };
    let differ = |index: usize| all.iter().any(|settings| settings[index] != first[index]);
    let joined = |settings: &[String; SETTINGS], indices: &[usize]| {
        let mut text = String::new();
        for index in indices {
            if !text.is_empty() && !settings[*index].is_empty() {
                text.push_str(if *index < METHOD.end { ", " } else { " · " });
            }
            text.push_str(&settings[*index]);
        }
        text
    };
    // The problem is in the title; how long a run is made matters only where it differs.
    let common: Vec<_> = (METHOD.start..LIMITS.start).filter(|index| !differ(*index)).collect();
    let differing: Vec<_> = (0..SETTINGS).filter(|index| differ(*index)).collect();
    let each = all.iter().map(|settings| joined(settings, &differing)).collect();
    (joined(first, &common), each)
}

/// How many settings of a run are named …
const SETTINGS: usize = 10;

/// … which of them are the method's …
const METHOD: Range<usize> = 3..6;

/// … and which limit its threads and its cycles.
const LIMITS: Range<usize> = 8..10;

/// The settings of a run as texts; empty where one does not apply.
fn settings(run: &RunSpec) -> [String; SETTINGS] {
    let (problem, method, stop) = (&run.problem, &run.method, &run.stop);
    let is_tiled = method.name == MethodName::Hierarchical;
    let tiled = |name: &str, values: &[usize]| {
        let text = || format!("{name} {}", axes(values));
        is_tiled.then(text).unwrap_or_default()
    };
    let numbers = |values: &[f64]| {
        let texts: Vec<_> = values.iter().map(|value| number(*value)).collect();
        texts.join(", ")
    };
    let is_3d = problem.shape.len() == 3;
    let of_axes = |plane: &[f64], third: &[f64]| {
        if is_3d { numbers(&[plane, third].concat()) } else { numbers(plane) }
    };
    let of_matrix = problem.matrix.as_ref().and_then(|matrix| matrix.initial.as_ref());
    let initial = problem.initial.as_ref().or(of_matrix);
    let block = method.block_size.map(|threads| format!(", blocks of {threads} threads"));
    let block = block.unwrap_or_default();
    let data = [
        problem.rhs.as_ref().and_then(|rhs| rhs.file_name()).map(|n| n.to_string_lossy().into()),
        problem.matrix.as_ref().map(|matrix| match matrix.ordering {
            Ordering::Natural => matrix.name(),
            ordering => format!("{}, {} ordering", matrix.name(), ordering.name()),
        }),
        problem.seed.map(|seed| format!("seed {seed}")),
        problem.velocity_components().map(|velocity| format!("velocity {}", numbers(velocity))),
        problem
            .conductivity
            .as_ref()
            .and_then(|file| file.file_name())
            .map(|name| format!("k from {}", name.to_string_lossy())),
        problem.jump.map(|ratio| format!("k 1 : {}", number(ratio))),
        problem
            .interface
            .map(|[from, to]| format!("interface ({}) – ({})", numbers(&from), numbers(&to))),
        problem.hot_box.map(|hot| {
            let [x, y, z] = hot.sides();
            let sides = of_axes(&[x, y].concat(), &z);
            format!("hot box {sides} at {}", number(hot.value))
        }),
        initial.map(|initial| match initial {
            InitialGuess::Value(value) => format!("u₀ = {}", number(*value)),
            InitialGuess::File(path) => {
                let name = path.file_name().unwrap_or(path.as_os_str());
                format!("u₀ from {}", name.to_string_lossy())
            }
        }),
        problem.boundary.map(|b| {
            let sides = of_axes(&[b.left, b.right, b.top, b.bottom], &[b.front, b.back]);
            format!("boundary {sides}")
        }),
        problem
            .stencil
            .map(|s| format!("stencil {}", of_axes(&[s.d, s.a, s.c, s.e, s.f], &[s.p, s.q]))),
    ];
    [
        problem.title().to_owned(),
        match (&problem.shape[..], problem.batch) {
            (shape, 1) => format!("n = {}", axes(shape)),
            (shape, batch) => format!("n = {}, batch of {batch}", axes(shape)),
        },
        data.into_iter().flatten().collect::<Vec<_>>().join(", "),
        {
            let damping = match method.omega {
                1.0 => String::new(),
                omega => format!(", ω = {}", number(omega)),
            };
            let wave =
                method.wave.map(|tiles| format!(", waves of {}", counted(tiles as u64, "tile")));
            let warp = method.warp.map(|points| format!(", in place, {points} at a time"));
            let order = [wave, warp].map(Option::unwrap_or_default).concat();
            let devices = method.simulate_devices.map_or_else(String::new, |count| {
                let every = counted(run.cycles_of_an_exchange(), "cycle");
                let exchange = match run.why_no_exchange() {
                    None => format!(", exchange every {every}"),
                    Some(_) => String::new(),
                };
                format!(", {}{exchange}", counted(count as u64, "device"))
            });
            match method.name {
                MethodName::Classic => format!("classic Jacobi{damping}{devices}"),
                MethodName::Hierarchical => {
                    format!("k = {}{damping}{order}{devices}", method.k.label())
                }
                name => {
                    let height = method.height.unwrap_or_default();
                    format!("{}, height {height}, {}{devices}", name.name(), method.memory())
                }
            }
        },
        tiled("overlap", &method.overlap),
        tiled("tile", &method.tile),
        method.precision.name().to_owned(),
        // Where `auto` leads depends on the machine.
        match method.kernel {
            _ if !method.needs_gpu() => String::new(),
            Kernel::AUTO => format!("CUDA{block}"),
            kernel => format!("CUDA, {} kernel{block}", kernel.name()),
        },
        match method.threads {
            0 => "all cores".to_owned(),
            threads => counted(threads as u64, "thread"),
        },
        match stop.tolerance {
            Some(tolerance) => {
                format!("{} at most {}", stop.rule.name().replace('-', " "), number(tolerance))
            }
            None => counted(stop.max_cycles, "cycle"),
        },
    ]
}

/// A number for each axis, or one that stands for all.
fn axes(values: &[usize]) -> String {
    let texts: Vec<_> = values.iter().map(ToString::to_string).collect();
    let same = texts.windows(2).all(|pair| pair[0] == pair[1]);
    if same { texts.first().cloned().unwrap_or_default() } else { texts.join(" × ") }
}

/// What is written along values of a field: magnitudes on a logarithmic scale, and on a linear one
/// where they were chosen.
pub fn value_label(field: FieldKind, scale: ScaleKind, absolute: bool) -> String {
    match scale {
        ScaleKind::Linear if absolute => format!("|{}|", field.symbol()),
        ScaleKind::Log => format!("|{}|", field.symbol()),
        _ => field.symbol().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::HotBox;
    use crate::run::Backend;

    #[test]
    fn a_title_names_the_gpu_and_its_kernel() {
        let mut run = RunSpec::default();
        let title = "k = 16, overlap 0, tile 32 · f64";
        assert_eq!(method_title(&run), title);
        run.method.backend = Backend::Cuda;
        assert_eq!(method_title(&run), format!("{title} · CUDA"));
        run.method.kernel = Kernel::REGISTER;
        assert_eq!(method_title(&run), format!("{title} · CUDA, register kernel"));
        run.method.name = MethodName::Classic;
        run.method.kernel = Kernel::AUTO;
        assert_eq!(method_title(&run), "classic Jacobi · f64 · CUDA");
        run.method.block_size = Some(128);
        let expected = "classic Jacobi · f64 · CUDA, blocks of 128 threads";
        assert_eq!(method_title(&run), expected);
    }

    #[test]
    fn a_title_names_waves_and_warps() {
        let mut run = RunSpec::default();
        (run.method.wave, run.method.warp) = (Some(16), Some(32));
        let order = "waves of 16 tiles, in place, 32 at a time";
        assert_eq!(method_title(&run), format!("k = 16, {order}, overlap 0, tile 32 · f64"));
        let mut plate = RunSpec::default();
        plate.problem.kind = ProblemKind::HeatPlate;
        plate.problem.hot_box = Some(HotBox::default());
        let (_, names) = distinguish(&[&RunSpec::default(), &plate]);
        assert!(names[1].contains("hot box 0.4, 0.6, 0.4, 0.6 at 100"), "{names:?}");
        let mut other = RunSpec::default();
        other.problem.initial = Some(InitialGuess::File("a/u0.npy".into()));
        let (_, names) = distinguish(&[&RunSpec::default(), &other]);
        assert_eq!(names, ["", "u₀ from u0.npy"]);
        other.problem.kind = ProblemKind::Random;
        let title = problem_title(&other, &Shape::grid_2d(9, 8).unwrap());
        assert_eq!(title, "Zero right-hand side, 9 × 8");
    }

    #[test]
    fn runs_are_distinguished_by_what_differs_alone() {
        let run = RunSpec::default();
        let (mut four, mut classic, mut random) = (run.clone(), run.clone(), run.clone());
        four.method.overlap = vec![4];
        classic.method.name = MethodName::Classic;
        random.problem.kind = ProblemKind::Random;
        random.problem.seed = Some(3);
        random.method.k = 8.into();
        let named = |other: &RunSpec| {
            let (common, each) = distinguish(&[&run, other]);
            [vec![common], each].concat()
        };
        assert_eq!(named(&four), ["k = 16, tile 32 · f64", "overlap 0", "overlap 4"]);
        assert_eq!(named(&classic), ["f64", "k = 16, overlap 0, tile 32", "classic Jacobi"]);
        let expected =
            ["overlap 0, tile 32 · f64", "Poisson, k = 16", "Random initial guess, seed 3, k = 8"];
        assert_eq!(named(&random), expected);
        assert_eq!(named(&run), ["k = 16, overlap 0, tile 32 · f64", "", ""]);
        assert_eq!(distinguish(&[]), Default::default());
    }
}
