// Statistics of a field over its tiles: histograms of the magnitude by distance from a tile border, and the mean
// tile. The constants below, and the order of the sums, are those of `solver/statistics.rs`.
// Variants: 1d 2d 3d per-point
#include "field.cuh"

/// Bins of a histogram: the first 11 bits of a magnitude after the sign.
constexpr int BINS = 2048;
constexpr int BELOW_BIN = 20;

/// Tiles of a row of tiles that are summed up as one group.
constexpr int TOGETHER = 32;

/// The class of points that are left out, those of tiles at the boundary.
constexpr int LEFT_OUT = 0;

/// A lane without a point, or a slot without a bin.
constexpr int NOTHING = -1;

/// The counts of a block: a hash table in shared memory. The few bins that find no slot are counted in global
/// memory, where threads that count the same bin wait for each other.
struct Tally {
    static constexpr int SLOT_BITS = 10, SLOTS = 1 << SLOT_BITS;
    /// Slots that are tried for a bin, one after the other.
    static constexpr int MAX_TRIES = 4;

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
        // Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4): neighbouring bins lie far apart.
        unsigned slot = unsigned(bin) * 2654435769u >> (32 - SLOT_BITS);
        for (int tried = 0; tried < MAX_TRIES; tried++, slot = (slot + 1) % SLOTS) {
            int there = atomicCAS(&bins[slot], NOTHING, bin);
            if (there == NOTHING || there == bin) {
                atomicAdd(&counts[slot], count);
                return;
            }
        }
        atomicAdd(&all[bin], (unsigned long long)count);
    }

    /// Adds the counts of the block to those of all.
    __device__ __forceinline__ void write(unsigned long long *all) const {
        __syncthreads();
        for (int slot = threadIdx.x; slot < SLOTS; slot += blockDim.x) {
            if (counts[slot]) atomicAdd(&all[bins[slot]], (unsigned long long)counts[slot]);
        }
    }
};

/// Counts points by class and magnitude, and sums up their magnitudes from inner tile to inner tile. A block takes 32 columns of
/// TOGETHER tiles and `together` rows per warp. The class of a point is the smaller of the classes of its column and
/// its row; a point without a class is not counted. `parts` gets a sum for each row, group of tiles and column of the
/// tile; it may be null.
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

    // From tile to tile a point keeps its class, and mostly its bin: those are counted together.
    int bin = NOTHING;
    unsigned count = 0;
    for (long long row = first_row + warp; row < last_row; row += warps) {
        int row_class = row_classes[row];
        long long first = grid.row_at(int(row));
        double sum = 0;
        for (int tile = group * TOGETHER; tile < last; tile++) {
            int i = tiles.start(tile) + place;
            bool owns = place < tiles.tile && i >= tiles.border(tile) && i < tiles.border(tile + 1);
            if (!owns) continue;
            double value = field_value(quantity, u, g, other, grid, weights, diagonal,
                                       first + i);
            float magnitude = fabsf(float(value));
            if (tiles.is_inner(tile)) sum += double(magnitude);
            int point_class = min(int(column_classes[i]), row_class);
            if (point_class == LEFT_OUT || point_class >= classes) continue;
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
    tally.write(counts);
}

/// The sums of the mean tile: each thread sums up one of its points, over the rows from the top down, and within a row
/// over the groups of tiles from left to right; in 3D over the planes from `first_plane` to `last_plane` (exclusive),
/// one after the other.
extern "C" __global__ void __launch_bounds__(256, 1)
    fold_tiles(const double *__restrict__ parts, Axis columns, Axis rows, double *__restrict__ sums
#if FORM >= FORM_3D_ISOTROPIC
               ,
               int first_plane, int last_plane
#endif
    ) {
    int at = blockIdx.x * blockDim.x + threadIdx.x;
    if (at >= columns.tile * rows.tile) return;
    int place = at % columns.tile, down = at / columns.tile;
    long long groups = (columns.count + TOGETHER - 1) / TOGETHER;
    double sum = 0;
    auto add_plane = [&](long long first_row) {
        for (int tile = 0; tile < rows.count; tile++) {
            if (!rows.is_inner(tile)) continue;
            long long row = rows.start(tile) + down;
            if (row < rows.border(tile) || row >= rows.border(tile + 1)) continue;
#pragma unroll 8
            for (long long group = 0; group < groups; group++) {
                sum += parts[((first_row + row) * groups + group) * columns.tile + place];
            }
        }
    };
#if FORM >= FORM_3D_ISOTROPIC
    for (int plane = first_plane; plane < last_plane; plane++) add_plane((long long)plane * rows.points);
#else
    add_plane(0);
#endif
    sums[at] = sum;
}
