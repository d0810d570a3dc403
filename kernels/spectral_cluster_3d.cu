// One cycle of 3D cubes of 32 points in their sine basis, on tensor cores: all k subiterations at once (the
// mathematics is in `solver/spectral.rs`).
//
// The values of such a tile are more than the shared memory of a multiprocessor, so a cluster of two blocks works on it.
// Either block begins and ends with half of the columns along z, and between has half of the modes along z:
//
// - Each thread finds the change of the first sweep in one column and transforms it: of mirrored points the sum sees the
//   modes of odd number and the difference those of even number, so that two 16 x 16 products remain, in plain arithmetic.
//   The modes of odd number go to the shared memory of the first block, the others to that of the second one.
// - A plane belongs to one mode. Each warp takes one and transforms it along y and x, multiplies it by the factors and
//   transforms it back (`quadrants.cuh`).
// - Each thread transforms its column back and adds it to the iterate.
//
// Tables: the matrices of `quadrants.cuh`, then its factors for each plane of the first and of the second block.
// `solver/cuda/spectral/tables.rs` writes them.
// Variants: 3d symmetric sm_90
#include "cube.cuh"
#include "norms.cuh"
#include "quadrants.cuh"
#include "sines.cuh"

constexpr int SIDE = 32, HALF = SIDE / 2, CLUSTER = 2;
/// Columns and planes of a block: both are 16 rows of 32. In double precision there is a thread for each column and a warp for
/// each plane. In single precision two blocks share a multiprocessor, and threads take turns.
constexpr int COLUMNS = SIDE * HALF, PLANES = HALF, TURNS = REAL_BITS == 64 ? 1 : 2, THREADS = COLUMNS / TURNS;
/// Pairs of a row, of a plane, of what a block has of a tile, and of the matrices.
constexpr int ROW = SIDE / 2, PLANE = SIDE * ROW, TILE = PLANES * PLANE;
constexpr int MATRICES = 2 * Quadrants::MATRIX * int(sizeof(Operand) / sizeof(Pair));

/// The planes, the matrices, and a sum of squares of each thread.
extern __shared__ __align__(16) Pair memory[];

/// Where pair `x` of row `y` of a plane lies. The lanes of a warp read rows 0, 4, 8 and 12 together, 32 bytes each, which must
/// lie in different banks.
__device__ __forceinline__ int in_plane(int y, int x) {
    constexpr int TOGETHER = 32 / int(sizeof(Pair));
    return y * ROW + (x ^ (y / 4 % 4 * TOGETHER));
}

/// The number of this block in its cluster.
__device__ __forceinline__ int rank_of_block() {
    int rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

/// The same place in the shared memory of a block of the cluster.
__device__ __forceinline__ unsigned in_block(int rank, unsigned address) {
    unsigned there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(rank));
    return there;
}

__device__ __forceinline__ void store_pair(unsigned address, Pair pair) {
#if REAL_BITS == 64
    asm volatile("st.shared.v2.f64 [%0], {%1, %2};" ::"r"(address), "d"(pair.x), "d"(pair.y) : "memory");
#else
    asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(address), "f"(pair.x), "f"(pair.y) : "memory");
#endif
}

/// Begins to copy a pair to shared memory.
__device__ __forceinline__ void copy_pair(unsigned to, const Pair *from) {
#if REAL_BITS == 64
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
#else
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(to), "l"(from) : "memory");
#endif
}

__device__ __forceinline__ real load_from_block(unsigned address) {
    real value;
#if REAL_BITS == 64
    asm volatile("ld.shared::cluster.f64 %0, [%1];" : "=d"(value) : "r"(address) : "memory");
#else
    asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(value) : "r"(address) : "memory");
#endif
    return value;
}

__device__ __forceinline__ void store_to_block(unsigned address, real value) {
#if REAL_BITS == 64
    asm volatile("st.shared::cluster.f64 [%0], %1;" ::"r"(address), "d"(value) : "memory");
#else
    asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(address), "f"(value) : "memory");
#endif
}

/// Says that this thread has come so far; and waits for all threads of the cluster to say so.
__device__ __forceinline__ void arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
__device__ __forceinline__ void wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

/// Whether a cluster takes the next tile that is left (`next_tile`), or has its own. In double precision, where a multiprocessor
/// has one block, it would wait longer for the number than it gains.
constexpr bool TAKES_WHAT_IS_LEFT = REAL_BITS == 32;

/// Where a tile lies. Found here: in double precision a copy from memory took longer.
__device__ __forceinline__ Place place_of(const CycleArguments &a, int tile) {
    // Nothing of it is computed before and kept in registers.
    CycleArguments here = a;
    here.x.points = unknown(a.x.points), here.y.points = unknown(a.y.points), here.z.points = unknown(a.z.points);
    return Place(here, tile);
}

/// Finds the place of the tile after this one, while the cluster works on this one.
__device__ __forceinline__ void find_next_place(const CubeArguments &a, int turn) {
    int tile = places[turn % 2].tile, clusters = gridDim.x / CLUSTER;
    Place *next = places + (turn + 1) % 2;
    if (threadIdx.x != 0) return;
    if (!TAKES_WHAT_IS_LEFT) {
        *next = place_of(a.spectral.cycle, tile + clusters);
    } else if (rank_of_block() == 0) {
        *next = place_of(a.spectral.cycle, next_tile(a, tile, clusters));
        // The other block has the same.
        const uint4 *parts = reinterpret_cast<const uint4 *>(next);
        unsigned there = in_block(1, static_cast<unsigned>(__cvta_generic_to_shared(next)));
        for (int i = 0; i < 2; i++) {
            asm volatile("st.shared::cluster.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(there + i * int(sizeof(uint4))),
                         "r"(parts[i].x), "r"(parts[i].y), "r"(parts[i].z), "r"(parts[i].w)
                         : "memory");
        }
    }
}

/// A column of the block: where it lies in the tile, and where its modes of odd and of even number lie.
struct Column {
    int x, y;

    __device__ __forceinline__ explicit Column(int number) : x(number % SIDE), y(rank_of_block() * HALF + number / SIDE) {}

    __device__ __forceinline__ unsigned modes(int half) const {
        return in_block(half, address_of(memory + in_plane(y, x / 2)) + x % 2 * unsigned(sizeof(real)));
    }
};

/// The change of the first sweep in a column; adds up the squares of the owned points.
__device__ __forceinline__ void sweep(const CycleArguments &a, const Place &place, int number, real (&change)[SIDE]) {
    Column column(number);
    sweep_column(a, place.origin + column.y * a.grid.pitch + column.x, change);
    if (a.squares) {
        // Not in registers, of which there are too few.
        double *sum = reinterpret_cast<double *>(memory + TILE + MATRICES) + thread_of_block();
        double squares = *sum;
        Column column(unknown(number));
        unsigned owned = place.owned(column.x, column.y);
#pragma unroll
        for (int z = 0; z < SIDE; z++) add_square_if(owned >> z & 1, squares, change[z]);
        *sum = squares;
    }
}

/// The first sweep and the transform along z: writes the modes of the thread's columns once all planes may be written.
__device__ __forceinline__ void split(const CycleArguments &a, const Place &place) {
#pragma unroll 1
    for (int turn = 0; turn < TURNS; turn++) {
        int number = turn * THREADS + thread_of_block();
        real change[SIDE];
        sweep(a, place, number, change);
#pragma unroll
        for (int i = 0; i < HALF; i++) {
            real first = change[i], last = change[SIDE - 1 - i];
            change[i] = first + last, change[SIDE - 1 - i] = first - last;
        }
        if (turn == 0) wait();
        Column column(unknown(number));
#pragma unroll
        for (int half = 0; half < 2; half++) {
            unsigned to = column.modes(half);
#pragma unroll
            for (int m = 0; m < HALF; m++) {
                real sum = 0;
#pragma unroll
                for (int i = 0; i < HALF; i++) {
                    add_entry<SIDE>(sum, 2 * m + 1 + half, i + 1, change[half ? SIDE - 1 - i : i]);
                }
                store_to_block(to + m * PLANE * int(sizeof(Pair)), sum);
            }
        }
    }
}

/// The lane's rows of a plane, and the mirrored ones.
struct RowsOfLane {
    static constexpr int BYTES = sizeof(Pair), ROWS = Quadrants::ROWS;
    /// Where its pairs of the first of these rows lie, on both sides.
    unsigned left, right, mirrored_left, mirrored_right;

    __device__ __forceinline__ explicit RowsOfLane(int number) {
        int lane = thread_of_block() % WARP, x = lane / 4, y = ROWS * (lane % 4);
        unsigned plane = address_of(memory + number * PLANE);
        auto at = [=](int y, int x) { return plane + in_plane(y, x) * BYTES; };
        left = at(y, x), right = at(y, ROW - 1 - x);
        mirrored_left = at(SIDE - ROWS - y, x), mirrored_right = at(SIDE - ROWS - y, ROW - 1 - x);
    }

    __device__ __forceinline__ Sides row(int i) const {
        int at = i * ROW * BYTES;
        return {load_pair(left + at), load_pair(right + at)};
    }

    __device__ __forceinline__ Sides mirrored(int i) const {
        int at = (ROWS - 1 - i) * ROW * BYTES;
        return {load_pair(mirrored_left + at), load_pair(mirrored_right + at)};
    }

    __device__ __forceinline__ void store(int i, const Sides &above, const Sides &below) const {
        int at = i * ROW * BYTES, mirrored = (ROWS - 1 - i) * ROW * BYTES;
        store_pair(left + at, above.left), store_pair(right + at, above.right);
        store_pair(mirrored_left + mirrored, below.left), store_pair(mirrored_right + mirrored, below.right);
    }
};

/// Transforms the planes of the warp, multiplies them by the factors and transforms them back. Each lane copies its factors to
/// where the plane lay while the warp multiplies.
__device__ __forceinline__ void transform(const Pair *tables, float correction_scale) {
#pragma unroll 1
    for (int turn = 0; turn < TURNS; turn++) {
        int thread = turn * THREADS + thread_of_block(), plane = thread / WARP;
        Quadrants quadrants;
        RowsOfLane from(plane);
#pragma unroll
        for (int i = 0; i < Quadrants::ROWS; i++) quadrants.fold(i, from.row(i), from.mirrored(i));
        __syncwarp();
        int of_lane = plane * PLANE + thread % WARP;
        const Pair *factors = tables + MATRICES + rank_of_block() * TILE + of_lane;
        unsigned copied = address_of(memory + of_lane);
#pragma unroll
        for (int i = 0; i < PLANE / WARP; i++) {
            copy_pair(copied + i * WARP * int(sizeof(Pair)), factors + i * WARP);
        }
        auto factor = [=](int i) {
            if (i == 0) asm volatile("cp.async.wait_all;" ::: "memory");
            return load_pair(copied + i * WARP * int(sizeof(Pair)));
        };
        Scale scale = quadrants.scaled(correction_scale);
        quadrants.transform(reinterpret_cast<const Operand *>(memory + TILE), factor);
        __syncwarp();
        RowsOfLane to(unknown(thread) / WARP);
#pragma unroll
        for (int i = 0; i < Quadrants::ROWS; i++) {
            Sides above, below;
            quadrants.unfold(i, above, below);
            auto after = [&](const Sides &sides) { return Sides{scale.after(sides.left), scale.after(sides.right)}; };
            to.store(i, after(above), after(below));
        }
    }
}

/// The transform back along z of a column, if the tile owns it.
__device__ __forceinline__ void transform_back(const Place &place, int number, real (&sums)[HALF], real (&differences)[HALF]) {
    Column column(number);
    if (!place.owns_column(column.x, column.y)) return;
    unsigned odd_modes = column.modes(0), even_modes = column.modes(1);
#pragma unroll
    for (int m = 0; m < HALF; m++) {
        real odd = load_from_block(odd_modes + m * PLANE * int(sizeof(Pair)));
        real even = load_from_block(even_modes + m * PLANE * int(sizeof(Pair)));
#pragma unroll
        for (int i = 0; i < HALF; i++) {
            add_entry<SIDE>(sums[i], 2 * m + 1, i + 1, odd);
            add_entry<SIDE>(differences[i], 2 * m + 2, i + 1, even);
        }
    }
}

/// Adds the correction to the owned points of the thread's columns and stores them; says that the planes may be written again.
__device__ __forceinline__ void join(const CycleArguments &a, const Place &place) {
#pragma unroll 1
    for (int turn = 0; turn < TURNS; turn++) {
        int number = turn * THREADS + thread_of_block();
        // What the modes of odd number add to both of two mirrored points, and what those of even number add to the first and
        // take from the second.
        real sums[HALF] = {}, differences[HALF] = {};
        transform_back(place, number, sums, differences);
        // Not after the last stores: others would wait until these are seen by all.
        if (turn == TURNS - 1) arrive();
        Column column(unknown(number));
        unsigned owned = place.owned(column.x, column.y);
        if (owned == 0) continue;
        long long first = place.origin + column.y * a.grid.pitch + column.x;
        const real *from = a.from + first;
        real *to = a.to + first;
#pragma unroll
        for (int z = 0; z < SIDE; z++, from += a.grid.plane_pitch, to += a.grid.plane_pitch) {
            int i = min(z, SIDE - 1 - z);
            real change = z < HALF ? sums[i] + differences[i] : sums[i] - differences[i];
            if (owned >> z & 1) *to = __ldg(from) + change;
        }
    }
}

/// One cycle. Of each warp one sum of squares is written.
extern "C" __global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS, TURNS)
    side_32(const __grid_constant__ CubeArguments arguments) {
    const SpectralArguments &spectral = arguments.spectral;
    const CycleArguments &a = spectral.cycle;
    const Pair *tables = reinterpret_cast<const Pair *>(spectral.tables);
    for (int i = threadIdx.x; i < MATRICES; i += THREADS) memory[TILE + i] = __ldg(tables + i);
    double *squares = reinterpret_cast<double *>(memory + TILE + MATRICES) + threadIdx.x;
    *squares = 0;
    if (threadIdx.x == 0) places[0] = place_of(a, blockIdx.x / CLUSTER);
    __syncthreads();
    int turn = after_cycle_before(0);
    arrive();
#pragma unroll 1
    for (; places[turn % 2].tile < spectral.tiles; turn++) {
        // The planes of the tile before are read until all threads have arrived.
        split(a, places[turn % 2]);
        arrive();
        wait();
        find_next_place(arguments, turn);
        transform(tables, spectral.correction_scale);
        arrive();
        wait();
        // The cluster's barrier would do, but tools that look for races only know this one.
        __syncthreads();
        join(a, places[turn % 2]);
    }
    wait();
    if (a.squares) write_sum_of_lanes(*squares, a.squares + (blockIdx.x * THREADS + threadIdx.x) / WARP);
}
