// Sums of norms, and values of ranks: what depends on neither the precision nor the form of the weights.
// Variants: any
#include "norms.cuh"
#include "ranks.cuh"

/// Sums of norms. Each cycle (blockIdx.x) has `count` parts, one after the other; each block adds up `together` of
/// them. The order of the additions depends on these two numbers alone.
extern "C" __global__ void __launch_bounds__(256)
    add_parts(const Norms *__restrict__ parts, long long count, long long together, Norms *__restrict__ sums) {
    Norms sum = {};
    long long end = min(count, (blockIdx.y + 1) * together);
    for (long long i = blockIdx.y * together + threadIdx.x; i < end; i += blockDim.x) {
        sum.add(parts[blockIdx.x * count + i]);
    }
    sum = of_block(sum);
    if (threadIdx.x == 0) sums[blockIdx.x * gridDim.y + blockIdx.y] = sum;
}

/// As `add_parts`, of parts that are sums of squares only, into the first of the `sums_per_cycle` of each cycle.
extern "C" __global__ void __launch_bounds__(256)
    add_squares(const double *__restrict__ squares, long long count, long long together, Norms *__restrict__ sums,
                long long sums_per_cycle) {
    Norms sum = {};
    long long end = min(count, (blockIdx.y + 1) * together);
    for (long long i = blockIdx.y * together + threadIdx.x; i < end; i += blockDim.x) {
        sum.squares += squares[blockIdx.x * count + i];
    }
    sum = of_block(sum);
    if (threadIdx.x == 0) sums[blockIdx.x * sums_per_cycle + blockIdx.y] = sum;
}

/// The samples of the given ranks.
extern "C" __global__ void __launch_bounds__(256)
    values_of_ranks(const unsigned long long *__restrict__ ranks, long long count, float *__restrict__ samples) {
    long long at = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (at < count) samples[at] = float(of_rank(ranks[at]));
}
