// The papers' kernel: a block a tile, in shared memory. One thread a point where the tile has at
// most 1024, several points a thread where it has more.
//
// Shared memory (paper): two copies of the tile with its ring, and its right-hand side.
#include "stencil.cuh"

constexpr int RING_ROWS = PLANE ? 1 : 0;

extern "C" __global__ void __launch_bounds__(1024, 1)
    cycle(const real *__restrict__ from, const real *__restrict__ g, real *__restrict__ to, Grid grid,
          Weights weights, Axis along_x, Axis along_y, int k, const double *__restrict__ exact,
          Norms *__restrict__ norms) {
    extern __shared__ double memory[];
    int width = along_x.tile, height = PLANE ? along_y.tile : 1;
    int stride = width + 2;
    int stored = stride * (height + 2 * RING_ROWS);
    real *here = reinterpret_cast<real *>(memory);
    real *there = here + stored;
    real *right = there + stored;

    int tile_x = blockIdx.x % along_x.count, tile_y = blockIdx.x / along_x.count;
    // Tiles of lines lie in one copy each.
    int x0 = along_x.start(tile_x), y0 = PLANE ? along_y.start(tile_y) : tile_y;
    long long origin = y0 * grid.pitch + x0;

    for (int y = threadIdx.y; y < height + 2 * RING_ROWS; y += blockDim.y) {
        for (int x = threadIdx.x; x < stride; x += blockDim.x) {
            bool corner = (x == 0 || x == stride - 1) && PLANE && (y == 0 || y == height + 1);
            real value = corner ? real(0) : from[origin + (y - RING_ROWS) * grid.pitch + x - 1];
            here[y * stride + x] = value;
            there[y * stride + x] = value;
        }
    }
    for (int y = threadIdx.y; y < height; y += blockDim.y) {
        for (int x = threadIdx.x; x < width; x += blockDim.x) {
            right[y * width + x] = g[origin + y * grid.pitch + x];
        }
    }
    __syncthreads();

    int left = along_x.border(tile_x) - x0, end_x = along_x.border(tile_x + 1) - x0;
    int top = PLANE ? along_y.border(tile_y) - y0 : 0;
    int end_y = PLANE ? along_y.border(tile_y + 1) - y0 : 1;

    // The point of a thread that has one alone.
    int one_x = threadIdx.x, one_y = threadIdx.y;
    bool is_one = width <= blockDim.x && height <= blockDim.y;
    bool is_inside = one_x < width && one_y < height;
    int one = is_inside ? (one_y + RING_ROWS) * stride + one_x + 1 : stride + 1;
    real one_right = is_inside ? right[one_y * width + one_x] : real(0);

    Norms found = {};
    for (int sweep = 0; sweep < k; sweep++) {
        auto point = [&](int x, int y, int at, real right) {
            const real *own = here + at;
            real south = PLANE ? own[-stride] : 0, north = PLANE ? own[stride] : 0;
            real value = update(weights, own[-1], own[1], south, north, right);
            there[at] = value;
            bool owned = left <= x && x < end_x && top <= y && y < end_y;
            if (norms && sweep == 0 && owned) found.first_sweep(value - *own);
        };
        if (is_one) {
            if (is_inside) point(one_x, one_y, one, one_right);
        } else {
            for (int y = threadIdx.y; y < height; y += blockDim.y) {
                for (int x = threadIdx.x; x < width; x += blockDim.x) {
                    point(x, y, (y + RING_ROWS) * stride + x + 1, right[y * width + x]);
                }
            }
        }
        __syncthreads();
        real *swapped = here;
        here = there;
        there = swapped;
    }

    for (int y = top + threadIdx.y; y < end_y; y += blockDim.y) {
        for (int x = left + threadIdx.x; x < end_x; x += blockDim.x) {
            real value = here[(y + RING_ROWS) * stride + x + 1];
            long long at = origin + y * grid.pitch + x;
            to[at] = value;
            if (norms) {
                found.whole_cycle(value - from[at]);
                if (exact) found.distance(value - exact[at]);
            }
        }
    }
    if (norms) {
        found = of_block(found);
        if (threadIdx.x == 0 && threadIdx.y == 0) norms[blockIdx.x] = found;
    }
}
