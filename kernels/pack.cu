// Values of a sparse matrix's rows that a device sends to others, side by side for a copy.
// Variants: matrix
#include "stencil.cuh"

/// Copies the values of an iterate at `count` places, one per thread.
extern "C" __global__ void __launch_bounds__(256)
    pack(const real *__restrict__ from, const unsigned *__restrict__ places, unsigned count, real *__restrict__ to) {
    unsigned number = blockIdx.x * blockDim.x + threadIdx.x;
    if (number < count) to[number] = from[places[number]];
}
