//! The default experiment as files, for whoever starts the program without a display.

use super::console::{INTERRUPTED, print};
use super::interrupt::Interrupt;
use super::render::make_cycles;
use crate::picture::{
    Drawing, FigureSpec, Over, RunCurve, ViewSpec, curves_svg, heat_map_svg, save_figure,
};
use crate::run::{
    Capture, Captured, Experiment, FieldKind, Plan, Planner, Record, RunSpec, save_curve, save_run,
};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// Where the files go, from where the program was started.
pub(super) const FOLDER: &str = "tilescope-out";

/// The cycle of the map: tile edges are at their clearest when the long waves are not gone yet.
const CYCLE: u64 = 40;

/// The overlap that is put beside none.
const OVERLAP: usize = 4;

/// What the two runs have in common.
const SETTINGS: &str = "k = 16, tile 32 · f64";

/// Draws the default experiment, and says which files it wrote.
pub(super) fn draw() -> anyhow::Result<ExitCode> {
    let folder = Path::new(FOLDER);
    std::fs::create_dir_all(folder)
        .map_err(|cause| crate::files::FileError::Write { path: folder.to_owned(), cause })?;
    let interrupt = Interrupt::listen()?;
    let spec = RunSpec::default();
    let mut overlapping = spec.clone();
    overlapping.method.overlap = vec![OVERLAP];

    let mut files = Vec::new();
    let mut captures = Vec::new();
    for (run, name) in [(&spec, "heat-map.png"), (&overlapping, "heat-map-overlap-4.png")] {
        let plan = Arc::new(Planner::default().plan(run)?);
        let Some((at_cycle, at_end)) = solve(&plan, interrupt)? else {
            return Ok(ExitCode::from(INTERRUPTED));
        };
        let figure = FigureSpec::suiting(at_cycle.field);
        let view = ViewSpec { cycle: at_cycle.cycle, field: at_cycle.field, figure };
        let path = folder.join(name);
        let drawing = Drawing::Figure(heat_map_svg(&at_cycle, &figure));
        interrupt.hold(|| save_figure(&path, &drawing, run, Some(&view)))?;
        files.push((path, "the residual after 40 cycles"));
        captures.push((run.method.overlap[0], at_end));
    }
    let path = folder.join("curves.png");
    let drawing = Drawing::Figure(curves(&captures));
    interrupt.hold(|| save_figure(&path, &drawing, &spec, None))?;
    files.push((path, "how the residual falls, without and with overlap"));
    if let Some((_, run)) = captures.first() {
        let path = folder.join("curve.csv");
        let sweeps = run.plan.sweeps_per_cycle();
        interrupt.hold(|| save_curve(&path, &run.history, sweeps, run.start_residual))?;
        files.push((path, "the norms of the first run, cycle by cycle"));
    }
    let path = folder.join("run.toml");
    interrupt.hold(|| save_run(&path, &spec))?;
    files.push((path, "the first run; `tilescope open` and `tilescope solve --run` take it"));

    let list = files.iter().map(|(path, what)| format!("{:<40}{what}\n", path.display()));
    print(&list.collect::<String>())?;
    Ok(ExitCode::SUCCESS)
}

/// Makes a run and looks twice: at [`CYCLE`], and at its end. Nothing if somebody stopped it.
fn solve(plan: &Arc<Plan>, interrupt: Interrupt) -> anyhow::Result<Option<(Captured, Captured)>> {
    let field = FieldKind::Residual;
    let most = FigureSpec::default().size.map(|side| side as usize);
    let capture = Capture { id: 0, field, most, solution: false };
    let mut experiment = Experiment::new(plan)?;
    for _ in 0..CYCLE {
        experiment.advance(1)?;
    }
    experiment.settle()?;
    let early = Captured::of(&experiment, &capture)?;
    if !make_cycles(&mut experiment, interrupt)? {
        return Ok(None);
    }
    experiment.settle()?;
    Ok(Some((early, Captured::of(&experiment, &capture)?)))
}

fn curves(runs: &[(usize, Captured)]) -> String {
    let records: Vec<Vec<Record>> =
        runs.iter().map(|(_, run)| run.history.records().copied().collect()).collect();
    let labels: Vec<_> = runs.iter().map(|(overlap, _)| format!("overlap {overlap}")).collect();
    let curves: Vec<_> = runs
        .iter()
        .zip(&records)
        .zip(&labels)
        .map(|(((_, run), records), label)| RunCurve {
            label,
            records,
            sweeps_per_cycle: run.plan.sweeps_per_cycle(),
            start_residual: run.start_residual,
            reference: false,
        })
        .collect();
    runs.first().map_or_else(String::new, |(_, run)| {
        curves_svg(&run.plan, SETTINGS, &curves, Over::Cycles, &FigureSpec::default())
    })
}
