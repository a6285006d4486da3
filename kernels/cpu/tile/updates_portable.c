/*
 * The loops of updates.h for any processor.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/vec_portable.h"

#include "kernels/cpu/tile/updates_body.h"

const updates updates_portable = {
    .lanes = &lanes_portable,
    .run = {sgd, sgd_momentum, sgd_nesterov, adam, adamw, rmsprop, rmsprop_momentum},
    .squares = squares,
};
