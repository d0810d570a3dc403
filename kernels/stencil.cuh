// What all kernels share: the update of a point, the layout of the arrays, the tiles of an axis,
// and norms that are summed in a fixed order.
//
// A file is compiled once for each precision and each form of the weights: REAL_BITS is 32 or 64,
// FORM one of the numbers below. Additions are never fused with multiplications but where `fma` is
// written (--fmad=false): the bits are those of the CPU.
#pragma once

#define LINE_ISOTROPIC 0
#define LINE_GENERAL 1
#define PLANE_ISOTROPIC 2
#define PLANE_PER_AXIS 3
#define PLANE_GENERAL 4

#if REAL_BITS == 64
typedef double real;
#else
typedef float real;
#endif

constexpr bool PLANE = FORM >= PLANE_ISOTROPIC;

constexpr int WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;

/// w_i = -a_i / d. An isotropic form uses `west` alone, a form per axis `west` and `south`.
struct Weights {
    real west, east, south, north;
};

/// a b + c, rounded once.
__device__ __forceinline__ real multiply_add(real a, real b, real c) {
#if REAL_BITS == 64
    return __fma_rn(a, b, c);
#else
    return __fmaf_rn(a, b, c);
#endif
}

/// The new value of a point; the order of operations is that of every back end.
__device__ __forceinline__ real update(const Weights &w, real west, real east, real south,
                                       real north, real g) {
    if constexpr (FORM == LINE_ISOTROPIC) {
        return multiply_add(w.west, west + east, g);
    } else if constexpr (FORM == LINE_GENERAL) {
        return multiply_add(w.west, west, multiply_add(w.east, east, g));
    } else if constexpr (FORM == PLANE_ISOTROPIC) {
        return multiply_add(w.west, (west + east) + (south + north), g);
    } else if constexpr (FORM == PLANE_PER_AXIS) {
        return multiply_add(w.west, west + east, multiply_add(w.south, south + north, g));
    } else {
        real rows = multiply_add(w.south, south, multiply_add(w.north, north, g));
        return multiply_add(w.west, west, multiply_add(w.east, east, rows));
    }
}

/// Interior points: columns, rows (of a plane, or copies of a line), and values from a row to the
/// next. Pointers to arrays point to the first interior point; its ring lies before it.
struct Grid {
    int columns, rows;
    long long pitch;
};

/// The tiles of an axis (see Tiles in the rules): `tile` is at most the points of the axis.
struct Axis {
    int points, tile, step, count;

    /// First point that tile `j` computes; the last tile is moved back so that it is full.
    __device__ __forceinline__ int start(int j) const { return min(j * step, points - tile); }

    /// First point that tile `j` owns; of `count`, the end of the axis.
    __device__ __forceinline__ int border(int j) const {
        if (j == 0) return 0;
        if (j == count) return points;
        int s = start(j);
        return s + (start(j - 1) + tile - s) / 2;
    }
};

/// Adds a square.
__device__ __forceinline__ void add_square(double &squares, double value) {
    squares = __fma_rn(value, value, squares);
}

/// Adds a square where `counts` is not 0, without a branch.
__device__ __forceinline__ void add_square_if(unsigned counts, double &squares, double value) {
    asm("{ .reg .pred counts;\n"
        "  setp.ne.u32 counts, %1, 0;\n"
        "  @counts fma.rn.f64 %0, %2, %2, %0; }"
        : "+d"(squares)
        : "r"(counts), "d"(value));
}

/// Norms of some points. Maxima pass over NaN; the sums do not. Of u1 - u0 in the first sweep the sum of
/// squares and the largest magnitude, the largest change of the whole cycle, and the squares of u - u*.
/// A cycle tells the first of them alone; the others are found by a pass of their own (`observe.cu`).
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

    /// Of two magnitudes, neither of which is NaN.
    static __device__ __forceinline__ double larger_of(double a, double b) { return a > b ? a : b; }

    /// Those of all lanes of a warp, in every lane. A block does so once or twice, and the driver has less to
    /// make machine code of where the loop stays one.
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

/// The sum of what the lanes of a warp have, in every lane.
__device__ __forceinline__ double sum_of_lanes(double sum) {
#pragma unroll
    for (int apart = WARP / 2; apart > 0; apart /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, apart);
    return sum;
}

/// Tells the sum of squares of all lanes of a warp.
__device__ __forceinline__ void tell_squares(double squares, double *part) {
    squares = sum_of_lanes(squares);
    if (threadIdx.x % WARP == 0) *part = squares;
}

/// The norms of a block, given those of its threads; right in the first warp alone.
__device__ __forceinline__ Norms of_block(Norms norms) {
    __shared__ Norms warps[1024 / WARP];
    int thread = threadIdx.x + blockDim.x * threadIdx.y;
    int count = (blockDim.x * blockDim.y + WARP - 1) / WARP;
    norms.add_lanes();
    if (count == 1) return norms;
    // Those of the last time are read.
    __syncthreads();
    if (thread % WARP == 0) warps[thread / WARP] = norms;
    __syncthreads();
    if (thread < WARP) {
        norms = thread < count ? warps[thread] : Norms{};
        norms.add_lanes();
    }
    return norms;
}
