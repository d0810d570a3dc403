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

/// Where a warp looks for samples: at 32 columns of the window, and at `together` of its rows from the top
/// down, a whole number of rows of blocks.
struct Strip {
    int lane, x, first, end;
    /// Columns of this lane's block before it.
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

    /// The rank of this lane's block in the first row of blocks.
    __device__ __forceinline__ unsigned long long *first_rank(const Window &window,
                                                              unsigned long long *ranks) const {
        return ranks + (long long)(first / window.block_y) * window.samples_x + x / window.block_x;
    }

    /// Takes the largest rank that the lanes have found into that of their blocks.
    __device__ __forceinline__ void tell(unsigned long long found, const Window &window,
                                         unsigned long long *rank) const {
        // Lanes of one sample lie side by side: the first of them gets the largest of all.
#pragma unroll 1
        for (int apart = 1; apart < min(WARP, window.block_x); apart *= 2) {
            unsigned long long theirs = __shfl_down_sync(ALL_LANES, found, apart);
            if (lane + apart < WARP && in_block + apart < window.block_x) {
                found = max(found, theirs);
            }
        }
        if (x < window.columns && (lane == 0 || in_block == 0)) atomicMax(rank, found);
    }
};

/// A field, thinned out to samples; each is the value of largest magnitude of its block of points, and comes
/// as the rank of that. `ranks` is zero before. `other` is another array: of the precision of the iterate or
/// of doubles, as `quantity` says.
extern "C" __global__ void __launch_bounds__(256, 4)
    sample(const real *__restrict__ u, RightHandSide g, const void *__restrict__ other, Grid grid,
           Weights weights, double diagonal, int quantity, Window window, int together,
           unsigned long long *__restrict__ ranks) {
    Strip strip(window, together);
    bool is_there = strip.x < window.columns;
    unsigned long long *rank = strip.first_rank(window, ranks);
    for (int y = strip.first; y < strip.end; y += window.block_y, rank += window.samples_x) {
        int below = min(y + window.block_y, strip.end);
        unsigned long long found = rank_of(0);
        if (is_there) {
            long long at = (window.first_row + y) * grid.pitch + window.first_column + strip.x;
#pragma unroll 4
            for (int row = y; row < below; row++, at += grid.pitch) {
                double value = field_value(quantity, u, g, other, grid, weights, diagonal, at);
                found = max(found, rank_of(value));
            }
        }
        strip.tell(found, window, rank);
    }
}

/// The residual, thinned out as above, and on the way the sums of its squares, as `residual` gives those of
/// u1 - u0. Of `TOGETHER` rows a warp asks for the values before it looks at the first, so that it waits for
/// the card's memory once for all. The right-hand side may be `SAME` everywhere.
template <bool SAME, int TOGETHER>
__device__ __forceinline__ void residual_samples(
    const real *__restrict__ u, const RightHandSide &g, const Grid &grid, const Weights &weights,
    double diagonal, const Window &window, int together, unsigned long long *__restrict__ ranks,
    const unsigned char *__restrict__ near_columns, const unsigned char *__restrict__ near_rows,
    Norms *__restrict__ parts) {
    Strip strip(window, together);
    // A lane past the window looks at its last column again, which adds nothing.
    bool is_there = strip.x < window.columns;
    int i = window.first_column + min(strip.x, window.columns - 1);
    bool is_near_column = near_columns[i];
    double squares = 0, near = 0;

    // Rows follow one another: of the five points two are known from the rows before.
    long long at = (window.first_row + strip.first) * grid.pitch + i;
    real south = 0, here = 0;
    if (PLANE && strip.first < strip.end) south = u[at - grid.pitch], here = u[at];
    unsigned long long *rank = strip.first_rank(window, ranks);
    for (int y = strip.first; y < strip.end; y += window.block_y, rank += window.samples_x) {
        unsigned long long found = rank_of(0);
        int end = min(y + window.block_y, strip.end);
        for (int row = y; row < end; row += TOGETHER) {
            real arrived[TOGETHER], west[TOGETHER], east[TOGETHER], sides[SAME ? 1 : TOGETHER];
            if (SAME) sides[0] = *g.values;
#pragma unroll
            for (int n = 0; n < TOGETHER; n++) {
                if (row + n >= end) break;
                arrived[n] = u[PLANE ? at + grid.pitch : at];
                west[n] = u[at - 1];
                east[n] = u[at + 1];
                if (!SAME) sides[n] = g.values[at];
                at += grid.pitch;
            }
            bool is_near_row =
                row + strip.lane < end && near_rows[window.first_row + row + strip.lane];
            unsigned near_mask = __ballot_sync(ALL_LANES, is_near_row);
#pragma unroll
            for (int n = 0; n < TOGETHER; n++) {
                if (row + n >= end) break;
                if (!PLANE) here = arrived[n];
                real north = PLANE ? arrived[n] : 0;
                real side = sides[SAME ? 0 : n];
                real change = update(weights, west[n], east[n], south, north, side) - here;
                double value = double(change) * diagonal;
                add_square(squares, value);
                add_square_if(is_near_column || near_mask >> n & 1, near, value);
                found = max(found, rank_of(value));
                south = here, here = north;
            }
        }
        strip.tell(found, window, rank);
    }
    Norms norms = {};
    if (is_there) norms.squares = squares, norms.error = near;
    norms = of_block(norms);
    if (threadIdx.x == 0) parts[blockIdx.x] = norms;
}

/// As `residual_samples`, where g is the same everywhere.
extern "C" __global__ void __launch_bounds__(256, 3)
    residual_samples_same(const real *u, RightHandSide g, Grid grid, Weights weights, double diagonal,
                          Window window, int together, unsigned long long *ranks,
                          const unsigned char *near_columns, const unsigned char *near_rows,
                          Norms *parts) {
    // More values do not fit into the registers where each neighbour has a weight of its own.
    constexpr int ROWS = FORM == PLANE_GENERAL ? 5 : 6;
    residual_samples<true, ROWS>(u, g, grid, weights, diagonal, window, together, ranks, near_columns,
                              near_rows, parts);
}

/// As `residual_samples`, where g differs.
extern "C" __global__ void __launch_bounds__(256, 3)
    residual_samples_varied(const real *u, RightHandSide g, Grid grid, Weights weights, double diagonal,
                            Window window, int together, unsigned long long *ranks,
                            const unsigned char *near_columns, const unsigned char *near_rows,
                            Norms *parts) {
    residual_samples<false, 4>(u, g, grid, weights, diagonal, window, together, ranks, near_columns,
                               near_rows, parts);
}

/// Samples of their ranks.
extern "C" __global__ void __launch_bounds__(256)
    values_of_ranks(const unsigned long long *__restrict__ ranks, long long count,
                    float *__restrict__ samples) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) samples[at] = float(of_rank(ranks[at]));
}
