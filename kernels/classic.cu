// Jacobi's iteration, one thread a point, through global memory: the ladder's lowest rung.
#include "stencil.cuh"

extern "C" __global__ void __launch_bounds__(1024)
    sweep(const real *__restrict__ from, const real *__restrict__ g, real *__restrict__ to, Grid grid,
          Weights weights) {
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
        to[at] = update(weights, from[at - 1], from[at + 1], south, north, g[at]);
    }
}

/// Points that a thread measures, one below the other: it adds them up alone, so that what is added up
/// among threads is little.
constexpr int MEASURED = 8;

extern "C" __global__ void __launch_bounds__(1024)
    sweep_measured(const real *__restrict__ from, const real *__restrict__ g, real *__restrict__ to,
                   Grid grid, Weights weights, double *__restrict__ squares) {
    Norms found = {};
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int first = (blockIdx.y * blockDim.y + threadIdx.y) * MEASURED;
         first < grid.rows && i < grid.columns; first += gridDim.y * blockDim.y * MEASURED) {
        const real *column = from + first * grid.pitch + i;
        const real *right = g + first * grid.pitch + i;
        int rows = min(grid.rows - first, MEASURED);
        auto measure = [&](int row, real south, real own, real north) {
            const real *at = column + row * grid.pitch;
            real value = update(weights, at[-1], at[1], south, north, right[row * grid.pitch]);
            to[at - from] = value;
            add_square(found.squares, value - own);
        };
        if (rows == MEASURED) {
            // All are asked for before the first is waited for.
            real values[MEASURED + 2];
#pragma unroll
            for (int row = PLANE ? -1 : 0; row < MEASURED + (PLANE ? 1 : 0); row++) {
                values[row + 1] = column[row * grid.pitch];
            }
#pragma unroll
            for (int row = 0; row < MEASURED; row++) {
                measure(row, values[row], values[row + 1], values[row + 2]);
            }
        } else {
            for (int row = 0; row < rows; row++) {
                const real *at = column + row * grid.pitch;
                measure(row, PLANE ? at[-grid.pitch] : real(0), *at, PLANE ? at[grid.pitch] : real(0));
            }
        }
    }
    found = of_block(found);
    if (threadIdx.x == 0 && threadIdx.y == 0) {
        squares[blockIdx.y * gridDim.x + blockIdx.x] = found.squares;
    }
}
