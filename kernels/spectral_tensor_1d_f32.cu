// One cycle of 1D tiles in their sine basis, in single precision, with tensor cores in half precision: all k
// subiterations at once (the mathematics is in `solver/spectral.rs`).
//
// As in `spectral_tensor_1d.cu`, the halves of tiles, sums and differences of mirrored points, are multiplied by one matrix
// M each. A block takes TILES tiles at a time: 16 halves are operand A of the tensor core, and each warp keeps 8 columns of the
// M of its half in registers as operand B. A thread has the same points of a tile in the first sweep and in the end.
//
// Word w of a half has its points w and w + WORDS, side by side, in the operands and in what comes out.
//
// Tables: M of either half in two parts, as the lanes of the warps load it: of each step of 16 points the words that
// operand B has of the high parts, then those of the low parts. `solver/cuda/spectral/tables.rs` writes them.
// Variants: f32 1d symmetric sm_90
#include "lines.cuh"
#include "norms.cuh"
#include "tensor.cuh"

/// How tiles of a side are worked on.
template <int SIDE_, int TILES_> struct Plan {
    static constexpr int SIDE = SIDE_, HALF = SIDE / 2, WORDS = HALF / 2;
    /// Tiles of a block at a time, in groups of 16.
    static constexpr int TILES = TILES_, GROUPS = TILES / 16;
    /// A warp for each 8 columns of a half.
    static constexpr int WARPS = HALF / 8, THREADS = 2 * WARPS * WARP;
    /// Lanes of a tile, one for each word; and the turns that a thread takes.
    static constexpr int LANES = WORDS > 16 ? 32 : WORDS, AT_ONCE = THREADS / LANES;
    static constexpr int TURNS = (TILES + AT_ONCE - 1) / AT_ONCE;
    /// Steps of 16 points.
    static constexpr int STEPS = HALF / 16;
    /// Words of operand A from one step to the next, so that two steps lie in different banks; of a part; of a half.
    static constexpr int STEP = 4 * WARP + 16, PART = STEPS * STEP, OPERANDS = GROUPS * 2 * PART;
    /// Pairs of what comes out from one tile to the next, so that four lie in different banks; of a half.
    static constexpr int STRIDE = WORDS + 4, RESULTS = TILES * STRIDE;
};

/// Operand A of both halves, then what comes out of either.
extern __shared__ __align__(16) unsigned memory[];

/// Where a thread's points lie: the two of its word, then the mirrored ones.
template <class P> __device__ __forceinline__ int point(int word, int i) {
    int first = word + i % 2 * P::WORDS;
    return i < 2 ? first : P::SIDE - 1 - first;
}

/// The tile and the word of a thread; whether there is one.
template <class P> struct Place {
    int tile, word;
    bool exists;

    __device__ __forceinline__ Place(int turn) {
        int thread = thread_of_block();
        tile = turn * P::AT_ONCE + thread / P::LANES, word = thread % P::LANES;
        exists = (P::WORDS == P::LANES || word < P::WORDS) && (P::TILES % P::AT_ONCE == 0 || tile < P::TILES);
    }
};

/// The largest one of the values of the lanes of a tile.
template <int LANES> __device__ __forceinline__ float largest_of_lanes(float value) {
    if constexpr (LANES == WARP) return largest_of_warp(value);
#pragma unroll
    for (int apart = 1; apart < LANES; apart *= 2) value = fmaxf(value, __shfl_xor_sync(ALL_LANES, value, apart));
    return value;
}

/// The first sweep: writes the halves of the tiles as operands, and adds up the squares of the owned points.
template <class P>
__device__ __forceinline__ void split(const SpectralArguments &arguments, const Tile *tiles, Scale (&scales)[P::TURNS], double &squares) {
    const CycleArguments &a = arguments.cycle;
#pragma unroll
    for (int turn = 0; turn < P::TURNS; turn++) {
        Place<P> place(turn);
        real change[4] = {};
        if (place.exists) {
            Tile tile = tiles[place.tile];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                int x = point<P>(place.word, i);
                const real *u = a.from + tile.origin + x;
                real own = __ldg(u);
                change[i] = update(a.weights, __ldg(u - 1), __ldg(u + 1), 0, 0, __ldg(a.g + tile.origin + x)) - own;
                if (a.squares) add_square_if(tile.owns(x), squares, change[i]);
            }
        }
        Pair halves[2] = {make_pair(change[0] + change[2], change[1] + change[3]),
                          make_pair(change[0] - change[2], change[1] - change[3])};
        float largest = largest_of_lanes<P::LANES>(largest_of(largest_of(0, halves[0]), halves[1]));
        Scale scale(largest, arguments.correction_scale);
        scales[turn] = scale;
        if (!place.exists) continue;
        Pair scaled[2] = {scale.before(halves[0]), scale.before(halves[1])};
        Data data = operand_of(scaled);
        int step = place.word / 8, lane = place.tile % 8 * 4 + place.word % 4;
        // Two steps on, words change places, so that these too lie in different banks.
        int number = (place.word / 4 % 2 * 2 + place.tile / 8 % 2) ^ (step / 2 % 2);
        unsigned *at = memory + place.tile / 16 * 2 * P::PART + step * P::STEP + lane * 4 + number;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            at[half * P::OPERANDS] = data.high[half];
            at[half * P::OPERANDS + P::PART] = data.low[half];
        }
    }
}

/// The columns of M that a warp multiplies by, of each step the words of both parts.
template <class P> struct Columns {
    Operand words[P::STEPS];

    __device__ __forceinline__ Columns(const Operand *tables) {
        const Operand *own = tables + threadIdx.x / WARP * (P::STEPS * WARP) + threadIdx.x % WARP;
#pragma unroll
        for (int k = 0; k < P::STEPS; k++) words[k] = __ldg(own + k * WARP);
    }
};

/// Multiplies the halves of all tiles by M.
template <class P> __device__ __forceinline__ void transform(const Columns<P> &columns) {
    int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, half = warp / P::WARPS;
    unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(memory + half * P::OPERANDS + lane * 4));
    Pair *to = reinterpret_cast<Pair *>(memory + 2 * P::OPERANDS) + half * P::RESULTS + lane / 4 * P::STRIDE +
               warp % P::WARPS * 4 + lane % 4;
#pragma unroll
    for (int group = 0; group < P::GROUPS; group++) {
        // A sum for each part: those of one wait for each other.
        Pair sums[PARTS][2] = {};
#pragma unroll
        for (int k = 0; k < P::STEPS; k++) {
            Operand parts[2];
#pragma unroll
            for (int part = 0; part < 2; part++) {
                Operand words = load_operand(from + ((group * 2 + part) * P::PART + k * P::STEP) * int(sizeof(unsigned)));
                parts[part] = k / 2 % 2 == 0 ? words : make_float4(words.y, words.x, words.w, words.z);
            }
            Operand b = columns.words[k];
            Data data = {{__float_as_uint(b.x), __float_as_uint(b.y)}, {__float_as_uint(b.z), __float_as_uint(b.w)}};
#pragma unroll
            for (int part = 0; part < PARTS; part++) multiply_16(part, sums[part][0], sums[part][1], parts[0], parts[1], data);
        }
#pragma unroll
        for (int row = 0; row < 2; row++) {
            Pair small = make_pair(sums[0][row].x + sums[1][row].x, sums[0][row].y + sums[1][row].y), large = sums[2][row];
            to[(group * 16 + row * 8) * P::STRIDE] = make_pair(large.x + small.x, large.y + small.y);
        }
    }
}

/// Adds the correction to the owned points and stores them.
template <class P> __device__ __forceinline__ void join(const CycleArguments &a, const Tile *tiles, const Scale (&scales)[P::TURNS]) {
#pragma unroll
    for (int turn = 0; turn < P::TURNS; turn++) {
        Place<P> place(turn);
        if (!place.exists) continue;
        Tile tile = tiles[place.tile];
        const Pair *from = reinterpret_cast<const Pair *>(memory + 2 * P::OPERANDS) + place.tile * P::STRIDE + place.word;
        Pair sum = from[0], difference = from[P::RESULTS];
        real change[4] = {sum.x + difference.x, sum.y + difference.y, sum.x - difference.x, sum.y - difference.y};
#pragma unroll
        for (int i = 0; i < 4; i++) {
            int x = point<P>(place.word, i);
            long long at = tile.origin + x;
            if (tile.owns(x)) a.to[at] = scales[turn].sum(__ldg(a.from + at), change[i]);
        }
    }
}

/// One cycle. Of each warp one sum of squares is written.
template <class P> __device__ __forceinline__ void cycle(const SpectralArguments &arguments) {
    const CycleArguments &a = arguments.cycle;
    Columns<P> columns(reinterpret_cast<const Operand *>(arguments.tables));
    double squares = 0;
    find_tiles<P::TILES>(a, 0, blockIdx.x * P::TILES);
    __syncthreads();
    int first = after_cycle_before(blockIdx.x) * P::TILES;
#pragma unroll 1
    for (int turn = 0; first < arguments.tiles; first += gridDim.x * P::TILES, turn++) {
        Scale scales[P::TURNS];
        split<P>(arguments, tiles[turn % 2], scales, squares);
        __syncthreads();
        find_tiles<P::TILES>(a, turn + 1, first + gridDim.x * P::TILES);
        transform<P>(columns);
        __syncthreads();
        join<P>(a, tiles[turn % 2], scales);
    }
    if (a.squares) write_sum_of_lanes(squares, a.squares + (blockIdx.x * P::THREADS + threadIdx.x) / WARP);
}

#define KERNEL(side, tiles, resident)                                                                                  \
    extern "C" __global__ void __launch_bounds__(Plan<side, tiles>::THREADS, resident)                                 \
        side_##side(const __grid_constant__ SpectralArguments arguments) {                                             \
        cycle<Plan<side, tiles>>(arguments);                                                                           \
    }

// `LINES` of `solver/cuda/spectral/tensor.rs`.
KERNEL(32, 48, 7)
KERNEL(64, 48, 4)
KERNEL(96, 64, 2)
KERNEL(128, 80, 1)
