/*
 * One run of a kernel on given memory.
 *
 * SPDX-License-Identifier: MIT
 */
#include "tests/emu/once.h"

braid_status run_once(const kernel *k, device *d, const braid_problem *p, const image *m, void *block) {
    const kernel_functions *f = k->functions;
    void *memory = NULL, *workspace = NULL, *state = NULL;
    size_t workspace_bytes = 0;
    buffers b = {0};
    braid_status status = f->create ? f->create(p, d, &state, &workspace_bytes) : BRAID_OK;
    if (!status) status = d->backend->alloc(d, m->bytes, &memory);
    if (!status && workspace_bytes) status = d->backend->alloc(d, workspace_bytes, &workspace);
    if (!status) status = d->backend->upload(d, memory, block, m->bytes);
    if (!status) image_buffers(p, m, memory, &b);
    b.workspace = workspace;
    if (!status) status = kernel_launch(f, p, d, state, &b);
    if (!status) status = d->backend->download(d, block, memory, m->bytes);
    if (f->destroy) f->destroy(d, state);
    if (memory) d->backend->free(d, memory);
    if (workspace) d->backend->free(d, workspace);
    return status;
}
