// A field at single points.
// Variants: 1d 2d 3d per-point
#include "field.cuh"

/// The values of a field at the given indices of its array.
extern "C" __global__ void __launch_bounds__(256)
    gather(const real *__restrict__ u, RightHandSide g, const void *__restrict__ other, Grid grid,
           Weights weights, double diagonal, int quantity, const long long *__restrict__ indices,
           int count, float *__restrict__ values) {
    int number = blockIdx.x * blockDim.x + threadIdx.x;
    if (number >= count) return;
    // One zero, as in samples.
    values[number] =
        float(field_value(quantity, u, g, other, grid, weights, diagonal, indices[number]) + 0.0);
}
