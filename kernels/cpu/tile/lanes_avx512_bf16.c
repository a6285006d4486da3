/*
 * The loops of lanes.h for AVX-512 with its conversion to bf16, for planes of bf16.
 *
 * SPDX-License-Identifier: MIT
 */
#define VEC_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16,avx2,fma,f16c")))
#define VEC_BF16
#include "kernels/cpu/tile/vec_avx512.h"

#include "kernels/cpu/tile/halves_body.h"
#include "kernels/cpu/tile/lanes_body.h"
#include "kernels/cpu/tile/lanes_finish_body.h"
#include "kernels/cpu/tile/lanes_sums_body.h"
#include "kernels/cpu/tile/lanes_window_body.h"

const lanes lanes_avx512_bf16 = {
    .name = "avx512_bf16",
    .flops = 17e9,
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
