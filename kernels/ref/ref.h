/*
 * The reference: plain C that is meant to be read. Each file computes one output element of one op
 * and pass, and nothing more; ref.c makes the whole output from it (a candidate of last resort) and
 * the checker asks it for chosen elements, so a large problem can be checked by sampling.
 *
 * Every file is compiled twice, with real = float and real = double. All floating operands of the
 * buffers it is given are of type real, whatever the dtype of the problem: ref.c converts halves.
 * The mask stays 32-bit words and counters stay int64_t.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_REF_REF_H
#define BRAID_KERNELS_REF_REF_H

#include "kernels/kernel.h"

/* A value, and the sum of the magnitudes of the terms that made it: the error bound is a share of that. */
typedef struct ref_value {
    double value;
    double magnitude;
} ref_value;

/* Element `index` (dense, row-major over the plane's dims) of plane i of an output slot. */
typedef ref_value (*ref_at)(const braid_problem *p, const buffers *b, int slot, int i, int64_t index);

/* The element function of an op and pass in double, the truth of every check; NULL where there is none. */
ref_at ref_at_f64(braid_op_id op, braid_pass pass);

/* 1 where Winograd's kernels make an output from tiles: not dbias. */
static inline int ref_is_tiled(const braid_problem *p, int slot) {
    if (p->pass == BRAID_PASS_FWD) return 1;
    return slot == (p->pass == BRAID_PASS_BWD_DATA ? CONV2D_X : CONV2D_W);
}

/* The magnitude that bounds the error of Winograd's kernels at an element of such an output. */
double tile_magnitude_f64(const braid_problem *p, const buffers *b, int slot, int i, int64_t index);

/* Where element `index` of a plane lies, in elements from its start. */
int64_t ref_offset(const plane_shape *s, int64_t index);

/* The functions of every REFERENCE row in kernels.def. */
extern const kernel_functions ref_functions;

/* Inside the reference files: the type and the name of this compilation. */
#ifdef REF_DOUBLE
typedef double real;
#define REF(name) name##_f64
#else
typedef float real;
#define REF(name) name##_f32
#endif

#endif
