//! Floor 1: the linear system. Stencil, right-hand side, initial guess, boundary, input files, the
//! exact solution of the discrete system, and the modes of Jacobi's iteration.

mod as_matrix;
pub(crate) mod conjugate_gradients;
mod diffusion;
mod diffusion_radius;
mod exact;
mod hot_box;
pub mod input;
pub mod matrix;
mod operator;
mod residual;
pub(crate) mod scaled_matrix;
mod spectral_radius;
mod stencil;
mod system;

pub use diffusion::{Conductivity, Diffusion, Jump};
pub use exact::{
    ExactError, Modes, Spectrum, error_left, exact, exact_arrays, first_below, initial_error,
    is_exact_cheap, sine_mode,
};
pub(crate) use exact::{exact_with_pauses, residual_with_pauses, sine_amplitudes};
pub(crate) use hot_box::hot_points;
pub use hot_box::{HEAT, HotBox, HotBoxError, hot_axes};
pub use matrix::{Csr, SpectralRadius};
pub use operator::Operator;
pub use residual::{residual_field, residual_of_rows, residual_values};
pub use scaled_matrix::ScalingError;
pub use stencil::{Stencil, StencilError, Weights};
pub use system::{Boundary, Problem, RowArrays, Source, System};
