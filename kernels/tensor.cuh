// Products on tensor cores, whose operands stay in registers.
#pragma once
#include "stencil.cuh"

/// Two neighbouring values, and what a lane loads of a matrix at once: in single precision the parts of four entries.
#if REAL_BITS == 64
typedef double2 Pair;
typedef double2 Operand;
__device__ __forceinline__ Pair make_pair(double x, double y) { return make_double2(x, y); }
#else
typedef float2 Pair;
typedef float4 Operand;
__device__ __forceinline__ Pair make_pair(float x, float y) { return make_float2(x, y); }
#endif
static_assert(sizeof(Operand) == 16);

#if REAL_BITS == 64
/// C += A B of 16 x 8 blocks: `low` and `high` are A of the first and the second four columns.
__device__ __forceinline__ void multiply_16(Pair &c, Pair &d, Operand low, Operand high, Pair b) {
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
/// C += A B of 16 x 8 blocks of numbers with 11 significant bits, summed in single precision.
__device__ __forceinline__ void multiply_parts(Pair &c, Pair &d, Operand a, Pair b) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(c.x), "+f"(c.y), "+f"(d.x), "+f"(d.y)
        : "r"(__float_as_uint(a.x)), "r"(__float_as_uint(a.y)), "r"(__float_as_uint(a.z)), "r"(__float_as_uint(a.w)),
          "r"(__float_as_uint(b.x)), "r"(__float_as_uint(b.y)));
}

/// The first 11 significant bits of a number. Rounding it would take one more operation for each value of each product, an
/// eighth of a kernel.
__device__ __forceinline__ float cut(float number) { return __uint_as_float(__float_as_uint(number) & 0xffffe000u); }

/// C += A B of 16 x 8 blocks. Every number is the sum of two of 11 significant bits, of A those in `high` and `low`; the
/// product of the two low parts is below the rounding of single precision. The low part of B has up to 13 bits, of which
/// tensor cores take 11.
__device__ __forceinline__ void multiply_16(Pair &c, Pair &d, Operand high, Operand low, Pair b) {
    Pair upper = make_pair(cut(b.x), cut(b.y)), lower = make_pair(b.x - upper.x, b.y - upper.y);
    multiply_parts(c, d, low, upper);
    multiply_parts(c, d, high, lower);
    multiply_parts(c, d, high, upper);
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

/// Multiplies a matrix by the data, in place. The index that is summed over is the first of
/// `data` (the result has the new one there), or the second with TURNED. CHUNK blocks are accumulated at a time.
/// `matrix.at(m, k)` is a pair of the matrix as a lane loads it: for an even m and m + 1 the entries of rows lane / 4
/// and lane / 4 + 8 of the double row, of the first column of the pair 8 k + 2 (lane % 4) + {0, 1} with the even and of
/// the second with the odd number; for a last m without a partner both columns of row lane / 4. In single precision they
/// are the high parts of all four entries, and their low parts, and BLOCKS is even.
template <int CHUNK, bool TURNED, int BLOCKS, int COUNT, class M>
__device__ __forceinline__ void multiply(Pair (&data)[BLOCKS][COUNT], const M &matrix) {
    constexpr int DOUBLE_ROWS = (BLOCKS + 1) / 2, STEPS = BLOCKS * DOUBLE_ROWS;
#pragma unroll
    for (int first = 0; first < COUNT; first += CHUNK) {
        Pair sums[BLOCKS][CHUNK];
#pragma unroll
        for (int m = 0; m < BLOCKS; m++) {
#pragma unroll
            for (int n = 0; n < CHUNK; n++) sums[m][n] = make_pair(0, 0);
        }
        // The next step's part of the matrix is fetched before this step's products.
        Operand low = matrix.at(0, 0), high = low;
        if (BLOCKS > 1) high = matrix.at(1, 0);
        Operand next_low = low, next_high = high;
#pragma unroll
        for (int step = 0; step < STEPS; step++) {
            int k = step / DOUBLE_ROWS, m = 2 * (step % DOUBLE_ROWS);
            if (step + 1 < STEPS) {
                int next_k = (step + 1) / DOUBLE_ROWS, next_m = 2 * ((step + 1) % DOUBLE_ROWS);
                next_low = matrix.at(next_m, next_k);
                if (next_m + 1 < BLOCKS) next_high = matrix.at(next_m + 1, next_k);
            }
#pragma unroll
            for (int n = 0; n < CHUNK; n++) {
                if (first + n >= COUNT) continue;
                Pair b = TURNED ? data[first + n][k] : data[k][first + n];
                if (m + 1 < BLOCKS) {
                    multiply_16(sums[m][n], sums[m + 1][n], low, high, b);
                } else {
#if REAL_BITS == 64
                    multiply_8(sums[m][n], low, b);
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
                if (first + n >= COUNT) continue;
                if (TURNED) {
                    data[first + n][m] = sums[m][n];
                } else {
                    data[m][first + n] = sums[m][n];
                }
            }
        }
    }
}

/// A matrix of few blocks that a lane keeps in registers.
template <int BLOCKS> struct KeptMatrix {
    Operand operands[BLOCKS][BLOCKS];

    __device__ __forceinline__ KeptMatrix(const Operand *values) {
        unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(values));
#pragma unroll
        for (int i = 0; i < BLOCKS * BLOCKS; i++) {
            operands[i / BLOCKS][i % BLOCKS] = load_operand(address + i * WARP * int(sizeof(Operand)));
        }
    }

    __device__ __forceinline__ Operand at(int m, int k) const { return operands[m][k]; }
};
