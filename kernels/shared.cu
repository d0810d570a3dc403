// The kernel of the papers: one block of threads per tile, which stays in shared memory for the whole cycle.
//
// A thread keeps a column of one, eight or twelve points; tiles too wide for that go to `any_tile`, whose
// threads pass over the tile several times per sweep.
//
// Shared memory: two copies of the tile with its halo, which sweeps go back and forth between, and its
// right-hand side, unless threads keep that in registers.
// Variants: 1d 2d per-point
#include "norms.cuh"

constexpr int HALO_ROWS = IS_2D ? 1 : 0;

extern __shared__ double memory[];

/// Where the tile of a block lies, and which of its points it owns. Computed when it is needed, and not kept in
/// registers.
struct Tile {
    int left, right, top, bottom;
    long long origin;

    __device__ __forceinline__ Tile(const CycleArguments a) {
        int tile;
        asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(tile));
        tile += a.first;
        int tile_x = tile % a.x.count, tile_y = tile / a.x.count;
        // In 1D, `tile_y` is the system of the batch.
        int x0 = a.x.start(tile_x), y0 = IS_2D ? a.y.start(tile_y) : tile_y;
        origin = y0 * a.grid.pitch + x0;
        left = a.x.border(tile_x) - x0;
        right = a.x.border(tile_x + 1) - x0;
        top = IS_2D ? a.y.border(tile_y) - y0 : 0;
        bottom = IS_2D ? a.y.border(tile_y + 1) - y0 : 1;
    }

    __device__ __forceinline__ bool owns(int x, int y) const {
        return left <= x && x < right && top <= y && y < bottom;
    }
};

/// Threads that add up the sums of all threads of a block. `ADDING` of `solver/cuda/shared.rs`.
constexpr int ADDING = 128;

/// Writes the sums of squares of the first ADDING / WARP warps of a block, which together are the sum of all
/// its threads. Overwrites the tile in shared memory.
__device__ __forceinline__ void write_sums_of_block(double sum, double *squares) {
    int threads = blockDim.x, thread = threadIdx.x, adding = min(threads, ADDING);
    if (threads > ADDING) {
        // Much cheaper than shuffles in every warp.
        __syncthreads();
        memory[thread] = sum;
        __syncthreads();
        if (thread >= ADDING) return;
        for (int i = thread + ADDING; i < threads; i += ADDING) sum += memory[i];
    }
    write_sum_of_lanes(sum, squares + blockIdx.x * (adding / WARP) + thread / WARP);
}

/// The column of POINTS points that a thread keeps. The last columns of a tile are moved up so that all are
/// full: their first points belong to another thread, too, which stores them.
template <int POINTS> struct Column {
    int x, y, others;
    /// There may be more threads than columns.
    bool exists;

    __device__ __forceinline__ Column(int width, int height) {
        int thread;
        asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
        x = IS_2D ? thread % width : thread;
        int first = IS_2D ? thread / width * POINTS : 0;
        y = POINTS > 1 ? min(first, height - POINTS) : first;
        others = first - y;
        exists = first < height && x < width;
    }

    /// The points that the tile owns and this thread stores, one bit each.
    __device__ __forceinline__ unsigned owned(const Tile &tile) const {
        unsigned points = 0;
#pragma unroll
        for (int j = 0; j < POINTS; j++) {
            if (exists && j >= others && tile.owns(x, y + j)) points |= 1u << j;
        }
        return points;
    }
};

/// One cycle in which each thread keeps POINTS points of a column, and, if KEEPS_G, their right-hand side.
template <int POINTS, bool KEEPS_G, bool IS_DAMPED> __device__ __forceinline__ void cycle(const CycleArguments a, real omega) {
    // Indices, not pointers: of a pointer that changes, the compiler does not know that it points to shared
    // memory.
    real *values = reinterpret_cast<real *>(memory);
    int width = a.x.tile, height = IS_2D ? a.y.tile : 1, pitch = a.grid.pitch;
    int stride = width + 2, copy = stride * (height + 2 * HALO_ROWS);
    Column<POINTS> column(width, height);
    int here = (column.y + HALO_ROWS) * stride + column.x + 1, there = copy + here;

    long long origin = Tile(a).origin;
    int g_here = 2 * copy + column.y * width + column.x;
    real u[POINTS], g[POINTS];
    KeptWeights<POINTS> weights;
    if (column.exists) {
        long long first = origin + (long long)column.y * pitch + column.x;
#pragma unroll
        for (int j = 0; j < POINTS; j++) {
            u[j] = __ldg(a.from + first + (long long)j * pitch);
            g[j] = __ldg(a.g + first + (long long)j * pitch);
            weights.load(a.weights, j, first + (long long)j * pitch);
        }
    }
    auto load_halo = [&](int x, int y) {
        int at = (y + HALO_ROWS) * stride + x + 1;
        values[at] = values[copy + at] = __ldg(a.from + origin + (long long)y * pitch + x);
    };
#pragma unroll 1
    for (int y = threadIdx.x; y < height; y += blockDim.x) load_halo(-1, y), load_halo(width, y);
    if (IS_2D) {
#pragma unroll 1
        for (int x = threadIdx.x; x < width; x += blockDim.x) load_halo(x, -1), load_halo(x, height);
    }
    auto store = [&](int at) {
        if (column.others == 0) {
#pragma unroll
            for (int j = 0; j < POINTS; j++) values[at + j * stride] = u[j];
        } else {
#pragma unroll
            for (int j = 0; j < POINTS; j++) {
                if (j >= column.others) values[at + j * stride] = u[j];
            }
        }
    };
    if (column.exists) {
        store(here);
#pragma unroll
        for (int j = 0; j < POINTS; j++) {
            if (!KEEPS_G && j >= column.others) values[g_here + j * width] = g[j];
        }
    }
    __syncthreads();

    double sum = 0;
    auto sweep = [&](bool is_measured, unsigned owned) {
        if (column.exists) {
            real y_prev = IS_2D ? values[here - stride] : real(0);
            real last = IS_2D ? values[here + POINTS * stride] : real(0);
#pragma unroll
            for (int j = 0; j < POINTS; j++) {
                real own = u[j], y_next = j + 1 < POINTS ? u[j + 1] : last;
                real x_prev = values[here + j * stride - 1], x_next = values[here + j * stride + 1];
                u[j] = update(weights.of(a.weights, j), x_prev, x_next, y_prev, y_next,
                              KEEPS_G ? g[j] : values[g_here + j * width]);
                u[j] = damped<IS_DAMPED>(omega, own, u[j]);
                if (is_measured) {
                    // Computed anew, to save registers during the other sweeps.
                    long long at = PER_POINT ? Tile(a).origin + (long long)(column.y + j) * pitch + column.x : 0;
                    add_square_if(owned & 1u << j, sum, a.weights.measured(u[j] - own, at));
                }
                y_prev = own;
            }
            // Only now: the compiler does not know that the two copies do not overlap, and would wait for
            // each store before the next load.
            store(there);
        }
        __syncthreads();
        int other = here;
        here = there;
        there = other;
    };
    int sweeps = a.k;
    if (a.squares) {
        sweep(true, column.owned(Tile(a)));
        sweeps--;
    }
#pragma unroll 1
    for (; sweeps > 0; sweeps--) sweep(false, 0);

    // Computed again, to save registers during the sweeps.
    Tile tile(a);
    Column<POINTS> again(width, height);
    unsigned owned = again.owned(tile);
    long long at = tile.origin + (long long)again.y * pitch + again.x;
#pragma unroll
    for (int j = 0; j < POINTS; j++) {
        if (owned & 1u << j) a.to[at + (long long)j * pitch] = u[j];
    }
    if (a.squares) write_sums_of_block(sum, a.squares);
}

#define KERNEL(name, POINTS, KEEPS_G, THREADS, BLOCKS)                                                        \
    extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) name(const CycleArguments arguments) {        \
        cycle<POINTS, KEEPS_G, false>(arguments, 1);                                                           \
    }                                                                                                          \
    extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) name##_damped(const DampedArguments arguments) { \
        cycle<POINTS, KEEPS_G, true>(arguments.cycle, arguments.omega);                                        \
    }

/// Blocks of a multiprocessor: rows of their own take the registers of one.
constexpr int BLOCKS = PER_POINT ? 1 : 2;

KERNEL(one_point, 1, true, 1024, BLOCKS)
#if FORM >= FORM_2D_ISOTROPIC && !PER_POINT
KERNEL(eight_points, 8, true, 512, 2)
KERNEL(twelve_points, 12, false, 768, 1)
#endif

/// Calls `point(x, y)` for the points of a rectangle that fall to a thread.
template <typename Point> __device__ __forceinline__ void for_each(int width, int height, Point point) {
    // Not unrolled: two blocks of 1024 threads have 32 registers per thread.
#pragma unroll 1
    for (int y = threadIdx.y; y < height; y += blockDim.y) {
#pragma unroll 1
        for (int x = threadIdx.x; x < width; x += blockDim.x) point(x, y);
    }
}

/// One cycle of a tile with more points than a block has threads, wide and flat.
template <bool IS_DAMPED> __device__ __forceinline__ void pass_over(const CycleArguments a, real omega) {
    // Indices, as in `cycle`.
    real *values = reinterpret_cast<real *>(memory);
    int width = a.x.tile, height = IS_2D ? a.y.tile : 1;
    int stride = width + 2, copy = stride * (height + 2 * HALO_ROWS);
    int here = 0, g_here = 2 * copy;

    long long origin = Tile(a).origin;
    for_each(stride, height + 2 * HALO_ROWS, [&](int x, int y) {
        bool is_corner = (x == 0 || x == stride - 1) && IS_2D && (y == 0 || y == height + 1);
        real value = is_corner ? real(0) : __ldg(a.from + origin + (y - HALO_ROWS) * a.grid.pitch + x - 1);
        values[y * stride + x] = value;
        values[copy + y * stride + x] = value;
    });
    for_each(width, height, [&](int x, int y) {
        values[g_here + y * width + x] = __ldg(a.g + origin + y * a.grid.pitch + x);
    });
    __syncthreads();

    auto index = [&](int x, int y) { return (y + HALO_ROWS) * stride + x + 1; };
#pragma unroll 1
    for (int sweep = 0; sweep < a.k; sweep++) {
        for_each(width, height, [&](int x, int y) {
            int at = index(x, y);
            const real *own = values + here + at;
            real y_prev = IS_2D ? own[-stride] : real(0), y_next = IS_2D ? own[stride] : real(0);
            real jacobi = update(a.weights.at(origin + y * a.grid.pitch + x), own[-1], own[1], y_prev, y_next,
                                 values[g_here + y * width + x]);
            values[copy - here + at] = damped<IS_DAMPED>(omega, own[0], jacobi);
        });
        __syncthreads();
        here = copy - here;
        if (a.squares && sweep == 0) {
            // Both iterates are still there.
            Norms norms = {};
            Tile tile(a);
            for_each(width, height, [&](int x, int y) {
                int at = index(x, y);
                real change = values[here + at] - values[copy - here + at];
                long long point = tile.origin + y * a.grid.pitch + x;
                if (tile.owns(x, y)) add_square(norms.squares, a.weights.measured(change, point));
            });
            norms = of_block(norms);
            if (threadIdx.x == 0 && threadIdx.y == 0) a.squares[blockIdx.x] = norms.squares;
            __syncthreads();
        }
    }

    Tile tile(a);
    for_each(width, height, [&](int x, int y) {
        if (tile.owns(x, y)) a.to[tile.origin + y * a.grid.pitch + x] = values[here + index(x, y)];
    });
}

extern "C" __global__ void __launch_bounds__(1024, BLOCKS) any_tile(const CycleArguments a) {
    pass_over<false>(a, 1);
}

extern "C" __global__ void __launch_bounds__(1024, BLOCKS) any_tile_damped(const DampedArguments a) {
    pass_over<true>(a.cycle, a.omega);
}
