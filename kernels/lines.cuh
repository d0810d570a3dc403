// Tiles in 1D.
#pragma once
#include "stencil.cuh"

/// One tile: where it lies, and the points that it owns; none if there is no such tile.
struct Tile {
    long long origin;
    int left, right;

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
