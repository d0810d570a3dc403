// The sine matrix S of a tile along an axis of T = 16, 24 or 32 points, for transforms in plain arithmetic.
#pragma once
#include "stencil.cuh"

/// The magnitudes of the entries of S: √(2 / (T + 1)) sin(i π / (T + 1)), from i = 0 on.
__constant__ real SINES_16[] = {
    0, 0.06302556465232007, 0.12390486929123841, 0.18056474221395458, 0.23107569940411277, 0.27371765079581795,
    0.3070384758778092, 0.32990347391584407, 0.3415340048252798,
};
__constant__ real SINES_24[] = {
    0, 0.03544959174454278, 0.07034012225071447, 0.1041213470098401, 0.13626051592754276, 0.16625077511098138,
    0.19361916025752066, 0.21793405558431886, 0.238812000667058, 0.25592373783990335, 0.26899940478558293,
    0.2778327904253385, 0.28228458699082226,
};
__constant__ real SINES_32[] = {
    0, 0.023401180193815724, 0.04659043567603385, 0.06935776095806238, 0.09149697161653972, 0.1128075715314011,
    0.13309656860978952, 0.15218022255233418, 0.16988570883375448, 0.18605268382852347, 0.20053473690757054,
    0.21320071635561044, 0.22393591710138627, 0.23264311950455732, 0.23924346979181685, 0.2436771941688739,
    0.24590414014119064,
};

/// Adds to `sum` the entry of S in mode `p` at point `i`, both from 1, times a value. The modes are known when this is
/// compiled.
template <int SIDE> __device__ __forceinline__ void add_entry(real &sum, int p, int i, real value) {
    constexpr int PERIOD = SIDE + 1;
    int angle = p * i % (2 * PERIOD), from_zero = angle % PERIOD;
    int magnitude = min(from_zero, PERIOD - from_zero);
    if (magnitude == 0) return;
    real entry = (SIDE == 16 ? SINES_16 : SIDE == 24 ? SINES_24 : SINES_32)[magnitude];
    sum = multiply_add(angle > PERIOD ? -entry : entry, value, sum);
}
