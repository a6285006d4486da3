/*
 * The loops of images.h for any processor.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/vec_portable.h"

#include "kernels/cpu/tile/images_body.h"
#include "kernels/cpu/tile/images_noise_body.h"

const images images_portable = {
    .runs = &runs_portable,
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
