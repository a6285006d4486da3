/*
 * Sums whose last block adds the parts, on the emulator: the same bits as those of a second launch, which adds them
 * where the device has no counters, in any order of the blocks.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "core/memory.h"
#include "plan/image.h"
#include "tests/emu/emu.h"

static const char *const cases[][2] = {
    {"bn_stats__cuda_direct", "bn_stats:f16:n2:b3:hw40x41:c64,40:mask1"},
    {"bn_stats__cuda_direct", "bn_stats:bf16:n1:b2:hw24x25:c520"},
    {"bn_stats__cuda_direct", "bn_stats:f32:n1:b3:hw100x99:c1"},
    {"bn_stats__cuda_direct", "bn_stats:f32:n2:b2:hw31x17:c5,132"},
    {"bn_stats__cuda_direct", "bn_stats:f16:n1:b2:hw50x51:c3:cp8"},
    {"bn_stats__cuda_direct", "bn_stats:f32:n2:b2:hw60x50:c9,13:mask1"},
    {"bn_stats__cuda_direct", "bn_stats:f16:n1:b4:hw60x50:c64"},
    {"bn_stats__cuda_direct", "bn_stats:bf16:n1:b1:hw60x50:c256"},
    {"bn_sums__cuda_direct", "bn_sums:f32:n2:b2:hw60x50:c9,13:mask1"},
    {"bn_sums__cuda_direct", "bn_sums:f16:n2:b3:hw40x41:c64,40:mask1"},
    {"bn_act_bwd_weight__cuda_direct", "bn_act_bwd_weight:f16:n1:b2:hw34x26:c256:act=relu"},
    {"bn_add_act_bwd_weight__cuda_direct", "bn_add_act_bwd_weight:bf16:n1:b3:hw50x49:c64"},
    {"bn_act_pool_bwd_weight__cuda_direct", "bn_act_pool_bwd_weight:f16:n1:b2:hw41x45:c64:rs3x3:st2:pad1"},
    {"layernorm_bwd_weight__cuda_direct", "layernorm_bwd_weight:f32:n1:b40:hw1x5:c300"},
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

/* 1 where three runs give the same bits: by two launches, and by one with the blocks in either order. */
static int compare(const kernel *k, const char *text, device *d) {
    braid_problem p;
    image m;
    unsigned char *memory = NULL;
    int same = 0;
    braid_status status = braid_problem_parse(text, &p);
    if (!status) status = image_lay(&p, &m);
    if (!status) status = memory_alloc(4, m.bytes, "blocks", (void **)&memory);
    if (!status) image_fill(&p, &m, IMAGE_REAL, 1, memory);
    for (int turn = 1; turn <= 3 && !status; turn++) {
        emu_refuse_counters(turn == 1);
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

int main(void) {
    device *d = NULL;
    int passed = 0, failed = 0;
    if (backend_cuda.open(0, &d) != BRAID_OK) return 2;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const kernel *k = kernel_find(cases[i][0]);
        int same = k && compare(k, cases[i][1], d);
        if (!k) printf("FAILED: there is no kernel %s\n", cases[i][0]);
        passed += same;
        failed += !same;
    }
    backend_cuda.close(d);
    printf("%d passed, %d failed, 0 skipped\n", passed, failed);
    return failed ? 1 : 0;
}
