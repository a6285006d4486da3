/*
 * The chain of batch normalisation and its gradients.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/bn_chain.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/gradients.h"

braid_problem bn_problem_of(const braid_problem *p, braid_op_id op) {
    uint64_t fields = op_find(op)->fields;
    braid_problem q = *p;
    q.op = op;
    if (!(fields & FIELD_BIT(phase))) q.phase = BRAID_PHASE_TRAIN;
    if (!(fields & FIELD_BIT(avg))) q.average = BRAID_AVERAGE_EXPONENTIAL;
    if (!(fields & FIELD_BIT(eps))) q.eps = 0;
    if (!(fields & FIELD_BIT(mom))) q.momentum = 0;
    if (!(fields & FIELD_BIT(cp))) memset(q.in_pitch, 0, sizeof q.in_pitch);
    return q;
}

static braid_status ready(rig *r, const braid_problem *p, braid_op_id op, device *d, const kernel *one, uint64_t seed) {
    braid_problem q = bn_problem_of(p, op);
    TRY(braid_problem_check(&q));
    const kernel *k = one && one->op == op ? one : able_kernel(&q, d, 0);
    return rig_create(r, &q, d, k, IMAGE_REAL, seed);
}

/* Every plane of one operand becomes that of another rig. */
static void copy_operand(rig *to, int to_slot, const rig *from, int from_slot) {
    for (int i = 0; i < to->problem.streams && op_role(&to->problem, to_slot) != ROLE_NONE; i++) {
        memcpy(rig_plane(to, to_slot, i), rig_plane(from, from_slot, i), to->layout.plane_bytes[to_slot][i]);
    }
}

static void copy_masks(bn_chain *c) {
    copy_operand(&c->finalize, BN_FINALIZE_MASK, &c->stats, BN_STATS_MASK);
    copy_operand(&c->apply, BN_APPLY_MASK, &c->stats, BN_STATS_MASK);
    copy_operand(&c->sums, BN_BWD_REDUCE_MASK, &c->stats, BN_STATS_MASK);
    copy_operand(&c->bn_bwd_apply, BN_BWD_APPLY_MASK, &c->stats, BN_STATS_MASK);
}

braid_status bn_chain_create(bn_chain *c, const braid_problem *p, device *d, const kernel *one, uint64_t seed) {
    *c = (bn_chain){.train = p->phase == BRAID_PHASE_TRAIN};
    braid_status status = ready(&c->stats, p, BRAID_OP_BN_STATS, d, one, seed);
    if (!status) status = ready(&c->finalize, p, BRAID_OP_BN_FINALIZE, d, one, seed + 1);
    if (!status) status = ready(&c->apply, p, BRAID_OP_BN_APPLY, d, one, seed + 2);
    if (!status) status = ready(&c->sums, p, BRAID_OP_BN_BWD_REDUCE, d, one, seed + 3);
    if (!status) status = ready(&c->bn_bwd_apply, p, BRAID_OP_BN_BWD_APPLY, d, one, seed + 4);
    if (status)
        bn_chain_destroy(c);
    else
        copy_masks(c);
    return status;
}

void bn_chain_destroy(bn_chain *c) {
    rig_destroy(&c->stats);
    rig_destroy(&c->finalize);
    rig_destroy(&c->apply);
    rig_destroy(&c->sums);
    rig_destroy(&c->bn_bwd_apply);
}

braid_status bn_chain_forward(bn_chain *c) {
    copy_masks(c);
    if (c->train) {
        TRY(rig_run(&c->stats));
        copy_operand(&c->finalize, BN_FINALIZE_MEAN, &c->stats, BN_STATS_MEAN);
        copy_operand(&c->finalize, BN_FINALIZE_VAR, &c->stats, BN_STATS_VAR);
    }
    TRY(rig_run(&c->finalize));
    copy_operand(&c->apply, BN_APPLY_X, &c->stats, BN_STATS_X);
    copy_operand(&c->apply, BN_APPLY_SCALE, &c->finalize, BN_FINALIZE_SCALE);
    copy_operand(&c->apply, BN_APPLY_SHIFT, &c->finalize, BN_FINALIZE_SHIFT);
    return rig_run(&c->apply);
}

braid_status bn_chain_backward(bn_chain *c) {
    copy_operand(&c->sums, BN_BWD_REDUCE_X, &c->stats, BN_STATS_X);
    copy_operand(&c->sums, BN_BWD_REDUCE_CENTER, &c->finalize, BN_FINALIZE_CENTER);
    copy_operand(&c->sums, BN_BWD_REDUCE_RSTD, &c->finalize, BN_FINALIZE_RSTD);
    TRY(rig_run(&c->sums));
    copy_operand(&c->bn_bwd_apply, BN_BWD_APPLY_X, &c->stats, BN_STATS_X);
    copy_operand(&c->bn_bwd_apply, BN_BWD_APPLY_DY, &c->sums, BN_BWD_REDUCE_DY);
    copy_operand(&c->bn_bwd_apply, BN_BWD_APPLY_CENTER, &c->finalize, BN_FINALIZE_CENTER);
    copy_operand(&c->bn_bwd_apply, BN_BWD_APPLY_RSTD, &c->finalize, BN_FINALIZE_RSTD);
    copy_operand(&c->bn_bwd_apply, BN_BWD_APPLY_GAMMA, &c->finalize, BN_FINALIZE_GAMMA);
    copy_operand(&c->bn_bwd_apply, BN_BWD_APPLY_DGAMMA, &c->sums, BN_BWD_REDUCE_DGAMMA);
    copy_operand(&c->bn_bwd_apply, BN_BWD_APPLY_DBETA, &c->sums, BN_BWD_REDUCE_DBETA);
    return rig_run(&c->bn_bwd_apply);
}

/* ---- Gradients ----------------------------------------------------------------------------- */

static double chain_loss(void *context) {
    bn_chain *c = context;
    return bn_chain_forward(c) ? NAN : rig_inner(&c->apply, BN_APPLY_Y, &c->sums, BN_BWD_REDUCE_DY);
}

static void check_chain(suite *s, const braid_problem *p) {
    bn_chain c;
    char what[64];
    snprintf(what, sizeof what, "batch normalisation, %s%s", p->phase == BRAID_PHASE_TRAIN ? "train" : "eval",
             p->mask ? ", masked" : "");
    braid_status status = bn_chain_create(&c, p, s->device, NULL, s->seed);
    if (!status) status = bn_chain_forward(&c);
    if (!status) status = bn_chain_backward(&c);
    suite_expect(s, status == BRAID_OK, "gradients of %s: %s", what, braid_message());
    if (!status) {
        check_gradient(s, what, &c.stats, BN_STATS_X, &c.bn_bwd_apply, BN_BWD_APPLY_DX, chain_loss, &c);
        check_gradient(s, what, &c.finalize, BN_FINALIZE_GAMMA, &c.sums, BN_BWD_REDUCE_DGAMMA, chain_loss, &c);
        check_gradient(s, what, &c.finalize, BN_FINALIZE_BETA, &c.sums, BN_BWD_REDUCE_DBETA, chain_loss, &c);
    }
    bn_chain_destroy(&c);
}

void bn_gradients(suite *s) {
    braid_problem p = {.dtype = BRAID_DTYPE_F64, .streams = 2, .batch = 4, .size = {2, 3}, .in_channels = {3, 2}};
    for (int phase = 0; phase < BRAID_PHASE_COUNT; phase++) {
        for (p.mask = 0; p.mask < 2; p.mask++) {
            p.phase = (braid_phase)phase;
            check_chain(s, &p);
        }
    }
    if (!s->whole) return;
    braid_problem wide = {.dtype = BRAID_DTYPE_F64,
                          .streams = 3,
                          .batch = 7,
                          .size = {3, 2},
                          .in_channels = {5, 1, 4},
                          .in_pitch = {8, 2, 4},
                          .mask = 1,
                          .eps = 1e-2};
    check_chain(s, &wide);
    braid_problem flat = {.dtype = BRAID_DTYPE_F64,
                          .streams = 9,
                          .batch = 2,
                          .size = {1, 1},
                          .in_channels = {1, 1, 1, 1, 1, 1, 1, 1, 1},
                          .eps = 1e-1};
    check_chain(s, &flat);
}
