/*
 * The loops of images.h for AVX-512.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/vec_avx512.h"

#include "kernels/cpu/tile/images_body.h"
#include "kernels/cpu/tile/images_noise_body.h"

const images images_avx512 = {
    .runs = &runs_avx512,
    .width = VEC_LANES,
    .normalize = normalize,
    .line = line,
    .add = add,
    .grey_sum = grey_sum,
    .make_grey = make_grey,
    .saturate = saturate,
    .turn_hue = turn_hue,
    .weigh = weigh,
    .normals = normals,
};
