// What a field is made of, point by point.
#pragma once
#include "stencil.cuh"

enum Quantity { RESIDUAL, SOLUTION, MINUS_DOUBLE, MINUS_REAL, CHANGE };

/// The right-hand side, of which whoever looks at an iterate reads one value alone where it has no other:
/// `step` is 0 then, and else 1.
struct RightHandSide {
    const real *values;
    long long step;

    __device__ __forceinline__ real at(long long at) const { return __ldg(values + at * step); }
};

/// u1 - u0 of a sweep that is not made.
__device__ __forceinline__ real sweep_change(const real *u, const RightHandSide &g, const Grid &grid,
                                             const Weights &weights, long long at) {
    real south = PLANE ? u[at - grid.pitch] : 0, north = PLANE ? u[at + grid.pitch] : 0;
    return update(weights, u[at - 1], u[at + 1], south, north, g.at(at)) - u[at];
}

/// The value of a field at a point. `other` is another array: of the precision of the iterate or of
/// doubles, as `quantity` says.
__device__ __forceinline__ double field_value(int quantity, const real *u, const RightHandSide &g,
                                              const void *other, const Grid &grid,
                                              const Weights &weights, double diagonal,
                                              long long at) {
    double value;
    if (quantity == RESIDUAL) {
        value = double(sweep_change(u, g, grid, weights, at)) * diagonal;
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
