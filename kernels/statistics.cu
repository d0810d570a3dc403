// What the tiles of a field have in common: how many points of which magnitude lie how far from a
// tile border, and the sums of the mean tile. The numbers below, and the order of the sums, are those of
// `solver/statistics.rs`.
#include "field.cuh"

/// Bins of a histogram: the first 11 bits of a magnitude after the sign.
constexpr int BINS = 2048;
constexpr int BELOW_BIN = 20;

/// Tiles of a row whose values are added up by themselves.
constexpr int TOGETHER = 32;

/// A lane without a point.
constexpr int NOTHING = -1;

/// Each warp looks at one row of 32 columns of `TOGETHER` tiles: it counts the points that they own by
/// class and magnitude, and adds their magnitudes up from tile to tile. A point's class is the smaller of
/// those of its column and its row, and not counted if there is no such; `parts` holds a sum for each row,
/// each group of tiles and each column of the tile, and may be null.
extern "C" __global__ void __launch_bounds__(256, 4)
    fold_rows(const real *__restrict__ u, RightHandSide g, const void *__restrict__ other, Grid grid,
              Weights weights, double diagonal, int quantity, Axis tiles,
              const unsigned short *__restrict__ column_classes,
              const unsigned short *__restrict__ row_classes, int classes,
              unsigned long long *__restrict__ counts, double *__restrict__ parts) {
    long long warp = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / WARP;
    int lane = threadIdx.x % WARP;
    int strips = (tiles.tile + WARP - 1) / WARP;
    int groups = (tiles.count + TOGETHER - 1) / TOGETHER;
    // All lanes of a warp have a row, or none.
    if (warp >= (long long)grid.rows * groups * strips) return;
    int place = int(warp % strips) * WARP + lane;
    int group = int(warp / strips % groups);
    long long row = warp / strips / groups;
    int row_class = row_classes[row];

    double sum = 0;
    int last = min((group + 1) * TOGETHER, tiles.count);
    for (int tile = group * TOGETHER; tile < last; tile++) {
        int i = tiles.start(tile) + place;
        bool owns = place < tiles.tile && i >= tiles.border(tile) && i < tiles.border(tile + 1);
        int key = NOTHING;
        if (owns) {
            double value = field_value(quantity, u, g, other, grid, weights, diagonal,
                                       row * grid.pitch + i);
            float magnitude = fabsf(float(value));
            sum += double(magnitude);
            int point_class = min(int(column_classes[i]), row_class);
            if (point_class < classes) {
                key = point_class * BINS + int(__float_as_uint(magnitude) >> BELOW_BIN);
            }
        }
        // One addition for all lanes of one bin.
        unsigned same = __match_any_sync(ALL_LANES, key);
        if (key != NOTHING && lane == __ffs(same) - 1) {
            atomicAdd(&counts[key], (unsigned long long)__popc(same));
        }
    }
    if (parts && place < tiles.tile) parts[(row * groups + group) * tiles.tile + place] = sum;
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
        for (long long group = 0; group < groups; group++) {
            sum += parts[(row * groups + group) * columns.tile + place];
        }
    }
    sums[at] = sum;
}
