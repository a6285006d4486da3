/*
 * The rows of all planes of a problem (samples of [B][C], pixels of [B][H][W][C]), cut into parts that one thread
 * works on, in f32, f16 or bf16. The parts depend on the problem alone. Halves are widened piece by piece.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CPU_TILE_FLAT_PARTS_H
#define BRAID_KERNELS_CPU_TILE_FLAT_PARTS_H

#include "kernels/cpu/isa/flat.h"
#include "kernels/kernel.h"

#define FLAT_PIECE 2048 /* numbers of a piece, at most */
#define FLAT_VALUES 3   /* doubles of a part in the workspace of flat_parts_create_sums */

typedef struct flat_parts {
    const flat_loops *flat;
    const halves *half; /* NULL: the planes are f32 */
    size_t bytes;       /* of a number in memory */
    int planes;
    int64_t count, part_rows; /* rows of a plane, and of a part at most */
    int64_t plane_parts, parts;
    int64_t width[BRAID_MAX_PLANES], pitch[BRAID_MAX_PLANES];
} flat_parts;

/* Ready the parts of a problem with one plane for each stream, without a workspace or with FLAT_VALUES doubles for each
 * part. Return a state for flat_parts_destroy. */
braid_status flat_parts_create(const braid_problem *p, const flat_loops *r, void **state, size_t *workspace_bytes);
braid_status flat_parts_create_sums(const braid_problem *p, const flat_loops *r, void **state, size_t *workspace_bytes);
void flat_parts_destroy(device *d, void *state);

/* Predicted seconds, at the rate of the loops. */
double flat_parts_cost(const braid_problem *p, const machine *on, const flat_loops *r);

/* The plane of a part, and its rows [begin, end). */
int flat_parts_find(const flat_parts *k, int64_t part, int64_t *begin, int64_t *end);

/* Numbers of a part that lie side by side, at most FLAT_PIECE. */
typedef struct flat_piece {
    int plane;
    int64_t first; /* number, counted without the gaps between rows */
    int64_t at;    /* where it lies in the plane */
    int64_t count;
    int64_t end; /* of the part, counted as `first` is */
} flat_piece;

/* The pieces of a part: start with a piece of zeros; false when there is none left. */
int flat_parts_next(const flat_parts *k, int64_t part, flat_piece *piece);

/* Writes the zeros behind the rows of a part. */
void flat_parts_clear(const flat_parts *k, int64_t part, void *plane);

/* The sum over all parts, in their order, of value `which` of the workspace. */
double flat_parts_total(const flat_parts *k, const buffers *b, int which);

/* Numbers of a plane from `at` on: where they lie, or widened in `room`. */
static inline const float *flat_load(const flat_parts *k, const void *plane, int64_t at, int64_t count, float *room) {
    if (!k->half) return (const float *)plane + at;
    k->half->widen(room, (const uint16_t *)plane + at, count);
    return room;
}

/* Where to make numbers that belong at `at`: there or in `room`, from where flat_store takes them. */
static inline float *flat_place(const flat_parts *k, void *plane, int64_t at, float *room) {
    return k->half ? room : (float *)plane + at;
}
static inline void flat_store(const flat_parts *k, void *plane, int64_t at, int64_t count, const float *room) {
    if (k->half) k->half->narrow((uint16_t *)plane + at, room, count);
}

#endif
