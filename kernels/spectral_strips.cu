// One cycle of 2D tiles of 32 x 32 points in their sine basis, on tensor cores: all k subiterations at once, in strips
// (`strips.cuh`) of which each is copied while the warps work on the one before.
//
// A block has GROUPS groups of four warps, and passes over the strips.
// Variants: 2d symmetric sm_90
#include "strips.cuh"

/// One cycle. Of each warp one sum of squares is written.
template <class P> __device__ __forceinline__ void cycle(const StripArguments &arguments) {
    const CycleArguments &a = arguments.spectral.cycle;
    load_tables<P::KEPT>(arguments.spectral);
    int warp = warp_of_block();
    unsigned strips = static_cast<unsigned>(__cvta_generic_to_shared(memory + P::KEPT));
    Strip<P> strip = {strips + warp / P::TILES * Strip<P>::TOTAL};
    bool begins = warp % P::TILES == 0 && lane_of_warp() == 0;
    if (begins) strip.prepare();
    Places<P> places(arguments.spectral, strips + P::GROUPS * Strip<P>::TOTAL + warp * Places<P>::BYTES);
    auto corner_of = [&](int number) {
        Place place = places.of(number);
        return make_int2(place.x - place.in_strip, place.y);
    };
    double squares = 0;
    // Only the iterate is of the cycle before.
    int2 corner = corner_of(0);
    constexpr int BYTES = Strip<P>::OF_ITERATE + Strip<P>::OF_G;
    if (begins && corner.y >= 0) strip.expect(BYTES), strip.copy_g(arguments.g, corner.x, corner.y);
    int number = after_cycle_before(0);
    if (begins && corner.y >= 0) strip.copy_iterate(arguments.from, corner.x, corner.y);
    wait_for_tables();
    for (Place place = places.of(number); place.y >= 0; place = places.of(number)) {
        Tile<P> of_warp;
        Owned<P> owned(place);
        unsigned tile = strip.tile(place);
        strip.wait(number);
        if (!place.is_aligned()) {
            of_warp.template split<false, true>(a.weights, tile, owned, squares);
        } else if (a.squares) {
            of_warp.template split<true, true>(a.weights, tile, owned, squares);
        } else {
            of_warp.template split<true, false>(a.weights, tile, owned, squares);
        }
        places.prepare_next(number);
        __syncwarp();
        // The last of the strip's warps begins to copy the next.
        if (lane_of_warp() == 0 && strip.have_all_read()) {
            int2 next = corner_of(number + 1);
            if (next.y >= 0) {
                strip.expect(BYTES);
                strip.copy_g(arguments.g, next.x, next.y), strip.copy_iterate(arguments.from, next.x, next.y);
            }
        }
        __syncwarp();
        Scale scale = of_warp.transform(arguments.spectral.correction_scale);
        place = places.of(number);
        if (place.owns_pairs()) {
            of_warp.template join<true>(a.to, a.grid.pitch, place, scale);
        } else {
            of_warp.template join<false>(a.to, a.grid.pitch, place, scale);
        }
        number++;
    }
    if (a.squares) write_sum_of_lanes(squares, a.squares + (blockIdx.x * blockDim.x + threadIdx.x) / WARP);
}

#define KERNEL(name, groups, columns)                                                                                  \
    extern "C" __global__ void __launch_bounds__(WARP * Plan<groups, columns>::WARPS, 1)                               \
        name(const __grid_constant__ StripArguments arguments) {                                                       \
        cycle<Plan<groups, columns>>(arguments);                                                                       \
    }

// `STRIPS` of `solver/cuda/spectral/tensor.rs`: for tiles that share at least four columns with those beside them, and for all.
#if REAL_BITS == 64
KERNEL(narrow, 2, 124)
KERNEL(wide, 2, 132)
#else
KERNEL(narrow, 4, 120)
KERNEL(wide, 4, 136)
#endif
