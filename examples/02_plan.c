/*
 * One of braid's networks, planned and run: LINet-18 on RGB and depth, an eighth of its width. A network has no
 * memory, a model has its numbers, and a plan has the calls of one pass with all memory placed.
 *
 *     cc 02_plan.c -lbraid -lm && ./a.out
 *
 * SPDX-License-Identifier: MIT
 */
#include <braid.h>
#include <math.h>
#include <stdio.h>

enum { BATCH = 2, HEIGHT = 64, WIDTH = 48, CLASSES = 15 };

typedef struct everything {
    braid_context *context;
    braid_net *net;
    braid_model *model;
    braid_plan *plan;
} everything;

static float rgb[BATCH][3][HEIGHT][WIDTH], depth[BATCH][1][HEIGHT][WIDTH]; /* as image files have them: [B][C][H][W] */

static braid_status ready(everything *e) {
    const braid_net_options options = {.streams = 2, .channels = {3, 1}, .classes = CLASSES, .width = 0.125};
    const braid_plan_request request = {.phase = BRAID_PHASE_EVAL,
                                        .batch = BATCH,
                                        .size = {HEIGHT, WIDTH},
                                        .choice = {.effort = BRAID_EFFORT_ESTIMATE}}; /* leave it out to race kernels */
    braid_status status = braid_context_create(NULL, &e->context);
    if (!status) status = braid_net_create("linet18", &options, &e->net);
    if (!status) status = braid_model_create(e->context, e->net, NULL, &e->model); /* braid_model_load: from a file */
    if (!status) status = braid_plan_create(e->model, &request, &e->plan);
    return status;
}

static braid_status forward(everything *e, float logits[BATCH][CLASSES]) {
    braid_status status = braid_plan_set_input(e->plan, "rgb", rgb, sizeof rgb);
    if (!status) status = braid_plan_set_input(e->plan, "depth", depth, sizeof depth);
    if (!status) status = braid_plan_run(e->plan, BRAID_SEGMENT_FORWARD);
    if (!status) status = braid_plan_get_output(e->plan, logits, sizeof(float[BATCH][CLASSES]));
    return status;
}

int main(void) {
    everything e = {0};
    float logits[BATCH][CLASSES], again[BATCH][CLASSES];
    for (int j = 0; j < HEIGHT * WIDTH; j++) rgb[1][0][j / WIDTH][j % WIDTH] = (float)(j % 7) - 3;
    braid_status status = ready(&e);
    if (!status) status = forward(&e, logits);
    if (!status) status = forward(&e, again);
    if (!status) {
        braid_plan_memory use;
        braid_plan_memory_use(e.plan, &use);
        printf("%lld parameters, %d calls, %zu bytes of activations (%zu if each had its own)\n",
               (long long)braid_net_parameter_count(e.net), braid_plan_step_count(e.plan), use.arena_bytes,
               use.sum_bytes);
        for (int b = 0; b < BATCH; b++)
            printf("sample %d: %g %g %g ...\n", b, logits[b][0], logits[b][1], logits[b][2]);
    }
    if (status) fprintf(stderr, "%s\n", braid_message());
    int right = !status && isfinite(logits[1][0]) && logits[0][0] != logits[1][0];
    for (int at = 0; at < BATCH * CLASSES && right; at++)
        right = logits[at / CLASSES][at % CLASSES] == again[at / CLASSES][at % CLASSES];
    braid_plan_destroy(e.plan);
    braid_model_destroy(e.model);
    braid_net_destroy(e.net);
    braid_context_destroy(e.context);
    return right ? 0 : 1;
}
