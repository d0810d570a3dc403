// What kernels of cubic tiles in their sine basis share.
#pragma once
#include "box.cuh"
#include "tensor.cuh"

/// Where a tile lies, and which of its columns along z and of its planes it owns: a bit each. `Place` in
/// `solver/cuda/spectral/cubes.rs` has the same layout.
struct alignas(16) Place {
    long long origin;
    unsigned columns, rows, planes;
    /// The tile's number among those of the launch.
    int tile;

    Place() = default;

    __device__ __forceinline__ Place(const CycleArguments &a, int number) : tile(number) {
        Tile tile(a, a.first + number);
        auto bits = [](int from, int to) { return static_cast<unsigned>((1ull << to) - (1ull << from)); };
        origin = tile.origin;
        columns = bits(tile.left, tile.right), rows = bits(tile.top, tile.bottom), planes = bits(tile.front, tile.back);
    }

    __device__ __forceinline__ bool owns_column(int x, int y) const { return columns >> x & rows >> y & 1; }

    /// The planes that are owned in a column.
    __device__ __forceinline__ unsigned owned(int x, int y) const { return owns_column(x, y) ? planes : 0; }
};

static_assert(OFFSET(Place, columns) == 8 && OFFSET(Place, rows) == 12 && OFFSET(Place, planes) == 16);
static_assert(OFFSET(Place, tile) == 20 && sizeof(Place) == 32);

/// The arguments of a kernel of cubes. `CubeArguments` in `solver/cuda/arguments.rs` has the same layout.
struct CubeArguments {
    SpectralArguments spectral;
    /// The places of all tiles of the launch; null if the kernel finds them itself.
    const Place *places;
    /// How many tiles blocks or clusters have taken after the first one of each; 0 between launches.
    unsigned *taken;
};

static_assert(OFFSET(CubeArguments, places) == sizeof(SpectralArguments));
static_assert(OFFSET(CubeArguments, taken) == sizeof(SpectralArguments) + 8);
static_assert(sizeof(CubeArguments) == sizeof(SpectralArguments) + 16);

/// The place of the tile that a block works on, and of the next one: by turns.
__shared__ Place places[2];

/// Begins to copy the place of a tile; if there is no such tile, notes its number only. Called by one thread.
__device__ __forceinline__ void copy_place(const CubeArguments &a, int turn, int tile) {
    Place *to = places + turn % 2;
    if (tile >= a.spectral.tiles) {
        to->tile = tile;
        return;
    }
    const Place *from = a.places + tile;
    unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(to));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n\t"
                 "cp.async.cg.shared.global [%0 + 16], [%1 + 16], 16;" ::"r"(address),
                 "l"(from)
                 : "memory");
}

/// Waits until the place is there. Called by that thread, before a barrier for all.
__device__ __forceinline__ void wait_for_place() { asm volatile("cp.async.wait_all;" ::: "memory"); }

/// Finds the place of the first tile, for all threads of a block.
__device__ __forceinline__ void begin_with_place(const CubeArguments &a, int tile) {
    if (threadIdx.x == 0) {
        copy_place(a, 0, tile);
        wait_for_place();
    }
    __syncthreads();
}

/// The number of the tile that a worker (one of so many blocks or clusters) works on after this one. Called by one thread.
///
/// Multiprocessors are not equally fast, so each worker takes the next tile that is left. With norms every worker has its own
/// tiles: sums of squares are added in an order that is always the same.
__device__ __forceinline__ int next_tile(const CubeArguments &a, int tile, int workers) {
    if (a.spectral.cycle.squares) return tile + workers;
    unsigned taken = atomicAdd(a.taken, 1u);
    // Called once for each tile, so the call that sees tiles - 1 is the last one: the next launch counts anew.
    if (taken == a.spectral.tiles - 1) *a.taken = 0;
    return workers + taken;
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
