// One cycle in 3D of tiles that are 32 x 32 points across and of any depth: a block marches along z with all K sweeps
// of the cycle under way at once.
//
//        plane    s-K  ..  s-2  s-1   s
//        sweep     K   ..   2    1    0     what step s makes of them: stage i makes sweep i of plane s - i
//
// A thread keeps a column of ROWS points of each stage: of its plane, and of the plane before. The plane after is what
// the stage before has just made. Neighbours in the plane are read from shared memory, which holds one plane with its
// halo for each stage, twice, so that a step needs one barrier; the frozen halo of planes under way stays in a ring.
// Variants: 3d
#include "lanes.cuh"
#include "norms.cuh"

extern __shared__ double memory[];

/// `SIDE`, `THREADS` and `RING` of `solver/cuda/shared_3d.rs`.
constexpr int SIDE = 32, ROWS = 4, THREADS = SIDE * SIDE / ROWS;
/// Halo points around a plane, one for a thread of a group; planes that the ring holds.
constexpr int AROUND = 4 * SIDE, GROUPS = THREADS / AROUND, RING = 16;
constexpr int STRIDE = SIDE + 2, PLANE = STRIDE * STRIDE;

/// K sweeps of a tile. With norms, sums of the squares of the updates of the first SUMS sweeps, `split.x` values apart.
template <int K, int SUMS = 1> __device__ __forceinline__ void stream(const CycleArguments &a, bool measures) {
    static_assert(K < RING, "the halo of a plane is kept until its last sweep");
    static_assert(SUMS <= K, "a sum for each sweep at most");
    real *planes = reinterpret_cast<real *>(memory), *ring = planes + 2 * K * PLANE;
    const long long pitch = a.grid.pitch, plane_pitch = a.grid.plane_pitch;
    const int depth = a.z.tile, x = threadIdx.x % SIDE, y = threadIdx.x / SIDE * ROWS;

    int first_plane, last_plane;
    unsigned owned = 0;
    long long at;
    {
        int tile = a.tile();
        int tile_x = tile % a.x.count, tile_y = tile / a.x.count % a.y.count, tile_z = tile / a.x.count / a.y.count;
        int i = a.x.start(tile_x) + x, j = a.y.start(tile_y) + y, z0 = a.z.start(tile_z);
        first_plane = a.z.border(tile_z) - z0, last_plane = a.z.border(tile_z + 1) - z0;
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            bool is_own = i >= a.x.border(tile_x) && i < a.x.border(tile_x + 1) && j + r >= a.y.border(tile_y) &&
                          j + r < a.y.border(tile_y + 1);
            owned |= unsigned(is_own) << r;
        }
        // The plane before the tile, at the thread's first point.
        at = (z0 - 1) * plane_pitch + j * pitch + i;
    }
    // The halo point of the thread in its group: those above and below the plane, then those left and right of it.
    const int place = threadIdx.x % AROUND, group = threadIdx.x / AROUND, along = place % SIDE, side = place / SIDE;
    const int halo_x = side < 2 ? along : (side == 2 ? -1 : SIDE), halo_y = side < 2 ? (side ? SIDE : -1) : along;
    const int halo_at = (halo_y - y) * int(pitch) + halo_x - x;
    const int halo = (halo_y + 1) * STRIDE + halo_x + 1, own = (y + 1) * STRIDE + x + 1;
    const bool loads_halo = group == 0;

    // Of each stage: its plane, the plane before, and the right-hand side of its plane.
    real here[K][ROWS], before[K][ROWS], right[K][ROWS], next[ROWS], next_halo = 0;
    double sums[SUMS] = {};
#pragma unroll
    for (int i = 0; i < K; i++) {
#pragma unroll
        for (int r = 0; r < ROWS; r++) here[i][r] = before[i][r] = right[i][r] = 0;
    }
    // Requests plane z; after the plane behind the tile, that one again.
    auto request = [&](int z) {
        const real *u = a.from + at;
#pragma unroll
        for (int r = 0; r < ROWS; r++) next[r] = load<0>(u + r * pitch);
        if (loads_halo) next_halo = load<0>(u + halo_at);
        if (z < depth) at += plane_pitch;
    };
    auto step = [&](int s, bool is_edge, int parity) {
        real made[ROWS], g[ROWS];
        const real *new_g = a.g + (s < depth ? at - plane_pitch : at);
#pragma unroll
        for (int r = 0; r < ROWS; r++) made[r] = next[r], g[r] = __ldcs(new_g + r * pitch);
        const real *read = planes + (parity ^ 1) * K * PLANE;
        real *write = planes + parity * K * PLANE;
        if (loads_halo) ring[(s & (RING - 1)) * AROUND + place] = write[halo] = next_halo;
        request(s + 1);
        // The halo of the planes that the stages after the first write.
#pragma unroll
        for (int n = 0; n < (K - 1 + GROUPS - 1) / GROUPS; n++) {
            int i = 1 + group + n * GROUPS;
            if (i < K) write[i * PLANE + halo] = ring[((s - i) & (RING - 1)) * AROUND + place];
        }
#pragma unroll
        for (int i = 0; i < K; i++) {
            int z = s - i - 1;
            const real *plane = read + i * PLANE + own;
            real y_prev = plane[-STRIDE], y_last = plane[ROWS * STRIDE], updated[ROWS];
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                real y_next = r + 1 < ROWS ? here[i][r + 1 < ROWS ? r + 1 : r] : y_last;
                updated[r] = update(a.weights, plane[r * STRIDE - 1], plane[r * STRIDE + 1], y_prev, y_next,
                                    before[i][r], made[r], right[i][r]);
                y_prev = here[i][r];
                // The planes before and behind the tile are frozen.
                if (is_edge && (z < 0 || z >= depth)) updated[r] = here[i][r];
                if (measures && i < SUMS) {
                    // Two ways to say the same: the first is faster for one sum, the second for several.
                    unsigned counts = SUMS == 1 ? z >= first_plane && z < last_plane && owned >> r & 1
                                                : (z >= first_plane && z < last_plane ? owned : 0) & 1u << r;
                    add_square_if(counts, sums[i < SUMS ? i : 0], updated[r] - here[i][r]);
                }
            }
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                write[i * PLANE + own + r * STRIDE] = made[r];
                before[i][r] = here[i][r], here[i][r] = made[r], made[r] = updated[r];
            }
        }
        int z = s - K;
        if (z >= first_plane && z < last_plane) {
            real *to = a.to + at - (min(s + 2, depth) - z) * plane_pitch;
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                if (owned >> r & 1) __stcs(to + r * pitch, made[r]);
            }
        }
#pragma unroll
        for (int i = K - 1; i > 0; i--) {
#pragma unroll
            for (int r = 0; r < ROWS; r++) right[i][r] = right[i - 1][r];
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++) right[0][r] = g[r];
        __syncthreads();
    };
    request(-1);
    // One loop for steps with frozen planes and without: the compiler keeps more in registers than with three.
#pragma unroll 1
    for (int s = -1; s < depth + K; s += 2) {
        if (s >= K && s < depth) {
            step(s, false, 1), step(s + 1, false, 0);
        } else {
            step(s, true, 1), step(s + 1, true, 0);
        }
    }
    if (!measures) return;
    double *squares = a.squares + blockIdx.x * (THREADS / WARP) + threadIdx.x / WARP;
#pragma unroll
    for (int i = 0; i < SUMS; i++) write_sum_of_lanes(sums[i], squares + i * static_cast<long long>(a.split.x));
}

#define STREAM(NAME, K, MEASURES)                                                                             \
    extern "C" __global__ void __launch_bounds__(THREADS, 1) NAME(const __grid_constant__ CycleArguments a) { \
        stream<K>(a, MEASURES);                                                                               \
    }

// One function that looks whether it measures takes longer with 4 and 6 sweeps, but not with 7.
STREAM(k_4, 4, false)
STREAM(k_4_measured, 4, true)
STREAM(k_6, 6, false)
STREAM(k_6_measured, 6, true)
STREAM(k_7, 7, a.squares)

/// `SWEEPS` of `solver/cuda/fused.rs`, of tiles that overlap so far that what they own is as after sweeps of the whole grid.
/// It is launched without norms; that it looks for them in the first sweep makes it 12 % faster.
extern "C" __global__ void __launch_bounds__(THREADS, 1) fused(const __grid_constant__ CycleArguments a) {
    stream<5>(a, a.squares);
}

/// The same with norms of every sweep: one function that looks for all of them takes 1.7 times as long.
extern "C" __global__ void __launch_bounds__(THREADS, 1) fused_measured(const __grid_constant__ CycleArguments a) {
    stream<5, 5>(a, true);
}

/// One of these sweeps alone, whose sum of squares has the same bits.
extern "C" __global__ void __launch_bounds__(THREADS) fused_single(const __grid_constant__ CycleArguments a) {
    stream<1>(a, a.squares);
}
