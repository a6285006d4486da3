/*
 * The loops of images.h for any processor.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/vec_portable.h"

#include "kernels/cpu/tile/images_body.h"

const images images_portable = {
    .lanes = &lanes_portable,
    .width = VEC_LANES,
    .normalize = normalize,
};
