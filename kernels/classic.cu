// Jacobi's iteration, one thread a point, through global memory: the ladder's lowest rung.
#include "stencil.cuh"

template <bool MEASURE>
__device__ __forceinline__ void classic(const real *from, const real *g, real *to, Grid grid,
                                        Weights weights, const double *exact, Norms *norms) {
    Norms found = {};
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    // A card has fewer blocks down than a tall grid has rows.
    for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < grid.rows && i < grid.columns;
         row += gridDim.y * blockDim.y) {
        long long at = row * grid.pitch + i;
        real south = 0, north = 0;
        if (PLANE) {
            south = from[at - grid.pitch];
            north = from[at + grid.pitch];
        }
        real value = update(weights, from[at - 1], from[at + 1], south, north, g[at]);
        to[at] = value;
        if (MEASURE) {
            found.first_sweep(value - from[at]);
            if (exact) found.distance(value - exact[at]);
        }
    }
    if (MEASURE) {
        found.change = found.largest;
        found = of_block(found);
        if (threadIdx.x == 0 && threadIdx.y == 0) norms[blockIdx.y * gridDim.x + blockIdx.x] = found;
    }
}

extern "C" __global__ void __launch_bounds__(1024)
    sweep(const real *__restrict__ from, const real *__restrict__ g, real *__restrict__ to, Grid grid,
          Weights weights) {
    classic<false>(from, g, to, grid, weights, nullptr, nullptr);
}

extern "C" __global__ void __launch_bounds__(1024)
    sweep_measured(const real *__restrict__ from, const real *__restrict__ g, real *__restrict__ to,
                   Grid grid, Weights weights, const double *__restrict__ exact,
                   Norms *__restrict__ norms) {
    classic<true>(from, g, to, grid, weights, exact, norms);
}
