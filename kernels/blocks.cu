// Block Jacobi on a sparse matrix: one cycle, a block of threads per block of rows, everything outside it frozen.
// Source: Flagg, Monk, Zhu and Segee, "Optimizing Data Locality for Iterative Matrix Solvers on CUDA", sections 3.2,
// 4.5 and figure 5.
// Variants: matrix
//
// Of a row, static entries have columns outside its block, dynamic ones inside. Every kernel adds the static entries
// by ascending columns, then the dynamic ones, as `solver/cpu/blocks.rs` does: the same bits.
#include "norms.cuh"

/// Rows of a group, whose lists lie side by side: those of a warp.
constexpr unsigned GROUP = WARP;

/// Entries of a row that are requested before the first is used, where registers allow that.
constexpr int SEVERAL = 4;

/// Dynamic entries of a row that kernel `resident` keeps in registers.
constexpr int KEPT = 8;

/// Lists of entries. Those of a group of rows are padded to the longest, and lie entry by entry: the first entries
/// of all its rows, then the second ones. Columns of padding are `NONE`; it is skipped, because to add 0 x would
/// change a NaN and the sign of a zero.
template <class Column> struct List {
    static constexpr Column NONE = Column(-1);

    /// Where the lists of a group begin, in entries of a row; one more than there are groups.
    const unsigned *starts;
    const Column *columns;
    const real *weights;
};

/// A block of rows. `RowBlock` in `solver/cuda/blocks/lists.rs` has the same layout.
struct RowBlock {
    /// Its first group.
    unsigned group;
    /// How many rows it computes.
    unsigned rows;
    /// The rows that it owns, and where they lie among the computed ones.
    unsigned first, owned, place;
};

static_assert(sizeof(RowBlock) == 20);

/// The arguments of a cycle. `BlocksArguments` in `solver/cuda/blocks/kernel.rs` has the same layout.
struct BlocksArguments {
    /// The iterate, b_i / a_ii, and the next iterate.
    const real *from, *g;
    real *to;
    /// Of each block: the sum of squares of the residual before the cycle, and its other norms. Null if not wanted.
    double *squares;
    Norms *others;
    /// a_ii, and the exact solution, null if it is not known.
    const double *diagonal, *exact;
    /// Null where all blocks own `capacity` rows, but for the last, and compute no others.
    const RowBlock *blocks;
    /// The computed rows, group by group; null where these are the owned ones.
    const unsigned *rows;
    List<unsigned> outside;
    /// Columns are places among the computed rows. Kernel `rows` has no such list.
    List<unsigned short> inside;
    /// Sweeps of the cycle, and the rows that an array in shared memory has room for.
    int sweeps, capacity;
    /// Rows of the matrix.
    unsigned count;
};

static_assert(sizeof(BlocksArguments) == 136);
static_assert(OFFSET(BlocksArguments, outside) == 72 && OFFSET(BlocksArguments, sweeps) == 120);

__device__ __forceinline__ unsigned load_column(const unsigned *at) { return __ldg(at); }

/// As a number of 32 bits at once: one of 16 bits is converted before every comparison.
__device__ __forceinline__ unsigned load_column(const unsigned short *at) {
    unsigned column;
    asm("ld.global.nc.u16 %0, [%1];" : "=r"(column) : "l"(at));
    return column;
}

/// `sum` + the products of `COUNT` entries of a row, all requested before the first is used. `value` gives x of a column.
template <int COUNT, class Column, class Value>
__device__ __forceinline__ real add_together(const List<Column> &list, long long at, real sum, Value value) {
    constexpr unsigned NONE = List<Column>::NONE;
    unsigned columns[COUNT];
    real weights[COUNT], values[COUNT];
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        columns[i] = load_column(list.columns + at + i * GROUP);
        weights[i] = __ldg(list.weights + at + i * GROUP);
    }
#pragma unroll
    for (int i = 0; i < COUNT; i++) values[i] = columns[i] == NONE ? real(0) : value(columns[i]);
#pragma unroll
    for (int i = 0; i < COUNT; i++) {
        if (columns[i] != NONE) sum = multiply_add(weights[i], values[i], sum);
    }
    return sum;
}

/// The same with the last `count` entries, at most `MOST`: all lanes of a warp have as many.
template <int MOST, class Column, class Value>
__device__ __forceinline__ real add_last(
    const List<Column> &list, long long at, unsigned count, real sum, Value value) {
    if constexpr (MOST > 0) {
        if (count == MOST) return add_together<MOST>(list, at, sum, value);
        return add_last<MOST - 1>(list, at, count, sum, value);
    }
    return sum;
}

/// The same with entries `start` to `end` of the rows of a group, `TOGETHER` at a time; those that are left over together,
/// or one by one, which takes fewer registers.
template <int TOGETHER, bool IS_LAST_TOGETHER, class Column, class Value>
__device__ __forceinline__ real add_between(
    const List<Column> &list, unsigned start, unsigned end, real sum, Value value) {
    long long at = (long long)start * GROUP + threadIdx.x % GROUP;
    for (; start + TOGETHER <= end; start += TOGETHER, at += TOGETHER * GROUP) {
        sum = add_together<TOGETHER>(list, at, sum, value);
    }
    if constexpr (IS_LAST_TOGETHER) {
        if (start < end) sum = add_last<TOGETHER - 1>(list, at, end - start, sum, value);
    } else {
        for (; start < end; start++, at += GROUP) sum = add_together<1>(list, at, sum, value);
    }
    return sum;
}

/// The same with all entries of a row.
template <int TOGETHER, bool IS_LAST_TOGETHER, class Column, class Value>
__device__ __forceinline__ real add(const List<Column> &list, unsigned group, real sum, Value value) {
    return add_between<TOGETHER, IS_LAST_TOGETHER>(list, list.starts[group], list.starts[group + 1], sum, value);
}

/// A block of rows, and the norms that a thread finds of it.
struct Work {
    const BlocksArguments &a;
    RowBlock block;
    Norms norms;

    __device__ __forceinline__ explicit Work(const BlocksArguments &a) : a(a), block(block_of(a)), norms{} {}

    /// The block of rows of this block of threads.
    static __device__ __forceinline__ RowBlock block_of(const BlocksArguments &a) {
        if (a.blocks) return a.blocks[blockIdx.x];
        unsigned first = blockIdx.x * a.capacity, rows = min(unsigned(a.capacity), a.count - first);
        return {blockIdx.x * ((a.capacity + GROUP - 1) / GROUP), rows, first, rows, 0};
    }

    __device__ __forceinline__ unsigned group(unsigned place) const { return block.group + place / GROUP; }

    /// The row at a place among the computed ones.
    __device__ __forceinline__ unsigned row(unsigned place) const {
        return a.rows ? __ldg(a.rows + block.group * (long long)GROUP + place) : block.first + place;
    }

    /// Where a row lies among the computed ones; no less than `block.rows` if it does not.
    __device__ __forceinline__ unsigned place(unsigned row) const {
        if (!a.rows) return row - block.first;
        const unsigned *rows = a.rows + block.group * (long long)GROUP;
        unsigned low = 0, high = block.rows;
        while (low < high) {
            unsigned middle = (low + high) / 2;
            if (rows[middle] < row) low = middle + 1;
            else high = middle;
        }
        return low < block.rows && rows[low] == row ? low : block.rows;
    }

    __device__ __forceinline__ bool owns(unsigned place) const { return place - block.place < block.owned; }

    /// The static entries of a row.
    template <bool IS_LAST_TOGETHER> __device__ __forceinline__ real add_outside(unsigned place) const {
        const real *from = a.from;
        auto value = [from](unsigned column) { return __ldg(from + column); };
        return add<SEVERAL, IS_LAST_TOGETHER>(a.outside, group(place), __ldg(a.g + row(place)), value);
    }

    /// Dynamic entries `start` to `end` of the rows of a group.
    template <int TOGETHER, bool IS_LAST_TOGETHER>
    __device__ __forceinline__ real add_inside(unsigned start, unsigned end, real sum, const real *y) const {
        auto value = [y](unsigned column) { return y[column]; };
        return add_between<TOGETHER, IS_LAST_TOGETHER>(a.inside, start, end, sum, value);
    }

    /// The dynamic entries of a row.
    template <bool IS_LAST_TOGETHER>
    __device__ __forceinline__ real add_inside(unsigned place, real sum, const real *y) const {
        const unsigned *starts = a.inside.starts + group(place);
        return add_inside<SEVERAL, IS_LAST_TOGETHER>(starts[0], starts[1], sum, y);
    }

    /// Measures the first update of a row: its residual.
    __device__ __forceinline__ void first_sweep(unsigned place, real difference) {
        if (a.squares && owns(place)) norms.first_sweep(__ldg(a.diagonal + row(place)) * double(difference));
    }

    /// Writes the next value of an owned row.
    __device__ __forceinline__ void write(unsigned row, real value, real before) {
        a.to[row] = value;
        if (a.others) {
            norms.whole_cycle(double(value - before));
            if (a.exact) norms.distance(double(value) - a.exact[row]);
        }
    }

    /// Writes the norms of the block.
    __device__ __forceinline__ void write_norms() {
        if (!a.squares) return;
        if (a.others) {
            Norms of = of_block(norms);
            if (threadIdx.x > 0) return;
            a.squares[blockIdx.x] = of.squares;
            // They are added up from `squares`.
            of.squares = 0;
            a.others[blockIdx.x] = of;
            return;
        }
        __shared__ double warps[1024 / WARP];
        double sum = sum_of_lanes(norms.squares);
        if (threadIdx.x % WARP == 0) warps[threadIdx.x / WARP] = sum;
        __syncthreads();
        if (threadIdx.x >= WARP) return;
        sum = sum_of_lanes(threadIdx.x < blockDim.x / WARP ? warps[threadIdx.x] : 0.0);
        if (threadIdx.x == 0) a.squares[blockIdx.x] = sum;
    }
};

extern __shared__ __align__(8) unsigned char shared_memory[];

/// Makes all sweeps of a block, with two iterates in shared memory. `begin(work, place, arrays)` prepares a row;
/// `update(work, place, y)` gives its next value.
template <class Begin, class Update>
__device__ __forceinline__ void cycle(const BlocksArguments &a, Begin begin, Update update) {
    Work work(a);
    real *y = reinterpret_cast<real *>(shared_memory), *next = y + a.capacity;
    for (unsigned place = threadIdx.x; place < work.block.rows; place += blockDim.x) {
        y[place] = __ldg(a.from + work.row(place));
        begin(work, place);
    }
    __syncthreads();
    for (int sweep = 0; sweep < a.sweeps; sweep++) {
        for (unsigned place = threadIdx.x; place < work.block.rows; place += blockDim.x) {
            real value = update(work, place, y);
            next[place] = value;
            if (sweep == 0) work.first_sweep(place, value - y[place]);
        }
        __syncthreads();
        real *last = y;
        y = next;
        next = last;
    }
    for (unsigned own = threadIdx.x; own < work.block.owned; own += blockDim.x) {
        unsigned row = work.block.first + own;
        work.write(row, y[work.block.place + own], a.others ? __ldg(a.from + row) : real(0));
    }
    work.write_norms();
}

/// One list per row, static entries before dynamic ones, with the columns of the matrix: each entry is tested for
/// being inside.
extern "C" __global__ void __launch_bounds__(1024, 1) rows(const __grid_constant__ BlocksArguments a) {
    cycle(
        a, [](Work &, unsigned) {},
        [](const Work &work, unsigned place, const real *y) {
            auto value = [&](unsigned column) {
                unsigned inside = work.place(column);
                return inside < work.block.rows ? y[inside] : __ldg(work.a.from + column);
            };
            return add<SEVERAL, true>(work.a.outside, work.group(place), __ldg(work.a.g + work.row(place)), value);
        });
}

/// Static and dynamic entries in lists of their own.
extern "C" __global__ void __launch_bounds__(1024, 1) reorganised(const __grid_constant__ BlocksArguments a) {
    cycle(
        a, [](Work &, unsigned) {},
        [](const Work &work, unsigned place, const real *y) {
            return work.add_inside<true>(place, work.add_outside<true>(place), y);
        });
}

/// The same; the sums over the static entries are made once, and kept in shared memory: for blocks of more rows than
/// threads.
extern "C" __global__ void __launch_bounds__(1024, 1) hoisted_large(const __grid_constant__ BlocksArguments a) {
    real *sums = reinterpret_cast<real *>(shared_memory) + 2 * a.capacity;
    cycle(
        a, [sums](Work &work, unsigned place) { sums[place] = work.add_outside<false>(place); },
        [sums](const Work &work, unsigned place, const real *y) {
            return work.add_inside<false>(place, sums[place], y);
        });
}

/// Dynamic entries of a row that are read from their list in every sweep.
struct Listed {
    unsigned start = 0, end = 0;

    __device__ __forceinline__ void load(const Work &work, unsigned place) {
        start = work.a.inside.starts[work.group(place)], end = work.a.inside.starts[work.group(place) + 1];
    }

    __device__ __forceinline__ real add(const Work &work, real sum, const real *y) const {
        return work.add_inside<SEVERAL, false>(start, end, sum, y);
    }
};

/// Dynamic entries of a row of which the first `KEPT` stay in registers: all of them unless `HAS_MORE`.
template <bool HAS_MORE> struct Kept {
    // Two columns in each number, in bytes from the beginning of the iterate: a block has 1024 rows at most.
    unsigned columns[KEPT / 2] = {};
    real weights[KEPT] = {};
    int count = 0;
    Listed more;

    __device__ __forceinline__ void load(const Work &work, unsigned place) {
        const List<unsigned short> &inside = work.a.inside;
        Listed all;
        all.load(work, place);
        long long at = (long long)all.start * GROUP + place % GROUP;
        unsigned length = all.end - all.start;
#pragma unroll
        for (int i = 0; i < KEPT; i++) {
            if (i < length) {
                unsigned column = load_column(inside.columns + at + i * GROUP);
                count += column != List<unsigned short>::NONE;
                columns[i / 2] |= (column * unsigned(sizeof(real)) & 0xffff) << i % 2 * 16;
                weights[i] = __ldg(inside.weights + at + i * GROUP);
            }
        }
        if (HAS_MORE && length > KEPT) more = {all.start + KEPT, all.end};
    }

    __device__ __forceinline__ real add(const Work &work, real sum, const real *y) const {
        auto value = [&](int i) {
            const char *at = reinterpret_cast<const char *>(y) + (columns[i / 2] >> i % 2 * 16 & 0xffff);
            return *reinterpret_cast<const real *>(at);
        };
#pragma unroll
        for (int i = 0; i < KEPT; i++) {
            if (i < count) sum = multiply_add(weights[i], value(i), sum);
        }
        if (HAS_MORE) sum = work.add_inside<1, false>(more.start, more.end, sum, y);
        return sum;
    }
};

/// Makes all sweeps of a block with one thread per row, which keeps its static sum, and of its dynamic entries what
/// `Entries` keeps. The iterates in shared memory have room for all threads.
template <class Entries> __device__ __forceinline__ void cycle_of_rows(const BlocksArguments &a) {
    Work work(a);
    real *y = reinterpret_cast<real *>(shared_memory), *next = y + blockDim.x;
    const unsigned place = threadIdx.x;
    const bool computes = place < work.block.rows;
    real sum = 0, value = 0;
    // The value before the cycle, then the change of the first sweep.
    real first = 0;
    Entries entries;
    if (computes) {
        y[place] = first = __ldg(a.from + work.row(place));
        sum = work.add_outside<true>(place);
        entries.load(work, place);
    }
    __syncthreads();
    for (int sweep = 0; sweep < a.sweeps; sweep++) {
        // A thread without a row has no entries either.
        value = entries.add(work, sum, y);
        next[place] = value;
        if (sweep == 0) first = value - first;
        __syncthreads();
        real *last = y;
        y = next;
        next = last;
    }
    if (computes && work.owns(place)) {
        work.first_sweep(place, first);
        unsigned row = work.row(place);
        work.write(row, value, a.others ? __ldg(a.from + row) : real(0));
    }
    work.write_norms();
}

// 48 registers let five blocks of 256 threads share a multiprocessor.

/// The same for blocks of at most as many rows as threads.
extern "C" __global__ void __maxnreg__(48) hoisted(const __grid_constant__ BlocksArguments a) {
    cycle_of_rows<Listed>(a);
}

/// The same with dynamic entries in registers: no row has more than `KEPT`.
extern "C" __global__ void __maxnreg__(48) resident(const __grid_constant__ BlocksArguments a) {
    cycle_of_rows<Kept<false>>(a);
}

/// Some rows have more.
extern "C" __global__ void __launch_bounds__(1024, 1) resident_and_listed(const __grid_constant__ BlocksArguments a) {
    cycle_of_rows<Kept<true>>(a);
}

/// One sweep without overlap: all entries are those of the iterate that it begins with, in one list, and nothing is kept.
extern "C" __global__ void __launch_bounds__(1024, 2) one_sweep(const __grid_constant__ BlocksArguments a) {
    Work work(a);
    for (unsigned place = threadIdx.x; place < work.block.rows; place += blockDim.x) {
        unsigned row = work.block.first + place;
        real value = work.add_outside<true>(place);
        real before = a.squares ? __ldg(a.from + row) : real(0);
        work.first_sweep(place, value - before);
        work.write(row, value, before);
    }
    work.write_norms();
}
