//! A number that stands for every bit of a run, so that machines can be compared.

use super::Run;
use crate::number::fnv;
use crate::solver::SolverError;

/// A number that stands for every bit of the iterate of a run, and of the norms of its residual at every cycle that is
/// recorded.
///
/// # Errors
/// [`SolverError`] if the solver fails.
pub fn fingerprint(run: &Run) -> Result<u64, SolverError> {
    let iterate = run.solver().solution()?.to_interior();
    let residuals = run.history().records().filter_map(|record| record.residual);
    let norms = residuals.flat_map(|residual| [Some(residual.l2), residual.max]).flatten();
    Ok(fnv(iterate.into_iter().chain(norms)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Precision;
    use crate::run::{Planner, RunSpec};
    use std::collections::BTreeMap;
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;

    /// The number of a run at its end, in hexadecimal.
    fn number(spec: &RunSpec) -> String {
        let plan = Arc::new(Planner::default().plan(spec).unwrap());
        let mut run = Run::new(&plan).unwrap();
        while run.outcome().is_none() {
            run.advance(u64::MAX).unwrap();
        }
        format!("{:016x}", fingerprint(&run).unwrap())
    }

    /// `tests/page/page.mjs` compares a page in a browser with the same file.
    #[test]
    fn runs_have_the_bits_that_pages_are_compared_with() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/page");
        let mut numbers = BTreeMap::new();
        for entry in fs::read_dir(folder.join("runs")).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let of_both = [Precision::F32, Precision::F64].map(|precision| {
                let mut spec = RunSpec::load(&path).unwrap();
                spec.method.precision = precision;
                (precision.name().to_owned(), number(&spec))
            });
            numbers.insert(name, BTreeMap::from(of_both));
        }
        let file = folder.join("fingerprints.json");
        if std::env::var("UPDATE_SNAPSHOTS").is_ok_and(|answer| answer == "true" || answer == "1") {
            fs::write(&file, serde_json::to_string_pretty(&numbers).unwrap() + "\n").unwrap();
        }
        let known: BTreeMap<String, BTreeMap<String, String>> =
            serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!(numbers, known);
    }
}
