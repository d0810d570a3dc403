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
          Weights weights, Axis along_x, Axis along_y, int k, const double *__restrict__ exact,
          Norms *__restrict__ norms) {
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
        if (norms && sweep == 0) {
            // Both iterates are there.
            Norms found = {};
            Owned owned(grid, along_x, along_y);
            points.each([&](int x, int y) {
                int at = place(x, y);
                if (owned.has(x, y)) found.first_sweep(values[here + at] - values[stored - here + at]);
            });
            found = of_block(found);
            if (threadIdx.x == 0 && threadIdx.y == 0) norms[blockIdx.x] = found;
            __syncthreads();
        }
    }

    Owned owned(grid, along_x, along_y);
    points.each([&](int x, int y) {
        if (owned.has(x, y)) to[owned.origin + y * grid.pitch + x] = values[here + place(x, y)];
    });
    if (norms) {
        Norms found = {};
        points.each([&](int x, int y) {
            if (!owned.has(x, y)) return;
            long long at = owned.origin + y * grid.pitch + x;
            real value = values[here + place(x, y)];
            found.whole_cycle(value - from[at]);
            if (exact) found.distance(value - exact[at]);
        });
        found = of_block(found);
        if (threadIdx.x == 0 && threadIdx.y == 0) {
            norms[blockIdx.x].change = found.change;
            norms[blockIdx.x].error = found.error;
        }
    }
}
