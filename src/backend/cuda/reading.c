/*
 * Readings: copies into pinned memory that the host looks at when they have come, which an event says.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>

#include "backend/cuda/device.h"
#include "core/memory.h"

struct reading {
    void *memory; /* pinned */
    size_t bytes;
    cu_event done;
};

static braid_status fill(cuda_device *d, reading *r) {
    char what[64];
    TRY(cuda_enter(d));
    cu_result result = d->driver->host_alloc(&r->memory, r->bytes);
    if (!result) result = d->driver->event_create(&r->done, CU_EVENT_WITHOUT_TIME);
    (void)snprintf(what, sizeof what, "making %zu bytes of pinned memory", r->bytes);
    return cuda_leave(d, cuda_check_memory(d, result, what));
}

braid_status cuda_reading_create(device *head, size_t bytes, reading **out) {
    reading *made = NULL;
    *out = NULL;
    TRY(memory_calloc(1, sizeof *made, "reading", (void **)&made));
    made->bytes = bytes;
    braid_status status = fill(cuda_device_of(head), made);
    if (status)
        cuda_reading_destroy(head, made);
    else
        *out = made;
    return status;
}

void cuda_reading_destroy(device *head, reading *r) {
    cuda_device *d = cuda_device_of(head);
    if (!r) return;
    if (!d->fault[0] && cuda_enter(d) == BRAID_OK) {
        if (r->done) (void)d->driver->event_wait(r->done); /* the copy may be under way */
        if (r->done) (void)d->driver->event_destroy(r->done);
        if (r->memory) (void)d->driver->host_free(r->memory);
        (void)cuda_leave(d, BRAID_OK);
    }
    memory_free(r);
}

braid_status cuda_reading_ask(device *head, reading *r, const void *from) {
    cuda_device *d = cuda_device_of(head);
    TRY(cuda_enter(d));
    cu_result result = d->driver->copy_out(r->memory, (cu_pointer)(uintptr_t)from, r->bytes, d->queue);
    if (!result) result = d->driver->event_record(r->done, d->queue);
    return cuda_leave(d, cuda_check(d, result, "copying from the device"));
}

braid_status cuda_reading_get(device *head, reading *r, const void **data) {
    cuda_device *d = cuda_device_of(head);
    *data = r->memory;
    TRY(cuda_enter(d));
    return cuda_leave(d, cuda_check(d, d->driver->event_wait(r->done), "waiting for a copy from the device"));
}
