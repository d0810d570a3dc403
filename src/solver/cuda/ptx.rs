//! The PTX of the kernels, as `kernels/build.py` has compressed it.

use crate::grid::Precision;
use crate::problem::Weights;
use lzma_rust2::LzmaReader;
use std::io::Read;

/// Lists the source files in `kernels/`: their PTX is embedded as it is committed.
macro_rules! files {
    ($($file:ident = $name:literal,)*) => {
        /// A source file in `kernels/`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub(super) enum File {
            $($file,)*
        }

        impl File {
            #[cfg(test)]
            const ALL: &[Self] = &[$(Self::$file,)*];

            /// The PTX of all its variants, compressed.
            fn compressed(self) -> &'static [u8] {
                match self {
                    $(Self::$file => {
                        include_bytes!(concat!("../../../kernels/ptx/", $name, ".ptx.lzma"))
                    })*
                }
            }
        }
    };
}

files! {
    Classic = "classic",
    Classic3d = "classic_3d",
    Shared = "shared",
    Shared3d = "shared_3d",
    Cube3d = "cube_3d",
    Stream3d = "stream_3d",
    Planes = "planes",
    Register1d = "register_1d",
    Register2d = "register_2d",
    Spectral = "spectral",
    SpectralTensor = "spectral_tensor",
    SpectralStrips = "spectral_strips",
    SpectralResident = "spectral_resident",
    SpectralTensor1d = "spectral_tensor_1d",
    SpectralTensor1dF32 = "spectral_tensor_1d_f32",
    SpectralTensor3d = "spectral_tensor_3d",
    SpectralTensor3dF32 = "spectral_tensor_3d_f32",
    SpectralCluster3d = "spectral_cluster_3d",
    Observe = "observe",
    Statistics = "statistics",
    Gather = "gather",
    Blocks = "blocks",
    Pack = "pack",
    Sums = "sums",
}

impl File {
    /// Whether it is compiled for each precision and form.
    fn has_variants(self) -> bool {
        self != Self::Sums
    }

    /// The PTX of all its variants.
    fn text(self) -> Option<String> {
        let mut text = String::new();
        let mut reader = LzmaReader::new_mem_limit(self.compressed(), MOST_KILOBYTES, None).ok()?;
        reader.read_to_string(&mut text).ok()?;
        Some(text)
    }
}

/// The most memory that decompressing takes, in kilobytes: the dictionary of `kernels/build.py` and some more.
const MOST_KILOBYTES: u32 = 8192;

/// What a variant begins with; its name ends the line.
const VARIANT: &str = "// variant ";

/// What a function begins with. What comes before the first belongs to all.
const ENTRY: &str = ".visible .entry ";

/// The number of axes and which weights are equal, which fixes the order of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Form {
    Isotropic1d,
    General1d,
    PerPoint1d,
    Isotropic2d,
    PerAxis2d,
    General2d,
    PerPoint2d,
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
            (Weights::PerPoint, 1) => Self::PerPoint1d,
            (_, 1) => Self::General1d,
            (Weights::Isotropic(_), 2) => Self::Isotropic2d,
            (Weights::PerAxis(_), 2) => Self::PerAxis2d,
            (Weights::General(_), 2) => Self::General2d,
            (Weights::Isotropic(_), _) => Self::Isotropic3d,
            (Weights::PerAxis(_), _) => Self::PerAxis3d,
            (Weights::General(_), _) => Self::General3d,
            // There are none in 3D.
            (Weights::PerPoint, _) => Self::PerPoint2d,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Isotropic1d => "1d-isotropic",
            Self::General1d => "1d-general",
            Self::PerPoint1d => "1d-per-point",
            Self::Isotropic2d => "2d-isotropic",
            Self::PerAxis2d => "2d-per-axis",
            Self::General2d => "2d-general",
            Self::PerPoint2d => "2d-per-point",
            Self::Isotropic3d => "3d-isotropic",
            Self::PerAxis3d => "3d-per-axis",
            Self::General3d => "3d-general",
            Self::Matrix => "matrix",
        }
    }
}

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
    cut(&file.text()?, &variant, function)
}

/// One function of one variant.
fn cut(text: &str, variant: &str, function: &str) -> Option<String> {
    let named = |part: &&str| part.lines().next() == Some(variant);
    let (_, text) = text.split(VARIANT).skip(1).find(named)?.split_once('\n')?;
    let mut parts = text.split(ENTRY);
    let head = parts.next()?;
    let body = parts.find(|part| part.split_once('(').is_some_and(|(name, _)| name == function))?;
    Some([head, ENTRY, body].concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_source_is_one_whole_function() {
        for file in File::ALL {
            let text = file.text().unwrap();
            for part in text.split(VARIANT).skip(1) {
                let (variant, part) = part.split_once('\n').unwrap();
                for part in part.split(ENTRY).skip(1) {
                    let (function, _) = part.split_once('(').unwrap();
                    let text = cut(&text, variant, function).unwrap();
                    assert!(text.starts_with(".version ") && text.trim_end().ends_with('}'));
                    assert_eq!(text.matches(ENTRY).count(), 1);
                    assert!(text.contains(&format!("{ENTRY}{function}(")));
                    assert_eq!(text.matches('{').count(), text.matches('}').count());
                }
            }
        }
    }

    #[test]
    fn every_form_and_precision_has_its_functions() {
        use Form::{General1d, General2d, General3d, Isotropic1d, Isotropic2d, Isotropic3d};
        use Form::{PerAxis2d, PerAxis3d, PerPoint1d, PerPoint2d};
        let per_point = [PerPoint1d, PerPoint2d];
        let one = [Isotropic1d, General1d];
        let two = [Isotropic2d, PerAxis2d, General2d];
        let three = [Isotropic3d, PerAxis3d, General3d];
        let flat = [&one[..], &two[..]].concat();
        let all = [&flat[..], &three[..]].concat();
        for (file, forms, functions) in [
            (File::Classic, &flat[..], &["sweep", "sweep_measured"][..]),
            (File::Classic, &flat, &["sweep_damped", "sweep_measured_damped"]),
            (File::Classic3d, &three, &["sweep", "sweep_measured"]),
            (File::Classic3d, &three, &["sweep_damped", "sweep_measured_damped"]),
            (File::Shared, &flat, &["one_point_damped", "any_tile_damped"]),
            (File::Shared, &two, &["eight_points_damped", "twelve_points_damped"]),
            (File::Shared3d, &three, &["deep_16_damped", "deep_8_damped", "any_box_damped"]),
            (File::Cube3d, &three, &["cube_damped", "cube_measured_damped"]),
            (File::Cube3d, &three, &["odd_cube_damped", "odd_cube_measured_damped"]),
            (File::Classic, &per_point, &["sweep_damped", "sweep_measured_damped"]),
            (File::Shared, &per_point, &["one_point_damped", "any_tile_damped"]),
            (File::Shared, &flat, &["one_point", "any_tile"]),
            (File::Shared3d, &three, &["deep_16", "deep_8", "any_box"]),
            (File::Cube3d, &three, &["cube", "cube_measured", "odd_cube", "odd_cube_measured"]),
            (File::Stream3d, &three, &["k_4", "k_6", "k_7"]),
            (File::Stream3d, &three, &["fused", "fused_measured", "fused_single"]),
            (File::Stream3d, &three, &["k_4_measured", "k_6_measured"]),
            (File::Planes, &[&two[..], &three].concat(), &["copy_rims"]),
            (File::Shared, &two, &["eight_points", "twelve_points"]),
            (File::Register1d, &one, &["full", "partial", "full_long", "partial_long"]),
            (File::Register1d, &one, &["full_measured", "partial_measured", "full_long_measured"]),
            (File::Register2d, &two, &["full", "partial", "full_warps", "partial_warps"]),
            (File::Register2d, &two, &["small", "small_partial"]),
            (File::Spectral, &all, &["four_rows"]),
            (File::Spectral, &flat, &["eight_rows"]),
            (File::Observe, &all, &["residual", "other_norms", "distance", "sample"]),
            (File::Observe, &flat, &["residual_samples_same", "residual_samples_varied"]),
            (File::Statistics, &all, &["fold_rows", "fold_tiles"]),
            (File::Gather, &all, &["gather"]),
            (File::Classic, &per_point, &["sweep", "sweep_measured"]),
            (File::Shared, &per_point, &["one_point", "any_tile"]),
            (File::Observe, &per_point, &["residual", "other_norms", "distance", "sample"]),
            (File::Observe, &per_point, &["residual_samples_varied"]),
            (File::Statistics, &per_point, &["fold_rows", "fold_tiles"]),
            (File::Gather, &per_point, &["gather"]),
            (File::Blocks, &[Form::Matrix], &["rows", "reorganised", "hoisted", "resident"]),
            (File::Blocks, &[Form::Matrix], &["one_sweep"]),
            (File::Pack, &[Form::Matrix], &["pack"]),
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
        let sides = ["side_32", "side_64", "side_96", "side_128"];
        for (file, precision, forms, functions) in [
            (File::SpectralTensor1d, Precision::F64, &one[..], &sides[..]),
            (File::SpectralTensor1dF32, Precision::F32, &one, &sides),
            (File::SpectralTensor, Precision::F64, &two, &["side_48", "side_64", "side_128"]),
            (File::SpectralTensor, Precision::F32, &two, &sides[1..]),
            (File::SpectralTensor, Precision::F32, &two, &["side_48"]),
            (File::SpectralStrips, Precision::F64, &two, &["narrow", "wide"]),
            (File::SpectralStrips, Precision::F32, &two, &["narrow", "wide"]),
            (File::SpectralResident, Precision::F32, &two, &["narrow", "wide"]),
            (File::SpectralTensor3d, Precision::F64, &three, &["side_16", "side_24"]),
            (File::SpectralTensor3d, Precision::F32, &three, &["side_24"]),
            (File::SpectralTensor3dF32, Precision::F32, &three, &["side_16"]),
            (File::SpectralCluster3d, Precision::F32, &three, &["side_32"]),
            (File::SpectralCluster3d, Precision::F64, &three, &["side_32"]),
        ] {
            for form in forms.iter().filter(|form| !form.name().ends_with("general")) {
                for function in functions {
                    let text = source(file, precision, *form, function);
                    assert!(text.is_some(), "{precision:?} {form:?} {function}");
                }
            }
        }
        assert_eq!(source(File::Classic, Precision::F64, Isotropic2d, "unknown"), None);
    }

    #[test]
    fn the_embedded_kernels_are_small() {
        let bytes: usize = File::ALL.iter().map(|file| file.compressed().len()).sum();
        assert!(bytes <= 2_500_000, "{bytes} bytes");
    }

    /// PTX 8.n is that of CUDA 12.n.
    #[test]
    fn the_oldest_driver_is_that_of_the_compiler() {
        let text = source(File::Classic, Precision::F64, Form::General2d, "sweep").unwrap();
        let minor = super::super::properties::OLDEST_CUDA - 12_000;
        assert!(text.contains(&format!(".version 8.{}\n", minor / 10)), "{text:.400}");
    }
}
