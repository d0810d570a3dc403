//! The values that a lesson may quote, and claim something about: each is read from the run that is
//! shown, or from one that is made to check a claim.

use super::error::Fault;
use crate::grid::memory::human;
use crate::picture::{grouped, percent, rounded, seconds};
use crate::problem::SpectralRadius;
use crate::problem::matrix::BlockEntries;
use crate::run::{
    AccelerationCurve, FieldKind, Observation, Plan, Record, Reductions, Report, Snapshot,
};
use crate::solver::{Acceleration, Devices, Exchange};
use std::fmt;

/// What is known of an iterate and of its run.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The run.
    pub plan: &'a Plan,
    /// The iterate.
    pub observation: &'a Observation,
    /// Its norms.
    pub norms: Record,
    /// The norms of the initial guess.
    pub start: Record,
    /// ‖r₀‖₂.
    pub start_residual: f64,
    /// The norms of the run over its cycles; it may have gone beyond the iterate.
    pub curve: &'a [Record],
    /// The norms of Jacobi's iteration on the same system, as far as it is made.
    pub reference: &'a [Record],
    /// Those of its accelerations.
    pub accelerated: &'a [AccelerationCurve],
}

impl<'a> Evidence<'a> {
    /// The evidence of what the window shows.
    pub fn of_report(report: &'a Report) -> Self {
        let start = report.curve.first().copied().unwrap_or_default();
        Self {
            plan: &report.plan,
            observation: &report.observation,
            norms: report.observation.norms,
            start: Record { error: start.error.or(report.start_error), ..start },
            start_residual: report.start_residual,
            curve: &report.curve,
            reference: &report.reference,
            accelerated: &report.accelerated,
        }
    }

    /// The evidence of a run that was made apart.
    pub fn of_snapshot(snapshot: &'a Snapshot) -> Self {
        Self {
            plan: &snapshot.plan,
            observation: &snapshot.observation,
            norms: snapshot.history.of(snapshot.cycle()),
            start: snapshot.history.of(0),
            start_residual: snapshot.start_residual,
            curve: snapshot.history.as_slice(),
            reference: &snapshot.reference,
            accelerated: &snapshot.accelerated,
        }
    }

    fn sweeps(&self) -> f64 {
        (self.norms.cycle * self.plan.sweeps_per_cycle()) as f64
    }

    fn reduction(&self) -> Option<f64> {
        Some(crate::run::reduction(self.norms.residual?.l2, self.start_residual))
    }

    /// Sweeps of Jacobi's iteration to an equally small residual.
    fn sweeps_of_jacobi(&self) -> Option<f64> {
        self.sweeps_to(self.reference)
    }

    /// The same of one of its accelerations.
    fn sweeps_of(&self, acceleration: Acceleration) -> Option<f64> {
        let mut curves = self.accelerated.iter();
        self.sweeps_to(&curves.find(|curve| curve.acceleration == acceleration)?.records)
    }

    /// Sweeps of a reference, of which these are the norms, to an equally small residual.
    fn sweeps_to(&self, records: &[Record]) -> Option<f64> {
        // Both runs stop at the first iterate that meets the tolerance, not at equal residuals.
        let goal = self.reduction()?.max(self.plan.stop.tolerance.unwrap_or(0.0));
        let problem = &self.plan.spec.problem;
        let jacobi = Reductions { problem, records, start_residual: self.start_residual };
        jacobi.iter().find(|(_, reached)| *reached <= goal).map(|(record, _)| record.cycle as f64)
    }

    /// The staleness of the whole grid, point by point, if it is what is shown.
    fn staleness(&self) -> Option<&[f32]> {
        let shape = &self.plan.problem.shape;
        let samples = &self.observation.picture.as_ref()?.samples;
        let is_whole = shape.dim() == 2 && samples.values.len() == shape.points();
        (self.observation.field == FieldKind::Staleness && is_whole).then_some(&samples.values)
    }

    /// The asymptotic factor by which a cycle reduces the residual: the mean over the last tenth of the cycles made.
    fn cycle_factor(&self) -> Option<f64> {
        let made = self.curve.partition_point(|record| record.cycle <= self.norms.cycle);
        let known = |records: &[Record]| {
            records.iter().rev().find_map(|record| Some((record.cycle, record.residual?.l2)))
        };
        let (last, residual) = known(&self.curve[..made])?;
        let begin = self.curve.partition_point(|record| record.cycle <= last - last.div_ceil(10));
        let (first, before) = known(&self.curve[..begin])?;
        let cycles = last.checked_sub(first).filter(|cycles| *cycles > 0)?;
        Some((residual / before).powf(1.0 / cycles as f64))
    }

    /// Point updates computed for each one that is kept, counted where a method streams.
    fn redundancy(&self) -> Option<f64> {
        match self.plan.method.streaming() {
            Some(_) => Some(self.observation.traffic?.redundancy()),
            None => Some(self.plan.tiling.redundancy()),
        }
    }
}

/// What must be computed alongside a run, or observed of it, for a value to be known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Jacobi's iteration on the same system.
    pub reference: bool,
    /// Its accelerations.
    pub accelerations: bool,
    /// The exact solution.
    pub error: bool,
    /// The map of the staleness.
    pub staleness: bool,
}

impl Needs {
    /// What either needs.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            reference: self.reference || other.reference,
            accelerations: self.accelerations || other.accelerations,
            error: self.error || other.error,
            staleness: self.staleness || other.staleness,
        }
    }
}

const NOTHING: Needs =
    Needs { reference: false, accelerations: false, error: false, staleness: false };

/// How a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// A whole number.
    Count,
    /// A share, 0 to 1, in per cent with two digits.
    Percent,
    /// A number with three digits.
    Number,
    /// A ratio: `1.27×`.
    Factor,
    /// Bytes, with a prefix: `74.2 kB`.
    Bytes,
    /// A time, with a prefix: `3.2 µs`.
    Seconds,
    /// A spectral radius, with the digits that its distance from 1 takes.
    Radius,
}

/// A value that a lesson may quote, by its name.
pub struct Measure {
    /// The name in lessons.
    pub name: &'static str,
    /// What it is called in a goal: `share of ‖r‖² near tile borders`.
    pub label: &'static str,
    /// What it is, in one sentence.
    pub about: &'static str,
    /// What it needs.
    pub needs: Needs,
    format: Format,
    value: fn(&Evidence<'_>) -> Option<f64>,
}

const BLANK: Measure = Measure {
    name: "",
    label: "",
    about: "",
    needs: NOTHING,
    format: Format::Number,
    value: |_| None,
};

impl Measure {
    /// All of them, in the order of the documentation.
    pub const ALL: &'static [Self] = &[
        Self {
            name: "k",
            label: "k",
            about: "Subiterations of a cycle.",
            format: Format::Count,
            value: |it| Some(it.plan.spec.method.k.to_f64()),
            ..BLANK
        },
        Self {
            name: "tile",
            label: "tile",
            about: "Points of a tile along x; for a matrix, the rows of a block.",
            format: Format::Count,
            value: |it| Some(it.plan.tiling.x().tile() as f64),
            ..BLANK
        },
        Self {
            name: "overlap",
            label: "overlap",
            about: "Points that neighbouring tiles share along x; for a matrix, levels.",
            format: Format::Count,
            value: |it| Some(it.plan.tiling.x().overlap() as f64),
            ..BLANK
        },
        Self {
            name: "exact_overlap",
            label: "overlap of exact cycles",
            about: "The overlap from which on a cycle is exactly k sweeps of Jacobi's iteration, 2(k − 1).",
            format: Format::Count,
            value: |it| it.plan.spec.method.k.finite().map(|k| 2.0 * (k as f64 - 1.0)),
            ..BLANK
        },
        Self {
            name: "points",
            label: "points",
            about: "Points of the grid; for a matrix, its rows.",
            format: Format::Count,
            value: |it| Some(it.plan.problem.shape.points() as f64),
            ..BLANK
        },
        Self {
            name: "cycles",
            label: "cycles",
            about: "Cycles made.",
            format: Format::Count,
            value: |it| Some(it.norms.cycle as f64),
            ..BLANK
        },
        Self {
            name: "sweeps",
            label: "sweeps",
            about: "Sweeps made: k in each cycle.",
            format: Format::Count,
            value: |it| Some(it.sweeps()),
            ..BLANK
        },
        Self {
            name: "reduction",
            label: "‖r‖ / ‖r₀‖",
            about: "The residual relative to that of the initial guess, ‖r‖₂ / ‖r₀‖₂.",
            value: |it| it.reduction(),
            ..BLANK
        },
        Self {
            name: "error_left",
            label: "error left",
            about: "The error relative to that of the initial guess, ‖u − u*‖₂ / ‖u₀ − u*‖₂.",
            needs: Needs { error: true, ..NOTHING },
            format: Format::Percent,
            value: |it| Some(it.norms.error? / it.start.error?),
        },
        Self {
            name: "edge_share",
            label: "share of ‖r‖² near tile borders",
            about: "The share of ‖r‖₂² within two points of a tile border.",
            format: Format::Percent,
            value: |it| Some(it.observation.edge.residual),
            ..BLANK
        },
        Self {
            name: "edge_area",
            label: "share of the points near tile borders",
            about: "The share of the points within two points of a tile border.",
            format: Format::Percent,
            value: |it| Some(it.observation.edge.points),
            ..BLANK
        },
        Self {
            name: "edge_contrast",
            label: "r² near tile borders, relative to its mean",
            about: "The mean of r² within two points of a tile border over its mean on the whole grid; 1 where no line shows.",
            format: Format::Factor,
            value: |it| Some(it.observation.edge.residual / it.observation.edge.points),
            ..BLANK
        },
        Self {
            name: "staleness",
            label: "largest staleness",
            about: "The largest |u − Jacobi's iterate| of a 2D grid after the same number of sweeps.",
            needs: Needs { staleness: true, ..NOTHING },
            value: |it| {
                let largest = it.staleness()?.iter().fold(0.0_f32, |most, it| most.max(it.abs()));
                Some(largest.into())
            },
            ..BLANK
        },
        Self {
            name: "stale_points",
            label: "stale points",
            about: "The share of the points of a 2D grid that differ from Jacobi's iterate.",
            needs: Needs { staleness: true, ..NOTHING },
            format: Format::Percent,
            value: |it| {
                let values = it.staleness()?;
                let stale = values.iter().filter(|value| **value != 0.0).count();
                Some(stale as f64 / values.len() as f64)
            },
        },
        Self {
            name: "redundant_work",
            label: "redundant work",
            about: "Point updates computed for each one that is kept.",
            format: Format::Factor,
            value: |it| it.redundancy(),
            ..BLANK
        },
        Self {
            name: "jacobi_sweeps",
            label: "sweeps of Jacobi's iteration",
            about: "Sweeps of Jacobi's iteration to an equally small residual.",
            needs: Needs { reference: true, ..NOTHING },
            format: Format::Count,
            value: |it| it.sweeps_of_jacobi(),
        },
        Self {
            name: "chebyshev_sweeps",
            label: "sweeps with Chebyshev's acceleration",
            about: "Sweeps of Jacobi's iteration, accelerated by Chebyshev's polynomials, to an equally small residual.",
            needs: Needs { accelerations: true, ..NOTHING },
            format: Format::Count,
            value: |it| it.sweeps_of(Acceleration::Chebyshev),
        },
        Self {
            name: "cg_sweeps",
            label: "sweeps of conjugate gradients",
            about: "Products with the matrix that conjugate gradients take to an equally small residual.",
            needs: Needs { accelerations: true, ..NOTHING },
            format: Format::Count,
            value: |it| it.sweeps_of(Acceleration::ConjugateGradients),
        },
        Self {
            name: "sweep_ratio",
            label: "sweeps, relative to Jacobi's iteration",
            about: "Sweeps of the run over those of Jacobi's iteration to an equally small residual.",
            needs: Needs { reference: true, ..NOTHING },
            format: Format::Factor,
            value: |it| Some(it.sweeps() / it.sweeps_of_jacobi()?),
        },
        Self {
            name: "work_ratio",
            label: "work, relative to Jacobi's iteration",
            about: "Point updates that the run computes, redundant ones included, over those of Jacobi's iteration to an equally small residual.",
            needs: Needs { reference: true, ..NOTHING },
            format: Format::Factor,
            value: |it| Some(it.redundancy()? * it.sweeps() / it.sweeps_of_jacobi()?),
        },
        Self {
            name: "cycle_traffic",
            label: "values moved per point and cycle",
            about: "Values that a cycle moves between slow and fast memory for each point: every tile reads its iterate with its halo and its right-hand side, and every point is written once. For a method that streams, it is counted.",
            value: cycle_traffic,
            ..BLANK
        },
        Self {
            name: "sweep_traffic",
            label: "values moved per point and sweep",
            about: "The same for each sweep.",
            value: |it| Some(cycle_traffic(it)? / it.plan.sweeps_per_cycle() as f64),
            ..BLANK
        },
        Self {
            name: "dominance",
            label: "Σ|w|, relative to the diagonal",
            about: "The largest Σ|a_ij| / |a_ii| of a matrix row, j ≠ i; at most 1 guarantees convergence.",
            value: |it| Some(it.plan.problem.operator.dominance()),
            ..BLANK
        },
        Self {
            name: "spectral_radius",
            label: "spectral radius",
            about: "The spectral radius ρ of Jacobi's iteration on a grid, which converges where it is below 1.",
            format: Format::Radius,
            value: |it| Some(it.plan.known_radius()?.value),
            ..BLANK
        },
        Self {
            name: "sweeps_per_digit",
            label: "sweeps per digit",
            about: "Sweeps of Jacobi's iteration on a grid per digit of the residual, asymptotically: ln 10 / −ln ρ.",
            format: Format::Count,
            value: |it| it.plan.known_radius()?.sweeps_per_digit(),
            ..BLANK
        },
        Self {
            name: "cycle_factor",
            label: "factor of a cycle",
            about: "The asymptotic factor by which a cycle reduces the residual, measured as the mean over the last tenth of the cycles made.",
            format: Format::Radius,
            value: |it| it.cycle_factor(),
            ..BLANK
        },
        Self {
            name: "jacobi_factor",
            label: "factor of as many sweeps",
            about: "The asymptotic factor by which as many sweeps of Jacobi's iteration on a grid reduce the residual: the spectral radius to the power of k.",
            format: Format::Radius,
            value: |it| {
                let sweeps = it.plan.sweeps_per_cycle() as f64;
                it.plan.spec.method.k.finite()?;
                Some(it.plan.known_radius()?.value.powf(sweeps))
            },
            ..BLANK
        },
        Self {
            name: "devices",
            label: "devices",
            about: "Devices that share the grid.",
            format: Format::Count,
            value: |it| Some(it.plan.method.devices().map_or(1, Devices::count) as f64),
            ..BLANK
        },
        Self {
            name: "exchange_every",
            label: "cycles between exchanges",
            about: "Cycles from one exchange between devices to the next.",
            format: Format::Count,
            value: |it| Some(it.plan.method.devices()?.cycles_of_an_exchange() as f64),
            ..BLANK
        },
        Self {
            name: "exchange_bytes",
            label: "bytes exchanged per cycle",
            about: "Bytes that devices exchange for each cycle, in all messages.",
            format: Format::Bytes,
            value: |it| {
                let (exchange, devices) = exchange(it)?;
                Some(exchange.bytes as f64 / devices.cycles_of_an_exchange() as f64)
            },
            ..BLANK
        },
        Self {
            name: "exchange_time",
            label: "time of an exchange",
            about: "The predicted time of an exchange between devices, by latency and bandwidth of their link.",
            format: Format::Seconds,
            value: |it| Some(exchange(it)?.0.seconds),
            ..BLANK
        },
        Self {
            name: "entries_inside",
            label: "entries inside blocks",
            about: "For a matrix, the share of the off-diagonal entries whose column lies in the block of their row.",
            format: Format::Percent,
            value: |it| {
                let matrix = it.plan.problem.operator.matrix()?;
                let BlockEntries { inside, outside } = BlockEntries::of(matrix, it.plan.tiling.x());
                Some(inside as f64 / (inside + outside) as f64)
            },
            ..BLANK
        },
    ];

    /// The value of this name.
    ///
    /// # Errors
    /// [`Fault::Measure`], which lists the known ones.
    pub fn named(name: &str) -> Result<&'static Self, Fault> {
        Self::ALL.iter().find(|measure| measure.name == name).ok_or_else(|| {
            let all: Vec<_> = Self::ALL.iter().map(|measure| measure.name).collect();
            Fault::Measure { name: name.to_owned(), allowed: all.join(", ") }
        })
    }

    /// Its value; `None` while it is not known.
    pub fn value(&self, evidence: &Evidence<'_>) -> Option<f64> {
        (self.value)(evidence).filter(|value| !value.is_nan())
    }

    /// A value as text.
    pub fn text(&self, value: f64) -> String {
        match self.format {
            Format::Count if value.is_finite() => grouped(value.round() as u64),
            Format::Percent if value.is_finite() => percent(value),
            Format::Radius => SpectralRadius { value, error: 0.0 }.to_string(),
            Format::Factor => format!("{}×", rounded(value)),
            Format::Bytes => human(value.round() as u64),
            Format::Seconds => seconds(value),
            Format::Count | Format::Percent | Format::Number => rounded(value),
        }
    }
}

/// An exchange between the devices of a run, if it has several.
fn exchange<'a>(it: &Evidence<'a>) -> Option<(Exchange, &'a Devices)> {
    let devices = it.plan.method.devices().filter(|devices| devices.count() > 1)?;
    Some((devices.exchange(&it.plan.problem.shape, it.plan.precision), devices))
}

/// Values that a cycle reads and writes for each point, as [`Measure::ALL`] says.
fn cycle_traffic(it: &Evidence<'_>) -> Option<f64> {
    let counted = it.plan.memory_traffic(None, it.observation.traffic).ok()?;
    let values = counted.slowest().total() as f64 / it.plan.precision.bytes() as f64;
    Some(values / it.plan.problem.shape.points() as f64)
}

impl fmt::Debug for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for Measure {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_sentences_are_sentences() {
        let names: BTreeSet<_> = Measure::ALL.iter().map(|measure| measure.name).collect();
        assert_eq!(names.len(), Measure::ALL.len());
        assert!(Measure::ALL.iter().all(|measure| measure.about.ends_with('.')));
        let is_label = |label: &str| !label.is_empty() && !label.contains(['_', '.']);
        assert!(Measure::ALL.iter().all(|measure| is_label(measure.label)));
        let refused = Measure::named("edge").unwrap_err().to_string();
        assert!(
            refused.contains("no measured value edge; choose from k, tile, overlap"),
            "{refused}"
        );
    }

    #[test]
    fn values_are_written_as_people_write_them() {
        let text = |name, value| Measure::named(name).unwrap().text(value);
        assert_eq!(text("edge_share", 0.7821), "78 %");
        assert_eq!(text("k", f64::INFINITY), "∞");
        assert_eq!(text("sweeps", 12345.0), "12,345");
        assert_eq!(text("redundant_work", 1.3061), "1.31×");
        assert_eq!(text("reduction", 9.871e-5), "9.87×10⁻⁵");
        assert_eq!(text("exchange_bytes", 74_200.0), "74.2 kB");
        assert_eq!(text("exchange_time", 3.2e-6), "3.20 µs");
    }
}
