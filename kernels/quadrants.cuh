// The quadrants of a plane of 32 x 32 points, which one warp keeps in registers from the folding to the unfolding.
//
// Sums and differences of mirrored points make four quadrants of H x H values, H = 16. Differences alternate in sign along
// their axis, which reverses the order of their modes; so all quadrants share one H x H matrix F, and each becomes
//
//     Q = F' (factors o (F Q F')) F        (' is the transpose; o multiplies value by value)
//
// in four products: y forward, x forward, factors, y backward, x backward. A quadrant is always operand B of the tensor
// core and the matrix always operand A. What comes out (the new index on lane / 4, the other one on the pair
// 2 (lane % 4)) is operand B of the next product, along the other axis, so that no transpose is needed.
//
// Tables: F and its transpose as the lanes load them (H H / 2 operands each, in single precision H H / 4), then the factors
// of each quadrant, in pairs. `solver/cuda/spectral/tables.rs` writes them.
#pragma once
#include "tensor.cuh"

/// Two neighbouring points of a row, and their mirror images in that row.
struct Sides {
    Pair left, right;
};

/// Of every quadrant a lane has columns x and x + 1, x = 2 (lane / 4), of rows y to y + 3, y = 4 (lane % 4), as they lie in
/// the plane: point 2 q + b of a row or column takes place q of block b of the operands.
struct Quadrants {
    static constexpr int BLOCKS = 2, ROWS = 2 * BLOCKS, HALF = 8 * BLOCKS;
    /// Operands of one of the two matrices.
    static constexpr int MATRIX = HALF * HALF / 2 / DEPTH;
    static constexpr int PAIRS = 4 * BLOCKS * BLOCKS;
    /// Quadrants that are multiplied together.
    static constexpr int TOGETHER = PRODUCT_BITS == 64 ? 1 : 2;
    Pair data[4][BLOCKS][BLOCKS];

    /// One pair of all.
    __device__ __forceinline__ Pair &pair(int i) { return data[i / (BLOCKS * BLOCKS)][i / BLOCKS % BLOCKS][i % BLOCKS]; }

    /// A value of a quadrant: of the lane's row i and its column n.
    __device__ __forceinline__ Number &value(int quadrant, int i, int n) {
        Pair &pair = data[quadrant][i % 2][n];
        return i < 2 ? pair.x : pair.y;
    }

    /// Takes the lane's points of its row i, and of the mirrored row.
    __device__ __forceinline__ void fold(int i, const Sides &above, const Sides &below) {
        Number a[2] = {above.left.x, above.left.y}, b[2] = {above.right.y, above.right.x};
        Number c[2] = {below.left.x, below.left.y}, d[2] = {below.right.y, below.right.x};
#pragma unroll
        for (int n = 0; n < BLOCKS; n++) {
            // Differences alternate in sign.
            auto difference = [](int at, Number near, Number far) { return at % 2 == 0 ? near - far : far - near; };
            Number even = a[n] + b[n], even_below = c[n] + d[n];
            Number odd = difference(n, a[n], b[n]), odd_below = difference(n, c[n], d[n]);
            value(0, i, n) = even + even_below;
            value(1, i, n) = odd + odd_below;
            value(2, i, n) = difference(i, even, even_below);
            value(3, i, n) = difference(i, odd, odd_below);
        }
    }

    /// What has become of those points.
    __device__ __forceinline__ void unfold(int i, Sides &above, Sides &below) {
        Number a[BLOCKS], b[BLOCKS], c[BLOCKS], d[BLOCKS];
#pragma unroll
        for (int n = 0; n < BLOCKS; n++) {
            auto with_sign = [](int at, Number value) { return at % 2 == 0 ? value : -value; };
            Number even = value(0, i, n), odd = with_sign(n, value(1, i, n));
            Number even_y = with_sign(i, value(2, i, n)), odd_y = with_sign(n + i, value(3, i, n));
            a[n] = (even + odd) + (even_y + odd_y), b[n] = (even - odd) + (even_y - odd_y);
            c[n] = (even + odd) - (even_y + odd_y), d[n] = (even - odd) - (even_y - odd_y);
        }
        above = {make_pair(a[0], a[1]), make_pair(b[1], b[0])};
        below = {make_pair(c[0], c[1]), make_pair(d[1], d[0])};
    }

    /// Multiplies all values by what products need (`Scale` in `tensor.cuh`); `correction_scale` is that of the arguments.
    __device__ __forceinline__ Scale scaled(float correction_scale) {
        return scale_all<PAIRS>([&](int i) -> Pair & { return pair(i); }, correction_scale);
    }

    /// A product of all quadrants.
    template <bool TURNED> __device__ __forceinline__ void product(const Operand *matrix) {
        KeptMatrix<BLOCKS> kept(matrix);
#pragma unroll
        for (int first = 0; first < 4; first += TOGETHER) {
            auto block = [&](int k, int n) -> Pair & {
                Pair(&quadrant)[BLOCKS][BLOCKS] = data[first + n / BLOCKS];
                return TURNED ? quadrant[n % BLOCKS][k] : quadrant[k][n % BLOCKS];
            };
            constexpr int COLUMNS = TOGETHER * BLOCKS;
            multiply_blocks<COLUMNS, COLUMNS, BLOCKS, COLUMNS>(block, kept);
        }
    }

    /// Both ways, with the factors between them. The matrices lie in shared memory, and `factor(i)` is pair i of the lane's
    /// factors.
    template <class Factor> __device__ __forceinline__ void transform(const Operand *matrices, const Factor &factor) {
        const Operand *of_lane = matrices + thread_of_block() % WARP;
        // A loop: in one sequence the compiler loads all factors during the products before, and spills them.
#pragma unroll 1
        for (int way = 0; way < 2; way++) {
            product<false>(of_lane + way * MATRIX);
            product<true>(of_lane + way * MATRIX);
            if (way == 1) break;
#pragma unroll
            for (int i = 0; i < PAIRS; i++) {
                Pair multiplier = factor(i);
                pair(i).x *= multiplier.x;
                pair(i).y *= multiplier.y;
            }
        }
    }
};
