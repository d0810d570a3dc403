//! The machine of a record.

use super::super::devices::processor;
use crate::solver::cuda;
use serde::Serialize;

/// The machine and the program.
#[derive(Debug, Serialize)]
pub(super) struct Machine {
    version: &'static str,
    processor: String,
    cores: usize,
    gpu: Option<String>,
    driver: Option<String>,
    /// Peak bandwidth of the GPU's memory, bytes per second.
    pub memory_bytes_per_second: Option<f64>,
    /// Seconds of the first use of the GPU.
    opened_seconds: Option<f64>,
    /// The command line that repeats the measurement.
    pub command: String,
}

impl Machine {
    /// This machine; with its GPU if that was opened.
    pub fn here(opened_seconds: Option<f64>) -> Self {
        let gpus = opened_seconds.and_then(|_| cuda::devices().ok());
        let gpu = gpus.and_then(|gpus| gpus.into_iter().next());
        let words = std::env::args().skip(1);
        Self {
            version: env!("CARGO_PKG_VERSION"),
            processor: processor(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            driver: gpu.as_ref().and_then(|_| cuda::driver_version().ok()),
            memory_bytes_per_second: gpu.as_ref().and_then(|gpu| gpu.memory_bytes_per_second),
            gpu: gpu.map(|gpu| gpu.name),
            opened_seconds,
            command: std::iter::once("tilescope".to_owned())
                .chain(words)
                .collect::<Vec<_>>()
                .join(" "),
        }
    }

    /// All of it in one line.
    pub fn line(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.gpu.clone());
        parts.extend(self.driver.as_ref().map(|driver| format!("driver {driver}")));
        let plural = if self.cores == 1 { "" } else { "s" };
        parts.push(format!("{}, {} core{plural}", self.processor, self.cores));
        parts.push(format!("tilescope {}", self.version));
        parts.extend(self.opened_seconds.map(|seconds| format!("GPU opened in {seconds:.2} s")));
        parts.join(" · ")
    }
}
