// One cycle in 3D, one block of threads per tile, whose iterate stays in shared memory.
//
// Where it fits, a thread keeps ROWS columns along z, of DEPTH points each, with their right-hand side in registers:
// of the six neighbours, it reads four from shared memory, which then needs one copy of the tile. Other tiles go to
// `any_box`, whose threads pass over two copies of the tile. Cubes of 16 have a kernel of their own, `cube_3d.cu`.
// Variants: 3d
#include "box.cuh"
#include "norms.cuh"

extern __shared__ double memory[];

/// Rows of a thread: `ROWS` of `solver/cuda/shared_3d.rs`.
constexpr int ROWS = 2;

/// One cycle of tiles that are DEPTH points deep. There may be more threads than columns. If a tile has an odd height, its
/// last two rows are moved up, and the first of them belongs to another thread, too.
template <int DEPTH, bool IS_DAMPED> __device__ __forceinline__ void columns(const CycleArguments &a, real omega) {
    // Indices, not pointers: of a pointer that changes, the compiler does not know that it points to shared memory.
    real *values = reinterpret_cast<real *>(memory);
    const int width = a.x.tile, height = a.y.tile;
    const int stride = width + 2, plane = stride * (height + 2);
    const long long pitch = a.grid.pitch, plane_pitch = a.grid.plane_pitch;
    const int thread = threadIdx.x;
    const int x = thread % width, y = min(thread / width * ROWS, height - ROWS);
    const bool exists = thread / width * ROWS < height;

    const long long origin = Box(a).origin;
    const int own = (y + 1) * stride + x + 1;
    real u[DEPTH][ROWS], g[DEPTH][ROWS], first[ROWS], last[ROWS];
    if (exists) {
        const long long at = origin + y * pitch + x;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            first[r] = __ldg(a.from + at + r * pitch - plane_pitch);
            last[r] = __ldg(a.from + at + r * pitch + DEPTH * plane_pitch);
#pragma unroll
            for (int z = 0; z < DEPTH; z++) {
                u[z][r] = __ldg(a.from + at + r * pitch + z * plane_pitch);
                g[z][r] = __ldg(a.g + at + r * pitch + z * plane_pitch);
            }
        }
    }
    // The halo beside the tile; that before and behind it stays in registers.
    const int around = 2 * (width + height);
#pragma unroll 1
    for (int n = thread; n < around * DEPTH; n += blockDim.x) {
        int z = n / around, place = n % around, side = place / 2;
        bool is_next = place % 2;
        int at_x = side < height ? (is_next ? width : -1) : side - height;
        int at_y = side < height ? side : (is_next ? height : -1);
        values[z * plane + (at_y + 1) * stride + at_x + 1] =
            __ldg(a.from + origin + z * plane_pitch + at_y * pitch + at_x);
    }
    auto store = [&]() {
#pragma unroll
        for (int z = 0; z < DEPTH; z++) {
#pragma unroll
            for (int r = 0; r < ROWS; r++) values[z * plane + own + r * stride] = u[z][r];
        }
    };
    if (exists) store();
    __syncthreads();

#pragma unroll 1
    for (int sweep = 0; sweep < a.k; sweep++) {
        if (exists) {
            real below[ROWS];
#pragma unroll
            for (int r = 0; r < ROWS; r++) below[r] = first[r];
#pragma unroll
            for (int z = 0; z < DEPTH; z++) {
                const real *here = values + own + z * plane;
                real y_prev = here[-stride], y_last = here[ROWS * stride];
#pragma unroll
                for (int r = 0; r < ROWS; r++) {
                    real above = z + 1 < DEPTH ? u[z + 1 < DEPTH ? z + 1 : z][r] : last[r];
                    real y_next = r + 1 < ROWS ? u[z][r + 1 < ROWS ? r + 1 : r] : y_last;
                    real before = u[z][r];
                    real jacobi = update(a.weights, here[r * stride - 1], here[r * stride + 1], y_prev, y_next,
                                         below[r], above, g[z][r]);
                    u[z][r] = damped<IS_DAMPED>(omega, before, jacobi);
                    y_prev = before, below[r] = before;
                }
            }
        }
        if (a.squares && sweep == 0) {
            // The iterate before is still in shared memory.
            double sum = 0;
            Box box(a);
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                bool is_own = exists && y + r >= thread / width * ROWS && box.owns_column(x, y + r);
#pragma unroll
                for (int z = 0; z < DEPTH; z++) {
                    if (is_own && box.owns_plane(z)) {
                        add_square(sum, u[z][r] - values[z * plane + own + r * stride]);
                    }
                }
            }
            write_sum_of_lanes(sum, a.squares + blockIdx.x * ((blockDim.x + WARP - 1) / WARP) + thread / WARP);
        }
        if (sweep + 1 == a.k) break;
        __syncthreads();
        if (exists) store();
        __syncthreads();
    }

    Box box(a);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (!exists || !box.owns_column(x, y + r)) continue;
        real *to = a.to + box.origin + (y + r) * pitch + x;
#pragma unroll
        for (int z = 0; z < DEPTH; z++) {
            if (box.owns_plane(z)) to[z * plane_pitch] = u[z][r];
        }
    }
}

#define COLUMNS(name, THREADS, DEPTH)                                                                            \
    extern "C" __global__ void __launch_bounds__(THREADS) name(const __grid_constant__ CycleArguments a) {         \
        columns<DEPTH, false>(a, 1);                                                                              \
    }                                                                                                             \
    extern "C" __global__ void __launch_bounds__(THREADS) name##_damped(const __grid_constant__ DampedArguments a) { \
        columns<DEPTH, true>(a.cycle, a.omega);                                                                   \
    }

// The most threads are those of `COLUMNS` in `solver/cuda/shared_3d.rs`.
COLUMNS(deep_8, 256, 8)
COLUMNS(deep_16, 256, 16)

/// Calls `point(x, row)` for the points of some rows that fall to a thread.
template <typename Point> __device__ __forceinline__ void for_each(int width, int rows, Point point) {
#pragma unroll 1
    for (int row = threadIdx.y; row < rows; row += blockDim.y) {
#pragma unroll 1
        for (int x = threadIdx.x; x < width; x += blockDim.x) point(x, row);
    }
}

/// One cycle of any tile. The right-hand side is in shared memory, too, if `split.x` is 1.
template <bool IS_DAMPED> __device__ __forceinline__ void pass_over(const CycleArguments &a, real omega) {
    real *values = reinterpret_cast<real *>(memory);
    const int width = a.x.tile, height = a.y.tile, depth = a.z.tile;
    const int stride = width + 2, plane = stride * (height + 2), copy = plane * (depth + 2);
    const long long origin = Box(a).origin;
    const bool keeps_g = a.split.x;
    int here = 0;

    for_each(stride, (height + 2) * (depth + 2), [&](int x, int row) {
        int y = row % (height + 2), z = row / (height + 2);
        real value = __ldg(a.from + origin + (z - 1) * a.grid.plane_pitch + (y - 1) * a.grid.pitch + x - 1);
        values[row * stride + x] = values[copy + row * stride + x] = value;
    });
    auto global = [&](int x, int row) {
        return origin + row / height * a.grid.plane_pitch + row % height * a.grid.pitch + x;
    };
    if (keeps_g) {
        for_each(width, height * depth, [&](int x, int row) {
            values[2 * copy + row * width + x] = __ldg(a.g + global(x, row));
        });
    }
    __syncthreads();

    auto index = [&](int x, int row) {
        return (row / height + 1) * plane + (row % height + 1) * stride + x + 1;
    };
#pragma unroll 1
    for (int sweep = 0; sweep < a.k; sweep++) {
        for_each(width, height * depth, [&](int x, int row) {
            int at = index(x, row);
            const real *own = values + here + at;
            real g = keeps_g ? values[2 * copy + row * width + x] : __ldg(a.g + global(x, row));
            real jacobi =
                update(a.weights, own[-1], own[1], own[-stride], own[stride], own[-plane], own[plane], g);
            values[copy - here + at] = damped<IS_DAMPED>(omega, own[0], jacobi);
        });
        __syncthreads();
        here = copy - here;
        if (a.squares && sweep == 0) {
            // Both iterates are still there.
            Norms norms = {};
            Box box(a);
            for_each(width, height * depth, [&](int x, int row) {
                int at = index(x, row);
                if (box.owns_column(x, row % height) && box.owns_plane(row / height)) {
                    add_square(norms.squares, values[here + at] - values[copy - here + at]);
                }
            });
            norms = of_block(norms);
            if (threadIdx.x == 0 && threadIdx.y == 0) a.squares[blockIdx.x] = norms.squares;
            __syncthreads();
        }
    }

    Box box(a);
    for_each(width, height * depth, [&](int x, int row) {
        if (box.owns_column(x, row % height) && box.owns_plane(row / height)) {
            a.to[global(x, row)] = values[here + index(x, row)];
        }
    });
}

extern "C" __global__ void __launch_bounds__(1024, 1) any_box(const __grid_constant__ CycleArguments a) {
    pass_over<false>(a, 1);
}

extern "C" __global__ void __launch_bounds__(1024, 1) any_box_damped(const __grid_constant__ DampedArguments a) {
    pass_over<true>(a.cycle, a.omega);
}
