//! A sweep as the command line that measures it.

use super::spec::{Measure, SweepSpec};
use crate::number::joined;
use crate::run::command::{Lists, line_of, option};
use crate::run::spec::{Backend, MethodName};
use crate::solver::Kernel;

/// The command line that measures a sweep; outputs are to be added.
pub fn sweep_command_line(spec: &SweepSpec) -> String {
    let mut run = spec.run.clone();
    if spec.cycle.tiles().is_some() {
        run.method.set_name(MethodName::default());
    }
    let kernels: Vec<_> = spec.kernel.iter().map(|kernel| kernel.name()).collect();
    let kernel = (spec.kernel != [Kernel::AUTO]).then(|| kernels.join(","));
    let lists = Lists { kernel, ..spec.cycle.options() };
    run.method.threads = 0;
    let mut line = line_of("tilescope sweep", &run, &lists);
    if spec.threads != [0] && run.method.backend != Backend::Cuda {
        option(&mut line, "threads", &joined(&spec.threads, ","));
    }
    if spec.measure.len() < Measure::ALL.len() {
        let names: Vec<_> = spec.measure.iter().map(|what| what.name()).collect();
        option(&mut line, "measure", &names.join(","));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::ByteCount;
    use crate::run::{CycleLists, PassLists, PerAxis, RunSpec, TileLists};
    use crate::solver::Subiterations;

    #[test]
    fn a_sweep_names_its_lists() {
        let mut spec = SweepSpec {
            run: RunSpec::default(),
            cycle: CycleLists::Tiles(TileLists {
                k: vec![4.into(), Subiterations::Infinite],
                overlap: vec![PerAxis::all(0), "4x2".parse().unwrap()],
                tile: vec![PerAxis::all(32)],
            }),
            kernel: vec![Kernel::AUTO],
            threads: vec![0],
            measure: Measure::ALL.to_vec(),
        };
        let expected = "tilescope sweep --problem poisson --shape 256x256 --k 4,inf --overlap 0,4x2 \
                        --tile 32 --tol 0.0001";
        assert_eq!(sweep_command_line(&spec), expected);
        spec.measure = vec![Measure::Cycles];
        spec.threads = vec![1, 2, 4];
        let expected = format!("{expected} --threads 1,2,4 --measure cycles");
        assert_eq!(sweep_command_line(&spec), expected);
        spec.run.method.set_name(MethodName::Pyramid);
        let memory = [1_000_000, 4_000_000].map(ByteCount::new).to_vec();
        spec.cycle = CycleLists::Passes(PassLists { height: vec![1, 8], memory });
        let expected = "tilescope sweep --problem poisson --shape 256x256 --method pyramid --height 1,8 \
                        --memory 1MB,4MB --tol 0.0001 --threads 1,2,4 --measure cycles";
        assert_eq!(sweep_command_line(&spec), expected);
    }
}
