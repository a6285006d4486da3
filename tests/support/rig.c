/*
 * Running one kernel on memory that a test may change.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/support/rig.h"

#include <string.h>

#include "core/dtype.h"
#include "core/memory.h"
#include "kernels/ref/ref.h"

static braid_status ready(rig *r) {
    const kernel_functions *f = r->kernel->functions;
    TRY(image_lay(&r->problem, &r->layout));
    TRY(memory_alloc_device(r->layout.bytes, "operands of a test", (void **)&r->block));
    TRY(r->device->backend->alloc(r->device, r->layout.bytes, &r->on_device));
    if (f->create) TRY(f->create(&r->problem, r->device, &r->state, &r->workspace_bytes));
    return r->workspace_bytes ? r->device->backend->alloc(r->device, r->workspace_bytes, &r->workspace) : BRAID_OK;
}

braid_status rig_create(rig *r, const braid_problem *p, device *d, const kernel *k, image_mode mode, uint64_t seed) {
    *r = (rig){.problem = *p, .device = d, .kernel = k};
    if (!k) return fail(BRAID_ERROR_DEVICE, "a test of %s: expected a kernel on %s, got none", op_of(p)->name, d->name);
    braid_status status = ready(r);
    if (status) {
        rig_destroy(r);
        return status;
    }
    image_fill(p, &r->layout, mode, seed, r->block);
    return BRAID_OK;
}

braid_status rig_run(rig *r) {
    const backend *b = r->device->backend;
    buffers bound;
    TRY(b->upload(r->device, r->on_device, r->block, r->layout.bytes));
    image_buffers(&r->problem, &r->layout, r->on_device, &bound);
    bound.workspace = r->workspace;
    TRY(kernel_launch(r->kernel->functions, &r->problem, r->device, r->state, &bound));
    return b->download(r->device, r->block, r->on_device, r->layout.bytes);
}

void rig_destroy(rig *r) {
    if (r->state && r->kernel->functions->destroy) r->kernel->functions->destroy(r->device, r->state);
    if (r->workspace) r->device->backend->free(r->device, r->workspace);
    if (r->on_device) r->device->backend->free(r->device, r->on_device);
    memory_free(r->block);
    *r = (rig){0};
}

void *rig_plane(const rig *r, int slot, int i) { return r->block + r->layout.offset[slot][i]; }

void rig_shape(const rig *r, int slot, int i, plane_shape *s) { op_of(&r->problem)->shape(&r->problem, slot, i, s); }

int rig_planes(const rig *r, int slot) { return op_of(&r->problem)->planes(&r->problem, slot); }

int64_t rig_elements(const rig *r, int slot, int i) {
    plane_shape s;
    int64_t elements = 1;
    rig_shape(r, slot, i, &s);
    for (int axis = 0; axis < s.rank; axis++) elements *= s.dims[axis];
    return elements;
}

double rig_get(const rig *r, int slot, int i, int64_t index) {
    plane_shape s;
    rig_shape(r, slot, i, &s);
    return dtype_load(rig_plane(r, slot, i), s.dtype, ref_offset(&s, index));
}

void rig_set(rig *r, int slot, int i, int64_t index, double value) {
    plane_shape s;
    rig_shape(r, slot, i, &s);
    dtype_store(rig_plane(r, slot, i), s.dtype, ref_offset(&s, index), value);
}

void rig_set_all(rig *r, int slot, int i, double value) {
    for (int64_t j = 0; j < rig_elements(r, slot, i); j++) rig_set(r, slot, i, j, value);
}

int rig_has_samples(const braid_problem *p, int slot) {
    plane_shape s, longer;
    braid_problem more = *p;
    more.batch++;
    if (op_role(p, slot) == ROLE_NONE) return 0;
    op_of(p)->shape(p, slot, 0, &s);
    op_of(p)->shape(&more, slot, 0, &longer);
    return s.rank > 1 && longer.dims[0] != s.dims[0];
}

size_t rig_sample_bytes(const rig *r, int slot, int i) {
    return r->problem.batch ? r->layout.plane_bytes[slot][i] / (size_t)r->problem.batch : 0;
}

double rig_inner(const rig *a, int slot_a, const rig *b, int slot_b) {
    double sum = 0;
    for (int i = 0; i < rig_planes(a, slot_a); i++) {
        for (int64_t j = 0; j < rig_elements(a, slot_a, i); j++)
            sum += rig_get(a, slot_a, i, j) * rig_get(b, slot_b, i, j);
    }
    return sum;
}
