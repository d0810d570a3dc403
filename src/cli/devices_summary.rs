//! What `solve` says of devices that share a run.

use crate::grid::memory::human;
use crate::number::counted;
use crate::picture::seconds;
use crate::run::Run;
use crate::solver::ExchangePath;
use serde::Serialize;

/// The fields of `--json` about devices that share a run; messages, bytes and seconds are those of one exchange.
#[derive(Debug, Serialize)]
pub struct DevicesSummary {
    count: usize,
    /// Rows of tiles, lines, blocks of a matrix, slabs or groups of sweeps of each.
    parts: Vec<usize>,
    exchange_every: u64,
    messages: usize,
    bytes: u64,
    /// Not where values go through the memory of machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    predicted_seconds: Option<f64>,
    /// What values go through from one GPU to another.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    paths: Vec<ExchangePath>,
    /// Why nothing is exchanged after a cycle.
    #[serde(skip_serializing_if = "Option::is_none")]
    nothing_exchanged: Option<&'static str>,
    /// Bytes that each device but the last hands on to the next in a pass, where they share its sweeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    handed_on: Option<u64>,
}

impl DevicesSummary {
    /// `None` on one device.
    pub fn of(run: &Run) -> Option<Self> {
        let plan = run.plan();
        let devices = plan.method.devices().filter(|devices| devices.count() > 1)?;
        let exchange = devices.exchange(&plan.problem.shape, plan.precision);
        let shares = devices.shares().of_devices();
        let shape = &plan.problem.shape;
        let streaming = plan.method.streaming().filter(|it| it.shares_sweeps(shape));
        let whole = (shape.points() * plan.precision.bytes()) as u64;
        Some(Self {
            count: devices.count(),
            parts: shares.iter().map(|share| share.tiles.len()).collect(),
            exchange_every: devices.cycles_of_an_exchange(),
            messages: exchange.messages,
            bytes: exchange.bytes,
            predicted_seconds: plan.method.streaming().is_none().then_some(exchange.seconds),
            paths: run.solver().exchange_paths().to_vec(),
            handed_on: streaming.map(|_| whole),
            nothing_exchanged: plan.spec.why_no_exchange().filter(|_| !devices.exchange_values()),
        })
    }

    /// What values go through between GPUs.
    fn through(&self) -> String {
        let paths: Vec<_> = self.paths.iter().map(|path| path.label()).collect();
        match &paths[..] {
            [] => String::new(),
            paths => format!(" through {}", paths.join(" and ")),
        }
    }

    /// The line of the summary.
    pub fn text(&self) -> String {
        if let Some(why) = self.nothing_exchanged {
            let handed_on = self
                .handed_on
                .map(|bytes| format!(": {} from each to the next{}", human(bytes), self.through()));
            let handed_on = handed_on.unwrap_or_default();
            return format!("nothing after a cycle, since {why}{handed_on}");
        }
        let every = match self.exchange_every {
            1 => "after every cycle".to_owned(),
            cycles => format!("every {}", counted(cycles, "cycle")),
        };
        let messages = counted(self.messages as u64, "message");
        let predicted = self.predicted_seconds.map(|it| format!(", predicted {}", seconds(it)));
        let predicted = predicted.unwrap_or_default();
        let bytes = human(self.bytes);
        let through = self.through();
        format!("{messages}, {bytes} {every}{through}{predicted}")
    }
}
