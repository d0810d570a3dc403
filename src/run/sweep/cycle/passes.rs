//! Settings of passes through fast memory: height and budget.

use super::{CycleSetting, ListAxis, sort};
use crate::grid::ByteCount;
use crate::number::joined;
use crate::run::command::Lists;
use crate::run::spec::MethodSpec;
use crate::solver::Height;

/// Bytes of the unit in which charts show budgets.
const MEGABYTE: f64 = 1e6;

/// Lists of what makes a pass.
#[derive(Clone, Debug, PartialEq)]
pub struct PassLists {
    /// Heights: sweeps of a pass.
    pub height: Vec<usize>,
    /// Budgets of fast memory.
    pub memory: Vec<ByteCount>,
}

/// What makes a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PassSetting {
    /// Sweeps of a pass.
    pub height: usize,
    /// The budget of fast memory.
    pub memory: ByteCount,
}

impl PassLists {
    pub(super) fn normalize(&mut self) {
        sort(&mut self.height);
        sort(&mut self.memory);
    }

    pub(super) fn axes(&self) -> [ListAxis; 2] {
        let height = ListAxis {
            name: "height",
            before: "height ",
            labels: self.height.iter().map(ToString::to_string).collect(),
            numbers: self.height.iter().map(|height| Some(*height as f64)).collect(),
            unit: "",
        };
        let budget = ListAxis {
            name: "budget",
            before: "budget ",
            labels: self.memory.iter().map(ToString::to_string).collect(),
            numbers: self.memory.iter().map(|it| Some(it.bytes() as f64 / MEGABYTE)).collect(),
            unit: ", MB",
        };
        [height, budget]
    }

    pub(super) fn settings(&self) -> Vec<CycleSetting> {
        let of_height = |&height: &usize| {
            let with = move |&memory: &ByteCount| PassSetting { height, memory };
            self.memory.iter().map(with).map(CycleSetting::Pass)
        };
        self.height.iter().flat_map(of_height).collect()
    }

    pub(super) fn options(&self) -> Lists {
        Lists {
            height: Some(joined(&self.height, ",")),
            memory: Some(joined(&self.memory, ",")),
            ..Lists::default()
        }
    }
}

impl PassSetting {
    pub(super) fn set(self, method: &mut MethodSpec) {
        method.height = Some(Height::Sweeps(self.height));
        method.memory = Some(self.memory);
    }

    /// The lowest, a middle and the largest height: a model with an update, a value and a pass needs three.
    pub(super) fn to_probe(here: &[Self]) -> Vec<Self> {
        let mut places = [0, here.len() / 2, here.len().saturating_sub(1)].to_vec();
        places.dedup();
        places.iter().filter_map(|place| here.get(*place).copied()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Shape;
    use crate::run::{
        CycleLists, Measure, MethodName, RowOutcome, RunSpec, Sweep, SweepRow, SweepSpec,
        SweepTable,
    };
    use crate::solver::{Kernel, Streaming};

    fn sweep(method: MethodName) -> Sweep {
        let mut run = RunSpec::default();
        run.problem.shape = vec![24, 40];
        run.stop.tolerance = Some(1e-3);
        run.method.set_name(method);
        let shape = Shape::grid_2d(24, 40).unwrap();
        let memory = |planes| Streaming::memory_of(planes, &shape, run.method.precision);
        let lists = PassLists { height: vec![1, 2, 5], memory: [20, 6].map(memory).to_vec() };
        Sweep::new(SweepSpec {
            run,
            cycle: CycleLists::Passes(lists),
            kernel: vec![Kernel::AUTO],
            threads: vec![1],
            measure: vec![Measure::Cycles],
        })
        .unwrap()
    }

    #[test]
    fn passes_of_any_height_make_the_sweeps_that_classic_makes() {
        for method in [MethodName::Pyramid, MethodName::Wavefront] {
            let mut sweep = sweep(method);
            let predicted = sweep.predict(&|| false).unwrap().unwrap();
            let cells = sweep.cells().to_vec();
            let rows = sweep.measure(&cells, 2, &|| false).unwrap();
            // Six planes hold no slab of height 5, and a window of one sweep alone.
            let runs: Vec<_> = cells.iter().map(|cell| cell.cannot_run.is_none()).collect();
            let low = method == MethodName::Pyramid;
            assert_eq!(runs, [true, true, low, true, false, true], "{method:?}");
            let why = rows[4].reason.as_ref().unwrap();
            assert!(
                why.contains("height is 5; ") && why.contains("would keep none of them"),
                "{why}"
            );
            let classic = rows[0].sweeps.unwrap();
            for (index, row) in rows.iter().enumerate().filter(|(index, _)| runs[*index]) {
                let (height, cycles) = (row.height.unwrap() as u64, row.cycles.unwrap().count);
                assert_eq!(
                    (row.outcome, row.sweeps),
                    (RowOutcome::Measured, Some(cycles * height))
                );
                // The first pass that ends where classic does, or behind it.
                assert_eq!(cycles, classic.div_ceil(height), "{height}");
                let cost = predicted.iter().find(|it| it.index == index).unwrap();
                assert!((cost.cycles.unwrap().cycles - cycles as f64).abs() <= 1.0, "{cost:?}");
            }
        }
    }

    #[test]
    fn a_table_of_passes_is_written_read_and_resumed() {
        let mut sweep = sweep(MethodName::Pyramid);
        let cells = sweep.cells().to_vec();
        let rows = sweep.measure(&cells, 1, &|| false).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s.csv");
        let mut table = SweepTable::create(&path).unwrap();
        rows[..4].iter().for_each(|row| table.push(row).unwrap());
        drop(table);
        let mut done = Vec::new();
        let accept = |rows: &[SweepRow]| sweep.resume(rows).map(|known| done = known);
        let (mut table, known) = SweepTable::resume(&path, accept).unwrap();
        assert_eq!((&known[..], &done[..]), (&rows[..4], &[0, 1, 2, 3][..]));
        rows[4..].iter().for_each(|row| table.push(row).unwrap());
        drop(table);
        let whole = std::fs::read_to_string(&path).unwrap();
        let mut read = csv::Reader::from_reader(whole.as_bytes());
        let names = read.headers().unwrap().clone();
        assert!(names.iter().eq(SweepRow::names_of_passes()), "{names:?}");
        assert!(read.deserialize::<SweepRow>().map(Result::unwrap).eq(rows.iter().cloned()));
        let edited = [SweepRow { height: Some(3), ..rows[0].clone() }];
        let said = sweep.resume(&edited).unwrap_err().to_string();
        assert!(said.ends_with("has height = 3, but its other columns give 1"), "{said}");
    }
}
