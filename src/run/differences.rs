//! What tells runs from one another: the settings in which they differ, and no others.

use super::spec::{MethodName, RunSpec};

/// A name for each run: the first is named by its values of all that differs anywhere
/// (`k 16, o 0`), every other by what differs from the first (`k 16 → 32`). Runs that differ in
/// nothing from the first have `same settings`; where none differs, the first is named by its k and
/// overlap.
pub fn differences(specs: &[&RunSpec]) -> Vec<String> {
    let all: Vec<_> = specs.iter().map(|spec| settings(spec)).collect();
    let Some(first) = all.first() else {
        return Vec::new();
    };
    let names = all.iter().enumerate().map(|(index, settings)| {
        let mut words = Vec::new();
        for (at, (name, value)) in settings.iter().enumerate() {
            let before = &first[at].1;
            let differs = all.iter().any(|other| other[at].1 != *before);
            if index == 0 && differs {
                words.push(format!("{name} {value}").trim_start().to_owned());
            } else if value != before {
                words.push(format!("{name} {before} → {value}").trim_start().to_owned());
            }
        }
        words
    });
    let mut names: Vec<String> = names
        .map(|words| if words.is_empty() { "same settings".into() } else { words.join(", ") })
        .collect();
    if all.iter().all(|other| other == first) {
        let method = &specs[0].method;
        let is_named = |(name, _): &&(&str, _)| ["k", "o"].contains(name);
        let words = first.iter().filter(is_named).map(|(name, value)| format!("{name} {value}"));
        names[0] = match method.name {
            MethodName::Classic => method.name.name().to_owned(),
            _ => words.collect::<Vec<_>>().join(", "),
        };
    }
    names
}

/// All settings of a run, those that are turned most first. What does not matter to it is a dash.
fn settings(spec: &RunSpec) -> Vec<(&'static str, String)> {
    let RunSpec { problem, method, stop, .. } = spec;
    let joined =
        |values: &[usize]| values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" × ");
    let of_tiles = |text: String| {
        if method.name == MethodName::Classic { "–".to_owned() } else { text }
    };
    let numbers =
        |values: &[f64]| values.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let some = |value: Option<String>| value.unwrap_or_else(|| "–".to_owned());
    let shape = match problem.shape[..] {
        [nx, ny] if nx == ny => format!("{nx}²"),
        _ => joined(&problem.shape),
    };
    vec![
        ("", problem.kind.label().to_owned()),
        ("n", shape),
        ("batch", problem.batch.to_string()),
        ("right-hand side", some(problem.rhs.as_ref().map(|path| path.display().to_string()))),
        ("seed", some(problem.seed.map(|seed| seed.to_string()))),
        (
            "velocity",
            some(problem.velocity_components().map(|velocity| format!("({})", numbers(velocity)))),
        ),
        ("boundary", some(problem.boundary.map(|sides| format!("{sides:?}")))),
        ("stencil", some(problem.stencil.map(|stencil| format!("{stencil:?}")))),
        ("matrix", some(problem.matrix.as_ref().map(|matrix| matrix.source.display().to_string()))),
        ("ordering", some(problem.matrix.as_ref().map(|matrix| matrix.ordering.name().to_owned()))),
        (
            "initial guess",
            some(
                problem
                    .matrix
                    .as_ref()
                    .and_then(|matrix| matrix.initial.as_ref())
                    .map(|path| path.display().to_string()),
            ),
        ),
        ("", method.name.name().to_owned()),
        ("k", of_tiles(method.k.to_string())),
        ("o", of_tiles(joined(&method.overlap))),
        ("tile", of_tiles(joined(&method.tile))),
        ("", method.precision.name().to_owned()),
        ("on", method.backend.name().to_owned()),
        ("kernel", method.kernel.label().to_owned()),
        ("threads", method.threads.to_string()),
        ("stop", stop.rule.name().to_owned()),
        ("tolerance", some(stop.tolerance.map(|tolerance| format!("{tolerance:e}")))),
        ("at most", stop.max_cycles.to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_is_named() {
        let a = RunSpec::default();
        let mut b = a.clone();
        (b.method.k, b.method.overlap) = (32, vec![4]);
        let mut c = a.clone();
        c.method.overlap = vec![2];
        let names = differences(&[&a, &b, &c, &a]);
        assert_eq!(names, ["k 16, o 0", "k 16 → 32, o 0 → 4", "o 0 → 2", "same settings"]);
        assert_eq!(differences(&[&a]), ["k 16, o 0"]);
        assert_eq!(differences(&[&a, &a]), ["k 16, o 0", "same settings"]);
        assert_eq!(differences(&[]), Vec::<String>::new());
        let mut classic = a.clone();
        classic.method.name = MethodName::Classic;
        let names = differences(&[&a, &classic]);
        assert!(names[1].contains("k 16 → –") && !names[1].contains("precision"), "{names:?}");
    }
}
