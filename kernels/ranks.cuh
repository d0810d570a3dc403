// Doubles as integers that are ordered as samples are: by magnitude, of opposite numbers the positive one last.
// NaN comes after all, and there is one zero. Comparing integers is cheaper than comparing doubles, which the
// cycles that run at the same time need.
#pragma once

/// The rank of a number.
__device__ __forceinline__ unsigned long long rank_of(double value) {
    unsigned long long bits = __double_as_longlong(value);
    return (bits << 1 | bits >> 63) ^ 1;
}

/// The number of a rank.
__device__ __forceinline__ double of_rank(unsigned long long rank) {
    unsigned long long bits = rank ^ 1;
    return __longlong_as_double(bits >> 1 | bits << 63);
}
