/*
 * The shared part of the batch normalisation ops.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/bn.h"

#include "core/sizes.h"

void bn_shape_pixels(const braid_problem *p, int i, plane_shape *out) {
    shape_pixels(p, p->size, p->in_channels[i], p->in_pitch[i], out);
}

void bn_shape_channels(const braid_problem *p, int i, plane_shape *out) { shape_statistics(p, p->in_channels[i], out); }

int64_t bn_terms(const braid_problem *p) {
    int64_t values = p->batch * p->size[0] * p->size[1];
    return values < 1 ? 1 : values;
}

void bn_draw(rng *r, braid_problem *p) {
    draw_pixels(r, p);
    if (p->phase == BRAID_PHASE_TRAIN && bn_terms(p) < 2) p->size[0] = 2;
}

braid_status bn_check_train(const braid_problem *p) {
    const int64_t axes[3] = {p->batch, p->size[0], p->size[1]};
    int64_t values;
    TRY(size_elements(axes, 3, op_of(p)->name, &values));
    if (p->phase == BRAID_PHASE_TRAIN && values == 1) {
        return fail(BRAID_ERROR_ARGUMENT,
                    "%s: expected more than 1 value per channel with phase=train, got b1 and hw1x1; "
                    "use a larger batch or phase=eval",
                    op_of(p)->name);
    }
    return BRAID_OK;
}
