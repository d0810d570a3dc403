// A tile in the registers of warps: every lane keeps a patch of it and of its right-hand side, and
// asks the lanes beside it for the values around by shuffles.
//
// On their way between global memory and the registers, values pass through shared memory: there a
// warp reads and writes whole rows, here each lane its patch.
#include "stencil.cuh"

extern __shared__ double memory[];

#if FORM >= PLANE_ISOTROPIC

/// Warps of a block, across and down.
struct Warps {
    int across, down;
};

/// Most warps of a block.
constexpr int MOST_WARPS = 8;

/// Lanes of a warp, across and down.
constexpr int LANES_X = 8, LANES_Y = WARP / LANES_X;

/// Where a point lies in its patch. Along either axis every second patch is turned round, so that
/// lanes meet at the same end of their patches, and what lies outside of the warp is needed at the
/// first end alone: sweeps wait for shared memory, and this halves what they ask of it.
template <int POINTS> __device__ __forceinline__ int turned(int i) {
    return i ^ (i / POINTS % 2 * (POINTS - 1));
}

/// Points from `start` to `end`, counted from the first of a patch, as they lie in it.
struct Range {
    int start, end;

    __device__ __forceinline__ Range(int start, int end, int points, bool is_turned)
        : start(is_turned ? points - end : start), end(is_turned ? points - start : end) {}

    /// A bit for each point, the first `points` alone, each of them `wide` bits.
    __device__ __forceinline__ unsigned bits(int points, int wide) const {
        auto below = [&](int i) { return unsigned((1ull << min(max(i, 0), points) * wide) - 1); };
        return below(end) & ~below(start);
    }
};

/// The PX x PY points of a tile that a lane keeps. A warp keeps 8 x 4 patches side by side. Either it
/// is ALONE in its block, or there are several.
///
/// If the tile is PARTIAL, it is smaller than that: points beyond it stay as they are, and those
/// next to it are its ring.
template <int PX, int PY, bool PARTIAL, bool ALONE> struct Patch {
    static constexpr int X = PX, Y = PY;
    static constexpr bool IS_ALONE = ALONE;
    static constexpr int WIDTH = PX * LANES_X, HEIGHT = PY * LANES_Y;
    /// Lanes at both ends of a warp, and the values outside of it.
    static constexpr int ENDS_X = 2 * LANES_Y, ENDS_Y = 2 * LANES_X, OUTSIDE = 2 * (WIDTH + HEIGHT);
    /// Of the stage of a warp.
    static constexpr int STAGE_PITCH = WIDTH == 32 && sizeof(real) == 8 ? WIDTH + 2 : WIDTH;
    static constexpr int STAGE = HEIGHT * (WIDTH + 2) + LANES_Y;

    real u[PY][PX], right[PY][PX];
    /// Of a partial tile, the points that are updated: one bit each.
    unsigned updated;
    /// The lane in its warp, and the lane beside it, at the first end of its patch, across.
    int lane_x, lane_y, before_x;
    /// Where, in shared memory, the values lie that are just outside of the warp, beside the lane: of
    /// the ring, or of the warp beside it. Of each lane's patch first the first value, then the second:
    /// lanes read them together, and meet in no memory bank.
    int rows, columns;
    /// There are two sets of them, of the last sweep and of the one that is made: to the other. 0
    /// where the warp is alone, whose outside stays.
    int flip;
    /// The sweeps of a cycle.
    int k;
    /// From there to where the warp beside this one finds this one's.
    int to_rows, to_columns;
    /// Whether there is one.
    bool tells_rows, tells_columns;

    /// What lies outside of the warps of the block, in shared memory; then come their stages.
    static __device__ __forceinline__ real *outside() { return reinterpret_cast<real *>(memory); }

    __device__ __forceinline__ bool ends_x() const { return lane_x == 0 || lane_x == LANES_X - 1; }
    __device__ __forceinline__ bool ends_y() const { return lane_y == 0 || lane_y == LANES_Y - 1; }
    __device__ __forceinline__ bool never() const { return k < 0; }

    /// The points of the patch within both ranges: one bit each, row by row.
    static __device__ __forceinline__ unsigned points(const Range &along_x, const Range &along_y) {
        unsigned each_row = 0;
#pragma unroll
        for (int j = 0; j < PY; j++) each_row |= 1u << j * PX;
        return along_x.bits(PX, 1) * each_row & along_y.bits(PY, PX);
    }

    /// Makes one sweep. If it is to MEASURE, it tells what it finds at the points that the tile owns.
    template <bool MEASURE>
    __device__ __forceinline__ void sweep(const Weights &weights, unsigned owned, Norms &found) {
        real before[PX];
#pragma unroll
        for (int i = 0; i < PX; i++) {
            before[i] = __shfl_xor_sync(ALL_LANES, u[0][i], (LANES_Y - 1) * LANES_X);
            if (ends_y()) before[i] = outside()[rows + i * ENDS_Y];
        }
#pragma unroll
        for (int j = 0; j < PY; j++) {
            // Never, and the compiler cannot know: it does not move instructions past this, where it
            // would otherwise need more registers at a time than there are.
            if (!PARTIAL && j == PY / 2 && never()) return;
            real first = __shfl_sync(ALL_LANES, u[j][0], before_x);
            real last = __shfl_xor_sync(ALL_LANES, u[j][PX - 1], 1);
            if (ends_x()) first = outside()[columns + j * ENDS_X];
            real after[PX];
#pragma unroll
            for (int i = 0; i < PX; i++) {
                after[i] = j + 1 < PY ? u[j + 1][i] : __shfl_xor_sync(ALL_LANES, u[j][i], LANES_X);
            }
#pragma unroll
            for (int i = 0; i < PX; i++) {
                real own = u[j][i];
                real value = at_point(weights, i > 0 ? before[i - 1] : first,
                                      i + 1 < PX ? u[j][i + 1] : last, before[i], after[i],
                                      right[j][i]);
                if (PARTIAL && !(updated >> (j * PX + i) & 1)) value = own;
                if (MEASURE) found.first_sweep_if(owned & 1u << (j * PX + i), value - own);
                // It was the row before this one's; now it is the row before the next one's.
                before[i] = own;
                u[j][i] = value;
            }
        }
        if (ALONE) {
            // Added nothing, but kept: worked out anew, they would cost a sweep more.
            rows += flip;
            columns += flip;
            before_x += flip;
        } else {
            tell();
        }
    }

    /// The update of a point from its neighbours as they lie in the patch.
    __device__ __forceinline__ real at_point(const Weights &weights, real before_x, real after_x,
                                             real before_y, real after_y, real g) const {
        if (FORM != PLANE_GENERAL) return update(weights, before_x, after_x, before_y, after_y, g);
        // Here it matters which neighbour is which.
        bool turned_x = lane_x % 2, turned_y = lane_y % 2;
        return update(weights, turned_x ? after_x : before_x, turned_x ? before_x : after_x,
                      turned_y ? after_y : before_y, turned_y ? before_y : after_y, g);
    }

    /// Tells the warps beside this one the values at its borders.
    __device__ __forceinline__ void tell() {
        rows += flip;
        columns += flip;
        flip = -flip;
        if (tells_rows) {
#pragma unroll
            for (int i = 0; i < PX; i++) outside()[rows + to_rows + i * ENDS_Y] = u[0][i];
        }
        if (tells_columns) {
#pragma unroll
            for (int j = 0; j < PY; j++) outside()[columns + to_columns + j * ENDS_X] = u[j][0];
        }
        __syncthreads();
    }

    /// Where in the stage of its warp a value lies: with gaps, so that lanes that read their patches
    /// together meet in no memory bank.
    static __device__ __forceinline__ int in_stage(int x, int y) {
        return y * STAGE_PITCH + y / PY + (STAGE_PITCH > WIDTH ? x + x / 16 * 2 : x);
    }

    /// Where the lane's patch does, seen from its first point.
    __device__ __forceinline__ real *in_stage(real *stage) const {
        return stage + in_stage(lane_x * PX, lane_y * PY);
    }

    /// Takes values of the lane's patch from the stage of its warp.
    __device__ __forceinline__ void take(real (&values)[PY][PX], real *stage) const {
        const real *own = in_stage(stage);
        __syncwarp();
#pragma unroll
        for (int j = 0; j < PY; j++) {
#pragma unroll
            for (int i = 0; i < PX; i++) values[j][i] = own[j * STAGE_PITCH + i];
        }
        __syncwarp();
    }

    /// Puts the lane's patch onto the stage of its warp.
    __device__ __forceinline__ void put(real *stage) const {
        real *own = in_stage(stage);
        __syncwarp();
#pragma unroll
        for (int j = 0; j < PY; j++) {
#pragma unroll
            for (int i = 0; i < PX; i++) own[j * STAGE_PITCH + i] = u[j][i];
        }
        __syncwarp();
    }
};

/// Where a lane is. Worked out anew where it is needed: kept in registers through the sweeps, it would
/// be in the way.
template <typename Lane> struct Place {
    int lane, warp, lane_x, lane_y;
    /// The first point of the warp's part of the tile: in the tile, and in the grid.
    int part_x, part_y, x0, y0;
    /// What the tile owns of the part.
    int left, end_x, top, end_y;

    __device__ __forceinline__ Place(const Axis &along_x, const Axis &along_y, int warps_across) {
        int thread, tile;
        asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
        asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(tile));
        lane = thread % WARP, warp = Lane::IS_ALONE ? 0 : thread / WARP;
        lane_x = lane % LANES_X, lane_y = lane / LANES_X;
        part_x = warp % warps_across * Lane::WIDTH, part_y = warp / warps_across * Lane::HEIGHT;
        int tile_x = tile % along_x.count, tile_y = tile / along_x.count;
        x0 = along_x.start(tile_x) + part_x, y0 = along_y.start(tile_y) + part_y;
        left = along_x.border(tile_x) - x0, end_x = along_x.border(tile_x + 1) - x0;
        top = along_y.border(tile_y) - y0, end_y = along_y.border(tile_y + 1) - y0;
    }

    /// What the tile owns of the lane's patch.
    __device__ __forceinline__ unsigned owned() const {
        int x = lane_x * Lane::X, y = lane_y * Lane::Y;
        return Lane::points(Range(left - x, end_x - x, Lane::X, lane_x % 2),
                            Range(top - y, end_y - y, Lane::Y, lane_y % 2));
    }
};

template <int PX, int PY, bool PARTIAL, bool ALONE>
__device__ __forceinline__ void cycle(const real *__restrict__ from, const real *__restrict__ g,
                                      real *__restrict__ to, const Grid &grid, const Weights &weights,
                                      const Axis &along_x, const Axis &along_y, int k, Warps warps,
                                      const double *__restrict__ exact, Norms *__restrict__ norms) {
    typedef Patch<PX, PY, PARTIAL, ALONE> Lane;
    constexpr int WIDTH = Lane::WIDTH, HEIGHT = Lane::HEIGHT;
    if (ALONE) warps.across = warps.down = 1;

    Place<Lane> at_start(along_x, along_y, warps.across);
    int lane = at_start.lane, warp = at_start.warp, lane_x = at_start.lane_x, lane_y = at_start.lane_y;
    int width = along_x.tile, height = along_y.tile;
    int part_x = at_start.part_x, part_y = at_start.part_y;
    long long origin = at_start.y0 * grid.pitch + at_start.x0;
    // Of a partial tile, nothing lies beyond the ring; the ring's corners belong to no stencil.
    auto value_at = [&](int x, int y) {
        int in_x = part_x + x, in_y = part_y + y;
        bool is_there = !PARTIAL || (in_y < height && in_x <= width) || 
                        (in_x >= 0 && in_x < width && in_y <= height);
        return is_there ? from[origin + y * grid.pitch + x] : real(0);
    };

    int set = warps.across * warps.down * Lane::OUTSIDE, flip = ALONE ? 0 : set;
    real *outside = Lane::outside();
    bool is_low_x = lane_x == 0, is_low_y = lane_y == 0;
    bool is_high_x = lane_x == LANES_X - 1, is_high_y = lane_y == LANES_Y - 1;
    Lane patch;
    patch.lane_x = lane_x;
    patch.lane_y = lane_y;
    patch.before_x = lane_x % 2 ? lane + 1 : lane - 1;
    patch.k = k;
    patch.flip = ALONE ? k >> 30 : flip;
    int rows = warp * Lane::OUTSIDE, columns = rows + 2 * WIDTH;
    patch.rows = rows + lane_x + (is_high_y ? LANES_X : 0);
    patch.columns = columns + lane_y + (is_high_x ? LANES_Y : 0);
    // A warp's last row is what the one below finds before its first.
    patch.to_rows = is_high_y ? warps.across * Lane::OUTSIDE - LANES_X : LANES_X - warps.across * Lane::OUTSIDE;
    patch.to_columns = is_high_x ? Lane::OUTSIDE - LANES_Y : LANES_Y - Lane::OUTSIDE;
    patch.tells_rows = (is_low_y && part_y > 0) || (is_high_y && part_y + HEIGHT < warps.down * HEIGHT);
    patch.tells_columns = (is_low_x && part_x > 0) || (is_high_x && part_x + WIDTH < warps.across * WIDTH);

    // Row by row: a lane looks at one column, or two lanes' rows at once.
    constexpr int LANES_A_ROW = WIDTH < WARP ? WIDTH : WARP, ROWS_AT_ONCE = WARP / LANES_A_ROW;
    real *stage = outside + set + flip + warp * Lane::STAGE;
    int column = lane % LANES_A_ROW, first_row = lane / LANES_A_ROW;
    auto in_row = [&](int row) -> real & {
        return stage[Lane::in_stage(turned<PX>(column), turned<PY>(row))];
    };
    // All are asked for before the first is waited for.
    constexpr int ROWS = HEIGHT / ROWS_AT_ONCE;
    real start[ROWS], start_right[ROWS];
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        int row = first_row + i * ROWS_AT_ONCE;
        bool inside = !PARTIAL || (part_x + column < width && part_y + row < height);
        start_right[i] = inside ? g[origin + row * grid.pitch + column] : real(0);
        if (ALONE) start[i] = value_at(column, row);
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++) in_row(first_row + i * ROWS_AT_ONCE) = start_right[i];
    __syncwarp();
    if (!ALONE) {
        // The other half later, and the compiler cannot know that it never leaves here: blocks of
        // several warps need fewer registers so, and take 50 us instead of 55 for 64 sweeps.
        if (!PARTIAL && patch.never()) return;
#pragma unroll
        for (int i = 0; i < ROWS; i++) start[i] = value_at(column, first_row + i * ROWS_AT_ONCE);
    }
    // What is outside: of a warp of 32 x 32 points, a lane has one of each kind; of a smaller one the
    // lanes after the last ask for the same again.
    int along_row = lane % WIDTH, along_column = lane % HEIGHT;
    real above = value_at(along_row, -1), below = value_at(along_row, HEIGHT);
    real left = value_at(-1, along_column), right = value_at(WIDTH, along_column);
    patch.take(patch.right, stage);
#pragma unroll
    for (int i = 0; i < ROWS; i++) in_row(first_row + i * ROWS_AT_ONCE) = start[i];
    auto surround = [&](int at, int lanes, int points, int i, real low, real high) {
        at += i % points * (2 * lanes) + i / points;
        outside[at] = outside[at + flip] = low;
        outside[at + lanes] = outside[at + lanes + flip] = high;
    };
    surround(rows, LANES_X, PX, turned<PX>(along_row), above, below);
    surround(columns, LANES_Y, PY, turned<PY>(along_column), left, right);
    // The start of the cycle stays there, to be compared with.
    patch.take(patch.u, stage);

    // The lane's first point in the tile, and what is there in its patch.
    int x = part_x + lane_x * PX, y = part_y + lane_y * PY;
    if (PARTIAL) {
        patch.updated = Lane::points(Range(0, width - x, PX, lane_x % 2),
                                     Range(0, height - y, PY, lane_y % 2));
    }
    if (!ALONE) __syncthreads();

    // What the block's warps found; a warp alone tells at once.
    __shared__ Norms of_warps[ALONE ? 1 : MOST_WARPS];
    auto found_by = [&](int warp) { return ALONE ? norms + blockIdx.x : of_warps + warp; };

    int sweeps = k;
    if (norms) {
        Norms found = {};
        patch.template sweep<true>(weights, at_start.owned(), found);
        sweeps--;
        found.add_lanes_first_sweep();
        Place<Lane> place(along_x, along_y, warps.across);
        if (place.lane == 0) {
            found_by(place.warp)->squares = found.squares;
            found_by(place.warp)->largest = found.largest;
        }
    }
    Norms found = {};
#pragma unroll 1
    for (; sweeps > 0; sweeps--) patch.template sweep<false>(weights, 0, found);

    Place<Lane> place(along_x, along_y, warps.across);
    patch.lane_x = place.lane_x, patch.lane_y = place.lane_y;
    stage = outside + set + flip + place.warp * Lane::STAGE;
    column = place.lane % LANES_A_ROW, first_row = place.lane / LANES_A_ROW;
    // What the cycle began with is still on the stage.
    real begun[ROWS];
#pragma unroll
    for (int i = 0; i < ROWS; i++) begun[i] = norms ? in_row(first_row + i * ROWS_AT_ONCE) : real(0);
    patch.put(stage);
    // The rows that the tile owns in the lane's column.
    bool is_owned = place.left <= column && column < place.end_x;
    int top = max(place.top, 0), end = is_owned ? min(place.end_y, HEIGHT) : 0;
    if (norms) {
        unsigned owned = Range(top, end, HEIGHT, false).bits(HEIGHT, 1) >> first_row;
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            double change = in_row(first_row + i * ROWS_AT_ONCE) - begun[i];
            found.whole_cycle_if(owned & 1u << i * ROWS_AT_ONCE, change);
        }
    }
    origin = place.y0 * grid.pitch + place.x0 + column;
#pragma unroll 8
    for (int row = top + first_row; row < end; row += ROWS_AT_ONCE) {
        long long at = origin + row * grid.pitch;
        real value = in_row(row);
        to[at] = value;
        if (exact) found.distance(value - exact[at]);
    }
    if (!norms) return;
    found.add_lanes_whole_cycle();
    if (place.lane == 0) {
        found_by(place.warp)->change = found.change;
        found_by(place.warp)->error = found.error;
    }
    if (ALONE) return;
    __syncthreads();
    if (threadIdx.x == 0) {
        found = of_warps[0];
        for (int warp = 1; warp < warps.across * warps.down; warp++) found.add(of_warps[warp]);
        norms[blockIdx.x] = found;
    }
}

#define KERNEL(name, PX, PY, PARTIAL, ALONE, WARPS_A_BLOCK, BLOCKS)                                    \
    extern "C" __global__ void __launch_bounds__(WARPS_A_BLOCK *WARP, BLOCKS)                          \
        name(const real *__restrict__ from, const real *__restrict__ g, real *__restrict__ to,         \
             Grid grid, Weights weights, Axis along_x, Axis along_y, int k, Warps warps,               \
             const double *__restrict__ exact, Norms *__restrict__ norms) {                            \
        cycle<PX, PY, PARTIAL, ALONE>(from, g, to, grid, weights, along_x, along_y, k, warps, exact,   \
                                      norms);                                                          \
    }

KERNEL(full, 4, 8, false, true, 1, FORM == PLANE_GENERAL ? 8 : 12)
KERNEL(partial, 4, 8, true, true, 1, 8)
KERNEL(full_warps, 4, 8, false, false, 8, 1)
KERNEL(partial_warps, 4, 8, true, false, 8, 1)
KERNEL(small, 2, 4, false, true, 1, 20)
KERNEL(small_partial, 2, 4, true, true, 1, 20)

#else

/// One cycle of tiles of lines: `lanes` of a warp keep P points each of one tile, which may be
/// smaller if it is PARTIAL.
template <int P, bool PARTIAL>
__device__ __forceinline__ void cycle(const real *__restrict__ from, const real *__restrict__ g,
                                      real *__restrict__ to, const Grid &grid, const Weights &weights,
                                      const Axis &along_x, int k, int lanes,
                                      const double *__restrict__ exact, Norms *__restrict__ norms) {
    int lane = threadIdx.x % WARP, part = lane % lanes;
    long long tiles = (long long)along_x.count * grid.rows;
    long long tile = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / lanes;
    // A warp stays together: the lanes after the last tile make it again, and keep nothing.
    bool is_kept = tile < tiles;
    tile = min(tile, tiles - 1);
    int tile_x = tile % along_x.count;
    long long row = tile / along_x.count;

    int width = along_x.tile, x0 = along_x.start(tile_x);
    long long origin = row * grid.pitch + x0;
    int left = along_x.border(tile_x) - x0, end = along_x.border(tile_x + 1) - x0;
    bool is_west = part == 0, is_east = part == lanes - 1;

    // The stage of the lanes that share the tile; one value is left out after each patch, so that
    // lanes that read theirs side by side meet in no memory bank.
    real *stage = reinterpret_cast<real *>(memory) + (threadIdx.x - part) * (P + 1);
    auto staged = [](int x) { return x + x / P; };
    real u[P], right[P];
#pragma unroll 4
    for (int x = part; x < lanes * P; x += lanes) {
        bool is_there = !PARTIAL || x <= width;
        stage[staged(x)] = is_there ? from[origin + x] : real(0);
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < P; i++) u[i] = stage[part * (P + 1) + i];
    __syncwarp();
#pragma unroll 4
    for (int x = part; x < lanes * P; x += lanes) {
        bool is_there = !PARTIAL || x < width;
        stage[staged(x)] = is_there ? g[origin + x] : real(0);
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < P; i++) right[i] = stage[part * (P + 1) + i];
    __syncwarp();
    // Of a partial tile, the lane's points that are updated: so many.
    int updated = min(max(width - part * P, 0), P);
    real west = from[origin - 1], east = from[origin + width];

    Norms found = {};
#pragma unroll 1
    for (int sweep = 0; sweep < k; sweep++) {
        real before = __shfl_up_sync(ALL_LANES, u[P - 1], 1);
        real last = __shfl_down_sync(ALL_LANES, u[0], 1);
        if (is_west) before = west;
        if (is_east) last = east;
#pragma unroll
        for (int i = 0; i < P; i++) {
            real value = update(weights, before, i + 1 < P ? u[i + 1] : last, 0, 0, right[i]);
            if (PARTIAL && i >= updated) value = u[i];
            before = u[i];
            u[i] = value;
        }
        bool is_first = norms && sweep == 0, is_last = sweep == k - 1;
        if (!is_first && !is_last) continue;

        __syncwarp();
#pragma unroll
        for (int i = 0; i < P; i++) stage[part * (P + 1) + i] = u[i];
        __syncwarp();
        if (!is_kept) continue;
        if (is_first) {
#pragma unroll 4
            for (int x = left + part; x < end; x += lanes) {
                found.first_sweep(stage[staged(x)] - from[origin + x]);
            }
        }
        if (is_last) {
#pragma unroll 4
            for (int x = left + part; x < end; x += lanes) {
                real value = stage[staged(x)];
                to[origin + x] = value;
                if (norms) {
                    found.whole_cycle(value - from[origin + x]);
                    if (exact) found.distance(value - exact[origin + x]);
                }
            }
        }
    }
    if (norms) {
        found = of_block(found);
        if (threadIdx.x == 0) norms[blockIdx.x] = found;
    }
}

#define KERNEL(name, P, PARTIAL)                                                                       \
    extern "C" __global__ void __launch_bounds__(128, 2)                                               \
        name(const real *__restrict__ from, const real *__restrict__ g, real *__restrict__ to,         \
             Grid grid, Weights weights, Axis along_x, int k, int lanes,                               \
             const double *__restrict__ exact, Norms *__restrict__ norms) {                            \
        cycle<P, PARTIAL>(from, g, to, grid, weights, along_x, k, lanes, exact, norms);                \
    }

KERNEL(full, 8, false)
KERNEL(partial, 8, true)
KERNEL(full_long, 32, false)
KERNEL(partial_long, 32, true)

#endif
