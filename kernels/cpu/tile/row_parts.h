/*
 * The rows of all streams, cut into parts that one thread works on, for the kernels that are built on rows.h. The cut
 * of a stream depends on its own shape alone, so that a stream gives the same bits in any company.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_ROW_PARTS_H
#define BRAID_KERNELS_CPU_TILE_ROW_PARTS_H

#include "kernels/cpu/isa/rows.h"
#include "kernels/kernel.h"

typedef struct row_parts {
    const row_loops *loops;
    int streams;
    int64_t rows; /* of each stream */
    int64_t part_rows[BRAID_MAX_PLANES], parts[BRAID_MAX_PLANES];
    int64_t all_parts;
    int64_t first_sum[BRAID_MAX_PLANES]; /* where the sums of a stream start in the workspace */
} row_parts;

/* Some rows of one stream. */
typedef struct row_part {
    int stream;
    int64_t index; /* among the parts of its stream */
    int64_t begin, end;
} row_part;

/* Ready the cut of [B][H][W][C] or [B][C] planes: without a workspace; with two doubles a channel for every part; or
 * with all streams side by side as one, and a double a stream for every part. Return a state for row_parts_destroy. */
braid_status row_parts_create(const braid_problem *p, const row_loops *l, void **state, size_t *workspace_bytes);
braid_status row_parts_create_sums(const braid_problem *p, const row_loops *l, void **state, size_t *workspace_bytes);
braid_status row_parts_create_joined(const braid_problem *p, const row_loops *l, void **state, size_t *workspace_bytes);
void row_parts_destroy(device *d, void *state);

/* Predicted seconds, at the rate of the loops. */
double row_parts_cost(const braid_problem *p, const machine *on, const row_loops *l);

/* Part `index` of all_parts. */
row_part row_parts_find(const row_parts *k, int64_t index);

/* Calls make for every part. */
typedef void (*row_parts_function)(const braid_problem *p, const row_loops *l, const buffers *b, const row_part *part);
void row_parts_run(const braid_problem *p, const void *state, const buffers *b, row_parts_function make);

/* The rows of a part, of the planes in three slots; -1 as a slot: none. */
row_block row_parts_block(const braid_problem *p, const buffers *b, const row_part *part, const int slots[3]);

#endif
