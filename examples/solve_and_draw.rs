//! Solves a system in tiles, draws the residual on the way, and prints how the run ended.
//!
//! `cargo run --release --no-default-features --example solve_and_draw`

use std::path::Path;
use std::sync::Arc;
use tilescope::picture::{FigureSpec, ViewSpec, figure, save_figure};
use tilescope::run::{Experiment, FieldKind, Planner, RunSpec, Snapshot};

/// The cycle of the picture: the borders of tiles are clearest while long waves are still large.
const CYCLE: u64 = 40;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Poisson's equation on 256 × 256 points, tiles of 32 × 32, k = 16; here with overlap 4.
    let mut spec = RunSpec::default();
    spec.method.overlap = vec![4];
    let plan = Arc::new(Planner::default().plan(&spec)?);

    let mut experiment = Experiment::new(&plan)?;
    while experiment.run().cycle() < CYCLE {
        experiment.advance(1)?;
    }
    experiment.settle()?;

    let field = FieldKind::Residual;
    let figure_spec = FigureSpec::suiting(field);
    let view = ViewSpec { cycle: CYCLE, field, figure: figure_spec, ..ViewSpec::default() };
    let request = view.snapshot_request(0, &plan.problem.shape);
    let snapshot = Snapshot::of(&experiment, &request)?;
    // The file carries the run, so that `tilescope open residual.png` shows it again.
    save_figure(Path::new("residual.png"), &figure(&[&snapshot], &view), &spec, Some(&view))?;

    while experiment.run().outcome().is_none() {
        experiment.advance(u64::MAX)?;
    }
    let run = experiment.run();
    println!("{:?} after {} cycles, {:.3} s", run.outcome(), run.cycle(), run.seconds());
    println!("the residual after {CYCLE} cycles is in residual.png");
    Ok(())
}
