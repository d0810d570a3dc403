// What lanes of a warp exchange, and reads and writes under a condition without a branch.
#pragma once
#include "stencil.cuh"

#if REAL_BITS == 64
#define REAL_TYPE "f64"
#define REAL_REGISTER "d"
#else
#define REAL_TYPE "f32"
#define REAL_REGISTER "f"
#endif

/// A shuffle of 32 or 64 bits; `mode` is one of PTX.
#if REAL_BITS == 64
#define SHUFFLE(mode, result, value, lane)                                                             \
    asm volatile("{ .reg .b32 low, high; mov.b64 {low, high}, %1;\n"                                   \
                 "shfl.sync." mode ".b32 low, low, %2, 31, -1;\n"                                      \
                 "shfl.sync." mode ".b32 high, high, %2, 31, -1;\n"                                    \
                 "mov.b64 %0, {low, high}; }"                                                          \
                 : "=d"(result)                                                                        \
                 : "d"(value), "r"(lane))
#else
#define SHUFFLE(mode, result, value, lane)                                                             \
    asm volatile("shfl.sync." mode ".b32 %0, %1, %2, 31, -1;"                                          \
                 : "=f"(result)                                                                        \
                 : "f"(value), "r"(lane))
#endif

/// The value of lane `own ^ lanes`.
__device__ __forceinline__ real from_lane_xor(real value, int lanes) {
    real result;
    SHUFFLE("bfly", result, value, lanes);
    return result;
}

/// The value of a lane.
__device__ __forceinline__ real from_lane(real value, int lane) {
    real result;
    SHUFFLE("idx", result, value, lane);
    return result;
}

/// The address of a value in shared memory, in bytes: 32 bits, where a pointer has 64.
__device__ __forceinline__ unsigned shared_address(const real *value) {
    return unsigned(__cvta_generic_to_shared(value));
}

/// Replaces `value` by the one at `address` in shared memory, if `condition` holds.
__device__ __forceinline__ void load_shared_if(bool condition, real &value, unsigned address) {
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p ld.shared." REAL_TYPE " %0, [%2]; }"
                 : "+" REAL_REGISTER(value)
                 : "r"(unsigned(condition)), "r"(address));
}

/// Writes `value` to `address` in shared memory.
__device__ __forceinline__ void store_shared(unsigned address, real value) {
    asm volatile("st.shared." REAL_TYPE " [%0], %1;" ::"r"(address), REAL_REGISTER(value));
}

/// The value OFFSET values after `at`, through the cache for what no kernel writes meanwhile. As `__ldg`, but the
/// offset is part of the instruction.
template <int OFFSET> __device__ __forceinline__ real load(const real *at) {
    real value;
    asm("ld.global.nc." REAL_TYPE " %0, [%1+%2];"
        : "=" REAL_REGISTER(value)
        : "l"(at), "n"(OFFSET * int(sizeof(real))));
    return value;
}

/// The value `row` rows after `first`, likewise.
__device__ __forceinline__ real load_row(const real *first, int row, int pitch) {
    real value;
    asm("{ .reg .b64 at; mad.wide.s32 at, %1, %2, %3; ld.global.nc." REAL_TYPE " %0, [at]; }"
        : "=" REAL_REGISTER(value)
        : "r"(pitch), "r"(row * int(sizeof(real))), "l"(first));
    return value;
}

/// As `load_row` where `condition` holds, otherwise 0.
__device__ __forceinline__ real load_row_if(bool condition, const real *first, int row, int pitch) {
    real value = 0;
    asm("{ .reg .b64 at; .reg .pred p; setp.ne.u32 p, %1, 0; mad.wide.s32 at, %2, %3, %4;\n"
        "@p ld.global.nc." REAL_TYPE " %0, [at]; }"
        : "+" REAL_REGISTER(value)
        : "r"(unsigned(condition)), "r"(pitch), "r"(row * int(sizeof(real))), "l"(first));
    return value;
}

/// Writes `value` `row` rows after `first`, if `condition` is not 0.
__device__ __forceinline__ void store_row_if(unsigned condition, real *first, int row, int pitch, real value) {
    asm volatile("{ .reg .b64 at; .reg .pred p; setp.ne.u32 p, %0, 0; mad.wide.s32 at, %1, %2, %3;\n"
                 "@p st.global." REAL_TYPE " [at], %4; }" ::"r"(condition),
                 "r"(pitch), "r"(row * int(sizeof(real))), "l"(first), REAL_REGISTER(value));
}

/// The bits `start` to `end` (exclusive) of 32, each `wide` bits wide.
__device__ __forceinline__ unsigned bits(int start, int end, int wide) {
    auto from = [&](int i) {
        unsigned all;
        // In PTX, a shift by 32 or more leaves nothing.
        asm("shl.b32 %0, %1, %2;" : "=r"(all) : "r"(ALL_LANES), "r"(max(i, 0) * wide));
        return all;
    };
    return from(start) & ~from(end);
}
