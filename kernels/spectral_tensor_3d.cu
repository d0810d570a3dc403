// One cycle of cubic 3D tiles in their sine basis, on tensor cores: all k subiterations at once (the mathematics is in
// `solver/spectral.rs`). Cubes of 16 points in single precision are those of `spectral_tensor_3d_f32.cu`.
//
// A block passes over the tiles; a tile of T x T x T points takes three steps. First each thread finds the change of the
// first sweep in whole columns along z and transforms them: of mirrored points the sum sees the modes of odd number and
// the difference those of even number, so that two T / 2 x T / 2 products remain, in plain arithmetic. They go to shared
// memory, where a plane belongs to one mode along z. Then each warp takes whole planes Q and computes
//
//     Q = S (factors o (S Q S)) S        (o multiplies value by value)
//
// as four products, x and y forward, the factors, x and y backward. S, which is its own transpose and inverse, is always
// operand A of the tensor core and the plane always operand B. What comes out (the new index on lane / 4, the other one
// on the pair 2 (lane % 4)) is operand B of the next product, along the other axis, so that a plane stays in registers
// and no transpose is needed. Last each thread transforms its columns back and adds them to the iterate.
//
// Where several blocks fit a multiprocessor, one loads while another multiplies.
//
// Tables: S as the lanes load it, then the factors of each plane in pairs. `solver/cuda/spectral/tables.rs` writes them.
// Variants: 3d symmetric sm_90
#include "cube.cuh"
#include "norms.cuh"
#include "sines.cuh"

/// How tiles of a side are worked on.
template <int SIDE_, int THREADS_> struct Plan {
    static constexpr int SIDE = SIDE_, HALF = SIDE / 2, THREADS = THREADS_;
    /// Points of a plane.
    static constexpr int PLANE = SIDE * SIDE;
    /// 8 x 8 blocks along a plane, and those of a product that are accumulated at a time.
    static constexpr int BLOCKS = SIDE / 8, CHUNK = BLOCKS == 2 ? 2 : REAL_BITS == 32 ? 3 : 1;
    /// Pairs of a tile.
    static constexpr int TILE = SIDE * PLANE / 2;
    typedef KeptMatrix<BLOCKS> Kept;
    /// Operands of S.
    static constexpr int MATRIX = Kept::ROWS * Kept::COLUMNS * WARP;
};

/// The planes, then S, then a sum of squares of each thread.
extern __shared__ __align__(16) Pair memory[];

/// Where a column lies in its plane in shared memory: the lanes of a warp read a few rows together, eight values each, which
/// must lie in different banks.
template <class P> __device__ __forceinline__ int in_plane(int column) {
    // Rows that are read together, and how many of these begin at the same bank.
    constexpr int TOGETHER = 128 / (8 * int(sizeof(Number))), SAME = P::BLOCKS % TOGETHER == 0 ? TOGETHER : 1;
    return column ^ (column / P::SIDE % SAME * 8);
}

/// S in shared memory, behind the tile.
template <class P> __device__ __forceinline__ Operand *matrix() {
    return reinterpret_cast<Operand *>(memory + P::TILE);
}

#if REAL_BITS == 64
/// S as products take it: read when it is needed.
template <class P> struct Sines {
    unsigned first;

    __device__ __forceinline__ Sines(int lane)
        : first(static_cast<unsigned>(__cvta_generic_to_shared(matrix<P>() + lane))) {}

    __device__ __forceinline__ Operand at(int m, int k) const {
        return load_operand(first + (m * P::BLOCKS + k) * WARP * int(sizeof(Operand)));
    }
};
#else
/// S as products take it: kept in registers.
template <class P> struct Sines : P::Kept {
    __device__ __forceinline__ Sines(int lane) : P::Kept(matrix<P>() + lane) {}
};
#endif

/// The sum of squares of the thread: not in registers, of which there are too few.
template <class P> __device__ __forceinline__ double &squares_of_thread() {
    return reinterpret_cast<double *>(matrix<P>() + P::MATRIX)[thread_of_block()];
}

/// The first sweep and the transform along z: writes the modes of each column, and adds up the squares of the owned
/// points.
template <class P> __device__ __forceinline__ void split(const CycleArguments &a, const Place &place) {
    constexpr int SIDE = P::SIDE, HALF = P::HALF;
    Number *modes = reinterpret_cast<Number *>(memory);
#pragma unroll 1
    for (int column = thread_of_block(); column < P::PLANE; column += P::THREADS) {
        int x = column % SIDE, y = column / SIDE;
        real change[SIDE];
        sweep_column(a, place.origin + y * a.grid.pitch + x, change);
        if (a.squares) {
            double squares = squares_of_thread<P>();
            unsigned owned = place.owned(x, y);
#pragma unroll
            for (int z = 0; z < SIDE; z++) add_square_if(owned >> z & 1, squares, change[z]);
            squares_of_thread<P>() = squares;
        }
        Number *at = modes + in_plane<P>(column);
#pragma unroll
        for (int half = 0; half < 2; half++) {
            real values[HALF];
#pragma unroll
            for (int i = 0; i < HALF; i++) {
                values[i] = half ? change[i] - change[SIDE - 1 - i] : change[i] + change[SIDE - 1 - i];
            }
#pragma unroll
            for (int m = 0; m < HALF; m++) {
                real sum = 0;
#pragma unroll
                for (int i = 0; i < HALF; i++) add_entry<SIDE>(sum, 2 * m + 1 + half, i + 1, values[i]);
                at[(half * HALF + m) * P::PLANE] = sum;
            }
        }
    }
}

/// The four products and the factors of each plane.
template <class P> __device__ __forceinline__ void transform(const Pair *factors_of_tile, float correction_scale) {
    constexpr int BLOCKS = P::BLOCKS, CHUNK = P::CHUNK;
    int thread = thread_of_block(), lane = thread % WARP, row = lane / 4, pair = lane % 4;
    Sines<P> sines(lane);
#pragma unroll 1
    for (int z = thread / WARP; z < P::SIDE; z += P::THREADS / WARP) {
        Pair *plane = memory + z * (P::PLANE / 2);
        const Pair *factors = factors_of_tile + z * (P::PLANE / 2) + lane;
        auto at = [=](int k, int n) { return in_plane<P>((8 * n + row) * P::SIDE + 8 * k + 2 * pair) / 2; };
        unsigned from = address_of(plane);
        // (x, y): x is summed over first.
        Pair data[BLOCKS][BLOCKS];
#pragma unroll
        for (int k = 0; k < BLOCKS; k++) {
#pragma unroll
            for (int n = 0; n < BLOCKS; n++) data[k][n] = load_pair(from + at(k, n) * int(sizeof(Pair)));
        }
        auto pair_of_plane = [&](int i) -> Pair & { return data[i / BLOCKS][i % BLOCKS]; };
        Scale scale = scale_all<BLOCKS * BLOCKS>(pair_of_plane, correction_scale);
        multiply<CHUNK, false>(data, sines);
        multiply<CHUNK, true>(data, sines);
#pragma unroll
        for (int k = 0; k < BLOCKS; k++) {
#pragma unroll
            for (int n = 0; n < BLOCKS; n++) {
                Pair factor = __ldg(factors + (k * BLOCKS + n) * WARP);
                data[k][n].x *= factor.x;
                data[k][n].y *= factor.y;
            }
        }
        multiply<CHUNK, false>(data, sines);
        multiply<CHUNK, true>(data, sines);
#pragma unroll
        for (int k = 0; k < BLOCKS; k++) {
#pragma unroll
            for (int n = 0; n < BLOCKS; n++) plane[at(k, n)] = scale.after(data[k][n]);
        }
    }
}

/// The transform back along z; adds the correction to the owned points and stores them.
template <class P> __device__ __forceinline__ void join(const CycleArguments &a, const Place &place) {
    constexpr int SIDE = P::SIDE, HALF = P::HALF;
    const Number *modes = reinterpret_cast<const Number *>(memory);
    const long long pitch = a.grid.pitch, plane_pitch = a.grid.plane_pitch;
#pragma unroll 1
    for (int column = thread_of_block(); column < P::PLANE; column += P::THREADS) {
        int x = column % SIDE, y = column / SIDE;
        if (!place.owns_column(x, y)) continue;
        const long long first = place.origin + y * pitch + x;
        const real *from = a.from + first;
        real *to = a.to + first;
        const Number *at = modes + in_plane<P>(column);
        // What the modes of odd number add to both of two mirrored points, and what those of even number add to the
        // first and take from the second.
        real sums[HALF] = {}, differences[HALF] = {};
#pragma unroll
        for (int m = 0; m < HALF; m++) {
            real odd = at[m * P::PLANE];
            real even = at[(HALF + m) * P::PLANE];
#pragma unroll
            for (int i = 0; i < HALF; i++) {
                add_entry<SIDE>(sums[i], 2 * m + 1, i + 1, odd);
                add_entry<SIDE>(differences[i], 2 * m + 2, i + 1, even);
            }
        }
#pragma unroll
        for (int z = 0; z < SIDE; z++, from += plane_pitch, to += plane_pitch) {
            int i = min(z, SIDE - 1 - z);
            real change = z < HALF ? sums[i] + differences[i] : sums[i] - differences[i];
            if (place.planes >> z & 1) *to = __ldg(from) + change;
        }
    }
}

/// One cycle. Of each warp one sum of squares is written. A thread splits and joins the same columns.
template <class P> __device__ __forceinline__ void cycle(const CubeArguments &arguments) {
    const SpectralArguments &spectral = arguments.spectral;
    const CycleArguments &a = spectral.cycle;
    const Operand *tables = reinterpret_cast<const Operand *>(spectral.tables);
    for (int i = threadIdx.x; i < P::MATRIX; i += P::THREADS) matrix<P>()[i] = __ldg(tables + i);
    const Pair *factors = reinterpret_cast<const Pair *>(tables + P::MATRIX);
    squares_of_thread<P>() = 0;
    begin_with_place(arguments, blockIdx.x);
#pragma unroll 1
    for (int turn = after_cycle_before(0); places[turn % 2].tile < spectral.tiles; turn++) {
        split<P>(a, places[turn % 2]);
        __syncthreads();
        bool finds_place = threadIdx.x == 0;
        if (finds_place) copy_place(arguments, turn + 1, next_tile(arguments, places[turn % 2].tile, gridDim.x));
        transform<P>(factors, spectral.correction_scale);
        if (finds_place) wait_for_place();
        __syncthreads();
        join<P>(a, places[turn % 2]);
    }
    if (a.squares) write_sum_of_lanes(squares_of_thread<P>(), a.squares + (blockIdx.x * P::THREADS + threadIdx.x) / WARP);
}

#define KERNEL(side, threads, resident)                                                                                \
    extern "C" __global__ void __launch_bounds__(threads, resident)                                                    \
        side_##side(const __grid_constant__ CubeArguments arguments) {                                                 \
        cycle<Plan<side, threads>>(arguments);                                                                         \
    }

// `CUBES` of `solver/cuda/spectral/tensor.rs`.
#if REAL_BITS == 64
KERNEL(16, 128, 4)
KERNEL(24, 384, 1)
#else
KERNEL(24, 256, 2)
#endif
