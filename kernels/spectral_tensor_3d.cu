// One cycle of cubic 3D tiles in their sine basis, with FP64 tensor cores: all k subiterations at once (the
// mathematics is in `solver/spectral.rs`).
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
// Several blocks share a multiprocessor, so that one loads while another multiplies.
//
// In single precision, columns are transformed as such, and tensor cores multiply in double precision: that is accurate, and
// faster than plain arithmetic.
//
// Tables, in pairs of doubles: S as the lanes load it (T T / 2 pairs), then the factors of each plane likewise.
// `solver/cuda/spectral/tensor.rs` writes them.
// Variants: 3d symmetric sm_90
#define PRODUCT_BITS 64
#include "box.cuh"
#include "norms.cuh"
#include "sines.cuh"
#include "tensor.cuh"

/// How tiles of a side are worked on.
template <int SIDE_, int THREADS_> struct Plan {
    static constexpr int SIDE = SIDE_, HALF = SIDE / 2, THREADS = THREADS_;
    /// Points of a plane.
    static constexpr int PLANE = SIDE * SIDE;
    /// 8 x 8 blocks along a plane, and those of a product that are accumulated at a time.
    static constexpr int BLOCKS = SIDE / 8, CHUNK = BLOCKS == 2 ? 2 : 1;
    /// Pairs of a tile, and of S.
    static constexpr int TILE = SIDE * PLANE / 2, MATRIX = PLANE / 2;
};

extern __shared__ double2 memory[];

/// Where a column lies in its plane in shared memory: odd rows are turned by half of the banks where rows would begin
/// at the same bank.
template <class P> __device__ __forceinline__ int place(int column) {
    return P::SIDE % 16 == 0 ? column ^ (column / P::SIDE % 2 * 8) : column;
}

/// S in shared memory, behind the tile.
template <class P> struct Matrix {
    unsigned first;

    __device__ __forceinline__ Matrix(int lane)
        : first(static_cast<unsigned>(__cvta_generic_to_shared(memory + P::TILE + lane))) {}

    __device__ __forceinline__ double2 at(int m, int k) const {
        return load_pair(first + (m * P::BLOCKS + k) * WARP * int(sizeof(double2)));
    }
};

/// The first sweep and the transform along z: writes the modes of each column, and adds up the squares of the owned
/// points.
template <class P> __device__ __forceinline__ void split(const CycleArguments &a, int number, double &squares) {
    constexpr int SIDE = P::SIDE, HALF = P::HALF;
    const long long origin = Tile(a, number).origin;
    double *modes = reinterpret_cast<double *>(memory);
    const long long pitch = a.grid.pitch, plane_pitch = a.grid.plane_pitch;
#pragma unroll 1
    for (int column = threadIdx.x; column < P::PLANE; column += P::THREADS) {
        int x = column % SIDE, y = column / SIDE;
        const real *u = a.from + origin + y * pitch + x, *g = a.g + origin + y * pitch + x;
        real change[SIDE];
        real prev = __ldg(u - plane_pitch), own = __ldg(u);
#pragma unroll
        for (int z = 0; z < SIDE; z++) {
            const real *here = u + z * plane_pitch;
            real next = __ldg(here + plane_pitch);
            change[z] = update(a.weights, __ldg(here - 1), __ldg(here + 1), __ldg(here - pitch), __ldg(here + pitch),
                               prev, next, __ldg(g + z * plane_pitch)) -
                        own;
            prev = own, own = next;
        }
        if (a.squares) {
            Tile tile(a, unknown(number));
            bool is_own = tile.owns_column(x, y);
#pragma unroll
            for (int z = 0; z < SIDE; z++) add_square_if(is_own && tile.owns_plane(z), squares, change[z]);
        }
        double *at = modes + place<P>(column);
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
template <class P> __device__ __forceinline__ void transform(const double2 *tables) {
    constexpr int BLOCKS = P::BLOCKS;
    int thread = thread_of_block(), lane = thread % WARP, row = lane / 4, pair = lane % 4;
    Matrix<P> sines(lane);
#pragma unroll 1
    for (int z = thread / WARP; z < P::SIDE; z += P::THREADS / WARP) {
        double2 *plane = memory + z * (P::PLANE / 2);
        const double2 *factors = tables + P::MATRIX + z * (P::PLANE / 2) + lane;
        auto at = [=](int k, int n) { return place<P>((8 * n + row) * P::SIDE + 8 * k + 2 * pair) / 2; };
        unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(plane));
        // (x, y): x is summed over first.
        double2 data[BLOCKS][BLOCKS];
#pragma unroll
        for (int k = 0; k < BLOCKS; k++) {
#pragma unroll
            for (int n = 0; n < BLOCKS; n++) data[k][n] = load_pair(from + at(k, n) * int(sizeof(double2)));
        }
        multiply<P::CHUNK, false>(data, sines);
        multiply<P::CHUNK, true>(data, sines);
#pragma unroll
        for (int k = 0; k < BLOCKS; k++) {
#pragma unroll
            for (int n = 0; n < BLOCKS; n++) {
                double2 factor = __ldg(factors + (k * BLOCKS + n) * WARP);
                data[k][n].x *= factor.x;
                data[k][n].y *= factor.y;
            }
        }
        multiply<P::CHUNK, false>(data, sines);
        multiply<P::CHUNK, true>(data, sines);
#pragma unroll
        for (int k = 0; k < BLOCKS; k++) {
#pragma unroll
            for (int n = 0; n < BLOCKS; n++) plane[at(k, n)] = data[k][n];
        }
    }
}

/// The transform back along z; adds the correction to the owned points and stores them.
template <class P> __device__ __forceinline__ void join(const CycleArguments &a, int number) {
    constexpr int SIDE = P::SIDE, HALF = P::HALF;
    Tile tile(a, number);
    const double *modes = reinterpret_cast<const double *>(memory);
    const long long pitch = a.grid.pitch, plane_pitch = a.grid.plane_pitch;
#pragma unroll 1
    for (int column = threadIdx.x; column < P::PLANE; column += P::THREADS) {
        int x = column % SIDE, y = column / SIDE;
        if (!tile.owns_column(x, y)) continue;
        long long origin = tile.origin + y * pitch + x;
        const double *at = modes + place<P>(column);
        // What the modes of odd number add to both of two mirrored points, and what those of even number add to the
        // first and take from the second.
        real sums[HALF] = {}, differences[HALF] = {};
#pragma unroll
        for (int m = 0; m < HALF; m++) {
            real odd = static_cast<real>(at[m * P::PLANE]);
            real even = static_cast<real>(at[(HALF + m) * P::PLANE]);
#pragma unroll
            for (int i = 0; i < HALF; i++) {
                add_entry<SIDE>(sums[i], 2 * m + 1, i + 1, odd);
                add_entry<SIDE>(differences[i], 2 * m + 2, i + 1, even);
            }
        }
#pragma unroll
        for (int z = 0; z < SIDE; z++) {
            int i = min(z, SIDE - 1 - z);
            real change = z < HALF ? sums[i] + differences[i] : sums[i] - differences[i];
            if (tile.owns_plane(z)) {
                a.to[origin + z * plane_pitch] = __ldg(a.from + origin + z * plane_pitch) + change;
            }
        }
    }
}

/// One cycle. Of each warp one sum of squares is written.
template <class P> __device__ __forceinline__ void cycle(const SpectralArguments &arguments) {
    const CycleArguments &a = arguments.cycle;
    const double2 *tables = reinterpret_cast<const double2 *>(arguments.tables);
    for (int i = threadIdx.x; i < P::MATRIX; i += P::THREADS) memory[P::TILE + i] = __ldg(tables + i);
    double squares = 0;
    int tiles = a.first + arguments.tiles;
#pragma unroll 1
    for (int i = a.first + after_cycle_before(blockIdx.x); i < tiles; i += gridDim.x) {
        split<P>(a, i, squares);
        __syncthreads();
        transform<P>(tables);
        __syncthreads();
        join<P>(a, unknown(i));
        __syncthreads();
    }
    if (a.squares) write_sum_of_lanes(squares, a.squares + (blockIdx.x * P::THREADS + threadIdx.x) / WARP);
}

#define KERNEL(side, threads, resident)                                                                                \
    extern "C" __global__ void __launch_bounds__(threads, resident)                                                    \
        side_##side(const __grid_constant__ SpectralArguments arguments) {                                             \
        cycle<Plan<side, threads>>(arguments);                                                                         \
    }

// `CUBES` of `solver/cuda/spectral/tensor.rs`.
KERNEL(16, 128, 4)
KERNEL(24, 256, 2)
