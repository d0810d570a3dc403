// Jacobi's iteration: one sweep over the whole grid through global memory.
// Variants: 1d 2d per-point
#include "lanes.cuh"
#include "norms.cuh"

/// A sweep without norms: one point per thread.
template <bool IS_DAMPED> __device__ __forceinline__ void plain(const CycleArguments &a, real omega) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const long long pitch = a.grid.pitch;
    // A tall grid has more rows than a launch can have blocks.
    for (int row = blockIdx.y * blockDim.y + threadIdx.y; row < a.grid.rows && i < a.grid.columns;
         row += gridDim.y * blockDim.y) {
        long long at = row * pitch + i;
        const real *u = a.from + at;
        real y_prev = IS_2D ? load<0>(u - pitch) : real(0), y_next = IS_2D ? load<0>(u + pitch) : real(0);
        real jacobi = update(a.weights.at(at), load<-1>(u), load<1>(u), y_prev, y_next, load<0>(a.g + at));
        a.to[at] = IS_DAMPED ? damped<true>(omega, load<0>(u), jacobi) : jacobi;
    }
}

/// Points of a column per thread of a sweep with norms: a thread adds them up alone, which leaves less to add up
/// among threads. `ROWS_PER_THREAD` of `solver/cuda/classic.rs`.
constexpr int ROWS = 8;

/// A sweep that writes the sum of squares of the updates of each block.
template <bool IS_DAMPED> __device__ __forceinline__ void measured(const CycleArguments &a, real omega) {
    Norms norms = {};
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int first = (blockIdx.y * blockDim.y + threadIdx.y) * ROWS; first < a.grid.rows && i < a.grid.columns;
         first += gridDim.y * blockDim.y * ROWS) {
        const real *column = a.from + first * a.grid.pitch + i;
        const real *g = a.g + first * a.grid.pitch + i;
        int rows = min(a.grid.rows - first, ROWS);
        auto measure = [&](int row, real y_prev, real own, real y_next) {
            const real *at = column + row * a.grid.pitch;
            long long index = at - a.from;
            real jacobi = update(a.weights.at(index), load<-1>(at), load<1>(at), y_prev, y_next, load<0>(g + row * a.grid.pitch));
            real value = damped<IS_DAMPED>(omega, own, jacobi);
            a.to[index] = value;
            add_square(norms.squares, a.weights.measured(value - own, index));
        };
        if (rows == ROWS) {
            // All are requested before the first is used.
            real values[ROWS + 2];
#pragma unroll
            for (int row = IS_2D ? -1 : 0; row < ROWS + (IS_2D ? 1 : 0); row++) {
                values[row + 1] = load<0>(column + row * a.grid.pitch);
            }
#pragma unroll
            for (int row = 0; row < ROWS; row++) measure(row, values[row], values[row + 1], values[row + 2]);
        } else {
            for (int row = 0; row < rows; row++) {
                const real *at = column + row * a.grid.pitch;
                real y_prev = IS_2D ? load<0>(at - a.grid.pitch) : real(0);
                measure(row, y_prev, load<0>(at), IS_2D ? load<0>(at + a.grid.pitch) : real(0));
            }
        }
    }
    norms = of_block(norms);
    if (threadIdx.x == 0 && threadIdx.y == 0) a.squares[blockIdx.y * gridDim.x + blockIdx.x] = norms.squares;
}

#define SWEEP(name, make)                                                                                      \
    extern "C" __global__ void __launch_bounds__(1024) name(const __grid_constant__ CycleArguments a) {         \
        make<false>(a, 1);                                                                                     \
    }                                                                                                          \
    extern "C" __global__ void __launch_bounds__(1024) name##_damped(const __grid_constant__ DampedArguments a) { \
        make<true>(a.cycle, a.omega);                                                                          \
    }

SWEEP(sweep, plain)
SWEEP(sweep_measured, measured)
