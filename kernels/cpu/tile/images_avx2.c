/*
 * The loops of images.h for AVX2.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/vec_avx2.h"

#include "kernels/cpu/tile/images_body.h"

const images images_avx2 = {
    .lanes = &lanes_avx2,
    .width = VEC_LANES,
    .normalize = normalize,
};
