/*
 * A fused op's chain as a candidate like any other: the natural ops that the op table names, run one
 * after the other with their intermediate results in the workspace. Each step is done by the kernel that
 * the context chose for its problem; where nothing is known, by the one the cost model prefers. So a
 * fused kernel races what a user would get without it.
 *
 * SPDX-License-Identifier: MIT
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "core/memory.h"
#include "core/sizes.h"
#include "kernels/kernel.h"

/* 1 where a step may be done by a kernel: its bits depend on nothing, and the context has not left it out. */
static int may_serve(const kernel *k, const device *d) {
    const chooser *c = d->chooser;
    return !(k->flags & KERNEL_VARIES_WITH_THREADS) && !(c && c->excludes && c->excludes(c->context, k));
}

/* Without a device: a step that is fused itself counts with its chain on the CPU. */
static const machine one_thread = {.threads = 1};

/* The cheapest by the cost model; NULL: no kernel can do it. Costs are those of one thread, so that the choice, and
 * with it the bits of the chain, do not depend on the number of threads. A Winograd kernel's error follows its whole
 * tile, which a chain's bound does not know: only one that was measured serves, and the chain is verified with it. */
static const kernel *cheapest(const braid_problem *p, const device *d) {
    const kernel *best = NULL;
    double best_cost = INFINITY;
    for (int j = 0; j < kernel_count(); j++) {
        const kernel *k = kernel_at(j);
        if (k->op != p->op || k->pass != p->pass || !kernel_runs_on(k, d) || !may_serve(k, d)) continue;
        if (k->flags & KERNEL_WINOGRAD) continue;
        if (!k->vendor && kernel_refuses(k, p, d)) continue;
        double cost = k->functions->cost(p, &one_thread);
        if (best && cost >= best_cost) continue;
        if (k->vendor && kernel_is_unable(k, p, d)) continue; /* asked late: libraries may take long to answer */
        best = k;
        best_cost = cost;
    }
    return best;
}

static const kernel *choose(const braid_problem *p, const device *d) {
    const kernel *known = d->chooser ? d->chooser->choose(d->chooser->context, p) : NULL;
    return known ? known : cheapest(p, d);
}

/* Why the chain cannot be run, in words; else its steps are complete. */
static const char *list_steps(const braid_problem *p, op_chain *c) {
    static _Thread_local fail_kept why;
    const fail_kept kept = fail_keep();
    c->count = 0;
    const char *reason = op_of(p)->chain(p, c);
    for (int j = 0; !reason && j < c->count; j++) {
        if (braid_problem_check(&c->steps[j].problem) == BRAID_OK) continue;
        why = fail_keep();
        fail_put_back(&kept);
        reason = why.text;
    }
    return reason;
}

static const char *supports(const braid_problem *p, const device *d) {
    static _Thread_local char text[128];
    op_chain c;
    const char *reason = list_steps(p, &c);
    for (int j = 0; !reason && j < c.count; j++) {
        if (cheapest(&c.steps[j].problem, d)) continue;
        snprintf(text, sizeof text, "no kernel of this device does its step %s in %s", op_of(&c.steps[j].problem)->name,
                 op_dtype_name(p));
        reason = text;
    }
    return reason;
}

/* The lowest cost of our kernels of the CPU that may serve as a step; where the device is known, of those that can do
 * it there. */
static double lowest_cost(const braid_problem *p, const machine *on) {
    const machine anywhere = {.threads = on->threads};
    double best = INFINITY;
    for (int k = 0; k < kernel_count(); k++) {
        const kernel *one = kernel_at(k);
        int does = one->op == p->op && one->pass == p->pass && (one->dtypes & (1u << p->dtype)) && !one->vendor &&
                   one->backend != KERNEL_CUDA && !(one->features & ~cpu_features()) && !(one->flags & KERNEL_WINOGRAD);
        if (does && !(on->device && kernel_refuses(one, p, on->device)))
            best = fmin(best, one->functions->cost(p, &anywhere));
    }
    return best;
}

static double cost_on_cpu(const braid_problem *p, const machine *on) {
    op_chain c;
    double sum = 0;
    if (list_steps(p, &c)) return INFINITY;
    for (int j = 0; j < c.count; j++) sum += lowest_cost(&c.steps[j].problem, on);
    return sum;
}

static double cost(const braid_problem *p, const machine *on) {
    op_chain c;
    double sum = 0;
    if (!on->device || strcmp(on->device->backend->name, "cpu") == 0) return cost_on_cpu(p, on);
    if (list_steps(p, &c)) return INFINITY;
    for (int j = 0; j < c.count; j++) {
        const kernel *best = cheapest(&c.steps[j].problem, on->device);
        sum += best ? best->functions->cost(&c.steps[j].problem, &one_thread) : INFINITY;
    }
    return sum;
}

/* ---- Readied ------------------------------------------------------------------------------ */

typedef struct link {
    const kernel *kernel;
    void *state;
    int readied;
} link;

typedef struct readied {
    op_chain chain;
    link links[CHAIN_MAX_STEPS];
    size_t temp[CHAIN_MAX_TEMPS][BRAID_MAX_PLANES]; /* places in the workspace */
    size_t rest;                                    /* of the workspace: the steps', one after the other */
} readied;

static braid_status grow(size_t *bytes, size_t by) {
    if (size_add(*bytes, by, bytes) && size_align(*bytes, MEMORY_DEVICE_ALIGNMENT, bytes)) return BRAID_OK;
    return fail(BRAID_ERROR_MEMORY, "chain: expected intermediate results that fit in 64 bits");
}

/* Gives each intermediate result its place: where a step writes it, its size is known. */
static braid_status place_temps(readied *r) {
    for (int j = 0; j < r->chain.count; j++) {
        const chain_step *step = &r->chain.steps[j];
        for (int slot = 0; slot < op_operand_count(op_of(&step->problem)); slot++) {
            braid_operand_info info;
            if (step->place[slot] < CHAIN_TEMP(0) || !op_is_output(op_role(&step->problem, slot))) continue;
            TRY(op_operand_info(&step->problem, slot, &info));
            for (int i = 0; i < info.planes; i++) {
                r->temp[step->place[slot] - CHAIN_TEMP(0)][i] = r->rest;
                TRY(grow(&r->rest, info.bytes[i]));
            }
        }
    }
    return BRAID_OK;
}

static braid_status ready_links(readied *r, device *d, size_t *most) {
    for (int j = 0; j < r->chain.count; j++) {
        const braid_problem *p = &r->chain.steps[j].problem;
        size_t bytes = 0;
        r->links[j].kernel = choose(p, d);
        if (!r->links[j].kernel) return fail(BRAID_ERROR_ARGUMENT, "chain: no kernel does its step %s", op_of(p)->name);
        const kernel_functions *f = r->links[j].kernel->functions;
        if (f->create) TRY(f->create(p, d, &r->links[j].state, &bytes));
        r->links[j].readied = 1;
        if (bytes > *most) *most = bytes;
    }
    return BRAID_OK;
}

static void destroy(device *d, void *state) {
    readied *r = state;
    for (int j = 0; r && j < r->chain.count; j++) {
        if (r->links[j].readied && r->links[j].kernel->functions->destroy)
            r->links[j].kernel->functions->destroy(d, r->links[j].state);
    }
    memory_free(r);
}

static braid_status create(const braid_problem *p, device *d, void **state, size_t *workspace_bytes) {
    readied *r = NULL;
    size_t most = 0;
    TRY(memory_calloc(1, sizeof *r, "chain", (void **)&r));
    const char *reason = list_steps(p, &r->chain);
    braid_status status = reason ? fail(BRAID_ERROR_ARGUMENT, "chain: %s", reason) : place_temps(r);
    if (status == BRAID_OK) status = ready_links(r, d, &most);
    if (status == BRAID_OK) {
        *workspace_bytes = r->rest;
        status = grow(workspace_bytes, most);
    }
    if (status != BRAID_OK) {
        destroy(d, r);
        return status;
    }
    *state = r;
    return BRAID_OK;
}

static void bind(const readied *r, const chain_step *step, const buffers *b, buffers *out) {
    *out = (buffers){.workspace = (char *)b->workspace + r->rest};
    for (int slot = 0; slot < op_operand_count(op_of(&step->problem)); slot++) {
        int place = step->place[slot];
        int planes =
            op_role(&step->problem, slot) == ROLE_NONE ? 0 : op_of(&step->problem)->planes(&step->problem, slot);
        for (int i = 0; i < planes; i++) {
            if (step->last[slot] != -1 && i == planes - 1) {
                out->plane[slot][i] = step->last[slot] == CHAIN_NOWHERE ? NULL : b->plane[step->last[slot]][0];
                continue;
            }
            out->plane[slot][i] = place >= CHAIN_TEMP(0) ? (char *)b->workspace + r->temp[place - CHAIN_TEMP(0)][i]
                                                         : b->plane[place][step->from[slot] + i];
        }
    }
}

static braid_status launch(const braid_problem *p, device *d, void *state, const buffers *b) {
    const readied *r = state;
    (void)p;
    for (int j = 0; j < r->chain.count; j++) {
        const chain_step *step = &r->chain.steps[j];
        buffers bound;
        bind(r, step, b, &bound);
        TRY(kernel_launch(r->links[j].kernel->functions, &step->problem, d, r->links[j].state, &bound));
    }
    return BRAID_OK;
}

const kernel_functions chain_functions = {
    .supports = supports, .cost = cost, .create = create, .launch = launch, .destroy = destroy};
