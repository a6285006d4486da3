/*
 * The loops of images.h for AVX-512.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/vec_avx512.h"

#include "kernels/cpu/tile/images_body.h"

const images images_avx512 = {
    .lanes = &lanes_avx512,
    .width = VEC_LANES,
    .normalize = normalize,
};
