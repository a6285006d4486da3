/*
 * The rows of all planes of a problem (samples of [B][C], pixels of [B][H][W][C]), cut into parts that one thread
 * works on, in f32, f16 or bf16. The parts depend on the problem alone. Halves are widened piece by piece.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_RUN_PARTS_H
#define BRAID_KERNELS_CPU_TILE_RUN_PARTS_H

#include "kernels/cpu/tile/runs.h"
#include "kernels/kernel.h"

#define RUN_PIECE 2048 /* numbers of a piece, at most */
#define RUN_VALUES 3   /* doubles of a part in the workspace of run_parts_create_sums */

typedef struct run_parts {
    const runs *runs;
    const halves *half; /* NULL: the planes are f32 */
    size_t bytes;       /* of a number in memory */
    int planes;
    int64_t count, part_rows; /* rows of a plane, and of a part at most */
    int64_t plane_parts, parts;
    int64_t width[BRAID_MAX_PLANES], pitch[BRAID_MAX_PLANES];
} run_parts;

/* Ready the parts of a problem with one plane for each stream, without a workspace or with RUN_VALUES doubles for each
 * part. Return a state for run_parts_destroy. */
braid_status run_parts_create(const braid_problem *p, const runs *r, void **state, size_t *workspace_bytes);
braid_status run_parts_create_sums(const braid_problem *p, const runs *r, void **state, size_t *workspace_bytes);
void run_parts_destroy(device *d, void *state);

/* Predicted seconds, at the rate of the loops. */
double run_parts_cost(const braid_problem *p, const runs *r);

/* The plane of a part, and its rows [begin, end). */
int run_parts_find(const run_parts *k, int64_t part, int64_t *begin, int64_t *end);

/* Numbers of a part that lie side by side, at most RUN_PIECE. */
typedef struct run_piece {
    int plane;
    int64_t first; /* number, counted without the gaps between rows */
    int64_t at;    /* where it lies in the plane */
    int64_t count;
    int64_t end; /* of the part, counted as `first` is */
} run_piece;

/* The pieces of a part: start with a piece of zeros; false when there is none left. */
int run_parts_next(const run_parts *k, int64_t part, run_piece *piece);

/* Writes the zeros behind the rows of a part. */
void run_parts_clear(const run_parts *k, int64_t part, void *plane);

/* The sum over all parts, in their order, of value `which` of the workspace. */
double run_parts_total(const run_parts *k, const buffers *b, int which);

/* Numbers of a plane from `at` on: where they lie, or widened in `room`. */
static inline const float *run_load(const run_parts *k, const void *plane, int64_t at, int64_t count, float *room) {
    if (!k->half) return (const float *)plane + at;
    k->half->widen(room, (const uint16_t *)plane + at, count);
    return room;
}

/* Where to make numbers that belong at `at`: there or in `room`, from where run_store takes them. */
static inline float *run_place(const run_parts *k, void *plane, int64_t at, float *room) {
    return k->half ? room : (float *)plane + at;
}
static inline void run_store(const run_parts *k, void *plane, int64_t at, int64_t count, const float *room) {
    if (k->half) k->half->narrow((uint16_t *)plane + at, room, count);
}

#endif
