//! The default experiment drawn to files: what the program does without a display.

use super::console::{print, print_note};
use super::interrupt::Interrupt;
use super::progress::Progress;
use crate::files;
use crate::picture::{Compared, FigureKind, FigureSpec, ViewSpec, figure, save_figure};
use crate::run::{Experiment, FieldKind, Plan, Planner, RunSpec, Snapshot, curve_table, save_run};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Folder of the files, in the working directory.
pub(super) const FOLDER: &str = "tilescope-out";

/// Cycle of the heat maps: tile borders are clearest while long waves are still large.
const CYCLE: u64 = 40;

/// Overlap of the second run; the first has none.
const OVERLAP: usize = 4;

/// The message after Ctrl-C.
const ENDED: &str = "interrupted; the files that are complete remain";

/// Draws the default experiment and lists the files.
pub(super) fn draw() -> anyhow::Result<ExitCode> {
    let folder = Path::new(FOLDER);
    files::create_folder(folder)?;
    let interrupt = Interrupt::install(ENDED)?;
    let spec = RunSpec::default();
    let mut overlapping = spec.clone();
    overlapping.method.overlap = vec![OVERLAP];

    let field = FieldKind::Residual;
    let view = ViewSpec { field, figure: FigureSpec::suiting(field), ..ViewSpec::default() };
    let mut files = Vec::new();
    let mut ends = Vec::new();
    for (run, name) in [(&spec, "heat-map.png"), (&overlapping, "heat-map-overlap-4.png")] {
        let plan = Arc::new(Planner::default().plan(run)?);
        let Some((at_cycle, at_end)) = solve(&plan, &view, interrupt)? else {
            print_note(ENDED);
            return Ok(interrupt.exit_code());
        };
        let view = ViewSpec { cycle: at_cycle.cycle(), ..view.clone() };
        let path = folder.join(name);
        save_figure(&path, &figure(&[&at_cycle], &view), run, Some(&view))?;
        files.push((path, "the residual after 40 cycles"));
        ends.push(at_end);
    }
    if let [run, other] = &ends[..] {
        let path = folder.join("curves.png");
        let compared = Compared { cycle: other.cycle(), until: None, run: overlapping };
        let kind = FigureKind::CURVES;
        let view = ViewSpec { cycle: run.cycle(), kind, compared: vec![compared], ..view };
        let drawing = figure(&[run, other], &view);
        save_figure(&path, &drawing, &spec, Some(&view))?;
        files.push((path, "the residual over the cycles, without and with overlap"));
        let path = folder.join("curve.csv");
        let sweeps = run.plan.sweeps_per_cycle();
        curve_table(run.history.records(), sweeps, run.start_residual).save(&path)?;
        files.push((path, "the norms of every cycle of the first run"));
    }
    let path = folder.join("run.toml");
    save_run(&path, &spec)?;
    files.push((path, "the first run, for `tilescope open` and `tilescope solve --run`"));

    let list = files.iter().map(|(path, what)| format!("{:<40}{what}\n", path.display()));
    print(&list.collect::<String>())?;
    Ok(ExitCode::SUCCESS)
}

/// Makes a run and takes two snapshots: at [`CYCLE`] and at its end. `None` if it was interrupted.
fn solve(
    plan: &Arc<Plan>,
    view: &ViewSpec,
    interrupt: Interrupt,
) -> anyhow::Result<Option<(Snapshot, Snapshot)>> {
    let snapshot_request = view.snapshot_request(0, &plan.problem.shape);
    let mut experiment = Experiment::new(plan)?;
    for _ in 0..CYCLE {
        experiment.advance(1)?;
    }
    experiment.settle()?;
    let early = Snapshot::of(&experiment, &snapshot_request)?;
    let mut progress = Progress::start();
    while experiment.run().outcome().is_none() {
        if interrupt.is_requested() {
            return Ok(None);
        }
        experiment.advance(u64::MAX)?;
        progress.show_run(experiment.run());
    }
    experiment.settle()?;
    Ok(Some((early, Snapshot::of(&experiment, &snapshot_request)?)))
}
