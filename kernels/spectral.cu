// One cycle of tiles in their sine basis, on any GPU and for any tile: all k subiterations at once (the
// mathematics is in `solver/spectral.rs`).
//
// A block has one 2D or 3D tile, or ROWS_1D tiles of a 1D grid, one a row. They lie in shared memory, by rows of an
// odd number of values. Mirrored points are replaced by their sum, which takes the place of the first, and
// their difference, which takes that of the second, along every axis: then the first half of an axis holds
// what the modes of odd number see, the second half, in mirrored order, what those of even number see, and
// every matrix is half as large. In 2D four products follow, along x, y, y and x, with the factors in
// between, in 3D two more along z; in 1D one product does it all.
//
// Each thread computes a block of ROWS x COLUMNS values of a product in registers; all wait, and then put it
// in place of the data. Where there are more blocks than threads, they take turns: whole rows along x, and whole columns
// along the other axes, whose products use no others.
//
// Tables, in global memory: along x, for each half, the matrix F (modes by points) and its transpose, then
// likewise along y and z; then the factors as the tile lies (without gaps); then what is multiplied by and divided
// by along x, y and z, so that the matrix becomes symmetric. In 1D: for each half the one matrix; then
// the scaling along x. `solver/cuda/spectral/mod.rs` writes them.
// Variants: 1d 2d 3d
#include "norms.cuh"

/// Columns of a thread's block of a product. `COLUMNS` of `solver/cuda/spectral/mod.rs`.
constexpr int COLUMNS = 4;

/// Tiles of a block in 1D. `ROWS_1D` of `solver/cuda/spectral/mod.rs`.
constexpr int ROWS_1D = 32;

extern __shared__ double memory[];

/// Where the rows of a block lie.
struct Place {
    int width, height, depth;
    /// Values from a row to the next in shared memory.
    int stride;

    __device__ __forceinline__ Place(const CycleArguments &a)
        : width(a.x.tile), height(IS_2D ? a.y.tile : ROWS_1D), depth(1), stride(a.x.tile | 1) {
#if FORM >= FORM_3D_ISOTROPIC
        depth = a.z.tile;
#endif
    }

    __device__ __forceinline__ int rows() const { return height * depth; }

    /// Points along an axis.
    __device__ __forceinline__ int side(int axis) const { return axis == 0 ? width : axis == 1 ? height : depth; }

    /// The number of points of a half of an axis: of sums, and after them of differences.
    static __device__ __forceinline__ int size(int side, int half) { return half == 0 ? (side + 1) / 2 : side / 2; }
};

/// How the slices across an axis other than x lie in a block: `side` of `columns` values, `apart` values apart, `count`
/// times.
struct Stack {
    int side, columns, apart, count;

    __device__ __forceinline__ Stack(const Place &place, int axis) {
        bool is_z = IS_3D && axis == 2;
        side = place.side(axis);
        // The gaps between rows are taken along, too.
        columns = is_z ? place.height * place.stride : place.width;
        apart = is_z ? columns : place.stride;
        count = is_z ? 1 : place.depth;
    }
};

/// One row of a tile in the grid: row `row` of plane `plane`, which is 0 but in 3D.
struct Row {
    /// Its first point.
    long long origin;
    /// The columns that it owns; none in rows that are not there, or are not owned.
    int left, right;
    bool exists;

    __device__ __forceinline__ Row(const CycleArguments &a, int row, int plane) {
        long long tile = IS_2D ? a.tile() : (long long)blockIdx.x * ROWS_1D + row;
        int tile_x = int(tile % a.x.count), tile_y = int(tile / a.x.count);
        exists = IS_2D || tile_y < a.grid.rows;
        if (!exists) tile_x = tile_y = 0;
        bool owns = exists;
        origin = 0;
#if FORM >= FORM_3D_ISOTROPIC
        int tile_z = tile_y / a.y.count, z = a.z.start(tile_z) + plane;
        tile_y %= a.y.count;
        owns = a.z.border(tile_z) <= z && z < a.z.border(tile_z + 1);
        origin = z * a.grid.plane_pitch;
#endif
        int x = a.x.start(tile_x), y = IS_2D ? a.y.start(tile_y) + row : tile_y;
        origin += y * a.grid.pitch + x;
        left = a.x.border(tile_x) - x;
        right = a.x.border(tile_x + 1) - x;
        owns = owns && (!IS_2D || (a.y.border(tile_y) <= y && y < a.y.border(tile_y + 1)));
        if (!owns) right = left;
    }
};

/// The tables of a tile.
struct Tables {
    const real *values;
    Place place;

    /// The matrix of a half along an axis, or its transpose.
    __device__ __forceinline__ const real *matrix(int axis, int half, bool transposed) const {
        const real *at = values + (axis > 0 ? squares(0) : 0) + (axis > 1 ? squares(1) : 0);
        int side = place.side(axis), size = Place::size(side, half), first = Place::size(side, 0);
        if (half == 1) at += (IS_2D ? 2 : 1) * first * first;
        if (transposed) at += size * size;
        return at;
    }

    /// Values of all matrices of an axis.
    __device__ __forceinline__ int squares(int axis) const {
        int sums = Place::size(place.side(axis), 0), differences = Place::size(place.side(axis), 1);
        return (IS_2D ? 2 : 1) * (sums * sums + differences * differences);
    }

    __device__ __forceinline__ const real *factors() const {
        return values + squares(0) + squares(1) + (IS_3D ? squares(2) : 0);
    }

    /// What makes the matrix symmetric along x, then its inverse, then both along y and z.
    __device__ __forceinline__ const real *scales() const {
        return IS_2D ? factors() + place.width * place.rows() : values + squares(0);
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
    __syncthreads();
    if (axis == 0) {
        int pairs = place.width / 2;
        for (int i = threadIdx.x; i < pairs * place.rows(); i += blockDim.x) {
            real *row = data + i / pairs * place.stride;
            butterfly(row[i % pairs], row[place.width - 1 - i % pairs]);
        }
        return;
    }
    Stack stack(place, axis);
    int pairs = stack.side / 2;
    for (int i = threadIdx.x; i < pairs * stack.columns * stack.count; i += blockDim.x) {
        // Neighbouring threads take neighbouring columns.
        int column = i % stack.columns, row = i / stack.columns % pairs, slice = i / stack.columns / pairs;
        real *first = data + slice * stack.side * stack.apart + column;
        butterfly(first[row * stack.apart], first[(stack.side - 1 - row) * stack.apart]);
    }
}

/// Calls `turn` with 0, and in 3D, where there may be more blocks than threads, with every multiple of `at_once` below
/// `count`.
template <typename Turn> __device__ __forceinline__ void for_each_turn(int count, int at_once, Turn turn) {
    if constexpr (IS_3D) {
#pragma unroll 1
        for (int first = 0; first < count; first += at_once) turn(first);
    } else {
        turn(0);
    }
}

/// Replaces the rows by their product with the matrices of x: row times matrix, in either half.
template <int ROWS> __device__ __forceinline__ void multiply_rows(real *data, const Place &place, const Tables &tables, bool forward) {
    int groups = (Place::size(place.width, 0) + COLUMNS - 1) / COLUMNS;
    int half = threadIdx.x / groups % 2, group = threadIdx.x % groups;
    int size = Place::size(place.width, half), first = half * Place::size(place.width, 0);
    // In 1D there is one matrix, which is symmetric.
    const real *matrix = tables.matrix(0, half, IS_2D && forward);
    int at_once = blockDim.x / (2 * groups), turn = threadIdx.x / (2 * groups);
    for_each_turn(place.rows(), at_once * ROWS, [&](int turns) {
        int first_row = turns + turn * ROWS;
        bool works = turn < at_once && first_row < place.rows();
        real sums[ROWS][COLUMNS] = {};
        __syncthreads();
        if (works) {
            for (int k = 0; k < size; k++) {
                real factors[COLUMNS];
#pragma unroll
                for (int j = 0; j < COLUMNS; j++) factors[j] = __ldg(matrix + k * size + min(group + j * groups, size - 1));
#pragma unroll
                for (int i = 0; i < ROWS; i++) {
                    real value = data[min(first_row + i, place.rows() - 1) * place.stride + first + k];
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
                if (first_row + i < place.rows() && column < size) {
                    data[(first_row + i) * place.stride + first + column] = sums[i][j];
                }
            }
        }
    });
}

/// Replaces the columns along an axis other than x by the product of its matrices with them, in either half;
/// forward along the last axis, by the factors times it.
template <int ROWS>
__device__ __forceinline__ void multiply_columns(real *data, const Place &place, const Tables &tables, int axis, bool forward) {
    Stack stack(place, axis);
    int groups = (stack.columns + COLUMNS - 1) / COLUMNS, half_rows = Place::size(stack.side, 0);
    int rows = (half_rows + ROWS - 1) / ROWS;
    // As many groups of columns at a time as there are threads for all their rows.
    int at_once = IS_3D ? min(groups * stack.count, int(blockDim.x) / (2 * rows)) : groups;
    int turn = threadIdx.x % at_once, part = threadIdx.x / at_once;
    int first_row = part % rows * ROWS, half = part / rows;
    int size = Place::size(stack.side, half), first = half * half_rows;
    // The matrix times a column: its rows are those of F forward, those of the transpose backward.
    const real *matrix = tables.matrix(axis, half, !forward);
    for_each_turn(groups * stack.count, at_once, [&](int turns) {
        int group = IS_3D ? (turns + turn) % groups : turn, slice = IS_3D ? (turns + turn) / groups : 0;
        bool works = half < 2 && first_row < size && slice < stack.count;
        real sums[ROWS][COLUMNS] = {};
        __syncthreads();
        if (works) {
            for (int k = 0; k < size; k++) {
                real values[COLUMNS];
#pragma unroll
                for (int j = 0; j < COLUMNS; j++) {
                    int row = slice * stack.side + first + k;
                    values[j] = data[row * stack.apart + min(group + j * groups, stack.columns - 1)];
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
                if (first_row + i >= size || column >= stack.columns) continue;
                real factor = 1;
                if (forward && !IS_3D) factor = __ldg(tables.factors() + row * place.width + column);
                if (forward && IS_3D && axis == 2) {
                    int x = column % place.stride, line = row * place.height + column / place.stride;
                    if (x == place.width) continue;
                    factor = __ldg(tables.factors() + line * place.width + x);
                }
                data[(slice * stack.side + row) * stack.apart + column] = sums[i][j] * factor;
            }
        }
    });
}

template <int ROWS> __device__ __forceinline__ void cycle(const SpectralArguments &arguments) {
    const CycleArguments &a = arguments.cycle;
    Place place(a);
    Tables tables = {arguments.tables, place};
    real *data = reinterpret_cast<real *>(memory);
    const real *scale_x = tables.scales(), *scale_y = scale_x + 2 * place.width, *scale_z = scale_y + 2 * place.height;
    int points = place.width * place.rows();
    double squares = 0;
    for (int i = threadIdx.x; i < points; i += blockDim.x) {
        int x = i % place.width, line = i / place.width, y = line % place.height, z = line / place.height;
        Row row(a, y, z);
        real change = 0;
        if (row.exists) {
            const real *u = a.from + row.origin + x;
            real g = __ldg(a.g + row.origin + x);
            real y_prev = IS_2D ? __ldg(u - a.grid.pitch) : real(0), y_next = IS_2D ? __ldg(u + a.grid.pitch) : real(0);
#if FORM >= FORM_3D_ISOTROPIC
            real z_prev = __ldg(u - a.grid.plane_pitch), z_next = __ldg(u + a.grid.plane_pitch);
            change = update(a.weights, __ldg(u - 1), __ldg(u + 1), y_prev, y_next, z_prev, z_next, g) - __ldg(u);
#else
            change = update(a.weights, __ldg(u - 1), __ldg(u + 1), y_prev, y_next, g) - __ldg(u);
#endif
            if (a.squares && row.left <= x && x < row.right) add_square(squares, change);
            change *= __ldg(scale_x + x);
            if constexpr (IS_2D) change *= __ldg(scale_y + y);
            if constexpr (IS_3D) change *= __ldg(scale_z + z);
        }
        data[line * place.stride + x] = change;
    }
    butterflies(data, place, 0);
    if constexpr (IS_2D) butterflies(data, place, 1);
    if constexpr (IS_3D) butterflies(data, place, 2);
    multiply_rows<ROWS>(data, place, tables, true);
    if constexpr (IS_2D) multiply_columns<ROWS>(data, place, tables, 1, true);
    if constexpr (IS_3D) {
        multiply_columns<ROWS>(data, place, tables, 2, true);
        multiply_columns<ROWS>(data, place, tables, 2, false);
        butterflies(data, place, 2);
    }
    if constexpr (IS_2D) {
        multiply_columns<ROWS>(data, place, tables, 1, false);
        multiply_rows<ROWS>(data, place, tables, false);
        butterflies(data, place, 1);
    }
    butterflies(data, place, 0);
    __syncthreads();
    for (int i = threadIdx.x; i < points; i += blockDim.x) {
        int x = i % place.width, line = i / place.width, y = line % place.height, z = line / place.height;
        Row row(a, y, z);
        if (x < row.left || x >= row.right) continue;
        real change = data[line * place.stride + x] * __ldg(scale_x + place.width + x);
        if constexpr (IS_2D) change *= __ldg(scale_y + place.height + y);
        if constexpr (IS_3D) change *= __ldg(scale_z + place.depth + z);
        a.to[row.origin + x] = __ldg(a.from + row.origin + x) + change;
    }
    if (a.squares) write_sum_of_lanes(squares, a.squares + (blockIdx.x * (long long)blockDim.x + threadIdx.x) / WARP);
}

// `ROWS` of `solver/cuda/spectral/mod.rs`.
extern "C" __global__ void __launch_bounds__(256, 2) four_rows(const SpectralArguments arguments) { cycle<4>(arguments); }

// In 3D threads take turns, and fewer do.
#if FORM < FORM_3D_ISOTROPIC
extern "C" __global__ void __launch_bounds__(512) eight_rows(const SpectralArguments arguments) { cycle<8>(arguments); }
#endif
