/*
 * The turn of matmul_linear.h: problem and operands of matmul as those of linear.
 *
 * SPDX-License-Identifier: MIT
 */
#include "kernels/matmul_linear.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"

typedef struct turned {
    braid_problem linear;
    const kernel_functions *functions;
    void *state; /* of the kernel of linear */
} turned;

static const kernel_functions *functions_of(const matmul_linear *m, const braid_problem *p) {
    return p->transpose ? m->straight : m->turned;
}

static braid_problem as_linear(const braid_problem *p) {
    static const braid_pass turned_pass[BRAID_PASS_COUNT] = {BRAID_PASS_BWD_DATA, BRAID_PASS_FWD,
                                                             BRAID_PASS_BWD_WEIGHT};
    braid_problem linear = *p;
    linear.op = BRAID_OP_LINEAR;
    linear.transpose = 0;
    if (p->transpose) return linear;
    linear.pass = turned_pass[p->pass];
    memcpy(linear.in_channels, p->out_channels, sizeof linear.in_channels);
    memcpy(linear.out_channels, p->in_channels, sizeof linear.out_channels);
    memcpy(linear.in_pitch, p->out_pitch, sizeof linear.in_pitch);
    memcpy(linear.out_pitch, p->in_pitch, sizeof linear.out_pitch);
    return linear;
}

refusal matmul_linear_refuses(const matmul_linear *m, const braid_problem *p, const device *d) {
    const braid_problem linear = as_linear(p);
    if (!functions_of(m, p)) return refusal_unable(p->transpose ? "only with trans0" : "only with trans1");
    return functions_refuse(functions_of(m, p), &linear, d);
}

double matmul_linear_cost(const matmul_linear *m, const braid_problem *p, const machine *on) {
    const braid_problem linear = as_linear(p);
    const kernel_functions *f = functions_of(m, p);
    return f ? f->cost(&linear, on) : INFINITY; /* a chain asks before it knows who can */
}

braid_status matmul_linear_create(const matmul_linear *m, const braid_problem *p, device *d, void **state,
                                  size_t *workspace_bytes) {
    turned *t = NULL;
    TRY(memory_calloc(1, sizeof *t, "state of a matrix product", (void **)&t));
    t->linear = as_linear(p);
    t->functions = functions_of(m, p);
    *workspace_bytes = 0;
    braid_status status =
        t->functions->create ? t->functions->create(&t->linear, d, &t->state, workspace_bytes) : BRAID_OK;
    if (status)
        memory_free(t);
    else
        *state = t;
    return status;
}

braid_status matmul_linear_launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const turned *t = state;
    buffers linear = {.workspace = b->workspace};
    memcpy(linear.plane[LINEAR_X], b->plane[p->transpose ? MATMUL_X : MATMUL_Y], sizeof linear.plane[0]);
    memcpy(linear.plane[LINEAR_Y], b->plane[p->transpose ? MATMUL_Y : MATMUL_X], sizeof linear.plane[0]);
    memcpy(linear.plane[LINEAR_W], b->plane[MATMUL_W], sizeof linear.plane[0]);
    return kernel_launch(t->functions, &t->linear, d, t->state, &linear);
}

void matmul_linear_destroy(device *d, void *state) {
    turned *t = state;
    if (t->functions->destroy) t->functions->destroy(d, t->state);
    memory_free(t);
}
