// One cycle of 1D tiles in their sine basis, with FP64 tensor cores: all k subiterations at once (the mathematics is in
// `solver/spectral.rs`).
//
// In 1D the two transforms and the factors between them are one matrix. Of mirrored points, the sums see the modes of odd
// number alone and the differences those of even number, so that each half has an H x H matrix M, H = T / 2. A block takes
// TILES tiles at a time; their halves are TILES x H matrices in shared memory, which are multiplied by M from the right: 16
// tiles are operand A of the tensor core, and each warp keeps COLUMNS columns of the M of its half in registers as operand B.
// A pair in shared memory has the values of tiles t and t + 8 of such 16 at the same point: a half of operand A, and of
// what comes out.
//
// Tables, in pairs of doubles: M of either half as the lanes of the warps load it. `solver/cuda/spectral/tables.rs` writes them.
// Variants: f64 1d symmetric sm_90
#include "lines.cuh"
#include "norms.cuh"
#include "tensor.cuh"

/// How tiles of a side are worked on.
template <int SIDE_, int COLUMNS_, int TILES_, int RESIDENT_> struct Plan {
    static constexpr int SIDE = SIDE_, HALF = SIDE / 2;
    /// Blocks of a multiprocessor.
    static constexpr int RESIDENT = RESIDENT_;
    /// Tiles of a block at a time, in groups of 16.
    static constexpr int TILES = TILES_, GROUPS = TILES / 16;
    /// Columns of a warp; warps of a half.
    static constexpr int COLUMNS = COLUMNS_, WARPS = HALF / COLUMNS;
    static constexpr int THREADS = 2 * WARPS * WARP;
    /// Pairs from those of one tile to those of the next, so that eight lie in different banks.
    static constexpr int STRIDE = HALF + 4;
    /// Pairs of a half.
    static constexpr int SIZE = TILES / 2 * STRIDE;
    /// Steps of 8 points; blocks of 8 columns.
    static constexpr int STEPS = HALF / 8, BLOCKS = COLUMNS / 8;
};

extern __shared__ double2 memory[];

/// C += A B: `low` and `high` are A of the first and the second four columns, each of rows lane / 4 and lane / 4 + 8;
/// `first` and `second` are the rows of C.
__device__ __forceinline__ void multiply(double2 &first, double2 &second, double2 low, double2 high, double2 b) {
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+d"(first.x), "+d"(first.y), "+d"(second.x), "+d"(second.y)
        : "d"(low.x), "d"(low.y), "d"(high.x), "d"(high.y), "d"(b.x), "d"(b.y));
}

/// The part of M that a warp multiplies by.
template <class P> struct Columns {
    double2 pairs[P::STEPS][P::BLOCKS];

    __device__ __forceinline__ Columns(const double2 *tables) {
        const double2 *own = tables + threadIdx.x / WARP * (P::STEPS * P::BLOCKS * WARP) + threadIdx.x % WARP;
#pragma unroll
        for (int k = 0; k < P::STEPS; k++) {
#pragma unroll
            for (int n = 0; n < P::BLOCKS; n++) pairs[k][n] = __ldg(own + (k * P::BLOCKS + n) * WARP);
        }
    }
};

/// Multiplies the halves of all tiles by M, in place.
template <class P> __device__ __forceinline__ void transform(const Columns<P> &columns) {
    int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, row = lane / 4, place = lane % 4;
    double2 *half = memory + warp / P::WARPS * P::SIZE + row * P::STRIDE;
    unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(half + place));
    double2 sums[P::GROUPS][P::BLOCKS][2] = {};
#pragma unroll
    for (int k = 0; k < P::STEPS; k++) {
#pragma unroll
        for (int group = 0; group < P::GROUPS; group++) {
            unsigned at = from + (group * 8 * P::STRIDE + 8 * k) * int(sizeof(double2));
            double2 low = load_pair(at), high = load_pair(at + 4 * sizeof(double2));
#pragma unroll
            for (int n = 0; n < P::BLOCKS; n++) {
                multiply(sums[group][n][0], sums[group][n][1], low, high, columns.pairs[k][n]);
            }
        }
    }
    // Others still read.
    __syncthreads();
#pragma unroll
    for (int group = 0; group < P::GROUPS; group++) {
#pragma unroll
        for (int n = 0; n < P::BLOCKS; n++) {
            double2 *at = half + group * 8 * P::STRIDE + warp % P::WARPS * P::COLUMNS + 8 * n + 2 * place;
            double2 first = sums[group][n][0], second = sums[group][n][1];
            at[0] = make_double2(first.x, second.x);
            at[1] = make_double2(first.y, second.y);
        }
    }
}

/// What a thread has of a half in all its turns: point `i` (and the mirrored one) of a tile.
template <class P, typename F> __device__ __forceinline__ void for_each_pair(F take) {
    int thread = thread_of_block();
#pragma unroll 2
    for (int number = thread; number < P::TILES * P::HALF; number += P::THREADS) {
        int i = number % P::HALF, tile = number / P::HALF;
        double2 *pair = memory + (tile / 16 * 8 + tile % 8) * P::STRIDE + i;
        take(i, tile, reinterpret_cast<double *>(pair) + tile / 8 % 2);
    }
}

/// The first sweep: writes the halves of the tiles, and adds up the squares of the owned points.
template <class P> __device__ __forceinline__ void split(const CycleArguments &a, const Tile *tiles, double &squares) {
    for_each_pair<P>([&](int i, int number, double *at) {
        Tile tile = tiles[number];
        auto change = [&](int x) {
            const real *u = a.from + tile.origin + x;
            real own = __ldg(u);
            real change = update(a.weights, __ldg(u - 1), __ldg(u + 1), 0, 0, __ldg(a.g + tile.origin + x)) - own;
            if (a.squares) add_square_if(tile.owns(x), squares, change);
            return change;
        };
        double begin = change(i), end = change(P::SIDE - 1 - i);
        at[0] = begin + end;
        at[2 * P::SIZE] = begin - end;
    });
}

/// Adds the correction to the owned points and stores them.
template <class P> __device__ __forceinline__ void join(const CycleArguments &a, const Tile *tiles) {
    for_each_pair<P>([&](int i, int number, const double *at) {
        Tile tile = tiles[number];
        double sum = at[0], difference = at[2 * P::SIZE];
        auto store = [&](int x, double change) {
            if (tile.owns(x)) {
                a.to[tile.origin + x] = static_cast<real>(__ldg(a.from + tile.origin + x) + change);
            }
        };
        store(i, sum + difference);
        store(P::SIDE - 1 - i, sum - difference);
    });
}

/// One cycle. Of each warp one sum of squares is written.
template <class P> __device__ __forceinline__ void cycle(const SpectralArguments &arguments) {
    const CycleArguments &a = arguments.cycle;
    Columns<P> columns(reinterpret_cast<const double2 *>(arguments.tables));
    double squares = 0;
    find_tiles<P::TILES>(a, 0, blockIdx.x * P::TILES);
    __syncthreads();
    int first = after_cycle_before(blockIdx.x) * P::TILES;
#pragma unroll 1
    for (int turn = 0; first < arguments.tiles; first += gridDim.x * P::TILES, turn++) {
        split<P>(a, tiles[turn % 2], squares);
        __syncthreads();
        find_tiles<P::TILES>(a, turn + 1, first + gridDim.x * P::TILES);
        transform<P>(columns);
        __syncthreads();
        join<P>(a, tiles[turn % 2]);
        __syncthreads();
    }
    if (a.squares) write_sum_of_lanes(squares, a.squares + (blockIdx.x * P::THREADS + threadIdx.x) / WARP);
}

#define KERNEL(side, columns, tiles, resident)                                                                         \
    extern "C" __global__ void __launch_bounds__(Plan<side, columns, tiles, resident>::THREADS, resident)              \
        side_##side(const __grid_constant__ SpectralArguments arguments) {                                             \
        cycle<Plan<side, columns, tiles, resident>>(arguments);                                                        \
    }

// `LINES` of `solver/cuda/spectral/tensor.rs`.
KERNEL(32, 16, 32, 8)
KERNEL(64, 16, 16, 4)
KERNEL(96, 8, 16, 1)
KERNEL(128, 8, 16, 1)
