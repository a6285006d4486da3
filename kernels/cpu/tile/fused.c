/*
 * The parts of fused.h.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/cpu/tile/fused.h"

#include "core/memory.h"
#include "core/sizes.h"
#include "kernels/cpu/tile/indirect_gemm.h"

const fused_tile fused_amx_bf16 = {&gemm_amx_bf16, &channels_avx512_bf16};
const fused_tile fused_avx512_bf16 = {&gemm_avx512_bf16, &channels_avx512_bf16};
const fused_tile fused_avx512 = {&gemm_avx512, &channels_avx512};
const fused_tile fused_avx2 = {&gemm_avx2, &channels_avx2};
const fused_tile fused_portable = {&gemm_portable, &channels_portable};

const fused_winograd fused_winograd_avx512 = {&winograd_avx512, &fused_avx512};
const fused_winograd fused_winograd_avx2 = {&winograd_avx2, &fused_avx2};
const fused_winograd fused_winograd_portable = {&winograd_portable, &fused_portable};

braid_problem fused_problem(const braid_problem *p, braid_op_id op) {
    op_chain one = {0};
    return chain_add(&one, p, op, p->pass)->problem;
}

braid_status fused_reserve(size_t *workspace_bytes, size_t bytes, size_t *at) {
    *at = *workspace_bytes;
    if (size_add(*workspace_bytes, bytes, &bytes) && size_align(bytes, MEMORY_DEVICE_ALIGNMENT, workspace_bytes))
        return BRAID_OK;
    return fail(BRAID_ERROR_MEMORY, "workspace of a fused kernel: expected its size to fit 64 bits");
}

braid_status fused_reserve_planes(const braid_problem *p, int slot, size_t *workspace_bytes,
                                  size_t at[BRAID_MAX_PLANES]) {
    for (int i = 0; i < p->streams; i++) {
        plane_shape s;
        size_t bytes = 0;
        op_of(p)->shape(p, slot, i, &s);
        TRY(size_tensor(s.dims, s.rank, s.pitch, s.dtype, "workspace of a fused kernel", &bytes));
        TRY(fused_reserve(workspace_bytes, bytes, &at[i]));
    }
    return BRAID_OK;
}

void fused_planes(void *workspace, const size_t at[BRAID_MAX_PLANES], int count, void *plane[BRAID_MAX_PLANES]) {
    for (int i = 0; i < count; i++) plane[i] = (unsigned char *)workspace + at[i];
}

static braid_problem layer_problem(const braid_problem *p) {
    return fused_problem(p, p->op == BRAID_OP_LINEAR_ACT ? BRAID_OP_LINEAR : BRAID_OP_CONV2D);
}

double fused_layer_cost(const braid_problem *p, const machine *on, const fused_tile *tile) {
    braid_problem q = layer_problem(p);
    return indirect_gemm_cost(&q, on, tile->gemm);
}

braid_status fused_layer_create(const braid_problem *p, const fused_tile *tile, void **state, size_t *workspace_bytes) {
    fused_layer *l = NULL;
    braid_problem q = layer_problem(p);
    TRY(memory_calloc(1, sizeof *l, "state of a fused layer", (void **)&l));
    l->tile = tile;
    braid_status status = indirect_gemm_create_forward(&q, tile->gemm, &l->product, workspace_bytes);
    if (status)
        memory_free(l);
    else
        *state = l;
    return status;
}

void fused_layer_destroy(device *d, void *state) {
    fused_layer *l = state;
    indirect_gemm_destroy(d, l->product);
    memory_free(l);
}
