//! What a cycle moves between the kinds of memory, and what it computes, beside as many sweeps of Jacobi's iteration.

use crate::grid::Need;
use crate::grid::memory::human;
use crate::number::{counted, grouped};
use crate::picture::draw::drawing::Drawing;
use crate::picture::figures::curves::CLASSIC_NAME;
use crate::picture::figures::run_colour::run_colour;
use crate::picture::figures::titles::Titles;
use crate::picture::plot::bars::{Bar, BarChart, BarGroup};
use crate::picture::view::error::ViewError;
use crate::picture::view::kind::{FigureKind, FigureType, Uses};
use crate::picture::view::spec::ViewSpec;
use crate::run::{CsvTable, FieldKind, Plan, Snapshot};
use crate::solver::{Kernel, Memory, MemoryTraffic, Method, Moved, Traffic, Updates};

/// How it was counted.
const NOTES: &str = "Counted from the layout, not measured: what a sweep or a tile reads and writes of memory, each value once, as if none stayed in the caches; on the chip every value that an update reads or writes. Solid: read, or useful; pale: written, or redundant.";

/// Bytes and updates of a cycle.
struct MemoryTrafficFigure;

impl FigureKind {
    /// Bytes and updates of a cycle, beside as many sweeps of classic Jacobi.
    pub const MEMORY_TRAFFIC: Self = Self::new(&MemoryTrafficFigure);
}

impl FigureType for MemoryTrafficFigure {
    fn name(&self) -> &'static str {
        "memory-traffic"
    }

    fn label(&self) -> &'static str {
        "Memory traffic"
    }

    fn about(&self) -> &'static str {
        "Bytes that a cycle moves in each kind of memory, and updates that it computes, beside as many sweeps of classic Jacobi; to scale."
    }

    fn about_table(&self) -> Option<&'static str> {
        Some("A table has the bytes of each kind of memory, and the updates.")
    }

    fn file_stem(&self, _: FieldKind) -> String {
        "memory-traffic".to_owned()
    }

    fn need(&self) -> Need {
        Need::Nothing
    }

    fn uses(&self) -> Uses {
        Uses::default()
    }

    fn is_over_cycles(&self) -> bool {
        true
    }

    fn is_of_any_cycle(&self) -> bool {
        true
    }

    fn check_plan(&self, plan: &Plan) -> Result<(), ViewError> {
        match plan.method.streaming() {
            // Counted while it is made.
            Some(_) => Ok(()),
            None => compared_traffic(plan, None, None).map(drop).map_err(ViewError::NotCounted),
        }
    }

    fn check_observed(&self, first: &Snapshot) -> Result<(), ViewError> {
        of_snapshot(first).map(drop).map_err(ViewError::NotCounted)
    }

    fn title(&self, first: &Snapshot, _: &ViewSpec) -> String {
        cycle_name(&first.plan)
    }

    fn draw(&self, snapshots: &[&Snapshot], view: &ViewSpec) -> Drawing {
        let Some(first) = snapshots.first() else { return Drawing::Figure(String::new()) };
        let Titles { title, subtitle, .. } = Titles::of(&snapshots[..1], view);
        let chart = match of_snapshot(first) {
            Ok(compared) => {
                let theme = view.figure.theme;
                compared.chart([theme.reference(), run_colour(view, 0)])
            }
            Err(why) => BarChart { notes: why.to_owned(), ..BarChart::default() },
        };
        Drawing::Figure(chart.svg(&title, &subtitle, &view.figure.page()))
    }

    fn tables<'a>(&self, snapshots: &[&'a Snapshot], _: &ViewSpec) -> Vec<(String, CsvTable<'a>)> {
        let header = ["quantity", "first", "second"];
        let compared = snapshots.first().and_then(|first| of_snapshot(first).ok());
        let runs: Vec<_> = compared.iter().flat_map(ComparedTraffic::runs).collect();
        let table = |(name, traffic): &(String, &MemoryTraffic)| {
            let moved = traffic.moved.iter().map(|(memory, Moved { read, written })| {
                [
                    format!("{}, bytes read and written", memory.label()),
                    read.to_string(),
                    written.to_string(),
                ]
            });
            let updates = traffic.updates.map(|Updates { computed, needed }| {
                let redundant = computed.saturating_sub(needed);
                [
                    "updates, useful and redundant".to_owned(),
                    needed.to_string(),
                    redundant.to_string(),
                ]
            });
            let rows: Vec<_> = moved.chain(updates).collect();
            (name.clone(), CsvTable::new(header, rows.into_iter()))
        };
        runs.iter().map(table).collect()
    }
}

/// The traffic of a cycle of a run, and that of as many sweeps of Jacobi's iteration.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedTraffic {
    /// What the method is called.
    pub name: &'static str,
    /// That of a cycle.
    pub run: MemoryTraffic,
    /// That of the sweeps; `None` of a run that makes them, and where a cycle has no number of sweeps.
    pub classic: Option<MemoryTraffic>,
}

/// The traffic of a cycle: on a GPU with the kernel that runs, if it is known. A method that streams has counted its own.
///
/// # Errors
/// One sentence, if nothing is known.
pub fn compared_traffic(
    plan: &Plan,
    kernel: Option<Kernel>,
    streamed: Option<Traffic>,
) -> Result<ComparedTraffic, &'static str> {
    let run = plan.memory_traffic(kernel, streamed)?;
    let is_classic = matches!(plan.method.plain(), Method::Classic);
    let classic = if is_classic { None } else { plan.classic_memory_traffic().ok() };
    let name = if is_classic { CLASSIC_NAME } else { plan.method.name().label() };
    Ok(ComparedTraffic { name, run, classic })
}

/// What the chart is called: `Memory traffic of a cycle of 16 sweeps`.
pub fn cycle_name(plan: &Plan) -> String {
    match (plan.method.plain(), plan.method.k().finite()) {
        (Method::Classic, _) => "Memory traffic of a sweep".to_owned(),
        (_, None) => "Memory traffic of a cycle".to_owned(),
        _ => format!("Memory traffic of a cycle of {}", counted(plan.sweeps_per_cycle(), "sweep")),
    }
}

impl ComparedTraffic {
    /// Those that are compared, by name.
    fn runs(&self) -> Vec<(String, &MemoryTraffic)> {
        let classic = self.classic.iter().map(|classic| (CLASSIC_NAME.to_owned(), classic));
        classic.chain([(self.name.to_owned(), &self.run)]).collect()
    }

    /// The bars, those of Jacobi's iteration in the first colour. All bytes have one scale.
    pub fn chart(&self, colours: [[u8; 3]; 2]) -> BarChart {
        let runs = self.runs();
        let colours = &colours[2 - runs.len()..];
        let bytes = |moved: Moved| [moved.read, moved.written].map(|bytes| bytes as f64);
        let totals =
            runs.iter().flat_map(|(_, it)| it.moved.iter().map(|(_, moved)| moved.total()));
        let longest = totals.max().unwrap_or(0) as f64;
        let of_memory = |memory: Memory| {
            let bars = runs.iter().zip(colours).filter_map(|((name, traffic), colour)| {
                let moved = traffic.of(memory)?;
                let [total, read, written] = [moved.total(), moved.read, moved.written].map(human);
                let label = format!("{name}: {total}, {read} read and {written} written");
                Some(Bar::of_two(label, *colour, bytes(moved)))
            });
            let name = format!("{}{}", memory.label()[..1].to_uppercase(), &memory.label()[1..]);
            BarGroup { name, longest, bars: bars.collect() }
        };
        let updates = runs.iter().zip(colours).filter_map(|((name, traffic), colour)| {
            let Updates { computed, needed } = traffic.updates?;
            let redundant = computed.saturating_sub(needed);
            let label = match redundant {
                0 => format!("{name}: {}", grouped(computed)),
                _ => format!(
                    "{name}: {}, {} of them redundant",
                    grouped(computed),
                    grouped(redundant)
                ),
            };
            Some(Bar::of_two(label, *colour, [needed as f64, redundant as f64]))
        });
        let bars: Vec<_> = updates.collect();
        let longest_updates = bars.iter().map(Bar::total).fold(0.0, f64::max);
        let updates = BarGroup { name: "Point updates".to_owned(), longest: longest_updates, bars };
        let groups = Memory::ALL.into_iter().map(of_memory).chain([updates]);
        let groups = groups.filter(|group| !group.bars.is_empty()).collect();
        let notes = match self.run.not_counted {
            Some(why) => format!("{why} {NOTES}"),
            None => NOTES.to_owned(),
        };
        BarChart { groups, notes, ..BarChart::default() }
    }
}

fn of_snapshot(snapshot: &Snapshot) -> Result<ComparedTraffic, &'static str> {
    compared_traffic(&snapshot.plan, None, snapshot.observation.traffic)
}
