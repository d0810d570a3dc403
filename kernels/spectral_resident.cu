// Several cycles of 2D tiles of 32 x 32 points in their sine basis, on tensor cores, for grids of which a GPU works on all tiles
// at once: a group of four warps makes all cycles of its strip (`strips.cuh`), of which g stays in shared memory.
//
// Cycles do not wait for each other as a whole. A strip begins its next one as soon as those that it shares points with have
// written theirs: each counts what its warps have made. All blocks must run at the same time, which a cooperative launch sees
// to.
// Variants: f32 2d symmetric sm_90
#include "strips.cuh"

/// The arguments of this kernel; `ResidentArguments` in `solver/cuda/arguments.rs` has the same layout. Sums of squares of a
/// cycle lie `split.x` values behind those of the one before.
struct ResidentArguments {
    StripArguments strips;
    IterateMaps to;
    /// How many cycles the warps of each strip have made in all launches, added up.
    unsigned *made;
    /// Cycles of the launch; and on how many rows of strips, and strips of a row, on either side one depends.
    int cycles, reach_y, reach_x;
};
static_assert(OFFSET(ResidentArguments, to) == sizeof(StripArguments));
static_assert(OFFSET(ResidentArguments, made) == sizeof(StripArguments) + 2 * 128);

/// Counters lie so far apart.
constexpr int APART = 8;

/// A strip among those around it.
struct Neighbourhood {
    /// Its counter.
    unsigned *own;
    /// The one that the lane watches: that of a strip beside it or its own.
    const unsigned *watched;

    /// That of a strip with this number; `width` is how many there are in a row.
    __device__ __forceinline__ Neighbourhood(const ResidentArguments &arguments, int number, int width) {
        const SpectralArguments &spectral = arguments.strips.spectral;
        int height = spectral.tiles / spectral.cycle.x.count;
        int across = 2 * arguments.reach_x + 1, lane = lane_of_warp();
        int y = number / width + lane / across - arguments.reach_y, x = number % width + lane % across - arguments.reach_x;
        own = arguments.made + number * APART;
        bool exists = lane < across * (2 * arguments.reach_y + 1) && 0 <= y && y < height && 0 <= x && x < width;
        watched = exists ? arguments.made + (y * width + x) * APART : own;
    }

    /// Waits until all counters are at least this; by a warp, one of whose lanes then copies what was written.
    __device__ __forceinline__ void wait(unsigned least) const {
        unsigned made;
        do {
            asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(made) : "l"(watched) : "memory");
        } while (static_cast<int>(made - least) < 0);
        __syncwarp();
        asm volatile("fence.proxy.async.global;" ::: "memory");
    }

    /// Counts a cycle of a warp.
    __device__ __forceinline__ void count() const {
        __syncwarp();
        if (lane_of_warp() == 0) asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(own) : "memory");
    }
};

/// All cycles of the launch. Of each warp one sum of squares is written in each cycle.
template <class P> __device__ __forceinline__ void cycles(const ResidentArguments &arguments) {
    const StripArguments &strips = arguments.strips;
    const CycleArguments &a = strips.spectral.cycle;
    load_tables<P::KEPT>(strips.spectral);
    int warp = warp_of_block();
    unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(memory + P::KEPT));
    Strip<P> strip = {at + warp / P::TILES * Strip<P>::TOTAL};
    bool copies = warp % P::TILES == 0;
    if (copies && lane_of_warp() == 0) strip.prepare();
    Places<P> places(strips.spectral, at + P::GROUPS * Strip<P>::TOTAL + warp * Places<P>::BYTES);
    bool exists = places.of(0).y >= 0;
    int number = exists ? places.strip_of(0) : 0;
    Neighbourhood neighbourhood(arguments, number, Places<P>::strips_of_row(a));
    unsigned before = *const_cast<volatile unsigned *>(neighbourhood.own);
    // No warp of a strip counts before the others know what it had made.
    wait_for_tables();
#pragma unroll 1
    for (int cycle = 0; cycle < arguments.cycles; cycle++) {
        double squares = 0;
        if (exists) {
            Place place = places.of(0);
            bool is_first = cycle == 0, is_even = cycle % 2 == 0;
            if (copies) {
                if (!is_first) neighbourhood.wait(before + cycle * P::TILES);
                if (lane_of_warp() == 0) {
                    int x = place.x - place.in_strip, y = place.y;
                    strip.expect(is_first ? Strip<P>::OF_ITERATE + Strip<P>::OF_G : Strip<P>::OF_ITERATE);
                    if (is_first) strip.copy_g(strips.g, x, y);
                    strip.copy_iterate(is_even ? strips.from : arguments.to, x, y);
                }
                __syncwarp();
            }
            Tile<P> of_warp;
            if (is_first) strip.wait(0);
            // While the iterate is copied.
            unsigned tile = strip.tile(place);
            LaneRows g = place.is_aligned() ? Tile<P>::template rows_of_g<true>(tile) : Tile<P>::template rows_of_g<false>(tile);
            strip.wait(cycle);
            Owned<P> owned(place);
            if (!place.is_aligned()) {
                of_warp.template split<false, true>(a.weights, tile, g, owned, squares);
            } else if (a.squares) {
                of_warp.template split<true, true>(a.weights, tile, g, owned, squares);
            } else {
                of_warp.template split<true, false>(a.weights, tile, g, owned, squares);
            }
            Scale scale = of_warp.transform(strips.spectral.correction_scale);
            place = places.of(0);
            real *to = is_even ? a.to : const_cast<real *>(a.from);
            if (place.owns_pairs()) {
                of_warp.template load_own<true>(strip.tile(place));
                of_warp.template join<true>(to, a.grid.pitch, place, scale);
            } else {
                of_warp.template load_own<false>(strip.tile(place));
                of_warp.template join<false>(to, a.grid.pitch, place, scale);
            }
            neighbourhood.count();
        }
        if (a.squares) {
            double *sums = a.squares + static_cast<long long>(cycle) * a.split.x;
            write_sum_of_lanes(squares, sums + (blockIdx.x * blockDim.x + threadIdx.x) / WARP);
        }
    }
}

#define KERNEL(name, groups, columns)                                                                                  \
    extern "C" __global__ void __launch_bounds__(WARP * Plan<groups, columns>::WARPS, 1)                               \
        name(const __grid_constant__ ResidentArguments arguments) {                                                    \
        cycles<Plan<groups, columns>>(arguments);                                                                      \
    }

// `STRIPS` of `solver/cuda/spectral/tensor.rs`: as in `spectral_strips.cu`.
KERNEL(narrow, 4, 120)
KERNEL(wide, 4, 136)
