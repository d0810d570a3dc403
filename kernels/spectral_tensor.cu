// One cycle of square 2D tiles in their sine basis, on tensor cores: all k subiterations at once (the mathematics is in
// `solver/spectral.rs`). In single precision every number is the sum of two that tensor cores take (`tensor.cuh`).
//
// A tile of T x T points is split into four quadrants of H x H sums and differences of mirrored points,
// H = T / 2. Differences alternate in sign along their axis, which reverses the order of their modes; so
// all quadrants share one H x H matrix F. Of each quadrant, one or two warps compute
//
//     Q = F' (factors o (F Q F')) F        (' is the transpose; o multiplies value by value)
//
// as four products: x forward, y forward, factors, x backward, y backward. The quadrant is always operand B
// of the tensor core and the matrix always operand A. What comes out (the new index on lane / 4, the other one
// on the pair 2 (lane % 4)) is the operand B of the next product, along the other axis, so that the data stay
// in registers and no transpose is needed.
//
// A group of 4 WARPS warps works on a tile; a block has GROUPS groups, and passes over the tiles. Tiles of 32 x 32 points have
// kernels of their own (`spectral_strips.cu`).
//
// Tables: F and its transpose as the lanes load them (H H / 2 operands each, in single precision H H / 4), then the factors
// of each quadrant, in pairs. `solver/cuda/spectral/tables.rs` writes them.
// Variants: 2d symmetric sm_90
#include "norms.cuh"
#include "square.cuh"

/// Lanes that hold a row: its pairs, rounded up to a power of two.
__device__ constexpr int lanes_of_row(int pairs) { return pairs <= 16 ? 16 : 32; }

/// How tiles of a side are worked on.
template <int SIDE_, int WARPS_, int GROUPS_, int CHUNK_, bool KEEPS_FACTORS_, int AHEAD_> struct Plan {
    static constexpr int SIDE = SIDE_, HALF = SIDE / 2;
    /// Warps of a quadrant: each has a strip.
    static constexpr int WARPS = WARPS_;
    /// Whether pairs take one load where they can; where warps share a quadrant, registers would not suffice.
    static constexpr bool LOADS_PAIRS = WARPS == 1;
    static constexpr int GROUPS = GROUPS_, THREADS = 4 * WARP * WARPS;
    /// 8 x 8 blocks along a quadrant, and those of a warp's strip.
    static constexpr int BLOCKS = HALF / 8, STRIP = BLOCKS / WARPS;
    /// Blocks of a product that are accumulated at a time, and by turns; where warps share a quadrant, registers would not
    /// suffice for more.
    static constexpr int CHUNK = CHUNK_, TURNS = WARPS == 1 ? CHUNK : 2;
    /// Whether the factors stay in shared memory.
    static constexpr bool KEEPS_FACTORS = KEEPS_FACTORS_;

    /// Pairs of a row of a quadrant; the lanes for them; rows at a time; rows of a thread.
    static constexpr int PAIRS = HALF / 2, LANES = lanes_of_row(PAIRS);
    static constexpr int AT_ONCE = THREADS / LANES, ROWS = HALF / AT_ONCE;
    /// Rows whose values are fetched before they are needed.
    static constexpr int AHEAD = AHEAD_;
    static_assert(ROWS % AHEAD == 0);

    /// Operands of one of the two matrices; and pairs: the matrices, the factors, the quadrants of a tile.
    static constexpr int COLUMNS = (BLOCKS + DEPTH - 1) / DEPTH, MATRIX = DEPTH * COLUMNS * COLUMNS * WARP;
    static constexpr int MATRICES = 2 * MATRIX * int(sizeof(Operand) / sizeof(Pair));
    static constexpr int FACTORS = 2 * HALF * HALF, QUADRANTS = 2 * HALF * HALF;
    static constexpr int KEPT = MATRICES + (KEEPS_FACTORS ? FACTORS : 0);

    /// In single precision, the largest value of each warp of the block; they lie after all quadrants.
    static __device__ __forceinline__ real *largest_values() {
        return reinterpret_cast<real *>(memory + KEPT + GROUPS * QUADRANTS);
    }
};

/// Waits for some threads of the block.
__device__ __forceinline__ void wait(int barrier, int threads) {
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

/// A matrix in shared memory, whose blocks are counted from a warp's strip on, along both indices.
template <class P> struct Matrix {
    static constexpr int BLOCK = WARP * sizeof(Operand), COLUMNS = P::COLUMNS;
    unsigned addresses[2][2];

    __device__ __forceinline__ Matrix(const Operand *values, int strip) {
        unsigned first = static_cast<unsigned>(__cvta_generic_to_shared(values));
        int own = strip * BLOCK, other = -own;
        if (P::WARPS == 1) own = other = 0;
        addresses[0][0] = first + own * COLUMNS + own / DEPTH;
        addresses[0][1] = first + own * COLUMNS + other / DEPTH;
        addresses[1][0] = first + other * COLUMNS + own / DEPTH;
        addresses[1][1] = first + other * COLUMNS + other / DEPTH;
    }

    __device__ __forceinline__ Operand at(int m, int k) const {
        return load_operand(addresses[m / P::STRIP % 2][DEPTH * k / P::STRIP % 2] + (m * COLUMNS + k) * BLOCK);
    }
};

/// Where pair `x` of row `y` of a quadrant lies: rows that are accessed together, two in double precision and four in
/// single precision, and would begin at the same bank, are turned against each other.
template <class P> __device__ __forceinline__ int place(int y, int x) {
    constexpr int TOGETHER = 32 / sizeof(Pair), BYTES = P::PAIRS * sizeof(Pair) % 128;
    if (BYTES == 0) return y * P::PAIRS + (x ^ ((y & (TOGETHER - 1)) << 2));
    if (BYTES == 64 && TOGETHER == 4) return y * P::PAIRS + (x ^ ((y & 2) << 1));
    return y * P::PAIRS + x;
}

/// Writes the largest value of a warp's part of a tile, in single precision.
template <class P> __device__ __forceinline__ void write_largest(real largest) {
#if REAL_BITS == 32
    largest = largest_of_warp(largest);
    if (thread_of_block() % WARP == 0) P::largest_values()[thread_of_block() / WARP] = largest;
#endif
}

/// How the values of a tile are scaled, once all of its warps have written.
template <class P> __device__ __forceinline__ Scale scale_of_tile(float correction_scale) {
#if REAL_BITS == 64
    return {};
#else
    real largest = 0;
#pragma unroll
    for (int i = 0; i < 4 * P::WARPS; i += 2) {
        const real *values = P::largest_values() + thread_of_block() / P::THREADS * (4 * P::WARPS);
        largest = largest_of(largest, reinterpret_cast<const Pair *>(values)[i / 2]);
    }
    return {largest, correction_scale};
#endif
}

/// All four products of a quadrant, or of one warp's strip of it.
template <class P> __device__ __forceinline__ void transform(const Pair *tables, float correction_scale) {
    constexpr int BLOCKS = P::BLOCKS, STRIP = P::STRIP;
    int thread = thread_of_block(), group = thread / P::THREADS, warp = thread % P::THREADS / WARP;
    int lane = thread % WARP, row = lane / 4, pair = lane % 4;
    Pair *quadrant = memory + P::KEPT + group * P::QUADRANTS + warp % 4 * (P::QUADRANTS / 4);
    const Pair *factors = (P::KEEPS_FACTORS ? memory : tables) + P::MATRICES + warp % 4 * (P::FACTORS / 4) + lane;
    // The first block of the warp's strip; and a block of the whole, counted from there.
    int strip = P::WARPS == 1 ? 0 : warp / 4 * STRIP;
    auto block = [=](int i) { return P::WARPS == 1 ? i : i < STRIP ? strip + i : i - strip; };
    auto matrix = [](int number, int thread) {
        int strip = P::WARPS == 1 ? 0 : thread % P::THREADS / WARP / 4 * STRIP;
        return Matrix<P>(reinterpret_cast<const Operand *>(memory) + number * P::MATRIX + thread % WARP, strip);
    };
    Matrix<P> forward = matrix(0, thread), backward = matrix(1, thread);
    Pair data[BLOCKS][STRIP];
    Scale scale = scale_of_tile<P>(correction_scale);
    // (x, y): x is summed over first.
#pragma unroll
    for (int k = 0; k < BLOCKS; k++) {
#pragma unroll
        for (int n = 0; n < STRIP; n++) {
            data[k][n] = scale.before(quadrant[place<P>(8 * (strip + n) + row, 4 * block(k) + pair)]);
        }
    }
    if constexpr (P::WARPS == 1) {
        multiply<P::CHUNK, false, P::TURNS>(data, forward);
        multiply<P::CHUNK, true, P::TURNS>(data, forward);
#pragma unroll
        for (int k = 0; k < BLOCKS; k++) {
#pragma unroll
            for (int n = 0; n < STRIP; n++) {
                Pair factor = factors[(k * BLOCKS + n) * WARP];
                data[k][n].x *= factor.x;
                data[k][n].y *= factor.y;
            }
        }
        // Found when it is needed: registers are scarce.
        if (REAL_BITS == 32) backward = matrix(1, thread_of_block());
        multiply<P::CHUNK, false, P::TURNS>(data, backward);
        multiply<P::CHUNK, true, P::TURNS>(data, backward);
#pragma unroll
        for (int k = 0; k < BLOCKS; k++) {
#pragma unroll
            for (int n = 0; n < STRIP; n++) quadrant[place<P>(8 * n + row, 4 * k + pair)] = data[k][n];
        }
    } else {
        // Two warps share a quadrant. Each has all of the index that is summed over, its own strip first, and
        // its strip of the other one; between two products they exchange halves, lane by lane: what was the
        // strip becomes the whole.
        int barrier = 8 + (P::GROUPS == 1 ? 0 : 4 * group) + warp % 4;
        auto exchange = [&](int area) {
            Pair *areas = quadrant + area * (P::QUADRANTS / 8) + lane, kept[STRIP][STRIP];
            Pair *mine = areas + strip * (P::QUADRANTS / 16 / STRIP);
            Pair *theirs = areas + (STRIP - strip) * (P::QUADRANTS / 16 / STRIP);
#pragma unroll
            for (int m = 0; m < STRIP; m++) {
#pragma unroll
                for (int n = 0; n < STRIP; n++) {
                    mine[(m * STRIP + n) * WARP] = data[STRIP + m][n];
                    kept[m][n] = data[m][n];
                }
            }
            wait(barrier, 2 * WARP);
#pragma unroll
            for (int m = 0; m < STRIP; m++) {
#pragma unroll
                for (int n = 0; n < STRIP; n++) {
                    data[n][m] = kept[m][n];
                    data[STRIP + n][m] = theirs[(m * STRIP + n) * WARP];
                }
            }
        };
        multiply<P::CHUNK, false, P::TURNS>(data, forward);
        // The areas lie in the quadrant, which the other warp may still read.
        wait(barrier, 2 * WARP);
        exchange(0);
        multiply<P::CHUNK, false, P::TURNS>(data, forward);
#pragma unroll
        for (int k = 0; k < BLOCKS; k++) {
#pragma unroll
            for (int n = 0; n < STRIP; n++) {
                Pair factor = factors[((strip + n) * BLOCKS + block(k)) * WARP];
                data[k][n].x *= factor.x;
                data[k][n].y *= factor.y;
            }
        }
        exchange(1);
        // Found when it is needed: registers are scarce.
        if (REAL_BITS == 32) backward = matrix(1, thread_of_block());
        multiply<P::CHUNK, false, P::TURNS>(data, backward);
        exchange(0);
        multiply<P::CHUNK, false, P::TURNS>(data, backward);
        wait(barrier, 2 * WARP);
#pragma unroll
        for (int k = 0; k < BLOCKS; k++) {
#pragma unroll
            for (int n = 0; n < STRIP; n++) quadrant[place<P>(8 * block(k) + row, 4 * (strip + n) + pair)] = data[k][n];
        }
    }
}

/// Two neighbouring points, by one load where they lie at a multiple of the size of a pair.
template <bool IS_ALIGNED> __device__ __forceinline__ Pair load(const real *from, bool is_needed) {
    if (!is_needed) return make_pair(0, 0);
    if (IS_ALIGNED) return __ldg(reinterpret_cast<const Pair *>(from));
    return make_pair(__ldg(from), __ldg(from + 1));
}

/// A pair of points near the beginning of a row and its mirror image near the end, in a row and in the
/// mirrored row.
struct Quad {
    Pair a, b, c, d;
};

template <class P> struct Tile {
    const CycleArguments &arguments;
    const real *from, *g;
    real *to;
    int left, right, top, bottom;
    /// Whether pairs of the iterates and of g lie at multiples of their size.
    bool is_aligned;

    __device__ __forceinline__ Tile(const CycleArguments &arguments, int tile) : arguments(arguments) {
        int tile_x = tile % arguments.x.count, tile_y = tile / arguments.x.count;
        int x = arguments.x.start(tile_x), y = arguments.y.start(tile_y);
        long long origin = y * arguments.grid.pitch + x;
        from = arguments.from + origin;
        g = arguments.g + origin;
        to = arguments.to + origin;
        left = arguments.x.border(tile_x) - x;
        right = arguments.x.border(tile_x + 1) - x;
        top = arguments.y.border(tile_y) - y;
        bottom = arguments.y.border(tile_y + 1) - y;
        auto address = [](const real *at) { return reinterpret_cast<unsigned long long>(at); };
        unsigned long long all = address(from) | address(g) | address(to) | arguments.grid.pitch * sizeof(real);
        is_aligned = P::LOADS_PAIRS && all % sizeof(Pair) == 0;
    }

    /// Row `y` and the mirrored one of an array, at pair `m`.
    template <bool IS_ALIGNED>
    __device__ __forceinline__ Quad rows(const real *values, int y, int m, bool is_needed) const {
        const real *row = values + y * arguments.grid.pitch;
        const real *mirrored = values + (P::SIDE - 1 - y) * arguments.grid.pitch;
        int x = 2 * m, other = P::SIDE - 2 - x;
        return {load<IS_ALIGNED>(row + x, is_needed), load<IS_ALIGNED>(row + other, is_needed),
                load<IS_ALIGNED>(mirrored + x, is_needed), load<IS_ALIGNED>(mirrored + other, is_needed)};
    }

    __device__ __forceinline__ bool owns(int x, int y) const {
        return left <= x && x < right && top <= y && y < bottom;
    }

    __device__ __forceinline__ void store(int x, int y, real first, real second) const {
        real *at = to + y * arguments.grid.pitch + x;
        if (owns(x, y)) at[0] = first;
        if (owns(x + 1, y)) at[1] = second;
    }
};

/// The first sweep of a tile: writes its quadrants, and adds up the squares of the owned points.
template <class P, bool IS_ALIGNED>
__device__ __forceinline__ void split(const Tile<P> &tile, double &squares) {
    constexpr int LANES = P::LANES, QUADRANT = P::QUADRANTS / 4;
    int thread = thread_of_block() % P::THREADS;
    Pair *quadrants = memory + P::KEPT + thread_of_block() / P::THREADS * P::QUADRANTS;
    int m = thread % LANES, first = thread / LANES * P::ROWS;
    bool is_active = P::PAIRS == LANES || m < P::PAIRS;
    const CycleArguments &arguments = tile.arguments;
    bool measures = arguments.squares;
    real largest = 0;
    Quad g[P::AHEAD];
    Quad prev = tile.template rows<IS_ALIGNED>(tile.from, first - 1, m, is_active);
    Quad own = tile.template rows<IS_ALIGNED>(tile.from, first, m, is_active);
#pragma unroll
    for (int i = 0; i < P::ROWS; i++) {
        if (i % P::AHEAD == 0) {
#pragma unroll
            for (int j = 0; j < P::AHEAD; j++) g[j] = tile.template rows<IS_ALIGNED>(tile.g, first + i + j, m, is_active);
        }
        int y = first + i, mirrored = P::SIDE - 1 - y;
        Quad next = tile.template rows<IS_ALIGNED>(tile.from, y + 1, m, is_active);
        Quad right = g[i % P::AHEAD];
        // The neighbours along x are those of the lanes beside, or lie in the halo, or across the middle.
        auto before = [](real value) { return __shfl_up_sync(ALL_LANES, value, 1, LANES); };
        auto after = [](real value) { return __shfl_down_sync(ALL_LANES, value, 1, LANES); };
        real a_prev = before(own.a.y), b_next = before(own.b.x), c_prev = before(own.c.y), d_next = before(own.d.x);
        real a_next = after(own.a.x), b_prev = after(own.b.y), c_next = after(own.c.x), d_prev = after(own.d.y);
        if (m == 0) {
            const real *row = tile.from + y * arguments.grid.pitch;
            const real *other = tile.from + mirrored * arguments.grid.pitch;
            a_prev = __ldg(row - 1), b_next = __ldg(row + P::SIDE);
            c_prev = __ldg(other - 1), d_next = __ldg(other + P::SIDE);
        }
        if (m == P::PAIRS - 1) a_next = own.b.x, b_prev = own.a.y, c_next = own.d.x, d_prev = own.c.y;
        const Weights &w = arguments.weights;
        Pair a = change(w, a_prev, own.a, a_next, prev.a, next.a, right.a);
        Pair b = change(w, b_prev, own.b, b_next, prev.b, next.b, right.b);
        // Down the mirrored rows, the next row is the one before.
        Pair c = change(w, c_prev, own.c, c_next, next.c, prev.c, right.c);
        Pair d = change(w, d_prev, own.d, d_next, next.d, prev.d, right.d);
        if (measures && is_active) {
            int x = 2 * m, other = P::SIDE - 2 - x;
            auto add = [&](Pair value, int x, int y) {
                add_square_if(tile.owns(x, y), squares, value.x);
                add_square_if(tile.owns(x + 1, y), squares, value.y);
            };
            add(a, x, y), add(b, other, y), add(c, x, mirrored), add(d, other, mirrored);
        }
        prev = own;
        own = next;
        // Sums and differences along x (differences alternate in sign), then along y.
        Pair even = make_pair(a.x + b.y, a.y + b.x), odd = make_pair(a.x - b.y, b.x - a.y);
        Pair even_below = make_pair(c.x + d.y, c.y + d.x), odd_below = make_pair(c.x - d.y, d.x - c.y);
        real sign = y & 1 ? -1 : 1;
        if (is_active) {
            Pair *at = quadrants + place<P>(y, m);
            auto write = [&](int quadrant, Pair values) {
                at[quadrant * QUADRANT] = values;
#if REAL_BITS == 32
                largest = largest_of(largest, values);
#endif
            };
            write(0, make_pair(even.x + even_below.x, even.y + even_below.y));
            write(1, make_pair(odd.x + odd_below.x, odd.y + odd_below.y));
            write(2, make_pair(sign * (even.x - even_below.x), sign * (even.y - even_below.y)));
            write(3, make_pair(sign * (odd.x - odd_below.x), sign * (odd.y - odd_below.y)));
        }
    }
    write_largest<P>(largest);
}

/// Adds the correction to the owned points of a tile and stores them.
template <class P, bool IS_ALIGNED>
__device__ __forceinline__ void join(const Tile<P> &tile, float correction_scale) {
    constexpr int LANES = P::LANES, QUADRANT = P::QUADRANTS / 4;
    int thread = thread_of_block() % P::THREADS, group = thread_of_block() / P::THREADS;
    const Pair *quadrants = memory + P::KEPT + group * P::QUADRANTS;
    int m = thread % LANES, first = thread / LANES * P::ROWS;
    bool is_active = P::PAIRS == LANES || m < P::PAIRS;
    int x = 2 * m, other = P::SIDE - 2 - x;
    Scale scale;
#pragma unroll
    for (int i = 0; i < P::ROWS; i += P::AHEAD) {
        Quad own[P::AHEAD];
#pragma unroll
        for (int j = 0; j < P::AHEAD; j++) own[j] = tile.template rows<IS_ALIGNED>(tile.from, first + i + j, m, is_active);
        if (i == 0) {
            wait(1 + group, P::THREADS);
            scale = scale_of_tile<P>(correction_scale);
        }
#pragma unroll
        for (int j = 0; j < P::AHEAD; j++) {
            int y = first + i + j, mirrored = P::SIDE - 1 - y;
            real sign = y & 1 ? -1 : 1;
            const Pair *at = quadrants + place<P>(y, is_active ? m : 0);
            Pair even = at[0], odd = at[QUADRANT], even_y = at[2 * QUADRANT], odd_y = at[3 * QUADRANT];
            Pair sum = make_pair(even.x + odd.x, even.y - odd.y);
            Pair difference = make_pair(even.x - odd.x, even.y + odd.y);
            Pair sum_y = make_pair(sign * (even_y.x + odd_y.x), sign * (even_y.y - odd_y.y));
            Pair difference_y = make_pair(sign * (even_y.x - odd_y.x), sign * (even_y.y + odd_y.y));
            if (is_active) {
                const Quad &u = own[j];
                auto store = [&](int x, int y, Pair own, real first, real second) {
                    tile.store(x, y, scale.sum(own.x, first), scale.sum(own.y, second));
                };
                store(x, y, u.a, sum.x + sum_y.x, sum.y + sum_y.y);
                store(other, y, u.b, difference.y + difference_y.y, difference.x + difference_y.x);
                store(x, mirrored, u.c, sum.x - sum_y.x, sum.y - sum_y.y);
                store(other, mirrored, u.d, difference.y - difference_y.y, difference.x - difference_y.x);
            }
        }
    }
}

/// One cycle. Of each warp one sum of squares is written.
template <class P> __device__ __forceinline__ void cycle(const SpectralArguments &arguments) {
    const CycleArguments &a = arguments.cycle;
    const Pair *tables = load_tables<P::KEPT>(arguments);
    double squares = 0;
    int tiles = arguments.tiles + a.first;
    int i = a.first + after_cycle_before(threadIdx.x / P::THREADS * gridDim.x + blockIdx.x);
    do {
        if (i < tiles) {
            Tile<P> tile(a, i);
            if (tile.is_aligned) {
                split<P, true>(tile, squares);
            } else {
                split<P, false>(tile, squares);
            }
        }
        if (i - a.first < gridDim.x * P::GROUPS) {
            // All groups of the block meet here once, with a tile or without.
            wait_for_tables();
        }
        if (i < tiles) {
            wait(1 + thread_of_block() / P::THREADS, P::THREADS);
            transform<P>(tables, arguments.correction_scale);
            Tile<P> tile(a, unknown(i));
            if (tile.is_aligned) {
                join<P, true>(tile, arguments.correction_scale);
            } else {
                join<P, false>(tile, arguments.correction_scale);
            }
            wait(1 + thread_of_block() / P::THREADS, P::THREADS);
        }
        i += gridDim.x * P::GROUPS;
    } while (i < tiles);
    if (a.squares) write_sum_of_lanes(squares, a.squares + (blockIdx.x * blockDim.x + threadIdx.x) / WARP);
}

#define KERNEL(side, warps, groups, chunk, keeps_factors, ahead)                                                       \
    extern "C" __global__ void __launch_bounds__(4 * WARP * warps * groups, 1)                                         \
        side_##side(const __grid_constant__ SpectralArguments arguments) {                                             \
        cycle<Plan<side, warps, groups, chunk, keeps_factors, ahead>>(arguments);                                      \
    }

// `SQUARES` of `solver/cuda/spectral/tensor.rs`.
#if REAL_BITS == 64
KERNEL(48, 1, 3, 3, true, 1)
KERNEL(64, 1, 2, 4, true, 1)
KERNEL(128, 2, 1, 2, false, 4)
#else
KERNEL(48, 1, 4, 3, true, 1)
KERNEL(64, 1, 4, 4, true, 1)
KERNEL(96, 1, 2, 3, true, 1)
KERNEL(128, 2, 2, 4, false, 1)
#endif
