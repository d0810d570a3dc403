// The values of a field, point by point.
#pragma once
#include "stencil.cuh"

/// `Values::arguments` in `solver/cuda/observe.rs` has the same numbers.
enum Quantity { RESIDUAL, SOLUTION, MINUS_DOUBLE, MINUS_REAL, CHANGE };

/// The right-hand side. Where it is the same everywhere, `step` is 0 and only one value is read; otherwise
/// `step` is 1. `RightHandSideArgument` in `solver/cuda/arguments.rs` has the same layout.
struct RightHandSide {
    const real *values;
    long long step;

    __device__ __forceinline__ real at(long long at) const { return __ldg(values + at * step); }
};

static_assert(sizeof(RightHandSide) == 16);

/// The new value of a point that a sweep without damping would make.
__device__ __forceinline__ real sweep_value(const real *u, const RightHandSide &g, const Grid &grid,
                                            const Weights &weights, long long at) {
    real y_prev = IS_2D ? u[at - grid.pitch] : 0, y_next = IS_2D ? u[at + grid.pitch] : 0;
#if FORM >= FORM_3D_ISOTROPIC
    real z_prev = u[at - grid.plane_pitch], z_next = u[at + grid.plane_pitch];
    return update(weights, u[at - 1], u[at + 1], y_prev, y_next, z_prev, z_next, g.at(at));
#else
    return update(weights.at(at), u[at - 1], u[at + 1], y_prev, y_next, g.at(at));
#endif
}

/// The update u1 - u0 that such a sweep would make; the residual, where rows have diagonals of their own.
__device__ __forceinline__ double sweep_change(const real *u, const RightHandSide &g, const Grid &grid,
                                               const Weights &weights, long long at) {
    return weights.measured(sweep_value(u, g, grid, weights, at) - u[at], at);
}

/// The value of a field at a point. `other` is the array that is subtracted: of doubles for MINUS_DOUBLE, otherwise
/// of the precision of the iterate.
__device__ __forceinline__ double field_value(int quantity, const real *u, const RightHandSide &g,
                                              const void *other, const Grid &grid,
                                              const Weights &weights, double diagonal,
                                              long long at) {
    double value;
    if (quantity == RESIDUAL) {
        value = sweep_change(u, g, grid, weights, at) * diagonal;
    } else if (quantity == SOLUTION) {
        value = u[at];
    } else if (quantity == MINUS_DOUBLE) {
        value = double(u[at]) - static_cast<const double *>(other)[at];
    } else if (quantity == MINUS_REAL) {
        value = double(u[at]) - double(static_cast<const real *>(other)[at]);
    } else {
        value = u[at] - static_cast<const real *>(other)[at];
    }
    return value;
}
