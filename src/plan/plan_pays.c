/*
 * Does it pay to make one call of several (compile/fuse.c, compile/gradient.c)? Where its kernel takes no longer than
 * the calls do that it stands for, each by its cheapest kernel, as the cost model has it. What is a share of a call
 * that often stays for other planes counts for the bytes that it moves, and so does the addition of a gradient.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>

#include "plan/plan.h"

#define LAUNCH_S 3e-6
#define BYTES_PER_S 3e12     /* of a call that moves bytes */
#define CPU_BYTES_PER_S 10e9 /* the same on the CPU */

/* What the cheapest kernel of a problem costs, of those that are neither the reference nor a chain; INFINITY: none. By
 * the costs of one thread, so that a plan's calls do not depend on the number of threads. */
static double cheapest(const braid_context *context, const braid_problem *p) {
    const machine one_thread = {context->device, 1};
    double best = INFINITY;
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        if (k->op != p->op || k->pass != p->pass || k->backend == KERNEL_REF || k->backend == KERNEL_CHAIN) continue;
        if (!kernel_runs_on(k, context->device) || context_excludes(context, k)) continue;
        if (!k->vendor && kernel_refuses(k, p, context->device)) continue;
        const double seconds = k->functions->cost(p, &one_thread);
        if (seconds >= best || (k->vendor && kernel_is_unable(k, p, context->device)))
            continue; /* asked late: see chain.c */
        best = seconds;
    }
    return best;
}

static double seconds_of_bytes(const braid_context *context, double bytes) {
    return bytes / (context->device->backend == &backend_cpu ? CPU_BYTES_PER_S : BYTES_PER_S);
}

/* What the chain of a fused op takes, call by call. The passes that make gradients add them on the way. */
static double chain_seconds(const braid_context *context, const braid_problem *p) {
    op_chain chain = {0};
    double seconds = 0;
    if (op_of(p)->chain(p, &chain)) return 0;
    for (int j = 0; j < chain.count; j++) {
        braid_problem *one = &chain.steps[j].problem;
        if (braid_problem_check(one) != BRAID_OK) return 0;
        if (one->op == BRAID_OP_ADD) continue;
        seconds += chain.steps[j].is_share ? seconds_of_bytes(context, op_bytes(one)) : cheapest(context, one);
    }
    return seconds;
}

/* What a data pass takes, and a call that reads its result and a gradient and writes their sum. */
static double addition_seconds(const braid_context *context, const braid_problem *p) {
    braid_problem plain = *p;
    plain.add = 0;
    const double bytes = op_bytes(p) - op_bytes(&plain);
    return cheapest(context, &plain) + seconds_of_bytes(context, 3 * bytes) + LAUNCH_S;
}

int plan_fusing_pays(void *context, const braid_problem *p) {
    const double seconds = cheapest(context, p);
    if (seconds == INFINITY) return 0;
    if (p->op == BRAID_OP_INTEGRATE_BN_STATS) return 1; /* too close for the cost model: it races its chain */
    return seconds <= (op_of(p)->chain ? chain_seconds(context, p) : addition_seconds(context, p));
}
