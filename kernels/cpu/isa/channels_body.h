/*
 * All loops of channels.h, and their table. Included once per instruction set.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/isa/halves_body.h"
#include "kernels/cpu/isa/channels_map_body.h"

#include "kernels/cpu/isa/channels_epilogue_body.h"
#include "kernels/cpu/isa/channels_sums_body.h"
#include "kernels/cpu/isa/channels_window_body.h"

const channel_loops OF_ISA(channels) = {
    .name = ISA_NAME,
    .flops = ISA_FLOPS,
    .bf16 = {widen_bf16, narrow_bf16},
    .f16 = {widen_f16, narrow_f16},
    .map = map,
    .cast = cast,
    .epilogue = epilogue,
    .sums = sums,
    .max = max_value,
    .max_gradient = max_gradient,
    .mean = mean,
    .add_share = add_share,
    .median = median,
    .store = store,
};
