//! Guards what figures look like, from values to pixels, against pictures that a person has inspected.
//! `UPDATE_SNAPSHOTS=true` regenerates them.

use std::path::PathBuf;

use tilescope::grid::{ByteCount, GridPoint};
use tilescope::picture::{
    ColourMap, Compared, Drawing, FigureKind, FigureSpec, HeatMapFigure, InsideView, Level,
    MapAxis, Over, Page, Panel, PlacedFigure, Plot, PlotAxis, Range, SCREEN_DPI, Samples, Scale,
    ScaleKind, Series, Theme, ViewSpec, figure, render, save_png,
};
use tilescope::problem::matrix::Ordering;
use tilescope::run::{
    Backend, CutLine, FieldKind, MatrixSpec, MeasuredPass, MethodName, Monitor, PassLog, Planner,
    ProblemKind, RecordedCycles, RunSpec, Snapshot, record_run,
};
use tilescope::solver::{Height, PassTimes, StepTimes, StopToken};

/// How far a channel may be off, out of 255: rounding differs between processors.
const TOLERANCE: u8 = 3;

fn check(name: &str, svg: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let drawn = render(svg).expect("figures are valid SVG");
    if std::env::var("UPDATE_SNAPSHOTS").is_ok_and(|answer| answer == "true" || answer == "1") {
        save_png(&path, &drawn, SCREEN_DPI, &[]).unwrap();
        return;
    }
    let golden = image::open(&path).unwrap_or_else(|error| {
        panic!("{}: {error}; UPDATE_SNAPSHOTS=true makes it", path.display())
    });
    let golden = golden.into_rgba8();
    assert_eq!(drawn.dimensions(), golden.dimensions(), "{name}");
    let off = |a: &u8, b: &u8| a.abs_diff(*b) > TOLERANCE;
    let wrong = drawn.iter().zip(golden.iter()).filter(|(a, b)| off(a, b)).count();
    if wrong > 0 {
        let shown = std::env::temp_dir().join(format!("tilescope-{name}"));
        save_png(&shown, &drawn, SCREEN_DPI, &[]).unwrap();
        panic!("{name}: {wrong} channels differ; what was drawn is in {}", shown.display());
    }
}

/// A residual as hierarchical Jacobi leaves it: bright at the boundary and at tile borders, with a
/// circle where it changes sign.
fn residual(n: u32, tile: u32) -> Vec<f32> {
    let value = |i: u32, j: u32| {
        let border = i.min(n - 1 - i).min(j).min(n - 1 - j) as f32;
        let edge = |p: u32| (p % tile).min(tile - 1 - p % tile) as f32;
        let middle = n as f32 / 2.0;
        let ring = (i as f32 - middle).hypot(j as f32 - middle) - n as f32 / 5.0;
        ring * (30.0 * (-border / 6.0).exp() + 20.0 * (-1.6 * edge(i).min(edge(j))).exp() + 1.0)
    };
    (0..n * n).map(|point| value(point % n, point / n)).collect()
}

fn residual_figure(theme: Theme, kind: ScaleKind, map: ColourMap, borders: &[f64]) -> String {
    let values = residual(64, 16);
    let panel = Panel {
        title: "",
        samples: Samples::new(64, 64, &values).unwrap(),
        end: 64.0,
        tile_borders_x: borders,
        tile_borders_y: borders,
        device_borders_y: &[],
        cell_borders: &[],
        outlines: &[],
        lines: &[],
    };
    HeatMapFigure {
        title: "Residual after cycle 16",
        subtitle: "Poisson 2D, 64² · k = 16, overlap = 0, tile = 16 · ‖r‖/‖r₀‖ = 0.031",
        panels: &[panel],
        x_axis: MapAxis { label: "i", start: 0.0, end: 64.0 },
        y_axis: MapAxis { label: "j", start: 0.0, end: 64.0 },
        equal_aspect: true,
        scale: Scale::new(kind, Range::of(kind, values.iter().copied())),
        map,
        value_label: "|residual|",
        page: Page { width: 480, height: 360, theme, font: None },
    }
    .svg()
}

#[test]
fn residual_log_light() {
    let svg = residual_figure(Theme::Light, ScaleKind::Log, ColourMap::Inferno, &[]);
    check("residual-log-light.png", &svg);
}

#[test]
fn residual_symmetric_dark_with_tile_borders() {
    let borders = [16.0, 32.0, 48.0];
    let svg = residual_figure(Theme::Dark, ScaleKind::Symmetric, ColourMap::RedBlue, &borders);
    check("residual-symmetric-dark.png", &svg);
}

#[test]
fn space_time_with_cycles_to_come() {
    let (cols, rows) = (128_u16, 24_u16);
    let value = |x: u16, cycle: u16| {
        if cycle >= 20 {
            return f32::NAN;
        }
        let edge = f32::from((x % 16).min(15 - x % 16));
        let fading = (-f32::from(cycle) / 8.0).exp();
        fading * ((f32::from(x) / 20.0).sin() + (-edge).exp())
    };
    let values: Vec<f32> =
        (0..rows).flat_map(|cycle| (0..cols).map(move |x| value(x, cycle))).collect();
    let panel = Panel {
        title: "",
        samples: Samples::new(cols.into(), rows.into(), &values).unwrap(),
        end: rows.into(),
        tile_borders_x: &[],
        tile_borders_y: &[],
        device_borders_y: &[],
        cell_borders: &[],
        outlines: &[],
        lines: &[],
    };
    let svg = HeatMapFigure {
        title: "Change, cycle by cycle",
        subtitle: "Poisson 1D, n = 128 · k = 8, overlap = 0, tile = 16",
        panels: &[panel],
        x_axis: MapAxis { label: "x", start: 0.0, end: cols.into() },
        y_axis: MapAxis { label: "cycle", start: 0.0, end: rows.into() },
        equal_aspect: false,
        // Narrower than the values, so that both ends of the bar are marked.
        scale: Scale::new(ScaleKind::Linear, Range::new(-0.6, 0.8)),
        map: ColourMap::Viridis,
        value_label: "change",
        page: Page { width: 480, height: 320, theme: Theme::Light, font: None },
    }
    .svg();
    check("space-time.png", &svg);
}

#[test]
fn convergence_curves() {
    let falling = |rate: f64, count: u32| -> Vec<(f64, f64)> {
        let cycles = (0..count).map(f64::from);
        cycles.map(|c| (c, 0.3 * (-0.2 * c).exp() + 0.7 * (-rate * c).exp())).collect()
    };
    let (classic, none, four) = (falling(0.004, 500), falling(0.012, 500), falling(0.03, 320));
    let theme = Theme::Light;
    let level = Level { value: 1e-4, name: "tolerance 10⁻⁴".to_owned() };
    let x = PlotAxis::new("cycles", ScaleKind::Linear);
    let plot = Plot {
        series: vec![
            Series { dashed: true, ..Series::line("classic", classic, theme.curve(7)) },
            Series::line("overlap = 0", none, theme.curve(0)),
            Series::line("overlap = 4", four, theme.curve(1)),
        ],
        levels: vec![level],
        ..Plot::new(x, PlotAxis::new("‖r‖ / ‖r₀‖", ScaleKind::Log))
    };
    let page = Page { width: 480, height: 360, theme, font: None };
    let svg = plot.svg("Convergence", "Poisson 2D, 64² · k = 16, tile = 16", &page);
    check("convergence.png", &svg);
}

/// A small run, observed for a view.
fn snapshot(run: &RunSpec, view: &ViewSpec) -> Snapshot {
    let plan = Planner::default().plan(run).unwrap();
    let snapshot_request = view.snapshot_request(0, &plan.problem.shape);
    let mut watch = Monitor { cancel: &StopToken::default(), on_progress: &mut |_| {} };
    let seen =
        record_run(&plan, &snapshot_request, RecordedCycles::Each(&[view.cycle]), &mut watch)
            .unwrap();
    seen.snapshots[0].clone()
}

/// Draws a view of a run on this grid, and of the same with overlap if the view compares.
fn drawn(shape: &[usize], view: ViewSpec) -> String {
    drawn_with(shape, &[0], view)
}

/// The figure of a single run.
fn drawn_of(run: &RunSpec, view: ViewSpec) -> String {
    match figure(&[&snapshot(run, &view)], &view) {
        Drawing::Figure(svg) => svg,
        Drawing::Map(_) => panic!("a bare map is no figure"),
    }
}

/// The same of a run with this overlap.
fn drawn_with(shape: &[usize], overlap: &[usize], view: ViewSpec) -> String {
    let mut run = RunSpec::default();
    run.problem.shape = shape.to_vec();
    run.method.overlap = overlap.to_vec();
    run.method.tile = vec![16];
    let mut other = run.clone();
    other.method.overlap = vec![8];
    let compared = view.kind.compares();
    let view = ViewSpec {
        compared: match compared {
            true => vec![Compared { cycle: view.cycle, until: None, run: other.clone() }],
            false => Vec::new(),
        },
        ..view
    };
    let snapshots = [snapshot(&run, &view), snapshot(&other, &view)];
    let snapshots: Vec<_> = snapshots.iter().take(1 + usize::from(compared)).collect();
    match figure(&snapshots, &view) {
        Drawing::Figure(svg) => svg,
        Drawing::Map(_) => panic!("a bare map is no figure"),
    }
}

fn view(kind: FigureKind, cycle: u64, size: [u32; 2], theme: Theme) -> ViewSpec {
    let figure = FigureSpec { size, theme, ..FigureSpec::default() };
    ViewSpec { cycle, kind, figure, ..ViewSpec::default() }
}

#[test]
fn two_runs_side_by_side() {
    let mut view = view(FigureKind::SIDE_BY_SIDE, 20, [720, 400], Theme::Dark);
    view.figure.borders = true;
    check("side-by-side.png", &drawn(&[64, 64], view));
}

#[test]
fn three_slices_of_a_3d_grid() {
    let mut view = view(FigureKind::SLICES, 3, [720, 360], Theme::Dark);
    (view.figure.borders, view.through) = (true, Some([12, 20, 5]));
    check("slices.png", &drawn(&[32, 24, 16], view));
}

#[test]
fn the_volume_of_a_3d_grid() {
    let mut view = view(FigureKind::VOLUME, 3, [480, 400], Theme::Light);
    view.figure.borders = true;
    check("volume.png", &drawn(&[32, 24, 16], view));
}

/// A grid as a matrix, its rows in the order of tiles.
fn matrix() -> RunSpec {
    let mut spec = RunSpec::default();
    let matrix = MatrixSpec { ordering: Ordering::Tiles, ..MatrixSpec::new("poisson-64x48") };
    spec.problem.kind = ProblemKind::Matrix;
    spec.problem.shape = vec![64 * 48];
    spec.problem.matrix = Some(matrix);
    (spec.method.tile, spec.method.k) = (vec![256], 8.into());
    spec
}

#[test]
fn the_entries_of_a_matrix() {
    let view = view(FigureKind::SPY, 0, [480, 480], Theme::Light);
    check("spy.png", &drawn_of(&matrix(), view));
}

#[test]
fn the_rows_of_a_matrix_on_their_nodes() {
    let mut view = view(FigureKind::ROW_MAP, 12, [480, 400], Theme::Dark);
    view.figure.borders = true;
    check("row-map.png", &drawn_of(&matrix(), view));
}

#[test]
fn two_runs_one_above_the_other_without_annotations() {
    let mut view = view(FigureKind::SIDE_BY_SIDE, 30, [420, 560], Theme::Light);
    view.figure.annotations = false;
    check("side-by-side-stacked.png", &drawn(&[96, 48], view));
}

#[test]
fn two_1d_runs_side_by_side() {
    check(
        "side-by-side-lines.png",
        &drawn(&[96], view(FigureKind::SIDE_BY_SIDE, 24, [720, 360], Theme::Light)),
    );
}

#[test]
fn the_convergence_of_two_runs_without_a_background() {
    let view = view(FigureKind::CURVES, 40, [480, 320], Theme::Transparent);
    check("curves-two-runs.png", &drawn(&[64, 64], view));
}

#[test]
fn a_profile_with_tile_borders() {
    let mut view = view(FigureKind::PROFILE, 20, [640, 360], Theme::Light);
    view.figure.borders = true;
    check("profile.png", &drawn(&[64, 64], view));
}

/// Across the corners of tiles.
#[test]
fn an_oblique_profile_of_two_runs_with_tile_borders() {
    let mut view = view(FigureKind::PROFILE, 20, [640, 360], Theme::Dark);
    view.figure.borders = true;
    view.cut = Some(CutLine::Segment([[0, 0], [63, 47]]));
    check("profile-oblique.png", &drawn(&[64, 64], view));
}

#[test]
fn the_mean_tile_and_what_inner_tiles_own_of_it() {
    let mut view = view(FigureKind::MEAN_TILE, 20, [480, 400], Theme::Light);
    view.figure.borders = true;
    check("mean-tile.png", &drawn_with(&[96, 64], &[8], view));
}

#[test]
fn a_signed_profile_of_a_1d_run_in_large_letters() {
    let mut view = view(FigureKind::PROFILE, 6, [640, 360], Theme::Dark);
    view.field = FieldKind::Change;
    (view.figure.scale, view.figure.font) = (ScaleKind::Symmetric, Some(13.0));
    check("profile-of-a-line.png", &drawn(&[96], view));
}

#[test]
fn the_maps_the_curves_and_the_profiles_of_two_runs_in_one_figure() {
    let mut view = view(FigureKind::ARRANGEMENT, 20, [900, 480], Theme::Light);
    let place = |kind, area| PlacedFigure { kind, area };
    view.places = vec![
        place(FigureKind::SIDE_BY_SIDE, [0.0, 0.0, 0.6, 1.0]),
        place(FigureKind::CURVES, [0.6, 0.0, 0.4, 0.5]),
        place(FigureKind::PROFILE, [0.6, 0.5, 0.4, 0.5]),
    ];
    check("arrangement.png", &drawn(&[64, 64], view));
}

#[test]
fn a_field_by_distance_from_the_tile_borders() {
    check(
        "distance.png",
        &drawn(&[96, 96], view(FigureKind::DISTANCE, 20, [560, 400], Theme::Light)),
    );
}

#[test]
fn the_edge_share_over_the_cycles_and_what_is_to_come_of_it() {
    let mut view = view(FigureKind::EDGE_SHARE, 24, [560, 400], Theme::Dark);
    view.until = Some(60);
    check("edge-share.png", &drawn(&[64, 64], view));
}

#[test]
fn the_frequencies_of_the_residual() {
    let view = view(FigureKind::FREQUENCIES, 20, [560, 480], Theme::Dark);
    check("frequencies.png", &drawn(&[64, 64], view));
}

#[test]
fn the_frequencies_of_a_1d_residual() {
    let view = view(FigureKind::FREQUENCIES, 20, [560, 360], Theme::Light);
    check("frequencies-line.png", &drawn(&[96], view));
}

#[test]
fn the_damping_by_mode_of_a_sweep_and_of_a_cycle() {
    let view = view(FigureKind::DAMPING_BY_MODE, 0, [560, 400], Theme::Light);
    check("damping-by-mode.png", &drawn(&[64, 64], view));
}

#[test]
fn the_asymptotic_rate_beside_a_curve() {
    let mut view = view(FigureKind::CURVES, 200, [640, 400], Theme::Dark);
    view.asymptotic_rate = true;
    check("asymptotic-rate.png", &drawn(&[32, 32], view));
}

#[test]
fn chebyshev_and_conjugate_gradients_beside_a_curve() {
    let mut view = view(FigureKind::CURVES, 120, [640, 400], Theme::Light);
    (view.classic, view.over) = (Some(1920), Over::Sweeps);
    (view.chebyshev, view.conjugate_gradients) = (Some(200), Some(200));
    check("references.png", &drawn(&[64, 64], view));
}

#[test]
fn four_devices_that_exchange_rarely() {
    let mut run = RunSpec::default();
    (run.problem.shape, run.method.tile) = (vec![64, 64], vec![16]);
    (run.method.k, run.method.overlap) = (4.into(), vec![6]);
    (run.method.simulate_devices, run.method.exchange_every) = (Some(4), Some(8));
    let svg = |run: &RunSpec, view: &ViewSpec| {
        let snapshot = snapshot(run, view);
        let Drawing::Figure(svg) = figure(&[&snapshot], view) else { panic!("no bare map") };
        svg
    };
    let mut map = view(FigureKind::HEAT_MAP, 30, [560, 480], Theme::Dark);
    map.figure.borders = true;
    check("devices.png", &svg(&run, &map));
    let mut profile = view(FigureKind::PROFILE, 30, [560, 320], Theme::Light);
    profile.cut = Some(CutLine::Column(32));
    check("devices-profile.png", &svg(&run, &profile));
    (run.problem.shape, run.method.tile) = (vec![32; 3], vec![8]);
    (run.method.k, run.method.overlap) = (2.into(), vec![2]);
    check(
        "devices-slices.png",
        &svg(&run, &view(FigureKind::SLICES, 12, [900, 400], Theme::Light)),
    );
    check("devices-volume.png", &svg(&run, &view(FigureKind::VOLUME, 12, [480, 400], Theme::Dark)));
}

#[test]
fn a_field_at_single_points_without_a_background() {
    let mut view = view(FigureKind::PROBES, 60, [560, 400], Theme::Transparent);
    view.probes = [[32, 32], [31, 15], [8, 8]].map(GridPoint::Flat).into();
    check("probes.png", &drawn(&[64, 64], view));
}

#[test]
fn the_memory_traffic_of_a_cycle_beside_as_many_sweeps() {
    let view = view(FigureKind::MEMORY_TRAFFIC, 1, [640, 480], Theme::Light);
    check("memory-traffic.png", &drawn_with(&[64, 64], &[8], view));
}

/// Slabs of a pyramid with what is computed twice, and chunks of the wavefront; what heights cost, and the lanes of a
/// pass. Times differ from run to run: these are made up.
#[test]
fn planes_that_visit_fast_memory() {
    let drawn = |method, height, kind| {
        let mut run = RunSpec::default();
        run.problem.shape = vec![64, 64];
        run.method.set_name(method);
        (run.method.height, run.method.memory) = (height, Some(ByteCount::new(22 * 24 * 68)));
        run.method.backend = Backend::Cpu;
        let view = view(kind, 1, [640, 400], Theme::Light);
        let mut snapshot = snapshot(&run, &view);
        let passes = [(2, 0.82), (4, 0.66), (6, 0.73), (8, 1.02)].map(|(n, nanoseconds)| {
            run.method.height = Some(Height::Sweeps(n));
            let streaming = run.method.streaming(&snapshot.plan.problem.shape).unwrap();
            let (seconds, per_value, per_update) = (nanoseconds * 1e-9, 0.25e-9, 0.3e-9);
            MeasuredPass { streaming, seconds, per_value, per_update }
        });
        let steps = (0..5).map(|step| {
            let at = 0.4e-3 * f64::from(step);
            let [up, sweeps] = [[at, at + 0.3e-3], [at + 0.3e-3, at + 0.7e-3]];
            StepTimes { up, sweeps, down: [at + 0.7e-3, at + 0.85e-3] }
        });
        let last = PassTimes { steps: steps.collect(), seconds: 2.45e-3, ..PassTimes::default() };
        snapshot.passes = PassLog::new(passes.into(), Some(last)).into();
        match figure(&[&snapshot], &view) {
            Drawing::Figure(svg) => svg,
            Drawing::Map(_) => panic!("a bare map is no figure"),
        }
    };
    let four = Some(Height::Sweeps(4));
    check("pyramid.png", &drawn(MethodName::Pyramid, four, FigureKind::PLANES));
    check(
        "wavefront.png",
        &drawn(MethodName::Wavefront, Some(Height::Sweeps(8)), FigureKind::PLANES),
    );
    check("height.png", &drawn(MethodName::Pyramid, four, FigureKind::HEIGHT));
    check("lanes.png", &drawn(MethodName::Pyramid, four, FigureKind::LANES));
}

#[test]
fn a_tile_inside_a_cycle_with_its_frozen_halo() {
    let mut view = view(FigureKind::INSIDE, 12, [600, 480], Theme::Light);
    view.inside = InsideView { tile: [1, 2], subiteration: 8, ..InsideView::default() };
    check("inside.png", &drawn_with(&[64, 64], &[8], view));
}

#[test]
fn all_tiles_of_a_1d_grid_inside_a_cycle() {
    let mut view = view(FigureKind::INSIDE, 6, [640, 360], Theme::Dark);
    view.inside = InsideView { all_of_line: true, subiteration: 8, ..InsideView::default() };
    check("inside-line.png", &drawn(&[96], view));
}

#[test]
fn the_convergence_of_several_runs_beside_jacobis() {
    let mut view = view(FigureKind::CURVES, 60, [640, 400], Theme::Light);
    (view.classic, view.over) = (Some(960), Over::Sweeps);
    let mut run = RunSpec::default();
    (run.problem.shape, run.method.tile) = (vec![64, 64], vec![16]);
    let with = |k: usize, overlap| {
        let mut run = run.clone();
        (run.method.k, run.method.overlap) = (k.into(), vec![overlap]);
        run
    };
    let runs = [run.clone(), with(16, 8), with(8, 0), with(32, 4)];
    let snapshots: Vec<_> = runs.iter().map(|run| snapshot(run, &view)).collect();
    let snapshots: Vec<_> = snapshots.iter().collect();
    // The second of the pinned runs has been unpinned since.
    view.colours = vec![0, 2, 3];
    let Drawing::Figure(svg) = figure(&snapshots, &view) else { panic!("a bare map is no figure") };
    check("curves-several-runs.png", &svg);
}

#[test]
fn small_panes_in_one_figure_while_the_run_went_on() {
    let mut view = view(FigureKind::ARRANGEMENT, 20, [1000, 560], Theme::Dark);
    let place = |kind, area| PlacedFigure { kind, area };
    view.places = vec![
        place(FigureKind::HEAT_MAP, [0.0, 0.0, 0.4, 0.6]),
        place(FigureKind::MEAN_TILE, [0.0, 0.6, 0.4, 0.4]),
        place(FigureKind::DISTANCE, [0.4, 0.0, 0.3, 0.5]),
        place(FigureKind::EDGE_SHARE, [0.4, 0.5, 0.3, 0.5]),
        place(FigureKind::PROBES, [0.7, 0.0, 0.3, 0.5]),
        place(FigureKind::INSIDE, [0.7, 0.5, 0.3, 0.5]),
    ];
    view.probes = [[32, 32], [15, 16]].map(GridPoint::Flat).into();
    view.until = Some(50);
    view.inside.subiteration = 8;
    check("panes.png", &drawn(&[64, 64], view));
}
