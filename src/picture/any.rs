//! Any view of a run, and a small sweep, for the tests of what must hold for all of them.

use crate::grid::{GridPoint, Slice};
use crate::picture::axis::scale::{Range, ScaleKind};
use crate::picture::colour::map::ColourMap;
use crate::picture::colour::theme::Theme;
use crate::picture::draw::layout::SMALLEST_SIDE;
use crate::picture::draw::render::LARGEST_SIDE;
use crate::picture::view::camera::Camera;
use crate::picture::view::frames::{Frames, Pairing, Spacing};
use crate::picture::view::inside::{InsideKind, InsideView};
use crate::picture::view::kind::FigureKind;
use crate::picture::view::norm::Norm;
use crate::picture::view::over::Over;
use crate::picture::view::slow_link::{NamedLink, RATIOS, SlowLink};
use crate::picture::view::spec::{Compared, PlacedFigure, ViewSpec};
use crate::picture::{FigureSpec, SCREEN_DPI};
use crate::run::any::{number, run};
use crate::run::{
    CutLine, CycleLists, FieldKind, Measure, PerAxis, RunSpec, Sweep, SweepSpec, TileLists,
};
use crate::solver::Kernel;
use crate::solver::Subiterations;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

prop_compose! {
    fn figure_spec()(
        scale in select(&ScaleKind::ALL[..]),
        absolute in any::<bool>(),
        map in select(&ColourMap::ALL[..]),
        range in option::of([number(), number()]),
        size in [SMALLEST_SIDE..=LARGEST_SIDE, SMALLEST_SIDE..=LARGEST_SIDE],
        dpi in prop_oneof![Just(SCREEN_DPI), number()],
        font in option::of(number()),
        theme in select(&Theme::ALL[..]),
        borders in any::<bool>(),
        annotations in any::<bool>(),
    ) -> FigureSpec {
        let range = range.map(|[lo, hi]| Range::new(lo, hi));
        FigureSpec { scale, absolute, map, range, size, dpi, font, theme, borders, annotations }
    }
}

prop_compose! {
    fn inside()(
        tile in any::<[usize; 2]>(),
        all_of_line in any::<bool>(),
        subiteration in any::<usize>(),
        kind in select(&InsideKind::ALL[..]),
    ) -> InsideView {
        InsideView { tile, all_of_line, subiteration, kind, ..InsideView::default() }
    }
}

prop_compose! {
    /// Any view, whether it makes sense or not, of a figure of a size that there can be.
    pub(crate) fn view()(
        cycle in any::<u64>(),
        field in select(&FieldKind::ALL[..]),
        kind in select(FigureKind::ALL),
        (over, log_x, asymptotic_rate) in (select(&Over::ALL[..]), any::<bool>(), any::<bool>()),
        slow_link in prop_oneof![
            Just(SlowLink::ThisMachine),
            select(&NamedLink::ALL[..]).prop_map(SlowLink::Named),
            RATIOS.prop_map(SlowLink::Ratio),
        ].boxed(),
        norm in select(&Norm::ALL[..]),
        cut in option::of(prop_oneof![
            any::<usize>().prop_map(CutLine::Row),
            any::<usize>().prop_map(CutLine::Column),
            any::<[[usize; 2]; 2]>().prop_map(CutLine::Segment),
        ]),
        (slice, projection) in (option::of((0..3_usize, any::<usize>())), any::<bool>()),
        through in option::of(any::<[usize; 3]>()),
        camera in [number(), number(), number()],
        beyond in [
            option::of(any::<u64>()),
            option::of(any::<u64>()),
            option::of(any::<u64>()),
            option::of(any::<u64>()),
        ],
        probes in prop::collection::vec(
            prop_oneof![
                any::<[usize; 2]>().prop_map(GridPoint::Flat),
                any::<[usize; 3]>().prop_map(GridPoint::Volume),
            ],
            0..3,
        ),
        pairing in select(&Pairing::ALL[..]),
        colours in prop::collection::vec(0..9_usize, 0..2),
        inside in inside(),
        figure in figure_spec(),
        frames in option::of((any::<[u64; 3]>(), any::<bool>(), number())),
        places in prop::collection::vec((select(FigureKind::ALL), any::<[u8; 4]>()), 0..4),
        compared in prop::collection::vec((any::<u64>(), option::of(any::<u64>()), run()), 0..3),
    ) -> ViewSpec {
        let frames = frames.map(|([first, last, step], is_even, rate)| {
            let spacing = if is_even { Spacing::Every } else { Spacing::Logarithmic };
            Frames { first, last, spacing: spacing(step), rate }
        });
        let compared = compared.into_iter();
        let compared = compared.map(|(cycle, until, run)| Compared { cycle, until, run }).collect();
        let place = |(kind, area): (_, [u8; 4])| PlacedFigure { kind, area: area.map(|n| f32::from(n) / 255.0) };
        let places = places.into_iter().map(place).collect();
        let [until, classic, chebyshev, conjugate_gradients] = beyond;
        let [azimuth, elevation, zoom] = camera;
        let camera = Camera { azimuth, elevation, zoom };
        let slice = slice.map(|(axis, index)| Slice { axis, index });
        ViewSpec {
            cycle, field, kind, over, log_x, norm, slice, projection, through, camera, slow_link, cut, until, classic, chebyshev,
            conjugate_gradients, asymptotic_rate, probes, pairing, colours, inside, figure,
            frames, places, compared,
        }
    }
}

/// A sweep on a small 2D grid over these k, three overlaps and two tiles. Overlap 2 goes with both
/// tiles, 8 with neither.
pub(crate) fn sweep(k: &[usize]) -> Sweep {
    let mut run = RunSpec::default();
    run.problem.shape = vec![24, 20];
    let spec = SweepSpec {
        run,
        cycle: CycleLists::Tiles(TileLists {
            k: k.iter().map(|k| Subiterations::Finite(*k)).collect(),
            overlap: [0, 2, 8].map(PerAxis::all).to_vec(),
            tile: [4, 8].map(PerAxis::all).to_vec(),
        }),
        kernel: vec![Kernel::AUTO],
        threads: vec![0],
        measure: vec![Measure::Cycles],
    };
    Sweep::new(spec).unwrap()
}
