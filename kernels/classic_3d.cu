// Jacobi's iteration in 3D: one sweep over the whole grid through global memory.
//
// A block marches along z, through PLANES planes: of the seven values of a point, the one below and the point itself
// are known from the plane before. Each thread takes POINTS points of a row, a block's width apart, so that all its
// loads are under way together.
// Variants: 3d
#include "lanes.cuh"
#include "norms.cuh"

/// `POINTS` and `PLANES` of `solver/cuda/classic_3d.rs`.
constexpr int POINTS = 2, PLANES = 8;

/// A read or write of what the sweep no longer needs: it makes room in the caches for the iterate.
__device__ __forceinline__ real load_once(const real *at) { return __ldcs(at); }
__device__ __forceinline__ void store_once(real *at, real value) { __stcs(at, value); }

template <bool MEASURES, bool IS_DAMPED> __device__ __forceinline__ void march(const CycleArguments &a, real omega) {
    const Grid &grid = a.grid;
    const int planes = grid.rows / grid.plane_rows;
    const int across = (grid.columns + blockDim.x * POINTS - 1) / (blockDim.x * POINTS);
    const int down = (grid.plane_rows + blockDim.y - 1) / blockDim.y;
    int first = blockIdx.x % across * blockDim.x * POINTS + threadIdx.x;
    int y = blockIdx.x / across % down * blockDim.y + threadIdx.y;
    int z = blockIdx.x / across / down * PLANES, end = min(z + PLANES, planes);

    // Points outside of the grid repeat the last ones, and are not stored.
    bool is_inside[POINTS];
    int x[POINTS];
#pragma unroll
    for (int n = 0; n < POINTS; n++) {
        x[n] = first + n * blockDim.x;
        is_inside[n] = x[n] < grid.columns && y < grid.plane_rows;
        x[n] = min(x[n], grid.columns - 1);
    }
    long long at = z * grid.plane_pitch + min(y, grid.plane_rows - 1) * grid.pitch;
    const real *u = a.from + at, *g = a.g + at;
    real *to = a.to + at;
    real below[POINTS], own[POINTS];
#pragma unroll
    for (int n = 0; n < POINTS; n++) {
        below[n] = load<0>(u + x[n] - grid.plane_pitch);
        own[n] = load<0>(u + x[n]);
    }
    double squares = 0;
#pragma unroll 2
    for (; z < end; z++) {
        real above[POINTS], value[POINTS];
#pragma unroll
        for (int n = 0; n < POINTS; n++) {
            const real *here = u + x[n];
            above[n] = load<0>(here + grid.plane_pitch);
            real jacobi = update(a.weights, load<-1>(here), load<1>(here), load<0>(here - grid.pitch),
                                 load<0>(here + grid.pitch), below[n], above[n], load_once(g + x[n]));
            value[n] = damped<IS_DAMPED>(omega, own[n], jacobi);
        }
#pragma unroll
        for (int n = 0; n < POINTS; n++) {
            if (is_inside[n]) {
                store_once(to + x[n], value[n]);
                if (MEASURES) add_square(squares, value[n] - own[n]);
            }
            below[n] = own[n], own[n] = above[n];
        }
        u += grid.plane_pitch, g += grid.plane_pitch, to += grid.plane_pitch;
    }
    if (MEASURES) {
        Norms norms = {};
        norms.squares = squares;
        norms = of_block(norms);
        if (threadIdx.x == 0 && threadIdx.y == 0) a.squares[blockIdx.x] = norms.squares;
    }
}

#define SWEEP(name, MEASURES)                                                                                  \
    extern "C" __global__ void __launch_bounds__(512) name(const __grid_constant__ CycleArguments a) {          \
        march<MEASURES, false>(a, 1);                                                                          \
    }                                                                                                          \
    extern "C" __global__ void __launch_bounds__(512) name##_damped(const __grid_constant__ DampedArguments a) { \
        march<MEASURES, true>(a.cycle, a.omega);                                                               \
    }

SWEEP(sweep, false)
// Writes the sum of squares of the updates of each block.
SWEEP(sweep_measured, true)
