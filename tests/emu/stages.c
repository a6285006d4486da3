/*
 * Sums whose last block adds the parts, on the emulator: the same bits as those of a second launch, which adds them
 * where the device has no counters, in any order of the blocks. And sums by a tree of blocks, and passes that
 * wait for sums: the same bits in any order.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "race/image.h"
#include "tests/emu/emu.h"
#include "tests/emu/tests.h"

static const char *const cases[][2] = {
    {"bn_stats__cuda_direct", "bn_stats:f16:n2:b3:hw40x41:c64,40:mask1"},
    {"bn_stats__cuda_direct", "bn_stats:bf16:n1:b2:hw24x25:c520"},
    {"bn_stats__cuda_direct", "bn_stats:f32:n1:b3:hw100x99:c1"},
    {"bn_stats__cuda_direct", "bn_stats:f32:n2:b2:hw31x17:c5,132"},
    {"bn_stats__cuda_direct", "bn_stats:f16:n1:b2:hw50x51:c3:cp8"},
    {"bn_stats__cuda_direct", "bn_stats:f32:n2:b2:hw60x50:c9,13:mask1"},
    {"bn_stats__cuda_direct", "bn_stats:f16:n1:b4:hw60x50:c64"},
    {"bn_stats__cuda_direct", "bn_stats:bf16:n1:b1:hw60x50:c256"},
    {"bn_bwd_reduce__cuda_direct", "bn_bwd_reduce:f32:n2:b2:hw60x50:c9,13:mask1"},
    {"bn_bwd_reduce__cuda_direct", "bn_bwd_reduce:f16:n2:b3:hw40x41:c64,40:mask1"},
    {"bn_act_bwd_weight__cuda_direct", "bn_act_bwd_weight:f16:n1:b2:hw34x26:c256:act=relu"},
    {"bn_add_act_bwd_weight__cuda_direct", "bn_add_act_bwd_weight:bf16:n1:b3:hw50x49:c64"},
    {"bn_act_pool_bwd_weight__cuda_direct", "bn_act_pool_bwd_weight:f16:n1:b2:hw41x45:c64:rs3x3:st2:pad1"},
    {"layernorm_bwd_weight__cuda_direct", "layernorm_bwd_weight:f32:n1:b40:hw1x5:c300"},
};

/* By a tree of parts: one tile, tiles that begin inside the run of a block, several streams. */
static const char *const trees[][2] = {
    {"conv2d_bwd_weight__cuda_taps_wgmma", "conv2d_bwd_weight:f16:n1:b4:hw12x15:c64:k64:rs3x3:pad1"},
    {"conv2d_bwd_weight__cuda_taps_wgmma", "conv2d_bwd_weight:bf16:n2:b2:hw17x19:c72,40:k72,64:rs3x3:pad1:mask1"},
    {"conv2d_bwd_weight__cuda_taps_wgmma", "conv2d_bwd_weight:f16:n3:b2:hw9x14:c128,64,8:k64,136,16:rs3x3:pad1"},
    {"conv2d_bwd_weight__cuda_boxes_wgmma", "conv2d_bwd_weight:f16:n2:b2:hw31x33:c64,64:k128,64:rs3x3:st2:pad1"},
    {"conv2d_bwd_weight__cuda_boxes_wgmma", "conv2d_bwd_weight:bf16:n1:b3:hw16x16:c96:k64:rs1x1:mask1"},
    {"integrate_bwd_weight__cuda_wgmma", "integrate_bwd_weight:f16:n2:b3:hw15x17:c64,40:zi64:zo64:mask1"},
    {"integrate_bwd_weight__cuda_wgmma", "integrate_bwd_weight:bf16:n3:b2:hw40x41:c128,72,64:st2:zi64:zo136"},
    {"conv2d_bn_stats__cuda_implicit_gemm_lanes", "conv2d_bn_stats:f16:n2:b9:hw40x60:c8:k128,72:rs1x1:mask1"},
    {"conv2d_bn_stats__cuda_implicit_gemm_lanes",
     "conv2d_bn_stats:bf16:n2:b3:hw13x17:c64:k264,64:rs3x3:pad1:avg=cumulative"},
};

/* Whose data pass waits for its sums. */
static const char *const waits[][2] = {
    {"bn_bwd__cuda_direct", "bn_bwd:f16:n3:b3:hw40x41:c64,40,8:act=relu:add1:mask1"},
    {"bn_bwd__cuda_direct", "bn_bwd:f32:n3:b2:hw60x50:c9,13,64:act=relu:skip2"},
    {"bn_bwd__cuda_direct", "bn_bwd:bf16:n3:b2:hw60x50:c64:act=relu:add1:given1"},
};

/* One run on a filled block; the block behind it goes to `after`. */
static braid_status run(const kernel *k, const braid_problem *p, device *d, const image *m, const void *before,
                        void *after) {
    void *state = NULL, *memory = NULL, *workspace = NULL;
    size_t bytes = 0;
    buffers b;
    TRY(k->functions->create(p, d, &state, &bytes));
    braid_status status = d->backend->alloc(d, m->bytes, &memory);
    if (!status) status = d->backend->alloc(d, bytes, &workspace);
    if (!status) status = d->backend->upload(d, memory, before, m->bytes);
    if (!status) {
        image_buffers(p, m, memory, &b);
        b.workspace = workspace;
        status = kernel_launch(k->functions, p, d, state, &b);
    }
    if (!status) status = d->backend->download(d, after, memory, m->bytes);
    if (workspace) d->backend->free(d, workspace);
    if (memory) d->backend->free(d, memory);
    k->functions->destroy(d, state);
    return status;
}

/* 1 where three runs give the same bits: one of two launches, if there are such, and by one with the blocks in either
 * order. */
static int compare(const kernel *k, const char *text, device *d, int has_two) {
    braid_problem p;
    image m;
    unsigned char *memory = NULL;
    int same = 0;
    braid_status status = braid_problem_parse(text, &p);
    if (!status) status = image_lay(&p, &m);
    if (!status) status = memory_alloc(4, m.bytes, "blocks", (void **)&memory);
    if (!status) image_fill(&p, &m, IMAGE_REAL, 1, memory);
    for (int turn = 1; turn <= 3 && !status; turn++) {
        emu_refuse_counters(has_two && turn == 1);
        status = run(k, &p, d, &m, memory, memory + (size_t)turn * m.bytes);
    }
    emu_refuse_counters(0);
    if (!status)
        same = memcmp(memory + m.bytes, memory + 2 * m.bytes, m.bytes) == 0 &&
               memcmp(memory + m.bytes, memory + 3 * m.bytes, m.bytes) == 0;
    if (!same) printf("FAILED %s %s: %s\n", k->name, text, status ? braid_message() : "the bits differ");
    memory_free(memory);
    return same;
}

/* How many of these fail. */
static int compare_all(const char *const (*of)[2], int count, device *d, int has_two) {
    int failed = 0;
    for (int i = 0; i < count; i++) {
        const kernel *k = kernel_find(of[i][0]);
        if (!k) printf("FAILED: there is no kernel %s\n", of[i][0]);
        failed += !(k && compare(k, of[i][1], d, has_two));
    }
    return failed;
}

int emu_stages(void) {
    const int by_last = (int)(sizeof cases / sizeof cases[0]), by_tree = (int)(sizeof trees / sizeof trees[0]),
              by_waiting = (int)(sizeof waits / sizeof waits[0]);
    device *d = NULL;
    if (backend_cuda.open(0, &d) != BRAID_OK) return 2;
    int failed =
        compare_all(cases, by_last, d, 1) + compare_all(trees, by_tree, d, 0) + compare_all(waits, by_waiting, d, 0);
    backend_cuda.close(d);
    printf("%d passed, %d failed, 0 skipped\n", by_last + by_tree + by_waiting - failed, failed);
    return failed ? 1 : 0;
}
