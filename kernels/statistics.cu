// What the tiles of a field have in common: how many points of which magnitude lie how far from a
// tile border, and the sums of the mean tile. The numbers below, and the order of the sums, are those of
// `solver/statistics.rs`.
#include "field.cuh"

/// Bins of a histogram: the first 11 bits of a magnitude after the sign.
constexpr int BINS = 2048;
constexpr int BELOW_BIN = 20;

/// Tiles of a row whose values are added up by themselves.
constexpr int TOGETHER = 32;

/// A lane without a point, and a slot without a bin.
constexpr int NOTHING = -1;

/// Counts of a block: bins find one of `SLOTS` places in fast memory, and the few that do not are counted in
/// the card's memory, where whoever counts the same waits.
struct Tally {
    static constexpr int SLOT_BITS = 10, SLOTS = 1 << SLOT_BITS;
    /// Places that are tried for a bin, one after the other.
    static constexpr int TRIED = 4;

    int bins[SLOTS];
    unsigned counts[SLOTS];

    __device__ __forceinline__ void clear() {
        for (int slot = threadIdx.x; slot < SLOTS; slot += blockDim.x) {
            bins[slot] = NOTHING;
            counts[slot] = 0;
        }
        __syncthreads();
    }

    __device__ __forceinline__ void add(int bin, unsigned count, unsigned long long *all) {
        // Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4): bins side by side lie far apart.
        unsigned slot = unsigned(bin) * 2654435769u >> (32 - SLOT_BITS);
        for (int tried = 0; tried < TRIED; tried++, slot = (slot + 1) % SLOTS) {
            int there = atomicCAS(&bins[slot], NOTHING, bin);
            if (there == NOTHING || there == bin) {
                atomicAdd(&counts[slot], count);
                return;
            }
        }
        atomicAdd(&all[bin], (unsigned long long)count);
    }

    __device__ __forceinline__ void tell(unsigned long long *all) const {
        __syncthreads();
        for (int slot = threadIdx.x; slot < SLOTS; slot += blockDim.x) {
            if (counts[slot]) atomicAdd(&all[bins[slot]], (unsigned long long)counts[slot]);
        }
    }
};

/// Each block looks at 32 columns of `TOGETHER` tiles, a row a warp, so that rows side by side are read
/// together, and `together` times so many rows. It counts the points that they own by class and magnitude,
/// and adds their magnitudes up from tile to tile. A point's class is the smaller of those of its column and
/// its row, and not counted if there is no such; `parts` holds a sum for each row, each group of tiles and
/// each column of the tile, and may be null.
extern "C" __global__ void __launch_bounds__(256, 4)
    fold_rows(const real *__restrict__ u, RightHandSide g, const void *__restrict__ other, Grid grid,
              Weights weights, double diagonal, int quantity, Axis tiles, int together,
              const unsigned short *__restrict__ column_classes,
              const unsigned short *__restrict__ row_classes, int classes,
              unsigned long long *__restrict__ counts, double *__restrict__ parts) {
    __shared__ Tally tally;
    tally.clear();

    int warp = threadIdx.x / WARP, warps = blockDim.x / WARP, lane = threadIdx.x % WARP;
    int strips = (tiles.tile + WARP - 1) / WARP;
    int groups = (tiles.count + TOGETHER - 1) / TOGETHER;
    int place = blockIdx.x % strips * WARP + lane;
    int group = blockIdx.x / strips % groups;
    long long first_row = (long long)(blockIdx.x / strips / groups) * together * warps;
    long long last_row = min(first_row + together * warps, (long long)grid.rows);
    int last = min((group + 1) * TOGETHER, tiles.count);

    // From tile to tile a place keeps its class, and most often its bin: they are counted together.
    int bin = NOTHING;
    unsigned count = 0;
    for (long long row = first_row + warp; row < last_row; row += warps) {
        int row_class = row_classes[row];
        double sum = 0;
        for (int tile = group * TOGETHER; tile < last; tile++) {
            int i = tiles.start(tile) + place;
            bool owns = place < tiles.tile && i >= tiles.border(tile) && i < tiles.border(tile + 1);
            if (!owns) continue;
            double value = field_value(quantity, u, g, other, grid, weights, diagonal,
                                       row * grid.pitch + i);
            float magnitude = fabsf(float(value));
            sum += double(magnitude);
            int point_class = min(int(column_classes[i]), row_class);
            if (point_class >= classes) continue;
            int its = point_class * BINS + int(__float_as_uint(magnitude) >> BELOW_BIN);
            if (its != bin) {
                if (count) tally.add(bin, count, counts);
                bin = its;
                count = 0;
            }
            count++;
        }
        if (parts && place < tiles.tile) parts[(row * groups + group) * tiles.tile + place] = sum;
    }
    if (count) tally.add(bin, count, counts);
    tally.tell(counts);
}

/// The sums of the mean tile: each thread adds up one place of it, over the rows from the top down, and in a
/// row over the groups of tiles from left to right.
extern "C" __global__ void __launch_bounds__(256)
    fold_tiles(const double *__restrict__ parts, Axis columns, Axis rows, double *__restrict__ sums) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= columns.tile * rows.tile) return;
    int place = at % columns.tile, down = at / columns.tile;
    long long groups = (columns.count + TOGETHER - 1) / TOGETHER;
    double sum = 0;
    for (int tile = 0; tile < rows.count; tile++) {
        long long row = rows.start(tile) + down;
        if (row < rows.border(tile) || row >= rows.border(tile + 1)) continue;
#pragma unroll 8
        for (long long group = 0; group < groups; group++) {
            sum += parts[(row * groups + group) * columns.tile + place];
        }
    }
    sums[at] = sum;
}
