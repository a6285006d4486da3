/*
 * The loops of images.h for AVX2.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/vec_avx2.h"

#include "kernels/cpu/tile/images_body.h"
#include "kernels/cpu/tile/images_noise_body.h"

const images images_avx2 = {
    .runs = &runs_avx2,
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
