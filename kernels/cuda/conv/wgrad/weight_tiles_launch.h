/*
 * What the launchers of the weight gradients by tiles share: refusals, the cut of the work and tensor maps.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_KERNELS_CUDA_CONV_WGRAD_WEIGHT_TILES_LAUNCH_H
#define BRAID_KERNELS_CUDA_CONV_WGRAD_WEIGHT_TILES_LAUNCH_H

#include "kernels/cuda/launch/launch.h"
#include "kernels/cuda/reduce/weight_sum_launch.h"
#include "kernels/cuda/reduce/weight_tiles.h"

/* What a unit is and how it lies in shared memory. */
typedef struct weight_piece {
    int rows, columns;         /* output pixels of a unit */
    int pitch;                 /* pixels from row to row of dy, in shared memory */
    int dy_box[2], x_box[2];   /* rows and columns that one copy brings */
    int dy_boxes, x_boxes;     /* copies of a unit */
    int64_t dy_bytes, x_bytes; /* of one copy, with the zeros behind it */
} weight_piece;

/* All about one problem: the argument but for its pointers, and the piece. */
typedef struct weight_plan {
    struct weight_tiles_args args;
    weight_piece piece;
    double cycles; /* predicted, of a tile's units of one sample */
} weight_plan;

/* Why no kernel by tiles can do a weight gradient, in words; NULL: one may. */
const char *weight_tiles_refuses(const braid_problem *p, const device *d);

/* Stages of a piece that shared memory holds. */
int weight_tiles_stages(const weight_piece *piece);

/* Predicted cycles of a tile's units of one sample: of the matrix units, which take `step_cycles` for a step, or of the
 * copies. */
double weight_tiles_cycles(const weight_piece *piece, const braid_problem *p, double step_cycles);

/* Completes a plan that has its piece and, in the argument, tile_rows, tile_blocks, warpgroup_blocks and stacked. False
 * where there is too much work for one launch. */
int weight_tiles_plan(weight_plan *plan, const braid_problem *p);

/* Predicted seconds of a plan. */
double weight_tiles_cost(const weight_plan *plan, const braid_problem *p);

/* `create`, `narrow` and `destroy`: the state is a copy of the plan. */
braid_status weight_tiles_create(const weight_plan *plan, void **state, size_t *workspace_bytes);
braid_status weight_tiles_narrow(const braid_problem *p, void *state, size_t *workspace_bytes);
void weight_tiles_destroy(device *d, void *state);

/* `sums`, for weight_sum_adder: where several CTAs have left parts of a tile. */
int weight_tiles_sums(const braid_problem *p, const void *state, const buffers *b, void *to);

/* `parts`: launches the kernel, whose stem, function and threads `named` has. */
braid_status weight_tiles_launch(const weight_plan *plan, const braid_problem *p, device *d, const buffers *b,
                                 const cuda_call *named);

#endif
