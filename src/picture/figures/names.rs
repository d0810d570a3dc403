//! What titles and legends say of runs.

use crate::grid::Shape;
use crate::picture::axis::scale::ScaleKind;
use crate::picture::axis::ticks::number;
use crate::run::{Backend, FieldKind, MethodName, ProblemKind, RunSpec};
use crate::solver::Kernel;
use std::ops::Range;

/// The problem of a run as a title names it: `Poisson 2D, 256 × 256`.
pub fn problem_title(run: &RunSpec, shape: &Shape) -> String {
    let name = run.problem.kind.label();
    let dim = if run.problem.kind == ProblemKind::Poisson {
        format!(" {}D", shape.dim())
    } else {
        String::new()
    };
    match (shape.dim(), shape.batch()) {
        (1, 1) => format!("{name}{dim}, n = {}", shape.nx()),
        (1, copies) => format!("{name}{dim}, n = {}, {copies} copies", shape.nx()),
        _ => format!("{name}{dim}, {shape}"),
    }
}

/// The method of a run as a figure's settings name it: `k = 16, overlap 0, tile 32 · f64`, and the
/// GPU's kernel, where one was chosen.
pub fn method_title(run: &RunSpec) -> String {
    told_apart(&[run]).0
}

/// What several runs have in common, and what tells each apart from the others: of two that differ
/// in overlap alone `k = 16, tile 32 · f64`, and `overlap 0` and `overlap 4`. Nothing tells runs
/// apart that differ in none of this.
pub fn told_apart(runs: &[&RunSpec]) -> (String, Vec<String>) {
    let told: Vec<_> = runs.iter().map(|run| settings(run)).collect();
    let Some(first) = told.first() else { return Default::default() };
    let differ = |index: usize| told.iter().any(|settings| settings[index] != first[index]);
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
    // The problem stands in the title.
    let common: Vec<_> = (METHOD.start..SETTINGS).filter(|index| !differ(*index)).collect();
    let differing: Vec<_> = (0..SETTINGS).filter(|index| differ(*index)).collect();
    let each = told.iter().map(|settings| joined(settings, &differing)).collect();
    (joined(first, &common), each)
}

/// How many settings of a run are told, one by one …
const SETTINGS: usize = 7;

/// … and which of them are the method's.
const METHOD: Range<usize> = 2..5;

/// What is told of a run, setting by setting; empty where it says nothing.
fn settings(run: &RunSpec) -> [String; SETTINGS] {
    let (problem, method) = (&run.problem, &run.method);
    let is_tiled = method.name == MethodName::Hierarchical;
    let tiled = |name: &str, values: &[usize]| {
        let text = || format!("{name} {}", axes(values));
        is_tiled.then(text).unwrap_or_default()
    };
    let numbers = |values: &[f64]| {
        let texts: Vec<_> = values.iter().map(|value| number(*value)).collect();
        texts.join(", ")
    };
    let data = [
        problem.rhs.as_ref().and_then(|rhs| rhs.file_name()).map(|n| n.to_string_lossy().into()),
        problem.seed.map(|seed| format!("seed {seed}")),
        problem.velocity.map(|velocity| format!("wind {}", numbers(&velocity))),
        problem
            .boundary
            .map(|b| format!("boundary {}", numbers(&[b.left, b.right, b.top, b.bottom]))),
        problem.stencil.map(|s| format!("stencil {}", numbers(&[s.d, s.a, s.c, s.e, s.f]))),
    ];
    [
        problem.kind.label().to_owned(),
        data.into_iter().flatten().collect::<Vec<_>>().join(", "),
        match method.name {
            MethodName::Classic => "classic Jacobi".to_owned(),
            MethodName::Hierarchical => format!("k = {}", method.k),
        },
        tiled("overlap", &method.overlap),
        tiled("tile", &method.tile),
        method.precision.name().to_owned(),
        match (method.backend, method.kernel) {
            (Backend::Cpu, _) => String::new(),
            (Backend::Cuda, Kernel::Auto) => "CUDA".to_owned(),
            (Backend::Cuda, kernel) => format!("CUDA, {} kernel", kernel.name()),
        },
    ]
}

/// A number for each axis, or one that stands for all.
fn axes(values: &[usize]) -> String {
    let texts: Vec<_> = values.iter().map(ToString::to_string).collect();
    let same = texts.windows(2).all(|pair| pair[0] == pair[1]);
    if same { texts.first().cloned().unwrap_or_default() } else { texts.join(" × ") }
}

/// Three digits are as many as anybody reads off a figure.
pub fn rounded(value: f64) -> String {
    number(format!("{value:.2e}").parse().unwrap_or(value))
}

/// A positive number with three digits at the least, and no more after the point than that takes.
pub fn digits(value: f64) -> String {
    match value {
        value if value < 9.995 => format!("{value:.2}"),
        value if value < 99.95 => format!("{value:.1}"),
        // The cast saturates.
        value => grouped(value.round() as u64),
    }
}

/// Seconds with three digits, in the unit that suits them.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        0.0 => "0 s".to_owned(),
        seconds if seconds < 0.9995e-3 => format!("{} µs", digits(seconds * 1e6)),
        seconds if seconds < 0.9995 => format!("{} ms", digits(seconds * 1e3)),
        seconds => format!("{} s", digits(seconds)),
    }
}

/// `1 cycle`, `12,000 cycles`.
pub fn counted(count: u64, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {what}{plural}", grouped(count))
}

/// A number with its thousands apart: 1,234,567.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// What a colour bar says: a logarithm shows magnitudes, the other scales show signs unless
/// magnitudes were asked for.
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

    #[test]
    fn numbers_have_three_digits_or_more() {
        let texts = [0.0312, 4.449, 24.14, 383.4, 12_345.6].map(digits);
        assert_eq!(texts, ["0.03", "4.45", "24.1", "383", "12,346"]);
    }

    #[test]
    fn seconds_are_told_in_the_unit_that_suits_them() {
        let texts = [0.0, 2.414e-5, 1.35e-3, 0.9996e-3, 0.9999, 2.0, 10_800.0].map(seconds);
        let said = ["0 s", "24.1 µs", "1.35 ms", "1.00 ms", "1.00 s", "2.00 s", "10,800 s"];
        assert_eq!(texts, said);
    }

    #[test]
    fn a_title_names_the_gpu_and_its_kernel() {
        let mut run = RunSpec::default();
        let title = "k = 16, overlap 0, tile 32 · f64";
        assert_eq!(method_title(&run), title);
        run.method.backend = Backend::Cuda;
        assert_eq!(method_title(&run), format!("{title} · CUDA"));
        run.method.kernel = Kernel::Register;
        assert_eq!(method_title(&run), format!("{title} · CUDA, register kernel"));
        run.method.name = MethodName::Classic;
        run.method.kernel = Kernel::Auto;
        assert_eq!(method_title(&run), "classic Jacobi · f64 · CUDA");
    }

    #[test]
    fn runs_are_told_apart_by_what_differs_alone() {
        let run = RunSpec::default();
        let (mut four, mut classic, mut random) = (run.clone(), run.clone(), run.clone());
        four.method.overlap = vec![4];
        classic.method.name = MethodName::Classic;
        random.problem.kind = ProblemKind::Random;
        random.problem.seed = Some(3);
        random.method.k = 8;
        let told = |other: &RunSpec| {
            let (common, each) = told_apart(&[&run, other]);
            [vec![common], each].concat()
        };
        assert_eq!(told(&four), ["k = 16, tile 32 · f64", "overlap 0", "overlap 4"]);
        assert_eq!(told(&classic), ["f64", "k = 16, overlap 0, tile 32", "classic Jacobi"]);
        let expected =
            ["overlap 0, tile 32 · f64", "Poisson, k = 16", "Random start, seed 3, k = 8"];
        assert_eq!(told(&random), expected);
        assert_eq!(told(&run), ["k = 16, overlap 0, tile 32 · f64", "", ""]);
        assert_eq!(told_apart(&[]), Default::default());
    }
}
