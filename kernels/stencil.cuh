// What every kernel uses: the update of a point, the layout of the grid, the tiles of an axis.
//
// A kernel is compiled once for each precision (REAL_BITS: 32 or 64) and each form of the weights
// (FORM: one of the numbers below), because the form fixes the order of operations. Multiplications
// and additions are fused only where `multiply_add` stands (--fmad=false), so the bits are those of
// the CPU.
#pragma once

#define FORM_1D_ISOTROPIC 0
#define FORM_1D_GENERAL 1
#define FORM_1D_PER_POINT 2
#define FORM_2D_ISOTROPIC 3
#define FORM_2D_PER_AXIS 4
#define FORM_2D_GENERAL 5
#define FORM_2D_PER_POINT 6
#define FORM_3D_ISOTROPIC 7
#define FORM_3D_PER_AXIS 8
#define FORM_3D_GENERAL 9
// A sparse matrix, which has no stencil.
#define FORM_MATRIX 10

// Whether every point has a row of its own.
#define PER_POINT (FORM == FORM_1D_PER_POINT || FORM == FORM_2D_PER_POINT)

#if REAL_BITS == 64
typedef double real;
#else
typedef float real;
#endif

constexpr bool IS_3D = FORM >= FORM_3D_ISOTROPIC && FORM <= FORM_3D_GENERAL;
/// Whether points have neighbours along y: in 2D and 3D.
constexpr bool IS_2D = FORM >= FORM_2D_ISOTROPIC && FORM <= FORM_3D_GENERAL;

/// Threads of a warp; a thread of a warp is called a lane.
constexpr int WARP = 32;
constexpr unsigned ALL_LANES = 0xffffffffu;

#if PER_POINT
/// w_i = -a_i / d of one point.
struct PointWeights {
    real x_prev, x_next, y_prev, y_next;
};

/// The rows of all points, in arrays that are laid out as the iterate: the weights in the order of `PointWeights`,
/// as many as there are neighbours, and the diagonal. `rows` points to the first interior point of the first array,
/// and arrays lie `distance` apart. `WeightsArgument` in `solver/cuda/arguments.rs` has the same layout.
struct Weights {
    const real *rows;
    long long distance;
#if REAL_BITS == 64
    long long unused[2];
#endif

    /// Those of the point at an index of the iterate.
    __device__ __forceinline__ PointWeights at(long long at) const {
        const real *row = rows + at;
        PointWeights weights = {__ldg(row), __ldg(row + distance), 0, 0};
        if (IS_2D) weights.y_prev = __ldg(row + 2 * distance), weights.y_next = __ldg(row + 3 * distance);
        return weights;
    }

    /// What u1 - u0 of the point adds to the norms of the residual: the residual itself.
    __device__ __forceinline__ double measured(real change, long long at) const {
        return double(change) * double(__ldg(rows + (IS_2D ? 4 : 2) * distance + at));
    }
};
#else
/// w_i = -a_i / d, of the neighbours before and after any point along each axis. An isotropic form
/// uses `x_prev` alone, a form per axis `x_prev`, `y_prev` and `z_prev`.
struct Weights {
    real x_prev, x_next, y_prev, y_next;
#if FORM >= FORM_3D_ISOTROPIC
    real z_prev, z_next;
#endif

    __device__ __forceinline__ const Weights &at(long long) const { return *this; }

    /// What u1 - u0 of a point adds to the norms of the residual, which are multiplied by the diagonal at the end.
    __device__ __forceinline__ double measured(real change, long long) const { return change; }
};
typedef Weights PointWeights;
#endif

/// The weights of POINTS points, as a thread keeps them: in registers, where rows differ.
template <int POINTS> struct KeptWeights {
#if PER_POINT
    PointWeights kept[POINTS];

    __device__ __forceinline__ void load(const Weights &weights, int j, long long at) { kept[j] = weights.at(at); }
    __device__ __forceinline__ const PointWeights &of(const Weights &, int j) const { return kept[j]; }
#else
    __device__ __forceinline__ void load(const Weights &, int, long long) {}
    __device__ __forceinline__ const PointWeights &of(const Weights &weights, int) const { return weights; }
#endif
};

/// a b + c, rounded once.
__device__ __forceinline__ real multiply_add(real a, real b, real c) {
#if REAL_BITS == 64
    return __fma_rn(a, b, c);
#else
    return __fmaf_rn(a, b, c);
#endif
}

/// The new value of a point in 1D and 2D, given its four neighbours and its right-hand side g = b / d. The order
/// of operations is the one in `problem/stencil.rs`.
__device__ __forceinline__ real update(const PointWeights &w, real x_prev, real x_next, real y_prev,
                                       real y_next, real g) {
    if constexpr (FORM == FORM_1D_ISOTROPIC) {
        return multiply_add(w.x_prev, x_prev + x_next, g);
    } else if constexpr (FORM == FORM_1D_GENERAL || FORM == FORM_1D_PER_POINT) {
        return multiply_add(w.x_prev, x_prev, multiply_add(w.x_next, x_next, g));
    } else if constexpr (FORM == FORM_2D_ISOTROPIC) {
        return multiply_add(w.x_prev, (x_prev + x_next) + (y_prev + y_next), g);
    } else if constexpr (FORM == FORM_2D_PER_AXIS) {
        return multiply_add(w.x_prev, x_prev + x_next, multiply_add(w.y_prev, y_prev + y_next, g));
    } else {
        real along_y = multiply_add(w.y_prev, y_prev, multiply_add(w.y_next, y_next, g));
        return multiply_add(w.x_prev, x_prev, multiply_add(w.x_next, x_next, along_y));
    }
}

#if FORM >= FORM_3D_ISOTROPIC
/// The new value of a point in 3D.
__device__ __forceinline__ real update(const PointWeights &w, real x_prev, real x_next, real y_prev, real y_next,
                                       real z_prev, real z_next, real g) {
    if constexpr (FORM == FORM_3D_ISOTROPIC) {
        return multiply_add(w.x_prev, ((x_prev + x_next) + (y_prev + y_next)) + (z_prev + z_next), g);
    } else if constexpr (FORM == FORM_3D_PER_AXIS) {
        real along_z = multiply_add(w.z_prev, z_prev + z_next, g);
        return multiply_add(w.x_prev, x_prev + x_next, multiply_add(w.y_prev, y_prev + y_next, along_z));
    } else {
        real along_z = multiply_add(w.z_prev, z_prev, multiply_add(w.z_next, z_next, g));
        real along_y = multiply_add(w.y_prev, y_prev, multiply_add(w.y_next, y_next, along_z));
        return multiply_add(w.x_prev, x_prev, multiply_add(w.x_next, x_next, along_y));
    }
}
#endif

/// What a sweep makes of a point whose value is `own`: Jacobi's new value, or in damped sweeps the fraction omega of
/// that update.
template <bool IS_DAMPED> __device__ __forceinline__ real damped(real omega, real own, real jacobi) {
    return IS_DAMPED ? multiply_add(omega, jacobi - own, own) : jacobi;
}

/// Interior points: columns, rows (in 1D systems of the batch, in 3D those of all planes), values from one row of a
/// plane to the next, rows of a plane, and in 3D values from one plane to the next. A pointer to an array points to
/// its first interior point; boundary values lie before it.
struct Grid {
    int columns, rows;
    long long pitch;
#if FORM >= FORM_3D_ISOTROPIC
    int plane_rows;
    long long plane_pitch;
#endif

    /// Where the first point of a row lies.
    __device__ __forceinline__ long long row_at(int row) const {
#if FORM >= FORM_3D_ISOTROPIC
        return row / plane_rows * plane_pitch + row % plane_rows * pitch;
#else
        return row * pitch;
#endif
    }
};

/// The tiles of an axis: `tile` is at most `points`.
struct Axis {
    int points, tile, step, count;

    /// The first point that tile `j` computes. The last tile is moved back so that it is full.
    __device__ __forceinline__ int start(int j) const { return min(j * step, points - tile); }

    /// The first point that tile `j` owns; for j = `count`, the end of the axis.
    __device__ __forceinline__ int border(int j) const {
        if (j == 0) return 0;
        if (j == count) return points;
        int s = start(j);
        return s + (start(j - 1) + tile - s) / 2;
    }

    /// Whether tile `j` has neighbours on both sides, where tiles can have them.
    __device__ __forceinline__ bool is_inner(int j) const {
        return count < 3 || tile == 1 || (0 < j && j < count - 1);
    }
};

/// Into how many parts a tile is split along either axis: warps in 2D, lanes of a warp (x) in 1D.
struct Split {
    int x, y;
};

/// The arguments of every kernel that makes a cycle. `CycleArguments` in `solver/cuda/arguments.rs` has the
/// same layout.
struct CycleArguments {
    /// The iterate, the right-hand side g, and the next iterate: first interior points.
    const real *from, *g;
    real *to;
    /// Where sums of squares of u1 - u0 of the first sweep go (see the kernels); null if not wanted.
    double *squares;
    Grid grid;
    /// The tiles; in 1D, `y` is not used. Classic sweeps use none.
    Axis x, y;
#if FORM >= FORM_3D_ISOTROPIC
    Axis z;
#endif
    Weights weights;
    /// Sweeps of the cycle.
    int k;
    Split split;
    /// The number of the first tile of the launch: a device that shares a grid with others computes some of its tiles.
    /// It fills what would be padding.
    int first;

    /// The number of the tile of a block.
    __device__ __forceinline__ int tile() const { return blockIdx.x + first; }
};

#define OFFSET(type, member) __INTADDR__(&static_cast<type *>(nullptr)->member)
static_assert(sizeof(Axis) == 16);
static_assert(OFFSET(CycleArguments, squares) == 24);
static_assert(OFFSET(CycleArguments, grid) == 32);
#if FORM >= FORM_3D_ISOTROPIC
static_assert(sizeof(Grid) == 32 && sizeof(Weights) == 6 * sizeof(real));
static_assert(OFFSET(CycleArguments, x) == 64);
static_assert(OFFSET(CycleArguments, y) == 80);
static_assert(OFFSET(CycleArguments, z) == 96);
static_assert(OFFSET(CycleArguments, weights) == 112);
static_assert(OFFSET(CycleArguments, k) == 112 + 6 * sizeof(real));
static_assert(OFFSET(CycleArguments, split) == 116 + 6 * sizeof(real));
static_assert(OFFSET(CycleArguments, first) == 124 + 6 * sizeof(real));
static_assert(sizeof(CycleArguments) == (REAL_BITS == 64 ? 176 : 152));
#else
static_assert(sizeof(Grid) == 16 && sizeof(Weights) == 4 * sizeof(real));
static_assert(OFFSET(CycleArguments, x) == 48);
static_assert(OFFSET(CycleArguments, y) == 64);
static_assert(OFFSET(CycleArguments, weights) == 80);
static_assert(OFFSET(CycleArguments, k) == 80 + 4 * sizeof(real));
static_assert(OFFSET(CycleArguments, split) == 84 + 4 * sizeof(real));
static_assert(OFFSET(CycleArguments, first) == 92 + 4 * sizeof(real));
static_assert(sizeof(CycleArguments) == (REAL_BITS == 64 ? 128 : 112));
#endif

/// The arguments of a kernel whose sweeps are damped. `DampedArguments` in `solver/cuda/arguments.rs` has the same
/// layout.
struct DampedArguments {
    CycleArguments cycle;
    /// The fraction of each update that a sweep applies.
    real omega;
};

static_assert(OFFSET(DampedArguments, omega) == sizeof(CycleArguments));
static_assert(sizeof(DampedArguments) == sizeof(CycleArguments) + 8);

/// The arguments of a kernel that makes subiterations in the sine basis. `SpectralArguments` in
/// `solver/cuda/arguments.rs` has the same layout.
struct SpectralArguments {
    CycleArguments cycle;
    /// The tables of a tile, laid out as the kernel says.
    const real *tables;
    /// Tiles of the launch.
    int tiles;
    /// Of kernels in half precision: what the corrections of a tile whose values are 1 to 2 are multiplied by in the end.
    float correction_scale;
};

static_assert(OFFSET(SpectralArguments, tables) == sizeof(CycleArguments));
static_assert(OFFSET(SpectralArguments, tiles) == sizeof(CycleArguments) + 8);
static_assert(sizeof(SpectralArguments) == sizeof(CycleArguments) + 16);
