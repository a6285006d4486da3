/*
 * One op from C, complete: a fully connected layer of two streams. Describe it, plan it (a kernel is
 * chosen by measurement), run it as often as you like, and see who was chosen and why.
 *
 *     cc 01_op.c -lbraid && ./a.out
 *
 * SPDX-License-Identifier: MIT
 */
#include <braid.h>
#include <stdio.h>

enum { BATCH = 2, IN_A = 3, IN_B = 2, OUT = 4 };

/* Every operand in memory of the device, one plane for each stream. */
typedef struct layer {
    braid_context *context;
    braid_op *op;
    braid_operand x, w, y;
} layer;

static braid_status place(layer *l, braid_operand *operand, const float *a, size_t bytes_a, const float *b,
                          size_t bytes_b) {
    braid_status status = braid_memory_create(l->context, bytes_a, &operand->plane[0]);
    if (!status) status = braid_memory_create(l->context, bytes_b, &operand->plane[1]);
    if (!status && a) status = braid_upload(l->context, operand->plane[0], a, bytes_a);
    if (!status && b) status = braid_upload(l->context, operand->plane[1], b, bytes_b);
    return status;
}

static braid_status compute(layer *l, float y_a[BATCH][OUT], float y_b[BATCH][OUT]) {
    const float x_a[BATCH][IN_A] = {{1, 2, 3}, {4, 5, 6}}, x_b[BATCH][IN_B] = {{1, 0}, {0, 1}};
    const float w_a[OUT][IN_A] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}},
                w_b[OUT][IN_B] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
    const size_t bytes = sizeof(float[BATCH][OUT]);
    const braid_problem problem = {
        .op = BRAID_OP_LINEAR, .streams = 2, .batch = BATCH, .in_channels = {IN_A, IN_B}, .out_channels = {OUT, OUT}};
    braid_status status = braid_op_create(l->context, &problem, &l->op);
    if (!status) status = braid_op_plan(l->op, &(braid_plan_options){.seconds = 0.1});
    if (!status) status = place(l, &l->x, x_a[0], sizeof x_a, x_b[0], sizeof x_b);
    if (!status) status = place(l, &l->w, w_a[0], sizeof w_a, w_b[0], sizeof w_b);
    if (!status) status = place(l, &l->y, NULL, bytes, NULL, bytes);
    if (!status) status = braid_op_run(l->op, (braid_operand[]){l->x, l->w, l->y}, 3);
    if (!status) status = braid_synchronize(l->context);
    if (!status) status = braid_download(l->context, y_a, l->y.plane[0], bytes);
    if (!status) status = braid_download(l->context, y_b, l->y.plane[1], bytes);
    return status;
}

static void destroy(layer *l) {
    braid_operand *const operands[] = {&l->x, &l->w, &l->y};
    for (int j = 0; j < 3; j++) {
        for (int i = 0; i < 2; i++) braid_memory_destroy(l->context, operands[j]->plane[i]);
    }
    braid_op_destroy(l->op);
    braid_context_destroy(l->context);
}

int main(void) {
    layer l = {.x.name = "x", .w.name = "w", .y.name = "y"};
    float y_a[BATCH][OUT], y_b[BATCH][OUT];
    braid_status status = braid_context_create(NULL, &l.context);
    if (!status) status = compute(&l, y_a, y_b);
    if (!status) {
        const braid_race *race = braid_op_explain(l.op);
        printf("%s: %s\n", race->candidates[race->winner].kernel, race->why);
        for (int b = 0; b < BATCH; b++)
            printf("stream a: %g %g %g %g   stream b: %g %g %g %g\n", y_a[b][0], y_a[b][1], y_a[b][2], y_a[b][3],
                   y_b[b][0], y_b[b][1], y_b[b][2], y_b[b][3]);
    }
    if (status) fprintf(stderr, "%s\n", braid_message());
    int right = !status && y_a[1][3] == 15 && y_b[1][3] == 8;
    destroy(&l);
    return right ? 0 : 1;
}
