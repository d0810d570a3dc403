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

/// A field, thinned out to samples; each is the value of largest magnitude of its block of points, at
/// which `lanes` (1 or 32) look together. `other` is another array: of the precision of the iterate or of
/// doubles, as `quantity` says. If `parts` is given, it gets the sums of squares of the field on the way, as
/// `residual` gives those of u1 - u0.
extern "C" __global__ void __launch_bounds__(256, 4)
    sample(const real *__restrict__ u, RightHandSide g, const void *__restrict__ other, Grid grid,
           Weights weights, double diagonal, int quantity, Window window, int lanes,
           float *__restrict__ samples, const unsigned char *__restrict__ near_columns,
           const unsigned char *__restrict__ near_rows, Norms *__restrict__ parts) {
    long long thread = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    long long number = thread / lanes;
    int lane = thread % lanes;
    bool is_there = number < (long long)window.samples_x * window.samples_y;
    if (!is_there && !parts) return;
    int x = number % window.samples_x * window.block_x;
    int y = number / window.samples_x * window.block_y;
    int width = min(window.block_x, window.columns - x), height = min(window.block_y, window.rows - y);

    if (!is_there) width = 1, height = 0;
    int turn_i = lanes % width, turn_j = lanes / width;

    unsigned long long found = rank_of(0);
    Norms norms = {};
    for (int in_i = lane % width, in_j = lane / width; in_j < height;) {
        int i = window.first_column + x + in_i, j = window.first_row + y + in_j;
        double value =
            field_value(quantity, u, g, other, grid, weights, diagonal, j * grid.pitch + i);
        if (parts) {
            add_square(norms.squares, value);
            if (near_columns[i] || near_rows[j]) norms.distance(value);
        }
        found = max(found, rank_of(value));
        // The next point that this lane looks at: so many on, from row to row of the block.
        in_i += turn_i, in_j += turn_j;
        if (in_i >= width) in_i -= width, in_j++;
    }
    // All lanes of a warp have a sample, or none.
    for (int half = lanes / 2; half > 0; half /= 2) {
        found = max(found, __shfl_xor_sync(ALL_LANES, found, half));
    }
    if (is_there && lane == 0) samples[number] = float(of_rank(found));
    if (parts) {
        norms = of_block(norms);
        if (threadIdx.x == 0) parts[blockIdx.x] = norms;
    }
}
