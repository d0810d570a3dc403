// Where the tiles of a block lie in 3D. One thread finds out for all: what it takes to divide by the numbers of tiles is a
// part of what the others do in a cycle.
#pragma once
#include "box.cuh"
#include "tensor.cuh"

/// Where a tile lies, and which of its columns along z and of its planes it owns: a bit each.
struct alignas(16) Place {
    long long origin;
    unsigned columns, rows, planes;
    int number;

    Place() = default;

    __device__ __forceinline__ Place(const CycleArguments &a, int number) : number(number) {
        Tile tile(a, number);
        auto bits = [](int from, int to) { return static_cast<unsigned>((1ull << to) - (1ull << from)); };
        origin = tile.origin;
        columns = bits(tile.left, tile.right), rows = bits(tile.top, tile.bottom), planes = bits(tile.front, tile.back);
    }

    __device__ __forceinline__ bool owns_column(int x, int y) const { return columns >> x & rows >> y & 1; }

    /// The planes that are owned in a column.
    __device__ __forceinline__ unsigned owned(int x, int y) const { return owns_column(x, y) ? planes : 0; }
};

/// The place of the tile that a block works on, and of the next one: by turns.
__shared__ Place places[2];

/// By one thread, while the others work on the tile before.
__device__ __forceinline__ void find_place(const CycleArguments &a, int turn, int number) {
    if (threadIdx.x != 0) return;
    // Nothing of it is computed before and kept in registers.
    CycleArguments here = a;
    here.x.points = unknown(a.x.points), here.y.points = unknown(a.y.points), here.z.points = unknown(a.z.points);
    places[turn % 2] = Place(here, number);
}
