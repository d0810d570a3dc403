//! The kernels as the program carries them: PTX, made by `kernels/build.py`.

use crate::grid::Precision;
use crate::problem::Weights;

/// A file of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum File {
    Classic,
    Shared,
    Register,
    Observe,
    Statistics,
    Gather,
}

/// How many neighbours a point has, and which weights are equal: the order of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Form {
    LineIsotropic,
    LineGeneral,
    PlaneIsotropic,
    PlanePerAxis,
    PlaneGeneral,
}

impl Form {
    /// The form of these weights on a grid of `dim` axes.
    pub fn of<R>(weights: &Weights<R>, dim: usize) -> Self {
        match (weights, dim) {
            (Weights::Isotropic(_), 1) => Self::LineIsotropic,
            (_, 1) => Self::LineGeneral,
            (Weights::Isotropic(_), _) => Self::PlaneIsotropic,
            (Weights::PerAxis(_), _) => Self::PlanePerAxis,
            (Weights::General(_), _) => Self::PlaneGeneral,
        }
    }
}

macro_rules! embedded {
    ($file:literal, $precision:literal, $form:literal) => {
        include_str!(concat!("../../../kernels/ptx/", $file, "-", $precision, "-", $form, ".ptx"))
    };
    ($file:literal, $precision:literal, $form:expr) => {
        match $form {
            Form::LineIsotropic => embedded!($file, $precision, "line-isotropic"),
            Form::LineGeneral => embedded!($file, $precision, "line-general"),
            Form::PlaneIsotropic => embedded!($file, $precision, "plane-isotropic"),
            Form::PlanePerAxis => embedded!($file, $precision, "plane-per-axis"),
            Form::PlaneGeneral => embedded!($file, $precision, "plane-general"),
        }
    };
    ($file:literal, $precision:expr, $form:expr) => {
        match $precision {
            Precision::F32 => embedded!($file, "f32", $form),
            Precision::F64 => embedded!($file, "f64", $form),
        }
    };
}

/// What a kernel begins with in a file.
const ENTRY: &str = ".visible .entry ";

/// The PTX of one kernel for one precision and one form of the weights: the driver takes its time for
/// each that it is given, so it is given no other of the file.
pub(super) fn source(file: File, precision: Precision, form: Form, name: &str) -> String {
    let text = match file {
        File::Classic => embedded!("classic", precision, form),
        File::Shared => embedded!("shared", precision, form),
        File::Register => embedded!("register", precision, form),
        File::Observe => embedded!("observe", precision, form),
        File::Statistics => embedded!("statistics", precision, form),
        File::Gather => embedded!("gather", precision, form),
    };
    let mut parts = text.split(ENTRY);
    let head = parts.next().unwrap_or_default();
    let kernel =
        parts.find(|part| part.strip_prefix(name).is_some_and(|rest| rest.starts_with('(')));
    [head, ENTRY, kernel.unwrap_or_default()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_is_taken_out_of_its_file_whole() {
        for form in [Form::LineIsotropic, Form::PlaneGeneral] {
            for (file, name) in [
                (File::Classic, "sweep"),
                (File::Classic, "sweep_measured"),
                (File::Shared, "cycle"),
                (File::Register, "full"),
                (File::Register, "partial"),
                (File::Observe, "sample"),
                (File::Observe, "residual_samples_same"),
                (File::Observe, "residual_samples_varied"),
                (File::Statistics, "fold_rows"),
                (File::Statistics, "fold_tiles"),
                (File::Gather, "gather"),
            ] {
                let text = source(file, Precision::F32, form, name);
                assert_eq!(text.matches(ENTRY).count(), 1);
                assert!(text.contains(&format!("{ENTRY}{name}(")) && text.starts_with("//"));
                assert_eq!(text.matches('{').count(), text.matches('}').count());
            }
        }
    }

    /// PTX 8.n is that of CUDA 12.n.
    #[test]
    fn the_oldest_driver_is_that_of_the_compiler() {
        let text = source(File::Classic, Precision::F64, Form::PlaneGeneral, "sweep");
        let minor = super::super::OLDEST_CUDA - 12_000;
        assert!(text.contains(&format!("\n.version 8.{}\n", minor / 10)), "{text:.400}");
    }
}
