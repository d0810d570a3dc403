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

/// Bits from `start` to `end`, of 32 in groups of `wide`.
__device__ __forceinline__ unsigned bits(int start, int end, int wide) {
    auto from = [&](int i) {
        unsigned all;
        // Shifted by 32 and more there is none left.
        asm("shl.b32 %0, %1, %2;" : "=r"(all) : "r"(ALL_LANES), "r"(max(i, 0) * wide));
        return all;
    };
    return from(start) & ~from(end);
}

/// Points from `start` to `end`, counted from the first of a patch, as they lie in it.
struct Range {
    int start, end;

    __device__ __forceinline__ Range(int start, int end, int points, bool is_turned)
        : start(is_turned ? points - end : start), end(is_turned ? points - start : end) {}
};

/// What a tile owns of a lane's patch: a bit for each row, and for each column.
struct Owned {
    unsigned rows, columns;
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
    /// Of the stage of a warp: with gaps of two values, so that lanes that read rows of their patches
    /// together, 16 bytes at a time, meet in no memory bank.
    static constexpr int GAP = WIDTH == 32 && sizeof(real) == 8 ? 2 : 0;
    static constexpr int STAGE_PITCH = WIDTH + GAP, STAGE = HEIGHT * STAGE_PITCH;

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
        unsigned row = bits(along_x.start, along_x.end, 1) & ((1u << PX) - 1);
        return row * each_row & bits(along_y.start, along_y.end, PX);
    }

    /// Makes one sweep. If it is to MEASURE, it adds the squares of what it changes in the `owned` rows,
    /// which have a bit each: column by column, so that a point asks for its row alone.
    template <bool MEASURE>
    __device__ __forceinline__ void sweep(const Weights &weights, unsigned owned, double (&squares)[PX]) {
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
            if ((!PARTIAL || MEASURE) && j == PY / 2 && never()) return;
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
                if (MEASURE) add_square_if(owned & 1u << j, squares[i], value - own);
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

    /// Where in the stage of its warp a value lies.
    static __device__ __forceinline__ int in_stage(int x, int y) {
        return y * STAGE_PITCH + x + x / 16 * GAP;
    }

    /// So many values are taken from the stage at a time, or put onto it.
    static constexpr int TOGETHER = PX * sizeof(real) < 16 ? PX : 16 / sizeof(real);
    struct alignas(TOGETHER * sizeof(real)) Values {
        real value[TOGETHER];
    };

    /// Where the lane's patch does, seen from its first point.
    __device__ __forceinline__ const Values *in_stage(const real *stage, int j, int i) const {
        return reinterpret_cast<const Values *>(stage + in_stage(lane_x * PX, lane_y * PY) +
                                                j * STAGE_PITCH + i / TOGETHER * TOGETHER);
    }

    /// Takes values of the lane's patch from the stage of its warp.
    __device__ __forceinline__ void take(real (&values)[PY][PX], real *stage) const {
        __syncwarp();
#pragma unroll
        for (int j = 0; j < PY; j++) {
#pragma unroll
            for (int i = 0; i < PX; i += TOGETHER) {
                Values together = *in_stage(stage, j, i);
#pragma unroll
                for (int n = 0; n < TOGETHER; n++) values[j][i + n] = together.value[n];
            }
        }
        __syncwarp();
    }

    /// Puts the lane's patch onto the stage of its warp.
    __device__ __forceinline__ void put(real *stage) const {
        __syncwarp();
#pragma unroll
        for (int j = 0; j < PY; j++) {
#pragma unroll
            for (int i = 0; i < PX; i += TOGETHER) {
                Values together;
#pragma unroll
                for (int n = 0; n < TOGETHER; n++) together.value[n] = u[j][i + n];
                *const_cast<Values *>(in_stage(stage, j, i)) = together;
            }
        }
        __syncwarp();
    }
};

/// A place so many rows on, in one instruction.
template <typename T> __device__ __forceinline__ T *row_of(T *first, int row, int pitch) {
    T *at;
    asm("mad.wide.s32 %0, %1, %2, %3;"
        : "=l"(at)
        : "r"(pitch), "r"(row * int(sizeof(T))), "l"(first));
    return at;
}

/// Stores a value where `counts` is not 0, without a branch.
__device__ __forceinline__ void store_if(unsigned counts, real *at, real value) {
#if REAL_BITS == 64
    asm volatile("{ .reg .pred counts;\n"
                 "  setp.ne.u32 counts, %0, 0;\n"
                 "  @counts st.global.f64 [%1], %2; }" ::"r"(counts), "l"(at), "d"(value));
#else
    asm volatile("{ .reg .pred counts;\n"
                 "  setp.ne.u32 counts, %0, 0;\n"
                 "  @counts st.global.f32 [%1], %2; }" ::"r"(counts), "l"(at), "f"(value));
#endif
}

/// Where a warp is, and what its tile owns of it. It is kept in shared memory through the sweeps: in
/// registers it would be in the way.
struct Place {
    /// Its first point, in the grid.
    long long origin;
    /// Its first and last columns and rows that the tile owns, from its first point on.
    int left, end_x, top, end_y;

    /// What the tile owns of a lane's patch.
    template <typename Lane> __device__ __forceinline__ Owned owned(int lane_x, int lane_y) const {
        int x = lane_x * Lane::X, y = lane_y * Lane::Y;
        Range columns(left - x, end_x - x, Lane::X, lane_x % 2);
        Range rows(top - y, end_y - y, Lane::Y, lane_y % 2);
        return {bits(rows.start, rows.end, 1), bits(columns.start, columns.end, 1)};
    }
};

template <int PX, int PY, bool PARTIAL, bool ALONE, bool MEASURE>
__device__ __forceinline__ void cycle(const real *__restrict__ from, const real *__restrict__ g,
                                      real *__restrict__ to, const Grid &grid, const Weights &weights,
                                      const Axis &along_x, const Axis &along_y, int k, Warps warps,
                                      double *__restrict__ squares) {
    typedef Patch<PX, PY, PARTIAL, ALONE> Lane;
    constexpr int WIDTH = Lane::WIDTH, HEIGHT = Lane::HEIGHT;
    if (ALONE) warps.across = warps.down = 1;
    __shared__ Place places[ALONE ? 1 : MOST_WARPS];

    unsigned thread = threadIdx.x, lane = thread % WARP, warp = ALONE ? 0 : thread / WARP;
    int lane_x = lane % LANES_X, lane_y = lane / LANES_X;
    int part_x = warp % warps.across * WIDTH, part_y = warp / warps.across * HEIGHT;
    int width = along_x.tile, height = along_y.tile, pitch = grid.pitch;
    int tile_x = blockIdx.x % along_x.count, tile_y = blockIdx.x / along_x.count;
    int x0 = along_x.start(tile_x) + part_x, y0 = along_y.start(tile_y) + part_y;
    places[warp] = {y0 * grid.pitch + x0, along_x.border(tile_x) - x0, along_x.border(tile_x + 1) - x0,
                    along_y.border(tile_y) - y0, along_y.border(tile_y + 1) - y0};
    long long origin = y0 * grid.pitch + x0;
    const real *start_at = from + origin, *right_at = g + origin;
    // Of a partial tile, nothing lies beyond the ring; the ring's corners belong to no stencil.
    auto value_at = [&](int x, int y) {
        int in_x = part_x + x, in_y = part_y + y;
        bool is_there = !PARTIAL || (in_y < height && in_x <= width) ||
                        (in_x >= 0 && in_x < width && in_y <= height);
        return is_there ? __ldg(row_of(start_at + x, y, pitch)) : real(0);
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
    constexpr int ROWS = HEIGHT / ROWS_AT_ONCE;
    real *stage = outside + set + flip + warp * Lane::STAGE;
    int column = lane % LANES_A_ROW, first_row = lane / LANES_A_ROW;
    real *own_column = stage + Lane::in_stage(turned<PX>(column), 0);
    auto in_row = [&](int i) -> real & {
        int row = turned<PY>(first_row + i * ROWS_AT_ONCE);
        return own_column[row * Lane::STAGE_PITCH];
    };
    // One half after the other, and in each all before the first is waited for.
    real start[ROWS], start_right[ROWS];
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        int row = first_row + i * ROWS_AT_ONCE;
        bool inside = !PARTIAL || (part_x + column < width && part_y + row < height);
        start_right[i] = inside ? __ldg(row_of(right_at + column, row, pitch)) : real(0);
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++) in_row(i) = start_right[i];
    __syncwarp();
    // The compiler cannot know that neither ever happens, and asks for nothing more before.
    if (!PARTIAL && (ALONE ? pitch < 0 : patch.never())) return;
#pragma unroll
    for (int i = 0; i < ROWS; i++) start[i] = value_at(column, first_row + i * ROWS_AT_ONCE);
    // What is outside: of a warp of 32 x 32 points, a lane has one of each kind; of a smaller one the
    // lanes after the last ask for the same again.
    int along_row = lane % WIDTH, along_column = lane % HEIGHT;
    real above = value_at(along_row, -1), below = value_at(along_row, HEIGHT);
    real left = value_at(-1, along_column), right = value_at(WIDTH, along_column);
    patch.take(patch.right, stage);
#pragma unroll
    for (int i = 0; i < ROWS; i++) in_row(i) = start[i];
    auto surround = [&](int at, int lanes, int points, int i, real low, real high) {
        at += i % points * (2 * lanes) + i / points;
        outside[at] = outside[at + flip] = low;
        outside[at + lanes] = outside[at + lanes + flip] = high;
    };
    surround(rows, LANES_X, PX, turned<PX>(along_row), above, below);
    surround(columns, LANES_Y, PY, turned<PY>(along_column), left, right);
    patch.take(patch.u, stage);

    if (PARTIAL) {
        // The lane's first point in the tile, and what is there in its patch.
        int x = part_x + lane_x * PX, y = part_y + lane_y * PY;
        patch.updated = Lane::points(Range(0, width - x, PX, lane_x % 2),
                                     Range(0, height - y, PY, lane_y % 2));
    }
    if (!ALONE) __syncthreads();

    // The compiler must not know that there is one (see `sweep`).
    int sweeps;
    asm volatile("mov.u32 %0, %1;" : "=r"(sweeps) : "r"(k));
    double of_columns[PX] = {};
    if (MEASURE) {
        Owned owned = places[warp].template owned<Lane>(lane_x, lane_y);
        patch.template sweep<true>(weights, owned.rows, of_columns);
        double sum = 0;
#pragma unroll
        for (int i = 0; i < PX; i++) sum += owned.columns & 1u << i ? of_columns[i] : 0;
        // Told at once: the other warps' sweeps hide the wait.
        tell_squares(sum, squares + blockIdx.x * (blockDim.x / WARP) + warp);
        sweeps--;
    }
    // In pairs, of which the second begins where the first ended: fewer values are moved.
#pragma unroll(PARTIAL ? 1 : 2)
    for (; sweeps > 0; sweeps--) patch.template sweep<false>(weights, 0, of_columns);

    // Asked for anew, so that nothing of it is kept through the sweeps.
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    lane = thread % WARP, warp = ALONE ? 0 : thread / WARP;
    patch.lane_x = lane % LANES_X, patch.lane_y = lane / LANES_X;
    stage = outside + set + flip + warp * Lane::STAGE;
    column = lane % LANES_A_ROW, first_row = lane / LANES_A_ROW;
    own_column = stage + Lane::in_stage(turned<PX>(column), 0);
    Place place = places[warp];
    patch.put(stage);
    // The rows that the tile owns in the lane's column.
    bool is_owned = place.left <= column && column < place.end_x;
    unsigned owned = bits(place.top, is_owned ? place.end_y : 0, 1) >> first_row;
    real *to_at = to + place.origin + column;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        real *at = row_of(to_at, first_row + i * ROWS_AT_ONCE, pitch);
        store_if(owned & 1u << i * ROWS_AT_ONCE, at, in_row(i));
    }
}

#define KERNEL(name, PX, PY, PARTIAL, ALONE, WARPS_A_BLOCK, BLOCKS, MEASURE)                           \
    extern "C" __global__ void __launch_bounds__(WARPS_A_BLOCK *WARP, BLOCKS)                          \
        name(const real *__restrict__ from, const real *__restrict__ g, real *__restrict__ to,         \
             Grid grid, Weights weights, Axis along_x, Axis along_y, int k, Warps warps,               \
             double *__restrict__ squares) {                                                           \
        cycle<PX, PY, PARTIAL, ALONE, MEASURE>(from, g, to, grid, weights, along_x, along_y, k, warps, \
                                               squares);                                               \
    }

/// A cycle alone, and one that is measured.
#define KERNELS(name, ...)                                                                             \
    KERNEL(name, __VA_ARGS__, false)                                                                   \
    KERNEL(name##_measured, __VA_ARGS__, true)

KERNELS(full, 4, 8, false, true, 1, FORM == PLANE_GENERAL ? 8 : 12)
KERNELS(partial, 4, 8, true, true, 1, 8)
KERNELS(full_warps, 4, 8, false, false, 8, 1)
KERNELS(partial_warps, 4, 8, true, false, 8, 1)
KERNELS(small, 2, 4, false, true, 1, 20)
KERNELS(small_partial, 2, 4, true, true, 1, 20)

#else

/// One cycle of tiles of lines: `lanes` of a warp keep P points each of one tile, which may be
/// smaller if it is PARTIAL.
template <int P, bool PARTIAL, bool MEASURE>
__device__ __forceinline__ void cycle(const real *__restrict__ from, const real *__restrict__ g,
                                      real *__restrict__ to, const Grid &grid, const Weights &weights,
                                      const Axis &along_x, int k, unsigned lanes,
                                      double *__restrict__ squares) {
    unsigned lane = threadIdx.x % WARP, part = lane & (lanes - 1);
    int shift = __ffs(lanes) - 1;
    long long tiles = (long long)along_x.count * grid.rows;
    long long tile = ((long long)blockIdx.x * blockDim.x + threadIdx.x) >> shift;
    // A warp stays together: the lanes after the last tile make it again, and keep nothing.
    bool is_kept = tile < tiles;
    tile = min(tile, tiles - 1);
    // There are no more tiles than a number of 31 bits counts.
    int tile_x = int(tile) % along_x.count, row = int(tile) / along_x.count;

    int width = along_x.tile, x0 = along_x.start(tile_x);
    long long origin = row * grid.pitch + x0;
    int left = along_x.border(tile_x) - x0, end = is_kept ? along_x.border(tile_x + 1) - x0 : 0;
    bool is_west = part == 0, is_east = part == lanes - 1;

    // The stage of the lanes that share the tile; one value is left out after each patch, so that
    // lanes that read theirs side by side meet in no memory bank.
    real *stage = reinterpret_cast<real *>(memory) + (threadIdx.x - part) * (P + 1);
    real *own = stage + part * (P + 1);
    // The lanes look at `lanes` points side by side, P times.
    auto staged = [&](int i) -> real & {
        unsigned x = part + i * lanes;
        return stage[x + x / P];
    };
    const real *start_at = from + origin + part, *right_at = g + origin + part;
    real u[P], right[P];
#pragma unroll
    for (int i = 0; i < P; i++) {
        int x = part + i * lanes;
        right[i] = !PARTIAL || x < width ? __ldg(right_at + i * lanes) : real(0);
    }
#pragma unroll
    for (int i = 0; i < P; i++) {
        int x = part + i * lanes;
        u[i] = !PARTIAL || x <= width ? __ldg(start_at + i * lanes) : real(0);
    }
    real west = from[origin - 1], east = from[origin + width];
#pragma unroll
    for (int i = 0; i < P; i++) staged(i) = right[i];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < P; i++) right[i] = own[i];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < P; i++) staged(i) = u[i];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < P; i++) u[i] = own[i];
    // Of a partial tile, the lane's points that are updated: so many.
    int updated = min(max(width - int(part) * P, 0), P);
    // The lane's points that the tile owns: a bit each.
    auto below = [&](int x) {
        return unsigned((1ull << min(max(x - int(part) * P, 0), P)) - 1);
    };
    unsigned owned = below(end) & ~below(left);

    // Side by side, so that no point waits for the one before.
    constexpr int CHAINS = PARTIAL ? 2 : 4;
    double sums[CHAINS] = {};
    auto sweep = [&](bool is_first) {
        real before = __shfl_up_sync(ALL_LANES, u[P - 1], 1);
        real last = __shfl_down_sync(ALL_LANES, u[0], 1);
        if (is_west) before = west;
        if (is_east) last = east;
#pragma unroll
        for (int i = 0; i < P; i++) {
            real value = update(weights, before, i + 1 < P ? u[i + 1] : last, 0, 0, right[i]);
            if (PARTIAL && i >= updated) value = u[i];
            if (is_first) add_square_if(owned & 1u << i, sums[i % CHAINS], value - u[i]);
            before = u[i];
            u[i] = value;
        }
    };
    int sweeps = k;
    if (MEASURE) {
        sweep(true);
#pragma unroll
        for (int i = 1; i < CHAINS; i++) sums[0] += sums[i];
        sweeps--;
    }
    // The longest have no registers left for two.
#pragma unroll(PARTIAL && P > 8 ? 1 : 2)
    for (; sweeps > 0; sweeps--) sweep(false);

    __syncwarp();
#pragma unroll
    for (int i = 0; i < P; i++) own[i] = u[i];
    __syncwarp();
    // Seen anew, so that no place on the stage is kept through the sweeps.
    asm volatile("mov.u32 %0, %0;" : "+r"(lanes));
    real *to_at = to + origin + part;
#pragma unroll
    for (int i = 0; i < P; i++) {
        int x = part + i * lanes;
        if (left <= x && x < end) to_at[i * lanes] = staged(i);
    }
    if (!MEASURE) return;
    // Not before: after the first sweep all would wait for it, where few warps hide it.
    tell_squares(sums[0], squares + (blockIdx.x * blockDim.x + threadIdx.x) / WARP);
}

#define KERNEL(name, P, PARTIAL, MEASURE)                                                              \
    extern "C" __global__ void __launch_bounds__(128, 2)                                               \
        name(const real *__restrict__ from, const real *__restrict__ g, real *__restrict__ to,         \
             Grid grid, Weights weights, Axis along_x, int k, int lanes,                               \
             double *__restrict__ squares) {                                                           \
        cycle<P, PARTIAL, MEASURE>(from, g, to, grid, weights, along_x, k, lanes, squares);            \
    }

/// A cycle alone, and one that is measured.
#define KERNELS(name, ...)                                                                             \
    KERNEL(name, __VA_ARGS__, false)                                                                   \
    KERNEL(name##_measured, __VA_ARGS__, true)

KERNELS(full, 8, false)
KERNELS(partial, 8, true)
KERNELS(full_long, 32, false)
KERNELS(partial_long, 32, true)

#endif
