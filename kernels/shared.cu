// The papers' kernel: a block a tile, in shared memory. One thread a point where the tile has at
// most 1024, several points a thread where it has more.
//
// Shared memory (paper): two copies of the tile with its ring, and its right-hand side.
#include "stencil.cuh"

constexpr int RING_ROWS = PLANE ? 1 : 0;

extern __shared__ double memory[];

/// What a tile owns, and where it lies. Worked out when it is needed: in registers all the time, it
/// would be in the way.
struct Owned {
    int left, end_x, top, end_y;
    long long origin;

    __device__ __forceinline__ Owned(const Grid &grid, const Axis &along_x, const Axis &along_y) {
        int tile;
        asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(tile));
        int tile_x = tile % along_x.count, tile_y = tile / along_x.count;
        // Tiles of lines lie in one copy each.
        int x0 = along_x.start(tile_x), y0 = PLANE ? along_y.start(tile_y) : tile_y;
        origin = y0 * grid.pitch + x0;
        left = along_x.border(tile_x) - x0;
        end_x = along_x.border(tile_x + 1) - x0;
        top = PLANE ? along_y.border(tile_y) - y0 : 0;
        end_y = PLANE ? along_y.border(tile_y + 1) - y0 : 1;
    }

    __device__ __forceinline__ bool has(int x, int y) const {
        return left <= x && x < end_x && top <= y && y < end_y;
    }
};

/// Threads that add up what the threads of a block found out, and the warps that they are.
constexpr int ADDING = 128;

/// Tells the sum of squares of the threads of a block: of each of its first warps a part. The tile is
/// no longer needed.
__device__ __forceinline__ void tell_of_block(double sum, double *squares) {
    int threads = blockDim.x, thread = threadIdx.x, adding = min(threads, ADDING);
    if (threads > ADDING) {
        // Much cheaper than shuffles in all warps.
        __syncthreads();
        memory[thread] = sum;
        __syncthreads();
        if (thread >= ADDING) return;
        for (int i = thread + ADDING; i < threads; i += ADDING) sum += memory[i];
    }
    tell_squares(sum, squares + blockIdx.x * (adding / WARP) + thread / WARP);
}

/// The column of POINTS points that a thread keeps. The last of a tile are moved up so that all are
/// whole: the first few points of such a one are also another's, who looks after them.
template <int POINTS> struct Column {
    int x, y, others;
    /// There may be more threads than columns.
    bool is_there;

    __device__ __forceinline__ Column(int width, int height) {
        int thread;
        asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
        x = PLANE ? thread % width : thread;
        int first = PLANE ? thread / width * POINTS : 0;
        y = POINTS > 1 ? min(first, height - POINTS) : first;
        others = first - y;
        is_there = first < height && x < width;
    }

    /// Its points that the tile owns: a bit each.
    __device__ __forceinline__ unsigned owned(const Owned &owned) const {
        unsigned points = 0;
#pragma unroll
        for (int j = 0; j < POINTS; j++) {
            if (is_there && j >= others && owned.has(x, y + j)) points |= 1u << j;
        }
        return points;
    }
};

/// A cycle in which each thread keeps POINTS points, one below the other, and, if it KEEPS_RIGHT, their
/// right-hand side; otherwise that lies in shared memory.
template <int POINTS, bool KEEPS_RIGHT>
__device__ __forceinline__ void cycle(const real *__restrict__ from, const real *__restrict__ g,
                                      real *__restrict__ to, const Grid &grid, const Weights &weights,
                                      const Axis &along_x, const Axis &along_y, int k,
                                      double *__restrict__ squares) {
    // Places in shared memory are numbers: of a pointer that changes, the compiler would no longer
    // know which memory it points to.
    real *values = reinterpret_cast<real *>(memory);
    int width = along_x.tile, height = PLANE ? along_y.tile : 1, pitch = grid.pitch;
    int stride = width + 2, stored = stride * (height + 2 * RING_ROWS);
    Column<POINTS> column(width, height);
    int here = (column.y + RING_ROWS) * stride + column.x + 1, there = stored + here;

    long long origin = Owned(grid, along_x, along_y).origin;
    int right_here = 2 * stored + column.y * width + column.x;
    real u[POINTS], right[POINTS];
    if (column.is_there) {
        long long first = origin + (long long)column.y * pitch + column.x;
#pragma unroll
        for (int j = 0; j < POINTS; j++) {
            u[j] = from[first + (long long)j * pitch];
            right[j] = g[first + (long long)j * pitch];
        }
    }
    auto surround = [&](int x, int y) {
        int at = (y + RING_ROWS) * stride + x + 1;
        values[at] = values[stored + at] = from[origin + (long long)y * pitch + x];
    };
#pragma unroll 1
    for (int y = threadIdx.x; y < height; y += blockDim.x) surround(-1, y), surround(width, y);
    if (PLANE) {
#pragma unroll 1
        for (int x = threadIdx.x; x < width; x += blockDim.x) surround(x, -1), surround(x, height);
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
    if (column.is_there) {
        store(here);
#pragma unroll
        for (int j = 0; j < POINTS; j++) {
            if (!KEEPS_RIGHT && j >= column.others) values[right_here + j * width] = right[j];
        }
    }
    __syncthreads();

    double sum = 0;
    auto sweep = [&](bool is_measured, unsigned owned) {
        if (column.is_there) {
            real before = PLANE ? values[here - stride] : real(0);
            real last = PLANE ? values[here + POINTS * stride] : real(0);
#pragma unroll
            for (int j = 0; j < POINTS; j++) {
                real own = u[j], after = j + 1 < POINTS ? u[j + 1] : last;
                real west = values[here + j * stride - 1], east = values[here + j * stride + 1];
                real g = KEEPS_RIGHT ? right[j] : values[right_here + j * width];
                u[j] = update(weights, west, east, before, after, g);
                if (is_measured) add_square_if(owned & 1u << j, sum, u[j] - own);
                before = own;
            }
            // All are read before the first is written: the compiler cannot know that these are others.
            store(there);
        }
        __syncthreads();
        int other = here;
        here = there;
        there = other;
    };
    int sweeps = k;
    if (squares) {
        sweep(true, column.owned(Owned(grid, along_x, along_y)));
        sweeps--;
    }
#pragma unroll 1
    for (; sweeps > 0; sweeps--) sweep(false, 0);

    // Worked out anew, as what is owned is.
    Owned owned(grid, along_x, along_y);
    Column<POINTS> again(width, height);
    unsigned points = again.owned(owned);
    long long at = owned.origin + (long long)again.y * pitch + again.x;
#pragma unroll
    for (int j = 0; j < POINTS; j++) {
        if (points & 1u << j) to[at + (long long)j * pitch] = u[j];
    }
    if (squares) tell_of_block(sum, squares);
}

#define KERNEL(name, POINTS, KEEPS_RIGHT, THREADS, BLOCKS)                                                         \
    extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)                                      \
        name(const real *__restrict__ from, const real *__restrict__ g, real *__restrict__ to,         \
             Grid grid, Weights weights, Axis along_x, Axis along_y, int k,                            \
             double *__restrict__ squares) {                                                           \
        cycle<POINTS, KEEPS_RIGHT>(from, g, to, grid, weights, along_x, along_y, k, squares);          \
    }

KERNEL(one_point, 1, true, 1024, 2)
#if FORM >= PLANE_ISOTROPIC
KERNEL(eight_points, 8, true, 512, 2)
KERNEL(twelve_points, 12, false, 768, 1)
#endif

/// The points of a tile that a thread looks at: one, or several, a block apart.
struct Share {
    int width, height;

    template <typename Point> __device__ __forceinline__ void each(Point point) const {
        // Not unrolled: two blocks of 1024 threads have 32 registers a thread.
#pragma unroll 1
        for (int y = threadIdx.y; y < height; y += blockDim.y) {
#pragma unroll 1
            for (int x = threadIdx.x; x < width; x += blockDim.x) point(x, y);
        }
    }
};

extern "C" __global__ void __launch_bounds__(1024, 2)
    cycle(const real *__restrict__ from, const real *__restrict__ g, real *__restrict__ to, Grid grid,
          Weights weights, Axis along_x, Axis along_y, int k, double *__restrict__ squares) {
    // Places in shared memory are numbers: of a pointer that changes, the compiler would no longer
    // know which memory it points to.
    real *values = reinterpret_cast<real *>(memory);
    int width = along_x.tile, height = PLANE ? along_y.tile : 1;
    int stride = width + 2, stored = stride * (height + 2 * RING_ROWS);
    int here = 0, right = 2 * stored;

    long long origin = Owned(grid, along_x, along_y).origin;
    Share points = {width, height};

    Share{stride, height + 2 * RING_ROWS}.each([&](int x, int y) {
        bool corner = (x == 0 || x == stride - 1) && PLANE && (y == 0 || y == height + 1);
        real value = corner ? real(0) : from[origin + (y - RING_ROWS) * grid.pitch + x - 1];
        values[y * stride + x] = value;
        values[stored + y * stride + x] = value;
    });
    points.each([&](int x, int y) { values[right + y * width + x] = g[origin + y * grid.pitch + x]; });
    __syncthreads();

    auto place = [&](int x, int y) { return (y + RING_ROWS) * stride + x + 1; };
    auto updated = [&](int at, real g) {
        const real *own = values + here + at;
        real south = PLANE ? own[-stride] : 0, north = PLANE ? own[stride] : 0;
        return update(weights, own[-1], own[1], south, north, g);
    };
    // The point of a thread that has one alone.
    bool is_one = width <= blockDim.x && height <= blockDim.y;
    bool has_one = is_one && threadIdx.x < width && threadIdx.y < height;
    int one = place(threadIdx.x, threadIdx.y);
    int one_right = right + threadIdx.y * width + threadIdx.x;

#pragma unroll 1
    for (int sweep = 0; sweep < k; sweep++) {
        if (has_one) {
            values[stored - here + one] = updated(one, values[one_right]);
        } else if (!is_one) {
            points.each([&](int x, int y) {
                int at = place(x, y);
                values[stored - here + at] = updated(at, values[right + y * width + x]);
            });
        }
        __syncthreads();
        here = stored - here;
        if (squares && sweep == 0) {
            // Both iterates are there.
            Norms found = {};
            Owned owned(grid, along_x, along_y);
            points.each([&](int x, int y) {
                int at = place(x, y);
                if (owned.has(x, y)) add_square(found.squares, values[here + at] - values[stored - here + at]);
            });
            found = of_block(found);
            if (threadIdx.x == 0 && threadIdx.y == 0) squares[blockIdx.x] = found.squares;
            __syncthreads();
        }
    }

    Owned owned(grid, along_x, along_y);
    points.each([&](int x, int y) {
        if (owned.has(x, y)) to[owned.origin + y * grid.pitch + x] = values[here + place(x, y)];
    });
}
