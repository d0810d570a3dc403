// What a method that streams does with planes in working arrays beside its sweeps, which are those of `classic`.
// Variants: 2d 3d
#include "stencil.cuh"

/// Copies the boundary values around `rows` rows of planes: the first and the last value of each row, and in 3D the
/// rows before and after the others of a plane. `from` and `to` point to the first value of the first row, and
/// `plane_rows` counts the rows of a plane, those of the boundary included. A warp takes a row at a time.
extern "C" __global__ void __launch_bounds__(256)
    copy_rims(const real *__restrict__ from, real *__restrict__ to, long long rows, long long plane_rows, long long pitch) {
    int lane = threadIdx.x % WARP;
    long long warps = (long long)gridDim.x * blockDim.x / WARP;
    for (long long row = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / WARP; row < rows; row += warps) {
        long long start = row * pitch, in_plane = row % plane_rows;
        if (IS_3D && (in_plane == 0 || in_plane == plane_rows - 1)) {
            for (long long i = lane; i < pitch; i += WARP) to[start + i] = from[start + i];
        } else if (lane < 2) {
            long long at = start + lane * (pitch - 1);
            to[at] = from[at];
        }
    }
}
