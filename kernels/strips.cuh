// Strips of 2D tiles of 32 x 32 points in their sine basis, on tensor cores (the mathematics is in `solver/spectral.rs`, the
// products in `quadrants.cuh`).
//
// A tile is small enough for one warp. Four tiles beside each other are a strip; their warps share what they read, which the
// tensor memory accelerator copies to shared memory. What binds large grids is how much is read through the second-level
// cache, and a strip reads less than four tiles would.
#pragma once
#include "norms.cuh"
#include "quadrants.cuh"
#include "square.cuh"

/// A description of an array, made by the driver (`solver/cuda/tensor_map.rs`).
struct alignas(128) TensorMap {
    unsigned char bytes[128];
};

/// An iterate: nine rows for two p, from the boundary above the grid on, and eight rows for two p, from two rows after it on.
struct IterateMaps {
    TensorMap nine, eight;
};

/// The arguments of `spectral_strips.cu`; `StripArguments` in `solver/cuda/arguments.rs` has the same layout. A map has the rows p,
/// p + 4, p + 8, … of an array together, for p from 0 on. Its first column is two before the first interior point.
struct StripArguments {
    SpectralArguments spectral;
    IterateMaps from;
    /// g: eight rows for four p.
    TensorMap g;
};
static_assert(OFFSET(StripArguments, from) == (REAL_BITS == 64 ? 256 : 128));
static_assert(sizeof(StripArguments) == OFFSET(StripArguments, from) + 3 * 128);

/// How the strips of a block lie in its shared memory.
template <int GROUPS_, int COLUMNS_> struct Plan {
    static constexpr int SIDE = 2 * Quadrants::HALF, TILES = 4, GROUPS = GROUPS_, WARPS = GROUPS * TILES;
    /// Columns of a strip: those of its tiles, and at least one on either side.
    static constexpr int COLUMNS = COLUMNS_;
    /// Pairs: the matrices, and with the factors all tables.
    static constexpr int MATRICES = 2 * Quadrants::MATRIX * int(sizeof(Operand) / sizeof(Pair));
    static constexpr int KEPT = MATRICES + SIDE * SIDE / 2;
};

/// A lane's number in its warp.
__device__ __forceinline__ int lane_of_warp() { return static_cast<unsigned>(thread_of_block()) % WARP; }

/// The number of a thread's warp in the block.
__device__ __forceinline__ int warp_of_block() { return static_cast<unsigned>(thread_of_block()) / WARP; }

/// Where a tile lies, how many columns after the first of its strip, and which of its columns and rows it owns: a bit each.
struct Place {
    int x, y;
    unsigned columns, rows;
    int in_strip;

    /// Whether pairs of points lie at multiples of their size.
    __device__ __forceinline__ bool is_aligned() const { return in_strip % 2 == 0; }

    /// Whether whole pairs of points are owned, which lie at multiples of their size.
    __device__ __forceinline__ bool owns_pairs() const {
        return x % 2 == 0 && ((columns ^ columns >> 1) & 0x55555555) == 0;
    }
};

/// The places of a warp's tiles, one of each strip that its group works on. They are looked up 32 at a time, one by each
/// lane, and kept in shared memory: for each tile anew, that would take as long as a product.
template <class P> struct Places {
    /// Four numbers of each place lie together, the last ones after all of these.
    static constexpr int TOGETHER = 16, BYTES = WARP * (TOGETHER + 4);
    const SpectralArguments &arguments;
    /// Where they lie, and the number of the first strip.
    unsigned at;
    int first = 0;

    __device__ __forceinline__ Places(const SpectralArguments &arguments, unsigned at) : arguments(arguments), at(at) {
        look_up();
    }

    /// The last tile of a row, which may be moved back, has a strip of its own.
    static __device__ __forceinline__ int strips_of_row(const CycleArguments &a) {
        return (a.x.count + P::TILES - 2) / P::TILES + 1;
    }

    /// How many strips there are.
    __device__ __forceinline__ int strips() const {
        return strips_of_row(arguments.cycle) * (arguments.tiles / arguments.cycle.x.count);
    }

    /// The number of a strip that the warp's group works on, among all strips.
    __device__ __forceinline__ int strip_of(int number) const {
        // Strips beside each other share points, so the groups of a block take such; of what is left at the end every block
        // gets some.
        int group = warp_of_block() / P::TILES, before = number * gridDim.x * P::GROUPS;
        bool are_all = before + int(gridDim.x) * P::GROUPS <= strips();
        return before + (are_all ? blockIdx.x * P::GROUPS + group : group * gridDim.x + blockIdx.x);
    }

    /// Looks up those from the first on.
    __device__ __forceinline__ void look_up() const {
        const CycleArguments &a = arguments.cycle;
        int warp = warp_of_block(), lane = lane_of_warp(), of_row = strips_of_row(a), strip = strip_of(first + lane);
        Place place = {0, -1, 0, 0, 0};
        if (strip < strips()) {
            int tile_y = a.first / a.x.count + strip / of_row, in_row = strip % of_row;
            bool is_last = in_row == of_row - 1;
            int leader = is_last ? a.x.count - 1 : in_row * P::TILES, tile_x = leader + warp % P::TILES;
            // Copies begin at multiples of 16 bytes: of four values in single precision.
            int begin = a.x.start(leader) / 4 * 4;
            place.x = begin, place.y = a.y.start(tile_y);
            // A warp for which there is no tile works on what lies at the beginning, of which it owns nothing.
            if (tile_x < (is_last ? a.x.count : a.x.count - 1)) {
                place.x = a.x.start(tile_x), place.in_strip = place.x - begin;
                auto bits = [](int from, int to) { return static_cast<unsigned>((1ull << to) - (1ull << from)); };
                place.columns = bits(a.x.border(tile_x) - place.x, a.x.border(tile_x + 1) - place.x);
                place.rows = bits(a.y.border(tile_y) - place.y, a.y.border(tile_y + 1) - place.y);
            }
        }
        asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};\n\tst.shared.b32 [%5], %6;" ::"r"(at + lane * TOGETHER),
                     "r"(place.x), "r"(place.y), "r"(place.columns), "r"(place.rows), "r"(at + WARP * TOGETHER + lane * 4),
                     "r"(place.in_strip)
                     : "memory");
        __syncwarp();
    }

    /// Looks up more where the one after this is not known.
    __device__ __forceinline__ void prepare_next(int number) {
        if (number + 1 < first + WARP) return;
        __syncwarp();
        first = number;
        look_up();
    }

    /// That in a strip; its row is -1 if there is no such strip.
    __device__ __forceinline__ Place of(int number) const {
        Place place;
        int i = number - first;
        asm volatile("ld.volatile.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(place.x), "=r"(place.y), "=r"(place.columns), "=r"(place.rows)
                     : "r"(at + i * TOGETHER));
        asm volatile("ld.volatile.shared.b32 %0, [%1];" : "=r"(place.in_strip) : "r"(at + WARP * TOGETHER + i * 4));
        return place;
    }
};

/// A strip in shared memory: the iterate with its halo, then g. Lanes read rows y, y + 4, y + 8 and y + 12 together, which must
/// lie in different banks: they follow each other, an odd multiple of 32 bytes apart.
template <class P> struct Strip {
    /// Columns before the first of its tiles, and bytes of a row.
    static constexpr int BEFORE = 2, ROW = P::COLUMNS * int(sizeof(real));
    static_assert(ROW % 64 == 32);
    static constexpr int NINE = 9 * ROW, EIGHT = 8 * ROW;
    /// Where the rows of each map begin, where the accelerator can write.
    static constexpr int AT_EIGHT = (2 * NINE + 127) / 128 * 128, G = (AT_EIGHT + 2 * EIGHT + 127) / 128 * 128;
    /// Bytes that are copied of the iterate and of g.
    static constexpr int OF_ITERATE = 34 * ROW, OF_G = 32 * ROW;
    /// The barrier that says whether all has arrived, and how many warps have read all.
    static constexpr int BARRIER = (G + 4 * EIGHT + 127) / 128 * 128, READ = BARRIER + 8, TOTAL = BARRIER + 128;

    /// Where it lies.
    unsigned first;

    /// Where row 4 n + i of the iterate lies, for i from -1, which may be the halo above the tiles, to 4, which may be the one
    /// below them, and n = 0; and of g.
    static constexpr __device__ __forceinline__ int row(int i) {
        int p = (i + 1) % 4, n = (i + 1) / 4;
        return (p < 2 ? p * NINE : AT_EIGHT + (p - 2) * EIGHT) + n * ROW;
    }
    static constexpr __device__ __forceinline__ int row_of_g(int i) { return G + i * EIGHT; }

    /// Where a tile of it lies.
    __device__ __forceinline__ unsigned tile(const Place &place) const {
        return first + (BEFORE + place.in_strip) * int(sizeof(real));
    }

    /// By one thread, before all else.
    __device__ __forceinline__ void prepare() const {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n\t"
                     "st.shared.b32 [%1], 0;\n\t"
                     "fence.proxy.async;" ::"r"(first + BARRIER), "r"(first + READ)
                     : "memory");
    }

    /// Copies rows from y on.
    __device__ __forceinline__ void copy(int to, const TensorMap &map, int x, int y) const {
        asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                     "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(first + to),
                     "l"(&map), "r"(x), "r"(y / 4), "r"(y % 4), "r"(first + BARRIER)
                     : "memory");
    }

    /// Says how many bytes are going to be copied; by one thread.
    __device__ __forceinline__ void expect(int bytes) const {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(first + BARRIER), "r"(bytes) : "memory");
    }
    /// Begins to copy what the tiles from a column and a row on read of g, and of the iterate; by the same thread.
    __device__ __forceinline__ void copy_g(const TensorMap &g, int x, int y) const { copy(G, g, x, y); }
    __device__ __forceinline__ void copy_iterate(const IterateMaps &iterate, int x, int y) const {
        copy(0, iterate.nine, x, y);
        copy(AT_EIGHT, iterate.eight, x, y);
    }

    /// Waits for the copies of a strip, given its number.
    __device__ __forceinline__ void wait(int number) const {
        asm volatile("{\n\t"
                     ".reg .pred has_arrived;\n\t"
                     "wait:\n\t"
                     "mbarrier.try_wait.parity.shared::cta.b64 has_arrived, [%0], %1;\n\t"
                     "@!has_arrived bra wait;\n\t"
                     "}" ::"r"(first + BARRIER),
                     "r"(number & 1)
                     : "memory");
    }

    /// Says that a warp has read all; by one of its lanes. Returns whether all warps have.
    __device__ __forceinline__ bool have_all_read() const {
        unsigned others;
        asm volatile("atom.acq_rel.cta.shared.inc.u32 %0, [%1], %2;" : "=r"(others) : "r"(first + READ), "n"(P::TILES - 1) : "memory");
        return others == P::TILES - 1;
    }
};

/// A lane's points in rows 4 n to 4 n + 3 of a tile in shared memory, which lie at multiples of the size of a pair or not.
template <class P, bool IS_ALIGNED> struct StagedRows {
    using S = Strip<P>;
    static constexpr int VALUE = sizeof(real);
    unsigned left, right;

    __device__ __forceinline__ StagedRows(unsigned tile, int n) {
        unsigned first = tile + n * S::ROW, x = lane_of_warp() / 4 * 2;
        left = first + x * VALUE, right = first + (P::SIDE - 2 - x) * VALUE;
    }

    static __device__ __forceinline__ Pair pair(unsigned at) {
        return IS_ALIGNED ? load_pair(at) : make_pair(load_value(at), load_value(at + VALUE));
    }

    /// Row i of the iterate, from -1 to 4, and of g.
    __device__ __forceinline__ Sides row(int i) const { return {pair(left + S::row(i)), pair(right + S::row(i))}; }
    __device__ __forceinline__ Sides row_of_g(int i) const {
        return {pair(left + S::row_of_g(i)), pair(right + S::row_of_g(i))};
    }

    /// The update of the first sweep at the points of row i, less their values.
    __device__ __forceinline__ Sides changes(const Weights &w, int i, const Sides &prev, const Sides &own,
                                             const Sides &next, const Sides &g) const {
        unsigned near = left + S::row(i), far = right + S::row(i);
        real left_prev = load_value(near - VALUE), left_next = load_value(near + 2 * VALUE);
        real right_prev = load_value(far - VALUE), right_next = load_value(far + 2 * VALUE);
        return {change(w, left_prev, own.left, left_next, prev.left, next.left, g.left),
                change(w, right_prev, own.right, right_next, prev.right, next.right, g.right)};
    }
};

/// Which of a lane's points its tile owns: bits 0 and 1 of its columns on either side, bits 0 to 3 of its rows and, the other
/// way round, of their mirror images.
template <class P> struct Owned {
    static constexpr int ROWS = Quadrants::ROWS;
    unsigned left, right, above, below;

    __device__ __forceinline__ explicit Owned(const Place &place) {
        int lane = lane_of_warp(), x = 2 * (lane / 4), y = ROWS * (lane % 4);
        left = place.columns >> x, right = place.columns >> (P::SIDE - 2 - x);
        above = place.rows >> y, below = place.rows >> (P::SIDE - ROWS - y);
    }

    /// Whether row i and its mirror image are owned.
    __device__ __forceinline__ bool is_above(int i) const { return above >> i & 1; }
    __device__ __forceinline__ bool is_below(int i) const { return below >> (ROWS - 1 - i) & 1; }

    /// Adds the squares of the owned points of a row.
    __device__ __forceinline__ void add(double &squares, bool is_row, const Sides &values) const {
        add_square_if(is_row && left & 1, squares, values.left.x);
        add_square_if(is_row && left & 2, squares, values.left.y);
        add_square_if(is_row && right & 1, squares, values.right.x);
        add_square_if(is_row && right & 2, squares, values.right.y);
    }
};

/// A lane's rows of a tile, and their mirror images.
struct LaneRows {
    static constexpr int ROWS = Quadrants::ROWS;
    Sides here[ROWS], mirrored[ROWS];
};

/// A tile that one warp works on.
template <class P> struct Tile {
    static constexpr int ROWS = Quadrants::ROWS;
    LaneRows own;
    Quadrants quadrants;

    /// The lane's rows in shared memory, and the mirrored ones, which lie the other way round.
    template <bool IS_ALIGNED> static __device__ __forceinline__ StagedRows<P, IS_ALIGNED> rows(unsigned tile) {
        return {tile, lane_of_warp() % 4};
    }
    template <bool IS_ALIGNED> static __device__ __forceinline__ StagedRows<P, IS_ALIGNED> mirrored_rows(unsigned tile) {
        return {tile, P::SIDE / ROWS - 1 - lane_of_warp() % 4};
    }

    /// The g of the tile's points.
    template <bool IS_ALIGNED> static __device__ __forceinline__ LaneRows rows_of_g(unsigned tile) {
        auto here = rows<IS_ALIGNED>(tile), there = mirrored_rows<IS_ALIGNED>(tile);
        LaneRows g;
#pragma unroll
        for (int i = 0; i < ROWS; i++) g.here[i] = here.row_of_g(i), g.mirrored[i] = there.row_of_g(ROWS - 1 - i);
        return g;
    }

    /// The first sweep; adds up the squares of the owned points, or no squares. Reads g when it is needed, or is given it.
    template <bool IS_ALIGNED, bool MEASURES>
    __device__ __forceinline__ void split(const Weights &w, unsigned tile, const Owned<P> &owned, double &squares) {
        auto here = rows<IS_ALIGNED>(tile), there = mirrored_rows<IS_ALIGNED>(tile);
        auto g = [&](int i) { return here.row_of_g(i); };
        auto mirrored_g = [&](int i) { return there.row_of_g(ROWS - 1 - i); };
        split<IS_ALIGNED, MEASURES>(w, tile, g, mirrored_g, owned, squares);
    }
    template <bool IS_ALIGNED, bool MEASURES>
    __device__ __forceinline__ void split(const Weights &w, unsigned tile, const LaneRows &g, const Owned<P> &owned,
                                          double &squares) {
        auto here = [&](int i) { return g.here[i]; };
        auto mirrored = [&](int i) { return g.mirrored[i]; };
        split<IS_ALIGNED, MEASURES>(w, tile, here, mirrored, owned, squares);
    }
    template <bool IS_ALIGNED, bool MEASURES, class G, class H>
    __device__ __forceinline__ void split(const Weights &w, unsigned tile, const G &g, const H &mirrored_g,
                                          const Owned<P> &owned, double &squares) {
        auto here = rows<IS_ALIGNED>(tile), there = mirrored_rows<IS_ALIGNED>(tile);
        Sides prev = here.row(-1), mirrored_next = there.row(ROWS);
        own.here[0] = here.row(0), own.mirrored[0] = there.row(ROWS - 1);
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            int image = ROWS - 1 - i;
            Sides next = here.row(i + 1), mirrored_prev = there.row(image - 1);
            Sides above = here.changes(w, i, prev, own.here[i], next, g(i));
            Sides below = there.changes(w, image, mirrored_prev, own.mirrored[i], mirrored_next, mirrored_g(i));
            prev = own.here[i], mirrored_next = own.mirrored[i];
            if (i + 1 < ROWS) own.here[i + 1] = next, own.mirrored[i + 1] = mirrored_prev;
            if (MEASURES) owned.add(squares, owned.is_above(i), above), owned.add(squares, owned.is_below(i), below);
            quadrants.fold(i, above, below);
        }
    }

    /// Reads the tile's points again, which need not be kept then.
    template <bool IS_ALIGNED> __device__ __forceinline__ void load_own(unsigned tile) {
        auto here = rows<IS_ALIGNED>(tile), there = mirrored_rows<IS_ALIGNED>(tile);
#pragma unroll
        for (int i = 0; i < ROWS; i++) own.here[i] = here.row(i), own.mirrored[i] = there.row(ROWS - 1 - i);
    }

    /// The products; returns how their results are to be added.
    __device__ __forceinline__ Scale transform(float correction_scale) {
        const Pair *factors = memory + P::MATRICES + lane_of_warp();
        unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(factors));
        auto factor = [=](int i) { return load_pair(from + i * WARP * int(sizeof(Pair))); };
        Scale scale = quadrants.scaled(correction_scale);
        quadrants.transform(reinterpret_cast<const Operand *>(memory), factor);
        return scale;
    }

    /// Adds the correction to the owned points and stores them, in pairs where whole pairs are owned.
    template <bool IN_PAIRS>
    __device__ __forceinline__ void join(real *to, int pitch, const Place &place, const Scale &scale) {
        Owned<P> owned(place);
        int lane = lane_of_warp(), x = 2 * (lane / 4), y = ROWS * (lane % 4);
        // The points are not read again before they are in the next cycle.
        auto write = [&scale](bool is_row, unsigned columns, real *at, Pair own, Pair change) {
            Pair sum = make_pair(scale.sum(own.x, change.x), scale.sum(own.y, change.y));
            if (IN_PAIRS) {
                if (is_row && columns & 1) __stcs(reinterpret_cast<Pair *>(at), sum);
            } else {
                if (is_row && columns & 1) at[0] = sum.x;
                if (is_row && columns & 2) at[1] = sum.y;
            }
        };
        // Both pairs of a row, and of its mirror image.
        real *left = to + (static_cast<long long>(place.y + y) * pitch + (place.x + x));
        real *right = left + (P::SIDE - 2 - 2 * x);
        long long below_it = static_cast<long long>(P::SIDE - 1 - 2 * y) * pitch;
        real *left_below = left + below_it, *right_below = right + below_it;
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            Sides above, below;
            quadrants.unfold(i, above, below);
            write(owned.is_above(i), owned.left, left, own.here[i].left, above.left);
            write(owned.is_above(i), owned.right, right, own.here[i].right, above.right);
            write(owned.is_below(i), owned.left, left_below, own.mirrored[i].left, below.left);
            write(owned.is_below(i), owned.right, right_below, own.mirrored[i].right, below.right);
            left += pitch, right += pitch, left_below -= pitch, right_below -= pitch;
        }
    }
};

