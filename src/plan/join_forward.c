/*
 * The statistics of a batch and the normalisation that reads them become one call, where a kernel does both in less
 * time than two:
 *
 *   bn_prepare, then the forward pass of bn_act or bn_add_act -> bn_norm
 *
 * The normalised planes may be the last ones of those that have statistics. Where a residual is normalised too, and
 * nothing else reads its statistics before, these are made in the same call. A bn_act only where nothing is made again
 * to save memory: remake.c makes its result again, not that of a bn_norm.
 *
 * SPDX-License-Identifier: MIT
 */
#include "plan/program.h"

static int is_forward(const call *c) {
    return c->segment == BRAID_SEGMENT_FORWARD && !c->is_view && !c->is_absorbed && c->problem.pass == BRAID_PASS_FWD;
}

static int is_norm(const program *p, const call *c) {
    if (!is_forward(c) || c->problem.phase != BRAID_PHASE_TRAIN) return 0;
    return c->problem.op == BRAID_OP_BN_ADD_ACT || (c->problem.op == BRAID_OP_BN_ACT && p->options.keep_all);
}

/* 1 where the last planes of a bn_prepare are those whose values, scales and shifts a call reads at these slots, with
 * the same samples blanked. */
static int is_prepared(const call *stats, const call *norm, int x, int scale, int shift) {
    const int first = stats->problem.streams - norm->problem.streams;
    if (first < 0 || stats->problem.mask != norm->problem.mask) return 0;
    for (int i = 0; i < norm->problem.streams; i++) {
        if (stats->tensor[BN_PREPARE_MASK][first + i] != norm->tensor[BN_FUSED_MASK][i] ||
            stats->tensor[BN_PREPARE_X][first + i] != norm->tensor[x][i] ||
            stats->tensor[BN_PREPARE_SCALE][first + i] != norm->tensor[scale][i] ||
            stats->tensor[BN_PREPARE_SHIFT][first + i] != norm->tensor[shift][i])
            return 0;
    }
    return 1;
}

/* The bn_prepare of what call `norm` reads at these slots, if it can wait for it; -1: there is none. */
static int find_stats(const program *p, int norm, int x, int scale, int shift) {
    for (int j = norm - 1; j >= 0; j--) {
        const call *c = &p->calls[j];
        if (is_forward(c) && c->problem.op == BRAID_OP_BN_PREPARE && is_prepared(c, &p->calls[norm], x, scale, shift))
            return program_may_move(p, &p->calls[j], j + 1, norm) ? j : -1;
    }
    return -1;
}

/* 1 where both normalise alike: planes of the same size, by statistics that are kept in the same way. */
static int is_alike(const call *a, const call *b) {
    return a->problem.streams == b->problem.streams && a->problem.average == b->problem.average &&
           a->problem.each == b->problem.each && a->problem.eps == b->problem.eps &&
           a->problem.momentum == b->problem.momentum && a->problem.mask == b->problem.mask &&
           a->problem.size[0] == b->problem.size[0] && a->problem.size[1] == b->problem.size[1];
}

/* Binds planes of a bn_prepare from plane `first` of a bn_norm on; its batches are counted in plane `batches`. */
static void bind_stats(call *c, const call *stats, int first, int batches) {
    for (int i = 0; i < stats->problem.streams; i++) {
        c->problem.in_channels[first + i] = stats->problem.in_channels[i];
        c->problem.in_pitch[first + i] = stats->problem.in_pitch[i];
        for (int slot = BN_PREPARE_X; slot <= BN_PREPARE_SHIFT; slot++) {
            if (slot != BN_PREPARE_BATCHES) c->tensor[slot][first + i] = stats->tensor[slot][i];
        }
    }
    c->tensor[BN_PREPARE_BATCHES][batches] = stats->tensor[BN_PREPARE_BATCHES][0];
}

/* The call of a normalisation and its statistics, and of its residual's; `residual` may be NULL. */
static call join(const program *p, const call *stats, const call *residual, const call *norm) {
    const int planes = norm->problem.streams, both = residual ? planes : 0;
    call c = call_start(p, BRAID_OP_BN_NORM, BRAID_PASS_FWD, &stats->problem);
    c.natural = stats->natural + norm->natural + (residual ? residual->natural : 0);
    c.problem.dtype = stats->problem.dtype;
    c.problem.activation = norm->problem.activation;
    c.problem.add = norm->problem.op == BRAID_OP_BN_ADD_ACT;
    c.problem.residual_norm = residual ? BN_NORM_OWN_RESIDUALS : norm->problem.residual_norm;
    c.problem.streams = both + stats->problem.streams;
    c.problem.skip = c.problem.streams - planes;
    if (residual) bind_stats(&c, residual, 0, 0);
    bind_stats(&c, stats, both, residual != NULL);
    call_bind(&c, BN_NORM_Y, norm->tensor[BN_FUSED_Y], planes);
    if (c.problem.add && !residual) {
        call_bind(&c, BN_NORM_Z, norm->tensor[BN_FUSED_Z], planes);
        call_bind(&c, BN_NORM_ZSCALE, norm->tensor[BN_FUSED_ZSCALE], planes);
        call_bind(&c, BN_NORM_ZSHIFT, norm->tensor[BN_FUSED_ZSHIFT], planes);
    }
    return c;
}

/* Puts one call in the place of a normalisation, if there is a kernel for it. */
static int replace(program *p, int stats, int residual, int norm) {
    const program_options *o = &p->options;
    call c = join(p, &p->calls[stats], residual < 0 ? NULL : &p->calls[residual], &p->calls[norm]);
    if (braid_problem_check(&c.problem) != BRAID_OK || !o->has_kernel(o->user, &c.problem)) return 0;
    p->calls[norm] = c;
    p->calls[stats].is_absorbed = 1;
    if (residual >= 0) p->calls[residual].is_absorbed = 1;
    return 1;
}

void program_join_forward(program *p) {
    for (int j = 0; j < p->call_count && p->options.has_kernel; j++) {
        if (!is_norm(p, &p->calls[j])) continue;
        const int stats = find_stats(p, j, BN_FUSED_X, BN_FUSED_SCALE, BN_FUSED_SHIFT);
        const int residual = p->calls[j].problem.residual_norm && stats >= 0
                                 ? find_stats(p, j, BN_FUSED_Z, BN_FUSED_ZSCALE, BN_FUSED_ZSHIFT)
                                 : -1;
        if (stats < 0) continue;
        if (residual >= 0 && is_alike(&p->calls[stats], &p->calls[residual]) &&
            p->calls[stats].problem.streams == p->calls[j].problem.streams && replace(p, stats, residual, j))
            continue;
        replace(p, stats, -1, j);
    }
}
