//! Where something was measured.

use super::super::devices::processor;
use crate::solver::cuda;
use serde::Serialize;

/// The machine and the program.
#[derive(Debug, Serialize)]
pub(super) struct Machine {
    version: &'static str,
    processor: String,
    cores: usize,
    card: Option<String>,
    driver: Option<String>,
    /// Bytes a second that the card's memory moves at its clock.
    pub memory_bytes_per_second: Option<f64>,
    /// Seconds that the first use of the card took.
    opened_seconds: Option<f64>,
    /// The command line, to measure it again.
    pub command: String,
}

impl Machine {
    /// This one, where the card counts if it was opened.
    pub fn here(opened_seconds: Option<f64>) -> Self {
        let cards = opened_seconds.and_then(|_| cuda::devices().ok());
        let card = cards.and_then(|cards| cards.into_iter().next());
        let words = std::env::args().skip(1);
        Self {
            version: env!("CARGO_PKG_VERSION"),
            processor: processor(),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            driver: card.as_ref().and_then(|_| cuda::driver_version().ok()),
            memory_bytes_per_second: card.as_ref().and_then(|card| card.memory_bytes_per_second),
            card: card.map(|card| card.name),
            opened_seconds,
            command: std::iter::once("tilescope".to_owned())
                .chain(words)
                .collect::<Vec<_>>()
                .join(" "),
        }
    }

    /// In one line.
    pub fn line(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.card.clone());
        parts.extend(self.driver.as_ref().map(|driver| format!("driver {driver}")));
        let plural = if self.cores == 1 { "" } else { "s" };
        parts.push(format!("{}, {} core{plural}", self.processor, self.cores));
        parts.push(format!("tilescope {}", self.version));
        parts.extend(self.opened_seconds.map(|seconds| format!("card opened in {seconds:.2} s")));
        parts.join(" · ")
    }
}
