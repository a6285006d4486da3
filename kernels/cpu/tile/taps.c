/*
 * The tables of taps.h, filled once when a kernel is readied: height times filter height entries, and
 * width times filter width.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/taps.h"

#include "core/memory.h"
#include "core/sizes.h"

braid_problem taps_problem(const braid_problem *p) {
    braid_problem conv = *p;
    if (p->op != BRAID_OP_LINEAR) return conv;
    conv.op = BRAID_OP_CONV2D;
    conv.groups = 1;
    conv.padding_mode = BRAID_PADDING_ZEROS;
    for (int axis = 0; axis < 2; axis++) {
        conv.size[axis] = conv.filter[axis] = conv.stride[axis] = conv.dilation[axis] = 1;
        conv.padding[axis] = conv.extra_padding[axis] = 0;
    }
    return conv;
}

/* The output coordinate that read input `at` through a tap; -1: none did. */
static int64_t output_coordinate(const braid_problem *p, int axis, int64_t at, int64_t tap) {
    int64_t shifted = at + p->padding[axis] - tap * p->dilation[axis];
    if (shifted < 0 || shifted % p->stride[axis]) return -1;
    shifted /= p->stride[axis];
    return shifted < conv2d_out_size(p, axis) ? shifted : -1;
}

static braid_status fill_axis(taps *t, const braid_problem *p, int axis, int backward) {
    int64_t extent[2] = {p->size[axis], conv2d_out_size(p, axis)}, entries = 0;
    t->filter[axis] = p->filter[axis];
    t->in_size[axis] = extent[backward];
    t->out_size[axis] = extent[!backward];
    const int64_t dims[2] = {t->out_size[axis], t->filter[axis]};
    TRY(size_elements(dims, 2, "table of filter taps", &entries));
    TRY(memory_alloc((size_t)entries, sizeof(int32_t), "table of filter taps", (void **)&t->source[axis]));
    for (int64_t i = 0; i < entries; i++) {
        int64_t out = i / dims[1], tap = i % dims[1];
        t->source[axis][i] =
            (int32_t)(backward ? output_coordinate(p, axis, out, tap) : conv2d_in_index(p, axis, out, tap));
    }
    return BRAID_OK;
}

static braid_status fill_dense(taps *t) {
    TRY(memory_alloc((size_t)t->out_size[1], sizeof *t->dense, "table of filter taps", (void **)&t->dense));
    for (int64_t out = 0; out < t->out_size[1]; out++) {
        const int32_t *source = t->source[1] + out * t->filter[1];
        t->dense[out] = source[0] >= 0;
        for (int64_t tap = 1; tap < t->filter[1]; tap++) t->dense[out] &= source[tap] == source[tap - 1] + 1;
    }
    return BRAID_OK;
}

static braid_status create(taps *t, const braid_problem *p, int backward) {
    *t = (taps){0};
    braid_status status = fill_axis(t, p, 0, backward);
    if (!status) status = fill_axis(t, p, 1, backward);
    if (!status) status = fill_dense(t);
    if (status) taps_destroy(t);
    return status;
}

braid_status taps_create_forward(taps *t, const braid_problem *p) { return create(t, p, 0); }

braid_status taps_create_backward(taps *t, const braid_problem *p) { return create(t, p, 1); }

void taps_destroy(taps *t) {
    memory_free(t->source[0]);
    memory_free(t->source[1]);
    memory_free(t->dense);
    *t = (taps){0};
}
