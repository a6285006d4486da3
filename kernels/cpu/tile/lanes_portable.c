/*
 * The loops of lanes.h for any processor.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/vec_portable.h"

#include "kernels/cpu/tile/halves_body.h"
#include "kernels/cpu/tile/lanes_body.h"
#include "kernels/cpu/tile/lanes_finish_body.h"
#include "kernels/cpu/tile/lanes_sums_body.h"
#include "kernels/cpu/tile/lanes_window_body.h"

const lanes lanes_portable = {
    .name = "portable",
    .flops = 8e9,
    .bf16 = {widen_bf16, narrow_bf16},
    .f16 = {widen_f16, narrow_f16},
    .map = map,
    .cast = cast,
    .finish = finish,
    .sums = sums,
    .max = max_value,
    .max_gradient = max_gradient,
    .mean = mean,
    .add_share = add_share,
    .median = median,
    .store = store,
};
