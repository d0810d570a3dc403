// Tiles in 3D.
#pragma once
#include "stencil.cuh"

/// Where a tile lies, and which of its points it owns.
struct Tile {
    int left, right, top, bottom, front, back;
    long long origin;

    __device__ __forceinline__ Tile(const CycleArguments &a, int tile) {
        int tile_x = tile % a.x.count, tile_y = tile / a.x.count % a.y.count, tile_z = tile / a.x.count / a.y.count;
        int x0 = a.x.start(tile_x), y0 = a.y.start(tile_y), z0 = a.z.start(tile_z);
        origin = z0 * a.grid.plane_pitch + y0 * a.grid.pitch + x0;
        left = a.x.border(tile_x) - x0, right = a.x.border(tile_x + 1) - x0;
        top = a.y.border(tile_y) - y0, bottom = a.y.border(tile_y + 1) - y0;
        front = a.z.border(tile_z) - z0, back = a.z.border(tile_z + 1) - z0;
    }

    __device__ __forceinline__ bool owns_column(int x, int y) const {
        return left <= x && x < right && top <= y && y < bottom;
    }

    __device__ __forceinline__ bool owns_plane(int z) const { return front <= z && z < back; }
};

/// The tile of a block. Computed when it is needed, and not kept in registers.
struct Box : Tile {
    int block;

    __device__ __forceinline__ Box(const CycleArguments &a) : Box(a, number()) {}

  private:
    __device__ __forceinline__ Box(const CycleArguments &a, int block) : Tile(a, block + a.first), block(block) {}

    static __device__ __forceinline__ int number() {
        int number;
        asm volatile("mov.u32 %0, %%ctaid.x;" : "=r"(number));
        return number;
    }
};
