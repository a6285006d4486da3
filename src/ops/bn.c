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

void bn_fused_shape(const braid_problem *p, int slot, int i, const int64_t out_size[2], plane_shape *out) {
    switch (slot) {
        case BN_FUSED_X:
        case BN_FUSED_DX:
        case BN_FUSED_Z:
        case BN_FUSED_DZ: bn_shape_pixels(p, i, out); break;
        case BN_FUSED_Y:
        case BN_FUSED_DY: shape_pixels(p, out_size, p->in_channels[i], p->in_pitch[i], out); break;
        case BN_FUSED_MASK: shape_mask(p, out); break;
        default: bn_shape_channels(p, i, out); break;
    }
}

int bn_fused_planes(const braid_problem *p, int slot) {
    if (slot == BN_FUSED_MASK) return p->mask ? p->streams : 0;
    if (slot == BN_FUSED_ZSCALE || slot == BN_FUSED_ZSHIFT) return p->residual_norm ? p->streams : 0;
    return p->streams;
}

void bn_chain_sums(op_chain *c, const braid_problem *p, int dy) {
    chain_step *s = chain_add(c, p, BRAID_OP_BN_BWD_REDUCE, BRAID_PASS_FWD);
    s->place[BN_BWD_REDUCE_X] = BN_FUSED_X;
    s->place[BN_BWD_REDUCE_DY] = dy;
    s->place[BN_BWD_REDUCE_CENTER] = BN_FUSED_CENTER;
    s->place[BN_BWD_REDUCE_RSTD] = BN_FUSED_RSTD;
    s->place[BN_BWD_REDUCE_MASK] = BN_FUSED_MASK;
    s->place[BN_BWD_REDUCE_DGAMMA] = BN_FUSED_DGAMMA;
    s->place[BN_BWD_REDUCE_DBETA] = BN_FUSED_DBETA;
}

void bn_chain_bwd_apply(op_chain *c, const braid_problem *p, int dy) {
    chain_step *s = chain_add(c, p, BRAID_OP_BN_BWD_APPLY, BRAID_PASS_FWD);
    s->place[BN_BWD_APPLY_X] = BN_FUSED_X;
    s->place[BN_BWD_APPLY_DY] = dy;
    s->place[BN_BWD_APPLY_CENTER] = BN_FUSED_CENTER;
    s->place[BN_BWD_APPLY_RSTD] = BN_FUSED_RSTD;
    s->place[BN_BWD_APPLY_GAMMA] = BN_FUSED_GAMMA;
    s->place[BN_BWD_APPLY_DGAMMA] = BN_FUSED_DGAMMA;
    s->place[BN_BWD_APPLY_DBETA] = BN_FUSED_DBETA;
    s->place[BN_BWD_APPLY_MASK] = BN_FUSED_MASK;
    s->place[BN_BWD_APPLY_DX] = BN_FUSED_DX;
}

void bn_chain_apply(op_chain *c, const braid_problem *p, int y) {
    chain_step *s = chain_add(c, p, BRAID_OP_BN_APPLY, BRAID_PASS_FWD);
    s->place[BN_APPLY_X] = BN_FUSED_X;
    s->place[BN_APPLY_SCALE] = BN_FUSED_SCALE;
    s->place[BN_APPLY_SHIFT] = BN_FUSED_SHIFT;
    s->place[BN_APPLY_MASK] = BN_FUSED_MASK;
    s->place[BN_APPLY_Y] = y;
}

void bn_chain_act(op_chain *c, const braid_problem *p, int x, int y) {
    chain_step *s = chain_add(c, p, BRAID_OP_ACT, BRAID_PASS_FWD);
    s->place[ACT_X] = x;
    s->place[ACT_Y] = y;
}

void bn_chain_act_gradient(op_chain *c, const braid_problem *p, int x, int dy, int dx) {
    chain_step *s = chain_add(c, p, BRAID_OP_ACT, BRAID_PASS_BWD_DATA);
    s->place[ACT_X] = x;
    s->place[ACT_Y] = dy;
    s->place[ACT_DX] = dx;
}

int64_t bn_terms(const braid_problem *p) {
    int64_t values = p->batch * p->size[0] * p->size[1];
    return values < 1 ? 1 : values;
}

void bn_draw(rng *r, braid_problem *p) {
    draw_pixels(r, p);
    if (p->phase == BRAID_PHASE_TRAIN && bn_terms(p) < 2) p->size[0] = 2;
}

void bn_draw_average(rng *r, braid_problem *p) {
    p->average = draw_chance(r, 70) ? BRAID_AVERAGE_EXPONENTIAL : BRAID_AVERAGE_CUMULATIVE;
    p->momentum = draw_chance(r, 50) ? 0.1 : 0.01 * (double)rng_between(r, 1, 99);
}

braid_status bn_check_train(const braid_problem *p) {
    const int64_t axes[3] = {p->batch, p->size[0], p->size[1]};
    int64_t values;
    TRY(size_elements(axes, 3, op_of(p)->name, &values));
    if (p->phase == BRAID_PHASE_TRAIN && values == 1) {
        return fail_with(BRAID_ERROR_ARGUMENT, BRAID_DETAIL_SMALL_BATCH,
                         "%s: expected more than 1 value per channel with phase=train, got b1 and hw1x1; "
                         "use a larger batch or phase=eval",
                         op_of(p)->name);
    }
    return BRAID_OK;
}

braid_status bn_check_active(const braid_problem *p, int i, int64_t active) {
    if (p->phase == BRAID_PHASE_TRAIN && active * p->size[0] * p->size[1] == 1) {
        return fail_with(BRAID_ERROR_ARGUMENT, BRAID_DETAIL_SMALL_BATCH,
                         "%s: expected more than 1 value per channel when training, got 1 in stream %d "
                         "(1 active sample of 1x1)",
                         op_of(p)->name, i);
    }
    return BRAID_OK;
}
