/*
 * The cut of row_parts.h: parts of about as many values as a first-level cache holds; where every part has sums of
 * its own for every channel, they are fewer and longer.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/row_parts.h"

#include "core/dtype.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "core/threads.h"
#include "kernels/cpu/isa/cost.h"
#include "kernels/cpu/isa/copy.h"

#define PART_VALUES 8192
#define SUMS_ROWS 64   /* of a part with sums of every channel, at least */
#define SUMS_PARTS 256 /* of a stream, at most */

static int64_t at_least(int64_t value, int64_t least) { return value > least ? value : least; }

/* Cuts stream i; `sums` doubles for each of its parts go into the workspace. */
static braid_status cut_stream(row_parts *k, int i, int64_t channels, int64_t sums, int64_t *doubles) {
    int64_t rows = at_least(PART_VALUES / channels, 1), stream_doubles = 0;
    if (sums >= channels) rows = at_least(at_least(rows, SUMS_ROWS), ceil_div(k->rows, SUMS_PARTS));
    k->part_rows[i] = rows;
    k->parts[i] = ceil_div(k->rows, rows);
    k->all_parts += k->parts[i];
    k->first_sum[i] = *doubles;
    TRY(size_elements((const int64_t[2]){k->parts[i], sums}, 2, "sums of every part", &stream_doubles));
    *doubles += stream_doubles;
    return BRAID_OK;
}

static braid_status fill(row_parts *k, const braid_problem *p, int per_channel, int joined, size_t *bytes) {
    int has_pixels = (op_of(p)->fields & FIELD_BIT(hw)) != 0;
    const int64_t dims[3] = {p->batch, has_pixels ? p->size[0] : 1, has_pixels ? p->size[1] : 1};
    int64_t doubles = 0, width = 0;
    TRY(size_elements(dims, 3, "rows", &k->rows));
    k->streams = joined ? 1 : p->streams;
    for (int i = 0; i < p->streams; i++) width += p->in_channels[i];
    for (int i = 0; i < k->streams; i++) {
        int64_t channels = joined ? width : p->in_channels[i], sums = joined ? p->streams : per_channel * channels;
        TRY(cut_stream(k, i, channels, sums, &doubles));
    }
    return size_array((size_t)doubles, sizeof(double), "sums of every part", bytes);
}

static braid_status create(const braid_problem *p, const row_loops *l, int per_channel, int joined, void **state,
                           size_t *workspace_bytes) {
    row_parts *k = NULL;
    TRY(memory_calloc(1, sizeof *k, "state of a pass over rows", (void **)&k));
    k->loops = l;
    braid_status status = fill(k, p, per_channel, joined, workspace_bytes);
    if (status)
        memory_free(k);
    else
        *state = k;
    return status;
}

braid_status row_parts_create(const braid_problem *p, const row_loops *l, void **state, size_t *workspace_bytes) {
    return create(p, l, 0, 0, state, workspace_bytes);
}

braid_status row_parts_create_sums(const braid_problem *p, const row_loops *l, void **state, size_t *workspace_bytes) {
    return create(p, l, 2, 0, state, workspace_bytes);
}

braid_status row_parts_create_joined(const braid_problem *p, const row_loops *l, void **state,
                                     size_t *workspace_bytes) {
    return create(p, l, 0, 1, state, workspace_bytes);
}

void row_parts_destroy(device *d, void *state) {
    (void)d;
    memory_free(state);
}

double row_parts_cost(const braid_problem *p, const machine *on, const row_loops *l) {
    return cost_seconds(p, on, l->flops, 1, 2e-6);
}

row_part row_parts_find(const row_parts *k, int64_t index) {
    row_part part = {.index = index};
    while (part.index >= k->parts[part.stream]) part.index -= k->parts[part.stream++];
    part.begin = part.index * k->part_rows[part.stream];
    part.end = at_most(part.begin + k->part_rows[part.stream], k->rows);
    return part;
}

static void *plane_of(const braid_problem *p, const buffers *b, const row_part *part, int slot) {
    if (slot < 0) return NULL;
    return plane_to(b->plane[slot][part->stream], part->begin * p->in_pitch[part->stream], dtype_bytes(p->dtype));
}

row_block row_parts_block(const braid_problem *p, const buffers *b, const row_part *part, const int slots[3]) {
    return (row_block){.dtype = p->dtype,
                       .channels = p->in_channels[part->stream],
                       .pitch = p->in_pitch[part->stream],
                       .count = part->end - part->begin,
                       .x = plane_of(p, b, part, slots[0]),
                       .dy = plane_of(p, b, part, slots[1]),
                       .out = plane_of(p, b, part, slots[2])};
}

typedef struct row_work {
    const braid_problem *p;
    const row_parts *k;
    const buffers *b;
    row_parts_function make;
} row_work;

static void run_part(void *context, int64_t index) {
    const row_work *w = context;
    const row_part part = row_parts_find(w->k, index);
    w->make(w->p, w->k->loops, w->b, &part);
}

void row_parts_run(const braid_problem *p, const void *state, const buffers *b, row_parts_function make) {
    row_work w = {p, state, b, make};
    threads_for(w.k->all_parts, run_part, &w);
}
