// Tiles in 1D.
#pragma once
#include "stencil.cuh"

/// One tile: where it lies, and the points that it owns; none if there is no such tile.
struct alignas(16) Tile {
    long long origin;
    int left, right;

    Tile() = default;

    __device__ __forceinline__ Tile(const CycleArguments &a, int tile) {
        bool exists = tile < a.x.count * a.grid.rows;
        int tile_x = exists ? tile % a.x.count : 0, row = exists ? tile / a.x.count : 0;
        int x = a.x.start(tile_x);
        origin = row * a.grid.pitch + x;
        left = exists ? a.x.border(tile_x) - x : 0;
        right = exists ? a.x.border(tile_x + 1) - x : 0;
    }

    __device__ __forceinline__ bool owns(int x) const { return left <= x && x < right; }
};

/// The tiles that a block works on at a time, and the next ones: by turns.
constexpr int MOST_TILES = 80;
__shared__ Tile tiles[2][MOST_TILES];

/// By one thread each for all, while these work on the tiles before: to divide by the number of tiles takes long.
template <int COUNT> __device__ __forceinline__ void find_tiles(const CycleArguments &a, int turn, int first) {
    static_assert(COUNT <= MOST_TILES);
    if (threadIdx.x < COUNT) tiles[turn % 2][threadIdx.x] = Tile(a, first + threadIdx.x);
}
