// What can be seen of an iterate: norms by a pass of their own, how much of the residual lies at tile
// borders, fields thinned out for a picture, and the sums of what the parts of cycles found out.
#include "field.cuh"

/// Sums of norms: of each cycle, `count` parts lie one after the other, and each block adds `together`
/// of them. The order of the sums depends on nothing but these two numbers.
extern "C" __global__ void __launch_bounds__(256)
    add_parts(const Norms *__restrict__ parts, long long count, long long together,
              Norms *__restrict__ sums) {
    Norms found = {};
    long long end = min(count, (blockIdx.y + 1) * together);
    for (long long i = blockIdx.y * together + threadIdx.x; i < end; i += blockDim.x) {
        found.add(parts[blockIdx.x * count + i]);
    }
    found = of_block(found);
    if (threadIdx.x == 0) sums[blockIdx.x * gridDim.y + blockIdx.y] = found;
}

/// Sums of what the parts of cycles told, to the first of the `sums_of_a_cycle` of each; as above.
extern "C" __global__ void __launch_bounds__(256)
    add_squares(const double *__restrict__ squares, long long count, long long together,
                Norms *__restrict__ sums, long long sums_of_a_cycle) {
    Norms found = {};
    long long end = min(count, (blockIdx.y + 1) * together);
    for (long long i = blockIdx.y * together + threadIdx.x; i < end; i += blockDim.x) {
        found.squares += squares[blockIdx.x * count + i];
    }
    found = of_block(found);
    if (threadIdx.x == 0) sums[blockIdx.x * sums_of_a_cycle + blockIdx.y] = found;
}

/// Of u1 - u0 the norms, in `squares` and `largest`, and in `error` the squares of the points whose
/// column or row is marked as near a tile border.
extern "C" __global__ void __launch_bounds__(256)
    residual(const real *__restrict__ u, RightHandSide g, Grid grid, Weights weights,
             const unsigned char *__restrict__ near_columns,
             const unsigned char *__restrict__ near_rows, Norms *__restrict__ parts) {
    Norms found = {};
    for (int row = blockIdx.y; row < grid.rows; row += gridDim.y) {
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < grid.columns;
             i += gridDim.x * blockDim.x) {
            double change = sweep_change(u, g, grid, weights, row * grid.pitch + i);
            found.first_sweep(change);
            if (near_columns && (near_columns[i] || near_rows[row])) found.distance(change);
        }
    }
    found = of_block(found);
    if (threadIdx.x == 0) parts[blockIdx.y * gridDim.x + blockIdx.x] = found;
}

/// Of the cycle that made `to` of `from`, what it does not tell itself: the largest magnitude of u1 - u0 of
/// its first sweep, the largest change, and, if u* is known, the squares of the error.
extern "C" __global__ void __launch_bounds__(256)
    other_norms(const real *__restrict__ from, const real *__restrict__ to,
                RightHandSide g, Grid grid, Weights weights,
                const double *__restrict__ exact, Norms *__restrict__ parts) {
    Norms found = {};
    for (int row = blockIdx.y; row < grid.rows; row += gridDim.y) {
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < grid.columns;
             i += gridDim.x * blockDim.x) {
            long long at = row * grid.pitch + i;
            found.first_sweep(sweep_change(from, g, grid, weights, at));
            found.whole_cycle(to[at] - from[at]);
            if (exact) found.distance(to[at] - exact[at]);
        }
    }
    found.squares = 0;
    found = of_block(found);
    if (threadIdx.x == 0) parts[blockIdx.y * gridDim.x + blockIdx.x] = found;
}

/// The squares of u - u*, in `error`.
extern "C" __global__ void __launch_bounds__(256)
    distance(const real *__restrict__ u, const double *__restrict__ exact, Grid grid,
             Norms *__restrict__ parts) {
    Norms found = {};
    for (int row = blockIdx.y; row < grid.rows; row += gridDim.y) {
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < grid.columns;
             i += gridDim.x * blockDim.x) {
            long long at = row * grid.pitch + i;
            found.distance(u[at] - exact[at]);
        }
    }
    found = of_block(found);
    if (threadIdx.x == 0) parts[blockIdx.y * gridDim.x + blockIdx.x] = found;
}

/// The part of a field that is asked for: columns and rows from the first on, and how many points
/// across and down one sample stands for.
struct Window {
    int first_column, first_row, columns, rows, block_x, block_y, samples_x, samples_y;
};

/// A number by which doubles are ordered as samples are: by magnitude, of opposite ones the positive last;
/// NaN comes after all, and zero has one sign only. To compare integers is cheaper than to compare doubles,
/// of which the cycles that are made meanwhile have need.
__device__ __forceinline__ unsigned long long rank_of(double value) {
    unsigned long long bits = __double_as_longlong(value);
    return (bits << 1 | bits >> 63) ^ 1;
}

/// The value of a rank.
__device__ __forceinline__ double of_rank(unsigned long long rank) {
    unsigned long long bits = rank ^ 1;
    return __longlong_as_double(bits >> 1 | bits << 63);
}

/// A field, thinned out to samples; each is the value of largest magnitude of its block of points, and comes
/// as the rank of that. Each warp looks at 32 columns, `together` rows of the window from the top down: a
/// whole number of rows of blocks. `ranks` is zero before. `other` is another array: of the precision of the
/// iterate or of doubles, as `quantity` says. If `parts` is given, it gets the sums of squares of the field on
/// the way, as `residual` gives those of u1 - u0.
extern "C" __global__ void __launch_bounds__(256, 4)
    sample(const real *__restrict__ u, RightHandSide g, const void *__restrict__ other, Grid grid,
           Weights weights, double diagonal, int quantity, Window window, int together,
           unsigned long long *__restrict__ ranks, const unsigned char *__restrict__ near_columns,
           const unsigned char *__restrict__ near_rows, Norms *__restrict__ parts) {
    long long warp = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    int strips = (window.columns + WARP - 1) / WARP;
    int lane = threadIdx.x % WARP, x = int(warp % strips) * WARP + lane;
    bool is_there = x < window.columns;
    int sample_x = x / window.block_x, i = window.first_column + x;
    Norms norms = {};
    bool is_near_column = parts && is_there && near_columns[i];

    long long first = warp / strips * together;
    long long end = min(first + together, (long long)window.rows);
    for (long long y = first; y < end; y += window.block_y) {
        int j = window.first_row + int(y);
        int below = window.first_row + int(min(y + window.block_y, end));
        unsigned long long found = rank_of(0);
        if (is_there) {
            long long at = j * grid.pitch + i;
            // Rows follow one another: of the residual's five points two are known from the rows before.
            real south = PLANE ? u[at - grid.pitch] : 0, here = PLANE ? u[at] : 0;
#pragma unroll 4
            for (; j < below; j++, at += grid.pitch) {
                if constexpr (!PLANE) here = u[at];
                real north = PLANE ? u[at + grid.pitch] : 0;
                double value;
                if (quantity == RESIDUAL) {
                    real change = update(weights, u[at - 1], u[at + 1], south, north, g.at(at));
                    value = double(change - here) * diagonal;
                } else {
                    value = field_value(quantity, u, g, other, grid, weights, diagonal, at);
                }
                south = here, here = north;
                if (parts) {
                    add_square(norms.squares, value);
                    if (is_near_column || near_rows[j]) norms.distance(value);
                }
                found = max(found, rank_of(value));
            }
        }
        // Lanes of one sample lie side by side: the first of them gets the largest of all.
        for (int apart = 1; apart < min(WARP, window.block_x); apart *= 2) {
            unsigned long long theirs = __shfl_down_sync(ALL_LANES, found, apart);
            if (lane + apart < WARP && (x + apart) / window.block_x == sample_x) {
                found = max(found, theirs);
            }
        }
        if (is_there && (lane == 0 || x % window.block_x == 0)) {
            atomicMax(&ranks[y / window.block_y * window.samples_x + sample_x], found);
        }
    }
    if (parts) {
        norms = of_block(norms);
        if (threadIdx.x == 0) parts[blockIdx.x] = norms;
    }
}

/// Samples of their ranks.
extern "C" __global__ void __launch_bounds__(256)
    values_of_ranks(const unsigned long long *__restrict__ ranks, long long count,
                    float *__restrict__ samples) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) samples[at] = float(of_rank(ranks[at]));
}
