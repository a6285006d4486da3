/*
 * Recordings: the queue is captured into a graph of the driver, which one call launches again. Capture is local to
 * the thread, so that other users of the GPU in the same process are not disturbed.
 *
 * SPDX-License-Identifier: MIT
 */
#include "backend/cuda/device.h"
#include "core/memory.h"

struct recording {
    cu_graph_exec graph;
};

braid_status cuda_record(device *head) {
    cuda_device *d = cuda_device_of(head);
    if (d->is_recording) return fail(BRAID_ERROR_ARGUMENT, "%s: expected one recording at a time", head->name);
    TRY(cuda_enter(d));
    cu_result result = d->driver->capture_begin(d->queue, CU_CAPTURE_THREAD_LOCAL);
    d->is_recording = result == CU_SUCCESS;
    return cuda_leave(d, cuda_check(d, result, "beginning a recording"));
}

/* The graph made ready, and a handle for it. */
static braid_status keep(cuda_device *d, cu_graph graph, recording **out) {
    recording *made = NULL;
    TRY(memory_calloc(1, sizeof *made, "recording", (void **)&made));
    braid_status status = cuda_check_memory(d, d->driver->graph_ready(&made->graph, graph, 0), "readying a recording");
    if (status)
        memory_free(made);
    else
        *out = made;
    return status;
}

braid_status cuda_record_end(device *head, recording **out) {
    cuda_device *d = cuda_device_of(head);
    cu_graph graph = NULL;
    if (out) *out = NULL;
    if (!d->is_recording) return fail(BRAID_ERROR_ARGUMENT, "%s: expected a recording to end", head->name);
    d->is_recording = 0;
    TRY(cuda_enter(d));
    braid_status status = side_finish(d);
    if (!status) status = cuda_check(d, d->driver->capture_end(d->queue, &graph), "ending a recording");
    if (!status && out) status = keep(d, graph, out);
    if (graph && !d->fault[0]) (void)d->driver->graph_destroy(graph);
    return cuda_leave(d, status);
}

braid_status cuda_replay(device *head, recording *r) {
    cuda_device *d = cuda_device_of(head);
    TRY(cuda_enter(d));
    return cuda_leave(d, cuda_check(d, d->driver->graph_launch(r->graph, d->queue), "replaying a recording"));
}

/* The driver keeps a graph that still runs until it is done. */
void cuda_forget(device *head, recording *r) {
    cuda_device *d = cuda_device_of(head);
    if (!r) return;
    if (!d->fault[0] && cuda_enter(d) == BRAID_OK)
        (void)cuda_leave(d, cuda_check(d, d->driver->graph_exec_destroy(r->graph), "dropping a recording"));
    memory_free(r);
}
