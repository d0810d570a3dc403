// What kernels of cubic tiles in their sine basis share.
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

/// By one thread for all, while these work on the tile before: to divide by the numbers of tiles takes long.
__device__ __forceinline__ void find_place(const CycleArguments &a, int turn, int number) {
    if (threadIdx.x != 0) return;
    // Nothing of it is computed before and kept in registers.
    CycleArguments here = a;
    here.x.points = unknown(a.x.points), here.y.points = unknown(a.y.points), here.z.points = unknown(a.z.points);
    places[turn % 2] = Place(here, number);
}

/// The change of the first sweep at the points of a column along z, given where its first point lies.
template <int SIDE> __device__ __forceinline__ void sweep_column(const CycleArguments &a, long long first, real (&change)[SIDE]) {
    const long long pitch = a.grid.pitch, plane_pitch = a.grid.plane_pitch;
    const real *u = a.from + first, *g = a.g + first;
    real prev = __ldg(u - plane_pitch), own = __ldg(u);
#pragma unroll
    for (int z = 0; z < SIDE; z++, u += plane_pitch, g += plane_pitch) {
        real next = __ldg(u + plane_pitch);
        change[z] = update(a.weights, __ldg(u - 1), __ldg(u + 1), __ldg(u - pitch), __ldg(u + pitch), prev, next, __ldg(g)) -
                    own;
        prev = own, own = next;
    }
}

/// The address of what lies in shared memory, as its instructions take it.
__device__ __forceinline__ unsigned address_of(const Pair *at) {
    return static_cast<unsigned>(__cvta_generic_to_shared(at));
}
