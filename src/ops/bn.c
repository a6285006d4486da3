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
    p->batch = draw_chance(r, 25) ? draw_size(r, 40) : p->batch;
    p->size[0] = draw_size(r, 33);
    p->size[1] = draw_size(r, 33);
    while (shape_total(p) > DRAW_ELEMENTS && p->batch > 1) p->batch = (p->batch + 1) / 2;
    while (shape_total(p) > DRAW_ELEMENTS && (p->size[0] > 1 || p->size[1] > 1)) {
        int axis = p->size[0] > p->size[1] ? 0 : 1;
        p->size[axis] = (p->size[axis] + 1) / 2;
    }
    if (p->phase == BRAID_PHASE_TRAIN && bn_terms(p) < 2) p->size[0] = 2;
}

void bn_shrink(braid_problem *p) {
    if (p->batch > 3) p->batch = 3;
    p->size[0] = shrink_size(p->size[0], 24);
    p->size[1] = shrink_size(p->size[1], 24);
    for (int i = 0; i < p->streams; i++) {
        int dense = p->in_pitch[i] == p->in_channels[i];
        p->in_channels[i] = shrink_size(p->in_channels[i], 80);
        if (dense) p->in_pitch[i] = p->in_channels[i];
    }
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
