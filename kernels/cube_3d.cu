// One cycle in 3D of cubes of 16 points: one block of threads per tile, whose iterate stays in shared memory.
//
// A thread keeps a patch of 2 x 2 x DEPTH points in registers, with their right-hand side. What binds is shared memory, so
// patches are square: of four points in a plane, eight neighbours are read from there, and of a patch the planes before
// and behind it. It needs one copy of the tile with its halo. Columns with even and odd x lie apart in it, so that the
// threads of a warp read neighbouring values of either.
//
// Three blocks fit on a multiprocessor where it has enough shared memory: while one waits for its tile, others sweep. That
// leaves 168 registers for a thread, of which a patch and its right-hand side take 128 in double precision: so where the
// patch lies, and what it owns of it, is computed when it is needed.
// Variants: 3d
#include "box.cuh"
#include "norms.cuh"
#include "pairs.cuh"

extern __shared__ double memory[];

/// `CUBE` of `solver/cuda/shared_3d.rs`.
constexpr int SIDE = 16, DEPTH = 8, THREADS = SIDE * SIDE * SIDE / (4 * DEPTH);
/// Values from the columns with even x to those with odd x, from a row to the next, and from a plane to the next. Rows are
/// somewhat longer than two halves of 9 values: so the rows that a warp reads lie in different banks.
constexpr int HALF = 10, STRIDE = 2 * HALF, PLANE = STRIDE * (SIDE + 2);

/// Where a point of the tile or its halo lies in shared memory.
__device__ __forceinline__ int place(int x, int y, int z) {
    return (z + 1) * PLANE + (y + 1) * STRIDE + (x + 1) % 2 * HALF + (x + 1) / 2;
}

/// The first point of the patch of a thread. Computed when it is needed, and not kept in registers.
struct Corner {
    int thread, x, y, z;

    __device__ __forceinline__ Corner() {
        asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
        x = thread % 8 * 2, y = thread / 8 % 8 * 2, z = thread / 64 * DEPTH;
    }

    /// Which points of the patch the tile owns: a bit for each, four of a plane in a row.
    __device__ __forceinline__ unsigned owned(const Box &box) const {
        unsigned in_plane = 0, all = 0;
#pragma unroll
        for (int n = 0; n < 4; n++) in_plane |= unsigned(box.owns_column(x + n % 2, y + n / 2)) << n;
#pragma unroll
        for (int n = 0; n < DEPTH; n++) all |= box.owns_plane(z + n) ? in_plane << 4 * n : 0;
        return all;
    }
};

/// A patch of points of a thread.
struct Patch {
    Pair points[DEPTH][2];

    /// Reads it from where its first point lies.
    template <bool IS_EVEN, bool IS_LAST_READ>
    __device__ __forceinline__ void load(const real *from, long long pitch, long long plane_pitch) {
#pragma unroll
        for (int z = 0; z < DEPTH; z++, from += plane_pitch) {
#pragma unroll
            for (int y = 0; y < 2; y++) {
                const real *at = from + y * pitch;
                if (!IS_EVEN) {
                    points[z][y].x = __ldg(at), points[z][y].y = __ldg(at + 1);
                } else {
                    points[z][y] = IS_LAST_READ ? load_pair_once(at) : load_pair(at);
                }
            }
        }
    }

    /// Writes it to shared memory.
    __device__ __forceinline__ void store(real *first) const {
#pragma unroll
        for (int z = 0; z < DEPTH; z++) {
#pragma unroll
            for (int y = 0; y < 2; y++) {
                first[z * PLANE + y * STRIDE] = points[z][y].x;
                first[z * PLANE + y * STRIDE + 1 - HALF] = points[z][y].y;
            }
        }
    }
};

/// One cycle. IS_EVEN is whether the first points of all tiles lie at even places.
template <bool MEASURES, bool IS_DAMPED, bool IS_EVEN> __device__ __forceinline__ void cube(const CycleArguments &a, real omega) {
    real *values = reinterpret_cast<real *>(memory);
    const long long pitch = a.grid.pitch, plane_pitch = a.grid.plane_pitch;
    Patch u, g;
    // The first point of the patch; the one after it lies HALF - 1 before, the one before it HALF before.
    real *own;
    {
        const Corner corner;
        own = values + place(corner.x, corner.y, corner.z);
        const long long origin = Box(a).origin;
        const long long at = origin + corner.z * plane_pitch + corner.y * pitch + corner.x;
        u.load<IS_EVEN, false>(a.from + at, pitch, plane_pitch);
        g.load<IS_EVEN, true>(a.g + at, pitch, plane_pitch);
        // The halo, of whose faces across y and z half a warp reads a row.
        const real *tile = a.from + origin;
#pragma unroll
        for (int part = 0; part < 2 * SIDE * SIDE / THREADS; part++) {
            const int n = part * THREADS + corner.thread, along = n % SIDE, end = n / SIDE % 2 ? SIDE : -1, z = n / SIDE / 2;
            values[place(end, along, z)] = __ldg(tile + z * plane_pitch + along * pitch + end);
            values[place(along, end, z)] = __ldg(tile + z * plane_pitch + end * pitch + along);
            values[place(along, z, end)] = __ldg(tile + end * plane_pitch + z * pitch + along);
        }
    }
    u.store(own);
    __syncthreads();

#pragma unroll 1
    for (int sweep = 0; sweep < a.k; sweep++) {
        Pair below[2];
#pragma unroll
        for (int j = 0; j < 2; j++) below[j] = {own[j * STRIDE - PLANE], own[j * STRIDE - PLANE + 1 - HALF]};
#pragma unroll
        for (int z = 0; z < DEPTH; z++) {
            const real *here = own + z * PLANE;
            Pair before = {here[-STRIDE], here[-STRIDE + 1 - HALF]};
            const Pair behind = {here[2 * STRIDE], here[2 * STRIDE + 1 - HALF]};
#pragma unroll
            for (int j = 0; j < 2; j++) {
                const Pair was = u.points[z][j], after = j == 0 ? u.points[z][1] : behind, right = g.points[z][j];
                Pair above, made;
                if (z + 1 < DEPTH) {
                    above = u.points[z + 1 < DEPTH ? z + 1 : z][j];
                } else {
                    above = {here[PLANE + j * STRIDE], here[PLANE + j * STRIDE + 1 - HALF]};
                }
                real west = here[j * STRIDE - HALF], east = here[j * STRIDE + 1];
                made.x = update(a.weights, west, was.y, before.x, after.x, below[j].x, above.x, right.x);
                made.y = update(a.weights, was.x, east, before.y, after.y, below[j].y, above.y, right.y);
                u.points[z][j].x = damped<IS_DAMPED>(omega, was.x, made.x);
                u.points[z][j].y = damped<IS_DAMPED>(omega, was.y, made.y);
                before = below[j] = was;
            }
        }
        if (MEASURES && sweep == 0) {
            // The iterate before is still in shared memory.
            double sum = 0;
            const Box box(a);
            const Corner corner;
            const unsigned owned = corner.owned(box);
#pragma unroll
            for (int z = 0; z < DEPTH; z++) {
#pragma unroll
                for (int j = 0; j < 2; j++) {
                    const real *was = own + z * PLANE + j * STRIDE;
                    add_square_if(owned >> (4 * z + 2 * j) & 1, sum, u.points[z][j].x - was[0]);
                    add_square_if(owned >> (4 * z + 2 * j + 1) & 1, sum, u.points[z][j].y - was[1 - HALF]);
                }
            }
            write_sum_of_lanes(sum, a.squares + box.block * (THREADS / WARP) + corner.thread / WARP);
        }
        if (sweep == a.k - 1) break;
        __syncthreads();
        u.store(own);
        __syncthreads();
    }

    const Box box(a);
    const Corner corner;
    const unsigned owned = corner.owned(box);
    real *to = a.to + box.origin + corner.z * plane_pitch + corner.y * pitch + corner.x;
#pragma unroll
    for (int z = 0; z < DEPTH; z++, to += plane_pitch) {
#pragma unroll
        for (int j = 0; j < 2; j++) {
            const unsigned both = owned >> (4 * z + 2 * j) & 3;
            real *at = to + j * pitch;
            if (IS_EVEN && both == 3) {
                store_pair(at, u.points[z][j]);
            } else {
                if (both & 1) at[0] = u.points[z][j].x;
                if (both & 2) at[1] = u.points[z][j].y;
            }
        }
    }
}


#define CUBE(name, BLOCKS, MEASURES, IS_EVEN)                                                                              \
    extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS) name(const __grid_constant__ CycleArguments a) {         \
        cube<MEASURES, false, IS_EVEN>(a, 1);                                                                              \
    }                                                                                                                      \
    extern "C" __global__ void __launch_bounds__(THREADS, BLOCKS)                                                          \
        name##_damped(const __grid_constant__ DampedArguments a) {                                                         \
        cube<MEASURES, true, IS_EVEN>(a.cycle, a.omega);                                                                   \
    }

CUBE(cube, 3, false, true)
// These write the sum of squares of each warp in the first sweep.
CUBE(cube_measured, 3, true, true)
// Tiles that begin at odd places, too. Single reads take more registers.
CUBE(odd_cube, 2, false, false)
CUBE(odd_cube_measured, 2, true, false)
