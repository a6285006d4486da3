/*
 * The loops of runs.h for any processor.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/vec_portable.h"

#include "kernels/cpu/tile/runs_body.h"

const runs runs_portable = {
    .lanes = &lanes_portable,
    .largest = largest,
    .exponentials = exponentials,
    .distances = distances,
    .squares = squares,
    .softmax_gradient = softmax_gradient,
    .scale = scale,
    .random_words = random_words,
    .keep = keep,
};
