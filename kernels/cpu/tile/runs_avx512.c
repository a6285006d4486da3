/*
 * The loops of runs.h for AVX-512.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/vec_avx512.h"

#include "kernels/cpu/tile/runs_body.h"

const runs runs_avx512 = {
    .lanes = &lanes_avx512,
    .largest = largest,
    .exponentials = exponentials,
    .distances = distances,
    .squares = squares,
    .softmax_gradient = softmax_gradient,
    .scale = scale,
    .random_words = random_words,
    .keep = keep,
};
