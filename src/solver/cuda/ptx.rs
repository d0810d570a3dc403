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
            (Weights::PerAxis { .. }, _) => Self::PlanePerAxis,
            (Weights::General { .. }, _) => Self::PlaneGeneral,
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

/// The PTX of a file for one precision and one form of the weights.
pub(super) fn source(file: File, precision: Precision, form: Form) -> &'static str {
    match file {
        File::Classic => embedded!("classic", precision, form),
        File::Shared => embedded!("shared", precision, form),
        File::Register => embedded!("register", precision, form),
        File::Observe => embedded!("observe", precision, form),
    }
}
