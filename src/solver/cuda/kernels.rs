//! The table of kernels, the fastest first. Menus, options, sweeps, benches and refusals come from it.
//!
//! To add a kernel, write its `.cu` file, a file beside this one that says what it accepts and how a
//! cycle is launched, and a row here.

#[cfg(feature = "cuda")]
use super::build::Build;
use super::setting::{NO_KERNEL, Refused, SCHEDULES, Setting};
#[cfg(feature = "cuda")]
use super::{blocks, classic, fused, register, shared, spectral};
use crate::grid::{Precision, Shape};
use crate::solver::memory_traffic::{OnChip, TileWork};
use crate::solver::{Kernel, Layout, Method, MethodName};

/// The kernels, the fastest first on every setting that was measured (`benches/results`): those of grids,
/// then those of matrices, the fastest first at several sweeps per cycle.
pub(super) static KERNELS: [KernelType; 9] = [
    KernelType {
        name: "spectral",
        label: "Spectral",
        about: "All k subiterations of a tile at once, in its sine basis: the cost does not depend on k. Equal to sweeps up to rounding.",
        is_for_blocks: false,
        takes_rows: false,
        takes_damping: false,
        methods: &[MethodName::Hierarchical],
        only_by_name: &[],
        #[cfg(feature = "cuda")]
        accepts: spectral::accepts,
        #[cfg(feature = "cuda")]
        on_chip: |_, _| None,
        #[cfg(feature = "cuda")]
        build: Build::Grid { f32: spectral::build, f64: spectral::build },
    },
    KernelType {
        name: "register",
        label: "Register",
        about: "A tile stays in the registers of warps for k sweeps; neighbours are read by shuffles.",
        is_for_blocks: false,
        takes_rows: false,
        takes_damping: false,
        methods: &[MethodName::Hierarchical],
        only_by_name: &[],
        #[cfg(feature = "cuda")]
        accepts: |setting| register::layout(setting).map(drop),
        #[cfg(feature = "cuda")]
        on_chip: register::on_chip,
        #[cfg(feature = "cuda")]
        build: Build::Grid { f32: register::build, f64: register::build },
    },
    KernelType {
        name: "shared",
        label: "Shared",
        about: "The papers' kernel: one block of threads per tile, which stays in shared memory for k sweeps.",
        is_for_blocks: false,
        takes_rows: true,
        takes_damping: true,
        methods: &[MethodName::Hierarchical],
        only_by_name: &[],
        #[cfg(feature = "cuda")]
        accepts: |setting| shared::layout(setting).map(drop),
        #[cfg(feature = "cuda")]
        on_chip: shared::on_chip,
        #[cfg(feature = "cuda")]
        build: Build::Grid { f32: shared::build, f64: shared::build },
    },
    KernelType {
        name: "fused",
        label: "Fused",
        about: "In 3D, five sweeps at a time in overlapping tiles that stream through shared memory, or on a CPU through its caches: the values of classic, with less memory traffic and more redundant work.",
        is_for_blocks: false,
        takes_rows: false,
        takes_damping: false,
        methods: &[MethodName::Classic, MethodName::Wavefront],
        // Auto stays with the sweep that all is compared with.
        only_by_name: &[MethodName::Classic],
        #[cfg(feature = "cuda")]
        accepts: fused::accept,
        #[cfg(feature = "cuda")]
        on_chip: |_, _| None,
        #[cfg(feature = "cuda")]
        build: Build::Grid { f32: fused::build, f64: fused::build },
    },
    KernelType {
        name: "classic",
        label: "Classic",
        about: "Every sweep goes through global memory.",
        is_for_blocks: false,
        takes_rows: true,
        takes_damping: true,
        methods: &[MethodName::Classic, MethodName::Pyramid, MethodName::Wavefront],
        only_by_name: &[],
        #[cfg(feature = "cuda")]
        accepts: |_| Ok(()),
        #[cfg(feature = "cuda")]
        on_chip: |_, _| None,
        #[cfg(feature = "cuda")]
        build: Build::Grid { f32: classic::build, f64: classic::build },
    },
    KernelType {
        name: "resident",
        label: "Resident",
        about: "As hoisted, with a thread per row that keeps its dynamic entries in registers for all sweeps of a cycle (GPU only).",
        is_for_blocks: true,
        takes_rows: false,
        takes_damping: false,
        methods: &[MethodName::Hierarchical],
        only_by_name: &[],
        #[cfg(feature = "cuda")]
        accepts: |setting| blocks::accept(&blocks::RESIDENT, setting),
        #[cfg(feature = "cuda")]
        on_chip: |_, _| None,
        #[cfg(feature = "cuda")]
        build: Build::Blocks(&blocks::RESIDENT),
    },
    KernelType {
        name: Layout::Hoisted.name(),
        label: Layout::Hoisted.label(),
        about: Layout::Hoisted.about(),
        is_for_blocks: true,
        takes_rows: false,
        takes_damping: false,
        methods: &[MethodName::Hierarchical],
        only_by_name: &[],
        #[cfg(feature = "cuda")]
        accepts: |setting| blocks::accept(&blocks::HOISTED, setting),
        #[cfg(feature = "cuda")]
        on_chip: |_, _| None,
        #[cfg(feature = "cuda")]
        build: Build::Blocks(&blocks::HOISTED),
    },
    KernelType {
        name: Layout::Reorganised.name(),
        label: Layout::Reorganised.label(),
        about: Layout::Reorganised.about(),
        is_for_blocks: true,
        takes_rows: false,
        takes_damping: false,
        methods: &[MethodName::Hierarchical],
        only_by_name: &[],
        #[cfg(feature = "cuda")]
        accepts: |setting| blocks::accept(&blocks::REORGANISED, setting),
        #[cfg(feature = "cuda")]
        on_chip: |_, _| None,
        #[cfg(feature = "cuda")]
        build: Build::Blocks(&blocks::REORGANISED),
    },
    KernelType {
        name: Layout::Rows.name(),
        label: Layout::Rows.label(),
        about: Layout::Rows.about(),
        is_for_blocks: true,
        takes_rows: false,
        takes_damping: false,
        methods: &[MethodName::Hierarchical],
        only_by_name: &[],
        #[cfg(feature = "cuda")]
        accepts: |setting| blocks::accept(&blocks::ROWS, setting),
        #[cfg(feature = "cuda")]
        on_chip: |_, _| None,
        #[cfg(feature = "cuda")]
        build: Build::Blocks(&blocks::ROWS),
    },
];

/// One row of the table.
pub(super) struct KernelType {
    /// The name in files and on the command line.
    pub name: &'static str,
    /// The name in menus and titles.
    pub label: &'static str,
    /// How it works, in one sentence.
    pub about: &'static str,
    /// Whether it runs blocks of rows of a matrix, and not tiles of a grid.
    pub is_for_blocks: bool,
    /// Whether it takes grids whose points have rows of their own.
    pub takes_rows: bool,
    /// Whether it damps sweeps.
    pub takes_damping: bool,
    /// The methods that it runs.
    pub methods: &'static [MethodName],
    /// Those of them for which it runs only where it is chosen by its name.
    pub only_by_name: &'static [MethodName],
    /// Whether it accepts a setting; if not, what it does not accept, such as `tile 96x96`.
    #[cfg(feature = "cuda")]
    accepts: fn(&Setting<'_>) -> Result<(), String>,
    /// What the tiles of a cycle move in shared memory and registers, on a setting that it accepts; `None` if that is not
    /// counted.
    #[cfg(feature = "cuda")]
    on_chip: fn(&Setting<'_>, &TileWork) -> Option<OnChip>,
    /// Prepares it for a system and a setting that it accepts.
    #[cfg(feature = "cuda")]
    pub build: Build,
}

/// The kernel that runs where `chosen` is: for [`Kernel::AUTO`], the first of the table that accepts the
/// setting.
///
/// # Errors
/// [`Refused`] if the chosen kernel, or all of them, do not accept it.
pub(super) fn choose(
    chosen: Kernel,
    setting: &Setting<'_>,
) -> Result<&'static KernelType, Refused> {
    let is_auto = chosen == Kernel::AUTO;
    let is_candidate = |row: &&KernelType| {
        row.runs(setting.method).is_ok() && !row.only_by_name.contains(&setting.method.name())
    };
    let is_meant = |row: &&KernelType| {
        if is_auto { is_candidate(row) } else { row.name == chosen.name() }
    };
    // Of several, the last accepts the most.
    let mut refused = format!("the name {}", chosen.name());
    for row in KERNELS.iter().filter(is_meant) {
        match row.check(setting) {
            Ok(()) => return Ok(row),
            Err(why) => refused = why,
        }
    }
    match KERNELS.iter().find(|row| is_candidate(row) && row.check(setting).is_ok()) {
        Some(row) => Err(Refused { setting: refused, instead: format!("kernel {}", row.name) }),
        None => Err(Refused { setting: refused, instead: NO_KERNEL.to_owned() }),
    }
}

impl KernelType {
    /// Whether it runs the method and accepts the setting; if not, what it does not accept.
    fn check(&self, setting: &Setting<'_>) -> Result<(), String> {
        self.runs(setting.method)?;
        #[cfg(feature = "cuda")]
        (self.accepts)(setting)?;
        let streams = setting.method.name().is_streaming();
        match setting.is_per_point && (!self.takes_rows || streams) {
            true => Err("coefficients per point".to_owned()),
            false => Ok(()),
        }
    }

    /// Whether it runs the method, and makes its subiterations so.
    fn runs(&self, method: &Method) -> Result<(), String> {
        if !self.methods.contains(&method.name()) {
            return Err(format!("method {}", method.name().name()));
        }
        let has_blocks = method.tiling().is_some_and(|tiling| tiling.x().are_blocks());
        match (self.is_for_blocks, has_blocks) {
            (false, true) => return Err("blocks of a matrix".to_owned()),
            (true, false) => return Err("tiles of a grid".to_owned()),
            _ => {}
        }
        let omega = method.omega();
        if omega != 1.0 && !self.takes_damping {
            return Err(format!("damping (ω = {omega})"));
        }
        if !method.schedule().is_jacobi() {
            return Err(SCHEDULES.to_owned());
        }
        match (method.plain(), self.name == Kernel::SPECTRAL.name()) {
            (Method::Spectral(_), false) => Err("subiterations in the sine basis".to_owned()),
            (Method::Hierarchical { .. }, true) => Err("subiterations by sweeps".to_owned()),
            _ => Ok(()),
        }
    }
}

/// The most shared memory of a block on any GPU so far (an H200).
const MOST_SHARED: usize = 227 * 1024;

/// A setting on a GPU that is not known.
fn setting<'a>(
    method: &'a Method,
    precision: Precision,
    shape: &'a Shape,
    is_per_point: bool,
) -> Setting<'a> {
    let shared_bytes = MOST_SHARED;
    Setting { method, precision, shape, shared_bytes, is_per_point, block_size: None }
}

/// The kernel that runs where `kernel` is chosen, on a grid of this shape and a GPU that is not known.
///
/// # Errors
/// A predicate, such as "does not accept tile 96x96; use kernel shared".
pub(super) fn takes(
    kernel: Kernel,
    method: &Method,
    precision: Precision,
    shape: &Shape,
    is_per_point: bool,
) -> Result<Kernel, String> {
    let setting = setting(method, precision, shape, is_per_point);
    choose(kernel, &setting)
        .map(|row| Kernel::named(row.name))
        .map_err(|Refused { setting, instead }| format!("does not accept {setting}; use {instead}"))
}

/// What a cycle moves on the chip where `kernel` is chosen, on a GPU that is not known; `None` if that is not counted.
#[cfg(feature = "cuda")]
pub(super) fn on_chip(
    kernel: Kernel,
    method: &Method,
    precision: Precision,
    shape: &Shape,
    work: &TileWork,
) -> Option<OnChip> {
    let setting = setting(method, precision, shape, work.weights > 0);
    (choose(kernel, &setting).ok()?.on_chip)(&setting, work)
}

/// The same without kernels: nothing is known.
#[cfg(not(feature = "cuda"))]
pub(super) fn on_chip(
    _: Kernel,
    _: &Method,
    _: Precision,
    _: &Shape,
    _: &TileWork,
) -> Option<OnChip> {
    None
}

#[cfg(all(test, feature = "cuda"))]
mod tests {
    use super::*;
    use crate::grid::Tiling;
    use crate::problem::Stencil;
    use crate::solver::{Height, Spectral, Streaming, Subiterations};

    fn tiles(axes: &[usize], tile: &[usize]) -> Method {
        let tiling = Tiling::new(axes, tile, &[0, 0]).unwrap();
        Method::Hierarchical { k: 4, tiling }
    }

    fn chosen(kernel: Kernel, method: &Method, shared_bytes: usize) -> Result<&str, Refused> {
        let shape = Shape::grid_2d(512, 512).unwrap();
        let setting = setting(method, Precision::F64, &shape, false);
        choose(kernel, &Setting { shared_bytes, ..setting }).map(|row| row.name)
    }

    fn refused(kernel: Kernel, method: &Method, shared_bytes: usize) -> [String; 2] {
        let Refused { setting, instead } = chosen(kernel, method, shared_bytes).unwrap_err();
        [setting, instead]
    }

    #[test]
    fn a_refusal_names_the_fastest_kernel_that_accepts_the_setting() {
        let large = tiles(&[512, 512], &[96, 96]);
        assert_eq!(chosen(Kernel::AUTO, &large, MOST_SHARED), Ok("shared"));
        let said = refused(Kernel::REGISTER, &large, MOST_SHARED);
        assert_eq!(said, ["tile 96x96", "kernel shared"]);
        let wide = tiles(&[512, 512], &[128, 64]);
        assert_eq!(refused(Kernel::SHARED, &wide, 96 * 1024)[1], "kernel register");
        let huge = tiles(&[4096, 4096], &[512, 512]);
        for kernel in [Kernel::AUTO, Kernel::REGISTER, Kernel::SHARED] {
            assert_eq!(refused(kernel, &huge, MOST_SHARED), ["tile 512x512", NO_KERNEL]);
        }
        let said = refused(Kernel::SPECTRAL, &large, MOST_SHARED);
        assert_eq!(said, ["subiterations by sweeps", "kernel shared"]);
    }

    #[test]
    fn auto_is_the_first_of_the_table() {
        let method = tiles(&[1024, 1024], &[32, 32]);
        assert_eq!(chosen(Kernel::AUTO, &method, MOST_SHARED), Ok("register"));
        assert_eq!(chosen(Kernel::AUTO, &Method::Classic, MOST_SHARED), Ok("classic"));
    }

    #[test]
    fn the_sine_basis_has_its_own_kernel() {
        let tiling = Tiling::new(&[512, 512], &[96, 40], &[8, 8]).unwrap();
        let stencil = Stencil { a: -1.0, c: -1.0, e: -1.0, f: -1.0, d: 4.0, p: 0.0, q: 0.0 };
        let spectral = Spectral::new(Subiterations::Infinite, &tiling, &stencil).unwrap();
        let method = Method::Spectral(spectral);
        assert_eq!(chosen(Kernel::AUTO, &method, MOST_SHARED), Ok("spectral"));
        let said = refused(Kernel::REGISTER, &method, MOST_SHARED);
        assert_eq!(said, ["subiterations in the sine basis", "kernel spectral"]);
        let said = refused(Kernel::AUTO, &method, 16 * 1024);
        assert_eq!(said, ["tile 96x40", NO_KERNEL]);
    }

    #[test]
    fn a_kernel_of_another_method_is_refused() {
        let said = refused(Kernel::SHARED, &Method::Classic, MOST_SHARED);
        assert_eq!(said, ["method classic", "kernel classic"]);
        let said = refused(Kernel::CLASSIC, &tiles(&[64, 64], &[32, 32]), MOST_SHARED);
        assert_eq!(said, ["method hierarchical", "kernel register"]);
    }

    #[test]
    fn rows_of_their_own_go_to_the_kernels_that_read_them() {
        let shape = Shape::grid_2d(64, 64).unwrap();
        let setting = |method| super::setting(method, Precision::F64, &shape, true);
        let method = tiles(&[64, 64], &[32, 32]);
        assert_eq!(choose(Kernel::AUTO, &setting(&method)).map(|row| row.name), Ok("shared"));
        let classic = choose(Kernel::AUTO, &setting(&Method::Classic));
        assert_eq!(classic.map(|row| row.name), Ok("classic"));
        let refused = choose(Kernel::REGISTER, &setting(&method)).map(|row| row.name).unwrap_err();
        let said = [refused.setting.as_str(), refused.instead.as_str()];
        assert_eq!(said, ["coefficients per point", "kernel shared"]);
    }

    #[test]
    fn several_sweeps_at_a_time_are_of_wide_3d_grids() {
        let chosen = |kernel, axes: [usize; 3], method: &Method, threads| {
            let shape = Shape::grid_3d(axes[0], axes[1], axes[2]).unwrap();
            let setting = super::setting(method, Precision::F64, &shape, false);
            let chosen = choose(kernel, &Setting { block_size: threads, ..setting });
            chosen.map(|row| row.name).map_err(|refused| refused.setting)
        };
        let classic = Method::Classic;
        assert_eq!(chosen(Kernel::FUSED, [32, 32, 1], &classic, None), Ok("fused"));
        assert_eq!(chosen(Kernel::AUTO, [512; 3], &classic, None), Ok("classic"));
        for (axes, method, threads, expected) in [
            ([31, 64, 64], &classic, None, "a grid with fewer than 32 points along x or y"),
            ([64; 3], &classic, Some(128), "blocks of 128 threads"),
            ([64; 3], &Method::Classic.damped(0.8), None, "damping (ω = 0.8)"),
        ] {
            let refused = chosen(Kernel::FUSED, axes, method, threads);
            assert_eq!(refused, Err(expected.to_owned()));
        }
        let said = refused(Kernel::FUSED, &Method::Classic, MOST_SHARED);
        assert_eq!(said, ["a 2D grid", "kernel classic"]);
        let window = |planes| {
            let shape = Shape::grid_3d(64, 64, 64).unwrap();
            let memory = Streaming::memory_of(planes, &shape, Precision::F64);
            let (method, height) = (MethodName::Wavefront, Height::Auto);
            let streaming = Streaming::new(method, height, memory, &shape, Precision::F64);
            Method::Streaming(streaming.unwrap())
        };
        assert_eq!(chosen(Kernel::AUTO, [64; 3], &window(118), None), Ok("fused"));
        assert_eq!(chosen(Kernel::AUTO, [64; 3], &window(117), None), Ok("classic"));
        let refused = chosen(Kernel::FUSED, [64; 3], &window(117), None);
        let said = "a window with room for chunks of 16 planes (it takes 16 or more, and 4 planes beside them)";
        assert_eq!(refused, Err(said.to_owned()));
    }

    #[test]
    fn damping_goes_to_the_kernels_that_damp() {
        let damped = tiles(&[64, 64], &[32, 32]).damped(0.8);
        assert_eq!(chosen(Kernel::AUTO, &damped, MOST_SHARED), Ok("shared"));
        let classic = Method::Classic.damped(0.8);
        assert_eq!(chosen(Kernel::AUTO, &classic, MOST_SHARED), Ok("classic"));
        let said = refused(Kernel::REGISTER, &damped, MOST_SHARED);
        assert_eq!(said, ["damping (ω = 0.8)", "kernel shared"]);
    }

    #[test]
    fn blocks_of_a_matrix_have_kernels_of_their_own() {
        let blocks = |rows, overlap| Method::Hierarchical {
            k: 4,
            tiling: Tiling::blocks(100_000, rows, overlap).unwrap(),
        };
        assert_eq!(chosen(Kernel::AUTO, &blocks(256, 4), MOST_SHARED), Ok("resident"));
        assert_eq!(chosen(Kernel::AUTO, &blocks(1025, 0), MOST_SHARED), Ok("hoisted"));
        let hoisted = Kernel::named("hoisted");
        assert_eq!(chosen(hoisted, &blocks(256, 0), MOST_SHARED), Ok("hoisted"));
        let said = refused(hoisted, &blocks(10_000, 0), MOST_SHARED);
        assert_eq!(said, ["blocks of 10000 rows", "kernel reorganised"]);
        let said = refused(Kernel::AUTO, &blocks(20_000, 0), MOST_SHARED);
        assert_eq!(said, ["blocks of 20000 rows", NO_KERNEL]);
        let said = refused(Kernel::SHARED, &blocks(256, 0), MOST_SHARED);
        assert_eq!(said, ["blocks of a matrix", "kernel resident"]);
        let said = refused(hoisted, &tiles(&[64, 64], &[32, 32]), MOST_SHARED);
        assert_eq!(said, ["tiles of a grid", "kernel register"]);
    }
}
