// What a method that streams does with planes in working arrays beside its sweeps, which are those of `classic`.
// Variants: 2d 3d
#include "stencil.cuh"

/// Copies the boundary values around `rows` rows of planes: the first and the last value of each row, and in 3D the
/// rows before and after the others of a plane. `from` and `to` point to the first value of the first row;
/// `columns` and `plane_rows` count the values of a row and the rows of a plane, those of the boundary included. A warp
/// takes a row at a time.
extern "C" __global__ void __launch_bounds__(256)
    copy_rims(const real *__restrict__ from, real *__restrict__ to, long long rows, long long columns,
              long long plane_rows, long long pitch, long long plane_pitch) {
    int lane = threadIdx.x % WARP;
    long long warps = (long long)gridDim.x * blockDim.x / WARP;
    for (long long row = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / WARP; row < rows; row += warps) {
        long long in_plane = row % plane_rows, start = row / plane_rows * plane_pitch + in_plane * pitch;
        if (IS_3D && (in_plane == 0 || in_plane == plane_rows - 1)) {
            for (long long i = lane; i < columns; i += WARP) to[start + i] = from[start + i];
        } else if (lane < 2) {
            long long at = start + lane * (columns - 1);
            to[at] = from[at];
        }
    }
}
