// A 2D tile in the registers of warps. Each lane keeps a patch of the iterate and of the right-hand side,
// and gets its neighbours' values by shuffles; what lies outside of the warp comes from shared memory.
//
// One warp: 8 x 4 lanes, each with a patch of 4 x 8 points (small tiles: 2 x 4), so 32 x 32 points. The
// numbers are lanes, and + marks the corner where a patch begins (index 0, 0). Every second patch is
// turned, along x and along y:
//
//               x -->
//         +----+----+----+----+----+----+----+----+
//     y   |+   |   +|+   |   +|+   |   +|+   |   +|
//     |   |  0 | 1  |  2 | 3  |  4 | 5  |  6 | 7  |   ^ first row (index 0): the halo above
//     v   |    |    |    |    |    |    |    |    |
//         +----+----+----+----+----+----+----+----+   <> last rows (index 7) meet: lane ^ 8
//         |  8 | 9  | 10 | 11 | 12 | 13 | 14 | 15 |
//         |+   |   +|+   |   +|+   |   +|+   |   +|
//         +----+----+----+----+----+----+----+----+   <> first rows (index 0) meet: lane ^ 24
//         |+   |   +|+   |   +|+   |   +|+   |   +|
//         | 16 | 17 | 18 | 19 | 20 | 21 | 22 | 23 |
//         +----+----+----+----+----+----+----+----+   <> last rows meet: lane ^ 8
//         | 24 | 25 | 26 | 27 | 28 | 29 | 30 | 31 |
//         |+   |   +|+   |   +|+   |   +|+   |   +|   v first row: the halo below
//         +----+----+----+----+----+----+----+----+
//
// Along x, with the index of each column in its patch:
//
//     halo | 0 1 2 3 | 3 2 1 0 | 0 1 2 3 | 3 2 1 0 | 0 1 2 3 | 3 2 1 0 | 0 1 2 3 | 3 2 1 0 | halo
//                   < >       < >
//           last columns meet   first columns meet
//             (lane ^ 1)        (lane - 1 or + 1)
//
// Because patches are turned, only the first row and the first column of a patch may need the halo, not the
// last: half as many reads of shared memory, for which a sweep would have to wait.
//
// Shared memory of a block:
//
//     | halo of warp 0 | halo of warp 1 | ...   a second set   ... | stage of warp 0 | stage of warp 1 | ...
//
//   * The halo of a warp: the rows above and below it, then the columns left and right of it, in the
//     order in which lanes read them (see `Patch::halo_y`), so that there are no bank conflicts.
//     One warp alone reads halos that stay frozen for the whole cycle. Where several warps share a tile, a
//     warp writes its border into its neighbours' halos after each sweep: into the other of two sets.
//   * The stage of a warp turns rows into patches and back. Global memory is read and written by whole
//     rows; a lane reads and writes its patch.
// Variants: 2d
#include "lanes.cuh"
#include "norms.cuh"

extern __shared__ double memory[];

/// The most warps of a block.
constexpr int MAX_WARPS = 8;

/// Lanes of a warp along either axis.
constexpr int LANES_X = 8, LANES_Y = WARP / LANES_X;

/// Where point `i` of a row of patches lies: in a turned patch, from the other end.
template <int POINTS> __device__ __forceinline__ int turned(int i) {
    return i ^ (i / POINTS % 2 * (POINTS - 1));
}

/// The points `start` to `end` (exclusive) of a patch, as they lie in it.
struct Range {
    int start, end;

    __device__ __forceinline__ Range(int start, int end, int points, bool is_turned)
        : start(is_turned ? points - end : start), end(is_turned ? points - start : end) {}
};

/// The part of a lane's patch that the tile owns: one bit per row, one per column.
struct Owned {
    unsigned rows, columns;
};

/// The part of a tile that a warp computes: its first point as an index of the grid, and the columns and rows
/// that the tile owns, relative to that point. Kept in shared memory during the sweeps to save registers.
struct Part {
    long long origin;
    int left, right, top, bottom;

    template <typename Patch> __device__ __forceinline__ Owned owned(int lane_x, int lane_y) const {
        int x = lane_x * Patch::X, y = lane_y * Patch::Y;
        Range columns(left - x, right - x, Patch::X, lane_x % 2);
        Range rows(top - y, bottom - y, Patch::Y, lane_y % 2);
        return {bits(rows.start, rows.end, 1), bits(columns.start, columns.end, 1)};
    }
};

/// The PX x PY points of a lane. A tile that is PARTIAL is smaller than its warps: points beyond it stay
/// as they are, and those next to it are its halo. A warp is ALONE in its block, or shares a tile.
template <int PX, int PY, bool PARTIAL, bool ALONE> struct Patch {
    static constexpr int X = PX, Y = PY;
    static constexpr int WIDTH = PX * LANES_X, HEIGHT = PY * LANES_Y;
    /// Values of a warp's halo, and between the halo values of a lane's successive columns and rows.
    static constexpr int HALO = 2 * (WIDTH + HEIGHT), STEP_Y = 2 * LANES_X, STEP_X = 2 * LANES_Y;
    /// The stage has gaps of two values, so that lanes that read 16 bytes of their patches' rows together
    /// have no bank conflicts.
    static constexpr int GAP = WIDTH == 32 && sizeof(real) == 8 ? 2 : 0;
    static constexpr int STAGE_PITCH = WIDTH + GAP, STAGE = HEIGHT * STAGE_PITCH;

    real u[PY][PX], g[PY][PX];
    /// If PARTIAL: the points that are updated, one bit each.
    unsigned updated;
    /// The lane's place in its warp, and the lane at the first end of its patch, along x.
    int lane_x, lane_y, lane_before;
    /// Addresses in shared memory of the halo values next to the first row (each STEP_Y after the last)
    /// and to the first column (STEP_X). Valid only at the edge of the warp.
    unsigned halo_y, halo_x;
    /// From the one set of halos to the other, in bytes; changes its sign with every sweep. 0 if ALONE.
    int flip;
    /// From there to the halos of the neighbouring warps, in bytes, and whether there are such.
    int to_halo_y, to_halo_x;
    bool has_neighbour_y, has_neighbour_x;
    /// Sweeps of the cycle.
    int k;

    __device__ __forceinline__ bool is_edge_x() const { return lane_x == 0 || lane_x == LANES_X - 1; }
    __device__ __forceinline__ bool is_edge_y() const { return lane_y == 0 || lane_y == LANES_Y - 1; }
    /// False, but the compiler cannot know: it does not move instructions past a branch on this.
    __device__ __forceinline__ bool never() const { return k < 0; }

    /// The points of the patch within both ranges: one bit each, row by row.
    static __device__ __forceinline__ unsigned points(const Range &along_x, const Range &along_y) {
        unsigned each_row = 0;
#pragma unroll
        for (int j = 0; j < PY; j++) each_row |= 1u << j * PX;
        unsigned row = bits(along_x.start, along_x.end, 1) & ((1u << PX) - 1);
        return row * each_row & bits(along_y.start, along_y.end, PX);
    }

    /// One sweep. If MEASURE, it adds up the squares of the updates in the `owned` rows (one bit each),
    /// column by column.
    template <bool MEASURE>
    __device__ __forceinline__ void sweep(const Weights &weights, unsigned owned, double (&squares)[PX]) {
        real y_prev[PX];
#pragma unroll
        for (int i = 0; i < PX; i++) {
            y_prev[i] = from_lane_xor(u[0][i], (LANES_Y - 1) * LANES_X);
            load_shared_if(is_edge_y(), y_prev[i], halo_y + i * STEP_Y * sizeof(real));
        }
#pragma unroll
        for (int j = 0; j < PY; j++) {
            // Without this, the compiler would keep more values at a time than there are registers.
            if ((!PARTIAL || MEASURE) && j == PY / 2 && never()) return;
            real first = from_lane(u[j][0], lane_before);
            real last = from_lane_xor(u[j][PX - 1], 1);
            load_shared_if(is_edge_x(), first, halo_x + j * STEP_X * sizeof(real));
            real y_next[PX];
#pragma unroll
            for (int i = 0; i < PX; i++) {
                y_next[i] = j + 1 < PY ? u[j + 1][i] : from_lane_xor(u[j][i], LANES_X);
            }
#pragma unroll
            for (int i = 0; i < PX; i++) {
                real own = u[j][i];
                real value = updated_point(weights, i > 0 ? y_prev[i - 1] : first, i + 1 < PX ? u[j][i + 1] : last,
                                           y_prev[i], y_next[i], g[j][i]);
                if (PARTIAL && !(updated >> (j * PX + i) & 1)) value = own;
                if (MEASURE) add_square_if(owned & 1u << j, squares[i], value - own);
                // Now the row before the next one.
                y_prev[i] = own;
                u[j][i] = value;
            }
        }
        if (ALONE) {
            // Adds 0, which the compiler cannot know: it keeps these values, and does not compute them
            // again in every sweep.
            halo_y += flip;
            halo_x += flip;
            lane_before += flip;
        } else {
            write_halos();
        }
    }

    /// The update of a point from its neighbours as they lie in the patch.
    __device__ __forceinline__ real updated_point(const Weights &weights, real x_before, real x_after,
                                                  real y_before, real y_after, real g) const {
        if (FORM != FORM_2D_GENERAL) return update(weights, x_before, x_after, y_before, y_after, g);
        // Here it matters which neighbour is which.
        bool turned_x = lane_x % 2, turned_y = lane_y % 2;
        return update(weights, turned_x ? x_after : x_before, turned_x ? x_before : x_after,
                      turned_y ? y_after : y_before, turned_y ? y_before : y_after, g);
    }

    /// Writes the border of this warp into the halos of its neighbours, and turns to the other set.
    __device__ __forceinline__ void write_halos() {
        halo_y += flip;
        halo_x += flip;
        flip = -flip;
        if (has_neighbour_y) {
#pragma unroll
            for (int i = 0; i < PX; i++) store_shared(halo_y + to_halo_y + i * STEP_Y * sizeof(real), u[0][i]);
        }
        if (has_neighbour_x) {
#pragma unroll
            for (int j = 0; j < PY; j++) store_shared(halo_x + to_halo_x + j * STEP_X * sizeof(real), u[j][0]);
        }
        __syncthreads();
    }

    /// Where a value lies on the stage of its warp.
    static __device__ __forceinline__ int on_stage(int x, int y) { return y * STAGE_PITCH + x + x / 16 * GAP; }

    /// Values that are read or written together, up to 16 bytes.
    static constexpr int TOGETHER = PX * sizeof(real) < 16 ? PX : 16 / sizeof(real);
    struct alignas(TOGETHER * sizeof(real)) Values {
        real value[TOGETHER];
    };

    /// Values of row `j` of the patch on the stage, from column `i`.
    __device__ __forceinline__ Values *on_stage(real *stage, int j, int i) const {
        return reinterpret_cast<Values *>(stage + on_stage(lane_x * PX, lane_y * PY) + j * STAGE_PITCH +
                                          i / TOGETHER * TOGETHER);
    }

    /// Reads a patch from the stage.
    __device__ __forceinline__ void load(real (&values)[PY][PX], real *stage) const {
        __syncwarp();
#pragma unroll
        for (int j = 0; j < PY; j++) {
#pragma unroll
            for (int i = 0; i < PX; i += TOGETHER) {
                Values together = *on_stage(stage, j, i);
#pragma unroll
                for (int n = 0; n < TOGETHER; n++) values[j][i + n] = together.value[n];
            }
        }
        __syncwarp();
    }

    /// Writes the iterate to the stage.
    __device__ __forceinline__ void store(real *stage) const {
        __syncwarp();
#pragma unroll
        for (int j = 0; j < PY; j++) {
#pragma unroll
            for (int i = 0; i < PX; i += TOGETHER) {
                Values together;
#pragma unroll
                for (int n = 0; n < TOGETHER; n++) together.value[n] = u[j][i + n];
                *on_stage(stage, j, i) = together;
            }
        }
        __syncwarp();
    }
};

/// How the lanes of a warp read and write rows of WIDTH points: one row at a time, or, of a narrow warp,
/// several.
template <typename Patch> struct Rows {
    static constexpr int LANES = Patch::WIDTH < WARP ? Patch::WIDTH : WARP, AT_ONCE = WARP / LANES;
    static constexpr int COUNT = Patch::HEIGHT / AT_ONCE;
    /// The lane's column, and its first row.
    int column, first;
    real *stage;

    __device__ __forceinline__ Rows(unsigned lane, real *stage) : column(lane % LANES), first(lane / LANES) {
        this->stage = stage + Patch::on_stage(turned<Patch::X>(column), 0);
    }

    __device__ __forceinline__ int row(int i) const { return first + i * AT_ONCE; }

    /// The lane's value of its `i`-th row, on the stage.
    __device__ __forceinline__ real &on_stage(int i) const {
        return stage[turned<Patch::Y>(row(i)) * Patch::STAGE_PITCH];
    }
};

/// One cycle of the tile of a block. If `squares` is not null, each warp writes its sum of squares.
template <int PX, int PY, bool PARTIAL, bool ALONE>
__device__ __forceinline__ void cycle(const CycleArguments &a) {
    typedef Patch<PX, PY, PARTIAL, ALONE> Lane;
    constexpr int WIDTH = Lane::WIDTH, HEIGHT = Lane::HEIGHT, REAL = sizeof(real);
    __shared__ Part parts[ALONE ? 1 : MAX_WARPS];
    int across = ALONE ? 1 : a.split.x, down = ALONE ? 1 : a.split.y;

    unsigned thread = threadIdx.x, lane = thread % WARP, warp = ALONE ? 0 : thread / WARP;
    int lane_x = lane % LANES_X, lane_y = lane / LANES_X;
    // The warp's first point, in its tile and in the grid.
    int part_x = warp % across * WIDTH, part_y = warp / across * HEIGHT;
    int width = a.x.tile, height = a.y.tile, pitch = a.grid.pitch;
    int tile_x = a.tile() % a.x.count, tile_y = a.tile() / a.x.count;
    int x0 = a.x.start(tile_x) + part_x, y0 = a.y.start(tile_y) + part_y;
    long long origin = y0 * a.grid.pitch + x0;
    parts[warp] = {origin, a.x.border(tile_x) - x0, a.x.border(tile_x + 1) - x0, a.y.border(tile_y) - y0,
                   a.y.border(tile_y + 1) - y0};

    real *halos = reinterpret_cast<real *>(memory);
    int set = across * down * Lane::HALO, flip = ALONE ? 0 : set;
    int rows_at = warp * Lane::HALO, columns_at = rows_at + 2 * WIDTH;
    real *stage = halos + set + flip + warp * Lane::STAGE;

    bool is_first_x = lane_x == 0, is_first_y = lane_y == 0;
    bool is_last_x = lane_x == LANES_X - 1, is_last_y = lane_y == LANES_Y - 1;
    Lane patch;
    patch.lane_x = lane_x;
    patch.lane_y = lane_y;
    patch.lane_before = lane_x % 2 ? lane + 1 : lane - 1;
    patch.k = a.k;
    patch.flip = ALONE ? a.k >> 30 : flip * REAL;
    patch.halo_y = shared_address(halos + rows_at + lane_x + (is_last_y ? LANES_X : 0));
    patch.halo_x = shared_address(halos + columns_at + lane_y + (is_last_x ? LANES_Y : 0));
    // The last row of a warp lies in the upper half of the halo rows of the warp below, and so on.
    int to_next_y = across * Lane::HALO - LANES_X, to_next_x = Lane::HALO - LANES_Y;
    patch.to_halo_y = (is_last_y ? to_next_y : -to_next_y) * REAL;
    patch.to_halo_x = (is_last_x ? to_next_x : -to_next_x) * REAL;
    patch.has_neighbour_y = (is_first_y && part_y > 0) || (is_last_y && part_y + HEIGHT < down * HEIGHT);
    patch.has_neighbour_x = (is_first_x && part_x > 0) || (is_last_x && part_x + WIDTH < across * WIDTH);

    // The rows that a lane reads in one of its columns, one bit each. A partial tile has nothing beyond its
    // halo, and the corners of the halo are in no stencil.
    int tile_width = width - part_x, tile_height = height - part_y;
    auto rows_of_column = [&](int x) { return bits(0, x < tile_width ? tile_height : 0, 1); };
    auto rows_with_halo = [&](int x) {
        int end = tile_height + (x < tile_width ? 1 : 0);
        return bits(0, x <= tile_width ? end : 0, 1);
    };
    auto load = [&](const real *column, unsigned is_there, int row) {
        return PARTIAL ? load_row_if(is_there, column, row, pitch) : load_row(column, row, pitch);
    };

    // In each half, every value is requested before the first is used.
    typedef Rows<Lane> LaneRows;
    LaneRows rows(lane, stage);
    real values[LaneRows::COUNT];
    unsigned there = rows_of_column(rows.column) >> rows.first;
    const real *g = a.g + origin + rows.column, *from = a.from + origin;
#pragma unroll
    for (int i = 0; i < LaneRows::COUNT; i++) {
        values[i] = load(g, there & 1u << i * LaneRows::AT_ONCE, rows.row(i));
    }
#pragma unroll
    for (int i = 0; i < LaneRows::COUNT; i++) rows.on_stage(i) = values[i];
    __syncwarp();
    // A branch past which nothing is requested early.
    if (!PARTIAL && (ALONE ? pitch < 0 : patch.never())) return;
    there = rows_with_halo(rows.column) >> rows.first;
#pragma unroll
    for (int i = 0; i < LaneRows::COUNT; i++) {
        values[i] = load(from + rows.column, there & 1u << i * LaneRows::AT_ONCE, rows.row(i));
    }
    // Of a warp of 32 x 32 points, a lane reads one value of each side of the halo; of a smaller one, lanes
    // read the same values again.
    int along_row = lane % WIDTH, along_column = lane % HEIGHT;
    bool is_in_x = along_row < tile_width, is_in_y = along_column < tile_height;
    real above = load(from + along_row, is_in_x, -1);
    real below = load(from + along_row, is_in_x && HEIGHT <= tile_height, HEIGHT);
    real left = load(from - 1, is_in_y, along_column);
    real right = load(from + WIDTH, is_in_y && WIDTH <= tile_width, along_column);
    patch.load(patch.g, stage);
#pragma unroll
    for (int i = 0; i < LaneRows::COUNT; i++) rows.on_stage(i) = values[i];
    auto write_halo = [&](int at, int lanes, int points, int i, real before, real after) {
        at += i % points * (2 * lanes) + i / points;
        halos[at] = halos[at + flip] = before;
        halos[at + lanes] = halos[at + lanes + flip] = after;
    };
    write_halo(rows_at, LANES_X, PX, turned<PX>(along_row), above, below);
    write_halo(columns_at, LANES_Y, PY, turned<PY>(along_column), left, right);
    patch.load(patch.u, stage);

    if (PARTIAL) {
        int x = part_x + lane_x * PX, y = part_y + lane_y * PY;
        patch.updated = Lane::points(Range(0, width - x, PX, lane_x % 2), Range(0, height - y, PY, lane_y % 2));
    }
    if (!ALONE) __syncthreads();

    int sweeps = a.k;
    double squares[PX] = {};
    if (a.squares) {
        Owned owned = parts[warp].template owned<Lane>(lane_x, lane_y);
        patch.template sweep<true>(a.weights, owned.rows, squares);
        double sum = 0;
#pragma unroll
        for (int i = 0; i < PX; i++) sum += owned.columns & 1u << i ? squares[i] : 0;
        // Written now: the sweeps of other warps hide the wait.
        write_sum_of_lanes(sum, a.squares + blockIdx.x * (blockDim.x / WARP) + warp);
        sweeps--;
    }
    // In pairs: the second sweep ends in the registers that the first began in, without moves.
#pragma unroll 1
    while (sweeps > 0) {
        patch.template sweep<false>(a.weights, 0, squares);
        sweeps--;
        if (sweeps == 0) break;
        patch.template sweep<false>(a.weights, 0, squares);
        sweeps--;
    }

    // Read again, so that none of it stays in registers during the sweeps.
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    lane = thread % WARP, warp = ALONE ? 0 : thread / WARP;
    patch.lane_x = lane % LANES_X, patch.lane_y = lane / LANES_X;
    stage = halos + set + flip + warp * Lane::STAGE;
    rows = LaneRows(lane, stage);
    Part part = parts[warp];
    patch.store(stage);
    // The rows that the tile owns in the lane's column, one bit each.
    bool is_owned = part.left <= rows.column && rows.column < part.right;
    unsigned owned = bits(part.top, is_owned ? part.bottom : 0, 1) >> rows.first;
    real *to = a.to + part.origin + rows.column;
#pragma unroll
    for (int i = 0; i < LaneRows::COUNT; i++) {
        store_row_if(owned & 1u << i * LaneRows::AT_ONCE, to, rows.row(i), pitch, rows.on_stage(i));
    }
}

#define KERNEL(name, ARGUMENTS, PX, PY, PARTIAL, ALONE, WARPS, BLOCKS)                                 \
    extern "C" __global__ void __launch_bounds__(WARPS *WARP, BLOCKS) name(ARGUMENTS arguments) {      \
        cycle<PX, PY, PARTIAL, ALONE>(arguments);                                                      \
    }

/// Arguments that are copied to registers at the start, or read in place when they are needed: in f64, `full`
/// has no registers left for copies, and would spill on compute capability 7.0.
typedef const CycleArguments Copied;
#if REAL_BITS == 64
#define OF_FULL const __grid_constant__ CycleArguments
#else
#define OF_FULL Copied
#endif

KERNEL(full, OF_FULL, 4, 8, false, true, 1, FORM == FORM_2D_GENERAL ? 8 : 12)
KERNEL(partial, Copied, 4, 8, true, true, 1, 8)
KERNEL(full_warps, Copied, 4, 8, false, false, 8, REAL_BITS == 32 ? 2 : 1)
KERNEL(partial_warps, Copied, 4, 8, true, false, 8, 1)
KERNEL(small, Copied, 2, 4, false, true, 1, 20)
KERNEL(small_partial, Copied, 2, 4, true, true, 1, 20)
