/*
 * The loops of updates.h for AVX-512.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/vec_avx512.h"

#include "kernels/cpu/tile/updates_body.h"

const updates updates_avx512 = {
    .lanes = &lanes_avx512,
    .run = {sgd, sgd_momentum, sgd_nesterov, adam, adamw, rmsprop, rmsprop_momentum},
    .squares = squares,
};
