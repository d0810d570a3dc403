// One cycle of tiles in their sine basis, on any GPU and for any tile: all k subiterations at once (the
// mathematics is in `solver/spectral.rs`).
//
// A block has one 2D tile, or ROWS_1D tiles of a 1D grid, one a row. They lie in shared memory, by rows of an
// odd number of values. Mirrored points are replaced by their sum, which takes the place of the first, and
// their difference, which takes that of the second, along every axis: then the first half of an axis holds
// what the modes of odd number see, the second half, in mirrored order, what those of even number see, and
// every matrix is half as large. In 2D four products follow, along x, y, y and x, with the factors in
// between; in 1D one product does it all.
//
// Each thread computes a block of ROWS x COLUMNS values of a product in registers; all wait, and then put it
// in place of the data.
//
// Tables, in global memory: along x, for each half, the matrix F (modes by points) and its transpose, then
// likewise along y; then the factors as the tile lies (without gaps); then what is multiplied by and divided
// by along x and along y, so that the matrix becomes symmetric. In 1D: for each half the one matrix; then
// the scaling along x. `solver/cuda/spectral.rs` writes them.
// Variants: 1d 2d
#include "norms.cuh"

/// Columns of a thread's block of a product. `COLUMNS` of `solver/cuda/spectral.rs`.
constexpr int COLUMNS = 4;

/// Tiles of a block in 1D. `ROWS_1D` of `solver/cuda/spectral.rs`.
constexpr int ROWS_1D = 32;

extern __shared__ double memory[];

/// Where the rows of a block lie.
struct Place {
    int width, height;
    /// Values from a row to the next in shared memory.
    int stride;
    /// The halves of an axis: sums, and from there on differences.
    int half_x, half_y;

    __device__ __forceinline__ Place(const CycleArguments &a)
        : width(a.x.tile), height(IS_2D ? a.y.tile : ROWS_1D), stride(a.x.tile | 1), half_x((a.x.tile + 1) / 2),
          half_y((height + 1) / 2) {}

    /// The number of points of a half.
    static __device__ __forceinline__ int size(int side, int half) { return half == 0 ? (side + 1) / 2 : side / 2; }
};

/// One row of a tile in the grid.
struct Row {
    /// Its first point.
    long long origin;
    /// The columns that it owns; none in rows that are not there, or are not owned.
    int left, right;
    bool exists;

    __device__ __forceinline__ Row(const CycleArguments &a, int row) {
        long long tile = IS_2D ? blockIdx.x : (long long)blockIdx.x * ROWS_1D + row;
        int tile_x = int(tile % a.x.count), tile_y = int(tile / a.x.count);
        exists = IS_2D || tile_y < a.grid.rows;
        if (!exists) tile_x = tile_y = 0;
        int x = a.x.start(tile_x), y = IS_2D ? a.y.start(tile_y) + row : tile_y;
        origin = y * a.grid.pitch + x;
        left = a.x.border(tile_x) - x;
        right = a.x.border(tile_x + 1) - x;
        bool owns = exists && (!IS_2D || (a.y.border(tile_y) <= y && y < a.y.border(tile_y + 1)));
        if (!owns) right = left;
    }
};

/// The tables of a tile.
struct Tables {
    const real *values;
    int width, height;

    /// The matrix of a half along an axis, or its transpose.
    __device__ __forceinline__ const real *matrix(int axis, int half, bool transposed) const {
        const real *at = values;
        if (axis == 1) at += squares(width);
        int side = axis == 0 ? width : height, size = Place::size(side, half), first = Place::size(side, 0);
        if (half == 1) at += (IS_2D ? 2 : 1) * first * first;
        if (transposed) at += size * size;
        return at;
    }

    /// Values of all matrices of an axis.
    static __device__ __forceinline__ int squares(int side) {
        int sums = Place::size(side, 0), differences = Place::size(side, 1);
        return (IS_2D ? 2 : 1) * (sums * sums + differences * differences);
    }

    __device__ __forceinline__ const real *factors() const { return values + squares(width) + squares(height); }

    /// What makes the matrix symmetric along x, then its inverse, then both along y.
    __device__ __forceinline__ const real *scales() const {
        return IS_2D ? factors() + width * height : values + squares(width);
    }
};

/// Puts the sum of two values in place of the first, and their difference in place of the second.
__device__ __forceinline__ void butterfly(real &first, real &second) {
    real sum = first + second;
    second = first - second;
    first = sum;
}

/// Butterflies along an axis of the data. All threads wait before it.
__device__ __forceinline__ void butterflies(real *data, const Place &place, int axis) {
    int pairs = (axis == 0 ? place.width : place.height) / 2, others = axis == 0 ? place.height : place.width;
    __syncthreads();
    for (int i = threadIdx.x; i < pairs * others; i += blockDim.x) {
        // Neighbouring threads take neighbouring columns.
        int x = axis == 0 ? i % pairs : i % others, y = axis == 0 ? i / pairs : i / others;
        int mirrored_x = axis == 0 ? place.width - 1 - x : x, mirrored_y = axis == 0 ? y : place.height - 1 - y;
        butterfly(data[y * place.stride + x], data[mirrored_y * place.stride + mirrored_x]);
    }
}

/// Replaces the rows by their product with the matrices of x: row times matrix, in either half.
template <int ROWS> __device__ __forceinline__ void multiply_rows(real *data, const Place &place, const Tables &tables, bool forward) {
    int groups = (place.half_x + COLUMNS - 1) / COLUMNS;
    int first_row = threadIdx.x / (2 * groups) * ROWS, half = threadIdx.x / groups % 2, group = threadIdx.x % groups;
    int size = Place::size(place.width, half), first = half * place.half_x;
    // In 1D there is one matrix, which is symmetric.
    const real *matrix = tables.matrix(0, half, IS_2D && forward);
    bool works = first_row < place.height;
    real sums[ROWS][COLUMNS] = {};
    __syncthreads();
    if (works) {
        for (int k = 0; k < size; k++) {
            real factors[COLUMNS];
#pragma unroll
            for (int j = 0; j < COLUMNS; j++) factors[j] = __ldg(matrix + k * size + min(group + j * groups, size - 1));
#pragma unroll
            for (int i = 0; i < ROWS; i++) {
                real value = data[min(first_row + i, place.height - 1) * place.stride + first + k];
#pragma unroll
                for (int j = 0; j < COLUMNS; j++) sums[i][j] = multiply_add(value, factors[j], sums[i][j]);
            }
        }
    }
    __syncthreads();
    if (!works) return;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
            int column = group + j * groups;
            if (first_row + i < place.height && column < size) {
                data[(first_row + i) * place.stride + first + column] = sums[i][j];
            }
        }
    }
}

/// Replaces the columns by the product of the matrices of y with them, in either half; forward, by the
/// factors times it.
template <int ROWS>
__device__ __forceinline__ void multiply_columns(real *data, const Place &place, const Tables &tables, bool forward) {
    int groups = (place.width + COLUMNS - 1) / COLUMNS, rows = (place.half_y + ROWS - 1) / ROWS;
    int group = threadIdx.x % groups, first_row = threadIdx.x / groups % rows * ROWS, half = threadIdx.x / (groups * rows);
    bool works = half < 2;
    int size = Place::size(place.height, half), first = half * place.half_y;
    // The matrix times a column: its rows are those of F forward, those of the transpose backward.
    const real *matrix = tables.matrix(1, half, !forward);
    works = works && first_row < size;
    real sums[ROWS][COLUMNS] = {};
    __syncthreads();
    if (works) {
        for (int k = 0; k < size; k++) {
            real values[COLUMNS];
#pragma unroll
            for (int j = 0; j < COLUMNS; j++) {
                values[j] = data[(first + k) * place.stride + min(group + j * groups, place.width - 1)];
            }
#pragma unroll
            for (int i = 0; i < ROWS; i++) {
                real factor = __ldg(matrix + min(first_row + i, size - 1) * size + k);
#pragma unroll
                for (int j = 0; j < COLUMNS; j++) sums[i][j] = multiply_add(factor, values[j], sums[i][j]);
            }
        }
    }
    __syncthreads();
    if (!works) return;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
#pragma unroll
        for (int j = 0; j < COLUMNS; j++) {
            int column = group + j * groups, row = first + first_row + i;
            if (first_row + i >= size || column >= place.width) continue;
            real factor = forward ? __ldg(tables.factors() + row * place.width + column) : real(1);
            data[row * place.stride + column] = sums[i][j] * factor;
        }
    }
}

/// One cycle. Of each warp one sum of squares is written.
template <int ROWS> __device__ __forceinline__ void cycle(const SpectralArguments &arguments) {
    const CycleArguments &a = arguments.cycle;
    Place place(a);
    Tables tables = {arguments.tables, place.width, place.height};
    real *data = reinterpret_cast<real *>(memory);
    const real *scale_x = tables.scales(), *scale_y = scale_x + 2 * place.width;
    int points = place.width * place.height;
    double squares = 0;
    for (int i = threadIdx.x; i < points; i += blockDim.x) {
        int x = i % place.width, y = i / place.width;
        Row row(a, y);
        real change = 0;
        if (row.exists) {
            const real *u = a.from + row.origin + x;
            real y_prev = IS_2D ? __ldg(u - a.grid.pitch) : real(0), y_next = IS_2D ? __ldg(u + a.grid.pitch) : real(0);
            change = update(a.weights, __ldg(u - 1), __ldg(u + 1), y_prev, y_next, __ldg(a.g + row.origin + x)) - __ldg(u);
            if (a.squares && row.left <= x && x < row.right) add_square(squares, change);
            change *= __ldg(scale_x + x);
            if constexpr (IS_2D) change *= __ldg(scale_y + y);
        }
        data[y * place.stride + x] = change;
    }
    butterflies(data, place, 0);
    if constexpr (IS_2D) butterflies(data, place, 1);
    multiply_rows<ROWS>(data, place, tables, true);
    if constexpr (IS_2D) {
        multiply_columns<ROWS>(data, place, tables, true);
        multiply_columns<ROWS>(data, place, tables, false);
        multiply_rows<ROWS>(data, place, tables, false);
        butterflies(data, place, 1);
    }
    butterflies(data, place, 0);
    __syncthreads();
    for (int i = threadIdx.x; i < points; i += blockDim.x) {
        int x = i % place.width, y = i / place.width;
        Row row(a, y);
        if (x < row.left || x >= row.right) continue;
        real change = data[y * place.stride + x] * __ldg(scale_x + place.width + x);
        if constexpr (IS_2D) change *= __ldg(scale_y + place.height + y);
        a.to[row.origin + x] = __ldg(a.from + row.origin + x) + change;
    }
    if (a.squares) write_sum_of_lanes(squares, a.squares + (blockIdx.x * (long long)blockDim.x + threadIdx.x) / WARP);
}

// `ROWS` of `solver/cuda/spectral.rs`.
extern "C" __global__ void __launch_bounds__(256) four_rows(const SpectralArguments arguments) { cycle<4>(arguments); }

extern "C" __global__ void __launch_bounds__(512) eight_rows(const SpectralArguments arguments) { cycle<8>(arguments); }
