//! `tilescope bench`: reproducible performance records of this machine.

mod frames;
mod kernels;
mod machine;
mod matrices;
mod measure;
mod output;
mod paper;
mod record;
mod streaming;
mod table;

use super::console::UsageError;
use super::interrupt::Interrupt;
use clap::{Args, Subcommand};
use std::process::ExitCode;

/// The options of `tilescope bench`.
#[derive(Args, Debug)]
pub struct Bench {
    #[command(subcommand)]
    benchmark: Option<Benchmark>,
}

#[derive(Subcommand, Debug)]
enum Benchmark {
    /// Compare the GPU kernels, and the methods on the CPU
    #[command(alias = "ladder")]
    Kernels(kernels::Kernels),
    /// Compare the kernels for sparse matrices with each other and with Jacobi's iteration
    Matrices(matrices::Matrices),
    /// Repeat the experiments of the papers, beside the published figures
    Paper(paper::Paper),
    /// Compare pyramids and the wavefront, within budgets of fast memory, with sweeps of the whole grid
    Streaming(streaming::StreamingBench),
}

impl Bench {
    /// Measures, prints the tables and saves them.
    pub(super) fn run(&self) -> anyhow::Result<ExitCode> {
        let Some(benchmark) = &self.benchmark else {
            let why = "bench needs a benchmark: kernels, matrices, paper or streaming";
            return Err(UsageError(why.to_owned()).into());
        };
        // Nothing measured is kept of a part, so the process ends in the middle of work.
        Interrupt::install("interrupted before the measurement was complete; nothing was saved")?;
        match benchmark {
            Benchmark::Kernels(kernels) => kernels.run(),
            Benchmark::Matrices(matrices) => matrices.run(),
            Benchmark::Paper(paper) => paper.run(),
            Benchmark::Streaming(streaming) => streaming.run(),
        }
    }
}
