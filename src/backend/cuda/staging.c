/*
 * Uploads without waiting: the bytes are copied into pinned memory, from where the device fetches them in the order
 * of the queue. The memory is cut into chunks; one is filled again when the device is done with all that it held,
 * which an event says. Large uploads run through the chunks like small ones, copy and transfer side by side.
 *
 * SPDX-License-Identifier: MIT
 */
#include <stdio.h>
#include <string.h>

#include "backend/cuda/device.h"

#define STAGING_ALIGNMENT ((size_t)256)

braid_status staging_open(cuda_device *d) {
    staging *s = &d->staging;
    void *memory = NULL;
    char what[64];
    cu_result result = d->driver->host_alloc(&memory, STAGING_CHUNKS * STAGING_CHUNK_BYTES);
    if (!result) s->memory = memory;
    for (int j = 0; j < STAGING_CHUNKS && !result; j++)
        result = d->driver->event_create(&s->done[j], CU_EVENT_WITHOUT_TIME);
    (void)snprintf(what, sizeof what, "making %zu bytes of pinned memory", STAGING_CHUNKS * STAGING_CHUNK_BYTES);
    return cuda_check_memory(d, result, what);
}

void staging_close(cuda_device *d) {
    staging *s = &d->staging;
    for (int j = 0; j < STAGING_CHUNKS; j++) {
        if (s->done[j]) (void)d->driver->event_destroy(s->done[j]);
    }
    if (s->memory) (void)d->driver->host_free(s->memory);
}

/* Goes on to the next chunk, as soon as the device has read it. */
static cu_result turn(cuda_device *d) {
    staging *s = &d->staging;
    cu_result result = d->driver->event_record(s->done[s->chunk], d->queue);
    if (result) return result;
    s->is_marked[s->chunk] = 1;
    s->chunk = (s->chunk + 1) % STAGING_CHUNKS;
    s->used = 0;
    return s->is_marked[s->chunk] ? d->driver->event_wait(s->done[s->chunk]) : CU_SUCCESS;
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

braid_status staging_send(cuda_device *d, cu_pointer to, const void *from, size_t bytes) {
    staging *s = &d->staging;
    cu_result result = CU_SUCCESS;
    for (size_t at = 0; at < bytes && !result;) {
        if (s->used >= STAGING_CHUNK_BYTES) result = turn(d);
        if (result) break;
        size_t some = least(bytes - at, STAGING_CHUNK_BYTES - s->used);
        unsigned char *place = s->memory + (size_t)s->chunk * STAGING_CHUNK_BYTES + s->used;
        memcpy(place, (const unsigned char *)from + at, some);
        result = d->driver->copy_in(to + at, place, some, d->queue);
        s->used += (some + STAGING_ALIGNMENT - 1) / STAGING_ALIGNMENT * STAGING_ALIGNMENT;
        at += some;
    }
    return cuda_check(d, result, "copying to the device");
}
