// A 1D tile in the registers of lanes: a power of two of lanes of a warp keep P consecutive points each, of the
// iterate and of the right-hand side, and get their neighbours' values by shuffles.
//
// A tile of 32 points in 4 lanes of 8 (a warp then has 8 such tiles, of one system or of several):
//
//     halo | 0 1 2 3 4 5 6 7 | 8 ...       15 | 16 ...      23 | 24 ...      31 | halo
//          |      lane 0     |     lane 1     |     lane 2     |     lane 3     |
//                           <> last point of a lane, first point of the next: shuffles
//
// Both halo values stay frozen for the whole cycle, in the registers of every lane of the tile.
//
// Shared memory holds a stage for each tile, which turns points side by side, as global memory is read and
// written, into consecutive points of a lane. One value is left out after each lane's points, so that lanes
// that read theirs together have no bank conflicts.
// Variants: 1d
#include "lanes.cuh"
#include "norms.cuh"

extern __shared__ double memory[];

/// Whether each warp writes its sum of squares: if `squares` is not null, or decided when the kernel is compiled,
/// where testing would cost speed.
enum Measured { IF_REQUESTED, NEVER, ALWAYS };

/// One cycle of the tiles of a block. A tile that is PARTIAL is smaller than its lanes.
template <int P, bool PARTIAL, Measured MEASURED> __device__ __forceinline__ void cycle(const CycleArguments a) {
    // `lanes` share a tile, and this is the `part`-th of them.
    unsigned lanes = a.split.x, part = threadIdx.x % WARP & (lanes - 1);
    long long tiles = (long long)a.x.count * a.grid.rows;
    long long tile = ((long long)blockIdx.x * blockDim.x + threadIdx.x) >> (__ffs(lanes) - 1);
    // A warp stays together: lanes after the last tile compute it again, and keep nothing.
    bool is_kept = tile < tiles;
    tile = min(tile, tiles - 1);
    // The number of tiles fits into 31 bits.
    int tile_x = int(tile) % a.x.count, row = int(tile) / a.x.count;

    int width = a.x.tile, x0 = a.x.start(tile_x);
    long long origin = row * a.grid.pitch + x0;
    // The points that the tile owns.
    int left = a.x.border(tile_x) - x0, right = is_kept ? a.x.border(tile_x + 1) - x0 : 0;
    bool is_first = part == 0, is_last = part == lanes - 1;

    real *stage = reinterpret_cast<real *>(memory) + (threadIdx.x - part) * (P + 1);
    real *own = stage + part * (P + 1);
    // The `i`-th value that a lane reads or writes in global memory, on the stage.
    auto on_stage = [&](int i) -> real & {
        unsigned x = part + i * lanes;
        return stage[x + x / P];
    };
    const real *from = a.from + origin + part, *g_from = a.g + origin + part;
    real u[P], g[P];
#pragma unroll
    for (int i = 0; i < P; i++) {
        int x = part + i * lanes;
        g[i] = !PARTIAL || x < width ? __ldg(g_from + i * lanes) : real(0);
    }
#pragma unroll
    for (int i = 0; i < P; i++) {
        int x = part + i * lanes;
        u[i] = !PARTIAL || x <= width ? __ldg(from + i * lanes) : real(0);
    }
    real halo_prev = __ldg(a.from + origin - 1), halo_next = __ldg(a.from + origin + width);
#pragma unroll
    for (int i = 0; i < P; i++) on_stage(i) = g[i];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < P; i++) g[i] = own[i];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < P; i++) on_stage(i) = u[i];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < P; i++) u[i] = own[i];
    // If PARTIAL: how many of the lane's points are updated.
    int updated = min(max(width - int(part) * P, 0), P);
    // The lane's points that the tile owns, one bit each.
    auto before = [&](int x) { return unsigned((1ull << min(max(x - int(part) * P, 0), P)) - 1); };
    unsigned owned = before(right) & ~before(left);

    // Several sums, so that no addition waits for the one before.
    constexpr int CHAINS = PARTIAL ? 2 : 4;
    double squares[CHAINS] = {};
    auto sweep = [&](bool with_squares) {
        real x_prev = __shfl_up_sync(ALL_LANES, u[P - 1], 1);
        real last = __shfl_down_sync(ALL_LANES, u[0], 1);
        if (is_first) x_prev = halo_prev;
        if (is_last) last = halo_next;
#pragma unroll
        for (int i = 0; i < P; i++) {
            real value = update(a.weights, x_prev, i + 1 < P ? u[i + 1] : last, 0, 0, g[i]);
            if (PARTIAL && i >= updated) value = u[i];
            if (with_squares) add_square_if(owned & 1u << i, squares[i % CHAINS], value - u[i]);
            x_prev = u[i];
            u[i] = value;
        }
    };
    int sweeps = a.k;
    // Moved here, so that the compiler does not know that there is at least one, and keeps the loop below apart.
    if (MEASURED != IF_REQUESTED) asm volatile("mov.u32 %0, %0;" : "+r"(sweeps));
    const bool is_measured = MEASURED == ALWAYS || (MEASURED == IF_REQUESTED && a.squares);
    if (is_measured) {
        sweep(true);
#pragma unroll
        for (int i = 1; i < CHAINS; i++) squares[0] += squares[i];
        sweeps--;
    }
    // In pairs, to spare moves. The longest have no registers left for that.
#pragma unroll(PARTIAL && P > 8 ? 1 : 2)
    for (; sweeps > 0; sweeps--) sweep(false);

    __syncwarp();
#pragma unroll
    for (int i = 0; i < P; i++) own[i] = u[i];
    __syncwarp();
    // Read again, so that no address of the stage stays in registers during the sweeps.
    asm volatile("mov.u32 %0, %0;" : "+r"(lanes));
    real *to = a.to + origin + part;
#pragma unroll
    for (int i = 0; i < P; i++) {
        int x = part + i * lanes;
        if (left <= x && x < right) to[i * lanes] = on_stage(i);
    }
    // Not before: few warps hide the wait after the first sweep.
    if (is_measured) write_sum_of_lanes(squares[0], a.squares + (blockIdx.x * blockDim.x + threadIdx.x) / WARP);
}

#define KERNEL(name, P, PARTIAL, MEASURED)                                                             \
    extern "C" __global__ void __launch_bounds__(128, 2) name(const CycleArguments arguments) {        \
        cycle<P, PARTIAL, MEASURED>(arguments);                                                        \
    }

KERNEL(full, 8, false, NEVER)
KERNEL(full_measured, 8, false, ALWAYS)
KERNEL(partial, 8, true, NEVER)
KERNEL(partial_measured, 8, true, ALWAYS)
KERNEL(full_long, 32, false, NEVER)
KERNEL(full_long_measured, 32, false, ALWAYS)
KERNEL(partial_long, 32, true, IF_REQUESTED)
