// One cycle of 3D cubes of 16 points in their sine basis, in single precision: all k subiterations at once.
//
// The steps are those of `spectral_tensor_3d.cu`, in fewer instructions: a thread finds the changes of two neighbouring columns
// at once and transforms them, and a warp multiplies two planes at a time, whose products do not wait for each other.
//
// Tables: those of that kernel.
// Variants: f32 3d symmetric sm_90
#include "cube.cuh"
#include "norms.cuh"
#include "pairs.cuh"
#include "sines.cuh"

constexpr int SIDE = 16, HALF = SIDE / 2, BLOCKS = SIDE / 8;
/// Pairs of points of a plane, each of which has a thread; and of a tile.
constexpr int PLANE = SIDE * HALF, TILE = SIDE * PLANE, THREADS = PLANE;
/// Planes that a warp works on at a time, and how many pairs they lie apart.
constexpr int TOGETHER = 2, APART = THREADS / WARP * PLANE;
typedef KeptMatrix<BLOCKS> Sines;
/// Operands of S.
constexpr int MATRIX = Sines::ROWS * Sines::COLUMNS * WARP;

/// The planes, then S, then a sum of squares of each thread.
extern __shared__ __align__(16) Pair memory[];

/// Where a pair lies in its plane: the lanes of a warp read a few rows together, which must lie in different banks.
__device__ __forceinline__ int in_plane(int pair) { return pair ^ (pair / (2 * HALF) % 2 * 4); }

/// S, and the sum of squares of the thread: not in registers, of which there are too few.
__device__ __forceinline__ Operand *matrix() { return reinterpret_cast<Operand *>(memory + TILE); }
__device__ __forceinline__ double &squares_of_thread() {
    return reinterpret_cast<double *>(matrix() + MATRIX)[thread_of_block()];
}

/// The thread's two columns: where the first one lies in the tile.
struct Columns {
    int x = thread_of_block() % HALF * 2, y = thread_of_block() / HALF;

    /// Where it begins in the grid.
    __device__ __forceinline__ long long at(const CycleArguments &a, const Place &place) const {
        return place.origin + y * a.grid.pitch + x;
    }
};

__device__ __forceinline__ Pair sum(Pair a, Pair b) { return make_pair(a.x + b.x, a.y + b.y); }
__device__ __forceinline__ Pair difference(Pair a, Pair b) { return make_pair(a.x - b.x, a.y - b.y); }

__device__ __forceinline__ void add_entry(Pair &sum, int p, int i, Pair values) {
    ::add_entry<SIDE>(sum.x, p, i, values.x);
    ::add_entry<SIDE>(sum.y, p, i, values.y);
}

/// Two neighbouring values of the grid: in one read if the first one lies at an even place, as it does in most tiles.
template <bool IS_EVEN> __device__ __forceinline__ Pair load_two(const real *at) {
    if (IS_EVEN) return load_pair(at);
    Pair values;
    // Volatile, or the compiler loads many ahead and spills them.
    asm volatile("ld.global.nc.f32 %0, [%2];\n\t"
                 "ld.global.nc.f32 %1, [%2 + 4];"
                 : "=f"(values.x), "=f"(values.y)
                 : "l"(at));
    return values;
}

/// The change of the first sweep in both columns.
template <bool IS_EVEN>
__device__ __forceinline__ void sweep(const CycleArguments &a, const Place &place, Pair (&change)[SIDE]) {
    const long long pitch = a.grid.pitch, plane_pitch = a.grid.plane_pitch, first = Columns().at(a, place);
    const real *u = a.from + first, *g = a.g + first;
    Pair prev = load_two<IS_EVEN>(u - plane_pitch), own = load_two<IS_EVEN>(u);
#pragma unroll
    for (int z = 0; z < SIDE; z++, u += plane_pitch, g += plane_pitch) {
        Pair next = load_two<IS_EVEN>(u + plane_pitch), right_side = load_two<IS_EVEN>(g);
        Pair above = load_two<IS_EVEN>(u - pitch), below = load_two<IS_EVEN>(u + pitch);
        change[z].x = update(a.weights, __ldg(u - 1), own.y, above.x, below.x, prev.x, next.x, right_side.x) - own.x;
        change[z].y = update(a.weights, own.x, __ldg(u + 2), above.y, below.y, prev.y, next.y, right_side.y) - own.y;
        prev = own, own = next;
    }
}

/// The first sweep and the transform along z: writes the modes of both columns, and adds up the squares of the owned points.
template <bool IS_EVEN> __device__ __forceinline__ void split(const CycleArguments &a, const Place &place) {
    Pair change[SIDE];
    sweep<IS_EVEN>(a, place, change);
    if (a.squares) {
        Columns columns;
        double squares = squares_of_thread();
        unsigned owned[] = {place.owned(columns.x, columns.y), place.owned(columns.x + 1, columns.y)};
#pragma unroll
        for (int z = 0; z < SIDE; z++) {
            add_square_if(owned[0] >> z & 1, squares, change[z].x);
            add_square_if(owned[1] >> z & 1, squares, change[z].y);
        }
        squares_of_thread() = squares;
    }
    Pair *modes = memory + in_plane(thread_of_block());
#pragma unroll
    for (int half = 0; half < 2; half++) {
        Pair values[HALF];
#pragma unroll
        for (int i = 0; i < HALF; i++) {
            Pair first = change[i], last = change[SIDE - 1 - i];
            values[i] = half ? difference(first, last) : sum(first, last);
        }
#pragma unroll
        for (int m = 0; m < HALF; m++) {
            Pair mode = make_pair(0, 0);
#pragma unroll
            for (int i = 0; i < HALF; i++) add_entry(mode, 2 * m + 1 + half, i + 1, values[i]);
            modes[(half * HALF + m) * PLANE] = mode;
        }
    }
}

/// The four products and the factors of the planes of a warp.
__device__ __forceinline__ void transform(const Pair *factors_of_tile, float correction_scale) {
    int thread = thread_of_block(), lane = thread % WARP, row = lane / 4, pair = lane % 4;
    Sines sines(matrix() + lane);
    auto at = [=](int k, int n) { return in_plane((8 * n + row) * HALF + 4 * k + pair); };
#pragma unroll 1
    for (int first = thread / WARP * PLANE; first < TILE; first += TOGETHER * APART) {
        const Pair *factors = factors_of_tile + first + lane;
        unsigned from = address_of(memory + first);
        // (x, y) of each plane: x is summed over first.
        Pair data[TOGETHER][BLOCKS][BLOCKS];
        Scale scales[TOGETHER];
#pragma unroll
        for (int plane = 0; plane < TOGETHER; plane++) {
            auto pair_of_plane = [&](int i) -> Pair & { return data[plane][i / BLOCKS][i % BLOCKS]; };
#pragma unroll
            for (int i = 0; i < BLOCKS * BLOCKS; i++) {
                int there = plane * APART + at(i / BLOCKS, i % BLOCKS);
                pair_of_plane(i) = load_pair(from + there * int(sizeof(Pair)));
            }
            scales[plane] = scale_all<BLOCKS * BLOCKS>(pair_of_plane, correction_scale);
        }
        constexpr int ALL = TOGETHER * BLOCKS;
        auto along_x = [&](int k, int n) -> Pair & { return data[n / BLOCKS][k][n % BLOCKS]; };
        auto along_y = [&](int k, int n) -> Pair & { return data[n / BLOCKS][n % BLOCKS][k]; };
        multiply_blocks<ALL, ALL, BLOCKS, ALL>(along_x, sines);
        multiply_blocks<ALL, ALL, BLOCKS, ALL>(along_y, sines);
#pragma unroll
        for (int i = 0; i < ALL * BLOCKS; i++) {
            int plane = i / (BLOCKS * BLOCKS), block = i % (BLOCKS * BLOCKS);
            Pair factor = __ldg(factors + plane * APART + block * WARP);
            Pair &values = data[plane][block / BLOCKS][block % BLOCKS];
            values.x *= factor.x;
            values.y *= factor.y;
        }
        multiply_blocks<ALL, ALL, BLOCKS, ALL>(along_x, sines);
        multiply_blocks<ALL, ALL, BLOCKS, ALL>(along_y, sines);
#pragma unroll
        for (int i = 0; i < ALL * BLOCKS; i++) {
            int plane = i / (BLOCKS * BLOCKS), k = i / BLOCKS % BLOCKS, n = i % BLOCKS;
            memory[first + plane * APART + at(k, n)] = scales[plane].after(data[plane][k][n]);
        }
    }
}

/// The transform back along z; adds the correction to the owned points and stores them: in pairs, if both points of each are
/// owned or neither is.
template <bool IN_PAIRS> __device__ __forceinline__ void join(const CycleArguments &a, const Place &place) {
    Columns columns;
    bool owns[] = {place.owns_column(columns.x, columns.y), place.owns_column(columns.x + 1, columns.y)};
    if (!owns[0] && !owns[1]) return;
    const Pair *modes = memory + in_plane(thread_of_block());
    // What the modes of odd number add to both of two mirrored points, and what those of even number add to the first and
    // take from the second.
    Pair sums[HALF] = {}, differences[HALF] = {};
#pragma unroll
    for (int m = 0; m < HALF; m++) {
        Pair odd = modes[m * PLANE], even = modes[(HALF + m) * PLANE];
#pragma unroll
        for (int i = 0; i < HALF; i++) {
            add_entry(sums[i], 2 * m + 1, i + 1, odd);
            add_entry(differences[i], 2 * m + 2, i + 1, even);
        }
    }
    const long long plane_pitch = a.grid.plane_pitch, first = columns.at(a, place);
    const real *from = a.from + first;
    real *to = a.to + first;
#pragma unroll
    for (int z = 0; z < SIDE; z++, from += plane_pitch, to += plane_pitch) {
        if (!(place.planes >> z & 1)) continue;
        int i = min(z, SIDE - 1 - z);
        Pair change = z < HALF ? sum(sums[i], differences[i]) : difference(sums[i], differences[i]);
        if (IN_PAIRS) {
            store_pair(to, sum(load_pair(from), change));
        } else {
            if (owns[0]) to[0] = __ldg(from) + change.x;
            if (owns[1]) to[1] = __ldg(from + 1) + change.y;
        }
    }
}

/// One cycle. Of each warp one sum of squares is written.
extern "C" __global__ void __launch_bounds__(THREADS, 6) side_16(const __grid_constant__ CubeArguments arguments) {
    const SpectralArguments &spectral = arguments.spectral;
    const CycleArguments &a = spectral.cycle;
    const Operand *tables = reinterpret_cast<const Operand *>(spectral.tables);
    for (int i = threadIdx.x; i < MATRIX; i += THREADS) matrix()[i] = __ldg(tables + i);
    const Pair *factors = reinterpret_cast<const Pair *>(tables + MATRIX);
    squares_of_thread() = 0;
    begin_with_place(arguments, blockIdx.x);
#pragma unroll 1
    for (int turn = after_cycle_before(0); places[turn % 2].tile < spectral.tiles; turn++) {
        const Place &place = places[turn % 2];
        bool is_even = place.origin % 2 == 0;
        if (is_even) {
            split<true>(a, place);
        } else {
            split<false>(a, place);
        }
        __syncthreads();
        bool finds_place = threadIdx.x == 0;
        if (finds_place) copy_place(arguments, turn + 1, next_tile(arguments, place.tile, gridDim.x));
        transform(factors, spectral.correction_scale);
        if (finds_place) wait_for_place();
        __syncthreads();
        constexpr unsigned FIRST_OF_PAIRS = 0x55555555;
        bool owns_pairs = ((place.columns ^ place.columns >> 1) & FIRST_OF_PAIRS) == 0;
        if (is_even && owns_pairs) {
            join<true>(a, place);
        } else {
            join<false>(a, place);
        }
    }
    if (a.squares) write_sum_of_lanes(squares_of_thread(), a.squares + (blockIdx.x * THREADS + threadIdx.x) / WARP);
}
