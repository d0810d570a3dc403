// Two neighbouring points of a row, which a thread reads and writes together where the first lies at an even place: in 3D
// rows begin at such a place.
#pragma once
#include "stencil.cuh"

#if REAL_BITS == 64
typedef double2 Pair;
#else
typedef float2 Pair;
#endif

/// Through the cache for what no kernel writes meanwhile.
__device__ __forceinline__ Pair load_pair(const real *at) { return __ldg(reinterpret_cast<const Pair *>(at)); }

/// A read or write of what is not needed again: it makes room in the caches for what is.
__device__ __forceinline__ Pair load_pair_once(const real *at) { return __ldcs(reinterpret_cast<const Pair *>(at)); }
__device__ __forceinline__ void store_pair_once(real *at, Pair pair) { __stcs(reinterpret_cast<Pair *>(at), pair); }

__device__ __forceinline__ void store_pair(real *at, Pair pair) { *reinterpret_cast<Pair *>(at) = pair; }
