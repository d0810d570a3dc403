// Products on tensor cores, whose operands stay in registers.
#pragma once
#include "stencil.cuh"

/// The precision of products: that of the values, or double precision, if a kernel says so before this is included.
#ifndef PRODUCT_BITS
#define PRODUCT_BITS REAL_BITS
#endif

/// Two neighbouring values, and what a lane loads of a matrix at once: in single precision parts of eight entries.
#if PRODUCT_BITS == 64
typedef double2 Pair;
typedef double2 Operand;
__device__ __forceinline__ Pair make_pair(double x, double y) { return make_double2(x, y); }
#else
typedef float2 Pair;
typedef float4 Operand;
__device__ __forceinline__ Pair make_pair(float x, float y) { return make_float2(x, y); }
#endif
static_assert(sizeof(Operand) == 16);
typedef decltype(Pair::x) Number;

#if PRODUCT_BITS == 64
/// C += A B of 16 x 8 blocks, all at once: `low` and `high` are A of the first and the second four columns.
constexpr int PARTS = 1;
__device__ __forceinline__ void multiply_16(int, Pair &c, Pair &d, Operand low, Operand high, Pair b) {
    asm("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+d"(c.x), "+d"(c.y), "+d"(d.x), "+d"(d.y)
        : "d"(low.x), "d"(low.y), "d"(high.x), "d"(high.y), "d"(b.x), "d"(b.y));
}

/// C += A B of 8 x 8 blocks.
__device__ __forceinline__ void multiply_8(Pair &c, Operand a, Pair b) {
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c.x), "+d"(c.y)
        : "d"(a.x), "d"(b.x));
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(c.x), "+d"(c.y)
        : "d"(a.y), "d"(b.y));
}

/// 8 x 8 blocks of data that a product sums over at a time, and such blocks as an operand.
constexpr int DEPTH = 1;
typedef Pair Data;
__device__ __forceinline__ Data operand_of(const Pair (&blocks)[DEPTH]) { return blocks[0]; }

/// Doubles are multiplied as they are.
struct Scale {
    __device__ __forceinline__ Pair before(Pair values) const { return values; }
    __device__ __forceinline__ Pair after(Pair values) const { return values; }
    __device__ __forceinline__ Number sum(Number value, Number correction) const { return value + correction; }
};

/// A pair from shared memory, where it is needed: volatile, or the compiler loads many ahead and spills them.
__device__ __forceinline__ double2 load_pair(unsigned address) {
    double2 pair;
    asm volatile("ld.volatile.shared.v2.f64 {%0, %1}, [%2];" : "=d"(pair.x), "=d"(pair.y) : "r"(address));
    return pair;
}

__device__ __forceinline__ Operand load_operand(unsigned address) { return load_pair(address); }

/// A value, likewise.
__device__ __forceinline__ double load_value(unsigned address) {
    double value;
    asm volatile("ld.volatile.shared.f64 %0, [%1];" : "=d"(value) : "r"(address));
    return value;
}
#else
/// As above.
constexpr int DEPTH = 2;

/// Every value is the sum of two numbers of half precision, which have 11 significant bits.
struct Data {
    unsigned high[DEPTH], low[DEPTH];
};

__device__ __forceinline__ Data operand_of(const Pair (&blocks)[DEPTH]) {
    Data data;
#pragma unroll
    for (int i = 0; i < DEPTH; i++) {
        asm("{\n\t"
            ".reg .f16 x, y;\n\t"
            ".reg .f32 rest_x, rest_y;\n\t"
            "cvt.rn.f16x2.f32 %0, %3, %2;\n\t"
            "mov.b32 {x, y}, %0;\n\t"
            "cvt.f32.f16 rest_x, x;\n\t"
            "cvt.f32.f16 rest_y, y;\n\t"
            "sub.f32 rest_x, %2, rest_x;\n\t"
            "sub.f32 rest_y, %3, rest_y;\n\t"
            "cvt.rn.f16x2.f32 %1, rest_y, rest_x;\n\t"
            "}"
            : "=&r"(data.high[i]), "=r"(data.low[i])
            : "f"(blocks[i].x), "f"(blocks[i].y));
    }
    return data;
}

/// C += A B of 16 x 16 and 16 x 8 blocks of half precision, summed in single precision.
__device__ __forceinline__ void multiply_parts(Pair &c, Pair &d, Operand a, const unsigned (&b)[DEPTH]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c.x), "+f"(c.y), "+f"(d.x), "+f"(d.y)
        : "r"(__float_as_uint(a.x)), "r"(__float_as_uint(a.y)), "r"(__float_as_uint(a.z)), "r"(__float_as_uint(a.w)),
          "r"(b[0]), "r"(b[1]));
}

/// C += A B, in three parts. The product of the two low parts is below the rounding of single precision.
constexpr int PARTS = 3;
__device__ __forceinline__ void multiply_16(int part, Pair &c, Pair &d, Operand high, Operand low, const Data &b) {
    multiply_parts(c, d, part == 0 ? low : high, part == 1 ? b.low : b.high);
}

/// Half precision reaches from 2^-24 to 2^16. So a tile is multiplied by the power of two that brings its largest value
/// between 1 and 2, and what becomes of it is multiplied by `down`.
struct Scale {
    float up, down;

    Scale() = default;

    /// That of a tile, given its largest value; `correction_scale` is that of the arguments.
    __device__ __forceinline__ Scale(float largest, float correction_scale) {
        // Both powers are numbers also where the largest value is close to 0, or infinite.
        unsigned exponent = min(max(__float_as_uint(largest) >> 23, 1u), 253u);
        up = __uint_as_float((254 - exponent) << 23);
        down = __uint_as_float(exponent << 23) * correction_scale;
    }

    __device__ __forceinline__ Pair before(Pair values) const { return make_pair(values.x * up, values.y * up); }
    __device__ __forceinline__ Pair after(Pair values) const { return make_pair(values.x * down, values.y * down); }
    __device__ __forceinline__ float sum(float value, float correction) const { return fmaf(correction, down, value); }
};

/// The larger one of a value and the magnitudes of a pair.
__device__ __forceinline__ float largest_of(float largest, Pair values) {
    return fmaxf(fmaxf(largest, fabsf(values.x)), fabsf(values.y));
}

/// The largest one of a warp's values, none of which is negative.
__device__ __forceinline__ float largest_of_warp(float value) {
    return __uint_as_float(__reduce_max_sync(ALL_LANES, __float_as_uint(value)));
}

/// As in double precision.
__device__ __forceinline__ Pair load_pair(unsigned address) {
    float2 pair;
    asm volatile("ld.volatile.shared.v2.f32 {%0, %1}, [%2];" : "=f"(pair.x), "=f"(pair.y) : "r"(address));
    return pair;
}

__device__ __forceinline__ float load_value(unsigned address) {
    float value;
    asm volatile("ld.volatile.shared.f32 %0, [%1];" : "=f"(value) : "r"(address));
    return value;
}

__device__ __forceinline__ Operand load_operand(unsigned address) {
    Operand values;
    asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(values.x), "=f"(values.y), "=f"(values.z), "=f"(values.w)
                 : "r"(address));
    return values;
}
#endif

/// Waits for the end of the cycle before, whose iterate is read from here on, and lets the blocks of the next cycle begin
/// where there is room. Returns the number, so that nothing that depends on it is done before.
__device__ __forceinline__ int after_cycle_before(int number) {
    asm volatile("griddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;" : "+r"(number)::"memory");
    return number;
}

/// The same number, so that what follows from it is computed again and not kept in registers.
__device__ __forceinline__ int unknown(int number) {
    int same;
    asm volatile("mov.u32 %0, %1;" : "=r"(same) : "r"(number));
    return same;
}

/// The thread's number in the block, likewise.
__device__ __forceinline__ int thread_of_block() {
    int thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    return thread;
}

/// Multiplies a matrix by the data, in place: BLOCKS blocks along the index that is summed over, of COUNT columns of blocks;
/// `data(k, n)` is a block, afterwards of the product. CHUNK columns are summed at a time; of TURNS of them the parts of
/// products are made by turns, since those of one column wait for each other.
/// `matrix.at(m, k)` is a part of the matrix as a lane loads it. In double precision: for an even m and m + 1 the entries of
/// rows lane / 4 and lane / 4 + 8 of the double row, of the first column of the pair 8 k + 2 (lane % 4) + {0, 1} with the even
/// and of the second with the odd number; for a last m without a partner both columns of row lane / 4. In single precision:
/// of the pair 16 k + 2 (lane % 4) + {0, 1} of either row, then of that 8 columns on, with the even number the high parts
/// and with the odd one the low parts; where BLOCKS is odd, the matrix ends with a block of zeros.
template <int CHUNK, int TURNS, int BLOCKS, int COUNT, class D, class M>
__device__ __forceinline__ void multiply_blocks(const D &data, const M &matrix) {
    constexpr int DOUBLE_ROWS = (BLOCKS + 1) / 2, STEPS = (BLOCKS + DEPTH - 1) / DEPTH * DOUBLE_ROWS;
    constexpr int ROWS = PARTS == 1 ? BLOCKS : 2 * DOUBLE_ROWS;
#pragma unroll
    for (int first = 0; first < COUNT; first += CHUNK) {
        Pair sums[ROWS][CHUNK];
#pragma unroll
        for (int m = 0; m < ROWS; m++) {
#pragma unroll
            for (int n = 0; n < CHUNK; n++) sums[m][n] = make_pair(0, 0);
        }
        // The next step's part of the matrix is fetched before this step's products.
        Operand low = matrix.at(0, 0), high = low;
        if (ROWS > 1) high = matrix.at(1, 0);
        Operand next_low = low, next_high = high;
        Data operands[CHUNK];
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
            int k = step / DOUBLE_ROWS, m = 2 * (step % DOUBLE_ROWS);
            if (step + 1 < STEPS) {
                int next_k = (step + 1) / DOUBLE_ROWS, next_m = 2 * ((step + 1) % DOUBLE_ROWS);
                next_low = matrix.at(next_m, next_k);
                if (next_m + 1 < ROWS) next_high = matrix.at(next_m + 1, next_k);
            }
#pragma unroll
            for (int turn = 0; turn < (CHUNK + TURNS - 1) / TURNS * PARTS * TURNS; turn++) {
                int part = turn / TURNS % PARTS, n = turn / TURNS / PARTS * TURNS + turn % TURNS;
                if (n >= CHUNK || first + n >= COUNT) continue;
                if (m == 0 && part == 0) {
                    Pair blocks[DEPTH];
#pragma unroll
                    for (int i = 0; i < DEPTH; i++) {
                        bool is_block = DEPTH * k + i < BLOCKS;
                        blocks[i] = is_block ? data(is_block ? DEPTH * k + i : 0, first + n) : make_pair(0, 0);
                    }
                    operands[n] = operand_of(blocks);
                }
                if (m + 1 < ROWS) {
                    multiply_16(part, sums[m][n], sums[m + 1][n], low, high, operands[n]);
                } else {
#if PRODUCT_BITS == 64
                    multiply_8(sums[m][n], low, operands[n]);
#endif
                }
            }
            low = next_low;
            high = next_high;
        }
#pragma unroll
        for (int m = 0; m < BLOCKS; m++) {
#pragma unroll
            for (int n = 0; n < CHUNK; n++) {
                if (first + n < COUNT) data(m, first + n) = sums[m][n];
            }
        }
    }
}

/// The same with an array of blocks, summed over along its first index, or along the second one with TURNED.
template <int CHUNK, bool TURNED, int TURNS = CHUNK, int BLOCKS, int COUNT, class M>
__device__ __forceinline__ void multiply(Pair (&data)[BLOCKS][COUNT], const M &matrix) {
    auto block = [&](int k, int n) -> Pair & { return TURNED ? data[n][k] : data[k][n]; };
    multiply_blocks<CHUNK, TURNS, BLOCKS, COUNT>(block, matrix);
}

/// Multiplies all values of a warp by what products need; `pair(i)` is one of the COUNT pairs of a lane, and `correction_scale`
/// that of the arguments.
template <int COUNT, class P> __device__ __forceinline__ Scale scale_all(const P &pair, float correction_scale) {
#if PRODUCT_BITS == 64
    return {};
#else
    // Several, which do not wait for each other.
    float largest[4] = {};
#pragma unroll
    for (int i = 0; i < COUNT; i++) largest[i % 4] = largest_of(largest[i % 4], pair(i));
    largest[0] = fmaxf(fmaxf(largest[0], largest[1]), fmaxf(largest[2], largest[3]));
    Scale scale(largest_of_warp(largest[0]), correction_scale);
#pragma unroll
    for (int i = 0; i < COUNT; i++) pair(i) = scale.before(pair(i));
    return scale;
#endif
}

/// A matrix of few blocks that a lane keeps in registers.
template <int BLOCKS> struct KeptMatrix {
    static constexpr int COLUMNS = (BLOCKS + DEPTH - 1) / DEPTH, ROWS = DEPTH * COLUMNS;
    Operand operands[ROWS][COLUMNS];

    __device__ __forceinline__ KeptMatrix(const Operand *values) {
        unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(values));
#pragma unroll
        for (int i = 0; i < ROWS * COLUMNS; i++) {
            operands[i / COLUMNS][i % COLUMNS] = load_operand(address + i * WARP * int(sizeof(Operand)));
        }
    }

    __device__ __forceinline__ Operand at(int m, int k) const { return operands[m][k]; }
};
