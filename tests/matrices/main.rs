//! Block Jacobi on sparse matrices against the rules: on random matrices the solver gives exactly the bits of
//! a reference that was written straight from them, whatever the layout and the number of threads; and the
//! cycles that a run takes are those that were counted independently.

mod cases;
mod devices;
mod figures;
mod grids;
mod naive;
mod random;
