/*
 * Does a plan fit into the device's memory? Asked before any kernel is raced, from what must be placed in any case, and
 * again when the workspace of the chosen kernels is known. A plan that does not fit says which batch would.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "core/dtype.h"
#include "core/memory.h"
#include "core/reals.h"
#include "core/sizes.h"
#include "plan/plan.h"

/* Bytes that a program takes without any workspace. */
static braid_status placed_bytes(program *p, size_t *bytes) {
    size_t *none = NULL, *offsets = NULL, calls = (size_t)p->call_count + 1;
    braid_status status = memory_calloc(calls, sizeof *none, "plan", (void **)&none);
    if (!status) status = memory_calloc(calls, sizeof *offsets, "plan", (void **)&offsets);
    if (!status) status = program_place(p, none, offsets);
    memory_free(none);
    memory_free(offsets);
    *bytes = status ? SIZE_MAX : p->arena_bytes;
    return status;
}

/* The same for another batch, with little kept; SIZE_MAX where it cannot be told. */
static size_t bytes_of_batch(const braid_plan *plan, int64_t batch) {
    program p = {0};
    program_options o = plan->program.options;
    o.batch = batch;
    o.keep_all = plan->request.keep_all > 0;
    size_t bytes = SIZE_MAX;
    if (program_build(plan->model->graph, &o, &p) || placed_bytes(&p, &bytes)) bytes = SIZE_MAX;
    program_free(&p);
    return bytes;
}

/* Of the host's memory, what is promised to others beside a plan of so many samples: in proportion to them. */
static size_t promised_bytes(const braid_plan *plan, int64_t batch) {
    const braid_model *m = plan->model;
    if (m->context->device->backend->has_own_memory) return 0;
    return (size_t)((double)m->promised_bytes * ((double)batch / (double)plan->program.options.batch));
}

/* Free bytes of the device, less what is promised. */
static size_t free_bytes(const braid_plan *plan, int64_t batch) {
    device *d = plan->model->context->device;
    size_t all = d->backend->free_bytes(d), promised = promised_bytes(plan, batch);
    return all > promised ? all - promised : 0;
}

/* The largest batch whose program, with so many bytes beside it, fits; 0: none. */
static int64_t batch_within(const braid_plan *plan, size_t beside) {
    int64_t fits = 0, too_large = plan->program.options.batch;
    while (too_large - fits > 1) {
        int64_t middle = fits + (too_large - fits) / 2;
        size_t needed;
        if (size_add(bytes_of_batch(plan, middle), beside, &needed) && needed <= free_bytes(plan, middle))
            fits = middle;
        else
            too_large = middle;
    }
    return fits;
}

/* `beside`: those of the bytes that are not the program's. A device that has failed has no memory to tell of. */
static braid_status refuse(const braid_plan *plan, size_t needed, size_t beside) {
    device *d = plan->model->context->device;
    TRY(d->backend->synchronize(d));
    int64_t full = plan->program.options.batch, batch = batch_within(plan, beside);
    size_t promised = promised_bytes(plan, full);
    char advice[64] = "not even batch 1 fits", others[64] = "";
    if (batch > 0) (void)snprintf(advice, sizeof advice, "batch %lld fits", (long long)batch);
    if (promised > 0)
        (void)real_format(others, sizeof others, " beside %.2f GB for the reading of data", (double)promised / 1e9);
    return fail(BRAID_ERROR_MEMORY, "plan of batch %lld: needs %.2f GB, free are %.2f GB%s; %s", (long long)full,
                (double)needed / 1e9, (double)free_bytes(plan, full) / 1e9, others, advice);
}

/* What training takes beside the program: gradients and moments that the model does not have yet. */
static size_t missing_twins(const braid_plan *plan) {
    const braid_model *m = plan->model;
    size_t twin = (size_t)m->elements * dtype_bytes(m->master), half = (size_t)m->elements * dtype_bytes(m->dtype);
    braid_optimiser optimiser = plan->request.optimiser;
    int has_m = optimiser == BRAID_OPTIMISER_ADAM || optimiser == BRAID_OPTIMISER_ADAMW || plan->request.momentum > 0;
    int has_v = optimiser != BRAID_OPTIMISER_SGD;
    if (plan->request.phase != BRAID_PHASE_TRAIN) return 0;
    size_t bytes = m->gradients ? 0 : twin;
    if (m->dtype != m->master && !m->half_gradients) bytes += half;
    if (optimiser == BRAID_OPTIMISER_NONE) return bytes;
    return bytes + (has_m && !m->m ? twin : 0) + (has_v && !m->v ? twin : 0);
}

int plan_may_keep_all(braid_plan *plan) {
    size_t placed, needed;
    const fail_kept kept = fail_keep();
    if (placed_bytes(&plan->program, &placed) || !size_add(placed, missing_twins(plan), &needed)) {
        fail_put_back(&kept);
        return 0;
    }
    return needed <= free_bytes(plan, plan->program.options.batch) / 2;
}

braid_status plan_fits_without_workspace(braid_plan *plan) {
    size_t twins = missing_twins(plan), placed, needed;
    TRY(placed_bytes(&plan->program, &placed));
    if (!size_add(placed, twins, &needed)) needed = SIZE_MAX;
    return needed <= free_bytes(plan, plan->program.options.batch) ? BRAID_OK : refuse(plan, needed, twins);
}

braid_status plan_fits(const braid_plan *plan) {
    size_t needed = plan->program.arena_bytes;
    if (needed <= free_bytes(plan, plan->program.options.batch)) return BRAID_OK;
    size_t placed = bytes_of_batch(plan, plan->program.options.batch);
    return refuse(plan, needed, needed > placed ? needed - placed : 0);
}
