/*
 * The parts of flat_parts.h: as many rows as the second-level cache holds of the widest plane.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/flat_parts.h"

#include "core/dtype.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "kernels/cpu/isa/cost.h"
#include "kernels/cpu/isa/copy.h"

#define PART_NUMBERS 16384 /* of the widest plane: 64 KiB in f32 */

static braid_status fill(flat_parts *k, const braid_problem *p) {
    int has_pixels = (op_of(p)->fields & FIELD_BIT(hw)) != 0;
    const int64_t dims[3] = {p->batch, has_pixels ? p->size[0] : 1, has_pixels ? p->size[1] : 1};
    int64_t widest = 1;
    TRY(size_elements(dims, 3, "rows", &k->count));
    for (int i = 0; i < k->planes; i++) {
        k->width[i] = p->in_channels[i];
        k->pitch[i] = p->in_pitch[i];
        if (k->width[i] > widest) widest = k->width[i];
    }
    k->part_rows = widest < PART_NUMBERS ? PART_NUMBERS / widest : 1;
    k->plane_parts = ceil_div(k->count, k->part_rows);
    k->parts = k->planes * k->plane_parts;
    return BRAID_OK;
}

braid_status flat_parts_create(const braid_problem *p, const flat_loops *r, void **state, size_t *workspace_bytes) {
    flat_parts *k = NULL;
    *workspace_bytes = 0;
    TRY(memory_calloc(1, sizeof *k, "state of a pass over runs of numbers", (void **)&k));
    k->flat = r;
    k->half = p->dtype == BRAID_DTYPE_BF16 ? &r->loops->bf16 : p->dtype == BRAID_DTYPE_F16 ? &r->loops->f16 : NULL;
    k->bytes = dtype_bytes(p->dtype);
    k->planes = p->streams;
    braid_status status = fill(k, p);
    if (status) {
        memory_free(k);
        return status;
    }
    *state = k;
    return BRAID_OK;
}

braid_status flat_parts_create_sums(const braid_problem *p, const flat_loops *r, void **state,
                                    size_t *workspace_bytes) {
    TRY(flat_parts_create(p, r, state, workspace_bytes));
    const flat_parts *k = *state;
    const int64_t dims[2] = {k->parts, FLAT_VALUES};
    int64_t values;
    braid_status status = size_elements(dims, 2, "sums of parts", &values);
    if (!status) status = size_array((size_t)values, sizeof(double), "sums of parts", workspace_bytes);
    if (status) flat_parts_destroy(NULL, *state);
    return status;
}

void flat_parts_destroy(device *d, void *state) {
    (void)d;
    memory_free(state);
}

double flat_parts_cost(const braid_problem *p, const machine *on, const flat_loops *r) {
    return cost_seconds(p, on, r->loops->flops, 2, 2e-6);
}

int flat_parts_find(const flat_parts *k, int64_t part, int64_t *begin, int64_t *end) {
    *begin = part % k->plane_parts * k->part_rows;
    *end = at_most(*begin + k->part_rows, k->count);
    return (int)(part / k->plane_parts);
}

int flat_parts_next(const flat_parts *k, int64_t part, flat_piece *piece) {
    int64_t begin, end, next = piece->first + piece->count;
    piece->plane = flat_parts_find(k, part, &begin, &end);
    int64_t width = k->width[piece->plane], pitch = k->pitch[piece->plane];
    piece->end = end * width;
    piece->first = piece->count ? next : begin * width;
    if (piece->first >= piece->end) return 0;
    int64_t column = piece->first % width, left = width == pitch ? piece->end - piece->first : width - column;
    piece->at = piece->first / width * pitch + column;
    piece->count = at_most(left, FLAT_PIECE);
    return 1;
}

void flat_parts_clear(const flat_parts *k, int64_t part, void *plane) {
    int64_t begin, end;
    int i = flat_parts_find(k, part, &begin, &end);
    if (k->width[i] == k->pitch[i]) return;
    for (int64_t row = begin; row < end; row++) {
        size_t gap = (size_t)(k->pitch[i] - k->width[i]) * k->bytes;
        memset((char *)plane + (size_t)(row * k->pitch[i] + k->width[i]) * k->bytes, 0, gap);
    }
}

double flat_parts_total(const flat_parts *k, const buffers *b, int which) {
    const double *values = b->workspace;
    double sum = 0;
    for (int64_t part = 0; part < k->parts; part++) sum += values[part * FLAT_VALUES + which];
    return sum;
}
