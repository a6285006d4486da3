/*
 * The plane shapes that ops are made of, and how random and shrunk problems choose sizes.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef BRAID_OPS_SHAPES_H
#define BRAID_OPS_SHAPES_H

#include "ops/op.h"

/* [B][H][W][C] in the dtype of the problem. */
void shape_pixels(const braid_problem *p, const int64_t hw[2], int64_t channels, int64_t pitch, plane_shape *out);

/* [B][H][W][C] of stream i as dense bytes, and its filling for a check: many levels, or few so that values tie. */
void shape_bytes(const braid_problem *p, int i, plane_shape *out);
void fill_bytes(const braid_problem *p, int i, rng *r, uint8_t *data);

/* [count] in the dtype of statistics (f32; f64 in f64), or in the dtype of the problem. */
void shape_statistics(const braid_problem *p, int64_t count, plane_shape *out);
void shape_vector(const braid_problem *p, int64_t count, plane_shape *out);

/* [rows][columns] in the dtype of the problem. */
void shape_matrix(const braid_problem *p, int64_t rows, int64_t columns, plane_shape *out);

/* [B][C] of the first stream, in the dtype of the problem. */
void shape_rows(const braid_problem *p, plane_shape *out);

/* [words] of the mask: 32 samples a word. */
void shape_mask(const braid_problem *p, plane_shape *out);

/* One int64. */
void shape_counter(plane_shape *out);

/* The most work of a random problem: thousands of them are checked against the reference in a test run. */
#define DRAW_FLOPS 3e5
#define DRAW_ELEMENTS 20000

/* A size that kernels trip over, at most `most`: ones, primes, powers of two and their neighbours. */
int64_t draw_size(rng *r, int64_t most);

/* Height, width and batch of a random problem on [B][H][W][C] planes, within DRAW_ELEMENTS; and its shrinking. */
void draw_pixels(rng *r, braid_problem *p);
void shrink_pixels(braid_problem *p);

/* Batch and channels of a random product of [B][C] and [C][K], within DRAW_FLOPS; its work; and the shrinking of all
 * problems on [B][C] planes, with or without K. */
void draw_product(rng *r, braid_problem *p);
double product_flops(const braid_problem *p);
void shrink_rows(braid_problem *p);

/* What ops with a pooling window share: what may be meant, random and shrunk windows. */
braid_status maxpool_check(const braid_problem *p);
void maxpool_draw(rng *r, braid_problem *p);
void maxpool_shrink(braid_problem *p);

/* The same for ops with convolutions: their fields without those of the bias, and operations of the products. */
#define CONV2D_FIELDS                                                                                            \
    (FIELD_BIT(n) | FIELD_BIT(b) | FIELD_BIT(hw) | FIELD_BIT(c) | FIELD_BIT(k) | FIELD_BIT(rs) | FIELD_BIT(st) | \
     FIELD_BIT(pad) | FIELD_BIT(extra) | FIELD_BIT(dil) | FIELD_BIT(g) | FIELD_BIT(mode) | FIELD_BIT(mask) |     \
     FIELD_BIT(cp) | FIELD_BIT(kp) | FIELD_BIT(tf32))
braid_status conv2d_check(const braid_problem *p);
void conv2d_shape(const braid_problem *p, int slot, int i, plane_shape *out);
double conv2d_flops(const braid_problem *p);
int64_t conv2d_terms(const braid_problem *p);
void conv2d_draw(rng *r, braid_problem *p);
void conv2d_shrink(braid_problem *p);
/* Adds a step on the outputs of the convolutions to a chain: a problem of their size, channels and pitch. */
chain_step *conv2d_chain_outputs(op_chain *c, const braid_problem *p, braid_op_id op, braid_pass pass);

/* And for ops with a linear map. */
void linear_shape(const braid_problem *p, int slot, int i, plane_shape *out);
int64_t linear_terms(const braid_problem *p);
void linear_draw(rng *r, braid_problem *p);

/* True in `percent` of the draws. */
int draw_chance(rng *r, int percent);
/* ReLU in so many of 100 cases, else one of the curved activations, or none where an op may do without. */
braid_activation draw_activation(rng *r, int relu_percent, int or_none);

/* The smallest size with the same remainder by 64 that is worth testing: at most `most`, at least 1. */
int64_t shrink_size(int64_t size, int64_t most);

/* Elements of the pixels of the problem over all streams, as a double: for bounds on work. */
double shape_total(const braid_problem *p);

#endif
