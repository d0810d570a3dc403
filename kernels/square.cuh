// What kernels of square tiles in their sine basis share.
#pragma once
#include "tensor.cuh"

/// The shared memory of the block: what it keeps of the tables, then its tiles.
extern __shared__ __align__(128) Pair memory[];

/// The update of the first sweep at a pair of points, less their values.
__device__ __forceinline__ Pair change(const Weights &w, real x_prev, Pair own, real x_next, Pair y_prev, Pair y_next,
                                       Pair g) {
    return make_pair(update(w, x_prev, own.y, y_prev.x, y_next.x, g.x) - own.x,
                     update(w, own.x, x_next, y_prev.y, y_next.y, g.y) - own.y);
}

/// Begins to copy what a block keeps of the tables to shared memory, so many pairs; returns where all of them lie.
template <int PAIRS> __device__ __forceinline__ const Pair *load_tables(const SpectralArguments &arguments) {
    const Pair *tables = reinterpret_cast<const Pair *>(arguments.tables);
    constexpr int AT_ONCE = 16 / sizeof(Pair);
    for (int i = threadIdx.x * AT_ONCE; i < PAIRS; i += blockDim.x * AT_ONCE) {
        unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(memory + i));
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(tables + i) : "memory");
    }
    return tables;
}

/// Waits until the tables of the block have arrived.
__device__ __forceinline__ void wait_for_tables() {
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
}
