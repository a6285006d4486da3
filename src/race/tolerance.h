/*
 * The one tolerance table. In real mode an output may differ from the double reference, computed from
 * the inputs as the kernel sees them, by at most
 *
 *   u_out * |value| + (2 * sqrt(L) + [tensor core] terms / 16) * u_acc * magnitude * factor + tiny
 *
 * where magnitude is the sum of the absolute terms behind the output, L the longest sum, u_out the unit
 * roundoff of the stored format, u_acc that of the accumulator (2^-24; 2^-53 in f64) and tiny the
 * smallest number the stored format keeps. In f32 a tensor core adds 8 terms at once, not 16. In TF32 the inputs are
 * numbers of TF32, and what a fused op multiplies behind its first step has the roundoff 2^-11. The factor is 1 but for
 * the rows of the table, some of which also have a growth of their own in place of 2 * sqrt(L).
 *
 * A kernel that mixes the pixels of a tile (KERNEL_WINOGRAD), alone or inside a fused op, has a row of its own: the
 * magnitude is that of all it mixes (tile_magnitude_f64), and L counts channels, or tiles in the weight gradient, and
 * the ten roundings of its transforms in place of the convolution's terms.
 *
 * A fused kernel may round once what its chain would store, and the chain CHAIN_ROUNDINGS times: each adds the roundoff
 * of the format, times the magnitude.
 *
 * Outputs that follow from another one (op_is_derived) are compared with what follows from it as the kernel stored it,
 * and their L counts its pixels.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_RACE_TOLERANCE_H
#define BRAID_RACE_TOLERANCE_H

#include "kernels/kernel.h"
#include "kernels/ref/ref.h"

/* mixed: the magnitude of all that the kernel mixes into the output; that of the truth but for Winograd's tiles. */
double tolerance_bound(const braid_problem *p, const kernel *k, int slot, ref_value truth, double mixed);

/* More zeros than this among the outputs that have terms, and the case proves too little to be trusted. */
#define TOLERANCE_ZERO_SHARE 0.3

#endif
