/*
 * A network of your own: two streams, a learned mix of them, a classifier. RGB shows whether the upper or the lower
 * half is bright, depth whether the left or the right half is near; which of the four it is takes both.
 *
 *     cc 03_two_streams.c -lbraid && ./a.out
 *
 * SPDX-License-Identifier: MIT
 */
#include <braid.h>
#include <stdio.h>
#include <stdlib.h>

enum { BATCH = 32, SIDE = 12, CLASSES = 4, STEPS = 60 };

static float rgb[BATCH][3][SIDE][SIDE], depth[BATCH][1][SIDE][SIDE], loss;
static int32_t labels[BATCH];

static braid_status build(braid_net *net) {
    braid_value a = braid_net_input(net, "rgb", 3), b = braid_net_input(net, "depth", 1), x = braid_net_join(net, a, b);
    x = braid_net_layer(net, "conv", x, &(braid_problem){.out_channels = {8, 8}, .filter = {3, 3}}); /* op 0: conv2d */
    x = braid_net_integrate(net, "mix", x, (braid_value){0}, &(braid_problem){.integrated_out = 16});
    x = braid_net_layer(net, "norm", x, &(braid_problem){.op = BRAID_OP_BATCHNORM});
    x = braid_net_layer(net, "relu", x, &(braid_problem){.op = BRAID_OP_ACT});
    x = braid_net_layer(net, "pool", x, &(braid_problem){.op = BRAID_OP_AVGPOOL, .out_size = {2, 2}});
    x = braid_net_reshape(net, x, 2 * 2 * 16);
    x = braid_net_layer(net, "fc", x, &(braid_problem){.op = BRAID_OP_LINEAR, .out_channels = {CLASSES}, .bias = 1});
    braid_net_output(net, x);
    return braid_net_check(net); /* the first mistake of all of the above */
}

static void draw(void) {
    for (int j = 0; j < BATCH * SIDE * SIDE; j++) {
        int b = j / (SIDE * SIDE), y = j / SIDE % SIDE, x = j % SIDE;
        if (y == 0 && x == 0) labels[b] = rand() % CLASSES;
        for (int c = 0; c < 3; c++) rgb[b][c][y][x] = (float)(rand() % 9 + 9 * ((y < SIDE / 2) == labels[b] % 2)) / 9;
        depth[b][0][y][x] = (float)(rand() % 9 + 9 * ((x < SIDE / 2) == labels[b] / 2)) / 9;
    }
}

static braid_status run(braid_plan *plan, unsigned segments) {
    draw();
    braid_status status = braid_plan_set_input(plan, "rgb", rgb, sizeof rgb);
    if (!status) status = braid_plan_set_input(plan, "depth", depth, sizeof depth);
    if (!status) status = braid_plan_write(plan, "labels", labels, sizeof labels);
    if (!status) status = braid_plan_run(plan, segments);
    return status ? status : braid_plan_read(plan, "loss", &loss, sizeof loss);
}

int main(void) {
    braid_context *context = NULL;
    braid_net *net = NULL;
    braid_model *model = NULL;
    braid_plan *train = NULL, *eval = NULL;
    braid_plan_request request = {BRAID_PHASE_EVAL, BATCH, {SIDE, SIDE}, .loss = BRAID_LOSS_CROSS_ENTROPY};
    request.choice.effort = BRAID_EFFORT_ESTIMATE; /* leave it out to race kernels */
    braid_status status = braid_context_create(NULL, &context);
    if (!status) status = braid_net_create(NULL, NULL, &net);
    if (!status) status = build(net);
    if (!status) status = braid_model_create(context, net, NULL, &model);
    if (!status) status = braid_plan_create(model, &request, &eval);
    request.phase = BRAID_PHASE_TRAIN;
    request.optimiser = BRAID_OPTIMISER_ADAM;
    if (!status) status = braid_plan_create(model, &request, &train); /* both plans share the parameters */
    for (int group = 0; !status && group < braid_plan_group_count(train); group++)
        status = braid_plan_set_rates(train, group, &(braid_rates){.learning_rate = 0.01, .active = 1});
    for (int step = 0; !status && step < STEPS; step++) {
        status = run(train, BRAID_SEGMENT_FORWARD | BRAID_SEGMENT_BACKWARD | BRAID_SEGMENT_UPDATE);
        if (!status && step % 10 == 0) printf("step %2d: loss %.3f\n", step, loss);
    }
    if (!status) status = run(eval, BRAID_SEGMENT_FORWARD);
    if (!status) printf("unseen samples: loss %.3f (a guess has 1.386)\n", loss);
    if (status) fprintf(stderr, "%s\n", braid_message());
    braid_plan_destroy(train);
    braid_plan_destroy(eval);
    braid_model_destroy(model);
    braid_net_destroy(net);
    braid_context_destroy(context);
    return !status && loss < 0.5f ? 0 : 1;
}
