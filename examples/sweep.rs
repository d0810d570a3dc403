//! Measures settings of k and overlap on one system, writes the table and prints the best.
//!
//! `cargo run --release --no-default-features --example sweep`

use std::path::Path;
use tilescope::run::{
    CycleLists, Measure, PerAxis, RunSpec, Sweep, SweepRow, SweepSpec, SweepTable, TileLists,
};
use tilescope::solver::Kernel;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut run = RunSpec::default();
    run.problem.shape = vec![128, 128];
    let mut sweep = Sweep::new(SweepSpec {
        run,
        cycle: CycleLists::Tiles(TileLists {
            k: [4, 8, 16].map(Into::into).to_vec(),
            overlap: [0, 2, 4, 8].map(PerAxis::all).to_vec(),
            tile: vec![PerAxis::all(32)],
        }),
        kernel: vec![Kernel::AUTO],
        threads: vec![0],
        measure: vec![Measure::Time, Measure::Cycles],
    })?;

    let never = || false; // this sweep is never stopped
    sweep.probe(&never)?; // constants of the cost model, for the predictions in the table
    let cells = sweep.cells().to_vec();
    let rows = sweep.measure(&cells, 1, &never)?;
    let mut table = SweepTable::create(Path::new("sweep.csv"))?;
    for row in &rows {
        table.push(row)?;
    }

    for row in &rows {
        let seconds = row.seconds.map_or_else(|| "–".to_owned(), |s| format!("{s:.3} s"));
        println!("{:<28} {seconds}", row.setting());
    }
    if let Some(best) = SweepRow::best(&rows) {
        println!("best: {}", best.command);
    }
    println!("the table is in sweep.csv");
    Ok(())
}
