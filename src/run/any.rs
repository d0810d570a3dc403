//! Any description of a run, for tests of what must hold for all of them.

use super::initial_guess::InitialGuess;
use super::matrix::MatrixSpec;
use super::spec::{
    Backend, MethodName, MethodSpec, ProblemKind, ProblemSpec, RunSpec, StopRule, StopSpec, VERSION,
};
use crate::grid::{ByteCount, Precision};
use crate::problem::matrix::Ordering;
use crate::problem::{Boundary, HotBox, Stencil};
use crate::solver::{ExchangePath, Height, Kernel, ShareBy, Slabs, Subiterations};
use proptest::prelude::*;
use std::path::PathBuf;

/// Numbers that people write, and any others.
pub(crate) fn number() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(-1.5), -1e6..1e6, any::<f64>().prop_filter("", |v| v.is_finite())]
}

/// Tiles of a wave, or points of a warp.
fn order() -> impl Strategy<Value = Option<usize>> {
    prop_oneof![3 => Just(None), 1 => (0..70_usize).prop_map(Some)]
}

fn initial() -> impl Strategy<Value = Option<InitialGuess>> {
    let guess = prop_oneof![
        number().prop_map(InitialGuess::Value),
        Just(InitialGuess::File("x0.npy".into())),
    ];
    proptest::option::of(guess)
}

prop_compose! {
    fn hot_box()(
        sides in [number(), number(), number(), number()],
        (front, back) in prop_oneof![3 => Just((0.4, 0.6)), 1 => (number(), number())],
        value in number(),
    ) -> HotBox {
        let [left, right, top, bottom] = sides;
        HotBox { left, right, top, bottom, front, back, value }
    }
}

prop_compose! {
    fn matrix()(
        source in prop_oneof![Just("ice-sheet".to_owned()), Just("poisson-9x8".to_owned()), "[-a-zé' \"$/.]{1,12}"],
        ordering in proptest::sample::select(&Ordering::ALL[..]),
        nodes in proptest::option::of([0..400_usize, 0..400_usize]),
        initial in initial(),
        has_coordinates in any::<bool>(),
    ) -> MatrixSpec {
        let coordinates = has_coordinates.then(|| "xy.npy".into());
        MatrixSpec { source: source.into(), ordering, nodes, coordinates, checksum: None, initial }
    }
}

prop_compose! {
    fn problem()(
        kind in proptest::sample::select(&ProblemKind::ALL[..]),
        shape in prop::collection::vec(0..3000_usize, 1..=3),
        batch in prop_oneof![Just(1), 0..2000_usize],
        rhs in prop_oneof![Just("b.npy".to_owned()), "[-a-zé' \"$\\\\/.=\n]{1,12}"],
        seed in proptest::option::of(prop_oneof![0..9_u64, any::<u64>()]),
        velocity in proptest::option::of((number(), number(), prop_oneof![3 => Just(0.0), 1 => number()])),
        matrix in proptest::option::of(matrix()),
        (from_file, jump, interface) in (any::<bool>(), proptest::option::of(number()), proptest::option::of([[number(), number()], [number(), number()]])),
        (hot_box, own_initial) in (proptest::option::of(hot_box()), initial()),
        sides in proptest::option::of([number(), number(), number(), number(), number(), number()]),
        entries in proptest::option::of([number(), number(), number(), number(), number(), number(), number()]),
    ) -> ProblemSpec {
        let boundary = sides.map(|[left, right, top, bottom, front, back]| Boundary { left, right, top, bottom, front, back });
        let stencil = entries.map(|[d, a, c, e, f, p, q]| Stencil { d, a, c, e, f, p, q });
        let velocity = velocity.map(|(x, y, z)| [x, y, z]);
        let with_files = matches!(kind, ProblemKind::Picture | ProblemKind::Matrix);
        let rhs = with_files.then(|| PathBuf::from(rhs));
        let matrix = matrix.filter(|_| kind == ProblemKind::Matrix);
        // Options of a conductivity imply its problem, and a file replaces a jump.
        let is_diffusion = kind == ProblemKind::Diffusion;
        let conductivity = (is_diffusion && from_file).then(|| PathBuf::from("k.npy"));
        let has_jump = is_diffusion && !from_file;
        let (jump, interface) = (jump.filter(|_| has_jump), interface.filter(|_| has_jump));
        // That of a matrix is in its description.
        let initial = own_initial.filter(|_| matrix.is_none());
        ProblemSpec { kind, shape, batch, rhs, seed, velocity, conductivity, jump, interface, hot_box, initial, boundary, stencil, matrix }
    }
}

/// Simulated devices, cycles from one exchange to the next, and a link.
fn devices() -> impl Strategy<Value = (Option<usize>, Option<u64>, Option<[f64; 2]>)> {
    let given =
        (1..9_usize, proptest::option::of(0..99_u64), proptest::option::of([number(), number()]));
    prop_oneof![
        3 => Just((None, None, None)),
        1 => given.prop_map(|(count, every, link)| (Some(count), every, link)),
    ]
}

prop_compose! {
    /// Any description, whether it makes sense or not, without what its other settings leave no use for:
    /// command lines do not have that.
    pub(crate) fn run()(
        mut problem in problem(),
        name in proptest::sample::select(&MethodName::ALL[..]),
        height in proptest::option::of(prop_oneof![Just(Height::Auto), (0..5000_usize).prop_map(Height::Sweeps)]),
        slabs in proptest::sample::select(&Slabs::ALL[..]),
        memory in proptest::option::of(prop_oneof![Just(64_000_000), any::<u64>()].prop_map(ByteCount::new)),
        k in prop_oneof![(0..5000_usize).prop_map(Subiterations::Finite), Just(Subiterations::Infinite)],
        tile in prop::collection::vec(0..300_usize, 1..=2),
        overlap in prop::collection::vec(0..300_usize, 1..=2),
        (single, omega, wave, warp) in (any::<bool>(), prop_oneof![3 => Just(1.0), 1 => number()], order(), order()),
        threads in prop_oneof![Just(0), 0..64_usize],
        backend in proptest::sample::select(&Backend::ALL[..]),
        devices in prop_oneof![Just(vec![0]), prop::collection::vec(0..9_u32, 1..=2)],
        (kernel, block_size) in (proptest::sample::select(&Kernel::ALL), order()),
        (simulate_devices, exchange_every, link) in devices(),
        (exchange, share_by) in (prop::sample::select(ExchangePath::ALL.to_vec()), prop::sample::select(ShareBy::ALL.to_vec())),
        change in any::<bool>(),
        tolerance in proptest::option::of(number()),
        max_cycles in prop_oneof![Just(StopSpec::default().max_cycles), any::<u64>()],
    ) -> RunSpec {
        let ordering = problem.matrix.as_ref().map(|matrix| matrix.ordering);
        let is_guessed = problem.initial.is_none();
        let has_seed = is_guessed && ordering.is_none_or(|it| it == Ordering::Random);
        problem.seed = problem.seed.filter(|_| has_seed);
        let threads = if backend == Backend::Cuda { 0 } else { threads };
        let devices = if backend == Backend::Cpu { MethodSpec::default().devices } else { devices };
        let k = if name == MethodName::Hierarchical { k } else { MethodSpec::default().k };
        let (height, memory) = if name.is_streaming() { (height, memory) } else { (None, None) };
        let slabs = if name == MethodName::Pyramid { slabs } else { Slabs::Auto };
        let is_tiled = name == MethodName::Hierarchical;
        let [wave, warp] = [wave, warp].map(|count| count.filter(|_| is_tiled));
        let block_size = block_size.filter(|_| name == MethodName::Classic);
        let (simulate_devices, exchange_every, link) = match simulate_devices {
            Some(1) => (Some(1), None, None),
            _ => (simulate_devices, exchange_every, link),
        };
        if let Some(hot) = &mut problem.hot_box {
            let usual = HotBox::ARTICLE;
            if problem.shape.len() < 3 {
                (hot.front, hot.back) = (usual.front, usual.back);
            }
            if problem.shape.len() < 2 {
                (hot.top, hot.bottom) = (usual.top, usual.bottom);
            }
        }
        let precision = if single { Precision::F32 } else { Precision::F64 };
        let rule = match tolerance {
            None => problem.kind.default_stop().rule,
            Some(_) if change => StopRule::Change,
            Some(_) => StopRule::Residual,
        };
        let mut method = MethodSpec { name, k, tile, overlap, omega, wave, warp, precision, backend, threads, devices, exchange, share_by, simulate_devices, exchange_every, link, kernel, block_size, height, memory, slabs };
        if method.is_for_cpu() {
            method.devices = MethodSpec::default().devices;
        }
        if !method.has_several_gpus() {
            method.share_by = ShareBy::default();
        }
        RunSpec { version: VERSION, store: None, problem, method, stop: StopSpec { rule, tolerance, max_cycles } }
    }
}
