/*
 * The first pass of bn_act_pool's gradients.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/norm/bn_act_pool_gradient.h"

#include "core/memory.h"
#include "core/sizes.h"
#include "kernels/cpu/isa/copy.h"
#include "kernels/cpu/tile/pool_gradient.h"

static braid_status grow(size_t *bytes, size_t by) {
    if (size_add(*bytes, by, bytes) && size_align(*bytes, MEMORY_DEVICE_ALIGNMENT, bytes)) return BRAID_OK;
    return fail(BRAID_ERROR_MEMORY, "bn_act_pool: expected a workspace that fits in 64 bits");
}

static braid_status place_planes(const braid_problem *p, bn_act_pool_state *s, size_t *bytes) {
    TRY(grow(bytes, 0));
    s->rest = *bytes;
    for (int i = 0; i < p->streams; i++) {
        braid_operand_info info;
        TRY(op_operand_info(p, BN_FUSED_X, &info));
        s->place[i] = *bytes - s->rest;
        TRY(grow(bytes, info.bytes[i]));
    }
    return BRAID_OK;
}

typedef braid_status (*chunks_creator)(const braid_problem *p, const channel_loops *l, void **state,
                                       size_t *workspace_bytes);

static braid_status create(const braid_problem *p, const channel_loops *l, chunks_creator make, void **state,
                           size_t *bytes) {
    bn_act_pool_state *s = NULL;
    TRY(memory_calloc(1, sizeof *s, "state of bn_act_pool", (void **)&s));
    braid_status status = make(p, l, &s->chunks, bytes);
    if (!status) status = place_planes(p, s, bytes);
    if (status) {
        bn_act_pool_destroy(NULL, s);
        return status;
    }
    *state = s;
    return BRAID_OK;
}

braid_status bn_act_pool_create(const braid_problem *p, const channel_loops *l, void **state, size_t *workspace_bytes) {
    return create(p, l, chunks_create, state, workspace_bytes);
}

braid_status bn_act_pool_create_sums(const braid_problem *p, const channel_loops *l, void **state,
                                     size_t *workspace_bytes) {
    return create(p, l, chunks_create_sums, state, workspace_bytes);
}

void bn_act_pool_destroy(device *d, void *state) {
    bn_act_pool_state *s = state;
    if (s) chunks_destroy(d, s->chunks);
    memory_free(s);
}

void bn_act_pool_ready(const braid_problem *p, const bn_act_pool_state *s, const buffers *b, buffers *out) {
    const chunks *k = s->chunks;
    pool_gradient g = {.x = BN_FUSED_X,
                       .dy = BN_FUSED_DY,
                       .dx = BN_ACT_POOL_G,
                       .normalised = 1,
                       .scale = BN_FUSED_SCALE,
                       .shift = BN_FUSED_SHIFT,
                       .mask = BN_FUSED_MASK};
    *out = *b;
    for (int i = 0; i < p->streams; i++) out->plane[BN_ACT_POOL_G][i] = (char *)b->workspace + s->rest + s->place[i];
    pool_gradient_run(&g, p, k->loops, out);
}
