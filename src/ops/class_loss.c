/*
 * Shapes, labels and random problems of the losses over classes.
 *
 * SPDX-License-Identifier: MIT
 */
#include "ops/class_loss.h"

int class_loss_planes(const braid_problem *p, int slot) { return slot == CLASS_WEIGHTS ? p->class_weights : 1; }

void class_loss_shape(const braid_problem *p, int slot, int i, plane_shape *out) {
    (void)i;
    switch (slot) {
        case CLASS_LABELS: *out = (plane_shape){BRAID_DTYPE_I32, 1, {p->batch}, p->batch}; break;
        case CLASS_WEIGHTS: shape_statistics(p, p->in_channels[0], out); break;
        case CLASS_LOSS: shape_statistics(p, 1, out); break;
        case CLASS_CORRECT: shape_counter(out); break;
        default: shape_rows(p, out); break;
    }
}

/* An exponential counts as ten operations. */
double class_loss_flops(const braid_problem *p) {
    return (p->pass == BRAID_PASS_FWD ? 13 : 26) * (double)p->batch * (double)p->in_channels[0];
}

/* The loss is a sum over all logits; a gradient needs its own row and every sample's weight. */
int64_t class_loss_terms(const braid_problem *p) {
    int64_t batch = p->batch ? p->batch : 1;
    return p->pass == BRAID_PASS_FWD ? batch * p->in_channels[0] : batch + p->in_channels[0];
}

/* One sample in eight is ignored, but not the first. */
void class_loss_fill(const braid_problem *p, int slot, int i, rng *r, void *data) {
    int32_t *labels = data;
    (void)slot;
    (void)i;
    for (int64_t sample = 0; sample < p->batch; sample++) {
        int ignored = rng_between(r, 1, 8) == 1 && sample > 0;
        labels[sample] = (int32_t)rng_between(r, 0, p->in_channels[0] - 1);
        if (ignored) labels[sample] = -(int32_t)rng_between(r, 1, 100);
    }
}

braid_status class_loss_check_labels(const braid_problem *p, int slot, int i, const void *data) {
    const int32_t *labels = data;
    (void)slot;
    (void)i;
    for (int64_t sample = 0; sample < p->batch; sample++) {
        if (labels[sample] < p->in_channels[0]) continue;
        return fail(BRAID_ERROR_ARGUMENT,
                    "%s: expected labels from 0 to %lld (negative: the sample is ignored), got %d for sample %lld",
                    op_of(p)->name, (long long)p->in_channels[0] - 1, (int)labels[sample], (long long)sample);
    }
    return BRAID_OK;
}

void class_loss_draw(rng *r, braid_problem *p) {
    p->in_channels[0] = draw_chance(r, 15) ? rng_between(r, 1, 700) : draw_size(r, 257);
    p->batch = draw_chance(r, 60) ? rng_between(r, 1, 12) : draw_size(r, 129);
    while (p->batch * p->in_channels[0] * class_loss_terms(p) > 600000 && p->batch > 1) p->batch /= 2;
}
