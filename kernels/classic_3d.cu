// Jacobi's iteration in 3D: one sweep over the whole grid through global memory.
//
// A block marches along z, through PLANES planes: of the seven values of a point, the one below and the point itself
// are known from the plane before. Each thread takes two neighbouring points of a row, and reads them together.
// Variants: 3d
#include "lanes.cuh"
#include "norms.cuh"
#include "pairs.cuh"

/// `POINTS` and `PLANES` of `solver/cuda/classic_3d.rs`.
constexpr int POINTS = 2, PLANES = 8;

template <bool MEASURES, bool IS_DAMPED> __device__ __forceinline__ void march(const CycleArguments &a, real omega) {
    const Grid &grid = a.grid;
    const int planes = grid.rows / grid.plane_rows;
    const int across = (grid.columns + blockDim.x * POINTS - 1) / (blockDim.x * POINTS);
    const int down = (grid.plane_rows + blockDim.y - 1) / blockDim.y;
    int x = (blockIdx.x % across * blockDim.x + threadIdx.x) * POINTS;
    int y = blockIdx.x / across % down * blockDim.y + threadIdx.y;
    int z = blockIdx.x / across / down * PLANES, end = min(z + PLANES, planes);

    // Points outside of the grid repeat the last ones, and are not stored.
    const bool is_inside = x < grid.columns && y < grid.plane_rows, are_inside = is_inside && x + 1 < grid.columns;
    x = min(x, (grid.columns - 1) / POINTS * POINTS), y = min(y, grid.plane_rows - 1);
    long long at = z * grid.plane_pitch + y * grid.pitch + x;
    const real *u = a.from + at, *g = a.g + at;
    real *to = a.to + at;
    Pair below = load_pair(u - grid.plane_pitch), own = load_pair(u);
    double squares = 0;
#pragma unroll 2
    for (; z < end; z++) {
        Pair above = load_pair(u + grid.plane_pitch);
        Pair before = load_pair(u - grid.pitch), after = load_pair(u + grid.pitch), right = load_pair_once(g), made;
        made.x = update(a.weights, load<-1>(u), own.y, before.x, after.x, below.x, above.x, right.x);
        made.y = update(a.weights, own.x, load<2>(u), before.y, after.y, below.y, above.y, right.y);
        made.x = damped<IS_DAMPED>(omega, own.x, made.x), made.y = damped<IS_DAMPED>(omega, own.y, made.y);
        if (are_inside) {
            store_pair_once(to, made);
        } else if (is_inside) {
            __stcs(to, made.x);
        }
        if (MEASURES) {
            if (is_inside) add_square(squares, made.x - own.x);
            if (are_inside) add_square(squares, made.y - own.y);
        }
        below = own, own = above;
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
