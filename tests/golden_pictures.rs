//! Guards what figures look like, from values to pixels, against pictures that a person has looked
//! at. `UPDATE_SNAPSHOTS=true` makes them anew.

use std::path::PathBuf;

use tilescope::picture::{
    Axis, ColourMap, Curve, CurvesFigure, HeatMapFigure, Range, Samples, Scale, ScaleKind, Theme,
    render, save_png,
};

/// How far a channel may be off, out of 255: rounding differs between processors.
const TOLERANCE: u8 = 3;

fn check(name: &str, svg: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    let drawn = render(svg).expect("figures are valid SVG");
    if std::env::var("UPDATE_SNAPSHOTS").is_ok_and(|answer| answer == "true" || answer == "1") {
        save_png(&path, &drawn, &[]).unwrap();
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
        save_png(&shown, &drawn, &[]).unwrap();
        panic!("{name}: {wrong} channels differ; what was drawn is in {}", shown.display());
    }
}

/// A residual as hierarchical Jacobi leaves it: bright at the border and at tile edges, with a
/// ring where it changes sign.
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
    HeatMapFigure {
        title: "Residual after cycle 16",
        subtitle: "Poisson 2D, 64² · k = 16, overlap = 0, tile = 16 · ‖r‖/‖r₀‖ = 0.031",
        samples: Samples::new(64, 64, &values).unwrap(),
        x_axis: Axis { label: "i", start: 0.0, end: 64.0 },
        y_axis: Axis { label: "j", start: 0.0, end: 64.0 },
        tile_borders_x: borders,
        tile_borders_y: borders,
        equal_aspect: true,
        scale: Scale::new(kind, Range::of(kind, values.iter().copied())),
        map,
        value_label: "|residual|",
        width: 480,
        height: 360,
        theme,
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
    let svg = HeatMapFigure {
        title: "Change, cycle by cycle",
        subtitle: "Poisson 1D, n = 128 · k = 8, overlap = 0, tile = 16",
        samples: Samples::new(cols.into(), rows.into(), &values).unwrap(),
        x_axis: Axis { label: "x", start: 0.0, end: cols.into() },
        y_axis: Axis { label: "cycle", start: 0.0, end: rows.into() },
        tile_borders_x: &[],
        tile_borders_y: &[],
        equal_aspect: false,
        // Narrower than the values, so that both ends of the bar are marked.
        scale: Scale::new(ScaleKind::Linear, Range::new(-0.6, 0.8)),
        map: ColourMap::Viridis,
        value_label: "change",
        width: 480,
        height: 320,
        theme: Theme::Light,
    }
    .svg();
    check("space-time.png", &svg);
}

#[test]
fn convergence_curves() {
    let curve = |rate: f64, count: u32| -> Vec<(f64, f64)> {
        let cycles = (0..count).map(f64::from);
        cycles.map(|c| (c, 0.3 * (-0.2 * c).exp() + 0.7 * (-rate * c).exp())).collect()
    };
    let (classic, none, four) = (curve(0.004, 500), curve(0.012, 500), curve(0.03, 320));
    let theme = Theme::Light;
    let runs = [
        Curve { label: "classic", points: &classic, colour: theme.curve(7), dashed: true },
        Curve { label: "overlap = 0", points: &none, colour: theme.curve(0), dashed: false },
        Curve { label: "overlap = 4", points: &four, colour: theme.curve(1), dashed: false },
    ];
    let svg = CurvesFigure {
        title: "Convergence",
        subtitle: "Poisson 2D, 64² · k = 16, tile = 16",
        x_label: "cycles",
        y_label: "‖r‖ / ‖r₀‖",
        curves: &runs,
        y_log: true,
        level: Some((1e-4, "tolerance 10⁻⁴")),
        width: 480,
        height: 360,
        theme,
    }
    .svg();
    check("convergence.png", &svg);
}
