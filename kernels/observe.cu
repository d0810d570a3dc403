// Observations of an iterate: norms by a pass of their own, the share of the residual near tile borders, and
// fields downsampled for a picture.
// Variants: 1d 2d 3d per-point
#include "field.cuh"
#include "norms.cuh"
#include "ranks.cuh"

/// The norms of u1 - u0, in `squares` and `largest`, and in `error` the squares of the points whose column or row is
/// marked as near a tile border.
extern "C" __global__ void __launch_bounds__(256)
    residual(const real *__restrict__ u, RightHandSide g, Grid grid, Weights weights,
             const unsigned char *__restrict__ near_columns,
             const unsigned char *__restrict__ near_rows, Norms *__restrict__ parts) {
    Norms norms = {};
    for (int row = blockIdx.y; row < grid.rows; row += gridDim.y) {
        long long first = grid.row_at(row);
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < grid.columns;
             i += gridDim.x * blockDim.x) {
            double change = sweep_change(u, g, grid, weights, first + i);
            norms.first_sweep(change);
            if (near_columns && (near_columns[i] || near_rows[row])) norms.distance(change);
        }
    }
    norms = of_block(norms);
    if (threadIdx.x == 0) parts[blockIdx.y * gridDim.x + blockIdx.x] = norms;
}

/// The norms that a cycle from `from` to `to` does not find itself: the largest magnitude of u1 - u0 of its first
/// sweep, which `omega` damps unless it is 1, the largest update of the cycle, and, if `exact` (u*) is not null, the
/// squares of the error.
extern "C" __global__ void __launch_bounds__(256)
    other_norms(const real *__restrict__ from, const real *__restrict__ to,
                RightHandSide g, Grid grid, Weights weights,
                const double *__restrict__ exact, Norms *__restrict__ parts, real omega) {
    Norms norms = {};
    for (int row = blockIdx.y; row < grid.rows; row += gridDim.y) {
        long long first = grid.row_at(row);
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < grid.columns;
             i += gridDim.x * blockDim.x) {
            long long at = first + i;
            real own = from[at], value = sweep_value(from, g, grid, weights, at);
            if (omega != 1) value = damped<true>(omega, own, value);
            norms.first_sweep(weights.measured(value - own, at));
            norms.whole_cycle(to[at] - from[at]);
            if (exact) norms.distance(to[at] - exact[at]);
        }
    }
    norms.squares = 0;
    norms = of_block(norms);
    if (threadIdx.x == 0) parts[blockIdx.y * gridDim.x + blockIdx.x] = norms;
}

/// The squares of the error u - u*, in `error`.
extern "C" __global__ void __launch_bounds__(256)
    distance(const real *__restrict__ u, const double *__restrict__ exact, Grid grid,
             Norms *__restrict__ parts) {
    Norms norms = {};
    for (int row = blockIdx.y; row < grid.rows; row += gridDim.y) {
        long long first = grid.row_at(row);
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < grid.columns;
             i += gridDim.x * blockDim.x) {
            long long at = first + i;
            norms.distance(u[at] - exact[at]);
        }
    }
    norms = of_block(norms);
    if (threadIdx.x == 0) parts[blockIdx.y * gridDim.x + blockIdx.x] = norms;
}

/// The part of a field that is sampled: columns and rows from the first on, and how many points along either axis
/// one sample stands for. `WindowArgument` in `solver/cuda/arguments.rs` has the same layout.
struct Window {
    int first_column, first_row, columns, rows, block_x, block_y, samples_x, samples_y;
#if FORM >= FORM_3D_ISOTROPIC
    /// Where the first point of a slice lies, and values to the next of its columns and of its rows. `down` is 0 where
    /// there is no slice: then columns and rows are those of the grid.
    long long origin, across, down;
#endif

    /// Where a point lies, counted from the first column and row.
    __device__ __forceinline__ long long at(const Grid &grid, int x, int y) const {
#if FORM >= FORM_3D_ISOTROPIC
        if (down) return origin + (first_column + x) * across + (first_row + y) * down;
#endif
        return grid.row_at(first_row + y) + first_column + x;
    }
};

static_assert(sizeof(Window) == (IS_3D ? 56 : 32));

/// The points that a warp samples: 32 columns of the window, and `together` of its rows from the top down, which is
/// a multiple of the rows of a sample.
struct Strip {
    int lane, x, first, end;
    /// Columns of the lane's sample before it.
    int in_block;

    __device__ __forceinline__ Strip(const Window &window, int together) {
        long long warp = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / WARP;
        int strips = (window.columns + WARP - 1) / WARP;
        lane = threadIdx.x % WARP;
        x = int(warp % strips) * WARP + lane;
        in_block = x % window.block_x;
        first = int(min(warp / strips * together, (long long)window.rows));
        end = int(min((long long)first + together, (long long)window.rows));
    }

    /// The rank of the lane's sample in the first row of samples.
    __device__ __forceinline__ unsigned long long *first_rank(const Window &window,
                                                              unsigned long long *ranks) const {
        return ranks + (long long)(first / window.block_y) * window.samples_x + x / window.block_x;
    }

    /// Raises the ranks of samples to the largest that their lanes have found.
    __device__ __forceinline__ void raise(unsigned long long largest, const Window &window,
                                         unsigned long long *rank) const {
        // Lanes of one sample lie side by side: the first of them gets the largest of all.
#pragma unroll 1
        for (int apart = 1; apart < min(WARP, window.block_x); apart *= 2) {
            unsigned long long theirs = __shfl_down_sync(ALL_LANES, largest, apart);
            if (lane + apart < WARP && in_block + apart < window.block_x) {
                largest = max(largest, theirs);
            }
        }
        if (x < window.columns && (lane == 0 || in_block == 0)) atomicMax(rank, largest);
    }
};

/// A field, downsampled: each sample is the rank of the value of largest magnitude among its points. `ranks` must
/// be zero before. For `quantity` and `other` see `field_value`.
extern "C" __global__ void __launch_bounds__(256, 4)
    sample(const real *__restrict__ u, RightHandSide g, const void *__restrict__ other, Grid grid,
           Weights weights, double diagonal, int quantity, Window window, int together,
           unsigned long long *__restrict__ ranks) {
    Strip strip(window, together);
    bool is_there = strip.x < window.columns;
    unsigned long long *rank = strip.first_rank(window, ranks);
    for (int y = strip.first; y < strip.end; y += window.block_y, rank += window.samples_x) {
        int below = min(y + window.block_y, strip.end);
        unsigned long long largest = rank_of(0);
        if (is_there) {
            long long at = window.at(grid, strip.x, y);
#pragma unroll 4
            for (int row = y; row < below; row++, at += grid.pitch) {
                if (IS_3D) at = window.at(grid, strip.x, row);
                double value = field_value(quantity, u, g, other, grid, weights, diagonal, at);
                largest = max(largest, rank_of(value));
            }
        }
        strip.raise(largest, window, rank);
    }
}

#if FORM < FORM_3D_ISOTROPIC
/// The residual, downsampled as in `sample`, and in the same pass the sums of its squares, as `residual` gives those
/// of u1 - u0. A warp requests the values of TOGETHER rows before it uses the first, so that it waits for memory
/// once. SAME: the right-hand side is the same everywhere.
template <bool SAME, int TOGETHER>
__device__ __forceinline__ void residual_samples(
    const real *__restrict__ u, const RightHandSide &g, const Grid &grid, const Weights &weights,
    double diagonal, const Window &window, int together, unsigned long long *__restrict__ ranks,
    const unsigned char *__restrict__ near_columns, const unsigned char *__restrict__ near_rows,
    Norms *__restrict__ parts) {
    Strip strip(window, together);
    // A lane past the window samples its last column again, which adds nothing.
    bool is_there = strip.x < window.columns;
    int i = window.first_column + min(strip.x, window.columns - 1);
    bool is_near_column = near_columns[i];
    double squares = 0, near = 0;

    // Row by row: two of the five points are known from the rows before.
    long long at = (window.first_row + strip.first) * grid.pitch + i;
    real y_prev = 0, here = 0;
    if (IS_2D && strip.first < strip.end) y_prev = u[at - grid.pitch], here = u[at];
    unsigned long long *rank = strip.first_rank(window, ranks);
    for (int y = strip.first; y < strip.end; y += window.block_y, rank += window.samples_x) {
        unsigned long long largest = rank_of(0);
        int end = min(y + window.block_y, strip.end);
        for (int row = y; row < end; row += TOGETHER) {
            real arrived[TOGETHER], x_prev[TOGETHER], x_next[TOGETHER], sides[SAME ? 1 : TOGETHER];
            long long first = at;
            if (SAME) sides[0] = *g.values;
#pragma unroll
            for (int n = 0; n < TOGETHER; n++) {
                if (row + n >= end) break;
                arrived[n] = u[IS_2D ? at + grid.pitch : at];
                x_prev[n] = u[at - 1];
                x_next[n] = u[at + 1];
                if (!SAME) sides[n] = g.values[at];
                at += grid.pitch;
            }
            bool is_near_row =
                row + strip.lane < end && near_rows[window.first_row + row + strip.lane];
            unsigned near_mask = __ballot_sync(ALL_LANES, is_near_row);
#pragma unroll
            for (int n = 0; n < TOGETHER; n++) {
                if (row + n >= end) break;
                if (!IS_2D) here = arrived[n];
                real y_next = IS_2D ? arrived[n] : 0;
                real side = sides[SAME ? 0 : n];
                long long point = first + n * grid.pitch;
                real change = update(weights.at(point), x_prev[n], x_next[n], y_prev, y_next, side) - here;
                double value = weights.measured(change, point) * diagonal;
                add_square(squares, value);
                add_square_if(is_near_column || near_mask >> n & 1, near, value);
                largest = max(largest, rank_of(value));
                y_prev = here, here = y_next;
            }
        }
        strip.raise(largest, window, rank);
    }
    Norms norms = {};
    if (is_there) norms.squares = squares, norms.error = near;
    norms = of_block(norms);
    if (threadIdx.x == 0) parts[blockIdx.x] = norms;
}

#if !PER_POINT
/// `residual_samples` where g is the same everywhere, which it is not where diagonals differ.
extern "C" __global__ void __launch_bounds__(256, 3)
    residual_samples_same(const real *u, RightHandSide g, Grid grid, Weights weights, double diagonal,
                          Window window, int together, unsigned long long *ranks,
                          const unsigned char *near_columns, const unsigned char *near_rows,
                          Norms *parts) {
    // More values do not fit into the registers where each neighbour has a weight of its own.
    constexpr int ROWS = FORM == FORM_2D_GENERAL ? 5 : 6;
    residual_samples<true, ROWS>(u, g, grid, weights, diagonal, window, together, ranks, near_columns,
                              near_rows, parts);
}
#endif

/// `residual_samples` where g varies.
extern "C" __global__ void __launch_bounds__(256, 3)
    residual_samples_varied(const real *u, RightHandSide g, Grid grid, Weights weights, double diagonal,
                            Window window, int together, unsigned long long *ranks,
                            const unsigned char *near_columns, const unsigned char *near_rows,
                            Norms *parts) {
    residual_samples<false, 4>(u, g, grid, weights, diagonal, window, together, ranks, near_columns,
                               near_rows, parts);
}
#endif
