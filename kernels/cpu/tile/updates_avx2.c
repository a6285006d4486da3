/*
 * The loops of updates.h for AVX2.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/vec_avx2.h"

#include "kernels/cpu/tile/updates_body.h"

const updates updates_avx2 = {
    .lanes = &lanes_avx2,
    .run = {sgd, sgd_momentum, sgd_nesterov, adam, adamw, rmsprop, rmsprop_momentum},
    .squares = squares,
};
