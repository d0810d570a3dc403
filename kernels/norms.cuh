// Norms, and sums in an order that is always the same: there are no atomic additions.
#pragma once
#include "stencil.cuh"

/// Adds a square.
__device__ __forceinline__ void add_square(double &squares, double value) {
    squares = __fma_rn(value, value, squares);
}

/// Adds a square if `counts` is not 0, without a branch.
__device__ __forceinline__ void add_square_if(unsigned counts, double &squares, double value) {
    asm("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p fma.rn.f64 %0, %2, %2, %0; }"
        : "+d"(squares)
        : "r"(counts), "d"(value));
}

/// The sum over all lanes of a warp, in every lane.
__device__ __forceinline__ double sum_of_lanes(double sum) {
#pragma unroll
    for (int apart = WARP / 2; apart > 0; apart /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, apart);
    return sum;
}

/// Writes the sum of squares over all lanes of a warp.
__device__ __forceinline__ void write_sum_of_lanes(double squares, double *sum) {
    squares = sum_of_lanes(squares);
    if (threadIdx.x % WARP == 0) *sum = squares;
}

/// Norms over some points: of u1 - u0 in the first sweep the sum of squares and the largest magnitude, the
/// largest update of the whole cycle, and the squares of the error u - u*. Maxima skip NaN, sums do not.
/// A cycle finds `squares` itself; a pass of its own finds the others (`observe.cu`).
struct Norms {
    double squares, largest, change, error;

    __device__ __forceinline__ void first_sweep(double difference) {
        add_square(squares, difference);
        if (fabs(difference) > largest) largest = fabs(difference);
    }

    __device__ __forceinline__ void whole_cycle(double difference) {
        if (fabs(difference) > change) change = fabs(difference);
    }

    __device__ __forceinline__ void distance(double difference) { add_square(error, difference); }

    __device__ __forceinline__ void add(const Norms &other) {
        squares += other.squares;
        largest = larger_of(largest, other.largest);
        change = larger_of(change, other.change);
        error += other.error;
    }

    /// The larger of two magnitudes, neither of which is NaN.
    static __device__ __forceinline__ double larger_of(double a, double b) { return a > b ? a : b; }

    /// Adds up those of all lanes of a warp, in every lane. Not unrolled: a block does this once or twice, and
    /// a short loop compiles faster.
    __device__ __forceinline__ void add_lanes() {
#pragma unroll 1
        for (int lane = WARP / 2; lane > 0; lane /= 2) {
            squares += __shfl_xor_sync(ALL_LANES, squares, lane);
            largest = larger_of(largest, __shfl_xor_sync(ALL_LANES, largest, lane));
            change = larger_of(change, __shfl_xor_sync(ALL_LANES, change, lane));
            error += __shfl_xor_sync(ALL_LANES, error, lane);
        }
    }
};

static_assert(sizeof(Norms) == 32);

/// The norms of a block, given those of its threads. Valid in the first warp only.
__device__ __forceinline__ Norms of_block(Norms norms) {
    __shared__ Norms warps[1024 / WARP];
    int thread = threadIdx.x + blockDim.x * threadIdx.y;
    int count = (blockDim.x * blockDim.y + WARP - 1) / WARP;
    norms.add_lanes();
    if (count == 1) return norms;
    // An earlier call may still be read.
    __syncthreads();
    if (thread % WARP == 0) warps[thread / WARP] = norms;
    __syncthreads();
    if (thread < WARP) {
        norms = thread < count ? warps[thread] : Norms{};
        norms.add_lanes();
    }
    return norms;
}
