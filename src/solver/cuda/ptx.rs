//! The PTX of the kernels, compressed by the build script (`build.rs`).

use crate::grid::Precision;
use crate::problem::Weights;
use flate2::read::ZlibDecoder;
use std::io::Read;
use std::ops::Range;

/// A source file in `kernels/`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum File {
    Classic,
    Classic3d,
    Shared,
    Shared3d,
    Stream3d,
    Register1d,
    Register2d,
    Spectral,
    SpectralTensor,
    Observe,
    Statistics,
    Gather,
    Blocks,
    Sums,
}

impl File {
    fn name(self) -> &'static str {
        match self {
            Self::Classic => "classic",
            Self::Classic3d => "classic_3d",
            Self::Shared => "shared",
            Self::Shared3d => "shared_3d",
            Self::Stream3d => "stream_3d",
            Self::Register1d => "register_1d",
            Self::Register2d => "register_2d",
            Self::Spectral => "spectral",
            Self::SpectralTensor => "spectral_tensor",
            Self::Observe => "observe",
            Self::Statistics => "statistics",
            Self::Gather => "gather",
            Self::Blocks => "blocks",
            Self::Sums => "sums",
        }
    }

    /// Whether it is compiled for each precision and form.
    fn has_variants(self) -> bool {
        self != Self::Sums
    }
}

/// The number of axes and which weights are equal, which fixes the order of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Form {
    Isotropic1d,
    General1d,
    Isotropic2d,
    PerAxis2d,
    General2d,
    Isotropic3d,
    PerAxis3d,
    General3d,
    /// A sparse matrix, which has no stencil.
    Matrix,
}

impl Form {
    /// The form of these weights on a grid with `dim` axes.
    pub fn of<R>(weights: &Weights<R>, dim: usize) -> Self {
        match (weights, dim) {
            (Weights::Isotropic(_), 1) => Self::Isotropic1d,
            (_, 1) => Self::General1d,
            (Weights::Isotropic(_), 2) => Self::Isotropic2d,
            (Weights::PerAxis(_), 2) => Self::PerAxis2d,
            (Weights::General(_), 2) => Self::General2d,
            (Weights::Isotropic(_), _) => Self::Isotropic3d,
            (Weights::PerAxis(_), _) => Self::PerAxis3d,
            (Weights::General(_), _) => Self::General3d,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Isotropic1d => "1d-isotropic",
            Self::General1d => "1d-general",
            Self::Isotropic2d => "2d-isotropic",
            Self::PerAxis2d => "2d-per-axis",
            Self::General2d => "2d-general",
            Self::Isotropic3d => "3d-isotropic",
            Self::PerAxis3d => "3d-per-axis",
            Self::General3d => "3d-general",
            Self::Matrix => "matrix",
        }
    }
}

/// A variant of a function: all variants of a function are compressed together.
struct Entry {
    kernel: &'static str,
    function: &'static str,
    variant: &'static str,
    /// Its bytes of [`BINARY`].
    stream: Range<usize>,
    /// Its bytes of what comes out of them.
    text: Range<usize>,
}

static BINARY: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/ptx.bin"));
static ENTRIES: &[Entry] = include!(concat!(env!("OUT_DIR"), "/ptx_table.rs"));

/// The PTX of one function for one precision and form of the weights, ready for the driver; `None` if the
/// file has no such function. The driver compiles whatever it gets, so it gets one function only.
pub(super) fn source(
    file: File,
    precision: Precision,
    form: Form,
    function: &str,
) -> Option<String> {
    let variant = match file.has_variants() {
        true => format!("{}-{}", precision.name(), form.name()),
        false => "any".to_owned(),
    };
    let is_wanted = |entry: &&Entry| {
        entry.kernel == file.name() && entry.function == function && entry.variant == variant
    };
    let entry = ENTRIES.iter().find(is_wanted)?;
    let mut text = String::new();
    ZlibDecoder::new(BINARY.get(entry.stream.clone())?).read_to_string(&mut text).ok()?;
    text.get(entry.text.clone()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENTRY: &str = ".visible .entry ";

    #[test]
    fn each_source_is_one_whole_function() {
        assert!(!ENTRIES.is_empty());
        for entry in ENTRIES {
            let mut text = String::new();
            let stream = &BINARY[entry.stream.clone()];
            ZlibDecoder::new(stream).read_to_string(&mut text).unwrap();
            let text = &text[entry.text.clone()];
            assert!(text.starts_with(".version ") && text.trim_end().ends_with('}'));
            assert_eq!(text.matches(ENTRY).count(), 1);
            assert!(text.contains(&format!("{ENTRY}{}(", entry.function)));
            assert_eq!(text.matches('{').count(), text.matches('}').count());
        }
    }

    #[test]
    fn every_form_and_precision_has_its_functions() {
        use Form::{General1d, General2d, General3d, Isotropic1d, Isotropic2d, Isotropic3d};
        use Form::{PerAxis2d, PerAxis3d};
        let one = [Isotropic1d, General1d];
        let two = [Isotropic2d, PerAxis2d, General2d];
        let three = [Isotropic3d, PerAxis3d, General3d];
        let flat = [&one[..], &two[..]].concat();
        let all = [&flat[..], &three[..]].concat();
        for (file, forms, functions) in [
            (File::Classic, &flat[..], &["sweep", "sweep_measured"][..]),
            (File::Classic3d, &three, &["sweep", "sweep_measured"]),
            (File::Shared, &flat, &["one_point", "any_tile"]),
            (File::Shared3d, &three, &["cube_16", "deep_16", "deep_8", "any_box"]),
            (File::Stream3d, &three, &["k_4", "k_6", "k_7"]),
            (File::Stream3d, &three, &["k_4_measured", "k_6_measured", "k_7_measured"]),
            (File::Shared, &two, &["eight_points", "twelve_points"]),
            (File::Register1d, &one, &["full", "partial", "full_long", "partial_long"]),
            (File::Register1d, &one, &["full_measured", "partial_measured", "full_long_measured"]),
            (File::Register2d, &two, &["full", "partial", "full_warps", "partial_warps"]),
            (File::Register2d, &two, &["small", "small_partial"]),
            (File::Spectral, &flat, &["four_rows", "eight_rows"]),
            (File::Observe, &all, &["residual", "other_norms", "distance", "sample"]),
            (File::Observe, &flat, &["residual_samples_same", "residual_samples_varied"]),
            (File::Statistics, &all, &["fold_rows", "fold_tiles"]),
            (File::Gather, &all, &["gather"]),
            (File::Blocks, &[Form::Matrix], &["rows", "reorganised", "hoisted", "resident"]),
            (File::Blocks, &[Form::Matrix], &["one_sweep"]),
            (File::Sums, &all, &["add_parts", "add_squares", "values_of_ranks"]),
        ] {
            for precision in Precision::ALL {
                for &form in forms {
                    for function in functions {
                        let text = source(file, precision, form, function);
                        assert!(text.is_some(), "{file:?} {precision:?} {form:?} {function}");
                    }
                }
            }
        }
        for form in two {
            for function in ["side_32", "side_48", "side_64", "side_128"] {
                let text = source(File::SpectralTensor, Precision::F64, form, function);
                assert!(text.is_some(), "{form:?} {function}");
            }
        }
        assert_eq!(source(File::Classic, Precision::F64, Isotropic2d, "unknown"), None);
    }

    #[test]
    fn the_embedded_kernels_are_small() {
        assert!(BINARY.len() <= 2_500_000, "{} bytes", BINARY.len());
    }

    /// PTX 8.n is that of CUDA 12.n.
    #[test]
    fn the_oldest_driver_is_that_of_the_compiler() {
        let text = source(File::Classic, Precision::F64, Form::General2d, "sweep").unwrap();
        let minor = super::super::properties::OLDEST_CUDA - 12_000;
        assert!(text.contains(&format!(".version 8.{}\n", minor / 10)), "{text:.400}");
    }
}
